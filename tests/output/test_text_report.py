"""What text and concise show of many findings: places of one matter as one, and no note that nobody would act on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cfgfix.core.findings import Severity
from cfgfix.lint.runner import Request, check
from cfgfix.output.text import concise
from cfgfix.output.text_report import text_report
from cfgfix.settings.reader import Settings

OLD = """\
import tensorflow as tf

a = tf.data.experimental.AUTOTUNE
b = [tf.data.experimental.AUTOTUNE]
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(tf.keras.optimizers.Adam(lr=0.1), "mse")
model.compile(tf.keras.optimizers.SGD(lr=0.1), "mse")
dataset = tf.data.Dataset.from_tensor_slices(tf.ones([8, 64, 64, 3])).map(lambda x: x / 255.0).batch(2)
model.fit(dataset)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "train.py").write_text(OLD)
    (tmp_path / "other.py").write_text(OLD)
    (tmp_path / "run.yaml").write_text("batch_size: 8\nepochs: 3\nlearning_rate: 0.1\na: yes\nb: no\nc: on\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CFGFIX_CACHE_DIR", "")
    return tmp_path


def lines(project: Path, **settings: object) -> list[str]:
    report = check(
        Request(
            paths=(".",),
            settings=Settings(
                root=str(project),
                hardware="none",
                tensorflow="requirements",
                dialect="keras-flat",
                **settings,
            ),
        )
    )
    return concise(report).splitlines()


def test_places_of_one_matter_are_one_line(project: Path) -> None:
    found = lines(project)
    assert sum(" DEP006 " in line for line in found) == 1
    assert any(" DEP006 " in line and "in 4 places of 2 files" in line for line in found)
    (rate,) = [line for line in found if " DEP020 " in line]
    assert "error" in rate
    assert "nothing here pins a release" in rate
    assert "in 4 places of 2 files" in rate
    (word,) = [line for line in found if " YML002 " in line]
    assert "in 3 places" in word


def test_a_pinned_release_is_told_at_each_place(project: Path) -> None:
    (project / "requirements.txt").write_text("tensorflow==2.21.0\n")
    assert sum(" DEP020 " in line for line in lines(project)) == 4


def test_notes_that_nobody_acts_on_are_counted(project: Path) -> None:
    found = lines(project)
    assert not any(" TFD013 " in line for line in found)
    assert any("notes not shown (--min-severity info shows them)" in line for line in found)
    assert any(" TFD013 " in line for line in lines(project, min_severity="info"))
    assert any(" TFD013 " in line for line in lines(project, fail_on="info"))


def test_the_least_severity_is_what_counts(project: Path) -> None:
    found = lines(project, min_severity="error")
    assert any(" DEP020 " in line for line in found)
    assert not any(" warning " in line or ": info " in line for line in found)


def test_the_report_itself_keeps_all(project: Path) -> None:
    report = check(
        Request(
            paths=(".",), settings=Settings(root=str(project), hardware="none", tensorflow="requirements")
        )
    )
    from cfgfix.output.json import render

    kept = [item for file in json.loads(render(report))["files"] for item in file["findings"]]
    assert sum(item["rule"] == "DEP020" for item in kept) == 4
    reduced = text_report(report)
    assert reduced.left_out > 0
    assert len(reduced.report.findings()) + reduced.left_out < len(kept)
    assert all(item.severity is not Severity.INFO or item.fix for item in reduced.report.findings())
