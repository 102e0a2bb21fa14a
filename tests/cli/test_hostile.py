"""What a user sees for files that are broken, huge or hostile: one clear line, no traceback, nothing changed."""

from __future__ import annotations

import os
import socket

import pytest

HEAD = "training:\n  learning_rate: 1e-4\ndata:\n  batch_size: 8\n  num_workers: 4\n"
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join(['*' + old] * 9)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


def bad(result, *words, code=3):
    assert result.code == code, (result.code, result.out[-500:], result.err[-1500:])
    assert "Traceback" not in result.err + result.out
    for word in words:
        assert word in result.out + result.err, (word, result.out[-500:], result.err[-500:])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a: 1\0b: 2\n", ["NUL"]),
        (b"training:\n  name: \xff\xfe\n", ["UTF-8", "2"]),
        (b"\xff\xfe" + "a: 1".encode("utf-16-le")[:-1], ["UTF-16"]),
    ],
)
@pytest.mark.parametrize("command", ["check", "fix"])
def test_files_that_are_no_text(cfgfix, config, command, content, words):
    path = config(content)
    bad(cfgfix(command, "config.yaml"), "config.yaml", *words)
    assert path.read_bytes() == content


@pytest.mark.parametrize("command", ["check", "fix"])
def test_things_that_are_no_files(cfgfix, tmp_path, command):
    os.mkfifo(tmp_path / "fifo.yaml")
    bad(cfgfix(command, "fifo.yaml"), "fifo.yaml")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s.yaml"))
        bad(cfgfix(command, "s.yaml"), "s.yaml")
    bad(cfgfix(command, "/dev/zero"), "/dev/zero")
    (tmp_path / "loop.yaml").symlink_to(tmp_path / "loop.yaml")
    bad(cfgfix(command, "loop.yaml"), "loop.yaml")
    (tmp_path / "dangling.yaml").symlink_to(tmp_path / "nowhere")
    bad(cfgfix(command, "dangling.yaml"), "dangling.yaml")


def test_a_folder_with_a_files_name_is_searched(cfgfix, config, tmp_path):
    (tmp_path / "odd.yaml").mkdir()
    config(HEAD, "odd.yaml/inner.yaml")
    assert "inner.yaml:2" in cfgfix("check", "odd.yaml", "--output-format", "concise").out


def test_a_file_over_the_limit(cfgfix, tmp_path):
    with open(tmp_path / "big.yaml", "wb") as stream:
        stream.write(HEAD.encode())
        stream.truncate(100 * 1024 * 1024)
    bad(cfgfix("check", "big.yaml"), "big.yaml", "limit")


@pytest.mark.parametrize(
    "body",
    [
        BOMB,
        "x: " + "[" * 10_000 + "]" * 10_000 + "\n",
        "x: " + "{a: " * 10_000 + "}" * 10_000 + "\n",
        "x: " + "[" * 100_000,
    ],
)
def test_bombs_are_told_and_left_alone(cfgfix, config, body):
    text = HEAD + body
    path = config(text)
    for command in ("check", "fix"):
        bad(cfgfix(command, "config.yaml"), "config.yaml", code=1)
        assert path.read_text() == text


def test_circles(cfgfix, config):
    config(HEAD + "m: &m\n  <<: *m\n  x: *m\n")
    result = cfgfix("check", "config.yaml")
    assert result.code == 1
    assert "Traceback" not in result.err


def test_a_broken_config_is_told_with_its_place(cfgfix, config):
    path = config(HEAD + "  bad: [1, 2\nmodel:\n  x: 1\n")
    result = cfgfix("check", "config.yaml", "--output-format", "concise")
    bad(result, "config.yaml:", "error", code=1)
    cfgfix("fix", "config.yaml")
    assert path.read_text().startswith(HEAD + "  bad: [1, 2")


def test_a_template_is_told_and_passed_over(cfgfix, config):
    config(
        "training:\n  learning_rate: {{ lr }}\n  epochs: {{ epochs }}\ndata:\n  batch_size: {{ batch }}\n  num_workers: 4\n"
    )
    result = cfgfix("check", "config.yaml", "--show-skipped")
    assert "Traceback" not in result.err
    assert "template" in (result.out + result.err).lower()


