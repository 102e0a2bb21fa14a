"""The settings as a JSON Schema and as a table for people, both made from what the settings' reader accepts."""

from __future__ import annotations

from collections.abc import Sequence

from cfgfix.catalog.load import builtin
from cfgfix.dialects.dialect import dialects
from cfgfix.documents.resolve import LOADERS
from cfgfix.findings import Severity
from cfgfix.settings import FAIL_ON, NAMES, UNKNOWN_KEYS, Settings
from cfgfix.source.requirements import SETTING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DIALECT = "http://json-schema.org/draft-07/schema#"
"""Draft 7: what editors for TOML (taplo, Even Better TOML) read."""

TEXTS: dict[str, str] = {
    "include": "Which files are looked at below a folder: patterns for their names or for their paths from the settings file.",
    "exclude": "Which files and folders are left out: patterns for their names or for their paths from the settings file. It replaces the default.",
    "source-roots": "Folders that the program's imports start from. The Python code below them is read together with the configs.",
    "schema": "What the configs must look like: a JSON Schema file, or path/to/config.py:Class, the class that loads them; the code is read, not run.",
    "dialect": "The dialect of the training configs; without it each is told by its content. Files that are none are passed over either way.",
    "dialects": "Files or folders with dialects of the project's own.",
    "loader": "How the program reads YAML; by default the dialect says it, else the code around the config.",
    "unknown-keys": "What a key does that the class named by `schema` does not have: fatal, the program stops, or ignored. By default the code that loads the file tells.",
    "keys": "Where the project keeps a concept: its name, and one key path or several (`a.b`, `jobs[].size`, `*.size`).",
    "tensorflow": "The TensorFlow that the program is meant for: a release such as 2.15, a requirement such as >=2.16,<2.19, requirements (what the project's requirement files ask for), or auto (these, and where they say nothing the TensorFlow installed in the project's virtual environment or beside cfgfix).",
    "hardware": "The machine that the configs are meant for: auto, none, all, a profile such as rtx4090x2,cpus=16,ram=64, or a file that `cfgfix hardware --save` wrote. As a table: `default` and `profiles`, machines by name.",
    "select": "The rules that are run: ids, names, families or ALL.",
    "ignore": "Rules that are not run, whatever `select` says.",
    "extend-select": "Rules that are run besides those of `select`.",
    "per-file-ignores": "Rules that are silent in some files: a pattern for names or paths, and the rules.",
    "severity": "How severe the findings of a rule or family are.",
    "fail-on": "The least severity that makes the exit code 1.",
    "preview": "Whether rules in preview are run.",
    "rules": "Folders with rules of the project's own.",
    "show-skipped": "Whether skipped rules and files are told, with the reason.",
    "force-exclude": "Whether excluded files are left out even where a command line names them.",
}
"""What each setting means; a test holds the names to those that the reader knows."""


def schema(*, names: bool = True) -> dict[str, Any]:
    """Return the JSON Schema of a cfgfix.toml, and of `[tool.cfgfix]`.

    Args:
        names: Whether the rules, concepts and dialects that this version knows are listed, so that an editor offers them.
    """
    plain = Settings()
    properties: dict[str, Any] = {}
    for name in NAMES:
        about: dict[str, Any] = {"description": TEXTS[name], **_shape(name, names=names)}
        default = getattr(plain, name.replace("-", "_"))
        if default is not None and default != {}:
            about["default"] = list(default) if isinstance(default, tuple) else default
        properties[name] = about
    return {
        "$schema": DIALECT,
        "title": "Settings of cfgfix",
        "description": "cfgfix.toml, or [tool.cfgfix] in pyproject.toml.",
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
        "definitions": {
            "texts": {
                "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
            },
            "rule": _offered(_selectors() if names else ()),
            "rules": {
                "anyOf": [
                    {"$ref": "#/definitions/rule"},
                    {"type": "array", "items": {"$ref": "#/definitions/rule"}},
                ]
            },
        },
    }


def _shape(name: str, *, names: bool) -> dict[str, Any]:
    if name in ("select", "ignore", "extend-select"):
        return {"allOf": [{"$ref": "#/definitions/rules"}]}
    if name == "per-file-ignores":
        return {"type": "object", "additionalProperties": {"$ref": "#/definitions/rules"}}
    if name == "severity":
        return {
            "type": "object",
            "propertyNames": {"$ref": "#/definitions/rule"},
            "additionalProperties": {"enum": [severity.label for severity in Severity]},
        }
    if name == "keys":
        concepts = sorted({concept for dialect in dialects().values() for concept in dialect.concepts})
        return {
            "type": "object",
            **({"propertyNames": {"enum": concepts}} if names else {}),
            "additionalProperties": {"$ref": "#/definitions/texts"},
        }
    if name == "hardware":
        return {
            "anyOf": [
                {"type": "string"},
                {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {
                        "default": {"description": "The machine that is meant.", "type": "string"},
                        "profiles": {
                            "description": "Machines by name; `--hardware NAME` picks one, `--hardware all` checks each.",
                            "type": "object",
                            "additionalProperties": {"type": "string"},
                        },
                    },
                },
            ]
        }
    if name == "dialect":
        return _offered(sorted(dialects()) if names else ())
    if name == "tensorflow":
        return {"type": "string", "pattern": f"^{SETTING}$"}
    if name == "loader":
        return {"enum": sorted(LOADERS)}
    if name == "unknown-keys":
        return {"enum": list(UNKNOWN_KEYS)}
    if name == "fail-on":
        return {"enum": list(FAIL_ON)}
    default = getattr(Settings(), name.replace("-", "_"))
    if isinstance(default, bool):
        return {"type": "boolean"}
    if isinstance(default, tuple):
        return {"allOf": [{"$ref": "#/definitions/texts"}]}
    return {"type": "string"}


def _offered(names: Sequence[str]) -> dict[str, Any]:
    """Return the shape of any text, with names that an editor may offer."""
    return {"anyOf": [{"enum": list(names)}, {"type": "string"}]} if names else {"type": "string"}


def _selectors() -> list[str]:
    rules = builtin().rules
    return [
        "ALL",
        *sorted({rule.family for rule in rules}),
        *(rule.id for rule in rules),
        *(rule.name for rule in rules),
    ]


def page() -> str:
    """Return the table of all settings for the documentation, in Markdown."""
    plain = Settings()
    rows = [
        "# Settings",
        "",
        "<!-- made by tools/settings.py from cfgfix/settings_schema.py; a test holds it to what the reader accepts -->",
        "",
        "`[tool.cfgfix]` in `pyproject.toml`, or the same names at the top of `cfgfix.toml`. Every file is judged by the nearest settings",
        "file at or above it; settings files are not merged. `cfgfix check --show-settings [PATHS]` prints those in force, `--isolated` reads",
        "none, `--config FILE` names one. A name that does not exist is an error that says which one was meant.",
        "",
        "An editor completes and checks them by [settings.schema.json](settings.schema.json) (`cfgfix schema --settings` prints it).",
        "",
        "| setting | default | meaning |",
        "|---|---|---|",
    ]
    for name in NAMES:
        default = getattr(plain, name.replace("-", "_"))
        rows.append(f"| `{name}` | {_shown(default)} | {TEXTS[name].replace('|', '/')} |")
    return "\n".join(rows) + "\n"


def _shown(value: object) -> str:
    import json

    if value is None or value in ({}, ()):
        return ""
    if isinstance(value, tuple):
        return f"`{json.dumps(list(value))}`"
    return f"`{json.dumps(value)}`"
