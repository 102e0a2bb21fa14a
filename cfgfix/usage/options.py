"""What the runs of programs show of the options of their command lines: argparse and absl flags are settings, too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from cfgfix.code.inference.interpreter.command_line import FLAG_PARSER, OPTIONS
from cfgfix.code.inference.interpreter.events import REQUIRED, Asked
from cfgfix.code.model.nodes import Attribute
from cfgfix.usage.declared_options import (
    OptionVerdict,
    declared_options,
    passes_all_options,
)
from cfgfix.usage.mentions import MentionIndex
from cfgfix.usage.option_commands import FLAGS_OF_ABSL, wrong_commands
from cfgfix.usage.option_values import refused_defaults, wrong_conversions
from cfgfix.usage.program_runs import ProjectRuns
from cfgfix.usage.run_results import RunResult
from cfgfix.usage.spelling import nearest_name
from cfgfix.usage.unread_options import unread_options


def option_verdicts(project: ProjectRuns) -> list[OptionVerdict]:
    """Return the verdicts on the options of a project's programs."""
    results = [result for result in (*project.results, *project.without_config) if result.entrance.framework]
    index = MentionIndex(project)
    declared = declared_options(results)
    found = [
        *wrong_conversions(declared),
        *refused_defaults(project, declared, results),
        *_absent_options(project, results),
        *unread_options(project, declared, index),
        *wrong_commands(project, results),
    ]
    told: set[tuple[str, str, Any]] = set()
    unique = []
    for verdict in found:
        # A name that none defines is one cause, wherever it is read.
        subject = verdict.values.get("name", (verdict.spot.place, verdict.said))
        place = (verdict.check, verdict.spot.path, subject)
        if place not in told:
            told.add(place)
            unique.append(verdict)
    return unique


def _absent_options(project: ProjectRuns, results: Sequence[RunResult]) -> Iterator[OptionVerdict]:
    assigned: dict[str, set[tuple[str, int]]] | None = None
    for result in results:
        for item in result.run.asked:
            if not _reads_option(item) or item.how != REQUIRED or item.caught:
                continue
            known = {option.attribute for options in result.run.parsers.values() for option in options}
            if item.name in known or FLAG_PARSER in result.run.open_parsers:
                # Another parser of the program defines it, or calls that are not known may do so.
                continue
            near = nearest_name(item.name, known)
            of_flags = FLAG_PARSER in result.run.parsers
            # A mapping made of the options may be added to, as may options that go somewhere as a whole.
            doubtful = of_flags or item.error != "AttributeError" or passes_all_options(result)
            if (item.conditions or doubtful) and near is None:
                continue
            if of_flags and (
                item.name in FLAGS_OF_ABSL or item.name.startswith("_") or _is_method(item.name)
            ):
                continue
            if assigned is None:
                assigned = assigned_attributes(project)
            if item.name in assigned:
                continue
            yield OptionVerdict(
                "absent-option",
                item.spot,
                {
                    "name": item.name,
                    "error": item.error,
                    "near": f"; is `{near}` meant?" if near else "",
                },
            )


def _reads_option(item: Asked) -> bool:
    return bool(item.sections) and all(section.source == OPTIONS for section in item.sections)


def _is_method(name: str) -> bool:
    return name in (
        "mark_as_parsed", "is_parsed", "flag_values_dict", "flags_into_string", "append_flags_into_file", "set_default",
        "get_flag_value", "unparse_flags", "find_module_defining_flag", "key_flags_by_module_dict", "flags_by_module_dict",
        "register_key_flag_for_module", "get_key_flags_for_module", "module_help", "main_module_help", "get_help",
        "remove_flag_values", "validate_all_flags", "is_gnu_getopt", "set_gnu_getopt", "items", "keys", "values",
    )  # fmt: skip


def assigned_attributes(project: ProjectRuns) -> dict[str, set[tuple[str, int]]]:
    """Return the attribute names that any code assigns, with files and lines."""
    found: dict[str, set[tuple[str, int]]] = {}
    for module in project.program.all_modules():
        for scope in module.summary.scopes:
            events = list(scope.body)
            while events:
                event = events.pop()
                for target in event.targets:
                    if isinstance(target, Attribute):
                        place = module.path, event.place.line
                        found.setdefault(target.attribute, set()).add(place)
                for _, inner in event.bodies or ():
                    events += inner
    return found
