"""Make the text changes that move or add statements and links of method chains."""

from __future__ import annotations

import re

from cfgfix.code.model.expressions import place_of
from cfgfix.code.model.hit import Rewrite
from cfgfix.code.model.nodes import Attribute, Call, Place
from cfgfix.code.model.positions import CannotRewriteError, Offsets
from cfgfix.code.model.summary import Event, Scope
from cfgfix.core.edits import ReplaceText

KINDS = frozenset({"append", "move-link", "move-statement", "insert", "lines", "decorate"})
"""The kinds of `Rewrite` that are carried out here."""

_SEPARATOR = re.compile(r"((?:\s|\\\r?\n)*)\.(?:\s|\\\r?\n)*")


def change(rewrite: Rewrite, offsets: Offsets) -> tuple[ReplaceText, ...]:
    """Return the text changes that carry out a rewrite of one of `KINDS`.

    Raises:
        CannotRewriteError: It cannot be made exactly.
    """
    if rewrite.kind == "append":
        return (_change_appending_call(rewrite, offsets),)
    if rewrite.kind == "move-link":
        return _move_link(rewrite, offsets)
    if rewrite.kind == "move-statement":
        return _move_statement(rewrite, offsets)
    if rewrite.kind == "insert":
        return (
            _change_inserting_lines(
                rewrite.text.split("\n"), rewrite.scope, rewrite.place, rewrite.behind, offsets
            ),
        )
    start, end = offsets.span(rewrite.place)
    indent = _indent_of_statement(offsets, rewrite.place)
    lines = rewrite.text.split("\n")
    if rewrite.kind == "decorate":
        return (
            ReplaceText(start, start, "".join(f"{line}{newline(offsets.text)}{indent}" for line in lines)),
        )
    return (ReplaceText(start, end, f"{newline(offsets.text)}{indent}".join(lines)),)


def newline(text: str) -> str:
    """Return the line ending that a text uses."""
    end = text.find("\n")
    if end < 0:
        return "\r" if "\r" in text else "\n"
    return "\r\n" if text[max(0, end - 1) : end] == "\r" else "\n"


def _link_offsets(scope: Scope, call: Call, offsets: Offsets) -> tuple[int, int, int]:
    """Return three offsets of a link in a method chain: its start, its dot, its end.

    The start is where the blank space before the dot begins.

    Raises:
        CannotRewriteError: A comment or a bracket stands between the link and what it is called on.
    """
    if not isinstance(call.func, Attribute):
        raise CannotRewriteError("the call is no part of a chain")
    receiver = place_of(call.func.base, scope)
    if receiver is None:
        raise CannotRewriteError("what the method is called on is not kept")
    start = offsets.offset(*receiver.end)
    name = offsets.offset(call.name_line, call.name_place.column)
    found = _SEPARATOR.fullmatch(offsets.text[start:name])
    if found is None:
        raise CannotRewriteError("a comment or a bracket stands before the call")
    return start, start + len(found[1]), offsets.span(call.place)[1]


def _call_at(scope: Scope, place: Place) -> Call:
    call = next((item for item in scope.calls if item.place == place), None)
    if call is None:
        raise CannotRewriteError("there is no call at this place")
    return call


def _change_appending_call(rewrite: Rewrite, offsets: Offsets) -> ReplaceText:
    """Return the change that appends a method call to a chain, in the chain's layout."""
    call = _call_at(rewrite.scope, rewrite.place)
    end = offsets.span(call.place)[1]
    separator = ""
    if isinstance(call.func, Attribute):
        start, dot, _ = _link_offsets(rewrite.scope, call, offsets)
        separator = offsets.text[start:dot]
    return ReplaceText(end, end, separator + rewrite.text)


def _move_link(rewrite: Rewrite, offsets: Offsets) -> tuple[ReplaceText, ...]:
    """Return the changes that move a method call before or behind another one.

    A link that is a statement of its own, `d = d.cache()`, takes the statement with it.
    """
    assert rewrite.target is not None
    scope = rewrite.scope
    moved = _call_at(scope, rewrite.place)
    start, dot, end = _link_offsets(scope, moved, offsets)
    goal_start, goal_dot, goal_end = _link_offsets(scope, _call_at(scope, rewrite.target), offsets)
    before, own, link = offsets.text[goal_start:goal_dot], offsets.text[start:dot], offsets.text[dot:end]
    if "\n" not in own:
        own = before
    if rewrite.behind:
        put = ReplaceText(goal_end, goal_end, (before if "\n" in before else own) + link)
    elif own == before:
        put = ReplaceText(goal_start, goal_start, before + link)
    else:
        # The goal takes the line that the other one had.
        put = ReplaceText(goal_start, goal_dot, before + link + own)
    if rewrite.statement is None:
        return put, ReplaceText(start, end, "")
    gone = lines_of(scope, rewrite.statement, offsets)
    if offsets.text[offsets.span(rewrite.statement)[1] : gone[1]].strip() or _comment_above(gone[0], offsets):
        raise CannotRewriteError("a comment stands beside it")
    return put, ReplaceText(*gone, "")


def _indent_of_statement(offsets: Offsets, place: Place) -> str:
    """Return the indentation of a statement.

    Raises:
        CannotRewriteError: Other code stands before it on its line.
    """
    start = offsets.offset(place.line, place.column)
    before = offsets.text[offsets.offset(place.line, 0) : start]
    if before.strip():
        raise CannotRewriteError("other code stands on its line")
    return before


