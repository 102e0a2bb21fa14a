"""The proof of an edit: what it was meant to do, and nothing else, seen by readers that do not trust one another.

Three readers look at the text before and after: cfgfix's own nodes under the project's loader, PyYAML's
pure-Python parser, composer and constructors (what `yaml.safe_load` runs), and ruamel.yaml under YAML 1.2. Each
gives a tree in which mappings are lists of written entries, so duplicate keys, merge keys and key order are all in
it. The changes are made on the tree of *before*; the result must equal the tree of *after*. Foreign tags are
compared as tags and never constructed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest

from cfgfix.documents.compose import (
    ALIAS,
    MAPPING,
    SCALAR,
    TAG_PREFIX,
    DataError,
    Document,
    Node,
    compose,
    deref,
    is_merge,
    value_of,
)
from cfgfix.documents.resolve import LOADERS, Loader
from cfgfix.edits import Change, DeleteKey, Edit, InsertKey, RenameKey, ReplaceText, SetValue, splice
from cfgfix.errors import CfgfixError
from cfgfix.findings import KeyPath, format_key_path

TYPE_CHECKING = False
if TYPE_CHECKING:  # see `compose`
    from typing import Any


class ProofError(Exception):
    """The result of an edit is not what it was meant to be; nothing may be written.

    Args:
        step: Which part failed: `text`, `parse`, `shared`, `meaning`, `comments` or `loads`.
        message: What was seen, with the reader that saw it.
    """

    def __init__(self, step: str, message: str) -> None:
        super().__init__(message)
        self.step = step
        self.message = message


class ReadError(Exception):
    """A reader cannot read the text; the message names no position, so that two of them can be compared."""


# --- Trees ---------------------------------------------------------------------------------------------------------


class _Slot:
    """One place for a value: an entry of a mapping, an item of a list, or a document.

    Attributes:
        key: The key as the reader constructs it; None outside mappings.
        text: The key as written; None for keys that are no scalars, and outside mappings.
        value: A `_Tree` or a plain Python value.
        origin: The reader's node of the value; an alias has the node it stands for.
    """

    __slots__ = ("key", "origin", "text", "value")

    def __init__(self, key: object, text: str | None, value: object, origin: object) -> None:
        self.key = key
        self.text = text
        self.value = value
        self.origin = origin


class _Tree:
    """A mapping or a list as written.

    Attributes:
        mapping: Whether it is a mapping.
        tag: The foreign tag it stands under, or None.
        slots: Its entries in order.
    """

    __slots__ = ("mapping", "slots", "tag")

    def __init__(self, *, mapping: bool, tag: str | None = None) -> None:
        self.mapping = mapping
        self.tag = tag
        self.slots: list[_Slot] = []


class _Foreign:
    """A scalar under a tag that is not YAML's own."""

    __slots__ = ("tag", "text")

    def __init__(self, tag: str, text: str) -> None:
        self.tag = tag
        self.text = text

    def __repr__(self) -> str:
        return f"{self.tag} {self.text!r}"


