"""Which folder's code is read for a file of no repository: its project's, never all that lies in a home folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cfgfix.lint.repository import repository_folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "notes.py").write_text("print(1)\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def placed(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    return folder


@pytest.mark.parametrize(
    ("files", "asked", "root"),
    [
        (("speech/train.py", "speech/conf/a.yaml"), "speech/conf/a.yaml", "speech"),
        (("speech/pyproject.toml", "speech/src/net/a.yaml"), "speech/src/net/a.yaml", "speech"),
        (("speech/train.py", "speech/nets/net.py", "speech/nets/a.yaml"), "speech/nets/a.yaml", "speech"),
        (("work/requirements.txt", "work/one/train.py", "work/one/a.yaml"), "work/one/a.yaml", "work"),
        (("lone/a.yaml",), "lone/a.yaml", "lone"),
    ],
)
def test_asked_from_the_home_folder(home: Path, files: tuple[str, ...], asked: str, root: str) -> None:
    placed(home, *files)
    assert repository_folder(asked, [asked]) == str(home / root)


@pytest.mark.parametrize("mark", ["train.py", "pyproject.toml"])
def test_the_working_folder_of_a_project(home: Path, monkeypatch: pytest.MonkeyPatch, mark: str) -> None:
    project = placed(home / "speech", mark, "conf/deep/a.yaml")
    monkeypatch.chdir(project)
    assert repository_folder("conf/deep/a.yaml", ["conf/deep/a.yaml"]) == os.path.realpath(project)


def test_a_folder_that_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = placed(home / "speech", "runs/a.yaml", "train.py")
    assert repository_folder("speech/runs/a.yaml", ["speech"]) == str(project)
    monkeypatch.chdir(project)
    assert repository_folder("runs/a.yaml", ["runs"]) == str(project)
