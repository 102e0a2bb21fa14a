from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfgfix.core.edits import Edit, OverlapError, compatible, splice


def test_edits_apply_from_the_end():
    assert splice("abcdef", [Edit(1, 2, "XX"), Edit(4, 6, "")]) == "aXXcd"


def test_insertions_at_one_place_keep_their_order():
    assert splice("ab", [Edit(1, 1, "1"), Edit(1, 1, "2")]) == "a12b"


def test_overlaps_are_refused():
    with pytest.raises(OverlapError):
        splice("abcdef", [Edit(0, 3, ""), Edit(2, 4, "")])
    assert not compatible([Edit(0, 3, "")], [Edit(2, 4, "")])
    assert compatible([Edit(0, 2, "")], [Edit(2, 4, "")])


@pytest.mark.parametrize("edit", [Edit(-1, 0, ""), Edit(2, 1, ""), Edit(0, 9, "")])
def test_edits_outside_the_text_are_refused(edit):
    with pytest.raises(ValueError, match="outside"):
        splice("abc", [edit])


@given(st.text(max_size=30), st.data())
def test_text_outside_the_edits_is_untouched(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    new = data.draw(st.text(max_size=5))
    result = splice(text, [Edit(start, end, new)])
    assert result == text[:start] + new + text[end:]
