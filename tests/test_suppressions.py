"""Suppression comments: the same answer as the plain definition, in time that grows with the text."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfgfix.code.language import Python
from cfgfix.config.document.compose import compose
from cfgfix.config.document.language import Yaml
from cfgfix.config.loaders.scalars import LOADERS
from cfgfix.core.source_file import SourceFile
from cfgfix.core.suppressions import SuppressionIndex, find, read_suppressions
from cfgfix.core.terminal import Paint
from cfgfix.lint.runner import Request, check
from cfgfix.lint.suppressing import about_suppressions, add_ignores, apply_suppressions
from cfgfix.output.text import frame
from cfgfix.rules.catalogue import builtin
from cfgfix.rules.hit import Hit, Span
from cfgfix.rules.report import TextFile, make_finding
from cfgfix.settings.reader import Settings

PLAIN = re.compile(
    r"#[ \t]*cfgfix:[ \t]*(?P<kind>ignore-file|ignore)(?![-\w])[ \t]*(?:\[(?P<rules>[^\]\r\n]*)\])?(?P<reason>[^\r\n#]*)"
)
PIECES = st.sampled_from(
    [
        "#", "# cfgfix: ignore", "#cfgfix:ignore-file", "# cfgfix: ignore[", "[", "]", "YML001", "exponent-without-dot, CFG",
        "yml", " ", "\t", "\n", "\r\n", "\r", "a: 1", "because", ",", "-",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=40).map("".join)


def plainly(text):
    """Return what `find` finds by the one expression that defines it."""
    source = SourceFile.from_text(text)
    rows = []
    for match in PLAIN.finditer(text):
        line, column = source.position(match.start())
        before = source.line_text(line)[: column - 1]
        rows.append(
            (
                match["kind"] == "ignore-file",
                tuple(part.strip() for part in (match["rules"] or "").split(",") if part.strip()),
                match["reason"].strip(),
                match.start(),
                match.start() + len(match[0].rstrip()),
                line,
                not before.strip(),
            )
        )
    return rows


def found_in(text):
    return find(text, SourceFile.from_text(text).position, lambda _offset: True)


@given(TEXTS)
def test_comments_are_those_that_one_expression_finds(text):
    text += " # cfgfix: ignore"
    rows = [
        (item.whole_file, item.rules, item.reason, item.start, item.end, item.line, item.own_line)
        for item in found_in(text)
    ]
    assert rows == plainly(text)


@given(
    TEXTS,
    st.lists(
        st.tuples(st.sampled_from(["YML001", "YML002", "CFG001"]), st.sets(st.integers(1, 12), min_size=1)),
        max_size=8,
    ),
)
def test_a_comment_silences_its_line_or_the_first_below_a_block_of_comments(text, asked):
    suppressions = found_in(text)
    own = {item.line for item in suppressions if item.own_line}
    index = SuppressionIndex(suppressions)
    used = [False] * len(suppressions)
    for rule, lines in asked:
        speaking = []
        for number, item in enumerate(suppressions):
            below = item.line + 1
            while below in own:
                below += 1
            spoken = {item.line, below} if item.own_line else {item.line}
            if item.names(rule, "some-name") and (item.whole_file or spoken & lines):
                speaking.append(number)
                used[number] = True
        assert index.suppresses(rule, "some-name", lines) == bool(speaking)
    assert index.used == used


def work(function, argument):
    """Return the least processor time that a call takes of a few."""
    function(argument)
    times = []
    for _ in range(3):
        start = time.thread_time()
        function(argument)
        times.append(time.thread_time() - start)
    return min(times)


SHAPES = {
    "a line of open brackets": lambda n: "# cfgfix: ignore[" * n,
    "a line of closed brackets": lambda n: "# cfgfix: ignore[YML001] " * n,
    "a line without any bracket behind code": lambda n: "a: 1e-4 " + "# cfgfix: ignore " * n,
    "lines alone": lambda n: "# cfgfix: ignore[YML001]\n" * n + "a: 1e-4\n",
    "lines alone, each over a value": lambda n: "".join(
        f"# cfgfix: ignore[YML001]\nk{i}: 1e-4\n" for i in range(n)
    ),
    "lines that name no rule": lambda n: "".join(f"# cfgfix: ignore[NONE{i}]\n" for i in range(n)),
    "whole files": lambda n: "# cfgfix: ignore-file[YML001]\n" * n + "a: 1e-4\n" * 5,
    "one comment with many rules": lambda n: "a: 1e-4 # cfgfix: ignore[" + "YML002, " * n + "]",
    "carriage returns": lambda n: "# cfgfix: ignore[YML001]\r" * n,
    "blanks": lambda n: "#" + " " * 8 * n + "# cfgfix: ignore" + " " * 8 * n,
    "hashes": lambda n: "# cfgfix: ignore\n" + "#" * 16 * n,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_time_grows_with_the_text(shape):
    catalogue = builtin()
    rules = {rule.check: rule for rule in catalogue.rules if rule.check}
    judged = {rule.id for rule in catalogue.rules}

    def through(text):
        source = SourceFile.from_text(text)
        result = apply_suppressions([], find(text, source.position, lambda _offset: True))
        about_suppressions(source, result, catalogue, judged, rules)

    # Eight times the text is 64 times the work where that is quadratic.
    small, large = (work(through, SHAPES[shape](count)) for count in (500, 4000))
    assert large < 24 * max(small, 0.0005)


@pytest.mark.parametrize("count", [2000])
def test_steps_of_many_findings_under_many_comments(count):
    """Ask each line once: steps are counted, not timed."""
    counts = []
    for number in (count, 2 * count):
        suppressions = found_in(
            "# cfgfix: ignore-file[YML001]\n" * number + "# cfgfix: ignore[CFG001]\n" * number
        )
        asked = []
        kind = type(suppressions[0])
        original = kind.names

        def names(self, rule, name, asked=asked, original=original):
            asked.append(rule)
            return original(self, rule, name)

        kind.names = names
        try:
            index = SuppressionIndex(suppressions)
            for line in range(number):
                index.suppresses("YML001", "n", {line + 1})
                index.suppresses("CFG001", "m", {2 * number + 1})
        finally:
            kind.names = original
        counts.append(len(asked))
    assert counts[1] < 3 * counts[0]


@pytest.mark.parametrize("name", ["c.yaml", "m.py"])
def test_a_file_of_comments_is_checked(tmp_path, name):
    body = "a: 1e-4\n" if name.endswith("yaml") else "import tensorflow as tf\n"
    path = tmp_path / name
    path.write_text(body + "# cfgfix: ignore[" * 3000 + "\n" + "# cfgfix: ignore[YML001]\n" * 3000)
    report = check(Request((str(path),), Settings(root=str(tmp_path))))
    assert not report.errors


def test_time_of_the_frames_of_a_long_line():
    def through(count):
        line = "a: 1 " + "# cfgfix: ignore[YML001] " * count
        findings = [span.start for span in found_in(line)]
        source = SourceFile.from_text(line)
        for start in findings:
            frame(line, source.location(start, start + 5), (), Paint(on=False))

    small, large = work(through, 250), work(through, 2000)
    assert large < 24 * max(small, 0.0005)


def language_of(name, text):
    if name.endswith(".py"):
        language = Python()
        return language, language.parse(text)
    document = compose(SourceFile.from_text(text, name))
    return Yaml(document, LOADERS["pyyaml"]), document


def findings_at(name, text, *lines):
    source = SourceFile.from_text(text, name)
    (rule,) = builtin().matching("YML001")
    return [
        make_finding(
            rule,
            Hit(Span(source.line_start(line), source.line_start(line) + 1), message="x"),
            TextFile(source),
        )
        for line in lines
    ]


@pytest.mark.parametrize(
    ("name", "text", "lines", "after", "refused"),
    [
        ("a.yaml", "a: 1\nb: 2 # why\n", (1, 2), "a: 1  # cfgfix: ignore[YML001] later\nb: 2 # why  # cfgfix: ignore[YML001] later\n", ""),
        ("a.py", "a = 1\nb = 2 # why\n", (1, 2), "a = 1  # cfgfix: ignore[YML001] later\nb = 2 # why  # cfgfix: ignore[YML001] later\n", ""),
        ("a.yaml", "a: |\n  text\n  more\n", (2,), None, "a comment cannot stand at the end of its line: "),
        ("a.py", 'a = """\ntext\n"""\n', (2,), None, "a comment cannot stand at the end of its line: "),
        ("a.yaml", "a: [\n", (1,), None, "the file does not parse"),
    ],
)  # fmt: skip
def test_both_languages_write_and_read_the_same_comments(name, text, lines, after, refused):
    language, parsed = language_of(name, text)
    result, done, left = add_ignores(language, parsed, findings_at(name, text, *lines), "later")
    assert language.text(result) == (after or text)
    assert [item.finding.location.line for item in done] == (list(lines) if after else [])
    assert [item.reason.startswith(refused) for item in left] == ([] if after else [True] * len(lines))
    if after:
        source = SourceFile.from_text(after, name)
        read = read_suppressions(source, lambda: language.comments(result))
        assert [(item.rules, item.reason, item.line) for item in read] == [
            (("YML001",), "later", line) for line in lines
        ]


@pytest.mark.parametrize(("name", "bad"), [("a.py", 'm = """\ntext\n"""\n'), ("a.yaml", "m: |\n  text\n")])
def test_comments_of_many_lines_are_proven_together(monkeypatch, name, bad):
    sign = " = " if name.endswith(".py") else ": "
    proofs = []

    def counted(language, *arguments):
        proofs.append(1)
        return prove_comments(language, *arguments)

    counts = []
    for number in (200, 320):
        lines = [f"k{index}{sign}{index}\n" for index in range(number)]
        lines[70:70] = bad.splitlines(keepends=True)
        text = "".join(lines)
        language, parsed = language_of(name, text)
        if not counts:
            prove_comments = type(language).prove_comments
            monkeypatch.setattr(type(language), "prove_comments", counted)
        proofs.clear()
        wanted = [1, 72, *range(80, number)]
        result, done, left = add_ignores(language, parsed, findings_at(name, text, *wanted), "")
        counts.append(len(proofs))
        assert [item.finding.location.line for item in left] == [72]
        assert [item.finding.location.line for item in done] == [line for line in wanted if line != 72]
        for item in done:
            (edit,) = item.edits
            assert text[edit.start - 1] == lines[item.finding.location.line - 1][-2]
        assert language.text(result).count("cfgfix: ignore") == len(done)
    # One more halving for twice the lines; each halving fails once and holds once.
    assert counts[1] <= counts[0] + 2 < 20


@pytest.mark.parametrize(
    ("name", "text"), [("a.py", 'a = "# cfgfix: ignore"\n'), ("a.yaml", 'a: "# cfgfix: ignore"\n')]
)
def test_a_text_that_looks_like_a_comment_suppresses_nothing(name, text):
    language, parsed = language_of(name, text)
    source = SourceFile.from_text(text, name)
    assert not read_suppressions(source, lambda: language.comments(parsed))
    assert len(read_suppressions(source, None)) == 1
