"""What the configs of a project are judged against: their dialect, loader and schema, the machine, the code that reads them."""

from __future__ import annotations

import os
from collections.abc import Sequence

from cfgfix.config.dialects.detect import detect
from cfgfix.config.dialects.dialect import Dialect, schema_data
from cfgfix.config.dialects.foreign import tool_of
from cfgfix.config.document.compose import Document, Kind, compose
from cfgfix.config.loaders.scalars import LOADERS
from cfgfix.config.schema.validate import Schema
from cfgfix.core.errors import CfgfixError, UnreadableError, internal_fault
from cfgfix.core.records import replace
from cfgfix.core.source_file import SourceFile, read_source
from cfgfix.lint.project import Machine, Project, Target
from cfgfix.lint.rule_set import content_stamp
from cfgfix.settings.project_dialects import by_text, has_training_keys, is_label
from cfgfix.settings.reader import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cfgfix.config.dialects.parameters import Reached
    from cfgfix.config.schema.infer import Inferred
    from cfgfix.hardware.model import Hardware
    from cfgfix.usage.job_limits import Job
    from cfgfix.usage.key_uses import Usage
    from cfgfix.usage.project_code import ProjectCode


def dialect_of(document: Document, project: Project, *, forced: bool = False) -> Dialect | None:
    """Return the dialect of a document, or None where it is no training config.

    That is the dialect that the settings name, the one whose signature the document has, or, where the settings name keys
    or a class, the generic one for a document that has some of those. A named dialect does not make a file a training
    config: the document must have keys of one.

    Args:
        document: The document.
        project: The project that it is of.
        forced: Whether a person says that it is a config of the named dialect.
    """
    settings = project.settings
    named = project.dialects[settings.dialect] if settings.dialect is not None else None
    if named is not None and forced:
        return named
    found = _detect_dialect(document, project)
    if found is not None and found.confidence != "low":
        # What is of another family with files of its own, such as the job of a cluster, is judged as that.
        foreign = named is not None and named is not found and tool_of(document) is not None
        return found if named is None or foreign else named
    if tool_of(document) is not None:
        return None
    if named is not None:
        return named if found is not None or has_training_keys(document, named) else None
    if found is not None or document.problem is not None:
        return found
    if settings.schema and names_class(settings.schema) and _fits_class(document, project):
        return project.dialects.get("generic")
    if settings.keys or settings.schema:
        generic = project.dialects.get("generic")
        if generic is not None and _has_own_keys(document, project, generic):
            return generic
    return None


def _detect_dialect(document: Document, project: Project) -> Dialect | None:
    """Return the dialect whose signature a document has, or None where it has none."""
    if document.problem is not None:
        return by_text(document.source.text, project.dialects)
    for root in document.roots:
        found = detect(root, project.dialects.values())
        if found is not None:
            return found
    return None


def _has_own_keys(document: Document, project: Project, generic: Dialect) -> bool:
    from cfgfix.config.dialects.detect import exists

    patterns = [pattern for concept in project.settings.keys for pattern in generic.concepts.get(concept, ())]
    return any(exists(root, pattern) for root in document.roots for pattern in patterns)


def _fits_class(document: Document, project: Project) -> bool:
    """Tell whether a document has the keys of the class that the settings name.

    Half or more of its top-level keys must be of the class, and not only names that any file may have, such as `name` and
    `version`.
    """
    project.inferred = project.inferred or _inferred_schema(project.settings)
    known = project.inferred.schema.get("properties", {})
    for root in document.roots:
        if root.kind == Kind.MAPPING and root.items:
            found = [key.text for key, _ in root.items if key.kind == Kind.SCALAR and key.text in known]
            if not all(map(is_label, found)) and 2 * len(found) >= len(root.items):
                return True
    return False


