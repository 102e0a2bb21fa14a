"""Files as text, positions, and writing without a moment of loss."""

from __future__ import annotations

import errno
import os
import socket
import stat
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfgfix.core import source_file as files
from cfgfix.core.errors import ExitCode, UnreadableError
from cfgfix.core.source_file import MAX_BYTES, SourceFile, Stamp, read_source, replace_atomically

ENCODINGS = [
    (b"", "utf-8"),
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
]
TEXT = "schlüssel: 值\r\nb: \U0001f600 # c\rlast"


# --- Decoding ---


@pytest.mark.parametrize(("bom", "encoding"), ENCODINGS)
def test_every_encoding_comes_back_byte_for_byte(bom: bytes, encoding: str) -> None:
    raw = bom + TEXT.encode(encoding)
    source = SourceFile.from_bytes(raw, "a.yaml")
    assert (source.text, source.encoding, source.bom) == (TEXT, encoding, bom)
    assert source.encode(source.text) == raw


@given(
    st.text(alphabet=st.characters(exclude_characters="\0\ufeff", exclude_categories=["Cs"])),
    st.sampled_from(ENCODINGS),
)
def test_any_text_comes_back(text: str, form: tuple[bytes, str]) -> None:
    bom, encoding = form
    raw = bom + text.encode(encoding)
    source = SourceFile.from_bytes(raw, "a.yaml")
    assert source.encode(source.text) == raw
    assert source.with_text(text + "x").raw == raw + "x".encode(encoding)


def test_other_text_keeps_path_encoding_mark_and_stamp() -> None:
    stamp = Stamp(1, 2, 3, 4)
    source = SourceFile.from_bytes(b"\xfe\xff" + "a: 1".encode("utf-16-be"), "a.yaml", stamp)
    other = source.with_text("a: 2")
    assert (other.path, other.encoding, other.bom, other.stamp) == ("a.yaml", "utf-16-be", b"\xfe\xff", stamp)
    assert other.raw == b"\xfe\xff" + "a: 2".encode("utf-16-be")


@pytest.mark.parametrize(
    ("text", "newline"),
    [
        ("", "\n"),
        ("a", "\n"),
        ("a\nb\r\nc\nd", "\n"),
        ("a\r\nb\r\nc\n", "\r\n"),
        ("a\rb\rc\n", "\r"),
        ("a\rb\nc", "\n"),
        ("a\r\nb\nc", "\r\n"),
    ],
)
def test_the_dominating_newline(text: str, newline: str) -> None:
    assert SourceFile.from_text(text).newline == newline


def test_invalid_utf8_names_byte_offset_and_line() -> None:
    with pytest.raises(UnreadableError) as caught:
        SourceFile.from_bytes("a: 1\r\nb: ü".encode() + b"\xff\n", "a.yaml")
    error = caught.value
    assert error.code is ExitCode.UNREADABLE
    assert (error.path, error.line) == ("a.yaml", 2)
    assert str(error) == "a.yaml:2: not valid UTF-8: byte 0xff at offset 11 (save the file as UTF-8)"


def test_invalid_utf16_counts_lines_and_the_mark() -> None:
    raw = b"\xff\xfe" + "a\nb".encode("utf-16-le") + b"\x00\xd8"
    with pytest.raises(UnreadableError, match=r"a\.yaml:2: not valid UTF-16-LE: byte 0x00 at offset 8"):
        SourceFile.from_bytes(raw, "a.yaml")


@pytest.mark.parametrize("raw", [b"a: \0b", b"\x7fELF\x02\x01\x01\0\0\xff\xfe", b"\x80\x04\0\0"])
def test_a_binary_file_is_told(raw: bytes) -> None:
    with pytest.raises(UnreadableError, match=r"NUL character at offset .*binary"):
        SourceFile.from_bytes(raw, "model.bin")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le"])
def test_wide_text_without_a_mark_is_told_as_such(encoding: str) -> None:
    with pytest.raises(UnreadableError, match="UTF-16 or UTF-32 without a byte order mark"):
        SourceFile.from_bytes("batch_size: 32\n".encode(encoding), "a.yaml")


