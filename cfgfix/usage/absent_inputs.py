"""Files of data that a config names, that a program reads, and that the project has under a near name only."""

from __future__ import annotations

import os
import posixpath

from cfgfix.code.inference.interpreter.objects import Scalar, Spot, Value
from cfgfix.core.edits import SetValue
from cfgfix.core.findings import format_key_path
from cfgfix.core.source_file import read_regular
from cfgfix.usage.config_files import Entry
from cfgfix.usage.config_runs import ConfigRuns, Verdict
from cfgfix.usage.run_results import RunResult
from cfgfix.usage.spelling import nearest_name

MAX_TEXT = 400_000
"""Largest file that is looked through for a name, in bytes."""
MAX_BESIDE = 2_000
"""Most files of a folder among which a near name is looked for."""
_READERS = frozenset(
    {"pandas.read_csv", "pandas.read_parquet", "pandas.read_json", "pandas.read_pickle", "pandas.read_excel", "numpy.load", "numpy.loadtxt",
     "numpy.genfromtxt", "tensorflow.io.read_file", "tensorflow.data.TextLineDataset", "tensorflow.data.TFRecordDataset",
     "keras.models.load_model", "h5py.File"}
)  # fmt: skip
"""Functions that read the file which they are given first."""


def find_absent_inputs(runs: ConfigRuns) -> None:
    """Add verdicts on input files that are absent while a file of a near name exists."""
    for result in runs.results:
        for value, spot, conditions in _inputs_read(result):
            if not conditions:
                _judge_input(runs, result, value, spot)


def _inputs_read(result: RunResult) -> list[tuple[Value, Spot, tuple[str, ...]]]:
    run = result.run
    found = list(run.read_paths)
    for call in run.calls:
        if call.name in _READERS and call.args and not (call.name == "h5py.File" and len(call.args) != 2):
            found.append((call.args[0], call.spot, call.conditions))
    return found


def _judge_input(runs: ConfigRuns, result: RunResult, value: Value, spot: Spot) -> None:
    run = result.run
    if type(value) is not Scalar or value.key is None or value.key.source != runs.path or value.optional:
        return
    entry = runs.entries.get(value.key.path)
    text = value.value
    if entry is None or entry.path in runs.reported or not isinstance(text, str) or entry.data != text:
        return
    if text in run.tested_paths or text in run.written_paths or set(text) & set("*?[]{}<>$%~:\\"):
        return
    folder, name = posixpath.split(posixpath.normpath(text))
    if not folder or posixpath.isabs(text) or folder.startswith("..") or "." not in name:
        return
    root = runs.project.root
    bases = {root, os.path.dirname(os.path.abspath(result.entrance.module.path))}
    if any(os.path.lexists(os.path.join(base, text)) for base in bases):
        return
    if not any(runs.project.files.would_list(os.path.join(base, text)) for base in bases):
        return
    beside: list[str] = []
    for base in bases:
        try:
            beside += os.listdir(os.path.join(base, folder))[:MAX_BESIDE]
        except OSError:
            continue
    ending = posixpath.splitext(name)[1]
    stem = posixpath.splitext(name)[0]
    stems = {posixpath.splitext(other)[0]: other for other in beside if other.endswith(ending)}
    near = nearest_name(stem, sorted(stems)) or _part_of(stem, stems)
    if near is None:
        return
    if _is_named_elsewhere(runs, entry, text, name):
        return
    meant = posixpath.join(posixpath.dirname(text), stems[near])
    runs.reported.add(entry.path)
    runs.add(
        Verdict(
            "absent-input",
            entry.path,
            entry.value,
            {
                "key": format_key_path(entry.path),
                "value": text,
                "place": runs.place(spot),
                "near": meant,
            },
            spot=spot,
            label="reads it",
            changes=(SetValue(entry.path, meant, meant),)
            if runs.first.file.form == "yaml" and entry.plain
            else (),
            stops=True,
        )
    )


def _is_named_elsewhere(runs: ConfigRuns, entry: Entry, text: str, name: str) -> bool:
    """Tell whether code, a script or another key also names a file.

    It may then be made or downloaded.
    """
    if any(
        other.kind == "scalar" and other.data == text and other is not entry
        for other in runs.entries.values()
    ):
        return True
    project = runs.project
    if any(name in runs.project.text_of(path) for path in project.files.data if path != runs.path):
        return True
    paths = [os.path.join(project.root, path) for path in project.files.texts]
    paths += [module.path for module in project.program.all_modules()]
    for path in paths:
        try:
            if name.encode() in read_regular(path, MAX_TEXT):
                return True
        except OSError:
            continue
    return False


def _part_of(stem: str, stems: dict[str, str]) -> str | None:
    """Return the only candidate whose words lie in a stem's words, or the reverse.

    None for several or none.
    """
    # `lot_labels` and `labels`
    words = set(stem.replace("-", "_").split("_"))
    found = [
        other for other in stems if (them := set(other.replace("-", "_").split("_"))) < words or words < them
    ]
    return found[0] if len(found) == 1 else None
