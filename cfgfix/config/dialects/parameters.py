"""What a value means that reaches a parameter of a library: the concepts of `schemas/parameters.yaml`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from cfgfix.config.dialects.dialect import Dialect
from cfgfix.config.dialects.signatures import Pattern
from cfgfix.core.findings import KeyPath, Location
from cfgfix.core.records import dataclass, replace
from cfgfix.rules import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cfgfix.code.model.nodes import Place


@dataclass(frozen=True, slots=True)
class Meaning:
    """The concepts of the values that a library call takes.

    Attributes:
        parameters: The concepts of each parameter.
        counted: The concepts of how many items a parameter is given.
        facts: Concepts that the call itself gives a value.
        element: The concepts of the bytes of an element that comes to it.
        samples: The concepts of the number of samples that come to it in one pass.
        training: The concept of each figure of `TRAINING` about the model that it trains.
    """

    parameters: Mapping[str, tuple[str, ...]]
    counted: Mapping[str, tuple[str, ...]]
    facts: Mapping[str, Any]
    element: tuple[str, ...]
    samples: tuple[str, ...]
    training: Mapping[str, str]


TRAINING = ("parameters", "fixed", "sample")
"""Stand for parameters where it is told what a step of a call that trains needs: the numbers in the weights of its model,
bytes whatever the batch, and bytes for each sample."""


ELEMENT = "an element"
"""Stands for a parameter where the bytes of an element are told that comes to a call."""


SAMPLES = "samples"
"""Stands for a parameter where the number of samples is told that come to a call."""


@dataclass(frozen=True, slots=True)
class Reached:
    """A library parameter reached by a value of the config or a constant of the code.

    Attributes:
        call: Public name of what is called.
        parameter: The parameter; empty for what the call itself says.
        path: The key whose value it is; None for a constant of the code.
        unchanged: Whether it is given the key's value as it stands in the file.
        value: What it is given, where that is a plain value; None where it is not known.
        known: Whether that is known.
        always: Whether the program certainly makes the call.
        alone: Whether the program does nothing else with the key.
        location: Where the call stands.
        place: The same as lines and columns of the syntax tree; None where the call is not written out.
        argument: By which position or name the call is written with it; None where it is not written so.
    """

    call: str
    parameter: str
    path: KeyPath | None
    unchanged: bool
    value: Any
    known: bool
    always: bool
    alone: bool
    location: Location
    place: Place | None = None
    argument: int | str | None = None

    @property
    def call_text(self) -> str:
        """The call and its parameter as a reader knows them: `Dataset.batch(batch_size)`."""
        name = self.call.removeprefix("tensorflow.data.").removeprefix("tensorflow.").removeprefix("keras.")
        if self.parameter == SAMPLES:
            return f"{name}(), where {self.value} samples come"
        if self.parameter in TRAINING and self.path is None:
            return f"{name}() trains the model"
        if self.parameter == ELEMENT:
            return f"elements of {self.value} bytes come to {name}()"
        return f"{name}({self.parameter})" if self.parameter else f"{name}()"


@dataclass(frozen=True, slots=True)
class Branch:
    """An `if` of the code that the values of a config decide.

    Attributes:
        module: The file.
        place: Its lines and columns in the syntax tree.
        taken: Whether its condition holds.
        path: The key that decides it.
    """

    module: str
    place: Place
    taken: bool
    path: KeyPath


def meaning_of(call: str) -> Meaning | None:
    """Return the concepts of a library call's parameters, or None for an unknown call.

    Args:
        call: Its public name, such as `tensorflow.data.Dataset.batch` or `keras.optimizers.Adam`.
    """
    known = _load_meanings()
    return known.get(call) or known.get(f"{call.rpartition('.')[0]}.*")


def concepts_by_code() -> frozenset[str]:
    """Return the concepts that only code gives a value, never a config."""
    return frozenset(
        concept for meaning in _load_meanings().values() for concept in meaning.training.values()
    )


def source_file() -> str:
    """Return the path of `parameters.yaml`."""
    return os.path.join(compiled.data_folder("schemas"), "parameters.yaml")


_LOADED: dict[str, Meaning] | None = None


def _load_meanings() -> dict[str, Meaning]:
    global _LOADED  # noqa: PLW0603 - loaded once a process
    if _LOADED is None:
        names = compiled.namespace(
            "parameters",
            lambda: [source_file()],
            lambda: render(compiled.data_folder("schemas")),
            {},
        )
        _LOADED = {call: Meaning(*row) for call, row in names["CALLS"].items()}
    return _LOADED


def render(folder: str) -> str:
    """Return Python source with the table of parameters in a folder."""
    from cfgfix.rules.reader import load_yaml

    data: Mapping[str, Any] = load_yaml(os.path.join(folder, "parameters.yaml"))

    def concepts(entry: Mapping[str, Any], name: str) -> dict[str, tuple[str, ...]]:
        return {parameter: tuple(found) for parameter, found in entry.get(name, {}).items()}

    calls = {
        call: (
            concepts(entry, "parameters") | concepts(entry, "attributes"),
            concepts(entry, "counted"),
            dict(entry.get("facts", {})),
            tuple(entry.get("element", ())),
            tuple(entry.get("samples", ())),
            dict(entry.get("training", {})),
        )
        for call, entry in data["calls"].items()
    }
    return f"CALLS = {calls!r}\n"


@dataclass(frozen=True, slots=True)
class KeyMeanings:
    """The concepts of a config's keys, as the code that opens the config shows them.

    Attributes:
        keys: What says that a key is a concept, by both.
        facts: Concepts to which the program gives a value of its own, with what says so.
    """

    keys: Mapping[tuple[str, KeyPath], Reached]
    facts: Mapping[str, tuple[Any, Reached]]

    def paths_of(self, concept: str) -> tuple[KeyPath, ...]:
        """Return the key paths of a concept, those of the training before the evaluation."""
        return tuple(path for known, path in self.keys if known == concept)

    def also(self, reached: Reached) -> list[Reached]:
        """Return the parameters that the same key reaches with another meaning."""
        found = [item for (_, path), item in self.keys.items() if path == reached.path]
        same = meaning_of(reached.call)
        mine = same.parameters.get(reached.parameter) if same is not None else None
        others = []
        for item in found:
            meaning = meaning_of(item.call)
            if meaning is not None and meaning.parameters.get(item.parameter) != mine:
                others.append(item)
        return others


_EVALUATION = ("eval", "val", "valid", "validation", "test", "predict", "inference")
_EVALUATED = {"batch_size": "eval_batch_size"}
"""Concepts that a key of the evaluation has beside one of the training."""


def key_meanings(reached: Iterable[Reached]) -> KeyMeanings:
    """Return the concepts of a config's keys, from the parameters that they reach."""
    keys: dict[tuple[str, KeyPath], Reached] = {}
    values: dict[str, list[tuple[Any, Reached]]] = {}
    for item in reached:
        meaning = meaning_of(item.call)
        if meaning is None:
            continue
        if not item.parameter:
            for concept, value in meaning.facts.items():
                values.setdefault(concept, []).append((value, item))
        for concept in meaning.element if item.parameter == ELEMENT else ():
            values.setdefault(concept, []).append((item.value, item))
        if item.path is None and item.parameter in meaning.training:
            values.setdefault(meaning.training[item.parameter], []).append((item.value, item))
        named = meaning.samples if item.parameter == SAMPLES else meaning.parameters.get(item.parameter, ())
        for concept in named:
            if item.path is not None and item.unchanged:
                known = keys.get((concept, item.path))
                if known is None or (item.always and not known.always):
                    keys[concept, item.path] = item
            else:
                values.setdefault(concept, []).append((item.value, item))
        for concept in meaning.counted.get(item.parameter, ()):
            size = len(item.value) if item.known and isinstance(item.value, (list, tuple)) else None
            values.setdefault(concept, []).append((size, item))
    _add_evaluation_keys(keys)
    given = {concept for concept, _ in keys}
    return KeyMeanings(
        keys,
        {
            concept: found[0]
            for concept, found in values.items()
            if concept not in given and _all_agree(found)
        },
    )


