"""What the runs of a project's programs show of its configs, one finding for each cause."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from typing import Any

from cfgfix.code.inference.interpreter.events import DEFAULT, GUARD, REQUIRED, Asked, Refusal
from cfgfix.code.inference.interpreter.objects import ConfigKey, Scalar, Spot, Value
from cfgfix.code.model.summary import ATTRIBUTE, CONSTANT
from cfgfix.core.edits import Change, RenameKey, SetValue
from cfgfix.core.findings import format_key_path
from cfgfix.core.records import dataclass, replace
from cfgfix.usage.config_files import ConfigFile, Entry, KeyPath, Place
from cfgfix.usage.program_runs import MAX_STEPS, ProjectRuns, RunResult, counted, made_again, site_of

FOR_A_READER = frozenset(
    {"title", "name", "description", "desc", "comment", "comments", "note", "notes", "author", "authors", "version", "license",
     "date", "created", "url", "homepage", "readme", "about", "project", "experiment", "tags", "id"}
)  # fmt: skip
"""Names of keys that stand in a config for its reader."""
MAX_NAMES = 3
MAX_PLACES = 1_000
"""Most keys of a file whose places in the code are kept."""


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


@dataclass(frozen=True, slots=True)
class Judged:
    """What the code says of one config file.

    Attributes:
        file: The file.
        loader: Name of the loader that reads it.
        evidence: What opens it and how that is known, one line for each program.
        ways: For each of these lines, the calls through which the program comes to the one that loads the file, and that one.
        framework: Whether a program of TensorFlow or Keras opens it.
        another: Whether only programs of other frameworks do.
        verdicts: What is wrong.
        converted: Names of keys whose value the code converts to a number itself.
        programs: The programs that open it, those that come to TensorFlow where there are some.
        modules: The Python files that load it, read a key of it or ask for one.
        reads: Where each key is read first, as path and line.
        asked: The names that the code asks for and the file lacks, with where.
    """

    file: ConfigFile
    loader: str
    evidence: tuple[str, ...]
    ways: tuple[tuple[str, ...], ...]
    framework: bool
    another: bool
    verdicts: tuple[Verdict, ...]
    converted: frozenset[str]
    programs: tuple[str, ...]
    modules: frozenset[str]
    reads: dict[KeyPath, Place]
    asked: tuple[tuple[KeyPath, Place], ...]


def judged(project: ProjectRuns, only: str | None = None) -> dict[str, Judged]:
    """Return what the runs say of each config that they opened, by its path relative to the project.

    Args:
        project: The runs.
        only: The one config that is asked for; None for all.
    """
    by_file: dict[str, list[RunResult]] = {}
    for result in project.results:
        for path in result.opened:
            if only is None or path == only:
                by_file.setdefault(path, []).append(result)
    mentioned = _Mentioned(project)
    found: dict[str, Judged] = {}
    for path, results in by_file.items():
        judge = _File(project, path, results, mentioned)
        found[path] = judge.result()
    return found


class _Mentioned:
    """Where code mentions names of which the runs do not show that they are no keys of a config."""

    def __init__(self, project: ProjectRuns) -> None:
        self.project = project
        self._scopes: dict[str, list[int]] | None = None

    def scopes(self, name: str) -> list[int]:
        """Return the scopes that mention a name, by identity."""
        if self._scopes is None:
            self._scopes = {}
            for module in self.project.program.all_modules():
                for scope in module.summary.scopes:
                    if scope.kind not in ("lambda", "comprehension"):
                        for found in frozenset(_names_of(scope)):
                            self._scopes.setdefault(found, []).append(id(scope))
            for path in self.project.unread:
                for found in frozenset(_WORD.findall(self.project.program.content_of(path))):
                    self._scopes.setdefault(found.decode("ascii"), []).append(-1)
        return self._scopes.get(name, [])

    def of(self, path: str, results: list[RunResult], *, everywhere: bool) -> Mentions:
        """Return which names may be keys of a config.

        Args:
            path: The config.
            results: The runs that open it, also those that take both ways at conditions.
            everywhere: Whether all code counts, because a run that opens the config was cut off.
        """
        mine: set[int] = set()
        asked: set[str] = set()
        sites = {site_of(result.opened[path].loading)[-1] for result in results if path in result.opened}
        for result in results:
            asked |= result.run.of_unknown
            if not result.run.exhausted:
                mine |= result.run.entered.keys()
        others: set[int] = set()
        explained: set[str] = set()
        # Where not all programs were run, what others read explains nothing.
        for result in [] if self.project.spent() else self.project.results:
            run = result.run
            loaded = {site[-1] for site in result.unresolved}
            loaded |= {site_of(opened.loading)[-1] for opened in result.opened.values()}
            if path in result.opened or run.exhausted or not sites.isdisjoint(loaded):
                continue
            others |= run.entered.keys()
            # What another program reads of a config that it loads elsewhere is no key of this one.
            for opened in result.opened.values():
                explained.update(key.name for key in opened.keys.values() if counted(key))
            explained.update(item.name for item in run.asked)
        return Mentions(
            self, set() if everywhere else mine, set() if everywhere else others, explained, asked
        )


class Mentions:
    """Which names may be keys of one config."""

    def __init__(
        self, code: _Mentioned, mine: set[int], others: set[int], explained: set[str], asked: set[str]
    ) -> None:
        self._code = code
        self._mine = mine
        self._others = others
        self._explained = explained
        self._asked = asked

    def __contains__(self, name: str) -> bool:
        """Tell whether code mentions a name of which no run shows what it is."""
        if name in self._asked:
            return True
        explained = name in self._explained
        return any(
            scope not in self._mine and not (explained and scope in self._others)
            for scope in self._code.scopes(name)
        )


def _names_of(scope: Any) -> Iterator[str]:
    """Yield the names by which a scope may read a key: attributes and texts."""
    pending: list[Any] = []
    events = list(scope.body)
    while events:
        event = events.pop()
        if event.value is not None:
            pending.append(event.value)
        # What is only given a value is not read; what stands in front of the last step is.
        pending += [target[1] if target[0] == ATTRIBUTE else target for target in event.targets]
        if isinstance(event.extra, (tuple, list)):
            pending += [item for item in event.extra if isinstance(item, tuple)]
        for _, inner in event.bodies or ():
            events += inner
    for call in scope.calls:
        pending += [call.func, *call.args, *(value for _, value in call.keywords)]
    count = 0
    while pending and count < 50_000:
        count += 1
        expr = pending.pop()
        if not isinstance(expr, tuple) or not expr:
            continue
        if expr[0] == ATTRIBUTE and len(expr) > 2 and isinstance(expr[2], str):
            yield expr[2]
        elif expr[0] == CONSTANT and len(expr) > 1 and isinstance(expr[1], str) and len(expr[1]) < 80:
            yield expr[1]
            if "." in expr[1]:
                yield from expr[1].split(".")
        pending += [item for item in expr[1:] if isinstance(item, tuple)]


class _File:
    """The verdicts of one file."""

    def __init__(
        self, project: ProjectRuns, path: str, results: list[RunResult], mentioned: _Mentioned
    ) -> None:
        self.project = project
        self.path = path
        self.results = results
        self.exhausted = any(result.run.exhausted for result in results)
        self._mentions = mentioned
        self._mentioned: Mentions | None = None
        self.mine = [result.opened[path] for result in results]
        self.first = self.mine[0]
        self.root = next((item.root for item in self.mine if item.root is not None), None)
        self.entries: dict[KeyPath, Entry] = {}
        if self.root is not None:
            for entry in self.root.walk():
                if not entry.shared:
                    self.entries.setdefault(entry.path, entry)
        self.verdicts: list[Verdict] = []
        self.told: set[KeyPath] = set()

    def result(self) -> Judged:
        evidence: dict[str, tuple[str, ...]] = {}
        for result, opened in zip(self.results, self.mine, strict=True):
            spot = opened.loading.spot
            line = (
                f"opened by {self.shown(result.entrance.module.path)} ({self.place(spot)}): {opened.evidence}"
            )
            way = [f"{self.shown(scope.module.path)}:{place[0]}" for scope, place in spot.calls]
            evidence.setdefault(line, (*way, self.place(spot)))
        problem = next((item.problem for item in self.mine if item.problem is not None), None)
        if problem is not None and self.first.file.form != "yaml":
            opened = self.first
            stop = min(problem.offset + 1, len(opened.file.source.text))
            self.add(
                Verdict(
                    "not-loadable",
                    (),
                    (min(problem.offset, stop), stop),
                    {
                        "message": problem.message,
                        "place": self.place(opened.loading.spot),
                        "form": opened.file.form.upper(),
                    },
                    spot=opened.loading.spot,
                    label="loads the file",
                )
            )
        if self.root is not None and self.root.kind == "map":
            self.absent()
            self.refusals()
            self.values()
            self.interpolations()
            self.numbers_as_text()
            self.dead()
            self.overwritten()
        converted = {
            key.name
            for opened in self.mine
            for key in opened.keys.values()
            if key.conversions & {"float", "int"}
        }
        self.verdicts.sort(key=lambda item: (item.span, item.check))
        return Judged(
            self.first.file,
            self.first.loader,
            tuple(evidence),
            tuple(evidence.values()),
            any(result.entrance.framework for result in self.results),
            all(result.entrance.another and not result.entrance.framework for result in self.results),
            tuple(self.verdicts),
            frozenset(converted),
            self.programs(),
            frozenset(self.shown(path) for path in self.modules()),
            self.reads(),
            self.asked(),
        )

    def reads(self) -> dict[KeyPath, Place]:
        """Return where each key is read first."""
        found: dict[KeyPath, Place] = {}
        for opened in self.mine:
            for path, key in opened.keys.items():
                spot = next(iter((*key.reads, *key.uses, *key.walks, *key.escapes)), None)
                if path and spot is not None and len(found) < MAX_PLACES:
                    found.setdefault(path, (self.shown(spot.path), spot.line))
        return found

    def asked(self) -> tuple[tuple[KeyPath, Place], ...]:
        """Return the keys that the code asks for and the file lacks, with where."""
        found: dict[KeyPath, Place] = {}
        for result in self.results:
            for item in result.run.asked:
                for section in item.sections:
                    if section.source == self.path and len(found) < MAX_PLACES:
                        place = (self.shown(item.spot.path), item.spot.line)
                        found.setdefault((*section.path, item.name), place)
        return tuple(found.items())

    def programs(self) -> tuple[str, ...]:
        """Return the programs that open the file, those that come to TensorFlow where there are some."""
        entrances = [result.entrance for result in self.results]
        chosen = [entrance for entrance in entrances if entrance.framework] or entrances
        return tuple(dict.fromkeys(self.shown(entrance.module.path) for entrance in chosen))

    def modules(self) -> Iterator[str]:
        """Yield the Python files that load the file, read a key of it or ask for one."""
        for result, opened in zip(self.results, self.mine, strict=True):
            yield opened.loading.spot.path
            for scope, _ in opened.loading.spot.calls:
                yield scope.module.path
            for key in opened.keys.values():
                for spots in (key.reads, key.uses, key.walks, key.writes, key.escapes):
                    yield from (spot.path for spot in spots)
            yield from (item.spot.path for item in result.run.asked)
            yield from (item.spot.path for item in result.run.refusals)

    def shown(self, path: str) -> str:
        """Return a path of the code as seen from the project's folder."""
        return self.project.shown(path)

    def place(self, spot: Spot) -> str:
        return f"{self.shown(spot.path)}:{spot.line}"

    @property
    def mentioned(self) -> Mentions:
        """Names that code mentions of which the runs do not show that they are no keys of the file."""
        if self._mentioned is None:
            again = self.again()
            cut_off = not again or any(result.run.exhausted for result in again)
            self._mentioned = self._mentions.of(self.path, [*self.results, *again], everywhere=cut_off)
        return self._mentioned

    def again(self) -> list[RunResult]:
        """Return the runs made again with both ways taken at conditions; none where a run was cut off."""
        if self.exhausted or self.project.steps > 2 * MAX_STEPS:
            return []
        return [self.every_way(result) for result in self.results]

    # Facts about keys over all runs

    def keys_at(self, path: KeyPath) -> list[ConfigKey]:
        return [key for opened in self.mine if (key := opened.keys.get(path)) is not None]

    def untouched(self, path: KeyPath) -> bool:
        """Tell whether no run does anything with a key or what lies in it."""
        for opened in self.mine:
            for other, key in opened.keys.items():
                if other[: len(path)] == path and counted(key):
                    return False
            for depth in range(len(path)):
                above = opened.keys.get(path[:depth])
                if above is not None and (above.escapes or above.walks):
                    return False
        return True

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

    # Missing, misspelt, at another place

    def absent(self) -> None:
        seen: set[tuple[KeyPath, str]] = set()
        asked = [(result, item) for result in self.results for item in result.run.asked]
        asked.sort(key=lambda pair: {REQUIRED: 0, DEFAULT: 1, GUARD: 2}[pair[1].how])
        for result, item in asked:
            section = next((key.path for key in item.sections if key.source == self.path), None)
            if section is None or section not in self.entries:
                continue
            if (section, item.name) in seen:
                continue
            seen.add((section, item.name))
            self.one_absent(result, item, section)
        self.join_absent()

    def join_absent(self) -> None:
        """Tell many lacking keys of one section as one finding: it has one cause."""
        by_place: dict[tuple[KeyPath, Any], list[Verdict]] = {}
        for verdict in self.verdicts:
            if verdict.check == "missing-key":
                by_place.setdefault((verdict.path[:-1], verdict.values["entry"]), []).append(verdict)
        for group in by_place.values():
            if len(group) <= MAX_NAMES:
                continue
            names = ", ".join(f"`{item.values['name']}`" for item in group[1 : MAX_NAMES + 1])
            first = group[0]
            note = f"it lacks {len(group) - 1} more keys that the program reads: {names} and so on. {self.why(first)}"
            self.verdicts = [item for item in self.verdicts if item not in group]
            self.add(replace(first, notes=(*first.notes, note)))

    def why(self, verdict: Verdict) -> str:
        """Say how it is known that a program opens the file."""
        for result, opened in zip(self.results, self.mine, strict=True):
            if self.shown(result.entrance.module.path) == verdict.values["entry"]:
                return f"That it opens this file is known because {opened.evidence}."
        return ""

    def one_absent(self, result: RunResult, item: Asked, section: KeyPath) -> None:
        here = self.entries[section]
        if any(str(name) == item.name for name, _ in here.children):
            return
        others = [key.path for key in item.sections if key.source == self.path]
        candidates = [
            entry for path in others for entry in self.unread_in(path) if entry.path not in self.told
        ]
        required = item.how == REQUIRED and not item.caught
        if not required:
            candidates = [entry for entry in candidates if str(entry.path[-1]) not in self.mentioned]
        near = nearest_entry(item.name, candidates, alone=required and not result.forced)
        if near is not None:
            self.misspelt(item, near, required)
            return
        elsewhere = self.elsewhere(item.name, section)
        if elsewhere is not None and (required or item.how == DEFAULT):
            self.misplaced(item, section, elsewhere, required)
            return
        if not required or (item.conditions and not self.sure(item)):
            return
        span = here.key if section else (here.value[0], here.value[0])
        key = format_key_path((*section, item.name))
        self.add(
            Verdict(
                "missing-key",
                (*section, item.name),
                self.line_span(span),
                {
                    "key": key,
                    "name": item.name,
                    "error": item.error,
                    "place": self.place(item.spot),
                    "entry": self.shown(result.entrance.module.path),
                },
                spot=item.spot,
                label=f"reads `{item.name}`",
            )
        )

    def sure(self, item: Asked) -> bool:
        """Tell whether a run certainly comes to a read; conditions that nothing decides leave it open."""
        return not item.conditions

    def misspelt(self, item: Asked, near: Entry, required: bool) -> None:
        self.told.add(near.path)
        effect = (
            f"{item.error}"
            if required
            else f"the default {shown_value(item.default)} counts"
            if item.default is not None and item.how == DEFAULT
            else "it is never found"
        )
        self.add(
            Verdict(
                "misspelt-key",
                near.path,
                near.key,
                {
                    "key": format_key_path(near.path),
                    "name": str(near.path[-1]),
                    "wanted": item.name,
                    "effect": effect,
                    "place": self.place(item.spot),
                },
                spot=item.spot,
                label=f"reads `{item.name}`",
                changes=(RenameKey(near.path, item.name),) if self.first.file.form == "yaml" else (),
                stops=required,
            )
        )

    def elsewhere(self, name: str, section: KeyPath) -> Entry | None:
        """Return the only entry of that name in another section that nothing reads."""
        found = [
            entry
            for path, entry in self.entries.items()
            if path
            and str(path[-1]) == name
            and path[:-1] != section
            and path not in self.told
            and self.untouched(path)
            and not any(key.accepted for key in self.keys_at(path))
        ]
        return found[0] if len(found) == 1 else None

    def misplaced(self, item: Asked, section: KeyPath, entry: Entry, required: bool) -> None:
        self.told.add(entry.path)
        wanted = format_key_path((*section, item.name))
        effect = item.error if required else f"the default {shown_value(item.default)} counts"
        self.add(
            Verdict(
                "misplaced-key",
                entry.path,
                entry.key,
                {
                    "key": format_key_path(entry.path),
                    "wanted": wanted,
                    "effect": effect,
                    "place": self.place(item.spot),
                    "name": item.name,
                },
                severity="error" if required or entry.path[:-1] == section[:-1] else "warning",
                spot=item.spot,
                label=f"reads `{wanted}`",
            )
        )

    # What something does not take

    def refusals(self) -> None:
        seen: set[tuple[str, KeyPath, str]] = set()
        for result in self.results:
            for item in result.run.refusals:
                if item.key.source != self.path or (item.kind, item.key.path, item.name) in seen:
                    continue
                seen.add((item.kind, item.key.path, item.name))
                self.one_refusal(result, item)

    def one_refusal(self, result: RunResult, item: Refusal) -> None:
        entry = self.entries.get(item.key.path)
        if entry is None or entry.path in self.told:
            return
        name = str(item.key.path[-1]) if item.key.path else ""
        if item.kind in ("unknown-key", "swallowed"):
            given = (
                {str(other) for other, _ in self.entries[item.key.path[:-1]].children}
                if item.key.path[:-1] in self.entries
                else set()
            )
            free = [taken for taken in item.takes if taken not in given]
            near = nearest_name(name, free)
            if near is not None:
                self.told.add(entry.path)
                effect = item.says or "it is passed over without a word"
                self.add(
                    Verdict(
                        "misspelt-key",
                        entry.path,
                        entry.key,
                        {
                            "key": format_key_path(entry.path),
                            "name": name,
                            "wanted": near,
                            "effect": effect,
                            "place": self.place(item.spot),
                        },
                        spot=item.spot,
                        label=f"{item.by} takes `{near}`",
                        changes=(RenameKey(entry.path, near),) if self.first.file.form == "yaml" else (),
                        stops=bool(item.says),
                    )
                )
            elif item.kind == "unknown-key":
                self.told.add(entry.path)
                self.add(
                    Verdict(
                        "refused-key",
                        entry.path,
                        entry.key,
                        {
                            "key": format_key_path(entry.path),
                            "name": name,
                            "by": item.by,
                            "error": item.says,
                            "place": self.place(item.spot),
                        },
                        spot=item.spot,
                        label=f"{item.by} does not take it",
                    )
                )
            else:
                self.told.add(entry.path)
                self.add(
                    Verdict(
                        "dead-key",
                        entry.path,
                        entry.key,
                        {"key": format_key_path(entry.path)},
                        spot=item.spot,
                        label=f"{item.by} passes over it",
                    )
                )
        elif item.kind == "missing-key":
            for other in result.run.refusals:
                if (
                    other.kind == "unknown-key"
                    and other.key.path[:-1] == item.key.path
                    and nearest_name(str(other.key.path[-1]), [item.name])
                ):
                    return
            span = entry.key if entry.path else (entry.value[0], entry.value[0])
            self.add(
                Verdict(
                    "missing-key",
                    (*entry.path, item.name),
                    self.line_span(span),
                    {
                        "key": format_key_path((*entry.path, item.name)),
                        "name": item.name,
                        "error": item.says,
                        "place": self.place(item.spot),
                        "entry": self.shown(result.entrance.module.path),
                    },
                    spot=item.spot,
                    label=f"{item.by} needs `{item.name}`",
                )
            )
        elif item.kind == "text-truth":
            self.told.add(entry.path)
            self.add(
                Verdict(
                    "text-truth",
                    entry.path,
                    entry.value,
                    {"key": format_key_path(entry.path), "value": item.value, "place": self.place(item.spot)},
                    spot=item.spot,
                    label="a text is true here",
                    changes=(SetValue(entry.path, False, "false"),)
                    if self.first.file.form == "yaml" and item.value.lower() not in ("none", "null", "0")
                    else (),
                )
            )
        elif item.kind in ("wrong-type", "no-number", "cut"):
            if item.conditions:
                return
            self.told.add(entry.path)
            value = (
                shown_value(Scalar(item.value))
                if item.value is not None or item.kind != "wrong-type"
                else "null"
            )
            changes: tuple[Change, ...] = ()
            number = number_text(item.value) if entry.plain else None
            if number is not None and self.first.file.form == "yaml":
                changes = (SetValue(entry.path, float(number), number),)
            self.add(
                Verdict(
                    "refused-value",
                    entry.path,
                    entry.value,
                    {
                        "key": format_key_path(entry.path),
                        "value": value,
                        "by": item.by,
                        "error": item.says or "it is changed without a word",
                        "place": self.place(item.spot),
                    },
                    severity="warning" if item.kind == "cut" else None,
                    spot=item.spot,
                    label=f"{item.by} does not take it",
                    changes=changes,
                    stops=bool(item.says),
                )
            )

    def values(self) -> None:
        """Tell of texts that the code knows under a near spelling only."""
        for path, entry in self.entries.items():
            if entry.kind != "scalar" or not isinstance(entry.data, str) or path in self.told:
                continue
            keys = self.keys_at(path)
            compared = [item for key in keys for item in key.compared]
            if not compared or any(same for _, same in compared):
                continue
            names = list(dict.fromkeys(value for value, _ in compared if isinstance(value, str)))
            near = nearest_name(entry.data, names)
            if near is None or near == entry.data:
                continue
            spot = next((key.uses[0] for key in keys if key.uses), None)
            self.told.add(path)
            self.add(
                Verdict(
                    "unknown-choice",
                    path,
                    entry.value,
                    {
                        "key": format_key_path(path),
                        "value": entry.data,
                        "wanted": near,
                        "place": self.place(spot) if spot is not None else "",
                    },
                    spot=spot,
                    label="no way is taken for it",
                    changes=(SetValue(path, near),) if self.first.file.form == "yaml" else (),
                )
            )

    def interpolations(self) -> None:
        """Tell of interpolations that name no key, where the run reads them."""
        if not any(opened.loading.how in ("omegaconf", "hydra") for opened in self.mine):
            return
        for path, entry in self.entries.items():
            if entry.kind != "scalar" or not isinstance(entry.data, str) or "${" not in entry.data:
                continue
            reads = [spot for key in self.keys_at(path) for spot in key.reads]
            if not reads:
                continue
            for name in re.findall(r"\$\{([A-Za-z_][\w.]*)\}", entry.data):
                if any(self.names_key(result, name) for result in self.results):
                    continue
                self.told.add(path)
                self.add(
                    Verdict(
                        "missing-key",
                        path,
                        entry.value,
                        {
                            "key": name,
                            "name": name,
                            "error": "InterpolationKeyError",
                            "place": self.place(reads[0]),
                            "entry": self.shown(self.results[0].entrance.module.path),
                        },
                        spot=reads[0],
                        label="reads the value that names it",
                    )
                )

    def names_key(self, result: RunResult, name: str) -> bool:
        """Tell whether any config of a run, or its command line, has a key path."""
        steps = tuple(name.split("."))
        for path, opened in result.opened.items():
            for known in opened.keys:
                plain = tuple(str(step) for step in known)
                if plain == steps or (len(steps) > 1 and plain == steps[1:] and steps[0] in path):
                    return True
        return any(
            argument.lstrip("+").startswith(f"{name}=")
            for argument in (result.command.arguments if result.command else ())
        )

    def numbers_as_text(self) -> None:
        """Tell of texts that look like numbers and go into TensorFlow or Keras unconverted."""
        for result in self.results:
            for call in result.run.calls:
                if not call.name.startswith(("keras.", "tensorflow.")) or call.conditions:
                    continue
                given = [(None, value) for value in call.args] + list(call.keywords.items())
                for name, value in given:
                    key = value.key if type(value) is Scalar else None
                    if key is None or key.source != self.path or key.path in self.told or name in _TEXTS:
                        continue
                    entry = self.entries.get(key.path)
                    if (
                        entry is None
                        or not entry.plain
                        or not isinstance(entry.data, str)
                        or type(value) is not Scalar
                        or value.value != entry.data
                    ):
                        continue
                    wanted = number_text(entry.data) or (
                        entry.data[:-1] if _TRAILING.fullmatch(entry.data) else None
                    )
                    if wanted is None:
                        continue
                    self.told.add(key.path)
                    self.add(
                        Verdict(
                            "refused-value",
                            key.path,
                            entry.value,
                            {
                                "key": format_key_path(key.path),
                                "value": shown_value(value),
                                "by": call.name.rpartition(".")[2] + "()",
                                "error": "a text is no number",
                                "place": self.place(call.spot),
                            },
                            spot=call.spot,
                            label="takes a number",
                            changes=(SetValue(key.path, float(wanted), wanted),),
                            stops=True,
                        )
                    )

    # Dead

    def dead(self) -> None:
        every_way = self.again()
        dead: list[Entry] = []
        unsure: set[KeyPath] = set()
        for path, entry in self.entries.items():
            if (
                not path
                or path in self.told
                or any(path[:depth] in {item.path for item in dead} for depth in range(1, len(path)))
            ):
                continue
            if entry.anchored or (entry.kind != "scalar" and self.holds_anchor(entry)):
                continue
            if isinstance(path[-1], int) or any(isinstance(step, int) for step in path):
                continue
            if (
                self.root is not None
                and self.first.loading.how == "hydra"
                and path[0] in ("defaults", "hydra")
            ):
                continue
            if any(told[: len(path)] == path for told in self.told):
                continue
            if self.untouched(path):
                if any(path[:depth] in unsure for depth in range(1, len(path))):
                    continue
                if self.not_followed(path):
                    unsure.add(path)
                    continue
                if not self.exhausted and any(key.writes or key.may_write for key in self.keys_at(path)):
                    continue
                if self.read_from_defaults(entry):
                    continue
                guard = self.read_otherwise(path, every_way)
                if guard:
                    self.told.add(path)
                    if isinstance(guard, Verdict):
                        self.add(guard)
                    dead.append(entry)
                    continue
                if str(path[-1]) in self.mentioned or self.mentioned_below(entry) or self.in_scripts(entry):
                    # Of a section that other code may read nothing is said, nor of what lies in it.
                    unsure.add(path)
                    continue
                dead.append(entry)
                self.told.add(path)
                self.add(self.dead_verdict(entry))
        del dead

    def read_from_defaults(self, entry: Entry) -> bool:
        """Tell of a name that is near to one which a file below this one has, and which counts instead of it."""
        found = False
        for child in list(entry.walk()):
            if child.kind != "scalar" or not child.path or child.path in self.told:
                continue
            given = {str(path[-1]) for path in self.entries if path[:-1] == child.path[:-1] and path}
            for result in self.results:
                for other in result.opened.values():
                    if other.file is self.first.file:
                        continue
                    names = {
                        str(path[-1]): key
                        for path, key in other.keys.items()
                        if path
                        and path[:-1] == child.path[:-1]
                        and counted(key)
                        and str(path[-1]) not in given
                    }
                    near = nearest_name(str(child.path[-1]), names)
                    if near is None or child.path in self.told:
                        continue
                    key = names[near]
                    spot = (
                        (key.reads or key.uses or key.walks)[0]
                        if (key.reads or key.uses or key.walks)
                        else None
                    )
                    self.told.add(child.path)
                    found = True
                    self.add(
                        Verdict(
                            "misspelt-key",
                            child.path,
                            child.key,
                            {
                                "key": format_key_path(child.path),
                                "name": str(child.path[-1]),
                                "wanted": near,
                                "effect": f"the value of {other.file.path} counts",
                                "place": self.place(spot) if spot is not None else other.file.path,
                            },
                            spot=spot,
                            label=f"reads `{near}`",
                            changes=(RenameKey(child.path, near),) if self.first.file.form == "yaml" else (),
                        )
                    )
        return found

    def not_followed(self, path: KeyPath) -> bool:
        """Tell whether a section went where it could not be followed, or its names are made by counting."""
        section = path[:-1]
        siblings = [child.path for _, child in self.entries[section].children if section in self.entries]
        read = [
            other
            for other in siblings
            if other != path and other in self.entries and not self.untouched(other)
        ]
        taken = not section or any(counted(key) for key in self.keys_at(section))
        if taken and not read and not any(told[: len(section)] == section for told in self.told):
            return True
        numbered = re.sub(r"[0-9]+", "0", str(path[-1]))
        return numbered != str(path[-1]) and any(
            re.sub(r"[0-9]+", "0", str(other[-1])) == numbered for other in siblings if other != path
        )

    def mentioned_below(self, entry: Entry) -> bool:
        if entry.kind != "map":
            return False
        return any(
            str(child.path[-1]) in self.mentioned
            for child in entry.walk()
            if child.path and child is not entry
        )

    def in_scripts(self, entry: Entry) -> bool:
        """Tell whether a script that names the file names a key, too: `yq .ports.board pool.yaml`."""
        words = self.project.words_beside(self.path.rpartition("/")[2])
        return any(str(item.path[-1]) in words for item in entry.walk() if item.path)

    def holds_anchor(self, entry: Entry) -> bool:
        return any(child.anchored for child in entry.walk())

    def dead_verdict(self, entry: Entry) -> Verdict:
        name = str(entry.path[-1])
        logs = [spot for key in self.keys_at(entry.path) for spot in key.logs]
        notes = []
        if logs:
            notes.append(f"it is only written down again in {self.place(logs[0])}")
        return Verdict(
            "dead-key",
            entry.path,
            entry.key,
            {"key": format_key_path(entry.path)},
            severity="info" if name.lower() in FOR_A_READER and len(entry.path) == 1 else None,
            spot=logs[0] if logs else None,
            label="only written down again" if logs else "",
            notes=tuple(notes),
        )

    def every_way(self, result: RunResult) -> RunResult:
        """Return the same run with both ways taken at conditions on the config."""
        known = self.project.every_way
        key = id(result)
        if key not in known:
            known[key] = made_again(self.project, result, every_way=True)
        return known[key]

    def read_otherwise(self, path: KeyPath, every_way: list[RunResult]) -> Verdict | bool:
        """Return what is said of a key that only code reads which this file's other values do not let run.

        Returns:
            A verdict where another value of the file decides it; True where something else does; False where no way reads it.
        """
        found = False
        for result in every_way:
            opened = result.opened.get(self.path)
            if opened is None:
                continue
            for other, key in opened.keys.items():
                if other[: len(path)] != path or not counted(key):
                    continue
                found = True
                for spot in (*key.reads, *key.uses, *key.walks, *key.escapes):
                    deciding = [item for item in spot.conditions if item in result.run.config_conditions]
                    if not deciding or deciding[-1] != spot.conditions[-1]:
                        continue
                    return Verdict(
                        "unused-here",
                        path,
                        self.entries[path].key,
                        {
                            "key": format_key_path(path),
                            "condition": deciding[-1],
                            "place": self.place(spot),
                        },
                        severity="warning" if _CHOICE.match(deciding[-1]) else "info",
                        spot=spot,
                        label="the only place that reads it",
                    )
        return found

    # Read and without effect

    def overwritten(self) -> None:
        if self.exhausted:
            return
        for path, entry in self.entries.items():
            if not path or path in self.told or entry.anchored or any(isinstance(step, int) for step in path):
                continue
            keys = self.keys_at(path)
            if not keys or len(keys) < len(self.mine):
                continue
            if any(self.counts(key) for key in keys):
                continue
            below = [
                key
                for opened in self.mine
                for other, key in opened.keys.items()
                if len(other) > len(path) and other[: len(path)] == path
            ]
            if any(counted(key) for key in below) or entry.kind != "scalar":
                continue
            writes = [spot for key in keys for spot in key.writes]
            logs = [spot for key in keys for spot in key.logs]
            reads = [spot for key in keys for spot in key.reads]
            if writes and all(key.writes for key in keys):
                self.told.add(path)
                self.add(
                    Verdict(
                        "replaced-key",
                        path,
                        entry.key,
                        {"key": format_key_path(path), "place": self.place(writes[0])},
                        spot=writes[0],
                        label="replaced here",
                    )
                )
            elif logs and reads and str(path[-1]) not in self.mentioned:
                self.told.add(path)
                self.add(
                    Verdict(
                        "logged-key",
                        path,
                        entry.key,
                        {"key": format_key_path(path), "place": self.place(logs[0])},
                        spot=logs[0],
                        label="only logged",
                    )
                )
            elif reads and not any(key.may_write for key in keys) and str(path[-1]) not in self.mentioned:
                self.told.add(path)
                self.add(
                    Verdict(
                        "unused-value",
                        path,
                        entry.key,
                        {"key": format_key_path(path), "place": self.place(reads[0])},
                        spot=reads[0],
                        label="read here, and used by nothing",
                    )
                )

    def counts(self, key: ConfigKey) -> bool:
        if key.uses or key.escapes or key.walks:
            return True
        above = key.parent
        while above is not None:
            if above.escapes or above.walks:
                return True
            above = above.parent
        return False

    def line_span(self, span: tuple[int, int]) -> tuple[int, int]:
        start, end = span
        if end > start:
            return span
        source = self.first.file.source.text
        stop = source.find("\n", start)
        return start, stop if stop >= 0 else len(source)

    def add(self, verdict: Verdict) -> None:
        self.verdicts.append(verdict)


