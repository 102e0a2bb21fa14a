"""The language server in an editor that people use: Neovim, without a screen."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pygls")

ROOT = Path(__file__).resolve().parent.parent.parent
TEXT = "model: {decoder_dim: 1024}\ntraining:\n  learning_rate: 1e-4\n  epochs: 3\ndata: {batch_size: 8, max_text_tokens: 100}\n"
SCRIPT = """
vim.cmd('edit train.yaml')
local id = vim.lsp.start_client({name = 'cfgfix', cmd = {'PYTHON', '-m', 'cfgfix', 'lsp'}, root_dir = vim.fn.getcwd()})
vim.lsp.buf_attach_client(0, id)
vim.wait(30000, function() return #vim.diagnostic.get(0) > 0 end, 50)
local told = vim.diagnostic.get(0)
vim.api.nvim_win_set_cursor(0, {told[1].lnum + 1, told[1].col})
local params = vim.lsp.util.make_range_params(0, 'utf-16')
params.context = {diagnostics = {}}
local answer = vim.lsp.buf_request_sync(0, 'textDocument/codeAction', params, 30000)
for _, action in ipairs(answer[id].result) do
  if action.isPreferred then vim.lsp.util.apply_workspace_edit(action.edit, 'utf-16') end
end
vim.wait(30000, function() return #vim.diagnostic.get(0) == 0 end, 50)
vim.cmd('write')
io.stdout:write(told[1].code, ' at ', told[1].lnum + 1, '; left: ', #vim.diagnostic.get(0), '\\n')
vim.cmd('qa!')
"""


@pytest.mark.acceptance
def test_a_diagnostic_comes_its_quick_fix_is_made_and_it_goes(tmp_path):
    if shutil.which("nvim") is None:
        pytest.skip("Neovim is not on this machine")
    (tmp_path / "train.yaml").write_text(TEXT)
    (tmp_path / "cfgfix.toml").write_text("select = ['YML001']\nhardware = 'none'\n")
    (tmp_path / "try.lua").write_text(SCRIPT.replace("PYTHON", sys.executable))
    done = subprocess.run(
        ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-c", "luafile try.lua"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "XDG_STATE_HOME": str(tmp_path / "state"),
            "CFGFIX_CACHE_DIR": str(tmp_path / "cache"),
        },
    )  # fmt: skip
    assert "YML001 at 3; left: 0" in done.stdout, done.stdout + done.stderr
    assert (tmp_path / "train.yaml").read_text() == TEXT.replace("1e-4", "1.0e-4")
