import re
import tomllib


class Table(dict):
    """Kebab-case in the file, attributes in the code."""

    def __getattr__(self, name):
        try:
            value = self[name.replace("_", "-")]
        except KeyError:
            raise AttributeError(name) from None
        return Table(value) if isinstance(value, dict) else value


def minutes(text):
    return int(re.fullmatch(r"(\d+)\s*min", text)[1])


def count(text):
    return int(text.split()[0])


def read(path="nowcast.toml"):
    with open(path, "rb") as f:
        return Table(tomllib.load(f))
