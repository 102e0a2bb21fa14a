"""Read the expressions of a summary: dotted names, constants, text, and all parts of one."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeGuard

from cfgfix.code.model.nodes import (
    Assigned,
    Attribute,
    Binary,
    Boolean,
    Call,
    Collection,
    Compare,
    Comprehension,
    Conditional,
    Dictionary,
    Expr,
    FString,
    Lambda,
    Literal,
    Name,
    NotKept,
    Pattern,
    Place,
    Slice,
    Starred,
    Subscript,
    Unary,
    Yield,
)
from cfgfix.code.model.summary import Scope

MISSING: Any = object()
"""What `constant` returns for an expression that is no constant; None is a constant."""


def dotted(expr: Expr | None) -> str | None:
    """Return `a.b.c` for a name or a chain of attributes of a name, else None."""
    parts: list[str] = []
    while isinstance(expr, Attribute):
        parts.append(expr.attribute)
        expr = expr.base
    if not isinstance(expr, Name):
        return None
    parts.append(expr.name)
    return ".".join(reversed(parts))


def is_name(expr: Expr | None, name: str) -> TypeGuard[Name]:
    """Tell whether an expression is a plain name with the given text."""
    return isinstance(expr, Name) and expr.name == name


def is_same_expression(first: Expr, second: Expr) -> bool:
    """Tell whether two expressions are one node, or the same name or literal."""
    if isinstance(first, Name):
        return isinstance(second, Name) and first.name == second.name
    if isinstance(first, Literal):
        return isinstance(second, Literal) and first.value == second.value
    return first is second


def is_none(expr: Expr | None) -> TypeGuard[Literal]:
    """Tell whether an expression is the literal `None`."""
    return isinstance(expr, Literal) and expr.value is None


def constant(expr: Expr | None) -> Any:
    """Return the value of a constant expression, else `MISSING`.

    Tuples and lists of constants are constant, too.
    """
    if isinstance(expr, Literal):
        return expr.value
    if isinstance(expr, Collection) and expr.kind != "set":
        values = [constant(item) for item in expr.items]
        if MISSING in values:
            return MISSING
        return tuple(values) if expr.kind == "tuple" else values
    return MISSING


def is_true(expr: Expr | None) -> bool:
    """Tell whether an expression is the literal `True`."""
    return isinstance(expr, Literal) and expr.value is True


def place_of(expr: Expr, scope: Scope) -> Place | None:
    """Return the span of an expression, or None where the summary does not keep it."""
    if isinstance(expr, Lambda):
        return scope.module.summary.scopes[expr.number].place if scope.module is not None else None
    if isinstance(expr, (Starred, Yield)):
        return place_of(expr.value, scope)
    if isinstance(expr, (Assigned, Comprehension, FString, NotKept, Pattern, Slice)):
        return None
    place: Place | None = getattr(expr, "place", None)
    return place


def children(expr: Expr) -> Sequence[Expr]:
    """Return the direct parts of an expression.

    For a call these are its callee and its arguments.
    """
    return _PARTS[type(expr)](expr)


def _no_children(_: Expr) -> Sequence[Expr]:
    return ()


def _call_children(call: Call) -> Sequence[Expr]:
    if call.keywords:
        return (call.func, *call.args, *[value for _, value in call.keywords])
    return (call.func, *call.args)


def _comparison_children(expr: Compare) -> Sequence[Expr]:
    return (expr.left, *[item.right for item in expr.rights])


def _dictionary_children(expr: Dictionary) -> Sequence[Expr]:
    return [part for pair in expr.entries for part in pair if part is not None]


def _slice_children(expr: Slice) -> Sequence[Expr]:
    return [part for part in (expr.lower, expr.upper, expr.step) if part is not None]


_PARTS: dict[type[Expr], Callable[[Any], Sequence[Expr]]] = {
    Name: _no_children,
    Literal: _no_children,
    Lambda: _no_children,
    NotKept: _no_children,
    Attribute: lambda expr: (expr.base,),
    Starred: lambda expr: (expr.value,),
    Yield: lambda expr: (expr.value,),
    Assigned: lambda expr: (expr.value,),
    Call: _call_children,
    Subscript: lambda expr: (expr.base, expr.index),
    Binary: lambda expr: (expr.left, expr.right),
    Unary: lambda expr: (expr.operand,),
    Boolean: operator.attrgetter("operands"),
    Collection: operator.attrgetter("items"),
    Comprehension: operator.attrgetter("parts"),
    FString: operator.attrgetter("parts"),
    Pattern: operator.attrgetter("parts"),
    Compare: _comparison_children,
    Conditional: lambda expr: (expr.test, expr.then, expr.otherwise),
    Dictionary: _dictionary_children,
    Slice: _slice_children,
}
"""How the parts of each kind are found."""


def walk(expr: Expr) -> Iterator[Expr]:
    """Yield an expression and all its parts, also in calls but not in lambdas."""
    pending = [expr]
    while pending:
        here = pending.pop()
        yield here
        pending.extend(_PARTS[type(here)](here))


def assignment_pairs(target: Expr, value: Expr | None) -> list[tuple[Expr, Expr | None]]:
    """Return the pairs of a target and its value in an assignment.

    Tuples that are written out on both sides are paired item by item.
    """
    if (
        isinstance(target, Collection)
        and isinstance(value, Collection)
        and len(target.items) == len(value.items)
    ):
        return list(zip(target.items, value.items, strict=True))
    return [(target, value)]


def walk_own(exprs: Iterable[Expr]) -> Iterator[Expr]:
    """Yield expressions and all their parts, but no parts of calls.

    Loop variables count. The calls of a scope are listed there, each once.
    """
    pending = list(exprs)
    while pending:
        here = pending.pop()
        yield here
        if not isinstance(here, Call):
            pending.extend(_PARTS[type(here)](here))
            if isinstance(here, Comprehension):
                pending.extend(target for target, _, _ in here.generators)


def text(expr: Expr | None, depth: int = 6) -> str:
    """Return an expression as short text like Python.

    For messages, and to compare guards.
    """
    if expr is None or depth < 0:
        return "..."

    def inner(part: Expr) -> str:
        return text(part, depth - 1)

    if isinstance(expr, Name):
        return expr.name
    if isinstance(expr, Attribute):
        shown = inner(expr.base)
        loose = isinstance(expr.base, (Binary, Boolean, Compare, Conditional, Unary))
        return f"({shown}).{expr.attribute}" if loose else f"{shown}.{expr.attribute}"
    if isinstance(expr, Literal):
        shown = repr(expr.value)
        return shown if len(shown) <= 60 else shown[:57] + "..."
    if isinstance(expr, Subscript):
        return f"{inner(expr.base)}[{inner(expr.index)}]"
    if isinstance(expr, Call):
        parts = [inner(item) for item in expr.args]
        parts += [f"{name or '**'}{'=' if name else ''}{inner(value)}" for name, value in expr.keywords]
        return f"{inner(expr.func)}({', '.join(parts)})"
    if isinstance(expr, Binary):
        return f"{inner(expr.left)} {expr.operator} {inner(expr.right)}"
    if isinstance(expr, Unary):
        return f"{expr.operator}{' ' if expr.operator == 'not' else ''}{inner(expr.operand)}"
    if isinstance(expr, Boolean):
        return f" {expr.operator} ".join(map(inner, expr.operands))
    if isinstance(expr, Compare):
        return " ".join([inner(expr.left), *[f"{item.operator} {inner(item.right)}" for item in expr.rights]])
    if isinstance(expr, Conditional):
        return f"{inner(expr.then)} if {inner(expr.test)} else {inner(expr.otherwise)}"
    if isinstance(expr, Collection):
        listed = ", ".join(map(inner, expr.items[:8]))
        return {"tuple": f"({listed})", "list": f"[{listed}]", "set": f"{{{listed}}}"}[expr.kind]
    if isinstance(expr, Starred):
        return f"*{inner(expr.value)}"
    if isinstance(expr, Slice):
        bounds = [inner(part) if part is not None else "" for part in (expr.lower, expr.upper)]
        return ":".join([*bounds, inner(expr.step)] if expr.step is not None else bounds)
    if isinstance(expr, Lambda):
        return "lambda"
    return "..."
