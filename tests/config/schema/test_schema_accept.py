"""The fast yes never says yes where jsonschema says no."""

from __future__ import annotations

import datetime as dt
import itertools
import json
import math

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from cfgfix.config.document.compose import compose
from cfgfix.config.loaders.scalars import LOADERS
from cfgfix.config.schema.accept import DEFERRED, UNDERSTOOD, compile_schema, equal
from cfgfix.config.schema.failures import repeated
from cfgfix.config.schema.load import LIST_KEYWORDS, MAP_KEYWORDS, SCHEMA_KEYWORDS, SHAPES, load
from cfgfix.config.schema.validate import CODES, Schema
from cfgfix.core.errors import CfgfixError
from cfgfix.core.source_file import SourceFile

KEYS = ["a", "b", "ab", "x-1", ""]
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-4, 4),
    st.sampled_from([0.0, 1.0, 1.5, -0.5, 3.0, 1e300, math.inf, -math.inf, math.nan, 2**70]),
    st.sampled_from(["", "a", "b", "ab", "abc", "x-1", "é"]),
)
instances = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
    ),
    max_leaves=8,
)
numbers = st.sampled_from([-2, 0, 1, 2, 1.0, 1.5, 2.5, 0.1])
counts = st.sampled_from([0, 1, 2, 3, 2.0])
patterns = st.sampled_from(["^a", "b$", "^[ab]+$", "-", ".", "^(a|b)$", "x?", "^$"])
types = st.sampled_from(["array", "boolean", "integer", "null", "number", "object", "string"])
names = st.sampled_from(KEYS)


