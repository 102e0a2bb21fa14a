"""Calls of Python in an input pipeline: `numpy_function` and `py_function`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from cfgfix.code.checks.common import (
    in_tests,
    inside_function,
    is_library_demo,
    short,
    shows_pictures,
)
from cfgfix.code.checks.guarded_calls import is_given
from cfgfix.code.checks.models import fits_eagerly, trains
from cfgfix.code.checks.pipelines import downstream, loaded_in_batches, upstream
from cfgfix.code.checks.python_functions import NATIVE, is_debugged, is_light, lets_others_run, no_counterpart
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import ELEMENT, PY_FUNCTIONS, Reach, hot_paths
from cfgfix.code.inference.releases import keras_three
from cfgfix.code.model.hit import at, hit_at
from cfgfix.code.model.nodes import Attribute, Name
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Dataset, Site, alternatives, functions_of
from cfgfix.rules.hit import Hit


def in_map(program: Program) -> Iterator[Hit]:
    """Find `numpy_function` or `py_function` run for every element of a dataset."""
    hot = hot_paths(program)
    groups: dict[object, list[Site]] = {}
    for name in sorted(PY_FUNCTIONS):
        for site in flow_of(program).named(name):
            reach = hot.reach_of(site, ELEMENT)
            if reach is None or in_tests(site.scope) or is_debugged(site):
                continue
            # One pipeline is one finding, whatever number of functions its map calls.
            root = reach.root.site
            group = groups.setdefault(id(root.call) if root is not None else id(site.scope), [])
            if all(other.call is not site.call for other in group):
                group.append(site)
    for group in groups.values():
        group.sort(key=lambda item: (item.scope.module.path, item.call.place))
        for site in group[:1]:
            reach = hot.reach_of(site, ELEMENT)
            assert reach is not None
            native = ""
            for function in functions_of(site.argument(0, "func")):
                for inner, _ in inside_function(program, function):
                    if inner.name in NATIVE:
                        native = (
                            f"{inner.name.replace('builtins.', '')}() has a counterpart: {NATIVE[inner.name]}"
                        )
                        break
            once = _cached_behind(reach)
            notes = (native,) if native else ()
            batched = _batched_before(reach)
            reader = no_counterpart(program, group)
            if batched is not None:
                notes = (*notes, f"behind {batched} it runs once a batch, not once an element")
            outer = _once_for_many(reach)
            if outer is not None:
                notes = (*notes, f"{outer} calls it once for each dataset that it reads from, such as a file")
            if reader is not None:
                notes = (f"TensorFlow has no operation for what {reader} does",)
            free = lets_others_run(program, group, reach)
            if free is not None:
                notes = (
                    *notes,
                    f"{free} lets other threads run, and the map is parallel: it reads with several",
                )
            light = all(is_light(program, item) for item in group)
            if light:
                notes = (
                    *notes,
                    "its Python only looks something up or draws a number: the call itself is the cost",
                )
            yield hit_at(
                site,
                entry=reach,
                # A cache behind it leaves the cost to the first epoch.
                severity="info"
                if once
                or batched is not None
                or outer is not None
                or reader is not None
                or light
                or free is not None
                or shows_pictures(site.scope)
                or _one_pass(program, reach)
                or written_for_one(program, site.scope)
                else None,
                values={"call": short(site), "via": reach.via},
                related=tuple(at(other, label="and here") for other in group[1:]),
                notes=(*notes, "a cache behind it keeps the result: only the first epoch waits for it")
                if once
                else notes,
            )


def _once_for_many(reach: Reach) -> str | None:
    """Return the method, `interleave` or `flat_map`, whose function runs Python.

    Return None for any other. Such a method makes many elements of one.
    """
    root = reach.root.site
    method = root.call.method if root is not None else None
    return method if method in ("interleave", "flat_map") else None


_ONE_PASS = re.compile(r"predict|export|infer|serializ|tf_?record|evaluat", re.IGNORECASE)
"""Words of functions that go through a dataset once."""
_ONE_PASS_FILE = re.compile(
    r"^(?:(?:predict|export|infer|inference|evaluate|evaluation|convert|serialize)[\w-]*|(?:eval|test|demo)(?:[_-][\w-]*)?)\.py$",
    re.IGNORECASE,
)
"""Files that do nothing else."""


def _one_pass(program: Program, reach: Reach) -> bool:
    """Tell whether a dataset is read only once, so that its speed matters little.

    It is for predicting, evaluating or writing files, or shows or tests a library.
    """
    root = reach.root.site
    if root is None:
        return False
    scope = root.scope
    if (
        _ONE_PASS.search(scope.name)
        or _ONE_PASS_FILE.match(os.path.basename(scope.module.path))
        or in_tests(scope)
        or is_library_demo(scope, root.call.block)
        or _called_for_one_pass(program, scope)
        or (_writes_records(scope) and not trains(program, scope))
    ):
        return True
    return any(
        inner.call.method in ("SerializeToString", "serialize_tensor", "serialize_sparse")
        for made in alternatives(root.result)
        if isinstance(made, Dataset)
        for step in downstream(made)
        for function in step.functions
        for inner, _ in inside_function(program, function)
    )


def _writes_records(scope: Scope) -> bool:
    """Tell whether a scope's file writes record files."""
    return any(
        call.method in ("TFRecordWriter", "SerializeToString")
        for item in scope.module.summary.scopes
        for call in item.calls
    )