def _all_agree(found: list[tuple[Any, Reached]]) -> bool:
    first = found[0][0]
    return first is not None and all(
        item.always and type(value) is type(first) and value == first for value, item in found
    )


def _add_evaluation_keys(keys: dict[tuple[str, KeyPath], Reached]) -> None:
    """Give keys of the evaluation their own concept, apart from keys of the training.

    Only keys that reach the same call are parted, by their names.
    """
    for concept, other in _EVALUATED.items():
        paths = [path for known, path in keys if known == concept]
        late = [path for path in paths if _is_of_evaluation(path)]
        if late and len(late) < len(paths):
            for path in late:
                keys[other, path] = keys.pop((concept, path))


def _is_of_evaluation(path: KeyPath) -> bool:
    words = {word for step in path for word in str(step).lower().replace("-", "_").split("_")}
    return not words.isdisjoint(_EVALUATION)


def dialect_by_meanings(dialect: Dialect, found: KeyMeanings) -> Dialect:
    """Return a dialect with the key paths that the code shows for each concept.

    Its own names stay where the code says nothing. Of a dialect of common spellings a name counts only where the code does
    not show that the key is something else, or that the value is another.
    """
    if not found.keys and not found.facts:
        return dialect
    concepts: dict[str, tuple[Pattern, ...]] = {}
    known = {path for _, path in found.keys}
    by_name = dialect.confidence == "low"
    for concept in dict.fromkeys((*(name for name, _ in found.keys), *dialect.concepts)):
        mine: tuple[Pattern, ...] = found.paths_of(concept)
        named = tuple(
            pattern
            for pattern in dialect.concepts.get(concept, ())
            if pattern not in mine and not (by_name and (pattern in known or concept in found.facts))
        )
        if mine or named:
            concepts[concept] = (*mine, *named)
    return replace(dialect, concepts=concepts)
