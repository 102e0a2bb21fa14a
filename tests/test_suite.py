"""How this suite runs: on all CPUs, what measures alone, what is skipped told, acceptance tests when asked for."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

pytest_plugins = ["pytester"]
pytest.importorskip("xdist", reason="not on this platform: pytest-xdist")

TESTS = """
import os, time
import pytest

LOG = {log!r}

def tell(*words):
    with open(LOG, "a") as stream:
        print(*words, os.getpid(), file=stream)

@pytest.mark.parametrize("number", range(8))
def test_plain(number, made_once):
    place = made_once("costly", lambda place: (tell("made"), (place / "x").write_text("1")))
    tell("begin", "plain")
    assert (place / "x").read_text() == "1"
    time.sleep(0.02)
    tell("end", "plain")

@pytest.mark.measured
@pytest.mark.parametrize("number", range(4))
def test_measured(number):
    tell("begin", "measured")
    time.sleep(0.02)
    tell("end", "measured")

@pytest.mark.acceptance
def test_the_corpus():
    tell("accepted")

def test_skipped():
    pytest.skip("needs a {what} here")
"""


@pytest.fixture
def suite(pytester, monkeypatch):
    """Make a project with this suite's settings and `conftest.py`, and run its tests in two workers."""
    shutil.copyfile(ROOT / "pyproject.toml", pytester.path / "pyproject.toml")
    folder = pytester.path / "tests"
    folder.mkdir()
    for name in ("conftest.py", "allowed_skips.txt"):
        shutil.copyfile(ROOT / "tests" / name, folder / name)
    for name in [name for name in os.environ if name.startswith(("PYTEST_", "CFGFIX_"))]:
        monkeypatch.delenv(name)

    def run(*arguments, what="GPU", **environment):
        log = pytester.path / "log"
        log.write_text("")
        (folder / "test_a.py").write_text(TESTS.format(log=str(log), what=what))
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        done = pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider", *arguments)
        return done, [line.split() for line in log.read_text().splitlines()]

    return run


def test_two_workers_share_what_is_costly_and_leave_a_measured_test_alone(suite):
    done, told = suite("-n2")
    done.assert_outcomes(passed=12, skipped=1)
    assert len({words[-1] for words in told}) == 2
    assert sum(words[0] == "made" for words in told) == 1
    running = {}
    for word, *kind, worker in told:
        if word == "begin":
            running[worker] = kind
            assert len(running) == 1 or ["measured"] not in running.values(), told
        elif word == "end":
            del running[worker]


def test_acceptance_tests_run_when_they_or_their_file_are_named(suite):
    asked, told = suite("-m", "acceptance")
    asked.assert_outcomes(passed=1)
    assert [words[0] for words in told] == ["accepted"]
    named, told = suite("tests/test_a.py")
    named.assert_outcomes(passed=13, skipped=1)
    assert len({words[-1] for words in told}) == 1, "one file takes no workers"


def test_a_skip_in_a_worker_is_held_against_the_list(suite):
    unlisted, _ = suite("-n2", what="dragon", CFGFIX_STRICT_SKIPS="1")
    assert unlisted.ret == pytest.ExitCode.TESTS_FAILED
    unlisted.stdout.fnmatch_lines(
        "*not on the list of allowed skips: tests/test_a.py::test_skipped: *dragon*"
    )
    assert suite("-n2", CFGFIX_STRICT_SKIPS="1")[0].ret == pytest.ExitCode.OK
