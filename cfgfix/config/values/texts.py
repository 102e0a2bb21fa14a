"""Text and tags, and a bare `=`."""

from __future__ import annotations

import re

from cfgfix.config.document.compose import Node
from cfgfix.config.values import setting_names as names
from cfgfix.config.values.context import Context
from cfgfix.config.values.place import Place
from cfgfix.core.edits import ReplaceText, SetValue
from cfgfix.core.findings import KeyPath
from cfgfix.rules.hit import Hit, Span

PYTHON_TAG = "tag:yaml.org,2002:python/"
_READ_BY_FULL_LOADER = frozenset(
    ("none", "bool", "str", "unicode", "bytes", "int", "long", "float", "complex", "list", "tuple", "dict")
)
"""Python tags with plain data behind them, which PyYAML's FullLoader has constructors for (`yaml/constructor.py`, 6.0)."""

HYPERPYYAML = re.compile(r"[ :\[,]!(?:new|name|apply|module):\w|[ :\[,]!ref\s")
"""Tags of HyperPyYAML (1.2.3, `core.py`), which is there to build what a file names."""

_SHOWN = {"\t": "a tab", "\n": "a line break", "\b": "a backspace", "\a": "a bell", "\r": "a carriage return", "\0": "a NUL", "\v": "a vertical tab", "\f": "a form feed", "\x1b": "an escape", "\x85": "a line break", "\xa0": "a hard space", "\u2028": "a line break", "\u2029": "a line break"}  # fmt: skip


def escaped_path(place: Place) -> tuple[str, Hit] | None:
    """Return the hit of a double-quoted path whose backslashes are escapes, or None."""
    node = place.node
    raw = place.context.document.source.text[node.value_start : node.end]
    if "\\" not in raw or "\n" in raw or not looks_like_path(raw[1:-1], place.key):
        return None
    control = next((char for char in node.text if char in _SHOWN), None)
    if control is None:
        return None
    meant = single_quoted(raw[1:-1])
    if meant is None:
        return None
    value, new = meant
    values: dict[str, object] = {
        "loader": place.loader,
        "problem": f"holds {_SHOWN[control]}, since a backslash in double quotes starts an escape",
        "new": new,
    }
    change = SetValue(place.path, value, new, place.document)
    return "double_quoted_backslash", Hit(Span(place.start, place.end, place.path), values, (change,))


def looks_like_path(body: str, key: str) -> bool:
    r"""Tell whether a double-quoted text is a Windows path.

    It is where it begins with a drive, `C:\...`, or follows a key that names a path.
    """
    if body.endswith(("\\n", "\\")):
        return False
    if body[1:3] == ":\\" and body[0].isascii() and body[0].isalpha():
        return True
    return names.is_path(key) and body[:1] not in ("\\", "") and " " not in body


def single_quoted(body: str) -> tuple[str, str] | None:
    r"""Return a double-quoted text with backslashes kept, and its single-quoted form.

    Doubled backslashes become one. None where the text has control characters.
    """
    text = body.replace("\\\\", "\0").replace('\\"', '"').replace("\0", "\\")
    if any(ord(char) < 32 for char in text):
        return None
    return text, "'" + text.replace("'", "''") + "'"


def python_tag(context: Context, node: Node, path: KeyPath) -> tuple[str, Hit] | None:
    """Return the hit of a tag that asks PyYAML for a Python object, or None."""
    assert node.tag is not None
    kind = node.tag[len(PYTHON_TAG) :]
    plain = kind in _READ_BY_FULL_LOADER
    if plain and context.loader.python_tags != "none":
        return None
    values: dict[str, object] = {
        "loader": context.loader.title,
        "tag": f"!!python/{kind}",
        "effect": "yaml.safe_load refuses it, yaml.FullLoader reads it"
        if plain
        else "it runs what the file says"
        if context.loader.python_tags == "any"
        else "yaml.safe_load refuses it, and a loader that takes it runs what the file says",
    }
    return "unsafe_python_tag", Hit(
        Span(node.start, max(node.start + 1, min(node.value_start, node.end)), path),
        values,
        severity="warning" if plain else None,
        confidence="medium" if plain else None,
        no_fix="a list does for most programs; whether this one needs a tuple, its code says"
        if kind == "tuple"
        else None,
    )


def equals_sign(place: Place) -> tuple[str, Hit]:
    """Return the hit of a bare `=`, a type of YAML 1.1 that PyYAML cannot make."""
    node = place.node
    values: dict[str, object] = {
        "loader": place.loader,
        "problem": "is a type of its own in YAML 1.1, which no loader constructs",
    }
    change = ReplaceText(node.value_start, node.end, "'='")
    return "special_plain_start", Hit(Span(place.start, place.end, place.path), values, (change,))
