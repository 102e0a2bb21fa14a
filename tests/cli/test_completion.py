"""Completion as people use it: in the shells themselves, on a terminal, with the Tab key."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cache_folders import after_a_first_run

from cfgfix import __version__

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE = 30
"""Seconds until a terminal that does not show what is waited for fails the test."""
SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], 'eval "$(cfgfix completion bash)"'),
    "zsh": (
        ["zsh", "-f", "-i"],
        'autoload -Uz compinit && compinit -u -d .zcompdump && eval "$(cfgfix completion zsh)"',
    ),
    "fish": (["fish", "--no-config", "-i"], "cfgfix completion fish | source"),
}


class Terminal:
    """A shell on a terminal of its own."""

    def __init__(self, command, folder, environment):
        leader, follower = pty.openpty()
        self.process = subprocess.Popen(
            # A session of its own on this terminal, as a login gives: fish wants to be in charge of one.
            ["setsid", "--ctty", *command],
            cwd=folder, stdin=follower, stdout=follower, stderr=follower, env=environment,
        )  # fmt: skip
        os.close(follower)
        self.leader = leader
        self.seen = ""

    def type(self, text):
        os.write(self.leader, text.encode())

    def read(self, pattern):
        """What the terminal shows until the pattern is there."""
        end = time.monotonic() + PATIENCE
        while not re.search(pattern, self.seen):
            left = end - time.monotonic()
            assert left > 0, f"no {pattern!r} in {self.seen!r}"
            if select.select([self.leader], [], [], min(left, 1))[0]:
                try:
                    self.seen += os.read(self.leader, 65536).decode(errors="replace")
                except OSError:
                    raise AssertionError(f"the shell ended: {self.seen!r}") from None
        found, self.seen = self.seen, ""
        return found

    def close(self):
        os.close(self.leader)
        self.process.kill()
        self.process.wait()


@pytest.fixture
def environment(tmp_path):
    """A home of its own, and `cfgfix` on the path."""
    place = tmp_path / "bin"
    place.mkdir()
    command = place / "cfgfix"
    command.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m cfgfix "$@"\n')
    command.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if name in ("LD_LIBRARY_PATH", "LANG")}
    return {
        **kept,
        "PATH": f"{place}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "TERM": "dumb",
        "PS1": "ready> ",
        "CFGFIX_CACHE_DIR": after_a_first_run(tmp_path / "cache"),
    }


@pytest.fixture(params=sorted(SHELLS))
def terminal(request, tmp_path, environment):
    command, load = SHELLS[request.param]
    if shutil.which(command[0]) is None or shutil.which("setsid") is None:
        pytest.skip(f"not on this machine: the shell {command[0]}")
    shell = Terminal(command, tmp_path, environment)
    try:
        shell.type(f"{load}\n")
        # The two halves keep the echo of what is typed apart from what it prints.
        shell.type("echo loa''ded\n")
        shell.read("loaded")
        yield shell
    finally:
        shell.close()


def test_the_tab_key_completes_commands_and_options(terminal):
    terminal.type("cfgfix --vers\t")
    terminal.read("version")
    terminal.type("\n")
    terminal.read(re.escape(f"cfgfix {__version__}"))
    terminal.type("cfgfix hardw\t")
    terminal.read("ardware")
    terminal.type("--hel\t")
    terminal.read("help")
    terminal.type("\n")
    terminal.read("that this process may really use")


def test_the_tab_key_completes_rules_and_formats(terminal, config):
    config("data: {batch_size: 8}\ntraining: {epochs: 1}\nmodel: {decoder_dim: 1024}\n", "train.yaml")
    terminal.type("cfgfix explain workers-above-cor\t")
    terminal.read("es")
    terminal.type("\n")
    terminal.read("HWR001")
    terminal.type("cfgfix check --output-format sar\t")
    terminal.read("sarif")
    terminal.type("tra\t")
    terminal.read(r"in\.yaml")
    terminal.type("\n")
    terminal.read('"version": "2.1.0"')


def test_fish_shows_what_a_choice_means(environment, tmp_path):
    if shutil.which("fish") is None:
        pytest.skip("not on this machine: the shell fish")
    script = "cfgfix completion fish | source; complete -C 'cfgfix check --select HWR00'"
    done = subprocess.run(
        ["fish", "--no-config", "-c", script],
        capture_output=True, text=True, check=True, env=environment, cwd=tmp_path,
    )  # fmt: skip
    assert re.search(r"^HWR001\tMore parallel loader calls", done.stdout, re.MULTILINE)
