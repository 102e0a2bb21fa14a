from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfgfix.core.findings import format_key_path, parse_key_path

STEPS = st.one_of(st.text(min_size=1, max_size=8), st.integers(0, 99))


@given(st.lists(STEPS, min_size=1, max_size=5).map(tuple))
def test_a_key_path_survives_its_text_form(path):
    assert parse_key_path(format_key_path(path)) == path


@pytest.mark.parametrize("text", ["a..b", ".a", "a.", "a[x]", "a[1"])
def test_bad_paths_are_refused(text):
    with pytest.raises(ValueError, match="key path"):
        parse_key_path(text)
