"""Read the expressions of a summary: dotted names, constants, text, and all parts of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from cfgfix.code.model.summary import (
    ASSIGNED,
    ATTRIBUTE,
    BINARY,
    BOOLEAN,
    CALL,
    CHOICE,
    COMPARE,
    COMPREHENSION,
    CONSTANT,
    FORMAT,
    ITEMS,
    LAMBDA,
    MAPPING,
    NAME,
    PATTERN,
    SLICE,
    STARRED,
    SUBSCRIPT,
    UNARY,
    YIELD,
    Expr,
    Place,
    Scope,
)

MISSING: Any = object()
"""What `constant` returns for an expression that is no constant; None is a constant."""


def dotted(expr: Expr) -> str | None:
    """Return `a.b.c` for a name or a chain of attributes of a name, else None."""
    parts: list[str] = []
    while expr[0] == ATTRIBUTE:
        parts.append(expr[2])
        expr = expr[1]
    if expr[0] != NAME:
        return None
    parts.append(expr[1])
    return ".".join(reversed(parts))


def constant(expr: Expr | None) -> Any:
    """Return the value of a constant expression, else `MISSING`.

    Tuples and lists of constants are constant, too.
    """
    if expr is None:
        return MISSING
    if expr[0] == CONSTANT:
        return expr[1]
    if expr[0] == ITEMS and expr[1] != "set":
        values = [constant(item) for item in expr[2]]
        if MISSING in values:
            return MISSING
        return tuple(values) if expr[1] == "tuple" else values
    return MISSING


def is_true(expr: Expr | None) -> bool:
    """Tell whether an expression is the literal `True`."""
    return expr is not None and expr[0] == CONSTANT and expr[1] is True


def place_of(expr: Expr, scope: Scope) -> Place | None:
    """Return the span of an expression, or None where the summary does not keep it."""
    kind = expr[0]
    if kind == CALL:
        return scope.calls[expr[1]].place
    if kind == LAMBDA:
        return scope.module.summary.scopes[expr[1]].place if scope.module is not None else None
    if kind in (STARRED, YIELD):
        return place_of(expr[1], scope)
    last = expr[-1]
    if isinstance(last, tuple) and len(last) == 4 and all(type(item) is int for item in last):
        place: Place = last
        return place
    return None


def children(expr: Expr, scope: Scope) -> Sequence[Expr]:
    """Return the direct parts of an expression.

    For a call its callee and its arguments.
    """
    kind = expr[0]
    if kind in (NAME, CONSTANT):
        return ()
    if kind in (ATTRIBUTE, STARRED, YIELD):
        return (expr[1],)
    if kind == CALL:
        call = scope.calls[expr[1]]
        if call.keywords:
            return (call.func, *call.args, *[value for _, value in call.keywords])
        return (call.func, *call.args)
    if kind == SUBSCRIPT:
        return expr[1:3]
    if kind == BINARY:
        return expr[2:4]
    if kind in (UNARY, ASSIGNED):
        return (expr[2],)
    if kind in (BOOLEAN, ITEMS, COMPREHENSION):
        parts: tuple[Expr, ...] = expr[2]
        return parts
    if kind == COMPARE:
        return (expr[1], *[right for _, right in expr[2]])
    if kind == CHOICE:
        return expr[1:4]
    if kind == MAPPING:
        return [part for pair in expr[1] for part in pair if part is not None]
    if kind == FORMAT:
        return tuple(expr[1])
    if kind == SLICE:
        return [part for part in expr[1:] if part is not None]
    if kind == PATTERN:
        inner: tuple[Expr, ...] = expr[2]
        return inner
    return ()


def walk(expr: Expr, scope: Scope) -> Iterator[Expr]:
    """Yield an expression and all its parts, calls entered, lambdas not."""
    pending = [expr]
    while pending:
        here = pending.pop()
        yield here
        pending.extend(children(here, scope))


def text(expr: Expr | None, scope: Scope, depth: int = 6) -> str:
    """Return an expression as short text like Python.

    For messages, and to compare guards.
    """
    if expr is None or depth < 0:
        return "..."
    kind = expr[0]
    if kind == NAME:
        return str(expr[1])
    if kind == ATTRIBUTE:
        return f"{text(expr[1], scope, depth - 1)}.{expr[2]}"
    if kind == CONSTANT:
        shown = repr(expr[1])
        return shown if len(shown) <= 60 else shown[:57] + "..."
    if kind == SUBSCRIPT:
        return f"{text(expr[1], scope, depth - 1)}[{text(expr[2], scope, depth - 1)}]"
    if kind == CALL:
        call = scope.calls[expr[1]]
        parts = [text(item, scope, depth - 1) for item in call.args]
        parts += [
            f"{name or '**'}{'=' if name else ''}{text(value, scope, depth - 1)}"
            for name, value in call.keywords
        ]
        return f"{text(call.func, scope, depth - 1)}({', '.join(parts)})"
    if kind == BINARY:
        return f"{text(expr[2], scope, depth - 1)} {expr[1]} {text(expr[3], scope, depth - 1)}"
    if kind == UNARY:
        return f"{expr[1]}{' ' if expr[1] == 'not' else ''}{text(expr[2], scope, depth - 1)}"
    if kind == BOOLEAN:
        return f" {expr[1]} ".join(text(item, scope, depth - 1) for item in expr[2])
    if kind == COMPARE:
        parts = [text(expr[1], scope, depth - 1)]
        for operator, right in expr[2]:
            parts += [operator, text(right, scope, depth - 1)]
        return " ".join(parts)
    if kind == CHOICE:
        return f"{text(expr[2], scope, depth - 1)} if {text(expr[1], scope, depth - 1)} else {text(expr[3], scope, depth - 1)}"
    if kind == ITEMS:
        inner = ", ".join(text(item, scope, depth - 1) for item in expr[2][:8])
        return {"tuple": f"({inner})", "list": f"[{inner}]", "set": f"{{{inner}}}"}[expr[1]]
    if kind == STARRED:
        return f"*{text(expr[1], scope, depth - 1)}"
    if kind == LAMBDA:
        return "lambda"
    return "..."
