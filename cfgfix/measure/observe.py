"""Observe a training from inside its process: what it waits for, what it calls, and what runs between its steps.

While an observation is on, methods of TensorFlow's iterators, of `tf.function` and of Keras models are replaced by ones that take the
time and then do the same; a thread of its own looks at what the training thread is doing some hundred times a second. Nothing of the
user's program is changed: datasets, functions and models stay the objects that they are. Tried with TensorFlow 2.21 and Keras 3.15.
"""

from __future__ import annotations

import contextlib
import os
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Any

from cfgfix.measure.watch import Fetches, Tracings

if TYPE_CHECKING:
    from typing_extensions import Self

SAMPLE_SECONDS = 0.004
"""Between two looks at the training thread. A look takes some twenty microseconds."""
MEMORY_SECONDS = 0.25
"""Between two readings of the memory."""
FEW_STEPS = 20
"""Steps below which the time given is stretched."""
KEPT_SCALARS = 4
"""Scalars of each step that are kept."""
KEPT_STEPS = 20_000
"""Steps of a loop that are kept; the observation ends there."""
DEPTH = 60
"""Frames of a stack that are read, from the innermost."""


class StopObservation(BaseException):
    """Ends the user's program where enough has been seen; no handler of ordinary errors catches it."""


@dataclass(slots=True)
class Step:
    """One step of a loop: from one request for a batch to the next. Moments are those of `time.perf_counter`."""

    begin: float
    end: float = 0.0
    wait: float = 0.0
    """For data."""
    call: float = 0.0
    """In compiled functions, without waits and tracing."""
    trace: float = 0.0
    """In calls that traced or compiled."""
    calls: int = 0
    samples: int = 0
    """Rows of its batch; 0 where they are not known."""
    shape: int = 0
    """A number that batches of the same shapes share."""
    trains: bool = False
    """Whether gradients were taken."""
    starts: bool = False
    """Whether an epoch began in it, or before it ended."""

    @property
    def seconds(self) -> float:
        """The whole time."""
        return self.end - self.begin

    @property
    def between(self) -> float:
        """What is left for Python."""
        return max(0.0, self.seconds - self.wait - self.call - self.trace)


@dataclass(slots=True)
class Loop:
    """A place in the program that takes batches."""

    kind: str
    """`fit`, `evaluate`, `predict`, or `loop` for one of the user's own."""
    place: str
    """`file:line` in the user's code."""
    steps: list[Step] = field(default_factory=list)
    epochs: int = 0
    dataset: Any = None
    """The last that it iterated over."""
    waited: float = 0.0
    """For its batches, within steps that start no epoch."""
    fresh: bool = False
    """Whether an epoch has begun and gave no batch yet."""
    eager: bool = False
    """Whether Keras was told to run eagerly."""


@dataclass(frozen=True, slots=True)
class Look:
    """What the training thread did at one moment."""

    moment: float
    state: str
    """`python`, `wait` or `call`."""
    who: str
    """The user's function, or the method of a callback."""
    place: str
    """`file:line` of the user's code; nothing for a callback that is not the user's."""
    what: str
    """What it had called, where that is known."""
    kind: str
    """Of the loop it was in: `fit`, `evaluate`, `predict` or `loop`."""


