"""Changes to edits: what a fix means, as the fewest characters that say it.

Every edit is a span of the user's own text; nothing is dumped, so every other byte stays. Where a change cannot be
made exactly, it is refused with a reason the user sees. All changes of one call speak about the document as it is:
paths and occurrences are looked up before any of them is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cfgfix.config.document.compose import (
    ALIAS,
    BREAKS,
    MAPPING,
    SCALAR,
    TAG_PREFIX,
    Document,
    Node,
    compose,
    deref,
    is_merge,
)
from cfgfix.config.document.deletions import Deletions
from cfgfix.config.document.insertions import Insertions
from cfgfix.config.document.refusals import Refusal, RefusalReason
from cfgfix.config.document.spelling import spell, spell_text
from cfgfix.config.loaders.scalars import LOADERS, construct_scalar
from cfgfix.core.edits import Change, DeleteKey, Edit, RenameKey, ReplaceText, SetValue, splice
from cfgfix.core.findings import format_key_path


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
    return _EditPlanner(document, shared).run(changes)


def apply(document: Document, edits: Iterable[Edit]) -> Document:
    """Return the document that results from `edits`, parsed anew.

    Raises:
        OverlapError: Two edits overlap.
    """
    return compose(document.source.with_text(splice(document.source.text, edits)))


class _EditPlanner(Deletions, Insertions):
    """One call of `plan`: changes of all kinds, in the order given."""

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
        """Refuse to change a value that no space parts from its anchor or tag.

        An anchor of libyaml ends at the colon in `&a:b`: another text there would become part of its name.
        """
        glued = node.start < node.value_start < node.end
        if glued and self.text[node.value_start - 1] not in " \t" + BREAKS:
            raise Refusal(RefusalReason.LAYOUT, f"no space parts {shown} from its anchor or tag")

    def spelled(self, value: object, node: Node) -> str:
        if isinstance(value, (list, dict)):
            raise Refusal(RefusalReason.UNSPELLABLE, "a value can be set to a scalar only")
        if isinstance(value, str) and node.style in ("'", '"'):
            return spell_text(value, node.style)
        return spell(value)

    def require_fitting_tag(self, node: Node, text: str, value: object, shown: str) -> None:
        """Refuse a new text that does not give the new value under the node's tag."""
        tag = node.tag or ""
        name = tag[len(TAG_PREFIX) :] if tag.startswith(TAG_PREFIX) else ""
        fits = name in ("str", "int", "float", "bool", "null")
        if fits:
            content = _unquoted_text(text)
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
        """Replace a literal or folded scalar by a value on one line.

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
        """Write a value behind a key or dash that has none."""
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
        """Tell whether a key stands without a colon in a flow mapping, as in `{a, b}`."""
        following = self.at.skip_blank(key.end)
        entry = self.at.prefix(key.start).rstrip()
        alone = self.text[following : following + 1] in (",", "}") and not entry.endswith("?")
        return alone and not self.spans_lines(key)

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


def _unquoted_text(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) >= 2 and text[0] == text[-1] == '"' and "\\" not in text:
        return text[1:-1]
    return text


def _kind_name(node: Node) -> str:
    return "mapping" if node.kind is MAPPING else "list"
