"""Twice the code is twice the work: counted in calls, since times tell more of the machine than of the code."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

from cfgfix.code.inference.interpreter import values
from cfgfix.code.inference.interpreter.iterating import item_of
from cfgfix.code.inference.interpreter.objects import Scalar, Sequence, Unknown, Value
from cfgfix.lint.runner import Request, check
from cfgfix.settings.reader import Settings

HEAD = "import tensorflow as tf\n"


def functions_made_in_a_loop(count: int) -> str:
    made = "".join(f"    f{i} = tf.function(lambda x: x)\n    f{i}(e)\n" for i in range(count))
    return "for e in range(10):\n" + made


def calls(folder: Path, text: str) -> int:
    folder.mkdir()
    (folder / "m.py").write_text(HEAD + text)
    seen = 0

    def count(_frame: FrameType, event: str, _: object) -> None:
        nonlocal seen
        seen += event == "call"

    request = Request(paths=(str(folder),), settings=Settings(root=str(folder)))
    sys.setprofile(count)
    try:
        report = check(request)
    finally:
        sys.setprofile(None)
    assert not report.errors
    return seen


def test_a_file_of_twice_the_length(tmp_path: Path) -> None:
    make = functions_made_in_a_loop
    calls(tmp_path / "warm", make(2))
    one, two, four = (calls(tmp_path / str(n), make(n)) for n in (40, 80, 160))
    # Twice where the work is in proportion, four times where it is the square.
    assert four - two < 3 * (two - one)


class Counted(str):  # noqa: SLOT000
    """A text that counts how often it is held against another."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return str.__eq__(self, other)


def test_the_files_of_a_folder_are_not_held_against_each_other() -> None:
    files: list[Value] = [Scalar(Counted(f"c{number}.yaml")) for number in range(500)]
    assert type(item_of(Sequence([*files, *files]))) is Unknown
    assert Counted.compared < 20 * len(files)


def test_choices_are_told_apart_as_before() -> None:
    many: list[Value] = [Scalar(number) for number in range(20)]
    assert type(values.choice(many)) is Unknown
    same: list[Value] = [
        Scalar(1),
        Scalar(True),
        Scalar(1.0),
        Scalar("1"),
        Scalar(b"1"),
        Scalar(None),
        Scalar(0),
    ]
    found = values.choice([*same, *same, *same])
    assert type(found) is Unknown
    few = values.choice([Scalar(1), Scalar(True), Scalar(1), Scalar(1.0)])
    assert [type(item.value) for item in values.alternatives(few) if type(item) is Scalar] == [
        int,
        bool,
        float,
    ]