@pytest.mark.skipif(os.geteuid() == 0, reason="not on this platform: root reads everything")
def test_unreadable(cfgfix, config):
    config(HEAD).chmod(0)
    bad(cfgfix("check", "config.yaml"), "config.yaml")


def test_one_bad_file_does_not_hide_the_others(cfgfix, config):
    config(b"\0", "bad.yaml")
    config(HEAD, "good.yaml")
    result = cfgfix("check", "bad.yaml", "good.yaml", "--output-format", "concise")
    bad(result, "bad.yaml", "good.yaml:2:18")


@pytest.mark.parametrize(
    "environment",
    [
        {"HOME": ""},
        {"HOME": "/nonexistent"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"},
        {"PYTHONHASHSEED": "7"},
    ],
)
def test_odd_environments(cfgfix, config, environment):
    config(HEAD + "  note: 'لاس سه رقمیه'\n")
    result = cfgfix("check", "config.yaml", env={**environment, "CFGFIX_CACHE_DIR": ""})
    assert result.code == 1
    assert "Traceback" not in result.err


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("rules = ['mine']", ["mine"]),
        ("schema = 'absent.json'", ["absent.json"]),
        ("dialect = 'nope'", ["nope"]),
        ("loader = 'json5'", ["json5"]),
        ("keys = {batch_sze = 'a.b'}", ["batch_sze", "did you mean 'batch_size'"]),
        ("keys = {batch_size = 'a..b'}", ["keys.batch_size"]),
        ("hardware = 'rtx9999'", ["rtx9999"]),
    ],
)
def test_wrong_settings_are_told(cfgfix, config, tmp_path, settings, words):
    config(HEAD)
    (tmp_path / "cfgfix.toml").write_text(settings + "\n")
    result = cfgfix("check", "config.yaml")
    assert result.code in (2, 3), result.out
    assert "Traceback" not in result.err
    for word in words:
        assert word in result.err + result.out


def test_own_key_paths(cfgfix, config, tmp_path):
    config("trainer: {micro: 0}\nio: {threads: 99}\n")
    (tmp_path / "cfgfix.toml").write_text(
        "hardware = 'rtx4090,cpus=8'\n[keys]\nbatch_size = 'trainer.micro'\nworkers = ['io.threads']\n"
    )
    out = cfgfix("check", "config.yaml", "--output-format", "concise").out
    assert "CFG001" in out
    assert "io.threads is 99" in out


def test_a_hostile_rule_folder_is_data(cfgfix, config, tmp_path):
    config(HEAD)
    rule = (
        "id: USR001\nname: mine\nsummary: s\nseverity: error\nat: batch_size\nwhen: {when}\nmessage: '{message}'\nwhy: w\nno_fix: n\n"
        "evidence: [{{source: s}}]\ncases:\n  - {{name: a, config: 'data: {{batch_size: 1}}', finds: [data.batch_size]}}\n  - {{name: b, config: 'data: {{}}', finds: []}}\n"
    )
    folder = tmp_path / "mine"
    folder.mkdir()
    (tmp_path / "cfgfix.toml").write_text("rules = ['mine']\n")
    good = rule.format(when="batch_size == 8", message="it is {batch_size}")
    (folder / "USR001-mine.yaml").write_text(good)
    assert "USR001 mine: it is 8" in cfgfix("check", "config.yaml", "--output-format", "concise").out
    for when in [
        "__import__('os').system('touch pwned')",
        "batch_size.__class__",
        "(lambda: 1)()",
        "9**9**9",
        "'a' * 10**18",
    ]:
        (folder / "USR001-mine.yaml").write_text(rule.format(when=f'"{when}"', message="m"))
        result = cfgfix("check", "config.yaml")
        assert "Traceback" not in result.err
        assert result.code in (1, 2)
    for text in [
        good.replace("name: mine", "name: &a mine\nsummary: *a"),
        "!!python/object/apply:os.system ['touch pwned']\n",
        "[" * 5000,
        "x" * 300_000,
        "id: [1]\n",
    ]:
        (folder / "USR001-mine.yaml").write_text(text)
        bad(cfgfix("check", "config.yaml"), "USR001-mine.yaml", code=2)
    assert not (tmp_path / "pwned").exists()
