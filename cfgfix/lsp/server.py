"""The server: the protocol on one side, analyses of texts on the other."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from cfgfix import __version__
from cfgfix.core.edits import Edit, Safety
from cfgfix.core.errors import CfgfixError
from cfgfix.core.findings import Finding, Location, Severity, note_parts
from cfgfix.core.source_file import SourceFile, read_source
from cfgfix.core.visible import visible, visible_lines
from cfgfix.lsp import analysis as work
from cfgfix.lsp import answers
from cfgfix.settings.reader import FILES

DELAY = 0.15
"""Seconds of rest in typing before a text is checked: shorter than the pause between two words (about 0.2 s between two
keystrokes of an average typist, Card, Moran and Newell, The Psychology of Human-Computer Interaction, 1983)."""
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}
FIX_ALL = "source.fixAll.cfgfix"


class Server(LanguageServer):
    """The language server, with the last analysis of every open text."""

    def __init__(self) -> None:
        super().__init__("cfgfix", __version__)
        self.analyses: dict[str, tuple[str, work.Analysis]] = {}
        self.opened: dict[str, int | None] = {}
        self.may_leave = False
        """Whether the editor has asked it to shut down."""
        self.left_unasked = False
        """Whether it was told to exit before that, which the protocol calls an error."""
        # One thread: checks run one after the other, beside the loop that answers the editor.
        self.worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="cfgfix")

    def path_of(self, uri: str) -> str:
        """Return the file path of a document, or a name made of its address."""
        path: str | None = to_fs_path(uri) if uri.startswith("file:") else None
        return path or os.path.basename(uri) or "untitled.yaml"

    def text_of(self, uri: str, path: str) -> str | None:
        """Return the text of an open document, or else of its file.

        None where there is neither.
        """
        document = self.workspace.text_documents.get(uri)
        try:
            return document.source if document is not None else read_source(path).text
        except (CfgfixError, OSError, ValueError):
            return None

    async def analysis_of(self, uri: str) -> work.Analysis | None:
        """Return the analysis of a document's present text."""
        path = self.path_of(uri)
        if not work.is_checked(path):
            return None
        text = self.text_of(uri, path)
        if text is None:
            return None
        kept = self.analyses.get(uri)
        if kept is not None and kept[0] == text:
            return kept[1]
        found = await asyncio.get_running_loop().run_in_executor(self.worker, work.analyse, text, path)
        self.analyses[uri] = (text, found)
        return found

    async def check(self, uri: str, *, wait: float = 0.0) -> None:
        """Publish the diagnostics of a document after a pause.

        Nothing is published where it has changed again within `wait` seconds.
        """
        version = self.opened.get(uri)
        if wait:
            await asyncio.sleep(wait)
            if uri not in self.opened or self.opened[uri] != version:
                return
        found = await self.analysis_of(uri)
        if found is None or uri not in self.opened or self.opened[uri] != version:
            return
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(
                uri=uri, version=version, diagnostics=diagnostics(found, uri, self.units)
            )
        )

    def units(self, text: str) -> int:
        """Return the length of a text in the units the editor counts columns by."""
        length: int = self.workspace.position_codec.client_num_units(text)
        return length

    def offset_of(self, source: SourceFile, position: types.Position) -> int:
        """Return the offset of a position given by the editor."""
        number = min(position.line + 1, source.line_count)
        line = source.line_text(number)
        column = counted = 0
        for char in line:
            if counted >= position.character:
                break
            counted += self.units(char)
            column += 1
        return source.line_start(number) + column

    def range_of(self, source: SourceFile, start: int, end: int) -> types.Range:
        """Return the span between two offsets as an editor's range."""
        return types.Range(
            position_of(source, start, self.units),
            position_of(source, end, self.units),
        )

    def edits_of(self, source: SourceFile, edits: Sequence[Edit]) -> list[types.TextEdit]:
        """Return edits in the editor's form."""
        return [
            types.TextEdit(range=self.range_of(source, edit.start, edit.end), new_text=edit.new)
            for edit in edits
        ]


def position_of(source: SourceFile, offset: int, units: Any) -> types.Position:
    """Return an offset as the editor's line and character."""
    line, column = source.position(offset)
    return types.Position(line - 1, units(source.line_text(line)[: column - 1]))


