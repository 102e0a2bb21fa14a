"""What the training steps of a program need in memory: the models that it trains, as they are when it does."""

from __future__ import annotations

import contextlib

from cfgfix.code.inference.interpreter import classes
from cfgfix.code.inference.interpreter.objects import (
    FunctionObject,
    Instance,
    Made,
    Scalar,
    Sequence,
    Spot,
    Value,
)
from cfgfix.code.inference.interpreter.run import Call, Run
from cfgfix.code.inference.networks.arguments import by_parameter, last_name, plain_data
from cfgfix.code.inference.networks.follower import INPUT, Follower, is_own_layer
from cfgfix.code.tensorflow.api import Api
from cfgfix.code.tensorflow.layers.network import FLOAT32, Network
from cfgfix.code.tensorflow.layers.sizes import Named, Shape, UnknownSize
from cfgfix.core.records import dataclass
from cfgfix.rules.expression import Missing, optimizer_slots

HALF = 2
"""Bytes of a number of 16 bits."""


@dataclass(frozen=True, slots=True)
class Training:
    """A call that trains a model, with the memory that one step needs.

    Attributes:
        spot: Where.
        parameters: Numbers in the weights.
        fixed: Bytes whatever the batch: weights, optimizer state, and the gradients that exist where the step needs the most.
        sample: Bytes for each sample of the batch.
        optimizer: The name of the optimizer; empty for one that is not known, whose state is not counted.
    """

    spot: Spot
    parameters: int
    fixed: float
    sample: float
    optimizer: str


