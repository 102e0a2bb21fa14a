"""The proof of an edit: it passes what is right, and nothing that is wrong gets through."""

from __future__ import annotations

import contextlib
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfgfix.config.document import proof
from cfgfix.config.document.comments import comments
from cfgfix.config.document.compose import Document, compose
from cfgfix.config.document.editor import plan
from cfgfix.config.document.proof import ProofError, prove
from cfgfix.config.document.readers import Reader, Slot
from cfgfix.config.loaders.scalars import LOADERS, Loader
from cfgfix.core.edits import Change, DeleteKey, Edit, InsertKey, RenameKey, ReplaceText, SetValue, splice
from cfgfix.core.source_file import SourceFile

PYYAML = LOADERS["pyyaml"]


def document_of(text: str) -> Document:
    return compose(SourceFile.from_text(text, "a.yaml"))


def attempt(text: str, changes: Sequence[Change], edits: Sequence[Edit], loader: str = "pyyaml") -> Document:
    document = document_of(text)
    return prove(document, splice(text, edits), changes, edits, LOADERS[loader])


def fails(step: str, words: str, text: str, changes: Sequence[Change], edits: Sequence[Edit]) -> None:
    with pytest.raises(ProofError) as caught:
        attempt(text, changes, edits)
    assert (caught.value.step, words in caught.value.message) == (step, True), caught.value
    assert str(caught.value) == caught.value.message


def replace(text: str, old: str, new: str) -> Edit:
    assert text.count(old) == 1
    start = text.index(old)
    return Edit(start, start + len(old), new)


TEXT = "a: 1 # one\nb: {c: 2, d: [3]}\ne: x # two\n"
SET_A = [SetValue(("a",), 9)]


def test_what_was_meant_passes_and_gives_the_document() -> None:
    after = attempt(TEXT, SET_A, [replace(TEXT, "1", "9")])
    assert after.data(PYYAML)["a"] == 9
    assert after.source.path == "a.yaml"


# --- Odd tags ---


@pytest.mark.parametrize(
    "odd",
    [
        "!!seq x",
        "!!map x",
        "!!set x",
        "!!omap x",
        "!!merge x",
        "!!merge [x]",
        "!!value {x: 1}",
        "!!seq {x: 1}",
        "!!map [x]",
        "!!int [1]",
        "!!str {c: 1}",
        "!!binary [x]",
        "!!float",
    ],
)
def test_tags_that_do_not_fit_are_no_crash(odd: str) -> None:
    text = f"a: 1\nb: {odd}\n"
    with contextlib.suppress(ProofError):
        attempt(text, SET_A, [replace(text, "a: 1\nb", "a: 9\nb")])


# --- Anchors ---


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("a: &an:chor 1\n", ":chor 1", "null"),
        ("a: &x 1\n", "&x 1", "null"),
        ("a: 1\n", "1", "&x null"),
        ("a: &x 1\nb: &y 2\n", "&x 1", "&z null"),
    ],
)
def test_the_names_of_anchors_stay(text: str, old: str, new: str) -> None:
    fails("anchors", "the names of anchors", text, [SetValue(("a",), None)], [replace(text, old, new)])


def test_an_anchor_may_go_with_the_entry_that_holds_it() -> None:
    text = "a: &x 1\nb: &y {c: &z 2}\nd: *y\n"
    assert attempt(text, [DeleteKey(("a",))], [replace(text, "a: &x 1\n", "")])
    fails(
        "anchors",
        "the names of anchors",
        text,
        [DeleteKey(("a",))],
        [replace(text, "a: &x 1\n", ""), replace(text, "&z 2", "&u 2")],
    )


# --- Text ---


def test_text_outside_the_edits_must_be_the_same() -> None:
    edits = [replace(TEXT, "1", "9")]
    with pytest.raises(ProofError, match="differs outside the edits") as caught:
        prove(document_of(TEXT), splice(TEXT, edits) + "\n", SET_A, edits, PYYAML)
    assert caught.value.step == "text"


