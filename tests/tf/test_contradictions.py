"""Each row of the table of contradictions, tried with TensorFlow: what is refused, and the same without the contradiction."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cfgfix.code.tensorflow.contradictions import Row, contradictions, rows

tf = pytest.importorskip("tensorflow")
keras = tf.keras

SMALL_NETWORK = "keras.applications.MobileNetV2"
pytestmark = pytest.mark.acceptance

CASES = [
    (row, SMALL_NETWORK if name.endswith(".") else name)
    for row in rows()
    for name in row.of
    if "Sequential" not in name
]


def picture() -> Any:
    return tf.fill([8, 8, 3], tf.constant(7, tf.uint8))


WORKS_ON: dict[str, Callable[[], tuple[Any, ...]]] = {
    **{
        f"tensorflow.{package}.{kind}": lambda: (tf.io.encode_jpeg(picture()), [0, 0, 4, 4])
        for package in ("image", "io")
        for kind in ("decode_and_crop_jpeg",)
    },
    **{
        f"tensorflow.{package}.decode_{kind}": lambda kind=kind: (
            getattr(tf.io, f"encode_{kind}")(picture()),
        )
        for package in ("image", "io")
        for kind in ("jpeg", "png")
    },
    **{
        f"tensorflow.{package}.encode_{kind}": lambda: (picture(),)
        for package in ("image", "io")
        for kind in ("jpeg", "png")
    },
    **{
        f"tensorflow.image.random_{kind}": lambda: (tf.fill([8, 8, 3], 0.5),)
        for kind in ("hue", "contrast", "saturation", "jpeg_quality")
    },
    "tensorflow.nn.dropout": lambda: (tf.ones([4]),),
}
"""What functions work on, before the arguments that are tried."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("files")
    for label in ("one", "two"):
        for kind in ("image", "text", "audio"):
            (top / kind / label).mkdir(parents=True)
        for number in range(4):
            picture = tf.io.encode_png(tf.zeros([8, 8, 3], tf.uint8))
            tf.io.write_file(str(top / "image" / label / f"{number}.png"), picture)
            tf.io.write_file(str(top / "text" / label / f"{number}.txt"), "a few words")
            sound = tf.audio.encode_wav(tf.zeros([64, 1]), 8000)
            tf.io.write_file(str(top / "audio" / label / f"{number}.wav"), sound)
    return top


def resolved(name: str) -> Any:
    found: Any = {"keras": keras, "tensorflow": tf, "numpy": np}[name.partition(".")[0]]
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


