"""The possible pipelines of a dataset, and the steps before and after another."""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterator

from cfgfix.code.checks.bindings import bound_once
from cfgfix.code.checks.guarded_calls import is_consistent
from cfgfix.code.inference.branches import excluded
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import dotted, is_name, is_none
from cfgfix.code.model.nodes import (
    Attribute,
    Call,
    Expr,
    Name,
)
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import (
    Dataset,
    Site,
)

MAX_WAYS = 24
MAX_LENGTH = 60
MAX_WALK = 1500
"""Most steps taken over all ways of one dataset: a ladder of conditions has more ways than can be walked."""


def pipelines_to(dataset: Dataset) -> Iterator[list[Dataset]]:
    """Yield the possible pipelines of a dataset, each a list of steps.

    The last step comes first. Ways whose guards exclude each other are left out. Where several datasets are
    joined into one, each is a way. Ways that are too many to be gone are one of a single step that is not
    known.
    """
    count = steps = 0
    pending: list[tuple[Dataset, list[Dataset]]] = [(dataset, [])]
    while pending and count < MAX_WAYS and steps < MAX_WALK:
        steps += 1
        here, path = pending.pop()
        if here.op != "either":
            if len(path) >= MAX_LENGTH:
                continue
            path = [*path, here]
        if here.parents and here not in path[:-1]:
            for parent in reversed(here.parents):
                pending.append((parent, path))
            continue
        if is_consistent(path):
            count += 1
            yield path
    if pending:
        yield [Dataset("unknown", None)]


def possible(program: Program, path: list[Dataset]) -> bool:
    """Tell whether all steps of a pipeline can run where their functions are called.

    `build(is_training=False)` does not shuffle. The guards around a step that are a parameter of its
    function, or an attribute that the constructor sets from one, are held against constants: those of the
    call by which the step behind it, in another function, gets its dataset.
    """
    for later, step in itertools.pairwise(path):
        if later.site is None or step.site is None or later.site.scope is step.site.scope:
            continue
        scope = step.site.scope
        entering = _sites_entering(program, scope, later.site)
        if not entering:
            continue
        inner = [
            item for item in path[path.index(step) :] if item.site is not None and item.site.scope is scope
        ]
        if all(
            any(excluded(site, item.site.scope, item.site.call.block) for item in inner if item.site)
            for site in entering
        ):
            return False
    return True


@once
def _sites_entering(program: Program, scope: Scope, later: Site) -> list[Site]:
    """Return the calls that enter a function in the scope of a later step.

    Where one of them makes the dataset of that step, only that one.
    """
    entering = [
        site
        for site in flow_of(program).within(later.scope)
        if any(target.scope is scope for target in site.targets)
    ]
    made = _source_of(later)
    return [site for site in entering if made is not None and site.call is made] or entering


def _source_of(site: Site) -> Call | None:
    """Return the call that makes the dataset of a method call, or None.

    Methods of datasets in between are skipped, in the chain or through a name.
    """
    scope: Scope = site.scope
    func = site.call.func
    expr = func.base if isinstance(func, Attribute) else None
    for _ in range(20):
        if expr is None:
            return None
        if isinstance(expr, Name):
            values = [
                event.value
                for event in scope.events()
                if event.place.start < site.call.place.start
                and any(is_name(target, expr.name) for target in event.targets)
                and event.value is not None
            ]
            expr = values[-1] if values else None
        elif isinstance(expr, Call):
            call: Call = expr
            if not isinstance(call.func, Attribute) or call.method not in METHODS:
                return call
            expr = call.func.base
        else:
            return None
    return None


def links(expr: Expr) -> Iterator[str]:
    """Yield the names in a chain of methods, last method first, then its first name.

    The arguments of its calls are left out.
    """
    while isinstance(expr, Call) and isinstance(expr.func, Attribute):
        func = expr.func
        yield func.attribute
        expr = func.base
    yield dotted(expr) or ""


def made_by(program: Program, scope: Scope, expr: Expr, block: int) -> Site | None:
    """Return the call of a project function that makes a dataset, or None.

    The expression is that dataset or begins with it.
    """
    for _ in range(12):
        if isinstance(expr, Name):
            bound = bound_once(scope, expr.name, block)
            if bound is None:
                return None
            expr, scope, block = bound
        elif isinstance(expr, Attribute) and isinstance(expr.base, Name):
            stored = stored_once(program, scope, expr)
            if stored is None:
                return None
            expr, scope, block = stored
        elif isinstance(expr, Call):
            call: Call = expr
            if isinstance(call.func, Attribute) and call.method in METHODS:
                expr = call.func.base
                continue
            return next(
                (site for site in flow_of(program).within(scope) if site.call is call and site.targets), None
            )
        else:
            return None
    return None


