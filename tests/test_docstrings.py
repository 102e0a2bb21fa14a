"""Docstrings of public functions open with an imperative line of at most 80 characters."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "cfgfix"
LONGEST = 80
NO_VERBS = frozenset(
    [
        "A",
        "All",
        "An",
        "Any",
        "Both",
        "Each",
        "Every",
        "How",
        "It",
        "One",
        "Several",
        "That",
        "The",
        "These",
        "This",
        "Those",
        "What",
        "When",
        "Where",
        "Whether",
        "Which",
        "Why",
    ]
)


def public_functions(text: str) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    pending: list[ast.AST] = list(ast.parse(text).body)
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not node.name.startswith("_"):
            yield node
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            pending.extend(node.body)


def problem(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str | None:
    """Return what is wrong with how a docstring opens; a property may be named by a noun."""
    text = ast.get_docstring(function)
    if text is None:
        return None
    line = text.split("\n")[0]
    if len(line) > LONGEST:
        return f"{len(line)} characters"
    if any("property" in ast.unparse(item) for item in function.decorator_list):
        return None
    verb = line.split()[0].rstrip(",.")
    if not verb.isalpha() or not verb[0].isupper() or verb in NO_VERBS:
        return f"opens with {verb!r}"
    if verb.endswith("s") and not verb.endswith("ss"):
        return f"opens with {verb!r}"
    return None


def problems(folder: Path) -> list[str]:
    return [
        f"{path.relative_to(folder)}:{function.lineno} {function.name}: {found}"
        for path in sorted(folder.rglob("*.py"))
        for function in public_functions(path.read_text(encoding="utf-8"))
        if (found := problem(function)) is not None
    ]


def test_docstrings_open_with_a_short_imperative_line():
    assert problems(PACKAGE) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Return the sum.", None),
        ("Pass on what is left.", None),
        ("Search, prove, and write.", None),
        ("Returns the sum.", "opens with 'Returns'"),
        ("The sum.", "opens with 'The'"),
        ("`sum` of both.", "opens with '`sum`'"),
        ("Return " + "x" * 80, "87 characters"),
    ],
)
def test_what_a_docstring_may_open_with(text, found):
    (function,) = public_functions(f'def total():\n    """{text}"""\n')
    assert problem(function) == found
