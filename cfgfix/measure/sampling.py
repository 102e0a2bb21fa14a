"""Timed iteration over a dataset, and how user code is run: in a child process, under a time limit.

User code - a function that builds a dataset or a step - runs only inside a child process. What it raises comes back as a
`UserCodeError` with its own traceback, so that a failure of the program is never taken for a measurement of it.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cfgfix.core.errors import CfgfixError, ExitCode
from cfgfix.core.wording import cause_line
from cfgfix.measure.statistics import Floats, Steadiness, steady_state

Progress = Callable[[str, float], None]
"""Told what is being done and which share of it is done (0 to 1)."""


def silent(_what: str, _share: float) -> None:
    """Ignore a progress report."""


class UserCodeError(CfgfixError):
    """The user's own code failed, or did not end in time; exit code 3.

    Args:
        message: What was being done.
        trace: The user's traceback, or the end of what the process printed.
        hint: The next step.
    """

    def __init__(self, message: str, *, trace: str = "", hint: str | None = None) -> None:
        super().__init__(message, code=ExitCode.UNREADABLE, hint=hint)
        self.trace = trace

    def __str__(self) -> str:
        text = super().__str__()
        return f"{text}\n{self.trace.rstrip()}" if self.trace else text


_HERE = os.path.dirname(os.path.abspath(__file__))


def user_trace(error: BaseException) -> str:
    """Return a traceback as text, without the frames of this package.

    Where every frame is of this package, the last one stays.
    """
    frames = traceback.extract_tb(error.__traceback__)
    kept = [
        frame
        for frame in frames
        if not os.path.abspath(frame.filename).startswith(_HERE) and frame.filename != "<frozen runpy>"
    ]
    lines = ["Traceback (most recent call last):\n"] if kept else []
    lines += traceback.format_list(kept)
    lines += traceback.format_exception_only(type(error), error)
    return "".join(lines)


@contextlib.contextmanager
def user_code(what: str) -> Iterator[None]:
    """Turn any exception of the body into a `UserCodeError` that names the task.

    Raises:
        UserCodeError: The body raised, `SystemExit` included.
    """
    try:
        yield
    except (CfgfixError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise UserCodeError(f"{what} failed: {cause_line(error)}", trace=user_trace(error)) from error


@dataclass(frozen=True, slots=True)
class Timeline:
    """The times of one iteration over a dataset, in seconds.

    There is one entry per batch after the first.
    """

    build: float
    """Until the iterator existed."""
    first: float
    """From then until the first batch was there."""
    waits: Floats
    """How long each further batch was waited for."""
    gaps: Floats
    """From getting each of these batches to asking for the next: the consumer's step and the bookkeeping."""
    samples: Floats
    """Leading dimension of each batch; 1 for a batch without one."""
    sizes: Floats
    """Bytes of the numeric tensors of each batch."""
    has_strings: bool
    """Whether batches hold string tensors, which `sizes` leaves out."""
    cpu: Floats
    """CPU seconds of the whole process, all threads, from the end of one wait to the end of the next."""
    restarts: tuple[int, ...]
    """Entries whose wait includes starting the dataset anew, as it had ended."""
    read_calls: float | None
    """Bytes the process read from files, cached or not; None where the system does not tell."""
    read_storage: float | None
    """Of these, bytes that came from storage; None where the system does not tell."""
    delayed: float = 0.0
    """Threads of this process that waited for a CPU, on average; 0 where the system does not tell."""

    @property
    def periods(self) -> Floats:
        """Seconds from one batch to the next."""
        return np.asarray(self.waits + self.gaps, dtype=np.float64)

    def steadiness(self) -> Steadiness:
        """Return where the batch times settle; restarts of the dataset are left out."""
        return steady_state(self._smooth())

    def _smooth(self) -> Floats:
        periods = self.periods
        if self.restarts:
            middle = float(np.median(periods))
            periods = periods.copy()
            periods[list(self.restarts)] = middle
        return periods

    def after(self, start: int) -> Timeline:
        """Return the timeline from entry `start` on.

        The bytes that were read belong to the whole timeline and become unknown.
        """
        return Timeline(
            self.build,
            self.first,
            self.waits[start:],
            self.gaps[start:],
            self.samples[start:],
            self.sizes[start:],
            self.has_strings,
            self.cpu[start:],
            tuple(place - start for place in self.restarts if place >= start),
            None,
            None,
            self.delayed,
        )

    def idle_share(self) -> float:
        """Return the share of the time that the consumer waits, over all entries."""
        total = float(self.periods.sum())
        return float(self.waits.sum()) / total if total else math.nan


