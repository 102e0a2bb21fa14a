"""Input pipelines: what a config asks of tf.data, applied in the order in which it works.

The order is: cache, shuffle, random augmentation, batch, tf.data service, prefetch in host memory, copy to the device.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from cfgfix.core.errors import CfgfixError
from cfgfix.rules.catalogue import named
from cfgfix.rules.faults import Fault
from cfgfix.tf.batching import batch_by_length, padded_batch_fixed
from cfgfix.tf.concepts import AUTOTUNE, Concepts, Config, read_concepts, resolve_machine

if TYPE_CHECKING:
    from cfgfix.hardware.model import Hardware
from cfgfix.tf.dataset_graph import Stage, element_bytes, graph_of, parallelism_text, randomness, stages_of
from cfgfix.tf.distribution import distribute

HOST_SHARE = 0.10
"""Share of host memory that a prefetch buffer may take: above it a rule warns. A policy, not a measurement."""

DEVICE_SHARE = 0.05
"""Share of a GPU's memory that batches waiting on it may take: above it a rule warns. A policy likewise."""

RAM_SHARE = 0.5
"""Share of the memory at hand that tf.data's tuner may use for buffers; its own default is this share of what it takes
for free memory, which is the host's even where a cgroup allows less."""

IN_FLIGHT = 2
"""A prefetch of k batches holds about k + 2 of them: measured growth 32, 51, 125 and 1028 MB for k = 1, 2, 10 and 100
with batches of 10.24 MB (TensorFlow 2.21)."""
_PREFETCHES = frozenset({"PrefetchDataset", "PrefetchDatasetV2"})


@dataclass(frozen=True, slots=True)
class Applied:
    """One change that `optimize` made, or the reason why not."""

    what: str
    value: str
    reason: str
    done: bool = True


@dataclass(frozen=True, slots=True)
class Summary:
    """The stages and options of a dataset; as text it is a table.

    Attributes:
        stages: From the source to the end, as far as TensorFlow tells.
        applied: What `optimize` did and did not do, if the dataset came from it.
        options: The options that were set, as dotted names with values.
        spec: Shapes and dtypes of one element.
        problem: Why the stages are not known, or None.
    """

    stages: tuple[Stage, ...]
    applied: tuple[Applied, ...]
    options: tuple[tuple[str, str], ...]
    spec: str
    problem: str | None

    def __str__(self) -> str:
        lines = ["stage                     parallel  buffer  remarks"]
        lines += [
            f"{stage.name:24}  {stage.parallel:>8}  {stage.buffer:>6}  {stage.remarks}".rstrip()
            for stage in self.stages
        ]
        if self.problem:
            lines.append(f"(stages not known: {self.problem})")
        for name, value in self.options:
            lines.append(f"option {name} = {value}")
        for item in self.applied:
            lines.append(f"{'set ' if item.done else 'not '} {item.what}: {item.value} ({item.reason})")
        lines.append(f"element: {self.spec}")
        return "\n".join(lines)


@dataclass(slots=True)
class _AppliedChanges:
    """The changes made to one dataset, kept as long as the dataset lives."""

    applied: tuple[Applied, ...]
    before_device: Any = None
    device: str | None = None
    device_buffer: int | None = None


_RECORDS: weakref.WeakKeyDictionary[Any, _AppliedChanges] = weakref.WeakKeyDictionary()


def _set_option(options: Any, name: str, value: object, reason: str, applied: list[Applied]) -> None:
    """Set an option of tf.data where TensorFlow has it, and record the outcome."""
    *parents, last = name.split(".")
    holder = options
    for parent in parents:
        holder = getattr(holder, parent, None)
    if holder is None or not hasattr(type(holder), last):
        applied.append(
            Applied(name, str(value), f"TensorFlow {tf.__version__} has no such option", done=False)
        )
        return
    setattr(holder, last, value)
    applied.append(Applied(name, str(value), reason))