def lines_of(scope: Scope, place: Place, offsets: Offsets) -> tuple[int, int]:
    """Return where the lines of a statement begin and end.

    Its decorators and a comment at its end are included.

    Raises:
        CannotRewriteError: Other code stands on them.
    """
    text = offsets.text
    first = place.line
    event = next((item for item in scope.events() if item.place == place), None)
    if event is not None and event.kind == "define":
        inner = scope.module.summary.scopes[event.inner]
        for decorator in inner.decorators:
            spot = place_of(decorator, scope)
            first = min(first, spot.line) if spot is not None else first
        if text[offsets.offset(first, 0) :].lstrip()[:1] != "@" and inner.decorators:
            raise CannotRewriteError("the decorators are written in a way that cannot be moved exactly")
    else:
        _indent_of_statement(offsets, place)
    begin, end = offsets.offset(first, 0), offsets.span(place)[1]
    stop = end
    while stop < len(text) and text[stop] not in "\r\n":
        stop += 1
    rest = text[end:stop].strip()
    if rest and not rest.startswith("#"):
        raise CannotRewriteError("other code stands on its line")
    if text.startswith("\r\n", stop):
        return begin, stop + 2
    return begin, min(stop + 1, len(text))


def _comment_above(begin: int, offsets: Offsets) -> bool:
    """Tell whether the line directly above an offset is a comment."""
    return offsets.text[:begin].rstrip("\r\n").rpartition("\n")[2].lstrip().startswith(
        "#"
    ) and not offsets.text[:begin].endswith(("\n\n", "\n\r\n", "\r\r"))


def _reindented_lines(lines: str, old: str, new: str) -> str:
    """Return lines with their indentation changed from `old` to `new`.

    Raises:
        CannotRewriteError: A text over several lines stands in them, whose value would change.
    """
    if old == new:
        return lines
    import io
    import tokenize

    inside = ""
    try:
        plain = "".join(row.removeprefix(old) for row in lines.splitlines(keepends=True))
        for token in tokenize.generate_tokens(io.StringIO(plain).readline):
            name = tokenize.tok_name[token.type]
            if name in ("STRING", "FSTRING_MIDDLE") and token.start[0] != token.end[0]:
                inside = name
            if name in ("FSTRING_START", "TSTRING_START") and token.string.endswith(('"""', "'''")):
                inside = name
    except (tokenize.TokenError, SyntaxError) as error:
        raise CannotRewriteError("its lines cannot be read on their own") from error
    if inside:
        raise CannotRewriteError("a text over several lines stands in it")
    return "".join(
        new + row.removeprefix(old) if row.strip() else row for row in lines.splitlines(keepends=True)
    )


def _change_inserting_lines(
    lines: list[str], scope: Scope, place: Place, behind: bool, offsets: Offsets
) -> ReplaceText:
    """Return the change that puts lines beside a statement, with its indentation."""
    indent = _indent_of_statement(offsets, place)
    end = newline(offsets.text)
    return _put_statement("".join(f"{indent}{line}{end}" for line in lines), scope, place, behind, offsets)


def _put_statement(lines: str, scope: Scope, place: Place, behind: bool, offsets: Offsets) -> ReplaceText:
    begin, stop = lines_of(scope, place, offsets)
    if not behind:
        return ReplaceText(begin, begin, lines)
    if stop == len(offsets.text) and offsets.text[-1:] not in ("\n", "\r"):
        return ReplaceText(stop, stop, newline(offsets.text) + lines.rstrip("\r\n"))
    return ReplaceText(stop, stop, lines)


def _move_statement(rewrite: Rewrite, offsets: Offsets) -> tuple[ReplaceText, ...]:
    """Return the changes that move statements, in order, before or behind another."""
    assert rewrite.target is not None
    scope = rewrite.scope
    new = _indent_of_statement(offsets, rewrite.target)
    text = ""
    gone: list[ReplaceText] = []
    for place in (rewrite.place, *rewrite.others):
        begin, stop = lines_of(scope, place, offsets)
        if _comment_above(begin, offsets):
            raise CannotRewriteError("a comment stands above it, which may be about more than it")
        lines = offsets.text[begin:stop]
        if not lines.endswith(("\n", "\r")):
            lines += newline(offsets.text)
        old = re.match(r"[ \t]*", lines)
        assert old is not None
        _free_of(lines, frozenset(rewrite.without))
        text += _reindented_lines(lines, old[0], new)
        alone = siblings(scope, place) <= 1
        gone.append(ReplaceText(begin, stop, f"{old[0]}pass{newline(offsets.text)}" if alone else ""))
    return (_put_statement(text, scope, rewrite.target, rewrite.behind, offsets), *gone)


def _free_of(lines: str, names: frozenset[str]) -> None:
    """Refuse statements that read any of the given names.

    Raises:
        CannotRewriteError: They do, or cannot be read.
    """
    import ast
    import textwrap

    if not names:
        return
    try:
        tree = ast.parse(textwrap.dedent(lines))
    except (SyntaxError, ValueError, RecursionError) as error:
        raise CannotRewriteError("its lines cannot be read on their own") from error
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names:
            raise CannotRewriteError(f"it uses {node.id}, which the loop sets")


def suite_of(scope: Scope, place: Place) -> list[Event] | None:
    """Return the suite that contains a statement, or None."""
    suites = [scope.body]
    while suites:
        suite = suites.pop()
        if any(event.place == place for event in suite):
            return suite
        suites += [body for event in suite for _, body in event.bodies]
    return None


def siblings(scope: Scope, place: Place) -> int:
    """Return how many statements the suite of a statement has.

    The summary leaves some kinds out, so few is safe.
    """
    return len(suite_of(scope, place) or (place,))
