"""A config as a command line's overrides would make it, and findings back in the file as it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cfgfix.config.document.compose import Document, compose
from cfgfix.config.loaders.scalars import LOADERS
from cfgfix.core.edits import Edit, InsertKey, SetValue, splice
from cfgfix.core.errors import CfgfixError
from cfgfix.core.findings import Finding, Location, parse_key_path
from cfgfix.core.records import replace
from cfgfix.core.source_file import SourceFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def override(document: Document, overrides: Iterable[tuple[str, str]]) -> tuple[Document, tuple[Edit, ...]]:
    """Return the document as command-line overrides make it, with the edits made.

    Raises:
        CfgfixError: A key path is wrong or cannot be set.
    """
    from cfgfix.config.document.editor import plan
    from cfgfix.config.document.refusals import Refusal

    if document.problem is not None or not document.roots:
        return document, ()
    edits: list[Edit] = []
    for key, text in overrides:
        try:
            path = parse_key_path(key)
        except ValueError as error:
            raise CfgfixError(f"--set {key}: {error}") from error
        present = document.find(path) is not None
        value = _override_value(text)
        if present:
            change: SetValue | InsertKey = SetValue(path, value, text if _is_plain(text) else None)
        else:
            last = path[-1] if path else 0
            if not isinstance(last, str):
                raise CfgfixError(f"--set {key}: there is no such place in {document.source.path}")
            change = InsertKey(path[:-1], last, value)
        try:
            edits += plan(document, [change])
        except Refusal as refusal:
            raise CfgfixError(f"--set {key}: {refusal}", path=document.source.path) from refusal
    try:
        text = splice(document.source.text, edits)
    except ValueError as error:
        raise CfgfixError(f"--set: {error}; give each key once") from error
    source = SourceFile.from_bytes(document.source.encode(text), document.source.path)
    return compose(source), tuple(edits)


def _is_plain(text: str) -> bool:
    return (
        bool(text)
        and "\n" not in text
        and "#" not in text
        and text[0] not in "&*!|>%@`{}[],'\""
        and ": " not in text
    )


def _override_value(text: str) -> Any:
    from cfgfix.config.loaders.scalars import resolve

    return resolve(text, LOADERS["pyyaml"]).value


def shifted(finding: Finding, edits: Sequence[Edit], source: SourceFile) -> Finding:
    """Return a finding with its places moved back into the text before the overrides."""
    ordered = sorted(edits, key=lambda edit: edit.start)

    def back(offset: int, *, end: bool) -> int:
        moved = 0
        for edit in ordered:
            new_start = edit.start + moved
            new_end = new_start + len(edit.new)
            if offset <= new_start and not (end and offset == new_start == new_end):
                break
            if offset <= new_end:
                return edit.end if end else edit.start
            moved += len(edit.new) - (edit.end - edit.start)
        return offset - moved

    def place(location: Location) -> Location:
        start = back(location.start, end=False)
        stop = max(start, back(location.end, end=True))
        return source.location(start, min(stop, len(source.text)), location.label)

    return replace(
        finding,
        location=place(finding.location),
        related=tuple(place(location) for location in finding.related),
        fix=None,
        no_fix_reason="the value comes from --set",
    )
