"""Options of command lines are settings, too: what is told of them, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from cfgfix.usage.project_code import ProjectCode

HEAD = "import argparse\nimport tensorflow as tf\n\nparser = argparse.ArgumentParser()\n"


def told(folder: Path, code: str, **files: str) -> list[tuple[str, int]]:
    """What is told of the options of `train.py`: the check and the line."""
    (folder / "train.py").write_text(code, encoding="utf-8")
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")
    code_of = ProjectCode(str(folder), lambda _path: False, keep=False)
    text = (folder / "train.py").read_text(encoding="utf-8")
    return sorted(
        (check, text.count("\n", 0, hit.at.start) + 1)
        for path, check, hit in code_of.options()
        if path == "train.py"
    )


SILENT = {
    "given to a function by name": (
        "parser.add_argument('--units', type=int, required=True)\n"
        "def build(units):\n    return tf.keras.layers.Dense(units)\nbuild(**vars(parser.parse_args()))\n"
    ),
    "two options of one name": (
        "parser.add_argument('--flip', dest='flip', action='store_true', default=None)\n"
        "parser.add_argument('--no-flip', dest='flip', action='store_false', default=None)\n"
        "args = vars(parser.parse_args())\nfor name in ['flip']:\n    if args[name] is not None:\n        tf.constant(args[name])\n"
    ),
    "a list": (
        "parser.add_argument('--names', nargs='+', default=['a'])\nargs = vars(parser.parse_args())\n"
        "for name in args['names']:\n    tf.constant(name)\n"
    ),
    "looked up by a name that is worked out": (
        "parser.add_argument('--units', type=int, default=3)\nargs = parser.parse_args()\n"
        "for name in open('names.txt').read().split():\n    tf.constant(getattr(args, name))\n"
    ),
    "read by a function that a library calls": (
        "parser.add_argument('--size', type=int, default=3)\nargs = parser.parse_args()\n"
        "def shrink(x):\n    return tf.image.resize(x, (args.size, args.size))\n"
        "tf.data.Dataset.range(3).map(shrink)\n"
    ),
    "of a command that has commands": (
        "sub = parser.add_subparsers(dest='command')\nfit = sub.add_parser('fit')\n"
        "fit.add_argument('--units', type=int, default=3)\nargs = parser.parse_args()\n"
        "if args.command == 'fit':\n    tf.keras.layers.Dense(args.units)\n"
    ),
    "asked for with a way out": (
        "parser.add_argument('--units', type=int, default=3)\nargs = parser.parse_args()\n"
        "tf.constant(getattr(args, 'width', 3))\nif hasattr(args, 'height'):\n    tf.constant(args.height)\n"
        "try:\n    tf.constant(args.depth)\nexcept AttributeError:\n    pass\ntf.constant(args.units)\n"
    ),
    "flags whose names are given by keyword": (
        "from absl import app, flags\nflags.DEFINE_integer(name='units', default=3, help='')\n"
        "RATE = flags.DEFINE_float(name='rate', default=0.1, help='')\nFLAGS = flags.FLAGS\n"
        "def main(_):\n    tf.keras.layers.Dense(FLAGS.units)\n    tf.keras.optimizers.Adam(RATE.value)\napp.run(main)\n"
    ),
    "flags that a loop declares": (
        "from absl import app, flags\nflags.DEFINE_integer('units', 3, '')\n"
        "for name in open('names'):\n    flags.DEFINE_integer(name, 3, '')\nFLAGS = flags.FLAGS\n"
        "def main(_):\n    tf.keras.layers.Dense(FLAGS.units + FLAGS.unit)\napp.run(main)\n"
    ),
    "each of two parsers has an option of its own": (
        "old = argparse.ArgumentParser()\nold.add_argument('--units', type=int, default=3)\n"
        "new = argparse.ArgumentParser()\nnew.add_argument('--width', type=int, default=3)\n"
        "args = (new if tf.executing_eagerly() else old).parse_args()\n"
        "tf.keras.layers.Dense(args.width if tf.executing_eagerly() else args.units)\n"
    ),
    "saved with the run as a whole": (
        "import json\nparser.add_argument('--units', type=int, default=3)\nargs = parser.parse_args()\n"
        "import elsewhere\nelsewhere.start(args)\ntf.constant(1)\n"
    ),
}


@pytest.mark.parametrize("code", SILENT.values(), ids=SILENT)
def test_nothing_is_told(tmp_path: Path, code: str) -> None:
    assert told(tmp_path, HEAD + code) == []


FAULTS = {
    "read under another name": (
        (
            "parser.add_argument('--learning-rate', type=float, default=0.1)\nargs = parser.parse_args()\n"
            "def build(options):\n    return tf.keras.optimizers.Adam(options.learn_rate)\nbuild(args)\n"
        ),
        [("absent-option", 8), ("dead-option", 5)],
    ),
    "read by nothing, in a function": (
        (
            "def options():\n    parser.add_argument('--units', type=int, default=3)\n    parser.add_argument('--decay', type=float, default=0.1)\n"
            "    return parser.parse_args()\nif __name__ == '__main__':\n    args = options()\n    tf.keras.layers.Dense(args.units)\n"
        ),
        [("dead-option", 7)],
    ),
    "only printed": (
        (
            "parser.add_argument('--units', type=int, default=3)\nparser.add_argument('--decay', type=float, default=0.1)\n"
            "args = parser.parse_args()\nprint(args)\ntf.keras.layers.Dense(args.units)\n"
        ),
        [("dead-option", 6)],
    ),
    "any text is true": (
        (
            "parser.add_argument('--cache', type=bool, default=False)\nargs = parser.parse_args()\n"
            "if args.cache:\n    tf.constant(1)\n"
        ),
        [("option-conversion", 5)],
    ),
    "a text for a number": (
        "parser.add_argument('--rate', default='1e-2')\nargs = parser.parse_args()\ntf.keras.optimizers.Adam(args.rate)\n",
        [("refused-option", 5)],
    ),
}


@pytest.mark.parametrize(("code", "found"), FAULTS.values(), ids=FAULTS)
def test_what_is_told(tmp_path: Path, code: str, found: list[tuple[str, int]]) -> None:
    assert told(tmp_path, HEAD + code) == found


def test_a_script_that_gives_what_is_not_taken(tmp_path: Path) -> None:
    code = (
        HEAD
        + "parser.add_argument('--units', type=int, default=3)\nargs = parser.parse_args()\ntf.constant(args.units)\n"
    )
    assert told(tmp_path, code, go__sh="python train.py --untis 4\n") == [("wrong-command", 6)]
    assert told(tmp_path, code, go__sh='python train.py --units "$N" --uni 4\n') == []


def test_a_program_of_another_framework_is_left_alone(tmp_path: Path) -> None:
    code = (
        HEAD.replace("tensorflow as tf", "torch as tf")
        + "parser.add_argument('--cache', type=bool)\nprint(parser.parse_args().cache)\n"
    )
    assert told(tmp_path, code) == []
