"""What one run of a program came to, and what it shows of the files that it opened."""

from __future__ import annotations

from typing import Any

from cfgfix.code.inference.interpreter.events import REQUIRED, Loading
from cfgfix.code.inference.interpreter.interpreter import Interpreter
from cfgfix.code.inference.interpreter.objects import ConfigKey, Mapping
from cfgfix.core.records import dataclass
from cfgfix.usage.commands import Command
from cfgfix.usage.config_files import KeyPath
from cfgfix.usage.entrances import Entrance
from cfgfix.usage.run_host import Opened, Repair, Site, counts_as_read, from_outside, site_of
from cfgfix.usage.spelling import nearest_name

FITS = 0.5
"""Share of a file's keys at the top that a load site must ask for: training configs have 0.88 and more, others 0.33 and less."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """What one run of a program did.

    Attributes:
        entrance: Where it began.
        command: The command that started it, or None.
        opened: The configs that it loaded, by path relative to the project.
        run: The run, with what it notes.
        every_way: Whether both ways were taken at conditions on the config.
        forced: The file given to load sites in place of the program's own; empty for none.
        sites_forced: The load sites that were given this file.
        unresolved: Load sites whose file is not known, with the record of the keys asked for.
        unknown_overrides: Overrides of the command line that name no key, each with its section.
        touched: The config files whose text the run depends on, by path relative to the project.
        repairs: Keys moved to where the programs look for them.
    """

    entrance: Entrance
    command: Command | None
    opened: dict[str, Opened]
    run: Interpreter
    every_way: bool
    forced: str
    sites_forced: tuple[Site, ...]
    unresolved: dict[Site, tuple[Loading, ConfigKey]]
    unknown_overrides: list[tuple[str, Mapping]]
    touched: frozenset[str] = frozenset()
    groups: frozenset[tuple[str, str]] = frozenset()
    """The groups of which Hydra chooses: the folder of configs and the group."""
    repairs: tuple[Repair, ...] = ()

    @property
    def broken(self) -> frozenset[str]:
        """The configs whose base config is absent."""
        return frozenset(item.key.source for item in self.run.refusals if item.kind == "absent-file")


@dataclass(frozen=True, slots=True)
class Trace:
    """What a run shows of configs that it does not open.

    Attributes:
        opened: The configs that it opens, by path relative to the project.
        exhausted: Whether it was cut off.
        loaded: The calls that load a config: file, line and column.
        scopes: The scopes that it ran to their ends, by identity.
        names: The keys that it reads of its configs: the name and, for one inside a section, the path.
        asked: The names that it asked for in vain.
    """

    opened: frozenset[str]
    exhausted: bool
    loaded: frozenset[tuple[str, int, int]]
    scopes: frozenset[int]
    names: tuple[tuple[Any, KeyPath | None], ...]
    asked: frozenset[str]


def trace_of(result: RunResult) -> Trace:
    """Return what a run shows of the configs that it does not open."""
    run = result.run
    loaded = {site[-1] for site in result.unresolved}
    loaded |= {site_of(opened.loading)[-1] for opened in result.opened.values()}
    names = {
        # A section of the same name in another config may be of one kind with this one.
        (key.name, key.path if len(key.path) > 1 else None)
        for opened in result.opened.values()
        for key in opened.keys.values()
        if counts_as_read(key)
    }
    return Trace(
        frozenset(result.opened),
        run.exhausted,
        frozenset(loaded),
        frozenset(run.entered.keys() - run.left_early),
        tuple(names),
        frozenset(item.name for item in run.asked),
    )


Outcome = tuple[Any, ...]
"""What a run decides of the runs that are made: plain values, equal where they decide the same."""


@dataclass(frozen=True, slots=True)
class Made:
    """The record of one run in the order of all runs.

    Attributes:
        entrance: The module's path and the function where it begins.
        command: The command that started it, or None.
        forced: The files given to load sites in place of the program's own.
        result: The identity of its result.
        base: The identity of the result that this run repeats with both ways taken; 0 for none.
        before: The steps of all runs before it.
        steps: The steps of this run.
        outcome: The facts on which the choice of further runs depends.
    """

    entrance: tuple[str, str]
    command: Command | None
    forced: tuple[tuple[Site, str], ...]
    result: int
    base: int
    before: int
    steps: int
    outcome: Outcome

    @property
    def has_options(self) -> bool:
        """Whether the run declares options."""
        return bool(self.outcome[2])


def outcome_of(result: RunResult) -> Outcome:
    """Return the facts of a run on which the choice of further runs depends."""
    run, made = result.run, result.opened.get(result.forced)
    fits: tuple[Any, ...] = ()
    if made is not None and made.root is not None:
        count = sum(1 for key in made.keys.values() if key.path and counts_as_read(key))
        lacks = count_lacking_keys(made, result)
        fits = (share_read(made) >= FITS, lacks, count // 10, count // 3)
    asks = [
        *(
            (site_of(loading), loading.how, tuple(sorted(key.asked)))
            for loading, key in result.unresolved.values()
        ),
        *(
            (site_of(opened.loading), opened.loading.how, tuple(sorted(names_at_top(result, path))))
            for path, opened in result.opened.items()
            if from_outside(opened.loading.path)
        ),
    ]
    return (
        run.exhausted,
        bool(run.loadings),
        bool(run.options),
        tuple(result.opened),
        tuple(sorted(result.touched)),
        fits,
        tuple(asks),
    )


@dataclass(frozen=True, slots=True)
class Choice:
    """A key by whose value programs choose, and the value that a run has for it.

    Attributes:
        file: The config, relative to the project.
        key: The key path.
        value: The value that the key has in a run; None for its own.
    """

    file: str
    key: KeyPath
    value: str | None


@dataclass(frozen=True, slots=True)
class OpenSite:
    """A load site of a program that may get files which are not known.

    Attributes:
        entrance: Where the program begins.
        command: The command under which it comes to the site.
        loading: The call.
        names: Keys at the top of the file that are asked for.
        known: Files that the program is known to open.
        said: Names in the code of the program, which may be keys of the file.
    """

    entrance: Entrance
    command: Command | None
    loading: Loading
    names: set[str]
    known: frozenset[str]
    said: frozenset[str] = frozenset()


def names_at_top(result: RunResult, path: str) -> set[str]:
    """Return the outermost keys of a file that a run asks for."""
    opened = result.opened.get(path)
    read = opened.keys.values() if opened is not None else ()
    return {str(key.path[0]) for key in read if key.path and counts_as_read(key)} | {
        asked.name
        for asked in result.run.asked
        if any(section.source == path and not section.path for section in asked.sections)
    }


def share_read(opened: Opened) -> float:
    """Return the share of a file's outermost keys that a run reads.

    A key counts as read where anything below it is read.
    """
    names = [key for key in opened.keys.values() if len(key.path) == 1]
    return sum(1 for key in names if opened.read_from(key.path)) / len(names) if names else 0.0


def share_of(result: RunResult, path: str) -> float:
    """Return the share of outermost keys that a run reads in the file at a path."""
    opened = result.opened.get(path)
    return share_read(opened) if opened is not None else 0.0


def share_of_all(result: RunResult) -> float:
    """Return the share of outermost keys that a run reads in all its files."""
    names = [
        key
        for opened in result.opened.values()
        for key in opened.keys.values()
        if len(key.path) == 1 and key.name not in ("defaults", "hydra")
    ]
    return sum(1 for key in names if counts_as_read(key)) / len(names) if names else 0.0


def count_all_lacking_keys(result: RunResult) -> int:
    """Return the number of lacking and refused keys in all files of a run."""
    return sum(
        count_lacking_keys(opened, result) for opened in result.opened.values() if opened.root is not None
    )


def count_lacking_keys(opened: Opened, result: RunResult) -> int:
    """Return the number of keys that a file lacks or a program refuses.

    Only keys count without which the program stops. A misspelt key that is there does not count.
    """
    unread: dict[KeyPath, list[str]] = {}
    for path, key in opened.keys.items():
        if path and not counts_as_read(key):
            unread.setdefault(path[:-1], []).append(str(path[-1]))
    asked = {
        (key.path, item.name)
        for item in result.run.asked
        if item.how == REQUIRED and not item.caught and not item.conditions
        for key in item.sections
        if key.source == opened.keys[()].source and nearest_name(item.name, unread.get(key.path, ())) is None
    }
    refused = {
        item.key.path
        for item in result.run.refusals
        if item.key.source == opened.keys[()].source
        and (
            (item.kind == "unknown-key" and nearest_name(item.key.name, item.takes) is None)
            or (item.kind == "missing-key" and nearest_name(item.name, unread.get(item.key.path, ())) is None)
        )
    }
    return len(asked) + len(refused)


def loads_form(how: str) -> tuple[str, ...]:
    """Return the file extensions that a loading function is for."""
    return {"json": (".json",), "toml": (".toml",), "ini": (".ini", ".cfg", ".conf")}.get(
        how, (".yaml", ".yml")
    )