def _with(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    some = st.lists(inner, min_size=1, max_size=3)
    named = st.dictionaries(names, inner, max_size=3)
    keywords = {
        "type": types | st.lists(types, min_size=1, max_size=3, unique=True),
        "enum": st.lists(instances, max_size=4),
        "const": instances,
        "minimum": numbers,
        "maximum": numbers,
        "exclusiveMinimum": numbers,
        "exclusiveMaximum": numbers,
        "multipleOf": st.sampled_from([1, 2, 3, 0.5, 0.1, 1.0]),
        "minLength": counts,
        "maxLength": counts,
        "pattern": patterns,
        "items": inner,
        "prefixItems": some,
        "minItems": counts,
        "maxItems": counts,
        "uniqueItems": st.booleans(),
        "contains": inner,
        "properties": named,
        "patternProperties": st.dictionaries(patterns, inner, max_size=2),
        "additionalProperties": inner,
        "required": st.lists(names, max_size=2, unique=True),
        "minProperties": counts,
        "maxProperties": counts,
        "propertyNames": inner,
        "dependentRequired": st.dictionaries(names, st.lists(names, max_size=2, unique=True), max_size=2),
        "dependentSchemas": named,
        "unevaluatedProperties": inner,
        "unevaluatedItems": inner,
        "allOf": some,
        "anyOf": some,
        "oneOf": some,
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
        "title": st.just("t"),
        "x-unit": st.just("Hz"),
        "default": instances,
        "$ref": st.sampled_from(["#/$defs/leaf", "#/$defs/list", "#leaf"]),
    }
    return st.lists(st.sampled_from(sorted(keywords)), max_size=4, unique=True).flatmap(
        lambda chosen: st.fixed_dictionaries({keyword: keywords[keyword] for keyword in chosen})
    )


schemas = st.recursive(st.booleans() | _with(st.booleans()), _with, max_leaves=5)
DEFINITIONS = {
    "leaf": {"$anchor": "leaf", "type": ["integer", "string"], "maximum": 2, "maxLength": 2},
    "list": {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/leaf"}, {"$ref": "#/$defs/list"}]}},
}


def is_valid(judge, instance):
    """What jsonschema says; examples on which its `multipleOf` fails (infinity, not-a-number) are left out."""
    try:
        return judge.is_valid(instance)
    except (OverflowError, ValueError):
        assume(False)


@settings(max_examples=1500, deadline=None)
@given(schemas, st.lists(instances, min_size=1, max_size=6))
def test_a_final_answer_agrees_with_jsonschema(schema, data):
    whole = {"$defs": DEFINITIONS, "allOf": [schema]}
    accept = compile_schema(load(whole, "schema"))
    judge = Draft202012Validator(whole)
    for instance in data:
        verdict = accept.verdict(instance)
        if verdict is not None:
            assert verdict == is_valid(judge, instance), (schema, instance)


@settings(max_examples=300, deadline=None)
@given(instances, instances)
def test_equality_is_that_of_jsonschema(first, second):
    schema = {"const": first}
    assert equal(first, second) == Draft202012Validator(schema).is_valid(second)


def test_every_keyword_of_jsonschema_is_judged_or_left_to_it():
    assert UNDERSTOOD.isdisjoint(DEFERRED)
    assert set(Draft202012Validator.VALIDATORS) - {"format"} == UNDERSTOOD | DEFERRED


def test_every_keyword_of_the_metaschema_has_a_checked_shape():
    from jsonschema_specifications import REGISTRY

    known: set[str] = set()
    for part in (
        "core",
        "applicator",
        "unevaluated",
        "validation",
        "meta-data",
        "format-annotation",
        "content",
    ):
        resource = REGISTRY.contents(f"https://json-schema.org/draft/2020-12/meta/{part}")
        known |= set(resource["properties"])
    own = set(SHAPES) | SCHEMA_KEYWORDS | LIST_KEYWORDS | MAP_KEYWORDS | {"dependentRequired"}
    # $vocabulary only means something in a metaschema; `const` and `default` take any value.
    assert known - own == {"$vocabulary", "const", "default"}


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "integer"}, [1, 0, -3, 32.0, 2**80], [True, 1.5, "1", None, [], math.inf]),
        ({"type": "number"}, [1, 1.5, math.nan], [True, "1"]),
        ({"type": ["integer", "null"]}, [1, None], [False, "x"]),
        ({"enum": ["adam", 1, None]}, ["adam", 1, 1.0, None], ["Adam", True, 2]),
        ({"minimum": 0, "exclusiveMaximum": 1}, [0, 0.5, "x", True], [-1, 1, 1.0]),
        (
            {"required": ["a"], "additionalProperties": False, "properties": {"a": {}}},
            [{"a": 1}, 3],
            [{}, {"b": 1}],
        ),
        ({"patternProperties": {"^x-": True}, "additionalProperties": False}, [{"x-a": 1}], [{"a": 1}]),
        (
            {"prefixItems": [{"type": "string"}], "items": {"type": "integer"}},
            [["a", 1, 2], []],
            [[1], ["a", "b"]],
        ),
        ({"uniqueItems": True}, [[1, True, "1"], [1, 2]], [[1, 1], ["a", "a"]]),
        ({"not": {"type": "string"}}, [1], ["a"]),
        ({"oneOf": [{"minimum": 5}, {"type": "integer"}]}, [3, 6.5], [7]),
    ],
)
def test_examples(schema, good, bad):
    accept = compile_schema(load(schema, "schema"))
    for instance in good:
        assert accept.verdict(instance) is True, instance
    for instance in bad:
        assert accept.verdict(instance) is False, instance


def test_values_without_a_json_type_are_left_to_jsonschema():
    accept = compile_schema(
        load({"properties": {"a": {"type": "string"}}, "additionalProperties": False}, "schema")
    )
    assert accept.verdict({"a": dt.date(2024, 1, 1)}) is None
    assert accept.verdict({True: 1}) is None
    assert accept.verdict({"a": b"x"}) is None


