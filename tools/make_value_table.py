"""Ask TensorFlow which values its parameters refuse, and write the table of `cfgfix.code.tensorflow.values`.

Each parameter of each callable gets one value of each class (`VALUES`), everything else being as it should be; the object is then used
as a training run uses it: a layer is called, a callback goes through three epochs, an optimizer applies a gradient. What raises is
refused. Of a parameter that takes texts, every text in Keras's own source beside it is tried. The TensorFlow of the interpreter is asked:

    python tools/make_value_table.py ask ANSWERS/2.21.json         # with each release, its own interpreter
    python tools/make_value_table.py join ANSWERS/*.json           # write the table
    python tools/make_value_table.py add ANSWERS/*.json            # put what these say into the table, beside what it has of other calls
    python tools/make_value_table.py release ANSWERS/*.json        # put these releases into the table, beside the others

pip installs the newest Keras 3 with each TensorFlow from 2.16 on, and an old release may fail on a new machine for other reasons. So an early
one, asked with the Keras of its day, counts as refusing what the newest with the same Keras refuses as well, and one between two that were asked as
refusing what both do.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

FOLDER = Path(__file__).resolve().parent.parent / "cfgfix" / "code" / "tensorflow"
TARGET = FOLDER / "tf_values.json"
SECONDS = 8
VALUES: dict[str, Any] = {
    "none": None,
    "false": False,
    "true": True,
    "below": -2,
    "minus": -1,
    "zero": 0,
    "one": 1,
    "more": 2,
    "float-minus": -0.5,
    "float-zero": 0.0,
    "float-part": 0.5,
    "float-one": 1.0,
    "float-whole": 2.0,
    "float": 2.5,
    "number-text": "2",
    "text": "no_such_word",
    "list": [2, 2],
    "float-list": [2.0, 2.0],
}
"""One value of each class that `cfgfix.code.tensorflow.values` tells apart."""
OTHERS: dict[str, tuple[Any, ...]] = {
    "below": (-3, -8, -90),
    "more": (3, 4, 8, 64, 1000),
    "float-minus": (-0.1, -2.5),
    "float-part": (0.1, 0.25, 0.75, 0.9),
    "float-whole": (3.0, 8.0, 64.0),
    "float": (1.5, 3.5, 10.5),
    "list": ([1, 1], [3], [2, 2, 2]),
    "float-list": ([0.5, 0.5], [1.0], [2.0, 2.0, 2.0]),
}
"""Further values of a class: it is refused only where all of them are."""
NEVER = frozenset(
    {"axis", "axes", "batch_axis", "feature_axis", "channel_axis", "attention_axes", "cache_dir", "class_id", "labels", "num_query_heads", "num_key_value_heads", "dims", "directory", "directories", "filename", "filepath", "log_dir", "model", "monitor", "name", "path",
     "separator", "target_shape", "input_shape", "batch_input_shape", "batch_shape", "shape", "seed", "input_dim", "input_length", "backup_dir", "root", "vocabulary", "kwargs", "class_names", "profile_batch"}
)  # fmt: skip
"""Parameters whose right values are those of the project: names, files, shapes, and positions in a shape; and batches, for which a profiler is needed."""
BASE: dict[str, Any] = {
    "units": 4, "filters": 4, "kernel_size": 3, "pool_size": 2, "output_dim": 4, "input_dim": 10, "num_heads": 2, "key_dim": 4, "rate": 0.5, "n": 3,
    "target_shape": (-1,), "dims": (1,), "size": 2, "stddev": 0.5, "factor": 0.2, "height": 8, "width": 8, "num_bins": 4, "num_tokens": 5, "head_dim": 4,
    "num_query_heads": 4, "num_key_value_heads": 2, "depth_multiplier": 1, "initial_learning_rate": 0.1, "decay_steps": 10, "decay_rate": 0.9, "first_decay_steps": 4,
    "boundaries": [2, 4], "values": [0.1, 0.01, 0.001], "num_classes": 2, "target_class_ids": [0], "filepath": "", "monitor": "val_loss", "schedule": "", "specificity": 0.5,
    "sensitivity": 0.5, "recall": 0.5, "precision": 0.5, "min_value": 0.0, "max_value": 1.0, "scale": 2.0, "output_size": 4, "bin_boundaries": [0.0, 1.0], "offset": 0.0,
    "x_train": None, "crop_height": 4, "lower": 0.2, "upper": 0.4, "axis": -1, "axes": -1, "backup_dir": "", "filename": "", "function": "", "layer": "", "cell": "", "gain": 1.0, "value": 0.5,
}  # fmt: skip
"""What parameters without a default get."""


LAYER = "keras.layers.Dense"
"""The layer that stands for all others in what their base class takes."""


class LateError(Exception):
    """A probe took too long."""


def ring(_number: int, _frame: Any) -> None:
    """Stop a probe."""
    raise LateError


def dotted(name: str) -> Any:
    """Return what a public name stands for, or None."""
    import tensorflow as tf

    first, *rest = name.split(".")
    here: Any = tf if first == "tensorflow" else sys.modules["keras"]
    for part in rest:
        here = getattr(here, part, None)
    return here


class Probe:
    """A callable with the arguments that it works with, and what is done with what it returns.

    Args:
        name: Its public name.
        base: The arguments that work.
        use: What is done with the object.
        make: What is called, where it is a method of an object that is made each time.
        only: The parameters that are asked about; all where none are named.
    """

    def __init__(
        self,
        name: str,
        base: dict[str, Any],
        use: Callable[[Any], Any],
        make: Callable[..., Any] | None = None,
        only: tuple[str, ...] = (),
    ) -> None:
        self.only = only
        self.name = name
        self.base = base
        self.use = use
        self.make = make or dotted(name)

    def error(self, **given: Any) -> str:
        """Return the name of the exception that some arguments end in, or nothing."""
        asked_now = f"{self.name} {given!r}"
        if asked_now in HANGS:
            return "hangs"
        tell({"begins": asked_now})
        arguments = {**self.base, **given}
        arguments = {key: value() if callable(value) else value for key, value in arguments.items()}
        signal.alarm(SECONDS)
        try:
            self.use(self.make(**arguments))
        except LateError:
            return ""
        except Exception as problem:  # noqa: BLE001 - every refusal is an answer
            return type(problem).__name__
        finally:
            signal.alarm(0)
        return ""


def parameters(name: str, make: Any) -> list[str]:
    """Return the parameters of a callable: those it names, and those that its base class takes, from the table of signatures."""
    table = json.loads((FOLDER / "tf_api.json").read_text(encoding="utf-8"))
    entry = table["parameters"].get(name, {})
    names = list(entry.get("names", ()))
    if "base" in entry and (not name.startswith("keras.layers.") or name == LAYER):
        names += [item for item in table["bases"][entry["base"]] if item not in names]
    if not names:
        with contextlib.suppress(TypeError, ValueError):
            names = [item for item in inspect.signature(make).parameters if item != "self"]
    return [item for item in names if item not in NEVER]


def required(make: Any) -> list[str]:
    """Return the parameters of a callable that have no default."""
    try:
        found = inspect.signature(make).parameters.values()
    except (TypeError, ValueError):
        return []
    return [
        item.name
        for item in found
        if item.default is item.empty and item.kind in (item.POSITIONAL_OR_KEYWORD, item.KEYWORD_ONLY)
    ]


def default(make: Any, name: str) -> Any:
    """Return the default of a parameter, or None."""
    try:
        item = inspect.signature(make).parameters.get(name)
    except (TypeError, ValueError):
        return None
    return None if item is None or item.default is item.empty else item.default


def has_default(make: Any, name: str) -> bool:
    """Tell whether a parameter has a default."""
    try:
        item = inspect.signature(make).parameters.get(name)
    except (TypeError, ValueError):
        return False
    return item is not None and item.default is not item.empty


def words_beside(make: Any) -> list[str]:
    """Return the texts in the source of a callable's module and of those of its base classes."""
    found: dict[str, None] = {}
    for item in inspect.getmro(make) if inspect.isclass(make) else (inspect.unwrap(make),):
        module = sys.modules.get(getattr(item, "__module__", ""), None)
        if module is None or not (module.__name__.startswith(("keras", "tensorflow"))):
            continue
        with contextlib.suppress(OSError, TypeError, SyntaxError):
            for node in ast.walk(ast.parse(inspect.getsource(module))):
                if (
                    isinstance(node, ast.Constant)
                    and isinstance(node.value, str)
                    and 0 < len(node.value) < 48
                ) and node.value.replace("_", "").replace("-", "").isalnum():
                    found.setdefault(node.value)
    return list(found)


