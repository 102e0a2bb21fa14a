from __future__ import annotations

import json
import os
import pty
import re
import sys

import pytest

from cfgfix.cli.progress import PATIENCE, Progress

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

BAD = "model: {decoder_dim: 1024}\ndata:\n  batch_size: 8\n  num_workers: 64\ntraining:\n  learning_rate: 1e-4\n  epochs: 3\n"


def found(result):
    return {
        file["path"].replace(os.sep, "/"): [finding["rule"] for finding in file["findings"]]
        for file in json.loads(result.out)["files"]
    }


def test_every_file_is_judged_by_its_nearest_settings(cfgfix, config, tmp_path):
    config(BAD, "a.yaml")
    config(BAD, "speech/b.yaml")
    config(BAD, "speech/deep/c.yaml")
    (tmp_path / "cfgfix.toml").write_text("select = ['YML001', 'HWR001']\n")
    (tmp_path / "speech" / "pyproject.toml").write_text(
        "[tool.cfgfix]\nselect = ['HWR001']\nhardware = 'rtx4090,cpus=8'\n"
    )
    result = cfgfix("check", "--output-format", "json")
    assert found(result) == {
        "a.yaml": ["YML001"],
        "speech/b.yaml": ["HWR001"],
        "speech/deep/c.yaml": ["HWR001"],
    }
    named = cfgfix("check", "speech/deep/c.yaml", "a.yaml", "--output-format", "json")
    assert found(named) == {"a.yaml": ["YML001"], "speech/deep/c.yaml": ["HWR001"]}
    stdin = cfgfix(
        "check", "-", "--stdin-filename", "speech/x.yaml", "--output-format", "json", stdin=BAD.encode()
    )
    assert found(stdin) == {"speech/x.yaml": ["HWR001"]}


def test_a_named_settings_file_and_isolation_hold_for_all_files(cfgfix, config, tmp_path):
    config(BAD, "a.yaml")
    config(BAD, "speech/b.yaml")
    (tmp_path / "speech" / "cfgfix.toml").write_text("select = ['HWR001']\n")
    (tmp_path / "other.toml").write_text("select = ['YML001']\n")
    assert found(cfgfix("check", "--config", "other.toml", "--output-format", "json")) == {
        "a.yaml": ["YML001"],
        "speech/b.yaml": ["YML001"],
    }
    assert "YML001" in found(cfgfix("check", "--isolated", "--output-format", "json"))["speech/b.yaml"]


def test_the_command_line_rules_over_every_settings_file(cfgfix, config, tmp_path):
    config(BAD, "a/a.yaml")
    config(BAD, "b/b.yaml")
    (tmp_path / "a" / "cfgfix.toml").write_text("select = ['HWR001']\n")
    assert found(cfgfix("check", "--select", "YML001", "--output-format", "json")) == {
        "a/a.yaml": ["YML001"],
        "b/b.yaml": ["YML001"],
    }


def test_the_exit_code_goes_by_each_files_own_threshold(cfgfix, config, tmp_path):
    config(BAD, "a/a.yaml")
    (tmp_path / "a" / "cfgfix.toml").write_text("select = ['YML001']\nfail-on = 'never'\n")
    assert cfgfix("check").code == 0
    config(BAD, "b/b.yaml")
    assert cfgfix("check", "--select", "YML001").code == 1


def test_exclusion_below_a_folder_with_its_own_settings(cfgfix, config, tmp_path):
    config(BAD, "a/old/x.yaml")
    config(BAD, "b/old/x.yaml")
    (tmp_path / "a" / "cfgfix.toml").write_text("exclude = ['old']\nselect = ['YML001']\n")
    assert set(found(cfgfix("check", "--output-format", "json"))) == {"b/old/x.yaml"}


def test_hooks_leave_excluded_files_out_though_they_are_named(cfgfix, config, tmp_path):
    config(BAD, "old/x.yaml")
    config(BAD, "x.yaml")
    (tmp_path / "cfgfix.toml").write_text("exclude = ['old']\nselect = ['YML001']\n")
    assert set(found(cfgfix("check", "old/x.yaml", "x.yaml", "--output-format", "json"))) == {
        "old/x.yaml",
        "x.yaml",
    }
    forced = cfgfix("check", "--force-exclude", "old/x.yaml", "x.yaml", "--output-format", "json")
    assert set(found(forced)) == {"x.yaml"}
    (tmp_path / "cfgfix.toml").write_text("exclude = ['old']\nselect = ['YML001']\nforce-exclude = true\n")
    assert set(
        found(cfgfix("check", str(tmp_path / "old" / "x.yaml"), "x.yaml", "--output-format", "json"))
    ) == {"x.yaml"}


