"""Callbacks that watch values, or name files after values, that `fit` lacks."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator

from cfgfix.code.checks.fitting import FITS, calls_in
from cfgfix.code.checks.guarded_calls import may_run_together
from cfgfix.code.checks.handed_on import callers_of, constant_of
from cfgfix.code.checks.models import compiles_of
from cfgfix.code.checks.written_values import written_constant
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import KERAS_COMPILES
from cfgfix.code.inference.releases import keras_three
from cfgfix.code.model.expressions import MISSING, constant, is_name, place_of, text, walk
from cfgfix.code.model.hit import Rewrite, at, hit_in
from cfgfix.code.model.nodes import Attribute, Call, Dictionary, Literal, Name, Subscript
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import (
    UNKNOWN,
    Constant,
    External,
    Function,
    Instance,
    Items,
    Made,
    Site,
    Value,
    alternatives,
)
from cfgfix.core.suggest import closest
from cfgfix.rules.hit import Hit

_PLAIN_MODELS = ("keras.Sequential", "keras.Model")
"""Models whose steps Keras makes; an own class may measure what it likes."""
_PATH = "filepath"
_EFFECTS = {
    "EarlyStopping": "it never stops the training",
    "ReduceLROnPlateau": "it never lowers the rate",
    "ModelCheckpoint": "it saves every epoch instead of the best one",
}
_POSITIONS = {"EarlyStopping": 0, "ReduceLROnPlateau": 0, "ModelCheckpoint": 1}
_MODES = {"EarlyStopping": 4, "ReduceLROnPlateau": 4, "ModelCheckpoint": 5}
_OWN_NAMES = {"FBetaScore": "fbeta_score", "LogCoshError": "logcosh"}
"""Metrics whose name is not made from that of their class."""
_SET_RATE = ("keras.callbacks.ReduceLROnPlateau", "keras.callbacks.LearningRateScheduler")


def unmeasured_monitor(program: Program) -> Iterator[Hit]:
    """Find callbacks that watch a value `fit` does not measure."""
    for fit in flow_of(program).named(*FITS):
        scope = fit.scope
        if written_for_one(program, scope) or fit.call.opaque:
            continue
        measured = _measured_names(program, fit)
        validated = is_validated(fit)
        callbacks = callbacks_of(program, fit)
        directionless = _without_direction(program, fit)
        sets_rate = any(site.name in _SET_RATE for site in callbacks)
        for site in callbacks:
            kind = _kind_of(site)
            if kind not in _EFFECTS or site.call.opaque:
                continue
            if site.scope is scope and not may_run_together([fit, site]):
                continue
            wrong = _unmeasured_argument(
                program,
                site,
                kind,
                measured,
                validated=validated,
                sets_rate=sets_rate,
                directionless=directionless,
            )
            if wrong is None:
                continue
            position, parameter, name, effect, severity = wrong
            written = site.call.argument(position, parameter)
            place = place_of(written, site.scope) if written is not None else None
            shown = sorted(_log_names(measured, validated=validated)) if measured is not None else []
            meant = _meant_metric(name, shown)
            # Elsewhere than in the call the text may stand for other things, too.
            in_call = isinstance(written, Literal) and written.value == name
            yield hit_in(
                site.scope,
                place or site.call.name_place,
                site.call.block,
                {
                    "callback": kind,
                    "name": name,
                    "effect": effect,
                    "meant": meant,
                    "fault": "whose direction is not known"
                    if effect == _NO_DIRECTION
                    else "which this fit does not measure",
                },
                needs=((scope, fit.call.block),),
                related=(at(fit, label="the callback runs here"),),
                severity=severity,
                rewrites=(Rewrite("replace", site.scope, place, f'"{meant}"'),)
                if meant and meant != name and in_call and parameter == "monitor" and place is not None
                else (),
                no_fix="say mode='max' or mode='min'" if effect == _NO_DIRECTION else None,
                notes=(f"measured are {', '.join(shown)}",) if shown else (),
            )


def history_key(program: Program) -> Iterator[Hit]:
    """Find keys of a training history that `fit` does not measure."""
    seen: set[tuple[int, int]] = set()
    for fit in flow_of(program).named(*FITS):
        scope, key = fit.scope, (id(fit.scope), fit.call.number)
        if key in seen or fit.call.opaque or written_for_one(program, scope):
            continue
        seen.add(key)
        if not is_fit_of_keras(fit):
            # A callback of one's own may add to what is measured.
            continue
        measured = _measured_names(program, fit)
        validated = is_validated(fit)
        told: dict[str, list[Literal]] = {}
        for literal in _keys_of_history(scope, fit.call):
            name = str(literal.value)
            base = name.removeprefix("val_")
            lacks = name.startswith("val_") and not validated
            if lacks or (measured is not None and not _is_of(base, measured) and base not in _RATES):
                told.setdefault(name, []).append(literal)
        shown = sorted(_log_names(measured, validated=validated)) if measured is not None else []
        for name, places in told.items():
            meant = _meant_metric(name, shown)
            yield hit_in(
                scope,
                places[0].place,
                fit.call.block,
                {
                    "name": name,
                    "line": fit.call.name_line,
                    "meant": f"; it is called {meant}" if meant else "",
                },
                related=(at(fit, label="what is measured here"),),
                rewrites=tuple(Rewrite("replace", scope, item.place, f'"{meant}"') for item in places)
                if meant
                else (),
                no_fix=None if meant else "measure it, or leave it out",
                notes=(f"measured are {', '.join(shown)}",) if shown else (),
            )


_RATES = frozenset({"learning_rate", "lr"})


def is_fit_of_keras(fit: Site) -> bool:
    """Tell whether all callbacks of a `fit` are known Keras callbacks."""
    if fit.call.argument(5, "callbacks") is None:
        return True
    given = alternatives(fit.argument(5, "callbacks"))
    return bool(given) and all(
        isinstance(one, Made) and one.name.startswith("keras.callbacks.")
        for value in given
        for item in (value.items if isinstance(value, Items) else (value,))
        for one in alternatives(item) or (UNKNOWN,)
    )


def _keys_of_history(scope: Scope, fit: Call) -> Iterator[Literal]:
    """Yield the text keys by which a function reads a `fit` call's history."""
    for made in scope.events():
        if made.kind != "assign" or made.value is None or len(made.targets) != 1:
            continue
        target, value = made.targets[0], made.value
        if not isinstance(target, Name) or len(scope.binding(target.name)) != 1:
            continue
        inner = isinstance(value, Attribute) and value.attribute == "history" and value.base is fit
        if value is not fit and not inner:
            continue
        for event in scope.events():
            for part in walk(event.value) if event.value is not None else ():
                if not isinstance(part, Subscript) or not isinstance(part.index, Literal):
                    continue
                base = part.base
                if not inner:
                    if not isinstance(base, Attribute) or base.attribute != "history":
                        continue
                    base = base.base
                name = part.index.value
                if (
                    is_name(base, target.name)
                    and isinstance(name, str)
                    and not _is_asked_for(scope, event.block, name)
                ):
                    yield part.index


