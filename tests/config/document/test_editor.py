"""Changes to edits: the text a user gets for each, and every reason for a refusal."""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from real_loaders import REAL_SCALARS, load_pyyaml, load_ruamel, same_value

from cfgfix.config.document.compose import Document, compose
from cfgfix.config.document.editor import apply, plan
from cfgfix.config.document.proof import prove
from cfgfix.config.document.refusals import Refusal, RefusalReason
from cfgfix.config.document.spelling import spell, spell_text
from cfgfix.config.loaders.scalars import LOADERS
from cfgfix.core.edits import Change, DeleteKey, Edit, InsertKey, RenameKey, ReplaceText, SetValue, splice
from cfgfix.core.source_file import SourceFile

PYYAML = LOADERS["pyyaml"]
S, N, D, R = SetValue, InsertKey, DeleteKey, RenameKey


def document_of(text: str) -> Document:
    document = compose(SourceFile.from_text(text, "a.yaml"))
    assert document.problem is None, document.problem
    return document


def changed(text: str, *changes: Change, shared: bool = False) -> str:
    """The text after the changes, proven."""
    document = document_of(text)
    edits = plan(document, changes, shared=shared)
    result = splice(text, edits)
    prove(document, result, changes, edits, PYYAML, shared=shared)
    return result


# --- Setting values ---

SETS: list[tuple[str, tuple[Any, ...], object, str]] = [
    ("a: 1  # c\n", ("a",), 2, "a: 2  # c\n"),
    ("a: 1e-4\n", ("a",), 1e-4, "a: 1.0e-4\n"),
    ("a: 'x'\n", ("a",), "it's", "a: 'it''s'\n"),
    ('a: "x"\n', ("a",), "it's", 'a: "it\'s"\n'),
    ("a: '1e-4'\n", ("a",), 1e-4, "a: 1.0e-4\n"),
    ("a: x\n", ("a",), "on", "a: 'on'\n"),
    ("a: x\n", ("a",), None, "a: null\n"),
    ("a: yes\n", ("a",), True, "a: true\n"),
    ("a: one\n  two # c\nb: 1\n", ("a",), "x", "a: x # c\nb: 1\n"),
    ("a: |  # why\n  x\n  y\n\nb: 1\n", ("a",), 1, "a: 1  # why\n\nb: 1\n"),
    ("a: |+\n  x\n\n\nb: 1\n", ("a",), 1, "a: 1\nb: 1\n"),
    ("a: >-\r\n  x\r\nb: 1\r\n", ("a",), "z", "a: z\r\nb: 1\r\n"),
    ("a: |\n  x", ("a",), "z", "a: z"),
    ("a:\nb: 1\n", ("a",), 1, "a: 1\nb: 1\n"),
    ("a: \nb: 1\n", ("a",), 1, "a: 1\nb: 1\n"),
    ("a:   # c\n", ("a",), 1, "a: 1   # c\n"),
    ("a:", ("a",), "x", "a: x"),
    ("a: &x\nb: 1\n", ("a",), 1, "a: &x 1\nb: 1\n"),
    ("a: &x 1\n", ("a",), 2, "a: &x 2\n"),
    ("a: !!float 1e-4\n", ("a",), 1e-4, "a: !!float 1.0e-4\n"),
    ("a: &x !!str 1\n", ("a",), "2", "a: &x !!str '2'\n"),
    ("a: {b, c: , d: 1}\n", ("a", "b"), 1, "a: {b: 1, c: , d: 1}\n"),
    ("a: {b, c: , d: 1}\n", ("a", "c"), 1, "a: {b, c: 1 , d: 1}\n"),
    ("a: {b, c: , d: 1}\n", ("a", "d"), "x, y", "a: {b, c: , d: 'x, y'}\n"),
    ('{"a":1}\n', ("a",), "b", '{"a":b}\n'),
    ("- 1\n- [2, 3] # c\n", (1, 0), None, "- 1\n- [null, 3] # c\n"),
    ("-\n- 1\n", (0,), 5, "- 5\n- 1\n"),
    ("a: &x 1\nb: *x # c\n", ("b",), 2, "a: &x 1\nb: 2 # c\n"),
    ("a: 1\na: 2\n", ("a",), 3, "a: 1\na: 3\n"),
    ("? a\n: 1\n", ("a",), 2, "? a\n: 2\n"),
    ("ключ:\r\n  под: 1 # к\r\n", ("ключ", "под"), "знач", "ключ:\r\n  под: знач # к\r\n"),
    ("a: 1\rb: 2", ("b",), 3, "a: 1\rb: 3"),
    ("a: 1\r\nb: 2\nc: 3\r", ("b",), 4, "a: 1\r\nb: 4\nc: 3\r"),
    ("just text\n", (), "other", "other\n"),
    ("--- 1\n--- 2\n", (), 3, "--- 3\n--- 2\n"),
    ("a.b: {'c d': 1}\n", ("a.b", "c d"), 2, "a.b: {'c d': 2}\n"),
    ("1: a\non: b\n~: c\n", ("on",), "d", "1: a\non: d\n~: c\n"),
]


