"""A change of the code is held against the configs that it reads: in a hook, and since a revision."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest

TRAINER = """
import sys, yaml
import tensorflow as tf
from parts import split

def main(path):
    with open(path) as stream:
        plan = yaml.safe_load(stream)
    tf.keras.layers.Dense(plan["units"])
    tf.keras.optimizers.Adam(plan["pace"])
    for _ in range(plan["rounds"]):
        pass
    split(plan)

if __name__ == "__main__":
    main(sys.argv[1])
"""
PARTS = """
import tensorflow as tf

def split(plan):
    return tf.constant(plan.get("test_size", 0.2))
"""
PLAN = "units: 4\npace: 0.1\nrounds: 3\ntest_size: 0.3\n"


def git(folder, *arguments):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    subprocess.run(
        [
            "git",
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@example.org",
            "-c",
            "init.defaultBranch=main",
            *arguments,
        ],
        cwd=folder,
        check=True,
        capture_output=True,
        env=environment,
    )


@pytest.fixture
def plans(tmp_path):
    """A repository of one trainer and three plans, all well."""
    folder = tmp_path / "project"
    (folder / "plans").mkdir(parents=True)
    (folder / "trainer.py").write_text(TRAINER)
    (folder / "parts.py").write_text(PARTS)
    for name in ("a", "b", "c"):
        (folder / "plans" / f"{name}.yaml").write_text(PLAN)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def renamed(folder):
    (folder / "parts.py").write_text(PARTS.replace("test_size", "test_split"))


def test_a_module_that_is_named_has_the_configs_judged_that_it_reads(cfgfix, plans):
    assert cfgfix("check", "--force-exclude", "parts.py", cwd=plans).code == 0
    renamed(plans)
    for named in ("parts.py", "trainer.py"):
        result = cfgfix("check", "--force-exclude", "--output-format", "concise", named, cwd=plans)
        assert result.code == 1
        assert (
            "plans/a.yaml:4:1: warning REF005 dead-key: nothing reads `test_size`, in this and 2 more configs"
            in result.out
        )


def test_what_another_module_causes_is_not_told(cfgfix, plans):
    (plans / "trainer.py").write_text(TRAINER.replace('plan["rounds"]', 'plan["round"]'))
    assert "round" in cfgfix("check", "trainer.py", cwd=plans).out
    assert cfgfix("check", "parts.py", cwd=plans).code == 0


def test_a_module_that_reads_no_config_judges_none(cfgfix, plans):
    renamed(plans)
    (plans / "other.py").write_text("import tensorflow as tf\nprint(tf.constant(1))\n")
    out = cfgfix("check", "other.py", cwd=plans).out
    assert "no findings in 1 Python file" in out
    assert "config" not in out


def test_what_lies_in_a_config_by_itself_is_no_matter_of_the_module(cfgfix, plans):
    (plans / "plans" / "a.yaml").write_text(PLAN.replace("0.1", "0.1\npace: 0.2"))
    assert "REF" not in cfgfix("check", "trainer.py", cwd=plans).out
    assert "YML" not in cfgfix("check", "trainer.py", cwd=plans).out


def test_configs_that_are_not_named_are_not_written(cfgfix, plans):
    (plans / "plans" / "a.yaml").write_text(PLAN.replace("rounds", "ruonds"))
    before = (plans / "plans" / "a.yaml").read_bytes()
    result = cfgfix("fix", "--unsafe-fixes", "trainer.py", cwd=plans)
    assert result.code == 1
    assert "ruonds" in result.out
    assert (plans / "plans" / "a.yaml").read_bytes() == before


def test_a_comment_in_the_config_silences_what_the_module_causes(cfgfix, plans):
    renamed(plans)
    for name in ("a", "b", "c"):
        (plans / "plans" / f"{name}.yaml").write_text(
            PLAN.rstrip() + "  # cfgfix: ignore[REF005] kept for later\n"
        )
    assert cfgfix("check", "parts.py", cwd=plans).code == 0


def test_since_tells_what_the_change_made_true_and_why(cfgfix, plans):
    (plans / "plans" / "a.yaml").write_text(PLAN + "old: 1\n")
    git(plans, "commit", "-qam", "a key that is dead already")
    renamed(plans)
    result = cfgfix("check", "--since", "HEAD", cwd=plans)
    assert result.code == 1
    assert "nothing reads `test_size`, in this and 2 more configs" in result.out
    assert "since HEAD: parts.py:5 reads `test_split` where it read `test_size`" in result.out
    assert "`old`" not in result.out
    assert "1 finding held at HEAD already" in result.out
    git(plans, "commit", "-qam", "renamed")
    assert cfgfix("check", "--since", "HEAD", cwd=plans).code == 0
    assert "test_size" in cfgfix("check", "--since", "HEAD~1", cwd=plans).out


def test_since_from_a_folder_below_and_for_one_file(cfgfix, plans):
    renamed(plans)
    out = cfgfix("check", "--since", "HEAD", "b.yaml", cwd=plans / "plans").out
    assert "b.yaml:4" in out
    assert "parts.py:5 reads `test_split`" in out


def test_since_sees_code_that_went_wrong(cfgfix, plans):
    (plans / "trainer.py").write_text(TRAINER + "\noptimizer = tf.keras.optimizers.Adam(lr=0.1)\n")
    out = cfgfix("check", "--since", "HEAD", cwd=plans).out
    assert "trainer.py" in out
    assert "1 finding" not in cfgfix("check", "--since", "HEAD", "--output-format", "json", cwd=plans).err


def test_a_file_that_is_new_is_told_whole(cfgfix, plans):
    (plans / "plans" / "d.yaml").write_text(PLAN + "new: 1\n")
    out = cfgfix("check", "--since", "HEAD", "plans/d.yaml", cwd=plans).out
    assert "`new`" in out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--since", "nowhere"), "git knows no revision 'nowhere'"),
        (("--since", "--output=x"), "git knows no revision"),
        (("--since", ""), "names no revision"),
        (("--since", "HEAD", "--fix"), "without fixing"),
        (("--since", "HEAD", "--baseline", "x"), "takes the place of a baseline"),
        (("--since", "HEAD", "/"), "outside of the repository"),
    ],
)
def test_what_since_refuses(cfgfix, plans, arguments, told):
    result = cfgfix("check", *arguments, cwd=plans)
    assert result.code == 2
    assert told in result.err
    assert len(result.err.strip().splitlines()) == 1


def test_a_folder_without_a_repository(cfgfix, tmp_path):
    (tmp_path / "a.yaml").write_text(PLAN)
    result = cfgfix("check", "--since", "HEAD", cwd=tmp_path)
    assert result.code == 2
    assert "no git repository" in result.err


def test_nothing_of_a_hostile_repository_runs(cfgfix, plans, tmp_path):
    canary = tmp_path / "canary"
    script = tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {canary}\ncat\n")
    script.chmod(0o755)
    (plans / ".gitattributes").write_text("*.py filter=evil\n*.yaml filter=evil diff=evil\n")
    for name in ("cfgfix", "json"):
        (plans / name).mkdir()
        (plans / name / "__init__.py").write_text(f"open({str(canary)!r}, 'w')\n")
    (plans / "sitecustomize.py").write_text(f"open({str(canary)!r}, 'w')\n")
    git(plans, "add", "-A")
    git(plans, "commit", "-q", "-m", "second")
    # In the working folder they would be imported by this test's way of starting cfgfix.
    for name in ("cfgfix", "json"):
        shutil.rmtree(plans / name)
    (plans / "sitecustomize.py").unlink()
    for key, value in {
        "filter.evil.smudge": str(script),
        "filter.evil.clean": str(script),
        "diff.evil.textconv": str(script),
        "core.fsmonitor": str(script),
        "core.pager": str(script),
        "core.hooksPath": str(tmp_path),
        "core.sshCommand": str(script),
        "remote.origin.url": f"ext::{script}",
        "remote.origin.promisor": "true",
        "remote.origin.uploadpack": str(script),
        "protocol.ext.allow": "always",
        "extensions.partialClone": "origin",
        "alias.ls-tree": f"!{script}",
    }.items():
        git(plans, "config", key, value)
    for name in ("post-checkout", "post-index-change", "reference-transaction"):
        hook = plans / ".git" / "hooks" / name
        hook.write_text(script.read_text())
        hook.chmod(0o755)
    # One object is missing: nothing may be fetched for it.
    lost = subprocess.run(
        ["git", "-c", "core.fsmonitor=false", "rev-parse", "HEAD:parts.py"],
        cwd=plans,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    canary.unlink(missing_ok=True)
    (plans / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    before = sorted(path.name for path in plans.rglob("*"))
    result = cfgfix("check", "--since", "HEAD", "plans", "trainer.py", cwd=plans)
    assert result.code in (0, 1), result.err
    assert not canary.exists()
    assert sorted(path.name for path in plans.rglob("*")) == before


def test_one_cause_is_one_finding_that_names_the_files(cfgfix, plans):
    renamed(plans)
    answer = json.loads(cfgfix("check", "--output-format", "json", cwd=plans).out)
    found = [(item["path"], finding) for item in answer["files"] for finding in item["findings"]]
    assert [path for path, _ in found] == ["plans/a.yaml"]
    assert {place["path"] for place in found[0][1]["related"]} == {"plans/b.yaml", "plans/c.yaml"}
    text = cfgfix("check", cwd=plans).out
    assert "the same in plans/b.yaml:4, plans/c.yaml:4" in text


def test_a_baseline_knows_each_of_the_files(cfgfix, plans):
    renamed(plans)
    assert cfgfix("check", "--write-baseline", "known.json", cwd=plans).code == 0
    (plans / "plans" / "a.yaml").unlink()
    assert cfgfix("check", "--baseline", "known.json", "plans", cwd=plans).code == 0


def test_what_can_be_repaired_is_told_in_each_file(cfgfix, plans):
    for name in ("a", "b"):
        (plans / "plans" / f"{name}.yaml").write_text(PLAN.replace("rounds", "ruonds"))
    out = cfgfix("check", "--output-format", "concise", cwd=plans).out
    assert "plans/a.yaml:3" in out
    assert "plans/b.yaml:3" in out
