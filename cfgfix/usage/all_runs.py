"""Make all runs of a project: under its commands, then with the files and sections that nothing names."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence as Row

from cfgfix.code.inference.interpreter.events import Loading
from cfgfix.code.inference.interpreter.notes import Chosen
from cfgfix.code.inference.interpreter.objects import ConfigKey, Scalar
from cfgfix.core.records import replace
from cfgfix.usage.commands import UNSAID, Command
from cfgfix.usage.config_files import Entry
from cfgfix.usage.entrances import ASIDE, Entrance, Entrances
from cfgfix.usage.program_runs import MAX_STEPS, ProjectRuns, files_put_in
from cfgfix.usage.project_files import DATA
from cfgfix.usage.run_host import Site, counts_as_read, from_outside, is_recursive, site_of
from cfgfix.usage.run_results import (
    FITS,
    OpenSite,
    RunResult,
    count_all_lacking_keys,
    count_lacking_keys,
    names_at_top,
    share_of,
    share_of_all,
    share_read,
)
from cfgfix.usage.scope_names import names_of_configs

MAX_OPTION_STEPS = 300_000
"""Most steps of the programs that have options and load nothing, beside those of the others."""
MAX_FORCED = 64
"""Most files that are tried at one load site."""
MAX_SIBLINGS = 24
"""Most files that are tried since they lie beside one of the same kind."""
MAX_FITTING = 3
"""Most programs that a file is tried with which lack nothing of it, where they may get other files, too."""
MAX_CHOSEN = 24
"""Most runs with another section of a config than the one that an option takes."""
MAX_ENTRIES_CHOSEN = 8
"""Most sections that one option is tried with."""
MAX_OPTIONS = 40
"""Most options and configs of Hydra that a program is tried with."""
_DEFAULTS = re.compile(r"^defaults:", re.MULTILINE)
_WORDS = re.compile(r"[a-z]+|[0-9]+")
_ANY_PROGRAM = frozenset(
    {"conf", "config", "configs", "cfg", "default", "experiment", "experiments", "main", "model", "models", "param", "params", "run",
     "script", "scripts", "setting", "settings", "src", "test", "train", "trainer", "training"}
)  # fmt: skip
"""Words in the names of files that say nothing of which program one is for."""
_OF_A_RUN = re.compile(r"\d{4}-?\d{2}-?\d{2}[-_T/ ]?\d{2}[-_:]?\d{2}")
"""A day with its time in the path of a file: what a run wrote down of its settings, as a rule."""
_OVERRIDE = re.compile(r"[+~]{0,2}[A-Za-z_][\w./@]*=")
"""An argument such as `train.epochs=3`."""


def make_all_runs(project: ProjectRuns) -> None:
    """Run every program of a project under every command.

    Each program is then run with further files and options that no command names.
    """
    finder = Entrances(project.program, project.files)
    entrances = project.entered = finder.found()
    commands = finder.commands(entrances)
    made: list[tuple[Entrance, list[RunResult]]] = []
    project.commands_of = [(entrance, commands.get(number, [])) for number, entrance in enumerate(entrances)]
    project.starting_nothing = finder.starting_nothing
    for number, entrance in enumerate(entrances):
        mine: list[RunResult] = []
        if not entrance.loads:
            continue
        by_place = "argv" in names_of_configs(project.program, entrance.module)
        for command in _distinct_commands(commands.get(number, ()), by_place=by_place):
            if project.spent():
                break
            if any(map(_was_in_vain, mine)) and not _names_data(command):
                # What is too much to follow under one command is so under another that names no file: it counts as followed.
                project.steps += mine[-1].run.steps
                continue
            result = project.one(entrance, command)
            if not result.run.loadings:
                # A program that loads nothing under one command loads nothing under another, as a rule.
                _keep_for_options(project, result)
                break
            known = {path for other in mine for path in other.opened}
            if command is None and result.opened and known.issuperset(result.opened):
                # Without arguments it opens its defaults: they count only where no command names them.
                continue
            mine.append(result)
            project.results.append(result)
        made.append((entrance, mine))
    further = _FurtherRuns(project)
    project.open_sites = [item for entrance, mine in made for item in _open_sites(project, entrance, mine)]
    further.try_fitting_files(project.open_sites)
    for _, mine in made:
        further.try_options(mine)
    further.try_chosen_sections()
    further.try_numbered_files([result for _, mine in made for result in mine])
    further.try_named_by_configs([result for _, mine in made for result in mine])
    further.try_siblings()
    others = finder.without_settings() if project.follows_models else []
    for entrance in (*entrances, *others):
        if not entrance.loads and project.option_steps < MAX_OPTION_STEPS:
            before = project.steps
            _keep_for_options(project, project.one(entrance, None))
            project.option_steps += project.steps - before
            project.steps = before
    project.driven = len(project.made)


def _keep_for_options(project: ProjectRuns, result: RunResult) -> None:
    """Keep a run that loads no config, to judge the options that it declares."""
    if result.entrance.framework and (result.run.options or project.follows_models):
        project.without_config.append(result)


class _FurtherRuns:
    """Runs of a project's programs with files and options that no command names."""

    def __init__(self, project: ProjectRuns) -> None:
        self.project = project

    def try_fitting_files(self, sites: Row[OpenSite]) -> None:
        """Run programs with further files of the shape that their load sites ask for.

        Where several programs fit a file, those nearest to it in the folders are tried first.
        """
        named = {path for result in self.project.results for path in result.opened}
        opening = {
            (path, site_of(opened.loading)[-1])
            for result in self.project.results
            for path, opened in result.opened.items()
        }
        fits_of: dict[int, list[str]] = {}
        candidates = [path for path in self.project.files.data if not _OF_A_RUN.search(path)]
        for site in sites:
            fits_of[id(site)] = [
                path
                for path in candidates
                if self.project.fits(path, site.loading.how, site.names, site.said)
            ]
        for path in candidates:
            # What a command or the code names is not tried elsewhere, unless nothing is known of what a program gets.
            fitting = [
                site
                for site in sites
                if path not in site.known and not (path in named and site.known) and path in fits_of[id(site)]
            ]
            near = {
                id(site): (self._shared_folders(path, site.entrance), self._shared_words(path, site.entrance))
                for site in fitting
            }
            fitting.sort(
                key=lambda site: (
                    *(-count for count in near[id(site)]),
                    bool(ASIDE.search(f"/{site.entrance.module.path}")),
                )
            )
            nearest = (-1, -1)
            fits: list[tuple[int, RunResult]] = []
            alone: list[RunResult] = []
            tried: list[tuple[Entrance, Command | None, frozenset[Site]]] = []
            for site in fitting[:MAX_FORCED]:
                if near[id(site)] < nearest:
                    break
                only = fits_of[id(site)] == [path]
                if sum(1 for lacks, _ in fits if not lacks) >= MAX_FITTING and not (
                    only and self.project.steps < MAX_STEPS // 3 * 2
                ):
                    continue
                if self.project.spent():
                    # The program that the file is for may be one that was not tried.
                    return
                forced = {site_of(other.loading): path for other in _with_same_path(site, sites)}
                if (site.entrance, site.command, frozenset(forced)) in tried:
                    continue
                tried.append((site.entrance, site.command, frozenset(forced)))
                result = self.project.one(site.entrance, site.command, forced)
                made = result.opened.get(path)
                if made is None or made.root is None or share_read(made) < FITS:
                    continue
                lacks = count_lacking_keys(made, result)
                asked = sum(1 for key in made.keys.values() if key.path and counts_as_read(key))
                folders, words = near[id(site)]
                named_alike = words > 1 and not any(
                    near[id(other)] >= near[id(site)]
                    for other in fitting
                    if other.entrance is not site.entrance
                )
                if lacks > max(1, asked // (3 if named_alike else 10)):
                    # A program that lies farther off has no better claim to it.
                    nearest = max(nearest, (folders, -1))
                else:
                    nearest = near[id(site)]
                    fits.append((lacks, result))
                    if only and (path, site_of(site.loading)[-1]) in opening:
                        # The program can get no other file here, and its loader is the one that reads this file elsewhere.
                        alone.append(result)
            least = min((lacks for lacks, _ in fits), default=0)
            # One that reads more of the file than those which lack least of it has a claim, too.
            most = max((share_of(result, path) for lacks, result in fits if lacks == least), default=0.0)
            self.project.results += [
                result
                for lacks, result in fits
                if lacks == least or result in alone or share_of(result, path) > most
            ]

    def try_options(self, results: Row[RunResult]) -> None:
        """Run a program of Hydra with group options and configs that no run has used."""
        count = 0
        for result in results:
            sites = [
                (site_of(opened.loading), os.path.dirname(path))
                for path, opened in result.opened.items()
                if opened.loading.how == "hydra"
            ][:1]
            for site, folder in sites:
                for path in self._options_in(folder, result):
                    if any(path in other.opened for other in results):
                        continue
                    count += 1
                    if count > MAX_OPTIONS or self.project.spent():
                        return
                    other = self.project.one(result.entrance, result.command, {site: path})
                    made = other.opened.get(path)
                    if made is None or made.root is None:
                        continue
                    is_whole = os.path.dirname(path) == folder
                    if count_all_lacking_keys(other) <= count_all_lacking_keys(result) and (
                        not is_whole or share_of_all(other) >= FITS
                    ):
                        self.project.results.append(other)

    def try_chosen_sections(self) -> None:
        """Run programs with other sections that an option or variable may choose.

        The variable is one of the environment.
        """
        tried = 0
        for result in list(self.project.results):
            open_names = {
                name for name, items in result.run.chosen.items() if any(i.name is None for i in items)
            }
            accepted = 0
            for name, items in result.run.chosen.items():
                for value in self._may_choose(result, name, items):
                    if tried >= MAX_CHOSEN or self.project.spent():
                        return
                    tried += 1
                    command = result.command or UNSAID
                    command = replace(command, chosen=(*command.chosen, (name, value)))
                    made = self.project.one(result.entrance, command, files_put_in(result))
                    if made.run.exhausted or made.opened.keys() != result.opened.keys():
                        continue
                    asked = sum(
                        1
                        for opened in made.opened.values()
                        for key in opened.keys.values()
                        if key.path and counts_as_read(key)
                    )
                    option = result.run.options.get(name)
                    declared = option is not None and bool(option.choices)
                    most = max(1, asked // 10) + (0 if name in open_names else count_all_lacking_keys(result))
                    if declared or count_all_lacking_keys(made) <= most:
                        self.project.results.append(made)
                        accepted += 1
            if accepted and open_names:
                # Without a value the program does not come to what it reads of the section.
                self.project.results = [other for other in self.project.results if other is not result]

    def _may_choose(self, result: RunResult, name: str, items: Row[Chosen]) -> list[str]:
        """Return the other entries that an option may choose, by their keys.

        Only entries that resemble the chosen one count.
        """
        option = result.run.options.get(name)
        if result.command is not None and any(known == name for known, _ in result.command.chosen):
            return []
        found: list[str] | None = None
        for item in items:
            opened = result.opened.get(item.section.source)
            root = opened.root if opened is not None else None
            section = root.at(item.section.path) if root is not None else None
            if section is None or section.kind != "map":
                return []
            entries = {str(key): child for key, child in section.children if isinstance(key, str)}
            own = entries.get(str(item.name)) if item.name is not None else None
            if item.name is not None and own is None:
                return []
            alike = [
                key
                for key, child in entries.items()
                if child is not own
                and any(
                    _of_one_kind(child, other)
                    for other in ((own,) if own is not None else entries.values())
                    if other is not child
                )
            ]
            found = alike if found is None else [key for key in found if key in alike]
        if option is not None and option.choices:
            found = [key for key in found or () if key in option.choices]
        return (found or [])[:MAX_ENTRIES_CHOSEN]

    def try_numbered_files(self, results: Row[RunResult]) -> None:
        """Run programs with files whose names differ from an opened one only in numbers.

        `plan_2.json` is tried in the place of `plan_3.json`, which the code names.
        """
        named = {path for result in self.project.results for path in result.opened}
        alike: dict[str, list[str]] = {}
        for path in self.project.files.data:
            if path not in named and not _OF_A_RUN.search(path):
                alike.setdefault(_without_numbers(path), []).append(path)
        count: dict[str, int] = {}
        for result in results:
            for path, opened in result.opened.items():
                if opened.loading.how == "hydra" or type(opened.loading.path) is not Scalar:
                    continue
                for other in alike.get(_without_numbers(path), ()):
                    if self.project.spent():
                        return
                    if count.get(other, 0) >= MAX_FITTING:
                        continue
                    again = self.project.one(
                        result.entrance, result.command, {site_of(opened.loading): other}
                    )
                    made = again.opened.get(other)
                    if (
                        made is None
                        or made.root is None
                        or share_read(made) < FITS
                        or count_lacking_keys(made, again)
                    ):
                        continue
                    count[other] = count.get(other, 0) + 1
                    self.project.results.append(again)

    def try_named_by_configs(self, results: Row[RunResult]) -> None:
        """Run programs with other files that the value of a config may name.

        Where `nets/small.yaml` is opened since a config says `net: small`, that is `nets/large.yaml`.
        """
        named = {path for result in self.project.results for path in result.opened}
        tried: set[str] = set()
        for result in results:
            for path, opened in result.opened.items():
                where = opened.loading.path
                if opened.loading.how == "hydra" or type(where) is not Scalar:
                    continue
                texts = {_text_at(result, key) for key in where.origins}
                for text in filter(None, texts):
                    before, after = _text_around(path, text)
                    for other in self.project.files.data:
                        if (
                            other in named
                            or other in tried
                            or not _stands_between(other, before, after)
                            or len(tried) >= MAX_SIBLINGS
                            or self.project.spent()
                        ):
                            continue
                        tried.add(other)
                        site = site_of(opened.loading)
                        again = self.project.one(result.entrance, result.command, {site: other})
                        made = again.opened.get(other)
                        if made is None or made.root is None:
                            continue
                        # Beside a file that the config names whole there may stand files of another kind.
                        if _takes_file(again, other) or (
                            share_read(made) >= HALF and not text.endswith(after)
                        ):
                            self.project.results.append(again)

    def _options_in(self, folder: str, result: RunResult) -> list[str]:
        """Return the option files of the groups that a run uses, then other whole configs."""
        inside = f"{folder}/" if folder else ""
        options: list[str] = []
        wholes: list[str] = []
        for path in self.project.files.data:
            if not path.startswith(inside) or not path.endswith((".yaml", ".yml")) or _OF_A_RUN.search(path):
                continue
            group = os.path.dirname(path[len(inside) :])
            if (folder, group) in result.groups:
                options.append(path)
            elif not group and _DEFAULTS.search(self.project.text_of(path)):
                wholes.append(path)
        return options + wholes

    def try_siblings(self) -> None:
        """Run programs with unopened files that have the keys of an opened one."""
        opening: dict[str, list[RunResult]] = {}
        for result in self.project.results:
            for path in result.opened:
                opening.setdefault(path, []).append(result)
        tried = 0
        self.project.opened_first = frozenset(opening)
        for path in self.project.files.data:
            if path in opening or _OF_A_RUN.search(path):
                continue
            beside = {other: share for other, share in self.project.alike(path).items() if other in opening}
            self.project.beside[path] = frozenset(beside)
            if not beside or tried >= MAX_SIBLINGS or self.project.spent():
                continue
            tried += 1
            nearest = max(beside, key=lambda other: (beside[other], other))
            entered: list[Entrance] = []
            for result in opening[nearest]:
                loading = result.opened[nearest].loading
                if not result.entrance.framework or result.entrance in entered or loading.how == "hydra":
                    continue
                entered.append(result.entrance)
                forced = _sites_of_same_path(result.opened[nearest].loadings, loading)
                made = self.project.one(result.entrance, result.command, dict.fromkeys(forced, path))
                if len(entered) <= MAX_FITTING and _takes_file(made, path):
                    self.project.results.append(made)

    def _shared_folders(self, path: str, entrance: Entrance) -> int:
        """Return how many leading folders the paths of a file and a program share."""
        program = (self.project.files.inside(os.path.abspath(entrance.module.path)) or "").split("/")[:-1]
        count = 0
        for one, other in zip(path.split("/")[:-1], program, strict=False):
            if one != other:
                break
            count += 1
        return count

    def _shared_words(self, path: str, entrance: Entrance) -> int:
        """Return how many words the paths of a file and a program share.

        Only the parts below their common folder are compared.
        """
        program = self.project.files.inside(os.path.abspath(entrance.module.path)) or ""
        common = self._shared_folders(path, entrance)
        ends = ("/".join(item.split("/")[common:]) for item in (path, program))
        first, second = (set(_WORDS.findall(os.path.splitext(end)[0].lower())) for end in ends)
        return len((first & second) - _ANY_PROGRAM)


def _sites_of_same_path(loadings: Row[Loading], loading: Loading) -> list[Site]:
    """Return the load sites whose path has the same origins as that of a loading."""
    return [
        site_of(other) for other in loadings if other is loading or other.path.origins == loading.path.origins
    ]


def _was_in_vain(result: RunResult) -> bool:
    """Tell whether a run was cut off before it opened any config."""
    return result.run.exhausted and not result.opened


def _names_data(command: Command | None) -> bool:
    """Tell whether a command names a file that may be a config."""
    return command is not None and any(item.endswith(DATA) for item in command.arguments)


def _of_one_kind(one: Entry, other: Entry) -> bool:
    """Tell whether two entries of a section resemble each other.

    They are sections that share at least half the keys of the smaller, or scalars of the same type.
    """
    if one.kind != "map" or other.kind != "map":
        return one.kind == other.kind == "scalar" and one.type is other.type
    mine, theirs = ({str(name) for name, _ in item.children} for item in (one, other))
    shared = len(mine & theirs)
    return shared > 0 and 2 * shared >= min(len(mine), len(theirs))


def _without_numbers(path: str) -> str:
    """Return a path with every number in the file's name replaced by `0`."""
    folder, name = os.path.split(path)
    return f"{folder}/{re.sub('[0-9]+', '0', name)}"


HALF = 0.5
"""The least share of its keys that is read of a file which a program can only get by a name in a config."""


def _text_at(result: RunResult, key: ConfigKey) -> str:
    """Return the text that a config of a run has at a key; empty where it has none."""
    opened = result.opened.get(key.source)
    entry = opened.root.at(key.path) if opened is not None and opened.root is not None and key.path else None
    value = entry.raw if entry is not None and entry.kind == "scalar" else None
    return value if isinstance(value, str) else ""


def _text_around(path: str, text: str) -> tuple[str, str]:
    """Return what stands before and after a text in the last part of a path; empty texts where it does not.

    The ending of a file counts as what stands after it.
    """
    start = path.rfind(text)
    if start < 0 or "/" in path[start + len(text) :]:
        return "", ""
    front = start + len(text) - len(text.rpartition("/")[2])
    return path[:front], path[start + len(text) :] or os.path.splitext(path)[1]


def _stands_between(path: str, before: str, after: str) -> bool:
    """Tell whether a path is that of a file beside another one, with another name between two texts."""
    fits = bool(after) and path.startswith(before) and path.endswith(after)
    name = path[len(before) : len(path) - len(after)] if fits else ""
    return bool(name) and "/" not in name


def _takes_file(result: RunResult, path: str) -> bool:
    """Tell whether a run reads enough keys of a file and lacks few."""
    opened = result.opened.get(path)
    if opened is None or opened.root is None or share_read(opened) < FITS:
        return False
    asked = sum(1 for key in opened.keys.values() if key.path and counts_as_read(key))
    return count_lacking_keys(opened, result) <= max(1, asked // 10)


def _distinct_commands(commands: Row[Command], *, by_place: bool = False) -> list[Command | None]:
    """Return one command for each set of named files and overrides.

    Last comes one that names none, or None.

    Args:
        commands: The commands.
        by_place: Whether the program takes words of its command by their place: these count, too.
    """
    found: dict[tuple[str, ...], Command | None] = {}
    for command in commands:
        named = tuple(
            item
            for item in command.arguments
            if item.endswith(DATA) or _OVERRIDE.match(item) or (by_place and item.isidentifier())
        )
        found.setdefault(named, command)
    found.setdefault((), None)
    return list(found.values())


def _with_same_path(site: OpenSite, sites: Row[OpenSite]) -> list[OpenSite]:
    """Return the load sites of a program that get their path from the same option."""
    names = {key.name for key in site.loading.path.origins}
    return [
        other
        for other in sites
        if other is site
        or (
            names
            and other.entrance is site.entrance
            and other.command is site.command
            and {key.name for key in other.loading.path.origins} == names
        )
    ]


def _open_sites(project: ProjectRuns, entrance: Entrance, results: Row[RunResult]) -> list[OpenSite]:
    """Return the load sites of a program that other files may reach."""
    known = frozenset(path for result in results for path in result.opened)
    found: dict[Site, OpenSite] = {}
    for result in results:
        for loading, key in result.unresolved.values():
            if is_recursive(loading):
                # What a config that is not known names is not known: a file is put in where it is loaded first.
                continue
            said = frozenset().union(
                *(names_of_configs(project.program, item) for item in result.run.modules_run())
            )
            site = OpenSite(entrance, result.command, loading, set(), known, said)
            found.setdefault(site_of(loading), site).names.update(key.asked)
        for path, opened in result.opened.items():
            for loading in opened.loadings:
                if not from_outside(loading.path) or is_recursive(loading):
                    continue
                site = OpenSite(entrance, result.command, loading, set(), known)
                names = found.setdefault(site_of(loading), site).names
                # What the file at hand says decides which keys are asked for; another one may ask for others.
                for run in (result, *project.other_ways(result)):
                    names.update(names_at_top(run, path))
    return [site for site in found.values() if site.names or site.said]
