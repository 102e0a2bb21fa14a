"""Elements of datasets: batches of batches, one huge batch, repeated random draws."""

from __future__ import annotations

import os
from collections.abc import Iterator

from cfgfix.code.checks.bindings import bound_once
from cfgfix.code.checks.common import in_tests, inside_function, is_random, line_of_site, short
from cfgfix.code.checks.models import model_calls, trains
from cfgfix.code.checks.order import named_for_evaluation
from cfgfix.code.checks.pipelines import (
    MAKES_BATCHES,
    downstream,
    given_for,
    loaded_in_batches,
    pipelines_to,
    possible,
    stored_once,
    upstream,
)
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.datasets import NUMPY_ITERATOR
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import inside
from cfgfix.code.model.expressions import MISSING, constant, dotted, is_name, is_none, text
from cfgfix.code.model.hit import Step, at, hit_at, hit_in
from cfgfix.code.model.nodes import (
    Attribute,
    Binary,
    Call,
    Collection,
    Expr,
    Literal,
    Name,
    Place,
    Slice,
    Subscript,
)
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Constant, Dataset, Items, Made, Site, Value, alternatives, first_dataset
from cfgfix.rules.hit import Hit

_BATCH = frozenset({"batch", "padded_batch"})
_LEAVES_BATCHES = frozenset(
    {"map", "shuffle", "prefetch", "cache", "repeat", "take", "skip", "with_options", "filter", "enumerate", "shard", "either"}
)  # fmt: skip
_TAKES_APART = ("reshape", "squeeze", "unstack", "concat", "flatten", "transpose", "expand", "tuple", "split")


def kind(step: Dataset) -> str:
    """Return the operation of a step, seeing through `apply`."""
    return step.detail if step.op == "apply" and step.detail else step.op


# Batches of batches


def batched_twice(program: Program) -> Iterator[Hit]:
    """Find `batch` of elements that are batches already."""
    fed = _fed_to_models(program)
    seen: set[tuple[int, int]] = set()
    for dataset in flow_of(program).datasets:
        later = dataset.site
        if kind(dataset) not in _BATCH or later is None:
            continue
        key = (id(later.scope), later.call.number)
        if key in seen or _size_of(later) == 1 or written_for_one(program, later.scope):
            continue
        for way in pipelines_to(dataset):
            if not possible(program, way):
                continue
            first = _batched_before(way)
            if first is None or first.site is None:
                continue
            if first.site.scope is not later.scope and (_is_chosen(first.site) or _is_chosen(later)):
                # Whether a function makes batches is said by who calls it.
                continue
            of_loader = kind(first) not in _BATCH
            if (
                not of_loader
                and not _same_size(program, first.site, later)
                and not (id(dataset) in fed and _in_pairs(way[-1]))
            ):
                # Batches of characters are sequences; those of tasks and of parts are made and gone over by hand.
                continue
            if any(
                kind(step) in ("unbatch", "flat_map", "interleave", "unknown") for step in downstream(dataset)
            ):
                continue
            seen.add(key)
            yield hit_at(
                later,
                values={
                    "first": short(first.site) if of_loader else "batch",
                    "line_of": line_of_site(later, first.site),
                },
                needs=((first.site.scope, first.site.call.block),),
                related=(at(first.site, label="makes batches already"),),
            )
            break


def _is_chosen(site: Site) -> bool:
    return any(block.kind == "if" for block in site.scope.block_chain(site.call.block))


def _fed_to_models(program: Program) -> set[int]:
    """Return the ids of the datasets that models get, with their upstream steps."""
    found: set[int] = set()
    for method in ("fit", "evaluate", "predict"):
        for site in model_calls(program, method):
            values = [site.argument(0, "x")]
            if method == "fit":
                values.append(site.argument(7, "validation_data"))
            for value in values:
                dataset = first_dataset(value)
                if dataset is not None:
                    found |= {id(step) for step in (dataset, *upstream(dataset))}
    return found


def _batched_before(way: list[Dataset]) -> Dataset | None:
    """Return the earlier step of a pipeline that already made batches, or None.

    None also where a step between may take the batches apart.
    """
    for step in way[1:]:
        name = kind(step)
        if name in _BATCH or (name in MAKES_BATCHES and name.startswith("make_")):
            return step if step.site is not None and _size_of(step.site) != 1 else None
        if step is way[-1]:
            if loaded_in_batches(step):
                return step
            if step.op == "tfds.load" and step.site is not None:
                size = step.site.call.keyword("batch_size")
                if size is not None and not is_none(size) and constant(size) != -1:
                    return step
            return None
        if name not in _LEAVES_BATCHES:
            return None
        if name == "map" and _may_split_elements(step):
            return None
    return None


