import argparse
import pathlib
import tomllib

import numpy as np
from tensorflow import keras

L = keras.layers


def stage(spec: dict):
    match spec:
        case {"op": "conv", "ch": ch, "k": k}:
            yield L.Conv2D(ch, k, padding="same", activation="relu")
        case {"op": "conv", "ch": ch}:
            yield L.Conv2D(ch, 1, activation="relu")
        case {"op": "pool", "size": n}:
            yield L.MaxPooling2D(n)
        case {"op": "pool"}:
            yield L.MaxPooling2D()
        case {"op": "flatten"}:
            yield L.Flatten()
        case {"op": "dense", "width": w, **rest}:
            yield L.Dense(w, activation="relu")
            if d := rest.get("drop"):
                yield L.Dropout(d)
        case _:
            raise SystemExit(f"bad stage {spec}")


def build(photos, stages):
    net = keras.Sequential([keras.Input((photos["side"], photos["side"], photos["channels"]))])
    for layer in (l for s in stages for l in stage(s)):
        net.add(layer)
    net.add(L.Dense(1, activation="sigmoid"))
    return net


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--conf", type=pathlib.Path, default=pathlib.Path("cracks.toml"))
    conf = tomllib.loads(ap.parse_args().conf.read_text())

    keras.utils.set_random_seed(conf["seed"])
    photos = conf["photos"]
    x = np.random.rand(photos["count"], photos["side"], photos["side"], photos["channels"])
    y = np.random.randint(0, 2, (photos["count"], 1))
    net = build(photos, conf["stages"])
    opt = keras.optimizers.get(conf["optim"]["name"])
    opt.learning_rate = conf["optim"]["rate"]
    net.compile(opt, "binary_crossentropy")
    h = net.fit(x, y, epochs=conf["epochs"], verbose=0)
    print(net.count_params(), "weights, loss", h.history["loss"][-1])


if __name__ == "__main__":
    main()
