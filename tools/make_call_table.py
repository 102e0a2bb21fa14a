"""Write how TensorFlow's public functions and classes are called: `cfgfix/code/tensorflow/tf_calls.json`.

The TensorFlow of the interpreter is asked, so that decorators and dispatching do not hide a signature:

    python tools/make_call_table.py

Left out are Keras, whose signatures by release `make_api_table.py` has, and what TensorFlow does not promise to keep: `compat`, `raw_ops`
and everything experimental. What is promised may gain parameters in a later release, and loses none. Of what `make_api_table.py` has, the
table says which arguments must be given: by Keras 3, and by Keras 2 where the package `tf_keras` beside it says something else.
"""

from __future__ import annotations

import inspect
import json
import os
import types
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

TARGET = Path(__file__).resolve().parent.parent / "cfgfix" / "code" / "tensorflow" / "tf_calls.json"
BY_RELEASE = TARGET.with_name("tf_api.json")
LEFT_OUT = frozenset(
    {"compat", "raw_ops", "keras", "estimator", "lite", "tpu", "python", "core", "tools", "compiler", "tsl", "dtensor", "mlir", "autograph",
     "initializers", "losses", "metrics", "optimizers", "internal"}
)  # fmt: skip
MEMBERS = (
    "Variable",
    "GradientTape",
    "TensorArray",
    "distribute.MirroredStrategy",
    "train.CheckpointManager",
)
"""Classes whose objects are asked for the names that they have."""


def callables(module: types.ModuleType, name: str, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield what a module and the modules in it offer for calls, by full names."""
    for key in sorted(dir(module)):
        if key.startswith("_") or key in LEFT_OUT or "experimental" in key:
            continue
        value = getattr(module, key, None)
        if isinstance(value, types.ModuleType):
            if value.__name__.startswith("tensorflow._api") and depth < 4:
                yield from callables(value, f"{name}.{key}", depth + 1)
        elif callable(value):
            yield f"{name}.{key}", value


def parameters(value: Any) -> str | None:
    """Return the parameters of a callable in one line: `x! axis *name`, with `!` for those that must be given.

    A `*` alone stands before what goes by name only; `**` says that other names are taken, and `*` at the end of a name that it takes
    any number by position. None where the signature cannot be known.
    """
    if inspect.isclass(value) and (value.__init__ is object.__init__ or issubclass(value, BaseException)):
        return None
    try:
        found = list(
            inspect.signature(value.__init__ if inspect.isclass(value) else value).parameters.values()
        )
    except (TypeError, ValueError):
        return None
    if inspect.isclass(value):
        found = found[1:]
    words = []
    named = False
    for item in found:
        if item.kind is item.VAR_POSITIONAL:
            words.append(f"{item.name}*")
            named = True
            continue
        if item.kind is item.VAR_KEYWORD:
            words.append("**")
            continue
        if item.kind is item.KEYWORD_ONLY and not named:
            words.append("*")
            named = True
        words.append(item.name + ("!" if item.default is item.empty else ""))
    return " ".join(words)


def required(value: Any, *, method: bool) -> str:
    """Return the arguments that a callable must be given, with a `*` where it takes any number by position.

    A `*` alone stands for a callable whose signature cannot be known.
    """
    if inspect.isclass(value) and value.__init__ is object.__init__:
        return "*"
    try:
        found = list(
            inspect.signature(value.__init__ if inspect.isclass(value) else value).parameters.values()
        )
    except (TypeError, ValueError):
        return "*"
    if inspect.isclass(value) or (method and found and found[0].name == "self"):
        found = found[1:]
    return " ".join(
        "*" if item.kind is item.VAR_POSITIONAL else item.name
        for item in found
        if item.kind is item.VAR_POSITIONAL
        or (item.default is item.empty and item.kind is not item.VAR_KEYWORD)
    )


def requirements(names: Iterable[str], roots: Mapping[str, Any]) -> dict[str, str]:
    """Return what callables must be given, by their names, of those that are below the roots."""
    found = {}
    for name in names:
        root, *steps = name.split(".")
        value = roots.get(root)
        for step in steps:
            value = getattr(value, step, None)
        if value is not None:
            found[name] = required(value, method=len(steps) > 1 and steps[-2][:1].isupper())
    return found


def main() -> None:
    """Write the table."""
    import tensorflow as tf
    import tf_keras

    calls = {}
    abstract = []
    for name, value in callables(tf, "tensorflow"):
        found = parameters(value)
        if found is not None:
            calls[name] = found
        if inspect.isabstract(value):
            abstract.append(name)
    members = {}
    for name in MEMBERS:
        owner: Any = tf
        for part in name.split("."):
            owner = getattr(owner, part)
        members[f"tensorflow.{name}"] = sorted(item for item in dir(owner) if not item.startswith("__"))
    entered = sorted(name for name, value in callables(tf, "tensorflow") if hasattr(value, "__enter__"))
    by_release = json.loads(BY_RELEASE.read_text(encoding="utf-8"))["parameters"]
    three = requirements(by_release, {"keras": tf.keras, "tensorflow": tf})
    two = requirements(by_release, {"keras": tf_keras})
    table = {
        "required": {name: words for name, words in three.items() if words},
        "required_2": {name: words for name, words in two.items() if words != three.get(name, words)},
        "tensorflow": tf.__version__,
        "abstract": abstract,
        "entered": entered,
        "members": members,
        "calls": calls,
    }
    TARGET.write_text(json.dumps(table, indent=0, sort_keys=True) + "\n", encoding="utf-8")
    print(f"{len(calls)} callables, {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
