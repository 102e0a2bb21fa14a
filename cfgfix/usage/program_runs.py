"""Run a project's programs over its configs, with no settings: which files they open and what becomes of each key."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable
from collections.abc import Mapping as Table
from collections.abc import Sequence as Row
from collections.abc import Set as AbstractSet
from typing import Any

from cfgfix.code.inference.interpreter.events import Loading
from cfgfix.code.inference.interpreter.interpreter import Interpreter
from cfgfix.code.inference.interpreter.notes import Chosen
from cfgfix.code.inference.interpreter.objects import Scalar
from cfgfix.code.model.program import Program
from cfgfix.core.errors import CfgfixError, internal_fault
from cfgfix.core.records import replace
from cfgfix.core.source_file import read_regular
from cfgfix.usage.commands import UNSAID, Command
from cfgfix.usage.config_files import ConfigFile, Entry
from cfgfix.usage.entrances import ASIDE, Entrance, Entrances, imported_names, uses_framework
from cfgfix.usage.project_files import DATA, ProjectFiles
from cfgfix.usage.run_host import Host, Repair, Site, counts_as_read, is_recursive, site_of
from cfgfix.usage.run_results import (
    FITS,
    Choice,
    Made,
    OpenSite,
    RunResult,
    Trace,
    all_lacking,
    from_outside,
    lacking,
    loads_form,
    names_at_top,
    outcome_of,
    share_of,
    share_of_all,
    share_read,
)
from cfgfix.usage.scope_names import names_said
from cfgfix.usage.siblings import alike_beside

MAX_RUNS = 600
"""Most runs of one project."""
MAX_STEPS = 1_200_000
"""Most steps of all runs of one project: about ten seconds; programs that are not run any more silence what they mention."""
MAX_OPTION_STEPS = 300_000
"""Most steps of the programs that have options and load nothing, beside those of the others."""
MAX_REPAIR_STEPS = 600_000
"""Most steps of the runs with keys that stand where the programs look for them."""
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
_READS_DATA = re.compile(r"\b(?:jq|yq|shyaml|parse_yaml|json\.load|yaml\.(?:safe_)?load)\b")
"""What stands in a script that takes values out of a config file which it need not name: it may be an argument."""
_OF_A_RUN = re.compile(r"\d{4}-?\d{2}-?\d{2}[-_T/ ]?\d{2}[-_:]?\d{2}")
"""A day with its time in the path of a file: what a run wrote down of its settings, as a rule."""
_OVERRIDE = re.compile(r"[+~]{0,2}[A-Za-z_][\w./@]*=")
"""An argument such as `train.epochs=3`."""


class ProjectRuns:
    """All runs of a project's programs over its configs.

    Args:
        program: The linked program of the repository.
        root: The repository's folder.
    """

    def __init__(self, program: Program, root: str) -> None:
        self.program = program
        self.files = ProjectFiles(root)
        self.root = self.files.root
        self.known = self.files.known
        self.configs: dict[str, ConfigFile | None] = {}
        self.results: list[RunResult] = []
        self.others: list[Trace] = []
        """What is kept of further runs, which were made before and not made again."""
        self.made: list[Made] = []
        """Every run, in order."""
        self.opened_first: frozenset[str] = frozenset()
        """The files that were opened before those beside them were tried."""
        self.beside: dict[str, frozenset[str]] = {}
        """For each other file those of them that it is like."""
        self.driven = 0
        """How many of them were made before any verdict was asked for."""
        self.steps_at: dict[str, int] = {}
        """The steps that had been made when the verdicts on a config were begun, by its path."""
        self.failures: list[CfgfixError] = []
        """Faults of cfgfix that cut something off."""
        self.steps = 0
        self.option_steps = 0
        self.follows_models = False
        """Whether it is asked what the training of models needs."""
        self.kept: list[RunResult] = []
        """Runs that are known by their identity and stand nowhere else."""
        self.repair_steps = 0
        """The steps of the runs with keys that stand where the programs look for them."""
        self.trainings: dict[int, Any] = {}
        """What is known of that, by the identity of the run."""
        self.followed_steps = 0
        """The steps of the runs that were made to learn it."""
        self.every_way: dict[int, RunResult] = {}
        """The runs made again with both ways taken at conditions on configs, by the identity of the run."""
        self.sites: dict[Site, Loading] = {}
        self.unread = program.unread()
        """Python files that could not be read as Python: what they do with a config is not known."""
        self.script_texts: list[str] | None = None
        self.of_framework: list[Entrance] | None = None
        self.uncalled: frozenset[int] | None = None
        """The scopes that nothing comes to, by identity; None before it is asked."""
        self.pydantic_majors: dict[str, int] = {}
        self.without_config: list[RunResult] = []
        """Runs that load nothing, of programs that have options."""
        self.commands_of: list[tuple[Entrance, list[Command]]] = []
        """The commands that start each program."""
        self.entered: list[Entrance] = []
        """The programs that were followed."""
        self.open_sites: list[OpenSite] = []
        """The load sites of which it is not wholly known which files they get."""

    def relative(self, path: str) -> str:
        """Return a path as seen from the project's folder."""
        return os.path.relpath(os.path.abspath(path), self.root).replace(os.sep, "/")

    def config(self, path: str) -> ConfigFile | None:
        """Return a config of the project by its path relative to the root."""
        if path not in self.configs:
            whole = os.path.join(self.root, path)
            shown = os.path.relpath(whole)
            self.configs[path] = ConfigFile.read(whole if shown.startswith("..") else shown)
        return self.configs[path]

    def words_beside(self, name: str) -> set[str]:
        """Return the words of the scripts that name a config file.

        Those that read one which they are given count, too.
        """
        if self.script_texts is None:
            self.script_texts = []
            for path in self.files.texts:
                if path.endswith((".md", ".rst", ".txt", ".ipynb")):
                    continue
                try:
                    self.script_texts.append(
                        read_regular(os.path.join(self.root, path), 400_000).decode("utf-8", "replace")
                    )
                except OSError:
                    continue
        found: set[str] = set()
        for text in self.script_texts:
            if name in text or _READS_DATA.search(text):
                found.update(re.findall(r"[A-Za-z_][A-Za-z0-9_-]*", text))
        return found

    def text_of(self, path: str) -> str:
        """Return the text of a config, or nothing where it cannot be read."""
        config = self.config(path)
        if config is None:
            return ""
        config.looked_through = True
        return config.source.text

    def run(self) -> None:
        """Run every program under every command.

        Then each is run with each further file that its load sites fit.
        """
        finder = Entrances(self.program, self.files)
        entrances = self.entered = finder.found()
        commands = finder.commands(entrances)
        made: list[tuple[Entrance, list[RunResult]]] = []
        self.commands_of = [(entrance, commands.get(number, [])) for number, entrance in enumerate(entrances)]
        for number, entrance in enumerate(entrances):
            mine: list[RunResult] = []
            if not entrance.loads:
                continue
            by_place = "argv" in names_said(self.program, entrance.module)
            for command in _distinct_commands(commands.get(number, ()), by_place=by_place):
                if self.spent():
                    break
                result = self.one(entrance, command)
                if not result.run.loadings:
                    # A program that loads nothing under one command loads nothing under another, as a rule.
                    self._keep_for_options(result)
                    break
                known = {path for other in mine for path in other.opened}
                if command is None and result.opened and known.issuperset(result.opened):
                    # Without arguments it opens its defaults: they count only where no command names them.
                    continue
                mine.append(result)
                self.results.append(result)
            made.append((entrance, mine))
        self.open_sites = [item for entrance, mine in made for item in _open_sites(self, entrance, mine)]
        self._try_others(self.open_sites)
        for _, mine in made:
            self._try_options(mine)
        self._try_chosen()
        self._try_numbered([result for _, mine in made for result in mine])
        self._try_siblings()
        others = finder.without_settings() if self.follows_models else []
        for entrance in (*entrances, *others):
            if not entrance.loads and self.option_steps < MAX_OPTION_STEPS:
                before = self.steps
                self._keep_for_options(self.one(entrance, None))
                self.option_steps += self.steps - before
                self.steps = before
        self.driven = len(self.made)

    def _keep_for_options(self, result: RunResult) -> None:
        """Keep a run that loads nothing for what it shows of the options."""
        if result.entrance.framework and (result.run.options or self.follows_models):
            self.without_config.append(result)

    def spent(self) -> bool:
        """Tell whether no more runs are made."""
        return len(self.results) + len(self.others) >= MAX_RUNS or self.steps >= MAX_STEPS

    def other_ways(self, result: RunResult) -> list[RunResult]:
        """Return a run made again with both ways taken at conditions on configs.

        The list is empty where there are no steps left for it.
        """
        if result.run.exhausted or self.steps >= MAX_STEPS // 2:
            return []
        if id(result) not in self.every_way:
            self.every_way[id(result)] = made_again(self, result, every_way=True)
        return [self.every_way[id(result)]]

    def with_text(self, path: str, config: ConfigFile) -> ProjectRuns:
        """Return the runs that open a config, made again with another text of it."""
        again = ProjectRuns.__new__(ProjectRuns)
        again.program, again.files, again.root, again.known = self.program, self.files, self.root, self.known
        again.configs = {**self.configs, path: config}
        again.unread = self.unread
        again.failures, again.follows_models = self.failures, self.follows_models
        again.sites, again.script_texts, again.uncalled = self.sites, self.script_texts, self.uncalled
        again.pydantic_majors = self.pydantic_majors
        again.of_framework = self.of_framework
        again.entered, again.open_sites = self.entered, self.open_sites
        again.without_config, again.commands_of, again.option_steps = [], self.commands_of, self.option_steps
        again.results, again.every_way, again.steps = [], {}, 0
        again.others, again.made, again.driven, again.steps_at = self.others, [], 0, {}
        again.trainings, again.followed_steps = {}, 0
        again.kept, again.repair_steps = [], 0
        again.opened_first, again.beside = self.opened_first, self.beside
        for result in self.results:
            if path in result.opened:
                again.results.append(made_again(again, result))
            else:
                again.results.append(result)
        return again

    def one(
        self,
        entrance: Entrance,
        command: Command | None,
        forced: Table[Site, str] | None = None,
        *,
        base: RunResult | None = None,
        choice: Choice | None = None,
        repairs: tuple[Repair, ...] = (),
    ) -> RunResult:
        """Run a program once.

        Args:
            entrance: Where it begins.
            command: The command that starts it, or None.
            forced: Files that are put in at load sites.
            base: The run that is made again with both ways taken at conditions on configs; None for none.
            choice: The key of which it is one of several runs, each with another value; None for none.
            repairs: Keys that stand where the programs look for them.
        """
        result = self._run_once(
            entrance, command, forced or {}, every_way=base is not None, choice=choice, repairs=repairs
        )
        run = result.run
        before = self.steps
        self.steps += run.steps
        if not entrance.framework and any(map(uses_framework, run.modules_run())):
            # What it imports by a name that stands in the config.
            entrance = replace(entrance, framework=True)
            result = replace(result, entrance=entrance)
        if run.failure is not None:
            self.failures.append(internal_fault(run.failure, entrance.module.path))
        if repairs:
            self.kept.append(result)
            self.repair_steps += run.steps
        if choice is not None or repairs:
            # It decides nothing of the other runs.
            self.steps = before
            return result
        self.made.append(
            Made(
                (entrance.module.path, entrance.function),
                command,
                tuple((forced or {}).items()),
                id(result),
                id(base) if base is not None else 0,
                before,
                run.steps,
                outcome_of(result),
            )
        )
        return result

    def followed(self, result: RunResult, prepare: Callable[[Interpreter], object]) -> RunResult:
        """Return a run made again beside those that verdicts rest on.

        Args:
            result: The run.
            prepare: Called with the new one before it begins.
        """
        again = self._run_once(result.entrance, result.command, _forced_files(result), prepare=prepare)
        self.followed_steps += again.run.steps
        return again

    def programs_of_framework(self) -> list[Entrance]:
        """Return all programs that come to TensorFlow or Keras."""
        if self.of_framework is None:
            finder = Entrances(self.program, self.files)
            self.of_framework = [
                item for item in (*finder.found(), *finder.without_settings()) if item.framework
            ]
        return self.of_framework

    def run_aside(
        self, entrance: Entrance, prepare: Callable[[Interpreter], object], *, every_way: bool = False
    ) -> RunResult:
        """Return a run of a program that decides nothing of the others.

        Args:
            entrance: Where it begins.
            prepare: Called with the run before it begins.
            every_way: Whether both ways are taken at conditions.
        """
        command = next((items[0] for item, items in self.commands_of if item == entrance and items), None)
        result = self._run_once(entrance, command, {}, every_way=every_way, prepare=prepare)
        if result.run.failure is not None:
            self.failures.append(internal_fault(result.run.failure, entrance.module.path))
        return result

    def _run_once(
        self,
        entrance: Entrance,
        command: Command | None,
        forced: Table[Site, str],
        *,
        every_way: bool = False,
        choice: Choice | None = None,
        repairs: tuple[Repair, ...] = (),
        prepare: Callable[[Interpreter], object] | None = None,
    ) -> RunResult:
        host = Host(self, entrance, command, forced)
        run = Interpreter(self.program, host, every_way=every_way)
        if choice is not None:
            run.settled = frozenset({(choice.file, choice.key)})
            if choice.value is not None:
                host.given = {(choice.file, choice.key): choice.value}
        host.repairs = repairs
        if prepare is not None:
            prepare(run)
        run.pydantic = self.pydantic_for(os.path.dirname(os.path.abspath(entrance.module.path)))
        if entrance.function:
            run.run_function(entrance.module, entrance.function)
        else:
            run.run(entrance.module)
        return RunResult(
            entrance,
            command,
            host.opened,
            run,
            every_way,
            next(iter(forced.values()), ""),
            tuple(forced),
            host.unresolved,
            host.unknown_overrides,
            frozenset(host.touched),
            frozenset(host.groups),
            repairs,
        )

    def pydantic_for(self, folder: str) -> int:
        """Return the major release of pydantic that a folder's program is for.

        It is 0 where that is not known.
        """
        found = self.pydantic_majors.get(folder)
        if found is None:
            from cfgfix.config.schema.pydantic_major import major_asked, pydantic_major_of_imports

            named = self._imports_of_pydantic
            release = (
                (major_asked(folder, []) or pydantic_major_of_imports(named, configured=False))
                if named
                else None
            )
            found = self.pydantic_majors[folder] = release or 0
        return found

    @functools.cached_property
    def _imports_of_pydantic(self) -> set[tuple[str, str]]:
        """The modules and names of pydantic that the repository imports."""
        return {
            (source.rpartition(".")[0], source.rpartition(".")[2])
            for module in self.program.all_modules()
            for source in imported_names(module)
            if source.startswith("pydantic")
        }

    def _try_others(self, sites: Row[OpenSite]) -> None:
        """Run programs with the files that nothing names and that have the shape their load sites ask for.

        Of several programs the ones that lie nearest to the file are those that it is for.
        """
        named = {path for result in self.results for path in result.opened}
        opening = {
            (path, site_of(opened.loading)[-1])
            for result in self.results
            for path, opened in result.opened.items()
        }
        fits_of: dict[int, list[str]] = {}
        candidates = [path for path in self.files.data if not _OF_A_RUN.search(path)]
        for site in sites:
            fits_of[id(site)] = [
                path for path in candidates if self.fits(path, site.loading.how, site.names, site.said)
            ]
        for path in candidates:
            # What a command or the code names is not tried elsewhere, unless nothing is known of what a program gets.
            fitting = [
                site
                for site in sites
                if path not in site.known and not (path in named and site.known) and path in fits_of[id(site)]
            ]
            near = {
                id(site): (self._nearness(path, site.entrance), self._shared_words(path, site.entrance))
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
                    only and self.steps < MAX_STEPS // 3 * 2
                ):
                    continue
                if self.spent():
                    # The program that the file is for may be one that was not tried.
                    return
                forced = {site_of(other.loading): path for other in _with_same_path(site, sites)}
                if (site.entrance, site.command, frozenset(forced)) in tried:
                    continue
                tried.append((site.entrance, site.command, frozenset(forced)))
                result = self.one(site.entrance, site.command, forced)
                made = result.opened.get(path)
                if made is None or made.root is None or share_read(made) < FITS:
                    continue
                lacks = lacking(made, result)
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
            self.results += [
                result
                for lacks, result in fits
                if lacks == least or result in alone or share_of(result, path) > most
            ]

    def _try_options(self, results: Row[RunResult]) -> None:
        """Run a program of Hydra with the options of its groups, and the whole configs, that none of its runs takes."""
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
                    if count > MAX_OPTIONS or self.spent():
                        return
                    other = self.one(result.entrance, result.command, {site: path})
                    made = other.opened.get(path)
                    if made is None or made.root is None:
                        continue
                    is_whole = os.path.dirname(path) == folder
                    if all_lacking(other) <= all_lacking(result) and (
                        not is_whole or share_of_all(other) >= FITS
                    ):
                        self.results.append(other)

    def _try_chosen(self) -> None:
        """Run programs with each section of a config that an option or variable of the environment may take."""
        tried = 0
        for result in list(self.results):
            open_names = {
                name for name, items in result.run.chosen.items() if any(i.name is None for i in items)
            }
            accepted = 0
            for name, items in result.run.chosen.items():
                for value in self._may_choose(result, name, items):
                    if tried >= MAX_CHOSEN or self.spent():
                        return
                    tried += 1
                    command = result.command or UNSAID
                    command = replace(command, chosen=(*command.chosen, (name, value)))
                    made = self.one(result.entrance, command, _forced_files(result))
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
                    most = max(1, asked // 10) + (0 if name in open_names else all_lacking(result))
                    if declared or all_lacking(made) <= most:
                        self.results.append(made)
                        accepted += 1
            if accepted and open_names:
                # Without a value the program does not come to what it reads of the section.
                self.results = [other for other in self.results if other is not result]

    def _may_choose(self, result: RunResult, name: str, items: Row[Chosen]) -> list[str]:
        """Return the further entries that an option may take, where they are of one kind with the one that it takes."""
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

    def _try_numbered(self, results: Row[RunResult]) -> None:
        """Run programs with the files beside one that their code names whose names differ from its own in numbers alone.

        Who trains with `plan_3.json` has written `plan_2` in its place before.
        """
        named = {path for result in self.results for path in result.opened}
        alike: dict[str, list[str]] = {}
        for path in self.files.data:
            if path not in named and not _OF_A_RUN.search(path):
                alike.setdefault(_without_numbers(path), []).append(path)
        count: dict[str, int] = {}
        for result in results:
            for path, opened in result.opened.items():
                if opened.loading.how == "hydra" or type(opened.loading.path) is not Scalar:
                    continue
                for other in alike.get(_without_numbers(path), ()):
                    if self.spent():
                        return
                    if count.get(other, 0) >= MAX_FITTING:
                        continue
                    again = self.one(result.entrance, result.command, {site_of(opened.loading): other})
                    made = again.opened.get(other)
                    if made is None or made.root is None or share_read(made) < FITS or lacking(made, again):
                        continue
                    count[other] = count.get(other, 0) + 1
                    self.results.append(again)

    def _options_in(self, folder: str, result: RunResult) -> list[str]:
        """Return the options of the groups that a run chooses of, then the configs that may be the whole."""
        inside = f"{folder}/" if folder else ""
        options: list[str] = []
        wholes: list[str] = []
        for path in self.files.data:
            if not path.startswith(inside) or not path.endswith((".yaml", ".yml")) or _OF_A_RUN.search(path):
                continue
            group = os.path.dirname(path[len(inside) :])
            if (folder, group) in result.groups:
                options.append(path)
            elif not group and _DEFAULTS.search(self.text_of(path)):
                wholes.append(path)
        return options + wholes

    def alike(self, path: str) -> dict[str, float]:
        """Return the files beside one that have its keys."""
        return alike_beside(path, self.files.data, self.config)

    def _try_siblings(self) -> None:
        """Run programs with files that nothing opens and that have the keys of one beside them which they open."""
        opening: dict[str, list[RunResult]] = {}
        for result in self.results:
            for path in result.opened:
                opening.setdefault(path, []).append(result)
        tried = 0
        self.opened_first = frozenset(opening)
        for path in self.files.data:
            if path in opening or _OF_A_RUN.search(path):
                continue
            beside = {other: share for other, share in self.alike(path).items() if other in opening}
            self.beside[path] = frozenset(beside)
            if not beside or tried >= MAX_SIBLINGS or self.spent():
                continue
            tried += 1
            nearest = max(beside, key=lambda other: (beside[other], other))
            entered: list[Entrance] = []
            for result in opening[nearest]:
                loading = result.opened[nearest].loading
                if not result.entrance.framework or result.entrance in entered or loading.how == "hydra":
                    continue
                entered.append(result.entrance)
                made = self.one(result.entrance, result.command, {site_of(loading): path})
                if len(entered) <= MAX_FITTING and _takes(made, path):
                    self.results.append(made)

    def _nearness(self, path: str, entrance: Entrance) -> int:
        """Return how many folders a file and a program have in common, from the root down."""
        program = (self.files.inside(os.path.abspath(entrance.module.path)) or "").split("/")[:-1]
        count = 0
        for one, other in zip(path.split("/")[:-1], program, strict=False):
            if one != other:
                break
            count += 1
        return count

    def _shared_words(self, path: str, entrance: Entrance) -> int:
        """Return how many words the paths of a file and a program have in common below the folders that they share."""
        program = self.files.inside(os.path.abspath(entrance.module.path)) or ""
        common = self._nearness(path, entrance)
        ends = ("/".join(item.split("/")[common:]) for item in (path, program))
        first, second = (set(_WORDS.findall(os.path.splitext(end)[0].lower())) for end in ends)
        return len((first & second) - _ANY_PROGRAM)

    def fits(
        self, path: str, how: str, names: AbstractSet[str], said: AbstractSet[str] = frozenset()
    ) -> bool:
        """Tell whether a file has the shape that a load site asks for, or may ask for.

        Args:
            path: The file, relative to the project.
            how: The function that the site loads with.
            names: The keys at the top that it asks for.
            said: Names in the code that gets the file: where it is handed on as a whole, they may be keys.
        """
        if not path.endswith(loads_form(how)):
            return False
        config = self.config(path)
        if config is None:
            return False
        root, _ = config.tree()
        if root is None or root.kind != "map" or not root.children:
            return False
        own = [str(name) for name, child in root.children if not child.anchored or str(name) in names]
        found = sum(1 for name in own if name in names)
        if own and found >= 1 and found / len(own) >= FITS:
            return True
        may = sum(1 for name in own if name in said or name in names)
        return set(names).issubset(own) and may > 1 and may / len(own) >= FITS


def _of_one_kind(one: Entry, other: Entry) -> bool:
    """Tell whether two entries of a section may stand for one another: sections of which most keys are the same."""
    if one.kind != "map" or other.kind != "map":
        return one.kind == other.kind == "scalar" and one.type is other.type
    mine, theirs = ({str(name) for name, _ in item.children} for item in (one, other))
    shared = len(mine & theirs)
    return shared > 0 and 2 * shared >= min(len(mine), len(theirs))


def _without_numbers(path: str) -> str:
    """Return a path with one mark for every number in the file's name."""
    folder, name = os.path.split(path)
    return f"{folder}/{re.sub('[0-9]+', '0', name)}"


def _takes(result: RunResult, path: str) -> bool:
    """Tell whether a program that gets a file reads its keys and lacks few."""
    opened = result.opened.get(path)
    if opened is None or opened.root is None or share_read(opened) < FITS:
        return False
    asked = sum(1 for key in opened.keys.values() if key.path and counts_as_read(key))
    return lacking(opened, result) <= max(1, asked // 10)


def _distinct_commands(commands: Row[Command], *, by_place: bool = False) -> list[Command | None]:
    """Return of several commands those that differ in the files and key paths that they name, and one that names none.

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
    """Return the load sites of one program that get the path from the same option as one of them does."""
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
    """Return the load sites of a program that may get other files than those of its runs."""
    known = frozenset(path for result in results for path in result.opened)
    found: dict[Site, OpenSite] = {}
    for result in results:
        for loading, key in result.unresolved.values():
            if is_recursive(loading):
                # What a config that is not known names is not known: a file is put in where it is loaded first.
                continue
            said = frozenset().union(
                *(names_said(project.program, item) for item in result.run.modules_run())
            )
            site = OpenSite(entrance, result.command, loading, set(), known, said)
            found.setdefault(site_of(loading), site).names.update(key.asked)
        for path, opened in result.opened.items():
            if not from_outside(opened.loading.path) or is_recursive(opened.loading):
                continue
            site = OpenSite(entrance, result.command, opened.loading, set(), known)
            names = found.setdefault(site_of(opened.loading), site).names
            # What the file at hand says decides which keys are asked for; another one may ask for others.
            for run in (result, *project.other_ways(result)):
                names.update(names_at_top(run, path))
    return [site for site in found.values() if site.names or site.said]


def made_again(
    project: ProjectRuns,
    result: RunResult,
    *,
    every_way: bool = False,
    choice: Choice | None = None,
    repairs: tuple[Repair, ...] = (),
) -> RunResult:
    """Return a run made again in a project whose configs may have other texts."""
    return project.one(
        result.entrance,
        result.command,
        _forced_files(result),
        base=result if every_way else None,
        choice=choice,
        repairs=repairs or result.repairs,
    )


def _forced_files(result: RunResult) -> dict[Site, str]:
    """Return the files that were put in at load sites in a run."""
    opened = result.opened.get(result.forced) if result.forced else None
    return dict.fromkeys(result.sites_forced, result.forced) if opened is not None else {}
