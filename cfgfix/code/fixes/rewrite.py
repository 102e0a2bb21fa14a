"""Confirm what a check found in a text, and turn rewrites into text changes.

What an edit does not name stays as it is written. The proof of a whole file's edits is `proof.prove`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from cfgfix.code.fixes import layout, spans
from cfgfix.code.fixes.spans import ONLY_TREE, tree_of
from cfgfix.code.model.hit import Rewrite
from cfgfix.code.model.nodes import Place
from cfgfix.code.model.positions import CannotRewriteError, Offsets
from cfgfix.code.model.summary import Scope
from cfgfix.core.edits import Edit, ReplaceText


def contains(outer: Place, inner: Place) -> bool:
    """Tell whether the first place contains the second."""
    return outer.start <= inner.start and inner.end <= outer.end


def confirm(scope: Scope, place: Place, offsets: Offsets) -> bool:
    """Tell whether a file's text still has what was found at a place.

    That is the name of a call, an expression, or a statement's head.
    """
    start, end = offsets.span(place)
    text = offsets.text[start:end]
    call = scope.call_around(place)
    try:
        if call is None:
            tree_of(text)
            return True
        begin, stop = offsets.span(call.place)
        node = tree_of(offsets.text[begin:stop])
    except CannotRewriteError:
        return call is None and _begins_statement(text, offsets.text[offsets.offset(place.line, 0) : end])
    if type(node).__name__ != "Call":
        return False
    if call.name_place == place:
        return text == getattr(node.func, "attr", getattr(node.func, "id", None))
    return True


def _begins_statement(text: str, line: str) -> bool:
    """Tell whether a text is a statement or begins a compound statement or definition."""
    import textwrap

    whole = textwrap.dedent(line).rstrip()
    try:
        compile(whole + " pass\n" if whole.endswith(":") else whole, "<statement>", "exec", ONLY_TREE, True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text.split("(", maxsplit=1)[0].strip().replace(".", "").replace("_", "").isalnum()
    return True


def changes(rewrites: Iterable[Rewrite], offsets: Offsets) -> tuple[ReplaceText, ...]:
    """Return the text changes that carry out rewrites.

    Raises:
        CannotRewriteError: One of them cannot be made exactly.
    """
    found: list[ReplaceText] = []
    for rewrite in rewrites:
        make = layout.change if rewrite.kind in layout.KINDS else _text_change
        found += make(rewrite, offsets)
    return tuple(found)


def _text_change(rewrite: Rewrite, offsets: Offsets) -> Iterator[ReplaceText]:
    start, end = offsets.span(rewrite.place)
    if rewrite.kind == "drop-statement":
        yield _change_dropping_statement(rewrite, offsets)
        return
    text = offsets.text[start:end]
    if rewrite.kind == "replace":
        tree_of(text)
        yield ReplaceText(start, end, rewrite.text)
    elif rewrite.kind == "wrap":
        tree_of(text)
        yield ReplaceText(start, end, f"{rewrite.text}({text})")
    elif rewrite.kind == "signature":
        names = ("output_types", "output_shapes")
        for edit in spans.with_keywords_as_one(text, names, f"output_signature={rewrite.text}"):
            yield ReplaceText(start + edit.start, start + edit.end, edit.new)
    elif rewrite.kind in _MAKERS:
        edit = _MAKERS[rewrite.kind](text, rewrite)
        yield ReplaceText(start + edit.start, start + edit.end, edit.new)
    else:
        raise CannotRewriteError(f"no rewrite is called {rewrite.kind}")


_MAKERS: dict[str, Callable[[str, Rewrite], Edit]] = {
    "rename": lambda text, rewrite: spans.renamed(text, rewrite.text),
    "unchain": lambda text, _: spans.unchained(text),
    "keyword": lambda text, rewrite: spans.with_keyword(text, rewrite.name, rewrite.text),
    "drop-keyword": lambda text, rewrite: spans.without_keyword(text, rewrite.name),
    "rename-keyword": lambda text, rewrite: spans.with_renamed_keyword(text, rewrite.name, rewrite.text),
    "name-argument": lambda text, rewrite: spans.with_named_argument(text, int(rewrite.text), rewrite.name),
    "drop-item": lambda text, rewrite: spans.without_entry(text, rewrite.name),
}


def _change_dropping_statement(rewrite: Rewrite, offsets: Offsets) -> ReplaceText:
    """Return the change that removes a statement with its line.

    The only statement of a suite becomes `pass`.
    """
    text = offsets.text
    start, end = offsets.span(rewrite.place)
    line_start = offsets.offset(rewrite.place.line, 0)
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
