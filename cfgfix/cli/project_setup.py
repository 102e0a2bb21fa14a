"""Set a project up: find out what there is, and plan the files that bring cfgfix in. Nothing is written here."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator, Sequence

from cfgfix import __version__
from cfgfix.config.dialects.dialect import Dialect
from cfgfix.config.document.compose import Document, Kind, compose
from cfgfix.config.loaders.scalars import LOADERS
from cfgfix.config.schema.publish import published
from cfgfix.core.edits import ReplaceText, splice
from cfgfix.core.errors import CfgfixError, UnreadableError
from cfgfix.core.records import dataclass, replace
from cfgfix.core.source_file import SourceFile, is_inside, project_folder, read_regular, read_source
from cfgfix.lint.request import Request
from cfgfix.lint.session import Session
from cfgfix.lint.targets import dialect_of, names_class
from cfgfix.settings.discovery import Matcher, find
from cfgfix.settings.reader import FILES, Finder, Settings, read
from cfgfix.settings.table import DEFAULT_INCLUDE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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
EDITOR_MARK = "yaml-language-server:"


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


@dataclass(frozen=True, slots=True)
class Planned:
    """A file that would be written; `before` is None for a new one."""

    path: str
    before: str | None
    after: str
    source: SourceFile | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What was found out, in sentences, and the files that would be written."""

    facts: tuple[str, ...]
    files: tuple[Planned, ...]
    config_class: str | None = None
    """The class that loads the configs, also where the settings only mention it."""


def plan(*, hook_repository: str | None = None, hook: bool = True, editor: bool = True) -> Plan:
    """Return the plan for the project in the working folder.

    Args:
        hook_repository: Where pre-commit gets cfgfix from; None runs the installed one.
        hook: Whether a pre-commit hook is planned.
        editor: Whether the schema comments for editors are planned.

    Raises:
        CfgfixError: A settings file is wrong.
    """
    facts: list[str] = []
    files: list[Planned] = []
    settings = Finder(None).settings_in(".")
    everywhere, others, opened = _configs()
    elsewhere = [config.path for config in everywhere if config.settings.origin != settings.origin]
    below = [config for config in everywhere if config.settings.origin == settings.origin]
    matcher = Matcher(settings)
    configs = [config for config in below if matcher.included(config.path)]
    left_out = [config.path for config in below if not matcher.included(config.path)]
    if configs:
        facts.append(f"training configs: {_list_in_toml([config.path for config in configs])}")
        facts.append(f"dialect: {', '.join(sorted({config.dialect.name for config in configs}))}")
        facts += _bound([(config.path, config.evidence) for config in configs] + opened)
    elif opened:
        facts += _bound(opened)
    elif not elsewhere:
        facts.append(
            f"training configs: none that cfgfix knows among {len(others)} YAML files; name the keys under [keys] in the settings"
        )
    if elsewhere:
        facts.append(
            f"configs under settings of their own: {_list_in_toml(elsewhere)}; run `cfgfix init` in their folder"
        )
    found_by_check = bool(opened) or any(config.evidence for config in configs)
    sources = [] if found_by_check else _python_files()
    roots = _source_roots(sources)
    if roots:
        facts.append(f"source root: {', '.join(roots)}")
    # Where programs open the configs, `check` follows them by itself: nothing has to be named.
    found = _config_class([config for config in configs if config.by_keys], sources)
    if found is not None and not found.fits(configs):
        facts.append(
            f"config class: {found.name} takes only some of these configs, so it is not named; `--schema` checks with it"
        )
        found = None
    elif found is not None:
        facts.append(f"config class: {found.name}")
    class_name = found.name if found is not None else None
    own = next((name for name in FILES if os.path.isfile(name) and read(name) is not None), None)
    if own is not None:
        facts.append(f"settings: already in {own}, left as they are")
        facts += _news(own, settings, configs, left_out, roots, class_name)
        if settings.schema is not None:
            class_name = settings.schema if names_class(settings.schema) else None
    else:
        if settings.origin is not None:
            facts.append(
                f"settings: those in {os.path.relpath(settings.origin)} no longer hold here once this folder has its own"
            )
        files.append(_settings_file(configs, roots, class_name, settings))
        if found_by_check:
            facts.append(
                "settings: no config, class or source root has to be named, since programs open the configs"
            )
    if hook:
        _plan_hook(hook_repository, files, facts)
    if editor:
        _plan_editor(
            [config for config in configs if config.by_keys],
            files,
            facts,
            _class_schema(class_name, roots, settings),
        )
    for planned in files:
        require_inside(planned.path)
    return Plan(tuple(facts), tuple(files), class_name)


