"""Where names, attributes and texts of a program stand, each with what is around it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cfgfix.code.inference.config_values import Follower
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
    MAPPING,
    NAME,
    STARRED,
    SUBSCRIPT,
    UNARY,
    YIELD,
    Call,
    Event,
    Expr,
    Scope,
)
from cfgfix.code.model.summary import UNKNOWN as NOT_KEPT

NAMING = frozenset({NAME, ATTRIBUTE, SUBSCRIPT, CALL, BOOLEAN, CHOICE, ASSIGNED})
"""Kinds of expressions that may stand for a section."""


class Default:
    """A parameter of which an expression is the default."""

    __slots__ = ("name", "scope")

    def __init__(self, scope: Scope, name: str) -> None:
        self.scope = scope
        self.name = name


class Loads:
    """Every expression of a program with what is around it."""

    def __init__(self, follower: Follower) -> None:
        self.follower = follower
        self.around: dict[int, tuple[Any, Any]] = {}
        """For each expression by id the expression, event or default it is part of, and as which part."""
        self.names: dict[int, dict[str, list[Expr]]] = {}
        self.attributes: dict[str, list[tuple[Expr, Scope]]] = {}
        self.calls: dict[tuple[int, int], Expr] = {}
        self.scope_of: dict[int, Scope] = {}
        """The scope of each call's expression, by the expression's id."""
        self.inner: dict[int, list[Scope]] = {}
        self.imported: set[str] = set()
        self.subscripts: list[tuple[Expr, Scope]] = []
        self.containers: list[tuple[Expr, Scope]] = []
        """Tuples, lists and mappings written out."""
        self.texts: dict[str, list[tuple[Expr, Scope]]] = {}
        self.loose: list[tuple[Expr, Scope]] = []
        """What may be a section and stands where nothing follows one."""
        self.by_locals: list[Scope] = []
        """Scopes whose local names are taken all at once."""
        for module in follower.modules:
            scopes = module.summary.scopes
            for scope in scopes:
                self.names[id(scope)] = {}
                if scope.parent >= 0:
                    self.inner.setdefault(id(scopes[scope.parent]), []).append(scope)
                self.imported.update(source.rsplit(".", 1)[-1] for source in scope.imports.values())
            for scope in scopes:
                self._scope(scope)

    def _scope(self, scope: Scope) -> None:
        for event in scope.events():
            for target in event.targets:
                self._target(target, event, scope)
            if event.kind == "augment":
                self._visit(event.targets[0], event, "augmented", scope)
            if event.value is not None:
                self._visit(event.value, event, "value", scope)
            if event.kind == "with":
                for manager in event.extra or ():
                    self._visit(manager, event, "manager", scope)
            elif event.kind == "assert":
                for part in event.extra or ():
                    self._visit(part, event, "message", scope)
            elif event.kind == "match":
                for case in event.extra or ():
                    for part in case[2]:
                        self._visit(part, event, "guard", scope)
            if event.kind == "define":
                inner = scope.module.summary.scopes[event.extra]
                for param in inner.params:
                    if param[2] is not None:
                        self._visit(param[2], Default(inner, param[0]), "default", scope)
                for decorator in (*inner.decorators, *inner.bases):
                    self._visit(decorator, event, "decorator", scope)
        for number, call in enumerate(scope.calls):
            # Calls that no kept expression leads to, such as those in keywords of a class.
            if (id(scope), number) not in self.calls:
                self._visit((CALL, number), None, "lost", scope)
                del call

    def _target(self, target: Expr, event: Event, scope: Scope) -> None:
        if target[0] == ITEMS:
            for item in target[2]:
                self._target(item, event, scope)
        elif target[0] == STARRED:
            self._target(target[1], event, scope)
        elif target[0] == ATTRIBUTE:
            self._visit(target[1], event, "owner", scope)
        elif target[0] == SUBSCRIPT:
            self._visit(target[1], event, "owner", scope)
            self._visit(target[2], event, "index", scope)

    def _visit(self, top: Expr, parent: Any, role: Any, scope: Scope) -> None:
        around = self.around
        names = self.names[id(scope)]
        pending: list[tuple[Expr, Any, Any]] = [(top, parent, role)]
        while pending:
            expr, parent, role = pending.pop()
            kind = expr[0]
            if kind == NOT_KEPT:
                continue
            around[id(expr)] = (parent, role)
            if kind in NAMING and _loose(parent, role, scope):
                self.loose.append((expr, scope))
            if kind == NAME:
                names.setdefault(expr[1], []).append(expr)
            elif kind == CONSTANT:
                if isinstance(expr[1], str) and len(expr[1]) < 80:
                    self.texts.setdefault(expr[1], []).append((expr, scope))
            elif kind == ATTRIBUTE:
                self.attributes.setdefault(expr[2], []).append((expr, scope))
                pending.append((expr[1], expr, "base"))
            elif kind == CALL:
                self.calls[(id(scope), expr[1])] = expr
                self.scope_of[id(expr)] = scope
                call = scope.calls[expr[1]]
                if _takes_locals(call):
                    self.by_locals.append(scope)
                pending.append((call.func, expr, "func"))
                for position, item in enumerate(call.args):
                    pending.append((item, expr, position))
                for name, value in call.keywords:
                    pending.append((value, expr, name if name is not None else "**"))
            elif kind == SUBSCRIPT:
                self.subscripts.append((expr, scope))
                pending.append((expr[1], expr, "base"))
                pending.append((expr[2], expr, "index"))
            elif kind == CHOICE:
                pending.append((expr[1], expr, "test"))
                pending.append((expr[2], expr, "then"))
                pending.append((expr[3], expr, "else"))
            elif kind == BOOLEAN:
                for position, item in enumerate(expr[2]):
                    pending.append((item, expr, position))
            elif kind == MAPPING:
                self.containers.append((expr, scope))
                for key, value in expr[1]:
                    if key is not None:
                        pending.append((key, expr, "key"))
                    pending.append((value, expr, "part" if key is not None else "**"))
            elif kind in (STARRED, YIELD):
                pending.append((expr[1], expr, "part"))
            elif kind in (UNARY, ASSIGNED):
                pending.append((expr[2], expr, "part"))
            elif kind == COMPARE:
                pending.append((expr[1], expr, "left"))
                for operator, right in expr[2]:
                    pending.append((right, expr, operator))
            elif kind in (ITEMS, COMPREHENSION):
                if kind == ITEMS:
                    self.containers.append((expr, scope))
                for item in expr[2]:
                    pending.append((item, expr, "part"))
            elif kind == FORMAT:
                for item in expr[1]:
                    pending.append((item, expr, "part"))
            elif kind == "b":
                pending.append((expr[2], expr, expr[1]))
                pending.append((expr[3], expr, expr[1]))
            elif kind == "x":
                for item in expr[1:]:
                    if item is not None:
                        pending.append((item, expr, "part"))

    def of_name(self, name: str, scope: Scope) -> Iterator[tuple[Expr, Scope]]:
        """Yield the places where a name of a scope is loaded, in functions inside too."""
        pending = [scope]
        while pending:
            here = pending.pop()
            for expr in self.names[id(here)].get(name, ()):
                yield expr, here
            for inner in self.inner.get(id(here), ()):
                if name not in inner.names or name in inner.outer:
                    pending.append(inner)


def _loose(parent: Any, role: Any, scope: Scope) -> bool:
    """Tell whether an expression stands where nothing follows the section that it may be."""
    if isinstance(parent, Event):
        kind = parent.kind
        if role == "manager":
            return True
        if role != "value":
            return False
        if kind in ("assign", "annotate"):
            return any(
                target[0] == ATTRIBUTE or (target[0] == NAME and target[1] in scope.outer)
                for target in parent.targets
            )
        return kind in ("return", "yield", "augment", "match")
    if not isinstance(parent, tuple):
        return False
    if parent[0] == COMPARE:
        return not all(operator in ("is", "is not") for operator, _ in parent[2])
    return parent[0] in (BINARY, COMPREHENSION, FORMAT, YIELD, STARRED)


def _takes_locals(call: Call) -> bool:
    """Tell whether a call takes all local names at once."""
    func = call.func
    if func[0] == NAME:
        return func[1] in ("locals", "eval", "exec") or (func[1] == "vars" and not call.args)
    return bool(func[0] == ATTRIBUTE and func[2] == "save_hyperparameters" and not call.args)
