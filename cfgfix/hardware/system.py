"""Reading the system's small text files under any root, and the mounts."""

from __future__ import annotations

import os
from typing import NamedTuple

MAX_BYTES = 4 << 20
"""A mountinfo of a busy container host has a few thousand lines; nothing read here is larger."""

Root = str | os.PathLike[str]


class Mount(NamedTuple):
    """One line of /proc/self/mountinfo."""

    device: str
    """`major:minor`."""
    root: str
    """The part of the file system that is mounted."""
    point: str
    kind: str
    source: str
    options: tuple[str, ...]
    """The options of the file system itself; for cgroup v1 these name the controllers."""


def path_below(root: Root, path: str) -> str:
    """Return the place of an absolute system path below `root`."""
    return os.path.join(os.fspath(root), path.lstrip("/"))


def is_real(root: Root) -> bool:
    """Tell whether `root` is the real root of this machine.

    Then system calls and files are about the same machine.
    """
    return os.fspath(root) == "/"


def read_text(root: Root, path: str) -> str | None:
    """Return the text of a system file, or None where it cannot be read."""
    try:
        handle = os.open(
            path_below(root, path), os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
        )
    except (OSError, ValueError):
        return None
    try:
        parts: list[bytes] = []
        size = 0
        while size < MAX_BYTES:
            part = os.read(handle, 65536)
            if not part:
                break
            parts.append(part)
            size += len(part)
    except OSError:
        return None
    finally:
        os.close(handle)
    return b"".join(parts).decode("utf-8", "surrogateescape")


def read_word(root: Root, path: str) -> str | None:
    """Return the text of a one-line system file, stripped, or None."""
    text = read_text(root, path)
    return None if text is None else text.strip()


def read_count(root: Root, path: str) -> int | None:
    """Return the whole number that a system file holds, or None (also for `max`)."""
    word = read_word(root, path)
    return to_count(word)


def to_count(word: str | None) -> int | None:
    """Return the whole number that a word spells in plain digits, or None."""
    if word is None or not word.isascii() or not word.isdigit() or len(word) > 20:
        return None
    return int(word)


def count_list(text: str | None) -> frozenset[int] | None:
    """Return the numbers in a list such as `0-3,8,10-11`.

    None where the text is no such list.
    """
    if text is None:
        return None
    numbers: set[int] = set()
    for part in text.strip().split(","):
        if not part.strip():
            continue
        first, _, last = part.strip().partition("-")
        low, high = to_count(first), to_count(last or first)
        if low is None or high is None or high < low or high - low > 65535:
            return None
        numbers.update(range(low, high + 1))
    return frozenset(numbers) or None


def _unescaped_path(text: str) -> str:
    """Return a path with the kernel's octal escapes for blanks and backslashes undone."""
    if "\\" not in text:
        return text
    for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, char)
    return text


def mounts(root: Root) -> list[Mount]:
    """Return the mounts this process sees, in the order in which they were made."""
    text = read_text(root, "/proc/self/mountinfo")
    found: list[Mount] = []
    for line in (text or "").splitlines():
        left, separator, right = line.partition(" - ")
        first, last = left.split(" "), right.split(" ")
        if not separator or len(first) < 6 or len(last) < 2:
            continue
        options = tuple(last[2].split(",")) if len(last) > 2 else ()
        found.append(
            Mount(
                first[2],
                _unescaped_path(first[3]),
                _unescaped_path(first[4]),
                last[0],
                _unescaped_path(last[1]),
                options,
            )
        )
    return found
