import yaml


class Conf:
    """conf / "model" / "blocks" walks down, conf["key"] reads, conf("key", default) asks."""

    def __init__(self, tree):
        self._tree = tree

    def __truediv__(self, name):
        return Conf(self._tree[name])

    def __getitem__(self, name):
        return self._tree[name]

    def __call__(self, name, default=None):
        return self._tree.get(name, default)

    def as_dict(self):
        return dict(self._tree)

    @classmethod
    def open(cls, path):
        with open(path) as stream:
            return cls(yaml.safe_load(stream))
