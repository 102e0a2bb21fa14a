"""Values through files that name no framework, lists, dictionaries, comprehensions and generators."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked import check_marked

BASE = """\
from tensorflow import keras


class Scorer:
    def __init__(self, width):
        self.net = keras.Sequential([keras.layers.Input((width,)), keras.layers.Dense(1)])
"""
USER = """\
from a import Scorer


class Slow(Scorer):
    def scores(self, rows):
        out = []
        for row in rows:
            out.append(self.net.predict(row.reshape(1, -1))[0][0])  # found
        return out


class Fast(Scorer):
    def scores(self, rows):
        return self.net.predict(rows)[:, 0]
"""


def test_a_file_without_a_framework_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A class that is derived in such a file keeps the model of its base."""
    check_marked(tmp_path, monkeypatch, "TFF022", BASE, USER)


def test_what_imports_through_such_a_file_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loop may be two imports away from the framework."""
    between = "from a import Scorer\n\n\ndef scorer():\n    return Scorer(4)\n"
    script = """\
import numpy as np
from b import scorer

held = scorer()
for row in np.random.rand(500, 4):
    print(held.net.predict(row[None]))  # found
"""
    check_marked(tmp_path, monkeypatch, "TFF022", BASE, between, script)


ENDLESS = """\
import tensorflow as tf

x, y = tf.ones([64, 4]), tf.ones([64, 1])


def data():
    return tf.data.Dataset.from_tensor_slices((x, y)).batch(8)


def pairs(count):
    for _ in range(count):
        yield data().repeat()


models = [tf.keras.Sequential([tf.keras.layers.Dense(1)]) for _ in range(3)]
more = []
more.append(tf.keras.Sequential([tf.keras.layers.Dense(1)]))
held = {"endless": data().repeat(), "once": data()}
model = models[0]
model.compile("adam", "mse")
model.fit(held["endless"], epochs=2)  # found
model.fit(held["once"], epochs=2)
for net in models:
    net.fit(held["endless"], epochs=2)  # found
for net in more:
    net.fit(held.get("endless"), epochs=2)  # found
for part in [each.repeat() for each in (data(), data().take(2))]:
    model.fit(part, epochs=2)  # found
for part in [each.take(2) for each in (data(), data())]:
    model.fit(part, epochs=2)
for number, part in enumerate(pairs(2)):
    model.fit(part, epochs=number)  # found
for net, part in zip(models, pairs(3)):
    net.fit(part, epochs=2)  # found
held["endless"] = data()
model.fit(held["endless"], epochs=2)
other = {"endless": data().repeat()}
other.update(endless=data())
model.fit(other["endless"], epochs=2)
names = [data().repeat()]
names.clear()
names.append(data())
model.fit(names[0], epochs=2)
"""


def test_lists_and_dictionaries_are_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is put into them comes out of them, and what may be changed is not known."""
    check_marked(tmp_path, monkeypatch, "TFD060", ENDLESS, severity="error")


FILES = """\
from functools import partial

import tensorflow as tf


class Reader:
    zipped = partial(tf.data.TFRecordDataset, compression_type="GZIP")

    def slow(self, files):
        return files.interleave(self.zipped, cycle_length=8)  # found

    def fast(self, files):
        return files.interleave(self.zipped, cycle_length=8, num_parallel_calls=tf.data.AUTOTUNE)


files = tf.data.Dataset.list_files("data/*")
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(Reader().slow(files))
model.fit(Reader().fast(files))
"""


def test_a_partial_of_a_dataset_class_reads_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be an attribute of a class."""
    check_marked(tmp_path, monkeypatch, "TFD022", FILES)


HANDLERS = """\
import tensorflow as tf

seen = []


def note(loss):
    try:
        seen.append(loss.numpy())  # found
    except AttributeError:
        seen.append(0.0)


def show(loss):
    try:
        print(loss.numpy())
    except AttributeError:
        print(loss)


@tf.function
def step(x):
    loss = tf.reduce_mean(x)
    note(loss)
    show(loss)
    return loss


for _ in range(3):
    show(step(tf.ones([3])))
