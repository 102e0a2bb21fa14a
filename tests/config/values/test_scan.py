"""The walk: mappings, tags, texts, several documents, and what holds for every input."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pitfall_support import find, make_context, names, new_text, only, replaced

from cfgfix.config.loaders.scalars import LOADERS
from cfgfix.config.values import CHECKS, scan
from cfgfix.config.values.readings import MAX_LENGTH, MAX_REMEMBERED, Readings
from cfgfix.core.edits import DeleteKey, RenameKey, SetValue


def test_one_finding_for_each_duplicated_key() -> None:
    hit = only(find("a: 1\na: 3\na: 4\nb: 2\n"))
    assert hit.at.key_path == ("a",)
    assert hit.at.start == 10
    assert [place.start for place in hit.related] == [0, 5]
    assert hit.changes == (DeleteKey(("a",), 0), DeleteKey(("a",), 1))


def test_keys_are_compared_as_a_dict_compares_them() -> None:
    assert names(find("1: a\n'1': b\n")) == []
    assert names(find("16: a\n0x10: b\n")) == ["duplicate_key"]
    assert names(find("a: 1\n'a': 2\n")) == ["duplicate_key"]
    assert find("a: 1\n'a': 2\n")[0][1].no_fix is None
    assert names(find("1: a\ntrue: b\n")) == ["duplicate_key"]
    assert names(find("yes: a\ntrue: b\n", "ruamel")) == []
    assert names(find("? [a]\n: 1\n? [a]\n: 2\n")) == []


def test_how_safe_the_removal_of_an_earlier_key_is() -> None:
    assert only(find("a: 1\na: 2\n")).safety == "safe"
    assert only(find("a: 1\na: 2\n", "ruamel")).safety == "unsafe"
    assert only(find("a: 1\na: 1\n", "ruamel")).safety == "safe"
    assert only(find("a: {x: 1}\na: {y: 2}\n")).safety == "unsafe"
    assert only(find("a: {x: 1}\na: {x: 1}\n")).safety == "safe"
    hit = only(find("a: {x: &k 1}\na: 2\nb: *k\n"))
    assert hit.changes == ()
    assert "anchor" in str(hit.no_fix)


def test_a_value_that_nothing_reads_is_not_looked_at() -> None:
    assert names(find("lr: 1e-4\nlr: 1.0e-4\n")) == ["duplicate_key"]
    assert names(find("a: {lr: 1e-4}\na: {x: 1}\n")) == ["duplicate_key"]
    assert names(find("lr: 1e-4\nlr: 1e-5\n")) == ["duplicate_key", "float_without_dot_is_str"]


def test_merge_keys() -> None:
    assert find("a: &a {x: 1}\nb: {<<: *a, x: 2}\n") == []
    assert names(find("a: &a {x: 1}\nb:\n  <<: *a\n  <<: *a\n")) == ["merge_key_pitfall"]
    text = "a: &a {x: 1}\nb: &b {y: 1}\nc:\n  <<: *a\n  z: 1\n  <<: *b  \nd: 1\n"
    hit = only(find(text))
    assert replaced(text, hit) == "a: &a {x: 1}\nb: &b {y: 1}\nc:\n  <<: [*a, *b]\n  z: 1\nd: 1\n"
    assert only(find("a: &a {x: 1}\nb:\n  <<: *a\n  <<: *a # why\n")).changes == ()


def test_a_merged_section_that_is_replaced() -> None:
    base = "a: &a {o: {lr: 1, name: x}}\n"
    assert only(find(base + "b: {<<: *a, o: {lr: 2}}\n")).severity == "info"
    assert only(find(base + "b: {<<: [*a], o: {lr: 2}}\n")).severity == "info"
    assert find(base + "b: {<<: *a, o: {lr: 2, name: y}}\n") == []
    assert find(base + "b: {<<: *a, o: {other: 2}}\n") == []
    assert find(base + "b: {<<: *a, o: 3}\n") == []


def test_python_tags() -> None:
    assert only(find("a: !!python/object/apply:os.system [x]\n")).severity is None
    assert only(find("a: !!python/tuple [1]\n")).severity == "warning"
    assert find("a: !!python/tuple [1]\n", "model-garden") == []
    assert only(find("!!python/object:x.Y {a: 1}\n")).at.key_path == ()
    assert only(find("a: !!python/name:os.system ''\n")).at.key_path == ("a",)
    assert only(find("- !!python/tuple []\n")).at.key_path == (0,)
    assert find("a: !python/tuple [1]\nb: !!set {c}\n") == []


def test_paths_in_double_quotes() -> None:
    assert new_text(only(find('p: "C:\\tmp"\n')).changes[0]) == "'C:\\tmp'"
    assert new_text(only(find('p: "C:\\\\data\\tmp"\n')).changes[0]) == "'C:\\data\\tmp'"
    assert new_text(only(find('log_dir: "runs\\new"\n')).changes[0]) == "'runs\\new'"
    for text in (
        'p: "a\\tb"',
        'prompt: "Q:\\n"',
        'log_dir: "a\\n"',
        'log_dir: "\\tmp"',
        'log_dir: "a b\\tc"',
        "p: 'C:\\tmp'",
        'p: "C:/tmp"',
    ):
        assert find(text) == [], text


def test_an_equals_sign() -> None:
    text = "a: =\n=: 1\nb: [=]\n"
    found = find(text)
    assert names(found) == ["special_plain_start"] * 2
    assert replaced(text, found[0][1]) == "a: '='\n=: 1\nb: [=]\n"


def test_each_document_of_a_file_is_looked_at() -> None:
    found = find("lr: 1e-4\n---\nlr: 1e-5\non: 1\n---\n- x\n")
    assert [(name, hit.at.key_path) for name, hit in found] == [
        ("float_without_dot_is_str", ("lr",)),
        ("float_without_dot_is_str", ("lr",)),
        ("bool_word_as_key", ("on",)),
    ]
    changes = [change for _, hit in found for change in hit.changes]
    assert [change.document for change in changes if isinstance(change, (SetValue, RenameKey))] == [0, 1, 1]


def test_anchored_values_are_looked_at_once_and_underlined_without_the_anchor() -> None:
    text = "a: &x 1e-4\nb: *x\nc: [*x, *x]\n"
    hit = only(find(text))
    assert text[hit.at.start : hit.at.end] == "1e-4"


def test_only_wanted_checks_answer() -> None:
    context = make_context("lr: 1e-4\non: 1\n")
    assert set(scan(context, frozenset({"bool_word_as_key"}))) == {"bool_word_as_key"}
    assert scan(context, frozenset()) == {}
    assert scan(context, frozenset({"no_such_check"})) == {}


def test_schema_and_dialect_are_asked_only_about_special_scalars() -> None:
    asked: list[object] = []
    text = "".join(
        f"key_{n}: {value}\n"
        for n, value in enumerate(["some text", "3", "0.5", "/a/b", "'x'", "adam", "-7", "1.25"] * 50)
    )
    context = make_context(text)
    counted = type(context)(
        document=context.document,
        loader=context.loader,
        dialect_name="test",
        expected=asked.append,  # type: ignore[arg-type]
        coerces=lambda _path: False,
        concept_of=asked.append,  # type: ignore[arg-type]
        enum=lambda _path: (),
    )
    assert not any(scan(counted, CHECKS).values())
    assert asked == []


def test_the_memory_is_bounded() -> None:
    memory = Readings(LOADERS["pyyaml"])
    for number in range(MAX_REMEMBERED + 10):
        memory[str(number)]
    assert len(memory) <= MAX_REMEMBERED
    assert memory["9" * (MAX_LENGTH + 1)] is None
    assert "9" * (MAX_LENGTH + 1) not in memory


PIECES = [
    "a",
    "b: ",
    "- ",
    "\t",
    "  ",
    "\n",
    "\r\n",
    "#",
    "'",
    '"',
    "1e4",
    "yes",
    "|\n",
    "[",
    "]",
    "{",
    "}",
    ", ",
    ": ",
    "&x ",
    "*x",
    "!t ",
    "@",
    "%",
    "\\d",
    "=",
    "<<: ",
    "on: ",
    "none",
    "م",
    "012",
    "12:30",
    "?",
    "---\n",
    "C:\\",
]


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join), st.sampled_from(sorted(LOADERS)))
def test_any_text_is_answered_and_every_span_lies_in_it(text: str, loader: str) -> None:
    for name, hit in find(text, loader):
        assert name in CHECKS
        assert 0 <= hit.at.start <= hit.at.end <= len(text)
        assert all(0 <= place.start <= place.end <= len(text) for place in hit.related)
        assert hit.severity in (None, "info", "warning", "error")
        assert hit.safety in (None, "safe", "unsafe", "display")
        assert hit.confidence in (None, "low", "medium", "high")


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join), st.sampled_from(sorted(LOADERS)))
def test_a_scalar_gives_one_finding_at_most(text: str, loader: str) -> None:
    known = {"expected": frozenset({"integer"})}
    context = make_context(text, loader)
    strict = type(context)(
        context.document,
        context.loader,
        "test",
        lambda _path: known["expected"],
        lambda _path: False,
        lambda _path: None,
        lambda _path: (),
    )
    about_keys = {
        "duplicate_key",
        "bool_word_as_key",
        "merge_key_pitfall",
        "tab_indentation",
        "unsafe_python_tag",
        "empty_value_is_null",
    }
    spans = [
        (hit.at.start, hit.at.end)
        for name, hits in scan(strict, CHECKS).items()
        if name not in about_keys
        for hit in hits
    ]
    assert len(set(spans)) == len(spans)


@pytest.mark.parametrize("loader", sorted(LOADERS))
def test_a_correct_file_is_quiet(loader: str) -> None:
    text = (
        "model: {name: tacotron, dims: [256, 512], dropout: 0.1}\n"
        "data:\n  batch_size: 32\n  path: /data/صدا  # صدا\n  zone: (0.1,0.9)\n  shuffle: true\n  cache: null\n"
        "train:\n  learning_rate: 1.0e-4\n  batch: auto\n  schedule: lin_3e-4\n  activation: none\n  shifts: [-1/3, -1/3]\n"
        "  float: !!float 5e-4\n  tf: 2.16.1\n"
    )
    assert find(text, loader) == []
