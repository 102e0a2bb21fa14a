import yaml


class Config(dict):
    """A dictionary whose keys can be reached as attributes."""

    def __init__(self, mapping):
        super().__init__(
            {key: Config(value) if isinstance(value, dict) else value for key, value in mapping.items()}
        )

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(name) from error

    @classmethod
    def from_file(cls, path):
        with open(path, encoding="utf-8") as stream:
            return cls(yaml.safe_load(stream))
