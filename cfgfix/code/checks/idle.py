"""Settings without effect: layers never adapted, arguments without their partner."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.common import short
from cfgfix.code.checks.origins import Origin, origins
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import constant, dotted, place_of, text
from cfgfix.code.model.hit import at, hit_at, hit_in
from cfgfix.code.model.nodes import Attribute, Binary, Expr, Literal, Name, Subscript
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Made, Site, alternatives
from cfgfix.rules.hit import Hit

_ADAPTS = {
    "keras.layers.Normalization": (("mean", 1), ("variance", 2)),
    "keras.layers.TextVectorization": (("vocabulary", 99),),
    "keras.layers.StringLookup": (("vocabulary", 4),),
    "keras.layers.IntegerLookup": (("vocabulary", 4), ("vocabulary_dtype", 99)),
    "keras.layers.Discretization": (("bin_boundaries", 0),),
}
"""Layers that learn from data by `adapt`, and the arguments that tell them what they would learn."""
_TELLS = frozenset(
    {"adapt", "set_vocabulary", "load_assets", "set_weights", "build_from_config", "finalize_state"}
)
_LOADS = frozenset(
    {"load_weights", "load_model", "restore", "from_config", "set_weights", "load_own_variables"}
)


def never_adapted(program: Program) -> Iterator[Hit]:
    """Find layers that must be adapted to data first, and never are."""
    told = {
        call.method
        for module in program.linked
        for scope in module.summary.scopes
        for call in scope.calls
        if call.method in _TELLS or call.method in _LOADS
    }
    if told & _TELLS or not any(True for _ in flow_of(program).named(*_ADAPTS)):
        return
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).named(*_ADAPTS):
        key = id(site.scope), site.call.number
        if key in seen or site.call.opaque or written_for_one(program, site.scope):
            continue
        seen.add(key)
        if any(site.call.argument(position, name) is not None for name, position in _ADAPTS[site.name]):
            continue
        if site.name == "keras.layers.Normalization" and site.call.keyword("invert") is not None:
            continue
        if told & _LOADS or not _trains_model(program):
            # Weights or a saved model bring what was learned.
            continue
        yield hit_at(
            site,
            flow=(),
            values={
                "layer": short(site),
                "then": "it hands on what it is given"
                if site.name.endswith("Normalization")
                else "it knows no word, or raises",
            },
        )


def _trains_model(program: Program) -> bool:
    return any(
        call.method in ("fit", "train_on_batch", "apply_gradients")
        for module in program.linked
        for scope in module.summary.scopes
        for call in scope.calls
    )


_PARTNERS = (
    (re.compile(r"keras\.optimizers\.schedules\.CosineDecay"), "warmup_steps", "warmup_target", 4, (0, None)),
    (re.compile(r"keras\.optimizers\.[A-Z]\w+"), "ema_momentum", "use_ema", 99, (None,)),
    (re.compile(r"keras\.optimizers\.[A-Z]\w+"), "ema_overwrite_frequency", "use_ema", 99, (None,)),
)
"""Callables, an argument, the argument without which it does nothing, where that stands by position, and values that ask for nothing."""


def without_partner(program: Program) -> Iterator[Hit]:
    """Find optimizer arguments that do nothing without another argument."""
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).under("keras.optimizers."):
        key = id(site.scope), site.call.number
        if key in seen or site.call.opaque:
            continue
        seen.add(key)
        for pattern, argument, partner, position, nothing in _PARTNERS:
            given = site.call.keyword(argument)
            if given is None or not pattern.fullmatch(site.name):
                continue
            if isinstance(given, Literal) and constant(given) in nothing:
                continue
            other = site.call.argument(position, partner)
            if other is not None and not (isinstance(other, Literal) and constant(other) in (None, False)):
                continue
            yield hit_in(
                site.scope,
                place_of(given, site.scope) or site.call.name_place,
                site.call.block,
                {"name": short(site), "argument": argument, "partner": partner},
            )


_STEPS = re.compile(
    r"keras\.optimizers\.schedules\.(?:CosineDecay|CosineDecayRestarts|PolynomialDecay|ExponentialDecay|InverseTimeDecay)"
)
_EPOCHS = re.compile(
    r"(?i)(?:n|num|number_of|nb|max|total|train|training)?_?epochs?|(?:lr_|learning_rate_)?decay_(?:every_|after_)?(?:n_)?epochs?"
    r"|epochs?_(?:per|before|until|for|between)_(?:lr_)?(?:decay|drop|step)s?|(?:drop|halve|decrease)_(?:every|after)_(?:n_)?epochs?"
)
"""Names of a number of epochs."""
_CALLBACKS = ("keras.callbacks.LearningRateScheduler",)


def epochs_as_steps(program: Program) -> Iterator[Hit]:
    """Find schedules that are given epochs where they count steps."""
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).sites:
        if not _STEPS.fullmatch(site.name):
            continue
        key = id(site.scope), site.call.number
        if key in seen or written_for_one(program, site.scope):
            continue
        seen.add(key)
        given = site.call.argument(1, "decay_steps") or site.call.argument(1, "first_decay_steps")
        if given is None or not _EPOCHS.fullmatch(_last_word(given)):
            continue
        if not _given_to_optimizer(program, site) or _called_by_hand(program, site):
            continue
        if isinstance(given, Name) and _is_worked_out(program, Origin(given, site.scope)):
            continue
        yield hit_in(
            site.scope,
            place_of(given, site.scope) or site.call.name_place,
            site.call.block,
            {"name": short(site), "given": text(given)},
        )


def _is_worked_out(program: Program, given: Origin) -> bool:
    """Tell whether a name holds the result of a calculation, such as epochs times steps."""
    return any(isinstance(found.expr, Binary) for found in origins(program, given))


def _last_word(expr: Expr) -> str:
    """Return the last name or key of an expression, or empty text."""
    if isinstance(expr, Name):
        return str(expr.name)
    if isinstance(expr, Attribute):
        return str(expr.attribute)
    if isinstance(expr, Subscript) and isinstance(expr.index, Literal):
        return str(expr.index.value)
    return ""


def _given_to_optimizer(program: Program, site: Site) -> bool:
    """Tell whether an optimizer takes the schedule as its learning rate."""
    return any(
        any(
            isinstance(value, Made) and value.site is not None and value.site.call is site.call
            for value in alternatives(given)
        )
        for optimizer in flow_of(program).under("keras.optimizers.")
        if ".schedules." not in optimizer.name
        for given in (optimizer.argument(0, "learning_rate"), optimizer.argument(0, "lr"))
        if given is not None
    )


def _called_by_hand(program: Program, site: Site) -> bool:
    """Tell whether the project sets the optimizer's step count or calls the schedule."""
    return any(
        isinstance(call.func, Attribute)
        and call.method in ("assign", "assign_add")
        and "iterations" in (dotted(call.func) or "")
        for module in program.linked
        for scope in module.summary.scopes
        for call in scope.calls
    ) or any(True for _ in flow_of(program).named(f"{site.name}.__call__"))


