"""Observe a training from inside its process: what it waits for, what it calls, and what runs between its steps.

While an observation is on, methods of TensorFlow's iterators, of `tf.function` and of Keras models are replaced by ones that take the
time and then do the same; a thread of its own looks at what the training thread is doing some hundred times a second. Nothing of the
user's program is changed: datasets, functions and models stay the objects that they are. Tried with TensorFlow 2.21 and Keras 3.15.
"""

from __future__ import annotations

import contextlib
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cfgfix.measure.batches import (
    datasets_in,
    holds_data,
    rows_in,
    rows_of,
    scalars_of,
    shape_number,
    tensors_in,
    variables_of,
)
from cfgfix.measure.counters import (
    Clocks,
    dataset_of,
    device_bytes,
    distributed_kinds,
    iterator_kind,
    resident_bytes,
)
from cfgfix.measure.graph_loops import Watch, replace_loops
from cfgfix.measure.observed_steps import Guest, Look, Loop, Step
from cfgfix.measure.stacks import describe_stack, frame_of, is_users_thread, user_place
from cfgfix.measure.watch import Fetches, Tracings, is_xla

if TYPE_CHECKING:
    import tensorflow as tf
    from typing_extensions import Self

SAMPLE_SECONDS = 0.004
"""Between two looks at the training thread. A look takes some twenty microseconds."""
MEMORY_SECONDS, DEVICE_SECONDS = 0.02, 0.25
"""Between two readings of the memory, and of what GPUs hold. Steps of a millisecond are over in a fraction of a second."""
GUEST_STEPS = 10
"""Training steps of another loop within one step after which that loop is the one that trains now: a program may train some more on
a second dataset in each step."""
FEW_STEPS = 20
"""Steps below which the time given is stretched."""
KEPT_STEPS = 20_000
"""Steps of a loop that are kept; the observation ends there."""


class StopObservation(BaseException):
    """Raised to end the user's program where enough has been seen.

    No handler of ordinary errors catches it.
    """


