"""The fix loop by itself, on a language of one word a line: what is fixed, what is refused, and at what cost."""

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfgfix.edits import Edit, Fix, ProofError, ReplaceText, Safety
from cfgfix.findings import Confidence, Finding, Location, Severity
from cfgfix.fix_loop import MAX_PASSES, fix_file, fix_files

REPAIRS = {
    "bad": "good",
    "odd": "wrong",
    "false": "lie",
    "tick": "tock",
    "tock": "tick",
    "needs-quiet": "done",
    "noise": "quiet",
    "left": "first",
    "right": "second",
}
"""What a fix makes of a word. `wrong` is an error; the proof never lets a `lie` through, nor `done` beside `noise`."""
ERRORS = {"bad", "wrong"}


class Words:
    """A language whose files are words, one a line."""

    def __init__(self, most=None):
        self.most_findings = most
        self.proofs = 0
        self.checks = 0

    def parse(self, text):
        return text

    def text(self, parsed):
        return parsed

    def plan(self, parsed, changes):
        if any(parsed[change.start : change.end] == "stone" for change in changes):
            raise ProofError("plan", "it is of stone")
        return [Edit(change.start, change.end, change.new) for change in changes]

    def prove(self, before, after, changes, edits):
        self.proofs += 1
        words = after.split("\n")
        if "lie" in words:
            raise ProofError("meaning", "a lie")
        if "first" in words and "second" in words:
            raise ProofError("meaning", "both")
        if "done" in words and "noise" in words:
            raise ProofError("meaning", "too much noise")
        return after

    def identity(self, parsed, finding):
        return finding.rule, finding.message

    def is_judged(self, parsed):
        return True

    def check(self, text):
        self.checks += 1
        found, offset = [], 0
        for number, word in enumerate(text.split("\n")):
            new = "pebble" if word == "stone" else REPAIRS.get(word)
            if (new or word in ERRORS) and (self.most_findings is None or len(found) < self.most_findings):
                place = Location("f", offset, offset + len(word), number + 1, 1, number + 1, 1 + len(word))
                fix = (
                    Fix("mend", Safety.SAFE, (ReplaceText(offset, offset + len(word), new),)) if new else None
                )
                found.append(
                    Finding(
                        word.upper() if self.most_findings is None else "W",
                        word,
                        Severity.ERROR if word in ERRORS else Severity.WARNING,
                        Confidence.HIGH,
                        f"line {number}",
                        place,
                        fix=fix,
                    )
                )
            offset += len(word) + 1
        return found


def repaired(words, language=None):
    language = language or Words()
    text = "\n".join(words)
    outcome = fix_file("f", text, language.check, language, unsafe=False)
    return outcome, outcome.texts.get("f", text).split("\n"), language


def reasons(outcome):
    return [item.reason for item in outcome.refused.get("f", ())]


def test_all_fixes_are_proven_together():
    outcome, after, language = repaired(["bad"] * 5_000)
    assert after == ["good"] * 5_000
    assert len(outcome.applied["f"]) == 5_000
    assert (language.proofs, language.checks) == (1, 2)


@pytest.mark.parametrize(
    ("word", "reason"), [("false", "a lie"), ("odd", "the fix would bring a new error: WRONG")]
)
@pytest.mark.parametrize("place", [0, 99, 1_000])
def test_one_fix_that_is_refused_holds_up_no_other(word, reason, place):
    words = ["bad"] * 1_000
    words.insert(place, word)
    outcome, after, language = repaired(words)
    assert after == ["good" if each == "bad" else each for each in words]
    assert [item.startswith(reason) for item in reasons(outcome)] == [True]
    assert not outcome.cycles
    assert language.proofs <= 4 * log2(1_000)
    assert language.checks <= 6


