"""What `tune` measures in a child process: samples per second of one setting after another, each result kept at once.

Every result is a line of a journal that is flushed before the next setting begins. So a setting that ends the process - a
crash, the system's out-of-memory kill - loses nothing but itself, and a search that was cut off goes on where it was.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from cfgfix.core.errors import CfgfixError
from cfgfix.measure import storage
from cfgfix.measure.data_sources import dataset_maker
from cfgfix.measure.dataset_graph import normal, read_graph, walk
from cfgfix.measure.sampling import Progress, Timeline, UserCodeError, iterate, load_callable, user_code

MOST_BATCHES = 200_000
"""Of one trial: bounds the memory of the timeline (8 bytes for each of five series)."""
HEARTBEAT_SECONDS = 2.0
"""Between two words of how far the trials are."""
LEAST_BATCHES = 8
"""A trial with fewer batches in its time is run once more for longer: a rate from two or three of them is mostly start-up."""
OUT_OF_MEMORY = ("ResourceExhaustedError", "MemoryError")


def append(path: str, entry: Mapping[str, Any]) -> None:
    """Add an entry to a journal as a line, and flush it to the disk."""
    with open(path, "a+", encoding="utf-8") as stream:
        # The last line may have been cut off; what follows must not be lost with it.
        end = stream.tell()
        cut = False
        if end:
            stream.seek(end - 1)
            cut = stream.read(1) != "\n"
        stream.write(("\n" if cut else "") + json.dumps(dict(entry)) + "\n")
        stream.flush()
        os.fsync(stream.fileno())


def read(path: str) -> list[dict[str, Any]]:
    """Return the entries of a journal, without a last one that was cut off.

    Empty where there is no file.
    """
    found: list[dict[str, Any]] = []
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            for line in stream:
                with contextlib.suppress(ValueError):
                    entry = json.loads(line)
                    if isinstance(entry, dict):
                        found.append(entry)
    except FileNotFoundError:
        pass
    return found


def job(options: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Run trials in turn in this process and write each result to the journal.

    Args:
        options: As for the other jobs, and: `journal`, a path; `trials`, a list of `id`, `values` (concept to value),
            `config` (the path of the YAML with these values, or None) and `seconds`; `cold`; `trial_limit`, seconds after
            which a trial that does not end takes the process with it; `until`, the moment (`time.time`) at which the search is
            to end, or None: then none begins, and one that runs takes the process with it and counts as not run.
        progress: Told which trial runs.

    Returns:
        `fresh`: whether the rest is better done in a new process, since this one has run out of memory.

    Raises:
        CfgfixError: The arguments are wrong for any trial.
        UserCodeError: The user's module cannot be imported.
    """
    _require_config_taken(options)
    files = storage.data_files((), options.get("data_path"))
    trials = options["trials"]
    until: float | None = options.get("until")
    parent = os.getppid()
    failed: dict[str, str] = {}
    done = [0]
    with _report_progress(progress, str(options.get("what", "searching")), done, len(trials)):
        for number, trial in enumerate(trials):
            done.append(number)
            if os.getppid() != parent or (until is not None and time.time() >= until):
                # Nobody waits for the rest, and another search may be measuring by now.
                return {"fresh": False}
            setting = json.dumps([trial["config"], trial["values"]], sort_keys=True)
            if setting in failed:
                # What failed once is not tried a second time: it may take minutes to fail.
                append(
                    options["journal"],
                    {"event": "failed", "id": trial["id"], "error": failed[setting], "trace": ""},
                )
                continue
            append(options["journal"], {"event": "start", "id": trial["id"]})
            try:
                with _limit_time(options["trial_limit"], options["journal"], trial["id"], until):
                    found = _measure_trial({**options, **trial}, files)
            except UserCodeError as error:
                text = f"{error.message}\n{error.trace}"
                memory = any(name in text for name in OUT_OF_MEMORY)
                failed[setting] = ("out of memory: " if memory else "") + error.message
                append(
                    options["journal"],
                    {
                        "event": "failed",
                        "id": trial["id"],
                        "error": failed[setting],
                        "trace": error.trace[-4000:],
                    },
                )
                if memory:
                    return {"fresh": True}
            else:
                append(options["journal"], {"event": "result", "id": trial["id"], **found})
        return {"fresh": False}


@contextlib.contextmanager
def _report_progress(progress: Progress, what: str, done: Sequence[int], count: int) -> Iterator[None]:
    """Report the progress of the trials at intervals while the body runs."""
    ended = threading.Event()

    def tell() -> None:
        progress(what, done[-1] / count)
        while not ended.wait(HEARTBEAT_SECONDS):
            progress(what, done[-1] / count)

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join(1)


def _require_config_taken(options: Mapping[str, Any]) -> None:
    """Refuse user functions none of which takes a config.

    Every setting would then measure the same.
    """
    import inspect

    if options.get("config") is None:
        return
    takes = []
    for spec in filter(None, (options.get("dataset"), options.get("step"))):
        try:
            parameters = inspect.signature(load_callable(spec)).parameters.values()
        except (TypeError, ValueError):
            return
        takes.append(any(one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) for one in parameters))
    if takes and not any(takes):
        raise CfgfixError(
            f"{options['dataset']} takes no config, so no setting of the file reaches it",
            hint="let your function take the config as its argument",
        )


