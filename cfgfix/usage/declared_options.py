"""The options that the programs of a project declare, and what is said of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cfgfix.code.inference.interpreter.command_line import OPTIONS, Option
from cfgfix.code.inference.interpreter.objects import ConfigKey, Spot
from cfgfix.core.records import dataclass
from cfgfix.usage.run_results import RunResult

NUMBER_READERS = {"builtins.int": int, "builtins.float": float}


@dataclass(frozen=True, slots=True)
class OptionVerdict:
    """One thing that is wrong with an option of a program.

    Attributes:
        check: Name of the rule's check.
        spot: The place of the verdict in the code.
        values: Operands of the message.
        other: The place in the code that shows it, or None.
        label: What happens at that place.
        notes: Further lines.
        severity: The severity; None for the rule's own.
        said: The path and line of a wrong command, relative to the project; None for none.
        beside: Further places in the code, each with what happens there.
        keys: The config keys that the verdict rests on.
    """

    check: str
    spot: Spot
    values: dict[str, Any]
    other: Spot | None = None
    label: str = ""
    notes: tuple[str, ...] = ()
    severity: str | None = None
    said: tuple[str, int] | None = None
    beside: tuple[tuple[Spot, str], ...] = ()
    keys: tuple[ConfigKey, ...] = ()


@dataclass(frozen=True, slots=True)
class Declared:
    """An option, together with all runs that declare it.

    Attributes:
        option: The option, as the first run declares it.
        keys: The record that each run has of the option.
        runs: The runs that declare the option.
    """

    option: Option
    keys: list[ConfigKey]
    runs: list[RunResult]


def declared_options(results: Sequence[RunResult]) -> list[Declared]:
    """Return the options that the runs declare, one for each declaration."""
    found: dict[Any, Declared] = {}
    for result in results:
        seen: set[int] = set()
        for options in result.run.parsers.values():
            for option in options:
                if id(option) in seen:
                    continue
                seen.add(id(option))
                place = (option.spot.path, option.spot.place, option.attribute)
                entry = found.setdefault(place, Declared(option, [], []))
                entry.keys.append(option.key)
                if result not in entry.runs:
                    entry.runs.append(result)
    return list(found.values())


def option_text(option: Option) -> str:
    """Return the name of an option as messages give it."""
    return next((name for name in option.names if name.startswith("--")), option.names[0])


def is_absl(option: Option) -> bool:
    """Tell whether an option is a flag of absl."""
    return option.key.source == OPTIONS and option.action == "flag"


def passes_all_options(result: RunResult) -> bool:
    """Tell whether a run passes all options to unknown code or computes their names."""
    section = result.run.option_section
    return bool(section.escapes or section.walks or section.uses)
