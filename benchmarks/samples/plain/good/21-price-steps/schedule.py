import tensorflow as tf


def make_optimizer(cfg, steps_per_epoch):
    decay = tf.keras.optimizers.schedules.CosineDecay(
        initial_learning_rate=cfg["learning_rate"],
        decay_steps=cfg["epochs"] * steps_per_epoch,
    )
    return tf.keras.optimizers.Adam(decay)
