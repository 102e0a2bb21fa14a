from __future__ import annotations

import pytest

from cfgfix.code.fixes.proof import ProofError, prove
from cfgfix.core.edits import ReplaceText

TEXT = "x = f(1)  # é one\n# two\ny = f(\n    2,  # three\n)\n"


def edit(old, new):
    start = TEXT.index(old)
    return ReplaceText(start, start + len(old), new)


def test_a_comment_that_an_edit_names_may_go_or_change():
    assert prove(TEXT, [edit("  # é one", "")]) == TEXT.replace("  # é one", "")
    assert prove(TEXT, [edit("# two\n", "")]) == TEXT.replace("# two\n", "")
    assert prove(TEXT, [edit("one", "1")]) == TEXT.replace("one", "1")
    assert prove(TEXT, [edit("  # three", ""), edit("f(1)", "f(3)")]) == TEXT.replace(
        "  # three", ""
    ).replace("f(1)", "f(3)")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("f(1)  # é one", "f(1)"),
        ("2,  # three\n", "2,\n"),
        ("f(\n    2,  # three\n)", "f(2)"),
        ("# two\ny", "y"),
        ("  # é one\n# two\n", "\n"),
    ],
)
def test_a_comment_beside_what_an_edit_names_stays(old, new):
    with pytest.raises(ProofError):
        prove(TEXT, [edit(old, new)])