@pytest.mark.parametrize(("text", "path", "value", "expected"), SETS)
def test_setting_a_value(text: str, path: tuple[Any, ...], value: object, expected: str) -> None:
    assert changed(text, S(path, value)) == expected


def test_the_text_to_write_may_be_given() -> None:
    assert changed("a: '1e-4' # c\n", S(("a",), 1e-4, "1.0e-04")) == "a: 1.0e-04 # c\n"


@pytest.mark.parametrize("text", ["", "x\ny", "x\u2028y"])
def test_the_text_to_write_must_be_one_line(text: str) -> None:
    refused(RefusalReason.UNSPELLABLE, "a: 1\n", S(("a",), "x", text))


def test_a_value_in_another_document() -> None:
    assert changed("a: 1\n---\na: 1\n", S(("a",), 2, document=1)) == "a: 1\n---\na: 2\n"


def test_nothing_to_change_gives_no_edit() -> None:
    assert plan(document_of("a: true\n"), [S(("a",), True)]) == []


# --- Inserting keys ---

INSERTS: list[tuple[str, list[InsertKey], str]] = [
    ("a: 1\n", [N((), "b", 1e-4)], "a: 1\nb: 1.0e-4\n"),
    ("a: 1", [N((), "b", True)], "a: 1\nb: true"),
    ("a: 1\r\n", [N((), "b", 2)], "a: 1\r\nb: 2\r\n"),
    ("a: 1\r", [N((), "b", 2)], "a: 1\rb: 2\r"),
    ("a: 1\nb: 2\r\nc: 3\n", [N((), "x", 0, after="b")], "a: 1\nb: 2\r\nx: 0\r\nc: 3\n"),
    (
        "a:\n  b: 1 # c\n  # tail\n# of root\nc: 1\n",
        [N(("a",), "d", 1)],
        "a:\n  b: 1 # c\n  d: 1\n  # tail\n# of root\nc: 1\n",
    ),
    (
        "a:\n    b:\n        c: 1\n\nd: 1\n",
        [N(("a",), "e", "x")],
        "a:\n    b:\n        c: 1\n    e: x\n\nd: 1\n",
    ),
    ("a: 1\nc: 3\n", [N((), "b", 2, after="a"), N((), "bb", 2, after="a")], "a: 1\nb: 2\nbb: 2\nc: 3\n"),
    ("a: 1\n", [N((), "b", 1), N((), "c", 2)], "a: 1\nb: 1\nc: 2\n"),
    ("a: {}\n", [N(("a",), "b", 1), N(("a",), "on", "off")], "a: {b: 1, 'on': 'off'}\n"),
    ("a: { }\n", [N(("a",), "b", 1)], "a: {b: 1 }\n"),
    ("a: {b: 1} # c\n", [N(("a",), "d", [1, {"x": None}])], "a: {b: 1, d: [1, {x: null}]} # c\n"),
    ("a: {b: 1, c: 2}\n", [N(("a",), "d", 1, after="b")], "a: {b: 1, d: 1, c: 2}\n"),
    ("a: {b: 1,}\n", [N(("a",), "d", 1)], "a: {b: 1, d: 1,}\n"),
    ("a: {b, c: }\n", [N(("a",), "d", 1)], "a: {b, c: , d: 1 }\n"),
    ('{"a": 1}\n', [N((), "b", "x")], '{"a": 1, "b": x}\n'),
    ("a: {\n  b: 1,\n  c: 2,  # x\n}\n", [N(("a",), "d", 1)], "a: {\n  b: 1,\n  c: 2,  # x\n  d: 1,\n}\n"),
    ("a: {\n  b: 1,\n  c: 2  # x\n}\n", [N(("a",), "d", 1)], "a: {\n  b: 1,\n  c: 2,  # x\n  d: 1\n}\n"),
    ("a: {\n  b: 1,\n  c: 2}\n", [N(("a",), "d", 1)], "a: {\n  b: 1,\n  c: 2, d: 1}\n"),
    ("a: {\r\n  b: 1\r\n}\r\n", [N(("a",), "d", 1)], "a: {\r\n  b: 1,\r\n  d: 1\r\n}\r\n"),
    ("a:\nb: 1\n", [N(("a",), "c", 1), N(("a",), "d", 2)], "a:\n  c: 1\n  d: 2\nb: 1\n"),
    ("x:\n    y: 1\na:  # c\nb: 1\n", [N(("a",), "c", 1)], "x:\n    y: 1\na:  # c\n    c: 1\nb: 1\n"),
    ("x:\n  a:", [N(("x", "a"), "c", 1)], "x:\n  a:\n    c: 1"),
    ("a: &x\nb: 1\n", [N(("a",), "c", 1)], "a: &x\n  c: 1\nb: 1\n"),
    ("{a: , b: 1}\n", [N(("a",), "c", 1)], "{a: {c: 1} , b: 1}\n"),
    ("-\n- x\n", [N((0,), "d", 1)], "- {d: 1}\n- x\n"),
    ("- a: 1\n  b: 2\n- c: 1", [N((0,), "d", 1), N((1,), "d", 1)], "- a: 1\n  b: 2\n  d: 1\n- c: 1\n  d: 1"),
    ("- - a: 1\n- x\n", [N((0, 0), "d", 1)], "- - a: 1\n    d: 1\n- x\n"),
    ("? a\n: b\n", [N((), "d", 1)], "? a\n: b\nd: 1\n"),
    ("a: |\n  x\n\n\nb: 1\n", [N((), "d", 1, after="a")], "a: |\n  x\nd: 1\n\n\nb: 1\n"),
    ("a: |+\n  x\n\n\n", [N((), "d", 1)], "a: |+\n  x\n\n\nd: 1\n"),
    ("a: |-\n  x\n", [N((), "d", 1)], "a: |-\n  x\nd: 1\n"),
    ("a: &x\n  b: 1\nc: 2\n", [N(("a",), "d", 1)], "a: &x\n  b: 1\n  d: 1\nc: 2\n"),
    ("a: 1\n...\n---\nb: 1\n", [N((), "c", 1)], "a: 1\nc: 1\n...\n---\nb: 1\n"),
    ("a: 1\n---\nb: 1\n", [N((), "c", 1, document=1)], "a: 1\n---\nb: 1\nc: 1\n"),
    ("", [N((), "a", 1)], "a: 1\n"),
    ("# c", [N((), "a", 1)], "# c\na: 1\n"),
    ("# c\r\n", [N((), "a", 1)], "# c\r\na: 1\r\n"),
    ("a:\n- 1\n- 2\nb: 1\n", [N((), "c", 1, after="a")], "a:\n- 1\n- 2\nc: 1\nb: 1\n"),
]


