"""One config with the runs of all programs that opened it: what they show of its keys."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from cfgfix.code.inference.interpreter.events import GUARD
from cfgfix.code.inference.interpreter.objects import ConfigKey, Spot
from cfgfix.core.edits import Change
from cfgfix.core.findings import Location
from cfgfix.core.records import dataclass
from cfgfix.usage.config_files import Entry, KeyPath
from cfgfix.usage.mentions import MentionIndex, Mentions
from cfgfix.usage.program_runs import MAX_REPAIR_STEPS, MAX_STEPS, ProjectRuns, made_again
from cfgfix.usage.run_host import Opened, Repair, counts_as_read
from cfgfix.usage.run_results import Choice, RunResult

MAX_CHOOSERS = 3
"""Most keys of a file by whose values programs choose that are tried with other values."""
MAX_VALUES = 32
"""Most values that one of them is tried with."""
MAX_COVER_STEPS = 800_000
"""Most steps of all runs with other values of such keys, for the files of a folder together."""
MAX_SHARES = 8
LOADING_WORDS = (b"yaml", b"json.load", b"OmegaConf", b"hydra", b"toml", b"config")
"""What stands in code that may load a config."""
UNLIKELY = "\0"
"""A text that is none of those that a program knows: it takes the way for all others."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One thing that is wrong with a config under the code that opens it.

    Attributes:
        check: Name of the rule's check.
        path: The key path of the verdict.
        span: The span of the verdict in the config.
        values: Operands of the message.
        severity: The severity; None for the rule's own.
        spot: The place in the code that shows it, or None.
        label: What happens at that place.
        changes: The changes that would repair the config.
        notes: Further lines.
        stops: Whether the run stops without a repair, so that a repair can make nothing worse.
        others: Further places that show the fault, such as the line of a script.
        title: The title of the fix; None for the rule's own.
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


@dataclass(frozen=True, slots=True)
class Cover:
    """Runs that together take every way at every condition.

    Attributes:
        key: The key that the runs vary; empty where each run takes both ways at all conditions.
        ways: The runs, each with its value of the key; None for the file's own.
    """

    key: KeyPath
    ways: tuple[tuple[str | None, RunResult], ...]

    def without_effect(self, file: str, path: KeyPath) -> Idle | None:
        """Return the reads of a key that has no effect in any of these runs.

        None where the key has an effect, or where no run reads its section.
        """
        taken: list[tuple[str | None, ConfigKey]] = []
        for value, result in self.ways:
            opened = result.opened.get(file)
            if opened is None:
                continue
            around = [
                key for depth in range(len(path) + 1) if (key := opened.keys.get(path[:depth])) is not None
            ]
            if len(around) <= len(path):
                return None
            if any(key.offers for key in around):
                if value is None and not self.key:
                    return None
                continue
            if any(key.escapes or key.walks for key in around):
                return None
            mine, section = around[-1], around[-2]
            if (
                mine.uses
                or mine.writes
                or mine.may_write
                or mine.accepted
                or mine.interpolated
                or mine.overlaid
            ):
                return None
            if any(key.path != path for key in opened.read_from(path)):
                return None
            if section.reads:
                taken.append((value, mine))
        if not taken:
            return None
        chosen = next((item for item in taken if item[0] is None), taken[0])
        return Idle(
            self.key,
            chosen[0],
            tuple(spot for _, key in taken for spot in key.reads),
            tuple(spot for _, key in taken for spot in key.logs),
        )


@dataclass(frozen=True, slots=True)
class Idle:
    """A key that has no effect, whichever way the program takes.

    Attributes:
        chooser: The key whose value chooses the section; empty where nothing chooses.
        value: The value of the chooser in the run; None for the file's own.
        reads: The places that read the key.
        logs: The places that only log the key.
    """

    chooser: KeyPath
    value: str | None
    reads: tuple[Spot, ...]
    logs: tuple[Spot, ...]


