"""Settings for several workers and replicas: `TF_CONFIG` and the loss."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cfgfix.code.checks.bindings import bound_once
from cfgfix.code.checks.common import in_tests
from cfgfix.code.checks.guarded_calls import number
from cfgfix.code.checks.models import model_calls
from cfgfix.code.checks.order import named_for_evaluation
from cfgfix.code.checks.pipelines import pipelines_to, possible
from cfgfix.code.inference.entry_points import imports_of, modules_sharing_runs
from cfgfix.code.inference.environment import Variable, environment_of
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import inside
from cfgfix.code.model.expressions import MISSING, constant, dotted, is_name, walk
from cfgfix.code.model.hit import Rewrite, Step, at, hit_at, hit_in
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import (
    Attribute,
    Binary,
    Call,
    Collection,
    Comprehension,
    Dictionary,
    Expr,
    Literal,
    Name,
    Place,
    Starred,
    Subscript,
    Unary,
)
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Dataset, Made, Site, Value, alternatives, first_dataset, functions_of
from cfgfix.code.tensorflow.cluster import UNKNOWN, cluster_faults
from cfgfix.rules.hit import Hit

_READS_CLUSTER = (
    "tensorflow.distribute.MultiWorkerMirroredStrategy",
    "tensorflow.distribute.experimental.MultiWorkerMirroredStrategy",
    "tensorflow.distribute.cluster_resolver.TFConfigClusterResolver",
)
_CLUSTER = "TF_CONFIG"
_STARTS_PROCESSES = ("subprocess.", "multiprocessing.", "os.system", "os.exec", "os.spawn", "os.fork")


def cluster_set_late(program: Program) -> Iterator[Hit]:
    """Find `TF_CONFIG` set after the strategy that reads it was made."""
    told = [
        item
        for module in program.modules
        for item in environment_of(program, module)
        if item[1] == _CLUSTER and not in_tests(item[0])
    ]
    if not told:
        return
    for item in told:
        if item[2] is None or (isinstance(item[2], Literal) and not item[2].value):
            return
        if _asks_for_tf_config(item[0].module) or _starts_processes(program, item[0].module):
            return
    for scope, made, place, block in _made_in(program):
        if in_tests(scope) or _asks_for_tf_config(scope.module):
            continue
        late = [_set_in(program, scope, item) for item in told]
        behind = [item for item in late if item is not None and item[0].start > place.start]
        if not behind or len(behind) < len(told) or not all(inside(scope, item[1], block) for item in behind):
            continue
        if _made_again(program, made, behind[-1][0], scope):
            continue
        where, _, _, _, set_at = told[0]
        yield hit_in(
            where,
            set_at,
            told[0][3].block,
            {"maker": made.name.rpartition(".")[2], "line": made.call.name_line},
            needs=((scope, block), (made.scope, made.call.block)),
            related=(
                at(made, label="TF_CONFIG is read here"),
                *(
                    (Step(scope, place, block, "and that comes first"),)
                    if made.scope is not scope or where is not scope
                    else ()
                ),
            ),
        )
        return


def _made_in(program: Program) -> Iterator[tuple[Scope, Site, Place, int]]:
    """Yield the scopes in which a strategy that reads `TF_CONFIG` is made.

    They make it themselves, by a function, or by an import. Each comes with the call that makes the
    strategy, and the place and block.
    """
    makers = [
        site for site in flow_of(program).named(*_READS_CLUSTER) if not (site.call.args or site.call.keywords)
    ]
    for made in makers:
        yield made.scope, made, made.call.place, made.call.block
        if made.scope.kind == "module":
            for module in program.modules:
                if module is made.scope.module:
                    continue
                for source, scope, event in imports_of(module):
                    if event is not None and made.scope.module in (
                        program.module(source, module),
                        program.module(source.rpartition(".")[0], module),
                    ):
                        yield scope, made, event.place, event.block
        pending, seen = [made.scope], {id(made.scope)}
        while pending and len(seen) < 20:
            for caller in flow_of(program).callers(pending.pop()):
                yield caller.scope, made, caller.call.place, caller.call.block
                if id(caller.scope) not in seen:
                    seen.add(id(caller.scope))
                    pending.append(caller.scope)


def _set_in(program: Program, scope: Scope, item: Variable) -> tuple[Place, int] | None:
    """Return the place and block at which a scope sets a variable, or None.

    Its own statement counts, or the first call of the function that holds the statement.
    """
    if item[0] is scope:
        return item[3].place, item[3].block
    found = [
        (site.call.place, site.call.block)
        for site in flow_of(program).within(scope)
        if any(target.scope is item[0] for target in site.targets)
    ]
    return min(found) if found else None


def _asks_for_tf_config(module: Module) -> bool:
    """Tell whether a file reads `TF_CONFIG`, which may then come from outside."""
    return any(
        call.args and constant(call.args[0]) == _CLUSTER and call.method in ("get", "getenv", "pop")
        for scope in module.summary.scopes
        for call in scope.calls
    )


def _starts_processes(program: Program, module: Module) -> bool:
    """Tell whether a file starts processes, which inherit its variables."""
    return any(
        site.name.startswith(_STARTS_PROCESSES)
        for scope in module.summary.scopes
        for site in flow_of(program).within(scope)
    )


def _made_again(program: Program, made: Site, told: Place, scope: Scope) -> bool:
    """Tell whether another strategy is made after a statement or in another scope.

    That one may read the variable in time.
    """
    return any(
        (other.scope is not scope and other.call is not made.call)
        or (other.scope is scope and other.call.place.start > told.start)
        for other in flow_of(program).named(*_READS_CLUSTER)
        if not in_tests(other.scope)
    )


# TF_CONFIG as the program writes it


def cluster_in_code(program: Program) -> Iterator[Hit]:
    """Find a `TF_CONFIG` in code that TensorFlow refuses or waits over."""
    for module in program.modules:
        for scope, name, value, event, place in environment_of(program, module):
            if name != _CLUSTER or value is None:
                continue
            content = _cluster_content(scope, value, event)
            if content is None:
                continue
            if isinstance(content, str):
                faults = [content]
            else:
                faults = [
                    str(
                        fault.values.get("problem")
                        or f"it names a cluster but no {fault.values.get('missing')}"
                    )
                    for fault in cluster_faults(content)
                ]
            for problem in faults[:1]:
                yield hit_in(
                    scope,
                    place,
                    event.block,
                    {"problem": problem, "more": f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""},
                )


_TEXT = 400
"""Characters of a text that a summary keeps."""


def _cluster_content(scope: Scope, value: Expr, event: Event) -> Any:
    """Return the data of a `TF_CONFIG`, with unknown parts marked.

    Return a text that says why it cannot be read, or None where nothing is known.
    """
    block = event.block
    for _ in range(3):
        if not isinstance(value, Name):
            break
        bound = bound_once(scope, value.name, block)
        if bound is None or bound[1] is not scope:
            return None
        value = bound[0]
    if isinstance(value, Literal) and isinstance(value.value, str):
        import json

        if len(value.value) >= _TEXT or not value.value.strip():
            return None
        try:
            return json.loads(value.value)
        except ValueError as error:
            return f"it cannot be read as JSON: {error}"
    if isinstance(value, Dictionary):
        return "os.environ takes text, and it is given a mapping: json.dumps makes one of it"
    if not isinstance(value, Call):
        return None
    call = value
    if (dotted(call.func) or "").rpartition(".")[2] != "dumps" or not call.args:
        return None
    return _dumped_data(scope, call.args[0], event)


def _dumped_data(scope: Scope, expr: Expr, event: Event) -> Any:
    """Return the mapping that is dumped as JSON, with the items set before the dump.

    Return None where it is not known.
    """
    if not isinstance(expr, Name):
        data = _data_of_expression(scope, expr, event.block)
        return data if isinstance(data, dict) and data else None
    bound = bound_once(scope, expr.name, event.block)
    if bound is None:
        return None
    data = _data_of_expression(bound[1], bound[0], event.block)
    if not isinstance(data, dict):
        return None
    for other in scope.events():
        if other.place.start >= event.place.start:
            break
        for target in other.targets:
            keys: list[Any] = []
            here = target
            while isinstance(here, Subscript):
                keys.insert(0, constant(here.index))
                here = here.base
            if not is_name(here, expr.name) or not keys:
                continue
            inner: Any = data
            for key in keys[:-1]:
                inner = inner.get(key) if isinstance(inner, dict) else None
            if not isinstance(inner, dict) or not all(isinstance(key, str) for key in keys):
                return None
            plain = other.kind == "assign" and other.value is not None and len(other.targets) == 1
            inner[keys[-1]] = (
                _data_of_expression(scope, other.value, other.block)
                if plain and other.value is not None
                else UNKNOWN
            )
    if any(
        isinstance(call.func, Attribute)
        and call.method in ("update", "setdefault", "pop", "append", "extend")
        and expr.name in _names_in(call.func.base)
        for call in scope.calls
    ):
        return None
    return data or None


def _names_in(expr: Expr) -> set[str]:
    return {part.name for part in walk(expr) if isinstance(part, Name)}


def _data_of_expression(scope: Scope, expr: Expr, block: int, depth: int = 6) -> Any:
    """Return the data of an expression, with unknown parts marked."""
    if depth <= 0:
        return UNKNOWN
    if isinstance(expr, Literal):
        return expr.value
    if isinstance(expr, Unary) and expr.operator == "-" and isinstance(constant(expr.operand), int):
        return -constant(expr.operand)
    if isinstance(expr, Dictionary):
        found: dict[Any, Any] = {}
        for key, value in expr.entries:
            name = constant(key) if key is not None else MISSING
            if name is MISSING:
                return UNKNOWN
            found[name] = _data_of_expression(scope, value, block, depth - 1)
        return found
    if isinstance(expr, Collection):
        if any(isinstance(item, Starred) for item in expr.items):
            return UNKNOWN
        return [_data_of_expression(scope, item, block, depth - 1) for item in expr.items]
    if isinstance(expr, Name):
        bound = bound_once(scope, expr.name, block)
        return _data_of_expression(bound[1], bound[0], bound[2], depth - 1) if bound is not None else UNKNOWN
    if isinstance(expr, Call):
        call = expr
        if is_name(call.func, "dict") and not call.args and all(name for name, _ in call.keywords):
            return {
                name: _data_of_expression(scope, value, block, depth - 1) for name, value in call.keywords
            }
    return UNKNOWN


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
    """Find losses that are averaged over the batch of one replica.

    The gradients of the replicas are added up, so the mean has to be over the whole batch.
    """
    for strategy in _STRATEGIES:
        for site in flow_of(program).under(strategy):
            if site.call.method not in ("run", "experimental_run_v2"):
                continue
            if not _may_be_several(site):
                continue
            for function in functions_of(site.argument(0, "fn")):
                scope = function.scope
                found = _step_of_mean(program, scope)
                if found is None:
                    continue
                where, mean, applied, rescales = found
                summed = _is_summed(site.scope)
                yield hit_in(
                    where,
                    mean.name_place,
                    mean.block,
                    {"step": scope.qualname.rpartition(".")[2], "line": applied.call.name_line},
                    severity=None if summed or not rescales else "info",
                    flow=(at(site, label="runs it on each replica"),),
                    needs=((site.scope, site.call.block),),
                    related=(at(applied, label="gradients are added up over the replicas"),),
                )


def _may_be_several(site: Site) -> bool:
    """Tell whether every known value of a strategy may use several devices."""
    known = [value for value in alternatives(site.receiver) if isinstance(value, Made)]
    return bool(known) and all(map(_has_several_devices, known))


def _has_several_devices(value: Value) -> bool:
    """Tell whether a strategy may use several devices.

    It may unless its `devices` argument lists one.
    """
    if not isinstance(value, Made) or value.site is None or value.name not in _STRATEGIES:
        return False
    devices = value.site.call.argument(0, "devices")
    if devices is None or not value.name.endswith(".MirroredStrategy"):
        return True
    if isinstance(devices, Name):
        bound = bound_once(value.site.scope, devices.name, value.site.call.block)
        devices = bound[0] if bound is not None else devices
    return isinstance(devices, Comprehension) or (isinstance(devices, Collection) and len(devices.items) > 1)


def _step_of_mean(program: Program, scope: Scope) -> tuple[Scope, Call, Site, bool] | None:
    """Return the mean whose gradients a step applies, or None.

    It comes with its scope, where they are applied, and whether the optimizer takes the same step for
    larger gradients.
    """
    if any(call.method in ("all_reduce", "merge_call", "compute_average_loss") for call in scope.calls):
        return None
    sites = {site.call.number: site for site in flow_of(program).within(scope)}
    for call in scope.calls:
        if call.method != "apply_gradients" or call.keyword("skip_gradients_aggregation") is not None:
            continue
        applied = sites.get(call.number)
        if applied is None or call.keyword("experimental_aggregate_gradients") is not None:
            continue
        made = [value.name for value in alternatives(applied.receiver) if isinstance(value, Made)]
        if not made or not all(name.startswith("keras.optimizers.") for name in made):
            continue
        taken = _gradient_call(scope, call)
        target = _value_before_call(scope, taken.argument(0, "target"), taken) if taken is not None else None
        if target is None or not isinstance(target, Call):
            continue
        where, mean = _mean_of(program, scope, target)
        if mean is not None and _one_for_each_example(program, where, mean):
            return where, mean, applied, all(name.startswith(_RESCALES) for name in made)
    return None


def _mean_of(program: Program, scope: Scope, call: Call, depth: int = 2) -> tuple[Scope, Call | None]:
    """Return the call that takes a mean, with its scope; None for no such call.

    The given call may take the mean itself, or return that of a function.
    """
    site = next((site for site in flow_of(program).within(scope) if site.call is call), None)
    if site is None:
        return scope, None
    if site.name in _MEANS and len(call.args) == 1 and not call.keywords:
        return scope, call
    if depth <= 0 or len(site.targets) != 1 or site.open:
        return scope, None
    inner = site.targets[0].scope
    returned = [event for event in inner.events() if event.kind == "return"]
    if len(returned) != 1 or returned[0].value is None:
        return scope, None
    value = returned[0].value
    if isinstance(value, Name):
        found = _last_bound(inner, value.name, returned[0].place, returned[0].block)
        if found is None:
            return scope, None
        value = found
    return _mean_of(program, inner, value, depth - 1) if isinstance(value, Call) else (scope, None)


def _last_bound(scope: Scope, name: str, place: Place, block: int) -> Expr | None:
    """Return the value last assigned to a name before a place.

    Return None where a branch may assign another one.
    """
    before = [
        event
        for event in scope.binding(name)
        if (event.place.start < place.start if event.bodies else event.place.end <= place.start)
    ]
    if not before or name in scope.outer:
        return None
    last = before[-1]
    around = last.block
    while scope.blocks[around].kind == "with":
        around = scope.blocks[around].parent
    plain = last.kind in ("assign", "annotate") and len(last.targets) == 1 and is_name(last.targets[0], name)
    return last.value if plain and inside(scope, block, around) else None


def _gradient_call(scope: Scope, call: Call) -> Call | None:
    """Return the call of `gradient` whose result is applied unchanged, or None.

    Example: `zip(gradients, variables)`.
    """
    pairs = _value_before_call(scope, call.argument(0, "grads_and_vars"), call)
    if pairs is None or not isinstance(pairs, Call):
        return None
    inner = pairs
    if (
        isinstance(inner.func, Name)
        and inner.func.name in ("list", "tuple")
        and len(inner.args) == 1
        and isinstance(inner.args[0], Call)
    ):
        inner = inner.args[0]
    if not is_name(inner.func, "zip") or len(inner.args) != 2:
        return None
    given = _value_before_call(scope, inner.args[0], call)
    if given is None or not isinstance(given, Call):
        return None
    taken = given
    return taken if taken.method == "gradient" else None


def _value_before_call(scope: Scope, expr: Expr | None, call: Call) -> Expr | None:
    """Return the value last assigned to a name before a call.

    Any other expression is returned unchanged; None for a name of unknown value.
    """
    if expr is None or not isinstance(expr, Name):
        return expr
    return _last_bound(scope, expr.name, call.place, call.block)


def _one_for_each_example(program: Program, scope: Scope, mean: Call) -> bool:
    """Tell whether a mean is taken over losses of single examples.

    Keras divides a loss that it has reduced itself by the replicas.
    """
    sites = {site.call.number: site for site in flow_of(program).within(scope)}
    inner = _value_before_call(scope, mean.args[0], mean)
    if inner is None:
        return False
    if isinstance(inner, Binary):
        return bool(inner.operator == "**")
    if not isinstance(inner, Call):
        return False
    call = inner
    site = sites.get(call.number)
    if (
        site is not None
        and site.name.startswith(_EACH_EXAMPLE)
        and site.name.rpartition(".")[2][:1].islower()
    ):
        return site.name not in _MEANS and not site.name.endswith(
            (".reduce_sum", ".compute_average_loss", ".scale_regularization_loss")
        )
    made = alternatives(flow_of(program).value_of_name(scope, call.func))
    return bool(made) and all(
        isinstance(value, Made)
        and value.name.startswith("keras.losses.")
        and value.site is not None
        and _is_unreduced(value.site)
        for value in made
    )


def _is_unreduced(made: Site) -> bool:
    given = made.call.keyword("reduction")
    return given is not None and (
        constant(given) in ("none", None)
        if isinstance(given, Literal)
        else (dotted(given) or "").endswith(".Reduction.NONE")
    )


def _is_summed(scope: Scope) -> bool:
    """Tell whether a function sums the replicas' results by `reduce`."""
    for call in scope.calls:
        if call.method == "reduce" and call.args:
            how = call.argument(0, "reduce_op")
            if how is not None and (
                constant(how) in ("sum", "SUM") or (dotted(how) or "").endswith("ReduceOp.SUM")
            ):
                return True
    return False