def pipeline_options(
    config: Config = None,
    hardware: Hardware | str | None = None,
    *,
    private_threads: int | None = None,
    deterministic: bool | None = None,
) -> tuple[Any, tuple[Applied, ...]]:
    """Return tf.data options that fit the machine, with the reason for each.

    tf.data takes its CPU budget from the affinity and its memory budget from the host's free memory, both blind to
    the limits of a container. Where such a limit is in force, both budgets and a private pool of threads are set;
    elsewhere they are left alone, for there the defaults are right.

    Args:
        config: Concepts or a YAML file.
        hardware: The machine; this one by default.
        private_threads: Threads that belong to this pipeline alone.
        deterministic: Keep the order of elements; False may change it for speed.
    """
    concepts = read_concepts(config)
    machine = resolve_machine(hardware)
    options = tf.data.Options()
    applied: list[Applied] = []
    usable, workers = machine.cpu.usable.value, machine.cpu.workers()
    threads = concepts.whole("private_threads", private_threads)
    if machine.has_quota.value and workers is not None:
        reason = f"{usable:g} CPUs usable ({machine.cpu.limited_by}); tf.data counts by affinity"
        _set_option(options, "autotune.cpu_budget", workers, reason, applied)
        if threads is None:
            _set_option(options, "threading.private_threadpool_size", workers, reason, applied)
    limit, host = machine.memory.total_mib.value, machine.host_ram_mib.value
    left = machine.memory.available_mib.value
    if limit is not None and host is not None and limit < host:
        at_hand = limit if left is None else min(limit, left)
        budget = int(at_hand * RAM_SHARE) << 20
        reason = f"half of the {at_hand:.0f} MiB left ({machine.memory.limited_by}); tf.data sees the host's memory"
        _set_option(options, "autotune.ram_budget", budget, reason, applied)
    if threads is not None:
        place = "argument" if private_threads is not None else concepts.place("private_threads")
        _set_option(options, "threading.private_threadpool_size", threads, place, applied)
    order = concepts.flag("deterministic", deterministic)
    if order is not None:
        place = "argument" if deterministic is not None else concepts.place("deterministic")
        _set_option(options, "deterministic", order, place, applied)
    return options, tuple(applied)


def calls(
    concepts: Concepts, machine: Hardware, workers: int | None = None, *, blocking: bool = False
) -> int:
    """Return the number of parallel calls to use.

    It is the number asked for, at most one for each usable CPU. More calls than CPUs bring no throughput for work
    that computes; they delay the first batch and cost memory. Calls that wait for a disk or a network (`blocking`)
    may be more, but only where the pipeline has as many threads.
    """
    wanted = concepts.whole("workers", workers, least=1, auto=True)
    if wanted is None or wanted == AUTOTUNE:
        return AUTOTUNE
    most = machine.cpu.workers()
    return wanted if blocking or most is None else min(wanted, most)


