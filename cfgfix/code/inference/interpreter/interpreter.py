"""Run a program from an entry point: statements in order, calls entered, loops over known items unrolled.

What is known is computed, what is not stays unknown, and where a condition is not known both ways are taken. Nothing of
the program is executed: only the operations that are modelled in this package are carried out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from cfgfix.code.inference.interpreter.calls import call_back, call_value
from cfgfix.code.inference.interpreter.events import Host
from cfgfix.code.inference.interpreter.models.workers import finish
from cfgfix.code.inference.interpreter.objects import ModuleObject, Namespace, Scalar, Spot
from cfgfix.code.inference.interpreter.run import Call, Exhausted, Frame, Run
from cfgfix.code.inference.interpreter.statements import run_suite
from cfgfix.code.model.module import Module
from cfgfix.code.model.program import Program


class Interpreter(Run):
    """One run of a program, from a module or a function of it."""

    call = staticmethod(call_value)
    suite = staticmethod(run_suite)

    def __init__(self, program: Program, host: Host, *, every_way: bool = False) -> None:
        super().__init__(program, host, every_way=every_way)
        self.main: Module | None = None
        self._modules: dict[int, ModuleObject] = {}

    def run(self, module: Module) -> None:
        """Run a module as the program's main one.

        Callbacks that the module hands to libraries are run too.
        """
        self.main = module
        try:
            self.module(module)
            self._run_what_was_started()
        except (Exhausted, RecursionError):
            self.exhausted = True
        except Exception as error:  # noqa: BLE001 - a fault here costs the rest of one run, not the check
            self.exhausted, self.failure = True, error

    def runs_as_main(self, module: Module) -> bool:
        """Tell whether a module is the one that was started."""
        return module is self.main

    def started_at(self) -> str:
        """Return the path of the module that was started; empty where none was."""
        return self.main.path if self.main is not None else ""

    def modules_run(self) -> Iterator[Module]:
        """Yield the modules of the project that were run."""
        for found in self._modules.values():
            yield found.module

    def run_function(self, module: Module, name: str) -> None:
        """Run a module's body and then one of its functions, as a console script does."""
        try:
            found = self.module(module)
            value = found.names.names.get(name)
            if value is not None and module.scope is not None:
                frame = Frame(self, module.scope, found.names)
                self.call(Call(frame, value, (), {}, Spot(module.scope, module.scope.place, 0)))
            self._run_what_was_started()
        except (Exhausted, RecursionError):
            self.exhausted = True
        except Exception as error:  # noqa: BLE001 - a fault here costs the rest of one run, not the check
            self.exhausted, self.failure = True, error

    def _run_what_was_started(self) -> None:
        """Run the workers that were started, and the callbacks handed to libraries."""
        finish(self)
        while self.waiting:
            value, frame = self.waiting.pop(0)
            call_back(value, frame)

    def module(self, module: Module) -> ModuleObject:
        """Return a module of the project after its body has run."""
        known = self._modules.get(id(module))
        if known is not None:
            return known
        scope = module.scope
        assert scope is not None
        names = Namespace(scope, None)
        found = self._modules[id(module)] = ModuleObject(module, names)
        names.names["__name__"] = Scalar("__main__" if module is self.main else module.name)
        names.names["__package__"] = Scalar(
            module.name if os.path.basename(module.path) == "__init__.py" else module.name.rpartition(".")[0]
        )
        names.names["__file__"] = Scalar(os.path.normpath(module.path))
        assumed, self.assumed = self.assumed, []
        self.entered[id(scope)] = scope
        try:
            self.suite(Frame(self, scope, names), scope.body)
        finally:
            self.assumed = assumed
        if self.code_settings is not None and module is not self.main:
            self.code_settings.of_module(found)
        return found
