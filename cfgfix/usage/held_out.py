"""Verdicts on validation data that are the training data: two settings by which a program reads the same files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.inference.interpreter.events import LibraryCall
from cfgfix.code.inference.interpreter.objects import Spot
from cfgfix.code.inference.interpreter.values import constant_text
from cfgfix.core.findings import format_key_path
from cfgfix.usage.config_files import KeyPath
from cfgfix.usage.config_runs import ConfigRuns, Verdict

_TRAINED = frozenset({"train", "training", "trn"})
_HELD = frozenset({"val", "valid", "validation", "dev", "eval"})
_PARTED = frozenset({"split", "splits", "fold", "folds", "ratio", "fraction", "percent", "subset"})
"""Words of settings by which one set of files is parted."""
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+|[^A-Za-z0-9]+")
_READERS = re.compile(
    r"^(?:glob\.i?glob|os\.(?:listdir|scandir|walk)|pandas\.read_\w+|numpy\.(?:load|genfromtxt|loadtxt)"
    r"|tensorflow\.(?:data\.\w*Dataset(?:\.list_files)?|io\.(?:read_file|matching_files|gfile\.(?:glob|listdir|walk)))"
    r"|keras\.(?:utils|preprocessing)\..*(?:_from_directory|_from_dataframe))$"
)
"""What reads files, or lists those of a folder, by a path."""
_OF_A_PART = frozenset({"subset", "validation_split"})
"""Arguments with which a call reads a part of what is there."""


def find_trained_on(runs: ConfigRuns) -> None:
    """Add verdicts on settings for held-out data that name the training data."""
    if any(_words_of(path) & _PARTED for path in runs.entries):
        return
    pairs = list(_split_pairs(runs))
    if not pairs or any(runs.entries[held].data != runs.entries[trained].data for trained, held in pairs):
        return
    for trained, held in pairs:
        spot = _reads_the_same(runs, trained, held)
        if spot is not None and held not in runs.reported:
            runs.reported.add(held)
            runs.add(
                Verdict(
                    "held-out-is-trained-on",
                    held,
                    runs.entries[held].key,
                    {
                        "key": format_key_path(held),
                        "other": format_key_path(trained),
                        "place": runs.place(spot),
                    },
                    spot=spot,
                    label="reads these files",
                )
            )


def _words_of_step(step: str | int) -> list[str]:
    return [word.lower() for word in _WORDS.findall(str(step))]


def _words_of(path: KeyPath) -> set[str]:
    return {word for step in path for word in _words_of_step(step)}


def _split_pairs(runs: ConfigRuns) -> Iterator[tuple[KeyPath, KeyPath]]:
    """Yield pairs of keys for training and held-out paths that differ in that word."""
    trained: dict[tuple[str, ...], KeyPath] = {}
    held: dict[tuple[str, ...], KeyPath] = {}
    for path, entry in runs.entries.items():
        if entry.kind != "scalar" or entry.type is not str:
            continue
        words = [word for step in path for word in (*_words_of_step(step), "/")]
        sides = [word for word in words if word in _TRAINED or word in _HELD]
        # Its value is looked at last: what is said of any other stays the same with another one.
        if sides and re.search(r"[/\\.]", entry.data):
            shape = tuple("*" if word in _TRAINED or word in _HELD else word for word in words)
            (trained if sides[-1] in _TRAINED else held).setdefault(shape, path)
    for shape, path in held.items():
        if shape in trained:
            yield trained[shape], path


def _reads_the_same(runs: ConfigRuns, trained: KeyPath, held: KeyPath) -> Spot | None:
    """Return where a program reads the same files by two settings; None otherwise."""
    found: Spot | None = None
    for result, opened in zip(runs.results, runs.mine, strict=True):
        keys = opened.keys.get(trained), opened.keys.get(held)
        read: tuple[dict[tuple[str, str], Spot], ...] = ({}, {})
        for call in result.run.calls:
            for side, key in enumerate(keys):
                for text, known in _paths_of(call, key):
                    if not known:
                        return None
                    read[side].setdefault((call.name, text), call.spot)
        if read[0].keys() != read[1].keys():
            return None
        found = found or next(iter(read[1].values()), None)
    return found


def _paths_of(call: LibraryCall, key: object) -> Iterator[tuple[str, bool]]:
    """Yield the paths from a setting by which a call reads, and whether each is known."""
    if not _READERS.match(call.name):
        return
    for value in (*call.args, *call.keywords.values()):
        if key in value.origins:
            text = constant_text(value)
            yield text or "", text is not None and _OF_A_PART.isdisjoint(call.keywords)
