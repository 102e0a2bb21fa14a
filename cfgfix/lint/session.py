"""What a run rests on: the rules, machines and dialects of each settings file, and the dialect, loader and schema of a config."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from cfgfix.config.dialects.detect import detect
from cfgfix.config.dialects.dialect import Dialect, schema_data
from cfgfix.config.dialects.foreign import tool_of
from cfgfix.config.dialects.parameters import source_file
from cfgfix.config.document.compose import Document, Kind, compose
from cfgfix.config.loaders.scalars import LOADERS, Loader
from cfgfix.config.schema.validate import Schema
from cfgfix.core.baseline import Baseline, Key
from cfgfix.core.baseline import read as read_baseline
from cfgfix.core.errors import CfgfixError, UnreadableError, did_you_mean, internal_fault, nearest
from cfgfix.core.findings import Severity
from cfgfix.core.records import dataclass, field, replace
from cfgfix.core.source_file import SourceFile, is_inside, project, read_source
from cfgfix.lint.checkers.project import Target
from cfgfix.lint.request import Request
from cfgfix.lint.rule_set import RuleSet
from cfgfix.rules.catalogue import Catalogue
from cfgfix.rules.compiled import files_below
from cfgfix.rules.rule import Rule
from cfgfix.settings.project_dialects import (
    by_text,
    catalogue_of,
    dialect_inputs,
    has_training_keys,
    is_label,
    known_dialects,
)
from cfgfix.settings.reader import Finder, Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cfgfix.config.dialects.parameters import Reached
    from cfgfix.config.schema.infer import Inferred
    from cfgfix.hardware.model import Hardware
    from cfgfix.usage.code_beside import Surroundings
    from cfgfix.usage.code_says import CodeSays
    from cfgfix.usage.job_limits import Job
    from cfgfix.usage.key_uses import Usage
    from cfgfix.usage.project_code import ProjectCode


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine to judge by; `profile` is its name where several are checked."""

    lookup: Callable[[str], Any] | None
    label: str | None
    profile: str | None = None
    live: bool = False
    """Whether it is the machine this runs on, as it is now."""


@dataclass(slots=True)
class Run:
    """The parts of a run that are the same for all files of the same settings."""

    settings: Settings
    hardware: str
    rule_set: RuleSet
    dialects: dict[str, Dialect]
    machines: list[Machine]
    schemas: dict[str, Schema | None]
    targets: dict[tuple[str, str | None], Target]
    baseline: Baseline | None
    left: dict[Key, int]
    configs: Kept
    files: list[str]
    """The configs that are checked, whose keys are asked for where no class is known."""
    inferred: Inferred | None = None
    """The schema read from a class, where the settings name one."""
    usage: Usage | None = None
    usage_known: bool = False
    sources: tuple[str, ...] = ()
    """The Python files that the usage rests on."""
    surroundings: Surroundings | None = None
    """The code around the configs, once a finding depended on it."""
    failures: list[CfgfixError] = field(default_factory=list)
    """Faults of cfgfix that cost what the code says."""


class Kept:
    """The first configs of a run as overridden, for the guards in code; none where no code is looked at."""

    __slots__ = ("items", "most")

    def __init__(self) -> None:
        self.items: list[tuple[Document, Loader]] = []
        self.most = 0

    def full(self) -> bool:
        """Tell whether no more are kept."""
        return len(self.items) >= self.most


