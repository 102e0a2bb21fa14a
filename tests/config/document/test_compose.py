"""YAML text to nodes: spans, problems, limits, and the data each loader would give."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from real_loaders import REAL_LOADS, configs, same_value, suite

from cfgfix.config.document import compose as module
from cfgfix.config.document.compose import (
    ALIAS,
    MAPPING,
    SCALAR,
    SEQUENCE,
    DataError,
    Document,
    Limits,
    Node,
    Problem,
    Tagged,
    compose,
    deref,
    pure_problem,
    value_of,
)
from cfgfix.config.loaders.scalars import LOADERS
from cfgfix.core.errors import UnreadableError
from cfgfix.core.source_file import SourceFile, read_source

PYYAML, RUAMEL, OMEGACONF = LOADERS["pyyaml"], LOADERS["ruamel"], LOADERS["omegaconf"]


def parse(text: str, limits: Limits | None = None) -> Document:
    source = SourceFile.from_text(text, "a.yaml")
    return compose(source, limits=limits) if limits else compose(source)


def parsed(text: str) -> Document:
    document = parse(text)
    assert document.problem is None, document.problem
    return document


def problem(text: str) -> Problem:
    found = parse(text).problem
    assert found is not None
    return found


def cut(document: Document, node: Node) -> str:
    return document.source.text[node.start : node.end]


def at(document: Document, *path: Any) -> Node:
    found = document.find(path)
    assert found is not None, path
    return found[1]


def every_node(document: Document) -> list[Node]:
    nodes, waiting = [], list(document.roots)
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        if node.kind is MAPPING:
            waiting.extend(child for pair in node.items for child in pair)
        elif node.kind is SEQUENCE:
            waiting.extend(node.items)
    return nodes


# --- Spans ---


@pytest.mark.parametrize(
    ("text", "path", "whole", "content"),
    [
        ("a: 1  # c\n", ("a",), "1", "1"),
        ("a: 'x  y'\n", ("a",), "'x  y'", "'x  y'"),
        ("a: b c\n  d\n# e\n", ("a",), "b c\n  d", "b c\n  d"),
        ("a: |\n  x\n  y\n\n\nb: 1\n", ("a",), "|\n  x\n  y", "|\n  x\n  y"),
        ("a: |\r\n  x\r\nb: 1\r\n", ("a",), "|\r\n  x", "|\r\n  x"),
        ("a: |+\n  x\n\n\nb: 1\n", ("a",), "|+\n  x\n\n", "|+\n  x\n\n"),
        ("a: |- # c\n  x\n\nb: 1\n", ("a",), "|- # c\n  x", "|- # c\n  x"),
        ("a: >\n  x\n   y\n # c\nb: 1\n", ("a",), ">\n  x\n   y", ">\n  x\n   y"),
        ("a: |\n  x\n    \nb: 1\n", ("a",), "|\n  x\n    ", "|\n  x\n    "),
        ("a: |\n  x", ("a",), "|\n  x", "|\n  x"),
        ("a: |\n\n\nb: 1\n", ("a",), "|", "|"),
        ("a:   # c\nb: 1\n", ("a",), "", ""),
        ("a: {b, c: , d: }\n", ("a", "c"), "", ""),
        ("a: &x !!float 5e-4\n", ("a",), "&x !!float 5e-4", "5e-4"),
        ("a: !!str &x 5\n", ("a",), "!!str &x 5", "5"),
        ("a: !<tag:x,2002:y> 5\n", ("a",), "!<tag:x,2002:y> 5", "5"),
        ("a: &x\nb: 1\n", ("a",), "&x", ""),
        ("a: &x\n  # c\n  b: 1\n  # d\n\nc: 1\n", ("a",), "&x\n  # c\n  b: 1", "b: 1"),
        ("a: !!seq\n- 1\n-\n\n# c\n", ("a",), "!!seq\n- 1\n-", "- 1\n-"),
        ("a: {b: 1,\n  c: 2}  # d\n", ("a",), "{b: 1,\n  c: 2}", "{b: 1,\n  c: 2}"),
        ("a: [b: 1, {c: 2}: 3]\n", ("a", 0), "b: 1", "b: 1"),
        ("a: [b: 1, {c: 2}: 3]\n", ("a", 1), "{c: 2}: 3", "{c: 2}: 3"),
        ("a: &x 1\nb: *x # c\n", ("b",), "*x", "*x"),
        ("? a\n: b\n? c\nd: 1\n", ("c",), "", ""),
        ("ключ: значение\n", ("ключ",), "значение", "значение"),
        ("\U0001f600: \U0001f601 # \U0001f602\nb: 1\n", ("b",), "1", "1"),
        ("a: 1\r\nb: 2\r\n", ("b",), "2", "2"),
        ("a: 1\rb: 2\r", ("b",), "2", "2"),
        ("a: 1\r\nb: 2\nc: 3\rd: 4", ("d",), "4", "4"),
    ],
)
def test_spans_are_the_exact_text(text: str, path: tuple[Any, ...], whole: str, content: str) -> None:
    document = parsed(text)
    node = at(document, *path)
    assert cut(document, node) == whole
    assert text[node.value_start : node.end] == content


def test_a_node_knows_how_it_is_written() -> None:
    document = parsed("a: 'x'\nb: {c: [1]}\nd: >-\n  e\nf: !t &g \"h\"\ni: *g\n")
    assert [at(document, key).style for key in ("a", "d", "f")] == ["'", ">", '"']
    flow = at(document, "b")
    assert (flow.kind, flow.flow, document.roots[0].flow) == (MAPPING, True, False)
    tagged = at(document, "f")
    assert (tagged.tag, tagged.anchor, tagged.text) == ("!t", "g", "h")
    alias = at(document, "i")
    assert (alias.kind, alias.anchor, deref(alias)) == (ALIAS, "g", tagged)
    assert repr(alias).startswith("<alias ")
    assert document.aliases == [alias]


@pytest.mark.acceptance
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_spans_of_real_configurations_hold_the_text(shared_path: Path, newline: str) -> None:
    """A plain scalar on one line is its own span; a quoted one and a block scalar parse to themselves."""
    checked = 0
    for path in configs(shared_path)[::10]:
        text = read_source(path).text.replace("\r\n", "\n").replace("\n", newline)
        document = parse(text)
        for node in every_node(document):
            span = text[node.value_start : node.end]
            if node.kind is not SCALAR:
                assert 0 <= node.start <= node.value_start <= node.end <= len(text)
            elif not node.style and newline not in span:
                assert span == node.text
                checked += 1
            elif node.style in ("'", '"'):
                assert yaml.safe_load(span) == node.text
    assert checked > 3000


# --- Finding and walking ---


def test_find_follows_aliases_and_merges() -> None:
    text = "base: &b {lr: 1, n: {m: 2}}\nover: &o {lr: 3, k: 4}\nrun:\n  <<: [*o, *b]\n  k: 5\nsame: *b\nlist: [*o]\n"
    document = parsed(text)
    assert at(document, "run", "k").text == "5"
    assert at(document, "run", "lr").text == str(yaml.safe_load(text)["run"]["lr"])
    assert at(document, "run", "n", "m").text == "2"
    assert at(document, "same", "n", "m").text == "2"
    assert at(document, "list", 0, "k").text == "4"
    assert at(document, "same").kind is ALIAS
    assert document.find(("run", "<<")) is not None
    assert [step.shared for step in document.trace(("run", "lr")) or ()] == ["", "merge"]


def test_find_takes_the_last_of_equal_keys() -> None:
    assert at(parsed("a: 1\na: 2\n"), "a").text == "2"


@pytest.mark.parametrize("key", ["lr", "x", "\xe9", "\u0646", "''", "1"])
@pytest.mark.parametrize("merge", ["<<: *a, <<: *b", "<<: [*a, *b]", "<<: *b, <<: *a", "<<: [*b, *a, *b]"])
@pytest.mark.parametrize("second", ["&b {KEY: 2}", "&b {<<: *a, KEY: 2}", "&b {KEY: 2, KEY: 3}"])
def test_merged_entries_are_found_as_the_installed_pyyaml_reads_them(
    key: str, merge: str, second: str
) -> None:
    text = f"a: &a {{KEY: 1, n: {{m: 4}}}}\nb: {second}\nc: {{{merge}, z: 0}}\n".replace("KEY", key)
    document = parsed(text)
    read = yaml.safe_load(text)["c"]
    assert document.data(PYYAML)["c"] == read
    assert list(document.data(PYYAML)["c"]) == list(read)
    for name, value in read.items():
        if not isinstance(value, dict):
            assert at(document, "c", str(name)).text == str(value)


@pytest.mark.parametrize(
    "text",
    [
        "a: &a {? &k lr : 1}\nb: &b {*k : 2}\nc: {<<: *a, <<: *b}",
        "a: &a {1: x}\nb: &b {'1': y}\nc: {<<: [*a, *b]}",
        "a: &a {x: 1, lr: 1}\nb: &b {<<: *a, x: 2, lr: 2}\nc: &c {<<: *b}\nd: {<<: *c, <<: *a}",
        "a: &a {}\nc: {<<: *a, <<: [], <<: [*a], x: 1}",
    ],
)
def test_merges_of_several_levels_are_read_as_the_installed_pyyaml_does(text: str) -> None:
    assert list(parsed(text).data(PYYAML).items()) == list(yaml.safe_load(text).items())


_MERGES = st.lists(
    st.tuples(
        st.lists(st.tuples(st.sampled_from(["x", "lr", "'1'", "1", "''"]), st.integers(0, 9)), max_size=4),
        st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=3), max_size=3),
    ),
    min_size=2,
    max_size=6,
)


@settings(max_examples=150)
@given(_MERGES)
def test_any_merges_are_read_as_the_installed_pyyaml_does(sections: list[Any]) -> None:
    lines = []
    for number, (entries, merges) in enumerate(sections):
        inner = [f"{key}: {value}" for key, value in entries]
        for names in merges:
            known = [f"*s{name}" for name in names if name < number]
            if len(known) == 1:
                inner.insert(len(inner) // 2, f"<<: {known[0]}")
            elif known:
                inner.append(f"<<: [{', '.join(known)}]")
        lines.append(f"s{number}: &s{number} {{{', '.join(inner)}}}\n")
    text = "".join(lines)
    document, read = parsed(text), yaml.safe_load(text)
    built = document.data(PYYAML)
    assert repr(built) == repr(read)


@pytest.mark.parametrize(
    "path", [("x",), ("a", "b", "c"), ("l", 2), ("l", -1), ("l", "0"), ("a", 0), (0,), ("l", 0, "z")]
)
def test_what_is_not_there_is_none(path: tuple[Any, ...]) -> None:
    assert parsed("a: {b: 1}\nl: [1, {y: 1}]\n").find(path) is None


def test_the_empty_path_is_the_root() -> None:
    document = parsed("--- a\n--- b\n")
    assert document.find((), 1) == (None, document.roots[1])
    assert document.find((), 2) is None
    assert document.find(("a",), 5) is None


def test_find_in_a_circle_of_merges_ends() -> None:
    document = parsed("a: &a\n  <<: *a\n  b: &b {<<: *a}\n")
    assert document.find(("a", "zz")) is None
    assert document.find(("a", "b", "b")) is not None


def test_a_long_chain_of_merges_is_followed_without_recursion() -> None:
    text = "k0: &k0 {deep: 1}\n" + "".join(f"k{n}: &k{n} {{<<: *k{n - 1}}}\n" for n in range(1, 100))
    assert at(parsed(text), "k99", "deep").text == "1"


def test_walk_yields_every_entry_once_in_order() -> None:
    document = parsed("a: &x {b: 1}\nc: [2, *x]\n? [d]\n: 3\na: 4\n--- {e: 5}\n")
    seen = [
        (path, document.source.text[value.start : value.end], number)
        for path, _, value, _, number in document.walk()
    ]
    assert seen == [
        (("a",), "&x {b: 1}", 0),
        (("a", "b"), "1", 0),
        (("c",), "[2, *x]", 0),
        (("c", 0), "2", 0),
        (("c", 1), "*x", 0),
        (("[d]",), "3", 0),
        (("a",), "4", 0),
        (("e",), "5", 1),
    ]


def test_walk_gives_keys_and_parents() -> None:
    document = parsed("a: [b]\n")
    entries = list(document.walk())
    assert entries[0][1] is not None
    assert entries[0][1].text == "a"
    assert entries[0][3] is document.roots[0]
    assert entries[1][1] is None
    assert entries[1][3] is entries[0][2]


# --- Several documents, empty files, marks ---


def test_several_documents_with_directives() -> None:
    text = "%YAML 1.1\n---\na: 1\n...\n# between\n--- \nb: 2\n"
    document = parsed(text)
    assert document.versions == [(1, 1), None]
    assert [document.data(PYYAML, number) for number in (0, 1)] == [{"a": 1}, {"b": 2}]
    assert at(document, "a").text == "1"
    start, end = document.bounds[1]
    assert text[start:end].strip() == "b: 2"


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment", "# a\n# b\n", "\r\n"])
def test_a_file_without_content_has_no_documents(text: str) -> None:
    document = parsed(text)
    assert document.roots == []
    assert document.data(PYYAML) is None
    assert document.find(()) is None
    assert list(document.walk()) == []


def test_a_byte_order_mark_does_not_shift_spans() -> None:
    source = SourceFile.from_bytes(b"\xef\xbb\xbfa: 1\nb: 2\n", "a.yaml")
    document = compose(source)
    node = at(document, "b")
    assert source.text[node.start : node.end] == "2"
    assert source.position(node.start) == (2, 4)


def test_a_second_byte_order_mark_is_told() -> None:
    source = SourceFile.from_bytes(b"\xef\xbb\xbf\xef\xbb\xbfa: 1\n", "a.yaml")
    assert compose(source).problem == Problem("a second byte order mark", 0, 1, 1, "remove it", "syntax")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_wide_encodings_parse(encoding: str) -> None:
    mark = "\ufeff".encode(encoding)
    source = SourceFile.from_bytes(mark + "ключ: 5\n".encode(encoding), "a.yaml")
    assert compose(source).data(PYYAML) == {"ключ": 5}


# --- Line breaks that only YAML 1.1 knows ---


@pytest.mark.parametrize("char", ["\x85", "\u2028", "\u2029"])
def test_rare_line_breaks_keep_spans_and_editor_lines(char: str) -> None:
    document = parsed(f"a: 'x{char}y'\nb: 2 # c{char}d: 3\n")
    assert cut(document, at(document, "b")) == "2"
    assert document.source.position(at(document, "b").start)[0] == 2
    # libyaml ends the comment at the break, as YAML 1.1 says.
    assert at(document, "d").text == "3"


# --- Tabs ---


@pytest.mark.parametrize("text", ["a: 1 #\tc\n", "a: 'x\ty'\n", "a: |\n  x\ty\n"])
def test_tabs_in_comments_and_content_are_fine(text: str) -> None:
    assert pure_problem(parsed(text)) is None


@pytest.mark.parametrize(
    ("text", "line"),
    [("a:\n\tb: 1\n", 2), ("a:\n  b: 1\n\tc: 2\n", 3), ("a:\n  - 1\n \t- 2\n", 3), ("a:\r\n\tb: 1\r\n", 2)],
)
def test_tab_indentation_is_told_at_the_tab(text: str, line: int) -> None:
    found = problem(text)
    assert (found.kind, found.line) == ("tab-indentation", line)
    assert text[found.offset] == "\t"
    assert found.message == "this line is indented with a tab; YAML allows only spaces"
    assert found.hint == "replace the tab with spaces"


@pytest.mark.parametrize(("text", "column"), [("a: 1\t# c\n", 5), ("a:\t1\n", 3)])
def test_a_tab_that_only_safe_load_refuses_is_told_apart(text: str, column: int) -> None:
    document = parsed(text)
    assert document.data(PYYAML) == {"a": 1}
    found = pure_problem(document)
    assert found is not None
    assert (found.line, found.column) == (1, column)
    assert "`yaml.safe_load` refuses it" in found.message


# --- Problems ---


@pytest.mark.parametrize(
    ("text", "kind", "line", "column", "words"),
    [
        ("a: 1\nb: @x\n", "special-start", 2, 4, "cannot start with '@'"),
        ("a: `x`\n", "special-start", 1, 4, "cannot start with '`'"),
        ("a: %x\n", "special-start", 1, 4, "cannot start with '%'"),
        ("a: *.txt\n", "special-start", 1, 4, "cannot start with '*'"),
        ("a: &\n", "special-start", 1, 4, "cannot start with '&'"),
        ("a: *nope\n", "undefined-alias", 1, 4, "*nope refers to an anchor that is not defined"),
        ("a: &x 1\n---\nb: *x\n", "undefined-alias", 3, 4, "*x refers"),
        ("a: 1\nb: {{ lr }}\n", "template", 2, 4, "template"),
        ("{{ all }}\n", "template", 1, 1, "template"),
        ("{% for x in y %}\na: 1\n{% endfor %}\n", "template", 1, 2, "template"),
        ("a: 1\n{% if x %}\nb: 2\n", "template", 2, 2, "template"),
        ("a: {{ x }} b\n", "template", 1, 12, "template"),
        ("${x}: {${y}}: 1\n", "template", 1, 9, "template"),
        ("a: b: c\n", "syntax", 1, 5, "second `: `"),
        ("a: 1\n  b: 2\n", "syntax", 2, 4, "deeper than its siblings"),
        ("a: 1\nb\nc: 2\n", "syntax", 3, 1, "without `: `"),
        ("a:\n  b: 1\n c: 2\n", "syntax", 3, 2, "does not line up"),
        ("a: [1, 2\nb: 3\n", "syntax", 2, 2, "not closed"),
        ("a: {b: 1\n", "syntax", 2, 1, "not closed"),
        ("a: {b:}\n", "syntax", 1, 6, "a colon stands right before"),
        ("a: 'x\n", "syntax", 2, 1, "not closed before the file ends"),
        ('a: "\\d"\n', "syntax", 1, 5, "escape that YAML does not have"),
        ("a: \x07\n", "syntax", 1, 4, "U+0007"),
        ("a: 1\nb: \x7f\n", "syntax", 2, 4, "U+007F"),
        ("%YAML 3.0\n---\na\n", "syntax", 1, 1, "%YAML"),
        ("a: !x!y 1\n", "syntax", 1, 4, "handle"),
    ],
)
def test_problems_are_placed_and_said_in_plain_words(
    text: str, kind: str, line: int, column: int, words: str
) -> None:
    document = parse(text)
    found = document.problem
    assert found is not None
    assert (found.kind, found.line, found.column) == (kind, line, column)
    assert words in found.message
    assert document.roots == []
    assert document.source.position(found.offset) == (line, column)
    assert found.hint


@pytest.mark.parametrize(
    "text", ["a: ${x}\n", "a: '{{ x }}'\n", "a: ${oc.env:HOME}/x\n", "a: # {{ x }}\n", "a: {b: {c: 1}}\n"]
)
def test_placeholders_that_are_yaml_are_no_problem(text: str) -> None:
    parsed(text)


@given(st.text(alphabet="ab:-[]{},#&*!|>'\"%@`\n \t\r?\u2028\x85\x00\x07\ufeff", max_size=40))
def test_no_text_raises(text: str) -> None:
    document = parse(text)
    if document.problem is None:
        for node in every_node(document):
            assert 0 <= node.start <= node.value_start <= node.end <= len(text)
        for loader in LOADERS.values():
            for number in range(len(document.roots)):
                try:
                    document.data(loader, number)
                except DataError:
                    continue
    else:
        assert document.roots == []
        assert 0 <= document.problem.offset <= len(text)


@given(st.binary(max_size=60))
def test_no_bytes_raise_anything_but_the_one_error(raw: bytes) -> None:
    try:
        source = SourceFile.from_bytes(raw, "a.yaml")
    except UnreadableError:
        return
    compose(source)


# --- Limits ---


LAUGHS = "a0: &a0 [x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)
MERGE_LAUGHS = "a0: &a0 {x: 1}\n" + "".join(
    f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 12)
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[" * 10_000 + "]" * 10_000, "nested more than 128 levels"),
        ("[" * 100_000, "nested more than 128 levels"),
        ("{" * 100_000, "nested more than 128 levels"),
        ("[\n" * 10_000, "nested more than 128 levels"),
        ("- " * 10_000 + "x", "nested more than 128 levels"),
        ("? " * 10_000 + "x", "nested more than 128 levels"),
        ("{a: " * 10_000, "nested more than 128 levels"),
        ("".join(" " * n + "a:\n" for n in range(2000)), "nested more than 128 levels"),
        (LAUGHS, "aliases expand to more than 3,000,000 values"),
        (MERGE_LAUGHS, "aliases expand to more than 3,000,000 values"),
        (
            "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 500)),
            "aliases nest more than 128",
        ),
        ("".join(f"%TAG !t{n}! tag:x\n" for n in range(2000)) + "---\na\n", "more than 1000 %TAG directives"),
    ],
    ids=[
        "brackets",
        "open",
        "braces",
        "lines",
        "dashes",
        "questions",
        "pairs",
        "indents",
        "laughs",
        "merges",
        "chain",
        "tags",
    ],
)
def test_bombs_are_refused_in_no_time(text: str, words: str) -> None:
    found = problem(text)
    assert found.kind == "limit"
    assert words in found.message


def test_the_depth_limit_is_exact() -> None:
    assert parse("[" * 128 + "]" * 128).problem is None
    assert parse("[" * 129 + "]" * 129).problem is not None


def test_the_deepest_document_loads_everywhere() -> None:
    document = parsed("[" * 128 + "]" * 128)
    for loader in LOADERS.values():
        data, depth = document.data(loader), 0
        while data:
            data, depth = data[0], depth + 1
        assert depth == 127


def test_values_and_time_are_limited() -> None:
    text = "- 1\n" * 20_000
    found = parse(text, Limits(nodes=10_000)).problem
    assert found is not None
    assert found.message == "more than 10,000 values"
    found = parse(text, Limits(seconds=0.0)).problem
    assert found is not None
    assert "more than 0 seconds" in found.message


def test_a_modest_use_of_aliases_is_fine() -> None:
    text = (
        "base: &b\n"
        + "".join(f"  k{n}: {n}\n" for n in range(100))
        + "".join(f"u{n}: *b\n" for n in range(1000))
    )
    assert len(parsed(text).data(PYYAML)["u999"]) == 100


# --- Data ---


@pytest.mark.parametrize(
    "text",
    [
        "a: 1e-4\nb: no\nc: 0o17\nd: 010\ne: 1:30\nf: 2001-01-01\n",
        "on: 1\n1: a\n1.5: b\n~: c\n2001-01-01: d\noff: e\n",
        "a: !!float 5e-4\nb: !!str 12\nc: !!int '7'\nd: !!bool yes\ne: !!null x\nf: !!timestamp 2001-01-01\n",
        "a: !!binary aGVsbG8=\nb: !!set {x, y}\nc: !!pairs [x: 1, x: 2]\nd: !!map {}\ne: !!seq []\n",
        "base: &b {x: 1, y: 2}\nrun:\n  z: 0\n  <<: *b\n  y: 3\n",
        "a: &a {x: 1}\nb: &b {x: 2, y: 2}\nc: {<<: [*a, *b], z: 1}\n",
        "x: &x [1]\ny: [*x, *x]\n",
        "'<<': {a: 1}\n=: 2\n",
        "a: !t {b: 1}\nc: !t [1]\nd: !t x\n",
        "a: ! 12\nb: ! x\n",
        "plain multi\n line\n",
        "- |\n  a\n  b\n- >-\n  c\n  d\n- 'e\n\n  f'\n",
        "--- 1\n--- 2\n",
    ],
)
@pytest.mark.parametrize("name", ["pyyaml", "ruamel"])
def test_data_is_what_the_real_loader_gives(text: str, name: str) -> None:
    document = parsed(text)
    ours = [document.data(LOADERS[name], number) for number in range(len(document.roots))]
    assert same_value(REAL_LOADS[name](text), ours)


REFUSED_BY_BOTH = [
    "a: 2001-13-01\n",
    "a: !!int x\n",
    "a: !!bool maybe\n",
    "a: !!binary 'ü'\n",
    "{a: 1}: b\n",
    "a: !!float [1]\n",
    "a: !!seq {}\n",
    "a: !!omap {}\n",
    "a: !!pairs [1]\n",
    "a: {<<: 1}\n",
    "a: {<<: [1]}\n",
    "a: =\n",
    "a: <<\n",
]


@pytest.mark.parametrize("text", REFUSED_BY_BOTH)
@pytest.mark.parametrize("name", ["pyyaml", "ruamel"])
def test_what_the_real_loader_refuses_is_refused(text: str, name: str) -> None:
    with pytest.raises(Exception):  # noqa: B017, PT011 - whatever it raises
        REAL_LOADS[name](text)
    with pytest.raises(DataError) as caught:
        parsed(text).data(LOADERS[name])
    assert str(caught.value).startswith("a.yaml:1:")


def test_duplicate_keys_by_loader() -> None:
    document = parsed("a: 1\nb: 2\na: 3\n")
    assert list(document.data(PYYAML).items()) == [("a", 3), ("b", 2)]
    for loader in (RUAMEL, OMEGACONF):
        with pytest.raises(DataError, match=r"a\.yaml:3:1: .* refuses the duplicate key 'a'"):
            document.data(loader)


def test_a_reused_anchor_by_loader() -> None:
    document = parsed("a: &x 1\nb: &x 2\nc: *x\n")
    with pytest.raises(DataError, match="refuses a second anchor &x"):
        document.data(PYYAML)
    assert document.data(RUAMEL) == {"a": 1, "b": 2, "c": 2}


def test_a_second_merge_key_by_loader() -> None:
    document = parsed("a: &a {x: 1}\nb: {<<: *a, <<: *a}\n")
    assert document.data(PYYAML)["b"] == {"x": 1}
    with pytest.raises(DataError, match="second merge key"):
        document.data(RUAMEL)


def test_a_list_as_key_by_loader() -> None:
    document = parsed("[1, 2]: a\n")
    with pytest.raises(DataError, match="refuses a sequence as a key"):
        document.data(PYYAML)
    assert document.data(RUAMEL) == {(1, 2): "a"}


@pytest.mark.parametrize(
    "text", ["a: &a [*a]\n", "a: &a {b: *a}\n", "&r a: &x {<<: *x, b: 1}\n", "&x [{*x : 1}]\n"]
)
def test_what_holds_itself_is_refused_as_data(text: str) -> None:
    document = parsed(text)
    assert document.recursive is not None
    for loader in LOADERS.values():
        with pytest.raises(DataError, match="stands inside the value it names"):
            document.data(loader)


def test_no_tag_is_ever_acted_upon() -> None:
    text = "a: !!python/object/apply:os.system ['exit 1']\nb: !!python/name:os.system\nc: !!python/tuple [1, 2]\n"
    data = parsed(text).data(PYYAML)
    assert data == {
        "a": Tagged("tag:yaml.org,2002:python/object/apply:os.system", ["exit 1"]),
        "b": Tagged("tag:yaml.org,2002:python/name:os.system", ""),
        "c": Tagged("tag:yaml.org,2002:python/tuple", [1, 2]),
    }
    assert hash(data["c"]) == hash(Tagged("tag:yaml.org,2002:python/tuple", []))


def test_the_value_of_one_node() -> None:
    document = parsed("a: {lr: 1e-4, l: [1, 2]}\n")
    assert value_of(at(document, "a", "lr"), PYYAML, document) == "1e-4"
    assert value_of(at(document, "a", "lr"), RUAMEL, document) == 1e-4
    assert value_of(at(document, "a"), PYYAML, document) == {"lr": "1e-4", "l": [1, 2]}


@pytest.mark.acceptance
def test_real_files_give_what_the_real_loaders_give(shared_path: Path) -> None:
    """Every configuration and every case of the YAML test suite that both can parse."""
    counts: Counter[str] = Counter()
    for path in [*configs(shared_path), *suite(shared_path)]:
        source = read_source(path)
        document = compose(source)
        if document.problem is not None:
            continue
        for name, load in REAL_LOADS.items():
            if name == "ruamel" and path.name != "in.yaml" and hash(path.name) % 4:
                continue
            try:
                real = load(source.text)
            except Exception:  # noqa: BLE001 - whatever it raises, it refuses
                continue
            try:
                ours = [document.data(LOADERS[name], number) for number in range(len(document.roots))]
            except DataError:
                counts["only refused here"] += 1
                continue
            same = same_value(real, ours) or (not ours and real == [None])
            counts["same" if same else f"differs: {path} {name}"] += 1
    assert counts.pop("same") > 1100
    # ruamel.yaml reads `!!omap` as an ordered mapping, and an anchor with a colon in its name.
    known = {"J7PZ", "Y2GN"}
    assert {key.split("/")[-2] for key in counts if key.startswith("differs")} <= known
    assert counts["only refused here"] == 0


# --- The parser around it ---


def test_the_collector_is_left_as_it_was() -> None:
    assert gc.isenabled()
    parse("a: 1\n")
    parse("a: 'x\n")
    assert gc.isenabled()
    gc.disable()
    try:
        parse("a: 1\n")
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.acceptance
def test_the_pure_parser_gives_the_same_nodes(shared_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where PyYAML was built without libyaml, its own parser takes over."""

    def shape(document: Document) -> list[Any]:
        return [
            (node.kind, node.start, node.end, node.text, node.tag, node.anchor)
            for node in every_node(document)
        ]

    paths = configs(shared_path)[::40]
    with_c = [shape(compose(read_source(path))) for path in paths]
    monkeypatch.setitem(sys.modules, "yaml.cyaml", None)
    assert type(module._event_parser("a")).__name__ == "SafeLoader"
    assert [shape(compose(read_source(path))) for path in paths] == with_c
    assert problem("a: b: c\n").kind == "syntax"


def test_importing_costs_little() -> None:
    heavy = ["yaml", "ruamel", "ruamel.yaml", "typing", "logging", "pathlib", "json", "datetime", "base64"]
    code = (
        "import sys, cfgfix.config.document.compose as c\n"
        f"early = [name for name in {heavy!r} if name in sys.modules]\n"
        "d = c.compose(c.SourceFile.from_text('a: 1'))\n"
        "print(early, 'ruamel.yaml' in sys.modules, d.roots)"
    )
    root = Path(module.__file__).parents[3]
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root
    )
    assert answer.stdout.startswith("[] False [<mapping")
