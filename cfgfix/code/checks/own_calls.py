"""Calls of the project's own functions, methods and classes with arguments that they do not take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.canonical_names import canonical_name
from cfgfix.code.model.expressions import dotted, is_name, text
from cfgfix.code.model.hit import Step, hit_in
from cfgfix.code.model.nodes import Attribute, Call, Expr, Name
from cfgfix.code.model.program import Program, is_keras_part
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import ClassValue, Function, Instance
from cfgfix.core.records import dataclass
from cfgfix.rules.hit import Hit

_PLAIN_BASES = (
    "keras.",
    "tensorflow.",
    "builtins.object",
    "object",
    "abc.ABC",
    "typing.Generic",
    "typing.Protocol",
)
"""Bases outside the project that call `__init__` with what the class was called with."""
_OTHER_CALLS = ("enum.", "typing.", "builtins.", "collections.", "ctypes.", "django.", "sqlalchemy.")
"""Modules with classes below which a call may mean something else than making an object by its own `__init__`."""
_KEPT = (
    "tensorflow.function",
    "staticmethod",
    "classmethod",
    "abc.abstractmethod",
    "builtins.staticmethod",
    "builtins.classmethod",
)
"""Decorators after which a function still takes what is written in its definition."""


_KERAS_TAKES = frozenset({"training", "mask"})


@dataclass(frozen=True, slots=True)
class _CertainCallee:
    """The function that a call certainly enters.

    Attributes:
        scope: The function, or the constructor of the class.
        shown: Its name for the message.
        bound: How many of its first parameters the call does not write: the object or the class.
        of_keras: Whether Keras calls it, which takes what it knows itself: `training` and `mask`.
    """

    scope: Scope
    shown: str
    bound: int
    of_keras: bool = False


def arguments_not_taken(program: Program) -> Iterator[Hit]:
    """Find calls of the project's own code that end in TypeError.

    An argument is missing, too many are given, or one has a name that is not taken.
    """
    certain = _CertainCallees(program)
    for module in program.modules:
        for scope in module.summary.scopes:
            for call in scope.calls:
                callee = None if call.opaque or dotted(call.func) is None else certain.callee(scope, call)
                problem = None if callee is None else _refusal_of_call(callee, call)
                if callee is None and not call.opaque and call.keywords:
                    yield from _hits_of_fields(certain, scope, call)
                if callee is None or problem is None:
                    continue
                defined = callee.scope
                yield hit_in(
                    scope,
                    call.name_place,
                    call.block,
                    {"function": callee.shown, "problem": problem},
                    related=(Step(defined, defined.place, -1, "is defined here"),),
                )


def _hits_of_fields(certain: _CertainCallees, scope: Scope, call: Call) -> Iterator[Hit]:
    """Yield the hit of a call that gives a dataclass, or a changed copy of one, what is no field of it."""
    owner, shown = certain.dataclass_filled(scope, call)
    fields = certain.fields(owner) if owner is not None else None
    if owner is None or fields is None:
        return
    unknown = sorted({name for name, _ in call.keywords if name is not None} - fields)
    if unknown:
        yield hit_in(
            scope,
            call.name_place,
            call.block,
            {"function": shown, "problem": f"does not take {_name_list(unknown)}"},
            related=(Step(owner, owner.place, -1, "is defined here"),),
        )


class _CertainCallees:
    """Resolves calls to the functions, constructors and methods they certainly enter."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._names: dict[int, Counter[tuple[int, str]]] = {}
        self._outer: dict[int, set[str]] = {}
        self._stored: set[str] | None = None
        self._overridden: dict[str, list[Scope]] | None = None

    def callee(self, scope: Scope, call: Call) -> _CertainCallee | None:
        """Return the function, constructor or method a call certainly enters, or None."""
        if not self._is_bound_once(scope, call.func):
            return None
        value = flow_of(self._program).value_of_name(scope, call.func)
        if isinstance(value, Function):
            return self._callee_of_function(value)
        if isinstance(value, ClassValue):
            return self._callee_of_class(value.scope)
        if isinstance(value, Instance):
            return self._part_of_keras(value.scope)
        return None

    def dataclass_filled(self, scope: Scope, call: Call) -> tuple[Scope | None, str]:
        """Return the class whose fields the named arguments of a call are, with the name of what is called."""
        if dotted(call.func) is None or not self._is_bound_once(scope, call.func):
            return None, ""
        if self._program.static_name(call.func, scope) in _COPIES and len(call.args) == 1:
            value = flow_of(self._program).value_of_name(scope, call.args[0])
            if isinstance(value, Instance) and self._is_bound_once(scope, call.args[0]):
                return value.scope, f"replace() of {value.scope.name}"
            return None, ""
        value = flow_of(self._program).value_of_name(scope, call.func)
        return (value.scope, value.scope.name) if isinstance(value, ClassValue) else (None, "")

    def fields(self, owner: Scope) -> frozenset[str] | None:
        """Return the names that the constructor of a dataclass takes; None where they are not certain."""
        classes, outside = self._program.bases(owner)
        lineage = {id(item): item for item in (owner, *classes)}.values()
        if not all(name.startswith(_PLAIN_BASES) for name in outside) or not self._defined_once(owner):
            return None
        found: set[str] = set()
        for item in lineage:
            outer = self._program.outer(item) or item
            names = {
                self._program.static_name(decorator.func if isinstance(decorator, Call) else decorator, outer)
                for decorator in item.decorators
            }
            if (
                names != {"dataclasses.dataclass"}
                or not _OWN_CONSTRUCTION.isdisjoint(item.children)
                or _has_metaclass(item)
                or not self._known_bases(item)
            ):
                return None
            found |= {
                target.name
                for event in item.events_of("annotate")
                for target in event.targets
                if isinstance(target, Name)
            }
        return frozenset(found)

    def _part_of_keras(self, owner: Scope) -> _CertainCallee | None:
        """Return the `call` method that a layer or model of the project runs, or None."""
        method = self._program.method(owner, "call")
        if method is None or not is_keras_part(self._program, owner) or not self._defined_once(owner):
            return None
        if self._program.method(owner, "__call__") is not None or self._may_be_another(owner, "call"):
            return None
        if self._decorator_names(method) is None or not self._defined_once(method):
            return None
        holder = self._program.owner(method)
        return _CertainCallee(method, f"{owner.name}.call", 1, of_keras=True) if holder is not None else None

    def _is_bound_once(self, scope: Scope, func: Expr) -> bool:
        """Tell whether the first name of a called expression is bound only once."""
        while isinstance(func, Attribute):
            func = func.base
        if not isinstance(func, Name):
            return False
        here: Scope | None = scope
        while here is not None:
            if func.name in here.names or here.kind == "module":
                return self._binding_count(here, func.name) <= 1
            here = self._program.outer(here)
        return False

    def _binding_count(self, scope: Scope, name: str) -> int:
        """Return how often a scope binds a name, functions and classes that it defines included."""
        inside = self._names.get(id(scope.module))
        if inside is None:
            inside = self._names[id(scope.module)] = Counter(
                (inner.parent, inner.name)
                for inner in scope.module.summary.scopes
                if inner.kind in ("function", "class")
            )
        outer = self._outer.get(id(scope.module))
        if outer is None:
            outer = self._outer[id(scope.module)] = {
                item for inner in scope.module.summary.scopes for item in inner.outer
            }
        return len(scope.binding(name)) + inside[scope.number, name] + (name in outer)

    def _callee_of_function(self, function: Function) -> _CertainCallee | None:
        scope = function.scope
        if scope.kind != "function" or function.partial or function.fixed:
            return None
        decorators = self._decorator_names(scope)
        if decorators is None or not self._defined_once(scope):
            return None
        owner = self._program.owner(scope)
        if owner is None or scope.parent != owner.number:
            return _CertainCallee(scope, scope.name, 0)
        if self._may_be_another(owner, scope.name) or _is_left_to_others(scope):
            return None
        if "staticmethod" in decorators:
            bound = 0
        elif "classmethod" in decorators or function.receiver is not None:
            bound = 1
        else:
            bound = 0
        return _CertainCallee(scope, f"{owner.name}.{scope.name}", bound)

    def _callee_of_class(self, owner: Scope) -> _CertainCallee | None:
        classes, outside = self._program.bases(owner)
        calls_init = _OTHER_CALLS if "__init__" in owner.children else ()
        if not all(
            name.startswith(_PLAIN_BASES) or (calls_init and not name.startswith(calls_init))
            for name in outside
        ):
            return None
        if any(item.decorators or "__new__" in item.children or _has_metaclass(item) for item in classes):
            return None
        if any(not self._known_bases(item) for item in classes) or not self._defined_once(owner):
            return None
        method = self._program.method(owner, "__init__")
        if method is None or self._decorator_names(method) is None or not self._defined_once(method):
            return None
        holder = self._program.owner(method)
        if holder is not owner and is_keras_part(self._program, owner) is not (
            holder is not None and is_keras_part(self._program, holder)
        ):
            # A mixin's constructor: which one runs depends on the order of the bases.
            return None
        return _CertainCallee(method, owner.name, 1)

    def _known_bases(self, owner: Scope) -> bool:
        """Tell whether every base of a class is a known class or a name from outside."""
        outer = self._program.outer(owner) or owner
        for base in owner.bases:
            if is_name(base, "object"):
                continue
            if (
                self._program.static_value(base, outer) is None
                and self._program.static_name(base, outer) is None
            ):
                return False
        return True

    def _decorator_names(self, scope: Scope) -> frozenset[str] | None:
        """Return the last names of a function's decorators.

        Return None where one of them may change the arguments that the function takes.
        """
        outer = self._program.outer(scope) or scope
        found = set()
        for decorator in scope.decorators:
            func = decorator.func if isinstance(decorator, Call) else decorator
            name = canonical_name(self._program.static_name(func, outer) or dotted(func) or "")
            if name not in _KEPT:
                return None
            found.add(name.rpartition(".")[2])
        return frozenset(found)

    def _defined_once(self, scope: Scope) -> bool:
        """Tell whether nothing else in the same scope has the name of a function or class."""
        outer = scope.module.summary.scopes[scope.parent]
        return self._binding_count(outer, scope.name) == 1

    def _may_be_another(self, owner: Scope, name: str) -> bool:
        """Tell whether a subclass or an assignment may replace a method."""
        if self._overridden is None or self._stored is None:
            self._overridden, self._stored = {}, set()
            for module in self._program.modules:
                for scope in module.summary.scopes:
                    if scope.kind == "class":
                        for method in scope.children:
                            self._overridden.setdefault(method, []).append(scope)
                        continue
                    for event in scope.events():
                        self._stored |= {
                            target.attribute for target in event.targets if isinstance(target, Attribute)
                        }
        return name in self._stored or any(
            owner in self._program.bases(other).classes
            for other in self._overridden.get(name, ())
            if other is not owner
        )


