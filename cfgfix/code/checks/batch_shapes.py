"""Batches of changing shape that cause retracing or are refused."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.common import in_tests, line_beside
from cfgfix.code.checks.pipelines import upstream
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import ELEMENT, GRAPH, PYTHON, hot_paths, innermost_loop
from cfgfix.code.model.expressions import constant, dotted, text, walk
from cfgfix.code.model.hit import Rewrite, Step, at, hit_at, hit_in
from cfgfix.code.model.nodes import Attribute, Call, Collection, Dictionary, Expr, Literal, Name, Subscript
from cfgfix.code.model.program import Program, is_keras_part
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Dataset, Element, Items, Site, Value, alternatives
from cfgfix.rules.hit import Hit


def called_in_loops(program: Program) -> Iterator[Site]:
    """Yield the calls of compiled functions in Python loops."""
    hot = hot_paths(program)
    for site in flow_of(program).compiled:
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
    """Return the padded batch step, with open shapes, that a value is an element of.

    None where there is no such step.
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
    """Return a dataset's `padded_batch` step with open shapes, or None."""
    for step in (dataset, *upstream(dataset)):
        if step.op in ("bucket_by_sequence_length", "unbatch", "batch", "rebatch"):
            return None
        if step.op == "padded_batch" and step.site is not None:
            shapes = step.site.call.argument(1, "padded_shapes")
            return step if shapes is None or _is_open(shapes) else None
    return None


def _is_open(expr: Expr) -> bool:
    """Tell whether literal shapes contain None.

    Shapes that are not literal count as closed.
    """
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
    for site in flow_of(program).compiled:
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
                    values={
                        "size": size,
                        "function": target.scope.name,
                        "line_of": line_beside(batch.site.scope, made.scope, made.call.line),
                    },
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


_RESHAPES = ("tensorflow.reshape", "keras.ops.reshape", "keras.backend.reshape")


def fixed_in_layer(program: Program) -> Iterator[Hit]:
    """Find layers that cut a tensor to the batch size of a setting.

    The last batch of the data that is made with that setting is smaller.
    """
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).named(*_RESHAPES):
        scope = site.scope
        owner = program.owner(scope)
        key = id(scope), site.call.number
        shape = site.call.argument(1, "shape")
        if (
            key in seen
            or owner is None
            or scope.name in ("__init__", "build")
            or not is_keras_part(program, owner)
        ):
            continue
        if not isinstance(shape, Collection) or len(shape.items) < 2 or written_for_one(program, scope):
            continue
        size = _fixed_batch_size(shape.items[0]) if _is_fixed(program, scope, shape.items[0]) else None
        if size is None or any(item.kind == "if" for item in scope.block_chain(site.call.block)):
            continue
        batch = _batched_by(program, size)
        if batch is None:
            continue
        seen.add(key)
        yield hit_at(
            site,
            flow=(),
            values={"size": text(shape.items[0]), "line": batch.call.name_line},
            needs=((batch.scope, batch.call.block),),
            related=(at(batch, label="keeps a last batch that is smaller"),),
        )


def _is_fixed(program: Program, scope: Scope, expr: Expr) -> bool:
    """Tell whether a batch size is fixed: not computed locally or by a call."""
    if isinstance(expr, Name):
        return expr.name not in scope.names
    owner = program.owner(scope)
    if not isinstance(expr, Attribute) or owner is None:
        return True
    return not any(
        isinstance(part, Call)
        for item in program.bases(owner).classes
        for _, event, target in item.module.stores()
        if target.attribute == expr.attribute and event.value is not None
        for part in walk(event.value)
    )


def _fixed_batch_size(expr: Expr) -> str | int | None:
    """Return a fixed batch size as a number or the last part of its name, or None."""
    found: object = None
    if isinstance(expr, Literal):
        return expr.value if type(expr.value) is int and expr.value > 1 else None
    if isinstance(expr, Name):
        found = expr.name
    elif isinstance(expr, Attribute):
        found = expr.attribute
    elif isinstance(expr, Subscript):
        found = constant(expr.index)
    shown = found.lower().strip("_") if isinstance(found, str) else ""
    return shown if _BATCH_SIZE.fullmatch(shown) else None


_BATCH_SIZE = re.compile(r"(?:\w+_)?(?:batch_?si?ze?|batchsize)|bs")


def _batched_by(program: Program, size: str | int) -> Site | None:
    """Return the call that batches by a size and keeps the smaller last batch.

    None where there is no such call, or where any `batch` drops the remainder.
    """
    found: Site | None = None
    for site in flow_of(program).named("tensorflow.data.Dataset.batch"):
        given = site.call.argument(1, "drop_remainder")
        if site.call.opaque or (given is not None and constant(given) is not False):
            return None
        first = site.call.argument(0, "batch_size")
        if first is None or _fixed_batch_size(first) != size:
            continue
        sets = [item for item in alternatives(site.result) if isinstance(item, Dataset)]
        if not sets or any(
            step.op in ("repeat", "either", "parameter", "opaque") for item in sets for step in upstream(item)
        ):
            continue
        found = found or site
    return found
