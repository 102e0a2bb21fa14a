"""What several workers and replicas need: the cluster told in time, and a loss that is divided by the whole batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cfgfix.code.checks.common import bound_once, in_tests
from cfgfix.code.inference.environment import environment_of
from cfgfix.code.inference.hot_paths import inside
from cfgfix.code.model.expressions import constant, dotted
from cfgfix.code.model.hit import Hit, at
from cfgfix.code.model.program import Module, Program
from cfgfix.code.model.summary import BINARY, CALL, CONSTANT, ITEMS, NAME, Call, Event, Expr, Scope
from cfgfix.code.model.values import Made, Site, Value, alternatives, functions_of

NEEDLES = (b"TF_CONFIG", b"Strategy")

_READS_CLUSTER = (
    "tensorflow.distribute.MultiWorkerMirroredStrategy",
    "tensorflow.distribute.experimental.MultiWorkerMirroredStrategy",
    "tensorflow.distribute.cluster_resolver.TFConfigClusterResolver",
)
_CLUSTER = "TF_CONFIG"
_STARTS_PROCESSES = ("subprocess.", "multiprocessing.", "os.system", "os.exec", "os.spawn", "os.fork")


def cluster_told_late(program: Program) -> Iterator[Hit]:
    """`TF_CONFIG` set behind the strategy that has read it when it was made."""
    seen: set[int] = set()
    for made in program.flow.named(*_READS_CLUSTER):
        scope = made.scope
        module = scope.module
        if in_tests(scope) or id(scope) in seen or made.call.args or made.call.keywords:
            continue
        told = [item for item in environment_of(program, module) if item[1] == _CLUSTER]
        here = [item for item in told if item[0] is scope]
        if len(here) != len(told) or not here or _asked(module) or _starts_processes(program, module):
            continue
        _, _, value, event, place = here[0]
        if event.place[:2] < made.call.place[:2] or not inside(scope, event.block, made.call.block):
            continue
        if value is None or (value[0] == CONSTANT and not value[1]) or _made_again(program, made, event):
            continue
        if any(
            other is not module and any(name == _CLUSTER for _, name, *_ in environment_of(program, other))
            for other in program.modules
        ):
            continue
        seen.add(id(scope))
        yield Hit(
            scope,
            place,
            event.block,
            {"maker": made.name.rpartition(".")[2], "line": made.call.name_place[0]},
            needs=((scope, made.call.block),),
            related=(at(made, label="TF_CONFIG is read here"),),
        )


def _asked(module: Module) -> bool:
    """Tell whether a file looks whether `TF_CONFIG` is there already: it may come from outside."""
    return any(
        call.args and constant(call.args[0]) == _CLUSTER and call.method in ("get", "getenv", "pop")
        for scope in module.summary.scopes
        for call in scope.calls
    )


def _starts_processes(program: Program, module: Module) -> bool:
    """Tell whether a file starts processes, which take over its variables."""
    return any(
        site.name.startswith(_STARTS_PROCESSES)
        for scope in module.summary.scopes
        for site in program.flow.within(scope)
    )


def _made_again(program: Program, made: Site, event: Event) -> bool:
    """Tell whether a strategy is made behind the statement, or in another scope of the file: that one may read it in time."""
    return any(
        other.scope.module is made.scope.module
        and (other.scope is not made.scope or other.call.place[:2] > event.place[:2])
        for other in program.flow.named(*_READS_CLUSTER)
    )


_STRATEGIES = (
    "tensorflow.distribute.MirroredStrategy",
    "tensorflow.distribute.MultiWorkerMirroredStrategy",
    "tensorflow.distribute.experimental.MultiWorkerMirroredStrategy",
    "tensorflow.distribute.TPUStrategy",
    "tensorflow.distribute.experimental.TPUStrategy",
)
_MEANS = ("tensorflow.reduce_mean", "tensorflow.math.reduce_mean", "keras.backend.mean", "keras.ops.mean")
_EACH_EXAMPLE = (
    "tensorflow.nn.",
    "tensorflow.square",
    "tensorflow.abs",
    "tensorflow.math.",
    "keras.losses.",
)
_RESCALES = (
    "keras.optimizers.Adam",
    "keras.optimizers.RMSprop",
    "keras.optimizers.Adagrad",
    "keras.optimizers.Nadam",
    "keras.optimizers.Lion",
)
"""Optimizers whose steps are as long for a gradient that is N times as large."""


def mean_for_each_replica(program: Program) -> Iterator[Hit]:
    """A loss that is the mean over a replica's part of the batch, though gradients are added up over the replicas."""
    seen: set[int] = set()
    for strategy in _STRATEGIES:
        for site in program.flow.under(strategy):
            if site.call.method not in ("run", "experimental_run_v2") or in_tests(site.scope):
                continue
            if not all(_several(value) for value in alternatives(site.receiver)):
                continue
            for function in functions_of(site.argument(0, "fn")):
                scope = function.scope
                if id(scope) in seen:
                    continue
                found = _step_of_mean(program, scope)
                if found is None:
                    continue
                seen.add(id(scope))
                mean, applied, rescales = found
                summed = _summed(site.scope)
                yield Hit(
                    scope,
                    mean.name_place,
                    mean.block,
                    {"step": scope.qualname.rpartition(".")[2], "line": applied.call.name_place[0]},
                    severity=None if summed or not rescales else "info",
                    flow=(at(site, label="runs it on each replica"),),
                    related=(at(applied, label="gradients are added up over the replicas"),),
                )


