"""Keys and values of a file that something in its programs does not take."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from cfgfix.code.inference.interpreter.events import Refusal
from cfgfix.code.inference.interpreter.objects import Scalar
from cfgfix.code.inference.interpreter.reading import TABLE
from cfgfix.core.edits import Change, RenameKey, SetValue
from cfgfix.core.findings import format_key_path
from cfgfix.usage.config_files import Entry, KeyPath, Unread
from cfgfix.usage.config_runs import ConfigRuns, Verdict
from cfgfix.usage.run_host import Opened, Repair, counts_as_read
from cfgfix.usage.run_results import RunResult
from cfgfix.usage.spelling import nearest_name, number_text, value_in_words


def find_refused(runs: ConfigRuns) -> None:
    """Add verdicts on keys and values that a function, class or conversion refuses."""
    seen = runs.refusals_told
    for result in runs.results:
        for item in result.run.refusals:
            if item.key.source != runs.path or (item.kind, item.key.path, item.name) in seen:
                continue
            seen.add((item.kind, item.key.path, item.name))
            _judge_refusal(runs, result, item)


def _one_for_one(result: RunResult, unknown: Refusal, missing: Refusal) -> bool:
    """Tell whether one refused and one lacking key are all faults of a section.

    The one is then meant for the other.
    """
    section = missing.key.path
    refused = {
        it.key.path for it in result.run.refusals if it.kind == "unknown-key" and it.key.path[:-1] == section
    }
    lacking = {it.name for it in result.run.refusals if it.kind == "missing-key" and it.key.path == section}
    return refused == {unknown.key.path} and lacking == {missing.name}


def _rivals_in(opened: Opened, path: KeyPath) -> Iterable[str]:
    """Return the texts with which a run compares the value of a key."""
    key = opened.keys.get(path)
    return key.rivals if key is not None else ()


def _tell_choice(runs: ConfigRuns, result: RunResult, item: Refusal, entry: Entry) -> None:
    """Add a verdict on a value for which the program has no branch and stops."""
    others = [runs.entries.get(key.path) if key.source == runs.path else None for key in item.beside]
    if any(_is_left_open(one) for one in (entry, *others) if one is not None):
        return
    for number, other in enumerate(others):
        if other is not None and other.key < entry.key:
            entry, others[number] = other, entry
    if entry.path in runs.reported:
        return
    value = entry.data
    rivals = [rival for opened in runs.mine for rival in _rivals_in(opened, entry.path)]
    if isinstance(value, str) and "/" in value and rivals and not any("/" in rival for rival in rivals):
        # The code holds a path against words: it was handed over in the place of another value.
        return
    if item.by == TABLE and runs.is_mentioned_as_name(str(value)):
        # What fills the table may be code that was not run.
        return
    refusing = [
        other
        for other in runs.results
        if any(it.kind == "choice" and it.key.path == item.key.path for it in other.run.refusals)
    ]
    reading = [
        other
        for other, opened in zip(runs.results, runs.mine, strict=True)
        if (key := opened.keys.get(entry.path)) is not None and counts_as_read(key)
    ]
    if result.forced and len(refusing) < len(reading):
        # Another program takes it: the file is for that one.
        return
    near = nearest_name(value, rivals) if isinstance(value, str) else None
    if near is not None and near != value:
        # What the code does with the word that is meant lies behind.
        runs.repairs.append(Repair(runs.path, entry.path, entry.path[:-1], str(entry.path[-1]), near))
    runs.reported.add(entry.path)
    runs.add(
        Verdict(
            "refused-choice",
            entry.path,
            entry.value,
            {
                "key": format_key_path(entry.path),
                "value": _in_words(entry),
                "why": f"{item.by}{_beside(item, others)}",
                "error": item.says,
                "place": runs.place(item.spot),
                "entry": runs.program_of(result),
            },
            spot=item.spot,
            label="the run ends here",
        )
    )


def _is_left_open(entry: Entry) -> bool:
    """Tell whether a value is a place that is left to be filled in, or none that a message can show."""
    if entry.kind == "list":
        return False
    value = entry.data
    return (
        entry.kind != "scalar"
        or value in (None, "")
        or isinstance(value, Unread)
        or (isinstance(value, str) and bool(set(value) & set("<>$?")))
    )


def _in_words(entry: Entry) -> str:
    return (
        value_in_words(Scalar(entry.data)) if entry.kind == "scalar" else f"a list of {len(entry.children)}"
    )


def _beside(item: Refusal, others: list[Entry | None]) -> str:
    """Return in words the other keys by which a value ends a run; empty for none."""
    shown = [
        f"`{format_key_path(entry.path)}` ({_in_words(entry)})"
        if entry is not None
        else f"`{format_key_path(key.path)}`"
        for key, entry in zip(item.beside, others, strict=True)
    ]
    return f" beside {' and '.join(shown)}" if shown else ""


def _tell_absent(runs: ConfigRuns, result: RunResult, item: Refusal, entry: Entry) -> None:
    """Add a verdict on an absent file that a config names as its base."""
    path = str(item.value) or posixpath.join(posixpath.dirname(runs.path), str(entry.data))
    folder, name = posixpath.split(posixpath.normpath(path))
    ending = f"{folder}/" if folder else ""
    beside = {
        posixpath.basename(path)
        for path in runs.project.files.data
        if posixpath.dirname(path) == folder or f"/{path}".endswith(f"/{ending}{posixpath.basename(path)}")
    }
    near = nearest_name(name, sorted(beside - {posixpath.basename(runs.path)}))
    written = str(entry.data)
    meant = written.removesuffix(name) + near if near is not None and written.endswith(name) else None
    runs.reported.add(entry.path)
    runs.add(
        Verdict(
            "absent-file",
            entry.path,
            entry.value,
            {
                "key": format_key_path(entry.path),
                "value": value_in_words(Scalar(entry.data)),
                "place": runs.place(item.spot),
                "entry": runs.program_of(result),
                "error": item.says,
                "near": f"; is `{near}` meant?" if near is not None else "",
            },
            spot=item.spot,
            label="loads it",
            changes=(SetValue(entry.path, meant, meant),)
            if meant is not None and runs.first.file.form == "yaml" and entry.plain
            else (),
            stops=True,
        )
    )


def _judge_refusal(runs: ConfigRuns, result: RunResult, item: Refusal) -> None:
    entry = runs.entries.get(item.key.path)
    if entry is None or entry.path in runs.reported:
        return
    name = str(item.key.path[-1]) if item.key.path else ""
    if item.kind in ("unknown-key", "swallowed"):
        given = (
            {str(other) for other, _ in runs.entries[item.key.path[:-1]].children}
            if item.key.path[:-1] in runs.entries
            else set()
        )
        free = [taken for taken in item.takes if taken not in given]
        near = nearest_name(name, free)
        if near is not None:
            runs.reported.add(entry.path)
            runs.repairs.append(Repair(runs.path, entry.path, entry.path[:-1], near))
            effect = item.says or "it is passed over without a word"
            runs.add(
                Verdict(
                    "misspelt-key",
                    entry.path,
                    entry.key,
                    {
                        "key": format_key_path(entry.path),
                        "name": name,
                        "wanted": near,
                        "effect": effect,
                        "place": runs.place(item.spot),
                    },
                    spot=item.spot,
                    label=f"{item.by} takes `{near}`",
                    changes=(RenameKey(entry.path, near),) if runs.first.file.form == "yaml" else (),
                    stops=bool(item.says),
                )
            )
        elif item.kind == "unknown-key":
            runs.reported.add(entry.path)
            runs.add(
                Verdict(
                    "refused-key",
                    entry.path,
                    entry.key,
                    {
                        "key": format_key_path(entry.path),
                        "name": name,
                        "by": item.by,
                        "error": item.says,
                        "place": runs.place(item.spot),
                    },
                    spot=item.spot,
                    label=f"{item.by} does not take it",
                )
            )
        else:
            runs.reported.add(entry.path)
            runs.add(
                Verdict(
                    "dead-key",
                    entry.path,
                    entry.key,
                    {"key": format_key_path(entry.path)},
                    spot=item.spot,
                    label=f"{item.by} passes over it",
                )
            )
    elif item.kind == "missing-key":
        for other in result.run.refusals:
            if (
                other.kind in ("unknown-key", "swallowed")
                and other.key.path[:-1] == item.key.path
                and (nearest_name(str(other.key.path[-1]), [item.name]) or _one_for_one(result, other, item))
            ):
                return
        span = entry.key if entry.path else (entry.value[0], entry.value[0])
        runs.add(
            Verdict(
                "missing-key",
                (*entry.path, item.name),
                runs.line_span(span),
                {
                    "key": format_key_path((*entry.path, item.name)),
                    "name": item.name,
                    "error": item.says,
                    "place": runs.place(item.spot),
                    "entry": runs.program_of(result),
                },
                spot=item.spot,
                label=f"{item.by} needs `{item.name}`",
            )
        )
    elif item.kind == "given-twice":
        runs.reported.add(entry.path)
        runs.add(
            Verdict(
                "given-twice",
                entry.path,
                entry.key,
                {
                    "key": format_key_path(entry.path),
                    "name": item.name,
                    "by": item.by,
                    "place": runs.place(item.spot),
                },
                spot=item.spot,
                label=f"gives `{item.name}` itself",
            )
        )
    elif item.kind == "choice":
        _tell_choice(runs, result, item, entry)
    elif item.kind == "absent-file":
        _tell_absent(runs, result, item, entry)
    elif item.kind == "text-truth":
        runs.reported.add(entry.path)
        runs.add(
            Verdict(
                "text-truth",
                entry.path,
                entry.value,
                {"key": format_key_path(entry.path), "value": item.value, "place": runs.place(item.spot)},
                spot=item.spot,
                label="a text is true here",
                changes=(SetValue(entry.path, False, "false"),)
                if runs.first.file.form == "yaml" and item.value.lower() not in ("none", "null", "0")
                else (),
            )
        )
    elif item.kind in ("wrong-type", "no-number", "cut"):
        if item.conditions:
            return
        runs.reported.add(entry.path)
        value = (
            value_in_words(Scalar(item.value))
            if item.value is not None or item.kind != "wrong-type"
            else "null"
        )
        changes: tuple[Change, ...] = ()
        number = number_text(item.value) if entry.plain else None
        if number is not None and runs.first.file.form == "yaml":
            changes = (SetValue(entry.path, float(number), number),)
        runs.add(
            Verdict(
                "refused-value",
                entry.path,
                entry.value,
                {
                    "key": format_key_path(entry.path),
                    "value": value,
                    "by": item.by,
                    "error": item.says or "it is changed without a word",
                    "place": runs.place(item.spot),
                },
                severity="warning" if item.kind == "cut" else None,
                spot=item.spot,
                label=f"{item.by} does not take it",
                changes=changes,
                stops=bool(item.says),
            )
        )
