"""The configs of the project at hand, with their keys as its code, its class or its dialect knows them."""

from __future__ import annotations

import os
from collections.abc import Iterator

from cfgfix.advice.recommend import recommend
from cfgfix.advice.shown_keys import ShownKey, as_yaml, shown_keys
from cfgfix.config.dialects.dialect import Dialect
from cfgfix.config.dialects.parameters import KeyMeanings, key_meanings
from cfgfix.config.dialects.signatures import Pattern
from cfgfix.config.dialects.view import View
from cfgfix.config.document.compose import Document, Kind
from cfgfix.config.loaders.scalars import LOADERS
from cfgfix.config.schema.validate import Schema
from cfgfix.core.errors import UnreadableError
from cfgfix.core.records import dataclass, replace
from cfgfix.core.source_file import read_source
from cfgfix.hardware.model import Hardware
from cfgfix.lint.project import Project
from cfgfix.lint.request import Request
from cfgfix.lint.session import Session
from cfgfix.lint.targets import dialect_of, machine_of_job, target_of, with_meanings
from cfgfix.settings.discovery import find
from cfgfix.usage.code_facts import CodeFacts
from cfgfix.usage.config_files import ConfigFile

MAX_WEIGHED = 20
"""Most configs that are weighed for what they have to set."""
MAX_LOOKED_AT = 100
"""Most files whose keys are looked at where no code opens a config."""


@dataclass(frozen=True, slots=True)
class OwnConfig:
    """One config of the project.

    Attributes:
        view: The file, through the keys that it has.
        schema: What its class or its dialect says of it.
        dialect: Its dialect, with those keys.
        says: What the code that opens it says; None where no code does.
        meanings: What that says of its keys.
        keys: Its keys, as a reader sees them.
    """

    view: View
    schema: Schema | None
    dialect: Dialect
    code_facts: CodeFacts | None
    meanings: KeyMeanings
    keys: tuple[ShownKey, ...]

    @property
    def path(self) -> str:
        """The path of the config file."""
        return self.view.document.source.path


def own_configs(hardware: Hardware | None) -> list[OwnConfig]:
    """Return the configs of the working folder that its code opens.

    Those of which the code says most come first. Where the code opens none, they are the configs known by their keys.

    Args:
        hardware: The machine that operands about one are answered for.
    """
    if not _is_project():
        return []
    session = _new_session(hardware)
    code = session.repository_code(os.path.join(".", "x"))
    here = os.path.abspath(".") + os.sep
    found: list[OwnConfig] = []
    for path, code_facts in code.all().items():
        whole = os.path.join(code.root, path)
        if code_facts.framework and whole.startswith(here):
            own = _own_config(os.path.relpath(whole), session, code_facts, hardware)
            if own is not None:
                found.append(own)
    if not found:
        listed = [
            item.path for item in find((".",), session.finder, []) if item.path.endswith((".yaml", ".yml"))
        ]
        for path in sorted(listed, key=lambda path: (path.count(os.sep), path))[:MAX_LOOKED_AT]:
            own = _own_config(os.path.normpath(path), session, None, hardware)
            if own is not None:
                found.append(own)
    found.sort(key=lambda own: (-len(own.meanings.keys), own.path.count(os.sep), own.path))
    return found


def most_telling(hardware: Hardware | None) -> OwnConfig | None:
    """Return the config of the working folder with most recommendations for a machine.

    None where no config is known.

    Args:
        hardware: The machine.
    """
    configs = own_configs(hardware)
    if hardware is None or not configs:
        return next(iter(configs), None)

    def told(own: OwnConfig) -> tuple[int, int]:
        advice = recommend(own.view, hardware, own.schema)
        return len(advice.choices), len(advice.left_out)

    return max(configs[:MAX_WEIGHED], key=told)


def machine_of_config(config: str | None) -> tuple[Hardware, str] | None:
    """Return the machine of the job that runs a config, and a line that says so.

    None where no job is known to limit it.

    Args:
        config: The file; None for the one of the working folder that has most to set.
    """
    own = own_config(config, None) if config is not None else most_telling(None)
    job = own.code_facts.job if own is not None and own.code_facts is not None else None
    return machine_of_job(job) if job is not None else None


def has_code() -> bool:
    """Tell whether the working folder belongs to a project with Python code."""
    return _is_project() and _new_session(None).repository_code(os.path.join(".", "x")).followed().modules > 0


