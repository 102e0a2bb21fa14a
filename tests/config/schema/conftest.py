from __future__ import annotations

import json
from pathlib import Path

import pytest

from cfgfix.config.document.compose import compose
from cfgfix.config.loaders.scalars import LOADERS
from cfgfix.config.schema.validate import Schema
from cfgfix.core.source_file import SourceFile


class Checked:
    """The problems of one text, with what they underline."""

    def __init__(self, schema: dict | bool, text: str, loader: str = "pyyaml", **options: object) -> None:
        self.schema = schema if isinstance(schema, Schema) else Schema.load(schema, "schema.json")
        self.text = text
        self.document = compose(SourceFile.from_text(text, "config.yaml"))
        assert self.document.problem is None, self.document.problem
        self.problems = [
            problem
            for root in self.document.roots
            for problem in self.schema.problems(self.document, root, LOADERS[loader], **options)
        ]

    @property
    def only(self):
        assert len(self.problems) == 1, [problem.message for problem in self.problems]
        return self.problems[0]

    @property
    def underlined(self) -> list[str]:
        return [self.text[problem.start : problem.end] for problem in self.problems]

    @property
    def codes(self) -> list[str]:
        return [problem.code for problem in self.problems]


@pytest.fixture(scope="session")
def myxtts_data(repo_root: Path) -> dict:
    return json.loads((repo_root / "schemas" / "myxtts" / "schema.json").read_text("utf-8"))


@pytest.fixture(scope="session")
def myxtts(myxtts_data: dict) -> Schema:
    return Schema.load(myxtts_data, "myxtts")


@pytest.fixture(scope="session")
def expected(repo_root: Path) -> dict:
    return json.loads((repo_root / "tests" / "data" / "myxtts_expected.json").read_text("utf-8"))


@pytest.fixture(scope="session")
def check():
    return Checked
