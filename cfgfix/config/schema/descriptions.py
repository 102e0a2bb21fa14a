"""Schemas and values in plain English, for messages."""

from __future__ import annotations

import datetime as dt

from cfgfix.config.schema.load import Loaded, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_CHOICES = 12
"""Values of a list that are shown; the rest are counted."""

MAX_VALUE = 60
"""Characters of a value that are shown."""

_TYPES = {
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
    "null": "null",
}
_PLURALS = {
    "integer": "whole numbers",
    "number": "numbers",
    "string": "texts",
    "boolean": "true or false values",
    "array": "lists",
    "object": "mappings",
    "null": "nulls",
}


def value_text(value: object) -> str:
    """Return a value as text for a message, cut where it is long."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        if isinstance(value, int) and abs(value) >= 10**MAX_VALUE:
            return f"a number of more than {MAX_VALUE} digits"  # repr() refuses more than 4,300 digits
        return repr(value)
    if isinstance(value, str):
        return repr(value if len(value) <= MAX_VALUE else f"{value[: MAX_VALUE - 3]}...")
    if isinstance(value, (dt.date, dt.datetime)):
        return value.isoformat()
    if isinstance(value, list):
        return (
            "[]"
            if not value
            else f"[{', '.join(map(value_text, value[:4]))}{', ...' if len(value) > 4 else ''}]"
        )
    if isinstance(value, dict):
        return (
            "{}"
            if not value
            else f"{{{', '.join(map(str, list(value)[:4]))}{', ...' if len(value) > 4 else ''}}}"
        )
    return f"a {type(value).__name__}"


def state(value: object) -> str:
    """Return a value in words to follow "is" in a message."""
    if value is None:
        return "empty (null)"
    if isinstance(value, bool):
        return value_text(value)
    if isinstance(value, str):
        return f"the text {value_text(value)}" if value else "empty text"
    if isinstance(value, (dt.date, dt.datetime)):
        return f"the date {value_text(value)}"
    if isinstance(value, bytes):
        return "binary data"
    if isinstance(value, list):
        return "an empty list" if not value else f"a list of {_count_with_noun(len(value), 'item')}"
    if isinstance(value, dict):
        return "an empty mapping" if not value else f"a mapping of {_count_with_noun(len(value), 'key')}"
    return value_text(value)


def choices(values: list[Any]) -> str:
    """Return a list of allowed values in words."""
    if not values:
        return "nothing (the list of allowed values is empty)"
    if len(values) == 1:
        return value_text(values[0])
    some = [value_text(value) for value in values[:MAX_CHOICES]]
    if len(values) > MAX_CHOICES:
        return f"one of {', '.join(some)} or {len(values) - MAX_CHOICES:,} more"
    return f"one of {', '.join(some[:-1])} or {some[-1]}"


def describe(loaded: Loaded, node: Node, depth: int = 0) -> str | None:
    """Return the values that a schema takes, in words with range and unit.

    None where it takes anything or words fail.
    """
    if isinstance(node, bool) or depth > 4:
        return None
    text = _value_words(loaded, node, depth)
    unit = node.get("x-unit")
    if isinstance(unit, str) and text is not None:
        return f"{text} ({unit})"
    return text


def _value_words(loaded: Loaded, node: dict[str, Any], depth: int) -> str | None:
    if "const" in node:
        return value_text(node["const"])
    if "enum" in node:
        return choices(node["enum"])
    kinds = node.get("type")
    names = [kinds] if isinstance(kinds, str) else list(kinds or ())
    parts = [_with_limits(name, node, depth) for name in names]
    own = _join_with_or(parts)
    if own is None:
        own = range_words(node)
    for keyword in ("anyOf", "oneOf"):
        branches = node.get(keyword)
        if branches:
            texts = [describe(loaded, branch, depth + 1) for branch in branches]
            known = list(dict.fromkeys(text for text in texts if text))
            if known and len(texts) == len([text for text in texts if text]):
                either = _join_with_or(known)
                own = either if own is None else f"{own}: {either}"
    if own is None:
        target = loaded.targets.get(id(node))
        for other in ([target] if target is not None else []) + list(node.get("allOf", ())):
            own = own or describe(loaded, other, depth + 1)
    if own is None and "not" in node:
        inner = describe(loaded, node["not"], depth + 1)
        own = f"anything but {inner}" if inner else None
    return own


def _with_limits(name: str, node: dict[str, Any], depth: int) -> str:
    text = _TYPES[name]
    if name in ("integer", "number"):
        limits = range_words(node)
        if limits:
            text = (
                f"{text} {limits}"
                if limits[0].isalpha() and not limits.startswith("at ")
                else f"{text} of {limits}"
            )
    elif name == "array":
        items = node.get("items")
        kinds = items.get("type") if isinstance(items, dict) else None
        low, high = node.get("minItems"), node.get("maxItems")
        inner = items.get("enum") if isinstance(items, dict) else None
        plural = _PLURALS[kinds] if isinstance(kinds, str) else "items"
        if low is not None and low == high:
            text = f"a list of {_number_text(low)} {plural}"
        elif isinstance(kinds, str):
            text = f"a list of {plural}"
        if inner and depth < 2:
            text = f"a list of {choices(inner).removeprefix('one of ')}"
    elif name == "string" and "pattern" in node:
        text = f"text like {value_text(node['pattern'])}"
    return text


def range_words(node: dict[str, Any]) -> str | None:
    """Return the limits of a number in words, or None.

    Such as `at least 1` or `from 0 to below 1`.
    """
    low, high = node.get("minimum"), node.get("maximum")
    above, below = node.get("exclusiveMinimum"), node.get("exclusiveMaximum")
    start = above is None or (low is not None and low > above)
    stop = below is None or (high is not None and high < below)
    lowest = low if start else above
    highest = high if stop else below
    text: str | None
    if lowest is None and highest is None:
        text = None
    elif highest is None:
        text = f"at least {_number_text(lowest)}" if start else f"above {_number_text(lowest)}"
    elif lowest is None:
        text = f"at most {_number_text(highest)}" if stop else f"below {_number_text(highest)}"
    else:
        text = f"{'from' if start else 'above'} {_number_text(lowest)} {'to' if stop else 'to below'} {_number_text(highest)}"
    step = node.get("multipleOf")
    if step is not None:
        text = f"{text}, divisible by {_number_text(step)}" if text else f"divisible by {_number_text(step)}"
    return text


def _number_text(value: Any) -> str:
    return (
        repr(int(value))
        if isinstance(value, float) and value.is_integer() and abs(value) < 1e15
        else repr(value)
    )


def _join_with_or(parts: list[str]) -> str | None:
    if not parts:
        return None
    if len(parts) == 1:
        return parts[0]
    return f"{', '.join(parts[:-1])} or {parts[-1]}"


def _count_with_noun(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
