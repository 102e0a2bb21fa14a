from __future__ import annotations

import re
import sys

import pytest
import yaml

from cfgfix.settings.reader import build

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@pytest.fixture(scope="module")
def text(repo_root):
    return (repo_root / "docs" / "workflows.md").read_text(encoding="utf-8")


def test_it_shows_the_transcript_that_the_hooks_are_held_to(text, repo_root):
    told = (repo_root / "docs" / "transcripts" / "pre-commit.txt").read_text(encoding="utf-8").rstrip("\n")
    assert f"```console\n{told}\n```" in text


def test_it_names_the_hooks_there_are(text, repo_root):
    hooks = yaml.safe_load((repo_root / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert {hook["id"] for hook in hooks} == set(re.findall(r"^\| `(cfgfix[\w-]*)` \|", text, re.MULTILINE))
    shown = yaml.safe_load(re.search(r"```yaml\n(repos:.*?)```", text, re.DOTALL).group(1))
    assert shown["repos"][0]["hooks"][0]["id"] in {hook["id"] for hook in hooks}


def test_its_settings_are_settings(text):
    tables = [tomllib.loads(block) for block in re.findall(r"```toml\n(.*?)```", text, re.DOTALL)]
    ours = [table["tool"]["cfgfix"] for table in tables if "tool" in table]
    assert ours
    for table in ours:
        build(table, "pyproject.toml")


def test_its_links_lead_somewhere(text, repo_root):
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (repo_root / "docs" / target).exists(), target
