"""Rewrite one expression by its text: all text outside the edit stays as it is.

Every function takes the text of an expression and returns an edit of it, of whole words and signs. Python's own parser says where its parts begin and
end; between them stand only blanks, brackets, commas, backslashes and comments, so these are read letter by letter.
The proof of what came out is `proof.prove`, which reads it with libcst.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cfgfix.code.model.positions import CannotRewriteError, Offsets
from cfgfix.core.edits import Edit
from cfgfix.core.records import dataclass

ONLY_TREE = 0x400
"""`ast.PyCF_ONLY_AST`, without the import of `ast`."""


class _ExpressionText:
    """The text of one expression with its tree; offsets are those of the text."""

    __slots__ = ("_offsets", "node", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.node = tree_of(text)
        self._offsets = Offsets(f"({text})")

    def start(self, node: Any) -> int:
        return self._offsets.offset(node.lineno, node.col_offset) - 1

    def end(self, node: Any) -> int:
        return self._offsets.offset(node.end_lineno, node.end_col_offset) - 1

    def marks(self, start: int, end: int) -> Iterator[tuple[int, str]]:
        """Yield the characters between two offsets that are not blank, with their offsets.

        A comment counts as a single `#`.
        """
        position = start
        while position < end:
            letter = self.text[position]
            if letter == "#":
                yield position, letter
                while position < end and self.text[position] not in "\r\n":
                    position += 1
                continue
            if not letter.isspace() and letter != "\\":
                yield position, letter
            position += 1

    def bracketed_start(self, node: Any, start: int) -> tuple[int, int]:
        """Return where a node's own opening brackets begin, and their number.

        Only brackets of the node open between `start` and it.
        """
        opened = [place for place, letter in self.marks(start, self.start(node)) if letter == "("]
        return (opened[0] if opened else self.start(node)), len(opened)

    def bracketed_end(self, node: Any, count: int) -> int:
        """Return the offset behind a node's last closing bracket of `count`."""
        end = self.end(node)
        if not count:
            return end
        for place, letter in self.marks(end, len(self.text)):
            if letter == ")":
                count -= 1
                if not count:
                    return place + 1
        raise CannotRewriteError("the brackets cannot be told apart")


def tree_of(text: str) -> Any:
    """Return the tree of an expression that may span lines.

    It is read as if it stood in brackets.

    Raises:
        CannotRewriteError: It is not one expression.
    """
    import warnings

    try:
        with warnings.catch_warnings():
            # The parser warns of odd literals such as `"\d"`; that is the file's business.
            warnings.simplefilter("ignore")
            return compile(f"({text}\n)", "<expression>", "eval", ONLY_TREE, True).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise CannotRewriteError("it cannot be read as one expression") from error


def _is_kind(node: Any, kind: str) -> bool:
    return type(node).__name__ == kind


@dataclass(frozen=True, slots=True)
class _ListItem:
    """An argument of a call or an entry of a dictionary.

    Attributes:
        start, end: Its offsets, with brackets of its own.
        name: The keyword, or the key where it is a plain text.
        hides: Whether it stands for others, as `**options` does.
        value: Where the value of a keyword begins, with brackets of its own.
    """

    start: int
    end: int
    name: str | None
    hides: bool
    value: int


@dataclass(frozen=True, slots=True)
class _ItemList:
    """The arguments of a call or entries of a dictionary, without the brackets."""

    text: str
    items: list[_ListItem]
    start: int
    end: int

    def gap(self, position: int) -> str:
        """Return the text between an item and the next item or the closing bracket."""
        end = self.items[position + 1].start if position + 1 < len(self.items) else self.end
        return self.text[self.items[position].end : end]


def _offset_behind_comma(text: _ExpressionText, start: int, end: int) -> int:
    """Return the offset behind the first comma between two offsets.

    Without a comma it is the first offset.
    """
    return next((place + 1 for place, letter in text.marks(start, end) if letter == ","), start)


