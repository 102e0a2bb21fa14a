"""Which dialect does cfgfix find, over the whole corpus of training configs and over YAML of other tools?

Prints the confusion table, a row for each family of the corpus: its training configs, how many of them were named
right, missed, and named wrong; then its files that are no training config (benchmarks/corpus/no_training_config.tsv
says which and why), and how many of these were claimed. Below it, the same for YAML of other tools, and the time that
detection takes as a share of reading and parsing.

    python benchmarks/detection.py [--shared FOLDER] [--foreign FOLDER ...] [--files] [--record]
"""

from __future__ import annotations

import argparse
import collections
import csv
import fnmatch
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from cfgfix.config.dialects.detect import Index
from cfgfix.config.dialects.dialect import dialects
from cfgfix.config.document.compose import compose
from cfgfix.core.errors import UnreadableError
from cfgfix.core.source_file import read_source

DATA = ROOT / "benchmarks" / "corpus"
FAMILY_DIALECT = {
    "particleflow-mlpf": "particleflow",
    "kubeflow-tfjob": "kubeflow",
    "idealo-isr": "image-super-resolution",
    "dcase-ae": "dcase-autoencoder",
}
"""Families of the corpus whose dialect has another name; all others have the same."""


def name_of(path: Path, index: Index) -> str | None:
    """The dialect of a file, None where it has none or is no YAML."""
    try:
        document = compose(read_source(str(path)))
    except UnreadableError:
        return None
    if document.problem is not None:
        return None
    for root in document.roots:
        found = index.detect(root)
        if found is not None:
            return found.name
    return None


def labelled(shared: Path) -> Iterator[tuple[str, str | None, Path]]:
    """Family, expected dialect (None for no training config) and path of each file of the corpus."""
    patterns = [
        line.split("\t")[0]
        for line in (DATA / "no_training_config.tsv").read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    ]
    with open(shared / "corpus" / "INDEX.tsv", encoding="utf-8") as stream:
        for row in csv.DictReader(stream, delimiter="\t"):
            name = f"{row['repo']}/{row['path']}"
            expected = FAMILY_DIALECT.get(row["family"], row["family"])
            none = any(fnmatch.fnmatch(name, pattern) for pattern in patterns)
            yield row["family"], None if none else expected, shared / "corpus" / "configs" / name


def confusion(shared: Path) -> tuple[dict[str, collections.Counter[str]], list[str]]:
    """For each family, how many of its files came out in which way, and the files that came out wrong."""
    index = Index(dialects().values())
    table: dict[str, collections.Counter[str]] = {}
    errors: list[str] = []
    for family, expected, path in labelled(shared):
        found = name_of(path, index)
        counts = table.setdefault(family, collections.Counter())
        counts["configs" if expected else "others"] += 1
        if found == expected:
            counts["right" if expected else "left"] += 1
        else:
            counts["claimed" if expected is None else "missed" if found is None else "wrong"] += 1
            errors.append(f"{path.relative_to(shared / 'corpus' / 'configs')}: {expected}, found {found}")
    return table, errors


def claimed(folders: list[Path]) -> tuple[int, list[tuple[str, str]]]:
    """How many YAML files the folders hold, and those that were claimed with the dialect."""
    index = Index(dialects().values())
    count, wrong = 0, []
    for folder in folders:
        for path in sorted(folder.rglob("*.y*ml")):
            if path.is_file():
                count += 1
                found = name_of(path, index)
                if found is not None:
                    wrong.append((str(path), found))
    return count, wrong


def cost(shared: Path) -> tuple[float, float]:
    """CPU seconds of reading and parsing the corpus, and of detection, the least of five runs each."""
    paths = [path for _, _, path in labelled(shared)]
    index = Index(dialects().values())
    parsing, detecting = [], []
    for _ in range(5):
        start = time.process_time()
        documents = [compose(read_source(str(path))) for path in paths]
        parsing.append(time.process_time() - start)
        roots = [root for document in documents if document.problem is None for root in document.roots]
        start = time.process_time()
        for root in roots:
            index.detect(root)
        detecting.append(time.process_time() - start)
    return min(parsing), min(detecting)


COLUMNS = ("configs", "right", "missed", "wrong", "others", "left", "claimed")


def report(shared: Path) -> list[str]:
    """The confusion table of the corpus."""
    table, errors = confusion(shared)
    total: collections.Counter[str] = collections.Counter()
    lines = [f"{'family':22}" + "".join(f"{name:>9}" for name in COLUMNS)]
    for family, counts in sorted(
        table.items(), key=lambda item: (-item[1]["configs"], -item[1]["others"], item[0])
    ):
        total.update(counts)
        lines.append(f"{family:22}" + "".join(f"{counts[name]:>9}" for name in COLUMNS))
    lines.append(f"{'all':22}" + "".join(f"{total[name]:>9}" for name in COLUMNS))
    lines += [
        "configs: training configs, and of these named right, missed, named wrong;",
        "others: files that are no training config, and of these left alone, claimed",
        *errors,
    ]
    return lines


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shared", default=os.environ.get("CFGFIX_SHARED", str(ROOT.parent / "shared")))
    parser.add_argument("--foreign", action="append", default=[])
    parser.add_argument("--files", action="store_true", help="list the files without a dialect too")
    parser.add_argument(
        "--record", action="store_true", help="keep the tables in benchmarks/corpus/detection.txt"
    )
    options = parser.parse_args()
    shared = Path(options.shared)
    lines = []
    if (shared / "corpus").is_dir():
        lines += report(shared)
        if options.files:
            index = Index(dialects().values())
            lines += [str(path) for _, _, path in labelled(shared) if name_of(path, index) is None]
        parsing, detecting = cost(shared)
        times = [
            f"\ndetection: {detecting * 1000:.1f} ms of CPU for the corpus, {detecting / parsing:.1%} of reading and parsing it"
        ]
    else:
        lines.append(f"no corpus at {shared}")
        times = []
    folders = [ROOT / "tests" / "data" / "foreign", *map(Path, options.foreign)]
    count, wrong = claimed([folder for folder in folders if folder.is_dir()])
    lines.append(f"\nYAML of other tools: {count} files, {len(wrong)} claimed")
    lines += [f"  {found}: {name}" for name, found in wrong]
    lines += times
    print("\n".join(lines))
    if options.record:
        command = "python benchmarks/detection.py --record\n\n"
        (DATA / "detection.txt").write_text(command + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
