"""The files of a project as modules: which are read, their summaries, the module of a name.

Modules outside the prefilter are summarised when something asks for them.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from cfgfix.code.model import python_files as discover
from cfgfix.code.model.module import Module, absolute, dotted_name
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
from cfgfix.code.model.summary import ModuleSummary, broken_summary
from cfgfix.code.model.summary_cache import SummaryStore, dump
from cfgfix.code.model.summary_codec import pack
from cfgfix.core.cache import digest

MAX_NAMED = 200
"""Most files without a framework's name that are read because a person names them."""
MAX_USERS = 400
"""Most files without a framework's name that are read because they import others."""
_IMPORTS = re.compile(rb"^[ \t]*(?:from|import)[ \t]+([^\n#]+)", re.MULTILINE)
_WORDS = re.compile(rb"\w+")


class ProgramFiles:
    """The files of a project, read and summarised where something asks for them.

    Args:
        files: The discovered files.
        store: Where summaries are kept.
        needles: Byte strings of which a file with a framework's name must hold one to be read unasked.
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
        self.files = {os.path.normpath(file.path): file for file in files}
        self._names: dict[str, str] | None = None
        self._bits: dict[str, int] = {}
        self.modules: list[Module] = []
        """Modules that the prefilter lets through, in order of path."""
        self.users: list[Module] = []
        """Modules outside the prefilter that import from those inside, or from one another: what they call is followed as well."""
        self.problems: list[Module] = []
        """Files that could not be read."""

    @property
    def linked(self) -> list[Module]:
        """The modules that the prefilter lets through, and those that use them."""
        return [*self.modules, *self.users]

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
                module = self._load_module(key)
                if module is not None:
                    self.modules.append(module)
        self._read_named()
        self._read_users()

    def _read_users(self) -> None:
        """Read the files that import from modules of the prefilter, themselves or through such a file."""
        inside = {os.path.normpath(module.path) for module in self.modules}
        others = [key for key in self.files if key not in inside and key.endswith(".py")]
        if not inside or not others:
            return
        imported = {
            key: {word for line in _IMPORTS.findall(data) for word in _WORDS.findall(line)}
            for key in others
            if (data := self.content_of(self.files[key].path))
        }
        new = inside
        while new and len(self.users) < MAX_USERS:
            stems = {_last_part_of_name(key) for key in new}
            new = set()
            for key, words in list(imported.items()):
                if words.isdisjoint(stems):
                    continue
                module = self._load_module(key)
                if module is not None and self._imports_one_of(module, inside):
                    self.users.append(module)
                    new.add(key)
                    del imported[key]
            inside = inside | new

    def _imports_one_of(self, module: Module, keys: set[str]) -> bool:
        """Tell whether a module imports one of some files, or something of one."""
        sources = {source for scope in module.summary.scopes for source in scope.imports.values()}
        sources.update(star for scope in module.summary.scopes for star in scope.stars)
        return any(
            self._key_of(name, module) in keys
            for source in sources
            for name in (source, source.rpartition(".")[0])
        )

    def _read_named(self) -> None:
        """Read the files that a person names, whatever they hold.

        A named file that is no Python is noted as a problem.
        """
        named = (key for key, file in self.files.items() if file.named and key not in self._loaded)
        for key in itertools.islice(named, MAX_NAMED):
            module = self._load_module(key)
            if module is not None and module.summary.problem is not None and module not in self.problems:
                self.problems.append(module)

    def _scan_in_processes(self, jobs: int) -> None:
        """Let other processes read and summarise the unknown files, if that saves time."""
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
        data = self._read_content(file.path)
        if isinstance(data, str):
            self._keep_module(key, file, b"", NEEDLE_FRAMEWORK | NEEDLE_RULES, broken_summary(data))
            return NEEDLE_FRAMEWORK | NEEDLE_RULES
        content = digest(data)
        known = self._store.by_content(key, file.stamp, content)
        if known is not None:
            return known
        bits = needles_of(data, self._needles)
        if bits & NEEDLE_FRAMEWORK and bits & NEEDLE_RULES:
            self._keep_module(key, file, content, bits, summarise_bytes(data, file.path))
        else:
            self._store.put(key, file.stamp, content, bits, None)
        return bits

    def _read_content(self, path: str) -> bytes | str:
        data = self._overlay.get(path)
        return data if data is not None else discover.read_bytes(path)

    def _keep_module(
        self, key: str, file: PythonFile, content: bytes, bits: int, summary: ModuleSummary
    ) -> None:
        self._store.put(key, file.stamp, content, bits, dump(pack(summary)) if self._store.writes else None)
        self._make_module(key, file, summary, bits)

    def _make_module(self, key: str, file: PythonFile, summary: ModuleSummary, bits: int) -> Module:
        name, is_package = dotted_name(file.path, file.root or discover.package_root(file.path))
        module = Module(file, name, is_package=is_package, summary=summary, needles=bits)
        module.content = self._overlay.get(file.path)
        self._loaded[key] = module
        if summary.problem is not None and bits & NEEDLE_FRAMEWORK:
            self.problems.append(module)
        return module

    def _load_module(self, key: str) -> Module | None:
        """Return the module of a file, summarising the file if need be.

        None where the file is not among the project's.
        """
        found = self._loaded.get(key)
        if found is not None:
            return found
        file = self.files.get(key)
        if file is None:
            return None
        packed = self._store.packed(key, file.stamp)
        kept = unpacked(packed) if packed is not None else None
        if kept is not None:
            return self._make_module(key, file, kept, self._store.by_stamp(key, file.stamp) or 0)
        raw = self._read_content(file.path)
        if isinstance(raw, str):
            return self._make_module(key, file, broken_summary(raw), 0)
        bits = needles_of(raw, self._needles)
        self._keep_module(key, file, digest(raw), bits, summarise_bytes(raw, file.path))
        return self._loaded[key]

    def all_modules(self, bits: int = 0, words: tuple[bytes, ...] = ()) -> Iterator[Module]:
        """Yield every module of the project whose bytes hold all of `bits`.

        Files that are not summarised yet are summarised; with `words`, only those that hold one of the words.
        """
        for key in list(self.files):
            if self._bits.get(key, 0) & bits == bits:
                if words and key not in self._loaded:
                    data = self.content_of(self.files[key].path)
                    if not any(word in data for word in words):
                        continue
                module = self._load_module(key)
                if module is not None and module.summary.scopes:
                    yield module

    def unread(self) -> list[str]:
        """Return the keys of the files that cannot be read as Python."""
        known = {module.path for module in self.all_modules() if module.scope is not None}
        return [path for path in self.files if path not in known]

    def _index_by_name(self) -> dict[str, str]:
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
        """Return the project's module with a dotted name, or None.

        Relative names start with dots.
        """
        key = self._key_of(name, importer)
        return self._load_module(key) if key is not None else None

    def module_at(self, path: str) -> Module | None:
        """Return the module of a file by its path; None where it is none of the project's."""
        return self._load_module(os.path.normpath(path))

    def path_of(self, name: str, importer: Module | None = None) -> str | None:
        """Return the path of the module with a dotted name, without reading it, or None."""
        key = self._key_of(name, importer)
        return self.files[key].path if key is not None else None

    def _key_of(self, name: str, importer: Module | None) -> str | None:
        if importer is not None:
            name = absolute(name, importer)
        names = self._index_by_name()
        if importer is not None and "." not in name:
            # A script sees the modules beside it.
            folder = importer.folder
            beside = f"{folder}{os.sep}{name}.py" if folder != "." else f"{name}.py"
            if beside in self.files:
                return beside
        return names.get(name)

    def content_of(self, path: str) -> bytes:
        """Return the content of a file; empty where it cannot be read."""
        data = self._read_content(path)
        return b"" if isinstance(data, str) else data

    def save(self) -> None:
        """Keep the summaries for the next run."""
        self._store.save()


def _last_part_of_name(key: str) -> bytes:
    """Return the last part of the dotted name under which a file is imported."""
    folder, name = os.path.split(key)
    stem = name.removesuffix(".py")
    return os.fsencode(os.path.basename(folder) if stem == "__init__" else stem)
