"""What `--dataset` and `--step` take: objects and functions, of tf.data, of Keras, of Python; and what is refused."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from cfgfix.core.errors import CfgfixError
from cfgfix.measure.data import measure
from cfgfix.measure.data_profile import Plan
from cfgfix.measure.data_sources import call_maker, dataset_maker
from cfgfix.measure.sampling import load_object, run_child, training_line
from cfgfix.measure.step import measure as measure_step
from cfgfix.measure.step_profile import StepPlan
from cfgfix.measure.step_subject import step_maker, subject_of

DATA = """
import numpy as np
import tensorflow as tf

dataset = tf.data.Dataset.range(100).map(lambda v: (tf.zeros([4, 3]), tf.zeros([4, 1])))

class Rows(tf.keras.utils.PyDataset):
    def __len__(self):
        return 20
    def __getitem__(self, index):
        return np.zeros([8, 3], "f"), np.zeros([8, 1], "f")

class Nested:
    rows = Rows()

def batches():
    for _ in range(30):
        yield [np.zeros([8, 3], "f"), np.zeros([8, 1], "f")]

def with_config(config):
    return Rows() if config["keras"] else dataset

def model():
    made = tf.keras.Sequential([tf.keras.layers.Dense(2), tf.keras.layers.Dense(1)])
    made.compile("sgd", "mse")
    return made

ready = model()

class Own(tf.keras.Model):
    steps = 0
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(1)
    def call(self, x):
        return self.dense(x)
    def train_step(self, data):
        Own.steps += 1
        return super().train_step(data)

def own():
    made = Own()
    made.compile("sgd", "mse", run_eagerly=True)
    return made

def plain():
    return tf.keras.Sequential([tf.keras.layers.Dense(1)])
"""


@pytest.fixture
def module(tf, tmp_path, monkeypatch):
    (tmp_path / "ways_in.py").write_text(DATA)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "ways_in"
    sys.modules.pop("ways_in", None)


@pytest.mark.parametrize("name", ["dataset", "Rows", "Nested.rows", "batches"])
def test_a_dataset_may_be_an_object_or_a_function_of_any_kind(module, name):
    make, source = dataset_maker({"dataset": f"{module}:{name}"})
    assert source == f"{module}:{name}"
    rows = {"dataset": 4}.get(name, 8)
    for _ in range(2):
        element = next(iter(make()))
        assert [tuple(part.shape) for part in element] == [(rows, 3), (rows, 1)]
    found = measure(make, Plan(batches=15, seconds=5, stages=False))
    assert found.rates.samples_per_batch == rows


def test_a_function_gets_the_config(module, tmp_path):
    config = tmp_path / "config.yaml"
    config.write_text("keras: true\n")
    make, _ = dataset_maker({"dataset": f"{module}:with_config", "config": str(config)})
    assert len(next(iter(make()))[0]) == 8


def test_a_generator_without_a_batch_is_the_users_failure(tf):
    def nothing():
        yield from ()

    with pytest.raises(CfgfixError, match="no batch"):
        measure(nothing, Plan(batches=15, seconds=2))


@pytest.mark.parametrize("name", ["model", "ready"])
def test_a_compiled_model_runs_its_own_step(module, name):
    make, _ = step_maker({"step": f"{module}:{name}"})
    data, _ = dataset_maker({"dataset": f"{module}:dataset"})
    found = measure_step(make, data, StepPlan(rounds=3, steps=10, seconds=5, compare=False))
    assert found.compiled
    assert found.parts == {}


def test_the_step_of_a_model_is_the_one_it_overrides(module):
    make, _ = step_maker({"step": f"{module}:own"})
    batch = np.zeros([4, 3], "f"), np.zeros([4, 1], "f")
    subject = subject_of(make, "own", batch)
    subject.whole(batch)
    assert sys.modules[module].Own.steps == 1


def test_a_model_that_is_not_compiled_is_refused(module):
    make, _ = step_maker({"step": f"{module}:plain"})
    with pytest.raises(CfgfixError, match="not compiled"):
        subject_of(make, "plain", None)


# --- importing trains nothing


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("model.fit(data, epochs=3)", 1),
        ("x = 1\nfor epoch in range(3):\n    model.fit(x, y)", 3),
        ("history = build().fit(data, callbacks=[])", 1),
        ("with strategy.scope():\n    model.train_on_batch(x)", 2),
        ("if __name__ == '__main__':\n    model.fit(x, y)", None),
        ("def main():\n    model.fit(x, y)", None),
        ("scaler.fit(rows)", None),
        ("class Train:\n    def run(self):\n        self.model.fit(x, y)", None),
        ("broken(", None),
    ],
)
def test_a_training_at_the_top_of_a_module_is_seen_in_its_text(text, line):
    assert training_line(text) == line


def test_a_module_that_would_train_is_not_imported(tmp_path, monkeypatch):
    (tmp_path / "trains_at_once.py").write_text(
        "open('trained', 'w').close()\ndef make():\n    return 1\nmodel.fit(make(), epochs=3)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CfgfixError, match="would start a training") as caught:
        load_object("trains_at_once:make")
    assert "trains_at_once.py:4" in str(caught.value)
    assert "cfgfix profile run trains_at_once.py" in caught.value.hint
    assert not (tmp_path / "trained").exists()


@pytest.mark.parametrize("processes", [False, True])
def test_the_workers_of_a_dataset_of_keras_make_its_batches(tf, processes):
    import os
    import threading

    class Rows(tf.keras.utils.PyDataset):
        def __len__(self):
            return 12

        def __getitem__(self, index):
            worker = os.getpid() if processes else threading.get_ident()
            return np.full([2, 1], index, "f"), np.full([2, 1], worker, "i8")

    made = call_maker(lambda: Rows(workers=2, use_multiprocessing=processes, max_queue_size=3))
    for _ in range(2):
        batches = [(float(x[0, 0]), int(worker[0, 0])) for x, worker in made]
        assert [place for place, _ in batches] == list(range(12))
        here = os.getpid() if processes else threading.get_ident()
        assert here not in {worker for _, worker in batches}
    next(iter(made))


@pytest.mark.acceptance
def test_what_keras_reads_with_workers_is_read_anew_after_the_run(tf, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "train.py"
    script.write_text(WORKERS)
    options = {"script": str(script), "plan": {"steps": 60, "seconds": 60, "data_seconds": 2}}
    found = run_child("cfgfix.measure.training:job", options, seconds=200)
    assert found["data"]["rates"]["samples_per_batch"] == 4


WORKERS = """
import time
import numpy as np
import tensorflow as tf

class Rows(tf.keras.utils.PyDataset):
    def __len__(self):
        return 50
    def __getitem__(self, index):
        time.sleep(0.1)
        return np.zeros([4, 3], "f"), np.zeros([4, 1], "f")

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(Rows(workers=4), epochs=5, verbose=0)
"""
