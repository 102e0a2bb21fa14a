"""Options of the command line whose defaults replace what a config says."""

from pathlib import Path

from test_followed_idioms import HEAD, told

CODE = (
    HEAD
    + """
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--units", type=int, default={default})
args = parser.parse_args()
kiln = yaml.safe_load(open("kiln.yaml"))
if args.units is not None:
    kiln["units"] = args.units
tf.keras.layers.Dense(kiln["units"])
"""
)


def test_a_default_that_is_never_none_replaces_the_key(tmp_path: Path) -> None:
    files = {"fire.py": CODE.format(default=2), "kiln.yaml": "units: 3\n"}
    assert told(tmp_path, files)["kiln.yaml"] == [("replaced-key", "units")]


def test_an_option_without_a_default_leaves_the_key(tmp_path: Path) -> None:
    files = {"fire.py": CODE.format(default=None), "kiln.yaml": "units: 3\n"}
    assert told(tmp_path, files)["kiln.yaml"] == []
