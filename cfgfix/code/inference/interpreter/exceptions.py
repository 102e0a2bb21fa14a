"""What handlers of exceptions catch, and what they raise instead."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.model import nodes
from cfgfix.code.model.expressions import dotted
from cfgfix.code.model.nodes import Expr
from cfgfix.code.model.summary import Event


def raised_instead(suite: list[Event]) -> str:
    """Return the name of the exception that a handler ends with.

    `*` where it raises the caught one again, and empty where it may go on.
    """
    if not suite or any(event.bodies for event in suite):
        return ""
    value = suite[-1].value
    if suite[-1].kind == "expr" and isinstance(value, nodes.Call):
        return "SystemExit" if _ends_with_failure(value) else ""
    if suite[-1].kind != "raise":
        return ""
    if value is None:
        return "*"
    name = dotted(value.func if isinstance(value, nodes.Call) else value)
    return (name or "Exception").rpartition(".")[2]


def _ends_with_failure(call: nodes.Call) -> bool:
    """Tell whether a call ends the program with a failing exit code: `sys.exit(1)`."""
    if dotted(call.func) not in ("sys.exit", "os._exit", "exit", "quit") or len(call.args) != 1:
        return False
    given = call.args[0]
    return not isinstance(given, nodes.Literal) or given.value not in (0, None)


def caught_by(test: Expr | None) -> Iterator[str]:
    """Yield the names of the exceptions that a handler catches; `*` for all."""
    if test is None:
        yield "*"
        return
    parts = test.items if isinstance(test, nodes.Collection) else (test,)
    for part in parts:
        found = dotted(part)
        if found is not None:
            yield found.rpartition(".")[2]
