"""Parallel calls, AUTOTUNE and buffers."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.common import (
    evaluates,
    inside_function,
    is_autotune,
    is_random,
    reads_symbols,
    short,
    shows_pictures,
)
from cfgfix.code.checks.guarded_calls import flag, is_given, number
from cfgfix.code.checks.models import method_of
from cfgfix.code.checks.moves import autotune
from cfgfix.code.checks.order import kind, works_ahead
from cfgfix.code.checks.pipelines import downstream, upstream
from cfgfix.code.checks.python_functions import reads_in_python
from cfgfix.code.checks.sizes import EXPENSIVE, NO_ALIAS, fix_with_prefetch
from cfgfix.code.inference.eras import asks_only_before, release_in_words, written_for_one
from cfgfix.code.inference.flow.datasets import DATASET
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import GRAPH, PY_FUNCTIONS, Reach, hot_paths
from cfgfix.code.inference.references import api
from cfgfix.code.model.canonical_names import canonical_name
from cfgfix.code.model.expressions import constant, dotted, place_of, text, walk
from cfgfix.code.model.hit import Rewrite, at, hit_at, hit_in
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import (
    Attribute,
    Binary,
    Boolean,
    Call,
    Compare,
    Expr,
    Literal,
    Name,
    Place,
)
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Dataset, External, Made, Site, Value, alternatives, first_dataset
from cfgfix.rules.hit import Hit

_SHOW = {
    "min": "-1, that is AUTOTUNE itself: the limit has no effect",
    "max": "the other value: AUTOTUNE has no effect",
}


def autotune_min_max(program: Program) -> Iterator[Hit]:
    """Find `min` and `max` of AUTOTUNE, and arithmetic and comparisons with it."""
    for name in ("min", "max"):
        for site in flow_of(program).named(f"builtins.{name}"):
            places = [index for index, value in enumerate(site.args) if is_autotune(value)]
            if not places or len(site.args) < 2 or site.call.keywords or site.call.opaque:
                continue
            shown = text(site.call)
            keep = places[0] if name == "min" else 1 - places[0]
            rewrites: tuple[Rewrite, ...] = ()
            if len(site.args) == 2 and len(places) == 1:
                new = _source_text(site.call.args[keep])
                if new is not None:
                    rewrites = (Rewrite("replace", site.scope, site.call.place, new),)
            yield hit_at(
                site,
                whole=True,
                values={"expr": shown, "value": _SHOW[name]},
                rewrites=rewrites,
                safety="safe" if name == "min" else "unsafe",
                title=f"Write {text(site.call.args[keep])}" if rewrites else None,
            )
    yield from _arithmetic_hits(program)


def _source_text(expr: Expr) -> str | None:
    """Return the source of a name, an attribute or an integer; None for anything else."""
    if isinstance(expr, (Name, Attribute)) and dotted(expr) is not None:
        return dotted(expr)
    if isinstance(expr, Literal) and isinstance(expr.value, int):
        return repr(expr.value)
    return None


def _arithmetic_hits(program: Program) -> Iterator[Hit]:
    for module in program.modules:
        if "AUTOTUNE" not in module.summary.words:
            continue
        scopes = module.summary.scopes
        imported = any(source.endswith(".AUTOTUNE") for scope in scopes for source in scope.imports.values())
        for scope in scopes:
            if not imported and not any(expr.attribute == "AUTOTUNE" for expr, _ in scope.references):
                continue
            for event in scope.events():
                if event.value is None or isinstance(event.value, (Name, Attribute, Literal)):
                    continue
                for part in walk(event.value):
                    found = (
                        _fault_of_operation(part, scope, program) if isinstance(part, _OPERATIONS) else None
                    )
                    if found is not None:
                        place, value = found
                        yield hit_in(scope, place, event.block, {"expr": text(part), "value": value})


_OPERATIONS = (Binary, Compare, Boolean)


def _fault_of_operation(part: Expr, scope: Scope, program: Program) -> tuple[Place, str] | None:
    """Return the place and the fault of an operation on AUTOTUNE, or None."""
    if isinstance(part, Binary) and part.operator in ("*", "+", "-", "//", "/", "%", "**"):
        if _is_constant(part.left, scope, program) or _is_constant(part.right, scope, program):
            return part.place, "a number below zero, which tf.data takes for something else or refuses"
    elif (
        isinstance(part, Compare)
        and len(part.rights) == 1
        and part.rights[0].operator in ("<", "<=", ">", ">=")
    ):
        if _is_constant(part.left, scope, program) or _is_constant(part.rights[0].right, scope, program):
            return part.place, "a comparison with -1"
    elif (
        isinstance(part, Boolean) and part.operator == "or" and _is_constant(part.operands[0], scope, program)
    ):
        return part.place, "always AUTOTUNE: -1 counts as true"
    return None


def _is_constant(expr: Expr, scope: Scope, program: Program) -> bool:
    if not isinstance(expr, (Name, Attribute)):
        return False
    name = program.static_name(expr, scope)
    return name in ("tensorflow.data.AUTOTUNE", "tensorflow.data.experimental.AUTOTUNE")


def stateful_map(program: Program) -> Iterator[Hit]:
    """Find sequential `map` calls whose function is stateful.

    TensorFlow does not parallelise them by itself.
    """
    for site in flow_of(program).named(f"{DATASET}.map"):
        if (
            is_given(site, 1, "num_parallel_calls") is not False
            or is_given(site, 9, "synchronous") is not False
        ):
            continue
        dataset = first_dataset(site.result)
        if dataset is not None and any(step.op == "from_tensors" for step in _parent_datasets(dataset)):
            # One element, or one repeated.
            continue
        for function in dataset.functions if dataset is not None else ():
            found = next(
                (
                    (inner, path)
                    for inner, path in inside_function(program, function)
                    if is_random(inner) or (inner.name in PY_FUNCTIONS and not _is_stateless(inner))
                ),
                None,
            )
            if found is None or reads_symbols(function):
                continue
            inner, path = found
            name = autotune(program, site.scope)
            assert dataset is not None
            yield hit_at(
                site,
                # Python that only computes holds the interpreter's lock: parallel calls of it gain nothing.
                severity="warning"
                if _works_hard(program, dataset)
                and (inner.name not in PY_FUNCTIONS or reads_in_python(program, inner))
                # With a cache behind it only the first epoch waits.
                and not any(step.op == "cache" for step in downstream(dataset))
                and not _parallel_beside(program, site)
                and not written_for_one(program, site.scope)
                and not shows_pictures(site.scope)
                and not evaluates(site.scope)
                else "info",
                values={
                    "function": function.scope.qualname if function.scope.kind != "lambda" else "the lambda",
                    "state": short(inner),
                },
                needs=((inner.scope, inner.call.block), *((p.scope, p.call.block) for p in path)),
                related=(at(inner, label="keeps state"),),
                rewrites=(Rewrite("keyword", site.scope, site.call.place, name, "num_parallel_calls"),)
                if name
                else (),
                no_fix=None if name else NO_ALIAS,
            )
            break


def _is_stateless(site: Site) -> bool:
    """Tell whether a call declares its Python function as `stateful=False`.

    TensorFlow may then parallelise the map that runs it.
    """
    return constant(site.call.keyword("stateful")) is False


def _parallel_beside(program: Program, site: Site) -> bool:
    """Tell whether another branch maps the same function with parallel calls.

    The sequential call is then meant.
    """
    if not site.call.args:
        return False
    shown = text(site.call.args[0])
    return any(
        method_of(other) == "map"
        and other.call is not site.call
        and other.call.block != site.call.block
        and bool(other.call.args)
        and text(other.call.args[0]) == shown
        and is_given(other, 1, "num_parallel_calls") is not False
        for other in flow_of(program).within(site.scope)
    )


def _in_parallel_interleave(reach: Reach | None) -> bool:
    """Tell whether a map runs in the function of a parallel `interleave`."""
    root = reach.root.site if reach is not None else None
    return (
        root is not None
        and method_of(root) == "interleave"
        and is_given(root, 3, "num_parallel_calls") is not False
    )


def _works_hard(program: Program, dataset: Dataset) -> bool:
    """Tell whether a dataset's function runs Python, or reads or parses files.

    Decoding counts as well, resizing does not.
    """
    return any(
        inner.name in PY_FUNCTIONS or (inner.name.startswith(EXPENSIVE) and "image.resize" not in inner.name)
        for function in dataset.functions
        for inner, _ in inside_function(program, function)
    )


def sequential_map(program: Program) -> Iterator[Hit]:
    """Find sequential stateless `map` calls that TensorFlow leaves sequential.

    They stand inside interleave, or the optimization is switched off.
    """
    hot = hot_paths(program)
    for site in flow_of(program).named(f"{DATASET}.map"):
        if is_given(site, 1, "num_parallel_calls") is not False:
            continue
        dataset = first_dataset(site.result)
        if (
            dataset is None
            or not dataset.functions
            or any(
                is_random(inner) or inner.name in PY_FUNCTIONS
                for function in dataset.functions
                for inner, _ in inside_function(program, function)
            )
        ):
            continue
        reason = ""
        entry = None
        reach = hot.reach_of(site, "element")
        if (
            reach is not None
            and reach.root.site is not None
            and method_of(reach.root.site) in ("interleave", "flat_map")
        ):
            reason = f"it stands inside the function of {reach.root.what}"
            entry = reach
        else:
            reason = _switched_off(site.scope.module)
            if not reason and asks_only_before(program, PARALLELISES) and _works_hard(program, dataset):
                reason = f"{release_in_words(api(program))}, where map_parallelization is off"
        if not reason:
            continue
        name = autotune(program, site.scope)
        yield hit_at(
            site,
            entry=entry,
            severity="warning"
            if _works_hard(program, dataset)
            and not _parallel_beside(program, site)
            and not _in_parallel_interleave(reach)
            and not written_for_one(program, site.scope)
            else "info",
            values={"reason": reason},
            rewrites=(Rewrite("keyword", site.scope, site.call.place, name, "num_parallel_calls"),)
            if name
            else (),
            no_fix=None if name else NO_ALIAS,
        )


PARALLELISES = 6
"""The minor release of TensorFlow 2 from which on maps are parallelised unasked (`map_parallelization` in the wheels of 2.1 to 2.8)."""
_SWITCHES = {
    "autotune.enabled": "options.autotune.enabled is False",
    "experimental_optimization.apply_default_optimizations": "apply_default_optimizations is False",
    "experimental_optimization.map_parallelization": "map_parallelization is False",
}


def _switched_off(module: Module) -> str:
    """Return the words for what switches off TensorFlow's own parallelisation.

    Options hold for the datasets that get them, so only the given file counts. Empty where nothing does.
    """
    for _, event, target in module.stores():
        if event.block == 0 and constant(event.value) is False:
            name = dotted(target) or ""
            for ending, reason in _SWITCHES.items():
                if name.endswith("." + ending):
                    return f"{reason} at line {event.line} of {module.path}"
    return ""


_BATCHED = ("batch", "padded_batch", "ragged_batch", "bucket_by_sequence_length")


def prefetch_proven_missing(program: Program) -> Iterator[Hit]:
    """Find datasets without prefetch where TensorFlow adds none.

    A `tf.function` loops over them, or they end in `prefetch(0)`.
    """
    hot = hot_paths(program)
    for how, dataset, scope, block in flow_of(program).consumed:
        reach = hot.reach_at(scope, block, None, GRAPH)
        if how != "loop" or reach is None or dataset.site is None:
            continue
        if dataset.op in (
            "prefetch",
            "with_options",
            "parameter",
            "opaque",
            "either",
            "take",
            "apply",
            "range",
            "from_tensors",
        ):
            continue
        way = (dataset, *_parent_datasets(dataset))
        if not any(step.functions for step in way) or not any(step.op in _BATCHED for step in way):
            # Elements one by one, such as the lines of a small file, feed no training.
            continue
        if dataset.op == "zip" and any(parent.op == "prefetch" for parent in dataset.parents):
            continue
        yield hit_at(
            dataset.site,
            values={"reason": f"the loop at line {scope.blocks[block].line} is compiled by tf.function"},
            needs=((scope, block),),
            entry=reach,
            **fix_with_prefetch(program, dataset.site),
        )
    yield from _nothing_buffered(program)
    for site in flow_of(program).named(f"{DATASET}.prefetch"):
        if number(site.argument(0, "buffer_size")) == 0:
            name = autotune(program, site.scope)
            yield hit_at(
                site,
                # Written out, a buffer of none is as a rule meant: what makes the elements may depend on the steps.
                severity="info",
                values={"reason": "prefetch(0) asks for no buffer and keeps TensorFlow from adding one"},
                rewrites=(Rewrite("replace", site.scope, _argument_place(site), name),)
                if name and isinstance(site.call.argument(0, "buffer_size"), Literal)
                else (),
            )


def _nothing_buffered(program: Program) -> Iterator[Hit]:
    """Yield findings for trained pipelines without prefetch.

    Only where every release that the project asks for adds none itself.
    """
    if not asks_only_before(program, PARALLELISES):
        return
    consumed = [
        (dataset, scope, block)
        for how, dataset, scope, block in flow_of(program).consumed
        if how == "loop" and any(call.method in TRAINS for call in _called_below(program, scope))
    ]
    for name in ("keras.Model.fit", "keras.Sequential.fit"):
        for fit in flow_of(program).named(name):
            consumed += [
                (item, fit.scope, fit.call.block)
                for item in alternatives(fit.argument(0, "x"))
                if isinstance(item, Dataset)
            ]
    for dataset, scope, block in consumed:
        way = (dataset, *_parent_datasets(dataset))
        site = dataset.site
        if site is None:
            continue
        if any(step.op in _NOT_SEEN_THROUGH or kind(step).startswith("prefetch") for step in way):
            continue
        if not any(step.op in _BATCHED for step in way) or not any(
            _works_hard(program, step) for step in way
        ):
            continue
        if any(step.op == "cache" or works_ahead(step) for step in way):
            # From the second epoch on nothing is left to overlap; parallel calls work ahead themselves.
            continue
        yield hit_at(
            site,
            values={
                "reason": f"{release_in_words(api(program))}, and TensorFlow before 2.{PARALLELISES} adds no prefetch"
            },
            needs=((scope, block),),
            **fix_with_prefetch(program, site),
        )


TRAINS = frozenset({"apply_gradients", "minimize", "train_on_batch"})
_NOT_SEEN_THROUGH = frozenset({"parameter", "opaque", "either", "apply", "take"})


def _called_below(program: Program, scope: Scope) -> Iterator[Call]:
    """Yield the calls of a function and of those that it calls, two levels down."""
    yield from scope.calls
    for site, _ in inside_function(program, scope, depth=2):
        yield site.call


def _argument_place(site: Site) -> Place:
    """Return the place of the buffer size in a `prefetch` call."""
    expr = site.call.argument(0, "buffer_size")
    assert expr is not None
    return place_of(expr, site.scope) or site.call.place


def _parent_datasets(dataset: Dataset) -> list[Dataset]:

    return list(upstream(dataset))


def interleave_calls(program: Program) -> Iterator[Hit]:
    """Find `interleave` with more parallel calls than its cycle is long."""
    for site in flow_of(program).named(f"{DATASET}.interleave"):
        cycle, calls = (
            number(site.argument(1, "cycle_length")),
            number(site.argument(3, "num_parallel_calls")),
        )
        if cycle is None or calls is None or cycle < 1 or calls <= cycle:
            continue
        name = autotune(program, site.scope)
        yield hit_at(
            site,
            values={"calls": calls, "cycle": cycle},
            rewrites=(Rewrite("keyword", site.scope, site.call.place, name, "num_parallel_calls"),)
            if name and site.call.keyword("num_parallel_calls") is not None
            else (),
        )


def sequential_interleave(program: Program) -> Iterator[Hit]:
    """Find `interleave` over files that reads one file at a time."""
    for site in flow_of(program).named(f"{DATASET}.interleave"):
        if is_given(site, 3, "num_parallel_calls") is not False:
            continue
        if _reads_files(program, site):
            name = autotune(program, site.scope)
            yield hit_at(
                site,
                rewrites=(Rewrite("keyword", site.scope, site.call.place, name, "num_parallel_calls"),)
                if name
                else (),
            )


_FILES = (
    "tensorflow.data.TFRecordDataset",
    "tensorflow.data.TextLineDataset",
    "tensorflow.data.FixedLengthRecordDataset",
)


def _reads_files(program: Program, site: Site) -> bool:
    """Tell whether the function of an `interleave` opens a file.

    It may be a dataset class itself, such a class with `functools.partial`, or a function.
    """
    dataset = first_dataset(site.result)
    for function in dataset.functions if dataset is not None else ():
        if any(inner.name in _FILES for inner, _ in inside_function(program, function)):
            return True
    return _is_reader(site.argument(0, "map_func"))


def _is_reader(value: Value | None) -> bool:
    found = [
        item.site.args[0]
        if isinstance(item, Made) and item.name == "functools.partial" and item.site is not None
        else item
        for item in alternatives(value)
    ]
    return bool(found) and all(
        isinstance(item, External) and canonical_name(item.name) in _FILES for item in found
    )


def useless_deterministic(program: Program) -> Iterator[Hit]:
    """Find `deterministic=` of `map` or `interleave` without parallel calls."""
    for name in ("map", "interleave"):
        for site in flow_of(program).named(f"{DATASET}.{name}"):
            if site.call.keyword("deterministic") is None:
                continue
            if is_given(site, 1 if name == "map" else 3, "num_parallel_calls") is not False:
                continue
            if constant(site.call.keyword("deterministic")) is None:
                continue
            yield hit_at(
                site,
                values={"op": name},
                rewrites=(Rewrite("drop-keyword", site.scope, site.call.place, name="deterministic"),),
            )


def file_map_pool(program: Program) -> Iterator[Hit]:
    """Find many parallel calls of a function that waits for files or the network.

    They share a pool of as many threads as there are cores.
    """
    for site in flow_of(program).named(f"{DATASET}.map"):
        calls = number(site.argument(1, "num_parallel_calls"))
        if calls is None or calls <= 8 or flag(site.argument(8, "use_unbounded_threadpool")) is not None:
            continue
        dataset = first_dataset(site.result)
        for function in dataset.functions if dataset is not None else ():
            for inner, _ in inside_function(program, function, depth=4):
                if inner.name in ("time.sleep", "requests.get", "urllib.request.urlopen"):
                    yield hit_at(
                        site,
                        values={"calls": calls, "wait": short(inner)},
                        rewrites=(
                            Rewrite(
                                "keyword", site.scope, site.call.place, "True", "use_unbounded_threadpool"
                            ),
                        ),
                    )
                    break
