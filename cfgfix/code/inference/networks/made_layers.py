"""What the layers of Keras give in a run, as whole tensors, and what they refuse."""

from __future__ import annotations

from typing import Protocol

from cfgfix.code.inference.interpreter.objects import External, FunctionObject, Made, Scalar, Sequence, Value
from cfgfix.code.inference.interpreter.run import Call
from cfgfix.code.inference.networks.arguments import by_parameter, is_layer, last_name
from cfgfix.code.inference.networks.arrays import declared_shape, plain
from cfgfix.code.inference.networks.conflicts import INDEX, Teller
from cfgfix.code.inference.networks.tensors import Bound, Tensor, flat, whole_text
from cfgfix.code.tensorflow.api import Api
from cfgfix.code.tensorflow.applications import Application
from cfgfix.code.tensorflow.layers.all_layers import layer_sizes
from cfgfix.code.tensorflow.layers.sizes import UNKNOWN, Arguments, Layer, MisfitError, Named, shape_text
from cfgfix.core.records import replace

_ACTIVATED = frozenset({"activation", "recurrent_activation"})
_SAME_LAYERS = frozenset({"Activation", "ReLU", "LeakyReLU", "PReLU", "ELU", "Softmax", "Normalization", "Rescaling", "Masking", "Identity"})  # fmt: skip
_BUILT = frozenset({"Dense", "Conv1D", "Conv2D", "Conv3D", "LSTM", "GRU", "SimpleRNN", "BatchNormalization", "LayerNormalization", "SeparableConv2D", "DepthwiseConv2D", "Conv2DTranspose"})  # fmt: skip
"""Layers whose weights are made for the last dimension of the first input, and refuse another one."""


class Known(Teller, Protocol):
    """What is known of the values of a run."""

    api: Api
    call: Call | None

    def tensor(self, value: Value | None) -> Tensor | None:
        """Return what is known of a tensor; None for nothing."""

    def leaf(self, tensor: Tensor | None, made: Made) -> Value:
        """Return a value that stands for a tensor."""

    def application(self, made: Made) -> Application:
        """Return a model of `keras.applications` with its arguments."""