@pytest.mark.parametrize("count", [1, 2, 4, 8])
def test_the_fixes_that_are_refused_are_found_by_halving(count):
    size = 1_024
    words = ["false" if number % (size // count) == 7 else "bad" for number in range(size)]
    outcome, after, language = repaired(words)
    assert after == [each.replace("bad", "good") for each in words]
    assert reasons(outcome) == ["a lie"] * count
    assert language.proofs <= 4 * count * log2(size)


def test_two_hundred_fixes_that_bring_errors_hold_up_none_of_the_others():
    words = ["odd" if number % 25 == 3 else "bad" for number in range(5_000)]
    outcome, after, language = repaired(words)
    assert after == [each.replace("bad", "good") for each in words]
    assert len(reasons(outcome)) == 200
    assert language.checks < 600


def test_a_refused_fix_is_tried_again_once_another_changed_the_text():
    outcome, after, _ = repaired(["needs-quiet", "noise", "bad"])
    assert after == ["done", "quiet", "good"]
    assert not outcome.refused
    assert repaired(after)[1] == after


def test_findings_behind_the_limit_of_a_rule_are_no_new_errors():
    outcome, after, language = repaired(["bad"] * 95, Words(most=10))
    assert after == ["good"] * 95
    assert not outcome.refused
    assert language.checks <= 12


def test_an_error_that_a_fix_writes_is_new_although_the_rule_is_at_its_limit():
    words = ["bad"] * 12 + ["odd"] + ["bad"] * 12
    outcome, after, _ = repaired(words, Words(most=10))
    assert after == ["good"] * 12 + ["odd"] + ["good"] * 12
    assert len(reasons(outcome)) == 1


def test_fixes_that_undo_each_other_are_undone_and_the_others_stay():
    outcome, after, _ = repaired(["bad", "tick", "bad"])
    assert after == ["good", "tick", "good"]
    assert outcome.cycles == {"f": ("TICK", "TOCK")}


def test_of_fixes_that_fail_only_together_one_is_made():
    outcome, after, _ = repaired(["bad", "left", "bad", "right", "bad"])
    assert after.count("good") == 3
    assert ("first" in after) + ("second" in after) == 1
    assert reasons(outcome) == ["both"]


def test_what_cannot_be_planned_is_refused():
    outcome, after, language = repaired(["stone", "bad"])
    assert after == ["stone", "good"]
    assert reasons(outcome) == ["it is of stone"]
    assert language.proofs == 1


def test_a_chain_without_end_is_ended_and_told():
    class Growing(Words):
        def check(self, text):
            place = Location("f", 0, len(text), 1, 1, 1, 1 + len(text))
            fix = Fix("grow", Safety.SAFE, (ReplaceText(0, len(text), text + "a"),))
            return [Finding("GROW", "grow", Severity.WARNING, Confidence.HIGH, text, place, fix=fix)]

    outcome, after, _ = repaired(["a"], Growing())
    assert len(after[0]) == MAX_PASSES + 1
    assert reasons(outcome) == [f"there is more to fix after {MAX_PASSES} rounds"]


def test_a_fix_that_is_refused_in_one_file_holds_up_no_other_file():
    texts = {"a": "bad\nfalse\nbad", "b": "bad", "c": "odd"}
    language = Words()
    outcome = fix_files(
        texts.__getitem__,
        lambda changed: {path: language.check(changed.get(path, text)) for path, text in texts.items()},
        lambda _path: language,
        unsafe=False,
    )
    assert outcome.texts == {"a": "good\nfalse\ngood", "b": "good"}
    assert {path: len(items) for path, items in outcome.refused.items()} == {"a": 1, "c": 1}


@given(
    st.lists(
        st.sampled_from(["bad", "odd", "false", "noise", "needs-quiet", "stone", "fine"]),
        min_size=1,
        max_size=40,
    )
)
def test_whatever_is_refused_every_other_fix_is_made(words):
    outcome, after, _ = repaired(words)
    wanted = {"bad": "good", "noise": "quiet", "needs-quiet": "done"}
    assert after == [wanted.get(word, word) for word in words]
    assert len(reasons(outcome)) == sum(word in ("odd", "false", "stone") for word in words)
    assert not outcome.cycles
