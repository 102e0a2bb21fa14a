import argparse
import os

import tensorflow as tf

from config import Config, SmallConfig
from flares import FlareData


def autoencoder(cfg):
    layers = tf.keras.layers
    x = inputs = tf.keras.Input((cfg.SIDE, cfg.SIDE, 1))
    for f in cfg.FILTERS:
        x = layers.Conv2D(f, 3, strides=2, padding="same", activation="relu")(x)
    for f in reversed(cfg.FILTERS):
        x = layers.Conv2DTranspose(f, 3, strides=2, padding="same", activation="relu")(x)
    return tf.keras.Model(inputs, layers.Conv2D(1, 3, padding="same", activation="sigmoid")(x))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", action="store_true", help="settings for a laptop")
    args = parser.parse_args()
    cfg = SmallConfig if args.small else Config

    tf.keras.utils.set_random_seed(13)
    os.makedirs(os.path.dirname(cfg.SAVE_TO), exist_ok=True)
    data = FlareData(cfg)
    model = autoencoder(cfg)
    model.compile(tf.keras.optimizers.Adam(cfg.LEARNING_RATE), loss=cfg.LOSS)
    model.fit(data.train(), validation_data=data.test(), epochs=cfg.EPOCHS,
              steps_per_epoch=cfg.STEPS, workers=2, verbose=2)
    model.save(cfg.SAVE_TO)


if __name__ == "__main__":
    main()
