"""Find the Python files of a project and read them safely."""

from __future__ import annotations

import codecs
import fnmatch
import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from cfgfix.code.model.summary import MAX_BYTES
from cfgfix.core.patterns import late
from cfgfix.core.records import dataclass, replace
from cfgfix.core.source_file import is_inside, project_folder, read_regular

SETTINGS_MODULE = re.compile(
    r"(?:\w*_)?(?:configs?|configuration|settings?|(?:hyper_?)?param(?:eter)?s|hparams|hps?|options|opts|defaults|cfg|(?P<const>const(?:ant)?s?))",
    re.IGNORECASE,
)
"""Names of modules that hold settings as their variables."""
MAX_FILES = 50_000
"""Most Python files of one run; TensorFlow's own tree has about 1,900."""
MAX_NOTEBOOK = 16 * 1024 * 1024
"""Largest notebook that is read, in bytes: its size is its pictures, which are dropped."""
SUFFIXES = (".py", ".ipynb")


@dataclass(frozen=True, slots=True)
class PythonFile:
    """One file to scan.

    Attributes:
        path: As shown to the user.
        root: The folder its dotted name starts from.
        stamp: Size, time of change, device, inode and the inode's time, which together tell an unchanged file; the
            time of change alone can be set back.
        named: Whether a person names this file.
    """

    path: str
    root: str
    stamp: tuple[int, ...]
    named: bool = False


def find_python(
    paths: Iterable[str], excluded: Callable[[str], bool], *, by_person: bool = False
) -> list[PythonFile]:
    """Return the Python files and notebooks that the paths mean, each once, in order.

    A named file is taken whatever the ignore files say; a folder is searched without following links to folders
    or to files outside the project, honouring `.gitignore` files, what the caller excludes and virtual environments' markers.

    Args:
        paths: Files and folders.
        excluded: Tells which paths in a folder to leave out.
        by_person: Whether a person gave the paths, and no hook.
    """
    found: dict[str, PythonFile] = {}
    for path in paths:
        if os.path.isdir(path):
            _walk_folder(path, excluded, found)
        elif path.endswith(SUFFIXES):
            _add_file(path, package_root(path), found, named=by_person)
    return list(found.values())


def _add_file(path: str, root: str, found: dict[str, PythonFile], *, named: bool = False) -> None:
    try:
        facts = os.stat(path)
    except OSError:
        return
    if stat.S_ISREG(facts.st_mode):
        key = os.path.normpath(path)
        stamp = (facts.st_size, facts.st_mtime_ns, facts.st_dev, facts.st_ino, facts.st_ctime_ns)
        file = found.setdefault(key, PythonFile(path, root, stamp, named))
        if named and not file.named:
            found[key] = replace(file, named=True)


def _walk_folder(folder: str, excluded: Callable[[str], bool], found: dict[str, PythonFile]) -> None:
    pending: list[tuple[str, tuple[_IgnoreFile, ...], bool]] = [(folder, _outer_ignores(folder), False)]
    tracked: _TrackedFiles | None = None
    while pending and len(found) < MAX_FILES:
        here, ignores, inside_ignored = pending.pop()
        try:
            with os.scandir(here) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except OSError:
            continue
        names = {entry.name for entry in entries}
        if "pyvenv.cfg" in names:
            continue
        if ".gitignore" in names:
            ignore = _IgnoreFile.read(here)
            if ignore is not None:
                ignores = (*ignores, ignore)
        for entry in entries:
            name = entry.name
            path = entry.path[2:] if entry.path.startswith(f".{os.sep}") else entry.path
            try:
                is_folder = entry.is_dir(follow_symlinks=False)
            except OSError:
                continue
            if not is_folder and not name.endswith(SUFFIXES):
                continue
            if excluded(path) or name == ".ipynb_checkpoints":
                continue
            ignored = inside_ignored or (
                bool(ignores) and any(ignore.matches(path, folder=is_folder) for ignore in ignores)
            )
            if ignored:
                # What is committed is part of the project, whatever a pattern says: git itself sees it so.
                if tracked is None:
                    tracked = _TrackedFiles.in_repository_of(folder)
                if not tracked.holds(path, folder=is_folder):
                    continue
            if is_folder:
                pending.append((path, ignores, ignored))
            elif not entry.is_symlink() or is_inside(path, project_folder(folder)):
                _add_file(path, "", found)