def diagnostics(found: work.Analysis, uri: str, units: Any) -> list[types.Diagnostic]:
    """Return the diagnostics of an analysis: errors first, then findings."""
    from cfgfix.rules.catalogue import builtin

    wrong: list[types.Diagnostic] = []
    if found.error is not None:
        line = types.Position((found.error.line or 1) - 1 if found.error.path == found.source.path else 0, 0)
        wrong = [
            types.Diagnostic(
                range=types.Range(line, line),
                message=str(found.error),
                severity=types.DiagnosticSeverity.Error,
                source="cfgfix",
            )
        ]

    def place(location: Location) -> types.Range:
        return types.Range(
            position_of(found.source, location.start, units), position_of(found.source, location.end, units)
        )

    sources = {found.source.path: found.source}

    def elsewhere(location: Location) -> types.Location:
        """Return a location in this text or in another Python file, as the editor's."""
        if location.path in (found.source.path, found.report.path):
            return types.Location(uri=uri, range=place(location))
        from cfgfix.lint.code_run import read_python

        source = sources.get(location.path)
        if source is None:
            source = sources[location.path] = read_python(location.path)
        span = types.Range(
            position_of(source, min(location.start, len(source.text)), units),
            position_of(source, min(location.end, len(source.text)), units),
        )
        return types.Location(uri=from_fs_path(os.path.abspath(location.path)) or uri, range=span)

    def unneeded(identity: str) -> bool:
        rule = builtin().find(identity)
        return rule is not None and rule.policy.unneeded

    def diagnostic(finding: Finding) -> types.Diagnostic:
        related = [
            types.DiagnosticRelatedInformation(
                location=elsewhere(other), message=visible(other.label or "see here")
            )
            for other in (*finding.related, *finding.flow)
        ]
        return types.Diagnostic(
            range=place(finding.location),
            message=visible_lines(
                finding.message
                + "".join(f"\n{label}: {text}" for label, text in map(note_parts, finding.notes))
            ),
            severity=_SEVERITIES[finding.severity],
            code=finding.rule,
            source="cfgfix",
            related_information=related or None,
            tags=[types.DiagnosticTag.Unnecessary] if unneeded(finding.rule) else None,
        )

    return [*wrong, *(diagnostic(finding) for finding in found.report.findings)]


def make() -> Server:
    """Return the language server with its handlers registered."""
    server = Server()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.opened[params.text_document.uri] = params.text_document.version
        await server.check(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.opened[params.text_document.uri] = params.text_document.version
        await server.check(params.text_document.uri, wait=DELAY)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        server.opened.pop(uri, None)
        server.analyses.pop(uri, None)
        server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri=uri, diagnostics=[]))

    @server.feature(types.SHUTDOWN)
    def shut_down(_params: None) -> None:
        server.may_leave = True

    @server.feature(types.EXIT)
    def leave(_params: None) -> None:
        server.left_unasked = not server.may_leave

    async def all_again() -> None:
        server.analyses.clear()
        for uri in list(server.opened):
            await server.check(uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: types.DidSaveTextDocumentParams) -> None:
        if os.path.basename(server.path_of(params.text_document.uri)) in FILES:
            await all_again()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def watched(params: types.DidChangeWatchedFilesParams) -> None:
        if any(os.path.basename(server.path_of(change.uri)) in FILES for change in params.changes):
            await all_again()

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        found = await server.analysis_of(params.text_document.uri)
        if found is None:
            return None
        answer = answers.hover(found, server.offset_of(found.source, params.position))
        if answer is None:
            return None
        return types.Hover(
            contents=types.MarkupContent(types.MarkupKind.Markdown, answer.text),
            range=server.range_of(found.source, answer.start, answer.end),
        )

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix, FIX_ALL]),
    )
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        uri = params.text_document.uri
        found = await server.analysis_of(uri)
        if found is None:
            return []
        wanted = params.context.only
        offers: list[types.CodeAction] = []
        if wanted is None or _is_wanted_kind(types.CodeActionKind.QuickFix, wanted):
            start = server.offset_of(found.source, params.range.start)
            end = server.offset_of(found.source, params.range.end)
            given = diagnostics(found, uri, server.units)[-len(found.report.findings) or None :]
            for action in work.actions(found, start, end):
                assert action.finding is not None
                offers.append(
                    types.CodeAction(
                        title=action.title,
                        kind=types.CodeActionKind.QuickFix,
                        diagnostics=[given[found.report.findings.index(action.finding)]],
                        is_preferred=action.safety is Safety.SAFE,
                        edit=types.WorkspaceEdit(changes={uri: server.edits_of(found.source, action.edits)}),
                    )
                )
        if (wanted is None and offers) or (wanted is not None and _is_wanted_kind(FIX_ALL, wanted)):
            every = await asyncio.get_running_loop().run_in_executor(
                server.worker, work.fix_all, found.source.text, server.path_of(uri)
            )
            if every is not None:
                offers.append(
                    types.CodeAction(
                        title=every.title,
                        kind=FIX_ALL,
                        edit=types.WorkspaceEdit(changes={uri: server.edits_of(found.source, every.edits)}),
                    )
                )
        return offers

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=[":", " ", "_"])
    )
    async def completion(params: types.CompletionParams) -> types.CompletionList:
        found = await server.analysis_of(params.text_document.uri)
        if found is None:
            return types.CompletionList(is_incomplete=False, items=[])
        offers = answers.complete(found, server.offset_of(found.source, params.position))
        items = [
            types.CompletionItem(
                label=offer.label,
                kind=types.CompletionItemKind.Property
                if offer.kind == "key"
                else types.CompletionItemKind.EnumMember,
                detail=offer.detail or None,
                documentation=offer.documentation or None,
                sort_text=f"{number:04}",
                filter_text=found.source.text[offer.start : offer.end] if offer.slip else None,
                text_edit=types.TextEdit(
                    range=server.range_of(found.source, offer.start, offer.end), new_text=offer.text
                ),
            )
            for number, offer in enumerate(offers)
        ]
        # Slips depend on all that is typed, so the editor must ask again with every letter.
        return types.CompletionList(is_incomplete=True, items=items)

    return server


def _is_wanted_kind(kind: str, wanted: Sequence[str]) -> bool:
    return any(kind == prefix or kind.startswith(prefix + ".") for prefix in wanted)
