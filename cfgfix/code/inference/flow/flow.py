"""All runs over a program."""

from __future__ import annotations

from cfgfix.code.inference.flow.statements import Statements


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
