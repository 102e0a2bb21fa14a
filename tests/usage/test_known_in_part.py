"""Configs that are one of two values, and ways that no word in the code leads to."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_followed_idioms import HEAD, told

from cfgfix.code.inference.given_texts import texts_given
from cfgfix.usage.project_code import ProjectCode

AGAIN = """
import argparse, copy, json, pickle
from collections import namedtuple

parser = argparse.ArgumentParser()
parser.add_argument("--plan", default="plans/oven.json")
parser.add_argument("--resume", default="")
parser.add_argument("--heat", type=float)
args = parser.parse_args()


def read(path):
    with open(path) as stream:
        return json.load(stream)


def laid_over(plan, given):
    for name in plan:
        if hasattr(given, name) and eval("given.{}".format(name)) is not None:
            plan[name] = eval("given.{}".format(name))
    return plan


def as_tuple(value):
    if isinstance(value, dict):
        for name, inner in value.items():
            value[name] = as_tuple(inner)
        return namedtuple("Plan", value.keys())(**value)
    if isinstance(value, list):
        return [as_tuple(inner) for inner in value]
    return value


if args.resume != "":
    with open(args.resume + "/plan.pkl", "rb") as stream:
        plan = pickle.load(stream)
else:
    plan = laid_over(read(args.plan), args)
kept = copy.deepcopy(plan)
with open("kept.json", "w") as stream:
    json.dump(kept, stream)
plan = as_tuple(plan)


class Net(tf.keras.Model):
    def __init__(self, plan):
        super().__init__()
        self.plan = plan
        self.trays = plan.trays
        self.inner = tf.keras.layers.Dense(plan.trays)


net = Net(plan)
tf.train.Checkpoint(model=net)
tf.keras.optimizers.SGD(plan.heat)
"""


def test_what_is_known_of_one_of_two_values_is_told(tmp_path: Path) -> None:
    """A checkpoint, of which nothing is known, has the settings where a run goes on; their file has them where it begins."""
    files = {
        "bake.py": HEAD + AGAIN,
        "plans/oven.json": '{"trays": 3, "heat": 0.1, "salt": 2, "yeast": 5}',
    }
    assert told(tmp_path, files) == {"plans/oven.json": [("dead-key", "salt"), ("dead-key", "yeast")]}


def test_a_sibling_of_a_default_that_is_loaded_elsewhere_too(tmp_path: Path) -> None:
    first = "import json\nsalt = json.load(open('plans/oven.json'))['salt']\ntf.random.set_seed(salt)\n"
    files = {
        "bake.py": HEAD + first + AGAIN,
        "plans/oven.json": '{"trays": 3, "heat": 0.1, "salt": 2}',
        "plans/stove.json": '{"trays": 4, "heat": 0.2, "salt": 7}',
    }
    found = told(tmp_path, files)
    assert found == {"plans/oven.json": [], "plans/stove.json": [("dead-key", "salt")]}


GUARDED = """
class Kiln:
    def __init__(self, plan, mode{default}):
        self.plan = plan
        self.mode = mode

    def fire(self):
        tf.keras.optimizers.SGD(self.plan["heat"])
        if {condition}:
            tf.keras.layers.Dense(self.plan["shelves"])


