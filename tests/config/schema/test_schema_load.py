"""A schema is checked once, completely, and nothing is fetched."""

from __future__ import annotations

import json
import os
import socket

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from cfgfix.config.schema import load as load_module
from cfgfix.config.schema.load import load
from cfgfix.config.schema.validate import Schema
from cfgfix.core.errors import CfgfixError, ExitCode


def refusal(data: object, base_dir: str | None = None) -> str:
    with pytest.raises(CfgfixError) as caught:
        load(data, "my-schema.json", base_dir)
    assert caught.value.code in (ExitCode.USAGE, ExitCode.UNREADABLE)
    return str(caught.value)


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ([], "must be a mapping, true or false"),
        ({"type": "int"}, "#/type: `type`"),
        ({"type": []}, "`type`"),
        ({"properties": {"a": {"type": 5}}}, "#/properties/a/type"),
        ({"properties": []}, "mapping of names"),
        ({"properties": {"a": 5}}, "#/properties/a: a schema must be"),
        ({"anyOf": []}, "list of one or more schemas"),
        ({"enum": "a"}, "`enum` must be a list"),
        ({"minimum": "1"}, "`minimum` must be a number"),
        ({"minimum": True}, "`minimum` must be a number"),
        ({"multipleOf": 0}, "above 0"),
        ({"minLength": -1}, "whole number"),
        ({"minItems": 1.5}, "whole number"),
        ({"required": ["a", "a"]}, "different names"),
        ({"required": "a"}, "different names"),
        ({"uniqueItems": 1}, "true or false"),
        ({"pattern": 1}, "`pattern` must be text"),
        ({"description": 1}, "`description` must be text"),
        ({"dependentRequired": {"a": "b"}}, "dependentRequired"),
        ({"items": [{}]}, "#/items"),
        ({1: 2}, "is not text"),
        ({"$ref": "#/$defs/a"}, "leads nowhere"),
        ({"$ref": "#anchor"}, "leads nowhere"),
        ({"$ref": "#/title", "title": "x"}, "where no schema stands"),
        ({"$ref": "#/x-parts", "x-parts": {"type": "nonsense"}}, "where no schema stands"),
        ({"$ref": "https://example.org/schema.json"}, "fetches nothing"),
        ({"$ref": "file:///etc/passwd"}, "fetches nothing"),
        ({"$dynamicRef": "https://example.org/x#m"}, "fetches nothing"),
        ({"$ref": "other.json"}, "not read from a folder"),
        ({"$ref": "#"}, "without end"),
        ({"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"not": {"$ref": "#/$defs/a"}}}}, "without end"),
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, "2020-12"),
        ({"$schema": 5}, "2020-12"),
    ],
)
def test_an_invalid_schema_is_refused_with_its_place(schema, said):
    message = refusal(schema)
    assert said in message
    assert "my-schema.json" in message


def test_recursion_into_parts_is_allowed():
    load({"properties": {"child": {"$ref": "#"}}, "items": {"$ref": "#"}}, "s")


@pytest.mark.parametrize(
    "draft", [load_module.DRAFT, load_module.DRAFT + "#", "http://json-schema.org/draft/2020-12/schema"]
)
def test_the_draft_may_be_written_in_its_usual_ways(draft):
    load({"$schema": draft}, "s")


def test_size_and_depth_are_bounded(monkeypatch):
    deep: object = True
    for _ in range(load_module.MAX_DEPTH + 2):
        deep = {"items": deep}
    assert "nested deeper" in refusal(deep)
    value: object = 1
    for _ in range(load_module.MAX_DEPTH + 2):
        value = [value]
    assert "nested deeper" in refusal({"default": value})
    monkeypatch.setattr(load_module, "MAX_NODES", 100)
    assert "more than 100 values" in refusal({"enum": list(range(200))})


def write(folder, name: str, data: object) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data), "utf-8")


def test_files_inside_the_folder_are_followed(tmp_path, check):
    write(
        tmp_path,
        "parts/numbers.json",
        {"$defs": {"count": {"type": "integer", "minimum": 1}}, "$ref": "more.json"},
    )
    write(tmp_path, "parts/more.json", {"type": "object"})
    schema = Schema.load(
        {
            "$id": "https://example.org/root.json",
            "properties": {
                "a": {"$ref": "parts/numbers.json#/$defs/count"},
                "b": {"$ref": "parts/numbers.json"},
            },
        },
        "root.json",
        str(tmp_path),
    )
    assert schema.expected_types(("a",)) == {"integer"}
    assert schema.expected_types(("b",)) == {"object"}
    assert check(schema, "a: 2\nb: {}\n").problems == []
    found = check(schema, "a: 0\nb: 1\n")
    assert found.codes == ["out-of-range", "wrong-type"]


@pytest.mark.parametrize(
    "reference",
    [
        "../secret.json",
        "parts/../../secret.json",
        "link.json",
        "/etc/passwd",
        "..\\secret.json",
        "%2e%2e/secret.json",
    ],
)
def test_no_way_leads_out_of_the_folder(tmp_path, reference):
    inside = tmp_path / "inside"
    inside.mkdir()
    write(tmp_path, "secret.json", {"title": "secret"})
    os.symlink(tmp_path / "secret.json", inside / "link.json")
    message = refusal({"$ref": reference}, str(inside))
    assert "leads out of" in message or "not a path relative" in message


