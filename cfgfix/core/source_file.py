"""Files as text: decoding that keeps every byte recoverable, positions, and writing without a moment of loss."""

from __future__ import annotations

import errno
import os
import re
import stat as stat_module
from bisect import bisect_right
from collections.abc import Collection, Iterable
from itertools import accumulate

from cfgfix.core.errors import UnreadableError
from cfgfix.core.findings import Finding, Location
from cfgfix.core.records import dataclass
from cfgfix.core.temporary_files import TemporaryFile

MAX_BYTES = 16 * 1024 * 1024
"""Largest file that is read by default, in bytes.

Parsing runs at 5-10 MB/s, so one file takes a few seconds at most; `config.document.compose` bounds what its nodes
take. The largest of 777 real training configurations has 47,729 bytes.
"""

_BOMS: tuple[tuple[bytes, str], ...] = (
    # UTF-32 first: its little-endian mark begins with the one of UTF-16 (YAML 1.2.2, section 5.2).
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)


written: list[str] = []
"""Files that this process has written, in order: whatever goes wrong later, a message can say so."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """The state of a file on disk, told without reading the file.

    `dev` and `ino` name the file, `size` is in bytes, `mtime_ns` is nanoseconds since the epoch.
    """

    dev: int
    ino: int
    size: int
    mtime_ns: int

    @classmethod
    def from_stat(cls, status: os.stat_result) -> Stamp:
        """Return the stamp of a file from its `os.stat` result."""
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def excerpt(text: str, path: str, findings: Iterable[Finding]) -> str:
    """Return a text in which only the lines that findings point at are kept.

    Other lines are empty, and those after the last kept line are left out.

    Args:
        text: The text of a file.
        path: The file, as the findings' places name it.
        findings: Those with places in the file.
    """
    lines: Collection[int] = {
        place.line
        for finding in findings
        for place in (finding.location, *finding.related)
        if place.path == path
    }
    if not lines:
        return ""
    rows = text.replace("\r\n", "\n").replace("\r", "\n").split("\n", max(lines))
    return "\n".join(row if number in lines else "" for number, row in enumerate(rows[: max(lines)], 1))


class SourceFile:
    """One file as decoded text, with what is needed to write it back byte for byte.

    A plain class with slots, since one is made per file read; treat it as immutable. Offsets count code points
    of `text`. Lines end at a line feed, a carriage return or both together, as editors see them.

    Attributes:
        path: The name for messages, as the user gave it.
        raw: The bytes as read.
        text: The decoded text without byte order mark; line breaks are as in the file.
        encoding: `utf-8`, `utf-16-le`, `utf-16-be`, `utf-32-le` or `utf-32-be`.
        bom: The byte order mark that stood in front, or empty bytes.
        stamp: The state of the file when it was read; None for text that came from elsewhere.
        newline: The line break used most in the file; a line feed where there is none.
    """

    __slots__ = ("_starts", "bom", "encoding", "newline", "path", "raw", "stamp", "text")

    def __init__(
        self, path: str, raw: bytes, text: str, *, encoding: str, bom: bytes, stamp: Stamp | None
    ) -> None:
        self.path = path
        self.raw = raw
        self.text = text
        self.encoding = encoding
        self.bom = bom
        self.stamp = stamp
        self.newline = _dominating_newline(text)
        self._starts: list[int] | None = None

    @classmethod
    def from_bytes(
        cls, raw: bytes, path: str, stamp: Stamp | None = None, *, limit: int = MAX_BYTES
    ) -> SourceFile:
        """Decode `raw`: the encoding its byte order mark names, else UTF-8.

        Raises:
            UnreadableError: More than `limit` bytes, NUL characters (a binary file), or bytes that are not
                valid in the encoding; the message names the place.
        """
        if len(raw) > limit:
            raise _too_large(path, limit)
        bom, encoding = b"", "utf-8"
        for mark, name in _BOMS:
            if raw.startswith(mark):
                bom, encoding = mark, name
                break
        body = raw[len(bom) :]
        try:
            text = body.decode(encoding)
        except UnicodeDecodeError as error:
            offset = len(bom) + error.start
            before = body[: error.start].decode(encoding, errors="replace")
            line = 1 + before.count("\n") + before.count("\r") - before.count("\r\n")
            if b"\0" in body and encoding == "utf-8":
                raise _not_text_error(path, body) from None
            raise UnreadableError(
                f"not valid {encoding.upper()}: byte 0x{raw[offset]:02x} at offset {offset}",
                path=path,
                line=line,
                hint="save the file as UTF-8",
            ) from None
        if "\0" in text:
            raise _not_text_error(path, body)
        return cls(path, raw, text, encoding=encoding, bom=bom, stamp=stamp)

    @classmethod
    def from_text(cls, text: str, path: str = "<text>") -> SourceFile:
        """Return UTF-8 text that was never a file, such as an editor's buffer."""
        raw = text.encode("utf-8", errors="surrogatepass")
        return cls(path, raw, text, encoding="utf-8", bom=b"", stamp=None)

    def with_text(self, text: str) -> SourceFile:
        """Return the same file with other text.

        Path, encoding, byte order mark and stamp are kept.
        """
        raw = self.encode(text)
        return SourceFile(self.path, raw, text, encoding=self.encoding, bom=self.bom, stamp=self.stamp)

    def encode(self, text: str) -> bytes:
        """Return the bytes of `text` in this file's encoding, byte order mark put back.

        Raises:
            UnicodeEncodeError: `text` holds a lone surrogate, which no encoding can carry.
        """
        return self.bom + text.encode(self.encoding)

    @property
    def line_count(self) -> int:
        """Return the number of lines.

        Text after the last line break counts as one, and so does empty text.
        """
        return len(self._line_starts())

    def line_start(self, line: int) -> int:
        """Return the offset at which a 1-based line begins.

        Beyond the last line that is the end of the text.
        """
        starts = self._line_starts()
        return starts[line - 1] if 1 <= line <= len(starts) else len(self.text)

    def position(self, offset: int) -> tuple[int, int]:
        """Return the 1-based line and column of an offset, in code points.

        An offset beyond the text counts as the end of the text.
        """
        offset = max(0, min(offset, len(self.text)))
        starts = self._line_starts()
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def line_text(self, line: int) -> str:
        """Return a 1-based line without its line break.

        Empty where there is no such line.
        """
        starts = self._line_starts()
        if not 1 <= line <= len(starts):
            return ""
        end = starts[line] if line < len(starts) else len(self.text)
        return self.text[starts[line - 1] : end].rstrip("\r\n")

    def location(self, start: int, end: int, label: str | None = None) -> Location:
        """Return the span `start`..`end` (end exclusive) as a location in this file."""
        line, column = self.position(start)
        end_line, end_column = self.position(end)
        return Location(self.path, start, end, line, column, end_line, end_column, label)

    def _line_starts(self) -> list[int]:
        starts = self._starts
        if starts is None:
            text = self.text
            if "\r" in text:
                starts = [0, *(match.end() for match in re.finditer("\r\n|\r|\n", text))]
            else:
                starts = [0, *accumulate(len(part) + 1 for part in text.split("\n"))]
                starts.pop()
            self._starts = starts
        return starts


