"""Data without end, and epochs that run dry: TFD060 and TFD061 over the ways in which people write them."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked import check_marked

ENDLESS = """\
import itertools
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.data import Dataset as D

x, y = np.ones([64, 4], "float32"), np.ones([64, 1], "float32")
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("adam", "mse")
ds = D.from_tensor_slices((x, y)).shuffle(64).repeat().batch(8).prefetch(2)
model.fit(ds, epochs=3)  # found
model.fit(ds, epochs=3, steps_per_epoch=8)
model.fit(ds.take(8), epochs=3)
model.fit(ds, None, None, 3)  # found
model.fit(ds, epochs=3, steps_per_epoch=None)  # found
model.evaluate(ds)  # found
model.evaluate(ds, steps=8)
model.predict(ds.map(lambda a, b: a))  # found
val = D.from_tensor_slices((x, y)).batch(8).repeat(-1)
train = D.from_tensor_slices((x, y)).batch(8)
model.fit(train, validation_data=val, epochs=2)  # found
model.fit(train, validation_data=val, validation_steps=3, epochs=2)
model.fit(train.repeat(3), epochs=2)
model.fit(D.zip((train.repeat(), train)), epochs=2)
model.fit(D.zip((train.repeat(), val)), epochs=2)  # found


def make(training):
    data = tf.data.TFRecordDataset(["a"]).map(lambda r: (r, r))
    if training:
        data = data.repeat()
    return data.batch(4)


class Trainer:
    def __init__(self, net):
        self.net = net
        self.train_data = make(training=True)
        self.test_data = make(training=False)

    def run(self, epochs, steps):
        self.net.fit(self.train_data, epochs=epochs)  # found
        self.net.fit(self.train_data, epochs=epochs, steps_per_epoch=steps)
        self.net.fit(self.test_data, epochs=epochs)


def forever(a, b, size=8):
    while True:
        for i in range(0, len(a), size):
            yield a[i : i + size], b[i : i + size]


def counted(a):
    for i in itertools.count():
        yield a[i % 8]


def once(a, b):
    while True:
        yield a, b
        if len(a) > 3:
            return


model.fit(forever(x, y), epochs=3)  # found
model.fit(forever(x, y), epochs=3, steps_per_epoch=8)
gen = forever(x, y)
model.fit(x=gen, epochs=3, validation_data=(x, y))  # found
model.fit(counted(x), epochs=3)  # found
model.fit(once(x, y), epochs=3)
made = D.from_generator(lambda: forever(x, y), output_signature=tf.TensorSpec(None))
model.fit(x, y, epochs=1, validation_data=forever(x, y))  # found
model.fit(x, y, epochs=1, validation_data=forever(x, y), validation_steps=8)


def step(batch):
    return batch


def train(epochs):
    for epoch in range(epochs):
        for batch in ds:  # found
            step(batch)
        print(epoch)


def bounded(epochs):
    for epoch in range(epochs):
        for number, batch in enumerate(ds):
            if number == 10:
                break
            step(batch)
    for batch in ds.take(3):
        step(batch)


def until_stopped():
    try:
        for batch in ds:
            step(batch)
    except KeyboardInterrupt:
        print("done")


def stream():
    for batch in ds:
        yield batch
    print("never")


def numbered():
    for number, batch in enumerate(ds):  # found
        step(batch)
    model.save("a.keras")


rows = list(ds)  # found
rows = list(ds.take(2))
size = len(list(train.repeat(2) if False else D.range(3)))
train(3), bounded(3), until_stopped(), list(stream()), numbered()
Trainer(model).run(3, 4)
"""

OF_ANOTHER_FILE = """\
import tensorflow as tf
from b import build_model, load_data


def main():
    net = build_model()
    train_data, test_data = load_data(32)
    net.fit(train_data, validation_data=test_data, epochs=10)  # found
    net.evaluate(test_data)


if __name__ == "__main__":
    main()
"""
HELPERS = """\
import tensorflow as tf


def build_model():
    net = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    net.compile("sgd", "mse")
    return net


