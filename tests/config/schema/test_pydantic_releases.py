"""Pydantic 1 fills an optional field without a default with None; pydantic 2 requires it."""

from __future__ import annotations

import pytest

from cfgfix.config.schema.infer import infer
from cfgfix.config.schema.pydantic_major import pydantic_major

MODEL = """\
from typing import Any, Optional, Union

from pydantic import BaseModel, Field

Maybe = Optional[int]


class Data(BaseModel):
    root: str
    size: Optional[int]
    seed: "Optional[int]"
    rate: Union[float, None]
    extra: Any
    alias: Maybe
    described: Optional[int] = Field(description="how many")
    named: Optional[int] = Field(...)
    given: Optional[int] = ...
    kept: Optional[int] = None
"""
ALWAYS = {"root", "named", "given"}
OF_TWO = ALWAYS | {"size", "seed", "rate", "extra", "alias", "described"}


def required(folder, text=MODEL, name="Data"):
    (folder / "config.py").write_text(text)
    return set(infer(f"config.py:{name}", str(folder)).schema.get("required", ()))


@pytest.mark.parametrize(
    ("file", "line", "expected"),
    [
        ("requirements.txt", "pydantic<2", ALWAYS),
        ("requirements.txt", "pydantic==1.10.13", ALWAYS),
        ("requirements.txt", "pydantic[dotenv]~=1.8", ALWAYS),
        ("requirements.txt", "pydantic>=2.3", OF_TWO),
        ("requirements.txt", "pydantic", ALWAYS),
        ("requirements.txt", "pydantic>=1.8", ALWAYS),
        ("requirements.txt", "pydantic-settings==2.1", ALWAYS),
        ("requirements/base.in", "pydantic==2.5.3  # models", OF_TWO),
        ("pyproject.toml", '[project]\ndependencies = ["pydantic>=2,<3"]', OF_TWO),
        ("pyproject.toml", '[tool.poetry.dependencies]\npydantic = "^1.10"', ALWAYS),
        ("pyproject.toml", '[tool.poetry.dependencies]\npydantic = "^2.0"', OF_TWO),
        ("environment.yml", "dependencies:\n  - pydantic=2.6", OF_TWO),
        ("setup.py", "setup(install_requires=['pydantic>=1.9,<2.0'])", ALWAYS),
    ],
)
def test_the_pins_of_the_project_decide(tmp_path, file, line, expected):
    (tmp_path / ".git").mkdir()
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text(line + "\n")
    assert required(tmp_path) == expected


def test_nothing_is_required_that_no_pin_and_no_import_settles(tmp_path):
    (tmp_path / ".git").mkdir()
    assert required(tmp_path) == ALWAYS


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("from pydantic import BaseModel, ConfigDict, Field", OF_TWO),
        ("from pydantic import BaseModel, Field, field_validator", OF_TWO),
        ("from pydantic import BaseModel, BaseSettings, Field", ALWAYS),
        ("from pydantic.v1 import BaseModel, Field", ALWAYS),
    ],
)
def test_the_imports_decide_where_no_pin_does(tmp_path, line, expected):
    (tmp_path / ".git").mkdir()
    assert required(tmp_path, MODEL.replace("from pydantic import BaseModel, Field", line)) == expected


def test_the_first_interface_inside_the_second_release_stays_the_first(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "requirements.txt").write_text("pydantic>=2\n")
    text = MODEL.replace("from pydantic import", "from pydantic.v1 import")
    assert required(tmp_path, text) == ALWAYS


def test_a_dataclass_requires_an_optional_field_under_either(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "requirements.txt").write_text("pydantic<2\n")
    text = "from typing import Optional\nfrom {0} import dataclass\n\n@dataclass\nclass Data:\n    a: Optional[int]\n"
    assert required(tmp_path, text.format("pydantic.dataclasses")) == {"a"}
    assert required(tmp_path, text.format("dataclasses")) == {"a"}


def test_a_file_above_the_repository_says_nothing(tmp_path):
    (tmp_path / "requirements.txt").write_text("pydantic>=2\n")
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    looked = []
    assert pydantic_major(str(project), looked) is None
    assert str(project / "requirements.txt") in looked
    assert str(tmp_path / "requirements.txt") not in looked


def test_a_new_pin_is_seen_by_the_next_check(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "config.py").write_text(MODEL)
    assert str(tmp_path / "requirements.txt") in infer("config.py:Data", str(tmp_path)).files
