import yaml


class AttrDict(dict):
    """dict whose keys are attributes too"""

    def __init__(self, other):
        super().__init__()
        for key, value in other.items():
            if isinstance(value, dict):
                value = AttrDict(value)
            self[key] = value

    def __getattr__(self, key):
        try:
            return self[key]
        except KeyError:
            raise AttributeError(key) from None


def load_config(path):
    with open(path) as stream:
        return AttrDict(yaml.safe_load(stream))
