"""The elements of datasets in a run: what their tensors look like, and how many there are."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

from cfgfix.code.inference.interpreter.objects import (
    UNKNOWN,
    External,
    FunctionObject,
    Instance,
    Made,
    Mapping,
    Scalar,
    Sequence,
    Value,
)
from cfgfix.code.inference.interpreter.run import Call
from cfgfix.code.inference.networks.arguments import by_parameter, last_name
from cfgfix.code.inference.networks.arrays import plain
from cfgfix.code.inference.networks.tensors import Bound, Tensor
from cfgfix.code.tensorflow.api import Api
from cfgfix.core.records import dataclass, replace

ELEMENT = "cfgfix.element"
"""What the name of a tensor begins with that no call of the program makes, such as a part of an element."""
_DATASET = "tensorflow.data.Dataset."
_SAME = frozenset(
    {"shuffle", "prefetch", "cache", "with_options", "skip", "take", "filter", "repeat", "shard", "options", "as_numpy_iterator",
     "snapshot", "ignore_errors", "prefetch_to_device", "copy_to_device", "experimental_distribute_dataset", "enumerate_none"}
)  # fmt: skip
"""Methods that change no element."""
_MODES = {"grayscale": 1, "rgb": 3, "rgba": 4}
_SIDE = 256
_READERS = "keras.utils.image_dataset_from_directory", "keras.preprocessing.image_dataset_from_directory"
_TEXTS = "keras.utils.text_dataset_from_directory", "keras.preprocessing.text_dataset_from_directory"
_SERIES = "keras.utils.timeseries_dataset_from_array", "keras.preprocessing.timeseries_dataset_from_array"
_GENERATOR = "keras.preprocessing.image.ImageDataGenerator"
MAX_DEPTH = 6


class Known(Protocol):
    """What is known of the values of a run."""

    api: Api

    def tensor(self, value: Value | None) -> Tensor | None:
        """Return what is known of a tensor; None for nothing."""

    def leaf(self, tensor: Tensor | None, made: Made) -> Value:
        """Return a value that stands for a tensor."""


@dataclass(frozen=True, slots=True)
class Elements:
    """What a dataset gives.

    Attributes:
        each: One element: a tensor, or a tuple or dictionary of such.
        count: How many there are; None where that is not known.
        endless: Whether they never end.
        batch: How many samples one of them holds; None where it holds one.
        batched: The call that makes batches.
    """

    each: Value
    count: int | None = None
    endless: bool = False
    batch: int | None = None
    batched: Made | None = None


def each_tensor(value: Value, change: Callable[[Value], Value], depth: int = MAX_DEPTH) -> Value:
    """Return an element with each of its tensors changed."""
    if isinstance(value, Sequence) and value.kind in ("tuple", "list") and depth:
        return Sequence(
            [each_tensor(item, change, depth - 1) for item in value.items], open=value.open, kind=value.kind
        )
    if isinstance(value, Mapping) and depth:
        return Mapping(
            {name: each_tensor(item, change, depth - 1) for name, item in value.entries.items()},
            open=value.open,
        )
    return change(value)


class Datasets:
    """Works out the elements of datasets from the calls that make them.

    Args:
        known: Tells what is known of other values.
    """

    def __init__(self, known: Known) -> None:
        self.known = known
        self._found: dict[int, Elements | None] = {}

    def of(self, value: Value | None) -> Elements | None:
        """Return the elements of a dataset; None for anything else."""
        return self._found.get(id(value)) if isinstance(value, Made) else None

    def note(self, made: Made, call: Call) -> Elements | None:
        """Note a call of a library, and return the elements of the dataset that it makes."""
        found = self._made_by(made, call)
        if found is not None:
            self._found[id(made)] = found
        return found

    def _made_by(self, made: Made, call: Call) -> Elements | None:
        last, name = last_name(made.name), made.name
        before = self.of(made.receiver)
        if before is not None:
            return self._elements_after_step(made, call, before, last)
        if last == "from_tensor_slices" and made.args:
            return self._slices_of_arrays(made, made.args[0])
        if name == f"{_DATASET}from_tensors" and made.args:
            return Elements(self._copied_elements(made, made.args[0]), 1)
        if name == f"{_DATASET}from_generator":
            return self._of_generator(made)
        if name == f"{_DATASET}range":
            counted = [plain(item) for item in made.args]
            count = counted[0] if len(counted) == 1 and type(counted[0]) is int else None
            bound = Bound(count, made) if count else None
            return Elements(self.known.leaf(Tensor((), made, bound), made), count)
        if name == f"{_DATASET}list_files" or last in ("TFRecordDataset", "TextLineDataset"):
            return Elements(self.known.leaf(Tensor((), made), made))
        if name == f"{_DATASET}zip" and made.args:
            return self._zipped_elements(made)
        if name in _READERS:
            return self._picture_elements(made)
        if name in _TEXTS:
            return self._text_elements(made)
        if name in _SERIES:
            return self._series(made)
        if name.startswith(_GENERATOR):
            return self._generated_elements(made, last)
        return None

    # Sources

    def _copied_elements(self, made: Made, value: Value) -> Value:
        def copy(item: Value) -> Value:
            found = self.known.tensor(item)
            return self.known.leaf(found, made) if found is not None else UNKNOWN

        return self._changed_components(value, copy)

    def _changed_components(
        self, value: Value, change: Callable[[Value], Value], depth: int = MAX_DEPTH
    ) -> Value:
        """Return the tensors of an argument that holds an element, changed.

        A list is one tensor.
        """
        if not depth:
            return UNKNOWN
        if isinstance(value, Sequence) and value.kind == "tuple" and not value.open:
            return Sequence(
                [self._changed_components(item, change, depth - 1) for item in value.items], kind="tuple"
            )
        if isinstance(value, Mapping) and not value.open:
            return Mapping(
                {
                    name: self._changed_components(item, change, depth - 1)
                    for name, item in value.entries.items()
                }
            )
        return change(value)

    def _slices_of_arrays(self, made: Made, value: Value) -> Elements:
        counts: list[int] = []

        def row(item: Value) -> Value:
            found = self.known.tensor(item)
            if found is None or not found.shape:
                return UNKNOWN
            if found.shape[0] is not None:
                counts.append(found.shape[0])
            return self.known.leaf(replace(found, shape=found.shape[1:]), made)

        each = self._changed_components(value, row)
        return Elements(each, counts[0] if counts else None)

    def _of_generator(self, made: Made) -> Elements:
        signature = made.keywords.get("output_signature")

        def declared(item: Value) -> Value:
            if isinstance(item, Made) and last_name(item.name) == "TensorSpec":
                sizes = plain(item.args[0] if item.args else item.keywords.get("shape"))
                if isinstance(sizes, list):
                    shape = tuple(size if type(size) is int else None for size in sizes)
                    return self.known.leaf(Tensor(shape, item), made)
            return UNKNOWN

        return Elements(self._changed_components(signature, declared) if signature is not None else UNKNOWN)

    def _zipped_elements(self, made: Made) -> Elements:
        given = made.args if len(made.args) > 1 else made.args[0]
        counts: list[int | None] = []

        def one(item: Value) -> Value:
            found = self.of(item)
            counts.append(found.count if found is not None and not found.endless else None)
            return found.each if found is not None else UNKNOWN

        listed = Sequence(list(given), kind="tuple") if isinstance(given, tuple) else given
        each = self._changed_components(listed, one)
        known = [count for count in counts if count is not None]
        return Elements(each, min(known) if known and len(known) == len(counts) else None)

    def _arguments_given(self, made: Made) -> dict[str, Value]:
        return by_parameter(made, self.known.api, made.name)

    def _picture_elements(self, made: Made) -> Elements | None:
        given = self._arguments_given(made)
        size = plain(given["image_size"]) if "image_size" in given else [_SIDE, _SIDE]
        mode = plain(given["color_mode"]) if "color_mode" in given else "rgb"
        sides = size if isinstance(size, list) and len(size) == 2 else [None, None]
        channels = _MODES.get(mode) if isinstance(mode, str) else None
        shape = (*(side if type(side) is int else None for side in sides), channels)
        return self._from_folder(made, given, Tensor(shape, made))

    def _text_elements(self, made: Made) -> Elements | None:
        return self._from_folder(made, self._arguments_given(made), Tensor((), made))

    def _from_folder(self, made: Made, given: dict[str, Value], sample: Tensor) -> Elements | None:
        if made.spread is not None and made.spread.open:
            return None
        size = plain(given["batch_size"]) if "batch_size" in given else 32
        labels = self._labels_of_folder(made, given)
        batched = "batch_size" not in given or not _is_none(given["batch_size"])
        front = (None,) if batched else ()
        first = self.known.leaf(replace(sample, shape=(*front, *sample.shape)), made)
        batch = size if type(size) is int else None
        if labels is None:
            return Elements(first, None, batch=batch, batched=made if batched else None)
        second = (
            self.known.leaf(replace(labels, shape=(*front, *labels.shape)), made)
            if isinstance(labels, Tensor)
            else UNKNOWN
        )
        each = Sequence([first, second], kind="tuple")
        return Elements(each, None, batch=batch, batched=made if batched else None)

    def _labels_of_folder(self, made: Made, given: dict[str, Value]) -> Tensor | bool | None:
        """Return the labels of one sample; None where there are none, True where they are not known."""
        if "labels" in given and _is_none(given["labels"]):
            return None
        mode = plain(given["label_mode"]) if "label_mode" in given else "int"
        named = given.get("class_names")
        count = len(named.items) if isinstance(named, Sequence) and not named.open else None
        bound = Bound(count, made) if count else None
        if mode == "int":
            return Tensor((), made, bound)
        if mode == "categorical":
            return Tensor((count,), made, one_hot=True)
        if mode == "binary":
            return Tensor((1,), made)
        if "label_mode" in given and _is_none(given["label_mode"]):
            return None
        return True

    def _series(self, made: Made) -> Elements:
        given = self._arguments_given(made)
        length = plain(given.get("sequence_length"))
        size = plain(given["batch_size"]) if "batch_size" in given else 128
        data, targets = self.known.tensor(given.get("data")), self.known.tensor(given.get("targets"))
        steps = length if type(length) is int else None
        front = (None,) if type(size) is int else ()
        first: Value = (
            self.known.leaf(Tensor((*front, steps, *data.shape[1:]), made), made)
            if data is not None and data.shape
            else UNKNOWN
        )
        if "targets" not in given or _is_none(given["targets"]):
            each = first
        else:
            second: Value = (
                self.known.leaf(replace(targets, shape=(*front, *targets.shape[1:])), made)
                if targets is not None
                else UNKNOWN
            )
            each = Sequence([first, second], kind="tuple")
        return Elements(
            each, None, batch=size if type(size) is int else None, batched=made if front else None
        )

    def _generated_elements(self, made: Made, last: str) -> Elements | None:
        if last not in ("flow_from_directory", "flow_from_dataframe"):
            return None
        given = made.keywords
        size = plain(given["target_size"]) if "target_size" in given else [_SIDE, _SIDE]
        if "target_size" not in given and len(made.args) > 1:
            size = plain(made.args[1]) if last == "flow_from_directory" else None
        mode = plain(given["color_mode"]) if "color_mode" in given else "rgb"
        sides = size if isinstance(size, list) and len(size) == 2 else [None, None]
        channels = _MODES.get(mode) if isinstance(mode, str) else None
        classes = given.get("classes")
        count = len(classes.items) if isinstance(classes, Sequence) and not classes.open else None
        kind = plain(given["class_mode"]) if "class_mode" in given else "categorical"
        first = self.known.leaf(Tensor((None, *sides, channels), made), made)
        label: Value = UNKNOWN
        if kind == "categorical":
            label = self.known.leaf(Tensor((None, count), made, one_hot=True), made)
        elif kind == "binary":
            label = self.known.leaf(Tensor((None,), made, Bound(2, made)), made)
        elif kind == "sparse":
            label = self.known.leaf(Tensor((None,), made, Bound(count, made) if count else None), made)
        elif kind == "input":
            label = self.known.leaf(Tensor((None, *sides, channels), made), made)
        elif "class_mode" in given and _is_none(given["class_mode"]):
            return Elements(first, None, endless=True, batched=made)
        return Elements(Sequence([first, label], kind="tuple"), None, endless=True, batched=made)

    # Steps

    def _elements_after_step(self, made: Made, call: Call, before: Elements, last: str) -> Elements | None:
        if last in _SAME:
            return self._counted_elements(made, before, last)
        if last == "map":
            return replace(before, each=self._mapped_value(made, call, before.each))
        if last in ("batch", "padded_batch", "ragged_batch"):
            return self._batched_elements(made, before, last)
        if last == "unbatch":
            return Elements(each_tensor(before.each, lambda item: self._without_front(item, made)))
        if last == "apply" and made.args and isinstance(made.args[0], FunctionObject):
            value = call.then(made.args[0], (made.receiver or UNKNOWN,))
            return self.of(value)
        if last == "zip" and made.args:
            return None
        if last == "concatenate":
            return replace(before, count=None)
        return None

    def _counted_elements(self, made: Made, before: Elements, last: str) -> Elements:
        number = plain(made.args[0] if made.args else made.keywords.get("count"))
        if last == "repeat":
            if not made.args and not made.keywords:
                return replace(before, endless=True, count=None)
            if type(number) is int and number > 0 and before.count is not None:
                return replace(before, count=before.count * number)
            return replace(before, endless=type(number) is not int or number < 0, count=None)
        if last == "take":
            if type(number) is not int or number < 0:
                return replace(before, count=None, endless=False)
            count = min(number, before.count) if before.count is not None else (number if before.endless else None)  # fmt: skip
            return replace(before, count=count, endless=False)
        if last == "skip" and before.count is not None:
            left = max(0, before.count - number) if type(number) is int and number >= 0 else None
            return replace(before, count=left)
        if last in ("filter", "shard", "ignore_errors"):
            return replace(before, count=None)
        return before

    def _mapped_value(self, made: Made, call: Call, each: Value) -> Value:
        function = made.args[0] if made.args else made.keywords.get("map_func")
        if not isinstance(function, (FunctionObject, Made, Instance, External)):
            return UNKNOWN
        args = tuple(each.items) if isinstance(each, Sequence) and each.kind == "tuple" else (each,)
        if isinstance(function, External) and not function.name.startswith(("tensorflow.", "keras.")):
            return UNKNOWN
        made_of = call.then(function, args)
        return made_of if isinstance(made_of, (Made, Sequence, Mapping)) else UNKNOWN

    def _batched_elements(self, made: Made, before: Elements, last: str) -> Elements:
        size = plain(made.args[0] if made.args else made.keywords.get("batch_size"))
        place = 2 if last == "padded_batch" else 1
        given = made.keywords.get("drop_remainder") or (made.args[place] if len(made.args) > place else None)
        dropped = plain(given) if given is not None else False
        count = None
        if type(size) is int and size > 0 and before.count is not None and type(dropped) is bool:
            count = before.count // size if dropped else math.ceil(before.count / size)
        front = size if dropped is True and type(size) is int else None
        padded = plain(made.keywords.get("padded_shapes")) if last == "padded_batch" else None

        def longer(item: Value) -> Value:
            found = self.known.tensor(item)
            if found is None:
                return UNKNOWN
            inner = found.shape
            if last == "padded_batch" and (padded is not None or None in inner):
                inner = tuple(None for _ in inner)
            return self.known.leaf(replace(found, shape=(front, *inner)), made)

        batch = size if type(size) is int and size > 0 else None
        return Elements(each_tensor(before.each, longer), count, before.endless, batch, made)

    def _without_front(self, item: Value, made: Made) -> Value:
        found = self.known.tensor(item)
        if found is None or not found.shape:
            return UNKNOWN
        return self.known.leaf(replace(found, shape=found.shape[1:]), made)


def _is_none(value: Value) -> bool:
    return isinstance(value, Scalar) and value.value is None
