"""What an edit of a YAML text must give, worked out without any of cfgfix's own code.

Up to three readers see the text before and after: PyYAML's pure-Python parser (YAML 1.1), ruamel.yaml's (1.2) and,
where Node.js is there, the npm package `yaml` (1.2). The changes are made on the tree that a reader gives of the text
before, and the outcome is compared with its tree of the text after: kinds, tags, texts, anchors, aliases, order.
Besides, comments stay but for those of a deleted entry, lines that the change is not about stay as they are, and what
`yaml.safe_load` could load it still loads.
"""

from __future__ import annotations

import copy
import json
import math
import os
import re
import shutil
import subprocess
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml
from ruamel.yaml import YAML
from ruamel.yaml import events as ruamel_events
from ruamel.yaml import nodes as ruamel_nodes

BREAK = re.compile("\r\n|[\r\n\x85\u2028\u2029]")


class Unreadable(Exception):  # noqa: N818 - an answer, not a fault
    """A reader does not take the text."""


class NoOpinion(Exception):  # noqa: N818 - an answer, not a fault
    """The change cannot be made on a reader's tree, so it says nothing about the outcome."""


class Node:
    """One node of a reader's tree. `items` are nodes, or lists of key and value."""

    __slots__ = ("anchor", "end", "items", "kind", "made", "start", "tag", "text")

    def __init__(self, kind: str, tag: str = "", text: str = "", anchor: str | None = None) -> None:
        self.kind = kind
        self.tag = tag
        self.text = text
        self.anchor = anchor
        self.items: list[Any] = []
        self.start = self.end = 0
        self.made: list[Any] = []
        """For a node that a change makes, and for scalars of npm's reader: the value as the only item."""


def made(value: Any, old: Node | None = None) -> Node:
    """Return the node that stands for a new value; anchor and explicit tag of a scalar stay."""
    node = Node("new")
    node.made = [value]
    if old is not None and old.kind == "s":
        node.anchor = old.anchor
        node.tag = old.tag if old.tag.startswith("explicit ") else ""
    return node


# --- Readers -------------------------------------------------------------------------------------------------------


class Reader:
    """A way to read a text: a tree for each document, and what a scalar of such a tree is worth."""

    name = ""

    def trees(self, text: str) -> list[Node]:
        """Return the documents, or raise `Unreadable`."""
        raise NotImplementedError

    def value(self, node: Node) -> Any:
        """Return the plain value of a scalar node."""
        raise NotImplementedError

    def comments(self, text: str) -> list[str] | None:
        """Return the comments in order, or None where the reader does not tell."""
        raise NotImplementedError


def _grow(events: Iterable[Any], resolve: Callable[[str, str, Any], str], places: bool) -> list[Node]:
    """Make trees of the events of PyYAML or ruamel.yaml, which have the same names."""
    roots: list[Node] = []
    stack: list[tuple[Node, list[Node]]] = []

    def add(node: Node) -> None:
        if stack:
            stack[-1][1].append(node)
        else:
            roots.append(node)

    for event in events:
        kind = type(event).__name__
        if kind == "ScalarEvent":
            node = Node("s", resolve("s", event.value, event), event.value, event.anchor)
        elif kind == "AliasEvent":
            node = Node("a", "", event.anchor)
        elif kind in ("MappingStartEvent", "SequenceStartEvent"):
            short = "m" if kind[0] == "M" else "q"
            node = Node(short, resolve(short, "", event), "", event.anchor)
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            node, flat = stack.pop()
            if node.kind == "m":
                node.items = [list(pair) for pair in zip(flat[::2], flat[1::2], strict=True)]
            else:
                node.items = flat
            if places:
                last = flat[-1].end if flat else event.end_mark.index
                node.end = event.end_mark.index if event.start_mark.index < event.end_mark.index else last
                node.end = max(node.end, last)
            continue
        else:
            continue
        if places:
            node.start, node.end = event.start_mark.index, event.end_mark.index
        add(node)
        if node.kind in "mq":
            stack.append((node, []))
    return roots


