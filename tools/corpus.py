"""Run all rules over a corpus of real configs, keep what they find as data, and say how often they are right.

    python tools/corpus.py            compare with the snapshot; exit 1 where it differs
    python tools/corpus.py update     write the snapshot, the table of counts and the sheet
    python tools/corpus.py report     findings by family and rule, and precision by the verdicts
    python tools/corpus.py update --code FOLDER
                                      the same three with the code of projects at hand: FOLDER holds checkouts named
                                      owner+name; tools/corpus_code.py says what is checked

The corpus is no part of the project: `--shared FOLDER` or CFGFIX_SHARED names the folder that holds it. What is kept lies
in benchmarks/corpus/: `snapshot.tsv` (what each rule finds in each file), `report.txt` (the tables), `findings.jsonl` (every
error and warning for a second reader: file, line, message and the line itself, but not the rule, and room for a verdict)
and `epidemics.tsv` (why a rule that fires on more than a third of a family is right there). No machine is named, so rules
about the machine that need one do not run.
"""

from __future__ import annotations

import argparse
import collections
import csv
import hashlib
import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cfgfix.core.findings import Finding

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "benchmarks" / "corpus"
SNAPSHOT = DATA / "snapshot.tsv"
SHEET = DATA / "findings.jsonl"
EPIDEMICS = DATA / "epidemics.tsv"
REPORT = DATA / "report.txt"
THIRD = 1 / 3
"""Share of a family's files above which a rule is an epidemic or wrong."""
SMALLEST = 3
"""Fewest files of a family whose shares mean anything."""
MAX_LINES = 12
"""Lines listed for one rule in one file; more are only counted."""


class Seen(NamedTuple):
    """What was found in the corpus."""

    families: dict[str, str]
    """Family of each file."""
    dialects: dict[str, str | None]
    findings: list[tuple[str, Finding]]
    """File and finding, by file and place."""


def shared_folder(named: str | None) -> Path | None:
    """Return the folder with the corpus, or None where there is none."""
    place = Path(named or os.environ.get("CFGFIX_SHARED") or ROOT.parent / "shared")
    return place if (place / "corpus" / "INDEX.tsv").is_file() else None


def run(shared: Path) -> Seen:
    """Check every file of the corpus with every rule, those in preview included."""
    from cfgfix.lint.runner import Request, check
    from cfgfix.settings.reader import Settings

    base = shared / "corpus" / "configs"
    with open(shared / "corpus" / "INDEX.tsv", encoding="utf-8") as stream:
        families = {
            f"{row['repo']}/{row['path']}": row["family"] for row in csv.DictReader(stream, delimiter="\t")
        }
    report = check(
        Request(
            paths=tuple(str(base / name) for name in families),
            settings=Settings(
                root=str(base), tensorflow="requirements", hardware="none", exclude=(), preview=True
            ),
        )
    )
    dialects: dict[str, str | None] = {}
    findings: list[tuple[str, Finding]] = []
    for file in sorted(report.files, key=lambda file: file.path):
        name = os.path.relpath(file.path, base).replace(os.sep, "/")
        dialects[name] = file.dialect
        findings += [(name, finding) for finding in file.findings]
    return Seen(families, dialects, findings)


def snapshot(seen: Seen) -> list[str]:
    """Return the snapshot: a line for each file with its dialect and what each rule finds in which lines."""
    by_file: dict[str, dict[str, list[tuple[str, int]]]] = {name: {} for name in seen.dialects}
    for name, finding in seen.findings:
        by_file[name].setdefault(finding.rule, []).append((finding.severity.name[0], finding.location.line))
    rows = []
    for name, rules in sorted(by_file.items()):
        cells = []
        for rule, places in sorted(rules.items()):
            shown = " ".join(f"{severity}{line}" for severity, line in places[:MAX_LINES])
            more = f" +{len(places) - MAX_LINES}" if len(places) > MAX_LINES else ""
            cells.append(f"{rule}: {shown}{more}")
        rows.append("\t".join((name, seen.dialects[name] or "-", "; ".join(cells))))
    return rows


def stored(path: Path) -> list[str]:
    """Return the lines of a data file, none where it is missing."""
    return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []


def key_of(file: str, line: int, message: str) -> tuple[str, int, str]:
    """Return what a verdict is filed under: file, line, and a digest of the message."""
    return file, line, hashlib.sha256(message.encode()).hexdigest()[:12]


def verdicts() -> dict[tuple[str, int, str], tuple[str, str]]:
    """Return the second reader's verdicts: `accept` or `reject`, and one sentence why."""
    found = {}
    for text in stored(SHEET):
        row = json.loads(text)
        if row["verdict"]:
            found[key_of(row["file"], row["line"], row["message"])] = (row["verdict"], row["why"])
    return found


def sheet(seen: Seen) -> list[str]:
    """Return what the second reader sees, with the verdicts that were given to the same message at the same line before."""
    judged = verdicts()
    rows = []
    for name, finding in seen.findings:
        if finding.severity.name == "INFO":
            continue
        line = finding.location.line
        verdict, why = judged.get(key_of(name, line, finding.message), ("", ""))
        row = {
            "file": name,
            "line": line,
            "severity": finding.severity.name.lower(),
            "message": finding.message,
            "verdict": verdict,
            "why": why,
        }
        rows.append(json.dumps(row, ensure_ascii=False))
    return rows


def epidemics() -> dict[tuple[str, str], str]:
    """Return why a rule may fire on more than a third of a family: family, rule and the reason."""
    return {
        (family, rule): why
        for family, rule, why in (line.split("\t") for line in stored(EPIDEMICS) if line and line[0] != "#")
    }