def _is_asked_for(scope: Scope, block: int, name: str) -> bool:
    """Tell whether a block is under a test that names a key."""
    return any(item.test is not None and name in text(item.test) for item in scope.block_chain(block))


def _unmeasured_argument(
    program: Program,
    site: Site,
    kind: str,
    measured: frozenset[str] | None,
    *,
    validated: bool,
    sets_rate: bool,
    directionless: frozenset[str],
) -> tuple[int, str, str, str, str] | None:
    """Return a callback's argument that names an unmeasured value, or None.

    With it: position, name, value, effect and severity.
    """
    monitor = text_given(program, site, _POSITIONS[kind], "monitor", "val_loss")
    mode = text_given(program, site, _MODES[kind], "mode", "auto")
    best = kind != "ModelCheckpoint" or _only_best(site)
    if monitor is not None and mode is not None:
        base = monitor.removeprefix("val_")
        if mode == "auto" and keras_three(program) and base in directionless:
            return (
                _POSITIONS[kind],
                "monitor",
                monitor,
                _NO_DIRECTION,
                "error",
            )
        unknown = measured is not None and not _is_of(base, measured)
        if unknown and mode == "auto" and keras_three(program) and base != "learning_rate":
            return (
                _POSITIONS[kind],
                "monitor",
                monitor,
                "it raises ValueError at the end of the first epoch",
                "error",
            )
        rate = base == "learning_rate" and sets_rate
        if best and ((unknown and not rate) or (monitor.startswith("val_") and not validated)):
            return _POSITIONS[kind], "monitor", monitor, _EFFECTS[kind], "warning"
    path = text_given(program, site, 0, _PATH, None) if kind == "ModelCheckpoint" else None
    for field in _placeholder_names(path or ""):
        base = field.removeprefix("val_")
        lacks = field.startswith("val_") and not validated
        if lacks or (measured is not None and not _is_of(base, measured) and base != "learning_rate"):
            return 0, _PATH, field, "naming the file raises KeyError", "error"
    return None


