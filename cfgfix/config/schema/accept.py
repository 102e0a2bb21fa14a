"""The fast yes: says that data is valid without jsonschema.

`compile_schema` turns a loaded schema into closures over plain data. Each answers True (valid), False (invalid)
or None (it cannot tell); three values, so that `not` and `oneOf` stay right. Only True is final: on anything else
`failures` says what is wrong, or jsonschema where that does not know. Subschemas are compiled when data first reaches them, so a large schema
costs what the document uses.

What is understood is listed in `UNDERSTOOD`; every other keyword that jsonschema acts on makes the answer None,
and so does a value that JSON has no type for (a date, bytes, a custom tag, a key that is not text).
"""

from __future__ import annotations

from collections.abc import Callable

from cfgfix.config.schema.load import MAX_KEY, Loaded, Node

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing `typing` costs more than checking a small file
    from typing import Any, TypeAlias

Verdict: TypeAlias = "bool | None"
Check: TypeAlias = "Callable[[Any], bool | None]"

UNDERSTOOD = frozenset(
    {
        "$ref",
        "additionalProperties",
        "allOf",
        "anyOf",
        "const",
        "enum",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "if",
        "items",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "not",
        "oneOf",
        "pattern",
        "patternProperties",
        "prefixItems",
        "properties",
        "required",
        "type",
        "uniqueItems",
    }
)
"""Keywords this module judges itself."""

