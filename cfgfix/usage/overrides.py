"""Overrides of the command line that name no key of the config they are for."""

from __future__ import annotations

import os

from cfgfix.core.errors import CfgfixError
from cfgfix.core.findings import Location, format_key_path
from cfgfix.core.source_file import read_source
from cfgfix.usage.commands import Command
from cfgfix.usage.config_runs import ConfigRuns, Verdict
from cfgfix.usage.run_host import counts_as_read
from cfgfix.usage.spelling import nearest_name


def find_unknown_overrides(runs: ConfigRuns) -> None:
    """Add verdicts on overrides in commands that name no key of the config.

    Hydra stops where the section of `section.name=value` has no such key; OmegaConf adds the key.
    """
    told: set[tuple[str, str, int]] = set()
    for result in runs.results:
        command = result.command
        given = [(name, holder, "Hydra stops") for name, holder in result.unknown_overrides]
        given += [
            (".".join(map(str, key.path)), holder, "it is added, and nothing reads it")
            for key, holder in result.run.added_options
            if not counts_as_read(key) and not runs.exhausted and key.name not in runs.mentioned
        ]
        given += [
            (".".join(map(str, key.path)), holder, "ConfigKeyError")
            for key, holder in result.run.refused_options
        ]
        for name, holder, effect in given:
            section = holder.sections[0] if holder.sections else None
            if (
                command is None
                or not command.is_said
                or section is None
                or section.source != runs.path
                or holder.open
            ):
                continue
            entry = runs.entries.get(section.path)
            if entry is None or (name, command.path, command.line) in told:
                continue
            told.add((name, command.path, command.line))
            place = f"{runs.relative(command.path)}:{command.line}"
            group, of_group, option = name.partition("=")
            last = option if of_group else name.rpartition(".")[2]
            names = [] if of_group else [str(key) for key in holder.entries if str(key) != last]
            near = nearest_name(last, names)
            span = entry.key if entry.path else (entry.value[0], entry.value[0])
            runs.add(
                Verdict(
                    "unknown-override",
                    section.path,
                    runs.line_span(span),
                    {
                        "argument": name,
                        "place": place,
                        "section": f"the group {group}"
                        if of_group
                        else format_key_path(section.path) or "the config",
                        "name": last,
                        "effect": effect,
                        "near": f"; is `{near}` meant?" if near else "",
                    },
                    others=_line_of(command, name),
                )
            )


def _line_of(command: Command, name: str) -> tuple[Location, ...]:
    """Return the place of an override in its script; empty where it is not found."""
    try:
        shown = os.path.relpath(command.path)
        source = read_source(command.path if shown.startswith("..") else shown)
    except CfgfixError:
        return ()
    start = 0
    for _ in range(command.line - 1):
        start = source.text.find("\n", start) + 1
        if not start:
            return ()
    found = source.text.find(name if "=" in name else f"{name}=", start)
    if found < 0:
        return ()
    return (source.location(found, found + len(name), "sets it"),)
