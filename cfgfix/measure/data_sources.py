"""Datasets to measure: how one is made anew for every run, also from rows, generators and what Keras loads."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from cfgfix.core.errors import CfgfixError
from cfgfix.measure.sampling import (
    UserCodeError,
    call_with_config,
    load_config,
    load_object,
    user_code,
)

DatasetMaker = Callable[[], Any]


def call_maker(make: DatasetMaker) -> Any:
    """Return the dataset that the user's function makes.

    A `PyDataset` or a generator is made into a dataset.

    Raises:
        CfgfixError: The function returns no dataset.
    """
    dataset = _call_users_function(make)
    if not hasattr(dataset, "element_spec") or not hasattr(dataset, "with_options"):
        raise CfgfixError(
            f"the dataset function returned {type(dataset).__name__}, not a tf.data.Dataset",
            hint="return a tf.data.Dataset, a keras PyDataset or a generator of batches, before it is distributed or iterated",
        )
    return dataset


def _call_users_function(make: DatasetMaker) -> Any:
    """Call the user's function and return its dataset.

    A `PyDataset` or a generator is wrapped as Keras wraps it; any other object is returned as it is.
    """
    made = make()
    rows = _rows_of(make, made)
    return made if rows is None else _from_rows(rows)


def _rows_of(make: DatasetMaker, made: Any) -> Callable[[], Iterator[Any]] | None:
    """Return a function that iterates anew over the batches of a Keras data source.

    The source is a `PyDataset`, a `Sequence` or a generator; None for anything else.
    """
    import inspect

    if is_py_dataset(made):
        return lambda: _items_of(made)
    if inspect.isgenerator(made):
        # One that has ended gives nothing again, so each run asks for a new one.
        return lambda: iter(make())
    return None


def is_py_dataset(made: object) -> bool:
    """Return whether an object is a `PyDataset` or a `Sequence` of Keras."""
    kinds = {kind.__name__ for kind in type(made).__mro__}
    return (
        bool(kinds & {"PyDataset", "Sequence"})
        and hasattr(made, "__getitem__")
        and "keras" in _modules_of(made)
    )


def _items_of(made: Sequence[object]) -> Iterator[object]:
    """Yield the batches of a `PyDataset`, read by as many workers as Keras starts."""
    workers = int(getattr(made, "workers", 1) or 1)
    processes = bool(getattr(made, "use_multiprocessing", False))
    if workers < 2 and not processes:
        for place in range(len(made)):
            yield made[place]
        return
    import multiprocessing
    from multiprocessing.pool import ThreadPool

    pool: Any = multiprocessing.Pool(workers, _keep_made, (made,)) if processes else ThreadPool(workers)
    item = _item_at if processes else made.__getitem__
    ahead = max(int(getattr(made, "max_queue_size", 10) or 10), workers)
    waiting: collections.deque[Any] = collections.deque()
    try:
        for place in range(len(made)):
            waiting.append(pool.apply_async(item, (place,)))
            if len(waiting) > ahead:
                yield waiting.popleft().get()
        while waiting:
            yield waiting.popleft().get()
    finally:
        pool.terminate()


_kept: list[Any] = []
"""In a worker process, what it reads from."""


def _keep_made(made: object) -> None:
    _kept[:] = [made]


def _item_at(place: int) -> object:
    return _kept[0][place]


def _modules_of(made: Any) -> set[str]:
    return {part for kind in type(made).__mro__ for part in kind.__module__.split(".")}


def _from_rows(rows: Callable[[], Iterator[Any]]) -> Any:
    """Return a dataset over the batches of a function, as Keras makes such a dataset.

    Types are those of the first batch; the number of rows is left open.
    """
    import tensorflow as tf

    def plain(batch: Any) -> Any:
        # A list is a tensor to tf.data, and a part of a batch to Keras.
        return tuple(batch) if isinstance(batch, list) else batch

    def spec(part: Any) -> Any:
        value = tf.convert_to_tensor(part)
        return tf.TensorSpec([None, *value.shape[1:]] if value.shape.rank else [], value.dtype)

    with user_code("iterating the dataset"):
        first = next(iter(rows()), None)
        if first is None:
            raise UserCodeError("the dataset gives no batch", hint="is the data folder empty?")
        signature = tf.nest.map_structure(spec, plain(first))
    return tf.data.Dataset.from_generator(
        lambda: (plain(batch) for batch in rows()), output_signature=signature
    ).prefetch(tf.data.AUTOTUNE)


def dataset_maker(options: Mapping[str, Any]) -> tuple[DatasetMaker, str]:
    """Return a function that makes the dataset to measure, and a name for the source.

    The options name the user's function, or a folder for the built-in speech pipeline. Call this only in a child
    process.

    Raises:
        CfgfixError: The options name neither.
    """
    config = load_config(options.get("config"), options.get("config_loader"))
    spec = options.get("dataset")
    if spec:
        named = load_object(spec)
        if not callable(named):
            # The dataset itself: a tf.data.Dataset, a PyDataset.
            return (lambda: _call_users_function(lambda: named)), spec
        return (lambda: _call_users_function(lambda: call_with_config(named, config, spec))), spec
    if options.get("data_path"):
        from cfgfix.measure import speech

        settings = speech.settings_from(options)
        return (
            lambda: speech.make_dataset(options["data_path"], settings)
        ), f"built-in speech pipeline on {options['data_path']}"
    raise CfgfixError(
        "there is nothing to measure",
        hint="name your pipeline with --dataset package.module:function, or a speech folder with --data-path",
    )
