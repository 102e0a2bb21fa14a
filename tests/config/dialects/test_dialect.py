from __future__ import annotations

import pytest

from cfgfix.config.dialects.dialect import build, dialects, matches, parse_pattern
from cfgfix.core.errors import CfgfixError


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("data.num_workers", ("data", "num_workers")),
        ("a.*.b", ("a", None, "b")),
        ("pipeline[].epochs", ("pipeline", -1, "epochs")),
        ("pipeline[2].epochs", ("pipeline", 2, "epochs")),
        (r"params\.batch_size", ("params.batch_size",)),
        (r"a.\*", ("a", "*")),
        ("*", (None,)),
    ],
)
def test_patterns(text, pattern):
    assert parse_pattern(text) == pattern


@pytest.mark.parametrize("text", ["", ".a", "a..b", "a[x]", "a[1"])
def test_bad_patterns(text):
    with pytest.raises(ValueError, match=r"key path|step|index"):
        parse_pattern(text)


def test_matching():
    assert matches(("a", None, -1), ("a", "b", 3))
    assert not matches(("a", None), ("a", 0))
    assert not matches(("a", -1), ("a", "b"))
    assert not matches(("a",), ("a", "b"))


@pytest.mark.parametrize(
    ("data", "word"),
    [
        ({}, "name"),
        ({"name": "x", "colour": 1}, "colour"),
        ({"name": "x", "unknown_keys": "maybe"}, "unknown_keys"),
        ({"name": "x", "concepts": {"batch_size": ["a..b"]}}, "batch_size"),
    ],
)
def test_a_wrong_dialect_file_is_told(data, word):
    with pytest.raises(CfgfixError, match=word):
        build(data, "dialect.yaml")


def test_every_shipped_dialect_builds():
    found = dialects()
    assert {"myxtts", "generic"} <= set(found)
    for dialect in found.values():
        assert dialect.signature.every or dialect.signature.any_of, dialect.name
