"""Apply fixes to files until nothing more can be fixed, each step proven before it counts; nothing is written here.

The loop knows a file only through a `Language`. A pass plans every fix on the texts as they are, makes those that go
together, and proves them together; where that fails, halves are tried until the fixes that fail are known. A refused fix
is tried again as soon as another fix has changed the text.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

from cfgfix.core.edits import Change, Edit, ProofError, Spans, splice
from cfgfix.core.findings import Applied, Finding, Refused, Severity, fixable
from cfgfix.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    class Language(Protocol):
        """How one kind of file is parsed, edited and proven."""

        def parse(self, text: str, /) -> Any:
            """Return a text in the parsed form that the other methods take."""

        def text(self, parsed: Any, /) -> str:
            """Return the text of a parsed file."""

        def plan(self, parsed: Any, changes: Sequence[Change], /) -> Sequence[Edit]:
            """Return the edits that make the changes of one fix.

            Raises:
                ProofError: They cannot be made exactly.
            """

        def prove(self, before: Any, after: str, changes: Sequence[Change], edits: Sequence[Edit], /) -> Any:
            """Return the parsed text after edits, proven to differ only by the given changes.

            Raises:
                ProofError: It is not.
            """

        def comments(self, parsed: Any, /) -> Iterable[tuple[int, str]]:
            """Return the comments of a text as (offset, text), in the order of the text."""

        def prove_comments(
            self, before: Any, after: str, changes: Sequence[Change], edits: Sequence[Edit], /
        ) -> Any:
            """Return the parsed text after comments were written, proven to be else the same.

            Raises:
                ProofError: It is not.
            """

        def identity(self, parsed: Any, finding: Finding, /) -> Hashable:
            """Return a value that tells a finding from all others of its file.

            Lines that come and go above the finding do not change the value.
            """

        def is_judged(self, parsed: Any, /) -> bool:
            """Tell whether all rules could judge the text.

            Where they could not, a finding in a later text of the file does not count as new.
            """

        @property
        def most_findings(self) -> int | None:
            """The most findings of one rule that are told of one file; None for no limit."""


def planned_edits(language: Language, parsed: Any, finding: Finding) -> tuple[Edit, ...] | None:
    """Return the edits of a finding's fix in the parsed file.

    None where the finding has no fix in this file, or the edits cannot be made.
    """
    if finding.fix is None or not finding.fix.changes:
        return None
    try:
        return tuple(language.plan(parsed, finding.fix.changes))
    except ProofError:
        return None


MAX_PASSES = 100
"""Most rounds; a round applies every fix that does not overlap another, so two or three are usual."""

MAX_CYCLES = 8
"""Most cycles that are taken out of one file before all its fixes are."""

MAX_PROVEN = 1_000_000
"""Code points of one file that may be proven again to find which fixes fail; a proof takes some 50 microseconds for each."""

LEAST_PROOFS = 8
"""Proofs that a file may have for that, however large it is; more with the logarithm of the number of its fixes."""

Findings = Mapping[str, list[Finding]]
Check = Callable[[Mapping[str, str]], Findings]


@dataclass(frozen=True, slots=True)
class Fixed:
    """The result of fixing some files."""

    texts: dict[str, str]
    """The new text of each file that changed."""
    findings: Findings
    """What is still found."""
    applied: dict[str, list[Applied]]
    refused: dict[str, list[Refused]]
    cycles: dict[str, tuple[str, ...]]
    """Rules whose fixes undo each other; those fixes are undone."""


@dataclass(frozen=True, slots=True)
class _PlannedFix:
    """A planned fix."""

    number: int
    path: str
    finding: Finding
    identity: Hashable
    changes: tuple[Change, ...]
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class _FixStep:
    """The result of making some fixes together."""

    items: list[_PlannedFix]
    texts: dict[str, str]
    parsed: dict[str, Any]
    findings: Findings


class _KnownFindings:
    """The findings of a file before a pass, for telling which are new after it."""

    __slots__ = ("counts", "places", "rules")

    def __init__(self, findings: Iterable[Finding], identity: Callable[[Finding], Hashable]) -> None:
        self.counts: Counter[Hashable] = Counter()
        self.rules: Counter[str] = Counter()
        self.places: dict[str, list[int]] = {}
        """Where the findings of each rule begin, in order."""
        for finding in findings:
            self.counts[identity(finding)] += 1
            self.rules[finding.rule] += 1
            self.places.setdefault(finding.rule, []).append(finding.location.start)
        for starts in self.places.values():
            starts.sort()

    def holds(self, rule: str, low: int, high: int) -> bool:
        """Tell whether a finding of a rule begins within a span of the text."""
        starts = self.places.get(rule, ())
        index = bisect_left(starts, low)
        return index < len(starts) and starts[index] <= high


class _OffsetMap:
    """Maps offsets of the text after edits to spans of the text before."""

    __slots__ = ("starts", "whole")

    def __init__(self, edits: Iterable[Edit]) -> None:
        self.whole = sorted(edits, key=lambda edit: (edit.start, edit.end))
        self.starts: list[int] = []
        shift = 0
        for edit in self.whole:
            self.starts.append(edit.start + shift)
            shift += len(edit.new) - (edit.end - edit.start)

    def before(self, offset: int) -> tuple[int, int, bool]:
        """Return the old span of a new offset, and whether an edit wrote or touches it."""
        index = bisect_right(self.starts, offset) - 1
        if index < 0:
            return offset, offset, False
        edit = self.whole[index]
        end = self.starts[index] + len(edit.new)
        if offset <= end:
            return edit.start, edit.end, True
        return offset - end + edit.end, offset - end + edit.end, False


_Key = tuple[str, Hashable]


def fix_files(
    text_of: Callable[[str], str],
    check: Check,
    language_of: Callable[[str], Language],
    *,
    unsafe: bool,
    findings: Findings | None = None,
) -> Fixed:
    """Return files with their fixes applied: every fix proven, run to a fixpoint.

    A fix that cannot be made exactly, or whose proof fails, is refused, and the text stays as it was at that place.

    Args:
        text_of: The text of a file as it is.
        check: What is found in all files when some have other texts.
        language_of: The language of a file.
        unsafe: Whether fixes that may change what the run does are applied too.
        findings: What `check` finds in the files as they are, where it was asked already.
    """
    return _FixRun(text_of, check, language_of, unsafe).run(check({}) if findings is None else findings)


def fix_file(
    path: str,
    text: str,
    check: Callable[[Any], list[Finding]],
    language: Language,
    *,
    unsafe: bool,
    findings: list[Finding] | None = None,
) -> Fixed:
    """Return one file with its fixes applied, as `fix_files` does.

    Args:
        path: The file.
        text: Its text as it is.
        check: What is found in a text of the file, parsed.
        language: Its language.
        unsafe: Whether fixes that may change what the run does are applied too.
        findings: What `check` finds in the text as it is, where it was asked already.
    """
    return fix_files(
        lambda _path: text,
        lambda texts: {path: check(language.parse(texts.get(path, text)))},
        lambda _path: language,
        unsafe=unsafe,
        findings=None if findings is None else {path: findings},
    )


class _FixRun:
    """The state of one run."""

    def __init__(
        self,
        text_of: Callable[[str], str],
        check: Check,
        language_of: Callable[[str], Language],
        unsafe: bool,
    ) -> None:
        self.text_of = text_of
        self.check = check
        self.language_of = language_of
        self.unsafe = unsafe
        self.originals: dict[str, Any] = {}
        self.parsed: dict[str, Any] = {}
        """The files as they are now."""
        self.changed: dict[str, str] = {}
        self.findings: Findings = {}
        self.steps: dict[str, list[tuple[str, list[_PlannedFix]]]] = {}
        """The texts each file had, each with the fixes that made it."""
        self.refused: dict[int, tuple[str, Finding, str]] = {}
        """The findings of this pass whose fixes are refused, by their id in memory, each with its file and why."""
        self.banned: set[_Key] = set()
        self.closed: set[str] = set()
        self.cycles: dict[str, set[str]] = {}
        self.restarts: Counter[str] = Counter()
        self.known: dict[str, _KnownFindings] = {}
        self.proofs: Counter[str] = Counter()
        """How often each file was proven beyond once in a pass."""
        self.errors: dict[tuple[str, frozenset[int]], str | None] = {}
        """What the proofs of this pass gave, by file and fixes."""
        self.recent: dict[str, tuple[frozenset[int], Any]] = {}
        """What the last proof of each file that held gave, parsed."""
        self.plans: dict[str, tuple[Findings, Any, dict[int, _PlannedFix | str]]] = {}
        self.numbers = 0

    def run(self, findings: Findings) -> Fixed:
        self.findings = findings
        for _ in range(MAX_PASSES):
            done = self.one_pass()
            if not done:
                break
            self.note(done)
        else:
            reason = f"there is more to fix after {MAX_PASSES} rounds"
            self.refused = {id(finding): (path, finding, reason) for path, finding, _ in self.candidates()}
        refused: dict[str, list[Refused]] = {}
        for path, finding, reason in self.refused.values():
            refused.setdefault(path, []).append(Refused(finding, reason))
        applied = {
            path: [Applied(item.finding, item.edits) for _, items in steps for item in items]
            for path, steps in self.steps.items()
        }
        return Fixed(
            self.changed,
            self.findings,
            {path: items for path, items in applied.items() if items},
            refused,
            {path: tuple(sorted(rules)) for path, rules in self.cycles.items()},
        )

    # --- One pass ---

    def one_pass(self) -> list[_PlannedFix]:
        """Make all fixes of one pass that work together, and return the fixes made.

        The others are refused or wait for the next pass.
        """
        self.refused = {}
        self.errors = {}
        self.recent = {}
        self.known = {}
        first = True
        while True:
            batch = self.batch()
            if not batch:
                return []
            good: list[_PlannedFix] = []
            for path, items in _by_path(batch).items():
                if first or self.may_go_on(path):
                    good += self.provable(path, items)
                else:
                    for item in items:
                        self.refuse([item], "too many fixes of the file fail, so this one is not tried")
            first = False
            accepted = self.harmless(good)
            if accepted is not None:
                self.changed = accepted.texts
                self.parsed.update(accepted.parsed)
                self.findings = accepted.findings
                return accepted.items

    def candidates(self) -> Iterable[tuple[str, Finding, Hashable]]:
        """Yield the findings with a fix that may still be tried: path, finding, identity."""
        for path, findings in self.findings.items():
            if path in self.closed:
                continue
            for finding in findings:
                if fixable(finding, unsafe=self.unsafe) and finding.fix is not None and finding.fix.changes:
                    identity = self.language_of(path).identity(self.file(path), finding)
                    if (path, identity) not in self.banned:
                        yield path, finding, identity

    def batch(self) -> list[_PlannedFix]:
        """Return planned fixes whose edits do not overlap; refuse those without a plan."""
        batch: list[_PlannedFix] = []
        taken: dict[str, Spans] = {}
        for path, finding, identity in self.candidates():
            if id(finding) in self.refused:
                continue
            planned = self.planned(path, finding, identity)
            if isinstance(planned, str):
                self.refused[id(finding)] = (path, finding, planned)
            elif taken.setdefault(path, Spans()).add(planned.edits):
                batch.append(planned)
        return batch

    def planned(self, path: str, finding: Finding, identity: Hashable) -> _PlannedFix | str:
        """Return the planned fix of a finding, or the reason why it cannot be made."""
        parsed = self.file(path)
        known = self.plans.get(path)
        if known is None or known[0] is not self.findings or known[1] is not parsed:
            known = self.plans[path] = (self.findings, parsed, {})
        found = known[2].get(id(finding))
        if found is not None:
            return found
        assert finding.fix is not None
        changes = finding.fix.changes
        result: _PlannedFix | str
        try:
            edits = tuple(self.language_of(path).plan(parsed, changes))
        except ProofError as error:
            result = str(error)
        else:
            self.numbers += 1
            result = (
                _PlannedFix(self.numbers, path, finding, identity, changes, edits)
                if edits
                else "the fix changes nothing"
            )
        known[2][id(finding)] = result
        return result

    def file(self, path: str) -> Any:
        """Return a file in its present state, parsed."""
        found = self.parsed.get(path)
        if found is None:
            found = self.originals.get(path)
            if found is None:
                found = self.originals[path] = self.language_of(path).parse(self.text_of(path))
            self.parsed[path] = found
        return found

    # --- What goes together ---

    def provable(self, path: str, items: list[_PlannedFix]) -> list[_PlannedFix]:
        """Return the fixes of a file that can be proven together; refuse those that fail."""
        # As a rule a fix fails by itself, so what is left is proven together once.
        found = self.halved(path, items, joined=False)
        if not found or self.proof_error(path, found) is None:
            return found
        return self.halved(path, items, joined=True)

    def halved(self, path: str, items: list[_PlannedFix], *, joined: bool) -> list[_PlannedFix]:
        """Return the fixes of a file without those that fail, found by halving.

        With `joined`, the fixes returned are also proven together.
        """
        if not items:
            return items
        error = self.proof_error(path, items)
        if error is None:
            return items
        if len(items) == 1 or not self.may_go_on(path):
            self.refuse(items, error)
            return []
        middle = len(items) // 2
        first = self.halved(path, items[:middle], joined=joined)
        second = self.halved(path, items[middle:], joined=joined)
        if not first or not second:
            return first or second
        both = first + second
        if not joined or (len(both) < len(items) and self.proof_error(path, both) is None):
            return both
        # They fail only together: the others are tried again on the text that the ones kept give.
        return max(first, second, key=len)

    def proof_error(self, path: str, items: list[_PlannedFix]) -> str | None:
        """Return the reason why the proof of some fixes of a file fails.

        None where the proof holds.
        """
        key = frozenset(item.number for item in items)
        if (path, key) not in self.errors:
            before = self.file(path)
            language = self.language_of(path)
            edits = [edit for item in items for edit in item.edits]
            changes = [change for item in items for change in item.changes]
            self.proofs[path] += 1
            error: str | None = None
            try:
                text = splice(language.text(before), edits)
                self.recent[path] = (key, language.prove(before, text, changes, edits))
            except (ProofError, ValueError) as caught:
                error = str(caught)
            self.errors[path, key] = error
        return self.errors[path, key]

    def proven(self, path: str, items: list[_PlannedFix]) -> Any:
        """Return the parsed file after some fixes that were proven together."""
        key = frozenset(item.number for item in items)
        if self.recent.get(path, (None,))[0] != key:
            # Others were proven since; only the last result is kept, since a large file takes much room.
            self.errors.pop((path, key), None)
            self.proof_error(path, items)
        return self.recent[path][1]

    def may_go_on(self, path: str) -> bool:
        """Tell whether a file's limit of proofs still allows a search for failing fixes."""
        size = len(self.language_of(path).text(self.file(path))) + 1
        least = LEAST_PROOFS + 6 * len(self.planned_of(path)).bit_length()
        return self.proofs[path] < max(least, MAX_PROVEN // size)

    def planned_of(self, path: str) -> Mapping[int, _PlannedFix | str]:
        return self.plans[path][2] if path in self.plans else {}

    def refuse(self, items: list[_PlannedFix], reason: str) -> None:
        for item in items:
            told = reason if len(items) == 1 else f"{len(items)} fixes fail together: {reason}"
            self.refused[id(item.finding)] = (item.path, item.finding, told)

    def harmless(self, items: list[_PlannedFix]) -> _FixStep | None:
        """Return a step of fixes that remove their findings and bring no new error.

        The others are refused or wait. None where no fix is left.
        """
        while items:
            step = self.checked(items)
            left = self.still_found(step)
            if left:
                for item in left:
                    self.refuse([item], f"{item.finding.rule} is still found after its fix")
                gone = {item.number for item in left}
                kept: list[_PlannedFix] = []
                for path, group in _by_path([item for item in items if item.number not in gone]).items():
                    kept += self.provable(path, group)
                items = kept
                continue
            new, authors = self.new_errors(step)
            if new is None:
                return step
            others = [item for item in items if item.number not in authors]
            if authors and others:
                # What wrote where the errors stand waits, so that it holds up none of the others.
                items = self.all_provable(others)
                continue
            reason = f"the fix would bring a new error: {new.rule} {new.message}"
            if len(items) == 1 or not all(self.may_go_on(path) for path in _by_path(items)):
                self.refuse(items, reason)
                return None
            middle = len(items) // 2
            halves = [self.harmless(self.all_provable(part)) for part in (items[:middle], items[middle:])]
            first, second = halves
            if first is None or second is None:
                return first or second
            both = first.items + second.items
            if len(both) < len(items) and all(
                self.proof_error(path, group) is None for path, group in _by_path(both).items()
            ):
                joined = self.checked(both)
                if not self.still_found(joined) and self.new_errors(joined)[0] is None:
                    return joined
            return max(first, second, key=lambda step: len(step.items))
        return None

    def all_provable(self, items: list[_PlannedFix]) -> list[_PlannedFix]:
        return [item for path, group in _by_path(items).items() for item in self.provable(path, group)]

    def checked(self, items: list[_PlannedFix]) -> _FixStep:
        """Return the step of some proven fixes: the new texts and the findings in them."""
        parsed = {path: self.proven(path, group) for path, group in _by_path(items).items()}
        texts = dict(self.changed)
        for path, result in parsed.items():
            texts[path] = self.language_of(path).text(result)
            self.proofs[path] += 1
        return _FixStep(items, texts, parsed, self.check(texts))

    def still_found(self, step: _FixStep) -> list[_PlannedFix]:
        """Return the fixes of a step whose findings are still there after it."""
        left: list[_PlannedFix] = []
        for path, items in _by_path(step.items).items():
            identity = self.identity(path, step)
            after: dict[Hashable, list[int]] = {}
            for finding in step.findings.get(path, ()):
                after.setdefault(identity(finding), []).append(finding.location.start)
            meant = Counter(item.identity for item in items)
            known = self.known_of(path).counts
            before = len(left)
            moved: _OffsetMap | None = None
            for item in items:
                places = after.get(item.identity, ())
                if len(places) <= known[item.identity] - meant[item.identity]:
                    continue
                if meant[item.identity] > 1:
                    # Several findings that say the same: the place tells which of them stayed.
                    moved = moved or _OffsetMap(edit for other in items for edit in other.edits)
                    start, end = item.finding.location.start, item.finding.location.end
                    spans = [moved.before(place) for place in places]
                    if not any(low <= end and high >= start for low, high, _ in spans):
                        continue
                left.append(item)
            if len(left) == before and any(
                len(after.get(key, ())) > known[key] - count for key, count in meant.items()
            ):
                left += items
        return left

    def new_errors(self, step: _FixStep) -> tuple[Finding | None, set[int]]:
        """Return the first new error of a step, and the fixes that wrote where they stand.

        Fixes are given by number. The error is None where the step brings none.
        """
        changed = _by_path(step.items)
        first: Finding | None = None
        authors: set[int] = set()
        for path, findings in step.findings.items():
            before = self.file(path)
            if not self.language_of(path).is_judged(before):
                continue
            known = self.known_of(path)
            identity = self.identity(path, step)
            counts: Counter[Hashable] = Counter()
            moved: _OffsetMap | None = None
            wrote: dict[int, int] = {}
            most = self.language_of(path).most_findings
            for finding in findings:
                key = identity(finding)
                counts[key] += 1
                if finding.severity is not Severity.ERROR or counts[key] <= known.counts[key]:
                    continue
                items = changed.get(path, ())
                moved = moved or _OffsetMap(edit for item in items for edit in item.edits)
                low, high, written = moved.before(finding.location.start)
                if known.holds(finding.rule, low, high):
                    continue
                if most is not None and known.rules[finding.rule] >= most and not written:
                    # It was there before, behind as many others as are told.
                    continue
                first = first or finding
                if written:
                    wrote = wrote or {edit.start: item.number for item in items for edit in item.edits}
                    authors.add(wrote[low])
        return first, authors

    def identity(self, path: str, step: _FixStep) -> Callable[[Finding], Hashable]:
        language = self.language_of(path)
        parsed = step.parsed[path] if path in step.parsed else self.file(path)
        return lambda finding: language.identity(parsed, finding)

    def known_of(self, path: str) -> _KnownFindings:
        """Return the findings of a file before this pass."""
        found = self.known.get(path)
        if found is None:
            language, parsed = self.language_of(path), self.file(path)
            found = self.known[path] = _KnownFindings(
                self.findings.get(path, ()), lambda finding: language.identity(parsed, finding)
            )
        return found

    # --- Cycles ---

    def note(self, items: list[_PlannedFix]) -> None:
        """Note the texts that a pass gave, and undo the fixes that undo each other."""
        again = False
        for path, group in _by_path(items).items():
            steps = self.steps.setdefault(path, [(self.text_of(path), [])])
            text = self.changed[path]
            steps.append((text, group))
            first = next(index for index, (known, _) in enumerate(steps) if known == text)
            if first < len(steps) - 1:
                self.break_cycle(path, [item for _, made in steps[first + 1 :] for item in made])
                again = True
        if again:
            self.findings = self.check(self.changed)

    def break_cycle(self, path: str, items: list[_PlannedFix]) -> None:
        """Start a file over without the fixes that undo each other."""
        self.cycles.setdefault(path, set()).update(item.finding.rule for item in items)
        self.banned.update((path, item.identity) for item in items)
        self.restarts[path] += 1
        if self.restarts[path] > MAX_CYCLES:
            self.closed.add(path)
        del self.steps[path]
        self.parsed.pop(path, None)
        self.changed = {other: text for other, text in self.changed.items() if other != path}


def _by_path(items: Iterable[_PlannedFix]) -> dict[str, list[_PlannedFix]]:
    found: dict[str, list[_PlannedFix]] = {}
    for item in items:
        found.setdefault(item.path, []).append(item)
    return found
