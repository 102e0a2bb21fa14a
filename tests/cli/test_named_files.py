"""Files that a command line names by paths whose endings are not those of YAML or Python."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from cfgfix.cli.start import run

LOOSE = "batch_size: 32\nlearning_rate: 1e-3\nepochs: 3\n"
BROKEN = {
    "prose": "learning_rate: 0.1\nbatch_size: 32\nepochs: 3\n  that is: what: we took\n",
    "tab": "batch_size: 32\nlearning_rate: 0.1\nepochs: 3\nmodel:\n\twidth: 3\n",
    "script": '#!/bin/sh\n# epochs: 3\nif [ -z "$LR" ]; then\n  LR: "0.1\nfi\n',
    "bold": "batch_size: 32\nlearning_rate: 0.1\nepochs: 3\nnote: *this* is not an alias\n",
    "python": "import tensorflow as tf\nx = {1: 2,\n     3: 4}\n",
}
PROGRAM = """\
import json
import tomllib

import tensorflow as tf

with open("a.json") as file:
    cfg = json.load(file)
with open("a.toml", "rb") as file:
    other = tomllib.load(file)
model = tf.keras.Sequential()
model.fit(tf.data.Dataset.range(3), epochs=cfg["epochs"])
model.fit(tf.data.Dataset.range(3), epochs=other["train"]["epochs"])
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    return tmp_path


def check(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = run(["check", "--hardware", "none", *arguments])
    told = capsys.readouterr()
    return code, told.out + told.err


@pytest.mark.parametrize("kind", BROKEN)
@pytest.mark.parametrize("name", ["notes.txt", "train.cfg", "README", "run.sh"])
@pytest.mark.parametrize("command", [[], ["--fix"], ["--diff"], ["--unsafe-fixes", "--fix"]])
def test_what_is_neither_yaml_nor_python_is_an_error(
    folder: Path, capsys: pytest.CaptureFixture[str], kind: str, name: str, command: list[str]
) -> None:
    (folder / name).write_text(BROKEN[kind])
    code, told = check(capsys, *command, name)
    assert code == 3
    assert told.startswith(f"error: {name}:")
    assert "is neither YAML nor Python" in told
    assert "name a YAML config" in told
    assert "YML021" not in told
    assert "no findings" not in told
    assert (folder / name).read_text() == BROKEN[kind]


def test_the_advice_of_the_error_works(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "notes.txt").write_text(BROKEN["prose"])
    code, told = check(capsys, "--dialect", "generic", "--force-dialect", "notes.txt")
    assert code == 1
    assert "notes.txt:4:" in told
    assert "YML021" in told


def test_yaml_of_any_name_is_judged(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "train.cfg").write_text(LOOSE)
    code, told = check(capsys, "train.cfg")
    assert code == 1
    assert "train.cfg:2:16: error YML001" in told


def test_a_broken_yaml_file_is_still_a_finding(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "train.yaml").write_text(BROKEN["prose"])
    code, told = check(capsys, "train.yaml")
    assert code == 1
    assert "train.yaml:4:" in told
    assert "YML021" in told


def test_a_template_stays_a_template(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "train.j2").write_text("epochs: 3\n{% if x %}\nlearning_rate: {{ lr }}\n{% endif %}\n")
    code, told = check(capsys, "train.j2")
    assert code == 0
    assert "a template" in told


def test_a_hook_that_names_such_a_file_does_not_fail(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "train").write_text(BROKEN["python"])
    code, told = check(capsys, "--force-exclude", "--show-skipped", "train")
    assert code == 0
    assert "passed over train: neither YAML nor Python" in told


def test_standard_input_comes_back_as_it_was(
    folder: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = BROKEN["prose"].encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert run(["fix", "-", "--stdin-filename", "notes.txt"]) == 0
    told = capfdbinary.readouterr()
    assert told.out == text
    assert b"neither YAML nor Python" in told.err


def test_among_several_what_include_fits_is_judged(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "cfgfix.toml").write_text('include = ["*.yaml", "*.cfg", "runs/*"]\n')
    (folder / "runs").mkdir()
    names = ("a.yaml", "b.cfg", "runs/today", "c.txt")
    for name in names:
        (folder / name).write_text(LOOSE)
    code, told = check(capsys, "--output-format", "concise", "--show-skipped", *names)
    assert code == 1
    for name in names[:3]:
        assert f"{name}:2:16: error YML001" in told
    assert "c.txt:" not in told.replace("over c.txt:", "")
    assert "passed over c.txt: no YAML or Python by its name, and no pattern of `include` fits it" in told
    assert "1 other file passed over" in told
    assert run(["fix", *names]) == 0
    assert [(folder / name).read_text() != LOOSE for name in names] == [True, True, True, False]


def test_among_several_a_broken_file_that_include_fits_is_a_finding(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "cfgfix.toml").write_text('include = ["*.yaml", "*.cfg"]\n')
    (folder / "a.yaml").write_text(LOOSE.replace("1e-3", "1.0e-3"))
    (folder / "b.cfg").write_text(BROKEN["prose"])
    code, told = check(capsys, "a.yaml", "b.cfg")
    assert code == 1
    assert "b.cfg:4:" in told
    assert "YML021" in told


def test_python_that_include_fits_is_not_read_as_yaml(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "cfgfix.toml").write_text('include = ["*"]\n')
    (folder / "a.py").write_text("import tensorflow as tf\n# learning_rate: 3\nx = {1: 2,\n 3: [4}\n")
    code, told = check(capsys, "--output-format", "json")
    files = json.loads(told)["files"]
    assert [(file["path"], file["dialect"]) for file in files if file["path"].endswith("a.py")] == [
        ("a.py", None)
    ]
    assert code in (0, 1)
    assert "YML021" not in told


@pytest.mark.parametrize(
    "paths", [("a.toml",), ("a.toml", "a.json"), ("a.toml", "train.py"), (".",), ("a.toml", "note.txt")]
)
def test_toml_is_judged_by_the_code_that_opens_it_and_never_as_yaml(
    folder: Path, capsys: pytest.CaptureFixture[str], paths: tuple[str, ...]
) -> None:
    (folder / "train.py").write_text(PROGRAM)
    (folder / "note.txt").write_text("x\n")
    (folder / "a.json").write_text('{"epochs": 3, "learning_rate": 0.1}')
    (folder / "a.toml").write_text("# batch_size: 3\n[train]\nlearning_rate = 0.1\nepochs = 3\n")
    code, told = check(capsys, *paths)
    assert code == 1
    assert "a.toml:3:1: warning REF005" in told
    assert "YML021" not in told
    assert "0 configs" not in told
    # Naming the program judges all configs that it opens.
    assert ("a.json:1:15: warning REF005" in told) == bool({"a.json", "train.py", "."}.intersection(paths))


def test_toml_and_json_that_nothing_opens_are_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.json").write_text('{"epochs": 3, "learning_rate": 0.1}')
    (folder / "a.toml").write_text("# batch_size: 3\n[train]\nlearning_rate = 0.1\nepochs = 3\n")
    code, told = check(capsys, "a.toml", "a.json", "--show-skipped")
    assert code == 0
    for name in ("a.toml", "a.json"):
        assert f"passed over {name}: no program here whose imports come to TensorFlow opens it" in told
    assert "no training config among 2 files" in told
    assert "no configs found" not in told


NO_PYTHON = {
    "syntax.py": (b"import tensorflow as tf\ndef f(:\n    pass\n", 2),
    "without.py": (b"a = 1\nb = (2\n", 2),
    "nul.py": (b"a = 1\0\n", 1),
    "latin.py": (b"a = '\xe9'\n", 1),
    "wide.py": ("a = 1\n".encode("utf-16"), 1),
    "two.py": (b"import tensorflow as tf\nprint tf.data\n", 2),
    "cells.ipynb": (b'{"cells": 3', 1),
}


@pytest.mark.parametrize("name", NO_PYTHON)
@pytest.mark.parametrize("command", [[], ["--fix"], ["--output-format", "concise"], ["--select", "SRC001"]])
def test_a_named_python_file_that_cannot_be_read_is_an_error(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, command: list[str]
) -> None:
    content, line = NO_PYTHON[name]
    for place in (folder / name, folder / "tests" / f"test_{name}"):
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(content)
        inside = str(place.relative_to(folder))
        (folder / "fine.py").write_text("a = 1\n")
        for named in ([inside], ["fine.py", inside], [".", inside]):
            code, told = check(capsys, *command, *named)
            assert code == 1, told
            assert f"{inside}:{line}:" in told
            assert "nothing in this file was checked" in told
            assert "no findings" not in told
        assert place.read_bytes() == content


def test_a_python_file_from_standard_input_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(NO_PYTHON["without.py"][0])))
    code, told = check(capsys, "-", "--stdin-filename", "without.py")
    assert code == 1
    assert "without.py:2:" in told


