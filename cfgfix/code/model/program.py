"""The summaries of a project, linked: modules by name, names to what they stand for, classes with their bases.

Modules outside the prefilter are summarised when something asks for them. What a function does with datasets and
callbacks is in `flow.py`, which runs on top of this.
"""

from __future__ import annotations

import functools
import itertools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Concatenate, NamedTuple, ParamSpec, Protocol, TypeVar

from cfgfix.code.model import python_files as discover
from cfgfix.code.model.expressions import dotted, is_name
from cfgfix.code.model.nodes import Attribute, Conditional, Expr, Name, Place
from cfgfix.code.model.python_files import PythonFile
from cfgfix.code.model.scanning import (
    FRAMEWORKS,
    NEEDLE_FRAMEWORK,
    NEEDLE_RULES,
    POOL_BYTES,
    begin_child,
    needles_of,
    summarise_bytes,
    summarised,
    unpacked,
)
from cfgfix.code.model.summary import Event, ModuleSummary, Scope, broken_summary
from cfgfix.code.model.summary_cache import SummaryStore, dump
from cfgfix.code.model.summary_codec import pack
from cfgfix.code.model.values import ClassValue, External, Function, ModuleValue, Site, Value
from cfgfix.code.tensorflow.requirement import NOTHING, Requirement
from cfgfix.core.cache import digest
from cfgfix.core.errors import UnreadableError
from cfgfix.core.source_file import SourceFile

_FOLDS = (
    ("tensorflow.compat.v2.", "tensorflow."),
    ("tensorflow.compat.v1.", "tensorflow."),
    ("tensorflow.keras.", "keras."),
    ("tensorflow.python.keras.", "keras."),
    ("tensorflow.contrib.", "tensorflow.contrib."),
    ("tf_keras.", "keras."),
    ("keras.api.", "keras."),
    ("keras.src.", "keras."),
    ("keras.preprocessing.image_dataset", "keras.utils.image_dataset"),
    ("keras.preprocessing.text_dataset", "keras.utils.text_dataset"),
    ("keras.preprocessing.timeseries_dataset", "keras.utils.timeseries_dataset"),
    ("tensorflow.python.data.ops.dataset_ops.Dataset", "tensorflow.data.Dataset"),
    ("tensorflow.data.experimental.AUTOTUNE", "tensorflow.data.AUTOTUNE"),
    ("keras.layers.experimental.preprocessing.", "keras.layers."),
)
_FOLDED_CLASSES = (
    ("keras.engine.training.Model", "keras.Model"),
    ("keras.models.Model", "keras.Model"),
    ("keras.training.Model", "keras.Model"),
    ("keras.models.Sequential", "keras.Sequential"),
    ("keras.layers.Layer", "keras.Layer"),
)
"""The same for whole names: `keras.layers.LayerNormalization` is no `keras.layers.Layer`."""
_ALIASES = re.compile(
    r"^tensorflow\.(?:compat\.v2\.)?(losses|metrics|optimizers|initializers)(?=\.(?:[A-Z]|schedules\.))"
)
"""Modules of Keras that TensorFlow 2 has under short names as well; the functions of TensorFlow 1 are written small."""


@functools.lru_cache(maxsize=16_384)
def fold(name: str) -> str:
    """Return the canonical form of a full dotted name.

    Compatibility prefixes and moved modules folded away.
    """
    if name.startswith(("tensorflow", "keras", "tf_keras")):
        if not name.startswith("tensorflow.compat.v1"):
            name = _ALIASES.sub(r"keras.\1", name, count=1)
        if name in ("tensorflow.keras", "tf_keras"):
            return "keras"
        for old, new in _FOLDS:
            if name.startswith(old):
                name = new + name[len(old) :]
        for old, new in _FOLDED_CLASSES:
            if name == old or name.startswith(f"{old}."):
                name = new + name[len(old) :]
    return name


def _sides(base: Expr) -> tuple[Expr, ...]:
    """Return what a base of a class may be: `Layer if HAS_TENSORFLOW else object` is a layer where it is used as one."""
    if not isinstance(base, Conditional):
        return (base,)
    return tuple(side for side in (base.then, base.otherwise) if not is_name(side, "object"))