MAX_BOUND = 8
"""Most configs of which it is told what opens them."""


def _bound(configs: Sequence[tuple[str, tuple[str, ...]]]) -> Iterator[str]:
    """Yield what opens each config and how that is known."""
    told = [(path, evidence) for path, evidence in configs if evidence]
    for path, evidence in told[:MAX_BOUND]:
        more = f" (and {len(evidence) - 1} more)" if len(evidence) > 1 else ""
        yield f"{path}: {evidence[0]}{more}"
    if len(told) > MAX_BOUND:
        yield f"{len(told) - MAX_BOUND} more configs are opened by programs; `cfgfix explain FILE` tells which"


def require_inside(path: str, root: str = ".") -> None:
    """Refuse a place that a link leads out of the project.

    A checkout must not have files elsewhere written.

    Args:
        path: The place.
        root: A folder of the project.

    Raises:
        CfgfixError: It lies outside.
    """
    if not is_inside(path, project_folder(root)):
        raise CfgfixError(
            "a link leads out of the project; nothing is written",
            path=path,
            hint="put a file or folder of the project in the place of the link",
        )


def _news(
    own: str,
    settings: Settings,
    configs: Sequence[Config],
    left_out: Sequence[str],
    roots: Sequence[str],
    class_name: str | None,
) -> Iterator[str]:
    """Yield what the project has and its settings do not name."""
    import json

    if left_out:
        yield f"new: {_list_in_toml(left_out)}, left out by `include` in {own}; without that line all configs are checked"
    other = [
        config.path
        for config in configs
        if settings.dialect is not None and _is_of_another(config, settings.dialect)
    ]
    if other:
        yield (
            f"new: {_list_in_toml(other)}, of another dialect than `dialect` in {own} says; without that line each is told by its content"
        )
    known = {os.path.normpath(root) for root in settings.source_roots}
    added = [root for root in roots if os.path.normpath(root) not in known]
    if added and added != ["."] and settings.source_roots:
        named = json.dumps([*settings.source_roots, *added], ensure_ascii=False)
        yield f"new: source root {', '.join(added)}; in {own} write: source-roots = {named}"
    if (
        class_name is not None
        and settings.schema is None
        and _why_schema_is_refused(class_name, configs, settings) is None
        and _news_of(class_name, (), configs, settings) is None
    ):
        named = json.dumps(class_name, ensure_ascii=False)
        yield f"new: config class {class_name}; in {own} write: schema = {named}"


def _is_of_another(config: Config, dialect: str) -> bool:
    """Tell whether a config has the signature of a known program that is not the one the settings name."""
    from cfgfix.config.dialects.detect import detect
    from cfgfix.settings.project_dialects import known_dialects

    known = known_dialects(config.settings).values()
    found = next((item for root in config.document.roots if (item := detect(root, known)) is not None), None)
    return found is not None and found.name != dialect and found.confidence != "low"


def _list_in_toml(paths: Sequence[str]) -> str:
    shown = ", ".join(paths[:5])
    return shown if len(paths) <= 5 else f"{shown} and {len(paths) - 5} more"


def _configs() -> tuple[list[Config], list[str], list[tuple[str, tuple[str, ...]]]]:
    """Return the training configs below the working folder, those that `include` leaves out too, and the other YAML files.

    With them come the configs in JSON and TOML that programs open, with what opens them.
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
        says = session.code_says(found.path, source)
        opened = says is not None and says.framework
        dialect = dialect_of(document, project) if document.problem is None else None
        by_keys = dialect is not None
        if dialect is None and opened:
            dialect = project.dialects.get("generic")
        if dialect is None or (says is not None and says.another):
            others.append(found.path)
        else:
            settings = finder.settings_in(os.path.dirname(found.path) or ".")
            evidence = says.evidence if says is not None and opened else ()
            configs.append(Config(found.path, document, dialect, settings, evidence, by_keys))
    opened_too = [
        (os.path.relpath(os.path.join(code.root, path)), says.evidence)
        for code in [session.code_around("x")]
        for path, says in code.all().items()
        if says.form != "yaml" and says.framework
    ]
    return configs, others, [item for item in opened_too if not item[0].startswith("..")]


def _python_files() -> list[str]:
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


def _source_roots(paths: Iterable[str]) -> list[str]:
    """Return the folders that imports start from: the parents of the outermost packages."""
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
        """Tell whether every config has half of its top-level keys or more from the class."""
        return all(
            len(keys & self.fields) >= _LEAST_SHARE * len(keys) for keys in map(_top_keys, configs) if keys
        )


def _config_class(configs: Sequence[Config], paths: Iterable[str]) -> ConfigClass | None:
    """Return the class whose fields the configs' sections are, or None where none stands out."""
    sections = _sections(configs)
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