def test_overlapping_edits_are_no_text() -> None:
    with pytest.raises(ProofError, match="overlap"):
        prove(document_of(TEXT), TEXT, SET_A, [Edit(0, 5, "x"), Edit(3, 6, "y")], PYYAML)


def test_a_result_that_no_encoding_carries_is_no_text() -> None:
    edits = [replace(TEXT, "1", "'\ud800'")]
    with pytest.raises(ProofError) as caught:
        prove(document_of(TEXT), splice(TEXT, edits), SET_A, edits, PYYAML)
    assert caught.value.step == "text"


# --- Parsing ---


def test_a_result_that_does_not_parse() -> None:
    fails("parse", "would not parse", TEXT, SET_A, [replace(TEXT, "1", "9: 8: 7")])


def test_a_result_that_one_reader_cannot_read() -> None:
    # libyaml takes the tab, PyYAML's own parser and ruamel.yaml do not.
    fails("parse", "PyYAML could not read the result", TEXT, SET_A, [replace(TEXT, "1 #", "9\t#")])


def test_a_file_that_no_independent_reader_can_read() -> None:
    text = "a: 1\t# c\n"
    fails("parse", "neither PyYAML nor ruamel.yaml can read the file", text, SET_A, [replace(text, "1", "9")])


# --- Meaning ---


@pytest.mark.parametrize(
    ("changes", "old", "new", "words"),
    [
        (SET_A, "1", "8", "a is 8 where 9 is meant"),
        (SET_A, "1", "9.0", "a is 9.0 where 9 is meant"),
        (SET_A, "1", "'9'", "a is '9' where 9 is meant"),
        (SET_A, "1", "[9]", "a is a list where 9 is meant"),
        (SET_A, "2", "9", "b.c is 9 where 2 is meant"),
        (SET_A, "1 # one\nb", "9\nz", "the key 'z' where 'b' is meant"),
        ([SetValue(("a",), 1e-4)], "1", "1e-4", "a is '1e-4' where 0.0001 is meant"),
        ([SetValue(("a",), 8)], "1", "0o10", "a is '0o10' where 8 is meant"),
        ([SetValue(("a",), True)], "1", "yes", "ruamel.yaml would see another change: a is 'yes' where True"),
        ([SetValue(("a",), 8)], "1", "010", "ruamel.yaml would see another change: a is 10 where 8"),
        ([SetValue(("z",), 1)], "1", "9", "no entry z is seen"),
        ([SetValue(("a",), 9, document=1)], "1", "9", "no document 1"),
        ([SetValue(("a", "b"), 9)], "1", "9", "no collection is seen on the way to a.b"),
        ([InsertKey((), "z", 1)], "e: x # two\n", "z: 1\ne: x # two\n", "the key 'z' where 'e' is meant"),
        ([InsertKey((), "z", {"y": 1})], "x # two\n", "x # two\nz: {y: 2}\n", "z.y is 2 where 1 is meant"),
        ([InsertKey((), "z", 1)], "x # two\n", "x # two\non: 1\n", "the key True where 'z' is meant"),
        ([InsertKey((), "z", 1, after="q")], "x # two\n", "x # two\nz: 1\n", "no key q is seen"),
        ([RenameKey(("a",), "on")], "a: 1", "on: 1", "the key True where 'on' is meant"),
        ([DeleteKey(("b", "c"))], "c: 2, ", "", ""),
        ([DeleteKey(("b", "c"))], ", d: [3]", "", "b has the key 'c' where 'd' is meant"),
        ([DeleteKey(("b", "c"))], "c: 2, d: [3]", "", "b has 0 entries instead of 1"),
        ([DeleteKey(("a",), 1)], "a: 1 # one\n", "", "a is seen 1 times"),
    ],
)
def test_what_was_not_meant_is_seen(changes: list[Change], old: str, new: str, words: str) -> None:
    edits = [replace(TEXT, old, new)]
    if not words:
        attempt(TEXT, changes, edits)
        return
    fails("meaning", words, TEXT, changes, edits)


