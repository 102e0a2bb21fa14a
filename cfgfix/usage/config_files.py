"""The config files of a project as trees: values with the places of their keys, whichever format they are in."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

from cfgfix.config.document.compose import Document, compose
from cfgfix.config.document.nodes import ALIAS, SCALAR, SEQUENCE, Node, deref
from cfgfix.config.loaders.scalars import LOADERS, Loader, resolve
from cfgfix.core.errors import UnreadableError
from cfgfix.core.patterns import late
from cfgfix.core.records import dataclass, field, replace
from cfgfix.core.source_file import SourceFile, read_source

KeyPath = tuple[str | int, ...]
Span = tuple[int, int]
Place = tuple[str, int]
"""A file of the code, relative to the repository, and a line."""


class DocumentStep(str):
    """The first step of a key path in a file of several documents: a number from 0."""

    __slots__ = ()

    @property
    def number(self) -> int:
        """The number of the document, from 0."""
        return int(self[1:])


MAX_BYTES = 1_000_000
"""Largest config file that is held against code; the largest training config of 777 public ones has 69 kB."""
MAX_NODES = 20_000
"""Most values of one file."""
MAX_DEPTH = 40


@dataclass(frozen=True, slots=True)
class Entry:
    """A value of a config file.

    Attributes:
        kind: `map`, `list` or `scalar`.
        path: Its key path.
        key: Span of its key; of the value itself for items of lists and the whole file.
        value: Span of the value as written.
        raw: The value of a scalar; None for others.
        children: For a mapping its entries by key, for a list its items.
        plain: For a scalar of YAML whether it is written without quotes.
        shared: Whether the value is written at another place, by an alias or a merge key.
        anchored: Whether an alias somewhere repeats the value.
        looks: Not empty once the value of a scalar was read: verdicts may depend on the value.
    """

    kind: str
    path: KeyPath
    key: Span
    value: Span
    raw: Any = None
    children: tuple[tuple[Any, Entry], ...] = ()
    plain: bool = False
    shared: bool = False
    anchored: bool = False
    looks: list[bool] = field(default_factory=list, compare=False, repr=False)

    @property
    def data(self) -> Any:
        """The value of a scalar; reading it notes a look. None for others."""
        if not self.looks:
            self.looks.append(True)
        return self.raw

    @property
    def type(self) -> type:
        """The type of the value.

        Reading it notes no look, since an answer is never taken over for a value of another type.
        """
        return type(self.raw)

    def at(self, path: KeyPath) -> Entry | None:
        """Return the entry at a key path, relative to this entry; None for none."""
        here = self
        for step in path:
            found = next((child for _, child in here.children if child.path and child.path[-1] == step), None)
            if found is None:
                return None
            here = found
        return here

    def walk(self) -> Iterator[Entry]:
        """Yield this entry and all entries below, each once."""
        seen: set[int] = set()
        pending = [self]
        while pending:
            here = pending.pop()
            if id(here) in seen:
                continue
            seen.add(id(here))
            yield here
            pending += [child for _, child in reversed(here.children)]


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a file cannot be loaded."""

    offset: int
    message: str


