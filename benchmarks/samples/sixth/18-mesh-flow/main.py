import json
import os

import fire
import numpy as np
import tensorflow as tf

from flow import build

DEFAULTS = {
    "seed": int(os.environ.get("FLOW_SEED", 7)),
    "loss": "mean_square_error",
    "jit": False,
}


def train(config="flow.json", **overrides):
    with open(config) as f:
        cfg = {**DEFAULTS, **json.load(f), **overrides}
    tf.keras.utils.set_random_seed(cfg["seed"])
    x = np.random.rand(cfg["samples"], cfg["nodes"], 2).astype("float32")
    y = x.mean(axis=-1, keepdims=True)
    # the card count decides what one replica sees
    per_device = cfg["batch_size"] // cfg["devices"]
    ds = tf.data.Dataset.from_tensor_slices((x, y)).batch(per_device).prefetch(cfg["devices"])
    model = build(cfg["nodes"], cfg["depth"], cfg["block"])
    model.compile(tf.keras.optimizers.Adam(cfg["lr"]), cfg["loss"], jit_compile=cfg["jit"])
    log = model.fit(ds, epochs=cfg["epochs"], verbose=0)
    print("loss", log.history["loss"][-1])


if __name__ == "__main__":
    fire.Fire({"train": train})