kiln = yaml.safe_load(open("kiln.yaml"))
Kiln(kiln, {given}).fire()
"""
NEVER = {
    "a word that is none of it": ('"val" in self.mode', "", '"train"'),
    "another word": ('self.mode == "val"', "", 'mode="train"'),
    "none of a list": ('self.mode in ("val", "test")', ', mode="train"', ""),
    "beside what is not known": ('tf.random.uniform(()) > 0.5 and "val" in self.mode', "", '"train"'),
}
PERHAPS = {
    "a word of a list": ('self.mode in ("val", "test")', "", '"test"'),
    "what an option gives": ('self.mode == "val"', "", "__import__('sys').argv[1]"),
    "what a variable holds": ('self.mode == "val"', "", "input()"),
}


def guarded(condition: str, default: str, given: str) -> str:
    default = default.replace(", mode=", "=")
    return HEAD + GUARDED.format(condition=condition, default=default, given=given).replace(
        "(kiln, )", "(kiln)"
    )


@pytest.mark.parametrize("way", NEVER.values(), ids=list(NEVER))
def test_a_value_behind_a_word_that_nothing_gives(tmp_path: Path, way: tuple[str, str, str]) -> None:
    found = told(tmp_path, {"fire.py": guarded(*way), "kiln.yaml": "heat: 0.1\nshelves: 3\n"})
    assert found == {"kiln.yaml": [("dead-key", "shelves")]}


@pytest.mark.parametrize("way", PERHAPS.values(), ids=list(PERHAPS))
def test_a_value_behind_a_word_that_something_may_give(tmp_path: Path, way: tuple[str, str, str]) -> None:
    found = told(tmp_path, {"fire.py": guarded(*way), "kiln.yaml": "heat: 0.1\nshelves: 3\n"})
    assert found == {"kiln.yaml": []}


def test_a_word_that_other_code_gives(tmp_path: Path) -> None:
    """Where it is not run either: somebody may run it."""
    files = {
        "fire.py": guarded('self.mode == "val"', "", '"train"'),
        "judge.py": "def judged(Kiln, plan):\n    return Kiln(plan, 'val')\n",
        "kiln.yaml": "heat: 0.1\nshelves: 3\n",
    }
    assert told(tmp_path, files) == {"kiln.yaml": []}


GIVEN = {
    "a default and a call": ("def fire(mode='top'):\n    pass\n\n\nfire(mode='low')\n", {"top", "low"}),
    "by its place": ("def fire(heat, mode):\n    pass\n\n\nfire(3, 'low')\n", {"low"}),
    "handed on": ("def fire(mode):\n    pass\n\n\ndef go(mode='top'):\n    fire(mode)\n", {"top"}),
    "a loop": ("for mode in read():\n    pass\n", None),
    "a loop over pairs": ("for mode, heat in read():\n    pass\n", None),
    "a comprehension": ("made = [mode for mode, heat in read()]\n", None),
    "an import": ("from kiln import mode\n", None),
    "an option": ("parser.add_argument('--mode', default='top')\n", None),
    "a star": ("def fire(heat, mode):\n    pass\n\n\nfire(*read())\n", None),
    "a number": ("mode = 3\n", None),
}


@pytest.mark.parametrize(("code", "expected"), GIVEN.values(), ids=list(GIVEN))
def test_which_words_code_gives(tmp_path: Path, code: str, expected: set[str] | None) -> None:
    (tmp_path / "fire.py").write_text(code, encoding="utf-8")
    project = ProjectCode(str(tmp_path), lambda _path: False, keep=False)
    with project._program(project._files()) as program:
        assert texts_given(program, "mode") == expected


def test_a_parameter_that_nothing_uses_of_a_config_that_is_written_again(tmp_path: Path) -> None:
    text = """
def fire(heat, pause=3, **others):
    tf.keras.optimizers.SGD(heat)


kiln = yaml.safe_load(open("kiln.yaml"))
fire(**kiln)
kiln["heat"] = 0.2
with open("again.yaml", "w") as stream:
    yaml.dump(kiln, stream)
"""
    found = told(tmp_path, {"fire.py": HEAD + text, "kiln.yaml": "heat: 0.1\npause: 4\n"})
    assert found == {"kiln.yaml": [("logged-key", "pause")]}


def test_what_a_module_lacks_that_is_run_by_itself(tmp_path: Path) -> None:
    """Its few lines try its functions out; what the programs lack that train counts for more."""
    files = {
        "bake.py": HEAD
        + "import oven\nplan = oven.read()\ntf.keras.layers.Dense(plan['trays'])\noven.heat(plan)\n",
        "oven.py": "import yaml\n\n\ndef read():\n    return yaml.safe_load(open('oven.yaml'))\n\n\n"
        "def heat(plan):\n    print(plan['gas'] if 'gas' in plan else 0)\n\n\n"
        "if __name__ == '__main__':\n    print(read()['gas'])\n",
        "oven.yaml": "trays: 3\n",
    }
    assert told(tmp_path, files) == {"oven.yaml": []}
    files["prepare.py"] = "from oven import read\nprint(read()['gas'])\n"
    assert told(tmp_path, files) == {"oven.yaml": [("missing-key", "gas")]}


def test_commands_of_a_program_that_is_too_much_to_follow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no less under other words; a command that names a file may open that first."""
    for part in ("statements", "expressions"):
        monkeypatch.setattr(f"cfgfix.code.inference.interpreter.{part}.MAX_STEPS", 60)
    files = {
        "bake.py": f"import sys\n{HEAD}yaml.safe_load(open(input()))\nfor turn in [1, 2, 3, 4, 5, 6, 7, 8, 9]:\n    print(turn, turn + 1, turn * 2, turn - 3)\n"
        "plan = yaml.safe_load(open(sys.argv[1]))\ntf.keras.layers.Dense(plan['trays'])\n",
        "small.yaml": "trays: 3\n",
        "run.sh": "".join(f"python bake.py {word}\n" for word in ("slow", "fast", "hot", "small.yaml")),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    code = ProjectCode(str(tmp_path), lambda _path: False, keep=False)
    runs = code._run(code._files())
    given = [made.command.arguments for made in runs.made if made.command is not None]
    assert [list(arguments) for arguments in given] == [["slow"], ["small.yaml"]]
    assert all(made.outcome[0] for made in runs.made)
