from __future__ import annotations

import asyncio
import json
import os
import sys

import pytest

pytest.importorskip("pygls")
from editor import ROOT, Editor, everywhere
from lsprotocol import types

TEXT = """\
# a speech run 🎤
model:
  decoder_dim: 1024
training:
  learning_rate: 1e-4   # peak
  epochs: 3
data:
  batch_size: 32
  num_workers: 64
  max_text_tokens: 200
"""
MACHINE = "hardware = 'rtx4090,cpus=8,ram=64'\n"


def session(folder, scenario, **options):
    """Run a scenario with an editor."""

    async def whole():
        async with Editor(folder, **options) as editor:
            await scenario(editor)

    asyncio.run(whole())


def rules(diagnostics):
    return {item.code for item in diagnostics}


def test_diagnostics_come_while_typing_and_go_when_repaired(tmp_path):
    (tmp_path / "cfgfix.toml").write_text(MACHINE)

    async def scenario(editor):
        found = await editor.open("config.yaml", TEXT)
        assert {"YML001", "HWR001"} <= rules(found)
        bad = next(item for item in found if item.code == "YML001")
        assert bad.range.start == types.Position(4, 17)
        assert bad.range.end == types.Position(4, 21)
        assert bad.severity == types.DiagnosticSeverity.Error
        assert bad.source == "cfgfix"
        # One letter at a time, faster than checks are made: only the last text is answered.
        for text in ("1.e-4", "1.0e-4"):
            editor.texts["config.yaml"] = TEXT.replace("1e-4", text)
            old = "1e-4" if text == "1.e-4" else "1.e-4"
            editor.type(
                "config.yaml",
                types.TextDocumentContentChangePartial(
                    range=types.Range(types.Position(4, 17), types.Position(4, 17 + len(old))), text=text
                ),
            )
        assert "YML001" not in rules(await editor.diagnostics("config.yaml"))
        editor.replace("config.yaml", TEXT)
        assert "YML001" in rules(await editor.diagnostics("config.yaml"))

    session(tmp_path, scenario)


def test_a_text_on_its_way_to_be_yaml_is_no_end(tmp_path):
    async def scenario(editor):
        await editor.open("config.yaml", TEXT)
        editor.replace("config.yaml", TEXT + "  text_cleaners: [english_cl")
        broken = await editor.diagnostics("config.yaml")
        assert broken
        editor.replace("config.yaml", TEXT)
        assert "YML001" in rules(await editor.diagnostics("config.yaml"))
        assert (await editor.open("compose.yaml", "services: {web: {image: nginx}}\n")) == []
        assert (await editor.open("empty.yaml", "")) == []

    session(tmp_path, scenario)


def test_safe_quick_fixes_are_preferred_and_unsafe_ones_marked(tmp_path):
    (tmp_path / "cfgfix.toml").write_text(MACHINE + "select = ['YML001']\n")
    text = TEXT.replace("  epochs: 3\n", "  epochs: 3\n  resume: on\n")

    async def scenario(editor):
        found = await editor.open("config.yaml", text)
        bad = next(item for item in found if item.code == "YML001")
        actions = await editor.actions("config.yaml", bad.range)
        fix = next(item for item in actions if item.diagnostics and item.is_preferred)
        assert fix.kind == types.CodeActionKind.QuickFix
        assert fix.diagnostics[0].code == "YML001"
        changed = editor.applied("config.yaml", fix.edit.changes[editor.uri("config.yaml")])
        assert changed == text.replace("1e-4", "1.0e-4")
        silence = next(item for item in actions if item.title.startswith("Silence YML001"))
        assert not silence.is_preferred
        changed = editor.applied("config.yaml", silence.edit.changes[editor.uri("config.yaml")])
        editor.replace("config.yaml", changed)
        assert "YML001" not in rules(await editor.diagnostics("config.yaml"))

    session(tmp_path, scenario)


