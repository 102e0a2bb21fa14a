"""How datasets of tf.data are made, transformed and used."""

from __future__ import annotations

from collections.abc import Iterable

from cfgfix.code.inference.flow.run import Run
from cfgfix.code.model.expressions import constant, is_true
from cfgfix.code.model.values import (
    UNKNOWN,
    Dataset,
    Function,
    Instance,
    Items,
    Made,
    Many,
    Site,
    Value,
    alternatives,
    first_dataset,
    functions_of,
)

DATASET = "tensorflow.data.Dataset"
TRANSFORMATIONS = frozenset(
    [
        "apply",
        "batch",
        "bucket_by_sequence_length",
        "cache",
        "concatenate",
        "enumerate",
        "filter",
        "fingerprint",
        "flat_map",
        "group_by_window",
        "ignore_errors",
        "interleave",
        "map",
        "map_with_legacy_function",
        "filter_with_legacy_function",
        "padded_batch",
        "prefetch",
        "ragged_batch",
        "rebatch",
        "rejection_resample",
        "repeat",
        "scan",
        "shard",
        "shuffle",
        "skip",
        "snapshot",
        "sparse_batch",
        "take",
        "take_while",
        "unbatch",
        "unique",
        "window",
        "with_options",
        "zip",
        "as_unbatched",
    ]
)
"""Methods of `tf.data.Dataset` that return a dataset (TensorFlow 2.21, `tensorflow/python/data/ops/dataset_ops.py`)."""
NUMPY_ITERATOR = "iterator.as_numpy"
"""The name of what goes through a dataset and gives arrays."""
_CHOOSING = frozenset({"choose_from_datasets", "sample_from_datasets"})
"""Constructors that take the elements of their first argument in an order that another dataset may give."""
CONSTRUCTORS = frozenset(
    {
        *(
            f"{DATASET}.{name}"
            for name in [
                "choose_from_datasets",
                "counter",
                "from_generator",
                "from_tensor_slices",
                "from_tensors",
                "list_files",
                "load",
                "random",
                "range",
                "sample_from_datasets",
                "zip",
                "from_sparse_tensor_slices",
            ]
        ),
        *(
            f"tensorflow.data.{name}"
            for name in [
                "TFRecordDataset",
                "TextLineDataset",
                "FixedLengthRecordDataset",
                "experimental.CsvDataset",
                "experimental.SqlDataset",
                "experimental.make_csv_dataset",
                "experimental.make_batched_features_dataset",
                "experimental.RandomDataset",
                "experimental.Counter",
                "experimental.sample_from_datasets",
                "experimental.choose_from_datasets",
                "experimental.from_list",
                "experimental.load",
                "experimental.from_variant",
            ]
        ),
        *(
            f"keras.utils.{name}"
            for name in [
                "image_dataset_from_directory",
                "text_dataset_from_directory",
                "audio_dataset_from_directory",
                "timeseries_dataset_from_array",
            ]
        ),
    }
)
"""Calls that make a dataset."""
WITH_FUNCTION = {
    "map": ("map_func", 0),
    "filter": ("predicate", 0),
    "flat_map": ("map_func", 0),
    "interleave": ("map_func", 0),
    "scan": ("scan_func", 1),
    "reduce": ("reduce_func", 1),
    "take_while": ("predicate", 0),
    "group_by_window": ("reduce_func", 1),
    "map_with_legacy_function": ("map_func", 0),
    "filter_with_legacy_function": ("predicate", 0),
    "bucket_by_sequence_length": ("element_length_func", 0),
    "rejection_resample": ("class_func", 0),
}
"""Dataset methods to the name and position of the function they call for each element."""


class Datasets(Run):
    """The part of the runs that follows how datasets are made and changed."""

    def _result_with_datasets(self, site: Site, name: str) -> Value:
        """Note the datasets that a library call gets, and return the call's result."""
        for value in (*site.args, *site.keywords.values()) if site.keywords else site.args:
            if type(value) is Dataset or type(value) is Many:
                dataset = first_dataset(value)
                if dataset is not None:
                    dataset.uses.append((name, site))
        return Made(name, site)

    def _tfds_result(self, site: Site) -> Value:
        """Return the result of `tfds.load`, as far as its arguments tell."""
        split = site.call.keyword("split")
        value = constant(split) if split is not None else None
        data: Value
        if isinstance(value, str):
            data = self._dataset_made(site, "tfds.load")
        elif isinstance(value, (list, tuple)):
            data = Items(tuple(self._dataset_made(site, "tfds.load") for _ in value))
        elif value is None and site.call.argument(1, "split") in (None, split) and not site.call.opaque:
            # All splits, by their names.
            data = Made("tfds.splits", site)
        else:
            return UNKNOWN
        info = site.call.keyword("with_info")
        if info is None:
            return data
        if is_true(info):
            return Items((data, UNKNOWN))
        return UNKNOWN

    def _dataset_made(self, site: Site, op: str) -> Dataset:
        parents: list[Dataset] = []
        values: Iterable[Value] = (*site.args, *site.keywords.values())
        if op in _CHOOSING:
            # The other dataset says from which of these the next element comes: none of its own elements does.
            values = [value for value in (site.argument(0, "datasets"),) if value is not None]
        for value in values:
            for item in value.items if isinstance(value, Items) else (value,):
                dataset = first_dataset(item)
                if dataset is not None:
                    parents.append(dataset)
        functions = self._called_by(site.argument(0, "generator")) if op == "from_generator" else ()
        result = Dataset(op, site, tuple(parents[:16]), functions)
        self.datasets.append(result)
        return result

    def _called_by(self, value: Value | None) -> tuple[Function, ...]:
        """Return the project functions, or `__call__` methods, that a value's call enters."""
        found = list(functions_of(value))
        for item in alternatives(value):
            if type(item) is Instance:
                method = self.program.method(item.scope, "__call__")
                if method is not None:
                    found.append(Function(method, item))
        return tuple(found)

    def _dataset_method(self, site: Site, dataset: Dataset, method: str) -> Value:
        if method not in TRANSFORMATIONS:
            dataset.uses.append((method, site))
            if method == "reduce":
                self._callback_functions(site, method)
            elif method in ("as_numpy_iterator", "make_one_shot_iterator", "__iter__"):
                return Made("iterator" if method == "__iter__" else NUMPY_ITERATOR, site)
            return UNKNOWN
        functions: tuple[Function, ...] = ()
        detail = ""
        parents = [dataset]
        if method == "apply":
            applied = site.argument(0, "transformation_func")
            for item in alternatives(applied):
                if isinstance(item, Made) and item.name.startswith("tensorflow.data."):
                    detail = item.name.rsplit(".", 1)[1]
                elif isinstance(item, Function):
                    site.targets = (*site.targets, item)
                    value = self.enter(item, site, (dataset,), {})
                    found = first_dataset(value)
                    if found is not None:
                        return found
                    detail = "unknown"
            if not detail:
                detail = "unknown"
        else:
            functions = self._callback_functions(site, method)
            if method in ("concatenate", "zip"):
                for value in site.args:
                    other = first_dataset(value)
                    if other is not None:
                        parents.append(other)
        if self.exhausted:
            return UNKNOWN
        result = Dataset(method, site, tuple(parents), functions, detail)
        self.datasets.append(result)
        return result

    def _callback_functions(self, site: Site, method: str) -> tuple[Function, ...]:
        named = WITH_FUNCTION.get(method)
        if named is None:
            return ()
        functions = functions_of(site.argument(named[1], named[0]))
        for function in functions:
            self._run_where_made(function, site)
        return functions
