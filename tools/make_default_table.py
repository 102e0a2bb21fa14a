"""Write the defaults of parameters: `cfgfix/code/tensorflow/tf_defaults.json`.

The TensorFlow of the interpreter is asked for what the tables of signatures and values name; only plain defaults are kept:

    python tools/make_default_table.py
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

FOLDER = Path(__file__).resolve().parent.parent / "cfgfix" / "code" / "tensorflow"
TARGET = FOLDER / "tf_defaults.json"


def callable_named(name: str) -> Any:
    """Return what a public name stands for, or None."""
    first, *rest = name.split(".")
    here: Any = importlib.import_module("tensorflow" if first == "tensorflow" else "keras")
    for part in rest:
        here = getattr(here, part, None)
    return here


def defaults(value: Any) -> dict[str, Any]:
    """Return the plain defaults of a callable by parameter, None left out."""
    try:
        found = inspect.signature(value.__init__ if inspect.isclass(value) else value).parameters
    except (TypeError, ValueError):
        return {}
    return {
        name: item.default
        for name, item in found.items()
        if type(item.default) in (bool, int, float, str) and item.default == item.default
    }


def main() -> None:
    """Write the table."""
    import tensorflow as tf

    names: set[str] = set()
    for table, key in (
        ("tf_api.json", "parameters"),
        ("tf_calls.json", "calls"),
        ("tf_values.json", "calls"),
    ):
        names |= set(json.loads((FOLDER / table).read_text(encoding="utf-8"))[key])
    found = {
        name: told
        for name in sorted(names)
        if (value := callable_named(name)) is not None and (told := defaults(value))
    }
    text = json.dumps({"tensorflow": tf.__version__, "defaults": found}, separators=(",", ":"))
    TARGET.write_text(text.replace('},"', '},\n"') + "\n", encoding="utf-8")
    print(
        f"{len(found)} callables, {sum(map(len, found.values()))} defaults, {TARGET.stat().st_size:,} bytes"
    )


if __name__ == "__main__":
    main()
