"""TensorFlow's own profiler on the planted pipelines, beside what cfgfix says of the same (RESULTS.md): a table by program.

    python benchmarks/planted/beside.py                  all pipelines (four minutes)
    python benchmarks/planted/beside.py sequential_ in_  those whose names begin so

A loop takes batches and is busy for the time of a step with each, as in `run.py`, under `tf.profiler`. Two tools of the `xprof` package read
the trace: the share of a step that waits for input, and the operation that takes most. Its third, the analysis of tf.data's bottleneck, gives
nothing for a trace of a machine without a GPU (xprof 2.24).
"""

from __future__ import annotations

import glob
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path[:0] = [str(HERE.parent.parent), str(HERE)]

import run

WARM, STEPS = 20, 60


def trace(name: str, folder: str) -> list[str]:
    """Run the loop of one pipeline under the profiler and return the files of its trace."""
    import pipelines
    import tensorflow as tf

    step = run.CASES[name].step
    iterator = iter(getattr(pipelines, name)().repeat())
    for _ in range(WARM):
        next(iterator)
        time.sleep(step)
    with tf.profiler.experimental.Profile(folder):
        for number in range(STEPS):
            with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
                next(iterator)
                time.sleep(step)
    return glob.glob(os.path.join(folder, "plugins", "profile", "*", "*.xplane.pb"))


def largest(files: list[str]) -> str:
    """Return the operation that takes most in xprof's table, with its time in a step."""
    from xprof.convert import raw_to_tool_data

    from cfgfix.measure.operations import read_rows

    data, _ = raw_to_tool_data.xspace_to_tool_data(files, "framework_op_stats", {})
    rows = read_rows(json.loads(data), STEPS) if data else []
    return f"{rows[0].kind}, {rows[0].seconds * 1e3:.3g} ms" if rows else "none"


def answer(name: str) -> dict[str, Any]:
    """Return what xprof and cfgfix say of one pipeline."""
    from cfgfix.measure.tracing import read_trace

    with tempfile.TemporaryDirectory() as folder:
        files = trace(name, folder)
        verdict = read_trace(files)
        return {"share": verdict.input_share, "stage": largest(files)}


def main() -> None:
    """Print the table."""
    if "--case" in sys.argv:
        sys.__stdout__.write("\n@@" + json.dumps(answer(sys.argv[1])) + "\n")
        sys.__stdout__.flush()
        os._exit(0)
    chosen = [
        name
        for name, case in run.CASES.items()
        if case.kind == "data" and (not sys.argv[1:] or name.startswith(tuple(sys.argv[1:])))
    ]
    rows = (line.split(" | ") for line in (HERE / "RESULTS.md").read_text().splitlines() if " | " in line)
    said = {row[0].removeprefix("| "): row[3] for row in rows if len(row) > 3}
    print(
        "| program | kind | xprof: share of a step that waits | xprof: largest operation | cfgfix |\n|---|---|---|---|---|"
    )
    for name in chosen:
        done = subprocess.run(
            [sys.executable, str(HERE / "beside.py"), name, "--case"],
            capture_output=True,
            text=True,
            check=False,
        )
        line = next((text for text in done.stdout.splitlines() if text.startswith("@@")), None)
        case = run.CASES[name]
        if line is None:
            told = {"share": None, "stage": f"failed: {done.stderr.strip().splitlines()[-1:]}"}
        else:
            told = json.loads(line[2:])
        share = "-" if told["share"] is None else f"{100 * told['share']:.0f} %"
        print(
            f"| {name} | {'fault' if case.right else 'healthy'} | {share} | {told['stage']} | {said[name]} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
