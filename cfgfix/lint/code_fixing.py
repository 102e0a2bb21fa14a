"""Repair Python files: every fix proven, run to a fixpoint; nothing is written here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cfgfix.code.fixes.proof import ProofError, prove
from cfgfix.core.edits import Edit, ReplaceText, Safety, compatible
from cfgfix.core.findings import Finding
from cfgfix.core.records import dataclass

MAX_PASSES = 12
"""Most rounds; a round applies every fix that does not overlap another, so two or three are usual."""

Findings = Mapping[str, list[Finding]]


@dataclass(slots=True)
class Fixed:
    """What fixing some files came to.

    Attributes:
        texts: The new text of each file that changed.
        findings: What is still found, by path.
        applied: `(path, finding, edits)` of each fix.
        refused: `(path, finding, reason)` of each fix that could not be made or proven.
        cycles: Path to rules that kept undoing each other; such a file is as it was.
    """

    texts: dict[str, str]
    findings: Findings
    applied: list[tuple[str, Finding, tuple[Edit, ...]]]
    refused: list[tuple[str, Finding, str]]
    cycles: dict[str, tuple[str, ...]]


def fix_files(
    texts: Callable[[str], str], check: Callable[[Mapping[str, str]], Findings], *, unsafe: bool
) -> Fixed:
    """Return files with their fixes applied.

    Args:
        texts: The text of a file as it is on disk.
        check: What is found when some files have other texts.
        unsafe: Whether unsafe fixes are applied too.
    """
    changed: dict[str, str] = {}
    seen: dict[str, set[str]] = {}
    applied: list[tuple[str, Finding, tuple[Edit, ...]]] = []
    refused: dict[tuple[str, str, str], tuple[str, Finding, str]] = {}
    cycles: dict[str, tuple[str, ...]] = {}
    findings = check(changed)
    least = Safety.UNSAFE if unsafe else Safety.SAFE
    for _ in range(MAX_PASSES):
        progress = False
        for path, items in findings.items():
            if path in cycles:
                continue
            before = changed.get(path)
            if before is None:
                before = texts(path)
            seen.setdefault(path, {before})
            wanted = [
                item
                for item in items
                if item.fix is not None and item.fix.safety >= least and _identity(path, item) not in refused
            ]
            after, done = _apply(path, before, wanted, refused)
            if not done:
                continue
            if after in seen[path]:
                cycles[path] = tuple(sorted({item.rule for place, item, _ in applied if place == path}))
                changed.pop(path, None)
                applied = [entry for entry in applied if entry[0] != path]
                continue
            seen[path].add(after)
            changed[path] = after
            applied += [(path, item, edits) for item, edits in done]
            progress = True
        if not progress:
            break
        remaining = check(changed)
        for path, item, _ in applied:
            for left in remaining.get(path, ()):
                if left.rule == item.rule and left.context == item.context and left.fix is not None:
                    refused[_identity(path, left)] = (path, left, f"{item.rule} is still found after its fix")
        findings = remaining
    return Fixed(changed, findings, applied, list(refused.values()), cycles)


def _identity(path: str, finding: Finding) -> tuple[str, str, str]:
    return path, finding.rule, f"{finding.context}:{finding.message}"


def _apply(
    path: str,
    text: str,
    wanted: list[Finding],
    refused: dict[tuple[str, str, str], tuple[str, Finding, str]],
) -> tuple[str, list[tuple[Finding, tuple[Edit, ...]]]]:
    """Apply the fixes that go together; where their joint proof fails, one at a time."""
    batch: list[tuple[Finding, list[ReplaceText]]] = []
    taken: list[Edit] = []
    for finding in wanted:
        assert finding.fix is not None
        parts = [item for item in finding.fix.changes if isinstance(item, ReplaceText)]
        edits = [Edit(item.start, item.end, item.new) for item in parts]
        if edits and compatible(taken, edits):
            batch.append((finding, parts))
            taken += edits
    if not batch:
        return text, []
    try:
        after = prove(text, [item for _, parts in batch for item in parts])
    except (ProofError, ValueError):
        pass
    else:
        return after, [(finding, _edits(parts)) for finding, parts in batch]
    for finding, parts in batch:
        try:
            after = prove(text, parts)
        except (ProofError, ValueError) as error:
            refused[_identity(path, finding)] = (path, finding, str(error))
        else:
            return after, [(finding, _edits(parts))]
    return text, []


def _edits(parts: list[ReplaceText]) -> tuple[Edit, ...]:
    return tuple(Edit(item.start, item.end, item.new) for item in parts)