P = ParamSpec("P")
T = TypeVar("T")


def once(function: Callable[Concatenate[Program, P], T]) -> Callable[Concatenate[Program, P], T]:
    """Answer a question about a program once and keep the answer with the program.

    The further arguments tell one question from another; modules and scopes count by identity.
    """

    @functools.wraps(function)
    def asked(program: Program, /, *args: P.args, **kwargs: P.kwargs) -> T:
        known = program.answers.get(function)
        if known is None:
            known = program.answers[function] = {}
        key = (args, *kwargs.items()) if kwargs else args
        try:
            found: T = known[key]
        except KeyError:
            found = known[key] = function(program, *args, **kwargs)
        return found

    return asked


class NamedLeaves(Protocol):
    """The values of a config file, by their key paths."""

    @property
    def path(self) -> str:
        """The file, as shown to the user."""

    @property
    def leaves(self) -> Mapping[tuple[Any, ...], Any]:
        """The values that are no sections."""


class Runs(Protocol):
    """What the parts below the runs over a program ask of them."""

    def callers(self, scope: Scope) -> Sequence[Site]:
        """Return the calls that may enter a scope."""


class Module:
    """One file of the project, summarised.

    Attributes:
        path: As shown to the user.
        folder: The folder it lies in, normalised.
        name: Dotted name from its import root; a package's `__init__.py` has the package's name.
        is_package: Whether it is an `__init__.py`.
        summary: What it does.
        needles: What its bytes hold.
        file: The discovered file.
        content: Bytes that stand for those on disk, or None.
    """

    __slots__ = (
        "_lines",
        "_stores",
        "content",
        "file",
        "folder",
        "is_package",
        "name",
        "needles",
        "path",
        "summary",
    )

    def __init__(
        self, file: PythonFile, name: str, *, is_package: bool, summary: ModuleSummary, needles: int
    ) -> None:
        self.file = file
        self.path = file.path
        self.folder = os.path.normpath(os.path.dirname(file.path))
        self.name = name
        self.is_package = is_package
        self.summary = summary
        self.needles = needles
        self.content: bytes | None = None
        self._stores: list[tuple[Scope, Event, Attribute]] | None = None
        self._lines: tuple[bytes | None, list[str]] | None = None
        for scope in summary.scopes:
            scope.module = self

    def stores(self) -> list[tuple[Scope, Event, Attribute]]:
        """Return the assignments to attributes, `a.b = value`.

        Scope, statement, target; listed once.
        """
        found = self._stores
        if found is None:
            found = self._stores = [
                (scope, event, target)
                for scope in self.summary.scopes
                for event in scope.events()
                if event.kind == "assign"
                for target in event.targets
                if isinstance(target, Attribute)
            ]
        return found

    def source_file(self) -> SourceFile:
        """Read the text again, for places and code frames; a notebook's joined cells.

        A file that is gone or has become unreadable gives empty text.
        """
        data = self.content if self.content is not None else discover.read_bytes(self.path)
        if isinstance(data, str):
            return SourceFile.from_text("", self.path)
        if not self.path.endswith(".ipynb"):
            try:
                return SourceFile.from_bytes(data, self.path)
            except UnreadableError:
                pass
        decoded = discover.decode(data, self.path)
        return SourceFile.from_text(decoded[0] if isinstance(decoded, tuple) else "", self.path)

    def source_lines(self) -> list[str]:
        """Return the lines of the text, read once: many findings of one file ask for them."""
        found = self._lines
        if found is None or found[0] is not self.content:
            found = self._lines = (self.content, self.source_file().text.splitlines())
        return found[1]

    def cell(self, line: int) -> str | None:
        """Return in words where in a notebook a line of the joined text stands.

        None for a plain file.
        """
        cells = self.summary.cells
        if not cells:
            return None
        start, number = max((item for item in cells if item[0] <= line), default=cells[0])
        return f"cell {number}, line {max(1, line - start)}"

    @property
    def scope(self) -> Scope | None:
        """The module's own scope; None for a file that could not be read."""
        return self.summary.scopes[0] if self.summary.scopes else None