class Runs:
    """One run for each settings file that the checked files lie under; a plain class, since it grows."""

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
        self._made: dict[int, Run] = {}
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
        self.configs = Kept()
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

    def code_around(self, path: str) -> ProjectCode:
        """Return the code of the repository that a file belongs to."""
        root = repository(path, self._request.paths)
        found = self._codes.get(root)
        if found is None:
            from cfgfix.settings.discovery import Matcher
            from cfgfix.usage.project_code import ProjectCode

            settings = self.finder.settings_in(root)
            run = self.sound(settings)
            found = self._codes[root] = ProjectCode(
                root,
                Matcher(settings).excluded,
                content_stamp(()),
                tensorflow=settings.tensorflow,
                follows_models=self.follows_models or (run is not None and any(map(_has_card, run.machines))),
            )
        return found

    def code_says(self, path: str, source: SourceFile) -> CodeSays | None:
        """Return what the code around a config says of it, or None where no code opens it."""
        return self.code_around(path).says_about(path, source)

    def failures(self) -> list[CfgfixError]:
        """Return the faults of cfgfix that cost what the code says, each once."""
        found = [error for run in self.all() for error in run.failures]
        found += [error for code in self.codes() for error in code.failures]
        return list({str(error): error for error in found}.values())

    def codes(self) -> list[ProjectCode]:
        """Return the code that was asked for, by repository."""
        return list(self._codes.values())

    def run_for(self, settings: Settings) -> Run:
        """Return the run of these settings.

        Raises:
            CfgfixError: The settings name something that is not there.
        """
        if id(settings) in self.finder.wrong:
            raise self.finder.wrong[id(settings)]
        run = self._made.get(id(settings))
        if run is None:
            run = self._made[id(settings)] = self._make(settings)
        return run

    def sound(self, settings: Settings) -> Run | None:
        """Return the run of these settings.

        None where they are wrong, which `problems` then tells once.

        Raises:
            CfgfixError: They are those of the working folder, on which the whole run rests.
        """
        if id(settings) in self._wrong:
            return None
        try:
            return self.run_for(settings)
        except CfgfixError as error:
            if settings is self.finder.settings_in("."):
                raise
            self.note_unsound_settings(settings, error)
            return None

    def note_unsound_settings(self, settings: Settings, error: CfgfixError) -> None:
        """Keep what is wrong in some settings; the files under them are passed over."""
        self._wrong.add(id(settings))
        self._made.pop(id(settings), None)
        if str(error) not in map(str, self.problems):
            self.problems.append(error)

    def all(self) -> list[Run]:
        """Return all runs that were made."""
        return list(self._made.values())

    def _make(self, settings: Settings) -> Run:
        request = self._request
        dialects = known_dialects(settings, self.problems)
        catalogue = catalogue_of(settings, dialects.values())
        rules = select(catalogue, settings)
        for selectors in settings.per_file_ignores.values():
            for selector in selectors:
                _select_rules(catalogue, selector)
        severities = {key: Severity[value.upper()] for key, value in _severities(catalogue, settings).items()}
        machines, line = _machines(settings)
        if len(machines) > 1 and (request.fix or request.add_ignores is not None):
            raise CfgfixError(
                "a fix is made for one machine", hint="name one profile with --hardware instead of all"
            )
        folders = [settings.inside(folder) for folder in settings.rules]
        self.inputs += folders
        self.inputs += [path for folder in folders for path in files_below(folder, (".yaml", ".yml"))]
        self.inputs += [settings.inside(name) for name in (settings.schema, settings.hardware) if name]
        self.inputs += dialect_inputs(settings)
        return Run(
            settings=settings,
            hardware=line,
            rule_set=RuleSet(catalogue, rules, severities),
            dialects=dialects,
            machines=machines,
            schemas={},
            targets={},
            baseline=self.baseline,
            left=self.left,
            configs=self.configs,
            files=[],
        )


def _has_card(machine: Machine) -> bool:
    """Tell whether it is known how much memory the GPU of a machine has."""
    return machine.lookup is not None and machine.lookup("gpu.usable_mib") is not None


def repository(path: str, paths: Sequence[str]) -> str:
    """Return the folder whose code may read a file.

    Its repository, else the folder that is checked.

    Args:
        path: The file.
        paths: What the request names.
    """
    folder = os.path.dirname(os.path.abspath(path))
    found = project(folder)
    if os.path.exists(os.path.join(found, ".git")):
        return found
    here = os.path.realpath(".")
    for named in paths or (".",):
        whole = os.path.realpath(named)
        if os.path.isdir(whole) and is_inside(folder, whole):
            # The programs that read `runs/` lie beside it, where a person starts them.
            return _project_without_repository(whole, here) if is_inside(whole, here) else whole
    return _project_without_repository(folder, here) if is_inside(folder, here) else folder


