"""The story in one command: a speech set is spoken, a pipeline checked and repaired, and measured before and after.

    python examples/speech/run.py              some minutes; --clips 24 --rounds 2 for a short look
    python examples/speech/run.py --record     also writes benchmarks/results/speech.json and the figures in README.md

Each variant works in a process of its own, and only one works at a time; they take turns, round by round, in changing order. A
ratio is the median of the ratios within rounds, so that what else goes on in the machine meets both sides; the CPU time that a
pass takes stands beside it, which other work stretches little. Nothing here sleeps.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from make_speech import make

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "speech.json"
BEGIN, END = "<!-- figures: python examples/speech/run.py --record -->", "<!-- end of figures -->"

BEFORE = "before"
PIPELINE = {
    BEFORE: "slow",
    "after `cfgfix fix`": "fixed",
    "cfgfix.tf, each pass from the WAV files": "fast-uncached",
    "cfgfix.tf, after the first pass": "fast",
}
TRAINING = {
    "before, the learning rate made a number": "slow-number",
    "after `cfgfix fix`": "fixed",
    "cfgfix.tf, each epoch from the WAV files, batches of one length": "fast-one-length-uncached",
    "the same, spectrograms kept after the first epoch": "fast-one-length",
    "the same, batches of like length": "fast",
}
"""What each variant is called, and the folder its program lies in."""


def variants(work: Path) -> None:
    """Copy the programs, and make the variants between the slow and the fast one."""
    for name, source in (
        ("slow", "slow"),
        ("slow-number", "slow"),
        ("fixed", "slow"),
        ("fast", "fast"),
        ("fast-uncached", "fast"),
        ("fast-one-length", "fast"),
        ("fast-one-length-uncached", "fast"),
    ):
        shutil.copytree(HERE / source, work / name, ignore=shutil.ignore_patterns("__pycache__"))
    replace(work / "slow-number" / "train.yaml", "1e-4", "1.0e-4")
    replace(work / "fast-uncached" / "train.yaml", "cache: true ", "cache: false")
    for name in ("fast-one-length", "fast-one-length-uncached"):
        replace(work / name / "train.yaml", "[400, 456, 680, 960]", "[960]")
    replace(work / "fast-one-length-uncached" / "train.yaml", "cache: true ", "cache: false")


def replace(path: Path, old: str, new: str) -> None:
    """Replace a text that must be there."""
    text = path.read_text(encoding="utf-8")
    assert old in text, f"{path} has no {old}"
    path.write_text(text.replace(old, new), encoding="utf-8")


def environment() -> dict[str, str]:
    """Return the environment of the processes: this checkout's cfgfix, and few words of TensorFlow."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    return {**os.environ, "PYTHONPATH": path, "TF_CPP_MIN_LOG_LEVEL": "3"}