class PyYAML(Reader):
    """PyYAML's pure-Python parser, resolver and constructor."""

    name = "PyYAML"

    def __init__(self) -> None:
        self.tools = yaml.SafeLoader("")

    def trees(self, text: str) -> list[Node]:
        try:
            return _grow(yaml.parse(text, Loader=yaml.SafeLoader), self.resolve, places=True)
        except (yaml.YAMLError, ValueError, RecursionError, IndexError) as error:
            raise Unreadable(str(error).split("\n", 1)[0]) from None

    def resolve(self, kind: str, text: str, event: Any) -> str:
        if event.tag is not None and event.tag != "!":
            return "explicit " + event.tag
        if kind == "s":
            return str(self.tools.resolve(yaml.ScalarNode, text, event.implicit))
        return "" if event.tag is None else "!"

    def value(self, node: Node) -> Any:
        tag = node.tag.removeprefix("explicit ")
        return self.tools.construct_object(yaml.ScalarNode(tag, node.text), deep=True)

    def comments(self, text: str) -> list[str] | None:
        try:
            return [comment for _, comment in placed_comments(text)]
        except (yaml.YAMLError, ValueError):
            return None


def placed_comments(text: str) -> list[tuple[int, str]]:
    """Return offset and text of every comment: what begins with `#` between two of PyYAML's tokens."""
    found: list[tuple[int, str]] = []

    def between(start: int, end: int) -> None:
        for match in re.finditer("#[^\r\n\x85\u2028\u2029]*", text[start:end]):
            found.append((start + match.start(), match.group().rstrip(" \t")))

    position = 0
    for token in yaml.scan(text, Loader=yaml.SafeLoader):
        between(position, token.start_mark.index)
        position = token.end_mark.index
        if isinstance(token, yaml.ScalarToken) and token.style in ("|", ">"):
            stop = BREAK.search(text, token.start_mark.index)
            between(token.start_mark.index, stop.start() if stop else len(text))
            # The token runs on to what follows, over comments that are less indented.
            position = _end_of_block_scalar(text, token)
    between(position, len(text))
    return found


def _end_of_block_scalar(text: str, token: Any) -> int:
    """Where a block scalar ends: before the first line that is indented less than its text."""
    first = BREAK.search(text, token.start_mark.index)
    if first is None:
        return token.end_mark.index
    position, indent = first.end(), None
    header = text[token.start_mark.index : first.start()]
    digit = re.match(r"[|>][-+]?([1-9])", header)
    while position < len(text):
        stop = BREAK.search(text, position)
        line = text[position : stop.start() if stop else len(text)]
        if position >= token.end_mark.index:
            break
        if line.strip(" "):
            width = len(line) - len(line.lstrip(" "))
            if indent is None:
                # With an explicit indentation the parser's own mark has to do.
                indent = width if digit is None else 0
            if width < indent:
                break
        position = stop.end() if stop else len(text)
    return min(position, token.end_mark.index)


class Ruamel(Reader):
    """ruamel.yaml's pure-Python parser, resolver and constructor, under YAML 1.2."""

    name = "ruamel.yaml"

    def __init__(self) -> None:
        self.tools = YAML(typ="safe", pure=True)
        self.constructor, _ = self.tools.get_constructor_parser("")

    def trees(self, text: str) -> list[Node]:
        reader = YAML(typ="safe", pure=True)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return _grow(reader.parse(text), self.resolve, places=False)
        except Exception as error:  # noqa: BLE001 - whatever it raises, it does not take the text
            raise Unreadable(str(error).split("\n", 1)[0]) from None

    def resolve(self, kind: str, text: str, event: Any) -> str:
        tag = None if event.ctag is None else str(event.ctag)
        if tag is not None and tag != "!":
            return "explicit " + tag
        if kind == "s":
            return str(self.tools.resolver.resolve(ruamel_nodes.ScalarNode, text, event.implicit))
        return "" if tag is None else "!"

    def value(self, node: Node) -> Any:
        tag = node.tag.removeprefix("explicit ")
        try:
            return self.constructor.construct_object(ruamel_nodes.ScalarNode(tag, node.text))
        finally:
            self.constructor.recursive_objects.clear()
            self.constructor.constructed_objects.clear()

    def comments(self, text: str) -> list[str] | None:  # noqa: ARG002 - its safe parser drops them
        return None


