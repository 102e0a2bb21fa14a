"""What planning and proving many edits of one file costs, counted in lines of cfgfix that run: no square of the size."""

import sys
from pathlib import Path

import pytest

import cfgfix
from cfgfix.documents import editor, proof
from cfgfix.documents.compose import compose
from cfgfix.documents.resolve import LOADERS
from cfgfix.edits import DeleteKey, RenameKey, SetValue, splice
from cfgfix.files import SourceFile

HOME = str(Path(cfgfix.__file__).parent)
LOADER = LOADERS["pyyaml"]


def same_key(count):
    text = "x:\n" + "".join(f"  k: {number}\n" for number in range(count))
    return text, [[DeleteKey(("x", "k"), occurrence=number) for number in range(count - 1)]]


def pairs(count):
    text = "x:\n" + "".join(f"  k{number}: 1 # one\n  k{number}: 1\n" for number in range(count))
    return text, [[DeleteKey(("x", f"k{number}"), occurrence=0)] for number in range(count)]


def pairs_on_one_line(count):
    text = "x: {" + ", ".join(f"k{number}: 1, k{number}: 1" for number in range(count)) + "}\n"
    return text, [[DeleteKey(("x", f"k{number}"), occurrence=0)] for number in range(count)]


def values(count):
    text = "x:\n" + "".join(f"  k{number}: 1e-3 # a comment\n" for number in range(count))
    return text, [[SetValue(("x", f"k{number}"), 0.001)] for number in range(count)]


def values_on_one_line(count):
    text = "x: {" + ", ".join(f"k{number}: 1e-3" for number in range(count)) + "}\n"
    return text, [[SetValue(("x", f"k{number}"), 0.001)] for number in range(count)]


def names(count):
    text = "x:\n" + "".join(f"  k{number}: 1\n" for number in range(count))
    return text, [[RenameKey(("x", f"k{number}"), f"n{number}")] for number in range(count)]


def aliases(count):
    text = "a: &a 1\nx:\n" + "".join(
        f"  k{number}: 1\n  k{number}: 1\n  z{number}: *a\n" for number in range(count)
    )
    return text, [[DeleteKey(("x", f"k{number}"), occurrence=0)] for number in range(count)]


def documents(count):
    text = "".join("---\na: 1\nb: 1e-3\n" for _ in range(count))
    return text, [[SetValue(("b",), 0.001, document=number)] for number in range(count)]


def lines_run(text, fixes):
    """Plan each fix, prove all of them together, and return how many lines of cfgfix ran."""
    before = compose(SourceFile.from_text(text, "c.yaml"))
    assert before.problem is None
    count = 0

    def within(_frame, event, _argument):
        nonlocal count
        count += event == "line"
        return within

    def trace(frame, _event, _argument):
        return within if frame.f_code.co_filename.startswith(HOME) else None

    earlier = sys.gettrace()
    sys.settrace(trace)
    try:
        edits = [edit for changes in fixes for edit in editor.plan(before, changes)]
        after = splice(text, edits)
        result = proof.prove(
            before, after, [change for changes in fixes for change in changes], edits, LOADER
        )
    finally:
        sys.settrace(earlier)
    assert result.source.text == after != text
    return count


@pytest.mark.parametrize(
    "made",
    [same_key, pairs, pairs_on_one_line, values, values_on_one_line, names, aliases, documents],
    ids=lambda made: made.__name__,
)
def test_twice_as_many_edits_cost_about_twice_as_much(made):
    assert lines_run(*made(400)) < 2.4 * lines_run(*made(200))
