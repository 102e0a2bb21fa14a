"""Fuzz the expression language: any text is refused, or translated to code that only asks the scope it is given.

python fuzz/expressions.py 600
"""

from __future__ import annotations

import random
import re
import zlib

import common

with common.instrument():
    from cfgfix.rules.expression import (
        ExpressionError,
        Missing,
        compile_source,
        evaluate,
        translate,
        translate_template,
    )

VALUES = [
    0,
    1,
    -3,
    2.5,
    float("inf"),
    float("nan"),
    10**18,
    True,
    None,
    "adam",
    "",
    [1, 2],
    [],
    {"a": 1},
    [None, "x"],
]
WORDS = ["min(", "max(", "len(", "tier(", "gpu(", "has(", "given(", "default(", "ceil(", "round(", "matches(", "optimizer_slots(", " and ", " or ", "not ", " if ", " else ", " in ", "==", "**", "//", "%", "<<", "a.b.c", "__class__", "lambda: ", "[i for i in x]", "{", "}", "|bytes}", "|pct}", "1e308", "'", '"', "f'{x}'", ":=", "...", "*a", "\\", "s", "_num"]  # fmt: skip


class Scope:
    """Gives any operand a value of any kind."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def value(self, name: str) -> object:
        if self.rng.random() < 0.1:
            raise Missing(name)
        return self.rng.choice(VALUES)

    def has(self, name: str) -> bool:  # noqa: ARG002 - the protocol's signature
        return self.rng.random() < 0.5

    given = has

    def tier(self, table: str, column: str, gib: float) -> object:  # noqa: ARG002 - the protocol's signature
        return self.value(table)

    def gpu(self, index: int, field: str) -> object:  # noqa: ARG002 - the protocol's signature
        return self.value(field)


def target(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    for turn in (translate, translate_template):
        try:
            translated = turn(text)
        except ExpressionError:
            continue
        code = compile_source(translated.source)
        names = set(code.__code__.co_names)  # type: ignore[attr-defined]
        if any(name.startswith("__") for name in names):
            raise AssertionError(f"the code reaches {names}")
        with common.no_side_effects():
            for seed in range(3):
                try:
                    evaluate(code, Scope(zlib.crc32(data) + seed))
                except Missing:
                    continue


def seeds() -> list[bytes]:
    found: list[bytes] = []
    for path in (common.ROOT / "rules").rglob("*.yaml"):
        text = path.read_text(encoding="utf-8")
        found += [match.encode() for match in re.findall(r"(?m)^(?:when|message): *(.+)$", text)]
    return found


target(b"min(1, a.b)")
if __name__ == "__main__":
    common.run("expressions", target, seeds(), WORDS)
