"""Classes read as schemas: nothing is imported, nothing is guessed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cfgfix.config.schema.infer import infer
from cfgfix.config.schema.validate import Schema
from cfgfix.core.errors import CfgfixError

ROOT = Path(__file__).resolve().parents[2] / "data" / "config_class"


@pytest.fixture(scope="module")
def root():
    return infer("project/config.py:Root", str(ROOT))


@pytest.fixture(scope="module")
def data(root):
    return root.schema["properties"]["data"]["properties"]


def other(name):
    return infer(f"project.others:{name}", str(ROOT)).schema


def bare(schema):
    return {key: value for key, value in schema.items() if not key.startswith("x-") and key != "description"}


def test_it_is_a_schema_that_can_be_used(root):
    Schema.load(root.schema, "class")
    json.dumps(root.schema)


def test_fields_come_in_order_with_those_of_the_base_first(data):
    assert list(data)[:3] == ["seed", "name", "path"]
    assert "shared" not in data
    assert "derived" not in data


def test_types_and_defaults(data):
    assert bare(data["batch_size"]) == {"type": "integer", "default": 32}
    assert bare(data["workers"]) == {"type": ["integer", "null"], "default": None}
    assert bare(data["cleaners"]) == {"type": "array", "items": {"type": "string"}, "default": ["english"]}
    assert bare(data["tags"]) == {
        "type": "object",
        "additionalProperties": {"type": "integer"},
        "default": {},
    }
    assert bare(data["cache"]) == {"type": ["boolean", "null"], "default": True}
    assert bare(data["path"]) == {"type": "string"}
    assert data["name"]["default"] == "data"


def test_a_default_set_after_init_counts(data):
    assert bare(data["rates"]) == {
        "type": ["array", "null"],
        "items": {"type": "number"},
        "default": [0.5, 1.0],
    }


def test_constants_are_followed_by_name(data):
    assert data["sample_rate"]["default"] == 22050
    assert data["limit"]["default"] == 4096


def test_an_alias_of_a_union(data):
    assert data["scale"]["type"] == ["integer", "number"]


def test_comments_and_docstrings_describe(data, root):
    assert data["batch_size"]["description"] == "samples in one step"
    assert data["seed"]["description"] == "Where random numbers begin."
    train = root.schema["properties"]["train"]["properties"]
    assert train["schedule"]["description"] == "Only told for the second stage."


def test_lines_and_files(data, root):
    text = (ROOT / "project" / "config.py").read_text().splitlines()
    assert "batch_size" in text[data["batch_size"]["x-line"] - 1]
    assert data["seed"]["x-source"] == "project/base.py:Common"
    assert root.sections["project/config.py:Data"] == (("data",),)
    assert {Path(path).name for path in root.files} >= {"base.py", "config.py", "constants.py"}


def test_enum_literal_and_what_is_unknown(root):
    train = root.schema["properties"]["train"]["properties"]
    assert train["mode"]["enum"] == ["fast", "FAST", "good", "GOOD"]
    assert train["mode"]["default"] == "fast"
    assert train["optimizer"]["enum"] == ["adam", "sgd"]
    assert bare(train["unknown"]) == {"default": None}
    assert root.schema["properties"]["train"]["required"] == ["epochs"]


def test_the_loader_of_the_root_decides_what_an_unknown_section_does(root):
    assert root.schema["x-unknown"] == "ignored"
    assert root.schema["properties"]["data"]["x-unknown"] == "fatal"
    assert "required" not in root.schema


def test_a_strict_pydantic_model():
    schema = other("Strict")
    assert schema["x-unknown"] == "fatal"
    assert bare(schema["properties"]["steps"]) == {
        "type": "integer",
        "minimum": 1,
        "exclusiveMaximum": 100,
        "default": 10,
    }
    assert schema["properties"]["steps"]["description"] == "How many steps."
    assert bare(schema["properties"]["runName"]) == {"type": "string", "minLength": 2}
    assert schema["required"] == ["runName"]


def test_a_pydantic_model_converts_text():
    schema = Schema.load(other("Lenient"), "class")
    assert schema.accepts(other("Lenient"), {"lr": "1e-4", "flag": "yes", "inner": None})
    assert not schema.accepts(other("Lenient"), {"lr": "fast"})
    assert other("Lenient")["x-unknown"] == "ignored"
    assert other("Lenient")["properties"]["workers"]["exclusiveMinimum"] == 0
    assert other("Lenient")["properties"]["momentum"]["exclusiveMinimum"] == 0


@pytest.mark.parametrize(
    ("name", "keys", "required", "unknown"),
    [
        ("Dict", ["a", "b"], None, None),
        ("Tuple", ["a", "b"], ["a"], "fatal"),
        ("OldAttrs", ["a", "b"], None, "fatal"),
        ("NewAttrs", ["a", "b"], None, "fatal"),
        ("Plain", ["size", "rate", "depth", "width"], ["size"], "fatal"),
        ("Open", ["size"], None, None),
        ("Structured", ["path", "depth"], ["path"], "fatal"),
        ("Validated", ["rate"], None, "ignored"),
        ("Forbidding", ["rate"], None, "fatal"),
        ("Configured", ["rate"], None, None),
    ],
)
def test_other_kinds_of_class(name, keys, required, unknown):
    schema = other(name)
    assert list(schema["properties"]) == keys
    assert schema.get("required") == required
    assert schema.get("x-unknown") == unknown


def test_parameters_of_a_plain_class():
    properties = other("Plain")["properties"]
    assert bare(properties["rate"]) == {"type": "number", "default": 0.5}
    assert bare(properties["width"]) == {"default": 4}
    assert properties["depth"]["description"] == "Layers."


def test_a_dataclass_of_pydantic_converts_text():
    schema = other("Validated")
    assert Schema.load(schema, "class").accepts(schema, {"rate": "1e-4"})
    assert not Schema.load(schema, "class").accepts(schema, {"rate": "fast"})


def test_an_init_only_field_is_what_the_method_behind_takes():
    properties = other("Handed")["properties"]
    assert bare(properties["by_path"]) == {}
    assert bare(properties["as_said"]) == {"type": "integer"}
    assert bare(properties["not_said"]) == {"type": "integer"}
    assert bare(properties["nowhere"]) == {"type": "integer", "default": 3}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("project/config.py:Rot", "did you mean"),
        ("project/none.py:Root", "no Python file"),
        ("project.others:Nothing", "states no fields"),
        ("project/config.py", "names no class"),
    ],
)
def test_what_cannot_be_read_says_so(spec, message):
    with pytest.raises(CfgfixError) as caught:
        infer(spec, str(ROOT))
    assert message in str(caught.value)


def test_a_broken_file_is_one_error_with_its_line(tmp_path):
    (tmp_path / "broken.py").write_text("class A:\n    x: int = (\n")
    with pytest.raises(CfgfixError) as caught:
        infer("broken.py:A", str(tmp_path))
    assert caught.value.line is not None


def test_a_class_that_reaches_itself_ends(tmp_path):
    (tmp_path / "loop.py").write_text(
        "from dataclasses import dataclass\nfrom typing import List\n@dataclass\nclass A:\n    a: 'A' = None\n    b: List['A'] = None\n"
    )
    schema = infer("loop.py:A", str(tmp_path)).schema
    assert schema["properties"]["a"]["type"] in ("object", ["object", "null"])


@pytest.mark.skipif(
    "CFGFIX_REFERENCE" not in os.environ, reason="CFGFIX_REFERENCE names no checkout of the reference project"
)
def test_the_class_of_the_reference_project_agrees_with_its_schema(repo_root):
    checkout = Path(os.environ["CFGFIX_REFERENCE"])
    shipped = json.loads((repo_root / "schemas" / "myxtts" / "schema.json").read_text("utf-8"))
    read = infer("myxtts/config/config.py:XTTSConfig", str(checkout)).schema
    for section, content in shipped["properties"].items():
        own = read["properties"][section]["properties"]
        assert list(own) == list(content["properties"])
        for key, item in content["properties"].items():
            assert own[key].get("default", "none") == item.get("default", "none"), key
            # The shipped schema also knows from the code where a null switches something off.
            told = item["type"] if isinstance(item["type"], list) else [item["type"]]
            assert set(own[key]["type"] if isinstance(own[key]["type"], list) else [own[key]["type"]]) <= set(
                told
            ), key
