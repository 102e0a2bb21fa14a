"""The shipped MyXTTS schema against what the project's own classes do."""

from __future__ import annotations

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from cfgfix.documents.compose import compose
from cfgfix.documents.editor import plan
from cfgfix.documents.resolve import LOADERS
from cfgfix.edits import splice
from cfgfix.files import SourceFile, read_source
from cfgfix.findings import format_key_path
from cfgfix.schema.accept import compile_schema
from cfgfix.schema.load import load
from cfgfix.schema.validate import Schema

PYYAML = LOADERS["pyyaml"]

# Values that load but that the program silently takes for something else; the schema lists what it looks for.
LISTED = {
    "training.scheduler": {"cosine_with_restarts", "linear"},
}


def fields(data: dict):
    for section, schema in data["properties"].items():
        for name, field in schema["properties"].items():
            yield section, name, field


def test_the_schema_is_valid(myxtts_data):
    Draft202012Validator.check_schema(myxtts_data)


def test_every_field_has_its_type_default_and_a_description(myxtts_data, expected):
    assert {section: list(schema["properties"]) for section, schema in myxtts_data["properties"].items()} == {
        section: list(names) for section, names in expected["fields"].items()
    }
    for section, name, field in fields(myxtts_data):
        where = f"{section}.{name}"
        assert field["default"] == expected["defaults"][section][name], where
        assert type(field["default"]) is type(expected["defaults"][section][name]), where
        assert field["description"].endswith("."), where
        annotation = expected["fields"][section][name]
        kinds = [field["type"]] if isinstance(field["type"], str) else field["type"]
        plain = annotation.removeprefix("typing.Optional[").removesuffix("]")
        wanted = {"int": "integer", "float": "number", "str": "string", "bool": "boolean"}.get(
            plain, "array" if "List" in annotation else "object"
        )
        assert kinds[0] == wanted, where
        if annotation.startswith("typing.") or field["default"] is None:
            assert "null" in kinds, where


def test_a_unit_is_named_in_the_description_as_well(myxtts_data):
    for section, name, field in fields(myxtts_data):
        unit = field.get("x-unit")
        if unit in ("Hz", "seconds", "dB", "LUFS", "semitones", "frames"):
            assert f"({unit}" in field["description"], f"{section}.{name}"


def test_the_defaults_are_valid(myxtts_data, expected):
    accept = compile_schema(load(myxtts_data, "myxtts"))
    assert accept.verdict(expected["defaults"]) is True
    assert accept.verdict({}) is True


def test_every_default_and_type_is_found_by_path(myxtts, expected):
    for section, names in expected["fields"].items():
        assert myxtts.keys((section,)) == tuple(names)
        for name in names:
            assert myxtts.default((section, name)) == expected["defaults"][section][name]
            assert myxtts.expected_types((section, name))
    assert myxtts.expected_types(("data", "num_workers")) == {"integer"}
    assert myxtts.expected_types(("data", "text_cleaners")) == {"array", "null"}
    assert myxtts.expected_types(("data", "text_cleaners", 3)) == {"string"}
    assert myxtts.expected_types(("model", "vocoder_resblock_dilation_sizes", 0, 1)) == {"integer"}


def corpus(shared_path: Path, expected: dict):
    folder = shared_path / "corpus" / "configs" / "masoodafar-web+MyXTTSModel"
    found = {str(path.relative_to(folder)): path for path in folder.rglob("*.y*ml")}
    assert set(found) == set(expected["configs"])
    for name, path in sorted(found.items()):
        document = compose(read_source(str(path)))
        assert document.problem is None
        yield name, document, expected["configs"][name]


@pytest.mark.acceptance
def test_the_corpus_breaks_the_schema_exactly_where_the_classes_object(shared_path, expected, myxtts):
    seen = 0
    for name, document, known in corpus(shared_path, expected):
        problems = myxtts.problems(document, document.roots[0], PYYAML)
        by_code: dict[tuple[str, bool], list[str]] = {}
        for problem in problems:
            by_code.setdefault((problem.code, problem.fatal), []).append(format_key_path(problem.path))
            if problem.code == "wrong-value":
                path = format_key_path(problem.path)
                assert document.source.text[problem.start : problem.end].strip("'\"") in LISTED[path]
            if problem.code == "wrong-type":
                assert problem.pitfall, (name, problem.message)
        by_code.pop(("wrong-value", True), None)
        by_code.pop(("wrong-value", False), None)
        wanted = {
            ("unknown-key", True): known["unknown"],
            ("unknown-key", False): known["ignored"],
            ("wrong-type", True): known["mistyped"],
        }
        assert {key: sorted(paths) for key, paths in by_code.items()} == {
            key: paths for key, paths in wanted.items() if paths
        }, name
        assert (known["error"] is None) == (("unknown-key", True) not in by_code)
        seen += 1
    assert seen == 29