def fitted(arguments: dict[str, Any]) -> dict[str, Any]:
    model = keras.Sequential([keras.Input([2]), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    found: dict[str, Any] = model.fit(tf.zeros([8, 2]), tf.zeros([8, 1]), verbose=0, **arguments).history
    return found


def made(name: str, arguments: dict[str, Any], folder: Path) -> Any:
    if name.endswith(".flow_from_directory"):
        return keras.preprocessing.image.ImageDataGenerator().flow_from_directory(
            str(folder / "image"), **arguments
        )
    if name.endswith("_from_directory"):
        kind = name.rpartition(".")[2].partition("_")[0]
        return resolved(name)(str(folder / kind), batch_size=2, **arguments)
    if name.endswith("timeseries_dataset_from_array"):
        return resolved(name)(list(range(9)), None, 2, **arguments)
    if name.endswith("Dataset.shard"):
        return tf.data.Dataset.range(4).shard(**arguments)
    if name.startswith("keras.applications."):
        return resolved(name)(
            input_shape=(32, 32, 3) if arguments.get("weights", 1) is None else None, **arguments
        )
    if name in WORKS_ON:
        return resolved(name)(*WORKS_ON[name](), **arguments)
    if name == "keras.callbacks.CSVLogger":
        callback = keras.callbacks.CSVLogger(
            str(folder / arguments["filename"]), separator=arguments["separator"]
        )
        callback.on_train_begin()
        with callback.csv_file:
            callback.on_epoch_end(0, {"loss": 1.0})
        return callback
    if name.endswith(".load_img"):
        pytest.importorskip("PIL")
        return resolved(name)(str(folder / "image" / "one" / "0.png"), **arguments)
    if name == "tensorflow.device":
        with tf.device(**arguments):
            return tf.zeros(1)
    if name == "keras.callbacks.TensorBoard" and "update_freq" in arguments:
        pytest.importorskip("tensorboard")
        board = keras.callbacks.TensorBoard(str(folder / "logs"), update_freq=arguments["update_freq"])
        return fitted({"callbacks": [board]})
    if name == "keras.Model.compile":
        return keras.Sequential([keras.Input([2]), keras.layers.Dense(1)]).compile(**arguments)
    return resolved(name)(**arguments)


@pytest.mark.parametrize(("row", "name"), [case for case in CASES if case[0].error])
def test_what_is_refused_raises_and_what_is_taken_does_not(row: Row, name: str, folder: Path) -> None:
    errors = {
        "ValueError": ValueError,
        "TypeError": TypeError,
        "NotImplementedError": NotImplementedError,
        "InvalidArgumentError": tf.errors.InvalidArgumentError,
    }
    with pytest.raises(errors[row.error]):
        made(name, dict(row.refused), folder)
    made(name, dict(row.taken), folder)


def watched(arguments: dict[str, Any]) -> str:
    kind = keras.callbacks.ModelCheckpoint if "filepath" in arguments else keras.callbacks.EarlyStopping
    callback = kind(**arguments)
    mode: str = getattr(callback, "mode", "auto")
    return mode


def takes_worst(arguments: dict[str, Any]) -> bool:
    kind = keras.callbacks.ModelCheckpoint if "filepath" in arguments else keras.callbacks.EarlyStopping
    callback = kind(**arguments)
    model = keras.Sequential([keras.Input([2]), keras.layers.Dense(1)])
    model.compile("sgd", "mse", metrics=["accuracy"])
    callback.set_model(model)
    callback._set_monitor_op()
    return bool(callback._is_improvement(0.1, 0.9))


def first_updates(arguments: dict[str, Any]) -> list[float]:
    optimizer, variable = keras.optimizers.SGD(**arguments), keras.Variable([1.0])
    for _ in range(3):
        optimizer.apply([tf.constant([1.0])], [variable])
    return [float(value) for value in variable.numpy()]


SILENT: dict[str, Callable[[dict[str, Any]], bool]] = {
    "pooling": lambda arguments: (
        len(resolved(SMALL_NETWORK)(input_shape=(32, 32, 3), **arguments).output.shape) == 4
    ),
    "mode": lambda arguments: (
        takes_worst(arguments) if "monitor" in arguments else watched(arguments) == "auto"
    ),
    "initial_epoch": lambda arguments: not fitted(arguments).get("loss"),
    "validation_freq": lambda arguments: "val_loss" not in fitted(arguments),
    "validation_split": lambda arguments: "loss" not in fitted(arguments),
    "ema_momentum": lambda arguments: (
        first_updates(arguments) == first_updates({**arguments, "ema_momentum": 0.99})
    ),
    "nesterov": lambda arguments: first_updates(arguments) == first_updates({**arguments, "nesterov": False}),
}
"""Whether the argument has no effect, for what raises nothing."""


@pytest.mark.filterwarnings("ignore:.*is unknown, fallback", "ignore:.*ran out of data")
@pytest.mark.parametrize("row", [row for row in rows() if not row.error], ids=lambda row: row.at[0])
def test_what_has_no_effect(row: Row) -> None:
    no_effect = SILENT[row.at[0]]
    assert no_effect(dict(row.refused))
    assert not no_effect(dict(row.taken))


@pytest.mark.parametrize(("row", "name"), CASES)
def test_the_table_tells_them_apart(row: Row, name: str) -> None:
    told = list(contradictions(name, row.refused, (), opaque=False))
    assert row.at in [item.at for item in told]
    assert row.at not in [item.at for item in contradictions(name, row.taken, (), opaque=False)]
    assert not list(contradictions(name, {}, row.refused.keys(), opaque=False))
    if row.whole:
        assert row.at not in [item.at for item in contradictions(name, row.refused, (), opaque=True)]
