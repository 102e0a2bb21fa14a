"""Events of a run for others to judge, such as missing keys and library calls."""

from __future__ import annotations

from typing import Any, Protocol

from cfgfix.code.inference.interpreter.objects import ConfigKey, Mapping, Spot, Value
from cfgfix.core.records import dataclass

REQUIRED, DEFAULT, GUARD = "required", "default", "guard"
"""How a key is asked for: it must be there; a default is taken; it is only looked whether it is there."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A key that was looked up in config sections and is missing.

    Attributes:
        sections: The config sections that were asked.
        name: The name that was asked for.
        how: `required`, `default` or `guard`.
        spot: Where.
        error: For a required one the exception that it raises.
        default: The value taken instead; None where there is none.
        conditions: The conditions of unknown outcome that lead to the lookup.
        caught: Whether the code around catches the error.
    """

    sections: tuple[ConfigKey, ...]
    name: str
    how: str
    spot: Spot
    error: str = ""
    default: Value | None = None
    conditions: tuple[str, ...] = ()
    caught: bool = False


@dataclass(frozen=True, slots=True)
class WrongAccess:
    """A read of a config value in a way that the config's object does not support.

    Attributes:
        section: The section that is asked, or whose object it is.
        name: What is asked for.
        how: What the object is or does, in words.
        spot: Where.
        error: The exception that it raises; empty where it gives something else.
    """

    section: ConfigKey
    name: str
    how: str
    spot: Spot
    error: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """A config key or value that a function, class or library of the run refuses.

    Attributes:
        kind: `unknown-key`, `missing-key`, `swallowed`, `wrong-type`, `no-number`, `ignored-key`, `absent-file`, `given-twice`.
        key: The key; for `missing-key` the section.
        name: For `missing-key` the name that is lacking, for `given-twice` the argument.
        by: What refuses it, in words, such as `drill()` or `the class Trees`.
        spot: Where it is refused.
        says: What happens then, such as `TypeError`.
        takes: Names that would be taken.
        conditions: As of `Asked`.
        value: The value concerned, where there is one.
        beside: Other keys without whose values it would not be refused.
    """

    kind: str
    key: ConfigKey
    by: str
    spot: Spot
    name: str = ""
    says: str = ""
    takes: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    value: Any = None
    beside: tuple[ConfigKey, ...] = ()


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """A call of something outside the project.

    Attributes:
        name: Full dotted name of what is called; a method is `CLASS.method`.
        args, keywords: What it is called with.
        spot: Where.
        spread: The mapping that `**mapping` gave its named arguments from, or None.
        conditions: As of `Asked`.
        opaque: Whether further arguments may be given that are not known.
        receiver: The object whose method it is, or None.
    """

    name: str
    args: tuple[Value, ...]
    keywords: dict[str, Value]
    spot: Spot
    spread: Mapping | None = None
    conditions: tuple[str, ...] = ()
    opaque: bool = False
    receiver: Value | None = None


@dataclass(frozen=True, slots=True)
class Loading:
    """A call that turns a file into a value.

    Attributes:
        how: The function, such as `yaml.safe_load`, `json.load`, `omegaconf.load`.
        path: The path as a value of the run.
        spot: Where.
        loader: Facts about the loader, by name: `class` (its canonical name), `resolvers` (tags of added patterns).
        stored: What the program itself has stored for Hydra, by group and name.
    """

    how: str
    path: Value
    spot: Spot
    loader: dict[str, Any]
    stored: tuple[tuple[tuple[str, str], Value | None], ...] = ()


class Host(Protocol):
    """The interpreter's questions about the world outside the code."""

    def load(self, loading: Loading) -> Value | None:
        """Return the value loaded from a config file, or None where there is no such file."""

    def naming_absent(self, loading: Loading) -> ConfigKey | None:
        """Return the config key whose value names a missing file to load, or None."""

    def arguments(self) -> list[str] | None:
        """Return the arguments of the command that starts the program, or None.

        None means that no command is known.
        """

    def listed(self, folder: Value, pattern: str, spot: Spot) -> list[str] | None:
        """Return the files of a folder that match a pattern; None if they are not known."""

    def chosen(self, name: str) -> str | None:
        """Return the value that an option has in this run, or None.

        A variable of the environment is named with a `$`.
        """

    def variable(self, name: str) -> str | None:
        """Return an environment variable that the command sets, or None."""
