"""What the elements of a dataset come to: TFD062 to TFD065 over the ways in which people write them."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked import check_marked

TWICE = """\
import tensorflow as tf
import tensorflow_datasets as tfds
from tensorflow.keras.preprocessing import image_dataset_from_directory
from tensorflow.keras.utils import image_dataset_from_directory as load_images

BATCH_SIZE = 16
AUTO = tf.data.AUTOTUNE


def prepare(ds, training=False):
    ds = ds.map(lambda x, y: (tf.cast(x, tf.float32) / 255.0, y), num_parallel_calls=AUTO)
    if training:
        ds = ds.shuffle(100)
    return ds.batch(BATCH_SIZE).prefetch(AUTO)  # found


train = image_dataset_from_directory("train", image_size=(32, 32), batch_size=BATCH_SIZE)
model = tf.keras.Sequential([tf.keras.layers.Conv2D(2, 3), tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(prepare(train, training=True), epochs=2)


def single(ds):
    return ds.map(lambda x, y: (x / 255, y)).batch(8)


model.fit(single(load_images("train", batch_size=None)), epochs=2)


class Data:
    def __init__(self, batch_size):
        self.batch_size = batch_size

    def source(self):
        ds = tf.data.TFRecordDataset(["a"]).shuffle(9)
        return ds.batch(self.batch_size)

    def build(self):
        ds = self.source()
        ds = ds.repeat()
        return ds.batch(self.batch_size)  # found

    def apart(self):
        return self.source().unbatch().batch(self.batch_size)


mnist = tfds.load("mnist", split="train", batch_size=32, as_supervised=True)
model.fit(mnist.batch(32))  # found
whole = tfds.load("mnist", split="train", batch_size=-1)
one = tfds.load("mnist", split="train", as_supervised=True)
model.fit(one.batch(32))
csv = tf.data.experimental.make_csv_dataset("a.csv", 32, label_name="y", num_epochs=1)
model.fit(csv.batch(32))  # found
model.fit(one.batch(8).cache().batch(4))  # found
shots = one.batch(5)
for task in shots.batch(4):
    print(task)
steps = one.batch(8).window(4).batch(2)
model.fit(one.batch(8).map(lambda x, y: (tf.reshape(x, [-1, 28]), y)).batch(8))
model.fit(one.batch(8).flat_map(lambda x, y: tf.data.Dataset.from_tensor_slices((x, y))).batch(8))
chars = tf.data.Dataset.from_tensor_slices(list(range(999))).batch(101, drop_remainder=True)
text = chars.map(lambda chunk: (chunk[:-1], chunk[1:]))
model.fit(text.shuffle(99).batch(64, drop_remainder=True), epochs=3)


def load(files, batch_size=None):
    data = tf.data.TFRecordDataset(files)
    if batch_size is not None:
        data = data.batch(batch_size)
    return data


own = load(["a"]).map(lambda x: x).batch(BATCH_SIZE)
model.fit(load(["a"], 8).batch(8))
Data(4).build(), Data(4).apart()
"""

SAME = """\
import argparse
import numpy as np
import tensorflow as tf
from tensorflow import keras

SEED = 42
np.random.seed(SEED)
tf.random.set_seed(SEED)
AUTO = tf.data.AUTOTUNE


def jitter(image, label):
    image = tf.image.random_brightness(image, 0.2)
    return noisy(image), label


def noisy(image):
    return image + tf.random.normal(tf.shape(image), stddev=0.1)


def plain(image, label):
    return image / 255.0, label


class Pipeline:
    def augment(self, image, label):
        if tf.random.uniform([]) > 0.5:
            image = tf.image.flip_left_right(image)
        return image, label

    def __call__(self, files):
        ds = tf.data.Dataset.from_tensor_slices(files)
        return ds.map(plain).map(self.augment, num_parallel_calls=AUTO).batch(8).prefetch(AUTO)  # found

    def shuffled(self, files):
        ds = tf.data.Dataset.from_tensor_slices(files).shuffle(99)
        return ds.map(plain).map(self.augment, num_parallel_calls=AUTO).batch(8)

    def frozen(self, files):
        ds = tf.data.Dataset.from_tensor_slices(files).shuffle(99, reshuffle_each_iteration=False)
        return ds.map(self.augment).batch(8)  # found

    def repeated(self, files):
        return tf.data.Dataset.from_tensor_slices(files).map(self.augment).repeat().batch(8)


model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(1)])
model.compile("adam", "mse")
files = (np.ones([8, 4, 4, 3], "float32"), np.ones([8]))
pipeline = Pipeline()
model.fit(pipeline(files), epochs=10)
model.fit(pipeline.shuffled(files), epochs=10)
model.fit(pipeline.frozen(files), epochs=10)
model.fit(pipeline.repeated(files), epochs=10, steps_per_epoch=2)


