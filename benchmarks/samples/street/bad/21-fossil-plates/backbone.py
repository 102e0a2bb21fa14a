import tensorflow as tf
from tensorflow.keras import layers

SIDE = 32


def encoder():
    inputs = tf.keras.Input((SIDE, SIDE, 1))
    x = inputs
    for i, width in enumerate((16, 32, 48)):
        x = layers.Conv2D(width, 3, padding="same", activation="relu", name=f"conv{i}")(x)
        x = layers.MaxPooling2D(name=f"pool{i}")(x)
    x = layers.GlobalAveragePooling2D(name="pool")(x)
    return tf.keras.Model(inputs, x, name="encoder")


def with_head(base, n_classes):
    inputs = tf.keras.Input((SIDE, SIDE, 1))
    x = base(inputs, training=False)
    x = layers.Dropout(0.2)(x)
    outputs = layers.Dense(n_classes, activation="softmax", name="head")(x)
    return tf.keras.Model(inputs, outputs)