def test_the_limit_is_exact() -> None:
    assert SourceFile.from_bytes(b"x" * 10, "a", limit=10).text == "x" * 10
    with pytest.raises(UnreadableError, match="larger than the limit of 10 bytes"):
        SourceFile.from_bytes(b"x" * 11, "a", limit=10)


# --- Positions ---


def naive_position(text: str, offset: int) -> tuple[int, int]:
    line, column, index = 1, 1, 0
    while index < offset:
        if text.startswith("\r\n", index):
            if offset == index + 1:
                return line, column + 1
            index += 2
            line, column = line + 1, 1
            continue
        line, column = (line + 1, 1) if text[index] in "\r\n" else (line, column + 1)
        index += 1
    return line, column


@given(st.text(alphabet="ab\r\n\u2028é", max_size=30))
def test_positions_of_every_offset(text: str) -> None:
    source = SourceFile.from_text(text)
    lines = set()
    for offset in range(len(text) + 1):
        line, column = source.position(offset)
        assert (line, column) == naive_position(text, offset)
        assert source.line_start(line) + column - 1 == offset
        lines.add(line)
    assert max(lines) == source.line_count


@given(st.text(alphabet="ab\r\n\u2028é", max_size=30))
def test_lines_are_the_text_between_breaks(text: str) -> None:
    source = SourceFile.from_text(text)
    expected = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert [source.line_text(number) for number in range(1, source.line_count + 1)] == expected
    assert source.line_text(0) == source.line_text(source.line_count + 1) == ""


def test_positions_beyond_the_text_count_as_its_end() -> None:
    source = SourceFile.from_text("ab\nc")
    assert source.position(99) == (2, 2)
    assert source.position(-1) == (1, 1)
    assert source.line_start(9) == 4


def test_locations_count_code_points() -> None:
    source = SourceFile.from_text("# \U0001f600\r\nключ: 5\n", "a.yaml")
    start = source.text.index("5")
    place = source.location(start, start + 1, "here")
    assert (place.path, place.line, place.column, place.end_line, place.end_column) == ("a.yaml", 2, 7, 2, 8)
    assert (place.start, place.end, place.label) == (start, start + 1, "here")


# --- Reading ---


def test_reading_keeps_newlines_and_stamps_the_state(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(b"a: 1\r\nb: 2\r")
    source = read_source(path)
    assert source.text == "a: 1\r\nb: 2\r"
    assert source.stamp == Stamp.from_stat(path.stat())
    assert source.path == str(path)


def test_an_empty_file_is_empty_text(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").touch()
    assert read_source(tmp_path / "a.yaml").text == ""


def test_a_missing_file_and_a_directory_are_told(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match=r"cannot read: No such file.*check the spelling"):
        read_source(tmp_path / "none.yaml")
    with pytest.raises(UnreadableError, match="this is a directory"):
        read_source(tmp_path)


def test_a_name_with_a_nul_is_told() -> None:
    with pytest.raises(UnreadableError, match="NUL"):
        read_source("a\0b.yaml")


def test_a_circle_of_links_is_told(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(UnreadableError, match="symbolic links lead in a circle"):
        read_source(tmp_path / "a")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="not on this platform")
def test_a_pipe_is_told_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnreadableError, match="this is a named pipe"):
        read_source(tmp_path / "pipe")


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="not on this platform")
def test_a_socket_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        with pytest.raises(UnreadableError, match="this is a socket"):
            read_source("s")


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="not on this platform")
def test_a_device_is_told() -> None:
    with pytest.raises(UnreadableError, match="this is a character device"):
        read_source("/dev/zero")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="not on this platform")
def test_a_pipe_that_takes_the_place_of_the_file_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a: 1\n")
    real = os.open

    def swap(name: str, *rest: int) -> int:
        path.unlink()
        os.mkfifo(path)
        return real(name, *rest)

    monkeypatch.setattr(files.os, "open", swap)
    with pytest.raises(UnreadableError, match="this is a named pipe"):
        read_source(path)


