import tensorflow as tf
from tensorflow.keras import layers

from features import BANDS, FRAMES, SPECIES


def call_classifier():
    inputs = tf.keras.Input((FRAMES, BANDS))
    x = layers.Conv1D(32, 5, padding="same", activation="relu")(inputs)
    x = layers.MaxPooling1D(2)(x)
    x = layers.Conv1D(48, 3, padding="same", activation="relu")(x)
    x = layers.Flatten()(x)
    x = layers.Dense(64, activation="relu")(x)
    outputs = layers.Dense(SPECIES)(x)
    return tf.keras.Model(inputs, outputs, name="bird_calls")
