"""The config of a small program."""
from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Dict, List, Literal, Optional, Tuple, Union

import yaml

from . import constants
from .base import Common
from .constants import SAMPLE_RATE, Mode

Number = Union[int, float]


@dataclass
class Data(Common):
    path: Path = Path("data")
    batch_size: int = 32  # samples in one step
    workers: Optional[int] = None
    rates: List[float] = None  # filled in later
    shape: Tuple[int, int] = (80, 200)
    sample_rate: int = SAMPLE_RATE
    cleaners: List[str] = field(default_factory=lambda: ["english"])
    tags: Dict[str, int] = field(default_factory=dict)
    cache: "bool | None" = True
    limit: int = 4 * constants.KIB
    name: str = "data"
    scale: Number = 1
    handler: Any = None
    shared: ClassVar[int] = 3
    derived: int = field(default=0, init=False)

    def __post_init__(self):
        if self.rates is None:
            self.rates = [0.5, 1.0]
        self.scale = 2 * self.scale


@dataclass
class Train:
    epochs: int
    mode: Mode = Mode.FAST
    optimizer: Literal["adam", "sgd"] = "adam"
    schedule: Optional[Train] = None
    """Only told for the second stage."""
    lr: Union[float, List[float], None] = None
    unknown: "torch.dtype" = None


@dataclass
class Root:
    data: Data = field(default_factory=Data)
    train: Train = None

    @classmethod
    def from_yaml(cls, path):
        with open(path) as stream:
            content = yaml.safe_load(stream)
        return cls(data=Data(**content.get("data", {})), train=Train(**content.get("train", {})))
