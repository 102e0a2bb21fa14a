"""YAML text to nodes with exact spans.

The parser is PyYAML's binding to libyaml (its pure-Python parser where the binding is absent); this module only
turns its events into a tree. Nothing is resolved and no tag is acted upon: a node keeps what is written, and
`value_of` tells what one loader would make of it.

Offsets count code points of `SourceFile.text`. libyaml's own marks are used where they are exact and corrected
where they are not: a block collection ends with its last entry, not at the next token, and a block scalar ends
before its last line break.
"""

from __future__ import annotations

import enum
import gc
import re
import time
from collections.abc import Iterator
from cfgfix.records import dataclass

from cfgfix.documents.resolve import Loader, construct_scalar, resolve
from cfgfix.errors import CfgfixError, ExitCode
from cfgfix.files import SourceFile
from cfgfix.findings import KeyPath

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing `typing` costs as much as parsing thirty files of usual size
    from typing import Any

TAG_PREFIX = "tag:yaml.org,2002:"
"""What `!!` stands for (YAML 1.2.2, section 6.8.2)."""


class Kind(enum.IntEnum):
    """What a node is."""

    SCALAR = 0
    MAPPING = 1
    SEQUENCE = 2
    ALIAS = 3


SCALAR, MAPPING, SEQUENCE, ALIAS = Kind.SCALAR, Kind.MAPPING, Kind.SEQUENCE, Kind.ALIAS


class Node:
    """One node of a document; a plain class with slots, since a large file has hundreds of thousands.

    Attributes:
        kind: Scalar, mapping, sequence or alias.
        tag: The tag as written, its handle expanded (`!!float` is `tag:yaml.org,2002:float`); None where none is.
        anchor: The name after `&`; for an alias the name after `*`; else None.
        start: Offset at which the node begins, anchor and tag included.
        end: Offset after its last character. Trailing comments and blank lines do not belong to it.
        value_start: Offset at which the content begins, after anchor and tag.
        style: For scalars `""` (plain), `"'"`, `'"'`, `"|"` or `">"`; empty for other kinds.
        flow: For collections, whether it is written with braces or brackets.
        text: For scalars, the parsed text; empty for other kinds.
        items: For mappings a list of (key node, value node) as written, duplicates and `<<` included; for
            sequences a list of nodes; empty for other kinds.
        target: For an alias, the node it stands for; else None.
    """

    __slots__ = (
        "anchor",
        "end",
        "flow",
        "items",
        "kind",
        "start",
        "style",
        "tag",
        "target",
        "text",
        "value_start",
    )

    items: Any

    def __init__(self, kind: Kind, start: int, end: int) -> None:
        self.kind = kind
        self.tag: str | None = None
        self.anchor: str | None = None
        self.start = start
        self.end = end
        self.value_start = start
        self.style = ""
        self.flow = False
        self.text = ""
        self.items = ()
        self.target: Node | None = None

    def __repr__(self) -> str:
        content = (
            self.text if self.kind is SCALAR else (self.anchor if self.kind is ALIAS else len(self.items))
        )
        return f"<{self.kind.name.lower()} {self.start}..{self.end} {content!r}>"


def deref(node: Node) -> Node:
    """Return the node an alias stands for; any other node is its own answer."""
    return node.target if node.target is not None else node


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a file cannot be read as YAML.

    Attributes:
        message: What is wrong, in one sentence.
        offset: Where, in code points of the text.
        line: 1-based line.
        column: 1-based column in code points.
        hint: The next step, or None.
        kind: `tab-indentation`, `special-start`, `undefined-alias`, `template`, `syntax` or `limit`.
    """

    message: str
    offset: int
    line: int
    column: int
    hint: str | None
    kind: str


@dataclass(frozen=True, slots=True)
class Limits:
    """What one file may cost, so that no input can hang or exhaust a run.

    Attributes:
        depth: Nesting levels, also through aliases. Pure-Python PyYAML itself fails with `RecursionError`
            somewhere between 490 and 700 levels; the deepest of 777 real configurations has 11.
        nodes: Nodes in the file. A configuration of 100,000 lines has about 200,000; a node takes 190 to 270 bytes.
        expanded: Nodes after every alias is replaced by a copy of its target (the "billion laughs").
        seconds: Parsing time. At the default size limit for files parsing takes about three seconds.
        tag_directives: `%TAG` lines; libyaml compares each with all before it.
    """

    depth: int = 128
    nodes: int = 1_500_000
    expanded: int = 3_000_000
    seconds: float = 20.0
    tag_directives: int = 1000


DEFAULT_LIMITS = Limits()


class DataError(CfgfixError):
    """A loader would refuse the document, or cfgfix cannot say what it would give.

    `offset` is the place in the text.
    """

    def __init__(self, message: str, node: Node | None, source: SourceFile) -> None:
        self.offset = node.start if node is not None else 0
        line, column = source.position(self.offset)
        super().__init__(message, code=ExitCode.FINDINGS, path=source.path, line=line, column=column)


@dataclass(frozen=True, slots=True)
class Tagged:
    """A value under a tag that is not one of YAML's own: what it says, never what a constructor would make of it.

    `value` is the text of a scalar, or the data of a mapping or sequence.
    """

    tag: str
    value: object

    def __hash__(self) -> int:
        # The value may be a list; equal ones still have equal tags.
        return hash(self.tag)


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a key path as found in a document.

    Attributes:
        parent: The mapping or sequence in which the step was found.
        key: The key node; None for a position in a sequence.
        value: The value as written (an alias stays an alias).
        shared: `""` for an entry written in `parent` itself, `merge` when it came through a `<<` key.
    """

    parent: Node
    key: Node | None
    value: Node
    shared: str = ""


