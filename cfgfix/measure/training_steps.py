"""The steps of a training as they come: when one begins, which loop it is of, and when it is over."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from cfgfix.measure.observed_steps import Guest, Loop, Step
from cfgfix.measure.watch import Tracings

GUEST_STEPS = 10
"""Training steps of another loop within one step after which that loop is the one that trains now: a program may train some more on
a second dataset in each step."""
FEW_STEPS = 20
"""Steps below which the time given is stretched."""
KEPT_STEPS = 20_000
"""Steps of a loop that are kept; the observation ends there."""


class TrainingSteps:
    """Takes down the steps of loops, and which loop is the one that trains.

    Attributes:
        loops: The loops by kind and place.
        open: The step that is not over yet.
        open_loop: The loop of that step.
        ended: When the epoch, or the `fit`, of the open step ended.
        busy: When the open step last got a batch or ran a compiled function.
        first_step: When the first training step began.
        done: Steps seen that take gradients.
    """

    def __init__(
        self,
        tracings: Tracings,
        stop: Callable[[], None],
        *,
        most: int | None,
        seconds: float | None,
    ) -> None:
        self.loops: dict[tuple[str, str], Loop] = {}
        self.open: Step | None = None
        self.open_loop: Loop | None = None
        self.ended: float | None = None
        self.busy: float | None = None
        self.first_step: float | None = None
        self.done = 0
        self._tracings = tracings
        self._stop = stop
        self._most = most
        self._seconds = seconds
        self._guest: Guest | None = None
        self._training: Loop | None = None

    def begin(self, loop: Loop, now: float | None = None) -> None:
        """Begin a step of a loop, unless the loop runs within a step of another."""
        now = now or time.perf_counter()
        if self.open is not None and self.open_loop is not loop:
            # Another loop takes a batch within this one's step: a second dataset, or an evaluation.
            outer = self.open_loop
            if outer is not None and outer.kind in ("fit", "loop") and loop.kind in ("evaluate", "predict"):
                return
            if outer is not None and loop is not self._training:
                place = (loop.kind, loop.place)
                if not self.gives_way(outer, place) and not self.takes_over(place, now):
                    return
                self._training = None
                if outer.kind == "fit" and self.ended is not None:
                    # What the program does between two trainings is part of neither.
                    self.close(self.ended)
        self.close(now)
        training = loop.kind in ("fit", "loop")
        if training:
            if self.first_step is None:
                self.first_step = now
            spent = now - self.first_step
            # A few slow steps say nothing; they get more time, within bounds.
            limit = self._seconds if self.done >= FEW_STEPS else 4 * (self._seconds or 0.0)
            enough = (self._most is not None and self.done >= self._most) or (
                limit is not None and self._seconds is not None and spent >= limit
            )
            if enough or len(loop.steps) >= KEPT_STEPS:
                self._stop()
        self._tracings.step, self._tracings.context = len(loop.steps), f"{loop.kind} {loop.place}"
        self.open, self.open_loop = Step(now, starts=loop.fresh), loop
        loop.fresh = False
        loop.steps.append(self.open)
        if training and self._training is None:
            self._training = loop

    def drop(self, loop: Loop) -> None:
        """Remove a step that found no batch, and add its time to the step before.

        The step before then starts the next epoch.
        """
        step = self.open
        if step is None or self.open_loop is not loop or not loop.steps or loop.steps[-1] is not step:
            return
        self.ended = time.perf_counter()
        loop.steps.pop()
        before = loop.steps[-1] if loop.steps else None
        if before is not None:
            before.starts = True
            before.wait += step.wait
            before.call += step.call
            self.done -= before.trains
            self.open = before
        else:
            self.open = None

    def close(self, now: float) -> None:
        """End the open step, without what another loop took of it."""
        if self.open is not None:
            self.open.end = now
            self.done += self.open.trains
            guest = self._guest
            if guest is not None and guest.asked > 1 and not guest.trained:
                self._without_guest(self.open, guest)
                self.open.aside = max(0.0, now - guest.begin)
        self.open = self.ended = self.busy = self._guest = None

    def gives_way(self, outer: Loop, place: tuple[str, str]) -> bool:
        """Return whether the open step ends when a loop at this place takes a batch."""
        if (outer.kind, outer.place) == place:
            return True
        if outer.lone and place in self.loops and not self.loops[place].lone:
            # One that has a dataset trains; what ran before only tried the step.
            return True
        if outer.kind in ("evaluate", "predict"):
            return place[0] in ("fit", "loop")
        if outer.kind == "fit" and self.ended is not None:
            return True
        return self.only_looked(outer)

    def takes_over(self, place: tuple[str, str], now: float, *, lone: bool = False) -> bool:
        """Return whether a loop inside another loop's step is the program's next training.

        The outer step is then put back to its state before this loop came, and closed.
        """
        if self.open is None:
            return True
        if lone and self._guest is not None and not self._guest.lone:
            # Its steps are those of a dataset's loop.
            return False
        if self._guest is None or self._guest.place != place:
            self._guest = Guest(place, now, replace(self.open), lone=lone)
        guest = self._guest
        guest.asked += 1
        least = 1 if self.ended is not None else GUEST_STEPS
        if guest.asked <= least or guest.trained < guest.asked - 1:
            return False
        self._without_guest(self.open, guest)
        self.close(self.ended or guest.begin)
        return True

    @staticmethod
    def _without_guest(step: Step, guest: Guest) -> None:
        for name in ("wait", "call", "trace", "calls"):
            setattr(step, name, getattr(guest.host, name))

    def took_gradients(self) -> None:
        """Count that gradients were taken in a loop within the open step."""
        if self._guest is not None:
            self._guest.trained += 1

    def only_looked(self, loop: Loop) -> bool:
        """Return whether a loop has ended without a training step."""
        return self.ended is not None and not any(step.trains for step in loop.steps)
