"""Where the value of an expression comes from, through names, functions, methods, attributes and modules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import constant, dotted, is_name
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import (
    Attribute,
    Binary,
    Call,
    Collection,
    Expr,
    Name,
    Place,
    Starred,
    Subscript,
)
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import ClassValue, Instance, ModuleValue, Site, Value, alternatives

_MOST_STEPS = 40
"""Most names, calls and attributes that one value is followed through."""
_MOST_CALLERS = 6
"""Most calls of a function whose arguments are followed."""


class Entered(NamedTuple):
    """A call by which a function was entered on the way to a value."""

    call: Call
    scope: Scope
    target: Scope
    bound: bool
    before: Entered | None


class Origin(NamedTuple):
    """An expression that is no name for another, where it stands.

    Attributes:
        expr: The expression.
        scope: The scope that it stands in.
        entered: The calls by which that scope was entered; None where any call may be meant.
    """

    expr: Expr
    scope: Scope
    entered: Entered | None = None

    def at(self, expr: Expr) -> Origin:
        """Return a part of the expression, in the same place."""
        return Origin(expr, self.scope, self.entered)


def origins(program: Program, start: Origin, names: set[str] | None = None) -> tuple[Origin, ...]:
    """Return all expressions that a value may come from.

    Nothing where one of them is not known. The names on the way are added to `names`.
    """
    pending, found = [start], list[Origin]()
    seen: set[tuple[int, int, int]] = set()
    for _ in range(_MOST_STEPS):
        if not pending:
            return tuple(found)
        here = pending.pop()
        key = id(here.expr), id(here.scope), id(here.entered and here.entered.call)
        if key in seen:
            continue
        seen.add(key)
        if names is not None and isinstance(here.expr, (Name, Attribute)):
            names.add(here.expr.name if isinstance(here.expr, Name) else here.expr.attribute)
        following = _step(program, here)
        if following is None:
            found.append(here)
        elif not following:
            return ()
        else:
            pending += following
    return ()


def origin(program: Program, start: Origin, names: set[str] | None = None) -> Origin | None:
    """Return the only expression that a value comes from, or None."""
    found = origins(program, start, names)
    return found[0] if len(found) == 1 else None


def site_of(program: Program, found: Origin) -> Site | None:
    """Return the call that an origin is, as the flow knows it, or None."""
    expr = found.expr
    if not isinstance(expr, Call):
        return None
    sites = [site for site in flow_of(program).of_calls(found.scope, (expr.number,)) if site.call is expr]
    if found.entered is not None:
        own = [site for site in sites if site.through and site.through[-1].call is found.entered.call]
        sites = own or sites
    return sites[0] if sites else None


def library_name(program: Program, found: Origin) -> str:
    """Return the name of the library function that an origin calls, or ''."""
    site = site_of(program, found)
    if site is not None:
        return site.name
    expr = found.expr
    return (program.static_name(expr.func, found.scope) or "") if isinstance(expr, Call) else ""


def _step(program: Program, here: Origin) -> list[Origin] | None:
    """Return what an expression stands for, or None where it stands for itself.

    Nothing where that is not known.
    """
    expr = here.expr
    if isinstance(expr, Name):
        return _of_name(program, here, expr)
    if isinstance(expr, Attribute):
        return _of_attribute(program, here, expr)
    if isinstance(expr, Call):
        return results_of(program, here.at(expr))
    if isinstance(expr, Subscript):
        return _of_item(program, here, expr)
    return None


def _of_item(program: Program, here: Origin, expr: Subscript) -> list[Origin] | None:
    """Return what stands at a constant place of a list or tuple that is written."""
    number = constant(expr.index)
    if type(number) is not int:
        return None
    found = origins(program, here.at(expr.base))
    if not found or not all(isinstance(item.expr, Collection) for item in found):
        return None
    return _places(found, number, None) or None


def _of_name(program: Program, here: Origin, name: Name) -> list[Origin] | None:
    scope: Scope | None = here.scope
    entered = here.entered
    while scope is not None:
        if any(item.name == name.name for item in scope.params):
            return _handed(program, scope, name.name, entered) if not scope.binding(name.name) else []
        if name.name in scope.imports:
            return _of_import(program, scope, name.name)
        if name.name in scope.children:
            return None
        if name.name in scope.names:
            event = _binding_read(scope, name, own=scope is here.scope)
            if event is None or event.value is None:
                return []
            return _of_binding(program, Origin(event.value, scope, entered), event, name.name)
        following = program.outer(scope)
        if entered is not None and entered.target is scope:
            entered = entered.before if following is not None and following.kind == "module" else None
        scope = following
    return None


def _of_import(program: Program, scope: Scope, name: str) -> list[Origin] | None:
    """Return what an imported name is given in its module; None outside the project."""
    head, _, last = scope.imports[name].rpartition(".")
    module = program.find(head, scope.module) if head else None
    if not isinstance(module, ModuleValue):
        return None
    return _of_module(program, module, last)


def _of_module(program: Program, module: ModuleValue, name: str) -> list[Origin] | None:
    top = module.module.scope
    if top is None or name in top.children or name in top.imports:
        return None
    bound = top.binding(name)
    event = bound[0] if len(bound) == 1 else None
    if event is None or event.value is None or event.kind not in ("assign", "annotate") or event.block != 0:
        return []
    return _of_binding(program, Origin(event.value, top), event, name)


def _binding_read(scope: Scope, name: Name, *, own: bool) -> Event | None:
    """Return the assignment whose value a name has where it is read, or None."""
    bound = scope.binding(name.name)
    if any(name.name in item.outer for item in scope.module.summary.scopes):
        return None
    if own:
        before = [event for event in bound if event.place.end <= name.place.start]
        block = _block_around(scope, name.place)
    else:
        before, block = list(bound), 0
    if not before:
        return None
    last = before[-1]
    around = set(scope.block_numbers(block))
    if last.kind not in ("assign", "annotate") or (len(bound) > 1 and last.block not in around):
        return None
    loops = {number for number in around if scope.blocks[number].kind in ("for", "while")}
    later = [event for event in bound if event not in before]
    if any(loops & set(scope.block_numbers(event.block)) for event in later) and not loops <= set(
        scope.block_numbers(last.block)
    ):
        return None
    return last


def _block_around(scope: Scope, place: Place) -> int:
    """Return the block of the innermost statement around a place."""
    found = 0
    for event in scope.events():
        if event.place.start <= place.start and place.end <= event.place.end:
            found = event.block
    return found


def _of_binding(program: Program, here: Origin, event: Event, name: str) -> list[Origin]:
    """Return what an assignment gives a name, alone or beside others."""
    for target in event.targets:
        if is_name(target, name):
            return [here]
        found = _unpacked(program, here, target, name)
        if found:
            return found
    return []


def _unpacked(program: Program, here: Origin, target: Expr, name: str) -> list[Origin]:
    """Return what a name in a tuple of names gets of a value."""
    if not isinstance(target, Collection):
        return []
    for number, item in enumerate(target.items):
        inside = isinstance(item, Collection)
        if isinstance(item, Starred):
            return []
        if not is_name(item, name) and not inside:
            continue
        if isinstance(here.expr, Collection):
            places: list[Origin] = _places((here,), number, len(target.items))
        else:
            found = origins(program, here)
            places = _places(found, number, len(target.items)) if found else []
        if is_name(item, name):
            return places
        deeper = [_unpacked(program, place, item, name) for place in places]
        if deeper and all(deeper):
            return [part for parts in deeper for part in parts]
    return []


def _places(found: tuple[Origin, ...], number: int, count: int | None) -> list[Origin]:
    """Return the parts at one place of tuples; nothing where one is none."""
    parts: list[Origin] = []
    for item in found:
        expr = item.expr
        if not isinstance(expr, Collection) or any(isinstance(part, Starred) for part in expr.items):
            return []
        if (count is not None and count != len(expr.items)) or not -len(expr.items) <= number < len(
            expr.items
        ):
            return []
        parts.append(item.at(expr.items[number]))
    return parts


def _handed(program: Program, scope: Scope, name: str, entered: Entered | None) -> list[Origin]:
    """Return what calls hand a parameter; nothing where one hides it."""
    if entered is not None and entered.target is scope:
        given = _given(
            program,
            Origin(entered.call, entered.scope, entered.before),
            entered.call,
            scope,
            name,
            entered.bound,
        )
        return [given] if given is not None else []
    sites = {(id(site.scope), site.call.number): site for site in flow_of(program).callers(scope)}
    if not 0 < len(sites) <= _MOST_CALLERS:
        return []
    found: list[Origin] = []
    for site in sites.values():
        target = next((item for item in site.targets if item.scope is scope), None)
        if target is None or target.partial or target.fixed or site.open:
            return []
        bound = target.receiver is not None
        given = _given(program, Origin(site.call, site.scope), site.call, scope, name, bound)
        if given is None:
            return []
        found.append(given)
    return found


def _given(program: Program, here: Origin, call: Call, scope: Scope, name: str, bound: bool) -> Origin | None:
    """Return what one call hands a function for a parameter, or None."""
    plain = [item.name for item in scope.params if item.kind == "plain"]
    parameter = next(item for item in scope.params if item.name == name)
    if parameter.kind not in ("plain", "keyword") or any(key is None for key, _ in call.keywords):
        return None
    written = call.keyword(name)
    if written is not None:
        return here.at(written)
    number = plain.index(name) - int(bound) if name in plain else -1
    for place, item in enumerate(call.args):
        if isinstance(item, Starred):
            if place > number >= 0:
                break
            if number < 0:
                return None
            found = origins(program, here.at(item.value))
            parts = _places(found, number - place, None) if found and place + 1 == len(call.args) else []
            return parts[0] if len(parts) == 1 else None
        if place == number:
            return here.at(item)
    return Origin(parameter.default, scope, None) if parameter.default is not None else None


def results_of(program: Program, here: Origin) -> list[Origin] | None:
    """Return what a call of a project's function gives; None for any other call."""
    site = site_of(program, here)
    expr = here.expr
    if site is None or not isinstance(expr, Call) or not site.targets:
        return None
    if len({id(target.scope) for target in site.targets}) != 1:
        return []
    target = site.targets[0]
    inner = target.scope
    if inner.kind != "function" or inner.name == "__init__":
        return None
    if site.open or inner.generator or inner.is_async or inner.decorators:
        return []
    bound = target.receiver is not None
    entered = Entered(expr, here.scope, inner, bound, here.entered)
    returned = inner.events_of("return")
    if not returned or any(event.value is None for event in returned):
        return []
    return [Origin(event.value, inner, entered) for event in returned if event.value is not None]


