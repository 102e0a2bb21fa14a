import pathlib

import keras
from keras import layers

from losses import focal_loss
from radar import scans

TARGET = pathlib.Path("export/hail.keras")


def build():
    return keras.Sequential(
        [
            keras.Input((16, 16, 2)),
            layers.Conv2D(16, 3, activation="relu"),
            layers.Conv2D(16, 3, activation="relu"),
            layers.GlobalMaxPooling2D(),
            layers.Dense(16, activation="relu"),
            layers.Dense(1, activation="sigmoid"),
        ]
    )


def train():
    x, y = scans(2000, 1)
    model = build()
    model.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss=focal_loss,
        metrics=[keras.metrics.AUC(name="auc")],
    )
    model.fit(x, y, epochs=4, batch_size=64, verbose=2)
    TARGET.parent.mkdir(exist_ok=True)
    model.save(TARGET)


def continue_training(epochs=2):
    """Picks up the stored model with the scans of the following season."""
    model = keras.models.load_model(TARGET)
    x, y = scans(1000, 2)
    model.fit(x, y, epochs=epochs, batch_size=64, verbose=2)
    return model


if __name__ == "__main__":
    keras.utils.set_random_seed(25)
    train()
    updated = continue_training()
    x_new, y_new = scans(500, 3)
    print(updated.evaluate(x_new, y_new, verbose=0, return_dict=True))
