"""Confirm what was found, and rewrite it, with libcst: only the expression or statement concerned is parsed.

libcst keeps every blank and comment, so what an edit does not name stays as it is written. The proof of a whole
file's edits is `prove`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from cfgfix.edits import Edit, ReplaceText, splice
from cfgfix.source import layout
from cfgfix.source.hit import Rewrite
from cfgfix.source.summary import Call, Place, Scope
from cfgfix.source.texts import CannotRewriteError, Offsets


def contains(outer: Place, inner: Place) -> bool:
    """Tell whether a place lies within another one."""
    return (outer[0], outer[1]) <= (inner[0], inner[1]) and (inner[2], inner[3]) <= (outer[2], outer[3])


def smallest_call(scope: Scope, place: Place) -> Call | None:
    """Return the innermost call of a scope that holds a place."""
    best: Call | None = None
    for call in scope.calls:
        if contains(call.place, place) and (best is None or contains(best.place, call.place)):
            best = call
    return best


def _parse(text: str) -> Any:
    """Return the libcst node of an expression that may span lines.

    Raises:
        CannotRewriteError: libcst does not read it as one expression.
    """
    import libcst

    try:
        return libcst.parse_expression(f"({text})")
    except (libcst.ParserSyntaxError, RecursionError) as error:
        raise CannotRewriteError("libcst does not read the expression") from error


def _code(node: Any) -> str:
    import libcst

    return libcst.Module([]).code_for_node(node)


def _unwrapped(node: Any) -> str:
    """Return the code of a node that `_parse` gave, without the brackets it put around."""
    code = _code(node)
    return code[1:-1] if code.startswith("(") and code.endswith(")") else code


def confirm(scope: Scope, place: Place, offsets: Offsets) -> bool:
    """Tell whether libcst sees the same node at a place: the call, or else the statement that holds it."""
    import libcst

    call = smallest_call(scope, place)
    start, end = offsets.span(place)
    if call is not None:
        begin, stop = offsets.span(call.place)
        try:
            node = _parse(offsets.text[begin:stop])
        except CannotRewriteError:
            return False
        if not isinstance(node, libcst.Call):
            return False
        if call.name_place == place:
            func = node.func
            name = func.attr.value if isinstance(func, libcst.Attribute) else getattr(func, "value", None)
            return bool(name == offsets.text[start:end])
        return True
    text = offsets.text[start:end]
    try:
        _parse(text)
    except CannotRewriteError:
        import textwrap

        line_start = offsets.offset(place[0], 0)
        whole = textwrap.dedent(offsets.text[line_start:end])
        try:
            libcst.parse_module(whole if not whole.rstrip().endswith(":") else whole.rstrip() + " pass\n")
        except (libcst.ParserSyntaxError, RecursionError):
            # The head of a compound statement, or a definition's name: its first line is read on its own.
            return text.split("(")[0].strip().replace(".", "").replace("_", "").isalnum()
    return True


def changes(rewrites: Iterable[Rewrite], offsets: Offsets) -> tuple[ReplaceText, ...]:
    """Return the text changes that carry out some rewrites.

    Raises:
        CannotRewriteError: One of them cannot be made exactly.
    """
    found: list[ReplaceText] = []
    for rewrite in rewrites:
        found += (
            layout.change(rewrite, offsets) if rewrite.kind in layout.KINDS else (_change(rewrite, offsets),)
        )
    return tuple(found)


def _change(rewrite: Rewrite, offsets: Offsets) -> ReplaceText:
    text = offsets.text
    start, end = offsets.span(rewrite.place)
    if rewrite.kind == "replace":
        _parse(text[start:end])
        return ReplaceText(start, end, rewrite.text)
    if rewrite.kind == "drop-statement":
        return _drop(rewrite, offsets)
    node = _parse(text[start:end])
    if rewrite.kind == "rename":
        return _minimal(text, start, end, _unwrapped(_renamed(node, rewrite.text)))
    if rewrite.kind == "drop-item":
        return _minimal(text, start, end, _unwrapped(_without_item(node, rewrite.name)))
    import libcst

    if not isinstance(node, libcst.Call):
        raise CannotRewriteError("there is no call at this place")
    if rewrite.kind == "unchain":
        func = node.func
        if not isinstance(func, libcst.Attribute):
            raise CannotRewriteError("the call is no part of a chain")
        inner = _code(func.value)
        if "#" in _code(func.dot) or any("#" in _code(item) for item in node.args):
            raise CannotRewriteError("a comment stands in the call")
        length = len(text[start:end]) - len(_tail(text[start:end], inner))
        return ReplaceText(start + length, end, "")
    if rewrite.kind == "keyword":
        return _minimal(text, start, end, _unwrapped(_with_keyword(node, rewrite.name, rewrite.text)))
    if rewrite.kind == "drop-keyword":
        return _minimal(text, start, end, _unwrapped(_without_keyword(node, rewrite.name)))
    if rewrite.kind == "signature":
        node = _without_keyword(
            _with_renamed_keyword(
                _with_keyword(node, "output_types", rewrite.text), "output_types", "output_signature"
            ),
            "output_shapes",
        )
        return _minimal(text, start, end, _unwrapped(node))
    if rewrite.kind == "rename-keyword":
        return _minimal(text, start, end, _unwrapped(_with_renamed_keyword(node, rewrite.name, rewrite.text)))
    raise CannotRewriteError(f"no rewrite is called {rewrite.kind}")


def _tail(text: str, inner: str) -> str:
    """Return what follows the inner expression of a chain."""
    if not text.startswith(inner):
        raise CannotRewriteError("the chain is written in a way that cannot be cut exactly")
    return text[len(inner) :]


def _renamed(node: Any, name: str) -> Any:
    import libcst

    if isinstance(node, libcst.Attribute):
        return node.with_changes(attr=node.attr.with_changes(value=name))
    if isinstance(node, libcst.Name):
        return node.with_changes(value=name)
    if isinstance(node, libcst.Call):
        return node.with_changes(func=_renamed(node.func, name))
    raise CannotRewriteError("there is no name at this place")


def _with_keyword(node: Any, name: str, value: str) -> Any:
    import libcst

    expression = libcst.parse_expression(value)
    arguments = list(node.args)
    for position, item in enumerate(arguments):
        if item.keyword is not None and item.keyword.value == name:
            arguments[position] = item.with_changes(value=expression)
            return node.with_changes(args=arguments)
    new = libcst.Arg(
        value=expression,
        keyword=libcst.Name(name),
        equal=libcst.AssignEqual(libcst.SimpleWhitespace(""), libcst.SimpleWhitespace("")),
    )
    if any(item.star == "**" for item in arguments):
        raise CannotRewriteError("the call hides its keywords in `**`")
    if arguments:
        last = arguments[-1]
        comma = last.comma
        if isinstance(comma, libcst.Comma):
            # A trailing comma stays one; the new argument goes on a line like the others.
            previous = arguments[-2].comma if len(arguments) > 1 else None
            between = (
                previous
                if isinstance(previous, libcst.Comma)
                else libcst.Comma(
                    whitespace_after=node.whitespace_before_args
                    if isinstance(node.whitespace_before_args, libcst.ParenthesizedWhitespace)
                    else libcst.SimpleWhitespace(" ")
                )
            )
            if "#" in _code(comma):
                raise CannotRewriteError("a comment stands after the last argument")
            arguments[-1] = last.with_changes(comma=between)
            new = new.with_changes(comma=comma)
        else:
            after = last.whitespace_after_arg
            previous = arguments[-2].comma if len(arguments) > 1 else None
            if isinstance(previous, libcst.Comma) and "#" not in _code(previous):
                between = previous
            elif isinstance(after, libcst.ParenthesizedWhitespace) and isinstance(
                node.whitespace_before_args, libcst.ParenthesizedWhitespace
            ):
                between = libcst.Comma(whitespace_after=node.whitespace_before_args)
            else:
                between = libcst.Comma(whitespace_after=libcst.SimpleWhitespace(" "))
            arguments[-1] = last.with_changes(comma=between, whitespace_after_arg=libcst.SimpleWhitespace(""))
            if "#" in _code(after):
                raise CannotRewriteError("a comment stands after the last argument")
            new = new.with_changes(whitespace_after_arg=after)
    return node.with_changes(args=[*arguments, new])


def _without_keyword(node: Any, name: str) -> Any:
    for position, item in enumerate(node.args):
        if item.keyword is not None and item.keyword.value == name:
            return node.with_changes(args=_taken_out(list(node.args), position, "whitespace_after_arg"))
    raise CannotRewriteError(f"the call has no argument {name}")


def _without_item(node: Any, name: str) -> Any:
    import libcst

    for position, item in enumerate(node.elements if isinstance(node, libcst.Dict) else ()):
        key = getattr(item, "key", None)
        if isinstance(key, libcst.SimpleString) and key.evaluated_value == name:
            return node.with_changes(elements=_taken_out(list(node.elements), position, None))
    raise CannotRewriteError(f"the dictionary has no {name}")


def _taken_out(items: list[Any], position: int, after: str | None) -> list[Any]:
    """Return arguments or entries without one of them; the last one left ends as the last one did.

    Raises:
        CannotRewriteError: A comment stands beside it.
    """
    import libcst

    gone = items.pop(position)
    if "#" in _code(gone):
        raise CannotRewriteError("a comment stands beside it")
    if position == len(items) and items:
        last = items[-1]
        if isinstance(last.comma, libcst.Comma) and "#" in _code(last.comma):
            raise CannotRewriteError("a comment stands before it")
        ends = {"comma": gone.comma}
        if after is not None:
            ends[after] = getattr(gone, after)
        items[-1] = last.with_changes(**ends)
    return items


def _with_renamed_keyword(node: Any, name: str, new: str) -> Any:
    arguments = list(node.args)
    for position, item in enumerate(arguments):
        if item.keyword is not None and item.keyword.value == name:
            arguments[position] = item.with_changes(keyword=item.keyword.with_changes(value=new))
            return node.with_changes(args=arguments)
    raise CannotRewriteError(f"the call has no argument {name}")


def _drop(rewrite: Rewrite, offsets: Offsets) -> ReplaceText:
    """Return the change that takes a statement out with its line; `pass` where it is the only one of its suite."""
    text = offsets.text
    start, end = offsets.span(rewrite.place)
    line_start = offsets.offset(rewrite.place[0], 0)
    line_end = end
    while line_end < len(text) and text[line_end] not in "\r\n":
        line_end += 1
    alone = not text[line_start:start].strip() and not text[end:line_end].strip()
    siblings = layout.siblings(rewrite.scope, rewrite.place)
    if siblings <= 1:
        return ReplaceText(start, end, "pass")
    if not alone:
        raise CannotRewriteError("other code or a comment stands on its line")
    if text.startswith("\r\n", line_end):
        line_end += 2
    elif line_end < len(text):
        line_end += 1
    return ReplaceText(line_start, line_end, "")


def _minimal(text: str, start: int, end: int, new: str) -> ReplaceText:
    """Return a change without the text that old and new have in common at both ends."""
    old = text[start:end]
    head = 0
    while head < len(old) and head < len(new) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < len(old) - head and tail < len(new) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return ReplaceText(start + head, end - tail, new[head : len(new) - tail])


# Proof


class ProofError(Exception):
    """The edited text is not what the edits mean; the message tells why."""


def prove(before: str, edits: Sequence[ReplaceText]) -> str:
    """Return the text with the edits applied, proven: it parses, only edited statements differ, comments are kept.

    Raises:
        ProofError: One of these does not hold.
    """
    import ast

    after = splice(before, [Edit(item.start, item.end, item.new) for item in edits])
    try:
        old, new = ast.parse(before), ast.parse(after)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ProofError("the result is not Python any more") from error
    offsets = Offsets(before)
    spans = [(item.start, item.end) for item in edits]
    sides = (_Side(offsets, spans), _Side(Offsets(after), _moved(edits)))
    try:
        _same_suite(old.body, new.body, sides, ast)
    except RecursionError as error:
        raise ProofError("the file nests too deep to be proven") from error
    expected = sorted(_with_edited(before, _comments(before), edits))
    if expected != sorted(text for _, text in _comments(after)):
        raise ProofError("a comment would be lost")
    return after


def _with_edited(text: str, comments: list[tuple[int, str]], edits: Sequence[ReplaceText]) -> Iterator[str]:
    """Yield the comments as the edits mean them to be: one that an edit names is what the edit makes of it.

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