def _of_attribute(program: Program, here: Origin, expr: Attribute) -> list[Origin] | None:
    """Return what an attribute of a module or of an object of the project is given."""
    scope, name = here.scope, expr.attribute
    value = program.static_value(expr.base, scope)
    if isinstance(value, ModuleValue):
        return _of_module(program, value, name)
    if isinstance(value, ClassValue):
        return _in_class(program, value.scope, name)
    own = _own_class(program, scope, expr.base)
    if own is not None:
        return _of_object(program, own, name)
    made = origin(program, here.at(expr.base))
    if made is not None and isinstance(made.expr, Call):
        cls = program.static_value(made.expr.func, made.scope)
        if isinstance(cls, ClassValue):
            return _of_made(program, made, made.expr, cls.scope, name)
    values: tuple[Value, ...] = alternatives(flow_of(program).value_of_name(scope, expr.base))
    if len(values) == 1 and isinstance(values[0], Instance) and "__init__" in values[0].scope.children:
        return _of_object(program, values[0].scope, name)
    return None


def _of_made(program: Program, made: Origin, call: Call, owner: Scope, name: str) -> list[Origin] | None:
    """Return what an attribute is given where its object is made, or in its class."""
    if any("__init__" in cls.children for cls in program.bases(owner).classes):
        return _of_object(program, owner, name)
    given = call.keyword(name)
    if call.args or call.opaque or _is_set_outside(program, name):
        return []
    return [made.at(given)] if given is not None else _in_class(program, owner, name)