class Document:
    """One file as YAML: its text and one root node per YAML document.

    Attributes:
        source: The file.
        roots: The root node of each document in the stream. Empty for a stream without documents and whenever
            `problem` is set.
        problem: Why the file does not parse, or None.
        versions: For each root the version its `%YAML` directive names, or None.
        bounds: For each root the offsets between which the document's content may stand: after its `---` and
            before its `...` or the next document.
        reused_anchor: The first node whose anchor name was taken already; PyYAML refuses such a file.
        aliases: Every alias in the file, in the order of the text.
        recursive: An alias that stands inside the very node it names; loading gives data that contains itself.
    """

    __slots__ = ("aliases", "bounds", "problem", "recursive", "reused_anchor", "roots", "source", "versions")

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self.roots: list[Node] = []
        self.problem: Problem | None = None
        self.versions: list[tuple[int, int] | None] = []
        self.bounds: list[tuple[int, int]] = []
        self.aliases: list[Node] = []
        self.reused_anchor: Node | None = None
        self.recursive: Node | None = None

    def find(self, path: KeyPath, document: int = 0) -> tuple[Node | None, Node] | None:
        """Return the key node and the value node at a key path, or None where there is no such entry.

        Of equal keys the last one wins, as PyYAML has it. Aliases on the way are followed, and so are merge keys:
        a written entry wins over a merged one. The value is returned as written; `deref` leads from an alias to
        its target. The key node is None for sequence positions and for the empty path (the root).
        """
        if not path:
            return (None, self.roots[document]) if document < len(self.roots) else None
        steps = self.trace(path, document)
        return (steps[-1].key, steps[-1].value) if steps else None

    def trace(self, path: KeyPath, document: int = 0) -> list[Step] | None:
        """Return every step to the entry at `path`, outermost first; None where there is no such entry."""
        if document >= len(self.roots):
            return None
        node = self.roots[document]
        steps: list[Step] = []
        for name in path:
            parent = deref(node)
            step = _enter(parent, name, self.source)
            if step is None:
                return None
            steps.append(step)
            node = step.value
        return steps

    def walk(self) -> Iterator[tuple[KeyPath, Node | None, Node, Node, int]]:
        """Yield every entry: its path, key node (None in sequences), value node, parent and document number.

        Entries come in the order of the text, each once: an alias is yielded, what it stands for is not entered
        again. A merge key is yielded as the key `<<`. A key that is itself a collection appears in the path as
        its source text. Of duplicate keys every one is yielded, under the same path.
        """
        for number, root in enumerate(self.roots):
            stack: list[tuple[KeyPath, Iterator[Any], Node]] = [((), iter(_entries(root, self.source)), root)]
            while stack:
                prefix, entries, parent = stack[-1]
                for step, key, value in entries:
                    path = (*prefix, step)
                    yield path, key, value, parent, number
                    if value.items:
                        stack.append((path, iter(_entries(value, self.source)), value))
                        break
                else:
                    stack.pop()

    def data(self, loader: Loader, document: int = 0) -> Any:
        """Return plain Python data as `loader` would give it; None for a stream without documents.

        Dictionaries keep the loader's key order (merged keys first). Values under tags that are not YAML's own
        become `Tagged`; no tag constructor runs.

        Raises:
            DataError: The loader refuses the document (duplicate keys, an unhashable key, a date that does not
                exist, ...), or the data would contain itself.
        """
        if document >= len(self.roots):
            return None
        return _Builder(self, loader).build(self.roots[document])


