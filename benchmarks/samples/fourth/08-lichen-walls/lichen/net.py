import tensorflow as tf


def make(shape, width, depth=1, bend=None):
    model = tf.keras.Sequential([tf.keras.Input(shape)])
    for _ in range(depth):
        model.add(tf.keras.layers.Dense(width, activation=bend))
    model.add(tf.keras.layers.Dense(1))
    return model
