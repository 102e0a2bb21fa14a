"""Calls of `fit` that clash with `compile`: rates set twice, compiles in loops."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.guarded_calls import may_run_together
from cfgfix.code.checks.models import compiles_of
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import KERAS_COMPILES, inside
from cfgfix.code.model.expressions import constant, dotted, is_name, walk
from cfgfix.code.model.hit import Step, at, hit_in
from cfgfix.code.model.nodes import Attribute, Call, Collection, Expr, Name, Subscript
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Function, Instance, Made, Site, alternatives
from cfgfix.rules.hit import Hit

FITS = ("keras.Model.fit", "keras.Sequential.fit")
_SETS_RATE = ("keras.callbacks.ReduceLROnPlateau", "keras.callbacks.LearningRateScheduler")
_SCHEDULES = frozenset({"keras.optimizers.schedules.LearningRateSchedule"})
_DEPTH = 4


def rate_set_twice(program: Program) -> Iterator[Hit]:
    """Find callbacks that set the learning rate of an optimizer with a schedule."""
    seen: set[tuple[int, int]] = set()
    for fit in flow_of(program).named(*FITS):
        scope = fit.scope
        given = fit.call.argument(5, "callbacks")
        if given is None or written_for_one(program, scope):
            continue
        callback = next((site for site in calls_in(program, given, scope) if site.name in _SETS_RATE), None)
        if callback is None or (id(callback.scope), callback.call.number) in seen:
            continue
        schedules = _schedules_of_model(program, fit)
        if not schedules or not may_run_together([fit, callback]):
            continue
        seen.add((id(callback.scope), callback.call.number))
        name, schedule = schedules[0]
        yield hit_in(
            callback.scope,
            callback.call.name_place,
            callback.call.block,
            {
                "callback": callback.name.rpartition(".")[2],
                "schedule": name,
                "line": schedule.call.name_line,
            },
            needs=((scope, fit.call.block), (schedule.scope, schedule.call.block)),
            related=(at(schedule, label="the schedule"), at(fit, label="the callback runs here")),
        )


def calls_of(expr: Expr, scope: Scope, depth: int = _DEPTH) -> set[int]:
    """Return the numbers of the calls in an expression and in its names' values.

    Values appended to a name count as well.
    """
    found: set[int] = set()
    for part in walk(expr):
        if isinstance(part, Call):
            found.add(part.number)
        elif isinstance(part, Name) and depth > 0:
            for event in scope.binding(part.name):
                if event.value is not None and event.kind in ("assign", "annotate", "augment"):
                    found |= calls_of(event.value, scope, depth - 1)
            for call in scope.calls_on(part.name, "append", "extend"):
                for arg in call.args:
                    found |= calls_of(arg, scope, depth - 1)
    return found


def calls_in(program: Program, expr: Expr, scope: Scope, depth: int = _DEPTH) -> list[Site]:
    """Return the calls in an expression, in its names' values, and in their results.

    Results are those of project functions that are called there.
    """
    numbers = calls_of(expr, scope)
    found = list(flow_of(program).of_calls(scope, numbers))
    for part in walk(expr) if depth > 0 else ():
        if not (isinstance(part, Attribute) and is_name(part.base, "self")):
            continue
        for event, method in _kept_in(program, part.attribute, scope):
            if event.value is not None:
                found += [
                    site for site in calls_in(program, event.value, method, depth - 1) if site not in found
                ]
    for call in scope.calls if depth > 0 else ():
        function = _function_called(program, call, scope) if call.number in numbers else None
        for event in function.events_of("return") if function is not None else ():
            if function is not None and event.value is not None:
                found += [
                    site for site in calls_in(program, event.value, function, depth - 1) if site not in found
                ]
    return found


def _kept_in(program: Program, attribute: str, scope: Scope) -> list[tuple[Event, Scope]]:
    """Return the assignments to an attribute in a method's class, with their methods."""
    owner = program.owner(scope)
    return [
        (event, method)
        for item in (program.bases(owner).classes if owner is not None else ())
        for number in item.children.values()
        if (method := item.module.summary.scopes[number]).kind == "function"
        for event in method.events_of("assign")
        if any(
            isinstance(target, Attribute) and target.attribute == attribute and is_name(target.base, "self")
            for target in event.targets
        )
    ]


def _function_called(program: Program, call: Call, scope: Scope) -> Scope | None:
    """Return the project function that a call runs, or None."""
    value = program.static_value(call.func, scope)
    if isinstance(value, Function):
        return value.scope
    if isinstance(call.func, Attribute) and is_name(call.func.base, "self"):
        owner = program.owner(scope)
        return program.method(owner, call.func.attribute) if owner is not None else None
    return None


def _schedules_of_model(program: Program, fit: Site) -> list[tuple[str, Site]]:
    """Return the learning rate schedules of a compiled model, by name.

    Empty unless every optimizer of the model has one.
    """
    models = alternatives(fit.receiver)
    model = models[0] if len(models) == 1 else None
    return _schedules_of(program, model) if isinstance(model, Made) else []


@once
def _schedules_of(program: Program, model: Made) -> list[tuple[str, Site]]:
    """Return a model's learning rate schedules: class name and call.

    A project class comes with the optimizer's call. Empty unless every optimizer has one.
    """
    found: list[tuple[str, Site]] = []
    compiled = False
    for site in compiles_of(program, model):
        if site.name not in KERAS_COMPILES:
            continue
        compiled = True
        optimizers = alternatives(site.argument(0, "optimizer"))
        rates = [
            (rate, value.site)
            for value in optimizers
            if isinstance(value, Made)
            and value.site is not None
            and value.name.startswith("keras.optimizers.")
            for rate in alternatives(value.site.argument(0, "learning_rate"))
        ]
        if not rates or len(rates) < len(optimizers):
            return []
        for rate, optimizer in rates:
            if isinstance(rate, Instance) and _SCHEDULES.intersection(program.bases(rate.scope).outside):
                found.append((rate.scope.name, optimizer))
                continue
            if not isinstance(rate, Made) or rate.site is None:
                return []
            if not rate.name.startswith("keras.optimizers.schedules."):
                return []
            found.append((rate.name.rpartition(".")[2], rate.site))
    return found if compiled else []


