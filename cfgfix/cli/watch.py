"""`--watch`: check again whenever a consulted file changes."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

from cfgfix.core.errors import CfgfixError
from cfgfix.lint import runner as engine
from cfgfix.settings.reader import candidates

INTERVAL = 0.5
"""Seconds between two looks at the files: well under the time it takes to switch from an editor to a terminal."""


CLOCK_STEP = 20_000_000
"""Nanoseconds by which the times of files may lag behind the clock: twice the step of the kernel's clock."""


class _FileState(NamedTuple):
    """The facts of a file that change with its content."""

    inode: int
    size: int
    modified: int
    changed: int


_States = dict[str, "_FileState | None"]


def watch(request: engine.Request, show: Callable[[engine.Report], object]) -> int:
    """Run a request now and after every change of a file, until interrupted.

    Return the exit code of an interruption. Settings files are read again with every run, and one that has become
    wrong is told and waited for.
    """
    gc.enable()
    inputs: tuple[str, ...] = request.paths
    try:
        while True:
            before, started = _file_states(inputs), time.time_ns() - CLOCK_STEP
            own: set[str] = set()
            try:
                report = engine.fix(request) if request.fix else engine.check(request)
            except CfgfixError as error:
                inputs = tuple(dict.fromkeys((*inputs, *candidates("."), *filter(None, (error.path,)))))
                during = _file_states(inputs)
                _clear_screen()
                sys.stdout.write(f"cfgfix: error: {error}\n")
            else:
                inputs = tuple(dict.fromkeys((*request.paths, *report.inputs)))
                during = _file_states(inputs)
                own = _written_paths(report)
                _clear_screen()
                show(report)
            sys.stdout.flush()
            seen = _file_states(inputs)
            if _is_changed_by_others(before, during, started, own):
                # What was saved while the answer was found may not be in it.
                time.sleep(INTERVAL)
                continue
            while _file_states(inputs) == seen:
                time.sleep(INTERVAL)
    except KeyboardInterrupt:
        return 0


def _written_paths(report: engine.Report) -> set[str]:
    """Return the files that a run has changed itself, and their folders."""
    paths = [os.path.abspath(file.path) for file in report.files if report.written and file.after is not None]
    return {*paths, *map(os.path.dirname, paths)}


def _is_changed_by_others(before: _States, after: _States, started: int, own: set[str]) -> bool:
    """Tell whether a file changed between two states, other than by the run itself.

    A file that the first state lacks counts as changed where its times are later than `started`.
    """
    for path, now in after.items():
        if own and os.path.abspath(path) in own:
            continue
        if path in before:
            if before[path] != now:
                return True
        elif now is not None and max(now.changed, now.modified) >= started:
            return True
    return False


def _clear_screen() -> None:
    if sys.stdout.isatty():
        sys.stdout.write("\x1b[2J\x1b[H")


def _file_states(paths: tuple[str, ...]) -> _States:
    states: _States = {}
    for path in paths:
        try:
            facts = os.stat(path)
        except (OSError, ValueError):
            states[path] = None
        else:
            states[path] = _FileState(facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)
    return states
