import os
import tempfile

import keras
from keras import layers

from loom_data import DEFECTS, fabric_patches


def conv_net():
    inputs = keras.Input((14, 14, 1))
    x = layers.Conv2D(8, 3, activation="relu")(inputs)
    x = layers.MaxPooling2D()(x)
    x = layers.Flatten()(x)
    x = layers.Dense(24, activation="relu")(x)
    return keras.Model(inputs, layers.Dense(len(DEFECTS), activation="softmax")(x))


def callbacks(folder):
    return [
        keras.callbacks.ModelCheckpoint(
            os.path.join(folder, "loom.keras"),
            monitor="val_accuracy",
            mode="max",
            save_best_only=True,
        ),
        keras.callbacks.ReduceLROnPlateau(monitor="val_loss", patience=3),
    ]


def main():
    keras.utils.set_random_seed(8)
    images, labels = fabric_patches()
    model = conv_net()
    model.compile(
        optimizer=keras.optimizers.Adam(2e-3),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    with tempfile.TemporaryDirectory() as folder:
        history = model.fit(
            images,
            labels,
            validation_split=0.2,
            epochs=8,
            batch_size=20,
            shuffle=True,
            callbacks=callbacks(folder),
            verbose=2,
        )
    print("best validation", max(history.history["val_accuracy"]))


if __name__ == "__main__":
    main()
