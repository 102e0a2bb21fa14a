import json
import pathlib


def read(path):
    """A JSON file over the one that it extends, section by section."""
    path = pathlib.Path(path)
    top = json.loads(path.read_text(encoding="utf-8"))
    parent = top.pop("extends", None)
    if parent is None:
        return top
    under = read(path.with_name(parent))
    for key in top:
        if isinstance(top[key], dict):
            under.setdefault(key, {}).update(top[key])
        else:
            under[key] = top[key]
    return under
