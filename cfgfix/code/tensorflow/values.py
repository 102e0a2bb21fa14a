"""Which values the parameters of TensorFlow and Keras refuse, from the table that `tools/make_value_table.py` makes."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from cfgfix.core.records import dataclass

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tf_values.json")
WORDS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "other_words.json")
LAYER = "keras.layers.Dense"
"""The layer under which the table has what all layers take."""
_INPUTS = ("keras.layers.Input", "keras.layers.InputLayer")
_NUMBERS = ("float-minus", "float-zero", "float-part", "float-one", "float-whole", "float")
_INTEGERS = ("below", "minus", "zero", "one", "more")


@dataclass(frozen=True, slots=True)
class Parameter:
    """The values that a parameter refuses.

    Attributes:
        name: Its name.
        known: The releases in which it was tried, one bit each as in `Api.versions`.
        refused: For each class of values the releases that refuse it, and the exception.
        kind: The kind of objects whose names it takes, as of `Api.words`; empty for none.
        words: The texts that it takes, with the releases.
        any_case: Whether it takes them in capital letters, too.
        beside: Parameters one of which must be given for this one to be looked at; empty where it always is.
    """

    name: str
    known: int
    refused: Mapping[str, tuple[int, str]]
    kind: str
    words: Mapping[str, int]
    any_case: bool
    beside: tuple[str, ...]

    def refusal(self, kind: str, releases: int) -> tuple[int, str]:
        """Return the mask of releases that refuse a class of values, and the exception.

        Only those among `releases` count.
        """
        mask, error = self.refused.get(kind, (0, ""))
        return mask & releases, error

    def number(self, releases: int) -> str:
        """Return the kind of numbers that the parameter takes.

        It is `integer`, `float` or `number`; empty where the parameter takes words, objects or truth values, or it is not known.
        """
        if (
            any(mask & releases for mask in self.words.values())
            or self.kind
            or self._takes_kind("text", releases)
        ):
            return ""
        if self._takes_kind("more", releases) and not self._takes_kind("float", releases):
            return "integer"
        if not self._takes_kind("float-part", releases):
            return ""
        return (
            "float"
            if not self._takes_kind("one", releases) and self._takes_kind("float", releases)
            else "number"
        )

    def takes(self, releases: int) -> str:
        """Return in words the values that the parameter takes: `an integer above 0`.

        The words hold for the given releases; they are empty where there is no short name.
        """

        def free(kind: str) -> bool:
            return self._takes_kind(kind, releases)

        if any(mask & releases for mask in self.words.values()):
            some = [f"'{word}'" for word, mask in self.words.items() if mask & releases]
            return "one of " + ", ".join(some) if len(some) <= 6 else ""
        number = self.number(releases)
        if not number:
            # A number that takes 1 and no more depends on what the layer is given: groups on the channels.
            truth = not any(map(free, ("text", "more", "one"))) and free("true") and free("false")
            return "true or false" if truth else self._whole_number(releases)
        if number == "float":
            return "a float"
        low = ""
        if not free("minus") and not free("float-minus"):
            low = " above 0" if not free("zero") else " from 0 on"
        if number == "integer":
            return f"an integer{low}"
        if not free("float"):
            end = "below 1" if not free("float-one") else "up to 1"
            return (
                f"a number {'above' if not free('float-zero') else 'from'} 0 {end}"
                if low
                else f"a number {end}"
            )
        return f"a number{low}"

    def _whole_number(self, releases: int) -> str:
        """Return in words the whole numbers that a parameter for ints and floats takes.

        Empty for other parameters.
        """
        kinds = ("one", "more", "float-one", "float-whole", "float")
        others = ("text", "float-part", "minus")
        if any(mask & releases for mask in self.words.values()) or self.kind:
            return ""
        if not all(self._takes_kind(kind, releases) for kind in kinds) or any(
            self._takes_kind(kind, releases) for kind in others
        ):
            return ""
        return f"a whole number {'from 0 on' if self._takes_kind('zero', releases) else 'above 0'}"

    def _takes_kind(self, kind: str, releases: int) -> bool:
        return not self.refused.get(kind, (0, ""))[0] & releases


class Values:
    """The table."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._calls: Mapping[str, Mapping[str, Any]] = data["calls"]
        self._known: dict[tuple[str, str], Parameter | None] = {}
        self._others: Mapping[str, Any] | None = None

    def other_word(self, kind: str, word: str) -> str:
        """Return Keras's text for a name from another library, or empty text."""
        if self._others is None:
            with open(WORDS, encoding="utf-8") as stream:
                self._others = json.load(stream)
        found: str = self._others.get(kind, {}).get(word.lower(), "")
        return found

    def parameter(self, callable: str, name: str, *, inherited: bool = False) -> Parameter | None:  # noqa: A002 - what calls have
        """Return the values that a parameter refuses.

        None where the parameter was not tried, or takes anything.

        Args:
            callable: The public name of what is called.
            name: The parameter.
            inherited: Whether the base class of layers takes it.
        """
        key = (callable, name)
        if key not in self._known:
            tried, parameter = _HANDED_ON.get(key, (self._tried_as(callable), name))
            entry = self._calls.get(tried, {}).get(parameter)
            if entry is None and inherited and callable.startswith("keras.layers."):
                entry = self._calls.get(LAYER, {}).get(name)
                if entry is not None and name == "dtype":
                    # The layer of the table has weights, which are floats; one without takes every type, and inputs those of data.
                    entry = None if callable in _INPUTS else {**entry, "kind": "dtype_policies", "words": {}}
            self._known[key] = None if entry is None else _parameter_of_entry(name, entry)
        return self._known[key]

    def _tried_as(self, callable: str) -> str:  # noqa: A002 - as above
        """Return the name of a callable in the table; some have several names."""
        if callable in self._calls:
            return callable
        if callable.startswith("keras.preprocessing."):
            return f"keras.utils.{callable.rpartition('.')[2]}"
        return _SAME.get(callable, callable)


