"""One summarised Python file of a project, and its dotted name."""

from __future__ import annotations

import os

from cfgfix.code.model import python_files as discover
from cfgfix.code.model.nodes import Attribute
from cfgfix.code.model.python_files import PythonFile
from cfgfix.code.model.summary import Event, ModuleSummary, Scope
from cfgfix.core.errors import UnreadableError
from cfgfix.core.source_file import SourceFile


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
        """Return the assignments to attributes: `a.b = value`.

        Each is scope, statement and target. The list is made once.
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
        """Return in words the cell and line of a notebook for a line of the joined text.

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