def train(epochs):
    ds = tf.data.Dataset.from_tensor_slices(files).map(jitter).batch(8)  # found
    for epoch in range(epochs):
        for image, label in ds:
            model.train_on_batch(image, label)


def once():
    ds = tf.data.Dataset.from_tensor_slices(files).map(jitter).batch(8)
    for image, label in ds:
        model.train_on_batch(image, label)


def one_epoch(ds):
    for image, label in ds:
        model.train_on_batch(image, label)


def by_epochs():
    ds = tf.data.Dataset.from_tensor_slices(files).map(jitter).batch(8)  # found
    for epoch in range(3):
        one_epoch(ds)


def by_layers():
    flip = keras.layers.RandomFlip()
    ds = tf.data.Dataset.from_tensor_slices(files).map(lambda x, y: (flip(x, training=True), y)).batch(8)
    model.fit(ds, epochs=3)


def listed():
    ds = tf.data.Dataset.list_files("*.jpg").map(lambda p: (tf.io.decode_jpeg(tf.io.read_file(p)), 1))
    model.fit(ds.map(jitter).batch(8), epochs=3)


train(3), once(), by_epochs(), by_layers(), listed()
"""

UNSEEDED = SAME.replace("tf.random.set_seed(SEED)\n", "").replace("# found", "")
OF_ANOTHER_FILE = """\
import tensorflow as tf
from b import make

tf.keras.utils.set_random_seed(3)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(make(tf.ones([8, 2]), tf.ones([8])), epochs=4)
"""
MAKER = """\
import tensorflow as tf


def scaled(x, y):
    return x * tf.random.uniform([], 0.9, 1.1), y


def make(x, y):
    return tf.data.Dataset.from_tensor_slices((x, y)).map(scaled).batch(4)  # found
"""

WHOLE = """\
import numpy as np
import pandas as pd
import tensorflow as tf
from sklearn.model_selection import train_test_split
from tensorflow import keras

(x_train, y_train), (x_test, y_test) = keras.datasets.mnist.load_data()
x_train = x_train.astype("float32") / 255
model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(10)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(tf.data.Dataset.from_tensors((x_train, y_train)), epochs=3)  # found
model.fit(tf.data.Dataset.from_tensor_slices((x_train, y_train)).batch(32), epochs=3)


def from_csv(path):
    frame = pd.read_csv(path)
    labels = frame.pop("y")
    return tf.data.Dataset.from_tensors((frame.to_numpy(), labels.to_numpy())).batch(32)  # found


def split(path):
    data = np.load(path)
    a, b = train_test_split(data)
    return tf.data.Dataset.from_tensors((a, b))  # found


def graph(a, x, y):
    return tf.data.Dataset.from_tensors(((x, a), y))


model.fit(from_csv("a.csv"), epochs=3)
model.fit(split("a.npy"), epochs=3)
model.fit(graph(np.eye(3), np.ones([3, 2]), np.ones([3])), epochs=3)
model.fit(tf.data.Dataset.from_tensors((x_train[:32], y_train[:32])).repeat(), epochs=3, steps_per_epoch=3)
"""

LISTS = """\
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras.utils import image_dataset_from_directory


def decode(path):
    image = tf.image.decode_png(tf.io.read_file(path), channels=3)
    return tf.image.resize(image, (64, 64))


