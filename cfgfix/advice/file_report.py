"""What is known of a config file, and of a key, from the code around: what opens it, by which way, and what is read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from cfgfix.advice.key_meaning import first_call
from cfgfix.advice.key_report import findings_at
from cfgfix.config.document.compose import compose
from cfgfix.core.findings import KeyPath, format_key_path, parse_key_path
from cfgfix.core.source_file import read_source
from cfgfix.lint.request import Request
from cfgfix.lint.session import Session
from cfgfix.lint.targets import dialect_of
from cfgfix.usage.config_files import form_of
from cfgfix.usage.unopened import top_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfgfix.usage.code_facts import CodeFacts

MAX_CONFIGS = 8
"""Most configs of which it is told where they are read, one by one."""


def file_facts(path: str) -> dict[str, Any]:
    """Return facts on a config file: its dialect, its programs and their reads.

    Raises:
        UnreadableError: The file cannot be read.
        CfgfixError: The settings are wrong.
    """
    session = Session(Request(paths=(path,)))
    project = session.project_for(session.finder.settings_in(os.path.dirname(path) or "."))
    source = read_source(path)
    code_facts = session.code_facts(path, source)
    facts: dict[str, Any] = {"file": path}
    document = compose(source)
    if form_of(path) == "yaml":
        dialect = dialect_of(document, project)
        facts["dialect"] = dialect.title if dialect is not None else None
    if code_facts is None:
        followed = session.repository_code(path).followed()
        facts["lacking"] = (
            followed.why_not(path, top_names(document))
            if followed.modules
            else "there is no Python around it"
        )
        return facts
    facts["loader"] = code_facts.loader if code_facts.form == "yaml" else code_facts.form
    facts["programs"] = list(code_facts.programs)
    facts["opened"] = [
        {"program": line, "way": list(way)}
        for line, way in zip(code_facts.evidence, code_facts.ways, strict=True)
    ]
    facts["judged"] = code_facts.framework
    facts["read"] = {format_key_path(key): f"{place[0]}:{place[1]}" for key, place in code_facts.reads}
    facts["asked"] = {format_key_path(key): f"{place[0]}:{place[1]}" for key, place in code_facts.asked}
    facts["reaches"] = {
        format_key_path(key): call
        for key in dict.fromkeys(_keys_of(code_facts))
        if (call := first_call(key, code_facts))
    }
    facts["found"] = [
        f"{finding.location.line}: {finding.severity.label} {finding.rule}: {finding.message}"
        for finding in findings_at(path, None)
    ]
    return facts


def _keys_of(code_facts: CodeFacts) -> Iterator[KeyPath]:
    yield from (item.path for item in code_facts.reached if item.path is not None)


def file_lines(facts: dict[str, Any]) -> list[str]:
    """Return the facts on a config file as lines of text."""
    programs = facts.get("programs")
    lines = [f"{facts['file']}: {f'a config of {_join_in_words(programs)}' if programs else 'a config file'}"]
    if facts.get("dialect"):
        lines.append(f"  its keys are those of: {facts['dialect']}")
    if "lacking" in facts:
        known = "known by its keys alone" if facts.get("dialect") else "no training config that cfgfix knows"
        return [*lines, f"  {known}: {facts['lacking']}"]
    for item in facts["opened"]:
        lines.append(f"  {item['program']}")
        if len(item["way"]) > 1:
            lines.append(f"    by way of {' -> '.join(item['way'])}")
    lines.append(f"  read by {facts['loader']}")
    if not facts["judged"]:
        lines.append("  no program that opens it comes to TensorFlow, so the code says nothing of its keys")
    if facts["found"]:
        lines += ["  what a check finds:", *(f"    {text}" for text in facts["found"])]
    reaches = facts["reaches"]
    lines += _place_lines(
        "read",
        {key: f"{place}{_call_text(place, reaches.get(key))}" for key, place in facts["read"].items()},
    )
    lines += _place_lines("asked for and not there", facts["asked"])
    return lines


def _call_text(place: str, call: str | None) -> str:
    """Return the call that a value reaches, without the place named before the call."""
    return f"  {call.removesuffix(f' in {place}')}" if call else ""


def _place_lines(title: str, places: dict[str, str]) -> list[str]:
    width = min(max(map(len, places), default=0), 40)
    return (
        [f"  {title}:", *(f"    {key:{width}}  {place}" for key, place in places.items())] if places else []
    )


def key_reads(what: str) -> list[str]:
    """Return lines on where the programs here read a key of their configs.

    Empty where no config has the key.
    """
    try:
        asked = tuple(str(step) for step in parse_key_path(what))
    except ValueError:
        return []
    if not asked:
        return []
    session = Session(Request())
    places: dict[tuple[str, str], list[str]] = {}
    code = session.repository_code(os.path.join(".", "x"))
    for path, code_facts in code.all().items():
        if not code_facts.framework:
            continue
        told = [(key, f"read in {place[0]}:{place[1]}") for key, place in code_facts.reads]
        told += [
            (key, f"asked for in {place[0]}:{place[1]}, and not there") for key, place in code_facts.asked
        ]
        for key, place in told:
            steps = tuple(map(str, key))
            if steps[-len(asked) :] == asked:
                places.setdefault((format_key_path(key), place), []).append(path)
    return [
        f"In the code: {key}: {place} ({_join_in_words(paths)})" for (key, place), paths in places.items()
    ]


def _join_in_words(paths: Sequence[str]) -> str:
    shown = ", ".join(paths[:MAX_CONFIGS])
    return shown if len(paths) <= MAX_CONFIGS else f"{shown} and {len(paths) - MAX_CONFIGS} more"
