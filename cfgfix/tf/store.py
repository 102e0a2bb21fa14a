"""A store of byte rows by key, in immutable files that are memory-mapped.

A file is written whole under another name and then renamed, so a reader sees all of it or nothing; writers never touch
one another's files, so they need no locks; its checksum covers every byte, so a damaged file is found, removed and its
rows are made again. Nothing in it is executed when it is read.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import struct
import time
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from cfgfix.core.errors import UnreadableError

_MAGIC = b"CFGFIXS1"
_HEAD = struct.Struct("<8s16sQQ")
"""Magic, name of the namespace, rows, bytes of data; a checksum of 32 bytes follows, then keys, offsets, data."""
_START = _HEAD.size + 32
_ENDING = ".seg"
_TEMPORARY = ".part"

MAX_SEGMENTS = 32
"""Files of one namespace before they are merged: looking a key up costs one search in each."""

OLD_SECONDS = 86_400.0
"""A temporary file of this age was left by a writer that died; no write takes a day."""


class Segment:
    """One file: sorted keys, offsets and data, all views of the mapped file."""

    __slots__ = ("data", "first", "offsets", "path", "second", "size")

    def __init__(self, path: str, namespace: bytes) -> None:
        """Map and check a file.

        Raises:
            ValueError: It is damaged, or belongs to another namespace.
            OSError: It cannot be read.
        """
        self.path = path
        mapped = np.memmap(path, np.uint8, "r")
        self.size = int(mapped.size)
        if self.size < _START:
            raise ValueError("too short")
        magic, name, rows, length = _HEAD.unpack(mapped[: _HEAD.size].tobytes())
        if magic != _MAGIC or name != namespace:
            raise ValueError("not of this namespace")
        if rows > self.size or _START + rows * 16 + (rows + 1) * 8 + length != self.size:
            raise ValueError("wrong size")
        check = blake2b(mapped[: _HEAD.size].tobytes(), digest_size=32)
        check.update(mapped.data[_START:])
        if check.digest() != mapped[_HEAD.size : _START].tobytes():
            raise ValueError("wrong checksum")
        keys = mapped[_START : _START + rows * 16].view("<u8").reshape(rows, 2)
        self.first, self.second = keys[:, 0], keys[:, 1]
        end = _START + rows * 16 + (rows + 1) * 8
        self.offsets = mapped[_START + rows * 16 : end].view("<u8")
        self.data = mapped[end:]

    def find(self, keys: Any) -> Any:
        """Return the row of each key in this file, or -1.

        `keys` is uint64 `[n, 2]`, the answer int64 `[n]`.
        """
        place = np.searchsorted(self.first, keys[:, 0])
        place = np.minimum(place, max(len(self.first) - 1, 0))
        if not len(self.first):
            return np.full(len(keys), -1, np.int64)
        hit = (self.first[place] == keys[:, 0]) & (self.second[place] == keys[:, 1])
        return np.where(hit, place, -1).astype(np.int64)

    def row(self, index: int) -> Any:
        """Return the bytes of a row as a read-only view."""
        return self.data[int(self.offsets[index]) : int(self.offsets[index + 1])]


class Store:
    """Rows of one namespace.

    Args:
        folder: Where all namespaces lie; it is made, readable by its owner alone.
        kind: What the rows are, such as `tokens`; part of the file names.
        name: 32 hexadecimal digits of everything that decides what a row is for a key.
        max_bytes: What all namespaces in the folder may take together; the files used longest ago go first.

    Raises:
        UnreadableError: The folder cannot be made.
    """

    def __init__(self, folder: str | os.PathLike[str], kind: str, name: str, *, max_bytes: int) -> None:
        self.root = os.fspath(folder)
        self.folder = os.path.join(self.root, f"{kind}-{name}")
        self.max_bytes = max_bytes
        self._namespace = bytes.fromhex(name)
        self.rebuilt: list[str] = []
        """Files that were damaged and removed."""
        try:
            os.makedirs(self.root, mode=0o700, exist_ok=True)
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
        except OSError as error:
            raise UnreadableError(
                f"the cache folder cannot be made: {error.strerror}", path=self.folder
            ) from error
        self.segments: list[Segment] = []
        self._names: set[str] = set()
        self.refresh()

    def refresh(self) -> None:
        """Open the files that others have written since."""
        for name in sorted(_list_names(self.folder)):
            path = os.path.join(self.folder, name)
            if name.endswith(_TEMPORARY):
                _remove_if_old(path)
            elif name.endswith(_ENDING) and name not in self._names:
                try:
                    self.segments.append(Segment(path, self._namespace))
                except FileNotFoundError:
                    continue
                except (ValueError, OSError):
                    self.rebuilt.append(path)
                    with contextlib.suppress(OSError):
                        os.unlink(path)
                    continue
                self._names.add(name)
                with contextlib.suppress(OSError):
                    os.utime(path)  # the time of last use, by which the oldest go first

    def find(self, keys: Any) -> tuple[Any, Any]:
        """Return the segment and the row of each key, -1 where absent.

        `keys` is uint64 `[n, 2]`, the answers int64 `[n]` each.
        """
        where = np.full(len(keys), -1, np.int64)
        rows = np.full(len(keys), -1, np.int64)
        for number, segment in enumerate(self.segments):
            open_ones = np.flatnonzero(where < 0)
            if not len(open_ones):
                break
            found = segment.find(keys[open_ones])
            hit = found >= 0
            where[open_ones[hit]] = number
            rows[open_ones[hit]] = found[hit]
        return where, rows

    def add(self, keys: Any, rows: Sequence[Any]) -> None:
        """Write rows as a new file and keep the folder within its size.

        Files are merged when there are many.

        Args:
            keys: uint64 `[n, 2]`, without repetition.
            rows: Bytes-like, one for each key.

        Raises:
            UnreadableError: The disk is full or the folder cannot be written.
        """
        if not len(keys):
            return
        self._open(self._write_rows(keys, rows))
        if len(self.segments) > MAX_SEGMENTS:
            self._merge_files()
        self._shrink_to_limit()

    def _open(self, name: str) -> None:
        if name not in self._names:
            self.segments.append(Segment(os.path.join(self.folder, name), self._namespace))
            self._names.add(name)

    def _write_rows(self, keys: Any, rows: Sequence[Any]) -> str:
        order = np.lexsort((keys[:, 1], keys[:, 0]))
        lengths = np.fromiter((memoryview(rows[index]).nbytes for index in order), np.uint64, len(order))
        offsets = np.concatenate([np.zeros(1, np.uint64), np.cumsum(lengths, dtype=np.uint64)])
        head = _HEAD.pack(_MAGIC, self._namespace, len(order), int(offsets[-1]))
        parts = [keys[order].astype("<u8").tobytes(), offsets.astype("<u8").tobytes()]
        parts.append(b"".join(memoryview(rows[index]).cast("B") for index in order))
        check = blake2b(head, digest_size=32)
        for part in parts:
            check.update(part)
        digest = check.digest()
        name = f"{digest[:16].hex()}{_ENDING}"
        temporary = os.path.join(self.folder, f"{secrets.token_hex(8)}{_TEMPORARY}")
        try:
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "wb") as stream:
                stream.write(head)
                stream.write(digest)
                for part in parts:
                    stream.write(part)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(temporary, os.path.join(self.folder, name))
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise UnreadableError(
                f"the cache cannot be written: {error.strerror}", path=self.folder
            ) from error
        _flush_folder(self.folder)
        return name

    def _merge_files(self) -> None:
        """Write all rows into one file and remove the other files.

        Readers that have the others mapped keep them.
        """
        keys: list[Any] = []
        rows: list[Any] = []
        seen: set[bytes] = set()
        for segment in self.segments:
            pairs = np.stack([segment.first, segment.second], axis=1)
            for index, pair in enumerate(pairs):
                key = pair.tobytes()
                if key not in seen:
                    seen.add(key)
                    keys.append(pair)
                    rows.append(np.ascontiguousarray(segment.row(index)))
        old = [segment.path for segment in self.segments]
        name = self._write_rows(np.stack(keys), rows)
        self._open(name)
        for path in old:
            if os.path.basename(path) != name:
                with contextlib.suppress(OSError):
                    os.unlink(path)
        # Answers of `find` name segments by number, so those that are mapped stay until the store is opened again.

    def _shrink_to_limit(self) -> None:
        """Remove the least recently used files until the folder is within its size.

        The newest file stays.
        """
        found: list[tuple[float, int, str]] = []
        for folder in _cache_folders(self.root):
            for name in _list_names(folder):
                if name.endswith(_ENDING):
                    with contextlib.suppress(OSError):
                        status = os.stat(os.path.join(folder, name))
                        found.append((status.st_mtime, status.st_size, os.path.join(folder, name)))
        total = sum(size for _, size, _ in found)
        for _, size, path in sorted(found)[:-1]:
            if total <= self.max_bytes:
                break
            with contextlib.suppress(OSError):
                os.unlink(path)
                total -= size


def _list_names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _cache_folders(root: str) -> Iterator[str]:
    for name in _list_names(root):
        path = os.path.join(root, name)
        # Only folders of this store's own naming: whatever else lies here is not ours to remove.
        if len(name.rpartition("-")[2]) == 32 and os.path.isdir(path):
            yield path


def _remove_if_old(path: str) -> None:
    with contextlib.suppress(OSError):
        if time.time() - os.stat(path).st_mtime > OLD_SECONDS:
            os.unlink(path)


def _flush_folder(folder: str) -> None:
    """Flush a folder to the disk, so that a rename in it lasts.

    Not every system can do that.
    """
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def keys_of(texts: Sequence[str]) -> Any:
    """Return the key of each text, uint64 `[n, 2]`."""
    joined = b"".join(
        blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts
    )
    return np.frombuffer(joined, "<u8").reshape(-1, 2).astype(np.uint64)
