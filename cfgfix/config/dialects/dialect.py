"""A dialect: where a family of projects keeps each concept, and how it loads the file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from cfgfix.config.dialects.signatures import Pattern, Signature, Table, table
from cfgfix.config.loaders.scalars import LOADERS
from cfgfix.core.errors import CfgfixError
from cfgfix.core.findings import KeyPath
from cfgfix.core.records import dataclass
from cfgfix.rules import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@dataclass(frozen=True, slots=True)
class Component:
    """One tensor of a batch: sizes are numbers or concepts, without the batch axis."""

    name: str
    dims: tuple[str | int, ...]
    dtype: str


_NONE: dict[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Dialect:
    """A family of configs: where each concept is kept, and how a program reads them."""

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

    def own_values(self, concept: str) -> tuple[tuple[str, Any], ...]:
        """Return the values of a concept that have a special meaning in the program.

        Each is the name of its type and the value.
        """
        found: tuple[tuple[str, Any], ...] = self.facts.get("values", _NONE).get(concept, ())
        return found

    def concept_of(self, path: KeyPath) -> str | None:
        """Return the concept that a dialect keeps at a key path, or None."""
        for concept, patterns in self.concepts.items():
            if any(matches(pattern, path) for pattern in patterns):
                return concept
        return None


def parse_pattern(text: str) -> Pattern:
    r"""Return the pattern of key paths that a text in a dialect file describes.

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
_DETECT = frozenset(["all", "any", "min_any", "none"])
_UNKNOWN = ("fatal", "ignored", "free")
_DEFAULTS = ("none", "schema")
_CONFIDENCE = ("low", "high")
MAX_PATTERNS = 2_000
"""Most key paths of one dialect: all that ship have fewer than a tenth of that."""


class _DialectReader:
    """Reads a `dialect.yaml`; a fault is raised as an error that names its place."""

    def __init__(self, data: Mapping[str, Any], origin: str) -> None:
        self.data = data
        self.origin = origin
        self.count = 0

    def fail(self, message: str) -> CfgfixError:
        return CfgfixError(message, path=self.origin, hint="see docs/dialects.md")

    def text(self, key: str, default: str, allowed: tuple[str, ...] = ()) -> str:
        value = self.data.get(key, default)
        if not isinstance(value, str) or not value:
            raise self.fail(f"{key} is not text")
        if allowed and value not in allowed:
            raise self.fail(f"{key} {value!r} is not one of {', '.join(allowed)}")
        return value

    def table(self, key: str, data: Mapping[str, Any] | None = None) -> dict[str, Any]:
        value = (self.data if data is None else data).get(key)
        if value is None:
            return {}
        if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
            raise self.fail(f"{key} is not a mapping of names")
        return value

    def items(self, value: Any) -> list[Any]:
        if value is None:
            return []
        items = value if isinstance(value, list) else [value]
        self.count += len(items)
        if self.count > MAX_PATTERNS:
            raise self.fail(f"has more than {MAX_PATTERNS} key paths")
        return items

    def patterns(self, value: Any, where: str) -> tuple[Pattern, ...]:
        found: list[Pattern] = []
        for item in self.items(value):
            if isinstance(item, (dict, list)) or item is None:
                raise self.fail(f"{where}: {item!r} is no key path")
            try:
                found.append(parse_pattern(str(item)))
            except ValueError as error:
                raise self.fail(f"{where}: {error}") from error
        return tuple(found)

    def signature(self) -> Signature:
        detect = self.table("detect")
        unknown = set(detect) - _DETECT
        if unknown:
            raise self.fail(f"detect has the unknown key {min(unknown)!r}")
        every = tuple(self.patterns(group, "detect.all") for group in self.items(detect.get("all")))
        any_of = self.patterns(detect.get("any"), "detect.any")
        least = detect.get("min_any", 1 if any_of else 0)
        if isinstance(least, bool) or not isinstance(least, int) or not 0 <= least <= len(any_of):
            raise self.fail(
                f"detect.min_any {least!r} is not a number from 0 to {len(any_of)}, the key paths in `any`"
            )
        return Signature(every, any_of, least, self.patterns(detect.get("none"), "detect.none"))

    def values(self) -> dict[str, tuple[tuple[str, Any], ...]]:
        """Return the special values of concepts: `{workers: {autotune: [-1]}}`."""
        found: dict[str, tuple[tuple[str, Any], ...]] = {}
        for concept, meanings in self.table("values").items():
            rows: list[tuple[str, Any]] = []
            for meaning, items in self.table(concept, {concept: meanings}).items():
                for item in self.items(items):
                    if not isinstance(item, (str, int, float)):
                        raise self.fail(
                            f"values.{concept}.{meaning}: {item!r} is no number, text, true or false"
                        )
                    rows.append((type(item).__name__, item))
            found[concept] = tuple(rows)
        return found

    def components(self) -> tuple[Component, ...]:
        found: list[Component] = []
        for item in self.items(self.data.get("batch_components")):
            if not isinstance(item, dict) or set(item) != {"name", "dims", "dtype"}:
                raise self.fail("batch_components: each one has name, dims and dtype")
            dims = item["dims"]
            if not isinstance(dims, list) or not all(
                isinstance(size, str) or (isinstance(size, int) and not isinstance(size, bool))
                for size in dims
            ):
                raise self.fail("batch_components: dims are numbers or concepts")
            found.append(Component(str(item["name"]), tuple(dims), str(item["dtype"])))
        return tuple(found)