class _NamePatterns:
    """Patterns for names of files and folders, such as `build`, `*.h5`, `dataset*`."""

    __slots__ = ("_literals", "_prefixes", "_suffixes", "_wild")

    def __init__(self, patterns: Iterable[str]) -> None:
        self._literals: set[str] = set()
        suffixes, prefixes, wild = [], [], []
        for part in dict.fromkeys(patterns):
            if not _WILD.intersection(part):
                self._literals.add(part)
            elif not _WILD.intersection(part[1:]) and part[0] == "*":
                suffixes.append(part[1:])
            elif not _WILD.intersection(part[:-1]) and part[-1] == "*":
                prefixes.append(part[:-1])
            else:
                wild.append(part)
        self._suffixes = tuple(suffixes)
        self._prefixes = tuple(prefixes)
        self._wild: re.Pattern[str] | None = None
        if wild:
            self._wild = re.compile("|".join(map(fnmatch.translate, wild)))

    def hold(self, name: str) -> bool:
        return (
            name in self._literals
            or name.endswith(self._suffixes)
            or name.startswith(self._prefixes)
            or (self._wild is not None and self._wild.match(name) is not None)
        )


class _IgnoreFile:
    """One `.gitignore` file. The library that knows the patterns is asked only about paths that one of them may fit."""

    __slots__ = ("_always", "_folder", "_folders", "_lines", "_maybe", "_names", "_roots", "_spec")

    def __init__(self, folder: str, lines: list[str]) -> None:
        self._folder = folder
        self._lines = lines
        self._spec: Any = None
        self._always = False
        self._roots: dict[str | None, list[tuple[str | None, ...]]] = {}
        """The parts of patterns that begin at this folder, by the first one; None for any name."""
        maybe: list[str] = []
        names: list[str] = []
        folders: list[str] = []
        for line in lines:
            part = _required_part(line)
            if part is None:
                self._always = True
            elif part:
                bare = line.rstrip()
                if "/" in bare[:-1] and "//" not in bare:
                    root = _parts_from_root(bare.strip("/").split("/"))
                    if root:
                        self._roots.setdefault(root[0], []).append(root)
                        continue
                maybe.append(part)
                if part == bare.removesuffix("/"):
                    (folders if bare.endswith("/") else names).append(part)
        if self._always or any(line.startswith("!") for line in lines):
            # What one pattern ignores another one may take back, or make the library refuse the file.
            names = folders = []
        self._maybe, self._names, self._folders = (
            _NamePatterns(maybe),
            _NamePatterns(names),
            _NamePatterns(folders),
        )

    @classmethod
    def read(cls, folder: str) -> _IgnoreFile | None:
        try:
            data = read_regular(os.path.join(folder, ".gitignore"), 256 * 1024)
            lines = data.decode("utf-8", "replace").splitlines()
        except OSError:
            return None
        lines = [line for line in lines if line.strip() and not line.startswith("#")]
        return cls(folder, lines) if lines else None

    def matches(self, path: str, *, folder: bool) -> bool:
        head = "" if self._folder == os.curdir else f"{self._folder}{os.sep}"
        inner = path[len(head) :] if path.startswith(head) else os.path.relpath(path, self._folder)
        parts = inner.split(os.sep)
        if (
            not self._always
            and not any(map(self._maybe.hold, parts))
            and not any(
                _may_begin(root, parts) for key in (parts[0], None) for root in self._roots.get(key, ())
            )
        ):
            return False
        if any(map(self._names.hold, parts)) or any(map(self._folders.hold, parts if folder else parts[:-1])):
            return True
        if self._spec is None:
            import pathspec

            try:
                self._spec = pathspec.GitIgnoreSpec.from_lines(self._lines)
            except ValueError:
                # A file with a pattern that is none ignores nothing.
                self._spec = pathspec.GitIgnoreSpec.from_lines([])
        inner = inner.replace(os.sep, "/")
        return bool(self._spec.match_file(inner + "/" if folder else inner))


def _parts_from_root(parts: list[str]) -> tuple[str | None, ...]:
    """Return the parts of a pattern before the first with `**`.

    None stands for a part with another wildcard.
    """
    known = parts[: next((number for number, part in enumerate(parts) if "**" in part), len(parts))]
    return tuple(None if _WILD.intersection(part) or "\\" in part else part for part in known)


def _may_begin(root: tuple[str | None, ...], parts: list[str]) -> bool:
    """Tell whether a path may be or lie below a path that a pattern matches."""
    return len(root) <= len(parts) and all(
        part is None or part == name for part, name in zip(root, parts, strict=False)
    )


_WILD = frozenset("*?[")
_ESCAPED = late(r"\\([\w#*?.~$%&+,;:=@ -])")
"""A letter behind a backslash that stands for itself; in brackets it does so for `fnmatch` too."""


def _required_part(line: str) -> str | None:
    """Return a part of a pattern that some part of every matching path must match.

    Empty text for a pattern that ignores nothing. None where only the library for such patterns can tell.
    """
    if line.startswith("!"):
        return ""
    line = line.rstrip()
    if "[" not in line:
        line = _ESCAPED.sub(r"[\1]", line)
    if "\\" in line or "[^" in line or "[[" in line or line[:1].isspace():
        return None
    parts = [part for part in line.split("/") if part.strip("*")]
    if any("[" in part and "]" not in part for part in parts):
        return None
    plain = [part for part in parts if not _WILD.intersection(part)]
    return max(plain or parts, key=len) if parts else None


