"""Decide whether a hit under some configs is fixed in the configs or the code."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any

from cfgfix.code.model.given import GivenValue, Substitution
from cfgfix.code.model.hit import Rewrite
from cfgfix.code.model.nodes import Place
from cfgfix.core.edits import FileChanges, Fix, SetValue
from cfgfix.core.findings import parse_key_path
from cfgfix.core.records import dataclass

YAML = (".yaml", ".yml")
_PLAIN = (bool, int, float, str, type(None))


@dataclass(frozen=True, slots=True)
class Repair:
    """Where to fix a hit that depends on config values: in configs or in the code.

    Attributes:
        values: The values of keys that they would write in the code; empty where they change the code itself.
        sides: The sides of `if`s, decided by a config, in which all of them stand: where each begins, and whether it is taken.
        problem: Why there is no repair; empty where there is one.
    """

    values: tuple[tuple[GivenValue, Any], ...] = ()
    sides: tuple[tuple[str, Place, bool], ...] = ()
    problem: str = ""


def repair_of(rewrites: Sequence[Rewrite], replaced: Sequence[Substitution]) -> Repair:
    """Return where to make a hit's rewrites: in config values or in the code.

    Args:
        rewrites: What a check would change in the code as it is under the config.
        replaced: What stands in the place of what.
    """
    values: list[tuple[GivenValue, Any]] = []
    others: list[Rewrite] = []
    for rewrite in rewrites:
        item = _replaced_argument(rewrite, replaced)
        if item is None:
            others.append(rewrite)
            continue
        value = _plain_value(rewrite.text)
        if value is _NO_VALUE or any(other is not item and other.place == item.place for other in replaced):
            return Repair(problem=_stands_in(item.given))
        if not item.given.unchanged:
            return Repair(problem=f"the value is made from `{item.given.key}`")
        if not item.given.alone:
            return Repair(problem=f"the program does more with `{item.given.key}`")
        values.append((item.given, value))
    if values:
        return Repair(tuple(values)) if not others else Repair(problem=_stands_in(values[0][0]))
    for rewrite in others:
        written = next((item for item in replaced if _writes_value(rewrite, item)), None)
        if written is not None:
            return Repair(problem=_stands_in(written.given))
    sides = tuple(
        (item.scope.module.path, item.around, item.taken)
        for item in replaced
        if item.place is None and others and all(_is_inside(rewrite, item) for rewrite in others)
    )
    return Repair(sides=sides)


def in_configs(fix: Fix, repairs: Sequence[tuple[Sequence[str], Repair]]) -> Fix | str:
    """Return the fix that changes the configs, or the reason why there is none.

    Args:
        fix: The repair in the code.
        repairs: The configs with the same values, with what is to be written there.
    """
    changes: list[FileChanges] = []
    shown: list[str] = []
    for configs, repair in repairs:
        for config in configs:
            if not config.endswith(YAML):
                return f"the value stands in {config}, of which only YAML is changed"
            items = {parse_key_path(given.key): value for given, value in repair.values}
            changes.append(FileChanges(config, tuple(SetValue(key, value) for key, value in items.items())))
        values = " and ".join(f"`{given.key}` to {value!r}" for given, value in repair.values)
        more = f" and {len(configs) - 2} more" if len(configs) > 2 else ""
        shown.append(f"{values} in {' and '.join(configs[:2])}{more}")
    return Fix(f"Set {', '.join(shown)}", fix.safety, (), fix.why, tuple(changes))


def _replaced_argument(rewrite: Rewrite, replaced: Iterable[Substitution]) -> Substitution | None:
    """Return the substituted config value that a rewrite would replace, or None."""
    for item in replaced:
        if item.place is None or item.scope.module is not rewrite.scope.module:
            continue
        named = rewrite.kind.endswith("keyword") and rewrite.place == item.around
        if named and rewrite.name == item.argument:
            return item
        if rewrite.kind in ("replace", "wrap") and _holds_place(rewrite.place, item.place):
            return item
        if _holds_place(item.place, rewrite.place):
            return item
    return None


def _writes_value(rewrite: Rewrite, item: Substitution) -> bool:
    """Tell whether a rewrite's text contains the config value of a substitution."""
    value = item.given.value
    return not isinstance(value, bool) and value is not None and repr(value).strip("'") in rewrite.text


def _is_inside(rewrite: Rewrite, item: Substitution) -> bool:
    """Tell whether a rewrite lies inside the code that a substitution surrounds."""
    return item.scope.module is rewrite.scope.module and _holds_place(item.around, rewrite.place)


def _holds_place(outer: Place, inner: Place) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


_NO_VALUE: Any = object()


def _plain_value(text: str) -> Any:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return _NO_VALUE
    return value if type(value) in _PLAIN else _NO_VALUE


def _stands_in(given: GivenValue) -> str:
    return f"the value stands in {given.origin.path}"
