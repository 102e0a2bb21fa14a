"""YAML text to nodes with exact spans.

The parser is PyYAML's binding to libyaml (its pure-Python parser where the binding is absent); this module only
turns its events into a tree. Nothing is resolved and no tag is acted upon: a node keeps what is written, and
`value_of` tells what one loader would make of it.

Offsets count code points of `SourceFile.text`. libyaml's own marks are used where they are exact and corrected
where they are not: a block collection ends with its last entry, not at the next token, and a block scalar ends
before its last line break.
"""

from __future__ import annotations

import gc
import re
import time
from collections.abc import Iterator, Mapping, Sequence

from cfgfix.config.document.data import Builder, DataError, Tagged
from cfgfix.config.document.nodes import (
    ALIAS,
    BREAKS,
    MAPPING,
    SCALAR,
    SEQUENCE,
    TAG_PREFIX,
    Kind,
    Node,
    children,
    deref,
    entries,
    has_braces,
    is_merge,
    key_text,
)
from cfgfix.config.document.problems import Problem, limit, problem, syntax, template, undefined_alias
from cfgfix.config.document.steps import Step, enter
from cfgfix.config.loaders.scalars import Loader
from cfgfix.core.findings import KeyPath
from cfgfix.core.records import dataclass
from cfgfix.core.source_file import SourceFile

TYPE_CHECKING = False
if TYPE_CHECKING:  # see `nodes`
    from typing import Any

__all__ = [
    "ALIAS",
    "BREAKS",
    "DEFAULT_LIMITS",
    "MAPPING",
    "SCALAR",
    "SEQUENCE",
    "TAG_PREFIX",
    "DataError",
    "Document",
    "Kind",
    "Limits",
    "Node",
    "Problem",
    "SourceFile",
    "Step",
    "Tagged",
    "compose",
    "deref",
    "has_braces",
    "is_merge",
    "key_text",
    "pure_problem",
    "value_of",
]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on parsing one file, so that no input can hang or exhaust a run.

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

_BREAK = re.compile(f"[{BREAKS}]")
_FEW = 16
"""Entries of a mapping that are looked through faster than an index of them is made."""


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

    __slots__ = (
        "_breaks",
        "_places",
        "_uses",
        "aliases",
        "bounds",
        "problem",
        "recursive",
        "reused_anchor",
        "roots",
        "source",
        "versions",
    )

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self.roots: list[Node] = []
        self.problem: Problem | None = None
        self.versions: list[tuple[int, int] | None] = []
        self.bounds: list[tuple[int, int]] = []
        self.aliases: list[Node] = []
        self.reused_anchor: Node | None = None
        self.recursive: Node | None = None
        self._places: dict[int, dict[str, list[int]]] = {}
        self._breaks: list[int] | None = None
        self._uses: dict[int, int] | None = None

    @property
    def uses(self) -> Mapping[int, int]:
        """The number of aliases of each node, by the node's id in memory."""
        if self._uses is None:
            self._uses = {}
            for alias in self.aliases:
                self._uses[id(alias.target)] = self._uses.get(id(alias.target), 0) + 1
        return self._uses

    @property
    def breaks(self) -> list[int]:
        """The offsets of all line-break characters, in order."""
        if self._breaks is None:
            self._breaks = [match.start() for match in _BREAK.finditer(self.source.text)]
        return self._breaks

    def places(self, mapping: Node, name: str) -> Sequence[int]:
        """Return the indices of a mapping's entries with one key name, in text order."""
        known = self._places.get(id(mapping))
        if known is None:
            known = self._places[id(mapping)] = {}
            for index, (key, _) in enumerate(mapping.items):
                known.setdefault(key_text(key, self.source), []).append(index)
        return known.get(name, ())

    def find(self, path: KeyPath, document: int = 0) -> tuple[Node | None, Node] | None:
        """Return the key node and the value node at a key path.

        None where there is no such entry.

        Of equal keys the last one wins, as PyYAML has it. Aliases on the way are followed, and so are merge keys:
        a written entry wins over a merged one. The value is returned as written; `deref` leads from an alias to
        its target. The key node is None for sequence positions and for the empty path (the root).
        """
        if not path:
            return (None, self.roots[document]) if document < len(self.roots) else None
        steps = self.trace(path, document)
        return (steps[-1].key, steps[-1].value) if steps else None

    def trace(self, path: KeyPath, document: int = 0) -> list[Step] | None:
        """Return the steps from the root to the entry at a key path, outermost first.

        None where there is no such entry.
        """
        if document >= len(self.roots):
            return None
        node = self.roots[document]
        steps: list[Step] = []
        for name in path:
            parent = deref(node)
            step = self._step_into(parent, name)
            if step is None:
                return None
            steps.append(step)
            node = step.value
        return steps

    def _step_into(self, parent: Node, name: str | int) -> Step | None:
        if parent.kind is MAPPING and isinstance(name, str) and len(parent.items) > _FEW:
            places = self.places(parent, name)
            if places:
                key, value = parent.items[places[-1]]
                return Step(parent, key, value)
            if not self.places(parent, "<<"):
                return None
        return enter(parent, name, self.source)

    def walk(self) -> Iterator[tuple[KeyPath, Node | None, Node, Node, int]]:
        """Yield every entry with its place.

        That is path, key node (None in sequences), value node, parent and document number.

        Entries come in the order of the text, each once: an alias is yielded, what it stands for is not entered
        again. A merge key is yielded as the key `<<`. A key that is itself a collection appears in the path as
        its source text. Of duplicate keys every one is yielded, under the same path.
        """
        for number, root in enumerate(self.roots):
            stack: list[tuple[KeyPath, Iterator[Any], Node]] = [((), iter(entries(root, self.source)), root)]
            while stack:
                prefix, left, parent = stack[-1]
                for step, key, value in left:
                    path = (*prefix, step)
                    yield path, key, value, parent, number
                    if value.items:
                        stack.append((path, iter(entries(value, self.source)), value))
                        break
                else:
                    stack.pop()

    def data(self, loader: Loader, document: int = 0) -> Any:
        """Return the plain Python data that a loader makes of one YAML document.

        None for a stream without documents.

        Dictionaries keep the loader's key order (merged keys first). Values under tags that are not YAML's own
        become `Tagged`; no tag constructor runs.

        Raises:
            DataError: The loader refuses the document (duplicate keys, an unhashable key, a date that does not
                exist, ...), or the data would contain itself.
        """
        if document >= len(self.roots):
            return None
        return Builder(self.source, loader).build(self.roots[document], self.recursive, self.reused_anchor)


