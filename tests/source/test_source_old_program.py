"""A program of TensorFlow 1 is told of once; one old name in a newer program is told where it stands."""

from __future__ import annotations

from cfgfix.engine import Request, check
from cfgfix.settings import Settings
from cfgfix.source.checks.api import OLD_NAMES


def findings(folder, monkeypatch, names, requirement=None):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("CFGFIX_CACHE_DIR", "")
    body = "\n".join(f"value_{number} = tf.to_float({number})" for number in range(names))
    (folder / "old.py").write_text(f"import tensorflow as tf\n{body}\n")
    if requirement:
        (folder / "requirements.txt").write_text(requirement + "\n")
    report = check(Request(paths=(".",), settings=Settings(root=str(folder), hardware="none")))
    return [item for item in report.findings() if item.rule == "DEP010"]


def test_a_whole_program_of_tensorflow_1_is_one_finding(tmp_path, monkeypatch):
    found = findings(tmp_path, monkeypatch, OLD_NAMES)
    assert [item.location.line for item in found] == [2]
    assert found[0].severity.label == "warning"
    assert any(f"{OLD_NAMES} such names in 1 files" in note for note in found[0].notes)


def test_a_few_old_names_are_each_an_error(tmp_path, monkeypatch):
    found = findings(tmp_path, monkeypatch, 3)
    assert len(found) == 3


def test_a_requirement_for_tensorflow_2_makes_each_an_error(tmp_path, monkeypatch):
    found = findings(tmp_path, monkeypatch, OLD_NAMES, "tensorflow>=2.10")
    assert len(found) == OLD_NAMES
    assert {item.severity.label for item in found} == {"error"}
