"""Which calls and names of a program are reached: the arguments on a way, and the questions around a place."""

from __future__ import annotations

from pathlib import Path

import pytest

from cfgfix.lint.runner import Request, check
from cfgfix.settings.reader import Settings

WAYS = """\
import functools
import os
import numpy as np
import tensorflow as tf

TRAIN = os.environ.get("TRAIN") == "1"


def flip(x):
    return tf.image.random_flip_left_right(x)


# 1 flag given anew inside
def f1(path, training=False):
    training = training or TRAIN
    image = tf.io.decode_jpeg(tf.io.read_file(path))
    if training:
        image = flip(image)
    return image


d1 = tf.data.Dataset.list_files("a").map(f1)  # found


# 2 flag by keyword-only and handed on twice
def f2(path, *, mode="eval"):
    image = tf.io.decode_jpeg(tf.io.read_file(path))
    return inner2(image, mode)


def inner2(image, mode):
    if mode == "train":
        return flip(image)
    return image


d2 = tf.data.Dataset.list_files("a").map(lambda p: f2(p, mode="train"))  # found
d2b = tf.data.Dataset.list_files("a").map(lambda p: f2(p))  # not found


# 3 object configured by constructor
class Reader:
    def __init__(self, training=False):
        self.training = training

    def __call__(self, path):
        image = tf.io.decode_jpeg(tf.io.read_file(path))
        if self.training:
            image = flip(image)
        return image


r_train, r_test = Reader(training=True), Reader()
d3 = tf.data.Dataset.list_files("a").map(lambda p: Reader(True)(p))  # found
d3b = tf.data.Dataset.list_files("a").map(lambda p: Reader()(p))  # not found


# 5 flags of a function around, given by its call and handed on
def load5(path, training):
    image = tf.io.decode_jpeg(tf.io.read_file(path))
    if training:
        image = flip(image)
    return image


def make5(training):
    def parse(path):
        return load5(path, training)

    return tf.data.Dataset.list_files("a").map(parse)  # found


class Base5:
    def load(self, path, training):
        raise NotImplementedError

    def make(self, training):
        return tf.data.Dataset.list_files("a").map(lambda path: self.load(path, training))  # not found


class Sub5(Base5):
    def load(self, path, training):
        return load5(path, training)


d5 = [make5(False), make5(True), Sub5().make(False)]


# 4 closure
def make(training):
    def load(path):
        image = tf.io.decode_jpeg(tf.io.read_file(path))
        if training:
            image = flip(image)
        return image

    return tf.data.Dataset.list_files("a").map(load)  # found


d4, d4b = make(True), make(False)


# 5 early return
def f5(path, training=False):
    image = tf.io.decode_jpeg(tf.io.read_file(path))
    if not training:
        return image
    return flip(image)


d5 = tf.data.Dataset.list_files("a").map(functools.partial(f5, training=True))  # found
d5b = tf.data.Dataset.list_files("a").map(f5)  # not found


# 6 recursion
def f6(x, depth=0):
    if depth > 3:
        return flip(x)
    return f6(x, depth + 1)


d6 = tf.data.Dataset.list_files("a").map(lambda p: f6(tf.io.decode_jpeg(tf.io.read_file(p))))  # found


# 7 classmethod and staticmethod
class Box:
    @classmethod
    def load(cls, path, training):
        image = tf.io.decode_jpeg(tf.io.read_file(path))
        return flip(image) if training else image

    @staticmethod
    def load2(path, training):
        image = tf.io.decode_jpeg(tf.io.read_file(path))
        return flip(image) if training else image


d7 = tf.data.Dataset.list_files("a").map(lambda p: Box.load(p, True))  # found
d7b = tf.data.Dataset.list_files("a").map(lambda p: Box.load2(p, True))  # found
d7c = tf.data.Dataset.list_files("a").map(lambda p: Box.load(p, False))  # not found


# 8 five ways then all
def f8(x, k):
    if k == 7:
        return flip(x)
    return x


def g8(p):
    x = tf.io.decode_jpeg(tf.io.read_file(p))
    return f8(x, 1), f8(x, 2), f8(x, 3), f8(x, 4), f8(x, 7)


d8 = tf.data.Dataset.list_files("a").map(g8)  # found


# 9 kwargs
def f9(path, **kw):
    return f5(path, **kw)


d9 = tf.data.Dataset.list_files("a").map(lambda p: f9(p, training=True))  # found


# 10 partial positional
def f10(training, path):
    image = tf.io.decode_jpeg(tf.io.read_file(path))
    if training:
        image = flip(image)
    return image


d10 = tf.data.Dataset.list_files("a").map(functools.partial(f10, True))  # found
d10b = tf.data.Dataset.list_files("a").map(functools.partial(f10, False))  # not found


# 11 subclass super
class Base:
    def load(self, path, training=False):
        image = tf.io.decode_jpeg(tf.io.read_file(path))
        if training:
            image = flip(image)
        return image


class Sub(Base):
    def load(self, path, training=True):
        return super().load(path, training=training)


d11 = tf.data.Dataset.list_files("a").map(Sub().load)  # found
d11b = tf.data.Dataset.list_files("a").map(Base().load)  # not found


# 12 default overridden by attribute of the loop
def build(flags):
    out = []
    for training in (True, False):
        out.append(tf.data.Dataset.list_files("a").map(lambda p, training=training: f5(p, training)))  # found
    return out
"""
"""Maps whose function is random only with some arguments; TFD005 tells of a stateful map."""

