"""Files that do not load, and tabs that only some parsers take."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pitfall_support import find, make_context, names, only, replaced
from ruamel.yaml import YAML

from cfgfix.config.document.compose import compose
from cfgfix.config.values.broken import MAX_CODE_POINTS, structural_tabs
from cfgfix.core.source_file import SourceFile


def loads_everywhere(text: str) -> object:
    """What PyYAML's own parser makes of a text, after ruamel.yaml has read it too."""
    YAML(typ="safe", pure=True).load(text)
    return yaml.safe_load(text)


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("a:\n\tb: 1\n", "a:\n  b: 1\n"),
        ("a:\n    b: 1\n\tc: 2\n", "a:\n    b: 1\n    c: 2\n"),
        ("a:\n  b: 1\n  \tc: 2\n", "a:\n  b: 1\n  c: 2\n"),
        ("a:\r\n\tb:\r\n\t\tc: 1\r\n", "a:\r\n  b:\r\n    c: 1\r\n"),
        ("a:\n\t- b\n\t- c\n", "a:\n  - b\n  - c\n"),
        ("a:\n  b: 1\n\t\n  c: 2\n", "a:\n  b: 1\n\n  c: 2\n"),
        ("\t# head\na: 1\n", "  # head\na: 1\n"),
        ("a:\n\tb: |\n\t\tx\n", "a:\n  b: |\n    x\n"),
        ("l:\n-\ta\n", "l:\n- a\n"),
        ("a:\n\tb: @x\n", "a:\n  b: '@x'\n"),
        ("a:\n\tb:\t1\t\n", "a:\n  b: 1\n"),
    ],
)
def test_tabs_in_the_indentation(text: str, after: str) -> None:
    hit = only(find(text))
    assert replaced(text, hit) == after
    loads_everywhere(after)


def test_a_tab_that_can_be_read_in_two_ways_is_not_replaced_unasked() -> None:
    assert only(find("a:\n  b:\n\tc: 1\n")).safety == "unsafe"
    assert only(find("a:\n\tb: 1\n")).safety == "safe"


def test_a_file_with_further_faults_has_no_fix() -> None:
    hit = only(find("a:\n\tb: 1\nc: [1\n"))
    assert hit.changes == ()
    assert "another fault" in str(hit.no_fix)


def test_a_large_file_is_told_but_not_repaired() -> None:
    hit = only(find("a:\n\tb: 1\n" + "# long\n" * (MAX_CODE_POINTS // 7 + 1)))
    assert hit.changes == ()
    assert "too large" in str(hit.no_fix)


@pytest.mark.parametrize(
    ("text", "after", "safety"),
    [
        ("a: @x\n", "a: '@x'\n", "safe"),
        ("a: `it's` # why\n", "a: '`it''s`' # why\n", "safe"),
        ("a: %5\nb: [@c, {d: `e}]\n", "a: '%5'\nb: ['@c', {d: '`e'}]\n", "safe"),
        ("- @x: 1\n", "- '@x': 1\n", "safe"),
        ("a: @x: y\n", "a: '@x: y'\n", "safe"),
        ("a: *.tfrecord\n", "a: '*.tfrecord'\n", "safe"),
        ("a: *x/y\n", "a: '*x/y'\n", "safe"),
        ("a: *x\n", "a: '*x'\n", "unsafe"),
        ("a: @x, y\n", "a: '@x, y'\n", "safe"),
    ],
)
def test_special_starts(text: str, after: str, safety: str) -> None:
    hit = only(find(text))
    assert replaced(text, hit) == after
    assert hit.safety == safety
    loads_everywhere(after)


@pytest.mark.parametrize(
    ("text", "after", "safety"),
    [
        ('a: "C:\\data"\n', "a: 'C:\\data'\n", "safe"),
        ('a: "\\d+"\nb: ["\\w\'s"]\n', "a: '\\d+'\nb: ['\\w''s']\n", "safe"),
        ('a: "\\d\\n"\n', "a: '\\d\\n'\n", "unsafe"),
        ('a: "x\\\\y\\z"\n', "a: 'x\\y\\z'\n", "safe"),
    ],
)
def test_escapes_that_yaml_does_not_have(text: str, after: str, safety: str) -> None:
    found = find(text)
    assert names(found) == ["double_quoted_backslash"]
    assert replaced(text, found[0][1]) == after
    assert found[0][1].safety == safety
    loads_everywhere(after)


@pytest.mark.parametrize(
    "text",
    ["a: [1\n", "a: b: c\n", "a: {{ x }}\n", "b: !include x.yaml\nc: *y\n", "a: 'x\n", "%x: 1\n"],
)
def test_other_faults_are_not_a_pitfall(text: str) -> None:
    assert find(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "a:\t1\n",
        "a: 1\t\n",
        "a: 1\t# c\n",
        "a\t: 1\n",
        "a: &x\t1\n",
        "a: {b:\t1}\n",
        "a: x\ty\n",
        "a:\t\n  b: 1\n",
        "---\t\na: 1\n",
    ],
)
def test_tabs_that_libyaml_takes(text: str) -> None:
    with pytest.raises(yaml.YAMLError):
        yaml.safe_load(text)
    found = find(text)
    assert names(found) == ["tab_indentation"]
    loads_everywhere(replaced(text, found[0][1]))


def test_a_tab_inside_of_a_text_is_not_replaced_unasked() -> None:
    assert only(find("a: x\ty\n")).safety == "unsafe"
    assert only(find("a:\tx\n")).safety is None


def test_ruamel_takes_tabs_in_brackets() -> None:
    assert find("a: [1,\t2]\n", "ruamel") == []
    assert names(find("a: [1,\t2]\n")) == ["tab_indentation"]
    assert names(find("a: [1,\t2]\t\n", "ruamel")) == ["tab_indentation"]


VALID = (
    "a: 1\nb: x y # c\n",
    "a: [1, 'x', {b: \"y\"}]# c\nb: ]#\n",
    "a:\n  - b\n  - 'c d'  # e\n\nf: |\n  x y\n    z\n",
    "---\n&x a: !t b\nc: >-\n  d\n\n  e\n# f g\n",
    'a: "b\n  c"\nd: e\n  f\n',
)


@given(st.sampled_from(VALID), st.lists(st.integers(min_value=0, max_value=60), min_size=1, max_size=3))
def test_tabs_are_told_exactly_where_the_parser_of_safe_load_refuses_them(
    text: str, places: list[int]
) -> None:
    for place in places:
        at = place % (len(text) + 1)
        text = text[:at] + "\t" + text[at:]
    context = make_context(text)
    if context.document.problem is not None:
        return
    try:
        list(yaml.compose_all(text, Loader=yaml.SafeLoader))
        refused = False
    except yaml.YAMLError:
        refused = True
    assert bool(structural_tabs(context.document)) == refused


@given(
    st.sampled_from(VALID),
    st.lists(
        st.tuples(st.integers(min_value=0, max_value=60), st.sampled_from(["\t", "@", "`", "*", "\\d", "%"])),
        min_size=1,
        max_size=3,
    ),
)
def test_what_is_offered_for_a_broken_file_loads(text: str, damage: list[tuple[int, str]]) -> None:
    for place, piece in damage:
        at = place % (len(text) + 1)
        text = text[:at] + piece + text[at:]
    if compose(SourceFile.from_text(text)).problem is None:
        return
    for _, hit in find(text):
        if hit.changes:
            after = replaced(text, hit)
            assert compose(SourceFile.from_text(after)).problem is None
