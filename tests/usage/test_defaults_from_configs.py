"""Configs that become an option's default, a named tuple or a printed figure: taken for what they are."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

DEFAULTS = """\
import argparse

import tensorflow as tf
import yaml


def size(text):
    return int(text)


parser = argparse.ArgumentParser()
parser.add_argument("--learning-rate", type=float, default=0.1)
parser.add_argument("--batch", type=size, default=8)
parser.add_argument("--passes", type=int, default=1)
with open("run.yml") as stream:
    parser.set_defaults(**{name.replace("-", "_"): value for name, value in yaml.safe_load(stream).items()})
args = parser.parse_args()
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(tf.keras.optimizers.Adam(args.learning_rate), "mse")
model.fit(tf.zeros([4, 1]), tf.zeros([4, 1]), batch_size=args.batch, epochs=args.passes)
"""
TUPLE = """\
from typing import NamedTuple

import tensorflow as tf
import yaml


class Plan(NamedTuple):
    rate: float = 0.1
    passes: int = 1
    name: str = "plain"


with open("run.yml") as stream:
    plan = Plan(**yaml.safe_load(stream)["plan"])
plan = plan._replace(passes=plan.passes * 2)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(tf.keras.optimizers.Adam(plan.rate), "mse")
print("running", plan.name)
log = model.fit(tf.zeros([4, 1]), tf.zeros([4, 1]), epochs=plan.passes)
"""
PRINTS = """\
import tensorflow as tf
import yaml

with open("run.yml") as stream:
    run = yaml.safe_load(stream)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(tf.keras.optimizers.Adam(run["rate"]), "mse")
log = model.fit(tf.zeros([4, 1]), tf.zeros([4, 1]), epochs=run["passes"])
print(f"{run['robot']}: batch {run['batch']}", round(log.history["loss"][-1], run["digits"]))
"""


def told(folder: Path, program: str, config: str, *more: tuple[str, str]) -> set[tuple[str, str, str]]:
    (folder / "train.py").write_text(program)
    (folder / "run.yml").write_text(config)
    for name, text in more:
        (folder / name).write_text(text)
    command = [sys.executable, "-m", "cfgfix", "check", ".", "--output-format", "json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return {
        (finding["rule"], finding["key"], finding["severity"])
        for file in json.loads(done.stdout)["files"]
        for finding in file["findings"]
        if finding["severity"] != "info"
    }


def test_a_default_is_converted_like_an_argument(tmp_path: Path) -> None:
    assert told(tmp_path, DEFAULTS, "learning-rate: 1e-3\nbatch: '16'\npasses: '3'\n") == set()


def test_a_command_that_gives_the_option_leaves_the_default_alive(tmp_path: Path) -> None:
    script = ("smoke.sh", "python train.py --learning-rate 0.5 --passes 1\n")
    assert told(tmp_path, DEFAULTS, "learning-rate: 1e-3\nbatch: 16\npasses: 3\n", script) == set()


def test_a_key_that_is_no_option_is_told(tmp_path: Path) -> None:
    found = told(tmp_path, DEFAULTS, "learning-rate: 0.001\nbatch: 16\npasses: 3\nmomentun: 0.9\n")
    assert {key for _, key, _ in found} == {"momentun"}


def test_a_named_tuple_with_other_fields_keeps_the_rest(tmp_path: Path) -> None:
    assert told(tmp_path, TUPLE, "plan: {rate: 0.01, passes: 2, name: first}\n") == set()


def test_what_a_named_tuple_hands_on_is_still_judged(tmp_path: Path) -> None:
    found = told(tmp_path, TUPLE, "plan: {rate: fast, passes: 2}\n")
    assert [(rule, key) for rule, key, _ in found] == [("REF018", "plan.rate")]


@pytest.mark.parametrize(("key", "line"), [("batch", "batch: 8\n"), (None, "")])
def test_only_what_is_printed_as_it_is_counts_as_logged(tmp_path: Path, key: str | None, line: str) -> None:
    program = PRINTS if key else PRINTS.replace(": batch {run['batch']}", "")
    found = told(tmp_path, program, f"rate: 0.1\npasses: 2\nrobot: r2\ndigits: 3\n{line}")
    assert {item for _, item, _ in found} <= {key, "robot"}
    assert "digits" not in {item for _, item, _ in found}


@pytest.mark.parametrize(
    "opened",
    [
        'io.open("run.yml")',
        'codecs.open("run.yml", encoding="utf-8")',
        'tf.io.gfile.GFile("run.yml")',
        'tf.io.gfile.GFile(name="run.yml")',
    ],
)
def test_other_functions_that_open_a_file(tmp_path: Path, opened: str) -> None:
    program = f"""\