class Observation:
    """Observes the thread that makes it; a context manager.

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
        self._homes: dict[int, Loop] = {}
        self._running: Any = None
        self._trainers: dict[int, Any] = {}
        """Functions that take gradients, by `id`."""
        self._kept: list[Any] = []
        self._open: Step | None = None
        self._open_loop: Loop | None = None
        self._ended: float | None = None
        """When the epoch, or the `fit`, of the open step ended."""
        self._busy: float | None = None
        """When the open step last got a batch or ran a compiled function."""
        self._undo: list[Callable[[], None]] = []
        self._clock: Any = None
        self._shape: Any = None
        self._rows: Any = None
        self._on = threading.Event()
        self._watcher: threading.Thread | None = None
        self._contexts = contextlib.ExitStack()

    def __enter__(self) -> Self:
        import tensorflow as tf

        iterator: Any = type(iter(tf.data.Dataset.range(1)))
        function: Any = type(tf.function(lambda: None))
        # The clocks that run inside compiled functions.
        with tf.device("/CPU:0"):
            self._clock = tf.Variable(0.0, dtype=tf.float64, trainable=False)
            self._shape = tf.Variable(0, dtype=tf.int64, trainable=False)
            self._rows = tf.Variable(0, dtype=tf.int64, trainable=False)
        self._replace(iterator, "_create_iterator", self._created)
        self._replace(iterator, "_next_internal", self._next)
        self._replace(iterator, "get_next_as_optional", self._next_optional)
        self._replace(function, "__call__", self._called)
        self._replace(tf.GradientTape, "gradient", self._derived)
        for kind in ("fit", "evaluate", "predict"):
            self._replace(tf.keras.Model, kind, self._method(kind))
        self._replace(tf.keras.Model, "train_on_batch", self._one_batch)
        self._contexts.enter_context(self.fetches.on())
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
        # An iterator that outlives the program's own would wait for its threads at the end.
        self._kept.clear()
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
        """Tell whether the training thread is in a step, and not busy with getting a batch."""
        return self._open is not None and self._state != "wait"

    @property
    def _here(self) -> bool:
        return threading.get_ident() == self._thread and self._on.is_set()

    # --- iterators

    def _created(self, plain: Any) -> Any:
        def create(iterator: Any, dataset: Any) -> Any:
            if not self._here:
                return plain(iterator, dataset)
            begin = time.perf_counter()
            state, self._state = self._state, "wait"
            try:
                made = plain(iterator, dataset)
            finally:
                self._state = state
            loop = self._home()
            loop.epochs += 1
            loop.fresh = True
            loop.dataset = dataset
            self._homes[id(iterator)] = loop
            self._kept.append(iterator)
            if self._open is not None:
                self._open.starts = True
                self._open.wait += time.perf_counter() - begin
            return made

        return create

    def _place(self) -> tuple[str, str]:
        return self._kinds[-1] if self._kinds else "loop", user_place() or "?"

    def _home(self) -> Loop:
        place = self._place()
        return self.loops.setdefault(place, Loop(*place))

    def _gives_way(self, outer: Loop, place: tuple[str, str]) -> bool:
        """Return whether the open step ends where a loop at this place takes a batch."""
        if (outer.kind, outer.place) == place:
            return True
        if outer.kind in ("evaluate", "predict"):
            return place[0] in ("fit", "loop")
        # One that only looked at the data before the training.
        return self._ended is not None and not any(step.trains for step in outer.steps)

    def _next(self, plain: Any) -> Any:
        import tensorflow as tf

        def take(iterator: Any) -> Any:
            if not tf.executing_eagerly():
                return self._clocked(lambda: plain(iterator)) if self._on.is_set() else plain(iterator)
            if not self._here:
                return plain(iterator)
            loop = self._homes.get(id(iterator))
            if loop is not None and not self._inside_call:
                self._step_begins(loop)
            begin = time.perf_counter()
            state, self._state = self._state, "wait"
            try:
                element = plain(iterator)
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
                    if loop is not None and not self._open.starts:
                        loop.waited += spent
            if self._open is not None and self._open_loop is loop:
                self._open.samples, self._open.shape = rows_of(element), shape_number(element)
            return element

        return take

    def _next_optional(self, plain: Any) -> Any:
        import tensorflow as tf

        def take(iterator: Any) -> Any:
            if tf.executing_eagerly() or not self._on.is_set():
                return plain(iterator)
            return self._clocked(lambda: plain(iterator))

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
        self._clock.assign_add(end - begin, read_value=False)
        if parts and parts[0].dtype != tf.variant:
            self._shape.assign(tf.cast(shape_number(element), tf.int64), read_value=False)
            self._rows.assign(
                next(
                    (tf.shape(part, tf.int64)[0] for part in parts if part.shape.rank),
                    tf.constant(0, tf.int64),
                ),
                read_value=False,
            )
        return element

    # --- functions

    _inside_call = False

    def _called(self, plain: Any) -> Any:
        iterator_kind = self._iterator_kind()

        def call(function: Any, *arguments: Any, **keywords: Any) -> Any:
            if not self._here or self._inside_call:
                if self._here:
                    if getattr(function, "_jit_compile", None):
                        self.xla.add(str(getattr(function, "__name__", "function")))
                    return self.tracings.call(plain, function, arguments, keywords)
                return plain(function, *arguments, **keywords)
            loop = next(
                (
                    self._homes[id(value)]
                    for value in arguments
                    if isinstance(value, iterator_kind) and id(value) in self._homes
                ),
                None,
            )
            if loop is not None:
                self._step_begins(loop)
            waited = _value(self._clock) if loop is not None else 0.0
            if getattr(function, "_jit_compile", None):
                self.xla.add(str(getattr(function, "__name__", "function")))
            before = len(self.tracings.traces)
            self._inside_call, state, self._state = True, self._state, "call"
            self._running = function
            begin = time.perf_counter()
            try:
                given = self.tracings.call(plain, function, arguments, keywords)
            except Exception as error:
                if loop is not None and type(error).__name__ == "OutOfRangeError":
                    self._step_was_none(loop)
                raise
            else:
                if id(function) in self._trainers:
                    self._keep(given)
                return given
            finally:
                self._busy = time.perf_counter()
                spent = self._busy - begin
                self._inside_call, self._state = False, state
                step = self._open
                if step is not None:
                    if loop is not None:
                        inside = max(0.0, _value(self._clock) - waited)
                        step.samples, step.shape = int(_value(self._rows)), int(_value(self._shape))
                        step.wait += min(inside, spent)
                        loop.waited += 0.0 if step.starts else inside
                        spent = max(0.0, spent - inside)
                    step.calls += 1
                    step.trains = step.trains or id(function) in self._trainers
                    if len(self.tracings.traces) > before:
                        step.trace += spent
                    else:
                        step.call += spent

        return call

    def _keep(self, given: Any) -> None:
        """Keep the scalars that a training step returns; they are read after the run."""
        loop = self._open_loop
        if loop is None or self._open is None or loop.kind not in ("fit", "loop"):
            return
        if hasattr(given, "get_value"):
            # As Keras' functions give their logs; asking whether there are any would wait for them.
            self.returned.append((len(loop.steps), given))
        else:
            self.returned.append((len(loop.steps), scalars_of(given)))

    @staticmethod
    def _iterator_kind() -> Any:
        import tensorflow as tf

        return type(iter(tf.data.Dataset.range(1)))

    def _derived(self, plain: Any) -> Any:
        import tensorflow as tf

        def gradient(tape: Any, *arguments: Any, **keywords: Any) -> Any:
            if self._here:
                sources = keywords.get("sources", arguments[1] if len(arguments) > 1 else None)
                self.trained = _variables(sources)
                if self._inside_call:
                    self._trainers[id(self._running)] = self._running
                elif self._open is not None:
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
                if not self._here:
                    return plain(model, *arguments, **keywords)
                self._kinds.append(kind)
                if kind == "fit" and getattr(model, "run_eagerly", False):
                    place = user_place() or "?"
                    self.loops.setdefault((kind, place), Loop(kind, place)).eager = True
                try:
                    return plain(model, *arguments, **keywords)
                finally:
                    self._kinds.pop()
                    if kind == "fit" and self._open_loop is not None and self._open_loop.kind == kind:
                        self._ended = time.perf_counter()

            return method

        return make

    def _one_batch(self, plain: Any) -> Any:
        def train_on_batch(model: Any, x: Any, *arguments: Any, **keywords: Any) -> Any:
            if not self._here or self._inside_call:
                return plain(model, x, *arguments, **keywords)
            if (
                self._open is None
                or self._open_loop is None
                or self._gives_way(self._open_loop, self._place())
            ):
                self._step_begins(self._home())
                if self._open is not None and hasattr(x, "__len__"):
                    self._open.samples = len(x)
            if self._open is not None:
                self._open.trains = True
            return plain(model, x, *arguments, **keywords)

        return train_on_batch

    # --- steps

    def _step_begins(self, loop: Loop) -> None:
        now = time.perf_counter()
        if self._open is not None and self._open_loop is not loop:
            # Another loop takes a batch within this one's step: a second dataset, or an evaluation.
            outer = self._open_loop
            if outer is not None and outer.kind in ("fit", "loop") and loop.kind in ("evaluate", "predict"):
                return
            if outer is not None and loop is not self._training:
                if not self._gives_way(outer, (loop.kind, loop.place)):
                    return
                self._training = None
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
                self.stopped = True
                raise StopObservation
        self.tracings.step, self.tracings.context = len(loop.steps), f"{loop.kind} {loop.place}"
        self._open, self._open_loop = Step(now, starts=loop.fresh), loop
        loop.fresh = False
        loop.steps.append(self._open)
        if training and self._training is None:
            self._training = loop

    _training: Loop | None = None

    def _step_was_none(self, loop: Loop) -> None:
        """Take back a step that found no batch: its time belongs to the one before, with the start of the next epoch."""
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
        self._open = self._ended = self._busy = None

    # --- looking

    def _look(self) -> None:
        read = 0.0
        while self._on.is_set():
            time.sleep(SAMPLE_SECONDS)
            frame = sys._current_frames().get(self._thread)  # noqa: SLF001 - the documented way to a thread's stack
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


def _value(variable: Any) -> float:
    return float(variable.read_value()._numpy())  # noqa: SLF001 - `numpy` is watched


def _variables(sources: Any) -> list[Any]:
    """Return the variables among what gradients are taken for."""
    import tensorflow as tf

    return [
        part
        for part in tf.nest.flatten(sources)
        if isinstance(part, (tf.Variable, tf.keras.Variable)) and hasattr(part, "dtype")
    ]


def scalars_of(given: Any) -> dict[str, Any]:
    """Return the first scalars among what a training step returns, by name."""
    named = dict(given) if isinstance(given, dict) else {"loss": given}
    if isinstance(given, (tuple, list)):
        named = {("loss" if place == 0 else f"output {place}"): part for place, part in enumerate(given)}
    found = {}
    for name, part in list(named.items())[:KEPT_SCALARS]:
        if getattr(getattr(part, "dtype", None), "is_floating", False) and part.shape.rank == 0:
            found[str(name)] = part
    return found


def shape_number(element: Any) -> Any:
    """Return a number that tells the shapes of a batch from others.

    It is an integer, or a tensor inside a function.
    """
    import tensorflow as tf

    total: Any = 0
    place = 1
    for part in tf.nest.flatten(element):
        shape = getattr(part, "shape", None)
        if shape is None or shape.rank is None:
            continue
        dims = list(shape) if shape.is_fully_defined() else tf.unstack(tf.shape(part, tf.int64))
        for dim in dims:
            place = place * 31 % 1_000_003
            total = total + dim * place
    return total


def rows_of(element: Any) -> int:
    """Return how many rows a batch has, by its first tensor with a shape.

    It is 0 where there is none.
    """
    import tensorflow as tf

    for part in tf.nest.flatten(element):
        shape = getattr(part, "shape", None)
        if shape is not None and shape.rank:
            return int(shape[0] or 0)
    return 0


_OWN = os.path.dirname(os.path.abspath(__file__))
_LIBRARY = tuple(
    {
        os.path.abspath(path) + os.sep
        for path in (
            *(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")),
            _OWN,
        )
    }
)


def is_users(file: str) -> bool:
    """Return whether a file of code is the user's own.

    It is neither Python's nor installed nor made up.
    """
    return (
        not file.startswith("<")
        and not (os.path.abspath(file) + os.sep).startswith(_LIBRARY)
        and ("site-packages" not in file and "dist-packages" not in file)
    )


def user_place() -> str | None:
    """Return the innermost place in the user's code on this thread's stack."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the way to the caller without building a whole stack
    while frame is not None:
        if is_users(frame.f_code.co_filename):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return None


