"""Means over a replica's part, and layers thawed between two fits: TFF034 and TFF038 over the ways in which people write them."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked import check_marked

HEAD = """\
import tensorflow as tf
from tensorflow import keras

strategy = tf.distribute.MirroredStrategy()
GLOBAL = 8 * strategy.num_replicas_in_sync
with strategy.scope():
    model = keras.Sequential([keras.layers.Dense(4)])
    optimizer = keras.optimizers.SGD(0.1)
    per_example = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction=keras.losses.Reduction.NONE)
"""
BY_FUNCTIONS = (
    HEAD
    + """

def compute_loss(labels, logits):
    losses = per_example(labels, logits)
    return tf.reduce_mean(losses)  # found


def train_step(inputs):
    x, y = inputs
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = compute_loss(y, logits)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(list(zip(gradients, model.trainable_variables)))
    return loss


@tf.function
def distributed_train_step(inputs):
    losses = strategy.run(train_step, args=(inputs,))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)


for batch in strategy.experimental_distribute_dataset(tf.data.Dataset.range(8).batch(8)):
    distributed_train_step(batch)
"""
)
IN_A_CLASS = """\
import tensorflow as tf


class Trainer:
    def __init__(self, strategy=None):
        self.strategy = strategy or tf.distribute.MirroredStrategy()
        with self.strategy.scope():
            self.net = tf.keras.Sequential([tf.keras.layers.Dense(4)])
            self.opt = tf.keras.optimizers.legacy.SGD(0.1)

    def _step(self, x, y):
        with tf.GradientTape() as tape:
            out = self.net(x, training=True)
            loss = tf.keras.losses.mean_squared_error(y, out)
            loss = tf.math.reduce_mean(loss)  # found
        variables = self.net.trainable_weights
        self.opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    @tf.function
    def step(self, x, y):
        return self.strategy.reduce("SUM", self.strategy.run(self._step, args=(x, y)), axis=None)


Trainer().step(tf.ones([1, 2]), tf.ones([1, 4]))
"""


@pytest.mark.parametrize(
    "text",
    [
        BY_FUNCTIONS,
        IN_A_CLASS,
        BY_FUNCTIONS.replace("tf.reduce_mean(losses)  # found", "tf.nn.compute_average_loss(losses, global_batch_size=GLOBAL)"),
        BY_FUNCTIONS.replace("tf.reduce_mean(losses)  # found", "tf.reduce_sum(losses) / GLOBAL"),
        BY_FUNCTIONS.replace("tf.reduce_mean(losses)  # found", "tf.reduce_mean(losses) / strategy.num_replicas_in_sync"),
        BY_FUNCTIONS.replace("return tf.reduce_mean(losses)  # found", "return tf.reduce_mean(losses)").replace(
            "loss = compute_loss(y, logits)", "loss = compute_loss(y, logits) / strategy.num_replicas_in_sync"
        ),
    ],
    ids=["functions", "class", "average", "sum", "share", "share behind"],
)  # fmt: skip
def test_mean_for_each_replica(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    check_marked(tmp_path, monkeypatch, "TFF034", text)


THAWED = """\
import tensorflow as tf
from tensorflow import keras


def build():
    base = keras.applications.MobileNetV2(include_top=False, pooling="avg")
    base.trainable = False
    return base, keras.Sequential([base, keras.layers.Dense(1)])


