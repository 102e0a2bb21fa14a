from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import List

import yaml


@dataclass
class Data:
    sensors: int = 3
    window: int = 128
    stride: int = 32
    healthy_hours: int = 100


@dataclass
class Net:
    latent_dim: int = 8
    widths: List[int] = field(default_factory=lambda: [64, 32])
    noise: float = 0.0


@dataclass
class Train:
    lr: float = 1e-3
    batch_size: int = 32
    replicas: int = 1
    epochs: int = 10


@dataclass
class Conf:
    data: Data = field(default_factory=Data)
    model: Net = field(default_factory=Net)
    train: Train = field(default_factory=Train)


def _fill(cls, values):
    known = {f.name for f in fields(cls)}
    return cls(**{name: value for name, value in (values or {}).items() if name in known})


def load(path):
    raw = yaml.safe_load(Path(path).read_text())
    return Conf(**{f.name: _fill(f.default_factory, raw.get(f.name)) for f in fields(Conf)})
