"""What the README shows is what happens."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"```console\n\$ cfgfix (.*)\n(.*?)```", README, re.DOTALL)
LINKS = re.findall(r"\]\(([^)#:]+)\)", README)
COMMANDS = sorted(set(re.findall(r"(?:^|`)cfgfix ([a-z-]+)", README, re.MULTILINE)))


def run(*arguments):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "CFGFIX_CACHE_DIR": "", "PYTHONUTF8": "1"}
    return subprocess.run(
        [sys.executable, "-m", "cfgfix", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )


def test_there_is_something_to_try():
    assert SHOWN
    assert LINKS
    assert "check" in COMMANDS


@pytest.mark.parametrize(("command", "output"), SHOWN)
def test_the_run_that_is_shown_is_a_real_one(command, output):
    done = run(*shlex.split(command))
    assert done.stdout.strip() == output.strip()


@pytest.mark.parametrize("link", LINKS)
def test_every_link_leads_somewhere(link):
    assert (ROOT / link).exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_exists(command):
    assert run(command, "--help").returncode == 0