def test_an_unreadable_file_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a: 1\n")

    def refuse(*_: object) -> int:
        raise PermissionError(errno.EACCES, "no")

    # Refused by hand: whoever runs the tests as root may read everything.
    monkeypatch.setattr(files.os, "open", refuse)
    with pytest.raises(UnreadableError, match=r"cannot read: Permission denied.*check the permissions"):
        read_source(path)


def test_a_file_of_100_mb_is_refused_without_being_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "big.yaml"
    with path.open("wb") as handle:
        handle.truncate(100 * 1024 * 1024)
    monkeypatch.setattr(files.os, "read", lambda *_: pytest.fail("the file was read"))
    with pytest.raises(UnreadableError, match=f"larger than the limit of {MAX_BYTES:,} bytes"):
        read_source(path)


def test_a_file_that_grows_while_it_is_read_stays_within_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(b"x")
    real = os.fstat

    def then_grow(handle: int) -> os.stat_result:
        status = real(handle)
        path.write_bytes(b"x" * 100)
        return status

    monkeypatch.setattr(files.os, "fstat", then_grow)
    with pytest.raises(UnreadableError, match="larger than the limit of 50 bytes"):
        read_source(path, limit=50)


# --- Writing ---


def stamped(path: Path, content: bytes = b"old\n") -> Stamp:
    path.write_bytes(content)
    return Stamp.from_stat(path.stat())


def leftovers(folder: Path) -> list[str]:
    return sorted(name for name in os.listdir(folder) if name.startswith(".cfgfix"))