def shown_value(value: Value | None) -> str:
    """Return a value in words."""
    if isinstance(value, Scalar):
        return repr(value.value)
    return "of the code"


_WORD = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")
_CHOICE = re.compile(r"(?!not ).*(== ?['\"]|['\"] ?==| is (?!not|None))")
"""A condition that chooses one of several ways by a name, not one that switches something on."""
_TEXTS = frozenset({"name", "filepath", "path", "log_dir"})
"""Parameters that take any text."""
_TRAILING = re.compile(r"[-+]?[0-9]+(?:\.[0-9]+)?,")
_NUMBER = re.compile(r"[-+]?(?:[0-9][0-9_]*)(?:\.[0-9_]*)?[eE][-+]?[0-9]+|[-+]?\.[0-9]+[eE][-+]?[0-9]+")


def number_text(value: Any) -> str | None:
    """Return a text that looks like a number as YAML 1.1 reads a number, or None."""
    if not isinstance(value, str) or not _NUMBER.fullmatch(value):
        return None
    mantissa, _, exponent = value.lower().partition("e")
    if "." not in mantissa:
        mantissa += ".0"
    if mantissa.startswith("."):
        mantissa = f"0{mantissa}"
    if exponent[0] not in "+-":
        exponent = f"+{exponent}"
    return f"{mantissa}e{exponent}"


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _words(name: str) -> list[str]:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return [word for word in re.split(r"[^A-Za-z0-9]+", spaced.lower()) if word]


