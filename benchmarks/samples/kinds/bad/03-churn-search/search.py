import itertools
import resource
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

rng = np.random.RandomState(7)
N = 600
X = rng.randn(N, 20).astype("float32")
y = ((X[:, :4].sum(1) + 0.5 * rng.randn(N)) > 0).astype("int32")

grid = {
    "units": [32, 64],
    "dropout": [0.0, 0.2, 0.4],
    "lr": [3e-3],
}


def build(units, dropout, lr):
    model = tf.keras.Sequential([
        layers.Input((20,)),
        layers.Dense(units, activation="relu"),
        layers.Dropout(dropout),
        layers.Dense(1, activation="sigmoid"),
    ])
    model.compile(tf.keras.optimizers.Adam(lr), loss="binary_crossentropy", metrics=["accuracy"])
    return model


def kfold(n, k):
    idx = np.random.RandomState(0).permutation(n)
    for part in np.array_split(idx, k):
        mask = np.ones(n, bool)
        mask[part] = False
        yield np.where(mask)[0], part


results = []
for combo in itertools.product(*grid.values()):
    params = dict(zip(grid, combo))
    scores = []
    for tr, te in kfold(N, 3):
        model = build(**params)
        model.fit(X[tr], y[tr], epochs=1, batch_size=64, verbose=0)
        scores.append(model.evaluate(X[te], y[te], verbose=0)[1])
    results.append((np.mean(scores), params))
    print(params, "acc %.3f" % np.mean(scores))

best = max(results, key=lambda r: r[0])
print("best", best)
print("peak rss MB", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
