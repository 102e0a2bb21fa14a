"""Follow the tensors of models through a run: what layers, operators and attributes of tensors give."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator

from cfgfix.code.inference.interpreter import classes
from cfgfix.code.inference.interpreter.objects import (
    UNKNOWN,
    Choice,
    FunctionObject,
    Instance,
    Made,
    Mapping,
    Scalar,
    Sequence,
    Spot,
    Value,
)
from cfgfix.code.inference.interpreter.run import Call, Frame, Run
from cfgfix.code.inference.networks.arguments import (
    by_parameter,
    is_layer,
    last_name,
    layer_of,
    plain_data,
    shape_in,
)
from cfgfix.code.inference.networks.operations import OPERATOR, operation_of
from cfgfix.code.tensorflow.api import Api
from cfgfix.code.tensorflow.applications import Application, application
from cfgfix.code.tensorflow.layers.all_layers import layer_sizes
from cfgfix.code.tensorflow.layers.sizes import LayerSizes, Shape, UnknownSize
from cfgfix.core.records import dataclass

CALLED = ".__call__"
"""What the names of calls of layers and models end with."""
INPUT = "keras.Input"
INPUTS = frozenset({INPUT, "keras.layers.Input", "keras.layers.InputLayer"})
_SEQUENTIAL = frozenset({"keras.Sequential", "keras.models.Sequential"})
FUNCTIONAL = frozenset({"keras.Model", "keras.models.Model"})
_FILLED = frozenset(
    f"tensorflow.{name}"
    for name in ("zeros", "ones", "random.normal", "random.uniform", "keras.Input")
) | {"numpy.zeros", "numpy.ones", "keras.ops.zeros", "keras.ops.ones", "numpy.random.random"}  # fmt: skip
"""Calls that make a tensor of a shape, its first dimension that of the batch."""
_HARMLESS = frozenset(
    {
        "add", "build", "call", "compile", "get_layer", "evaluate", "fit", "predict", "summary", "save", "save_weights", "load_weights",
        "count_params", "get_config", "to_json", "export", "get_weights", "set_weights", "reset_states", "predict_on_batch",
        "test_on_batch", "train_on_batch", "trainable", "name", "dtype", "weights", "variables", "trainable_variables",
        "trainable_weights", "non_trainable_weights", "losses", "metrics", "metrics_names", "optimizer", "stop_training", "__call__",
        "input_names", "output_names", "history", "reset_metrics", "built", "ndim", "loss",
    }
)  # fmt: skip
"""What is asked of a model or layer without changing what it computes or trains."""
_TRAINED = ("trainable_variables", "trainable_weights")
_ALL_LAYERS = "keras.Model.layers"
_SOME_LAYERS = "keras.Model.some.layers"
"""What stands for the layers of a model, and for some of them, whichever they are."""
MAX_TENSORS = 20_000
"""Most tensors that one run follows."""


@dataclass(frozen=True, slots=True)
class Computed:
    """One tensor, with the layer and the call that compute it.

    Attributes:
        layer: What holds the weights; None for a function.
        sizes: What the layer makes.
        inputs: The tensors that it gets.
        place: Which of its outputs the tensor is.
        call: The call that gives it.
    """

    layer: Value | None
    sizes: LayerSizes
    inputs: tuple[Value, ...]
    place: int
    call: Made


class Follower:
    """Follows the tensors of models through one run.

    Args:
        run: The run.
        api: The signatures of the project's TensorFlow.
        trains: Told of the calls of methods of models, in the order of the run.
    """

    def __init__(self, run: Run, api: Api, trains: Callable[[Call, str], None]) -> None:
        self.run = run
        self.api = api
        self.trains = trains
        self.unsure: set[int] = set()
        """Layers and models of which not everything is known, by identity."""
        self.added: dict[int, list[tuple[Value, Spot]]] = {}
        """The layers that sequential models are given one by one, by the identity of the model."""
        self.called: dict[int, list[tuple[Value, ...]]] = {}
        """What objects of the project were called with, by identity."""
        self.asked: list[Value] = []
        """The models that were asked for their trained weights, since this was emptied."""
        self.owners: dict[int, list[Value]] = {}
        """The models that a layer is part of, by the identity of the layer."""
        self.set_at: dict[int, list[Spot]] = {}
        """Where it is said whether the weights of layers and models are trained, by their identity."""
        self.shapes_built: dict[int, Shape] = {}
        """The shapes that `build` was called with, by the identity of the model."""
        self._computed: dict[int, Computed | None] = {}
        self._inputs: dict[int, Made] = {}
        self._kept: list[Value] = []
        self._built: set[int] = set()
        self._ends: dict[int, Made] = {}
        self.frame: Frame | None = None
        """A frame of the run, in which layers of the project are called."""

    # What a run asks

    def attribute(self, owner: Value, name: str, spot: Spot) -> Value | None:
        """Return an attribute of a tensor, layer or model; None if it is not followed."""
        if name in _TRAINED and (is_own_layer(owner) or self.is_model(owner)):
            self.asked.append(owner)
        if isinstance(owner, Instance):
            if name not in _HARMLESS and not name.startswith("__"):
                self._doubt_value(owner)
            return None
        if not isinstance(owner, Made):
            return None
        if name == "shape":
            shape = self.shape_of(owner)
            return _sequence_of_shape(shape) if shape is not None else None
        if not self.is_model(owner):
            return None
        if name == "layers":
            return self._made_result(_ALL_LAYERS, (), spot, owner)
        if name in ("input", "output", "inputs", "outputs", "output_shape", "input_shape"):
            found = self.ends_of(owner, spot)
            if found is None:
                return None
            chosen = found[0] if name.startswith("input") else found[1]
            if name.endswith("s"):
                return Sequence(list(chosen))
            if len(chosen) != 1:
                return None
            if name.endswith("_shape"):
                shape = self.shape_of(chosen[0])
                return _sequence_of_shape(shape) if shape is not None else None
            return chosen[0]
        if name not in _HARMLESS:
            self._doubt_value(owner)
        return None

    def items(self, owner: Made) -> list[Value] | None:
        """Return the items of a library's result; None where they are not known."""
        if owner.name == _ALL_LAYERS and owner.receiver is not None:
            # What a loop does to each layer, it does to the model.
            return [owner.receiver]
        if owner.name == _SOME_LAYERS:
            return [owner]
        found = self.computed(owner)
        if found is None or len(found.sizes.outputs) < 2:
            return None
        count = len(found.sizes.outputs)
        return [
            self._made_result(f"{OPERATOR}getitem", (owner, Scalar(number)), owner.spot, None)
            for number in range(count)
        ]

    def each(self, owner: Value) -> Value | None:
        """Return what a loop over a result gets in each turn; None if not followed."""
        del owner
        return None

    def item(self, owner: Value, index: Value, spot: Spot) -> Value | None:
        """Return the item of a library's result at an index; None if it is not followed."""
        if isinstance(owner, Made) and owner.name in (_ALL_LAYERS, _SOME_LAYERS):
            return self._made_result(_SOME_LAYERS, (), spot, owner.receiver)
        if isinstance(owner, Made) and isinstance(index, Scalar):
            return self._made_result(f"{OPERATOR}getitem", (owner, index), spot, None)
        return None

    def operation(self, sign: str, left: Value, right: Value, spot: Spot) -> Value | None:
        """Return the result of an operator on tensors; None if no operand may be one."""
        if not isinstance(left, Made) and not isinstance(right, Made):
            return None
        made = self._made_result(f"{OPERATOR}{sign}", (left, right), spot, None)
        self.computed(made)
        return made

    def call_own(self, call: Call, instance: Instance) -> Value | None:
        """Return the result of calling a layer or model of a project class.

        The layer's `build` runs before the first call. None for any other object.
        """
        method = classes.member(instance.cls, "call")
        if not is_own_layer(instance) or not isinstance(method, FunctionObject):
            return None
        first = call.args[0] if call.args else None
        self.called.setdefault(id(instance), []).append(call.args)
        self._kept.append(instance)
        build = classes.member(instance.cls, "build")
        if isinstance(build, FunctionObject) and id(instance) not in self._built:
            shape = self.shape_of(first) if first is not None else None
            given: Value = _sequence_of_shape(shape) if shape is not None else UNKNOWN
            call.then(build.bound(instance), (given,))
        self._built.add(id(instance))
        made = call.then(method.bound(instance), call.args, call.keywords)
        return self.given_by_own(instance, made)

    def given_by_own(self, instance: Instance, made: Value) -> Value:
        """Return what a project's layer or model gives, if its weights are known."""
        # Whether its weights are trained, the layers in it do not know.
        return UNKNOWN if self.doubted(instance) or "trainable" in instance.attributes else made

    def after_call(self, call: Call, name: str, made: Made) -> Value:
        """Note a library call that concerns models, and return its result."""
        last = last_name(name)
        if name.endswith(CALLED) and isinstance(call.callee, Made):
            made.receiver = call.callee
            if self.is_model(call.callee) and not is_application(call.callee):
                found = self._output_of_model(call.callee, call.args, call.frame, call.spot)
                return found if found is not None else UNKNOWN
            # Shapes are worked out as tensors are made, so that none waits for a long row of others.
            self.computed(made)
            return made
        owner = call.receiver
        if last == "trainable=" and owner is not None:
            self.set_at.setdefault(id(owner), []).append(call.spot)
            self._kept.append(owner)
            if (
                isinstance(owner, Made)
                and last_name(owner.name) in ("layers", "get_layer")
                and owner.receiver
            ):
                # Which of its layers are trained is not known.
                self._doubt_value(owner.receiver)
        if call.opaque:
            self._doubt_value(made)
        if last in ("add_weight", "add_variable") and isinstance(owner, Instance):
            self._doubt_value(owner)
        if owner is None or not (isinstance(owner, Instance) or self.is_model(owner)):
            if last == "apply_gradients" or name in _POLICIES or name.startswith(_ELSEWHERE):
                self.trains(call, name)
            if last == "int_shape" and call.args:
                shape = self.shape_of(call.args[0])
                return _sequence_of_shape(shape) if shape is not None else made
            if call.args:
                self.computed(made)
            return made
        if last == "add" and call.args and isinstance(owner, Made):
            self.added.setdefault(id(owner), []).append((call.args[0], call.spot))
            self._kept.append(owner)
        elif last == "build" and call.args:
            try:
                self.shapes_built[id(owner)] = shape_in(plain_data(call.args[0], self.api), batch=True)
            except UnknownSize:
                self._doubt_value(owner)
        elif last == "get_layer":
            made.receiver = owner
        elif last in ("pop", "enable_lora", "quantize"):
            self._doubt_value(owner)
        else:
            self.trains(call, name)
        return made

    # What others ask

    def doubted(self, value: Value) -> bool:
        """Tell whether a layer or model is not fully known."""
        return id(value) in self.unsure

    def is_model(self, value: Value | None) -> bool:
        """Tell whether a value is a model of Keras that the program has made."""
        return isinstance(value, Made) and (
            value.name in _SEQUENTIAL or value.name in FUNCTIONAL or is_application(value)
        )

    def shape_of(self, value: Value) -> Shape | None:
        """Return the shape of a tensor without its batch; None where it is not known."""
        try:
            return self._shape_of(value)
        except (UnknownSize, RecursionError):
            return None

    def _shape_of(self, value: Value) -> Shape:
        if isinstance(value, Made):
            if value.name in INPUTS:
                return input_shape(value, self.api)
            if value.name in _FILLED and value.args:
                return shape_in(plain_data(value.args[0], self.api), batch=True)
        found = self.computed(value)
        if found is None:
            raise UnknownSize
        return found.sizes.outputs[found.place]

    def is_input(self, value: Value) -> bool:
        """Tell whether a value is an input of a model."""
        return isinstance(value, Made) and (value.name in INPUTS or value.name in _FILLED)

    def computed(self, value: Value) -> Computed | None:
        """Return a tensor with the layer that computes it; None where that is not known."""
        if not isinstance(value, Made):
            return None
        if id(value) not in self._computed:
            self._kept.append(value)
            if len(self._computed) > MAX_TENSORS:
                return None
            self._computed[id(value)] = None
            with contextlib.suppress(UnknownSize):
                self._computed[id(value)] = self._computed_value(value)
        return self._computed[id(value)]

    def _computed_value(self, value: Made) -> Computed | None:
        if value.name == f"{OPERATOR}getitem":
            whole = self.computed(value.args[0])
            place = plain_data(value.args[1], self.api)
            if whole is None or type(place) is not int or not 0 <= place < len(whole.sizes.outputs) > 1:
                return None
            return Computed(whole.layer, whole.sizes, whole.inputs, place, whole.call)
        if value.name.endswith(CALLED) and isinstance(value.receiver, Made):
            return self._of_layer(value, value.receiver)
        operation = operation_of(value, self.api)
        if operation is None:
            return None
        sizes = operation.sizes(tuple(self._shape_of(tensor) for tensor in operation.tensors))
        return Computed(None, sizes, operation.tensors, 0, value)

    def _of_layer(self, value: Made, layer: Made) -> Computed | None:
        tensors = _tensors_given(value, layer)
        shapes = tuple(self._shape_of(tensor) for tensor in tensors)
        if is_application(layer):
            sizes = self.application(layer).sizes(shapes)
        elif is_layer(layer):
            sizes = layer_sizes(layer_of(layer, self.api), shapes)
        else:
            return None
        return Computed(layer, sizes, tensors, 0, value)

    def application(self, made: Made) -> Application:
        """Return a model of `keras.applications` with its arguments.

        Raises:
            UnknownSize: The model or its arguments are not known.
        """
        name = last_name(made.name)
        given = by_parameter(made, self.api, f"keras.applications.{name}")
        return application(
            name, {parameter: plain_data(value, self.api) for parameter, value in given.items()}
        )

    def ends_of(self, model: Value, spot: Spot) -> tuple[tuple[Value, ...], tuple[Value, ...]] | None:
        """Return the input and output tensors of a model.

        None where they are not known.
        """
        if not isinstance(model, Made) or self.doubted(model):
            return None
        if model.name in FUNCTIONAL:
            given = by_parameter(model, self.api, "keras.Model")
            inputs, outputs = (
                _flat_tensors(given.get(name) or given.get(name[:-1]) or given.get(str(place)))
                for place, name in enumerate(("inputs", "outputs"))
            )
            return (inputs, outputs) if inputs and outputs else None
        start = self._input_of_model(model, spot)
        if start is None:
            return None
        if is_application(model):
            key = id(model)
            made = self._ends.get(key)
            if made is None:
                made = self._ends[key] = self._made_result(
                    f"{model.name}{CALLED}", (start,), model.spot, model
                )
            return (start,), (made,)
        frame = self.frame
        found = self._output_of_model(model, (start,), frame, spot) if frame is not None else None
        return ((start,), (found,)) if found is not None else None

    def layers_in(self, model: Made, spot: Spot) -> list[Value] | None:
        """Return the layers of a sequential model at a place of the run.

        None where they are not all known there.
        """
        listed = model.keywords.get("layers") or (model.args[0] if model.args else None)
        found: list[Value] = []
        if isinstance(listed, Sequence):
            if listed.open:
                return None
            found += listed.items
        elif listed is not None and not (isinstance(listed, Scalar) and listed.value is None):
            return None
        here = model.spot
        for layer, where in self.added.get(id(model), ()):
            if here is None or where.turns != here.turns or not set(where.conditions) <= set(spot.conditions):
                return None
            found.append(layer)
        return found

    def _input_of_model(self, model: Made, spot: Spot) -> Made | None:
        """Return the input tensor of a sequential model or an application.

        It is the same each time. None where its shape is not known.
        """
        known = self._inputs.get(id(model))
        if known is not None:
            return known
        try:
            shape = self._first_shape(model, spot)
        except UnknownSize:
            return None
        sizes: list[Value] = [Scalar(size) for size in shape]
        made = self._made_result(INPUT, (Sequence(sizes, kind="tuple"),), model.spot, None)
        self._inputs[id(model)] = made
        return made

    def _first_shape(self, model: Value, spot: Spot) -> Shape:
        if id(model) in self.shapes_built:
            return self.shapes_built[id(model)]
        if not isinstance(model, Made):
            raise UnknownSize
        if is_application(model):
            return self.application(model).input_shape()
        if model.name in FUNCTIONAL:
            ends = self.ends_of(model, spot)
            if ends is None or len(ends[0]) != 1:
                raise UnknownSize
            return self._shape_of(ends[0][0])
        if model.name in INPUTS:
            return input_shape(model, self.api)
        if model.name in _SEQUENTIAL:
            layers = self.layers_in(model, spot)
            if not layers:
                raise UnknownSize
            return self._first_shape(layers[0], spot)
        if is_layer(model):
            return first_layer_shape(model, self.api)
        raise UnknownSize

    def _output_of_model(
        self, model: Made, args: tuple[Value, ...], frame: Frame, spot: Spot
    ) -> Value | None:
        """Return a model's output for some tensors, computed layer by layer.

        None where the layers are not known.
        """
        if self.doubted(model) or not args:
            return None
        self.frame = frame
        if model.name in FUNCTIONAL:
            ends = self.ends_of(model, spot)
            given = _flat_tensors(args[0])
            if ends is None or len(given) != len(ends[0]):
                return None
            known = {id(inner): outer for inner, outer in zip(ends[0], given, strict=True)}
            made = [self._tensor_of_other_inputs(value, known, model) for value in ends[1]]
            return made[0] if len(made) == 1 else Sequence(made)
        layers = self.layers_in(model, spot)
        if layers is None:
            return None
        tensor = args[0]
        for layer in layers:
            if isinstance(layer, Made) and layer.name in INPUTS:
                continue
            if not isinstance(layer, (Made, Instance)):
                return None
            self._note_layer_of_model(layer, model)
            tensor = self.run.call(Call(frame, layer, (tensor,), {}, spot))
        return tensor

    def _note_layer_of_model(self, layer: Value, model: Made) -> None:
        """Note that a layer is part of a model."""
        owners = self.owners.setdefault(id(layer), [])
        if all(owner is not model for owner in owners):
            owners.append(model)
        self._kept.append(layer)

    def _tensor_of_other_inputs(self, value: Value, known: dict[int, Value], model: Made) -> Value:
        """Return a tensor computed by the same layers from other inputs.

        Args:
            value: The tensor.
            known: The new values of tensors, by identity of the old ones.
            model: The model that the layers belong to.
        """
        pending = [value]
        while pending:
            here = pending[-1]
            inner = [] if id(here) in known else [item for item in parts_of(here) if id(item) not in known]
            if inner:
                pending += inner
                continue
            pending.pop()
            if id(here) not in known:
                known[id(here)] = self._rebuild_call(here, known, model)
                self._kept.append(here)
        return known[id(value)]

    def _rebuild_call(self, value: Value, known: dict[int, Value], model: Made) -> Value:
        """Return a call's result with its arguments replaced by their new values."""
        if isinstance(value, Sequence):
            return Sequence([known[id(item)] for item in value.items], open=value.open, kind=value.kind)
        if not isinstance(value, Made) or not parts_of(value):
            return value
        made = Made(
            value.name,
            tuple(known[id(item)] for item in value.args),
            {name: known[id(item)] for name, item in value.keywords.items()},
            value.spot,
            value.receiver,
        )
        self._kept.append(made)
        self.computed(made)
        if value.receiver is not None:
            self._note_layer_of_model(value.receiver, model)
        return made

    def _made_result(
        self, name: str, args: tuple[Value, ...], spot: Spot | None, receiver: Value | None
    ) -> Made:
        made = Made(name, args, {}, spot, receiver)
        self._kept.append(made)
        return made

    def _doubt_value(self, value: Value) -> None:
        self._kept.append(value)
        self.unsure.add(id(value))


