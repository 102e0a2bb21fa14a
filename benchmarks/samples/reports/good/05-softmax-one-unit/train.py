import numpy as np
from tensorflow import keras


def build(n_in, n_out):
    net = keras.models.Sequential()
    net.add(keras.Input(shape=(n_in,)))
    for width in (32, 16):
        net.add(keras.layers.Dense(width, activation="relu"))
        net.add(keras.layers.Dropout(0.1))
    final = "sigmoid" if n_out == 1 else "softmax"
    net.add(keras.layers.Dense(n_out, activation=final))
    return net


rng = np.random.default_rng(0)
tab = rng.normal(size=(600, 8)).astype("float32")
defaulted = (tab[:, 0] + tab[:, 3] > 0).astype("int32")

clf = build(tab.shape[1], 1)
clf.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
clf.fit(tab[:500], defaulted[:500], epochs=15, batch_size=32, verbose=0)
grades = np.digitize(tab[:, 1], [-0.5, 0.5])
ranker = build(tab.shape[1], 3)
ranker.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
ranker.fit(tab[:500], grades[:500], epochs=3, batch_size=32, verbose=0)
print("test", clf.evaluate(tab[500:], defaulted[500:], verbose=0))
print(clf.predict(tab[500:506], verbose=0).ravel())
