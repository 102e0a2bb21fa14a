"""Temporary files beside the file that they replace, what was replaced, and what killed runs have left behind.

A process holds a lock on each temporary file it writes. The system frees the locks of a process that ends, however it ends,
so a temporary file whose lock is to be had belongs to nobody any more.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Iterator

_NAME = re.compile(r"\.cfgfix-[0-9a-f]{16}\.tmp")
_FLAGS = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_EXCL
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_LOOK = (
    os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
)
_TRIES = 5
_OPEN_FILES_CAN_BE_RENAMED = os.name == "posix"


_UNFINISHED: set[str] = set()
"""Temporary files that this process is about to make, or has made and not put in place."""


def remove_unfinished() -> None:
    """Remove the temporary files that an interruption left outside a `with`."""
    for path in list(_UNFINISHED):
        _unlink_quietly(path)
        _UNFINISHED.discard(path)


class TemporaryFile:
    """A new file, open for writing, that takes the place of another or is removed.

    Used with `with`.

    Attributes:
        handle: Its descriptor.
        path: Its name.
    """

    __slots__ = ("_placed", "handle", "path")

    def __init__(self, folder: str, mode: int) -> None:
        self._placed = False
        self.handle = -1
        for _ in range(_TRIES):
            self.path = os.path.join(folder, f".cfgfix-{os.urandom(8).hex()}.tmp")
            _UNFINISHED.add(self.path)
            self.handle = os.open(self.path, _FLAGS, mode)
            # Between the two calls another run may have taken it for a leftover.
            if _try_lock(self.handle) and os.fstat(self.handle).st_nlink:
                return
            self._leave_behind()
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), folder)

    def __enter__(self) -> TemporaryFile:  # noqa: PYI034 - Self needs Python 3.11, and nobody derives from it
        return self

    def __exit__(self, *_: object) -> None:
        self._leave_behind()

    def write(self, data: bytes) -> None:
        """Write all of some bytes."""
        view = memoryview(data)
        while view:
            view = view[os.write(self.handle, view) :]

    def replace(self, target: str, name: str, written: list[str], *, new: bool = False) -> None:
        """Rename the file to its target, and add the target to the list of written files.

        Args:
            target: The file.
            name: What a user calls it.
            written: The list of the names that were written.
            new: Refuse where there is such a file.

        Raises:
            OSError: The system refuses, or there is such a file.
        """
        if not _OPEN_FILES_CAN_BE_RENAMED:
            self._close()
        with _signals_deferred():
            if new:
                # Unlike a renaming, a link is refused where the name has been taken meanwhile.
                os.link(self.path, target)
            else:
                os.replace(self.path, target)
                self._placed = True
            written.append(name)

    def _close(self) -> None:
        if self.handle >= 0:
            os.close(self.handle)
            self.handle = -1

    def _leave_behind(self) -> None:
        # Gone before its lock is: nobody else takes it for a leftover.
        if not self._placed and _OPEN_FILES_CAN_BE_RENAMED:
            _unlink_quietly(self.path)
        self._close()
        if not self._placed:
            _unlink_quietly(self.path)
        _UNFINISHED.discard(self.path)


def remove_leftovers(folder: str) -> None:
    """Remove temporary files that killed runs have left in a folder.

    A file that a process is still writing stays, and links are not followed.

    Args:
        folder: The folder to look through.
    """
    try:
        with os.scandir(folder) as entries:
            found = [entry.path for entry in entries if _NAME.fullmatch(entry.name)]
    except OSError:
        return
    for path in found:
        with contextlib.suppress(OSError):
            _remove_abandoned(path)


def _remove_abandoned(path: str) -> None:
    if not _is_own(os.lstat(path)):
        return
    handle = os.open(path, _LOOK)
    try:
        status = os.fstat(handle)
        now = os.lstat(path)
        same = (now.st_dev, now.st_ino) == (status.st_dev, status.st_ino)
        if same and _is_own(status) and _try_lock(handle, unsure=False):
            os.unlink(path)
    finally:
        os.close(handle)


def _is_own(status: os.stat_result) -> bool:
    """Tell from a file's status whether a run of this user may have written it."""
    mine = not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
    return stat.S_ISREG(status.st_mode) and mine


def _try_lock(handle: int, *, unsure: bool = True) -> bool:
    """Try to lock an open file; return False where another process holds the lock.

    The lock lasts until the file is closed. Nothing is waited for.

    Args:
        handle: The file.
        unsure: The answer where the file system has no locks.
    """
    try:
        import fcntl
    except ImportError:
        return unsure
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return unsure
    return True


@contextlib.contextmanager
def _signals_deferred() -> Iterator[None]:
    """Hold back interrupts while a file is renamed and noted as written."""
    import signal

    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _unlink_quietly(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