@pytest.mark.parametrize("entry", ["wrokers = 'x'", "batch_size = ['a..b']"])
def test_a_wrong_entry_of_the_settings_is_told_beside_the_findings(tmp_path, entry):
    (tmp_path / "cfgfix.toml").write_text(MACHINE + f"select = ['YML001']\n[keys]\n{entry}\n")

    async def scenario(editor):
        found = await editor.open("config.yaml", TEXT)
        assert found[0].code is None
        assert found[0].message.startswith(f"{os.path.join(str(tmp_path), 'cfgfix.toml')}: keys")
        assert [item.code for item in found[1:]] == ["YML001"]
        assert found[1].range.start == types.Position(4, 17)
        actions = await editor.actions("config.yaml", found[1].range)
        fix = next(item for item in actions if item.is_preferred)
        assert fix.diagnostics[0].code == "YML001"
        changed = editor.applied("config.yaml", fix.edit.changes[editor.uri("config.yaml")])
        assert changed == TEXT.replace("1e-4", "1.0e-4")

    session(tmp_path, scenario)


def test_an_unsafe_fix_says_so_in_its_title(tmp_path):
    text = "model: {decoder_dim: 1024}\ntraining:\n  epochs: 3\n  learning_rate: 1.0e-4\ndata:\n  batch_size: 32\n  num_workers: 8\n  prefetch_buffer_size: 100\n  max_text_tokens: 200\n"
    (tmp_path / "cfgfix.toml").write_text(MACHINE)

    async def scenario(editor):
        await editor.open("config.yaml", text)
        actions = await editor.actions("config.yaml", everywhere(text), [types.CodeActionKind.QuickFix])
        unsafe = [item for item in actions if "(unsafe:" in item.title]
        assert unsafe, [item.title for item in actions]
        assert not any(item.is_preferred for item in unsafe)
        every = await editor.actions("config.yaml", everywhere(text), [types.CodeActionKind("source.fixAll")])
        for action in every:
            changed = editor.applied("config.yaml", action.edit.changes[editor.uri("config.yaml")])
            for item in unsafe:
                assert changed != editor.applied("config.yaml", item.edit.changes[editor.uri("config.yaml")])

    session(tmp_path, scenario)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_columns_count_in_the_units_agreed_on(tmp_path, encoding):
    text = "model: {decoder_dim: 1024}\ndata: {batch_size: 8, name: '😀é', num_workers: 4}\ntraining: {epochs: 3, note: '😀é', learning_rate: 1e-4}\n"

    async def scenario(editor):
        assert editor.answer.capabilities.position_encoding == encoding
        found = await editor.open("config.yaml", text)
        bad = next(item for item in found if item.code == "YML001")
        before = text.splitlines()[2].partition("1e-4")[0]
        unit = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}[encoding]
        assert bad.range.start.character == len(before.encode(unit[0])) // unit[1]
        actions = await editor.actions("config.yaml", bad.range)
        fix = next(item for item in actions if item.is_preferred)
        changed = editor.applied("config.yaml", fix.edit.changes[editor.uri("config.yaml")])
        assert changed == text.replace("1e-4", "1.0e-4")

    session(tmp_path, scenario, encodings=(encoding,))


def test_all_safe_fixes_at_once_keep_the_rest(tmp_path):
    text = TEXT.replace("  epochs: 3\n", "  epochs: 3\n  min_learning_rate: 1e-6  # least\n")

    async def scenario(editor):
        await editor.open("config.yaml", text)
        actions = await editor.actions(
            "config.yaml", everywhere(text), [types.CodeActionKind("source.fixAll")]
        )
        assert [item.kind for item in actions] == ["source.fixAll.cfgfix"]
        changed = editor.applied("config.yaml", actions[0].edit.changes[editor.uri("config.yaml")])
        assert changed == text.replace("1e-4", "1.0e-4").replace("1e-6", "1.0e-6")
        editor.replace("config.yaml", changed)
        await editor.diagnostics("config.yaml")
        again = await editor.actions("config.yaml", everywhere(text), [types.CodeActionKind("source.fixAll")])
        assert again == []

    session(tmp_path, scenario)


