"""A recommendation as a YAML block: every value with its reason above it."""

from __future__ import annotations

import textwrap
from typing import Any

from cfgfix.advice.recommend import Advice, Choice, Omission
from cfgfix.core.findings import KeyPath, format_key_path

WIDTH = 100


def render(advice: Advice, heading: list[str]) -> str:
    """Return a recommendation as YAML text that every loader reads alike.

    Args:
        advice: The recommended values.
        heading: Lines for the top, without the comment sign.
    """
    tree: dict[str, Any] = {}
    for item in advice.choices:
        _insert_at_path(tree, item.path, item)
    for left in advice.left_out:
        _insert_at_path(tree, left.path, left)
    lines = [line for text in heading for line in _comment_lines(text, "")]
    lines.append("")
    lines += _mapping_lines(tree, "")
    return "\n".join(lines).rstrip("\n") + "\n"


def _insert_at_path(tree: dict[str, Any], path: KeyPath, item: Choice | Omission) -> None:
    for step in path[:-1]:
        inner = tree.setdefault(str(step), {})
        if not isinstance(inner, dict):
            return
        tree = inner
    tree.setdefault(str(path[-1]), item)


def _mapping_lines(tree: dict[str, Any], indent: str) -> list[str]:
    lines: list[str] = []
    for key, item in tree.items():
        if isinstance(item, dict):
            if any(_has_choice(inner) for inner in item.values()):
                lines += [f"{indent}{_yaml_key(key)}:", *_mapping_lines(item, indent + "  ")]
            else:
                # A section with nothing but comments would load as null.
                lines += [
                    line for inner in _left_out_items(item) for line in _left_out_comment(inner, indent)
                ]
        elif isinstance(item, Choice):
            lines += _comment_lines(f"{item.reason} [{item.basis}]", indent)
            lines.append(f"{indent}{_yaml_key(key)}: {_yaml_scalar(item.value)}")
        else:
            lines += _left_out_comment(item, indent)
    return lines


def _left_out_comment(item: Omission, indent: str) -> list[str]:
    return _comment_lines(f"{format_key_path(item.path)} is left out: {item.reason}", indent)


def _has_choice(item: Any) -> bool:
    return any(map(_has_choice, item.values())) if isinstance(item, dict) else isinstance(item, Choice)


def _left_out_items(tree: dict[str, Any]) -> list[Omission]:
    found: list[Omission] = []
    for item in tree.values():
        if isinstance(item, dict):
            found += _left_out_items(item)
        elif isinstance(item, Omission):
            found.append(item)
    return found


def _comment_lines(text: str, indent: str) -> list[str]:
    clean = " ".join(text.split())
    return textwrap.wrap(
        clean,
        WIDTH,
        initial_indent=f"{indent}# ",
        subsequent_indent=f"{indent}# ",
        break_long_words=False,
        break_on_hyphens=False,
    ) or [f"{indent}#"]


def _yaml_key(text: str) -> str:
    return (
        text if text.replace("_", "").replace("-", "").isalnum() and text[0].isalpha() else _quoted_text(text)
    )


def _yaml_scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    text = str(value)
    return text if text.isidentifier() else _quoted_text(text)


def _quoted_text(text: str) -> str:
    import json

    return json.dumps(text)
