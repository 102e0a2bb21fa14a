"""Facts on a parameter of TensorFlow: accepted values and texts, and its default."""

from __future__ import annotations

import json
import os
from typing import Any

from cfgfix.code.tensorflow.api import TABLE as API
from cfgfix.code.tensorflow.api import WORDS
from cfgfix.code.tensorflow.values import Values
from cfgfix.code.tensorflow.values import load as load_values
from cfgfix.core.records import dataclass

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tf_defaults.json")
MAX_SHOWN = 12
"""Most words that a sentence names."""


@dataclass(frozen=True, slots=True)
class ParameterFacts:
    """The facts on a parameter in one release.

    Attributes:
        takes: What it takes, in words; empty where that has no short name.
        words: The texts that it knows, sorted.
        default: Its default, where that is a plain value and known for the release; None where it is not.
        release: The release, such as `2.21`; empty where none is known.
    """

    takes: str
    words: tuple[str, ...]
    default: Any
    release: str


class FactTable:
    """The tables that tell of parameters, each read at first need."""

    def __init__(self) -> None:
        self._values: Values | None = None
        self._defaults: dict[str, Any] | None = None
        self._words: dict[str, Any] | None = None
        self._releases: list[str] | None = None

    def facts(self, callable: str, name: str, release: int) -> ParameterFacts:  # noqa: A002 - what calls have
        """Return the facts on a parameter in one release.

        Args:
            callable: The public name of what is called, such as `tensorflow.data.Dataset.batch`.
            name: The parameter.
            release: The release that is meant, by its bit as in `Api.versions`.
        """
        self._values = self._values or load_values()
        found = self._values.parameter(callable, name, inherited=True)
        takes = ""
        words: tuple[str, ...] = ()
        if found is not None and found.known & release:
            takes = found.takes(release)
            words = tuple(sorted(word for word, mask in found.words.items() if mask & release))
            if found.kind:
                known = self._names_of(found.kind, release)
                words = tuple(sorted({*words, *known}, key=lambda word: (not word.islower(), word)))
            takes = takes or _in_words(words)
        return ParameterFacts(
            takes, words, self.default(callable, name, release), self._named_release(release)
        )

    def _names_of(self, kind: str, release: int) -> list[str]:
        """Return the texts that Keras takes in place of objects of a kind.

        Those of Keras 3 are taken for Keras 2 too.
        """
        if self._words is None:
            with open(WORDS, encoding="utf-8") as stream:
                self._words = json.load(stream)
        asked = release & int(self._words["known"]) or int(self._words["known"])
        return [word for word, mask in self._words["words"].get(kind, {}).items() if mask & asked]

    def default(self, callable: str, name: str, release: int) -> Any:  # noqa: A002 - what calls have
        """Return the default of a parameter in a release; None where that is not known."""
        if self._defaults is None:
            with open(TABLE, encoding="utf-8") as stream:
                self._defaults = json.load(stream)
        same = self._defaults["tensorflow"] == self._release_text(release)
        return self._defaults["defaults"].get(callable, {}).get(name) if same else None

    def _release_text(self, release: int) -> str:
        if self._releases is None:
            with open(API, encoding="utf-8") as stream:
                self._releases = list(json.load(stream)["tensorflow"])
        return self._releases[release.bit_length() - 1] if release else ""

    def _named_release(self, release: int) -> str:
        return ".".join(self._release_text(release).split(".")[:2])


def _in_words(words: tuple[str, ...]) -> str:
    if not words:
        return ""
    shown = ", ".join(f"'{word}'" for word in words[:MAX_SHOWN])
    rest = len(words) - MAX_SHOWN
    return f"one of {shown}" + (f" and {rest} more" if rest > 0 else "")
