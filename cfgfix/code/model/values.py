"""The values that expressions may have, as far as reading the code tells."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import Call
from cfgfix.code.model.summary import Scope


class Value:
    """The value of a name or an expression; an object of this class itself is unknown."""

    __slots__ = ()


UNKNOWN = Value()


class External(Value):
    """A thing outside the project, by its full dotted name such as `tensorflow.data.AUTOTUNE`."""

    __slots__ = ("_members", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self._members: dict[str, External] | None = None

    def member(self, name: str) -> External:
        """Return the value of an attribute, the same object each time."""
        members = self._members
        if members is None:
            members = self._members = {}
        found = members.get(name)
        if found is None:
            keras = name == "keras" and self.name.endswith("tensorflow")
            found = members[name] = External("tensorflow.keras" if keras else f"{self.name}.{name}")
        return found


class Made(Value):
    """The result of a library call: an object of `name`, made by `site`."""

    __slots__ = ("name", "site")

    def __init__(self, name: str, site: Site | None) -> None:
        self.name = name
        self.site = site


KERAS_TENSOR = "keras.KerasTensor"
"""The name of what Keras gives out for a tensor while a model is built of layers."""


class Constant(Value):
    """A plain constant."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Items(Value):
    """A tuple or list of known length."""

    __slots__ = ("items",)

    def __init__(self, items: tuple[Value, ...]) -> None:
        self.items = items


class Series(Value):
    """A list or iterator of unknown length, whose items are alike: what a comprehension or a generator gives."""

    __slots__ = ("item",)

    def __init__(self, item: Value) -> None:
        self.item = item


class Entries(Value):
    """A dictionary with constant keys, as far as its values are objects."""

    __slots__ = ("values",)

    def __init__(self, values: Mapping[object, Value]) -> None:
        self.values = values


class ModuleValue(Value):
    """A module of the project."""

    __slots__ = ("module",)

    def __init__(self, module: Module) -> None:
        self.module = module


class ClassValue(Value):
    """A class of the project, as a value that flows."""

    __slots__ = ("scope",)

    def __init__(self, scope: Scope) -> None:
        self.scope = scope


class Instance(Value):
    """An object of a class of the project."""

    __slots__ = ("scope",)

    def __init__(self, scope: Scope) -> None:
        self.scope = scope


class Function(Value):
    """A function, method or lambda of the project.

    Attributes:
        scope: Its code.
        receiver: The object a method is bound to, or None.
        compiled: The site or decorator that compiles it with `tf.function`, or None.
        env: Names of the function it is defined in, for free variables.
        partial: How many leading positional arguments are already given.
        fixed: Constants that are already given, by the name of the parameter.
    """

    __slots__ = ("compiled", "env", "fixed", "partial", "receiver", "scope")

    def __init__(
        self,
        scope: Scope,
        receiver: Value | None = None,
        compiled: Site | None = None,
        env: Env | None = None,
        partial: int = 0,
        fixed: tuple[tuple[str, Any], ...] = (),
    ) -> None:
        self.scope = scope
        self.receiver = receiver
        self.compiled = compiled
        self.env = env
        self.partial = partial
        self.fixed = fixed


class Many(Value):
    """One of several values, depending on the branch taken."""

    __slots__ = ("values",)

    def __init__(self, values: tuple[Value, ...]) -> None:
        self.values = values


class Element(Value):
    """An element of a dataset: tensors."""

    __slots__ = ("dataset",)

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset


class Dataset(Value):
    """A `tf.data.Dataset` and how it came to be.

    Attributes:
        op: The method or constructor (`map`, `from_tensor_slices`), `parameter` for one that comes from a caller,
            `either` where two ways meet, `opaque` for one whose making is not known.
        site: The call that made it; None for `parameter` and `either`.
        parents: The datasets it is made from.
        functions: The functions given to the call.
        uses: What is done with it: children are datasets, consumers are `(kind, site)`.
        detail: For `apply`: what was applied (`prefetch_to_device`); else empty.
    """

    __slots__ = ("detail", "functions", "op", "parents", "site", "uses")

    def __init__(
        self,
        op: str,
        site: Site | None,
        parents: tuple[Dataset, ...] = (),
        functions: tuple[Function, ...] = (),
        detail: str = "",
    ) -> None:
        self.op = op
        self.site = site
        self.parents = parents
        self.functions = functions
        self.uses: list[Dataset | tuple[str, Site | None]] = []
        self.detail = detail
        for parent in parents:
            parent.uses.append(self)

    @property
    def call(self) -> Call | None:
        """The call that made it."""
        return self.site.call if self.site is not None else None


class Env:
    """The names of one run of a scope."""

    __slots__ = ("names", "parent", "scope")

    def __init__(self, scope: Scope, parent: Env | None) -> None:
        self.scope = scope
        self.parent = parent
        self.names: dict[str, Value] = {}


_NO_KEYWORDS: Mapping[str, Value] = MappingProxyType({})


