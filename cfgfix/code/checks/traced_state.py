"""Python state that a compiled function changes or captures while it is traced."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.bindings import bound_in_loop
from cfgfix.code.checks.common import in_tests, line_beside, never_entered
from cfgfix.code.checks.compiled_scopes import compiled_for_sure, compiled_reach, compiled_scopes, eager_guard
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import Reach, innermost_loop, inside
from cfgfix.code.inference.references import public_name
from cfgfix.code.model.expressions import dotted, is_name, text, walk
from cfgfix.code.model.hit import Step, hit_at, hit_in
from cfgfix.code.model.nodes import Attribute, Binary, Call, Collection, Expr, Literal, Name, Place, Subscript
from cfgfix.code.model.program import Program, is_keras_model
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Made, Site, alternatives
from cfgfix.rules.hit import Hit


def mutated(program: Program) -> Iterator[Hit]:
    """Find outer lists and counters that a compiled function changes."""
    for scope, reach in compiled_scopes(program):
        if reach.path:
            continue
        # Who calls fit may ask for eager steps in another program.
        severity = None if compiled_for_sure(reach) else "warning"
        own = scope.params[0].name if scope.params and program.owner(scope) is not None else None
        for call in scope.calls:
            target = call.receiver
            if call.method not in ("append", "extend", "add") or target is None or len(call.args) != 1:
                continue
            if _tells_of_tracing(scope, call.block, target):
                continue
            if (
                (_is_outside(scope, target, own) or _is_read_global(scope, target))
                and not eager_guard(scope, call.block)
                and _is_list(program, scope, target)
            ):
                yield hit_in(
                    scope,
                    call.name_place,
                    call.block,
                    {"what": f"{text(target)}.{call.method}", "via": reach.via},
                    entry=reach,
                    severity=severity,
                )
        for event in scope.events():
            counted = _counted_target(event)
            if counted is None or eager_guard(scope, event.block):
                continue
            target, shown = counted
            if _tells_of_tracing(scope, event.block, target):
                continue
            if _is_outside(scope, target, own) and _is_number(program, scope, target):
                yield hit_in(
                    scope,
                    event.place,
                    event.block,
                    {"what": shown, "via": reach.via},
                    entry=reach,
                    severity=severity if _is_read_anywhere(program, target) else "info",
                )


def _counted_target(event: Event) -> tuple[Expr, str] | None:
    """Return the target and the text of a statement that adds a number to a value.

    Examples: `a += 1` and `a = a + 1`. Return None for any other statement.
    """
    if event.kind not in ("augment", "assign") or len(event.targets) != 1:
        return None
    target, value = event.targets[0], event.value
    if event.kind == "augment":
        number = value if isinstance(value, Literal) else None
        return (target, f"{text(target)} {event.operator}= {number.value!s}") if number is not None else None
    if not isinstance(value, Binary) or value.operator not in ("+", "-"):
        return None
    if text(value.left) != text(target) or not isinstance(value.right, Literal):
        return None
    return target, f"{text(target)} = {text(value)}"


def _is_outside(scope: Scope, target: Expr, own: str | None) -> bool:
    """Tell whether a function changes an outer variable or an attribute of `self`."""
    if isinstance(target, Attribute):
        return own is not None and isinstance(target.base, Name) and target.base.name == own
    return isinstance(target, Name) and target.name in scope.outer


def _is_read_global(scope: Scope, target: Expr) -> bool:
    """Tell whether a target is a module's variable that another scope reads."""
    if not isinstance(target, Name):
        return False
    here, module = scope, scope.module.summary.scopes
    while here is not module[0]:
        if here.binding(target.name) or any(item.name == target.name for item in here.params):
            return False
        here = module[max(here.parent, 0)]
    return any(
        is_name(part, target.name)
        for other in module
        if other is not scope
        for value in _read_in(other)
        for part in walk(value)
    )


def _read_in(scope: Scope) -> Iterator[Expr]:
    """Yield the expressions that a scope reads: values, tests and arguments."""
    for event in scope.events():
        if event.value is not None:
            yield event.value
    for item in scope.blocks:
        if item.test is not None:
            yield item.test
    for call in scope.calls:
        yield from call.args
        yield from (value for _, value in call.keywords)


