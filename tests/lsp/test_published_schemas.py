"""The published schemas in yaml-language-server itself, which most editors run."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pygls")
from editor import ROOT, Editor

OWN = ROOT / ".ci" / "tools" / "node_modules" / ".bin" / "yaml-language-server"
SERVER = os.environ.get("YAML_LANGUAGE_SERVER") or shutil.which("yaml-language-server") or str(OWN)

pytestmark = pytest.mark.acceptance


def session(folder, scenario):
    if not Path(SERVER).exists():
        pytest.skip("yaml-language-server is not on this machine")

    async def whole():
        async with Editor(folder, command=[SERVER, "--stdio"]) as editor:
            await scenario(editor)

    asyncio.run(whole())


def schema(folder, *arguments):
    subprocess.run(
        [sys.executable, "-m", "cfgfix", "schema", *arguments],
        cwd=folder, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


def test_a_dialect_with_a_schema_of_its_own(tmp_path):
    schema(tmp_path, "--dialect", "myxtts", "-o", "schema.json")
    line = "# yaml-language-server: $schema=schema.json\n"

    async def scenario(editor):
        wrong = await editor.open("a.yaml", line + "training:\n  learning_rate: fast\n  epchs: 3\n")
        told = [item.message for item in wrong]
        assert any('Expected "number"' in text for text in told), told
        assert any("epchs is not allowed" in text for text in told), told
        assert not any("schema" in text.lower() for text in told), (
            "the server would say that it cannot read it"
        )
        assert "PyYAML" in (await editor.hover("a.yaml", "learning_rate")).contents.value
        await editor.open("b.yaml", line + "data:\n  bat\n")
        items = {item.label: item for item in await editor.complete("b.yaml", "  bat", 5)}
        assert items["batch_size"].insert_text.startswith("batch_size: ${1:"), "the default is offered"
        assert items["batch_size"].documentation
        good = (ROOT / "configs" / "clean.yaml").read_text(encoding="utf-8")
        assert await editor.open("c.yaml", line + good) == []

    session(tmp_path, scenario)


def test_a_dialect_without_one(tmp_path):
    schema(tmp_path, "--dialect", "rasa", "-o", "schema.json")
    text = "# yaml-language-server: $schema=schema.json\nlanguage: en\npipeline:\n  - name: X\n    epochs: 3\n    more: 1\n"

    async def scenario(editor):
        assert await editor.open("a.yaml", text) == []
        assert "Passes over the training data" in (await editor.hover("a.yaml", "epochs")).contents.value

    session(tmp_path, scenario)
