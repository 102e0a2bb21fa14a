"""Where a program assigns, calls and names things, found by name alone."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.model.expressions import children, constant
from cfgfix.code.model.nodes import (
    NOT_KEPT,
    Attribute,
    Call,
    Collection,
    Expr,
    Name,
    Starred,
)
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope


class NameIndex:
    """The assignments, calls and other uses of names in a program.

    Attributes:
        modules: The modules that hold anything.
    """

    def __init__(self, program: Program) -> None:
        self.modules = [module for module in program.all_modules() if module.summary.scopes]
        self._program = program
        self._assigned: dict[int, dict[str, list[tuple[Expr, str]]]] = {}
        self._attributes: dict[str, list[tuple[Expr, Scope, Scope | Expr]]] = {}
        self._referenced: set[str] | None = None
        self._subclasses: dict[int, list[str]] | None = None
        self._callers: dict[str, list[tuple[Scope, Call]]] = {}
        for module in self.modules:
            for scope in module.summary.scopes:
                for call in scope.calls:
                    func = call.func
                    name = (
                        func.attribute
                        if isinstance(func, Attribute)
                        else func.name
                        if isinstance(func, Name)
                        else None
                    )
                    if name is not None:
                        self._callers.setdefault(name, []).append((scope, call))

    def assignments(self, scope: Scope) -> dict[str, list[tuple[Expr, str]]]:
        """Return each name of a scope with the expressions that it is assigned.

        Each expression comes with the kind of statement: `=`, `for`, `with`, or `?` for any other.
        """
        found = self._assigned.get(id(scope))
        if found is None:
            found = {}
            for event in scope.events():
                value = event.value
                if event.kind in ("assign", "annotate", "augment") and value is not None:
                    for target in event.targets:
                        _bind_target(target, value, "=", found)
                elif event.kind == "for" and value is not None:
                    for target in event.targets:
                        _bind_target(target, value, "for", found)
                elif event.kind == "with":
                    for target, manager in zip(event.targets, event.managers, strict=False):
                        _bind_target(target, manager, "with", found)
                elif event.kind not in ("define", "import", "delete"):
                    for target in event.targets:
                        _bind_target(target, NOT_KEPT, "?", found)
            self._assigned[id(scope)] = found
        return found

    def callers(self, name: str) -> list[tuple[Scope, Call]]:
        """Return the calls of functions or methods of a name, each with its scope."""
        return self._callers.get(name, [])

    def attribute_stores(self, name: str) -> list[tuple[Expr, Scope, Scope | Expr]]:
        """Return the values assigned to attributes of a name anywhere in the program.

        Each value comes with its scope, and with the class or object that has the attribute.
        """
        if not self._attributes:
            self._attributes[""] = []
            for module in self.modules:
                for scope in module.summary.scopes:
                    owner = self._program.owner(scope)
                    own = scope.params[0].name if owner is not None and scope.params else None
                    for event in scope.events():
                        if event.value is None or event.kind not in ("assign", "annotate", "augment", "for"):
                            continue
                        for target in event.targets:
                            for single, value in assignment_pairs(target, event.value):
                                if isinstance(single, Attribute):
                                    mine = (
                                        owner is not None
                                        and isinstance(single.base, Name)
                                        and single.base.name == own
                                    )
                                    whose: Scope | Expr = owner if owner is not None and mine else single.base
                                    given: Expr = value if event.kind != "for" else NOT_KEPT
                                    self._attributes.setdefault(single.attribute, []).append(
                                        (given, scope, whose)
                                    )
                    for call in scope.calls:
                        if (
                            isinstance(call.func, Name)
                            and call.func.name == "setattr"
                            and len(call.args) == 3
                        ):
                            key = constant(call.args[1])
                            if isinstance(key, str):
                                self._attributes.setdefault(key, []).append(
                                    (call.args[2], scope, call.args[0])
                                )
        return self._attributes.get(name, [])

    def referenced(self) -> set[str]:
        """Return the names that are used in other ways than as a callee.

        A function of such a name may be handed on and called from elsewhere.
        """
        if self._referenced is None:
            found: set[str] = set()
            for module in self.modules:
                for scope in module.summary.scopes:
                    pending: list[Expr] = []
                    for event in scope.events():
                        if event.value is not None:
                            pending.append(event.value)
                        pending.extend(event.managers)
                    while pending:
                        expr = pending.pop()
                        if isinstance(expr, Call):
                            call = expr
                            if isinstance(call.func, Name) and call.func.name in (
                                "isinstance",
                                "issubclass",
                                "super",
                            ):
                                continue
                            func = call.func
                            if isinstance(func, Attribute):
                                pending.append(func.base)
                            elif not isinstance(func, Name):
                                pending.append(func)
                            pending.extend(call.args)
                            pending.extend(value for _, value in call.keywords)
                            continue
                        if isinstance(expr, Name):
                            found.add(expr.name)
                        elif isinstance(expr, Attribute):
                            found.add(expr.attribute)
                        pending.extend(children(expr))
            self._referenced = found
        return self._referenced

    def composed(self, scope: Scope) -> bool:
        """Tell whether a function has the decorator `hydra.main`, which passes a config."""
        outer = self._program.outer(scope)
        if scope.kind != "function" or outer is None:
            return False
        for decorator in scope.decorators:
            func = decorator.func if isinstance(decorator, Call) else decorator
            if self._program.static_name(func, outer) == "hydra.main":
                return True
        return False

    def subclass_names(self, owner: Scope) -> list[str]:
        """Return the names of all subclasses of a class."""
        if self._subclasses is None:
            self._subclasses = {}
            for module in self.modules:
                for scope in module.summary.scopes:
                    if scope.kind == "class":
                        for above in self._program.bases(scope).classes[1:]:
                            self._subclasses.setdefault(id(above), []).append(scope.name)
        return self._subclasses.get(id(owner), [])


def _bind_target(target: Expr, value: Expr, how: str, found: dict[str, list[tuple[Expr, str]]]) -> None:
    for single, part in assignment_pairs(target, value):
        if isinstance(single, Name):
            found.setdefault(single.name, []).append((part, how if part is value or how == "=" else "?"))


def assignment_pairs(target: Expr, value: Expr) -> Iterator[tuple[Expr, Expr]]:
    """Yield each target of an assignment with the part of the value that it gets."""
    if isinstance(target, Collection):
        parts = (
            value.items if isinstance(value, Collection) and len(value.items) == len(target.items) else None
        )
        for index, inner in enumerate(target.items):
            yield from assignment_pairs(inner, parts[index] if parts is not None else NOT_KEPT)
    elif isinstance(target, Starred):
        yield from assignment_pairs(target.value, NOT_KEPT)
    else:
        yield target, value