def _new_session(hardware: Hardware | None) -> Session:
    session = Session(Request())
    usable = hardware.lookup("gpu.usable_mib") if hardware is not None else None
    session.follows_models = usable is not None and usable.known
    return session


def _is_project() -> bool:
    """Tell whether the working folder belongs to a project.

    It lies in a repository, or has code or configs in it.
    """
    from cfgfix.core.source_file import project_folder

    if os.path.exists(os.path.join(project_folder(os.path.abspath(".")), ".git")):
        return True
    names = os.listdir(".")
    return any(
        name.endswith((".py", ".yaml", ".yml", ".ipynb")) or name == "pyproject.toml" for name in names
    )


def own_config(path: str, hardware: Hardware | None) -> OwnConfig | None:
    """Return a file as a config of the project.

    None where neither code nor keys show that it is a config.

    Args:
        path: The file.
        hardware: The machine that operands about one are answered for.

    Raises:
        CfgfixError: It cannot be read.
    """
    session = _new_session(hardware)
    code_facts = session.code_facts(path, read_source(path))
    return _own_config(
        path, session, code_facts if code_facts is not None and code_facts.framework else None, hardware
    )


def _own_config(
    path: str, session: Session, code_facts: CodeFacts | None, hardware: Hardware | None
) -> OwnConfig | None:
    try:
        file = ConfigFile(path, read_source(path))
        project = session.project_for(session.finder.settings_in(os.path.dirname(path) or "."))
    except UnreadableError:
        return None
    loader = code_facts.loader if code_facts is not None else "pyyaml"
    document = as_yaml(file, loader)
    if document.problem is not None or not document.roots or document.roots[0].kind != Kind.MAPPING:
        return None
    dialect = dialect_of(document, project)
    if dialect is None:
        dialect = project.dialects.get("generic") if code_facts is not None else None
    if dialect is None:
        return None
    return _as_shown(document, project, dialect, code_facts, hardware, shown_keys(file, loader))


def _as_shown(
    document: Document,
    project: Project,
    dialect: Dialect,
    code_facts: CodeFacts | None,
    hardware: Hardware | None,
    keys: tuple[ShownKey, ...],
) -> OwnConfig:
    target = target_of(project, dialect, project.machines[0])
    loader = target.loader
    if code_facts is not None:
        target = with_meanings(target, code_facts.reached)
        if project.settings.loader is None and dialect.name == "generic":
            loader = LOADERS.get(code_facts.loader, loader)

    def look(fact: str) -> object:
        value = hardware.lookup(fact) if hardware is not None else None
        return None if value is None else value.value

    target = replace(target, loader=loader, hardware=look if hardware is not None else None)
    view = target.view(document, 0)
    if dialect.confidence == "low":
        own = _with_own_keys(target.dialect, view, target.schema)
        view = replace(target, dialect=own).view(document, 0)
    return OwnConfig(view, target.schema, view.dialect, code_facts, target.meanings or key_meanings(()), keys)


def _with_own_keys(dialect: Dialect, view: View, schema: Schema | None) -> Dialect:
    """Return a dialect with only those key paths that the config or its class has."""

    def known(pattern: Pattern) -> bool:
        if any(True for _ in view.places(pattern)):
            return True
        path = tuple(step for step in pattern if isinstance(step, str))
        return schema is not None and len(path) == len(pattern) and schema.describe(path) is not None

    kept = {
        concept: tuple(pattern for pattern in patterns if known(pattern))
        for concept, patterns in dialect.concepts.items()
    }
    return replace(dialect, concepts={concept: patterns for concept, patterns in kept.items() if patterns})


def keys_named(what: str, configs: list[OwnConfig]) -> Iterator[tuple[OwnConfig, ShownKey]]:
    """Yield the keys of configs that a text names.

    The text is a key path, its last steps or a concept.
    """
    from cfgfix.core.findings import parse_key_path

    try:
        asked = parse_key_path(what)
    except ValueError:
        return
    for own in configs:
        for key in own.keys:
            if key.path[-len(asked) :] == asked or (what, key.path) in own.meanings.keys:
                yield own, key


def spellings(configs: list[OwnConfig]) -> Iterator[str]:
    """Yield the texts that name keys of configs: their key paths and last names."""
    from cfgfix.core.findings import format_key_path

    for own in configs:
        for key in own.keys:
            yield format_key_path(key.path)
            yield str(key.path[-1])
