"""Changes to edits: what a fix means, as the fewest characters that say it.

Every edit is a span of the user's own text; nothing is dumped, so every other byte stays. Where a change cannot be
made exactly, it is refused with a reason the user sees. All changes of one call speak about the document as it is:
paths and occurrences are looked up before any of them is made.
"""

from __future__ import annotations

import enum
import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import pairwise

from cfgfix.config.document.compose import (
    ALIAS,
    BREAKS,
    MAPPING,
    SCALAR,
    SEQUENCE,
    TAG_PREFIX,
    Document,
    Node,
    Step,
    compose,
    deref,
    has_braces,
    is_merge,
)
from cfgfix.config.loaders.scalars import LOADERS, construct_scalar, resolve
from cfgfix.core.edits import Change, DeleteKey, Edit, InsertKey, RenameKey, ReplaceText, SetValue, splice
from cfgfix.core.findings import KeyPath, format_key_path
from cfgfix.core.records import dataclass, field


class RefusalReason(enum.Enum):
    """Why a change is not made."""

    NOT_PARSED = "the file is not valid YAML"
    NOT_FOUND = "there is no such entry"
    NOT_A_SCALAR = "the value is a mapping or a list"
    NOT_A_MAPPING = "the value is not a mapping"
    KEY_EXISTS = "the key exists already"
    AMBIGUOUS = "the key is written several times"
    INHERITED = "the entry comes from elsewhere, through an alias or a merge key"
    SHARED = "other places use the same value"
    ANCHOR_USED = "what would be removed is referred to elsewhere"
    TAG = "the value's tag contradicts the new value"
    COMPLEX_KEY = "the key is not written as a simple key"
    LAYOUT = "the layout around the entry leaves no exact way"
    UNSPELLABLE = "the value cannot be written so that every loader reads it alike"
    CONFLICT = "two changes touch the same text"


class Refusal(Exception):  # noqa: N818 - a refusal is no fault
    """A change that is not made, and why.

    Args:
        reason: The kind of reason.
        message: What the user reads.
    """

    def __init__(self, reason: RefusalReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


def plan(document: Document, changes: Sequence[Change], *, shared: bool = False) -> list[Edit]:
    """Return the edits that make all of `changes`, in the order of the text.

    Args:
        document: The document the changes speak about.
        changes: What to do. Paths and occurrences are those of `document`, whatever the other changes do.
        shared: Allow a change to a value that aliases or merge keys bring to other places too; all of them change.

    A value that is an alias is replaced by the new scalar: the path named changes, the aliased value does not.
    Equal keys: `SetValue` sets the last one, which is the one in force; the others must be told apart.

    Raises:
        Refusal: One of the changes cannot be made exactly.
    """
    return _Plan(document, shared).run(changes)


def apply(document: Document, edits: Iterable[Edit]) -> Document:
    """Return the document that results from `edits`, parsed anew.

    Raises:
        OverlapError: Two edits overlap.
    """
    return compose(document.source.with_text(splice(document.source.text, edits)))


# --- Spelling ------------------------------------------------------------------------------------------------------

# Characters with which no plain scalar gets another meaning, in block or flow style, in any position but the first
# and last. Letters and digits of every script are allowed besides.
_PLAIN_INNER = frozenset("_./+@%~$()=*<>&!;- ")
_PLAIN_FIRST = frozenset("_/.")
# What other YAML 1.1 readers take for a boolean although neither PyYAML nor OmegaConf does.
_ELSEWHERE_BOOL = frozenset(("y", "Y", "n", "N"))
_MAX_DEPTH = 32
_MAX_PLAIN_KEY = 128


def spell(value: object) -> str:
    """Return YAML on one line that every loader reads as a value.

    The loaders are those in `LOADERS`.

    Floats get a dot and a signed exponent (`1.0e-4`); text is quoted where any loader would read it otherwise;
    lists and dictionaries are written in flow style. The result is valid in block and flow context.

    Raises:
        Refusal: No such spelling exists (a date, an object, text with a lone surrogate, nesting beyond 32 levels).
    """
    return _spell(value, 0)


def _spell(value: object, depth: int) -> str:
    if depth > _MAX_DEPTH:
        raise Refusal(RefusalReason.UNSPELLABLE, f"the value nests more than {_MAX_DEPTH} levels deep")
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        try:
            return str(int(value))
        except ValueError:
            raise Refusal(RefusalReason.UNSPELLABLE, "the number has too many digits") from None
    if isinstance(value, float):
        return _spell_float(float(value))
    if isinstance(value, str):
        return spell_text(value)
    if isinstance(value, list):
        return "[" + ", ".join(_spell(item, depth + 1) for item in value) + "]"
    if isinstance(value, dict):
        entries = []
        for key, item in value.items():
            if isinstance(key, (list, dict)):
                raise Refusal(RefusalReason.UNSPELLABLE, "a key must be a scalar")
            entries.append(f"{_spell(key, depth + 1)}: {_spell(item, depth + 1)}")
        return "{" + ", ".join(entries) + "}"
    kind = type(value).__name__
    raise Refusal(
        RefusalReason.UNSPELLABLE, f"there is no spelling of a {kind} that every loader reads alike"
    )


def _spell_float(value: float) -> str:
    if math.isnan(value):
        return ".nan"
    if math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    text = repr(value)
    if 0 < abs(value) < 1e-3 and "e" not in text:
        # Small numbers are read more easily with an exponent. The digits are those of the shortest repr.
        digits = text.lstrip("-").replace("0.", "", 1)
        significant = digits.lstrip("0")
        exponent = len(digits) - len(significant) + 1
        sign = "-" if value < 0 else ""
        text = f"{sign}{significant[0]}.{significant[1:] or '0'}e-{exponent}"
    mantissa, mark, power = text.partition("e")
    if "." not in mantissa:
        mantissa += ".0"
    if not mark:
        return mantissa
    sign = power[0] if power[0] in "+-" else "+"
    return f"{mantissa}e{sign}{power.lstrip('+-').lstrip('0') or '0'}"


def spell_text(text: str, style: str = "") -> str:
    """Return a scalar that every loader reads as the text `text`.

    Args:
        text: The text.
        style: `"'"` or `'"'` to prefer that quoting; empty for as little quoting as is safe.

    Raises:
        Refusal: The text holds a lone surrogate.
    """
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise Refusal(RefusalReason.UNSPELLABLE, "the text holds a lone surrogate")
    if not style and _is_plain(text):
        return text
    if style != '"' and (not text or _is_printable(text)):
        return "'" + text.replace("'", "''") + "'"
    return '"' + "".join(map(_escaped, text)) + '"'


def _is_plain(text: str) -> bool:
    if (
        not text
        or not (text[0].isalnum() or text[0] in _PLAIN_FIRST)
        or text[-1] == " "
        or text.startswith("...")
    ):
        return False
    if text in _ELSEWHERE_BOOL or not all(char.isalnum() or char in _PLAIN_INNER for char in text):
        return False
    return all(resolve(text, loader).tag == "str" for loader in LOADERS.values())


def _is_printable(text: str) -> bool:
    """Whether every character may stand as itself within single quotes on one line."""
    return all(char.isprintable() for char in text)


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}


