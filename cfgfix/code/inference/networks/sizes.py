"""Follow the shapes of a run's tensors, datasets and models, and note where two of its numbers contradict each other."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping as Table

from cfgfix.code.inference.interpreter import classes
from cfgfix.code.inference.interpreter.objects import (
    UNKNOWN,
    Choice,
    ConfigKey,
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
from cfgfix.code.inference.interpreter.values import all_origins, alternatives
from cfgfix.code.inference.networks.arguments import is_layer, last_name
from cfgfix.code.inference.networks.arrays import DATA_SETS, TEST_ROWS, Arrays, declared_shape, plain
from cfgfix.code.inference.networks.conflicts import LACKING, REFUSED, SPREAD, UNSPLIT, Beside, Conflict
from cfgfix.code.inference.networks.elements import ELEMENT, Datasets
from cfgfix.code.inference.networks.fits import Fits
from cfgfix.code.inference.networks.follower import (
    CALLED,
    FUNCTIONAL,
    INPUTS,
    Computed,
    Follower,
    is_application,
    is_own_layer,
    upstream,
)
from cfgfix.code.inference.networks.made_layers import MadeLayers
from cfgfix.code.inference.networks.operations import OPERATOR, operation_of
from cfgfix.code.inference.networks.tensors import Bound, Tensor, each_of, flat, whole_text
from cfgfix.code.tensorflow.api import Api
from cfgfix.code.tensorflow.layers.sizes import (
    MisfitError,
    OpenSizeError,
    Shape,
    UnknownSize,
)
from cfgfix.core.records import replace

_BUILDS = frozenset({"compile", "fit", "summary", "predict", "evaluate", "save", "load_weights"})
_TRAINS = frozenset({"fit", "evaluate", "predict"})


MAX_RANK = 8
"""Most lists inside one another that count as one tensor: more than TensorFlow's operations take."""


