import tensorflow as tf
from tensorflow.keras import layers


def detector(cfg):
    x = inputs = tf.keras.Input((cfg.data.side, cfg.data.side, 3))
    for f in cfg.model.filters:
        x = layers.Conv2D(f, 3, strides=2, padding="same")(x)
        if cfg.model.norm == "batch":
            x = layers.BatchNormalization()(x)
        x = layers.ReLU()(x)
    x = layers.Flatten()(x)
    label = layers.Dense(cfg.data.items, name="label")(x)
    box = layers.Dense(4, activation="sigmoid", name="box")(x)
    return tf.keras.Model(inputs, {"label": label, "box": box})
