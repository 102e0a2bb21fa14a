"""Run a training script as it is, and find the loop in it that trains."""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Sequence

from cfgfix.measure.observe import Loop


def run_script(target: str, arguments: Sequence[str], *, module: bool) -> None:
    """Run a script, or a module, as `python` would.

    Its name is `__main__`, and it has its arguments and its folder first in the path.
    """
    sys.argv[:] = [target, *arguments]
    if module:
        runpy.run_module(target, run_name="__main__", alter_sys=True)
        return
    sys.path.insert(0, os.path.dirname(os.path.abspath(target)))
    runpy.run_path(target, run_name="__main__")


def main_loop(loops: Sequence[Loop]) -> Loop | None:
    """Return the loop that trains, or None where there is none.

    It is the loop with most time in its steps, among those that take gradients, else among all.
    """
    own = [loop for loop in loops if loop.kind in ("fit", "loop") and loop.steps]
    training = [loop for loop in own if any(step.trains for step in loop.steps)]

    def weight(loop: Loop) -> float:
        return sum(step.seconds for step in loop.steps if not step.starts)

    return max(training or own, key=weight, default=None)
