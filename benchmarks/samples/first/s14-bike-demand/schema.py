from pathlib import Path
from typing import Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, PositiveInt


class Net(BaseModel):
    units: list[PositiveInt]
    act: str = Field("relu", validation_alias=AliasChoices("act", "activation"))
    dropout: float = Field(0.0, ge=0, lt=1)


class Solver(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: Literal["adam", "adamw", "nadam"] = "adam"
    rate: float = Field(alias="learning_rate", gt=0)


class Fit(BaseModel):
    epochs: PositiveInt = 10
    batch_size: PositiveInt = 32
    shuffle: bool = True


class City(BaseModel):
    horizon: PositiveInt = 3
    net: Net
    solver: Solver
    fit: Fit = Fit()

    @classmethod
    def from_file(cls, path: str | Path) -> "City":
        return cls.model_validate_json(Path(path).read_text())