def stored_once(program: Program, scope: Scope, expr: Attribute) -> tuple[Expr, Scope, int] | None:
    """Return the value of an attribute that a class sets once, with scope and block.

    Return None for any other attribute.
    """
    owner = program.owner(scope)
    if owner is None or not scope.params or not is_name(expr.base, scope.params[0].name):
        return None
    found: list[tuple[Expr, Scope, int]] = []
    for method in owner.module.summary.scopes:
        if method.parent != owner.number or method.kind != "function" or not method.params:
            continue
        for event in method.events():
            for target in event.targets:
                if (
                    isinstance(target, Attribute)
                    and target.attribute == expr.attribute
                    and is_name(target.base, method.params[0].name)
                ):
                    if event.value is None or event.kind != "assign":
                        return None
                    found.append((event.value, method, event.block))
    return found[0] if len(found) == 1 else None


def given_for(program: Program, scope: Scope, name: str) -> list[tuple[Expr, Scope, int]]:
    """Return what the calls of a function give for a parameter.

    Each comes with its scope and block. There is none where a call hides it or leaves it out.
    """
    position = next((number for number, item in enumerate(scope.params) if item.name == name), -1)
    found: dict[tuple[int, int], tuple[Expr, Scope, int]] = {}
    for caller in flow_of(program).callers(scope):
        target = next((item for item in caller.targets if item.scope is scope), None)
        if target is None or target.partial or target.fixed or caller.call.opaque:
            return []
        offset = int(target.receiver is not None)
        argument = caller.call.argument(position - offset, name) if position >= offset else None
        if argument is None:
            return []
        found[id(caller.scope), caller.call.number] = argument, caller.scope, caller.call.block
    return list(found.values())


METHODS = frozenset(
    (
        "map",
        "batch",
        "padded_batch",
        "shuffle",
        "repeat",
        "prefetch",
        "cache",
        "take",
        "skip",
        "filter",
        "with_options",
        "apply",
    )
)
"""Methods of datasets that a chain is followed through to what made the dataset."""


def upstream(dataset: Dataset) -> Iterator[Dataset]:
    """Yield all datasets a dataset is made from, each once, nearest first."""
    seen: set[int] = set()
    pending = list(dataset.parents)
    while pending and len(seen) < 400:
        here = pending.pop(0)
        if id(here) in seen:
            continue
        seen.add(id(here))
        yield here
        pending += here.parents


def is_done_to_all_members(way: list[Dataset], step: Dataset, kinds: Container[str]) -> bool:
    """Tell whether a step is applied to every dataset that is zipped later.

    What `zip` pairs comes from each of its datasets: a repeated counter beside the data repeats no data.
    """
    return all(
        any(item.op in kinds for item in (parent, *upstream(parent)))
        for later in way[: way.index(step)]
        if later.op == "zip"
        for parent in later.parents
    )


def downstream(dataset: Dataset) -> Iterator[Dataset]:
    """Yield all datasets made from a dataset, each once, nearest first."""
    seen: set[int] = set()
    pending = [item for item in dataset.uses if isinstance(item, Dataset)]
    while pending and len(seen) < 400:
        here = pending.pop(0)
        if id(here) in seen:
            continue
        seen.add(id(here))
        yield here
        pending += [item for item in here.uses if isinstance(item, Dataset)]


_LOADERS = tuple(
    f"keras.utils.{name}_from_{kind}"
    for name, kind in (
        ("image_dataset", "directory"),
        ("text_dataset", "directory"),
        ("audio_dataset", "directory"),
        ("timeseries_dataset", "array"),
    )
)


def loaded_in_batches(dataset: Dataset) -> bool:
    """Tell whether a dataset begins with a loader of Keras that makes batches.

    A loader does unless `batch_size` is None.
    """
    for step in (dataset, *upstream(dataset)):
        if step.site is not None and step.site.name in _LOADERS:
            size = step.site.call.keyword("batch_size")
            return size is None or not is_none(size)
    return False


MAKES_BATCHES = frozenset(
    {
        "batch",
        "padded_batch",
        "ragged_batch",
        "dense_to_ragged_batch",
        "dense_to_sparse_batch",
        "make_batched_features_dataset",
        "make_csv_dataset",
        "map_and_batch",
        "sparse_batch",
        "rebatch",
        "bucket_by_sequence_length",
        "group_by_window",
    }
)
"""Operations whose results are batches."""
_TAKES_APART = frozenset({"unbatch", "flat_map", "interleave", "parallel_interleave", "window"})


def in_batches(dataset: Dataset) -> bool:
    """Tell whether the elements of a dataset may be batches.

    They are on one of the ways it may have come to be.
    """
    return any(map(_ends_in_batches, pipelines_to(dataset)))


def _ends_in_batches(way: list[Dataset]) -> bool:
    for step in way:
        name = step.detail if step.op == "apply" and step.detail else step.op
        if name in MAKES_BATCHES:
            return True
        if name in _TAKES_APART:
            return False
    first = way[-1]
    if first.op == "tfds.load" and first.site is not None:
        size = first.site.call.keyword("batch_size")
        return size is not None and not is_none(size)
    return loaded_in_batches(first)
