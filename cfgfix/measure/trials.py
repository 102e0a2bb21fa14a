"""What `diagnose` tries in a child process: every device, the user's loader, and the user's step as a graph and with XLA.

Each trial ends in plain data. A failure of a device or of a compilation is a result; a failure of the user's own code is
a `UserCodeError`, as everywhere in this package.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from cfgfix.core.wording import cause_line
from cfgfix.measure.data_sources import dataset_maker
from cfgfix.measure.dataset_graph import Node, normal, read_graph
from cfgfix.measure.sampling import Progress, user_code

MATRIX = 256
"""Side of the matrices that are multiplied on each device: large enough for the matrix units, small on any card."""
TOLERANCE = 1e-3
"""Relative error that the product may have: TF32 and other fast modes keep ten bits of mantissa (2**-10)."""


def devices_job(_options: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Multiply two matrices on every device; return the errors against NumPy.

    The answer also says what this TensorFlow was built for.
    """
    import numpy as np
    import tensorflow as tf

    build = dict(tf.sysconfig.get_build_info())
    found = []
    generator = np.random.default_rng(0)
    left, right = (generator.standard_normal((MATRIX, MATRIX)).astype(np.float32) for _ in range(2))
    wanted = left @ right
    logical = [
        device for device in tf.config.list_logical_devices() if device.device_type in ("CPU", "GPU", "TPU")
    ]
    tf.config.set_soft_device_placement(False)
    for number, device in enumerate(logical):
        progress("multiplying on every device", number / len(logical))
        entry: dict[str, Any] = {"name": device.name.removeprefix("/device:"), "error": None}
        start = time.perf_counter()
        try:
            with tf.device(device.name):
                product = tf.linalg.matmul(tf.constant(left), tf.constant(right)).numpy()
        except Exception as error:  # noqa: BLE001 - whatever a device does is its result
            entry["error"] = cause_line(error)
        else:
            entry["seconds"] = time.perf_counter() - start
            entry["relative_error"] = float(np.abs(product - wanted).max() / np.abs(wanted).max())
        found.append(entry)
    details = []
    for device in tf.config.list_physical_devices("GPU"):
        facts = tf.config.experimental.get_device_details(device)
        capability = facts.get("compute_capability")
        details.append(
            {
                "name": device.name.removeprefix("/physical_device:"),
                "model": facts.get("device_name"),
                "compute_capability": list(capability) if capability else None,
            }
        )
    return {
        "tensorflow": tf.__version__,
        "built_with_cuda": bool(tf.test.is_built_with_cuda()),
        "cuda": build.get("cuda_version"),
        "cudnn": build.get("cudnn_version"),
        "built_capabilities": [str(item) for item in build.get("cuda_compute_capabilities", ())],
        "devices": found,
        "gpus": details,
    }


