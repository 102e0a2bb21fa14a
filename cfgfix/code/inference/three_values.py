"""Truth with a third value, for what is not known: comparisons, types and arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cfgfix.code.model.nodes import Collection, Expr, Name


class _UnknownValue:
    __slots__ = ()

    def __repr__(self) -> str:
        return "unknown"


UNKNOWN: Any = _UnknownValue()
"""The third truth value, and any value that is not known."""


def truth(value: Any) -> Any:
    """Return the truth of a value: True, False or `UNKNOWN`."""
    return UNKNOWN if value is UNKNOWN else bool(value)


def is_same(first: Any, second: Any) -> bool:
    """Tell whether two values are equal and of one type."""
    return type(first) is type(second) and bool(first == second)


def compared(operator: str, left: Any, right: Any) -> Any:
    """Return whether a comparison holds: True, False or `UNKNOWN`."""
    try:
        if operator == "is":
            return left is right if left is None or right is None or isinstance(left, bool) else UNKNOWN
        if operator == "is not":
            return left is not right if left is None or right is None or isinstance(left, bool) else UNKNOWN
        return bool(_OPERATORS[operator](left, right))
    except (TypeError, KeyError, ValueError):
        return UNKNOWN


_TYPES: dict[str, type] = {
    "bool": bool, "int": int, "float": float, "str": str, "list": list, "tuple": tuple, "dict": dict,
}  # fmt: skip
"""Types that a value of a config or a constant may have."""


def is_instance(value: Any, types: Expr) -> Any:
    """Return whether a value is of one of some types of Python's own, or `UNKNOWN`."""
    if value is UNKNOWN:
        return UNKNOWN
    names = [
        item.name if isinstance(item, Name) else ""
        for item in (types.items if isinstance(types, Collection) else (types,))
    ]
    # What is a list in a config and what is a tuple in code are the same here.
    if isinstance(value, (list, tuple)) or any(name not in _TYPES for name in names):
        return UNKNOWN
    return any(isinstance(value, _TYPES[name]) for name in names)


def calculated(operator: str, left: Any, right: Any) -> Any:
    """Return the result of an operator on two numbers, or `UNKNOWN`."""
    if not (isinstance(left, (int, float)) and isinstance(right, (int, float))):
        return UNKNOWN
    if abs(left) > 1e15 or abs(right) > 1e15:
        return UNKNOWN
    try:
        return _ARITHMETIC[operator](left, right)
    except (KeyError, ZeroDivisionError, OverflowError, ValueError):
        return UNKNOWN


SAFE_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "bool": bool, "int": int, "float": float, "str": str, "len": len, "abs": abs, "min": min, "max": max,
}  # fmt: skip
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "in": lambda a, b: a in b,
    "not in": lambda a, b: a not in b,
}
_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
}