def _entries(node: Node, source: SourceFile) -> Iterator[tuple[str | int, Node | None, Node]]:
    if node.kind is MAPPING:
        for key, value in node.items:
            yield key_text(key, source), key, value
    elif node.kind is SEQUENCE:
        for index, value in enumerate(node.items):
            yield index, None, value


def key_text(key: Node, source: SourceFile) -> str:
    """Return a key as it stands in key paths: a scalar's text, else the source text of the key."""
    key = deref(key)
    return key.text if key.kind is SCALAR else source.text[key.start : key.end]


def is_merge(key: Node) -> bool:
    """Tell whether a key node is a merge key: a plain `<<`, or one tagged so."""
    if key.kind is not SCALAR or key.text != "<<":
        return False
    return key.tag == TAG_PREFIX + "merge" or (not key.style and key.tag in (None, "!"))


def _enter(parent: Node, name: str | int, source: SourceFile) -> Step | None:
    if parent.kind is SEQUENCE:
        if isinstance(name, int) and 0 <= name < len(parent.items):
            return Step(parent, None, parent.items[name])
        return None
    if parent.kind is not MAPPING or not isinstance(name, str):
        return None
    # Mappings still to be searched, the next one last; visited ones are left out, since merges may form a circle.
    waiting = [parent]
    visited: set[int] = set()
    while waiting:
        mapping = waiting.pop()
        if id(mapping) in visited:
            continue
        visited.add(id(mapping))
        merged: list[Node] = []
        for key, value in reversed(mapping.items):
            if (key.text == name and key.kind is SCALAR) or (
                key.kind is not SCALAR and key_text(key, source) == name
            ):
                return Step(mapping, key, value, "" if mapping is parent else "merge")
            if is_merge(key):
                # PyYAML lets the later of two merge keys win, and in a list of mappings the earlier one.
                target = deref(value)
                merged.extend([target] if target.kind is MAPPING else map(deref, target.items))
        waiting.extend(node for node in reversed(merged) if node.kind is MAPPING)
    return None