class Sizes(Follower):
    """Follows shapes through one run; it is made before the run begins.

    Args:
        run: The run.
        api: The signatures of the project's TensorFlow.

    Attributes:
        conflicts: What contradicts each other, in the order of the run.
    """

    def __init__(self, run: Run, api: Api) -> None:
        super().__init__(run, api, self._note)
        self.arrays = Arrays(self)
        self.datasets = Datasets(self)
        self.layers = MadeLayers(self)
        self.fits = Fits(self)
        self.conflicts: list[Conflict] = []
        self.call: Call | None = None
        """The call that the run makes."""
        self._tensors: dict[int, Tensor] = {}
        self._told: set[tuple[str, object, str]] = set()
        self._refused: set[tuple[int, str]] = set()
        """What layers refused, with their identity: wherever they do it again, it has one cause."""
        self._declaring = False
        """Whether the layers of a sequential model are followed for the shape that it declares."""
        self._wrong = False
        """Whether one of them refused what it gets."""
        self._declared_models: set[int] = set()
        self._other_layout = False
        """Whether the run says itself which dimension of pictures is that of the channels."""
        run.tensors = self

    # What is known of values

    def tensor(self, value: Value | None) -> Tensor | None:
        """Return what is known of a tensor or array; None for nothing."""
        return self._tensor(value, {}, MAX_RANK)

    def _tensor(self, value: Value | None, known: dict[int, Tensor | None], rank: int) -> Tensor | None:
        """Return what is known of a tensor, lists looked at once each and no deeper than a rank."""
        if isinstance(value, Made):
            return self._tensors.get(id(value))
        if isinstance(value, Scalar):
            return Tensor(()) if isinstance(value.value, (int, float, str)) else None
        if not isinstance(value, (Sequence, Choice)) or not rank:
            return None
        if id(value) not in known:
            # What holds itself is no tensor.
            known[id(value)] = None
            known[id(value)] = (
                self._tensor_of_list(value, known, rank)
                if isinstance(value, Sequence)
                else self._tensor_of_choice(value, known, rank)
            )
        return known[id(value)]

    def _tensor_of_choice(self, value: Choice, known: dict[int, Tensor | None], rank: int) -> Tensor | None:
        """Return the tensor that each of several possible values is."""
        found = [self._tensor(item, known, rank - 1) for item in value.values]
        first = found[0]
        if first is not None and all(item is not None and item.shape == first.shape for item in found):
            return replace(first, bound=None)
        return None

    def _tensor_of_list(self, value: Sequence, known: dict[int, Tensor | None], rank: int) -> Tensor | None:
        """Return a list of numbers, texts or tensors as one tensor."""
        if value.kind not in ("list", "tuple") or value.uncounted or not value.items:
            return None
        inner = [self._tensor(item, known, rank - 1) for item in value.items]
        first = inner[0]
        if first is None or any(item is None or item.shape != first.shape for item in inner):
            return None
        rows = None if value.open else len(value.items)
        numbers = [item.value for item in value.items if isinstance(item, Scalar)]
        whole = not value.open and all(type(number) is int for number in numbers) and len(numbers) == rows
        bound = Bound(max(numbers) + 1, first.since) if whole and first.since is not None else None
        return Tensor((rows, *first.shape), first.since, bound)

    def made(self, name: str, args: tuple[Value, ...], spot: Spot | None, receiver: Value | None) -> Made:
        """Return a value that no call of the program makes, and keep it."""
        return self._made_result(name, args, spot, receiver)

    def leaf(self, tensor: Tensor | None, made: Made) -> Value:
        """Return a value that stands for a tensor."""
        if tensor is None:
            return UNKNOWN
        found = self._made_result(ELEMENT, (), made.spot, None)
        self._tensors[id(found)] = tensor
        return found

    def shape_of(self, value: Value) -> Shape | None:
        """Return the shape of a tensor without its batch; None where it is not known."""
        found = self.tensor(value)
        return found.shape[1:] if found is not None and found.shape else None

    def _shape_of(self, value: Value) -> Shape:
        found = self.shape_of(value)
        if found is None:
            raise UnknownSize
        return found

    def computed(self, value: Value) -> Computed | None:
        """Work out the shape of a tensor that is made again from other inputs."""
        if isinstance(value, Made) and id(value) not in self._tensors and value.spot is not None:
            self.work_out(value, value.spot)
        return None

    # What a run asks

    def attribute(self, owner: Value, name: str, spot: Spot) -> Value | None:
        """Return an attribute of a tensor, layer or model; None if it is not followed."""
        if isinstance(owner, Made):
            found = self._tensors.get(id(owner))
            if name == "shape" and found is not None:
                symbolic = owner.name.endswith(CALLED) or owner.name in INPUTS
                sizes: list[Value] = [Scalar(size) if size is not None else UNKNOWN for size in found.shape]
                if symbolic and found.shape and found.shape[0] is None:
                    sizes[0] = Scalar(None)
                return Sequence(sizes, kind="tuple")
            if name == "ndim" and found is not None:
                return Scalar(len(found.shape))
            if name in ("T", "values") and found is not None:
                made = self._made_result(f"numpy.{'transpose' if name == 'T' else 'values'}", (), spot, owner)
                self.work_out(made, spot)
                return made
        return super().attribute(owner, name, spot)

    def items(self, owner: Made) -> list[Value] | None:
        """Return the items of a library's result; None where they are not known."""
        parts = self.layers.parts_of.get(id(owner))
        return list(parts) if parts is not None else super().items(owner)

    def each(self, owner: Value) -> Value | None:
        """Return what a loop over a dataset gets in each turn; None if not known."""
        found = self.datasets.of(owner)
        return found.each if found is not None else None

    def item(self, owner: Value, index: Value, spot: Spot) -> Value | None:
        """Return the item of a library's result at an index; None if it is not followed."""
        if isinstance(owner, Made):
            parts = self.layers.parts_of.get(id(owner))
            number = plain(index)
            if parts is not None and type(number) is int and -len(parts) <= number < len(parts):
                return parts[number]
            if owner.name not in ("keras.Model.layers", "keras.Model.some.layers"):
                made = self._made_result(f"{OPERATOR}getitem", (owner, index), spot, None)
                self.work_out(made, spot)
                return made
        return super().item(owner, index, spot)

    def operation(self, sign: str, left: Value, right: Value, spot: Spot) -> Value | None:
        """Return the result of an operator on tensors; None if no operand may be one."""
        if not any(isinstance(item, Made) for side in (left, right) for item in alternatives(side)):
            return None
        made = self._made_result(f"{OPERATOR}{sign}", (left, right), spot, None)
        self.work_out(made, spot)
        if sign == "-":
            self._hold_difference(made, spot)
        return made

    def _hold_difference(self, made: Made, spot: Spot) -> None:
        """Note a difference between one label for each sample and a column of outputs.

        It has an entry for each pair of samples.
        """
        known = [self.tensor(value) for value in made.args]
        one, other = known
        if one is None or other is None or one.since is None or other.since is None:
            return
        if len(one.shape) > len(other.shape):
            one, other = other, one
        labels, column = one.since, other.since
        if labels is None or column is None or len(one.shape) != 1 or len(other.shape) != 2:
            return
        of_model = column.name.endswith(CALLED) and not labels.name.endswith(CALLED)
        if of_model and other.shape[1] == 1 and one.shape[0] == other.shape[0] != 1:
            self.tell(
                SPREAD,
                spot,
                {"labels": whole_text(one.shape), "outputs": whole_text(other.shape)},
                [(labels, "gives one number for each sample"), (column, "gives a column")],
            )

    def call_own(self, call: Call, instance: Instance) -> Value | None:
        """Return the result of calling a layer or model of a project class."""
        self.call, self.frame = call, call.frame
        method = classes.member(instance.cls, "call")
        if is_own_layer(instance) and isinstance(method, FunctionObject) and not call.opaque:
            self._hold_arguments(call, instance, method)
        return super().call_own(call, instance)

    def doubted(self, value: Value) -> bool:
        """Tell whether a model of Keras is not fully known."""
        return not isinstance(value, Instance) and super().doubted(value)

    def given_by_own(self, instance: Instance, made: Value) -> Value:
        """Return what a layer or model of a project class gives."""
        del instance
        return made

    def after_call(self, call: Call, name: str, made: Made) -> Value:
        """Note a library call, and return its result."""
        self.call, self.frame = call, call.frame
        self._other_layout = self._other_layout or last_name(name) == "set_image_data_format"
        self._kept.append(made)
        if name.endswith(CALLED) and isinstance(call.callee, Made):
            made.receiver = call.callee
            if self.is_model(call.callee) and not is_application(call.callee):
                return self.model_called(call, call.callee, call.first)
            self.work_out(made, call.spot)
            return made
        if last_name(name) in ("flow_from_directory", "flow_from_dataframe"):
            self._hold_split(made, call)
        if self.datasets.note(made, call) is not None:
            return made
        self._note_parts(made)
        if name.endswith(".set_shape") and isinstance(call.receiver, Made) and call.args:
            self._set_shape(call.receiver, call.args[0])
        if isinstance(call.receiver, Instance) and last_name(name) in ("add_weight", "add_variable"):
            self._note_weight(made)
        found = super().after_call(call, name, made)
        if found is made:
            self.work_out(made, call.spot)
        if isinstance(call.receiver, Instance) and last_name(name) == "build" and call.args:
            self._built_alone(call, call.receiver)
        return found

    def _hold_arguments(self, call: Call, instance: Instance, method: FunctionObject) -> None:
        """Note a call of a layer or model that leaves an argument of its `call` out."""
        lacking = _lacking_parameters(method, len(call.args), call.keywords)
        if not lacking or method.decorated:
            return
        made = Made("", (), {}, Spot(method.scope, method.scope.place, 0))
        shown = instance.cls.scope.name
        self.tell(LACKING, call.spot, {"cls": shown, "name": lacking[0]}, [(made, "declared here")])

    def _hold_split(self, made: Made, call: Call) -> None:
        """Note pictures for validation out of a generator that splits none off."""
        owner = made.receiver
        subset = made.keywords.get("subset")
        if not isinstance(owner, Made) or last_name(owner.name) != "ImageDataGenerator":
            return
        if plain(subset) != "validation" or "validation_split" in owner.keywords or owner.args:
            return
        if owner.spread is None or not owner.spread.open:
            self.tell(UNSPLIT, call.spot, {}, [(owner, "says no validation_split"), (made, "")])

    # Shapes of results

    def work_out(self, made: Made, spot: Spot) -> None:
        """Note the shape of a call's result, or that the call refuses what it gets."""
        if len(self._tensors) > MAX_TENSORS:
            return
        try:
            found = self._result_tensor(made)
        except OpenSizeError:
            return
        except MisfitError as error:
            layer = made.receiver if made.name.endswith(CALLED) and isinstance(made.receiver, Made) else None
            self._tell_misfit(made, layer, str(error), spot)
            return
        except (UnknownSize, RecursionError, OverflowError):
            return
        if found is not None:
            self._tensors[id(made)] = found

    def _result_tensor(self, made: Made) -> Tensor | None:
        if made.name in INPUTS:
            return self.layers.input(made)
        if made.name.endswith(CALLED) and isinstance(made.receiver, Made):
            layer = made.receiver
            if is_application(layer):
                return self.layers.of_application(made, layer)
            return self.layers.of_call(made, layer) if is_layer(layer) else None
        if made.name.startswith("keras.layers."):
            operation = operation_of(made, self.api)
            if operation is None or operation.layer is None:
                return None
            given = [self.tensor(value) for value in operation.tensors]
            return self.layers.of_layer(made, operation.layer, given)
        return self.arrays.made_by(made)

    def _note_weight(self, made: Made) -> None:
        """Note the shape of a weight that a layer of the project makes."""
        given = made.keywords.get("shape")
        for value in made.args[:2]:
            given = value if given is None and isinstance(value, (Sequence, Choice)) else given
        sizes = plain(given)
        if isinstance(sizes, list):
            self._tensors[id(made)] = Tensor(
                tuple(size if type(size) is int else None for size in sizes), made
            )

    def _set_shape(self, owner: Made, value: Value) -> None:
        sizes = plain(value)
        if isinstance(sizes, list):
            before = self._tensors.get(id(owner))
            self._tensors[id(owner)] = Tensor(
                tuple(size if type(size) is int else None for size in sizes),
                before.since if before is not None else owner,
            )

    def _note_parts(self, made: Made) -> None:
        """Note the arrays that a call gives several of."""
        name, last = made.name, last_name(made.name)
        if last == "load_data" and name.startswith("keras.datasets."):
            which = name.split(".")[2]
            if which in DATA_SETS:
                inputs, targets, classes = DATA_SETS[which]
                bound = Bound(classes, made) if classes is not None else None
                halves: list[Value] = []
                for rows in (inputs[0], TEST_ROWS[which]):
                    x = self.leaf(Tensor((rows, *inputs[1:]), made), made)
                    y = self.leaf(Tensor((rows, *targets[1:]), made, bound), made)
                    halves.append(Sequence([x, y], kind="tuple"))
                self.layers.parts_of[id(made)] = halves
        elif last == "train_test_split" and made.args:
            parts: list[Value] = []
            for value in made.args:
                found = self.tensor(value)
                for _ in range(2):
                    part = (
                        self.leaf(replace(found, shape=(None, *found.shape[1:])), made)
                        if found is not None and found.shape
                        else UNKNOWN
                    )
                    parts.append(part)
            self.layers.parts_of[id(made)] = parts

    # Models

    def ends_of(self, model: Value, spot: Spot) -> tuple[tuple[Value, ...], tuple[Value, ...]] | None:
        """Return the input and output tensors of a model.

        None where they are not known.
        """
        if not isinstance(model, Made) or model.name in FUNCTIONAL or is_application(model):
            return super().ends_of(model, spot)
        before, self._declaring = self._declaring, True
        wrong, self._wrong = self._wrong, False
        try:
            found = super().ends_of(model, spot)
            if self._wrong:
                self._doubt_value(model)
            return found
        finally:
            self._declaring, self._wrong = before, wrong

    def _input_of_model(self, model: Made, spot: Spot) -> Made | None:
        """Return the input tensor of a sequential model or an application.

        It is the same each time. None where its shape is not known.
        """
        found = super()._input_of_model(model, spot)
        if found is not None and id(found) not in self._tensors:
            listed = self.layers_in(model, spot) if not is_application(model) else None
            first = listed[0] if listed else None
            declared = self.tensor(first) if isinstance(first, Made) and first.name in INPUTS else None
            if declared is not None:
                self._tensors[id(found)] = declared
            else:
                self.work_out(found, spot)
        return found

    def _first_shape(self, model: Value, spot: Spot) -> Shape:
        if isinstance(model, Made) and id(model) not in self.shapes_built:
            if model.name in INPUTS:
                return self._shape_of(model)
            if is_layer(model):
                return self._declared_shape(model)
        return super()._first_shape(model, spot)

    def _declared_shape(self, layer: Made) -> Shape:
        """Return the input shape, without the batch, that a first layer declares.

        Raises:
            UnknownSize: The layer declares none.
        """
        for name, batch in (("batch_input_shape", True), ("batch_shape", True), ("input_shape", False)):
            if name in layer.keywords:
                return declared_shape(layer.keywords[name])[1 if batch else 0 :]
        for name in ("input_dim", "input_length"):
            if name in layer.keywords and last_name(layer.name) == {"input_dim": "Dense"}.get(
                name, "Embedding"
            ):
                return declared_shape(layer.keywords[name])
        raise UnknownSize

    def _built_alone(self, call: Call, model: Instance) -> None:
        """Call a model of a project class that is built for a shape."""
        sizes = plain(call.args[0])
        method = classes.member(model.cls, "call")
        if not isinstance(method, FunctionObject) or _lacking_parameters(method, 1, {}):
            return
        if is_own_layer(model) and isinstance(sizes, list) and sizes:
            shape = tuple(size if type(size) is int else None for size in sizes)
            start = self._made_result("keras.Input", (), call.spot, None)
            self._tensors[id(start)] = Tensor(shape, start)
            call.then(model, (start,))

    def model_called(self, call: Call, model: Made, given: Value) -> Value:
        """Return what a model gives for its inputs, and note inputs that it refuses."""
        if self.doubted(model):
            return UNKNOWN
        ends = self.ends_of(model, call.spot)
        if self.doubted(model):
            return UNKNOWN
        if model.name in FUNCTIONAL:
            return self._functional_model(call, model, given, ends)
        # The layers are built for the shape that the model declares, if it declares one.
        values = flat(given)
        if len(values) != 1:
            return UNKNOWN
        value = values[0]
        if ends is not None:
            start = self.tensor(ends[0][0])
            got = self.tensor(value)
            if start is None or got is None:
                value = ends[0][0]
            elif not self._accepts_tensor(model, ends[0][0], value, call, exact=False):
                return UNKNOWN
            elif len(got.shape) != len(start.shape):
                value = ends[0][0]
        found = self._output_of_model(model, (value,), call.frame, call.spot)
        return found if found is not None else UNKNOWN

    def _functional_model(
        self,
        call: Call,
        model: Made,
        given: Value,
        ends: tuple[tuple[Value, ...], tuple[Value, ...]] | None,
    ) -> Value:
        if ends is None:
            return UNKNOWN
        values = self._by_input(given, ends[0])
        known: dict[int, Value] = {}
        for start, value in zip(ends[0], values, strict=True):
            if self.tensor(value) is None:
                known[id(start)] = start
                continue
            if not self._accepts_tensor(model, start, value, call, exact=True):
                return UNKNOWN
            one, other = self.tensor(start), self.tensor(value)
            fits = one is not None and other is not None and len(one.shape) == len(other.shape)
            known[id(start)] = value if fits else start
        out = [self._tensor_of_other_inputs(value, known, model) for value in ends[1]]
        return out[0] if len(out) == 1 else Sequence(out)

    def _by_input(self, given: Value, inputs: tuple[Value, ...]) -> list[Value]:
        """Return what a call gives each input of a model; unknown values where that does not show."""
        unknown: list[Value] = [UNKNOWN] * len(inputs)
        if isinstance(given, Mapping):
            names = [plain(item.keywords.get("name")) if isinstance(item, Made) else None for item in inputs]
            return [given.entries.get(name, UNKNOWN) if name else UNKNOWN for name in names]
        values = flat(given)
        return list(values) if len(values) == len(inputs) else unknown

    def _accepts_tensor(self, model: Made, start: Value, value: Value, call: Call, *, exact: bool) -> bool:
        """Tell whether a model takes a tensor at an input, and note it where it does not."""
        wanted, got = self.tensor(start), self.tensor(value)
        if wanted is None or got is None:
            return True
        one, other = wanted.shape, got.shape
        if len(other) == len(one) + 1 and other[-1] in (1, None):
            other = other[:-1]
        elif len(other) == len(one) - 1 and one[-1] in (1, None):
            other = (*other, one[-1])
        wrong = len(one) != len(other) or (
            exact
            and any(None not in pair and pair[0] != pair[1] for pair in zip(one[1:], other[1:], strict=True))
        )
        if wrong:
            says = f"takes {whole_text(one)}, and gets {whole_text(got.shape)}"
            name = plain(model.keywords.get("name"))
            shown = f"the model {name!r}" if isinstance(name, str) else "the model"
            self.tell(
                REFUSED,
                call.spot,
                {"layer": shown, "says": says},
                [
                    (got.since, f"gives {whole_text(got.shape)}"),
                    (wanted.since, f"takes {whole_text(wanted.shape)}"),
                ],
            )
        return not wrong

    # Trainings

    def _note(self, call: Call, name: str) -> None:
        """Note a call of a method of a model."""
        last = last_name(name)
        model = call.receiver
        if model is None:
            return
        if isinstance(model, Made) and id(model) not in self._declared_models and last in _BUILDS:
            self._declared_models.add(id(model))
            self._kept.append(model)
            self.ends_of(model, call.spot)
        if last == "compile":
            self.fits.compiled[id(model)] = call
        elif last in _TRAINS and not call.opaque:
            self.fits.hold(call, model, last)
        elif last in ("save_weights", "load_weights", "save"):
            self.fits.note_file_of_weights(call, model, last)

    # What is told

    def _tell_misfit(self, made: Made, layer: Made | None, says: str, spot: Spot) -> None:
        if self._declaring and layer is not None and layer.spot is not None:
            # The model is wrong in itself, whatever calls it.
            spot = layer.spot
            self._wrong = True
        if layer is not None:
            if (id(layer), says) in self._refused:
                return
            self._refused.add((id(layer), says))
        name = last_name(layer.name) if layer is not None else last_name(made.name)
        if made.name.startswith(OPERATOR) and made.receiver is None:
            name = f"`{made.name[len(OPERATOR) :]}`"
        since: list[tuple[Made | None, str]] = []
        for value in _input_values(made):
            found = self.tensor(value)
            if found is not None and found.since is not None and found.since is not made:
                since.append((found.since, f"gives {whole_text(found.shape)}"))
        if layer is not None:
            since.append((layer, "made here"))
            known = self.layers.widths.get(id(layer))
            if known is not None and known[1] is not made:
                since.append((known[1], "called here first"))
        before = list(upstream(tuple(_input_values(made))))
        begins = [item for item in before if item.name in INPUTS]
        since += [(item, "") for item in before if _says_shape(item)]
        since += [
            (item, "the shape begins here") for item in begins if all(item is not one for one, _ in since)
        ]
        if layer is not None and layer.spot is not None and layer.spot.place.start == spot.place.start:
            # The layer is made where it is called.
            spot = layer.spot
        self.tell(REFUSED, spot, {"layer": name, "says": says}, [*since, (made, "")])

    def tell(
        self,
        kind: str,
        spot: Spot | None,
        values: dict[str, object],
        beside: Beside,
        severity: str | None = None,
    ) -> None:
        """Note a conflict, if the run certainly comes to it and nothing catches it."""
        run = self.run
        frame = self.frame
        if spot is None or not run.sure or run.every_way or spot.conditions or self._other_layout:
            return
        if frame is not None and (frame.catches("ValueError") or frame.catches("InvalidArgumentError")):
            return
        key = (spot.path, spot.place, kind)
        if key in self._told:
            return
        self._told.add(key)
        related: list[tuple[Spot, str]] = []
        keys: dict[ConfigKey, None] = {}
        for made, label in beside:
            if made is None:
                continue
            known = [(other.place, text) for other, text in related]
            elsewhere = label and made.spot is not None and made.spot.place != spot.place
            if elsewhere and made.spot is not None and (made.spot.place, label) not in known:
                related.append((made.spot, label))
            layer = made.receiver if made.name.endswith(CALLED) and isinstance(made.receiver, Made) else made
            for value in (*made.args, *made.keywords.values(), *layer.args, *layer.keywords.values()):
                for origin in all_origins(value):
                    if origin.path and not origin.source.startswith("<"):
                        keys.setdefault(origin, None)
        self.conflicts.append(Conflict(kind, spot, values, tuple(related), tuple(keys), severity))


MAX_TENSORS = 40_000
"""Most tensors whose shapes are kept in one run."""


def _lacking_parameters(method: FunctionObject, count: int, named: Table[str, Value]) -> list[str]:
    """Return the parameters of a method that a call leaves out.

    Whether a layer trains, Keras says itself.

    Args:
        method: The method.
        count: How many arguments are given by position.
        named: Those that are given by name.
    """
    params = [(name, kind) for name, _, _, kind in method.scope.params][1:]
    first = [name for name, kind in params if kind == "plain"][:count]
    filled = {*first, *named, *method.defaults, "training"}
    return [name for name, kind in params if kind in ("plain", "keyword") and name not in filled]


def _says_shape(made: Made) -> bool:
    """Tell whether a call runs a layer that is told its whole shape."""
    layer = made.receiver if made.name.endswith(CALLED) else None
    return isinstance(layer, Made) and last_name(layer.name) in ("Reshape", "Resizing", "CenterCrop")


def _input_values(made: Made) -> Iterator[Value]:
    values = [*made.args, *made.keywords.values()]
    if made.receiver is not None and not made.name.endswith(CALLED):
        values.insert(0, made.receiver)
    yield from each_of(values)