def value_of(node: Node, loader: Loader, document: Document) -> Any:
    """Return the plain Python data that a loader makes of one node.

    `Document.data` does the same for a whole document.

    Raises:
        DataError: The loader refuses it.
    """
    return Builder(document.source, loader).build(node, document.recursive, document.reused_anchor)


def compose(source: SourceFile, *, limits: Limits = DEFAULT_LIMITS) -> Document:
    """Parse a file into nodes.

    A file that is no YAML gives a document whose `problem` says why.

    Never raises on bad input: syntax, undefined aliases and exceeded limits are all told in `problem`.
    """
    document = Document(source)
    text = source.text
    if text.startswith("\ufeff"):
        # libyaml would pass over it without counting it, and every offset would be one off.
        document.problem = problem(source, 0, "a second byte order mark", "syntax", "remove it")
        return document
    if text.count("%TAG") > limits.tag_directives:
        document.problem = limit(
            source, text.find("%TAG"), f"more than {limits.tag_directives} %TAG directives"
        )
        return document
    enabled = gc.isenabled()
    # The nodes form no garbage while they are made; collecting in between costs up to half the time.
    gc.disable()
    try:
        document.problem = _parse_document(document, limits)
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
            return problem(source, offset, message, "syntax", "replace the tab with spaces")
        return syntax(source, error)
    finally:
        parser.dispose()
    return None


def _event_parser(text: str) -> Any:
    """Return a parser of YAML events: libyaml's, or PyYAML's own without the binding."""
    import yaml

    try:
        from yaml.cyaml import CParser  # type: ignore[attr-defined]
    except ImportError:
        return yaml.SafeLoader(text)
    return CParser(text)


_CLOCK_EVERY = 4096
_NESTED_TOO_DEEP = "exceeded maximum nesting depth"


def _parse_document(document: Document, limits: Limits) -> Problem | None:
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
    blank = Node.__new__
    # The open collections and, for each, the flat list of nodes found in it so far.
    open_nodes: list[Node] = []
    children: list[Node] = []
    outer: list[list[Node]] = []
    try:
        get_event = _event_parser(text).get_event
        while True:
            event = get_event()
            kind = event.__class__
            if kind is scalar_event:
                # As `Node(...)` does it, without the call: nine of ten nodes are scalars.
                node = blank(Node)
                node.kind = SCALAR
                node.start = node.value_start = start = event.start_mark.index
                node.end = end = event.end_mark.index
                node.text = event.value
                node.style = style = event.style or ""
                node.flow = False
                node.items = ()
                node.tag = node.anchor = node.target = None
                if end == start and len(children) & 1 and open_nodes[-1].kind is MAPPING:
                    _place_empty_value(text, node, children[-1])
                elif style and style in "|>":
                    node.end = _block_scalar_end(text, node)
            elif kind is mapping_end:
                node = open_nodes.pop()
                each = iter(children)
                node.items = list(zip(each, each, strict=True))
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
                    return undefined_alias(source, node.start, node.anchor)
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
                    return limit(source, node.start, f"nested more than {limits.depth} levels deep")
            if count > clock:
                clock += _CLOCK_EVERY
                if count > limits.nodes:
                    return limit(source, node.start, f"more than {limits.nodes:,} values")
                if time.monotonic() > deadline:
                    return limit(source, node.start, f"parsing took more than {limits.seconds:g} seconds")
    except yaml.YAMLError as error:
        if isinstance(error, yaml.MarkedYAMLError) and _NESTED_TOO_DEEP in (error.problem or ""):
            # libyaml reads ahead of its events; from 0.2.6 on it stops at 1,000 levels by itself.
            offset = error.problem_mark.index if error.problem_mark is not None else 0
            return limit(source, min(offset, len(text)), f"nested more than {limits.depth} levels deep")
        return syntax(source, error)
    return _check_aliases(document, limits) if document.aliases else None


