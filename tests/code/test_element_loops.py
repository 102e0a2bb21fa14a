"""Loops over the elements of a tensor: TFF171 over the ways in which people write them, and loops that stay what they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked import check_marked

EAGER = """\
import numpy as np
import tensorflow as tf
from tensorflow.keras import backend as K


class Overlap:
    def compute(self, truth, guess):
        found = []
        for i in range(truth.shape[0]):  # found
            common = tf.reduce_sum(truth[i] * guess[i])
            found.append((common / tf.reduce_sum(truth[i])).numpy())
        return np.mean(found)


def rmse(a, b):
    return K.sqrt(K.mean(K.square(a - b)))


masks = tf.ones([500, 64, 64])
Overlap().compute(masks, masks)
scores = []
for row in masks:  # found
    scores.append(K.get_value(rmse(row, 0.0)))
values = np.random.rand(2000)
squashed = np.zeros(2000)
for i in range(len(values)):  # found
    squashed[i] = tf.sigmoid(values[i]).numpy()
table = tf.random.uniform([200, 200])
total = tf.constant(0.0)
for i in range(200):
    for j in range(200):  # found
        total += table[i, j] * 2.0

rewards = tf.random.normal([1000])
gain = 0.0
for i in range(1000):
    gain = rewards[i] + 0.99 * gain
for i in range(1000):
    print("row", i, table[0, 0].numpy())
for i in range(20):
    total += table[i, 0]
"""
COMPILED = """\
import tensorflow as tf
from tensorflow.keras import backend as K

N = 200


@tf.function
def normalize(batch):
    out = []
    for i in range(N):  # found
        image = batch[i]
        out.append(image - tf.reduce_mean(image))
    return tf.stack(out)


@tf.function
def noise(x):
    drawn = []
    for _ in range(300):  # found
        drawn.append(tf.random.normal([]))
    return x + tf.stack(drawn)


@tf.function
def few(x):
    drawn = []
    for i in range(8):
        drawn.append(tf.reduce_sum(x[i]))
    return tf.stack(drawn)


@tf.function
def walk(x):
    seen = []
    h = tf.zeros([4])
    for t in range(150):
        h = tf.tanh(h * 0.5 + x[t])
        seen.append(h)
    return tf.stack(seen)


def dice(truth, guess):
    total = 0.0
    for b in range(128):  # found
        t = K.flatten(truth[b])
        p = K.flatten(guess[b])
        total += 1 - 2 * K.sum(t * p) / (K.sum(t) + K.sum(p))
    return total / 128


model = tf.keras.Sequential([tf.keras.layers.Conv2D(1, 3, padding="same")])
model.compile("adam", dice)
model.fit(tf.zeros([128, 8, 8, 1]), tf.zeros([128, 8, 8, 1]), batch_size=128)
normalize(tf.random.normal([N, 28, 28]))
noise(tf.zeros([300]))
few(tf.random.normal([8, 8]))
walk(tf.random.normal([150, 4]))
"""


@pytest.mark.parametrize("text", [EAGER, COMPILED], ids=["eager", "compiled"])
def test_loops_over_elements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    check_marked(tmp_path, monkeypatch, "TFF171", text)
