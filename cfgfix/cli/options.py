"""The options of `check` and `fix`, as one table that the fast parser and click both read."""

from __future__ import annotations

from collections.abc import Sequence

from cfgfix.output.formats import FORMATS
from cfgfix.settings.table import BY_NAME, SWITCH, TEXTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Row: TypeAlias = tuple[str, tuple[str, ...], str, tuple[str, ...], str]

FLAG, VALUE, MANY = "flag", "value", "many"


def _option_of_setting(name: str) -> Row:
    """Return the row of the option that overrides a setting."""
    setting = BY_NAME[name]
    assert setting.flag is not None
    kind = FLAG if setting.kind == SWITCH else MANY if setting.kind == TEXTS else VALUE
    return setting.attribute, (setting.flag,), kind, setting.choices, setting.flag_help


TABLE: tuple[Row, ...] = (
    (
        "fix",
        ("--fix",),
        FLAG,
        (),
        "Repair what can be repaired safely, each fix proven before it is written.",
    ),
    (
        "unsafe_fixes",
        ("--unsafe-fixes",),
        FLAG,
        (),
        "Also apply fixes that may change numerics, data order or memory use.",
    ),
    ("diff", ("--diff",), FLAG, (), "Show the fixes as a diff and write nothing."),
    _option_of_setting("hardware"),
    _option_of_setting("tensorflow"),
    ("overrides", ("--set",), MANY, (), "KEY=VALUE: check the config as this override would make it."),
    _option_of_setting("select"),
    _option_of_setting("ignore"),
    _option_of_setting("extend-select"),
    _option_of_setting("fail-on"),
    _option_of_setting("min-severity"),
    ("exit_zero", ("--exit-zero",), FLAG, (), "Exit 0 whatever is found; errors of use still count."),
    (
        "output_format",
        ("--output-format",),
        MANY,
        (),
        "FORMAT or FORMAT=FILE, may be given several times: " + ", ".join(FORMATS) + ".",
    ),
    ("output_file", ("--output-file",), VALUE, (), "Write what would be printed to this file."),
    ("statistics", ("--statistics",), FLAG, (), "Count the findings of each rule."),
    ("baseline", ("--baseline",), VALUE, (), "A file of known findings that are not shown."),
    ("write_baseline", ("--write-baseline",), VALUE, (), "Write all present findings to a baseline file."),
    (
        "since",
        ("--since",),
        VALUE,
        (),
        "A git revision: show only what holds now and did not hold there.",
    ),
    ("add_ignores", ("--add-ignores",), FLAG, (), "Write a suppression comment for every finding."),
    ("reason", ("--reason",), VALUE, (), "The reason that --add-ignores writes."),
    ("watch", ("--watch",), FLAG, (), "Check again whenever a file changes, until interrupted."),
    _option_of_setting("dialect"),
    (
        "force_dialect",
        ("--force-dialect",),
        FLAG,
        (),
        "With --dialect: take the one file that is named for a config of it, whatever stands in it.",
    ),
    _option_of_setting("loader"),
    _option_of_setting("schema"),
    _option_of_setting("preview"),
    _option_of_setting("show-skipped"),
    (
        "stdin_name",
        ("--stdin-filename",),
        VALUE,
        (),
        "The name of what is read from standard input (path `-`).",
    ),
    (
        "config",
        ("--config",),
        VALUE,
        (),
        "A settings file; by default the nearest pyproject.toml or cfgfix.toml.",
    ),
    ("isolated", ("--isolated",), FLAG, (), "Read no settings file."),
    _option_of_setting("force-exclude"),
    (
        "show_settings",
        ("--show-settings",),
        FLAG,
        (),
        "Print the settings in force for PATHS, or for this folder, and exit.",
    ),
    ("color", ("--color",), VALUE, ("auto", "always", "never"), "When to colour the output."),
    ("quiet", ("--quiet", "-q"), FLAG, (), "Print findings only, no summary."),
)
"""Name, flags, kind, choices, help."""

_BY_FLAG = {flag: row for row in TABLE for flag in row[1]}


def defaults() -> dict[str, Any]:
    """Return the default value of every option."""
    values: dict[str, Any] = {
        name: False if kind == FLAG else () if kind == MANY else None for name, _, kind, _, _ in TABLE
    }
    values["paths"] = ()
    return values


def parse(arguments: Sequence[str]) -> dict[str, Any] | None:
    """Return the options of a plain command line, by name.

    None where click must look: help, a mistake, anything unusual.
    """
    values = defaults()
    paths: list[str] = []
    position = 0
    while position < len(arguments):
        argument = arguments[position]
        position += 1
        if argument == "--":
            paths += arguments[position:]
            break
        if argument == "-" or not argument.startswith("-"):
            paths.append(argument)
            continue
        flag, given, value = argument.partition("=")
        row = _BY_FLAG.get(flag)
        if row is None:
            return None
        name, _, kind, choices, _ = row
        if kind == FLAG:
            if given:
                return None
            values[name] = True
            continue
        if not given:
            if position == len(arguments):
                return None
            value = arguments[position]
            position += 1
        if choices and value not in choices:
            return None
        values[name] = (*values[name], value) if kind == MANY else value
    values["paths"] = tuple(paths)
    return values
