"""What is found without jsonschema is what jsonschema finds."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_schema_accept import DEFINITIONS, instances, schemas

from cfgfix.config.document.compose import DataError, compose
from cfgfix.config.loaders.scalars import LOADERS
from cfgfix.config.schema import failures, limited_validator
from cfgfix.config.schema.judged_document import JudgedDocument
from cfgfix.config.schema.load import FORBIDDEN
from cfgfix.config.schema.validate import Schema
from cfgfix.core.source_file import read_source


def row(error):
    """Everything that `explain` reads of an error; the errors of branches as well."""
    return (
        error.validator,
        repr(error.validator_value),
        repr(error.instance),
        id(error.schema),
        tuple(error.absolute_path),
        tuple(error.absolute_schema_path),
        tuple(error.relative_path),
        tuple(error.relative_schema_path),
        [row(each) for each in error.context or ()],
    )


def in_any_order(rows):
    """Further keys come in no order from jsonschema."""
    return sorted(((*one[:-1], in_any_order(one[-1])) for one in rows), key=repr)


def both(schema, instance):
    """Return the errors found without jsonschema, or None, and those of jsonschema."""
    own = schema.failures(instance)
    theirs = list(limited_validator.LimitedValidator(schema).errors(instance)) if own is not None else []
    return own, theirs


@settings(max_examples=600, deadline=None)
@given(schemas, st.lists(instances, min_size=1, max_size=4))
def test_random_schemas_and_values_give_the_errors_of_jsonschema(schema, data):
    loaded = Schema.load({"$defs": DEFINITIONS, "allOf": [schema]}, "s")
    for instance in data:
        own, theirs = both(loaded, instance)
        if own is not None:
            assert in_any_order(map(row, own)) == in_any_order(map(row, theirs)), (schema, instance)


CASES = {
    "type": ({"properties": {"a": {"type": ["integer", "null"]}}}, {"a": "x"}),
    "enum": ({"properties": {"a": {"enum": ["x", 1, [1], None]}}}, {"a": True}),
    "const": ({"properties": {"a": {"const": {"b": 1}}}}, {"a": {"b": True}}),
    "date": ({"properties": {"a": {"type": "string", "enum": ["x"]}}}, {"a": dt.date(2026, 1, 1)}),
    "unknown key": ({"properties": {"a": True}, "additionalProperties": False}, {"b": 1, "c": 2}),
    "forbidden key": ({"properties": {"a": False}}, {"a": 1}),
    "other keys": ({"additionalProperties": {"type": "integer"}}, {"a": "x"}),
    "keys by pattern": ({"patternProperties": {"^a": {"minimum": 3}}}, {"ab": 1, "b": 1}),
    "required": ({"required": ["a", "b", "c"]}, {"b": 1}),
    "limits": ({"items": {"minimum": 1, "exclusiveMaximum": 3, "multipleOf": 0.5}}, [0, 3, 1.25, float("nan")]),
    "sizes": ({"items": {"minLength": 2, "maxItems": 1, "minProperties": 1}}, ["a", [1, 2], {}]),
    "pattern": ({"items": {"pattern": "^a+$"}}, ["b", "aa"]),
    "repeated": ({"items": {"uniqueItems": True}}, [[1, 1.0], [1, True]]),
    "too many items": ({"prefixItems": [{"type": "string"}], "items": False}, [1, 2]),
    "reference": ({"$defs": {"x": {"type": "integer"}}, "items": {"$ref": "#/$defs/x"}}, ["a"]),
    "condition": ({"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"required": ["c"]}}, {"a": 1}),
    "else": ({"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"required": ["c"]}}, {}),
    "not": ({"not": {"type": "object"}}, {}),
    "any": ({"properties": {"a": {"anyOf": [{"type": "integer"}, {"items": {"anyOf": [{"minimum": 3}, {"type": "null"}]}}]}}}, {"a": [1]}),
    "several": ({"oneOf": [{"minimum": 1}, {"maximum": 3}, {"type": "integer"}]}, 2),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_every_keyword_without_jsonschema(name):
    schema, instance = CASES[name]
    own, theirs = both(Schema.load(schema, "s"), instance)
    assert own
    assert [row(error) for error in own] == [row(error) for error in theirs]


@pytest.mark.parametrize(
    ("schema", "instance"),
    [
        ({"contains": {"type": "integer"}}, ["a"]),
        ({"propertyNames": {"maxLength": 1}}, {"ab": 1}),
        ({"dependentRequired": {"a": ["b"]}}, {"a": 1}),
        ({"dependentSchemas": {"a": {"required": ["b"]}}}, {"a": 1}),
        ({"unevaluatedProperties": False}, {"a": 1}),
        ({"unevaluatedItems": False}, [1]),
        ({"$dynamicRef": "#x", "$defs": {"x": {"$dynamicAnchor": "x", "type": "integer"}}}, "a"),
        ({"type": "integer"}, b"x"),
        ({"pattern": "^(a|b)*c$"}, "a" * 100_000),
    ],
)
def test_what_is_rare_is_left_to_jsonschema(schema, instance):
    assert Schema.load(schema, "s").failures(instance) is None


def test_work_without_end_is_left_to_jsonschema(monkeypatch):
    monkeypatch.setattr(failures, "MAX_STEPS", 1_000)
    schema = {
        "$defs": {"x": {"anyOf": [{"items": {"$ref": "#/$defs/x"}, "type": "array"}] * 2}},
        "$ref": "#/$defs/x",
    }
    value = "a"
    for _ in range(40):
        value = [value]
    assert Schema.load(schema, "s").failures(value) is None


def test_failures_without_end_are_left_to_jsonschema():
    schema = Schema.load({"items": {"type": "integer"}}, "s")
    assert len(schema.failures(["a"] * failures.MAX_FAILURES)) == failures.MAX_FAILURES
    assert schema.failures(["a"] * (failures.MAX_FAILURES + 1)) is None


@pytest.mark.acceptance
def test_the_real_configs_break_what_jsonschema_says(shared_path):
    """Every real config against the shipped schema with the most keys, by the errors and by the sentences."""
    from cfgfix.config.dialects.dialect import dialects, schema_data

    schema = Schema.load(schema_data(dialects()["myxtts"]), "myxtts/schema.json")
    machinery = limited_validator.LimitedValidator(schema)
    judged = 0
    for path in sorted((shared_path / "corpus" / "configs").rglob("*.y*ml"))[::3]:
        document = compose(read_source(str(path)))
        for root in document.roots:
            judged_values = JudgedDocument(schema, document, root, LOADERS["pyyaml"])
            try:
                instance = judged_values.instance(root)
            except DataError:
                continue
            if judged_values.opaque:
                continue
            own = schema.failures(instance)
            assert own is not None
            assert in_any_order(map(row, own)) == in_any_order(map(row, machinery.errors(instance))), path
            judged += 1
    assert judged > 200


def test_an_invalid_file_does_not_wake_jsonschema(repo_root):
    code = (
        "import sys\n"
        "from cfgfix.config.document.compose import compose\n"
        "from cfgfix.config.loaders.scalars import LOADERS\n"
        "from cfgfix.core.source_file import SourceFile\n"
        "from cfgfix.config.schema.validate import Schema\n"
        "schema = Schema.load({'properties': {'a': {'type': 'integer', 'minimum': 1}}, 'additionalProperties': False}, 's')\n"
        "document = compose(SourceFile.from_text('a: 0\\nb: x\\n', 'c.yaml'))\n"
        "print(len(schema.problems(document, document.roots[0], LOADERS['pyyaml'])))\n"
        "print([name for name in ('jsonschema', 'referencing', 'attrs', 'fractions') if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=repo_root, check=True
    )
    assert done.stdout.split("\n")[:2] == ["2", "[]"]


def test_a_false_schema_is_marked():
    own = Schema.load({"properties": {"a": False}}, "s").failures({"a": 1})
    assert own is not None
    assert FORBIDDEN in own[0].schema
