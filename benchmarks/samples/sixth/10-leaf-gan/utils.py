import yaml


class AttrDict(dict):
    """dict with attribute access, nested."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        for k, v in self.items():
            if isinstance(v, dict):
                self[k] = AttrDict(v)

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name)


def load_cfg(path):
    with open(path) as f:
        return AttrDict(yaml.safe_load(f))
