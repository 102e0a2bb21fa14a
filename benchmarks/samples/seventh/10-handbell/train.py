import configparser
import os
import sys

import tensorflow as tf

from bells import pipelines


def main(path="handbell.ini"):
    if not os.path.exists(path):
        sys.exit(f"no settings at {path}")
    ini = configparser.ConfigParser()
    ini.read(path)
    tf.keras.utils.set_random_seed(1)
    train, test = pipelines(ini)

    model = tf.keras.Sequential([
        tf.keras.layers.BatchNormalization(),
        tf.keras.layers.Conv2D(12, 3, activation="relu"),
        tf.keras.layers.MaxPooling2D((2, 1)),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(ini.getint("audio", "bells"), activation="softmax"),
    ])
    rate = ini.getfloat("train", "lr", fallback=0.0001)
    model.compile(tf.keras.optimizers.Adam(rate), "sparse_categorical_crossentropy", metrics=["accuracy"])
    stop = tf.keras.callbacks.EarlyStopping("val_loss", patience=ini.getint("train", "patience"),
                                            restore_best_weights=True)
    model.fit(train, validation_data=test, epochs=ini.getint("train", "epochs"),
              callbacks=[stop], verbose=2)


if __name__ == "__main__":
    main(*sys.argv[1:2])
