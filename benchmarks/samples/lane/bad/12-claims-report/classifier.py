import keras
from keras import layers


def claim_model(sample):
    norm = layers.Normalization()
    norm.adapt(sample)
    model = keras.Sequential(
        [
            keras.Input((4,)),
            norm,
            layers.Dense(32, activation="relu"),
            layers.Dense(16, activation="relu"),
            layers.Dense(2, activation="softmax"),
        ]
    )
    model.compile(
        optimizer=keras.optimizers.Adam(5e-3),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    return model
