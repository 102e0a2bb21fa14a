import pathlib

import tensorflow as tf


def best_model(folder, monitor, mode):
    path = pathlib.Path(folder) / "best.weights.h5"
    callback = tf.keras.callbacks.ModelCheckpoint(
        str(path),
        monitor=monitor,
        mode=mode,
        save_best_only=True,
        save_weights_only=True,
    )
    return path, callback
