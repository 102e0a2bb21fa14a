import yaml


class Config:
    """Attribute access to a nested dict."""

    def __init__(self, values):
        self._values = values

    def __getattr__(self, name):
        try:
            value = self._values[name]
        except KeyError:
            raise AttributeError(f"no setting named {name}")
        return Config(value) if isinstance(value, dict) else value

    @classmethod
    def from_yaml(cls, path):
        with open(path) as f:
            return cls(yaml.load(f, Loader=yaml.SafeLoader))
