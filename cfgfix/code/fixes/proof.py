"""Prove the edits of a Python file before writing, with two independent readers.

Python's `ast` holds the statements of both texts against each other: only edited ones differ, and they come, go or move as
a whole. libcst reads each edited statement before and after, and `lossless` holds its parts against the edits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from cfgfix.code.fixes.lossless import OtherMeaningError, same_outside
from cfgfix.code.model.comment_tokens import comment_tokens
from cfgfix.code.model.positions import Offsets
from cfgfix.core.edits import Edit, ProofError, ReplaceText, splice

__all__ = ["ProofError", "prove"]


def prove(before: str, edits: Sequence[ReplaceText]) -> str:
    """Apply edits to a Python text, prove the result, and return it.

    The result must parse, differ only in edited statements, and keep all comments.

    Raises:
        ProofError: One of these does not hold.
    """
    import ast

    edits = sorted(edits, key=lambda item: (item.start, item.end))
    after = splice(before, [Edit(item.start, item.end, item.new) for item in edits])
    try:
        old, new = ast.parse(before), ast.parse(after)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ProofError("parse", "the result is not Python any more") from error
    offsets = Offsets(before)
    spans = [(item.start, item.end) for item in edits]
    sides = (_EditedText(offsets, spans), _EditedText(Offsets(after), _moved_spans(edits)))
    try:
        _same_suite(old.body, new.body, sides, ast)
    except RecursionError as error:
        raise ProofError("parse", "the file nests too deep to be proven") from error
    old_comments, new_comments = _comments_with_offsets(before), _comments_with_offsets(after)
    for span, place in zip(*(side.spans for side in sides), strict=True):
        met = span in sides[0].met or place in sides[1].met
        if not met and (
            _text_outside_comments(before, span, old_comments)
            or _text_outside_comments(after, place, new_comments)
        ):
            raise ProofError("meaning", "an edit lies where no statement is")
    expected = sorted(_with_edited(before, old_comments, edits))
    if expected != sorted(text for _, text in new_comments):
        raise ProofError("comments", "a comment would be lost")
    return after


def _text_outside_comments(text: str, span: tuple[int, int], comments: list[tuple[int, str]]) -> str:
    """Return the code in an edit's span: its text without comments and blank space."""
    kept = list(text[span[0] : span[1]])
    for start, comment in comments:
        for position in range(max(start, span[0]), min(start + len(comment), span[1])):
            kept[position - span[0]] = " "
    return "".join(kept).strip()


def _with_edited(text: str, comments: list[tuple[int, str]], edits: Sequence[ReplaceText]) -> Iterator[str]:
    """Yield the comments of a text as they read after the edits.

    An edit names a comment when it touches nothing else but the blank space around it, as the removal of a suppression does.
    """
    for start, comment in comments:
        end = start + len(comment)
        own = [
            item
            for item in edits
            if item.start < end
            and item.end > start
            and not (text[item.start : max(item.start, start)] + text[min(item.end, end) : item.end]).strip()
        ]
        if not own:
            yield comment
            continue
        first = min(start, *(item.start for item in own))
        last = max(end, *(item.end for item in own))
        left = splice(
            text[first:last], [Edit(item.start - first, item.end - first, item.new) for item in own]
        ).strip()
        if left:
            yield left