def _argument_list(text: str) -> _ItemList:
    """Parse a call and return its arguments with their offsets.

    Raises:
        CannotRewriteError: It is no call, or its only argument is a generator that shares the call's brackets.
    """
    whole = _ExpressionText(text)
    call = whole.node
    if not _is_kind(call, "Call"):
        raise CannotRewriteError("there is no call at this place")
    end = whole.end(call) - 1
    open_ = next(
        (place for place, letter in whole.marks(whole.end(call.func), len(text)) if letter == "("), None
    )
    if open_ is None or text[end] != ")":
        raise CannotRewriteError("the brackets cannot be told apart")
    position = start = open_ + 1
    items: list[_ListItem] = []
    for node in sorted([*call.args, *call.keywords], key=whole.start):
        begin, count = whole.bracketed_start(node, position)
        stop = whole.bracketed_end(node, count)
        if begin < start or stop > end:
            raise CannotRewriteError("a generator is the only argument")
        name, value = None, begin
        if _is_kind(node, "keyword"):
            name = node.arg
            if name is not None:
                if not text.startswith(name, begin):
                    raise CannotRewriteError("the keyword is written in another way than it is read")
                equal = next(place for place, letter in whole.marks(begin + len(name), stop) if letter == "=")
                value, _ = whole.bracketed_start(node.value, equal + 1)
        items.append(_ListItem(begin, stop, name, _is_kind(node, "keyword") and node.arg is None, value))
        position = _offset_behind_comma(whole, stop, end)
    return _ItemList(text, items, start, end)


def _entry_list(text: str) -> _ItemList:
    """Parse a dictionary and return its entries with their offsets.

    Raises:
        CannotRewriteError: It is none.
    """
    whole = _ExpressionText(text)
    found = whole.node
    if not _is_kind(found, "Dict"):
        raise CannotRewriteError("there is no dictionary at this place")
    start, end = whole.start(found) + 1, whole.end(found) - 1
    position = start
    items: list[_ListItem] = []
    for key, node in zip(found.keys, found.values, strict=True):
        if key is None:
            begin = next(
                (place for place, letter in whole.marks(position, whole.start(node)) if letter == "*"), -1
            )
            if begin < 0:
                raise CannotRewriteError("the entries cannot be told apart")
            _, count = whole.bracketed_start(node, begin + 2)
        else:
            begin, opened = whole.bracketed_start(key, position)
            colon = next(
                place
                for place, letter in whole.marks(whole.bracketed_end(key, opened), whole.start(node))
                if letter == ":"
            )
            _, count = whole.bracketed_start(node, colon + 1)
        stop = whole.bracketed_end(node, count)
        name = key.value if _is_kind(key, "Constant") and isinstance(key.value, str) else None
        items.append(_ListItem(begin, stop, name, key is None, begin))
        position = _offset_behind_comma(whole, stop, end)
    return _ItemList(text, items, start, end)


def renamed(text: str, name: str) -> Edit:
    """Return the edit that gives a dotted name or a called function another last name.

    Raises:
        CannotRewriteError: There is no name at its end.
    """
    whole = _ExpressionText(text)
    node = whole.node
    while _is_kind(node, "Call"):
        node = node.func
    old = node.attr if _is_kind(node, "Attribute") else getattr(node, "id", None)
    end = whole.end(node)
    if old is None or text[end - len(old) : end] != old:
        raise CannotRewriteError("there is no name at this place")
    return Edit(end - len(old), end, name)


def unchained(text: str) -> Edit:
    """Return the edit that removes a method call from its chain: `d.cache()` to `d`.

    Raises:
        CannotRewriteError: It is no call of a method, or a comment stands in it.
    """
    whole = _ExpressionText(text)
    call = whole.node
    if not _is_kind(call, "Call"):
        raise CannotRewriteError("there is no call at this place")
    if not _is_kind(call.func, "Attribute"):
        raise CannotRewriteError("the call is no part of a chain")
    end = whole.end(call.func.value)
    for place, letter in whole.marks(end, whole.end(call.func)):
        if letter != ")":
            break
        end = place + 1
    if "#" in text[end:]:
        raise CannotRewriteError("a comment stands in the call")
    return Edit(end, len(text), "")


