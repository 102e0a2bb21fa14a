import os

import numpy as np
import tensorflow as tf
import yaml

with open("settings.yaml") as fh:
    cfg = yaml.safe_load(fh)


def leaf_net(classes):
    return tf.keras.Sequential(
        [
            tf.keras.Input((24, 24, 3)),
            tf.keras.layers.Conv2D(8, 3, activation="relu"),
            tf.keras.layers.GlobalMaxPooling2D(),
            tf.keras.layers.Dense(classes, activation="softmax"),
        ]
    )


def callbacks(run_dir):
    os.makedirs(run_dir, exist_ok=True)
    best = tf.keras.callbacks.ModelCheckpoint(
        f"{run_dir}/{cfg['checkpoint_name']}", monitor="val_loss", save_best_only=True
    )
    last = tf.keras.callbacks.ModelCheckpoint(f"{run_dir}/last.weights.h5", save_weights_only=True)
    return [best, last, tf.keras.callbacks.CSVLogger(f"{run_dir}/log.csv")]


rng = np.random.default_rng(3)
images = rng.random((96, 24, 24, 3), dtype=np.float32)
species = rng.integers(0, cfg["classes"], 96)

net = leaf_net(cfg["classes"])
net.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
net.fit(
    images,
    species,
    validation_split=0.25,
    epochs=cfg["epochs"],
    batch_size=cfg["batch_size"],
    callbacks=callbacks(cfg["run_dir"]),
)
