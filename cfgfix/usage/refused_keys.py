"""Keys and values of a file that something in its programs does not take."""

from __future__ import annotations

from cfgfix.code.inference.interpreter.events import Refusal
from cfgfix.code.inference.interpreter.objects import Scalar
from cfgfix.core.edits import Change, RenameKey, SetValue
from cfgfix.core.findings import format_key_path
from cfgfix.usage.config_files import KeyPath
from cfgfix.usage.judge import Judge, Verdict
from cfgfix.usage.program_runs import RunResult
from cfgfix.usage.spelling import nearest_name, number_text, shown_value


def find_refused(judge: Judge) -> None:
    """Tell of keys and values that a function, class or conversion does not take."""
    seen: set[tuple[str, KeyPath, str]] = set()
    for result in judge.results:
        for item in result.run.refusals:
            if item.key.source != judge.path or (item.kind, item.key.path, item.name) in seen:
                continue
            seen.add((item.kind, item.key.path, item.name))
            _judge_refusal(judge, result, item)


def _judge_refusal(judge: Judge, result: RunResult, item: Refusal) -> None:
    entry = judge.entries.get(item.key.path)
    if entry is None or entry.path in judge.told:
        return
    name = str(item.key.path[-1]) if item.key.path else ""
    if item.kind in ("unknown-key", "swallowed"):
        given = (
            {str(other) for other, _ in judge.entries[item.key.path[:-1]].children}
            if item.key.path[:-1] in judge.entries
            else set()
        )
        free = [taken for taken in item.takes if taken not in given]
        near = nearest_name(name, free)
        if near is not None:
            judge.told.add(entry.path)
            effect = item.says or "it is passed over without a word"
            judge.add(
                Verdict(
                    "misspelt-key",
                    entry.path,
                    entry.key,
                    {
                        "key": format_key_path(entry.path),
                        "name": name,
                        "wanted": near,
                        "effect": effect,
                        "place": judge.place(item.spot),
                    },
                    spot=item.spot,
                    label=f"{item.by} takes `{near}`",
                    changes=(RenameKey(entry.path, near),) if judge.first.file.form == "yaml" else (),
                    stops=bool(item.says),
                )
            )
        elif item.kind == "unknown-key":
            judge.told.add(entry.path)
            judge.add(
                Verdict(
                    "refused-key",
                    entry.path,
                    entry.key,
                    {
                        "key": format_key_path(entry.path),
                        "name": name,
                        "by": item.by,
                        "error": item.says,
                        "place": judge.place(item.spot),
                    },
                    spot=item.spot,
                    label=f"{item.by} does not take it",
                )
            )
        else:
            judge.told.add(entry.path)
            judge.add(
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
                other.kind == "unknown-key"
                and other.key.path[:-1] == item.key.path
                and nearest_name(str(other.key.path[-1]), [item.name])
            ):
                return
        span = entry.key if entry.path else (entry.value[0], entry.value[0])
        judge.add(
            Verdict(
                "missing-key",
                (*entry.path, item.name),
                judge.line_span(span),
                {
                    "key": format_key_path((*entry.path, item.name)),
                    "name": item.name,
                    "error": item.says,
                    "place": judge.place(item.spot),
                    "entry": judge.shown(result.entrance.module.path),
                },
                spot=item.spot,
                label=f"{item.by} needs `{item.name}`",
            )
        )
    elif item.kind == "text-truth":
        judge.told.add(entry.path)
        judge.add(
            Verdict(
                "text-truth",
                entry.path,
                entry.value,
                {"key": format_key_path(entry.path), "value": item.value, "place": judge.place(item.spot)},
                spot=item.spot,
                label="a text is true here",
                changes=(SetValue(entry.path, False, "false"),)
                if judge.first.file.form == "yaml" and item.value.lower() not in ("none", "null", "0")
                else (),
            )
        )
    elif item.kind in ("wrong-type", "no-number", "cut"):
        if item.conditions:
            return
        judge.told.add(entry.path)
        value = (
            shown_value(Scalar(item.value)) if item.value is not None or item.kind != "wrong-type" else "null"
        )
        changes: tuple[Change, ...] = ()
        number = number_text(item.value) if entry.plain else None
        if number is not None and judge.first.file.form == "yaml":
            changes = (SetValue(entry.path, float(number), number),)
        judge.add(
            Verdict(
                "refused-value",
                entry.path,
                entry.value,
                {
                    "key": format_key_path(entry.path),
                    "value": value,
                    "by": item.by,
                    "error": item.says or "it is changed without a word",
                    "place": judge.place(item.spot),
                },
                severity="warning" if item.kind == "cut" else None,
                spot=item.spot,
                label=f"{item.by} does not take it",
                changes=changes,
                stops=bool(item.says),
            )
        )
