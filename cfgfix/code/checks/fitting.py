"""What `fit` cannot do with a model as it was compiled: set a rate that follows a schedule, or see what became trainable since."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cfgfix.code.checks.guarded_calls import may_run_together
from cfgfix.code.checks.models import compiles_of
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import KERAS_COMPILES, inside
from cfgfix.code.model.expressions import constant, dotted, is_name, walk
from cfgfix.code.model.hit import Step, at, hit_in
from cfgfix.code.model.nodes import Attribute, Call, Expr, Name, Subscript
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Function, Instance, Made, Site, alternatives
from cfgfix.rules.hit import Hit

NEEDLES = (b".fit(", b"_batch_end", b"_batch_begin")

FITS = ("keras.Model.fit", "keras.Sequential.fit")
_SETS_RATE = ("keras.callbacks.ReduceLROnPlateau", "keras.callbacks.LearningRateScheduler")
_SCHEDULES = frozenset({"keras.optimizers.schedules.LearningRateSchedule"})
_DEPTH = 4


def rate_set_twice(program: Program) -> Iterator[Hit]:
    """Find callbacks that set a learning rate which follows a schedule."""
    seen: set[tuple[int, int]] = set()
    for fit in flow_of(program).named(*FITS):
        scope = fit.scope
        given = fit.call.argument(5, "callbacks")
        if given is None or written_for_one(program, scope):
            continue
        callback = next(
            (site for site in calls_behind(program, given, scope) if site.name in _SETS_RATE), None
        )
        if callback is None or (id(callback.scope), callback.call.number) in seen:
            continue
        schedules = _schedules(program, fit)
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
    """Return the numbers of the calls in an expression and behind its names.

    What the names were given counts, and what was appended to them.
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


def calls_behind(program: Program, expr: Expr, scope: Scope, depth: int = _DEPTH) -> list[Site]:
    """Return the calls in an expression and behind its names.

    Those count as well that are in what a function of the project, called there, returns.
    """
    numbers = calls_of(expr, scope)
    found = list(flow_of(program).of_calls(scope, numbers))
    for part in walk(expr) if depth > 0 else ():
        if not (isinstance(part, Attribute) and is_name(part.base, "self")):
            continue
        for event, method in _kept_in(program, part.attribute, scope):
            if event.value is not None:
                found += [
                    site
                    for site in calls_behind(program, event.value, method, depth - 1)
                    if site not in found
                ]
    for call in scope.calls if depth > 0 else ():
        function = _function_called(program, call, scope) if call.number in numbers else None
        for event in function.events_of("return") if function is not None else ():
            if function is not None and event.value is not None:
                found += [
                    site
                    for site in calls_behind(program, event.value, function, depth - 1)
                    if site not in found
                ]
    return found


def _kept_in(program: Program, attribute: str, scope: Scope) -> list[tuple[Event, Scope]]:
    """Return where the class of a method gives its object an attribute, each with the method."""
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
    """Return the function of the project that a call names; None for what is not known."""
    value = program.static_value(call.func, scope)
    if isinstance(value, Function):
        return value.scope
    if isinstance(call.func, Attribute) and is_name(call.func.base, "self"):
        owner = program.owner(scope)
        return program.method(owner, call.func.attribute) if owner is not None else None
    return None


def _schedules(program: Program, fit: Site) -> list[tuple[str, Site]]:
    """Return the schedules of the optimizers that a model is compiled with; none unless all of them follow one."""
    models = alternatives(fit.receiver)
    model = models[0] if len(models) == 1 else None
    return _schedules_of(program, model) if isinstance(model, Made) else []


@once
def _schedules_of(program: Program, model: Made) -> list[tuple[str, Site]]:
    """Return the schedules by class, each with the call that makes it, or the optimizer with one of the project's."""
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


def trainable_since(program: Program) -> Iterator[Hit]:
    """Find `trainable` set between two calls of `fit` without another `compile`.

    The step that was compiled keeps what it had.
    """
    seen: set[tuple[int, str]] = set()
    for later in flow_of(program).named(*FITS):
        scope = later.scope
        model = dotted(later.call.func.base) if isinstance(later.call.func, Attribute) else None
        if model is None or (id(scope), model) in seen or written_for_one(program, scope):
            continue
        switches = _switches(program, scope)
        for event, name, block in switches:
            if not event.place.start < later.call.place.start:
                break
            if name not in _parts_of(program, model, scope) or not inside(scope, later.call.block, block):
                continue
            first = _fitted_before(program, scope, model, event)
            if first is None or _may_compile(program, scope, first, later):
                continue
            seen.add((id(scope), model))
            yield hit_in(
                scope,
                event.place,
                event.block,
                {
                    "name": name,
                    "model": model,
                    "first": first.call.name_line,
                    "line": later.call.name_line,
                },
                needs=((scope, first.call.block), (scope, later.call.block)),
                related=(
                    at(first, label="the step is compiled here"),
                    at(later, label="and used again here"),
                ),
            )
            break


@once
def _switches(program: Program, scope: Scope) -> list[tuple[Event, str, int]]:
    """Return the statements that switch `trainable`, in order, each with what it switches and the block it happens in."""
    del program
    found = [(event, _retoggled_layers(event, scope)) for event in scope.events_of("assign")]
    return [(event, *switched) for event, switched in found if switched is not None]