MAX_INDEX = 64 * 1024 * 1024
"""Largest git index that is read, in bytes; the one of a repository with 400,000 files is about that size."""


class _TrackedFiles:
    """The files a git repository tracks, read from its index."""

    __slots__ = ("_files", "_folders", "_root")

    def __init__(self, root: str, files: set[str]) -> None:
        self._root = root
        self._files = files
        self._folders: set[str] = set()
        for path in files:
            above = path.rpartition("/")[0]
            while above and above not in self._folders:
                self._folders.add(above)
                above = above.rpartition("/")[0]

    @classmethod
    def in_repository_of(cls, folder: str) -> _TrackedFiles:
        here = os.path.abspath(folder)
        while not os.path.exists(os.path.join(here, ".git")):
            above = os.path.dirname(here)
            if above == here:
                return cls(here, set())
            here = above
        place = os.path.join(here, ".git")
        try:
            if os.path.isfile(place):
                named = read_regular(place, 4096).decode("utf-8").partition("gitdir:")[2].strip()
                place = os.path.join(here, named)
            data = read_regular(os.path.join(place, "index"), MAX_INDEX)
            return cls(here, {path for path in _index_paths(data) if path.endswith(SUFFIXES)})
        except (OSError, ValueError, IndexError):
            return cls(here, set())

    def holds(self, path: str, *, folder: bool) -> bool:
        inner = os.path.relpath(os.path.abspath(path), self._root).replace(os.sep, "/")
        return inner in (self._folders if folder else self._files)


