"""What training steps need, read from programs that build their models in many ways; held against Keras where it builds them."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path
from typing import Any

import pytest

from cfgfix.core.source_file import read_source
from cfgfix.usage.project_code import ProjectCode

HEAD = """\
import numpy as np
import tensorflow as tf
import yaml
from tensorflow import keras
from tensorflow.keras import layers

with open("config.yaml") as stream:
    cfg = yaml.safe_load(stream)
data = tf.data.Dataset.range(8).batch(cfg["batch"])
"""
FIT = """
model.compile(optimizer="adam", loss="mse")
model.fit(data, epochs=1)
"""
CONFIG = "batch: 32\nsize: 32\nunits: [64, 32]\nblocks: 9\nname: relu\nfreeze: true\nrate: 0.1\n"

PROGRAMS = {
    "a list": """
        model = keras.Sequential([
            layers.Input(shape=(cfg["size"], cfg["size"], 3)),
            layers.Conv2D(16, 3, activation=cfg["name"]),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(10, activation="softmax"),
        ])
    """,
    "added one by one, in a loop over a list": """
        model = tf.keras.models.Sequential()
        model.add(layers.Dense(100, input_shape=(20,), activation="relu"))
        for units in cfg["units"]:
            model.add(layers.Dense(units))
            model.add(layers.BatchNormalization())
            model.add(layers.ReLU())
            model.add(layers.Dropout(cfg["rate"]))
        model.add(layers.Dense(1))
    """,
    "residual blocks, as many as the config says": """
        def block(x, filters, stride=1):
            shortcut = x
            x = layers.Conv2D(filters, 3, strides=stride, padding="same", use_bias=False)(x)
            x = layers.BatchNormalization()(x)
            x = keras.activations.relu(x)
            if stride != 1 or shortcut.shape[-1] != filters:
                shortcut = layers.Conv2D(filters, 1, strides=stride)(shortcut)
            return layers.Activation("relu")(layers.add([x, shortcut]))

        def build(size, blocks):
            inputs = keras.Input((size, size, 3))
            x = layers.Rescaling(1.0 / 255)(inputs)
            for number in range(blocks):
                x = block(x, 8 * 2 ** (number // 3), stride=2 if number % 3 == 2 else 1)
            x = layers.GlobalAveragePooling2D()(x)
            return keras.Model(inputs=inputs, outputs=layers.Dense(5)(x), name="net")

        model = build(cfg["size"], cfg["blocks"])
    """,
    "branches": """
        first = keras.Input(shape=(cfg["size"], cfg["size"], 3), name="a")
        second = keras.Input(shape=(7,), name="b")
        left = layers.Conv2D(4, 3)(first)
        left = layers.Flatten()(left)
        right = layers.Dense(12, activation="tanh")(second)
        x = layers.Concatenate()([left, right])
        x = x * 0.5
        model = keras.Model([first, second], [layers.Dense(3)(x), layers.Dense(1)(x)])
    """,
    "one layer called twice": """
        shared = layers.Dense(20)
        a, b = keras.Input((10,)), keras.Input((10,))
        model = keras.Model([a, b], layers.Dense(1)(layers.Subtract()([shared(a), shared(b)])))
    """,
    "weights of a layer looked at": """
        inputs = keras.Input((8,))
        model = keras.Model(inputs, layers.Dense(3)(layers.Dense(4)(inputs)))
        model.layers[-1].set_weights(model.get_layer(index=2).get_weights())
    """,
    "a model of its own": """
        class Block(layers.Layer):
            def __init__(self, units, **kwargs):
                super().__init__(**kwargs)
                self.one = layers.Dense(units, activation="relu")
                self.norm = layers.LayerNormalization()

            def call(self, x, training=False):
                return self.norm(x + self.one(x))

        class Net(keras.Model):
            def __init__(self, units, depth):
                super().__init__()
                self.head = layers.Dense(units)
                self.blocks = [Block(units) for _ in range(depth)]
                self.drop = layers.Dropout(0.1)
                self.out = layers.Dense(2)

            def call(self, inputs, training=False):
                x = self.head(inputs)
                for block in self.blocks:
                    x = block(x)
                x = self.drop(x, training=training)
                return self.out(x)

        model = Net(cfg["units"][0], 10)
        model(tf.zeros((1, 15)))
    """,
    "a class that makes the model": """
        class Maker:
            def __init__(self, config):
                self.config = config
                self.model = None

            def make(self):
                inputs = x = keras.Input((self.config["size"],))
                x = layers.Embedding(1000, 24)(x)
                x = layers.Bidirectional(layers.LSTM(16, return_sequences=True))(x)
                attended = layers.MultiHeadAttention(num_heads=2, key_dim=12)(x, x)
                x = layers.LayerNormalization(epsilon=1e-6)(x + attended)
                x = layers.GRU(8)(x)
                self.model = keras.Model(inputs, layers.Dense(4, activation=tf.nn.softmax)(x))
                return self.model

        maker = Maker(cfg)
        maker.make()
        model = maker.model
    """,
    "models in a model": """
        encoder = keras.Sequential([layers.Dense(8, activation="relu"), layers.Dense(3)])
        inner = keras.Input((3,))
        decoder = keras.Model(inner, layers.Dense(20)(layers.Dense(8)(inner)))
        inputs = keras.Input((20,))
        model = keras.Model(inputs, decoder(encoder(inputs)))
    """,
    "frozen features of a known model": """
        base = tf.keras.applications.MobileNetV2(input_shape=(64, 64, 3), include_top=False, weights=None)
        base.trainable = not cfg["freeze"]
        inputs = keras.Input((64, 64, 3))
        x = base(inputs, training=False)
        x = layers.GlobalAveragePooling2D()(x)
        model = keras.Model(inputs, layers.Dense(4)(x))
    """,
    "the ends of a known model": """
        base = keras.applications.MobileNetV2(weights=None, include_top=False, input_shape=(64, 64, 3), pooling="avg")
        for layer in base.layers:
            layer.trainable = False
        model = keras.Model(inputs=base.input, outputs=layers.Dense(4)(base.output))
    """,
    "a known model with its top": """
        model = keras.applications.MobileNetV2(weights=None, classes=7, input_shape=(96, 96, 3))
    """,
    "a known model in a list": """
        model = keras.Sequential([
            keras.applications.MobileNetV2(weights=None, include_top=False, input_shape=(96, 96, 3)),
            layers.GlobalMaxPooling2D(),
            layers.Dense(3),
        ])
    """,
    "up and down again": """
        inputs = keras.Input((cfg["size"], cfg["size"], 1))
        skips, x = [], inputs
        for filters in (8, 16):
            x = layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
            skips.append(x)
            x = layers.MaxPool2D()(x)
        x = layers.Conv2D(32, 3, padding="same")(x)
        for filters, skip in zip((16, 8), skips[::-1]):
            x = layers.Conv2DTranspose(filters, 2, strides=2, padding="same")(x)
            x = layers.concatenate([x, skip])
            x = layers.SeparableConv2D(filters, 3, padding="same")(x)
        model = keras.Model(inputs, layers.Conv2D(1, 1, activation="sigmoid")(x))
    """,
    "lists turned round": """
        sizes = [32, 16, 8]
        x = inputs = keras.Input((40,))
        made = []
        for size in sizes[1:]:
            x = layers.Dense(size, activation="elu")(x)
            made.append(x)
        made.reverse()
        model = keras.Model(inputs, layers.Average()([layers.Dense(2)(one) for one in reversed(made[:-1])] + [layers.Dense(2)(x)]))
    """,
}
SILENT = {
    "no shape": """
        model = keras.Sequential([layers.Dense(8), layers.Dense(1)])
    """,
    "an open dimension": """
        inputs = keras.Input((None, None, 3))
        model = keras.Model(inputs, layers.GlobalAveragePooling2D()(layers.Conv2D(8, 3)(inputs)))
    """,
    "a size from elsewhere": """
        model = keras.Sequential([layers.Input((int(input()),)), layers.Dense(8)])
    """,
    "a layer that is not known": """
        from somewhere import Attention

        inputs = keras.Input((8, 4))
        model = keras.Model(inputs, layers.Dense(3)(Attention(8)(inputs)))
    """,
    "a function of its own over tensors": """
        inputs = keras.Input((8, 4))
        model = keras.Model(inputs, layers.Dense(3)(layers.Lambda(lambda x: x[:, 0])(inputs)))
    """,
    "as many layers as nobody knows": """
        model = keras.Sequential([layers.Input((8,))])
        for line in open("layers.txt"):
            model.add(layers.Dense(8))
    """,
    "a list of as many layers as nobody knows": """
        stack = [layers.Input((8,))]
        for line in open("layers.txt"):
            stack.append(layers.Dense(8))
        model = keras.Sequential(stack)
    """,
    "a layer that may be there": """
        model = keras.Sequential([layers.Input((8,)), layers.Dense(8)])
        if input() == "deep":
            model.add(layers.Dense(800))
    """,
    "weights of its own": """
        class Own(layers.Layer):
            def build(self, shape):
                self.w = self.add_weight(shape=(shape[-1], 5))

            def call(self, x):
                return tf.nn.relu(x)

        inputs = keras.Input((8,))
        model = keras.Model(inputs, layers.Dense(3)(Own()(inputs)))
    """,
    "partly frozen": """
        base = keras.applications.MobileNetV2(weights=None, include_top=False, input_shape=(64, 64, 3), pooling="avg")
        for layer in base.layers[:-20]:
            layer.trainable = False
        model = keras.Model(base.input, layers.Dense(4)(base.output))
    """,
    "one layer frozen, found by its name": """
        base = keras.applications.MobileNetV2(weights=None, include_top=False, input_shape=(64, 64, 3), pooling="avg")
        base.get_layer("Conv1").trainable = False
        model = keras.Model(base.input, layers.Dense(4)(base.output))
    """,
    "frozen by a condition": """
        base = keras.applications.MobileNetV2(weights=None, include_top=False, input_shape=(64, 64, 3), pooling="avg")
        if input():
            base.trainable = False
        model = keras.Model(base.input, layers.Dense(4)(base.output))
    """,
    "a step of its own": """
        class Net(keras.Model):
            def __init__(self):
                super().__init__()
                self.one = layers.Dense(3)

            def call(self, x):
                return self.one(x)

            def train_step(self, data):
                return {}

        model = Net()
        model.build((None, 4))
    """,
    "recomputed activations": """
        @tf.recompute_grad
        def part(x):
            return x

        wrapped = tf.recompute_grad(part)
        model = keras.Sequential([layers.Input((8,)), layers.Dense(8)])
    """,
    "an unknown policy": """
        keras.mixed_precision.set_global_policy(input())
        model = keras.Sequential([layers.Input((8,)), layers.Dense(8)])
    """,
    "a width that is not in the table": """
        model = keras.applications.MobileNetV2(weights=None, alpha=0.5, input_shape=(96, 96, 3))
    """,
    "a layer taken out of a model": """
        base = keras.applications.MobileNetV2(weights=None, include_top=False, input_shape=(64, 64, 3))
        x = layers.Flatten()(base.get_layer("block_6_expand").output)
        model = keras.Model(base.input, layers.Dense(4)(x))
    """,
}


def figures(folder: Path, program: str, config: str = CONFIG, *, fit: str = FIT) -> dict[str, Any]:
    (folder / "config.yaml").write_text(config)
    (folder / "train.py").write_text(HEAD + textwrap.dedent(program) + fit)
    code = ProjectCode(str(folder), lambda _path: False, keep=False, follows_models=True)
    path = str(folder / "config.yaml")
    says = code.facts_about(path, read_source(path))
    assert not code.failures, code.failures
    assert says is not None
    wanted = ("parameters", "fixed", "sample")
    return {item.parameter: item.value for item in says.reached if item.parameter in wanted}


def parameters_in_keras(folder: Path, program: str) -> int:
    """Return the weights of the model that a program trains, by running it up to there."""
    import warnings

    import keras

    found: list[int] = []
    real = keras.Model.fit
    before = Path.cwd()
    os.chdir(folder)
    keras.Model.fit = lambda self, *_args, **_options: found.append(self.count_params())
    try:
        warnings.simplefilter("ignore")
        exec(compile(HEAD + textwrap.dedent(program) + FIT, "train.py", "exec"), {"__name__": "__main__"})
    finally:
        keras.Model.fit = real
        os.chdir(before)
    return found[0]


@pytest.mark.tensorflow
@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_weights_are_those_of_keras(tmp_path, name):
    found = figures(tmp_path, PROGRAMS[name])
    assert found, name
    assert found["parameters"] == parameters_in_keras(tmp_path, PROGRAMS[name])
    assert found["fixed"] >= 4 * found["parameters"]
    assert found["sample"] > 0


@pytest.mark.parametrize("name", SILENT)
def test_what_is_not_known_is_not_told(tmp_path, name):
    assert figures(tmp_path, SILENT[name]) == {}


def test_frozen_layers_keep_nothing(tmp_path):
    """Without gradients a model needs neither slots nor what it would keep for the backward pass."""
    program = PROGRAMS["frozen features of a known model"]
    frozen = figures(tmp_path, program)
    trained = figures(tmp_path, program, CONFIG.replace("freeze: true", "freeze: false"))
    assert frozen["parameters"] == trained["parameters"]
    assert trained["sample"] > 10 * frozen["sample"]
    assert trained["fixed"] > 2.9 * frozen["fixed"]


def test_sixteen_bits_halve_the_activations(tmp_path):
    program = PROGRAMS["a list"]
    whole = figures(tmp_path, program)
    half = figures(
        tmp_path, "keras.mixed_precision.set_global_policy('mixed_float16')\n" + textwrap.dedent(program)
    )
    assert half["parameters"] == whole["parameters"]
    assert half["sample"] == pytest.approx(whole["sample"] / 2, rel=0.01)


@pytest.mark.parametrize(
    ("optimizer", "slots"),
    [
        ("'sgd'", 0),
        ("keras.optimizers.SGD(0.1, momentum=0.9)", 4),
        ("keras.optimizers.AdamW(1e-3)", 8),
        ("'rmsprop'", 4),
    ],
)
def test_the_state_of_the_optimizer_counts(tmp_path, optimizer, slots):
    program = "model = keras.Sequential([layers.Input((100,)), layers.Dense(1000), layers.Dense(1)])\n"
    found = figures(tmp_path, program, fit=f"\nmodel.compile({optimizer}, 'mse')\nmodel.fit(data)\n")
    count = 100 * 1000 + 1000 + 1000 + 1
    assert found["parameters"] == count
    assert (4 + slots) * count <= found["fixed"] <= (8 + slots) * count


def test_a_condition_around_it_all_changes_nothing(tmp_path):
    program = """
    if input() == "train":
        model = keras.Sequential([layers.Input((8,)), layers.Dense(8)])
        model.compile(optimizer="adam", loss="mse")
        model.fit(data)
    """
    assert figures(tmp_path, program, fit="")["parameters"] == 72


LOOP = """
optimizer = keras.optimizers.Adam(cfg["rate"])

@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))

