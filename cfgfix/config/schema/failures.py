"""What a value breaks in a schema, found without jsonschema for the keywords that real schemas use.

Importing jsonschema takes longer than checking a hundred small files, and its validators walk every key of a file to
find the one that is wrong. `failures` looks only where the fast yes of `accept` does not hold, and gives the same
errors: same keyword, value, subschema and paths, alternatives with the errors of their branches. A keyword, a value
or an amount of work that it does not know makes its answer None, and jsonschema is asked.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable

from cfgfix.config.schema.accept import DEFERRED, Accept, equal
from cfgfix.config.schema.load import MAX_KEY, Loaded, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

Handler: TypeAlias = "Callable[[_FailureSearch, Any, Any, dict[str, Any], _ValuePlace], None]"

MAX_STEPS = 100_000
"""Subschemas that a value does not fit and that are looked at, before jsonschema with its own limits takes over: below
half a second. Real configs need some hundreds."""

MAX_FAILURES = 5_000
"""Failures that are kept in one list. jsonschema finds them one by one, and no more are told than `explain` asks for."""

ACCEPT_DEPTH = 8
"""Levels at which the fast yes is asked before a value is walked; it reads the whole value each time."""

_KNOWN = frozenset({str, bool, int, float, list, dict, type(None), dt.date, dt.datetime})
"""Types of values that every keyword here treats as jsonschema does."""


class Failure:
    """A keyword that a value breaks, with the attributes of a `ValidationError`.

    A plain class, since alternatives make many. Attributes have the names of jsonschema's. Paths are absolute or relative
    to the alternatives they belong to.
    """

    __slots__ = (
        "absolute_path",
        "absolute_schema_path",
        "context",
        "instance",
        "relative_path",
        "relative_schema_path",
        "schema",
        "validator",
        "validator_value",
    )

    def __init__(
        self,
        keyword: str,
        expected: Any,
        instance: Any,
        schema: Node,
        place: _ValuePlace,
        context: list[Failure],
    ) -> None:
        self.validator = keyword
        self.validator_value = expected
        self.instance = instance
        self.schema = schema
        self.absolute_path = place.path
        self.absolute_schema_path = (*place.steps, keyword)
        self.relative_path = place.path[place.outer_path :]
        self.relative_schema_path = self.absolute_schema_path[place.outer_steps :]
        self.context = context


class _ValuePlace:
    """The paths of a value and its subschema, and where the alternatives around begin."""

    __slots__ = ("found", "outer_path", "outer_steps", "path", "steps")

    def __init__(
        self,
        path: tuple[str | int, ...],
        steps: tuple[str | int, ...],
        outer_path: int,
        outer_steps: int,
        found: list[Failure],
    ) -> None:
        self.path = path
        self.steps = steps
        self.outer_path = outer_path
        self.outer_steps = outer_steps
        self.found = found
        """Gets the failures of this place and of all below."""

    def below(self, *steps: str | int, path: tuple[str | int, ...] = ()) -> _ValuePlace:
        """Return the place of a part of the value, or of another subschema for the value."""
        return _ValuePlace(
            (*self.path, *path), (*self.steps, *steps), self.outer_path, self.outer_steps, self.found
        )

    def branch(self, keyword: str, index: int, found: list[Failure]) -> _ValuePlace:
        """Return the place of one alternative, with a list of failures of its own."""
        return _ValuePlace(
            self.path, (*self.steps, keyword, index), len(self.path), len(self.steps) + 1, found
        )


class _GiveUp(Exception):  # noqa: N818  (a signal inside this module, not an error)
    """Only jsonschema can judge this."""


def failures(loaded: Loaded, accept: Accept, instance: object) -> list[Failure] | None:
    """Return the keywords of a schema that plain data breaks, as jsonschema would.

    None where only jsonschema can tell.

    Args:
        loaded: The schema.
        accept: Its compiled form.
        instance: Plain data.
    """
    found: list[Failure] = []
    try:
        _FailureSearch(loaded, accept).look(loaded.root, instance, _ValuePlace((), (), 0, 0, found))
    except (_GiveUp, RecursionError, OverflowError):
        return None
    return found


class _FailureSearch:
    def __init__(self, loaded: Loaded, accept: Accept) -> None:
        self.loaded = loaded
        self.accept = accept
        self.left = MAX_STEPS

    def look(self, node: Node, value: Any, place: _ValuePlace) -> None:
        """Add the keywords of a subschema that a value breaks to the failures of a place."""
        if node is True:
            return
        kind = type(value)
        if kind not in _KNOWN:
            raise _GiveUp
        if len(place.path) < ACCEPT_DEPTH and self.accept.verdict_at(node, value) is True:
            return
        self.left -= 1
        if self.left < 0 or isinstance(node, bool) or not DEFERRED.isdisjoint(node):
            raise _GiveUp
        for keyword, expected in node.items():
            handler = _HANDLERS.get(keyword)
            if handler is not None:
                handler(self, expected, value, node, place)

    def valid(self, node: Node, value: Any) -> bool:
        """Tell whether a value is valid under a subschema."""
        found: list[Failure] = []
        self.look(node, value, _ValuePlace((), (), 0, 0, found))
        return not found

    def fail(
        self,
        keyword: str,
        expected: Any,
        value: Any,
        node: dict[str, Any],
        place: _ValuePlace,
        context: list[Failure] | None = None,
    ) -> None:
        self.left -= 1
        if len(place.found) >= MAX_FAILURES:
            raise _GiveUp
        place.found.append(Failure(keyword, expected, value, node, place, context or []))


def _check_type(
    search: _FailureSearch, expected: Any, value: Any, node: dict[str, Any], place: _ValuePlace
) -> None:
    names = [expected] if isinstance(expected, str) else expected
    if not any(_is_type(value, name) for name in names):
        search.fail("type", expected, value, node, place)


def _is_type(value: Any, name: str) -> bool:
    kind = type(value)
    if name == "integer":
        return kind is int or (kind is float and value.is_integer())
    if name == "number":
        return kind is int or kind is float
    return kind is _CLASSES[name]


_CLASSES: dict[str, type] = {
    "array": list,
    "boolean": bool,
    "null": type(None),
    "object": dict,
    "string": str,
}


def _check_enum(
    search: _FailureSearch, expected: Any, value: Any, node: dict[str, Any], place: _ValuePlace
) -> None:
    if not any(equal(each, value) for each in expected):
        search.fail("enum", expected, value, node, place)


def _check_const(
    search: _FailureSearch, expected: Any, value: Any, node: dict[str, Any], place: _ValuePlace
) -> None:
    if not equal(expected, value):
        search.fail("const", expected, value, node, place)


def _limit_handler(keyword: str, broken: Callable[[Any, Any], bool]) -> Handler:
    def run(
        search: _FailureSearch, expected: Any, value: Any, node: dict[str, Any], place: _ValuePlace
    ) -> None:
        kind = type(value)
        if (kind is int or kind is float) and broken(value, expected):
            search.fail(keyword, expected, value, node, place)

    return run


def no_multiple(value: Any, step: Any) -> bool:
    """Tell whether a number is not a multiple of another one.

    Floats that cannot be divided are judged, too: infinity, huge integers.
    """
    if isinstance(value, float) and not math.isfinite(value):
        return True
    if not isinstance(step, float):
        return bool(value % step)
    try:
        quotient = value / step
    except OverflowError:
        quotient = math.inf
    if math.isfinite(quotient):
        return bool(int(quotient) != quotient)
    from fractions import Fraction

    return (Fraction(value) / Fraction(step)).denominator != 1


def _size_handler(
    keyword: str, kind: type[str | list[Any] | dict[str, Any]], broken: Callable[[Any, Any], bool]
) -> Handler:
    def run(
        search: _FailureSearch, expected: Any, value: Any, node: dict[str, Any], place: _ValuePlace
    ) -> None:
        if isinstance(value, kind) and broken(len(value), expected):
            search.fail(keyword, expected, value, node, place)

    return run


def _check_pattern(
    search: _FailureSearch, expected: Any, value: Any, node: dict[str, Any], place: _ValuePlace
) -> None:
    if type(value) is str:
        found = search.loaded.patterns[expected].search(value)
        if found is None:
            raise _GiveUp
        if not found:
            search.fail("pattern", expected, value, node, place)


def _check_unique(
    search: _FailureSearch, expected: Any, value: Any, node: dict[str, Any], place: _ValuePlace
) -> None:
    if expected and type(value) is list and repeated(value) is not None:
        search.fail("uniqueItems", expected, value, node, place)


def repeated(values: list[Any]) -> tuple[int, int] | None:
    """Return the positions of the first two equal items, or None where all differ.

    Linear in their size.
    """
    seen: dict[object, int] = {}
    for index, value in enumerate(values):
        earlier = seen.setdefault(_canonical_value(value), index)
        if earlier != index:
            return earlier, index
    return None


class Opaque:
    """Stands for a value that only the program's own loader can make, by a custom tag.

    It fits every schema.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


