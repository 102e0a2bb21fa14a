"""Config files that include others and know environment variables."""
import os
import re
from pathlib import Path

from ruamel.yaml import YAML

VARIABLE = re.compile(r"\$\{(\w+)(?::([^}]*))?\}")


class Conf(dict):
    __getattr__ = dict.__getitem__

    def under(self, other):
        for key, value in other.items():
            if isinstance(value, dict):
                self.setdefault(key, Conf()).under(value)
            else:
                self.setdefault(key, value)
        return self


def wrap(value):
    if isinstance(value, dict):
        return Conf({k: wrap(v) for k, v in value.items()})
    return value


def load(path):
    path = Path(path)
    conf = wrap(YAML(typ="safe").load(path))
    for other in conf.pop("includes", []):
        conf.under(load(path.parent / other))
    return conf


def fill(value, name):
    if isinstance(value, Conf):
        return Conf({k: fill(v, name) for k, v in value.items()})
    if isinstance(value, str):
        return VARIABLE.sub(lambda m: name if m[1] == "name" else os.environ.get(m[1], m[2] or ""), value)
    return value
