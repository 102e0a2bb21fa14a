import tensorflow as tf


def regressor(n):
    return tf.keras.Sequential([tf.keras.Input((n,)), tf.keras.layers.Dense(4, "relu"), tf.keras.layers.Dense(1)])
