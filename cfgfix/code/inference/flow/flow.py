"""All runs over a program."""

from __future__ import annotations

from cfgfix.code.inference.flow.statements import Statements
from cfgfix.code.model.program import Program


class Flow(Statements):
    """All runs over a program."""

    def run(self) -> None:
        """Run every scope of the program's modules."""
        for module in self.program.modules:
            for scope in module.summary.scopes:
                if scope.kind in ("function", "lambda"):
                    self.default(scope)
                elif scope.kind == "module":
                    self.module_env(module)


def flow_of(program: Program) -> Flow:
    """Return the runs over a program.

    Raises:
        TypeError: If the program was not run, which is a mistake of the caller.
    """
    flow = program.flow
    if not isinstance(flow, Flow):
        raise TypeError("the program was not run: run `Flow(program)` first")
    return flow
