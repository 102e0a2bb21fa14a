"""Run what the documentation shows: `python tools/docs_commands.py PAGE...` compares, with `--write` it puts the real output in.

A page is a story: its commands run one after the other in one fresh folder that holds the example configs. A block of code with
a `title` is a file, and is written there. In a `console` block the lines after `$ command` are its output, and a line `...` stands
for any lines; in a `bash` block each line is a command whose output is not shown.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(
    r"^(?P<indent> *)(?P<ticks>`{3,})(?P<language>\w*)(?P<rest>[^\n]*)\n(?P<body>.*?)^(?P=indent)(?P=ticks)\s*$",
    re.MULTILINE | re.DOTALL,
)
TITLE = re.compile(r'title="([^"]+)"')
COMMENT = re.compile(r"\s+# .*")
TYPED = {"cfgfix init": "y\n"}
"""What a reader answers where a command asks."""
SECONDS = 300
"""The longest that one command may take."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing a reader does: writes a file, or runs a command."""

    kind: str
    """`file` or `command`."""
    name: str
    """The file's path, or the command."""
    text: str | None
    """The file's text; a command's output, or None where it is not shown."""
    at: tuple[int, int]
    """Where `text` stands in the page."""


def steps(page: str) -> Iterator[Step]:
    """Yield what a reader of a page does, in order."""
    for match in FENCE.finditer(page):
        language, body = match["language"], match["body"]
        titled = TITLE.search(match["rest"])
        if titled:
            yield Step("file", titled[1], body, match.span("body"))
        elif language == "bash":
            for line in body.replace("\\\n", " ").splitlines():
                if line.strip() and not line.lstrip().startswith("#"):
                    yield Step("command", COMMENT.sub("", line).strip(), None, match.span("body"))
        elif language == "console":
            at = match.start("body")
            for part in re.split(r"(?m)^(?=\$ )", body):
                if part.startswith("$ "):
                    command, _, output = part[2:].partition("\n")
                    start = at + 2 + len(command) + 1
                    yield Step("command", command.strip(), output, (start, start + len(output)))
                at += len(part)


def pages() -> list[Path]:
    """Return every page that people read."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command did."""

    code: int
    output: str
    errors: str


class Folder:
    """A fresh folder with the example configs, one of them also as train.yaml, where `cfgfix` is this checkout's."""

    def __init__(self, path: Path) -> None:
        self.path = path / "project"
        self.path.mkdir()
        for name in ("configs", "examples"):
            shutil.copytree(ROOT / name, self.path / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "configs" / "speech.yaml", self.path / "train.yaml")
        (path / ".config" / "fish" / "completions").mkdir(parents=True)
        commands = path / "bin"
        commands.mkdir()
        shim = commands / "cfgfix"
        shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cfgfix "$@"\n', encoding="utf-8")
        shim.chmod(0o755)
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("CFGFIX_", "GIT_"))},
            "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "HOME": str(path),
            "CFGFIX_CACHE_DIR": str(path / "cache"),
            "PYTHONUTF8": "1",
            "NO_COLOR": "1",
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "COLUMNS": "100",
        }

    def write(self, step: Step) -> None:
        """Write a file of the page."""
        target = self.path / step.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(step.text or "", encoding="utf-8")

    def do(self, command: str) -> Outcome:
        """Run a command in the way that a reader does: answered where it asks, interrupted where it would go on."""
        if command.endswith(" --watch"):
            return self.watch(command)
        return self.run(command, typed=TYPED.get(command))

    def run(self, command: str, *, typed: str | None = None) -> Outcome:
        """Run a command as a reader would, who types something where the command asks."""
        own, given = (None, subprocess.DEVNULL) if typed is None else os.openpty()
        try:
            if own is not None:
                os.write(own, str(typed).encode())
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=self.path,
                env=self.environment,
                stdin=given,
                capture_output=True,
                text=True,
                encoding="utf-8",
                timeout=SECONDS,
                check=False,
            )
        finally:
            if own is not None:
                os.close(own)
                os.close(given)
        return Outcome(done.returncode, done.stdout, done.stderr)

    def watch(self, command: str) -> Outcome:
        """Run a command that ends only when its reader interrupts it: once it has printed something and is silent again."""
        place = self.path.parent / "watched.txt"
        with place.open("w", encoding="utf-8") as stream:
            process = subprocess.Popen(
                ["bash", "-c", f"exec {command}"],
                cwd=self.path,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                # What runs in the background of a shell would ignore the interruption.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,  # noqa: PLW1509 - no threads here
            )
        try:
            before, end = -1, time.monotonic() + SECONDS
            while not 0 < before == place.stat().st_size and time.monotonic() < end:
                before = place.stat().st_size
                time.sleep(2)
            process.send_signal(signal.SIGINT)
            code = process.wait(30)
        finally:
            process.kill()
            process.wait()
        return Outcome(code, place.read_text(encoding="utf-8"), "")


def agrees(shown: str, real: str) -> bool:
    """Return whether the output that a page shows is the real one; a line `...` stands for any lines."""
    parts = [
        re.escape("\n".join(line.rstrip() for line in part.strip("\n").splitlines()))
        for part in re.split(r"(?m)^\.\.\.$", shown)
    ]
    pattern = r"(?:.*\n)*?".join(part + r"\n?" if part else "" for part in parts)
    found = "\n".join(line.rstrip() for line in real.strip("\n").splitlines()) + "\n"
    return re.fullmatch(pattern + r"\s*", found) is not None


def written(page: str) -> str:
    """Return a page with the real output of its commands, but for those that show a part of it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Folder(Path(name))
        changes: list[tuple[tuple[int, int], str]] = []
        for step in steps(page):
            if step.kind == "file":
                folder.write(step)
                continue
            outcome = folder.do(step.name)
            if step.text is not None and not agrees(step.text, outcome.output):
                if re.search(r"(?m)^\.\.\.$", step.text):
                    print(f"not as shown: {step.name}\n{outcome.output}{outcome.errors}")
                    continue
                end = "\n" if step.text.endswith("\n\n") else ""
                changes.append(
                    (step.at, outcome.output.strip("\n") + "\n" + end if outcome.output.strip() else end)
                )
    for (start, end), text in reversed(changes):
        page = page[:start] + text + page[end:]
    return page


def main(arguments: Sequence[str]) -> int:
    """Compare or write pages."""
    wrong = 0
    for name in arguments:
        if name == "--write":
            continue
        path = Path(name)
        text = path.read_text(encoding="utf-8")
        new = written(text)
        if new != text:
            wrong += 1
            print(f"{name}: {'written' if '--write' in arguments else 'not what happens'}")
            if "--write" in arguments:
                path.write_text(new, encoding="utf-8")
    return 0 if "--write" in arguments or not wrong else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
