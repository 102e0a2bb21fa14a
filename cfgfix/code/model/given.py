"""Arguments of calls that configs give a value, put in their place: the program as it is under those configs."""

from __future__ import annotations

import os
from collections.abc import Container, Mapping

from cfgfix.code.model.expressions import place_of
from cfgfix.code.model.nodes import Call, Collection, Expr, Literal, Place
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Event, Scope
from cfgfix.core.findings import Location
from cfgfix.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SPREAD = "**"
"""What leads the name of an argument that a call is given by `**section`."""
CallPlace = tuple[str, Place]
"""The absolute path of a module and the span of a call in it."""


@dataclass(frozen=True, slots=True)
class GivenValue:
    """A value that an argument has under some configs.

    Attributes:
        value: The value.
        key: The key that it comes from, as text.
        origin: Where that key stands.
        unchanged: Whether it is the key's own value.
        alone: Whether the program does nothing else with the key.
    """

    value: Any
    key: str
    origin: Location
    unchanged: bool
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Substitution:
    """What a value of a config was put in the place of: an argument, or an `if` that it decides.

    Attributes:
        scope: The scope that it stands in.
        place: Where it is written; for an `if` nowhere.
        around: The call or the `if`.
        given: The value.
        argument: The position or name of the argument; None for an `if`.
        taken: Whether an `if` is taken.
    """

    scope: Scope
    place: Place | None
    around: Place
    given: GivenValue
    argument: int | str | None = None
    taken: bool = True


@dataclass(frozen=True, slots=True)
class GivenByConfigs:
    """What some configs give to the calls of a program.

    Attributes:
        configs: Their paths.
        calls: For each call its arguments, by position or name; those of a `**section`, which are all of it, behind `SPREAD`.
        branches: For each `if` that they decide whether it is taken, with the value that decides it.
    """

    configs: tuple[str, ...]
    calls: Mapping[CallPlace, Mapping[int | str, GivenValue]]
    branches: Mapping[CallPlace, tuple[bool, GivenValue]]

    @property
    def question(self) -> object:
        """What tells one from another, as text."""
        calls = sorted((place, sorted(map(repr, given.items()))) for place, given in self.calls.items())
        return repr((self.configs, calls, sorted(map(repr, self.branches.items()))))


def substitute(program: Program, under: GivenByConfigs, edited: Container[str] = ()) -> list[Substitution]:
    """Put values in place of the arguments of a program.

    Its flow was not followed yet.

    Args:
        program: The program.
        under: The values.
        edited: Absolute paths of modules whose text is another than on disk: nothing stands there where it stood.

    Returns:
        What was replaced.
    """
    paths = {path for path, _ in (*under.calls, *under.branches)}
    replaced: list[Substitution] = []
    for module in program.modules:
        whole = os.path.abspath(module.path)
        if whole not in paths or whole in edited:
            continue
        for scope in module.summary.scopes:
            for call in scope.calls:
                given = under.calls.get((whole, call.place), {})
                spread = {
                    name.removeprefix(SPREAD): item
                    for name, item in given.items()
                    if isinstance(name, str) and name.startswith(SPREAD)
                }
                for argument, item in given.items():
                    place = _replace(call, argument, item, scope)
                    if place is not None:
                        replaced.append(Substitution(scope, place, call.place, item, argument))
                place = _unpack(call, spread, scope) if spread else None
                if place is not None:
                    replaced += [Substitution(scope, place, call.place, item) for item in spread.values()]
            if under.branches:
                _take(scope.body, scope, whole, under, replaced)
    return replaced


def _take(
    events: list[Event], scope: Scope, path: str, under: GivenByConfigs, replaced: list[Substitution]
) -> None:
    """Put the side of each decided `if` in its place, as if it stood in no condition."""
    for number in range(len(events) - 1, -1, -1):
        event = events[number]
        for _, body in event.bodies or ():
            _take(body, scope, path, under, replaced)
        decided = under.branches.get((path, event.place)) if event.kind == "if" else None
        if decided is None:
            continue
        taken, given = decided
        replaced.append(Substitution(scope, None, event.place, given, taken=taken))
        side = next((body for body in event.bodies if scope.blocks[body[0]].branch is taken), None)
        if side is not None:
            scope.blocks[side[0]].test = None
        tested = Event("expr", event.block, event.place, value=event.value)
        events[number : number + 1] = [tested, *(side[1] if side is not None else ())]


def _unpack(call: Call, spread: Mapping[str, GivenValue], scope: Scope) -> Place | None:
    """Write the entries of the one `**section` of a call out and return where it stands; None where that is not certain."""
    sections = [expr for name, expr in call.keywords if name is None]
    if len(sections) != 1 or any(name in spread for name, _ in call.keywords):
        return None
    place = place_of(sections[0], scope) or call.place
    written = tuple((name, _written(item, place)) for name, item in spread.items())
    call.keywords = (*(pair for pair in call.keywords if pair[0] is not None), *written)
    return place


def _written(given: GivenValue, place: Place) -> Expr:
    """Return a value as an expression: a list of plain values as one of constants."""
    value = given.value
    if isinstance(value, list) and not any(isinstance(item, (list, dict)) for item in value):
        return Collection("list", tuple(Literal(item, place) for item in value), place)
    return Literal(value, place)


def _replace(call: Call, argument: int | str, given: GivenValue, scope: Scope) -> Place | None:
    """Give an argument a constant value and return where it stands; None where it is one already or is not written."""
    if isinstance(argument, int):
        written = call.args[argument] if argument < len(call.args) and not call.opaque else None
    else:
        written = call.keyword(argument)
    if written is None or isinstance(written, Literal):
        return None
    place = place_of(written, scope) or call.place
    constant = _written(given, place)
    call.args = tuple(constant if expr is written else expr for expr in call.args)
    call.keywords = tuple((name, constant if expr is written else expr) for name, expr in call.keywords)
    return place
