"""All runs over a program."""

from __future__ import annotations

from cfgfix.code.inference.flow.statements import Statements
from cfgfix.code.model.program import Program


class Flow(Statements):
    """All runs over a program."""

    def run(self) -> None:
        """Run every scope of the program's modules, and of those that import them."""
        linked = self.program.linked
        # What a script makes is known before the methods of its classes run on their own.
        for module in linked:
            self.module_env(module)
        for module in linked:
            for scope in module.summary.scopes:
                if scope.kind in ("function", "lambda"):
                    self.default(scope)


def flow_of(program: Program) -> Flow:
    """Return the runs over a program.

    Raises:
        TypeError: If the program was not run, which is a mistake of the caller.
    """
    flow = program.flow
    if not isinstance(flow, Flow):
        raise TypeError("the program was not run: run `Flow(program)` first")
    return flow
