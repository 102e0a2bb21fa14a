"""Settings: the base file with one experiment laid over it."""
import pathlib

import yaml

BASE = pathlib.Path("configs/base.yaml")


def overlay(below, above):
    merged = dict(below)
    for name, value in above.items():
        if isinstance(value, dict) and isinstance(merged.get(name), dict):
            merged[name] = overlay(merged[name], value)
        else:
            merged[name] = value
    return merged


def load(path):
    below = yaml.safe_load(BASE.read_text())
    above = yaml.safe_load(pathlib.Path(path).read_text())
    if "name" in above.get("head", {}):
        below["head"] = {}
    return overlay(below, above)
