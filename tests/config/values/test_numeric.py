"""Numbers that are none, and numbers that are others than they look."""

from __future__ import annotations

import math

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pitfall_support import find, names, new_text, only
from ruamel.yaml import YAML

from cfgfix.config.loaders.scalars import LOADERS, resolve
from cfgfix.config.values.numbers import respell, whole_number_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1e-4", "1.0e-4"),
        ("5E-04", "5.0e-04"),
        ("1e4", "1.0e+4"),
        ("1.e4", "1.e+4"),
        ("+1.5e3", "+1.5e+3"),
        ("-.5", "-0.5"),
        (".5e3", "0.5e+3"),
        ("-1E+4", "-1.0e+4"),
        ("1.", "1."),
        ("1_000e3", "1_000.0e+3"),
        ("1e400", None),
        ("lin_3e-4", None),
        ("", None),
        ("٣e4", None),
    ],
)
def test_respelling_keeps_sign_and_digits(text: str, expected: str | None) -> None:
    assert respell(text) == expected


@given(
    sign=st.sampled_from(["", "-", "+"]),
    mantissa=st.from_regex(r"(?:[0-9]{1,6}(?:\.[0-9]{0,6})?|\.[0-9]{1,6})", fullmatch=True),
    exponent=st.sampled_from(
        [
            "",
            *(f"{mark}{sign}{n}" for mark in "eE" for sign in ("", "+", "-") for n in ("0", "4", "07", "30")),
        ]
    ),
)
def test_every_loader_reads_the_new_spelling_as_the_same_float(
    sign: str, mantissa: str, exponent: str
) -> None:
    text = sign + mantissa + exponent
    new = respell(text)
    assert new is not None
    value = float(text)
    assert yaml.safe_load(new) == value
    assert isinstance(yaml.safe_load(new), float)
    from_ruamel = YAML(typ="safe", pure=True).load(new)
    assert isinstance(from_ruamel, float)
    assert from_ruamel == value
    for loader in LOADERS.values():
        resolved = resolve(new, loader)
        assert (resolved.tag, resolved.value) == ("float", value)
    assert respell(new) == new


def test_digits_of_a_whole_number() -> None:
    assert whole_number_text("1e4") == "10000"
    assert whole_number_text("-2.50e1") == "-25"
    assert whole_number_text("1e-4") is None
    assert whole_number_text("1e300") is None


def test_how_sure_a_number_text_is() -> None:
    def judged(text: str, **known: object) -> tuple[str | None, str | None, str | None]:
        hit = only(find(text, **known))
        return hit.severity, hit.confidence, hit.safety

    assert judged("x: 1e-4", types={"x": "number"}) == ("error", "high", None)
    assert judged("x: 1e-4", types={"x": "number null"}) == ("error", "high", None)
    assert judged("x: 1e-4", types={"x": "number string"}) == ("warning", "medium", None)
    assert judged("x: 1e-4", concepts={"x": "learning_rate"}) == ("error", "high", None)
    assert judged("learning_rate: 1e-4") == ("error", "medium", None)
    assert judged("limit: 1e-4") == ("warning", "medium", None)
    assert judged("limit: 12e4") == ("warning", "low", "unsafe")
    assert judged("limit: [a, 1e-4]") == ("warning", "low", "unsafe")
    assert judged("x: 1e-4", types={"x": "number"}, coerces=["x"]) == ("info", "high", None)


@pytest.mark.parametrize("types", ["string", "boolean", "array", "object", "string null"])
def test_no_number_is_taken(types: str) -> None:
    assert find("x: 1e-4", types={"x": types}) == []


@pytest.mark.parametrize(
    "text",
    [
        "run_id: 12e4",
        "commit: 1e10",
        "sha: 123e4567",
        "names: [7e1, b]",
        "- [a, 12e4]",
        "v: !!float 1e-4",
        "v: '1e-4'",
        "1e-4: x",
        "v: 1e400",
    ],
)
def test_ids_and_texts_stay(text: str) -> None:
    assert find(text) == []


def test_a_count_by_name_is_written_in_digits() -> None:
    assert new_text(only(find("n_timesteps: 2e6")).changes[0]) == "2000000"
    assert new_text(only(find("decay_steps: 1e-1")).changes[0]) == "1.0e-1"


def test_a_number_that_cannot_be_whole_has_no_fix() -> None:
    hit = only(find("x: 1e-4", types={"x": "integer"}))
    assert hit.changes == ()
    assert hit.no_fix


@pytest.mark.parametrize("loader", ["ruamel", "omegaconf"])
def test_loaders_that_read_the_float(loader: str) -> None:
    assert find("learning_rate: 1e-4\nl2: 1.0e5\n", loader) == []


def test_model_garden_reads_half_of_them() -> None:
    assert [hit.at.key_path for _, hit in find("a: 1e-4\nb: 1.0e5\nc: 1.0e-5\n", "model-garden")] == [("b",)]


