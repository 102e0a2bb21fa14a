"""What the code does with the keys of a config: the records of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cfgfix.code.inference.config_atoms import Path
from cfgfix.code.inference.value_uses import Guard
from cfgfix.code.model.expressions import place_of, text
from cfgfix.code.model.nodes import Expr, Place
from cfgfix.code.model.summary import Scope
from cfgfix.core.records import dataclass, field

LIVE, NEVER, TOOLS, INFERENCE, ONLY_LOGGED, OVERWRITTEN, UNSURE = (
    "live", "never", "tools", "inference", "logged", "overwritten", "unsure",
)  # fmt: skip
DEAD = frozenset({NEVER, TOOLS, INFERENCE, ONLY_LOGGED, OVERWRITTEN})
CORE = "core"
MAX_PLACES = 12
"""Most places of one kind that are kept for one key."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in the code.

    Attributes:
        path: The file.
        line: Line, from 1.
        column: Column in UTF-8 bytes, from 0.
        end_line, end_column: Where it ends.
        how: The code at this place, shortened.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    how: str


@dataclass(frozen=True, slots=True)
class Use:
    """What the code does with one key.

    Attributes:
        status: `live`, `never`, `tools`, `inference`, `logged`, `overwritten`, or `unsure` where an object that is
            not known is read by this name, or the whole section is given to something that is not known.
        reads: Where the training program reads it.
        tools: Where only tests, examples and tools read it.
        inference: Where only the inference code reads it.
        writes: Where the code gives it another value.
        whole: Where its whole section is used at once.
        maybe: Where that name is read from an object that is not known.
        guards: Settings without which no use of it is reached.
        arithmetic: Where code calculates with the value without conversion.
    """

    status: str
    reads: tuple[Spot, ...] = ()
    tools: tuple[Spot, ...] = ()
    inference: tuple[Spot, ...] = ()
    writes: tuple[Spot, ...] = ()
    whole: tuple[Spot, ...] = ()
    maybe: tuple[Spot, ...] = ()
    guards: tuple[Guard, ...] = ()
    arithmetic: tuple[Spot, ...] = ()


@dataclass(frozen=True, slots=True)
class Loading:
    """Where a config file is loaded.

    Attributes:
        spot: The call.
        name: The function, such as `yaml.safe_load`.
        role: The role of the file with the call.
        unknown: The effect of a key that the class does not have: `fatal`, `ignored`, or `free` without a class.
        kind: cfgfix's name for the loader, such as `pyyaml`.
    """

    spot: Spot
    name: str
    role: str
    unknown: str
    kind: str


@dataclass(frozen=True, slots=True)
class Option:
    """A command-line option that replaces the value of a key.

    Attributes:
        flag: Such as `--batch-size`.
        default: Its default as text; None where it has none.
        spot: Where the key is given the option's value.
        declared: Where the option is declared.
        always: Whether the file's value never counts, since the option always has a value.
    """

    flag: str
    default: str | None
    spot: Spot
    declared: Spot
    always: bool


@dataclass(frozen=True, slots=True)
class Undefined:
    """A read of a key that no class defines.

    Attributes:
        owner: The class, such as `DataConfig`.
        name: The key.
        spot: The place.
        fatal: Whether the program stops there; else it goes on with a default.
        elsewhere: Sections whose class has a key of that name.
    """

    owner: str
    name: str
    spot: Spot
    fatal: bool
    elsewhere: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """A training program.

    Attributes:
        spot: Where it begins.
        loads: Whether it may load a config file.
        trains: The call that trains.
    """

    spot: Spot
    loads: bool
    trains: Spot


@dataclass(frozen=True, slots=True)
class LiteralBesideKey:
    """A literal argument in the code whose parameter is named like a key.

    Attributes:
        path: The key.
        value: The literal.
        spot: The place.
    """

    path: Path
    value: Any
    spot: Spot


@dataclass(frozen=True, slots=True)
class Usage:
    """What the code does with a config.

    Attributes:
        keys: The use of each key, by key path.
        defined: For each key path of the class: file, line, and the class.
        loadings: Where files are loaded.
        options: For each key path the options that replace it.
        undefined: Reads of keys that the class does not have.
        entries: Programs that train.
        literals: Literal arguments whose parameter is named like a key.
        sections: Key paths of sections, with the name of their class where there is one.
    """

    keys: Mapping[Path, Use]
    defined: Mapping[Path, tuple[str, int, str]] = field(default_factory=dict)
    loadings: tuple[Loading, ...] = ()
    options: Mapping[Path, tuple[Option, ...]] = field(default_factory=dict)
    undefined: tuple[Undefined, ...] = ()
    entries: tuple[Entry, ...] = ()
    literals: tuple[LiteralBesideKey, ...] = ()
    sections: Mapping[Path, str] = field(default_factory=dict)

    @property
    def loader(self) -> str | None:
        """The loader of all the project's configs; None for several kinds or none."""
        kinds = {item.kind for item in self.loadings if item.role == CORE}
        return next(iter(kinds)) if len(kinds) == 1 else None

    @property
    def unknown(self) -> str | None:
        """The effect of an unknown key: `fatal`, `ignored` or `free`; None if unknown."""
        found = {item.unknown for item in self.loadings if item.role == CORE} or {
            item.unknown for item in self.loadings
        }
        for kind in ("fatal", "ignored", "free"):
            if kind in found:
                return kind
        return None


def spot(expr: Expr, scope: Scope) -> Spot:
    """Return the place of an expression, with its code."""
    place = place_of(expr, scope) or scope.place
    shown = text(expr)
    return spot_of(scope, place, shown if len(shown) <= 80 else shown[:77] + "...")


def spot_of(scope: Scope, place: Place, how: str = "") -> Spot:
    """Return the place of a span in the file of a scope."""
    return Spot(scope.module.path, *place.start, *place.end, how)


def spots_of(items: Iterable[tuple[Expr, Scope]]) -> tuple[Spot, ...]:
    """Return the places of expressions, one for each line, up to a limit."""
    found: dict[tuple[str, int], Spot] = {}
    for expr, scope in items:
        place = spot(expr, scope)
        found.setdefault((place.path, place.line), place)
    ordered = sorted(found.values(), key=lambda item: (item.path, item.line))
    return tuple(ordered[:MAX_PLACES])