def _in_pairs(first: Dataset) -> bool:
    """Tell whether a dataset's source yields pairs of input and label."""
    if first.site is None:
        return False
    if first.op == "from_tensor_slices":
        given = first.site.call.argument(0, "tensors")
        return given is not None and isinstance(given, Collection) and len(given.items) > 1
    return first.op == "tfds.load" and constant(first.site.call.keyword("as_supervised")) is True


def _may_split_elements(step: Dataset) -> bool:
    """Tell whether a `map` may reshape its elements."""
    return not step.functions or any(
        (call.method or dotted(call.func) or "").rpartition(".")[2].startswith(_TAKES_APART)
        for function in step.functions
        for call in function.scope.calls
    )


def _size_of(site: Site) -> object:
    given = site.call.argument(0, "batch_size")
    if given is None:
        return MISSING
    value = constant(given)
    if value is MISSING and isinstance(given, Name):
        bound = bound_once(site.scope, given.name, site.call.block)
        value = constant(bound[0]) if bound is not None else MISSING
    return value


def _same_size(program: Program, first: Site, later: Site) -> bool:
    one, other = _size_as_named(program, first), _size_as_named(program, later)
    return one is not None and one == other


def _size_as_named(program: Program, site: Site) -> str | None:
    """Return the batch size as text; for a parameter, the callers' common argument."""
    given = site.call.argument(0, "batch_size")
    scope = site.scope
    position = next((number for number, item in enumerate(scope.params) if is_name(given, item.name)), None)
    if given is None or position is None or scope.binding(scope.params[position].name):
        return text(given) if given is not None else None
    written: set[str | None] = set()
    for caller in flow_of(program).callers(scope):
        target = next((item for item in caller.targets if item.scope is scope), None)
        if target is None or caller.call.opaque:
            return text(given)
        offset = int(target.receiver is not None)
        argument = caller.call.argument(position - offset, scope.params[position].name)
        if argument is None:
            argument = scope.params[position].default
        written.add(text(argument) if argument is not None else None)
    return next(iter(written)) if len(written) == 1 else text(given)


# The same draw in each epoch

_SEEDS = (
    "tensorflow.random.set_seed",
    "tensorflow.set_random_seed",
    "tensorflow.random.set_random_seed",
    "keras.utils.set_random_seed",
)
_DRAWS = ("tensorflow.random.", "tensorflow.image.random_")
_REORDERS = frozenset(
    {"shuffle", "shuffle_and_repeat", "sample_from_datasets", "choose_from_datasets", "rejection_resample"}
)


def same_draws(program: Program) -> Iterator[Hit]:
    """Find random maps that a seed makes draw the same numbers in each epoch."""
    seeds = [
        site
        for site in flow_of(program).named(*_SEEDS)
        if not in_tests(site.scope) and site.call.args and not is_none(site.call.args[0])
    ]
    seen: set[tuple[int, int]] = set()
    for dataset in flow_of(program).datasets:
        site = dataset.site
        if dataset.op != "map" or site is None or named_for_evaluation(site):
            continue
        key = (id(site.scope), site.call.number)
        if key in seen or written_for_one(program, site.scope):
            continue
        found = _seeded_draw(program, dataset, seeds)
        if found is None or _mixed_before(program, dataset) or not _gone_over_again(program, dataset):
            continue
        draw, seed = found
        seen.add(key)
        yield hit_at(
            site,
            values={
                "call": short(draw),
                "seed": _seed_in_words(seed, draw),
            },
            needs=((seed.scope, seed.call.block), (draw.scope, draw.call.block)),
            related=(
                at(draw, label="drawn here"),
                *((at(seed, label="the seed"),) if seed is not draw else ()),
            ),
        )


_PARTS = frozenset({"take", "skip", "shard", "filter", "enumerate", "window", "zip", "unknown", "shuffle"})
"""What may need one order in all passes, or gives another one."""


def same_order(program: Program) -> Iterator[Hit]:
    """Find training data shuffled only once, so that each epoch has the same order."""
    seen: set[tuple[int, int]] = set()
    for dataset in flow_of(program).datasets:
        site = dataset.site
        if kind(dataset) != "shuffle" or site is None:
            continue
        again = site.call.argument(2, "reshuffle_each_iteration")
        if not isinstance(again, Literal) or again.value is not False:
            continue
        key = (id(site.scope), site.call.number)
        if key in seen or named_for_evaluation(site) or written_for_one(program, site.scope):
            continue
        if any(kind(step) in _PARTS for step in downstream(dataset)) or not _gone_over_again(
            program, dataset
        ):
            continue
        seen.add(key)
        yield hit_at(site)


