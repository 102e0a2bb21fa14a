"""Files that one thread of Python decodes: TFD066 over the ways in which people write it."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked import check_marked

GENERATORS = """\
import random
import imageio
import numpy as np
import tensorflow as tf
from skimage import io
from skimage.io import imread
from tensorflow.keras.preprocessing import image
from tensorflow.keras.preprocessing.image import load_img, img_to_array

SPEC = tf.TensorSpec([None, None, 3], tf.float32)


def read(path):
    return np.asarray(imageio.imread(path), np.float32)  # found


class Source:
    def __init__(self, paths):
        self.paths = paths
        self.mean = imread("mean.png")

    def __call__(self):
        random.shuffle(self.paths)
        for path in self.paths:
            yield read(path)

    def batches(self, size):
        while True:
            for start in range(0, len(self.paths), size):
                yield np.stack([img_to_array(load_img(p)) for p in self.paths[start : start + size]])  # found


def eager(paths):
    for path in paths:
        yield tf.image.decode_png(tf.io.read_file(path))  # found


def numbers(paths):
    shown = io.imread(paths[0])
    for row in shown:
        yield row


model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
source = Source(["a.jpg"])
ds = tf.data.Dataset.from_generator(source, output_signature=SPEC).batch(8)
model.fit(ds, epochs=3)
model.fit(source.batches(8), steps_per_epoch=9, epochs=3)
model.fit_generator(eager(["a.png"]), steps_per_epoch=9, epochs=3)
other = tf.data.Dataset.from_generator(lambda: numbers(["a.png"]), output_signature=SPEC)
"""
SEQUENCES = """\
import cv2
import numpy as np
import tensorflow as tf
from tensorflow.keras.utils import Sequence


class Base(Sequence):
    def __init__(self, paths, size, **kwargs):
        self.paths, self.size = paths, size

    def __len__(self):
        return len(self.paths) // self.size

    def _load(self, path):
        picture = cv2.imread(path)  # found
        return cv2.cvtColor(picture, cv2.COLOR_BGR2RGB)

    def __getitem__(self, index):
        batch = self.paths[index * self.size : (index + 1) * self.size]
        return np.array([self._load(p) for p in batch]), np.zeros(self.size)


class Augmented(Base):
    pass


class Arrays(Sequence):
    def __init__(self, x):
        self.x = x

    def __getitem__(self, index):
        return self.x[index], self.x[index]


def train(net, paths):
    train_gen = Augmented(paths, 8)
    net.fit(train_gen, validation_data=Base(paths, 8), epochs=3)
    net.fit(Arrays(np.ones([3, 3])), epochs=3)


train(tf.keras.applications.MobileNetV2(), ["a.jpg"])
"""
WITH_WORKERS = SEQUENCES.replace(
    "epochs=3)\n    net", "epochs=3, workers=4, use_multiprocessing=True)\n    net"
)
STEPS = """\
import glob
import cv2
import numpy as np
import tensorflow as tf
from PIL import Image

net = tf.keras.Sequential([tf.keras.layers.Dense(1)])
net.compile("adam", "mse")
optimizer = tf.keras.optimizers.Adam()
files = glob.glob("*.jpg")


def batch_of(paths):
    return np.stack([np.array(Image.open(path)) for path in paths])


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(net(x))
    optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))


class Trainer:
    def run(self, epochs):
        for epoch in range(epochs):
            for start in range(0, len(files), 8):
                x = batch_of(files[start : start + 8])  # found
                train_step(tf.constant(x))

    def pictures(self, epochs):
        step = 0
        while step < epochs:
            x = cv2.imread(files[step])  # found
            net.train_on_batch(x[None], np.ones([1]))
            step += 1


def load_all():
    return [cv2.imread(path) for path in files]


def once(epochs):
    x = np.stack(load_all())
    mask = cv2.imread("mask.png")
    for epoch in range(epochs):
        train_step(tf.constant(x * mask))


def figure(buffer):
    return tf.image.decode_png(buffer.getvalue())


def logged(epochs, buffer):
    for epoch in range(epochs):
        train_step(tf.ones([1, 2]))
        tf.summary.image("figure", figure(buffer)[None], epoch)


def predict():
    for path in files:
        print(net.predict(cv2.imread(path)[None]))


Trainer().run(3), Trainer().pictures(3), once(3), predict()
"""


@pytest.mark.parametrize(
    "text",
    [GENERATORS, SEQUENCES, WITH_WORKERS.replace("  # found", ""), STEPS],
    ids=["generators", "sequences", "workers", "steps"],
)
def test_files_decoded_in_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    check_marked(tmp_path, monkeypatch, "TFD066", text)
