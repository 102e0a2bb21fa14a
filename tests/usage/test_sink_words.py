"""Words that a parameter does not know are told in the config and in the code, and those that it knows are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from cfgfix.lint.request import Request
from cfgfix.lint.runner import check
from cfgfix.settings.reader import Settings

CALLS: dict[str, tuple[str, str, str]] = {
    "padding of a layer": ("layers.Conv2D(4, 3, padding={})", "smae", "same"),
    "data format": ("layers.MaxPooling2D(2, data_format={})", "channel_last", "channels_last"),
    "activation": ("layers.Dense(4, activation={})", "rleu", "relu"),
    "initializer": ("layers.Embedding(9, 4, embeddings_initializer={})", "unifrom", "uniform"),
    "regularizer": ("layers.Dense(4, kernel_regularizer={})", "l3", "l2"),
    "fill mode": ("layers.RandomTranslation(0.1, 0.1, fill_mode={})", "mirror", "reflect"),
    "encoding": ("layers.CategoryEncoding(4, output_mode={})", "onehot", "one_hot"),
    "interpolation": ("layers.Resizing(8, 8, interpolation={})", "linear", "bilinear"),
    "reduction of a loss": ("losses.MeanSquaredError(reduction={})", "average", "sum"),
    "curve": ("metrics.AUC(curve={})", "pr_curve", "pr"),
    "mode of a callback": ("callbacks.EarlyStopping(mode={})", "minimise", "min"),
    "when to save": ("callbacks.ModelCheckpoint('a.keras', save_freq={})", "epochs", "epoch"),
    "when to write": ("callbacks.TensorBoard('logs', update_freq={})", "step", "batch"),
    "what to profile": ("callbacks.TensorBoard('logs', profile_batch={})", "2-10", "2,10"),
    "mode of classes": (
        "preprocessing.image.ImageDataGenerator().flow_from_directory('pictures', class_mode={})",
        "onehot",
        "categorical",
    ),
    "mode of labels": ("utils.image_dataset_from_directory('pictures', label_mode={})", "onehot", "int"),
    "part of the data": (
        "utils.image_dataset_from_directory('pictures', validation_split=0.2, seed=1, subset={})",
        "train",
        "training",
    ),
    "pooling": (
        "applications.MobileNetV2(weights=None, include_top=False, pooling={})",
        "average",
        "avg",
    ),
}
"""A call, a word that it does not know, and one that it knows."""


def found(folder: Path, call: str, word: str, *, in_config: bool) -> list[str]:
    """What is told, as file and line."""
    head = "import tensorflow as tf\nimport yaml\n"
    if in_config:
        head += "with open('run.yaml') as stream:\n    run = yaml.safe_load(stream)\n"
        (folder / "run.yaml").write_text(f"kind: '{word}'\n", encoding="utf-8")
    given = "run['kind']" if in_config else repr(word)
    (folder / "requirements.txt").write_text("tensorflow==2.21.0\npyyaml\n", encoding="utf-8")
    (folder / "train.py").write_text(f"{head}tf.keras.{call.format(given)}\n", encoding="utf-8")
    report = check(Request(paths=(str(folder),), settings=Settings(root=str(folder))))
    return [
        f"{Path(file.path).name}:{finding.location.line}"
        for file in report.files
        for finding in file.findings
        if finding.severity.label != "info"
    ]


@pytest.mark.parametrize("case", CALLS)
def test_a_word_is_told_where_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    monkeypatch.chdir(tmp_path)
    call, wrong, right = CALLS[case]
    for in_config, place in ((True, "run.yaml:1"), (False, "train.py:3")):
        folder = tmp_path / str(in_config)
        folder.mkdir()
        assert found(folder, call, wrong, in_config=in_config) == [place]
        assert found(folder, call, right, in_config=in_config) == []


DEVICES = ("2", "'/gpu:0'")


@pytest.mark.parametrize("given", DEVICES)
def test_devices_are_a_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.yaml").write_text(f"cards: {given}\n", encoding="utf-8")
    (tmp_path / "train.py").write_text(
        "import tensorflow as tf\nimport yaml\n\nrun = yaml.safe_load(open('run.yaml'))\n"
        "tf.distribute.MirroredStrategy(devices=run['cards'])\n",
        encoding="utf-8",
    )
    settings = Settings(root=str(tmp_path))
    report = check(Request(paths=(str(tmp_path),), settings=settings))
    told = {(Path(file.path).name, item.location.line) for file in report.files for item in file.findings}
    assert ("run.yaml", 1) in told
    (tmp_path / "run.yaml").write_text("cards: ['/gpu:0']\n", encoding="utf-8")
    report = check(Request(paths=(str(tmp_path),), settings=settings))
    assert not any(file.findings for file in report.files if file.path.endswith("run.yaml"))


RELEASES = ("2.12.1", "2.16.2", "2.18.1")


@pytest.mark.parametrize("release", RELEASES)
def test_older_releases_refuse_words_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, release: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "requirements.txt").write_text(f"tensorflow=={release}\npyyaml\n", encoding="utf-8")
    (tmp_path / "run.yaml").write_text("units: '4'\npadding: smae\n", encoding="utf-8")
    (tmp_path / "train.py").write_text(
        "import tensorflow as tf\nimport yaml\n\nrun = yaml.safe_load(open('run.yaml'))\n"
        "tf.keras.layers.Conv2D(4, 3, padding=run['padding'])\n"
        "tf.keras.layers.LSTM(run['units'])\n",
        encoding="utf-8",
    )
    report = check(Request(paths=(str(tmp_path),), settings=Settings(root=str(tmp_path))))
    told = {
        item.location.line: item.severity.label
        for file in report.files
        for item in file.findings
        if file.path.endswith("run.yaml")
    }
    assert told.get(2) == "error"