def compiled_in_loop(program: Program) -> Iterator[Hit]:
    """Find models that are compiled and trained anew in every turn of a loop."""
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).sites:
        scope, call = site.scope, site.call
        key = id(scope), call.number
        if call.method != "compile" or key in seen or not site.name.startswith("keras."):
            continue
        seen.add(key)
        loops = scope.loops(call.block)
        model = dotted(call.func.base) if isinstance(call.func, Attribute) else None
        if not loops or model is None or written_for_one(program, scope):
            continue
        loop = next(number for number in scope.block_numbers(call.block) if scope.blocks[number] is loops[0])
        if call.block != loop:
            # What a condition chooses is compiled now and then.
            continue
        if any(
            bound.line >= loops[0].line and inside(scope, bound.block, loop)
            for bound in scope.binding(model.partition(".")[0])
        ):
            continue
        fits = _fits_by_model(program, scope).get(model, ())
        fit = next((other for other in fits if inside(scope, other.block, loop)), None)
        if fit is None or _changes_what_learns(program, scope, loop) or _is_planned(scope, call, loop):
            continue
        yield hit_in(
            scope,
            call.name_place,
            call.block,
            {"model": model, "loop_line": loops[0].line},
            related=(Step(scope, fit.name_place, fit.block, "trained in the same turn"),),
            no_fix="compile once before the loop, and set what changes, such as model.optimizer.learning_rate, in it",
        )


def _is_planned(scope: Scope, call: Call, loop: int) -> bool:
    """Tell whether a loop goes through the stages of a training, each of which says how to compile.

    A stage says several things: it is a record, or a row of values.
    """
    header = next((event for event in scope.events_of("for") if loop in dict(event.bodies)), None)
    if header is None or len(header.targets) != 1:
        return False
    item, given = header.targets[0], header.value
    if isinstance(item, Collection) and isinstance(given, Call) and is_name(given.func, "enumerate"):
        item = item.items[-1]
    names = {part.name for part in walk(item) if isinstance(part, Name)}
    inner = [event for event in scope.events() if inside(scope, event.block, loop)]
    expressions = [event.value for event in inner if event.value is not None]
    if len(names) < 2 and not any(_is_record(expr, names) for expr in expressions):
        return False
    for event in inner:
        if event.value is not None and _names_any(event.value, names):
            names |= {target.name for target in event.targets if isinstance(target, Name)}
    return any(
        _names_any(argument, names) for argument in (*call.args, *(value for _, value in call.keywords))
    )


def _is_record(expr: Expr, names: set[str]) -> bool:
    """Tell whether an expression takes something by its name out of one of some variables."""
    return any(
        (isinstance(part, Attribute) and isinstance(part.base, Name) and part.base.name in names)
        or (
            isinstance(part, Subscript)
            and isinstance(part.base, Name)
            and part.base.name in names
            and isinstance(constant(part.index), str)
        )
        for part in walk(expr)
    )


def _names_any(expr: Expr, names: set[str]) -> bool:
    return any(isinstance(part, Name) and part.name in names for part in walk(expr))


@once
def _fits_by_model(program: Program, scope: Scope) -> dict[str | None, list[Call]]:
    """Return the `fit` calls of a scope by the dotted name of their model."""
    del program
    found: dict[str | None, list[Call]] = {}
    for call in sorted(scope.calls_of("fit", "fit_generator"), key=lambda call: call.number):
        found.setdefault(dotted(call.receiver), []).append(call)
    return found


def _changes_what_learns(program: Program, scope: Scope, loop: int) -> bool:
    """Tell whether a loop changes the trainable layers or the weights of a model."""
    return any(inside(scope, block, loop) for block in _blocks_of_changes(program, scope))


@once
def _blocks_of_changes(program: Program, scope: Scope) -> list[int]:
    del program
    found = [
        event.block
        for event in scope.events()
        if any(isinstance(target, Attribute) and target.attribute == "trainable" for target in event.targets)
    ]
    return [*found, *(call.block for call in scope.calls_of(*_NEW_WEIGHTS))]


_NEW_WEIGHTS = ("set_weights", "load_weights", "clear_session", "reset_states", "reset_state")


_BATCH_HOOKS = frozenset({"on_train_batch_end", "on_batch_end", "on_train_batch_begin", "on_batch_begin"})
_WHOLE_RUNS = frozenset({"evaluate", "predict", "fit", "save", "save_weights", "evaluate_generator"})


def run_in_batch_hook(program: Program) -> Iterator[Hit]:
    """Find callbacks that evaluate, predict or save after every batch."""
    for module in program.modules:
        for scope in module.summary.scopes:
            if scope.name not in _BATCH_HOOKS or not scope.params:
                continue
            owner = program.owner(scope)
            if owner is None:
                continue
            if not any(name.startswith("keras.callbacks.") for name in program.bases(owner).outside):
                continue
            for call in scope.calls:
                if (
                    call.method in _WHOLE_RUNS
                    and call.block == 0
                    and dotted(call.receiver) == f"{scope.params[0].name}.model"
                ):
                    yield hit_in(
                        scope,
                        call.name_place,
                        call.block,
                        {"method": call.method, "hook": scope.name},
                    )
                    break