def _seeded_draw(program: Program, dataset: Dataset, seeds: list[Site]) -> tuple[Site, Site] | None:
    """Return a random operation of a `map` and the call that seeds it, or None."""
    for function in dataset.functions:
        for draw, _ in inside_function(program, function):
            if not draw.name.startswith(_DRAWS) or not is_random(draw):
                continue
            own = draw.call.keyword("seed")
            if own is not None and type(constant(own)) is int:
                return draw, draw
            for seed in seeds:
                if seed.scope.module is draw.scope.module or _is_linked(program, seed, draw):
                    return draw, seed
    return None


def _seed_in_words(seed: Site, draw: Site) -> str:
    if seed is draw:
        return "its own seed"
    of = "" if seed.scope.module is draw.scope.module else f" of {os.path.basename(seed.scope.module.path)}"
    return f"the seed in line {seed.call.name_line}{of}"


def _is_linked(program: Program, seed: Site, draw: Site) -> bool:
    """Tell whether the file of a seed and the file of a draw run together."""
    from cfgfix.code.inference.entry_points import modules_sharing_runs

    return bool(draw.scope.module.path in modules_sharing_runs(program, seed.scope.module))


def _mixed_before(program: Program, dataset: Dataset) -> bool:
    """Tell whether the elements before a `map` come in another order in each epoch."""
    for way in pipelines_to(dataset):
        if not possible(program, way):
            continue
        for step in way[1:]:
            name = kind(step)
            if name == "either":
                continue
            if name in _REORDERS or name in ("unknown", "parameter", "opaque"):
                if name == "shuffle" and step.site is not None:
                    again = step.site.call.argument(2, "reshuffle_each_iteration")
                    if constant(again) is False:
                        continue
                return True
            if name == "from_generator" or (name == "cache" and step.site is None):
                return True
            if step.site is not None and (
                (name == "list_files" and constant(step.site.call.argument(1, "shuffle")) is not False)
                or (name == "tfds.load" and constant(step.site.call.keyword("shuffle_files")) is True)
                or (
                    name.endswith("_from_directory")
                    and constant(step.site.call.keyword("shuffle")) is not False
                )
            ):
                return True
    return False


def _gone_over_again(program: Program, dataset: Dataset) -> bool:
    """Tell whether a dataset is iterated anew in each of several epochs."""
    below = [dataset, *downstream(dataset)]
    if any(kind(step) in ("repeat", "cache", "snapshot", "unknown") for step in below):
        return False
    known = {id(step) for step in below}
    for site in model_calls(program, "fit"):
        fed = first_dataset(site.argument(0, "x"))
        if fed is not None and (id(fed) in known or any(id(step) in known for step in upstream(fed))):
            epochs = site.call.argument(3, "epochs")
            if (
                site.call.argument(12, "steps_per_epoch") is None
                and epochs is not None
                and constant(epochs) != 1
            ):
                return True
    for how, fed, scope, block in flow_of(program).consumed:
        if how == "loop" and (id(fed) in known or any(id(step) in known for step in upstream(fed))):
            loop = next(
                (event for event in scope.events() if any(number == block for number, _ in event.bodies)),
                None,
            )
            if loop is None:
                continue
            if scope.loops(loop.block) or any(
                caller.scope.loops(caller.call.block) for caller in flow_of(program).callers(scope)
            ):
                return True
    return False


# The whole set as one element

_READS_ARRAYS = (
    "numpy.load",
    "numpy.loadtxt",
    "numpy.genfromtxt",
    "pandas.read_csv",
    "keras.datasets.",
    "sklearn.",
)
_KEEPS_WHOLE = frozenset({"repeat", "prefetch", "cache", "map", "with_options", "shuffle", "either"})


def whole_set(program: Program) -> Iterator[Hit]:
    """Find `from_tensors` of arrays that a model is trained on.

    The dataset has one element: one batch, one step an epoch.
    """
    for site in model_calls(program, "fit"):
        dataset = first_dataset(site.argument(0, "x"))
        if dataset is None:
            continue
        for way in pipelines_to(dataset):
            made = way[-1].site
            if way[-1].op != "from_tensors" or made is None or not possible(program, way):
                continue
            between = [kind(step) for step in way[:-1]]
            batch = next((step.site for step in way[:-1] if kind(step) == "batch"), None)
            if not set(between) <= _KEEPS_WHOLE | {"batch"} or written_for_one(program, made.scope):
                continue
            given = made.call.argument(0, "tensors")
            if given is None or not _many_rows(program, made, given):
                continue
            yield hit_at(
                made,
                values={
                    "shown": text(given),
                    "then": f"and batch (line {batch.call.name_line}) puts whole sets together"
                    if batch is not None
                    else f"and fit in line {site.call.name_line} takes one step an epoch",
                },
                needs=((site.scope, site.call.block),),
                related=(at(site, label="trains on it"),),
            )


