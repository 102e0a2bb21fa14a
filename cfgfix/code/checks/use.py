"""Uses of datasets: lost results, new iterators, rebuilt pipelines, options."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Iterator

from cfgfix.code.checks.bindings import bound_in_loop, names_in, statement
from cfgfix.code.checks.common import few_turns, tensorflow_alias
from cfgfix.code.checks.models import method_of
from cfgfix.code.checks.moves import free_name, loop_head, out_of_loop
from cfgfix.code.checks.order import kind
from cfgfix.code.checks.pipelines import (
    MAKES_BATCHES,
    in_batches,
    links,
    loaded_in_batches,
    pipelines_to,
    upstream,
)
from cfgfix.code.inference.flow.datasets import CONSTRUCTORS, DATASET, TRANSFORMATIONS
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.guards import statement_of
from cfgfix.code.inference.hot_paths import ELEMENT, GRAPH, PYTHON, hot_paths, innermost_loop, inside
from cfgfix.code.inference.references import api
from cfgfix.code.model.expressions import MISSING, constant, dotted, is_name, is_true, text
from cfgfix.code.model.hit import Repair, Rewrite, at, hit_at
from cfgfix.code.model.nodes import (
    Attribute,
    Call,
    Compare,
    Comprehension,
    Expr,
    Literal,
    Name,
    Subscript,
    Unary,
)
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Constant, Dataset, Made, Site, alternatives, first_dataset
from cfgfix.rules.hit import Hit


def _sites_by_call(program: Program, scope: Scope) -> dict[int, Site]:
    """Return the call sites of a scope by the number of their call.

    A site of a dataset's method wins over one that is not known.
    """
    found: dict[int, Site] = {}
    for site in flow_of(program).within(scope):
        if site.call.number not in found or method_of(site):
            found[site.call.number] = site
    return found


def _scopes_of_datasets(program: Program) -> Iterable[Scope]:
    """Return the scopes that call methods of datasets, in order of the first call."""
    return {id(site.scope): site.scope for site in flow_of(program).under(f"{DATASET}.")}.values()


def unused_transformation(program: Program) -> Iterator[Hit]:
    """Find transformations whose result is thrown away."""
    for scope in _scopes_of_datasets(program):
        if scope.kind == "lambda":
            continue
        sites: dict[int, Site] | None = None
        for event in scope.events():
            if event.kind != "expr" or event.value is None or not isinstance(event.value, Call):
                continue
            call = event.value
            if call.method not in TRANSFORMATIONS:
                continue
            if sites is None:
                sites = _sites_by_call(program, scope)
            site = sites.get(call.number)
            if site is None or not method_of(site) or not _only_dataset(site):
                continue
            if scope.module.path.endswith(".ipynb") and _ends_cell(scope, event):
                continue
            head: Expr = call.func
            while isinstance(head, (Attribute, Call)):
                head = head.base if isinstance(head, Attribute) else head.func
            rewrites: tuple[Rewrite, ...] = ()
            endless = call.method == "repeat" and not call.args and not call.keywords
            if isinstance(head, Name) and not endless:
                rewrites = (Rewrite("replace", scope, head.place, f"{head.name} = {head.name}"),)
            # Without these the data is the same, only time is lost; and Keras's loaders shuffle and make batches themselves.
            speed = (
                call.method in ("prefetch", "cache")
                or (
                    call.method in ("shuffle", "batch")
                    and any(
                        loaded_in_batches(item)
                        for item in alternatives(site.receiver)
                        if isinstance(item, Dataset)
                    )
                )
                or (call.method == "shuffle" and _shuffled_after(scope, event, head))
                # Keras begins the dataset anew in each epoch.
                or call.method == "repeat"
            )
            # What is read once needs no order.
            orderless = call.method == "shuffle" and _READ_ONCE.search(os.path.basename(scope.module.path))
            yield hit_at(
                site,
                values={"method": call.method},
                rewrites=rewrites,
                severity="info" if orderless else "warning" if speed else None,
                no_fix="with it the dataset has no end, and fit then wants steps_per_epoch"
                if endless
                else None,
            )


_READ_ONCE = re.compile(r"eval|predict|infer", re.IGNORECASE)
"""Words of files that go through a dataset once."""


def _shuffled_after(scope: Scope, event: Event, head: Expr) -> bool:
    """Tell whether a later statement shuffles the same dataset and keeps the result."""
    return any(
        other.kind == "assign"
        and other.line > event.line
        and isinstance(head, Name)
        and any(is_name(target, head.name) for target in other.targets)
        and other.value is not None
        and "shuffle" in (chain := list(links(other.value)))
        and chain[-1] == head.name
        for other in scope.events()
    )


def _ends_cell(scope: Scope, event: Event) -> bool:
    """Tell whether a statement ends its notebook cell, which then shows its value."""
    if scope.kind != "module":
        return event is scope.body[-1]
    line = event.end_line
    later = min((other.line for other in scope.events() if other.line > line), default=None)
    return later is None or any(line < start <= later for start, _ in scope.module.summary.cells)


def _only_dataset(site: Site) -> bool:
    return all(isinstance(item, Dataset) for item in alternatives(site.receiver))


def options_copy(program: Program) -> Iterator[Hit]:
    """Find attributes set on the copy that `ds.options()` returns."""
    for module in program.modules:
        for scope, event, target in module.stores():
            base = target.base
            while isinstance(base, Attribute):
                base = base.base
            if not isinstance(base, Call) or base.method != "options":
                continue
            site = _sites_by_call(program, scope).get(base.number)
            if site is not None and method_of(site) == "options":
                yield hit_at(site, values={}, **_with_options(event, target, site))


def _with_options(event: Event, target: Attribute, site: Site) -> Repair:
    """Return the fix that gives a dataset its own options, in three lines."""
    scope = site.scope
    alias = tensorflow_alias(scope)
    name = free_name(scope, "options", "dataset_options")
    dataset = site.call.receiver
    if (
        alias is None
        or name is None
        or len(event.targets) != 1
        or not isinstance(dataset, Name)
        or dataset.name in scope.outer
    ):
        return {"no_fix": "the dataset has no name here that could be given the options"}
    place = target.place
    path: list[str] = []
    base: Expr = target
    while isinstance(base, Attribute):
        path.insert(0, base.attribute)
        base = base.base
    return {
        "rewrites": (
            Rewrite("lines", scope, place, f"{name} = {alias}.data.Options()\n{'.'.join((name, *path))}"),
            Rewrite(
                "insert",
                scope,
                event.place,
                f"{dataset.name} = {dataset.name}.with_options({name})",
                behind=True,
            ),
        )
    }


def next_iter(program: Program) -> Iterator[Hit]:
    """Find `next(iter(ds))` in a loop: every turn begins anew."""
    for site in flow_of(program).named("builtins.next"):
        if len(site.call.args) != 1 or not isinstance(site.call.args[0], Call):
            continue
        inner = site.call.args[0]
        if not isinstance(inner.func, Name) or inner.func.name != "iter" or len(inner.args) != 1:
            continue
        value = site.args[0] if site.args else None
        if not (
            isinstance(value, Made)
            and value.name == "iterator"
            and value.site is not None
            and value.site.args
        ):
            continue
        if first_dataset(value.site.args[0]) is None or not isinstance(inner.args[0], (Name, Attribute)):
            continue
        loop = innermost_loop(site.scope, site.call.block)
        if loop is None or hot_paths(program).reach(site.scope, GRAPH, ELEMENT) is not None:
            continue
        if names_in(inner.args[0], site.scope) & bound_in_loop(program, site.scope, loop):
            continue
        if _is_kept_once(site.scope, site.call, loop) or few_turns(program, site.scope, loop, 1):
            continue
        dataset = first_dataset(value.site.args[0])
        shuffled = dataset is not None and any(
            _reshuffles_each_time(step) for step in (dataset, *upstream(dataset))
        )
        yield hit_at(
            site,
            whole=True,
            # Of a shuffled dataset each turn gets another batch, if a dear one.
            severity="info" if _only_looks(program, site.scope, loop) else "warning" if shuffled else None,
            values={
                "loop_line": site.scope.blocks[loop].line,
                "then": "for one element" if shuffled else "and takes its first element",
            },
            **_one_iterator(site, inner, loop),
        )


def _reshuffles_each_time(step: Dataset) -> bool:
    """Tell whether a step gives a new order each time.

    `list_files` does without `shuffle=False`.
    """
    return step.op == "shuffle" or (
        step.op == "list_files"
        and step.site is not None
        and constant(step.site.call.argument(1, "shuffle")) is not False
    )


def _one_iterator(site: Site, inner: Call, loop: int) -> Repair:
    """Return the fix that makes the iterator once, before the loop."""
    scope = site.scope
    name = free_name(scope, "iterator", "batches")
    head = loop_head(scope, loop)
    dataset = dotted(inner.args[0])
    if name is None or head is None or dataset is None or scope.blocks[loop].kind == "comprehension":
        return {"no_fix": "there is no place before the loop for the iterator"}
    return {
        "rewrites": (
            Rewrite("insert", scope, head.place, f"{name} = iter({dataset})"),
            Rewrite("replace", scope, inner.place, name),
        )
    }


def _is_kept_once(scope: Scope, call: Call, loop: int) -> bool:
    """Tell whether a loop takes an element only while it has none.

    Example: `if sample is None: sample = next(iter(ds))`.
    """
    within = itertools.takewhile(lambda block: block is not scope.blocks[loop], scope.block_chain(call.block))
    guards = [block.test for block in within if block.kind == "if" and block.branch and block.test]
    tested = {
        name
        for test in guards
        if (isinstance(test, Compare) and len(test.rights) == 1 and test.rights[0].operator == "is")
        or (isinstance(test, Unary) and test.operator == "not")
        for name in names_in(test, scope)
    }
    return any(
        event.kind == "assign"
        and inside(scope, event.block, loop)
        and event.line <= call.line <= event.end_line
        and any(isinstance(target, Name) and target.name in tested for target in event.targets)
        for event in scope.events()
    )


_PICTURES = frozenset({"imshow", "plot", "savefig", "subplot"})


def _only_looks(program: Program, scope: Scope, loop: int) -> bool:
    """Tell whether a loop takes a batch only to look at it.

    It does so once an epoch, beside the dataset that it goes over, or for a picture.
    """
    return (
        _per_epoch(scope, loop)
        or any(
            kind == "loop" and where is scope and block == loop
            for kind, _, where, block in flow_of(program).consumed
        )
        or any(call.method in _PICTURES and inside(scope, call.block, loop) for call in scope.calls)
    )


def _per_epoch(scope: Scope, loop: int) -> bool:
    """Tell whether a loop counts epochs."""
    shown = text(scope.blocks[loop].test)
    names = [
        text(target)
        for event in scope.events()
        if any(number == loop for number, _ in event.bodies)
        for target in event.targets
    ]
    return any("epoch" in part.lower() for part in (shown, *names))


def dataset_rebuilt_in_loop(program: Program) -> Iterator[Hit]:
    """Find datasets built in a loop from values that do not change in the loop."""
    hot = hot_paths(program)
    for dataset in flow_of(program).datasets:
        site = dataset.site
        if site is None or site.name not in CONSTRUCTORS or site.through:
            continue
        loop = innermost_loop(site.scope, site.call.block)
        if (
            loop is None
            or site.scope.blocks[loop].kind != "for"
            or hot.reach(site.scope, ELEMENT, GRAPH, PYTHON) is not None
        ):
            continue
        mapped = [
            use
            for use in _datasets_below(dataset)
            if use.functions
            and use.site is not None
            and use.site.scope is site.scope
            and inside(use.site.scope, use.site.call.block, loop)
        ]
        if not mapped:
            continue
        changing = bound_in_loop(program, site.scope, loop)
        used: set[str] = set()
        for step in (dataset, *_datasets_below(dataset)):
            if step.site is not None and step.site.scope is site.scope:
                for expr in (*step.site.call.args, *(value for _, value in step.site.call.keywords)):
                    used |= names_in(expr, site.scope)
        if used & changing or _is_timed(program, site.scope, loop):
            continue
        yield hit_at(
            site,
            values={"loop_line": site.scope.blocks[loop].line},
            related=(at(mapped[0].site, label="traced again in every turn"),) if mapped[0].site else (),
            **_built_once(program, site, loop),
        )


def _built_once(program: Program, site: Site, loop: int) -> Repair:
    """Return the fix that moves the statement that builds a dataset before the loop."""
    event = statement_of(site.scope, site.call.place)
    rewrites: tuple[Rewrite, ...] = ()
    if (
        event is not None
        and event.kind == "assign"
        and len(event.targets) == 1
        and isinstance(event.targets[0], Name)
    ):
        rewrites = out_of_loop(program, site.scope, event, loop, event.targets[0].name)
    return {"rewrites": rewrites, "no_fix": "the pipeline is not built by a single statement of the loop"}


def _is_timed(program: Program, scope: Scope, loop: int) -> bool:
    """Tell whether a loop measures time."""
    return any(
        site.name in ("time.time", "time.perf_counter", "time.monotonic", "timeit.default_timer")
        and inside(scope, site.call.block, loop)
        for site in flow_of(program).within(scope)
    )


def _datasets_below(dataset: Dataset) -> list[Dataset]:
    from cfgfix.code.checks.pipelines import downstream

    return list(downstream(dataset))


def counted_by_reading(program: Program) -> Iterator[Hit]:
    """Find datasets that are counted by reading all of their elements."""
    for site in flow_of(program).named("builtins.len"):
        if len(site.call.args) == 1 and isinstance(site.call.args[0], Call):
            inner = site.call.args[0]
            if isinstance(inner.func, Name) and inner.func.name == "list" and len(inner.args) == 1:
                dataset = _dataset_value(program, site.scope, inner.args[0])
                if dataset is not None:
                    yield _hit_of_count(program, site, dataset, inner.args[0])
    for site in flow_of(program).named("builtins.sum"):
        if len(site.call.args) == 1 and isinstance(site.call.args[0], Comprehension):
            parts = site.call.args[0].parts
            if len(parts) == 2 and isinstance(parts[1], Literal) and parts[1].value == 1:
                dataset = _dataset_value(program, site.scope, parts[0])
                if dataset is not None:
                    yield _hit_of_count(program, site, dataset, parts[0])


_COUNTED = frozenset(
    {
        "range",
        "from_tensor_slices",
        "from_tensors",
        "zip",
        "map",
        "batch",
        "padded_batch",
        "shuffle",
        "take",
        "skip",
        "cache",
    }
    | {"prefetch", "enumerate", "shard", "concatenate", "with_options", "either"}
)
"""Steps behind which a dataset knows how many elements it has (tried on TensorFlow 2.8 and 2.21)."""


def _hit_of_count(program: Program, site: Site, dataset: Dataset, expr: Expr) -> Hit:
    unknown = next(
        (
            step.op
            for step in (dataset, *upstream(dataset))
            if step.op
            in (
                "filter",
                "from_generator",
                "flat_map",
                "interleave",
                "unbatch",
                "TFRecordDataset",
                "TextLineDataset",
                "take_while",
                "parameter",
            )
        ),
        None,
    )
    return hit_at(
        site,
        whole=True,
        values={
            "rest": f"; here {unknown} hides the number, so count once and keep it"
            if unknown
            else ": ds.cardinality() knows it"
        },
        rewrites=(Rewrite("replace", site.scope, site.call.place, f"int({expr.name}.cardinality())"),)
        if isinstance(expr, Name)
        and all(kind(step) in _COUNTED for step in (dataset, *upstream(dataset)))
        and _has_cardinality(program)
        else (),
        no_fix="cardinality() would be -2 where the number is not known, or TensorFlow before 2.3 has it elsewhere",
    )


def _has_cardinality(program: Program) -> bool:
    mask = api(program).member(DATASET, "cardinality") or 0
    return mask & api(program).wanted == api(program).wanted


def _dataset_value(program: Program, scope: Scope, expr: Expr) -> Dataset | None:
    if not isinstance(expr, Name):
        return None
    env = flow_of(program).env_of(scope)
    while env is not None:
        value = env.names.get(expr.name)
        if value is not None:
            return first_dataset(value)
        env = env.parent
    return None


def file_cache(program: Program) -> Iterator[Hit]:
    """Find `cache` in a file of a fixed name."""
    for site in flow_of(program).named(f"{DATASET}.cache"):
        name = site.argument(0, "filename")
        if isinstance(name, Constant) and isinstance(name.value, str) and name.value:
            yield hit_at(site, values={"file": name.value})


def debug_mode(program: Program) -> Iterator[Hit]:
    """Find `tf.data.experimental.enable_debug_mode()` outside a debug switch."""
    for site in flow_of(program).named("tensorflow.data.experimental.enable_debug_mode"):
        if _is_guarded(site):
            continue
        event = statement(site)
        yield hit_at(
            site,
            rewrites=(Rewrite("drop-statement", site.scope, event.place),) if event is not None else (),
        )


def _is_guarded(site: Site) -> bool:
    return any(block.kind == "if" for block in site.scope.block_chain(site.call.block))


def ignored_arguments(program: Program) -> Iterator[Hit]:
    """Find `batch_size` and `shuffle` given with a dataset: both are for arrays."""
    for name in ("fit", "evaluate", "predict"):
        for site in _model_sites(program, name):
            dataset = first_dataset(site.argument(0, "x"))
            if dataset is None:
                continue
            found: list[tuple[str, str | None]] = []
            for keyword in ("batch_size", "shuffle") if name == "fit" else ("batch_size",):
                value = site.call.keyword(keyword)
                if value is None or constant(value) is None or site.call.opaque:
                    continue
                if keyword == "shuffle" and constant(value) is False:
                    # It is how a program says that it knows, and keeps Keras 3 from warning of its own default.
                    continue
                found.append((keyword, _kept_argument(keyword, value, dataset)))
            if not found:
                continue
            # One finding a call: the argument that may go first, and the other with the next look.
            keyword, kept = min(found, key=lambda item: item[1] is not None)
            yield hit_at(
                site,
                severity="warning"
                if keyword == "shuffle" and is_true(site.call.keyword("shuffle")) and _in_one_order(dataset)
                else None,
                values={"method": name, "argument": keyword, "missing": _missing_in_words(keyword, dataset)},
                rewrites=()
                if kept
                else (Rewrite("drop-keyword", site.scope, site.call.place, name=keyword),),
                no_fix=kept,
            )


_SOURCES = frozenset({"from_tensor_slices", "from_tensors", "range", "TFRecordDataset", "TextLineDataset"})
_ORDERED = _SOURCES | {
    "map", "batch", "padded_batch", "prefetch", "cache", "repeat", "take", "skip", "filter", "with_options", "enumerate", "zip", "unbatch", "rebatch",
}  # fmt: skip
"""What makes a dataset, or hands its elements on in the order in which they came."""


def _in_one_order(dataset: Dataset) -> bool:
    """Tell whether a dataset certainly has the same order in every epoch."""
    steps = [dataset, *upstream(dataset)]
    return all(kind(step) in _ORDERED for step in steps) and any(kind(step) in _SOURCES for step in steps)


def _missing_in_words(keyword: str, dataset: Dataset) -> str:
    """Return the words for what a dataset lacks where an argument is ignored."""
    if keyword == "shuffle" and _in_one_order(dataset):
        return "nothing shuffles this one, so every epoch sees the same order"
    if keyword == "batch_size" and _is_unbatched(dataset):
        return "nothing batches this one"
    return "its batches and order are its own"


def _kept_argument(keyword: str, value: Expr, dataset: Dataset) -> str | None:
    """Return why an ignored argument stays, or None where it may be removed.

    It stays where nothing else shows what was meant.
    """
    if keyword == "batch_size" and _is_unbatched(dataset):
        return "nothing batches this dataset: it needs .batch() before it gets here, and this number says how large"
    if constant(value) is not MISSING:
        return None
    shown = text(value)
    methods = ("shuffle",) if keyword == "shuffle" else MAKES_BATCHES
    if isinstance(value, (Name, Attribute, Subscript)) and any(
        step.site is not None
        and kind(step) in methods
        and any(
            text(given) == shown
            for given in (*step.site.call.args, *(item for _, item in step.site.call.keywords))
        )
        for step in (dataset, *upstream(dataset))
    ):
        return None
    return f"{shown} may be a setting that nothing else reads: without this argument nothing shows that it has no effect"


def _is_unbatched(dataset: Dataset) -> bool:
    """Tell whether a dataset gives only single examples in every possible pipeline."""
    return not in_batches(dataset) and all(
        way[-1].op in _EXAMPLES and all(step.op in _SINGLE for step in way[:-1])
        for way in pipelines_to(dataset)
    )


_EXAMPLES = frozenset({"from_tensor_slices", "range"})
_SINGLE = frozenset(
    {"shuffle", "repeat", "cache", "prefetch", "take", "skip", "shard", "with_options", "enumerate"}
)
"""Steps that leave each element as large as it is."""


def _model_sites(program: Program, method: str) -> Iterator[Site]:
    for name in ("keras.Model", "keras.Sequential"):
        yield from flow_of(program).named(f"{name}.{method}")