def _sections(configs: Sequence[Config]) -> set[str]:
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


def _settings_file(
    configs: Sequence[Config],
    roots: Sequence[str],
    config_class: str | None,
    settings: Settings,
) -> Planned:
    import json

    rows: list[str] = []
    named = roots if roots and list(roots) != ["."] else ()
    line = f"source-roots = {json.dumps(list(roots), ensure_ascii=False)}"
    if config_class is not None:
        problem = _why_schema_is_refused(config_class, configs, settings) or _news_of(
            config_class, named, configs, settings
        )
        rows += [line] if named and problem is None else []
        schema = f"schema = {json.dumps(config_class, ensure_ascii=False)}"
        rows.append(schema if problem is None else f"# {schema}  # {problem}")
    rows.append(
        '# hardware = "rtx4090,cpus=16,ram=64"  # the training machine: workers and memory are judged by it'
    )
    return _new_settings(rows, ".")


def _new_settings(rows: Sequence[str], root: str) -> Planned:
    """Return settings for a folder that has none: a table in its pyproject.toml, else a file of their own."""
    existing = os.path.normpath(os.path.join(root, "pyproject.toml"))
    if os.path.isfile(existing):
        require_inside(existing, root)
        source = read_source(existing)
        text = source.text
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        after = source.encode(text + gap + "[tool.cfgfix]\n" + "\n".join(rows) + "\n").decode("utf-8-sig")
        if _only_adds(text, after):
            return Planned(existing, text, after, source)
    return Planned(os.path.normpath(os.path.join(root, "cfgfix.toml")), None, "\n".join(rows) + "\n")


def _only_adds(before: str, after: str) -> bool:
    """Tell whether a project file with the new table holds what it held, and that table."""
    old, new = _toml(before), _toml(after)
    if new is None:
        return False
    try:
        new["tool"].pop("cfgfix")
        if not new["tool"]:
            new.pop("tool")
    except (KeyError, TypeError, AttributeError):
        return False
    return bool(old == new)


def _toml(text: str) -> dict[str, Any] | None:
    """Return what a TOML text holds, or None where it is none."""
    import sys

    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return dict(tomllib.loads(text))
    except (ValueError, RecursionError):
        return None


def with_listed(settings: Settings, name: str, item: str) -> Planned | None:
    """Return the settings file with one more item in a list.

    None where that cannot be done exactly.

    Args:
        settings: Those in force; where they come from no file, there is a new one.
        name: The setting.
        item: What is added to its list.

    Raises:
        CfgfixError: A link leads out of the project.
    """
    import json
    import re

    quoted = json.dumps(item, ensure_ascii=False)
    if settings.origin is None:
        return _new_settings([f"{name} = [{quoted}]"], settings.root)
    require_inside(settings.origin, settings.root)
    source = read_source(settings.origin)
    text = source.text
    newline = source.newline
    in_project = os.path.basename(settings.origin) == "pyproject.toml"
    candidates: list[str] = []
    for found in re.finditer(rf"(?m)^[ \t]*{name}[ \t]*=[ \t]*\[", text):
        candidates.append(f"{text[: found.end()]}{quoted}, {text[found.end() :]}")
        candidates.append(f"{text[: found.end()]}{quoted}{text[found.end() :]}")
    line = f"{name} = [{quoted}]{newline}"
    if in_project:
        candidates += [
            f"{text[: found.end()]}{line}{text[found.end() :]}"
            for found in re.finditer(r"(?m)^\[tool\.cfgfix\][^\n]*\n", text)
        ]
    else:
        candidates.append(line + text)
    for after in candidates:
        if _only_lists(text, after, name, item, in_project=in_project):
            return Planned(settings.origin, text, after, source)
    return None


