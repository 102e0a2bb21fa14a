"""See the batches of a `for` over a dataset inside a `tf.function`: TensorFlow runs such a loop with no Python between.

AutoGraph looks up in a registry what makes such a loop. While an observation is on, the entries for datasets and iterators put a
call of Python before and behind the loop's body; it takes some hundred microseconds. Tried with TensorFlow 2.21.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cfgfix.measure.batches import rows_in, shape_number
from cfgfix.measure.stacks import is_users

if TYPE_CHECKING:
    import tensorflow as tf

Body = Callable[[Any], None]
Loop = Callable[..., None]
BatchCome = Callable[[int, int], None]
"""Called with the rows and the number of the shapes of a batch."""


@dataclass(frozen=True, slots=True)
class Watch:
    """The functions to call before and behind the body in each turn of a loop."""

    come: BatchCome
    """Before the body."""
    done: Callable[[], None]
    """Behind the body."""


def replace_loops(make_watch: Callable[[tf.data.Dataset, str], Watch | None]) -> Callable[[], None]:
    """Make loops that are traced from now on call a watch; return the undo function.

    Args:
        make_watch: Takes the dataset and the place of a loop and returns its watch, or None to leave the loop alone.
    """
    try:
        from tensorflow.python.autograph.operators import control_flow

        registry = control_flow.for_loop_registry._registry  # noqa: SLF001 - there is no public way to replace an entry
        plain = {kind: made for kind, made in registry.items() if _takes_batches(kind)}
        functions = vars(control_flow)
        distributed = {name: functions[name] for name in _DISTRIBUTED if name in functions}
    except (ImportError, AttributeError):
        return lambda: None
    registry.update({kind: _watched_loop(made, make_watch) for kind, made in plain.items()})
    functions.update({name: _watched_loop(made, make_watch) for name, made in distributed.items()})

    def undo() -> None:
        registry.update(plain)
        functions.update(distributed)

    return undo


_DISTRIBUTED = ("_tf_iterator_for_stmt", "_tf_distributed_iterable_for_stmt")
"""What AutoGraph makes loops over a strategy's iterators and datasets with, which stand in no registry."""


def _takes_batches(kind: object) -> bool:
    import tensorflow as tf

    return isinstance(kind, type) and (
        issubclass(kind, tf.data.Dataset) or issubclass(kind, tf.data.Iterator)
    )


def _watched_loop(plain: Loop, make_watch: Callable[[tf.data.Dataset, str], Watch | None]) -> Loop:
    def loop(source: tf.data.Dataset, test: object, body: Body, *rest: object) -> None:
        watch = make_watch(source, loop_place())
        if watch is None:
            plain(source, test, body, *rest)
        else:
            plain(source, test, lambda element: _turn_between_calls(body, element, watch), *rest)

    return loop


def _turn_between_calls(body: Body, element: object, watch: Watch) -> None:
    """Run a loop's body between two calls of Python."""
    import tensorflow as tf

    graph = tf.compat.v1.get_default_graph()
    parts = [
        part
        for part in tf.nest.flatten(element, expand_composites=True)
        if tf.is_tensor(part) and part.dtype != tf.variant
    ]
    with tf.control_dependencies(parts):
        come = tf.numpy_function(
            _quiet_call(watch.come), [rows_in(element), tf.cast(shape_number(element), tf.int64)], []
        )
    before = len(graph.get_operations())
    with tf.control_dependencies([getattr(come, "op", come)]):
        body(element)
    with tf.control_dependencies(list(_last_of(graph.get_operations()[before:]))):
        tf.numpy_function(watch.done, [], [])


def _quiet_call(call: BatchCome) -> BatchCome:
    return lambda rows, shape: call(int(rows), int(shape))


def _last_of(operations: list[tf.Operation]) -> Iterator[tf.Operation]:
    """Return the operations whose results no other operation of the list uses."""
    waited = {entry.op for one in operations for entry in one.inputs}
    waited |= {entry for one in operations for entry in one.control_inputs}
    return (one for one in operations if one not in waited)


def loop_place() -> str:
    """Return the place in the user's code that is being traced."""
    import tensorflow as tf

    stack = tf.constant(0).op.traceback or ()
    return next(
        (f"{frame.filename}:{frame.lineno}" for frame in reversed(stack) if is_users(frame.filename)), "?"
    )


__all__ = ["Watch", "loop_place", "replace_loops"]