def _escaped(char: str) -> str:
    known = _ESCAPES.get(char)
    if known is not None:
        return known
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


# --- Looking at the text -------------------------------------------------------------------------------------------


class _Text:
    """The text of a document, and the questions about it that an edit asks."""

    def __init__(self, document: Document) -> None:
        self.text = document.source.text
        self.newline = document.source.newline
        self.document = document

    def line_start(self, offset: int) -> int:
        """Where the line of `offset` begins."""
        breaks = self.document.breaks
        index = bisect_left(breaks, offset)
        return breaks[index - 1] + 1 if index else 0

    def line_end(self, offset: int) -> int:
        """Where the line of `offset` ends, before its line break."""
        breaks = self.document.breaks
        index = bisect_left(breaks, offset)
        return breaks[index] if index < len(breaks) else len(self.text)

    def after_break(self, offset: int) -> int:
        """The offset behind the line break at `offset`.

        The offset itself at the end of the text.
        """
        if self.text.startswith("\r\n", offset):
            return offset + 2
        return min(offset + 1, len(self.text))

    def before_break(self, offset: int) -> int:
        """The offset in front of the line break that ends at `offset`."""
        if self.text.endswith("\r\n", 0, offset):
            return offset - 2
        return offset - 1

    def prefix(self, offset: int) -> str:
        """What stands before `offset` on its line."""
        return self.text[self.line_start(offset) : offset]

    def skip_blank(self, offset: int) -> int:
        """The next offset that holds neither white space, a line break nor a comment."""
        text = self.text
        size = len(text)
        while offset < size:
            char = text[offset]
            if char == "#":
                offset = self.line_end(offset)
            elif char in " \t" or char in BREAKS:
                offset += 1
            else:
                break
        return offset

    def rest_is_comment(self, offset: int) -> bool:
        """Whether only white space and a comment follow on the line."""
        rest = self.text[offset : self.line_end(offset)].lstrip(" \t")
        return not rest or rest.startswith("#")

    def has_comment(self, start: int, end: int) -> bool:
        """Whether the text between two tokens holds a comment."""
        return "#" in self.text[start:end]

    def column(self, offset: int) -> int:
        """The 0-based column of `offset`."""
        return offset - self.line_start(offset)

    def break_at(self, offset: int) -> str:
        """The line break that ends the line of `offset`, or the usual one of the file."""
        end = self.line_end(offset)
        return self.text[end : self.after_break(end)] or self.newline


@dataclass(slots=True)
class _Group:
    """Changes to the entries of one collection, which must be seen together."""

    node: Node
    steps: list[Step]
    deleted: set[int] = field(default_factory=set)
    inserted: list[InsertKey] = field(default_factory=list)


