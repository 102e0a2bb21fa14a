import tomllib
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Optional


@dataclass
class Window:
    past: int
    future: int = 1

    @property
    def total(self):
        return self.past + self.future


@dataclass
class Net:
    filters: int
    kernel: int = 2
    dilations: list = field(default_factory=lambda: [1, 2])
    dropout: float = 0.0


@dataclass
class Fit:
    epochs: int = 5
    batch: int = 32
    lr: float = 0.01
    patience: Optional[int] = None


@dataclass
class Settings:
    window: Window
    net: Net
    fit: Fit


def from_dict(cls, values):
    found = {}
    for f in fields(cls):
        if f.name in values:
            value = values[f.name]
            found[f.name] = from_dict(f.type, value) if is_dataclass(f.type) else value
    return cls(**found)


def load(path):
    with open(path, "rb") as fp:
        return from_dict(Settings, tomllib.load(fp))
