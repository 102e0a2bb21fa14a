"""Batches whose shapes change, so that a function is traced anew or refuses them."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.common import COMPILED, in_tests
from cfgfix.code.checks.pipelines import upstream
from cfgfix.code.inference.hot_paths import ELEMENT, GRAPH, PYTHON, hot_paths, innermost_loop
from cfgfix.code.model.expressions import constant, dotted
from cfgfix.code.model.hit import Rewrite, Step, at, hit_at, hit_in
from cfgfix.code.model.nodes import Call, Collection, Dictionary, Expr, Literal
from cfgfix.code.model.program import Program
from cfgfix.code.model.values import Dataset, Element, Items, Site, Value, alternatives
from cfgfix.rules.hit import Hit

NEEDLES = (
    *COMPILED,
    b".compile(",
)


def called_in_loops(program: Program) -> Iterator[Site]:
    """Yield the calls of compiled functions that Python code makes in a loop."""
    hot = hot_paths(program)
    for site in program.flow.compiled:
        if in_tests(site.scope) or hot.reach(site.scope, GRAPH, ELEMENT) is not None:
            continue
        if innermost_loop(site.scope, site.call.block) is not None:
            yield site


def padded_argument(site: Site) -> Dataset | None:
    """Return the padded batch with an open dimension that a call is given, or None."""
    return next((found for value in site.args if (found := padded_element(value)) is not None), None)


def variable_shapes(program: Program) -> Iterator[Hit]:
    """Find compiled functions that a loop gives batches of changing lengths.

    Each batch is padded to its own longest element, and no argument of `tf.function` allows for that.
    """
    seen: set[int] = set()
    for site in called_in_loops(program):
        batch = padded_argument(site)
        if batch is None or batch.site is None:
            continue
        for target in site.targets:
            made = target.compiled
            if made is None or made.call.opaque or made.call.args[1:] or id(made.call) in seen:
                continue
            if any(name in ("jit_compile", "experimental_compile") for name, _ in made.call.keywords):
                # General shapes do not help XLA; that is a finding about the batches.
                continue
            if any(
                name in ("input_signature", "reduce_retracing", "experimental_relax_shapes")
                for name, _ in made.call.keywords
            ):
                continue
            seen.add(id(made.call))
            if made.call.number < 0:
                rewrites: tuple[Rewrite, ...] = (
                    Rewrite(
                        "replace",
                        made.scope,
                        made.call.place,
                        f"{dotted(made.call.func)}(reduce_retracing=True)",
                    ),
                )
            else:
                rewrites = (Rewrite("keyword", made.scope, made.call.place, "True", "reduce_retracing"),)
            yield hit_in(
                made.scope,
                made.call.name_place if made.call.number >= 0 else made.call.place,
                made.call.block,
                {
                    "function": target.scope.name,
                    "batch_line": batch.site.call.name_line,
                    "loop_line": site.call.name_line,
                },
                needs=((site.scope, site.call.block), (batch.site.scope, batch.site.call.block)),
                related=(
                    at(batch.site, label="each batch has a length of its own"),
                    at(site, label="called with them here"),
                ),
                rewrites=rewrites,
            )


def padded_element(value: Value) -> Dataset | None:
    """Return the padded batch with an open dimension that a value comes from.

    The value is one of its elements; None where there is no such batch.
    """
    for item in alternatives(value):
        inner = item.items if isinstance(item, Items) else (item,)
        for part in inner:
            if isinstance(part, Element):
                found = padded_batch(part.dataset)
                if found is not None:
                    return found
    return None


def padded_batch(dataset: Dataset) -> Dataset | None:
    """Return the padded batch with an open dimension that a dataset gives, or None."""
    for step in (dataset, *upstream(dataset)):
        if step.op in ("bucket_by_sequence_length", "unbatch", "batch", "rebatch"):
            return None
        if step.op == "padded_batch" and step.site is not None:
            shapes = step.site.call.argument(1, "padded_shapes")
            return step if shapes is None or _is_open(shapes) else None
    return None


def _is_open(expr: Expr) -> bool:
    """Tell whether literal shapes have a dimension of None; anything that is not literal counts as closed."""
    if isinstance(expr, Collection):
        return any(_is_open(item) for item in expr.items)
    if isinstance(expr, Dictionary):
        return any(_is_open(value) for _, value in expr.entries)
    return isinstance(expr, Literal) and expr.value is None


def remainder_signature(program: Program) -> Iterator[Hit]:
    """Find fixed batch sizes in an `input_signature` that meet a smaller batch.

    The dataset that feeds the function keeps its remainder.
    """
    hot = hot_paths(program)
    seen: set[int] = set()
    for site in program.flow.compiled:
        if in_tests(site.scope) or hot.reach(site.scope, GRAPH, ELEMENT, PYTHON) is not None:
            continue
        for target in site.targets:
            made = target.compiled
            if made is None or id(made.call) in seen:
                continue
            size = _fixed_batch(made)
            if size is None:
                continue
            for value in site.args:
                batch = _with_remainder(value)
                if batch is None or batch.site is None:
                    continue
                seen.add(id(made.call))
                yield hit_at(
                    batch.site,
                    values={"size": size, "function": target.scope.name, "line_of": made.call.line},
                    needs=((site.scope, site.call.block), (made.scope, made.call.block)),
                    related=(
                        Step(
                            made.scope,
                            made.call.name_place if made.call.number >= 0 else made.call.place,
                            made.call.block,
                            "fixes the batch size",
                        ),
                    ),
                    rewrites=(
                        Rewrite("keyword", batch.site.scope, batch.site.call.place, "True", "drop_remainder"),
                    ),
                )
                break


def _fixed_batch(made: Site) -> int | None:
    signature = made.call.keyword("input_signature")
    if signature is None or not isinstance(signature, Collection) or not signature.items:
        return None
    first = signature.items[0]
    if not isinstance(first, Call):
        return None
    shape = first.argument(0, "shape")
    value = constant(shape)
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], int) and value[0] > 1:
        return value[0]
    return None


def _with_remainder(value: Value) -> Dataset | None:
    for item in alternatives(value):
        if isinstance(item, Element):
            for step in (item.dataset, *upstream(item.dataset)):
                if step.op in ("batch", "padded_batch") and step.site is not None:
                    position = 1 if step.op == "batch" else 3
                    given = step.site.call.argument(position, "drop_remainder")
                    if step.site.call.opaque:
                        return None
                    return step if given is None or constant(given) is False else None
                if step.op in ("repeat", "unbatch", "rebatch"):
                    return None
    return None
