import pathlib


def read_options(name="snow.yaml"):
    """Flat `key: value` file; numbers only."""
    options = {}
    for line in (pathlib.Path(__file__).parent / name).read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        key, value = (part.strip() for part in line.split(":", 1))
        options[key] = float(value) if "." in value else int(value)
    return options
