"""Generators of datasets: rows of arrays, types without shapes, TensorFlow inside."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.bindings import names_in
from cfgfix.code.checks.common import inside_function, line_of_site, short, tensorflow_alias
from cfgfix.code.checks.pipelines import downstream
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.datasets import DATASET
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import inside
from cfgfix.code.inference.references import api
from cfgfix.code.model.expressions import constant, text
from cfgfix.code.model.hit import Rewrite, at, hit_at, steps_to
from cfgfix.code.model.nodes import Attribute, Call, Collection, Name, Subscript, Yield
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Dataset, Site, alternatives, functions_of
from cfgfix.rules.hit import Hit


def rows(program: Program) -> Iterator[Hit]:
    """Find `from_generator` over the rows of an array in memory, batched later."""
    for site in flow_of(program).named(f"{DATASET}.from_generator"):
        for dataset in alternatives(site.result):
            if not isinstance(dataset, Dataset):
                continue
            batch = next((step for step in downstream(dataset) if step.op in ("batch", "padded_batch")), None)
            if batch is None or batch.site is None:
                continue
            for function in functions_of(site.argument(0, "generator")):
                source = _array_read_by_rows(program, function.scope)
                if source is not None:
                    yield hit_at(
                        site,
                        severity="info" if _on_disk(program) else None,
                        values={"source": source, "batch_line": batch.site.call.name_line},
                        related=(at(batch.site, label="rows are put together again here"),),
                    )


@once
def _on_disk(program: Program) -> bool:
    """Tell whether the program opens memory-mapped or other on-disk arrays."""
    return any(
        call.keyword("mmap_mode") is not None
        or program.static_name(call.func, scope) in ("numpy.memmap", "h5py.File", "zarr.open")
        for module in program.modules
        for scope in module.summary.scopes
        for call in scope.calls
    )


def _array_read_by_rows(program: Program, scope: Scope) -> str | None:
    """Return the array that a generator yields row by row, or None.

    Example: `for i in range(len(x)): yield x[i]`.
    """
    events = [event for event in scope.events() if event.kind not in ("pass", "import")]
    if flow_of(program).within(scope) and any(
        not site.name.startswith("builtins.") for site in flow_of(program).within(scope)
    ):
        return None
    if len(events) != 2 or events[0].kind != "for" or events[1].kind != "yield":
        return None
    loop, value = events[0], events[1].value
    if not isinstance(value, Yield):
        return None
    bound: set[str] = set()
    for target in loop.targets:
        bound |= names_in(target, scope)
    parts = value.value.items if isinstance(value.value, Collection) else (value.value,)
    for part in parts:
        if (
            isinstance(part, Subscript)
            and isinstance(part.base, Name)
            and scope.params
            and part.base.name == scope.params[0].name == "self"
        ):
            # An object's own `__getitem__` makes its elements.
            return None
        if (
            isinstance(part, Subscript)
            and isinstance(part.base, (Name, Attribute))
            and names_in(part.index, scope) <= bound
        ):
            return text(part.base)
        if (
            isinstance(part, Name)
            and part.name in bound
            and loop.value is not None
            and isinstance(loop.value, Call)
        ):
            call = loop.value
            if (
                isinstance(call.func, Name)
                and call.func.name == "zip"
                and all(isinstance(arg, (Name, Attribute)) for arg in call.args)
            ):
                return ", ".join(text(arg) for arg in call.args)
            return None
        return None
    return None


def output_types(program: Program) -> Iterator[Hit]:
    """Find `from_generator(output_types=...)`, which is deprecated.

    Without `output_shapes` the shapes are lost.
    """
    for site in flow_of(program).named(f"{DATASET}.from_generator"):
        call = site.call
        types = call.argument(1, "output_types")
        if types is None or call.keyword("output_signature") is not None:
            continue
        if written_for_one(program, site.scope):
            continue
        table = api(program)
        if table.requirement.text and not table.admitted:
            # `output_signature` came with TensorFlow 2.4.
            continue
        shapes = call.argument(2, "output_shapes")
        early = table.requirement.reaches_below(4)
        yield hit_at(
            site,
            values={"lost": "" if shapes is not None else ", and the shapes are lost"},
            rewrites=() if early else _signature_fix(site),
            no_fix="a release that may be meant has no output_signature" if early else None,
        )


def _signature_fix(site: Site) -> tuple[Rewrite, ...]:
    """Return the fix that writes `output_signature`, for literal types and shapes."""
    call = site.call
    types, shapes = call.keyword("output_types"), call.keyword("output_shapes")
    alias = tensorflow_alias(site.scope)
    if types is None or shapes is None or alias is None or not isinstance(types, (Attribute, Name)):
        return ()
    shape = constant(shapes)
    if not isinstance(shape, (tuple, list)) or not all(item is None or type(item) is int for item in shape):
        return ()
    shown = text(shapes)
    if isinstance(shapes, Collection) and shapes.kind == "tuple" and len(shapes.items) == 1:
        shown = f"({text(shapes.items[0])},)"
    signature = f"{alias}.TensorSpec(shape={shown}, dtype={text(types)})"
    return (Rewrite("signature", site.scope, call.place, signature, "output_types"),)


def tensors_in_generator(program: Program) -> Iterator[Hit]:
    """Find TensorFlow operations inside a generator's own code.

    They run eagerly for every element.
    """
    for dataset in flow_of(program).datasets:
        if dataset.op != "from_generator" or dataset.site is None:
            continue
        if written_for_one(program, dataset.site.scope):
            # Nothing runs eagerly there.
            continue
        for function in dataset.functions:
            for site, path in inside_function(program, function):
                if not site.name.startswith("tensorflow.") or site.name.startswith(_CHEAP):
                    continue
                if not for_each((*path, site)):
                    # Before the loop of the generator, or in what it makes once: not for every element.
                    continue
                yield hit_at(
                    site,
                    flow=(
                        at(dataset.site, label="from_generator runs the generator for every element"),
                        *steps_to(site.scope, path),
                    ),
                    needs=((dataset.site.scope, dataset.site.call.block),),
                    values={
                        "call": short(site),
                        "generator": function.scope.qualname,
                        "line_of": line_of_site(site, dataset.site),
                    },
                )
                break


def for_each(way: tuple[Site, ...]) -> bool:
    """Tell whether the last call of a call path runs for every element.

    A call of the path stands in the loop that yields.
    """
    if any(site.scope.name == "__init__" for site in way):
        # What sets an object up runs once.
        return False
    for site in reversed(way):
        loops = {
            loop
            for event in site.scope.events()
            if event.kind == "yield"
            for loop in [_innermost_loop(site.scope, event.block)]
            if loop is not None
        }
        if loops:
            return any(inside(site.scope, site.call.block, loop) for loop in loops)
    return any(_innermost_loop(site.scope, site.call.block) is not None for site in way)


def _innermost_loop(scope: Scope, block: int) -> int | None:
    """Return the innermost loop around a block, a comprehension included."""
    while block >= 0:
        if scope.blocks[block].kind in ("for", "while", "comprehension"):
            return block
        block = scope.blocks[block].parent
    return None


_CHEAP = (
    "tensorflow.io.gfile.",
    "tensorflow.gfile.",
    "tensorflow.nest.",
    "tensorflow.__internal__.",
    "tensorflow.logging.",
    "tensorflow.get_logger",
    "tensorflow.TensorSpec",
    "tensorflow.TensorShape",
    "tensorflow.data.TFRecordDataset",
    "tensorflow.data.Dataset.as_numpy_iterator",
    "tensorflow.device",
    "tensorflow.train.Example",
    "tensorflow.train.SequenceExample",
    "tensorflow.train.Feature",
    "tensorflow.train.BytesList",
    "tensorflow.train.FloatList",
    "tensorflow.train.Int64List",
    "tensorflow.python_io.",
    "tensorflow.io.tf_record_iterator",
    "tensorflow.compat.as_",
    "tensorflow.errors.",
    "tensorflow.config.",
)
