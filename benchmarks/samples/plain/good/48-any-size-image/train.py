import numpy as np
import tensorflow as tf

from network import any_size_classifier

tf.keras.utils.set_random_seed(52)


def textures(n, size, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    grid = np.arange(size)
    stripes = np.sin(grid[None, :] * np.array([0.4, 1.0, 2.0])[y][:, None])
    x = stripes[:, None, :] + rng.normal(0, 0.3, (n, size, size))
    return x[..., None].astype("float32"), y


model = any_size_classifier(channels=1, classes=3)
model.compile(
    optimizer=tf.keras.optimizers.Adam(5e-3),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
x, y = textures(480, 24, seed=1)
model.fit(x, y, batch_size=32, epochs=6, verbose=0)
for size in (24, 40):
    x_test, y_test = textures(150, size, seed=size)
    print(size, "accuracy", round(model.evaluate(x_test, y_test, verbose=0)[1], 3))
