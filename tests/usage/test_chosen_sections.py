"""Sections of a config that an option or a variable of the environment takes: each that is written is tried."""

from pathlib import Path

import pytest
from test_followed_idioms import HEAD, told

MILL = """
wheels:
  small: {spokes: 4, turn: relu}
  large: {spokes: 64, turn: swich, spoke: 3}
  {more}
rate: 0.1
"""
TAKES = {
    "an option with a default": """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--wheel", default="small")
wheel = mill["wheels"][parser.parse_args().wheel]
""",
    "a positional argument": """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("wheel")
wheel = mill["wheels"][parser.parse_args().wheel]
""",
    "a variable of the environment": """
import os
wheel = mill["wheels"][os.environ.get("WHEEL", "small")]
""",
    "a variable without a default": """
import os
wheel = mill["wheels"][os.environ["WHEEL"]]
""",
    "get": """
import os
wheel = mill["wheels"].get(os.getenv("WHEEL", "small"))
""",
    "an option of click": """
import click

@click.command()
@click.option("--wheel", default="small")
def main(wheel):
    build(mill["wheels"][wheel])
""",
    "a flag of absl": """
from absl import app, flags
flags.DEFINE_string("wheel", "small", "")

def main(_):
    build(mill["wheels"][flags.FLAGS.wheel])
""",
}
BUILD = """
def build(wheel):
    tf.keras.layers.Dense(wheel["spokes"], activation=wheel["turn"])
    tf.keras.optimizers.SGD(mill["rate"])
"""


def program(how: str) -> str:
    start = {"an option of click": "main()\n", "a flag of absl": "app.run(main)\n"}.get(how, "build(wheel)\n")
    return HEAD + "mill = yaml.safe_load(open('mill.yaml'))\n" + BUILD + TAKES[how] + start


@pytest.mark.parametrize("how", list(TAKES))
def test_each_section_is_judged(tmp_path: Path, how: str) -> None:
    found = told(tmp_path, {"train.py": program(how), "mill.yaml": MILL.replace("{more}", "")})
    assert sorted(found["mill.yaml"]) == [
        ("dead-key", "wheels.large.spoke"),
        ("unknown-word", "wheels.large.turn"),
    ]


def test_what_one_lacks_is_told_with_the_option(tmp_path: Path) -> None:
    files = {
        "train.py": program("an option with a default"),
        "mill.yaml": MILL.replace("{more}", "tiny: {spokes: 2}").replace("swich, spoke: 3", "selu"),
    }
    found = told(tmp_path, files)
    assert found["mill.yaml"] == [("missing-key", "wheels.tiny.turn")]


def test_sections_of_other_kinds_are_not_tried(tmp_path: Path) -> None:
    body = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--show", default="wheel")
print(mill[parser.parse_args().show])
shown = mill[parser.parse_args().show]["spokes"]
tf.keras.layers.Dense(mill["wheel"]["spokes"] + shown)
tf.keras.optimizers.SGD(mill["flow"]["rate"])
"""
    found = told(
        tmp_path,
        {
            "train.py": HEAD + "mill = yaml.safe_load(open('mill.yaml'))\n" + body,
            "mill.yaml": "wheel: {spokes: 4}\nflow: {rate: 0.1}\nnames: [a, b]\n",
        },
    )
    assert found["mill.yaml"] == []


def test_choices_of_an_option_are_all_that_is_tried(tmp_path: Path) -> None:
    body = program("an option with a default").replace(
        'default="small"', 'default="small", choices=["small", "wide"]'
    )
    more = "wide: {spokes: 9, turn: tanhh}"
    found = told(tmp_path, {"train.py": body, "mill.yaml": MILL.replace("{more}", more)})
    assert ("unknown-word", "wheels.wide.turn") in found["mill.yaml"]
    assert ("unknown-word", "wheels.large.turn") not in found["mill.yaml"]
