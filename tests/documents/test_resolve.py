"""What a plain scalar means to each loader, held against the loaders themselves."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from real_loaders import FAILS, REAL_SCALARS, configs, same_value, scalars

from cfgfix.documents.compose import compose
from cfgfix.documents.resolve import LOADERS, construct_scalar, resolve
from cfgfix.files import read_source

# Words parted by spaces read better here than a list of five hundred quotes.
TRICKY = """
1e-4 1E-4 1e4 1e+4 2.5e5 1.0e3 1.0e-4 1.0E+4 1.e5 1.e+5 -.5 +.5 .5 .5e-3 .5e3 -.5e+3 ._ . .. ... 1. -1. +1 -0 00 0
010 0o10 0O10 08 09 0x1F 0X1f 0x 0x_ 0b101 0b 0b_ 0b2 1_000 1_000.5 _1 -_ +_ - + -- 1__0 0_7 0_8 -010 +0x1f
190:20:30 190:20:30.15 1:60 1:5 01:30 -1:30 1:30. 12:30:45 23:59:00 1:1.5e3 0:1
.inf -.inf +.inf .Inf .INF .iNf inf .nan .NaN .NAN -.nan .Nan nan
true True TRUE tRUE false False FALSE yes Yes YES yEs no No NO on On ON oN off Off OFF y Y n N
null Null NULL nULL ~ ~~ << <<< = == None none NONE
2001-01-01 2001-1-1 2001-02-30 2001-13-01 0000-01-01 2001-12-14t21:59:43.10-05:00 2001-12-14T21:59:43Z
2001-12-14T21:59:43.1234567 2001-12-14T21:59:43.9999995 2001-12-14T21:59:43.9999999+01 2001-12-14T1:2:3
2001-12-14T25:00:00 2001-12-14T21:59:43+30:00 20011-01-01
1\\a5 1\\.5e3 \\.5 1.5.5 1e5e5 1,000 1 2 ٣ 1٣ \uff12 1e\uff11 ½ 5% abc a:b e5 E5 _ __ 0e0 0.0e0 -0.0 1e400 1e-400
""".split()  # noqa: SIM905
TRICKY += [
    "",
    "2001-12-14 21:59:43.10 -5",
    "2001-12-14 \t 21:59:43",
    "9" * 4000,
    "9" * 5000,
    "1" + ":00" * 30,
    "1" + ":00" * 90 + ".5",
]


def check(text: str, name: str) -> None:
    tag, value = REAL_SCALARS[name](text)
    ours = resolve(text, LOADERS[name])
    assert (name, text[:60], ours.tag) == (name, text[:60], tag)
    assert (ours.error is not None) == (value is FAILS), (name, text[:60], ours)
    if value is FAILS:
        assert ours.value == text
    else:
        assert same_value(value, ours.value) or same_value(ours.value, value), (name, text, value, ours)


@pytest.mark.parametrize("name", LOADERS)
def test_tricky_scalars_mean_what_the_real_loader_says(name: str) -> None:
    for text in TRICKY:
        check(text, name)


@pytest.mark.parametrize("name", LOADERS)
@given(text=st.text(alphabet="0123456789+-._:eExXobBaft \tTZ<=~yYnNoOuUlLiIrRsS\\٣", max_size=12))
@settings(max_examples=600, deadline=None)
def test_made_up_scalars_mean_what_the_real_loader_says(name: str, text: str) -> None:
    check(text, name)


NUMBERS = st.one_of(
    st.from_regex(r"[-+]?[0-9_]{1,4}(\.[0-9_]{0,4})?([eE][-+]?[0-9]{1,3})?", fullmatch=True),
    st.from_regex(r"[-+]?[0-9]{1,3}(:[0-9]{1,2}){1,3}(\.[0-9_]{0,3})?", fullmatch=True),
    st.from_regex(r"[-+]?0[xob]?[0-9a-f_]{1,6}", fullmatch=True),
    st.from_regex(
        r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(\.[0-9]{0,8})?([ \t]*(Z|[-+][0-9]{1,2}(:[0-9]{2})?))?",
        fullmatch=True,
    ),
)


@pytest.mark.parametrize("name", LOADERS)
@given(text=NUMBERS)
@settings(max_examples=400, deadline=None)
def test_number_like_scalars_mean_what_the_real_loader_says(name: str, text: str) -> None:
    check(text, name)


@pytest.mark.acceptance
def test_every_plain_scalar_of_the_real_configurations(shared_path: Path) -> None:
    texts = set()
    for path in configs(shared_path):
        for root in compose(read_source(path)).roots:
            texts.update(node.text for node in scalars(root) if not node.style and node.tag is None)
    assert len(texts) > 4000
    for text in texts:
        for name in LOADERS:
            check(text, name)


def test_what_fails_says_why_in_one_sentence() -> None:
    resolved = resolve("2001-02-30", LOADERS["pyyaml"])
    assert resolved.tag == "timestamp"
    assert (
        resolved.error
        == "PyYAML (yaml.safe_load) reads it as a date and fails: day is out of range for month"
    )


def test_a_hostile_number_costs_no_time() -> None:
    resolved = resolve("1" + ":1" * 500_000, LOADERS["pyyaml"])
    assert resolved.tag == "int"
    assert resolved.error is not None
    assert resolve("1" * 1_000_000 + "x", LOADERS["ruamel"]).tag == "str"


def test_what_is_remembered_is_bounded_and_stays_right() -> None:
    loader = LOADERS["pyyaml"]
    for number in range(20_000):
        assert resolve(f"v{number}", loader).value == f"v{number}"
    from cfgfix.documents import resolve as module

    assert len(module._memos["pyyaml"]) <= module._MEMO_SIZE
    assert resolve("1e-4", loader).value == "1e-4"
    assert resolve("1e-4", LOADERS["ruamel"]).value == 1e-4
    assert resolve("1e-4", LOADERS["model-garden"]).value == 1e-4
    assert resolve("1.0e5", LOADERS["model-garden"]).value == "1.0e5"
    assert resolve("1.0e5", LOADERS["omegaconf"]).value == 1.0e5


@pytest.mark.parametrize(
    ("tag", "text", "value"),
    [
        ("float", "5e-4", 5e-4),
        ("int", "0x1f", 31),
        ("str", "12", "12"),
        ("bool", "Yes", True),
        ("null", "x", None),
    ],
)
def test_a_written_tag_decides(tag: str, text: str, value: object) -> None:
    assert construct_scalar(tag, text, LOADERS["pyyaml"]) == value