def _many_rows(program: Program, made: Site, given: Expr) -> bool:
    """Tell whether arrays hold a whole data set, such as one read from a file."""
    parts = given.items if isinstance(given, Collection) else (given,)
    return bool(parts) and any(_is_read(program, part, made.scope, made.call.block, 5) for part in parts)


def _is_read(program: Program, expr: Expr, scope: Scope, block: int, depth: int) -> bool:
    """Tell whether an expression comes from a file or loader, uncut."""
    if depth <= 0:
        return False
    if isinstance(expr, Name):
        events = scope.binding(expr.name)
        if not events and any(item.name == expr.name for item in scope.params):
            given = list(given_for(program, scope, expr.name))
            return bool(given) and all(_is_read(program, *item, depth - 1) for item in given)
        values = [
            event.value
            for event in events
            if event.value is not None and event.kind in ("assign", "annotate")
        ]
        if not events and scope.parent >= 0 and expr.name not in scope.names:
            outer = scope.module.summary.scopes[scope.parent]
            return _is_read(program, expr, outer, scope.block, depth - 1)
        return bool(values) and all(_is_read(program, value, scope, block, depth - 1) for value in values)
    if isinstance(expr, Attribute):
        stored = stored_once(program, scope, expr)
        return stored is not None and _is_read(program, *stored, depth - 1)
    if isinstance(expr, Call):
        call = expr
        made = next((site for site in flow_of(program).within(scope) if site.call is call), None)
        name = made.name if made is not None else ""
        if name.startswith(_READS_ARRAYS) or (made is not None and _draws_many(made)):
            return True
        if call.method in (
            "astype",
            "to_numpy",
            "reshape",
            "fit_transform",
            "transform",
            "copy",
            "drop",
            "pop",
        ):
            parts = (call.receiver, *call.args[:1])
            return any(
                part is not None and _is_read(program, part, scope, block, depth - 1) for part in parts
            )
        return (
            bool(call.args)
            and name.startswith(("numpy.", "tensorflow."))
            and _is_read(program, call.args[0], scope, block, depth - 1)
        )
    if isinstance(expr, Binary):
        return any(_is_read(program, part, scope, block, depth - 1) for part in (expr.left, expr.right))
    if isinstance(expr, Subscript) and (isinstance(constant(expr.index), str) or _keeps_rows(expr.index)):
        return _is_read(program, expr.base, scope, block, depth - 1)
    return False


def _keeps_rows(index: Expr) -> bool:
    """Tell whether an index takes columns of all rows, such as `[:, 1:]`."""
    first = index.items[0] if isinstance(index, Collection) and index.items else None
    return isinstance(first, Slice) and first.lower is first.upper is first.step is None


_MANY = 1000
"""So many rows made up at random stand for a data set."""


def _draws_many(made: Site) -> bool:
    """Tell whether a call draws an array of many rows."""
    if not made.name.startswith(("numpy.random.", "tensorflow.random.")):
        return False
    first = made.args[0] if made.args else None
    sizes = first.items if isinstance(first, Items) else (first,)
    count = sizes[0].value if sizes and isinstance(sizes[0], Constant) else None
    return isinstance(count, int) and count >= _MANY


# A data set as a list

_READS_FILES = frozenset(
    {
        "list_files",
        "TFRecordDataset",
        "image_dataset_from_directory",
        "audio_dataset_from_directory",
        "FixedLengthRecordDataset",
    }
)
_STACKS = frozenset({"array", "asarray", "stack", "concatenate", "vstack", "concat", "convert_to_tensor"})
_CUTS = frozenset({"take", "batch_one", "unknown", "parameter"})


