"""Which files a pipeline reads, and putting them out of or into the page cache for a cold or a warm run.

Nothing is written. Taking files out of the cache can slow another job that reads them, so it is done only when asked for.
"""

from __future__ import annotations

import contextlib
import os
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

MAX_FILES = 20_000
"""More are not looked up one by one; the others count as unknown."""
WARM_LIMIT = 2 << 30
"""Bytes read to warm the cache; above this "warm" would mostly measure the warming."""


@dataclass(frozen=True, slots=True)
class CacheState:
    """The share of some files that lies in the page cache."""

    files: int
    bytes: int
    cached_share: float | None
    """Of pages looked at; None where the system does not tell."""
    note: str


def data_files(names: Iterable[str], folder: str | None = None) -> tuple[str, ...]:
    """Return the paths of regular files among names, and of the files below `folder`.

    They are at most MAX_FILES, without repetition.
    """
    found: dict[str, None] = {}
    for name in names:
        if len(found) >= MAX_FILES:
            break
        if 0 < len(name) < 4096 and "\0" not in name and os.path.isfile(name):
            found[os.path.realpath(name)] = None
    if folder is not None:
        for place, _, entries in os.walk(folder):
            for entry in sorted(entries):
                if len(found) >= MAX_FILES:
                    return tuple(found)
                path = os.path.join(place, entry)
                if os.path.isfile(path):
                    found[os.path.realpath(path)] = None
    return tuple(found)


@contextlib.contextmanager
def opened_files() -> Iterator[list[str]]:
    """Collect the paths that Python code opens for reading while the body runs.

    Files that TensorFlow's own operations open are not among them.
    """
    import sys

    names: list[str] = []
    state = {"on": True}

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open" and state["on"] and len(names) < MAX_FILES:
            path, mode = arguments[0], arguments[1]
            if (
                isinstance(path, str)
                and (mode is None or "r" in str(mode))
                and not path.startswith(("/proc", "/sys", "/dev", sys.prefix))
                and not path.endswith((".py", ".pyc", ".so"))
            ):
                names.append(path)

    sys.addaudithook(hook)
    try:
        yield names
    finally:
        state["on"] = False


def supports_eviction() -> bool:
    """Return whether this system lets any user drop a file from the page cache."""
    return hasattr(os, "posix_fadvise")


def evict(files: Iterable[str]) -> None:
    """Ask the system to drop the files from its cache.

    Files that another process holds mapped stay.
    """
    for path in files:
        with contextlib.suppress(OSError):
            handle = os.open(path, os.O_RDONLY)
            try:
                os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(handle)


def warm(files: Iterable[str], limit: int = WARM_LIMIT) -> bool:
    """Read files into the page cache; return whether all were read.

    False where they are larger than the limit.
    """
    left = limit
    for path in files:
        with contextlib.suppress(OSError), open(path, "rb", buffering=0) as stream:
            while part := stream.read(1 << 20):
                left -= len(part)
                if left < 0:
                    return False
    return True


def cache_state(files: tuple[str, ...], *, sample: int = 64, seed: int = 0) -> CacheState:
    """Return the share of some files that lies in the page cache.

    A sample of pages tells; reading them does not change it.
    """
    size = 0
    for path in files:
        with contextlib.suppress(OSError):
            size += os.path.getsize(path)
    flag = getattr(os, "RWF_NOWAIT", None)
    if flag is None or not hasattr(os, "preadv"):
        return CacheState(len(files), size, None, "this system does not tell what is cached")
    chooser = random.Random(seed)  # noqa: S311 - a sample, no secret
    looked = cached = 0
    for path in chooser.sample(files, min(sample, len(files))):
        with contextlib.suppress(OSError):
            handle = os.open(path, os.O_RDONLY)
            try:
                length = os.fstat(handle).st_size
                for _ in range(4):
                    if not length:
                        break
                    try:
                        os.preadv(handle, [bytearray(1)], chooser.randrange(length), flag)
                        cached += 1
                    except BlockingIOError:
                        pass
                    looked += 1
            finally:
                os.close(handle)
    if not looked:
        return CacheState(len(files), size, None, "the file system does not tell what is cached")
    return CacheState(len(files), size, cached / looked, f"{looked} pages looked at")
