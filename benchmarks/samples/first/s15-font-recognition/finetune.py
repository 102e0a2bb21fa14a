"""Three stages: new head, last layers, everything."""
import sys
from typing import Any, Iterator

import numpy as np
import yaml
from tensorflow import keras

SIDE = 32


def load(path: str) -> dict[str, Any]:
    with open(path) as f:
        return yaml.safe_load(f)


def stages(plan) -> Iterator[dict]:
    for number, stage in enumerate(plan["stages"], 1):
        print(f"stage {number}: {stage['name']}")
        yield stage


def build(plan):
    base = keras.applications.MobileNetV2((SIDE, SIDE, 3), include_top=False, pooling="avg", **plan["backbone"])
    head = keras.layers.Dense(plan["fonts"], activation="softmax")
    return base, keras.Sequential([base, head])


def thaw(base, count):
    base.trainable = count != 0
    if count > 0:
        for layer in base.layers[:-count]:
            layer.trainable = False


def objective(section):
    section = dict(section)
    return getattr(keras.losses, section.pop("class"))(**section)


def main(path="finetune.yaml"):
    plan = load(path)
    keras.utils.set_random_seed(5)
    x = np.random.rand(plan["glyphs"], SIDE, SIDE, 3).astype("float32")
    y = np.random.randint(0, plan["fonts"], plan["glyphs"])
    base, model = build(plan)
    for stage in stages(plan):
        thaw(base, stage["unfreeze"])
        model.compile(keras.optimizers.Adam(stage["lr"]), objective(plan["loss"]))
        log = model.fit(x, y, batch_size=10, epochs=stage["epochs"], verbose=0)
        print("  loss", round(log.history["loss"][-1], 4))


if __name__ == "__main__":
    main(*sys.argv[1:])