def _is_read_anywhere(program: Program, target: Expr) -> bool:
    """Tell whether any code of the program reads an attribute.

    A counter that nothing reads makes no result wrong. Plain names always count as read.
    """
    if not isinstance(target, Attribute):
        return True
    for module in program.all_modules():
        for scope in module.summary.scopes:
            values = [event.value for event in scope.events() if event.value is not None]
            values += [item.test for item in scope.blocks if item.test is not None]
            for call in scope.calls:
                values += [call.func, *call.args, *(value for _, value in call.keywords)]
            if any(
                isinstance(part, Attribute) and part.attribute == target.attribute
                for value in values
                for part in walk(value)
            ):
                return True
    return False


def _tells_of_tracing(scope: Scope, block: int, target: Expr) -> bool:
    """Tell whether a change is meant to happen while tracing.

    Its name says so, or a test of the same value guards it.
    """
    shown = text(target)
    return bool(re.search("trac(?!k)|compil", shown.rpartition(".")[2], re.IGNORECASE)) or any(
        item.kind == "if" and item.test is not None and shown in text(item.test)
        for item in scope.block_chain(block)
    )


def _initial_values(program: Program, scope: Scope, target: Expr) -> list[tuple[Expr | None, Scope]]:
    """Return the initial values of an attribute or a global, with their scopes.

    They stand in `__init__` or at module level.
    """
    found: list[tuple[Expr | None, Scope]] = []
    if isinstance(target, Attribute):
        owner = program.owner(scope)
        init = program.method(owner, "__init__") if owner is not None else None
        if init is None or not init.params:
            return []
        for event in init.events():
            for item in event.targets:
                if (
                    isinstance(item, Attribute)
                    and item.attribute == target.attribute
                    and isinstance(item.base, Name)
                    and item.base.name == init.params[0].name
                ):
                    found.append((event.value, init))
    elif isinstance(target, Name):
        top = scope.module.scope
        for event in top.body:
            for item in event.targets:
                if isinstance(item, Name) and item.name == target.name:
                    found.append((event.value, top))
    return found


def _is_list(program: Program, scope: Scope, target: Expr) -> bool:
    initial = _initial_values(program, scope, target)
    return bool(initial) and all(
        value is not None
        and (
            (isinstance(value, Collection) and value.kind in ("list", "set"))
            or (isinstance(value, Call) and dotted(value.func) in ("list", "set"))
        )
        for value, where in initial
    )


def _is_number(program: Program, scope: Scope, target: Expr) -> bool:
    if isinstance(target, Attribute) and _is_made_later(program, scope, target.attribute):
        return False
    initial = _initial_values(program, scope, target)
    return bool(initial) and all(
        value is not None and isinstance(value, Literal) and type(value.value) in (int, float)
        for value, _ in initial
    )


def _is_made_later(program: Program, scope: Scope, attribute: str) -> bool:
    """Tell whether a method other than `__init__` assigns a call to an attribute."""
    owner = program.owner(scope)
    return owner is not None and any(
        item.attribute == attribute and isinstance(event.value, Call) and where.name != "__init__"
        for base in program.bases(owner).classes
        for where, event, item in base.module.stores()
        if program.owner(where) is base
    )


def captured(program: Program) -> Iterator[Hit]:
    """Find attributes with numbers that change after a compiled method read them."""
    seen: set[tuple[int, str]] = set()
    for scope, reach in compiled_scopes(program):
        owner = program.owner(scope)
        if owner is None or not scope.params:
            continue
        sure = compiled_for_sure(reach)
        own = scope.params[0].name
        for event in scope.events():
            for expr in (event.value, scope.blocks[event.block].test):
                if expr is None or isinstance(expr, (Name, Literal)):
                    continue
                for part in walk(expr):
                    if isinstance(part, Subscript) and sure and reach.passes(event.block, None):
                        kept = _item_path(part, own)
                        if kept is None or (id(owner), kept) in seen:
                            continue
                        changed = _item_changed_in_loop(program, owner, kept)
                        if changed is not None:
                            seen.add((id(owner), kept))
                            yield _captured_hit(scope, event, reach, part.place, f"{own}{kept}", changed)
                        continue
                    if (
                        not isinstance(part, Attribute)
                        or not isinstance(part.base, Name)
                        or part.base.name != own
                    ):
                        continue
                    if (id(owner), part.attribute) in seen or not reach.passes(event.block, None):
                        continue
                    if not _is_number(program, scope, part):
                        continue
                    where = (
                        _change_after_call(program, owner, part.attribute, reach.root.scope) if sure else None
                    )
                    where = where or _changed_by_callback(program, owner, part.attribute)
                    if where is None:
                        continue
                    seen.add((id(owner), part.attribute))
                    yield _captured_hit(scope, event, reach, part.place, f"{own}.{part.attribute}", where)


