"""Random YAML documents and random changes, and what a change must give on plain data."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

from real_loaders import FAILS, REAL_SCALARS, load_pyyaml

from cfgfix.config.document.compose import MAPPING, SCALAR, Document, Node, deref, is_merge
from cfgfix.core.edits import Change, DeleteKey, InsertKey, RenameKey, ReplaceText, SetValue

WORDS = [
    "lr",
    "batch_size",
    "a b",
    "x.y",
    "ключ",
    "n",
    "on",
    "1",
    "0x1",
    "'q'",
    '"d"',
    "~",
    "<<x",
    "\U0001f600k",
]
SCALARS = [
    "1", "1e-4", "1.0e-4", "0.5", "true", "no", "null", "~", "text", "two words", "'single # q'", '"dou\\tble"', "2001-01-01",
    "010", "1:30", "!!float 5e-4", "!!str 5", "!x y", "a#b", "http://x/y", "-", "значение", "'it''s'", "'x\u2028y'", "",
]  # fmt: skip
COMMENTS = ["# c", "#", "# ключ: 1", "# a\tb", "# {x: 1} 'q"]
VALUES: list[Any] = [
    0,
    -3,
    1e-4,
    2.5,
    True,
    False,
    None,
    "text",
    "on",
    "1e-4",
    "a: b",
    "",
    "it's",
    "x\ny",
    "ü",
    "- a",
]
NESTED: list[Any] = [[], {}, [1, "x, y"], {"a": {"b": [None]}}]
NEW_KEYS = ["new_key", "on", "a b", "1", "ключ2", "x:y", "it's"]


class Maker:
    """Writes one random document; every choice comes from `rng`."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.newline = rng.choice(["\n"] * 6 + ["\r\n", "\r\n", "\r", "mixed"])
        self.anchors: list[tuple[str, str]] = []
        self.count = 0

    def text(self) -> str:
        rng = self.rng
        parts = [self.document(number) for number in range(rng.choice([1] * 8 + [2, 3]))]
        lines: list[str] = []
        for number, part in enumerate(parts):
            if number or rng.random() < 0.15:
                lines.append("---" + rng.choice(["", " # mark", " "]))
            lines += part
            if rng.random() < 0.05:
                lines.append("...")
        if rng.random() < 0.3:
            lines.insert(0, rng.choice(COMMENTS))
        if rng.random() < 0.3:
            lines.append(rng.choice([*COMMENTS, "", "  "]))
        text = ""
        for line in lines:
            text += line + (rng.choice(["\n", "\r\n"]) if self.newline == "mixed" else self.newline)
        if rng.random() < 0.25:
            text = text.rstrip("\r\n")
        return text

    def document(self, _number: int) -> list[str]:
        self.anchors = []
        kind = self.rng.random()
        if kind < 0.75:
            return self.block_mapping(0, 3)
        if kind < 0.9:
            return self.block_sequence(0, 3)
        return [self.flow(2) + self.trailing()]

    def trailing(self) -> str:
        return self.rng.choice(
            [""] * 6 + [" ", "  " + self.rng.choice(COMMENTS), " " + self.rng.choice(COMMENTS)]
        )

    def filler(self, indent: int) -> list[str]:
        rng = self.rng
        lines = []
        while rng.random() < 0.12:
            lines.append(
                rng.choice(
                    [
                        "",
                        " " * rng.randrange(4),
                        " " * rng.choice([0, indent, indent + 2]) + rng.choice(COMMENTS),
                    ]
                )
            )
        return lines

    def anchor(self, kind: str) -> str:
        if self.rng.random() < 0.12:
            name = f"n{len(self.anchors)}_{self.rng.randrange(1000)}"
            self.anchors.append((name, kind))
            return f"&{name} "
        return ""

    def key(self, used: set[str]) -> str:
        rng = self.rng
        for _ in range(20):
            key = rng.choice(WORDS)
            if rng.random() < 0.5:
                key = f"k{rng.randrange(8)}"
            if key not in used or rng.random() < 0.03:
                used.add(key)
                return key
        self.count += 1
        return f"u{self.count}"

    def scalar(self) -> str:
        return self.rng.choice(SCALARS)

    def flow(self, depth: int) -> str:
        rng = self.rng
        if depth == 0 or rng.random() < 0.5:
            scalar = self.scalar()
            return "''" if scalar in ("", "-") else scalar
        if rng.random() < 0.5:
            used: set[str] = set()
            entries = []
            for _ in range(rng.randrange(4)):
                key = self.key(used)
                entries.append(f"{key}: {self.flow(depth - 1)}" if rng.random() < 0.9 else key)
            body = self.parted(entries)
            return "{" + body + "}"
        return "[" + self.parted([self.flow(depth - 1) for _ in range(rng.randrange(4))]) + "]"

    def parted(self, entries: list[str]) -> str:
        rng = self.rng
        comma = rng.choice([", ", ", ", ",  ", " , "])
        tail = rng.choice(["", "", "", ",", " "]) if entries else ""
        return comma.join(entries) + tail

    def flow_lines(self, indent: int) -> list[str]:
        """A flow mapping or list over several lines, its first line without indentation."""
        rng = self.rng
        pad = " " * (indent + 2)
        used: set[str] = set()
        mapping = rng.random() < 0.6
        entries = [
            f"{self.key(used)}: {self.flow(1)}" if mapping else self.flow(1)
            for _ in range(rng.randrange(1, 4))
        ]
        lines = []
        for number, entry in enumerate(entries):
            comma = "," if number < len(entries) - 1 or rng.random() < 0.3 else ""
            lines.append(pad + entry + comma + rng.choice(["", "", "  # c", " "]))
        opening, closing = ("{", "}") if mapping else ("[", "]")
        if rng.random() < 0.2:
            return [opening + lines[0].strip(" ").split("  #")[0], *lines[1:], pad + closing]
        return [opening, *lines, " " * (indent + 1) + closing]

    def block_text(self, indent: int) -> list[str]:
        rng = self.rng
        pad = " " * (indent + rng.choice([1, 2, 4]))
        lines = [pad + rng.choice(["x", "y # no comment", "k: v", "- z"]) for _ in range(rng.randrange(1, 3))]
        header = rng.choice(["|", ">"]) + rng.choice(["", "", "-", "+"]) + rng.choice(["", "", " # c"])
        return [header, *lines, *[""] * rng.choice([0, 0, 0, 1, 2])]

    def block_mapping(self, indent: int, depth: int) -> list[str]:
        rng = self.rng
        pad = " " * indent
        used: set[str] = set()
        lines: list[str] = []
        for _ in range(rng.randrange(1, 5)):
            if lines:
                lines += self.filler(indent)
            mappings = [name for name, kind in self.anchors if kind == "mapping"]
            if mappings and rng.random() < 0.15 and "<<" not in used:
                used.add("<<")
                lines.append(f"{pad}<<: *{rng.choice(mappings)}{self.trailing()}")
                continue
            key = self.key(used)
            if rng.random() < 0.03:
                lines += [f"{pad}? {key}", f"{pad}: {self.flow(1)}"]
                continue
            lines += self.entry(f"{pad}{key}:", indent, depth)
        return lines

    def entry(self, head: str, indent: int, depth: int) -> list[str]:
        rng = self.rng
        kind = rng.random()
        if self.anchors and kind < 0.08:
            return [f"{head} *{rng.choice(self.anchors)[0]}{self.trailing()}"]
        if depth and kind < 0.3:
            step = rng.choice([2, 2, 2, 4, 1])
            body = self.block_mapping(indent + step, depth - 1)
            return [
                f"{head} {self.anchor('mapping')}".rstrip() + self.trailing(),
                *self.filler(indent + step),
                *body,
            ]
        if depth and kind < 0.42:
            step = rng.choice([0, 2, 2]) if head.endswith(":") else 2
            body = self.block_sequence(indent + step, depth - 1)
            return [head + self.trailing(), *body]
        if kind < 0.5:
            first, *rest = self.flow_lines(indent)
            return [f"{head} {first}", *rest[:-1], rest[-1] + self.trailing()]
        if kind < 0.58:
            first, *rest = self.block_text(indent)
            return [f"{head} {first}", *rest]
        if kind < 0.63:
            return [f"{head} one", " " * (indent + 2) + "two" + self.trailing()]
        if kind < 0.75:
            return [f"{head} {self.flow(2)}{self.trailing()}"]
        return [f"{head} {self.anchor('scalar')}{self.scalar()}".rstrip() + self.trailing()]

    def block_sequence(self, indent: int, depth: int) -> list[str]:
        rng = self.rng
        pad = " " * indent
        lines: list[str] = []
        for _ in range(rng.randrange(1, 4)):
            if lines:
                lines += self.filler(indent)
            kind = rng.random()
            if depth and kind < 0.35:
                first, *rest = self.block_mapping(indent + 2, depth - 1)
                lines += [f"{pad}- {first[indent + 2 :]}", *rest]
            elif depth and kind < 0.45:
                first, *rest = self.block_sequence(indent + 2, depth - 1)
                lines += [f"{pad}- {first[indent + 2 :]}", *rest]
            else:
                lines += self.entry(f"{pad}-", indent, 0)
        return lines


