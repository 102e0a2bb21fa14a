"""The places where names, attributes and entries get their values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from cfgfix.code.checks.bindings import bound_once
from cfgfix.code.checks.outputs import constant_in_every_call
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import MISSING, constant, dotted, is_name
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import (
    Attribute,
    Call,
    Collection,
    Dictionary,
    Expr,
    Literal,
    Name,
    Starred,
    Subscript,
)
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import ClassValue, Function, ModuleValue

MAX_STEPS = 8
"""Most names that are followed to where a value is written."""
MAX_CALLERS = 8
"""Most calls of a function whose arguments are followed."""
_NAMESPACES = frozenset({"types.SimpleNamespace", "argparse.Namespace"})
_CHANGES = (
    "update",
    "setdefault",
    "pop",
    "popitem",
    "clear",
    "__setitem__",
    "merge_from_file",
    "merge_from_list",
)
_MERGES = (".update(", "merge_from_")
"""What stands in code that changes a mapping without a word of what is in it."""
_SETS = ("setattr", "__setattr__", "vars", "globals", "exec")
_READS = frozenset(
    {"print", "len", "str", "repr", "pprint", "dump", "dumps", "safe_dump", "dict", "sorted", "get"}
)
"""Calls that change nothing of what they are handed."""


class Written(NamedTuple):
    """An expression where it is written.

    Attributes:
        expr: The expression.
        scope: The scope that it stands in.
        block: The block there.
    """

    expr: Expr
    scope: Scope
    block: int


class _ModuleChanges(NamedTuple):
    """What a module changes behind the statements that give values first.

    Attributes:
        attributes: How often each attribute is given a value.
        classes: How many classes give each name a value.
        by_name: Whether attributes may be given values under names that are worked out.
        mappings: The names of mappings that are changed as a whole, or under keys that are worked out.
        keys: The keys that are given values one by one.
        handed: The ways to what is handed to calls as a whole, which may change it.
        taken: The parameters of the project's own functions that take what a way leads to.
    """

    attributes: Counter[str]
    classes: Counter[str]
    by_name: bool
    mappings: frozenset[str]
    keys: frozenset[str]
    handed: frozenset[tuple[str, ...]]
    taken: Mapping[tuple[str, ...], frozenset[str]]


_NO_CHANGES = _ModuleChanges(Counter(), Counter(), False, frozenset(), frozenset(), frozenset(), {})


@once
def _changes_in(program: Program, module: Module) -> _ModuleChanges:
    """Return the changes that a module makes to values; each module is read once."""
    attributes: Counter[str] = Counter()
    classes: Counter[str] = Counter()
    mappings: set[str] = set()
    keys: set[str] = set()
    handed: set[tuple[str, ...]] = set()
    taken: dict[tuple[str, ...], frozenset[str]] = {}
    by_name = False
    for scope in module.summary.scopes:
        if scope.kind == "class":
            classes.update(scope.names)
        for event in scope.events():
            for part in (part for target in event.targets for part in _target_parts(target)):
                if isinstance(part, Attribute):
                    attributes[part.attribute] += 1
                elif isinstance(part, Subscript):
                    key = constant(part.index)
                    if isinstance(key, str):
                        keys.add(key)
                    elif key is MISSING and (name := _last_name(part.base)) is not None:
                        mappings.add(name)
        for call in scope.calls:
            called = _last_name(call.func)
            if called in _CHANGES and isinstance(call.func, Attribute):
                name = _last_name(call.func.base)
                if name is not None:
                    mappings.add(name)
            elif called in _SETS:
                by_name = True
            elif called not in _READS:
                for given, parameter in _handed_to(program, scope, call):
                    if parameter is None:
                        handed.update(_dotted_ways(given))
                    else:
                        for way in _dotted_ways(given):
                            taken[way] = taken.get(way, frozenset()) | {parameter}
    return _ModuleChanges(
        attributes, classes, by_name, frozenset(mappings), frozenset(keys), frozenset(handed), taken
    )


def _handed_to(program: Program, scope: Scope, call: Call) -> Iterator[tuple[Expr, str | None]]:
    """Yield the arguments of a call, each with the parameter that takes it.

    The parameter is None where the function is not the project's own.
    """
    value = program.static_value(call.func, scope) if not call.opaque else None
    own = value.scope if isinstance(value, Function) and not value.scope.decorators else None
    plain = [item.name for item in own.params if item.kind == "plain"] if own is not None else []
    for number, given in enumerate(call.args):
        yield given, plain[number] if number < len(plain) else None
    for name, given in call.keywords:
        yield given, name if name in plain else None


@once
def _changes_in_program(program: Program, name: str) -> _ModuleChanges:
    """Return what the program changes, as far as a name is concerned."""
    words = (name.encode(), *(item.encode() for item in (*_SETS[:2], *_MERGES)))
    found = [_changes_in(program, module) for module in program.all_modules(words=words)]
    taken: dict[tuple[str, ...], frozenset[str]] = {}
    for item in found:
        for way, parameters in item.taken.items():
            taken[way] = taken.get(way, frozenset()) | parameters
    return _ModuleChanges(
        Counter({name: sum(item.attributes[name] for item in found)}),
        Counter({name: sum(item.classes[name] for item in found)}),
        any(item.by_name for item in found),
        frozenset(mapping for item in found for mapping in item.mappings),
        frozenset({name} if any(name in item.keys for item in found) else ()),
        frozenset(way for item in found for way in item.handed),
        taken,
    )


def _dotted_ways(expr: Expr) -> tuple[tuple[str, ...], ...]:
    """Return the names and keys of a dotted expression, with and without the first."""
    steps: list[str] = []
    while isinstance(expr, (Attribute, Subscript)):
        key = expr.attribute if isinstance(expr, Attribute) else constant(expr.index)
        steps.append(key if isinstance(key, str) else "")
        expr = expr.base
    if not isinstance(expr, Name):
        return ()
    way = (expr.name, *reversed(steps))
    return (way, way[1:]) if steps else (way,)


def _may_be_changed(base: Expr, changes: _ModuleChanges) -> bool:
    """Tell whether a call that may change a mapping, or one around it, is given it."""
    ways = [way[:end] for way in _dotted_ways(base) for end in range(1, len(way) + 1)]
    seen: set[tuple[str, ...]] = set()
    while ways:
        way = ways.pop()
        if way in seen:
            continue
        seen.add(way)
        if way in changes.handed or (len(way) == 1 and len(seen) > 1 and way[0] in changes.mappings):
            return True
        ways += [(parameter,) for parameter in changes.taken.get(way, ())]
    return False


def _target_parts(target: Expr) -> tuple[Expr, ...]:
    if isinstance(target, Collection):
        return tuple(part for item in target.items for part in _target_parts(item))
    return _target_parts(target.value) if isinstance(target, Starred) else (target,)


def _last_name(expr: Expr) -> str | None:
    """Return the last name of a dotted expression, or None."""
    if isinstance(expr, Name):
        return expr.name
    return expr.attribute if isinstance(expr, Attribute) else None


def _is_same(one: Expr, other: Expr) -> bool:
    """Tell whether two expressions are the same, or constants of the same value."""
    if one is other:
        return True
    return (
        isinstance(one, Literal)
        and isinstance(other, Literal)
        and type(one.value) is type(other.value)
        and one.value == other.value
    )


class _ValueReader:
    """Follows names to where their values are written.

    Args:
        program: The program.
        certain: Whether it is asked what else changes a value: not before there is a reason to.
    """

    def __init__(self, program: Program, *, certain: bool) -> None:
        self.program = program
        self.certain = certain
        self._key = ""

    def _changes_of_name(self, name: str) -> _ModuleChanges:
        return _changes_in_program(self.program, name) if self.certain else _NO_CHANGES

    def followed(self, expr: Expr, scope: Scope, block: int, left: int) -> Written | None:
        """Return the expression behind names, attributes and entries, or None."""
        here: Written | None = Written(expr, scope, block)
        for _ in range(left):
            if here is None or not isinstance(here.expr, (Name, Attribute, Subscript, Call)):
                return here
            if isinstance(here.expr, Call) and here.expr.method != "get":
                return here
            following = self._step_further(here, left - 1)
            if following is None:
                return here if isinstance(here.expr, Call) else None
            here = following
        return None

    def _step_further(self, here: Written, left: int) -> Written | None:
        expr, scope, block = here
        if isinstance(expr, Name):
            return self._of_name(expr.name, scope, block, left)
        if isinstance(expr, Attribute):
            return self._of_attribute(expr, scope, block, left)
        if isinstance(expr, Subscript):
            key = constant(expr.index)
            return self._entry_of_mapping(expr.base, key, None, here, left) if isinstance(key, str) else None
        if isinstance(expr, Call) and isinstance(expr.func, Attribute) and expr.args and not expr.opaque:
            key = constant(expr.args[0])
            return (
                self._entry_of_mapping(expr.func.base, key, expr, here, left)
                if isinstance(key, str)
                else None
            )
        return None

    def _of_callers(self, name: str, scope: Scope, left: int) -> Written | None:
        """Return the mapping or constant that all calls give a parameter, or None."""
        position, parameter = next(
            (number, item) for number, item in enumerate(scope.params) if item.name == name
        )
        if parameter.kind not in ("plain", "keyword"):
            return None
        callers = flow_of(self.program).callers(scope)
        if left <= 0 or not callers or len(callers) > MAX_CALLERS or scope.binding(name):
            return None
        found: Written | None = None
        for caller in callers:
            offset = int(any(target.receiver is not None for target in caller.targets))
            given = (
                caller.call.argument(position - offset, name)
                if parameter.kind == "plain"
                else caller.call.keyword(name)
            )
            if caller.call.opaque or given is None:
                return None
            made = self.followed(given, caller.scope, caller.call.block, left - 1)
            if made is None or not isinstance(made.expr, (Dictionary, Literal)):
                return None
            changes = self._changes_of_name(self._key) if isinstance(made.expr, Dictionary) else _NO_CHANGES
            if _last_name(given) in changes.mappings or _may_be_changed(given, changes):
                return None
            if found is not None and not _is_same(made.expr, found.expr):
                return None
            found = made
        return found

    def _of_name(self, name: str, scope: Scope, block: int, left: int) -> Written | None:
        found = bound_once(scope, name, block)
        if found is not None:
            return Written(*found)
        if any(item.name == name for item in scope.params):
            given = constant_in_every_call(self.program, scope, name)
            return Written(given, scope, 0) if given is not None else self._of_callers(name, scope, left)
        here: Scope | None = scope
        while here is not None:
            source = here.imports.get(name)
            if source is not None:
                head, _, last = source.rpartition(".")
                dots = source[: len(source) - len(source.lstrip("."))]
                return self._of_module(head or dots, last, here) if last else None
            if name in here.names and not (here.kind == "class" and here is not scope):
                return None
            if here.parent < 0:
                for star in here.stars:
                    made = self._of_module(star, name, here)
                    if made is not None:
                        return made
            here = self.program.outer(here)
        return None

    def _of_module(self, source: str, name: str, importer: Scope) -> Written | None:
        found = self.program.find(source, importer.module)
        return self._in_module(found, name) if isinstance(found, ModuleValue) else None

    def _in_module(self, value: ModuleValue, name: str) -> Written | None:
        """Return the value assigned to a name at a module's top, or None.

        Return None as well where something else assigns it.
        """
        scope = value.module.scope
        if scope is None or name not in scope.names or self._changes_of_name(name).attributes[name]:
            return None
        found = bound_once(scope, name, 0)
        return Written(*found) if found is not None and found[2] == 0 else None

    def _of_attribute(self, expr: Attribute, scope: Scope, block: int, left: int) -> Written | None:
        name, base = expr.attribute, expr.base
        changes = self._changes_of_name(name)
        value = self.program.static_value(base, scope)
        if isinstance(value, ModuleValue):
            return self._in_module(value, name)
        if changes.by_name:
            return None
        if isinstance(value, ClassValue):
            return self._in_class(value.scope, name) if not changes.attributes[name] else None
        owner = self.program.owner(scope)
        if owner is not None and scope.params and is_name(base, scope.params[0].name):
            # A class below may have it otherwise.
            if changes.classes[name] + changes.attributes[name] > 1:
                return None
            return self._in_class(owner, name) or self._given_in_init(owner, name)
        made = self.followed(base, scope, block, left) if left > 0 else None
        if made is None or not isinstance(made.expr, Call) or made.expr.opaque:
            return None
        call = made.expr
        if self.program.static_name(call.func, made.scope) in _NAMESPACES:
            given = call.keyword(name)
            return (
                Written(given, made.scope, made.block)
                if given is not None and not changes.attributes[name]
                else None
            )
        cls = self.program.static_value(call.func, made.scope)
        if not isinstance(cls, ClassValue):
            return None
        given = call.keyword(name)
        if given is not None:
            return None if changes.attributes[name] else Written(given, made.scope, made.block)
        method = self.program.method(cls.scope, name)
        if method is not None:
            # What a property gives does not depend on what its object is made with.
            return self._in_class(cls.scope, name) if not changes.attributes[name] else None
        if call.args or changes.attributes[name] > 1:
            return None
        if changes.attributes[name]:
            return self._given_in_init(cls.scope, name)
        found = self._in_class(cls.scope, name)
        return found if found is not None or self.certain else self._given_in_init(cls.scope, name)

    def _in_class(self, owner: Scope, name: str) -> Written | None:
        """Return the value that a class, or its nearest base, assigns to a name, or None."""
        if self.program.bases(owner).outside:
            # Members of an enumeration are no texts, and settings of pydantic may come from the environment.
            return None
        for scope in self.program.bases(owner).classes:
            if name not in scope.names:
                continue
            if name in scope.children:
                return _of_property(scope.module.summary.scopes[scope.children[name]])
            if name in scope.imports:
                return None
            events = scope.binding(name)
            event = events[0] if len(events) == 1 else None
            if (
                event is None
                or event.block != 0
                or event.kind not in ("assign", "annotate")
                or event.value is None
            ):
                return None
            return (
                Written(event.value, scope, 0) if any(is_name(item, name) for item in event.targets) else None
            )
        return None

    def _given_in_init(self, owner: Scope, name: str) -> Written | None:
        """Return the value that `__init__` assigns to an attribute, or None."""
        for scope in self.program.bases(owner).classes:
            child = scope.children.get("__init__")
            if child is None:
                continue
            init = scope.module.summary.scopes[child]
            own = init.params[0].name if init.params else ""
            for event in init.events_of("assign", "annotate"):
                for target in event.targets:
                    if (
                        isinstance(target, Attribute)
                        and target.attribute == name
                        and is_name(target.base, own)
                    ):
                        if event.block != 0 or event.value is None:
                            return None
                        return Written(event.value, init, 0)
        return None

    def _entry_of_mapping(
        self, base: Expr, key: str, get: Call | None, here: Written, left: int
    ) -> Written | None:
        """Return the value of a key in a literal mapping that nothing changes, or None."""
        changes = self._changes_of_name(key)
        if left <= 0 or key in changes.keys or _last_name(base) in changes.mappings:
            return None
        if _may_be_changed(base, changes):
            return None
        self._key = key
        found = self.followed(base, here.scope, here.block, left)
        if found is None or not isinstance(found.expr, Dictionary):
            return None
        value: Expr | None = None
        for entry_key, entry in found.expr.entries:
            if entry_key is None:
                value = None
                continue
            if constant(entry_key) == key:
                value = entry
        if value is not None:
            return Written(value, found.scope, found.block)
        spread = any(entry_key is None for entry_key, _ in found.expr.entries)
        if (
            get is not None
            and not spread
            and len(get.args) == 2
            and all(isinstance(entry_key, Literal) for entry_key, _ in found.expr.entries)
        ):
            return Written(get.args[1], here.scope, here.block)
        return None


def _of_property(method: Scope) -> Written | None:
    """Return the only expression that a property returns, or None."""
    is_property = any((dotted(item) or "").rsplit(".", 1)[-1] in _PROPERTIES for item in method.decorators)
    return returned_by(method) if is_property else None


def returned_by(function: Scope) -> Written | None:
    """Return the only expression that a function always returns, or None."""
    returns = function.events_of("return")
    only = returns[0] if len(returns) == 1 else None
    if only is None or only.value is None or only.block != 0:
        return None
    return Written(only.value, function, 0)


_PROPERTIES = frozenset({"property", "cached_property"})


def written_at(program: Program, expr: Expr, scope: Scope, block: int) -> Written | None:
    """Return the expression and place that give a name, attribute or entry its value.

    Return None where it may have another value, or nothing is known.
    """
    return _ValueReader(program, certain=True).followed(expr, scope, block, MAX_STEPS)


def written_constant(
    program: Program, expr: Expr, scope: Scope, block: int, *, certain: bool = True
) -> Literal | None:
    """Return the literal that an expression stands for behind names.

    None where it is no such one, or stands for nothing: `None` is there to be replaced.

    Args:
        program: The program.
        expr: The expression.
        scope: The scope that it stands in.
        block: The block there.
        certain: Whether to make sure that nothing changes the value later, which reads more of the program.
    """
    if not isinstance(expr, (Name, Attribute, Subscript, Call)):
        return None
    found = _ValueReader(program, certain=certain).followed(expr, scope, block, MAX_STEPS)
    if found is None or not isinstance(found.expr, Literal) or found.expr.value in (None, ""):
        return None
    return found.expr