def frequent(seen: Seen) -> dict[tuple[str, str], tuple[int, int]]:
    """Return the rules that fire on more than a third of a family of three files or more: files concerned, and of how many."""
    files = collections.Counter(seen.families[name] for name, dialect in seen.dialects.items() if dialect)
    hits: dict[tuple[str, str], set[str]] = {}
    for name, finding in seen.findings:
        hits.setdefault((seen.families[name], finding.rule), set()).add(name)
    return {
        key: (len(names), files[key[0]])
        for key, names in sorted(hits.items())
        if len(names) > files[key[0]] * THIRD and files[key[0]] >= SMALLEST
    }


def report(seen: Seen) -> list[str]:
    """Return the tables of findings and of precision."""
    files = collections.Counter(
        seen.families[name] for name, dialect in seen.dialects.items() if dialect is not None
    )
    hits: dict[tuple[str, str], set[str]] = {}
    counts: collections.Counter[tuple[str, str]] = collections.Counter()
    for name, finding in seen.findings:
        family = seen.families[name]
        hits.setdefault((family, finding.rule), set()).add(name)
        counts[family, finding.severity.name] += 1
    lines = [f"{'family':22}{'files':>7}{'errors':>8}{'warnings':>10}{'infos':>7}  rules (files)"]
    for family, number in sorted(files.items(), key=lambda item: -item[1]):
        rules = ", ".join(
            f"{rule} {len(names)}{'*' if len(names) > number * THIRD else ''}"
            for (other, rule), names in sorted(hits.items())
            if other == family
        )
        lines.append(
            f"{family:22}{number:>7}{counts[family, 'ERROR']:>8}{counts[family, 'WARNING']:>10}"
            f"{counts[family, 'INFO']:>7}  {rules}"
        )
    lines += ["* in more than a third of the family's files:"]
    reasons = epidemics()
    for (family, rule), (number, total) in frequent(seen).items():
        lines.append(f"  {family} {rule}, {number} of {total}: {reasons.get((family, rule), 'UNEXPLAINED')}")
    lines += ["", *precision(seen)]
    return lines


def precision(seen: Seen) -> list[str]:
    """Return how many findings of each severity the second reader accepts."""
    judged = verdicts()
    table: dict[tuple[str, str], collections.Counter[str]] = {}
    for name, finding in seen.findings:
        group = "reference" if seen.families[name] == "myxtts" else "others"
        verdict = judged.get(key_of(name, finding.location.line, finding.message), ("unjudged", ""))[0]
        for where in (group, "all"):
            table.setdefault((finding.severity.name, where), collections.Counter())[verdict] += 1
    lines = [f"{'severity':10}{'projects':12}{'accept':>8}{'reject':>8}{'unjudged':>10}{'precision':>11}"]
    for (severity, where), verdict_counts in sorted(table.items()):
        sure = verdict_counts["accept"] + verdict_counts["reject"]
        share = f"{verdict_counts['accept'] / sure:.1%}" if sure else "-"
        lines.append(
            f"{severity.lower():10}{where:12}{verdict_counts['accept']:>8}{verdict_counts['reject']:>8}"
            f"{verdict_counts['unjudged']:>10}{share:>11}"
        )
    return lines


def differences(old: Iterable[str], new: Iterable[str]) -> list[str]:
    """Return what changed between two snapshots."""
    before, after = set(old), set(new)
    return [f"- {line}" for line in sorted(before - after)] + [f"+ {line}" for line in sorted(after - before)]


def with_code(command: str, folder: Path, *, reading: str | None) -> int:
    """Run a command over the projects whose checkouts lie in a folder, and return the exit code."""
    sys.path.insert(0, str(ROOT / "tools"))
    import corpus_code

    if not folder.is_dir() or not corpus_code.checkouts(folder):
        print(f"no checkouts named owner+name in {folder}", file=sys.stderr)
        return 2
    if command == "report" and reading is not None:
        corpus_code.precision(reading)
        return 0
    projects = corpus_code.run(folder)
    if command == "report":
        print("\n".join([*corpus_code.table(projects), ""]))
        corpus_code.precision()
    elif command == "update":
        print(corpus_code.update(projects))
    else:
        changed = corpus_code.differences(projects)
        print("\n".join(changed) if changed else "as in the snapshot")
        return 1 if changed else 0
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("command", nargs="?", default="compare", choices=("compare", "update", "report"))
    parser.add_argument("--shared")
    parser.add_argument("--code", type=Path, default=os.environ.get("CFGFIX_CORPUS_CODE") or None)
    parser.add_argument(
        "--reading",
        choices=("first", "fresh", "last", "older", "later", "stranger"),
        help="with --code and report: the verdicts of a reading that is kept",
    )
    options = parser.parse_args(arguments)
    if options.code is not None:
        return with_code(options.command, Path(options.code), reading=options.reading)
    shared = shared_folder(options.shared)
    if shared is None:
        print("no corpus: name the folder that holds corpus/INDEX.tsv with --shared", file=sys.stderr)
        return 2
    seen = run(shared)
    if options.command == "report":
        print("\n".join(report(seen)))
    elif options.command == "update":
        DATA.mkdir(parents=True, exist_ok=True)
        SNAPSHOT.write_text("\n".join(snapshot(seen)) + "\n", encoding="utf-8")
        SHEET.write_text("\n".join(sheet(seen)) + "\n", encoding="utf-8")
        REPORT.write_text(
            "python tools/corpus.py update\n\n" + "\n".join(report(seen)) + "\n", encoding="utf-8"
        )
        print(f"{len(seen.dialects)} files, {len(seen.findings)} findings")
    else:
        changed = differences(stored(SNAPSHOT), snapshot(seen))
        print("\n".join(changed) if changed else "as in the snapshot")
        return 1 if changed else 0
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