def _captured_hit(scope: Scope, event: Event, reach: Reach, place: Place, what: str, changed: Step) -> Hit:
    return hit_in(
        scope,
        place,
        event.block,
        {"what": what, "via": reach.via, "line_of": line_beside(scope, changed.scope, changed.place.line)},
        entry=reach,
        related=(changed,),
    )


def _item_path(expr: Expr, own: str) -> str | None:
    """Return the path of an item below `self`, as in `self.settings["rate"]`, or None."""
    if not isinstance(expr, Subscript) or not isinstance(expr.index, Literal):
        return None
    shown = dotted(expr.base)
    if not isinstance(expr.index.value, str) or shown is None or not shown.startswith(f"{own}."):
        return None
    return f'{shown.removeprefix(own)}["{expr.index.value}"]'


def _item_changed_in_loop(program: Program, owner: Scope, kept: str) -> Step | None:
    """Return where a method changes an item in a loop that uses the object, or None."""
    for method in owner.module.summary.scopes:
        if program.owner(method) is not owner or not method.params or method.name == "__init__":
            continue
        if compiled_reach(program, method) is not None:
            continue
        own = method.params[0].name
        for event in method.events():
            if event.kind not in ("assign", "augment") or not any(
                _item_path(target, own) == kept for target in event.targets
            ):
                continue
            if not (event.kind == "augment" or _is_plain_number(event.value)):
                continue
            loop = innermost_loop(method, event.block)
            if loop is not None and any(
                isinstance(call.func, Attribute)
                and is_name(call.func.base, own)
                and inside(method, call.block, loop)
                for call in method.calls
            ):
                return Step(method, event.place, event.block, "changed here, in each turn")
    return None


def _is_plain_number(value: Expr | None) -> bool:
    return isinstance(value, Binary) or (
        isinstance(value, Literal) and type(value.value) in (int, float, bool)
    )


def _change_after_call(program: Program, owner: Scope, name: str, traced: Scope) -> Step | None:
    """Return where an attribute changes after a compiled call on its object, or None.

    The change is an assignment or a call of a method that assigns it; it stands behind the call in the same
    function, or in the same loop. What sets an object up before its first call is no change.
    """
    setters: dict[int, Step] = {}
    for number in range(owner.number + 1, len(owner.module.summary.scopes)):
        method = owner.module.summary.scopes[number]
        if method.line > owner.end_line:
            break
        if method.parent != owner.number or method.kind != "function" or not method.params:
            continue
        if method.name in ("__init__", "build") or compiled_reach(program, method) is not None:
            continue
        own = method.params[0].name
        for event in method.events():
            if any(_is_attribute(target, name) and is_name(target.base, own) for target in event.targets):
                setters.setdefault(id(method), Step(method, event.place, event.block, "changed here"))
    for called in flow_of(program).callers(traced):
        scope = called.scope
        if in_tests(scope):
            continue
        receiver = _receiver_of(called.call.func)
        shown = text(receiver)
        for event in scope.events():
            if any(
                isinstance(target, Attribute) and target.attribute == name and text(target.base) == shown
                for target in event.targets
            ) and _runs_after(program, scope, called.call, event.block, event.place, receiver):
                return Step(scope, event.place, event.block, "changed here, after the call")
        for site in flow_of(program).within(scope):
            for target in site.targets:
                step = setters.get(id(target.scope))
                if (
                    step is not None
                    and isinstance(site.call.func, Attribute)
                    and text(site.call.func.base) == shown
                    and _runs_after(program, scope, called.call, site.call.block, site.call.place, receiver)
                ):
                    return step
    return None