_TPU = ("tensorflow.distribute.TPUStrategy", "tensorflow.distribute.experimental.TPUStrategy")
_DISTRIBUTES = (
    "experimental_distribute_dataset",
    "distribute_datasets_from_function",
    "experimental_distribute_datasets_from_function",
)
_BATCHES = frozenset({"batch", "padded_batch"})


def open_batch_on_tpu(program: Program) -> Iterator[Hit]:
    """Find training data for TPUs whose last batch may be smaller."""
    made = [site for site in flow_of(program).named(*_TPU) if not in_tests(site.scope)]
    if not made:
        return
    near = {module for site in made for module in modules_sharing_runs(program, site.scope.module)} | {
        site.scope.module.path for site in made
    }
    seen: set[tuple[int, int]] = set()
    for user, data in _trained_on(program):
        if user.scope.module.path not in near or in_tests(user.scope):
            continue
        for way in pipelines_to(data):
            batch = next((step.site for step in way if step.op in _BATCHES and step.site is not None), None)
            if batch is None or not possible(program, way) or _repeats_before(way, batch):
                continue
            key = (id(batch.scope), batch.call.number)
            dropped = batch.call.argument(1 if batch.call.method == "batch" else 3, "drop_remainder")
            if key in seen or batch.call.opaque or (dropped is not None and constant(dropped) is not False):
                continue
            if named_for_evaluation(batch) or number(batch.argument(0, "batch_size")) == 1:
                continue
            seen.add(key)
            yield hit_at(
                batch,
                # A program that may run on other devices as well leaves no example out there.
                severity="info" if all(_is_chosen(site) for site in made) else None,
                values={"line": made[0].call.name_line},
                needs=((made[0].scope, made[0].call.block),),
                related=(at(made[0], label="the TPUs"), at(user, label="gets the batches")),
                rewrites=(Rewrite("keyword", batch.scope, batch.call.place, "True", "drop_remainder"),)
                if dropped is None or batch.call.keyword("drop_remainder") is not None
                else (),
            )


def _is_chosen(site: Site) -> bool:
    return any(block.kind == "if" for block in site.scope.block_chain(site.call.block))


def _trained_on(program: Program) -> Iterator[tuple[Site, Dataset]]:
    """Yield the calls that train on or distribute a dataset, with that dataset."""
    for site in model_calls(program, "fit"):
        dataset = first_dataset(site.argument(0, "x"))
        if dataset is not None:
            yield site, dataset
    for strategy in _TPU:
        for site in flow_of(program).under(strategy):
            if site.call.method in _DISTRIBUTES:
                values = [site.args[0]] if site.args else []
                values += [
                    flow_of(program).default(function.scope)
                    for value in values
                    for function in functions_of(value)
                ]
                for value in values:
                    dataset = first_dataset(value)
                    if dataset is not None and not named_for_evaluation(site):
                        yield site, dataset


def _repeats_before(way: list[Dataset], batch: Site) -> bool:
    """Tell whether a pipeline repeats without end before it batches.

    No batch is then smaller.
    """
    behind = False
    for step in way:
        behind = behind or step.site is batch
        if behind and step.op == "repeat" and step.site is not None:
            count = step.site.call.argument(0, "count")
            return count is None or constant(count) in (None, -1, MISSING)
    return False
