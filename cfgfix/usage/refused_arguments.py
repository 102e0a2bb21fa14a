"""What TensorFlow does not take of the arguments that a config gives, as verdicts on its keys."""

from __future__ import annotations

import math
from typing import Any

from cfgfix.code.inference.interpreter.objects import Scalar
from cfgfix.core.edits import Change, RenameKey, SetValue
from cfgfix.core.findings import format_key_path
from cfgfix.usage.arguments import (
    CLASSES,
    IGNORED,
    LACKING,
    MISSPELT,
    TOGETHER,
    TRUTH,
    VALUE,
    WORD,
    Arguments,
    Fault,
)
from cfgfix.usage.config_files import Entry
from cfgfix.usage.config_runs import ConfigRuns, Verdict
from cfgfix.usage.spelling import number_text, value_in_words

_OF_TEXTS = ("configparser gives every value as a text: `getint`, `getfloat` and `getboolean` convert it",)
MAX_WHOLE = 1 << 53
"""Up to here a float tells all integers apart."""


def find_refused_arguments(runs: ConfigRuns, arguments: Arguments) -> None:
    """Add verdicts on arguments from a file that TensorFlow does not take."""
    floats = frozenset(path for path, entry in runs.entries.items() if entry.type is float)
    for result in runs.results:
        for fault in arguments.faults_in(result, runs.path, floats):
            entry = runs.entries.get(fault.key.path)
            if entry is None or entry.path in runs.reported:
                continue
            if fault.kind == LACKING:
                if (entry.path, fault.parameter) not in runs.asked_told:
                    runs.asked_told.add((entry.path, fault.parameter))
                    runs.add(_verdict_of_lacking(runs, fault, entry, runs.program_of(result)))
                continue
            runs.reported.add(entry.path)
            runs.add(_verdict_on_fault(runs, fault, entry))


def _verdict_of_lacking(runs: ConfigRuns, fault: Fault, entry: Entry, program: str) -> Verdict:
    """Return the verdict on a section that lacks a required argument."""
    span = entry.key if entry.path else (entry.value[0], entry.value[0])
    key = format_key_path((*entry.path, fault.parameter))
    return Verdict(
        "missing-key",
        (*entry.path, fault.parameter),
        runs.line_span(span),
        {
            "key": key,
            "name": fault.parameter,
            "error": fault.error,
            "place": runs.place(fault.bound.spot),
            "entry": program,
        },
        severity=fault.severity if fault.severity != "error" else None,
        spot=fault.bound.spot,
        label=f"{fault.bound.callable.rpartition('.')[2]}() needs `{fault.parameter}`",
        stops=fault.severity == "error",
    )


def _verdict_on_fault(runs: ConfigRuns, fault: Fault, entry: Entry) -> Verdict:
    """Return the verdict on an argument that TensorFlow does not take."""
    is_yaml = runs.first.file.form == "yaml"
    span = entry.value if fault.kind in (WORD, VALUE, TOGETHER, TRUTH) else entry.key
    callable_name = fault.bound.callable.rpartition(".")[2] + "()"
    values: dict[str, Any] = {
        "key": format_key_path(entry.path),
        "name": str(entry.path[-1]) if entry.path else "",
        "place": runs.place(fault.bound.spot),
        "by": fault.by if fault.kind in (WORD, VALUE) else callable_name,
        "error": fault.error,
        "effect": fault.error,
        "wanted": fault.meant,
        "parameter": fault.parameter,
        "value": value_in_words(fault.value),
        "meant": f" (did you mean '{fault.meant}'?)" if fault.meant else "",
    }
    check, label, title = "refused-key", f"{callable_name} does not take it", None
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = _OF_TEXTS if fault.kind == VALUE and runs.first.file.form == "ini" else ()
    if fault.kind == MISSPELT:
        check, label = "misspelt-key", f"{callable_name} takes `{fault.meant}`"
        changes = (RenameKey(entry.path, fault.meant),)
    elif fault.kind == IGNORED:
        check, label = "ignored-argument", f"{callable_name} forgets it"
    elif fault.kind == CLASSES:
        check, label = "text-classes", "looks up each class by its number"
        values["form"] = {"json": "JSON", "toml": "TOML", "ini": "INI"}.get(runs.first.file.form, "")
    elif fault.kind == TRUTH:
        check, label = "text-truth", f"goes to `{fault.parameter}`, where a text is true"
        values["value"] = entry.data
        if isinstance(entry.data, str) and entry.data.lower() not in ("none", "null", "0"):
            changes = (SetValue(entry.path, False, "false"),)
    elif fault.kind == TOGETHER:
        check, label = "contradicting-arguments", f"goes to `{fault.parameter}`"
    elif fault.kind == WORD:
        check, label = "unknown-word", f"goes to `{fault.parameter}`"
        changes = (SetValue(entry.path, fault.meant),) if fault.meant and not fault.computed else ()
    elif fault.kind == VALUE:
        check = "refused-value"
        label = f"`{fault.parameter}` takes {fault.takes}" if fault.takes else f"goes to `{fault.parameter}`"
        values["error"] = f"{fault.error}, it takes {fault.takes}" if fault.takes else fault.error
        if fault.computed:
            values["value"] = (
                f"{value_in_words(Scalar(entry.data))} and becomes {value_in_words(fault.value)}"
            )
            if (
                isinstance(fault.value, Scalar)
                and isinstance(fault.value.value, float)
                and "integer" in fault.takes
            ):
                notes = ("the code makes a float of it: `//` or int(...) keeps an integer",)
        number = None if fault.computed else number_for(entry.data, fault.number)
        if number is not None:
            changes = (SetValue(entry.path, *number),)
            title = "Write it as an integer" if isinstance(number[0], int) else None
    return Verdict(
        check,
        entry.path,
        span,
        values,
        severity=fault.severity if fault.severity != "error" and fault.kind != CLASSES else None,
        spot=fault.bound.spot,
        label=label,
        changes=changes if is_yaml else (),
        notes=notes,
        stops=fault.kind in (VALUE, TOGETHER) and fault.severity == "error" and bool(fault.error),
        title=title,
    )


def number_for(value: Any, wanted: str) -> tuple[int | float, str] | None:
    """Return the number that a refused value stands for, with its text.

    None where the parameter takes no numbers, or the number is not certain.
    """
    integer = wanted == "integer"
    if not wanted:
        return None
    if isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            return None
        if not math.isfinite(number):
            return None
        if not integer:
            text = number_text(value) or value
            return (int(text) if text.lstrip("+-").isdecimal() else number), text
    elif isinstance(value, float):
        number = value
    else:
        return None
    if not integer or number != number // 1 or abs(number) > MAX_WHOLE:
        return None
    return int(number), str(int(number))