MAX_REEXPORTS = 60
"""Most steps from a name to where it is defined, through modules that import it from one another."""


class Bases(NamedTuple):
    """A class with all it is derived from, the nearest first.

    Attributes:
        classes: Itself and its bases in the project.
        outside: The names of its bases outside of the project.
    """

    classes: list[Scope]
    outside: list[str]


MAX_NAMED = 200
"""Most files without a framework's name that are read because a person names them."""


class _Search:
    """One search for where a name is defined: how deep it is, and what it has looked through, by module and name."""

    __slots__ = ("depth", "seen")

    def __init__(self) -> None:
        self.depth = 0
        self.seen: set[tuple[int, str]] = set()


class Program:
    """The files of a project and what links them.

    Args:
        files: The discovered files.
        store: Where summaries are kept.
        needles: Byte strings of the selected rules; a file with a framework's name and none of these is not read
            unless something refers to it.
        overlay: Contents that stand for those on disk, by path.
    """

    def __init__(
        self,
        files: Iterable[PythonFile],
        store: SummaryStore,
        needles: Iterable[bytes],
        overlay: Mapping[str, bytes] | None = None,
    ) -> None:
        self._store = store
        self._overlay = overlay or {}
        # What most files hold is looked for first.
        self._needles = tuple(sorted(needles, key=lambda needle: (needle not in FRAMEWORKS, len(needle))))
        self._loaded: dict[str, Module] = {}
        self._loading: dict[str, int] = {}
        self.files = {os.path.normpath(file.path): file for file in files}
        self._names: dict[str, str] | None = None
        self._found: dict[tuple[str, int], Value] = {}
        self._members: dict[tuple[int, str], Value] = {}
        self._bits: dict[str, int] = {}
        self.modules: list[Module] = []
        """Modules that the prefilter lets through, in order of path."""
        self.problems: list[Module] = []
        """Files that could not be read."""
        self.flow: Runs | None = None
        """The runs over the program, once made (`flow_of` gives them with all they can be asked)."""
        self.requirement: Requirement = NOTHING
        """What the project asks for."""
        self.configs: tuple[NamedLeaves, ...] = ()
        """The configs that the program is judged under."""
        self.answers: dict[Callable[..., Any], dict[Any, Any]] = {}
        """What was asked of the program once (`once`), by the function that answers."""
        self._mro: dict[int, Bases] = {}
        self._heads: dict[tuple[int, str], str | None] = {}

    def scan(self, jobs: int = 1, progress: Callable[[int, int], None] | None = None) -> None:
        """Read every file that is not known yet, and summarise those that matter.

        With several jobs and enough to read, other processes do the reading; what comes out is the same.

        Args:
            jobs: Most processes at once.
            progress: Called with the number of files done and of all files.
        """
        if jobs > 1:
            self._scan_in_processes(jobs)
        for number, key in enumerate(self.files):
            if progress is not None:
                progress(number, len(self.files))
            bits = self._scan_file(key)
            self._bits[key] = bits
            if bits & NEEDLE_FRAMEWORK and bits & NEEDLE_RULES:
                module = self._load(key)
                if module is not None:
                    self.modules.append(module)
        self._read_named()

    def _read_named(self) -> None:
        """Read what a person names whatever it holds, so that it is not said to be right where it is no Python."""
        named = (key for key, file in self.files.items() if file.named and key not in self._loaded)
        for key in itertools.islice(named, MAX_NAMED):
            module = self._load(key)
            if module is not None and module.summary.problem is not None and module not in self.problems:
                self.problems.append(module)

    def _scan_in_processes(self, jobs: int) -> None:
        """Let other processes read and summarise what is not known yet, where that takes long enough to pay."""
        unknown = [
            (key, file.path, file.stamp)
            for key, file in self.files.items()
            if file.path not in self._overlay and self._store.by_stamp(key, file.stamp) is None
        ]
        if sum(stamp[0] for _, _, stamp in unknown) < POOL_BYTES:
            return
        import multiprocessing
        import threading
        from concurrent.futures import ProcessPoolExecutor

        if "fork" not in multiprocessing.get_all_start_methods() or threading.active_count() > 1:
            # Starting anew costs a process as much as it saves, and a fork beside threads may hang.
            return
        # Large files first, so that no process is left with one at the end.
        unknown.sort(key=lambda item: -item[2][0])
        context = multiprocessing.get_context("fork")
        try:
            with ProcessPoolExecutor(jobs, context, begin_child, (self._needles,)) as pool:
                chunk = max(1, min(16, len(unknown) // (4 * jobs)))
                results = pool.map(summarised, [path for _, path, _ in unknown], chunksize=chunk)
                for (key, _, stamp), (content, bits, packed) in zip(unknown, results, strict=True):
                    self._store.put(key, stamp, content, bits, packed)
        except (OSError, RuntimeError):
            # What is not done yet is done here, one file after the other.
            return

    def _scan_file(self, key: str) -> int:
        file = self.files[key]
        known = self._store.by_stamp(key, file.stamp) if file.path not in self._overlay else None
        if known is not None:
            return known
        data = self._read(file.path)
        if isinstance(data, str):
            self._keep(key, file, b"", NEEDLE_FRAMEWORK | NEEDLE_RULES, broken_summary(data))
            return NEEDLE_FRAMEWORK | NEEDLE_RULES
        content = digest(data)
        known = self._store.by_content(key, file.stamp, content)
        if known is not None:
            return known
        bits = needles_of(data, self._needles)
        if bits & NEEDLE_FRAMEWORK and bits & NEEDLE_RULES:
            self._keep(key, file, content, bits, summarise_bytes(data, file.path))
        else:
            self._store.put(key, file.stamp, content, bits, None)
        return bits

    def _read(self, path: str) -> bytes | str:
        data = self._overlay.get(path)
        return data if data is not None else discover.read_bytes(path)

    def _keep(self, key: str, file: PythonFile, content: bytes, bits: int, summary: ModuleSummary) -> None:
        self._store.put(key, file.stamp, content, bits, dump(pack(summary)) if self._store.writes else None)
        self._make(key, file, summary, bits)

    def _make(self, key: str, file: PythonFile, summary: ModuleSummary, bits: int) -> Module:
        name, is_package = dotted_name(file.path, file.root or discover.package_root(file.path))
        module = Module(file, name, is_package=is_package, summary=summary, needles=bits)
        module.content = self._overlay.get(file.path)
        self._loaded[key] = module
        if summary.problem is not None and bits & NEEDLE_FRAMEWORK:
            self.problems.append(module)
        return module

    def _load(self, key: str) -> Module | None:
        """Return the module of a file, summarising it if need be; None where the file is gone."""
        found = self._loaded.get(key)
        if found is not None:
            return found
        file = self.files.get(key)
        if file is None:
            return None
        packed = self._store.packed(key, file.stamp)
        kept = unpacked(packed) if packed is not None else None
        if kept is not None:
            return self._make(key, file, kept, self._store.by_stamp(key, file.stamp) or 0)
        raw = self._read(file.path)
        if isinstance(raw, str):
            return self._make(key, file, broken_summary(raw), 0)
        bits = needles_of(raw, self._needles)
        self._keep(key, file, digest(raw), bits, summarise_bytes(raw, file.path))
        return self._loaded[key]

    def all_modules(self, bits: int = 0, words: tuple[bytes, ...] = ()) -> Iterator[Module]:
        """Yield every module whose bytes hold all of `bits`, summarising what is not yet.

        For whole-project questions.

        Where there are words, a file that is not summarised yet must hold one of them.
        """
        for key in list(self.files):
            if self._bits.get(key, 0) & bits == bits:
                if words and key not in self._loaded:
                    data = self.content_of(self.files[key].path)
                    if not any(word in data for word in words):
                        continue
                module = self._load(key)
                if module is not None and module.summary.scopes:
                    yield module

    def unread(self) -> list[str]:
        """Return the files that cannot be read as Python, by their keys."""
        known = {module.path for module in self.all_modules() if module.scope is not None}
        return [path for path in self.files if path not in known]

    # Names

    def _index(self) -> dict[str, str]:
        names = self._names
        if names is None:
            names = {}
            for key, file in self.files.items():
                if key.endswith(".py"):
                    name, _ = dotted_name(file.path, file.root or discover.package_root(file.path))
                    names.setdefault(name, key)
                    # Namespace folders without `__init__.py`: the path from the working folder is a name too.
                    parts = key[:-3].replace(os.sep, "/").split("/")
                    if parts and parts[-1] == "__init__":
                        parts.pop()
                    while len(parts) > 1:
                        names.setdefault(".".join(parts), key)
                        parts = parts[1:] if len(parts) <= 6 else parts[-6:]
            self._names = names
        return names

    def module(self, name: str, importer: Module | None = None) -> Module | None:
        """Return the project's module of that dotted name, or None.

        Relative names start with dots.
        """
        key = self._key_of(name, importer)
        return self._load(key) if key is not None else None

    def module_at(self, path: str) -> Module | None:
        """Return the module of a file by its path; None where it is none of the project's."""
        return self._load(os.path.normpath(path))

    def path_of(self, name: str, importer: Module | None = None) -> str | None:
        """Return the path of the module of a dotted name, unread, or None."""
        key = self._key_of(name, importer)
        return self.files[key].path if key is not None else None

    def _key_of(self, name: str, importer: Module | None) -> str | None:
        if importer is not None:
            name = absolute(name, importer)
        names = self._index()
        if importer is not None and "." not in name:
            # A script sees the modules beside it.
            folder = importer.folder
            beside = f"{folder}{os.sep}{name}.py" if folder != "." else f"{name}.py"
            if beside in self.files:
                return beside
        return names.get(name)

    def content_of(self, path: str) -> bytes:
        """Return the content of a file; empty where it cannot be read."""
        data = self._read(path)
        return b"" if isinstance(data, str) else data

    def find(self, name: str, importer: Module | None = None) -> Value:
        """Return what a dotted import source stands for.

        A module, class or function of the project, or an external.
        """
        key = (name, id(importer))
        known = self._found.get(key)
        if known is None:
            known = self._found[key] = self._find(name, importer, _Search())
        return known

    def _find(self, name: str, importer: Module | None, search: _Search) -> Value:
        if importer is not None:
            name = absolute(name, importer)
        if search.depth > MAX_REEXPORTS:
            return External(name)
        module = self.module(name, importer)
        if module is not None:
            return ModuleValue(module)
        head, _, last = name.rpartition(".")
        if head:
            above = self.module(head, importer)
            if above is None and "." in head:
                search.depth += 1
                outer = self._find(head, importer, search)
                search.depth -= 1
                if isinstance(outer, ClassValue):
                    child = outer.scope.children.get(last)
                    if child is not None:
                        return self.defined(outer.scope.module.summary.scopes[child])
                above = outer.module if isinstance(outer, ModuleValue) else None
            if above is not None:
                return self._member(above, last, search)
        return External(name)

    def member(self, module: Module, name: str) -> Value:
        """Return what a module's top-level name stands for, through re-exports."""
        key = (id(module), name)
        known = self._members.get(key)
        if known is None:
            known = self._members[key] = self._member(module, name, _Search())
        return known

    def _member(self, module: Module, name: str, search: _Search) -> Value:
        scope = module.scope
        key = (id(module), name)
        if scope is None or search.depth > MAX_REEXPORTS or key in search.seen:
            # What was looked through before in one search has no answer: with `import *` in a circle there are many ways to it.
            return External(f"{module.name}.{name}")
        search.seen.add(key)
        child = scope.children.get(name)
        if child is not None:
            return self.defined(module.summary.scopes[child])
        search.depth += 1
        try:
            source = scope.imports.get(name)
            if source is not None:
                if self._is_one_of_several(module, scope, name):
                    return External(f"{module.name}.{name}")
                return self._find(source, module, search)
            if module.is_package or not scope.names:
                inner = self.module(f"{module.name}.{name}")
                if inner is not None:
                    return ModuleValue(inner)
            for star in scope.stars:
                found = self._find(star, module, search)
                if isinstance(found, ModuleValue) and found.module is not module:
                    value = self._member(found.module, name, search)
                    if not isinstance(value, External):
                        return value
        finally:
            search.depth -= 1
        return External(f"{module.name}.{name}")

    def _is_one_of_several(self, module: Module, scope: Scope, name: str) -> bool:
        """Tell whether a module takes a name from one file of the project or another, as its conditions say."""
        bound = scope.binding(name)
        if len(bound) < 2:
            return False
        sources = {source for event in bound for imported, source in event.imports if imported == name}
        return sum(self._is_own(source, module) for source in sources) > 1

    def _is_own(self, source: str, importer: Module) -> bool:
        head = source.rpartition(".")[0]
        return self._key_of(source, importer) is not None or (
            bool(head) and self._key_of(head, importer) is not None
        )

    def defined(self, scope: Scope) -> Value:
        """Return the value of a function or class definition."""
        return ClassValue(scope) if scope.kind == "class" else Function(scope)

    def imported(self, scope: Scope, name: str) -> Value | None:
        """Return what an import in scope makes a name stand for, or None."""
        here: Scope | None = scope
        while here is not None:
            source = here.imports.get(name)
            if source is not None:
                return self.find(source, here.module)
            here = here.module.summary.scopes[here.parent] if here.parent >= 0 else None
        return None

    def static_name(self, expr: Expr, scope: Scope) -> str | None:
        """Return the full dotted name that imports alone give an expression, or None.

        For example `tensorflow.keras.Model`.

        A name that a scope on the way binds otherwise gives None.
        """
        below: list[str] = []
        while isinstance(expr, Attribute):
            below.append(expr.attribute)
            expr = expr.base
        if not isinstance(expr, Name):
            return None
        key = id(scope), expr.name
        if key not in self._heads:
            self._heads[key] = _imported_as(expr.name, scope)
        full = self._heads[key]
        if full is None or not below:
            return full
        below.append(full)
        return ".".join(reversed(below))

    # Classes

    def bases(self, scope: Scope) -> Bases:
        """Return a class with its project bases, and its external bases by name.

        The nearest base comes first.
        """
        known = self._mro.get(id(scope))
        if known is not None:
            return known
        classes: list[Scope] = [scope]
        outside: list[str] = []
        found = self._mro[id(scope)] = Bases(classes, outside)
        outer = scope.module.summary.scopes[scope.parent] if scope.parent >= 0 else scope
        for base in (part for item in scope.bases for part in _sides(item)):
            value = self.static_value(base, outer)
            if isinstance(value, ClassValue):
                inner, others = self.bases(value.scope)
                classes += [item for item in inner if item not in classes]
                outside += others
            elif isinstance(value, External):
                outside.append(fold(value.name))
        return found

    def static_value(self, expr: Expr, scope: Scope) -> Value | None:
        """Return what definitions and imports make of a dotted expression, or None."""
        text = dotted(expr)
        if text is None:
            return None
        head, *rest = text.split(".")
        here: Scope | None = scope
        value: Value | None = None
        while here is not None and value is None:
            if head in here.children and head not in here.imports:
                value = self.defined(here.module.summary.scopes[here.children[head]])
            elif head in here.imports:
                value = self.find(here.imports[head], here.module)
            elif head in here.names:
                value = self._other_name(head, here)
                if value is None:
                    return None
            elif here.parent < 0:
                for star in here.stars:
                    found = self.find(star, here.module)
                    if isinstance(found, ModuleValue):
                        member = self.member(found.module, head)
                        if not isinstance(member, External):
                            value = member
                            break
            here = here.module.summary.scopes[here.parent] if here.parent >= 0 else None
        for part in rest:
            if isinstance(value, ModuleValue):
                value = self.member(value.module, part)
            elif isinstance(value, External):
                value = External(f"{value.name}.{part}")
            elif isinstance(value, ClassValue):
                child = value.scope.children.get(part)
                value = self.defined(value.scope.module.summary.scopes[child]) if child is not None else None
            else:
                return None
        return value

    def _other_name(self, name: str, scope: Scope) -> Value | None:
        """Return what a module gives another name once and for all, as `Layer = keras.layers.Layer` does; else None."""
        bound = scope.binding(name) if scope.kind == "module" else []
        if len(bound) != 1 or bound[0].kind != "assign" or bound[0].block != 0 or bound[0].value is None:
            return None
        given = bound[0].value
        shown = dotted(given)
        if not isinstance(given, Attribute) or shown is None or shown.partition(".")[0] == name:
            return None
        if not any(is_name(target, name) for target in bound[0].targets):
            return None
        return self.static_value(given, scope)

    def method(self, owner: Scope, name: str) -> Scope | None:
        """Return the method of a class by name, looked for in its bases in order."""
        for scope in self.bases(owner).classes:
            child = scope.children.get(name)
            if child is not None:
                found: Scope = scope.module.summary.scopes[child]
                return found
        return None

    def is_subclass(self, owner: Scope, names: frozenset[str]) -> bool:
        """Tell whether a class has one of some external classes among its bases.

        Those are given by their canonical names.
        """
        return any(name in names for name in self.bases(owner).outside)

    def owner(self, scope: Scope) -> Scope | None:
        """Return the class a method belongs to, or None."""
        if scope.kind != "function" or scope.parent < 0:
            return None
        above: Scope = scope.module.summary.scopes[scope.parent]
        return above if above.kind == "class" else None

    def outer(self, scope: Scope) -> Scope | None:
        """Return the scope around a scope, or None for a module."""
        return scope.module.summary.scopes[scope.parent] if scope.parent >= 0 else None

    def save(self) -> None:
        """Keep the summaries for the next run."""
        self._store.save()


def is_keras_model(program: Program, owner: Scope) -> bool:
    """Tell whether a class of the project is a Keras model."""
    return any(
        name in ("keras.Model", "keras.Sequential") or name.startswith("keras.applications.")
        for name in program.bases(owner).outside
    )


def is_keras_part(program: Program, owner: Scope) -> bool:
    """Tell whether a class of the project is a Keras model or layer."""
    return is_keras_model(program, owner) or any(
        name == "keras.Layer" or name.startswith("keras.layers.") for name in program.bases(owner).outside
    )


# In another process


def dotted_name(path: str, root: str) -> tuple[str, bool]:
    """Return a file's dotted name below a root, and whether it is an `__init__.py`."""
    if root == ".":
        inner = path
    elif root and path.startswith(root + os.sep) and ".." not in path:
        inner = path[len(root) + 1 :]
    else:
        inner = os.path.relpath(path, root or ".")
    stem = inner[: -len(".py")] if inner.endswith(".py") else inner.rsplit(".", 1)[0]
    parts = [part for part in stem.replace(os.sep, "/").split("/") if part not in ("", ".", "..")]
    is_package = bool(parts) and parts[-1] == "__init__"
    if is_package:
        parts.pop()
        if not parts:
            parts = [os.path.basename(os.path.abspath(root or "."))]
    return ".".join(parts), is_package


def _imported_as(name: str, scope: Scope) -> str | None:
    """Return the full dotted name that an import gives a name as a scope sees it, or None."""
    here: Scope | None = scope
    while here is not None:
        source = here.imports.get(name)
        if source is not None:
            return absolute(source, here.module)
        if name in here.names and not (here.kind == "class" and here is not scope):
            return None
        here = here.module.summary.scopes[here.parent] if here.parent >= 0 else None
    return None


def absolute(name: str, importer: Module) -> str:
    """Return an import source without leading dots, as seen from a module."""
    if not name.startswith("."):
        return name
    level = len(name) - len(name.lstrip("."))
    parts = importer.name.split(".")
    drop = level - 1 if importer.is_package else level
    base = parts[: len(parts) - drop] if drop else parts
    rest = name[level:]
    return ".".join([*base, rest] if rest else base)


def start_of(place: Place) -> tuple[int, int]:
    """Return where a place begins: 1-based line, UTF-8 column from 0."""
    return place.line, place.column


Loader = Callable[[str], Module | None]