class Trainings:
    """The calls that train models in one run; it is made before the run begins.

    Args:
        run: The run.
        api: The signatures of the project's TensorFlow.

    Attributes:
        found: Those of which it is known what they need.
    """

    def __init__(self, run: Run, api: Api) -> None:
        self.run = run
        self.follower = Follower(run, api, self._note_training)
        self.found: list[Training] = []
        self._compiled: dict[int, Call] = {}
        self._width: int | None = FLOAT32
        """Bytes of a number in an activation; None where that is not known."""
        run.tensors = self.follower

    def _note_training(self, call: Call, name: str) -> None:
        """Note a call that compiles or trains a model, or sets the width of numbers."""
        last = last_name(name)
        if last == "compile" and call.receiver is not None:
            self._compiled[id(call.receiver)] = call
        elif last in ("fit", "fit_generator") and call.receiver is not None:
            compiled = self._compiled.get(id(call.receiver))
            if compiled is not None:
                self._note(call, call.receiver, compiled.argument(0, "optimizer"), compiled.spot)
        elif last == "apply_gradients" and call.receiver is not None:
            models = {id(model): model for model in self.follower.asked}
            self.follower.asked.clear()
            if len(models) == 1:
                (model,) = models.values()
                self._note(call, model, call.receiver, call.spot)
        elif last in ("set_global_policy", "set_policy", "set_dtype_policy"):
            self._set_policy(call)
        elif last in ("set_floatx", "recompute_grad", "set_experimental_options"):
            self._width = None

    def _set_policy(self, call: Call) -> None:
        policy = (
            call.args[0] if call.args else call.keywords.get("policy") or call.keywords.get("dtype_policy")
        )
        if isinstance(policy, Made) and last_name(policy.name) in ("Policy", "DTypePolicy"):
            policy = policy.args[0] if policy.args else policy.keywords.get("name")
        name = plain_data(policy, self.follower.api)
        if not self.run.sure or self.run.turns:
            self._width = None
        elif name in ("mixed_float16", "mixed_bfloat16"):
            self._width = HALF
        else:
            self._width = FLOAT32 if name == "float32" else None

    def _note(self, call: Call, model: Value, optimizer: Value | None, spot: Spot) -> None:
        """Note a call that trains a model, if the memory of a step is known.

        Args:
            call: The call.
            model: The model.
            optimizer: What updates its weights.
            spot: Where the optimizer is set.
        """
        if len(self.found) < MAX_TRAININGS:
            with contextlib.suppress(UnknownSize, RecursionError, OverflowError):
                _require_together(spot, call.spot)
                self.found.append(self._training_memory(call, model, optimizer))

    def _training_memory(self, call: Call, model: Value, given: Value | None) -> Training:
        """Return the memory that a step of a training call needs.

        Raises:
            UnknownSize: Not everything is known of the model.
        """
        width = self._width
        if width is None:
            raise UnknownSize
        optimizer, slots = self._optimizer_and_state(given)
        network = self.network(model, call)
        parts = network.parts(width)
        if not parts or not network.trainable:
            raise UnknownSize
        part = parts[0]
        state = FLOAT32 * (network.trainable + network.fixed) + slots * network.trainable
        return Training(
            call.spot,
            network.trainable + network.fixed,
            state + FLOAT32 * part.gradients,
            part.sample,
            optimizer,
        )

    def _optimizer_and_state(self, given: Value | None) -> tuple[str, int]:
        """Return the name of an optimizer, and the bytes of its state per trained number."""
        api = self.follower.api
        while isinstance(given, Made) and last_name(given.name) in ("LossScaleOptimizer", "get"):
            given = given.args[0] if given.args else given.keywords.get("inner_optimizer")
        if isinstance(given, Made) and given.name.startswith("keras.optimizers."):
            name = last_name(given.name).lower()
            momentum = plain_data(given.keywords.get("momentum", Scalar(0.0)), api)
            if name == "sgd" and (momentum != 0.0 or len(given.args) > 1):
                name = "momentum"
        else:
            word = plain_data(given, api) if given is not None else "rmsprop"
            name = (
                last_name(word.name).lower()
                if isinstance(word, Named)
                else word.lower()
                if isinstance(word, str)
                else ""
            )
        try:
            return name, optimizer_slots(name)
        except Missing:
            # An estimate may be too low, never too high.
            return "", 0

    def network(self, model: Value, call: Call) -> Network:
        """Return the layers of a model as it is at a place of the run.

        Raises:
            UnknownSize: Not everything is known of it.
        """
        follower = self.follower
        if follower.doubted(model):
            raise UnknownSize
        try:
            return self._network_of_model(model, call)
        except UnknownSize:
            shape = _shape_of_pictures(call, follower.api) if id(model) not in follower.shapes_built else None
            if shape is None:
                raise
            # A model that is told no shape is built for what `fit` gives it.
            follower.shapes_built[id(model)] = shape
            return self._network_of_model(model, call)

    def _network_of_model(self, model: Value, call: Call) -> Network:
        """Return the layers of a model with the input shape that its own code sets."""
        follower, spot = self.follower, call.spot
        if isinstance(model, Instance):
            inputs, outputs = self._own_model(model, call)
        else:
            follower.frame = call.frame
            ends = follower.ends_of(model, spot)
            if ends is None:
                raise UnknownSize
            inputs, outputs = ends
        builder = _NetworkBuilder(follower, spot, _is_trained(model))
        return builder.network(inputs, outputs)

    def _own_model(self, model: Instance, call: Call) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
        """Return the input and output tensors of a project class's model, by its `call`."""
        follower = self.follower
        overridden = () if call.name == "apply_gradients" else ("train_step", "fit", "make_train_function")
        if not is_own_layer(model) or any(
            isinstance(classes.member(model.cls, name), FunctionObject) for name in overridden
        ):
            raise UnknownSize
        method = classes.member(model.cls, "call")
        shape = follower.shapes_built.get(id(model))
        if shape is None:
            shapes = {
                found
                for args in follower.called.get(id(model), ())
                if len(args) == 1 and (found := follower.shape_of(args[0])) is not None
            }
            shape = shapes.pop() if len(shapes) == 1 else None
        if shape is None or not isinstance(method, FunctionObject):
            raise UnknownSize
        sizes: list[Value] = [Scalar(size) for size in shape]
        start = Made(INPUT, (Sequence(sizes, kind="tuple"),), {}, call.spot)
        takes_training = any(name == "training" for name, *_ in method.scope.params)
        keywords: dict[str, Value] = {"training": Scalar(True)} if takes_training else {}
        made = call.then(model, (start,), keywords)
        return (start,), (made,)


_SAME_ELEMENTS = frozenset({"cache", "prefetch", "repeat", "shuffle", "skip", "take", "with_options"})
"""Methods of datasets that change no element."""
_PICTURES = {"image_dataset_from_directory": "image_size", "flow_from_directory": "target_size"}
"""What reads folders of pictures, with the parameter that says how large they are made."""
_SIDE = 256
_CHANNELS = {"grayscale": 1, "rgb": 3, "rgba": 4}


def _shape_of_pictures(call: Call, api: Api) -> Shape | None:
    """Return the shape of the pictures passed to `fit` from a folder; None for others."""
    data = call.argument(0, "x")
    while isinstance(data, Made) and last_name(data.name) in _SAME_ELEMENTS:
        data = data.receiver
    if not isinstance(data, Made) or not data.name.startswith("keras."):
        return None
    last = last_name(data.name)
    if last not in _PICTURES or data.spread is not None:
        return None
    given = by_parameter(data, api, data.name) if last == "image_dataset_from_directory" else data.keywords
    size = plain_data(given[_PICTURES[last]], api) if _PICTURES[last] in given else [_SIDE, _SIDE]
    mode = plain_data(given["color_mode"], api) if "color_mode" in given else "rgb"
    if (
        not isinstance(size, list)
        or len(size) != 2
        or any(type(side) is not int or side < 1 for side in size)
    ):
        return None
    channels = _CHANNELS.get(mode) if isinstance(mode, str) else None
    return (*size, channels) if channels is not None else None