@pytest.mark.parametrize(("text", "changes", "expected"), INSERTS)
def test_inserting_keys(text: str, changes: list[InsertKey], expected: str) -> None:
    assert changed(text, *changes) == expected


# --- Deleting entries ---

DELETES: list[tuple[str, list[DeleteKey], str]] = [
    ("a: 1 # c\n# d\nb: 2\n", [D(("a",))], "# d\nb: 2\n"),
    ("# about a\na: 1\nb: 2\n", [D(("a",))], "# about a\nb: 2\n"),
    ("a:\n  b: 1 # x\n  # y\n  c: 1\nd: 1\n", [D(("a",))], "d: 1\n"),
    ("a: 1\nb: 2", [D(("b",))], "a: 1"),
    ("a: 1\r\nb: 2", [D(("b",))], "a: 1"),
    ("a: 1\r\nb: 2\r\nc: 3\r\n", [D(("b",))], "a: 1\r\nc: 3\r\n"),
    ("a: |\n  x\nb: 1", [D(("b",))], "a: |\n  x\n"),
    ("# d\nb: 2 # e\n", [D(("b",))], "# d\n{}\n"),
    ("x:\n  b: 2 # c\ny: 1\n", [D(("x", "b"))], "x: {}\ny: 1\n"),
    ("x:  # why\n  b: 2\n", [D(("x", "b"))], "x: {}  # why\n"),
    ("x: &q # c\n  b: 2\n  c: 3", [D(("x", "b")), D(("x", "c"))], "x: &q {} # c"),
    ("- a: 1\n  b: 2\n- c: 1\n", [D((0, "a")), D((1, "c"))], "- b: 2\n- {}\n"),
    ("- a: 1\n  b: 2\n- c: 1\n", [D((0,))], "- c: 1\n"),
    ("-\n  a: 1\n- b\n", [D((0, "a"))], "- {}\n- b\n"),
    ("- a: 1\n- b\n", [D((0,)), D((1,))], "[]\n"),
    ("x:\n- a\n- b # z\ny: 1", [D(("x", 1))], "x:\n- a\ny: 1"),
    ("x:\n- a\n- b # z\ny: 1", [D(("x", 1)), D(("x", 0))], "x: []\ny: 1"),
    ("- - a\n  - b\n", [D((0, 0))], "- - b\n"),
    ("{a: 1, b: 2, c: 3}\n", [D(("a",))], "{b: 2, c: 3}\n"),
    ("{a: 1, b: 2, c: 3}\n", [D(("b",))], "{a: 1, c: 3}\n"),
    ("{a: 1, b: 2, c: 3} # d\n", [D(("c",))], "{a: 1, b: 2} # d\n"),
    ("{a: 1, b: 2, c: 3}\n", [D(("a",)), D(("c",))], "{b: 2}\n"),
    ("{a: 1, b: 2, c: 3}\n", [D(("a",)), D(("b",)), D(("c",))], "{}\n"),
    ("{a: 1, b: 2,}\n", [D(("b",))], "{a: 1,}\n"),
    ("{a: 1,}\n", [D(("a",))], "{}\n"),
    ("{\n  a: 1,  # x\n  b: 2  # y\n}\n", [D(("b",))], "{\n  a: 1  # x\n}\n"),
    ("{\n  a: 1,  # x\n  b: 2,\n}\n", [D(("b",))], "{\n  a: 1,  # x\n}\n"),
    ("{\n  a: 1,  # x\n  b: 2  # y\n}\n", [D(("a",))], "{\n  b: 2  # y\n}\n"),
    ("{a: 1,\n b: 2}\n", [D(("a",))], "{\n b: 2}\n"),
    ("[1, 2, 3]\n", [D((0,)), D((2,))], "[2]\n"),
    ("x: [a: 1, b]\n", [D(("x", 0))], "x: [b]\n"),
    ("a: 1\na: 2\na: 3\n", [D(("a",), 0), D(("a",), 1)], "a: 3\n"),
    ("a: 1\nb: 2\na: 3\n", [D(("a",), 1)], "a: 1\nb: 2\n"),
    ("a:\n  - b: |\n      x\n\n    c: 1\n", [D(("a", 0, "b"))], "a:\n  - c: 1\n"),
    ("? a\n: b\nc: 1\n", [D(("a",))], "c: 1\n"),
    ("a: &x 1\nb: *x\n", [D(("b",))], "a: &x 1\n"),
    ("a: &x 1\nb:\n  c: &y 1\n  d: *y\n", [D(("b",))], "a: &x 1\n"),
    ("b: &b {x: 1}\na:\n  <<: *b\n  c: 1\n", [D(("a", "<<"))], "b: &b {x: 1}\na:\n  c: 1\n"),
    ("a: &x\n  b: 1\n  c: 2\n", [D(("a", "b"))], "a: &x\n  c: 2\n"),
    ("--- 1\n--- \na: 1\nb: 2\n...\n", [D(("a",), document=1)], "--- 1\n--- \nb: 2\n...\n"),
]


