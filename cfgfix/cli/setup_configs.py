"""What a project has before it is set up: its training configs, its Python files, the class that loads the configs."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Sequence

from cfgfix.config.dialects.dialect import Dialect
from cfgfix.config.document.compose import Document, Kind, compose
from cfgfix.core.errors import UnreadableError
from cfgfix.core.records import dataclass, replace
from cfgfix.core.source_file import read_regular, read_source
from cfgfix.lint.request import Request
from cfgfix.lint.session import Session
from cfgfix.lint.targets import dialect_of
from cfgfix.settings.discovery import Matcher, find
from cfgfix.settings.reader import Finder, Settings
from cfgfix.settings.table import DEFAULT_INCLUDE

MAX_CONFIGS = 2_000
"""Most YAML files looked at: a project with more has its settings written by hand."""
MAX_MODULES = 5_000
"""Most Python files looked at for a config class."""
MAX_MODULE_BYTES = 1024 * 1024
MAX_ROOTS = 8
"""Most source roots written."""
_LEAST_SHARE = 0.5
"""Share of a config's sections that a class must name as fields to be taken for the config class. Below half, two classes
of one project could claim the same file; cfgfix then names none."""


@dataclass(frozen=True, slots=True)
class Config:
    """A training config of the project."""

    path: str
    document: Document
    dialect: Dialect
    settings: Settings
    """Those in force for it."""
    evidence: tuple[str, ...] = ()
    """The programs that open it and how that is known, where the code tells that it is a config."""
    by_keys: bool = True
    """Whether its keys tell that it is a config."""


def find_configs() -> tuple[list[Config], list[str], list[tuple[str, tuple[str, ...]]]]:
    """Return the training configs below the working folder, and its other YAML files.

    Configs that `include` leaves out are among them. With them come the configs in JSON and TOML that programs open,
    with what opens them.
    """

    def widened(settings: Settings) -> Settings:
        include = tuple(dict.fromkeys((*settings.include, *DEFAULT_INCLUDE)))
        return replace(settings, include=include, hardware="none")

    session = Session(Request(adjust=widened))
    finder = Finder(None)
    configs: list[Config] = []
    others: list[str] = []
    for found in find((".",), session.finder)[:MAX_CONFIGS]:
        try:
            source = read_source(found.path)
        except UnreadableError:
            others.append(found.path)
            continue
        document = compose(source)
        project = session.project_for(found.settings)
        code_facts = session.code_facts(found.path, source)
        opened = code_facts is not None and code_facts.framework
        dialect = dialect_of(document, project) if document.problem is None else None
        by_keys = dialect is not None
        if dialect is None and opened:
            dialect = project.dialects.get("generic")
        if dialect is None or (code_facts is not None and code_facts.another):
            others.append(found.path)
        else:
            settings = finder.settings_in(os.path.dirname(found.path) or ".")
            evidence = code_facts.evidence if code_facts is not None and opened else ()
            configs.append(Config(found.path, document, dialect, settings, evidence, by_keys))
    opened_too = [
        (os.path.relpath(os.path.join(code.root, path)), code_facts.evidence)
        for code in [session.repository_code("x")]
        for path, code_facts in code.all().items()
        if code_facts.form != "yaml" and code_facts.framework
    ]
    return configs, others, [item for item in opened_too if not item[0].startswith("..")]


def python_files() -> list[str]:
    """Return the project's Python files, without environments, builds and tests."""
    settings = replace(
        Settings(root=os.path.abspath(".")),
        exclude=(*Settings().exclude, "tests", "test", "docs", "examples", ".*"),
    )
    matcher = Matcher(settings)
    found: list[str] = []
    for folder, folders, names in os.walk("."):
        here = os.path.normpath(folder)
        folders[:] = sorted(name for name in folders if not matcher.excluded(os.path.join(here, name)))
        found += [
            os.path.normpath(os.path.join(here, name)) for name in sorted(names) if name.endswith(".py")
        ]
        if len(found) > MAX_MODULES:
            break
    return found[:MAX_MODULES]


def source_roots(paths: Iterable[str]) -> list[str]:
    """Return the folders that imports of the project start from.

    They are the parents of the outermost packages.
    """
    roots: dict[str, None] = {}
    for path in paths:
        folder = os.path.dirname(path)
        if not os.path.isfile(os.path.join(folder, "__init__.py")):
            continue
        while os.path.isfile(os.path.join(os.path.dirname(folder), "__init__.py")) and os.path.dirname(
            folder
        ):
            folder = os.path.dirname(folder)
        roots[os.path.dirname(folder).replace(os.sep, "/") or "."] = None
    return list(roots)[:MAX_ROOTS]


@dataclass(frozen=True, slots=True)
class ConfigClass:
    """A class that loads configs: `file:Class` and the names of its fields."""

    name: str
    fields: frozenset[str]

    def fits(self, configs: Iterable[Config]) -> bool:
        """Tell whether in every config enough top-level keys are fields of the class."""
        return all(
            len(keys & self.fields) >= _LEAST_SHARE * len(keys) for keys in map(_top_keys, configs) if keys
        )


def config_class(configs: Sequence[Config], paths: Iterable[str]) -> ConfigClass | None:
    """Return the class whose fields are the sections of the configs, or None."""
    sections = _common_top_keys(configs)
    if len(sections) < 2:
        return None
    best: list[tuple[float, str, frozenset[str]]] = []
    for path in paths:
        try:
            data = read_regular(path, MAX_MODULE_BYTES + 1)
        except OSError:
            continue
        if len(data) > MAX_MODULE_BYTES or not any(name.encode() in data for name in sections):
            continue
        try:
            tree = ast.parse(data)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                fields = frozenset(
                    item.target.id
                    for item in node.body
                    if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
                )
                share = len(fields & sections) / len(sections)
                if share >= _LEAST_SHARE and len(fields & sections) >= 2:
                    best.append((share, f"{path.replace(os.sep, '/')}:{node.name}", fields))
    best.sort(key=lambda item: item[:2], reverse=True)
    if not best or (len(best) > 1 and best[0][0] == best[1][0]):
        return None
    return ConfigClass(*best[0][1:])


def _common_top_keys(configs: Sequence[Config]) -> set[str]:
    """Return the top-level keys that most configs have."""
    counts: dict[str, int] = {}
    for config in configs:
        for name in _top_keys(config):
            counts[name] = counts.get(name, 0) + 1
    return {name for name, count in counts.items() if 2 * count > len(configs)}


def _top_keys(config: Config) -> set[str]:
    """Return the keys at the top of a config's first document."""
    return {
        key.text
        for root in config.document.roots[:1]
        if root.kind == Kind.MAPPING
        for key, _ in root.items
        if key.kind == Kind.SCALAR
    }