def _other_values(own: str, rivals: Iterable[str]) -> list[str]:
    """Return the other values that a key may have, written as its own value is."""
    found = {own.casefold(): own}
    for rival in rivals:
        found.setdefault(rival.casefold(), rival.lower() if own.islower() else rival)
    return list(found.values())[1:]


class KeyPaths:
    """A set of key paths that can tell whether any lies at or below a section."""

    __slots__ = ("_above", "_paths")

    def __init__(self) -> None:
        self._paths: set[KeyPath] = set()
        self._above: set[KeyPath] = set()

    def __contains__(self, path: KeyPath) -> bool:
        """Tell whether a path is in the set."""
        return path in self._paths

    def add(self, path: KeyPath) -> None:
        """Add a path."""
        if path not in self._paths:
            self._paths.add(path)
            self._above.update(path[:depth] for depth in range(len(path) + 1))

    def holds_below(self, section: KeyPath) -> bool:
        """Tell whether the set has a path at or below a section."""
        return section in self._above


class _NamesInSection(NamedTuple):
    """What is known of the names in a section.

    Attributes:
        read: Whether a run uses one of the keys.
        numbered: How often each name occurs, without its numbers.
    """

    read: bool
    numbered: Counter[str]


def _without_number(name: str | int) -> str:
    return re.sub(r"[0-9]+", "0", str(name))


def _option_of(result: RunResult, name: str) -> str:
    """Return an option as the command line writes it, up to the value: `--profile `."""
    if name.startswith("$"):
        return f"{name[1:]}="
    option = result.run.options.get(name)
    shown = next((item for item in option.names if item.startswith("--")), "") if option is not None else ""
    return f"{shown} " if shown else ""


