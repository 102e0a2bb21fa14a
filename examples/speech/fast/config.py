"""The settings of the training program: those of the first attempt, less what nothing read."""

from __future__ import annotations

from dataclasses import dataclass, field

import yaml


@dataclass
class ModelConfig:
    """The model."""

    channels: int = 128
    n_mels: int = 80


@dataclass
class DataConfig:
    """The data."""

    dataset_path: str = "data"
    sample_rate: int = 22050
    hop_length: int = 256
    mel_lengths: list[int] = field(default_factory=lambda: [1200])
    max_text_length: int = 256
    batch_size: int = 8
    num_workers: int = -1
    cache: bool = True
    shuffle_buffer: int = 96
    prefetch: int = 2


@dataclass
class TrainingConfig:
    """The training."""

    epochs: int = 100
    learning_rate: float = 1e-4
    gradient_clip_norm: float = 1.0


@dataclass
class Config:
    """All of it."""

    model: ModelConfig = field(default_factory=ModelConfig)
    data: DataConfig = field(default_factory=DataConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)


def load_config(path: str) -> Config:
    """Read a YAML file."""
    with open(path, encoding="utf-8") as stream:
        raw = yaml.safe_load(stream)
    return Config(
        model=ModelConfig(**raw["model"]),
        data=DataConfig(**raw["data"]),
        training=TrainingConfig(**raw["training"]),
    )
