"""Models and datasets under a distribution strategy."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.guarded_calls import may_run_together
from cfgfix.code.checks.models import compiles_of
from cfgfix.code.checks.written_values import Written, written_at, written_constant
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import MISSING, constant, is_name, place_of, text, walk
from cfgfix.code.model.hit import at, hit_at, hit_in
from cfgfix.code.model.nodes import Attribute, Call, Collection, Comprehension, Expr, Name
from cfgfix.code.model.program import Program, is_keras_model, once
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import ClassValue, Dataset, Element, Instance, Made, Site, Value, alternatives
from cfgfix.rules.hit import Hit


def outside_strategy(program: Program) -> Iterator[Hit]:
    """Find Keras models made outside the scope of the strategy that trains them."""
    for site in flow_of(program).under("tensorflow.distribute."):
        if not (
            site.name.endswith("Strategy")
            and not site.name.endswith(("OneDeviceStrategy", "ParameterServerStrategy"))
            and site.name.count(".") <= 3
        ):
            continue
        scope = site.scope
        inner = flow_of(program).within(scope)
        if any(
            item.name.endswith(".scope") and item.name.startswith("tensorflow.distribute.") for item in inner
        ):
            continue
        if any(
            block.kind == "with" and block.test is not None and "scope" in text(block.test)
            for block in scope.blocks
        ):
            continue
        if any(item.call.keyword("distribution_strategy") is not None for item in inner):
            # A tuner of KerasTuner makes its models in the strategy's scope itself.
            continue
        models = [item for item in inner if _makes_model(program, item) and item.call.place > site.call.place]
        trained = [
            item
            for item in inner
            if item.name in ("keras.Model.fit", "keras.Sequential.fit") or item.call.method == "fit"
        ]
        if models and trained:
            yield hit_at(
                models[0],
                flow=(),
                values={"strategy": site.name.rpartition(".")[2], "line": site.call.line},
                related=(at(site, label="the strategy"), at(trained[0], label="trained here")),
            )


def _makes_model(program: Program, site: Site) -> bool:
    if site.name in ("keras.Sequential", "keras.Model") or (
        site.name.startswith("keras.applications.") and site.name.count(".") == 2
    ):
        return True
    return any(
        isinstance(item, (ClassValue, Instance)) and is_keras_model(program, item.scope)
        for item in alternatives(site.result)
    ) and any(target.scope.name == "__init__" for target in site.targets)


_DATASET_ONLY = frozenset(
    [
        "map",
        "batch",
        "padded_batch",
        "shuffle",
        "prefetch",
        "repeat",
        "take",
        "skip",
        "filter",
        "cache",
        "apply",
        "interleave",
        "flat_map",
        "unbatch",
        "concatenate",
        "with_options",
        "enumerate",
        "shard",
        "zip",
    ]
)


def distributed_methods(program: Program) -> Iterator[Hit]:
    """Find methods of `tf.data.Dataset` that are called on a distributed dataset."""
    for site in flow_of(program).under("tensorflow.distribute."):
        owner, _, method = site.name.rpartition(".")
        if (
            method in _DATASET_ONLY
            and owner.startswith("tensorflow.distribute.")
            and owner.endswith(
                (
                    ".experimental_distribute_dataset",
                    ".distribute_datasets_from_function",
                    ".experimental_distribute_datasets_from_function",
                )
            )
        ):
            if not _only_distributed(site):
                continue
            yield hit_at(site, values={"method": method})


def _only_distributed(site: Site) -> bool:
    """Tell whether every known value of a method's object is a distributed dataset."""
    found = list(alternatives(site.receiver))
    return bool(found) and all(
        isinstance(item, Made)
        and item.name.startswith("tensorflow.distribute.")
        # What comes from another file may be one of several things there.
        and item.site is not None
        and item.site.scope.module is site.scope.module
        for item in found
    )


_SPLIT = re.compile(
    r"tensorflow\.distribute\.(?:experimental\.)?(?:MirroredStrategy|TPUStrategy)\.(?:experimental_)?run(?:_v2)?"
)