def describe_batch(element: Any) -> tuple[int, int, bool]:
    """Return the samples and numeric bytes of a batch, and whether it has strings."""
    import tensorflow as tf

    samples, size, strings = 0, 0, False
    for leaf in tf.nest.flatten(element, expand_composites=True):
        shape = getattr(leaf, "shape", None)
        dtype = getattr(leaf, "dtype", None)
        if shape is None or dtype is None:
            continue
        dims = tuple(shape)
        if not samples and dims:
            samples = int(dims[0])
        if getattr(dtype, "name", "") in ("string", "variant", "resource"):
            strings = strings or dtype.name == "string"
            continue
        size += math.prod(int(dim) for dim in dims) * int(
            getattr(dtype, "size", getattr(dtype, "itemsize", 0))
        )
    return samples or 1, size, strings


def read_counters() -> tuple[float, float] | None:
    """Return the bytes that this process has read by calls and from storage.

    None where the system does not tell; only Linux does.
    """
    try:
        with open("/proc/self/io", encoding="ascii") as stream:
            pairs = dict(line.split(":") for line in stream)
        return float(pairs["rchar"]), float(pairs["read_bytes"])
    except (OSError, ValueError, KeyError):
        return None


def read_delays() -> dict[str, float]:
    """Return the seconds that each thread of this process has waited for a CPU so far.

    Empty where the system does not tell.
    """
    found: dict[str, float] = {}
    try:
        threads = os.listdir("/proc/self/task")
    except OSError:
        return found
    for thread in threads:
        with (
            contextlib.suppress(OSError, ValueError, IndexError),
            open(f"/proc/self/task/{thread}/schedstat", encoding="ascii") as stream,
        ):
            found[thread] = float(stream.read().split()[1]) / 1e9
    return found


_ENDED: Any = object()


