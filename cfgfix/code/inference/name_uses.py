"""Where names, attributes and texts of a program stand, each with what is around it."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.inference.config_atoms import Role
from cfgfix.code.inference.config_values import Follower
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
    Literal,
    Name,
    NotKept,
    Slice,
    Starred,
    Subscript,
    Unary,
    Yield,
)
from cfgfix.code.model.summary import Event, Scope

NAMING = (Name, Attribute, Subscript, Call, Boolean, Conditional, Assigned)
"""Kinds of expressions that may stand for a section."""


class Default:
    """A parameter, as the parent of the expression that is its default."""

    __slots__ = ("name", "scope")

    def __init__(self, scope: Scope, name: str) -> None:
        self.scope = scope
        self.name = name


Around = Expr | Event | Default | None
"""What an expression is a part of; None for a call that no kept expression leads to."""


class Loads:
    """Every expression of a program, with the expression or statement around it."""

    def __init__(self, follower: Follower) -> None:
        self.follower = follower
        self.around: dict[int, tuple[Around, Role]] = {}
        """For each expression by id the expression, event or default it is part of, and as which part."""
        self.names: dict[int, dict[str, list[Expr]]] = {}
        self.attributes: dict[str, list[tuple[Attribute, Scope]]] = {}
        self.calls: dict[tuple[int, int], Call] = {}
        self.scope_of: dict[int, Scope] = {}
        """The scope of each call's expression, by the expression's id."""
        self.inner: dict[int, list[Scope]] = {}
        self.imported: set[str] = set()
        self.subscripts: list[tuple[Subscript, Scope]] = []
        self.containers: list[tuple[Collection | Dictionary, Scope]] = []
        """Tuples, lists and mappings written out."""
        self.texts: dict[str, list[tuple[Literal, Scope]]] = {}
        self.loose: list[tuple[Expr, Scope]] = []
        """What may be a section and stands where nothing follows one."""
        self.by_locals: list[Scope] = []
        """Scopes whose local names are taken all at once."""
        for module in follower.names.modules:
            scopes = module.summary.scopes
            for scope in scopes:
                self.names[id(scope)] = {}
                if scope.parent >= 0:
                    self.inner.setdefault(id(scopes[scope.parent]), []).append(scope)
                self.imported.update(source.rsplit(".", 1)[-1] for source in scope.imports.values())
            for scope in scopes:
                self._read_scope(scope)

    def _read_scope(self, scope: Scope) -> None:
        for event in scope.events():
            for target in event.targets:
                self._read_target(target, event, scope)
            if event.kind == "augment":
                self._visit_expression(event.targets[0], event, "augmented", scope)
            if event.value is not None:
                self._visit_expression(event.value, event, "value", scope)
            for manager in event.managers:
                self._visit_expression(manager, event, "manager", scope)
            if event.message is not None:
                self._visit_expression(event.message, event, "message", scope)
            for case in event.cases:
                for part in case.parts:
                    self._visit_expression(part, event, "guard", scope)
            if event.kind == "define":
                inner = scope.module.summary.scopes[event.inner]
                for param in inner.params:
                    if param.default is not None:
                        self._visit_expression(param.default, Default(inner, param.name), "default", scope)
                for decorator in (*inner.decorators, *inner.bases):
                    self._visit_expression(decorator, event, "decorator", scope)
        for number, call in enumerate(scope.calls):
            # Calls that no kept expression leads to, such as those in keywords of a class.
            if (id(scope), number) not in self.calls:
                self._visit_expression(call, None, "lost", scope)

    def _read_target(self, target: Expr, event: Event, scope: Scope) -> None:
        if isinstance(target, Collection):
            for item in target.items:
                self._read_target(item, event, scope)
        elif isinstance(target, Starred):
            self._read_target(target.value, event, scope)
        elif isinstance(target, Attribute):
            self._visit_expression(target.base, event, "owner", scope)
        elif isinstance(target, Subscript):
            self._visit_expression(target.base, event, "owner", scope)
            self._visit_expression(target.index, event, "index", scope)

    def _visit_expression(self, top: Expr, parent: Around, role: Role, scope: Scope) -> None:
        around = self.around
        names = self.names[id(scope)]
        pending: list[tuple[Expr, Around, Role]] = [(top, parent, role)]
        while pending:
            expr, parent, role = pending.pop()
            if isinstance(expr, NotKept):
                continue
            around[id(expr)] = (parent, role)
            if isinstance(expr, NAMING) and _is_loose(parent, role, scope):
                self.loose.append((expr, scope))
            if isinstance(expr, Name):
                names.setdefault(expr.name, []).append(expr)
            elif isinstance(expr, Literal):
                if isinstance(expr.value, str) and len(expr.value) < 80:
                    self.texts.setdefault(expr.value, []).append((expr, scope))
            elif isinstance(expr, Attribute):
                self.attributes.setdefault(expr.attribute, []).append((expr, scope))
                pending.append((expr.base, expr, "base"))
            elif isinstance(expr, Call):
                self.calls[(id(scope), expr.number)] = expr
                self.scope_of[id(expr)] = scope
                call = expr
                if _takes_locals(call):
                    self.by_locals.append(scope)
                pending.append((call.func, expr, "func"))
                for position, item in enumerate(call.args):
                    pending.append((item, expr, position))
                for name, value in call.keywords:
                    pending.append((value, expr, name if name is not None else "**"))
            elif isinstance(expr, Subscript):
                self.subscripts.append((expr, scope))
                pending.append((expr.base, expr, "base"))
                pending.append((expr.index, expr, "index"))
            elif isinstance(expr, Conditional):
                pending.append((expr.test, expr, "test"))
                pending.append((expr.then, expr, "then"))
                pending.append((expr.otherwise, expr, "else"))
            elif isinstance(expr, Boolean):
                for position, item in enumerate(expr.operands):
                    pending.append((item, expr, position))
            elif isinstance(expr, Dictionary):
                self.containers.append((expr, scope))
                for key, value in expr.entries:
                    if key is not None:
                        pending.append((key, expr, "key"))
                    pending.append((value, expr, "part" if key is not None else "**"))
            elif isinstance(expr, (Starred, Yield)):
                pending.append((expr.value, expr, "part"))
            elif isinstance(expr, Unary):
                pending.append((expr.operand, expr, "part"))
            elif isinstance(expr, Assigned):
                pending.append((expr.value, expr, "part"))
            elif isinstance(expr, Compare):
                pending.append((expr.left, expr, "left"))
                for side in expr.rights:
                    pending.append((side.right, expr, side.operator))
            elif isinstance(expr, Collection):
                self.containers.append((expr, scope))
                for item in expr.items:
                    pending.append((item, expr, "part"))
            elif isinstance(expr, (Comprehension, FString)):
                for item in expr.parts:
                    pending.append((item, expr, "part"))
            elif isinstance(expr, Binary):
                pending.append((expr.left, expr, expr.operator))
                pending.append((expr.right, expr, expr.operator))
            elif isinstance(expr, Slice):
                for bound in (expr.lower, expr.upper, expr.step):
                    if bound is not None:
                        pending.append((bound, expr, "part"))

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


def _is_loose(parent: Around, role: Role, scope: Scope) -> bool:
    """Tell whether an expression's value goes where config sections are not followed."""
    if isinstance(parent, Event):
        kind = parent.kind
        if role == "manager":
            return True
        if role != "value":
            return False
        if kind in ("assign", "annotate"):
            return any(
                isinstance(target, Attribute) or (isinstance(target, Name) and target.name in scope.outer)
                for target in parent.targets
            )
        return kind in ("return", "yield", "augment", "match")
    if isinstance(parent, Compare):
        return not all(item.operator in ("is", "is not") for item in parent.rights)
    return isinstance(parent, (Binary, Comprehension, FString, Yield, Starred))


def _takes_locals(call: Call) -> bool:
    """Tell whether a call may read all local names at once, as `locals()` does."""
    func = call.func
    if isinstance(func, Name):
        return func.name in ("locals", "eval", "exec") or (func.name == "vars" and not call.args)
    return bool(isinstance(func, Attribute) and func.attribute == "save_hyperparameters" and not call.args)
