import sys

import numpy as np
from tensorflow import keras

import settings


def tcn(s):
    x = inputs = keras.Input((s.window.past, 1))
    for rate in s.net.dilations:
        x = keras.layers.Conv1D(s.net.filters, s.net.kernel, padding="causal",
                                dilation_rate=rate, activation="relu")(x)
        x = keras.layers.SpatialDropout1D(s.net.dropout)(x)
    return keras.Model(inputs, keras.layers.Dense(s.window.future)(x[:, -1]))


def callbacks(fit):
    if fit.patience is None:
        return []
    return [keras.callbacks.EarlyStopping(monitor="loss", patience=fit.patience)]


def main(path="grid.toml"):
    s = settings.load(path)
    keras.utils.set_random_seed(8)
    load = np.random.default_rng(8).random((120, 1), dtype="float32")
    cuts = np.stack([load[i:i + s.window.total] for i in range(120 - s.window.total)])
    x, y = cuts[:, :s.window.past], cuts[:, s.window.past:, 0]
    net = tcn(s)
    net.compile(keras.optimizers.Adam(s.fit.lr), "mae")
    log = net.fit(x, y, batch_size=s.fit.batch, epochs=s.fit.epochs, callbacks=callbacks(s.fit), verbose=0)
    print("weights", net.count_params(), "loss", log.history["loss"])


if __name__ == "__main__":
    main(*sys.argv[1:])
