from pathlib import Path
from typing import Annotated, Literal, Optional, Union

import yaml
from pydantic import BaseModel, ConfigDict, Field, computed_field, field_validator


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class GruNet(Strict):
    kind: Literal["gru"]
    units: int = Field(gt=0)
    dropout: float = 0.0


class AttentionNet(Strict):
    kind: Literal["attention"]
    heads: int
    key_dim: int = 8


Net = Annotated[Union[GruNet, AttentionNet], Field(discriminator="kind")]


class Building(BaseModel):
    floors: int
    lobby: int = 0
    cars: int = 2
    peak: tuple[int, int] = (8, 10)

    @field_validator("peak", mode="before")
    @classmethod
    def split(cls, v):
        return v.split("-") if isinstance(v, str) else v

    @computed_field
    @property
    def inputs(self) -> int:
        return self.floors + self.cars


class Fit(BaseModel):
    epochs: int = 1
    learning_rate: float = Field(alias="learningRate")
    batch_size: int = Field(8, alias="batchSize")
    clip: Optional[float] = None


class Settings(BaseModel):
    building: Building
    net: Net
    fit: Fit
    seed: int = 0

    @classmethod
    def load(cls, path):
        return cls.model_validate(yaml.safe_load(Path(path).read_text()))