def test_hover_tells_the_rule_the_key_and_the_value_on_this_machine(tmp_path):
    (tmp_path / "cfgfix.toml").write_text(MACHINE)

    async def scenario(editor):
        await editor.open("config.yaml", TEXT)
        rule = await editor.hover("config.yaml", "1e-4")
        assert rule.contents.kind == types.MarkupKind.Markdown
        assert "**YML001** float-without-dot-is-str (error)" in rule.contents.value
        assert "PyYAML" in rule.contents.value
        assert "*Fix (safe):*" in rule.contents.value
        workers = (await editor.hover("config.yaml", "num_workers")).contents.value
        assert "`data.num_workers`" in workers
        assert "cpu.usable = 8" in workers
        assert "HWR001 workers-above-cores: speaks here" in workers
        clean = (await editor.hover("config.yaml", "batch_size")).contents.value
        assert "`data.batch_size`" in clean
        assert "rtx4090" in clean.lower() or "RTX 4090" in clean
        assert await editor.hover("config.yaml", "a speech run") is None

    session(tmp_path, scenario)


def test_questions_about_files_that_are_not_there_have_no_answer(tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\x00")
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    (tmp_path / "there.yaml").write_text(TEXT)

    async def scenario(editor):
        origin = types.Position(0, 0)
        for name in ("absent.yaml", "gone/absent.py", "pipe.yaml", "folder.yaml", "bytes.yaml", "loop.yaml"):
            document = types.TextDocumentIdentifier(editor.uri(name))
            hover = await editor.wait(
                editor.client.text_document_hover_async(types.HoverParams(document, origin))
            )
            assert hover is None
            completion = await editor.wait(
                editor.client.text_document_completion_async(types.CompletionParams(document, origin))
            )
            assert not completion.items
            actions = await editor.wait(
                editor.client.text_document_code_action_async(
                    types.CodeActionParams(document, types.Range(origin, origin), types.CodeActionContext([]))
                )
            )
            assert not actions
        editor.texts["there.yaml"] = TEXT
        assert "YML001" in (await editor.hover("there.yaml", "1e-4")).contents.value

    session(tmp_path, scenario)


def test_without_a_named_machine_hover_says_how_to_name_one(tmp_path):
    (tmp_path / "cfgfix.toml").write_text("hardware = 'none'\n")

    async def scenario(editor):
        await editor.open("config.yaml", TEXT)
        text = (await editor.hover("config.yaml", "num_workers")).contents.value
        assert "Name the training machine in the settings" in text
        assert "needs a machine" in text

    session(tmp_path, scenario)


def test_completion_of_keys_with_their_text_and_did_you_mean(tmp_path):
    async def scenario(editor):
        text = TEXT + "  num_wor"
        await editor.open("config.yaml", TEXT.replace("  num_workers: 64\n", ""))
        editor.replace("config.yaml", text.replace("  num_workers: 64\n", ""))
        await editor.diagnostics("config.yaml")
        items = await editor.complete("config.yaml", "  num_wor", 9)
        assert items[0].label == "num_workers"
        assert items[0].text_edit.new_text == "num_workers: "
        assert editor.applied("config.yaml", [items[0].text_edit]).endswith("\n  num_workers: ")
        editor.replace("config.yaml", TEXT + "  bacth_size")
        await editor.diagnostics("config.yaml")
        editor.replace("config.yaml", TEXT.replace("  batch_size: 32\n", "") + "  bacth_size")
        await editor.diagnostics("config.yaml")
        items = await editor.complete("config.yaml", "  bacth_size", 12)
        slip = next(item for item in items if item.label == "batch_size")
        assert slip.detail.startswith("did you mean batch_size?")
        assert slip.filter_text == "bacth_size", "else an editor would filter it away"
        editor.replace("config.yaml", TEXT + "train")
        await editor.diagnostics("config.yaml")
        labels = [item.label for item in await editor.complete("config.yaml", "\ntrain", 1)]
        assert "model" not in labels, "a key that is there is not offered again"

    session(tmp_path, scenario)


def test_completion_of_values_from_the_schema(tmp_path):
    (tmp_path / "schema.json").write_text(
        '{"type": "object", "properties": {"training": {"type": "object", "properties": {"optimizer": {"enum": ["adam", "adamw", "sgd"], "description": "Which optimizer", "default": "adam"}, "amp": {"type": "boolean"}}}}}'
    )
    (tmp_path / "cfgfix.toml").write_text("schema = 'schema.json'\ndialect = 'generic'\n")

    async def scenario(editor):
        await editor.open("config.yaml", "training:\n  optimizer: ad\n  amp: \n")
        items = await editor.complete("config.yaml", "optimizer: ad", 13)
        assert [item.label for item in items] == ["adam", "adamw"]
        assert items[0].detail == "default"
        assert items[0].documentation == "Which optimizer"
        assert {item.label for item in await editor.complete("config.yaml", "amp: ", 5)} == {"true", "false"}
        editor.replace("config.yaml", "training:\n  optimizer: adawm\n")
        await editor.diagnostics("config.yaml")
        items = await editor.complete("config.yaml", "adawm", 5)
        assert next(item for item in items if item.label == "adamw").detail.startswith("did you mean")
        about = (await editor.hover("config.yaml", "optimizer")).contents.value
        assert "Which optimizer" in about
        assert "Default: `adam`" in about

    session(tmp_path, scenario)


def test_changed_settings_are_in_force_at_once_and_mistakes_are_told(tmp_path):
    (tmp_path / "cfgfix.toml").write_text("select = ['YML001']\n")

    def changed(editor):
        editor.client.workspace_did_change_watched_files(
            types.DidChangeWatchedFilesParams(
                [types.FileEvent(editor.uri("cfgfix.toml"), types.FileChangeType.Changed)]
            )
        )

    async def scenario(editor):
        assert rules(await editor.open("config.yaml", TEXT)) == {"YML001"}
        (tmp_path / "cfgfix.toml").write_text("ignore = ['YML001']\nselect = ['YML']\n")
        changed(editor)
        assert await editor.diagnostics("config.yaml") == []
        (tmp_path / "cfgfix.toml").write_text("selct = ['YML']\n")
        changed(editor)
        told = await editor.diagnostics("config.yaml")
        assert "did you mean 'select'" in told[0].message

    session(tmp_path, scenario)


def test_excluded_files_are_left_alone(tmp_path):
    (tmp_path / "cfgfix.toml").write_text("exclude = ['old']\n")
    (tmp_path / "old").mkdir()

    async def scenario(editor):
        assert await editor.open("old/config.yaml", TEXT) == []
        assert rules(await editor.open("config.yaml", TEXT))

    session(tmp_path, scenario)


def test_a_closed_text_has_no_diagnostics_left(tmp_path):
    async def scenario(editor):
        assert await editor.open("config.yaml", TEXT)
        editor.versions.pop("config.yaml")
        editor.client.text_document_did_close(
            types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(editor.uri("config.yaml")))
        )
        assert await editor.diagnostics("config.yaml") == []

    session(tmp_path, scenario)


