"""Formats, suppressions, baseline and standard input for findings in Python, by the command line."""

from __future__ import annotations

import json

import jsonschema
import pytest

HELPERS = """\
import numpy as np
import tensorflow as tf


def spectrum(audio):
    return np.abs(audio)


def load(path):
    audio = tf.io.read_file(path)
    return tf.numpy_function(spectrum, [audio], tf.float32)
"""
PIPELINE = """\
import tensorflow as tf

from speech.helpers import load


def make(paths, n):
    data = tf.data.Dataset.from_tensor_slices(paths)
    workers = min(n, tf.data.AUTOTUNE)  # all of them
    data = data.map(load, num_parallel_calls=workers)
    return data.batch(8).prefetch(tf.data.AUTOTUNE)
"""
ONLY = ["--select", "TFD001,TFD020,SUP"]


@pytest.fixture
def program(tmp_path, config):
    config("", "src/speech/__init__.py")
    config(HELPERS, "src/speech/helpers.py")
    config(PIPELINE, "src/speech/pipeline.py")
    config("source-roots = ['src']\nhardware = 'none'\n", "cfgfix.toml")
    return tmp_path / "src" / "speech"


def found(result):
    return sorted(
        (file["path"].replace("\\", "/").rpartition("/")[2], finding["rule"])
        for file in json.loads(result.out)["files"]
        for finding in file["findings"]
    )


BOTH = [("helpers.py", "TFD001"), ("pipeline.py", "TFD020")]


def test_sarif_tells_the_way_to_the_hot_path_and_is_valid(cfgfix, program, shared_path):
    log = json.loads(cfgfix("check", *ONLY, "--output-format", "sarif").out)
    schema = json.loads((shared_path / "schemas" / "sarif-schema-2.1.0.json").read_text())
    jsonschema.Draft7Validator(schema).validate(log)
    results = {result["ruleId"]: result for result in log["runs"][0]["results"]}
    (flow,) = results["TFD001"]["codeFlows"]
    steps = [
        step["location"]["physicalLocation"]["artifactLocation"]["uri"]
        for step in flow["threadFlows"][0]["locations"]
    ]
    assert steps[0] == "src/speech/pipeline.py"
    assert steps[-1] == "src/speech/helpers.py"
    change = results["TFD020"]["fixes"][0]["artifactChanges"][0]
    assert change["artifactLocation"]["uri"] == "src/speech/pipeline.py"
    assert change["replacements"][0]["insertedContent"]["text"] == "tf.data.AUTOTUNE"


def test_fingerprints_and_the_baseline_hold_when_lines_move(cfgfix, program):
    def prints():
        log = json.loads(cfgfix("check", *ONLY, "--output-format", "sarif").out)
        return sorted(
            (item["ruleId"], item["partialFingerprints"]["cfgfix/v1"]) for item in log["runs"][0]["results"]
        )

    before = prints()
    assert [rule for rule, _ in before] == ["TFD001", "TFD020"]
    assert cfgfix("check", *ONLY, "--write-baseline", "known.json").code == 0
    for path in (program / "helpers.py", program / "pipeline.py"):
        path.write_text("# moved\n\n" + path.read_text().replace("def ", "# also moved\ndef "))
    assert prints() == before
    assert cfgfix("check", *ONLY, "--baseline", "known.json", "--output-format", "json").code == 0
    (program / "pipeline.py").write_text(PIPELINE.replace("min(n, tf.data.AUTOTUNE)", "4"))
    assert (
        "stale in the baseline: src/speech/pipeline.py: TFD020"
        in cfgfix("check", *ONLY, "--baseline", "known.json").out
    )


def test_comments_silence_and_unused_ones_are_found_and_removed(cfgfix, program):
    assert found(cfgfix("check", *ONLY, "--output-format", "json")) == BOTH
    done = cfgfix("check", *ONLY, "--add-ignores", "--reason", "agreed")
    assert done.code == 0, done.out + done.err
    text = (program / "pipeline.py").read_text()
    assert "# all of them  # cfgfix: ignore[TFD020] agreed\n" in text
    assert found(cfgfix("check", *ONLY, "--output-format", "json")) == []
    (program / "pipeline.py").write_text(text.replace("min(n, tf.data.AUTOTUNE)", "4"))
    assert found(cfgfix("check", *ONLY, "--output-format", "json")) == [("pipeline.py", "SUP001")]
    assert cfgfix("fix", *ONLY).code == 0
    assert (program / "pipeline.py").read_text() == PIPELINE.replace("min(n, tf.data.AUTOTUNE)", "4")


def test_the_line_above_and_the_whole_file(cfgfix, program):
    (program / "pipeline.py").write_text(
        PIPELINE.replace("    workers", "    # cfgfix: ignore[TFD020] n is small\n    workers")
    )
    (program / "helpers.py").write_text("# cfgfix: ignore-file[TFD001] rewritten next month\n" + HELPERS)
    result = cfgfix("check", *ONLY)
    assert result.code == 0, result.out
    assert "2 findings silenced" in result.out


def test_per_file_ignores(cfgfix, program, config):
    config(
        "source-roots = ['src']\nhardware = 'none'\n[per-file-ignores]\n'*/helpers.py' = ['TFD']\n",
        "cfgfix.toml",
    )
    assert found(cfgfix("check", *ONLY, "--output-format", "json")) == [("pipeline.py", "TFD020")]


@pytest.mark.parametrize("name", ["src/speech/pipeline.py", "src/speech/new.py"])
def test_standard_input_is_a_part_of_the_program(cfgfix, program, name):
    text = PIPELINE.replace("workers = min", "width = min").replace("=workers", "=width")
    result = cfgfix(
        "check", "-", "--stdin-filename", name, *ONLY, "--output-format", "json", stdin=text.encode()
    )
    assert found(result) == [(name.rpartition("/")[2], "TFD020")]
    fixed = cfgfix("fix", "-", "--stdin-filename", name, *ONLY, stdin=text.encode())
    assert fixed.out == text.replace("min(n, tf.data.AUTOTUNE)", "tf.data.AUTOTUNE")
    again = cfgfix("fix", "-", "--stdin-filename", name, *ONLY, stdin=fixed.out.encode())
    assert again.out == fixed.out
    assert again.code == 0
    assert (program / "pipeline.py").read_text() == PIPELINE


def test_standard_input_that_holds_what_another_file_makes_hot(cfgfix, program):
    result = cfgfix(
        "check", "-", "--stdin-filename", "src/speech/helpers.py", *ONLY, "--output-format", "json",
        stdin=HELPERS.encode(),
    )  # fmt: skip
    assert found(result) == [("helpers.py", "TFD001")]


def test_an_unchanged_tree_is_not_read_again_after_a_text_was_typed(cfgfix, program):
    first = cfgfix("check", *ONLY, "--output-format", "json").out
    cfgfix("check", "-", "--stdin-filename", "src/speech/pipeline.py", *ONLY, stdin=b"x = 1\n")
    assert cfgfix("check", *ONLY, "--output-format", "json").out == first
