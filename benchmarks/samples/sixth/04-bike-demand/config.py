import tomllib
from dataclasses import dataclass, field


@dataclass
class DataConfig:
    history: int = 48
    horizon: int = 12
    batch_size: int = 64
    test_days: int = 30
    shuffle: bool = True


@dataclass
class NetworkConfig:
    cell: str = "lstm"
    units: int = 64
    dropout: float = 0.0


@dataclass
class FitConfig:
    epochs: int = 20
    learning_rate: float = 1e-3
    loss: str = "mae"
    metrics: list = field(default_factory=lambda: ["mae", "mean_absolute_percent_error"])
    patience: int = 5
    min_delta: float = 0.0
    restore_best: bool = True
    clipnorm: float = 1.0
    clipvalue: float = 0.5


@dataclass
class Config:
    data: DataConfig
    network: NetworkConfig
    fit: FitConfig


def load_config(path):
    with open(path, "rb") as f:
        raw = tomllib.load(f)
    return Config(
        data=DataConfig(**raw.get("data", {})),
        network=NetworkConfig(**raw.get("network", {})),
        fit=FitConfig(**raw.get("fit", {})),
    )
