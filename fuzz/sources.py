"""Fuzz the source summariser: any text gives a summary that survives packing, and the checks run over what it says.

python fuzz/sources.py 600
"""

from __future__ import annotations

import marshal
import os
import random
import zlib

import common

with common.instrument():
    from cfgfix.catalog.load import builtin
    from cfgfix.source.discover import PythonFile
    from cfgfix.source.scan import ConfigFacts, scan, source_rules
    from cfgfix.source.summary import pack, summarise, unpack

RULES = source_rules(builtin().rules)
WORDS = ["tf.data.Dataset.from_tensor_slices(x)", ".map(f)", ".map(f, num_parallel_calls=tf.data.AUTOTUNE)", ".batch(8)", ".prefetch(2)", ".cache()", ".shuffle(10)", ".repeat()", "@tf.function\n", "def f(x):\n    ", "import tensorflow as tf\n", "from . import *\n", "lambda x: ", "if cfg.native:\n    ", "try:\n    ", "except ImportError:\n    ", "with s.scope():\n    ", "while True:\n    ", "for i in range(3):\n    ", "async ", "await ", "yield ", "return ", "class A(B):\n    ", "match x:\n    case ", "global x\n", "nonlocal x\n", "x: int = 1\n", "*a, **k", "f'{x!r:>{y}}'", "(" * 40, "[" * 40, "not " * 40, "-" * 40, "# cfgfix: ignore[TFD001]\n", ".numpy()", "tf.numpy_function(f, [x], tf.int32)", "getattr(cfg, 'a', 1)", "\\\n", ";", "\x0c", "\ufeff"]  # fmt: skip


def ordered(data: object) -> object:
    """Return packed data with its lists of names sorted: they come from sets."""
    if isinstance(data, list) and all(isinstance(item, str) for item in data):
        return sorted(data)
    return type(data)(map(ordered, data)) if isinstance(data, (list, tuple)) else data


def target(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    with common.no_side_effects():
        summary = summarise(text)
        packed = pack(summary)
        again = pack(unpack(marshal.loads(marshal.dumps(packed))))  # noqa: S302 - its own bytes
        if repr(ordered(again)) != repr(ordered(packed)):
            raise AssertionError("packing changes a summary")
    if random.Random(zlib.crc32(data)).random() < 0.3 and summary.problem is None:
        scan(
            [PythonFile("m.py", ".", (len(data), 0, 0, 0))], RULES, FACTS, severity=lambda _rule, level: level,
            key=0, overlay={"m.py": data}, use_cache=False,
        )  # fmt: skip


FACTS: list[ConfigFacts] = []


def seeds() -> list[bytes]:
    folders = [common.ROOT / "cfgfix", common.ROOT / "tests", common.ROOT / "benchmarks"]
    named = os.environ.get("CFGFIX_FUZZ_PYTHON")
    if named:
        folders = [common.Path(place) for place in named.split(os.pathsep)]
    found = [
        path.read_bytes()
        for folder in folders
        for path in sorted(folder.rglob("*.py"))
        if path.stat().st_size < 6000
    ]
    for path in (common.ROOT / "rules").rglob("*.yaml"):
        text = path.read_text(encoding="utf-8")
        if "check: source." in text:
            found += [piece.encode() for piece in text.split("      ") if "import tensorflow" in piece]
            found.append(text.encode())
    return found


target(b"import tensorflow as tf\nd = tf.data.Dataset.range(3).map(lambda x: x)\n")
if __name__ == "__main__":
    common.run("sources", target, seeds(), WORDS)