def test_a_float_is_told_only_where_an_integer_is_taken() -> None:
    assert names(find("n: 8.0", types={"n": "integer"})) == ["float_for_int"]
    assert names(find("n: 8.0", concepts={"n": "prefetch"})) == ["float_for_int"]
    assert find("n: 8.0", types={"n": "number"}) == []
    assert find("n: 8.0", types={"n": "integer number"}) == []
    assert find("n: 8.0", types={"n": "integer string"}) == []
    assert find("n: 8.0", types={"n": "integer"}, coerces=["n"]) == []
    assert find("n: 8.0", types={"n": "integer"}, enum={"n": [8.0, 16.0]}) == []
    assert find("n: 8.0") == []


def test_a_bool_for_a_number() -> None:
    assert names(find("n: true", types={"n": "integer"})) == ["bool_for_number"]
    assert names(find("n: yes", types={"n": "integer"})) == ["bool_for_number"]
    assert names(find("n: true", concepts={"n": "batch_size"})) == ["bool_for_number"]
    assert "Keras refuses" in str(only(find("n: true", concepts={"n": "learning_rate"})).values["effect"])
    for known in (
        {"types": {"n": "integer boolean"}},
        {"types": {"n": "integer string"}},
        {"concepts": {"n": "prefetch"}},
        {},
    ):
        assert find("n: true", **known) == []
    assert find("n: true", types={"n": "integer"}, enum={"n": [True, 3]}) == []


def test_an_integer_learning_rate() -> None:
    assert only(find("lr: 1", concepts={"lr": "learning_rate"})).severity is None
    assert only(find("solver: {learning_rate: 0}")).severity == "warning"
    assert find("lr: 1", types={"lr": "integer"}, concepts={"lr": "learning_rate"}) == []
    assert find("lr: 1", concepts={"lr": "min_learning_rate"}) == []
    assert find("lr: 1", concepts={"lr": "learning_rate"}, coerces=["lr"]) == []
    assert find("learning_rate: " + "9" * 30) == []


def test_an_octal_depends_on_the_loader() -> None:
    assert new_text(only(find("n: 010")).changes[0]) == "10"
    assert find("n: 010", "ruamel") == []
    assert find("n: 08") == []
    assert names(find("epochs: 08")) == ["octal_looking_int"]
    assert find("n: 08", types={"n": "string"}) == []
    assert new_text(only(find("n: 010", types={"n": "string"})).changes[0]) == "'010'"
    assert find("file_mode: 0644") == []
    assert only(find("file_mode: 0644", "ruamel")).changes == ()
    assert find("file_mode: 0o644", "ruamel") == []


def test_human_numbers_only_where_a_number_is_taken() -> None:
    for text in ("1,000", "50%", "8GB", "16,32", "(1,2)", "0.1f", "1 000", "3.5 MiB", "100ms"):
        assert find(f"x: {text}") == [], text
        assert find(f"x: {text}", types={"x": "string"}) == [], text
        assert find(f"x: {text}", types={"x": "number string"}) == [], text
        assert names(find(f"x: {text}", types={"x": "number"})) == ["human_number"], text
    for text in ("-1/3", "2**10", "auto", "8 cats", "1.2.3", "10-20", "1,00"):
        assert find(f"x: {text}", types={"x": "number"}) == [] or text == "1,00", text


def test_versions() -> None:
    assert names(find("python: 3.10")) == ["version_float_truncation"]
    assert only(find("version: 1.10", types={"version": "string"})).safety == "safe"
    assert only(find("version: 1.10")).safety == "unsafe"
    for text in (
        "version: 1.1",
        "version: 2.0",
        "python: 3.11",
        "scale: 1.10",
        "version: 1.0e+1",
        "subversion: 1.10",
    ):
        assert find(text) == [], text
    assert find("version: 1.10", types={"version": "number"}) == []


def test_base_60() -> None:
    assert only(find("t: 12:30")).values["loaded"] == "750"
    assert only(find("t: 12:30", types={"t": "string"})).safety == "safe"
    assert only(find("t: 1:30", types={"t": "integer"})).changes == ()
    assert math.isclose(float(str(only(find("t: 1:30.5")).values["loaded"])), 90.5)
    assert find("t: 12:30", "ruamel") == []
    assert find("t: 8080:80\nd: 2024-01-01\ni: a:1\n") == []


@given(st.integers(min_value=-(10**18), max_value=10**18), st.sampled_from(sorted(LOADERS)))
def test_ordinary_integers_are_quiet(number: int, loader: str) -> None:
    assert find(f"n: {number}\nl: [{number}, {number}]\nepochs: {number}\n", loader) == []


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(sorted(LOADERS)))
def test_portable_floats_are_quiet(number: float, loader: str) -> None:
    text = respell(repr(number))
    assert find(f"rate: {text}\nl: [{text}, {text}]\n", loader, types={"rate": "number"}) == []