def _meant_metric(name: str, shown: list[str]) -> str:
    """Return the measured metric that a wrong name may mean, or empty text."""
    part = "val_" if name.startswith("val_") else ""
    base = name.removeprefix("val_")
    names = next((group for group in _SAME if base in group), (base,))
    found = [one for one in names if f"{part}{one}" in shown]
    # `loss` is near to nothing that a person would call a metric.
    near = [item for item in shown if item.startswith("val_") is bool(part) and not item.endswith("loss")]
    found = found or [item.removeprefix("val_") for item in closest(name, near, limit=1)]
    return f"{part}{found[0]}" if len(found) == 1 else ""


_SAME = (
    ("acc", "accuracy"),
    ("mae", "mean_absolute_error"),
    ("mse", "mean_squared_error"),
    ("mape", "mean_absolute_percentage_error"),
    ("msle", "mean_squared_logarithmic_error"),
)
"""Names of one metric: it is measured under the one that `compile` was given."""


def _placeholder_names(path: str) -> list[str]:
    """Return the value names in the placeholders of a file name."""
    try:
        found = [name for _, name, _, _ in string.Formatter().parse(path) if name]
    except ValueError:
        return []
    return [name for name in found if name.isidentifier() and name not in ("epoch", "batch")]


def _only_best(site: Site) -> bool:
    value = site.argument(3, "save_best_only")
    return isinstance(value, Constant) and value.value is True


def text_given(
    program: Program, site: Site, position: int, parameter: str, default: str | None
) -> str | None:
    """Return the text argument of a call.

    The default where it is missing; None where it is unknown.
    """
    written = site.call.argument(position, parameter)
    if written is None:
        return default
    value = constant(written)
    if value is MISSING:
        given = alternatives(site.argument(position, parameter))
        value = given[0].value if len(given) == 1 and isinstance(given[0], Constant) else None
        if value is None:
            found = written_constant(program, written, site.scope, site.call.block)
            value = found.value if found is not None else None
    return value if isinstance(value, str) else None


def is_validated(fit: Site) -> bool:
    """Tell whether a `fit` has validation data."""
    for position, parameter in ((6, "validation_split"), (7, "validation_data")):
        written = fit.call.argument(position, parameter)
        if written is None:
            continue
        value = fit.argument(position, parameter)
        if not (isinstance(value, Constant) and not value.value):
            return True
    return False


def callbacks_of(program: Program, fit: Site) -> list[Site]:
    """Return the calls that make a `fit` call's callbacks."""
    found: list[Site] = []
    written = fit.call.argument(5, "callbacks")
    if written is None:
        return found
    found += calls_in(program, written, fit.scope)
    for value in alternatives(fit.argument(5, "callbacks")):
        for item in value.items if isinstance(value, Items) else (value,):
            for one in alternatives(item):
                if isinstance(one, Made) and one.site is not None and one.site not in found:
                    found.append(one.site)
                elif isinstance(one, Instance):
                    base = call_of_base(program, one.scope)
                    found += [base] if base is not None and base not in found else []
    return [site for site in found if site.name.startswith("keras.callbacks.")]


@once
def call_of_base(program: Program, owner: Scope) -> Site | None:
    """Return the `__init__` call of a custom callback's Keras base, or None.

    None where the class changes the values that its base is given.
    """
    classes, outside = program.bases(owner)
    kinds = [name for name in outside if name.startswith("keras.callbacks.")]
    if len(kinds) != 1 or len(outside) != 1:
        return None
    own = {name for item in classes for name in item.children}
    if own & {"get_monitor_value", "set_params", "_set_monitor_op"}:
        return None
    sites = [
        site
        for site in flow_of(program).named(f"{kinds[0]}.__init__")
        if program.owner(site.scope) in classes and not site.targets
    ]
    for scope in (scope for item in classes for scope in item.module.summary.scopes):
        if scope.kind != "function" or program.owner(scope) not in classes:
            continue
        if any(
            isinstance(target, Subscript)
            or (isinstance(target, Attribute) and target.attribute in ("monitor", "mode", "filepath"))
            for event in scope.events()
            for target in event.targets
        ) or any(call.method in ("update", "setdefault") for call in scope.calls):
            return None
    return sites[0] if len(sites) == 1 else None


