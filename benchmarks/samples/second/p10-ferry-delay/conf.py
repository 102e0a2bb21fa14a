"""One file for three programs: conf.get("train.rate")"""
import functools
import json
from pathlib import Path

FILE = Path(__file__).with_name("ferry.json")


def get(dotted):
    return functools.reduce(lambda node, name: node[name], dotted.split("."), json.loads(FILE.read_text()))


def path(kind):
    return str(Path(get("paths.root"), get(f"paths.{kind}")))
