"""Penalties that layers ask for and a training step of one's own leaves out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from cfgfix.code.checks.common import only_value
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.model.expressions import dotted, is_none
from cfgfix.code.model.hit import Step, at, hit_at
from cfgfix.code.model.nodes import Call, Literal
from cfgfix.code.model.program import Module, Program, once
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Instance, Made, Site, Value, alternatives
from cfgfix.rules.hit import Hit

NEEDLES = (b"GradientTape", b"_regularizer")

_ASKS = ("kernel_regularizer", "bias_regularizer", "activity_regularizer", "depthwise_regularizer", "embeddings_regularizer",
         "recurrent_regularizer", "pointwise_regularizer", "gamma_regularizer", "beta_regularizer")  # fmt: skip
_ADDED = re.compile(
    r"(?<!keras)(?<!\btf)(?<!\bk)(?<!\bK)\.losses\b(?!\.|\s*import)|l2_loss|regulari[sz]ation_loss|compute_loss\(|reg_loss|weight_decay|AdamW|SGDW|add_loss"
)
"""What shows that penalties reach the loss: the model's own list, Keras's method that adds it, or weights that decay by other means."""
_DEPTH = 3


def left_out(program: Program) -> Iterator[Hit]:
    """Find steps with a tape that leave out the penalties of their model.

    Its layers have regularizers, and nothing adds the model's losses.
    """
    seen: set[int] = set()
    for tape in program.flow.named("tensorflow.GradientTape"):
        scope = tape.scope
        if id(scope) in seen or written_for_one(program, scope):
            continue
        seen.add(id(scope))
        if not _applies(scope) and not any(_applies(caller.scope) for caller in program.flow.callers(scope)):
            continue
        for site in _sites_of_step(program, scope):
            found = next(
                (place for value in _called_models(program, site) if (place := _asks(program, value))), None
            )
            if found is None:
                continue
            asking, call, option = found
            if _is_added(program, scope, asking.module):
                break
            yield hit_at(
                tape,
                flow=(),
                values={
                    "model": dotted(site.call.func) or "the model",
                    "option": option,
                    "line": call.name_line,
                    "file": _file(asking, scope),
                },
                related=(
                    Step(asking, call.name_place, call.block, "asks for a penalty"),
                    at(site, label="the model is called here"),
                ),
            )
            break


def _file(asking: Scope, scope: Scope) -> str:
    import os

    return "" if asking.module is scope.module else f" of {os.path.basename(asking.module.path)}"


def _applies(scope: Scope) -> bool:
    return any(call.method in ("apply_gradients", "minimize", "apply") for call in scope.calls)


def _sites_of_step(program: Program, scope: Scope) -> list[Site]:
    """Return the calls of a step, and of the functions of the project that it calls for its loss."""
    found = list(program.flow.within(scope))
    for site in list(found):
        for target in site.targets:
            if target.scope.name != "call":
                found += program.flow.within(target.scope)
    return found


def _called_models(program: Program, site: Site) -> Iterator[Value]:
    """Yield the models that a call runs forward."""
    for value in alternatives(site.callee):
        if (isinstance(value, Made) and value.name in ("keras.Model", "keras.Sequential")) or (
            isinstance(value, Instance)
            and any(
                outer.startswith(("keras.Model", "keras.layers.Layer"))
                for outer in program.bases(value.scope).outside
            )
        ):
            yield value


@once
def _asks(program: Program, value: Value) -> tuple[Scope, Call, str] | None:
    """Return the call of a layer of a model that asks for a penalty, and the argument; None where none is found."""
    if isinstance(value, Made):
        if value.site is None:
            return None
        found = _asking(value.site.scope)
        if found is not None:
            return found
        for site in program.flow.within(value.site.scope):
            for target in site.targets:
                found = _asking(target.scope)
                if found is not None:
                    return found
        return None
    assert isinstance(value, Instance)
    return _of_class(program, value.scope, _DEPTH)


def _of_class(program: Program, owner: Scope, depth: int) -> tuple[Scope, Call, str] | None:
    """Return what asks for a penalty in the methods of a class that set it up, or in the layers that these make."""
    if depth <= 0:
        return None
    for base in program.bases(owner).classes:
        for method in base.module.summary.scopes:
            if (
                method.parent != base.number
                or method.kind != "function"
                or method.name in ("call", "train_step")
            ):
                continue
            found = _asking(method)
            if found is not None:
                return found
            for site in program.flow.within(method):
                for made in alternatives(site.result):
                    if isinstance(made, Instance) and made.scope is not owner:
                        found = _of_class(program, made.scope, depth - 1)
                        if found is not None:
                            return found
    return None


def _asking(scope: Scope) -> tuple[Scope, Call, str] | None:
    for call in scope.calls:
        for name in _ASKS:
            given = only_value(scope, call.keyword(name))
            if given is not None and not is_none(given) and isinstance(given, (Call, Literal)):
                return scope, call, name
    return None


def _is_added(program: Program, scope: Scope, asking: Module) -> bool:
    """Tell whether a file around a step shows that the penalties reach the loss."""
    modules = {id(scope.module): scope.module, id(asking): asking}
    pending = [scope]
    looked: set[int] = set()
    while pending and len(looked) < 40:
        here = pending.pop()
        if id(here) in looked:
            continue
        looked.add(id(here))
        modules[id(here.module)] = here.module
        pending += [caller.scope for caller in program.flow.callers(here)]
        if here is scope:
            pending += [target.scope for site in program.flow.within(here) for target in site.targets]
    return any(_ADDED.search(module.source_file().text) for module in modules.values())


def check(program: Program) -> Iterable[Hit]:
    """Find the hits of the group's first rule."""
    return left_out(program)