DEFERRED = frozenset(
    {
        "$dynamicRef",
        "contains",
        "dependentRequired",
        "dependentSchemas",
        "propertyNames",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
"""Keywords that jsonschema acts on and this module leaves to it. `format` is an annotation to both."""

_JSON = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
    type(None): "null",
}
_DISTINCT = 256
"""So many list items are compared pair by pair; longer mixed lists are left to jsonschema."""


def equal(first: Any, second: Any) -> bool:
    """Tell whether two values are the same JSON value.

    1 equals 1.0, but true is not 1.
    """
    if first is second:
        return True
    if isinstance(first, bool) or isinstance(second, bool):
        return False
    if isinstance(first, list):
        return (
            isinstance(second, list)
            and len(first) == len(second)
            and all(equal(one, two) for one, two in zip(first, second, strict=True))
        )
    if isinstance(first, dict):
        return (
            isinstance(second, dict)
            and len(first) == len(second)
            and all(key in second and equal(value, second[key]) for key, value in first.items())
        )
    return bool(first == second)


class Accept:
    """The compiled form of one schema."""

    __slots__ = ("_compiled", "_loaded", "_memo", "_root")

    def __init__(self, loaded: Loaded) -> None:
        self._loaded = loaded
        self._compiled: dict[int, Check] = {}
        self._memo: dict[tuple[int, int], Verdict] = {}
        self._root = loaded.root

    def verdict(self, data: object) -> Verdict:
        """Return whether data is valid: True, False, or None where that is not certain."""
        return self.verdict_at(self._root, data)

    def verdict_at(self, node: Node, data: object) -> Verdict:
        """Return whether data is valid under one subschema; see `verdict`."""
        self._memo.clear()
        try:
            return self._compiled_check(node)(data)
        except (RecursionError, OverflowError):
            return None
        finally:
            self._memo.clear()

    def _compiled_check(self, node: Node) -> Check:
        if node is True:
            return _accepts_all
        if node is False:
            return _accepts_none
        assert isinstance(node, dict)
        found = self._compiled.get(id(node))
        if found is None:
            found = self._compiled[id(node)] = self._built_check(node)
        return found

    def _compile_when_called(self, node: Node) -> Check:
        """Return the check of a subschema, compiled when first called."""
        if isinstance(node, bool):
            return self._compiled_check(node)
        known = self._compiled.get(id(node))
        if known is not None:
            return known
        check: Check | None = None

        def run(value: Any) -> Verdict:
            nonlocal check
            if check is None:
                check = self._compiled_check(node)
            return check(value)

        return run

    def _built_check(self, node: dict[str, Any]) -> Check:
        checks: list[Check] = []
        kinds = node.get("type")
        if kinds is not None:
            checks.append(_type_check(kinds))
        if "enum" in node:
            checks.append(_one_of(node["enum"]))
        if "const" in node:
            checks.append(_one_of([node["const"]]))
        if not _NUMBER_KEYWORDS.isdisjoint(node):
            checks.append(_number_check(node))
        if not _STRING_KEYWORDS.isdisjoint(node):
            checks.append(self._string_check(node))
        if not _ARRAY_KEYWORDS.isdisjoint(node):
            checks.append(self._array_check(node))
        if not _OBJECT_KEYWORDS.isdisjoint(node):
            checks.append(self._object_check(node))
        if "$ref" in node:
            checks.append(self._reference_check(node))
        if "allOf" in node:
            checks.append(_all_of([self._compile_when_called(each) for each in node["allOf"]]))
        if "anyOf" in node:
            checks.append(_any_of([self._compile_when_called(each) for each in node["anyOf"]]))
        if "oneOf" in node:
            checks.append(_exactly_one([self._compile_when_called(each) for each in node["oneOf"]]))
        if "not" in node:
            checks.append(_inverted_check(self._compile_when_called(node["not"])))
        if "if" in node:
            checks.append(self._condition_check(node))
        if not DEFERRED.isdisjoint(node):
            checks.append(_knows_nothing)
        if not checks:
            return _accepts_all
        return checks[0] if len(checks) == 1 else _all_of(checks)

    def _condition_check(self, node: dict[str, Any]) -> Check:
        condition = self._compile_when_called(node["if"])
        then = self._compile_when_called(node.get("then", True))
        other = self._compile_when_called(node.get("else", True))

        def run(value: Any) -> Verdict:
            verdict = condition(value)
            if verdict is None:
                return None
            return then(value) if verdict else other(value)

        return run

    def _reference_check(self, node: dict[str, Any]) -> Check:
        target = self._loaded.targets.get(id(node))
        if target is None:
            return _knows_nothing
        check = self._compile_when_called(target)
        memo = self._memo
        name = id(target)

        def run(value: Any) -> Verdict:
            # The same value meets the same target once, however many ways lead there: shared references would
            # otherwise cost two to the power of their number.
            key = (name, id(value))
            if key not in memo:
                memo[key] = check(value)
            return memo[key]

        return run

    def _string_check(self, node: dict[str, Any]) -> Check:
        low = node.get("minLength", 0)
        high = node.get("maxLength", float("inf"))
        text = node.get("pattern")
        pattern = self._loaded.patterns[text] if text is not None else None

        def run(value: Any) -> Verdict:
            if not isinstance(value, str):
                return True
            if not low <= len(value) <= high:
                return False
            return True if pattern is None else pattern.search(value)

        return run

    def _array_check(self, node: dict[str, Any]) -> Check:
        low = node.get("minItems", 0)
        high = node.get("maxItems", float("inf"))
        unique = node.get("uniqueItems", False)
        prefix = [self._compile_when_called(each) for each in node.get("prefixItems", ())]
        rest = self._compile_when_called(node["items"]) if "items" in node else None

        def run(value: Any) -> Verdict:
            if not isinstance(value, list):
                return True
            if not low <= len(value) <= high:
                return False
            result: Verdict = True
            for check, item in zip(prefix, value, strict=False):
                result = _both_verdicts(result, check(item))
                if result is False:
                    return False
            if rest is not None:
                for item in value[len(prefix) :] if prefix else value:
                    verdict = rest(item)
                    if verdict is not True:
                        if verdict is False:
                            return False
                        result = None
            if unique:
                return _both_verdicts(result, _are_distinct(value))
            return result

        return run

    def _object_check(self, node: dict[str, Any]) -> Check:
        required = node.get("required", ())
        low = node.get("minProperties", 0)
        high = node.get("maxProperties", float("inf"))
        named: dict[str, Check] = {
            key: self._compile_when_called(each) for key, each in node.get("properties", {}).items()
        }
        patterns = [
            (self._loaded.patterns[text], self._compile_when_called(each))
            for text, each in node.get("patternProperties", {}).items()
        ]
        others = node.get("additionalProperties", True)
        other = None if others is True else self._compile_when_called(others)

        def run(value: Any) -> Verdict:
            if not isinstance(value, dict):
                return True
            if not low <= len(value) <= high:
                return False
            for key in required:
                if key not in value:
                    return False
            result: Verdict = True
            for key, item in value.items():
                if type(key) is not str:
                    result = None  # JSON has no such key; the caller gives it its written name and asks again
                    continue
                check = named.get(key)
                verdict = True if check is None else check(item)
                matched = check is not None
                for pattern, sub in patterns:
                    found = pattern.search(key) if len(key) <= MAX_KEY else None
                    if found is None:
                        return None
                    if found:
                        matched = True
                        verdict = _both_verdicts(verdict, sub(item))
                if not matched and other is not None:
                    verdict = other(item)
                if verdict is not True:
                    if verdict is False:
                        return False
                    result = None
            return result

        return run


def compile_schema(loaded: Loaded) -> Accept:
    """Return the compiled form of `loaded`."""
    return Accept(loaded)


_NUMBER_KEYWORDS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_STRING_KEYWORDS = frozenset({"minLength", "maxLength", "pattern"})
_ARRAY_KEYWORDS = frozenset({"items", "prefixItems", "minItems", "maxItems", "uniqueItems"})
_OBJECT_KEYWORDS = frozenset(
    {"additionalProperties", "maxProperties", "minProperties", "patternProperties", "properties", "required"}
)


def _accepts_all(_value: Any) -> Verdict:
    return True


def _accepts_none(_value: Any) -> Verdict:
    return False


def _knows_nothing(_value: Any) -> Verdict:
    return None


def _both_verdicts(first: Verdict, second: Verdict) -> Verdict:
    if first is False or second is False:
        return False
    return first and second


def _type_check(kinds: str | list[str]) -> Check:
    names = frozenset([kinds] if isinstance(kinds, str) else kinds)
    classes: set[type] = {kind for kind, name in _JSON.items() if name in names}
    if "number" in names:
        classes.add(int)
    whole = "integer" in names and "number" not in names

    def run(value: Any) -> Verdict:
        kind = type(value)
        if kind in classes:
            return True
        if kind is float:
            return whole and value.is_integer()
        return False if kind in _JSON else None

    return run


def _one_of(choices: list[Any]) -> Check:
    texts = frozenset(each for each in choices if isinstance(each, str))
    others = [each for each in choices if not isinstance(each, str)]

    def run(value: Any) -> Verdict:
        if type(value) is str:
            return value in texts
        if type(value) not in _JSON:
            return None
        if any(equal(each, value) for each in others):
            return True
        return None if isinstance(value, (list, dict)) else False

    return run


def _number_check(node: dict[str, Any]) -> Check:
    low = node.get("minimum")
    high = node.get("maximum")
    above = node.get("exclusiveMinimum")
    below = node.get("exclusiveMaximum")
    step = node.get("multipleOf")

    def run(value: Any) -> Verdict:
        if type(value) is not int and type(value) is not float:
            return True if type(value) in _JSON else None
        if (
            (low is not None and value < low)
            or (high is not None and value > high)
            or (above is not None and value <= above)
            or (below is not None and value >= below)
        ):
            return False
        if step is None:
            return True
        # Remainders of floats are a matter of definition; jsonschema's holds.
        return value % step == 0 if type(value) is int and type(step) is int else None

    return run


def _all_of(checks: list[Check]) -> Check:
    def run(value: Any) -> Verdict:
        result: Verdict = True
        for check in checks:
            verdict = check(value)
            if verdict is not True:
                if verdict is False:
                    return False
                result = None
        return result

    return run


def _any_of(checks: list[Check]) -> Check:
    def run(value: Any) -> Verdict:
        result: Verdict = False
        for check in checks:
            verdict = check(value)
            if verdict:
                return True
            if verdict is None:
                result = None
        return result

    return run


def _exactly_one(checks: list[Check]) -> Check:
    def run(value: Any) -> Verdict:
        verdicts = [check(value) for check in checks]
        valid = verdicts.count(True)
        if valid > 1:
            return False
        if None in verdicts:
            return None
        return valid == 1

    return run


def _inverted_check(check: Check) -> Check:
    def run(value: Any) -> Verdict:
        verdict = check(value)
        return None if verdict is None else not verdict

    return run


def _are_distinct(values: list[Any]) -> Verdict:
    kinds = {type(each) for each in values}
    if kinds <= {str} or kinds <= {int}:
        return len(set(values)) == len(values)
    if not kinds <= set(_JSON) or len(values) > _DISTINCT:
        return None
    # jsonschema sorts first and may then overlook a repeat (not-a-number), so only "all differ" is final here.
    for index, first in enumerate(values):
        for second in values[:index]:
            if equal(first, second):
                return None
    return True
