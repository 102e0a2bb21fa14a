"""Seeds that are the same for each element: TFD034 over the ways in which people write them."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked import check_marked

MODULE = """\
import tensorflow as tf

PAIR = (42, 7)
BASE = 3
TENSOR = tf.constant([1, 2])
draws = tf.random.Generator.from_seed(1)


def view(image, label):
    image = tf.image.stateless_random_crop(image, (8, 8, 3), seed=PAIR)  # found
    image = tf.image.stateless_random_flip_left_right(image, [BASE, 0])  # found
    image = tf.image.stateless_random_hue(image, 0.2, TENSOR)  # found
    return image, label


def by_number(image, number):
    return tf.image.stateless_random_flip_up_down(image, (BASE, number))  # not found


def drawn(image):
    pair = draws.make_seeds(2)[:, 0]
    return tf.image.stateless_random_contrast(image, 0.7, 1.3, pair)  # not found


def folded(image, number):
    pair = PAIR
    pair = tf.random.experimental.stateless_fold_in(pair, number)
    return tf.image.stateless_random_saturation(image, 0.5, 1.5, pair)  # not found


images = tf.data.Dataset.from_tensor_slices((tf.zeros((4, 16, 16, 3)), tf.zeros(4))).map(view).map(lambda x, y: x)
numbered = tf.data.Dataset.zip((images, tf.data.Dataset.counter()))
numbered.map(by_number)
numbered.map(folded)
images.map(drawn)
"""
KEPT = """\
import tensorflow as tf


class Noise:
    def __init__(self, seed=5):
        self.seed = seed
        self.pair = (1, seed)

    def weak(self, x):
        return x + tf.random.stateless_normal(tf.shape(x), seed=self.pair)  # found

    def strong(self, x):
        return x + 2.0 * tf.random.stateless_normal(tf.shape(x), [self.seed, 1])  # found

    def on(self, dataset):
        return dataset.map(self.weak).map(self.strong)


class Counted:
    def __init__(self):
        self.pair = tf.Variable([1, 2])

    def noise(self, x):
        return x + tf.random.stateless_normal(tf.shape(x), seed=self.pair)  # not found


def fixed(seed):
    def turn(x):
        return x + tf.random.stateless_uniform([], seed=[seed, 0])  # found

    return turn


def of_epoch(seed):
    def turn(x):
        return x * tf.random.stateless_uniform([], seed=[seed, 0])  # not found

    return turn


data = Noise().on(tf.data.Dataset.from_tensor_slices(tf.zeros((4, 16))))
data.map(fixed(3))
data.map(Counted().noise)
for epoch in range(3):
    for _ in data.map(of_epoch(epoch)):
        pass
"""


@pytest.mark.parametrize("text", [MODULE, KEPT])
def test_seeds_that_no_element_changes(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_marked(tmp_path, monkeypatch, "TFD034", text, severity="error")