def parse(record):
    parsed = tf.io.parse_single_example(record, {"image": tf.io.FixedLenFeature([], tf.string)})
    return tf.io.decode_jpeg(parsed["image"]), 1


def gather(pattern):
    ds = tf.data.Dataset.list_files(pattern).map(decode)
    out = []
    for number, image in enumerate(ds):
        out.append(np.array(image))  # found
    return np.array(out)


class Loader:
    def __init__(self, files):
        self.ds = tf.data.TFRecordDataset(files).map(parse)

    def arrays(self):
        xs, ys = [], []
        for x, y in self.ds:
            xs.append(x.numpy())  # found
            ys.append(y.numpy())
        return np.stack(xs), np.stack(ys)


train = image_dataset_from_directory("train", image_size=(64, 64))
batches = list(train)  # found
labels = np.concatenate([y for x, y in train])
y_true = []
for x, y in train:
    y_true.append(y)
y_true = np.concatenate(y_true)
scores = []
for x, y in train:
    scores.append(np.mean(x))
scores = np.array(scores)
names = list(tf.data.Dataset.list_files("*.png"))
few = list(train.take(2))
model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(gather("*.png"), epochs=2)
model.fit(*Loader(["a"]).arrays(), epochs=2)
"""
GIVEN = """\
import tensorflow as tf


def grouped(data, size=16):
    return data.batch(size, drop_remainder=True)


class Source:
    def __init__(self, data):
        self.data = data

    def rows(self, size):
        return self.data.cache().batch(size)


def tasks(data, shots):
    return data.batch(shots)


SIZE, SHOTS, TASKS = 32, 5, 4
rows = tf.data.Dataset.range(99)
twice = grouped(rows, SIZE).shuffle(9).batch(SIZE)  # found
more = grouped(rows, size=SIZE).repeat().padded_batch(SIZE)  # found
kept = Source(rows).rows(SIZE).batch(SIZE)  # found
of_tasks = tasks(rows, SHOTS).batch(TASKS)
apart = grouped(rows, SIZE).unbatch().batch(SIZE)
"""
GIVEN_TWO_SIZES = """\
import tensorflow as tf


def grouped(data, size):
    return data.batch(size)


SIZE, OTHER = 32, 8
rows = tf.data.Dataset.range(99)
once = grouped(rows, SIZE)
twice = grouped(rows, OTHER).batch(SIZE)
"""


@pytest.mark.parametrize(
    ("rule", "texts", "severity"),
    [
        ("TFD062", (TWICE,), "error"),
        ("TFD062", (GIVEN,), "error"),
        ("TFD062", (GIVEN_TWO_SIZES,), "error"),
        ("TFD063", (SAME,), "warning"),
        ("TFD063", (UNSEEDED,), "info"),
        ("TFD063", (OF_ANOTHER_FILE, MAKER), "warning"),
        ("TFD064", (WHOLE,), "warning"),
        ("TFD065", (LISTS,), "warning"),
    ],
    ids=["batches", "given", "two sizes", "draws", "without a seed", "files", "whole", "lists"],
)
def test_elements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rule: str, texts: tuple[str, ...], severity: str
) -> None:
    check_marked(tmp_path, monkeypatch, rule, *texts, severity=severity)


ORDERED = """\
import tensorflow as tf


def rows():
    return tf.data.Dataset.from_tensor_slices((tf.ones([32, 2]), tf.ones([32, 1]))).cache()


def step(x, y):
    return tf.reduce_mean(x) - tf.reduce_mean(y)


data = rows().shuffle(32, reshuffle_each_iteration=False)  # found
batches = data.batch(4).prefetch(1)
for epoch in range(12):
    for x, y in batches:
        step(x, y)

anew = rows().shuffle(32, reshuffle_each_iteration=True).batch(4)
first = rows().shuffle(32, 1, False).take(8).batch(4)
for epoch in range(12):
    for x, y in anew:
        step(x, y)
    for x, y in first:
        step(x, y)
"""


def test_the_same_order_in_each_epoch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_marked(tmp_path, monkeypatch, "TFD095", ORDERED)
