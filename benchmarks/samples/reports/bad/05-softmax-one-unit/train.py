import numpy as np
from tensorflow import keras


def build(n_in, n_out):
    net = keras.models.Sequential()
    net.add(keras.Input(shape=(n_in,)))
    for width in (32, 16):
        net.add(keras.layers.Dense(width, activation="relu"))
        net.add(keras.layers.Dropout(0.1))
    net.add(keras.layers.Dense(n_out, activation="softmax"))
    return net


rng = np.random.default_rng(0)
tab = rng.normal(size=(600, 8)).astype("float32")
defaulted = (tab[:, 0] + tab[:, 3] > 0).astype("int32")

clf = build(tab.shape[1], 1)
clf.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
clf.fit(tab[:500], defaulted[:500], epochs=15, batch_size=32, verbose=0)
print("test", clf.evaluate(tab[500:], defaulted[500:], verbose=0))
print(clf.predict(tab[500:506], verbose=0).ravel())
