"""What held at an earlier revision: its tree is read out of the repository into a folder of its own and checked there.

Nothing of the repository runs for it: no hooks, no filters, no checkout, no network. The user's files stay as they are.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cfgfix.core.baseline import Baseline, Key, key_of
from cfgfix.core.errors import CfgfixError
from cfgfix.core.findings import Finding
from cfgfix.core.records import replace
from cfgfix.core.source_file import project_folder
from cfgfix.lint.request import FileReport, Past, Read, Report

MAX_FILE = 1_000_000
"""Largest file of a revision that is read, in bytes."""
MAX_TREE = 200_000_000
MAX_FILES = 50_000
SECONDS = 600
"""The longest that the check of a revision may take."""
_READ = (
    ".py", ".pyi", ".ipynb", ".yaml", ".yml", ".json", ".toml", ".cfg", ".ini", ".gin", ".txt", ".in", ".lock",
    ".md", ".rst", ".sh", ".bash", ".mk", ".slurm", ".sbatch", ".cmd", ".bat", ".ps1",
)  # fmt: skip
_READ_NAMES = frozenset({"Makefile", "makefile", "Dockerfile", "justfile", "Procfile"})


def check_revision(revision: str, asked: Mapping[str, Any], answerer: str) -> Past:
    """Check the files of an earlier revision; return its findings and reads of keys.

    Args:
        revision: The revision.
        asked: What the check of it is to do, as plain data.
        answerer: The module whose `main` does it in a process of its own: it reads `asked` and writes what it found, as JSON.

    Raises:
        CfgfixError: This is no repository, or the revision is none of it.
    """
    import tempfile

    here = os.path.realpath(".")
    root = project_folder(here)
    if not os.path.exists(os.path.join(root, ".git")):
        raise CfgfixError(
            "--since compares with a revision, and this folder lies in no git repository",
            hint="--write-baseline and --baseline compare without git",
        )
    git = _GitObjects(root)
    commit = git.commit(revision)
    with tempfile.TemporaryDirectory(prefix="cfgfix-since-") as folder:
        tree = os.path.join(os.path.realpath(folder), "tree")
        # What marks a repository: the code is looked for from here down.
        os.makedirs(os.path.join(tree, ".git"))
        git.write(commit, tree)
        inner = os.path.relpath(here, root)
        start = os.path.normpath(os.path.join(tree, inner))
        paths = [_path_in_tree(path, root, tree, start) for path in asked["paths"] or ["."]]
        present = [path for path in paths if os.path.lexists(os.path.join(start, path))]
        if not present or not os.path.isdir(start):
            return Past(revision, Baseline(os.path.join(here, "since"), {}), {})
        config = asked["config"] and _settings_there(asked["config"], root, tree)
        answer = _run_check(
            start, os.path.join(folder, "cache"), {**asked, "config": config, "paths": present}, answerer
        )
    rows = {(str(path), str(rule), str(place)): int(count) for path, rule, place, count in answer["findings"]}
    reads = {
        str(path): {str(name): (str(place[0]), int(place[1])) for name, place in found.items()}
        for path, found in answer["reads"].items()
    }
    return Past(revision, Baseline(os.path.join(here, "since"), rows), reads)


def _path_in_tree(path: str, root: str, tree: str, start: str) -> str:
    """Return where a path of the request lies in the tree of the revision.

    The path is relative to the folder that the check starts in.
    """
    whole = os.path.realpath(path)
    relative = os.path.relpath(whole, root)
    if relative.startswith(".."):
        raise CfgfixError(
            f"lies outside of the repository {root}", path=path, hint="--since compares its files"
        )
    return os.path.relpath(os.path.join(tree, relative), start)


def _settings_there(path: str, root: str, tree: str) -> str:
    """Return the path of a settings file in the revision's tree.

    The path is unchanged where the revision has no such file.
    """
    relative = os.path.relpath(os.path.realpath(path), root)
    then = os.path.join(tree, relative)
    return then if not relative.startswith("..") and os.path.isfile(then) else path


def _run_check(folder: str, cache: str, asked: Mapping[str, Any], answerer: str) -> dict[str, Any]:
    """Return the answer of a check that a new process makes in a folder."""
    # The folder holds what the repository holds: nothing may be imported from it.
    ways = [os.path.abspath(way) for way in sys.path if way]
    program = (
        "import sys; count = int(sys.argv[1]); sys.path[:] = sys.argv[2 : 2 + count]; "
        f"from {answerer} import main; main()"
    )
    done = subprocess.run(  # noqa: S603 - this interpreter, with this package
        [sys.executable, "-c", program, str(len(ways)), *ways],
        cwd=folder,
        env={**os.environ, "CFGFIX_CACHE_DIR": cache},
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=SECONDS,
        check=False,
    )
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        answer = {"error": (done.stderr.strip().splitlines() or ["no answer"])[-1]}
    if "error" in answer:
        raise CfgfixError(f"the tree at that revision cannot be checked: {answer['error']}")
    return dict(answer)


class _GitObjects:
    """The objects of a repository, read so that its configuration runs no program."""

    def __init__(self, root: str) -> None:
        found = shutil.which("git")
        if found is None:
            raise CfgfixError("--since needs git, and there is none on the path")
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        self._environment = {
            **environment,
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_ALLOW_PROTOCOL": "none",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "LC_ALL": "C",
        }
        self._command = [
            found, "-C", root, "--no-pager", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}",
            "-c", "safe.bareRepository=explicit",
        ]  # fmt: skip

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(  # noqa: S603 - git, with nothing of the repository that could run
            [*self._command, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=self._environment,
            timeout=SECONDS,
            check=False,
        )

    def commit(self, revision: str) -> str:
        """Return the commit that a revision stands for."""
        if not revision or "\0" in revision:
            raise CfgfixError(
                "--since names no revision", hint="for example --since HEAD or --since origin/main"
            )
        done = self._run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        name = done.stdout.decode("ascii", "replace").strip()
        if done.returncode or not name:
            told = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise CfgfixError(
                f"git knows no revision {revision!r}" + (f": {told[-1]}" if told else ""),
                hint="for example --since HEAD or --since origin/main; a shallow clone has only its newest commits",
            )
        return name

    def write(self, commit: str, folder: str) -> None:
        """Write the files of a commit into a folder, those that a check reads."""
        listed = self._run("ls-tree", "-r", "-z", "-l", "--full-tree", commit)
        if listed.returncode:
            raise CfgfixError(f"git cannot list {commit}: {listed.stderr.decode('utf-8', 'replace').strip()}")
        wanted = list(_wanted_objects(listed.stdout))
        # Blobs come as they are stored: `cat-file` runs no filter unless it is asked to.
        with subprocess.Popen(  # noqa: S603 - git, as above
            [*self._command, "cat-file", "--batch"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self._environment,
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            for name, path in wanted:
                process.stdin.write(f"{name}\n".encode("ascii"))
                process.stdin.flush()
                head = process.stdout.readline().split()
                if len(head) != 3 or not head[2].isdigit():
                    continue
                data = process.stdout.read(int(head[2]))
                process.stdout.read(1)
                place = os.path.join(folder, *path.split("/"))
                try:
                    os.makedirs(os.path.dirname(place), exist_ok=True)
                    with open(place, "xb") as stream:
                        stream.write(data)
                except OSError:
                    # Two names that are one on this file system, or none that it takes.
                    continue
            process.stdin.close()


def _wanted_objects(listing: bytes) -> Iterator[tuple[str, str]]:
    """Yield object name and path of each file in a listed tree that a check reads.

    Only regular files count.
    """
    total = count = 0
    for row in listing.split(b"\0"):
        head, _, raw = row.partition(b"\t")
        fields = head.split()
        if len(fields) != 4 or fields[0] not in (b"100644", b"100755") or not fields[3].isdigit():
            continue
        path = os.fsdecode(raw)
        steps = path.split("/")
        if any(
            step in ("", ".", "..") or step.lower() == ".git" or "\\" in step or ":" in step for step in steps
        ):
            continue
        if not (path.endswith(_READ) or steps[-1] in _READ_NAMES) or int(fields[3]) > MAX_FILE:
            continue
        total += int(fields[3])
        count += 1
        if total > MAX_TREE or count > MAX_FILES:
            raise CfgfixError(
                "the repository is too large to be compared with an earlier revision",
                hint="--write-baseline and --baseline compare without git",
            )
        yield fields[2].decode("ascii"), path


def rows_of(report: Report) -> list[list[Any]]:
    """Return the findings of a report as baseline rows: key and count, as plain data."""
    counts: dict[Key, int] = {}
    for finding in report.findings():
        key = key_of(finding, os.getcwd())
        counts[key] = counts.get(key, 0) + 1
    return [[*key, count] for key, count in counts.items()]


def with_causes(
    reports: Sequence[FileReport], earlier: Past, now: Mapping[str, Read], dead: frozenset[str]
) -> Iterator[FileReport]:
    """Return the reports with the code change behind each key that is no longer read.

    Only keys that the code read at the earlier revision are told so.

    Args:
        reports: What a check found that did not hold then.
        earlier: What held then.
        now: What the code reads of each config now, by the config's path relative to the repository.
        dead: The rules about keys that nothing reads.
    """
    root = project_folder(os.path.realpath("."))
    for report in reports:
        inside = os.path.relpath(os.path.realpath(report.path), root).replace(os.sep, "/")
        then = earlier.reads.get(inside)
        if not then or all(finding.rule not in dead for finding in report.findings):
            yield report
            continue
        findings = tuple(
            _with_cause(finding, then, now.get(inside, {}), earlier.revision)
            if finding.rule in dead
            else finding
            for finding in report.findings
        )
        yield replace(report, findings=findings)


def _with_cause(finding: Finding, then: Read, now: Read, revision: str) -> Finding:
    from cfgfix.core.findings import format_key_path

    if finding.key_path is None:
        return finding
    key = format_key_path(finding.key_path)
    place = then.get(key)
    if place is None:
        return finding
    section = key.rpartition(".")[0]
    new = [
        (abs(line - place[1]), name, line)
        for name, (path, line) in now.items()
        if path == place[0] and name not in then and name.rpartition(".")[0] == section
    ]
    if new:
        _, name, line = min(new)
        note = f"since {revision}: {place[0]}:{line} reads `{name}` where it read `{key}`"
    else:
        note = f"since {revision}: {place[0]}:{place[1]} read it then"
    return replace(finding, notes=(note, *finding.notes))
