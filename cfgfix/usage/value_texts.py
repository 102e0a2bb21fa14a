"""Texts that stand where code needs other values: open interpolations, numbers read as text."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cfgfix.code.inference.interpreter.objects import ConfigKey, Scalar, Spot
from cfgfix.core.edits import RenameKey, SetValue
from cfgfix.core.findings import format_key_path
from cfgfix.usage.config_files import Entry, KeyPath
from cfgfix.usage.config_runs import ConfigRuns, Verdict
from cfgfix.usage.run_results import RunResult
from cfgfix.usage.spelling import nearest_entry, nearest_name, number_text, value_in_words

_TEXTS = frozenset({"name", "filepath", "path", "log_dir"})
"""Parameters that take any text."""
_APIS = ("tensorflow.", "keras.")
_DIGITS = re.compile(r"[0-9]+")
_TRAILING = re.compile(r"[-+]?[0-9]+(?:\.[0-9]+)?,")


def find_wrong_values(runs: ConfigRuns) -> None:
    """Add verdicts on texts that resemble a text with which the code compares them."""
    for path, entry in runs.entries.items():
        if entry.kind != "scalar" or entry.type is not str or path in runs.reported:
            continue
        keys = runs.keys_at(path)
        compared = [item for key in keys for item in key.compared]
        if not compared or any(same for _, same in compared):
            continue
        names = list(dict.fromkeys(value for value, _ in compared if isinstance(value, str)))
        near = nearest_name(entry.data, names)
        if near is None or near == entry.data or _DIGITS.sub("0", near) == _DIGITS.sub("0", entry.data):
            continue
        if runs.is_mentioned_as_name(entry.data):
            # Code that was not run may know it.
            continue
        if _goes_to_an_api(runs, keys):
            # What knows it stands outside the project.
            continue
        spot = next((key.uses[0] for key in keys if key.uses), None)
        runs.reported.add(path)
        runs.add(
            Verdict(
                "unknown-choice",
                path,
                entry.value,
                {
                    "key": format_key_path(path),
                    "value": entry.data,
                    "wanted": near,
                    "place": runs.place(spot) if spot is not None else "",
                },
                spot=spot,
                label="no way is taken for it",
                changes=(SetValue(path, near),) if runs.first.file.form == "yaml" else (),
            )
        )


def _goes_to_an_api(runs: ConfigRuns, keys: Iterable[ConfigKey]) -> bool:
    """Tell whether a call of TensorFlow or Keras gets the value of any given key."""
    known = {id(key) for key in keys}
    return any(
        type(value) is Scalar and id(value.key) in known
        for result in runs.results
        for call in result.run.calls
        if call.name.startswith(_APIS)
        for value in (*call.args, *call.keywords.values())
    )


def find_open_interpolations(runs: ConfigRuns) -> None:
    """Add verdicts on interpolations that name no key and are read."""
    if not any(opened.loading.how in ("omegaconf", "hydra") for opened in runs.mine):
        return
    for path, entry in runs.entries.items():
        if entry.kind != "scalar" or entry.type is not str or "${" not in entry.data:
            continue
        reads = [spot for key in runs.keys_at(path) for spot in key.reads]
        if not reads:
            continue
        for name in re.findall(r"\$\{([A-Za-z_][\w.]*)\}", entry.data):
            if any(_names_key(result, name) for result in runs.results):
                continue
            runs.reported.add(path)
            *above, last = name.split(".")
            unread = [child for child in runs.unread_in(tuple(above)) if child.path not in runs.reported]
            near = nearest_entry(last, unread, alone=True)
            if near is not None:
                _tell_named_otherwise(runs, near, last, path, reads[0])
                continue
            runs.add(
                Verdict(
                    "missing-key",
                    path,
                    entry.value,
                    {
                        "key": name,
                        "name": name,
                        "error": "InterpolationKeyError",
                        "place": runs.place(reads[0]),
                        "entry": runs.relative(runs.results[0].entrance.module.path),
                    },
                    spot=reads[0],
                    label="reads the value that names it",
                )
            )


def _tell_named_otherwise(runs: ConfigRuns, near: Entry, wanted: str, by: KeyPath, spot: Spot) -> None:
    """Add a verdict on a key whose name differs slightly in an interpolation."""
    runs.reported.add(near.path)
    runs.add(
        Verdict(
            "misspelt-key",
            near.path,
            near.key,
            {
                "key": format_key_path(near.path),
                "name": str(near.path[-1]),
                "wanted": wanted,
                "effect": f"InterpolationKeyError for `{format_key_path(by)}`",
                "place": runs.place(spot),
            },
            spot=spot,
            label="reads the value that names it",
            changes=(RenameKey(near.path, wanted),) if runs.first.file.form == "yaml" else (),
            stops=True,
        )
    )


def _names_key(result: RunResult, name: str) -> bool:
    """Tell whether any config of a run or its command has a key path."""
    steps = tuple(name.split("."))
    for path, opened in result.opened.items():
        for known in opened.keys:
            plain = tuple(str(step) for step in known)
            if plain == steps or (len(steps) > 1 and plain == steps[1:] and steps[0] in path):
                return True
    return any(
        argument.lstrip("+").startswith(f"{name}=")
        for argument in (result.command.arguments if result.command else ())
    )


def find_numbers_as_text(runs: ConfigRuns) -> None:
    """Add verdicts on texts that look like numbers and go to TensorFlow unconverted.

    Keras counts as well.
    """
    for result in runs.results:
        for call in result.run.calls:
            if not call.name.startswith(("keras.", "tensorflow.")) or call.conditions:
                continue
            given = [(None, value) for value in call.args] + list(call.keywords.items())
            for name, value in given:
                key = value.key if type(value) is Scalar else None
                if key is None or key.source != runs.path or key.path in runs.reported or name in _TEXTS:
                    continue
                entry = runs.entries.get(key.path)
                if (
                    entry is None
                    or not entry.plain
                    or entry.type is not str
                    or type(value) is not Scalar
                    or value.value != entry.data
                ):
                    continue
                wanted = number_text(entry.data) or (
                    entry.data[:-1] if _TRAILING.fullmatch(entry.data) else None
                )
                if wanted is None:
                    continue
                runs.reported.add(key.path)
                runs.add(
                    Verdict(
                        "refused-value",
                        key.path,
                        entry.value,
                        {
                            "key": format_key_path(key.path),
                            "value": value_in_words(value),
                            "by": call.name.rpartition(".")[2] + "()",
                            "error": "a text is no number",
                            "place": runs.place(call.spot),
                        },
                        spot=call.spot,
                        label="takes a number",
                        changes=(SetValue(key.path, float(wanted), wanted),),
                        stops=True,
                    )
                )
