"""What a terminal, a log or a reader of JSON would act on never comes through; all else does."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfgfix.visible import json_text, no_commands, visible, visible_data, visible_lines

ACTING = [
    *map(chr, range(0x20)),
    *map(chr, range(0x7F, 0xA0)),
    *"\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
    "\ud800",
    "\udc80",
    "\udcff",
    "\udfff",
]
ANY = st.text(st.characters(exclude_categories=()) | st.sampled_from(ACTING))


@pytest.mark.parametrize("char", ACTING)
def test_each_is_spelled_out(char):
    assert visible(f"a{char}b").isascii()
    assert visible(f"a{char}b").isprintable()
    assert visible(f"a{char}b") != "ab"
    assert char not in json_text({char: [char]})
    if char not in "\n\t":
        assert char not in visible_lines(char)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\n::error::b", r"a\n::error::b"),
        ("\x1b[31m\x9b0m", r"\x1b[31m\x9b0m"),
        ("bad\udcff\udc80.yaml", r"bad\xff\x80.yaml"),
        ("\ud83d", r"\ud83d"),
        ("a\u202eb", r"a\u202eb"),
        ("نام\u200cی 名前 é 😀 \\x1b", "نام\u200cی 名前 é 😀 \\x1b"),
    ],
)
def test_texts(text, shown):
    assert visible(text) == shown
    assert visible_data({text: (text, 1, None)}) == {shown: [shown, 1, None]}


@given(ANY)
def test_any_text(text):
    shown = visible(text)
    assert not set(shown) & set(ACTING)
    assert visible(shown) == shown
    shown.encode("utf-8")
    json_text(text).encode("utf-8")
    assert not set(json_text([text], indent=2)) & (set(ACTING) - {"\n"})
    assert json.loads(json_text(text, exact=True)) == text


@given(st.text())
def test_json_is_exact_where_a_text_can_be_written(text):
    assert json.loads(json_text(text)) == text


def test_json_of_bytes_that_are_no_text():
    assert json.loads(json_text("a\udcff")) == r"a\xff"
    assert json.loads(json_text("a\udcff", exact=True)) == "a\udcff"


def test_commands_to_the_keeper_of_a_log():
    text = "::error::a\n  ::error::b\nx ##[error]c ##vso[task.setvariable]d\nfine::e\n"
    assert no_commands(text, runner=False) == "./" + text
    runner = no_commands(text, runner=True)
    assert not any(line.lstrip().startswith("::") for line in runner.splitlines())
    assert "##[" not in runner
    assert "##vso[" not in runner
    assert runner.endswith("fine::e\n")
    assert no_commands("a: b\n", runner=True) == "a: b\n"