def _dominating_newline(text: str) -> str:
    if "\r" not in text:
        return "\n"
    both = text.count("\r\n")
    feeds = text.count("\n") - both
    returns = text.count("\r") - both
    if both >= feeds and both >= returns:
        return "\r\n"
    return "\n" if feeds >= returns else "\r"


def _too_large(path: str, limit: int) -> UnreadableError:
    return UnreadableError(
        f"larger than the limit of {limit:,} bytes", path=path, hint="exclude the file, or split it"
    )


def _not_text_error(path: str, body: bytes) -> UnreadableError:
    # Without its mark, UTF-16 shows as a NUL beside every ASCII character.
    sample = body[:200]
    letters = sample.replace(b"\0", b"").translate(None, b"\t\r\n")
    if (
        len(sample) >= 4
        and sample.count(b"\0") * 3 >= len(sample)
        and letters.isascii()
        and letters.decode().isprintable()
    ):
        return UnreadableError(
            "looks like UTF-16 or UTF-32 without a byte order mark", path=path, hint="save the file as UTF-8"
        )
    return UnreadableError(
        f"holds a NUL character at offset {body.find(0)}: this is a binary file",
        path=path,
        hint="exclude the file",
    )


_KINDS: tuple[tuple[int, str], ...] = (
    (stat_module.S_IFDIR, "a directory"),
    (stat_module.S_IFIFO, "a named pipe"),
    (stat_module.S_IFSOCK, "a socket"),
    (stat_module.S_IFCHR, "a character device"),
    (stat_module.S_IFBLK, "a block device"),
)


