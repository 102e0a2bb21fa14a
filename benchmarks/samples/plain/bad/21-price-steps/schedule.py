import tensorflow as tf


def make_optimizer(cfg):
    decay = tf.keras.optimizers.schedules.CosineDecay(
        initial_learning_rate=cfg["learning_rate"],
        decay_steps=cfg["epochs"],
    )
    return tf.keras.optimizers.Adam(decay)
