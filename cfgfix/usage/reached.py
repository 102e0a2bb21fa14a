"""Which parameters of TensorFlow the values of one config reach, and what its programs say themselves, over all their runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from cfgfix.code.inference.interpreter.objects import (
    ConfigKey,
    External,
    KeyPath,
    Mapping,
    Scalar,
    Spot,
    Value,
)
from cfgfix.code.inference.interpreter.objects import Sequence as Listed
from cfgfix.code.model.given import SPREAD
from cfgfix.code.model.nodes import Place
from cfgfix.code.model.positions import Offsets
from cfgfix.config.dialects.parameters import ELEMENT, SAMPLES, Branch, Reached, meaning_of
from cfgfix.core.findings import Location
from cfgfix.core.source_file import SourceFile
from cfgfix.usage.config_files import Entry
from cfgfix.usage.element_sizes import element_sizes, sample_counts
from cfgfix.usage.run_results import RunResult
from cfgfix.usage.sinks import BoundCall, Sink, Sinks

MAX_REACHED = 400
"""Most parameters that are kept of one config."""
AUTOTUNE = -1
"""What `tf.data.AUTOTUNE` stands for."""
_PLAIN = (bool, int, float, str)


class Places:
    """Locations of places in the code; each file is read once."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[SourceFile, Offsets]] = {}

    def location(self, spot: Spot, label: str | None = None) -> Location:
        """Return the location of a spot in the code, with a label."""
        known = self._files.get(spot.path)
        if known is None:
            source = spot.scope.module.source_file()
            known = self._files[spot.path] = source, Offsets(source.text)
        source, offsets = known
        start, end = offsets.span(spot.place)
        found: Location = source.location(start, max(start, end), label)
        return found


def reached_by(
    path: str, results: Sequence[RunResult], sinks: Sinks, entries: dict[KeyPath, Entry], places: Places
) -> tuple[Reached, ...]:
    """Return the parameters that the values of a config reach.

    The constants that its programs give parameters with a meaning are in it.

    Args:
        path: The config.
        results: The runs that open it.
        sinks: The sinks of all runs.
        entries: The entries of the file, by key path.
        places: Where things stand in the code.
    """
    found: dict[tuple[Any, ...], Reached] = {}
    for result in results:
        mine = list(sinks.sinks_of(result, path))
        given: dict[tuple[ConfigKey, object], set[Point]] = {}
        for sink in mine:
            for value in sink.values:
                key = _given_config_key(path, sink, value, entries)
                if key is not None:
                    given.setdefault((key, _kind_of_sink(sink)), set()).add(_point_of_spot(sink.spot))
        for sink in mine:
            for item in _of_sink(path, sink, entries, given, places):
                found.setdefault(_identity_of(item), item)
        calls = sinks.calls(result)
        for bound in calls:
            for item in _constants_reaching(bound, places):
                found.setdefault(_identity_of(item), item)
        for bound, count in sample_counts(calls):
            keys = [key for key in _origin_keys(count) if key.source == path and key.path] if count else []
            plain, known = _plain_data(count) if count is not None else (None, False)
            source = keys[0].path if len(keys) == 1 else None
            always, place = not bound.conditions, places.location(bound.spot)
            item = Reached(bound.callable, SAMPLES, source, False, plain, known, always, False, place)
            found.setdefault(_identity_of(item), item)
        for bound, size in element_sizes(calls):
            always, place = not bound.conditions, places.location(bound.spot)
            known = size is not None
            item = Reached(bound.callable, ELEMENT, None, False, size, known, always, True, place)
            found.setdefault(_identity_of(item), item)
        if len(found) >= MAX_REACHED:
            break
    return tuple(list(found.values())[:MAX_REACHED])


def branches_of(path: str, results: Sequence[RunResult]) -> tuple[Branch, ...]:
    """Return the branches of the code that one key of a config decides alone.

    They go the same way in all runs that open the config.
    """
    found: dict[tuple[str, Place], Branch | None] = {}
    for result in results:
        for (scope, place), (taken, keys) in result.run.branches.items():
            mine = [key for key in keys if key.source == path and key.path]
            here = scope.module.path, place
            alone = len(mine) == 1 and len(keys) == 1 and taken is not None and not result.run.exhausted
            new = Branch(*here, bool(taken), mine[0].path) if alone else None
            if here not in found:
                found[here] = new
            elif new is None or found[here] != new:
                found[here] = None
    return tuple(item for item in found.values() if item is not None)


def _of_sink(
    path: str,
    sink: Sink,
    entries: dict[KeyPath, Entry],
    given: dict[tuple[ConfigKey, object], set[Point]],
    places: Places,
) -> Iterator[Reached]:
    always = not sink.conditions and len(sink.values) == 1
    for value in sink.values:
        plain, known = _as_written(value)
        key = _given_config_key(path, sink, value, entries)
        others = [one for one in _origin_keys(value) if one.source == path and one.path]
        for one in (key,) if key is not None else others:
            yield Reached(
                sink.callable,
                sink.parameter,
                one.path,
                key is not None,
                plain,
                known,
                always,
                all(_point_of_spot(spot) in given.get((one, _kind_of_sink(sink)), ()) for spot in one.uses),
                places.location(sink.spot),
                sink.spot.place,
                _argument_of_sink(sink),
            )


