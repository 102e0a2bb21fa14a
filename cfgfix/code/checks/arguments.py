"""Constant arguments that no TensorFlow release of the project accepts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cfgfix.code.checks.callees import base_constructor, head, may_be_of_another_library, may_be_overridden
from cfgfix.code.checks.written_values import written_at, written_constant
from cfgfix.code.inference.custom_objects import refusals
from cfgfix.code.inference.eras import release_in_words, severity_by_keras_releases, written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.references import api, is_bound_twice, is_keras_2
from cfgfix.code.inference.releases import (
    as_written,
    keras_of_release,
    passed_over_for_keras_2,
    refused_by_three,
)
from cfgfix.code.model.expressions import place_of, text, walk
from cfgfix.code.model.hit import Calls, hit_in
from cfgfix.code.model.nodes import Attribute, Collection, Expr, Literal, Name, Starred, Subscript, Unary
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.values import Site
from cfgfix.code.tensorflow.api import Api
from cfgfix.code.tensorflow.contradictions import Contradiction, contradictions
from cfgfix.code.tensorflow.objects import Objects, load
from cfgfix.code.tensorflow.refusals import Refusal
from cfgfix.code.tensorflow.values import Parameter
from cfgfix.rules.hit import Hit

_ABSENT: Any = object()


passed_over = passed_over_for_keras_2
"""Which modules these checks say nothing of."""


@once
def _object_table(program: Program) -> Objects:
    """Return the table of objects, read once for a program."""
    del program
    return load()


def _name_in_file(program: Program, site: Site, name: str) -> str:
    """Return a called function's name as the file writes it."""
    if name.startswith("keras."):
        return as_written(program, site.scope, name)
    return name.replace("tensorflow.", "tf.", 1)


def refused_value(program: Program) -> Iterator[Hit]:
    """Find constant arguments that their parameter does not accept.

    Examples: `Dense(4, activation="rleu")`, `Dropout(1.5)`, `batch(0)`.
    """
    table = api(program)
    if table.silent:
        return
    objects = _object_table(program)
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).sites:
        place = (id(site.scope), site.call.number)
        if not site.name.startswith(("tensorflow.", "keras.")) or site.targets or place in seen:
            continue
        if ".compat.v1." in site.raw:
            continue
        seen.add(place)
        name = base_constructor(program, site) or objects.canonical(site.name)
        found = list(_refused_constants(program, site, name))
        if found and _is_for_asked_releases(program, site):
            for parameter, expr, written, refusal in found:
                yield hit_in(
                    site.scope,
                    place_of(expr, site.scope) or site.call.place,
                    site.call.block,
                    entry=Calls(site),
                    values={
                        "name": _name_in_file(program, site, name),
                        "argument": parameter,
                        "value": text(expr) + _value_in_message(site, expr, written),
                        "says": refusal_text(refusal),
                        "asked": release_in_words(table),
                    },
                    severity="error" if refusal.always else severity_by_keras_releases(table, "warning"),
                )


def contradicting_constants(program: Program) -> Iterator[Hit]:
    """Find constants of one call that are valid alone and contradict each other.

    Example: `Conv2D(16, 3, groups=5)`.
    """
    table, objects = api(program), _object_table(program)
    if table.silent:
        return
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).sites:
        place = (id(site.scope), site.call.number)
        if not site.name.startswith(("tensorflow.", "keras.")) or site.targets or place in seen:
            continue
        seen.add(place)
        name = objects.canonical(site.name)
        given = _arguments_by_parameter(table, name, site)
        if not given or not _is_for_asked_releases(program, site):
            continue
        for found in _contradictions_of_call(program, site, name, given):
            severity = found.severity
            if found.three:
                refused = refused_by_three(program, site.scope)
                if refused is None:
                    continue
                severity = refused[0] or severity
            first = next(key for key in found.at if key in given)
            yield hit_in(
                site.scope,
                place_of(given[first], site.scope) or site.call.place,
                site.call.block,
                entry=Calls(site),
                values={
                    "name": _name_in_file(program, site, name),
                    "says": f"{found.says}{f': {found.error}' if found.error else ''}",
                },
                severity=severity,
            )


def _contradictions_of_call(
    program: Program, site: Site, name: str, given: Mapping[str, Expr]
) -> list[Contradiction]:
    """Return the contradictions between a call's constant arguments."""
    found: list[Contradiction] = []
    for certain in (False, True):
        known = {
            key: value
            for key, expr in given.items()
            if (value := _plain_items(_constant_of_argument(program, site, expr, certain=certain)))
            is not _ABSENT
        }
        unknown = given.keys() - known.keys()
        found = list(contradictions(name, known, unknown, opaque=site.call.opaque, names=False))
        if not found:
            break
    return found


def _arguments_by_parameter(table: Api, name: str, site: Site) -> dict[str, Expr]:
    """Return a call's arguments by parameter name."""
    call = site.call
    order = table.order(name) if call.args and not call.opaque else ()
    found = dict(zip(order, call.args, strict=False))
    found.update((key, value) for key, value in call.keywords if key is not None)
    return found


