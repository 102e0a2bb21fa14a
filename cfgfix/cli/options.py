"""The options of `check` and `fix`, as one table that the fast parser and click both read."""

from __future__ import annotations

from collections.abc import Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FLAG, VALUE, MANY = "flag", "value", "many"

FORMATS = ("text", "concise", "json", "jsonl", "sarif", "github", "gitlab", "junit")

TABLE: tuple[tuple[str, tuple[str, ...], str, tuple[str, ...], str], ...] = (
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
    (
        "hardware",
        ("--hardware",),
        VALUE,
        (),
        "Target machine: auto, none, a profile such as rtx4090x2 or rtx4090x2,cpus=16,ram=64, or a file.",
    ),
    (
        "tensorflow",
        ("--tensorflow",),
        VALUE,
        (),
        "The TensorFlow that is meant: a release such as 2.15, requirements (the project's files) or auto (these, else what is installed).",
    ),
    ("overrides", ("--set",), MANY, (), "KEY=VALUE: check the config as this override would make it."),
    (
        "select",
        ("--select",),
        MANY,
        (),
        "Only these rules: ids, names, prefixes or ALL, separated by commas.",
    ),
    ("ignore", ("--ignore",), MANY, (), "Without these rules."),
    ("extend_select", ("--extend-select",), MANY, (), "These rules too."),
    (
        "fail_on",
        ("--fail-on",),
        VALUE,
        ("info", "warning", "error", "never"),
        "Least severity that makes the exit code 1.",
    ),
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
    ("add_ignores", ("--add-ignores",), FLAG, (), "Write a suppression comment for every finding."),
    ("reason", ("--reason",), VALUE, (), "The reason that --add-ignores writes."),
    ("watch", ("--watch",), FLAG, (), "Check again whenever a file changes, until interrupted."),
    ("dialect", ("--dialect",), VALUE, (), "The dialect of the configs; by default it is detected."),
    (
        "force_dialect",
        ("--force-dialect",),
        FLAG,
        (),
        "With --dialect: take the one file that is named for a config of it, whatever stands in it.",
    ),
    (
        "loader",
        ("--loader",),
        VALUE,
        (),
        "How the program reads the YAML; by default the dialect says it, else the code around the config.",
    ),
    ("schema", ("--schema",), VALUE, (), "A JSON Schema for the configs."),
    ("preview", ("--preview",), FLAG, (), "Also run rules that are in preview."),
    ("show_skipped", ("--show-skipped",), FLAG, (), "Tell which rules and files were skipped, and why."),
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
    (
        "force_exclude",
        ("--force-exclude",),
        FLAG,
        (),
        "Leave excluded files out even where they are named, as hooks do.",
    ),
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
    """Return the value of every option when it is not given."""
    values: dict[str, Any] = {
        name: False if kind == FLAG else () if kind == MANY else None for name, _, kind, _, _ in TABLE
    }
    values["paths"] = ()
    return values


def parse(arguments: Sequence[str]) -> dict[str, Any] | None:
    """Return the options of plain arguments, or None where click must look: help, a mistake, anything unusual."""
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