def iterate(
    dataset: Any,
    *,
    batches: int,
    seconds: float = 60.0,
    step_seconds: float = 0.0,
    what: str = "iterating the dataset",
    progress: Progress = silent,
    on_batch: Callable[[int, Any], None] | None = None,
) -> Timeline:
    """Iterate over a dataset as a training loop does and time every batch.

    A dataset that ends is started anew. The consumer sleeps: a device at work leaves the CPUs to the pipeline.

    Args:
        dataset: Anything `iter` takes, such as a `tf.data.Dataset`.
        batches: How many batches to take after the first.
        seconds: Stop earlier once this much time has passed.
        step_seconds: How long the consumer is busy with each batch.
        what: For the progress.
        progress: Told a few times a second.
        on_batch: Called with the entry and the batch, outside the timed wait; its time counts as the consumer's.

    Raises:
        UserCodeError: The dataset raised, or gave no batch at all.
    """
    clock, cpu_clock = time.perf_counter, time.process_time
    waits, gaps, samples, sizes, cpu = (np.zeros(batches) for _ in range(5))
    restarts: list[int] = []
    strings = False
    counters, delays = read_counters(), read_delays()
    with user_code("iterating the dataset"):
        begin = clock()
        iterator = iter(dataset)
        built = clock()
        try:
            element = next(iterator)
        except StopIteration:
            raise UserCodeError("the dataset gives no batch", hint="is the data folder empty?") from None
        first = clock()
        told = first
        done = 0
        got, cpu_got = first, cpu_clock()
        for place in range(batches):
            if on_batch is not None:
                on_batch(place, element)
            if step_seconds > 0:
                left = step_seconds - (clock() - got)
                if left > 0:
                    time.sleep(left)
            asked = clock()
            element = next(iterator, _ENDED)
            if element is _ENDED:
                restarts.append(place)
                # As in a loop, the iterator of one epoch ends before the next begins: where both are there, TensorFlow waits for
                # threads of the old one. An exception at hand would keep it.
                del iterator
                iterator = iter(dataset)
                element = next(iterator, _ENDED)
                if element is _ENDED:
                    raise UserCodeError("the dataset gives no batch the second time it is read")
            now, cpu_now = clock(), cpu_clock()
            waits[place], gaps[place], cpu[place] = now - asked, asked - got, cpu_now - cpu_got
            samples[place], sizes[place], has = describe_batch(element)
            strings = strings or has
            got, cpu_got = now, cpu_now
            done = place + 1
            if now - told > 0.25:
                told = now
                progress(what, max(done / batches, (now - begin) / seconds))
            if now - begin > seconds:
                break
    end = read_counters()
    # Read before the iterator and its threads end.
    delayed = sum(delay - delays.get(thread, 0.0) for thread, delay in read_delays().items())
    return Timeline(
        build=built - begin,
        first=first - built,
        waits=waits[:done],
        gaps=gaps[:done],
        samples=samples[:done],
        sizes=sizes[:done],
        has_strings=strings,
        cpu=cpu[:done],
        restarts=tuple(restarts),
        read_calls=end[0] - counters[0] if end and counters else None,
        read_storage=end[1] - counters[1] if end and counters else None,
        delayed=max(0.0, delayed / max(clock() - begin, 1e-9)),
    )


def load_object(spec: str) -> Any:
    """Import a module and return the object that `package.module:name` names.

    Only a child process may call this. A module that would start a training when it is imported is not imported.

    Raises:
        CfgfixError: The text is not of that form, the module has no such name, or importing it would train.
        UserCodeError: The module fails while it is imported.
    """
    import importlib

    module_name, sign, name = spec.partition(":")
    if not sign or not all(part.isidentifier() for part in [*module_name.split("."), *name.split(".")]):
        raise CfgfixError(f"{spec!r} names no function", hint="write package.module:function")
    refuse_training(module_name)
    try:
        with user_code(f"importing {module_name}"):
            found: Any = importlib.import_module(module_name)
    except UserCodeError as error:
        cause = error.__cause__
        if isinstance(cause, ModuleNotFoundError) and cause.name and module_name.startswith(cause.name):
            hint = "run from the folder the module is imported from, or name it with --source-root"
            raise CfgfixError(f"there is no module {cause.name!r}", hint=hint) from error
        raise
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is None:
        raise CfgfixError(f"{module_name} has no function {name!r}")
    return found


def load_callable(spec: str) -> Callable[..., Any]:
    """Import a module and return the function that `package.module:function` names.

    Only a child process may call this.

    Raises:
        CfgfixError: The text is not of that form, or the module has no such function.
        UserCodeError: The module fails while it is imported.
    """
    found = load_object(spec)
    if not callable(found):
        module_name, _, name = spec.partition(":")
        raise CfgfixError(f"{module_name} has no function {name!r}")
    function: Callable[..., Any] = found
    return function


_TRAINING_CALLS = frozenset({"fit", "fit_generator", "train_on_batch"})


def refuse_training(module_name: str) -> None:
    """Refuse a module whose top level trains, from its text alone.

    Raises:
        CfgfixError: A call of `fit` or `train_on_batch` stands outside of every function.
    """
    import importlib.util

    try:
        spec = importlib.util.find_spec(module_name)
        if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
            return
        with open(spec.origin, encoding="utf-8") as stream:
            line = training_line(stream.read())
    except (ImportError, AttributeError, ValueError, OSError):
        # Importing it says what is wrong.
        return
    if line is not None:
        raise CfgfixError(
            "importing this module would start a training, which nobody asked for",
            path=f"{spec.origin}:{line}",
            hint=f"cfgfix profile run {os.path.relpath(spec.origin)} observes it as it is; or put the training below `if __name__ == '__main__':`",
        )


