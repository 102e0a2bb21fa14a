"""The files that bring cfgfix into a project: settings, the hook, schemas for editors; planned, and written."""

from __future__ import annotations

import os
from collections.abc import Sequence

from cfgfix import __version__
from cfgfix.cli.setup_configs import Config
from cfgfix.config.document.compose import Kind, compose
from cfgfix.config.loaders.scalars import LOADERS
from cfgfix.config.schema.publish import published
from cfgfix.core.edits import ReplaceText, splice
from cfgfix.core.errors import CfgfixError, UnreadableError
from cfgfix.core.records import dataclass
from cfgfix.core.source_file import SourceFile, is_inside, project_folder, read_source
from cfgfix.settings.reader import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EDITOR_MARK = "yaml-language-server:"


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


@dataclass(frozen=True, slots=True)
class Planned:
    """A file that would be written; `before` is None for a new one."""

    path: str
    before: str | None
    after: str
    source: SourceFile | None = None


def require_inside(path: str, root: str = ".") -> None:
    """Refuse a path that a link leads out of the project.

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


def new_settings(rows: Sequence[str], root: str) -> Planned:
    """Return a planned settings file for a folder that has none.

    It is a table in the folder's pyproject.toml, else a file of its own.
    """
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
    """Tell whether a project file differs from before only by the new table."""
    old, new = _toml_data(before), _toml_data(after)
    if new is None:
        return False
    try:
        new["tool"].pop("cfgfix")
        if not new["tool"]:
            new.pop("tool")
    except (KeyError, TypeError, AttributeError):
        return False
    return bool(old == new)


def _toml_data(text: str) -> dict[str, Any] | None:
    """Return the data of a TOML text, or None for any other text."""
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
    """Return the settings file, planned with one more item in a list.

    None where that cannot be done exactly.

    Args:
        settings: The settings in force; where they come from no file, a new one is planned.
        name: The setting.
        item: The item to add to its list.

    Raises:
        CfgfixError: A link leads out of the project.
    """
    import json
    import re

    quoted = json.dumps(item, ensure_ascii=False)
    if settings.origin is None:
        return new_settings([f"{name} = [{quoted}]"], settings.root)
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
    """Tell whether a settings file differs only by one more item in a list."""
    old, new = _toml_data(before), _toml_data(after)
    if old is None or new is None:
        return False
    try:
        tables = [data["tool"]["cfgfix"] if in_project else data for data in (old, new)]
        had, has = (table.pop(name, []) for table in tables)
    except (KeyError, TypeError, AttributeError):
        return False
    return old == new and sorted(map(repr, has)) == sorted(map(repr, [*had, item]))


def plan_hook(repository: str | None, files: list[Planned], facts: list[str]) -> None:
    """Add a pre-commit hook to the planned files, or say why none is planned."""
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
    """Return the text of the hooks file with one more entry at its end.

    None where that cannot be done exactly.
    """
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


def class_schema(
    spec: str | None, roots: Sequence[str], settings: Settings
) -> tuple[str, dict[str, Any]] | None:
    """Return the name and the schema of the config class, or None."""
    if spec is None:
        return None
    from cfgfix.config.schema.infer import infer

    try:
        found = infer(spec, ".", settings.source_roots or tuple(roots))
    except CfgfixError:
        return None
    return spec.rpartition(":")[2], found.schema


def plan_editor(
    configs: Sequence[Config],
    files: list[Planned],
    facts: list[str],
    of_class: tuple[str, dict[str, Any]] | None,
) -> None:
    """Plan schema files for editors, and comments in the configs that name them.

    There is one schema of the config class, or else of each dialect.
    """
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
    """Return a config's text with a comment at its top, proven to change nothing else.

    None where that cannot be proven.
    """
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


def write_file(path: str, text: str, source: SourceFile | None) -> None:
    """Write a file as a whole: in place of the text that was read, or as a new file.

    A new file replaces nothing.

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
