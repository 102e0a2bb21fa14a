import numpy as np
from tensorflow import keras


def signal(kind, n=100):
    t = np.linspace(0, 1, 32)
    return np.sin(2 * np.pi * (kind + 1) * t) + 0.2 * np.random.randn(n, 32)


kinds = range(4)
x = np.concatenate([signal(k) for k in kinds])
y = np.concatenate([np.full(100, k) for k in kinds])

net = keras.Sequential([keras.Input((32,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(4, activation="softmax")])
net.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
h = net.fit(x, y, validation_split=0.25, shuffle=True, epochs=15, verbose=0)
print("train", h.history["accuracy"][-1], "val", h.history["val_accuracy"][-1])
