"""A check holds the lines that it shows, not the texts they stand in; what it says is the same."""

from __future__ import annotations

import importlib
import re
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfgfix.code import finding_maker
from cfgfix.core.findings import Location
from cfgfix.core.records import replace
from cfgfix.core.source_file import excerpt
from cfgfix.lint import runner as engine
from cfgfix.output import text

ROOT = Path(__file__).resolve().parents[2]
FORMS = ("json", "github", "gitlab", "junit")


@pytest.fixture
def request_of(monkeypatch, tmp_path):
    monkeypatch.setenv("CFGFIX_CACHE_DIR", "")
    # Beside the package itself a check would look through all of it for what reads the configs.
    for name in ("configs", "examples"):
        shutil.copytree(ROOT / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return engine.Request(("configs", "examples"))


def said(report):
    rendered = [importlib.import_module(f"cfgfix.output.{form}").render(report) for form in FORMS]
    return [text.render(report), *rendered]


def test_a_check_that_keeps_less_says_the_same(request_of):
    full = engine.check(request_of)
    lean = engine.check(replace(request_of, excerpts=True))
    assert len(full.findings()) > 10
    assert {finding.location.path.rpartition(".")[2] for finding in full.findings()} >= {"yaml", "py"}
    assert said(lean) == said(full)
    for whole, part in zip(full.files, lean.files, strict=True):
        assert (whole.text is None) is (part.text is None)
        if whole.text is not None:
            shown = {
                place.line
                for item in (*part.findings, *part.hidden)
                for place in (item.location, *item.related)
                if place.path == part.path
            }
            kept = {number for number, row in enumerate(part.text.split("\n"), 1) if row}
            assert kept <= shown
            assert len(part.text) < len(whole.text)


def test_a_text_that_was_let_go_is_read_again(request_of, monkeypatch):
    usual = engine.check(request_of)
    monkeypatch.setattr(finding_maker, "MOST_TEXT", 0)
    assert said(engine.check(request_of)) == said(usual)


def place(path, line):
    return Location(path, 0, 0, line, 1, line, 1)


class Found:
    def __init__(self, location, related=()):
        self.location, self.related = location, related


@given(
    st.text(alphabet="ab\r\n\u2028", max_size=40),
    st.lists(st.integers(1, 12), max_size=4),
    st.integers(1, 12),
)
def test_the_lines_keep_their_numbers(whole, lines, elsewhere):
    rows = re.split("\r\n|\r|\n", whole)
    findings = [Found(place("x", line), (place("y", elsewhere),)) for line in lines]
    kept = excerpt(whole, "x", findings).split("\n")
    for number, row in enumerate(rows, 1):
        if number in lines:
            assert kept[number - 1] == row
        elif number <= len(kept):
            assert kept[number - 1] == ""
    assert len(kept) <= max([1, *lines])
