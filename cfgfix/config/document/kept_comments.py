"""Proof that an edit keeps anchors and comments."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

from cfgfix.config.document.comments import comments
from cfgfix.config.document.compose import (
    ALIAS,
    SCALAR,
    Document,
    Node,
    deref,
)
from cfgfix.config.document.nodes import children
from cfgfix.core.edits import (
    Change,
    DeleteKey,
    Edit,
    ProofError,
    ReplaceText,
)


def check_anchors(before: Document, after: Document, changes: Sequence[Change]) -> None:
    """Check that anchors keep their names.

    Those in deleted entries may go, and those in bare text that is replaced may change.

    Raises:
        ProofError: A name would change.
    """
    if before.problem is not None or any(isinstance(change, ReplaceText) for change in changes):
        return
    if "&" not in before.source.text and "&" not in after.source.text:
        return
    now = _anchor_names(after)
    if any(isinstance(change, DeleteKey) for change in changes):
        left = iter(_anchor_names(before))
        kept = all(name in left for name in now)
    else:
        kept = now == _anchor_names(before)
    if not kept:
        raise ProofError("anchors", "the names of anchors would change")


def _anchor_names(document: Document) -> list[str]:
    """Return the names of all anchors, in the order of the text."""
    found: list[str] = []
    waiting: list[Node] = list(reversed(document.roots))
    while waiting:
        node = waiting.pop()
        if node.anchor is not None and node.kind is not ALIAS:
            found.append(node.anchor)
        if node.items:
            waiting.extend(reversed(list(children(node))))
    return found


def check_comments(
    before: Document, after: Document, changes: Sequence[Change], edits: Sequence[Edit]
) -> None:
    """Check that comments stay, each with its text and in order.

    Those in text that a deletion or a replacement names may go.

    Raises:
        ProofError: A comment would be lost or changed.
    """
    if before.problem is not None:
        return
    named = _SpanUnion(_named_spans(before, changes))
    edited = _SpanUnion((edit.start, edit.end) for edit in edits)
    kept = [
        comment for offset, comment in comments(before) if not (named.holds(offset) and edited.holds(offset))
    ]
    now = comments(after)
    if any(isinstance(change, ReplaceText) for change in changes):
        written = _SpanUnion(_written_spans(changes, edits))
        seen = [comment for offset, comment in now if not written.holds(offset)]
    else:
        seen = [comment for _, comment in now]
    if kept != seen:
        remaining = set(seen)
        lost = [comment for comment in kept if comment not in remaining]
        detail = f"the comment {lost[0]!r} would be lost" if lost else "the comments would change"
        raise ProofError("comments", detail)


class _SpanUnion:
    """The union of some spans of offsets."""

    __slots__ = ("_ends", "_starts")

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(spans):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(end, self._ends[-1])
            else:
                self._starts.append(start)
                self._ends.append(end)

    def holds(self, offset: int) -> bool:
        """Tell whether an offset lies within one of the spans, ends excluded."""
        index = bisect_right(self._starts, offset) - 1
        return index >= 0 and offset < self._ends[index]


def _named_spans(before: Document, changes: Sequence[Change]) -> Iterator[tuple[int, int]]:
    size = len(before.source.text)
    told: set[tuple[int, str]] = set()
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
                if (id(parent), name) in told:
                    continue
                told.add((id(parent), name))
                spans = [
                    (key.start, max(key.end, value.end))
                    for key, value in (parent.items[index] for index in before.places(parent, name))
                    if deref(key).kind is SCALAR
                ]
            for start, end in spans:
                index = bisect_left(before.breaks, end)
                yield start, before.breaks[index] if index < len(before.breaks) else size


def _written_spans(changes: Sequence[Change], edits: Sequence[Edit]) -> Iterator[tuple[int, int]]:
    """Yield the spans, in the text after the edits, of replacements of bare text."""
    replaced = {
        (change.start, change.end, change.new) for change in changes if isinstance(change, ReplaceText)
    }
    shift = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        start = edit.start + shift
        if (edit.start, edit.end, edit.new) in replaced:
            yield start, start + len(edit.new)
        shift += len(edit.new) - (edit.end - edit.start)