"""


def test_a_handler_that_always_runs_is_found_in_a_called_function(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not where something that is not compiled calls it as well."""
    check_marked(tmp_path, monkeypatch, "TFF003", HANDLERS)


SHARED = """\
from tensorflow import keras

one = keras.optimizers.Adam()


def shared(width):
    net = keras.Sequential([keras.Input((width,)), keras.layers.Dense(1)])
    net.compile(optimizer=one, loss="mse")  # found
    return net


def alone(width):
    net = keras.Sequential([keras.Input((width,)), keras.layers.Dense(1)])
    net.compile(optimizer=keras.optimizers.Adam(), loss="mse")
    return net
"""
ENSEMBLE = """\
from a import alone, shared


def train(x, y):
    for net in [shared(4) for _ in range(5)]:
        net.fit(x, y)
    for net in [alone(4) for _ in range(5)]:
        net.fit(x, y)
"""


def test_models_of_a_list_share_an_optimizer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are compiled in a function and trained in a loop elsewhere."""
    check_marked(tmp_path, monkeypatch, "DEP037", SHARED, ENSEMBLE, severity="error")


LOCKED = """\
import threading

import sentencepiece


class Feed:
    def __init__(self, lines):
        self.lines, self.lock = iter(lines), threading.Lock()
        self.pieces = sentencepiece.SentencePieceProcessor(model_file="a.model")
        self.threads = [threading.Thread(target=self.work) for _ in range(4)]
        self.rest = [threading.Thread(target=self.work_apart) for _ in range(4)]

    def start(self):
        for thread in self.threads + self.rest:
            thread.start()

    def work(self):
        with self.lock:
            print(self.pieces.encode(next(self.lines)))  # found

    def work_apart(self):
        with self.lock:
            line = next(self.lines)
        print(self.pieces.encode(line))
"""


def test_work_under_a_lock_in_a_file_without_a_framework(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program of TensorFlow starts the threads."""
    script = "import tensorflow as tf\nfrom a import Feed\n\nfeed = Feed(open('a'))\nfeed.start()\nprint(tf.ones(3))\n"
    check_marked(tmp_path, monkeypatch, "TFD042", LOCKED, script, severity="info")


SCOPES = """\
import tensorflow as tf


class Outside:
    def __init__(self, strategy):
        self.strategy = strategy
        self.net = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])

    def fit(self, x):
        with self.strategy.scope():
            self.net.compile(tf.keras.optimizers.Adam(), "mse")  # found
        self.net.fit(x, x)


class Inside:
    def __init__(self, strategy):
        self.strategy = strategy
        with strategy.scope():
            self.net = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])

    def fit(self, x):
        with self.strategy.scope():
            self.net.compile(tf.keras.optimizers.Adam(), "mse")
        self.net.fit(x, x)


class Entered:
    def __init__(self, strategy):
        self.strategy = strategy
        self.net = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])

    def fit(self, x):
        with self.strategy.scope():
            self.net.compile(tf.keras.optimizers.Adam(), "mse")
        self.net.fit(x, x)


strategy = tf.distribute.MirroredStrategy()
Outside(strategy).fit(tf.ones([8, 3]))
Inside(strategy).fit(tf.ones([8, 3]))
with strategy.scope():
    entered = Entered(strategy)
entered.fit(tf.ones([8, 3]))
"""


def test_a_model_of_an_object_stands_outside_the_scope(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not where the object is made under the scope."""
    check_marked(tmp_path, monkeypatch, "GPU018", SCOPES, severity="error")


KEPT = """\
import tensorflow as tf


def read(path):
    return tf.image.resize(tf.io.decode_png(tf.io.read_file(path)), (64, 64))


def data(paths):
    return tf.data.Dataset.from_tensor_slices(paths).map(read).batch(8)


model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
kept = [batch for batch in data(["a.png"])]  # found
arrays = list(data(["a.png"]).as_numpy_iterator())  # found
few = list(data(["a.png"]).take(1).as_numpy_iterator())
means = [tf.reduce_mean(batch) for batch in data(["a.png"])]
model.fit(data(["a.png"]))
"""


def test_a_comprehension_holds_all_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it makes of each of them is no picture."""
    check_marked(tmp_path, monkeypatch, "TFD065", KEPT)
