"""Watching a step from inside its process: functions that are traced again, and tensors that are fetched to the host.

Both watchers replace methods of TensorFlow's classes while they are on, in the measuring process alone.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from cfgfix.measure.counters import tensor_kind

Signature = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Trace:
    """One tracing of a function."""

    function: str
    call: int
    """Which call of this function, from 1."""
    step: int
    """During which step, from 0."""
    seconds: float
    """How long that call took."""
    causes: tuple[str, ...]
    """Arguments that no earlier call had like this; empty for the first trace."""
    kind: str
    """`first`, `shape`, `dtype`, `python value`, `structure` or `unknown`."""
    context: str = ""
    """The loop it happened in, where that is known."""
    relaxes: bool = False
    """Whether the function takes what changed in a shape as unknown from then on."""
    xla: bool = False
    """Whether XLA compiled the function, or one that it calls, in this call."""

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {
            "function": self.function,
            "call": self.call,
            "step": self.step,
            "seconds": self.seconds,
            "causes": list(self.causes),
            "kind": self.kind,
            "xla": self.xla,
        }


@dataclass(frozen=True, slots=True)
class Sync:
    """A place in the user's code that waits for the device."""

    place: str
    """`file:line`."""
    how: str
    """Such as `numpy()` or `float()`."""
    count: int
    seconds: float
    """Waited there in all."""

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {"place": self.place, "how": self.how, "count": self.count, "seconds": self.seconds}


def describe(value: object) -> str:
    """Return the properties of an argument by which tracing tells it from others.

    These are dtype and shape of a tensor, or the value of a Python scalar.
    """
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is not None and dtype is not None:
        name = getattr(dtype, "name", str(dtype))
        dims = getattr(shape, "as_list", lambda: list(shape))()
        return f"{name}[{','.join('?' if dim is None else str(dim) for dim in dims)}]"
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        text = repr(value)
        return text if len(text) <= 60 else text[:57] + "..."
    return f"{type(value).__name__} object {id(value):#x}"


