"""What the training steps of a project's programs need in memory, by runs that follow the tensors of their models."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from cfgfix.code.inference.interpreter.interpreter import Interpreter
from cfgfix.code.inference.interpreter.objects import Scalar, Value
from cfgfix.code.inference.networks.trainings import Training, Trainings
from cfgfix.code.model.nodes import Place
from cfgfix.config.dialects.derived import MIB
from cfgfix.config.dialects.parameters import TRAINING, Reached, key_meanings, meaning_of
from cfgfix.core.records import replace
from cfgfix.rules.hit import Hit
from cfgfix.usage.declared_options import OptionVerdict
from cfgfix.usage.program_runs import MAX_STEPS, ProjectRuns
from cfgfix.usage.reached import Places
from cfgfix.usage.run_results import RunResult
from cfgfix.usage.sinks import BoundCall, Sinks

_FIT = "keras.Model.fit"
_TRAINS = (".fit", ".fit_generator", ".apply_gradients")
_STRATEGIES = "tensorflow.distribute."
_BATCH = "batch_size"
_MIRRORED = "tensorflow.distribute.MirroredStrategy"
SURE = 0.95
"""Share of an estimate that a step certainly needs: all measured peaks were above it (`benchmarks/training_memory.md`)."""


def reached_trainings(
    project: ProjectRuns,
    results: Sequence[RunResult],
    reached: Sequence[Reached],
    sinks: Sinks,
    places: Places,
) -> tuple[Reached, ...]:
    """Return the memory figures of the largest training step that a config has.

    That is the step with most memory for each sample. Empty where the batch size is not given by
    exactly one key or one number in the code.

    Args:
        project: The runs of the project.
        results: Those that open the config.
        reached: The parameters that its values reach.
        sinks: The sinks of all runs.
        places: Where things stand in the code.
    """
    found = key_meanings(reached)
    if len(found.paths_of(_BATCH)) + (_BATCH in found.facts) != 1 or _several_batches(reached):
        return ()
    trainings = [training for result in results for training in trainings_of(project, result, sinks)]
    if not trainings:
        return ()
    largest = max(trainings, key=lambda training: (training.sample, training.fixed))
    place = places.location(largest.spot)
    figures = (largest.parameters, int(largest.fixed), int(largest.sample))
    return tuple(
        Reached(_FIT, figure, None, False, value, True, True, True, place)
        for figure, value in zip(TRAINING, figures, strict=True)
    )


def _several_batches(reached: Sequence[Reached]) -> bool:
    """Tell whether some batch size is not an unchanged value of a key."""
    for item in reached:
        meaning = meaning_of(item.call)
        if (
            meaning is not None
            and _BATCH in meaning.parameters.get(item.parameter, ())
            and not item.unchanged
        ):
            return True
    return False


def trainings_of(project: ProjectRuns, result: RunResult, sinks: Sinks) -> list[Training]:
    """Return the training calls of a run whose memory need is known.

    The run is made again, with loops and functions that build a model followed to their end.

    Args:
        project: The runs of the project.
        result: The run.
        sinks: The sinks of all runs.
    """
    known: list[Training] | None = project.trainings.get(id(result))
    if known is None:
        known = project.trainings[id(result)] = _followed_trainings(project, result, sinks)
    return known


def _followed_trainings(project: ProjectRuns, result: RunResult, sinks: Sinks) -> list[Training]:
    calls = result.run.calls
    if result.run.exhausted or not any(call.name.endswith(_TRAINS) for call in calls):
        return []
    if project.followed_steps >= MAX_STEPS:
        return []
    strategies = [
        call for call in calls if call.name.startswith(_STRATEGIES) and call.name.endswith("Strategy")
    ]
    if len({call.name for call in strategies}) > 1 or any(call.conditions for call in strategies):
        # How many replicas share a batch depends on what is not known.
        return []
    made: list[Trainings] = []

    def follow(run: Interpreter) -> None:
        made.append(Trainings(run, sinks.api))

    again = project.followed(result, follow)
    return [] if again.run.exhausted else made[0].found


# Batches that the code itself gives


def literal_batches(project: ProjectRuns, sinks: Sinks) -> Iterator[OptionVerdict]:
    """Yield verdicts on batch sizes in the code, each with its training step's memory.

    `with_machine_limits` tells whether a batch is too large.

    Args:
        project: The runs of the project.
        sinks: The sinks of all runs.
    """
    told_places: set[tuple[str, Place]] = set()
    for result in (*project.results, *project.without_config):
        found = _literal_batch(result, sinks)
        if found is None:
            continue
        bound, batch = found
        place = bound.spot.path, bound.spot.place
        trainings = trainings_of(project, result, sinks) if place not in told_places else []
        if not trainings:
            continue
        told_places.add(place)
        largest = max(trainings, key=lambda training: (training.sample, training.fixed))
        mirrored = any(call.name == _MIRRORED for call in result.run.calls)
        yield OptionVerdict(
            "literal-batch",
            bound.spot,
            {
                "batch": batch,
                "parameters": largest.parameters,
                "fixed": int(largest.fixed),
                "sample": int(largest.sample),
                "mirrored": mirrored,
            },
            largest.spot if largest.spot.place != bound.spot.place else None,
            "trains the model",
        )


def _literal_batch(result: RunResult, sinks: Sinks) -> tuple[BoundCall, int] | None:
    """Return the call that batches a run's data, and the constant batch size.

    None where the size is not one constant of the code.
    """
    found: list[tuple[BoundCall, Value]] = []
    for bound in sinks.calls(result):
        meaning = meaning_of(bound.callable)
        for parameter, value in bound.arguments.items():
            if meaning is not None and _BATCH in meaning.parameters.get(parameter, ()):
                found.append((bound, value))
    sizes = {
        value.value
        if isinstance(value, Scalar) and not (value.optional or value.origins or value.key)
        else None
        for _, value in found
    }
    others = {call.name for call in result.run.calls if call.name.startswith(_STRATEGIES)}
    if len(sizes) != 1 or any(name.endswith("Strategy") and name != _MIRRORED for name in others):
        return None
    (size,) = sizes
    return (found[0][0], size) if type(size) is int and size > 0 else None


def with_machine_limits(hit: Hit, lookup: Callable[[str], Any] | None) -> Hit | None:
    """Return a hit about a too large batch with the machine's limits added.

    None for a batch that fits, or where that is not known. Hits about anything else are returned as
    they are.

    Args:
        hit: The hit.
        lookup: Gives the facts of the machine; None where none is meant.
    """
    values = hit.values
    if "sample" not in values:
        return hit
    usable, count = (lookup("gpu.usable_mib"), lookup("gpu.count")) if lookup is not None else (None, None)
    if lookup is None or usable is None or not count:
        return None
    limit = usable * MIB
    fixed, sample, batch = (int(str(values[name])) for name in ("fixed", "sample", "batch"))
    replicas = count if values["mirrored"] else 1
    need = fixed + sample * math.ceil(batch / replicas)
    if need * SURE <= limit or not sample:
        return None
    fits = max(0, math.floor((limit - fixed) / sample)) * replicas
    figures = {**values, "need": need, "limit": limit, "fits": fits, "card": lookup("gpu.name")}
    return replace(hit, values=figures, severity="error" if fixed * SURE > limit else None)
