"""Files that cfgfix makes - reports, baselines, schemas, settings -, written as a whole or not at all."""

from __future__ import annotations

import contextlib
import os
import re
import stat

from cfgfix.core import source_file
from cfgfix.core.errors import UnreadableError
from cfgfix.core.temporary_files import TemporaryFile, remove_leftovers

OPEN_ALREADY = re.compile(r"/dev/(stdin|stdout|stderr|fd/.*)|/proc/.*")
"""Names of what is open already, such as `/dev/fd/63` of a shell's `>(command)`."""


def write_whole(path: str, text: str | bytes, *, new: bool = False) -> None:
    """Write a file as a whole or not at all.

    There is all of the new content or all of the old, whatever happens.

    The content goes to a temporary file beside the target, which then takes its name. A link stays a link: what it leads to is
    replaced, if that lies in the project.

    Args:
        path: The file, as the user or the settings name it; it may be there already.
        text: Its content; text is written as UTF-8, with its line breaks as they are.
        new: Refuse where something has this name already.

    Raises:
        UnreadableError: It cannot be written, or the path leads through a link out of the project. What was there is still there.
    """
    data = text.encode("utf-8", "backslashreplace") if isinstance(text, str) else text
    try:
        if _is_stream(path):
            _write_stream(path, data)
        else:
            _replace_file(require_inside(path), path, data, new=new)
    except OSError as error:
        raise UnreadableError(f"cannot be written: {error.strerror}", path=path) from error
    except ValueError as error:
        raise UnreadableError("cannot be written: the path holds a NUL character", path=path) from error


def require_inside(path: str) -> str:
    """Return the file that a path leads to, links followed.

    A path that begins in a project must end in it: a link in an untrusted checkout must not have a file elsewhere
    overwritten. Where there is no repository, the project is the working folder, or for a path elsewhere its own folder.

    Raises:
        UnreadableError: A link leads out of the project, or in a circle.
    """
    named = os.path.abspath(path)
    project = os.path.realpath(_project_of(named))
    target = os.path.realpath(named)
    if os.path.islink(target):
        raise UnreadableError("cannot be written: its links lead in a circle", path=path)
    if target != project and not target.startswith(project.rstrip(os.sep) + os.sep):
        raise UnreadableError(
            f"not written: it leads through a link to {target}, outside of the project",
            path=path,
            hint="name the file itself",
        )
    return target


def _project_of(named: str) -> str:
    """Return the project folder around an absolute path, links not followed.

    That is the repository, else the working folder, else the folder of the path.
    """
    folder = here = os.path.dirname(named)
    while not os.path.lexists(os.path.join(here, ".git")):
        above = os.path.dirname(here)
        if above == here:
            working = os.getcwd()
            below = named.startswith(working.rstrip(os.sep) + os.sep)
            return working if below else folder
        here = above
    return here


def _is_stream(path: str) -> bool:
    """Tell whether a path names a device or a pipe.

    A link to one counts only where the link is one of the system's own.
    """
    if os.name != "posix":
        return False
    named = os.path.abspath(path)
    if OPEN_ALREADY.fullmatch(named):
        return True
    try:
        mode = os.lstat(named).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def _write_stream(path: str, data: bytes) -> None:
    # Without a reader, opening a pipe would wait for ever.
    handle = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        os.set_blocking(handle, True)
        _write_all(handle, data)
    finally:
        os.close(handle)


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def _replace_file(target: str, name: str, data: bytes, *, new: bool) -> None:
    try:
        status: os.stat_result | None = os.stat(target)
    except FileNotFoundError:
        status = None
    if status is not None:
        if new:
            raise UnreadableError("is there already; it was not touched", path=name)
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableError("cannot be written: this is no file", path=name, hint="name a file")
        if not os.access(target, os.W_OK):
            raise UnreadableError(
                "cannot be written: the file is read-only", path=name, hint="check the permissions"
            )
    folder = os.path.dirname(target)
    remove_leftovers(folder)
    try:
        with TemporaryFile(folder, 0o666) as temporary:
            temporary.write(data)
            if status is not None and hasattr(os, "fchmod"):
                with contextlib.suppress(OSError):
                    os.fchown(temporary.handle, status.st_uid, status.st_gid)
                os.fchmod(temporary.handle, stat.S_IMODE(status.st_mode))
            os.fsync(temporary.handle)
            temporary.replace(target, name, source_file.written, new=new)
    except FileExistsError as error:
        raise UnreadableError("is there already; it was not touched", path=name) from error
