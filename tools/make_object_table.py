"""Ask TensorFlow which class of objects each of its classes and functions gives, and write the table of `cfgfix.code.tensorflow.objects`.

The TensorFlow of this environment is imported and its public names are walked; nothing is trained.

    python tools/make_object_table.py            # write the table
    python tools/make_object_table.py --check    # exit 1 if the table differs
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

TARGET = Path(__file__).resolve().parent.parent / "cfgfix" / "code" / "tensorflow" / "tf_objects.json"

FAMILIES = (
    "keras.Model",
    "keras.layers.Layer",
    "keras.optimizers.Optimizer",
    "keras.optimizers.schedules.LearningRateSchedule",
    "keras.callbacks.Callback",
    "keras.losses.Loss",
    "keras.metrics.Metric",
    "tensorflow.data.Dataset",
    "tensorflow.data.Options",
    "tensorflow.distribute.Strategy",
)
"""Classes whose methods are looked up at them, nearest first."""
MODULES = (
    "keras",
    "keras.applications",
    "keras.callbacks",
    "keras.layers",
    "keras.losses",
    "keras.metrics",
    "keras.models",
    "keras.optimizers",
    "keras.optimizers.schedules",
    "keras.utils",
    "tensorflow.data",
    "tensorflow.data.experimental",
    "tensorflow.distribute",
    "tensorflow.distribute.experimental",
)
MODELS = ("keras.models.load_model", "keras.models.clone_model", "keras.models.model_from_json")
"""Functions that give a model and do not say so: TensorFlow 2.21, their documentation."""
DATASETS = (
    "keras.utils.image_dataset_from_directory",
    "keras.utils.text_dataset_from_directory",
    "keras.utils.audio_dataset_from_directory",
    "keras.utils.timeseries_dataset_from_array",
    "tensorflow.data.experimental.make_csv_dataset",
    "tensorflow.data.experimental.make_batched_features_dataset",
    "tensorflow.distribute.Strategy.experimental_distribute_dataset",
)
"""Functions that give a dataset and do not say so: TensorFlow 2.21, their documentation."""


def roots() -> dict[str, ModuleType]:
    """Return TensorFlow and its Keras by the names that the table uses."""
    import tensorflow as tf

    return {"tensorflow": tf, "keras": sys.modules["keras"]}


def found(name: str, packages: dict[str, ModuleType]) -> Any:
    """Return what a dotted name of the table stands for."""
    first, *rest = name.split(".")
    here: Any = packages[first]
    for part in rest:
        here = getattr(here, part)
    return here


def public(packages: dict[str, ModuleType]) -> Iterator[tuple[str, Any]]:
    """Yield the public names of the modules that are looked at."""
    for module in MODULES:
        here = found(module, packages)
        for name in dir(here):
            if not name.startswith("_"):
                yield f"{module}.{name}", getattr(here, name)


def table() -> dict[str, Any]:
    """Return for each family the classes and functions whose calls give an object of it."""
    import keras

    packages = roots()
    classes = [(name, found(name, packages)) for name in FAMILIES]
    gives: dict[str, list[str]] = {name: [] for name, _ in classes}
    for name, item in public(packages):
        if inspect.isclass(item):
            family = next((family for family, cls in classes if issubclass(item, cls)), None)
        elif callable(item) and name.startswith("keras.applications."):
            family = "keras.Model"
        else:
            family = _annotated(item)
        if family is not None:
            gives[family].append(name)
    dataset = found("tensorflow.data.Dataset", packages)
    for name in dir(dataset):
        if not name.startswith("_") and _annotated(getattr(dataset, name)) is not None:
            gives["tensorflow.data.Dataset"].append(f"tensorflow.data.Dataset.{name}")
    gives["keras.Model"] += MODELS
    gives["tensorflow.data.Dataset"] += DATASETS
    return {
        "keras": keras.__version__,
        "tensorflow": packages["tensorflow"].__version__,
        "gives": {family: sorted(set(names)) for family, names in gives.items()},
    }


def _annotated(item: Any) -> str | None:
    try:
        answer = inspect.signature(item).return_annotation
    except (TypeError, ValueError):
        return None
    name = answer if isinstance(answer, str) else getattr(answer, "__name__", "")
    return "tensorflow.data.Dataset" if name in ("DatasetV2", "Dataset", "DatasetV1") else None


def main() -> int:
    """Write the table, or compare it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    text = json.dumps(table(), separators=(",", ":")).replace('],"', '],\n"').replace("}}", "}}\n")
    if options.check:
        same = TARGET.exists() and TARGET.read_text(encoding="utf-8") == text
        print("the table is current" if same else "the table differs")
        return 0 if same else 1
    TARGET.write_text(text, encoding="utf-8")
    print(f"{TARGET}: {len(text)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
