import tensorflow as tf


def build(net, shape):
    x = inputs = tf.keras.Input(shape)
    for _ in range(net.depth):
        x = tf.keras.layers.Dense(net.width, activation="relu")(x)
    x = tf.keras.layers.GlobalAveragePooling1D()(x)
    return tf.keras.Model(inputs, tf.keras.layers.Dense(net.out, activation="softmax")(x))
