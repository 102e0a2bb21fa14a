from __future__ import annotations

import json
import os
import stat

import pytest

BAD = """\
# a speech run
model:
  decoder_dim: 1024
training:
  learning_rate: 1e-4   # peak
  optimizer: adamw
data:
  batch_size: 32
  num_workers: 64   # "more is better"
  max_text_length: 200
  max_text_tokens: 200
  max_mel_frames: 1024
"""
FIXED = BAD.replace("1e-4 ", "1.0e-4 ").replace("num_workers: 64", "num_workers: 8")
MACHINE = "rtx4090,cpus=8,ram=64"


def rules(result):
    return [
        (finding["rule"], finding["key"])
        for file in json.loads(result.out)["files"]
        for finding in file["findings"]
    ]


def test_check_finds_and_exits_1(cfgfix, config):
    config(BAD)
    result = cfgfix("check", "config.yaml", "--hardware", MACHINE, "--output-format", "json")
    assert result.code == 1
    found = rules(result)
    assert ("YML001", "training.learning_rate") in found
    assert ("HWR001", "data.num_workers") in found


def test_text_shows_place_line_and_caret(cfgfix, config):
    config(BAD)
    out = cfgfix("check", "config.yaml", "--select", "YML001").out
    assert "config.yaml:5:18: error YML001 float-without-dot-is-str" in out
    assert "5 |   learning_rate: 1e-4   # peak" in out
    assert "\n  |                  ^^^^" in out


def test_fix_changes_only_the_values(cfgfix, config):
    path = config(BAD)
    result = cfgfix("--fix", "config.yaml", "--hardware", MACHINE, "--select", "YML001,HWR001")
    assert result.code == 0, result.out + result.err
    assert path.read_text() == FIXED
    again = cfgfix("fix", "config.yaml", "--hardware", MACHINE, "--select", "YML001,HWR001")
    assert again.code == 0
    assert path.read_text() == FIXED


def test_diff_shows_and_writes_nothing(cfgfix, config):
    path = config(BAD)
    result = cfgfix("fix", "--diff", "config.yaml", "--select", "YML001")
    assert "-  learning_rate: 1e-4   # peak" in result.out
    assert "+  learning_rate: 1.0e-4   # peak" in result.out
    assert path.read_text() == BAD
    assert result.code == 1
    assert "no findings" not in result.out
    assert "1 finding would be fixed in 1 file; nothing is written" in result.out


@pytest.mark.parametrize("form", ["text", "concise", "json", "jsonl", "sarif", "github", "gitlab", "junit"])
def test_what_a_diff_would_change_makes_the_exit_code(cfgfix, config, form):
    path = config(BAD)
    asked = ("--select", "YML001", "--output-format", form)
    for command in (("fix", "--diff"), ("check", "--diff"), ("check", "--add-ignores", "--diff")):
        assert cfgfix(*command, "config.yaml", *asked).code == 1
        assert cfgfix(*command, "config.yaml", *asked, "--fail-on", "never").code == 0
        assert cfgfix(*command, "config.yaml", *asked, "--exit-zero").code == 0
    assert path.read_text() == BAD
    assert cfgfix("fix", "config.yaml", *asked).code == 0
    assert cfgfix("fix", "--diff", "config.yaml", *asked).code == 0
    assert cfgfix("check", "--add-ignores", "--diff", "config.yaml", *asked).code == 0


def test_a_diff_of_a_fix_below_the_threshold_is_still_a_change(cfgfix, config):
    config(BAD)
    config("[severity]\nYML001 = 'info'\n", "cfgfix.toml")
    result = cfgfix("fix", "--diff", "config.yaml", "--select", "YML001", "--fail-on", "error")
    assert result.code == 1


def test_the_diff_of_comments_is_shown_and_not_written(cfgfix, config):
    path = config(BAD)
    code = config("import tensorflow as tf\n\ntf.data.experimental.choose_from_datasets\n", "a.py")
    shown = cfgfix("check", "--add-ignores", "--reason", "old", "--diff")
    assert path.read_text() == BAD
    assert "cfgfix" not in code.read_text()
    assert "+  learning_rate: 1e-4   # peak" in shown.out
    assert "would silence config.yaml" in shown.out
    assert "no findings" not in shown.out
    cfgfix("check", "--add-ignores", "--reason", "old")
    assert f"+{next(line for line in path.read_text().splitlines() if 'learning_rate' in line)}" in shown.out
    if "cfgfix" in code.read_text():
        assert f"+{code.read_text().splitlines()[2]}" in shown.out


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("final", [True, False])
def test_line_ends_and_marks_survive(cfgfix, config, newline, bom, final):
    text = BAD if final else BAD.rstrip("\n")
    path = config(bom + text.replace("\n", newline).encode())
    cfgfix("fix", "config.yaml", "--select", "YML001")
    wanted = (BAD if final else BAD.rstrip("\n")).replace("1e-4", "1.0e-4")
    assert path.read_bytes() == bom + wanted.replace("\n", newline).encode()


