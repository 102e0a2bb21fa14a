"""Ask each Keras 3 which texts it takes for an object, and write them as the table that `cfgfix.code.tensorflow.api` reads.

Keras itself is asked, release by release, from its unpacked wheel, with the TensorFlow of this environment behind it.

    pip download --no-deps --only-binary=:all: -d WHEELS keras==3.15.1 keras==3.8.0 keras==3.3.3
    python tools/make_keras_words.py WHEELS            # write the table
    python tools/make_keras_words.py WHEELS --check    # exit 1 if the table differs
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from make_api_table import PAIRS

TARGET = Path(__file__).resolve().parent.parent / "cfgfix" / "code" / "tensorflow" / "keras_words.json"

ASKED = """
import json
import keras
from keras.src import activations, backend, constraints, dtype_policies, initializers, losses, metrics, optimizers, regularizers

found = {
    module.__name__.rpartition(".")[2]: sorted(module.ALL_OBJECTS_DICT)
    for module in (activations, constraints, initializers, losses, metrics, optimizers, regularizers)
}
plain = [f"{kind}{bits}" for kind in ("float", "int", "uint") for bits in (8, 16, 32, 64)]
plain += ["bfloat16", "bool", "complex64", "complex128", "string", "float8_e4m3fn", "float8_e5m2"]
plain += ["mixed_float16", "mixed_bfloat16"]
candidates = plain + [f"{mode}_from_{name}" for mode in ("int8", "float8") for name in plain]
policies = []
for name in candidates:
    try:
        dtype_policies.get(name)
    except Exception:
        continue
    policies.append(name)
found["dtype_policies"] = sorted(policies)
print(json.dumps(found))
"""


KERAS_2 = {
    "activations": ["LeakyReLU", "PReLU", "ReLU"],
    "constraints": ["maxnorm", "nonneg", "unitnorm"],
    "losses": ["huber_loss", "kullback_leibler_divergence", "logcosh"],
    "metrics": ["ACC", "acc", "ce", "cosine_proximity", "crossentropy", "kullback_leibler_divergence", "log_cosh", "logcosh"],
    "regularizers": ["l1_l2"],
}  # fmt: skip
"""What Keras 2 takes and Keras 3 does not: each tried with tf-keras 2.21 in a layer, or in `compile` and `fit`."""


def words_of(wheel: Path) -> dict[str, list[str]]:
    """Return the texts that the Keras of a wheel takes, by kind."""
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        answer = subprocess.run(
            [sys.executable, "-c", ASKED],
            env={
                **os.environ,
                "PYTHONPATH": folder,
                "KERAS_BACKEND": "tensorflow",
                "TF_CPP_MIN_LOG_LEVEL": "3",
            },
            capture_output=True,
            text=True,
            check=False,
        )
    if answer.returncode:
        sys.exit(f"{wheel.name} does not answer: {answer.stderr[-2000:]}")
    found: dict[str, list[str]] = json.loads(answer.stdout.splitlines()[-1])
    return found


def table(folder: Path) -> dict[str, Any]:
    """Return the table for the wheels in a folder: for each kind the words, with a bit for each release of `PAIRS`."""
    kinds: dict[str, dict[str, int]] = {}
    known = 0
    for number, (_, keras) in enumerate(PAIRS):
        if keras is None or not keras.startswith("3."):
            continue
        known |= 1 << number
        for kind, words in words_of(next(folder.glob(f"keras-{keras}-*.whl"))).items():
            store = kinds.setdefault(kind, {})
            for word in words:
                store[word] = store.get(word, 0) | 1 << number
    return {
        "known": known,
        "words": {kind: dict(sorted(kinds[kind].items())) for kind in sorted(kinds)},
        "keras_2": KERAS_2,
    }


def main() -> int:
    """Write the table, or compare it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("wheels", type=Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    text = json.dumps(table(options.wheels), indent=None, separators=(",", ":"))
    text = text.replace('},"', '},\n"') + "\n"
    if options.check:
        same = TARGET.exists() and TARGET.read_text(encoding="utf-8") == text
        print("the table is current" if same else "the table differs")
        return 0 if same else 1
    TARGET.write_text(text, encoding="utf-8")
    print(f"{TARGET}: {len(text)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