class ConfigRuns:
    """What all runs that opened one config show of it.

    Attributes:
        project: The runs of the project.
        path: The config, as the runs name it.
        results: The runs that opened it.
        mine: The config as each of these runs opened it.
        first: The config as the first run opened it.
        root: The config as a tree; None where no run could read it.
        entries: Its own entries, by key path.
        exhausted: Whether a run was cut off.
        verdicts: The verdicts on the config.
        reported: Keys with a verdict.
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
        self._names: dict[KeyPath, _NamesInSection] | None = None
        self._unread: dict[KeyPath, list[Entry]] = {}
        self._named: dict[str, list[Entry]] | None = None
        self._written: dict[KeyPath, frozenset[str]] = {}
        self.mine = [result.opened[path] for result in results]
        self.first = self.mine[0]
        self._taken = {
            (*item.section.path, item.name)
            for result in results
            for chosen in result.run.chosen.values()
            for item in chosen
            if item.section.source == path and item.name is not None
        }
        """Sections that an option or variable of the environment takes in one of the runs."""
        for result in results:
            self._with_own_entries(result)
        self.root = next((item.root for item in self.mine if item.root is not None), None)
        self.entries: dict[KeyPath, Entry] = {}
        if self.root is not None:
            for entry in self.root.walk():
                if not entry.shared:
                    self.entries.setdefault(entry.path, entry)
        self._covers: list[Cover] | None = None
        self._beside: dict[int, tuple[Cover, Mentions]] = {}
        self._cover_steps = 0
        self.verdicts: list[Verdict] = []
        self.repairs: list[Repair] = []
        """Keys that are told to stand elsewhere than the programs look for them."""
        self.earlier: list[Opened] = []
        """What runs opened before keys were moved: what they read is read."""
        self.asked_told: set[tuple[KeyPath, str]] = set()
        """The keys that were judged for being asked for, each as section and name."""
        self.refusals_told: set[tuple[str, KeyPath, str]] = set()
        """The refusals that were judged, each as kind, key and name."""
        self.unused_here: set[KeyPath] = set()
        """Keys and sections that only ways read which the file's other values do not take."""
        self.idle: set[KeyPath] = set()
        """Keys of which it is told that they have no effect on any way."""
        self.reported = KeyPaths()

    def _with_own_entries(self, result: RunResult) -> RunResult:
        """Remove offers of sections that an option chooses in another run; return the run.

        Reads of such a section are known from the run that chooses it.
        """
        for chosen in result.run.chosen.values() if self._taken else ():
            for item in chosen:
                for key, spot in item.offers:
                    if key.source == self.path and key.path in self._taken and spot in key.offers:
                        key.offers.remove(spot)
        return result

    def go_on(self) -> bool:
        """Run again with misplaced keys moved to where programs look for them.

        Return whether runs were made again. Problems inside a moved section show only then.
        """
        known = {item for result in self.results for item in result.repairs}
        if known.issuperset(self.repairs) or self.project.repair_steps >= MAX_REPAIR_STEPS or self.exhausted:
            return False
        repairs = tuple(self.repairs)
        again = [made_again(self.project, result, repairs=repairs) for result in self.results]
        if any(self.path not in result.opened or result.run.exhausted for result in again):
            return False
        self.results = [self._with_own_entries(result) for result in again]
        self.earlier += self.mine
        self.mine = [result.opened[self.path] for result in again]
        self.first = self.mine[0]
        self._mentioned = self._fates = self._names = self._covers = None
        self._beside.clear()
        self._unread.clear()
        return True

    def relative(self, path: str) -> str:
        """Return the path of a code file relative to the project's folder."""
        return self.project.relative(path)

    def program_of(self, result: RunResult) -> str:
        """Return the path of the program of a run, with the options chosen for the run."""
        name = self.relative(result.entrance.module.path)
        given = result.command.chosen if result.command is not None else ()
        shown = [f"{_option_of(result, option)}{value}" for option, value in given]
        return f"{name} with {' '.join(shown)}" if shown else name

    def place(self, spot: Spot) -> str:
        """Return a place in the code as `path:line`."""
        return f"{self.relative(spot.path)}:{spot.line}"

    @property
    def mentioned(self) -> Mentions:
        """The names in the code that may be keys of the file.

        Names of which the runs show that they are no keys of the file are not among them.
        """
        if self._mentioned is None:
            again = self.again()
            cut_off = not again or any(result.run.exhausted for result in again)
            self._mentioned = self._mentions.mentions_for(
                self.path, [*self.results, *again], everywhere=cut_off
            )
        return self._mentioned

    def is_mentioned_as_name(self, name: str) -> bool:
        """Tell whether any code mentions or defines a name."""
        return bool(self._mentions.scopes(name)) or self._mentions.defines(name)

    def may_be_read(self, name: str) -> bool:
        """Tell whether code that gets the file may read a key of this name.

        That is the code of modules that its programs run, and of programs that may open any file.
        """
        if self.project.spent() or any(map(self._may_load, self.project.unread)):
            return name in self.mentioned
        if any(name in site.names for site in self.project.open_sites):
            return True
        made = [*self.results, *self.again()]
        if any(name in result.run.of_unknown for result in made):
            return True
        entered = {scope for result in made for scope in result.run.entered.keys() - result.run.left_early}
        mentioning = set(self._mentions.scopes(name)) - entered
        modules = {id(module): module for result in made for module in result.run.modules_run()}
        return any(id(scope) in mentioning for module in modules.values() for scope in module.summary.scopes)

    def _may_load(self, path: str) -> bool:
        """Tell by its text whether an unparsable Python file may load this config."""
        content = self.project.program.content_of(path)
        name = self.path.rpartition("/")[2].encode("utf-8", "replace")
        return name in content or any(word in content for word in LOADING_WORDS)

    def mentioned_beside(self, cover: Cover) -> Mentions:
        """Return the names in code that may be keys and that a cover does not explain."""
        known = self._beside.get(id(cover))
        if known is None or known[0] is not cover:
            # With a text that the programs do not know, they ask for keys of sections that are not there.
            ways = [result for value, result in cover.ways if value != UNLIKELY]
            found = self._mentions.mentions_for(self.path, [*self.results, *ways], everywhere=False)
            # Each key that nothing reads asks, and each answer looks through all keys.
            known = self._beside[id(cover)] = (cover, found)
        return known[1]

    def again(self) -> list[RunResult]:
        """Return the runs made again with both ways taken at conditions.

        The list is empty where a run was cut off or too many steps were made.
        """
        if self.exhausted or self.project.steps > 2 * MAX_STEPS:
            return []
        return [self.every_way(result) for result in self.results]

    def covers(self) -> list[Cover]:
        """Return groups of runs, each of which takes every way at every condition.

        The first group takes both ways at all conditions. Each further group varies one key by which the
        programs choose, with a run for each value of the key. The list is empty where a run was cut off.
        """
        if self._covers is None:
            self._covers = []
            again = self.again()
            if again and not any(result.run.exhausted for result in again):
                self._covers.append(Cover((), tuple((None, result) for result in again)))
                self._covers += [
                    cover
                    for key in self._choosing_keys(again)
                    if (cover := self._covering_runs(key)) is not None
                ]
        return self._covers

    def _choosing_keys(self, again: list[RunResult]) -> list[KeyPath]:
        """Return the keys whose texts choose an entry of a section."""
        found = {
            path
            for result in [*self.results, *again]
            for source, path in result.run.choosers
            if source == self.path and path in self.entries and self.entries[path].type is str
        }
        return sorted(found, key=str)[:MAX_CHOOSERS]

    def _covering_runs(self, path: KeyPath) -> Cover | None:
        """Return runs with each possible value of a key; None where there are too many."""
        own = str(self.entries[path].data)
        ways: list[tuple[str | None, RunResult]] = []
        for result in self.results:
            rivals: dict[str, None] = {}
            for made in (result, self.every_way(result)):
                opened = made.opened.get(self.path)
                key = opened.keys.get(path) if opened is not None else None
                rivals.update(key.rivals if key is not None else {})
            if not rivals:
                ways.append((None, self.every_way(result)))
                continue
            values = [None, *_other_values(own, rivals), UNLIKELY]
            if len(values) > MAX_VALUES:
                return None
            for value in values:
                if self._cover_steps >= self._most_cover_steps():
                    return None
                made = self._with_own_entries(
                    made_again(self.project, result, every_way=True, choice=Choice(self.path, path, value))
                )
                self._cover_steps += made.run.steps
                if made.run.exhausted:
                    return None
                ways.append((value, made))
        return Cover(path, tuple(ways))

    def _most_cover_steps(self) -> int:
        """Return how many steps the runs for covers of this file may take.

        Configs in the same folder share the limit.
        """
        folder = self.path.rpartition("/")[0]
        beside = sum(1 for path in self.project.known if path.rpartition("/")[0] == folder)
        return MAX_COVER_STEPS // max(1, min(beside, MAX_SHARES))

    def keys_at(self, path: KeyPath) -> list[ConfigKey]:
        """Return the record that each run has of the key at a path."""
        return [key for opened in self.mine if (key := opened.keys.get(path)) is not None]

    def untouched(self, path: KeyPath) -> bool:
        """Tell whether no run uses a key or anything below it."""
        touched, whole = self._touched_paths()
        return path not in touched and not any(path[:depth] in whole for depth in range(len(path)))

    def _touched_paths(self) -> tuple[set[KeyPath], set[KeyPath]]:
        """Return the paths that runs use, and the sections that they use as a whole.

        A path counts as used where anything below it is used.
        """
        if self._fates is None:
            touched: set[KeyPath] = set()
            whole: set[KeyPath] = set()
            for opened in (*self.earlier, *self.mine):
                for path, key in opened.keys.items():
                    if counts_as_read(key):
                        touched.update(path[:depth] for depth in range(len(path) + 1))
                    if key.escapes or key.walks or key.offers:
                        whole.add(path)
            self._fates = touched, whole
        return self._fates

    def unread_in(self, section: KeyPath) -> list[Entry]:
        """Return the entries of a section that no run uses."""
        found = self._unread.get(section)
        if found is None:
            here = self.entries.get(section)
            found = self._unread[section] = [
                child
                for _, child in (here.children if here is not None else ())
                if not child.shared
                and child.path in self.entries
                and self.untouched(child.path)
                and not any(key.accepted for key in self.keys_at(child.path))
            ]
        return found

    def written_in(self, section: KeyPath) -> frozenset[str]:
        """Return the names of the keys that a section of the file has."""
        found = self._written.get(section)
        if found is None:
            children = self.entries[section].children
            found = self._written[section] = frozenset(str(name) for name, _ in children)
        return found

    def named(self, name: str) -> list[Entry]:
        """Return the entries of a given name in all sections."""
        if self._named is None:
            self._named = {}
            for path, entry in self.entries.items():
                if path:
                    self._named.setdefault(str(path[-1]), []).append(entry)
        return self._named.get(name, [])

    def why(self, verdict: Verdict) -> str:
        """Return a sentence that says how a program is known to open the file."""
        for result, opened in zip(self.results, self.mine, strict=True):
            if self.program_of(result) == verdict.values["entry"]:
                return f"That it opens this file is known because {opened.evidence}."
        return ""

    def not_followed(self, path: KeyPath) -> bool:
        """Tell whether the use of an untouched key cannot be known.

        Its section is read where no key of it is followed, or keys of its section differ only in numbers.
        """
        section = path[:-1]
        names = self._names_in(section)
        taken = not section or any(counts_as_read(key) for key in self.keys_at(section))
        if (
            taken
            and not names.read
            and not self.reported.holds_below(section)
            and not self._is_asked(section)
        ):
            return True
        numbered = _without_number(path[-1])
        return numbered != str(path[-1]) and names.numbered[numbered] > 1

    def _names_in(self, section: KeyPath) -> _NamesInSection:
        """Return whether runs use any key of a section, and its names without numbers."""
        if self._names is None:
            self._names = {}
        found = self._names.get(section)
        if found is None:
            paths = {child.path for _, child in self.entries[section].children}
            found = self._names[section] = _NamesInSection(
                any(path in self.entries and not self.untouched(path) for path in paths),
                Counter(_without_number(path[-1]) for path in paths),
            )
        return found

    def _is_asked(self, section: KeyPath) -> bool:
        """Tell whether a run asks a section for a key that is not there."""
        return any(
            key.source == self.path and key.path == section
            for result in self.results
            for item in result.run.asked
            if item.how != GUARD
            for key in item.sections
        )

    def every_way(self, result: RunResult) -> RunResult:
        """Return a run made again with both ways taken at conditions on the config."""
        known = self.project.every_way
        key = id(result)
        if key not in known:
            known[key] = made_again(self.project, result, every_way=True)
        return self._with_own_entries(known[key])

    def counts(self, key: ConfigKey) -> bool:
        """Tell whether a key's value, or a section around it, has an effect in its run."""
        if key.uses or key.escapes or key.walks or key.offers:
            return True
        above = key.parent
        while above is not None:
            if above.escapes or above.walks or above.offers:
                return True
            above = above.parent
        return False

    def line_span(self, span: tuple[int, int]) -> tuple[int, int]:
        """Return a span; an empty span becomes the rest of its line."""
        start, end = span
        if end > start:
            return span
        source = self.first.file.source.text
        stop = source.find("\n", start)
        return start, stop if stop >= 0 else len(source)

    def add(self, verdict: Verdict) -> None:
        """Add a verdict on the file."""
        self.verdicts.append(verdict)