def kinds() -> dict[str, list[str]]:
    """Return the texts by which Keras 3 knows objects, by kind, of the newest release."""
    table = json.loads((FOLDER / "keras_words.json").read_text(encoding="utf-8"))
    newest = 1 << (int(table["known"]).bit_length() - 1)
    return {
        kind: [word for word, mask in words.items() if mask & newest]
        for kind, words in table["words"].items()
    }


def asked(probe: Probe, known: dict[str, list[str]]) -> dict[str, Any] | None:
    """Return what each parameter of a callable refuses, or None where the callable does not work as it is called."""
    first = probe.error()
    if first:
        print(f"skipped {probe.name}: {first}", file=sys.stderr)
        return None
    found: dict[str, Any] = {}
    for name in parameters(probe.name, probe.make):
        if (name in probe.base and callable(probe.base[name])) or (probe.only and name not in probe.only):
            continue
        answers = {kind: probe.error(**{name: listed(name, value)}) for kind, value in VALUES.items()}
        for kind, others in OTHERS.items():
            if answers[kind] and not all(probe.error(**{name: value}) for value in others):
                answers[kind] = ""
        if has_default(probe.make, name) and default(probe.make, name) is None:
            # What stands where nothing is given may be missing in what the probe does, and is no wrong argument.
            answers["none"] = ""
        entry: dict[str, Any] = {}
        words: list[str] = []
        if answers["text"]:
            words, kind = accepted_words(probe, name, known)
            if kind:
                entry["kind"] = kind
                if kind == "metrics":
                    entry["words"] = list(NAMES)
            elif words:
                entry["words"] = words
                entry["any_case"] = not any(probe.error(**{name: word.upper()}) for word in words)
        usual = default(probe.make, name)
        if all(answers.values()) and not words and usual is None:
            continue
        if set(answers.values()) == {"TypeError"} and not words:
            # Another release takes it.
            continue
        entry["refused"] = {kind: error for kind, error in answers.items() if error}
        if entry["refused"]:
            found[name] = entry
    return found


def listed(name: str, value: Any) -> Any:
    """Return a value as a parameter takes it: some take texts in a list only."""
    return [value] if isinstance(value, str) and name in ("metrics", "weighted_metrics") else value


