"""How TensorFlow's own functions and classes are called, from the table that `tools/make_call_table.py` makes."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from cfgfix.core.records import dataclass

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tf_calls.json")


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of a callable.

    Attributes:
        positional: The parameters that go by position, in order.
        named: All parameters that go by name.
        required: Those that must be given.
        more: Whether any number goes by position behind them.
        any_name: Whether other names are taken as well.
    """

    positional: tuple[str, ...]
    named: frozenset[str]
    required: tuple[str, ...]
    more: bool
    any_name: bool


class Calls:
    """The table: signatures of TensorFlow's functions and classes, and what must be given to all of them.

    Args:
        data: What the file holds.
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._calls: Mapping[str, str] = data["calls"]
        self._members: Mapping[str, frozenset[str]] = {
            name: frozenset(found) for name, found in data["members"].items()
        }
        self._required: Mapping[str, str] = data["required"]
        self._required_2: Mapping[str, str] = data["required_2"]
        self.abstract: frozenset[str] = frozenset(data["abstract"])
        self.entered: frozenset[str] = frozenset(data["entered"])

    def parameters(self, name: str) -> Parameters | None:
        """Return the parameters of a function or class.

        None where the table does not have it.
        """
        words = self._calls.get(name)
        if words is None:
            return None
        positional: list[str] = []
        named: list[str] = []
        required: list[str] = []
        more = any_name = by_name = False
        for word in words.split():
            if word == "**":
                any_name = True
            elif word == "*":
                by_name = True
            elif word.endswith("*"):
                more = by_name = True
            else:
                plain = word.rstrip("!")
                named.append(plain)
                if not by_name:
                    positional.append(plain)
                if word.endswith("!"):
                    required.append(plain)
        return Parameters(tuple(positional), frozenset(named), tuple(required), more, any_name)

    def required(self, name: str, *, keras_2: bool) -> tuple[str, ...]:
        """Return the required parameters of a callable with known signatures by release.

        Args:
            name: Its name, as in `Api`.
            keras_2: Whether the Keras before Keras 3 is asked for.
        """
        words = self._required_2.get(name) if keras_2 else None
        return tuple(
            word for word in (self._required.get(name, "") if words is None else words).split() if word != "*"
        )

    def takes_any_number(self, name: str) -> bool:
        """Tell whether a callable takes any number of arguments by position, or may do so."""
        return any("*" in table.get(name, "").split() for table in (self._required, self._required_2))

    def members(self, name: str) -> frozenset[str] | None:
        """Return the names that objects of a class have.

        None where the table does not have the class.
        """
        return self._members.get(name)


def load() -> Calls:
    """Read the table."""
    with open(TABLE, encoding="utf-8") as stream:
        return Calls(json.load(stream))
