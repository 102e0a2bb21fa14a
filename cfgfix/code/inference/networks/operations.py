"""Functions and operators on a model's tensors, as layers that compute the same."""

from __future__ import annotations

from cfgfix.code.inference.interpreter.objects import Made, Scalar, Sequence, Value
from cfgfix.code.inference.networks.arguments import by_parameter, plain_data
from cfgfix.code.tensorflow.api import Api
from cfgfix.code.tensorflow.layers.activations import ACTIVATIONS
from cfgfix.code.tensorflow.layers.core import reshaped
from cfgfix.code.tensorflow.layers.sizes import (
    Arguments,
    Inputs,
    Layer,
    LayerSizes,
    UnknownSize,
    known_elements,
    only_input,
)
from cfgfix.core.records import dataclass

OPERATOR = "operator."
"""What the names of operators between tensors begin with."""
_MERGES = {
    "add": "Add",
    "subtract": "Subtract",
    "multiply": "Multiply",
    "average": "Average",
    "maximum": "Maximum",
    "minimum": "Minimum",
    "concatenate": "Concatenate",
    "dot": "Dot",
}
"""Functions of `keras.layers`, by the layer that they make."""
_OPERATORS = {"+": "Add", "-": "Subtract", "*": "Multiply", "/": "Multiply"}
_PAIRS = {
    "add": "Add",
    "subtract": "Subtract",
    "multiply": "Multiply",
    "maximum": "Maximum",
    "minimum": "Minimum",
}
_MODULES = (
    "tensorflow.",
    "tensorflow.math.",
    "tensorflow.nn.",
    "keras.ops.",
    "keras.activations.",
    "keras.backend.",
)


@dataclass(frozen=True, slots=True)
class Operation:
    """A function or operator over tensors.

    Attributes:
        tensors: What it gets.
        layer: The layer that computes the same; None where one of the others says what it does.
        same: Whether what it gives has the shape of what it gets.
        reshape: The shape that it gives, without the batch.
        means: The axes over which it takes a mean or sum, and whether they stay.
    """

    tensors: tuple[Value, ...]
    layer: Layer | None = None
    same: bool = False
    reshape: tuple[int, ...] | None = None
    means: tuple[tuple[int, ...], bool] | None = None

    def sizes(self, inputs: Inputs) -> LayerSizes:
        """Return the sizes of the operation as a layer.

        Raises:
            UnknownSize: A size is not known.
        """
        from cfgfix.code.tensorflow.layers.all_layers import layer_sizes

        if self.layer is not None:
            return layer_sizes(self.layer, inputs)
        shape = only_input(inputs)
        if self.reshape is not None:
            return LayerSizes((reshaped(shape, self.reshape),), reuses=True)
        if self.means is not None:
            axes, kept = self.means
            places = {axis - 1 if axis > 0 else axis + len(shape) for axis in axes}
            if 0 in axes or not places <= set(range(len(shape))):
                raise UnknownSize
            made = tuple(
                1 if place in places else size
                for place, size in enumerate(shape)
                if kept or place not in places
            )
            return LayerSizes((made,))
        if known_elements(shape) and self.same:
            return LayerSizes((shape,))
        raise UnknownSize


def operation_of(made: Made, api: Api) -> Operation | None:
    """Return the operation that a call of a function or operator computes.

    None where the operation is not known.
    """
    name = made.name
    if name.startswith(OPERATOR):
        return _of_operator(name[len(OPERATOR) :], made)
    module, _, last = name.rpartition(".")
    if module == "keras.layers" and last in _MERGES:
        given = by_parameter(made, api, name)
        listed = given.pop("inputs", None) or (made.args[0] if made.args else None)
        tensors = tuple(listed.items) if isinstance(listed, Sequence) and not listed.open else ()
        options = {
            parameter: plain_data(value, api) for parameter, value in given.items() if not parameter.isdigit()
        }
        return Operation(tensors, Layer(_MERGES[last], Arguments(options))) if tensors else None
    if not made.args:
        return None
    first = made.args[0]
    if name.startswith("keras.applications.") and last == "preprocess_input":
        return Operation((first,), same=True)
    if not name.startswith(_MODULES):
        return None
    if last in ACTIVATIONS and module in (
        "tensorflow.nn",
        "tensorflow.math",
        "tensorflow",
        "keras.activations",
        "keras.ops",
    ):
        return Operation((first,), Layer("Activation", Arguments({"activation": last})))
    if last in ("concat", "concatenate"):
        axis = plain_data(_argument_of(made, 1, "axis"), api)
        if isinstance(first, Sequence) and not first.open and type(axis) is int:
            return Operation(tuple(first.items), Layer("Concatenate", Arguments({"axis": axis})))
        return None
    if last in _PAIRS and len(made.args) == 2:
        return _of_operator({"add": "+", "subtract": "-", "multiply": "*"}.get(last, last), made)
    if last in ("identity", "cast", "convert_to_tensor"):
        return Operation((first,), same=True)
    if last == "reshape":
        wanted = _argument_of(made, 1, "shape" if module == "tensorflow" else "newshape")
        sizes = (
            [plain_data(item, api) for item in wanted.items]
            if isinstance(wanted, Sequence) and not wanted.open
            else []
        )
        if len(sizes) > 1 and all(type(size) is int for size in sizes[1:]):
            return Operation((first,), reshape=tuple(sizes[1:]))
        return None
    if last in ("reduce_mean", "mean", "reduce_sum", "sum"):
        axis = plain_data(_argument_of(made, 1, "axis"), api)
        kept = (
            plain_data(_argument_of(made, 2, "keepdims"), api)
            if _argument_of(made, 2, "keepdims") is not None
            else False
        )
        axes = [axis] if type(axis) is int else axis
        if (
            isinstance(axes, list)
            and axes
            and all(type(one_axis) is int for one_axis in axes)
            and type(kept) is bool
        ):
            return Operation((first,), means=(tuple(axes), kept))
        return None
    if last == "dropout":
        return Operation(
            (first,), Layer("Dropout", Arguments({"rate": plain_data(_argument_of(made, 1, "rate"), api)}))
        )
    return None


def _of_operator(sign: str, made: Made) -> Operation | None:
    name = _OPERATORS.get(sign) or _PAIRS.get(sign)
    if name is None or len(made.args) != 2:
        return None
    tensors = tuple(value for value in made.args if not isinstance(value, Scalar))
    if len(tensors) == 1:
        return Operation(tensors, same=True)
    return Operation(tensors, Layer(name, Arguments({})))


def _argument_of(made: Made, place: int, name: str) -> Value | None:
    return made.args[place] if len(made.args) > place else made.keywords.get(name)
