"""Rules about code see the values of each config in the calls that get them, and say under which config they hold."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from cfgfix.core.findings import Finding
from cfgfix.lint.request import Request
from cfgfix.lint.runner import check
from cfgfix.settings.reader import Settings

HEAD = """\
import argparse
import os

import tensorflow as tf
import yaml

parser = argparse.ArgumentParser()
parser.add_argument("--config", required=True)
with open(parser.parse_args().config) as stream:
    run = yaml.safe_load(stream)
model = tf.keras.Sequential([tf.keras.layers.Dense(4)])
x = tf.ones([8, 4])
"""


def found(folder: Path, code: str, **configs: str) -> list[Finding]:
    """What is found in `train.py`, which every one of the configs is made for."""
    (folder / "train.py").write_text(HEAD + textwrap.dedent(code), encoding="utf-8")
    (folder / "requirements.txt").write_text("tensorflow==2.21.0\npyyaml\n", encoding="utf-8")
    for name, text in configs.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    report = check(Request(paths=(str(folder),), settings=Settings(root=str(folder))))
    return [finding for file in report.files if file.path.endswith("train.py") for finding in file.findings]


def names(findings: list[Finding]) -> list[str]:
    return [finding.name for finding in findings if finding.severity.label != "info"]


LOUD = {
    "a metric that is not measured": (
        """
        def train(settings):
            model.compile("sgd", "mse", metrics=["accuracy"])
            stop = tf.keras.callbacks.EarlyStopping(settings["watch"])
            model.fit(x, x, validation_split=0.25, callbacks=[stop])
        train(run["stop"])
        """,
        "stop: {watch: val_acc}\n",
        "unmeasured-monitor",
        "stop.watch",
    ),
    "a section in place of the arguments": (
        """
        model.compile("sgd", "mse", metrics=["accuracy"])
        stop = tf.keras.callbacks.EarlyStopping(**run["stop"])
        model.fit(x, x, validation_split=0.25, callbacks=[stop])
        """,
        "stop: {patience: 3, monitor: val_acc}\n",
        "unmeasured-monitor",
        "stop.monitor",
    ),
    "a section with a list in it": (
        """
        from tensorflow.keras.utils import to_categorical
        model.compile(**run["fit"]["with"])
        model.fit(x, to_categorical([0, 1, 2, 3, 0, 1, 2, 3]), epochs=3)
        """,
        "fit:\n  with: {optimizer: adam, loss: sparse_categorical_crossentropy, metrics: [accuracy, mse]}\n",
        "labels-against-loss",
        "fit.with.loss",
    ),
    "a head that null leaves without an activation": (
        """
        net = tf.keras.Sequential([tf.keras.layers.Dense(8), tf.keras.layers.Dense(3, activation=run["head"])])
        net.compile("sgd", "categorical_crossentropy")
        """,
        "head: null\n",
        "logits-as-probabilities",
        "head",
    ),
    "the classes of a layer": (
        "tf.keras.layers.Dense(run['kinds'], activation='softmax')\n",
        "kinds: 1\n",
        "softmax-of-one",
        "kinds",
    ),
    "compiled by XLA for each length": (
        """
        @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int64)], jit_compile=run["fuse"])
        def step(batch):
            return tf.reduce_sum(batch)
        lengths = tf.data.Dataset.range(1, 9).map(tf.range).padded_batch(2)
        for batch in lengths:
            step(batch)
        """,
        "fuse: true\n",
        "padded-batch-dynamic-xla",
        "fuse",
    ),
}
QUIET = {
    "a metric that is not measured": "stop: {watch: val_accuracy}\n",
    "a section in place of the arguments": "stop: {patience: 3, monitor: val_accuracy}\n",
    "a section with a list in it": "fit:\n  with: {optimizer: adam, loss: categorical_crossentropy, metrics: [accuracy, mse]}\n",
    "the classes of a layer": "kinds: 3\n",
    "compiled by XLA for each length": "fuse: false\n",
}


@pytest.mark.parametrize("case", LOUD)
def test_a_value_of_the_config_counts_as_if_it_were_written_there(tmp_path: Path, case: str) -> None:
    code, config, name, key = LOUD[case]
    findings = [item for item in found(tmp_path, code, one=config) if item.name == name]
    assert len(findings) == 1
    shown = findings[0]
    assert f"holds under {tmp_path.name}" in shown.notes[0] or "one.yaml" in shown.notes[0]
    origin = next(place for place in shown.related if place.path.endswith("one.yaml"))
    assert f"`{key}`" in (origin.label or "")
    assert shown.fix is None or (not shown.fix.changes and shown.fix.elsewhere)


@pytest.mark.parametrize("case", QUIET)
def test_a_neighbour_stays_silent(tmp_path: Path, case: str) -> None:
    code, _, name, _ = LOUD[case]
    assert name not in names(found(tmp_path, code, one=QUIET[case]))


def test_a_finding_says_under_which_of_several_configs_it_holds(tmp_path: Path) -> None:
    code, bad, name, _ = LOUD["the classes of a layer"]
    findings = found(tmp_path, code, bad=bad, good="kinds: 3\n", worse="kinds: 1\nseed: 2\n")
    shown = [item for item in findings if item.name == name]
    assert len(shown) == 1
    assert "bad.yaml" in shown[0].notes[0]
    assert "worse.yaml" in shown[0].notes[0]
    assert "good.yaml" not in shown[0].notes[0]


def test_a_file_name_that_a_config_ends_is_told_at_the_config_alone(tmp_path: Path) -> None:
    code = "tf.keras.callbacks.ModelCheckpoint(os.path.join('runs', run['best']), save_weights_only=True)"
    bad = {item.name for item in found(tmp_path, code, one="best: weights.h5\n")}
    assert "keras-file-name" not in bad
    for name in ("best.weights.h5", "w.hdf5"):
        (tmp_path / "one.yaml").write_text(f"best: {name}\n", encoding="utf-8")
        report = check(
            Request(paths=(str(tmp_path),), settings=Settings(root=str(tmp_path), hardware="none"))
        )
        told = {Path(item.location.path).name for item in report.findings() if item.severity.name == "ERROR"}
        assert told == (set() if name == "best.weights.h5" else {"one.yaml"})


def test_an_argument_with_two_values_in_one_run_is_not_known(tmp_path: Path) -> None:
    code = """
    def save(name):
        tf.keras.callbacks.ModelCheckpoint(name, save_weights_only=True)
    save(run["first"])
    save(run["second"])
    """
    findings = found(tmp_path, code, one="first: a.h5\nsecond: b.weights.h5\n")
    assert "keras-file-name" not in names(findings)


def test_what_is_found_without_a_config_is_told_as_before(tmp_path: Path) -> None:
    code = "tf.keras.layers.Dense(1, activation='softmax')\ntf.keras.optimizers.Adam(run['rate'])\n"
    findings = [item for item in found(tmp_path, code, one="rate: 0.1\n") if item.name == "softmax-of-one"]
    assert len(findings) == 1
    assert not any("holds under" in note for note in findings[0].notes)


SCHEDULED = """
pace = run["pace"]
if run["cool"]:
    pace = tf.keras.optimizers.schedules.ExponentialDecay(pace, 10, 0.9)
