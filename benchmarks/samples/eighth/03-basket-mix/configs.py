import json
from dataclasses import dataclass, field, fields


@dataclass
class DataConfig:
    num_users: int = 50
    num_items: int = 200
    num_events: int = 512
    negatives_per_positive: int = 4


@dataclass
class TowerConfig:
    embedding_dim: int = 16
    user_layers: list = field(default_factory=lambda: [32, 16])
    item_layers: list = field(default_factory=lambda: [32, 16])
    activation: str = "relu"
    temperature: float = 0.1


@dataclass
class TrainConfig:
    optimizer: dict = field(default_factory=lambda: {"class_name": "adam", "config": {}})
    loss: str = "sparse_categorical_crossentropy"
    batch_size: int = 64
    epochs: int = 2
    top_k: int = 5


def pick(cls, values):
    """Keep the values that the config class knows."""
    known = {f.name for f in fields(cls)}
    return cls(**{k: v for k, v in values.items() if k in known})


def load_config(path):
    with open(path) as f:
        raw = json.load(f)
    return pick(DataConfig, raw["data"]), pick(TowerConfig, raw["tower"]), pick(TrainConfig, raw["train"])
