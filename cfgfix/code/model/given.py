"""Arguments of calls that configs give a value, put in their place: the program as it is under those configs."""

from __future__ import annotations

import os
from collections.abc import Container, Mapping

from cfgfix.code.model.expressions import place_of
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import CONSTANT, Call, Expr, Place, Scope
from cfgfix.core.findings import Location
from cfgfix.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CallPlace = tuple[str, Place]
"""The absolute path of a module and the span of a call in it."""


@dataclass(frozen=True, slots=True)
class Given:
    """A value that an argument has under some configs.

    Attributes:
        value: The value.
        key: The key that it comes from, as text.
        origin: Where that key stands.
        unchanged: Whether it is the key's own value.
    """

    value: Any
    key: str
    origin: Location
    unchanged: bool


@dataclass(frozen=True, slots=True)
class Replaced:
    """An argument that a value was put in the place of.

    Attributes:
        scope: The scope of its call.
        call: The call.
        place: Where it is written.
        given: The value.
    """

    scope: Scope
    call: Call
    place: Place
    given: Given


@dataclass(frozen=True, slots=True)
class UnderConfigs:
    """What some configs give to the calls of a program.

    Attributes:
        configs: Their paths.
        calls: For each call its arguments, by position or name.
    """

    configs: tuple[str, ...]
    calls: Mapping[CallPlace, Mapping[int | str, Given]]

    @property
    def question(self) -> object:
        """What tells one from another, as text."""
        return repr(
            (
                self.configs,
                sorted((place, sorted(map(repr, given.items()))) for place, given in self.calls.items()),
            )
        )


def put_in_place(program: Program, under: UnderConfigs, edited: Container[str] = ()) -> list[Replaced]:
    """Put the values in place of the arguments, in a program whose flow was not followed yet.

    Args:
        program: The program.
        under: The values.
        edited: Absolute paths of modules whose text is another than on disk: nothing stands there where it stood.

    Returns:
        What was replaced.
    """
    paths = {path for path, _ in under.calls}
    replaced: list[Replaced] = []
    for module in program.modules:
        whole = os.path.abspath(module.path)
        if whole not in paths or whole in edited:
            continue
        for scope in module.summary.scopes:
            for call in scope.calls:
                for argument, given in under.calls.get((whole, call.place), {}).items():
                    place = _replace(call, argument, given.value, scope)
                    if place is not None:
                        replaced.append(Replaced(scope, call, place, given))
    return replaced


def _replace(call: Call, argument: int | str, value: Any, scope: Scope) -> Place | None:
    """Give an argument a constant value and return where it stands; None where it is one already or is not written."""
    if isinstance(argument, int):
        written = call.args[argument] if argument < len(call.args) and not call.opaque else None
    else:
        written = call.keyword(argument)
    if written is None or written[0] == CONSTANT:
        return None
    place = place_of(written, scope) or call.place
    constant: Expr = (CONSTANT, value, place)
    call.args = tuple(constant if expr is written else expr for expr in call.args)
    call.keywords = tuple((name, constant if expr is written else expr) for name, expr in call.keywords)
    return place
