from pathlib import Path

from ruamel.yaml import YAML


def read(path):
    return YAML(typ="safe", pure=True).load(Path(path))
