"""What a schema error most likely is about: the branch that was meant, and the value a text was meant as."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

from cfgfix.config.document.compose import (
    Node,
)
from cfgfix.config.loaders.scalars import LOADERS, Loader, resolve
from cfgfix.config.schema.accept import equal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cfgfix.config.schema.limited_validator import Error


def branch_distance(errors: list[Error]) -> tuple[bool, int, int, int]:
    """Return how far a value is from an alternative of a schema, by its errors there.

    The nearest alternative was meant.
    """
    other_kind = any(not each.relative_path and each.validator == "type" for each in errors)
    # A key with a fixed value, such as `type: adam`, says which branch is meant.
    other_choice = sum(
        each.validator in ("const", "enum") and len(each.relative_path) <= 1 for each in errors
    )
    deepest = max(len(each.relative_path) for each in errors)
    return other_kind, other_choice, len(errors), -deepest


def is_weaker_guess(name: str, near: str) -> bool:
    """Tell whether a key in another section is a better guess than a similar name.

    That is so unless the two names differ in case and dashes only.
    """
    return name.replace("-", "_").casefold() != near.replace("-", "_").casefold()


# Kept as text, and asked for texts with a digit alone: building it takes longer than reading some configs.
_HUMAN = r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[-+]?\d+(?:\.\d+)? ?(?:%|[kKMGT]i?[bB]?|[a-zA-Z]{1,3})"


def likely_readings(node: Node, loader: Loader, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the values that a person may take a scalar for, with the name of the trap."""
    text = node.text
    if node.style:
        if node.style in "'\"":
            read = resolve(text, loader)
            if read.error is None and not isinstance(read.value, str):
                yield "quoted", read.value
            for other in (LOADERS["pyyaml"], LOADERS["ruamel"]):
                again = resolve(text, other)
                if again.error is None and not isinstance(again.value, str):
                    yield "quoted", again.value
        return
    if isinstance(value, bool):
        yield "bool-for-number", int(value)
    for other in (LOADERS["pyyaml"], LOADERS["ruamel"]):
        if other is not loader:
            read = resolve(text, other)
            if read.error is None and not (type(read.value) is type(value) and equal(read.value, value)):
                yield "other-version", read.value
    if isinstance(value, str):
        word = text.lower().lstrip("+-")
        if word == "none":
            yield "null-word", None
        if word in ("nan", "inf", "infinity"):
            yield "null-word", float(word)
        if text.lstrip("+-")[:1].isdigit() and re.fullmatch(_HUMAN, text):
            digits = re.match(r"[-+]?[\d,]+", text)
            assert digits is not None
            with contextlib.suppress(ValueError):
                number = int(digits.group().replace(",", ""))
                # Which number is meant is open (90 or 0.9 for `90%`), so any that fits will do.
                for reading in (number, number / 100, 1, 0.5):
                    yield "human-number", reading
