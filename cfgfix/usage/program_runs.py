"""Run a project's programs over its configs, with no settings: which files they open and what becomes of each key."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from collections.abc import Mapping as Table
from collections.abc import Sequence as Row

from cfgfix.code.inference.interpreter.events import REQUIRED, Loading
from cfgfix.code.inference.interpreter.interpreter import Interpreter
from cfgfix.code.inference.interpreter.library import OPTIONS, SHELL
from cfgfix.code.inference.interpreter.objects import (
    DICT,
    EITHER,
    ConfigKey,
    FilePath,
    Mapping,
    PartialText,
    Scalar,
    Sequence,
    Spot,
    Unknown,
    Value,
)
from cfgfix.code.model.expressions import dotted
from cfgfix.code.model.program import Module, Program, absolute
from cfgfix.code.model.summary import CALL, COMPARE, NAME, Call, Event
from cfgfix.core.records import dataclass
from cfgfix.core.source_file import read_regular
from cfgfix.usage.commands import MAX_COMMANDS, Command, commands_in
from cfgfix.usage.config_files import UNREAD, ConfigFile, Entry, KeyPath, Problem
from cfgfix.usage.project_files import DATA, ProjectFiles, by_ending

MAX_RUNS = 600
"""Most runs of one project."""
MAX_STEPS = 1_200_000
"""Most steps of all runs of one project: about ten seconds; programs that are not run any more silence what they mention."""
MAX_FORCED = 64
"""Most files that are tried at one load site."""
MAX_FITTING = 3
"""Most programs that a file is tried with which lack nothing of it."""
FITS = 0.5
"""Share of a file's keys at the top that a load site must ask for: training configs have 0.88 and more, others 0.33 and less."""
_FRAMEWORK = frozenset(
    {
        "tensorflow",
        "keras",
        "tf_keras",
        "tensorflow_datasets",
        "tensorflow_addons",
        "tensorflow_hub",
        "tfds",
        "tf_agents",
    }
)
_OTHER_FRAMEWORKS = frozenset(
    {
        "torch",
        "pytorch_lightning",
        "lightning",
        "jax",
        "flax",
        "mxnet",
        "paddle",
        "mindspore",
        "fastai",
        "chainer",
        "tinygrad",
    }
)
_LOADERS = {
    "yaml.SafeLoader": "pyyaml", "yaml.CSafeLoader": "pyyaml", "yaml.BaseLoader": "pyyaml", "yaml.FullLoader": "pyyaml-full",
    "yaml.CFullLoader": "pyyaml-full", "yaml.Loader": "pyyaml-unsafe", "yaml.CLoader": "pyyaml-unsafe",
    "yaml.UnsafeLoader": "pyyaml-unsafe", "ruamel": "ruamel", "omegaconf": "omegaconf", "yacs": "pyyaml",
}  # fmt: skip
_ASIDE = re.compile(
    r"[/_](demos?|tools?|scripts?|utils?|utilities|visuali[sz]\w*|eval\w*|inference|predict|plot|test\w*|validate|verify|debug|benchmarks?|profil\w*)[/_.]"
)
"""Programs that are run last: they rarely say what training does with a key."""
_OVERRIDE = re.compile(r"[+~]{0,2}[A-Za-z_][\w./@]*=")
"""An argument such as `train.epochs=3`."""
Site = tuple[tuple[str, int, int], ...]
"""A load site: file, line and column of the call and, before it, of the calls through which the run comes there."""


@dataclass(frozen=True, slots=True)
class Entrance:
    """Where a program begins.

    Attributes:
        module: Its file.
        function: The function that a console script calls; empty for a script.
        framework: Whether what it imports reaches TensorFlow or Keras.
        another: Whether it reaches another framework.
        names: Dotted names and installed commands by which a command may call it.
    """

    module: Module
    function: str
    framework: bool
    another: bool
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Opened:
    """A config as one run has it.

    Attributes:
        file: The file.
        loader: Name of the loader, as of `LOADERS`.
        keys: What became of each key.
        root: Its values; None where it could not be loaded.
        problem: Why it could not.
        loading: The call that loads it.
        evidence: What says that this call gets this file.
    """

    file: ConfigFile
    loader: str
    keys: dict[KeyPath, ConfigKey]
    root: Entry | None
    problem: Problem | None
    loading: Loading
    evidence: str


