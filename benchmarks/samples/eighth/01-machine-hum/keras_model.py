import tensorflow as tf
from tensorflow.keras import layers


def dense_block(x, units, normalization):
    x = layers.Dense(units)(x)
    if normalization == "batch":
        x = layers.BatchNormalization()(x)
    elif normalization == "layer":
        x = layers.LayerNormalization()(x)
    return layers.Activation("relu")(x)


def get_model(input_dim, hidden, bottleneck, normalization=None):
    inputs = layers.Input(shape=(input_dim,))
    x = inputs
    for units in hidden:
        x = dense_block(x, units, normalization)
    x = dense_block(x, bottleneck, normalization)
    for units in reversed(hidden):
        x = dense_block(x, units, normalization)
    return tf.keras.Model(inputs, layers.Dense(input_dim)(x))
