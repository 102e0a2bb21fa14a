"""Models of pydantic by the release asked for, texts that bool() takes, and overrides that Hydra refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from cfgfix.usage.project_code import ProjectCode

MODEL = """
from typing import Optional

import tensorflow as tf
import yaml
from pydantic import BaseModel

class Barn(BaseModel):
    cows: int
    name: Optional[str]
    straw: float = 0.5

class Farm(BaseModel):
    barn: Barn

with open("farm.yaml") as stream:
    farm = Farm(**yaml.safe_load(stream))
tf.keras.layers.Dense(farm.barn.cows, name=farm.barn.name)
tf.constant(farm.barn.straw)
"""


def told(folder: Path, path: str, files: dict[str, str]) -> list[tuple[str, str]]:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    says = ProjectCode(str(folder), lambda _path: False, keep=False).all()[path]
    return [(check, ".".join(map(str, hit.at.key_path or ()))) for check, hit in says.hits]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("pydantic<2", []),
        ("pydantic==1.10.13", []),
        ("pydantic>=2.5", [("missing-key", "barn.name")]),
        ("pydantic", []),
    ],
)
def test_an_optional_field_without_a_default_is_needed_by_pydantic_2(
    tmp_path: Path, asked: str, found: list[tuple[str, str]]
) -> None:
    files = {
        "train.py": MODEL,
        "farm.yaml": "barn:\n  cows: 3\n",
        "requirements.txt": f"tensorflow\n{asked}\n",
    }
    assert told(tmp_path, "farm.yaml", files) == found


def test_what_only_pydantic_2_has_tells_the_release(tmp_path: Path) -> None:
    code = MODEL.replace("import BaseModel", "import BaseModel, ConfigDict")
    assert told(tmp_path, "farm.yaml", {"train.py": code, "farm.yaml": "barn:\n  cows: 3\n"}) == [
        ("missing-key", "barn.name")
    ]


@pytest.mark.parametrize(
    ("value", "asked", "found"),
    [
        ("2.5", "pydantic<2", [("refused-value", "barn.cows")]),
        ("2.5", "pydantic>=2", [("refused-value", "barn.cows")]),
        ("many", "pydantic<2", [("refused-value", "barn.cows")]),
        ("'4'", "pydantic>=2", []),
    ],
)
def test_numbers_of_models(tmp_path: Path, value: str, asked: str, found: list[tuple[str, str]]) -> None:
    files = {
        "train.py": MODEL,
        "farm.yaml": f"barn:\n  cows: {value}\n  name: x\n",
        "requirements.txt": f"{asked}\n",
    }
    assert told(tmp_path, "farm.yaml", files) == found


@pytest.mark.parametrize(
    ("text", "found"), [("'no'", [("text-truth", "milk")]), ("'yes'", []), ("false", [])]
)
def test_a_text_that_says_no_is_true_for_bool(
    tmp_path: Path, text: str, found: list[tuple[str, str]]
) -> None:
    code = (
        "import tensorflow as tf\nimport yaml\nwith open('farm.yaml') as stream:\n    farm = yaml.safe_load(stream)\n"
        "tf.config.optimizer.set_jit(bool(farm['milk']))\n"
    )
    assert told(tmp_path, "farm.yaml", {"train.py": code, "farm.yaml": f"milk: {text}\n"}) == found


HYDRA = """
import hydra
import tensorflow as tf

@hydra.main(version_base=None, config_path="conf", config_name="main")
def main(cfg):
    tf.keras.optimizers.Adam(cfg.field.pace)
    tf.constant(cfg.field.barley)

if __name__ == "__main__":
    main()
"""
FIELD = "field:\n  pace: 0.1\n  barley: 2\n"


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ("field.pace=0.2", []),
        ("field.pase=0.2", [("unknown-override", "field")]),
        ("fields.pace=0.2", [("unknown-override", "")]),
        ("+field.rye=3", []),
        ("hydra.run.dir=out", []),
        ('field.pace="$1"', []),
    ],
)
def test_overrides(tmp_path: Path, arguments: str, found: list[tuple[str, str]]) -> None:
    files = {"train.py": HYDRA, "conf/main.yaml": FIELD, "go.sh": f"python train.py {arguments}\n"}
    assert told(tmp_path, "conf/main.yaml", files) == found