@pytest.mark.parametrize(("text", "changes", "expected"), DELETES)
def test_deleting_entries(text: str, changes: list[DeleteKey], expected: str) -> None:
    assert changed(text, *changes) == expected


# --- Renaming keys ---

RENAMES: list[tuple[str, RenameKey, str]] = [
    ("a: 1 # c\n", R(("a",), "b"), "b: 1 # c\n"),
    ("on: 1\n", R(("on",), "on", quote=True), "'on': 1\n"),
    ("a: 1\n", R(("a",), "off"), "'off': 1\n"),
    ("{a: 1, b: 2}\n", R(("b",), "c d"), "{a: 1, c d: 2}\n"),
    ('{"a":1}\n', R(("a",), "b"), '{"b":1}\n'),
    ("'a' : 1\n", R(("a",), "it's"), "'it''s' : 1\n"),
    ("&x a: 1\n", R(("a",), "b"), "&x b: 1\n"),
    ("!!str a: 1\n", R(("a",), "b"), "!!str b: 1\n"),
    ("? a\n: 1\n", R(("a",), "b"), "? b\n: 1\n"),
    ("x:\r\n- trainig: 1\r\n", R(("x", 0, "trainig"), "training"), "x:\r\n- training: 1\r\n"),
    ("ключ: 1\n", R(("ключ",), "имя"), "имя: 1\n"),
    ("a: {b}\n", R(("a", "b"), "c"), "a: {c}\n"),
]