OPAQUE = Opaque()


def _canonical_value(value: Any) -> object:
    """Return a hashable value that is equal exactly for equal JSON values.

    1 and 1.0 are equal, 1 and true are not.
    """
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, list):
        return ("list", tuple(map(_canonical_value, value)))
    if isinstance(value, dict):
        return ("dict", frozenset((key, _canonical_value(each)) for key, each in value.items()))
    if value is OPAQUE or value != value:  # noqa: PLR0124  (not-a-number is the one value unlike itself)
        return ("only", object())
    return value


def _check_required(
    search: _FailureSearch, expected: Any, value: Any, node: dict[str, Any], place: _ValuePlace
) -> None:
    if type(value) is dict:
        for name in expected:
            if name not in value:
                search.fail("required", expected, value, node, place)


def _check_properties(
    search: _FailureSearch, expected: Any, value: Any, _node: dict[str, Any], place: _ValuePlace
) -> None:
    if type(value) is not dict:
        return
    for name, sub in expected.items():
        if name in value:
            search.look(sub, value[name], place.below("properties", name, path=(name,)))


def _by_pattern(
    search: _FailureSearch, expected: Any, value: Any, _node: dict[str, Any], place: _ValuePlace
) -> None:
    if type(value) is not dict:
        return
    for text, sub in expected.items():
        for name, item in value.items():
            if _fits_pattern(search, text, name):
                search.look(sub, item, place.below("patternProperties", text, path=(name,)))


