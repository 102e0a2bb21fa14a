from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, is_dataclass
from typing import get_type_hints


@dataclass
class Data:
    hours: int
    features: list[str]
    target: str
    sequence_length: int = 24
    sampling_rate: int = 1
    batch_size: int = 32
    train_fraction: float = 0.7


@dataclass
class Model:
    input_features: int = 4
    filters: int = 32
    kernel_size: int = 3
    dilations: list[int] = field(default_factory=lambda: [1, 2])
    padding: str = "causal"
    horizon: int = 1


@dataclass
class Train:
    epochs: int = 10
    loss: str = "mse"
    metrics: list[str] = field(default_factory=list)
    learning_rate: float = 1e-3
    reduce_lr: dict = field(default_factory=dict)


@dataclass
class Settings:
    data: Data
    model: Model
    train: Train


def build(cls, table):
    hints = get_type_hints(cls)
    kwargs = {}
    for name, value in table.items():
        hint = hints[name]
        kwargs[name] = build(hint, value) if is_dataclass(hint) else value
    return cls(**kwargs)


def read(path):
    with open(path, "rb") as f:
        return build(Settings, tomllib.load(f))