def _several(value: Value) -> bool:
    """Tell whether a strategy is not told to use a single device."""
    if not isinstance(value, Made) or value.site is None or value.name not in _STRATEGIES:
        return False
    devices = value.site.call.argument(0, "devices")
    return not value.name.endswith(".MirroredStrategy") or (
        devices is None or (devices[0] == ITEMS and len(devices[2]) > 1)
    )


def _step_of_mean(program: Program, scope: Scope) -> tuple[Call, Site, bool] | None:
    """Return the mean that a step takes gradients of, where they are applied, and whether that is the same for a larger one."""
    if any(call.method in ("all_reduce", "merge_call", "compute_average_loss") for call in scope.calls):
        return None
    sites = {site.call.number: site for site in program.flow.within(scope)}
    for call in scope.calls:
        if call.method != "apply_gradients" or call.keyword("skip_gradients_aggregation") is not None:
            continue
        applied = sites.get(call.number)
        if applied is None or call.keyword("experimental_aggregate_gradients") is not None:
            continue
        made = [value.name for value in alternatives(applied.receiver) if isinstance(value, Made)]
        if not made or not all(name.startswith("keras.optimizers.") for name in made):
            continue
        taken = _gradients(scope, call)
        target = _value(scope, taken.argument(0, "target"), taken) if taken is not None else None
        if target is None or target[0] != CALL:
            continue
        mean = scope.calls[target[1]]
        found = sites.get(mean.number)
        if found is None or found.name not in _MEANS or len(mean.args) != 1 or mean.keywords:
            continue
        if _one_for_each_example(program, sites, scope, mean):
            return mean, applied, all(name.startswith(_RESCALES) for name in made)
    return None


def _gradients(scope: Scope, call: Call) -> Call | None:
    """Return the call of `gradient` whose result is applied as it is: `zip(gradients, variables)`."""
    pairs = _value(scope, call.argument(0, "grads_and_vars"), call)
    if pairs is None or pairs[0] != CALL:
        return None
    inner = scope.calls[pairs[1]]
    if inner.func[:2] != (NAME, "zip") or len(inner.args) != 2:
        return None
    given = _value(scope, inner.args[0], call)
    if given is None or given[0] != CALL:
        return None
    taken = scope.calls[given[1]]
    return taken if taken.method == "gradient" else None


def _value(scope: Scope, expr: Expr | None, call: Call) -> Expr | None:
    """Return what the only statement that binds a name in the scope gives it; another expression as it is."""
    if expr is None or expr[0] != NAME:
        return expr
    bound = bound_once(scope, expr[1], call.block)
    return bound[0] if bound is not None and bound[1] is scope else None


def _one_for_each_example(program: Program, sites: dict[int, Site], scope: Scope, mean: Call) -> bool:
    """Tell whether a mean is over losses of single examples: Keras divides a loss that it has reduced itself by the replicas."""
    inner = _value(scope, mean.args[0], mean)
    if inner is None:
        return False
    if inner[0] == BINARY:
        return bool(inner[1] == "**")
    if inner[0] != CALL:
        return False
    call = scope.calls[inner[1]]
    site = sites.get(call.number)
    if (
        site is not None
        and site.name.startswith(_EACH_EXAMPLE)
        and site.name.rpartition(".")[2][:1].islower()
    ):
        return site.name not in _MEANS and not site.name.endswith(
            (".reduce_sum", ".compute_average_loss", ".scale_regularization_loss")
        )
    made = alternatives(program.flow.stands_for(scope, call.func))
    return bool(made) and all(
        isinstance(value, Made)
        and value.name.startswith("keras.losses.")
        and value.site is not None
        and _unreduced(value.site)
        for value in made
    )


def _unreduced(made: Site) -> bool:
    given = made.call.keyword("reduction")
    return given is not None and (
        constant(given) in ("none", None)
        if given[0] == CONSTANT
        else (dotted(given) or "").endswith(".Reduction.NONE")
    )


def _summed(scope: Scope) -> bool:
    """Tell whether a function adds up over the replicas what it gets from them."""
    for call in scope.calls:
        if call.method == "reduce" and call.args:
            how = call.argument(0, "reduce_op")
            if how is not None and (
                constant(how) in ("sum", "SUM") or (dotted(how) or "").endswith("ReduceOp.SUM")
            ):
                return True
    return False


def check(program: Program) -> Iterable[Hit]:
    """The group's first rule."""
    return cluster_told_late(program)
