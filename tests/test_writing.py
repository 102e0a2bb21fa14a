"""Files that cfgfix makes: whole or not at all, and never through a link that leaves the project."""

from __future__ import annotations

import os
import socket
import stat
import threading

import pytest

from cfgfix.core import writing
from cfgfix.core.errors import UnreadableError
from cfgfix.core.writing import write_whole

OLD = "what was there\n"


@pytest.fixture
def project(tmp_path, monkeypatch):
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    (folder / "sub").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "victim").write_text(OLD)
    monkeypatch.chdir(folder)
    return folder


def leftovers(folder):
    return list(folder.rglob(".cfgfix-*"))


def test_new_and_again(project):
    old = os.umask(0o027)
    try:
        write_whole("sub/a.json", "one\r\n\udcff")
    finally:
        os.umask(old)
    path = project / "sub" / "a.json"
    assert path.read_bytes() == b"one\r\n\\udcff"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    write_whole(str(path), b"\xfftwo")
    assert path.read_bytes() == b"\xfftwo"
    assert stat.S_IMODE(path.stat().st_mode) == 0o604
    assert not leftovers(project)


def test_new_only(project):
    write_whole("a", "x", new=True)
    (project / "link").symlink_to("nowhere")
    write_whole("link", "through", new=True)
    assert (project / "nowhere").read_text() == "through"
    for name in ("a", "link"):
        with pytest.raises(UnreadableError, match="there already"):
            write_whole(name, "y", new=True)
    assert (project / "a").read_text() == "x"
    assert not leftovers(project)


@pytest.mark.parametrize("failing", ["write", "fsync", "replace"])
def test_what_fails_leaves_what_was_there(project, monkeypatch, failing):
    (project / "a").write_text(OLD)

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing.os, failing, fail)
    with pytest.raises(UnreadableError, match="No space left"):
        write_whole("a", "new")
    assert (project / "a").read_text() == OLD
    assert not leftovers(project)


def test_an_interruption_leaves_what_was_there(project, monkeypatch):
    (project / "a").write_text(OLD)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(writing.os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_whole("a", "new")
    assert (project / "a").read_text() == OLD
    assert not leftovers(project)


def test_links_inside_stay_links(project):
    (project / "sub" / "real").write_text(OLD)
    (project / "link").symlink_to("sub/real")
    write_whole("link", "new")
    assert (project / "link").is_symlink()
    assert (project / "sub" / "real").read_text() == "new"


def links_out(project, outside):
    (project / "file").symlink_to(outside / "victim")
    (project / "folder").symlink_to(outside)
    (project / "new").symlink_to(outside / "made")
    (project / "chain").symlink_to("file")
    (project / "sub" / "up").symlink_to("../../outside/victim")
    return ["file", "folder/victim", "folder/made", "new", "chain", "sub/up", "sub/../file"]


def test_links_that_leave_are_refused(project, tmp_path, monkeypatch):
    outside = tmp_path / "outside"
    named = links_out(project, outside)
    for path in [*named, *(str(project / name) for name in named)]:
        with pytest.raises(UnreadableError, match="outside of the project"):
            write_whole(path, "new")
    # From a folder above, below or beside the project, it is the same project.
    for folder in (tmp_path, project / "sub", outside):
        monkeypatch.chdir(folder)
        for name in named:
            with pytest.raises(UnreadableError, match="outside of the project"):
                write_whole(os.path.relpath(project / name), "new")
    assert [path.name for path in outside.iterdir()] == ["victim"]
    assert (outside / "victim").read_text() == OLD


def test_without_a_repository_the_working_folder_is_the_project(tmp_path, monkeypatch):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "victim").write_text(OLD)
    folder = tmp_path / "folder"
    (folder / "sub").mkdir(parents=True)
    monkeypatch.chdir(folder)
    for path in links_out(folder, outside):
        with pytest.raises(UnreadableError, match="outside of the project"):
            write_whole(path, "new")
    (folder / "sub" / "in").symlink_to("../here")
    write_whole("sub/in", "new")
    assert (folder / "here").read_text() == "new"


def test_a_project_that_is_reached_by_a_link_is_a_project(tmp_path, project, monkeypatch):
    (tmp_path / "name").symlink_to(project)
    monkeypatch.chdir(tmp_path)
    write_whole("name/a", "new")
    write_whole(str(tmp_path / "name" / "sub" / "b"), "new")
    assert (project / "a").read_text() == (project / "sub" / "b").read_text() == "new"


def test_a_file_elsewhere_that_is_named_itself_is_written(project, tmp_path):
    write_whole(str(tmp_path / "outside" / "report"), "new")
    write_whole("../outside/other", "new")
    assert sorted(path.name for path in (tmp_path / "outside").iterdir()) == ["other", "report", "victim"]


def test_links_to_devices_are_refused_and_devices_written(project, capfd):
    (project / "null").symlink_to("/dev/null")
    with pytest.raises(UnreadableError, match="outside of the project"):
        write_whole("null", "new")
    write_whole("/dev/null", "new")
    write_whole("/dev/stdout", "told\n")
    assert capfd.readouterr().out == "told\n"
    with pytest.raises(UnreadableError, match="No space left"):
        write_whole("/dev/full", "new")


def test_a_file_that_standard_output_goes_to(project):
    handle = os.open(project / "out", os.O_WRONLY | os.O_CREAT)
    try:
        write_whole(f"/dev/fd/{handle}", "new")
    finally:
        os.close(handle)
    assert (project / "out").read_text() == "new"


def test_pipes_never_wait_for_a_reader_and_are_written_as_a_whole(project):
    os.mkfifo(project / "pipe")
    with pytest.raises(UnreadableError, match="cannot be written"):
        write_whole("pipe", "new")
    text = "x" * 1_000_000
    reader = os.open(project / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(reader, True)
    got = []

    def read():
        # As long as nobody has the other end open, a read gives nothing: only the whole text ends it.
        parts = []
        while sum(map(len, parts)) < len(text):
            parts.append(os.read(reader, 65_536))
        os.close(reader)
        got.append(b"".join(parts).decode())

    thread = threading.Thread(target=read)
    thread.start()
    write_whole("pipe", text)
    thread.join(30)
    assert got == [text]
    assert stat.S_ISFIFO((project / "pipe").stat().st_mode)


def test_what_is_no_file_is_told(project):
    (project / "circle").symlink_to("circle")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        for path, words in [
            ("sub", "no file"),
            ("s", "no file"),
            ("absent/a", "No such file"),
            ("circle", "circle"),
            ("x" * 300, "too long"),
            ("a\0b", "NUL"),
            ("", "no file"),
        ]:
            with pytest.raises(UnreadableError, match=words):
                write_whole(path, "new")


def test_a_read_only_file_stays(project, monkeypatch):
    (project / "a").write_text(OLD)
    monkeypatch.setattr(writing.os, "access", lambda *_: False)
    with pytest.raises(UnreadableError, match="read-only"):
        write_whole("a", "new")
    assert (project / "a").read_text() == OLD


def test_another_hard_link_keeps_its_content(project, tmp_path):
    os.link(tmp_path / "outside" / "victim", project / "hard")
    write_whole("hard", "new")
    assert (tmp_path / "outside" / "victim").read_text() == OLD
