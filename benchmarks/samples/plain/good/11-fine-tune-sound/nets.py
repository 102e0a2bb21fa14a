import tensorflow as tf


def spectrum_encoder(bins=40):
    return tf.keras.Sequential([
        tf.keras.Input((bins,)),
        tf.keras.layers.Dense(48, activation="relu"),
        tf.keras.layers.Dense(24, activation="relu"),
    ], name="encoder")


def classifier(encoder, classes):
    inputs = tf.keras.Input(encoder.input_shape[1:])
    x = encoder(inputs)
    outputs = tf.keras.layers.Dense(classes, activation="softmax")(x)
    return tf.keras.Model(inputs, outputs)
