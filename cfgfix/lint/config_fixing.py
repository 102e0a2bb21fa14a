"""Apply fixes to one text until nothing more can be fixed, each step proven before it counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cfgfix.config.document.compose import Document
from cfgfix.config.document.editor import Refusal, plan
from cfgfix.config.document.proof import ProofError, prove
from cfgfix.config.loaders.scalars import Loader
from cfgfix.core.edits import Change, Edit, compatible, splice
from cfgfix.core.findings import Applied, Finding, KeyPath, Refused, Severity, fixable
from cfgfix.core.records import dataclass

MAX_PASSES = 100
"""Most rounds of fixing one file; a round applies every fix that does not overlap another, so two or three are usual."""

MAX_FIXES = 2_000
"""Most fixes of one file in one run: planning each reads the file's structure, so the work grows with both. What is
left is reported as found, and the next run goes on. No real configuration has more than some dozens."""

Check = Callable[[Document], list[Finding]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What fixing one file came to."""

    document: Document
    findings: list[Finding]
    applied: list[Applied]
    refused: list[Refused]
    cycle: tuple[str, ...] = ()
    """Rules that kept undoing each other; the file is then as it was."""


def _identity(finding: Finding) -> tuple[str, KeyPath | None, str]:
    return finding.rule, finding.key_path, "" if finding.key_path is not None else finding.message


def fix_text(
    original: Document,
    loader: Loader,
    check: Check,
    *,
    unsafe: bool,
    findings: list[Finding] | None = None,
) -> Outcome:
    """Return the fixed document: every fix proven, run to a fixpoint.

    Nothing is written. A fix that cannot be made exactly, or whose proof fails, is refused and the text stays as it
    was at that place.

    Args:
        original: The document as it is.
        loader: The project's loader.
        check: Finds what there is to fix in a document.
        unsafe: Whether fixes that may change what the run does are applied too.
        findings: What `check` found in the original, where it was asked already.
    """
    document = original
    if findings is None:
        findings = check(document)
    applied: list[Applied] = []
    refused: dict[tuple[str, KeyPath | None, str], Refused] = {}
    seen = {original.source.text}
    for _ in range(MAX_PASSES):
        candidates = [
            finding
            for finding in findings
            if fixable(finding, unsafe=unsafe) and _identity(finding) not in refused
        ][: MAX_FIXES - len(applied)]
        step = _round(document, candidates, findings, loader, check, refused)
        if step is None:
            break
        document, findings, done = step
        applied += done
        if document.source.text in seen:
            rules = tuple(sorted({item.finding.rule for item in applied}))
            return Outcome(original, check(original), [], list(refused.values()), rules)
        seen.add(document.source.text)
    else:
        rules = tuple(sorted({item.finding.rule for item in applied}))
        return Outcome(original, check(original), [], list(refused.values()), rules)
    return Outcome(document, findings, applied, list(refused.values()))


def _round(
    document: Document,
    candidates: Sequence[Finding],
    findings: list[Finding],
    loader: Loader,
    check: Check,
    refused: dict[tuple[str, KeyPath | None, str], Refused],
) -> tuple[Document, list[Finding], list[Applied]] | None:
    """Apply as many fixes as go together; where their joint proof fails, one at a time."""
    batch: list[Applied] = []
    taken: list[Edit] = []
    for finding in candidates:
        assert finding.fix is not None
        try:
            edits = plan(document, finding.fix.changes)
        except Refusal as refusal:
            refused[_identity(finding)] = Refused(finding, str(refusal))
            continue
        if not edits:
            refused[_identity(finding)] = Refused(finding, "the fix changes nothing")
            continue
        if compatible(taken, edits):
            batch.append(Applied(finding, tuple(edits)))
            taken += edits
    if not batch:
        return None
    try:
        done, after = _attempt(document, batch, findings, loader, check)
    except ProofError as error:
        if len(batch) == 1:
            refused[_identity(batch[0].finding)] = Refused(batch[0].finding, str(error))
            return _round(
                document,
                [item for item in candidates if _identity(item) not in refused],
                findings,
                loader,
                check,
                refused,
            )
    else:
        return done, after, batch
    for item in batch:
        try:
            done, after = _attempt(document, [item], findings, loader, check)
        except ProofError as error:
            refused[_identity(item.finding)] = Refused(item.finding, str(error))
        else:
            return done, after, [item]
    return None


def _attempt(
    document: Document, batch: list[Applied], findings: list[Finding], loader: Loader, check: Check
) -> tuple[Document, list[Finding]]:
    """Apply a batch and prove it.

    Raises:
        ProofError: The result is not what the fixes mean, a finding stayed, or a new error appeared.
    """
    edits = [edit for item in batch for edit in item.edits]
    changes: list[Change] = []
    for item in batch:
        assert item.finding.fix is not None
        changes += item.finding.fix.changes
    text = splice(document.source.text, edits)
    after = prove(document, text, changes, edits, loader)
    remaining = check(after)
    still = {_identity(finding) for finding in remaining}
    for item in batch:
        if _identity(item.finding) in still:
            raise ProofError("finding", f"{item.finding.rule} is still found after its fix")
    if document.problem is None:
        before = {_identity(finding) for finding in findings}
        for finding in remaining:
            if finding.severity is Severity.ERROR and _identity(finding) not in before:
                raise ProofError(
                    "new-error", f"the fix would bring a new error: {finding.rule} {finding.message}"
                )
    return after, remaining