for epoch in range(3):
    for x, y in data:
        step(x, y)
"""


@pytest.mark.parametrize("name", ["a list", "branches", "a model of its own", "the ends of a known model"])
def test_a_loop_of_ones_own_needs_what_fit_needs(tmp_path, name):
    (tmp_path / "loop").mkdir()
    by_fit = figures(tmp_path, PROGRAMS[name])
    assert by_fit
    assert figures(tmp_path / "loop", PROGRAMS[name], fit=LOOP) == by_fit


def test_a_loop_over_two_models_is_not_told(tmp_path):
    program = """
    first = keras.Sequential([layers.Input((8,)), layers.Dense(8)])
    model = keras.Sequential([layers.Input((8,)), layers.Dense(8)])
    """
    loop = LOOP.replace("loss, model.trainable_variables", "loss, first.trainable_variables")
    assert figures(tmp_path, program, fit=loop) == {}


@pytest.mark.parametrize(
    "program",
    [
        "if len(tf.config.list_physical_devices('GPU')) > 1:\n    strategy = tf.distribute.MirroredStrategy()\n",
        "one = tf.distribute.OneDeviceStrategy('/gpu:0')\nother = tf.distribute.MirroredStrategy()\n",
    ],
)
def test_an_unknown_number_of_replicas_is_not_told(tmp_path, program):
    assert figures(tmp_path, program + textwrap.dedent(PROGRAMS["a list"])) == {}


def test_two_sizes_of_batches_are_not_told_apart(tmp_path):
    program = "other = tf.data.Dataset.range(3).batch(7)\n" + textwrap.dedent(PROGRAMS["a list"])
    assert figures(tmp_path, program) == {}


def test_a_deep_model_is_followed(tmp_path):
    """No layer waits for the one before it, so that depth does not matter."""
    program = """
    def stack(x):
        for _ in range(40):
            for _ in range(15):
                x = x + layers.Dense(8)(x)
        return x

    inner = keras.Input((8,))
    body = keras.Model(inner, stack(inner))
    inputs = keras.Input((8,))
    model = keras.Model(inputs, body(inputs))
    """
    assert figures(tmp_path, program)["parameters"] == 40 * 15 * (8 * 8 + 8)


def test_a_hostile_loop_ends(tmp_path):
    program = """
    inputs = x = keras.Input((8,))
    for _ in range(100000):
        x = layers.Dense(8)(x)
    model = keras.Model(inputs, x)
    """
    assert figures(tmp_path, program) == {}
