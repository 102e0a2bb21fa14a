"""`cfgfix check` against yamllint, check-jsonschema (same schema) and `python -c pass`, in one paired run.

    python benchmarks/check.py [--rounds 11] [--peers FOLDER] [--corpus FOLDER] [--only NAME] [--output FILE]

One file of about 100 lines, a fix, 300 files, one file of 100,000 lines, and what the same files take with twenty times
the text. Every tool runs from its own virtual environment with compiled bytecode; cfgfix from its wheel.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import paired
from paired import ROOT, Command, Workload, machine, measure, own_environment, peer, table

SCHEMA = ROOT / "schemas" / "myxtts" / "schema.json"


def write_long_config(path: Path, lines: int) -> None:
    """Write a valid config of about this many lines: one small config, and a long list of texts.

    Line by line, for what this process ever held counts as the peak memory of every process it starts.
    """
    head = (ROOT / "configs" / "clean.yaml").read_text(encoding="utf-8").rstrip("\n")
    with path.open("w", encoding="utf-8") as stream:
        stream.write(head + ("\n" if "training:" in head else "\ntraining:\n") + "  text2audio_texts:\n")
        for number in range(lines - head.count("\n") - 2):
            stream.write(f'    - "sentence number {number} of the long evaluation list"\n')


def hundred_lines() -> str:
    """Return a valid config of about 100 lines: the clean example, filled up with comments as real ones are."""
    text = (ROOT / "configs" / "clean.yaml").read_text(encoding="utf-8")
    missing = 100 - text.count("\n")
    return text + "".join(f"# note {number}: kept from an earlier run\n" for number in range(max(0, missing)))


def corpus_files(folder: Path | None, count: int, into: Path) -> tuple[list[str], str]:
    """Return `count` real configs (copied, so that no settings file of theirs is near), or copies of the example.

    The second value says which.
    """
    into.mkdir()
    files: list[str] = []
    if folder is not None and folder.is_dir():
        found = sorted(folder.rglob("*.y*ml"))
        for path in found[:: max(1, len(found) // count)][:count]:
            target = into / f"{len(files):03d}-{path.name}"
            shutil.copyfile(path, target)
            files.append(str(target))
    real = len(files)
    while len(files) < count:
        target = into / f"{len(files):03d}.yaml"
        shutil.copyfile(ROOT / "configs" / "speech.yaml", target)
        files.append(str(target))
    if real == count:
        return files, f"{count} configs of public projects"
    if real:
        return files, f"{real} configs of public projects and {count - real} copies of the example config"
    return files, f"no corpus at hand: {count} copies of the example config"


def padded(files: list[str], times: int, into: Path) -> list[str]:
    """Copy files, each with comments below it that make it this many times as large."""
    into.mkdir()
    copies = []
    for name in files:
        text = Path(name).read_bytes().rstrip(b"\n")
        target = into / Path(name).name
        line = b"\n# a note kept from an earlier run, of the length of a line\n"
        target.write_bytes(text + line * (len(text) * (times - 1) // len(line) + 1))
        copies.append(str(target))
    return copies


NAMES = ("one", "fix", "many", "long", "memory")


def workloads(
    place: Path, peers: Path, corpus: Path | None, rounds: int, only: str | None = None
) -> Iterator[tuple[str, Workload]]:
    """Yield what is to be timed, made in `place`; each is made when it is its turn."""
    wanted = [name for name in NAMES if only in (None, name)]
    if not wanted:
        return
    own = own_environment(peers)
    cfgfix, python = str(own / "cfgfix"), str(own / "python")
    yamllint = [str(peer(peers, "yamllint") / "yamllint"), "-d", "relaxed"]
    checker = [str(peer(peers, "check-jsonschema") / "check-jsonschema"), "--schemafile", str(SCHEMA)]
    cache = {"CFGFIX_CACHE_DIR": str(place / "cache")}
    cold = {"CFGFIX_CACHE_DIR": ""}
    for_machine = ["--hardware", "rtx4090,cpus=16,ram=64"]
    floor = Command("python -c pass", [python, "-c", "pass"])
    one = place / "one.yaml"
    one.write_text(hundred_lines(), encoding="utf-8")
    # The answer to a file that was just written is not kept.
    for path in (one, place):
        os.utime(path, (path.stat().st_mtime - 3600,) * 2)
    if "one" in wanted:
        yield (
            "one",
            Workload(
                f"One file of {hundred_lines().count(chr(10))} lines",
                [
                    Command("cfgfix check", [cfgfix, "check", str(one), *for_machine], cold),
                    Command("cfgfix check, unchanged", [cfgfix, "check", str(one), *for_machine], cache),
                    Command("yamllint", [*yamllint, str(one)]),
                    Command("check-jsonschema", [*checker, str(one)]),
                    floor,
                ],
                rounds,
                note="the clean example, filled up to 100 lines with comments",
            ),
        )
    if "fix" in wanted:
        broken, template = place / "broken.yaml", place / "template.yaml"
        text = hundred_lines().replace("learning_rate: 1.0e-4", "learning_rate: 1e-4")
        template.write_text(text, encoding="utf-8")

        def again() -> None:
            shutil.copyfile(template, broken)

        yield (
            "fix",
            Workload(
                "`fix` of one value against `check` of the same file",
                [
                    Command("cfgfix fix", [cfgfix, "fix", str(broken), *for_machine], cold, before=again),
                    Command("cfgfix check", [cfgfix, "check", str(broken), *for_machine], cold, before=again),
                ],
                rounds,
            ),
        )
    few = max(3, rounds // 3)
    if "many" in wanted:
        files, note = corpus_files(corpus, 300, place / "many")
        yield (
            "many",
            Workload(
                "300 files in one call",
                [
                    Command("cfgfix check", [cfgfix, "check", *files, *for_machine], cold, ok=(0, 1, 3)),
                    Command("yamllint", [*yamllint, *files]),
                    Command("check-jsonschema", [*checker, *files]),
                    floor,
                ],
                few,
                note=note,
            ),
        )
    if "long" in wanted:
        long = place / "long.yaml"
        write_long_config(long, 100_000)
        yield (
            "long",
            Workload(
                "One file of 100,000 lines",
                [
                    Command("cfgfix check", [cfgfix, "check", str(long), *for_machine], cold),
                    Command("yamllint", [*yamllint, str(long)]),
                    Command("check-jsonschema", [*checker, str(long)]),
                    floor,
                ],
                few,
                note="one config with a long list of texts",
            ),
        )
    if "memory" in wanted:
        files, note = corpus_files(None, 300, place / "plain")
        times = 20
        larger = padded(files, times, place / "padded")
        yield (
            "memory",
            Workload(
                f"Memory: 300 configs, and the same with {times} times the text",
                [
                    Command(
                        "cfgfix check",
                        [cfgfix, "check", *files, *for_machine, "--output-format", "json"],
                        cold,
                    ),
                    Command(
                        "cfgfix check, more text",
                        [cfgfix, "check", *larger, *for_machine, "--output-format", "json"],
                        cold,
                    ),
                ],
                few,
                note="copies of the example config; the text that is added is comments",
            ),
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--peers", type=Path, default=paired.PEERS)
    parser.add_argument("--corpus", type=Path, default=paired.CORPUS)
    parser.add_argument("--output", type=lambda text: Path(text).resolve())
    parser.add_argument("--only", choices=NAMES)
    options = parser.parse_args()
    report = [f"`python benchmarks/check.py --rounds {options.rounds}` - {machine()}", ""]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for _, work in workloads(Path(folder), options.peers, options.corpus, options.rounds, options.only):
            print(work.title, flush=True)
            rows = table(measure(work.commands, work.rounds, work.warmup), work.commands[0].name)
            print("\n".join(rows), flush=True)
            report.extend([f"### {work.title}", "", *rows, ""])
    if options.output:
        options.output.write_text("\n".join(report) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
