"""When does the river freeze?  Two gauges, one small net each."""
import csv
from operator import itemgetter

import numpy as np
import yaml
from tensorflow import keras

schedule = itemgetter("rate", "thaw_rate", "steps")


class Leftover(SystemExit):
    pass


def done(name, section):
    if section:
        raise Leftover(f"unknown settings in {name}: {', '.join(section)}")


def make_net(section, n):
    section = dict(section)
    *hidden, last = section.pop("size") + [section.pop("out")]
    reg = keras.regularizers.L2(w) if (w := section.pop("l2", 0)) else None
    squash = section.pop("squash")
    done("net", section)
    return keras.Sequential(
        [keras.Input((n,))]
        + [keras.layers.Dense(h, activation=squash, kernel_regularizer=reg) for h in hidden]
        + [keras.layers.Dense(last)]
    )


def measure(gauge):
    gauge.setdefault("bias", 0.0)
    x = np.random.normal(gauge["depth"], 0.2, (30, gauge["readings"])) + gauge["bias"]
    return x.astype("float32"), x.min(axis=1).astype("float32")


def main():
    with open("ice.yaml") as f:
        cfg = yaml.safe_load(f)
    cfg.pop("defaults")
    keras.utils.set_random_seed(5)
    start, end, steps = schedule(cfg["freeze"])
    rows = []
    for name, gauge in cfg["gauges"].items():
        x, y = measure(gauge)
        net = make_net(cfg["net"], gauge["readings"])
        net.compile(keras.optimizers.Adam(keras.optimizers.schedules.PolynomialDecay(start, steps, end)), "mse")
        log = net.fit(x, y, batch_size=cfg["freeze"]["batch"], verbose=0)
        rows.append([name, log.history["loss"][-1]])
    paths = {k: v for k, v in cfg["paths"].items() if v}
    if where := paths.get("weights"):
        net.save_weights(where)
    if "table" in paths:
        with open(paths["table"], "w", newline="") as f:
            csv.writer(f).writerows(rows)
    print(rows)


if __name__ == "__main__":
    main()
