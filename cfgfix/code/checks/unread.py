"""Files that could not be read as Python."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.model.hit import Hit
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope

NEEDLES = (b"tensorflow", b"keras")


def check(program: Program) -> Iterator[Hit]:
    """Each file that names a framework and cannot be read, once."""
    for module in program.problems:
        problem = module.summary.problem
        assert problem is not None
        message, line = problem
        scope = Scope(0, "module", "", "", -1, -1, (line, 0, line, 0))
        scope.module = module
        yield Hit(scope, (line, 0, line, 0), 0, {"reason": message}, seen=True)