_SAME = {"keras.layers.Input": "keras.Input", "keras.config.set_floatx": "keras.backend.set_floatx"}


_HANDED_ON = {
    ("keras.mixed_precision.Policy", "name"): ("keras.mixed_precision.set_global_policy", "policy"),
    ("keras.mixed_precision.DTypePolicy", "name"): ("keras.mixed_precision.set_global_policy", "policy"),
    ("keras.DTypePolicy", "name"): ("keras.mixed_precision.set_global_policy", "policy"),
    ("keras.mixed_precision.set_dtype_policy", "policy"): (
        "keras.mixed_precision.set_global_policy",
        "policy",
    ),
    ("keras.config.set_dtype_policy", "policy"): ("keras.mixed_precision.set_global_policy", "policy"),
}
"""Parameters that take what one of another callable takes: a policy is made of its name."""


def _parameter_of_entry(name: str, entry: Mapping[str, Any]) -> Parameter:
    return Parameter(
        name,
        entry["known"],
        {kind: (mask, error) for mask, error, kinds in entry["refused"] for kind in kinds},
        entry.get("kind", ""),
        entry.get("words", {}),
        bool(entry.get("any_case")),
        tuple(entry.get("beside", ())),
    )


def class_of(value: Any) -> str:
    """Return the table's class of values for a plain value; empty for others."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return _INTEGERS[min(max(value, -2), 2) + 2]
    if isinstance(value, float):
        if value < 0:
            return "float-minus"
        if value < 1:
            return "float-part" if value > 0 else "float-zero"
        if value == 1:
            return "float-one"
        return "float-whole" if value == value // 1 else "float"
    if isinstance(value, str):
        return "number-text" if is_number(value) else "text"
    return ""


def is_number(text: str) -> bool:
    """Tell whether a text is written as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return any(letter.isdigit() for letter in text)


def load() -> Values:
    """Read the table."""
    with open(TABLE, encoding="utf-8") as stream:
        return Values(json.load(stream))
