from dataclasses import dataclass, field
from typing import Optional

from omegaconf import MISSING


@dataclass
class ModelConf:
    cell: str = "gru"
    units: int = 32
    recurrent_dropout: float = 0.0


@dataclass
class FitConf:
    batch: int = 16
    epochs: int = 2
    lr: float = 1e-3
    clip: Optional[float] = None


@dataclass
class Root:
    horizon: int = MISSING
    model: ModelConf = field(default_factory=ModelConf)
    fit: FitConf = field(default_factory=FitConf)
