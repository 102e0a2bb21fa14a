"""The models of `keras.applications`: weights, output shapes and activations by input size, from a table that Keras made.

`tools/make_application_table.py` asks the TensorFlow of its environment and writes the table.
"""

from __future__ import annotations

import bisect
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from cfgfix.code.tensorflow.layers.sizes import UNKNOWN, Inputs, LayerSizes, Shape, UnknownSize, only_input
from cfgfix.core.records import dataclass

TABLE = os.path.join(os.path.dirname(__file__), "applications.json")
_PLAIN = frozenset({"name", "weights", "classifier_activation", "include_preprocessing"})
"""Parameters that change neither sizes nor shapes."""
_KNOWN = frozenset({"include_top", "input_shape", "pooling", "classes"})
_DEFAULTS: Mapping[str, Any] = {
    "alpha": 1.0,
    "depth_multiplier": 1,
    "minimalistic": False,
    "input_tensor": None,
}
"""Parameters that change the model, with the values that leave it as the table has it; `dropout` and its like do not."""


@dataclass(frozen=True, slots=True)
class Row:
    """What the table says of one model, without its top where not said otherwise.

    Attributes:
        side: The height and width of its inputs with the top, where none is given.
        trainable, fixed: Numbers in its weights.
        channels: The last dimension of what it gives.
        reach: Pairs of an input side and the output side from there on, in order; the last pair ends it.
        top: Numbers in the weights of the top: always, for each class, and for each place of the output.
        kept: Elements that it keeps for the backward pass: for each pixel, and always.
        work: The same for those that the backward pass needs at once, besides gradients.
    """

    side: int
    trainable: int
    fixed: int
    channels: int
    reach: tuple[tuple[int, int], ...]
    top: tuple[int, int, int]
    kept: tuple[float, float]
    work: tuple[float, float]

    def output_side(self, side: int) -> int:
        """Return the side of the output for a side of the input.

        Raises:
            UnknownSize: The table does not reach so far.
        """
        place = bisect.bisect_right(self.reach, side, key=lambda pair: pair[0])
        if not 0 < place < len(self.reach):
            raise UnknownSize
        return self.reach[place - 1][1]


@dataclass(frozen=True, slots=True)
class Application:
    """A model of `keras.applications` with its arguments.

    Attributes:
        row: What the table says of it.
        shape: The shape of its inputs that is given; None where none is.
        top: Whether it has its top.
        pooling: `avg`, `max`, or None.
        classes: How many classes its top tells apart.
    """

    row: Row
    shape: Shape | None
    top: bool
    pooling: str | None
    classes: int

    def input_shape(self) -> Shape:
        """Return the shape of the model's inputs."""
        if self.shape is not None:
            return self.shape
        return (self.row.side, self.row.side, 3) if self.top else (None, None, 3)

    def sizes(self, inputs: Inputs) -> LayerSizes:
        """Return the sizes of the model as a layer: outputs, weights and kept elements.

        Raises:
            UnknownSize: That is not known.
        """
        shape = only_input(inputs)
        if len(shape) != 3 or shape[2] != 3:
            raise UnknownSize
        height, width = shape[0], shape[1]
        sides = tuple(None if side is None else self.row.output_side(side) for side in (height, width))
        output: Shape = (*sides, self.row.channels)
        trainable = self.row.trainable
        if self.top:
            always, each, place = self.row.top
            if place and None in sides:
                raise UnknownSize
            places = (sides[0] or 0) * (sides[1] or 0)
            trainable += always + each * self.classes + place * places
            output = (self.classes,)
        elif self.pooling is not None:
            output = (self.row.channels,)
        pixels = float("inf") if height is None or width is None else float(height * width)
        return LayerSizes(
            (output,),
            trainable,
            self.row.fixed,
            for_weights=True,
            extra=_fitted_size(self.row.kept, pixels),
            work=_fitted_size(self.row.work, pixels),
        )


def _fitted_size(terms: Sequence[float], pixels: float) -> float:
    return max(0.0, terms[0] * pixels + terms[1])


def application(name: str, given: Mapping[str, Any]) -> Application:
    """Return a model of `keras.applications` with its arguments.

    Args:
        name: The name of the model, such as `ResNet50`.
        given: Its arguments, by parameter.

    Raises:
        UnknownSize: The table does not have the model, or an argument that counts is not known.
    """
    row = _table_rows().get(name)
    if row is None:
        raise UnknownSize
    for parameter, value in given.items():
        if parameter in _PLAIN or parameter in _KNOWN:
            continue
        if parameter not in _DEFAULTS or value != _DEFAULTS[parameter]:
            raise UnknownSize
    top, pooling = given.get("include_top", True), given.get("pooling")
    classes, shape = given.get("classes", 1000), given.get("input_shape")
    if not isinstance(top, bool) or pooling not in (None, "avg", "max") or shape is UNKNOWN:
        raise UnknownSize
    if type(classes) is not int or classes < 1:
        raise UnknownSize
    sizes: Shape | None = None
    if shape is not None:
        if not isinstance(shape, list) or len(shape) != 3:
            raise UnknownSize
        if not all(size is None or (type(size) is int and size > 0) for size in shape):
            raise UnknownSize
        sizes = tuple(shape)
    return Application(row, sizes, top, pooling, classes)


_ROWS: dict[str, Row] = {}


def _table_rows() -> dict[str, Row]:
    """Return the table, read once."""
    if not _ROWS:
        with open(TABLE, encoding="utf-8") as stream:
            data = json.load(stream)
        for name, entry in data["applications"].items():
            _ROWS[name] = Row(
                entry["side"],
                entry["trainable"],
                entry["fixed"],
                entry["channels"],
                tuple((first, second) for first, second in entry["reach"]),
                tuple(entry["top"]),
                tuple(entry["kept"]),
                tuple(entry["work"]),
            )
    return _ROWS
