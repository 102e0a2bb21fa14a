"""Functions mapped over single elements that could get whole batches."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.common import (
    line_of_site,
    short,
)
from cfgfix.code.checks.moves import ELSEWHERE, move
from cfgfix.code.checks.pipelines import in_batches, upstream
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import constant, walk
from cfgfix.code.model.hit import Repair, Rewrite, at, hit_at
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import (
    Attribute,
    Binary,
    Subscript,
)
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Dataset, Site
from cfgfix.rules.hit import Hit


def vectorize(program: Program) -> Iterator[Hit]:
    """Find a cheap `map` before `batch`, and one that parses single records.

    The cheap one works elementwise.
    """
    for dataset in flow_of(program).datasets:
        if dataset.op != "batch" or dataset.site is None or not dataset.parents:
            continue
        nearest = dataset.parents[0]
        first = nearest
        while first.op in _PASSED and len(first.parents) == 1:
            first = first.parents[0]
        if (
            first.op != "map"
            or first.site is None
            or len(first.functions) != 1
            # What gets batches already is called once a batch, and a second batch is meant for something else or a fault.
            or in_batches(first)
        ):
            continue
        function = first.functions[0]
        direct = first is nearest and first.site.scope is dataset.site.scope
        what = _elementwise_work(function.scope, program) if direct else None
        parses = _only_parses(function.scope, program)
        if what is None and not parses:
            continue
        yield hit_at(
            first.site,
            severity="warning" if parses or _are_small(program, first) else None,
            values={
                "what": what or "tf.io.parse_single_example (tf.io.parse_example reads a batch)",
                "line_of": line_of_site(first.site, dataset.site),
            },
            needs=((dataset.site.scope, dataset.site.call.block),),
            related=(at(dataset.site, label="batched afterwards"),),
            **(
                _batched_first(first.site, dataset.site, function.scope)
                if what is not None
                else {"no_fix": "parse_example gives batches: what else the function does has to take them"}
            ),
        )


_PASSED = frozenset({"shuffle", "repeat", "prefetch", "take", "skip", "with_options"})


"""Steps that leave each element as it is."""


_TAKES_BATCHES = (
    "tensorflow.io.FixedLenFeature",
    "tensorflow.io.parse_single_example",
    "tensorflow.math.",
    "tensorflow.reshape",
    "tensorflow.squeeze",
    "tensorflow.ensure_shape",
    "tensorflow.stack",
    "tensorflow.concat",
    "tensorflow.FixedLenFeature",
    "builtins.",
)


_OF_MAPPINGS = frozenset({"pop", "get", "items", "keys", "values", "set_shape"})


def _only_parses(scope: Scope, program: Program) -> bool:
    """Tell whether a function parses one record and does nothing else expensive."""
    flow_of(program).default(scope)
    sites = {site.call.number: site.name for site in flow_of(program).within(scope)}
    if "tensorflow.io.parse_single_example" not in sites.values():
        return False
    return all(
        sites[call.number].startswith(_TAKES_BATCHES) or sites[call.number] in _ELEMENTWISE
        if call.number in sites
        else call.method in _OF_MAPPINGS
        for call in scope.calls
    )


_SMALL_SOURCES = frozenset({"range", "TextLineDataset", "CsvDataset"})


_MAKES_WIDE = (
    "keras.layers.Conv",
    "keras.layers.SeparableConv",
    "keras.applications.",
    "keras.layers.LSTM",
    "keras.layers.GRU",
)


_MOST_VALUES = 1024


def _are_small(program: Program, first: Dataset) -> bool:
    """Tell whether elements are so small that calling a function costs most.

    They are numbers, lines or short rows.
    """
    sources = [step for step in (first, *upstream(first)) if not step.parents]
    if not sources or first.site is None:
        return False
    if all(source.op in _SMALL_SOURCES for source in sources):
        return True
    return all(source.op == "from_tensor_slices" for source in sources) and _model_takes_rows(
        program, first.site.scope.module
    )


def _model_takes_rows(program: Program, module: Module) -> bool:
    """Tell whether all inputs of a file's models are short rows.

    None of their layers may be for images or sequences.
    """
    sizes = []
    for scope in module.summary.scopes:
        for site in flow_of(program).within(scope):
            if site.name.startswith(_MAKES_WIDE):
                return False
            given = (
                site.call.argument(0, "shape")
                if site.name in ("keras.Input", "keras.layers.Input", "keras.layers.InputLayer")
                else site.call.keyword("input_shape")
            )
            if given is not None:
                sizes.append(constant(given))
    return bool(sizes) and all(
        isinstance(size, (tuple, list))
        and len(size) == 1
        and type(size[0]) is int
        and size[0] <= _MOST_VALUES
        for size in sizes
    )


def _batched_first(site: Site, batch: Site, function: Scope) -> Repair:
    """Return the fix that moves a map after the batch.

    A map that parses single examples then parses batches of them.
    """
    rewrites = move(site, batch, behind=True)
    single = next(
        (
            call.func
            for call in function.calls
            if isinstance(call.func, Attribute) and call.func.attribute == "parse_single_example"
        ),
        None,
    )
    if not rewrites:
        return {"no_fix": ELSEWHERE}
    if single is None:
        return {"rewrites": rewrites}
    source = function.module.source_file().text
    if function.module is not site.scope.module or (
        function.kind != "lambda" and len(re.findall(rf"\b{re.escape(function.name)}\b", source)) > 2
    ):
        return {
            "no_fix": "parse_single_example has to become parse_example, and others may call the function"
        }
    return {"rewrites": (*rewrites, Rewrite("rename", function, single.place, "parse_example"))}


_ELEMENTWISE = frozenset(
    f"tensorflow.{name}"
    for name in [
        "cast",
        "math.divide",
        "math.multiply",
        "math.add",
        "math.subtract",
        "divide",
        "multiply",
        "add",
        "subtract",
        "image.convert_image_dtype",
        "math.log",
        "math.exp",
        "math.sqrt",
        "math.abs",
        "sqrt",
        "exp",
        "abs",
        "one_hot",
        "clip_by_value",
        "io.decode_csv",
        "strings.to_number",
        "strings.lower",
        "strings.to_hash_bucket_fast",
    ]
)


def _elementwise_work(scope: Scope, program: Program) -> str | None:
    """Return what a function does if it works on batches as on elements, or None."""
    flow_of(program).default(scope)
    sites = flow_of(program).within(scope)
    if len({site.call.number for site in sites}) != len(scope.calls) or not scope.body:
        return None
    for site in sites:
        if site.name == "tensorflow.io.parse_single_example":
            return (
                "tf.io.parse_single_example (tf.io.parse_example reads a batch)"
                if len(scope.calls) == 1
                else None
            )
        if site.name not in _ELEMENTWISE:
            return None
    if len(scope.blocks) > 1:
        return None
    arithmetic = False
    for event in scope.events():
        if event.kind not in ("return", "assign") or event.value is None:
            return None
        for part in walk(event.value):
            if isinstance(part, Subscript):
                return None
            if isinstance(part, Binary):
                arithmetic = True
                if part.operator not in ("+", "-", "*", "/"):
                    return None
    if not sites and not arithmetic:
        return None
    return "arithmetic on each value" if not sites else ", ".join(sorted({short(site) for site in sites}))
