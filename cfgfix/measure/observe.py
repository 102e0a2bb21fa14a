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
    rows_of,
    scalars_of,
    shape_number,
    tensors_in,
    variables_of,
)
from cfgfix.measure.compiled_clocks import CompiledClocks
from cfgfix.measure.counters import (
    dataset_of,
    device_bytes,
    distributed_kinds,
    iterator_kind,
    resident_bytes,
)
from cfgfix.measure.graph_loops import Watch, replace_loops
from cfgfix.measure.observed_steps import Look, Loop, Step
from cfgfix.measure.stacks import describe_stack, frame_of, is_users_thread, user_place
from cfgfix.measure.training_steps import TrainingSteps
from cfgfix.measure.watch import Fetches, Tracings, is_xla

if TYPE_CHECKING:
    import tensorflow as tf
    from typing_extensions import Self

SAMPLE_SECONDS = 0.004
"""Between two looks at the training thread. A look takes some twenty microseconds."""
MEMORY_SECONDS, DEVICE_SECONDS = 0.02, 0.25
"""Between two readings of the memory, and of what GPUs hold. Steps of a millisecond are over in a fraction of a second."""


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
        self.looks: list[Look] = []
        self.tracings = Tracings()
        self._steps = TrainingSteps(self.tracings, self._stop, most=steps, seconds=seconds)
        self.loops = self._steps.loops
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
        self.returned: list[tuple[int, Any]] = []
        """The steps, counted from one, and the scalars that they returned by name, or what Keras wraps them in."""
        self.trained: list[Any] = []
        """The variables that gradients were last taken for."""
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
        self._clocks = CompiledClocks()
        self._on = threading.Event()
        self._watcher: threading.Thread | None = None
        self._contexts = contextlib.ExitStack()

    @property
    def done(self) -> int:
        """The steps seen that take gradients."""
        return self._steps.done

    def __enter__(self) -> Self:
        import tensorflow as tf

        # Nothing here may start the runtime: the program may yet want to set threads or devices.
        iterator, distributed = iterator_kind(), distributed_kinds()
        function: Any = type(tf.function(lambda: None))
        self._replace(iterator, "_create_iterator", self._creating_hook)
        self._replace(iterator, "_next_internal", self._next_hook)
        self._replace(iterator, "get_next_as_optional", self._next_optional)
        self._replace(function, "__call__", self._call_hook)
        self._replace(tf.GradientTape, "gradient", self._gradient_hook)
        for made in distributed.datasets:
            self._replace(made, "__iter__", self._distributed_hook)
        for taken in distributed.iterators:
            self._replace(taken, "get_next", self._next_hook)
            self._replace(taken, "get_next_as_optional", self._next_optional)
        self._undo.append(replace_loops(self._loop_in_function))
        for kind in ("fit", "evaluate", "predict"):
            self._replace(tf.keras.Model, kind, self._method_hook(kind))
        self._replace(tf.keras.Model, "train_on_batch", self._one_batch)
        self._contexts.enter_context(self.fetches.on())
        plain_end, threading.excepthook = threading.excepthook, _quiet_end(threading.excepthook)
        self._contexts.callback(setattr, threading, "excepthook", plain_end)
        self.begin = time.perf_counter()
        self._on.set()
        self._watcher = threading.Thread(target=self._look_repeatedly, daemon=True)
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end = time.perf_counter()
        # What the program does after its training is no part of the last step.
        self._steps.close(self.end if self.stopped else self._steps.ended or self._steps.busy or self.end)
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
        return self._steps.open is not None and self._state != "wait"

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
        if self._steps.first_step is not None or self._inside_call or not is_users_thread(here):
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

    def _creating_hook(self, plain: Any) -> Any:
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

    def _distributed_hook(self, plain: Any) -> Any:
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
        loop = self._current_loop()
        loop.epochs += 1
        loop.fresh = True
        loop.dataset, loop.given = dataset, self._fed[-1] if self._fed else None
        self._keep_home(iterator, loop)
        if self._steps.open is not None:
            self._steps.open.starts = True
            self._steps.open.wait += time.perf_counter() - begin

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

    def _current_place(self) -> tuple[str, str]:
        return self._kinds[-1] if self._kinds else "loop", user_place() or "?"

    def _current_loop(self) -> Loop:
        place = self._current_place()
        return self.loops.setdefault(place, Loop(*place))

    def _next_element(self, plain: Any, iterator: Any, *names: Any, distributed: bool) -> Any:
        """Return the next element of an iterator.

        The iterators inside a distributed iterator are not observed meanwhile.
        """
        self._inside_distributed = distributed
        try:
            return plain(iterator, *names)
        finally:
            self._inside_distributed = False

    def _next_hook(self, plain: Any) -> Any:
        import tensorflow as tf

        own = iterator_kind()

        def take(iterator: Any, *names: Any) -> Any:
            if self._inside_distributed or not self._on.is_set():
                return plain(iterator, *names)
            inner = not isinstance(iterator, own)
            if not tf.executing_eagerly():
                return self._clocks.take(
                    lambda: self._next_element(plain, iterator, *names, distributed=inner)
                )
            if not self._is_here:
                return plain(iterator, *names)
            loop = self._homes.get(id(iterator))
            if loop is not None and not self._inside_call:
                self._steps.begin(loop)
            begin = time.perf_counter()
            state, self._state = self._state, "wait"
            try:
                element = self._next_element(plain, iterator, *names, distributed=inner)
            except (StopIteration, tf.errors.OutOfRangeError):
                if loop is not None:
                    self._steps.drop(loop)
                raise
            finally:
                self._state = state
                if self._steps.open is not None:
                    self._steps.busy = time.perf_counter()
                    spent = self._steps.busy - begin
                    self._steps.open.wait += spent
                    if loop is not None and (loop.looks_on or not self._steps.open.starts):
                        loop.waited += spent
            if self._steps.open is not None and self._steps.open_loop is loop:
                self._steps.open.samples, self._steps.open.shape = rows_of(element), shape_number(element)
            return element

        return take

    def _next_optional(self, plain: Any) -> Any:
        import tensorflow as tf

        own = iterator_kind()

        def take(iterator: Any) -> Any:
            if tf.executing_eagerly() or not self._on.is_set() or self._inside_distributed:
                return plain(iterator)
            inner = not isinstance(iterator, own)
            return self._clocks.take(lambda: self._next_element(plain, iterator, distributed=inner))

        return take

    # --- functions

    _inside_call = False

    def _call_hook(self, plain: Any) -> Any:
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
                self._steps.begin(loop)
            elif id(function) in self._trainers:
                self._lone_step([*arguments, *keywords.values()])
            waited, rows, taken, _ = self._clocks.read() if loop is not None else (0.0,) * 4
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
                    self._steps.drop(loop)
                raise
            else:
                if id(function) in self._trainers:
                    self._steps.took_gradients()
                    self._keep_scalars(given)
                return given
            finally:
                self._steps.busy = time.perf_counter()
                spent = self._steps.busy - begin
                self._inside_call, self._state = False, state
                self._given.clear()
                turned, self._turning = self._turning, None
                if turned is not None:
                    self._steps.drop(turned)
                if turned is not None and len(self.tracings.traces) > before:
                    # The call went on with a whole epoch.
                    self.tracings.traces[-1] = replace(self.tracings.traces[-1], seconds=self._tracing)
                step = self._steps.open
                if step is not None and turned is None:
                    if loop is not None:
                        now = self._clocks.read()
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
                self._steps.drop(self._turning)
                self._turning = None
            loop.dataset = next(
                (one for one, spec in self._given if holds_data(one) and spec == shape), loop.dataset
            )
            self._steps.begin(loop, self._asked)
            if self._steps.open_loop is not loop or self._steps.open is None:
                return
            self._turning = loop
            loop.epochs += 1
        step = self._steps.open
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
        self._got = self._steps.busy = now

    def _turn_ended(self, loop: Loop) -> None:
        self._steps.busy = self._asked = time.perf_counter()
        if self._steps.open is not None:
            self._steps.open.call += self._asked - self._got
        self._steps.begin(loop)

    def _lone_step(self, given: Sequence[object]) -> None:
        """Begin a step at a call that takes gradients where no dataset gave the batch."""
        if self._kinds or self._inside_batch:
            return
        outer = self._steps.open_loop if self._steps.open is not None else None
        if (
            outer is None
            or (outer.lone and outer.place == self._current_place()[1])
            or self._steps.only_looked(outer)
            or (
                self._steps.ended is not None
                and self._steps.takes_over(self._current_place(), time.perf_counter(), lone=True)
            )
        ):
            loop = self._current_loop()
            loop.lone = True
            self._steps.begin(loop)
            if self._steps.open is not None:
                self._steps.open.samples, self._steps.open.shape = (
                    rows_of(given),
                    shape_number(tensors_in(given)),
                )

    def _keep_scalars(self, given: object) -> None:
        """Keep the scalars in the result of a training step, to be read after the run."""
        loop = self._steps.open_loop
        if loop is None or self._steps.open is None or loop.kind not in ("fit", "loop"):
            return
        if hasattr(given, "get_value"):
            # As Keras' functions give their logs; asking whether there are any would wait for them.
            self.returned.append((len(loop.steps), given))
        else:
            self.returned.append((len(loop.steps), scalars_of(given)))

    def _gradient_hook(self, plain: Any) -> Any:
        import tensorflow as tf

        def gradient(tape: Any, *arguments: Any, **keywords: Any) -> Any:
            if self._trains_here():
                sources = keywords.get("sources", arguments[1] if len(arguments) > 1 else None)
                self.trained = variables_of(sources)
                if self._inside_call:
                    self._trainers[id(self._running)] = self._running
                elif tf.executing_eagerly():
                    self._steps.took_gradients()
                    self._lone_step([])
                    if self._steps.open is not None:
                        self._steps.open.trains = True
                    self._keep_scalars(keywords.get("target", arguments[0] if arguments else None))
            elif self._on.is_set() and self._inside_call and not tf.executing_eagerly():
                # A strategy traces what its replicas do in threads of its own.
                self._trainers[id(self._running)] = self._running
            return plain(tape, *arguments, **keywords)

        return gradient

    # --- Keras

    def _method_hook(self, kind: str) -> Callable[[Any], Any]:
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
                home, begin = self._current_place(), time.perf_counter()
                try:
                    return plain(model, *arguments, **keywords)
                finally:
                    self._kinds.pop()
                    self._fed.pop()
                    if kind != "fit" and home in self.loops:
                        self.loops[home].spent += time.perf_counter() - begin
                        self.loops[home].asked += 1
                    if (
                        kind == "fit"
                        and self._steps.open_loop is not None
                        and self._steps.open_loop.kind == kind
                    ):
                        self._steps.ended = time.perf_counter()

            return method

        return make

    def _note_model(self, model: object) -> None:
        """Note the place where a model begins to be trained for the first time."""
        known = self._models.get(id(model))
        if known is None or known() is not model:
            self._models[id(model)] = weakref.ref(model)
            place = self._current_place()
            loop = self.loops.get(place)
            done = len(loop.steps) if loop is not None else 0
            # What is traced before its first step counts as the last of the one before.
            self.tracings.expected |= {(" ".join(place), done), (" ".join(place), done - 1)}
            if self._steps.ended is not None:
                self._steps.close(self._steps.ended)

    def _one_batch(self, plain: Any) -> Any:
        def train_on_batch(model: Any, x: Any, *arguments: Any, **keywords: Any) -> Any:
            if not self._trains_here() or self._inside_call:
                return plain(model, x, *arguments, **keywords)
            outer = self._steps.open_loop
            if (
                self._steps.open is None
                or outer is None
                or (
                    self._steps.gives_way(outer, self._current_place())
                    and (outer.lone or outer.place != self._current_place()[1])
                )
                or (
                    self._steps.ended is not None
                    and self._steps.takes_over(self._current_place(), time.perf_counter(), lone=True)
                )
            ):
                home = self._current_loop()
                home.lone = home.dataset is None
                self._steps.begin(home)
                if self._steps.open is not None and hasattr(x, "__len__"):
                    self._steps.open.samples = len(x)
            self._steps.took_gradients()
            if self._steps.open is not None:
                self._steps.open.trains = True
            self._inside_batch = True
            try:
                return plain(model, x, *arguments, **keywords)
            finally:
                self._inside_batch = False

        return train_on_batch

    _inside_batch = False
    """Whether `train_on_batch` is at work, whose function is no step of its own."""

    # --- looking

    def _look_repeatedly(self) -> None:
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
            if self._steps.first_step is not None and moment - asked > DEVICE_SECONDS:
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
