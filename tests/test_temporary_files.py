"""Temporary files of runs that were killed are removed by the next; those of others and of living runs stay."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from cfgfix.core.temporary_files import TemporaryFile, remove_leftovers
from cfgfix.lint import runner as engine
from cfgfix.settings.reader import Settings

pytest.importorskip("fcntl", reason="not on this platform: files are not locked here")

LEFT = ".cfgfix-0123456789abcdef.tmp"
WRITE = """\
import sys, time
from cfgfix.core.temporary_files import TemporaryFile
with TemporaryFile(sys.argv[1], 0o600) as file:
    file.write(b"half")
    print("written", flush=True)
    time.sleep(600)
"""


def listed(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def writer(tmp_path):
    """A process that is writing into the folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITE, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "written\n"
    yield process
    process.kill()
    process.communicate()


def test_what_a_living_process_writes_stays_and_goes_once_it_was_killed(tmp_path, writer):
    (name,) = listed(tmp_path)
    remove_leftovers(str(tmp_path))
    assert listed(tmp_path) == [name]
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    assert listed(tmp_path) == [name]
    remove_leftovers(str(tmp_path))
    assert listed(tmp_path) == []


def test_only_files_of_that_kind_are_removed(tmp_path):
    for name in (
        ".cfgfix-notes.tmp",
        ".cfgfix-0123456789abcdef.tmp.yaml",
        "x.cfgfix-0123456789abcdef.tmp",
        ".cfgfix-0123456789ABCDEF.tmp",
    ):
        (tmp_path / name).write_text("mine")
    (tmp_path / ".cfgfix-00000000000000aa.tmp").mkdir()
    os.mkfifo(tmp_path / ".cfgfix-00000000000000bb.tmp")
    before = listed(tmp_path)
    (tmp_path / LEFT).write_text("half")
    remove_leftovers(str(tmp_path))
    assert listed(tmp_path) == before


def test_links_stay_and_so_does_what_they_lead_to(tmp_path):
    (tmp_path / "here").mkdir()
    (tmp_path / "kept").write_text("mine")
    (tmp_path / "here" / LEFT).symlink_to(tmp_path / "kept")
    remove_leftovers(str(tmp_path / "here"))
    assert (tmp_path / "here" / LEFT).is_symlink()
    assert (tmp_path / "kept").read_text() == "mine"


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="not on this platform: only root gives files away"
)
def test_files_of_another_user_stay(tmp_path):
    (tmp_path / LEFT).write_text("half")
    os.chown(tmp_path / LEFT, 12345, 12345)
    remove_leftovers(str(tmp_path))
    assert listed(tmp_path) == [LEFT]


def test_a_file_that_was_taken_for_a_leftover_is_made_again(tmp_path, monkeypatch):
    import fcntl

    real = fcntl.flock
    taken = []

    def flock(handle, how):
        if not taken:
            taken.extend(listed(tmp_path))
            (tmp_path / taken[0]).unlink()
        real(handle, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    with TemporaryFile(str(tmp_path), 0o600) as file:
        file.write(b"new")
        written = []
        file.replace(str(tmp_path / "a"), "a", written)
    assert written == ["a"]
    assert listed(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == b"new"


def folder_with_leftover(folder, text="learning_rate: 0.001\nepochs: 2\nbatch_size: 8\n"):
    folder.mkdir(parents=True)
    (folder / "c.yaml").write_text(text)
    (folder / LEFT).write_text("half")
    return folder


def run(function, path, root):
    return function(engine.Request((str(path),), settings=Settings(root=str(root))))


def test_the_next_fix_cleans_the_folders_of_the_configs_even_where_nothing_is_to_be_fixed(tmp_path):
    (tmp_path / ".git").mkdir()
    folder = folder_with_leftover(tmp_path / "configs")
    run(engine.check, tmp_path, tmp_path)
    assert (folder / LEFT).exists()
    run(engine.fix, tmp_path, tmp_path)
    assert listed(folder) == ["c.yaml"]


def test_a_folder_outside_of_the_project_that_a_link_leads_to_is_left(tmp_path):
    (tmp_path / "project" / ".git").mkdir(parents=True)
    outside = folder_with_leftover(tmp_path / "outside", "learning_rate: 1e-3\nepochs: 2\nbatch_size: 8\n")
    (tmp_path / "project" / "configs").symlink_to(outside)
    run(engine.fix, tmp_path / "project" / "configs" / "c.yaml", tmp_path / "project")
    assert LEFT in listed(outside)


def test_an_interruption_before_the_file_is_held_leaves_nothing(tmp_path, monkeypatch):
    from cfgfix.core import temporary_files

    def interrupt(_handle):
        raise KeyboardInterrupt

    monkeypatch.setattr(temporary_files, "_try_lock", interrupt)
    with pytest.raises(KeyboardInterrupt):
        temporary_files.TemporaryFile(str(tmp_path), 0o600)
    assert len(list(tmp_path.iterdir())) == 1
    temporary_files.remove_unfinished()
    assert not list(tmp_path.iterdir())


def test_a_file_that_took_its_place_is_no_longer_unfinished(tmp_path):
    from cfgfix.core import temporary_files

    target = tmp_path / "a.yaml"
    target.write_bytes(b"old")
    with temporary_files.TemporaryFile(str(tmp_path), 0o600) as made:
        made.write(b"new")
        made.replace(str(target), "a.yaml", [])
    temporary_files.remove_unfinished()
    assert target.read_bytes() == b"new"