def test_the_order_of_keys_counts() -> None:
    text = "a: 1\nb: 2\n"
    fails(
        "meaning",
        "the key 'b' where 'a' is meant",
        text,
        [SetValue(("a",), 9)],
        [Edit(0, 10, "b: 2\na: 9\n")],
    )


def test_foreign_tags_count() -> None:
    text = "a: !x 1\nb: !y {c: 1}\nc: 2\n"
    change = [SetValue(("c",), 3)]
    edit = replace(text, "c: 2", "c: 3")
    attempt(text, change, [edit])
    fails("meaning", "a is !z '1' where !x '1' is meant", text, change, [replace(text, "!x", "!z"), edit])
    fails("meaning", "another kind of collection", text, change, [replace(text, "!y", "!z"), edit])


def test_a_change_in_another_document_is_seen() -> None:
    text = "a: 1\n---\nb: 1\n"
    fails(
        "meaning",
        "b is 2 where 1 is meant",
        text,
        [SetValue(("a",), 9)],
        [Edit(3, 4, "9"), Edit(12, 13, "2")],
    )
    fails("meaning", "2 documents instead of 1", "a: 1\n", [], [Edit(5, 5, "---\nb: 1\n")])


def test_a_document_that_vanishes_is_seen() -> None:
    fails("meaning", "1 documents instead of 2", "a: 1\n---\nb: 1\n", [], [Edit(5, 14, "")])


@pytest.mark.parametrize("loader", sorted(LOADERS))
def test_every_loader_of_a_project_is_proven_for(loader: str) -> None:
    text = "lr: 1e-4\nbig: 1.0e5\ndate: 2001-01-01\n"
    edit = replace(text, "1e-4", "1.0e-4")
    attempt(text, [SetValue(("lr",), 1e-4)], [edit], loader)


def test_the_project_s_own_loader_is_a_reader() -> None:
    # OmegaConf reads the old and the new text as this float; plain PyYAML would see a string.
    text = "lr: 1\n"
    with pytest.raises(ProofError, match="OmegaConf would see another change: lr is '1x'"):
        attempt(text, [SetValue(("lr",), 1)], [replace(text, "1", "1x")], "omegaconf")


def test_a_merge_key_stays_what_it_is() -> None:
    text = "a: &a {x: 1}\nb: {<<: *a, y: 2}\n"
    attempt(text, [SetValue(("b", "y"), 3)], [replace(text, "2", "3")])
    fails("meaning", "the key '<<' where << is meant", text, [], [replace(text, "<<", "'<<'")])


def test_shared_values_are_counted_by_the_readers_themselves() -> None:
    text = "a: &a {x: 1}\nb: *a\n"
    edits = [replace(text, "1", "2")]
    fails(
        "shared", "a.x belongs to a value that other places use too", text, [SetValue(("a", "x"), 2)], edits
    )
    after = prove(
        document_of(text), splice(text, edits), [SetValue(("a", "x"), 2)], edits, PYYAML, shared=True
    )
    assert after.data(PYYAML) == {"a": {"x": 2}, "b": {"x": 2}}


def test_a_shared_scalar_is_seen_to_change_elsewhere() -> None:
    text = "a: &a 1\nb: *a\n"
    edits = [replace(text, "1", "2")]
    fails("meaning", "b is 2 where 1 is meant", text, [SetValue(("a",), 2)], edits)
    prove(document_of(text), splice(text, edits), [SetValue(("a",), 2)], edits, PYYAML, shared=True)


def test_a_value_that_holds_itself_does_not_hang_the_proof() -> None:
    text = "a: &a [1, *a]\nb: 1\n"
    attempt(text, [SetValue(("b",), 2)], [replace(text, "b: 1", "b: 2")])
    fails("shared", "a[0] belongs to", text, [SetValue(("a", 0), 2)], [replace(text, "[1", "[2")])


def test_an_empty_file_may_get_its_first_key() -> None:
    for text in ("", "# c\n"):
        after = attempt(text, [InsertKey((), "a", 1)], [Edit(len(text), len(text), "a: 1\n")])
        assert after.data(PYYAML) == {"a": 1}


