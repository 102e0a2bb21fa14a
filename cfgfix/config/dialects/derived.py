"""Values that follow from what a config says: bytes, frames, limits.

Every function is arithmetic on plain numbers. `DERIVED` names those that rules can use as operands, with what
each of them needs; whoever holds the config and the machine looks the needs up by name and calls the function.
A need that is unknown makes the value unknown. A function raises `TypeError` for something that is no number
(a quoted `"16"`, a bool) and `ValueError` for a number that no such setting can have (a negative count, the
AUTOTUNE marker -1); the caller takes both as unknown, because another rule judges such a value.

Sizes are bytes, unless a name ends in `_mib` (1 MiB = 1,048,576 bytes). TensorFlow's `memory_limit` counts
MiB, although its documentation says MB (`tensorflow/core/common_runtime/gpu/gpu_device.cc` shifts it by 20 bits).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from cfgfix.core.records import dataclass
from cfgfix.rules.expression import optimizer_slots

Number = int | float

MIB = 1 << 20
"""Bytes in a MiB."""

DTYPE_BYTES = {
    "bool": 1,
    "int8": 1,
    "uint8": 1,
    "float16": 2,
    "bfloat16": 2,
    "int16": 2,
    "uint16": 2,
    "float32": 4,
    "int32": 4,
    "uint32": 4,
    "float64": 8,
    "int64": 8,
    "uint64": 8,
    "complex64": 8,
    "complex128": 16,
}
"""Bytes of one element by TensorFlow dtype name (`tf.dtypes.DType.size`, 2.21)."""

WEIGHT_BYTES = 4
"""Keras keeps variables in float32, also under `mixed_float16` and `mixed_bfloat16` (`variable_dtype`, 3.15)."""
GRADIENT_BYTES = 4
"""Gradients have the dtype of their variable."""

PREFETCH_OVERHEAD_BATCHES = 2
"""Batches that exist beside the buffer: the one being consumed and the one being produced.

Measured with batches of 10.24 MB: the process grew by 32 MB for a buffer of 1, 51 MB for 2, 125 MB for 10 and
1,028 MB for 100.
"""

AUTOTUNE_RAM_SHARE = 0.5
"""Share of the free memory that tf.data's autotuner may fill with buffers (`data/ops/options.py`, ram_budget)."""


Component = tuple[str, Sequence[Number], str]
"""One tensor of a batch element: its name, its padded dimensions without the batch axis, its dtype name."""


@dataclass(frozen=True, slots=True)
class Derived:
    """A derived operand.

    `needs` are names of concepts, of `hardware.*` operands, of other derived operands, or `batch_components`
    (the tensors of a batch element, a sequence of `Component` with all dimensions known). The function takes them in this order.
    """

    name: str
    needs: tuple[str, ...]
    function: Callable[..., Number]
    unit: str
    source: str


def _number_of(value: Number, name: str) -> Number:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} is no number")
    if not math.isfinite(value) or value < 0:
        raise ValueError(f"{name} is {value}")
    return value


def element_bytes(components: Sequence[Component]) -> int:
    """Return the bytes of one padded element (F1 without the batch).

    The sum over the tensors of the product of their dimensions times the bytes of their dtype. `padded_batch`
    gives every element this size (`tensorflow/python/data/ops/dataset_ops.py`, padded_batch, 2.21).

    Raises:
        ValueError: There is no tensor, a dimension is negative, or the dtype is not known.
        TypeError: A dimension is no number.
    """
    if not components:
        raise ValueError("no components")
    total = 0.0
    for name, dims, dtype in components:
        size = DTYPE_BYTES.get(dtype)
        if size is None:
            raise ValueError(f"dtype {dtype} is not known")
        count: Number = 1
        for dim in dims:
            count *= _number_of(dim, name)
        total += count * size
    return int(total)


def batch_bytes(batch_size: Number, element: Number) -> Number:
    """Return the bytes of one padded batch (F1): elements times bytes of an element."""
    return _number_of(batch_size, "batch_size") * _number_of(element, "element_bytes")


