"""Numbers that contradict each other through a project's functions, classes and configs, and those that do not."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from cfgfix.usage.project_code import ProjectCode

HEAD = """\
import numpy as np
import tensorflow as tf
import yaml
from tensorflow import keras
from tensorflow.keras import layers
"""


def told(folder: Path, program: str, config: str = "", **files: str) -> list[tuple[str, str]]:
    """Return what is told of shapes in a program, with the message's own words."""
    (folder / "train.py").write_text(HEAD + textwrap.dedent(program))
    if config:
        (folder / "config.yaml").write_text(config)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(HEAD + textwrap.dedent(text))
    code = ProjectCode(str(folder), lambda _path: False, keep=False)
    found = [
        (check, str(hit.values.get("says", "")))
        for _, check, hit in code.options()
        if check
        in {
            "refused-shape",
            "labels-against-output",
            "index-beyond-table",
            "steps-beyond-data",
            "rate-ends-early",
            "weights-of-other-sizes",
            "unscaled-outputs",
            "labels-spread",
            "call-lacks-argument",
            "nothing-split-off",
        }
    ]
    assert not code.failures
    return found


WRONG = {
    "a trainer that gets its parts": (
        """
        class Data:
            def __init__(self, side):
                self.side = side
            def picture(self, path):
                raw = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
                return tf.image.resize(raw, (self.side, self.side))
            def build(self):
                return tf.data.Dataset.list_files("*.jpg", shuffle=False).map(self.picture).batch(4)
        class Trainer:
            def __init__(self, model, data):
                self.model, self.data = model, data
            def run(self):
                self.model.compile("adam", "mse")
                self.model.predict(self.data)
        def network(side):
            inputs = keras.Input((side, side, 3))
            return keras.Model(inputs, layers.Flatten()(layers.Conv2D(4, 3)(inputs)))
        cfg = yaml.safe_load(open("config.yaml"))
        Trainer(network(cfg["network"]), Data(cfg["crop"]).build()).run()
        """,
        "network: 64\ncrop: 48\n",
        ("refused-shape", "takes (?, 64, 64, 3), and gets (?, 48, 48, 3)"),
    ),
    "a class of batches": (
        """
        class Batches(keras.utils.Sequence):
            def __init__(self, width):
                super().__init__()
                self.width = width
            def __len__(self):
                return 10
            def __getitem__(self, index):
                return np.zeros((8, self.width)), np.zeros((8, 1))
        model = keras.Sequential([keras.Input((12,)), layers.Dense(4), layers.Dense(1)])
        model.compile("sgd", "mse")
        model.fit(Batches(10))
        """,
        "",
        ("refused-shape", "has weights for a last dimension of 12, and gets (8, 10)"),
    ),
    "residual blocks whose shortcut is not projected": (
        """
        def block(x, filters, stride):
            y = layers.Conv2D(filters, 3, strides=stride, padding="same")(x)
            return layers.Add()([y, x])
        def resnet(widths):
            x = inputs = keras.Input((32, 32, 16))
            for number, width in enumerate(widths):
                x = block(x, width, 1 if number == 0 else 2)
            return keras.Model(inputs, layers.GlobalAveragePooling2D()(x))
        resnet(yaml.safe_load(open("config.yaml"))["widths"]).summary()
        """,
        "widths: [16, 32]\n",
        ("refused-shape", "gets 16 x 16 x 32 and 32 x 32 x 16"),
    ),
    "a loop of its own over a dataset": (
        """
        x = np.random.rand(100, 7).astype("float32")
        y = np.random.rand(100, 1).astype("float32")
        data = tf.data.Dataset.from_tensor_slices((x, y)).batch(10)
        model = keras.Sequential([keras.Input((9,)), layers.Dense(4), layers.Dense(1)])
        @tf.function
        def step(features, targets):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((model(features, training=True) - targets) ** 2)
            return tape.gradient(loss, model.trainable_variables)
        for epoch in range(3):
            for features, targets in data:
                step(features, targets)
        """,
        "",
        ("refused-shape", "has weights for a last dimension of 9, and gets (?, 7)"),
    ),
    "labels in one place more than units": (
        """
        y = keras.utils.to_categorical(np.random.randint(0, 5, 200), num_classes=5)
        model = keras.Sequential([keras.Input((3,)), layers.Dense(4, activation="softmax")])
        model.compile("sgd", keras.losses.CategoricalCrossentropy())
        model.fit(np.zeros((200, 3)), y)
        """,
        "",
        ("labels-against-output", "the model gives (?, 4), and the labels are (?, 5)"),
    ),
    "validation data of another width": (
        """
        model = keras.Sequential([keras.Input((6,)), layers.Dense(1)])
        model.compile("sgd", "mse")
        model.fit(np.zeros((64, 6)), np.zeros((64, 1)), validation_data=(np.zeros((16, 5)), np.zeros((16, 1))))
        """,
        "",
        ("refused-shape", "has weights for a last dimension of 6, and gets (?, 5)"),
    ),
    "a result of an operator in another type": (
        """
        x = (np.random.rand(64, 20) / 2.0).astype("float32").reshape(64, 5, 4)
        inputs = keras.Input((4, 5))
        model = keras.Model(inputs, layers.LSTM(3)(inputs))
        model.predict(x)
        """,
        "",
        ("refused-shape", "takes (?, 4, 5), and gets (?, 5, 4)"),
    ),
    "pictures of a generator": (
        """
        reader = keras.preprocessing.image.ImageDataGenerator(validation_split=0.2)
        cfg = yaml.safe_load(open("config.yaml"))
        data = reader.flow_from_directory("birds", target_size=tuple(cfg["size"]), class_mode="categorical")
        inputs = keras.Input((128, 128, 3))
        model = keras.Model(inputs, layers.Dense(4)(layers.Flatten()(inputs)))
        model.compile("sgd", "mse")
        model.fit(data)
        """,
        "size: [96, 96]\n",
        ("refused-shape", "takes (?, 128, 128, 3), and gets (?, 96, 96, 3)"),
    ),
    "rows of places of a generator for class numbers": (
        """
        reader = keras.preprocessing.image.ImageDataGenerator()
        data = reader.flow_from_directory("birds", target_size=(32, 32))
        model = keras.Sequential([keras.Input((32, 32, 3)), layers.Flatten(), layers.Dense(4, activation="softmax")])
        model.compile("sgd", "sparse_categorical_crossentropy")
        model.fit(data)
        """,
        "",
        (
            "labels-against-output",
            "the model gives (?, 4), and the labels are (?, ?): a row of places for each, where the loss takes class numbers",
        ),
    ),
    "a model of two inputs that fit calls with one": (
        """
        class Ranker(keras.Model):
            def __init__(self):
                super().__init__()
                self.head = layers.Dense(1)
            def call(self, user, item):
                return self.head(user * item)
        ranker = Ranker()
        ranker.compile("sgd", "mse")
        ranker.fit(np.zeros((8, 3)), np.zeros((8, 1)))
        """,
        "",
        ("call-lacks-argument", ""),
    ),
    "a network of Keras for another picture": (
        """
        base = keras.applications.MobileNetV2(include_top=False, weights=None, input_shape=(96, 96, 3))
        inputs = keras.Input((128, 128, 3))
        model = keras.Model(inputs, layers.GlobalAveragePooling2D()(base(inputs)))
        model.summary()
        """,
        "",
        ("refused-shape", "takes 96 x 96 x 3, and gets 128 x 128 x 3"),
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_contradiction_is_told_once(name: str, tmp_path: Path) -> None:
    """What each program contradicts is told with both numbers."""
    program, config, expected = WRONG[name]
    assert told(tmp_path, program, config) == [expected]


RIGHT = {
    "a last dimension of 1 that Keras adds": """
        (x, y), _ = keras.datasets.mnist.load_data()
        inputs = keras.Input((28, 28, 1))
        model = keras.Model(inputs, layers.Dense(10, activation="softmax")(layers.Flatten()(inputs)))
        model.compile("adam", "sparse_categorical_crossentropy")
        model.fit(x / 255.0, y, epochs=1)
        """,
    "a network that takes any size": """
        inputs = keras.Input((None, None, 3))
        x = layers.Conv2D(8, 3, padding="same")(inputs)
        model = keras.Model(inputs, layers.GlobalAveragePooling2D()(x))
        model.compile("sgd", "mse")
        model.fit(np.zeros((8, 50, 70, 3)), np.zeros((8, 8)))
        """,
    "a sequential network that averages over what it gets": """
        model = keras.Sequential([keras.Input((64, 64, 3)), layers.Conv2D(4, 3), layers.GlobalAveragePooling2D()])
        model.compile("sgd", "mse")
        model.predict(np.zeros((2, 32, 32, 3)))
        """,
    "one of two ways that only fit each its own data": """
        import sys
        side = 32 if len(sys.argv) > 1 else 64
        inputs = keras.Input((side, side, 3))
        model = keras.Model(inputs, layers.Flatten()(inputs))
        model.predict(np.zeros((2, 64, 64, 3)))
        """,
    "an error that is expected": """
        inputs = keras.Input((4,))
        model = keras.Model(inputs, layers.Dense(2)(inputs))
        try:
            model.predict(np.zeros((2, 5)))
        except ValueError:
            print("refused")
        """,
    "data that repeat": """
        data = tf.data.Dataset.from_tensor_slices((np.zeros((64, 3)), np.zeros((64, 1)))).repeat().batch(8)
        model = keras.Sequential([keras.Input((3,)), layers.Dense(1)])
        model.compile("sgd", "mse")
        model.fit(data, steps_per_epoch=50, epochs=3)
        """,
    "a batch that a network without states takes": """
        inputs = keras.Input(batch_shape=(4, 3))
        model = keras.Model(inputs, layers.Dense(1)(inputs))
        model.compile("sgd", "mse")
        model.fit(np.zeros((64, 3)), np.zeros((64, 1)), batch_size=8)
        """,
    "a method of something that is not known": """
        def boxes(found):
            return found.detach().reshape(-1, 4).reshape(2, 6)
        boxes(open("x"))
        """,
    "class numbers in a column": """
        (x, y), _ = keras.datasets.cifar10.load_data()
        model = keras.Sequential([keras.Input((32, 32, 3)), layers.Flatten(), layers.Dense(10, activation="softmax")])
        model.compile("adam", "sparse_categorical_crossentropy")
        model.fit(x, y)
        """,
    "frames that are encoded one by one": """
        class Frames(keras.Model):
            def __init__(self):
                super().__init__()
                self.encoder, self.head = layers.Dense(12), layers.Dense(3)
            def call(self, x):
                flat = self.encoder(tf.reshape(x, [-1, 5]))
                return self.head(tf.reshape(flat, [tf.shape(x)[0], 15, 12]))
        Frames()(np.zeros((4, 15, 5)))
        """,
    "distances of all pairs": """
        x = np.random.rand(50, 1).astype("float32")
        y = np.random.rand(50).astype("float32")
        print(x - y)
        model = keras.Sequential([keras.Input((3,)), layers.Dense(1)])
        print(model(np.zeros((50, 3)))[:, 0] - y)
        """,
    "a probability out of a layer with an activation of its own": """
        def squash(value):
            return tf.nn.sigmoid(value)
        model = keras.Sequential([keras.Input((3,)), layers.Dense(1, activation=squash)])
        model.compile("sgd", "binary_crossentropy")
        model.fit(np.zeros((8, 3)), np.zeros((8, 1)))
        """,
    "a reshape that folds the batch": """
        inputs = keras.Input((10, 6))
        x = layers.Lambda(lambda t: tf.reshape(t, (-1, 4)))(inputs)
        keras.Model(inputs, x).summary()
        """,
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_goes_together_is_not_told(name: str, tmp_path: Path) -> None:
    """Programs that run, and those that cannot be followed to their end, are left alone."""
    assert told(tmp_path, RIGHT[name]) == []


def test_weights_of_the_same_sizes_are_taken(tmp_path: Path) -> None:
    """A program that loads what several others write needs one of them to be of its sizes."""
    build = """
        def build(units):
            return keras.Sequential([keras.Input((4,)), layers.Dense(units), layers.Dense(1)])
        """
    write = "from common import build\nmodel = build({})\nmodel.save_weights('w.weights.h5')\n"
    reads = "from common import build\nmodel = build(32)\nmodel.load_weights('w.weights.h5')\n"
    first = tmp_path / "first"
    first.mkdir()
    assert told(first, write.format(16), common=build, other=write.format(32), predict=reads) == []
    second = tmp_path / "second"
    second.mkdir()
    found = told(second, write.format(16), common=build, predict=reads)
    assert found == [
        ("weights-of-other-sizes", "Dense has 160 numbers in its weights, and 80 in w.weights.h5")
    ]


def test_both_numbers_and_their_keys_are_named(tmp_path: Path) -> None:
    """The places of both numbers stand beside a hit, and those of the config keys behind them."""
    program, config, _ = WRONG["a trainer that gets its parts"]
    told(tmp_path, program, config)
    code = ProjectCode(str(tmp_path), lambda _path: False, keep=False)
    ((_, _, hit),) = [item for item in code.options() if item[1] == "refused-shape"]
    labels = [getattr(item, "label", "") for item in hit.related]
    assert "gives (?, 48, 48, 3)" in labels
    assert "takes (?, 64, 64, 3)" in labels
    assert "network is 64 here" in labels
    assert "crop is 48 here" in labels