class _Builder:
    """Data of one document as one loader would give it."""

    def __init__(self, document: Document, loader: Loader) -> None:
        self.document = document
        self.loader = loader
        self.done: dict[int, Any] = {}
        self.flat: dict[int, list[tuple[Node, Node]]] = {}

    def build(self, root: Node) -> Any:
        document = self.document
        if document.recursive is not None:
            raise self.refuse(
                f"*{document.recursive.anchor} stands inside the value it names", document.recursive
            )
        if document.reused_anchor is not None and self.loader.yaml_version == "1.1":
            node = document.reused_anchor
            raise self.refuse(f"{self.loader.title} refuses a second anchor &{node.anchor}", node)
        return self.value(root, 0)

    def refuse(self, message: str, node: Node) -> DataError:
        return DataError(message, node, self.document.source)

    def value(self, node: Node, depth: int) -> Any:
        kind = node.kind
        if kind is SCALAR:
            return self.scalar(node)
        if kind is ALIAS:
            assert node.target is not None
            node = node.target
            if node.kind is SCALAR:
                return self.scalar(node)
        known = self.done.get(id(node), self)
        if known is not self:
            return known
        if depth > _MAX_BUILD_DEPTH:
            raise self.refuse("nested too deep", node)
        result = self.sequence(node, depth + 1) if node.kind is SEQUENCE else self.mapping(node, depth + 1)
        if node.anchor is not None:
            self.done[id(node)] = result
        return result

    def scalar(self, node: Node) -> Any:
        tag = node.tag
        loader = self.loader
        if tag is None or tag == "!":
            # Both loaders resolve a plain scalar under the tag `!`, where the standard says it is text.
            if node.style:
                return node.text
            resolved = resolve(node.text, loader)
            if resolved.error is not None:
                raise self.refuse(resolved.error, node)
            if resolved.tag in ("merge", "value"):
                raise self.refuse(f"{loader.title} cannot read a plain {node.text} as a value", node)
            return resolved.value
        name = tag[len(TAG_PREFIX) :] if tag.startswith(TAG_PREFIX) else ""
        if name in _SCALAR_TAGS:
            try:
                return construct_scalar(name, node.text, loader)
            except (ValueError, OverflowError, KeyError, IndexError):
                raise self.refuse(f"{loader.title} cannot read {node.text!r} as !!{name}", node) from None
        if name == "binary":
            return self.binary(node)
        if name in _COLLECTION_TAGS:
            raise self.refuse(f"!!{name} on a scalar", node)
        return Tagged(tag, node.text)

    def binary(self, node: Node) -> bytes:
        import base64

        try:
            return base64.decodebytes(node.text.encode("ascii"))
        except ValueError:
            raise self.refuse("!!binary is not valid base64", node) from None

    def sequence(self, node: Node, depth: int) -> Any:
        name = self.collection_tag(node, "seq")
        if name in ("omap", "pairs"):
            return self.pairs(node, depth, name)
        value = [self.value(item, depth) for item in node.items]
        return value if name == "seq" else Tagged(str(node.tag), value)

    def collection_tag(self, node: Node, default: str) -> str:
        """The short name of a collection's own tag, or an empty string for a foreign one."""
        tag = node.tag
        if tag is None or tag == "!":
            return default
        name = tag[len(TAG_PREFIX) :] if tag.startswith(TAG_PREFIX) else ""
        fitting = ("map", "set") if default == "map" else ("seq", "omap", "pairs")
        if name in fitting:
            return name
        if name in _SCALAR_TAGS or name in _COLLECTION_TAGS or name == "binary":
            raise self.refuse(f"!!{name} on a {'mapping' if default == 'map' else 'sequence'}", node)
        return ""

    def pairs(self, node: Node, depth: int, name: str) -> list[tuple[Any, Any]]:
        result: list[tuple[Any, Any]] = []
        for item in node.items:
            entry = deref(item)
            if entry.kind is not MAPPING or len(entry.items) != 1:
                raise self.refuse(f"every entry of !!{name} must be a mapping with one key", item)
            key, value = entry.items[0]
            result.append((self.value(key, depth), self.value(value, depth)))
        return result

    def mapping(self, node: Node, depth: int) -> Any:
        name = self.collection_tag(node, "map")
        loader = self.loader
        items = node.items
        merged = False
        if any(is_merge(key) for key, _ in items):
            items = self.flatten(node, 0)
            merged = True
        result: dict[Any, Any] = {}
        # ruamel.yaml does not look for duplicates where keys are merged in; OmegaConf looks at what is written.
        strict = loader.duplicate_keys == "error" and loader.yaml_version == "1.2" and not merged
        if loader.name == "omegaconf":
            self.refuse_written_twice(node)
        for key_node, value_node in items:
            key = self.key(key_node, depth)
            if strict and key in result:
                raise self.refuse(f"{loader.title} refuses the duplicate key {key!r}", key_node)
            result[key] = self.value(value_node, depth)
        if name == "map":
            return result
        return set(result) if name == "set" else Tagged(str(node.tag), result)

    def refuse_written_twice(self, node: Node) -> None:
        seen: set[str] = set()
        for key, _ in node.items:
            scalar = deref(key)
            if scalar.kind is not SCALAR or (
                not scalar.style and resolve(scalar.text, self.loader).tag != "str"
            ):
                continue
            if scalar.tag not in (None, "!", TAG_PREFIX + "str"):
                continue
            if scalar.text in seen:
                raise self.refuse(f"{self.loader.title} refuses the duplicate key {scalar.text!r}", key)
            seen.add(scalar.text)

    def key(self, node: Node, depth: int) -> Any:
        scalar = deref(node)
        if scalar.kind is SCALAR and not scalar.style and scalar.text == "=" and scalar.tag in (None, "!"):
            return "="
        key = self.value(node, depth)
        if isinstance(key, list) and self.loader.yaml_version == "1.2":
            key = tuple(key)
        try:
            hash(key)
        except TypeError:
            kind = "mapping" if scalar.kind is MAPPING else "sequence"
            raise self.refuse(f"{self.loader.title} refuses a {kind} as a key", node) from None
        return key

    def flatten(self, node: Node, depth: int) -> list[tuple[Node, Node]]:
        """The entries of a mapping with its merge keys replaced by what they bring, as PyYAML orders them.

        A circle of merges ends as it does there: a mapping that is being flattened gives what it has so far.
        """
        if depth > _MAX_BUILD_DEPTH:
            raise self.refuse("merge keys nested too deep", node)
        entries = self.flat.setdefault(id(node), list(node.items))
        merged: list[tuple[Node, Node]] = []
        seen_merge = False
        index = 0
        while index < len(entries):
            key, value = entries[index]
            if not is_merge(key):
                index += 1
                continue
            if seen_merge and merged and self.loader.yaml_version == "1.2":
                raise self.refuse(f"{self.loader.title} refuses a second merge key", key)
            seen_merge = True
            del entries[index]
            target = deref(value)
            if target.kind is MAPPING:
                merged.extend(self.flatten(target, depth + 1))
            elif target.kind is SEQUENCE:
                parts = []
                for item in target.items:
                    part = deref(item)
                    if part.kind is not MAPPING:
                        raise self.refuse("a merge key takes mappings only", item)
                    parts.append(list(self.flatten(part, depth + 1)))
                for entry in reversed(parts):
                    merged.extend(entry)
            else:
                raise self.refuse("a merge key takes a mapping or a list of mappings", value)
            entries = self.flat[id(node)]
        if merged:
            entries = self.flat[id(node)] = merged + entries
        return entries


