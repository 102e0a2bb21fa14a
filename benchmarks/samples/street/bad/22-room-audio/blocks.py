import tensorflow as tf
from tensorflow.keras import layers


def conv_block(x, width, kernel=5):
    x = layers.Conv1D(width, kernel, padding="same")(x)
    x = layers.BatchNormalization(momentum=0.9)(x)
    return layers.ReLU()(x)


def pooled_statistics(x):
    """Mean and spread over time, joined into one vector."""
    mean = layers.GlobalAveragePooling1D()(x)
    spread = tf.math.reduce_std(x, axis=1)
    return layers.Concatenate()([mean, spread])
