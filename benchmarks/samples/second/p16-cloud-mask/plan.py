from typing import NamedTuple

import yaml


class Run(NamedTuple):
    precision: str = "float32"
    global_batch: int = 8
    steps_per_execution: int = 1
    epochs: int = 1
    rate: float = 1e-3


def read(path):
    with open(path) as f:
        cfg = yaml.safe_load(f)
    return Run(**cfg["run"]), cfg["tiles"], cfg