MAX_TRAININGS = 64
"""Most calls of one run that train."""


class _NetworkBuilder:
    """Builds the network of one model from its input and output tensors.

    Args:
        follower: Follows the tensors of the run.
        spot: Where the model is trained.
        trained: Whether its weights are trained.
    """

    def __init__(self, follower: Follower, spot: Spot, trained: bool) -> None:
        self.follower = follower
        self.spot = spot
        self.trained = trained
        self.made = Network()
        self.numbers: dict[int, int] = {}
        """The numbers of tensors, by the identity of their value."""
        self.calls: dict[int, tuple[int, ...]] = {}
        """The numbers of what a call gives, by its identity."""
        self.seen: set[int] = set()

    def network(self, inputs: tuple[Value, ...], outputs: tuple[Value, ...]) -> Network:
        """Return the network.

        Raises:
            UnknownSize: Not everything is known.
        """
        for value in inputs:
            shape = self.follower.shape_of(value)
            if shape is None:
                raise UnknownSize
            self.numbers[id(value)] = self.made.tensor(shape)
        for value in _values_of(outputs):
            self._add_tensor(value)
        return self.made

    def _add_tensor(self, value: Value) -> None:
        """Add a tensor after all tensors that it is computed from."""
        pending = [value]
        while pending:
            here = pending[-1]
            if id(here) in self.numbers:
                pending.pop()
                continue
            found = self.follower.computed(here)
            if found is None:
                raise UnknownSize
            missing = [tensor for tensor in found.inputs if id(tensor) not in self.numbers]
            if missing:
                if len(pending) > MAX_PENDING:
                    raise UnknownSize
                pending += reversed(missing)
                continue
            if id(found.call) not in self.calls:
                self._check_layer(found.call, found.layer)
                first = id(found.layer) not in self.seen
                self.seen.add(id(found.layer))
                node = self.made.add(
                    found.sizes,
                    [self.numbers[id(tensor)] for tensor in found.inputs],
                    trained=self.trained and self._is_trained(found.layer),
                    first=first,
                )
                self.calls[id(found.call)] = node.outputs
            self.numbers[id(here)] = self.calls[id(found.call)][found.place]
            pending.pop()

    def _is_trained(self, layer: Value | None) -> bool:
        """Tell whether a layer is trained, with all models that it is part of.

        Raises:
            UnknownSize: That is not known.
        """
        pending, seen = [layer], set()
        while pending:
            here = pending.pop()
            if here is None or id(here) in seen:
                continue
            seen.add(id(here))
            for spot in self.follower.set_at.get(id(here), ()):
                _require_together(spot, self.spot)
            if not _is_trained(here):
                return False
            pending += self.follower.owners.get(id(here), ())
        return True

    def _check_layer(self, call: Made, layer: Value | None) -> None:
        """Raise `UnknownSize` unless a layer and its call are certainly part of the model."""
        for made in (call, layer):
            if made is None:
                continue
            if self.follower.doubted(made):
                raise UnknownSize
            if isinstance(made, Made) and made.spot is not None:
                _require_together(made.spot, self.spot)


MAX_PENDING = 50_000
"""Most tensors that wait for what they are made from."""


def _require_together(inner: Spot, outer: Spot) -> None:
    """Make sure that a run that comes to `outer` has also come to `inner`.

    Raises:
        UnknownSize: That is not certain.
    """
    if not set(inner.conditions) <= set(outer.conditions) or inner.turns != outer.turns[: len(inner.turns)]:
        raise UnknownSize


def _is_trained(layer: Value | None) -> bool:
    """Tell whether the weights of a layer or model are trained.

    Raises:
        UnknownSize: That is not known.
    """
    if isinstance(layer, Instance):
        given = layer.attributes.get("trainable")
    elif isinstance(layer, Made):
        given = layer.attributes.get("trainable") or layer.keywords.get("trainable")
    else:
        return True
    if given is None:
        return True
    if isinstance(given, Scalar) and isinstance(given.value, bool) and not given.optional:
        return given.value
    raise UnknownSize


def _values_of(values: tuple[Value, ...]) -> list[Value]:
    found: list[Value] = []
    for value in values:
        found += value.items if isinstance(value, Sequence) else [value]
    return found