# --- Loading ---


def test_a_duplicate_key_may_go() -> None:
    text = "a: 1\nb: 2\na: 3\n"
    attempt(text, [DeleteKey(("a",), 0)], [Edit(0, 5, "")])
    attempt(text, [DeleteKey(("a",), 1)], [Edit(10, 15, "")])
    fails("meaning", "the key 'b' where 'a' is meant", text, [DeleteKey(("a",), 1)], [Edit(0, 5, "")])


def test_one_of_several_duplicates_may_go_while_others_stay() -> None:
    text = "a: 1\na: 2\nb: 1\nb: 2\n"
    attempt(text, [DeleteKey(("a",), 0)], [Edit(0, 5, "")])


def test_a_change_must_not_bring_a_duplicate_key() -> None:
    fails(
        "loads",
        "ruamel.yaml (YAML 1.2) would no longer load",
        "a: 1\n",
        [InsertKey((), "a", 2)],
        [Edit(5, 5, "a: 2\n")],
    )


def test_a_change_must_not_bring_a_second_anchor() -> None:
    text = "a: &x 1\nb: 2\n"
    fails("parse", "duplicate anchor", text, [], [replace(text, "2", "&x 2")])


# --- Repairs of files that did not load ---


def test_a_tab_may_be_repaired() -> None:
    text = "a:\n\tb: 1\n\tc: 2\n"
    changes: list[Change] = [ReplaceText(3, 4, "  "), ReplaceText(9, 10, "  ")]
    after = attempt(text, changes, [Edit(3, 4, "  "), Edit(9, 10, "  ")])
    assert after.data(PYYAML) == {"a": {"b": 1, "c": 2}}
    fails("parse", "would not parse", text, changes[:1], [Edit(3, 4, "  ")])


def test_a_bad_escape_may_be_repaired() -> None:
    text = 'a: "\\d"\n'
    assert attempt(text, [ReplaceText(3, 7, "'\\d'")], [Edit(3, 7, "'\\d'")]).data(PYYAML) == {"a": "\\d"}


def test_bare_text_may_say_the_same_in_other_words() -> None:
    text = "a: &a {x: 1}\nb: &b {y: 2}\nc:\n  <<: *a\n  <<: *b\n  z: 3\n"
    start, end = text.index("  <<: *a"), text.index("  z: 3")
    new = "  <<: [*b, *a]\n"
    assert attempt(text, [ReplaceText(start, end, new)], [Edit(start, end, new)]).data(PYYAML)["c"] == {
        "x": 1, "y": 2, "z": 3,
    }  # fmt: skip


def test_bare_text_must_not_say_something_else() -> None:
    text = "a: &a {x: 1}\nb: &b {x: 2}\nc: {<<: *a}\n"
    start = text.index("*a")
    change = ReplaceText(start, start + 2, "*b")
    fails("meaning", "c.x is 2 where 1 is meant", text, [change], [Edit(start, start + 2, "*b")])


def test_bare_text_may_come_with_other_changes() -> None:
    text = "a: 1 # cfgfix: ignore\nb: 2\n"
    changes: list[Change] = [ReplaceText(4, 21, ""), SetValue(("b",), 3)]
    assert attempt(text, changes, [Edit(4, 21, ""), Edit(25, 26, "3")]).source.text == "a: 1\nb: 3\n"


# --- Comments ---


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("1 # one", "9", "'# one' would be lost"),
        ("1 # one", "9 # two", "'# one' would be lost"),
        ("1 # one", "9 # one # more", "'# one' would be lost"),
        ("1", "9 # new", "'# one' would be lost"),
        ("1 # one", "9 # one\n# new", "the comments would change"),
    ],
)
def test_comments_must_stay(old: str, new: str, words: str) -> None:
    fails("comments", words, TEXT, SET_A, [replace(TEXT, old, new)])


