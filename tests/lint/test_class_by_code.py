"""A config that no program is known to open, and the class of the project that makes its objects of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from cfgfix.lint.runner import Request, check
from cfgfix.settings.reader import Settings

SETTINGS = """\
from dataclasses import dataclass, field

import yaml


@dataclass
class Training:
    learning_rate: float = 0.1
    epochs: int = 3
    weight_decay: float = 0.5


@dataclass
class Data:
    batch_size: int = 8
    num_workers: int = 2


@dataclass
class Kiln:
    training: Training = field(default_factory=Training)
    data: Data = field(default_factory=Data)

    @classmethod
    def from_yaml(cls, path):
        with open(path) as stream:
            data = yaml.safe_load(stream)
        return cls(training=Training(**data["training"]), data=Data(**data["data"]))
"""
BURN = """\
import sys

import tensorflow as tf

from settings import Kiln


def main():
    kiln = Kiln.from_yaml(sys.argv[1])
    tf.keras.optimizers.SGD(kiln.training.learning_rate)
    tf.data.Dataset.range(9).batch(kiln.data.batch_size).repeat(kiln.training.epochs)


if __name__ == "__main__":
    main()
"""
CONFIG = "training:\n  learning_rate: 0.1\n  epochs: 3\n  weight_decay: 0.7\ndata:\n  batch_size: 4\n  num_workers: 3\n"
OTHER = "training:\n  learning_rate: 0.1\n  epochs: 3\nmodel:\n  batch_size: 4\n"


def findings(folder: Path, files: dict[str, str]) -> set[tuple[str, str]]:
    """Return what is told of the configs: the rule's check by name, and the key."""
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    report = check(Request(paths=(".",), settings=Settings(root=str(folder), hardware="none")))
    return {
        (finding.name, ".".join(map(str, finding.key_path or ())))
        for file in report.files
        if file.path.endswith(".yaml")
        for finding in file.findings
    }


@pytest.fixture(autouse=True)
def too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the code be too much to follow."""
    monkeypatch.setattr("cfgfix.usage.program_runs.ProjectRuns.spent", lambda _: True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CFGFIX_CACHE_DIR", "")
    (tmp_path / ".git").mkdir()


def test_keys_are_held_against_what_reads_the_class(tmp_path: Path) -> None:
    files = {"settings.py": SETTINGS, "burn.py": BURN, "kiln.yaml": CONFIG}
    assert findings(tmp_path, files) == {
        ("dead-key", "training.weight_decay"),
        ("dead-key", "data.num_workers"),
    }


def test_a_config_with_other_sections_is_none_of_the_class(tmp_path: Path) -> None:
    files = {"settings.py": SETTINGS, "burn.py": BURN, "kiln.yaml": OTHER}
    assert findings(tmp_path, files) == set()


def test_of_two_classes_it_is_not_known_which_is_meant(tmp_path: Path) -> None:
    other = SETTINGS.replace("class Kiln", "class Oven")
    files = {"settings.py": SETTINGS, "others.py": other, "burn.py": BURN, "kiln.yaml": CONFIG}
    assert findings(tmp_path, files) == set()
