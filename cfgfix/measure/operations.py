"""What the operations and the layers of a step take, from the trace of TensorFlow's profiler.

Operations bear the name scopes of the layers that made them. The deepest scope that is a layer's name is the layer; what belongs to a
backward pass stands below `gradient_tape`. Times are those of the operations themselves, summed over all threads, so together they can
be longer than the step.
"""

from __future__ import annotations

import glob
import json
import os
import re
import tempfile
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

TOP = 10
"""Operations and layers that are kept."""
BACKWARD = "gradient_tape"
_WRAPPERS = frozenset({"StatefulPartitionedCall", "PartitionedCall", "while", "body", "cond", "then", "else"})
_REPEATED = re.compile(r"_\d+$")


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of the step. Seconds per step."""

    kind: str
    """Such as `MatMul`."""
    name: str
    seconds: float
    share: float
    """Of the time of all operations."""

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, slots=True)
class LayerTime:
    """The time of a layer's operations, or of a scope outside of all layers.

    Seconds per step.
    """

    name: str
    layer: bool
    forward: float
    backward: float
    share: float
    """Of the time of all operations."""

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, slots=True)
class StepOperations:
    """The operations and layers that take most of a step, or why they are not known."""

    operations: tuple[Operation, ...] = ()
    layers: tuple[LayerTime, ...] = ()
    missing: str | None = None

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {
            "operations": [operation.as_dict() for operation in self.operations],
            "layers": [layer.as_dict() for layer in self.layers],
            "missing": self.missing,
        }


def trace_operations(body: Callable[[], object], *, steps: int) -> StepOperations:
    """Run a step several times under the profiler; return the times of its operations."""
    import tensorflow as tf

    try:
        from xprof.convert import raw_to_tool_data
    except ImportError as error:
        return StepOperations(missing=f"the xprof package is not there ({error})")
    with tempfile.TemporaryDirectory() as place:
        with tf.profiler.experimental.Profile(place):
            for step in range(steps):
                with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
                    body()
        files = glob.glob(os.path.join(glob.escape(place), "plugins", "profile", "*", "*.xplane.pb"))
        if not files:
            return StepOperations(missing="the profiler wrote no trace")
        try:
            data, _ = raw_to_tool_data.xspace_to_tool_data(files, "framework_op_stats", {})
            rows = read_rows(json.loads(data), steps)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, RuntimeError) as error:
            return StepOperations(missing=f"xprof could not read the trace ({type(error).__name__}: {error})")
    if not rows:
        return StepOperations(missing="the trace has no operations")
    return StepOperations(tuple(rows[:TOP]), by_layer(rows, layer_names())[:TOP])


def read_rows(tables: Any, steps: int) -> list[Operation]:
    """Return the operations in xprof's table, those that take most first.

    Where a device ran operations, the device's rows are read, not those of the host that started them.
    """
    table = tables[0]
    column = {entry["label"]: place for place, entry in enumerate(table["cols"])}
    found: dict[str, list[tuple[str, str, float]]] = {}
    for row in table["rows"]:
        cells = [cell["v"] for cell in row["c"]]
        kind, name = str(cells[column["Operation Type"]]), str(cells[column["Operation Name"]])
        spent = float(cells[column["Total self-time (us)"]]) / 1e6 / steps
        if kind != "IDLE" and spent > 0:
            found.setdefault(str(cells[column["Host/device"]]), []).append((kind, name, spent))
    rows = found.get("Device") or found.get("Host") or []
    total = sum(spent for _, _, spent in rows)
    made = [
        Operation(_plain_kind(kind), name, spent, spent / total if total else 0.0)
        for kind, name, spent in rows
    ]
    return sorted(made, key=lambda operation: -operation.seconds)


def _plain_kind(kind: str) -> str:
    """Return the type of an operation without the prefix of the library that runs it."""
    return kind.removeprefix("_Mkl").removeprefix("Native").removeprefix("_")


def layer_names() -> frozenset[str]:
    """Return the names of all Keras layers in this process."""
    import gc

    import tensorflow as tf

    kind: Any = tf.keras.layers.Layer
    return frozenset(str(each.name) for each in gc.get_objects() if isinstance(each, kind))


def by_layer(rows: Sequence[Operation], layers: Collection[str]) -> tuple[LayerTime, ...]:
    """Return the operations summed by layer, the layers that take most first.

    Args:
        rows: All operations.
        layers: The names of layers; a scope that is used again has a number at its end.
    """
    found: dict[tuple[str, bool], list[float]] = {}
    for row in rows:
        parts = [part for part in row.name.split("/") if part not in _WRAPPERS]
        backward = BACKWARD in parts
        parts = [part for part in parts if part != BACKWARD]
        scopes = parts[:-1]
        deepest = max((place for place, part in enumerate(scopes) if _is_layer(part, layers)), default=None)
        if deepest is not None:
            key = "/".join(scopes[: deepest + 1]), True
        else:
            key = (scopes[0] if scopes else "outside of all layers"), False
        found.setdefault(key, [0.0, 0.0])[backward] += row.seconds
    total = sum(row.seconds for row in rows) or 1.0
    made = [
        LayerTime(name, layer, forward, back, (forward + back) / total)
        for (name, layer), (forward, back) in found.items()
    ]
    return tuple(sorted(made, key=lambda entry: -entry.share))


def _is_layer(scope: str, layers: Collection[str]) -> bool:
    return scope in layers or (bool(_REPEATED.search(scope)) and _REPEATED.sub("", scope) in layers)
