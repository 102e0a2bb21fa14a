"""What functions and methods of NumPy, TensorFlow and their like make of whole tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from cfgfix.code.inference.interpreter.objects import External, Made, Scalar, Sequence, Value
from cfgfix.code.inference.networks import tensors
from cfgfix.code.inference.networks.arguments import MAX_DEPTH, last_name
from cfgfix.code.inference.networks.operations import OPERATOR
from cfgfix.code.inference.networks.tensors import BATCH, Bound, Tensor
from cfgfix.code.tensorflow.layers.sizes import MisfitError, Shape, UnknownSize
from cfgfix.core.records import replace


class Known(Protocol):
    """What is known of the values of a run."""

    def tensor(self, value: Value | None) -> Tensor | None:
        """Return what is known of a tensor; None for nothing."""


_LIBRARIES = frozenset({"numpy", "tensorflow", "keras", "cv2", "sklearn", "pandas", "PIL", "operator"})
_NEW_AXES = frozenset({"numpy.newaxis", "tensorflow.newaxis"})
_SAME = frozenset(
    {
        "abs", "adjust_brightness", "adjust_contrast", "adjust_hue", "adjust_saturation", "asarray", "array", "ascontiguousarray", "astype",
        "cast", "ceil", "clip", "clip_by_value", "convert_image_dtype", "convert_to_tensor", "copy", "cos", "cumsum", "dropout", "elu", "exp",
        "flip", "flip_left_right", "flip_up_down", "fliplr", "flipud", "floor", "gelu", "identity", "l2_normalize", "leaky_relu", "log",
        "log1p", "log_softmax", "nan_to_num", "negative", "normalize", "numpy", "ones_like", "per_image_standardization", "preprocess_input",
        "random_brightness", "random_contrast", "random_flip_left_right", "random_flip_up_down", "random_hue", "random_saturation", "read_value",
        "relu", "relu6", "rot90", "round", "rsqrt", "shuffle", "sigmoid", "sign", "silu", "sin", "softmax", "softplus", "sqrt", "square", "stop_gradient",
        "swish", "tanh", "to_numpy", "zeros_like", "Variable", "constant", "fit_transform", "transform", "fillna", "array_to_img", "random_normal_like",
    }
)  # fmt: skip
"""Functions and methods that change no shape."""
_KEEP_NUMBERS = frozenset({"asarray", "array", "astype", "cast", "convert_to_tensor", "copy", "numpy", "to_numpy", "constant", "identity"})  # fmt: skip
"""Those of them that change no number either, as far as whole numbers go."""
_PAIRS = frozenset({"add", "subtract", "multiply", "divide", "maximum", "minimum", "truediv", "pow", "squared_difference"})  # fmt: skip
_SIGNS = frozenset({"+", "-", "*", "/", "//", "%", "**"})
_REDUCES = frozenset(
    {"reduce_mean", "reduce_sum", "reduce_max", "reduce_min", "reduce_prod", "mean", "sum", "max", "min", "std", "var", "median", "prod"}
)  # fmt: skip
_PICKS = frozenset({"argmax", "argmin"})
_FILLS = frozenset({"zeros", "ones", "empty", "full", "fill"})
_IMAGES = frozenset({"decode_jpeg", "decode_png", "decode_image", "decode_bmp", "decode_gif", "decode_and_crop_jpeg"})  # fmt: skip
_MODES = {"grayscale": 1, "rgb": 3, "rgba": 4}

DATA_SETS: dict[str, tuple[Shape, Shape, int | None]] = {
    "mnist": ((60_000, 28, 28), (60_000,), 10),
    "fashion_mnist": ((60_000, 28, 28), (60_000,), 10),
    "cifar10": ((50_000, 32, 32, 3), (50_000, 1), 10),
    "cifar100": ((50_000, 32, 32, 3), (50_000, 1), 100),
    "boston_housing": ((404, 13), (404,), None),
}
"""The training halves of data sets of Keras: inputs, targets, and the number of classes."""
TEST_ROWS = {"mnist": 10_000, "fashion_mnist": 10_000, "cifar10": 10_000, "cifar100": 10_000, "boston_housing": 102}  # fmt: skip


def plain(value: Value | None, depth: int = MAX_DEPTH) -> Any:
    """Return a value as plain data; None where it is not known.

    What a command line may change counts as its default.
    """
    if isinstance(value, Scalar):
        return value.value
    if isinstance(value, Sequence) and not value.open and depth:
        return [plain(item, depth - 1) for item in value.items]
    return None


def declared_shape(value: Value | None) -> Shape:
    """Return the shape that an argument says.

    Raises:
        UnknownSize: It says none.
    """
    sizes = plain(value)
    if type(sizes) is int:
        sizes = [sizes]
    if not isinstance(sizes, list):
        raise UnknownSize
    return tuple(size if type(size) is int and size >= 0 else None for size in sizes)


class Arrays:
    """Works out the shapes of arrays and tensors from the calls that make them.

    Args:
        known: Tells what is known of other values.
    """

    def __init__(self, known: Known) -> None:
        self.known = known

    def made_by(self, made: Made) -> Tensor | None:
        """Return the tensor that a call gives; None where that is not known.

        Raises:
            MisfitError: The call refuses its tensors.
            UnknownSize: A size is not known.
        """
        name = made.name
        root, last = name.partition(".")[0], last_name(name)
        if name.startswith(OPERATOR) and made.receiver is None:
            return self._operator_result(made, name[len(OPERATOR) :])
        owner = self.known.tensor(made.receiver) if made.receiver is not None else None
        if owner is None and (
            root not in _LIBRARIES or name.startswith(("keras.layers.", "tensorflow.data."))
        ):
            return None
        found = self._created_array(made, last) if owner is None else None
        if found is not None:
            return found
        if made.receiver is not None and owner is None and not name.startswith("sklearn."):
            # A method of what is not known: its arguments are none of a function of the name.
            return None
        rule = _RULES.get(last)
        if rule is not None:
            return rule(self, made, last)
        if last in _SAME:
            return self._array_alike(made, last)
        if last in _PAIRS:
            return self._element_wise(made, made.args[:2])
        if last in _REDUCES or last in _PICKS:
            return self._reduced_array(made, last)
        return None

    # Arguments

    def of(self, made: Made, place: int, *names: str) -> Value | None:
        """Return an argument of a function, where the receiver of a method is the first."""
        args = made.args
        if made.receiver is not None and self.known.tensor(made.receiver) is not None:
            args = (made.receiver, *args)
        if len(args) > place:
            return args[place]
        return next((made.keywords[name] for name in names if name in made.keywords), None)

    def tensor_of(self, made: Made, place: int = 0, *names: str) -> Tensor:
        """Return an argument that is a tensor.

        Raises:
            UnknownSize: It is not known.
        """
        found = self.known.tensor(self.of(made, place, *names))
        if found is None:
            raise UnknownSize
        return found

    # Those that make one

    def _created_array(self, made: Made, last: str) -> Tensor | None:
        name = made.name
        if last in _FILLS:
            return Tensor(declared_shape(self.of(made, 0, "shape", "dims")), made)
        if ".random" in name or name.startswith(("tensorflow.random.", "numpy.random.")):
            return self._drawn_array(made, last)
        if last in ("arange", "range") and name.startswith(("numpy.", "tensorflow.", "keras.")):
            return self._counted_array(made)
        if last in ("eye", "identity") and name.startswith(("numpy.", "tensorflow.")) and made.args:
            rows = plain(made.args[0])
            columns = plain(made.args[1]) if len(made.args) > 1 else rows
            if type(rows) is int and (columns is None or type(columns) is int):
                return Tensor((rows, rows if columns is None else columns), made, one_hot=True)
        if last == "linspace":
            count = plain(self.of(made, 2, "num"))
            return Tensor((count if type(count) is int else None,), made)
        if last in _IMAGES and name.startswith("tensorflow."):
            channels = plain(self.of(made, 1, "channels"))
            return Tensor((None, None, channels if type(channels) is int and channels else None), made)
        if last == "pad_sequences":
            return self._padded_array(made)
        if last == "load_img" and name.startswith("keras."):
            return self._loaded_picture(made)
        if name == "cv2.imread":
            flag = self.of(made, 1, "flags")
            if flag is None or (isinstance(flag, External) and flag.name == "cv2.IMREAD_COLOR"):
                return Tensor((None, None, 3), made)
        return None

    def _drawn_array(self, made: Made, last: str) -> Tensor | None:
        of_tensorflow = made.name.startswith("tensorflow.")
        size: Value | None
        if last in ("rand", "randn") and made.args:
            return Tensor(tuple(size if type(size) is int else None for size in map(plain, made.args)), made)
        if of_tensorflow:
            size = self.of(made, 0, "shape")
        elif last in ("random", "random_sample", "ranf", "sample", "standard_normal"):
            size = self.of(made, 0, "size")
        elif last in ("normal", "uniform", "randint", "integers", "poisson"):
            size = self.of(made, 1 if last == "poisson" else 2, "size")
        elif last == "choice":
            size = self.of(made, 1, "size")
        else:
            return None
        if size is None:
            return None
        bound = None
        low, high = plain(self.of(made, 0, "low")), plain(self.of(made, 1, "high"))
        if last in ("randint", "integers"):
            if high is None and "high" not in made.keywords and len(made.args) < 2:
                high = low
            bound = Bound(high, made) if type(high) is int else None
        if of_tensorflow and last == "uniform" and _is_integer(made.keywords.get("dtype")):
            high = plain(self.of(made, 2, "maxval"))
            bound = Bound(high, made) if type(high) is int else None
        return Tensor(declared_shape(size), made, bound)

    def _counted_array(self, made: Made) -> Tensor | None:
        numbers = [plain(item) for item in made.args[:3]]
        if not numbers or not all(type(number) is int for number in numbers):
            return Tensor((None,), made) if numbers else None
        found = range(*numbers) if len(numbers) < 3 or numbers[2] else range(0)
        return Tensor((len(found),), made, Bound(max(found) + 1, made) if found else None)

    def _padded_array(self, made: Made) -> Tensor:
        length = plain(self.of(made, 1, "maxlen"))
        listed = made.args[0] if made.args else made.keywords.get("sequences")
        rows = len(listed.items) if isinstance(listed, Sequence) and not listed.open else None
        before = self.known.tensor(listed)
        bound = before.bound if before is not None else None
        return Tensor((rows, length if type(length) is int else None), made, bound)

    def _loaded_picture(self, made: Made) -> Tensor:
        mode = plain(made.keywords["color_mode"]) if "color_mode" in made.keywords else "rgb"
        size = plain(made.keywords.get("target_size") or self.of(made, 2, "target_size"))
        sides = size if isinstance(size, list) and len(size) == 2 else [None, None]
        channels = _MODES.get(mode) if isinstance(mode, str) else None
        return Tensor((sides[0], sides[1], channels), made)

    # Those that change one

    def _array_alike(self, made: Made, last: str) -> Tensor:
        found = self.tensor_of(made, 0, "x", "input", "image", "value", "tensor", "a", "object", "X")
        if last not in _KEEP_NUMBERS:
            return replace(found, bound=None)
        return found

    def _element_wise(self, made: Made, values: tuple[Value, ...]) -> Tensor:
        known = [self.known.tensor(value) for value in values]
        several = [item for item in known if item is not None]
        if len(several) < len(values) or not several:
            raise UnknownSize
        shape = tensors.broadcast(*(item.shape for item in several))
        first = next((item for item in several if item.shape == shape), several[0])
        return Tensor(shape, first.since if first.since is not None else made)

    def _operator_result(self, made: Made, sign: str) -> Tensor | None:
        if sign == "getitem":
            return self._taken_rows(made)
        if sign == "@":
            return self._product_array(made)
        return self._element_wise(made, made.args) if sign in _SIGNS else None

    def _taken_rows(self, made: Made) -> Tensor:
        owner, index = made.args
        found = self.known.tensor(owner)
        if isinstance(index, Sequence) and index.kind == "list" and not index.open:
            names = plain(index)
            if names and all(isinstance(name, str) for name in names):
                # Columns of a table.
                rows = found.shape[0] if found is not None and found.shape else None
                return Tensor((rows, len(names)), made)
        if found is None:
            raise UnknownSize
        if found.one_hot and isinstance(index, Made) and (inner := self.known.tensor(index)) is not None:
            return Tensor((*inner.shape, *found.shape[1:]), found.since, one_hot=True)
        parts = index.items if isinstance(index, Sequence) and index.kind == "tuple" else [index]
        return replace(found, shape=_indexed_shape(found.shape, parts))

    def _product_array(self, made: Made) -> Tensor:
        left, right = self.tensor_of(made), self.tensor_of(made, 1, "b")
        turn_left, turn_right = (
            plain(made.keywords[name]) if name in made.keywords else False
            for name in ("transpose_a", "transpose_b")
        )
        if type(turn_left) is not bool or type(turn_right) is not bool:
            raise UnknownSize
        return Tensor(
            tensors.multiplied(left.shape, right.shape, turn_left=turn_left, turn_right=turn_right), made
        )

    def _reduced_array(self, made: Made, last: str) -> Tensor:
        found = self.tensor_of(made, 0, "input_tensor", "input", "a", "x")
        given = self.of(made, 1, "axis")
        axes = plain(given)
        kept = plain(made.keywords["keepdims"]) if "keepdims" in made.keywords else False
        if type(axes) is int:
            axes = [axes]
        if (given is not None and axes is None and not _is_none(given)) or type(kept) is not bool:
            raise UnknownSize
        if axes is not None and not all(type(axis) is int for axis in axes):
            raise UnknownSize
        if last in _PICKS and axes is None and made.name.startswith(("tensorflow.", "keras.")):
            axes = [0]
        if last in _PICKS and axes is not None and len(axes) == 1 and -len(found.shape) <= axes[0] < len(found.shape):  # fmt: skip
            size = found.shape[axes[0]]
            bound = Bound(size, made, reached=False) if size is not None else None
            return Tensor(tensors.reduced(found.shape, axes, kept=kept), made, bound)
        return Tensor(tensors.reduced(found.shape, axes, kept=kept), made)

    def reshaped(self, made: Made, _last: str) -> Tensor:
        """Return the tensor that a reshape gives."""
        owner = self.known.tensor(made.receiver) if made.receiver is not None else None
        given = made.args if owner is not None else made.args[1:]
        before = owner if owner is not None else self.known.tensor(self.of(made, 0, "tensor", "a", "x"))
        wanted = given[0] if given else next((made.keywords[name] for name in ("shape", "newshape") if name in made.keywords), None)  # fmt: skip
        if len(given) > 1 and owner is not None:
            sizes = list(given)
        elif isinstance(wanted, Sequence) and not wanted.open:
            sizes = wanted.items
        elif isinstance(wanted, Scalar):
            sizes = [wanted]
        else:
            raise UnknownSize
        goal = [self._size_wanted(size, place) for place, size in enumerate(sizes)]
        if goal and goal[0] is BATCH and not _has_batch_of(made, sizes[0]):
            goal[0] = None
        made_shape = tensors.reshaped(before.shape if before is not None else None, goal)
        bound = before.bound if before is not None else None
        return Tensor(made_shape, made, bound)

    def _size_wanted(self, size: Value, place: int) -> object:
        number = plain(size)
        if type(number) is int:
            return number
        if place == 0 and isinstance(size, Made) and size.name == f"{OPERATOR}getitem":
            whole, index = size.args
            if isinstance(whole, Made) and last_name(whole.name) == "shape" and plain(index) == 0:
                return BATCH
        return None

    def expanded(self, made: Made, _last: str) -> Tensor:
        """Return a tensor with a further axis."""
        found, axis = self.tensor_of(made, 0, "input", "a", "x"), plain(self.of(made, 1, "axis"))
        if type(axis) is not int:
            raise UnknownSize
        return replace(found, shape=tensors.expanded(found.shape, axis))

    def squeezed(self, made: Made, _last: str) -> Tensor:
        """Return a tensor without axes of size 1."""
        found, given = self.tensor_of(made, 0, "input", "a", "x"), self.of(made, 1, "axis")
        axis = plain(given)
        if isinstance(axis, list) and len(axis) == 1:
            axis = axis[0]
        if given is not None and type(axis) is not int:
            raise UnknownSize
        return replace(found, shape=tensors.squeezed(found.shape, axis))

    def turned(self, made: Made, _last: str) -> Tensor:
        """Return a tensor with its axes in another order."""
        found, order = self.tensor_of(made, 0, "a", "x"), self.of(made, 1, "perm", "axes")
        places = plain(order)
        if order is not None and (
            not isinstance(places, list) or not all(type(place) is int for place in places)
        ):
            raise UnknownSize
        return replace(found, shape=tensors.turned(found.shape, places))

    def joined(self, made: Made, last: str) -> Tensor:
        """Return tensors put together."""
        listed = self.of(made, 0, "values", "arrays", "tensors", "inputs")
        if not isinstance(listed, Sequence) or listed.open or not listed.items:
            raise UnknownSize
        given = self.of(made, 1, "axis")
        axis = plain(given) if given is not None else (-1 if made.name.startswith("keras.") and last != "stack" else 0)  # fmt: skip
        found = [self.known.tensor(item) for item in listed.items]
        several = [item for item in found if item is not None]
        if type(axis) is not int or len(several) != len(found):
            raise UnknownSize
        make = tensors.stacked if last == "stack" else tensors.joined
        return Tensor(make([item.shape for item in several], axis), made)

    def one_hot(self, made: Made, last: str) -> Tensor:
        """Return a row of places for each class number."""
        found = self.known.tensor(self.of(made, 0, "indices", "y", "x"))
        depth = plain(self.of(made, 1, "depth", "num_classes"))
        if type(depth) is not int:
            depth = None
        if found is None:
            raise UnknownSize
        shape = found.shape
        if last == "to_categorical":
            if len(shape) > 1 and shape[-1] == 1:
                shape = shape[:-1]
            if depth is None and found.bound is not None and found.bound.reached:
                depth = found.bound.number
        if depth is not None and last != "one_hot" and found.bound is not None and found.bound.reached and found.bound.number > depth:  # fmt: skip
            raise MisfitError(
                f"gets class numbers up to {found.bound.number - 1}, and makes rows of {depth} places"
            )
        return Tensor((*shape, depth), made, one_hot=True)

    def resized(self, made: Made, _last: str) -> Tensor:
        """Return a picture of another size."""
        found = self.known.tensor(self.of(made, 0, "images", "image", "src"))
        if made.name == "cv2.resize":
            size = plain(self.of(made, 1, "dsize"))
            if not isinstance(size, list) or len(size) != 2 or found is None:
                raise UnknownSize
            return Tensor((_side_length(size[1]), _side_length(size[0]), *found.shape[2:]), made)
        size = plain(self.of(made, 1, "size"))
        if isinstance(size, list) and len(size) == 2 and not made.keywords.keys() & {"preserve_aspect_ratio"}:
            sides = [_side_length(size[0]), _side_length(size[1])]
        else:
            sides = [None, None]
        return self._with_sides(made, found, sides)

    def padded_picture(self, made: Made, _last: str) -> Tensor:
        """Return a picture that is padded or cropped."""
        found = self.known.tensor(self.of(made, 0, "image", "images"))
        sides = [_side_length(plain(self.of(made, place, name))) for place, name in ((1, "target_height"), (2, "target_width"))]  # fmt: skip
        return self._with_sides(made, found, sides)

    def _with_sides(self, made: Made, found: Tensor | None, sides: list[int | None]) -> Tensor:
        if found is None or len(found.shape) not in (3, 4):
            raise UnknownSize
        return Tensor((*found.shape[:-3], sides[0], sides[1], found.shape[-1]), made)

    def cropped(self, made: Made, _last: str) -> Tensor:
        """Return a part of a picture."""
        if made.name.startswith("numpy."):
            raise UnknownSize
        return Tensor(declared_shape(self.of(made, 1, "size")), made)

    def of_channels(self, made: Made, last: str) -> Tensor:
        """Return a picture of other channels."""
        found = self.tensor_of(made, 0, "images")
        if not found.shape:
            raise UnknownSize
        return Tensor((*found.shape[:-1], 1 if last == "rgb_to_grayscale" else 3), made)

    def recoloured(self, made: Made, _last: str) -> Tensor:
        """Return a picture in other colours."""
        found, code = self.tensor_of(made, 0, "src"), self.of(made, 1, "code")
        if not isinstance(code, External):
            raise UnknownSize
        if code.name in ("cv2.COLOR_BGR2GRAY", "cv2.COLOR_RGB2GRAY"):
            return Tensor(found.shape[:2], made)
        if code.name in ("cv2.COLOR_BGR2RGB", "cv2.COLOR_RGB2BGR"):
            return Tensor((*found.shape[:2], 3), found.since)
        raise UnknownSize

    def ensured(self, made: Made, _last: str) -> Tensor:
        """Return a tensor whose shape the program states."""
        return Tensor(declared_shape(self.of(made, 1, "shape")), made)

    def flattened(self, made: Made, _last: str) -> Tensor:
        """Return a tensor of one dimension."""
        found = self.tensor_of(made)
        return Tensor(tensors.reshaped(found.shape, [-1]), made, found.bound)

    def multiplied(self, made: Made, _last: str) -> Tensor:
        """Return a product of matrices."""
        return self._product_array(made)

    def values(self, made: Made, _last: str) -> Tensor:
        """Return the values of a table."""
        return self.tensor_of(made)

    def text(self, made: Made, _last: str) -> Tensor:
        """Return a text."""
        return Tensor((), made)

    def image_array(self, made: Made, _last: str) -> Tensor:
        """Return a picture as an array."""
        return self.tensor_of(made, 0, "img")

    def split(self, made: Made, _last: str) -> Tensor:
        """Return texts that are split."""
        if not made.name.startswith("tensorflow.strings."):
            raise UnknownSize
        return Tensor((*self.tensor_of(made, 0, "input").shape, None), made)

    def repeated(self, made: Made, _last: str) -> Tensor:
        """Return a tensor that is repeated."""
        found, times = self.tensor_of(made, 0, "input", "A"), plain(self.of(made, 1, "multiples", "reps"))
        if not isinstance(times, list) or len(times) != len(found.shape):
            raise UnknownSize
        shape = tuple(
            size * each if type(each) is int and size is not None else None
            for size, each in zip(found.shape, times, strict=True)
        )
        return Tensor(shape, made)


def _has_batch_of(made: Made, size: Value) -> bool:
    """Tell whether the size of a batch is that of the tensor that a call reshapes."""
    whole = size.args[0] if isinstance(size, Made) else size
    of = whole.args[0] if isinstance(whole, Made) and whole.args else None
    here: Value | None = made.args[0] if made.receiver is None and made.args else made.receiver
    for _ in range(MAX_STEPS):
        if here is of:
            return here is not None
        if not isinstance(here, Made) or not here.args:
            return False
        if not here.name.endswith(".__call__") and last_name(here.name) not in _SAME | _PAIRS:
            return False
        here = here.args[0]
    return False


MAX_STEPS = 200
"""Most calls between a tensor and the one that says its batch."""


def _is_none(value: Value) -> bool:
    return isinstance(value, Scalar) and value.value is None


def _is_integer(value: Value | None) -> bool:
    name = value.name if isinstance(value, External) else plain(value)
    return isinstance(name, str) and last_name(name).startswith(("int", "uint"))


def _side_length(value: object) -> int | None:
    return value if type(value) is int and value > 0 else None


def _indexed_shape(shape: Shape, parts: list[Value]) -> Shape:
    """Return the shape of what an index takes out of a tensor.

    Raises:
        UnknownSize: That is not known.
    """
    dots = [place for place, part in enumerate(parts) if isinstance(part, Scalar) and part.value is ...]
    axes = sum(1 for part in parts if not _adds_axis(part)) - len(dots)
    if len(dots) > 1 or axes > len(shape):
        raise UnknownSize
    made: list[int | None] = []
    place = 0
    for part in parts:
        if _adds_axis(part):
            made.append(1)
        elif isinstance(part, Scalar) and part.value is ...:
            rest = len(shape) - axes
            made += shape[place : place + rest]
            place += rest
        elif isinstance(part, Scalar) and type(part.value) is int:
            place += 1
        elif isinstance(part, Sequence) and part.kind == "slice":
            made.append(_sliced_size(shape[place], part))
            place += 1
        else:
            raise UnknownSize
    return (*made, *shape[place:])


def _adds_axis(part: Value) -> bool:
    return (isinstance(part, Scalar) and part.value is None) or (
        isinstance(part, External) and part.name in _NEW_AXES
    )


def _sliced_size(size: int | None, part: Sequence) -> int | None:
    bounds = [plain(item) for item in part.items]
    if bounds == [None, None, None]:
        return size
    if size is None or not all(bound is None or type(bound) is int for bound in bounds) or bounds[2] == 0:
        return None
    if any(isinstance(item, Scalar) and item.value is None for item in part.items) or None not in bounds:
        return len(range(*slice(*bounds).indices(size)))
    return None


_Rule = Callable[[Arrays, Made, str], Tensor]

_RULES: dict[str, _Rule] = {
    "reshape": Arrays.reshaped,
    "expand_dims": Arrays.expanded,
    "squeeze": Arrays.squeezed,
    "transpose": Arrays.turned,
    "concat": Arrays.joined,
    "concatenate": Arrays.joined,
    "stack": Arrays.joined,
    "one_hot": Arrays.one_hot,
    "to_categorical": Arrays.one_hot,
    "resize": Arrays.resized,
    "resize_with_pad": Arrays.padded_picture,
    "resize_with_crop_or_pad": Arrays.padded_picture,
    "random_crop": Arrays.cropped,
    "rgb_to_grayscale": Arrays.of_channels,
    "grayscale_to_rgb": Arrays.of_channels,
    "cvtColor": Arrays.recoloured,
    "ensure_shape": Arrays.ensured,
    "flatten": Arrays.flattened,
    "ravel": Arrays.flattened,
    "matmul": Arrays.multiplied,
    "values": Arrays.values,
    "read_file": Arrays.text,
    "img_to_array": Arrays.image_array,
    "tile": Arrays.repeated,
    "unicode_split": Arrays.split,
    "bytes_split": Arrays.split,
    "split": Arrays.split,
}
