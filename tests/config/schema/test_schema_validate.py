"""What is wrong, where it stands, and how it is said."""

from __future__ import annotations

import subprocess
import sys

import pytest

from cfgfix.config.schema import limited_validator
from cfgfix.config.schema.failures import repeated
from cfgfix.config.schema.validate import MISSING, Schema
from cfgfix.core.edits import DeleteKey, InsertKey, RenameKey, SetValue

CLOSED = {
    "type": "object",
    "properties": {
        "data": {
            "type": "object",
            "properties": {
                "batch_size": {"type": "integer", "minimum": 1},
                "name": {"type": "string"},
                "shuffle": {"type": "boolean"},
                "rate": {"type": ["number", "null"]},
                "languages": {"type": "array", "items": {"type": "string"}},
            },
            "additionalProperties": False,
        },
        "model": {
            "type": "object",
            "properties": {"n_mels": {"type": "integer"}},
            "additionalProperties": False,
        },
    },
    "required": ["data"],
    "additionalProperties": False,
}


def test_a_valid_document_has_no_problems(check):
    assert check(CLOSED, "data:\n  batch_size: 4\n  languages: [en]\n").problems == []


# Places


@pytest.mark.parametrize(
    ("text", "code", "under"),
    [
        ("data:\n  batch_size: 0\n", "out-of-range", "0"),
        ("data: {batch_size: 0, name: a}\n", "out-of-range", "0"),
        ("data:\r\n  batch_size: 0 # few\r\n", "out-of-range", "0"),
        ("data:\n  # größer 🙂\n  batch_size: &b 0\n", "out-of-range", "0"),
        ("data:\n  batch_size: !!int '0'\n", "out-of-range", "'0'"),
        ("data:\n  batch_size:\n", "wrong-type", "batch_size"),
        ("data:\n  ? batch_size\n", "wrong-type", "batch_size"),
        ("data:\n  batch_size: [1,\n    2]\n", "wrong-type", "batch_size"),
        ("data:\n  batch_size: [1, 2]\n", "wrong-type", "[1, 2]"),
        ("data:\n  batch_size: |\n    8\n", "wrong-type", "batch_size"),
        ("data:\n  batch_size:\n    - 1\n    - 2\n", "wrong-type", "batch_size"),
        ("data:\n  languages: [en, 3]\n", "wrong-type", "3"),
        ("data:\n  languages:\n  - en\n  - 3\n", "wrong-type", "3"),
        ("data:\n  languages:\n  - en\n  - [a,\n     b]\n", "wrong-type", "[a,"),
        ("data:\n  'batch_sise': 4\n", "unknown-key", "'batch_sise'"),
        ("data: {}\nother: {a: 1}\n", "unknown-key", "other"),
        ("- 1\n", "wrong-type", "- 1"),
        ("hello\n", "wrong-type", "hello"),
    ],
)
def test_the_right_place_is_underlined(check, text, code, under):
    found = check(CLOSED, text)
    assert (found.codes, found.underlined) == ([code], [under])


def test_a_missing_key_points_at_the_surrounding_key_or_the_start(check):
    schema = {"properties": {"data": {"required": ["a", "b"]}}, "required": ["model"]}
    found = check(schema, "# c\ndata:\n  x: 1\n")
    assert [(problem.code, problem.path) for problem in found.problems] == [
        ("missing-key", ("model",)),
        ("missing-key", ("data", "a")),
        ("missing-key", ("data", "b")),
    ]
    assert [(problem.start, problem.end) for problem in found.problems] == [(4, 4), (4, 8), (4, 8)]
    assert "`model` is missing" in found.problems[0].message
    assert "in `data`" in found.problems[1].message


def test_a_missing_key_points_at_the_key_that_may_be_its_misspelling(check):
    found = check({"properties": {"epochs": {"type": "integer"}}, "required": ["epochs"]}, "epochz: 3\n")
    assert found.only.suggestion == "epochz"
    assert found.only.related == ((0, 6, "perhaps `epochs` was meant here"),)
    assert "expected a whole number" in found.only.message


