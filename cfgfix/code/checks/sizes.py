"""Buffer sizes, repeated work and changing shapes along a pipeline."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.batch_shapes import called_in_loops, padded_argument, padded_batch
from cfgfix.code.checks.common import inside_function, is_augmentation, short
from cfgfix.code.checks.guarded_calls import flag, is_given
from cfgfix.code.checks.models import compiles_of
from cfgfix.code.checks.moves import ELSEWHERE, autotune, move
from cfgfix.code.checks.order import kind, named_for_evaluation
from cfgfix.code.checks.pipelines import downstream, upstream
from cfgfix.code.checks.shuffling import DECODES
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import GRAPH, KERAS_COMPILES, hot_paths
from cfgfix.code.model.hit import Repair, Rewrite, at, hit_at
from cfgfix.code.model.nodes import Literal
from cfgfix.code.model.program import Program
from cfgfix.code.model.values import (
    Dataset,
    Element,
    External,
    Function,
    Items,
    Made,
    Site,
    Value,
    alternatives,
)
from cfgfix.rules.hit import Hit

EXPENSIVE = (
    *DECODES,
    "tensorflow.image.resize",
    "tensorflow.signal.stft",
    "tensorflow.signal.mfccs",
    "tensorflow.io.parse_",
    "tensorflow.io.read_file",
)
_BATCHES = frozenset({"batch", "padded_batch", "ragged_batch"})


def unbuffered_end(program: Program) -> Iterator[Hit]:
    """Find pipelines that a loop reads and that end in parallel calls.

    TensorFlow adds no prefetch behind those.
    """
    hot = hot_paths(program)
    for how, dataset, scope, block in flow_of(program).consumed:
        if how != "loop" or hot.reach(scope, GRAPH) is not None:
            continue
        end = dataset
        while end.op == "with_options" and len(end.parents) == 1:
            end = end.parents[0]
        site = end.site
        if site is None or end.op not in ("map", "interleave"):
            continue
        position = 1 if end.op == "map" else 3
        if is_given(site, position, "num_parallel_calls") is not True:
            continue
        if any(kind(step) in ("prefetch", "prefetch_to_device") for step in upstream(end)):
            continue
        yield hit_at(
            site,
            values={"op": end.op, "loop_line": scope.blocks[block].line},
            needs=((scope, block),),
            **fix_with_prefetch(program, site),
        )


def fix_with_prefetch(program: Program, site: Site) -> Repair:
    """Return the fix that puts a prefetch behind the last step of a pipeline."""
    name = autotune(program, site.scope)
    if name is None:
        return {"no_fix": NO_ALIAS}
    return {"rewrites": (Rewrite("append", site.scope, site.call.place, f".prefetch({name})"),)}


NO_ALIAS = "TensorFlow has no name of its own in this module"


def map_after_cache(program: Program) -> Iterator[Hit]:
    """Find expensive work after a cache that could be cached as well.

    The work draws no random numbers and is done again in every epoch.
    """
    for dataset in flow_of(program).datasets:
        site = dataset.site
        if dataset.op != "map" or site is None:
            continue
        cache = next(
            (step for step in upstream(dataset) if kind(step) == "cache" and step.site is not None), None
        )
        if cache is None or cache.site is None:
            continue
        if any(
            step.op == "zip"
            and not all(
                any(kind(item) == "cache" for item in (parent, *upstream(parent))) for parent in step.parents
            )
            for step in _datasets_between(dataset, cache)
        ):
            # What the cache keeps is a part of the elements only.
            continue
        if any(kind(step) in ("shuffle", "repeat", *_BATCHES) for step in _datasets_between(dataset, cache)):
            # Behind a shuffle the cache would freeze the order; behind repeat it would hold every epoch.
            continue
        work = _expensive_call(program, dataset.functions)
        if work is None:
            continue
        yield hit_at(
            site,
            values={"work": short(work), "cache_line": cache.site.call.name_line},
            needs=((cache.site.scope, cache.site.call.block),),
            related=(at(cache.site, label="the cache"), at(work, label="done again in every epoch")),
            rewrites=move(cache.site, site, behind=True),
            no_fix=ELSEWHERE,
        )


def _datasets_between(later: Dataset, earlier: Dataset) -> Iterator[Dataset]:
    for step in upstream(later):
        if step is earlier:
            return
        yield step


def _expensive_call(program: Program, functions: tuple[Function, ...]) -> Site | None:
    """Return an expensive call in some functions, or None.

    Return None as well where they draw random numbers.
    """
    found: Site | None = None
    for function in functions:
        for site, _ in inside_function(program, function):
            if is_augmentation(program, site) or site.name.startswith(("numpy.random.", "random.")):
                return None
            if found is None and site.name.startswith(EXPENSIVE):
                found = site
    return found


def padded_for_xla(program: Program) -> Iterator[Hit]:
    """Find batches of changing lengths given to what XLA compiles for each shape.

    They are padded to their own longest element.
    """
    yield from padded_for_fit(program)
    seen: set[int] = set()
    for site in called_in_loops(program):
        compiled = [
            target.compiled
            for target in site.targets
            if target.compiled is not None and is_jit(target.compiled)
        ]
        if not compiled:
            continue
        batch = padded_argument(site)
        if batch is None or batch.site is None or id(batch.site.call) in seen:
            continue
        seen.add(id(batch.site.call))
        yield hit_at(
            batch.site,
            values={"function": site.targets[0].scope.name, "line": site.call.name_line},
            needs=((site.scope, site.call.block), (compiled[0].scope, compiled[0].call.block)),
            related=(at(site, label="XLA compiles for each new shape here"),),
        )


def padded_for_fit(program: Program) -> Iterator[Hit]:
    """Find padded batches given to `fit` of a model compiled with `jit_compile`.

    They are padded to their own longest element.
    """
    compiles = {
        site.number
        for site in flow_of(program).named(*KERAS_COMPILES)
        if flag(site.keywords.get("jit_compile")) is True
    }
    for name in ("keras.Model.fit", "keras.Sequential.fit") if compiles else ():
        for fit in flow_of(program).named(name):
            of_model = compiles_of(program, *alternatives(fit.receiver))
            compiled = next((site for site in of_model if site.number in compiles), None)
            given_data = [item for item in alternatives(fit.argument(0, "x")) if isinstance(item, Dataset)]
            batch = next((found for item in given_data if (found := padded_batch(item)) is not None), None)
            if compiled is None or batch is None or batch.site is None:
                continue
            yield hit_at(
                batch.site,
                values={"function": "the step of fit", "line": fit.call.name_line},
                needs=((fit.scope, fit.call.block), (compiled.scope, compiled.call.block)),
                related=(
                    at(compiled, label="compiled with jit_compile here"),
                    at(fit, label="XLA compiles for each new shape here"),
                ),
            )


def is_jit(made: Site) -> bool:
    """Tell whether a `tf.function` is compiled by XLA."""
    return flag(made.argument(3, "jit_compile")) is True or any(
        isinstance(value, Literal) and value.value is True
        for name, value in made.call.keywords
        if name in ("jit_compile", "experimental_compile")
    )


def open_batch_for_xla(program: Program) -> Iterator[Hit]:
    """Find datasets with a smaller last batch in a function that XLA compiles.

    XLA compiles for each shape.
    """
    seen: set[int] = set()
    for site in called_in_loops(program):
        if not any(target.compiled is not None and is_jit(target.compiled) for target in site.targets):
            continue
        for value in site.args:
            batch = _open_batch(value)
            if batch is None or batch.site is None or id(batch.site.call) in seen:
                continue
            seen.add(id(batch.site.call))
            yield hit_at(
                batch.site,
                values={"function": site.targets[0].scope.name, "line": site.call.name_line},
                needs=((site.scope, site.call.block),),
                related=(at(site, label="XLA compiles for each new shape here"),),
                rewrites=()
                if named_for_evaluation(batch.site)
                else (Rewrite("keyword", batch.site.scope, batch.site.call.place, "True", "drop_remainder"),),
                no_fix="every example counts in an evaluation",
            )


def _open_batch(value: Value) -> Dataset | None:
    for item in alternatives(value):
        for part in item.items if isinstance(item, Items) else (item,):
            if not isinstance(part, Element):
                continue
            for step in (part.dataset, *upstream(part.dataset)):
                if step.op in _BATCHES and step.site is not None:
                    position = 1 if step.op == "batch" else 3
                    if is_given(step.site, position, "drop_remainder") is False:
                        return step
                    return None
                if step.op in ("unbatch", "rebatch", "flat_map", "repeat", "either", "parameter"):
                    # A repeated data set has no last batch; of the others the batch is not known.
                    return None
    return None


def embedded_arrays(program: Program) -> Iterator[Hit]:
    """Find datasets made from an array that a file filled.

    The array is copied into the graph as a constant.
    """
    loaders = (
        "numpy.load",
        "numpy.loadtxt",
        "numpy.genfromtxt",
        "numpy.fromfile",
        "pandas.read_csv",
        "pandas.read_parquet",
    )
    for site in flow_of(program).named(
        "tensorflow.data.Dataset.from_tensor_slices", "tensorflow.data.Dataset.from_tensors"
    ):
        for value in alternatives(site.argument(0, "tensors")):
            for part in value.items if isinstance(value, Items) else (value,):
                if isinstance(part, Made) and part.name in loaders:
                    yield hit_at(site, values={"loader": part.name})
                    break


def early_cast(program: Program) -> Iterator[Hit]:
    """Find pixels made float32 before a buffer or cache.

    It then holds four times the bytes.
    """
    for dataset in flow_of(program).datasets:
        site = dataset.site
        if dataset.op != "map" or site is None:
            continue
        decodes = cast = None
        for function in dataset.functions:
            for inner, _ in inside_function(program, function):
                if inner.name.startswith(
                    ("tensorflow.image.decode", "tensorflow.io.decode_jpeg", "tensorflow.io.decode_png")
                ):
                    decodes = inner
                elif inner.name.startswith(
                    ("tensorflow.image.resize", "tensorflow.image.random_", "tensorflow.image.stateless_")
                ):
                    # These give floats themselves.
                    decodes = None
                    break
                elif inner.name == "tensorflow.image.convert_image_dtype" or (
                    inner.name == "tensorflow.cast" and _is_float(inner.argument(1, "dtype"))
                ):
                    cast = inner
        if decodes is None or cast is None:
            continue
        buffer = next(
            (
                step
                for step in downstream(dataset)
                if kind(step) in ("cache", "shuffle") and step.site is not None
            ),
            None,
        )
        if buffer is None or buffer.site is None:
            continue
        yield hit_at(
            cast,
            values={"cast": short(cast), "buffer": kind(buffer), "line": buffer.site.call.name_line},
            flow=(at(site, label="map runs it for every element"),),
            needs=((site.scope, site.call.block),),
            related=(at(buffer.site, label="holds four times the bytes"),),
        )


def _is_float(value: Value | None) -> bool:
    return any(
        isinstance(item, External) and item.name == "tensorflow.float32" for item in alternatives(value)
    )
