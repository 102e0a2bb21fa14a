"""`--watch`: check again whenever a consulted file changes."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable

from cfgfix import engine
from cfgfix.records import replace
from cfgfix.settings import candidates, discover

INTERVAL = 0.5
"""Seconds between two looks at the files: well under the time it takes to switch from an editor to a terminal."""


def watch(request: engine.Request, show: Callable[[engine.Report], object]) -> int:
    """Run a request now and after every change, until interrupted; return the exit code of an interruption."""
    gc.enable()
    seen: object = None
    given = request.settings
    try:
        while True:
            current = request
            if given is not None and given.origin is not None and os.path.isfile(given.origin):
                fresh = discover(".")
                kept = {
                    name: getattr(given, name)
                    for name in ("hardware", "select", "ignore", "dialect", "loader", "fail_on")
                }
                current = (
                    replace(request, settings=replace(fresh, **kept))
                    if fresh.origin == given.origin
                    else request
                )
            report = engine.fix(current) if current.fix else engine.check(current)
            if sys.stdout.isatty():
                sys.stdout.write("\x1b[2J\x1b[H")
            show(report)
            sys.stdout.flush()
            inputs = (*candidates("."), *report.inputs)
            seen = _state(inputs)
            while _state(inputs) == seen:
                time.sleep(INTERVAL)
    except KeyboardInterrupt:
        return 0


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
