"""Guards around a place: is the code there ready for a name not to be there, and is it reached at all?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.source.expr import constant, place_of, text, walk
from cfgfix.source.summary import (
    BOOLEAN,
    CALL,
    CHOICE,
    COMPARE,
    CONSTANT,
    NAME,
    UNARY,
    Event,
    Expr,
    Place,
    Scope,
)

_SURE = re.compile(r"hasattr|executing_eagerly|version| in dir\(|__dict__")
"""Parts of what a name is given that make it an answer about a release, or about a name."""
_WORDS = re.compile(
    r"hasattr|getattr| in dir\(|__dict__|executing_eagerly|version|compat|legacy|type_checking"
    r"|callable\((?:tf|keras|tensorflow)|(?:tf|tensorflow|keras)_?[123](?![0-9])|(?:^|[^a-z0-9])v[12](?![0-9a-z])"
)
"""Parts of tests that ask which release runs, or whether a name is there."""
_FOR_ONE = re.compile(r"(?:^|_)(?:v1|tf_?1)(?:_|$)|_v1x?$")
"""Names of functions that say that they are for TensorFlow 1: `get_config_proto_v1`."""


def expects_absence(scope: Scope, block: int, place: Place | None = None) -> bool:
    """Tell whether a place is only reached where a name is there, or is ready for it not to be.

    Both sides of a test that asks for a name or a release count: what stands in the other side is for releases without it.

    Args:
        scope: The scope it stands in.
        block: Its block.
        place: The span of the expression itself, so that `hasattr(a, "b") and a.b` in one expression counts too.
    """
    if place is not None and any(_asks(test, scope) for test, _ in before_in_expression(scope, block, place)):
        return True
    here: Scope | None = scope
    while here is not None:
        if here.kind == "function" and _FOR_ONE.search(here.name.lower()):
            return True
        for item in here.block_chain(block):
            if item.kind in ("try", "except"):
                return True
            if item.kind == "if" and item.test is not None and _asks(item.test, here):
                return True
            if item.kind == "if" and item.branch and item.test is not None and _other_backend(item.test):
                return True
        outer = here.module.summary.scopes[here.parent] if here.parent >= 0 else None
        if outer is not None and any(_asks(decorator, outer) for decorator in here.decorators):
            # `@skipIf(version < ...)`.
            return True
        block = here.block
        here = outer
    return False


def _other_backend(test: Expr) -> bool:
    """Tell whether a test holds only where Keras runs on something else than TensorFlow: `K.backend() == "theano"`."""
    return (
        test[0] == COMPARE
        and len(test[2]) == 1
        and test[2][0][0] == "=="
        and constant(test[2][0][1]) in ("theano", "cntk", "jax", "torch", "numpy", "mxnet")
    )


def _asks(test: Expr, scope: Scope) -> bool:
    """Tell whether a test asks for a release or a name, itself or through a name that was given such a test."""
    shown = text(test, scope).lower()
    if _WORDS.search(shown):
        return True
    for part in walk(test, scope):
        if part[0] != NAME:
            continue
        here: Scope | None = scope
        while here is not None and part[1] not in here.names:
            here = here.module.summary.scopes[here.parent] if here.parent >= 0 else None
        if here is None or here.kind == "class":
            continue
        for event in here.events():
            if event.kind not in ("assign", "annotate") or event.value is None:
                continue
            if any(target[0] == NAME and target[1] == part[1] for target in event.targets):
                given = text(event.value, here).lower()
                if event.value[0] in (CALL, COMPARE, BOOLEAN, UNARY) and _SURE.search(given):
                    return True
    return False


def statement_of(scope: Scope, block: int, place: Place) -> Event | None:
    """Return the innermost statement around a span that stands in a block, or None."""
    found: Event | None = None
    for event in scope.events():
        if event.place[:2] <= place[:2] and place[2:] <= event.place[2:] and event.kind != "define":
            found = event
            if event.block == block and not event.bodies:
                return event
    return found


def before_in_expression(scope: Scope, block: int, place: Place) -> Iterator[tuple[Expr, bool]]:
    """Yield what decides inside its own statement whether an expression is computed, each with the value it must have.

    For `c` of `a and c`, `c if a else d` that is `a`, True; for `c` of `a or c` it is `a`, False.
    """
    event = statement_of(scope, block, place)
    if event is None or event.value is None:
        return
    for part in walk(event.value, scope):
        if part[0] == BOOLEAN:
            for number, operand in enumerate(part[2]):
                if number and _holds_place(operand, scope, place):
                    for earlier in part[2][:number]:
                        yield earlier, part[1] == "and"
        elif part[0] == CHOICE:
            for position, wanted in ((2, True), (3, False)):
                if _holds_place(part[position], scope, place):
                    yield part[1], wanted


def _holds_place(expr: Expr, scope: Scope, place: Place) -> bool:
    return any(place_of(part, scope) == place for part in walk(expr, scope))


def behind_a_default(scope: Scope, block: int, place: Place | None = None) -> str:
    """Return the parameter without whose default a place is reached, or empty text.

    Under `if x is None` where `x` is a parameter whose default is something else, and for `x or here()` where the default
    counts as true, only a caller that gives another value comes to the place.
    """
    defaults = {name: constant(default) for name, _, default, _ in scope.params if default is not None}
    if not defaults:
        return ""
    tests = [(item.test, item.branch) for item in scope.block_chain(block) if item.kind == "if" and item.test]
    if place is not None:
        tests += before_in_expression(scope, block, place)
    for given, branch in tests:
        test, wanted = given, branch
        while test[0] == UNARY and test[1] == "not":
            test, wanted = test[2], not wanted
        if test[0] == NAME:
            value = defaults.get(test[1])
            if value is not None and isinstance(value, (bool, int, float, str)) and bool(value) is not wanted:
                return str(test[1])
        elif (
            test[0] == COMPARE
            and len(test[2]) == 1
            and test[1][0] == NAME
            and test[2][0][1][:2] == (CONSTANT, None)
            and test[2][0][0] in ("is", "is not", "==", "!=")
        ):
            value = defaults.get(test[1][1])
            none = test[2][0][0] in ("is", "==")
            if value is not None and none is wanted and isinstance(value, (bool, int, float, str)):
                return str(test[1][1])
    return ""