def optimize(
    dataset: Any,
    config: Config = None,
    hardware: Hardware | str | None = None,
    *,
    cache: bool | str | None = None,
    shuffle_buffer: int | None = None,
    augment: Callable[..., Any] | None = None,
    workers: int | None = None,
    batch_size: int | None = None,
    padded_shapes: Any = None,
    padding_values: Any = None,
    drop_remainder: bool | None = None,
    prefetch: int | None = None,
    batch_bytes: int | None = None,
    device: str | None = None,
    device_buffer: int | None = None,
    service: str | None = None,
    deterministic: bool | None = None,
    private_threads: int | None = None,
    seed: int | None = None,
    batch: bool | None = None,
    length: str | Callable[..., Any] | None = None,
    lengths: Sequence[int] | None = None,
) -> Any:
    """Return a dataset with the stages that a config asks for, in their working order.

    Args:
        dataset: A tf.data.Dataset of single elements, or of batches (then without `batch_size` and `padded_shapes`).
        config: Concepts or a YAML file. Its batch size is used where `padded_shapes` is given or `batch` is true.
        hardware: The machine; this one by default.
        cache: True keeps elements in memory, a text is the path of a cache file. Refused after a random operation or a
            shuffle, whose first pass it would freeze; give the part before them as `dataset`, the rest as `augment` and
            `shuffle_buffer`. In memory only where it is known to fit.
        shuffle_buffer: Elements shuffled among each other, after the cache and in another order every pass.
        augment: A random function of one element, run after cache and shuffle.
        workers: Parallel calls of `augment`; -1: tf.data chooses.
        batch_size: Elements of a batch.
        padded_shapes: Fixed shapes without the batch axis, in the structure of an element.
        padding_values: What to pad with, one value for all or in the structure of an element; converted to the dtypes.
        drop_remainder: Leave out a last, smaller batch; by default yes, for then every shape is fixed.
        prefetch: Batches that wait in host memory; -1: tf.data chooses within its memory budget.
        batch_bytes: Bytes of a batch where its shapes do not tell.
        device: Copy batches to this device ahead of the step, as the last stage; by default `GPU:0` where the config
            asks for it.
        device_buffer: Batches that wait on the device.
        service: Address of a tf.data service dispatcher.
        deterministic: Keep the order of elements.
        private_threads: Threads that belong to this pipeline alone.
        seed: Seed of the shuffle.
        batch: Batch with the config's batch size, without padding.
        length: The component that holds the length of an element, or a function of the element.
        lengths: Batch elements of like length, padded to the next of these, as `batch_by_length` does; None in
            `padded_shapes` stands for the length of the batch.

    Raises:
        CfgfixError: A setting cannot be used, or a cache would freeze what should be random.

    >>> import tensorflow as tf
    >>> data = tf.data.Dataset.range(10).map(lambda x: tf.zeros([x % 3 + 1]))
    >>> ready = optimize(data, {"batch_size": 4, "prefetch": 2}, "cpu,cpus=2,ram=8", padded_shapes=[5])
    >>> ready.element_spec.shape
    TensorShape([4, 5])
    """
    concepts = read_concepts(config)
    machine = resolve_machine(hardware)
    applied: list[Applied] = []
    dataset = _with_cache(dataset, concepts, machine, cache, applied)
    buffer = concepts.whole("shuffle_buffer", shuffle_buffer, least=1)
    if buffer is not None:
        number = concepts.whole("seed", seed)
        dataset = dataset.shuffle(buffer, seed=number, reshuffle_each_iteration=True)
        applied.append(Applied("shuffle", str(buffer), concepts.place("shuffle_buffer", shuffle_buffer)))
    if augment is not None:
        parallel = calls(concepts, machine, workers)
        keep = concepts.flag("deterministic", deterministic)
        dataset = dataset.map(augment, num_parallel_calls=parallel, deterministic=keep)
        applied.append(Applied("augment", parallelism_text(parallel), "after cache and shuffle"))
    elif concepts.raw("workers") is not None or workers is not None:
        applied.append(Applied("workers", "", "there is no function to call here", done=False))
    dataset = _with_batches(
        dataset,
        concepts,
        batch_size,
        padded_shapes,
        padding_values,
        drop_remainder,
        batch,
        (length, lengths),
        applied,
    )
    options, set_here = pipeline_options(
        _selected_concepts(concepts, ("private_threads", "deterministic")),
        machine,
        private_threads=private_threads,
        deterministic=deterministic,
    )
    dataset = dataset.with_options(options)
    applied += set_here
    address = concepts.text("service_address", service)
    if address is not None:
        dataset = distribute(dataset, address, sharding=concepts.text("service_mode") or "dynamic")
        remark = (
            "; each worker leaves out its own last, smaller batch"
            if element_bytes(dataset) is not None
            else ""
        )
        applied.append(
            Applied("tf.data service", address, concepts.place("service_address", service) + remark)
        )
    size = element_bytes(dataset)
    size = batch_bytes if size is None else size
    dataset = _with_prefetch(dataset, concepts, machine, prefetch, size, applied)
    target = _target_device(concepts, device, applied)
    record = _AppliedChanges(())
    if target is not None:
        depth = _device_depth(concepts, machine, target, device_buffer, size, applied)
        record.before_device, record.device, record.device_buffer = dataset, target, depth
        dataset = dataset.apply(tf.data.experimental.prefetch_to_device(f"/{target}", depth))
    record.applied = tuple(applied)
    _RECORDS[dataset] = record
    return dataset


