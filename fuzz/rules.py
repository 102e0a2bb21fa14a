"""Fuzz the rule loader: any bytes as a rule file are refused with one error, or give a rule that judges a config.

python fuzz/rules.py 600
"""

from __future__ import annotations

import os
import tempfile

import common

with common.instrument():
    from cfgfix.core.errors import CfgfixError
    from cfgfix.lint.runner import Request, check
    from cfgfix.rules.catalogue import Catalogue, builtin, read_folder
    from cfgfix.settings.reader import Settings

FOLDER = tempfile.mkdtemp(prefix="cfgfix-fuzz-")
CONFIG = b"training: {learning_rate: 1e-4, epochs: 10}\ndata: {batch_size: 8, num_workers: 64, prefetch_buffer_size: 2}\n"
WORDS = ["id: ", "name: ", "when: ", "message: ", "fix: {set: workers, to: 1, safety: safe, title: t, why: w}\n", "each: {keys: [a]}\n", "at: batch_size\n", "let: {x: 1}\n", "tables: {}\n", "cases: []\n", "evidence: [{source: s}]\n", "{batch_size}", "{batch_size|bytes}", "hardware.cpu.usable", "check: yaml.x\n", "check: source.x\n", "related: []\n", "escalate: {error: 'true'}\n", "dialects: [generic]\n", "notes: []\n", "folklore: {}\n", "__import__('os')", "'", '"', "\\", "'''", "\n", "')", "]", "lambda s: "]  # fmt: skip


def target(data: bytes) -> None:
    path = os.path.join(FOLDER, "r.yaml")
    with open(path, "wb") as stream:
        stream.write(data)
    try:
        rules = read_folder(FOLDER)
    except CfgfixError:
        return
    try:
        Catalogue([*builtin().rules, *rules])
    except CfgfixError:
        return
    settings = Settings(root=FOLDER, rules=(FOLDER,), select=tuple(rule.id for rule in rules), preview=True, hardware="rtx4090,cpus=8,ram=32", dialect="generic")  # fmt: skip
    try:
        check(Request(settings=settings, stdin=CONFIG, edits=True))
    except CfgfixError:
        return


def guarded(data: bytes) -> None:
    with common.no_side_effects_but_exec(FOLDER):
        target(data)


def seeds() -> list[bytes]:
    found = [path.read_bytes() for path in (common.ROOT / "rules").rglob("*.yaml")]
    small = b"id: USR001\nname: mine\nsummary: s\nseverity: error\nat: batch_size\nwhen: batch_size == 8\nmessage: 'it is {batch_size}'\nwhy: w\nno_fix: n\nevidence: [{source: s}]\ncases:\n  - {name: a, config: 'data: {batch_size: 1}', finds: [data.batch_size]}\n  - {name: b, config: 'data: {}', finds: []}\n"
    # Ids of their own, so that the files do not clash with those that ship.
    return [small] * 10 + [
        seed.replace(b"id: ", b"id: Z", 1).replace(b"name: ", b"name: z", 1) for seed in found
    ]


target(seeds()[0])
if __name__ == "__main__":
    common.run("rules", guarded, seeds(), WORDS)