class _Side:
    """One text of a proof, before or after: its places, and where the edits lie in it."""

    __slots__ = ("offsets", "spans")

    def __init__(self, offsets: Offsets, spans: list[tuple[int, int]]) -> None:
        self.offsets = offsets
        self.spans = spans

    def span(self, node: Any) -> tuple[int, int]:
        """Return the offsets of a statement, decorators included."""
        decorators = getattr(node, "decorator_list", None)
        line, column = (
            (decorators[0].lineno, decorators[0].col_offset) if decorators else (node.lineno, node.col_offset)
        )
        return self.offsets.offset(line, column), self.offsets.offset(node.end_lineno, node.end_col_offset)

    def touched(self, node: Any) -> bool:
        """Tell whether an edit lies in a statement or at its edge."""
        start, end = self.span(node)
        return any(a <= end and b >= start for a, b in self.spans)

    def covered(self, node: Any) -> bool:
        """Tell whether a statement lies in an edit as a whole."""
        start, end = self.span(node)
        return any(a <= start and b >= end for a, b in self.spans)


def _moved(edits: Sequence[ReplaceText]) -> list[tuple[int, int]]:
    """Return where the new text of each edit lies in the edited text."""
    found: list[tuple[int, int]] = []
    shift = 0
    for item in sorted(edits, key=lambda item: (item.start, item.end)):
        found.append((item.start + shift, item.start + shift + len(item.new)))
        shift += len(item.new) - (item.end - item.start)
    return found


