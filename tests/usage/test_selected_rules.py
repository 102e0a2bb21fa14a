"""A rule about code that stands alone in `select` is judged as it is among all others."""

from __future__ import annotations

from pathlib import Path

from cfgfix.lint.request import Request
from cfgfix.lint.runner import check
from cfgfix.settings.reader import Settings

TRAIN = """\
import tensorflow as tf

SHEEP = 65536
model = tf.keras.Sequential([tf.keras.Input([224, 224, 3]), tf.keras.layers.Conv2D(64, 3), tf.keras.layers.Flatten()])
model.compile("adam", "mse")
model.fit(tf.zeros([8, 224, 224, 3]), tf.zeros([8, 3154176]), batch_size=SHEEP)
"""


def rules_of(folder: Path, *select: str) -> set[str]:
    settings = Settings(
        root=str(folder), hardware="t4,cpus=8,ram=32", **({"select": select} if select else {})
    )
    report = check(Request(paths=(str(folder),), settings=settings))
    return {finding.rule for file in report.files for finding in file.findings}


def test_a_rule_that_runs_of_programs_decide_reads_python_alone(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN, encoding="utf-8")
    every = rules_of(tmp_path)
    assert "HWR028" in every
    assert rules_of(tmp_path, "HWR028") == {"HWR028"}
    assert rules_of(tmp_path, "YML001") == set()
