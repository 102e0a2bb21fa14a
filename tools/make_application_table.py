"""Ask Keras for the models of `keras.applications`, and write the table of `cfgfix.code.tensorflow.applications`.

The models of this environment's Keras are built without their weights; nothing is trained. Activations are those that
`cfgfix.code.tensorflow.layers` says the layers keep, fitted to the number of pixels: `benchmarks/training_memory.py`
holds them against measured training steps.

    python tools/make_application_table.py              # write the table
    python tools/make_application_table.py ResNet50     # some of it, the others keep what they had
    python tools/make_application_table.py --check      # exit 1 if the table differs
"""

from __future__ import annotations

import argparse
import contextlib
import inspect
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
sys.path.insert(0, str(Path(__file__).resolve().parent))

from keras_network import network_of

from cfgfix.code.tensorflow.layers.sizes import UnknownSize, elements

TARGET = Path(__file__).resolve().parent.parent / "cfgfix" / "code" / "tensorflow" / "applications.json"
SMALLEST, LARGEST = 32, 1024
"""Input sides for which the table has the output side."""
PROBED = (48, 107)
"""Input sides at which models are built to see their output side."""
USUAL = 224
"""The input side of a model that has no default of its own."""
BEYOND = 0.03
"""Share by which the law may miss a side between those that it is fitted to, before it is told."""


def entry(name: str) -> dict[str, Any]:
    """Return the row of one model."""
    import keras

    build = getattr(keras.applications, name)
    keras.backend.clear_session()
    whole = build(weights=None, classes=10)
    side = int(whole.input_shape[1] or USUAL)
    tops = {10: _trainable(whole), 110: _trainable(build(weights=None, classes=110))}
    base = build(weights=None, include_top=False, input_shape=(side, side, 3))
    channels = int(base.output_shape[-1])
    trainable, fixed = _trainable(base), base.count_params() - _trainable(base)
    each = (tops[110] - tops[10]) // 100
    always = tops[10] - 10 * each - trainable
    places = int(base.output_shape[1]) * int(base.output_shape[2])
    flat = 0
    dense = next((layer for layer in whole.layers if type(layer).__name__ == "Dense"), None)
    if dense is not None and any(type(layer).__name__ == "Flatten" for layer in whole.layers):
        flat = channels * int(dense.units)
        always -= flat * places
    free = build(weights=None, include_top=False, input_shape=(None, None, 3)) if "NAS" not in name else base
    low, middle, high = side // 2, 3 * side // 4, side
    rows = {size: _activations(free, size) for size in (low, middle, high)}
    laws = []
    for kind in (0, 1):
        pixel = (rows[high][kind] - rows[low][kind]) / (high * high - low * low)
        constant = rows[high][kind] - pixel * high * high
        laws.append([round(pixel, 4), round(constant, 1)])
    missed = sum(law[0] * middle * middle + law[1] for law in laws) / sum(rows[middle])
    if missed > 1:
        # An estimate may be too low, never too high.
        laws = [[round(term / missed, 4) for term in law] for law in laws]
    if abs(missed - 1) > BEYOND:
        print(f"{name}: the law gives {missed:.3f} of what the side {middle} has", file=sys.stderr)
    return {
        "side": side,
        "trainable": trainable,
        "fixed": fixed,
        "channels": channels,
        "reach": _reach(build, free, base),
        "top": [always, each, flat],
        "kept": laws[0],
        "work": laws[1],
    }


def _trainable(model: Any) -> int:
    return sum(int(weight.shape.num_elements()) for weight in model.trainable_weights)


def _activations(model: Any, side: int) -> tuple[float, float]:
    """Return the elements that a model keeps besides its input and output, and those that its backward pass needs at once."""
    network, outputs = network_of(model, (side, side, 3))
    given, made = side * side * 3, sum(elements(network.shapes[number]) for number in outputs)
    kept = network.kept(4) / 4
    peak = network.parts(4)[0].sample / 4
    return kept - given - made, peak - kept - made


def _reach(build: Any, free: Any, base: Any) -> list[list[int]]:
    """Return the input sides at which the output side changes.

    Models that pad by the size of their inputs halve them five times and round up; the layers of a model for open sizes pad
    otherwise. Of both ways the one is taken that models of some sizes show.
    """
    real = {int(base.input_shape[1]): int(base.output_shape[1])}
    for side in PROBED:
        with contextlib.suppress(ValueError):
            real[side] = int(
                build(weights=None, include_top=False, input_shape=(side, side, 3)).output_shape[1]
            )
    for way in (lambda side: -(-side // 32), lambda side: _side(free, side)):
        if all(way(side) == made for side, made in real.items()):
            break
    else:
        raise SystemExit(f"no way gives the output sides {real}")
    found: list[list[int]] = []
    before = None
    for side in range(SMALLEST, LARGEST + 1):
        made = way(side)
        if made is not None and made != before:
            found.append([side, made])
        before = made
    return [*found, [LARGEST + 1, 0]]


def _side(model: Any, side: int) -> int | None:
    try:
        network, outputs = network_of(model, (side, side, 3))
    except (UnknownSize, ValueError):
        return None
    return network.shapes[outputs[0]][0]


def names() -> list[str]:
    """Return the names of the models that this Keras has."""
    import keras

    return sorted(
        name
        for name in dir(keras.applications)
        if name[:1].isupper() and inspect.isfunction(getattr(keras.applications, name))
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the table or hold it against Keras."""
    import keras

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="models; all without it")
    parser.add_argument("--check", action="store_true", help="exit 1 if the table differs")
    options = parser.parse_args(arguments)
    known = json.loads(TARGET.read_text(encoding="utf-8")) if TARGET.exists() else {"applications": {}}
    found = dict(known["applications"])
    for name in options.names or names():
        found[name] = entry(name)
        print(name, found[name]["trainable"], flush=True)
    lines = ",\n".join(
        f"  {json.dumps(name)}: {json.dumps(row, separators=(',', ':'))}"
        for name, row in sorted(found.items())
    )
    text = f'{{"keras": "{keras.__version__}", "applications": {{\n{lines}\n}}}}\n'
    if options.check:
        return int(TARGET.read_text(encoding="utf-8") != text)
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