def padding_waste(lengths: Sequence[Number], longest: Number) -> float:
    """Return the ratio of padded length to real length for padding to `longest` (F2).

    Measured for lengths spread evenly over 40 to 119 and a pad length of 120: about 1.5 times the elements and
    1.1 times the time of a step.

    Raises:
        ValueError: The lengths are empty or all zero, or one is above `longest`.
    """
    content = sum(_number_of(length, "length") for length in lengths)
    if not content or max(lengths) > longest:
        raise ValueError("lengths do not fit")
    return longest * len(lengths) / content


def bucket_waste(lengths: Sequence[Number], width: Number) -> float:
    """Return the ratio of padded length to real length for buckets of `width` (F2).

    Each sequence is padded to the next multiple. Measured: 1.09 for multiples of 16.
    """
    content = sum(_number_of(length, "length") for length in lengths)
    if not content or _number_of(width, "width") < 1:
        raise ValueError("lengths or width do not fit")
    return sum(math.ceil(length / width) * width for length in lengths) / content


def prefetch_host_bytes(buffer: Number, batch: Number) -> Number:
    """Return the host memory of a prefetch buffer in bytes (F3).

    Two batches more than the buffer holds are counted.

    Source: measured, see `PREFETCH_OVERHEAD_BATCHES`.
    """
    return (_number_of(buffer, "prefetch") + PREFETCH_OVERHEAD_BATCHES) * _number_of(batch, "batch_bytes")


def map_bytes(calls: Number, element: Number) -> Number:
    """Return the most host memory that a parallel map holds in flight, in bytes (F4).

    Source: measured with elements of 16 MB: 33 MB for 2 calls, 85 MB for 8, 408 MB for 32.
    """
    return _number_of(calls, "workers") * _number_of(element, "element_bytes")


def shuffle_bytes(buffer: Number, element: Number) -> Number:
    """Return the host memory of a full shuffle buffer in bytes (F5).

    `element` is an element as it is at that point of the pipeline: a path or an index before decoding, the
    decoded sample after it. Source: measured, 1,000 elements of 256 kB took 249 MB.
    """
    return _number_of(buffer, "shuffle_buffer") * _number_of(element, "element_bytes")


def cache_bytes(samples: Number, element: Number) -> Number:
    """Return the host memory of a data set cached in memory, in bytes.

    Every element of one pass is kept.

    Source: TensorFlow's data performance guide; `element` is an element as it is where the cache stands.
    """
    return _number_of(samples, "dataset_size") * _number_of(element, "element_bytes")


def device_prefetch_bytes(buffer: Number, batch: Number) -> Number:
    """Return the device memory that `prefetch_to_device` fills, in bytes (F6).

    It is buffer times batch.

    Source: `tensorflow/python/data/experimental/ops/prefetching_ops.py` (the buffer lives on the device).
    """
    return _number_of(buffer, "device_buffer") * _number_of(batch, "batch_bytes")


def shuffle_latency_seconds(buffer: Number, seconds_per_element: Number) -> float:
    """Return the seconds to fill a shuffle buffer, before the first batch (F7).

    Source: measured, 500 decoded images took 417 ms before the first batch, 48 ms when shuffled undecoded.
    """
    return _number_of(buffer, "shuffle_buffer") * float(_number_of(seconds_per_element, "seconds"))


def step_seconds(producer: Number, consumer: Number, *, overlapped: bool = True) -> float:
    """Return the seconds per step of an input pipeline and a model (F8).

    With prefetch the slower side counts, without prefetch the sum of both.

    Source: measured with 4 ms and 5 ms over 80 steps: 448 ms with prefetch, 825 ms without.
    """
    first, second = float(_number_of(producer, "producer")), float(_number_of(consumer, "consumer"))
    return max(first, second) if overlapped else first + second


