from pathlib import Path

import yaml
from tensorflow import keras

from data import Slides


def loss_of(cfg):
    name = cfg["loss"]["name"]
    return getattr(keras.losses, name)()


def weights_of(cfg):
    try:
        return cfg["loss"]["class_weights"]
    except KeyError:
        return None


def optimizer_of(cfg):
    name = cfg["optimizer"].pop("name")
    return keras.optimizers.get({"class_name": name, "config": cfg["optimizer"]})


def main():
    cfg = yaml.safe_load(Path("slides.yaml").read_text())
    keras.utils.set_random_seed(12)
    slides = Slides(cfg["dataset"])
    net = keras.Sequential([
        keras.Input((slides.tile, slides.tile, 3)),
        keras.layers.Conv2D(4, 3, activation="relu"),
        keras.layers.GlobalMaxPooling2D(),
        keras.layers.Dense(1, activation="sigmoid"),
    ])
    t = cfg["train"]
    net.compile(optimizer_of(cfg), loss_of(cfg), metrics=t["metrics"])
    log = net.fit(slides, epochs=t["epochs"], verbose=t["verbose"], class_weight=weights_of(cfg))
    print("batches", len(slides), "loss", log.history["loss"])


if __name__ == "__main__":
    main()