def target_of(project: Project, dialect: Dialect, machine: Machine) -> Target:
    """Return the target of a dialect's configs: loader, schema, machine, reading code.

    Raises:
        CfgfixError: The schema that the settings name cannot be read.
    """
    key = (dialect.name, machine.profile)
    target = project.targets.get(key)
    if target is None:
        usage = usage_for(project)
        found = usage.loader if usage is not None else None
        loader = LOADERS[project.settings.loader or dialect.loader]
        if project.settings.loader is None and found in LOADERS:
            # A dialect knows its own program better than which function is called, unless that reads other YAML.
            assert found is not None
            if dialect.name == "generic" or LOADERS[found].yaml_version != loader.yaml_version:
                loader = LOADERS[found]
        if dialect.name not in project.schemas:
            project.schemas[dialect.name] = _schema_of_dialect(project, dialect)
        target = Target(
            dialect,
            loader,
            project.schemas[dialect.name],
            machine.lookup,
            machine.label,
            usage,
            project.settings.schema is not None,
        )
        project.targets[key] = target
    return target


def with_class_by_code(project: Project, code: ProjectCode, document: Document, target: Target) -> Target:
    """Return the target with the class that code loads configs into, for one document.

    Unchanged where the code has no single such class, or the document lacks its sections.
    """
    settings = project.settings
    if target.usage is not None or settings.schema is not None or not project.rule_set.code:
        return target
    name = code.config_class()
    if name is None:
        return target
    if name not in project.usages_by_class:
        project.usages_by_class[name] = _usage_of_class(
            project, replace(settings, schema=name, root=code.root)
        )
    found = project.usages_by_class[name]
    if found is None or not _has_sections_of(document, found[0]):
        return target
    return replace(target, usage=found[1])


def _usage_of_class(project: Project, settings: Settings) -> tuple[Inferred, Usage] | None:
    from cfgfix.usage.checks import project_files, usage_of

    try:
        inferred = _inferred_schema(settings)
        files = project_files(settings)
        project.sources = tuple(dict.fromkeys((*project.sources, *(file.path for file in files))))
        shared = project.rule_set.rules
        return inferred, usage_of(files, settings, inferred, (), content_stamp(()), shared=shared)
    except CfgfixError:
        return None
    except Exception as error:  # noqa: BLE001 - a fault here costs what the code says, not the check
        project.failures.append(internal_fault(error, settings.root))
        return None


def _has_sections_of(document: Document, inferred: Inferred) -> bool:
    """Tell whether all top-level keys of a document are fields of a class.

    Two of them or more must be sections.
    """
    known = inferred.schema.get("properties", {})
    for root in document.roots:
        if root.kind != Kind.MAPPING or not root.items:
            return False
        if any(key.kind != Kind.SCALAR or key.text not in known for key, _ in root.items):
            return False
        if sum(value.kind == Kind.MAPPING for _, value in root.items) < 2:
            return False
    return bool(document.roots)


def with_meanings(target: Target, reached: Sequence[Reached]) -> Target:
    """Return the target with meanings of keys from the parameters that they reach.

    The dialect gets those keys, too.
    """
    from cfgfix.config.dialects.parameters import dialect_by_meanings, key_meanings

    found = key_meanings(reached)
    return replace(target, dialect=dialect_by_meanings(target.dialect, found), meanings=found)


def machine_of_job(job: Job) -> tuple[Hardware, str]:
    """Return the limits of a job as a machine, and a line that tells so."""
    from cfgfix.hardware.one_line_profiles import machine_of_limits
    from cfgfix.hardware.presets import summary

    label, limits = f"{job.kind} in {job.path}:{job.line}", job.limits
    hardware = machine_of_limits(label, limits.cpus, limits.ram_mib, limits.card, limits.gpus)
    taken = f"; {limits.said} is taken for the largest of that name" if limits.said else ""
    return hardware, f"hardware: the limits of {label} ({summary(hardware)}{taken})"


def with_job_limits(target: Target, job: Job) -> tuple[Target, str]:
    """Return the target with a job's limits as its machine, and a line that tells so."""
    hardware, line = machine_of_job(job)

    def look(name: str) -> Any:
        found = hardware.lookup(name)
        return None if found is None else found.value

    return replace(target, hardware=look, hardware_label=hardware.label), line