class ConfigFile:
    """A file that code may load, parsed once for each loader.

    Attributes:
        path: As shown to the user.
        source: Its text.
        form: `yaml`, `json`, `toml` or `ini`.
        looked_through: Whether the text of the file, beside its values, decided something.
    """

    __slots__ = ("_document", "_several", "_trees", "form", "looked_through", "path", "source")

    def __init__(self, path: str, source: SourceFile, document: Document | None = None) -> None:
        self.path = path
        self.source = source
        self.form = form_of(path)
        self._document = document
        self.looked_through = False
        self._trees: dict[str, tuple[Entry | None, Problem | None]] = {}
        self._several: dict[str, Entry] = {}

    @classmethod
    def read(cls, path: str) -> ConfigFile | None:
        """Return a file by its path; None where it cannot be read or is too large."""
        try:
            return cls(path, read_source(path, limit=MAX_BYTES))
        except UnreadableError:
            return None

    @property
    def document(self) -> Document:
        """The file parsed as YAML."""
        if self._document is None:
            self._document = compose(self.source)
        return self._document

    def tree(self, loader: str = "pyyaml") -> tuple[Entry | None, Problem | None]:
        """Return the values of the file as a loader reads them, and a problem.

        The problem says why the file cannot be loaded; either may be None.
        """
        name = loader if self.form == "yaml" else self.form
        found = self._trees.get(name)
        if found is None:
            found = self._trees[name] = self._parsed_entry(name)
        return found

    def documents(self, loader: str = "pyyaml") -> Entry | None:
        """Return the documents of a YAML file as a list; None if it has fewer than two."""
        if self.form != "yaml" or len(self.document.roots) < 2 or self.document.problem is not None:
            return None
        # What is kept of one document does not tell what has changed in another.
        self.looked_through = True
        if loader not in self._several:
            self._several[loader] = _YamlEntries(
                self.document, LOADERS.get(loader, LOADERS["pyyaml"])
            ).documents()
        return self._several[loader]

    def trees(self) -> dict[str, Entry | None]:
        """Return the trees that were parsed so far, by loader."""
        return {loader: root for loader, (root, _) in self._trees.items()}

    def _parsed_entry(self, loader: str) -> tuple[Entry | None, Problem | None]:
        text = self.source.text
        if self.form == "json":
            return _json_tree(text)
        if self.form == "toml":
            return _toml_tree(text)
        if self.form == "ini":
            return _ini_tree(text)
        document = self.document
        if document.problem is not None:
            return None, Problem(document.problem.offset, document.problem.message)
        if not document.roots or document.recursive is not None:
            return None, None
        return _YamlEntries(document, LOADERS.get(loader, LOADERS["pyyaml"])).tree(), None


def form_of(path: str) -> str:
    """Return the format of a file by its extension."""
    if path.endswith(".json"):
        return "json"
    if path.endswith((".ini", ".cfg", ".conf")):
        return "ini"
    return "toml" if path.endswith(".toml") else "yaml"


_STANDARD = late(r"!|(?:!!|tag:yaml\.org,2002:)(?:seq|map|omap|pairs|set|python/(?:tuple|list|dict))")
"""Tags of lists and mappings that every loader makes one of."""


class _YamlEntries:
    """Makes entries of a YAML document."""

    def __init__(self, document: Document, loader: Loader) -> None:
        self.document = document
        self.loader = loader
        self.made: dict[int, Entry] = {}
        self.count = 0
        self.repeated = {id(alias.target) for alias in document.aliases}

    def tree(self) -> Entry | None:
        root = self.document.roots[0]
        return self.entry(root, (), (root.value_start, root.value_start), 0)

    def documents(self) -> Entry:
        items: list[tuple[Any, Entry]] = []
        for number, root in enumerate(self.document.roots):
            start = (root.value_start, root.value_start)
            # An alias means an anchor of its own document.
            self.made.clear()
            child = self.entry(root, (DocumentStep(f"#{number}"),), start, 1)
            if child is not None:
                items.append((number, child))
        return Entry("list", (), (0, 0), (0, 0), children=tuple(items))

    def entry(self, node: Node, path: KeyPath, key: Span, depth: int) -> Entry | None:
        self.count += 1
        if self.count > MAX_NODES or depth > MAX_DEPTH:
            return None
        if node.kind == ALIAS:
            known = self.made.get(id(node.target))
            if known is None:
                return None
            return replace(known, shared=True, anchored=False)
        span = (node.value_start, node.end)
        anchored = id(node) in self.repeated
        if node.kind == SCALAR:
            data = self.data(node)
            if isinstance(data, int) and data.bit_length() > _MOST_BITS:
                data = node.text
            found = Entry(
                "scalar",
                path,
                key,
                span,
                data,
                plain=not node.style and node.tag is None,
                anchored=anchored,
            )
        elif node.tag is not None and not _STANDARD.fullmatch(node.tag):
            # What a constructor of the program makes of it is not known.
            found = Entry("scalar", path, key, span, Unread(node.tag), anchored=anchored)
        elif node.kind == SEQUENCE:
            items = []
            for number, item in enumerate(node.items):
                inner = deref(item)
                child = self.entry(item, (*path, number), (inner.value_start, inner.end), depth + 1)
                if child is not None:
                    items.append((number, child))
            found = Entry("list", path, key, span, children=tuple(items), anchored=anchored)
        else:
            found = Entry("map", path, key, span, children=self.pairs(node, path, depth), anchored=anchored)
        self.made[id(node)] = found
        return found

    def pairs(self, node: Node, path: KeyPath, depth: int) -> tuple[tuple[Any, Entry], ...]:
        own: dict[Any, Entry] = {}
        merged: dict[Any, Entry] = {}
        for key, value in node.items:
            name = deref(key)
            if name.kind != SCALAR:
                continue
            if name.text == "<<" and not name.style:
                for item in value.items if value.kind == SEQUENCE else [value]:
                    child = self.entry(item, path, (name.start, name.end), depth + 1)
                    for inner, entry in child.children if child is not None else ():
                        merged.setdefault(inner, _shared_copy(entry))
                continue
            named = self.data(name)
            if isinstance(named, float) and math.isnan(named):
                continue
            child = self.entry(value, (*path, name.text), (name.start, name.end), depth + 1)
            if child is not None:
                if child.shared:
                    child = replace(child, shared=True, anchored=False)
                own[named] = child
        return tuple({**merged, **own}.items())

    def data(self, node: Node) -> Any:
        if node.style:
            return node.text
        if node.tag is not None:
            kind = node.tag.rpartition(":")[2]
            try:
                if kind == "float":
                    return float(node.text.replace("_", ""))
                if kind == "int":
                    return int(node.text.replace("_", ""), 0)
            except ValueError:
                return node.text
            return node.text if kind in ("str", "!") else Unread(node.tag, node.text)
        return resolve(node.text, self.loader).value


