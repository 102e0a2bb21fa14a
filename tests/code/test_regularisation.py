"""Penalties that a step leaves out: TFF061 over the ways in which people write models and steps."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked import check_marked

FUNCTIONAL = """\
from tensorflow import GradientTape
from tensorflow import keras
from tensorflow.keras import layers, regularizers
import tensorflow as tf


def block(x, filters):
    return layers.Conv2D(filters, 3, kernel_regularizer=regularizers.l2(1e-4))(x)


def build():
    inputs = keras.Input((8, 8, 3))
    x = block(inputs, 4)
    return keras.Model(inputs, layers.Dense(1)(layers.Flatten()(x)))


class Trainer:
    def __init__(self):
        self.net = build()
        self.optimizer = keras.optimizers.Adam()

    @tf.function
    def train_step(self, x, y):
        with GradientTape() as tape:  # found
            out = self.net(x, training=True)
            loss = tf.reduce_mean(keras.losses.mean_squared_error(y, out))
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss


Trainer().train_step(tf.ones([1, 8, 8, 3]), tf.ones([1, 1]))
"""
CLASSES = """\
import tensorflow as tf
from b import Net

net = Net()
optimizer = tf.keras.optimizers.SGD(0.1)


def loss_of(x, y):
    return tf.reduce_mean(tf.square(net(x) - y))


def grad(x, y):
    with tf.GradientTape() as tape:  # found
        loss = loss_of(x, y)
    return tape.gradient(loss, net.trainable_variables)


for x in tf.data.Dataset.from_tensors(tf.ones([2, 2])):
    optimizer.apply_gradients(zip(grad(x, x), net.trainable_variables))
"""
NET = """\
import tensorflow as tf


class Block(tf.keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.dense = tf.keras.layers.Dense(units, activation="relu", kernel_regularizer=tf.keras.regularizers.L2(0.01))

    def call(self, x):
        return self.dense(x)


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.block = Block(4)
        self.out = tf.keras.layers.Dense(2)

    def call(self, x):
        return self.out(self.block(x))
"""
STEP = """\
import json
import tensorflow as tf

SET = json.load(open("settings.json"))


{builder}

optimizer = tf.keras.optimizers.Adam()


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))


for _ in range(3):
    step(tf.ones([2, 2]), tf.ones([2, 1]))
"""
CHOSEN = """\
def build(weight):
    penalty = tf.keras.regularizers.L1(weight) if weight else None
    return tf.keras.Sequential([tf.keras.layers.Dense(4, kernel_regularizer=penalty), tf.keras.layers.Dense(1)])


model = build(SET["weight"])
"""
BRANCH = """\
def build(weight):
    penalty = None
    if weight > 0:
        penalty = tf.keras.regularizers.l2(weight)
    return tf.keras.Sequential([tf.keras.layers.Dense(4, kernel_regularizer=penalty), tf.keras.layers.Dense(1)])


model = build(SET["weight"])
"""
HANDED = """\
def dense(units, penalty=None):
    return tf.keras.layers.Dense(units, activation="relu", bias_regularizer=penalty)


def build():
    return tf.keras.Sequential([dense(4, tf.keras.regularizers.L2(1e-3)), dense(1)])


model = build()
"""
DEFAULT = """\
def build(units, penalty="l2"):
    return tf.keras.Sequential([tf.keras.layers.Dense(units, kernel_regularizer=penalty), tf.keras.layers.Dense(1)])


model = build(4)
"""


@pytest.mark.parametrize(
    "builder", [CHOSEN, BRANCH, HANDED, DEFAULT], ids=["chosen", "branch", "handed", "default"]
)
def test_penalties_that_a_setting_chooses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, builder: str
) -> None:
    text = STEP.format(builder=builder).replace("as tape:", "as tape:  # found")
    check_marked(tmp_path, monkeypatch, "TFF061", text)


@pytest.mark.parametrize(
    ("builder", "old", "new"),
    [
        (CHOSEN, 'SET["weight"]', "0.0"),
        (BRANCH, 'SET["weight"]', "0"),
        (BRANCH, "l2(weight)", "l2(0.0)"),
        (HANDED, ", tf.keras.regularizers.L2(1e-3)", ""),
        (DEFAULT, "build(4)", "build(4, None)"),
    ],
    ids=["chosen", "branch", "nothing", "handed", "default"],
)
def test_penalties_that_are_known_to_be_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, builder: str, old: str, new: str
) -> None:
    assert old in builder
    check_marked(tmp_path, monkeypatch, "TFF061", STEP.format(builder=builder.replace(old, new)))


@pytest.mark.parametrize("texts", [(FUNCTIONAL,), (CLASSES, NET)], ids=["functional", "classes"])
def test_penalties_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: tuple[str, ...]) -> None:
    check_marked(tmp_path, monkeypatch, "TFF061", *texts)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("net(x) - y))", "net(x) - y)) + tf.add_n(net.losses)"),
        (
            "    return tape",
            "    loss += sum(tf.nn.l2_loss(v) for v in net.trainable_variables)\n    return tape",
        ),
        ("SGD(0.1)", "AdamW(0.1, weight_decay=1e-4)"),
        ("net = Net()", "net = tf.keras.Sequential([tf.keras.layers.Dense(2)])"),
    ],
    ids=["added", "by hand", "decay", "another model"],
)
def test_penalties_that_are_not_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str
) -> None:
    assert old in CLASSES
    text = CLASSES.replace(old, new).replace("  # found", "")
    check_marked(tmp_path, monkeypatch, "TFF061", text, NET)


OWN_LOSS = """\
import tensorflow as tf


def build(inputs):
    x = tf.keras.layers.Dense(4, bias_regularizer="l1")(inputs)
    return tf.keras.layers.Dense(1)(x)


inputs = tf.keras.Input((4,))
net = tf.keras.Model(inputs, build(inputs))
optimizer = tf.keras.optimizers.Nadam(0.1)


def compute_loss(y, out):
    return tf.reduce_mean((y - out) ** 2)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:  # found
        loss = compute_loss(y, net(x, training=True))
    variables = net.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))


step(tf.ones([2, 4]), tf.ones([2, 1]))
"""
OF_KERAS = """\
import tensorflow as tf


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.out = tf.keras.layers.Dense(1, kernel_regularizer="l2")

    def call(self, x):
        return self.out(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(x, y, self(x, training=True))
        variables = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return {"loss": loss}


net = Net()
net.compile("sgd", "mse")
net.fit(tf.ones([2, 4]), tf.ones([2, 1]))
"""
OVERRIDDEN = OF_KERAS.replace(
    "    def train_step",
    "    def compute_loss(self, x, y, out):\n        return super().compute_loss(x, y, out)\n\n    def train_step",
)
CHOSEN = CLASSES.replace(
    "optimizer = tf.keras.optimizers.SGD(0.1)",
    """\
def chosen(name):
    if name == "adamw":
        return tf.keras.optimizers.AdamW(0.1, weight_decay=1e-3)
    return tf.keras.optimizers.Adam(0.1)


import sys

optimizer = chosen(sys.argv[1])""",
)


@pytest.mark.parametrize(
    "texts",
    [(OWN_LOSS,), (OF_KERAS,), (OVERRIDDEN,), (CHOSEN, NET)],
    ids=["of the project", "of keras", "overridden", "one of two optimizers decays"],
)
def test_whose_compute_loss_and_which_optimizer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: tuple[str, ...]
) -> None:
    assert CHOSEN != CLASSES
    assert OVERRIDDEN != OF_KERAS
    check_marked(tmp_path, monkeypatch, "TFF061", *texts)
