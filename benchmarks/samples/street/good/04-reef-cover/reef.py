import json
import pathlib

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


def read_settings(path="settings.json"):
    here = pathlib.Path(__file__).parent
    return json.loads((here / path).read_text())


def photo_patches(n=600, size=24, seed=0):
    """Small patches; the target is the share of live coral in the patch."""
    rng = np.random.default_rng(seed)
    cover = rng.random(n).astype("float32")
    img = rng.random((n, size, size, 3)).astype("float32") * 0.4
    img[..., 0] += 0.5 * cover[:, None, None]
    return np.clip(img, 0, 1), cover


def network(size=24):
    return keras.Sequential(
        [
            layers.Input((size, size, 3)),
            layers.Conv2D(12, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(24, 3, activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dense(16, activation="relu"),
            layers.Dense(1, activation="sigmoid"),
        ]
    )


def callbacks_for(cfg):
    out = pathlib.Path(cfg["output_dir"])
    out.mkdir(parents=True, exist_ok=True)
    return [
        keras.callbacks.ModelCheckpoint(
            filepath=str(out / cfg["weights_name"]),
            monitor="val_loss",
            save_best_only=True,
        ),
        keras.callbacks.CSVLogger(str(out / "log.csv")),
    ]


def main():
    keras.utils.set_random_seed(1)
    cfg = read_settings()
    x, y = photo_patches()
    x_train, y_train, x_val, y_val = x[:480], y[:480], x[480:], y[480:]
    model = network()
    model.compile(
        optimizer=keras.optimizers.Adam(cfg["learning_rate"]), loss="mse", metrics=["mae"]
    )
    model.fit(
        x_train,
        y_train,
        validation_data=(x_val, y_val),
        epochs=cfg["epochs"],
        batch_size=cfg["batch_size"],
        callbacks=callbacks_for(cfg),
        verbose=2,
    )
    best = keras.models.load_model(pathlib.Path(cfg["output_dir"]) / cfg["weights_name"])
    print("best val mae", best.evaluate(x_val, y_val, verbose=0)[1])


if __name__ == "__main__":
    main()
