"""Keys that programs ask for and a file lacks: misspelt, at another place, or not there at all."""

from __future__ import annotations

from typing import Any

from cfgfix.code.inference.interpreter.events import DEFAULT, GUARD, REQUIRED, Asked, Refusal
from cfgfix.code.inference.interpreter.objects import Mapping
from cfgfix.core.edits import RenameKey
from cfgfix.core.findings import format_key_path
from cfgfix.core.records import replace
from cfgfix.usage.config_files import Entry, KeyPath
from cfgfix.usage.config_runs import ConfigRuns, Verdict
from cfgfix.usage.run_host import Repair
from cfgfix.usage.run_results import RunResult
from cfgfix.usage.spelling import nearest_entry, value_in_words

_MAX_NAMES = 3
"""Most lacking keys of one section that are told one by one."""


def find_lacking(runs: ConfigRuns) -> None:
    """Add verdicts on keys that programs ask for and the file lacks."""
    seen = runs.asked_told
    asked = [(result, item) for result in runs.results for item in result.run.asked]
    asked.sort(
        key=lambda pair: (
            {REQUIRED: 0, DEFAULT: 1, GUARD: 2}[pair[1].how],
            _is_trial_of_module(runs, pair[0]),
        )
    )
    for result, item in asked:
        section = next((key.path for key in item.sections if key.source == runs.path), None)
        if section is None or section not in runs.entries:
            continue
        if (section, item.name) in seen:
            continue
        seen.add((section, item.name))
        _judge_asked(runs, result, item, section)


def join_lacking(runs: ConfigRuns) -> None:
    """Join the verdicts on many lacking keys of one section into one."""
    by_place: dict[tuple[KeyPath, Any], list[Verdict]] = {}
    for verdict in runs.verdicts:
        if verdict.check == "missing-key":
            by_place.setdefault((verdict.path[:-1], verdict.values["entry"]), []).append(verdict)
    for group in by_place.values():
        if len(group) <= _MAX_NAMES:
            continue
        names = ", ".join(f"`{item.values['name']}`" for item in group[1 : _MAX_NAMES + 1])
        first = group[0]
        note = f"it lacks {len(group) - 1} more keys that the program reads: {names} and so on. {runs.why(first)}"
        joined = set(map(id, group))
        runs.verdicts = [item for item in runs.verdicts if id(item) not in joined]
        runs.add(replace(first, notes=(*first.notes, note)))


def _judge_asked(runs: ConfigRuns, result: RunResult, item: Asked, section: KeyPath) -> None:
    here = runs.entries[section]
    if item.name in runs.written_in(section):
        return
    others = [key.path for key in item.sections if key.source == runs.path]
    required = item.how == REQUIRED and not item.caught
    candidates = (
        entry
        for path in others
        for entry in runs.unread_in(path)
        if entry.path not in runs.reported and (required or str(entry.path[-1]) not in runs.mentioned)
    )
    near = nearest_entry(item.name, candidates, alone=required and not result.forced)
    if near is not None:
        _tell_misspelt(runs, item, near, required)
        return
    elsewhere = _entry_elsewhere(runs, item.name, section)
    if elsewhere is not None and (
        required or (item.how == DEFAULT and not _is_in_unsure(runs, elsewhere.path))
    ):
        _tell_misplaced(runs, item, section, elsewhere, required)
        return
    if item.conditions:
        return
    if not required:
        _tell_empty(runs, item, section)
        return
    span = here.key if section else (here.value[0], here.value[0])
    key = format_key_path((*section, item.name))
    runs.add(
        Verdict(
            "missing-key",
            (*section, item.name),
            runs.line_span(span),
            {
                "key": key,
                "name": item.name,
                "error": item.error,
                "place": runs.place(item.spot),
                "entry": runs.program_of(result),
            },
            severity="info" if _is_trial_of_module(runs, result) else None,
            spot=item.spot,
            label=f"reads `{item.name}`",
        )
    )


