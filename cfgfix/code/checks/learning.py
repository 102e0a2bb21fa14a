"""Faults that keep a step from learning, such as a loss outside its tape."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import inside
from cfgfix.code.model.expressions import is_name, text, walk
from cfgfix.code.model.hit import Step, at, hit_in
from cfgfix.code.model.nodes import Binary, Call, Expr, Name, Place, Subscript
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Made, Site, alternatives
from cfgfix.rules.hit import Hit

_COMPUTES = (
    "tensorflow.reduce_",
    "tensorflow.math.",
    "tensorflow.nn.",
    "tensorflow.losses.",
    "tensorflow.keras.losses.",
    "keras.losses.",
    "keras.metrics.",
    "keras.ops.",
    "keras.backend.mean",
    "keras.backend.sum",
    "tensorflow.add_n",
    "tensorflow.square",
    "tensorflow.abs",
    "tensorflow.sqrt",
)
"""Operations and losses whose result is a new tensor."""


def outside_tape(program: Program) -> Iterator[Hit]:
    """Find losses computed after the `with` block of their tape."""
    seen: set[tuple[int, int]] = set()
    for tape in flow_of(program).named("tensorflow.GradientTape"):
        scope = tape.scope
        if (id(scope), tape.call.number) in seen or written_for_one(program, scope):
            continue
        seen.add((id(scope), tape.call.number))
        entered = _with_of_tape(program, tape)
        if entered is None:
            continue
        body, name = entered
        early = _computed_before(program, scope, body, name)
        if early is not None:
            place, block, call = early
            yield hit_in(
                scope,
                place,
                block,
                {"tape": name, "line": call.line, "opened": body.line, "where": "before the body"},
                related=(
                    at(tape, label="the tape records what stands under this line"),
                    Step(scope, call.name_place, call.block, "its gradient is asked for here"),
                ),
            )
            continue
        for call in _late_gradients(program, scope).get(id(body), ()):
            target = call.argument(0, "target")
            if (
                target is None
                or not is_name(call.receiver, name)
                or not inside(scope, call.block, body.block)
            ):
                continue
            made = _loss_behind_tape(program, scope, body, target, call)
            if made is not None:
                yield hit_in(
                    scope,
                    *made,
                    {"tape": name, "line": call.line, "opened": body.line, "where": "behind the body"},
                    related=(
                        at(tape, label="the tape records what stands under this line"),
                        Step(scope, call.name_place, call.block, "its gradient is asked for here"),
                    ),
                )
                break


def _computed_before(
    program: Program, scope: Scope, body: Event, name: str
) -> tuple[Place, int, Call] | None:
    """Return where a loss is computed before its tape is opened: place, block and the call for its gradient."""
    for call in scope.calls_of("gradient"):
        target = call.argument(0, "target")
        if not is_name(call.receiver, name) or call.place.start < body.place.start:
            continue
        last = scope.bound_before(name, call.place)
        if last is not body:
            continue
        for _ in range(3):
            bound = scope.binding(target.name) if isinstance(target, Name) else []
            if len(bound) != 1 or bound[0].kind != "assign" or not is_name(bound[0].targets[0], text(target)):
                break
            made = bound[0].value
            if bound[0].place.end <= body.place.start:
                if (
                    isinstance(made, Call)
                    and inside(scope, body.block, bound[0].block)
                    and _is_computed(program, scope, made)
                ):
                    return made.name_place, made.block, call
                break
            target = made
    return None


def _is_computed(program: Program, scope: Scope, call: Call) -> bool:
    """Tell whether a call computes a tensor, itself or in the function of the project that it enters."""
    if _is_tensorflow_result(program, scope, call):
        return True
    targets = [target for site in flow_of(program).of_calls(scope, (call.number,)) for target in site.targets]
    return bool(targets) and all(
        not target.scope.generator
        and target.scope.name != "__init__"
        and any(
            isinstance(event.value, Call) and _is_tensorflow_result(program, target.scope, event.value)
            for event in target.scope.events_of("return")
        )
        for target in targets
    )


def _with_of_tape(program: Program, tape: Site) -> tuple[Event, str] | None:
    """Return the only `with` that enters a tape, and the tape's name, or None."""
    made, again = _entered_withs(program, tape.scope)
    entered = made.get(tape.call.number)
    return None if entered is None or entered[1] in again else entered


