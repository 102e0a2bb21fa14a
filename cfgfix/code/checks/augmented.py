"""Held-out data that is augmented because a parameter's default says so."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.common import inside_function, is_augmentation, only_value, short
from cfgfix.code.checks.models import model_calls
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import constant, dotted
from cfgfix.code.model.hit import Step, at, hit_at
from cfgfix.code.model.nodes import Call, Expr, Literal, Name, Unary
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Dataset, Site, alternatives
from cfgfix.rules.hit import Hit

_HELD_OUT = re.compile(r"test|val|dev|eval|hold", re.IGNORECASE)


def augmented_evaluation(program: Program) -> Iterator[Hit]:
    """Find evaluation data that a function augments because of a parameter's default.

    The call leaves the parameter out.
    """
    seen: set[tuple[int, int]] = set()
    for site, expr in _evaluation_calls(program):
        found = _call_that_makes(program, site.scope, expr)
        if found is None or written_for_one(program, site.scope):
            continue
        made, shown = found
        key = id(made.scope), made.call.number
        if key in seen or _HELD_OUT.search(shown) is None or made.call.opaque:
            continue
        for target in made.targets:
            switch = _switched_on(program, made, target.scope, int(target.receiver is not None))
            if switch is not None:
                seen.add(key)
                name, mapped, draw = switch
                yield hit_at(
                    made,
                    flow=(),
                    values={"data": shown, "switch": name, "function": target.scope.name, "draw": draw},
                    related=(
                        at(mapped, label="maps random changes"),
                        Step(site.scope, site.call.name_place, site.call.block, "the model is judged here"),
                    ),
                )
                break


def _evaluation_calls(program: Program) -> Iterator[tuple[Site, Expr]]:
    """Yield the calls that evaluate a model, each with its data argument."""
    for site in model_calls(program, "evaluate"):
        given = site.call.argument(0, "x")
        if given is not None:
            yield site, given
    for site in model_calls(program, "fit"):
        given = site.call.keyword("validation_data")
        if given is not None:
            yield site, given


def _call_that_makes(program: Program, scope: Scope, expr: Expr) -> tuple[Site, str] | None:
    """Return the call whose result a name holds, with the name, or None."""
    shown = dotted(expr)
    if not isinstance(expr, Name) or shown is None:
        return None
    here: Scope | None = scope
    while here is not None and expr.name not in here.names:
        here = program.outer(here)
    call = only_value(here, expr) if here is not None else None
    if here is None or not isinstance(call, Call):
        return None
    return next(
        ((site, shown) for site in flow_of(program).within(here) if site.call is call and site.targets), None
    )


def _switched_on(program: Program, made: Site, function: Scope, offset: int) -> tuple[str, Site, str] | None:
    """Return the parameter whose default turns random changes on, or None.

    With it come the call of `map` and the name of a random operation in the mapped function.
    """
    for site in flow_of(program).within(function):
        if site.name != "tensorflow.data.Dataset.map":
            continue
        switch = _guarding_parameter(made, function, site.call.block, offset)
        if switch is None:
            continue
        for item in alternatives(site.result):
            for mapped in item.functions if isinstance(item, Dataset) else ():
                for draw, _ in inside_function(program, mapped):
                    if is_augmentation(program, draw):
                        return switch, site, short(draw)
    return None


def _guarding_parameter(made: Site, function: Scope, block: int, offset: int) -> str | None:
    """Return the parameter whose default lets a block run, or None.

    None also where anything but plain parameters decides.
    """
    switch: str | None = None
    for item in function.block_chain(block):
        if item.kind == "body":
            continue
        test, wanted = item.test, item.branch
        if item.kind != "if" or test is None:
            return None
        if isinstance(test, Unary) and test.operator == "not":
            test, wanted = test.operand, not wanted
        if not isinstance(test, Name) or function.binding(test.name):
            return None
        position = next(
            (number for number, param in enumerate(function.params) if param.name == test.name), None
        )
        if position is None:
            return None
        given = made.call.argument(position - offset, test.name)
        value = given if given is not None else function.params[position].default
        if not isinstance(value, Literal) or bool(constant(value)) is not wanted:
            return None
        if given is None:
            switch = test.name
    return switch