def _only_lists(before: str, after: str, name: str, item: str, *, in_project: bool) -> bool:
    """Tell whether a settings file holds what it held, and one more item in the list."""
    old, new = _toml(before), _toml(after)
    if old is None or new is None:
        return False
    try:
        tables = [data["tool"]["cfgfix"] if in_project else data for data in (old, new)]
        had, has = (table.pop(name, []) for table in tables)
    except (KeyError, TypeError, AttributeError):
        return False
    return old == new and sorted(map(repr, has)) == sorted(map(repr, [*had, item]))


def _why_schema_is_refused(schema: str, configs: Sequence[Config], settings: Settings) -> str | None:
    """Return why a schema setting cannot be used as it is, or None: what is written must work."""
    from cfgfix.lint import runner as engine

    tried = replace(settings, root=os.path.abspath("."), schema=schema, hardware="none")
    try:
        engine.check(engine.Request(paths=(configs[0].path,), settings=tried))
    except CfgfixError as error:
        return error.message
    return None


def _news_of(schema: str, roots: Sequence[str], configs: Sequence[Config], settings: Settings) -> str | None:
    """Return what settings would add to what a check says, or None: a check says the same before and after."""
    from cfgfix.core.baseline import key_of
    from cfgfix.lint import runner as engine

    paths = tuple(config.path for config in configs[:MAX_TRIED])
    before = replace(settings, hardware="none")
    after = replace(before, root=os.path.abspath("."), schema=schema, source_roots=tuple(roots))
    found = [
        sorted(
            key_of(finding, ".")
            for finding in engine.check(engine.Request(paths=paths, settings=tried)).findings()
        )
        for tried in (before, after)
    ]
    if found[0] == found[1]:
        return None
    more = len(found[1]) - len(found[0])
    return (
        f"checks with the class: {more} more findings"
        if more > 1
        else "checks with the class: other findings"
    )


MAX_TRIED = 50
"""Most configs that are checked with and without settings that would be written."""
_HOOK = """\
    hooks:
      - id: cfgfix
"""
_INSTALLED = """\
    hooks:
      - id: cfgfix
        name: cfgfix
        entry: cfgfix check --force-exclude --output-format concise
        language: system
        types_or: [yaml, python]
        require_serial: true
"""
_HOOKS_FILE = ".pre-commit-config.yaml"


def _plan_hook(repository: str | None, files: list[Planned], facts: list[str]) -> None:
    entry = (
        f"  - repo: {repository}\n    rev: v{__version__}\n{_HOOK}"
        if repository
        else f"  - repo: local\n{_INSTALLED}"
    )
    if not os.path.isfile(_HOOKS_FILE):
        if os.path.exists(".git"):
            files.append(Planned(_HOOKS_FILE, None, f"repos:\n{entry}"))
        else:
            facts.append("hook: this folder is no git repository's root, so none is written")
        return
    require_inside(_HOOKS_FILE)
    source = read_source(_HOOKS_FILE)
    if "cfgfix" in source.text:
        facts.append(f"hook: already in {_HOOKS_FILE}")
        return
    after = _with_hook(source, entry)
    if after is None:
        facts.append(f"hook: cannot be added to {_HOOKS_FILE} exactly; add by hand:\n{entry.rstrip()}")
    else:
        files.append(Planned(_HOOKS_FILE, source.text, after, source))


def _with_hook(source: SourceFile, entry: str) -> str | None:
    """Return the hooks file with one more entry behind its last, or None where that cannot be done exactly."""
    document = compose(source)
    if document.problem is not None or len(document.roots) != 1 or document.roots[0].kind != Kind.MAPPING:
        return None
    items = document.roots[0].items
    repos = next((value for key, value in items if key.text == "repos"), None)
    if repos is None or repos.kind != Kind.SEQUENCE or not repos.items:
        return None
    text = source.text
    first = repos.items[0].start
    line_start = text.rfind("\n", 0, first) + 1
    dash = text[line_start:first]
    if not dash.strip().startswith("-") or text[line_start : line_start + len(dash)].count("-") != 1:
        return None
    indent = len(dash) - len(dash.lstrip())
    lines = [line.removeprefix("  ") for line in entry.splitlines()]
    body = "".join(f"{' ' * indent}{line}\n" for line in lines)
    end = text.find("\n", repos.items[-1].end)
    last = repos.items[-1].end
    while last > 0 and text[last - 1] in " \t\r\n":
        last -= 1
    end = text.find("\n", last)
    before = text if end >= 0 else text + "\n"
    end = len(before) if end < 0 else end + 1
    after = before[:end] + body + before[end:]
    return after if _differ_in_one_line(text, after) else None