def test_a_later_document_is_judged_in_its_own_place(check):
    found = check(CLOSED, "data: {}\n---\ndata:\n  batchsize: 3\n")
    assert found.underlined == ["batchsize"]
    assert found.only.changes == (RenameKey(("data", "batchsize"), "batch_size", document=1),)


def test_of_equal_keys_the_last_is_judged(check):
    assert check(CLOSED, "data:\n  batch_size: 0\n  batch_size: 4\n").problems == []
    found = check(CLOSED, "data:\n  batch_size: 4\n  batch_size: -7\n")
    assert found.underlined == ["-7"]


def test_aliases_and_merges_are_followed_and_never_changed(check):
    text = "x-base: &base\n  batchsize: 3\n  batch_size: 0\ndata:\n  <<: *base\n"
    schema = {**CLOSED, "patternProperties": {"^x-": True}}
    found = check(schema, text)
    assert found.underlined == ["batchsize", "0"]
    assert all(problem.changes == () for problem in found.problems)
    text = "x-base: &base {batch_size: 0, batchsize: 2}\ndata: *base\n"
    found = check(schema, text)
    assert sorted(found.underlined) == ["0", "batchsize"]
    assert all(problem.changes == () for problem in found.problems)


def test_an_explicit_key_wins_over_a_merged_one(check):
    text = "x-base: &base {batch_size: 0}\ndata:\n  batch_size: 4\n  <<: *base\n"
    assert check({**CLOSED, "patternProperties": {"^x-": True}}, text).problems == []


# What was meant


def test_a_misspelt_key_is_renamed_when_its_value_fits(check):
    found = check(CLOSED, "data:\n  batchsize: 4\n")
    assert found.only.suggestion == "batch_size"
    assert found.only.changes == (RenameKey(("data", "batchsize"), "batch_size"),)
    assert "did you mean `batch_size`?" in found.only.message
    found = check(CLOSED, "data:\n  batchsize: many\n")
    assert found.only.suggestion == "batch_size"
    assert found.only.changes == ()


def test_a_misspelt_key_beside_the_right_one_is_not_renamed(check):
    found = check(CLOSED, "data:\n  batch_size: 4\n  batchsize: 8\n")
    assert found.only.changes == ()
    assert [found.text[start:end] for start, end, _ in found.only.related] == ["batch_size"]


def test_a_key_of_another_section_is_moved_when_that_is_plain(check):
    found = check(CLOSED, "data:\n  n_mels: 80\nmodel: {}\n")
    assert found.only.changes == (InsertKey(("model",), "n_mels", 80), DeleteKey(("data", "n_mels")))
    assert "`model.n_mels`" in found.only.message
    for text in (
        "data:\n  n_mels: 80\n",
        "data:\n  n_mels: 80\nmodel: {n_mels: 8}\n",
        "data:\n  n_mels: x\nmodel: {}\n",
    ):
        assert check(CLOSED, text).only.changes == ()
    top = check(CLOSED, "data: {}\nbatch_size: 3\n")
    assert top.only.changes == (InsertKey(("data",), "batch_size", 3), DeleteKey(("batch_size",)))


def test_a_listed_value_is_corrected(check):
    schema = {"properties": {"mode": {"enum": ["auto", "manual", 3]}}}
    found = check(schema, "mode: manuel\n")
    assert found.only.changes == (SetValue(("mode",), "manual"),)
    assert (
        found.only.message
        == "`mode` is the text 'manuel'; expected one of 'auto', 'manual' or 3; did you mean 'manual'?"
    )
    assert check(schema, "mode: other\n").only.changes == ()


def test_unknown_keys_the_program_ignores_are_not_fatal(check):
    found = check({**CLOSED, "x-unknown": "ignored"}, "data: {}\ndate: {}\n")
    assert not found.only.fatal
    assert "so the program ignores it" in found.only.message
    assert check({**CLOSED, "x-unknown": "fatal"}, "data: {}\ndate: {}\n").only.fatal


# YAML pitfalls