def _kind_of(site: Site) -> str:
    """Return the class name of the callback that a call makes or initializes."""
    return site.name.removesuffix(".__init__").rpartition(".")[2]


def _measured_names(program: Program, fit: Site) -> frozenset[str] | None:
    """Return the names of a model's metrics without `val_`, or None."""
    models = alternatives(fit.receiver)
    model = models[0] if len(models) == 1 else None
    if not isinstance(model, Made) or model.name not in _PLAIN_MODELS:
        return None
    measured, logged = _measured_by(program, model), _names_logged(program)
    if measured is None or logged is None:
        return None
    return measured | {name.removeprefix("val_") for name in logged}


@once
def _names_logged(program: Program) -> frozenset[str] | None:
    """Return the names that custom callbacks add to the logs.

    None where a name is unknown. Each callback sees the names of those before it.
    """
    names: set[str] = set()
    for module in program.modules:
        for scope in module.summary.scopes:
            if scope.kind != "function" or not any(item.name == _LOGS for item in scope.params):
                continue
            for event in scope.events():
                for target in event.targets:
                    if isinstance(target, Subscript) and is_name(target.base, _LOGS):
                        key = constant(target.index)
                        if not isinstance(key, str):
                            return None
                        names.add(key)
            for call in scope.calls_on(_LOGS, "update", "setdefault"):
                key = constant(call.args[0]) if call.args else None
                if call.method == "setdefault" and isinstance(key, str):
                    names.add(key)
                else:
                    given = call.args[0] if len(call.args) == 1 else None
                    keys = (
                        [constant(item) if item is not None else None for item, _ in given.entries]
                        if isinstance(given, Dictionary)
                        else [None]
                    )
                    if call.opaque or not all(isinstance(item, str) for item in keys):
                        return None
                    names.update(str(item) for item in keys)
                    names.update(name for name, _ in call.keywords if name is not None)
    return frozenset(names)


_LOGS = "logs"


@once
def _measured_by(program: Program, model: Made) -> frozenset[str] | None:
    names: set[str] = set()
    compiled = False
    for site in compiles_of(program, model):
        if site.name not in KERAS_COMPILES:
            continue
        compiled = True
        if site.call.opaque:
            return None
        for position, parameter in ((3, "metrics"), (4, "weighted_metrics")):
            if site.call.argument(position, parameter) is None:
                continue
            for value in alternatives(site.argument(position, parameter)):
                found = _metric_names(program, value)
                if found is None:
                    return None
                names.update(found)
    return frozenset({*names, "loss"}) if compiled else None


_NO_DIRECTION = "a function of your own says of no direction, so mode='auto' raises ValueError at the end of the first epoch"


def _without_direction(program: Program, fit: Site) -> frozenset[str]:
    """Return the names of a model's metric functions, which have no known direction."""
    models = alternatives(fit.receiver)
    if len(models) != 1 or not isinstance(models[0], (Made, Instance)):
        return frozenset()
    compiles = [site for site in compiles_of(program, models[0]) if site.name in KERAS_COMPILES]
    given: list[set[str]] = []
    for site in compiles:
        found: set[str] = set()
        for position, parameter in ((3, "metrics"), (4, "weighted_metrics")):
            for value in alternatives(site.argument(position, parameter)):
                for item in value.items if isinstance(value, Items) else (value,):
                    one = alternatives(item)
                    if len(one) == 1 and isinstance(one[0], Function) and one[0].scope.kind == "function":
                        found.add(one[0].scope.name)
        given.append(found)
    return frozenset(set.intersection(*given)) - {"loss"} if given else frozenset()


def _metric_names(program: Program, value: Value) -> list[str] | None:
    """Return the names of the metrics in a value, or None if any is unknown."""
    if isinstance(value, Constant):
        return [] if value.value is None else [value.value] if isinstance(value.value, str) else None
    if isinstance(value, Items):
        found: list[str] = []
        for item in value.items:
            for one in alternatives(item):
                names = _metric_names(program, one)
                if names is None:
                    return None
                found += names
        return found
    if isinstance(value, Function):
        return [value.scope.name]
    if isinstance(value, External) and value.name.startswith("keras."):
        return [value.name.rpartition(".")[2]]
    if isinstance(value, Made) and value.site is not None and value.name.startswith("keras.metrics."):
        if value.site.call.opaque:
            return None
        given = value.site.call.keyword("name")
        if given is not None:
            name = constant(given)
            return [name] if isinstance(name, str) else None
        if value.site.args:
            # Some metrics take their name first, others a number.
            return None
        return [_name_of(value.name.rpartition(".")[2])]
    if isinstance(value, Instance):
        return _name_by_class(program, value.scope)
    return None


