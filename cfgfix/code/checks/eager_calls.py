"""Models that a loop calls operation by operation."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.common import few_turns, shows_pictures
from cfgfix.code.checks.eager_steps import runs_operation_by_operation
from cfgfix.code.checks.models import TRAINING, kept_eager
from cfgfix.code.checks.pipelines import upstream
from cfgfix.code.checks.predictions import (
    OVER_BATCHES,
    is_read_as_one_prediction,
    loop_around,
    one_sample,
    runs_in_some_turns,
)
from cfgfix.code.checks.step_loops import applies_gradients
from cfgfix.code.checks.written_values import written_constant
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.flow.symbolic import holds_symbolic
from cfgfix.code.inference.hot_paths import ELEMENT, GRAPH, PYTHON, hot_paths
from cfgfix.code.model.expressions import constant, is_name, text, walk
from cfgfix.code.model.hit import at, hit_at
from cfgfix.code.model.nodes import Attribute, Call, Collection, Expr, Literal, Name, Subscript
from cfgfix.code.model.program import Program, is_keras_part
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Site
from cfgfix.rules.hit import Hit

_MAKES = ("keras.layers.", "keras.Input", "keras.Model", "keras.Sequential", "tensorflow.GradientTape")
"""What a scope uses that builds or trains a model: what it calls in a loop is a part of one, or a step that another rule is about."""
_FEW = 100


def in_loop(program: Program) -> Iterator[Hit]:
    """Find loops that call a model outside any compiled function."""
    hot = hot_paths(program)
    seen: set[tuple[int, int]] = set()
    told: set[tuple[int, int, int, str]] = set()
    for site in flow_of(program).sites:
        scope = site.scope
        key = id(scope), site.call.number
        if key in seen or isinstance(site.call.func, Call) or not runs_operation_by_operation(program, site):
            continue
        seen.add(key)
        if written_for_one(program, scope) or kept_eager(program, scope.module):
            continue
        if hot.reach(scope, GRAPH, ELEMENT, PYTHON) is not None or _builds_model(program, scope, site):
            continue
        arg = site.call.argument(0, "inputs")
        if (arg is not None and one_sample(arg, scope, site.call.block)) or is_read_as_one_prediction(
            program, site
        ):
            # Called so instead of `predict`, which takes many times as long.
            continue
        training = site.call.keyword("training")
        if training is not None and constant(training) is not False:
            continue
        found = loop_around(program, site)
        if found is None:
            continue
        where, loop, caller = found
        if _builds_model(program, where, None) or hot.reach(where, GRAPH, ELEMENT, PYTHON) is not None:
            continue
        if _named_by_loop(where, loop, site if caller is None else caller) or not _has_many_turns(
            program, where, loop, site
        ):
            continue
        if runs_in_some_turns(where, site.call.block if caller is None else caller.call.block, loop):
            continue
        if shows_pictures(scope) or shows_pictures(where):
            continue
        if _trains_in_loop(program, where, loop):
            # The step beside it takes the time, and other rules are about it.
            continue
        model = text(site.call.func)
        if (id(scope), id(where), loop, model) in told:
            continue
        told.add((id(scope), id(where), loop, model))
        yield hit_at(
            site,
            flow=() if caller is None else (at(caller, label="called in this loop"),),
            values={"model": model, "loop_line": where.blocks[loop].line},
        )


def _trains_in_loop(program: Program, scope: Scope, loop: int) -> bool:
    """Tell whether a loop trains, itself or through the functions it calls."""
    sites = [site for site in flow_of(program).within(scope) if _is_inside(scope, site.call.block, loop)]
    return any(
        call.method in TRAINING and _is_inside(scope, call.block, loop) for call in scope.calls
    ) or any(applies_gradients(program, target.scope, set()) for site in sites for target in site.targets)


def _builds_model(program: Program, scope: Scope, site: Site | None) -> bool:
    """Tell whether a scope builds a model or belongs to a model's class."""
    owner = program.owner(scope)
    if owner is not None and is_keras_part(program, owner):
        return True
    if site is not None and any(map(holds_symbolic, (*site.args, *site.keywords.values()))):
        return True
    return (
        any(
            item.name.startswith(_MAKES)
            and not item.name.endswith((".__call__", ".load_weights", ".summary"))
            for item in flow_of(program).within(scope)
            if item.name
            and not item.name.startswith("keras.Model.")
            and not item.name.startswith("keras.Sequential.")
        )
        and scope.kind != "module"
    )


def _named_by_loop(scope: Scope, loop: int, site: Site) -> bool:
    """Tell whether a loop assigns the model that is called in it."""
    head = site.call.func
    while isinstance(head, (Attribute, Subscript)):
        head = head.base
    if not isinstance(head, Name):
        return True
    around = set(scope.block_numbers(site.call.block))
    if any(
        is_name(part, head.name)
        for event in scope.events()
        if event.kind == "for" and event.bodies and event.bodies[0][0] in around
        for target in event.targets
        for part in walk(target)
    ):
        return True
    return any(
        event.block in around and _is_inside(scope, event.block, loop) for event in scope.binding(head.name)
    )


def _is_inside(scope: Scope, block: int, loop: int) -> bool:
    return loop in scope.block_numbers(block)


def _has_many_turns(program: Program, scope: Scope, loop: int, site: Site) -> bool:
    """Tell whether a loop goes over a dataset or makes many turns."""
    for kind, dataset, where, block in flow_of(program).consumed:
        if kind == "loop" and where is scope and block == loop:
            return not any(step.op == "take" for step in (dataset, *upstream(dataset)))
    item = scope.blocks[loop]
    if item.kind != "for" or item.test is None:
        return False
    shown = text(item.test)
    if OVER_BATCHES.search(shown) is not None:
        return ".take(" not in shown
    if not isinstance(item.test, Call):
        return False
    call = item.test
    inner = call.args[0] if call.args else None
    if text(call.func).rpartition(".")[2] in ("tqdm", "trange") and isinstance(inner, Call):
        call = inner
    if text(call.func) not in ("range", "trange", "tqdm.trange") or few_turns(program, scope, loop, _FEW):
        return False
    if len(call.args) == 1 and not call.keywords:
        turns = written_constant(program, call.args[0], scope, loop) or _of_several(
            program, call.args[0], scope
        )
        if turns is not None and type(turns.value) is int and turns.value <= _FEW:
            return False
    return site.call.block != 0


def _of_several(program: Program, expr: Expr, scope: Scope) -> Literal | None:
    """Return the constant of an imported name from a tuple assignment, or None."""
    source = scope.module.summary.scopes[0].imports.get(expr.name) if isinstance(expr, Name) else None
    module = program.module(source.rpartition(".")[0], scope.module) if source else None
    if source is None or module is None or module.scope is None:
        return None
    name = source.rpartition(".")[2]
    bound = module.scope.binding(name)
    if len(bound) != 1 or bound[0].kind != "assign" or len(bound[0].targets) != 1:
        return None
    names, values = bound[0].targets[0], bound[0].value
    if not isinstance(names, Collection) or not isinstance(values, Collection):
        return None
    if len(names.items) != len(values.items):
        return None
    pairs = zip(names.items, values.items, strict=True)
    return next((value for item, value in pairs if is_name(item, name) and isinstance(value, Literal)), None)
