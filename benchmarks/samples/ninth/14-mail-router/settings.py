import os
import string
import tomllib


def normalise(value):
    if isinstance(value, dict):
        return {key.replace("-", "_"): normalise(item) for key, item in value.items()}
    if isinstance(value, str):
        return string.Template(value).safe_substitute({"ROUTER_HOME": ".", **os.environ})
    return value


def load(path="router.toml"):
    with open(path, "rb") as f:
        return normalise(tomllib.load(f))