GUARDS = """\
import sys
import unittest
import pytest
import tensorflow as tf
import keras
from packaging import version

TF2 = tf.__version__.startswith("2")
HAS = hasattr(tf, "foo")
_V = version.parse(tf.__version__)
OLD = _V < version.parse("2.16")

phase = tf.keras.backend.learning_phase() if OLD else None  # not found
x1 = OLD and tf.keras.backend.learning_phase()  # not found
x2 = tf.keras.backend.learning_phase() and OLD  # found
x3 = [tf.keras.backend.learning_phase() for _ in range(2) if OLD]  # not found
x4 = (lambda: tf.keras.backend.learning_phase() if OLD else 0)()  # not found
x5 = getattr(tf.keras.backend, "learning_phase", None) or tf.keras.backend.learning_phase  # not found
x6 = not OLD or tf.keras.backend.learning_phase()  # not found
x7 = sys.argv and tf.keras.backend.learning_phase()  # found

with (tf.keras.backend.learning_phase_scope(1) if OLD else tf.name_scope("a")):  # not found
    pass

for _ in tf.keras.backend.learning_phase() if OLD else []:  # not found
    pass


class A(unittest.TestCase):
    @pytest.mark.skipif(OLD, reason="x")
    def test_a(self):
        tf.keras.backend.learning_phase()  # not found

    @pytest.mark.skipif(sys.platform == "win32", reason="x")
    def test_b(self):
        tf.keras.backend.learning_phase()  # found

    def test_c(self):
        if not OLD:
            self.skipTest("x")
        tf.keras.backend.learning_phase()  # not found

    def test_d(self):
        if not OLD:
            return
        tf.keras.backend.learning_phase()  # not found


def f(training=None):
    while training is None:
        training = tf.keras.backend.learning_phase()  # found
    return training


def g(training=False):
    return tf.keras.backend.learning_phase() if training is None else training  # found


def h(kind):
    if kind == "old":
        return tf.keras.backend.learning_phase()  # found
    elif hasattr(tf.keras.backend, "learning_phase"):
        return tf.keras.backend.learning_phase()  # not found
    else:
        return tf.keras.backend.learning_phase()  # not found


def k():
    assert hasattr(tf.keras.backend, "learning_phase")
    return tf.keras.backend.learning_phase()  # not found


def m():
    assert tf.__version__ >= "2.0"
    return tf.keras.backend.learning_phase()  # found


def n():
    if sys.argv:
        assert hasattr(tf.keras.backend, "learning_phase")
    return tf.keras.backend.learning_phase()  # found
"""
"""A name that Keras 3 does not have, behind questions of every kind; DEP008 tells of it."""


INHERITED = """\
import cv2
import tensorflow as tf


def read(path):
    return tf.numpy_function(cv2.imread, [path], tf.uint8)  # found


def kept(path):
    return tf.numpy_function(cv2.imread, [path], tf.uint8)  # not found


def never(path):
    return tf.numpy_function(cv2.imread, [path], tf.uint8)  # not found


def above(path):
    return tf.numpy_function(cv2.imread, [path], tf.uint8)  # found


def handed(path):
    return tf.numpy_function(cv2.imread, [path], tf.uint8)  # found


class Base:
    def parse(self, path):
        raise NotImplementedError

    def other(self, path):
        return path

    def make(self):
        return self._dataset().batch(4)

    def _dataset(self):
        return tf.data.Dataset.list_files("a").map(lambda path: self.parse(path))

    def more(self):
        return tf.data.Dataset.list_files("b").map(self.other)


class Images(Base):
    def parse(self, path):
        return read(path)

    def unused(self, path):
        return kept(path)


class Texts(Base):
    def parse(self, path):
        return tf.io.read_file(path)

    def other(self, path):
        return never(path)


class Further(Images):
    def make(self):
        return super().make().prefetch(1)


class Mixed(Base):
    def other(self, path):
        return above(path)


class Nearest(Mixed, Images):
    pass


def built(parse, parallel=False):
    ds = tf.data.Dataset.list_files("c")
    if parallel:
        return ds.map(lambda path: parse(path), num_parallel_calls=tf.data.AUTOTUNE)
    return ds.map(lambda path: parse(path))


def also(path):
    return tf.numpy_function(cv2.imread, [path], tf.uint8)  # found


for item in built(handed, parallel=True):
    print(item)
for item in built(lambda path: path):
    print(item)
for item in built(also):
    print(item)
for item in Further().make():
    print(item)
for item in Texts().make():
    print(item)
for item in Nearest().more():
    print(item)
"""
"""A method of a base class that maps what its subclasses define; TFD001 tells of what is mapped."""


@pytest.mark.parametrize(
    ("text", "rule"),
    [(WAYS, "TFD005"), (GUARDS, "DEP008"), (INHERITED, "TFD001")],
    ids=["ways", "guards", "inherited"],
)
def test_lines_are_found_as_marked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, rule: str
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CFGFIX_CACHE_DIR", "")
    report = check(Request(paths=(".",), settings=Settings(root=str(tmp_path), hardware="none")))
    found = {item.location.line for item in report.findings() if item.rule == rule}
    lines = dict(enumerate(text.splitlines(), 1))
    wanted = {number for number, line in lines.items() if "# found" in line}
    assert sorted(found) == sorted(wanted), [lines[number] for number in found ^ wanted]
    assert {number for number, line in lines.items() if "# not found" in line}
