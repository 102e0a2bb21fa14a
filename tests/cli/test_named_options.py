"""What messages advise exists: options of the command that says it, commands, and settings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from cfgfix.cli import app
from cfgfix.settings.table import SETTINGS

OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z]\b")
COMMAND = re.compile(r"`cfgfix ([a-z][a-z-]*)([^`]*)`")
SETTING = re.compile(r"\[tool\.cfgfix\.([a-z][a-z-]*)")
SAID_BY = {
    "diagnose": ("cfgfix/cli/diagnose.py", "cfgfix/diagnose/checks.py", "cfgfix/output/diagnosis.py"),
    "profile": ("cfgfix/cli/profile.py", "cfgfix/measure/*.py", "cfgfix/output/profile.py"),
    "tune": ("cfgfix/cli/tune.py", "cfgfix/diagnose/search.py", "cfgfix/output/search.py"),
}


def options_of(command: click.Command) -> set[str]:
    """Return the options of a command and of those below it."""
    found = {"--help"} | {name for item in command.params for name in (*item.opts, *item.secondary_opts)}
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            found |= options_of(below)
    return found


def command_of(name: str) -> click.Command | None:
    return app.cli.get_command(click.Context(app.cli), name)


def texts(root: Path, *patterns: str) -> Iterator[tuple[str, str]]:
    """Yield the string literals of modules, and the other files whole, each with its place."""
    for pattern in patterns:
        for path in sorted(root.glob(pattern)):
            if path.suffix != ".py":
                yield str(path), path.read_text(encoding="utf-8")
                continue
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.JoinedStr):
                    parts = [part.value if isinstance(part, ast.Constant) else "X" for part in node.values]
                    yield f"{path}:{node.lineno}", "".join(map(str, parts))
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield f"{path}:{node.lineno}", node.value


@pytest.mark.parametrize("name", SAID_BY)
def test_a_command_advises_only_its_own_options(name: str, repo_root: Path) -> None:
    command = command_of(name)
    assert command is not None
    own, others = options_of(command), options_of(app.cli)
    wrong = []
    for place, text in texts(repo_root, *SAID_BY[name]):
        # An option behind the name of another command is that one's.
        elsewhere = "cfgfix " in text or text.strip() in ("--unsafe-fixes", "--set")
        wrong += [
            (place, item) for item in OPTION.findall(text) if item not in (others if elsewhere else own)
        ]
    assert wrong == []


def test_commands_and_settings_that_are_named_exist(repo_root: Path) -> None:
    wrong = []
    settings = {setting.name for setting in SETTINGS}
    for place, text in texts(repo_root, "cfgfix/**/*.py", "rules/**/*.yaml", "docs/**/*.md", "README.md"):
        wrong += [(place, name) for name in SETTING.findall(text) if name not in settings]
        for name, rest in COMMAND.findall(text):
            command = command_of(name)
            if command is None:
                wrong.append((place, f"cfgfix {name}"))
            else:
                wrong += [
                    (place, option) for option in OPTION.findall(rest) if option not in options_of(command)
                ]
    assert wrong == []
