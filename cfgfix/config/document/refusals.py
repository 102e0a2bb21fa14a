"""Why a change to a file is not made."""

from __future__ import annotations

import enum


class RefusalReason(enum.Enum):
    """Why a change is not made."""

    NOT_PARSED = "the file is not valid YAML"
    NOT_FOUND = "there is no such entry"
    NOT_A_SCALAR = "the value is a mapping or a list"
    NOT_A_MAPPING = "the value is not a mapping"
    KEY_EXISTS = "the key exists already"
    AMBIGUOUS = "the key is written several times"
    INHERITED = "the entry comes from elsewhere, through an alias or a merge key"
    SHARED = "other places use the same value"
    ANCHOR_USED = "what would be removed is referred to elsewhere"
    TAG = "the value's tag contradicts the new value"
    COMPLEX_KEY = "the key is not written as a simple key"
    LAYOUT = "the layout around the entry leaves no exact way"
    UNSPELLABLE = "the value cannot be written so that every loader reads it alike"
    CONFLICT = "two changes touch the same text"


class Refusal(Exception):  # noqa: N818 - a refusal is no fault
    """A change that is not made, and why.

    Args:
        reason: The kind of reason.
        message: What the user reads.
    """

    def __init__(self, reason: RefusalReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
