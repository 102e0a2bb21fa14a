"""The way to a finding names the functions that are really entered."""

from __future__ import annotations

import functools
from pathlib import Path

from cfgfix.code.model.python_files import find_python
from cfgfix.code.scan import scan, source_hits
from cfgfix.rules.catalogue import read_folder

RULES = Path(__file__).resolve().parents[2] / "rules"

LOSSES = """
import tensorflow as tf


class Plain:
    def call(self, y):
        return y

    def scaled(self, y):
        return y


class Talking:
    def call(self, y):
        return self.scaled(y)

    def scaled(self, y):
        tf.print("scaled", y)
        return y


class Trainer:
    def __init__(self, plain):
        if plain:
            self.loss = Plain()
        else:
            self.loss = Talking()

    @tf.function(jit_compile=True)
    def step(self, y):
        return self.loss.call(y)
"""


def test_a_call_that_may_enter_several_methods_names_the_one_on_the_way(tmp_path: Path) -> None:
    (tmp_path / "losses.py").write_text(LOSSES, encoding="utf-8")
    rules = [rule for rule in read_folder(str(RULES / "function")) if rule.id == "TFF013"]
    found = scan(
        find_python([str(tmp_path)], lambda _path: False),
        rules,
        [],
        severity=lambda _, value: value,
        key="chain",
        use_cache=False,
        hits=functools.partial(source_hits, rules),
    ).findings
    (finding,) = [item for items in found.values() for item in items]
    assert [step.label for step in finding.flow] == ["calls Talking.call", "calls Talking.scaled"]