@pytest.mark.parametrize(("text", "change", "expected"), RENAMES)
def test_renaming_keys(text: str, change: RenameKey, expected: str) -> None:
    assert changed(text, change) == expected


# --- Several changes, and what is shared ---


def test_changes_speak_about_the_document_as_it_is() -> None:
    text = "a: {b: 1, c: 2}\nd: 3\nd: 4\ne: 5\n"
    result = changed(
        text, R(("a",), "z"), S(("a", "b"), 9), D(("d",), 0), N(("a",), "m", 1, after="b"), S(("e",), "x")
    )
    assert result == "z: {b: 9, m: 1, c: 2}\nd: 4\ne: x\n"


def test_bare_text_passes_through() -> None:
    document = compose(SourceFile.from_text("a:\n\tb: 1\n"))
    assert plan(document, [ReplaceText(3, 4, "  ")]) == [Edit(3, 4, "  ")]


def test_applying_edits_parses_anew() -> None:
    document = document_of("a: 1\n")
    after = apply(document, plan(document, [S(("a",), 2), N((), "b", 3)]))
    assert after.data(PYYAML) == {"a": 2, "b": 3}
    assert after.source.path == "a.yaml"


def test_shared_values_change_everywhere_when_that_is_wanted() -> None:
    assert changed("a: &x 1\nb: *x\n", S(("a",), 2), shared=True) == "a: &x 2\nb: *x\n"
    assert changed("a: &x 1\nb: *x\n", S(("b",), 2), shared=True) == "a: &x 2\nb: *x\n"
    text = "a: &x {l: 1e-4}\nb:\n  <<: *x\n"
    for path in (("a", "l"), ("b", "l")):
        assert changed(text, S(path, 1e-4), shared=True) == "a: &x {l: 1.0e-4}\nb:\n  <<: *x\n"
    assert changed("a: &x {l: 1}\nb: *x\n", N(("b",), "m", 2), shared=True) == "a: &x {l: 1, m: 2}\nb: *x\n"
    assert changed("a: &x {l: 1}\nb: *x\n", R(("b", "l"), "m"), shared=True) == "a: &x {m: 1}\nb: *x\n"


# --- Refusals ---


def refused(reason: RefusalReason, text: str, *changes: Change) -> str:
    document = compose(SourceFile.from_text(text, "a.yaml"))
    with pytest.raises(Refusal) as caught:
        plan(document, changes)
    assert caught.value.reason is reason, caught.value
    assert str(caught.value) == caught.value.message
    return caught.value.message


