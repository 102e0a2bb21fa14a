"""How much a check does, counted and not timed: modules imported, files opened, texts parsed.

A bound is a little above what is done today. One that is passed is looked at, not raised: a start-up import costs every
user on every commit.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
CLEAN = "training:\n  learning_rate: 1.0e-4\ndata:\n  batch_size: 8\n  num_workers: 4\n"
PROBE = """
import json, sys
opened = []

def watch(event, arguments):
    if event == "open" and isinstance(arguments[0], str):
        opened.append(arguments[0])

before = set(sys.modules)
sys.addaudithook(watch)
from cfgfix.cli import replay

code = replay.print_kept_answer(sys.argv[1:])
parsed = []
if code is None:
    from cfgfix.cli.start import run
    from cfgfix.config.document import compose

    real = compose._event_parser

    def counted(text):
        parsed.append(len(text))
        return real(text)

    compose._event_parser = counted
    code = run(sys.argv[1:])
print("\\n" + json.dumps({
    "code": code, "modules": sorted(set(sys.modules) - before), "opened": opened, "parsed": len(parsed),
}), file=sys.stderr)
"""


@pytest.fixture
def work(tmp_path):
    """Run the command line twice, so that what is compiled once is there, and return what the second run did."""
    (tmp_path / "probe.py").write_text(PROBE)
    folder = tmp_path / "here"
    folder.mkdir()

    def run(*arguments, rounds=2, unchanged=False):
        kept = {key: value for key, value in os.environ.items() if not key.startswith("CFGFIX_")}
        for _ in range(rounds):
            if not unchanged:
                # Else the second run would only repeat the answer of the first.
                for path in folder.iterdir():
                    os.utime(path)
            done = subprocess.run(
                [sys.executable, str(tmp_path / "probe.py"), *arguments],
                cwd=folder,
                env={**kept, "PYTHONPATH": str(ROOT), "CFGFIX_CACHE_DIR": str(tmp_path / "cache")},
                capture_output=True,
                text=True,
                check=True,
                timeout=300,
            )
        return json.loads(done.stderr.splitlines()[-1])

    run.folder = folder
    return run


def content(opened, name):
    return [path for path in opened if path.endswith(name)]


def test_a_check_of_one_config(work):
    (work.folder / "config.yaml").write_text(CLEAN)
    done = work("check", "config.yaml", "--hardware", "rtx4090,cpus=8,ram=32")
    own = [name for name in done["modules"] if name.split(".")[0] == "cfgfix"]
    # A fifth of them look for code beside the config, which decides by default what a config is; each has one job.
    assert len(own) <= 130, own
    assert len(done["modules"]) <= 195, done["modules"]
    heavy = {"click", "jsonschema", "libcst", "ruamel", "psutil", "pynvml", "logging", "subprocess", "json", "tensorflow", "importlib.metadata", "hashlib", "pathlib", "inspect", "dataclasses"}  # fmt: skip
    assert not heavy & {name for whole in done["modules"] for name in (whole, whole.split(".")[0])}
    # Read once, parsed once; no rule file and no schema is parsed again.
    assert len(content(done["opened"], "config.yaml")) == 1
    assert done["parsed"] <= 1
    parsed_again = [
        path
        for path in done["opened"]
        if ("/rules/" in path and "/cfgfix/rules/" not in path) or "/schemas/" in path
    ]
    assert not parsed_again


def test_an_unchanged_check(work):
    path = work.folder / "config.yaml"
    path.write_text(CLEAN)
    os.utime(path, ns=(10**18, 10**18))
    os.utime(work.folder, ns=(10**18, 10**18))
    done = work("check", "config.yaml", "--hardware", "rtx4090,cpus=8,ram=32", unchanged=True)
    if "cfgfix.lint.runner" in done["modules"]:
        pytest.skip("not on this platform: files here are too new for an answer to be kept")
    assert len(done["modules"]) <= 12, done["modules"]
    assert not content(done["opened"], "config.yaml")


def test_a_check_of_many_configs_does_for_each_what_it_does_for_one(work):
    for number in range(40):
        (work.folder / f"c{number:02}.yaml").write_text(CLEAN)
    done = work("check", ".", "--hardware", "rtx4090,cpus=8,ram=32")
    configs = [path for path in done["opened"] if path.endswith(".yaml")]
    assert len(configs) == 40
    assert done["parsed"] <= 40
    # The flow of a program, the summary of a module and the checkers are several modules, each with one job.
    assert len(done["modules"]) <= 226, done["modules"]


def test_a_fix_wakes_no_more_than_its_proof_needs(work):
    path = work.folder / "config.yaml"
    path.write_text(CLEAN.replace("1.0e-4", "1e-4"))
    work("check", "config.yaml")
    done = work("fix", "config.yaml", rounds=1)
    assert path.read_text() == CLEAN
    assert not {"jsonschema", "libcst", "click", "tensorflow"} & {
        name.split(".")[0] for name in done["modules"]
    }
    # The file, and the result after each of its rounds.
    assert done["parsed"] <= 12


def test_an_invalid_config_does_not_wake_jsonschema(work):
    text = "model:\n  text_encoder_dim: 256\n  tex_encoder_layers: x\ndata:\n  batch_size: much\n"
    (work.folder / "config.yaml").write_text(text)
    arguments = ("check", "config.yaml", "--dialect", "myxtts", "--hardware", "none")
    done = work(*arguments)
    assert done["code"] == 1
    assert "cfgfix.config.schema.explain" in done["modules"]
    assert not {"jsonschema", "referencing", "attrs"} & {name.split(".")[0] for name in done["modules"]}


LEFT = """
import gc, json, sys
from cfgfix.lint import runner as engine
from cfgfix.config.document.compose import Document
from cfgfix.settings.reader import Settings

alive = []

def look(done, _total):
    if done % 10 == 0:
        alive.append(sum(isinstance(each, Document) for each in gc.get_objects()))

request = engine.Request(paths=tuple(sys.argv[1:]), settings=Settings(hardware="rtx4090,cpus=8,ram=32"), progress=look)
engine.check(request)
gc.collect()
gc.disable()
engine.COLLECT_EVERY = 10**9
alive.clear()
report = engine.check(request)
print(json.dumps({"garbage": gc.collect(), "alive": max(alive), "findings": len(report.findings())}))
"""


def test_a_check_leaves_no_garbage_and_keeps_no_document(tmp_path):
    texts = [
        "a: &a {b: yes}\nc: *a\ntraining:\n  learning_rate: 1e-4\n  epochs: 10.0\n",
        CLEAN,
        CLEAN + "  cache: yes\n",
    ]
    paths = []
    for number in range(40):
        path = tmp_path / f"c{number:02}.yaml"
        path.write_text(texts[number % len(texts)])
        paths.append(str(path))
    done = subprocess.run(
        [sys.executable, "-c", LEFT, *paths],
        env={**os.environ, "PYTHONPATH": str(ROOT), "CFGFIX_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    left = json.loads(done.stdout)
    assert left["findings"] > 20
    assert left["alive"] <= 2
    assert left["garbage"] == 0
