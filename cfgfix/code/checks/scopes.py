"""Models that are made and compiled on different sides of a strategy's scope."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.common import line_beside
from cfgfix.code.checks.models import keras_model_method
from cfgfix.code.checks.pipelines import stored_once
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.guards import statement_of
from cfgfix.code.inference.releases import refused_by_three
from cfgfix.code.model.expressions import text
from cfgfix.code.model.hit import Step, hit_at
from cfgfix.code.model.nodes import Attribute, Call, Expr, Name
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Constant, Made, alternatives
from cfgfix.rules.hit import Hit


def model_outside_scope(program: Program) -> Iterator[Hit]:
    """Find models made and compiled on different sides of a strategy's scope."""
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).sites:
        if site.call.method != "compile" or keras_model_method(site.name) != "compile":
            continue
        scope = site.scope
        key = id(scope), site.call.number
        if key in seen or written_for_one(program, scope):
            continue
        seen.add(key)
        model = site.call.receiver
        found = _made_once(program, scope, model, site.call)
        if found is None:
            continue
        made, where = found
        outer, inner = _under_scope(program, where, made.block), _under_scope(program, scope, site.call.block)
        if (outer is None) is (inner is None) or any(
            _under_scope(program, caller.scope, caller.call.block) is not None
            for entered in {id(item): item for item in (scope, where)}.values()
            for caller in flow_of(program).callers(entered)
        ):
            continue
        severity: str | None = None
        if inner is None:
            given = alternatives(site.argument(0, "optimizer"))
            named = given[0].value if len(given) == 1 and isinstance(given[0], Constant) else None
            # Keras 2 enters the scope of the model itself for an optimizer that is given by its name.
            refused = refused_by_three(program, scope)
            if refused is None or not isinstance(named, str):
                continue
            (severity,) = refused
        elif any(
            _enters_scope(program, target.scope)
            for other in (
                flow_of(program).of_calls(where, (made.value.number,)) if isinstance(made.value, Call) else ()
            )
            for target in other.targets
        ):
            continue
        yield hit_at(
            site,
            flow=(),
            severity=severity,
            values={
                "line": line_beside(scope, where, made.line),
                "how": "under the scope of a strategy, but its model is made outside of it"
                if inner is not None
                else "outside the scope of the strategy that its model is made under",
            },
            needs=((where, made.block),),
            related=(Step(where, made.place, made.block, "the model is made here"),),
        )


def _made_once(program: Program, scope: Scope, model: Expr | None, call: Call) -> tuple[Event, Scope] | None:
    """Return the only assignment of a model's name or attribute, with its scope, where a call makes the model.

    That of a name must stand before another given call; None otherwise.
    """
    if isinstance(model, Attribute):
        stored = stored_once(program, scope, model)
        if stored is None or not isinstance(stored[0], Call) or stored[1].name != "__init__":
            return None
        made = statement_of(stored[1], stored[0].place)
        return (made, stored[1]) if made is not None and made.value is stored[0] else None
    if not isinstance(model, Name):
        return None
    bound = scope.binding(model.name)
    if len(bound) != 1 or bound[0].kind != "assign" or bound[0].place.start > call.place.start:
        return None
    return (bound[0], scope) if bound[0].value is not None and isinstance(bound[0].value, Call) else None


def _under_scope(program: Program, scope: Scope, block: int) -> Call | None:
    """Return the call of `strategy.scope()` around a block, or None."""
    for item in scope.block_chain(block):
        if item.kind == "with" and item.test is not None and isinstance(item.test, Call):
            call: Call = item.test
            receiver = call.receiver
            if call.method == "scope" and not call.args and receiver is not None:
                values = alternatives(flow_of(program).value_of_name(scope, receiver))
                if "strateg" in text(receiver).lower() or any(
                    isinstance(value, Made) and value.name.startswith("tensorflow.distribute.")
                    for value in values
                ):
                    return call
    return None


def _enters_scope(program: Program, scope: Scope) -> bool:
    """Tell whether a function enters the scope of a strategy."""
    return any(
        block.kind == "with" and _under_scope(program, scope, number) is not None
        for number, block in enumerate(scope.blocks)
    )
