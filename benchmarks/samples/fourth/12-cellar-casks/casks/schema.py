from dataclasses import dataclass, field
from enum import Enum
from typing import Optional

from omegaconf import MISSING


class Wood(Enum):
    OAK = "oak"
    CHESTNUT = "chestnut"
    ASH = "ash"


@dataclass
class Cask:
    wood: str = "oak"
    staves: int = 4
    toast: float = 1.0
    char_level: int = 0
    age: int = MISSING


@dataclass
class Train:
    sips: int = 1
    rate: float = 1e-2
    precision: str = "float32"
    jit: bool = False
    seed: Optional[int] = None


@dataclass
class Serve:
    host: str = "localhost"
    port: int = 80


@dataclass
class Root:
    cask: Cask = field(default_factory=Cask)
    train: Train = field(default_factory=Train)
    serve: Serve = field(default_factory=Serve)