def build(data: Any, origin: str, folder: str = "") -> Dialect:
    """Return the dialect that a `dialect.yaml` describes.

    Args:
        data: What the file holds.
        origin: Its path, for messages.
        folder: The folder below which its schema lies: a name among those that ship, or an absolute path.

    Raises:
        CfgfixError: Something in it is not as docs/dialects.md says.
    """
    reader = _DialectReader(data if isinstance(data, dict) else {}, origin)
    if not isinstance(data, dict):
        raise reader.fail("is not a mapping")
    unknown = set(data) - _KEYS
    if unknown:
        raise reader.fail(f"has the unknown key {min(map(str, unknown))!r}")
    if not isinstance(data.get("name"), str) or not data["name"]:
        raise reader.fail("lacks `name`")
    schema = data.get("schema")
    if schema is not None and (not isinstance(schema, str) or schema != os.path.basename(schema)):
        raise reader.fail("schema is not the name of a file beside dialect.yaml")
    return Dialect(
        name=data["name"],
        title=reader.text("title", data["name"]),
        loader=reader.text("loader", "pyyaml", tuple(LOADERS)),
        unknown_keys=reader.text("unknown_keys", "free", _UNKNOWN),
        coerces=reader.patterns(data.get("coerces"), "coerces"),
        defaults=reader.text("defaults", "none", _DEFAULTS),
        schema=f"{folder}/{schema}" if schema else None,
        signature=reader.signature(),
        concepts={
            name: found
            for name, value in reader.table("concepts").items()
            if (found := reader.patterns(value, f"concepts.{name}"))
        },
        components=reader.components(),
        confidence=reader.text("confidence", "high", _CONFIDENCE),
        facts={**reader.table("facts"), "values": reader.values()},
    )


def _packed_dialect(dialect: Dialect) -> tuple[Any, ...]:
    """Return a dialect as plain data that loads fast, its patterns parsed."""
    signature = dialect.signature
    return (
        dialect.name,
        dialect.title,
        dialect.loader,
        dialect.unknown_keys,
        dialect.coerces,
        dialect.defaults,
        dialect.schema,
        (signature.every, signature.any_of, signature.least, signature.none_of),
        dict(dialect.concepts),
        tuple((part.name, part.dims, part.dtype) for part in dialect.components),
        dialect.confidence,
        dict(dialect.facts),
    )


def _unpacked_dialect(row: tuple[Any, ...]) -> Dialect:
    name, title, loader, unknown, coerces, defaults, schema, signature, concepts, parts, confidence, facts = (
        row
    )
    return Dialect(
        name,
        title,
        loader,
        unknown,
        coerces,
        defaults,
        schema,
        Signature(*signature),
        concepts,
        tuple(Component(*part) for part in parts),
        confidence,
        facts,
    )


_LOADED: dict[str, Dialect] | None = None
_TABLE: Table | None = None


def signatures_of(dialects: Iterable[Dialect]) -> list[tuple[Signature, bool]]:
    """Return each dialect's signature, and whether the dialect is of low confidence.

    This is what `table` takes.
    """
    return [(dialect.signature, dialect.confidence == "low") for dialect in dialects]