def resident_bytes() -> float | None:
    """Return the resident size of this process, or None where that is not known."""
    try:
        with open("/proc/self/statm", encoding="ascii") as stream:
            return float(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return None


def describe_stack(frame: FrameType | None) -> tuple[str, str, str]:
    """Return who works on a stack, where in the user's code, and what it has called.

    A method of a Keras callback is named by its class; else it is the innermost function of the user's own code, with the line.
    """
    called = users = name = ""
    for _ in range(DEPTH):
        if frame is None:
            break
        code = frame.f_code
        file = code.co_filename
        if code.co_name.startswith(("on_train_", "on_epoch_", "on_test_", "on_batch_")):
            owner = type(frame.f_locals.get("self")).__name__
            if owner not in ("CallbackList", "NoneType"):
                return f"{owner}.{code.co_name}", users or (place_of(frame) if is_users(file) else ""), called
        if is_users(file) and not users:
            users, name = place_of(frame), code.co_name
        elif not users and not file.startswith(_OWN):
            module = str(frame.f_globals.get("__name__", ""))
            called = module and f"{module}.{getattr(code, 'co_qualname', code.co_name)}"
        frame = frame.f_back
    return name, users, called


def place_of(frame: FrameType) -> str:
    """Return where a frame is."""
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


@contextlib.contextmanager
def observed(*, steps: int | None = None, seconds: float | None = None) -> Iterator[Observation]:
    """Observe what the body does, until it ends or enough has been seen."""
    with contextlib.suppress(StopObservation), Observation(steps=steps, seconds=seconds) as observation:
        yield observation