def make_changes(document: Document, rng: random.Random, most: int = 2) -> list[Change]:
    """Return one or more random changes for a document, sensible or not."""
    entries = list(document.walk())
    changes: list[Change] = []
    for _ in range(rng.randrange(1, most + 1)):
        number = rng.randrange(len(document.roots)) if document.roots else 0
        path: tuple[str | int, ...] = ()
        if entries:
            path, _, _, _, number = rng.choice(entries)
        kind = rng.random()
        if kind < 0.35:
            changes.append(SetValue(path, rng.choice(VALUES), None, number))
        elif kind < 0.6:
            occurrence = rng.choice([None, None, None, 0, 1])
            changes.append(DeleteKey(path, occurrence, number))
        elif kind < 0.75:
            changes.append(RenameKey(path, rng.choice(NEW_KEYS), rng.random() < 0.3, number))
        else:
            homes = [
                (where, node)
                for where, _, node, _, place in entries
                if place == number and (node.kind is MAPPING or (node.kind is SCALAR and not node.text))
            ]
            if number < len(document.roots):
                homes.append(((), document.roots[number]))
            where, home = rng.choice(homes) if homes else ((), None)
            after = None
            if home is not None and home.kind is MAPPING and home.items and rng.random() < 0.5:
                after = deref(rng.choice(home.items)[0]).text
            changes.append(InsertKey(where, rng.choice(NEW_KEYS), rng.choice(VALUES + NESTED), after, number))
    return changes