@contextlib.contextmanager
def _limit_time(seconds: float, journal: str, name: str, until: float | None = None) -> Iterator[None]:
    """End this process where the body exceeds its time, and write why to the journal.

    Where the whole search ends before, that is no fault of this trial, and nothing is written.
    """
    left = float("inf") if until is None else max(until - time.time(), 0.0)

    def expired() -> None:
        if seconds <= left:
            append(
                journal,
                {"event": "failed", "id": name, "error": f"did not end within {seconds:g} s", "trace": ""},
            )
        os.kill(os.getpid(), 9)

    timer = threading.Timer(min(seconds, left), expired)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _measure_trial(options: Mapping[str, Any], files: tuple[str, ...]) -> dict[str, Any]:
    """Measure one setting."""
    import tensorflow as tf

    gc.collect()
    values: Mapping[str, Any] = options["values"]
    built_in = not options.get("dataset")
    # A step that sets a policy of its own does so later; what an earlier trial set must not stay.
    policy = {True: "mixed_float16", False: "float32"}.get(
        precision := values.get("mixed_precision", False), precision
    )
    with user_code(f"setting the policy {policy}"):
        tf.keras.mixed_precision.set_global_policy(policy)
    if built_in:
        speech = {
            name: value for name, value in values.items() if name in ("batch_size", "workers", "prefetch")
        }
        options = {**options, "speech": {**options.get("speech", {}), **speech}}
    make, _ = dataset_maker(options)
    cached = None
    if options.get("cold"):
        storage.evict(files)
        cached = storage.cache_state(files).cached_share
    with user_code("making the dataset"):
        dataset = make()
        if built_in and values.get("private_threads"):
            threads = tf.data.Options()
            threads.threading.private_threadpool_size = values["private_threads"]
            dataset = dataset.with_options(threads)
        graph = _graph_text(dataset)
        dataset = _with_setting(
            dataset, {name: values[name] for name in options.get("by_code", ()) if name in values}
        )
    step = _step_function(options, dataset, values) if options.get("step") else None
    begin = time.perf_counter()
    timeline = _timeline_of(dataset, step, options["seconds"])
    if timeline.waits.size < LEAST_BATCHES and not options.get("cold"):
        # What was spent before the first batch is not the pipeline's rate, so it is given on top.
        more = 3 * options["seconds"] + 2 * (timeline.build + timeline.first)
        timeline = _timeline_of(dataset, step, more)
    return {
        "samples_per_second": float(timeline.samples.sum() / timeline.periods.sum()),
        "batches": int(timeline.waits.size),
        "batch_bytes": float(timeline.sizes.mean()),
        "batch_samples": float(timeline.samples.mean()),
        "seconds": time.perf_counter() - begin,
        "cached_share": cached,
        "graph": graph,
        "python_in_graph": any(node.python for node in walk(read_graph(dataset))),
    }


_MAPS = frozenset({"map", "parallelmap", "mapandbatch"})
"""Operations whose functions of Python make one element of another: they feed nothing by themselves."""


def _graph_text(dataset: Any) -> str | None:
    """Return a text that is equal for datasets with the same graph.

    None where Python outside of a map feeds the dataset: it may read the config without a trace in the graph.
    """
    graph = read_graph(dataset)
    nodes = list(walk(graph))
    if not nodes or any(node.python and normal(node.operation) not in _MAPS for node in nodes):
        return None
    told = [(node.operation, node.function, [str(one)[:80] for one in node.constants]) for node in nodes]
    threads = dataset.options().threading
    return json.dumps([told, threads.private_threadpool_size, threads.max_intra_op_parallelism])


def _with_setting(dataset: Any, values: Mapping[str, Any]) -> Any:
    """Return a dataset with the private threads and prefetch of a setting applied.

    Only those that no key of the config gives; 0 leaves the dataset as the code makes it.
    """
    import tensorflow as tf

    if values.get("private_threads"):
        options = tf.data.Options()
        options.threading.private_threadpool_size = values["private_threads"]
        dataset = dataset.with_options(options)
    return dataset.prefetch(values["prefetch"]) if values.get("prefetch") else dataset


def _timeline_of(dataset: Any, step: Callable[[int, Any], None] | None, seconds: float) -> Timeline:
    return iterate(dataset, batches=MOST_BATCHES, seconds=seconds, on_batch=step)


def _step_function(
    options: Mapping[str, Any], dataset: Any, values: Mapping[str, Any]
) -> Callable[[int, Any], None]:
    """Return a function that runs the compiled step on a batch and waits for its end."""
    import tensorflow as tf

    from cfgfix.measure.step_subject import step_maker, subject_of

    given = dict(options)
    if given["step"] == "built-in":
        given["step"] = None
    make, source = step_maker(given)
    with user_code("iterating the dataset"):
        batch = next(iter(dataset))
    subject = subject_of(make, source, batch)
    whole = subject.whole
    # The training loop around (model, loss, optimizer) is this package's, so XLA is as the setting says; a function of a
    # batch has read it from its config.
    if subject.trainer is not None and values.get("xla") is not None:
        whole = subject.rebuild(bool(values["xla"]))

    def run(_place: int, element: Any) -> None:
        with user_code("running the step"):
            whole(element)
            tf.test.experimental.sync_devices()

    run(0, batch)
    run(0, batch)
    return run


__all__ = ["append", "job", "read"]