class _Merge:
    """The key of a merge."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<<"


_MERGE = _Merge()


def _core_tag(tag: str) -> str | None:
    """The tag of a collection where it says more than the default."""
    return None if tag in (TAG_PREFIX + "map", TAG_PREFIX + "seq", "!", "") else tag


# --- Readers -------------------------------------------------------------------------------------------------------


class _Reader:
    """A way to read a text into one slot per document."""

    def __init__(self, title: str, loader: Loader, read: Callable[[Document], list[_Slot]]) -> None:
        self.title = title
        self.loader = loader
        self.read = read


def _read_nodes(loader: Loader) -> Callable[[Document], list[_Slot]]:
    """Read with cfgfix's own nodes."""

    def read(document: Document) -> list[_Slot]:
        if document.problem is not None:
            raise ReadError(document.problem.message)
        done: dict[int, _Tree] = {}

        def value(node: Node) -> object:
            node = deref(node)
            if node.kind is SCALAR:
                return scalar(node)
            known = done.get(id(node))
            if known is None:
                known = done[id(node)] = _Tree(mapping=node.kind is MAPPING, tag=_core_tag(node.tag or ""))
                if node.kind is MAPPING:
                    for key, item in node.items:
                        name = deref(key)
                        made = _MERGE if is_merge(key) else value(key)
                        text = name.text if name.kind is SCALAR else None
                        known.slots.append(_Slot(made, text, value(item), deref(item)))
                else:
                    known.slots.extend(_Slot(None, None, value(item), deref(item)) for item in node.items)
            return known

        def scalar(node: Node) -> object:
            tag = node.tag
            if tag is not None and tag != "!" and not tag.startswith(TAG_PREFIX):
                return _Foreign(tag, node.text)
            if not node.style and node.text == "=":
                return "="
            try:
                made = value_of(node, loader, bare)
            except DataError as error:
                raise ReadError(error.message) from None
            return _Foreign(str(tag), node.text) if type(made).__name__ == "Tagged" else made

        # Values are asked for one by one: what is wrong with the document as a whole is told by `_loads`.
        bare = Document(document.source)
        return [_Slot(None, None, value(root), root) for root in document.roots]

    return read


def _read_pyyaml(loader: Loader) -> Callable[[Document], list[_Slot]]:
    """Read with PyYAML's pure-Python loader, taught the project's rules where it has any of its own."""

    def read(document: Document) -> list[_Slot]:
        import yaml

        reader = _pyyaml_loader(loader)
        stream = reader(document.source.text)
        slots = []
        try:
            while stream.check_node():
                node = stream.get_node()
                slots.append(_Slot(None, None, stream.construct_document(node), node))
        except yaml.MarkedYAMLError as error:
            raise ReadError(f"{error.context or ''} {error.problem or ''}".strip()) from None
        except (yaml.YAMLError, ValueError, OverflowError, KeyError, IndexError, TypeError) as error:
            raise ReadError(f"{type(error).__name__}: {error}"[:200]) from None
        except RecursionError:
            raise ReadError("nested too deep") from None
        finally:
            stream.dispose()
        return slots

    return read


_pyyaml_loaders: dict[str, Any] = {}


def _pyyaml_loader(loader: Loader) -> Any:
    known = _pyyaml_loaders.get(loader.name)
    if known is not None:
        return known
    import yaml

    from cfgfix.documents.resolve import float_rule_pattern

    class Reader(yaml.SafeLoader):
        """PyYAML's loader with trees for collections."""

    _teach(Reader, yaml.ScalarNode, yaml.MappingNode)
    pattern = float_rule_pattern(loader)
    if pattern is not None:
        Reader.add_implicit_resolver(TAG_PREFIX + "float", pattern, list("-+0123456789."))
    if not loader.timestamps:
        Reader.yaml_implicit_resolvers = {
            first: [(tag, rule) for tag, rule in rules if tag != TAG_PREFIX + "timestamp"]
            for first, rules in Reader.yaml_implicit_resolvers.items()
        }
    _pyyaml_loaders[loader.name] = Reader
    return Reader


