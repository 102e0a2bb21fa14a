"""Python for the fix loop: how a fix is planned and proven, and a finding is told from others."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from cfgfix.code.finding_maker import MAX_FINDINGS
from cfgfix.code.fixes.proof import prove, prove_comments
from cfgfix.code.model.comment_tokens import readable_comments
from cfgfix.core.edits import Change, Edit, ProofError, ReplaceText
from cfgfix.core.findings import Finding


class Python:
    """A Python file as the fix loop sees it: its text, which is parsed anew where it is proven."""

    most_findings: int | None = MAX_FINDINGS

    def parse(self, text: str) -> str:
        """Return the text."""
        return text

    def text(self, parsed: str) -> str:
        """Return the text."""
        return parsed

    def plan(self, _parsed: str, changes: Sequence[Change]) -> list[Edit]:
        """Return the edits that make changes.

        Raises:
            ProofError: One of them is no replacement of text.
        """
        return [Edit(item.start, item.end, item.new) for item in _text_replacements(changes)]

    def prove(self, before: str, after: str, changes: Sequence[Change], _edits: Sequence[Edit]) -> str:
        """Return the text after edits, proven; see `code.fixes.proof`."""
        result = prove(before, _text_replacements(changes))
        if result != after:
            raise ProofError("text", "the text differs outside the edits")
        return result

    def comments(self, parsed: str) -> list[tuple[int, str]]:
        """Return the comments of a text."""
        return readable_comments(parsed)

    def prove_comments(
        self, before: str, after: str, _changes: Sequence[Change], _edits: Sequence[Edit]
    ) -> str:
        """Return the text after edits that write comments, shown to be the same program."""
        prove_comments(before, after)
        return after

    def identity(self, _parsed: str, finding: Finding) -> Hashable:
        """Return the rule of a finding, the code it is about, and what it says."""
        return finding.rule, finding.context, finding.message

    def is_judged(self, _parsed: str) -> bool:
        """Tell that Python is judged as far as it can be read."""
        return True


def _text_replacements(changes: Sequence[Change]) -> list[ReplaceText]:
    found = [change for change in changes if isinstance(change, ReplaceText)]
    if len(found) < len(changes):
        raise ProofError("plan", "the fix changes a key, and this is no configuration")
    return found