class NoOpinion(Exception):  # noqa: N818 - no fault
    """This simple model cannot say what the change gives."""


GONE = object()


def expected_data(document: Document, changes: list[Change]) -> list[Any]:
    """What `yaml.safe_load_all` must give after the changes, worked out on its plain data alone.

    Raises:
        NoOpinion: Plain data does not tell (merge keys, duplicate keys, tags of one's own on the way).
    """
    try:
        data = copy.deepcopy(load_pyyaml(document.source.text))
    except Exception:  # noqa: BLE001 - whatever it raises, there is no plain data
        raise NoOpinion from None
    if not data:
        data = [None]
    added: list[tuple[int, str]] = []
    actions = [action_of(data, document, change, added) for change in changes]
    # Looked up before any is done, and done in the order in which none is in the way of another.
    for _, action in sorted(actions, key=lambda item: item[0]):
        action()
    remove_gone(data)
    return data


def remove_gone(value: Any) -> None:
    waiting, seen = [value], set()
    while waiting:
        item = waiting.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, list):
            item[:] = [other for other in item if other is not GONE]
            waiting.extend(item)
        elif isinstance(item, dict):
            waiting.extend(item.values())


def action_of(
    data: list[Any], document: Document, change: Change, added: list[tuple[int, str]]
) -> tuple[int, Callable[[], object]]:
    assert not isinstance(change, ReplaceText)
    steps = document.trace(change.path, change.document) or []
    parent: Any = data
    slot: Any = change.document
    for step in steps:
        if step.parent.kind is MAPPING:
            require_simple(step.parent)
        parent = parent[slot]
        if not isinstance(parent, (dict, list)):
            raise NoOpinion
        slot = place(step.parent, step.key, step.value)
    if isinstance(change, SetValue):
        return 0, lambda: parent.__setitem__(slot, change.value)
    if isinstance(change, DeleteKey):
        if isinstance(parent, dict):
            return 3, lambda: parent.pop(slot)
        return 3, lambda: parent.__setitem__(slot, GONE)
    if isinstance(change, RenameKey):
        return 2, lambda: reorder(
            parent, [(change.new if key == slot else key, value) for key, value in parent.items()]
        )
    home = document.find(change.path, change.document)
    if home is not None and home[1].kind is MAPPING:
        require_simple(home[1])
    after: Any = GONE
    if change.after is not None:
        found = document.find((*change.path, change.after), change.document)
        assert found is not None
        assert found[0] is not None
        after = key_object(deref(found[0]))

    def insert() -> None:
        if parent[slot] is None:
            parent[slot] = {}
        entries = list(parent[slot].items())
        index = len(entries)
        if after is not GONE:
            index = next(number for number, (key, _) in enumerate(entries) if key == after) + 1
            # Keys put in by an earlier change keep their order.
            while index < len(entries) and (id(parent[slot]), entries[index][0]) in added:
                index += 1
        added.append((id(parent[slot]), change.key))
        entries.insert(index, (change.key, change.value))
        reorder(parent[slot], entries)

    return 1, insert


def reorder(mapping: dict[Any, Any], entries: list[tuple[Any, Any]]) -> None:
    mapping.clear()
    mapping.update(entries)


def require_simple(mapping: Node) -> None:
    if any(is_merge(key) for key, _ in mapping.items) or mapping.tag is not None:
        raise NoOpinion
    keys = [key_object(deref(key)) for key, _ in mapping.items]
    # 1, 1.0, 0x1 and true are one key to Python.
    if len(set(keys)) < len(keys):
        raise NoOpinion


def place(parent: Node, key: Node | None, value: Node) -> Any:
    if key is None:
        return next(index for index, item in enumerate(parent.items) if item is value)
    return key_object(deref(key))


def key_object(key: Node) -> Any:
    if key.style:
        return key.text
    if key.tag is not None or key.kind is not SCALAR:
        raise NoOpinion
    value = REAL_SCALARS["pyyaml"](key.text)[1]
    if value is FAILS:
        raise NoOpinion
    return value