def _is_trial_of_module(runs: ConfigRuns, result: RunResult) -> bool:
    """Tell whether a program is a module of another program that uses TensorFlow.

    Without TensorFlow of its own, it is a trial run of the module.
    """
    return not result.entrance.framework and any(
        other.entrance.framework and result.entrance.module in other.run.modules_run()
        for other in runs.results
    )


def _tell_empty(runs: ConfigRuns, item: Asked, section: KeyPath) -> None:
    """Add a verdict on a lacking key for which the container makes an empty one.

    Only where the empty container goes on as a value.
    """
    made = item.default
    if not isinstance(made, Mapping) or made.key is None or made.entries or not made.key.escapes:
        return
    here = runs.entries[section]
    runs.add(
        Verdict(
            "empty-key",
            (*section, item.name),
            runs.line_span(here.key if section else (here.value[0], here.value[0])),
            {
                "key": format_key_path((*section, item.name)),
                "container": made.flavour,
                "place": runs.place(item.spot),
                "taker": runs.place(made.key.escapes[0]),
            },
            spot=item.spot,
            label=f"reads `{item.name}`",
        )
    )


def _tell_misspelt(runs: ConfigRuns, item: Asked, near: Entry, required: bool) -> None:
    runs.reported.add(near.path)
    refusal = _refusal_of(runs, near)
    runs.repairs.append(Repair(runs.path, near.path, near.path[:-1], item.name))
    effect = (
        f"{item.error}"
        if required
        else refusal.says
        if refusal is not None
        else f"the default {value_in_words(item.default)} counts"
        if item.default is not None and item.how == DEFAULT
        else "it is never found"
    )
    runs.add(
        Verdict(
            "misspelt-key",
            near.path,
            near.key,
            {
                "key": format_key_path(near.path),
                "name": str(near.path[-1]),
                "wanted": item.name,
                "effect": effect,
                "place": runs.place(item.spot),
            },
            spot=item.spot,
            label=f"reads `{item.name}`",
            changes=(RenameKey(near.path, item.name),) if runs.first.file.form == "yaml" else (),
            stops=required or refusal is not None,
        )
    )


def _refusal_of(runs: ConfigRuns, entry: Entry) -> Refusal | None:
    """Return the refusal of an entry's key as an unknown name; None for none."""
    return next(
        (
            refusal
            for result in runs.results
            for refusal in result.run.refusals
            if refusal.kind == "unknown-key"
            and refusal.key.source == runs.path
            and refusal.key.path == entry.path
            and refusal.says
            and not refusal.conditions
        ),
        None,
    )


def _entry_elsewhere(runs: ConfigRuns, name: str, section: KeyPath) -> Entry | None:
    """Return the only unread entry of a name in another section.

    None where there are several or none.
    """
    found = [
        entry
        for entry in runs.named(name)
        if entry.path[:-1] != section
        and entry.path not in runs.reported
        and runs.untouched(entry.path)
        and not any(key.accepted for key in runs.keys_at(entry.path))
    ]
    return found[0] if len(found) == 1 else None


def _is_in_unsure(runs: ConfigRuns, path: KeyPath) -> bool:
    """Tell whether a key lies in an untouched section that other code mentions."""
    return any(
        runs.untouched(path[:depth]) and str(path[depth - 1]) in runs.mentioned
        for depth in range(1, len(path))
    )


def _tell_misplaced(runs: ConfigRuns, item: Asked, section: KeyPath, entry: Entry, required: bool) -> None:
    runs.reported.add(entry.path)
    runs.repairs.append(Repair(runs.path, entry.path, section, item.name))
    wanted = format_key_path((*section, item.name))
    effect = item.error if required else f"the default {value_in_words(item.default)} counts"
    runs.add(
        Verdict(
            "misplaced-key",
            entry.path,
            entry.key,
            {
                "key": format_key_path(entry.path),
                "wanted": wanted,
                "effect": effect,
                "place": runs.place(item.spot),
                "name": item.name,
            },
            severity="error" if required or entry.path[:-1] == section[:-1] else "warning",
            spot=item.spot,
            label=f"reads `{wanted}`",
        )
    )
