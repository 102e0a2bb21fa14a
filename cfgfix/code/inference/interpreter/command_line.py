"""Options of the command line as a program declares them."""

from __future__ import annotations

from typing import Any

from cfgfix.code.inference.interpreter.objects import ConfigKey, Spot, Value
from cfgfix.core.records import dataclass

OPTIONS = "<options>"
"""The source that the keys of command-line options have."""
ENVIRONMENT = "<environment>"
"""The source that the keys of variables of the environment have."""
WRITTEN = "<code>"
"""The source that the keys of settings in the code have."""
FLAG_PARSER = 0
"""What stands for the one parser of `absl`'s flags among the parsers of a run."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of the command line, as the program declares it.

    Attributes:
        names: As they are written: `--config`, `-c`, or `config` for a positional argument.
        attribute: The name under which its value is read.
        default: The value without it; None where there is none.
        required: Whether the program stops without it.
        kind: Canonical name of the conversion, such as `builtins.int`; empty for none.
        action: Such as `store_true`; empty for plain values.
        many: Whether it takes several values.
        key: What notes where its value is read.
        spot: Where it is declared.
        choices: The values that it takes; None where any may do or they are not known.
    """

    names: tuple[str, ...]
    attribute: str
    default: Value | None
    required: bool
    kind: str
    action: str
    many: bool
    key: ConfigKey
    spot: Spot
    choices: tuple[Any, ...] | None = None
