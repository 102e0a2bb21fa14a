"""Figures that say nothing of a model: TFF060 and TFF062 over the ways in which people write them."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked import check_marked

METRICS = """\
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import metrics
from tensorflow.keras.metrics import Mean, SparseCategoricalAccuracy as Accuracy

model = keras.Sequential([keras.layers.Dense(4)])
optimizer = keras.optimizers.Adam()
measure = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
train_loss = keras.metrics.Mean(name="train_loss")
train_acc = Accuracy()
test_loss = metrics.Mean()
running = Mean()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = measure(y, logits)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    train_loss(loss)  # found
    train_acc.update_state(y, logits)


@tf.function
def test_step(x, y):
    test_loss(measure(y, model(x)))


def main(train_ds, test_ds, epochs):
    for epoch in range(epochs):
        for x, y in train_ds:
            train_step(x, y)
            running(1.0)
            print(running.result())
        for x, y in test_ds:
            test_step(x, y)
        print(
            epoch,
            train_loss.result(),
            train_acc.result().numpy(),
            test_loss.result(),
        )


class Trainer:
    def __init__(self):
        self.loss = keras.metrics.Mean()
        self.acc = keras.metrics.BinaryAccuracy()
        self.seen = keras.metrics.Mean()

    def step(self, x):
        self.loss.update_state(x)  # found
        self.acc.update_state(x, x)
        self.seen.update_state(x)  # found

    def run_epoch(self, ds):
        for x in ds:
            self.step(x)

    def train(self, ds, epochs):
        for epoch in range(epochs):
            self.acc.reset_state()
            self.run_epoch(ds)
            print(self.loss.result())
            print(self.acc.result())

    def evaluate(self, ds):
        for x in ds:
            self.step(x)
        return self.seen.result()

    def rounds(self, ds):
        step = 0
        while step < 10:
            self.evaluate(ds)
            step += 1


def again(ds, epochs):
    for epoch in range(epochs):
        total = keras.metrics.Mean()
        for x in ds:
            total(x)
        print(total.result())


def once(ds):
    total = keras.metrics.Mean()
    for x in ds:
        total(x)
    return total.result()


ds = tf.data.Dataset.from_tensor_slices((tf.ones([8, 4]), tf.ones([8]))).batch(2)
main(ds, ds, 3)
Trainer().train(ds, 3)
Trainer().rounds(ds)
again(ds, 3), once(ds)
"""
RESET_IN_A_LOOP = """\
import tensorflow as tf

loss, accuracy = tf.keras.metrics.Mean(), tf.keras.metrics.Mean()
both = {"loss": loss, "accuracy": accuracy}
for epoch in range(3):
    for x in tf.data.Dataset.range(3):
        loss(x)
        accuracy(x)
    print(loss.result(), accuracy.result())
    for metric in both.values():
        metric.reset_state()
"""
RESET_ELSEWHERE = """\
import tensorflow as tf
from b import Figures

figures = Figures()
for epoch in range(3):
    for x in tf.data.Dataset.range(3):
        figures.loss(x)
    print(figures.loss.result())
    figures.start_anew()
"""
FIGURES = """\
import tensorflow as tf


class Figures:
    def __init__(self):
        self.loss = tf.keras.metrics.Mean()

    def start_anew(self):
        self.loss.reset_states()
"""

FOR_EACH_BATCH = """\
import tensorflow as tf

EPOCHS = 3
loss = tf.keras.metrics.Mean()
accuracy = tf.keras.metrics.Mean()
overall = tf.keras.metrics.Mean()
files = tf.keras.metrics.Mean()
kept = tf.keras.metrics.Mean()


def step(x):
    loss.update_state(x)  # found
    accuracy.update_state(x)
    overall.update_state(x)


def train(data, bar):
    for number in range(EPOCHS):
        for x in data:
            step(x)
            bar.text = f"{number} {loss.result()} {accuracy.result()}"
            print(overall.result())


def of_one(data):
    for x in data:
        kept(x)
        print(kept.result())


def through_files(names):
    for name in names:
        for x in tf.data.TextLineDataset(name):
            files(1.0)
            print(files.result())


def anew(data):
    for epoch in range(EPOCHS):
        mean = tf.keras.metrics.Mean()
        for x in data:
            mean(x)
            print(mean.result())


train(tf.data.Dataset.range(3), object())
of_one(tf.data.Dataset.range(3))
through_files(["a"])
anew(tf.data.Dataset.range(3))
"""


@pytest.mark.parametrize(
    "texts",
    [(METRICS,), (RESET_IN_A_LOOP,), (RESET_ELSEWHERE, FIGURES), (FOR_EACH_BATCH,)],
    ids=["spellings", "loop", "files", "batches"],
)
def test_metrics_that_nothing_resets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: tuple[str, ...]
) -> None:
    check_marked(tmp_path, monkeypatch, "TFF060", *texts)


SWAPPED = """\
import numpy as np
import tensorflow as tf
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from tensorflow import keras

