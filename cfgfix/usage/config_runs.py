"""One config with the runs of all programs that opened it: what they show of its keys."""

from __future__ import annotations

import re
from typing import Any

from cfgfix.code.inference.interpreter.events import GUARD
from cfgfix.code.inference.interpreter.objects import ConfigKey, Spot
from cfgfix.core.edits import Change
from cfgfix.core.findings import Location
from cfgfix.core.records import dataclass
from cfgfix.usage.config_files import Entry, KeyPath
from cfgfix.usage.mentions import MentionIndex, Mentions
from cfgfix.usage.program_runs import MAX_STEPS, ProjectRuns, RunResult, counted, made_again


@dataclass(frozen=True, slots=True)
class Verdict:
    """One thing that is wrong with a config under the code that opens it.

    Attributes:
        check: Name of the rule's check.
        path: The key path concerned.
        span: Where it is told, in the config.
        values: Operands of the message.
        severity: Where it is not the rule's own.
        spot: The place in the code that shows it, or None.
        label: What happens at that place.
        changes: What would repair it.
        notes: Further lines.
        stops: Whether the run stops at it as it is, so that a repair can make nothing worse.
        others: Further places that show it, such as the line of a script.
        title: What the repair does, where the rule does not say it.
    """

    check: str
    path: KeyPath
    span: tuple[int, int]
    values: dict[str, Any]
    severity: str | None = None
    spot: Spot | None = None
    label: str = ""
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()
    stops: bool = False
    title: str | None = None
    others: tuple[Location, ...] = ()


