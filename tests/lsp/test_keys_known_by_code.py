"""What an editor is told of keys that only the code knows."""

from __future__ import annotations

from pathlib import Path

import pytest

from cfgfix.lsp.analysis import analyse
from cfgfix.lsp.answers import complete, hover

TRAIN = """\
import tensorflow as tf
import yaml

with open("herd.yaml") as stream:
    herd = yaml.safe_load(stream)
strategy = tf.distribute.MirroredStrategy(["GPU:0", "GPU:1"])
data = tf.data.Dataset.range(4096).map(lambda n: (n, n % 2), num_parallel_calls=herd["hands"])
data = data.batch(herd["flock"]).prefetch(herd.get("gate", 2))
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, activation=herd["barn"]["bleat"])])
    model.compile(tf.keras.optimizers.Adam(herd["trot"] * 2), "mse")
model.fit(data, epochs=herd["seasons"])
print(herd["nickname"])
"""
HERD = "flock: 33\nhands: 8\ngate: 2\ntrot: 0.001\nbarn: {bleat: sigmoid}\nnickname: Dolly\n"


@pytest.fixture
def herd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "herd.yaml").write_text(HERD)
    (tmp_path / "cfgfix.toml").write_text("hardware = 't4x2,cpus=4,ram=32'\n")
    monkeypatch.chdir(tmp_path)
    return "herd.yaml"


TOLD = {
    "flock": (
        "`flock` (opened by train.py)",
        "Samples in a training batch: the global batch, which all replicas of the strategy share.",
        "- reaches Dataset.batch(batch_size) in train.py:8, which takes an integer above 0",
        "CFG022 batch-not-divisible-by-replicas: speaks here",
    ),
    "hands": (
        "- reaches Dataset.map(num_parallel_calls) in train.py:7",
        "HWR001 workers-above-cores: speaks here",
        "cpu.usable = 4",
    ),
    "gate": ("without it the code takes 2", "Batches in the buffer of `prefetch()`"),
    "trot": ("goes into optimizers.Adam(learning_rate) in train.py:11", "TensorFlow's default is 0.001"),
    "bleat": ("`barn.bleat`", "layers.Dense(activation) in train.py:10, which takes one of 'celu', 'elu'"),
    "nickname": ("read first in train.py:13",),
}


@pytest.mark.parametrize("word", TOLD)
def test_hover_says_what_a_key_is_by_the_call_that_it_reaches(herd: str, word: str) -> None:
    found = hover(analyse(HERD, herd), HERD.index(word) + 1)
    assert found is not None
    for text in TOLD[word]:
        assert text in found.text


def test_what_is_typed_is_held_against_the_code_at_once(herd: str) -> None:
    text = HERD.replace("33", "32").replace("gate: 2\n", "")
    found = hover(analyse(text, herd), 2)
    assert found is not None
    assert "CFG022 batch-not-divisible-by-replicas: has nothing to say" in found.text
    assert hover(analyse(text + "lambs: 3\n", herd), len(text) + 2) is not None


def test_completion_offers_the_keys_and_words_that_the_code_takes(herd: str) -> None:
    typed = HERD.replace("barn: {bleat: sigmoid}", "barn:\n  bleat: ")
    offers = complete(analyse(typed, herd), typed.index("bleat: ") + 7)
    assert {"relu", "sigmoid"} <= {offer.text for offer in offers}
    assert all("Dense(activation)" in offer.detail for offer in offers)
    labels = {offer.label for offer in complete(analyse(HERD, herd), len(HERD))}
    assert "seasons" in labels
    assert "flock" not in labels, "a key that is there is not offered again"


def test_a_file_that_no_code_opens_is_told_nothing(herd: str) -> None:
    assert hover(analyse("colour: red\n", "paint.yaml"), 2) is None
