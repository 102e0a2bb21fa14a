"""Files of other tools in the editor: nothing is said of them and no change is on offer, whatever the settings name."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("pygls")
from editor import Editor, everywhere
from foreign_samples import FOREIGN, held, lay
from lsprotocol import types

SETTINGS = {
    "at the top": {"cfgfix.toml": 'dialect = "generic"\ninclude = ["*.y*ml"]\n'},
    "in a folder": {"cfgfix.toml": "", "app/cfgfix.toml": 'dialect = "keras-flat"\n'},
    "of keys": {"cfgfix.toml": '[keys]\nlearning_rate = ["env.LR", "data.learning_rate"]\n'},
}


@pytest.mark.parametrize("place", SETTINGS)
def test_the_editor_says_nothing_and_offers_nothing(tmp_path, place):
    (tmp_path / ".git").mkdir()
    for folder in (".", "app"):
        lay(tmp_path / folder)
    lay(tmp_path, SETTINGS[place])
    before = held(tmp_path), held(tmp_path / "app")

    async def scenario():
        async with Editor(tmp_path) as editor:
            for folder in ("", "app/"):
                for name, text in FOREIGN.items():
                    path = folder + name
                    assert await editor.open(path, text) == [], path
                    assert not await editor.actions(path, everywhere(text)), path
                    fix_all = [types.CodeActionKind.SourceFixAll]
                    assert not await editor.actions(path, everywhere(text), only=fix_all), path
                    word = text.strip().splitlines()[1].strip()[:4]
                    assert await editor.hover(path, word) is None, path
            config = "train:\n  learning_rate: 1e-3\n  batch_size: 8\n  epochs: 3\n"
            found = await editor.open("app/train.yaml", config)
            assert "YML001" in {item.code for item in found}

    asyncio.run(scenario())
    assert (held(tmp_path), held(tmp_path / "app")) == before