def _of_object(program: Program, owner: Scope, name: str) -> list[Origin] | None:
    if _is_set_outside(program, name):
        return []
    return _kept_in(program, owner, name) or _in_class(program, owner, name)


@once
def _is_set_outside(program: Program, name: str) -> bool:
    """Tell whether other code than its own methods sets an attribute."""
    return any(
        _own_class(program, scope, target.base) is None
        for module in program.all_modules(words=(name.encode(),))
        for scope, _, target in _stores(program, module).get(name, ())
    )


@once
def _stores(program: Program, module: Module) -> dict[str, list[tuple[Scope, Event, Attribute]]]:
    """Return the statements of a module that set attributes, by their name."""
    del program
    found: dict[str, list[tuple[Scope, Event, Attribute]]] = {}
    for scope in module.summary.scopes:
        for event in scope.events():
            for target in event.targets:
                for part in _written_parts(target):
                    if isinstance(part, Attribute):
                        found.setdefault(part.attribute, []).append((scope, event, part))
    return found


def _written_parts(target: Expr) -> Iterator[Expr]:
    if isinstance(target, Collection):
        for item in target.items:
            yield from _written_parts(item)
    elif isinstance(target, Starred):
        yield from _written_parts(target.value)
    else:
        yield target


def _own_class(program: Program, scope: Scope, expr: Expr) -> Scope | None:
    """Return the class of a method, where an expression is its own object."""
    here: Scope | None = scope
    while here is not None:
        owner = program.owner(here)
        if owner is not None:
            return owner if here.params and is_name(expr, here.params[0].name) else None
        here = program.outer(here) if here.kind in ("lambda", "function") else None
    return None


