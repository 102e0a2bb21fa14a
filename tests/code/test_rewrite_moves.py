from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from cfgfix.code.fixes.proof import ProofError, prove
from cfgfix.core.edits import ReplaceText
from cfgfix.lint.runner import Request, fix
from cfgfix.settings.reader import Settings


def fixed(folder: Path, text: str, *rules: str) -> str:
    """Return a program with all fixes of some rules, byte for byte."""
    place = folder / "program.py"
    place.write_bytes(text.encode())
    fix(Request(paths=(str(place),), settings=Settings(select=rules), unsafe_fixes=True))
    return place.read_bytes().decode()


HEAD = "import tensorflow as tf\n\n"
SWAPPED = (
    HEAD
    + "def build(ds: tf.data.Dataset):\n    ds = ds.batch(8)\n    ds = ds.shuffle(9)  # mix\n    return ds",
    HEAD
    + "def build(ds: tf.data.Dataset):\n    ds = ds.shuffle(9)  # mix\n    ds = ds.batch(8)\n    return ds",
)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("blank", ["    ", "\t", " "])
@pytest.mark.parametrize("last", ["", "\n"])
def test_statements_change_places_and_nothing_else(end, blank, last, tmp_path):
    before, after = (
        item.replace("    ", blank).replace("\n", end) + last.replace("\n", end) for item in SWAPPED
    )
    assert fixed(tmp_path, before, "TFD015") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("ds.batch(8).shuffle(9)", "ds.shuffle(9).batch(8)"),
        ("ds.batch(8).map(f).shuffle(9).prefetch(1)", "ds.shuffle(9).batch(8).map(f).prefetch(1)"),
        ("(ds\n        .batch(8)\n        .shuffle(9))", "(ds\n        .shuffle(9)\n        .batch(8))"),
        ("(ds.batch(8)\n        .shuffle(9))", "(ds.shuffle(9)\n        .batch(8))"),
        ("ds.batch(8) \\\n        .shuffle(9)", "ds.shuffle(9) \\\n        .batch(8)"),
        ("ds.batch(8).shuffle(\n        9,\n    )", "ds.shuffle(\n        9,\n    ).batch(8)"),
    ],
)
def test_a_chain_keeps_its_lines(before, after, tmp_path):
    frame = HEAD + "def build(ds: tf.data.Dataset, f):\n    return {}\n"
    assert fixed(tmp_path, frame.format(before), "TFD015") == frame.format(after)


@pytest.mark.parametrize(
    "program",
    [
        "ds = ds.batch(8)\nother = ds.take(3)\nds = ds.shuffle(9)\n",
        "ds = ds.batch(8)\nprint(ds)\nds = ds.shuffle(9)\n",
        "ds = ds.batch(8)\nn = len(ds)\nds = ds.shuffle(n)\n",
        "ds = ds.batch(8)\nif n:\n    ds = ds.take(3)\nds = ds.shuffle(9)\n",
        "batches = ds.batch(8)\nds = batches.shuffle(9)\nprint(batches)\n",
        "ds = ds.batch(8); n = 3\nds = ds.shuffle(9)\n",
        "ds = (ds.batch(8)  # eight\n    .shuffle(9))\n",
        "ds = ds.batch(8)\n# mixed\nds = ds.shuffle(9)\n",
        "ds = ds.batch(8)\nds = ds.shuffle(*n)\n",
    ],
)
def test_where_code_could_see_the_difference_nothing_moves(program, tmp_path):
    text = HEAD + "def build(ds: tf.data.Dataset, n):\n" + textwrap.indent(program + "return ds\n", "    ")
    ast.parse(text)
    assert fixed(tmp_path, text, "TFD015") == text


def test_what_comes_goes_or_moves_stands_in_the_edits():
    text = "a = 1\nb = 2\nfor x in y:\n    c = 3\n    d = 4\n"
    move = [ReplaceText(0, 6, ""), ReplaceText(12, 12, "a = 1\n")]
    assert prove(text, move) == "b = 2\na = 1\nfor x in y:\n    c = 3\n    d = 4\n"
    hoist = [ReplaceText(12, 12, "c = 3\n"), ReplaceText(24, 34, "")]
    assert prove(text, hoist) == "a = 1\nb = 2\nc = 3\nfor x in y:\n    d = 4\n"


@pytest.mark.parametrize(
    "edits",
    [
        # A statement that comes to stand in another one.
        [ReplaceText(6, 6, "if a:\n    ")],
        # Code that is commented out.
        [ReplaceText(0, 0, "# ")],
        # A loop that becomes something else.
        [ReplaceText(12, 15, "async for"), ReplaceText(20, 21, "z")],
    ],
)
def test_other_changes_are_no_proof(edits):
    with pytest.raises(ProofError):
        prove("a = 1\nb = 2\nfor x in y:\n    c = 3\n", edits)