(x_train, y_train), (x_test, y_test) = keras.datasets.cifar10.load_data()
X_train, X_test, Y_train, Y_test = train_test_split(x_train, y_train)
scaler = StandardScaler()
X_train = scaler.fit_transform(X_train)
X_test = scaler.transform(X_train)  # found
y_test = keras.utils.to_categorical(y_train, 10)  # found
x_train, x_test = x_train / 255.0, x_test / 255.0


def normalise(data):
    return data / 255.0


def prepare(trainX, trainY, testX, testY):
    trainX = normalise(trainX)
    testX = normalise(trainX)  # found
    testY = testY.reshape(-1)
    return trainX, testX, testY


def datasets(x_train, y_train, x_val, y_val):
    train_ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(9).batch(8)
    val_ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).batch(8)  # found
    return train_ds, val_ds


def right(x_train, y_train, x_val, y_val):
    train_ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).batch(8)
    val_ds = tf.data.Dataset.from_tensor_slices((x_val, y_val)).batch(8)
    return train_ds, val_ds


def parts(train_ds):
    val_ds = train_ds.take(8)
    test_ds = train_ds.skip(8)
    x_val = x_train[-1000:]
    return val_ds, test_ds, x_val


def scaled(x_train, x_test):
    x_test = (x_test - np.mean(x_train)) / np.std(x_train)
    test_size = len(x_train) // 10
    return x_test, test_size


def from_folder(path, train_datagen, test_gen):
    xy_train = train_datagen.flow_from_directory(path)
    xy_test = train_datagen.flow_from_directory(path)
    test_gen = xy_train
    train_steps, test_steps = len(xy_train), 3
    test_steps = train_steps // 2
    return xy_test, test_steps


def test_step(x, y):
    return x, y


def train_step(x, y):
    return y, x


def loop(train_ds, test_ds):
    for x, y in train_ds:
        train_step(x, y)
    for x, y in train_ds:
        test_step(x, y)  # found


def both(train_ds, test_ds):
    for x, y in train_ds:
        test_step(x, y)
    for x, y in test_ds:
        test_step(x, y)


class Runner:
    def __init__(self, model):
        self.model = model

    def run(self, train_data, val_data, epochs):
        self.model.fit(train_data, validation_data=train_data, epochs=epochs)  # found
        self.model.fit(train_data, validation_data=val_data, epochs=epochs)


model = keras.Sequential([keras.layers.Dense(10)])
model.compile("adam", "mse")
model.fit(x_train, y_train, validation_data=(x_test, y_test))
model.fit(x_train, y_test)  # found
model.evaluate(x_test, y_train)  # found
model.evaluate(x=X_test, y=Y_test)
test_loss, test_acc = model.evaluate(X_train, Y_train)  # found
test_loss, test_acc = model.evaluate(X_test, Y_test)
train_loss, train_acc = model.evaluate(X_train, Y_train)
loop(1, 2), both(1, 2), Runner(model).run(1, 2, 3)
prepare(1, 2, 3, 4), datasets(1, 2, 3, 4), right(1, 2, 3, 4), parts(1), scaled(1, 2)
"""


def test_training_data_under_another_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_marked(tmp_path, monkeypatch, "TFF062", SWAPPED)


FOLLOWED = """\
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras.callbacks import ModelCheckpoint, ReduceLROnPlateau

rows = tf.data.Dataset.from_tensors((tf.ones([1, 4]), tf.ones([1, 1])))


def build():
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("adam", "mse", metrics=["mae"])
    return model


def callbacks():
    return [keras.callbacks.TerminateOnNaN(), ModelCheckpoint("a.keras", monitor="val_mae", save_best_only=True)]


model = build()
model.fit(rows, validation_data=rows, callbacks=callbacks())  # found
model.fit(rows, epochs=9, callbacks=[ReduceLROnPlateau()], validation_data=rows)  # found
model.fit(rows, validation_data=rows, callbacks=keras.callbacks.EarlyStopping("val_loss", patience=2))  # found
model.fit(rows, validation_data=rows, callbacks=[ModelCheckpoint("b.keras")])
model.fit(rows, validation_data=rows, callbacks=[keras.callbacks.EarlyStopping(monitor="mae")])
model.fit(rows, validation_data=rows, callbacks=[keras.callbacks.TensorBoard("logs")])
model.fit(rows, validation_data=rows)
"""


def test_callbacks_that_follow_the_training_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_marked(tmp_path, monkeypatch, "TFF062", FOLLOWED)
