"""Layers that are told under another name than theirs whether they train, and layers of random numbers that `call` makes."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked import check_marked

LAYERS = """\
import tensorflow as tf


class Norm(tf.keras.layers.Layer):
    def __init__(self, rate=0.0):
        super().__init__()
        self.rate = rate
        self.norm = tf.keras.layers.BatchNormalization()

    def call(self, x, is_train=True):
        return self.norm(x, training=is_train)


class Named(Norm):
    def call(self, x, training=None):
        return self.norm(x, training=training)
"""
MODEL = """\
import tensorflow as tf
from a import Named, Norm


class Net(tf.keras.Model):
    def __init__(self, deep):
        super().__init__()
        self.first = Norm()
        self.last = Named() if deep else Norm()
        self.named = Named()

    def call(self, x, training=False):
        x = self.first(x, training=training)  # found
        x = self.last(x, training=training)
        x = self.first(x, is_train=training)
        return self.named(self.first(x, training=True), training=training)


net = Net(True)
print(net(tf.ones([2, 2]), training=False))
"""
NOISE = """\
import tensorflow as tf
from tensorflow.keras.layers import Dropout, GaussianNoise, Layer

RATE = 0.0


class Noisy(Layer):
    def __init__(self):
        super().__init__()
        self.shake = lambda x: GaussianNoise(0.1)(x)  # found
        self.drop = Dropout(0.2)

    def call(self, x):
        x = Dropout(RATE)(self.drop(x))
        return Dropout(0.1, noise_shape=(None, 1))(self.shake(x))  # found


model = tf.keras.Sequential([Noisy(), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.evaluate(tf.ones([4, 2]), tf.ones([4, 1]))
"""


def test_flags_under_another_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_marked(tmp_path, monkeypatch, "TFF185", LAYERS, MODEL)


def test_seeds_made_in_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_marked(tmp_path, monkeypatch, "DEP075", NOISE)


def test_seeds_made_in_call_of_keras_2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_marked(tmp_path, monkeypatch, "DEP075", NOISE.replace("  # found", ""), tensorflow="2.12")


def test_seeds_of_models_that_run_eagerly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    eager = NOISE.replace("  # found", "").replace('"mse")', '"mse", run_eagerly=True)')
    check_marked(tmp_path, monkeypatch, "DEP075", eager)