def by_layers(data):
    base = keras.applications.MobileNetV2(include_top=False, pooling="avg")
    base.trainable = False
    model = keras.Sequential([base, keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(data, epochs=3)
    for layer in base.layers[-20:]:
        layer.trainable = True  # found
    model.fit(data, epochs=3)


def of_the_model(data):
    model = keras.Sequential([keras.layers.Dense(4), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(data)
    for layer in model.layers:
        if isinstance(layer, keras.layers.Dense):
            layer.trainable = False  # found
    model.fit(data)


def by_number(data):
    model = keras.Sequential([keras.layers.Dense(4), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(data)
    model.layers[0].trainable = False  # found
    model.fit(data)


def by_name(data):
    model = keras.Sequential([keras.layers.Dense(4, name="a"), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(data)
    model.get_layer("a").trainable = False  # found
    model.fit(data)


class Tuner:
    def __init__(self):
        self.base = keras.applications.MobileNetV2(include_top=False, pooling="avg")
        self.base.trainable = False
        self.model = keras.Sequential([self.base, keras.layers.Dense(1)])
        self.model.compile("adam", "mse")

    def run(self, data):
        self.model.fit(data)
        self.base.trainable = True  # found
        self.model.fit(data)

    def right(self, data):
        self.model.fit(data)
        self.base.trainable = True
        self.model.compile("adam", "mse")
        self.model.fit(data)


def right(data):
    base, model = build()
    model.compile("adam", "mse")
    model.fit(data)
    for layer in base.layers:
        layer.trainable = True
    model.compile("adam", "mse")
    model.fit(data)


def of_another(data, other):
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(data)
    for layer in other.layers:
        layer.trainable = True
    model.fit(data)


for call in (by_layers, of_the_model, by_number, by_name, right):
    call(tf.data.Dataset.range(3))
of_another(1, 2)
Tuner().run(1), Tuner().right(1)
"""


BY_METHODS = """\
import tensorflow as tf
from tensorflow import keras


class Net:
    def __init__(self, body):
        self.body = body
        self.body.trainable = False
        inputs = keras.Input([4])
        self.net = keras.Model(inputs, keras.layers.Dense(1)(self.body(inputs)))

    def compile(self, rate):
        self.net.compile(keras.optimizers.Adam(rate), "mse")

    def first(self, data):
        self.compile(1e-2)
        self.net.fit(data)

    def thaw(self):
        self.body.trainable = True  # found

    def second(self, data):
        self.net.fit(data)

    def compiled(self, data):
        self.body.trainable = True
        self.compile(1e-4)
        self.net.fit(data)


def body():
    return keras.Sequential([keras.layers.Dense(4)])


data = tf.data.Dataset.from_tensors((tf.ones([1, 4]), tf.ones([1, 1])))
net = Net(body())
net.first(data)
net.thaw()
net.second(data)
net.compiled(data)
one, other = Net(body()), Net(body())
other.first(data)
right = Net(body())
right.first(data)
right.compiled(data)
"""
BY_FUNCTION = """\
import tensorflow as tf
from tensorflow import keras


def build():
    body = keras.applications.MobileNetV2(include_top=False, pooling="avg")
    body.trainable = False
    model = keras.Sequential([body, keras.layers.Dense(1)])
    model.compile("adam", "mse")
    return model, body


def unfreeze(part, last):
    for layer in part.layers[-last:]:
        layer.trainable = True  # found


def train(net, data):
    net.fit(data, epochs=2)


def train_anew(net, data):
    net.compile("adam", "mse")
    net.fit(data, epochs=2)


def by_layer(model, data):
    model.fit(data)
    body = model.get_layer("mobilenetv2")
    body.trainable = True  # found
    model.fit(data)


def main(data):
    model, body = build()
    train(model, data)
    unfreeze(body, 20)
    train(model, data)


def compiled_anew(data):
    model, body = build()
    train_anew(model, data)
    unfreeze(body, 10)
    train_anew(model, data)


def of_another(data):
    model, body = build()
    second, part = build()
    train(model, data)
    unfreeze(part, 10)
    train(model, data)


def now_and_then(data, tune):
    model, body = build()
    if tune:
        model.fit(data)
    body.trainable = True
    model.fit(data)


def as_it_was(data):
    model, body = build()
    body.trainable = False
    model.fit(data)
    body.trainable = False
    model.fit(data)


data = tf.data.Dataset.range(3)
main(data)
compiled_anew(data)
of_another(data)
now_and_then(data, False)
as_it_was(data)
model, _ = build()
by_layer(model, data)
"""


@pytest.mark.parametrize("text", [BY_METHODS, BY_FUNCTION], ids=["methods", "functions"])
def test_layers_thawed_by_another_function(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    check_marked(tmp_path, monkeypatch, "TFF038", text, severity="error")


def test_a_compile_in_another_method_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = BY_METHODS.replace("True  # found", "True\n        self.compile(1e-4)")
    check_marked(tmp_path, monkeypatch, "TFF038", compiled, severity="error")


def test_layers_thawed_between_two_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_marked(tmp_path, monkeypatch, "TFF038", THAWED, severity="error")


TPUS = """\
import tensorflow as tf
from tensorflow.distribute.experimental import TPUStrategy


def get_strategy():
    try:
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver()
        tf.config.experimental_connect_to_cluster(resolver)
        return TPUStrategy(resolver)
    except ValueError:
        return tf.distribute.get_strategy()


def get_dataset(files, batch_size, training=True):
    ds = tf.data.TFRecordDataset(files).map(lambda r: (r, 1))
    if training:
        ds = ds.shuffle(99)
    return ds.batch(batch_size).prefetch(2)  # found


class Data:
    def __init__(self, size):
        self.size = size

    def train(self):
        ds = tf.data.TFRecordDataset(["a"])
        return ds.padded_batch(self.size, drop_remainder=True)

    def endless(self):
        ds = tf.data.TFRecordDataset(["a"]).repeat()
        return ds.batch(self.size)


strategy = get_strategy()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.fit(get_dataset(["a"], 128), epochs=3)
model.fit(Data(8).train(), epochs=3)
model.fit(Data(8).endless(), epochs=3, steps_per_epoch=9)
"""


def test_open_batches_on_tpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_marked(tmp_path, monkeypatch, "TFD067", TPUS)


CHOSEN = """\
import sys
import tensorflow as tf

if "--tpu" in sys.argv:
    strategy = tf.distribute.TPUStrategy()
else:
    strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.fit(tf.data.TFRecordDataset(["a"]).map(lambda r: (r, 1)).batch(8), epochs=3)
"""


def test_tpus_that_are_chosen_are_information(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_marked(tmp_path, monkeypatch, "TFD067", CHOSEN)
