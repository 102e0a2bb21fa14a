"""Training data that comes in the same order in every epoch."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.common import evaluates, in_tests, line_beside
from cfgfix.code.checks.elements import kind
from cfgfix.code.checks.models import model_calls
from cfgfix.code.checks.order import named_for_evaluation
from cfgfix.code.checks.pipelines import pipelines_to, possible
from cfgfix.code.inference.entry_points import modules_sharing_runs
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import inside
from cfgfix.code.model.expressions import constant
from cfgfix.code.model.hit import Step, at, hit_at
from cfgfix.code.model.module import Module
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Dataset, first_dataset
from cfgfix.rules.hit import Hit

_SOURCES = frozenset(
    {
        "from_tensor_slices",
        "TFRecordDataset",
        "CsvDataset",
        "TextLineDataset",
        "FixedLengthRecordDataset",
        "load",
    }
)
_KEEPS_ORDER = frozenset(
    {
        "map",
        "batch",
        "padded_batch",
        "prefetch",
        "cache",
        "with_options",
        "enumerate",
        "zip",
        "filter",
        "ignore_errors",
    }
)
_STEPS = frozenset({"apply_gradients", "minimize", "train_on_batch"})
_BATCHES = frozenset({"batch", "padded_batch"})
_CHANCE = re.compile(r"(?i)random\.|randint|rand\(|randn|normal\(|uniform\(|synthetic|fake")
"""Words of files that make arrays at random: those have no order."""
_STORES = (b"Dataset.save(", b"data.experimental.save(", b"dataset.save(", b"ds.save(", b"data.save(")
_MIXES = re.compile(
    r"(?i)shuffl|permut|sample\(|\.sample|split|choice|argsort|random_state|"
    r"stateful|timeseries|time_series|window|lookback|look_back|seq_len|sequence_length|curriculum|bucket"
)
"""Words of files that mix the data themselves or go by time: what the order is there is not known."""


def unshuffled_training_data(program: Program) -> Iterator[Hit]:
    """Find unshuffled data that is trained on for several epochs."""
    seen: set[tuple[int, int]] = set()
    for dataset, place, trained in _trained_on(program):
        ways = [way for way in pipelines_to(dataset) if possible(program, way)]
        if not ways or not all(map(_keeps_order, ways)):
            continue
        batch = next((step for step in ways[0] if kind(step) in (*_BATCHES, "load")), None)
        source = ways[0][-1]
        if batch is None or batch.site is None or source.site is None:
            continue
        site = batch.site
        key = id(site.scope), site.call.number
        if key in seen or in_tests(trained.scope) or written_for_one(program, site.scope):
            continue
        if any(step.site is not None and named_for_evaluation(step.site) for step in ways[0]):
            continue
        modules = {
            id(step.site.scope.module): step.site.scope.module for way in ways for step in way if step.site
        }
        modules[id(trained.scope.module)] = trained.scope.module
        words = [_MIXES]
        if kind(source) == "from_tensor_slices":
            # How the arrays came to be is said by what makes them.
            words.append(_CHANCE)
            paths = {path for module in modules.values() for path in modules_sharing_runs(program, module)}
            modules.update((id(module), module) for module in program.all_modules() if module.path in paths)
        elif kind(source) == "load":
            # So is in what order data was stored.
            modules.update((id(module), module) for module in program.all_modules(words=_STORES))
        if any(_mentions_in_code(module, word) for module in modules.values() for word in words):
            continue
        seen.add(key)
        yield hit_at(site, values={"line": line_beside(site.scope, trained.scope, place)}, related=(trained,))


def _keeps_order(way: list[Dataset]) -> bool:
    """Tell whether a pipeline batches data from an ordered source and keeps the order."""
    source = way[-1]
    if kind(source) not in _SOURCES or source.site is None:
        return False
    if kind(source) == "TFRecordDataset" and source.site.call.keyword("num_parallel_reads") is not None:
        return False
    if not all(kind(step) in _KEEPS_ORDER for step in way[:-1]):
        return False
    return kind(source) == "load" or any(kind(step) in _BATCHES for step in way[:-1])


def _trained_on(program: Program) -> Iterator[tuple[Dataset, int, Step]]:
    """Yield the data that is trained on for several epochs, with the line and place."""
    for site in model_calls(program, "fit"):
        dataset = first_dataset(site.argument(0, "x"))
        epochs = site.call.argument(3, "epochs")
        if dataset is None or epochs is None or constant(epochs) == 1 or site.call.opaque:
            continue
        yield dataset, site.call.name_line, at(site, label="trained on here")
    for how, dataset, scope, block in flow_of(program).consumed:
        if how != "loop" or evaluates(scope) or not _trains_in(program, scope, block):
            continue
        loops = scope.loops(scope.blocks[block].parent)
        if loops:
            line = loops[0].line
        else:
            outer = next(
                (
                    caller
                    for caller in flow_of(program).callers(scope)
                    if caller.scope.loops(caller.call.block)
                ),
                None,
            )
            if outer is None:
                continue
            line = scope.blocks[block].line
        event = next(
            (item for item in scope.events() if any(number == block for number, _ in item.bodies)), None
        )
        if event is not None:
            yield dataset, line, Step(scope, event.place, event.block, "trained on here, in each epoch")


def _trains_in(program: Program, scope: Scope, block: int, depth: int = 2) -> bool:
    """Tell whether a loop trains: by gradients, or by a function that it calls."""
    if any(call.method in _STEPS and inside(scope, call.block, block) for call in scope.calls):
        return True
    return any(
        inside(scope, site.call.block, block)
        and any(_calls_steps(program, target.scope, depth) for target in site.targets)
        for site in flow_of(program).within(scope)
    )


def _calls_steps(program: Program, scope: Scope, depth: int) -> bool:
    if any(call.method in _STEPS for call in scope.calls):
        return True
    return depth > 0 and any(
        _calls_steps(program, target.scope, depth - 1)
        for site in flow_of(program).within(scope)
        for target in site.targets
    )


def _mentions_in_code(module: Module, word: re.Pattern[str]) -> bool:
    """Tell whether a file's code, without comments, matches a pattern."""
    return any(word.search(line.partition("#")[0]) for line in module.source_lines())
