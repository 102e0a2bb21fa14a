"""Models and datasets under a distribution strategy."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.releases import IMPORTS
from cfgfix.code.model.expressions import text
from cfgfix.code.model.hit import at, hit_at
from cfgfix.code.model.nodes import Collection, Expr, Name
from cfgfix.code.model.program import Program, is_keras_model
from cfgfix.code.model.values import ClassValue, Element, Instance, Made, Site, Value, alternatives
from cfgfix.rules.hit import Hit

NEEDLES = (
    b"Strategy(",
    *IMPORTS,
)


def outside_strategy(program: Program) -> Iterator[Hit]:
    """Find Keras models made outside the scope of the strategy that trains them."""
    for site in program.flow.under("tensorflow.distribute."):
        if not (
            site.name.endswith("Strategy")
            and not site.name.endswith(("OneDeviceStrategy", "ParameterServerStrategy"))
            and site.name.count(".") <= 3
        ):
            continue
        scope = site.scope
        inner = program.flow.within(scope)
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
    """Find methods of datasets called on what a strategy distributed."""
    for site in program.flow.under("tensorflow.distribute."):
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
    """Tell whether what a method is called on is a distributed dataset on every way that is known."""
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
    for site in program.flow.under("tensorflow.distribute."):
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
            seen.add(key)
            yield hit_at(
                site,
                flow=() if caller is None else (at(caller, label="called with a batch of the dataset"),),
                values={"batch": text(item), "line": dataset.call.line, "strategy": site.name.split(".")[-2]},
                related=(at(dataset, label="a dataset that is not distributed"),),
            )
            break


def _plain_batch(program: Program, site: Site, expr: Expr) -> tuple[Site, Site | None] | None:
    """Return the last step of the dataset that a batch is of, and the call that handed it to the function around."""
    scope = site.scope
    if not isinstance(expr, Name):
        return None
    position = next((number for number, item in enumerate(scope.params) if item.name == expr.name), None)
    if position is None:
        made = _plain_dataset(program.flow.value_of_name(scope, expr))
        return (made, None) if made is not None else None
    if scope.binding(expr.name):
        return None
    callers = program.flow.callers(scope)
    found: list[tuple[Site, Site]] = []
    for caller in callers:
        offset = int(any(target.receiver is not None for target in caller.targets))
        made = _plain_dataset(caller.argument(position - offset, expr.name))
        if made is None:
            return None
        found.append((made, caller))
    return found[0] if found else None


def _plain_dataset(value: Value | None) -> Site | None:
    """Return the last step of a dataset whose making is known from the start, where a value is its element."""
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
