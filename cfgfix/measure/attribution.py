"""What took the time of a run: parts and stalls, each with the place in the code that was seen then."""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cfgfix.measure.observe import Look, Loop, Step
from cfgfix.measure.run_profile import BETWEEN_STEPS, EPOCH_END, IN_STEP, Part, Stall
from cfgfix.measure.statistics import robust_deviation

STALL_SECONDS = 0.003
"""What a step must take longer than the others, at least, to count as a stall."""
_KERAS_STEP = ".train_on_batch"
"""What a program calls for each batch, whose own Python is Keras's."""
OF_ONE_SHAPE = 8
"""Steps with batches of one shape whose median is what that shape takes; of fewer, one stall would be half."""
ALIKE = 1.5
"""How many times as long a stall may be at the end of an epoch as within it and still be the same one."""
THROUGHOUT = 0.5
"""Share of the stalls that a period promises for the whole run, from which they come at it: a few neighbours are none."""
REGULAR = 0.7
"""Share of the gaps between stalls that are alike where they come at a period."""


# --- which loop, which steps


def warm_up(steps: Sequence[Step]) -> int:
    """Return the number of steps at the start that trace, compile and fill buffers."""
    third = len(steps) // 3
    traced = [place for place in range(third) if steps[place].trace]
    return min(max(traced[-1] + 2 if traced else 0, min(3, third)), third)


def mark_compilations(steps: Sequence[Step], traced: Mapping[int, float]) -> list[float]:
    """Move the extra time of steps with a new batch shape from their calls to tracing.

    XLA compiles for each shape, also where TensorFlow traces no function again. The extra time is what the step takes
    beyond the others; it is returned for each step, 0 for a step without.

    Args:
        steps: All of the loop.
        traced: Seconds of the steps in which a function of XLA's was traced for another shape: they were compiled, too.
    """
    seen: set[int] = set()
    new = []
    for step in steps:
        new.append(bool(step.shape) and step.shape not in seen)
        seen.add(step.shape)
    again = [step.call for step, first in zip(steps, new, strict=True) if not first and not step.trace]
    level = float(np.median(again)) if again else 0.0
    found = []
    for place, (step, first) in enumerate(zip(steps, new, strict=True)):
        if place in traced:
            found.append(traced[place])
            continue
        extra = step.call - level
        if not first or extra <= level + STALL_SECONDS:
            extra = 0.0
        step.call -= extra
        step.trace += extra
        found.append(extra)
    return found


@dataclass(slots=True)
class Attribution:
    """The counts of looks in each step, by the function at work in Python."""

    by_step: list[Counter[tuple[str, str]]]
    called: dict[tuple[str, str], Counter[str]]
    places: dict[tuple[str, str], Counter[str]]
    evaluating: list[int]
    """Looks of each step within `evaluate` or `predict`."""
    all_looks: list[int]


def attribute(steps: Sequence[Step], looks: Sequence[Look], loop: Loop) -> Attribution:
    """Sort the looks at the training thread by step, and count those that saw Python.

    Within the function that holds the loop each line counts by itself; any other function counts as a whole.
    """
    begins = [step.begin for step in steps]
    found = Attribution([Counter() for _ in steps], {}, {}, [0] * len(steps), [0] * len(steps))
    home = next((look.who for look in looks if look.place == loop.place), None)
    for look in looks:
        place = bisect.bisect_right(begins, look.moment) - 1
        if place < 0 or look.moment >= steps[place].end:
            continue
        found.all_looks[place] += 1
        if look.kind in ("evaluate", "predict"):
            found.evaluating[place] += 1
            continue
        if look.state != "python":
            continue
        file = look.place.rpartition(":")[0]
        same = look.who == home and file == loop.place.rpartition(":")[0]
        key = (look.who, look.place if same else file)
        found.by_step[place][key] += 1
        found.called.setdefault(key, Counter())[look.what] += 1
        found.places.setdefault(key, Counter())[look.place] += 1
    return found


def _stack_key(found: Attribution, key: tuple[str, str]) -> tuple[str, str, str]:
    place = found.places[key].most_common(1)[0][0]
    what, times = found.called[key].most_common(1)[0]
    return key[0] or "Python", place, what if times * 2 >= sum(found.called[key].values()) else ""


def _is_loop_itself(key: tuple[str, str], loop: Loop) -> bool:
    """Return whether a key stands for Keras's own work below the user's call of `fit`."""
    return loop.kind == "fit" and key[1] == loop.place


def period_of(places: Sequence[int]) -> float | None:
    """Return the period of events from the steps where they came.

    None where most of the gaps between them differ, or there are fewer than two gaps.
    """
    gaps = np.diff(np.asarray(places))
    if gaps.size < 2:
        return None
    middle = float(np.median(gaps))
    alike = np.abs(gaps - middle) <= (0.1 * middle if middle < 10 else max(1.0, 0.1 * middle))
    return float(gaps[alike].mean()) if float(alike.mean()) >= REGULAR and middle >= 2 else None


def regular(hits: list[tuple[int, float]], steps: int) -> tuple[list[tuple[int, float]], float | None]:
    """Return the stalls that recur at a period through the run, and the period.

    Where none do, all stalls are returned, and None for the period. On a busy machine the planned stalls are the long
    ones.
    """
    sizes = np.array([size for _, size in hits])
    for cut in (0.0, 0.3, 0.5, 0.7):
        kept = [hit for hit in hits if hit[1] >= cut * float(np.quantile(sizes, 0.9))]
        period = period_of([place for place, _ in kept])
        if period is not None and len(kept) >= max(3.0, THROUGHOUT * steps / period):
            return kept, period
    return hits, None


