"""A dialect of a project's own, drafted and put in force, for `cfgfix init --dialect`."""

from __future__ import annotations

import os
import re

from cfgfix.core.errors import CfgfixError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfgfix.config.document.compose import Document
    from cfgfix.settings.reader import Settings

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_FLOATS = re.compile(rb"add_implicit_resolver\(\s*u?[\"']tag:yaml\.org,2002:float")
"""A loader of a project's own that is taught to read `1e-4` as a number."""
MAX_MODULE_BYTES = 1024 * 1024


def new_dialect(name: str, *, folder: str, example: str | None = None) -> str:
    """Draft `FOLDER/NAME/dialect.yaml` and name it in the settings.

    Returns lines on what to do next. A dialect that is there already is left as it is; what it lacks is told.

    Raises:
        CfgfixError: The name is no name, the example cannot be read, or a link leads out of the project.
    """
    from cfgfix.cli import setup_files
    from cfgfix.config.dialects.detect import detect, score
    from cfgfix.config.dialects.dialect import dialects, from_file
    from cfgfix.config.dialects.scaffold import draft
    from cfgfix.config.document.compose import compose
    from cfgfix.core.source_file import read_source
    from cfgfix.settings.project_dialects import known_dialects
    from cfgfix.settings.reader import discover

    if not _NAME.fullmatch(name):
        raise CfgfixError(f"{name!r} is no name for a dialect", hint="small letters, digits, `-` and `_`")
    if name in dialects():
        raise CfgfixError(f"cfgfix has a dialect {name!r} already", hint="a name of your own keeps both")
    document = None
    if example is not None:
        document = compose(read_source(example))
        if document.problem is not None:
            raise CfgfixError("does not parse, so nothing can be taken from it", path=example)
    settings = discover(".")
    path = os.path.join(settings.root, folder, name, "dialect.yaml")
    for place in (path, settings.origin):
        if place is not None:
            setup_files.require_inside(place, settings.root)
    shown = os.path.relpath(path)
    loader, why, told = _loader_of_configs(settings, example, document)
    lines: list[str] = []
    if os.path.lexists(path):
        made = from_file(path)
        lines.append(f"{shown} is there already; left as it is")
        if loader is not None and made.loader != loader:
            lines.append(f"new: {told}; in {shown} write: loader: {loader}")
    else:
        text = draft(name, dialects(), document, loader=loader or "pyyaml", why=why)
        setup_files.write_file(path, text, None)
        made = from_file(path)
        lines += [f"wrote {shown}", told]
    lines.append(_put_in_force(settings, folder, name))
    if document is None:
        lines.append("fill in `detect` and `concepts`")
        return "\n".join(lines)
    points = max((score(root, made) for root in document.roots), default=0)
    now = discover(".")
    known = known_dialects(now)
    found = next(
        (item for root in document.roots if (item := detect(root, known.values())) is not None), None
    )
    if not points:
        lines.append(f"it does not know {example} yet: fill in `detect`")
    elif name in known and (found is None or found.name != name):
        taken = found.name if found is not None else "no config"
        lines.append(f"{example} is still taken for {taken}: name more of its own keys in `detect`")
    else:
        lines.append(
            f"it knows {example} by {points} keys and found {len(made.concepts)} concepts in it; look at each line"
        )
    if now.dialect not in (None, name):
        where = os.path.relpath(now.origin) if now.origin else "the settings"
        lines.append(f"`dialect` in {where} names {now.dialect!r} for all configs; take that line out")
    return "\n".join(lines)


def _loader_of_configs(
    settings: Settings, example: str | None, document: Document | None
) -> tuple[str | None, str, str]:
    """Return the loader of the configs by the code, a comment and a sentence.

    The comment is for the dialect file, the sentence for the user. The loader is None where the code does not tell.
    """
    from cfgfix.core.records import replace
    from cfgfix.core.source_file import read_regular
    from cfgfix.lint.request import Request
    from cfgfix.lint.session import Session
    from cfgfix.lint.targets import usage_for
    from cfgfix.usage.key_uses import CORE
    from cfgfix.usage.nearby_code import NearbyCodeReader

    roots = settings.source_roots or (".",)
    run_settings = replace(
        settings, source_roots=roots, schema=None, hardware="none", dialect=None, dialects=()
    )
    project = Session(Request(settings=run_settings)).project_for(run_settings)
    if example is not None:
        project.files.append(example)
    usage = usage_for(project)
    loadings = [item for item in usage.loadings if item.role == CORE] if usage is not None else []
    kinds: dict[str, str] = {}
    for item in loadings:
        kind, place = item.kind, f"{item.name} in {item.spot.path}:{item.spot.line}"
        if not kind:
            try:
                text = read_regular(item.spot.path, MAX_MODULE_BYTES)
            except OSError:
                text = b""
            kind = "pyyaml-floats" if _FLOATS.search(text) else ""
        kinds.setdefault(kind, place)
    if len(kinds) == 1:
        kind, place = next(iter(kinds.items()))
        if kind:
            return kind, place, f"loader: {kind}, by {place}"
        return None, "", f"loader: pyyaml is a guess, {place} has a loader of its own; look"
    if kinds:
        listed = ", ".join(kinds.values())
        return None, "", f"loader: pyyaml is a guess, the code reads in several ways ({listed}); look"
    if document is not None and example is not None:
        around = NearbyCodeReader().nearby_code(example, document.source.text)
        if around.omegaconf:
            return (
                "omegaconf",
                "the code around it uses Hydra or OmegaConf",
                "loader: omegaconf, by the code around it",
            )
    return None, "", "loader: pyyaml is a guess, no code that reads a config was found; look"


def _put_in_force(settings: Settings, folder: str, name: str) -> str:
    """Name a dialect's folder in the settings; return a sentence on the outcome."""
    import json

    from cfgfix.cli import setup_files

    inside = os.path.relpath(os.path.join(settings.root, folder), settings.root).replace(os.sep, "/")
    named = {os.path.normpath(place) for place in settings.dialects}
    if os.path.normpath(inside) in named or os.path.normpath(os.path.join(inside, name)) in named:
        where = os.path.relpath(settings.origin) if settings.origin else "the settings"
        return f"in force: {where} names {inside}"
    planned = setup_files.with_listed(settings, "dialects", inside)
    if planned is None:
        where = os.path.relpath(settings.origin) if settings.origin else "cfgfix.toml"
        line = json.dumps([*settings.dialects, inside], ensure_ascii=False)
        return f"not in force yet: the settings cannot be edited exactly; in {where} write: dialects = {line}"
    setup_files.write_file(planned.path, planned.after, planned.source)
    return f"in force: {os.path.relpath(planned.path)} names {inside} now"
