"""Sizes of tensors read as in TensorFlow 1."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.inference.eras import uses_tf2_names, written_for_one
from cfgfix.code.inference.guards import expects_absence, statement_of
from cfgfix.code.inference.references import api
from cfgfix.code.inference.releases import passed_over_for_keras_2
from cfgfix.code.model.expressions import is_name, text, walk
from cfgfix.code.model.hit import Rewrite, Step, hit_in
from cfgfix.code.model.nodes import Attribute, Call, Expr, Slice, Subscript
from cfgfix.code.model.program import Program, is_keras_part, once
from cfgfix.code.model.summary import Scope
from cfgfix.rules.hit import Hit

passed_over = passed_over_for_keras_2
"""Which modules these checks say nothing of."""

_OLD_SHAPES = ("disable_v2_behavior", "disable_v2_tensorshape")
"""What brings the dimensions of TensorFlow 1 back, which are objects."""


def value_of_size(program: Program) -> Iterator[Hit]:
    """Find `.value` read from a size in a tensor's shape, which is a plain number."""
    if _has_old_shapes(program):
        return
    modules = [module for module in program.modules if "].value" in module.summary.words]
    if not modules or (
        api(program).requirement.admits_tf1()
        and not any(uses_tf2_names(program, module) for module in program.modules)
    ):
        # Nothing says that the project is not for TensorFlow 1.
        return
    for module in modules:
        for scope in module.summary.scopes:
            found = [
                expr
                for expr in _attributes_read(scope)
                if expr.attribute == "value" and _is_size(program, scope, expr.base)
            ]
            if not found or written_for_one(program, scope):
                continue
            places: dict[int, list[Attribute]] = {}
            for expr in found:
                statement = statement_of(scope, expr.place)
                block = statement.block if statement is not None else 0
                if not expects_absence(scope, block, expr.place):
                    places.setdefault(block, []).append(expr)
            for block, exprs in places.items():
                exprs.sort(key=lambda expr: expr.place)
                yield hit_in(
                    scope,
                    exprs[0].place,
                    block,
                    {"size": text(exprs[0].base)},
                    rewrites=tuple(Rewrite("replace", scope, expr.place, text(expr.base)) for expr in exprs),
                    related=tuple(Step(scope, expr.place, block, "and here") for expr in exprs[1:]),
                )


@once
def _has_old_shapes(program: Program) -> bool:
    """Tell whether a program switches to TensorFlow 1 shapes."""
    return any(
        scope.calls_of(name)
        for module in program.modules
        for scope in module.summary.scopes
        for name in _OLD_SHAPES
    )


def _attributes_read(scope: Scope) -> Iterator[Attribute]:
    """Yield the attributes that a scope's code reads, each once."""
    tops: list[Expr | None] = [block.test for block in scope.blocks]
    for event in scope.events():
        tops += [event.value, *event.managers, *event.targets]
    seen: set[int] = set()
    for top in tops:
        for part in walk(top) if top is not None else ():
            if isinstance(part, Attribute) and id(part) not in seen:
                seen.add(id(part))
                yield part


def _is_size(program: Program, scope: Scope, expr: Expr) -> bool:
    """Tell whether an expression is one size of a tensor's shape, as `x.shape[0]`."""
    if not isinstance(expr, Subscript) or isinstance(expr.index, Slice):
        return False
    shape = expr.base
    if isinstance(shape, Call):
        return shape.method == "get_shape" and not shape.args and not shape.keywords
    if isinstance(shape, Attribute):
        return shape.attribute == "shape"
    owner = program.owner(scope)
    return (
        scope.name in ("build", "compute_output_shape")
        and owner is not None
        and len(scope.params) > 1
        and is_name(shape, scope.params[1].name)
        and not scope.binding(scope.params[1].name)
        and is_keras_part(program, owner)
    )
