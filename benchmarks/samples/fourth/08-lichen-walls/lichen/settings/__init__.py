"""Settings come from main.yaml, then from --set a.b=c, whose values are YAML themselves."""
from importlib import resources

import yaml


def load(changes=()):
    text = resources.files(__package__).joinpath("main.yaml").read_text()
    tree = yaml.safe_load(text)
    for change in changes:
        path, _, value = change.partition("=")
        *parents, last = path.split(".")
        node = tree
        for parent in parents:
            node = node[parent]
        if last not in node:
            raise SystemExit(f"no setting {path}")
        node[last] = yaml.safe_load(value)
    return tree
