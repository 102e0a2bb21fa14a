import sys

import yaml
from tensorflow import keras

from wake import models, sounds


def optimizer(section):
    section = dict(section)
    match section.pop("name"):
        case "sgd":
            return keras.optimizers.SGD(**section)
        case "adam":
            return keras.optimizers.Adam(**section)


def main(path="wake.yaml"):
    with open(path) as file:
        cfg = yaml.safe_load(file)
    keras.utils.set_random_seed(18)
    x, y = sounds.spoken(cfg)
    net = models.build(cfg, len(cfg["labels"]))
    net.compile(optimizer(cfg["train"]["optimizer"]), "sparse_categorical_crossentropy")
    split = cfg["train"].get("validation_split", 0.0)
    log = net.fit(x, y, epochs=cfg["train"]["epochs"], validation_split=split, verbose=0)
    hits = net.predict(x, verbose=0)[:, cfg["labels"].index(cfg["wake_word"])]
    print({k: v for k, v in log.history.items()}, "wake", hits.mean())


if __name__ == "__main__":
    main(*sys.argv[1:])
