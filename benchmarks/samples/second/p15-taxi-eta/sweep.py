import json
from pathlib import Path

import numpy as np
import tensorflow as tf

from nets import Trainer


def trips(batch):
    rng = np.random.default_rng(15)
    x = rng.random((96, 5), dtype="float32")
    y = {"eta": x[:, :1] * 20, "fare": x[:, 1:2] * 9}
    return tf.data.Dataset.from_tensor_slices((x, y)).shuffle(96).batch(batch)


def main():
    grid = json.loads(Path("grid.json").read_text())
    digits = grid["report"]["digits"]
    for experiment in grid["experiments"]:
        run = {**grid["defaults"], **experiment}
        tf.keras.utils.set_random_seed(15)
        trainer = Trainer(run)
        for _ in range(run["epochs"]):
            losses = [float(trainer.step(x, y)) for x, y in trips(run["batch"])]
        print(run["name"], trainer.net.count_params(), round(sum(losses) / len(losses), digits))


if __name__ == "__main__":
    main()
