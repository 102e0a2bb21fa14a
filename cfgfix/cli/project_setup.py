"""Set a project up: find out what there is, and plan the files that bring cfgfix in. Nothing is written here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence

from cfgfix.cli.setup_configs import Config, config_class, find_configs, python_files, source_roots
from cfgfix.cli.setup_files import (
    Planned,
    class_schema,
    new_settings,
    plan_editor,
    plan_hook,
    require_inside,
    write_file,
)
from cfgfix.core.errors import CfgfixError
from cfgfix.core.records import dataclass, replace
from cfgfix.lint.targets import names_class
from cfgfix.settings.discovery import Matcher
from cfgfix.settings.reader import FILES, Finder, Settings, read


@dataclass(frozen=True, slots=True)
class Plan:
    """The findings about a project, in sentences, and the files to write."""

    facts: tuple[str, ...]
    files: tuple[Planned, ...]
    config_class: str | None = None
    """The class that loads the configs, also where the settings only mention it."""


def plan(*, hook_repository: str | None = None, hook: bool = True, editor: bool = True) -> Plan:
    """Return the plan for setting up the project in the working folder.

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
    everywhere, others, opened = find_configs()
    elsewhere = [config.path for config in everywhere if config.settings.origin != settings.origin]
    below = [config for config in everywhere if config.settings.origin == settings.origin]
    matcher = Matcher(settings)
    configs = [config for config in below if matcher.included(config.path)]
    left_out = [config.path for config in below if not matcher.included(config.path)]
    if configs:
        facts.append(f"training configs: {_list_in_toml([config.path for config in configs])}")
        facts.append(f"dialect: {', '.join(sorted({config.dialect.name for config in configs}))}")
        facts += _opened_by_lines([(config.path, config.evidence) for config in configs] + opened)
    elif opened:
        facts += _opened_by_lines(opened)
    elif not elsewhere:
        facts.append(
            f"training configs: none that cfgfix knows among {len(others)} YAML files; name the keys under [keys] in the settings"
        )
    if elsewhere:
        facts.append(
            f"configs under settings of their own: {_list_in_toml(elsewhere)}; run `cfgfix init` in their folder"
        )
    found_by_check = bool(opened) or any(config.evidence for config in configs)
    sources = [] if found_by_check else python_files()
    roots = source_roots(sources)
    if roots:
        facts.append(f"source root: {', '.join(roots)}")
    # Where programs open the configs, `check` follows them by itself: nothing has to be named.
    found = config_class([config for config in configs if config.by_keys], sources)
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
        facts += _unnamed_part_lines(own, settings, configs, left_out, roots, class_name)
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
        plan_hook(hook_repository, files, facts)
    if editor:
        plan_editor(
            [config for config in configs if config.by_keys],
            files,
            facts,
            class_schema(class_name, roots, settings),
        )
    for planned in files:
        require_inside(planned.path)
    return Plan(tuple(facts), tuple(files), class_name)


MAX_BOUND = 8
"""Most configs of which it is told what opens them."""


def _opened_by_lines(configs: Sequence[tuple[str, tuple[str, ...]]]) -> Iterator[str]:
    """Yield a line on what opens each config."""
    told = [(path, evidence) for path, evidence in configs if evidence]
    for path, evidence in told[:MAX_BOUND]:
        more = f" (and {len(evidence) - 1} more)" if len(evidence) > 1 else ""
        yield f"{path}: {evidence[0]}{more}"
    if len(told) > MAX_BOUND:
        yield f"{len(told) - MAX_BOUND} more configs are opened by programs; `cfgfix explain FILE` tells which"


def _unnamed_part_lines(
    own: str,
    settings: Settings,
    configs: Sequence[Config],
    left_out: Sequence[str],
    roots: Sequence[str],
    class_name: str | None,
) -> Iterator[str]:
    """Yield lines on what the project has and its settings do not name."""
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
    """Tell whether a config is clearly of another dialect than the settings name."""
    from cfgfix.config.dialects.detect import detect
    from cfgfix.settings.project_dialects import known_dialects

    known = known_dialects(config.settings).values()
    found = next((item for root in config.document.roots if (item := detect(root, known)) is not None), None)
    return found is not None and found.name != dialect and found.confidence != "low"


def _list_in_toml(paths: Sequence[str]) -> str:
    shown = ", ".join(paths[:5])
    return shown if len(paths) <= 5 else f"{shown} and {len(paths) - 5} more"


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
    return new_settings(rows, ".")


def _why_schema_is_refused(schema: str, configs: Sequence[Config], settings: Settings) -> str | None:
    """Return the error that a check with a schema setting gives, or None.

    Only a setting that works is written.
    """
    from cfgfix.lint import runner as engine

    tried = replace(settings, root=os.path.abspath("."), schema=schema, hardware="none")
    try:
        engine.check(engine.Request(paths=(configs[0].path,), settings=tried))
    except CfgfixError as error:
        return error.message
    return None


def _news_of(schema: str, roots: Sequence[str], configs: Sequence[Config], settings: Settings) -> str | None:
    """Return a line on how a schema setting would change the findings.

    None where the findings stay the same.
    """
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


def preview_lines(planned: Planned, diff: Callable[[str, str, str], Iterable[str]]) -> Iterator[str]:
    """Yield the lines that show a planned file.

    A new file is shown whole (a schema by its size), another as a diff.
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