def prefix_as_folder(program: Program) -> Iterator[Hit]:
    """Find `latest_checkpoint` calls with a checkpoint prefix in place of a folder."""
    saved: dict[tuple[int, str], Site] = {}
    for site in flow_of(program).sites:
        if site.name in ("tensorflow.train.Checkpoint.save", "tensorflow.train.Checkpoint.write"):
            given = site.call.argument(0, "file_prefix")
            if given is not None and isinstance(given, (Name, Attribute, Subscript, Literal)):
                saved.setdefault((id(site.scope.module), text(given)), site)
    if not saved:
        return
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).named("tensorflow.train.latest_checkpoint"):
        key = id(site.scope), site.call.number
        given = site.call.argument(0, "checkpoint_dir")
        if key in seen or given is None:
            continue
        seen.add(key)
        shown = text(given)
        found = saved.get((id(site.scope.module), shown))
        if found is None or (isinstance(given, Name) and not _means_the_same(site.scope, found.scope, given)):
            continue
        yield hit_at(
            site,
            flow=(),
            values={"prefix": shown, "line": found.call.name_line},
            related=(at(found, label="checkpoints are saved under this prefix"),),
        )


def _means_the_same(first: Scope, second: Scope, name: Name) -> bool:
    """Tell whether a name has the same single binding in two scopes of a file."""
    top = first.module.summary.scopes[0]
    if first is second:
        return len(first.binding(name.name)) <= 1
    return len(top.binding(name.name)) == 1 and not first.binding(name.name) and not second.binding(name.name)
