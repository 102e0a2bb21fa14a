"""The pre-commit hook on a commit of one file, against the hooks of yamllint and check-jsonschema, in one paired run.

    python benchmarks/hooks.py [--rounds 15] [--home FOLDER] [--output FILE]

The real pre-commit (it must be installed beside this Python) runs each hook on one staged config of 100 lines that is
edited and staged anew before every round, as before a commit. Each hook has the environment that pre-commit itself builds
for it: cfgfix from a git repository made of this checkout, the two others from their packages, with the entry and the file
types that their own `.pre-commit-hooks.yaml` give; check-jsonschema gets the schema that cfgfix uses too. A hook that does
nothing shows what pre-commit alone takes. Below, the same three commands without pre-commit around them.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from check import SCHEMA, hundred_lines
from paired import Command, machine, measure, ratio, table

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("cfgfix", "rules", "schemas", "hatch_build.py", "pyproject.toml", "README.md", "LICENSE",
         ".pre-commit-hooks.yaml")  # fmt: skip
PEERS = {
    "yamllint": ("yamllint==1.38.0", "yamllint", "yamllint"),
    "check-jsonschema": (
        "check-jsonschema==0.39.0",
        "check-jsonschema",
        f"check-jsonschema --schemafile {SCHEMA}",
    ),
}
"""Package, the hook's name, and what it runs."""


def git(folder: Path, *arguments: str) -> None:
    """Run git in a folder, with no settings of the user's own."""
    names = {
        f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    subprocess.run(
        ["git", *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL,
        env={**os.environ, **names, "GIT_CONFIG_GLOBAL": os.devnull},
    )  # fmt: skip


def repository(place: Path) -> Path:
    """Return a git repository whose one commit is this checkout."""
    place.mkdir()
    for part in PARTS:
        source, target = ROOT / part, place / part
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "_compiled*"))
        elif source.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    git(place, "init", "-q", "-b", "main")
    git(place, "add", "-A")
    git(place, "commit", "-q", "-m", "all")
    git(place, "tag", "v1.0")
    return place


def project(place: Path, hooks: Path) -> Path:
    """Return a project with one config and all hooks."""
    place.mkdir()
    git(place, "init", "-q", "-b", "main")
    rows = [
        "repos:",
        f"  - {{repo: 'file://{hooks}', rev: v1.0, hooks: [{{id: cfgfix}}]}}",
        "  - repo: local",
        "    hooks:",
        "      - {id: nothing, name: nothing, language: system, types: [yaml], entry: 'true'}",
    ]
    for name, (package, hook, entry) in PEERS.items():
        rows.append(
            f"      - {{id: {name}, name: {hook}, language: python, types: [yaml], entry: '{entry}', additional_dependencies: ['{package}']}}"
        )
    (place / ".pre-commit-config.yaml").write_text("\n".join(rows) + "\n")
    (place / ".yamllint").write_text("extends: relaxed\n")
    (place / "train.yaml").write_text(hundred_lines())
    git(place, "add", "-A")
    git(place, "commit", "-q", "-m", "all")
    return place


def entry(home: Path, name: str) -> Path:
    """Return the installed command of a hook in the environment that pre-commit built for it."""
    found = sorted(home.glob(f"repo*/py_env-*/bin/{name}"))
    if len(found) != 1:
        raise SystemExit(f"expected one {name} below {home}, found {len(found)}")
    return found[0]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument(
        "--home", type=Path, help="where pre-commit keeps its environments; a new folder by default"
    )
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        base = Path(scratch)
        home = (arguments.home or base / "home").resolve()
        place = project(base / "project", repository(base / "hooks"))
        os.chdir(place)
        settings = {"PRE_COMMIT_HOME": str(home), "GIT_CONFIG_GLOBAL": os.devnull}
        edit = ["sh", "-c", 'echo "# tried again $(date +%s%N)" >> train.yaml && git add train.yaml']
        run = [sys.executable, "-m", "pre_commit", "run"]
        names = ["cfgfix", *PEERS, "nothing"]
        first_run = subprocess.run(
            [*run, "--files", "train.yaml"],
            check=False,
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
        )
        if first_run.returncode:
            raise SystemExit(first_run.stdout + first_run.stderr)
        around = [
            Command(f"{name} (pre-commit run)", [*run, name], settings, before=edit, ok=(0,))
            for name in names
        ]
        alone = [
            Command(
                "cfgfix (command)",
                [
                    str(entry(home, "cfgfix")),
                    "check",
                    "--force-exclude",
                    "--output-format",
                    "concise",
                    "train.yaml",
                ],
                before=edit,
                ok=(0,),
            )
        ]
        for name, (_, _, words) in PEERS.items():
            command = words.split()
            alone.append(
                Command(
                    f"{name} (command)",
                    [str(entry(home, command[0])), *command[1:], "train.yaml"],
                    before=edit,
                    ok=(0,),
                )
            )
        timings = measure([*around, *alone], arguments.rounds)
        first = {command.name: timings[command.name] for command in around}
        second = {command.name: timings[command.name] for command in alone}
        packages = ", ".join(package for package, *_ in PEERS.values())
        low, middle, high = ratio(first["cfgfix (pre-commit run)"], first["nothing (pre-commit run)"], "wall")
        text = "\n".join(
            [
                "# The hook on a commit of one file",
                "",
                f"`python benchmarks/hooks.py --rounds {arguments.rounds}` on {machine()}; {packages}; one edited and staged config of",
                "100 lines and more; medians over rounds in turn, ratios of processor time round by round.",
                "",
                "## `pre-commit run HOOK`, as a commit runs it",
                "",
                *table(first, "cfgfix (pre-commit run)"),
                "",
                f"Against a hook that does nothing, wall time: **{middle:.2f}** ({low:.2f}-{high:.2f}).",
                "",
                "## The hooks' commands alone, in the same environments",
                "",
                *table(second, "cfgfix (command)"),
                "",
            ]
        )
    if arguments.output:
        arguments.output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
