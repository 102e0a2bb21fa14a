import tensorflow as tf


def build_net(channels=6, classes=3):
    return tf.keras.Sequential([
        tf.keras.Input((64, channels)),
        tf.keras.layers.Conv1D(12, 7, strides=2, activation="relu"),
        tf.keras.layers.GlobalMaxPooling1D(),
        tf.keras.layers.Dense(classes),
    ])


def make_optimizer(cfg):
    if cfg["optimizer"] == "adam":
        return tf.keras.optimizers.Adam(cfg["lr"])
    return tf.keras.optimizers.SGD(cfg["lr"], momentum=cfg.get("momentum", 0.0))