_COPIES = frozenset({"dataclasses.replace", "copy.replace"})
"""Functions that copy an object with other fields."""
_OWN_CONSTRUCTION = frozenset({"__init__", "__new__", "__replace__"})


def _is_left_to_others(scope: Scope) -> bool:
    """Tell whether a method only raises NotImplementedError, for subclasses to define."""
    return any(
        event.kind == "raise"
        and event.block == 0
        and event.value is not None
        and "NotImplemented" in text(event.value)
        for event in scope.events()
    )


def _has_metaclass(owner: Scope) -> bool:
    line = owner.module.source_lines()[owner.line - 1 : owner.line + 3]
    return "metaclass" in " ".join(line)


def _refusal_of_call(callee: _CertainCallee, call: Call) -> str | None:
    """Return why Python refuses a call's arguments, or None where they fit."""
    params = callee.scope.params
    plain = [item for item in params if item.kind == "plain"][callee.bound :]
    kinds = {item.kind for item in params}
    if callee.bound and not any(item.kind == "plain" for item in params):
        return None
    if "*" not in kinds and len(call.args) > len(plain) and not callee.of_keras:
        return f"takes {_count_in_words(len(plain), 'positional argument')}, {len(call.args)} are given"
    named = {name for name, _ in call.keywords if name is not None}
    taken = {item.name for item in plain} | {item.name for item in params if item.kind == "keyword"}
    if callee.of_keras:
        unknown = sorted(named - taken - _KERAS_TAKES) if "**" not in kinds else []
        return f"does not take {_name_list(unknown)}" if unknown else None
    if "**" not in kinds:
        unknown = sorted(named - taken)
        if unknown:
            return f"does not take {_name_list(unknown)}"
    twice = [item.name for item in plain[: len(call.args)] if item.name in named]
    if twice and "**" not in kinds:
        return f"is given {_name_list(twice)} twice"
    lacking = [
        name
        for number, (name, _, default, kind) in enumerate(
            (*plain, *(item for item in params if item.kind == "keyword"))
        )
        if default is None and name not in named and (kind == "keyword" or number >= len(call.args))
    ]
    return f"lacks {_name_list(lacking)}" if lacking else None


def _count_in_words(number: int, noun: str) -> str:
    return f"no {noun}" if not number else f"{number} {noun}{'' if number == 1 else 's'}"


def _name_list(names: list[str]) -> str:
    shown = [f"`{name}`" for name in names[:4]]
    if len(names) > 4:
        return f"{', '.join(shown)} and {len(names) - 4} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
