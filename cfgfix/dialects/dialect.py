"""A dialect: where a family of projects keeps each concept, and how it loads the file."""

from __future__ import annotations

import os
from collections.abc import Mapping

from cfgfix.catalog import compiled
from cfgfix.errors import CfgfixError
from cfgfix.findings import KeyPath
from cfgfix.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Pattern = tuple[str | int | None, ...]
"""A key path in which None stands for any key and -1 for any list position."""


@dataclass(frozen=True, slots=True)
class Signature:
    """How a dialect's files are told apart.

    `every` must all exist (of a group, one); of `any_of` at least `least`; of `none_of` none.
    """

    every: tuple[tuple[Pattern, ...], ...]
    any_of: tuple[Pattern, ...]
    least: int
    none_of: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Component:
    """One tensor of a batch: sizes are numbers or concepts, without the batch axis."""

    name: str
    dims: tuple[str | int, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class Dialect:
    """One family of configs."""

    name: str
    title: str
    loader: str
    unknown_keys: str
    """`fatal`, `ignored` or `free`."""
    coerces: tuple[Pattern, ...]
    """Where the program converts the value itself."""
    defaults: str
    """`schema` where an absent key takes the schema's default, else `none`."""
    schema: str | None
    """Path of its schema below the schema folder."""
    signature: Signature
    concepts: Mapping[str, tuple[Pattern, ...]]
    components: tuple[Component, ...]
    confidence: str
    """How sure findings can be at most: `high`, or `low` for common spellings without a known program."""
    facts: Mapping[str, Any]
    """What is true of the program and no key says, by operand name; and `values` with a meaning of their own."""

    def concept_of(self, path: KeyPath) -> str | None:
        """Return the concept that this key path carries, if any."""
        for concept, patterns in self.concepts.items():
            if any(matches(pattern, path) for pattern in patterns):
                return concept
        return None


def parse_pattern(text: str) -> Pattern:
    r"""Return the pattern that a dialect file writes as `text`.

    Dots separate keys, `*` is any key, `[]` any position, `[3]` one position; a backslash escapes.

    Raises:
        ValueError: A step is empty or a bracket is not closed.
    """
    steps: list[str | int | None] = []
    buffer: list[str] = []
    literal = False

    def flush() -> None:
        nonlocal literal
        word = "".join(buffer)
        buffer.clear()
        if word == "*" and not literal:
            steps.append(None)
        elif word or literal:
            steps.append(word)
        literal = False

    position = 0
    while position < len(text):
        char = text[position]
        if char == "\\" and position + 1 < len(text):
            buffer.append(text[position + 1])
            literal = True
            position += 2
        elif char == ".":
            if not buffer and not literal and (not steps or not (isinstance(steps[-1], int))):
                raise ValueError(f"empty step in {text!r}")
            flush()
            position += 1
        elif char == "[":
            flush()
            close = text.find("]", position)
            inner = text[position + 1 : close] if close > 0 else "?"
            if inner and not inner.isdigit():
                raise ValueError(f"bad index in {text!r}")
            steps.append(int(inner) if inner else -1)
            position = close + 1
        else:
            buffer.append(char)
            position += 1
    flush()
    if not steps:
        raise ValueError("empty key path")
    return tuple(steps)


def matches(pattern: Pattern, path: KeyPath) -> bool:
    """Tell whether a key path fits a pattern."""
    if len(pattern) != len(path):
        return False
    for want, step in zip(pattern, path, strict=True):
        if want is None:
            if not isinstance(step, str):
                return False
        elif want == -1:
            if not isinstance(step, int):
                return False
        elif want != step:
            return False
    return True


_KEYS = frozenset(
    [
        "name",
        "title",
        "loader",
        "unknown_keys",
        "coerces",
        "defaults",
        "schema",
        "detect",
        "concepts",
        "values",
        "batch_components",
        "facts",
        "confidence",
        "notes",
        "evidence",
        "source",
        "projects",
    ]
)
_UNKNOWN = ("fatal", "ignored", "free")


def build(data: Mapping[str, Any], origin: str, folder: str = "") -> Dialect:
    """Return the dialect that a `dialect.yaml` describes.

    Raises:
        CfgfixError: Something in it is not as docs/dialects.md says.
    """

    def fail(message: str) -> CfgfixError:
        return CfgfixError(message, path=origin, hint="see docs/dialects.md")

    unknown = set(data) - _KEYS
    if unknown:
        raise fail(f"has the unknown key {min(map(str, unknown))!r}")
    if not isinstance(data.get("name"), str):
        raise fail("lacks `name`")
    if data.get("unknown_keys", "free") not in _UNKNOWN:
        raise fail(f"unknown_keys {data.get('unknown_keys')!r} is not one of {', '.join(_UNKNOWN)}")

    def patterns(value: Any, where: str) -> tuple[Pattern, ...]:
        items = [value] if isinstance(value, str) else (value or [])
        try:
            return tuple(parse_pattern(str(item)) for item in items)
        except ValueError as error:
            raise fail(f"{where}: {error}") from error

    detect = data.get("detect") or {}
    every = tuple(
        patterns(group if isinstance(group, list) else [group], "detect.all")
        for group in detect.get("all") or []
    )
    any_of = patterns(detect.get("any"), "detect.any")
    return Dialect(
        name=data["name"],
        title=str(data.get("title", data["name"])),
        loader=str(data.get("loader", "pyyaml")),
        unknown_keys=str(data.get("unknown_keys", "free")),
        coerces=patterns(data.get("coerces"), "coerces"),
        defaults=str(data.get("defaults", "none")),
        schema=f"{folder}/{data['schema']}" if data.get("schema") else None,
        signature=Signature(
            every,
            any_of,
            int(detect.get("min_any", 1 if any_of else 0)),
            patterns(detect.get("none"), "detect.none"),
        ),
        concepts={
            str(name): patterns(value, f"concepts.{name}")
            for name, value in (data.get("concepts") or {}).items()
            if value
        },
        components=tuple(
            Component(str(item["name"]), tuple(item["dims"]), str(item["dtype"]))
            for item in data.get("batch_components") or []
        ),
        confidence=str(data.get("confidence", "high")),
        facts={**(data.get("facts") or {}), "values": data.get("values") or {}},
    )


_LOADED: dict[str, Dialect] | None = None


def dialects() -> dict[str, Dialect]:
    """Return the dialects that ship with cfgfix, by name."""
    global _LOADED  # noqa: PLW0603 - loaded once a process
    if _LOADED is None:
        folder = compiled.data_folder("schemas")
        names = compiled.namespace(
            "dialects",
            lambda: compiled.files_below(folder, ("dialect.yaml",)),
            lambda: render(folder),
            {},
        )
        _LOADED = {
            name: build(data, f"{name}/dialect.yaml", name) for name, data in names["DIALECTS"].items()
        }
    return _LOADED


def render(folder: str) -> str:
    """Return Python source with the data of all dialect files of a folder."""
    from cfgfix.catalog.read import load_yaml

    found: dict[str, Any] = {}
    for path in compiled.files_below(folder, ("dialect.yaml",)):
        data = load_yaml(path)
        name = os.path.basename(os.path.dirname(path))
        build(data, path, name)
        found[name] = data
    return f"DIALECTS = {found!r}\n"


def schema_data(dialect: Dialect) -> dict[str, Any] | None:
    """Return the JSON Schema of a built-in dialect, or None."""
    if dialect.schema is None:
        return None
    folder = compiled.data_folder("schemas")
    path = os.path.join(folder, *dialect.schema.split("/"))

    def render_schema() -> str:
        import json

        with open(path, encoding="utf-8") as stream:
            return f"SCHEMA = {json.load(stream)!r}\n"

    names = compiled.namespace(f"schema_{dialect.name.replace('-', '_')}", lambda: [path], render_schema, {})
    data: dict[str, Any] = names["SCHEMA"]
    return data
