from __future__ import annotations

import functools
import importlib
import logging
import re
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfgfix.core.errors import CfgfixError
from cfgfix.tf.fingerprint import fingerprint

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4) | st.tuples(inner, inner)
    ),
    max_leaves=12,
)
LOG = logging.getLogger("x")
TABLE = {"a": 1}


def with_table(text: str) -> list[int]:
    LOG.debug("x")
    return [TABLE[letter] for letter in text]


def helper(text: str) -> str:
    return text.lower()


def with_helper(text: str) -> str:
    return helper(text)


class Tokenizer:
    def __init__(self, letters: str) -> None:
        self.letters = letters
        self.lock = threading.Lock()

    def __call__(self, text: str) -> list[int]:
        return [self.letters.index(letter) for letter in text]


@settings(deadline=None)
@given(PLAIN)
def test_plain_data_has_a_stable_name(value: object) -> None:
    assert fingerprint(value) == fingerprint(value)


@settings(deadline=None)
@given(PLAIN, PLAIN)
def test_different_data_has_different_names(first: object, second: object) -> None:
    assert (fingerprint(first) == fingerprint(second)) == (repr(first) == repr(second))


def test_types_that_are_equal_are_told_apart() -> None:
    assert len({fingerprint(value) for value in (1, 1.0, True, "1", b"1", [1], (1,), {1}, {1: None})}) == 9


def test_order_of_a_mapping_or_set_does_not_matter() -> None:
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    assert fingerprint({"x", "y", "z"}) == fingerprint({"z", "y", "x"})


def test_a_list_within_itself() -> None:
    value: list[object] = [1]
    value.append(value)
    assert fingerprint(value) == fingerprint(value)


def test_the_data_a_function_names_is_part_of_it(monkeypatch) -> None:
    before = fingerprint(with_table)
    monkeypatch.setitem(TABLE, "a", 2)
    assert fingerprint(with_table) != before


def test_the_functions_it_calls_are_part_of_it(monkeypatch) -> None:
    before = fingerprint(with_helper)
    monkeypatch.setattr(sys.modules[__name__], "helper", lambda text: text.upper())
    assert fingerprint(with_helper) != before


def test_closures_defaults_and_partials() -> None:
    def make(number: int, step: int = 1):
        return lambda text: len(text) + number * step

    assert fingerprint(make(1)) == fingerprint(make(1))
    assert fingerprint(make(1)) != fingerprint(make(2))
    assert fingerprint(functools.partial(with_helper, "a")) != fingerprint(
        functools.partial(with_helper, "b")
    )


def test_objects_count_by_their_state_and_class() -> None:
    assert fingerprint(Tokenizer("ab")) == fingerprint(Tokenizer("ab"))
    assert fingerprint(Tokenizer("ab")) != fingerprint(Tokenizer("ba"))
    assert fingerprint(Tokenizer("ab").__call__) != fingerprint(Tokenizer("ba").__call__)
    assert fingerprint(np.arange(3)) != fingerprint(np.arange(4))
    assert fingerprint(np.arange(3, dtype=np.int32)) != fingerprint(np.arange(3, dtype=np.int64))
    assert fingerprint(re.compile("a")) != fingerprint(re.compile("a", re.IGNORECASE))


def test_modules_of_ones_own_count_by_their_source(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "cfgfix_inner.py").write_text("def clean(t):\n    return t.lower()\n")
    (tmp_path / "cfgfix_rules.py").write_text(
        "import cfgfix_inner\n\ndef clean(t):\n    return cfgfix_inner.clean(t)\n"
    )
    (tmp_path / "cfgfix_user.py").write_text(
        "import cfgfix_rules\n\ndef run(t):\n    return cfgfix_rules.clean(t)\n"
    )

    def load() -> str:
        for name in ("cfgfix_inner", "cfgfix_rules", "cfgfix_user"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return fingerprint(importlib.import_module("cfgfix_user").run)

    before = load()
    assert load() == before
    (tmp_path / "cfgfix_inner.py").write_text("def clean(t):\n    return t.upper() + t\n")
    assert load() != before
    for name in ("cfgfix_inner", "cfgfix_rules", "cfgfix_user"):
        sys.modules.pop(name, None)


def test_an_object_may_name_itself() -> None:
    class Own:
        def __init__(self, text: object) -> None:
            self.text = text

        def fingerprint(self) -> object:
            return self.text

    assert fingerprint(Own("a")) != fingerprint(Own("b"))
    with pytest.raises(CfgfixError, match="must return a text"):
        fingerprint(Own(3))


def test_what_cannot_be_seen_is_refused() -> None:
    with pytest.raises(CfgfixError, match="does not show its content"):
        fingerprint(iter([1]))
    generator = (item for item in [1])
    with pytest.raises(CfgfixError, match="give fingerprint="):
        fingerprint(lambda text: next(generator))


def test_other_packages_count_by_version() -> None:
    assert fingerprint(np.mean) == fingerprint(np.mean)
    assert fingerprint(len) != fingerprint(abs)