def _kept_in(program: Program, owner: Scope, name: str) -> list[Origin]:
    """Return all that methods set an attribute to; nothing where one is not known."""
    found: list[Origin] = []
    for cls in program.bases(owner).classes:
        for method, event, target in _stores(program, cls.module).get(name, ()):
            if program.owner(method) is not cls:
                continue
            if not method.params or not is_name(target.base, method.params[0].name):
                continue
            if event.kind not in ("assign", "annotate") or event.value is None:
                return []
            if any(item is target for item in event.targets):
                found.append(Origin(event.value, method))
                continue
            parts = [
                part
                for item in event.targets
                for part in _unpacked_attribute(program, Origin(event.value, method), item, target)
            ]
            if not parts:
                return []
            found += parts
    return found


def _unpacked_attribute(program: Program, here: Origin, target: Expr, wanted: Expr) -> list[Origin]:
    if not isinstance(target, Collection):
        return []
    number = next((place for place, item in enumerate(target.items) if item is wanted), None)
    if number is None:
        return []
    found = (here,) if isinstance(here.expr, Collection) else origins(program, here)
    return _places(found, number, len(target.items)) if found else []


def _in_class(program: Program, owner: Scope, name: str) -> list[Origin] | None:
    """Return what a class gives a name: a value, or what a property returns."""
    for scope in program.bases(owner).classes:
        if name in scope.children:
            method = scope.module.summary.scopes[scope.children[name]]
            if not any(is_name(item, "property") for item in method.decorators):
                return None
            returned = method.events_of("return")
            return [Origin(event.value, method) for event in returned if event.value is not None]
        if name in scope.names:
            bound = scope.binding(name)
            event = bound[0] if len(bound) == 1 else None
            if event is None or event.value is None or event.kind not in ("assign", "annotate"):
                return []
            return [Origin(event.value, scope)]
    return None


_PATHS = frozenset({"pathlib.Path", "pathlib.PurePath", "builtins.str", "os.fspath", "os.path.join"})
_FORMS = frozenset({"as_posix", "resolve", "absolute", "expanduser"})


def path_of(program: Program, start: Origin, depth: int = 6) -> str | None:
    """Return the path that a value is, in one way of writing, or None.

    All of it must be written in the code.
    """
    found = origin(program, start) if depth > 0 else None
    if found is None:
        return None
    expr = found.expr
    known = constant(expr)
    if isinstance(known, str):
        return _plain(known)
    parts: tuple[Expr, ...] = ()
    if isinstance(expr, Binary) and expr.operator == "/":
        parts = (expr.left, expr.right)
    elif isinstance(expr, Call) and not expr.opaque and not expr.keywords:
        if (dotted(expr.func) in ("str", "Path") or library_name(program, found) in _PATHS) and expr.args:
            parts = expr.args
        elif expr.method == "joinpath" and expr.receiver is not None:
            parts = (expr.receiver, *expr.args)
        elif expr.method in _FORMS and expr.receiver is not None and not expr.args:
            parts = (expr.receiver,)
    texts = [path_of(program, found.at(part), depth - 1) for part in parts]
    if not texts or any(item is None for item in texts):
        return None
    return _plain("/".join(item for item in texts if item))


def _plain(path: str) -> str:
    return path.removeprefix("./").rstrip("/")
