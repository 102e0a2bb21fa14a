import pathlib

import numpy as np
from tensorflow import keras


def tides(n=400, window=12):
    t = np.arange(n + window)
    level = np.sin(t / 6.2) + 0.1 * np.random.randn(n + window)
    x = np.stack([level[i : i + window] for i in range(n)])
    return x[..., None].astype("float32"), level[window:].astype("float32")


def make_callbacks(folder):
    stopper = keras.callbacks.EarlyStopping(monitor="val_loss", patience=3, restore_best_weights=True)
    saver = keras.callbacks.ModelCheckpoint(str(folder / "tide.keras"), monitor="val_loss", save_best_only=True)
    rate = keras.callbacks.ReduceLROnPlateau(monitor="loss", patience=2)
    return [stopper, saver, rate]


out = pathlib.Path("artifacts")
out.mkdir(exist_ok=True)

x, y = tides()
x_train, y_train = x[:300], y[:300]
x_val, y_val = x[300:], y[300:]

net = keras.Sequential([keras.Input((12, 1)), keras.layers.GRU(8), keras.layers.Dense(1)])
net.compile(optimizer=keras.optimizers.Adam(0.01), loss="mae")
net.fit(x_train, y_train, epochs=6, batch_size=32, validation_data=(x_val, y_val), callbacks=make_callbacks(out), verbose=2)
print("held out mae", net.evaluate(x_val, y_val, verbose=0))
print("saved:", [p.name for p in out.iterdir()])