def accepted_words(probe: Probe, name: str, known: dict[str, list[str]]) -> tuple[list[str], str]:
    """Return the texts that a parameter takes, or the kind of objects whose texts it takes."""
    if name == "dtype" and probe.name.startswith("tensorflow."):
        # Which of them goes with the other arguments is another matter.
        return [word for word in TYPES if is_type(word)], ""
    if (name == "dtype" and probe.name == "keras.Input") or probe.name.endswith(".set_floatx"):
        return [word for word in TYPES if not probe.error(**{name: word})], ""
    usual = default(probe.make, name)
    best: tuple[bool, float, str, list[str]] = (False, 0.0, "", [])
    for kind, words in known.items():
        if probe.error(**{name: listed(name, FIRST[kind])}):
            continue
        some = words[:: max(1, len(words) // 12)]
        taken = [word for word in some if not probe.error(**{name: listed(name, word)})]
        # Metrics may be named by losses: the name of the parameter decides.
        named = SINGULAR.get(kind, kind[:-1]) in name or f".{kind}." in probe.name
        best = max(best, (named, len(taken) / len(some), kind, taken))
    _, share, kind, taken = best
    if share > 0.5:
        return taken, kind
    if kind:
        if not inspect.isclass(probe.make):
            # NumPy's names of types are more than Keras's.
            return [], ""
        return [word for word in known[kind] if not probe.error(**{name: listed(name, word)})], ""
    if not isinstance(usual, str) and name not in (
        "padding", "data_format", "interpolation", "mode", "method", "pooling_type", "compression", "format", "pad_mode", "alg", "reduction", "label_mode", "color_mode", "labels", "subset", "truncating",
    ):  # fmt: skip
        return [], ""
    candidates = [*([usual] if isinstance(usual, str) else []), *words_beside(probe.make), *COMMON]
    taken = [word for word in dict.fromkeys(candidates) if not probe.error(**{name: listed(name, word)})]
    if len(taken) > 40:
        # It takes almost any text.
        return [], ""
    folded = {word.lower() for word in taken}
    return sorted({word for word in taken if word == word.lower() or word.lower() not in folded}), ""


def is_type(word: str) -> bool:
    """Tell whether TensorFlow knows a type by a text."""
    import tensorflow as tf

    try:
        tf.as_dtype(word)
    except TypeError:
        return False
    return True


FIRST = {
    "activations": "relu", "constraints": "non_neg", "dtype_policies": "float32", "initializers": "zeros", "losses": "mse", "metrics": "mae", "optimizers": "adam", "regularizers": "l2",
}  # fmt: skip
"""A text that every parameter of its kind takes."""
SINGULAR = {"losses": "loss", "dtype_policies": "dtype"}
"""What parameters of a kind are called, where that is not the kind without its last letter."""
_PLAIN_TYPES = ("b", "h", "i", "l", "q", "B", "H", "I", "L", "Q", "e", "f", "d", "F", "D", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", "?", "S", "O", "U")  # fmt: skip
TYPES = (
    "bfloat16", "bool", "boolean", "byte", "complex", "complex64", "complex128", "double", "float", "float16", "float32", "float64", "half", "single", "longdouble", "int", "int4", "int8", "int16", "int32", "int64",
    "uint4", "uint8", "uint16", "uint32", "uint64", "intc", "intp", "uint", "uintc", "uintp", "long", "longlong", "ulonglong", "ulong", "short", "ushort", "ubyte", "str", "string", "bytes", "object", "resource", "variant",
    "qint8", "qint16", "qint32", "quint8", "quint16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e5m2fnuz", "float4_e2m1fn", "int2", "uint2", "csingle", "cdouble",
    *_PLAIN_TYPES, *(f"{order}{plain}" for order in "<>=|" for plain in _PLAIN_TYPES),
)  # fmt: skip
"""Texts of TensorFlow and NumPy for types of numbers."""
NAMES = ("accuracy", "acc", "crossentropy", "ce")
"""Texts that `compile` itself makes metrics of, by the shape of the outputs: Keras 3.15.1, keras/src/trainers/compile_utils.py, `get_metric`."""
COMMON = (
    "same", "valid", "causal", "full", "channels_last", "channels_first", "nearest", "bilinear", "bicubic", "lanczos3", "lanczos5", "area", "gaussian", "mitchellcubic", "min", "max", "auto", "epoch", "batch",
    "sum", "mean", "none", "sum_over_batch_size", "mean_with_sample_weight", "int", "binary", "categorical", "multi_hot", "one_hot", "count", "tf_idf", "rgb", "grayscale", "rgba", "training", "validation", "both", "inferred", "pre", "post",
    "constant", "reflect", "wrap", "horizontal", "vertical", "horizontal_and_vertical", "concat", "ave", "mul", "fan_in", "fan_out", "fan_avg", "uniform", "normal", "truncated_normal", "untruncated_normal", "ROC", "PR",
    "interpolation", "minoring", "majoring", "micro", "macro", "weighted", "lower_and_strip_punctuation", "lower", "strip_punctuation", "whitespace", "character", "dot", "SUM", "NONE", "AUTO",
)  # fmt: skip
"""Texts that are tried everywhere beside those of the source."""


# What is asked


def layer_probes() -> Iterator[Probe]:
    """Yield the layers, each with the first input that it works with."""
    import numpy as np
    import tensorflow as tf

    keras = sys.modules["keras"]
    rng = np.random.default_rng(0)
    inputs: list[Any] = [
        rng.random((2, 8)).astype("float32"),
        rng.random((2, 8, 4)).astype("float32"),
        rng.random((2, 16, 16, 3)).astype("float32"),
        rng.random((2, 8, 8, 8, 3)).astype("float32"),
        rng.random((2, 4, 16, 16, 3)).astype("float32"),
        rng.random((2, 4, 16, 3)).astype("float32"),
        rng.random((2, 4, 8, 8, 8, 3)).astype("float32"),
        np.array([[1, 2, 3], [3, 2, 1]]),
        [rng.random((2, 8)).astype("float32")] * 2,
        [rng.random((2, 8, 4)).astype("float32")] * 2,
        np.array(["a b", "b c"]),
    ]
    own = {
        "function": lambda: abs,
        "layer": lambda: keras.layers.Dense(3),
        "cell": lambda: keras.layers.LSTMCell(4),
    }
    base_class = keras.layers.Layer
    for name in dir(keras.layers):
        cls = getattr(keras.layers, name)
        if not inspect.isclass(cls) or not issubclass(cls, base_class) or name.startswith("_"):
            continue
        if name in (
            "Layer",
            "InputLayer",
            "TFSMLayer",
            "Wrapper",
            "RNN",
            "StackedRNNCells",
            "AbstractRNNCell",
        ):
            continue
        base = {item: own.get(item, BASE.get(item)) for item in required(cls) if item in BASE}
        if name == "Bidirectional":
            base["layer"] = lambda: keras.layers.LSTM(3)
        for item in inputs:

            def use(layer: Any, item: Any = item, name: str = name) -> None:
                if name.endswith("Cell") or (hasattr(layer, "state_size") and not hasattr(layer, "cell")):
                    layer(item, states_of(layer))
                    return
                if hasattr(layer, "adapt") and name in ADAPTED:
                    layer.adapt(item)
                if name in QUERIED:
                    layer(item, item)
                    return
                layer(item)

            def states_of(layer: Any) -> Any:
                sizes = layer.state_size
                sizes = sizes if isinstance(sizes, (list, tuple)) else [sizes]
                return [tf.zeros((2, size)) for size in sizes]

            probe = Probe(f"keras.layers.{name}", base, use)
            if not probe.error():
                yield probe
                break
        else:
            print(f"skipped keras.layers.{name}: no input", file=sys.stderr)


QUERIED = ("MultiHeadAttention", "GroupQueryAttention")
ADAPTED = ("Normalization", "Discretization", "TextVectorization", "StringLookup")


def optimizer_probes() -> Iterator[Probe]:
    """Yield the optimizers and their schedules."""
    import tensorflow as tf

    keras = sys.modules["keras"]

    def use(optimizer: Any) -> None:
        variable = tf.Variable([1.0, 2.0])
        for _ in range(2):
            optimizer.apply_gradients([(tf.constant([0.1, 0.2]), variable)])

    for name in dir(keras.optimizers):
        cls = getattr(keras.optimizers, name)
        if (
            inspect.isclass(cls)
            and issubclass(cls, keras.optimizers.Optimizer)
            and name not in ("Optimizer", "LossScaleOptimizer", "MultiOptimizer", "Muon")
        ):
            yield Probe(f"keras.optimizers.{name}", {}, use)
    for name in dir(keras.optimizers.schedules):
        cls = getattr(keras.optimizers.schedules, name)
        if inspect.isclass(cls) and name != "LearningRateSchedule":
            yield Probe(
                f"keras.optimizers.schedules.{name}",
                {item: BASE[item] for item in required(cls) if item in BASE},
                lambda schedule: [float(schedule(step)) for step in (0, 3, 30)],
            )


def measure_probes() -> Iterator[Probe]:
    """Yield losses, metrics, initializers, regularizers and constraints."""
    import numpy as np

    keras = sys.modules["keras"]
    truth = np.array([[0.0, 1.0], [1.0, 0.0]], "float32")
    guess = np.array([[0.3, 0.7], [0.6, 0.4]], "float32")
    pairs = [
        (truth, guess),
        (np.array([1, 0]), guess),
        (np.array([[1.0], [0.0]]), np.array([[0.7], [0.4]])),
        (np.array([1, 0]), np.array([1, 0])),
    ]

    def measures(module: Any, base: Any, use: Callable[[Any, Any], Any]) -> Iterator[Probe]:
        for name in dir(module):
            cls = getattr(module, name)
            if not inspect.isclass(cls) or not issubclass(cls, base) or cls is base:
                continue
            arguments = {item: BASE[item] for item in required(cls) if item in BASE}
            for pair in pairs:
                probe = Probe(
                    f"{module.__name__.partition('.')[0]}.{module.__name__.rpartition('.')[2]}.{name}",
                    arguments,
                    lambda made, pair=pair: use(made, pair),
                )
                if not probe.error():
                    yield probe
                    break

    yield from measures(keras.losses, keras.losses.Loss, lambda made, pair: made(*pair))
    yield from measures(
        keras.metrics, keras.metrics.Metric, lambda made, pair: (made.update_state(*pair), made.result())
    )
    yield from measures(keras.initializers, keras.initializers.Initializer, lambda made, _: made((4, 4)))
    tensor = keras.initializers.Ones()((4, 4))
    yield from measures(keras.regularizers, keras.regularizers.Regularizer, lambda made, _: made(tensor))
    yield from measures(keras.constraints, keras.constraints.Constraint, lambda made, _: made(tensor))


def small_model() -> Any:
    """Return a model that is ready to be trained."""
    keras = sys.modules["keras"]
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse", metrics=["mae"], run_eagerly=True)
    return model


def callback_probes(folder: str) -> Iterator[Probe]:
    """Yield the callbacks, each of which goes through three epochs that get worse."""
    keras = sys.modules["keras"]
    model = small_model()
    own = {
        "schedule": lambda: lambda _epoch: 0.1,
        "filepath": os.path.join(folder, "best.keras"),
        "filename": os.path.join(folder, "log.csv"),
        "backup_dir": os.path.join(folder, "backup"),
        "log_dir": os.path.join(folder, "logs"),
    }

    def use(callback: Any) -> None:
        (callback.set_params if hasattr(callback, "set_params") else id)({"epochs": 3, "steps": 2})
        (callback.set_model)(model)
        callback.on_train_begin({})
        for epoch in range(3):
            callback.on_epoch_begin(epoch, {})
            for batch in range(2):
                callback.on_train_batch_begin(batch, {})
                callback.on_train_batch_end(batch, {"loss": 1.0 + epoch})
            callback.on_epoch_end(epoch, {"loss": 1.0 + epoch, "val_loss": 1.0 + epoch})
        callback.on_train_end({})

    for name in dir(keras.callbacks):
        cls = getattr(keras.callbacks, name)
        if not inspect.isclass(cls) or name in (
            "Callback",
            "CallbackList",
            "History",
            "OrbaxCheckpoint",
            "BackupAndRestore",
            "ExperimentalBackupAndRestore",
            "RemoteMonitor",
        ):
            continue
        base = {
            item: own[item]
            for item in (*required(cls), "log_dir")
            if item in own and item in inspect.signature(cls).parameters
        }
        yield Probe(f"keras.callbacks.{name}", base, use)


def model_probes() -> Iterator[Probe]:
    """Yield what a model is asked for: compile, fit, evaluate, predict."""
    import numpy as np

    keras = sys.modules["keras"]
    rows = np.random.default_rng(0).random((64, 4)).astype("float32")
    marks = rows[:, :1]

    def call(method: str) -> Callable[..., Any]:
        return getattr(small_model(), method)

    def nothing(_made: Any) -> None:
        return

    def compiled(**given: Any) -> None:
        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
        model.compile(**given)
        model.fit(rows[:16], marks[:16], batch_size=8, epochs=1, verbose=0)

    known = {"x": lambda: rows, "y": lambda: marks, "verbose": 0}
    yield Probe(
        "keras.Model.fit",
        {**known, "batch_size": 8, "validation_data": lambda: (rows, marks), "epochs": 1},
        nothing,
        call("fit"),
    )
    yield Probe("keras.Model.fit", {**known, "batch_size": 8}, nothing, call("fit"), ("validation_split",))
    yield Probe("keras.Model.evaluate", {**known, "batch_size": 8}, nothing, call("evaluate"))
    yield Probe(
        "keras.Model.predict", {"x": lambda: rows, "verbose": 0, "batch_size": 8}, nothing, call("predict")
    )
    yield Probe(
        "keras.Model.compile", {"optimizer": "sgd", "loss": "mse", "run_eagerly": True}, nothing, compiled
    )


def dataset_probes() -> Iterator[Probe]:
    """Yield the methods of datasets that take plain values."""
    import tensorflow as tf

    def use(data: Any) -> None:
        for _ in data.take(3):
            pass

    own: dict[str, dict[str, Any]] = {
        "batch": {"batch_size": 2}, "padded_batch": {"batch_size": 2}, "shuffle": {"buffer_size": 4}, "prefetch": {"buffer_size": 2},
        "take": {"count": 2}, "skip": {"count": 2}, "repeat": {"count": 2}, "shard": {"num_shards": 4, "index": 0}, "window": {"size": 2}, "enumerate": {}, "cache": {},
        "map": {"map_func": lambda: lambda x: x}, "interleave": {"map_func": lambda: lambda _x: tf.data.Dataset.range(3)},
    }  # fmt: skip
    for name, base in own.items():

        def make(name: str = name, **given: Any) -> Any:
            data = tf.data.Dataset.range(40)
            return getattr(data, name)(**given)

        if hasattr(tf.data.Dataset, name):
            yield Probe(f"tensorflow.data.Dataset.{name}", base, use, make)


def function_probes(folder: str) -> Iterator[Probe]:
    """Yield functions that take settings."""
    import numpy as np
    import tensorflow as tf

    keras = sys.modules["keras"]

    def nothing(_made: Any) -> None:
        return

    def first(data: Any) -> None:
        next(iter(data))

    for kind in ("cats", "dogs"):
        for number in range(3):
            place = Path(folder, "pictures", kind)
            place.mkdir(parents=True, exist_ok=True)
            picture = tf.io.encode_png(tf.zeros((8, 8, 3), tf.uint8))
            tf.io.write_file(str(place / f"{number}.png"), picture)
    yield Probe(
        "keras.utils.image_dataset_from_directory",
        {
            "directory": os.path.join(folder, "pictures"),
            "image_size": (8, 8),
            "batch_size": 2,
            "verbose": False,
        },
        first,
    )
    yield Probe("keras.utils.to_categorical", {"x": lambda: [0, 1]}, nothing)
    yield Probe("keras.utils.pad_sequences", {"sequences": lambda: [[1, 2], [3]]}, nothing)
    yield Probe(
        "keras.utils.timeseries_dataset_from_array",
        {"data": lambda: np.arange(20), "targets": None, "sequence_length": 4},
        first,
    )
    for module in (
        "optimizers",
        "losses",
        "metrics",
        "activations",
        "initializers",
        "regularizers",
        "constraints",
    ):
        yield Probe(f"keras.{module}.get", {"identifier": None}, nothing)
    yield Probe(
        "keras.backend.set_floatx",
        {"value": "float32"},
        lambda _made: keras.backend.set_floatx("float32"),
    )
    for name, base in (
        ("cast", {"x": lambda: tf.fill([2], 1), "dtype": "float32"}),
        ("saturate_cast", {"value": lambda: tf.fill([2], 1), "dtype": "float32"}),
        ("constant", {"value": lambda: [0, 1]}),
        ("convert_to_tensor", {"value": lambda: [0, 1]}),
        ("zeros", {"shape": lambda: [2]}),
        ("ones", {"shape": lambda: [2]}),
        ("eye", {"num_rows": lambda: 2}),
        ("one_hot", {"indices": lambda: [0, 1], "depth": lambda: 2}),
        ("TensorSpec", {"shape": lambda: [2]}),
        ("Variable", {"initial_value": lambda: [0, 1]}),
        ("random.normal", {"shape": lambda: [2]}),
        ("random.truncated_normal", {"shape": lambda: [2]}),
        ("random.uniform", {"shape": lambda: [2], "maxval": lambda: 4}),
    ):
        yield Probe(f"tensorflow.{name}", base, nothing, only=("dtype",))
    yield Probe("keras.Input", {"shape": (3,)}, nothing, only=("dtype",))
    yield Probe(
        "keras.mixed_precision.set_global_policy",
        {"policy": "float32"},
        lambda _made: keras.mixed_precision.set_global_policy("float32"),
    )


def operation_probes() -> Iterator[Probe]:
    """Yield functions that work on tensors, and strategies: each parameter that has no tensor is asked about."""
    import tensorflow as tf

    picture = tf.cast(tf.fill([8, 8, 3], 7), tf.uint8)
    png, jpeg = tf.io.encode_png(picture), tf.io.encode_jpeg(picture)
    tensors: dict[str, Callable[[], Any]] = {
        "image": lambda: tf.fill([8, 8, 3], 0.5), "images": lambda: tf.fill([2, 8, 8, 3], 0.5), "img1": lambda: tf.fill([2, 16, 16, 3], 0.5), "img2": lambda: tf.fill([2, 16, 16, 3], 0.4),
        "im1": lambda: tf.fill([2, 8, 8, 3], 0.5), "im2": lambda: tf.fill([2, 8, 8, 3], 0.4), "a": lambda: tf.fill([2, 8, 8, 3], 0.5), "b": lambda: tf.fill([2, 8, 8, 3], 0.4),
        "boxes": lambda: tf.constant([[0.0, 0.0, 1.0, 1.0]]), "scores": lambda: tf.constant([0.9]), "box_indices": lambda: tf.constant([0]), "boxes_1": lambda: tf.constant([[0.0, 0.0, 1.0, 1.0]]),
        "features": lambda: tf.fill([2, 4], 0.5), "logits": lambda: tf.fill([2, 4], 0.5), "labels": lambda: tf.fill([2, 4], 0.25), "x": lambda: tf.fill([2, 4], 0.5), "value": lambda: tf.fill([2, 4], 0.5), "t": lambda: tf.fill([2, 4], 0.5),
        "predictions": lambda: tf.fill([2, 4], 0.5), "targets": lambda: tf.constant([1, 2]), "contents": lambda: png, "records": lambda: tf.constant(["1,2"]), "record_defaults": lambda: [[0], [0]], "input_bytes": lambda: tf.constant([b"abcd"]),
        "out_type": lambda: tf.uint8, "seed": lambda: (1, 2), "signals": lambda: tf.fill([64], 0.5), "input": lambda: tf.fill([2, 8, 8, 1], 0.5), "filters": lambda: tf.fill([3, 3, 1, 2], 0.1), "audio": lambda: tf.fill([64, 1], 0.5), "sample_rate": lambda: 8000,
    }  # fmt: skip
    plain: dict[str, Any] = {
        "size": [4, 4], "crop_size": [4, 4], "method": None, "max_delta": 0.2, "lower": 0.5, "upper": 5000.0, "delta": 0.1, "gamma": 1.0, "gain": 1.0, "central_fraction": 0.5, "contrast_factor": 1.5,
        "saturation_factor": 1.5, "jpeg_quality": 50, "min_jpeg_quality": 0, "max_jpeg_quality": 100, "max_val": 1.0, "rate": 0.5, "shape": [3], "padding": "SAME", "strides": 1, "ksize": 2, "pooling_type": "MAX", "window_shape": [2, 2],
        "max_output_size": 1, "offset_height": 1, "offset_width": 1, "target_height": 4, "target_width": 4, "k": 1, "depth_radius": 1, "block_size": 2, "dtype": "float32", "alpha": 0.5, "lam": 1.0, "minval": 0, "maxval": 4, "num_packs": 1,
        "frame_length": 4, "frame_step": 2, "num_samples": 2,
    }  # fmt: skip
    own: dict[str, dict[str, Any]] = {
        "image.decode_jpeg": {"contents": lambda: jpeg}, "io.decode_jpeg": {"contents": lambda: jpeg}, "image.decode_and_crop_jpeg": {"contents": lambda: jpeg, "crop_window": [0, 0, 4, 4]}, "io.decode_and_crop_jpeg": {"contents": lambda: jpeg, "crop_window": [0, 0, 4, 4]},
        "image.encode_jpeg": {"image": lambda: picture}, "io.encode_jpeg": {"image": lambda: picture}, "image.encode_png": {"image": lambda: picture}, "io.encode_png": {"image": lambda: picture}, "image.resize": {"method": "bilinear"},
        "image.random_crop": {"value": lambda: tf.fill([8, 8, 3], 0.5), "size": [4, 4, 3]}, "nn.pool": {"input": lambda: tf.fill([2, 8, 8, 1], 0.5)}, "nn.space_to_depth": {}, "nn.dropout": {}, "nn.local_response_normalization": {},
        "image.crop_and_resize": {"image": lambda: tf.fill([2, 8, 8, 3], 0.5)}, "image.extract_patches": {"sizes": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "rates": [1, 1, 1, 1], "padding": "VALID"},
        "random.stateless_uniform": {"shape": [3]}, "random.categorical": {}, "random.gamma": {}, "random.uniform": {"minval": 0.0, "maxval": 1.0},
    }  # fmt: skip
    unasked = {
        "out_type", "name", "num_classes", "crop_window", "sizes", "window_shape", "size", "dtype", "output_dtype", "index_type", "output_type", "alg", "dct_method", "density_unit", "format", "field_delim",
        "select_cols", "means", "stddevs", "minvals", "maxvals", "data_format", "dim",
    }  # fmt: skip
    """What the tensor decides, or takes words that stand in no Python source."""
    for package in ("image", "io", "nn", "random", "signal", "audio"):
        module = getattr(tf, package)
        for name in dir(module):
            make = getattr(module, name)
            if (
                name.startswith("_")
                or inspect.isclass(make)
                or not callable(make)
                or "file" in name
                or "suppression" in name
                or "top_k" in name
            ):
                continue
            try:
                taken = [
                    item.name
                    for item in inspect.signature(make).parameters.values()
                    if item.default is item.empty and item.kind is item.POSITIONAL_OR_KEYWORD
                ]
            except (TypeError, ValueError):
                continue
            given = own.get(f"{package}.{name}", {})
            base = {
                item: given.get(item, tensors.get(item, plain.get(item)))
                for item in (*taken, *(item for item in given if item not in taken))
            }
            if any(value is None for value in base.values()) and "method" not in base:
                continue
            if package == "nn" and name not in ("dropout", "leaky_relu"):
                base = {**base, **({"input": tensors["input"]} if "input" in base else {})}
            asked_of = tuple(
                item
                for item in parameters(f"tensorflow.{package}.{name}", make)
                if item not in unasked | tensors.keys()
            )
            if asked_of:
                yield Probe(f"tensorflow.{package}.{name}", base, lambda _made: None, make, asked_of)
    for name, base in (
        ("distribute.MirroredStrategy", {"devices": ["/cpu:0"]}),
        ("distribute.OneDeviceStrategy", {"device": "/cpu:0"}),
        ("distribute.NcclAllReduce", {}),
        ("distribute.HierarchicalCopyAllReduce", {}),
        ("distribute.ReductionToOneDevice", {}),
    ):
        yield Probe(
            f"tensorflow.{name}", base, lambda _made: None, getattr(tf.distribute, name.rpartition(".")[2])
        )


HANGS = {
    "tensorflow.data.Dataset.batch {'num_parallel_calls': False}",
    "tensorflow.data.Dataset.batch {'num_parallel_calls': -2}",
    "tensorflow.data.Dataset.batch {'num_parallel_calls': 0}",
}
"""Probes that never end: those known, and those found on the way."""
ANSWERS = os.dup(1)
"""Where a worker tells what it found; what TensorFlow prints goes elsewhere."""


def tell(fact: dict[str, Any]) -> None:
    """Write one line to the process that waits for answers."""
    os.write(ANSWERS, json.dumps(fact).encode() + b"\n")


def work(only: list[str]) -> None:
    """Tell what the callables of this interpreter's TensorFlow refuse, but for those that were asked before."""
    os.dup2(2, 1)
    import tensorflow as tf

    if "keras" not in sys.modules:
        tf.keras.layers  # noqa: B018 - loads Keras
    state = json.loads(sys.stdin.read())
    HANGS.update(state["hangs"])
    known = kinds()
    tell({"tensorflow": tf.__version__, "keras": sys.modules["keras"].__version__})
    signal.signal(signal.SIGALRM, ring)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        groups: list[Callable[[], Iterator[Probe]]] = [
            dataset_probes,
            optimizer_probes,
            measure_probes,
            lambda: callback_probes(folder),
            model_probes,
            lambda: function_probes(folder),
            operation_probes,
            layer_probes,
        ]
        for probe in (probe for group in groups for probe in group()):
            mark = " ".join((probe.name, *probe.only))
            if mark in state["done"] or (only and not any(word in probe.name for word in only)):
                continue
            tell({"call": mark, "answer": asked(probe, known)})
        os.chdir("/")


def ask(target: Path, only: list[str]) -> None:
    """Write the answers of this interpreter's TensorFlow, asked in a process that is started again where it hangs or dies."""
    found: dict[str, Any] = {}
    if target.exists():
        found = json.loads(target.read_text(encoding="utf-8"))["calls"]
    hangs: list[str] = []
    facts: dict[str, Any] = {}
    while True:
        worker = subprocess.Popen(
            [sys.executable, __file__, "work", *only], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert worker.stdin is not None
        assert worker.stdout is not None
        worker.stdin.write(json.dumps({"done": list(found), "hangs": hangs}).encode())
        worker.stdin.close()
        last, rest, ended, facts_seen = "", b"", False, False
        while True:
            ready, _, _ = select.select([worker.stdout], [], [], 90 if not facts_seen else 20 * SECONDS)
            data = os.read(worker.stdout.fileno(), 1 << 16) if ready else b""
            if not data:
                ended = bool(ready) and worker.wait() == 0
                worker.kill()
                break
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                fact = json.loads(line)
                last = fact.get("begins", last)
                if "call" in fact:
                    print(f"asked: {fact['call']}", file=sys.stderr)
                    found[fact["call"]] = fact["answer"]
                    target.write_text(json.dumps({**facts, "calls": found}, indent=1), encoding="utf-8")
                elif "keras" in fact:
                    facts, facts_seen = fact, True
        if ended:
            return
        print(f"hangs: {last}", file=sys.stderr)
        hangs.append(last)


VALIDATING = {
    "validation_steps": ["validation_data"],
    "validation_batch_size": ["validation_data", "validation_split"],
    "validation_freq": ["validation_data", "validation_split"],
}
"""Parameters that are looked at beside one of others only: Keras 3.15.1, keras/src/backend/tensorflow/trainer.py, `fit`."""


def join(paths: list[str], kept: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the table made of the answers of several releases.

    Args:
        paths: The answers.
        kept: A table whose other releases stay.
    """
    releases = json.loads((FOLDER / "tf_api.json").read_text(encoding="utf-8"))["tensorflow"]
    numbers = {".".join(text.split(".")[:2]): number for number, text in enumerate(releases)}
    answers = [json.loads(Path(path).read_text(encoding="utf-8")) for path in paths]
    known_of = {answer["tensorflow"]: answer["keras"] for answer in answers}
    if kept is not None:
        known_of = {**dict(zip(kept["tensorflow"], kept["keras"], strict=True)), **known_of}
    bits = {version: 1 << numbers[".".join(version.split(".")[:2])] for version in known_of}
    answers.sort(key=lambda item: bits[item["tensorflow"]])
    calls: dict[str, dict[str, Any]] = {}
    if kept is not None:
        calls = opened(kept["calls"], sum(bits[answer["tensorflow"]] for answer in answers))
    for answer in answers:
        bit = bits[answer["tensorflow"]]
        for name, found in answer["calls"].items():
            for parameter, entry in (found or {}).items():
                if parameter in NEVER:
                    continue
                known = calls.setdefault(name.partition(" ")[0], {}).setdefault(
                    parameter, {"known": 0, "refused": {}, "kind": "", "words": {}, "any_case": False}
                )
                if bit > known["known"]:
                    known["kind"] = entry.get("kind", "")
                    known["any_case"] = entry.get("any_case", False)
                known["known"] |= bit
                for word in entry.get("words", ()):
                    known["words"][word] = known["words"].get(word, 0) | bit
                for kind, error in entry["refused"].items():
                    if error == "hangs" and not name.startswith("tensorflow.data."):
                        # A busy machine is no refusal.
                        continue
                    mask, before = known["refused"].get(kind, (0, ""))
                    known["refused"][kind] = (mask | bit, error if bit > mask else before)
    three = [bits[version] for version, keras in known_of.items() if int(keras.partition(".")[0]) >= 3]
    two = [bit for bit in bits.values() if bit not in three]
    for found in calls.values():
        for known in found.values():
            for group in (two, three):
                backed(known, group, len(releases))
    for name, found in calls.items():
        for parameter, known in list(found.items()):
            grouped: dict[tuple[int, str], list[str]] = {}
            for kind, (mask, error) in known["refused"].items():
                if mask:
                    grouped.setdefault((mask, error), []).append(kind)
            known["refused"] = [[mask, error, kinds] for (mask, error), kinds in grouped.items()]
            if not grouped:
                del found[parameter]
                continue
            if name == "keras.Model.fit" and parameter in VALIDATING:
                known["beside"] = VALIDATING[parameter]
            found[parameter] = {key: value for key, value in known.items() if value}
    versions = sorted(known_of, key=bits.__getitem__)
    return {
        "tensorflow": versions,
        "keras": [known_of[version] for version in versions],
        "calls": {name: found for name, found in sorted(calls.items()) if found},
    }


def opened(calls: dict[str, Any], without: int) -> dict[str, dict[str, Any]]:
    """Return the calls of a table as they are joined, some releases left out."""
    return {
        name: {
            parameter: {
                "known": entry["known"] & ~without,
                "refused": {
                    kind: (mask & ~without, error)
                    for mask, error, kinds in entry["refused"]
                    for kind in kinds
                },
                "kind": entry.get("kind", ""),
                "words": {
                    word: mask & ~without for word, mask in entry.get("words", {}).items() if mask & ~without
                },
                "any_case": entry.get("any_case", False),
            }
            for parameter, entry in found.items()
            if parameter not in NEVER
        }
        for name, found in calls.items()
    }


def backed(known: dict[str, Any], group: list[int], count: int) -> None:
    """Leave the early releases of a Keras what its newest refuses as well, and give those between two what both do."""
    newest, early = max(group, default=0), sum(group) - max(group, default=0)
    asked_of = sum(bit for bit in group if bit & known["known"])
    if not newest & known["known"]:
        known["known"] &= ~early
        known["refused"] = {kind: (mask & ~early, error) for kind, (mask, error) in known["refused"].items()}
        return
    between = sum(
        1 << number
        for number in range(count)
        if early & known["known"] and 1 << number not in group and min(group) < 1 << number < newest
    )
    known["known"] |= between
    for word, mask in known["words"].items():
        if mask & newest:
            known["words"][word] = mask | between | asked_of
    for kind, (mask, error) in list(known["refused"].items()):
        kept = mask if mask & newest else mask & ~early
        certain = mask & newest and mask & asked_of == asked_of
        known["refused"][kind] = (kept | between if certain else kept, error)


def main() -> int:
    """Ask this interpreter's TensorFlow, or join what several said."""
    if sys.argv[1:2] == ["ask"]:
        ask(Path(sys.argv[2]), sys.argv[3:])
        return 0
    if sys.argv[1:2] == ["work"]:
        work(sys.argv[2:])
        return 0
    if sys.argv[1:2] not in (["join"], ["add"], ["release"]) or not sys.argv[2:]:
        print(__doc__, file=sys.stderr)
        return 2
    kept = json.loads(TARGET.read_text(encoding="utf-8"))
    made = join(sys.argv[2:], kept if sys.argv[1] == "release" else None)
    if sys.argv[1] == "add":
        added = {name: {**entries, **kept["calls"].get(name, {})} for name, entries in made["calls"].items()}
        made = {**kept, "calls": dict(sorted({**kept["calls"], **added}.items()))}
    text = json.dumps(made, separators=(",", ":")).replace('}},"', '}},\n"') + "\n"
    TARGET.write_text(text, encoding="utf-8")
    print(f"{TARGET}: {len(text)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