class _EditedText:
    """One text of a proof, before or after the edits, with the spans of the edits."""

    __slots__ = ("_known", "met", "offsets", "spans")

    def __init__(self, offsets: Offsets, spans: list[tuple[int, int]]) -> None:
        self.offsets = offsets
        self.spans = spans
        self.met: set[tuple[int, int]] = set()
        """The edits that some statement answers for."""
        self._known: dict[Any, tuple[int, int]] = {}

    def span(self, node: Any) -> tuple[int, int]:
        """Return the offsets of a statement, decorators included."""
        known = self._known.get(node)
        if known is None:
            known = self._known[node] = self._span_of(node)
        return known

    def _span_of(self, node: Any) -> tuple[int, int]:
        end = self.offsets.offset(node.end_lineno, node.end_col_offset)
        decorators = getattr(node, "decorator_list", None)
        if not decorators:
            return self.offsets.offset(node.lineno, node.col_offset), end
        first = self.offsets.offset(decorators[0].lineno, decorators[0].col_offset)
        return self.offsets.text.rindex("@", 0, first), end

    def touched(self, node: Any) -> bool:
        """Tell whether an edit lies in a statement or at its edge."""
        start, end = self.span(node)
        return any(a <= end and b >= start for a, b in self.spans)

    def covered(self, node: Any) -> bool:
        """Tell whether a statement lies in an edit as a whole."""
        start, end = self.span(node)
        around = [(a, b) for a, b in self.spans if a <= start and b >= end]
        self.met.update(around)
        return bool(around)

    def piece(self, node: Any) -> tuple[str, list[tuple[int, int]]]:
        """Return a simple statement or a compound one's head as a module, and its edits."""
        start, end = self.span(node)
        text = self.offsets.text
        behind = "\n"
        body = getattr(node, "body", None)
        if isinstance(body, list):
            end, behind = self.span(body[0])[0], "pass\n"
        elif hasattr(node, "cases"):
            return "", []
        begin = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
        indent = text[begin:start]
        if text.startswith("elif", start) and type(node).__name__ == "If":
            start += 2
        ahead = f"if 1:\n{indent}" if indent and indent.isspace() else ""
        within = [(a, b) for a, b in self.spans if a <= end and b >= start]
        self.met.update(within)
        inside = [(max(a, start) - start + len(ahead), min(b, end) - start + len(ahead)) for a, b in within]
        return f"{ahead}{text[start:end]}{behind}", inside


def _moved_spans(edits: Sequence[ReplaceText]) -> list[tuple[int, int]]:
    """Return the span of each edit's new text in the edited text, for sorted edits."""
    found: list[tuple[int, int]] = []
    shift = 0
    for item in edits:
        found.append((item.start + shift, item.start + shift + len(item.new)))
        shift += len(item.new) - (item.end - item.start)
    return found


def prove_comments(before: str, after: str) -> None:
    """Show that two texts differ in comments and layout only.

    Raises:
        ProofError: They are not.
    """
    import ast

    try:
        same = ast.dump(ast.parse(before)) == ast.dump(ast.parse(after))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ProofError("parse", "the text is not Python") from error
    if not same:
        raise ProofError("meaning", "the program would be another one")


def _same_suite(old: list[Any], new: list[Any], sides: tuple[_EditedText, _EditedText], ast: Any) -> None:
    """Prove that two suites agree: only edits add, remove or move whole statements."""
    was, now = sides
    kept = [node for node in old if not was.covered(node)]
    left = [node for node in new if not now.covered(node)]
    if len(kept) != len(left):
        raise ProofError("meaning", "statements would appear or vanish")
    for before, after in zip(kept, left, strict=True):
        if not (was.touched(before) or (hasattr(after, "body") and now.touched(after))):
            if ast.dump(before) != ast.dump(after):
                raise ProofError("meaning", f"the statement at line {before.lineno} would change too")
            continue
        if type(before) is not type(after):
            if not hasattr(before, "body") and not hasattr(after, "body"):
                _hold_piece(before, after, sides)
                continue
            raise ProofError("meaning", f"the statement at line {before.lineno} would become another one")
        _hold_piece(before, after, sides)
        for name in ("body", "orelse", "finalbody"):
            inner_old, inner_new = getattr(before, name, None), getattr(after, name, None)
            if isinstance(inner_old, list) and isinstance(inner_new, list):
                _same_suite(inner_old, inner_new, sides, ast)
        for inner_before, inner_after in zip(
            [*getattr(before, "handlers", []), *getattr(before, "cases", [])],
            [*getattr(after, "handlers", []), *getattr(after, "cases", [])],
            strict=True,
        ):
            _same_suite(inner_before.body, inner_after.body, sides, ast)


def _hold_piece(before: Any, after: Any, sides: tuple[_EditedText, _EditedText]) -> None:
    """Refuse a changed statement whose meaning differs outside the edits.

    Of a compound statement only the head is compared; another reader parses both.

    Raises:
        ProofError: Outside the edits it would mean something else.
    """
    (old, gone), (now, new) = sides[0].piece(before), sides[1].piece(after)
    if old == now or type(before).__name__ in ("Try", "TryStar"):
        return
    try:
        same_outside(old, now, gone, new)
    except OtherMeaningError as error:
        raise ProofError(
            "meaning", f"the statement at line {before.lineno} would mean something else: {error}"
        ) from error


def _comments_with_offsets(text: str) -> list[tuple[int, str]]:
    """Return the comments of a text with the offsets at which they start."""
    import tokenize

    try:
        return list(comment_tokens(text))
    except (tokenize.TokenError, SyntaxError) as error:
        raise ProofError("parse", "the result cannot be read token by token") from error
