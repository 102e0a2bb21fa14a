"""Functions that decorators of Hydra and click change."""

from __future__ import annotations

from cfgfix.code.inference.interpreter.models.hydra import hydra_config
from cfgfix.code.inference.interpreter.models.options import add_argument, options_given
from cfgfix.code.inference.interpreter.objects import NONE, FunctionObject, Made, Value
from cfgfix.code.inference.interpreter.run import Call


def note_decorator(function: FunctionObject, decorator: Value, name: str) -> None:
    """Note an outside decorator that decides how its function is called."""
    if name in ("hydra.main", "click.option", "click.argument") and isinstance(decorator, Made):
        function.keywords = {**function.keywords, f"<{name} {len(function.keywords)}>": decorator}


def run_commands(call: Call, group: Value) -> Value:
    """Call each command of a group or app: which one runs, the command line says."""
    for command in call.run.commands.pop(id(group), []):
        call.then(command, (), {}, opaque=True)
    return NONE


def call_decorated(call: Call, function: FunctionObject) -> Value | None:
    """Return what a call gives that a decorator answers; None for a plain call."""
    if not function.decorated:
        return None
    if not call.args:
        run_commands(call, function)
    given = {name: made for name, made in function.keywords.items() if name.startswith("<")}
    if not given:
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
    if any(name.startswith("click.") for name in function.decorated) and not call.args:
        parser = Made("click", (), {}, None)
        for made in given.values():
            if isinstance(made, Made):
                add_argument(Call(call.frame, made, made.args, made.keywords, made.spot or call.spot), parser)
        values = options_given(call.run, parser).entries
        return call.then(plain, (), {**values, **call.keywords}, opaque=True)
    return None
