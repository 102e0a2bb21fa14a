from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Encoder(BaseModel):
    model_config = ConfigDict(extra="forbid")

    vocab: int
    dim: int = 8
    pooling: Literal["mean", "max"] = "mean"


class Trainer(BaseModel):
    epochs: int = 2
    batch_size: int = 16
    learning_rate: float = 1e-3
    loss: str = "binary_cross_entropy"


class Settings(BaseModel):
    encoder: Encoder
    trainer: Trainer = Trainer()
    max_len: int = Field(16, ge=4)

    @classmethod
    def read(cls, path):
        return cls.model_validate_json(Path(path).read_text())
