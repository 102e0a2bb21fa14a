"""What is known while a request is answered: the projects of the files, with their rules, machines and code."""

from __future__ import annotations

import os
from collections.abc import Sequence

from cfgfix.core.baseline import Key
from cfgfix.core.baseline import read as read_baseline
from cfgfix.core.errors import CfgfixError, did_you_mean, nearest
from cfgfix.core.findings import Severity
from cfgfix.core.records import replace
from cfgfix.core.source_file import SourceFile
from cfgfix.lint.checkers.registry import checkers_for
from cfgfix.lint.project import KeptConfigs, Machine, Project
from cfgfix.lint.repository import repository_folder
from cfgfix.lint.request import Request
from cfgfix.lint.rule_set import RuleSet, content_stamp
from cfgfix.rules.catalogue import Catalogue
from cfgfix.rules.compiled import files_below
from cfgfix.rules.rule import Rule
from cfgfix.settings.project_dialects import catalogue_of, dialect_inputs, known_dialects
from cfgfix.settings.reader import Finder, Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cfgfix.usage.code_facts import CodeFacts
    from cfgfix.usage.project_code import ProjectCode


class Session:
    """The projects of the files of a request, one for each settings file.

    A plain class, since it grows.
    """

    __slots__ = (
        "_codes",
        "_made",
        "_request",
        "_wrong",
        "baseline",
        "configs",
        "finder",
        "follows_models",
        "inputs",
        "jobless",
        "jobs",
        "left",
        "past",
        "problems",
        "scanned",
    )

    def __init__(self, request: Request) -> None:
        self.finder = Finder(request.settings, request.adjust, patient=True)
        self.inputs: list[str] = [request.baseline] if request.baseline is not None else []
        self._request = request
        self._made: dict[int, Project] = {}
        self._wrong: set[int] = set()
        self.baseline = (
            request.past.known
            if request.past is not None
            else read_baseline(request.baseline)
            if request.baseline is not None
            else None
        )
        self.past = request.past
        self.left: dict[Key, int] = dict(self.baseline.counts) if self.baseline is not None else {}
        self.configs = KeptConfigs()
        self.scanned: list[str] = []
        """Python files; those without findings have no report."""
        self.problems: list[CfgfixError] = []
        """What is wrong in settings and stops neither the run nor the files under other settings."""
        self._codes: dict[str, ProjectCode] = {}
        self.follows_models = False
        """Whether it is asked what the training of models needs, though no settings name a GPU."""
        self.jobs: list[str] = []
        """What is said of the jobs by whose limits configs were judged."""
        self.jobless = False
        """Whether a config was judged that no such job runs with."""

    def repository_code(self, path: str) -> ProjectCode:
        """Return the code of the repository that a file belongs to."""
        root = repository_folder(path, self._request.paths)
        found = self._codes.get(root)
        if found is None:
            from cfgfix.settings.discovery import Matcher
            from cfgfix.usage.project_code import ProjectCode

            settings = self.finder.settings_in(root)
            project = self.project_or_none(settings)
            found = self._codes[root] = ProjectCode(
                root,
                Matcher(settings).excluded,
                content_stamp(()),
                tensorflow=settings.tensorflow,
                follows_models=self.follows_models
                or (project is not None and any(map(_has_card, project.machines))),
            )
        return found

    def code_facts(self, path: str, source: SourceFile) -> CodeFacts | None:
        """Return what the code around a config says of it, or None where no code opens it."""
        return self.repository_code(path).facts_about(path, source)

    def failures(self) -> list[CfgfixError]:
        """Return the internal errors of cfgfix met while following code, each once."""
        found = [error for project in self.projects() for error in project.failures]
        found += [error for code in self.codes() for error in code.failures]
        return list({str(error): error for error in found}.values())

    def drop_checkers(self) -> None:
        """Part projects from their checkers.

        Each holds the other, so both would stay until garbage is looked for.
        """
        for project in self._made.values():
            project.checkers = ()

    def codes(self) -> list[ProjectCode]:
        """Return the code followed so far, one item for each repository."""
        return list(self._codes.values())

    def project_for(self, settings: Settings) -> Project:
        """Return the project under some settings.

        Raises:
            CfgfixError: The settings name something that is not there.
        """
        if id(settings) in self.finder.wrong:
            raise self.finder.wrong[id(settings)]
        project = self._made.get(id(settings))
        if project is None:
            project = self._made[id(settings)] = self._make_project(settings)
        return project

    def project_or_none(self, settings: Settings) -> Project | None:
        """Return the project under some settings, or None where the settings are wrong.

        `problems` then has the error, once.

        None where they are wrong, which `problems` then tells once.

        Raises:
            CfgfixError: They are those of the working folder, on which the whole run rests.
        """
        if id(settings) in self._wrong:
            return None
        try:
            return self.project_for(settings)
        except CfgfixError as error:
            if settings is self.finder.settings_in("."):
                raise
            self.note_wrong_settings(settings, error)
            return None

    def note_wrong_settings(self, settings: Settings, error: CfgfixError) -> None:
        """Note an error in some settings, so that the files under them are passed over."""
        self._wrong.add(id(settings))
        self._made.pop(id(settings), None)
        if str(error) not in map(str, self.problems):
            self.problems.append(error)

    def projects(self) -> list[Project]:
        """Return the projects made so far."""
        return list(self._made.values())

    def _make_project(self, settings: Settings) -> Project:
        request = self._request
        dialects = known_dialects(settings, self.problems)
        catalogue = catalogue_of(settings, dialects.values())
        rules = select(catalogue, settings)
        for selectors in settings.per_file_ignores.values():
            for selector in selectors:
                _select_rules(catalogue, selector)
        severities = {
            key: Severity[value.upper()] for key, value in _severity_settings(catalogue, settings).items()
        }
        machines, line = _machines_and_line(settings)
        if len(machines) > 1 and (request.fix or request.add_ignores is not None):
            raise CfgfixError(
                "a fix is made for one machine", hint="name one profile with --hardware instead of all"
            )
        folders = [settings.inside(folder) for folder in settings.rules]
        self.inputs += folders
        self.inputs += [path for folder in folders for path in files_below(folder, (".yaml", ".yml"))]
        self.inputs += [settings.inside(name) for name in (settings.schema, settings.hardware) if name]
        self.inputs += dialect_inputs(settings)
        project = Project(
            settings,
            RuleSet(catalogue, rules, severities),
            hardware=line,
            dialects=dialects,
            machines=machines,
            baseline=self.baseline,
            left=self.left,
            configs=self.configs,
            scanned=self.scanned,
            codes=self._codes.values,
        )
        project.checkers = checkers_for(project)
        return project