def shipped_table(wanted: tuple[Dialect, ...]) -> Table | None:
    """Return the compiled table of signatures of the shipped dialects.

    None unless `wanted` is all of them, in order.
    """
    return _TABLE if _LOADED is not None and wanted == tuple(_LOADED.values()) else None


def dialects() -> dict[str, Dialect]:
    """Return the dialects that ship with cfgfix, by name."""
    global _LOADED, _TABLE  # noqa: PLW0603 - loaded once a process
    if _LOADED is None:
        folder = compiled.data_folder("schemas")
        names = compiled.namespace(
            "dialects",
            lambda: [
                *compiled.files_below(folder, ("dialect.yaml",)),
                os.path.abspath(__file__),
                os.path.join(os.path.dirname(os.path.abspath(__file__)), "signatures.py"),
            ],
            lambda: render(folder),
            {},
        )
        _LOADED = {name: _unpacked_dialect(row) for name, row in names["DIALECTS"].items()}
        _TABLE = names["SIGNATURES"]
    return _LOADED


def render(folder: str) -> str:
    """Return Python source with the data of all dialect files of a folder."""
    from cfgfix.rules.reader import load_yaml

    found: dict[str, Dialect] = {}
    for path in compiled.files_below(folder, ("dialect.yaml",)):
        name = os.path.basename(os.path.dirname(path))
        found[name] = build(load_yaml(path), path, name)
    rows = {name: _packed_dialect(dialect) for name, dialect in found.items()}
    return f"DIALECTS = {rows!r}\nSIGNATURES = {table(signatures_of(found.values()))!r}\n"


MAX_FOLDERS = 200
"""Most dialects that a project may bring along."""


def files_of(place: str) -> list[str]:
    """Return the dialect files at a path.

    They are the file itself, or `dialect.yaml` in the folder or one below it.

    Raises:
        CfgfixError: There is none, or there are too many.
    """
    if os.path.isfile(place):
        return [place]
    found = [
        path for path in compiled.files_below(place, ("dialect.yaml",)) if _pattern_depth(path, place) <= 1
    ]
    found = [path for path in found if os.path.basename(path) == "dialect.yaml"]
    if not found:
        raise CfgfixError(
            "holds no dialect.yaml", path=place, hint="make one with `cfgfix init --dialect NAME`"
        )
    if len(found) > MAX_FOLDERS:
        raise CfgfixError(f"holds more than {MAX_FOLDERS} dialects", path=place)
    return found


def _pattern_depth(path: str, place: str) -> int:
    return os.path.relpath(path, place).count(os.sep)


def from_file(path: str) -> Dialect:
    """Return the dialect in a project's own file.

    The file comes from an untrusted place: it is read safely, bounded and checked.

    Raises:
        CfgfixError: The file cannot be read, or something in it is not as docs/dialects.md says.
    """
    from cfgfix.rules.reader import load_yaml

    return build(load_yaml(path), path, os.path.dirname(os.path.abspath(path)))


def schema_data(dialect: Dialect) -> dict[str, Any] | None:
    """Return the JSON Schema of a dialect, or None where the dialect has none.

    Raises:
        CfgfixError: A project's own schema cannot be read or is no JSON.
    """
    if dialect.schema is None:
        return None
    if os.path.isabs(dialect.schema):
        return _own_schema(dialect.schema)
    folder = compiled.data_folder("schemas")
    path = os.path.join(folder, *dialect.schema.split("/"))

    def render_schema() -> str:
        import json

        with open(path, encoding="utf-8") as stream:
            return f"SCHEMA = {json.load(stream)!r}\n"

    names = compiled.namespace(f"schema_{dialect.name.replace('-', '_')}", lambda: [path], render_schema, {})
    data: dict[str, Any] = names["SCHEMA"]
    return data


def _own_schema(path: str) -> dict[str, Any]:
    import json

    from cfgfix.core.source_file import read_source

    if os.path.dirname(os.path.realpath(path)) != os.path.realpath(os.path.dirname(path)):
        raise CfgfixError("is a link that leads out of its folder", path=path)
    try:
        data = json.loads(read_source(path).text)
    except (ValueError, RecursionError) as error:
        raise CfgfixError(f"is not JSON: {error}", path=path) from error
    if not isinstance(data, dict):
        raise CfgfixError("is no JSON Schema: not an object", path=path)
    return data