def test_a_settings_file_that_appears_is_seen_by_an_unchanged_run(cfgfix, config, tmp_path):
    path = config(BAD, "a/b/x.yaml")
    old = 1_600_000_000
    for place in (path, tmp_path, tmp_path / "a", tmp_path / "a" / "b"):
        os.utime(place, (old, old))
    first = cfgfix("check", "a/b/x.yaml", "--output-format", "json")
    assert "YML001" in found(first)["a/b/x.yaml"]
    assert cfgfix("check", "a/b/x.yaml", "--output-format", "json").out == first.out
    (tmp_path / "a" / "cfgfix.toml").write_text("select = ['YML002']\n")
    assert found(cfgfix("check", "a/b/x.yaml", "--output-format", "json"))["a/b/x.yaml"] == []


def test_a_mistake_in_a_deeper_settings_file_is_told(cfgfix, config, tmp_path):
    config(BAD, "a/x.yaml")
    (tmp_path / "a" / "cfgfix.toml").write_text("selct = ['YML']\n")
    result = cfgfix("check")
    assert result.code == 2
    assert "selct" in result.out
    assert "did you mean 'select'" in result.out


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("[per-file-ignores]\n'*.yaml' = ['YMLL001']\n", "YML001"),
        ("ignore = ['YMLL001']\n", "YML001"),
        ("[severity]\nYML0001 = 'info'\n", "YML001"),
        ("dialect = 'myxts'\n", "myxtts"),
        ("[keys]\nbatch_sizes = 'a.b'\n", "batch_size"),
    ],
)
def test_misspelt_names_in_settings_are_told(cfgfix, config, tmp_path, text, word):
    config(BAD)
    (tmp_path / "cfgfix.toml").write_text(text)
    result = cfgfix("check")
    assert result.code == 2
    assert "did you mean" in result.err + result.out
    assert word in result.err + result.out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[keys]\nwrokers = 'io.threads'\nbatch_size = 'a.b'\n", ["wrokers", "did you mean 'workers'?"]),
        ("[keys]\nworkers = 'io..threads'\n", ["keys.workers", "empty step"]),
    ],
)
def test_a_wrong_entry_of_keys_stops_no_check(cfgfix, config, tmp_path, text, words):
    config(BAD)
    (tmp_path / "cfgfix.toml").write_text(text)
    for form in ("text", "concise", "json", "jsonl", "sarif", "github", "gitlab", "junit"):
        result = cfgfix("check", "--output-format", form)
        assert result.code == 2
        assert "YML001" in result.out
        assert form == "sarif" or all(word in result.out.replace("&apos;", "'") for word in words)


@pytest.mark.parametrize(
    "text",
    [
        "[keys]\nwrokers = 'io.threads'\n",
        "dialect = 'myxts'\n",
        "ignore = ['YMLL001']\n",
        "schema = 'absent.json'\n",
        "hardware = 'rtx9999'\n",
        "rules = ['absent']\n",
        "selct = ['YML']\n",
        "source-roots = ['absent']\n",
        "[[\n",
    ],
)
def test_wrong_settings_of_one_project_stop_no_check_of_another(cfgfix, config, tmp_path, text):
    config(BAD, "a/x.yaml")
    config(BAD, "b/x.yaml")
    config(BAD, "b/y.yaml")
    (tmp_path / "b" / "cfgfix.toml").write_text(text)
    result = cfgfix("check", "--output-format", "json")
    assert result.code in (2, 3)
    assert found(result)["a/x.yaml"] == ["YML001"]
    told = json.loads(result.out)["errors"]
    assert len(told) == 1
    for arguments in (("check", "--output-format", "concise"), ("fix",)):
        result = cfgfix(*arguments)
        assert result.code in (2, 3)
        assert told[0]["message"] in result.out
    assert "1.0e-4" in (tmp_path / "a" / "x.yaml").read_text()


def test_what_nobody_looked_at_is_not_called_clean(cfgfix, config, tmp_path):
    config(BAD, "b/x.yaml")
    (tmp_path / "b" / "cfgfix.toml").write_text("dialect = 'myxts'\n")
    result = cfgfix("check")
    assert result.code == 2
    assert "no findings" not in result.out


def test_a_misspelt_profile_is_told(cfgfix, config, tmp_path):
    config(BAD)
    (tmp_path / "cfgfix.toml").write_text("[hardware.profiles]\nlaptop = 'cpu,cpus=8'\n")
    result = cfgfix("check", "--hardware", "laptpo")
    assert result.code == 2
    assert "did you mean laptop?" in result.err


