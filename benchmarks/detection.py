"""Which dialect does cfgfix find, over the whole corpus of training configs and over YAML of other tools?

Prints the confusion table: a row for each family of the corpus, with how many files were named right, how many were
called "no training config", and every file that was named wrong. Below it, the files that are nobody's training
config, and whether any of them was claimed.

    python benchmarks/detection.py [--shared FOLDER] [--foreign FOLDER ...] [--files]
"""

from __future__ import annotations

import argparse
import collections
import csv
import os
import time
from collections.abc import Iterator
from pathlib import Path

from cfgfix.dialects.detect import Index
from cfgfix.dialects.dialect import dialects
from cfgfix.documents.compose import compose
from cfgfix.errors import UnreadableError
from cfgfix.files import read_source

ROOT = Path(__file__).resolve().parent.parent
FAMILY_DIALECT = {
    "particleflow-mlpf": "particleflow",
    "kubeflow-tfjob": "kubeflow",
    "idealo-isr": "image-super-resolution",
    "dcase-ae": "dcase-autoencoder",
}
"""Families of the corpus whose dialect has another name; all others have the same."""
OWN = {"masoodafar-web+MyXTTSModel/configs/benchmark_config.yaml"}
"""Files of the corpus that no training program loads."""


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


def corpus(shared: Path) -> Iterator[tuple[str, Path]]:
    """Family and path of each file of the corpus."""
    with open(shared / "corpus" / "INDEX.tsv", encoding="utf-8") as stream:
        for row in csv.DictReader(stream, delimiter="\t"):
            yield row["family"], shared / "corpus" / "configs" / row["repo"] / row["path"]


def confusion(shared: Path) -> dict[str, collections.Counter[str]]:
    """For each family, how many of its files were given each dialect ("-" for none)."""
    index = Index(dialects().values())
    table: dict[str, collections.Counter[str]] = {}
    for family, path in corpus(shared):
        found = name_of(path, index)
        table.setdefault(family, collections.Counter())[found or "-"] += 1
    return table


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


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shared", default=os.environ.get("CFGFIX_SHARED", str(ROOT.parent / "shared")))
    parser.add_argument("--foreign", action="append", default=[])
    parser.add_argument("--files", action="store_true", help="list the files without a dialect too")
    options = parser.parse_args()
    shared = Path(options.shared)
    if (shared / "corpus").is_dir():
        start = time.perf_counter()
        table = confusion(shared)
        taken = time.perf_counter() - start
        total: collections.Counter[str] = collections.Counter()
        print(f"{'family':22}{'files':>7}{'right':>7}{'none':>7}{'wrong':>7}  named otherwise")
        for family, counts in sorted(table.items(), key=lambda item: -sum(item[1].values())):
            right = counts[FAMILY_DIALECT.get(family, family)]
            none = counts["-"]
            other = {
                name: count
                for name, count in counts.items()
                if name not in ("-", FAMILY_DIALECT.get(family, family))
            }
            wrong = sum(other.values())
            total.update(files=sum(counts.values()), right=right, none=none, wrong=wrong)
            print(
                f"{family:22}{sum(counts.values()):>7}{right:>7}{none:>7}{wrong:>7}  "
                + ", ".join(f"{name} {count}" for name, count in sorted(other.items()))
            )
        print(f"{'all':22}{total['files']:>7}{total['right']:>7}{total['none']:>7}{total['wrong']:>7}")
        print(f"({taken / total['files'] * 1000:.2f} ms a file, reading and parsing included)")
        if options.files:
            index = Index(dialects().values())
            for family, path in corpus(shared):
                found = name_of(path, index)
                if found != FAMILY_DIALECT.get(family, family):
                    print(f"{family}: {found}: {path}")
    else:
        print(f"no corpus at {shared}")
    folders = [ROOT / "tests" / "data" / "foreign", *map(Path, options.foreign)]
    count, wrong = claimed([folder for folder in folders if folder.is_dir()])
    print(f"\nYAML of other tools: {count} files, {len(wrong)} claimed")
    for name, found in wrong:
        print(f"  {found}: {name}")


if __name__ == "__main__":
    main()