def test_the_server_imports_no_tensorflow_and_prints_nothing_else(tmp_path):
    """What else came over standard output would have broken the protocol above; here: what is loaded."""
    import subprocess

    code = "import cfgfix.lsp.server, sys; cfgfix.lsp.server.make(); print([n for n in ('tensorflow', 'torch', 'keras') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def message(method, number=None, params=None):
    content = {"jsonrpc": "2.0", "method": method, "params": params}
    body = json.dumps(content if number is None else {**content, "id": number}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


GREETING = message("initialize", 1, {"processId": None, "rootUri": None, "capabilities": {}})
NONSENSE = (
    b"no header at all\r\n\r\n"
    b"Content-Length: -5\r\n\r\n"
    b"Content-Length: 3\r\n\r\n{a}"
    b'Content-Length: 4\r\n\r\n"\xff\xfe"'
    b"Content-Length: 4\r\n\r\nnull"
    b"Content-Length: 40000\r\n\r\n" + b"[" * 40_000 + message("nothing/known", 7, {})
    + message("textDocument/hover", 8, [1])
    + message("textDocument/didChange", None, {
        "textDocument": {"uri": "file:///never/opened.yaml", "version": 3}, "contentChanges": [{"text": "a: 1"}],
    })
    + message("textDocument/didClose", None, {"textDocument": {"uri": "file:///never/opened.yaml"}})
)  # fmt: skip


@pytest.mark.parametrize("nonsense", [b"", NONSENSE], ids=["plain", "nonsense"])
@pytest.mark.parametrize(("asked", "code"), [(True, 0), (False, 1)], ids=["shutdown", "exit alone"])
def test_the_end_has_the_exit_code_of_the_protocol(tmp_path, nonsense, asked, code):
    import subprocess

    end = (message("shutdown", 2) if asked else b"") + message("exit")
    done = subprocess.run(
        [sys.executable, "-m", "cfgfix", "lsp"],
        input=GREETING + nonsense + end,
        capture_output=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
        timeout=120,
    )
    assert done.returncode == code, done.stderr
    assert b"internal error" not in done.stderr
    assert (b'"id":2' in done.stdout.replace(b" ", b"")) is asked
    if not nonsense:
        assert not done.stderr


HELPERS = """\
import numpy as np
import tensorflow as tf


def spectrum(audio):
    return np.abs(audio)


def load(path):
    audio = tf.io.read_file(path)
    return tf.numpy_function(spectrum, [audio], tf.float32)
"""
PIPELINE = """\
import tensorflow as tf

from speech.helpers import load


def make(paths, n):
    data = tf.data.Dataset.from_tensor_slices(paths)
    # 🎤 as the guide says
    workers = min(n, tf.data.AUTOTUNE)  # all of them
    data = data.map(load, num_parallel_calls=workers)
    return data.batch(8).prefetch(tf.data.AUTOTUNE)
"""


@pytest.fixture
def program(tmp_path):
    package = tmp_path / "src" / "speech"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "helpers.py").write_text(HELPERS)
    (package / "pipeline.py").write_text(PIPELINE)
    (tmp_path / "cfgfix.toml").write_text("source-roots = ['src']\nhardware = 'none'\n")
    return tmp_path