def burst_depth(stall: Number, step: Number) -> int:
    """Return the prefetch depth that bridges a stall of the producer (F9).

    Both are in the same unit of time.

    Source: measured with a stall of 31 ms every tenth batch and a step of 5 ms: 10 batches did as well as 100.

    Raises:
        ValueError: The step takes no time.
    """
    if not _number_of(step, "step"):
        raise ValueError("step is 0")
    return max(1, math.ceil(_number_of(stall, "stall") / step))


def useful_workers(cpus: Number) -> int:
    """Return the number of parallel calls that speed up a CPU-bound map (F10).

    That is the number of whole CPUs, at least one.

    Source: measured on 2 CPUs against one call: 2 calls 1.99 times as fast, 8 calls 1.99, 32 calls 1.95.
    """
    return max(1, math.floor(_number_of(cpus, "cpus")))


def model_state_bytes(parameters: Number, optimizer: str) -> Number:
    """Return the bytes of weights, gradients and optimizer state (F11).

    Mixed precision does not change them.

    Per parameter 4 bytes of weight, 4 of gradient and the optimizer's slots (SGD 0, momentum, RMSprop and Lion
    4, Adam and AdamW 8). Source: optimizers of Keras 3.15 built and their variables counted. Exponential
    averages, AMSGrad and gradient accumulation inside the optimizer add 4 bytes each and are not counted.

    Raises:
        cfgfix.rules.expression.Missing: The optimizer is not known.
    """
    return _number_of(parameters, "model_parameters") * (
        WEIGHT_BYTES + GRADIENT_BYTES + optimizer_slots(optimizer)
    )


def activation_bytes(elements: Number, batch_size: Number, *, half: bool = False) -> Number:
    """Return the bytes of activations kept for the backward pass (F13).

    The elements of one sample are kept for each of the batch.

    Two bytes an element with 16-bit compute, else four. Source: TensorFlow's mixed-precision guide.
    """
    return _number_of(elements, "elements") * _number_of(batch_size, "batch_size") * (2 if half else 4)


def is_aligned(size: Number, multiple: int = 8) -> bool:
    """Tell whether a dimension suits tensor cores (F17).

    A multiple of 8 does for 16-bit floats, of 16 for int8.

    Source: TensorFlow's mixed-precision guide.
    """
    return _number_of(size, "size") % multiple == 0


def all_reduce_seconds(parameters: Number, bytes_per_second: Number) -> float:
    """Return the least time to exchange all gradients, in seconds (F18).

    The devices send 4 bytes a parameter.

    Source: TensorFlow's GPU performance guide (gradients travel in float32 also under mixed precision).

    Raises:
        ValueError: The bandwidth is 0.
    """
    if not _number_of(bytes_per_second, "bandwidth"):
        raise ValueError("bandwidth is 0")
    return _number_of(parameters, "parameters") * GRADIENT_BYTES / bytes_per_second


def xla_compile_seconds(shapes: Number, seconds_per_compile: Number) -> float:
    """Return the time XLA spends compiling, in seconds (F19).

    Each distinct shape is compiled once.

    Source: measured, 30 lengths in 40 steps took 7.3 s, one length 0.33 s.
    """
    return float(_number_of(shapes, "shapes") * _number_of(seconds_per_compile, "seconds"))


def xla_pays(steps_per_shape: Number, graph: Number, xla: Number, compile_time: Number) -> bool:
    """Tell whether XLA wins back its compile time (F19), all times in the same unit."""
    saved = _number_of(steps_per_shape, "steps") * (_number_of(graph, "graph") - _number_of(xla, "xla"))
    return saved > _number_of(compile_time, "compile")


def autotune_ram_bytes(available: Number) -> float:
    """Return the bytes that autotuned buffers of tf.data may take (F21).

    They are half of the free host memory.

    Source: `tensorflow/python/data/ops/options.py`, ram_budget. It looks at the host, not at a container's limit.
    """
    return _number_of(available, "available") * AUTOTUNE_RAM_SHARE