def _called_for_one_pass(program: Program, scope: Scope) -> bool:
    """Tell whether only files that evaluate or predict call a function."""
    files = {id(site.scope.module): site.scope for site in flow_of(program).callers(scope)}
    return bool(files) and all(
        _ONE_PASS_FILE.match(os.path.basename(caller.module.path)) and not trains(program, caller)
        for caller in files.values()
    )


def _batched_before(reach: Reach) -> str | None:
    """Return the step that batches before a map that runs Python, or None."""
    root = reach.root.site
    if root is None:
        return None
    for made in alternatives(root.result):
        if isinstance(made, Dataset):
            for step in upstream(made):
                if step.op in ("unbatch", "flat_map", "interleave"):
                    return None
                if step.op in ("batch", "padded_batch", "ragged_batch", "bucket_by_sequence_length"):
                    return step.op
            if loaded_in_batches(made):
                return "the loader"
    return None


def _cached_behind(reach: Reach) -> bool:
    root = reach.root.site
    return root is not None and any(
        step.op == "cache"
        for made in alternatives(root.result)
        if isinstance(made, Dataset)
        for step in downstream(made)
    )


def without_shape(program: Program) -> Iterator[Hit]:
    """Find results of `numpy_function` whose shape is never set.

    Neither the function nor a later step of the pipeline sets it.
    """
    hot = hot_paths(program)
    seen: set[tuple[int, str]] = set()
    for name in sorted(PY_FUNCTIONS):
        for site in flow_of(program).named(name):
            reach = hot.reach_of(site, ELEMENT)
            if reach is None or _is_shaped(program, site.scope, set()):
                continue
            if written_for_one(program, site.scope):
                continue
            root = reach.root.site
            if root is None or any(_is_shaped(program, step.scope, set()) for step in reach.path):
                continue
            if root.call.method in ("filter", "take_while"):
                # It decides on elements and is no part of them.
                continue
            result = root.result
            made = next((item for item in alternatives(result) if isinstance(item, Dataset)), None)
            if made is None:
                continue
            later = list(downstream(made))
            if any(
                _is_shaped(program, function.scope, set()) for step in later for function in step.functions
            ):
                continue
            if any(
                inner.name in PY_FUNCTIONS
                for step in later
                for function in step.functions
                for inner, _ in inside_function(program, function)
            ):
                # What comes of it goes through Python once more, and that result is the one that is batched.
                continue
            batches = next(
                (step for step in later if step.op in ("batch", "padded_batch", "ragged_batch")), None
            )
            if batches is None or batches.site is None or (id(site.scope), "shape") in seen:
                continue
            if batches.op == "padded_batch" and is_given(batches.site, 1, "padded_shapes") is not False:
                # The shapes given there are the shapes from there on.
                continue
            seen.add((id(site.scope), "shape"))
            yield hit_at(
                site,
                # A batch alone goes through: eager code, steps that are traced with it and Keras 2 take what comes.
                severity=None
                if batches.op != "batch"
                or (keras_three(program) and _is_fitted(program, made) and not fits_eagerly(program))
                else "info",
                entry=reach,
                values={
                    "call": short(site),
                    "batch": batches.op,
                    "batch_line": batches.site.call.name_line,
                },
                related=(at(batches.site, label="batched without a known shape"),),
            )


def _is_fitted(program: Program, dataset: Dataset) -> bool:
    """Tell whether `fit` or `evaluate` gets a dataset, or one that is made from it.

    A dataset that a strategy distributes is read with the shapes it has, and `predict` takes any.
    """
    made = {id(dataset), *(id(step) for step in downstream(dataset))}
    return any(
        id(item) in made
        for site in flow_of(program).sites
        if site.call.method in ("fit", "evaluate")
        for value in (*site.args, *site.keywords.values())
        for item in alternatives(value)
    )


_SHAPES = (
    "ensure_shape",
    "reshape",
    "set_shape",
    "resize",
    "image.resize",
    "decode",
    "parse",
    "pad",
    "stack",
    "squeeze",
    "expand_dims",
)


def _is_shaped(program: Program, scope: Scope, seen: set[int]) -> bool:
    """Tell whether a function, or one that it calls, sets the shape of a tensor."""
    if id(scope) in seen:
        return False
    seen.add(id(scope))
    for call in scope.calls:
        func = call.func
        last = func.attribute if isinstance(func, Attribute) else func.name if isinstance(func, Name) else ""
        if any(word in str(last) for word in _SHAPES):
            return True
    return any(
        _is_shaped(program, target.scope, seen)
        for site in flow_of(program).within(scope)
        for target in site.targets
    )