def cfgfix(work: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run cfgfix as a user does, and show its last lines."""
    print(f"\n$ cfgfix {' '.join(arguments)}", flush=True)
    done = subprocess.run(  # noqa: S603 - this interpreter, with this checkout
        [sys.executable, "-m", "cfgfix", *arguments],
        cwd=work,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1):
        sys.exit(f"it ended with exit code {done.returncode}:\n{done.stdout}{done.stderr}")
    print(done.stdout.strip())
    return done


class Variant:
    """One variant's process: it takes a word, `pass` or `epoch`, and answers with samples and seconds."""

    def __init__(self, work: Path, folder: str) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - this script again
            [sys.executable, str(Path(__file__).resolve()), "--work-for", folder],
            cwd=work,
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __call__(self, word: str) -> dict[str, Any]:
        """Do one thing, and return the answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(word + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            sys.exit(f"a variant ended with exit code {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)


def work_for(folder: str) -> None:
    """Be a variant's process."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the programs print is no answer
    sys.path.insert(0, os.path.abspath(folder))
    import tensorflow as tf
    from config import load_config
    from loader import make_dataset
    from train import make_step

    config = load_config(f"{folder}/train.yaml")
    dataset = make_dataset(config)
    step = None
    for word in sys.stdin:
        samples = 0
        losses = []
        answer: dict[str, Any] = {}
        try:
            if word.strip() == "epoch" and step is None:
                step = make_step(config)
            start, start_cpu = time.perf_counter(), time.process_time()
            for batch in dataset:
                samples += int(batch["mel"].shape[0])
                if word.strip() == "epoch":
                    losses.append((int(batch["mel"].shape[0]), step(batch)))
            if word.strip() == "epoch":
                answer["loss"] = sum(rows * float(loss) for rows, loss in losses) / samples
                answer["traces"] = step.experimental_get_tracing_count()
            answer.update(
                samples=samples,
                seconds=time.perf_counter() - start,
                cpu_seconds=time.process_time() - start_cpu,
                tensorflow=tf.__version__,
            )
        except Exception as error:  # noqa: BLE001 - told to the other side
            answer["error"] = f"{type(error).__name__}: {error}"
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def in_turn(work: Path, names: dict[str, str], word: str, rounds: int) -> dict[str, dict[str, Any]]:
    """Measure variants in turn; the first pass of each, which starts everything, is told beside the rounds."""
    running = {name: Variant(work, folder) for name, folder in names.items()}
    try:
        first = {name: run(word) for name, run in running.items()}
        for name, answer in first.items():
            if "error" in answer:
                sys.exit(f"{name}: {answer['error']}")
        found: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
        for number in range(rounds):
            for name in list(names) if number % 2 == 0 else list(names)[::-1]:
                found[name].append(running[name](word))
    finally:
        for run in running.values():
            run.close()
    rates = {name: [one["samples"] / one["seconds"] for one in rows] for name, rows in found.items()}
    work = {name: [one["samples"] / one["cpu_seconds"] for one in rows] for name, rows in found.items()}
    base, base_work = rates[next(iter(names))], work[next(iter(names))]
    start = rate(first[next(iter(names))])
    before = dict(zip(list(names)[1:], names, strict=False))
    return {
        name: {
            "samples_per_second": round(statistics.median(values), 1),
            "times_as_fast": round(statistics.median(ratios(values, base)), 2),
            "least": round(min(ratios(values, base)), 2),
            "most": round(max(ratios(values, base)), 2),
            "times_the_row_above": round(statistics.median(ratios(values, rates[before.get(name, name)])), 2),
            "cpu_seconds": round(statistics.median(one["cpu_seconds"] for one in found[name]), 2),
            "times_less_cpu": round(statistics.median(ratios(work[name], base_work)), 2),
            "first_pass_samples_per_second": round(rate(first[name]), 1),
            "first_pass_times_as_fast": round(rate(first[name]) / start, 2),
            **({key: found[name][-1][key] for key in ("traces", "loss")} if word == "epoch" else {}),
        }
        for name, values in rates.items()
    }


def ratios(values: list[float], others: list[float]) -> list[float]:
    """Return the ratio of each round."""
    return [value / other for value, other in zip(values, others, strict=True)]


def rate(answer: dict[str, Any]) -> float:
    """Return samples per second."""
    return float(answer["samples"] / answer["seconds"])


def table(rows: dict[str, dict[str, Any]], first_column: str) -> str:
    """Return rows as a Markdown table."""
    trained = any("traces" in row for row in rows.values())
    head = [first_column, "samples/s", "times as fast", "in each round", "times the row above", "CPU s a pass", "times less CPU", "first pass, samples/s"]  # fmt: skip
    head += ["times traced", "loss of the last epoch"] if trained else []
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for name, row in rows.items():
        cells = [
            name,
            f"{row['samples_per_second']:,g}",
            f"{row['times_as_fast']:g}",
            f"{row['least']:g} to {row['most']:g}",
            f"{row['times_the_row_above']:g}",
            f"{row['cpu_seconds']:g}",
            f"{row['times_less_cpu']:g}",
            f"{row['first_pass_samples_per_second']:,g}",
            *([str(row["traces"]), f"{row['loss']:.3g}"] if trained else []),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Tell the story."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clips", type=int, default=96)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--data", type=Path, help="where the spoken set is kept; by default it is made anew")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument("--no-tune", action="store_true", help="leave the search out")
    parser.add_argument("--no-profile", action="store_true", help="leave out the look at what a run goes to")
    parser.add_argument("--record", action="store_true", help="also write them into the repository")
    parser.add_argument("--work-for", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work_for:
        work_for(options.work_for)
        return
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        print(f"espeak-ng speaks {options.clips} clips", flush=True)
        data = make((options.data or work / "data").resolve(), options.clips)
        if options.data:
            (work / "data").symlink_to(data, target_is_directory=True)
        variants(work)
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None

        crash = Variant(work, "slow")
        answer = crash("epoch")
        crash.close()
        print("\n$ python slow/train.py slow/train.yaml")
        print(answer.get("error", "it runs").splitlines()[0], flush=True)
        before = cfgfix(work, "check", "slow/train.yaml", "slow", "--output-format", "concise")
        cfgfix(work, "fix", "fixed/train.yaml", "fixed", "--output-format", "concise")
        if not options.no_tune:
            cfgfix(work, "tune", "slow-number/train.yaml", "--dataset", "loader:make_dataset", "--config-loader", "config:load_config",
                   "--source-root", "slow-number", "--workers", "1,2,4", "--seconds", "1", "--exit-zero", "--quiet")  # fmt: skip
        if not options.no_profile:
            cfgfix(work, "profile", "run", "fast-one-length/train.py", "fast-one-length/train.yaml")
        after = cfgfix(work, "check", "fast/train.yaml", "fast", "--output-format", "concise")

        pipeline = in_turn(work, PIPELINE, "pass", options.rounds)
        print("\n" + table(pipeline, "input pipeline"), flush=True)
        training = in_turn(work, TRAINING, "epoch", options.rounds)
        print("\n" + table(training, "training"), flush=True)
    made = {
        "clips": options.clips,
        "rounds": options.rounds,
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
        "tensorflow": answer.get("tensorflow") or version(),
        "load": load,
        "runs_before": answer.get("error", "yes").splitlines()[0],
        "findings_before": count(before.stdout),
        "findings_after": count(after.stdout),
        "pipeline": pipeline,
        "training": training,
    }
    if options.json:
        options.json.write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
    if options.record:
        record(made)


def count(text: str) -> int:
    """Return how many findings a concise output has: one a line, each with its place."""
    return sum(
        any(f": {word} " in line for word in ("error", "warning", "info")) for line in text.splitlines()
    )


def version() -> str:
    """Return TensorFlow's version without importing it."""
    from importlib import metadata

    for name in ("tensorflow", "tensorflow-cpu", "tf-nightly"):
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return "unknown"


def record(made: dict[str, Any]) -> None:
    """Write the figures into the repository."""
    RESULTS.write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
    page = HERE / "README.md"
    text = page.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    busy = f"; load of {made['load']:.1f} when it began" if made["load"] is not None else ""
    body = (
        f"\n\nOne run: {made['clips']} clips, {made['rounds']} rounds, {made['cpus']} CPUs and no GPU, Python {made['python']}, "
        f"TensorFlow {made['tensorflow']}{busy}.\n\n{table(made['pipeline'], 'input pipeline')}\n\n{table(made['training'], 'training')}\n\n"
    )
    page.write_text(head + BEGIN + body + END + tail, encoding="utf-8")


if __name__ == "__main__":
    main()
