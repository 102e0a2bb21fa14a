import yaml

DEFAULTS = {
    "sensor": {"depths": 4, "window": 24, "lag": 1},
    "model": {"cell": "gru", "units": 16, "dropout": 0.0},
    "train": {"epochs": 3, "batch": 16, "rate": 0.001, "loss": "mse"},
}


def load(path):
    with open(path) as stream:
        cfg = yaml.safe_load(stream)
    return {**DEFAULTS, **cfg}