def _name_by_class(program: Program, owner: Scope) -> list[str] | None:
    """Return the only name that metrics of a custom class have, as a list, or None."""
    scopes = owner.module.summary.scopes
    number = owner.children.get("__init__")
    if number is None or not any(text(base).endswith("metrics.Metric") for base in owner.bases):
        return None
    constructor = scopes[number]
    makes = [
        call
        for call in constructor.calls
        if isinstance(call.func, Attribute) and call.func.attribute == "__init__"
    ]
    given = makes[0].keyword("name") if len(makes) == 1 else None
    if given is None or any(
        isinstance(target, Attribute) and target.attribute == "name"
        for event in constructor.events()
        for target in event.targets
    ):
        return None
    names = {constant_of(program, constructor, given, caller) for caller in callers_of(program, constructor)}
    name = names.pop() if len(names) == 1 else None
    return [name] if isinstance(name, str) else None


def _name_of(kind: str) -> str:
    """Return the name that Keras gives to a metric of a class."""
    found = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", kind)
    return _OWN_NAMES.get(kind, re.sub(r"([a-z])([A-Z])", r"\1_\2", found).lower())


def _is_of(base: str, measured: frozenset[str]) -> bool:
    """Tell whether a name is a measured one, also with an output's name or a number."""
    plain = re.sub(r"_\d+$", "", base)
    return any(name in (base, plain) or base.endswith(f"_{name}") for name in measured)


def _log_names(measured: frozenset[str], *, validated: bool) -> Iterable[str]:
    yield from measured
    if validated:
        yield from (f"val_{name}" for name in measured)


_BETTER_LOW = re.compile(
    r"(?:val_)?(?:\w+_)?(?:loss|mse|mae|rmse|mape|mean_squared_error|mean_absolute_error|error|perplexity)"
)
_BETTER_HIGH = re.compile(
    r"(?:val_)?(?:\w+_)?(?:acc|accuracy|auc|precision|recall|f1|f1_score|iou|mean_io_u|dice|dice_coef|dice_coefficient)"
)


def wrong_direction(program: Program) -> Iterator[Hit]:
    """Find callbacks that take the worst value for the best."""
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).named(
        "keras.callbacks.ModelCheckpoint",
        "keras.callbacks.EarlyStopping",
        "keras.callbacks.ReduceLROnPlateau",
    ):
        key = id(site.scope), site.call.number
        if key in seen or site.call.opaque:
            continue
        seen.add(key)
        kind = _kind_of(site)
        asked = site.call.argument(_POSITIONS[kind], "monitor")
        given = site.call.argument(_MODES[kind], "mode")
        for caller in callers_of(program, site.scope):
            known = constant_of(program, site.scope, asked, caller)
            monitor = (
                known
                if isinstance(known, str)
                else text_given(program, site, _POSITIONS[kind], "monitor", "val_loss")
            )
            said = constant_of(program, site.scope, given, caller)
            mode = said if isinstance(said, str) else text_given(program, site, _MODES[kind], "mode", None)
            better = _turned_round(monitor or "", mode)
            if better is not None:
                break
        else:
            continue
        if given is None:
            continue
        if site.name.endswith("ModelCheckpoint") and not _only_best(site):
            # It keeps every epoch then.
            continue
        yield hit_in(
            site.scope,
            place_of(given, site.scope) or site.call.name_place,
            site.call.block,
            {
                "monitor": monitor,
                "mode": mode,
                "callback": _kind_of(site),
                "then": {
                    "ModelCheckpoint": "the worst model is kept",
                    "EarlyStopping": "the run stops while it gets better",
                }.get(_kind_of(site), "the rate falls while the run gets better"),
            },
            rewrites=(Rewrite("replace", site.scope, given.place, f'"{better}"'),)
            if isinstance(given, Literal)
            else (),
        )


def _turned_round(monitor: str, mode: object) -> str | None:
    """Return the right mode for a watched value where the given one is wrong, or None."""
    better = "max" if _BETTER_HIGH.fullmatch(monitor) else "min" if _BETTER_LOW.fullmatch(monitor) else None
    return better if mode in ("min", "max") and mode != better else None
