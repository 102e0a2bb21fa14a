"""Planted faults and healthy programs: whether the cause is named, how exact its size is, and false alarms.

    python benchmarks/planted/run.py                    everything (a quarter of an hour)
    python benchmarks/planted/run.py fit_ loop_save     the cases whose names begin so
    python benchmarks/planted/run.py --markdown         the table for benchmarks/planted/RESULTS.md

Each case runs in a process of its own. What a planted `time.sleep` really took is taken down by its own clock and is the truth.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path[:0] = [str(HERE.parent.parent), str(HERE)]

Slept = dict[str, list[float]]
Found = dict[str, Any]


def verdict(found: Found, name: str) -> Found | None:
    return next(
        (entry for entry in found["verdicts"] if entry["name"] == name and entry["outcome"] == "problem"),
        None,
    )


def says(name: str, words: str = "", *, stage: str = "") -> Callable[[Found], bool]:
    """Return whether the first problem, or one of them, is of this name and holds these words."""

    def judge(found: Found) -> bool:
        entry = verdict(found, name)
        text = json.dumps(entry) if entry else ""
        return entry is not None and bool(re.search(words, text)) and stage in text

    return judge


@dataclass(frozen=True)
class Case:
    """One program with what is planted in it."""

    kind: str
    """`data`, `run` or `step`: the command of `cfgfix profile` that is to name it."""
    right: Callable[[Found], bool] | None = None
    """None for a healthy one."""
    step: float = 0.01
    size: Callable[[Found], float | None] | None = None
    truth: Callable[[Slept], float] | None = None


def stage(label: str) -> Callable[[Found], float | None]:
    """Return the seconds per batch of the slowest stage of this operation."""

    def read(found: Found) -> float | None:
        data = found if found["kind"] == "data" else found["data"]
        fitting = [
            entry for entry in (data or {"stages": ()})["stages"] if entry["operation"].startswith(label)
        ]
        # What it takes undisturbed, where enough readings tell: on a busy machine a thread also waits for the CPU.
        return max(
            (entry["quiet_seconds_per_batch"] or entry["seconds_per_batch"] for entry in fitting),
            default=None,
        )

    return read


def stall(found: Found) -> float | None:
    return max(found["stalls"], key=lambda entry: entry["share"])["seconds"] if found["stalls"] else None


def part(found: Found) -> float | None:
    return found["parts"][0]["seconds"] if found["parts"] else None


def python(found: Found) -> float | None:
    return sum(entry["seconds"] for entry in found["operations"]["operations"] if entry["kind"] == "PyFunc")


def heaviest(name: str) -> Callable[[Found], bool]:
    """Return whether the layer that takes most of the step is of this name."""

    def judge(found: Found) -> bool:
        layers = found["operations"]["layers"]
        return bool(layers) and name in layers[0]["name"]

    return judge


def start(found: Found) -> float | None:
    return found["epoch_start"]["seconds"]


def slept(seconds: float, times: float = 1.0) -> Callable[[Slept], float]:
    """Return what a planted pause of this length really took, so many times."""
    return lambda pauses: statistics.median(pauses[f"{seconds:g}"]) * times


def filled(seconds: float, count: int) -> Callable[[Slept], float]:
    """Return what so many planted pauses in a row took, with what Python and tf.data do between them."""

    def read(pauses: Slept) -> float:
        begins, ends = pauses[f"{seconds:g} from"][::count], pauses[f"{seconds:g} to"][count - 1 :: count]
        return statistics.median(end - begin for begin, end in zip(begins, ends, strict=False))

    return read


WAITS = "waits|one after the other|cannot be told"
CASES: dict[str, Case] = {
    **{
        name: Case("data", step=step)
        for name, step in {
            "in_memory": 0.002,
            "cached": 0.005,
            "cached_finite": 0.005,
            "parallel_wait": 0.01,
            "light_map": 0.005,
            "light_map_sequential": 0.02,
            "small_shuffle": 0.01,
            "without_prefetch": 0.02,
            "one_wait_per_batch": 0.02,
            "interleaved": 0.01,
            "uneven_but_bridged": 0.01,
            "computing_enough": 0.1,
            "noisy_labels": 0.005,
            "even_shards": 0.01,
        }.items()
    },
    "sequential_wait": Case("data", says("stage", WAITS), 0.01, stage("Map"), slept(0.005, 4)),
    "before_full_shuffle": Case(
        "data", says("epoch start", "Shuffle", stage="Map(fetch)"), 0.005, start, filled(0.004, 200)
    ),
    "before_full_shuffle_repeated": Case(
        "data", says("epoch start", "Shuffle|Map"), 0.005, stage("Map"), slept(0.004, 4)
    ),
    "pool_too_small": Case("data", says("stage", "2 threads"), 0.01, stage("ParallelMap"), slept(0.01, 4)),
    "default_pool": Case(
        "data", says("stage", "threads of their pool"), 0.02, stage("ParallelMap"), slept(0.01, 8)
    ),
    "two_maps_share_a_pool": Case(
        "data", says("stage", "2 threads"), 0.01, stage("ParallelMap"), slept(0.006, 4)
    ),
    "python_holds_the_lock": Case("data", says("stage", "TFD001"), 0.005),
    "generator_by_rows": Case("data", says("stage", "TFD003"), 0.01, stage("FromGenerator"), slept(0.003, 8)),
    "sequential_compute": Case("data", says("stage", "Map.multiply."), 0.008),
    "sequential_interleave": Case(
        "data", says("stage", "Interleave"), 0.008, stage("Interleave"), slept(0.004, 4)
    ),
    "map_after_cache": Case("data", says("stage", "Map"), 0.01, stage("Map"), slept(0.005, 4)),
    "nothing_ahead": Case("data", says("input"), 0.008, stage("Map"), slept(0.003, 4)),
    "three_in_a_row": Case(
        "data", says("stage", "one after the other"), 0.006, stage("Map"), slept(0.003, 2)
    ),
    "stall_every_20": Case("data", says("oscillation", "every (19|20)"), 0.005),
    "epochs_refill": Case("data", says("epoch start", "Shuffle"), 0.005, start, filled(0.003, 120)),
    "uneven_shards": Case("data", says("shards", "part-3.tfrecord alone")),
    "sorted_classes": Case("data", says("order", "order of their classes"), 0.005),
    "augmented_before_cache": Case("data", says("repeats", "augment"), 0.005),
    "fit_callback_stall": Case("run", says("stall", "Saver.*every 20 steps"), 0, stall, slept(0.1)),
    "fit_figure": Case("run", says("stall", "Figures.*every 15 steps"), 0, stall, slept(0.06)),
    "fit_end_of_epoch": Case(
        "run", says("stall", "Export.*(end of an epoch|every 25 steps)"), 0, stall, slept(0.3)
    ),
    "fit_checkpoint": Case("run", says("stall", "ModelCheckpoint.*every 10 steps")),
    "fit_eager": Case("run", says("graph", "TFF011")),
    "fit_slow_map": Case("run", says("input", WAITS), 0, stage("Map"), slept(0.005, 4)),
    "fit_slow_source": Case("run", says("input", "Generator")),
    "fit_generator": Case("run", says("input", "Generator")),
    "fit_full_shuffle": Case(
        "run", says("epoch start", "Shuffle", stage="Map"), 0, stage("Map"), slept(0.005, 4)
    ),
    "fit_xla_shapes": Case("run", says("XLA", "TFD035")),
    "loop_log": Case("run", says("between steps", "log"), 0, part, slept(0.005)),
    "loop_save": Case("run", says("stall", "every 25 steps"), 0, stall, slept(0.15)),
    "loop_summaries": Case("run", says("stall", "flush.*every 10 steps"), 0, stall, slept(0.04)),
    "loop_number_argument": Case("run", says("retracing", "TFF001")),
    "loop_shapes": Case("run", says("retracing", "TFF012")),
    "loop_new_function": Case("run", says("retracing", "TFF002")),
    "loop_eager": Case("run", says("graph", "TFF010")),
    "loop_one_dataset_slow": Case("run", says("input")),
    "loop_keeps_tensors": Case("run", says("memory")),
    "fit_nan_in_a_layer": Case("run", says("numbers", "step 31 on.*layer levels .Log.*step 31")),
    "loop_nan_in_the_loss": Case("run", says("numbers", "step 41 on.*first the loss")),
    "loop_nan_in_a_gradient": Case("run", says("numbers", "gradient of .*below/bias.*step 1")),
    "eager_nan": Case("run", says("numbers", "step 22 on")),
    "loop_padding": Case("run", says("padding", "`x` is padding")),
    "loop_stall_in_the_step": Case(
        "run", says("stall", "step.*every (15.9|16) steps"), 0, stall, slept(0.08)
    ),
    "compiled": Case("step"),
    "compiled_wide": Case("step"),
    "reads_each_loss": Case("step"),
    "eager": Case("step", says("graph", "TFF010")),
    "changing_number": Case("step", says("retracing", "TFF001")),
    "function_made_anew": Case("step", says("retracing", "TFF002")),
    "waits_inside": Case("step", says("python", "PyFunc"), 0, python, slept(0.03)),
    "one_heavy_layer": Case("step", heaviest("heavy")),
}


def watch_pauses() -> Slept:
    """Take down what each `time.sleep` really takes, by its length."""
    pauses: Slept = {}
    text = """
