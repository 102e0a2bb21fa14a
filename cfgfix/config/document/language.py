"""YAML for the fix loop: how a file is parsed, a fix is planned and proven, and a finding is told from others."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Sequence

from cfgfix.config.document.comments import comments
from cfgfix.config.document.compose import Document, compose
from cfgfix.config.document.editor import plan
from cfgfix.config.document.proof import prove
from cfgfix.config.document.refusals import Refusal
from cfgfix.config.loaders.scalars import Loader
from cfgfix.core.edits import Change, Edit, ProofError
from cfgfix.core.findings import Finding

KEPT = 2
"""Parsed texts of one file that are kept: what a fix is planned on, and what it gives."""


class Yaml:
    """One YAML file as the fix loop sees it.

    Args:
        original: The file as it is.
        loader: The project's loader.
    """

    most_findings: int | None = None

    def __init__(self, original: Document, loader: Loader) -> None:
        self._original = original
        self._loader = loader
        self._recent: list[Document] = [original]

    def parse(self, text: str) -> Document:
        """Return a text of the file as nodes."""
        for known in self._recent:
            if known.source.text == text:
                return known
        return self._keep(compose(self._original.source.with_text(text)))

    def text(self, parsed: Document) -> str:
        """Return the text of a document."""
        return parsed.source.text

    def plan(self, parsed: Document, changes: Sequence[Change]) -> list[Edit]:
        """Return the edits that make some changes.

        Raises:
            ProofError: The editor cannot make them exactly.
        """
        try:
            return plan(parsed, changes)
        except Refusal as refusal:
            raise ProofError("plan", str(refusal)) from None

    def prove(
        self, before: Document, after: str, changes: Sequence[Change], edits: Sequence[Edit]
    ) -> Document:
        """Return the parsed text after edits, proven; see `config.document.proof`."""
        return self._keep(prove(before, after, changes, edits, self._loader))

    def comments(self, parsed: Document) -> list[tuple[int, str]]:
        """Return the comments of a document."""
        return comments(parsed)

    def prove_comments(
        self, before: Document, after: str, changes: Sequence[Change], edits: Sequence[Edit]
    ) -> Document:
        """Return the parsed text after comments were written, proven like any other edit."""
        return self.prove(before, after, changes, edits)

    def identity(self, parsed: Document, finding: Finding) -> Hashable:
        """Return a value that tells a finding from others of the file.

        That is its rule, its key path, and the number of the YAML document that it is in.
        """
        if finding.key_path is None:
            return finding.rule, finding.message
        # The bounds lie one behind the other.
        number = bisect_right(parsed.bounds, (finding.location.start, len(parsed.source.text)))
        return finding.rule, number, finding.key_path

    def is_judged(self, parsed: Document) -> bool:
        """Tell whether all rules can judge a document: whether it parses."""
        return parsed.problem is None

    def _keep(self, document: Document) -> Document:
        self._recent = [self._original, document, *self._recent[1:KEPT]]
        return document
