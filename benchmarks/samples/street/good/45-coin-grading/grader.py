import tensorflow as tf
from tensorflow.keras import layers

from coins import GRADES, SIDE


def features(inputs):
    x = inputs
    for width in (16, 32, 64):
        x = layers.Conv2D(width, 3, padding="same", activation="relu")(x)
        x = layers.MaxPooling2D()(x)
    return x


def build():
    inputs = tf.keras.Input((SIDE, SIDE, 1))
    x = features(inputs)
    x = layers.Flatten()(x)
    x = layers.Dense(256, activation="relu")(x)
    x = layers.Dropout(0.4)(x)
    outputs = layers.Dense(GRADES, activation="softmax")(x)
    return tf.keras.Model(inputs, outputs, name="coin_grader")