def alike(one: str, other: str) -> float:
    """Return how near two names are, from 0 to 1; below 0.7 they are two names."""
    if one == other:
        return 1.0
    first, second = _plain(one), _plain(other)
    if first == second:
        return 0.99
    if not first or not second:
        return 0.0
    ratio = difflib.SequenceMatcher(None, first, second).ratio()
    if len(first) == len(second) and sorted(first) == sorted(second) and len(first) > 2:
        # Letters that changed places.
        ratio = max(ratio, 0.9)
    if (first.rstrip("s") == second.rstrip("s")) and min(len(first), len(second)) > 2:
        ratio = max(ratio, 0.92)
    words, others = _words(one), _words(other)
    if len(words) == len(others) and len(words) > 1:
        pairs = [difflib.SequenceMatcher(None, a, b).ratio() for a, b in zip(words, others, strict=True)]
        differing = [pair for pair in pairs if pair < 1]
        if len(differing) == 1:
            # One word of several is another one: `train_size` and `test_size` are two names.
            ratio = min(ratio, 0.69) if differing[0] < 0.6 else max(ratio, differing[0])
    elif len(words) != len(others) and ratio < 0.8:
        # `dirs` and `log_dirs` are two names.
        ratio = 0.0
    elif min(len(first), len(second)) <= 3 and ratio < 0.8:
        ratio = 0.0
    return ratio


def nearest_entry(name: str, entries: Iterable[Entry], *, alone: bool) -> Entry | None:
    """Return the entry whose name was most likely meant, or None.

    Args:
        name: The name that the code reads.
        entries: Entries that nothing reads.
        alone: Whether the code cannot go on without it, so that one name holding another is enough.
    """
    best, found = 0.0, None
    for entry in entries:
        other = str(entry.path[-1])
        score = alike(name, other)
        if score < 0.7 and alone and _holds_words(name, other):
            score = 0.7
        if score >= 0.7 and score > best:
            best, found = score, entry
    return found


def _holds_words(one: str, other: str) -> bool:
    words, others = _words(one), _words(other)
    short, long = (words, others) if len(words) < len(others) else (others, words)
    return bool(short) and len(short) < len(long) and long[: len(short)] == short and len("".join(short)) > 2


def nearest_name(name: str, names: Iterable[str]) -> str | None:
    """Return the name that was most likely meant, or None."""
    best, found = 0.0, None
    for other in names:
        score = alike(name, other)
        if score >= 0.7 and score > best:
            best, found = score, other
    return found
