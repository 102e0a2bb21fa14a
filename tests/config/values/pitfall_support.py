"""Helpers: a context over a text, with what a schema and a dialect would say given as plain dictionaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cfgfix.config.document.compose import compose
from cfgfix.config.loaders.scalars import LOADERS
from cfgfix.config.values import CHECKS, Context, Hit, scan
from cfgfix.core.edits import Change, Edit, ReplaceText, splice
from cfgfix.core.findings import KeyPath, format_key_path
from cfgfix.core.source_file import SourceFile

Found = list[tuple[str, Hit]]


def make_context(
    text: str,
    loader: str = "pyyaml",
    *,
    types: Mapping[str, str] | None = None,
    concepts: Mapping[str, str] | None = None,
    enum: Mapping[str, Sequence[object]] | None = None,
    coerces: Sequence[str] = (),
) -> Context:
    def expected(path: KeyPath) -> frozenset[str] | None:
        said = (types or {}).get(format_key_path(path))
        return None if said is None else frozenset(said.split())

    return Context(
        document=compose(SourceFile.from_text(text)),
        loader=LOADERS[loader],
        dialect_name="test",
        expected=expected,
        coerces=lambda path: format_key_path(path) in coerces,
        concept_of=lambda path: (concepts or {}).get(format_key_path(path)),
        enum=lambda path: tuple((enum or {}).get(format_key_path(path), ())),
    )


def find(text: str, loader: str = "pyyaml", **known: object) -> Found:
    """Every hit in a text with the name of its check, in the order of the text."""
    found = [
        (name, hit)
        for name, hits in scan(make_context(text, loader, **known), CHECKS).items()  # type: ignore[arg-type]
        for hit in hits
    ]
    return sorted(found, key=lambda item: (item[1].at.start, item[0]))


def names(found: Found) -> list[str]:
    return [name for name, _ in found]


def only(found: Found) -> Hit:
    assert len(found) == 1, names(found)
    return found[0][1]


def new_text(change: Change) -> str | None:
    return getattr(change, "text", None) or getattr(change, "new", None)


def replaced(text: str, hit: Hit) -> str:
    """The text with the hit's bare replacements made."""
    edits = [
        Edit(change.start, change.end, change.new)
        for change in hit.changes
        if isinstance(change, ReplaceText)
    ]
    assert len(edits) == len(hit.changes)
    return splice(text, edits)
