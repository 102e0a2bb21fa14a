"""Run a program over its configs, with no settings: which files it opens and what becomes of each key."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable
from collections.abc import Mapping as Table
from collections.abc import Set as AbstractSet
from typing import Any

from cfgfix.code.inference.interpreter.events import Loading
from cfgfix.code.inference.interpreter.interpreter import Interpreter
from cfgfix.code.model.program import Program
from cfgfix.core.errors import CfgfixError, internal_fault
from cfgfix.core.records import replace
from cfgfix.core.source_file import read_regular
from cfgfix.usage.commands import Command
from cfgfix.usage.config_files import ConfigFile
from cfgfix.usage.entrances import Entrance, Entrances, imported_names, uses_framework
from cfgfix.usage.project_files import ProjectFiles
from cfgfix.usage.run_host import Host, Repair, Site
from cfgfix.usage.run_results import (
    FITS,
    Choice,
    Made,
    OpenSite,
    RunResult,
    Trace,
    loads_form,
    outcome_of,
)
from cfgfix.usage.siblings import similar_siblings

MAX_RUNS = 600
"""Most runs of one project."""
MAX_STEPS = 1_200_000
"""Most steps of all runs of one project: about ten seconds; programs that are not run any more silence what they mention."""
MAX_REPAIR_STEPS = 600_000
"""Most steps of the runs with keys that stand where the programs look for them."""
_READS_DATA = re.compile(r"\b(?:jq|yq|shyaml|parse_yaml|json\.load|yaml\.(?:safe_)?load)\b")
"""What stands in a script that takes values out of a config file which it need not name: it may be an argument."""


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
        self.starting_nothing: list[Command] = []
        """The commands that start none that is known."""
        self.entered: list[Entrance] = []
        """The programs that were followed."""
        self.open_sites: list[OpenSite] = []
        """The load sites of which it is not wholly known which files they get."""

    def relative(self, path: str) -> str:
        """Return a path relative to the project's folder."""
        return os.path.relpath(os.path.abspath(path), self.root).replace(os.sep, "/")

    def config(self, path: str) -> ConfigFile | None:
        """Return a config of the project by its path relative to the root."""
        if path not in self.configs:
            whole = os.path.join(self.root, path)
            shown = os.path.relpath(whole)
            self.configs[path] = ConfigFile.read(whole if shown.startswith("..") else shown)
        return self.configs[path]

    def words_beside(self, name: str) -> set[str]:
        """Return the words of scripts that name a config or read a config they are given."""
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
        """Return the text of a config; empty where it cannot be read."""
        config = self.config(path)
        if config is None:
            return ""
        config.looked_through = True
        return config.source.text

    def spent(self) -> bool:
        """Tell whether the limit of runs or steps is reached."""
        return len(self.results) + len(self.others) >= MAX_RUNS or self.steps >= MAX_STEPS

    def other_ways(self, result: RunResult) -> list[RunResult]:
        """Return a run made again with both ways taken at conditions on configs.

        The list is empty where the run was cut off or no steps are left.
        """
        if result.run.exhausted or self.steps >= MAX_STEPS // 2:
            return []
        if id(result) not in self.every_way:
            self.every_way[id(result)] = made_again(self, result, every_way=True)
        return [self.every_way[id(result)]]

    def with_text(self, path: str, config: ConfigFile) -> ProjectRuns:
        """Return the project's runs with another text of one config.

        Only the runs that open the config are made again.
        """
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
        again.starting_nothing = self.starting_nothing
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
        """Run a program once and record the run.

        Args:
            entrance: The entry point of the program.
            command: The command that starts it, or None.
            forced: Files given to load sites in place of the program's own.
            base: The run to repeat with both ways taken at conditions on configs; None for none.
            choice: The key whose value this run replaces; None for none.
            repairs: Keys moved to where the programs look for them.
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
        """Return a copy of a run, made again for further observation.

        No verdict rests on it.

        Args:
            result: The run.
            prepare: Called with the new run before it begins.
        """
        again = self._run_once(result.entrance, result.command, files_put_in(result), prepare=prepare)
        self.followed_steps += again.run.steps
        return again

    def programs_of_framework(self) -> list[Entrance]:
        """Return the entry points of all programs that use TensorFlow or Keras."""
        if self.of_framework is None:
            finder = Entrances(self.program, self.files)
            self.of_framework = [
                item for item in (*finder.found(), *finder.without_settings()) if item.framework
            ]
        return self.of_framework

    def models_made_aside(self) -> list[Entrance]:
        """Return modules of TensorFlow that only make something where they run."""
        return Entrances(self.program, self.files).making_models()

    def run_aside(
        self, entrance: Entrance, prepare: Callable[[Interpreter], object], *, every_way: bool = False
    ) -> RunResult:
        """Return a run of a program that does not affect the other runs.

        Args:
            entrance: The entry point of the program.
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
        """Return the major release of pydantic for programs in a folder; 0 if unknown."""
        found = self.pydantic_majors.get(folder)
        if found is None:
            from cfgfix.config.schema.pydantic_major import pydantic_major, pydantic_major_of_imports

            named = self._imports_of_pydantic
            release = (
                (pydantic_major(folder, []) or pydantic_major_of_imports(named, configured=False))
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

    def alike(self, path: str) -> dict[str, float]:
        """Return files beside a config that have its keys, with the share of common keys."""
        return similar_siblings(path, self.files.data, self.config)

    def fits(
        self, path: str, how: str, names: AbstractSet[str], said: AbstractSet[str] = frozenset()
    ) -> bool:
        """Tell whether a file has the keys that a load site asks for.

        Args:
            path: The file, relative to the project.
            how: The function that the site loads with.
            names: The outermost keys that the site asks for.
            said: Names in the code that gets the whole file, which may be keys.
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


def made_again(
    project: ProjectRuns,
    result: RunResult,
    *,
    every_way: bool = False,
    choice: Choice | None = None,
    repairs: tuple[Repair, ...] = (),
) -> RunResult:
    """Return a run made again in a project, which may have other texts of configs."""
    return project.one(
        result.entrance,
        result.command,
        files_put_in(result),
        base=result if every_way else None,
        choice=choice,
        repairs=repairs or result.repairs,
    )


def files_put_in(result: RunResult) -> dict[Site, str]:
    """Return the files given to load sites of a run in place of the program's own."""
    opened = result.opened.get(result.forced) if result.forced else None
    return dict.fromkeys(result.sites_forced, result.forced) if opened is not None else {}