# Nodes nest at most `Limits.depth` deep; values reached through aliases are counted by `compose` as well.
_MAX_BUILD_DEPTH = 200
_SCALAR_TAGS = frozenset(("str", "int", "float", "bool", "null", "timestamp"))
_COLLECTION_TAGS = frozenset(("map", "set", "seq", "omap", "pairs"))


def value_of(node: Node, loader: Loader, document: Document) -> Any:
    """Return what `loader` makes of one node, as `Document.data` does for a whole document.

    Raises:
        DataError: The loader refuses it.
    """
    return _Builder(document, loader).build(node)


def compose(source: SourceFile, *, limits: Limits = DEFAULT_LIMITS) -> Document:
    """Parse a file into nodes; a file that is no YAML gives a document whose `problem` says why.

    Never raises on bad input: syntax, undefined aliases and exceeded limits are all told in `problem`.
    """
    document = Document(source)
    text = source.text
    if text.startswith("\ufeff"):
        # libyaml would pass over it without counting it, and every offset would be one off.
        document.problem = _problem(source, 0, "a second byte order mark", "syntax", "remove it")
        return document
    if text.count("%TAG") > limits.tag_directives:
        document.problem = _limit(
            source, text.find("%TAG"), f"more than {limits.tag_directives} %TAG directives"
        )
        return document
    enabled = gc.isenabled()
    # The nodes form no garbage while they are made; collecting in between costs up to half the time.
    gc.disable()
    try:
        document.problem = _parse(document, limits)
    finally:
        if enabled:
            gc.enable()
    if document.problem is None and "{{" in text:
        document.problem = _template_in_braces(document)
    if document.problem is not None:
        document.roots = []
        document.bounds = []
        document.versions = []
        document.aliases = []
    return document


def pure_problem(document: Document) -> Problem | None:
    """Return why `yaml.safe_load` refuses a file that libyaml reads, or None.

    PyYAML's pure-Python parser, which `yaml.safe_load` runs, takes no tab between tokens (`a: 1<TAB># note`), where
    libyaml and the standard do. Only a file with a tab is parsed again; the other differences between the two
    parsers need constructs that none of 777 real configurations has.
    """
    source = document.source
    if document.problem is not None or "\t" not in source.text:
        return None
    import yaml

    parser: Any = yaml.SafeLoader(source.text)
    try:
        while not isinstance(parser.get_event(), yaml.StreamEndEvent):
            pass
    except yaml.MarkedYAMLError as error:
        offset = error.problem_mark.index if error.problem_mark is not None else source.text.index("\t")
        if source.text.startswith("\t", offset):
            message = (
                "a tab stands between two parts; `yaml.safe_load` refuses it, though other parsers read it"
            )
            return _problem(source, offset, message, "syntax", "replace the tab with spaces")
        return _syntax(source, error)
    finally:
        parser.dispose()
    return None


def _parser(text: str) -> Any:
    """A parser with `get_event`: libyaml's, or PyYAML's own where the binding was not built."""
    import yaml

    try:
        from yaml.cyaml import CParser  # type: ignore[attr-defined]
    except ImportError:
        return yaml.SafeLoader(text)
    return CParser(text)


_CLOCK_EVERY = 4096