def test_the_comment_of_a_deleted_entry_goes_and_no_other() -> None:
    text = "a: 1 # one\n# between\nb: 2 # two\n"
    attempt(text, [DeleteKey(("a",))], [Edit(0, 11, "")])
    fails("comments", "'# between' would be lost", text, [DeleteKey(("a",))], [Edit(0, 21, "")])


def test_an_unplanned_loss_of_the_comment_of_another_duplicate_is_seen() -> None:
    text = "a: 1 # one\na: 2 # two\n"
    attempt(text, [DeleteKey(("a",), 0)], [Edit(0, 11, "")])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# a\nb: 1 # c\n", ["# a", "# c"]),
        ("a: 'x # y' # z\n", ["# z"]),
        ("a: x#y # z\n", ["# z"]),
        ("a: | # h\n  x # y\n  # z\n# c\n", ["# h", "# c"]),
        ("a: [1, # x\n 2] # y\n", ["# x", "# y"]),
        ("? a # x\n: b # y\n", ["# x", "# y"]),
        ("%YAML 1.1 # x\n--- # y\na: 1\n... # z\n", ["# x", "# y", "# z"]),
        ("a: &x # y\n  b: 1\nc: *x # z\n", ["# y", "# z"]),
        ("#\r\n#b\ra: 1", ["#", "#b"]),
        ("# a\u2028b: 1\n", ["# a"]),
        ("", []),
        ("# only", ["# only"]),
    ],
)
def test_comments_are_found(text: str, expected: list[str]) -> None:
    document = document_of(text)
    assert document.problem is None
    found = comments(document)
    assert [comment for _, comment in found] == expected
    assert all(text.startswith(comment, offset) for offset, comment in found)


# --- Bytes ---


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le"])
def test_encoding_and_mark_survive(encoding: str) -> None:
    mark = "\ufeff".encode(encoding)
    text = "ключ: 1e-4\r\nb: 2\n"
    document = compose(SourceFile.from_bytes(mark + text.encode(encoding), "a.yaml"))
    changes = [SetValue(("ключ",), 1e-4)]
    edits = plan(document, changes)
    after = prove(document, splice(document.source.text, edits), changes, edits, PYYAML)
    assert after.source.raw == mark + "ключ: 1.0e-4\r\nb: 2\n".encode(encoding)


# --- The proof itself ---


