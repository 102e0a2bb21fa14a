"""Edits of one expression: what they name changes, everything else stays as it is written."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfgfix.code.fixes import spans
from cfgfix.code.fixes.lossless import OtherMeaningError, same_outside
from cfgfix.code.model.positions import CannotRewriteError
from cfgfix.core.edits import Edit, splice


def edited(text: str, *edits: Edit) -> str:
    return splice(text, list(edits))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("d.map(f)", "d.map(f, n=1)"),
        ("d.map()", "d.map(n=1)"),
        ("d.map( )", "d.map( n=1)"),
        ("d.map(f,)", "d.map(f, n=1,)"),
        ("d.map(f, n=g(2))", "d.map(f, n=1)"),
        ("d.map(f, n = (2))", "d.map(f, n = 1)"),
        ("(d.map)(f)", "(d.map)(f, n=1)"),
        ("d.map((f))", "d.map((f), n=1)"),
        ("d.map((a, b), (c))", "d.map((a, b), (c), n=1)"),
        ("d.map((x for x in y))", "d.map((x for x in y), n=1)"),
        ('d.map("\U0001f600é", f)', 'd.map("\U0001f600é", f, n=1)'),
        ('d.map("#,)(", f)', 'd.map("#,)(", f, n=1)'),
        ("d.map(\n    f,\n    g,\n)", "d.map(\n    f,\n    g,\n    n=1,\n)"),
        ("d.map(\n    f,\n)", "d.map(\n    f,\n    n=1,\n)"),
        ("d.map(\r\n    f\r\n)", "d.map(\r\n    f,\r\n    n=1\r\n)"),
        ("d.map(f,\n      g)", "d.map(f,\n      g,\n      n=1)"),
        ("d.map(f  # first,\n  , g)", "d.map(f  # first,\n  , g\n  , n=1)"),
        ("d.map(\n    f,  # (first,\n    g,\n)", "d.map(\n    f,  # (first,\n    g,\n    n=1,\n)"),
        ("d.map(  # why (\n    f)", "d.map(  # why (\n    f, n=1)"),
        ("d.map(*a)", "d.map(*a, n=1)"),
        ("d.map(f, \\\n      g)", "d.map(f, \\\n      g, \\\n      n=1)"),
    ],
)
def test_a_keyword_is_added_or_given_another_value(before, after):
    assert edited(before, spans.with_keyword(before, "n", "1")) == after


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("d.map(f, **o)", "hides"),
        ("d.map(x for x in y)", "generator"),
        ("d.map(f  # why\n)", "comment"),
        ("d.map(f,  # why\n)", "comment"),
        ("d.map", "no call"),
        ("d.map(f) + 1", "no call"),
        ("d.map(f", "one expression"),
        ("d = 1", "one expression"),
        ("d) + (e", "one expression|no call"),
    ],
)
def test_what_cannot_be_given_a_keyword(text, why):
    with pytest.raises(CannotRewriteError, match=why):
        spans.with_keyword(text, "n", "1")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(n=1)", "f()"),
        ("f(a, n=1)", "f(a)"),
        ("f(a, n=1,)", "f(a,)"),
        ("f(n=1, b=2)", "f(b=2)"),
        ("f(a, n=1, b=2)", "f(a, b=2)"),
        ("f(\n    a,\n    n=(1),\n)", "f(\n    a,\n)"),
        ("f(\n    n=1,\n    n2=1,\n)", "f(\n    n2=1,\n)"),
        ("f(\n    n=1,\n)", "f(\n    )"),
        ("f((a), n=1)", "f((a))"),
    ],
)
def test_a_keyword_is_taken_out(before, after):
    assert edited(before, spans.without_keyword(before, "n")) == after


@pytest.mark.parametrize(
    "text",
    ["f(a, n=1  # why\n)", "f(n=1,  # why\n  b=2)", "f(a,  # why\n  n=1)", "f(n='#')", "f(a, m=1)", "n"],
)
def test_a_keyword_stays_where_it_cannot_be_taken_out_exactly(text):
    with pytest.raises(CannotRewriteError):
        spans.without_keyword(text, "n")


def test_names_links_and_entries():
    assert edited("tf.a.b", spans.renamed("tf.a.b", "c")) == "tf.a.c"
    assert edited("tf.a . b(1)", spans.renamed("tf.a . b(1)", "c")) == "tf.a . c(1)"
    assert edited("f(x)(y)", spans.renamed("f(x)(y)", "g")) == "g(x)(y)"
    assert edited("(a.b(1)\n  .c(2))", Edit(0, 0, "")) == "(a.b(1)\n  .c(2))"
    assert edited("a.b(1)\n  .c(2)", spans.unchained("a.b(1)\n  .c(2)")) == "a.b(1)"
    assert edited("(a.b)  .c(2)", spans.unchained("(a.b)  .c(2)")) == "(a.b)"
    assert edited("{'n': 1, 'm': 2}", spans.without_entry("{'n': 1, 'm': 2}", "n")) == "{'m': 2}"
    assert edited("{**o, ('n'): (1), }", spans.without_entry("{**o, ('n'): (1), }", "n")) == "{**o, }"
    assert edited(
        "{**(o), 'a': lambda: 1, 'n': 1}", spans.without_entry("{**(o), 'a': lambda: 1, 'n': 1}", "n")
    ) == ("{**(o), 'a': lambda: 1}")
    text = "f(g, output_types=tf.int32, output_shapes=(None,))"
    made = spans.with_keywords_as_one(text, ("output_types", "output_shapes"), "s=1")
    assert edited(text, *made) == "f(g, s=1)"
    for wrong in ("f(1)", "1", "[a][0](x)"):
        with pytest.raises(CannotRewriteError):
            spans.unchained(wrong)
        with pytest.raises(CannotRewriteError):
            spans.without_entry(wrong, "n")
    with pytest.raises(CannotRewriteError):
        spans.renamed("a[0]", "c")
    with pytest.raises(CannotRewriteError):
        spans.with_renamed_keyword("f(a=1)", "n", "m")


PLAIN = [
    "a",
    "(a)",
    "((a, b))",
    "'x, (#'",
    "[1, (2)]",
    "lambda x=(1,): x",
    "g(h(1), k=2)",
    "{'a': (1)}",
    "é",
    "*r",
    "not (a)",
    '"""t\n,("""',
]
BLANK = ["", " ", "\n   ", "  # c, (d) = 'e\n  ", " \\\n ", "\r\n  "]


@st.composite
def calls(draw: st.DrawFn) -> str:
    """Calls as people write them, and as nobody would."""
    positional = draw(st.lists(st.sampled_from(PLAIN), max_size=3))
    names = draw(st.lists(st.sampled_from(["n", "m", "name", "k"]), max_size=3, unique=True))
    blank = st.sampled_from(BLANK)
    values = st.sampled_from([item for item in PLAIN if not item.startswith("*")])
    items = positional + [f"{name}{draw(blank)}={draw(blank)}{draw(values)}" for name in names]
    text = "d.map" + draw(st.sampled_from(["", " "])) + "("
    for position, item in enumerate(items):
        comma = "," if position + 1 < len(items) or draw(st.booleans()) else ""
        text += draw(blank) + item + draw(blank) + comma
    return text + draw(blank) + ")"


def shape(text: str) -> tuple[list[str], dict[str | None, str]]:
    call = ast.parse(f"({text}\n)", mode="eval").body
    assert isinstance(call, ast.Call)
    return [ast.dump(item) for item in call.args], {item.arg: ast.dump(item.value) for item in call.keywords}


@settings(deadline=None)
@given(calls(), st.sampled_from(["with", "without", "rename"]))
def test_every_edit_means_what_it_says_and_nothing_else(text, kind):
    arguments, keywords = shape(text)
    try:
        if kind == "with":
            edit = spans.with_keyword(text, "n", "5")
            keywords["n"] = ast.dump(ast.Constant(5))
        elif kind == "without":
            edit = spans.without_keyword(text, "n")
            del keywords["n"]
        else:
            edit = spans.with_renamed_keyword(text, "n", "new")
            keywords = {"new" if name == "n" else name: value for name, value in keywords.items()}
    except CannotRewriteError as error:
        missing = kind != "with" and "n" not in keywords
        if not missing and "#" not in text:
            raise AssertionError(f"nothing keeps this from being edited: {error}") from error
        return
    after = edited(text, edit)
    assert shape(after) == (arguments, keywords)
    assert after.count("#") == text.count("#") or kind == "with"
    new = (edit.start + 1, edit.start + 1 + len(edit.new))
    same_outside(f"({text}\n)\n", f"({after}\n)\n", [(edit.start + 1, edit.end + 1)], [new])


@pytest.mark.parametrize(
    ("before", "old", "new"),
    [
        ("x = not a\n", "a", "b or c"),
        ("x = a * 2\n", "a", "b + c"),
        ("x = -a ** 2\n", "-a", "(b)"),
        ("f(a, b)\n", "a", "c, d"),
        ("f(a)\n", "a", "a) + (b"),
        ("x = a.b\n", "a", "c if d else e"),
        ("x = a\n", "a", "b; y = c"),
        ("x = a\n", "x = ", "x = yield "),
        ("x = a if b else c\n", "b", "d if e else f"),
        ("lambda: a\n", "a", "a, b"),
        ("x = a < b\n", "a", "c < d"),
        ("x[a]\n", "a", "b, c"),
        ("x = a.b(c).d(e)\n", ".b(c)", " + 1"),
    ],
)
def test_text_that_would_take_its_surroundings_with_it_is_refused(before, old, new):
    start = before.index(old)
    after = before.replace(old, new, 1)
    with pytest.raises(OtherMeaningError):
        same_outside(before, after, [(start, start + len(old))], [(start, start + len(new))])


@pytest.mark.parametrize(
    ("before", "old", "new"),
    [
        ("x = not a\n", "a", "(b or c)"),
        ("x = a * 2\n", "a", "b"),
        ("f(a, b)\n", ", b", ""),
        ("x = a.b(c).d(e)\n", ".b(c)", ""),
        ("x = a.d(e)\n", ".d", ".b(c).d"),
        (
            "a.b(c)\n",
            "a",
            "a = a",
        ),
        ("f(min(n, 8))\n", "min(n, 8)", "tf.data.AUTOTUNE"),
        ("é = a  # é\n", "a", "b"),
    ],
)
def test_text_that_stays_in_its_place_is_let_through(before, old, new):
    start = before.index(old)
    after = before.replace(old, new, 1)
    same_outside(before, after, [(start, start + len(old))], [(start, start + len(new))])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(x, y)", "f(x, n=y)"),
        ("f(x,(y))", "f(x,n=(y))"),
        ("f(\n    x,  # the first,\n    y,  # why\n)", "f(\n    x,  # the first,\n    n=y,  # why\n)"),
        ("f(x, (a, b), m=1)", "f(x, n=(a, b), m=1)"),
        ("f(x, y, **o)", "f(x, n=y, **o)"),
    ],
)
def test_an_argument_is_given_by_its_name(before, after):
    assert edited(before, spans.with_named_argument(before, 1, "n")) == after


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("f(x)", "told apart"),
        ("f(*x, y)", "told apart"),
        ("f(x, *y)", "told apart"),
        ("f(x, m=1)", "told apart"),
        ("f(x, y, n=1)", "already"),
    ],
)
def test_an_argument_that_cannot_be_named_is_refused(text, why):
    with pytest.raises(CannotRewriteError, match=why):
        spans.with_named_argument(text, 1, "n")
