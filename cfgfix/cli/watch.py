"""`--watch`: check again whenever a consulted file changes."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable

from cfgfix.core.errors import CfgfixError
from cfgfix.lint import runner as engine
from cfgfix.settings.reader import candidates

INTERVAL = 0.5
"""Seconds between two looks at the files: well under the time it takes to switch from an editor to a terminal."""


def watch(request: engine.Request, show: Callable[[engine.Report], object]) -> int:
    """Run a request now and after every change, until interrupted.

    Return the exit code of an interruption.

    Settings files are read again with every run, and one that has become wrong is told and waited for.
    """
    gc.enable()
    inputs: tuple[str, ...] = ()
    try:
        while True:
            try:
                report = engine.fix(request) if request.fix else engine.check(request)
            except CfgfixError as error:
                inputs = (*inputs, *candidates("."), *filter(None, (error.path,)))
                _clear()
                sys.stdout.write(f"cfgfix: error: {error}\n")
            else:
                inputs = report.inputs
                _clear()
                show(report)
            sys.stdout.flush()
            seen = _state(inputs)
            while _state(inputs) == seen:
                time.sleep(INTERVAL)
    except KeyboardInterrupt:
        return 0


def _clear() -> None:
    if sys.stdout.isatty():
        sys.stdout.write("\x1b[2J\x1b[H")


def _state(paths: tuple[str, ...]) -> list[tuple[str, int, int] | None]:
    rows: list[tuple[str, int, int] | None] = []
    for path in paths:
        try:
            facts = os.stat(path)
        except OSError:
            rows.append(None)
        else:
            rows.append((path, facts.st_mtime_ns, facts.st_size))
    return rows
