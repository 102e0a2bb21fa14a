"""What classes of settings say of a key that the config leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest

from cfgfix.code.inference.conditions import Conditions
from cfgfix.code.inference.flow.flow import Flow, flow_of
from cfgfix.code.model.program import Program
from cfgfix.code.model.python_files import find_python
from cfgfix.code.model.summary_cache import SummaryStore
from cfgfix.code.scan import ConfigFacts
from cfgfix.core.findings import State

MAIN = """import tensorflow as tf


def train(config):
    if config.training.eager:
        tf.config.run_functions_eagerly(True)
"""
OTHER = "from dataclasses import dataclass\n\n\n@dataclass\nclass Sizes:\n    width: int = 1\n"


def program_of(folder: Path, settings: str) -> Program:
    for name, text in (("main.py", MAIN), ("settings.py", settings), ("sizes.py", OTHER)):
        (folder / name).write_text(text, encoding="utf-8")
    found = find_python([str(folder)], lambda _path: False)
    program = Program(
        found, SummaryStore("none", [b"tensorflow"], enabled=False, writes=False), [b"tensorflow"]
    )
    program.scan()
    Flow(program).run()
    return program


@pytest.mark.parametrize(
    "settings",
    [
        "from dataclasses import dataclass\n\n@dataclass\nclass Training:\n    eager: bool = {}\n",
        "import dataclasses\n\n@dataclasses.dataclass(frozen=True)\nclass Training:\n    eager   : bool = {}\n",
        "import attr\n\n@attr.s(auto_attribs=True)\nclass Training:\n    eager\t: bool = {}\n",
        "from attrs import define\n\n@define\nclass Training:\n    eager: bool = {}\n",
        "import pydantic\n\nclass Training(pydantic.BaseModel):\n    eager: bool = {}\n",
        "from pydantic import BaseSettings\n\nclass Training(BaseSettings):\n    eager: bool = {}\n",
        "from typing import NamedTuple\n\nclass Training(NamedTuple):\n    eager: bool = {}\n",
        "from base import Config\n\nclass Training(Config):\n    eager: bool = {}\n",
    ],
)
@pytest.mark.parametrize("default", [False, True])
def test_a_default_decides_what_the_config_leaves_out(tmp_path: Path, settings: str, default: bool) -> None:
    program = program_of(tmp_path, settings.format(default))
    site = next(flow_of(program).named("tensorflow.config.run_functions_eagerly"))
    conditions = Conditions(program, ConfigFacts("a.yaml", {("training", "steps"): 5}).lookup())
    state, guard = conditions.state([(site.scope, site.call.block)])
    assert state is (State.ACTIVE if default else State.DORMANT)
    assert guard == ("" if default else "config.training.eager")


def test_a_file_without_the_field_is_not_summarised(tmp_path: Path) -> None:
    program = program_of(
        tmp_path, "from typing import NamedTuple\n\nclass T(NamedTuple):\n    eager: bool = False\n"
    )
    site = next(flow_of(program).named("tensorflow.config.run_functions_eagerly"))
    Conditions(program, ConfigFacts("a.yaml", {}).lookup()).state([(site.scope, site.call.block)])
    assert {Path(key).name for key in program._loaded} == {"main.py", "settings.py"}