def _project_without_repository(folder: str, here: str) -> str:
    """Return the folder of a project that is in no repository: at most the working folder, and no folder of many projects."""
    if _is_marked(here):
        return here
    found = above = folder
    while above != here and not _holds_projects(above):
        if _is_marked(above):
            return above
        above = os.path.dirname(above)
        if _looks_like_project(above) and not _holds_projects(above):
            found = above
    return found


_MARKS = ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "environment.yml", "cfgfix.toml")


def _is_marked(folder: str) -> bool:
    """Tell whether a folder has a file that stands at the top of a project."""
    return any(os.path.exists(os.path.join(folder, name)) for name in _MARKS)


def _holds_projects(folder: str) -> bool:
    """Tell whether a folder is one that projects lie in: the home folder, that of temporary files, the root."""
    places = (os.path.expanduser("~"), _SHARED, *(os.environ.get(name) for name in _TEMPORARY))
    return folder == os.path.dirname(folder) or any(
        place and folder == os.path.realpath(place) for place in places
    )


_SHARED = "/tmp"  # noqa: S108 - nothing is written there
_TEMPORARY = ("TMPDIR", "TEMP", "TMP")
_OF_PROJECTS = (".py", "pyproject.toml", "setup.cfg", "requirements.txt")


def _looks_like_project(folder: str) -> bool:
    """Tell whether a folder holds Python or what a Python project has at its top."""
    try:
        with os.scandir(folder) as entries:
            return any(entry.name.endswith(_OF_PROJECTS) for entry in entries)
    except OSError:
        return False


def content_stamp(rules: Sequence[Rule]) -> object:
    """Return what changes when a source rule does, or what the code is asked for."""
    from cfgfix.rules.compiled import manifest

    paths = [rule.path for rule in rules if rule.check and rule.check.startswith("source.")]
    return manifest([*paths, source_file()])


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


def _severities(catalogue: Catalogue, settings: Settings) -> dict[str, str]:
    return {
        rule.id: value
        for selector, value in settings.severity.items()
        for rule in _select_rules(catalogue, selector)
    }


def _machines(settings: Settings) -> tuple[list[Machine], str]:
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
            replace(_machine(text, settings)[0], profile=name) for name, text in settings.profiles.items()
        ]
        return machines, f"hardware: {', '.join(settings.profiles)}"
    try:
        machine, line = _machine(settings.profiles.get(request or "", request), settings)
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


def _machine(request: str | None, settings: Settings) -> tuple[Machine, str]:
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


def dialect_of(document: Document, run: Run, *, forced: bool = False) -> Dialect | None:
    """Return the dialect of a document, or None where it is no training config.

    That is the dialect that is named, the one whose signature the document has, or, where the settings name keys or a
    class, the generic one for what has some of those. A name says how a training config is written; whether a file is
    one is asked all the same.

    Args:
        document: The document.
        run: What its settings come to.
        forced: Whether a person says that it is a config of the named dialect.
    """
    settings = run.settings
    named = run.dialects[settings.dialect] if settings.dialect is not None else None
    if named is not None and forced:
        return named
    found = _detect_dialect(document, run)
    if found is not None and found.confidence != "low":
        # What is of another family with files of its own, such as the job of a cluster, is judged as that.
        foreign = named is not None and named is not found and tool_of(document) is not None
        return found if named is None or foreign else named
    if tool_of(document) is not None:
        return None
    if named is not None:
        return named if found is not None or has_training_keys(document, named) else None
    if found is not None or document.problem is not None:
        return found
    if settings.schema and names_class(settings.schema) and _fits_class(document, run):
        return run.dialects.get("generic")
    if settings.keys or settings.schema:
        generic = run.dialects.get("generic")
        if generic is not None and _has_own_keys(document, run, generic):
            return generic
    return None


