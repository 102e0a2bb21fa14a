"""Setting functions of TensorFlow that are assigned or named, not called."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.common import only_value
from cfgfix.code.model.canonical_names import canonical_name
from cfgfix.code.model.expressions import MISSING, constant, dotted, is_none
from cfgfix.code.model.hit import hit_in
from cfgfix.code.model.nodes import Attribute, Binary, Call, Expr, FString, Name
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.tensorflow.api import load
from cfgfix.code.tensorflow.requirement import NOTHING
from cfgfix.rules.hit import Hit

_SETTERS = ("set_", "enable_", "disable_")
_SEEDS = frozenset({"numpy.random.seed", "random.seed"})
_PLAIN = frozenset({"int", "float", "str", "bool", "len"})
_CLEARS = frozenset({"keras.backend.clear_session", "keras.utils.clear_session"})


def never_called(program: Program) -> Iterator[Hit]:
    """Find setting functions that are assigned to or named, but not called."""
    for module in program.modules:
        for scope, event, target in module.stores():
            value = event.value
            name = _setter_name(program, target, scope)
            if name is None or value is None or not _is_no_function(scope, value, name):
                continue
            yield hit_in(
                scope,
                target.place,
                event.block,
                {
                    "name": dotted(target) or "",
                    "how": "is replaced by what it should be called with",
                    "then": "what it sets stays as it was, and a later call of it raises TypeError",
                },
            )
        for scope in module.summary.scopes:
            for event in scope.events_of("expr"):
                expr = event.value
                if not isinstance(expr, (Attribute, Name)):
                    continue
                name = _setter_name(program, expr, scope, _CLEARS)
                if name is not None:
                    yield hit_in(
                        scope,
                        expr.place,
                        event.block,
                        {
                            "name": dotted(expr) or "",
                            "how": "is named and not called",
                            "then": "the line does nothing",
                        },
                    )


def _setter_name(
    program: Program, expr: Expr, scope: Scope, others: frozenset[str] = frozenset()
) -> str | None:
    """Return the full name of the setting function that an expression names, or None."""
    raw = program.static_name(expr, scope)
    if raw is None:
        return None
    name = canonical_name(raw)
    if name in _SEEDS or name in others:
        return name
    if not name.startswith(("tensorflow.", "keras.")) or not name.rpartition(".")[2].startswith(_SETTERS):
        return None
    # Whichever release is asked for: older ones than the table has had the functions, too.
    found = load(NOTHING).presence(name if name.startswith("tensorflow.") else f"tensorflow.{name}")
    return name if found is not None and found.mask and not found.rest else None


def _is_no_function(scope: Scope, value: Expr, name: str) -> bool:
    """Tell whether a value is certainly not a function.

    It is a constant, a calculation, or bears the name of what is set.
    """
    given = only_value(scope, value)
    if given is not None and not isinstance(given, Name):
        value = given
    if is_none(value):
        return False
    if constant(value) is not MISSING or isinstance(value, (Binary, FString)):
        return True
    if isinstance(value, Call):
        return isinstance(value.func, Name) and value.func.name in _PLAIN
    said = value.name if isinstance(value, Name) else value.attribute if isinstance(value, Attribute) else ""
    wanted = name.rpartition(".")[2].removeprefix("set_")
    return bool(said) and said.lower() == wanted and said.lower() not in scope.children