def test_broken_and_odd_files_are_told(tmp_path):
    (tmp_path / "broken.json").write_text("{\n  oops\n}", "utf-8")
    message = refusal({"$ref": "broken.json"}, str(tmp_path))
    assert "broken.json:2" in message
    assert "not JSON" in message
    (tmp_path / "deep.json").write_text("[" * 100_000, "utf-8")
    assert "deep.json" in refusal({"$ref": "deep.json"}, str(tmp_path))
    assert "missing.json" in refusal({"$ref": "missing.json"}, str(tmp_path))
    os.mkfifo(tmp_path / "pipe.json")
    assert "pipe.json" in refusal({"$ref": "pipe.json"}, str(tmp_path))
    write(tmp_path, "wrong.json", {"type": "nonsense"})
    assert "wrong.json" in refusal({"$ref": "wrong.json"}, str(tmp_path))


def test_a_chain_of_files_is_bounded(tmp_path):
    for index in range(load_module.MAX_FILES + 5):
        write(tmp_path, f"f{index}.json", {"items": {"$ref": f"f{index + 1}.json"}})
    assert "more than 64 files" in refusal({"$ref": "f0.json"}, str(tmp_path))


def test_nothing_is_fetched_even_where_only_jsonschema_can_tell(monkeypatch, check):
    def no_network(*_args, **_kwargs):
        raise AssertionError("the network was touched")

    monkeypatch.setattr(socket.socket, "connect", no_network)
    schema = {
        "$id": "https://example.org/root.json",
        "$defs": {
            "inner": {
                "$id": "https://example.org/inner.json",
                "$defs": {"n": {"type": "integer"}},
                "items": {"$ref": "#/$defs/n"},
            },
        },
        "properties": {"a": {"$ref": "https://example.org/inner.json"}},
    }
    assert check(schema, "a: [1, 2]\n").problems == []
    assert check(schema, "a: [1, x]\n").underlined == ["x"]
    schema["$defs"]["inner"]["items"]["$ref"] = "missing.json"
    with pytest.raises(CfgfixError, match="not read from a folder"):
        check(schema, "a: [1]\n")
    schema["$defs"]["inner"]["items"]["$ref"] = "#/$defs/missing"
    with pytest.raises(CfgfixError, match="leads nowhere"):
        check(schema, "a: [1]\n")


def test_an_unsafe_pattern_only_makes_a_schema_more_lenient(check):
    evil = "(a+)+$"
    value = "a" * 60 + "!"
    schema = {
        "properties": {
            "plain": {"pattern": evil},
            "not": {"not": {"pattern": evil}},
            "one": {"oneOf": [{"pattern": evil}, {"type": "string"}]},
            "if": {"if": {"pattern": evil}, "then": False, "else": False},
            "names": {"patternProperties": {evil: {"type": "integer"}}, "additionalProperties": False},
            "rest": {"allOf": [{"patternProperties": {evil: True}}], "unevaluatedProperties": False},
            "number": {"type": "integer"},
        }
    }
    text = f"plain: {value}\nnot: {value}\none: {value}\nif: {value}\nnames: {{b: 1}}\nrest: {{b: 1}}\nnumber: x\n"
    found = check(schema, text)
    assert found.codes == ["wrong-type", "not-checked"]
    assert evil in found.problems[-1].message
    assert not found.problems[-1].fatal


atoms = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 3), st.sampled_from([1.0, 0.5, "a", "object", "integer", ""])
)
values = st.recursive(
    atoms,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "type"]), inner, max_size=2)
    ),
    max_leaves=4,
)
KEYWORDS = sorted(
    {
        *load_module.SHAPES,
        *load_module.SCHEMA_KEYWORDS,
        *load_module.LIST_KEYWORDS,
        *load_module.MAP_KEYWORDS,
        "dependentRequired",
    }
    - {"$ref", "$dynamicRef", "$schema", "$id", "$anchor", "$dynamicAnchor"}
)


@settings(max_examples=800, deadline=None)
@given(st.dictionaries(st.sampled_from(KEYWORDS), values, min_size=1, max_size=2))
def test_what_is_refused_is_what_the_metaschema_refuses(schema):
    try:
        Draft202012Validator.check_schema(schema)
        good = True
    except SchemaError:
        good = False
    try:
        load(schema, "s")
        accepted = True
    except CfgfixError:
        accepted = False
    assert accepted == good, schema


def test_parts_with_addresses_of_their_own_are_found(check):
    schema = {
        "$id": "https://example.org/schemas/tree",
        "type": "object",
        "properties": {"nodes": {"type": "array", "items": {"$ref": "node"}}},
        "$defs": {
            "node": {
                "$id": "https://example.org/schemas/node",
                "properties": {"value": {"type": "number"}, "subtree": {"$ref": "tree"}},
            }
        },
    }
    assert check(schema, "nodes: [{value: 1, subtree: {nodes: [{value: 2}]}}]\n").problems == []
    assert check(schema, "nodes: [{value: 1, subtree: {nodes: [{value: x}]}}]\n").underlined == ["x"]


def test_an_identifier_names_one_document(tmp_path):
    write(tmp_path, "a.json", {"$id": "urn:x", "type": "object"})
    assert "as well" in refusal({"$id": "urn:x", "$ref": "a.json"}, str(tmp_path))


def test_a_reference_may_lead_to_a_schema_that_takes_nothing(check):
    found = check({"$ref": "#/$defs/no", "$defs": {"no": False}}, "a: 1\n")
    assert found.codes == ["violation"]