def _plain_items(expr: Expr) -> Any:
    """Return the Python value of a literal or of a list of literals."""
    if isinstance(expr, Collection) and expr.kind != "set":
        items = [_plain_items(item) for item in expr.items]
        return _ABSENT if any(item is _ABSENT for item in items) else items
    return _plain_constant(expr)


def refusal_text(refusal: Refusal) -> str:
    """Return the words of a message that say why a value is refused."""
    if refusal.is_word:
        meant = f" (did you mean '{refusal.meant}'?)" if refusal.meant else ""
        return f"no text that it knows{meant}: {refusal.error}"
    return f"{refusal.error}, it takes {refusal.takes}" if refusal.takes else refusal.error


def _refused_constants(program: Program, site: Site, name: str) -> Iterator[tuple[str, Expr, Expr, Refusal]]:
    """Yield a call's refused constant arguments.

    Each comes with its parameter, expression, constant and refusal.
    """
    table, judge = api(program), refusals(program)
    call = site.call
    starred = any(isinstance(item, Starred) for item in call.args)
    order = () if starred or not call.args else table.order(name)
    given: list[tuple[str, Expr]] = list(zip(order, call.args, strict=False))
    given += [(key, value) for key, value in call.keywords if key is not None]
    names = {key for key, _ in given}
    for key, expr in given:
        parameter = judge.parameter(name, key)
        if parameter is None or (parameter.beside and names.isdisjoint(parameter.beside)):
            continue
        if parameter.kind:
            yield from _refused_in_list(program, site, key, expr, parameter)
        for item in _item_expressions(expr) if parameter.kind else (expr,):
            written = _constant_of_argument(program, site, item, certain=False)
            value = _plain_constant(written)
            refusal = judge.refusal_of(parameter, value) if value is not _ABSENT else None
            # A float for an integer has checks of its own.
            if refusal is None or (isinstance(value, float) and refusal.number == "integer"):
                continue
            if written is item or _constant_of_argument(program, site, item) is written:
                yield key, item, written, refusal


def _refused_in_list(
    program: Program, site: Site, key: str, expr: Expr, parameter: Parameter
) -> Iterator[tuple[str, Expr, Expr, Refusal]]:
    """Yield the refused texts of a list that a name or attribute stands for."""
    if not isinstance(expr, (Name, Attribute, Subscript)) or _is_tested(site, expr):
        return
    found = written_at(program, expr, site.scope, site.call.block)
    if found is None or not isinstance(found.expr, Collection):
        return
    for item in _item_expressions(found.expr):
        if isinstance(item, Literal):
            refusal = refusals(program).refusal_of(parameter, item.value)
            if refusal is not None and refusal.is_word:
                yield key, expr, item, refusal


def _item_expressions(expr: Expr) -> Iterator[Expr]:
    if isinstance(expr, Collection):
        for item in expr.items:
            yield from _item_expressions(item)
    else:
        yield expr


def _constant_of_argument(program: Program, site: Site, expr: Expr, *, certain: bool = True) -> Expr:
    """Return the constant that an argument stands for, or the argument itself."""
    default = _default_text(site, expr)
    if default is not expr or isinstance(expr, Literal):
        return default
    found = written_constant(program, expr, site.scope, site.call.block, certain=certain)
    return expr if found is None or _is_tested(site, expr) else found


def _value_in_message(site: Site, expr: Expr, written: Expr) -> str:
    """Return the words of a message that give a named argument's value, or empty text."""
    if written is expr:
        return ""
    how = "by default" if _default_text(site, expr) is written else "which is"
    return f", {how} {text(written)}"


def _is_tested(site: Site, expr: Expr) -> bool:
    """Tell whether an argument is tested by a condition around its call."""
    name = text(expr)
    return any(
        text(part) == name
        for block in site.scope.block_chain(site.call.block)
        if block.test is not None
        for part in walk(block.test)
    )


def _default_text(site: Site, expr: Expr) -> Expr:
    """Return the default text of the parameter that an argument names.

    The argument itself where there is none, or where the function rebinds or tests the parameter.
    """
    scope = site.scope
    if not isinstance(expr, Name) or scope.kind != "function" or scope.binding(expr.name):
        return expr
    default = next((item.default for item in scope.params if item.name == expr.name), None)
    if not isinstance(default, Literal) or not isinstance(default.value, str):
        return expr
    return expr if _is_tested(site, expr) else default


def _plain_constant(expr: Expr) -> Any:
    """Return the Python value of a literal, negative numbers included."""
    if isinstance(expr, Literal):
        return expr.value
    if (
        isinstance(expr, Unary)
        and expr.operator == "-"
        and isinstance(expr.operand, Literal)
        and isinstance(expr.operand.value, (int, float))
    ):
        return -expr.operand.value
    return _ABSENT


def _is_for_asked_releases(program: Program, site: Site) -> bool:
    """Tell whether a call is meant for the TensorFlow releases of the project."""
    scope, call = site.scope, site.call
    if site.name.startswith("keras.") and (
        is_keras_2(program)
        or not keras_of_release(program, scope)
        or (base_constructor(program, site) is None and may_be_overridden(program, site))
        or (site.receiver is not None and may_be_of_another_library(site))
    ):
        return False
    return not (site.open or written_for_one(program, scope) or is_bound_twice(scope, head(call.func)))
