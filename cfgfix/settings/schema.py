"""The settings as a JSON Schema and as a table for people, both made from what the settings' reader accepts."""

from __future__ import annotations

from collections.abc import Sequence

from cfgfix.code.tensorflow.requirement import SETTING
from cfgfix.config.dialects.dialect import dialects
from cfgfix.config.loaders.scalars import LOADERS
from cfgfix.rules.catalogue import builtin
from cfgfix.settings.table import LISTS, MACHINE, SETTINGS, SWITCH, TEXTS, WORDS, Setting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DIALECT = "http://json-schema.org/draft-07/schema#"
"""Draft 7: what editors for TOML (taplo, Even Better TOML) read."""


def schema(*, names: bool = True) -> dict[str, Any]:
    """Return the JSON Schema of a cfgfix.toml, and of `[tool.cfgfix]`.

    Args:
        names: Whether the rules, concepts and dialects that this version knows are listed, so that an editor offers them.
    """
    properties: dict[str, Any] = {}
    for setting in SETTINGS:
        about: dict[str, Any] = {"description": setting.help, **_shape_of_setting(setting, names=names)}
        if setting.default is not None and setting.default != {}:
            about["default"] = list(setting.default) if setting.kind == TEXTS else setting.default
        properties[setting.name] = about
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
            "rule": _text_with_offers(_rule_selectors() if names else ()),
            "rules": {
                "anyOf": [
                    {"$ref": "#/definitions/rule"},
                    {"type": "array", "items": {"$ref": "#/definitions/rule"}},
                ]
            },
        },
    }


def _shape_of_setting(setting: Setting, *, names: bool) -> dict[str, Any]:
    if setting.kind == TEXTS:
        return {"allOf": [{"$ref": f"#/definitions/{'rules' if setting.holds == 'rule' else 'texts'}"}]}
    if setting.kind == LISTS:
        if setting.holds == "rule":
            return {"type": "object", "additionalProperties": {"$ref": "#/definitions/rules"}}
        concepts = sorted({concept for dialect in dialects().values() for concept in dialect.concepts})
        return {
            "type": "object",
            **({"propertyNames": {"enum": concepts}} if names else {}),
            "additionalProperties": {"$ref": "#/definitions/texts"},
        }
    if setting.kind == WORDS:
        return {
            "type": "object",
            "propertyNames": {"$ref": "#/definitions/rule"},
            "additionalProperties": {"enum": list(setting.choices)},
        }
    if setting.kind == MACHINE:
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
    if setting.kind == SWITCH:
        return {"type": "boolean"}
    if setting.choices:
        return {"enum": list(setting.choices)}
    if setting.holds == "dialect":
        return _text_with_offers(sorted(dialects()) if names else ())
    if setting.holds == "release":
        return {"type": "string", "pattern": f"^{SETTING}$"}
    if setting.holds == "loader":
        return {"enum": sorted(LOADERS)}
    return {"type": "string"}


def _text_with_offers(names: Sequence[str]) -> dict[str, Any]:
    """Return the JSON Schema of any text, with names for an editor to offer."""
    return {"anyOf": [{"enum": list(names)}, {"type": "string"}]} if names else {"type": "string"}


def _rule_selectors() -> list[str]:
    rules = builtin().rules
    return [
        "ALL",
        *sorted({rule.family for rule in rules}),
        *(rule.id for rule in rules),
        *(rule.name for rule in rules),
    ]


def page() -> str:
    """Return the table of all settings for the documentation, in Markdown."""
    rows = [
        "# Settings",
        "",
        "<!-- made by tools/settings.py from cfgfix/settings/table.py; a test holds it to what the reader accepts -->",
        "",
        "`[tool.cfgfix]` in `pyproject.toml`, or the same names at the top of `cfgfix.toml`. Every file is judged by the nearest settings",
        "file at or above it; settings files are not merged. `cfgfix check --show-settings [PATHS]` prints those in force, `--isolated` reads",
        "none, `--config FILE` names one. A name that does not exist is an error that says which one was meant.",
        "",
        "An editor completes and checks them by [settings.schema.json](settings.schema.json) (`cfgfix schema --settings` prints it).",
        "",
        "| setting | default | option | meaning |",
        "|---|---|---|---|",
    ]
    for setting in SETTINGS:
        flag = f"`{setting.flag}`" if setting.flag else ""
        rows.append(
            f"| `{setting.name}` | {_default_text(setting.default)} | {flag} | {setting.help.replace('|', '/')} |"
        )
    return "\n".join(rows) + "\n"


def _default_text(value: object) -> str:
    import json

    if value is None or value in ({}, ()):
        return ""
    if isinstance(value, tuple):
        return f"`{json.dumps(list(value))}`"
    return f"`{json.dumps(value)}`"
