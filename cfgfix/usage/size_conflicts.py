"""Numbers that contradict each other in the runs of a project's programs: shapes, labels, vocabularies."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Sequence

from cfgfix.code.inference.interpreter.interpreter import Interpreter
from cfgfix.code.inference.interpreter.objects import ConfigKey, Spot
from cfgfix.code.inference.interpreter.run import MAX_STEPS as MAX_RUN
from cfgfix.code.inference.networks.conflicts import WEIGHTS, Conflict, WeightFile
from cfgfix.code.inference.networks.sizes import Sizes
from cfgfix.usage.config_files import Entry
from cfgfix.usage.declared_options import OptionVerdict
from cfgfix.usage.entrances import Entrance
from cfgfix.usage.program_runs import ProjectRuns
from cfgfix.usage.run_results import RunResult
from cfgfix.usage.sinks import Sinks

_BUILDS = "keras."
MAX_FOLLOWED = 150_000
"""Most steps of all runs that are made to follow shapes: about a second."""


def size_verdicts(project: ProjectRuns) -> Iterator[OptionVerdict]:
    """Yield verdicts on places where two numbers of a run contradict each other.

    Args:
        project: The runs of the project.
    """
    followed = _FollowedShapes(project)
    told: set[tuple[str, object, str]] = set()
    for conflict in (*followed.conflicts(), *followed.weights_of_other_sizes()):
        key = (conflict.spot.path, conflict.spot.place, conflict.kind)
        if key in told:
            continue
        told.add(key)
        yield OptionVerdict(
            conflict.kind,
            _at_name(conflict.spot),
            conflict.values,
            severity=conflict.severity,
            beside=tuple((_at_name(spot), label) for spot, label in conflict.related),
            keys=tuple(_of_numbers(project, conflict.keys)),
        )


class _FollowedShapes:
    """The runs of a project that are made again to follow shapes.

    Args:
        project: The runs of the project.
    """

    def __init__(self, project: ProjectRuns) -> None:
        self.project = project
        self.api = Sinks(project).api
        self.steps = 0
        self.whole = True
        """Whether every run was followed to its end."""
        self.files: list[tuple[WeightFile, frozenset[str]]] = []
        """The files of weights that the runs write and load, each with the configs that the run opens."""

    def conflicts(self) -> Iterator[Conflict]:
        """Yield what contradicts itself in each run."""
        entered: list[Entrance] = []
        for result in (*self.project.results, *self.project.without_config):
            entered.append(result.entrance)
            if not _builds_model_part(result):
                continue
            if result.run.exhausted:
                # It has no end that could be followed in so few steps.
                self.whole = False
                continue
            yield from self._run_in_time_left(functools.partial(self.project.followed, result))
        for entrance in (*self.project.programs_of_framework(), *self.project.models_made_aside()):
            if all(other != entrance for other in entered):
                yield from self._run_in_time_left(functools.partial(self.project.run_aside, entrance))

    def _run_in_time_left(
        self, make: Callable[[Callable[[Interpreter], object]], RunResult]
    ) -> Sequence[Conflict]:
        """Make a run in what is left of the steps, and return what contradicts itself in it."""
        left = MAX_FOLLOWED - self.steps
        if left <= 0:
            self.whole = False
            return ()
        made: list[Sizes] = []
        spent = max(0, MAX_RUN - left)

        def follow(run: Interpreter) -> None:
            run.steps = spent
            made.append(Sizes(run, self.api))

        again = make(follow)
        self.steps += again.run.steps - spent
        self.whole = self.whole and not again.run.exhausted
        opened = frozenset(again.opened)
        self.files += [(file, opened) for file in made[0].fits.weights]
        return made[0].conflicts

    def weights_of_other_sizes(self) -> Iterator[Conflict]:
        """Yield the loads of weights into a model of other sizes than every model that writes the file has.

        Nothing is said where a program that could write it was not followed to its end.
        """
        for loading, opened in self.files if self.whole else ():
            if loading.saving:
                continue
            path = os.path.normpath(loading.path)
            writers = [
                (other, configs)
                for other, configs in self.files
                if other.saving and os.path.normpath(other.path) == path
            ]
            if any(_counts_of_file(other) == _counts_of_file(loading) for other, _ in writers):
                continue
            for other, configs in writers:
                found = _difference_of_files(loading, other)
                if found is not None and (configs == opened or not configs or not opened):
                    yield found
                    break


def _difference_of_files(loading: WeightFile, writer: WeightFile) -> Conflict | None:
    """Return how the models that write and load a file of weights differ; None where that does not show."""
    pairs = zip(loading.layers, writer.layers, strict=False)
    one, other = next(
        ((one, other) for one, other in pairs if (one.name, one.count) != (other.name, other.count)),
        (None, None),
    )
    path = loading.path
    if len(loading.layers) != len(writer.layers):
        says = f"the model has {len(loading.layers)} layers with weights, and {path} has {len(writer.layers)}"
    elif one is None or other is None:
        return None
    elif one.name == other.name:
        says = f"{one.name} has {one.count} numbers in its weights, and {other.count} in {path}"
    else:
        says = f"{one.name} stands where {path} has {other.name}"
    related = [(writer.spot, "writes the file")]
    for layer, label in ((one, "made here"), (other, "made here for the file")):
        if layer is not None and layer.made.spot is not None:
            related.append((layer.made.spot, label))
    return Conflict(WEIGHTS, loading.spot, {"says": says}, tuple(related))


def _counts_of_file(file: WeightFile) -> list[tuple[str, int]]:
    return [(layer.name, layer.count) for layer in file.layers]


def _at_name(spot: Spot) -> Spot:
    """Return the place of the name that a call calls, in place of the whole call."""
    call = next((call for call in spot.scope.calls if call.place == spot.place), None)
    if call is None:
        return spot
    return Spot(spot.scope, call.name_place, spot.block, spot.calls, spot.conditions, spot.turns)


def _of_numbers(project: ProjectRuns, keys: tuple[ConfigKey, ...]) -> Iterator[ConfigKey]:
    """Yield the keys of whole numbers and lists among some, the items of such lists left out."""
    entries: list[tuple[ConfigKey, Entry]] = []
    for key in keys:
        config = project.config(key.source)
        root = config.tree()[0] if config is not None else None
        entry = root.at(key.path) if root is not None else None
        if entry is not None:
            entries.append((key, entry))
    lists = {(key.source, key.path) for key, entry in entries if entry.kind == "list"}
    for key, entry in entries:
        is_number = entry.kind == "scalar" and type(entry.raw) is int
        if (is_number or entry.kind == "list") and (key.source, key.path[:-1]) not in lists:
            yield key


def _builds_model_part(result: RunResult) -> bool:
    """Tell whether a run makes parts of a model."""
    return result.entrance.framework and any(call.name.startswith(_BUILDS) for call in result.run.calls)