class MadeLayers:
    """Works out what layers make of their tensors.

    Args:
        known: Tells what is known of other values.

    Attributes:
        counts: How many numbers the weights of layers hold, by the identity of the layer.
        widths: The last dimension that the weights of layers are made for, with the call, by the identity of the layer.
        parts_of: The tensors that calls give several of, by the identity of the call.
    """

    def __init__(self, known: Known) -> None:
        self.known = known
        self.counts: dict[int, int] = {}
        self.widths: dict[int, tuple[int, Made]] = {}
        self.parts_of: dict[int, list[Value]] = {}

    def input(self, made: Made) -> Tensor | None:
        """Return the tensor that an input of a model is."""
        given = by_parameter(made, self.known.api, "keras.Input")
        for name in ("batch_shape", "batch_input_shape"):
            if name in given:
                return Tensor(declared_shape(given[name]), made)
        batch = plain(given["batch_size"]) if "batch_size" in given else None
        for name in ("shape", "input_shape"):
            if name in given:
                inner = declared_shape(given[name])
                return Tensor((batch if type(batch) is int else None, *inner), made)
        return None

    def inputs_of(self, made: Made) -> list[Tensor | None]:
        """Return the tensors that a call gives to its layer."""
        layer = made.receiver
        several = isinstance(layer, Made) and last_name(layer.name) == "MultiHeadAttention"
        names = ("query", "value", "key") if several else ("inputs",)
        found: list[Tensor | None] = []
        for place, name in enumerate(names):
            given = made.args[place] if len(made.args) > place else made.keywords.get(name)
            if given is not None:
                found += [self.known.tensor(item) for item in flat(given)]
        return found

    def of_call(self, made: Made, layer: Made) -> Tensor | None:
        """Return the tensor that a call of a layer gives."""
        name = last_name(layer.name)
        given = by_parameter(layer, self.known.api, layer.name)
        inputs = self.inputs_of(made)
        first = inputs[0] if inputs else None
        if name == "TextVectorization":
            return self._vectorized_tensor(made, layer, given, first)
        if name in ("StringLookup", "IntegerLookup"):
            return self._looked_up(layer, given, first)
        if name in _SAME_LAYERS or (name.startswith("Random") and name != "RandomCrop"):
            self.counts.setdefault(id(layer), 0)
            return first
        if name == "CategoryEncoding":
            count = plain(given.get("num_tokens"))
            if first is None or type(count) is not int:
                return None
            return Tensor((*first.shape[:1], count), made)
        if name == "Lambda" and self.known.call is not None:
            function = given.get("function")
            if isinstance(function, FunctionObject) and made.args:
                return self.known.tensor(self.known.call.then(function, made.args[:1]))
            return None
        if name == "Embedding":
            self._look_into(made, layer, given, first)
        plain_layer = self._plain_layer(layer)
        if name in _BUILT and first is not None:
            self._check_width(made, layer, first)
        return self.of_layer(made, plain_layer, inputs)

    def _plain_layer(self, layer: Made) -> Layer:
        """Return a layer with its arguments as plain data, those that change no shape left out."""
        name = last_name(layer.name)
        given = by_parameter(layer, self.known.api, layer.name)
        return Layer(
            name,
            Arguments(
                {key: self._plain_value(value) for key, value in given.items() if key not in _ACTIVATED}
            ),
        )

    def _plain_value(self, value: Value) -> object:
        if isinstance(value, Made) and is_layer(value):
            return self._plain_layer(value)
        if isinstance(value, Scalar):
            return value.value
        found = plain(value)
        if isinstance(found, list):
            return found
        return Named(value.name) if isinstance(value, External) else UNKNOWN

    def of_layer(self, made: Made, layer: Layer, given: list[Tensor | None]) -> Tensor | None:
        """Return the tensor that a layer gives for known tensors."""
        known = [item for item in given if item is not None]
        if not known or len(known) < len(given) or any(not item.shape for item in known):
            return None
        sizes = layer_sizes(layer, tuple(item.shape[1:] for item in known))
        if made.receiver is not None:
            self.counts.setdefault(id(made.receiver), sizes.trainable + sizes.fixed)
        batch = known[0].shape[0]
        if len(sizes.outputs) > 1:
            parts = [self.known.leaf(Tensor((batch, *shape), made), made) for shape in sizes.outputs]
            self.parts_of[id(made)] = parts
        return Tensor((batch, *sizes.output), made)

    def of_application(self, made: Made, layer: Made) -> Tensor | None:
        """Return the tensor that a model of `keras.applications` gives."""
        inputs = self.inputs_of(made)
        first = inputs[0] if len(inputs) == 1 else None
        if first is None or not first.shape:
            return None
        known = self.known.application(layer)
        wanted = known.input_shape()
        if len(wanted) != len(first.shape) - 1 or any(
            None not in pair and pair[0] != pair[1] for pair in zip(wanted, first.shape[1:], strict=True)
        ):
            raise MisfitError(f"takes {shape_text(wanted)}, and gets {shape_text(first.shape[1:])}")
        sizes = known.sizes((first.shape[1:],))
        self.counts.setdefault(id(layer), sizes.trainable + sizes.fixed)
        return Tensor((first.shape[0], *sizes.output), made)

    def _vectorized_tensor(
        self, made: Made, layer: Made, given: dict[str, Value], first: Tensor | None
    ) -> Tensor | None:
        if first is None:
            return None
        mode = plain(given["output_mode"]) if "output_mode" in given else "int"
        most = plain(given.get("max_tokens"))
        front = first.shape[:1]
        if mode != "int":
            return Tensor((*front, None), made)
        length = plain(given.get("output_sequence_length"))
        words = given.get("vocabulary")
        bound = Bound(most, layer, reached=False) if type(most) is int else None
        if isinstance(words, Sequence) and not words.open and not words.uncounted:
            bound = Bound(len(words.items) + 2, layer)
        return Tensor((*front, length if type(length) is int else None), made, bound)

    def _looked_up(self, layer: Made, given: dict[str, Value], first: Tensor | None) -> Tensor | None:
        if first is None:
            return None
        mode = plain(given["output_mode"]) if "output_mode" in given else "int"
        words, others = given.get("vocabulary"), plain(given["num_oov_indices"]) if "num_oov_indices" in given else 1  # fmt: skip
        masked = "mask_token" in given and plain(given["mask_token"]) is not None
        bound = None
        if isinstance(words, Sequence) and not words.open and not words.uncounted and type(others) is int:
            bound = Bound(len(words.items) + others + masked, layer)
        if mode != "int":
            return None
        return replace(first, bound=bound)

    def _look_into(self, made: Made, layer: Made, given: dict[str, Value], first: Tensor | None) -> None:
        """Note an embedding without rows for the largest numbers that it gets."""
        rows = plain(given.get("input_dim"))
        bound = first.bound if first is not None else None
        if bound is None or type(rows) is not int or bound.number <= rows:
            return
        self.known.tell(
            INDEX,
            made.spot,
            {"rows": rows, "largest": bound.number - 1, "reached": bound.reached},
            [(bound.since, f"gives numbers up to {bound.number - 1}"), (layer, f"has {rows} rows")],
            None if bound.reached else "warning",
        )

    def _check_width(self, made: Made, layer: Made, first: Tensor) -> None:
        """Raise `MisfitError` where a layer's weights were made for another last dimension."""
        width = first.shape[-1] if len(first.shape) > 1 else None
        if width is None:
            return
        known = self.widths.setdefault(id(layer), (width, made))
        if known[0] != width:
            raise MisfitError(
                f"has weights for a last dimension of {known[0]}, and gets {whole_text(first.shape)}"
            )