def _selected_concepts(concepts: Concepts, names: Sequence[str]) -> dict[str, Any]:
    """Return the values of some concepts by name, without those that have none."""
    return {name: concepts.raw(name) for name in names if concepts.raw(name) is not None}


def _with_cache(
    dataset: Any, concepts: Concepts, machine: Hardware, argument: bool | str | None, applied: list[Applied]
) -> Any:
    wanted = concepts.raw("cache") if argument is None else argument
    if wanted is None or wanted is False:
        return dataset
    place = concepts.place("cache", argument)
    path = wanted if isinstance(wanted, str) and wanted not in ("memory", "ram") else ""
    if not isinstance(wanted, (bool, str)):
        raise concepts.wrong("cache", "true, false or the path of a cache file")
    found = randomness(dataset)
    if found is not None and found[1] in ("random", "shuffle"):
        fault = Fault.SHUFFLE_CACHED if found[1] == "shuffle" else Fault.RANDOM_CACHED
        raise CfgfixError(
            f"{place}: a cache here would freeze the first pass of the {found[1]} stage {found[0]} ({named(fault)})",
            hint="give the part before it as dataset, the random function as augment=, the shuffle as shuffle_buffer=",
        )
    if found is not None:
        raise CfgfixError(
            f"{place}: it cannot be seen whether {found[0]} is random, for it runs Python; a cache might freeze it",
            hint="cache the dataset yourself where it is not random",
        )
    if path:
        applied.append(
            Applied(
                "cache",
                path,
                f"{place}; delete the file when anything before it changes ({named(Fault.CACHE_FILE_OUTLIVES_CODE)})",
            )
        )
        return dataset.cache(path)
    size, count = element_bytes(dataset), int(dataset.cardinality())
    limit = machine.memory.available_mib.value or machine.memory.total_mib.value
    if size is None or count < 0:
        raise CfgfixError(
            f"{place}: the size of the cache cannot be told from the shapes, so it might fill the memory",
            hint="give the path of a cache file, or cache the dataset yourself",
        )
    if limit is not None and size * count > limit * RAM_SHARE * (1 << 20):
        raise CfgfixError(
            f"{place}: {count} elements of {size} bytes are {size * count / 2**20:.0f} MiB, more than half of the"
            f" {limit:.0f} MiB there are ({named(Fault.CACHE_FILLS_MEMORY)})",
            hint="give the path of a cache file",
        )
    applied.append(Applied("cache", "memory", f"{place}; {size * count / 2**20:.1f} MiB"))
    return dataset.cache()


def _with_batches(
    dataset: Any,
    concepts: Concepts,
    batch_size: int | None,
    shapes: Any,
    padding_values: Any,
    drop_remainder: bool | None,
    batch: bool | None,
    by_length: tuple[str | Callable[..., Any] | None, Sequence[int] | None],
    applied: list[Applied],
) -> Any:
    length, lengths = by_length
    if (length is None) != (lengths is None) or (lengths is not None and shapes is None):
        raise CfgfixError("batches of like length need length=, lengths= and padded_shapes=")
    size = concepts.whole("batch_size", batch_size, least=1)
    if shapes is None and batch_size is None and not batch:
        if size is not None:
            applied.append(
                Applied("batch", str(size), "not asked for: give padded_shapes= or batch=True", done=False)
            )
        return dataset
    if size is None:
        raise CfgfixError("a batch needs batch_size")
    drop = concepts.flag("drop_remainder", drop_remainder)
    if length is not None and lengths is not None:
        drop = bool(drop)
        end = "smaller batches are left out" if drop else "each length ends with a smaller batch"
        place = f"{concepts.place('batch_size', batch_size)}; padded to {', '.join(map(str, lengths))}; {end}"
        applied.append(Applied("batch by length", str(size), place))
        return batch_by_length(
            dataset,
            size,
            shapes,
            length=length,
            lengths=lengths,
            padding_values=padding_values,
            drop_remainder=drop,
        )
    drop = True if drop is None else drop
    place = concepts.place("batch_size", batch_size)
    if shapes is None:
        applied.append(
            Applied(
                "batch",
                str(size),
                f"{place}; {'the last, smaller batch is left out' if drop else 'all elements'}",
            )
        )
        return dataset.batch(size, drop_remainder=drop)
    applied.append(Applied("padded batch", str(size), f"{place}; fixed shapes"))
    return padded_batch_fixed(dataset, size, shapes, padding_values=padding_values, drop_remainder=drop)


