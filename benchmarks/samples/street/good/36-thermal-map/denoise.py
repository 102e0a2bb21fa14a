import pathlib
import time

import tensorflow as tf
from tensorflow.keras import layers

import settings
from maps import heat_maps


def denoiser():
    inputs = tf.keras.Input((settings.SIDE, settings.SIDE, 1))
    x = layers.Conv2D(24, 3, padding="same", activation="relu")(inputs)
    x = layers.Conv2D(24, 3, padding="same", activation="relu")(x)
    outputs = layers.Conv2D(1, 3, padding="same")(x)
    return tf.keras.Model(inputs, layers.Add()([inputs, outputs]))


def run_callbacks(folder, steps_per_epoch):
    folder.mkdir(parents=True, exist_ok=True)
    keep = tf.keras.callbacks.ModelCheckpoint(
        filepath=str(folder / "epoch{epoch:03d}.keras"),
        save_freq=settings.SAVE_EVERY * steps_per_epoch,
    )
    log = tf.keras.callbacks.CSVLogger(str(folder / "history.csv"))
    return [keep, log]


def main():
    tf.keras.utils.set_random_seed(36)
    x, y = heat_maps(640, 1)
    x_val, y_val = heat_maps(128, 2)
    folder = pathlib.Path(settings.RUN_DIR)
    model = denoiser()
    model.compile("adam", "mse", metrics=["mae"])
    start = time.perf_counter()
    model.fit(
        x,
        y,
        validation_data=(x_val, y_val),
        epochs=settings.EPOCHS,
        batch_size=settings.BATCH,
        callbacks=run_callbacks(folder, steps_per_epoch=-(-len(x) // settings.BATCH)),
        verbose=0,
    )
    print("%.1f s" % (time.perf_counter() - start))
    print("files kept:", len(list(folder.glob("*.keras"))))
    print(model.evaluate(x_val, y_val, verbose=0, return_dict=True))


if __name__ == "__main__":
    main()
