import ast
import copy

import yaml


class Node(dict):
    """A dict with dots that can be frozen and merged, but not extended."""

    FROZEN = "__frozen__"

    def __init__(self, tree=()):
        super().__init__({k: Node(v) if isinstance(v, dict) else v for k, v in dict(tree).items()})
        self.__dict__[Node.FROZEN] = False

    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError(name)

    def __setattr__(self, name, value):
        if self.__dict__[Node.FROZEN]:
            raise AttributeError(f"frozen: {name}")
        self[name] = value

    def merge(self, other, where=""):
        for k, v in other.items():
            if k not in self:
                raise KeyError(f"{where}{k} is not a setting")
            if isinstance(self[k], Node):
                self[k].merge(v, f"{where}{k}.")
            else:
                old = self[k]
                self[k] = type(old)(v) if old is not None else v

    def merge_file(self, path):
        with open(path) as f:
            tree = yaml.safe_load(f)
        if base := tree.pop("BASE", None):
            self.merge_file(base)
        self.merge(tree)

    def merge_list(self, items):
        for name, text in zip(items[::2], items[1::2]):
            *path, last = name.split(".")
            node = self
            for p in path:
                node = node[p]
            node.merge({last: ast.literal_eval(text)})

    def freeze(self):
        self.__dict__[Node.FROZEN] = True
        for v in self.values():
            if isinstance(v, Node):
                v.freeze()
        return self

    def clone(self):
        return copy.deepcopy(self)

    def __deepcopy__(self, memo):
        return Node({k: copy.deepcopy(v, memo) for k, v in self.items()})