def training_line(text: str) -> int | None:
    """Return the line of the first training at the top level of a module's text.

    None where importing the module would start no training.
    """
    import ast

    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None

    def guarded(node: ast.AST) -> bool:
        return isinstance(node, ast.If) and any(
            isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(node.test)
        )

    def search(node: ast.AST) -> int | None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) or guarded(node):
            return None
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in _TRAINING_CALLS
            and _trains(node, node.func.attr)
        ):
            return node.lineno
        return next(
            (line for child in ast.iter_child_nodes(node) if (line := search(child)) is not None), None
        )

    def _trains(call: ast.Call, name: str) -> bool:
        # Scalers, tokenizers and encoders are fitted, too: to one argument, without epochs.
        return name != "fit" or len(call.args) > 1 or bool({word.arg for word in call.keywords} & _FIT_WORDS)

    return search(tree)


_FIT_WORDS = frozenset(
    {"epochs", "steps_per_epoch", "callbacks", "validation_data", "batch_size", "validation_split", "y"}
)


def call_with_config(function: Callable[..., Any], config: Any, spec: str) -> Any:
    """Call the user's function and return its result.

    The config is passed where the function takes an argument.

    Raises:
        CfgfixError: It needs an argument and there is no config, or it needs several.
        UserCodeError: It raised.
    """
    import inspect

    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    takes = [parameter for parameter in parameters if parameter.kind in plain]
    needed = [parameter for parameter in takes if parameter.default is inspect.Parameter.empty]
    if len(needed) > 1:
        names = ", ".join(parameter.name for parameter in needed)
        raise CfgfixError(
            f"{spec} needs {len(needed)} arguments ({names})",
            hint="it is called with the config or without arguments",
        )
    if needed and config is None:
        raise CfgfixError(
            f"{spec} needs the config", hint="name its file (`cfgfix profile` takes it as --config FILE)"
        )
    with user_code(f"calling {spec}"):
        return function(config) if needed or (takes and config is not None) else function()


def load_config(path: str | None, loader: str | None) -> Any:
    """Return the config in the form that the user's function takes.

    That is plain data, or the result of the user's own loader for the path.

    Raises:
        CfgfixError: The file cannot be read or is not YAML.
    """
    if path is None:
        return None
    if loader is not None:
        function = load_callable(loader)
        with user_code(f"loading {path} with {loader}"):
            return function(path)
    import yaml

    try:
        with open(path, encoding="utf-8") as stream:
            return yaml.safe_load(stream)
    except (OSError, UnicodeDecodeError) as error:
        raise CfgfixError(f"cannot be read: {error}", code=ExitCode.UNREADABLE, path=path) from error
    except yaml.YAMLError as error:
        raise CfgfixError(
            f"is not plain YAML: {' '.join(str(error).split())}",
            code=ExitCode.UNREADABLE,
            path=path,
            hint="cfgfix check shows where; a config with its own tags needs --config-loader",
        ) from error