def _retoggled_layers(event: Event, scope: Scope) -> tuple[str, int] | None:
    """Return what a statement sets `trainable` of to a constant, or whose layers, with the block it happens in; or None."""
    if len(event.targets) != 1 or event.value is None:
        return None
    target = event.targets[0]
    if (
        not isinstance(target, Attribute)
        or target.attribute != "trainable"
        or not isinstance(constant(event.value), bool)
    ):
        return None
    owner, block = target.base, event.block
    if isinstance(owner, Name):
        loops = [item for item in scope.binding(owner.name) if item.kind == "for"]
        around = next(
            (item for item in loops if any(inside(scope, block, body) for body, _ in item.bodies)), None
        )
        if around is not None:
            if around.value is None or len(around.targets) != 1 or not isinstance(around.targets[0], Name):
                return None
            owner, block = around.value, around.block
            if not _names_layers(owner):
                return None
    shown = dotted(_without_layers(owner))
    return (shown, block) if shown is not None else None


def _names_layers(expr: Expr) -> bool:
    while isinstance(expr, Subscript):
        expr = expr.base
    return bool(isinstance(expr, Attribute) and expr.attribute == "layers")


def _without_layers(expr: Expr) -> Expr:
    """Return whose layer something is: of `model.layers[0]` and `model.get_layer("a")` the model."""
    while True:
        if isinstance(expr, Subscript):
            expr = expr.base
        elif isinstance(expr, Attribute) and expr.attribute == "layers":
            model: Expr = expr.base
            return model
        elif isinstance(expr, Call) and expr.receiver is not None and expr.method == "get_layer":
            return expr.receiver
        else:
            return expr


@once
def _parts_of(program: Program, model: str, scope: Scope) -> set[str]:
    """Return the names of a model and of all that the statement which makes it is made with."""
    pending, seen = [model], {model}
    while pending:
        for value in _made_with(program, pending.pop(), scope):
            for part in walk(value):
                shown = dotted(part) if isinstance(part, (Name, Attribute)) else None
                if shown is not None and shown not in seen:
                    seen.add(shown)
                    pending.append(shown)
    return seen


def _made_with(program: Program, name: str, scope: Scope) -> list[Expr]:
    """Return what a name, or an attribute of the object at hand, is given."""
    own, _, attribute = name.partition(".")
    if not attribute:
        return [event.value for event in scope.binding(name) if event.value is not None]
    return [event.value for event in _stores(program, scope, own, attribute) if event.value is not None]


def _stores(program: Program, scope: Scope, own: str, attribute: str) -> list[Event]:
    """Return the statements of a class that store an attribute of its object."""
    owner = program.owner(scope)
    if owner is None or not scope.params or scope.params[0].name != own:
        return []
    return [
        event
        for method in owner.module.summary.scopes
        if method.parent == owner.number and method.kind == "function" and method.params
        for event in method.events()
        for target in event.targets
        if isinstance(target, Attribute)
        and target.attribute == attribute
        and is_name(target.base, method.params[0].name)
    ]


def _fitted_before(program: Program, scope: Scope, model: str, event: Event) -> Site | None:
    """Return a `fit` of the same model on the way to a statement, in the same scope."""
    for site in _fits_by_model(program, scope).get(model, ()):
        if site.call.place.end <= event.place.start and inside(scope, event.block, site.call.block):
            return site
    return None


@once
def _fits_by_model(program: Program, scope: Scope) -> dict[str | None, list[Site]]:
    found: dict[str | None, list[Site]] = {}
    for site in flow_of(program).within(scope):
        if site.name in FITS:
            found.setdefault(dotted(site.call.receiver), []).append(site)
    return found


def _may_compile(program: Program, scope: Scope, first: Site, later: Site) -> bool:
    """Tell whether something between two calls may compile the model again, or bind its name anew."""
    model = dotted(first.call.receiver) or ""
    own, _, attribute = model.partition(".")
    if (len(_stores(program, scope, own, attribute)) if attribute else len(scope.binding(model))) != 1:
        return True
    between = scope.calls_between(first.call.place.end, later.call.place.start)
    for call in between:
        if call.method in ("compile", "make_train_function", "compile_from_config"):
            return True
        if any(
            dotted(part) == model
            for given in (*call.args, *(value for _, value in call.keywords))
            for part in walk(given)
        ):
            return True
    return any(site.targets for site in flow_of(program).of_calls(scope, (call.number for call in between)))


def compiled_in_loop(program: Program) -> Iterator[Hit]:
    """Find models that every turn of a loop compiles and trains."""
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
        fits = _fitted(program, scope).get(model, ())
        fit = next((other for other in fits if inside(scope, other.block, loop)), None)
        if fit is None or _changes_what_learns(program, scope, loop):
            continue
        yield hit_in(
            scope,
            call.name_place,
            call.block,
            {"model": model, "loop_line": loops[0].line},
            related=(Step(scope, fit.name_place, fit.block, "trained in the same turn"),),
            no_fix="compile once before the loop, and set what changes, such as model.optimizer.learning_rate, in it",
        )


@once
def _fitted(program: Program, scope: Scope) -> dict[str | None, list[Call]]:
    """Return the calls of `fit` in a scope, by what is trained."""
    del program
    found: dict[str | None, list[Call]] = {}
    for call in sorted(scope.calls_of("fit", "fit_generator"), key=lambda call: call.number):
        found.setdefault(dotted(call.receiver), []).append(call)
    return found


def _changes_what_learns(program: Program, scope: Scope, loop: int) -> bool:
    """Tell whether a loop changes which layers learn, or begins with other weights: a new compile is right then."""
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


def check(program: Program) -> Iterable[Hit]:
    """Find the hits of the group's first rule."""
    return rate_set_twice(program)
