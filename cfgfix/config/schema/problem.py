"""What schema validation reports: pure data."""

from __future__ import annotations

from cfgfix.core.edits import Change
from cfgfix.core.findings import KeyPath
from cfgfix.core.records import dataclass

CODES = {
    "unknown-key": "a key that the schema does not have at this place",
    "missing-key": "a key that the schema requires and the file lacks",
    "wrong-type": "a value of another type than the schema takes",
    "wrong-value": "a value that is not one of those the schema lists",
    "out-of-range": "a number below or above what the schema takes",
    "violation": "anything else: too few or many items, a repeated item, text of another form, no fitting alternative",
    "not-checked": "something in the schema or the file that could not be held against the other",
}
"""Every `SchemaProblem.code` and what it means."""


@dataclass(frozen=True, slots=True)
class SchemaProblem:
    """One place where a document breaks its schema.

    Offsets count code points of `SourceFile.text`.
    """

    kind: str
    """The JSON Schema keyword that failed, or `unknown-key` or `schema`."""
    code: str
    """One of `CODES`."""
    path: KeyPath
    """Where in the document; for an unknown or missing key the path ends with that key."""
    start: int
    end: int
    """What to underline: the value when it is wrong, the key when it is unknown (or its value spans lines), the key
    of the surrounding mapping when something is missing (zero width at its start for the document itself)."""
    message: str
    """The whole problem in one sentence, expectation and suggestion included."""
    expected: str | None = None
    """What would be right, in words, with range and unit."""
    suggestion: str | None = None
    """The key or value that was probably meant."""
    related: tuple[tuple[int, int, str], ...] = ()
    """Other places with a label, such as the section where the key belongs."""
    changes: tuple[Change, ...] = ()
    """A possible repair, or none. Whether it is safe is for the caller to say."""
    pitfall: bool = False
    """The value is wrong only because of how it is spelled in YAML; a rule about the spelling says it better."""
    spelling: str | None = None
    """With `pitfall`, which trap it is: `other-version`, `quoted`, `null-word`, `human-number`, `bool-for-number` or
    `key-word`."""
    fatal: bool = True
    """False where the schema says that the program ignores it (`x-unknown: ignored`) or nothing could be checked."""
    mild: bool = False
    """Whether it is worth a word and no more: only older versions of the program read the key, and nothing took its place."""
    no_fix: str | None = None
    """Why nothing is repaired although a key or a place is named; None where the rule's own reason holds."""
