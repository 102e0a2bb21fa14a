"""Where the programs of a project begin, and the commands that start them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from collections.abc import Sequence as Row

from cfgfix.code.model.expressions import dotted
from cfgfix.code.model.module import Module, absolute
from cfgfix.code.model.nodes import Call, Compare, Literal, Name
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Event
from cfgfix.core.records import dataclass
from cfgfix.core.source_file import read_regular
from cfgfix.usage.commands import MAX_COMMANDS, Command
from cfgfix.usage.job_commands import commands_said
from cfgfix.usage.project_files import DATA, ProjectFiles

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
_PACKAGES = frozenset(
    {
        "yaml",
        "json",
        "tomllib",
        "tomli",
        "toml",
        "configparser",
        "ConfigParser",
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
        "sacred",
        "jsonargparse",
        "tyro",
        "draccus",
        "dynaconf",
        "confuse",
        "mmengine",
        "mmcv",
        "configargparse",
        "anyconfig",
        "benedict",
        "box",
        "configobj",
        "munch",
        "pydantic_yaml",
    }
)
"""Packages that read configs."""
_OPTIONS = frozenset({"argparse", "absl", "gflags", "click"})
"""Packages by which a program declares options."""
ASIDE = re.compile(
    r"[/_](demos?|tools?|scripts?|utils?|utilities|visuali[sz]\w*|eval\w*|inference|predict|plot|test\w*|validate|verify|debug|benchmarks?|profil\w*)[/_.]"
)
"""Programs that are run last: they rarely say what training does with a key."""


@dataclass(frozen=True, slots=True)
class Entrance:
    """The entry point of a program.

    Attributes:
        module: The module with the entry point.
        function: The function that a console script calls; empty for a script.
        framework: Whether the program imports TensorFlow or Keras.
        another: Whether the program imports another framework.
        names: Dotted names and installed commands that start the program.
        loads: Whether the program may load a config.
    """

    module: Module
    function: str
    framework: bool
    another: bool
    names: tuple[str, ...]
    loads: bool = True


class Entrances:
    """Finds the entry points of a project's programs, and their commands."""

    def __init__(self, program: Program, files: ProjectFiles) -> None:
        self.program = program
        self.files = files
        self.root = files.root
        self._imports_of: dict[int, tuple[list[Module], set[str]]] = {}
        self._found: list[tuple[Entrance, bool]] | None = None
        self.starting_nothing: list[Command] = []

    def found(self) -> list[Entrance]:
        """Return the entry points of programs that may load a config or have options.

        Programs with options alone count only where they use TensorFlow or Keras.
        """
        return [entrance for entrance, settings in self._all_entrances() if settings]

    def without_settings(self) -> list[Entrance]:
        """Return the entry points of TensorFlow programs without configs and options."""
        return [
            entrance for entrance, settings in self._all_entrances() if not settings and entrance.framework
        ]

    def making_models(self) -> list[Entrance]:
        """Return modules that no other imports and that make something.

        Nothing says that they are programs; a model may be all that they make.
        """
        known = {id(entrance.module) for entrance, _ in self._all_entrances()}
        imported = self._imported_modules()
        found: list[Entrance] = []
        for module in self.program.all_modules():
            scope = module.scope
            if scope is None or id(module) in known or id(module) in imported or module.is_package:
                continue
            if _of_tests(os.path.relpath(module.path, self.root).replace(os.sep, "/")):
                continue
            if any(event.kind == "assign" and isinstance(event.value, Call) for event in scope.body):
                framework, loads, another, _ = self._import_closure(module)
                if framework:
                    found.append(Entrance(module, "", framework, another, (module.name,), loads))
        return found

    def _all_entrances(self) -> list[tuple[Entrance, bool]]:
        """Return all entry points, each with whether the program may have settings."""
        if self._found is not None:
            return self._found
        found: list[tuple[Entrance, bool]] = []
        scripts = self._console_scripts()
        imported = self._imported_modules()
        for module in self.program.all_modules():
            path = module.path
            if module.scope is None or _of_tests(os.path.relpath(path, self.root).replace(os.sep, "/")):
                continue
            names = [name for name, (target, _) in scripts.items() if target == module.name]
            begins = (
                path.endswith(".ipynb")
                or _has_guard(module)
                or (id(module) not in imported and _does_something(module))
            )
            if not begins and not names:
                continue
            framework, loads, another, options = self._import_closure(module)
            settings = loads or (options and framework)
            if begins:
                made = Entrance(module, "", framework, another, (module.name,), loads)
                found.append((made, settings))
            for name in names:
                made = Entrance(module, scripts[name][1], framework, another, (name,), loads)
                found.append((made, settings))
        found.sort(key=lambda item: (not item[0].framework, bool(ASIDE.search(f"/{item[0].module.path}"))))
        self._found = found
        return found

    def _imported_modules(self) -> set[int]:
        found: set[int] = set()
        for module in self.program.all_modules():
            for other in self._imports(module)[0]:
                found.add(id(other))
        return found

    def _imports(self, module: Module) -> tuple[list[Module], set[str]]:
        """Return the project modules and the outside packages that a module imports."""
        known = self._imports_of.get(id(module))
        if known is not None:
            return known
        inner: list[Module] = []
        outer: set[str] = set()
        for source in imported_names(module):
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

    def _import_closure(self, module: Module) -> tuple[bool, bool, bool, bool]:
        """Return whether a module and its imports have four properties.

        In order: they use TensorFlow or Keras, may load a config, use another framework, have options.
        """
        seen: set[int] = set()
        pending = [module]
        framework = loads = another = options = False
        while pending:
            here = pending.pop()
            if id(here) in seen:
                continue
            seen.add(id(here))
            inner, outer = self._imports(here)
            framework = framework or not _FRAMEWORK.isdisjoint(outer)
            loads = loads or not outer.isdisjoint(_PACKAGES) or _names_config(here)
            another = another or not outer.isdisjoint(_OTHER_FRAMEWORKS)
            options = options or not outer.isdisjoint(_OPTIONS) or _defines_flags(here)
            pending += inner
        return framework, loads, another, options

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
        """Return the commands that start each entry point, by its index in the list."""
        scripts = frozenset(name for entrance in entrances if entrance.function for name in entrance.names)
        paths = [self.files.inside(os.path.abspath(entrance.module.path)) or "" for entrance in entrances]
        found: dict[int, list[Command]] = {}
        self.starting_nothing = []
        count = 0
        for text in self.files.texts:
            for command in commands_said(os.path.join(self.root, text), scripts):
                started = list(self._entrances_started(command, entrances, paths))
                if not started:
                    self.starting_nothing.append(command)
                for number in started:
                    known = found.setdefault(number, [])
                    if not any(_same_command(command, other) for other in known):
                        known.append(command)
                        count += 1
                if count >= MAX_COMMANDS:
                    return found
        return found

    def _entrances_started(
        self, command: Command, entrances: Row[Entrance], paths: Row[str]
    ) -> Iterator[int]:
        """Yield the indices of the entry points that a command starts.

        `paths` has the file of each entry point.
        """
        if command.is_module:
            for number, entrance in enumerate(entrances):
                name = entrance.module.name
                if command.program in entrance.names or (
                    not entrance.function and name in (command.program, f"{command.program}.__main__")
                ):
                    yield number
            return
        wanted = os.path.normpath(command.program).replace(os.sep, "/")
        folder = self.files.inside(command.folder)
        direct = os.path.normpath(f"{folder}/{wanted}" if folder and folder != "." else wanted)
        bare = wanted.lstrip("./")
        scripts = [(number, path) for number, path in enumerate(paths) if not entrances[number].function]
        # One beside the file, then one below the project's folder; elsewhere only where there is none.
        for place in (direct, bare):
            found = [number for number, path in scripts if path == place]
            if found:
                yield from found
                return
        yield from (number for number, path in scripts if path.endswith(f"/{bare}"))