def _index_paths(data: bytes) -> Iterator[str]:
    """Yield the paths of a git index, versions 2 to 4 (git's documentation, `gitformat-index`)."""
    if data[:4] != b"DIRC":
        return
    version, count = int.from_bytes(data[4:8], "big"), int.from_bytes(data[8:12], "big")
    position, previous = 12, b""
    for _ in range(count):
        start = position
        flags = int.from_bytes(data[position + 60 : position + 62], "big")
        position += 64 if version >= 3 and flags & 0x4000 else 62
        if version == 4:
            drop = data[position] & 0x7F
            while data[position] & 0x80:
                position += 1
                drop = ((drop + 1) << 7) | (data[position] & 0x7F)
            position += 1
            end = data.index(b"\0", position)
            previous = previous[: len(previous) - drop] + data[position:end]
            position = end + 1
        else:
            end = data.index(b"\0", position)
            previous = data[position:end]
            position = start + ((end - start) // 8 + 1) * 8
        yield previous.decode("utf-8", "replace")


def _outer_ignores(folder: str) -> tuple[_IgnoreFile, ...]:
    """Return the ignore files above a folder, up to the repository's root."""
    found: list[_IgnoreFile] = []
    here = os.path.abspath(folder)
    while not os.path.exists(os.path.join(here, ".git")):
        above = os.path.dirname(here)
        if above == here:
            return ()
        here = above
        if os.path.isfile(os.path.join(here, ".gitignore")):
            ignore = _IgnoreFile.read(here)
            if ignore is not None:
                found.append(ignore)
    return tuple(found)


def is_ignored(root: str, path: str) -> bool:
    """Tell whether `.gitignore` files of a repository exclude a file."""
    here, *names = root, *path.split("/")
    for number, _ in enumerate(names):
        ignore = _IgnoreFile.read(os.path.join(here, *names[:number]))
        if ignore is not None and any(
            ignore.matches(os.path.join(here, *names[: end + 1]), folder=end + 1 < len(names))
            for end in range(number, len(names))
        ):
            return True
    return False


_PACKAGES: dict[str, bool] = {}


def package_root(path: str) -> str:
    """Return the folder that must be on the import path for a file.

    It is the first folder above that is no package.
    """
    here = os.path.dirname(path)
    for _ in range(40):
        known = _PACKAGES.get(here)
        if known is None:
            known = _PACKAGES[here] = os.path.isfile(os.path.join(here, "__init__.py"))
        if not known:
            return here
        here = os.path.dirname(here)
    return here


def clear_package_cache() -> None:
    """Forget which folders are packages.

    A long-lived process calls it before each run.
    """
    _PACKAGES.clear()


def read_bytes(path: str) -> bytes | str:
    """Return the content of a file, or the reason why it cannot be read."""
    limit = MAX_NOTEBOOK if path.endswith(".ipynb") else MAX_BYTES
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
        try:
            facts = os.fstat(handle)
            if not stat.S_ISREG(facts.st_mode):
                return "is no regular file"
            if facts.st_size > limit:
                return f"is larger than {limit // (1024 * 1024)} MiB"
            chunks = []
            left = limit + 1
            # Room for what the file is said to hold, and for one byte to see that it ends there.
            room = facts.st_size + 1
            while left > 0:
                chunk = os.read(handle, min(left, room))
                chunks.append(chunk)
                left -= len(chunk)
                if len(chunk) < room:
                    break
                room = 1 << 20
        finally:
            os.close(handle)
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return b"".join(chunks)


def decode(data: bytes, path: str) -> tuple[str, tuple[tuple[int, int], ...]] | str:
    """Return the text of a Python file or notebook, or the reason why there is none.

    The text of a notebook comes with the first lines of its cells.
    """
    if path.endswith(".ipynb"):
        return _notebook_code(data)
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    encoding = _declared_encoding(data)
    try:
        text = data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return f"is not valid {encoding}"
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text, ()


def _declared_encoding(data: bytes) -> str:
    """Return the encoding declared in the first two lines (PEP 263), else UTF-8."""
    head = data[:400].split(b"\n", 2)[:2]
    for line in head:
        if line.lstrip().startswith(b"#") and b"coding" in line:
            match = re.search(rb"coding[:=]\s*([-\w.]+)", line)
            if match is not None:
                return _text_encoding(match[1].decode("ascii", "replace").lower().replace("_", "-"))
    return "utf-8"


_SLOW = frozenset({"idna", "punycode"})
"""Encodings of host names, which take quadratic time; no program is written in them."""


def _text_encoding(name: str) -> str:
    """Return the encoding that Python's tokenizer takes for a name, else UTF-8."""
    if f"{name}-".startswith("utf-8-"):
        return "utf-8"
    if f"{name}-".startswith(("latin-1-", "iso-8859-1-", "iso-latin-1-")):
        return "latin-1"
    try:
        # What is no encoding of text, such as base64, is refused, and so is what does not hold ASCII.
        plain = b"a".decode(name) == "a"
    except (LookupError, ValueError):
        return "utf-8"
    return name if plain and codecs.lookup(name).name not in _SLOW else "utf-8"


def _notebook_code(data: bytes) -> tuple[str, tuple[tuple[int, int], ...]] | str:
    """Return the joined code cells of a notebook, with IPython's lines as comments.

    Each cell begins with a line `# cell N`, so that a place can be told by cell.
    """
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return "is not a notebook: its JSON does not parse"
    cells = content.get("cells") if isinstance(content, dict) else None
    if cells is None and isinstance(content, dict) and isinstance(content.get("worksheets"), list):
        cells = [
            cell
            for sheet in content["worksheets"]
            if isinstance(sheet, dict) and isinstance(sheet.get("cells"), list)
            for cell in sheet["cells"]
        ]
    if not isinstance(cells, list):
        return "is not a notebook: it has no cells"
    language = content.get("metadata", {})
    if isinstance(language, dict):
        spec = language.get("kernelspec")
        if isinstance(spec, dict) and str(spec.get("language", "python")).lower() not in (
            "python",
            "python3",
            "python2",
        ):
            return "is a notebook of another language"
    lines: list[str] = []
    starts: list[tuple[int, int]] = []
    for number, cell in enumerate(cells, 1):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source = cell.get("source", cell.get("input", ""))
        text = (
            "".join(part for part in source if isinstance(part, str))
            if isinstance(source, list)
            else str(source)
        )
        body = _plain_lines(text)
        lines.append(f"# cell {number}")
        starts.append((len(lines), number))
        lines.extend(body)
    return "\n".join(lines) + "\n", tuple(starts)


def _plain_lines(text: str) -> list[str]:
    lines = text.splitlines()
    first = next((line for line in lines if line.strip()), "")
    if first.startswith("%%") and not first.startswith(("%%time", "%%capture", "%%timeit")):
        return ["# " + line for line in lines]
    plain = []
    joined = False
    for line in lines:
        if "!" not in line and "%" not in line and "?" not in line and not joined:
            plain.append(line)
            continue
        bare = line.lstrip()
        indent = line[: len(line) - len(bare)]
        if (
            joined
            or bare.startswith(("!", "%", "?"))
            or (bare.endswith("?") and bare.rstrip("?").isidentifier())
        ):
            joined = bare.endswith("\\")
            plain.append(f"{indent}pass  # {bare}".replace("\\", "/") if indent else "# " + bare)
        elif "= !" in bare or "=!" in bare or "= %" in bare:
            plain.append(indent + bare.split("=", 1)[0] + "= None")
        else:
            plain.append(line)
    return plain


__all__ = ["PythonFile", "clear_package_cache", "decode", "find_python", "package_root", "read_bytes"]
