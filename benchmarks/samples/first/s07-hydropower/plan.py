"""Typed settings with inheritance; sections build themselves."""
from __future__ import annotations

import dataclasses
import typing
from dataclasses import dataclass, field

import yaml


class Section:
    @classmethod
    def build(cls, raw):
        hints = typing.get_type_hints(cls)
        given = {}
        for item in dataclasses.fields(cls):
            if item.name not in raw:
                continue
            value = raw[item.name]
            kind = hints[item.name]
            given[item.name] = kind.build(value) if dataclasses.is_dataclass(kind) else value
        return cls(**given)


@dataclass
class Window(Section):
    past: int = 24
    future: int = 1


@dataclass
class Training(Section):
    epochs: int = 2
    batch_size: int = 16
    learning_rate: float = 1e-3


@dataclass
class RecurrentTraining(Training):
    cell: str = "gru"
    clipnorm: typing.Optional[float] = None


@dataclass
class Plan(Section):
    units: int
    seed: int = 0
    window: Window = field(default_factory=Window)
    train: RecurrentTraining = field(default_factory=RecurrentTraining)

    @classmethod
    def load(cls, path):
        with open(path) as stream:
            return cls.build(yaml.safe_load(stream))
