"""A dive plan: three sections, each a dataclass."""
import dataclasses
import tomllib
from typing import Any


@dataclasses.dataclass
class Site:
    depth: int
    fronds: int = 20
    murk: float = 0.0


@dataclasses.dataclass
class Net:
    blades: list
    bend: str = "relu"
    pool: str = "mean"


@dataclasses.dataclass
class Swim:
    laps: int
    pace: float = 1e-3
    shoal: int = 16
    extra: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Plan:
    site: Site
    net: Net
    swim: Swim
    title: str = ""


def part(cls, section: dict[str, Any]):
    """Only what the class knows; the rest is kept for later versions of it."""
    known = {f.name for f in dataclasses.fields(cls)}
    made = cls(**{k: v for k, v in section.items() if k in known})
    if "extra" in known:
        made.extra = {k: v for k, v in section.items() if k not in known}
    return made


def read(path):
    with open(path, "rb") as f:
        raw = tomllib.load(f)
    return Plan(part(Site, raw["site"]), part(Net, raw["net"]), part(Swim, raw["swim"]),
                raw.get("title", ""))