_POLICIES = frozenset({"keras.backend.set_floatx", "keras.config.set_floatx", "tensorflow.recompute_grad"})
_ELSEWHERE = (
    "keras.mixed_precision.",
    "keras.config.set_dtype_policy",
    "tensorflow.config.optimizer.set_experimental_options",
)
"""Calls that are no methods of a model and change what its training needs."""


def is_application(value: Value | None) -> bool:
    """Tell whether a value is one of the models of `keras.applications`."""
    return (
        isinstance(value, Made)
        and value.name.startswith("keras.applications.")
        and last_name(value.name)[:1].isupper()
    )


def is_own_layer(value: Value | None) -> bool:
    """Tell whether a value is an object of a layer or model class of the project."""
    return isinstance(value, Instance) and any(
        name.startswith("keras.") and last_name(name) in ("Layer", "Model", "Sequential")
        for name in classes.outside_bases(value.cls)
    )


def input_shape(made: Made, api: Api) -> Shape:
    """Return the shape, without the batch, of a tensor made by `keras.Input`.

    Raises:
        UnknownSize: The shape is not known.
    """
    given = by_parameter(made, api, "keras.Input")
    for name, batch in (
        ("batch_shape", True),
        ("batch_input_shape", True),
        ("shape", False),
        ("input_shape", False),
    ):
        if name in given:
            return shape_in(plain_data(given[name], api), batch=batch)
    raise UnknownSize


