"""Read a built Keras model into the layers that cfgfix knows, for the tools that measure and tabulate models."""

from __future__ import annotations

from typing import Any

from cfgfix.code.tensorflow.layers.all_layers import LAYERS, layer_sizes
from cfgfix.code.tensorflow.layers.network import Network
from cfgfix.code.tensorflow.layers.sizes import Arguments, Layer, LayerSizes, Shape

ALONE = {"Add": "Add", "Subtract": "Subtract", "Multiply": "Multiply", "TrueDivide": "Multiply"}
"""Operators between tensors, by the layer that computes the same."""


def network_of(model: Any, shape: Shape) -> tuple[Network, tuple[int, ...]]:
    """Return a functional model's layers for inputs of a shape, and the numbers of its outputs."""
    network = Network()
    numbers: dict[int, int] = {}
    seen: set[int] = set()
    _add(network, model, numbers, {id(model.inputs[0]): network.tensor(shape)}, seen)
    return network, tuple(numbers[id(tensor)] for tensor in model.outputs)


def _add(
    network: Network, model: Any, numbers: dict[int, int], given: dict[int, int], seen: set[int]
) -> None:
    numbers.update(given)
    by_depth = model._nodes_by_depth  # noqa: SLF001 - Keras shows the calls of its layers nowhere else
    for depth in sorted(by_depth, reverse=True):
        for node in by_depth[depth]:
            operation = node.operation
            if type(operation).__name__ == "InputLayer":
                continue
            tensors = [numbers[id(tensor)] for tensor in node.input_tensors if id(tensor) in numbers]
            if hasattr(operation, "_nodes_by_depth"):
                inner: dict[int, int] = {}
                functional = getattr(operation, "_functional", None) or operation
                _add(network, functional, inner, {id(functional.inputs[0]): tensors[0]}, seen)
                for outer, tensor in zip(node.outputs, functional.outputs, strict=True):
                    numbers[id(outer)] = inner[id(tensor)]
                continue
            sizes = _sizes(operation, tuple(network.shapes[number] for number in tensors))
            made = network.add(sizes, tensors, first=id(operation) not in seen)
            seen.add(id(operation))
            for tensor, number in zip(node.outputs, made.outputs, strict=True):
                numbers[id(tensor)] = number


def _sizes(operation: Any, shapes: tuple[Shape, ...]) -> LayerSizes:
    name = type(operation).__name__
    if name in LAYERS and not type(operation).__module__.startswith("keras.src.ops"):
        return layer_sizes(Layer(name, Arguments(operation.get_config() | _plain(operation))), shapes)
    if name in ALONE:
        return (
            layer_sizes(Layer(ALONE[name], Arguments({})), shapes) if len(shapes) > 1 else LayerSizes(shapes)
        )
    outputs = operation.compute_output_spec(*[_spec((None, *shape)) for shape in shapes])
    made = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    trained = sum(int(weight.shape.num_elements()) for weight in getattr(operation, "trainable_weights", ()))
    fixed = sum(
        int(weight.shape.num_elements()) for weight in getattr(operation, "non_trainable_weights", ())
    )
    return LayerSizes(tuple(tuple(one.shape[1:]) for one in made), trained, fixed, inputs=True)


def _plain(operation: Any) -> dict[str, Any]:
    """Return the arguments of a layer whose description is not what it was made with."""
    activation = getattr(operation, "activation", None)
    return {} if activation is None else {"activation": getattr(activation, "__name__", None)}


def _spec(shape: tuple[int | None, ...]) -> Any:
    import keras

    return keras.KerasTensor(shape)