def _differ_in_one_line(before: str, after: str) -> bool:
    import yaml

    try:
        old, new = yaml.safe_load(before), yaml.safe_load(after)
        added = new["repos"].pop()
    except (yaml.YAMLError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        return False
    return bool(old == new and added["hooks"][0]["id"] == "cfgfix")


def _class_schema(
    spec: str | None, roots: Sequence[str], settings: Settings
) -> tuple[str, dict[str, Any]] | None:
    """Return the name and the schema of the config class, or None where there is none that can be read."""
    if spec is None:
        return None
    from cfgfix.config.schema.infer import infer

    try:
        found = infer(spec, ".", settings.source_roots or tuple(roots))
    except CfgfixError:
        return None
    return spec.rpartition(":")[2], found.schema


def _plan_editor(
    configs: Sequence[Config],
    files: list[Planned],
    facts: list[str],
    of_class: tuple[str, dict[str, Any]] | None,
) -> None:
    """Plan a schema file, of the config class or else of each dialect, and the comment that names it in each config."""
    import json

    done = 0
    for config in configs:
        name, data = of_class or (config.dialect.name, published(config.dialect))
        target = f".cfgfix/{name}.schema.json"
        text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
        if all(planned.path != target for planned in files):
            require_inside(target)
            current = read_source(target) if os.path.exists(target) else None
            if current is None:
                files.append(Planned(target, None, text))
            elif current.text != text:
                files.append(Planned(target, current.text, text, current))
        source = config.document.source
        if EDITOR_MARK in source.text:
            done += 1
            continue
        relative = os.path.relpath(target, os.path.dirname(config.path) or ".").replace(os.sep, "/")
        after = _with_comment(config, f"# {EDITOR_MARK} $schema={relative}")
        if after is None:
            facts.append(f"editor: {config.path} cannot take a comment in its first line; left as it is")
        else:
            files.append(Planned(config.path, source.text, after, source))
    if done:
        facts.append(f"editor: {done} config{'s have' if done > 1 else ' has'} a schema comment already")


def _with_comment(config: Config, comment: str) -> str | None:
    """Return a config's text with a comment above it, proven to change nothing else, or None."""
    from cfgfix.config.document.editor import plan as plan_edits
    from cfgfix.config.document.proof import ProofError, prove

    document = config.document
    if document.problem is not None or document.source.text.startswith("%"):
        return None
    newline = "\r\n" if "\r\n" in document.source.text else "\n"
    change = ReplaceText(0, 0, comment + newline)
    edits = plan_edits(document, [change])
    after = splice(document.source.text, edits)
    try:
        prove(document, after, [change], edits, LOADERS[config.dialect.loader])
    except ProofError:
        return None
    return after


def preview_lines(planned: Planned, diff: Callable[[str, str, str], Iterable[str]]) -> Iterator[str]:
    """Yield the lines that show a planned file.

    A new one as a whole (a schema by its size), another as a diff.
    """
    if planned.path.endswith(".schema.json"):
        what = "new" if planned.before is None else "brought up to date"
        yield f"{planned.path} ({what}, {len(planned.after.splitlines())} lines)"
    else:
        lines = list(diff(planned.before or "", planned.after, planned.path))
        if planned.before is None:
            lines[0] = "--- /dev/null"
        yield from lines


def write(plan: Plan) -> None:
    """Write the planned files, each as a whole.

    Raises:
        CfgfixError: A link leads out of the project.
        UnreadableError: A file cannot be written, or has changed since it was read.
    """
    for planned in plan.files:
        # Looked at again: between a question and its answer a link may have come.
        require_inside(planned.path)
        write_file(planned.path, planned.after, planned.source)


def write_file(path: str, text: str, source: SourceFile | None) -> None:
    """Write a file as a whole.

    In the place of what was read, or a new one that replaces nothing.

    Raises:
        UnreadableError: It cannot be written, has changed since it was read, or is there by now.
    """
    from cfgfix.core.source_file import replace_atomically
    from cfgfix.core.writing import write_whole

    if source is not None and source.stamp is not None:
        replace_atomically(path, source.encode(text), source.stamp)
    else:
        folder = os.path.dirname(path)
        try:
            os.makedirs(folder or ".", exist_ok=True)
        except OSError as error:
            raise UnreadableError(f"cannot be made: {error.strerror}", path=folder) from error
        write_whole(path, text, new=True)
