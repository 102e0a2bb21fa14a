"""Options that nothing reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from cfgfix.code.inference.interpreter.command_line import Option
from cfgfix.code.inference.interpreter.objects import ConfigKey
from cfgfix.code.model.summary import Scope
from cfgfix.usage.declared_options import (
    Declared,
    OptionVerdict,
    option_text,
    passes_all_options,
)
from cfgfix.usage.mentions import MentionIndex
from cfgfix.usage.program_runs import ProjectRuns, made_again
from cfgfix.usage.run_host import counts_as_read
from cfgfix.usage.run_results import RunResult

MAX_STEPS = 150_000
"""Most steps of the runs that are made again to learn which options no way reads."""
_OF_LAUNCHERS = frozenset({"local_rank", "local-rank", "f", "node_rank", "rank", "world_size"})
"""Options that what starts a program gives it, whether it reads them or not."""
_IDLE_ACTIONS = frozenset({"help", "version", "?"})


_PLAIN_ACTIONS = frozenset({"", "store", "store_true", "store_false", "store_const"})
_PLAIN_KINDS = frozenset({"", "builtins.int", "builtins.float", "builtins.str", "builtins.bool"})
"""Conversions that give one value of which each use is noted; what a list holds may be used item by item."""


def unread_options(
    project: ProjectRuns, declared: Sequence[Declared], index: MentionIndex
) -> Iterator[OptionVerdict]:
    """Yield verdicts on options that no run reads."""
    steps = project.steps
    for item in declared:
        option = item.option
        if option.action in _IDLE_ACTIONS or _OF_LAUNCHERS.intersection((option.attribute, *option.names)):
            continue
        keys = [key for run in item.runs for key in _keys_of(run, option)]
        if any(_does_more_than_read(key, option) for key in keys) or any(map(passes_all_options, item.runs)):
            continue
        reads = [spot for key in keys for spot in key.reads]
        if any(result.run.exhausted or not _is_parsed(result, option) for result in item.runs):
            continue
        if any(option.attribute in result.run.of_unknown for result in item.runs):
            continue
        seen = {scope for result in item.runs for scope in result.run.entered}
        names = {option.attribute}.union(*(key.kept_as for key in keys))
        mentions = [scope for name in names for scope in index.scopes(name)]
        if any(scope not in seen for scope in mentions):
            continue
        if any(not _all_inside_ran(spot.scope, seen) for spot in reads):
            continue
        if mentions and not _no_way_reads(project, item, steps):
            continue
        logs = [spot for key in item.keys for spot in key.logs]
        notes = (
            (f"it is only written down in {project.relative(logs[0].path)}:{logs[0].line}",) if logs else ()
        )
        yield OptionVerdict(
            "dead-option",
            option.spot,
            {"option": option_text(option), "does": "uses" if reads else "reads"},
            reads[0] if reads and not logs else None,
            "read here, and used by nothing",
            notes=notes,
        )


def _no_way_reads(project: ProjectRuns, item: Declared, steps: int) -> bool:
    """Tell whether no way through the code reads an option that the code mentions.

    Args:
        project: The runs.
        item: The option.
        steps: How many steps the runs had made before any was made again.
    """
    for result in item.runs:
        known = project.every_way
        if id(result) not in known:
            if project.steps - steps > MAX_STEPS:
                return False
            known[id(result)] = made_again(project, result, every_way=True)
        run = known[id(result)]
        if run.run.exhausted or passes_all_options(run) or item.option.attribute in run.run.of_unknown:
            return False
        if any(_does_more_than_read(key, item.option) for key in _keys_of(run, item.option)):
            return False
    return True


def _does_more_than_read(key: ConfigKey, option: Option) -> bool:
    """Tell whether a run uses an option beyond reading its plain value."""
    plain = not option.many and option.action in _PLAIN_ACTIONS and option.kind in _PLAIN_KINDS
    more = (
        key.uses or key.walks or key.escapes or key.offers or key.guards or key.overlaid or key.interpolated
    )
    return counts_as_read(key) if more or not plain or not key.reads else False


def _all_inside_ran(scope: Scope, seen: AbstractSet[int]) -> bool:
    """Tell whether the runs entered all functions defined inside a function.

    These functions may use its names.
    """
    if scope.parent < 0:
        return True
    scopes = scope.module.summary.scopes
    return all(
        id(inner) in seen or inner.kind == "class"
        for inner in scopes
        if inner.parent > 0 and scopes[inner.parent] is scope
    )


def _is_parsed(result: RunResult, option: Option) -> bool:
    """Tell whether a run parses the arguments of the parser that declares an option."""
    run = result.run
    for parser, options in run.parsers.items():
        if any(other is option or other.spot.place == option.spot.place for other in options):
            if parser == 0:
                return True
            if any(found == parser for found, _, _ in run.parsed):
                return True
    return False


def _keys_of(result: RunResult, option: Option) -> list[ConfigKey]:
    """Return the records of all options of a run with the same attribute name."""
    return [
        other.key
        for options in result.run.parsers.values()
        for other in options
        if other.attribute == option.attribute
    ]