def _with_prefetch(
    dataset: Any,
    concepts: Concepts,
    machine: Hardware,
    argument: int | None,
    size: int | None,
    applied: list[Applied],
) -> Any:
    name = (
        "host_buffer"
        if concepts.raw("prefetch") is None and concepts.raw("host_buffer") is not None
        else "prefetch"
    )
    wanted = concepts.whole(name, argument, auto=True)
    place = concepts.place(name, argument) if wanted is not None else "default"
    if wanted is None:
        wanted = AUTOTUNE
    stages = stages_of(graph_of(dataset))
    if stages and stages[-1].name == "Prefetch":
        applied.append(
            Applied("prefetch", stages[-1].buffer, "the dataset already ends with one", done=False)
        )
        return dataset
    if wanted == 0:
        applied.append(
            Applied(
                "prefetch",
                "0",
                f"{place}: a prefetch of 0 costs time and buffers nothing ({named(Fault.PREFETCH_OFF)})",
                done=False,
            )
        )
        return dataset
    memory = machine.memory.total_mib.value
    if wanted != AUTOTUNE and size and memory is not None:
        most = max(1, int(memory * (1 << 20) * HOST_SHARE / size) - IN_FLIGHT)
        if wanted > most:
            place += f"; {wanted} batches of {size / 2**20:.1f} MiB are more than {HOST_SHARE:.0%} of {memory:.0f} MiB ({named(Fault.PREFETCH_FILLS_MEMORY)})"
            wanted = most
    elif wanted != AUTOTUNE and not size:
        place += "; the size of a batch is not known, so memory is not bounded: give batch_bytes"
    applied.append(Applied("prefetch", parallelism_text(wanted), place))
    return dataset.prefetch(wanted)


def _target_device(concepts: Concepts, device: str | None, applied: list[Applied]) -> str | None:
    if device is not None:
        name = device.removeprefix("/").removeprefix("device:")
        names = {item.name.removeprefix("/device:") for item in tf.config.list_logical_devices()}
        if name not in names:
            raise CfgfixError(f"there is no device {device!r}", hint=f"there are: {', '.join(sorted(names))}")
        return name
    if not concepts.flag("device_prefetch"):
        return None
    if not tf.config.list_logical_devices("GPU"):
        place = concepts.place("device_prefetch")
        applied.append(Applied("prefetch to device", "", f"{place}: TensorFlow has no GPU", done=False))
        return None
    return "GPU:0"


def _device_depth(
    concepts: Concepts,
    machine: Hardware,
    target: str,
    argument: int | None,
    size: int | None,
    applied: list[Applied],
) -> int:
    depth = concepts.whole("device_buffer", argument, least=1)
    place = concepts.place("device_buffer", argument)
    if depth is None:
        depth, place = 2, "one for the step, one on its way"
    value = machine.lookup("gpu.min_memory_mib") if target.startswith("GPU") else None
    memory = value.value if value is not None else None
    if size and isinstance(memory, (int, float)):
        most = max(1, int(memory * (1 << 20) * DEVICE_SHARE / size))
        if depth > most:
            place += f"; {depth} batches of {size / 2**20:.1f} MiB are more than {DEVICE_SHARE:.0%} of the GPU ({named(Fault.PREFETCH_FILLS_CARD)})"
            depth = most
    applied.append(Applied(f"prefetch to {target}", str(depth), f"{place}; the last stage"))
    return depth