def _parse(document: Document, limits: Limits) -> Problem | None:
    import yaml

    events = yaml.events
    scalar_event, alias_event = events.ScalarEvent, events.AliasEvent
    mapping_start, sequence_start = events.MappingStartEvent, events.SequenceStartEvent
    mapping_end, sequence_end = events.MappingEndEvent, events.SequenceEndEvent
    source = document.source
    text = source.text
    deadline = time.monotonic() + limits.seconds
    count = 0
    clock = _CLOCK_EVERY
    anchors: dict[str, Node] = {}
    version: tuple[int, int] | None = None
    content_start = 0
    # The open collections and, for each, the flat list of nodes found in it so far.
    open_nodes: list[Node] = []
    children: list[Node] = []
    outer: list[list[Node]] = []
    try:
        get_event = _parser(text).get_event
        while True:
            event = get_event()
            kind = event.__class__
            if kind is scalar_event:
                start = event.start_mark.index
                node = Node(SCALAR, start, event.end_mark.index)
                node.text = event.value
                if node.end == start and len(children) & 1 and open_nodes[-1].kind is MAPPING:
                    _place_empty_value(text, node, children[-1])
                style = event.style
                if style:
                    node.style = style
                    if style in "|>":
                        node.end = _block_scalar_end(text, node)
            elif kind is mapping_end:
                node = open_nodes.pop()
                node.items = list(zip(children[::2], children[1::2], strict=True))
                # The mapping in `[a: 1]` is in flow style and has no braces of its own.
                if node.flow and has_braces(text, node, children):
                    node.end = event.end_mark.index
                elif children:
                    node.end = children[-1].end
                children = outer.pop()
                continue
            elif kind is sequence_end:
                node = open_nodes.pop()
                node.items = children
                if node.flow:
                    node.end = event.end_mark.index
                elif children:
                    node.end = children[-1].end
                children = outer.pop()
                continue
            elif kind is mapping_start or kind is sequence_start:
                start = event.start_mark.index
                node = Node(MAPPING if kind is mapping_start else SEQUENCE, start, event.end_mark.index)
                node.flow = bool(event.flow_style)
            elif kind is alias_event:
                node = Node(ALIAS, event.start_mark.index, event.end_mark.index)
                node.anchor = event.anchor
                node.target = anchors.get(event.anchor)
                if node.target is None:
                    return _undefined_alias(source, node)
                document.aliases.append(node)
                children.append(node)
                continue
            elif kind is events.DocumentStartEvent:
                anchors = {}
                children = []
                version = event.version
                content_start = event.end_mark.index
                continue
            elif kind is events.DocumentEndEvent:
                document.roots.append(children[0])
                document.versions.append(version)
                document.bounds.append((content_start, event.start_mark.index))
                continue
            elif kind is events.StreamEndEvent:
                break
            else:
                continue
            # Scalars and opened collections come here.
            tag = event.tag
            anchor = event.anchor
            if tag is not None or anchor is not None:
                node.tag = tag
                node.anchor = anchor
                node.value_start = _content_start(text, start, tag, anchor)
                if kind is scalar_event and node.value_start > node.end:
                    node.value_start = node.end
                if anchor is not None:
                    if anchor in anchors and document.reused_anchor is None:
                        document.reused_anchor = node
                    anchors[anchor] = node
            children.append(node)
            count += 1
            if kind is not scalar_event:
                open_nodes.append(node)
                outer.append(children)
                children = []
                if len(open_nodes) > limits.depth:
                    return _limit(source, node.start, f"nested more than {limits.depth} levels deep")
            if count > clock:
                clock += _CLOCK_EVERY
                if count > limits.nodes:
                    return _limit(source, node.start, f"more than {limits.nodes:,} values")
                if time.monotonic() > deadline:
                    return _limit(source, node.start, f"parsing took more than {limits.seconds:g} seconds")
    except yaml.YAMLError as error:
        return _syntax(source, error)
    return _check_aliases(document, limits) if document.aliases else None


def _place_empty_value(text: str, node: Node, key: Node) -> None:
    """Put a value that is not there right behind its colon, or behind the key where there is no colon.

    libyaml's mark is right behind the colon in block mappings, but in flow mappings and for `? key` alone it is at
    the next token.
    """
    if node.start > 0 and text[node.start - 1] == ":":
        return
    gap = _SEPARATION.match(text, key.end)
    offset = gap.end() if gap is not None else key.end
    if offset >= node.start or text[offset] != ":":
        offset = key.end - 1
    node.start = node.end = node.value_start = offset + 1


def has_braces(text: str, node: Node, children: list[Node]) -> bool:
    """Tell whether a mapping in flow style has braces of its own; the one in `[a: 1]` has none.

    `children` are its keys and values in order.
    """
    # A key may itself begin with a brace, as in `[{a: 1}: 2]`.
    return text.startswith("{", node.value_start) and not (children and children[0].start == node.value_start)


def _block_scalar_end(text: str, node: Node) -> int:
    """Where a literal or folded scalar ends: before its last line break, and before blank lines it drops."""
    end = node.end
    newline = _first_break(text, node.start, end)
    header = text[node.start : newline].rsplit(node.style, 1)[-1].split("#", 1)[0]
    content = node.text.rstrip("\n")
    if "+" not in header and not content:
        return node.start + len(text[node.start : newline].rstrip(" \t"))
    if "+" not in header and not content[-1].isspace():
        while text[end - 1] in _BREAKS or text[end - 1] in " \t":
            end -= 1
        return end
    # Blank lines are content, or the last line ends in blanks that are: only the last line break is left out.
    if text.endswith("\r\n", node.start, end):
        return end - 2
    return end - 1 if text[end - 1] in _BREAKS else end