model.compile(tf.keras.optimizers.Adam(pace), "mse")
calls = []
if run["watch"]["plateau"]:
    calls.append(tf.keras.callbacks.ReduceLROnPlateau("loss", patience=1))
model.fit(x, x, epochs=4, callbacks=calls)
"""
WAYS = {
    "both": ("cool: true\nwatch: {plateau: true}\n", 1),
    "a number": ("cool: false\nwatch: {plateau: true}\n", 0),
    "no plateau": ("cool: true\nwatch: {plateau: false}\n", 0),
    "neither": ("cool: 0\nwatch: {plateau: null}\n", 0),
}


@pytest.mark.parametrize("case", WAYS)
def test_the_ways_that_a_config_takes_count(tmp_path: Path, case: str) -> None:
    config, wanted = WAYS[case]
    findings = [
        item
        for item in found(tmp_path, SCHEDULED, one=f"pace: 0.1\n{config}")
        if item.name == "rate-set-on-schedule" and item.severity.label == "error"
    ]
    assert len(findings) == wanted
    for finding in findings:
        labels = [place.label or "" for place in finding.related if place.path.endswith("one.yaml")]
        assert "`watch.plateau` is True here" in labels
        assert "`cool` is True here" in labels


def test_a_way_that_differs_within_a_run_is_left_open(tmp_path: Path) -> None:
    code = """
    def layer(last):
        if last:
            return tf.keras.layers.Dense(1, activation="softmax" if run["soft"] else None)
        return tf.keras.layers.Dense(3)
    for last in run["layers"]:
        layer(last)
    """
    findings = found(tmp_path, code, one="soft: false\nlayers: [false, true]\n")
    assert "softmax-of-one" not in names(findings)


def test_a_value_that_stands_in_the_config_is_told_there_alone(tmp_path: Path) -> None:
    code = "tf.keras.optimizers.Adam(learning_rate=run['rate'])\n"
    assert not names(found(tmp_path, code, slow="rate: 1e-4\n"))


def test_a_value_that_the_code_makes_is_told_in_the_code(tmp_path: Path) -> None:
    code = "tf.keras.layers.Dense(run['size'] / 2)\n"
    assert "keras-float-units" in names(found(tmp_path, code, slow="size: 5\n"))


SPREADS = {
    "two sections in turn": (
        """
        for kind in ("first", "second"):
            tf.keras.callbacks.ModelCheckpoint(**run[kind], save_weights_only=True)
        """,
        "first: {filepath: a.h5}\nsecond: {filepath: b.weights.h5}\n",
    ),
    "a section that the code adds to": (
        """
        section = dict(run["first"])
        section["filepath"] = os.environ["TARGET"]
        tf.keras.callbacks.ModelCheckpoint(**section, save_weights_only=True)
        """,
        "first: {filepath: a.h5, verbose: 1}\n",
    ),
}


@pytest.mark.parametrize("case", SPREADS)
def test_a_section_whose_whole_is_not_known_is_not_written_out(tmp_path: Path, case: str) -> None:
    code, config = SPREADS[case]
    assert "keras-file-name" not in names(found(tmp_path, code, one=config))


def test_the_fix_of_a_section_changes_the_entry_that_is_wrong(tmp_path: Path) -> None:
    code, config, name, _ = LOUD["a section in place of the arguments"]
    shown = next(item for item in found(tmp_path, code, one=config) if item.name == name)
    assert shown.fix is not None
    assert "`stop.monitor` to 'val_accuracy'" in shown.fix.title
    assert not any("patience" in (place.label or "") for place in shown.related)
