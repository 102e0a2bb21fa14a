"""Errors of a row of targets against a column of outputs, which broadcast to a square."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.array_ranks import rank_of
from cfgfix.code.checks.common import line_beside
from cfgfix.code.checks.outputs import output_of
from cfgfix.code.checks.pipelines import given_for
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import constant, is_name, text, walk
from cfgfix.code.model.hit import at, hit_in
from cfgfix.code.model.nodes import Binary, Call, Expr, Name, Place
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Site
from cfgfix.rules.hit import Hit

_DIFFERENCES = (
    "tensorflow.subtract",
    "tensorflow.math.subtract",
    "tensorflow.math.squared_difference",
    "keras.ops.subtract",
)
_SAME = frozenset({"cast", "abs", "convert_to_tensor", "sigmoid", "identity", "stop_gradient"})


def row_against_column(program: Program) -> Iterator[Hit]:
    """Find differences of targets without a second axis and outputs of one unit.

    They are those of a step that the program takes itself: Keras puts the two in one shape.
    """
    for scope in _scopes_of_steps(program):
        if written_for_one(program, scope):
            continue
        for sides, place, block in _differences(program, scope):
            layers = [_column(program, scope, side) for side in sides]
            for number, layer in enumerate(layers):
                other = sides[1 - number]
                if layer is None or layers[1 - number] is not None or rank_of(program, scope, other) != 1:
                    continue
                yield hit_in(
                    scope,
                    place,
                    block,
                    {
                        "row": text(other),
                        "column": text(sides[number]),
                        "layer_line": line_beside(scope, layer.scope, layer.call.name_line),
                    },
                    related=(at(layer, label="one unit: the output has a second axis of size 1"),),
                )
                break


@once
def _scopes_of_steps(program: Program) -> list[Scope]:
    """Return the functions that open a tape, and those of the project that they call."""
    found: dict[int, Scope] = {}
    for tape in flow_of(program).named("tensorflow.GradientTape"):
        found[id(tape.scope)] = tape.scope
        for site in flow_of(program).within(tape.scope):
            for target in site.targets:
                found[id(target.scope)] = target.scope
    return list(found.values())


def _differences(program: Program, scope: Scope) -> Iterator[tuple[tuple[Expr, Expr], Place, int]]:
    """Yield the two sides of each difference in a scope, with its place and block."""
    for event in scope.events():
        for part in walk(event.value) if event.value is not None else ():
            if isinstance(part, Binary) and part.operator == "-":
                yield (part.left, part.right), part.place, event.block
    for site in flow_of(program).within(scope):
        if site.name in _DIFFERENCES and len(site.call.args) == 2:
            yield (site.call.args[0], site.call.args[1]), site.call.name_place, site.call.block


def _column(program: Program, scope: Scope, expr: Expr, depth: int = 6) -> Site | None:
    """Return the layer of one unit whose output an expression is, or None."""
    if depth <= 0:
        return None
    if isinstance(expr, Name):
        event = _only_binding(scope, expr.name)
        if event is not None:
            return _column(program, scope, event.value, depth - 1) if event.value is not None else None
        if not any(item.name == expr.name for item in scope.params) or scope.binding(expr.name):
            return None
        found = [
            _column(program, item[1], item[0], depth - 1) for item in given_for(program, scope, expr.name)
        ]
        return found[0] if found and all(layer is not None for layer in found) else None
    if not isinstance(expr, Call):
        return None
    for site in flow_of(program).of_calls(scope, (expr.number,)):
        if site.name.rpartition(".")[2] in _SAME and site.name.startswith(("tensorflow.", "keras.ops.")):
            return _column(program, scope, expr.args[0], depth - 1) if expr.args else None
        output = output_of(program, site.callee)
        if output is None:
            return None
        layer = output[1]
        units = layer.call.argument(0, "units")
        return layer if layer.name == "keras.layers.Dense" and constant(units) == 1 else None
    return None


def _only_binding(scope: Scope, name: str) -> Event | None:
    """Return the only statement that gives a name its value, or None."""
    bound = scope.binding(name)
    if len(bound) != 1 or bound[0].kind != "assign" or not is_name(bound[0].targets[0], name):
        return None
    return bound[0]
