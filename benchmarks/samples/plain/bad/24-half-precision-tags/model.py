import tensorflow as tf


def build_tagger(inputs, tags):
    x_in = tf.keras.Input((inputs,))
    x = tf.keras.layers.Dense(32, activation="relu")(x_in)
    x = tf.keras.layers.Dense(32, activation="relu")(x)
    x = tf.keras.layers.Dense(tags)(x)
    out = tf.keras.layers.Activation("linear", dtype="float32")(x)
    return tf.keras.Model(x_in, out)