def test_writing_replaces_content_and_keeps_the_mode(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    stamp = stamped(path)
    path.chmod(0o640)
    stamp = Stamp.from_stat(path.stat())
    new = replace_atomically(path, b"new\n", stamp)
    assert path.read_bytes() == b"new\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert new == Stamp.from_stat(path.stat())
    assert leftovers(tmp_path) == []


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="not on this platform")
def test_writing_keeps_extended_attributes_where_there_are_any(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    stamp = stamped(path)
    try:
        os.setxattr(path, "user.note", b"mine")
    except OSError:
        supported = False
    else:
        supported = True
    replace_atomically(path, b"new\n", stamp)
    assert path.read_bytes() == b"new\n"
    assert ("user.note" in os.listxattr(path)) == supported


def test_a_symbolic_link_stays_one_and_its_target_changes(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    target = tmp_path / "deep" / "real.yaml"
    stamp = stamped(target)
    link = tmp_path / "link.yaml"
    link.symlink_to(os.path.join("deep", "real.yaml"))
    replace_atomically(link, b"new\n", stamp)
    assert link.is_symlink()
    assert os.readlink(link) == os.path.join("deep", "real.yaml")
    assert target.read_bytes() == b"new\n"
    assert leftovers(tmp_path) == leftovers(tmp_path / "deep") == []


def test_a_name_as_long_as_names_get_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 250 + ".yaml")
    replace_atomically(path, b"new\n", stamped(path))
    assert path.read_bytes() == b"new\n"


def test_a_name_without_a_folder_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    replace_atomically("a.yaml", b"new\n", stamped(tmp_path / "a.yaml"))
    assert (tmp_path / "a.yaml").read_bytes() == b"new\n"


def test_a_file_changed_since_it_was_read_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    stamp = stamped(path)
    path.write_bytes(b"someone else's\n")
    with pytest.raises(UnreadableError, match=r"changed since it was read.*run cfgfix again"):
        replace_atomically(path, b"new\n", stamp)
    assert path.read_bytes() == b"someone else's\n"
    assert leftovers(tmp_path) == []


def test_a_file_changed_while_the_new_one_is_written_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.yaml"
    stamp = stamped(path)
    real = os.fsync

    def meanwhile(handle: int) -> None:
        path.write_bytes(b"someone else's\n")
        real(handle)

    monkeypatch.setattr(files.os, "fsync", meanwhile)
    with pytest.raises(UnreadableError, match="changed since it was read"):
        replace_atomically(path, b"new\n", stamp)
    assert path.read_bytes() == b"someone else's\n"
    assert leftovers(tmp_path) == []


def test_a_file_that_is_gone_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    stamp = stamped(path)
    path.unlink()
    with pytest.raises(UnreadableError, match="cannot write: No such file"):
        replace_atomically(path, b"new\n", stamp)
    assert not path.exists()


def test_hard_links_are_not_parted(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    stamped(path)
    os.link(path, tmp_path / "b.yaml")
    with pytest.raises(UnreadableError, match="2 hard links"):
        replace_atomically(path, b"new\n", Stamp.from_stat(path.stat()))
    assert (tmp_path / "b.yaml").read_bytes() == path.read_bytes() == b"old\n"


def test_a_read_only_file_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.yaml"
    stamp = stamped(path)
    monkeypatch.setattr(files.os, "access", lambda *_: False)
    with pytest.raises(UnreadableError, match="the file is read-only"):
        replace_atomically(path, b"new\n", stamp)
    assert path.read_bytes() == b"old\n"


@pytest.mark.parametrize(
    ("function", "number", "message"),
    [
        ("open", errno.EACCES, "Permission denied.*check the permissions"),
        ("open", errno.EROFS, "Read-only file system"),
        ("write", errno.ENOSPC, "No space left.*free some space"),
        ("fsync", errno.EIO, "Input/output error"),
        ("replace", errno.EPERM, "Operation not permitted"),
    ],
)
def test_whatever_fails_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str, number: int, message: str
) -> None:
    path = tmp_path / "a.yaml"
    stamp = stamped(path)

    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(files.os, function, fail)
        with pytest.raises(UnreadableError, match=message):
            replace_atomically(path, b"new\n", stamp)
    assert path.read_bytes() == b"old\n"
    assert leftovers(tmp_path) == []


def test_an_interruption_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.yaml"
    stamp = stamped(path)

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(files.os, "fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            replace_atomically(path, b"new\n", stamp)
    assert path.read_bytes() == b"old\n"
    assert leftovers(tmp_path) == []


@pytest.mark.skipif(not hasattr(os, "fchown"), reason="not on this platform")
def test_an_owner_that_cannot_be_kept_stops_the_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.yaml"
    stamp = stamped(path)
    real = os.fstat

    def another_group(handle: int) -> os.stat_result:
        status = list(real(handle))
        status[5] += 1
        return os.stat_result(status)

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "no")

    with monkeypatch.context() as patch:
        patch.setattr(files.os, "fstat", another_group)
        patch.setattr(files.os, "fchown", refuse)
        with pytest.raises(UnreadableError, match="owner or group could not be kept"):
            replace_atomically(path, b"new\n", stamp)
    assert path.read_bytes() == b"old\n"
    assert leftovers(tmp_path) == []


@pytest.mark.skipif(
    not hasattr(os, "fchown") or os.geteuid() != 0, reason="not on this platform: only root gives files away"
)
def test_the_owner_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    stamped(path)
    os.chown(path, 65534, 65534)
    path.chmod(0o604)
    replace_atomically(path, b"new\n", Stamp.from_stat(path.stat()))
    status = path.stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (65534, 65534, 0o604)


def test_short_writes_are_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.yaml"
    stamp = stamped(path)
    real = os.write
    monkeypatch.setattr(files.os, "write", lambda handle, data: real(handle, bytes(data[:1])))
    replace_atomically(path, b"new text\n", stamp)
    assert path.read_bytes() == b"new text\n"


def test_a_reader_sees_all_old_or_all_new_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    stamp = stamped(path, b"a" * 5000)
    with path.open("rb") as held:
        replace_atomically(path, b"b" * 5000, stamp)
        assert held.read() == b"a" * 5000
    assert path.read_bytes() == b"b" * 5000


def test_nothing_heavy_is_imported() -> None:
    import subprocess

    heavy = ["tempfile", "shutil", "pathlib", "typing", "yaml", "subprocess", "logging"]
    code = f"import sys, cfgfix.core.source_file; print([name for name in {heavy!r} if name in sys.modules])"
    answer = subprocess.run(
        [sys.executable, "-S", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(files.__file__).parent.parent.parent,
    )
    assert answer.stdout.strip() == "[]"
