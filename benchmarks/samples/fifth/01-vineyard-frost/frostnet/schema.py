"""Typed settings; a YAML tree is turned into a tree of dataclasses."""
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Optional, get_type_hints

SCALARS = (int, float, str)


@dataclass
class Sensors:
    count: int
    window: int = 8
    noise: float = 0.05
    altitude: float = 300.0


@dataclass
class Net:
    units: list
    act: str = "relu"
    dropout: float = 0.0


@dataclass
class Optim:
    lr: float
    clipnorm: Optional[float] = None
    decay: dict = field(default_factory=dict)


@dataclass
class Experiment:
    seed: int
    sensors: Sensors
    net: Net
    optim: Optim
    nights: int = 1
    tags: dict = field(default_factory=dict)


def build(cls, node: dict[str, Any]):
    hints = get_type_hints(cls)
    known = {f.name for f in fields(cls)}
    kwargs = {}
    for name, value in node.items():
        if name not in known:
            continue
        hint = hints[name]
        if is_dataclass(hint):
            value = build(hint, value)
        elif hint in SCALARS:
            value = hint(value)
        kwargs[name] = value
    return cls(**kwargs)
