import tomllib

import attrs


@attrs.frozen
class Threads:
    count: int
    colours: list
    twist: float = 0.0
    spool: str = "threads.npz"


@attrs.frozen
class Yarn:
    kind: str
    ends: int = attrs.field(validator=attrs.validators.gt(0))
    options: dict = attrs.field(factory=dict)


def read(path):
    with open(path, "rb") as f:
        cloth = tomllib.load(f)
    if cloth.pop("schema") != 2:
        raise SystemExit("only schema 2 can be read")
    return cloth
