"""What the checkers of configs look at, and how many hits of each rule are wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cfgfix.config.dialects.dialect import Dialect
from cfgfix.config.dialects.view import View
from cfgfix.config.document.compose import Document, Kind
from cfgfix.config.loaders.scalars import Loader
from cfgfix.config.schema.validate import MISSING, Schema
from cfgfix.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cfgfix.config.dialects.parameters import KeyMeanings
    from cfgfix.usage.code_beside import Around
    from cfgfix.usage.code_says import CodeSays
    from cfgfix.usage.key_uses import Usage


@dataclass(frozen=True, slots=True)
class Target:
    """What a run judges by, the same for all files of one dialect."""

    dialect: Dialect
    loader: Loader
    schema: Schema | None
    hardware: Callable[[str], Any] | None
    hardware_label: str | None
    usage: Usage | None = None
    """What the project's code does with its config, where that is known."""
    own_schema: bool = False
    """Whether the schema is the project's own; a dialect's tells the newest state of its program."""
    meanings: KeyMeanings | None = None
    """What the code that opens the file says of its keys; the dialect has those keys already."""
    around: Around | None = None
    """What the text of the code around a config says of it, where a finding depends on it."""

    def view(self, document: Document, index: int) -> View:
        """Return one document of a file as the rules see it."""
        return View(
            document,
            index,
            self.dialect,
            self.loader,
            default=self.schema.default
            if self.schema is not None and self.dialect.defaults == "schema"
            else None,
            missing=MISSING,
            hardware=self.hardware,
            meanings=self.meanings,
        )


@dataclass(slots=True)
class Project:
    """A config as one run reads it, what it is judged against, and what is known of the code that opens it."""

    document: Document
    target: Target
    says: CodeSays | None
    room: Room
    skips: dict[str, str]
    """Rules that could not be judged, and why; checkers add to it."""

    def mappings(self) -> Iterator[int]:
        """Yield which of the file's documents hold keys; none of one that does not parse."""
        if self.document.problem is None:
            for index, root in enumerate(self.document.roots):
                if root.kind == Kind.MAPPING:
                    yield index


class Room:
    """How many findings of each rule one file may still have."""

    __slots__ = ("_counts", "_most", "cut")

    def __init__(self, most: int) -> None:
        self._most = most
        self._counts: dict[str, int] = {}
        self.cut: set[str] = set()

    def take(self, rule: str) -> bool:
        """Tell whether one more finding of a rule is listed."""
        count = self._counts[rule] = self._counts.get(rule, 0) + 1
        if count > self._most:
            self.cut.add(rule)
            return False
        return True
