"""What the code does with one key, as lines of text: where it is defined, read, guarded, overridden, and its values."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from cfgfix.advice.key_meaning import absence_line, end_lines, notes_with_strategy, read_line
from cfgfix.advice.own_configs import OwnConfig
from cfgfix.advice.page import Line
from cfgfix.advice.shown_keys import ShownKey
from cfgfix.config.document.compose import Document, Kind, compose
from cfgfix.core.errors import CfgfixError
from cfgfix.core.findings import Finding, format_key_path, parse_key_path
from cfgfix.core.records import replace
from cfgfix.core.source_file import read_source
from cfgfix.lint.rule_set import content_stamp
from cfgfix.lint.targets import names_class
from cfgfix.settings.discovery import find
from cfgfix.settings.reader import Finder, Settings
from cfgfix.usage.checks import guard_in_words, loading_summary, project_files, usage_of
from cfgfix.usage.key_uses import (
    INFERENCE,
    LIVE,
    NEVER,
    ONLY_LOGGED,
    OVERWRITTEN,
    TOOLS,
    UNSURE,
    Spot,
    Usage,
    Use,
)

MAX_KEYS = 8
"""Most keys of one name that are told about."""
MAX_CONFIGS = 200
"""Most configs whose value is shown."""
_VERDICTS = {
    LIVE: "the training program uses it",
    UNSURE: "it may be used: its section, or an object that is not known, is used as a whole or under that name",
    NEVER: "nothing reads it",
    TOOLS: "only tests and tools read it",
    INFERENCE: "only the inference code reads it",
    ONLY_LOGGED: "it is only logged or stored",
    OVERWRITTEN: "it is overwritten with a constant before anything reads it",
}


def project_lines(keys: Sequence[tuple[OwnConfig, ShownKey]], request: str | None) -> list[Line]:
    """Return lines on some keys of the project's configs.

    They tell the value, the calls that it reaches in the code, and the findings at the key.

    Args:
        keys: The keys, each with its config.
        request: The machine that findings are about, as the command line names it.
    """
    lines: list[Line] = []
    found: dict[str, list[Finding]] = {}
    for own, shown in keys[:MAX_KEYS]:
        if own.path not in found:
            found[own.path] = findings_at(own.path, request)
        path = shown.path
        value = f" is {shown.value}" if shown.value else ""
        lines.append((1, f"{own.path}:{shown.line}: {format_key_path(path)}{value}"))
        if own.code_facts is not None:
            lines += [(3, text) for _, text in notes_with_strategy(path, own.meanings)]
            ends = [*end_lines(path, own.code_facts)] or [read_line(path, own.code_facts)]
            lines += [(3, text) for text in (*ends, absence_line(path, own.code_facts)) if text]
        lines += [
            (3, f"{finding.severity.label} {finding.rule}: {finding.message}")
            for finding in found[own.path]
            if finding.key_path == path
        ]
    if len(keys) > MAX_KEYS:
        lines.append((1, f"and {len(keys) - MAX_KEYS} more keys of that name"))
    return lines


def findings_at(path: str, request: str | None) -> list[Finding]:
    """Return the findings of a check in one file.

    Args:
        path: The file.
        request: The machine that findings are about, as the command line names it.
    """
    from cfgfix.lint.request import Request
    from cfgfix.lint.runner import check

    adjust = (lambda settings: replace(settings, hardware=request)) if request is not None else None
    report = check(Request(paths=(path,), adjust=adjust))
    named = os.path.abspath(path)
    return [
        finding for file in report.files if os.path.abspath(file.path) == named for finding in file.findings
    ]


def key_lines(what: str, settings: Settings) -> list[str]:
    """Return lines on how the code uses a key, or every key of that name.

    Empty where no such key is known.

    Args:
        what: A key path such as `data.batch_size`, or the last name of one.
        settings: The settings; without a class or source roots in them there is nothing to tell.

    Raises:
        CfgfixError: The class that the settings name is not there.
    """
    by_class = settings.schema is not None and names_class(settings.schema)
    if not by_class and not settings.source_roots:
        return []
    try:
        asked = tuple(str(step) for step in parse_key_path(what))
    except ValueError:
        return []
    if not asked:
        return []
    documents = _read_documents(settings)
    usage = _usage_of_class(settings, documents, by_class=by_class)
    if usage is None:
        return []
    paths = (
        [asked]
        if asked in usage.keys
        else sorted(path for path in usage.keys if path[-len(asked) :] == asked)
    )
    lines: list[str] = []
    for path in paths[:MAX_KEYS]:
        lines += [*([""] if lines else []), f"In the code: {format_key_path(path)}"]
        lines += [f"  {line}" for line in _of_key(path, usage, usage.keys[path])]
        lines += [f"  {line}" for line in _value_lines(path, documents)]
    if lines:
        how = loading_summary(usage)
        lines += [f"  {how}"] if how else []
    return lines


def _usage_of_class(settings: Settings, documents: Sequence[Document], *, by_class: bool) -> Usage | None:
    from cfgfix.config.schema.infer import infer
    from cfgfix.usage.checks import key_paths

    files = project_files(settings)
    if not files:
        return None
    inferred = None
    if by_class:
        assert settings.schema is not None
        inferred = infer(settings.schema, settings.root, settings.source_roots)
    paths = [path for document in documents for path in key_paths(document)]
    return usage_of(files, settings, inferred, paths, content_stamp(()))


def _read_documents(settings: Settings) -> list[Document]:
    found: list[Document] = []
    for item in find((settings.root,), Finder(settings), []):
        if len(found) >= MAX_CONFIGS:
            break
        if not item.path.endswith((".yaml", ".yml")):
            continue
        try:
            document = compose(read_source(item.path))
        except CfgfixError:
            continue
        if document.problem is None and any(root.kind == Kind.MAPPING for root in document.roots):
            found.append(document)
    return found


def _of_key(path: tuple[str, ...], usage: Usage, use: Use) -> Iterable[str]:
    home = usage.defined.get(path)
    if home is not None:
        yield f"defined by {home[2]} in {home[0]}:{home[1]}"
    yield _VERDICTS.get(use.status, use.status)
    for title, places in (
        ("read", use.reads),
        ("read by tests and tools", use.tools),
        ("read by the inference code", use.inference),
        ("read under that name from an object that is not known", use.maybe),
        ("used with its whole section", use.whole),
        ("given another value", use.writes),
    ):
        yield from _place_lines(title, places)
    for guard, operator, wanted in use.guards:
        yield f"counts only with {format_key_path(guard)}: {guard_in_words(operator, wanted)}"
    for option in usage.options.get(path, ()):
        default = f", default {option.default}" if option.default is not None else ""
        effect = (
            "always replaces the file's value"
            if option.always
            else "replaces the file's value where it is given"
        )
        yield f"option {option.flag}{default}: {effect} ({_place_text(option.spot)})"
    for literal in usage.literals:
        if literal.path == path:
            yield f"a literal of its name: {literal.value!r} ({_place_text(literal.spot)})"


def _place_lines(title: str, places: Sequence[Spot]) -> Iterable[str]:
    for index, spot in enumerate(places[:5]):
        yield f"{title if index == 0 else ' ' * len(title)} {_place_text(spot)}  {spot.how}".rstrip()
    if len(places) > 5:
        yield f"{' ' * len(title)} and {len(places) - 5} more"


def _place_text(spot: Spot) -> str:
    return f"{spot.path}:{spot.line}"


def _value_lines(path: tuple[str, ...], documents: Sequence[Document]) -> Iterable[str]:
    for document in documents:
        found = document.find(path)
        if found is None:
            continue
        value = found[1]
        text = document.source.text[value.start : value.end]
        line, _ = document.source.position(value.start)
        shown = text.splitlines()[0] if text else "null"
        yield f"{os.path.relpath(document.source.path)}:{line} says {shown[:60]}"
