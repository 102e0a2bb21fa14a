import tensorflow as tf


def build():
    return tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(6, "relu"), tf.keras.layers.Dense(1)])