def test_mode_and_link_survive(cfgfix, config, tmp_path):
    path = config(BAD, "real/config.yaml")
    path.chmod(0o640)
    link = tmp_path / "link.yaml"
    link.symlink_to(path)
    assert cfgfix("fix", "link.yaml", "--select", "YML001").code == 0
    assert link.is_symlink()
    assert "1.0e-4" in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_unsafe_fixes_are_held_back_and_told(cfgfix, config):
    text = "model: {decoder_dim: 1024}\ndata:\n  batch_size: 8\ntraining:\n  epochs: 3\n  enable_graph_mode: 'false'  # off\n"
    path = config(text)
    result = cfgfix("fix", "config.yaml", "--select", "YML012")
    assert result.code == 1
    assert "held back" in result.out
    assert path.read_text() == text
    assert cfgfix("fix", "config.yaml", "--select", "YML012", "--unsafe-fixes").code == 0
    assert path.read_text() == text.replace("'false'", "false")


def test_standard_input(cfgfix):
    result = cfgfix(
        "check",
        "-",
        "--stdin-filename",
        "conf/x.yaml",
        "--select",
        "YML001",
        "--output-format",
        "concise",
        stdin=BAD.encode(),
    )
    assert result.code == 1
    assert result.out.startswith("conf/x.yaml:5:18:")
    fixed = cfgfix("fix", "-", "--select", "YML001", stdin=BAD.encode(), raw=True)
    assert fixed.stdout == BAD.replace("1e-4", "1.0e-4").encode()


def test_overrides_are_seen_and_shown(cfgfix, config):
    config(BAD)
    base = ["check", "config.yaml", "--hardware", MACHINE, "--select", "HWR001", "--output-format", "json"]
    assert rules(cfgfix(*base, "--set", "data.num_workers=4")) == []
    assert rules(cfgfix(*base, "--set", "data.num_workers=99")) == [("HWR001", "data.num_workers")]
    assert cfgfix("fix", "config.yaml", "--set", "a=1").code == 2


def test_a_yaml_that_is_no_training_config_is_passed_over(cfgfix, config):
    config("version: 2\nservices:\n  web: {image: nginx, ports: ['80:80']}\n", "docker-compose.yaml")
    result = cfgfix("check", "docker-compose.yaml")
    assert result.code == 0
    assert "no training config" in result.out


def test_without_paths_it_finds_the_configs(cfgfix, config):
    config(BAD, "conf/train.yaml")
    config("a: 1\n", "other.yaml")
    config(BAD, ".venv/x/train.yaml")
    result = cfgfix("check", "--select", "YML001", "--output-format", "concise")
    assert [line.split(":")[0] for line in result.out.splitlines() if "YML001" in line] == [
        os.path.join("conf", "train.yaml")
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["check", "absent.yaml"], 3, "absent.yaml: does not exist"),
        (["check", "--hardware", "rtx4009"], 2, "rtx4090"),
        (["check", "--select", "YML01X"], 2, "no rule is called"),
        (["check", "--dialect", "myxts"], 2, "did you mean 'myxtts'"),
        (["check", "--nope"], 2, "--nope"),
        (["chek"], 2, "check"),
        (["check", "--fail-on", "sometimes"], 2, "sometimes"),
        (["check", "--set", "x"], 2, "KEY=VALUE"),
        (["check", "-", "b.yaml"], 2, "standard input"),
        (["explain", "YML0001"], 2, "did you mean"),
    ],
)
def test_mistakes_are_told_without_a_traceback(cfgfix, arguments, code, words):
    result = cfgfix(*arguments, stdin=b"")
    assert result.code == code, result.err
    assert words in result.err
    assert "Traceback" not in result.err


