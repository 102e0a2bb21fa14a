"""`cfgfix check` against yamllint, check-jsonschema (same schema) and `python -c pass`, in one paired run.

    python benchmarks/check.py [--rounds 11] [--peers FOLDER] [--corpus FOLDER] [--output FILE]

One file of about 100 lines, 300 files, and one file of 100,000 lines. Every tool runs from its own virtual environment
with compiled bytecode; cfgfix from its wheel.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from paired import Command, environment, machine, measure, table

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = ROOT / "schemas" / "myxtts" / "schema.json"


def long_config(lines: int) -> str:
    """Return a valid config of about this many lines: one small config, and a long list of texts."""
    head = (ROOT / "configs" / "clean.yaml").read_text(encoding="utf-8").rstrip("\n")
    body = [head, "training:"] if "training:" not in head else [head]
    rows = "\n".join(
        f'    - "sentence number {number} of the long evaluation list"'
        for number in range(lines - head.count("\n") - 2)
    )
    return "\n".join(body) + "\n  text2audio_texts:\n" + rows + "\n"


def hundred_lines() -> str:
    """Return a valid config of about 100 lines: the clean example, filled up with comments as real ones are."""
    text = (ROOT / "configs" / "clean.yaml").read_text(encoding="utf-8")
    missing = 100 - text.count("\n")
    return text + "".join(f"# note {number}: kept from an earlier run\n" for number in range(max(0, missing)))


def corpus_files(folder: Path | None, count: int, into: Path) -> list[str]:
    """Return 300 real configs (copied, so that no settings file of theirs is near), or copies of the example."""
    files: list[str] = []
    if folder is not None and folder.is_dir():
        for path in sorted(folder.rglob("*.y*ml"))[:: max(1, len(list(folder.rglob("*.y*ml"))) // count)][
            :count
        ]:
            target = into / f"{len(files):03d}-{path.name}"
            shutil.copyfile(path, target)
            files.append(str(target))
    text = (ROOT / "configs" / "speech.yaml").read_text(encoding="utf-8")
    while len(files) < count:
        target = into / f"{len(files):03d}.yaml"
        target.write_text(text, encoding="utf-8")
        files.append(str(target))
    return files


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--peers", type=Path, default=Path(tempfile.gettempdir()) / "cfgfix-peers")
    parser.add_argument("--corpus", type=Path, default=ROOT.parent / "shared" / "corpus" / "configs")
    parser.add_argument("--output", type=lambda text: Path(text).resolve())
    parser.add_argument("--only", choices=["one", "many", "long", "fix"])
    options = parser.parse_args()
    yamllint = environment(options.peers, "yamllint", ["yamllint"]) / "yamllint"
    checker = environment(options.peers, "check-jsonschema", ["check-jsonschema"]) / "check-jsonschema"
    own = own_environment(options.peers)
    cfgfix, python = str(own / "cfgfix"), str(own / "python")
    report = [f"`python benchmarks/check.py --rounds {options.rounds}` - {machine()}", ""]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        cache = {"CFGFIX_CACHE_DIR": str(place / "cache")}
        cold = {"CFGFIX_CACHE_DIR": ""}
        lint = ["-d", "relaxed"]
        os.chdir(place)

        def section(title: str, commands: list[Command], rounds: int) -> None:
            print(title, flush=True)
            rows = table(measure(commands, rounds), commands[0].name)
            print("\n".join(rows), flush=True)
            report.extend([f"### {title}", "", *rows, ""])

        one = place / "one.yaml"
        one.write_text(hundred_lines(), encoding="utf-8")
        machine_of = ["--hardware", "rtx4090,cpus=16,ram=64"]
        if options.only in (None, "one"):
            section(
                f"One file of {hundred_lines().count(chr(10))} lines",
                [
                    Command("cfgfix check", [cfgfix, "check", str(one), *machine_of], cold),
                    Command("cfgfix check, unchanged", [cfgfix, "check", str(one), *machine_of], cache),
                    Command("yamllint", [str(yamllint), *lint, str(one)]),
                    Command("check-jsonschema", [str(checker), "--schemafile", str(SCHEMA), str(one)]),
                    Command("python -c pass", [python, "-c", "pass"]),
                ],
                options.rounds,
            )
        if options.only in (None, "fix"):
            broken = place / "broken.yaml"
            text = hundred_lines().replace("learning_rate: 1.0e-4", "learning_rate: 1e-4")
            (place / "template.yaml").write_text(text, encoding="utf-8")
            copy = ["cp", str(place / "template.yaml"), str(broken)]
            section(
                "`fix` of one value against `check` of the same file",
                [
                    Command("cfgfix fix", [cfgfix, "fix", str(broken), *machine_of], cold, before=copy),
                    Command("cfgfix check", [cfgfix, "check", str(broken), *machine_of], cold, before=copy),
                ],
                options.rounds,
            )
        if options.only in (None, "many"):
            many = place / "many"
            many.mkdir()
            files = corpus_files(options.corpus, 300, many)
            section(
                "300 files in one call",
                [
                    Command("cfgfix check", [cfgfix, "check", *files, *machine_of], cold, ok=(0, 1, 3)),
                    Command("yamllint", [str(yamllint), *lint, *files]),
                    Command("check-jsonschema", [str(checker), "--schemafile", str(SCHEMA), *files]),
                    Command("python -c pass", [python, "-c", "pass"]),
                ],
                max(3, options.rounds // 3),
            )
        if options.only in (None, "long"):
            long = place / "long.yaml"
            long.write_text(long_config(100_000), encoding="utf-8")
            section(
                "One file of 100,000 lines",
                [
                    Command("cfgfix check", [cfgfix, "check", str(long), *machine_of], cold),
                    Command("yamllint", [str(yamllint), *lint, str(long)]),
                    Command("check-jsonschema", [str(checker), "--schemafile", str(SCHEMA), str(long)]),
                    Command("python -c pass", [python, "-c", "pass"]),
                ],
                max(3, options.rounds // 3),
            )
    if options.output:
        options.output.write_text("\n".join(report) + "\n", encoding="utf-8")


def own_environment(folder: Path) -> Path:
    """Return the bin folder of an environment with the wheel of this checkout."""
    binaries = environment(folder, "cfgfix", ["build"])
    wheels = folder / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    python = str(binaries / "python")
    subprocess.run(
        [python, "-m", "build", "--wheel", "--outdir", str(wheels), str(ROOT)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    subprocess.run(
        [
            python,
            "-m",
            "pip",
            "install",
            "-q",
            "--force-reinstall",
            "--no-deps",
            *map(str, wheels.glob("*.whl")),
        ],
        check=True,
    )
    subprocess.run([python, "-m", "pip", "install", "-q", *map(str, wheels.glob("*.whl"))], check=True)
    subprocess.run(
        [python, "-m", "compileall", "-q", str(folder / "cfgfix" / "lib")],
        check=False,
        env=clean,
        stdout=subprocess.DEVNULL,
    )
    return binaries


if __name__ == "__main__":
    main()