@once
def _entered_withs(program: Program, scope: Scope) -> tuple[dict[int, tuple[Event, str]], set[str]]:
    """Return the `with` and name of each entered call, and the names entered again.

    Calls are told by their number.
    """
    del program
    made: dict[int, tuple[Event, str]] = {}
    names: set[str] = set()
    for event in scope.events_of("with"):
        for manager, target in zip(event.managers, event.targets, strict=True):
            if isinstance(manager, Name):
                names.add(manager.name)
            elif isinstance(manager, Call) and isinstance(target, Name):
                made.setdefault(manager.number, (event, target.name))
    return made, names


@once
def _late_gradients(program: Program, scope: Scope) -> dict[int, list[Call]]:
    """Return the gradient calls after a tape's `with`, by the id of the `with`."""
    del program
    found: dict[int, list[Call]] = {}
    for call in scope.calls_of("gradient"):
        name = call.receiver
        body = scope.bound_before(name.name, call.place) if isinstance(name, Name) else None
        if body is not None and body.kind == "with" and call.place.start >= body.place.end:
            found.setdefault(id(body), []).append(call)
    return found


def _loss_behind_tape(
    program: Program, scope: Scope, body: Event, target: Expr, call: Call
) -> tuple[Place, int] | None:
    """Return where a loss is computed after a tape's body: place and block, or None."""
    scaled = _scaled_behind(scope, body, target, call)
    if scaled is not None:
        return scaled
    if isinstance(target, Name):
        events = scope.binding(target.name)
        if len(events) != 1 or events[0].kind != "assign" or len(events[0].targets) != 1:
            return None
        event = events[0]
        if not isinstance(event.targets[0], Name) or event.value is None or event.block != body.block:
            return None
        if not body.place.end <= event.place.start < call.place.start:
            return None
        target = event.value
    if isinstance(target, Binary) and target.operator in _OPERATORS:
        # Tensors of the body are put together, which makes a new one.
        of_body = any(
            isinstance(part, Name) and _tensor_of_body(program, scope, body, part.name)
            for part in walk(target)
        )
        return (target.place, call.block) if of_body else None
    if not isinstance(target, Call):
        return None
    made = target
    return (made.name_place, made.block) if _is_tensorflow_result(program, scope, made) else None


def _scaled_behind(scope: Scope, body: Event, target: Expr, call: Call) -> tuple[Place, int] | None:
    """Return where an optimizer scales a loss after a tape's body, or None."""
    if isinstance(target, Subscript):
        target = target.base
    if not isinstance(target, Name):
        return None
    last = scope.bound_before(target.name, call.place)
    if last is None or last.kind != "assign" or last.value is None or last.place.start < body.place.end:
        return None
    if not inside(scope, call.block, last.block):
        return None
    for part in walk(last.value):
        if isinstance(part, Call) and part.method in _SCALES:
            made = part
            return made.name_place, made.block
    return None


_SCALES = frozenset({"get_scaled_loss", "scale_loss"})
_OPERATORS = frozenset({"+", "-", "*", "/", "**"})


def _tensor_of_body(program: Program, scope: Scope, body: Event, name: str) -> bool:
    """Tell whether a name is assigned only once, to a tensor, in a tape's body."""
    bound = scope.binding(name)
    if (
        len(bound) != 1
        or bound[0].kind != "assign"
        or bound[0].value is None
        or not isinstance(bound[0].value, Call)
    ):
        return False
    if not inside(scope, bound[0].block, body.bodies[0][0]):
        return False
    made = bound[0].value
    return _is_tensorflow_result(program, scope, made) or any(
        site.name.startswith("keras.") and site.name.endswith(".__call__")
        for site in flow_of(program).of_calls(scope, (made.number,))
    )


def _is_tensorflow_result(program: Program, scope: Scope, call: Call) -> bool:
    """Tell whether a call is a TensorFlow operation or a Keras loss."""
    sites = flow_of(program).of_calls(scope, (call.number,))
    if any(site.name.startswith(_COMPUTES) and not site.targets for site in sites):
        return True
    values = alternatives(flow_of(program).value_of_name(scope, call.func))
    return bool(values) and all(
        isinstance(value, Made) and value.name.startswith(("keras.losses.", "keras.metrics."))
        for value in values
    )
