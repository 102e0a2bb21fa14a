"""Summaries and results, kept between runs in the user's cache folder.

A file that looks unchanged (size, time, inode) is not read; one that was only touched is recognised by the hash of
its bytes. A whole tree that is unchanged, asked the same question, is answered without looking at any summary.
"""

from __future__ import annotations

import marshal
from typing import Any

from cfgfix import caching
from cfgfix.source.summary import VERSION

MAX_ENTRIES = 60_000
"""Most files of one store; beyond it the store is begun anew."""

Stamp = tuple[int, ...]


def digest(data: bytes) -> bytes:
    """Return a short, collision-free name for some bytes."""
    import hashlib

    return hashlib.blake2b(data, digest_size=16).digest()


class SummaryStore:
    """The summaries of one tree of files.

    An entry is `(stamp, hash of the bytes, needles found, packed summary or None)`; the packed summary is kept as
    marshalled bytes, so that loading the store does not build what is not asked for.
    """

    __slots__ = ("_changed", "_entries", "_key", "_name", "enabled")

    def __init__(self, name: str, key: object, *, enabled: bool = True) -> None:
        self._name = f"source-{name}.marshal"
        self._key = ("source", VERSION, key)
        self.enabled = enabled
        loaded = caching.load(self._name, self._key) if enabled else None
        self._entries: dict[str, tuple[Stamp, bytes, int, bytes | None]] = (
            loaded if isinstance(loaded, dict) else {}
        )
        self._changed = False

    def by_stamp(self, path: str, stamp: Stamp) -> tuple[int, bytes | None] | None:
        """Return needles and packed summary of a file that looks unchanged, or None."""
        entry = self._entries.get(path)
        return (entry[2], entry[3]) if entry is not None and entry[0] == stamp else None

    def by_content(self, path: str, stamp: Stamp, content: bytes) -> tuple[int, bytes | None] | None:
        """Return needles and packed summary of a file whose bytes are the same, or None."""
        entry = self._entries.get(path)
        if entry is None or entry[1] != content:
            return None
        self._entries[path] = (stamp, entry[1], entry[2], entry[3])
        self._changed = True
        return entry[2], entry[3]

    def put(self, path: str, stamp: Stamp, content: bytes, needles: int, packed: bytes | None) -> None:
        """Keep what was found out about a file."""
        if len(self._entries) >= MAX_ENTRIES:
            self._entries.clear()
        self._entries[path] = (stamp, content, needles, packed)
        self._changed = True

    def keep_only(self, paths: set[str]) -> None:
        """Drop the entries of files that are no more."""
        for path in [path for path in self._entries if path not in paths]:
            del self._entries[path]
            self._changed = True

    def save(self) -> None:
        """Write the store if anything changed."""
        if self._changed and self.enabled:
            caching.store(self._name, self._key, self._entries)
            self._changed = False


def load_result(name: str, key: object) -> Any:
    """Return the kept result for a tree and a question, or None."""
    return caching.load(f"scan-{name}.marshal", ("scan", VERSION, key))


def store_result(name: str, key: object, result: Any) -> None:
    """Keep the result for a tree and a question."""
    caching.store(f"scan-{name}.marshal", ("scan", VERSION, key), result)


def dump(value: Any) -> bytes:
    """Return marshalled bytes."""
    return marshal.dumps(value)


def undump(data: bytes) -> Any:
    """Return what `dump` wrote, or None where the bytes are damaged."""
    try:
        return marshal.loads(data)  # noqa: S302 - from the user's own cache folder
    except (ValueError, EOFError, TypeError):
        return None
