"""Files that could not be read as Python."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.inference.entry_points import for_another_python, imports_of
from cfgfix.code.model.hit import Step, hit_in
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import Place
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import NOT_PARSED, Event, Scope
from cfgfix.rules.hit import Hit


def check(program: Program) -> Iterator[Hit]:
    """Find files that cannot be read as Python and matter for TensorFlow.

    Each names a framework or is imported by a file that does, and is told once.
    """
    imported = dict(_imported_files(program))
    unread = {module.path: module for module in program.problems}
    unread.update((path, module) for path, (module, _, _) in imported.items())
    for path, module in sorted(unread.items()):
        problem = module.summary.problem
        assert problem is not None
        message, line = problem
        scope = Scope(0, "module", "", "", -1, -1, Place(line, 0, line, 0))
        scope.module = module
        severity: str | None = None
        related: tuple[Step, ...] = ()
        if path in imported and not for_another_python(module.source_file().text, line):
            _, importer, event = imported[path]
            severity = "warning"
            if event is not None:
                related = (Step(importer, event.place, event.block, "imports it, and fails here"),)
        yield hit_in(
            scope,
            Place(line, 0, line, 0),
            0,
            {"reason": message},
            related=related,
            severity=severity,
            seen=True,
        )


def _imported_files(program: Program) -> Iterator[tuple[str, tuple[Module, Scope, Event | None]]]:
    """Yield the files with a syntax error that other modules import.

    Each comes with the import.
    """
    for importer in reversed(program.modules):
        for name, scope, event in imports_of(importer):
            parts = name.split(".")
            for length in range(1, len(parts) + 1):
                module = program.module(".".join(parts[:length]), importer)
                if module is None or module.summary.problem is None or module is importer:
                    continue
                if module.path.endswith(".py") and module.summary.problem[0].startswith(NOT_PARSED):
                    yield module.path, (module, scope, event)