import codecs
import io

import tensorflow as tf
import yaml

with {opened} as stream:
    run = yaml.safe_load(stream)
tf.keras.layers.Dropout(run["rate"])
"""
    assert told(tmp_path, program, "rate: 1.5\n") == {("REF018", "rate", "error")}


CHOSEN = """\
import os
import sys

import tensorflow as tf
import yaml


def main(name="small", passes=1):
    with open(os.path.join(os.path.dirname(__file__), "plans", name + ".yml")) as stream:
        plan = yaml.safe_load(stream)
    tf.keras.layers.Dropout(plan["rate"])


if __name__ == "__main__":
    main({given})
"""


@pytest.mark.parametrize(
    ("given", "judged"), [("*sys.argv[1:]", {"small.yml", "large.yml"}), ("", {"small.yml"})]
)
def test_what_the_command_line_may_give_in_place_of_a_default(
    tmp_path: Path, given: str, judged: set[str]
) -> None:
    (tmp_path / "plans").mkdir()
    (tmp_path / "train.py").write_text(CHOSEN.replace("{given}", given))
    for name in ("small", "large"):
        (tmp_path / "plans" / f"{name}.yml").write_text("rate: 1.5\n")
    command = [sys.executable, "-m", "cfgfix", "check", ".", "--output-format", "json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    files = json.loads(done.stdout)["files"]
    told = {
        Path(file["path"]).name
        for file in files
        for finding in file["findings"]
        if finding["rule"] == "REF018"
    }
    same = {
        Path(item["path"]).name
        for file in files
        for finding in file["findings"]
        for item in finding["related"]
        if item["label"] == "the same"
    }
    assert told | same == judged


COMPOSED = """\
import os

import tensorflow as tf
from hydra import compose, initialize, initialize_config_dir
from hydra.utils import instantiate

with {begins}:
    cfg = compose(config_name="run")
layer = instantiate(cfg.layer)
tf.keras.layers.Dropout(cfg.drop.rate)
"""


@pytest.mark.parametrize(
    "begins",
    [
        'initialize(config_path="conf", version_base=None)',
        'initialize_config_dir(os.path.join(os.path.abspath(os.path.dirname(__file__)), "conf"))',
    ],
)
def test_configs_that_hydra_composes_without_its_decorator(tmp_path: Path, begins: str) -> None:
    (tmp_path / "conf" / "layer").mkdir(parents=True)
    (tmp_path / "conf" / "run.yaml").write_text(
        "defaults: [{layer: dense}, _self_]\ndrop: {rate: 1.5}\nleft: 1\n"
    )
    (tmp_path / "conf" / "layer" / "dense.yaml").write_text(
        "_target_: tensorflow.keras.layers.Dense\nunit: 4\n"
    )
    found = told(tmp_path, COMPOSED.format(begins=begins), "")
    assert {(rule, key) for rule, key, _ in found} == {
        ("REF018", "drop.rate"),
        ("REF016", "unit"),
        ("REF005", "left"),
    }


GROUPS = {
    "click": (
        "import click\n",
        "@click.group()\ndef app():\n    pass\n\n",
        '@app.command()\n@click.option("--plan", default="run.yml")\n',
    ),
    "typer": ("import typer\n", "app = typer.Typer()\n\n", "@app.command()\n"),
}


@pytest.mark.parametrize(("imports", "makes", "adds"), GROUPS.values(), ids=GROUPS)
def test_commands_of_a_group_are_programs(tmp_path: Path, imports: str, makes: str, adds: str) -> None:
    program = (
        f"import tensorflow as tf\nimport yaml\n{imports}\n{makes}{adds}"
        'def train(plan: str = "run.yml"):\n    cfg = yaml.safe_load(open(plan))\n'
        '    tf.keras.layers.Dropout(cfg["rate"])\n\n\nif __name__ == "__main__":\n    app()\n'
    )
    found = told(tmp_path, program, "rate: 1.5\nrat: 2\n")
    assert found == {("REF018", "rate", "error"), ("REF005", "rat", "warning")}
