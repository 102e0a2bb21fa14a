"""An editor without a screen: a real client of the protocol that talks to `cfgfix lsp` over standard input and output."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from cache_folders import after_a_first_run
from lsprotocol import types
from pygls.lsp.client import LanguageClient

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE = 60
"""Seconds until an answer that does not come fails the test; no answer is expected to take long."""


class Editor:
    def __init__(self, folder: Path, encodings=("utf-16",), command=None):
        self.command = command or [sys.executable, "-m", "cfgfix", "lsp", "--stdio"]
        self.folder = folder
        self.encodings = list(encodings)
        self.client = LanguageClient("editor", "1")
        self.told: dict[str, asyncio.Queue] = {}
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params):
            self.told.setdefault(params.uri, asyncio.Queue()).put_nowait(params)

        @self.client.feature(types.WORKSPACE_CONFIGURATION)
        def settings(params):
            return [None for _ in params.items]

        @self.client.feature(types.CLIENT_REGISTER_CAPABILITY)
        def registered(_params):
            return None

    async def __aenter__(self):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("CFGFIX_")}
        environment |= {
            "PYTHONPATH": str(ROOT),
            "PYTHONUTF8": "1",
            "CFGFIX_CACHE_DIR": after_a_first_run(self.folder / ".cache-of-cfgfix"),
        }
        await self.client.start_io(*self.command, cwd=str(self.folder), env=environment)
        self.answer = await self.wait(
            self.client.initialize_async(
                types.InitializeParams(
                    process_id=os.getpid(),
                    root_uri=self.folder.as_uri(),
                    capabilities=types.ClientCapabilities(
                        general=types.GeneralClientCapabilities(
                            position_encodings=[types.PositionEncodingKind(name) for name in self.encodings]
                        )
                    ),
                )
            )
        )
        self.client.initialized(types.InitializedParams())
        return self

    async def __aexit__(self, *error):
        if error[0] is None:
            await self.wait(self.client.shutdown_async(None))
        self.client.exit(None)
        await self.client.stop()

    async def wait(self, answer):
        return await asyncio.wait_for(answer, PATIENCE)

    def uri(self, name):
        return (self.folder / name).as_uri()

    async def open(self, name, text):
        self.texts[name], self.versions[name] = text, 1
        self.client.text_document_did_open(
            types.DidOpenTextDocumentParams(
                types.TextDocumentItem(self.uri(name), "python" if name.endswith(".py") else "yaml", 1, text)
            )
        )
        return await self.diagnostics(name)

    async def diagnostics(self, name):
        """The diagnostics of the newest version of a text."""
        queue = self.told.setdefault(self.uri(name), asyncio.Queue())
        while True:
            found = await self.wait(queue.get())
            if found.version is None or found.version == self.versions.get(name):
                return list(found.diagnostics)

    def type(self, name, *changes):
        """Change a text as an editor does: spans and what replaces them."""
        self.versions[name] += 1
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(self.versions[name], self.uri(name)), list(changes)
            )
        )

    def replace(self, name, text):
        self.texts[name] = text
        self.type(name, types.TextDocumentContentChangeWholeDocument(text))

    def place(self, name, word, inside=1):
        """The position inside the first occurrence of a word."""
        before = self.texts[name][: self.texts[name].index(word) + inside]
        return types.Position(before.count("\n"), len(before) - before.rfind("\n") - 1)

    async def hover(self, name, word, inside=1):
        return await self.wait(
            self.client.text_document_hover_async(
                types.HoverParams(
                    types.TextDocumentIdentifier(self.uri(name)), self.place(name, word, inside)
                )
            )
        )

    async def actions(self, name, span, only=None):
        found = await self.wait(
            self.client.text_document_code_action_async(
                types.CodeActionParams(
                    types.TextDocumentIdentifier(self.uri(name)),
                    span,
                    types.CodeActionContext(diagnostics=[], only=only),
                )
            )
        )
        return list(found or ())

    async def complete(self, name, word, inside):
        found = await self.wait(
            self.client.text_document_completion_async(
                types.CompletionParams(
                    types.TextDocumentIdentifier(self.uri(name)), self.place(name, word, inside)
                )
            )
        )
        return list(found.items)

    def applied(self, name, edits):
        """The text with an answer's edits made as an editor makes them: columns in the units agreed on."""
        lines = self.texts[name].split("\n")
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line) + 1)
        code = {"utf-16": ("utf-16-le", 2), "utf-8": ("utf-8", 1), "utf-32": ("utf-32-le", 4)}[
            str(self.answer.capabilities.position_encoding)
        ]

        def offset(position):
            line = lines[position.line].encode(code[0])[: position.character * code[1]]
            return starts[position.line] + len(line.decode(code[0]))

        text = self.texts[name]
        for edit in sorted(
            edits, key=lambda item: (item.range.start.line, item.range.start.character), reverse=True
        ):
            text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
        return text


def everywhere(text):
    """The span of a whole text."""
    return types.Range(types.Position(0, 0), types.Position(text.count("\n"), 0))