def _read_ruamel(document: Document) -> list[_Slot]:
    """Read with ruamel.yaml under YAML 1.2."""
    import warnings

    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    reader = YAML(typ="safe", pure=True)
    reader.Constructor = _ruamel_constructor()
    slots: list[_Slot] = []
    try:
        with warnings.catch_warnings():
            # A reused anchor is worth a warning to ruamel.yaml; the same text before and after is what counts here.
            warnings.simplefilter("ignore")
            for tree in reader.load_all(document.source.text):
                slots.append(_Slot(None, None, tree, tree if isinstance(tree, _Tree) else object()))
    except MarkedYAMLError as error:
        raise ReadError(f"{error.context or ''} {error.problem or ''}".strip()) from None
    except (YAMLError, ValueError, OverflowError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise ReadError(f"{type(error).__name__}: {error}"[:200]) from None
    except RecursionError:
        raise ReadError("nested too deep") from None
    return slots


_ruamel_constructors: list[Any] = []


def _ruamel_constructor() -> Any:
    if not _ruamel_constructors:
        from ruamel.yaml.constructor import SafeConstructor
        from ruamel.yaml.nodes import MappingNode, ScalarNode

        class Constructor(SafeConstructor):
            """ruamel.yaml's constructor with trees for collections."""

        _teach(Constructor, ScalarNode, MappingNode)
        _ruamel_constructors.append(Constructor)
    return _ruamel_constructors[0]


def _teach(constructor: Any, scalar_node: Any, mapping_node: Any) -> None:
    """Have a PyYAML or ruamel.yaml constructor build trees; scalars under YAML's own tags stay its business."""

    def build(loader: Any, node: Any) -> Iterator[object]:
        tree = _Tree(mapping=isinstance(node, mapping_node), tag=_core_tag(str(node.tag)))
        yield tree
        if tree.mapping:
            for key_node, value_node in node.value:
                text = key_node.value if isinstance(key_node, scalar_node) else None
                key = loader.construct_object(key_node, deep=True)
                tree.slots.append(_Slot(key, text, loader.construct_object(value_node), value_node))
        else:
            for item in node.value:
                tree.slots.append(_Slot(None, None, loader.construct_object(item), item))

    def foreign(loader: Any, _suffix: str, node: Any) -> object:
        if isinstance(node, scalar_node):
            return _Foreign(str(node.tag), node.value)
        return build(loader, node)

    for name in ("map", "seq", "omap", "pairs", "set"):
        constructor.add_constructor(TAG_PREFIX + name, build)
    constructor.add_constructor(TAG_PREFIX + "merge", lambda _loader, _node: _MERGE)
    constructor.add_constructor(TAG_PREFIX + "value", lambda _loader, _node: "=")
    constructor.add_multi_constructor("", foreign)


# --- What a change means -------------------------------------------------------------------------------------------


class _Intent:
    """The changes, made on one reader's tree.

    Every place is looked up before anything changes, so all paths are those of the tree as read.
    """

    def __init__(self, slots: list[_Slot], changes: Sequence[Change], *, shared: bool) -> None:
        self.slots = slots
        self.shared = shared
        self.counts: dict[int, int] = {}
        self.count_references()
        self.actions: list[Callable[[], None]] = []
        self.added: set[int] = set()
        for change in changes:
            if isinstance(change, SetValue):
                self.set_value(change)
            elif isinstance(change, InsertKey):
                self.insert(change)
            elif isinstance(change, DeleteKey):
                self.delete(change)
            elif isinstance(change, RenameKey):
                self.rename(change)

    def apply(self) -> list[_Slot]:
        for action in self.actions:
            action()
        return self.slots

    def count_references(self) -> None:
        """Count from how many places each collection is reached: more than one means an alias."""
        waiting = list(self.slots)
        while waiting:
            tree = waiting.pop().value
            if isinstance(tree, _Tree):
                seen = self.counts.get(id(tree), 0)
                self.counts[id(tree)] = seen + 1
                if not seen:
                    waiting.extend(tree.slots)

    def root(self, document: int, path: KeyPath) -> _Slot:
        if document >= len(self.slots):
            raise ProofError("meaning", f"there is no document {document} for {format_key_path(path)}")
        return self.slots[document]

    def enter(self, path: KeyPath, document: int) -> tuple[_Tree | None, _Slot]:
        """Return the collection that holds the entry at `path`, and the entry."""
        slot = self.root(document, path)
        parent: _Tree | None = None
        for step in path:
            parent = self.require_tree(slot, path)
            found = self.child(parent, step)
            if found is None:
                raise ProofError("meaning", f"no entry {format_key_path(path)} is seen")
            parent, slot = found
        return parent, slot

    def require_tree(self, slot: _Slot, path: KeyPath) -> _Tree:
        tree = slot.value
        if not isinstance(tree, _Tree):
            raise ProofError("meaning", f"no collection is seen on the way to {format_key_path(path)}")
        if self.counts.get(id(tree), 0) > 1 and not self.shared:
            raise ProofError(
                "shared", f"{format_key_path(path)} belongs to a value that other places use too"
            )
        return tree

    def child(self, tree: _Tree, step: str | int) -> tuple[_Tree, _Slot] | None:
        if not tree.mapping:
            if isinstance(step, int) and 0 <= step < len(tree.slots):
                return tree, tree.slots[step]
            return None
        for slot in reversed(tree.slots):
            if slot.text == step:
                return tree, slot
        if not self.shared:
            return None
        for slot in reversed(tree.slots):
            if slot.key is _MERGE and isinstance(slot.value, _Tree):
                merged = [slot.value] if slot.value.mapping else [item.value for item in slot.value.slots]
                for other in merged:
                    if isinstance(other, _Tree) and other.mapping and other is not tree:
                        found = self.child(other, step)
                        if found is not None:
                            return found
        return None

    def set_value(self, change: SetValue) -> None:
        _, slot = self.enter(change.path, change.document)
        targets = [slot]
        if self.shared:
            targets = [other for other in self.every_slot() if other.origin is slot.origin]

        def act() -> None:
            for target in targets:
                target.value = change.value

        self.actions.append(act)

    def every_slot(self) -> Iterator[_Slot]:
        seen: set[int] = set()
        waiting = list(self.slots)
        while waiting:
            slot = waiting.pop()
            yield slot
            if isinstance(slot.value, _Tree) and id(slot.value) not in seen:
                seen.add(id(slot.value))
                waiting.extend(slot.value.slots)

    def insert(self, change: InsertKey) -> None:
        if not change.path and (not self.slots or (len(self.slots) == 1 and self.slots[0].value is None)):
            # A file without content; ruamel.yaml sees one empty document in it, PyYAML none.
            if not self.slots:
                self.slots.append(_Slot(None, None, None, None))
            slot = self.slots[0]
        else:
            slot = self.enter(change.path, change.document)[1]
        entry = _Slot(change.key, change.key, _as_tree(change.value), object())
        after: _Slot | None = None
        if slot.value is not None:
            owner = self.require_tree(slot, change.path)
            if change.after is not None:
                found = self.child(owner, change.after)
                if found is None:
                    raise ProofError("meaning", f"no key {change.after} is seen")
                after = found[1]

        def act() -> None:
            if slot.value is None:
                slot.value = _Tree(mapping=True)
            tree = slot.value
            assert isinstance(tree, _Tree)
            if change.after is None:
                tree.slots.append(entry)
                return
            index = next(place for place, other in enumerate(tree.slots) if other is after) + 1
            # Several keys after the same one keep their order.
            while index < len(tree.slots) and id(tree.slots[index]) in self.added:
                index += 1
            tree.slots.insert(index, entry)

        self.added.add(id(entry))
        self.actions.append(act)

    def delete(self, change: DeleteKey) -> None:
        parent, slot = self.enter(change.path, change.document)
        assert parent is not None
        if change.occurrence is not None and parent.mapping:
            same = [other for other in parent.slots if other.text == slot.text]
            if change.occurrence >= len(same):
                raise ProofError("meaning", f"{format_key_path(change.path)} is seen {len(same)} times")
            slot = same[change.occurrence]

        def act() -> None:
            parent.slots = [other for other in parent.slots if other is not slot]

        self.actions.append(act)

    def rename(self, change: RenameKey) -> None:
        _, slot = self.enter(change.path, change.document)

        def act() -> None:
            slot.key = slot.text = change.new

        self.actions.append(act)


def _as_tree(value: object) -> object:
    if isinstance(value, dict):
        tree = _Tree(mapping=True)
        tree.slots = [_Slot(key, None, _as_tree(item), object()) for key, item in value.items()]
        return tree
    if isinstance(value, list):
        tree = _Tree(mapping=False)
        tree.slots = [_Slot(None, None, _as_tree(item), object()) for item in value]
        return tree
    return value


# --- Comparing -----------------------------------------------------------------------------------------------------


def _difference(first: list[_Slot], second: list[_Slot]) -> str | None:
    """Return where two trees differ, in words, or None. Shared and circular parts are compared once."""
    if len(first) != len(second):
        return f"{len(second)} documents instead of {len(first)}"
    waiting: list[tuple[KeyPath, object, object]] = [
        ((), before.value, after.value) for before, after in zip(first, second, strict=True)
    ]
    seen: set[tuple[int, int]] = set()
    while waiting:
        path, before, after = waiting.pop()
        if isinstance(before, _Tree) and isinstance(after, _Tree):
            if (id(before), id(after)) in seen:
                continue
            seen.add((id(before), id(after)))
            shown = format_key_path(path) or "the document"
            if before.mapping != after.mapping or before.tag != after.tag:
                return f"{shown} is another kind of collection"
            for index, (one, other) in enumerate(zip_longest(before.slots, after.slots)):
                if one is None or other is None:
                    return f"{shown} has {len(after.slots)} entries instead of {len(before.slots)}"
                if before.mapping:
                    waiting.append(((*path, "?"), one.key, other.key))
                    if not isinstance(one.key, _Tree) and not _same_scalar(one.key, other.key):
                        return f"{shown} has the key {other.key!r} where {one.key!r} is meant"
                step: str | int = (
                    str(one.text if one.text is not None else one.key) if before.mapping else index
                )
                waiting.append(((*path, step), one.value, other.value))
        elif isinstance(before, _Tree) or isinstance(after, _Tree) or not _same_scalar(before, after):
            return f"{format_key_path(path) or 'the document'} is {_shown(after)} where {_shown(before)} is meant"
    return None


def _same_scalar(first: object, second: object) -> bool:
    # The repr tells -0.0 from 0.0 and finds nan equal to nan; ruamel.yaml's dates have a type of their own.
    return type(first) is type(second) and repr(first) == repr(second)


def _shown(value: object) -> str:
    if isinstance(value, _Tree):
        return "a mapping" if value.mapping else "a list"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _flattened(slots: list[_Slot]) -> list[_Slot]:
    """The trees with merge keys resolved and only the entries in force: what a program gets, written order aside.

    Used where a change replaces bare text, which may say the same in other words.
    """
    done: dict[int, _Tree] = {}

    def value(item: object) -> object:
        if not isinstance(item, _Tree):
            return item
        known = done.get(id(item))
        if known is None:
            known = done[id(item)] = _Tree(mapping=item.mapping, tag=item.tag)
            if item.mapping:
                known.slots = [
                    _Slot(slot.key, slot.text, value(slot.value), None) for slot in entries(item, 0)
                ]
            else:
                known.slots = [_Slot(None, None, value(slot.value), None) for slot in item.slots]
        return known

    def entries(tree: _Tree, depth: int) -> list[_Slot]:
        if depth > 100:
            raise ReadError("merge keys nested too deep")
        merged: list[_Slot] = []
        own: list[_Slot] = []
        for slot in tree.slots:
            if slot.key is not _MERGE:
                own.append(slot)
            elif isinstance(slot.value, _Tree):
                parts = (
                    [slot.value]
                    if slot.value.mapping
                    else [item.value for item in reversed(slot.value.slots)]
                )
                for part in parts:
                    if isinstance(part, _Tree) and part.mapping and part is not tree:
                        merged.extend(entries(part, depth + 1))
        result: dict[str, _Slot] = {}
        for slot in (*merged, *own):
            name = f"{type(slot.key).__name__}:{id(slot.key) if isinstance(slot.key, _Tree) else slot.key!r}"
            place = result.get(name)
            result[name] = slot if place is None else _Slot(place.key, place.text, slot.value, None)
        return list(result.values())

    return [_Slot(None, None, value(slot.value), None) for slot in slots]


# --- Comments ------------------------------------------------------------------------------------------------------

_BREAKS = "\n\r\x85\u2028\u2029"


def comments(document: Document) -> list[tuple[int, str]]:
    """Return every comment of a parsed document as (offset, text), in the order of the text."""
    text = document.source.text
    found: list[tuple[int, str]] = []
    position = 0
    for start, end in _scalar_spans(document):
        _scan_gap(text, position, start, found)
        position = max(position, end)
    _scan_gap(text, position, len(text), found)
    return found


def _scalar_spans(document: Document) -> list[tuple[int, int]]:
    """The spans of all scalars and aliases; of a block scalar, those of its content without its first line."""
    spans: list[tuple[int, int]] = []
    waiting = list(document.roots)
    while waiting:
        node = waiting.pop()
        if node.kind is SCALAR and node.style in ("|", ">"):
            start = node.value_start
            while start < node.end and document.source.text[start] not in _BREAKS:
                start += 1
            spans.append((start, node.end))
        elif node.kind is SCALAR or node.kind is ALIAS:
            spans.append((node.start, node.end))
        elif node.kind is MAPPING:
            waiting.extend(child for pair in node.items for child in pair)
        else:
            waiting.extend(node.items)
    spans.sort()
    return spans


def _scan_gap(text: str, start: int, end: int, found: list[tuple[int, str]]) -> None:
    offset = text.find("#", start, end)
    while offset >= 0:
        before = text[offset - 1] if offset else "\n"
        if before in " \t,[]{}" or before in _BREAKS:
            stop = offset
            while stop < len(text) and text[stop] not in _BREAKS:
                stop += 1
            found.append((offset, text[offset:stop].rstrip(" \t")))
            offset = stop
        else:
            offset += 1
        offset = text.find("#", offset, end)


def _check_comments(
    before: Document, after: Document, changes: Sequence[Change], edits: Sequence[Edit]
) -> None:
    """Comments stay, each with its text and in order, but for those a deletion or a replacement of text names."""
    if before.problem is not None:
        return
    named = list(_named_spans(before, changes))
    kept = []
    for offset, comment in comments(before):
        is_named = any(start <= offset < end for start, end in named)
        if not is_named or not any(edit.start <= offset < edit.end for edit in edits):
            kept.append(comment)
    now = comments(after)
    if any(isinstance(change, ReplaceText) for change in changes):
        written = list(_written_spans(changes, edits))
        seen = [
            comment for offset, comment in now if not any(start <= offset < end for start, end in written)
        ]
    else:
        seen = [comment for _, comment in now]
    if kept != seen:
        lost = [comment for comment in kept if comment not in seen]
        detail = f"the comment {lost[0]!r} would be lost" if lost else "the comments would change"
        raise ProofError("comments", detail)


def _named_spans(before: Document, changes: Sequence[Change]) -> Iterator[tuple[int, int]]:
    text = before.source.text
    for change in changes:
        if isinstance(change, ReplaceText):
            yield change.start, change.end
        elif isinstance(change, DeleteKey):
            steps = before.trace(change.path, change.document)
            if not steps:
                continue
            parent = steps[-1].parent
            entries = [steps[-1].value] if steps[-1].key is None else []
            spans = [(entry.start, entry.end) for entry in entries]
            if steps[-1].key is not None:
                name = deref(steps[-1].key).text
                spans = [
                    (key.start, max(key.end, value.end))
                    for key, value in parent.items
                    if deref(key).kind is SCALAR and deref(key).text == name
                ]
            for start, end in spans:
                stop = end
                while stop < len(text) and text[stop] not in _BREAKS:
                    stop += 1
                yield start, stop


def _written_spans(changes: Sequence[Change], edits: Sequence[Edit]) -> Iterator[tuple[int, int]]:
    """Where, in the text after, the replacements of bare text stand."""
    replaced = {
        (change.start, change.end, change.new) for change in changes if isinstance(change, ReplaceText)
    }
    shift = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        start = edit.start + shift
        if (edit.start, edit.end, edit.new) in replaced:
            yield start, start + len(edit.new)
        shift += len(edit.new) - (edit.end - edit.start)


# --- The proof -----------------------------------------------------------------------------------------------------


def prove(
    before: Document,
    after_text: str,
    changes: Sequence[Change],
    edits: Sequence[Edit],
    loader: Loader,
    *,
    shared: bool = False,
) -> Document:
    """Return the document after an edit, once it is shown to be what `changes` mean and nothing else.

    Args:
        before: The document the edit was planned on.
        after_text: The text that would be written.
        changes: What the edit means; all paths are those of `before`.
        edits: The edits that made `after_text` of the text of `before`.
        loader: The project's loader.
        shared: Whether values that other places share may change, there too.

    Raises:
        ProofError: The text is not that of the edits; it does not parse; a reader sees something else than the
            changes mean, loads no longer what it loaded before, or a comment is lost.
    """
    try:
        expected = splice(before.source.text, edits)
        after = compose(before.source.with_text(after_text))
    except (ValueError, CfgfixError) as error:
        raise ProofError("text", str(error)) from None
    if expected != after_text:
        raise ProofError("text", "the text differs outside the edits")
    if after.problem is not None:
        raise ProofError(
            "parse", f"the result would not parse: {after.problem.message} (line {after.problem.line})"
        )
    _check_meaning(before, after, changes, loader, shared=shared)
    _check_loads(before, after, loader)
    _check_comments(before, after, changes, edits)
    return after


def _readers(loader: Loader) -> tuple[_Reader, ...]:
    eleven = loader if loader.yaml_version == "1.1" else LOADERS["pyyaml"]
    return (
        _Reader(loader.title, loader, _read_nodes(loader)),
        _Reader("PyYAML", eleven, _read_pyyaml(eleven)),
        _Reader("ruamel.yaml", LOADERS["ruamel"], _read_ruamel),
    )


def _check_meaning(
    before: Document, after: Document, changes: Sequence[Change], loader: Loader, *, shared: bool
) -> None:
    bare = any(isinstance(change, ReplaceText) for change in changes)
    compared = 0
    blind: list[str] = []
    for reader in _readers(loader):
        refused: ReadError | None = None
        slots: list[_Slot] = []
        try:
            slots = reader.read(before)
        except ReadError as error:
            refused = error
        try:
            result = reader.read(after)
        except ReadError as error:
            if refused is not None and str(refused) == str(error):
                # It could not read the file for a reason the change has nothing to do with, and still cannot.
                blind.append(reader.title)
                continue
            raise ProofError("parse", f"{reader.title} could not read the result: {error}") from None
        if refused is not None:
            # The fault that was repaired: now it reads the file, and there is nothing to compare with.
            continue
        intended = _Intent(slots, changes, shared=shared).apply()
        if bare:
            intended, result = _flattened(intended), _flattened(result)
        difference = _difference(intended, _without_empty(result, intended))
        if difference is not None:
            raise ProofError("meaning", f"{reader.title} would see another change: {difference}")
        compared += reader.title != loader.title
    if not compared and before.problem is None:
        titles = " nor ".join(blind)
        raise ProofError("parse", f"neither {titles} can read the file, so a change to it cannot be proven")


def _without_empty(result: list[_Slot], intended: list[_Slot]) -> list[_Slot]:
    """ruamel.yaml sees one empty document in a file of comments; PyYAML sees none."""
    if not intended and len(result) == 1 and result[0].value is None:
        return []
    return result


def _check_loads(before: Document, after: Document, loader: Loader) -> None:
    """What loaded before loads still, duplicate keys and all that a tree allows included."""
    for reader in {loader.name: loader, "pyyaml": LOADERS["pyyaml"], "ruamel": LOADERS["ruamel"]}.values():
        refusal = _refusal(after, reader)
        # A loader names one fault at a time: behind a repaired duplicate key may stand the next one.
        if refusal is not None and before.problem is None and _refusal(before, reader) is None:
            raise ProofError("loads", f"{reader.title} would no longer load the file: {refusal}")


def _refusal(document: Document, loader: Loader) -> str | None:
    """Why a loader refuses a document of a file, or None."""
    for number in range(len(document.roots)):
        try:
            document.data(loader, number)
        except DataError as error:
            return error.message
    return None
