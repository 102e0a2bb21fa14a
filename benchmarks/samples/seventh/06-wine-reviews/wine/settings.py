import tomllib
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Text(Strict):
    vocab: int = Field(gt=2)
    length: int = 32
    reviews: int = 200
    valid_share: float = Field(0.2, gt=0, lt=1)


class Model(Strict):
    embed_rows: int
    embed_dim: int = 16
    pooling: Literal["avg", "max"] = "avg"
    hidden: int = 32
    dropout: float = Field(0.0, ge=0, lt=1)
    n_classes: int = 3


class Stop(Strict):
    monitor: str = "val_loss"
    patience: int = 2


class Fit(Strict):
    epochs: int = 5
    batch_size: int = 16
    learning_rate: float = 1e-3
    stop: Stop = Stop()


class Settings(Strict):
    text: Text
    model: Model
    fit: Fit = Fit()


def read(path: str) -> Settings:
    with open(path, "rb") as fh:
        return Settings(**tomllib.load(fh))