@pytest.mark.acceptance
def test_every_problem_of_the_corpus_stands_on_the_key_or_value_it_names(shared_path, expected, myxtts):
    for name, document, _ in corpus(shared_path, expected):
        text = document.source.text
        for problem in myxtts.problems(document, document.roots[0], PYYAML):
            under = text[problem.start : problem.end]
            assert under, (name, problem)
            assert "\n" not in under
            if problem.code == "unknown-key":
                assert under == problem.path[-1]
                assert under in problem.message


def test_misplaced_keys_are_sent_where_they_belong(check, myxtts):
    found = check(myxtts, "model:\n  n_fft: 1024\ndata:\n  n_mels: 80\ntraining:\n  batch_size: 8\n")
    n_mels, batch_size = found.problems
    assert "the schema has `model.n_mels`" in n_mels.message
    assert [label for _, _, label in n_mels.related] == ["`n_mels` belongs to `model`"]
    assert [type(change).__name__ for change in n_mels.changes] == ["InsertKey", "DeleteKey"]
    assert n_mels.changes[0].path == ("model",)
    assert "the schema has `data.batch_size`" in batch_size.message


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("data: {num_workers: 0}", "-1 or at least 1 (calls)"),
        ("data: {batch_size: 0}", "a whole number of at least 1 (samples)"),
        ("data: {sample_rate: -1}", "(Hz)"),
        ("training: {beta2: 1.0}", "from 0 to below 1"),
        ("training: {optimizer: sgd}", "one of 'adam'"),
        ("training: {scheduler: cosine_with_restarts}", "'noam', 'cosine'"),
        ("model: {text_encoder_dim: 511}", "divisible by 2"),
        ("model: {decoder_strategy: diffusion}", "'autoregressive' or 'non_autoregressive'"),
        ("data: {pitch_shift_range: [1.0]}", "at least 2 items"),
    ],
)
def test_messages_say_what_would_be_right(check, myxtts, line, said):
    assert said in check(myxtts, line + "\n").only.message


@pytest.mark.parametrize(
    "line", ["data: {num_workers: -1}", "data: {max_mel_frames: null}", "training: {optimizer: AdamW}"]
)
def test_what_the_code_takes_is_taken(check, myxtts, line):
    assert check(myxtts, line + "\n").problems == []


def test_an_empty_section_is_told_since_the_program_stops_on_it(check, myxtts):
    found = check(myxtts, "model:\ndata: {}\n")
    assert found.only.code == "wrong-type"
    assert found.underlined == ["model"]
    assert "empty (null)" in found.only.message


def test_descriptions_carry_what_an_editor_shows(myxtts: Schema):
    told = myxtts.describe(("data", "sample_rate"))
    assert told is not None
    assert (told.unit, told.default) == ("Hz", 22050)
    assert told.expected == "a whole number of at least 1 (Hz)"
    assert told.source == "myxtts/config/config.py:DataConfig"
    assert "Hz" in (told.text or "")
    assert myxtts.describe(("data", "pin_memory")).unread
    assert myxtts.describe(("data", "nothing")) is None
    assert myxtts.enum(("training", "scheduler")) == ("noam", "cosine", "exponential", "none")
    assert myxtts.places("max_text_length") == [("model", "max_text_length"), ("data", "max_text_length")]


@pytest.mark.acceptance
def test_every_offered_repair_can_be_made_and_heals_its_problem(shared_path, expected, myxtts):
    made = 0
    for name, document, _ in corpus(shared_path, expected):
        before = myxtts.problems(document, document.roots[0], PYYAML)
        for problem in before:
            if not problem.changes:
                continue
            text = splice(document.source.text, plan(document, problem.changes))
            after = compose(SourceFile.from_text(text))
            assert after.problem is None, (name, problem)
            left = {(each.code, each.path) for each in myxtts.problems(after, after.roots[0], PYYAML)}
            assert left == {(each.code, each.path) for each in before} - {(problem.code, problem.path)}, (
                name,
                problem,
            )
            made += 1
    assert made > 20
