import os
from functools import lru_cache

import yaml


class Loader(yaml.SafeLoader):
    """SafeLoader with !include and !env."""

    def __init__(self, stream):
        self.folder = os.path.dirname(os.path.abspath(stream.name))
        super().__init__(stream)


def _include(loader, node):
    with open(os.path.join(loader.folder, loader.construct_scalar(node))) as f:
        return yaml.load(f, Loader)


def _env(loader, node):
    name, _, default = loader.construct_scalar(node).partition(":")
    return yaml.safe_load(os.environ.get(name, default))


Loader.add_constructor("!include", _include)
Loader.add_constructor("!env", _env)


@lru_cache(maxsize=None)
def settings(path="ship.yaml"):
    with open(path) as f:
        return yaml.load(f, Loader)
