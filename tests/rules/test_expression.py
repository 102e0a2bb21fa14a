from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfgfix.rules.expression import (
    ExpressionError,
    Missing,
    compile_source,
    evaluate,
    format_bytes,
    translate,
    translate_template,
)


class Values:
    """A scope over plain values."""

    def __init__(self, **values):
        self.values = values

    def value(self, name):
        if name in self.values:
            return self.values[name]
        raise Missing(name)

    def has(self, name):
        return name in self.values

    def given(self, name):
        return name in self.values

    def tier(self, table, column, gib):
        return (table, column, gib)

    def gpu(self, index, field):
        return (index, field)


def run(text, **values):
    return evaluate(compile_source(translate(text).source), Values(**values))


@pytest.mark.parametrize(
    ("text", "values", "result"),
    [
        ("1 + 2 * 3 - 4 / 2", {}, 5.0),
        ("7 // 2 % 2", {}, 1),
        ("workers > 8 and batch == 32", {"workers": 9, "batch": 32}, True),
        ("1 <= x < 3", {"x": 3}, False),
        ("x in [0, -1]", {"x": -1}, True),
        ("x not in [0, -1]", {"x": 5}, True),
        ("not has(x)", {}, True),
        ("default(x, 7) + 1", {}, 8),
        ("default(x, 7) + 1", {"x": 1}, 2),
        ("'a' if flag else 'b'", {"flag": True}, "a"),
        ("min(a, b, 3)", {"a": 4, "b": 5}, 3),
        ("max([1, 2, a])", {"a": 4}, 4),
        ("floor(2.7) + ceil(2.1)", {}, 5),
        ("lower(name) == 'adam'", {"name": "ADAM"}, True),
        ("matches(name, 'mixed_', 'pure')", {"name": "mixed_float16"}, True),
        ("mentions(comment, 'oom', 'memory')", {"comment": "Causes OOMs"}, True),
        ("mentions(comment, 'oom')", {"comment": "for speed"}, False),
        ("mentions(comment, 'oom')", {"comment": 3}, False),
        ("optimizer_slots('AdamW')", {}, 8),
        ("tier(single, 'batch', 24)", {}, ("single", "batch", 24)),
        ("gpu(0, memory_mib)", {}, (0, "memory_mib")),
        ("null == x", {"x": None}, True),
    ],
)
def test_means_what_it_says(text, values, result):
    assert run(text, **values) == result


def test_true_and_one_are_kept_apart():
    assert run("x == true", x=1) is False
    assert run("x in [0, 1]", x=True) is False
    assert run("x == 1", x=1) is True


@pytest.mark.parametrize("text", ["a > 1", "a + 1", "a * 2", "a % 2", "len(a)", "min(a, 2)", "1 < a"])
@pytest.mark.parametrize("value", ["text-that-is-no-number", None, True])
def test_values_of_the_wrong_type_are_not_applicable(text, value):
    if text == "len(a)" and isinstance(value, str):
        return
    if text in ("a > 1", "1 < a") and isinstance(value, str):
        with pytest.raises(Missing):
            run(text, a=value)
        return
    with pytest.raises(Missing):
        run(text, a=value)


@pytest.mark.parametrize("text", ["1 / 0", "1 // 0", "1 % 0", "missing + 1", "optimizer_slots('mine')"])
def test_undefined_results_are_not_applicable(text):
    with pytest.raises(Missing):
        run(text)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "a.b",
        "().__class__",
        "hardware.x.y()",
        "2 ** 9",
        "1 << 9",
        "~1",
        "[].append(1)",
        "(lambda: 1)()",
        "[x for x in y]",
        "{1: 2}",
        "f'{x}'",
        "a if b",
        "x := 1",
        "has('x')",
        "has(x + 1)",
        "min()",
        "min(*x)",
        "min(a, key=b)",
        "1e999",
        "10000000000000000000",
        "b'x'",
        "...",
        "1 == 2 == 3",
        "a is b",
        "x[0]",
        "",
        "1 +",
        "-" * 100 + "1",
        "1" + " + 1" * 2000,
    ],
)
def test_everything_else_is_refused(text):
    with pytest.raises(ExpressionError):
        translate(text)


def test_operands_are_told():
    assert translate("a > hardware.cpu.usable and has(b)").operands == {"a", "hardware.cpu.usable"}


@pytest.mark.parametrize(
    ("text", "values", "result"),
    [
        ("{key} is {n}", {"key": "data.x", "n": 3}, "data.x is 3"),
        ("{n|bytes} of {m|mib}", {"n": 3_286_016_000, "m": 24564}, "3.29 GB of 24 GiB"),
        ("{{literal}} {share|pct}", {"share": 0.25}, "{literal} 25 %"),
        ("{flag} {nothing|raw}", {"flag": True, "nothing": None}, "true null"),
        ("{absent}", {}, "(unknown)"),
        ("{n}", {"n": 8.0}, "8"),
    ],
)
def test_templates(text, values, result):
    assert compile_source(translate_template(text).source)(Values(**values)) == result


@pytest.mark.parametrize("text", ["{", "}", "{a", "{a|nope}", "{__import__('os')}", "{a.b}"])
def test_bad_templates_are_refused(text):
    with pytest.raises(ExpressionError):
        translate_template(text)


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (32_870_000, "32.9 MB"), (1.6e9, "1.6 GB"), (5e15, "5e+03 TB")],
)
def test_byte_counts(count, text):
    assert format_bytes(count) == text


@given(st.text(max_size=60))
@settings(max_examples=300, deadline=None)
def test_no_text_does_harm(text):
    try:
        source = translate(text).source
    except ExpressionError:
        return
    with contextlib.suppress(Missing):
        evaluate(compile_source(source), Values(a=1, b="x"))


@given(
    st.recursive(
        st.sampled_from(["a", "b", "1", "2.5", "'t'", "true", "null", "hardware.cpu.usable"]),
        lambda inner: st.builds(
            lambda operator, left, right: f"({left} {operator} {right})",
            st.sampled_from(["+", "-", "*", "/", "//", "%", "<", ">=", "==", "!=", "and", "or"]),
            inner,
            inner,
        ),
        max_leaves=12,
    )
)
@settings(max_examples=300, deadline=None)
def test_every_expression_has_a_value_or_none(text):
    with contextlib.suppress(Missing):
        evaluate(compile_source(translate(text).source), Values(a=3, b=True))
