"""Output that is closed, full or read no more, and a working folder that is gone: one clear line and the right exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cfgfix.core.errors import ExitCode

ROOT = Path(__file__).resolve().parent.parent.parent
BEFORE = "training:\n  learning_rate: 1e-4\ndata:\n  batch_size: 8\n  num_workers: 4\n"


@pytest.fixture
def shell(tmp_path):
    """Run a line of the shell in which `cfgfix` is the command."""
    (tmp_path / "c.yaml").write_text(BEFORE)
    (tmp_path / "d.yaml").write_text(BEFORE)
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("CFGFIX_")},
        "PYTHONPATH": str(ROOT),
        "CFGFIX_CACHE_DIR": str(tmp_path / ".cache-of-cfgfix"),
    }

    def run(line):
        done = subprocess.run(
            ["bash", "-c", f'set -o pipefail; cfgfix() {{ "{sys.executable}" -m cfgfix "$@"; }}; {line}'],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        assert "Traceback" not in done.stderr, done.stderr
        assert "Exception ignored" not in done.stderr, done.stderr
        return done

    return run


@pytest.mark.parametrize("command", ["check c.yaml", "fix .", "rules", "explain YML001", "--version", "lsp"])
def test_closed_standard_output_is_told_before_anything_is_done(shell, tmp_path, command):
    done = shell(f"cfgfix {command} >&-")
    assert done.returncode == ExitCode.UNREADABLE
    assert done.stderr.count("\n") == 1
    assert "standard output is closed" in done.stderr
    assert (tmp_path / "c.yaml").read_text() == BEFORE


@pytest.mark.parametrize(
    "command", ["check c.yaml", "rules", "explain YML001", "--version", "--help", "check --help"]
)
def test_full_standard_output(shell, command):
    done = shell(f"cfgfix {command} >/dev/full")
    assert done.returncode == ExitCode.UNREADABLE
    assert done.stderr == "cfgfix: error: standard output cannot be written: No space left on device\n"


def test_a_fix_before_standard_output_failed_is_told(shell, tmp_path):
    done = shell("cfgfix fix . >/dev/full")
    assert done.returncode == ExitCode.UNREADABLE
    assert "written before that: c.yaml, d.yaml" in done.stderr
    assert "nothing was written" not in done.stderr
    assert "1.0e-4" in (tmp_path / "c.yaml").read_text()


def test_an_internal_error_after_a_fix_does_not_deny_it(tmp_path, monkeypatch, capsys):
    from cfgfix.cli import start
    from cfgfix.core import source_file as files

    def fault(_):
        raise AssertionError("a fault")

    monkeypatch.setattr(start, "_dispatch_command", fault)
    monkeypatch.setattr(files, "written", [])
    assert start.run(["fix"]) == ExitCode.INTERNAL
    assert "nothing was written" in capsys.readouterr().err
    monkeypatch.setattr(files, "written", ["a\x1b.yaml", "b\nc", "b\nc"])
    assert start.run(["fix"]) == ExitCode.INTERNAL
    told = capsys.readouterr().err
    assert "nothing was written" not in told
    assert "written before that: a\\x1b.yaml, b\\nc\n" in told
    monkeypatch.setattr(files, "written", ["a", "b", "c", "d"])
    assert start.run(["fix"]) == ExitCode.INTERNAL
    assert "written before that:\n  a\n  b\n  c\n  d\n" in capsys.readouterr().err


def test_an_internal_error_of_a_program_that_was_run_says_nothing_of_its_files(monkeypatch, capsys):
    from cfgfix.cli import start
    from cfgfix.core import source_file as files

    def fault(_):
        raise AssertionError("a fault")

    monkeypatch.setattr(start, "_dispatch_command", fault)
    monkeypatch.setattr(files, "written", [])
    assert start.run(["diagnose", "train.py"]) == ExitCode.INTERNAL
    assert "written" not in capsys.readouterr().err.split("Please report")[0]


@pytest.mark.parametrize("arguments", [["init", "--yes"], ["check", ".", "--write-baseline", "known.json"]])
def test_an_internal_error_after_other_files_were_written_does_not_deny_it(
    tmp_path, monkeypatch, capsys, arguments
):
    from cfgfix.cli import start
    from cfgfix.core import source_file as files

    real = start._dispatch_command

    def late(given):
        real(given)
        raise AssertionError("a fault")

    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.yaml").write_text(BEFORE)
    monkeypatch.setattr(start, "_dispatch_command", late)
    monkeypatch.setattr(files, "written", [])
    assert start.run(arguments) == ExitCode.INTERNAL
    told = capsys.readouterr().err
    assert "nothing was written" not in told
    assert "written before that: " in told


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("cfgfix check c.yaml 2>&-", ExitCode.FINDINGS),
        ("cfgfix check absent.yaml 2>&-", ExitCode.UNREADABLE),
        ("cfgfix check absent.yaml 2>/dev/full", ExitCode.UNREADABLE),
        ("cfgfix nonsense 2>&-", ExitCode.USAGE),
        ("cfgfix nonsense 2>/dev/full", ExitCode.USAGE),
        ("cfgfix check c.yaml --write-baseline b.json 2>&-", ExitCode.CLEAN),
        ("cfgfix check c.yaml <&-", ExitCode.FINDINGS),
        ("cfgfix check - <&-", ExitCode.UNREADABLE),
        ("cfgfix init <&-", ExitCode.USAGE),
        ("cfgfix check c.yaml <&- >&- 2>&-", ExitCode.UNREADABLE),
    ],
)
def test_other_closed_streams(shell, tmp_path, line, code):
    assert shell(line).returncode == code
    assert (tmp_path / "c.yaml").read_text() == BEFORE


@pytest.mark.parametrize(
    "command", ["check .", "check . --output-format json", "rules", "--help", "explain YML001"]
)
def test_a_reader_that_goes(shell, command):
    # Wait until the reader is gone.
    done = shell(f"{{ sleep 0.3; cfgfix {command}; }} | true")
    assert done.returncode == 141
    assert done.stderr == ""


@pytest.mark.parametrize(
    "command",
    ["check {}/c.yaml", "fix {}/c.yaml", "check", "rules", "explain YML001", "hardware", "recommend", "init", "tf-env", "schema", "lsp"],
)  # fmt: skip
def test_a_working_folder_that_is_gone(shell, tmp_path, command):
    done = shell(f"mkdir gone; cd gone; rmdir ../gone; cfgfix {command.format(tmp_path)}")
    assert done.returncode == ExitCode.UNREADABLE
    assert done.stderr.count("\n") == 1
    assert "working folder" in done.stderr
    assert (tmp_path / "c.yaml").read_text() == BEFORE


def test_what_needs_no_folder_answers_without_one(shell):
    assert shell("mkdir gone; cd gone; rmdir ../gone; cfgfix --version").returncode == 0


def test_outputs_go_to_other_streams(shell, tmp_path):
    done = shell("cfgfix check c.yaml --output-format concise --output-format json=>(cat >&2)")
    assert done.returncode == ExitCode.FINDINGS
    assert '"version": 1' in done.stderr
    done = shell("cfgfix check c.yaml --output-format concise=/dev/stdout > out.txt")
    assert done.returncode == ExitCode.FINDINGS
    assert "YML001" in (tmp_path / "out.txt").read_text()


COMMANDS = [
    "check c.yaml --write-baseline {}",
    "check c.yaml --output-format sarif={}",
    "check c.yaml --output-format text --output-file {}",
    "hardware --hardware rtx4090 --save {}",
    "schema --dialect generic --output {}",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_no_file_is_written_through_a_link_that_leaves_the_project(
    shell, tmp_path, tmp_path_factory, command
):
    victim = tmp_path_factory.mktemp("outside") / "victim"
    victim.write_text("precious")
    (tmp_path / "b.json").symlink_to(victim)
    (tmp_path / "out").symlink_to(victim.parent)
    for path in ("b.json", "out/made"):
        done = shell(f"cfgfix {command.format(path)}")
        assert done.returncode == ExitCode.UNREADABLE
        assert "outside of the project" in done.stderr
    assert victim.read_text() == "precious"
    assert os.listdir(victim.parent) == ["victim"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk_leaves_the_old_file(shell, tmp_path, command):
    (tmp_path / "b.json").write_text("precious")
    # Writing beyond this many bytes fails, as on a full disk.
    done = shell(f"ulimit -f 0; trap '' XFSZ; export CFGFIX_CACHE_DIR=; cfgfix {command.format('b.json')}")
    assert done.returncode == ExitCode.UNREADABLE
    assert "cannot be written" in done.stderr
    assert (tmp_path / "b.json").read_text() == "precious"
    assert not list(tmp_path.glob(".cfgfix-*"))
