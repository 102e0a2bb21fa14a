from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfgfix.config.schema.patterns import MAX_PATTERN, MAX_STEPS, Pattern, read_pattern

EVIL = [
    "(a+)+$",
    "^(a+)+$",
    "^(a*)*$",
    "(a|a)*b",
    "(a|aa)+$",
    "(.*a){11}",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    r"^(\w+\s?)*$",
    "(x+x+)+y",
    "a?" * 30 + "a" * 30,
    "(a?){30}$",
    "(?:a*)*b",
    "(a|b|ab)*c",
    r"(\d+)+\.",
    "^((a|b)+)+$",
    "([a-z]+-?)+$",
    "(?=(a+)+b)",
    "(a|a?)+$",
    "((a)|(a))*$",
    "(?P<x>a+)+$",
]
USUAL = [
    "^[a-z_][a-z0-9_]*$",
    r"^\d+\.\d+$",
    "^(?:en|fr|de)$",
    "^[A-Z]{2}(-[A-Z]{2})?$",
    r"^[a-z]+(\.[a-z]+)*$",
    "^x-",
    r"\.ya?ml$",
    "^[^/]+/[^/]+$",
    r"^\d{4}-\d{2}-\d{2}$",
    "^#[0-9a-fA-F]{6}$",
    r"^(float16|bfloat16|float32)$",
    "",
]


@pytest.mark.parametrize("text", EVIL)
def test_a_pattern_with_exponential_work_is_not_run(text):
    assert isinstance(read_pattern(text), str)


@pytest.mark.parametrize("text", USUAL)
def test_usual_patterns_run_on_usual_texts(text):
    pattern = read_pattern(text)
    assert isinstance(pattern, Pattern), pattern
    assert pattern.max_length >= 50


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (r"(a)\1", "refers back"),
        ("(?i)a", "group"),
        ("(?P=x)", "group"),
        (r"\p{L}", "\\p"),
        ("[a", "not closed"),
        ("(a", "parenthesis"),
        ("a)", "parenthesis"),
        ("*a", "repeats nothing"),
        ("a**", "repeats a repeat"),
        ("^*", "anchor"),
        ("a" * (MAX_PATTERN + 1), "longer"),
        ("(" * 30 + ")" * 30, "nested"),
        ("a{99999999}", "more often"),
        ("a\\", "backslash"),
        ("[z-a]", "Python"),
    ],
)
def test_what_is_not_followed_is_refused_with_a_reason(text, reason):
    answer = read_pattern(text)
    assert isinstance(answer, str)
    assert reason in answer


def test_too_long_a_text_is_not_searched():
    pattern = read_pattern("a+b+")
    assert isinstance(pattern, Pattern)
    assert pattern.search("a" * (pattern.max_length + 1)) is None
    assert pattern.search("a" * pattern.max_length) is False
    assert pattern.search("ab") is True


def test_the_bound_shrinks_with_every_open_repeat():
    lengths = [read_pattern("^" + "a*" * count + "$").max_length for count in range(1, 5)]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] <= MAX_STEPS
    assert lengths[2] ** 3 <= MAX_STEPS


pieces = st.recursive(
    st.sampled_from(["a", "b", ".", "[ab]", "[^a]", r"\d", r"\.", "x"]),
    lambda inner: st.one_of(
        st.builds("{}{}".format, inner, inner),
        st.builds("(?:{})".format, inner),
        st.builds("(?:{}|{})".format, inner, inner),
        st.builds("(?:{}){}".format, inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{2,}", "*?"])),
    ),
    max_leaves=6,
)


@settings(max_examples=400, deadline=None)
@given(pieces, st.text("abx1.", max_size=12), st.booleans())
def test_a_pattern_that_runs_answers_as_re_does(text, subject, anchored):
    text = f"^{text}$" if anchored else text
    pattern = read_pattern(text)
    if isinstance(pattern, Pattern):
        found = pattern.search(subject)
        assert found is None or found == (re.search(text, subject) is not None)


@settings(max_examples=300, deadline=None)
@given(st.text("ab(|)*+?{}1,[]^$.\\-dw", max_size=16))
def test_any_text_gives_a_pattern_or_a_reason(text):
    answer = read_pattern(text)
    if isinstance(answer, Pattern):
        re.compile(text)
    else:
        assert answer


class _Counter:
    """A backtracking matcher that counts its tries; it knows just what `pieces` makes."""

    def __init__(self, subject: str) -> None:
        self.subject = subject
        self.steps = 0

    def match(self, node, at, follow):
        from re import _constants as names

        self.steps += 1
        if self.steps > MAX_STEPS:
            raise OverflowError
        if not node:
            return follow(at)
        (kind, argument), rest = node[0], node[1:]

        def onward(place):
            return self.match(rest, place, follow)

        if kind in (names.LITERAL, names.NOT_LITERAL, names.ANY, names.IN):
            if at == len(self.subject):
                return False
            char = self.subject[at]
            if kind is names.LITERAL:
                good = ord(char) == argument
            elif kind is names.NOT_LITERAL:
                good = ord(char) != argument
            elif kind is names.ANY:
                good = True
            else:
                good = any(
                    (one is names.LITERAL and ord(char) == value)
                    or (one is names.CATEGORY and char.isdigit())
                    for one, value in argument
                )
            return good and onward(at + 1)
        if kind is names.AT:
            return (at == 0 if argument is names.AT_BEGINNING else at == len(self.subject)) and onward(at)
        if kind is names.SUBPATTERN:
            return self.match(list(argument[3]), at, onward)
        if kind is names.BRANCH:
            return any(self.match(list(branch), at, onward) for branch in argument[1])
        assert kind in (names.MAX_REPEAT, names.MIN_REPEAT), kind
        low, high, body = argument

        def again(count):
            def repeat(place):
                if count < high and self.match(
                    list(body), place, lambda end: end > place and again(count + 1)(end)
                ):
                    return True
                return count >= low and onward(place)

            return repeat

        return again(0)(at)


@settings(max_examples=300, deadline=None)
@given(pieces, st.sampled_from(["a", "b", "ab", "ax", "1.", "a.", "aab"]))
def test_the_work_of_a_plain_backtracker_stays_within_the_bound(text, unit):
    parser = pytest.importorskip("re._parser")
    text = f"^{text}$"
    pattern = read_pattern(text)
    if not isinstance(pattern, Pattern):
        return
    subject = (unit * 40)[: min(pattern.max_length, 40)] + "!"
    counter = _Counter(subject)
    counter.match(list(parser.parse(text)), 0, lambda _end: False)  # always made to go on trying
    # A step of the estimate is one way to split the text; the counter also counts the pieces on each way.
    assert counter.steps <= MAX_STEPS
