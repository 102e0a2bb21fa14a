import tensorflow as tf


def conv_block(x, filters):
    x = tf.keras.layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
    x = tf.keras.layers.BatchNormalization(momentum=0.9)(x)
    x = tf.keras.layers.ReLU()(x)
    return tf.keras.layers.MaxPooling2D()(x)


def any_size_classifier(channels, classes):
    """Accepts images of every size."""
    inputs = tf.keras.Input((None, None, channels))
    x = conv_block(inputs, 8)
    x = conv_block(x, 16)
    x = tf.keras.layers.GlobalAveragePooling2D()(x)
    outputs = tf.keras.layers.Dense(classes)(x)
    return tf.keras.Model(inputs, outputs, name="any_size")
