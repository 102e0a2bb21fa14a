"""The user's cache folder: private, optional, and never trusted further than its owner.

What is cached can always be made again. A missing home, a read-only disk, a folder that others may write to, or a
damaged entry all mean the same: no cache.
"""

from __future__ import annotations

import marshal
import os
import stat
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FORMAT = f"1-{sys.implementation.cache_tag}-{sys.hexversion:x}"
"""What every entry begins with: the interpreter that wrote it."""


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
    """Return what `store` kept under this name and key, or None."""
    place = cache_folder()
    if place is None:
        return None
    try:
        with open(os.path.join(place, name), "rb") as stream:
            data = stream.read()
        found_format, found_key, value = marshal.loads(data)  # noqa: S302 - the folder is the user's own, see cache_folder
    except (OSError, ValueError, EOFError, TypeError):
        return None
    return value if found_format == FORMAT and found_key == key else None


def store(name: str, key: Any, value: Any) -> None:
    """Keep a marshallable value under a name and key; failing to is no failure."""
    place = cache_folder()
    if place is None:
        return
    target = os.path.join(place, name)
    temporary = f"{target}.{os.getpid()}.tmp"
    try:
        data = marshal.dumps((FORMAT, key, value))
        with open(temporary, "wb") as stream:
            stream.write(data)
        os.replace(temporary, target)
    except (OSError, ValueError):
        try:
            os.unlink(temporary)
        except OSError:
            return
