"""The hooks, by the real pre-commit, on throw-away repositories; it builds its environment from this checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pre_commit")
pytestmark = [pytest.mark.acceptance, pytest.mark.slow]

ROOT = Path(__file__).resolve().parent.parent.parent
PARTS = [
    "cfgfix",
    "rules",
    "schemas",
    "hatch_build.py",
    "pyproject.toml",
    "README.md",
    "LICENSE",
    ".pre-commit-hooks.yaml",
]
BAD = """\
# a speech run
model:
  decoder_dim: 1024
training:
  learning_rate: 1e-4   # peak
  epochs: 3
data:
  batch_size: 32
  max_text_tokens: 200
"""
GOOD = BAD.replace("1e-4", "1.0e-4")
OTHER = "services:\n  web:\n    image: nginx\n    ports: ['80:80']\n    learning_rate: 1e-4\n"


def run(arguments, cwd, ok=True, **env):
    environment = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("GIT_", "PRE_COMMIT", "PYTHONPATH", "CFGFIX_"))
    }
    environment |= {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org",
        **env,
    }  # fmt: skip
    done = subprocess.run(
        arguments, cwd=cwd, capture_output=True, text=True, env=environment, check=False, timeout=600
    )
    if ok:
        assert done.returncode == 0, done.stdout + done.stderr
    return done


def commit_checkout(place):
    repository = place / "cfgfix"
    repository.mkdir()
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(
                source, repository / part, ignore=shutil.ignore_patterns("__pycache__", "_compiled*")
            )
        else:
            shutil.copyfile(source, repository / part)
    run(["git", "init", "-q", "-b", "main"], repository)
    run(["git", "add", "-A"], repository)
    run(["git", "commit", "-q", "-m", "all"], repository)
    run(["git", "tag", "v1.0"], repository)


@pytest.fixture(scope="session")
def hooks(made_once):
    """A repository with this checkout as its one commit, and the folder in which pre-commit keeps environments."""
    place = made_once("hooks", commit_checkout)
    return place / "cfgfix", place / "environments"


@pytest.fixture
def project(hooks, tmp_path):
    """An empty project that uses all three hooks, and a way to run pre-commit in it."""
    repository, home = hooks
    run(["git", "init", "-q", "-b", "main"], tmp_path)
    (tmp_path / ".pre-commit-config.yaml").write_text(
        f"repos:\n  - repo: file://{repository}\n    rev: v1.0\n    hooks:\n      - id: cfgfix\n      - id: cfgfix-fix\n        stages: [manual]\n      - id: cfgfix-ci\n        stages: [manual]\n"
    )

    def pre_commit(*arguments, ok=False):
        return run(
            [sys.executable, "-m", "pre_commit", *arguments],
            tmp_path,
            ok=ok,
            PRE_COMMIT_HOME=str(home),
            CFGFIX_CACHE_DIR=str(tmp_path / ".git" / "cache"),
        )

    def write(**files):
        for name, text in files.items():
            path = tmp_path / f"{name}.yaml"
            path.write_text(text)
            run(["git", "add", path.name], tmp_path)

    return tmp_path, pre_commit, write


def test_all_files_and_unrelated_yaml(project):
    _place, pre_commit, write = project
    write(good=GOOD, compose=OTHER)
    done = pre_commit("run", "--all-files", "cfgfix")
    assert done.returncode == 0, done.stdout + done.stderr
    write(bad=BAD)
    done = pre_commit("run", "--all-files", "cfgfix")
    assert done.returncode == 1
    assert "bad.yaml:5:18: error YML001" in done.stdout
    assert "compose.yaml" not in done.stdout
    assert "good.yaml" not in done.stdout


def test_a_commit_is_stopped_and_goes_through_once_repaired(project, hooks):
    place, pre_commit, write = project
    home = {"PRE_COMMIT_HOME": str(hooks[1])}
    pre_commit("install", ok=True)
    write(bad=BAD)
    assert run(["git", "commit", "-m", "x"], place, ok=False, **home).returncode == 1
    write(bad=GOOD)
    run(["git", "commit", "-m", "x"], place, **home)


def test_what_is_staged_is_what_is_checked(project):
    place, pre_commit, write = project
    write(config=BAD)
    (place / "config.yaml").write_text(GOOD)
    done = pre_commit("run", "cfgfix")
    assert done.returncode == 1, "the staged text is the bad one"
    assert "YML001" in done.stdout
    assert (place / "config.yaml").read_text() == GOOD, "what is not staged is put back"
    run(["git", "add", "config.yaml"], place)
    (place / "config.yaml").write_text(BAD)
    done = pre_commit("run", "cfgfix")
    assert done.returncode == 0, done.stdout
    assert (place / "config.yaml").read_text() == BAD


def test_a_repair_fails_the_hook_once_and_passes_then(project):
    place, pre_commit, write = project
    write(config=BAD)
    arguments = ("run", "--all-files", "--hook-stage", "manual", "cfgfix-fix")
    done = pre_commit(*arguments)
    assert done.returncode == 1
    assert "files were modified by this hook" in done.stdout
    assert (place / "config.yaml").read_text() == GOOD
    assert pre_commit(*arguments).returncode == 0


def test_many_files_in_one_call(project):
    place, pre_commit, _write = project
    for number in range(400):
        (place / f"config_{number:03}.yaml").write_text(GOOD if number != 321 else BAD)
    run(["git", "add", "."], place)
    done = pre_commit("run", "--all-files", "cfgfix")
    assert done.returncode == 1
    assert done.stdout.count("YML001") == 1
    assert "in 400 configs" in done.stdout


def test_excluded_files_are_left_out_though_named(project):
    place, pre_commit, _write = project
    (place / "old").mkdir()
    (place / "old" / "config.yaml").write_text(BAD)
    (place / "cfgfix.toml").write_text("exclude = ['old']\n")
    run(["git", "add", "."], place)
    done = pre_commit("run", "--all-files", "cfgfix")
    assert done.returncode == 0, done.stdout


def test_python_is_checked_too_and_other_python_passed_over(project):
    place, pre_commit, write = project
    write(good=GOOD)
    (place / "data.py").write_text(
        "import tensorflow as tf\n\n\ndef workers(n):\n    return min(n, tf.data.AUTOTUNE)\n"
    )
    (place / "other.py").write_text("def f(n):\n    return min(n, -1)\n")
    run(["git", "add", "data.py", "other.py"], place)
    done = pre_commit("run", "cfgfix")
    assert done.returncode == 1
    assert "data.py:5:12: error TFD020" in done.stdout
    assert "other.py:" not in done.stdout
    fixed = pre_commit("run", "--all-files", "--hook-stage", "manual", "cfgfix-fix")
    assert "files were modified by this hook" in fixed.stdout
    run(["git", "add", "data.py"], place)
    assert pre_commit("run", "cfgfix").returncode == 0


def test_the_hook_for_ci_finds_the_configs_itself(project):
    _place, pre_commit, write = project
    write(config=BAD, compose=OTHER)
    done = pre_commit("run", "--hook-stage", "manual", "cfgfix-ci")
    assert done.returncode == 1
    assert "::error file=config.yaml,line=5,col=18" in done.stdout


def test_the_environment_is_light(project, hooks):
    _place, pre_commit, write = project
    write(good=GOOD)
    assert pre_commit("run", "cfgfix").returncode == 0
    installed = {path.name.split("-")[0].lower() for path in hooks[1].rglob("*.dist-info")}
    assert "cfgfix" in installed
    assert not installed & {"tensorflow", "keras", "numpy", "pygls", "nvidia_ml_py", "torch"}


TRANSCRIPT = ROOT / "docs" / "transcripts" / "pre-commit.txt"


def test_the_transcript_in_the_documentation_is_what_happens(project, hooks):
    """`CFGFIX_UPDATE_GOLDEN=1` writes it anew, to be read before it is committed."""
    place, pre_commit, write = project
    home = {"PRE_COMMIT_HOME": str(hooks[1])}
    (place / ".pre-commit-config.yaml").write_text(
        f"repos:\n  - repo: file://{hooks[0]}\n    rev: v1.0\n    hooks:\n      - id: cfgfix\n"
    )
    (place / "cfgfix.toml").write_text("hardware = 'rtx4090,cpus=16,ram=64'\nselect = ['YML001', 'HWR001']\n")
    told: list[str] = []

    def show(command, done):
        lines = (done.stdout + done.stderr).splitlines()
        # What pre-commit says while it builds an environment comes once.
        kept = [line for line in lines if line.strip() and not line.startswith(("[INFO]", "[WARNING]"))]
        told.extend([f"$ {command}", *kept, ""])

    show("pre-commit install", pre_commit("install", ok=True))
    write(train=BAD.replace("  max_text", "  num_workers: 64\n  max_text"), compose=OTHER)
    run(["git", "add", ".pre-commit-config.yaml", "cfgfix.toml"], place)
    stopped = run(["git", "commit", "-q", "-m", "A first run"], place, ok=False, **home)
    assert stopped.returncode == 1
    show("git commit -q -m 'A first run'", stopped)
    fixed = run([sys.executable, "-m", "cfgfix", "--fix"], place, ok=True, PYTHONPATH=str(ROOT))
    show("cfgfix --fix", fixed)
    run(["git", "add", "-u"], place)
    done = run(["git", "commit", "-q", "-m", "A first run"], place, **home)
    show("git add -u && git commit -q -m 'A first run'", done)
    text = "\n".join(told)
    if os.environ.get("CFGFIX_UPDATE_GOLDEN") == "1":
        TRANSCRIPT.write_text(text, encoding="utf-8")
    assert text == TRANSCRIPT.read_text(encoding="utf-8")
