"""Experiments: one file each in experiments/, based on one another by `extends`."""
from pathlib import Path

import yaml

FOLDER = Path(__file__).parent / "experiments"


def read_experiment(name):
    with open(FOLDER / f"{name}.yaml") as fh:
        own = yaml.safe_load(fh)
    parent = own.pop("extends", None)
    if parent is None:
        return own
    settings = read_experiment(parent)
    settings.update(own)
    return settings
