"""Projects set up by `init`: what other tools' files later come into them stays as it is, by the hooks, commands and `init`."""

from __future__ import annotations

import os
import sys

import pytest
from foreign_samples import FOREIGN, compose_problems, held, lay
from test_pre_commit import GOOD, ROOT, commit_checkout, run

pytest.importorskip("pre_commit")
pytestmark = [pytest.mark.acceptance, pytest.mark.slow]

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

KERAS = "batch_size: 32\nlearning_rate: 1.0e-3\nepochs: 3\n"
LAYOUTS = {
    "one project": ({"train.yaml": KERAS}, ["."], ["."]),
    "several, settings at the top": (
        {"vision/train.yaml": KERAS, "speech/conf/train.yaml": GOOD},
        ["."],
        [".", "vision", "speech"],
    ),
    "several, settings in each": (
        {"vision/train.yaml": KERAS, "speech/conf/train.yaml": GOOD},
        ["vision", "speech", "."],
        [".", "vision", "speech"],
    ),
}


@pytest.fixture(scope="session")
def hooks(made_once):
    place = made_once("hooks", commit_checkout)
    return place / "cfgfix", place / "environments"


@pytest.fixture
def command(tmp_path_factory):
    """A folder with a command `cfgfix` that runs this checkout, as an installed one would lie on the path."""
    folder = tmp_path_factory.mktemp("bin")
    script = folder / "cfgfix"
    script.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m cfgfix "$@"\n')
    script.chmod(0o755)
    return folder


@pytest.mark.parametrize("layout", LAYOUTS)
def test_hooks_commands_and_init_leave_other_tools_files(hooks, command, tmp_path, layout):
    configs, set_up, places = LAYOUTS[layout]
    repository, home = hooks
    settings = {
        "PATH": f"{command}{os.pathsep}{os.environ['PATH']}",
        "PRE_COMMIT_HOME": str(home),
        "CFGFIX_CACHE_DIR": str(tmp_path / ".git" / "cache"),
    }

    def cfgfix(*arguments, folder=".", ok=True):
        return run(["cfgfix", *arguments], tmp_path / folder, ok=ok, **settings).stdout

    def pre_commit(*arguments):
        run(["git", "add", "-A"], tmp_path)
        return run([sys.executable, "-m", "pre_commit", "run", *arguments], tmp_path, ok=False, **settings)

    run(["git", "init", "-q", "-b", "main"], tmp_path)
    lay(tmp_path, configs)
    for folder in set_up:
        cfgfix("init", "--yes", folder=folder)
        table = tomllib.loads((tmp_path / folder / "cfgfix.toml").read_text())
        assert not {"include", "dialect"} & set(table)
    # The hook that `init` wrote checks; the one that repairs comes from the repository.
    hook_file = tmp_path / ".pre-commit-config.yaml"
    hook_file.write_text(
        hook_file.read_text()
        + f"  - repo: file://{repository}\n    rev: v1.0\n    hooks:\n      - id: cfgfix-fix\n        stages: [manual]\n"
        + "      - id: cfgfix-ci\n        stages: [manual]\n"
    )
    for place in places:
        lay(tmp_path / place)
    before = {place: held(tmp_path / place) for place in places}

    def untouched(*outputs):
        assert {place: held(tmp_path / place) for place in places} == before
        for place in places:
            assert compose_problems((tmp_path / place / "docker-compose.yml").read_text()) == []
        assert not [name for name in FOREIGN for output in outputs if name in output]

    fix = ("--hook-stage", "manual", "cfgfix-fix")
    for arguments in (["cfgfix"], fix, ("--hook-stage", "manual", "cfgfix-ci")):
        done = pre_commit("--all-files", *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        untouched(done.stdout)
    # Starting pre-commit takes most of the time, and which settings are in force does not depend on how many files it names.
    for name in FOREIGN if layout == "one project" else ["docker-compose.yml"]:
        # As when a commit holds this file alone.
        for arguments in (["cfgfix"], fix):
            done = pre_commit("--files", f"{places[-1]}/{name}", *arguments)
            assert done.returncode == 0, done.stdout + done.stderr
    untouched(cfgfix("check"), cfgfix("--fix"), cfgfix("fix", "--unsafe-fixes"), cfgfix("init", "--yes"))

    # A second training config is checked, wherever it lies.
    second = [
        f"{os.path.dirname(path) or '.'}/{name}"
        for path in configs
        for name in ("second.yaml", "later/third.yml")
    ]
    texts = {
        name: configs[path].replace("1.0e-", "1e-")
        for path in configs
        for name in second
        if name.startswith(f"{os.path.dirname(path) or '.'}/")
    }
    lay(tmp_path, texts)
    done = pre_commit("--all-files", "cfgfix")
    assert done.returncode == 1
    for name in texts:
        assert f"{name.removeprefix('./')}:" in done.stdout
    again = cfgfix("init", "--dry-run")
    assert set_up != ["."] or all(name.removeprefix("./") in again for name in texts)
    done = pre_commit("--all-files", *fix)
    assert done.returncode == 1
    untouched(done.stdout, again)
    assert {name: (tmp_path / name).read_text() for name in texts} == {
        name: text.replace("1e-", "1.0e-") for name, text in texts.items()
    }
    assert pre_commit("--all-files", "cfgfix").returncode == 0