def load_data(size):
    train_data = tf.data.Dataset.from_tensor_slices((tf.ones([64, 2]), tf.ones([64])))
    test_data = tf.data.Dataset.from_tensor_slices((tf.ones([8, 2]), tf.ones([8])))
    return train_data.repeat().batch(size), test_data.batch(size)
"""
STOPPED = """\
import tensorflow as tf


class Stop(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch > 100:
            self.model.stop_training = True


def run(model):
    ds = tf.data.Dataset.range(8).repeat().batch(2)
    model.fit(ds, epochs=1, callbacks=[Stop()])


run(tf.keras.Sequential([tf.keras.layers.Dense(1)]))
"""


@pytest.mark.parametrize(
    "texts", [(ENDLESS,), (OF_ANOTHER_FILE, HELPERS), (STOPPED,)], ids=["spellings", "files", "stopped"]
)
def test_data_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: tuple[str, ...]) -> None:
    check_marked(tmp_path, monkeypatch, "TFD060", *texts, severity="error")


RUNS_OUT = """\
import math
import numpy as np
import tensorflow as tf
from tensorflow import keras

BATCH = 64
x, y = np.ones([20000, 4], "float32"), np.ones([20000, 1], "float32")
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("adam", "mse")
ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(20000).batch(BATCH)
STEPS = len(x) // BATCH
model.fit(ds, epochs=10, steps_per_epoch=STEPS)  # found
model.fit(ds, epochs=10, steps_per_epoch=int(len(x) / BATCH))  # found
model.fit(ds, epochs=10, steps_per_epoch=int(np.floor(len(x) / BATCH)))  # found
model.fit(ds, epochs=10, steps_per_epoch=100)  # found
model.fit(ds, epochs=10, steps_per_epoch=math.ceil(len(x) / BATCH))
model.fit(ds, epochs=10, steps_per_epoch=len(ds))
model.fit(ds, epochs=10, steps_per_epoch=len(x) // BATCH + 1)
model.fit(ds, epochs=1, steps_per_epoch=STEPS)
model.fit(ds.repeat(), epochs=10, steps_per_epoch=STEPS)
model.fit(ds.repeat(10), epochs=10, steps_per_epoch=STEPS)
even = tf.data.Dataset.from_tensor_slices((x, y)).batch(BATCH, drop_remainder=True)
model.fit(even, epochs=10, steps_per_epoch=STEPS)
model.fit(ds, epochs=10, steps_per_epoch=64000 // 64)


def batches(a, b):
    for i in range(0, len(a), BATCH):
        yield a[i : i + BATCH], b[i : i + BATCH]


def for_ever(a, b):
    while 1:
        for i in range(0, len(a), BATCH):
            yield a[i : i + BATCH], b[i : i + BATCH]


def unknown(a):
    for row in iter(a):
        yield row


class Net:
    def __init__(self):
        self.model = keras.Sequential([keras.layers.Dense(1)])
        self.model.compile("adam", "mse")

    def train(self, epochs):
        train_gen = batches(x, y)
        self.model.fit(train_gen, steps_per_epoch=STEPS, epochs=epochs)  # found
        self.model.fit(for_ever(x, y), steps_per_epoch=STEPS, epochs=epochs)
        self.model.fit(unknown(x), epochs=epochs)
        self.model.fit(batches(x, y))


def of_keras(folder):
    images = keras.preprocessing.image.ImageDataGenerator().flow_from_directory(folder)
    masks = keras.preprocessing.image.ImageDataGenerator().flow_from_directory(folder)
    for image, mask in zip(images, masks):
        yield image, mask


model.fit(of_keras("a"), epochs=5, steps_per_epoch=8)
model.fit(batches(x, y), epochs=5)  # found
model.fit(batches(x, y), epochs=1)
for epoch in range(5):
    model.fit(batches(x, y), epochs=1)
Net().train(3)
"""


def test_data_that_runs_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_marked(tmp_path, monkeypatch, "TFD061", RUNS_OUT)
