"""Repeated keys: what a program sees stays as it is under every safe fix, the order of the keys included."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from cfgfix.config.document.compose import compose
from cfgfix.config.document.language import Yaml
from cfgfix.config.loaders.scalars import LOADERS
from cfgfix.core.fix_loop import Fixed, fix_file
from cfgfix.core.source_file import SourceFile
from cfgfix.lint.config_cases import case_check
from cfgfix.rules.catalogue import read_folder

RULE = next(
    rule
    for rule in read_folder(str(Path(__file__).resolve().parents[3] / "rules" / "yaml"))
    if rule.check == "yaml.duplicate_key"
)
VALUES = ["1", "2", "1.0", "'1'", "one", "", "null", "[1, 2]", "[1, 3]", "{x: 1}", "{x: 1, y: 2}", "{}"]
BLOCKS = [
    "\n{i}  x: 1",
    "\n{i}  x: 1\n{i}  y: 2",
    "\n{i}  - 1\n{i}  - 2",
    " |\n{i}  text",
    " |\n{i}  more",
    " >-\n{i}  text\n",
]


def fixed(text: str, *, unsafe: bool = False, loader: str = "pyyaml") -> Fixed:
    check = case_check(RULE, {"dialect": "generic", "loader": loader})
    language = Yaml(compose(SourceFile.from_bytes(text.encode(), "a.yaml")), LOADERS[loader])
    return fix_file("a.yaml", text, check, language, unsafe=unsafe)


def text_of(outcome: Fixed, text: str) -> str:
    """Return the text after the fixes."""
    return outcome.texts.get("a.yaml", text)


def seen(text: str) -> Any:
    """Return what PyYAML loads, with the order of keys and the types of values."""

    def of(value: Any) -> Any:
        if isinstance(value, dict):
            return [(of(key), of(item)) for key, item in value.items()]
        return [of(item) for item in value] if isinstance(value, list) else (type(value).__name__, value)

    return of(yaml.safe_load(text))


@st.composite
def mappings(draw: st.DrawFn) -> str:
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    keys = st.sampled_from(["a", "b", "c", "d"])
    if draw(st.integers(0, 4)) == 0:
        gap = draw(st.sampled_from([", ", ",", " , ", ",\n  "]))
        entries = draw(st.lists(st.tuples(keys, st.sampled_from(VALUES)), min_size=1, max_size=7))
        return (
            "{"
            + gap.join(f"{key}: {value}".rstrip() if value else f"{key}: null" for key, value in entries)
            + "}\n"
        )
    indent = "  " if draw(st.booleans()) else ""
    lines = ["top:"] if indent else []
    for key in draw(st.lists(keys, min_size=1, max_size=7)):
        value = draw(
            st.one_of(st.sampled_from(VALUES).map(lambda text: f" {text}".rstrip()), st.sampled_from(BLOCKS))
        )
        comment = (
            draw(st.sampled_from(["", "", "  # why"]))
            if not value.startswith((" |", " >")) and "\n" not in value
            else ""
        )
        above = draw(st.sampled_from(["", "", "", f"{indent}# about\n", "\n"]))
        lines.append(above + f"{indent}{key}:" + value.replace("{i}", indent) + comment)
    text = "\n".join(lines) + draw(st.sampled_from(["\n", "\n", ""]))
    return text.replace("\n", newline)


@given(mappings())
@settings(max_examples=200, deadline=None)
def test_a_safe_fix_keeps_what_a_program_sees(text: str) -> None:
    outcome = fixed(text)
    assert seen(text_of(outcome, text)) == seen(text)
    assert not outcome.cycles
    assert [
        refused.reason
        for refused in outcome.refused.get("a.yaml", ())
        if "would see another" in refused.reason
    ] == []


@given(mappings())
@settings(max_examples=60, deadline=None)
def test_an_unsafe_fix_keeps_every_value(text: str) -> None:
    before, after = yaml.safe_load(text), yaml.safe_load(text_of(fixed(text, unsafe=True), text))
    assert before == after


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("a: 1\nb: 2\na: 1\n", "a: 1\nb: 2\n"),
        ("a: 1\nb: 2\na: 3\n", "a: 3\nb: 2\n"),
        ("a: 1  # old\nb: 2\na: 3  # new\nc: 4\n", "a: 3  # new\nb: 2\nc: 4\n"),
        ("a: 1\nb: 2\nb: 3\na: 4\n", "a: 4\nb: 3\n"),
        ("- a: 1\n  b: 2\n  a: 3\n", "- a: 3\n  b: 2\n"),
        ("{a: 1, b: 2, a: 3}\n", "{a: 3, b: 2}\n"),
        ("s: {x: 1}\nb: 2\ns:\n  x: 1\n", "s: {x: 1}\nb: 2\n"),
    ],
)
def test_the_key_stays_at_its_first_place(text: str, after: str) -> None:
    assert text_of(fixed(text), text) == after


@pytest.mark.parametrize("loader", ["pyyaml", "ruamel", "omegaconf"])
def test_a_section_with_settings_of_its_own_is_never_removed(loader: str) -> None:
    text = "train:\n  epochs: 3\n  batch_size: 8\neval: 1\ntrain:\n  epochs: 5\n"
    outcome = fixed(text, unsafe=True, loader=loader)
    assert text_of(outcome, text) == text
    assert [finding.no_fix_reason for finding in outcome.findings["a.yaml"]] == [
        "the sections say different things; put them together by hand"
    ]


def test_an_alias_that_means_another_value_is_not_equal() -> None:
    text = "p: &x 1\na: *x\nq: &y 2\na: *y\n"
    assert seen(text_of(fixed(text), text)) == seen(text)


def test_the_note_counts_in_words_that_fit():
    outcome = fixed("a:\n  x: 1\n  y: 2\na:\n  x: 3\n")
    notes = [note for findings in outcome.findings.values() for finding in findings for note in finding.notes]
    assert notes == ["The values differ: a section with 2 entries, a section with 1 entry."]