def whole_batch_each(program: Program) -> Iterator[Hit]:
    """Find batches of a plain dataset that a strategy runs a step on.

    Every replica gets the whole batch.
    """
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).under("tensorflow.distribute."):
        key = id(site.scope), site.call.number
        given = site.call.argument(1, "args")
        if key in seen or _SPLIT.fullmatch(site.name) is None or not isinstance(given, Collection):
            continue
        if written_for_one(program, site.scope):
            continue
        for item in given.items:
            found = _plain_batch(program, site, item)
            if found is None:
                continue
            dataset, caller = found
            if _may_loop_over_distributed(program, site.scope if caller is None else caller.scope):
                continue
            seen.add(key)
            yield hit_at(
                site,
                flow=() if caller is None else (at(caller, label="called with a batch of the dataset"),),
                values={"batch": text(item), "line": dataset.call.line, "strategy": site.name.split(".")[-2]},
                related=(at(dataset, label="a dataset that is not distributed"),),
            )
            break


def _plain_batch(program: Program, site: Site, expr: Expr) -> tuple[Site, Site | None] | None:
    """Return the last step of a batch's dataset, and the call that passes the batch.

    The call is None where the batch is no parameter. Return None where the dataset is not known.
    """
    scope = site.scope
    if not isinstance(expr, Name):
        return None
    position = next((number for number, item in enumerate(scope.params) if item.name == expr.name), None)
    if position is None:
        made = _plain_dataset(flow_of(program).value_of_name(scope, expr))
        return (made, None) if made is not None else None
    if scope.binding(expr.name):
        return None
    callers = flow_of(program).callers(scope)
    found: list[tuple[Site, Site]] = []
    for caller in callers:
        offset = int(any(target.receiver is not None for target in caller.targets))
        made = _plain_dataset(caller.argument(position - offset, expr.name))
        if made is None:
            return None
        found.append((made, caller))
    return found[0] if found else None


_DISTRIBUTES = frozenset(
    {
        "experimental_distribute_dataset",
        "distribute_datasets_from_function",
        "experimental_distribute_datasets_from_function",
    }
)


@once
def _distributed_attributes(program: Program) -> frozenset[str]:
    """Return the names of attributes that hold a distributed dataset."""
    return frozenset(
        target.attribute
        for module in program.linked
        for _, event, target in module.stores()
        if event.value is not None
        and any(isinstance(part, Call) and part.method in _DISTRIBUTES for part in walk(event.value))
    )


def _may_loop_over_distributed(program: Program, scope: Scope) -> bool:
    """Tell whether a function uses an attribute that may hold a distributed dataset.

    It loops over the attribute, or gives it to a call whose result it uses.
    """
    names = _distributed_attributes(program)
    return bool(names) and any(
        isinstance(part, Attribute) and part.attribute in names
        for event in scope.events()
        if event.value is not None and (event.kind == "for" or isinstance(event.value, Call))
        for part in walk(event.value)
    )


def _plain_dataset(value: Value | None) -> Site | None:
    """Return the last step of the batched dataset that a value is an element of.

    Return None where a step of the dataset is not known.
    """
    values = alternatives(value)
    if len(values) != 1 or not isinstance(values[0], Element):
        return None
    dataset = values[0].dataset
    pending, batched = [dataset], False
    for _ in range(_MOST_STEPS):
        if not pending:
            return dataset.site if batched else None
        here = pending.pop()
        if here.op in ("parameter", "opaque"):
            return None
        batched = batched or here.op in ("batch", "padded_batch", "ragged_batch")
        pending += here.parents
    return None


_MOST_STEPS = 100