def with_nearby_code(project: Project, dialect: Dialect, source: SourceFile, target: Target) -> Target:
    """Return the target with the loader and facts that code near a config shows.

    Unchanged where nearby code shows nothing. A dialect with a program of its own, a `loader` setting and code that is
    followed decide the loader before nearby code does.
    """
    from cfgfix.usage.nearby_code import NearbyCode, NearbyCodeReader

    if project.nearby_code is None:
        project.nearby_code = NearbyCodeReader()
    nearby = project.nearby_code.nearby_code(source.path, source.text)
    usage = usage_for(project)
    known = project.settings.loader is not None or (usage is not None and usage.loader is not None)
    if known or dialect.name != "generic":
        told = NearbyCode(elsewhere=nearby.elsewhere, ruamel=nearby.ruamel)
        return replace(target, nearby_code=told) if told.elsewhere or told.ruamel else target
    if source.path.endswith(".json"):
        # `1e-3` is a number for what reads JSON.
        return replace(target, nearby_code=nearby, loader=LOADERS["pyyaml-floats"])
    if nearby == NearbyCode():
        return target
    loader = target.loader
    if nearby.omegaconf:
        loader = LOADERS["omegaconf"]
    elif nearby.floats:
        loader = LOADERS["pyyaml-floats"]
    return replace(target, nearby_code=nearby, loader=loader)


def with_nearby_ruamel(project: Project, source: SourceFile, target: Target) -> Target:
    """Return the target, noting ruamel.yaml where code near the config uses it."""
    from cfgfix.usage.nearby_code import NearbyCode, NearbyCodeReader

    if project.nearby_code is None:
        project.nearby_code = NearbyCodeReader()
    if not project.nearby_code.nearby_code(source.path, source.text).ruamel:
        return target
    return replace(target, nearby_code=replace(target.nearby_code or NearbyCode(), ruamel=True))


def usage_for(project: Project) -> Usage | None:
    """Return what the project's code does with its configs.

    None where neither a class nor a source root is set.
    """
    if project.usage_known:
        return project.usage
    project.usage_known = True
    settings = project.settings
    by_class = settings.schema is not None and names_class(settings.schema)
    if not project.rule_set.code or not (by_class or settings.source_roots):
        return None
    from cfgfix.usage.checks import key_paths, project_files, usage_of

    files = project_files(settings)
    if not files:
        return None
    project.sources = tuple(file.path for file in files)
    if by_class:
        project.inferred = project.inferred or _inferred_schema(settings)
    paths: list[tuple[str, ...]] = []
    if not by_class:
        for path in project.files:
            try:
                paths += key_paths(compose(read_source(path)))
            except UnreadableError:
                continue
    try:
        project.usage = usage_of(
            files,
            settings,
            project.inferred if by_class else None,
            paths,
            content_stamp(()),
            shared=project.rule_set.rules,
        )
    except CfgfixError:
        raise
    except Exception as error:  # noqa: BLE001 - a fault here costs what the code says, not the check
        project.failures.append(internal_fault(error, settings.root))
    return project.usage


def _schema_of_dialect(project: Project, dialect: Dialect) -> Schema | None:
    if project.settings.schema is not None:
        path = project.settings.inside(project.settings.schema)
        if names_class(project.settings.schema):
            inferred = project.inferred or _inferred_schema(project.settings)
            project.inferred = inferred
            return Schema.load(inferred.schema, project.settings.schema)
        import json

        source = read_source(path)
        try:
            data = json.loads(source.text)
        except (ValueError, RecursionError) as error:
            raise CfgfixError(f"is not JSON: {error}", path=path) from error
        return Schema.load(data, path, base_dir=os.path.dirname(os.path.abspath(path)))
    data = schema_data(dialect)
    if data is None:
        return None
    own = dialect.schema is not None and os.path.isabs(dialect.schema)
    if own and dialect.schema is not None:
        return Schema.load(data, dialect.schema, base_dir=os.path.dirname(dialect.schema))
    return Schema.load(data, f"{dialect.name}/schema.json")


def names_class(schema: str) -> bool:
    """Tell whether a `schema` setting names a class in the code.

    Else it names a JSON Schema file.
    """
    place, sign, name = schema.rpartition(":")
    return (
        bool(sign)
        and len(place) > 1
        and not name.endswith(".json")
        and "/" not in name
        and os.sep not in name
    )


def _inferred_schema(settings: Settings) -> Inferred:
    from cfgfix.config.schema.infer import infer

    assert settings.schema is not None
    found = infer(settings.schema, settings.root, settings.source_roots)
    if settings.unknown_keys is not None:
        from cfgfix.usage.checks import with_unknown_keys

        found = replace(found, schema=with_unknown_keys(found.schema, settings.unknown_keys))
    return found