def _detect_dialect(document: Document, run: Run) -> Dialect | None:
    """Return the dialect whose signature a document has, or None where it has none."""
    if document.problem is not None:
        return by_text(document.source.text, run.dialects)
    for root in document.roots:
        found = detect(root, run.dialects.values())
        if found is not None:
            return found
    return None


def _has_own_keys(document: Document, run: Run, generic: Dialect) -> bool:
    from cfgfix.config.dialects.detect import exists

    patterns = [pattern for concept in run.settings.keys for pattern in generic.concepts.get(concept, ())]
    return any(exists(root, pattern) for root in document.roots for pattern in patterns)


def _fits_class(document: Document, run: Run) -> bool:
    """Tell whether a document has, at its top, half of its keys or more from the class that the settings name.

    Names that any file may have, such as `name` and `version`, do not make it fit alone.
    """
    run.inferred = run.inferred or _infer(run.settings)
    known = run.inferred.schema.get("properties", {})
    for root in document.roots:
        if root.kind == Kind.MAPPING and root.items:
            found = [key.text for key, _ in root.items if key.kind == Kind.SCALAR and key.text in known]
            if not all(map(is_label, found)) and 2 * len(found) >= len(root.items):
                return True
    return False


def target_of(run: Run, dialect: Dialect, machine: Machine) -> Target:
    """Return what the configs of a dialect are judged against.

    Loader, schema, machine and the code that reads them.

    Raises:
        CfgfixError: The schema that the settings name cannot be read.
    """
    key = (dialect.name, machine.profile)
    target = run.targets.get(key)
    if target is None:
        usage = usage_for(run)
        found = usage.loader if usage is not None else None
        loader = LOADERS[run.settings.loader or dialect.loader]
        if run.settings.loader is None and found in LOADERS:
            # A dialect knows its own program better than which function is called, unless that reads other YAML.
            assert found is not None
            if dialect.name == "generic" or LOADERS[found].yaml_version != loader.yaml_version:
                loader = LOADERS[found]
        if dialect.name not in run.schemas:
            run.schemas[dialect.name] = _schema(run, dialect)
        target = Target(
            dialect,
            loader,
            run.schemas[dialect.name],
            machine.lookup,
            machine.label,
            usage,
            run.settings.schema is not None,
        )
        run.targets[key] = target
    return target


def with_meanings(target: Target, reached: Sequence[Reached]) -> Target:
    """Return a target for one config with what the code says of its keys.

    That is the code that opens it.
    """
    from cfgfix.config.dialects.parameters import dialect_by_meanings, key_meanings

    found = key_meanings(reached)
    return replace(target, dialect=dialect_by_meanings(target.dialect, found), meanings=found)


def machine_of_job(job: Job) -> tuple[Hardware, str]:
    """Return the machine that the limits of a job are, with one line that says so."""
    from cfgfix.hardware.presets import limited, summary

    label, limits = f"{job.kind} in {job.path}:{job.line}", job.limits
    hardware = limited(label, limits.cpus, limits.ram_mib, limits.card, limits.gpus)
    taken = f"; {limits.said} is taken for the largest of that name" if limits.said else ""
    return hardware, f"hardware: the limits of {label} ({summary(hardware)}{taken})"


def with_job_limits(target: Target, job: Job) -> tuple[Target, str]:
    """Return a target whose machine is what a job may use, with one line that says so."""
    hardware, line = machine_of_job(job)

    def look(name: str) -> Any:
        found = hardware.lookup(name)
        return None if found is None else found.value

    return replace(target, hardware=look, hardware_label=hardware.label), line


