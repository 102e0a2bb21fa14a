"""Which environment variables a program sets, and to what."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.model.expressions import constant, dotted
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import Attribute, Call, Dictionary, Expr, Name, Place, Subscript
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Event, Scope

Variable = tuple[Scope, str, Expr | None, Event, Place]


def sets(scope: Scope) -> Iterator[tuple[str, Expr | None, Event, Place]]:
    """Yield the environment variables that a scope sets.

    Each is name, value, statement and place.
    """
    for event in scope.events():
        if event.kind == "assign" and len(event.targets) == 1:
            target = event.targets[0]
            if (
                isinstance(target, Subscript)
                and isinstance(target.base, (Attribute, Name))
                and dotted(target.base) in ("os.environ", "environ")
            ):
                name = constant(target.index)
                if isinstance(name, str):
                    yield name, event.value, event, target.place
        elif event.kind == "expr" and event.value is not None and isinstance(event.value, Call):
            call = event.value
            if len(call.args) == 2 and dotted(call.func) in (
                "os.environ.setdefault",
                "environ.setdefault",
                "os.putenv",
            ):
                name = constant(call.args[0])
                if isinstance(name, str):
                    yield name, call.args[1], event, call.place
            elif dotted(call.func) in ("os.environ.update", "environ.update"):
                for key, value in _names_in_update(call):
                    yield key, value, event, call.place


def _names_in_update(call: Call) -> Iterator[tuple[str, Expr]]:
    """Yield the names and values of `os.environ.update({...}, NAME=...)`."""
    for name, given in call.keywords:
        if name is not None:
            yield name, given
    for part in call.args[:1]:
        if isinstance(part, Dictionary):
            for key, given in part.entries:
                text = constant(key) if key is not None else None
                if isinstance(text, str):
                    yield text, given


@once
def environment_of(program: Program, module: Module) -> list[Variable]:
    """Return the environment variables that a module sets.

    Each is scope, name, value, statement and place.
    """
    del program
    words = module.summary.words
    if "environ" not in words and "putenv" not in words:
        return []
    return [(scope, *item) for scope in module.summary.scopes for item in sets(scope)]


def other_backend(program: Program, scope: Scope) -> bool:
    """Tell whether the file of a scope makes Keras run on JAX or PyTorch.

    It sets `os.environ["KERAS_BACKEND"] = "jax"` or the like.
    """
    module = scope.module
    return "environ" in module.summary.words and any(
        name == "KERAS_BACKEND" and value is not None and constant(value) in ("jax", "torch")
        for _, name, value, *_ in environment_of(program, module)
    )
