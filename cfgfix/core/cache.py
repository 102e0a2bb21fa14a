"""The user's cache folder: private, optional, and never trusted further than its owner.

What is cached can always be made again. A missing home, a read-only disk, a folder that others may write to, or a
damaged entry all mean the same: no cache. Every entry carries what made it (`made_by`): when any file of cfgfix changes,
no older entry is read again.
"""

from __future__ import annotations

import marshal
import os
import stat
import sys

from cfgfix import __version__

try:
    # `hashlib` has the same function, and loads OpenSSL beside it, which takes longer than all other imports of this file.
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_ENDINGS = (".py", ".pyc", ".json")
_MADE_BY: bytes | None = None


def digest(data: bytes) -> bytes:
    """Return a short, collision-free name for some bytes."""
    found: bytes = blake2b(data, digest_size=16).digest()
    return found


def key_of(question: Any) -> bytes:
    """Return the cache key of a question: a digest of marshallable data.

    The data is everything that the answer depends on, beside cfgfix itself.
    """
    # Version 2 writes equal values alike, whether or not they share their parts.
    return digest(marshal.dumps(question, 2))


def name_of(paths: Iterable[str]) -> str:
    """Return a cache name for a set of paths, the same in whatever order they come."""
    return digest(repr(sorted(paths)).encode("utf-8", "backslashreplace")).hex()[:16]


def made_by() -> bytes:
    """Return a digest that identifies this state of cfgfix.

    The digest covers the interpreter, the version, and the state of every file of the code.
    """
    global _MADE_BY  # noqa: PLW0603 - read once a process, before anything is computed
    if _MADE_BY is None:
        _MADE_BY = key_of(
            (sys.implementation.cache_tag, sys.hexversion, __version__, *source_manifest(_PACKAGE))
        )
    return _MADE_BY


def source_manifest(folder: str) -> list[tuple[str, int, int]]:
    """Return path, time of change and size of each code and table file of a folder.

    Paths are relative to the folder, and sorted.
    """
    rows: list[tuple[str, int, int]] = []
    pending = [folder]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(_ENDINGS):
                    facts = entry.stat()
                    rows.append((os.path.relpath(entry.path, folder), facts.st_mtime_ns, facts.st_size))
                elif entry.name != "__pycache__" and entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
    rows.sort()
    return rows


def cache_folder() -> str | None:
    """Return the cache folder, made if needed, or None where there can be none."""
    named = os.environ.get("CFGFIX_CACHE_DIR")
    if named is not None:
        place = named
    else:
        base = os.environ.get("XDG_CACHE_HOME")
        if not base or not os.path.isabs(base):
            home = os.path.expanduser("~")
            if home == "~" or not os.path.isabs(home):
                return None
            base = os.path.join(home, ".cache")
        place = os.path.join(base, "cfgfix")
    if not place:
        return None
    try:
        os.makedirs(place, mode=0o700, exist_ok=True)
        facts = os.stat(place)
    except OSError:
        return None
    if hasattr(os, "getuid") and (
        facts.st_uid != os.getuid() or facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    ):
        return None
    return place


def load(name: str, key: Any) -> Any:
    """Return the value that `store` kept under a name and key, or None."""
    place = cache_folder()
    if place is None:
        return None
    try:
        with open(os.path.join(place, name), "rb") as stream:
            data = stream.read()
        maker, found_key, value = marshal.loads(data)  # noqa: S302 - the folder is the user's own, see cache_folder
    except (OSError, ValueError, EOFError, TypeError):
        return None
    return value if maker == made_by() and found_key == key else None


def store(name: str, key: Any, value: Any) -> None:
    """Keep a marshallable value under a name and key.

    A failure to do so is ignored.
    """
    place = cache_folder()
    if place is None:
        return
    target = os.path.join(place, name)
    temporary = f"{target}.{os.getpid()}.tmp"
    try:
        data = marshal.dumps((made_by(), key, value))
        with open(temporary, "wb") as stream:
            stream.write(data)
        os.replace(temporary, target)
    except (OSError, ValueError):
        try:
            os.unlink(temporary)
        except OSError:
            return
