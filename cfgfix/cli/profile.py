"""`cfgfix profile run|data|step|devices`: measure, with verdicts."""

from __future__ import annotations

import json
import math
import os
import threading
from collections.abc import Callable, Mapping
from typing import Any

import click

from cfgfix.cli.measuring import (
    JSON,
    QUIET,
    absolute,
    code_of,
    combine_options,
    data_source,
    finite,
    function_option,
    need_numpy,
    need_tensorflow,
    number_option,
    print_answer,
    progress_line,
    require_data_source,
    source_root_option,
)
from cfgfix.core.errors import CfgfixError, ExitCode

VERSION = 1
"""Of the JSON form."""


@click.group("profile", context_settings={"help_option_names": ["-h", "--help"]})
def profile() -> None:
    """Measure a training, its data pipeline, its step or its devices.

    Verdicts say what the figures mean. Your code is imported and run by these commands, in a process of its own with a
    time limit. Exit code 0: measured, no problem; 1: a verdict names a problem; 2: wrong use; 3: your code failed or ran
    out of time; 4: a fault in cfgfix.
    """


_shared = combine_options(
    click.option(
        "--config",
        type=click.Path(exists=True, dir_okay=False),
        help="The YAML config; functions that take an argument are called with it.",
    ),
    function_option("--config-loader", "Your function from the config's path to your config object."),
    source_root_option("Folder to import your modules from, besides this one."),
    number_option("--time-limit", 600.0, least=1, text="Seconds until the measuring process is stopped."),
    click.option("--show-output", is_flag=True, help="Show what your code prints."),
    JSON,
    click.option("--tensorboard", metavar="LOGDIR", help="Write summaries for TensorBoard, and the trace."),
    click.option("--exit-zero", is_flag=True, help="Exit with 0 where a verdict names a problem."),
    QUIET,
)