def with_surroundings(run: Run, dialect: Dialect, source: SourceFile, target: Target) -> Target:
    """Return a target for one config with what the text of the code around it says.

    The same where it says nothing.

    Of how it is read, a dialect with a program of its own, a `loader` setting and code that is followed know better.
    """
    from cfgfix.usage.code_beside import Around, Surroundings

    if run.surroundings is None:
        run.surroundings = Surroundings()
    around = run.surroundings.code_near(source.path, source.text)
    usage = usage_for(run)
    known = run.settings.loader is not None or (usage is not None and usage.loader is not None)
    if known or dialect.name != "generic":
        told = Around(elsewhere=around.elsewhere, ruamel=around.ruamel)
        return replace(target, around=told) if told.elsewhere or told.ruamel else target
    if around == Around():
        return target
    loader = target.loader
    if around.omegaconf:
        loader = LOADERS["omegaconf"]
    elif around.floats:
        loader = LOADERS["pyyaml-floats"]
    return replace(target, around=around, loader=loader)


def with_ruamel_around(run: Run, source: SourceFile, target: Target) -> Target:
    """Return a target that knows whether the code around uses ruamel.yaml."""
    from cfgfix.usage.code_beside import Around, Surroundings

    if run.surroundings is None:
        run.surroundings = Surroundings()
    if not run.surroundings.code_near(source.path, source.text).ruamel:
        return target
    return replace(target, around=replace(target.around or Around(), ruamel=True))


def usage_for(run: Run) -> Usage | None:
    """Return what the code does with the configs.

    None where no class and no source root is known.
    """
    if run.usage_known:
        return run.usage
    run.usage_known = True
    settings = run.settings
    by_class = settings.schema is not None and names_class(settings.schema)
    if not run.rule_set.code or not (by_class or settings.source_roots):
        return None
    from cfgfix.usage.checks import key_paths, project_files, usage_of

    files = project_files(settings)
    if not files:
        return None
    run.sources = tuple(file.path for file in files)
    if by_class:
        run.inferred = run.inferred or _infer(settings)
    paths: list[tuple[str, ...]] = []
    if not by_class:
        for path in run.files:
            try:
                paths += key_paths(compose(read_source(path)))
            except UnreadableError:
                continue
    try:
        run.usage = usage_of(
            files,
            settings,
            run.inferred if by_class else None,
            paths,
            content_stamp(()),
            shared=run.rule_set.rules,
        )
    except CfgfixError:
        raise
    except Exception as error:  # noqa: BLE001 - a fault here costs what the code says, not the check
        run.failures.append(internal_fault(error, settings.root))
    return run.usage


def _schema(run: Run, dialect: Dialect) -> Schema | None:
    if run.settings.schema is not None:
        path = run.settings.inside(run.settings.schema)
        if names_class(run.settings.schema):
            inferred = run.inferred or _infer(run.settings)
            run.inferred = inferred
            return Schema.load(inferred.schema, run.settings.schema)
        import json

        source = read_source(path)
        try:
            data = json.loads(source.text)
        except (ValueError, RecursionError) as error:
            raise CfgfixError(f"is not JSON: {error}", path=path) from error
        return Schema.load(data, path, base_dir=os.path.dirname(os.path.abspath(path)))
    data = schema_data(dialect)
    if data is None:
        return None
    own = dialect.schema is not None and os.path.isabs(dialect.schema)
    if own and dialect.schema is not None:
        return Schema.load(data, dialect.schema, base_dir=os.path.dirname(dialect.schema))
    return Schema.load(data, f"{dialect.name}/schema.json")


def names_class(schema: str) -> bool:
    """Tell whether a `schema` setting names a class in the code.

    Else it names a JSON Schema file.
    """
    place, sign, name = schema.rpartition(":")
    return (
        bool(sign)
        and len(place) > 1
        and not name.endswith(".json")
        and "/" not in name
        and os.sep not in name
    )


def _infer(settings: Settings) -> Inferred:
    from cfgfix.config.schema.infer import infer

    assert settings.schema is not None
    found = infer(settings.schema, settings.root, settings.source_roots)
    if settings.unknown_keys is not None:
        from cfgfix.usage.checks import overruled

        found = replace(found, schema=overruled(found.schema, settings.unknown_keys))
    return found
