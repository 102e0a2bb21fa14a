"""Python state that a compiled function changes or captures while it is traced."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.common import COMPILED, bound_in_loop, in_tests, never_entered
from cfgfix.code.checks.compiled_scopes import compiled_for_sure, compiled_reach, compiled_scopes, eager_guard
from cfgfix.code.inference.hot_paths import innermost_loop, inside
from cfgfix.code.inference.releases import IMPORTS
from cfgfix.code.model.expressions import dotted, text, walk
from cfgfix.code.model.hit import Hit, Step, hit_at
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import ATTRIBUTE, CALL, CONSTANT, NAME, Call, Expr, Place, Scope

NEEDLES = (*COMPILED, *IMPORTS)
"""What runs begin with decides, too: it may turn compiling off."""


def mutated(program: Program) -> Iterator[Hit]:
    """Find outer lists and counters that a compiled function changes."""
    for scope, reach in compiled_scopes(program):
        if reach.path or not compiled_for_sure(reach):
            continue
        own = scope.params[0][0] if scope.params and program.owner(scope) is not None else None
        for call in scope.calls:
            if call.method not in ("append", "extend", "add") or len(call.args) != 1:
                continue
            target = call.func[1]
            if _tells_of_tracing(scope, call.block, target):
                continue
            if (
                _is_outside(scope, target, own)
                and not eager_guard(scope, call.block)
                and _is_list(program, scope, target)
            ):
                yield Hit(
                    scope,
                    call.name_place,
                    call.block,
                    {"what": f"{text(target, scope)}.{call.method}", "via": reach.via},
                    entry=reach,
                )
        for event in scope.events():
            if event.kind != "augment" or eager_guard(scope, event.block):
                continue
            target = event.targets[0]
            if _tells_of_tracing(scope, event.block, target):
                continue
            if (
                _is_outside(scope, target, own)
                and event.value is not None
                and event.value[0] == CONSTANT
                and _is_number(program, scope, target)
            ):
                yield Hit(
                    scope,
                    event.place,
                    event.block,
                    {"what": f"{text(target, scope)} {event.extra}= {event.value[1]}", "via": reach.via},
                    entry=reach,
                    severity=None if _read(program, target) else "info",
                )


def _is_outside(scope: Scope, target: Expr, own: str | None) -> bool:
    """Tell whether a function finds what it changes around it, or in its object, which it calls `own`."""
    if target[0] == ATTRIBUTE:
        return own is not None and target[1][0] == NAME and target[1][1] == own
    return target[0] == NAME and target[1] in scope.outer


def _read(program: Program, target: Expr) -> bool:
    """Tell whether something reads an attribute; a counter that nothing reads makes no result wrong. Of a plain name it is taken as read."""
    if target[0] != ATTRIBUTE:
        return True
    for module in program.all_modules():
        for scope in module.summary.scopes:
            values = [event.value for event in scope.events() if event.value is not None]
            values += [item.test for item in scope.blocks if item.test is not None]
            for call in scope.calls:
                values += [call.func, *call.args, *(value for _, value in call.keywords)]
            if any(
                part[0] == ATTRIBUTE and part[2] == target[2]
                for value in values
                for part in walk(value, scope)
            ):
                return True
    return False


def _tells_of_tracing(scope: Scope, block: int, target: Expr) -> bool:
    """Tell whether a change is meant to happen while tracing: its name says so, or a test of the same value guards it."""
    shown = text(target, scope)
    return bool(re.search("trac(?!k)|compil", shown.rpartition(".")[2], re.IGNORECASE)) or any(
        item.kind == "if" and item.test is not None and shown in text(item.test, scope)
        for item in scope.block_chain(block)
    )


def _initial(program: Program, scope: Scope, target: Expr) -> list[tuple[Expr | None, Scope]]:
    """Return what is assigned to an attribute in `__init__`, or to a global at module level."""
    found: list[tuple[Expr | None, Scope]] = []
    if target[0] == ATTRIBUTE:
        owner = program.owner(scope)
        init = program.method(owner, "__init__") if owner is not None else None
        if init is None or not init.params:
            return []
        for event in init.events():
            for item in event.targets:
                if (
                    item[0] == ATTRIBUTE
                    and item[2] == target[2]
                    and item[1][0] == NAME
                    and item[1][1] == init.params[0][0]
                ):
                    found.append((event.value, init))
    else:
        top = scope.module.scope
        for event in top.body:
            for item in event.targets:
                if item[0] == NAME and item[1] == target[1]:
                    found.append((event.value, top))
    return found


def _is_list(program: Program, scope: Scope, target: Expr) -> bool:
    initial = _initial(program, scope, target)
    return bool(initial) and all(
        value is not None
        and (
            (value[0] == "t" and value[1] in ("list", "set"))
            or (value[0] == CALL and dotted(where.calls[value[1]].func) in ("list", "set"))
        )
        for value, where in initial
    )


def _is_number(program: Program, scope: Scope, target: Expr) -> bool:
    initial = _initial(program, scope, target)
    return bool(initial) and all(
        value is not None and value[0] == CONSTANT and type(value[1]) in (int, float) for value, _ in initial
    )


def captured(program: Program) -> Iterator[Hit]:
    """Find plain numbers that change after a compiled method has read them.

    They are attributes of the method's object.
    """
    seen: set[tuple[int, str]] = set()
    for scope, reach in compiled_scopes(program):
        owner = program.owner(scope)
        if owner is None or not scope.params or not compiled_for_sure(reach):
            continue
        own = scope.params[0][0]
        for event in scope.events():
            for expr in (event.value, scope.blocks[event.block].test):
                if expr is None or expr[0] in (NAME, CONSTANT):
                    continue
                for part in walk(expr, scope):
                    if part[0] != ATTRIBUTE or part[1][0] != NAME or part[1][1] != own:
                        continue
                    if (id(owner), part[2]) in seen or not reach.passes(event.block, None):
                        continue
                    if not _is_number(program, scope, part):
                        continue
                    where = _changed(program, owner, part[2], reach.root.scope)
                    if where is None:
                        continue
                    seen.add((id(owner), part[2]))
                    yield Hit(
                        scope,
                        part[3],
                        event.block,
                        {"what": f"{own}.{part[2]}", "via": reach.via, "line_of": where.place[0]},
                        entry=reach,
                        related=(where,),
                    )


def _changed(program: Program, owner: Scope, name: str, traced: Scope) -> Step | None:
    """Return where an attribute changes for sure after a compiled function was called on the same object, or None.

    The change is an assignment or a call of a method that assigns it; it stands behind the call in the same function, or
    in the same loop. What sets an object up before its first call is no change.
    """
    setters: dict[int, Step] = {}
    for number in range(owner.number + 1, len(owner.module.summary.scopes)):
        method = owner.module.summary.scopes[number]
        if method.place[0] > owner.place[2]:
            break
        if method.parent != owner.number or method.kind != "function" or not method.params:
            continue
        if method.name in ("__init__", "build") or compiled_reach(program, method) is not None:
            continue
        own = (NAME, method.params[0][0])
        for event in method.events():
            if any(_is_attribute(target, name) and target[1][:2] == own for target in event.targets):
                setters.setdefault(id(method), Step(method, event.place, event.block, "changed here"))
    for called in program.flow.callers(traced):
        scope = called.scope
        if in_tests(scope):
            continue
        receiver = _receiver(called.call.func)
        shown = text(receiver, scope)
        for event in scope.events():
            if any(
                _is_attribute(target, name) and text(target[1], scope) == shown for target in event.targets
            ) and _behind(scope, called.call, event.block, event.place, receiver):
                return Step(scope, event.place, event.block, "changed here, after the call")
        for site in program.flow.within(scope):
            for target in site.targets:
                step = setters.get(id(target.scope))
                if (
                    step is not None
                    and site.call.func[0] == ATTRIBUTE
                    and text(site.call.func[1], scope) == shown
                    and _behind(scope, called.call, site.call.block, site.call.place, receiver)
                ):
                    return step
    return None


def _is_attribute(target: Expr, name: str) -> bool:
    return bool(target[0] == ATTRIBUTE and target[2] == name)


def _receiver(func: Expr) -> Expr:
    """Return the object that a call is made on: `model` of `model.infer(x)` and of `model(x)`."""
    receiver: Expr = func[1] if func[0] == ATTRIBUTE else func
    return receiver


def _behind(scope: Scope, first: Call, block: int, place: Place, receiver: Expr) -> bool:
    """Tell whether a place is run after a call for sure: further down under the same guards, or in the same loop."""
    if first.place[2:] < place[:2] and inside(scope, block, first.block):
        return True
    loop = innermost_loop(scope, first.block)
    if loop is None or not inside(scope, block, loop):
        return False
    head = receiver
    while head[0] == ATTRIBUTE:
        head = head[1]
    # A new object in every turn is traced anew.
    return head[0] == NAME and head[1] not in bound_in_loop(scope, loop)


def variable(program: Program) -> Iterator[Hit]:
    """Find variables made in a compiled function without a guard.

    The guard makes them once.
    """
    for site in program.flow.named("tensorflow.Variable"):
        reach = compiled_reach(program, site.scope, site)
        if reach is None or not compiled_for_sure(reach) or reach.path:
            continue
        if _raises_wanted(site.scope):
            continue
        if site.scope.name in ("build", "__init__") or any(
            block.kind in ("if", "try", "except", "with") for block in site.scope.block_chain(site.call.block)
        ):
            continue
        yield hit_at(
            site,
            entry=reach,
            severity="info" if never_entered(program, reach.root.scope) else None,
            values={"via": reach.via},
        )


def _raises_wanted(function: Scope) -> bool:
    """Tell whether a function is only called where an error is what is shown: `with assert_raises(ValueError): f(1.0)`."""
    called = [
        (scope, call)
        for scope in function.module.summary.scopes
        for call in scope.calls
        if call.func[:2] == (NAME, function.name)
    ]
    return bool(called) and all(
        any(
            block.kind == "with" and block.test is not None and "raises" in text(block.test, scope).lower()
            for block in scope.block_chain(call.block)
        )
        for scope, call in called
    )