class Site:
    """One call, resolved.

    Attributes:
        scope: The scope it stands in.
        call: The call.
        name: Full dotted name of what is called, canonical (`tensorflow.compat.v1`, `.v2` and `tensorflow.keras` are
            folded into `tensorflow` and `keras`); a method is `tensorflow.data.Dataset.map`; empty when it is
            something of the project or not known.
        raw: The name as imported, nothing folded.
        receiver: For a method what it is called on, else None.
        callee: What is called, as far as that is known.
        args: The values of the positional arguments.
        keywords: The values of the named arguments.
        targets: The functions of the project it may enter.
        result: What it returned.
        expanded: Whether `*items` among the arguments stand in `args` one by one.
        open: Whether it may call something that is not known as well.
        through: The sites by which the scope was entered, outermost first; empty for a run on its own.
        also: Later sites that enter the same function with the same values: it is not run once more for them.
        number: Its place among `Flow.sites`; -1 where it does not stand there.
    """

    __slots__ = (
        "also",
        "args",
        "call",
        "callee",
        "expanded",
        "keywords",
        "name",
        "number",
        "open",
        "raw",
        "receiver",
        "result",
        "scope",
        "targets",
        "through",
    )

    def __init__(self, scope: Scope, call: Call, through: tuple[Site, ...]) -> None:
        self.scope = scope
        self.call = call
        self.through = through
        self.also: Sequence[Site] = ()
        self.name = ""
        self.raw = ""
        self.number = -1
        self.open = False
        self.expanded = False
        self.receiver: Value | None = None
        self.callee: Value = UNKNOWN
        self.args: tuple[Value, ...] = ()
        self.keywords: Mapping[str, Value] = _NO_KEYWORDS
        self.targets: tuple[Function, ...] = ()
        self.result: Value = UNKNOWN

    def argument(self, position: int, name: str) -> Value | None:
        """Return the value of an argument given by position or by name.

        None where it is not given.
        """
        if name in self.keywords:
            return self.keywords[name]
        given = self.expanded or self.call.argument(position, name) is not None
        if given and position < len(self.args):
            return self.args[position]
        return None


def alternatives(value: Value | None) -> tuple[Value, ...]:
    """Return the alternatives of a value, each once."""
    if value is None:
        return ()
    return value.values if type(value) is Many else (value,)


def _joined_value(sets: list[Dataset]) -> Value:
    merged: Value = sets[0]
    for following in sets[1:]:
        merged = join(merged, following)
    return merged


def without_none(ways: Many) -> Value:
    """Return some values without the constant `None`, which has no attributes."""
    left = tuple(item for item in ways.values if not (type(item) is Constant and item.value is None))
    if not left or len(left) == len(ways.values):
        return ways
    return left[0] if len(left) == 1 else Many(left)


def join(first: Value, second: Value) -> Value:
    """Return the value after two branches, from the value in each."""
    if first is second:
        return first
    # By type, since no class is derived from these: `isinstance` takes three times as long to say no.
    if type(first) is Dataset and type(second) is Dataset:
        parents: list[Dataset] = []
        for way in (first, second):
            # Nested joins are kept flat, so that a long ladder of branches stays small.
            for parent in way.parents if way.op == "either" else (way,):
                if parent not in parents:
                    parents.append(parent)
        return Dataset("either", None, tuple(parents[:16]))
    if type(first) is Constant and type(second) is Constant:
        if type(first.value) is type(second.value) and first.value == second.value:
            return first
    elif type(first) is External and type(second) is External:
        if first.name == second.name:
            return first
    elif type(first) is Instance and type(second) is Instance:
        if first.scope is second.scope:
            return first
    elif type(first) is Series and type(second) is Series:
        return Series(join(first.item, second.item))
    elif type(first) is Entries and type(second) is Entries:
        if first.values.keys() == second.values.keys():
            return Entries({key: join(value, second.values[key]) for key, value in first.values.items()})
    elif type(first) is Made and type(second) is Made and first.name == second.name == KERAS_TENSOR:
        return Made(KERAS_TENSOR, None)
    elif (
        type(first) is Function
        and type(second) is Function
        and first.scope is second.scope
        and first.compiled is second.compiled
    ):
        return second
    found: list[Value] = []
    sets: list[Dataset] = []
    for item in (*alternatives(first), *alternatives(second)):
        if type(item) is Dataset:
            sets.append(item)
        elif item not in found:
            found.append(item)
    if sets:
        found.append(_joined_value(sets))
    if len(found) == 1:
        return found[0]
    return Many(tuple(found[:8]))


def item_of(value: Value) -> Value:
    """Return what a turn over a list or series gives; unknown for all else."""
    if type(value) is Series:
        return value.item
    if type(value) is not Items or not 0 < len(value.items) <= 8:
        return UNKNOWN
    found = value.items[0]
    for other in value.items[1:]:
        found = join(found, other)
    return found


def with_item(value: Value, item: Value) -> Value:
    """Return a list with one more item, at a place that is not known."""
    if type(value) is Items and not value.items:
        return Series(item)
    before = item_of(value)
    return UNKNOWN if before is UNKNOWN else Series(join(before, item))


def in_order(sites: Iterable[Site]) -> list[Site]:
    """Return sites of a program in the order in which they were met."""
    return sorted(sites, key=_NUMBER)


_NUMBER = operator.attrgetter("number")


def ways_to(site: Site) -> Iterator[tuple[Site, ...]]:
    """Yield every path of calls that enters a site's scope with the site's values.

    The site's own path comes first; `()` is a run on its own.
    """
    if not site.through:
        yield ()
        return
    nearest = site.through[-1]
    for last in (nearest, *nearest.also):
        for before in ways_to(last):
            yield *before, last


def first_dataset(value: Value | None) -> Dataset | None:
    """Return the first dataset among a value's alternatives, or None."""
    if type(value) is Dataset:
        return value
    if type(value) is Many:
        for item in value.values:
            if type(item) is Dataset:
                return item
    return None


def functions_of(value: Value | None) -> tuple[Function, ...]:
    """Return the functions of the project among a value's alternatives."""
    return tuple(item for item in alternatives(value) if isinstance(item, Function))