def _place_empty_value(text: str, node: Node, key: Node) -> None:
    """Move the span of an empty value right behind its colon, or behind its key.

    libyaml's mark is right behind the colon in block mappings, but in flow mappings and for `? key` alone it is at
    the next token.
    """
    if node.start > 0 and text[node.start - 1] == ":":
        return
    gap = re.compile(_SEPARATION).match(text, key.end)
    offset = gap.end() if gap is not None else key.end
    if offset >= node.start or text[offset] != ":":
        offset = key.end - 1
    node.start = node.end = node.value_start = offset + 1


def _block_scalar_end(text: str, node: Node) -> int:
    """Return the end offset of a block scalar, before its last line break.

    Blank lines that the scalar drops do not belong to it.
    """
    end = node.end
    newline = _first_break(text, node.start, end)
    header = text[node.start : newline].rsplit(node.style, 1)[-1].split("#", 1)[0]
    content = node.text.rstrip("\n")
    if "+" not in header and not content:
        return node.start + len(text[node.start : newline].rstrip(" \t"))
    if "+" not in header and not content[-1].isspace():
        while text[end - 1] in BREAKS or text[end - 1] in " \t":
            end -= 1
        return end
    # Blank lines are content, or the last line ends in blanks that are: only the last line break is left out.
    if text.endswith("\r\n", node.start, end):
        return end - 2
    return end - 1 if text[end - 1] in BREAKS else end


def _first_break(text: str, start: int, end: int) -> int:
    for offset in range(start, end):
        if text[offset] in BREAKS:
            return offset
    return end


# Patterns as text: they are built when a tag, an anchor or a `?` key is met, which is in few configs.
_TAG = r"!<[^>]*>|![^\s,\[\]{}]*"
_SEPARATION = r"(?:[ \t\r\n\x85\u2028\u2029]+|(?<=[\s])\#[^\r\n\x85\u2028\u2029]*)+"


def _content_start(text: str, start: int, tag: str | None, anchor: str | None) -> int:
    """Return the offset where a node's content begins, behind its tag and anchor."""
    offset = start
    for _ in range((tag is not None) + (anchor is not None)):
        if anchor is not None and text.startswith("&", offset):
            offset += 1 + len(anchor)
        else:
            found = re.compile(_TAG).match(text, offset)
            if found is None:
                break
            offset = found.end()
        gap = re.compile(_SEPARATION).match(text, offset)
        if gap is None:
            break
        offset = gap.end()
    return offset


def _check_aliases(document: Document, limits: Limits) -> Problem | None:
    """Return a problem where following aliases makes a document too large or too deep.

    An alias within its own target is noted in the document. Anchors stand before their aliases, so one pass in the order of
    the text has every target's figures ready.
    """
    figures: dict[int, tuple[int, int]] = {}
    total = 0
    for root in document.roots:
        # Per open node: the node, its children still to come, its size and height so far.
        stack: list[list[Any]] = [[root, children(root), 1, 1]]
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
                        return limit(document.source, child.start, message)
                    if frame[3] > limits.depth:
                        message = f"aliases nest more than {limits.depth} levels deep"
                        return limit(document.source, child.start, message)
                elif child.items:
                    stack.append([child, children(child), 1, 1])
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
                return limit(document.source, node.start, message)
            if height > limits.depth:
                return limit(
                    document.source, node.start, f"aliases nest more than {limits.depth} levels deep"
                )
    return None


def _template_in_braces(document: Document) -> Problem | None:
    """Return a problem where `{{ name }}` stands for a value, or None.

    To YAML that is a mapping whose key is a mapping, to nobody a config.
    """
    source = document.source
    for _, key, value, _, _ in document.walk():
        for node in (key, value):
            if node is None or node.kind is not MAPPING or not source.text.startswith("{{", node.value_start):
                continue
            inner = node.items[0][0]
            if inner.kind is MAPPING and inner.flow:
                return template(source, node.start)
    for root in document.roots:
        if (
            root.kind is MAPPING
            and source.text.startswith("{{", root.value_start)
            and root.items[0][0].kind is MAPPING
        ):
            return template(source, root.start)
    return None
