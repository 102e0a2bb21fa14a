from dataclasses import dataclass


@dataclass
class Common:
    """What every section has.

    Attributes:
        seed: Where random numbers begin.
    """

    seed: int = 0
    name: str = "run"  # shown in the log