def test_python_that_cannot_be_read_fails_no_hook_and_no_folder(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, (content, _) in NO_PYTHON.items():
        (folder / name).write_bytes(content)
        code, told = check(capsys, "--force-exclude", name)
        assert code == 0, told
    code, told = check(capsys, ".")
    assert code == 0, told
    assert "no findings in 7 Python files (2 not read)" in told  # the others name no framework


@pytest.mark.parametrize(
    ("declared", "encoding"),
    [
        ("shift_jis", "shift_jis"),
        ("KOI8-R", "koi8-r"),
        ("utf-8-unix", "utf-8"),
        ("latin-1-dos", "latin-1"),
        ("big5", "big5"),
    ],
)
def test_a_named_python_file_in_its_declared_encoding_is_read(
    folder: Path, capsys: pytest.CaptureFixture[str], declared: str, encoding: str
) -> None:
    word = {"koi8-r": "да", "latin-1": "é"}.get(encoding, "中")
    (folder / "a.py").write_bytes(f"# -*- coding: {declared} -*-\nword = '{word}'\n".encode(encoding))
    code, told = check(capsys, "a.py")
    assert code == 0
    assert "no findings in 1 Python file\n" in told


def test_numbers_of_a_json_file_that_no_code_opens_are_numbers(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = '{"learning_rate": 1e-3, "weight_decay": 5E-4, "batch_size": 8}\n'
    (folder / "alone.json").write_text(text)
    (folder / "alone.yaml").write_text("learning_rate: 1e-3\nbatch_size: 8\n")
    assert "YML001" not in check(capsys, "alone.json")[1]
    assert "YML001" in check(capsys, "alone.yaml")[1]
