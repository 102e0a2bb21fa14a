"""What one run of a program is to those who act in it: its frames, its options, and what it can be asked to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from cfgfix.code.inference.interpreter.events import Asked, Host, Loading
from cfgfix.code.inference.interpreter.objects import (
    ClassObject,
    ConfigKey,
    FunctionObject,
    Instance,
    Mapping,
    Namespace,
    Spot,
    Value,
)
from cfgfix.code.model import summary as model
from cfgfix.code.model.program import Module, Program
from cfgfix.code.model.summary import Scope
from cfgfix.core.records import dataclass


class Frame:
    """One run of a scope."""

    __slots__ = ("caught", "depth", "names", "owner", "receiver", "returned", "scope", "way", "yielded")

    def __init__(
        self,
        scope: Scope,
        names: Namespace,
        way: tuple[tuple[Scope, model.Place], ...],
        depth: int,
        receiver: Value | None = None,
        owner: ClassObject | None = None,
    ) -> None:
        self.scope = scope
        self.names = names
        self.way = way
        self.depth = depth
        self.receiver = receiver
        self.owner = owner
        self.returned: list[Value] = []
        self.yielded: list[Value] = []
        self.caught: list[frozenset[str]] = []


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


class Run(Protocol):
    """One run of a program, as the models of Python and of libraries use it."""

    program: Program
    host: Host
    asked: list[Asked]
    loadings: list[Loading]
    options: dict[str, Option]
    parsers: dict[int, list[Option]]
    kept: list[Value]
    added: dict[ClassObject | str, list[str]]
    pydantic: int

    @property
    def conditions(self) -> tuple[str, ...]:
        """What must hold for the run to be where it is, where that is not known."""

    @property
    def sure(self) -> bool:
        """Whether the run is certainly where it is."""

    def imported(self, source: str, importer: Module) -> Value:
        """Return what a dotted import source stands for."""

    def set_item(self, frame: Frame, owner: Value, index: Value, value: Value, spot: Spot) -> None:
        """Put a value under a key."""

    def put(self, holder: Mapping, name: Any, value: Value, spot: Spot) -> None:
        """Write an entry of a mapping, noting what becomes of the config's value that stood there."""

    def set_attribute(self, frame: Frame, owner: Value, name: str, value: Value, spot: Spot) -> None:
        """Give an object an attribute."""

    def set_own(self, owner: Instance, name: str, value: Value, spot: Spot) -> None:
        """Set an attribute of an object of the project."""

    def update(self, frame: Frame, holder: Mapping, other: Value, spot: Spot) -> None:
        """Lay a mapping over another."""

    def attribute(
        self, frame: Frame, owner: Value, name: str, spot: Spot, default: Value | None = None
    ) -> Value:
        """Return an attribute of a value, noting what it asks of a config."""

    def attributes_of(self, owner: Instance) -> Mapping:
        """Return the attributes of an object as a mapping: writing to it sets them."""

    def item(
        self,
        frame: Frame,
        owner: Value,
        index: Value,
        spot: Spot,
        absent: str | None = "",
        default: Value | None = None,
    ) -> Value:
        """Return what stands under a key, noting what it asks of a config."""

    def taken(self, value: Value, spot: Spot) -> Value:
        """Note that a value was taken out of a config, and return it."""

    def walk(self, owner: Value, spot: Spot) -> None:
        """Note that names of a section are looked up that are not known: each of its keys may be read."""

    def is_caught(self, frame: Frame, error: str) -> bool:
        """Tell whether the code around is ready for an exception."""

    def refuse(
        self,
        kind: str,
        key: ConfigKey,
        by: str,
        spot: Spot,
        says: str = "",
        takes: tuple[str, ...] = (),
        *,
        name: str = "",
        value: Any = None,
    ) -> None:
        """Note that something does not take a key or its value."""

    def items_of(self, frame: Frame, value: Value, spot: Spot | None) -> list[Value] | None:
        """Return the items that iterating over a value gives, or None where they are not all known."""

    def item_of(self, value: Value) -> Value:
        """Return what stands for any item of what is iterated over."""

    def call(
        self,
        frame: Frame,
        callee: Value,
        args: tuple[Value, ...],
        keywords: dict[str, Value],
        spot: Spot,
        *,
        spread: Mapping | None = None,
        opaque: bool = False,
    ) -> Value:
        """Return what a call gives, doing what it does."""

    def library_call(
        self,
        frame: Frame,
        name: str,
        args: tuple[Value, ...],
        keywords: dict[str, Value],
        spot: Spot,
        spread: Mapping | None = None,
        *,
        opaque: bool = False,
        receiver: Value | None = None,
    ) -> Value:
        """Note a call of something outside the project, and return what it made."""

    def hand_over(self, frame: Frame, values: Iterable[Value]) -> None:
        """Note that a library gets functions and objects that it may call."""

    def enter(
        self,
        frame: Frame,
        function: FunctionObject,
        args: tuple[Value, ...],
        keywords: dict[str, Value],
        spot: Spot,
        spread: Mapping | None,
        *,
        opaque: bool = False,
    ) -> Value:
        """Return what a function of the project gives."""

    def classes(self, cls: ClassObject) -> Iterator[ClassObject]:
        """Yield a class and its bases of the project, nearest first."""

    def outside_bases(self, cls: ClassObject) -> list[str]:
        """Return the canonical names of a class's bases outside the project; `?` for one that is not known."""

    def class_member(self, cls: ClassObject, name: str) -> Value | None:
        """Return what a class or a base of the project defines under a name."""

    def construct(
        self,
        frame: Frame,
        cls: ClassObject,
        args: tuple[Value, ...],
        keywords: dict[str, Value],
        spot: Spot,
        spread: Mapping | None = None,
        *,
        opaque: bool = False,
    ) -> Value:
        """Return a new object of a class of the project."""

    def decide(self, test: Value) -> None:
        """Note a test of which only one way can be taken, such as one of a value's type."""

    def use(self, value: Value, spot: Spot, *, deep: bool = False) -> None:
        """Note that a value counts: what it was made from has an effect."""

    def escape(self, frame: Frame, values: Iterable[Value], spot: Spot) -> None:
        """Note that values go to code that is not known."""