REFUSALS: list[tuple[RefusalReason, str, Change, str]] = [
    (RefusalReason.NOT_PARSED, "a: b: c\n", S(("a",), 1), "does not parse: a second `: `"),
    (RefusalReason.NOT_FOUND, "a: 1\n", S(("b",), 1), "there is no entry b"),
    (RefusalReason.NOT_FOUND, "a: 1\n", S(("a",), 1, document=1), "there is no entry"),
    (RefusalReason.NOT_FOUND, "", S((), 1), "the document is empty"),
    (RefusalReason.NOT_FOUND, "a: 1\n", D(()), "cannot be deleted"),
    (RefusalReason.NOT_FOUND, "- 1\n", R((0,), "x"), "only the keys"),
    (RefusalReason.NOT_FOUND, "a: 1\n", N((), "b", 1, after="z"), "no key z"),
    (RefusalReason.NOT_FOUND, "a: {}\n", N(("a",), "b", 1, after="z"), "empty"),
    (RefusalReason.NOT_FOUND, "a:\n", N(("a",), "b", 1, after="z"), "empty"),
    (RefusalReason.NOT_FOUND, "a: 1\n", N((), "b", 1, document=1), "no such document"),
    (RefusalReason.NOT_FOUND, "a: 1\na: 2\n", D(("a",), 2), "2 times only"),
    (RefusalReason.NOT_FOUND, "a: 1\n", ReplaceText(3, 99, ""), "outside the file"),
    (RefusalReason.NOT_A_SCALAR, "a: {b: 1}\n", S(("a",), 1), "a is a mapping"),
    (RefusalReason.NOT_A_SCALAR, "a: &x [1]\nb: *x\n", S(("b",), 1), "b is a list"),
    (RefusalReason.NOT_A_MAPPING, "a: 1\n", N(("a",), "b", 1), "a is not a mapping"),
    (RefusalReason.NOT_A_MAPPING, "a: [1]\n", N(("a",), "b", 1), "a is not a mapping"),
    (RefusalReason.NOT_A_MAPPING, "a: ''\n", N(("a",), "b", 1), "a is not a mapping"),
    (RefusalReason.NOT_A_MAPPING, "a: !!null\n", N(("a",), "b", 1), "a is not a mapping"),
    (RefusalReason.KEY_EXISTS, "a: 1\n", N((), "a", 1), "the key a exists already"),
    (RefusalReason.KEY_EXISTS, "b: &b {x: 1}\na: {<<: *b}\n", N(("a",), "x", 1), "a.x exists already"),
    (RefusalReason.KEY_EXISTS, "a: 1\nb: 2\n", R(("a",), "b"), "the key b exists already beside a"),
    (RefusalReason.AMBIGUOUS, "a: 1\na: 2\n", D(("a",)), "a is written 2 times"),
    (RefusalReason.AMBIGUOUS, "a: 1\na: 2\n", R(("a",), "b"), "a is written 2 times"),
    (
        RefusalReason.INHERITED,
        "a: &x {l: 1}\nb:\n  <<: *x\n",
        S(("b", "l"), 2),
        "shared: it comes from &x, used in 1 place",
    ),
    (
        RefusalReason.INHERITED,
        "a: &x {l: 1}\nb: *x\nc: *x\n",
        S(("b", "l"), 2),
        "comes from &x, used in 2 places",
    ),
    (RefusalReason.INHERITED, "a: &x {l: 1}\nb: *x\n", N(("b",), "m", 2), "b stands for &x"),
    (RefusalReason.INHERITED, "b: {<<: {l: 1}}\n", D(("b", "l")), "comes from another mapping"),
    (RefusalReason.SHARED, "a: &x 1\nb: *x\n", S(("a",), 2), "belongs to &x, and 1 place more would change"),
    (
        RefusalReason.SHARED,
        "a: &x {l: 1}\nb: {<<: *x}\nc: *x\n",
        S(("a", "l"), 2),
        "2 places more would change",
    ),
    (RefusalReason.SHARED, "a: &x {l: {m: 1}}\nb: *x\n", D(("a", "l", "m")), "1 place more"),
    (RefusalReason.SHARED, "a: &x {l: 1}\nb: *x\n", N(("a",), "m", 2), "1 place more"),
    (RefusalReason.SHARED, "&k a: *k\n", R(("a",), "b"), "1 place more"),
    (RefusalReason.ANCHOR_USED, "a: &x 1\nb: *x\n", D(("a",)), "holds &x, which is used elsewhere"),
    (RefusalReason.ANCHOR_USED, "a: {l: [&x 1]}\nb: *x\n", D(("a",)), "holds &x"),
    (RefusalReason.TAG, "a: !!str 1\n", S(("a",), 2), "a has the tag !!str"),
    (RefusalReason.TAG, "a: !x 1\n", S(("a",), 2), "a has the tag !x"),
    (RefusalReason.TAG, "a: ! 1\n", S(("a",), "2"), "a has the tag !"),
    (RefusalReason.TAG, "a: !!float 1e-4\n", S(("a",), 1), "a has the tag !!float"),
    (RefusalReason.TAG, "!!int 1: 1\n", R(("1",), "b"), "has a tag"),
    (RefusalReason.LAYOUT, "a: &an:chor b\n", S(("a",), None), "no space parts a from its anchor"),
    (RefusalReason.TAG, "a: !!set {b}\n", S(("a", "b"), 1), "keys without values"),
    (RefusalReason.TAG, "a: !!set {b}\n", N(("a",), "c", 1), "keys without values"),
    (RefusalReason.COMPLEX_KEY, "{a: 1, ?\n}\n", N((), "c", 1), "empty key"),
    (RefusalReason.COMPLEX_KEY, "? [a]\n: {b: 1}\n", S(("[a]", "b"), 1), "cannot be addressed"),
    (RefusalReason.COMPLEX_KEY, "? |\n  a\n: 1\n", R(("a\n",), "b"), "not written as a simple key"),
    (RefusalReason.COMPLEX_KEY, "? a\n  b\n: 1\n", R(("a b",), "c"), "not written as a simple key"),
    (RefusalReason.COMPLEX_KEY, "x: &a y\n*a : 1\n", R(("y",), "b"), "not written as a simple key"),
    (RefusalReason.COMPLEX_KEY, "?\n: 1\n", R(("",), "b"), "is empty"),
    (RefusalReason.COMPLEX_KEY, "b: &b {}\na: {<<: *b}\n", R(("a", "<<"), "c"), "merge key"),
    (RefusalReason.LAYOUT, "? a\n", S(("a",), 1), "no place where a value"),
    (RefusalReason.LAYOUT, 'a: "x"# c\n', S(("a",), 1), "without a space between"),
    (RefusalReason.LAYOUT, "a: |# c\n  x\n", S(("a",), 1), "without a space between"),
    (RefusalReason.LAYOUT, "{a: }\n---\n", N((), "b", 1, document=1), "no place where a mapping"),
    (RefusalReason.LAYOUT, "a: |\n  x", N((), "b", 1), "ends within a text block"),
    (RefusalReason.LAYOUT, "x: [a: 1]\n", N(("x", 0), "b", 1), "no braces of its own"),
    (RefusalReason.LAYOUT, "x: [a: 1]\n", D(("x", 0, "a")), "no braces of its own"),
    (RefusalReason.LAYOUT, "- a: 1\n  # about b\n  b: 2\n", D((0, "a")), "a comment stands between"),
    (RefusalReason.LAYOUT, "a: 1 # c\u2028b: 2\n", N((), "x", 1, after="a"), "only YAML 1.1 knows"),
    (RefusalReason.LAYOUT, "[a, # c\n b]\n", D((1,)), "a comment stands between"),
    (
        RefusalReason.LAYOUT,
        "{a: 1 # c\n , b: 2}\n",
        D(("a",)),
        "a comment stands between the entry and its comma",
    ),
    (RefusalReason.LAYOUT, "---\n", S((), 1), "no place where a value"),
    (RefusalReason.UNSPELLABLE, "a: 1\n", S(("a",), [1]), "a scalar only"),
    (RefusalReason.UNSPELLABLE, "a: 1\n", S(("a",), dt.date(2001, 1, 1)), "no spelling of a date"),
    (RefusalReason.UNSPELLABLE, "a: 1\n", S(("a",), "\ud800"), "lone surrogate"),
    (RefusalReason.UNSPELLABLE, "a: 1\n", S(("a",), 10**5000), "too many digits"),
    (RefusalReason.UNSPELLABLE, "a: 1\n", N((), "k" * 129, 1), "more than 128 characters"),
    (RefusalReason.UNSPELLABLE, "a: 1\n", N((), "b", {(1,): object()}), "no spelling of a"),
]