def make(plain, clock, pauses):
    def sleep(seconds):
        begin = clock()
        plain(seconds)
        end = clock()
        pauses.setdefault(f"{seconds:g}", []).append(end - begin)
        pauses.setdefault(f"{seconds:g} from", []).append(begin)
        pauses.setdefault(f"{seconds:g} to", []).append(end)
    return sleep
"""
    scope: dict[str, Any] = {}
    # A name in brackets is nobody's file, so a pause stays the user's line.
    exec(compile(text, "<clock>", "exec"), scope)  # noqa: S102
    time.sleep = scope["make"](time.sleep, time.perf_counter, pauses)
    return pauses


def run_case(name: str) -> Found:
    """Run one case in this process."""
    import programs

    case = CASES.get(name, Case("run"))
    pauses = watch_pauses()
    if case.kind == "data":
        import pipelines

        from cfgfix.measure.data import measure
        from cfgfix.measure.data_profile import Plan

        plan = Plan(batches=120, seconds=6, step_seconds=case.step, trace=False)
        found: Found = measure(getattr(pipelines, name), plan).as_dict()
    elif case.kind == "step":
        import steps

        from cfgfix.measure.step import measure as measure_step
        from cfgfix.measure.step_profile import StepPlan

        short = StepPlan(rounds=10, steps=40, seconds=10, compare=False)
        found = measure_step(getattr(steps, name), steps.batches, short).as_dict()
    else:
        from cfgfix.measure import numerics
        from cfgfix.measure.sampling import silent
        from cfgfix.measure.training import job

        text = programs.HEAD + (programs.FAULTS.get(name) or programs.HEALTHY[name])
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            Path("train.py").write_text(text)
            options = {"script": "train.py", "plan": {"steps": 150, "seconds": 30, "data_seconds": 5}}
            found = job(options, silent)
            if found["not_finite"]:
                origin = numerics.job({"script": "train.py", "steps": 170, "seconds": 60}, silent)
                found = numerics.with_origin(found, origin)
            os.chdir("/")
    return {"found": found, "pauses": pauses}


def main() -> None:
    """Run the cases and print the table."""
    import programs

    arguments = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    if "--case" in sys.argv:
        answer = run_case(arguments[0])
        sys.__stdout__.write("\n@@" + json.dumps(answer) + "\n")
        sys.__stdout__.flush()
        os._exit(0)
    cases = {**CASES, **{name: Case("run") for name in programs.HEALTHY}}
    chosen = [name for name in cases if not arguments or name.startswith(tuple(arguments))]
    rows = []
    for name in chosen:
        rows.append(judged(name, cases[name]))
        print(" | ".join(rows[-1]), flush=True)
    faults = [row for row in rows if row[1] == "fault"]
    healthy = [row for row in rows if row[1] == "healthy"]
    sized = [row for row in faults if row[6]]
    print(f"\nload average at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs")
    print(f"cause right: {sum(row[2] == 'yes' for row in faults)} of {len(faults)} faults")
    print(f"size within 20 %: {sum(abs(float(row[6].rstrip(' %'))) <= 20 for row in sized)} of {len(sized)}")
    print(f"called healthy: {sum(row[2] == 'yes' for row in healthy)} of {len(healthy)}")
    if "--markdown" in sys.argv:
        print(
            "\n| program | kind | right | first problem | truth | found | error |\n|---|---|---|---|---|---|---|"
        )
        for row in rows:
            print("| " + " | ".join(row) + " |")


def judged(name: str, case: Case) -> tuple[str, ...]:
    """Run a case in a process of its own and return its row."""
    done = subprocess.run(
        [sys.executable, str(HERE / "run.py"), "--case", name], capture_output=True, text=True, check=False
    )
    line = next((text for text in done.stdout.splitlines() if text.startswith("@@")), None)
    kind = "fault" if case.right else "healthy"
    if line is None:
        return name, kind, "no", f"failed: {done.stderr.strip().splitlines()[-1:]}", "", "", ""
    answer = json.loads(line[2:])
    found, pauses = answer["found"], answer["pauses"]
    problems = [entry for entry in found["verdicts"] if entry["outcome"] == "problem"]
    first = (problems[0]["name"] + ": " + problems[0]["summary"]) if problems else "none"
    right = case.right(found) if case.right else not problems
    truth = size = None
    if case.size and case.truth:
        truth, size = case.truth(pauses), case.size(found)
    return (
        name,
        kind,
        "yes" if right else "no",
        first[:110],
        f"{truth * 1e3:.4g} ms" if truth else "",
        f"{size * 1e3:.4g} ms" if size else "",
        f"{100 * (size / truth - 1):+.1f} %" if truth and size else "",
    )


if __name__ == "__main__":
    main()