class Observation:
    """Observes the training steps of the thread that makes it; a context manager.

    Args:
        steps: Raise `StopObservation` in that thread after so many training steps; None: never.
        seconds: The same after so much time since the first step.
    """

    def __init__(self, *, steps: int | None = None, seconds: float | None = None) -> None:
        self.loops: dict[tuple[str, str], Loop] = {}
        self.looks: list[Look] = []
        self.tracings = Tracings()
        self.fetches = Fetches(self._in_a_step)
        self.memory: list[tuple[float, float]] = []
        """Moments and resident bytes of this process."""
        self.device_memory: list[tuple[float, dict[str, float]]] = []
        """Moments and what programs of this process hold on each GPU."""
        self.xla: set[str] = set()
        """Functions that are compiled with XLA."""
        self.begin = 0.0
        self.end = 0.0
        self.stopped = False
        self.done = 0
        """Steps seen that take gradients."""
        self.returned: list[tuple[int, Any]] = []
        """The steps, counted from one, and the scalars that they returned by name, or what Keras wraps them in."""
        self.trained: list[Any] = []
        """The variables that gradients were last taken for."""
        self.first_step: float | None = None
        self._steps, self._seconds = steps, seconds
        self._thread = threading.get_ident()
        self._state = "python"
        self._kinds: list[str] = []
        self._models: dict[int, weakref.ref[Any]] = {}
        self._fed: list[Any] = []
        """What the running methods of Keras were called with."""
        self._homes: dict[int, Loop] = {}
        self._running: Any = None
        self._trainers: dict[int, Any] = {}
        """Functions that take gradients, by `id`."""
        self._iterators: dict[int, weakref.ref[object]] = {}
        self._open: Step | None = None
        self._open_loop: Loop | None = None
        self._guest: Guest | None = None
        self._ended: float | None = None
        """When the epoch, or the `fit`, of the open step ended."""
        self._busy: float | None = None
        """When the open step last got a batch or ran a compiled function."""
        self._given: list[tuple[Any, Any]] = []
        """The datasets that the running function was called with, and what a loop over each gets."""
        self._turning: Loop | None = None
        """The loop inside the running function whose batches come."""
        self._asked = 0.0
        """When the running function was called, or a loop in it ended its last turn."""
        self._got = 0.0
        """When the batch of the turn came."""
        self._traced = False
        """Whether a loop in the running function was traced in this call."""
        self._tracing = 0.0
        """What that took."""
        self._undo: list[Callable[[], None]] = []
        self._clocks: Clocks | None = None
        self._on = threading.Event()
        self._watcher: threading.Thread | None = None
        self._contexts = contextlib.ExitStack()

    def __enter__(self) -> Self:
        import tensorflow as tf

        # Nothing here may start the runtime: the program may yet want to set threads or devices.
        iterator, distributed = iterator_kind(), distributed_kinds()
        function: Any = type(tf.function(lambda: None))
        self._replace(iterator, "_create_iterator", self._created)
        self._replace(iterator, "_next_internal", self._next)
        self._replace(iterator, "get_next_as_optional", self._next_optional)
        self._replace(function, "__call__", self._called)
        self._replace(tf.GradientTape, "gradient", self._derived)
        for made in distributed.datasets:
            self._replace(made, "__iter__", self._distributed)
        for taken in distributed.iterators:
            self._replace(taken, "get_next", self._next)
            self._replace(taken, "get_next_as_optional", self._next_optional)
        self._undo.append(replace_loops(self._loop_in_function))
        for kind in ("fit", "evaluate", "predict"):
            self._replace(tf.keras.Model, kind, self._method(kind))
        self._replace(tf.keras.Model, "train_on_batch", self._one_batch)
        self._contexts.enter_context(self.fetches.on())
        plain_end, threading.excepthook = threading.excepthook, _quiet_end(threading.excepthook)
        self._contexts.callback(setattr, threading, "excepthook", plain_end)
        self.begin = time.perf_counter()
        self._on.set()
        self._watcher = threading.Thread(target=self._look, daemon=True)
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end = time.perf_counter()
        # What the program does after its training is no part of the last step.
        self._close_step(self.end if self.stopped else self._ended or self._busy or self.end)
        self._on.clear()
        for undo in reversed(self._undo):
            undo()
        self._undo.clear()
        self._contexts.close()
        self._iterators.clear()
        self._trainers.clear()
        self._running = None
        self._homes.clear()
        if self._watcher is not None:
            self._watcher.join(1)

    def _replace(self, kind: Any, name: str, make: Callable[[Any], Any]) -> None:
        own = kind.__dict__.get(name)
        plain = getattr(kind, name)
        setattr(kind, name, make(plain))

        def undo() -> None:
            if own is None:
                delattr(kind, name)
            else:
                setattr(kind, name, own)

        self._undo.append(undo)

    def _in_a_step(self) -> bool:
        """Tell whether the training thread is in a step and not waiting for a batch."""
        return self._open is not None and self._state != "wait"

    @property
    def _is_here(self) -> bool:
        return threading.get_ident() == self._thread and self._on.is_set()

    def _trains_here(self) -> bool:
        """Return whether the observed thread is the one that takes gradients now.

        A program may train in a thread that it starts: the first that does is observed from then on.
        """
        if not self._on.is_set() or self._is_here:
            return self._is_here
        here = threading.current_thread()
        if self.first_step is not None or self._inside_call or not is_users_thread(here):
            return False
        self._started_by, self._thread = self._thread, threading.get_ident()
        self.fetches.follow(self._thread)
        return True

    _started_by: int | None = None
    """The thread that the observed one was taken over from."""

    def _stop(self) -> None:
        """End the program.

        Raises:
            StopObservation: Always; also in the thread that the observation began in, once it runs.
        """
        self.stopped = True
        if self._started_by is not None:
            import ctypes

            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(self._started_by), ctypes.py_object(StopObservation)
            )
        raise StopObservation

    # --- iterators

    def _created(self, plain: Any) -> Any:
        import tensorflow as tf

        def create(iterator: Any, dataset: Any) -> Any:
            if not self._is_here or self._inside_distributed:
                return plain(iterator, dataset)
            if self._inside_call and not tf.executing_eagerly():
                # A loop inside a function, which is watched as such.
                self._given.append((dataset, dataset.element_spec))
                return plain(iterator, dataset)
            begin = time.perf_counter()
            state, self._state = self._state, "wait"
            try:
                made = plain(iterator, dataset)
            finally:
                self._state = state
            self._epoch_begins(iterator, dataset, begin)
            return made

        return create

    def _distributed(self, plain: Any) -> Any:
        def iterate(distributed: object) -> object:
            if not self._is_here or self._inside_call:
                return plain(distributed)
            begin = time.perf_counter()
            state, self._state = self._state, "wait"
            self._inside_distributed = True
            try:
                iterator = plain(distributed)
            finally:
                self._state, self._inside_distributed = state, False
            self._epoch_begins(iterator, dataset_of(distributed), begin)
            return iterator

        return iterate

    _inside_distributed = False
    """Whether a distributed iterator is at work, which is made of others."""

    def _epoch_begins(self, iterator: object, dataset: object, begin: float) -> None:
        loop = self._home()
        loop.epochs += 1
        loop.fresh = True
        loop.dataset, loop.given = dataset, self._fed[-1] if self._fed else None
        self._keep_home(iterator, loop)
        if self._open is not None:
            self._open.starts = True
            self._open.wait += time.perf_counter() - begin

    def _keep_home(self, iterator: object, loop: Loop) -> None:
        """Remember which loop takes the batches of an iterator, while the iterator exists.

        The iterator itself is not kept alive: its threads would go on, and the program would wait for them at its
        end.
        """
        number = id(iterator)

        def forget(_: object) -> None:
            self._homes.pop(number, None)
            self._iterators.pop(number, None)

        self._homes[number] = loop
        self._iterators[number] = weakref.ref(iterator, forget)

    def _place(self) -> tuple[str, str]:
        return self._kinds[-1] if self._kinds else "loop", user_place() or "?"

    def _home(self) -> Loop:
        place = self._place()
        return self.loops.setdefault(place, Loop(*place))

    def _gives_way(self, outer: Loop, place: tuple[str, str]) -> bool:
        """Return whether the open step ends when a loop at this place takes a batch."""
        if (outer.kind, outer.place) == place:
            return True
        if outer.lone and place in self.loops and not self.loops[place].lone:
            # One that has a dataset trains; what ran before only tried the step.
            return True
        if outer.kind in ("evaluate", "predict"):
            return place[0] in ("fit", "loop")
        if outer.kind == "fit" and self._ended is not None:
            return True
        return self._only_looked(outer)

    def _takes_over(self, place: tuple[str, str], now: float, *, lone: bool = False) -> bool:
        """Return whether a loop inside another loop's step is the program's next training.

        The outer step is then put back to its state before this loop came, and closed.
        """
        if self._open is None:
            return True
        if lone and self._guest is not None and not self._guest.lone:
            # Its steps are those of a dataset's loop.
            return False
        if self._guest is None or self._guest.place != place:
            self._guest = Guest(place, now, replace(self._open), lone=lone)
        guest = self._guest
        guest.asked += 1
        least = 1 if self._ended is not None else GUEST_STEPS
        if guest.asked <= least or guest.trained < guest.asked - 1:
            return False
        self._without_guest(self._open, guest)
        self._close_step(self._ended or guest.begin)
        return True

    @staticmethod
    def _without_guest(step: Step, guest: Guest) -> None:
        for name in ("wait", "call", "trace", "calls"):
            setattr(step, name, getattr(guest.host, name))

    def _took_gradients(self) -> None:
        if self._guest is not None:
            self._guest.trained += 1

    def _only_looked(self, loop: Loop) -> bool:
        """Return whether a loop has ended without a training step."""
        return self._ended is not None and not any(step.trains for step in loop.steps)

    def _taken(self, plain: Any, iterator: Any, *names: Any, distributed: bool) -> Any:
        """Return the next element of an iterator.

        The iterators inside a distributed iterator are not observed meanwhile.
        """
        self._inside_distributed = distributed
        try:
            return plain(iterator, *names)
        finally:
            self._inside_distributed = False

    def _next(self, plain: Any) -> Any:
        import tensorflow as tf

        own = iterator_kind()

        def take(iterator: Any, *names: Any) -> Any:
            if self._inside_distributed or not self._on.is_set():
                return plain(iterator, *names)
            inner = not isinstance(iterator, own)
            if not tf.executing_eagerly():
                return self._clocked(lambda: self._taken(plain, iterator, *names, distributed=inner))
            if not self._is_here:
                return plain(iterator, *names)
            loop = self._homes.get(id(iterator))
            if loop is not None and not self._inside_call:
                self._step_begins(loop)
            begin = time.perf_counter()
            state, self._state = self._state, "wait"
            try:
                element = self._taken(plain, iterator, *names, distributed=inner)
            except (StopIteration, tf.errors.OutOfRangeError):
                if loop is not None:
                    self._step_was_none(loop)
                raise
            finally:
                self._state = state
                if self._open is not None:
                    self._busy = time.perf_counter()
                    spent = self._busy - begin
                    self._open.wait += spent
                    if loop is not None and (loop.looks_on or not self._open.starts):
                        loop.waited += spent
            if self._open is not None and self._open_loop is loop:
                self._open.samples, self._open.shape = rows_of(element), shape_number(element)
            return element

        return take

    def _next_optional(self, plain: Any) -> Any:
        import tensorflow as tf

        own = iterator_kind()

        def take(iterator: Any) -> Any:
            if tf.executing_eagerly() or not self._on.is_set() or self._inside_distributed:
                return plain(iterator)
            inner = not isinstance(iterator, own)
            return self._clocked(lambda: self._taken(plain, iterator, distributed=inner))

        return take

    def _clocked(self, take: Callable[[], Any]) -> Any:
        """Take an element inside a compiled function, with clocks before and after."""
        import tensorflow as tf

        begin = tf.timestamp()
        with tf.control_dependencies([begin]):
            element = take()
        parts = [
            part
            for part in tf.nest.flatten(getattr(element, "_variant_tensor", element), expand_composites=True)
            if tf.is_tensor(part)
        ]
        with tf.control_dependencies([tf.identity(part).op for part in parts[:1]]):
            end = tf.timestamp()
        self._clocks = clocks = self._clocks or Clocks()
        clocks.waited.add(end - begin)
        if isinstance(element, tf.experimental.Optional):
            given = element.has_value()
            rows = tf.cond(given, lambda: rows_in(element.get_value()), lambda: tf.constant(0, tf.int64))
            clocks.batches.add(given)
            clocks.rows.add(rows)
        elif parts and parts[0].dtype != tf.variant:
            clocks.shape.set(shape_number(element))
            clocks.batches.add(1)
            clocks.rows.add(rows_in(element))
        return element

    # --- functions

    _inside_call = False

    def _called(self, plain: Any) -> Any:
        kinds = (iterator_kind(), *distributed_kinds().iterators)

        def call(function: Any, *arguments: Any, **keywords: Any) -> Any:
            if not self._is_here or self._inside_call:
                if self._is_here:
                    if is_xla(function):
                        self.xla.add(str(getattr(function, "__name__", "function")))
                    return self.tracings.call(plain, function, arguments, keywords)
                return plain(function, *arguments, **keywords)
            loop = next(
                (
                    self._homes[id(value)]
                    for value in arguments
                    if isinstance(value, kinds) and id(value) in self._homes
                ),
                None,
            )
            if loop is not None:
                self._step_begins(loop)
            elif id(function) in self._trainers:
                self._lone_step([*arguments, *keywords.values()])
            waited, rows, taken, _ = self._read_clocks() if loop is not None else (0.0,) * 4
            if is_xla(function):
                self.xla.add(str(getattr(function, "__name__", "function")))
            before = len(self.tracings.traces)
            self._inside_call, state, self._state = True, self._state, "call"
            self._running = function
            self._given = datasets_in([*arguments, *keywords.values()])
            self._traced = False
            self._asked = begin = time.perf_counter()
            try:
                given = self.tracings.call(plain, function, arguments, keywords)
            except Exception as error:
                if self.stopped:
                    # Raised behind a turn of a loop inside the function, which TensorFlow gave another name.
                    raise StopObservation from None
                if loop is not None and type(error).__name__ == "OutOfRangeError":
                    self._step_was_none(loop)
                raise
            else:
                if id(function) in self._trainers:
                    self._took_gradients()
                    self._keep(given)
                return given
            finally:
                self._busy = time.perf_counter()
                spent = self._busy - begin
                self._inside_call, self._state = False, state
                self._given.clear()
                turned, self._turning = self._turning, None
                if turned is not None:
                    self._step_was_none(turned)
                if turned is not None and len(self.tracings.traces) > before:
                    # The call went on with a whole epoch.
                    self.tracings.traces[-1] = replace(self.tracings.traces[-1], seconds=self._tracing)
                step = self._open
                if step is not None and turned is None:
                    if loop is not None:
                        now = self._read_clocks()
                        inside = max(0.0, now[0] - waited)
                        step.samples, step.shape = int(now[1] - rows), int(now[3])
                        step.batches = max(1, int(now[2] - taken))
                        step.wait += min(inside, spent)
                        loop.waited += inside if loop.looks_on or not step.starts else 0.0
                        spent = max(0.0, spent - inside)
                        if loop.looks_on and len(self.tracings.traces) == before:
                            loop.ran += spent
                            loop.turns += 1
                    step.calls += 1
                    step.trains = step.trains or id(function) in self._trainers
                    if len(self.tracings.traces) > before:
                        step.trace += spent
                    else:
                        step.call += spent

        return call

    # --- loops inside functions

    def _loop_in_function(self, source: tf.data.Dataset, place: str) -> Watch | None:
        """Return the watch for a loop that is being traced; None where not observed."""
        if not self._is_here or not self._inside_call:
            return None
        key = (self._kinds[-1] if self._kinds else "loop", place)
        loop = self.loops.setdefault(key, Loop(*key))
        function, shape = self._running, source.element_spec
        own = source if holds_data(source) else dataset_of(source)
        if holds_data(own):
            loop.dataset = own
        self._traced = True

        def come(rows: int, number: int) -> None:
            if self._on.is_set():
                self._batch_came(loop, function, shape, rows, number)

        def done() -> None:
            if self._on.is_set() and self._turning is loop:
                self._turn_ended(loop)

        return Watch(come, done)

    def _batch_came(self, loop: Loop, function: object, shape: object, rows: int, number: int) -> None:
        now = time.perf_counter()
        first = self._turning is not loop
        if first:
            if self._turning is not None:
                self._step_was_none(self._turning)
                self._turning = None
            loop.dataset = next(
                (one for one, spec in self._given if holds_data(one) and spec == shape), loop.dataset
            )
            self._step_begins(loop, self._asked)
            if self._open_loop is not loop or self._open is None:
                return
            self._turning = loop
            loop.epochs += 1
        step = self._open
        if step is None:
            return
        step.starts = step.starts or first
        spent = now - step.begin
        if first and self._traced:
            step.trace += spent
            self._tracing = spent
        else:
            step.wait += spent
            loop.waited += 0.0 if step.starts else spent
        step.calls += 1
        step.samples, step.shape = rows, number
        step.trains = step.trains or id(function) in self._trainers
        self._got = self._busy = now

    def _turn_ended(self, loop: Loop) -> None:
        self._busy = self._asked = time.perf_counter()
        if self._open is not None:
            self._open.call += self._asked - self._got
        self._step_begins(loop)

    def _lone_step(self, given: Sequence[object]) -> None:
        """Begin a step at a call that takes gradients where no dataset gave the batch."""
        if self._kinds or self._inside_batch:
            return
        outer = self._open_loop if self._open is not None else None
        if (
            outer is None
            or (outer.lone and outer.place == self._place()[1])
            or self._only_looked(outer)
            or (self._ended is not None and self._takes_over(self._place(), time.perf_counter(), lone=True))
        ):
            loop = self._home()
            loop.lone = True
            self._step_begins(loop)
            if self._open is not None:
                self._open.samples, self._open.shape = rows_of(given), shape_number(tensors_in(given))

    def _keep(self, given: object) -> None:
        """Keep the scalars in the result of a training step, to be read after the run."""
        loop = self._open_loop
        if loop is None or self._open is None or loop.kind not in ("fit", "loop"):
            return
        if hasattr(given, "get_value"):
            # As Keras' functions give their logs; asking whether there are any would wait for them.
            self.returned.append((len(loop.steps), given))
        else:
            self.returned.append((len(loop.steps), scalars_of(given)))

    def _read_clocks(self) -> tuple[float, float, float, float]:
        """Return seconds waited, rows, batches and the last shape number so far.

        Compiled functions wrote them; all are 0 where none did.
        """
        if self._clocks is None:
            return 0.0, 0.0, 0.0, 0.0
        read = self._clocks
        return read.waited.read(), read.rows.read(), read.batches.read(), read.shape.read()

    def _derived(self, plain: Any) -> Any:
        import tensorflow as tf

        def gradient(tape: Any, *arguments: Any, **keywords: Any) -> Any:
            if self._trains_here():
                sources = keywords.get("sources", arguments[1] if len(arguments) > 1 else None)
                self.trained = variables_of(sources)
                if self._inside_call:
                    self._trainers[id(self._running)] = self._running
                elif tf.executing_eagerly():
                    self._took_gradients()
                    self._lone_step([])
                    if self._open is not None:
                        self._open.trains = True
                    self._keep(keywords.get("target", arguments[0] if arguments else None))
            elif self._on.is_set() and self._inside_call and not tf.executing_eagerly():
                # A strategy traces what its replicas do in threads of its own.
                self._trainers[id(self._running)] = self._running
            return plain(tape, *arguments, **keywords)

        return gradient

    # --- Keras

    def _method(self, kind: str) -> Callable[[Any], Any]:
        def make(plain: Any) -> Any:
            def method(model: Any, *arguments: Any, **keywords: Any) -> Any:
                if not (self._trains_here() if kind == "fit" else self._is_here):
                    return plain(model, *arguments, **keywords)
                self._kinds.append(kind)
                if kind == "fit":
                    self._note_model(model)
                self._fed.append(keywords.get("x", arguments[0] if arguments else None))
                if kind == "fit" and getattr(model, "run_eagerly", False):
                    place = user_place() or "?"
                    self.loops.setdefault((kind, place), Loop(kind, place)).eager = True
                home, begin = self._place(), time.perf_counter()
                try:
                    return plain(model, *arguments, **keywords)
                finally:
                    self._kinds.pop()
                    self._fed.pop()
                    if kind != "fit" and home in self.loops:
                        self.loops[home].spent += time.perf_counter() - begin
                        self.loops[home].asked += 1
                    if kind == "fit" and self._open_loop is not None and self._open_loop.kind == kind:
                        self._ended = time.perf_counter()

            return method

        return make

    def _note_model(self, model: object) -> None:
        """Note the place where a model begins to be trained for the first time."""
        known = self._models.get(id(model))
        if known is None or known() is not model:
            self._models[id(model)] = weakref.ref(model)
            place = self._place()
            loop = self.loops.get(place)
            done = len(loop.steps) if loop is not None else 0
            # What is traced before its first step counts as the last of the one before.
            self.tracings.expected |= {(" ".join(place), done), (" ".join(place), done - 1)}
            if self._ended is not None:
                self._close_step(self._ended)

    def _one_batch(self, plain: Any) -> Any:
        def train_on_batch(model: Any, x: Any, *arguments: Any, **keywords: Any) -> Any:
            if not self._trains_here() or self._inside_call:
                return plain(model, x, *arguments, **keywords)
            outer = self._open_loop
            if (
                self._open is None
                or outer is None
                or (self._gives_way(outer, self._place()) and (outer.lone or outer.place != self._place()[1]))
                or (
                    self._ended is not None
                    and self._takes_over(self._place(), time.perf_counter(), lone=True)
                )
            ):
                home = self._home()
                home.lone = home.dataset is None
                self._step_begins(home)
                if self._open is not None and hasattr(x, "__len__"):
                    self._open.samples = len(x)
            self._took_gradients()
            if self._open is not None:
                self._open.trains = True
            self._inside_batch = True
            try:
                return plain(model, x, *arguments, **keywords)
            finally:
                self._inside_batch = False

        return train_on_batch

    _inside_batch = False
    """Whether `train_on_batch` is at work, whose function is no step of its own."""

    # --- steps

    def _step_begins(self, loop: Loop, now: float | None = None) -> None:
        now = now or time.perf_counter()
        if self._open is not None and self._open_loop is not loop:
            # Another loop takes a batch within this one's step: a second dataset, or an evaluation.
            outer = self._open_loop
            if outer is not None and outer.kind in ("fit", "loop") and loop.kind in ("evaluate", "predict"):
                return
            if outer is not None and loop is not self._training:
                place = (loop.kind, loop.place)
                if not self._gives_way(outer, place) and not self._takes_over(place, now):
                    return
                self._training = None
                if outer.kind == "fit" and self._ended is not None:
                    # What the program does between two trainings is part of neither.
                    self._close_step(self._ended)
        self._close_step(now)
        training = loop.kind in ("fit", "loop")
        if training:
            if self.first_step is None:
                self.first_step = now
            spent = now - self.first_step
            # A few slow steps say nothing; they get more time, within bounds.
            limit = self._seconds if self.done >= FEW_STEPS else 4 * (self._seconds or 0.0)
            enough = (self._steps is not None and self.done >= self._steps) or (
                limit is not None and self._seconds is not None and spent >= limit
            )
            if enough or len(loop.steps) >= KEPT_STEPS:
                self._stop()
        self.tracings.step, self.tracings.context = len(loop.steps), f"{loop.kind} {loop.place}"
        self._open, self._open_loop = Step(now, starts=loop.fresh), loop
        loop.fresh = False
        loop.steps.append(self._open)
        if training and self._training is None:
            self._training = loop

    _training: Loop | None = None

    def _step_was_none(self, loop: Loop) -> None:
        """Remove a step that found no batch, and add its time to the step before.

        The step before then starts the next epoch.
        """
        step = self._open
        if step is None or self._open_loop is not loop or not loop.steps or loop.steps[-1] is not step:
            return
        self._ended = time.perf_counter()
        loop.steps.pop()
        before = loop.steps[-1] if loop.steps else None
        if before is not None:
            before.starts = True
            before.wait += step.wait
            before.call += step.call
            self.done -= before.trains
            self._open = before
        else:
            self._open = None

    def _close_step(self, now: float) -> None:
        if self._open is not None:
            self._open.end = now
            self.done += self._open.trains
            guest = self._guest
            if guest is not None and guest.asked > 1 and not guest.trained:
                self._without_guest(self._open, guest)
                self._open.aside = max(0.0, now - guest.begin)
        self._open = self._ended = self._busy = self._guest = None

    # --- looking

    def _look(self) -> None:
        read = asked = 0.0
        while self._on.is_set():
            time.sleep(SAMPLE_SECONDS)
            frame = frame_of(self._thread)
            if frame is None:
                return
            moment, state = time.perf_counter(), self._state
            who, place, what = describe_stack(frame)
            del frame
            self.looks.append(
                Look(moment, state, who, place, what, self._kinds[-1] if self._kinds else "loop")
            )
            if moment - read > MEMORY_SECONDS:
                read = moment
                size = resident_bytes()
                if size is not None:
                    self.memory.append((moment, size))
            # Before the first step the runtime may not have started.
            if self.first_step is not None and moment - asked > DEVICE_SECONDS:
                asked = moment
                if held := device_bytes():
                    self.device_memory.append((moment, held))


def _quiet_end(
    plain: Callable[[threading.ExceptHookArgs], object],
) -> Callable[[threading.ExceptHookArgs], object]:
    """Return a hook for exceptions in threads that ignores the end of an observation.

    Any other exception is handed to `plain`.
    """

    def hook(given: threading.ExceptHookArgs) -> None:
        if not isinstance(given.exc_value, StopObservation):
            plain(given)

    return hook


@contextlib.contextmanager
def observed(*, steps: int | None = None, seconds: float | None = None) -> Iterator[Observation]:
    """Observe the training steps of the body, until it ends or enough has been seen."""
    with contextlib.suppress(StopObservation), Observation(steps=steps, seconds=seconds) as observation:
        yield observation


__all__ = ["Look", "Loop", "Observation", "Step", "StopObservation", "observed"]
