"""Callbacks that end trainings or lower rates, and weights saved at the end."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.fitting import FITS
from cfgfix.code.checks.guarded_calls import may_run_together
from cfgfix.code.checks.monitors import callbacks_of, is_fit_of_keras, is_validated, text_given
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import dotted
from cfgfix.code.model.hit import Rewrite, Step, at, hit_in
from cfgfix.code.model.nodes import Call
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import (
    Constant,
    Site,
    alternatives,
)
from cfgfix.rules.hit import Hit


def stopped_before_lowered(program: Program) -> Iterator[Hit]:
    """Find learning rates that would be lowered only after the training stops."""
    seen: set[tuple[int, int]] = set()
    for fit in flow_of(program).named(*FITS):
        callbacks = callbacks_of(program, fit)
        stops, lowers = (
            [site for site in callbacks if site.name == f"keras.callbacks.{kind}"]
            for kind in ("EarlyStopping", "ReduceLROnPlateau")
        )
        if len(stops) != 1 or len(lowers) != 1 or stops[0].call.opaque or lowers[0].call.opaque:
            continue
        stop, lower = stops[0], lowers[0]
        if any(text_given(program, site, 0, "monitor", "val_loss") is None for site in (stop, lower)):
            continue
        early, late = _patience_in_epochs(stop, 0), _patience_in_epochs(lower, 10)
        if (
            early is None
            or late is None
            or early > late
            or text_given(program, stop, 0, "monitor", "val_loss")
            != text_given(program, lower, 0, "monitor", "val_loss")
            or stop.call.keyword("start_from_epoch") is not None
            or (id(lower.scope), lower.call.number) in seen
            or written_for_one(program, fit.scope)
        ):
            continue
        seen.add((id(lower.scope), lower.call.number))
        yield hit_in(
            lower.scope,
            lower.call.name_place,
            lower.call.block,
            {"early": early, "late": late, "monitor": text_given(program, stop, 0, "monitor", "val_loss")},
            needs=((stop.scope, stop.call.block), (fit.scope, fit.call.block)),
            related=(at(stop, label="stops the training"), at(fit, label="both run here")),
        )


def _patience_in_epochs(site: Site, default: int) -> int | None:
    """Return the patience of a callback in epochs, or None."""
    if site.call.argument(2, "patience") is None:
        return default
    found = alternatives(site.argument(2, "patience"))
    item = found[0] if len(found) == 1 else None
    return item.value if isinstance(item, Constant) and type(item.value) is int else None


def last_weights_saved(program: Program) -> Iterator[Hit]:
    """Find models saved with their last weights after early stopping."""
    seen: set[tuple[int, int]] = set()
    for fit in flow_of(program).named(*FITS):
        scope, model = fit.scope, dotted(fit.call.receiver)
        key = id(scope), fit.call.number
        if model is None or key in seen or fit.call.opaque or not is_fit_of_keras(fit):
            continue
        seen.add(key)
        callbacks = callbacks_of(program, fit)
        stops = [site for site in callbacks if site.name == "keras.callbacks.EarlyStopping"]
        if len(stops) != 1 or any(site.name not in _KEEP_NO_WEIGHTS for site in callbacks):
            continue
        stop = stops[0]
        patience = _patience_in_epochs(stop, 0)
        monitor = text_given(program, stop, 0, "monitor", "val_loss")
        if (
            stop.call.opaque
            or not patience
            or stop.call.argument(6, "restore_best_weights") is not None
            or not (monitor or "").startswith("val_")
            or not is_validated(fit)
            or _ends_before(fit, patience)
            or not may_run_together([fit, stop])
            or written_for_one(program, scope)
        ):
            continue
        saved = _saved_behind(scope, fit, model)
        if saved is None:
            continue
        yield hit_in(
            stop.scope,
            stop.call.name_place,
            stop.call.block,
            {"patience": patience, "monitor": monitor, "line": saved.name_line},
            needs=((scope, fit.call.block), (scope, saved.block)),
            related=(
                at(fit, label="it ends this training"),
                Step(scope, saved.name_place, saved.block, "the weights of the last epoch are saved here"),
            ),
            rewrites=(Rewrite("keyword", stop.scope, stop.call.place, "True", "restore_best_weights"),),
        )


_KEEP_NO_WEIGHTS = frozenset(
    f"keras.callbacks.{name}"
    for name in (
        "BackupAndRestore",
        "CSVLogger",
        "EarlyStopping",
        "LearningRateScheduler",
        "ProgbarLogger",
        "ReduceLROnPlateau",
        "TensorBoard",
        "TerminateOnNaN",
    )
)


"""Callbacks that put no weights aside from which the best could be taken."""


_SAVES = frozenset({"save", "save_weights", "export"})


_OTHER_WEIGHTS = frozenset({"load_weights", "set_weights", "fit", "train_on_batch"})


def _ends_before(fit: Site, patience: int) -> bool:
    """Tell whether a training has no more epochs than a callback's patience."""
    written = fit.call.argument(3, "epochs")
    found = alternatives(fit.argument(3, "epochs"))
    item = found[0] if len(found) == 1 else None
    if isinstance(item, Constant) and type(item.value) is int:
        return item.value <= patience
    return written is None


def _saved_behind(scope: Scope, fit: Site, model: str) -> Call | None:
    """Return the call that saves a model after its training, or None.

    None where the weights are replaced in between.
    """
    around = set(scope.block_numbers(fit.call.block))
    own = scope.calls_of(*_SAVES, *_OTHER_WEIGHTS, "save_model")
    for call in sorted(own, key=lambda item: item.place):
        if call.place.start <= fit.call.place.start:
            continue
        by_method = dotted(call.receiver) == model
        if call.method in _OTHER_WEIGHTS:
            if by_method:
                return None
        elif call.block in around and (
            by_method or (call.method == "save_model" and bool(call.args) and dotted(call.args[0]) == model)
        ):
            return None if _is_another(scope, model, fit.call, call) else call
    return None


def _is_another(scope: Scope, model: str, fit: Call, saved: Call) -> bool:
    """Tell whether a model's name is rebound between training and saving."""
    return any(
        fit.place.end <= event.place.start < saved.place.start
        for event in scope.events_of("assign", "for", "with")
        if any(dotted(target) == model for target in event.targets)
    )
