"""Attributes of models of pydantic that a config fills: what they lack stops the program."""

from __future__ import annotations

from pathlib import Path

import pytest

from cfgfix.usage.project_code import ProjectCode

HEAD = """\
import tensorflow as tf
import yaml
from pydantic import BaseModel, ConfigDict, PrivateAttr


class Oven(BaseModel):
    model_config = ConfigDict(extra="allow")
    heat: int = 3
    fan: bool = True
    _warm: bool = PrivateAttr(False)

    @property
    def heats(self):
        return [self.heat]


class Plan(BaseModel):
    loaves: int
    oven: Oven = Oven()


"""
LOADS = {
    "spread": "with open('plan.yaml') as f:\n    plan = Plan(**yaml.safe_load(f))\n",
    "validated": "plan = Plan.model_validate(yaml.safe_load(open('plan.yaml')))\n",
    "as the first release did": "plan = Plan.parse_obj(yaml.safe_load(open('plan.yaml').read()))\n",
}
USES = "tf.keras.layers.Dense(plan.loaves * plan.oven.heat, use_bias=plan.oven.fan)\n"


def told(folder: Path, load: str, read: str) -> list[tuple[str, str]]:
    """What is told of the config when a program reads one thing more."""
    (folder / "plan.yaml").write_text("loaves: 3\noven: {heat: 2, fan: false}\n", encoding="utf-8")
    (folder / "train.py").write_text(f"{HEAD}{load}{USES}tf.data.Dataset.range({read})\n", encoding="utf-8")
    says = ProjectCode(str(folder), lambda _path: False, keep=False).all()["plan.yaml"]
    return [(check, str(hit.values.get("key"))) for check, hit in says.hits]


@pytest.mark.parametrize("load", LOADS.values(), ids=LOADS)
def test_an_attribute_that_a_model_lacks(tmp_path: Path, load: str) -> None:
    assert told(tmp_path, load, "plan.oven.turns") == [("missing-key", "oven.turns")]


@pytest.mark.parametrize(
    "read",
    [
        "plan.oven.heats[0]",
        "plan.oven.model_dump()['heat']",
        "plan.oven.copy().heat",
        "3 if plan.oven._warm else 4",
        "getattr(plan.oven, 'turns', 3)",
        "plan.oven.turns if hasattr(plan.oven, 'turns') else 3",
    ],
)
def test_an_attribute_that_a_model_has(tmp_path: Path, read: str) -> None:
    assert told(tmp_path, LOADS["spread"], read) == []
