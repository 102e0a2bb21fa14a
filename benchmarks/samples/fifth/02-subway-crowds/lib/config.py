import os

import yaml


class Config:
    """Read-only view of a nested dict: cfg.model.units."""

    def __init__(self, tree):
        self._tree = tree

    def __getattr__(self, name):
        try:
            value = self._tree[name]
        except KeyError:
            raise AttributeError(f"no setting {name!r}") from None
        return Config(value) if isinstance(value, dict) else value

    def get(self, name, default=None):
        return self._tree.get(name, default)

    def as_dict(self):
        return self._tree


def _merge(base, child):
    out = dict(base)
    for key, value in child.items():
        if isinstance(value, dict) and isinstance(out.get(key), dict):
            value = dict(value)
            if value.pop("_delete_", False):
                out[key] = value
            else:
                out[key] = _merge(out[key], value)
        else:
            out[key] = value
    return out


def load_tree(path):
    with open(path) as fh:
        tree = yaml.safe_load(fh)
    parent = tree.pop("_base_", None)
    if parent is None:
        return tree
    return _merge(load_tree(os.path.join(os.path.dirname(path), parent)), tree)


def load(path):
    return Config(load_tree(path))