@pytest.mark.parametrize(
    ("line", "spelling"),
    [
        ("rate: 1e-4", "other-version"),
        ("rate: '0.5'", "quoted"),
        ('rate: "1e-4"', "quoted"),
        ("batch_size: '8'", "quoted"),
        ("batch_size: true", "bool-for-number"),
        ("batch_size: yes", "bool-for-number"),
        ("batch_size: 1,000", "human-number"),
        ("rate: 50%", "human-number"),
        ("batch_size: 8GB", "human-number"),
        ("rate: None", "null-word"),
        ("rate: inf", "null-word"),
        ("shuffle: 'true'", "quoted"),
        ("name: no", "other-version"),
        ("name: 1:30", "other-version"),
        ("name: 2024-01-01", None),
        ("batch_size: many", None),
        ("batch_size: 1.5", None),
        ("batch_size: '-3'", None),
        ("name: 3", None),
        ("batch_size:", None),
        ("batch_size: !!str 8", None),
    ],
)
def test_a_value_that_is_only_spelled_wrong_is_marked(check, line, spelling):
    problem = check(CLOSED, f"data:\n  {line}\n").only
    assert (problem.pitfall, problem.spelling) == (spelling is not None, spelling)


def test_the_loader_decides_what_a_value_is(check):
    assert check(CLOSED, "data:\n  rate: 1e-4\n", "ruamel").problems == []
    assert check(CLOSED, "data:\n  name: no\n", "ruamel").problems == []
    found = check(CLOSED, "data:\n  shuffle: yes\n", "ruamel")
    assert found.only.spelling == "other-version"
    assert check(CLOSED, "data:\n  shuffle: yes\n").problems == []


def test_a_key_that_is_no_text_to_the_loader_is_told(check):
    found = check(CLOSED, "data:\n  on: 3\n  7: x\n")
    assert found.underlined == ["on", "7"]
    assert "reads this key as true" in found.problems[0].message
    assert [problem.spelling for problem in found.problems] == ["key-word", "key-word"]


def test_a_document_the_loader_refuses_is_left_to_others(check):
    assert check(CLOSED, "data: {batch_size: 0, batch_size: 1}\n", "ruamel").problems == []


def test_custom_tags_fit_everywhere(check):
    text = "data:\n  batch_size: !env SIZE\n  languages: !include list.yaml\n  name: !x {a: 1}\n"
    assert check(CLOSED, text).problems == []
    schema = {
        "properties": {"a": {"not": {"type": "array", "contains": {"const": 1}}}, "b": {"enum": [[1, 2]]}}
    }
    assert check(schema, "a: [!x 1]\nb: [1, !x 2]\n").problems == []
    assert check(schema, "a: [1]\nb: [1, 3]\n").codes == ["violation", "wrong-value"]


# Alternatives and the other keywords


OPTIMIZER = {
    "properties": {
        "optimizer": {
            "oneOf": [
                {
                    "properties": {"type": {"const": "adam"}, "beta": {"maximum": 1}},
                    "additionalProperties": False,
                },
                {
                    "properties": {"type": {"const": "sgd"}, "momentum": {"type": "number"}},
                    "additionalProperties": False,
                },
            ]
        }
    }
}


@pytest.mark.parametrize(
    ("text", "under"),
    [
        ("optimizer:\n  type: adam\n  beta: 2\n", "2"),
        ("optimizer:\n  type: sgd\n  momentum: x\n", "x"),
        ("optimizer:\n  type: sgd\n  momentun: 0.5\n", "momentun"),
    ],
)
def test_the_meant_alternative_speaks_at_its_own_line(check, text, under):
    assert check(OPTIMIZER, text).underlined == [under]


