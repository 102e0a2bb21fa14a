"""Errors that the code around a place expects: a `try` that catches them, a test that wants them raised."""

from __future__ import annotations

import re

from cfgfix.code.model.expressions import text
from cfgfix.code.model.summary import Event, Scope

_WANTS_AN_ERROR = re.compile(r"(?:\w+\.)*(?:raises|assertRaises\w*)\(")
"""A context manager of pytest or unittest whose body must raise."""
_CATCHING = frozenset(
    {
        "Exception",
        "BaseException",
        "AttributeError",
        "ImportError",
        "IndexError",
        "KeyError",
        "ModuleNotFoundError",
        "NameError",
        "NotImplementedError",
        "RuntimeError",
        "TypeError",
        "ValueError",
    }
)
"""What a handler may name that catches the errors of a call; `KeyboardInterrupt` and the like are about something else."""


def is_error_expected(scope: Scope, block: int) -> bool:
    """Tell whether a block is inside `pytest.raises` or the like."""
    return any(
        item.kind == "with" and item.test is not None and _WANTS_AN_ERROR.match(text(item.test))
        for item in scope.block_chain(block)
    )


def is_caught(scope: Scope, block: int) -> bool:
    """Tell whether a `try` around a block catches the error of a call and goes on."""
    around = {number for number in scope.block_numbers(block) if scope.blocks[number].kind == "try"}
    return bool(around) and any(
        event.kind == "try" and event.bodies[0][0] in around and _catches_errors(event, scope)
        for event in scope.events()
    )


def _catches_errors(event: Event, scope: Scope) -> bool:
    """Tell whether a handler of a `try` catches common errors without raising again."""
    for number, body in event.bodies:
        handler = scope.blocks[number]
        if handler.kind != "except" or (body and body[-1].kind == "raise"):
            continue
        if handler.test is None or not _CATCHING.isdisjoint(re.findall(r"\w+", text(handler.test))):
            return True
    return False
