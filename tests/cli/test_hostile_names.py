"""Names of files and texts of code that a terminal or a log would act on, in every format, in errors, and in what is written."""

from __future__ import annotations

import json
import os
import xml.etree.ElementTree as ET

import pytest

from cfgfix.cli.options import FORMATS

CONFIG = "training:\n  learning_rate: 1e-4\n  epochs: 2\ndata:\n  batch_size: 8\n  num_workers: 4\n"
NAMES = [
    b"bad\xff.yaml",
    b"a\n::error title=injected::x.yaml",
    b"::error title=first::x.yaml",
    b"esc\x1b[31m\x1b]0;title\x07.yaml",
    b"c1\xc2\x9b31m.yaml",
    "bidi\u202etxt\u2066.yaml".encode(),
    b"r\r##[error]x.yaml",
    b"-n.yaml",
    "پیک\u200cی.yaml".encode(),
]
ACTING = {*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0), 0x202E, 0x2066}


def acting(text):
    return {char for char in text if ord(char) in ACTING or 0xD800 <= ord(char) <= 0xDFFF}


@pytest.fixture
def names(tmp_path):
    for name in NAMES:
        with open(os.path.join(os.fsencode(tmp_path), name), "w") as stream:
            stream.write(CONFIG)
    return tmp_path


def harmless(text, form):
    assert not acting(text), acting(text)
    for line in text.splitlines():
        assert form == "github" or not line.startswith("::")
        assert not line.startswith("::error title=")
    if form == "jsonl":
        for line in text.splitlines():
            json.loads(line)
    elif form in ("json", "sarif", "gitlab"):
        json.loads(text)
    elif form == "junit":
        ET.fromstring(text)


@pytest.mark.parametrize("form", FORMATS)
def test_names_in_every_format(cfgfix, names, form):
    printed = cfgfix("check", ".", "--hardware", "none", "--output-format", form)
    assert (printed.code, printed.err) == (1, "")
    harmless(printed.out, form)
    saved = cfgfix("check", ".", "--hardware", "none", "--output-format", f"{form}=out.txt")
    assert (saved.code, saved.err, saved.out) == (1, "", "")
    assert (names / "out.txt").read_text(encoding="utf-8") == printed.out
    if form == "sarif":
        assert "bad%FF.yaml" in printed.out
    else:
        assert "xff.yaml" in printed.out


def test_no_line_is_a_command_to_the_keeper_of_the_log(cfgfix, names):
    for form in ("text", "concise"):
        out = cfgfix("check", ".", "--output-format", form, env={"GITHUB_ACTIONS": "true"}).out
        assert "##[" not in out
        assert not any(line.lstrip().startswith("::") for line in out.splitlines())


@pytest.mark.parametrize("form", FORMATS)
def test_fixing_names(cfgfix, names, form):
    shown = cfgfix("fix", ".", "--hardware", "none", "--diff", "--output-format", form)
    harmless(shown.out + shown.err, form)
    done = cfgfix("fix", ".", "--hardware", "none", "--output-format", form)
    assert done.code == 0, done.err
    harmless(done.out + done.err, form)
    for name in NAMES:
        with open(os.path.join(os.fsencode(names), name)) as stream:
            assert "1.0e-4" in stream.read()


def test_a_baseline_knows_names_that_are_no_text(cfgfix, names):
    written = cfgfix("check", ".", "--hardware", "none", "--write-baseline", "known.json")
    assert (written.code, written.out) == (0, "")
    assert not acting((names / "known.json").read_text(encoding="utf-8"))
    assert cfgfix("check", ".", "--hardware", "none", "--baseline", "known.json").code == 0


def test_absent_names(cfgfix):
    for name in NAMES:
        result = cfgfix("check", os.fsdecode(b"./absent-" + name), "--output-format", "github")
        assert result.code == 3
        assert not acting(result.err)
        assert result.err.count("\n") == 1


@pytest.mark.parametrize("form", FORMATS)
def test_errors_about_names(cfgfix, tmp_path, form):
    bad = [b"x\x1b[31m" + name for name in NAMES]
    for name in bad:
        with open(os.path.join(os.fsencode(tmp_path), name), "wb") as stream:
            stream.write(b"\xff\0")
    result = cfgfix("check", *map(os.fsdecode, bad), "--output-format", form)
    assert result.code == 3
    assert "Traceback" not in result.err
    harmless(result.out, form)


@pytest.mark.parametrize(
    "command", [["check", "--no\x1b[31m"], ["x\x1b]0;t\x07"], ["explain", "\x1b[31m\udcff"]]
)
def test_wrong_use(cfgfix, command):
    result = cfgfix(*command)
    assert result.code == 2
    assert not acting(result.out + result.err)


@pytest.mark.parametrize("form", FORMATS)
def test_texts_of_configs_and_code(cfgfix, config, form):
    config(
        'training:\n  "lr\\e[31m\\n::error::\\u202e\\x9b": 1\n  learning_rate: "1e-4\\e]0;t\\a\\n##[error]"\n'
        '  optimizer: "ad\\uD800am\\e"\ndata:\n  batch_size: "8\\r\\n::error::x"\n  num_workers: 4\n'
    )
    config(
        "import tensorflow as tf\n"
        "def pre\u200cpare(x):\n    # \x1b[31m \u202e \x9b\n    print('\x1b[31m', x)\n    return x\n"
        "d = tf.data.Dataset.range(3).map(lambda x: tf.numpy_function(pre\u200cpare, ['\x1b[31m\u202e'], tf.float32)).batch(0)\n",
        "code.py",
    )
    config('schema = "schema.json"\ndialect = "generic"\n', "cfgfix.toml")
    config(
        json.dumps(
            {
                "properties": {
                    "training": {
                        "properties": {"learning_rate": {"type": "number", "description": "\x1b[31m\u202e"}}
                    },
                    "data": {"properties": {"batch_size": {"const": "\x1b]0;x\x07\n::error::"}}},
                }
            }
        ),
        "schema.json",
    )
    for command in ("check", "fix"):
        result = cfgfix(
            command, ".", "--hardware", "none", "--diff", "--output-format", form,
        )  # fmt: skip
        assert result.code in (0, 1, 3), result.err
        assert "Traceback" not in result.err
        harmless(result.out, form)


def test_settings_and_rules_with_such_texts(cfgfix, config, tmp_path):
    config(CONFIG)
    for text in (
        'dialect = "\\u001b[31m"\n',
        '"\\u001b[31mx\\n::error::" = 1\n',
        'hardware = "\\u009b31m"\n',
        "\x1b[31m",
    ):
        config(text, "cfgfix.toml")
        result = cfgfix("check", "config.yaml")
        assert result.code in (2, 3)
        assert not acting(result.out + result.err)
        assert len(result.err.splitlines()) == 1


def test_recommended_settings_stay_a_comment(cfgfix, tmp_path):
    name = "a\nlearning_rate: 9\x1b[31m.yaml"
    (tmp_path / name).write_text(CONFIG)
    result = cfgfix("recommend", name, "--hardware", "rtx4090")
    assert result.code == 0, result.err
    assert "\nlearning_rate: 9" not in result.out
    assert not acting(result.out)
