"""Fuzz the source summariser: any text gives a summary that survives packing, and the checks run over what it says.

What their fixes make is Python, or they are refused.
For some inputs the checks run once more over the same program with few names left, so that functions, classes, decorators and
attributes come to name each other.

python fuzz/sources.py 600
"""

from __future__ import annotations

import ast
import marshal
import os
import random
import zlib
from functools import partial

import common

with common.instrument():
    from cfgfix.code.fixes.proof import ProofError, prove
    from cfgfix.code.model.python_files import PythonFile
    from cfgfix.code.model.summarise import summarise
    from cfgfix.code.model.summary_codec import pack, unpack
    from cfgfix.code.scan import ConfigFacts, scan, source_hits, source_rules
    from cfgfix.core.edits import ReplaceText
    from cfgfix.core.source_file import SourceFile
    from cfgfix.rules.catalogue import builtin

RULES = source_rules(builtin().rules)
WORDS = ["tf.data.Dataset.from_tensor_slices(x)", ".map(f)", ".map(f, num_parallel_calls=tf.data.AUTOTUNE)", ".batch(8)", ".prefetch(2)", ".cache()", ".shuffle(10)", ".repeat()", "@tf.function\n", "def f(x):\n    ", "import tensorflow as tf\n", "from . import *\n", "lambda x: ", "if cfg.native:\n    ", "try:\n    ", "except ImportError:\n    ", "with s.scope():\n    ", "while True:\n    ", "for i in range(3):\n    ", "async ", "await ", "yield ", "return ", "class A(B):\n    ", "match x:\n    case ", "global x\n", "nonlocal x\n", "x: int = 1\n", "*a, **k", "f'{x!r:>{y}}'", "(" * 40, "[" * 40, "not " * 40, "-" * 40, "# cfgfix: ignore[TFD001]\n", ".numpy()", "tf.numpy_function(f, [x], tf.int32)", "getattr(cfg, 'a', 1)", "\\\n", ";", "\x0c", "\ufeff"]  # fmt: skip


def ordered(data: object) -> object:
    """Return packed data with its lists of names sorted: they come from sets."""
    if isinstance(data, list) and all(isinstance(item, str) for item in data):
        return sorted(data)
    return type(data)(map(ordered, data)) if isinstance(data, (list, tuple)) else data


class Tangle(ast.NodeTransformer):
    """Gives most names one of a few, and some functions and classes a decorator or a base of such a name."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.share = rng.choice([0.2, 0.5, 0.9])
        self.names: dict[str, str] = {}

    def few(self) -> str:
        return self.rng.choice("abcdefgh")

    def name(self, name: str) -> str:
        if name in ("tf", "keras", "self", "range", "iter", "next", "super"):
            return name
        return self.names.setdefault(name, self.few() if self.rng.random() < self.share else name)

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self.name(node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.arg = self.name(node.arg)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.Attribute:
        self.generic_visit(node)
        if self.rng.random() < self.share / 3:
            node.attr = self.few()
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.name = self.name(node.name)
        if self.rng.random() < 0.2:
            name = ast.Name(self.few())
            node.decorator_list.append(self.rng.choice([name, ast.Call(name, [ast.Name(self.few())], [])]))
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        self.generic_visit(node)
        node.name = self.name(node.name)
        if self.rng.random() < 0.3:
            node.bases.append(ast.Name(self.few()))
        return node


def tangled(text: str, rng: random.Random) -> bytes:
    """Return a program with few names, its statements in another order."""
    tree = Tangle(rng).visit(ast.parse(text))
    if rng.random() < 0.5:
        rng.shuffle(tree.body)
    return b"import tensorflow as tf\n" + ast.unparse(ast.fix_missing_locations(tree)).encode(
        "utf-8", "replace"
    )


def checked(data: bytes) -> None:
    """Check a program and make every fix: proven, it is Python still, and else refused."""
    result = scan(
        [PythonFile("m.py", ".", (len(data), 0, 0, 0))], RULES, FACTS, severity=lambda _rule, level: level,
        key=0, overlay={"m.py": data}, use_cache=False, hits=partial(source_hits, RULES),
    )  # fmt: skip
    fixed = [item for items in result.findings.values() for item in items if item.fix is not None]
    text = SourceFile.from_bytes(data, "m.py").text if fixed else ""
    for finding in fixed:
        assert finding.fix is not None
        try:
            after = prove(text, [item for item in finding.fix.changes if isinstance(item, ReplaceText)])
        except ProofError:
            continue
        ast.parse(after)


def target(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    with common.no_side_effects():
        summary = summarise(text)
        packed = pack(summary)
        again = pack(unpack(marshal.loads(marshal.dumps(packed))))  # noqa: S302 - its own bytes
        if repr(ordered(again)) != repr(ordered(packed)):
            raise AssertionError("packing changes a summary")
    rng = random.Random(zlib.crc32(data))
    if rng.random() < 0.3 and summary.problem is None:
        checked(data)
        try:
            other = tangled(text, rng)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        checked(other)


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