def test_show_settings_is_toml_that_settings_can_hold(cfgfix, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "cfgfix.toml").write_text(
        "select = ['YML']\n[hardware]\ndefault = 'box'\n[hardware.profiles]\nbox = 'rtx4090,cpus=16'\n[per-file-ignores]\n'old/*.yaml' = ['YML001']\n"
    )
    out = cfgfix("check", "sub", "--show-settings").out
    assert "cfgfix.toml" in out
    table = tomllib.loads(out)
    assert table["select"] == ["YML"]
    assert table["hardware"] == {"default": "box", "profiles": {"box": "rtx4090,cpus=16"}}
    (tmp_path / "cfgfix.toml").write_text(out)
    again = tomllib.loads(cfgfix("check", "--show-settings").out)
    assert again == table
    plain = cfgfix("check", "--isolated", "--show-settings").out
    assert re.search(r'^fail-on = "warning"  # default$', plain, re.MULTILINE)


def test_progress_shows_after_a_while_and_goes_away(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    written = []

    class Stream:
        def write(self, text):
            written.append(text)

        def flush(self):
            pass

    progress = Progress(Stream())
    progress(0, 100)
    assert written == []
    clock[0] = PATIENCE + 0.01
    progress(50, 100)
    progress(51, 100)
    assert written == ["\rcfgfix: 50 of 100 files"]
    progress(100, 100)
    assert written[-1].strip() == ""


def test_progress_is_for_terminals_only(cfgfix, config, monkeypatch):
    from cfgfix.cli.check import progress_for

    assert progress_for({"quiet": False}) is None or sys.stderr.isatty()
    leader, follower = pty.openpty()
    with os.fdopen(follower, "w") as terminal, os.fdopen(leader, "rb", buffering=0):
        monkeypatch.setattr("sys.stderr", terminal)
        assert progress_for({"quiet": False}) is not None
        assert progress_for({"quiet": True}) is None


def test_progress_is_told_for_configs_and_for_python(config, tmp_path, monkeypatch):
    from cfgfix.lint import runner as engine

    config(BAD, "a.yaml")
    config(BAD, "b.yaml")
    config("import tensorflow as tf\n", "c.py")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CFGFIX_CACHE_DIR", str(tmp_path / ".cache"))
    told = []
    engine.check(engine.Request(progress=lambda done, total: told.append((done, total))))
    assert told == [(0, 2), (1, 2), (2, 2), (0, 1), (1, 1)]


OLD = "import tensorflow as tf\n\noptimizer = tf.keras.optimizers.Adam(lr=1e-3)\n"


def severities(result):
    return [
        (finding["rule"], finding["severity"])
        for file in json.loads(result.out)["files"]
        for finding in file["findings"]
    ]


def test_the_release_of_tensorflow_is_said_by_the_command_the_settings_or_the_project(
    cfgfix, tmp_path, monkeypatch
):
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    (tmp_path / "a.py").write_text(OLD)
    (tmp_path / ".git").mkdir()

    def check(*more):
        return cfgfix("check", ".", "--select", "DEP", "--output-format", "json", *more)

    # Where nothing pins a release, the one that pip gives today is meant.
    assert severities(check("--tensorflow", "requirements")) == [("DEP020", "error")]
    assert severities(check("--tensorflow", "2.21")) == [("DEP020", "error")]
    assert severities(check("--tensorflow", "2.8")) == []
    packages = tmp_path / ".venv" / "lib" / "python3.12" / "site-packages"
    (packages / "tensorflow-2.18.1.dist-info").mkdir(parents=True)
    installed = check()
    assert severities(installed) == [("DEP020", "error")]
    assert "TensorFlow 2.18.1 is installed in .venv" in installed.out
    (tmp_path / "cfgfix.toml").write_text("tensorflow = '>=2.4,<2.11'\n")
    assert severities(check()) == []
    assert severities(check("--tensorflow", ">=2.8")) == [("DEP020", "warning")]


def test_a_release_that_is_none_is_one_clear_error(cfgfix, config, tmp_path):
    config(BAD, "a.yaml")
    wrong = cfgfix("check", "--tensorflow", "newest")
    assert wrong.code == 2
    assert "'newest' is no release of TensorFlow" in wrong.err
    (tmp_path / "cfgfix.toml").write_text("tensorflow = 'newest'\n")
    wrong = cfgfix("check")
    assert wrong.code == 2
    assert "cfgfix.toml" in wrong.err


def test_what_is_put_aside_is_told_by_the_program_and_not_by_the_working_folder(cfgfix, tmp_path):
    project = tmp_path / "archive" / "project"
    (project / "scraps").mkdir(parents=True)
    (project / ".git").mkdir()
    for place in ("a.py", "scraps/b.py"):
        (project / place).write_text(OLD)

    def check(folder, path):
        options = ("--select", "DEP", "--tensorflow", "2.21", "--output-format", "json")
        return severities(cfgfix("check", path, *options, cwd=folder))

    for folder, path in ((project, "."), (tmp_path, "archive/project"), (project / "scraps", "..")):
        assert check(folder, path) == [("DEP020", "error"), ("DEP020", "info")]
    assert check(project, "scraps") == [("DEP020", "error")]
