"""The answer of an unchanged run, again: same arguments, same files, same cfgfix, same output.

This module is imported before anything else and imports next to nothing. An entry holds what every consulted file and
folder looked like (inode, size, times), which consulted paths did not exist, what was printed, and the exit code.
Anything that cannot be told by that - a live GPU, standard input, a fix, an error - is never kept.
"""

from __future__ import annotations

import os
import sys

from cfgfix.core import cache as caching

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_VARIABLES = (
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR_FORCE",
    "TERM",
    "COLUMNS",
    "CUDA_VISIBLE_DEVICES",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYTHONIOENCODING",
    "PYTHONUTF8",
    "LC_ALL",
    "LANG",
    "GITHUB_ACTIONS",
    "TF_BUILD",
)
_RECENT_NS = 1_000_000_000
"""A file changed within the last second might change again without its time changing: such a run is not kept."""
GPU_PATHS = (
    "/dev/nvidiactl",
    "/dev/nvidia0",
    "/proc/driver/nvidia/version",
    "/dev/dxg",
    "/dev/nvhost-gpu",
    "/dev/nvgpu",
)
"""Where a GPU would show; a run that found none is repeated only while there is none."""
_LIVE = ("auto",)


def key_of(arguments: Sequence[str]) -> tuple[object, ...] | None:
    """Return the cache key of a run, or None where its answer may not be repeated."""
    if not arguments or arguments[0] != "check":
        return None
    previous = ""
    for argument in arguments[1:]:
        if argument in (
            "-",
            "--fix",
            "--diff",
            "--show-settings",
            "--watch",
            "-h",
            "--help",
        ) or argument.startswith(("--output-file", "--write-baseline", "--add-ignores")):
            return None
        if argument == "--hardware=auto" or (previous == "--hardware" and argument in _LIVE):
            return None
        previous = argument
    try:
        here = os.getcwd()
    except OSError:
        return None
    return (
        tuple(arguments),
        here,
        tuple(os.environ.get(name) for name in _VARIABLES),
        sys.stdout.isatty(),
        sys.stdout.encoding,
        sys.flags.utf8_mode,
        sys.getfilesystemencoding(),
        sys.prefix,
    )


def _run_name(key: tuple[object, ...]) -> str:
    import zlib

    return f"run-{zlib.crc32(repr(key).encode('utf-8', 'backslashreplace')):08x}"


def _file_state(path: str) -> tuple[int, int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    # Anybody can set the time of change back (`cp -p`, `touch -r`, an archive); the time of the inode nobody can.
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def print_kept_answer(arguments: Sequence[str]) -> int | None:
    """Print the kept output of the same run and return its exit code.

    None, and nothing is printed, where a file has changed or nothing was kept.
    """
    key = key_of(arguments)
    if key is None or caching.cache_folder() is None:
        return None
    entry = caching.load(_run_name(key), key)
    if entry is None:
        return None
    try:
        seen, out, code = entry
        for path, facts in seen:
            if _file_state(path) != facts:
                return None
    except (TypeError, ValueError):
        return None
    sys.stdout.write(out)
    sys.stdout.flush()
    result: int = code
    return result


def keep(arguments: Sequence[str], inputs: Iterable[str], out: str, code: int) -> None:
    """Keep the output and exit code of a run for the same run later.

    Args:
        arguments: The command line.
        inputs: Every file and folder the answer rests on, whether it exists or not.
        out: What was printed.
        code: The exit code.
    """
    import time

    key = key_of(arguments)
    if key is None or caching.cache_folder() is None:
        return
    newest = time.time_ns() - _RECENT_NS
    seen: list[tuple[str, tuple[int, int, int, int] | None]] = []
    for path in dict.fromkeys((*inputs, *_own_files(), *GPU_PATHS)):
        facts = _file_state(path)
        if facts is not None and facts[2] > newest:
            return
        seen.append((path, facts))
    caching.store(_run_name(key), key, (seen, out, code))


def _own_files() -> list[str]:
    """Return the paths of cfgfix's own rules and schemas.

    When they change, every answer may. Its code is part of every entry of the cache.
    """
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    inside = os.path.join(package, "_data")
    if os.path.isdir(inside):
        return [inside]
    from cfgfix.rules.compiled import files_below

    found: list[str] = []
    for kind in ("rules", "schemas"):
        folder = os.path.join(os.path.dirname(package), kind)
        files = files_below(folder, (".yaml", ".json"))
        found += [folder, *files, *{os.path.dirname(path) for path in files}]
    return found
