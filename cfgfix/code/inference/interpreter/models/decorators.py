"""Calls of functions that a decorator of Hydra, click or Sacred wraps."""

from __future__ import annotations

from cfgfix.code.inference.interpreter.models.click import (
    COMMANDS,
    DECLARES,
    MAKES_OBJECT,
    call_command,
    run_commands,
)
from cfgfix.code.inference.interpreter.models.hydra import hydra_config
from cfgfix.code.inference.interpreter.models.sacred import call_captured
from cfgfix.code.inference.interpreter.objects import FunctionObject, Made, Value
from cfgfix.code.inference.interpreter.run import Call


def note_decorator(function: FunctionObject, decorator: Value, name: str) -> None:
    """Note a library's decorator that changes how its function is called."""
    if name in ("hydra.main", MAKES_OBJECT, *COMMANDS, *DECLARES) and isinstance(decorator, Made):
        function.keywords = {**function.keywords, f"<{name} {len(function.keywords)}>": decorator}


def call_decorated(call: Call, function: FunctionObject) -> Value | None:
    """Return the result of a call that a library's decorator handles.

    None for a plain call.
    """
    if not function.decorated:
        return None
    of_click = any(name.startswith("click.") for name in function.decorated) and not call.args
    if not call.args and not of_click:
        run_commands(call, function)
    captured = call_captured(call, function)
    if captured is not None:
        return captured
    given = {name: made for name, made in function.keywords.items() if name.startswith("<")}
    if not given and not of_click:
        return None
    plain = FunctionObject(
        function.scope,
        function.names,
        function.receiver,
        function.args,
        {name: value for name, value in function.keywords.items() if not name.startswith("<")},
        (),
        function.defaults,
    )
    if "hydra.main" in function.decorated and not call.args:
        made = next(item for name, item in given.items() if name.startswith("<hydra.main"))
        assert isinstance(made, Made)
        return call.then(plain, (hydra_config(call, made),), call.keywords)
    if of_click:
        declared = tuple(made for made in given.values() if isinstance(made, Made))
        result = call_command(call, plain, declared, function.decorated)
        run_commands(call, function)
        return result
    return None