def uneven_batch(program: Program) -> Iterator[Hit]:
    """Find batches of `fit` that the devices which the code names cannot share evenly."""
    made = [
        site
        for site in flow_of(program).named("tensorflow.distribute.MirroredStrategy")
        if not site.targets and not written_for_one(program, site.scope)
    ]
    places = {(id(site.scope), site.call.number) for site in made}
    if len(places) != 1 or _other_strategies(program):
        return
    strategy = made[0]
    given = strategy.call.argument(0, "devices")
    devices = (
        _device_count(program, given, strategy) if given is not None and not strategy.call.opaque else None
    )
    if devices is None or devices < 2:
        return
    seen: set[tuple[int, int]] = set()
    for fit in flow_of(program).named("keras.Model.fit", "keras.Sequential.fit"):
        key = id(fit.scope), fit.call.number
        if key in seen or fit.call.opaque or not _compiled_under(program, fit):
            continue
        seen.add(key)
        batch = _batch_of(program, fit)
        if batch is None or batch[0] % devices == 0 or not may_run_together([fit, strategy]):
            continue
        size, site, expr = batch
        yield hit_in(
            site.scope,
            place_of(expr, site.scope) or site.call.name_place,
            site.call.block,
            {
                "size": size,
                "devices": devices,
                "line": strategy.call.line,
                "near": f"{size - size % devices} and {size - size % devices + devices}"
                if size > devices
                else f"{devices}",
            },
            needs=((fit.scope, fit.call.block), (strategy.scope, strategy.call.block)),
            related=(at(strategy, label=f"{devices} devices"), at(fit, label="trains on them")),
        )


def _other_strategies(program: Program) -> bool:
    """Tell whether the program also makes strategies of other kinds."""
    return any(
        site.name.endswith("Strategy") and site.name != "tensorflow.distribute.MirroredStrategy"
        for site in flow_of(program).under("tensorflow.distribute.")
    )


def _compiled_under(program: Program, fit: Site) -> bool:
    """Tell whether a strategy's scope encloses the making or compiling of a model."""
    models = alternatives(fit.receiver)
    if len(models) != 1 or not isinstance(models[0], Made) or models[0].site is None:
        return False
    places = [models[0].site, *compiles_of(program, models[0])]
    return any(
        block.kind == "with" and block.test is not None and text(block.test).endswith(".scope()")
        for site in places
        for block in site.scope.block_chain(site.call.block)
    )


def _device_count(program: Program, expr: Expr, site: Site) -> int | None:
    """Return how many devices an expression lists, or None."""
    found = written_at(program, expr, site.scope, site.call.block) or Written(
        expr, site.scope, site.call.block
    )
    made = found.expr
    if isinstance(made, Collection):
        names = [constant(item) for item in made.items]
        known = all(isinstance(item, str) for item in names)
        return len(set(map(str, names))) if known and len(names) == len(made.items) else None
    if not isinstance(made, Comprehension) or len(made.generators) != 1 or made.kind != "list":
        return None
    _, over, conditions = made.generators[0]
    if conditions or not isinstance(over, Call) or not is_name(over.func, "range") or len(over.args) != 1:
        return None
    return _certain_integer(program, over.args[0], found.scope, found.block)


def _certain_integer(program: Program, expr: Expr, scope: Scope, block: int) -> int | None:
    """Return the integer that an expression certainly is, or None."""
    plain = constant(expr)
    if plain is MISSING:
        written = written_constant(program, expr, scope, block)
        plain = written.value if written is not None else None
    return plain if type(plain) is int else None


def _batch_of(program: Program, fit: Site) -> tuple[int, Site, Expr] | None:
    """Return the batch size of a `fit`, with its call and argument, or None."""
    values = alternatives(fit.argument(0, "x"))
    data = values[0] if len(values) == 1 else None
    if not isinstance(data, Dataset):
        expr = fit.call.argument(2, "batch_size")
        size = _certain_integer(program, expr, fit.scope, fit.call.block) if expr is not None else None
        # A dataset that is not followed has batches of its own, and `fit` refuses the argument.
        return (size, fit, expr) if expr is not None and size is not None and size > 0 else None
    for _ in range(_MOST_STEPS):
        site = data.site
        if data.op in ("batch", "padded_batch") and site is not None and not site.call.opaque:
            expr = site.call.argument(0, "batch_size")
            size = _certain_integer(program, expr, site.scope, site.call.block) if expr is not None else None
            return (size, site, expr) if expr is not None and size is not None and size > 0 else None
        if data.op not in _KEEP_BATCHES or len(data.parents) != 1:
            return None
        data = data.parents[0]
    return None


_KEEP_BATCHES = frozenset({"cache", "prefetch", "repeat", "shuffle", "skip", "take", "with_options"})
"""Methods of datasets that leave each batch as it is."""
