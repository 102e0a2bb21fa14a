"""Tell the time from a picture of the tower."""
import json
import pathlib

import click
import numpy as np
import tensorflow as tf

from tower.net import clock_net

PROFILES = pathlib.Path(__file__).parent.parent / "profiles.json"


def profile(name):
    return json.loads(PROFILES.read_text())[name]


def pictures(p):
    rng = np.random.default_rng(1)
    return rng.random((p["pictures"], p["side"], p["side"], 1), dtype="float32"), rng.integers(0, p["hours"], p["pictures"])


@click.group()
def main():
    pass


@main.command()
@click.option("--profile", "name", default="bronze")
@click.option("--epochs", type=int)
def train(name, epochs):
    p = profile(name)
    if epochs is not None:
        p["fit"]["epochs"] = epochs
    tf.keras.utils.set_random_seed(2)
    model = clock_net(p["side"], p["hours"], **p["net"])
    if p["weights"]:
        model.load_weights(p["weights"])
    rule = tf.keras.optimizers.get(p["optimizer"]["identifier"])
    rule.learning_rate = p["optimizer"]["rate"]
    model.compile(rule, "sparse_categorical_crossentropy")
    log = model.fit(*pictures(p), verbose=0, **p["fit"])
    print(name, "loss", log.history["loss"])


@main.command()
@click.argument("name")
def show(name):
    p = profile(name)
    clock_net(p["side"], p["hours"], **p["net"]).summary()


if __name__ == "__main__":
    main()