@pytest.mark.parametrize(("reason", "text", "change", "words"), REFUSALS)
def test_what_has_no_exact_way_is_refused(
    reason: RefusalReason, text: str, change: Change, words: str
) -> None:
    assert words in refused(reason, text, change)


def test_every_reason_has_a_case() -> None:
    assert {reason for reason, *_ in REFUSALS} | {RefusalReason.CONFLICT} == set(RefusalReason)


@pytest.mark.parametrize(
    "changes",
    [
        [S(("a",), 1), S(("a",), 2)],
        [D(("a",)), D(("a",))],
        [D(("a",)), S(("a",), 2)],
        [D(("a",)), N((), "c", 1)],
        [N((), "c", 1), N((), "c", 2)],
        [D(("b",)), D(("b", "c"))],
        [S(("a",), 2), ReplaceText(0, 4, "a: 3")],
    ],
)
def test_changes_to_the_same_text_are_refused(changes: list[Change]) -> None:
    refused(RefusalReason.CONFLICT, "a: 0\nb:\n  c: 1\n  d: 1\n", *changes)


def test_a_list_that_is_nested_too_deep_has_no_spelling() -> None:
    value: list[object] = []
    for _ in range(40):
        value = [value]
    assert "32 levels" in refused(RefusalReason.UNSPELLABLE, "a: 1\n", N((), "b", value))