def first_layer_shape(layer: Made, api: Api) -> Shape:
    """Return the input shape, without the batch, that a first layer declares.

    Raises:
        UnknownSize: The layer declares none.
    """
    for name, batch in (("batch_input_shape", True), ("batch_shape", True), ("input_shape", False)):
        if name in layer.keywords:
            return shape_in(plain_data(layer.keywords[name], api), batch=batch)
    size = plain_data(layer.keywords.get("input_dim"), api)
    if "input_dim" in layer.keywords and last_name(layer.name) == "Dense" and type(size) is int:
        return (size,)
    if last_name(layer.name) == "Embedding" and "input_length" in layer.keywords:
        return shape_in(plain_data(layer.keywords["input_length"], api))
    raise UnknownSize


def _tensors_given(value: Made, layer: Made) -> tuple[Value, ...]:
    """Return the tensors that a call passes to a layer."""
    names = ("query", "value", "key") if last_name(layer.name) == "MultiHeadAttention" else ("inputs",)
    found: list[Value] = []
    for place, name in enumerate(names):
        given = value.args[place] if len(value.args) > place else value.keywords.get(name)
        if given is not None:
            found += _flat_tensors(given)
    return tuple(found)


def parts_of(value: Value) -> list[Value]:
    """Return the tensors, or their containers, that a tensor is computed from."""
    if isinstance(value, Sequence):
        return list(value.items)
    if isinstance(value, Made) and value.name not in INPUTS:
        return [*value.args, *value.keywords.values()]
    return []


def upstream(values: tuple[Value, ...]) -> Iterator[Made]:
    """Yield the calls that tensors are computed by, the last first."""
    pending, seen = list(values), set[int]()
    while pending:
        here = pending.pop()
        if id(here) in seen:
            continue
        seen.add(id(here))
        if isinstance(here, Made):
            yield here
        pending += parts_of(here)


def _flat_tensors(value: Value | None) -> tuple[Value, ...]:
    """Return the tensors in a list or dictionary, or a single tensor.

    Empty where not all of them are known.
    """
    if value is None or isinstance(value, Choice):
        return ()
    if isinstance(value, Sequence):
        return () if value.open else tuple(_each_value(value.items))
    if isinstance(value, Mapping):
        return () if value.open else tuple(_each_value(value.entries.values()))
    return (value,)


def _each_value(values: Iterable[Value]) -> Iterator[Value]:
    for value in values:
        yield from _flat_tensors(value)


def _sequence_of_shape(shape: Shape) -> Sequence:
    sizes: list[Value] = [Scalar(None), *(UNKNOWN if size is None else Scalar(size) for size in shape)]
    return Sequence(sizes, kind="tuple")
