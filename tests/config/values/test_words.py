"""Words that load as something else, or only look as if they did."""

from __future__ import annotations

import pytest
from pitfall_support import find, names, new_text, only


def test_a_bool_word_is_information_where_it_is_read_as_meant() -> None:
    hit = only(find("x: yes", types={"x": "boolean"}))
    assert (hit.severity, hit.safety) == (None, None)
    assert new_text(hit.changes[0]) == "true"


def test_a_bool_word_where_text_is_taken() -> None:
    hit = only(find("x: no", types={"x": "string"}))
    assert (hit.severity, hit.safety, new_text(hit.changes[0])) == ("error", "unsafe", "'no'")
    assert only(find("x: on", types={"x": "string"}, enum={"x": ["on", "off"]})).safety == "safe"
    assert find("x: on", types={"x": "string"}, enum={"x": ["a", "b"]}) == []
    assert only(find("language: no")).severity == "error"


def test_a_bool_word_under_a_loader_that_reads_text() -> None:
    hit = only(find("x: no", "ruamel", types={"x": "boolean"}))
    assert (hit.severity, hit.safety, new_text(hit.changes[0])) == ("error", "unsafe", "false")
    assert only(find("x: no", "ruamel", types={"x": "boolean"}, coerces=["x"])).severity == "info"
    assert find("x: no", "ruamel", types={"x": "boolean string"}) == []
    assert find("x: no\nlanguage: no\n", "ruamel") == []


@pytest.mark.parametrize(
    "word", ["y", "n", "Y", "N", "yES", "true", "FALSE", "none", "yes please", "'yes'", "!x yes"]
)
def test_other_words_are_left_alone(word: str) -> None:
    assert find(f"x: {word}") == []


def test_norway_needs_a_text_beside_it() -> None:
    assert names(find("l: [en, no]")) == ["norway_in_string_list"]
    assert names(find("l: ['en', NO]")) == ["norway_in_string_list"]
    assert names(find("l: [1, no]")) == ["yaml11_bool_word"]
    assert find("l: [en, true]") == []
    assert find("l: [en, no]", "ruamel") == []
    assert only(find("l: [no]", types={"l[0]": "string"})).safety == "safe"
    assert names(find("l: [auto, on]", types={"l[1]": "string boolean"})) == ["yaml11_bool_word"]


def test_keys_that_are_bools() -> None:
    assert [(name, hit.at.key_path) for name, hit in find("a: {on: 1, b: {No: 2}}")] == [
        ("bool_word_as_key", ("a", "on")),
        ("bool_word_as_key", ("a", "b", "No")),
    ]
    assert find("on: 1", "ruamel") == []
    assert find("true: 1\n'on': 2\n\"no\": 3\n!t yes: 4\n") == []


def test_null_words_need_a_place_that_takes_null_or_a_number() -> None:
    assert find("x: None\ny: inf\n") == []
    assert find("x: none", types={"x": "string"}) == []
    assert find("x: none", types={"x": "string null"}) == []
    assert find("x: inf", types={"x": "number string"}) == []
    assert find("x: none", types={"x": "number null"}, enum={"x": ["none"]}) == []
    assert only(find("x: None", types={"x": "string null"})).confidence == "medium"
    assert new_text(only(find("x: none", types={"x": "integer null"})).changes[0]) == "null"
    assert new_text(only(find("x: -Infinity", types={"x": "number"})).changes[0]) == "-.inf"
    assert new_text(only(find("x: +inf", types={"x": "number"})).changes[0]) == ".inf"
    assert new_text(only(find("x: nan", types={"x": "number"})).changes[0]) == ".nan"
    assert only(find("x: inf", types={"x": "integer"})).changes == ()
    assert only(find("x: None", types={"x": "integer"})).changes == ()
    assert only(find("x: none", concepts={"x": "batch_size"})).changes == ()
    assert find("x: none", types={"x": "boolean"}) == []
    assert find("x: inf", types={"x": "number"}, coerces=["x"]) == []


def test_empty_values_need_a_place_without_null() -> None:
    assert find("x:\n") == []
    assert find("x:\n", types={"x": "integer null"}) == []
    assert find("x:\n", types={"x": ""}) == []
    assert names(find("x:\n", types={"x": "integer"})) == ["empty_value_is_null"]
    assert names(find("x:\n", concepts={"x": "batch_size"})) == ["empty_value_is_null"]
    assert find("x:\n", concepts={"x": "epochs"}) == []
    assert find("x:\n", types={"x": "string"}, enum={"x": ["a", None]}) == []
    assert find("x:\n  -\n", types={"x[0]": "integer"}) == []
    assert "no entries" in str(only(find("x:\n#  a: 1\n", types={"x": "object"})).values["problem"])
    assert find("x: ''\n", types={"x": "integer"}) == []
    assert find("x: ~\ny: null\n", types={"x": "integer", "y": "integer"}) == []


def test_quotes_need_a_place_without_text() -> None:
    assert find("x: 'false'\ny: '1'\n") == []
    assert find("x: 'false'", types={"x": "boolean string"}) == []
    assert find("x: '8'", types={"x": "integer"}, enum={"x": ["8"]}) == []
    assert new_text(only(find("x: 'false'", types={"x": "boolean"})).changes[0]) == "false"
    assert new_text(only(find('x: "NO"', types={"x": "boolean"})).changes[0]) == "false"
    assert new_text(only(find("x: '1e-4'", types={"x": "number"})).changes[0]) == "1.0e-4"
    assert new_text(only(find("x: '8.0'", types={"x": "integer"})).changes[0]) == "8"
    assert new_text(only(find("x: '+3'", types={"x": "integer"})).changes[0]) == "+3"
    assert find("x: '1'", types={"x": "boolean"}) == []
    assert find("x: 'true'", types={"x": "integer"}) == []
    assert find("x: '12:30'", types={"x": "integer"}) == []
    assert find("x: |\n  8\n", types={"x": "integer"}) == []


def test_unquoting_is_safe_only_where_tensorflow_raises() -> None:
    assert only(find("x: '8'", types={"x": "integer"}, concepts={"x": "batch_size"})).safety == "safe"
    assert only(find("x: '8'", types={"x": "integer"})).safety is None
    hit = only(find("x: '8'", types={"x": "integer"}, concepts={"x": "batch_size"}, coerces=["x"]))
    assert (hit.safety, hit.severity) == (None, "info")