def test_shared_references_cost_no_more_than_their_number():
    # 2**60 ways lead to the leaf.
    definitions: dict[str, object] = {
        f"d{level}": {"allOf": [{"$ref": f"#/$defs/d{level + 1}"}] * 2} for level in range(60)
    }
    definitions["d60"] = {"type": "integer"}
    accept = compile_schema(load({"$defs": definitions, "$ref": "#/$defs/d0"}, "schema"))
    assert accept.verdict(1) is True
    assert accept.verdict("a") is False


def test_recursive_schemas_follow_the_data_and_give_up_on_endless_depth():
    schema = {"type": "object", "properties": {"child": {"$ref": "#"}}, "additionalProperties": False}
    accept = compile_schema(load(schema, "schema"))
    assert accept.verdict({"child": {"child": {}}}) is True
    assert accept.verdict({"child": {"chidl": {}}}) is False
    deep: dict[str, object] = {}
    for _ in itertools.repeat(None, 5000):
        deep = {"child": deep}
    assert accept.verdict(deep) is None


def test_a_schema_from_json_text_compiles_without_touching_the_original():
    text = json.dumps({"properties": {"a": {"pattern": "(a+)+$"}}})
    data = json.loads(text)
    loaded = load(data, "schema")
    assert json.dumps(data) == text
    assert [pattern for pattern, _ in loaded.unchecked] == ["(a+)+$"]
    assert compile_schema(loaded).verdict({"a": "a" * 1000 + "b"}) is True


@settings(max_examples=400, deadline=None)
@given(schemas, instances)
def test_a_document_has_problems_exactly_when_jsonschema_says_so(schema, instance):
    whole = {"$defs": DEFINITIONS, "allOf": [schema]}
    text = yaml.safe_dump(instance, allow_unicode=True)
    document = compose(SourceFile.from_text(text, "c.yaml"))
    assume(document.problem is None and document.roots)
    assume("nan" not in text)
    problems = Schema.load(whole, "s").problems(document, document.roots[0], LOADERS["pyyaml"])
    assert bool(problems) == (not is_valid(Draft202012Validator(whole), instance))
    for problem in problems:
        assert 0 <= problem.start <= problem.end <= len(text)
        assert "\n" not in text[problem.start : problem.end]
        assert problem.code in CODES
        assert problem.message
    assert problems == sorted(problems, key=lambda problem: problem.start)


@settings(max_examples=300, deadline=None)
@given(st.lists(instances, max_size=6))
def test_repeated_items_are_those_that_are_equal(values):
    pairs = [(i, j) for j in range(len(values)) for i in range(j) if equal(values[i], values[j])]
    found = repeated(values)
    if "nan" not in repr(values):
        assert found == (pairs[0] if pairs else None)
    elif found is not None:
        assert equal(values[found[0]], values[found[1]])


@pytest.mark.parametrize("step", [0.5, 1.0, 1e-300, 2, 0.1])
@pytest.mark.parametrize("value", [".inf", "-.inf", ".nan"])
def test_infinity_is_a_multiple_of_nothing(step, value):
    document = compose(SourceFile.from_text(f"a: {value}\n", "c.yaml"))
    schema = Schema.load({"properties": {"a": {"multipleOf": step}}}, "s")
    (problem,) = schema.problems(document, document.roots[0], LOADERS["pyyaml"])
    assert problem.kind == "multipleOf"


@pytest.mark.parametrize(
    ("step", "fits"), [(0.5, True), (1.0, True), (2, True), (3.0, False), (3, False), (1e-300, False)]
)
def test_integers_beyond_any_float_are_judged_exactly(step, fits):
    document = compose(SourceFile.from_text(f"a: 1{'0' * 400}\n", "c.yaml"))
    schema = Schema.load({"properties": {"a": {"multipleOf": step}}}, "s")
    assert (not schema.problems(document, document.roots[0], LOADERS["pyyaml"])) == fits


def test_a_step_without_end_is_refused():
    with pytest.raises(CfgfixError, match="multipleOf"):
        load({"multipleOf": math.inf}, "s")