def audio_frames(seconds: Number, sample_rate: Number, hop_length: Number) -> int:
    """Return the spectrogram frames of a recording: samples by hop, rounded up.

    As `tf.signal.stft(pad_end=True)` counts them. A centred transform (librosa's default) yields one more when
    the hop divides the samples.

    Raises:
        ValueError: The hop is 0.
    """
    if not _number_of(hop_length, "hop_length"):
        raise ValueError("hop_length is 0")
    return math.ceil(_number_of(seconds, "seconds") * _number_of(sample_rate, "sample_rate") / hop_length)


def frames_seconds(frames: Number, sample_rate: Number, hop_length: Number) -> float:
    """Return the seconds of audio that a number of spectrogram frames covers.

    Raises:
        ValueError: The sample rate is 0.
    """
    if not _number_of(sample_rate, "sample_rate"):
        raise ValueError("sample_rate is 0")
    return _number_of(frames, "frames") * _number_of(hop_length, "hop_length") / sample_rate


def effective_batch(batch_size: Number, accumulation: Number) -> Number:
    """Return the samples per optimizer update under gradient accumulation.

    Gradients are summed over several whole batches.
    """
    return _number_of(batch_size, "batch_size") * _number_of(accumulation, "gradient_accumulation")


def micro_batch(batch_size: Number, accumulation: Number) -> int:
    """Return the samples of one forward pass when a batch is split, at least one.

    Raises:
        ValueError: There is no part.
    """
    if _number_of(accumulation, "gradient_accumulation") < 1:
        raise ValueError("accumulation is below 1")
    return max(1, int(_number_of(batch_size, "batch_size") // accumulation))


def steps_per_epoch(dataset_size: Number, batch_size: Number, *, drop_remainder: bool = False) -> int:
    """Return the number of batches in one pass over the data.

    The last partial batch counts, unless it is dropped.

    Raises:
        ValueError: The batch is empty.
    """
    if _number_of(batch_size, "batch_size") < 1:
        raise ValueError("batch_size is below 1")
    whole = _number_of(dataset_size, "dataset_size") / batch_size
    return math.floor(whole) if drop_remainder else math.ceil(whole)


def _table_by_name(*rows: Derived) -> dict[str, Derived]:
    return {row.name: row for row in rows}


DERIVED: dict[str, Derived] = _table_by_name(
    Derived("element_bytes", ("batch_components",), element_bytes, "bytes", "F1, arithmetic"),
    Derived("batch_bytes", ("batch_size", "element_bytes"), batch_bytes, "bytes", "F1, arithmetic"),
    Derived("prefetch_host_bytes", ("prefetch", "batch_bytes"), prefetch_host_bytes, "bytes", "F3, measured"),
    Derived("map_bytes", ("workers", "element_bytes"), map_bytes, "bytes", "F4, measured"),
    Derived("shuffle_bytes", ("shuffle_buffer", "element_bytes"), shuffle_bytes, "bytes", "F5, measured"),
    Derived("cache_bytes", ("dataset_size", "element_bytes"), cache_bytes, "bytes", "arithmetic"),
    Derived(
        "device_prefetch_bytes",
        ("device_buffer", "batch_bytes"),
        device_prefetch_bytes,
        "bytes",
        "F6, arithmetic",
    ),
    Derived("useful_workers", ("hardware.cpu.usable",), useful_workers, "calls", "F10, measured"),
    Derived("model_state_bytes", ("model_parameters", "optimizer"), model_state_bytes, "bytes", "F11, run"),
    Derived(
        "audio_frames",
        ("max_audio_seconds", "sample_rate", "hop_length"),
        audio_frames,
        "frames",
        "arithmetic",
    ),
    Derived(
        "mel_pad_seconds",
        ("mel_pad_frames", "sample_rate", "hop_length"),
        frames_seconds,
        "seconds",
        "arithmetic",
    ),
    Derived("epoch_batches", ("dataset_size", "batch_size"), steps_per_epoch, "batches", "arithmetic"),
)
"""The derived operands of rules, by name."""
