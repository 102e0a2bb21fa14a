"""ECG beat classification, course project week 9."""
import argparse

import numpy as np
import yaml
from tensorflow import keras
from tensorflow.keras import layers


def load_cfg(path):
    with open(path, "r", encoding="utf-8") as fh:
        return yaml.load(fh, Loader=yaml.FullLoader)


def fake_beats(data):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(data["n_beats"], data["length"], 1)).astype("float32")
    y = rng.integers(0, data["n_classes"], data["n_beats"])
    return x, y


def build_model(cfg):
    inputs = keras.Input(shape=(cfg["data"]["length"], 1))
    x = inputs
    for i, block in enumerate(cfg["model"]["blocks"]):
        pool = block.pop("pool", 2)
        x = layers.Conv1D(**block, padding="same", name=f"conv{i}")(x)
        x = layers.MaxPooling1D(pool)(x)
    x = layers.GlobalAveragePooling1D()(x)
    x = layers.Dropout(cfg["model"]["dropout"])(x)
    outputs = layers.Dense(cfg["data"]["n_classes"], activation="softmax")(x)
    return keras.Model(inputs, outputs)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("-c", "--config", default="config.yaml")
    cfg = load_cfg(ap.parse_args().config)
    tr = cfg["train"]

    model = build_model(cfg)
    opt = keras.optimizers.get({"class_name": tr["optimizer"], "config": {"learning_rate": tr["lr"]}})
    model.compile(optimizer=opt, loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    x, y = fake_beats(cfg["data"])
    history = model.fit(
        x, y,
        validation_split=0.25,
        batch_size=tr["batch_size"],
        epochs=tr["epochs"],
        callbacks=[keras.callbacks.EarlyStopping(**tr["early_stopping"])],
        verbose=0,
    )
    print(sorted(history.history), round(history.history["loss"][-1], 4))