def _require_regular(mode: int, path: str) -> None:
    if stat_module.S_ISREG(mode):
        return
    kind = next((name for bits, name in _KINDS if stat_module.S_IFMT(mode) == bits), "not a regular file")
    raise UnreadableError(f"this is {kind}, not a file", path=path, hint="name a file")


def _os_error(error: OSError, path: str, doing: str) -> UnreadableError:
    hints = {
        errno.ENOENT: "check the spelling of the path",
        errno.EACCES: "check the permissions",
        errno.EPERM: "check the permissions",
        errno.ELOOP: "the symbolic links lead in a circle",
        errno.ENOSPC: "free some space",
        errno.EROFS: "the file system is mounted read-only",
    }
    reason = os.strerror(error.errno) if error.errno else str(error)
    return UnreadableError(f"cannot {doing}: {reason}", path=path, hint=hints.get(error.errno or 0))


_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def read_source(path: str | os.PathLike[str], *, limit: int = MAX_BYTES) -> SourceFile:
    """Read one regular file as text.

    Args:
        path: The file; symbolic links are followed.
        limit: The most bytes to read.

    Raises:
        UnreadableError: The file is missing, not a regular file, larger than `limit`, not permitted, or not
            text (see `SourceFile.from_bytes`). Pipes, sockets and devices are told by kind and never opened.
    """
    name = os.fspath(path)
    try:
        # Looked at before it is opened: opening a device may act on it, opening a pipe may wait.
        _require_regular(os.stat(name).st_mode, name)
        handle = os.open(name, _FLAGS)
        try:
            status = os.fstat(handle)
            # The name may lead elsewhere by now.
            _require_regular(status.st_mode, name)
            if status.st_size > limit:
                raise _too_large(name, limit)
            # One byte more than allowed: a file may grow, and files under /proc give their size as 0.
            raw = _read_up_to(handle, limit + 1, status.st_size)
        finally:
            os.close(handle)
    except OSError as error:
        raise _os_error(error, name, "read") from None
    except ValueError:
        raise UnreadableError("cannot read: the path holds a NUL character", path=repr(name)) from None
    return SourceFile.from_bytes(raw, name, Stamp.from_stat(status), limit=limit)


def _read_up_to(handle: int, most: int, size: int) -> bytes:
    """Return at most the first `most` bytes of an open file.

    `size` is the size that the system gives.
    """
    if 0 < size < most:
        # Room for one byte more tells that this was all, in one call and without a buffer for the largest file.
        first = os.read(handle, size + 1)
        if len(first) == size:
            return first
    else:
        first = b""
    chunks = [first]
    left = most - len(first)
    while left > 0:
        chunk = os.read(handle, min(left, 1 << 20))
        if not chunk:
            break
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)