@pytest.mark.parametrize(
    ("schema", "text", "said"),
    [
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "a: x", "a whole number or null"),
        (
            {"anyOf": [{"const": "auto"}, {"type": "integer", "minimum": 1}]},
            "a: 0",
            "'auto' or a whole number of at least 1",
        ),
        ({"oneOf": [{"type": "integer"}, {"minimum": 0}]}, "a: 3", "more than one of the alternatives"),
        ({"not": {"const": 3}}, "a: 3", "anything but 3"),
        ({"not": {"required": ["b"]}}, "a: {b: 1}", "not allowed here"),
        ({"if": {"minimum": 5}, "then": {"multipleOf": 5}}, "a: 6", "divisible by 5"),
        ({"contains": {"type": "integer"}}, "a: [x]", "at least one item that is a whole number"),
        ({"contains": {"type": "integer"}, "minContains": 2}, "a: [1, x]", "at least 2 matching items"),
        ({"dependentRequired": {"b": ["c"]}}, "a: {b: 1}", "`a.b` needs the key `c`"),
        ({"propertyNames": {"pattern": "^[a-z]+$"}}, "a: {B: 1}", "'B' is not allowed as a name"),
        ({"uniqueItems": True}, "a: [x, y, x]", "'x' twice"),
        ({"prefixItems": [True], "items": False}, "a: [1, 2]", "at most 1"),
        ({"properties": {"b": False}}, "a: {b: 1}", "`a` has no key `b`"),
        ({"unevaluatedProperties": False, "properties": {"b": True}}, "a: {c: 1}", "`a` has no key `c`"),
        ({"minProperties": 2}, "a: {b: 1}", "at least 2 keys"),
        ({"maxLength": 2}, "a: xyz", "has 3 characters; expected at most 2 characters"),
        ({"pattern": "^x"}, "a: yz", "text like '^x'"),
        ({"exclusiveMinimum": 0, "type": "number"}, "a: 0", "a number above 0"),
        (
            {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
            "a: [1.0]",
            "at least 2 items",
        ),
        ({"const": {"b": 1}}, "a: 3", "expected {b}"),
        (False, "a: 3", "the top level has no key `a`"),
        ({"dependentSchemas": {"b": {"required": ["c"]}}}, "a: {b: 1}", "`c` is missing in `a`"),
        ({"$ref": "#/$defs/n"}, "a: x", "expected a whole number"),
    ],
)
def test_every_keyword_has_its_sentence_and_place(check, schema, text, said):
    whole = {"properties": {"a": schema}, "$defs": {"n": {"type": "integer"}}}
    found = check(whole, text + "\n")
    assert said in found.only.message
    assert found.underlined[0]


def test_long_values_and_lists_are_cut_in_messages(check):
    schema = {
        "properties": {"a": {"enum": [f"value-{index}" for index in range(50_000)]}, "b": {"type": "integer"}}
    }
    found = check(schema, f"a: value\nb: {'x' * 5000}\n")
    assert all(len(problem.message) < 400 for problem in found.problems)
    assert "49,988 more" in found.problems[0].message
    assert len(found.problems[0].expected) < 400


def test_huge_numbers_are_shown_without_their_digits(check):
    found = check({"properties": {"a": {"maximum": 1}}}, f"a: 0x{'f' * 5000}\n")
    assert "more than 60 digits" in found.only.message


# Bounds


def test_many_problems_are_cut_with_a_note(check):
    text = "data:\n" + "".join(f"  key_{index}: 1\n" for index in range(10_000))
    found = check(CLOSED, text)
    assert len(found.problems) == 1_001
    assert found.codes[-1] == "not-checked"
    assert "more than 1,000 problems" in found.problems[-1].message
    found = check(CLOSED, text, limit=5)
    assert len(found.problems) == 6


def test_a_document_of_100_kilobytes_is_judged(check):
    text = "data:\n  languages:\n" + "".join(f"  - lang{index}\n" for index in range(9_000)) + "  - 3\n"
    assert len(text) > 100_000
    assert check(CLOSED, text).underlined == ["3"]


def test_work_is_bounded_where_alternatives_multiply(check, monkeypatch):
    monkeypatch.setattr(limited_validator, "MAX_STEPS", 20_000)
    schema = {
        "$defs": {
            "n": {"properties": {"a": {"anyOf": [{"$ref": "#/$defs/n"}] * 3}}, "additionalProperties": False}
        },
        "$ref": "#/$defs/n",
    }
    text = "{a: " * 60 + "{b: 1}" + "}" * 60
    found = check(schema, text)
    assert any("took too long and was stopped" in problem.message for problem in found.problems)


def test_depth_is_bounded(check):
    schema = {
        "$ref": "#/$defs/n",
        "$defs": {
            "n": {"items": {"allOf": [{"allOf": [{"allOf": [{"$ref": "#/$defs/n"}]}]}]}, "type": "array"}
        },
    }
    depth = 120
    found = check(schema, "[" * depth + "x" + "]" * depth)
    assert found.codes == ["not-checked"]
    assert "nested too deeply" in found.only.message