def loader_job(options: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Take batches from the user's pipeline and check them against its element spec."""
    import tensorflow as tf

    make, source = dataset_maker(options)
    wanted = int(options.get("batches", 5))
    start = time.perf_counter()
    with user_code("making the dataset"):
        dataset = make()
    spec = dataset.element_spec
    names = [_path_name(path) for path, _ in _flat_parts(spec)]
    promised = [entry for _, entry in _flat_parts(spec)]
    problems: list[str] = []
    shapes: dict[str, set[str]] = {name: set() for name in names}
    taken, first = 0, None
    with user_code("iterating the dataset"):
        for element in dataset.take(wanted):
            if first is None:
                first = time.perf_counter() - start
            taken += 1
            progress("taking batches", taken / wanted)
            for name, promise, (_, value) in zip(names, promised, _flat_parts(element), strict=True):
                if hasattr(value, "shape") and not isinstance(value, tf.RaggedTensor):
                    shapes[name].add(str(tuple(value.shape)))
                if hasattr(promise, "is_compatible_with") and not promise.is_compatible_with(value):
                    problems.append(f"{name} of batch {taken} is {value!r:.200}, promised is {promise}")
                problems += _unusable_lines(tf, name, taken, value)
    if not taken:
        problems.append("the pipeline gives no batch at all")
    open_shapes = [
        name
        for name, promise in zip(names, promised, strict=True)
        if getattr(promise, "shape", None) is not None and not promise.shape.is_fully_defined()
    ]
    return {
        "source": source,
        "taken": taken,
        "first": first,
        "problems": list(dict.fromkeys(problems))[:20],
        "shapes": {name: sorted(found) for name, found in shapes.items()},
        "open_shapes": open_shapes,
        "batchings": batchings(read_graph(dataset)),
    }


def batchings(last: Node | None) -> int:
    """Return the number of batch stages at the end of a pipeline.

    Stages before one that takes batches apart do not count. Two make batches of batches.
    """
    count = 0
    while last is not None and normal(last.operation) not in _TAKES_APART:
        count += normal(last.operation) in _BATCHES
        # The first input is the dataset a step works on; zip and its like have several, and each has batches of its own.
        last = last.inputs[0] if len(last.inputs) == 1 else None
    return count


_BATCHES = frozenset({"batch", "parallelbatch", "paddedbatch", "mapandbatch", "densetosparsebatch"})
_TAKES_APART = frozenset({"unbatch", "flatmap", "interleave", "parallelinterleave", "window", "rebatch"})


def _unusable_lines(tf: Any, name: str, number: int, value: Any) -> list[str]:
    """Return a line on a batch that is empty or holds infinities or NaN.

    No line for a usable batch.
    """
    dense = getattr(value, "dtype", None) is not None and isinstance(value, tf.Tensor)
    if not dense:
        return []
    if 0 in tuple(value.shape):
        return [f"{name} of batch {number} is empty: its shape is {tuple(value.shape)}"]
    if value.dtype.is_floating and not bool(tf.reduce_all(tf.math.is_finite(value))):
        return [f"{name} of batch {number} holds infinities or values that are not numbers"]
    return []


def _flat_parts(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[tuple[Any, ...], Any]]:
    if isinstance(value, Mapping):
        return [item for key in sorted(value, key=str) for item in _flat_parts(value[key], (*path, key))]
    if isinstance(value, tuple) and not hasattr(value, "shape"):
        return [item for index, entry in enumerate(value) for item in _flat_parts(entry, (*path, index))]
    return [(path, value)]


def _path_name(path: tuple[Any, ...]) -> str:
    if not path:
        return "element"
    name = ".".join(map(str, path))
    return f"component {name}" if isinstance(path[0], int) else name


def step_job(options: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Run the user's step as a graph and compiled by XLA; return how each went.

    The settings that TensorFlow has in force afterwards are returned, too.
    """
    import tensorflow as tf

    from cfgfix.measure.sampling import UserCodeError
    from cfgfix.measure.step import time_in_turn, timed
    from cfgfix.measure.step_subject import step_maker, subject_of

    make_step, source = step_maker(options)
    make_dataset, _ = dataset_maker(options)
    with user_code("iterating the dataset"):
        batch = next(iter(make_dataset().repeat()))
    progress("compiling the step", 0.0)
    subject = subject_of(make_step, source, batch)
    with user_code("running the step"):
        subject.whole(batch)
        subject.whole(batch)
        times = time_in_turn({"step": lambda: timed(subject.whole, batch)}, rounds=9, seconds=5.0)["step"]
    outcomes: dict[str, str | None] = {}
    for number, (name, xla) in enumerate((("graph", None), ("xla", True))):
        progress("compiling the step", (1 + number) / 3)
        try:
            with user_code("running the step"):
                subject.rebuild(xla)(batch)
        except UserCodeError as error:
            outcomes[name] = f"{error.message}\n{error.trace}".strip()[:4000]
        else:
            outcomes[name] = None
    keras = tf.keras
    gpus = tf.config.list_physical_devices("GPU")
    memory = []
    for device in gpus:
        try:
            limits = [
                entry.memory_limit for entry in tf.config.get_logical_device_configuration(device) or ()
            ]
        except (RuntimeError, ValueError):
            limits = []
        try:
            growth = tf.config.experimental.get_memory_growth(device)
        except (RuntimeError, ValueError):
            growth = None
        memory.append(
            {"name": device.name.removeprefix("/physical_device:"), "growth": growth, "limits_mib": limits}
        )
    return {
        "source": source,
        "outcomes": outcomes,
        "step_seconds": sorted(float(value) for value in times)[len(times) // 2],
        "memory": memory,
        "policy": keras.mixed_precision.global_policy().name,
        "jit": str(tf.config.optimizer.get_jit() or "off"),
        "eager": bool(tf.config.functions_run_eagerly()),
        "inter_op": tf.config.threading.get_inter_op_parallelism_threads(),
        "intra_op": tf.config.threading.get_intra_op_parallelism_threads(),
        "devices": [
            device.name.removeprefix("/physical_device:") for device in tf.config.list_physical_devices()
        ],
    }


__all__ = ["devices_job", "loader_job", "step_job"]
