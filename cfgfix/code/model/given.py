"""Replace arguments by values from configs: the program as it is under them."""

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
    """The replacement of an argument, or of an `if`, by a config value.

    Attributes:
        scope: The scope of the call or the `if`.
        place: The place of the replaced argument; None for an `if`.
        around: The place of the call or the `if`.
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
    """The values that some configs give to arguments and tests of a program.

    Attributes:
        configs: Their paths.
        calls: The arguments of each call, by position or name; under `SPREAD` all entries of a `**section`.
        branches: For each `if` decided by the configs, whether its branch is taken, and the value that decides.
    """

    configs: tuple[str, ...]
    calls: Mapping[CallPlace, Mapping[int | str, GivenValue]]
    branches: Mapping[CallPlace, tuple[bool, GivenValue]]

    @property
    def question(self) -> object:
        """A text that tells these values from others."""
        calls = sorted((place, sorted(map(repr, given.items()))) for place, given in self.calls.items())
        return repr((self.configs, calls, sorted(map(repr, self.branches.items()))))


def substitute(program: Program, under: GivenByConfigs, edited: Container[str] = ()) -> list[Substitution]:
    """Replace a program's arguments by config values, before its flow is followed.

    Args:
        program: The program.
        under: The values.
        edited: Absolute paths of modules with a text other than on disk; the places of the values are not right there.

    Returns:
        The replacements.
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
                    place = _replace_argument(call, argument, item, scope)
                    if place is not None:
                        replaced.append(Substitution(scope, place, call.place, item, argument))
                place = _unpack_section(call, spread, scope) if spread else None
                if place is not None:
                    replaced += [Substitution(scope, place, call.place, item) for item in spread.values()]
            if under.branches:
                _take_branches(scope.body, scope, whole, under, replaced)
    return replaced


def _take_branches(
    events: list[Event], scope: Scope, path: str, under: GivenByConfigs, replaced: list[Substitution]
) -> None:
    """Replace each decided `if` by the statements of the branch that is taken."""
    for number in range(len(events) - 1, -1, -1):
        event = events[number]
        for _, body in event.bodies or ():
            _take_branches(body, scope, path, under, replaced)
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


def _unpack_section(call: Call, spread: Mapping[str, GivenValue], scope: Scope) -> Place | None:
    """Replace a call's only `**section` by its entries, and return its place.

    None where the call has several, or names an entry itself.
    """
    sections = [expr for name, expr in call.keywords if name is None]
    if len(sections) != 1 or any(name in spread for name, _ in call.keywords):
        return None
    place = place_of(sections[0], scope) or call.place
    written = tuple((name, _written_expression(item, place)) for name, item in spread.items())
    call.keywords = (*(pair for pair in call.keywords if pair[0] is not None), *written)
    return place


def _written_expression(given: GivenValue, place: Place) -> Expr:
    """Return a value as an expression, a list as one of constants."""
    value = given.value
    if isinstance(value, list) and not any(isinstance(item, (list, dict)) for item in value):
        return Collection("list", tuple(Literal(item, place) for item in value), place)
    return Literal(value, place)


def _replace_argument(call: Call, argument: int | str, given: GivenValue, scope: Scope) -> Place | None:
    """Replace an argument by a constant, and return the argument's place.

    None where the argument is a constant already or is not written.
    """
    if isinstance(argument, int):
        written = call.args[argument] if argument < len(call.args) and not call.opaque else None
    else:
        written = call.keyword(argument)
    if written is None or isinstance(written, Literal):
        return None
    place = place_of(written, scope) or call.place
    constant = _written_expression(given, place)
    call.args = tuple(constant if expr is written else expr for expr in call.args)
    call.keywords = tuple((name, constant if expr is written else expr) for name, expr in call.keywords)
    return place
