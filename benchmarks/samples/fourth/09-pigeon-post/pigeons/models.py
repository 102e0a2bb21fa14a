"""What a flight plan must look like."""
from typing import Any, Literal, Optional

import yaml
from pydantic import BaseModel, ConfigDict, Field, field_validator


class Loft(BaseModel):
    birds: int
    messages: int = Field(gt=0)
    homing_rate: float = Field(0.5, alias="homing-rate")

    @field_validator("homing_rate", mode="before")
    @classmethod
    def percent(cls, value):
        if isinstance(value, str) and value.endswith("%"):
            return float(value[:-1]) / 100
        return value


class Wing(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["flat", "recurrent"]
    units: int
    layer: dict[str, Any] = {}


class Train(BaseModel):
    passes: int
    optimizer: str = "Adam"
    optimizer_args: dict[str, Any] = {}
    checkpoint: Optional[str] = None
    weights_only: bool = False


class Flight(BaseModel):
    loft: Loft
    wing: Wing
    train: Train


def open_flight(path):
    with open(path) as handle:
        return Flight.model_validate(yaml.safe_load(handle))