_BREAKS = "\n\r\x85\u2028\u2029"
"""What YAML 1.1 calls a line break (section 4.2); the last three are ordinary characters to editors."""


def _first_break(text: str, start: int, end: int) -> int:
    for offset in range(start, end):
        if text[offset] in _BREAKS:
            return offset
    return end


_TAG = re.compile(r"!<[^>]*>|![^\s,\[\]{}]*")
_SEPARATION = re.compile(r"(?:[ \t\r\n\x85\u2028\u2029]+|(?<=[\s])\#[^\r\n\x85\u2028\u2029]*)+")


def _content_start(text: str, start: int, tag: str | None, anchor: str | None) -> int:
    """Where the content of a node begins that has a tag, an anchor or both."""
    offset = start
    for _ in range((tag is not None) + (anchor is not None)):
        if anchor is not None and text.startswith("&", offset):
            offset += 1 + len(anchor)
        else:
            found = _TAG.match(text, offset)
            if found is None:
                break
            offset = found.end()
        gap = _SEPARATION.match(text, offset)
        if gap is None:
            break
        offset = gap.end()
    return offset


def _undefined_alias(source: SourceFile, node: Node) -> Problem:
    return _problem(
        source,
        node.start,
        f"*{node.anchor} refers to an anchor that is not defined before it",
        "undefined-alias",
        "define the anchor with & above, or put the text in quotes if it is meant literally",
    )


def _check_aliases(document: Document, limits: Limits) -> Problem | None:
    """Count what the document holds once aliases are followed, and how deep; note an alias within its own target.

    Anchors stand before their aliases, so one pass in the order of the text has every target's figures ready.
    """
    figures: dict[int, tuple[int, int]] = {}
    total = 0
    for root in document.roots:
        # Per open node: the node, its children still to come, its size and height so far.
        stack: list[list[Any]] = [[root, _children(root), 1, 1]]
        while stack:
            frame = stack[-1]
            child = next(frame[1], None)
            if child is not None:
                if child.kind is ALIAS:
                    known = figures.get(id(child.target))
                    if known is None:
                        document.recursive = document.recursive or child
                        known = (1, 1)
                    frame[2] += known[0]
                    frame[3] = max(frame[3], known[1] + 1)
                    if frame[2] > limits.expanded:
                        message = f"aliases expand to more than {limits.expanded:,} values"
                        return _limit(document.source, child.start, message)
                    if frame[3] > limits.depth:
                        message = f"aliases nest more than {limits.depth} levels deep"
                        return _limit(document.source, child.start, message)
                elif child.items:
                    stack.append([child, _children(child), 1, 1])
                else:
                    figures[id(child)] = (1, 1)
                    frame[2] += 1
                    frame[3] = max(frame[3], 2)
                continue
            stack.pop()
            node, _, size, height = frame
            figures[id(node)] = (size, height)
            if stack:
                stack[-1][2] += size
                stack[-1][3] = max(stack[-1][3], height + 1)
            else:
                total += size
            if size > limits.expanded or total > limits.expanded:
                message = f"aliases expand to more than {limits.expanded:,} values"
                return _limit(document.source, node.start, message)
            if height > limits.depth:
                return _limit(
                    document.source, node.start, f"aliases nest more than {limits.depth} levels deep"
                )
    return None


def _children(node: Node) -> Iterator[Node]:
    if node.kind is MAPPING:
        for key, value in node.items:
            yield key
            yield value
    else:
        yield from node.items


def _problem(source: SourceFile, offset: int, message: str, kind: str, hint: str | None) -> Problem:
    line, column = source.position(offset)
    return Problem(message, offset, line, column, hint, kind)


def _limit(source: SourceFile, offset: int, message: str) -> Problem:
    return _problem(source, max(offset, 0), message, "limit", "exclude the file, or split it")


def _template_in_braces(document: Document) -> Problem | None:
    """Find `{{ name }}` where a value is expected: to YAML a mapping whose key is a mapping, to nobody a config."""
    source = document.source
    for _, key, value, _, _ in document.walk():
        for node in (key, value):
            if node is None or node.kind is not MAPPING or not source.text.startswith("{{", node.value_start):
                continue
            inner = node.items[0][0]
            if inner.kind is MAPPING and inner.flow:
                return _template(source, node.start)
    for root in document.roots:
        if (
            root.kind is MAPPING
            and source.text.startswith("{{", root.value_start)
            and root.items[0][0].kind is MAPPING
        ):
            return _template(source, root.start)
    return None


