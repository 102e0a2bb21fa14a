"""Summaries of files, kept between runs in the user's cache folder.

A file that looks unchanged (size, time, inode) is not read; one that was only touched is recognised by the hash of
its bytes.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import time
from collections.abc import Sequence
from typing import Any, BinaryIO

from cfgfix.core import cache as caching

MAX_ENTRIES = 60_000
"""Most files of one store; beyond it the store is begun anew."""

Stamp = tuple[int, ...]
_Entry = tuple[Stamp, bytes, int, int, int]
_MAGIC = b"cfgfix-1"
_HEAD = len(_MAGIC) + 8
_LEFT_BEHIND = 3600
"""Seconds after which a store that is still being written is taken for one that nobody writes any more."""


class SummaryStore:
    """The summaries of one tree of files, in one file.

    An entry is `(stamp, hash of the bytes, needles found, start, length)` of the packed summary in the store's file,
    start -1 for a file without one. Packed summaries are written as they come and read one by one, so that a run holds
    none of them twice; the list of entries stands at the end of the file, and where it begins, at its start.

    Args:
        name: Tells the tree from others.
        needles: What is looked for in the files.
        enabled: Whether there is a store at all.
        writes: Whether what is new may be kept.
    """

    __slots__ = (
        "_changed",
        "_end",
        "_entries",
        "_fresh",
        "_key",
        "_name",
        "_new",
        "_old",
        "_temporary",
        "writes",
    )

    def __init__(
        self, name: str, needles: Sequence[bytes], *, enabled: bool = True, writes: bool = True
    ) -> None:
        self._name = f"source-{name}.summaries"
        self._key: Any = tuple(needles)
        self._entries: dict[str, _Entry] = {}
        self._fresh: set[str] = set()
        self._changed = False
        self._old: BinaryIO | None = None
        self._new: BinaryIO | None = None
        self._temporary = ""
        self._end = 0
        self.writes = enabled and writes
        if enabled:
            self._open_store()

    def close(self) -> None:
        """Close the store's files; what was not saved is dropped."""
        self._drop_new()
        if self._old is not None:
            self._old.close()
            self._old = None

    def by_stamp(self, path: str, stamp: Stamp) -> int | None:
        """Return the needles of a file that looks unchanged, or None."""
        entry = self._entries.get(path)
        return entry[2] if entry is not None and entry[0] == stamp else None

    def by_content(self, path: str, stamp: Stamp, content: bytes) -> int | None:
        """Return the needles of a file whose bytes are the same, or None."""
        entry = self._entries.get(path)
        if entry is None or entry[1] != content:
            return None
        self._entries[path] = (stamp, *entry[1:])
        self._changed = True
        return entry[2]

    def packed(self, path: str, stamp: Stamp) -> bytes | None:
        """Return the packed summary of a file that looks unchanged, or None."""
        entry = self._entries.get(path)
        if entry is None or entry[0] != stamp or entry[3] < 0:
            return None
        if path not in self._fresh or self._new is None:
            return self._read_entry(self._old, entry)
        found = self._read_entry(self._new, entry)
        try:
            self._new.seek(self._end)
        except OSError:
            self._give_up()
        return found

    def put(self, path: str, stamp: Stamp, content: bytes, needles: int, packed: bytes | None) -> None:
        """Keep the stamp, hash, needles and packed summary of a file."""
        if len(self._entries) >= MAX_ENTRIES:
            self._entries.clear()
            self._drop_new()
        start = length = -1
        if packed is not None and self._begin_file() and self._new is not None:
            start, length = self._end, len(packed)
            try:
                self._new.write(packed)
                self._end += length
            except OSError:
                self._give_up()
                return
            self._fresh.add(path)
        else:
            self._fresh.discard(path)
        self._entries[path] = (stamp, content, needles, start, length)
        self._changed = True

    def keep_only(self, paths: set[str]) -> None:
        """Drop the entries of files that do not exist any more."""
        for path in [path for path in self._entries if path not in paths]:
            del self._entries[path]
            self._fresh.discard(path)
            self._changed = True

    def save(self) -> None:
        """Write the store if anything changed; a failure to write is ignored."""
        if not self._changed or not self._begin_file() or self._new is None:
            return
        entries: dict[str, _Entry] = {}
        try:
            for path, entry in self._entries.items():
                start, length = entry[3:]
                if start >= 0 and path not in self._fresh:
                    packed = self._read_entry(self._old, entry)
                    if packed is None:
                        continue
                    start = self._end
                    self._new.write(packed)
                    self._end += length
                entries[path] = (*entry[:3], start, length)
            self._new.write(marshal.dumps((caching.made_by(), self._key, entries)))
            self._new.seek(0)
            self._new.write(_MAGIC + self._end.to_bytes(8, "little"))
            self._new.close()
            self._new = None
            if self._old is not None:
                self._old.close()
                self._old = None
            os.replace(self._temporary, os.path.join(os.path.dirname(self._temporary), self._name))
            self._temporary = ""
        except (OSError, ValueError):
            self._give_up()
        # The entries tell of a file that is closed: nothing more is read from it.
        self._entries.clear()
        self._fresh.clear()
        self._changed = False

    def _open_store(self) -> None:
        """Read the list of entries, if the store's file is sound and made with this key."""
        place = caching.cache_folder()
        if place is None:
            self.writes = False
            return
        stream: BinaryIO | None = None
        try:
            stream = open(os.path.join(place, self._name), "rb")  # noqa: SIM115 - open as long as the store is
            head = stream.read(_HEAD)
            if head.startswith(_MAGIC):
                stream.seek(int.from_bytes(head[len(_MAGIC) :], "little"))
                maker, found_key, entries = marshal.loads(stream.read())  # noqa: S302 - from the user's own cache folder
                if maker == caching.made_by() and found_key == self._key and isinstance(entries, dict):
                    self._entries, self._old, stream = entries, stream, None
        except (OSError, ValueError, EOFError, TypeError, OverflowError):
            pass
        finally:
            if stream is not None:
                stream.close()

    @staticmethod
    def _read_entry(stream: BinaryIO | None, entry: _Entry) -> bytes | None:
        if stream is None:
            return None
        try:
            stream.seek(entry[3])
            packed = stream.read(entry[4])
        except (OSError, ValueError):
            return None
        return packed if len(packed) == entry[4] else None

    def _begin_file(self) -> bool:
        """Begin a new file at the first call, and tell whether there is one to write to."""
        if self._new is not None or not self.writes:
            return self.writes
        place = caching.cache_folder()
        if place is None:
            self.writes = False
            return False
        self._temporary = os.path.join(place, f"{self._name}.{os.getpid()}.tmp")
        try:
            _sweep_leftovers(place)
            self._new = open(self._temporary, "w+b")  # noqa: SIM115 - open until the store is saved or closed
            self._new.write(bytes(_HEAD))
            self._end = _HEAD
        except OSError:
            self._give_up()
        return self.writes

    def _drop_new(self) -> None:
        """Drop the new file and its entries."""
        new, self._new = self._new, None
        if new is not None:
            # What stands in its buffer may find no room on the disk.
            with contextlib.suppress(OSError):
                new.close()
        if self._temporary:
            with contextlib.suppress(OSError):
                os.unlink(self._temporary)
            self._temporary = ""
        for path in self._fresh:
            self._entries.pop(path, None)
        self._fresh.clear()

    def _give_up(self) -> None:
        self.writes = False
        self._drop_new()


def _sweep_leftovers(place: str) -> None:
    """Remove the files that a killed run has left behind while it wrote."""
    with os.scandir(place) as scan:
        for entry in scan:
            if entry.name.startswith("source-") and entry.name.endswith(".tmp"):
                with contextlib.suppress(OSError):
                    if entry.stat().st_mtime < time.time() - _LEFT_BEHIND:
                        os.unlink(entry.path)


def dump(value: Any) -> bytes:
    """Return marshalled bytes."""
    return marshal.dumps(value)


def undump(data: bytes) -> Any:
    """Return what `dump` wrote, or None where the bytes are damaged."""
    try:
        return marshal.loads(data)  # noqa: S302 - from the user's own cache folder
    except (ValueError, EOFError, TypeError):
        return None
