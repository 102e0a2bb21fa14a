"""`--watch`, as a person uses it: a file is saved, the answer follows, Ctrl-C ends it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CLEAN = (
    "model: {n_mels: 80}\ntraining:\n  learning_rate: 1.0e-4\ndata:\n  dataset_path: d\n  num_workers: 4\n"
)
LOOSE = "batch_size: 32\nlearning_rate: 0.001\nepochs: 3\n"


def until(seen, wanted, limit=60):
    end = time.monotonic() + limit
    while wanted not in seen.read_text(encoding="utf-8"):
        assert time.monotonic() < end, seen.read_text(encoding="utf-8")
        time.sleep(0.05)


@pytest.mark.skipif(os.name != "posix", reason="not on this platform: Ctrl-C is sent another way")
def test_a_saved_change_is_answered_and_an_interruption_ends_it(tmp_path):
    config, seen = tmp_path / "train.yaml", tmp_path / "seen.txt"
    config.write_text(CLEAN)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "CFGFIX_CACHE_DIR": ""}
    with seen.open("w") as output:
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "cfgfix",
                "check",
                "--watch",
                "train.yaml",
                "--isolated",
                "--dialect",
                "myxtts",
                "--select",
                "YML",
            ],
            cwd=tmp_path,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            # A job in the background of a shell ignores the interruption, and hands that on to its children.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,  # noqa: PLW1509 - no threads here
        )
    try:
        until(seen, "no findings in 1 config")
        config.write_text(CLEAN.replace("1.0e-4", "1e-4"))
        until(seen, "YML001")
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
    assert "Traceback" not in seen.read_text(encoding="utf-8")


@pytest.fixture
def runs(tmp_path, tmp_path_factory, monkeypatch, capsys):
    """Watch a folder; the list of what is done in each run, after which the person leaves."""
    from cfgfix.cli import watch
    from cfgfix.cli.start import run
    from cfgfix.lint import runner

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CFGFIX_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    (tmp_path / ".git").mkdir()

    def watched(arguments, *steps):
        started, waits = [], []
        find = {name: getattr(runner, name) for name in ("check", "fix")}

        def counted(name):
            def look(request):
                started.append(name)
                try:
                    return find[name](request)
                finally:
                    if len(started) <= len(steps):
                        steps[len(started) - 1]()

            return look

        def wait(_seconds):
            waits.append(1)
            if len(waits) > 3 * len(steps) + 3:
                raise KeyboardInterrupt

        for name in find:
            monkeypatch.setattr(runner, name, counted(name))
        monkeypatch.setattr(watch.time, "sleep", wait)
        assert run([*arguments, "--watch", "--hardware", "none"]) == 0
        return len(started), capsys.readouterr().out

    return watched


@pytest.mark.parametrize("arguments", [["check", "."], ["check", "train.yaml"], ["fix"]])
def test_what_is_saved_while_the_answer_is_found_is_answered_too(tmp_path, runs, arguments):
    config = tmp_path / "train.yaml"
    config.write_text(LOOSE)
    number, told = runs(arguments, lambda: config.write_text(LOOSE.replace("32", "16")))
    assert number == 2
    assert told.count(" in 1 config") == 2


def test_what_a_fix_writes_itself_is_no_change(tmp_path, runs, monkeypatch):
    from cfgfix.cli import watch

    # The config was written a moment ago.
    monkeypatch.setattr(watch, "CLOCK_STEP", 0)
    config = tmp_path / "train.yaml"
    config.write_text(LOOSE.replace("0.001", "1e-3"))
    number, told = runs(["fix"], lambda: None)
    assert number == 1
    assert "fixed train.yaml" in told


def test_a_file_that_is_named_before_it_is_there_is_waited_for(tmp_path, runs):
    number, _ = runs(["check", "train.yaml"], lambda: (tmp_path / "train.yaml").write_text(LOOSE))
    assert number == 2


def test_a_file_put_in_the_place_of_another_of_its_size_and_time(tmp_path):
    from cfgfix.cli import watch

    paths = str(tmp_path / "a.yaml"), str(tmp_path / "b.yaml")
    for path in paths:
        Path(path).write_text("a: 1\n")
        os.utime(path, ns=(1, 1))
    before = watch._file_states(paths[:1])
    os.replace(paths[1], paths[0])
    assert watch._file_states(paths[:1]) != before


@pytest.mark.parametrize("arguments", [["check", "-"], ["check", "--write-baseline", "b.json"]])
def test_what_watching_does_not_go_with_is_told(tmp_path, monkeypatch, capsys, arguments):
    import io

    from cfgfix.cli.start import run

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a: 1\n")))
    assert run([*arguments, "--watch", "--hardware", "none"]) == 2
    assert "--watch" in capsys.readouterr().err