def kept_as_list(program: Program) -> Iterator[Hit]:
    """Find decoded images collected in a list that then becomes an array."""
    seen: set[tuple[int, int]] = set()
    for how, dataset, scope, block in flow_of(program).consumed:
        if how != "loop" or (id(scope), block) in seen or not _decoded_from_files(program, dataset):
            continue
        loop = next(
            (event for event in scope.events() if any(number == block for number, _ in event.bodies)), None
        )
        if loop is None or loop.kind != "for" or not loop.targets:
            continue
        found = _append_of_elements(scope, loop, block)
        if found is None or not trains(program, scope):
            continue
        seen.add((id(scope), block))
        call, stacked = found
        yield hit_in(
            scope,
            call.name_place,
            call.block,
            {"list": text(call.receiver), "line": stacked},
            related=(
                Step(
                    scope,
                    Place(loop.line, loop.place.column, loop.line, loop.place.column + 3),
                    loop.block,
                    "one element after another",
                ),
            ),
        )
    for site in (*flow_of(program).named("builtins.list"), *flow_of(program).named("builtins.tuple")):
        key = (id(site.scope), -1 - site.call.number)
        dataset2 = _gone_through(site.args[0]) if site.args else None
        if key in seen or dataset2 is None or not _decoded_from_files(program, dataset2):
            continue
        if not trains(program, site.scope):
            continue
        seen.add(key)
        yield hit_at(site, values={"list": f"{short(site)}(...)", "line": site.call.name_line})
    for how, dataset, scope, block in flow_of(program).consumed:
        key = (id(scope), block)
        source = scope.blocks[block].test
        if (
            how != "list"
            or key in seen
            or not isinstance(source, (Name, Attribute, Call))
            or not _decoded_from_files(program, dataset)
        ):
            continue
        if not trains(program, scope):
            continue
        seen.add(key)
        place = source.name_place if isinstance(source, Call) else source.place
        yield hit_in(
            scope,
            place,
            scope.blocks[block].parent,
            {"list": f"[... for ... in {text(source)}]", "line": place.line},
        )


def _gone_through(value: Value) -> Dataset | None:
    """Return the dataset that a value is or goes through."""
    for item in alternatives(value):
        if isinstance(item, Made) and item.name == NUMPY_ITERATOR and item.site is not None:
            return first_dataset(item.site.receiver)
    return first_dataset(value)


def _decoded_from_files(program: Program, dataset: Dataset) -> bool:
    """Tell whether a dataset always decodes files, and never takes only a few."""
    found = [way for way in pipelines_to(dataset) if possible(program, way)]
    return bool(found) and all(
        not any(kind(step) in _CUTS for step in way)
        and (
            way[-1].op.endswith("_from_directory")
            or (
                _calls_in_steps(
                    program, way, ("tensorflow.image.", "tensorflow.io.decode_", "tensorflow.audio.")
                )
                and (
                    way[-1].op in _READS_FILES
                    or _calls_in_steps(program, way, ("tensorflow.io.read_file", "tensorflow.read_file"))
                )
            )
        )
        for way in found
    )


def _calls_in_steps(program: Program, way: list[Dataset], names: tuple[str, ...]) -> bool:
    """Tell whether a function of a step calls something whose name begins so."""
    return any(
        site.name.startswith(names)
        for step in way
        for function in step.functions
        for site, _ in inside_function(program, function)
    )


def _append_of_elements(scope: Scope, loop: Event, block: int) -> tuple[Call, int] | None:
    """Return the `append` of a loop's element and the line that stacks the list.

    None where there is no such pair.
    """
    names = _element_names(loop)
    for call in scope.calls:
        if (
            call.method not in ("append", "extend")
            or len(call.args) != 1
            or not inside(scope, call.block, block)
        ):
            continue
        if not _is_element(call.args[0], scope, names):
            continue
        shown = text(call.receiver)
        for other in scope.calls:
            if (
                other.place.start > loop.place.end
                and (other.method or dotted(other.func)) in _STACKS | {"fit"}
                and any(text(given) == shown for given in other.args[:1])
            ):
                return call, other.line
    return None


def _element_names(loop: Event) -> set[str]:
    """Return the loop variable for the first part of each element, as a set.

    Of `image, label` it is `image`.
    """
    target = loop.targets[0]
    if (
        loop.value is not None
        and isinstance(loop.value, Call)
        and dotted(loop.value.func) == "enumerate"
        and isinstance(target, Collection)
        and len(target.items) == 2
    ):
        target = target.items[1]
    if isinstance(target, Collection) and target.items:
        target = target.items[0]
    return {target.name} if isinstance(target, Name) else set()


def _is_element(expr: Expr, scope: Scope, names: set[str]) -> bool:
    """Tell whether an expression is a loop's element, unchanged or as an array."""
    if isinstance(expr, Name):
        return expr.name in names
    if not isinstance(expr, Call):
        return False
    call = expr
    if call.method == "numpy" and not call.args:
        return call.receiver is not None and _is_element(call.receiver, scope, names)
    return (
        (call.method or dotted(call.func)) in ("array", "asarray", "squeeze", "copy")
        and bool(call.args)
        and _is_element(call.args[0], scope, names)
    )
