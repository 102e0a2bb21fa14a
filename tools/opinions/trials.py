"""Random edits of real, published and made-up documents by cfgfix, judged by `judge`, which knows nothing of cfgfix."""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
for _place in (ROOT, ROOT / "tests" / "config" / "document"):
    if str(_place) not in sys.path:
        sys.path.insert(0, str(_place))

from making import Maker, make_changes  # noqa: E402 - the tests' own maker of documents

from cfgfix.config.document.compose import Document, compose  # noqa: E402
from cfgfix.config.document.editor import plan  # noqa: E402
from cfgfix.config.document.proof import ProofError, prove  # noqa: E402
from cfgfix.config.document.refusals import Refusal  # noqa: E402
from cfgfix.config.loaders.scalars import LOADERS  # noqa: E402
from cfgfix.core.edits import Change, DeleteKey, InsertKey, RenameKey, SetValue, splice  # noqa: E402
from cfgfix.core.errors import CfgfixError  # noqa: E402
from cfgfix.core.source_file import SourceFile, read_source  # noqa: E402
from tools.opinions.judge import Before, Reader, judge  # noqa: E402

LOADER_NAMES = tuple(LOADERS)
BUSINESS = {SetValue: "set", InsertKey: "insert", DeleteKey: "delete", RenameKey: "rename"}


def plain(change: Change) -> dict[str, Any]:
    """Return a change as plain data, for the judge and for other programs."""
    data: dict[str, Any] = {
        "kind": BUSINESS[type(change)],  # type: ignore[index]
        "path": list(change.path),  # type: ignore[union-attr]
        "document": change.document,  # type: ignore[union-attr]
    }
    for name in ("value", "key", "after", "occurrence", "new"):
        if hasattr(change, name):
            data[name] = getattr(change, name)
    return data


@dataclass
class Tally:
    """What came of many edits."""

    edits: int = 0
    applied: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    unproven: Counter[str] = field(default_factory=Counter)
    opinions: Counter[int] = field(default_factory=Counter)
    """How many edits so many readers had an opinion on."""
    kept_back_right: int = 0
    """Edits that the proof held back though no reader finds fault with them."""
    unparsed: int = 0
    wrong: list[dict[str, Any]] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Take the counts of another tally in."""
        self.edits += other.edits
        self.applied += other.applied
        self.refused += other.refused
        self.unproven += other.unproven
        self.opinions += other.opinions
        self.kept_back_right += other.kept_back_right
        self.unparsed += other.unparsed
        self.wrong += other.wrong

    def data(self) -> dict[str, Any]:
        """Return the counts for a file."""
        return {
            "edits": self.edits,
            "applied": dict(sorted(self.applied.items())),
            "refused": dict(self.refused.most_common()),
            "unproven": dict(self.unproven.most_common()),
            "opinions": {str(count): number for count, number in sorted(self.opinions.items())},
            "kept back though right": self.kept_back_right,
            "documents that do not parse": self.unparsed,
            "wrong": len(self.wrong),
        }


def trial(
    document: Document,
    before: Callable[[], Before],
    rng: random.Random,
    tally: Tally,
    keep: Callable[[str, str, list[Change]], None] | None = None,
) -> None:
    """Try one random edit of a document."""
    changes = make_changes(document, rng, most=1 if rng.random() < 0.85 else 3)
    name = "+".join(sorted({BUSINESS[type(change)] for change in changes}))  # type: ignore[index]
    if len(changes) > 1:
        name = f"{len(changes)} together"
    loader = LOADERS[rng.choice(LOADER_NAMES)]
    tally.edits += 1
    try:
        edits = plan(document, changes)
    except Refusal as refusal:
        tally.refused[refusal.reason.value] += 1
        return
    text = document.source.text
    result = splice(text, edits)
    data = [plain(change) for change in changes]
    try:
        after = prove(document, result, changes, edits, loader)
    except ProofError as error:
        tally.unproven[error.step] += 1
        complaints, opinions = judge(before(), result, data)
        tally.kept_back_right += bool(opinions and not complaints)
        return
    tally.applied[name] += 1
    complaints, opinions = judge(before(), after.source.text, data)
    tally.opinions[opinions] += 1
    if after.source.raw != document.source.encode(result):
        complaints.append("bytes: not those of the text")
    if complaints:
        tally.wrong.append(
            {
                "before": text,
                "after": result,
                "changes": data,
                "complaints": complaints,
                "loader": loader.name,
            }
        )
    elif keep is not None and opinions:
        keep(text, result, changes)


def composed(source: SourceFile | Path) -> Document | None:
    """Return a document that parses, or None."""
    try:
        if isinstance(source, Path):
            source = read_source(source)
        document = compose(source)
    except CfgfixError:
        return None
    return document if document.problem is None else None


def made_up(seed: int) -> SourceFile:
    """Return one made-up document."""
    return SourceFile.from_text(Maker(random.Random(seed)).text(), f"made-up-{seed}.yaml")


def suite(shared: Path) -> list[Path]:
    """The inputs of the YAML test suite."""
    return sorted((shared / "corpus" / "yaml-test-suite" / "data").rglob("in.yaml"))


def real(shared: Path) -> list[Path]:
    """Real training configurations."""
    return sorted(path for path in (shared / "corpus" / "configs").rglob("*.y*ml") if path.is_file())


def run(
    sources: Iterator[SourceFile | Path],
    edits: int,
    each: int,
    seed: int,
    readers: list[Reader],
    keep: Callable[[str, str, list[Change]], None] | None = None,
) -> Tally:
    """Make `edits` edits, `each` of a document, until they are made or there are no more documents."""
    tally = Tally()
    rng = random.Random(seed)
    for source in sources:
        if tally.edits >= edits:
            break
        document = composed(source)
        if document is None:
            tally.unparsed += 1
            continue
        text = document.source.text
        known: list[Before] = []

        def before(text: str = text, known: list[Before] = known) -> Before:
            if not known:
                known.append(Before(text, readers))
            return known[0]

        for _ in range(min(each, edits - tally.edits)):
            trial(document, before, rng, tally, keep)
    return tally