def _has_card(machine: Machine) -> bool:
    """Tell whether the GPU memory of a machine is known."""
    return machine.lookup is not None and machine.lookup("gpu.usable_mib") is not None


def select(catalogue: Catalogue, settings: Settings) -> list[Rule]:
    """Return the rules that the settings ask for.

    Raises:
        CfgfixError: A selector names no rule.
    """
    chosen: dict[str, Rule] = {}
    for selector in (*settings.select, *settings.extend_select):
        exact = catalogue.find(selector) is not None
        for rule in _select_rules(catalogue, selector):
            if exact or settings.preview or not rule.preview:
                chosen[rule.id] = rule
    for selector in settings.ignore:
        for rule in _select_rules(catalogue, selector):
            chosen.pop(rule.id, None)
    return list(chosen.values())


def _select_rules(catalogue: Catalogue, selector: str) -> Sequence[Rule]:
    found = catalogue.matching(selector)
    if not found:
        raise CfgfixError(
            f"no rule is called {selector!r}",
            hint=did_you_mean(selector, [*catalogue.keys(), "ALL"], "see `cfgfix rules`"),
        )
    return found


def _severity_settings(catalogue: Catalogue, settings: Settings) -> dict[str, str]:
    return {
        rule.id: value
        for selector, value in settings.severity.items()
        for rule in _select_rules(catalogue, selector)
    }


def _machines_and_line(settings: Settings) -> tuple[list[Machine], str]:
    """Return the machines to judge by and one line about them."""
    request = settings.hardware
    if request == "all":
        if not settings.profiles:
            raise CfgfixError(
                "--hardware all needs profiles",
                path=settings.origin,
                hint="name them under [tool.cfgfix.hardware.profiles]",
            )
        machines = [
            replace(_machine_and_line(text, settings)[0], profile=name)
            for name, text in settings.profiles.items()
        ]
        return machines, f"hardware: {', '.join(settings.profiles)}"
    try:
        machine, line = _machine_and_line(settings.profiles.get(request or "", request), settings)
    except CfgfixError as error:
        if request is None or not settings.profiles or request in settings.profiles:
            raise
        near = nearest(request, settings.profiles)
        listed = f"profiles of the settings: {', '.join(settings.profiles)}"
        raise CfgfixError(
            error.message,
            path=error.path,
            hint=f"did you mean {near}? {listed}" if near else f"{error.hint}; {listed}",
        ) from error
    return [machine], line


def _machine_and_line(request: str | None, settings: Settings) -> tuple[Machine, str]:
    if request == "none":
        return Machine(None, None), "hardware: none, as asked: rules about the machine are skipped"
    from cfgfix.hardware.presets import is_this_machine, resolve_hardware

    live = is_this_machine(request)
    hardware, line = resolve_hardware(
        request, environ=os.environ, base_dir=None if settings.command_hardware else settings.root
    )
    if hardware is None:
        return Machine(None, None, live=live), line

    def look(name: str) -> Any:
        found = hardware.lookup(name)
        return None if found is None else found.value

    return Machine(look, hardware.label, live=live), line
