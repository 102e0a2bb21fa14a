"""Commands of programs with flags of absl or options of click: what those do not take."""

from pathlib import Path

import pytest
from test_options import told

FLAGS = """\
from absl import app, flags
import tensorflow as tf

flags.DEFINE_integer("units", 4, "")
flags.DEFINE_float("rate", 0.1, "")
flags.DEFINE_boolean("jit", False, "")

def main(_):
    tf.keras.layers.Dense(flags.FLAGS.units)
    tf.keras.optimizers.SGD(flags.FLAGS.rate, jit_compile=flags.FLAGS.jit)

app.run(main)
"""
CLICK = """\
import click
import tensorflow as tf

@click.command()
@click.option("--units", default=4)
@click.option("--rate", type=float, default=0.1)
@click.option("--fold/--no-fold", default=True)
@click.option("--patience", default=3)
def main(units, rate, fold, patience):
    tf.keras.layers.Dense(units)
    tf.keras.optimizers.SGD(rate if fold else 0.1)

main()
"""


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("--unit=3", 4),
        ("--wheels 3", 4),
        ("--rate=0.1 --units 2.5", 4),
        ("--norate", None),
        ("--nojit --units=3 -rate 0.2 --alsologtostderr", None),
        ("--undefok=wheels --wheels=3", None),
        ("--units=$UNITS --jit=false -- --wheels", None),
        ("--flagfile=night.flags", 4),
    ],
)
def test_flags_that_a_command_gives(tmp_path: Path, command: str, line: int | None) -> None:
    files = {"go__sh": f"python train.py {command}\n", "night__flags": "# night\n--units=3\n--wheels=4\n"}
    found = told(tmp_path, FLAGS, **files)
    assert found == ([("wrong-command", line)] if line is not None else [])


def test_another_package_may_declare_a_flag(tmp_path: Path) -> None:
    code = FLAGS.replace("import tensorflow", "import model_garden\nimport tensorflow")
    found = told(tmp_path, code, go__sh="python train.py --wheels=3\npython train.py --unitz=3\n")
    assert found == [("wrong-command", 5)]


def test_options_of_click(tmp_path: Path) -> None:
    found = told(tmp_path, CLICK, go__sh="python train.py --unit 3\npython train.py --rate fast --no-fold\n")
    # Click takes no shortened names.
    assert found == [("dead-option", 8), ("wrong-command", 6), ("wrong-command", 13)]


@pytest.mark.parametrize(
    "change",
    [
        ("@click.command()", "@click.command(context_settings={'ignore_unknown_options': True})"),
        ("@click.command()", "@click.group()\ndef all():\n    pass\n\n@all.command()"),
    ],
)
def test_click_that_takes_more_is_left_alone(tmp_path: Path, change: tuple[str, str]) -> None:
    code = CLICK.replace(*change).replace("\nmain()", "\nall()" if "group" in change[1] else "\nmain()")
    found = told(tmp_path, code, go__sh="python train.py --wheels 3\n")
    assert not any(check == "wrong-command" for check, _ in found)


def test_an_option_with_a_callback_is_read_by_it(tmp_path: Path) -> None:
    code = CLICK.replace(
        '"--patience", default=3', '"--patience", default=3, callback=lambda c, p, v: print(v)'
    )
    assert told(tmp_path, code) == []


BOOLS = """\
import argparse
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--bias", type=bool, default=True)
parser.add_argument("--units", type=int, default=4)
args = parser.parse_args()
tf.keras.layers.Dense(args.units, use_bias=args.bias)
"""


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        ("--bias False", [5]),
        ("--bias=0", [5]),
        ("--bias True", []),
        ("--bias $BIAS", []),
        ("--uni five", [6]),
        ("--uni 5", []),
    ],
)
def test_a_text_that_bool_takes_for_true(tmp_path: Path, command: str, lines: list[int]) -> None:
    found = told(tmp_path, BOOLS, go__sh=f"python train.py {command}\n")
    assert [line for check, line in found if check == "wrong-command"] == lines


MLFLOW = """\
name: hay
entry_points:
  main:
    parameters:
      bias: {type: string, default: '%s'}
      units: {type: int, default: %s}
      width: int
    command: |
      python train.py \\
        --bias {bias} \\
        --units {units} --units {width}
"""


@pytest.mark.parametrize(
    ("bias", "units", "lines"), [("False", 3, [5]), ("True", "many", [6]), ("True", 3, []), ("yes no", 3, [])]
)
def test_defaults_of_the_parameters_of_mlflow(
    tmp_path: Path, bias: str, units: object, lines: list[int]
) -> None:
    found = told(tmp_path, BOOLS, MLproject=MLFLOW % (bias, units))
    assert [line for check, line in found if check == "wrong-command"] == lines
