"""Which branches of a function are taken, by the call that enters it: `build(is_training=False)` does not shuffle."""

from __future__ import annotations

from cfgfix.code.inference.guards import literals
from cfgfix.code.model.expressions import constant, is_name
from cfgfix.code.model.nodes import Attribute, Call, Expr, Name
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Site


def excluded(entered: Site, scope: Scope, block_number: int, *, names: bool = True) -> bool:
    """Tell whether a guard around a place fails where a call entered its function.

    Args:
        entered: The call.
        scope: The function's scope.
        block_number: The block of the place.
        names: Whether guards that are a parameter count, or only attributes that the constructor sets from one.
    """
    for block in scope.block_chain(block_number):
        if block.kind != "if" or block.test is None:
            continue
        for part, side in literals(block.test, block.branch):
            if not names and isinstance(part, Name):
                continue
            value = _given_on_the_way(scope, entered, part)
            if isinstance(value, bool) and value is not side:
                return True
    return False


def is_forced_by_call(entered: Site, scope: Scope, block_number: int) -> bool:
    """Tell whether the arguments of a call make every `if` around a place true.

    The call is the one that entered the place's function; without an `if` the answer is no.
    """
    guards = [
        (part, side)
        for block in scope.block_chain(block_number)
        if block.kind == "if" and block.test is not None
        for part, side in literals(block.test, block.branch)
    ]
    return bool(guards) and all(_given_on_the_way(scope, entered, part) is side for part, side in guards)


def _given_on_the_way(scope: Scope, entered: Site, expr: Expr) -> object:
    """Return the constant that the call entering a function gives a guard in it.

    None where the call gives no constant.
    """
    if isinstance(expr, Name) and not any(
        is_name(target, expr.name) for event in scope.binding(expr.name) for target in event.targets
    ):
        return _constant_argument(scope, entered.call, expr.name)
    if not isinstance(expr, Attribute) or not scope.params or not is_name(expr.base, scope.params[0].name):
        return None
    # A method: what its object was made with, where that stands beside the call.
    scopes = scope.module.summary.scopes
    init = next(
        (item for item in scopes if item.parent == scope.parent and item.name == "__init__" and item.params),
        None,
    )
    made = _call_making_object(entered)
    if init is None or made is None or scope.parent < 0 or scopes[scope.parent].kind != "class":
        return None
    own = init.params[0].name
    sources = [
        event.value
        for event in init.events()
        if any(
            isinstance(target, Attribute) and target.attribute == expr.attribute and is_name(target.base, own)
            for target in event.targets
        )
    ]
    if len(sources) != 1 or sources[0] is None or not isinstance(sources[0], Name):
        return None
    return _constant_argument(init, made, sources[0].name)


def _constant_argument(scope: Scope, call: Call, name: str) -> object:
    """Return the constant that a call gives a parameter, by argument or default.

    None where the argument is no constant.
    """
    names = [item.name for item in scope.params if item.kind == "plain"]
    if scope.parent >= 0 and scope.module.summary.scopes[scope.parent].kind == "class" and names:
        names = names[1:]
    found = next((item for item in scope.params if item.name == name), None)
    if found is None or call.opaque:
        return None
    given = call.argument(names.index(name) if name in names else len(names) + 99, name)
    return constant(given if given is not None else found.default)


def _call_making_object(entered: Site) -> Call | None:
    """Return the call that made the object whose method a call site calls.

    That is `Reader(...)` in `Reader(...)(x)`, or in an earlier `reader = Reader(...)`. None where no call is found.
    """
    func = entered.call.func
    receiver = func.base if isinstance(func, Attribute) else func
    if isinstance(receiver, Name):
        values = [
            event.value
            for event in entered.scope.events()
            if any(is_name(target, receiver.name) for target in event.targets)
        ]
        if len(values) != 1 or values[0] is None:
            return None
        receiver = values[0]
    if not isinstance(receiver, Call):
        return None
    made: Call = receiver
    return made