def _argument_of_sink(sink: Sink) -> int | str | None:
    """Return the position or name of the argument that a sink stands for.

    None where a `**` gives it beside arguments that are not known.
    """
    if sink.bound.described is not None or sink.bound.sets:
        return None
    spread = sink.bound.call.spread
    if spread is not None:
        return f"{SPREAD}{sink.parameter}" if _is_spread_whole(sink.value, spread) else None
    for number, value in enumerate(sink.bound.call.args):
        if value is sink.value:
            return number
    keywords = sink.bound.call.keywords
    return sink.parameter if keywords.get(sink.parameter) is sink.value else None


def _is_spread_whole(value: Value, spread: Mapping) -> bool:
    """Tell whether a `**` mapping with a value has only plain values of one section."""
    if spread.open or not any(entry is value for entry in spread.entries.values()):
        return False
    keys = [_key_of_plain(entry) for entry in spread.entries.values()]
    return (
        len({(key.source, key.path[:-1]) if key is not None and key.path else None for key in keys} - {None})
        == 1
        and None not in keys
    )


def _key_of_plain(entry: Value) -> ConfigKey | None:
    """Return the key of a scalar or a list of scalars; None for other values."""
    if isinstance(entry, Scalar):
        return None if entry.optional else entry.key
    if not isinstance(entry, Listed) or entry.open or entry.uncounted:
        return None
    return entry.key if all(isinstance(item, Scalar) for item in entry.items) else None


def _given_config_key(path: str, sink: Sink, value: Value, entries: dict[KeyPath, Entry]) -> ConfigKey | None:
    """Return the key whose value a parameter gets, as it is or converted; else None."""
    key = sink.unchanged(value)
    if key is not None:
        return key if key.source == path and key.path else None
    origins = list(_origin_keys(value))
    if len(origins) != 1 or origins[0].source != path or not origins[0].path:
        return None
    plain, known = _plain_data(value)
    if not known:
        return None
    entry = entries.get(origins[0].path)
    written = entry.data if entry is not None and entry.kind == "scalar" else None
    return origins[0] if _is_converted(plain, written) else None


def _kind_of_sink(sink: Sink) -> object:
    """Return the concepts of a sink's parameter, or else its callable and name."""
    meaning = meaning_of(sink.callable)
    concepts = meaning.parameters.get(sink.parameter) if meaning is not None else None
    return concepts or (sink.callable, sink.parameter)


def _constants_reaching(bound: BoundCall, places: Places) -> Iterator[Reached]:
    """Yield the constants in the code that a call gives to parameters with a meaning."""
    meaning = meaning_of(bound.callable)
    if meaning is None:
        return
    always = not bound.conditions
    if meaning.facts:
        yield Reached(bound.callable, "", None, False, None, False, always, True, places.location(bound.spot))
    for parameter, value in bound.arguments.items():
        if parameter not in meaning.parameters and parameter not in meaning.counted:
            continue
        if any(True for _ in _origin_keys(value)):
            continue
        plain, known = _plain_data(value)
        yield Reached(
            bound.callable, parameter, None, False, plain, known, always, True, places.location(bound.spot)
        )


def _origin_keys(value: Value) -> Iterable[ConfigKey]:
    own = value.key if isinstance(value, (Scalar, Listed, Mapping)) else None
    if own is not None:
        return (own,)
    if isinstance(value, Listed):
        return sorted(
            {key for item in value.items for key in _origin_keys(item)},
            key=lambda key: (key.source, str(key.path)),
        )
    return sorted(value.origins, key=lambda key: (key.source, str(key.path)))


def _as_written(value: Value) -> tuple[Any, bool]:
    """Return a value as plain data, and whether it is known, without noting a look.

    The value of a key is kept beside the key (`facts_after_changes`).
    """
    if isinstance(value, Scalar) and value.is_unlooked:
        written = value.entry.raw
        return (written, True) if isinstance(written, _PLAIN) else (None, False)
    return _plain_data(value)


def _plain_data(value: Value) -> tuple[Any, bool]:
    """Return a value as plain data, and whether it is known."""
    if isinstance(value, Scalar):
        return (value.value, not value.optional) if isinstance(value.value, _PLAIN) else (None, False)
    if isinstance(value, External) and value.name.endswith("data.AUTOTUNE"):
        return AUTOTUNE, True
    if isinstance(value, Listed) and not value.open:
        return [_plain_data(item)[0] for item in value.items], True
    return None, False


def _is_converted(value: Any, written: Any) -> bool:
    """Tell whether a value equals the one in the file after a conversion."""
    if isinstance(value, bool) or isinstance(written, bool):
        return value is written
    if isinstance(value, (int, float)) and isinstance(written, (int, float)):
        return value == written
    return str(value) == str(written)


Point = tuple[str, int, int]
"""A file, a line and a column."""


def _point_of_spot(spot: Spot) -> Point:
    return spot.path, spot.line, spot.place.column


def _identity_of(item: Reached) -> tuple[Any, ...]:
    return (
        item.call,
        item.parameter,
        item.path,
        item.location.path,
        item.location.start,
        str(item.value),
        item.unchanged,
        item.always,
    )
