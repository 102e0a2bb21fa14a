"""What models are trained with in a run, held against what they take and give."""

from __future__ import annotations

from typing import Protocol

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
from cfgfix.code.inference.interpreter.run import Call, Run
from cfgfix.code.inference.networks.arguments import by_parameter, last_name
from cfgfix.code.inference.networks.arrays import plain
from cfgfix.code.inference.networks.conflicts import (
    LABELS,
    LOGITS,
    REFUSED,
    SCHEDULE,
    STEPS,
    Teller,
    Weighed,
    WeightFile,
)
from cfgfix.code.inference.networks.elements import ELEMENT, Datasets, Elements
from cfgfix.code.inference.networks.follower import CALLED, is_application, is_own_layer, upstream
from cfgfix.code.inference.networks.labels import against, gives_logits, loss_name, takes_probabilities
from cfgfix.code.inference.networks.made_layers import MadeLayers
from cfgfix.code.inference.networks.tensors import Tensor
from cfgfix.code.tensorflow.api import Api
from cfgfix.core.records import replace

_SCHEDULES = "keras.optimizers.schedules."
_ENDING = {
    f"{_SCHEDULES}CosineDecay": ("alpha", 0.0),
    f"{_SCHEDULES}PolynomialDecay": ("end_learning_rate", 0.0001),
}
"""Schedules that come to an end, each with the parameter that says the rate behind it, and its default."""


class Known(Teller, Protocol):
    """What is known of the values of a run."""

    api: Api
    run: Run
    datasets: Datasets
    layers: MadeLayers

    def tensor(self, value: Value | None) -> Tensor | None:
        """Return what is known of a tensor; None for nothing."""

    def leaf(self, tensor: Tensor | None, made: Made) -> Value:
        """Return a value that stands for a tensor."""

    def made(self, name: str, args: tuple[Value, ...], spot: Spot | None, receiver: Value | None) -> Made:
        """Return a value that no call of the program makes, and keep it."""

    def is_model(self, value: Value | None) -> bool:
        """Tell whether a value is a model of Keras that the program has made."""

    def ends_of(self, model: Value, spot: Spot) -> tuple[tuple[Value, ...], tuple[Value, ...]] | None:
        """Return the input and output tensors of a model; None where they are not known."""

    def model_called(self, call: Call, model: Made, given: Value) -> Value:
        """Return what a model gives for its inputs, and note inputs that it refuses."""

    def work_out(self, made: Made, spot: Spot) -> None:
        """Note the shape of a call's result, or that the call refuses what it gets."""


