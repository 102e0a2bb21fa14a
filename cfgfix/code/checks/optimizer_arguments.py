"""Arguments of optimizers whose name or value changed: `lr`, `decay`, a rate that is an integer."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.callees import head
from cfgfix.code.checks.common import is_library_demo
from cfgfix.code.checks.guarded_calls import number
from cfgfix.code.checks.optimizers import first_new
from cfgfix.code.inference.eras import (
    release_in_words,
    severity_by_keras_releases,
    written_for_one,
)
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.references import (
    api,
    is_bound_twice,
    is_keras_2,
)
from cfgfix.code.inference.releases import (
    keras_of_release,
    modules_of_keras_2,
)
from cfgfix.code.model.expressions import constant, dotted, text
from cfgfix.code.model.hit import Rewrite, hit_at
from cfgfix.code.model.nodes import Expr, Literal
from cfgfix.code.model.program import Program
from cfgfix.code.model.values import Site
from cfgfix.rules.hit import Hit


def passed_over(program: Program, _check: object) -> frozenset[int]:
    """Return the ids of the modules that the checks of this group skip."""
    return modules_of_keras_2(program)


def _optimizers_given(program: Program, parameter: str) -> Iterator[tuple[Site, Expr, bool, bool]]:
    """Yield calls of Keras optimizers that are given a parameter, and its value.

    The first flag says whether the newest release is Keras 3, the second whether any release that the
    project asks for takes the parameter as it is meant: Keras 2 before its new optimizers.
    """
    table = api(program)
    workers = table.accepts("keras.Model.fit", "workers")
    if table.silent or workers is None or is_keras_2(program):
        return
    three = not workers & table.newest
    requirement = table.requirement
    for site in flow_of(program).under("keras.optimizers."):
        # Every release before the new optimizers, by its patches: the table has only some.
        takes = bool(requirement.of_two(range(first_new(site))))
        if takes and not three:
            # Everything the project asks for up to some release before Keras 3: the newest decides.
            continue
        if site.name.count(".") != 2 or site.raw.startswith("tensorflow.python."):
            # The copy of Keras inside TensorFlow is never Keras 3.
            continue
        if not site.name.rpartition(".")[2][:1].isupper() or not keras_of_release(program, site.scope):
            continue
        value = (
            site.call.argument(0, parameter) if parameter == "learning_rate" else site.call.keyword(parameter)
        )
        if (
            value is not None
            and not is_bound_twice(site.scope, head(site.call.func))
            and not written_for_one(program, site.scope)
        ):
            yield site, value, three, takes


_SET_RATES = frozenset({"LearningRateScheduler", "LRScheduler"})


def _loses_rate(site: Site) -> bool:
    """Tell whether a lost learning rate changes the training.

    It does not where a callback of the file sets the rate, or in a demonstration of a library.
    """
    calls = [call for scope in site.scope.module.summary.scopes for call in scope.calls]
    if any((dotted(call.func) or "").rpartition(".")[2] in _SET_RATES for call in calls):
        return False
    return not is_library_demo(site.scope, site.call.block)


_DEFAULTS = {"SGD": 0.01, "Lion": 0.0001}
"""Default rates of optimizers that have another than 0.001 (Keras 2.15.0, `keras/src/optimizers`)."""


def _is_default(site: Site) -> bool:
    """Tell whether a lost learning rate equals the optimizer's default."""
    rate = constant(site.call.keyword("lr"))
    return bool(rate == _DEFAULTS.get(site.name.rpartition(".")[2], 0.001))


def _is_refused(site: Site) -> bool:
    decay = site.call.keyword("decay")
    return decay is not None and not (isinstance(decay, Literal) and decay.value is None)


def optimizer_lr(program: Program) -> Iterator[Hit]:
    """Find `lr=` of an optimizer.

    It raises in Keras 3, and the new optimizers of Keras 2 drop it.
    """
    for site, _, three, takes in _optimizers_given(program, "lr"):
        if not three and _is_refused(site):
            # The new optimizers of Keras 2 raise for `decay` first, which is told.
            continue
        yield hit_at(
            site,
            values={
                "optimizer": site.name.rpartition(".")[2],
                "what": "raises ValueError in Keras 3"
                if three
                else "is ignored from TensorFlow 2.11 on, so the learning rate begins at the default",
                "asked": release_in_words(api(program)),
            },
            severity="info"
            if not three and _is_default(site)
            else severity_by_keras_releases(api(program), "warning")
            if takes
            else None
            if three or _loses_rate(site)
            else "warning",
            rewrites=(Rewrite("rename-keyword", site.scope, site.call.place, "learning_rate", "lr"),)
            if site.call.keyword("learning_rate") is None
            else (),
        )


def optimizer_integer(program: Program) -> Iterator[Hit]:
    """Find learning rates that are integers, which Keras 3 refuses."""
    for site, value, three, _ in _optimizers_given(program, "learning_rate"):
        rate = number(site.argument(0, "learning_rate"))
        if not three or rate is None or site.call.keyword("lr") is not None:
            continue
        two = api(program).requirement.of_two(range(16))
        yield hit_at(
            site,
            values={
                "optimizer": site.name.rpartition(".")[2],
                "rate": rate,
                "asked": release_in_words(api(program)),
            },
            severity=severity_by_keras_releases(api(program), "warning") if two else None,
            rewrites=(Rewrite("replace", site.scope, value.place, f"{rate}.0"),)
            if isinstance(value, Literal)
            else (),
            no_fix="the number stands elsewhere, and may be used there as an integer",
        )


def optimizer_decay(program: Program) -> Iterator[Hit]:
    """Find `decay=` of an optimizer.

    Keras 3 ignores it, and the new optimizers of Keras 2 refuse it.
    """
    for site, value, three, takes in _optimizers_given(program, "decay"):
        if not _is_refused(site):
            continue
        if three and (
            site.call.keyword("lr") is not None or number(site.argument(0, "learning_rate")) is not None
        ):
            # That raises: a rate has to be a float (Keras 3.15, keras/src/optimizers/base_optimizer.py:176).
            continue
        rate = site.call.argument(0, "learning_rate")
        zero = isinstance(value, Literal) and value.value == 0
        weights = "weight_decay" in text(value).lower()
        yield hit_at(
            site,
            values={
                "optimizer": site.name.rpartition(".")[2],
                "does": "ignores" if three else "refuses",
                "where": "in Keras 3" if three else "from TensorFlow 2.11 to 2.15 (ValueError)",
                "instead": "0 does nothing anyway"
                if zero
                else "the weights are not decayed; weight_decay is for that"
                if weights
                else "the learning rate never falls; give it a schedule"
                if (rate is None or isinstance(rate, Literal)) and _loses_rate(site)
                else "it does not make the learning rate fall",
            },
            severity="info"
            if zero and three
            else severity_by_keras_releases(api(program), "warning")
            if takes
            else None,
            rewrites=(Rewrite("drop-keyword", site.scope, site.call.place, name="decay"),) if zero else (),
        )
