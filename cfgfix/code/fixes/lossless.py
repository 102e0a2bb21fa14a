"""Check with libcst that an edited statement means the same outside its edits.

Text that no edit names is the same letter by letter; what it means may still change, as `x` does in `not x` when it becomes
`a or b`. So both trees are walked together. Two parts agree when they are equal, when each lies within an edit, or when they
are of one kind and their parts agree. A link of a chain that an edit names may be missing in one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Spans = Sequence[tuple[int, int]]

PUNCTUATION = frozenset(
    {
        "Comma", "Dot", "AssignEqual", "LeftParen", "RightParen", "LeftSquareBracket", "RightSquareBracket", "LeftCurlyBrace",
        "RightCurlyBrace", "Colon", "Semicolon", "Comment", "Newline", "EmptyLine", "SimpleWhitespace", "ParenthesizedWhitespace",
        "TrailingWhitespace", "MaybeSentinel",
    }
)  # fmt: skip
"""Nodes that mean nothing on their own: comments are held elsewhere, and brackets show in the shape of the tree."""

WRAPPERS = frozenset({"Call", "Attribute", "Subscript", "Assign", "Expr"})
"""What may come or go around a part: a link of a chain, or the target that a statement gets or loses."""


class OtherMeaningError(Exception):
    """The statement means something else outside the edits; the message tells where."""


def same_outside(before: str, after: str, gone: Spans, new: Spans) -> None:
    """Check that two statements mean the same outside the edits.

    Args:
        before: The text as it was.
        after: The text as it is to be.
        gone: The edits, as offsets in `before`.
        new: The same edits, as offsets in `after`.

    Raises:
        OtherMeaningError: libcst cannot read one of them, or it means something else outside the edits.
    """
    was, now = _LosslessText(before, gone), _LosslessText(after, new)
    _compare_nodes(was, was.root, now, now.root, set())


class _LosslessText:
    """One text parsed by libcst, with the spans of its edits in bytes."""

    __slots__ = ("_spans", "edits", "root", "text")

    def __init__(self, text: str, edits: Spans) -> None:
        import libcst
        from libcst.metadata import ByteSpanPositionProvider, MetadataWrapper

        try:
            wrapper = MetadataWrapper(libcst.parse_module(text))
        except (libcst.ParserSyntaxError, RecursionError) as error:
            raise OtherMeaningError("libcst does not read it") from error
        self.root = wrapper.module
        self._spans = wrapper.resolve(ByteSpanPositionProvider)
        self.text = text.encode()
        self.edits = [(len(text[:start].encode()), len(text[:end].encode())) for start, end in edits]

    def span(self, node: Any) -> tuple[int, int]:
        place = self._spans.get(node)
        return (place.start, place.start + place.length) if place is not None else (0, 0)

    def edit_around(self, node: Any) -> int | None:
        """Return the number of the edit that covers a node, or None."""
        start, end = self.span(node)
        around = (number for number, (a, b) in enumerate(self.edits) if a <= start < end <= b)
        return next(around, None)

    def touched(self, node: Any) -> bool:
        """Tell whether an edit overlaps a node or touches its edge."""
        start, end = self.span(node)
        return any(a <= end and b >= start for a, b in self.edits)

    def parts(self, node: Any) -> tuple[list[Any], dict[int, int]]:
        """Return a node's children outside the edits, and their number in each edit.

        Punctuation is left out.
        """
        kept: list[Any] = []
        named: dict[int, int] = {}
        for child in node.children:
            if type(child).__name__ in PUNCTUATION:
                continue
            edit = self.edit_around(child)
            if edit is None:
                kept.append(child)
            else:
                named[edit] = named.get(edit, 0) + 1
        return kept, named

    def within(self, node: Any) -> Any:
        """Return the inner expression of a node whose other text lies in edits, or None.

        The inner expression is the receiver of a call or attribute, or the value of an assignment.
        """
        kind = type(node).__name__
        if kind not in WRAPPERS:
            return None
        inner = node.func if kind == "Call" else node.value
        if inner is None or kind == "Expr":
            return inner
        (start, end), (first, last) = self.span(node), self.span(inner)
        left = bytearray(self.text[start:end])
        for begin, stop in [*self.edits, (first, last)]:
            for position in range(max(start, begin), min(stop, end)):
                left[position - start] = 32
        return None if left.translate(None, b" \t\r\n\\()") else inner


def _compare_nodes(was: _LosslessText, old: Any, now: _LosslessText, new: Any, used: set[int]) -> None:
    if old.deep_equals(new):
        return
    inner = was.within(old)
    if inner is not None:
        _compare_nodes(was, inner, now, new, used)
        return
    inner = now.within(new)
    if inner is not None:
        _compare_nodes(was, old, now, inner, used)
        return
    (before, gone), (after, come) = was.parts(old), now.parts(new)
    named = gone.keys() | come.keys()
    if (
        type(old) is not type(new)
        or len(before) != len(after)
        or (_plain_fields(old) != _plain_fields(new) and not (was.touched(old) and now.touched(new)))
        # One part becomes one other, or parts come, or parts go.
        or any(gone.get(edit, 0) and come.get(edit, 0) and gone[edit] + come[edit] > 2 for edit in named)
        or named & used
    ):
        raise OtherMeaningError(f"`{_code_of(was, old)}` would become `{_code_of(now, new)}`")
    used |= named
    for one, other in zip(before, after, strict=True):
        _compare_nodes(was, one, now, other, used)


def _plain_fields(node: Any) -> list[Any]:
    """Return the plain field values of a node: names, numbers, flags, None."""
    return [
        value
        for name in type(node).__dataclass_fields__
        if isinstance(value := getattr(node, name), (str, bool, int, type(None)))
    ]


def _code_of(side: _LosslessText, node: Any) -> str:
    start, end = side.span(node)
    text = " ".join(side.text[start:end].decode("utf-8", "replace").split())
    return text if len(text) <= 60 else f"{text[:57]}..."