class ConfigRuns:
    """What the runs of all programs that opened one config show of it.

    Attributes:
        project: The runs of the project.
        path: The config, as the runs name it.
        results: The runs that opened it.
        mine: What each of them opened.
        first: What the first one opened.
        root: The config as a tree; None where no run could read it.
        entries: Its own entries, by key path.
        exhausted: Whether a run was cut off.
        verdicts: What is said of it.
        reported: Keys of which something is said.
    """

    def __init__(
        self, project: ProjectRuns, path: str, results: list[RunResult], mentioned: MentionIndex
    ) -> None:
        self.project = project
        self.path = path
        self.results = results
        self.exhausted = any(result.run.exhausted for result in results)
        self._mentions = mentioned
        self._mentioned: Mentions | None = None
        self._fates: tuple[set[KeyPath], set[KeyPath]] | None = None
        self.mine = [result.opened[path] for result in results]
        self.first = self.mine[0]
        self.root = next((item.root for item in self.mine if item.root is not None), None)
        self.entries: dict[KeyPath, Entry] = {}
        if self.root is not None:
            for entry in self.root.walk():
                if not entry.shared:
                    self.entries.setdefault(entry.path, entry)
        self.verdicts: list[Verdict] = []
        self.reported: set[KeyPath] = set()

    def relative(self, path: str) -> str:
        """Return a path of the code as seen from the project's folder."""
        return self.project.relative(path)

    def place(self, spot: Spot) -> str:
        """Return a place in the code as `path:line`."""
        return f"{self.relative(spot.path)}:{spot.line}"

    @property
    def mentioned(self) -> Mentions:
        """The names in the code that may be keys of the file.

        The runs do not show that they are none.
        """
        if self._mentioned is None:
            again = self.again()
            cut_off = not again or any(result.run.exhausted for result in again)
            self._mentioned = self._mentions.mentions_for(
                self.path, [*self.results, *again], everywhere=cut_off
            )
        return self._mentioned

    def is_mentioned_as_name(self, name: str) -> bool:
        """Tell whether any code mentions a name or defines something so called."""
        return bool(self._mentions.scopes(name)) or self._mentions.defines(name)

    def again(self) -> list[RunResult]:
        """Return the runs made again with both ways taken at conditions.

        The list is empty where a run was cut off.
        """
        if self.exhausted or self.project.steps > 2 * MAX_STEPS:
            return []
        return [self.every_way(result) for result in self.results]

    def keys_at(self, path: KeyPath) -> list[ConfigKey]:
        """Return what each run notes of a key."""
        return [key for opened in self.mine if (key := opened.keys.get(path)) is not None]

    def untouched(self, path: KeyPath) -> bool:
        """Tell whether no run does anything with a key or what lies in it."""
        touched, whole = self._touched()
        return path not in touched and not any(path[:depth] in whole for depth in range(len(path)))

    def _touched(self) -> tuple[set[KeyPath], set[KeyPath]]:
        """Return the paths at or below which a run does something, and the sections that go somewhere as a whole."""
        if self._fates is None:
            touched: set[KeyPath] = set()
            whole: set[KeyPath] = set()
            for opened in self.mine:
                for path, key in opened.keys.items():
                    if counted(key):
                        touched.update(path[:depth] for depth in range(len(path) + 1))
                    if key.escapes or key.walks or key.offers:
                        whole.add(path)
            self._fates = touched, whole
        return self._fates

    def unread_in(self, section: KeyPath) -> list[Entry]:
        """Return the entries of a section that no run touches."""
        here = self.entries.get(section)
        if here is None:
            return []
        return [
            child
            for _, child in here.children
            if not child.shared
            and child.path in self.entries
            and self.untouched(child.path)
            and not any(key.accepted for key in self.keys_at(child.path))
        ]

    def why(self, verdict: Verdict) -> str:
        """Say how it is known that a program opens the file."""
        for result, opened in zip(self.results, self.mine, strict=True):
            if self.relative(result.entrance.module.path) == verdict.values["entry"]:
                return f"That it opens this file is known because {opened.evidence}."
        return ""

    def not_followed(self, path: KeyPath) -> bool:
        """Tell whether what becomes of a section, or of a numbered key, is not known.

        The section went where it could not be followed, or its names are made by counting.
        """
        section = path[:-1]
        siblings = [child.path for _, child in self.entries[section].children if section in self.entries]
        read = [
            other
            for other in siblings
            if other != path and other in self.entries and not self.untouched(other)
        ]
        taken = not section or any(counted(key) for key in self.keys_at(section))
        if (
            taken
            and not read
            and not any(other[: len(section)] == section for other in self.reported)
            and not self._is_asked(section)
        ):
            return True
        numbered = re.sub(r"[0-9]+", "0", str(path[-1]))
        return numbered != str(path[-1]) and any(
            re.sub(r"[0-9]+", "0", str(other[-1])) == numbered for other in siblings if other != path
        )

    def _is_asked(self, section: KeyPath) -> bool:
        """Tell whether a run asks a section for a key that it lacks: it was followed up to there."""
        return any(
            key.source == self.path and key.path == section
            for result in self.results
            for item in result.run.asked
            if item.how != GUARD
            for key in item.sections
        )

    def every_way(self, result: RunResult) -> RunResult:
        """Return the same run with both ways taken at conditions on the config."""
        known = self.project.every_way
        key = id(result)
        if key not in known:
            known[key] = made_again(self.project, result, every_way=True)
        return known[key]

    def counts(self, key: ConfigKey) -> bool:
        """Tell whether a value, or a section around it, has an effect in its run."""
        if key.uses or key.escapes or key.walks or key.offers:
            return True
        above = key.parent
        while above is not None:
            if above.escapes or above.walks or above.offers:
                return True
            above = above.parent
        return False

    def line_span(self, span: tuple[int, int]) -> tuple[int, int]:
        """Return a span, an empty one as the rest of its line."""
        start, end = span
        if end > start:
            return span
        source = self.first.file.source.text
        stop = source.find("\n", start)
        return start, stop if stop >= 0 else len(source)

    def add(self, verdict: Verdict) -> None:
        """Say something of the file."""
        self.verdicts.append(verdict)
