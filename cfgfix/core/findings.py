"""What a rule reports: pure data, no behaviour beyond formatting a key path."""

from __future__ import annotations

import enum

from cfgfix.core.edits import Edit, Fix, Safety
from cfgfix.core.records import dataclass, field

KeyPath = tuple[str | int, ...]
"""Where a value stands in a document: mapping keys as text, sequence positions as integers."""


class Severity(enum.IntEnum):
    """How bad the problem is, ordered."""

    INFO = 1
    """Worth knowing; nothing is lost by ignoring it."""
    WARNING = 2
    """Costs speed, memory or money."""
    ERROR = 3
    """Will crash the run or corrupt its result."""

    @property
    def label(self) -> str:
        """The name used in settings and in every output format."""
        return self.name.lower()


class Confidence(enum.IntEnum):
    """How sure cfgfix is that the finding is true here, ordered."""

    LOW = 1
    MEDIUM = 2
    HIGH = 3

    @property
    def label(self) -> str:
        """The name used in settings and in every output format."""
        return self.name.lower()


class State(enum.Enum):
    """Whether the finding takes effect under the configuration at hand."""

    ACTIVE = "active"
    DORMANT = "dormant"
    """Its guard is false under this configuration."""
    FALLBACK = "fallback"
    """It is reached only after an exception."""


@dataclass(frozen=True, slots=True)
class Location:
    """A span of text in a file.

    Offsets count code points of the decoded text (byte order mark removed). Lines and columns are 1-based;
    columns count code points; the end is exclusive.
    """

    path: str
    start: int
    end: int
    line: int
    column: int
    end_line: int
    end_column: int
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem at one place."""

    rule: str
    name: str
    severity: Severity
    confidence: Confidence
    message: str
    location: Location
    related: tuple[Location, ...] = ()
    key_path: KeyPath | None = None
    state: State = State.ACTIVE
    fix: Fix | None = None
    no_fix_reason: str | None = None
    """Why there is no fix although the rule usually has one."""
    notes: tuple[str, ...] = ()
    """Further lines for a reader; one that begins with `myth:` names what measurement refutes, and what to do instead."""
    profile: str | None = None
    """The hardware profile under which it holds, where several were checked."""
    flow: tuple[Location, ...] = ()
    """For code: the way from the hot root to the place, in order."""
    same: tuple[Location, ...] = ()
    """Other files in which it holds for the same cause, where it is told once for all of them."""
    context: str = field(default="", compare=False)
    """Line-independent text that identifies the place for fingerprints and baselines."""
    unpinned: bool = field(default=False, compare=False)
    """Whether it is about what the newest TensorFlow lacks, in a project that pins no release."""


@dataclass(frozen=True, slots=True)
class Applied:
    """A finding whose fix was applied, and the edits that did it."""

    finding: Finding
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """A finding whose fix could not be applied, and why."""

    finding: Finding
    reason: str


def fixable(finding: Finding, *, unsafe: bool) -> bool:
    """Tell whether a finding has a fix that may be applied."""
    return finding.fix is not None and finding.fix.safety >= (Safety.UNSAFE if unsafe else Safety.SAFE)


MYTH = "myth"
"""How a note begins that names what measurement refutes."""


def note_parts(note: str) -> tuple[str, str]:
    """Return the label of a note, `note` or `myth`, and the note's text without it."""
    text = note.removeprefix(f"{MYTH}: ")
    return ("note" if text is note else MYTH), text


def format_key_path(path: KeyPath) -> str:
    """Return the text form of a key path.

    Such as `data.num_workers` or `pipeline[0].epochs`.

    Dots, brackets and backslashes inside a key are escaped with a backslash, so the text form is unambiguous.
    """
    parts: list[str] = []
    for step in path:
        if isinstance(step, int):
            parts.append(f"[{step}]")
            continue
        text = step.replace("\\", "\\\\").replace(".", "\\.").replace("[", "\\[")
        parts.append(f".{text}" if parts else text)
    return "".join(parts)


def parse_key_path(text: str) -> KeyPath:
    """Return the key path that `format_key_path` would write as `text`.

    Raises:
        ValueError: The text is not a key path (an empty step, an unclosed bracket).
    """
    steps: list[str | int] = []
    buffer: list[str] = []
    pending = False
    position = 0
    while position < len(text):
        char = text[position]
        if char == "\\" and position + 1 < len(text):
            buffer.append(text[position + 1])
            pending = True
            position += 2
            continue
        if char == ".":
            if pending:
                steps.append("".join(buffer))
                buffer, pending = [], False
            elif not steps or not isinstance(steps[-1], int):
                raise ValueError(f"empty step in key path {text!r}")
            position += 1
            if position == len(text):
                raise ValueError(f"key path {text!r} ends with a dot")
            continue
        if char == "[":
            if pending:
                steps.append("".join(buffer))
                buffer, pending = [], False
            close = text.find("]", position)
            if close < 0 or not text[position + 1 : close].isdigit():
                raise ValueError(f"bad index in key path {text!r}")
            steps.append(int(text[position + 1 : close]))
            position = close + 1
            continue
        buffer.append(char)
        pending = True
        position += 1
    if pending:
        steps.append("".join(buffer))
    return tuple(steps)
