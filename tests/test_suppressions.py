"""Suppression comments: the same answer as the plain definition, in time that grows with the text."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfgfix.catalog.load import builtin
from cfgfix.engine import Request, check
from cfgfix.files import SourceFile
from cfgfix.report.style import Paint
from cfgfix.report.text import frame
from cfgfix.settings import Settings
from cfgfix.silence import about_suppressions, apply
from cfgfix.suppressions import Silencer, find

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
    silencer = Silencer(suppressions)
    used = [False] * len(suppressions)
    for rule, lines in asked:
        speaking = []
        for index, item in enumerate(suppressions):
            below = item.line + 1
            while below in own:
                below += 1
            spoken = {item.line, below} if item.own_line else {item.line}
            if item.names(rule, "some-name") and (item.whole_file or spoken & lines):
                speaking.append(index)
                used[index] = True
        assert silencer.silences(rule, "some-name", lines) == bool(speaking)
    assert silencer.used == used


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
        result = apply([], find(text, source.position, lambda _offset: True))
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
            silencer = Silencer(suppressions)
            for line in range(number):
                silencer.silences("YML001", "n", {line + 1})
                silencer.silences("CFG001", "m", {2 * number + 1})
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
