import json
from typing import List, Literal

from pydantic import BaseModel, Field, field_validator


class Tiles(BaseModel):
    count: int = Field(gt=0)
    size: int = 32
    near: float = 0.1
    far: float
    gamma: float = 1.0


class Net(BaseModel):
    backbone: Literal["tiny", "base"] = "tiny"
    channels: List[int]
    dropout: float = Field(0.0, ge=0.0, lt=1.0)

    @field_validator("channels")
    @classmethod
    def rising(cls, value):
        if sorted(value) != value:
            raise ValueError("channels must not shrink")
        return value


class Fit(BaseModel):
    step: float = Field(1e-3, alias="lr")
    batch_size: int = 16
    epochs: int = 1
    loss: str = "mae"
    verbose: int = 1


class Job(BaseModel):
    seed: int = 0
    tiles: Tiles
    net: Net
    fit: Fit


def read(path) -> Job:
    with open(path) as f:
        return Job.model_validate(json.load(f))