# --- Spelling ---


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e-4, "1.0e-4"),
        (5e-5, "5.0e-5"),
        (0.00015, "1.5e-4"),
        (-1.5e-7, "-1.5e-7"),
        (0.001, "0.001"),
        (0.1, "0.1"),
        (1e16, "1.0e+16"),
        (1.5e300, "1.5e+300"),
        (5e-324, "5.0e-324"),
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (3.0, "3.0"),
        (math.inf, ".inf"),
        (-math.inf, "-.inf"),
        (math.nan, ".nan"),
        (True, "true"),
        (False, "false"),
        (None, "null"),
        (-7, "-7"),
        (2**70, "1180591620717411303424"),
        ("adam", "adam"),
        ("runs/exp-1_a.b", "runs/exp-1_a.b"),
        ("two words", "two words"),
        ("ключ", "ключ"),
        ("", "''"),
        ("y", "'y'"),
        ("1e-4", "'1e-4'"),
        ("it's", "'it''s'"),
        ("gs://x", "'gs://x'"),
        ("a\tb", '"a\\tb"'),
        ("a\nb", '"a\\nb"'),
        ("a\u2028\x85\x00\x07", '"a\\u2028\\x85\\0\\x07"'),
        ([1, "a,b", []], "[1, 'a,b', []]"),
        ({"a b": {"c": None}, 1: True}, "{a b: {c: null}, 1: true}"),
    ],
)
def test_spelling(value: object, text: str) -> None:
    assert spell(value) == text


VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12),
        st.text(alphabet="0123456789+-._:eExobyn~<=#,[]{}&*!|>'\"%@` \t\n", max_size=8),
        st.sampled_from(
            [
                "on",
                "No",
                "null",
                "~",
                "1_000",
                "0o17",
                "2001-01-01",
                "---",
                "...",
                "- a",
                "a: b",
                "a #b",
                "{{ x }}",
            ]
        ),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text(alphabet="ab1 :'#,", min_size=1, max_size=4), inner, max_size=3),
    ),
    max_leaves=5,
)


@given(VALUES)
def test_every_loader_reads_back_what_is_spelled(value: object) -> None:
    text = spell(value)
    assert "\n" not in text
    for context, pick in (("k: {}\nz: 1\n", "k"), ("[a, {}, b]\n", 1), ("k: {{j: {}, l: 1}}\n", None)):
        written = context.format(text)
        for load in (load_pyyaml, load_ruamel):
            data = load(written)[0]
            assert same_value(value, data["k"]["j"] if pick is None else data[pick]), (written, data)
        for loader in LOADERS.values():
            data = compose(SourceFile.from_text(written)).data(loader)
            assert same_value(value, data["k"]["j"] if pick is None else data[pick]), (
                loader.name,
                written,
                data,
            )


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=10))
def test_text_serves_as_a_key(text: str) -> None:
    written = f"{spell_text(text)}: 1\n"
    assert yaml.safe_load(written) == {text: 1}
    assert load_ruamel(written) == [{text: 1}]


@given(st.text(max_size=10), st.sampled_from(["'", '"', ""]))
def test_the_wanted_quotes_are_used_where_they_can_be(text: str, style: str) -> None:
    try:
        spelled = spell_text(text, style)
    except Refusal as refusal:
        assert refusal.reason is RefusalReason.UNSPELLABLE  # noqa: PT017
        return
    assert yaml.safe_load(f"- {spelled}") == [text]
    if style and spelled[0] != style:
        assert style == "'"


@given(st.floats(allow_nan=False))
def test_a_float_is_spelled_so_that_all_real_loaders_see_that_float(value: float) -> None:
    for scalar in REAL_SCALARS.values():
        assert scalar(spell(value)) == ("float", value)