assert ruamel_events.ScalarEvent.__name__ == "ScalarEvent"


class Npm(Reader):
    """The npm package `yaml`, in a process of its own."""

    name = "npm yaml"

    def __init__(self, folder: str) -> None:
        program = shutil.which("node")
        assert program is not None
        script = str(Path(__file__).with_name("reader.mjs"))
        self.process = subprocess.Popen(
            [program, script, folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self.last: tuple[str, dict[str, Any]] = ("", {})

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(timeout=20)
        self.process.stdout.close()

    def ask(self, text: str) -> dict[str, Any]:
        if self.last[0] != text or not self.last[1]:
            assert self.process.stdin is not None
            assert self.process.stdout is not None
            self.process.stdin.write(json.dumps(text) + "\n")
            self.process.stdin.flush()
            self.last = (text, json.loads(self.process.stdout.readline()))
        return self.last[1]

    def trees(self, text: str) -> list[Node]:
        # It does not take a carriage return by itself for a line break, as YAML 1.2.2, section 5.4 has it.
        if re.search("\r(?!\n)", text):
            raise Unreadable("carriage returns")
        answer = self.ask(text)
        if "error" in answer:
            raise Unreadable(answer["error"])
        return [self.grown(data) for data in answer["trees"]]

    def grown(self, data: dict[str, Any]) -> Node:
        node = Node(data["kind"], data.get("tag") or "", data.get("text") or "", data.get("anchor"))
        if node.kind == "m":
            node.items = [[self.grown(key), self.grown(value)] for key, value in data["items"]]
        elif node.kind == "q":
            node.items = [self.grown(item) for item in data["items"]]
        if node.kind == "s":
            node.made = [data.get("value", "")]
        if node.kind == "s" and " " in node.tag:
            node.tag = "explicit " + node.tag
        return node

    def value(self, node: Node) -> Any:
        kind, text = node.tag.rsplit(" ", 1)[-1], node.made[0]
        if kind == "null":
            return None
        if kind == "bool":
            return text == "true"
        if kind == "int":
            return int(text)
        if kind == "float":
            return float(text.replace("Infinity", "inf"))
        return text

    def comments(self, text: str) -> list[str] | None:
        answer = self.ask(text)
        return None if "error" in answer else [comment.rstrip(" \t") for comment in answer["comments"]]


def npm_folder() -> str | None:
    """Return the folder below which Node.js finds the package `yaml`, or None."""
    named = os.environ.get("CFGFIX_NODE_FOLDER")
    places = [Path(named)] if named else [Path(__file__).resolve().parents[2] / ".node"]
    for place in places:
        if shutil.which("node") and (place / "node_modules" / "yaml" / "package.json").is_file():
            return str(place)
    return None


# --- What a change means -------------------------------------------------------------------------------------------


class Place:
    """An entry found by its path: the collection that holds it, its position there, and the node itself."""

    __slots__ = ("node", "owner", "parent", "position")

    def __init__(self, parent: Any, position: int, node: Node, owner: Node | None) -> None:
        self.parent = parent
        self.position = position
        self.node = node
        self.owner = owner


def anchors_of(root: Node) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for node in walk(root):
        if node.anchor is not None:
            found[node.anchor] = node
    return found


def walk(root: Node) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        for item in node.items:
            waiting.extend(item if isinstance(item, list) else [item])


def key_text(key: Node, anchors: dict[str, Node]) -> str | None:
    if key.kind == "a":
        key = anchors.get(key.text, key)
    if key.kind == "new":
        return str(key.made[0])
    return key.text if key.kind == "s" else None


def same_keys(node: Node, name: str, anchors: dict[str, Node]) -> list[int]:
    return [index for index, (key, _) in enumerate(node.items) if key_text(key, anchors) == name]


def locate(roots: list[Node], path: tuple[str | int, ...], document: int) -> Place:
    """Return the entry at a path; of equal keys the last."""
    if document >= len(roots):
        raise NoOpinion
    place = Place(roots, document, roots[document], None)
    anchors = anchors_of(roots[document])
    for step in path:
        node = place.node
        if node.kind == "m" and isinstance(step, str):
            found = same_keys(node, step, anchors)
            if not found:
                raise NoOpinion
            place = Place(node.items[found[-1]], 1, node.items[found[-1]][1], node)
        elif node.kind == "q" and isinstance(step, int) and step < len(node.items):
            place = Place(node.items, step, node.items[step], node)
        else:
            raise NoOpinion
    return place


def intended(roots: list[Node], changes: Iterable[dict[str, Any]]) -> list[Node]:
    """Return the trees with the changes made; all paths are those of the trees as given."""
    roots = copy.deepcopy(roots)
    actions: list[tuple[int, Callable[[], None]]] = []
    added: set[int] = set()
    for change in changes:
        _prepare(roots, change, actions, added)
    for _, action in sorted(actions, key=lambda item: item[0]):
        action()
    return roots


def _prepare(
    roots: list[Node], change: dict[str, Any], actions: list[tuple[int, Callable[[], None]]], added: set[int]
) -> None:
    path, document, kind = tuple(change["path"]), change["document"], change["kind"]
    if kind == "insert" and not path and not roots:
        roots.append(Node("s", "", ""))
    place = locate(roots, path, document)
    anchors = anchors_of(roots[document])
    owner = place.owner
    if kind == "set":

        def put() -> None:
            place.parent[place.position] = made(change["value"], place.node)

        actions.append((0, put))
    elif kind == "rename":
        key = place.parent[0]

        def name() -> None:
            place.parent[0] = made(change["new"], key)

        actions.append((2, name))
    elif kind == "delete":
        assert owner is not None
        entry = place.node
        if owner.kind == "m":
            equal = same_keys(owner, str(path[-1]), anchors)
            if change["occurrence"] is not None:
                if change["occurrence"] >= len(equal):
                    raise NoOpinion
                entry = owner.items[equal[change["occurrence"]]]
            else:
                entry = owner.items[equal[-1]]

        def drop() -> None:
            owner.items = [item for item in owner.items if item is not entry]

        actions.append((3, drop))
    else:
        home = place.node
        if home.kind != "m" and not (home.kind == "s" and not home.text):
            raise NoOpinion
        after = None
        if change["after"] is not None:
            found = same_keys(home, change["after"], anchors)
            if not found:
                raise NoOpinion
            after = home.items[found[-1]]
        pair = [made(change["key"]), made(change["value"])]
        added.add(id(pair))

        def insert() -> None:
            if home.kind == "s":
                home.kind, home.tag, home.text = "m", "", ""
            index = len(home.items)
            if after is not None:
                index = next(number for number, item in enumerate(home.items) if item is after) + 1
                while index < len(home.items) and id(home.items[index]) in added:
                    index += 1
            home.items.insert(index, pair)

        actions.append((1, insert))


def difference(reader: Reader, wanted: list[Node], seen: list[Node]) -> str | None:
    """Return how a reader's trees differ from the intended ones, or None."""
    if len(wanted) != len(seen):
        # One empty document or none at all is a matter of taste.
        if not wanted and len(seen) == 1 and seen[0].kind == "s" and not seen[0].text:
            return None
        return f"{len(seen)} documents instead of {len(wanted)}"
    waiting: list[tuple[Any, Any]] = list(zip(wanted, seen, strict=True))
    while waiting:
        one, other = waiting.pop()
        if one.kind == "new":
            if one.anchor != other.anchor:
                return f"anchor {other.anchor} instead of {one.anchor}"
            if one.tag and one.tag != other.tag:
                return f"tag {one.tag} became {other.tag}"
            if not _is_value(reader, one.made[0], other):
                return f"the new value {one.made[0]!r} is seen as {other.tag} {other.text[:50]!r}"
            continue
        if (one.kind, one.anchor) != (other.kind, other.anchor):
            return f"{one.kind} {one.text[:40]!r} &{one.anchor} became {other.kind} {other.text[:40]!r} &{other.anchor}"
        if one.tag != other.tag and (one.kind == "s" or one.tag or other.tag):
            return f"tag {one.tag} became {other.tag} on {other.text[:40]!r}"
        if one.text != other.text:
            return f"{one.text[:60]!r} became {other.text[:60]!r}"
        if len(one.items) != len(other.items):
            return f"{len(other.items)} entries instead of {len(one.items)}"
        for first, second in zip(one.items, other.items, strict=True):
            if isinstance(first, list):
                waiting.extend(zip(first, second, strict=True))
            else:
                waiting.append((first, second))
    return None


def _is_value(reader: Reader, value: Any, node: Node) -> bool:
    if isinstance(value, dict):
        return (
            node.kind == "m"
            and len(node.items) == len(value)
            and all(
                _is_value(reader, key, key_node) and _is_value(reader, item, item_node)
                for (key, item), (key_node, item_node) in zip(value.items(), node.items, strict=True)
            )
        )
    if isinstance(value, list):
        return (
            node.kind == "q"
            and len(node.items) == len(value)
            and all(_is_value(reader, item, other) for item, other in zip(value, node.items, strict=True))
        )
    if node.kind != "s":
        return False
    try:
        seen = reader.value(node)
    except Exception:  # noqa: BLE001 - whatever it raises, it is not the value
        return False
    if isinstance(value, float) and math.isnan(value):
        return isinstance(seen, float) and math.isnan(seen)
    return type(seen) is type(value) and bool(seen == value)


# --- The whole judgement -------------------------------------------------------------------------------------------


class _Foreign(yaml.SafeLoader):
    """`yaml.safe_load` that takes any tag."""


_Foreign.add_multi_constructor("", lambda _loader, suffix, _node: suffix)  # type: ignore[no-untyped-call]


def _loads(text: str) -> bool:
    try:
        list(yaml.load_all(text, Loader=_Foreign))
    except Exception:  # noqa: BLE001 - whatever it raises, it does not load
        return False
    return True


class Before:
    """A text before its edits, as every reader sees it; many edits of one text share it."""

    def __init__(self, text: str, readers: Iterable[Reader]) -> None:
        self.text = text
        self.trees: list[tuple[Reader, list[Node]]] = []
        self.comments: list[tuple[Reader, list[str]]] = []
        self.loads = _loads(text)
        for reader in readers:
            try:
                self.trees.append((reader, reader.trees(text)))
            except Unreadable:
                continue
            comments = reader.comments(text)
            if comments is not None:
                self.comments.append((reader, comments))

    @property
    def main(self) -> list[Node] | None:
        """The trees with places, which only PyYAML gives."""
        return next((trees for reader, trees in self.trees if isinstance(reader, PyYAML)), None)


def judge(before: Before, after: str, changes: list[dict[str, Any]]) -> tuple[list[str], int]:
    """Return what is wrong with an edited text, and how many readers had an opinion.

    A complaint begins with its kind: `unreadable`, `meaning`, `loads`, `comments` or `elsewhere`.
    """
    complaints: list[str] = []
    opinions = 0
    for reader, trees in before.trees:
        try:
            wanted = intended(trees, changes)
        except NoOpinion:
            continue
        opinions += 1
        try:
            seen = reader.trees(after)
        except Unreadable as error:
            complaints.append(f"unreadable: {reader.name}: {error}")
            continue
        wrong = difference(reader, wanted, seen)
        if wrong is not None:
            complaints.append(f"meaning: {reader.name}: {wrong}")
    if before.loads and not _loads(after):
        complaints.append("loads: yaml.safe_load no longer takes it")
    if not complaints:
        complaints += _comments(before, after, changes)
        complaints += _elsewhere(before, after, changes)
    return complaints, opinions


def _spans(before: Before, changes: list[dict[str, Any]], *, deleted: bool) -> list[tuple[int, int]] | None:
    """Where the text speaks about the changes: deleted entries, or the collections around all that changes."""
    roots = before.main
    if roots is None:
        return None
    spans: list[tuple[int, int]] = []
    for change in changes:
        path = tuple(change["path"])
        try:
            if deleted:
                if change["kind"] != "delete":
                    continue
                place = locate(roots, path, change["document"])
                nodes: list[Node] = [place.node]
                if place.owner is not None and place.owner.kind == "m":
                    anchors = anchors_of(roots[change["document"]])
                    nodes = [
                        node
                        for index in same_keys(place.owner, str(path[-1]), anchors)
                        for node in place.owner.items[index]
                    ]
            else:
                # Emptying a collection is written on the line of its owner, one level up.
                up = 2 if change["kind"] == "delete" else 0
                here = path[: max(0, len(path) - up)]
                place = locate(roots, here, change["document"])
                nodes = [place.node] if place.owner is None or place.owner.kind != "m" else list(place.parent)
        except NoOpinion:
            return None
        start = min(node.start for node in nodes)
        spans.append((start, max(max(leaf.end for leaf in walk(node)) for node in nodes)))
    return spans


def _comments(before: Before, after: str, changes: list[dict[str, Any]]) -> list[str]:
    spans = _spans(before, changes, deleted=True)
    if spans is None:
        return []
    may_go: list[str] = []
    if spans:
        try:
            placed = placed_comments(before.text)
        except yaml.YAMLError:
            return []
        for start, end in spans:
            stop = BREAK.search(before.text, end)
            limit = stop.start() if stop else len(before.text)
            may_go += [comment for offset, comment in placed if start <= offset < limit]
    complaints = []
    for reader, comments in before.comments:
        now = reader.comments(after)
        if now is None:
            continue
        left = list(may_go)
        if not _kept(comments, now, left):
            complaints.append(f"comments: {reader.name}: {comments} became {now}"[:300])
    return complaints


def _kept(comments: list[str], now: list[str], may_go: list[str]) -> bool:
    """Whether `now` is `comments` without some of `may_go`, in order."""
    position = 0
    for comment in comments:
        if position < len(now) and now[position] == comment:
            position += 1
        elif comment in may_go:
            may_go.remove(comment)
        else:
            return False
    return position == len(now)


def _elsewhere(before: Before, after: str, changes: list[dict[str, Any]]) -> list[str]:
    """Lines before and behind the collections that change are as they were."""
    spans = _spans(before, changes, deleted=False)
    if not spans:
        return []
    lines, now = BREAK.split(before.text), BREAK.split(after)
    first = len(BREAK.findall(before.text, 0, min(start for start, _ in spans)))
    last = len(BREAK.findall(before.text, 0, max(end for _, end in spans)))
    head, tail = lines[:first], lines[last + 1 :]
    if now[: len(head)] != head or (tail and now[-len(tail) :] != tail):
        return ["elsewhere: lines that the change is not about are different"]
    return []


def readers() -> list[Reader]:
    """Return every reader there is on this machine."""
    folder = npm_folder()
    return [PyYAML(), Ruamel(), *([Npm(folder)] if folder else [])]