_EACH_TURN = re.compile(r"on_(?:epoch|batch|(?:train|test)_batch)_(?:begin|end)")
"""Hooks that Keras calls again and again, when the step was traced already."""


def _changed_by_callback(program: Program, owner: Scope, name: str) -> Step | None:
    """Return where a callback changes an attribute of its model, or None.

    Return None as well where another model of the program sets an attribute of this name.
    """
    if not is_keras_model(program, owner):
        return None
    found: Step | None = None
    for module in program.modules:
        for scope in module.summary.scopes:
            above = program.owner(scope)
            if above is None or not scope.params:
                continue
            hook = _EACH_TURN.fullmatch(scope.name) is not None and any(
                base.startswith("keras.callbacks.") for base in program.bases(above).outside
            )
            own = scope.params[0].name
            for event in scope.events():
                for target in event.targets:
                    if not isinstance(target, Attribute) or target.attribute != name:
                        continue
                    if is_name(target.base, own) and above is not owner and is_keras_model(program, above):
                        return None
                    if hook and dotted(target.base) == f"{own}.model":
                        found = found or Step(scope, event.place, event.block, "changed here, in each turn")
    return found


def _is_attribute(target: Expr, name: str) -> bool:
    return bool(isinstance(target, Attribute) and target.attribute == name)


def _receiver_of(func: Expr) -> Expr:
    """Return the object that a call is made on.

    It is `model` in `model.infer(x)` and in `model(x)`.
    """
    receiver: Expr = func.base if isinstance(func, Attribute) else func
    return receiver


def _runs_after(
    program: Program, scope: Scope, first: Call, block: int, place: Place, receiver: Expr
) -> bool:
    """Tell whether a place certainly runs after a call.

    It stands further down under the same guards, or in the same loop.
    """
    if first.place.end < place.start and inside(scope, block, first.block):
        return True
    loop = innermost_loop(scope, first.block)
    if loop is None or not inside(scope, block, loop):
        return False
    head = receiver
    while isinstance(head, Attribute):
        head = head.base
    # A new object in every turn is traced anew.
    return isinstance(head, Name) and head.name not in bound_in_loop(program, scope, loop)


def variable(program: Program) -> Iterator[Hit]:
    """Find variables, and objects that have some, made in a compiled function.

    A guard that makes them once excuses them.
    """
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).sites:
        made = _with_variables(site)
        if made is None or (id(site.scope), site.call.number) in seen:
            continue
        seen.add((id(site.scope), site.call.number))
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
            made,
            entry=reach,
            severity="info" if never_entered(program, reach.root.scope) else None,
            values={"via": reach.via, "what": public_name(made.name)},
        )


_MADE_WITH_VARIABLES = re.compile(r"keras\.(?:optimizers|metrics)\.[A-Z]\w*")
_LAYER_WITH_VARIABLES = re.compile(
    r"keras\.layers\.(?:Dense|EinsumDense|Embedding|(?:Separable|Depthwise)?Conv[123]D(?:Transpose)?|LSTM|GRU|SimpleRNN"
    r"|(?:Batch|Layer|Group)Normalization|MultiHeadAttention)\.__call__"
)


def _with_variables(site: Site) -> Site | None:
    """Return the call that makes an object whose variables a call creates, or None.

    An optimizer and a metric have some at once, a layer when it is first called.
    """
    if site.name == "tensorflow.Variable" or _MADE_WITH_VARIABLES.fullmatch(site.name):
        return site
    # A layer that `call` of another makes has a check of its own.
    if _LAYER_WITH_VARIABLES.fullmatch(site.name) and site.scope.name != "call":
        made = alternatives(site.callee)
        first = made[0].site if len(made) == 1 and isinstance(made[0], Made) else None
        if first is not None and first.scope is site.scope and first.call.block == site.call.block:
            return first
    return None


def _raises_wanted(function: Scope) -> bool:
    """Tell whether all calls of a function stand in `with assert_raises(...)`."""
    called = [
        (scope, call)
        for scope in function.module.summary.scopes
        for call in scope.calls
        if is_name(call.func, function.name)
    ]
    return bool(called) and all(
        any(
            block.kind == "with" and block.test is not None and "raises" in text(block.test).lower()
            for block in scope.block_chain(call.block)
        )
        for scope, call in called
    )
