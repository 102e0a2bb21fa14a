from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfgfix.edits import Edit, OverlapError, Spans, splice


def _together(*groups):
    spans = Spans()
    return all(spans.add(group) for group in groups)


def test_edits_apply_from_the_end():
    assert splice("abcdef", [Edit(1, 2, "XX"), Edit(4, 6, "")]) == "aXXcd"


def test_insertions_at_one_place_keep_their_order():
    assert splice("ab", [Edit(1, 1, "1"), Edit(1, 1, "2")]) == "a12b"


def test_overlaps_are_refused():
    with pytest.raises(OverlapError):
        splice("abcdef", [Edit(0, 3, ""), Edit(2, 4, "")])
    assert not _together([Edit(0, 3, "")], [Edit(2, 4, "")])
    assert _together([Edit(0, 2, "")], [Edit(2, 4, "")])
    assert not _together([Edit(3, 3, "a")], [Edit(3, 3, "b")])
    assert not _together([Edit(0, 1, ""), Edit(0, 2, "")])


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 4)), max_size=12))
def test_groups_of_edits_go_together_where_none_overlaps_or_begins_at_the_same_place(spans):
    edits = [Edit(start, start + size, "") for start, size in spans]
    taken, kept = Spans(), []
    for edit in edits:
        free = all(
            edit.start != other.start and (edit.end <= other.start or edit.start >= other.end)
            for other in kept
        )
        assert taken.add([edit]) is free
        if free:
            kept.append(edit)


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