def with_keyword(text: str, name: str, value: str) -> Edit:
    """Return the edit that sets a keyword argument of a call, or adds it.

    A new argument is laid out like the others.

    Raises:
        CannotRewriteError: There is no call, its keywords are hidden in `**`, or a comment stands behind the last one.
    """
    tree_of(value)
    arguments = _argument_list(text)
    items = arguments.items
    for item in items:
        if item.name == name:
            return Edit(item.value, item.end, value)
    new = f"{name}={value}"
    if any(item.hides for item in items):
        raise CannotRewriteError("the call hides its keywords in `**`")
    if not items:
        return Edit(arguments.end, arguments.end, new)
    last = items[-1]
    after = arguments.gap(len(items) - 1)
    if "#" in after:
        raise CannotRewriteError("a comment stands after the last argument")
    before = text[arguments.start : items[0].start]
    between = arguments.gap(len(items) - 2) if len(items) > 1 else ""
    if "#" in between:
        # The comment belongs to the argument before; its line break and indent are the layout.
        row = between[between.rindex("#") :]
        between = row[min(row.find(end) for end in "\r\n" if end in row) :]
        between = between if "," in between else f",{between}"
    elif not between:
        own_line = "\n" in before and "#" not in before and ("," in after or "\n" in after)
        between = f",{before}" if own_line else ", "
    return Edit(last.end, last.end, between + new)


def with_renamed_keyword(text: str, name: str, new: str) -> Edit:
    """Return the edit that renames a keyword argument of a call.

    Raises:
        CannotRewriteError: It has no such keyword.
    """
    item = _keyword_item(_argument_list(text), name)
    return Edit(item.start, item.start + len(name), new)


def with_named_argument(text: str, position: int, name: str) -> Edit:
    """Return the edit that turns a positional argument into a keyword argument.

    Raises:
        CannotRewriteError: It has no such argument, stars hide which one it is, or the name is given already.
    """
    items = _argument_list(text).items
    if position >= len(items) or any(
        item.name is not None or text.startswith("*", item.start) for item in items[: position + 1]
    ):
        raise CannotRewriteError("the arguments cannot be told apart")
    if any(item.name == name for item in items):
        raise CannotRewriteError(f"the call has an argument {name} already")
    return Edit(items[position].start, items[position].start, f"{name}=")


def without_keyword(text: str, name: str) -> Edit:
    """Return the edit that removes a keyword argument from a call.

    The remaining arguments end as they ended before.

    Raises:
        CannotRewriteError: It has no such keyword, or a comment stands beside it.
    """
    arguments = _argument_list(text)
    return _edit_without(arguments, _keyword_item(arguments, name))


def with_keywords_as_one(text: str, names: tuple[str, str], new: str) -> tuple[Edit, Edit]:
    """Return the edits that replace two keyword arguments by one.

    The new argument stands where the first of the names given stood.

    Raises:
        CannotRewriteError: One of them is missing, or a comment stands beside the second.
    """
    arguments = _argument_list(text)
    first, second = (_keyword_item(arguments, name) for name in names)
    return Edit(first.start, first.end, new), _edit_without(arguments, second)


def _keyword_item(arguments: _ItemList, name: str) -> _ListItem:
    for item in arguments.items:
        if item.name == name:
            return item
    raise CannotRewriteError(f"the call has no argument {name}")


def without_entry(text: str, name: str) -> Edit:
    """Return the edit that removes an entry from a dictionary, by its key.

    Raises:
        CannotRewriteError: It has no such key, or a comment stands beside it.
    """
    entries = _entry_list(text)
    for item in entries.items:
        if item.name == name:
            return _edit_without(entries, item)
    raise CannotRewriteError(f"the dictionary has no {name}")


def _edit_without(found: _ItemList, gone: _ListItem) -> Edit:
    position = found.items.index(gone)
    if "#" in found.text[gone.start : gone.end] + found.gap(position):
        raise CannotRewriteError("a comment stands beside it")
    if position + 1 < len(found.items):
        return Edit(gone.start, found.items[position + 1].start, "")
    if not position:
        return Edit(gone.start, found.end, "")
    if "#" in found.gap(position - 1):
        raise CannotRewriteError("a comment stands before it")
    return Edit(found.items[position - 1].end, gone.end, "")
