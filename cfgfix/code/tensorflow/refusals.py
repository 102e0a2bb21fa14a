"""What TensorFlow makes of a plain value for a parameter: whether the releases asked for refuse it, and what is meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from cfgfix.code.tensorflow.api import Api
from cfgfix.code.tensorflow.values import Parameter, Values, class_of, load
from cfgfix.core.records import dataclass
from cfgfix.core.suggest import closest


@dataclass(frozen=True, slots=True)
class Refusal:
    """A value that a parameter does not take.

    Attributes:
        is_word: Whether it is a text that is not among those that the parameter knows.
        meant: The text that is most likely meant; empty where none is near.
        error: The name of the exception.
        takes: What the parameter takes, in words; empty where that has no short name.
        always: Whether all releases that are asked for, and were tried, refuse it.
        kind: The class of values that it is of.
        number: Which numbers the parameter takes: `integer`, `float`, `number` or none.
    """

    is_word: bool
    meant: str
    error: str
    takes: str
    always: bool
    kind: str
    number: str = ""


class Refusals:
    """The values that the releases asked for refuse.

    Args:
        api: The releases.
        is_custom: Tells whether the project may teach Keras a text.
    """

    def __init__(self, api: Api, is_custom: Callable[[str], bool]) -> None:
        self.api = api
        self.values: Values = load()
        self._is_custom = is_custom

    def parameter(self, callable: str, name: str) -> Parameter | None:  # noqa: A002 - what calls have
        """Return the values that a parameter refuses, or None where they are not known."""
        return self.values.parameter(callable, name, inherited=True)

    def refusal_of(self, parameter: Parameter, value: Any) -> Refusal | None:
        """Return the refusal of a plain value by a parameter.

        None where the parameter takes the value, or nothing is known.
        """
        newest = self.api.newest
        if not parameter.known & newest:
            return None
        kind, meant = class_of(value), ""
        is_word = isinstance(value, str) and bool(parameter.kind or parameter.words)
        if is_word:
            if self._is_known_word(parameter, value):
                return None
            meant = self._near_word(parameter, value)
        refused, error = parameter.refusal(kind, newest)
        takes = parameter.takes(newest)
        # Of a parameter that takes objects there may be texts and numbers that were not tried.
        if not refused or not (takes or is_word or parameter.kind):
            return None
        if is_word and not parameter.kind and len(parameter.words) == 1 and not meant:
            return None
        always, number = self._is_always_refused(parameter, kind), parameter.number(newest)
        return Refusal(is_word, meant, error, takes, always, kind, number)

    def _is_always_refused(self, parameter: Parameter, kind: str) -> bool:
        """Tell whether all releases that may be meant refuse a class of values.

        The tried releases stand for all releases with the same Keras, 2 or 3.
        """
        every = (1 << len(self.api.versions)) - 1
        three = self.api.words_known
        asked = self.api.wanted if self.api.requirement.known else every
        for group in (three, every & ~three):
            tried = parameter.known & group
            if asked & group and (not tried or parameter.refusal(kind, tried)[0] != tried):
                return False
        return True

    def class_name(self, kind: str, word: str) -> Refusal | None:
        """Return the refusal of a class name for objects of a kind.

        None where Keras has the class, or nothing is known.
        """
        known = self.accepted_words(kind) if kind else frozenset()
        if not known or word in known or word.lower() in known or self._is_custom(word):
            return None
        if self.api.constructor(f"keras.{kind}.{word}") is not None:
            return None
        classes = [item for item in known if item[:1].isupper()] or [item.capitalize() for item in known]
        return Refusal(True, nearest_word(word, sorted(classes)), "ValueError", "", True, "text")

    def accepted_words(self, kind: str) -> frozenset[str]:
        """Return the texts that the project's newest release takes for a kind of object.

        For Keras 2 these are the texts of Keras 3 and some more.
        """
        words = self.api.accepted_words(kind, self.api.newest & self.api.words_known or None)
        return words if self.api.newest & self.api.words_known else words | self.api.words_of_keras_2(kind)

    def _is_known_word(self, parameter: Parameter, word: str) -> bool:
        newest = self.api.newest
        words = {text for text, mask in parameter.words.items() if mask & newest}
        if word in words or (parameter.any_case and word.lower() in {text.lower() for text in words}):
            return True
        if not parameter.kind:
            return False
        known = self.accepted_words(parameter.kind)
        if word in known or (parameter.kind == "optimizers" and word.lower() in known):
            return True
        return self._is_custom(word)

    def _near_word(self, parameter: Parameter, word: str) -> str:
        other = self.values.other_word(parameter.kind, word)
        if other:
            return other
        return nearest_word(
            word, sorted({*parameter.words, *(self.accepted_words(parameter.kind) if parameter.kind else ())})
        )


def nearest_word(word: str, words: Iterable[str]) -> str:
    """Return the known text nearest to a misspelt one, or empty text.

    Texts in letters of the same case come first.
    """
    every = tuple(words)
    alike = tuple(item for item in every if item.islower() == word.islower())
    found = closest(word, alike, limit=1) or closest(word, every, limit=1)
    return found[0] if found else ""