def _template(source: SourceFile, offset: int) -> Problem:
    return _problem(
        source,
        offset,
        "this is a template, not YAML yet",
        "template",
        "check the rendered file, or put the placeholder in quotes",
    )


_TEMPLATE_MARK = re.compile(r"\{\{|\{%|\{#|\$\{|<%")
_HINTS: tuple[tuple[str, str, str], ...] = (
    (
        "mapping values are not allowed",
        "a second `: ` in one value, or an entry that is indented deeper than its siblings",
        "put the value in quotes, or align the keys",
    ),
    (
        "could not find expected ':'",
        "a key without `: ` behind it, or a line that is indented too little to go on with the value above",
        "write `key: value`, or indent the line",
    ),
    (
        "did not find expected key",
        "this line does not line up with the entries above",
        "align it with its siblings",
    ),
    (
        "did not find expected '-' indicator",
        "this line does not line up with the list above",
        "align it with the other `-`",
    ),
    (
        "did not find expected ',' or ']'",
        "a list in brackets is not closed or lacks a comma",
        "close it with `]`",
    ),
    (
        "did not find expected ',' or '}'",
        "a mapping in braces is not closed or lacks a comma",
        "close it with `}`",
    ),
    (
        "found unexpected end of stream",
        "a quoted value is not closed before the file ends",
        "add the closing quote",
    ),
    (
        "found unknown escape character",
        "a backslash in double quotes starts an escape that YAML does not have",
        "use single quotes, or write the backslash twice",
    ),
    ("found undefined tag handle", "the tag's handle is not declared", "declare it with %TAG, or use `!`"),
    ("found duplicate", "the directive is given twice", "remove one"),
    (
        "incompatible YAML document",
        "the %YAML directive names a version nothing here reads",
        "remove the directive",
    ),
)


def _syntax(source: SourceFile, error: Any) -> Problem:
    """Say in plain words why the parser gave up, and where a reader would look."""
    text = source.text
    mark = getattr(error, "problem_mark", None)
    context_mark = getattr(error, "context_mark", None)
    said = str(getattr(error, "problem", None) or getattr(error, "reason", None) or error)
    context = str(getattr(error, "context", None) or "")
    if mark is None:
        return _unreadable_character(source, said)
    offset = min(mark.index, len(text))
    line = source.position(offset)[0]
    near = {line}
    if context_mark is not None:
        near.add(source.position(min(context_mark.index, len(text)))[0])
    tab = _tab_in_indentation(source, {*near, line - 1})
    if tab is not None:
        return _problem(
            source,
            tab,
            "this line is indented with a tab; YAML allows only spaces",
            "tab-indentation",
            "replace the tab with spaces",
        )
    if any(_TEMPLATE_MARK.search(_without_comment(source.line_text(number))) for number in near):
        return _template(source, offset)
    if context.endswith(("an alias", "an anchor")) and context_mark is not None:
        offset = context_mark.index
        return _special(source, offset)
    char = text[offset : offset + 1]
    if "cannot start any token" in said and char in "@`%":
        return _special(source, offset)
    for needle, message, hint in _HINTS:
        if needle in said:
            return _problem(source, offset, message, "syntax", hint)
    return _problem(source, offset, f"{context}: {said}" if context else said, "syntax", None)


def _special(source: SourceFile, offset: int) -> Problem:
    return _problem(
        source,
        offset,
        f"a plain value cannot start with {source.text[offset : offset + 1]!r}",
        "special-start",
        "put the value in quotes",
    )


def _without_comment(line: str) -> str:
    cut = line.find(" #")
    return line if cut < 0 else line[:cut]


def _tab_in_indentation(source: SourceFile, lines: set[int]) -> int | None:
    for number in sorted(lines):
        line = source.line_text(number)
        indentation = line[: len(line) - len(line.lstrip(" \t"))]
        if "\t" in indentation and len(indentation) < len(line):
            return source.line_start(number) + indentation.index("\t")
    return None


# What YAML 1.1 lets a file contain (section 4.1), as libyaml and PyYAML check it.
_UNREADABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


def _unreadable_character(source: SourceFile, said: str) -> Problem:
    found = _UNREADABLE.search(source.text)
    if found is None:
        return _problem(source, 0, said, "syntax", None)
    message = f"the character U+{ord(found.group()):04X} is not allowed in YAML"
    return _problem(
        source, found.start(), message, "syntax", "remove it, or write it as an escape in double quotes"
    )