@dataclass(frozen=True, slots=True)
class RunResult:
    """What one run of a program did.

    Attributes:
        entrance: Where it began.
        command: The command that started it, or None.
        opened: The configs that it loaded, by path relative to the project.
        asked, refusals: As of the interpreter.
        calls: Calls of libraries.
        exhausted: Whether it was cut off.
        every_way: Whether both ways were taken at conditions on the config.
        forced: The file that was put in at a load site, or nothing.
    """

    entrance: Entrance
    command: Command | None
    opened: dict[str, Opened]
    run: Interpreter
    every_way: bool
    forced: str
    unresolved: dict[Site, tuple[Loading, ConfigKey]]
    unknown_overrides: list[tuple[str, Mapping]]


@dataclass(frozen=True, slots=True)
class OpenSite:
    """A load site of a program of which it is not known, or not wholly, which files it gets.

    Attributes:
        entrance: Where the program begins.
        command: The command under which it comes to the site.
        loading: The call.
        names: Keys at the top of the file that are asked for.
        known: Files that the program is known to open.
    """

    entrance: Entrance
    command: Command | None
    loading: Loading
    names: set[str]
    known: frozenset[str]


class ProjectRuns:
    """All runs of a project's programs over its configs.

    Args:
        program: The linked program of the repository.
        root: The repository's folder.
        documents: Configs that are read already, by absolute path.
    """

    def __init__(self, program: Program, root: str) -> None:
        self.program = program
        self.files = ProjectFiles(root)
        self.root = self.files.root
        self.known = self.files.known
        self.configs: dict[str, ConfigFile | None] = {}
        self.results: list[RunResult] = []
        self.steps = 0
        self.every_way: dict[int, RunResult] = {}
        """The runs made again with both ways taken at conditions on configs, by the identity of the run."""
        self.sites: dict[Site, Loading] = {}
        known = {module.path for module in program.all_modules() if module.scope is not None}
        self.unread = [path for path in program.files if path not in known]
        """Python files that could not be read as Python: what they do with a config is not known."""
        self.script_texts: list[str] | None = None
        self._imports_of: dict[int, tuple[list[Module], set[str]]] = {}
        self.entered: list[Entrance] = []
        """The programs that were followed."""
        self.open_sites: list[OpenSite] = []
        """The load sites of which it is not wholly known which files they get."""

    def shown(self, path: str) -> str:
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
        """Return the words of the scripts that name a config file."""
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
            if name in text:
                found.update(re.findall(r"[A-Za-z_][A-Za-z0-9_-]*", text))
        return found

    def text_of(self, path: str) -> str:
        """Return the text of a config, or nothing where it cannot be read."""
        config = self.config(path)
        return config.source.text if config is not None else ""

    # Entry points

    def entrances(self) -> list[Entrance]:
        """Return where the project's programs begin, those that may load a config."""
        found: list[Entrance] = []
        scripts = self._console_scripts()
        imported = self._imported()
        for module in self.program.all_modules():
            path = module.path
            if module.scope is None or _of_tests(os.path.relpath(path, self.root).replace(os.sep, "/")):
                continue
            closure: tuple[bool, bool, bool] | None = None
            names = [name for name, (target, _) in scripts.items() if target == module.name]
            begins = (
                path.endswith(".ipynb")
                or _has_guard(module)
                or (id(module) not in imported and _does_something(module))
            )
            if not begins and not names:
                continue
            closure = self._closure(module)
            if not closure[1]:
                continue
            if begins:
                found.append(Entrance(module, "", closure[0], closure[2], (module.name,)))
            for name in names:
                found.append(Entrance(module, scripts[name][1], closure[0], closure[2], (name,)))
        found.sort(key=lambda item: (not item.framework, bool(_ASIDE.search(f"/{item.module.path}"))))
        return found

    def _imported(self) -> set[int]:
        found: set[int] = set()
        for module in self.program.all_modules():
            for other in self._imports(module)[0]:
                found.add(id(other))
        return found

    def _imports(self, module: Module) -> tuple[list[Module], set[str]]:
        """Return the modules of the project that a module imports, and the first names of what else it does."""
        known = self._imports_of.get(id(module))
        if known is not None:
            return known
        inner: list[Module] = []
        outer: set[str] = set()
        for scope in module.summary.scopes:
            sources = [
                source for event in _events(scope.body) if event.kind == "import" for _, source in event.extra
            ]
            for source in (*sources, *scope.stars):
                found = self.program.module(source, module)
                whole = absolute(source, module)
                if found is None and "." in whole:
                    head = whole.rpartition(".")[0]
                    found = self.program.module(head, module)
                if found is not None:
                    if found is not module:
                        inner.append(found)
                else:
                    outer.add(whole.split(".", 1)[0])
        self._imports_of[id(module)] = inner, outer
        return inner, outer

    def _closure(self, module: Module) -> tuple[bool, bool, bool]:
        """Return whether what a module imports reaches TensorFlow, may load a config, and reaches another framework."""
        seen: set[int] = set()
        pending = [module]
        framework = loads = another = False
        while pending:
            here = pending.pop()
            if id(here) in seen:
                continue
            seen.add(id(here))
            inner, outer = self._imports(here)
            framework = framework or not _FRAMEWORK.isdisjoint(outer)
            loads = loads or not outer.isdisjoint(_PACKAGES)
            another = another or not outer.isdisjoint(_OTHER_FRAMEWORKS)
            pending += inner
        return framework, loads, another

    def _console_scripts(self) -> dict[str, tuple[str, str]]:
        found: dict[str, tuple[str, str]] = {}
        for name in ("pyproject.toml", "setup.py", "setup.cfg"):
            try:
                text = read_regular(os.path.join(self.root, name), 200_000).decode("utf-8", "replace")
            except OSError:
                continue
            for script, module, function in re.findall(
                r"""["']?([\w-]+)["']?\s*=\s*["']?([A-Za-z_][\w.]*)\s*:\s*([A-Za-z_]\w*)""", text
            ):
                found.setdefault(script, (module, function))
        return found

    def commands(self, entrances: Row[Entrance]) -> dict[int, list[Command]]:
        """Return the commands that start each entrance, by its place in the list."""
        scripts = frozenset(name for entrance in entrances if entrance.function for name in entrance.names)
        found: dict[int, list[Command]] = {}
        count = 0
        for text in self.files.texts:
            for command in commands_in(os.path.join(self.root, text), scripts):
                for number, entrance in enumerate(entrances):
                    if self._starts(command, entrance):
                        known = found.setdefault(number, [])
                        if not any(_same(command, other) for other in known):
                            known.append(command)
                            count += 1
                if count >= MAX_COMMANDS:
                    return found
        return found

    def _starts(self, command: Command, entrance: Entrance) -> bool:
        if command.is_module:
            name = entrance.module.name
            return command.program in entrance.names or (
                not entrance.function and (name in (command.program, f"{command.program}.__main__"))
            )
        if entrance.function:
            return False
        whole = self.files.inside(os.path.abspath(entrance.module.path)) or ""
        wanted = os.path.normpath(command.program).replace(os.sep, "/")
        folder = self.files.inside(command.folder)
        direct = os.path.normpath(f"{folder}/{wanted}" if folder and folder != "." else wanted)
        if whole == direct:
            return True
        return whole.endswith(f"/{wanted.lstrip('./')}") or whole == wanted.lstrip("./")

    # Runs

    def run(self) -> None:
        """Run every program under every command, then with each further file that its load sites fit."""
        entrances = self.entered = self.entrances()
        commands = self.commands(entrances)
        made: list[tuple[Entrance, list[RunResult]]] = []
        for number, entrance in enumerate(entrances):
            mine: list[RunResult] = []
            for command in _telling(commands.get(number, ())):
                if self.spent():
                    break
                result = self.one(entrance, command)
                if not result.run.loadings:
                    # A program that loads nothing under one command loads nothing under another, as a rule.
                    break
                known = {path for other in mine for path in other.opened}
                if command is None and result.opened and known.issuperset(result.opened):
                    # Without arguments it opens its defaults: they count only where no command names them.
                    continue
                mine.append(result)
                self.results.append(result)
            made.append((entrance, mine))
        self.open_sites = [item for entrance, mine in made for item in _open_sites(entrance, mine)]
        self._try_others(self.open_sites)

    def spent(self) -> bool:
        """Tell whether no more runs are made."""
        return len(self.results) >= MAX_RUNS or self.steps >= MAX_STEPS

    def with_text(self, path: str, config: ConfigFile) -> ProjectRuns:
        """Return the runs that open a config, made again with another text of it."""
        again = ProjectRuns.__new__(ProjectRuns)
        again.program, again.files, again.root, again.known = self.program, self.files, self.root, self.known
        again.configs = {**self.configs, path: config}
        again.unread = self.unread
        again.sites, again.script_texts = self.sites, self.script_texts
        again.entered, again.open_sites = self.entered, self.open_sites
        again.results, again.every_way, again.steps = [], {}, 0
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
        every_way: bool = False,
    ) -> RunResult:
        """Run a program once."""
        host = Host(self, entrance, command, forced or {})
        run = Interpreter(self.program, host, every_way=every_way)
        if entrance.function:
            run.run_function(entrance.module, entrance.function)
        else:
            run.run(entrance.module)
        self.steps += run.steps
        return RunResult(
            entrance,
            command,
            host.opened,
            run,
            every_way,
            next(iter((forced or {}).values()), ""),
            host.unresolved,
            host.unknown_overrides,
        )

    def _try_others(self, sites: Row[OpenSite]) -> None:
        """Run programs with the files that nothing names and that have the shape their load sites ask for.

        Of several programs the ones that lie nearest to the file are those that it is for.
        """
        named = {path for result in self.results for path in result.opened}
        for path in self.files.data:
            # What a command or the code names is not tried elsewhere, unless nothing is known of what a program gets.
            fitting = [
                site
                for site in sites
                if path not in site.known
                and not (path in named and site.known)
                and self._fits(path, site.loading, site.names)
            ]
            near = {id(site): self._nearness(path, site.entrance) for site in fitting}
            fitting.sort(
                key=lambda site: (-near[id(site)], bool(_ASIDE.search(f"/{site.entrance.module.path}")))
            )
            nearest = -1
            fits: list[tuple[int, RunResult]] = []
            for site in fitting[:MAX_FORCED]:
                if near[id(site)] < nearest:
                    break
                if sum(1 for lacks, _ in fits if not lacks) >= MAX_FITTING:
                    break
                if self.spent():
                    # The program that the file is for may be one that was not tried.
                    return
                result = self.one(site.entrance, site.command, {site_of(site.loading): path})
                made = result.opened.get(path)
                if made is None or made.root is None or share_read(made) < FITS:
                    continue
                lacks = lacking(made, result)
                if lacks <= max(1, sum(1 for key in made.keys.values() if key.path and counted(key)) // 10):
                    nearest = near[id(site)]
                    fits.append((lacks, result))
            least = min((lacks for lacks, _ in fits), default=0)
            self.results += [result for lacks, result in fits if lacks == least]

    def _nearness(self, path: str, entrance: Entrance) -> int:
        """Return how many folders a file and a program have in common, from the root down."""
        program = (self.files.inside(os.path.abspath(entrance.module.path)) or "").split("/")[:-1]
        count = 0
        for one, other in zip(path.split("/")[:-1], program, strict=False):
            if one != other:
                break
            count += 1
        return count

    def _fits(self, path: str, loading: Loading, names: set[str]) -> bool:
        if not path.endswith(loads_form(loading)):
            return False
        config = self.config(path)
        if config is None:
            return False
        root, _ = config.tree()
        if root is None or root.kind != "map" or not root.children:
            return False
        own = [str(name) for name, child in root.children if not child.anchored or str(name) in names]
        found = sum(1 for name in own if name in names)
        return bool(own) and found >= 1 and found / len(own) >= FITS


def _telling(commands: Row[Command]) -> list[Command | None]:
    """Return of several commands those that differ in the files and key paths that they name, and one that names none."""
    found: dict[tuple[str, ...], Command | None] = {}
    for command in commands:
        named = tuple(item for item in command.arguments if item.endswith(DATA) or _OVERRIDE.match(item))
        found.setdefault(named, command)
    found.setdefault((), None)
    return list(found.values())


def _open_sites(entrance: Entrance, results: Row[RunResult]) -> list[OpenSite]:
    """Return the load sites of a program that may get other files than those of its runs."""
    known = frozenset(path for result in results for path in result.opened)
    found: dict[Site, OpenSite] = {}
    for result in results:
        for loading, key in result.unresolved.values():
            site = OpenSite(entrance, result.command, loading, set(), known)
            found.setdefault(site_of(loading), site).names.update(key.asked)
        for path, opened in result.opened.items():
            if not _from_outside(opened.loading.path):
                continue
            site = OpenSite(entrance, result.command, opened.loading, set(), known)
            names = found.setdefault(site_of(opened.loading), site).names
            names.update(str(key.path[0]) for key in opened.keys.values() if key.path and counted(key))
            names.update(
                asked.name
                for asked in result.run.asked
                if any(section.source == path and not section.path for section in asked.sections)
            )
    return [site for site in found.values() if site.names]


def made_again(project: ProjectRuns, result: RunResult, *, every_way: bool = False) -> RunResult:
    """Return a run made again in a project whose configs may have other texts."""
    forced: dict[Site, str] = {}
    if result.forced:
        opened = result.opened.get(result.forced)
        if opened is not None:
            forced = {site_of(opened.loading): result.forced}
    return project.one(result.entrance, result.command, forced, every_way=every_way)


_PACKAGES = frozenset(
    {
        "yaml",
        "json",
        "tomllib",
        "tomli",
        "toml",
        "omegaconf",
        "hydra",
        "yacs",
        "ml_collections",
        "gin",
        "ruamel",
        "oyaml",
        "hjson",
        "json5",
        "commentjson",
        "pyrallis",
        "jsonargparse",
        "tyro",
        "draccus",
        "dynaconf",
        "confuse",
        "mmengine",
        "mmcv",
        "configargparse",
    }
)


def counted(key: ConfigKey) -> bool:
    """Tell whether a run reads a key, or gives it to something that may."""
    return bool(key.interpolated or key.overlaid or key.reads or key.uses or key.walks or key.escapes)


def share_read(opened: Opened) -> float:
    """Return the share of a file's keys at the top that a run asks for."""
    names = [key for key in opened.keys.values() if len(key.path) == 1]
    return sum(1 for key in names if counted(key)) / len(names) if names else 0.0


def lacking(opened: Opened, result: RunResult) -> int:
    """Return how many keys a program needs that a file lacks, and how many of the file's it refuses."""
    asked = {
        (key.path, item.name)
        for item in result.run.asked
        if item.how == REQUIRED and not item.caught and not item.conditions
        for key in item.sections
        if key.source == opened.keys[()].source
    }
    refused = {
        item.key.path
        for item in result.run.refusals
        if item.key.source == opened.keys[()].source and item.kind in ("unknown-key", "missing-key")
    }
    return len(asked) + len(refused)


def loads_form(loading: Loading) -> tuple[str, ...]:
    """Return how the names of the files end that a call loads."""
    return {"json": (".json",), "toml": (".toml",)}.get(loading.how, (".yaml", ".yml"))


def site_of(loading: Loading) -> Site:
    """Return where a call that loads a file stands."""
    way = [(scope.module.path, *place[:2]) for scope, place in loading.spot.calls]
    return (*way, (loading.spot.path, *loading.spot.place[:2]))


def _from_outside(path: Value) -> bool:
    if isinstance(path, Unknown):
        return True
    return (
        any(key.source == OPTIONS for key in path.origins)
        or (isinstance(path, Scalar) and path.optional)
        or isinstance(path, PartialText)
    )


def _same(one: Command, other: Command) -> bool:
    return (one.program, one.arguments, one.variables) == (other.program, other.arguments, other.variables)


def _of_tests(path: str) -> bool:
    return bool(
        re.search(r"(^|/)(tests?|testing)/|(^|/)test_[^/]*$|_test\.py$|(^|/)(conftest|setup)\.py$", path)
    )


def _events(body: Row[Event]) -> Iterator[Event]:
    pending = list(body)
    while pending:
        event = pending.pop()
        yield event
        for _, inner in event.bodies or ():
            pending += inner


def _has_guard(module: Module) -> bool:
    scope = module.scope
    assert scope is not None
    for event in scope.body:
        if event.kind == "if" and event.value is not None and event.value[0] == COMPARE:
            sides = [event.value[1], *(right for _, right in event.value[2])]
            if any(side[0] == NAME and side[1] == "__name__" for side in sides):
                return True
    return False


def _does_something(module: Module) -> bool:
    """Tell whether the statements of a module, run as a script, do more than define names."""
    scope = module.scope
    assert scope is not None
    if module.is_package:
        return False
    for event in _events(scope.body):
        if event.kind in ("for", "while", "with"):
            return True
        if event.kind == "expr" and event.value is not None and event.value[0] == CALL:
            return True
    return any(_loads(call) for call in scope.calls)


def _loads(call: Call) -> bool:
    found = dotted(call.func) or ""
    return found.rpartition(".")[2] in ("safe_load", "load", "full_load", "parse_args", "fit")


class Host:
    """The world outside the code as one run sees it."""

    def __init__(
        self, project: ProjectRuns, entrance: Entrance, command: Command | None, forced: Table[Site, str]
    ) -> None:
        self.project = project
        self.entrance = entrance
        self.command = command
        self.forced = forced
        self.opened: dict[str, Opened] = {}
        self.unresolved: dict[Site, tuple[Loading, ConfigKey]] = {}
        self.unknown_overrides: list[tuple[str, Mapping]] = []
        """Overrides of the command line that name no key, with the section that they ask."""
        script = os.path.dirname(os.path.abspath(entrance.module.path))
        folders = [os.getcwd()]
        if command is not None:
            folders.append(os.path.abspath(command.folder))
        folders += [project.root, script, os.path.dirname(script)]
        self.folders = list(dict.fromkeys(folders))

    def is_known(self, path: str) -> bool:
        """Return whether the project has a config file at this path."""
        return path in self.project.known

    def text_of(self, path: str) -> str:
        """Return the text of a config file of the project."""
        return self.project.text_of(path)

    def arguments(self) -> list[str] | None:
        """Return the arguments of the command; None without one."""
        return list(self.command.arguments) if self.command is not None else None

    def variable(self, name: str) -> str | None:
        """Return an environment variable that the command sets."""
        if self.command is None:
            return None
        return next(
            (value for key, value in self.command.variables if key == name and "$" not in value), None
        )

    def listed(self, folder: Value, pattern: str, spot: Spot) -> list[str] | None:
        """Return the configs of a folder that a pattern gives, or None where there are none."""
        del spot
        text = _text(folder)
        if text is None:
            return None
        for base in self.folders:
            inside = self.project.files.inside(os.path.join(base, text))
            if inside is None:
                continue
            found = self.project.files.matching(pattern, inside if inside != "." else "")
            if found:
                return [os.path.join(self.project.root, path) for path in found]
        return None

    def load(self, loading: Loading) -> Value | None:
        """Return what a config file gives; a mapping that notes what it is asked for where the file is not known."""
        site = site_of(loading)
        self.project.sites.setdefault(site, loading)
        if loading.how == "hydra":
            from cfgfix.usage.hydra import composed

            return composed(self, loading)
        path = self.forced.get(site)
        evidence = "its keys are the ones that are read"
        if path is None:
            path = self.resolve(loading.path)
            evidence = self.evidence(loading)
        if path is None:
            key = ConfigKey("", (), None)
            self.unresolved.setdefault(site, (loading, key))
            flavour = loading.how == "omegaconf"
            return Mapping(
                key=key,
                open=True,
                access=EITHER if flavour else DICT,
                absent="ConfigAttributeError" if flavour else "KeyError",
                flavour="omegaconf" if flavour else "dict",
            )
        return self.value_of(path, loading, evidence)

    def value_of(self, path: str, loading: Loading, evidence: str) -> Value | None:
        """Return what loading a file of the project gives."""
        config = self.project.config(path)
        if config is None:
            return None
        loader = loader_name(loading)
        root, problem = config.tree(loader)
        known = self.opened.get(path)
        keys = known.keys if known is not None else {}
        if known is None:
            self.opened[path] = Opened(config, loader, keys, root, problem, loading, evidence)
        if root is None:
            return None
        omega = loading.how in ("omegaconf", "hydra")
        made = Maker(path, keys, "omegaconf" if omega else "dict").value(root)
        if loading.how == "omegaconf" and isinstance(made, Mapping):
            from cfgfix.usage.hydra import interpolate

            interpolate(made)
        return made

    def evidence(self, loading: Loading) -> str:
        """Return in words how it is known which file a call loads."""
        path = loading.path
        if any(key.source == OPTIONS for key in path.origins):
            name = next(key.name for key in path.origins if key.source == OPTIONS)
            if self.command is not None:
                shown = os.path.relpath(self.command.path, self.project.root)
                return f"the command in {shown}:{self.command.line} gives it as {name}"
            return f"it is the default of {name}"
        text = _text(path)
        if self.command is not None and text is not None and text in self.command.arguments:
            shown = os.path.relpath(self.command.path, self.project.root)
            return f"the command in {shown}:{self.command.line} gives it"
        return "the code names it"

    def resolve(self, path: Value) -> str | None:
        """Return the file of the project that a path means, or None."""
        text = _text(path)
        known = self.project.known
        if text is not None:
            if SHELL in text:
                return None
            for folder in self.folders:
                inside = self.project.files.inside(os.path.join(folder, text))
                if inside in known:
                    return inside
            ending = os.path.normpath(text).replace(os.sep, "/").lstrip("./")
            found = by_ending(self.project.files.data, ending) if ending and not os.path.isabs(text) else []
            return found[0] if len(found) == 1 else None
        if isinstance(path, FilePath):
            path = path.text
        if isinstance(path, PartialText):
            pattern = re.compile("".join(".*" if part is None else re.escape(part) for part in path.parts))
            tail = path.parts[-1]
            candidates = [
                item
                for item in self.project.files.data
                if pattern.fullmatch(item)
                or pattern.fullmatch(f"./{item}")
                or any(
                    pattern.fullmatch(os.path.relpath(os.path.join(self.project.root, item), folder))
                    for folder in self.folders
                )
            ]
            if not candidates and isinstance(tail, str) and "/" in tail:
                candidates = by_ending(self.project.files.data, tail.lstrip("/"))
            return candidates[0] if len(candidates) == 1 else None
        return None


def _text(value: Value) -> str | None:
    if isinstance(value, FilePath):
        value = value.text
    return value.value if type(value) is Scalar and isinstance(value.value, str) else None


def loader_name(loading: Loading) -> str:
    """Return the name of the loader that a call reads YAML with, as of `LOADERS`."""
    name = _LOADERS.get(str(loading.loader.get("class", "")), "pyyaml")
    for tag, _ in loading.loader.get("resolvers") or ():
        if tag.endswith("float"):
            return "pyyaml-floats"
    made = loading.loader.get("made")
    if made is not None:
        kind = made.keywords.get("typ", made.args[0] if made.args else None)
        del kind
    return name


class Maker:
    """Values of a run from the entries of a config file."""

    def __init__(self, source: str, keys: dict[KeyPath, ConfigKey], flavour: str) -> None:
        self.source = source
        self.keys = keys
        self.flavour = flavour
        self.made: dict[int, Value] = {}

    def key(self, path: KeyPath) -> ConfigKey:
        """Return what notes the fate of a key."""
        found = self.keys.get(path)
        if found is None:
            parent = self.key(path[:-1]) if path else None
            found = self.keys[path] = ConfigKey(self.source, path, parent)
        return found

    def value(self, entry: Entry) -> Value:
        """Return the value of an entry."""
        key = self.key(entry.path)
        if entry.kind == "scalar":
            if entry.data is UNREAD:
                return Unknown(frozenset({key}))
            return Scalar(entry.data, frozenset({key}), key)
        if entry.kind == "list":
            return Sequence([self.value(child) for _, child in entry.children], key=key)
        omega = self.flavour == "omegaconf"
        key.size = len(entry.children)
        return Mapping(
            {name: self.value(child) for name, child in entry.children},
            key=key,
            access=EITHER if omega else DICT,
            absent="ConfigAttributeError" if omega else "KeyError",
            flavour=self.flavour,
        )
