"""Every format has its entry, its page and its test; a new one cannot come without them."""

from __future__ import annotations

import ast
import json
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from cfgfix.cli.options import TABLE
from cfgfix.core.terminal import Paint
from cfgfix.lint.runner import Request, check
from cfgfix.output.formats import FORMATS, PLAIN, Style
from cfgfix.settings.reader import Settings

ROOT = Path(__file__).resolve().parents[2]
OUTPUT = ROOT / "cfgfix" / "output"
sys.path.insert(0, str(ROOT / "tools"))

import make_docs


@pytest.fixture
def report(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.yaml").write_text("training:\n  learning_rate: 1e-4\n", encoding="utf-8")
    return check(
        Request(
            ("config.yaml",),
            settings=Settings(root=str(tmp_path), select=("YML001",), dialect="myxtts"),
            edits=True,
        )
    )


def text(said):
    first, *others = said.splitlines()
    assert first.startswith("config.yaml:2:18: error YML001")
    assert any("learning_rate: 1e-4" in line for line in others)


def concise(said):
    assert said.splitlines()[0].startswith("config.yaml:2:18: error YML001")
    assert "| " not in said


def json_whole(said):
    (file,) = json.loads(said)["files"]
    assert [(item["rule"], item["line"]) for item in _places(file["findings"])] == [("YML001", 2)]


def json_lines(said):
    rows = [json.loads(line) for line in said.splitlines()]
    assert [(item["rule"], item["line"]) for item in _places(rows)] == [("YML001", 2)]


def _places(findings):
    return [{"rule": item["rule"], "line": item["location"]["line"]} for item in findings]


def sarif(said):
    (run,) = json.loads(said)["runs"]
    (result,) = run["results"]
    assert result["ruleId"] == "YML001"
    assert result["fixes"], "the edits were asked for"


def github(said):
    assert said.startswith("::error file=config.yaml,line=2,col=18,")


def gitlab(said):
    (issue,) = json.loads(said)
    assert issue["location"]["path"] == "config.yaml"


def junit(said):
    (failure,) = ET.fromstring(said).iter("failure")
    assert "config.yaml:2:18" in failure.text


CHECKS = {
    "text": text,
    "concise": concise,
    "json": json_whole,
    "jsonl": json_lines,
    "sarif": sarif,
    "github": github,
    "gitlab": gitlab,
    "junit": junit,
}
"""What the report of one finding looks like, by format."""


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_tells_the_finding(report, name):
    assert name in CHECKS, f"write what a report looks like as {name}"
    CHECKS[name](FORMATS[name].formatter()(report, PLAIN))


@pytest.mark.parametrize("name", FORMATS)
def test_only_formats_for_people_have_a_style(report, name):
    formatter = FORMATS[name].formatter()
    styled = formatter(report, Style(Paint(on=True), show_skipped=True))
    assert (styled != formatter(report, PLAIN)) is FORMATS[name].for_people


def test_every_format_has_its_section_on_the_page():
    page = make_docs.output_page()
    assert [name for name in FORMATS if f"\n## {name}\n" not in page] == []


def test_every_format_is_named_by_the_help():
    (row,) = [row for row in TABLE if row[0] == "output_format"]
    assert [name for name in FORMATS if name not in row[-1]] == []


def test_every_formatter_has_its_entry():
    """What takes a report and a style is a formatter, and stands in the registry under its name."""
    written = {
        (f"cfgfix.output.{path.stem}", node.name)
        for path in OUTPUT.glob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
        and [ast.unparse(arg.annotation) for arg in node.args.args if arg.annotation] == ["Report", "Style"]
        and node.returns is not None
        and ast.unparse(node.returns) == "str"
    }
    assert written == {(entry.module, entry.function) for entry in FORMATS.values()}
    assert all(name == entry.name for name, entry in FORMATS.items())