@dataclass(frozen=True, slots=True)
class Unread:
    """The value of an unknown YAML tag.

    Attributes:
        tag: The tag.
        text: The text behind the tag; None for a list or a mapping.
    """

    tag: str
    text: str | None = None


def _shared_copy(entry: Entry) -> Entry:
    return replace(entry, shared=True)


# JSON

_JSON_TOKEN = late(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')


def _json_tree(text: str) -> tuple[Entry | None, Problem | None]:
    try:
        json.loads(text)
    except ValueError as error:
        offset = getattr(error, "pos", 0)
        return None, Problem(offset, str(getattr(error, "msg", "this is no JSON")))
    except RecursionError:
        return None, None
    tokens = [(match.group(), match.start(), match.end()) for match in _JSON_TOKEN.finditer(text)]
    reader = _JsonEntries(tokens)
    try:
        return reader.value((), None, 0), None
    except (IndexError, ValueError, RecursionError):
        return None, None


class _JsonEntries:
    """Makes entries of the tokens of a valid JSON text."""

    def __init__(self, tokens: list[tuple[str, int, int]]) -> None:
        self.tokens = tokens
        self.at = 0

    def value(self, path: KeyPath, key: Span | None, depth: int) -> Entry:
        if depth > MAX_DEPTH or self.at > MAX_NODES * 4:
            raise ValueError
        word, start, end = self.tokens[self.at]
        self.at += 1
        if word == "{":
            pairs: dict[Any, Entry] = {}
            while self.tokens[self.at][0] != "}":
                name, begin, stop = self.tokens[self.at]
                self.at += 2
                named = json.loads(name)
                pairs[named] = self.value((*path, named), (begin, stop), depth + 1)
                if self.tokens[self.at][0] == ",":
                    self.at += 1
            end = self.tokens[self.at][2]
            self.at += 1
            return Entry("map", path, key or (start, start), (start, end), children=tuple(pairs.items()))
        if word == "[":
            items: list[tuple[Any, Entry]] = []
            while self.tokens[self.at][0] != "]":
                items.append((len(items), self.value((*path, len(items)), None, depth + 1)))
                if self.tokens[self.at][0] == ",":
                    self.at += 1
            end = self.tokens[self.at][2]
            self.at += 1
            return Entry("list", path, key or (start, start), (start, end), children=tuple(items))
        return Entry("scalar", path, key or (start, end), (start, end), json.loads(word))


# TOML

_TOML_TABLE = late(r"^\s*\[\[?\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_TOML_KEY = late(
    r"""^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*=\s*(.*)$"""
)


_MOST_BITS = 14_000
"""Bits of the largest integer that Python writes in decimal (4,300 digits); one written in hexadecimal may be larger and stays a text."""


def _toml_tree(text: str) -> tuple[Entry | None, Problem | None]:
    import sys

    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        data = tomllib.loads(text)
    except ValueError as error:
        line = re.search(r"at line (\d+)", str(error))
        number = int(line.group(1)) - 1 if line else 0
        offset = sum(len(item) + 1 for item in text.split("\n")[:number])
        return None, Problem(min(offset, len(text)), str(error))
    except RecursionError:
        return None, None
    places: dict[KeyPath, tuple[Span, Span]] = {}
    prefix: tuple[str, ...] = ()
    offset = 0
    for line_text in text.split("\n"):
        table = _TOML_TABLE.match(line_text)
        pair = _TOML_KEY.match(line_text)
        if table:
            prefix = _toml_steps(table.group(1))
            span = (offset + table.start(1), offset + table.end(1))
            places.setdefault(prefix, (span, span))
        elif pair:
            steps = (*prefix, *_toml_steps(pair.group(1)))
            value_end = offset + pair.start(2) + len(pair.group(2).split(" #")[0].rstrip())
            places.setdefault(
                steps, ((offset + pair.start(1), offset + pair.end(1)), (offset + pair.start(2), value_end))
            )
        offset += len(line_text) + 1

    def made(value: Any, path: KeyPath, depth: int) -> Entry:
        plain = tuple(step for step in path if isinstance(step, str))
        key, span = places.get(plain, ((0, 0), (0, 0)))
        if isinstance(value, int) and value.bit_length() > _MOST_BITS:
            value = text[slice(*span)]
        if isinstance(value, dict) and depth < MAX_DEPTH:
            return Entry(
                "map",
                path,
                key,
                span,
                children=tuple((name, made(item, (*path, name), depth + 1)) for name, item in value.items()),
            )
        if isinstance(value, list) and depth < MAX_DEPTH:
            return Entry(
                "list",
                path,
                key,
                span,
                children=tuple(
                    (number, made(item, (*path, number), depth + 1)) for number, item in enumerate(value)
                ),
            )
        return Entry("scalar", path, key, span, value)

    return made(data, (), 0), None


def _toml_steps(text: str) -> tuple[str, ...]:
    return tuple(
        step.strip().strip("\"'") for step in re.findall(r"""[^."']+|"[^"]*"|'[^']*'""", text) if step.strip()
    )


# INI


def _ini_tree(text: str) -> tuple[Entry | None, Problem | None]:
    """Return the sections of an INI text as `configparser` reads it, or a problem.

    Names stay as written, values are texts.
    """
    import configparser

    parser = configparser.RawConfigParser()
    try:
        parser.read_string(text)
    except configparser.Error as error:
        line = int(getattr(error, "lineno", None) or 1) - 1
        offset = sum(len(item) + 1 for item in text.split("\n")[:line])
        return None, Problem(min(offset, len(text)), str(error).partition("\n")[0])
    sections: dict[str, tuple[Span, dict[str, Entry]]] = {}
    here, offset = "", 0
    for line_text in text.split("\n"):
        header = parser.SECTCRE.match(line_text.strip())
        pair = _INI_KEY.match(line_text)
        if header and not line_text[:1].isspace():
            here = header.group("header")
            sections.setdefault(here, ((offset, offset + len(line_text.rstrip())), {}))
        elif pair and here:
            name = pair.group(1)
            known = parser.defaults() if here == parser.default_section else parser[here]
            value = known.get(name.lower())
            if value is not None:
                key = (offset + pair.start(1), offset + pair.end(1))
                span = (offset + pair.start(2), offset + pair.start(2) + len(pair.group(2).rstrip()))
                sections[here][1].setdefault(name, Entry("scalar", (here, name), key, span, value))
        offset += len(line_text) + 1
    children = tuple(
        (name, Entry("map", (name,), span, span, children=tuple(entries.items())))
        for name, (span, entries) in sections.items()
    )
    return Entry("map", (), (0, 0), (0, len(text)), children=children), None


_INI_KEY = late(r"^([^\s#;\[=:][^=:]*?)\s*[=:]\s*(.*)$")

Make = Callable[[Entry], Any]