def flatten(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield the path and the description of each leaf of an argument."""
    element = getattr(value, "element_spec", None)
    if element is not None:
        # Of an iterator or a dataset, tracing distinguishes what it gives.
        value = element
    if isinstance(value, dict):
        for key in value:
            yield from flatten(value[key], f"{path}[{key!r}]")
    elif isinstance(value, (list, tuple)):
        names = getattr(value, "_fields", None)
        for place, item in enumerate(value):
            yield from flatten(item, f"{path}.{names[place]}" if names else f"{path}[{place}]")
        if not value:
            yield path, f"empty {type(value).__name__}"
    else:
        yield path, describe(value)


def signature_of(function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Signature:
    """Return the path and description of each argument leaf of a call.

    Calls with equal answers share a trace.
    """
    import inspect

    python = getattr(function, "python_function", function)
    try:
        names = [name for name in inspect.signature(python).parameters if name != "self"]
    except (TypeError, ValueError):
        names = []
    leaves: list[tuple[str, str]] = []
    for place, value in enumerate(arguments):
        leaves += flatten(value, names[place] if place < len(names) else f"argument {place + 1}")
    for name, value in keywords.items():
        leaves += flatten(value, name)
    return tuple(leaves)


def difference(now: Signature, earlier: list[Signature]) -> tuple[tuple[str, ...], str]:
    """Return the lines in which a signature differs from the nearest earlier one.

    With them comes the kind of the difference; no lines and `unknown` where nothing differs.
    """
    best: tuple[str, ...] | None = None
    kinds: set[str] = set()
    for before in earlier:
        old = dict(before)
        new = dict(now)
        changed = [path for path in new if path in old and old[path] != new[path]]
        other = [path for path in new if path not in old] + [path for path in old if path not in new]
        lines = tuple(
            [f"{path}: {old[path]} -> {new[path]}" for path in changed]
            + [f"{path} came or went" for path in other]
        )
        if best is None or len(lines) < len(best):
            best, kinds = (
                lines,
                {_kind_of_tracing(old[path], new[path]) for path in changed}
                | ({"structure"} if other else set()),
            )
    if not best:
        return (), "unknown"
    order = ("structure", "dtype", "shape", "python value")
    return best, next(kind for kind in order if kind in kinds)


def _kind_of_tracing(old: str, new: str) -> str:
    if old.endswith("]") and new.endswith("]"):
        return "shape" if old.split("[", maxsplit=1)[0] == new.split("[", maxsplit=1)[0] else "dtype"
    return "python value"


def is_xla(function: object) -> bool:
    """Tell whether a `tf.function` is compiled with XLA."""
    return bool(getattr(function, "_jit_compile", None))


class Tracings:
    """Counts the tracings of every `tf.function` that is called while the watch is on."""

    def __init__(self) -> None:
        self.traces: list[Trace] = []
        self.called: set[str] = set()
        self.step = 0
        self.context = ""
        self.expected: set[tuple[str, int]] = set()
        """Contexts and steps in which a new model is traced for the first time."""
        self._seen: dict[int, tuple[Any, list[Signature], list[int]]] = {}
        self._compiled = False
        """Whether a function that XLA compiles was called within the outermost call."""

    @contextlib.contextmanager
    def on(self) -> Iterator[Tracings]:
        """Watch while the body runs."""
        import tensorflow as tf

        kind: Any = type(tf.function(lambda: None))
        plain = kind.__call__
        watch = self

        def call(function: Any, *arguments: Any, **keywords: Any) -> Any:
            return watch.call(plain, function, arguments, keywords)

        kind.__call__ = call
        try:
            yield self
        finally:
            kind.__call__ = plain

    def call(self, plain: Any, function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call a `tf.function` by `plain`, and record whether the call traced it.

        A function that is called while another is traced belongs to the trace of that one.
        """
        import tensorflow as tf

        if not tf.executing_eagerly():
            self._compiled = self._compiled or is_xla(function)
            return plain(function, *arguments, **keywords)
        # The function is kept, so that its id is not used again.
        _, signatures, calls = self._seen.setdefault(id(function), (function, [], [0]))
        calls[0] += 1
        name = getattr(getattr(function, "python_function", None), "__qualname__", "function").replace(
            "<locals>.", ""
        )
        self.called.add(name)
        before = function.experimental_get_tracing_count()
        self._compiled = is_xla(function)
        begin = time.perf_counter()
        try:
            return plain(function, *arguments, **keywords)
        finally:
            if function.experimental_get_tracing_count() > before:
                now = signature_of(function, arguments, keywords)
                spent = time.perf_counter() - begin
                if before == 0 and not signatures:
                    causes: tuple[str, ...] = ()
                    kind = "first"
                else:
                    causes, kind = difference(now, signatures)
                signatures.append(now)
                relaxes = bool(getattr(function, "_reduce_retracing", False))
                self.traces.append(
                    Trace(
                        name,
                        calls[0],
                        self.step,
                        spent,
                        causes,
                        kind,
                        self.context,
                        relaxes=relaxes,
                        xla=self._compiled,
                    )
                )

    def retraces(self) -> list[Trace]:
        """Return the tracings beyond each function's first."""
        return [trace for trace in self.traces if trace.kind != "first"]

    def made_anew(self, after: int = 1) -> dict[str, int]:
        """Return the names of functions that were made and traced anew, with counts.

        Only first traces from step `after` on count, and only names with several of them.
        """
        counts: dict[tuple[str, str], int] = {}
        for trace in self.traces:
            if (
                trace.kind == "first"
                and trace.step >= after
                and (trace.context, trace.step) not in self.expected
            ):
                key = (trace.function, trace.context)
                counts[key] = counts.get(key, 0) + 1
        return {name: count for (name, _), count in counts.items() if count > 1}


_FETCHES = {
    "numpy": "numpy()",
    "__array__": "np.asarray()",
    "__float__": "float()",
    "__int__": "int()",
    "__bool__": "bool()",
    "__index__": "index",
    "__repr__": "print",
    "__str__": "print",
    "__format__": "format",
}


class Fetches:
    """Counts the places where eager tensors are fetched to the host during the watch.

    Args:
        counts: Tells at each fetch whether it counts; None: all do.
    """

    def __init__(self, counts: Callable[[], bool] | None = None) -> None:
        self._counts = counts
        self._found: dict[tuple[str, str], list[float]] = {}
        self._inside = False
        self._thread = threading.get_ident()

    def follow(self, thread: int) -> None:
        """Count the fetches of this thread only."""
        self._thread = thread

    @contextlib.contextmanager
    def on(self) -> Iterator[Fetches]:
        """Watch while the body runs; only the outermost of nested fetches counts."""
        kind = tensor_kind()
        kept = {name: kind.__dict__.get(name) for name in _FETCHES}
        for name, how in _FETCHES.items():
            setattr(kind, name, self._wrapped_fetch(getattr(kind, name), how))
        try:
            yield self
        finally:
            for name, method in kept.items():
                if method is None:
                    delattr(kind, name)
                else:
                    setattr(kind, name, method)

    def _wrapped_fetch(self, plain: Any, how: str) -> Any:
        def method(tensor: Any, *arguments: Any, **keywords: Any) -> Any:
            if (
                self._inside
                or threading.get_ident() != self._thread
                or not (self._counts is None or self._counts())
            ):
                # What a pipeline's threads fetch, and what is fetched while it is built, is no wait of the step.
                return plain(tensor, *arguments, **keywords)
            place = _user_place()
            if place is None:
                return plain(tensor, *arguments, **keywords)
            self._inside = True
            begin = time.perf_counter()
            try:
                return plain(tensor, *arguments, **keywords)
            finally:
                self._inside = False
                entry = self._found.setdefault((place, how), [0.0, 0.0])
                entry[0] += 1
                entry[1] += time.perf_counter() - begin

        return method

    def syncs(self) -> list[Sync]:
        """Return the places that fetched tensors, those that waited longest first."""
        found = [
            Sync(place, how, int(count), seconds) for (place, how), (count, seconds) in self._found.items()
        ]
        return sorted(found, key=lambda sync: -sync.seconds)


_LIBRARIES = ("tensorflow", "keras", "numpy", "tf_keras", "ml_dtypes")


def _user_place() -> str | None:
    """Return the place in the user's code that made the present call, or None.

    A fetch inside a library that user code called counts for the user's line. None where no user code is on the
    stack, or this package made the call.
    """
    here = os.path.dirname(os.path.abspath(__file__))
    frame: Any = sys._getframe(2)  # noqa: SLF001 - the way to the caller without building a whole stack
    while frame is not None:
        name = frame.f_code.co_filename
        module = str(frame.f_globals.get("__name__", "")).split(".")[0]
        if os.path.abspath(name).startswith(here):
            return None
        if module not in _LIBRARIES and not name.startswith("<"):
            return f"{name}:{frame.f_lineno}"
        if frame.f_back is None:
            return None
        frame = frame.f_back
    return None