def _fits_pattern(search: _FailureSearch, text: str, name: str) -> bool:
    found = search.loaded.patterns[text].search(name) if len(name) <= MAX_KEY else None
    if found is None:
        raise _GiveUp
    return found


def _check_others(
    search: _FailureSearch, expected: Any, value: Any, node: dict[str, Any], place: _ValuePlace
) -> None:
    if type(value) is not dict or expected is True:
        return
    named = node.get("properties", {})
    patterns = node.get("patternProperties", ())
    extra = [
        name
        for name in value
        if name not in named and not any(_fits_pattern(search, text, name) for text in patterns)
    ]
    if isinstance(expected, dict):
        for name in extra:
            search.look(expected, value[name], place.below("additionalProperties", path=(name,)))
    elif extra:
        search.fail("additionalProperties", expected, value, node, place)


def _check_items(
    search: _FailureSearch, expected: Any, value: Any, node: dict[str, Any], place: _ValuePlace
) -> None:
    if type(value) is not list:
        return
    first = len(node.get("prefixItems", ()))
    if expected is False:
        if len(value) > first:
            search.fail("items", expected, value, node, place)
        return
    for index in range(first, len(value)):
        search.look(expected, value[index], place.below("items", path=(index,)))


def _check_prefix(
    search: _FailureSearch, expected: Any, value: Any, _node: dict[str, Any], place: _ValuePlace
) -> None:
    if type(value) is list:
        for index, (item, sub) in enumerate(zip(value, expected, strict=False)):
            search.look(sub, item, place.below("prefixItems", index, path=(index,)))


def _check_reference(
    search: _FailureSearch, _expected: Any, value: Any, node: dict[str, Any], place: _ValuePlace
) -> None:
    target = search.loaded.targets.get(id(node))
    if target is None:
        raise _GiveUp
    search.look(target, value, place)  # a reference is no step of the schema's path


def _check_all(
    search: _FailureSearch, expected: Any, value: Any, _node: dict[str, Any], place: _ValuePlace
) -> None:
    for index, sub in enumerate(expected):
        search.look(sub, value, place.below("allOf", index))


def _alternatives_handler(keyword: str) -> Handler:
    def run(
        search: _FailureSearch, expected: Any, value: Any, node: dict[str, Any], place: _ValuePlace
    ) -> None:
        context: list[Failure] = []
        for index, sub in enumerate(expected):
            found: list[Failure] = []
            search.look(sub, value, place.branch(keyword, index, found))
            if found:
                context += found
                continue
            if keyword == "oneOf" and any(search.valid(each, value) for each in expected[index + 1 :]):
                search.fail(keyword, expected, value, node, place)
            return
        search.fail(keyword, expected, value, node, place, context)

    return run


def _check_not(
    search: _FailureSearch, expected: Any, value: Any, node: dict[str, Any], place: _ValuePlace
) -> None:
    if search.valid(expected, value):
        search.fail("not", expected, value, node, place)


def _check_if(
    search: _FailureSearch, expected: Any, value: Any, node: dict[str, Any], place: _ValuePlace
) -> None:
    branch = "then" if search.valid(expected, value) else "else"
    if branch in node:
        search.look(node[branch], value, place.below(branch))


_HANDLERS: dict[str, Handler] = {
    "$ref": _check_reference,
    "additionalProperties": _check_others,
    "allOf": _check_all,
    "anyOf": _alternatives_handler("anyOf"),
    "const": _check_const,
    "enum": _check_enum,
    "exclusiveMaximum": _limit_handler("exclusiveMaximum", lambda value, most: value >= most),
    "exclusiveMinimum": _limit_handler("exclusiveMinimum", lambda value, least: value <= least),
    "if": _check_if,
    "items": _check_items,
    "maxItems": _size_handler("maxItems", list, lambda size, most: size > most),
    "maxLength": _size_handler("maxLength", str, lambda size, most: size > most),
    "maxProperties": _size_handler("maxProperties", dict, lambda size, most: size > most),
    "maximum": _limit_handler("maximum", lambda value, most: value > most),
    "minItems": _size_handler("minItems", list, lambda size, least: size < least),
    "minLength": _size_handler("minLength", str, lambda size, least: size < least),
    "minProperties": _size_handler("minProperties", dict, lambda size, least: size < least),
    "minimum": _limit_handler("minimum", lambda value, least: value < least),
    "multipleOf": _limit_handler("multipleOf", no_multiple),
    "not": _check_not,
    "oneOf": _alternatives_handler("oneOf"),
    "pattern": _check_pattern,
    "patternProperties": _by_pattern,
    "prefixItems": _check_prefix,
    "properties": _check_properties,
    "required": _check_required,
    "type": _check_type,
    "uniqueItems": _check_unique,
}