def _same_suite(old: list[Any], new: list[Any], sides: tuple[_Side, _Side], ast: Any) -> None:
    """Hold two suites against each other: statements come, go or move only as a whole, within edits."""
    was, now = sides
    kept = [node for node in old if not was.covered(node)]
    left = [node for node in new if not now.covered(node)]
    if len(kept) != len(left):
        raise ProofError("statements would appear or vanish")
    for before, after in zip(kept, left, strict=True):
        if not (was.touched(before) or (hasattr(after, "body") and now.touched(after))):
            if ast.dump(before) != ast.dump(after):
                raise ProofError(f"the statement at line {before.lineno} would change too")
            continue
        if type(before) is not type(after):
            if not hasattr(before, "body") and not hasattr(after, "body"):
                continue
            raise ProofError(f"the statement at line {before.lineno} would become another one")
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


def _comments(text: str) -> list[tuple[int, str]]:
    """Return the comments of a text with the offsets at which they start."""
    import io
    import tokenize

    starts = [0]
    for row in text.split("\n"):
        starts.append(starts[-1] + len(row) + 1)
    try:
        return [
            (starts[token.start[0] - 1] + token.start[1], token.string)
            for token in tokenize.generate_tokens(io.StringIO(text).readline)
            if token.type == tokenize.COMMENT
        ]
    except (tokenize.TokenError, SyntaxError) as error:
        raise ProofError("the result cannot be read token by token") from error