def _usual_by_shape(steps: Sequence[Step], series: np.ndarray, usual: np.ndarray) -> np.ndarray:
    """Return for each step the median time of the usual steps with its batch shape.

    Shapes with too few usual steps get the median of all usual steps.
    """
    shapes = np.array([step.shape for step in steps])
    expected = np.full(len(steps), np.median(series[usual]))
    for shape in np.unique(shapes):
        same = usual & (shapes == shape)
        if np.count_nonzero(same) >= OF_ONE_SHAPE:
            expected[shapes == shape] = np.median(series[same])
    return expected


def find_stalls(steps: Sequence[Step], found: Attribution, loop: Loop) -> tuple[list[Stall], np.ndarray]:
    """Return the stalls by cause, and an array that marks the steps that stalled.

    A stalled step is longer than the other steps, and neither starts an epoch nor traces.
    """
    usual = np.array([not step.starts and not step.trace for step in steps])
    whole = np.array([step.seconds for step in steps])
    total = float(whole.sum())
    middle = float(np.median(whole[usual])) if usual.any() else 0.0
    stalled = np.zeros(len(steps), dtype=bool)
    events: dict[tuple[str, tuple[str, str]], list[tuple[int, float]]] = {}
    for when, series in (
        (BETWEEN_STEPS, np.array([step.between for step in steps])),
        (IN_STEP, np.array([step.call for step in steps])),
    ):
        if not usual.any():
            break
        expected = (
            _usual_by_shape(steps, series, usual)
            if when == IN_STEP
            else np.full(len(steps), np.median(series[usual]))
        )
        excess = series - expected
        limit = max(5 * robust_deviation(excess[usual]), 0.25 * middle, STALL_SECONDS)
        for place in np.flatnonzero(usual & (excess > limit)):
            key = ("", "")
            if when == BETWEEN_STEPS and found.by_step[place]:
                key = found.by_step[place].most_common(1)[0][0]
            events.setdefault((when, key), []).append((int(place), float(excess[place])))
            stalled[place] = True
    ends = _at_epochs(steps, found, loop, middle)
    for (when, key), seen in events.items():
        # What comes at a period comes in the last step of an epoch, too.
        if when == BETWEEN_STEPS and key in ends and len(seen) > 1:
            level, at_end = (float(np.median([size for _, size in hits])) for hits in (seen, ends[key]))
            if level / ALIKE <= at_end <= level * ALIKE:
                seen.extend(ends.pop(key))
                seen.sort()
    made = []
    for (when, key), seen in events.items():
        compiled = key not in found.called
        who, at, what = ("the compiled step", "", "") if compiled else _stack_key(found, key)
        if when == BETWEEN_STEPS and not key[0]:
            who, compiled = "Python", False
        hits, period = regular(seen, len(steps))
        cost = [size for _, size in hits]
        made.append(
            Stall(
                who,
                at,
                what,
                when,
                len(hits),
                period,
                float(np.median(cost)),
                sum(cost) / total if total else 0.0,
                compiled,
            )
        )
    for key, hits in ends.items():
        who, at, what = _stack_key(found, key)
        made.append(
            Stall(
                who,
                at,
                what,
                EPOCH_END,
                len(hits),
                period_of([place for place, _ in hits]),
                float(np.median([size for _, size in hits])),
                sum(size for _, size in hits) / total,
            )
        )
    return sorted(made, key=lambda stall: -stall.share), stalled


def _at_epochs(
    steps: Sequence[Step], found: Attribution, loop: Loop, middle: float
) -> dict[tuple[str, str], list[tuple[int, float]]]:
    """Return the seconds of Python at ends of epochs, by function and step.

    Functions that take little time there are left out, and so is the line of the loop.
    """
    cost: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for place, step in enumerate(steps):
        looks = sum(found.by_step[place].values())
        if not step.starts or not looks:
            continue
        extra = max(
            0.0, step.between - found.evaluating[place] / max(found.all_looks[place], 1) * step.seconds
        )
        for key, count in found.by_step[place].items():
            cost.setdefault(key, []).append((place, extra * count / looks))
    return {
        key: hits
        for key, hits in cost.items()
        if float(np.median([size for _, size in hits])) >= max(STALL_SECONDS, middle)
        # What the line of the loop does then is ending an iterator and making the next one.
        and key[1] != loop.place
    }


def find_parts(
    steps: Sequence[Step], found: Attribution, loop: Loop, stalled: np.ndarray, total: float
) -> tuple[Part, ...]:
    """Return the functions that Python runs in every step, the longest first."""
    chosen = [
        place for place, step in enumerate(steps) if not step.starts and not stalled[place] and not step.trace
    ]
    spent = sum(steps[place].between for place in chosen)
    looks: Counter[tuple[str, str]] = Counter()
    for place in chosen:
        looks.update(found.by_step[place])
    seen = sum(looks.values())
    if not seen or not chosen:
        return ()
    made = []
    for key, count in looks.items():
        who, at, what = _stack_key(found, key)
        by_keras = _is_loop_itself(key, loop) or what.endswith(_KERAS_STEP)
        seconds = spent * count / seen
        share = seconds / total if total else 0.0
        made.append(Part("Keras" if by_keras else who, at, seconds / len(chosen), share, by_keras))
    return tuple(sorted(made, key=lambda part: -part.share))