def test_many_items_are_compared_in_linear_work():
    values = [{"a": index, "b": [index, True]} for index in range(50_000)]
    assert repeated(values) is None
    assert repeated([*values, {"b": [7, True], "a": 7.0}]) == (7, 50_000)


def test_a_very_long_key_is_told_not_matched(check):
    key = "k" * 300
    found = check(
        {"patternProperties": {"^k+$": {"type": "integer"}}, "additionalProperties": False}, f"{key}: x\n"
    )
    assert found.codes == ["not-checked"]


# Lookup


def test_types_follow_every_way_to_a_key():
    schema = Schema.load(
        {
            "$defs": {"n": {"type": ["integer", "string"]}},
            "allOf": [{"properties": {"a": {"type": ["integer", "null"]}}}],
            "properties": {
                "a": {"$ref": "#/$defs/n"},
                "b": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
                "c": {"anyOf": [{"type": "integer"}, {}]},
                "d": {"enum": [1, "x", None, True, 1.5, [], {}]},
                "e": {"allOf": [{"type": "number"}, {"type": "integer"}]},
                "f": {"prefixItems": [{"type": "string"}], "items": {"type": "null"}},
                "g": {},
            },
            "patternProperties": {"^x_": {"type": "boolean"}},
            "additionalProperties": {"type": "object", "additionalProperties": False},
        },
        "s",
    )
    assert schema.expected_types(("a",)) == {"integer"}
    assert schema.expected_types(("b",)) == {"integer", "string"}
    assert schema.expected_types(("c",)) is None
    assert schema.expected_types(("d",)) == {
        "integer",
        "string",
        "null",
        "boolean",
        "number",
        "array",
        "object",
    }
    assert schema.expected_types(("e",)) == {"integer"}
    assert schema.expected_types(("f", 0)) == {"string"}
    assert schema.expected_types(("f", 4)) == {"null"}
    assert schema.expected_types(("g",)) is None
    assert schema.expected_types(("x_y",)) == {"boolean"}
    assert schema.expected_types(("other",)) == {"object"}
    assert schema.expected_types(("other", "deeper")) is None
    assert schema.expected_types(("g", "h", 0)) is None


def test_defaults_come_from_the_key_or_from_around_it():
    schema = Schema.load(
        {"properties": {"a": {"default": {"b": 1, "c": 2}, "properties": {"b": {"default": None}}}}}, "s"
    )
    assert schema.default(("a", "b")) is None
    assert schema.default(("a", "c")) == 2
    assert schema.default(("a", "d")) is MISSING
    assert schema.default(("z",)) is MISSING
    assert not MISSING


def test_recursive_schemas_answer_at_any_depth():
    schema = Schema.load({"properties": {"child": {"$ref": "#"}, "n": {"type": "integer"}}}, "s")
    assert schema.expected_types(("child",) * 50 + ("n",)) == {"integer"}
    assert schema.keys(("child",) * 3) == ("child", "n")
    assert schema.places("n")[0] == ("n",)


# Start-up


def test_a_clean_document_imports_nothing_heavy(repo_root):
    code = (
        "import sys\n"
        "from cfgfix.config.document.compose import compose\n"
        "from cfgfix.config.loaders.scalars import LOADERS\n"
        "from cfgfix.core.source_file import SourceFile\n"
        "from cfgfix.config.schema.validate import Schema\n"
        "before = set(sys.modules)\n"
        "schema = Schema.load({'properties': {'a': {'type': 'integer', 'minimum': 1}}, '$ref': '#/$defs/x', '$defs': {'x': {'type': 'object'}}}, 's')\n"
        "document = compose(SourceFile.from_text('a: 3\\n', 'c.yaml'))\n"
        "assert schema.problems(document, document.roots[0], LOADERS['pyyaml']) == []\n"
        "assert schema.expected_types(('a',)) == {'integer'}\n"
        "print([name for name in ('typing', 'jsonschema', 'referencing', 'attrs', 'difflib', 'json', 'urllib.parse', 'cfgfix.config.schema.explain') if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=repo_root, check=True
    )
    assert done.stdout.strip() == "[]"