class Fits:
    """Holds what models are trained with against their inputs, outputs and settings.

    Args:
        known: Tells what is known of values.

    Attributes:
        compiled: The call that compiles each model, by the identity of the model.
        weights: The files of weights that the run writes and loads.
    """

    def __init__(self, known: Known) -> None:
        self.known = known
        self.compiled: dict[int, Call] = {}
        self.weights: list[WeightFile] = []

    def hold(self, call: Call, model: Value, last: str) -> None:
        """Hold what a model is trained with against its inputs and outputs."""
        x, y = call.argument(0, "x"), call.argument(1, "y")
        pairs = [self._samples(call, x, y)]
        if last == "fit":
            self._hold_steps(call, model, x)
            self._note_checkpoints(call, model)
        valid = call.keywords.get("validation_data")
        if isinstance(valid, Sequence) and len(valid.items) >= 2:
            pairs.append(self._samples(call, valid.items[0], valid.items[1]))
        elif valid is not None:
            pairs.append(self._samples(call, valid, None))
        for given, labels in pairs:
            if given is None:
                continue
            out = self._output_for(call, model, given)
            if out is not None and last == "fit":
                self._hold_loss(model, out)
            if out is not None and labels is not None and last != "predict":
                self._hold_labels(call, model, out, labels)

    def _hold_loss(self, model: Value, out: Value) -> None:
        """Note a loss of probabilities for a model whose last layer has no activation."""
        compiled = self.compiled.get(id(model))
        loss = compiled.argument(1, "loss") if compiled is not None else None
        layer, shape = gives_logits(out), self.known.tensor(out)
        if compiled is None or layer is None or shape is None or not takes_probabilities(loss):
            return
        name = loss_name(loss)
        if shape.shape[-1] == 1 and name != "binarycrossentropy":
            # A single class: another fault.
            return
        made = isinstance(loss, Made) and loss.spot is not None
        spot = loss.spot if made and isinstance(loss, Made) else compiled.spot
        beside = [(layer, "the last layer has no activation"), (loss if isinstance(loss, Made) else None, "")]
        self.known.tell(LOGITS, spot, {"loss": _shown_loss(loss), "layer": last_name(layer.name)}, beside)

    # Steps and batches

    def _hold_steps(self, call: Call, model: Value, x: Value | None) -> None:
        """Hold the steps of a training against its data and its schedule of the learning rate."""
        found = self.known.datasets.of(x)
        arrays = self.known.tensor(x) if found is None else None
        batch = self._batch_size(call, found, arrays)
        self._hold_batch(call, model, batch)
        count = self._batch_count(call, found, arrays, batch)
        steps, epochs = (
            plain(call.argument(place, name)) for place, name in ((12, "steps_per_epoch"), (3, "epochs"))
        )
        if type(steps) is int and count is not None and steps > count:
            since = found.batched if found is not None else arrays.since if arrays is not None else None
            self.known.tell(
                STEPS,
                call.spot,
                {"steps": steps, "count": count},
                [(since, f"gives {count} batches"), (_as_made(call), "")],
            )
        each = steps if type(steps) is int else count
        if each is not None:
            self._hold_schedule(call, model, each * (epochs if type(epochs) is int else 1))

    def _batch_size(self, call: Call, found: Elements | None, arrays: Tensor | None) -> int | None:
        if found is not None:
            return found.batch
        given = call.argument(2, "batch_size")
        size = plain(given) if given is not None else 32
        if given is not None and isinstance(given, Scalar) and given.value is None:
            size = 32
        return size if arrays is not None and type(size) is int and size > 0 else None

    def _batch_count(
        self, call: Call, found: Elements | None, arrays: Tensor | None, batch: int | None
    ) -> int | None:
        """Return how many batches an epoch has in the data; None where that is not known or has no end."""
        if found is not None:
            return found.count if not found.endless else None
        rows = arrays.shape[0] if arrays is not None and arrays.shape else None
        if rows is None or batch is None or "validation_split" in call.keywords:
            return None
        return -(-rows // batch)

    def _hold_batch(self, call: Call, model: Value, batch: int | None) -> None:
        """Hold the batches against the batch that the input of a model with states names."""
        if not isinstance(model, Made) or batch is None:
            return
        ends = self.known.ends_of(model, call.spot)
        start = self.known.tensor(ends[0][0]) if ends is not None else None
        if start is None or not start.shape or start.shape[0] in (None, batch):
            return
        if ends is None or not any(_keeps_states(item) for item in upstream(ends[1])):
            # A model without states takes any.
            return
        says = f"takes batches of {start.shape[0]}, and gets {batch}"
        self.known.tell(
            REFUSED, call.spot, {"layer": "the model", "says": says}, [(start.since, "names the batch")]
        )

    def _hold_schedule(self, call: Call, model: Value, total: int) -> None:
        """Note a learning rate that is 0 for half of the steps and more."""
        compiled = self.compiled.get(id(model))
        optimizer = compiled.argument(0, "optimizer") if compiled is not None else None
        if not isinstance(optimizer, Made) or not optimizer.name.startswith("keras.optimizers."):
            return
        rate = optimizer.keywords.get("learning_rate") or (optimizer.args[0] if optimizer.args else None)
        if not isinstance(rate, Made) or rate.name not in _ENDING:
            return
        given = by_parameter(rate, self.known.api, rate.name)
        parameter, default = _ENDING[rate.name]
        end = plain(given[parameter]) if parameter in given else default
        decay = plain(given.get("decay_steps"))
        warm = plain(given["warmup_steps"]) if "warmup_steps" in given else 0
        if "cycle" in given or type(decay) is not int or type(warm) is not int or end != 0:
            return
        if 0 < 2 * (decay + warm) <= total:
            self.known.tell(
                SCHEDULE,
                call.spot,
                {"steps": decay + warm, "total": total, "schedule": last_name(rate.name)},
                [(rate, f"comes to 0 after {decay + warm} steps"), (_as_made(call), "")],
            )

    # Files of weights

    def _note_checkpoints(self, call: Call, model: Value) -> None:
        """Note the files that the callbacks of a training write."""
        listed = call.keywords.get("callbacks")
        for item in listed.items if isinstance(listed, Sequence) else [listed] if listed is not None else []:
            if isinstance(item, Made) and last_name(item.name) == "ModelCheckpoint":
                path = plain(item.args[0] if item.args else item.keywords.get("filepath"))
                self._note_file(path, model, call.spot, saving=True)

    def note_file_of_weights(self, call: Call, model: Value, last: str) -> None:
        """Note a call that writes or loads the weights of a model."""
        loose = {"by_name", "skip_mismatch", "objects_to_skip"} & call.keywords.keys()
        path = plain(call.argument(0, "filepath"))
        if not loose and self.known.run.sure:
            self._note_file(path, model, call.spot, saving=last != "load_weights")

    def _note_file(self, path: object, model: Value, spot: Spot, *, saving: bool) -> None:
        if not isinstance(path, str) or not path:
            return
        layers = self._layers_with_weights(model, spot)
        if layers:
            self.weights.append(WeightFile(path, saving, spot, layers))

    def _layers_with_weights(self, model: Value, spot: Spot) -> tuple[Weighed, ...] | None:
        """Return the layers of a model that have weights; None where they are not all known."""
        found: list[Weighed] = []
        seen: set[int] = set()
        if isinstance(model, Instance):
            return None
        ends = self.known.ends_of(model, spot)
        if ends is None:
            return None
        for here in upstream(ends[1]):
            layer = here.receiver if here.name.endswith(CALLED) else None
            if isinstance(layer, Made) and id(layer) not in seen:
                seen.add(id(layer))
                count = self.known.layers.counts.get(id(layer))
                if count is None:
                    return None
                if count:
                    found.append(Weighed(last_name(layer.name), count, layer))
            elif here.name == ELEMENT:
                return None
        return tuple(reversed(found))

    def _samples(self, call: Call, x: Value | None, y: Value | None) -> tuple[Value | None, Value | None]:
        """Return what `fit` passes to the model, and the labels."""
        if x is None:
            return None, None
        found = self.known.datasets.of(x)
        each: Value | None = found.each if found is not None else self._from_class(call, x)
        if each is not None:
            if isinstance(each, Sequence) and each.kind == "tuple":
                return (each.items[0], each.items[1] if len(each.items) > 1 else None) if each.items else (None, None)  # fmt: skip
            return each, None
        return self._batch_of(x, call), self._batch_of(y, call) if y is not None else None

    def _from_class(self, call: Call, x: Value) -> Value | None:
        """Return a batch of a class of batches of the project, or of a generator; None for others."""
        if isinstance(x, Instance):
            method = classes.member(x.cls, "__getitem__")
            if isinstance(method, FunctionObject):
                return call.then(method.bound(x), (Scalar(0),))
        if isinstance(x, Sequence) and x.kind == "generator" and x.items:
            return x.items[0]
        return None

    def _batch_of(self, value: Value, call: Call) -> Value:
        """Return a batch of arrays that are wholly given."""

        def front(item: Value) -> Value:
            found = self.known.tensor(item)
            if found is None or not found.shape:
                return UNKNOWN
            made = found.since or self.known.made(ELEMENT, (), call.spot, None)
            return self.known.leaf(replace(found, shape=(None, *found.shape[1:])), made)

        if isinstance(value, Sequence) and value.items and all(isinstance(item, (Made, Choice)) for item in value.items):  # fmt: skip
            return Sequence([front(item) for item in value.items], open=value.open)
        if isinstance(value, Mapping):
            return Mapping({name: front(item) for name, item in value.entries.items()}, open=value.open)
        return front(value)

    def _output_for(self, call: Call, model: Value, given: Value) -> Value | None:
        if isinstance(model, Instance):
            overridden = ("train_step", "compute_loss", "fit")
            if not is_own_layer(model) or any(
                isinstance(classes.member(model.cls, name), FunctionObject) for name in overridden
            ):
                return None
            method = classes.member(model.cls, "call")
            if not isinstance(method, FunctionObject):
                return None
            takes = any(name == "training" for name, *_ in method.scope.params)
            return call.then(model, (given,), {"training": Scalar(True)} if takes else {})
        if not self.known.is_model(model) or not isinstance(model, Made):
            return None
        made = self.known.made(f"{model.name}{CALLED}", (given,), call.spot, model)
        if is_application(model):
            self.known.work_out(made, call.spot)
            return made
        return self.known.model_called(call, model, given)

    def _hold_labels(self, call: Call, model: Value, out: Value, labels: Value) -> None:
        """Hold labels against what the model gives and the loss that it is compiled with."""
        compiled = self.compiled.get(id(model))
        made, given = self.known.tensor(out), self.known.tensor(labels)
        if compiled is None or made is None or given is None or not made.shape:
            return
        loss = loss_name(compiled.argument(1, "loss"))
        found = against(loss, made.shape, given)
        if found is None:
            return
        says, severity = found
        self.known.tell(
            LABELS,
            call.spot,
            {"says": says},
            [
                (
                    given.bound.since if given.bound is not None and "up to" in says else given.since,
                    "gives the labels",
                ),
                (made.since, "gives the output"),
            ],
            severity,
        )


def _as_made(call: Call) -> Made:
    """Return a call as a value, for the config keys among its arguments."""
    return Made(call.name, call.args, call.keywords, call.spot, call.receiver)


def _shown_loss(loss: Value | None) -> str:
    """Return a loss as the program names it."""
    return last_name(loss.name) if isinstance(loss, Made) else str(plain(loss))


def _keeps_states(made: Made) -> bool:
    layer = made.receiver if made.name.endswith(CALLED) else None
    return isinstance(layer, Made) and plain(layer.keywords.get("stateful")) is True
