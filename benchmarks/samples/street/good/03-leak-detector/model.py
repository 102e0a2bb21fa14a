from tensorflow import keras
from tensorflow.keras import layers

WINDOW = 64


def build():
    inputs = keras.Input(shape=(WINDOW, 2))
    x = layers.Conv1D(16, 5, activation="relu", padding="same")(inputs)
    x = layers.MaxPooling1D(2)(x)
    x = layers.Conv1D(32, 5, activation="relu", padding="same")(x)
    x = layers.GlobalAveragePooling1D()(x)
    outputs = layers.Dense(1, activation="sigmoid")(x)
    model = keras.Model(inputs, outputs)
    model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
    return model