class _Plan:
    """One call of `plan`."""

    def __init__(self, document: Document, shared: bool) -> None:
        self.document = document
        self.shared = shared
        self.at = _Text(document)
        self.text = document.source.text
        self.edits: list[Edit] = []
        self.groups: dict[int, _Group] = {}
        # What other changes must keep off: values that get a new content, entries that go, names that are taken.
        self.filled: set[int] = set()
        self.removed: set[tuple[int, int]] = set()
        self.touched: list[list[tuple[int, int]]] = []
        self.names: set[tuple[int, str]] = set()
        self.uses = document.uses
        self.by_name: dict[tuple[int, str], list[int]] = {}

    def run(self, changes: Sequence[Change]) -> list[Edit]:
        for change in changes:
            if isinstance(change, ReplaceText):
                if not 0 <= change.start <= change.end <= len(self.text):
                    raise Refusal(RefusalReason.NOT_FOUND, "the text to replace lies outside the file")
                self.edits.append(Edit(change.start, change.end, change.new))
                continue
            if self.document.problem is not None:
                raise Refusal(
                    RefusalReason.NOT_PARSED, f"the file does not parse: {self.document.problem.message}"
                )
            if isinstance(change, SetValue):
                self.set_value(change)
            elif isinstance(change, RenameKey):
                self.rename_key(change)
            elif isinstance(change, DeleteKey):
                self.note_deletion(change)
            else:
                self.note_insertion(change)
        if any(self.removed.intersection(way) for way in self.touched):
            raise Refusal(RefusalReason.CONFLICT, "one change removes what another one changes")
        # Where a nested mapping and the one around it end together, the nested one's new keys come first.
        for group in sorted(self.groups.values(), key=lambda group: -len(group.steps)):
            if group.deleted and group.inserted:
                raise Refusal(RefusalReason.CONFLICT, "entries of one mapping are both added and removed")
            if group.deleted:
                self.delete(group)
            else:
                self.insert(group)
        return self.ordered()

    def ordered(self) -> list[Edit]:
        edits = sorted(self.edits, key=lambda edit: (edit.start, edit.end))
        for before, after in pairwise(edits):
            if after.start < before.end:
                raise Refusal(RefusalReason.CONFLICT, "two of the changes touch the same text")
        return [edit for edit in edits if edit.new != self.text[edit.start : edit.end]]

    # --- Finding ---

    def steps(self, path: KeyPath, document: int) -> list[Step]:
        """The way to an existing entry, checked for what it shares with other places."""
        steps = self.document.trace(path, document)
        shown = format_key_path(path) or "the document"
        if steps is None:
            raise Refusal(RefusalReason.NOT_FOUND, f"there is no entry {shown}")
        for number, step in enumerate(steps):
            through_alias = number > 0 and steps[number - 1].value.kind is ALIAS
            if (step.shared or through_alias) and not self.shared:
                origin = steps[number - 1].value.anchor if through_alias else step.parent.anchor
                count = self.uses.get(id(step.parent), 0)
                source = f"&{origin}, used in {_places(count)}" if origin else "another mapping"
                raise Refusal(
                    RefusalReason.INHERITED, f"{shown} is shared: it comes from {source}; change it there"
                )
            if step.key is not None and deref(step.key).kind is not SCALAR:
                raise Refusal(
                    RefusalReason.COMPLEX_KEY, f"{shown}: a key that is a collection cannot be addressed"
                )
            self.require_unshared(step.parent, shown)
        return steps

    def require_unshared(self, node: Node, shown: str) -> None:
        count = self.uses.get(id(node), 0)
        if count and not self.shared:
            raise Refusal(
                RefusalReason.SHARED,
                f"{shown} is shared: it belongs to &{node.anchor}, and {_places(count)} more would change",
            )

    def touch(self, steps: list[Step]) -> None:
        """Note the entries a change leads through or to."""
        self.touched.append([(id(step.parent), id(step.value)) for step in steps])

    def claim_value(self, node: Node, shown: str) -> None:
        if id(node) in self.filled:
            raise Refusal(RefusalReason.CONFLICT, f"{shown} would be changed twice")
        self.filled.add(id(node))

    def claim_name(self, parent: Node, name: str) -> None:
        if (id(parent), name) in self.names:
            raise Refusal(RefusalReason.CONFLICT, f"two changes would write the key {name}")
        self.names.add((id(parent), name))

    # --- Setting a value ---

    def set_value(self, change: SetValue) -> None:
        shown = format_key_path(change.path) or "the document"
        if change.path:
            steps = self.steps(change.path, change.document)
            self.touch(steps)
            node, key = steps[-1].value, steps[-1].key
        else:
            found = self.document.find((), change.document)
            if found is None:
                raise Refusal(RefusalReason.NOT_FOUND, "the document is empty")
            node, key = found[1], None
        if deref(node).kind is not SCALAR:
            raise Refusal(
                RefusalReason.NOT_A_SCALAR, f"{shown} is a {_kind_name(deref(node))}, not a single value"
            )
        if node.kind is ALIAS and self.shared:
            node = deref(node)
        if node.kind is SCALAR:
            self.require_unshared(node, shown)
        if change.path:
            self.require_values(steps[-1].parent, change.value, shown)
        self.claim_value(node, shown)
        if change.text is None:
            text = self.spelled(change.value, node)
        else:
            text = change.text
            if not text or any(char in text for char in BREAKS):
                raise Refusal(RefusalReason.UNSPELLABLE, "the new text is not one scalar on one line")
        if node.kind is SCALAR and node.tag is not None:
            self.require_fitting_tag(node, text, change.value, shown)
        if self.text.startswith("#", node.end):
            raise Refusal(RefusalReason.LAYOUT, f"a comment follows {shown} without a space between")
        self.require_parted_properties(node, shown)
        if node.style in ("|", ">"):
            self.replace_block_scalar(node, text, shown)
        elif node.kind is SCALAR and node.value_start == node.end and not node.style:
            self.fill_empty(node, key, text, shown)
        else:
            self.edits.append(Edit(node.value_start, node.end, text))

    def require_parted_properties(self, node: Node, shown: str) -> None:
        """An anchor of libyaml ends at the colon in `&a:b`.

        Another text there would become part of its name.
        """
        glued = node.start < node.value_start < node.end
        if glued and self.text[node.value_start - 1] not in " \t" + BREAKS:
            raise Refusal(RefusalReason.LAYOUT, f"no space parts {shown} from its anchor or tag")

    def require_values(self, parent: Node, value: object, shown: str) -> None:
        """The keys of a `!!set` have no values."""
        if parent.tag == TAG_PREFIX + "set" and value is not None:
            raise Refusal(RefusalReason.TAG, f"{shown} belongs to a !!set, which holds keys without values")

    def spelled(self, value: object, node: Node) -> str:
        if isinstance(value, (list, dict)):
            raise Refusal(RefusalReason.UNSPELLABLE, "a value can be set to a scalar only")
        if isinstance(value, str) and node.style in ("'", '"'):
            return spell_text(value, node.style)
        return spell(value)

    def require_fitting_tag(self, node: Node, text: str, value: object, shown: str) -> None:
        """The tag stays, so what it makes of the new text must be the new value."""
        tag = node.tag or ""
        name = tag[len(TAG_PREFIX) :] if tag.startswith(TAG_PREFIX) else ""
        fits = name in ("str", "int", "float", "bool", "null")
        if fits:
            content = _unquoted(text)
            for loader in LOADERS.values():
                try:
                    made = construct_scalar(name, content, loader)
                except (ValueError, OverflowError, KeyError, IndexError):
                    fits = False
                    break
                fits = fits and type(made) is type(value) and repr(made) == repr(value)
        if not fits:
            written = "!!" + name if name else tag
            raise Refusal(
                RefusalReason.TAG, f"{shown} has the tag {written}, which contradicts the new value"
            )

    def replace_block_scalar(self, node: Node, text: str, shown: str) -> None:
        """Put a scalar in the place of a literal or folded one.

        A comment on its first line stays.
        """
        header_end = min(self.at.line_end(node.value_start), node.end)
        indicator_end = node.value_start
        while indicator_end < header_end and self.text[indicator_end] not in " \t#":
            indicator_end += 1
        if self.text.startswith("#", indicator_end):
            raise Refusal(
                RefusalReason.LAYOUT, f"a comment follows the mark of {shown} without a space between"
            )
        self.edits.append(Edit(node.value_start, indicator_end, text))
        self.edits.append(Edit(header_end, node.end, ""))

    def fill_empty(self, node: Node, key: Node | None, text: str, shown: str) -> None:
        """Write a value where there is none."""
        offset = node.end
        before = self.text[offset - 1 : offset]
        if before == ":" or (before == "-" and key is None) or node.start < node.end:
            if (
                self.text[offset : offset + 1] == " "
                and not self.text[offset : self.at.line_end(offset)].strip()
            ):
                self.edits.append(Edit(offset + 1, offset + 1, text))
            else:
                self.edits.append(Edit(offset, offset, " " + text))
        elif key is not None and offset == key.end and self.is_plain_flow_key(key):
            self.edits.append(Edit(offset, offset, ": " + text))
        else:
            raise Refusal(RefusalReason.LAYOUT, f"{shown} has no place where a value could be written")

    def is_plain_flow_key(self, key: Node) -> bool:
        """Whether a key without a colon stands in a flow mapping, as in `{a, b}`."""
        following = self.at.skip_blank(key.end)
        entry = self.at.prefix(key.start).rstrip()
        alone = self.text[following : following + 1] in (",", "}") and not entry.endswith("?")
        return alone and not self.spans_lines(key)

    # --- Renaming a key ---

    def rename_key(self, change: RenameKey) -> None:
        shown = format_key_path(change.path)
        if not change.path or not isinstance(change.path[-1], str):
            raise Refusal(RefusalReason.NOT_FOUND, "only the keys of a mapping have names")
        steps = self.steps(change.path, change.document)
        self.touch(steps)
        key, parent = steps[-1].key, steps[-1].parent
        assert key is not None
        if key.kind is ALIAS or key.style in ("|", ">") or self.spans_lines(key):
            raise Refusal(RefusalReason.COMPLEX_KEY, f"the key {shown} is not written as a simple key")
        if key.value_start == key.end and not key.style:
            raise Refusal(RefusalReason.COMPLEX_KEY, f"the key {shown} is empty")
        if is_merge(key):
            raise Refusal(RefusalReason.COMPLEX_KEY, "a merge key has no name of its own")
        if key.tag not in (None, "!", TAG_PREFIX + "str"):
            raise Refusal(RefusalReason.TAG, f"the key {shown} has a tag")
        self.require_unshared(key, f"the key {shown}")
        self.require_parted_properties(key, f"the key {shown}")
        written = self.written(parent, key.text)
        if len(written) > 1:
            raise Refusal(RefusalReason.AMBIGUOUS, f"{shown} is written {len(written)} times")
        taken = self.document.trace((*change.path[:-1], change.new), change.document)
        if change.new != key.text and taken is not None:
            raise Refusal(RefusalReason.KEY_EXISTS, f"the key {change.new} exists already beside {shown}")
        self.claim_name(parent, change.new)
        style = key.style or ("'" if change.quote else "")
        text = spell_text(change.new, style)
        self.require_simple_key(text)
        self.edits.append(Edit(key.value_start, key.end, text))

    def spans_lines(self, node: Node) -> bool:
        return any(char in self.text[node.start : node.end] for char in BREAKS)

    def require_simple_key(self, text: str) -> None:
        # YAML allows 1024 characters up to the colon; no setting is named so, and other readers count in bytes.
        if len(text) > _MAX_PLAIN_KEY:
            raise Refusal(RefusalReason.UNSPELLABLE, f"a key of more than {_MAX_PLAIN_KEY} characters")

    # --- Deleting entries ---

    def note_deletion(self, change: DeleteKey) -> None:
        shown = format_key_path(change.path)
        if not change.path:
            raise Refusal(RefusalReason.NOT_FOUND, "a document cannot be deleted")
        steps = self.steps(change.path, change.document)
        parent = steps[-1].parent
        index = self.entry_index(parent, change, steps[-1], shown)
        entry = parent.items[index]
        self.touch(steps[:-1])
        self.removed.add((id(parent), id(entry if isinstance(entry, Node) else entry[1])))
        group = self.groups.setdefault(id(parent), _Group(parent, steps))
        if index in group.deleted:
            raise Refusal(RefusalReason.CONFLICT, f"{shown} would be deleted twice")
        self.require_unused_anchors(entry, shown)
        group.deleted.add(index)

    def entry_index(self, parent: Node, change: DeleteKey, step: Step, shown: str) -> int:
        if step.key is None:
            index = change.path[-1]
            assert isinstance(index, int)
            return index
        same = self.written(parent, deref(step.key).text)
        if change.occurrence is None:
            if len(same) > 1:
                raise Refusal(RefusalReason.AMBIGUOUS, f"{shown} is written {len(same)} times")
            return same[0]
        if not 0 <= change.occurrence < len(same):
            raise Refusal(RefusalReason.NOT_FOUND, f"{shown} is written {len(same)} times only")
        return same[change.occurrence]

    def written(self, mapping: Node, name: str) -> Sequence[int]:
        """The indices of the entries of a mapping whose keys are scalars that read `name`."""
        known = self.by_name.get((id(mapping), name))
        if known is None:
            places = self.document.places(mapping, name)
            known = [index for index in places if deref(mapping.items[index][0]).kind is SCALAR]
            self.by_name[id(mapping), name] = known
        return known

    def require_unused_anchors(self, entry: tuple[Node, Node] | Node, shown: str) -> None:
        """An alias outside must not lose the value it stands for."""
        if not self.document.aliases:
            return
        waiting = [entry] if isinstance(entry, Node) else list(entry)
        inside: dict[int, Node] = {}
        while waiting:
            node = waiting.pop()
            inside[id(node)] = node
            if node.kind is MAPPING:
                waiting.extend(child for pair in node.items for child in pair)
            elif node.kind is SEQUENCE:
                waiting.extend(node.items)
        within: dict[int, int] = {}
        for node in inside.values():
            if node.kind is ALIAS:
                within[id(node.target)] = within.get(id(node.target), 0) + 1
        for key, node in inside.items():
            if self.uses.get(key, 0) > within.get(key, 0):
                raise Refusal(
                    RefusalReason.ANCHOR_USED, f"{shown} holds &{node.anchor}, which is used elsewhere"
                )

    def delete(self, group: _Group) -> None:
        node = group.node
        everything = len(group.deleted) == len(node.items)
        if node.flow:
            self.delete_in_flow(node, group.deleted)
        elif everything:
            self.delete_all_of_block(group)
        else:
            for index in sorted(group.deleted):
                self.delete_in_block(node, index, group.deleted)

    def entry_start(self, node: Node, index: int) -> int:
        """Where an entry of a block collection begins, its `-` or `?` included."""
        if node.kind is SEQUENCE:
            offset = node.value_start if index == 0 else self.at.skip_blank(self.entry_end(node, index - 1))
            if self.text[offset : offset + 1] != "-":
                raise Refusal(RefusalReason.LAYOUT, "the entry's dash was not found")
            return offset
        key: Node = node.items[index][0]
        line = self.at.prefix(key.start).rstrip(" ")
        if line.endswith("?") and len(line) - 1 == len(self.at.prefix(key.start)[: len(line) - 1]):
            return self.at.line_start(key.start) + len(line) - 1
        if key.start == key.end:
            raise Refusal(RefusalReason.COMPLEX_KEY, "the entry has an empty key")
        if index and self.at.skip_blank(self.entry_end(node, index - 1)) != key.start:
            raise Refusal(RefusalReason.COMPLEX_KEY, "the entry is not written as a simple key")
        if not index and node.value_start != key.start:
            raise Refusal(RefusalReason.COMPLEX_KEY, "the entry is not written as a simple key")
        return key.start

    def entry_end(self, node: Node, index: int) -> int:
        item = node.items[index]
        value: Node = item[1] if node.kind is MAPPING else item
        # An empty value stands behind its colon or dash.
        return max(value.end, item[0].end) if node.kind is MAPPING else value.end

    def delete_in_block(self, node: Node, index: int, deleted: set[int]) -> None:
        """Delete one entry of several in a block collection.

        Its lines, with the comment on the last of them.
        """
        at = self.at
        start, end = self.entry_start(node, index), self.entry_end(node, index)
        if not at.rest_is_comment(end):
            raise Refusal(RefusalReason.LAYOUT, "something else follows on the entry's last line")
        line_start, line_end = at.line_start(start), at.line_end(end)
        if not self.text[line_start:start].strip(" \t"):
            self.delete_lines(line_start, line_end)
            return
        # The entry stands behind the dash of a list, `- a: 1`, or behind anchor and tag: what follows moves up.
        if index + 1 in deleted or index + 1 >= len(node.items):
            raise Refusal(RefusalReason.LAYOUT, "several entries on the line of a dash")
        following = self.entry_start(node, index + 1)
        if at.column(following) != at.column(start) or at.has_comment(line_end, following):
            raise Refusal(RefusalReason.LAYOUT, "a comment stands between the entry and the next one")
        self.edits.append(Edit(start, following, ""))

    def delete_all_of_block(self, group: _Group) -> None:
        """Delete the only entries of a block collection.

        An empty one in flow style takes their place.
        """
        at = self.at
        node = group.node
        empty = "{}" if node.kind is MAPPING else "[]"
        first, last = self.entry_start(node, 0), self.entry_end(node, len(node.items) - 1)
        if not at.rest_is_comment(last):
            raise Refusal(RefusalReason.LAYOUT, "something else follows on the entry's last line")
        for index in range(len(node.items) - 1):
            if at.has_comment(self.entry_end(node, index), self.entry_start(node, index + 1)):
                gap = self.text[at.line_end(self.entry_end(node, index)) : self.entry_start(node, index + 1)]
                if "#" in gap:
                    raise Refusal(RefusalReason.LAYOUT, "comments stand between the entries")
        line_start, line_end = at.line_start(first), at.line_end(last)
        behind = self.owner_end(group)
        if behind is None or self.text[line_start:first].strip(" \t"):
            # The root, or entries that begin on the line of their owner: the place itself becomes the empty one.
            self.edits.append(Edit(first, line_end, empty))
            return
        self.edits.append(Edit(behind, behind, " " + empty))
        self.delete_lines(line_start, line_end)

    def delete_lines(self, start: int, end: int) -> None:
        """Delete whole lines, from the start of the first to the end of the last, and one line break."""
        following = self.at.after_break(end)
        if following == end and start > 0 and not self.is_after_block_scalar(start):
            # The file has no final line break, and keeps having none: the break before the lines goes.
            self.edits.append(Edit(self.at.before_break(start), end, ""))
        else:
            self.edits.append(Edit(start, following, ""))

    def is_after_block_scalar(self, offset: int) -> bool:
        """Whether the text before `offset` ends a literal or folded scalar, to which its last line break belongs."""
        for _, key, value, _, _ in self.document.walk():
            for node in (key or value, value):
                is_block = node.style in ("|", ">") and node.end <= offset
                if is_block and not self.text[node.end : offset].strip():
                    return True
        return False

    def owner_end(self, group: _Group) -> int | None:
        """Where the value of a block collection could begin on its owner's line.

        None for a bare root.
        """
        node = group.node
        if node.start != node.value_start:
            return self.properties_end(node)
        if len(group.steps) < 2:
            return None
        key = group.steps[-2].key
        if key is not None:
            colon = self.at.skip_blank(key.end)
            if self.text[colon : colon + 1] != ":":
                raise Refusal(RefusalReason.COMPLEX_KEY, "the mapping's own key is not a simple key")
            return colon + 1
        dash = self.entry_start(group.steps[-2].parent, self.position(group.steps[-2]))
        return dash + 1

    def position(self, step: Step) -> int:
        return next(index for index, item in enumerate(step.parent.items) if item is step.value)

    def properties_end(self, node: Node) -> int:
        """Where anchor and tag of a node end."""
        offset = node.start
        end = offset
        while offset < node.value_start and self.text[offset] in "&!":
            while offset < node.value_start and self.text[offset] not in " \t" + BREAKS:
                offset += 1
            end = offset
            offset = self.at.skip_blank(offset)
        return end

    def delete_in_flow(self, node: Node, deleted: set[int]) -> None:
        """Delete entries within braces or brackets, with the commas that parted them."""
        self.require_brackets(node)
        for index in sorted(deleted):
            if index - 1 not in deleted:
                stop = index
                while stop in deleted:
                    stop += 1
                self.delete_run(node, index, stop)

    def delete_run(self, node: Node, first: int, stop: int) -> None:
        """Delete the entries `first` to `stop` (exclusive) of a flow collection."""
        at = self.at
        start = self.flow_start(node, first)
        end = self.flow_end(node, stop - 1)
        comma = at.skip_blank(end)
        has_comma = self.text[comma : comma + 1] == ","
        for index in range(first, stop - 1):
            gap = self.text[self.flow_end(node, index) : self.flow_start(node, index + 1)]
            if "#" in gap:
                raise Refusal(RefusalReason.LAYOUT, "comments stand between the entries")
        last = comma + 1 if has_comma else end
        if at.has_comment(end, last):
            raise Refusal(RefusalReason.LAYOUT, "a comment stands between the entry and its comma")
        own_lines = not at.prefix(start).strip(" \t") and at.rest_is_comment(last)
        if own_lines:
            if not has_comma and first > 0:
                # The comma before it would be left over.
                before = at.skip_blank(self.flow_end(node, first - 1))
                if self.text[before : before + 1] != ",":
                    raise Refusal(RefusalReason.LAYOUT, "the comma before the entry was not found")
                self.edits.append(Edit(before, before + 1, ""))
            line_end = at.line_end(last)
            self.edits.append(Edit(at.line_start(start), at.after_break(line_end), ""))
            return
        if stop < len(node.items):
            following = self.flow_start(node, stop)
            if at.has_comment(last, following) or any(char in self.text[last:following] for char in BREAKS):
                while self.text[last : last + 1] in (" ", "\t"):
                    last += 1
                self.edits.append(Edit(start, last, ""))
            else:
                self.edits.append(Edit(start, following, ""))
            return
        if first > 0:
            previous = self.flow_end(node, first - 1)
            if at.has_comment(previous, start):
                raise Refusal(RefusalReason.LAYOUT, "a comment stands between the entry and the one before")
            self.edits.append(Edit(previous, end, ""))
            return
        self.edits.append(Edit(start, last, ""))

    def require_brackets(self, node: Node) -> None:
        if node.kind is MAPPING and not has_braces(self.text, node, [key for key, _ in node.items[:1]]):
            raise Refusal(RefusalReason.LAYOUT, "a single pair within brackets has no braces of its own")

    def flow_start(self, node: Node, index: int) -> int:
        item = node.items[index]
        start: int = item[0].start if node.kind is MAPPING else item.start
        anchor = self.flow_end(node, index - 1) if index else node.value_start
        offset = self.at.skip_blank(anchor if index else anchor + 1)
        if index:
            if self.text[offset : offset + 1] != ",":
                raise Refusal(RefusalReason.LAYOUT, "the comma before the entry was not found")
            offset = self.at.skip_blank(offset + 1)
        if offset != start:
            raise Refusal(RefusalReason.COMPLEX_KEY, "the entry is not written as a simple key")
        return start

    def flow_end(self, node: Node, index: int) -> int:
        item = node.items[index]
        return max(item[0].end, item[1].end) if node.kind is MAPPING else int(item.end)

    # --- Inserting an entry ---

    def note_insertion(self, change: InsertKey) -> None:
        path = change.path
        shown = format_key_path((*path, change.key))
        if path:
            steps = self.steps(path, change.document)
            node = steps[-1].value
        else:
            steps = []
            found = self.document.find((), change.document)
            if found is None:
                self.insert_into_empty_file(change)
                return
            node = found[1]
        if node.kind is ALIAS:
            if not self.shared:
                raise Refusal(
                    RefusalReason.INHERITED,
                    f"{format_key_path(path)} stands for &{node.anchor}: add the key there",
                )
            node = deref(node)
        self.require_unshared(node, shown)
        if node.kind is MAPPING:
            if self.document.trace((*path, change.key), change.document) is not None:
                raise Refusal(RefusalReason.KEY_EXISTS, f"the key {shown} exists already")
        elif node.kind is not SCALAR or node.style or node.value_start != node.end or node.tag is not None:
            raise Refusal(
                RefusalReason.NOT_A_MAPPING, f"{format_key_path(path) or 'the document'} is not a mapping"
            )
        self.require_values(node, change.value, shown)
        group = self.groups.setdefault(id(node), _Group(node, steps))
        if node.kind is SCALAR and not group.inserted:
            self.claim_value(node, format_key_path(path))
        self.touch(steps)
        self.claim_name(node, change.key)
        group.inserted.append(change)

    def entry(self, change: InsertKey, key_style: str = "") -> str:
        key = spell_text(change.key, key_style)
        self.require_simple_key(key)
        return f"{key}: {spell(change.value)}"

    def insert_into_empty_file(self, change: InsertKey) -> None:
        if change.document != 0 or self.document.roots or change.after is not None:
            raise Refusal(RefusalReason.NOT_FOUND, "there is no such document")
        if any(edit.start == len(self.text) for edit in self.edits):
            raise Refusal(RefusalReason.CONFLICT, "two changes fill the empty file")
        if "---" in self.text or "%" in self.text.replace("#", "\n#").split("\n#")[0]:
            raise Refusal(RefusalReason.LAYOUT, "the file has document marks but no content")
        newline = self.document.source.newline
        lead = newline if self.text and self.text[-1] not in BREAKS else ""
        self.edits.append(Edit(len(self.text), len(self.text), f"{lead}{self.entry(change)}{newline}"))

    def insert(self, group: _Group) -> None:
        node = group.node
        if node.kind is SCALAR:
            self.insert_into_nothing(group)
        elif node.flow:
            self.insert_into_flow(group)
        else:
            self.insert_into_block(group)

    def after_index(self, node: Node, change: InsertKey) -> int:
        """The index of the entry after which a key goes."""
        if change.after is None:
            return len(node.items) - 1
        for index in range(len(node.items) - 1, -1, -1):
            key = deref(node.items[index][0])
            if key.kind is SCALAR and key.text == change.after:
                return index
        raise Refusal(RefusalReason.NOT_FOUND, f"there is no key {change.after} to put {change.key} after")

    def insert_into_block(self, group: _Group) -> None:
        at = self.at
        node = group.node
        places: dict[int, list[str]] = {}
        first = self.entry_start(node, 0)
        prefix = at.prefix(first)
        if "\t" in prefix:
            raise Refusal(RefusalReason.LAYOUT, "there is a tab before the first key")
        indentation = " " * len(prefix)
        for change in group.inserted:
            places.setdefault(self.after_index(node, change), []).append(indentation + self.entry(change))
        for index, lines in places.items():
            end = self.entry_end(node, index)
            if not at.rest_is_comment(end):
                raise Refusal(RefusalReason.LAYOUT, "something else follows on the line of the entry before")
            line_end = at.line_end(end)
            newline = at.break_at(end) if line_end < len(self.text) else at.newline
            if newline not in ("\n", "\r\n", "\r"):
                raise Refusal(
                    RefusalReason.LAYOUT, "the line ends with a line break that only YAML 1.1 knows"
                )
            following = at.after_break(line_end)
            if following == line_end:
                if self.is_after_block_scalar(line_end):
                    raise Refusal(
                        RefusalReason.LAYOUT, "the file ends within a text block, without a line break"
                    )
                self.edits.append(Edit(line_end, line_end, "".join(newline + line for line in lines)))
            else:
                self.edits.append(Edit(following, following, "".join(line + newline for line in lines)))

    def insert_into_flow(self, group: _Group) -> None:
        node = group.node
        self.require_brackets(node)
        if not node.items:
            entries = ", ".join(self.entry(change) for change in group.inserted)
            if any(change.after is not None for change in group.inserted):
                raise Refusal(RefusalReason.NOT_FOUND, "the mapping is empty")
            offset = node.value_start + 1
            self.edits.append(Edit(offset, offset, entries))
            return
        places: dict[int, list[str]] = {}
        for change in group.inserted:
            index = self.after_index(node, change)
            style = node.items[index][0].style
            places.setdefault(index, []).append(self.entry(change, style if style in ("'", '"') else ""))
        for index, entries_after in places.items():
            self.insert_after_flow_entry(node, index, entries_after)

    def insert_after_flow_entry(self, node: Node, index: int, entries: list[str]) -> None:
        at = self.at
        end = self.flow_end(node, index)
        key: Node = node.items[index][0]
        if key.kind is SCALAR and not key.style and key.value_start == key.end:
            raise Refusal(RefusalReason.COMPLEX_KEY, "the entry before has an empty key")
        start = key.start
        prefix = at.prefix(start)
        # An empty value ends with its colon, which must not run into the comma.
        gap = " " if self.text[end - 1 : end] == ":" else ""
        if prefix.strip(" ") or self.at.line_start(start) <= node.value_start:
            self.edits.append(Edit(end, end, gap + "".join(", " + entry for entry in entries)))
            return
        comma = at.skip_blank(end)
        if self.text[comma : comma + 1] == "," and not at.has_comment(end, comma):
            if at.rest_is_comment(comma + 1):
                line_end = at.line_end(comma)
                newline = self.plain_break(line_end)
                lines = "".join(f"{newline}{prefix}{entry}," for entry in entries)
                self.edits.append(Edit(line_end, line_end, lines))
                return
            self.edits.append(Edit(end, end, gap + "".join(", " + entry for entry in entries)))
            return
        if at.rest_is_comment(end) and self.text[comma : comma + 1] != ",":
            line_end = at.line_end(end)
            newline = self.plain_break(line_end)
            lines = ",".join(f"{newline}{prefix}{entry}" for entry in entries)
            if line_end == end:
                self.edits.append(Edit(end, end, gap + "," + lines))
            else:
                self.edits.append(Edit(end, end, gap + ","))
                self.edits.append(Edit(line_end, line_end, lines))
            return
        self.edits.append(Edit(end, end, gap + "".join(", " + entry for entry in entries)))

    def plain_break(self, line_end: int) -> str:
        newline = self.at.break_at(line_end)
        if newline not in ("\n", "\r\n", "\r"):
            raise Refusal(RefusalReason.LAYOUT, "the line ends with a line break that only YAML 1.1 knows")
        return newline

    def insert_into_nothing(self, group: _Group) -> None:
        """Write the first keys of a mapping whose place is empty.

        `section:` and nothing behind it.
        """
        at = self.at
        node = group.node
        if any(change.after is not None for change in group.inserted):
            raise Refusal(RefusalReason.NOT_FOUND, "the mapping is empty")
        entries = [self.entry(change) for change in group.inserted]
        step = group.steps[-1] if group.steps else None
        behind_colon = self.text[node.end - 1 : node.end] == ":" or node.start < node.end
        if step is None or not behind_colon:
            if step is not None and step.key is None and self.text[node.end - 1 : node.end] == "-":
                self.edits.append(Edit(node.end, node.end, " {" + ", ".join(entries) + "}"))
                return
            raise Refusal(RefusalReason.LAYOUT, "there is no place where a mapping could be written")
        if step.parent.flow or step.key is None or not at.rest_is_comment(node.end):
            self.edits.append(Edit(node.end, node.end, " {" + ", ".join(entries) + "}"))
            return
        prefix = at.prefix(self.entry_start(step.parent, self.pair_position(step)))
        if "\t" in prefix:
            raise Refusal(RefusalReason.LAYOUT, "there is a tab before the key")
        indentation = " " * (len(prefix) + self.indentation_step())
        line_end = at.line_end(node.end)
        newline = self.plain_break(line_end)
        lines = "".join(f"{newline}{indentation}{entry}" for entry in entries)
        self.edits.append(Edit(line_end, line_end, lines))

    def pair_position(self, step: Step) -> int:
        return next(index for index, pair in enumerate(step.parent.items) if pair[1] is step.value)

    def indentation_step(self) -> int:
        """By how much the file indents its first nested mapping.

        Two spaces where it has none.
        """
        for _, key, value, parent, _ in self.document.walk():
            if key is None or value.kind is not MAPPING or value.flow or parent.flow or not value.items:
                continue
            step = self.at.column(value.items[0][0].start) - self.at.column(key.start)
            if 0 < step <= 8:
                return step
        return 2


def _unquoted(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) >= 2 and text[0] == text[-1] == '"' and "\\" not in text:
        return text[1:-1]
    return text


def _kind_name(node: Node) -> str:
    return "mapping" if node.kind is MAPPING else "list"


def _places(count: int) -> str:
    return "1 place" if count == 1 else f"{count} places"