def parallel_interleave_files(
    files: Sequence[str] | Any,
    read: Callable[[Any], Any] | None = None,
    config: Config = None,
    hardware: Hardware | str | None = None,
    *,
    cycle_length: int | None = None,
    block_length: int = 1,
    workers: int | None = None,
    deterministic: bool | None = None,
    shuffle_files: bool = False,
    seed: int | None = None,
) -> Any:
    """Return the elements of several files, read in parallel and interleaved.

    Args:
        files: Paths, or a dataset of paths.
        read: Makes a dataset of one path; tf.data.TFRecordDataset by default.
        config: Concepts or a YAML file; `workers`, `deterministic` and `seed` are used.
        hardware: The machine; this one by default.
        cycle_length: Files that are open at a time; by default as many as are read in parallel.
        block_length: Elements taken from one file before the next one's turn.
        workers: Files read in parallel, at most `cycle_length`; -1: tf.data chooses.
        deterministic: Keep the order of elements; by default yes.
        shuffle_files: Take the files in another order every pass; with `seed` the same orders in every run.
        seed: Seed of that order.

    Raises:
        CfgfixError: There is no file, or more are to be read in parallel than are open.
    """
    concepts = read_concepts(config)
    machine = resolve_machine(hardware)
    if not isinstance(files, tf.data.Dataset):
        paths = list(files)
        if not paths:
            raise CfgfixError("there is no file to read")
        files = tf.data.Dataset.from_tensor_slices(paths)
        if shuffle_files:
            files = files.shuffle(
                len(paths), seed=concepts.whole("seed", seed), reshuffle_each_iteration=True
            )
    elif shuffle_files:
        raise CfgfixError(
            "shuffle_files needs the list of paths, not a dataset", hint="shuffle the dataset of paths"
        )
    parallel = calls(concepts, machine, workers, blocking=True)
    if cycle_length is not None and parallel > cycle_length:
        raise CfgfixError(
            f"{parallel} files cannot be read in parallel while {cycle_length} are open ({named(Fault.READS_ABOVE_OPEN_FILES)})",
            hint="raise cycle_length",
        )
    keep = concepts.flag("deterministic", deterministic)
    return files.interleave(
        read or tf.data.TFRecordDataset,
        cycle_length=cycle_length if cycle_length is not None else (parallel if parallel > 0 else None),
        block_length=block_length,
        num_parallel_calls=parallel,
        deterministic=True if keep is None else keep,
    )


_OPTIONS = (
    "autotune.enabled",
    "autotune.cpu_budget",
    "autotune.ram_budget",
    "deterministic",
    "threading.private_threadpool_size",
    "threading.max_intra_op_parallelism",
    "experimental_optimization.inject_prefetch",
    "experimental_optimization.map_parallelization",
)


def summarize(dataset: Any) -> Summary:
    """Return the stages and options of a dataset; `str()` of it is a table.

    Args:
        dataset: Any tf.data.Dataset; what `optimize` did is told for a dataset that came from it.

    >>> import tensorflow as tf
    >>> data = tf.data.Dataset.range(8).shuffle(4).batch(2).prefetch(3)
    >>> [(stage.name, stage.buffer) for stage in summarize(data).stages]
    [('Range', ''), ('Shuffle', '4'), ('Batch', '2'), ('Prefetch', '3')]
    """
    record = _RECORDS.get(dataset)
    graph = graph_of(
        record.before_device if record is not None and record.before_device is not None else dataset
    )
    stages = stages_of(graph)
    if record is not None and record.device is not None:
        stages.append(Stage(f"PrefetchTo{record.device}", "", str(record.device_buffer)))
    options = dataset.options()
    shown: list[tuple[str, str]] = []
    for name in _OPTIONS:
        value: Any = options
        for part in name.split("."):
            value = getattr(value, part, None)
        if value is not None:
            shown.append((name, str(value)))
    return Summary(
        tuple(stages),
        record.applied if record is not None else (),
        tuple(shown),
        str(dataset.element_spec),
        graph.problem,
    )


__all__ = [
    "DEVICE_SHARE",
    "HOST_SHARE",
    "IN_FLIGHT",
    "RAM_SHARE",
    "Applied",
    "Stage",
    "Summary",
    "calls",
    "distribute",
    "element_bytes",
    "optimize",
    "parallel_interleave_files",
    "pipeline_options",
    "randomness",
    "summarize",
]
