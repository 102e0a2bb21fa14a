"""Overrides that programs take from the command line with OmegaConf."""

from __future__ import annotations

from pathlib import Path

import pytest

from cfgfix.usage.project_code import ProjectCode

SCHEMA = """
@dataclass
class Oven:
    heat: int = 3
    fan: bool = True


@dataclass
class Bakery:
    oven: Oven = field(default_factory=Oven)
    loaves: int = 4


base = OmegaConf.structured(Bakery)
"""
USES = "tf.keras.layers.Dense(cfg.loaves * cfg.oven.heat, use_bias=cfg.oven.fan)\n"
PLAIN = "base = OmegaConf.create({'loaves': 4})\n"


def told(folder: Path, code: str, command: str) -> list[tuple[str, str, str]]:
    """What is told of overrides: what the command says, what happens and what is meant."""
    (folder / "bakery.yaml").write_text("loaves: 6\noven: {heat: 2, fan: false}\n", encoding="utf-8")
    (folder / "go.sh").write_text(f"python bake.py {command}\n", encoding="utf-8")
    (folder / "bake.py").write_text(
        "import sys\nfrom dataclasses import dataclass, field\nfrom sys import argv\n\nimport tensorflow as tf\n"
        f"from omegaconf import OmegaConf\n\n{code}{USES}",
        encoding="utf-8",
    )
    says = ProjectCode(str(folder), lambda _path: False, keep=False).all()["bakery.yaml"]
    return [
        (str(hit.values["argument"]), str(hit.values["effect"]), str(hit.values["near"]))
        for check, hit in says.hits
        if check == "unknown-override"
    ]


@pytest.mark.parametrize("given", ["", "sys.argv[1:]", "argv[1:]"])
@pytest.mark.parametrize(("base", "effect"), [(SCHEMA, "ConfigKeyError"), (PLAIN, "it is added")])
def test_an_override_of_no_key(tmp_path: Path, given: str, base: str, effect: str) -> None:
    code = f"{base}cfg = OmegaConf.merge(base, OmegaConf.load('bakery.yaml'), OmegaConf.from_cli({given}))\n"
    ((argument, happens, near),) = told(tmp_path, code, "loaves=3 oven.heats=5")
    assert (argument, near) == ("oven.heats", "; is `heat` meant?")
    assert happens.startswith(effect)


@pytest.mark.parametrize("given", ["sys.argv[2:]", "['loaves=3']", "sys.argv[1:3]"])
def test_other_arguments_than_those_of_the_command(tmp_path: Path, given: str) -> None:
    code = (
        f"{SCHEMA}cfg = OmegaConf.merge(base, OmegaConf.load('bakery.yaml'), OmegaConf.from_cli({given}))\n"
    )
    assert told(tmp_path, code, "oven.heats=5") == []


def test_overrides_that_are_right(tmp_path: Path) -> None:
    code = f"{SCHEMA}cli = OmegaConf.from_cli(sys.argv[1:])\ncfg = OmegaConf.merge(base, OmegaConf.load('bakery.yaml'), cli)\n"
    assert told(tmp_path, code, "loaves=3 oven.heat=5 oven={fan: true}") == []


def test_the_config_that_a_command_names(tmp_path: Path) -> None:
    """What a command says for the program itself is no override of the config, where the schema has it."""
    schema = SCHEMA.replace("    loaves: int = 4\n", "    loaves: int = 4\n    plan: str = ''\n")
    code = f"{schema}cli = OmegaConf.from_cli(sys.argv[1:])\ncfg = OmegaConf.merge(base, OmegaConf.load(cli.plan), cli)\n"
    assert told(tmp_path, code, "plan=bakery.yaml oven.fans=true") == [
        ("oven.fans", "ConfigKeyError", "; is `fan` meant?")
    ]