@pytest.mark.parametrize("number", [0, 1, 2])
def test_each_reader_alone_sees_a_wrong_result(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """No reader is there for show: with only one of them left, a wrong result is still caught."""
    real = proof.readers
    monkeypatch.setattr(proof, "readers", lambda loader: real(loader)[number : number + 1])
    for old, new in (("1", "8"), ("2", "9"), ("x #", "y #"), ("d:", "f:")):
        fails("meaning", "would see another change", TEXT, SET_A, [replace(TEXT, old, new)])


def test_readers_execute_nothing(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    text = f"a: !!python/object/apply:os.mkdir ['{mark}']\nb: 1\n"
    attempt(text, [SetValue(("b",), 2)], [replace(text, "b: 1", "b: 2")])
    assert not mark.exists()


def test_ruamel_is_imported_only_for_a_proof() -> None:
    code = (
        "import sys\n"
        "from cfgfix.config.document import compose, editor, proof\n"
        "from cfgfix.config.loaders import scalars as resolve\n"
        "from cfgfix.core.edits import SetValue, splice\n"
        "d = compose.compose(compose.SourceFile.from_text('a: 1'))\n"
        "c = [SetValue(('a',), 2)]\n"
        "e = editor.plan(d, c)\n"
        "print('ruamel.yaml' in sys.modules)\n"
        "proof.prove(d, splice('a: 1', e), c, e, resolve.LOADERS['pyyaml'])\n"
        "print('ruamel.yaml' in sys.modules)\n"
    )
    root = Path(proof.__file__).parents[3]
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root
    )
    assert answer.stdout.split() == ["False", "True"]


def test_the_loaders_of_other_code_are_left_alone() -> None:
    import yaml

    before = (dict(yaml.SafeLoader.yaml_constructors), dict(yaml.SafeLoader.yaml_multi_constructors))
    resolvers = {first: list(rules) for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()}
    for loader in LOADERS:
        attempt("a: 1\n", SET_A, [Edit(3, 4, "9")], loader)
    assert (yaml.SafeLoader.yaml_constructors, yaml.SafeLoader.yaml_multi_constructors) == before
    assert yaml.SafeLoader.yaml_implicit_resolvers == resolvers


# --- Large files: only the entries concerned are read by the slow readers ---

SECTIONS = "".join(f"s{number}:\n  a: {number}  # n\n  b: [x, y]\n" for number in range(6))


def read_by_pyyaml(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the independent readers are given from here on."""
    given: list[str] = []
    real = proof.readers

    def watched(loader: Loader) -> tuple[Reader, ...]:
        own, pyyaml, ruamel = real(loader)

        def read(document: Document) -> list[Slot]:
            given.append(document.source.text)
            return pyyaml.read(document)

        return own, Reader(pyyaml.title, pyyaml.loader, read), ruamel

    monkeypatch.setattr(proof, "readers", watched)
    return given


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ([SetValue(("s2", "a"), 9)], ["s2:a"]),
        ([SetValue(("s0", "a"), 9), SetValue(("s5", "b", 0), "z")], ["s0:a", "s5:b"]),
        ([SetValue(("s0", "a"), 9), SetValue(("s0", "b", 0), "z")], ["s0:ab"]),
        ([SetValue(("s0", "a"), 9), InsertKey(("s0",), "c", 9)], ["s0:ab"]),
        ([InsertKey(("s3",), "c", 9)], ["s3:ab"]),
        ([InsertKey(("s5",), "c", 9)], ["s5:ab"]),
        ([DeleteKey(("s1", "b"))], ["s1:ab"]),
        ([RenameKey(("s4",), "t")], ["s4:ab"]),
        ([RenameKey(("s4", "a"), "t")], ["s4:a"]),
    ],
)
def test_only_the_entries_concerned_are_read_again(
    monkeypatch: pytest.MonkeyPatch, changes: list[Change], names: list[str]
) -> None:
    document = document_of(SECTIONS)
    edits = plan(document, changes)
    given = read_by_pyyaml(monkeypatch)
    prove(document, splice(SECTIONS, edits), changes, edits, PYYAML)
    lines = {"a": "  a: {}  # n\n", "b": "  b: [x, y]\n"}
    assert given[0] == "".join(
        f"{name[:2]}:\n" + "".join(lines[key].format(name[1]) for key in name[3:]) for name in names
    )
    given.clear()
    prove(document, splice(SECTIONS, edits), changes, edits, PYYAML, whole=True)
    assert given[0] == SECTIONS


@pytest.mark.parametrize(
    ("text", "change"),
    [
        (SECTIONS, InsertKey((), "new", 1)),
        (SECTIONS, DeleteKey(("s1",))),
        ("%YAML 1.1\n---\n" + SECTIONS, SetValue(("s1", "a"), 9)),
        (SECTIONS + "---\n" + SECTIONS, SetValue(("s1", "a"), 9)),
        ("&x\n" + SECTIONS, SetValue(("s1", "a"), 9)),
        ("? s9\n: 1\n" + SECTIONS, SetValue(("s1", "a"), 9)),
        (SECTIONS + "s1:\n  c: 1\n", SetValue(("s1", "c"), 9)),
        ("a: 1\n", SetValue(("a",), 9)),
        ("{s1: {a: 1}, s2: {a: 1}, s3: {a: 1}}\n", SetValue(("s1", "a"), 9)),
    ],
)
def test_whatever_leaves_a_doubt_is_read_whole(
    monkeypatch: pytest.MonkeyPatch, text: str, change: Change
) -> None:
    document = document_of(text)
    assert document.problem is None
    edits = plan(document, [change])
    given = read_by_pyyaml(monkeypatch)
    prove(document, splice(text, edits), [change], edits, PYYAML)
    assert given[0] == text


def test_an_entry_that_leans_on_another_is_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "base: &b {x: 1}\n" + SECTIONS + "run:\n  x: 0\n  y: [1, *b]\n"
    document = document_of(text)
    change = SetValue(("run", "y", 0), 2)
    edits = plan(document, [change])
    given = read_by_pyyaml(monkeypatch)
    prove(document, splice(text, edits), [change], edits, PYYAML)
    assert given == ["run:\n  y: [1, *b]\n", "run:\n  y: [2, *b]\n", text, text.replace("[1,", "[2,")]


def test_a_change_outside_the_entries_concerned_is_seen_without_reading_them() -> None:
    start = SECTIONS.index("a: 4") + 3
    fails(
        "meaning",
        "s4.a is 5 where 4 is meant",
        SECTIONS,
        [SetValue(("s4", "b", 0), "x")],
        [Edit(start, start + 1, "5")],
    )
    fails(
        "meaning",
        "s4.a is 5 where 4 is meant",
        SECTIONS,
        [SetValue(("s1", "b", 0), "x")],
        [Edit(start, start + 1, "5")],
    )


DEEP = """\
# the run
model:
  # its size
  width: 1
  note: |
    width: 2

    depth: 3
  encoder: &e
    kind: 'a: b'

    layers: 4  # enough
    text: "two
      lines"
  decoder: !d
    <<: *e
    layers: 5
    words:
    - one
    - two: 2
data:
    path: x
    deep:
      deeper:
         deepest: 1
         other: plain
          goes on
    last: >-
      folded
"""
PLACES = [
    ("model", "width"),
    ("model", "decoder", "layers"),
    ("model", "decoder", "words", 0),
    ("data", "path"),
    ("data", "deep", "deeper", "deepest"),
]


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (("model", "width"), "model:\n  # its size\n  width: {}\n"),
        (("model", "decoder", "layers"), "model:\n  # its size\n  decoder: !d\n    layers: {}\n"),
        (("data", "path"), "data:\n    path: {}\n"),
        (("data", "deep", "deeper", "deepest"), "data:\n    deep:\n      deeper:\n         deepest: {}\n"),
    ],
)
def test_entries_of_entries_are_told_apart(
    monkeypatch: pytest.MonkeyPatch, place: tuple[str, ...], text: str
) -> None:
    document = document_of(DEEP)
    change = SetValue(place, 9)
    edits = plan(document, [change])
    given = read_by_pyyaml(monkeypatch)
    prove(document, splice(DEEP, edits), [change], edits, PYYAML)
    assert given == [text.format(DEEP[edits[0].start : edits[0].end]), text.format(9)]


@given(st.integers(min_value=0, max_value=2**40))
@settings(max_examples=200, deadline=None)
def test_reading_the_entries_concerned_finds_what_reading_all_finds(seed: int) -> None:
    """A tampered edit of one section gets the same verdict either way."""
    rng = random.Random(seed)
    text = rng.choice([SECTIONS, DEEP])
    start = rng.randrange(len(text))
    end = min(len(text), start + rng.randrange(3))
    new = rng.choice(
        [
            "",
            " ",
            "\n",
            "x",
            "'",
            ": ",
            " #",
            "1",
            "- ",
            "|\n",
            "&a ",
            "{",
            "]",
            "\t",
            "\n...\n",
            "\n---\n",
            "%",
        ]
    )
    document = document_of(text)
    place = (f"s{rng.randrange(6)}", "a") if text is SECTIONS else rng.choice(PLACES)
    changes: list[Change] = [SetValue(place, rng.randrange(10))]
    edits = [*plan(document, changes), Edit(start, end, new)]
    try:
        result = splice(text, edits)
    except ValueError:
        return
    verdicts = []
    for whole in (False, True):
        try:
            prove(document, result, changes, edits, PYYAML, whole=whole)
        except ProofError:
            verdicts.append(False)
        else:
            verdicts.append(True)
    assert verdicts[0] == verdicts[1]
