from typing import Annotated, NamedTuple, Optional, TypedDict

import attr
import attrs
from omegaconf import MISSING
from pydantic import BaseModel, ConfigDict, Field, PositiveInt
import dataclasses

from pydantic.dataclasses import dataclass as pydantic_dataclass


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    steps: int = Field(10, ge=1, lt=100, description="How many steps.")
    name: str = Field(..., min_length=2, alias="runName")


class Lenient(BaseModel):
    lr: float
    flag: bool = False
    workers: PositiveInt = 4
    momentum: Annotated[float, Field(gt=0)] = 0.9
    inner: Optional[Strict] = None


class Dict(TypedDict, total=False):
    a: int
    b: str


class Tuple(NamedTuple):
    a: int
    b: str = "x"


@attr.s
class OldAttrs:
    a = attr.ib(type=int, default=1)
    b = attr.ib(factory=list)


@attrs.define
class NewAttrs:
    a: int = 1
    b: list[int] = attrs.field(factory=list)


class Base:
    def __init__(self, depth: int = 3, width=4):
        """Make it.

        Args:
            depth: Layers.
        """


class Plain(Base):
    def __init__(self, size: int, *, rate: float = 0.5, **kwargs):
        super().__init__(**kwargs)


class Open:
    def __init__(self, size: int = 1, **kwargs):
        self.rest = kwargs


@dataclasses.dataclass
class Structured:
    path: str = MISSING
    depth: int = 2


class Nothing:
    pass


def dangerous():
    raise RuntimeError("imported")


raise RuntimeError("this file is never run")


@pydantic_dataclass
class Validated:
    rate: float = 0.1


@pydantic_dataclass(config=ConfigDict(extra="forbid"))
class Forbidding:
    rate: float = 0.1


@pydantic_dataclass(config=SOMETHING)
class Configured:
    rate: float = 0.1


@dataclasses.dataclass
class Handed:
    by_path: dataclasses.InitVar[Validated]
    as_said: dataclasses.InitVar[int]
    not_said: dataclasses.InitVar[int]
    nowhere: dataclasses.InitVar[int] = 3

    def __post_init__(self, by_path: str, as_said: int, not_said):
        self.inner = by_path