def test_exit_codes_and_thresholds(cfgfix, config):
    config(BAD)
    assert cfgfix("check", "config.yaml", "--select", "YML001").code == 1
    assert cfgfix("check", "config.yaml", "--select", "YML001", "--exit-zero").code == 0
    assert cfgfix("check", "config.yaml", "--select", "YML001", "--fail-on", "never").code == 0
    assert (
        cfgfix("check", "config.yaml", "--hardware", MACHINE, "--select", "HWR001", "--fail-on", "error").code
        == 0
    )


@pytest.mark.parametrize("form", ["text", "concise", "json"])
def test_the_exit_code_is_the_same_in_every_format(cfgfix, config, form):
    config(BAD)
    assert cfgfix("check", "config.yaml", "--output-format", form).code == 1


def test_colour_follows_the_environment(cfgfix, config):
    config(BAD)
    plain = cfgfix("check", "config.yaml")
    assert "\x1b[" not in plain.out
    assert "\x1b[" in cfgfix("check", "config.yaml", env={"FORCE_COLOR": "1"}).out
    assert "\x1b[" not in cfgfix("check", "config.yaml", env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).out
    assert "\x1b[" in cfgfix("check", "config.yaml", "--color", "always").out


def test_an_unchanged_run_is_answered_again_the_same(cfgfix, config):
    path = config(BAD)
    os.utime(path, ns=(10**18, 10**18))
    first = cfgfix("check", "config.yaml", "--hardware", MACHINE)
    second = cfgfix("check", "config.yaml", "--hardware", MACHINE)
    assert (second.code, second.out, second.err) == (first.code, first.out, first.err)
    path.write_text(BAD.replace("1e-4", "0.1"))
    os.utime(path, ns=(2 * 10**18, 2 * 10**18))
    third = cfgfix("check", "config.yaml", "--hardware", MACHINE)
    assert "YML001" not in third.out


def test_a_new_settings_file_is_seen(cfgfix, config, tmp_path):
    path = config(BAD)
    os.utime(path, ns=(10**18, 10**18))
    for _ in range(2):
        assert "YML001" in cfgfix("check", "config.yaml").out
    (tmp_path / "cfgfix.toml").write_text("ignore = ['YML001']\n")
    assert "YML001" not in cfgfix("check", "config.yaml").out


def test_a_clean_check_imports_nothing_heavy(cfgfix, config, tmp_path):
    config(
        "model: {decoder_dim: 1024}\ndata: {batch_size: 8, max_text_tokens: 200, max_mel_frames: 1024}\ntraining: {epochs: 3}\n"
    )
    program = (
        "import sys\nfrom cfgfix.cli.start import run\ncode = run(['check', 'config.yaml', '--select', 'YML,SCH,CFG001,HWR001', '--hardware', 'rtx4090,cpus=64,ram=64'])\n"
        "sys.stderr.write(' '.join(sorted({name.split('.')[0] for name in sys.modules})))\nsys.exit(code)\n"
    )
    script = tmp_path / "probe.py"
    script.write_text(program)
    import subprocess
    import sys
    from pathlib import Path

    root = Path(__file__).resolve().parent.parent.parent
    # The first run compiles the catalogue; the second is what users wait for.
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, str(script)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(root), "CFGFIX_CACHE_DIR": str(tmp_path / "c")},
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    loaded = set(done.stderr.split())
    heavy = {
        "click",
        "jsonschema",
        "libcst",
        "ruamel",
        "psutil",
        "pynvml",
        "tensorflow",
        "logging",
        "subprocess",
        "difflib",
        "tomllib",
        "json",
        "importlib_metadata",
        "asyncio",
        "multiprocessing",
        "socket",
        "ssl",
        "numpy",
    }
    assert not loaded & heavy


def test_explain_and_rules(cfgfix):
    page = cfgfix("explain", "HWR001")
    assert page.code == 0
    for word in ("workers-above-cores", "Why", "Evidence", "Fix", "Bad", "Good"):
        assert word in page.out
    listing = cfgfix("rules")
    assert "YML001" in listing.out
    assert json.loads(cfgfix("rules", "--json").out)[0]["id"]
    assert "data.batch_size" in cfgfix("explain", "batch_size").out


def test_hardware_command(cfgfix, tmp_path):
    result = cfgfix("hardware", "--hardware", "rtx4090x2,cpus=16", "--json")
    assert result.code == 0
    json.loads(result.out)
    assert cfgfix("hardware", "--hardware", "rtx4090x2,cpus=16", "--save", "box.yaml").code == 0
    assert "RTX 4090" in cfgfix("hardware", "--hardware", "box.yaml").out
