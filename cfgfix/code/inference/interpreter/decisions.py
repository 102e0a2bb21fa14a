"""Which branches a run takes, and which of them the values of a config decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cfgfix.code.inference.interpreter.notes import Notes
from cfgfix.code.inference.interpreter.objects import ConfigKey, KeyPath, Mapping, Scalar, Spot, Value
from cfgfix.code.inference.interpreter.values import key_of, truth
from cfgfix.code.model.expressions import text, walk_own
from cfgfix.code.model.nodes import Name
from cfgfix.code.model.program import Program, once

if TYPE_CHECKING:
    from cfgfix.code.model.nodes import Expr, Place
    from cfgfix.code.model.summary import Scope

SAYS_NO = frozenset({"no", "n", "off", "false", "none", "null", "0"})
"""Texts that say no, and are true."""
ACCESSORS = frozenset(
    {
        "__getattr__",
        "__getattribute__",
        "__getitem__",
        "__setattr__",
        "__setitem__",
        "__contains__",
        "__missing__",
    }
)
"""Methods whose conditions are about the name that is asked for, which no other value in a config changes."""


class Decisions(Notes):
    """The tests that a run met, with their outcomes.

    Args:
        program: The linked program.
        every_way: Whether both ways are taken at conditions on values of a config, too.

    Attributes:
        settled: Keys, as file and path, on whose values conditions are decided also where both ways are taken.
        config_conditions: Conditions that the values of a config decide, as they are written.
        outcomes: How the conditions turned out that the values of a config decide, as they are written, each with the keys.
        branches: For each `if` whether its condition holds, None where that is not the same each time, and the keys that decide it.
    """

    def __init__(self, program: Program, *, every_way: bool = False) -> None:
        super().__init__()
        self.every_way = every_way
        self.settled: frozenset[tuple[str, KeyPath]] = frozenset()
        self.config_conditions: set[str] = set()
        self.outcomes: dict[str, dict[bool, frozenset[ConfigKey]]] = {}
        self.branches: dict[tuple[Scope, Place], tuple[bool | None, frozenset[ConfigKey]]] = {}
        self._texts: dict[int, str] = _condition_texts(program)
        self._names: dict[int, set[str]] = _condition_names(program)
        self._decided: dict[int, Value] = {}
        self._written_out: dict[int, Value] = {}

    def ask_truth(self, test: Value, by: str, spot: Spot) -> None:
        """Note a truth test of a config string such as `"no"`, which counts as true."""
        if (
            type(test) is Scalar
            and test.key is not None
            and isinstance(test.value, str)
            and test.value.lower() in SAYS_NO
        ):
            self.refuse("text-truth", test.key, by, spot, value=test.value)

    def holds(self, test: Value, spot: Spot) -> bool | None:
        """Tell whether a condition holds; None where the run takes both branches."""
        self.ask_truth(test, "the condition", spot)
        if id(test) in self._decided:
            return truth(test)
        if self.every_way and self.is_settled(test):
            return truth(test)
        in_accessor = spot.scope.name in ACCESSORS and not test.origins and key_of(test) is None
        if self.settled and not test.origins and key_of(test) is None:
            # With other values of the config, only what it decides turns out otherwise.
            return truth(test)
        if (
            self.every_way
            and not in_accessor
            and (spot.scope.kind != "module" or test.origins or key_of(test) is not None)
        ):
            return None
        return truth(test)

    def is_settled(self, value: Value) -> bool:
        """Tell whether other runs cover the other values of all config keys of a value."""
        return (
            bool(self.settled)
            and bool(value.origins)
            and self.settled.issuperset((key.source, key.path) for key in value.origins)
        )

    def note_branch(self, test: Value, holds: bool | None, spot: Spot) -> None:
        """Note the branch that an `if` takes, and the config keys that decide it."""
        key = key_of(test)
        origins = test.origins if key is None else frozenset({key})
        known = self.branches.get((spot.scope, spot.place))
        if known is None:
            self.branches[spot.scope, spot.place] = (holds, origins)
        elif known[0] is not holds:
            self.branches[spot.scope, spot.place] = (None, known[1])

    def note_outcome(self, shown: Expr, test: Value, holds: bool) -> None:
        """Note the outcome of a condition that config values decide."""
        key = key_of(test)
        origins = test.origins if key is None else test.origins | {key}
        if origins and not self.every_way:
            self.outcomes.setdefault(self.written(shown), {}).setdefault(holds, origins)

    def decide(self, test: Value) -> None:
        """Note a test with only one possible outcome, such as one of a value's type."""
        self._decided[id(test)] = test

    def is_decided(self, test: Value) -> bool:
        """Tell whether a test has only one possible outcome."""
        return id(test) in self._decided

    def write_out(self, keywords: Mapping) -> None:
        """Note that the code itself writes out the keyword arguments in a mapping.

        No config decides which they are.
        """
        self._written_out[id(keywords)] = keywords

    def is_written_out(self, value: Value) -> bool:
        """Tell whether a value is a mapping of keyword arguments that the code writes out."""
        return id(value) in self._written_out

    def written(self, test: Expr) -> str:
        """Return the source text of a condition, kept for all runs of a program."""
        found = self._texts.get(id(test))
        if found is None:
            found = self._texts[id(test)] = text(test)
        return found

    def names_in(self, test: Expr) -> set[str]:
        """Return the names of variables in a condition, kept for all runs of a program."""
        found = self._names.get(id(test))
        if found is None:
            found = self._names[id(test)] = _names_in(test)
        return found

    def condition(self, shown: str, test: Value) -> str:
        """Return the source text of a condition, noting whether a config decides it."""
        if test.origins or key_of(test) is not None:
            self.config_conditions.update((shown, f"not {shown}"))
        return shown


@once
def _condition_texts(program: Program) -> dict[int, str]:
    """Return the cache of source texts of a program's conditions, by identity."""
    del program
    return {}


@once
def _condition_names(program: Program) -> dict[int, set[str]]:
    """Return the cache of variable names in a program's conditions, by identity."""
    del program
    return {}


def _names_in(expression: Expr) -> set[str]:
    """Return the names of variables in an expression, those in its calls left out."""
    return {item.name for item in walk_own((expression,)) if isinstance(item, Name)}