def test_python_is_checked_while_typing_as_a_part_of_its_program(program):
    name, helpers = "src/speech/pipeline.py", "src/speech/helpers.py"

    async def scenario(editor):
        found = await editor.open(name, PIPELINE)
        bad = next(item for item in found if item.code == "TFD020")
        assert bad.range.start == types.Position(8, 14)
        actions = await editor.actions(name, bad.range)
        fix = next(item for item in actions if item.is_preferred)
        changed = editor.applied(name, fix.edit.changes[editor.uri(name)])
        assert changed == PIPELINE.replace("min(n, tf.data.AUTOTUNE)", "tf.data.AUTOTUNE")
        silence = next(item for item in actions if item.title == "Silence TFD020 on this line")
        silenced = editor.applied(name, silence.edit.changes[editor.uri(name)])
        assert "# all of them  # cfgfix: ignore[TFD020]\n" in silenced
        editor.replace(name, silenced)
        assert "TFD020" not in rules(await editor.diagnostics(name))
        editor.replace(name, changed)
        assert "TFD020" not in rules(await editor.diagnostics(name))
        every = await editor.actions(name, everywhere(PIPELINE), [types.CodeActionKind("source.fixAll")])
        assert every == []
        # What makes this function hot stands in the other file, on disk.
        found = await editor.open(helpers, HELPERS)
        slow = next(item for item in found if item.code == "TFD001")
        places = [item.location.uri for item in slow.related_information or ()]
        assert editor.uri(name) in places
        about = (await editor.hover(helpers, "numpy_function")).contents.value
        assert "**TFD001**" in about

    session(program, scenario)


def test_python_that_is_being_written_is_no_end(program):
    name = "src/speech/new.py"

    async def scenario(editor):
        await editor.open(name, "import tensorflow as tf\n\n\ndef f(n):\n    return min(n,")
        editor.replace(name, "import tensorflow as tf\n\n\ndef f(n):\n    return min(n, tf.data.AUTOTUNE)\n")
        assert "TFD020" in rules(await editor.diagnostics(name))
        assert await editor.complete(name, "min", 1) == []

    session(program, scenario)


def test_without_its_extra_it_says_what_to_install():
    import subprocess

    code = "import sys; sys.modules['pygls'] = None; from cfgfix.cli.start import run; sys.exit(run(['lsp']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert 'pip install "cfgfix[lsp]"' in done.stderr