@profile.command("run", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("script")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@_shared
@click.option("-m", "module", is_flag=True, help="SCRIPT is a module, as for `python -m`.")
@number_option("--steps", 200, least=20, text="Training steps to observe; then the program is stopped.")
@number_option("--seconds", 60.0, least=1, text="At most, from the first step on.")
@click.option(
    "--no-data", is_flag=True, help="Do not measure the dataset by itself where the steps wait for it."
)
def run(
    *,
    script: str,
    arguments: tuple[str, ...],
    module: bool,
    steps: int,
    seconds: float,
    no_data: bool,
    **shared: Any,
) -> None:
    """Run the first steps of a training SCRIPT and show where its time goes.

    SCRIPT runs with its ARGUMENTS as it is and is stopped after these steps. It really runs: what it writes in these steps
    is written. Options of this command stand before SCRIPT. Ctrl-C stops it earlier, and what was seen until then is told.
    """
    if not module and not os.path.isfile(script):
        raise CfgfixError(
            f"there is no file {script}",
            hint="name the script that trains, or a module with -m package.module",
        )
    plan: dict[str, Any] = {"steps": steps, "seconds": seconds}
    if no_data:
        plan["data_seconds"] = 0
    job = {**shared, "dataset": None, "data_path": None, "batch_size": 1}
    program: dict[str, Any] = {
        "script": script if module else os.path.abspath(script),
        "arguments": list(arguments),
        "module": module,
    }
    found = _run_job("cfgfix.measure.training:job", job, plan=plan, hands_on_interrupt=True, **program)
    if found["not_finite"] is not None:
        from cfgfix.measure.numerics import MORE_STEPS, with_origin

        last = (found["not_finite"]["step"] or steps) + MORE_STEPS
        origin = _run_job("cfgfix.measure.numerics:job", job, steps=last, seconds=4 * seconds, **program)
        found = with_origin(found, origin)
    _finish_profile({**found, "source": " ".join([script, *arguments])}, shared)


@profile.command("data")
@data_source
@_shared
@number_option("--batches", 200, least=10, text="How many to time.")
@number_option("--seconds", 30.0, least=1, text="At most, for each run.")
@click.option(
    "--step-ms",
    type=click.FloatRange(0, min_open=True),
    help="How long a device needs for a batch: measures its idle share and the CPUs it takes.",
)
@click.option(
    "--every",
    multiple=True,
    metavar="NAME=BATCHES",
    help="What happens every so many batches (checkpoint=500, log=10, evaluation=1000): candidates for an oscillation.",
)
@click.option(
    "--cold",
    is_flag=True,
    help="Also measure with cold files: takes them out of the page cache, which can slow other jobs.",
)
@click.option(
    "--service",
    type=click.IntRange(0),
    default=0,
    metavar="WORKERS",
    help="Also measure through a tf.data service with so many workers on this machine.",
)
def data(
    *,
    batches: int,
    seconds: float,
    step_ms: float | None,
    every: tuple[str, ...],
    cold: bool,
    service: int,
    **shared: Any,
) -> None:
    """Measure how fast a dataset gives batches and whether it can feed a device.

    It also says what the time of a batch goes to.
    """
    require_data_source(shared)
    plan = {
        "batches": batches,
        "seconds": seconds,
        "step_seconds": step_ms / 1e3 if step_ms else None,
        "intervals": dict(_interval_of_text(text) for text in every),
        "cold": cold,
        "service": service,
        "logdir": shared["tensorboard"],
    }
    _finish_profile(_run_job("cfgfix.measure.data:job", shared, plan=plan), shared)


@profile.command("step")
@data_source
@_shared
@function_option(
    "--step",
    "Your compiled Keras model, or a function that returns it, or (model, loss, optimizer), or a function of one batch.",
)
@number_option("--rounds", 20, least=3, text="How often each part is timed.")
@number_option("--steps", 50, least=10, text="Of the training loop.")
@number_option("--seconds", 60.0, least=1, text="At most, for each part.")
@click.option("--no-compare", is_flag=True, help="Do not try XLA and mixed precision.")
def step(
    *, step: str | None, rounds: int, steps: int, seconds: float, no_compare: bool, **shared: Any
) -> None:
    """Measure where the time of a training step goes.

    It also finds what traces the step again, and what XLA and mixed precision would change.
    """
    if not shared["data_path"] and not (step and shared["dataset"]):
        raise CfgfixError(
            "there is no step to measure",
            hint="name --step and --dataset, or a speech folder with --data-path",
        )
    plan = {"rounds": rounds, "steps": steps, "seconds": seconds, "compare": not no_compare}
    _finish_profile(_run_job("cfgfix.measure.step:job", shared, plan=plan, step=step), shared)


@profile.command("compare")
@click.argument("before", type=click.Path(exists=True, dir_okay=False))
@click.argument("after", type=click.Path(exists=True, dir_okay=False))
@JSON
def compare(*, before: str, after: str, as_json: bool) -> None:
    """Compare two profiles, BEFORE and AFTER, as --json wrote them.

    Figures are held side by side, and the problems that went and came are named. Exit code 0: no new problem; 1: there is
    one; 2: the files are no profiles of one kind.
    """
    from cfgfix.measure.compare import compare as held
    from cfgfix.measure.compare import render

    found = held(_read_profile(before), _read_profile(after))
    click.echo(json.dumps({"version": VERSION, **found}, indent=2) if as_json else render(found), nl=as_json)
    raise SystemExit(int(ExitCode.FINDINGS if found["came"] else ExitCode.CLEAN))


def _read_profile(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as stream:
            form = json.load(stream)
    except (OSError, ValueError, RecursionError) as error:
        raise CfgfixError(f"is not JSON: {error}", path=path, hint="write one with --json") from error
    if not isinstance(form, dict):
        raise CfgfixError("is no profile", path=path, hint="write one with --json")
    return form


@profile.command("devices")
@data_source
@_shared
@number_option("--seconds", 10.0, least=0.5, text="How long to watch.")
@number_option("--interval", 0.1, least=0.01, text="Seconds between readings of a GPU.")
@click.option("--pid", type=click.IntRange(1), help="Watch the devices a running job uses.")
@function_option("--step", "Watch while this step trains on --dataset.")
@function_option(
    "--pipeline", "Your function that returns (items, [stage, stage]): busy share of each and overlap."
)
@number_option("--items", 50, least=5, text="Of the pipeline to time.")
@number_option("--depth", 2, least=1, text="Results that may wait between stages.")
@click.option(
    "--logical-cpus",
    default=0,
    type=click.IntRange(0),
    help="Split the CPU into so many TensorFlow devices, to try a two-device pipeline without GPUs.",
)
def devices(
    *,
    seconds: float,
    interval: float,
    pid: int | None,
    step: str | None,
    pipeline: str | None,
    items: int,
    depth: int,
    logical_cpus: int,
    **shared: Any,
) -> None:
    """Measure what the GPUs do over time, and how a two-device pipeline overlaps.

    With --pid it watches a job that runs already.
    """
    need_numpy()
    from cfgfix.measure import devices as measuring

    if sum(bool(choice) for choice in (pid, step, pipeline)) > 1:
        raise CfgfixError("--pid, --step and --pipeline exclude each other")
    overlap = None
    if step or pipeline:
        watcher = Watcher(interval)
        extra: dict[str, Any] = {
            "items": items,
            "depth": depth,
            "logical_cpus": logical_cpus,
            "pipeline": pipeline,
            "step": step,
        }
        entry = "cfgfix.measure.devices:pipeline_job" if pipeline else "cfgfix.measure.step:job"
        plan = {"rounds": 3, "steps": 1_000_000, "seconds": seconds, "compare": False}
        try:
            answer = _run_job(
                entry, {**shared, "tensorboard": None}, plan=plan, on_start=watcher.start, **extra
            )
        finally:
            found, topology, gpu = watcher.stop()
        if pipeline:
            overlap = measuring.overlap_from(answer["pipeline"])
    else:
        with progress_line(quiet=shared["quiet"]) as show:
            found, topology, gpu = measuring.watch(seconds=seconds, interval=interval, pid=pid, progress=show)
    working = bool(pid or step or pipeline)
    made = measuring.make_profile(found, topology, gpu, pid=pid, overlap=overlap, working=working).as_dict()
    if shared["tensorboard"]:
        from cfgfix.measure.sampling import run_child

        run_child(
            "cfgfix.measure.summaries:job",
            {"profile": finite(made), "tensorboard": shared["tensorboard"]},
            seconds=shared["time_limit"],
        )
    _finish_profile(made, shared)


class Watcher:
    """Watches the devices in a thread while a child process works."""

    def __init__(self, interval: float) -> None:
        self._interval = interval
        self._done = threading.Event()
        self._found: Any = ((), (), "nothing was watched")
        self._thread: threading.Thread | None = None

    def start(self, pid: int) -> None:
        """Begin to watch, for the child with this process id."""
        self._thread = threading.Thread(target=self._run, args=(pid,), daemon=True)
        self._thread.start()

    def _run(self, pid: int) -> None:
        from cfgfix.measure import devices as measuring

        # The child uses its GPUs only once TensorFlow has started, so all are watched; its CPU time is its own.
        self._found = measuring.watch(
            seconds=math.inf, interval=self._interval, process=pid, until=self._done.is_set
        )

    def stop(self) -> Any:
        """Stop watching; return the devices, the topology and the GPU status."""
        self._done.set()
        if self._thread is not None:
            self._thread.join(10)
        return self._found


def _interval_of_text(text: str) -> tuple[str, float]:
    name, sign, value = text.partition("=")
    try:
        number = float(value)
    except ValueError:
        number = 0.0
    if not sign or not name or not math.isfinite(number) or number < 1:
        raise CfgfixError(f"--every {text}: expected NAME=BATCHES", hint="for example --every checkpoint=500")
    return name, number


def _run_job(
    entry: str,
    shared: Mapping[str, Any],
    *,
    on_start: Callable[[int], None] | None = None,
    hands_on_interrupt: bool = False,
    **extra: Any,
) -> dict[str, Any]:
    """Run a job in a child process."""
    need_tensorflow()
    from cfgfix.measure.sampling import run_child

    options = {
        **extra,
        **code_of(shared, shared["source_roots"]),
        "config": absolute(shared["config"]),
        "tensorboard": absolute(shared["tensorboard"]),
    }
    with progress_line(quiet=shared["quiet"]) as show:
        return run_child(
            entry,
            options,
            seconds=shared["time_limit"],
            progress=show,
            on_start=on_start,
            show_output=shared["show_output"],
            hands_on_interrupt=hands_on_interrupt,
        )


def form_of(found: dict[str, Any], config: str | None) -> dict[str, Any]:
    """Return the JSON form of a profile.

    Each verdict gets the fixes that `cfgfix fix` would make in the config and the user's code.
    """
    from cfgfix.measure import verdicts

    # A module that came with an installed package is not the user's to fix.
    files = [file for file in found.get("user_files", ()) if "site-packages" not in file]
    paths = [os.path.relpath(path) for path in (config, *files) if path]
    lookup = verdicts.look_up_fixes(*paths) if paths else None
    judged = verdicts.with_fixes([verdicts.from_dict(entry) for entry in found["verdicts"]], lookup)
    form: dict[str, Any] = finite(
        {"version": VERSION, **found, "verdicts": [verdict.as_dict() for verdict in judged]}
    )
    return form


def has_problem(form: Mapping[str, Any]) -> bool:
    """Return whether a profile has a verdict that names a problem."""
    return any(verdict["outcome"] == "problem" for verdict in form["verdicts"])


def _finish_profile(found: dict[str, Any], shared: Mapping[str, Any]) -> None:
    """Print a profile with the fixes of its verdicts, and exit."""
    from cfgfix.output.profile import render

    form = form_of(found, shared["config"])
    print_answer(form, render, as_json=shared["as_json"], shown={**found, "verdicts": form["verdicts"]})
    problem = has_problem(form) and not shared["exit_zero"]
    raise SystemExit(int(ExitCode.FINDINGS if problem else ExitCode.CLEAN))