def replace_atomically(path: str | os.PathLike[str], data: bytes, expected: Stamp) -> Stamp:
    """Replace the content of a file at once.

    A reader sees all of the old or all of the new bytes.

    The new bytes are written and flushed to a temporary file beside the target, which gets the target's owner,
    permission bits and, where the file system allows, its extended attributes; then it takes the target's name.
    A symbolic link stays a link: the file it leads to is replaced.

    Args:
        path: The file to replace.
        data: The new content.
        expected: The file's state when it was read.

    Returns:
        The state of the new file.

    Raises:
        UnreadableError: The file has changed since it was read, may not be written, has several hard links or
            an owner that cannot be kept, or the system refused (full disk, read-only directory). The file is
            then as it was, and no temporary file is left.
    """
    name = os.fspath(path)
    try:
        target = os.path.realpath(name)
        status = os.stat(target)
        _require_unchanged(status, expected, name)
        if not os.access(target, os.W_OK):
            raise UnreadableError(
                "cannot write: the file is read-only", path=name, hint="check the permissions"
            )
        if status.st_nlink > 1:
            raise UnreadableError(
                f"cannot write: the file has {status.st_nlink} hard links, and replacing it would part them",
                path=name,
                hint="edit it by hand, or remove the other links",
            )
        stamp = _replace_file(target, name, data, status, expected)
    except OSError as error:
        raise _os_error(error, name, "write") from None
    return stamp


def _require_unchanged(status: os.stat_result, expected: Stamp, name: str) -> None:
    if Stamp.from_stat(status) != expected:
        raise UnreadableError(
            "not written: the file has changed since it was read", path=name, hint="run cfgfix again"
        )


def _replace_file(target: str, name: str, data: bytes, status: os.stat_result, expected: Stamp) -> Stamp:
    folder = os.path.dirname(target)
    with TemporaryFile(folder, 0o600) as temporary:
        temporary.write(data)
        _keep_attributes(temporary.handle, target, name, status)
        os.fsync(temporary.handle)
        replaced = os.fstat(temporary.handle)
        # As late as can be: someone may have saved the file meanwhile.
        _require_unchanged(os.stat(target), expected, name)
        temporary.replace(target, name, written)
    _flush_folder(folder)
    return Stamp.from_stat(replaced)


def _keep_attributes(handle: int, target: str, name: str, status: os.stat_result) -> None:
    """Give an open temporary file owner, attributes and permission bits of `target`.

    They are set in that order: a change of owner clears bits, and an access list carries bits of its own, so the bits come
    last.
    """
    if hasattr(os, "fchown"):
        mine = os.fstat(handle)
        if (mine.st_uid, mine.st_gid) != (status.st_uid, status.st_gid):
            try:
                os.fchown(handle, status.st_uid, status.st_gid)
            except OSError:
                raise UnreadableError(
                    "cannot write: the file's owner or group could not be kept",
                    path=name,
                    hint="run as the owner of the file",
                ) from None
    if hasattr(os, "listxattr"):
        try:
            for attribute in os.listxattr(target):
                try:
                    os.setxattr(handle, attribute, os.getxattr(target, attribute))
                except OSError:
                    continue
        except OSError:
            pass
    if hasattr(os, "fchmod"):
        os.fchmod(handle, stat_module.S_IMODE(status.st_mode))


def _flush_folder(folder: str) -> None:
    """Flush a folder to disk, so that a new name in it survives a power cut.

    Some file systems cannot; the file is whole either way.
    """
    try:
        handle = os.open(folder or ".", os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)


def read_regular(path: str, most: int) -> bytes:
    """Return the first `most` bytes of a regular file.

    Never waits on a pipe, never opens a device.

    Raises:
        OSError: It is no regular file, or cannot be read.
    """
    if not stat_module.S_ISREG(os.stat(path).st_mode):
        raise OSError(errno.EINVAL, "not a regular file", path)
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        return _read_up_to(handle, most, os.fstat(handle).st_size)
    finally:
        os.close(handle)


def project_folder(folder: str) -> str:
    """Return the folder of the repository around a folder, or the folder itself.

    Links are followed.
    """
    folder = os.path.realpath(folder)
    here = folder
    while not os.path.exists(os.path.join(here, ".git")):
        above = os.path.dirname(here)
        if above == here:
            return folder
        here = above
    return here


def is_inside(place: str, folder: str) -> bool:
    """Tell whether a path leads to a folder or below it, links followed.

    `folder` is as `project_folder` returns it.
    """
    try:
        whole = os.path.realpath(place)
    except ValueError:
        return False
    return whole == folder or whole.startswith(folder.rstrip(os.sep) + os.sep)