def run_child(
    entry: str,
    options: Mapping[str, Any],
    *,
    seconds: float,
    progress: Progress = silent,
    on_start: Callable[[int], None] | None = None,
    environment: Mapping[str, str] | None = None,
    show_output: bool = False,
    hands_on_interrupt: bool = False,
) -> dict[str, Any]:
    """Run `entry(options, progress)` in a child process and return its answer.

    Args:
        entry: `cfgfix....module:function`, a function of this package that may run user code.
        options: Plain data for it.
        seconds: The time limit; then the child and its children are ended.
        progress: Told what the child tells.
        on_start: Called with the child's process id.
        environment: Added to the child's environment.
        show_output: Let the user's code write to standard error at once; else its output is shown only after a failure.
        hands_on_interrupt: On Ctrl-C, interrupt the child and wait for its answer; on a second one, end it.

    Raises:
        UserCodeError: The user's code failed, crashed or ran out of time.
        KeyboardInterrupt: It was interrupted and had no answer.
        CfgfixError: The arguments are wrong.
        RuntimeError: A fault of this package in the child.
    """
    import json
    import signal
    import subprocess
    import sys
    import tempfile
    import threading

    variables = {"TF_CPP_MIN_LOG_LEVEL": "2", **os.environ, **(environment or {})}
    root = os.path.dirname(os.path.dirname(_HERE))
    variables["CFGFIX_CHILD_ROOT"] = root
    code = "import os,sys;sys.path.insert(0,os.environ.pop('CFGFIX_CHILD_ROOT'));from cfgfix.measure.child import main;main();os._exit(0)"
    found: dict[str, Any] = {}
    interrupted = False
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(  # noqa: S603 - this interpreter, with this package
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if show_output else output,
            env=variables,
            start_new_session=os.name == "posix",
        )
        assert process.stdin is not None
        assert process.stdout is not None
        lines = process.stdout

        def listen() -> None:
            for line in lines:
                try:
                    event = json.loads(line)
                except ValueError:
                    continue
                if event.get("event") == "progress":
                    progress(str(event["what"]), float(event["share"]))
                else:
                    found.update(event)

        listener = threading.Thread(target=listen, daemon=True)
        try:
            listener.start()
            if on_start is not None:
                on_start(process.pid)
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(json.dumps({"entry": entry, "options": dict(options)}).encode())
                process.stdin.close()
            try:
                try:
                    process.wait(seconds)
                except KeyboardInterrupt as pressed:
                    # Not where cfgfix itself is told to end, which arrives as a kind of its own.
                    if not hands_on_interrupt or type(pressed) is not KeyboardInterrupt:
                        raise
                    interrupted = True
                    process.send_signal(signal.SIGINT)
                    process.wait(seconds)
            except subprocess.TimeoutExpired:
                raise UserCodeError(
                    f"did not end within {seconds:g} s, and was stopped",
                    trace=_end_of_stream(output),
                    hint="give it more time with --time-limit, or measure fewer batches",
                ) from None
        finally:
            _end_process(process)
            listener.join(5)
            lines.close()
        if interrupted and found.get("event") != "result":
            raise KeyboardInterrupt
        return _outcome_of_child(found, process.returncode, _end_of_stream(output))


def _end_of_stream(stream: Any, size: int = 4000) -> str:
    stream.seek(0, os.SEEK_END)
    stream.seek(max(0, stream.tell() - size))
    text = str(stream.read().decode("utf-8", "replace"))
    # What TensorFlow logs at its start says nothing of the failure.
    return re.sub(r"(?m)^(WARNING: All log messages before absl|[IW]\d{4} \d\d:).*\n?", "", text)


def _end_process(process: Any) -> None:
    """End a child process and all processes that it started.

    They share a session, so the whole process group is ended.
    """
    import signal

    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    elif process.poll() is None:
        process.kill()
    process.wait()


def _outcome_of_child(found: dict[str, Any], code: int, printed: str) -> dict[str, Any]:
    event = found.get("event")
    if event == "result":
        result: dict[str, Any] = found["result"]
        return result
    if event == "user":
        raise UserCodeError(found["message"], trace=found["trace"], hint=found.get("hint"))
    if event == "error":
        raise CfgfixError(
            found["message"], code=ExitCode(found["code"]), path=found.get("path"), hint=found.get("hint")
        )
    if event == "fault":
        raise RuntimeError("in the measuring process:\n" + found["trace"])
    if code < 0:
        import signal

        name = signal.Signals(-code).name
        hint = "the system may have run out of memory" if name == "SIGKILL" else None
        raise UserCodeError(f"the process was ended by {name}", trace=printed, hint=hint)
    raise UserCodeError(f"the process ended with code {code} and no result", trace=printed)
