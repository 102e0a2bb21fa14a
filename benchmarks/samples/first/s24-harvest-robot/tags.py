"""A YAML loader with three tags of its own."""
import os
from pathlib import Path

import yaml


class Loader(yaml.SafeLoader):
    pass


def _env(loader, node):
    name, default = loader.construct_sequence(node)
    return yaml.safe_load(os.environ.get(name, str(default)))


def _pow(loader, node):
    base, exponent = loader.construct_sequence(node)
    return base ** exponent


def _include(loader, node):
    path = Path(loader.name).parent / loader.construct_scalar(node)
    with path.open() as stream:
        return yaml.load(stream, Loader)


Loader.add_constructor("!env", _env)
Loader.add_constructor("!pow", _pow)
Loader.add_constructor("!include", _include)