def _same_command(one: Command, other: Command) -> bool:
    return (one.program, one.arguments, one.variables) == (other.program, other.arguments, other.variables)


def _of_tests(path: str) -> bool:
    return bool(
        re.search(r"(^|/)(tests?|testing)/|(^|/)test_[^/]*$|_test\.py$|(^|/)(conftest|setup)\.py$", path)
    )


def _events_within(body: Row[Event]) -> Iterator[Event]:
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
        if event.kind == "if" and event.value is not None and isinstance(event.value, Compare):
            sides = [event.value.left, *(item.right for item in event.value.rights)]
            if any(isinstance(side, Name) and side.name == "__name__" for side in sides):
                return True
    return False


def _does_something(module: Module) -> bool:
    """Tell whether a module, run as a script, does more than define names."""
    scope = module.scope
    assert scope is not None
    if module.is_package:
        return False
    for event in _events_within(scope.body):
        if event.kind in ("for", "while", "with"):
            return True
        if event.kind == "expr" and event.value is not None and isinstance(event.value, Call):
            return True
    return any(_loads_file(call) for call in scope.calls)


def _loads_file(call: Call) -> bool:
    found = dotted(call.func) or ""
    return found.rpartition(".")[2] in ("safe_load", "load", "full_load", "parse_args", "fit")


def imported_names(module: Module) -> Iterator[str]:
    """Yield the dotted names that a module imports, as written, starred ones too."""
    for scope in module.summary.scopes:
        for event in _events_within(scope.body):
            if event.kind == "import":
                yield from (source for _, source in event.imports)
        yield from scope.stars


def uses_framework(module: Module) -> bool:
    """Tell whether a module itself imports TensorFlow or Keras."""
    return any(absolute(source, module).split(".", 1)[0] in _FRAMEWORK for source in imported_names(module))


def _names_config(module: Module) -> bool:
    """Tell whether a module has a literal config path.

    A call may get it, as `ng.Config("run.yml")`, a parameter have it as its default, or a name.
    """
    return any(
        isinstance(value, Literal) and isinstance(value.value, str) and value.value.endswith(DATA)
        for scope in module.summary.scopes
        for value in (
            *(item for call in scope.calls for item in (*call.args, *(value for _, value in call.keywords))),
            *(item.default for item in scope.params if item.default is not None),
            *(event.value for event in scope.body if event.kind in ("assign", "annotate")),
        )
    )


def _defines_flags(module: Module) -> bool:
    """Tell whether a module declares flags as `tf.app.flags.DEFINE_integer` does."""
    return any(
        "flags.DEFINE_" in (dotted(call.func) or "")
        for scope in module.summary.scopes
        for call in scope.calls
    )
