"""`cfgfix tune`: find settings that are measurably better, and write them."""

from __future__ import annotations

from typing import Any

import click

from cfgfix.cli.measuring import (
    HTML,
    JSON,
    QUIET,
    code_of,
    data_source,
    finite,
    function_option,
    need_tensorflow,
    number_option,
    print_answer,
    progress_line,
    require_data_source,
    source_root_option,
)
from cfgfix.core.errors import CfgfixError, ExitCode
from cfgfix.core.writing import write_whole

VERSION = 1
"""Of the JSON form."""


@click.command("tune", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("config", required=False, type=click.Path(exists=True, dir_okay=False))
@data_source
@function_option(
    "--step",
    "Your function that returns (model, loss, optimizer), or a function of one batch: measured with the pipeline.",
)
@function_option(
    "--config-loader",
    "Your function from the config's path to your config object; it gets the path of a changed copy.",
)
@source_root_option("Folder to import your modules from, besides this one.")
@click.option("--workers", metavar="N,N,...", help="Parallel calls to try; -1 is tf.data's own choice.")
@click.option("--prefetch", metavar="N,N,...", help="Batches that wait, to try; -1 is tf.data's own choice.")
@click.option("--private-threads", metavar="N,N,...", help="Threads of the pipeline's own to try.")
@click.option(
    "--batch-sizes",
    metavar="N,N,...",
    help="Batch sizes to try. Only when asked for: a batch size changes what the model learns.",
)
@click.option("--xla", is_flag=True, help="Also try XLA on and off; needs a step.")
@click.option(
    "--mixed-precision",
    is_flag=True,
    help="Also try mixed precision on and off; needs a step, and changes the model's numerics.",
)
@click.option(
    "--preset",
    type=click.Choice(["older-grid"]),
    help="older-grid: batch size 8, 16, 32 by workers 4, 8, 16. Changes the batch size.",
)
@number_option(
    "--seconds",
    2.0,
    least=0.1,
    text="Of each trial in the first round; the best third goes on with three times as much.",
)
@number_option("--pairs", 5, least=5, text="Paired runs of the best and the present setting.")
@click.option(
    "--cold",
    is_flag=True,
    help="Take the files of --data-path out of the page cache before each trial; this can slow other jobs.",
)
@number_option(
    "--time-limit",
    120.0,
    least=1,
    text="Seconds after which a trial that does not end is stopped and counts as failed.",
)
@number_option(
    "--total-seconds",
    600.0,
    least=1,
    text="Of the whole search, once the present setting has run: what was found by then is the result.",
)
@click.option("--resume", is_flag=True, help="Go on with an interrupted search of the same things.")
@click.option(
    "--state",
    type=click.Path(dir_okay=False),
    help="File that keeps every result at once; by default one in the cache folder.",
)
@click.option(
    "--apply", "write", is_flag=True, help="Write the better setting into CONFIG, where the gain is proven."
)
@HTML
@JSON
@click.option("--exit-zero", is_flag=True, help="Exit with 0 where a better setting is found.")
@QUIET
def tune(
    *,
    config: str | None,
    write: bool,
    html: str | None,
    as_json: bool,
    exit_zero: bool,
    **options: Any,
) -> None:
    """Search for the settings of CONFIG that feed your training best.

    Your own pipeline is measured. Your code is imported and run, in processes of their own; it gets changed copies of
    CONFIG. The score is samples per second. Without a list of values, workers, prefetch and private threads are tried
    around the CPUs there are; with one, what is listed alone. The best setting is repeated against the present one in
    paired runs. At the end of its time, and after Ctrl-C, what was found until then is told. Exit code 0: nothing better was found, or it was written; 1: a better setting was found; 2: wrong use; 3:
    your code failed or the file could not be written; 4: a fault in cfgfix.
    """
    from cfgfix.diagnose.search import search
    from cfgfix.diagnose.winner import write_winner
    from cfgfix.output.search import render

    need_tensorflow()
    if write and config is None:
        raise CfgfixError("--apply needs a config to write", hint="name the YAML file")
    plan = search_plan(config, options)
    with progress_line(quiet=options["quiet"]) as show:
        found = search(plan, show)
    refused = None
    applied = False
    if write and config is not None and found.gain:
        try:
            write_winner(config, found)
        except CfgfixError as error:
            refused = error
        else:
            applied = True
    data = finite({"version": VERSION, **found.as_dict(), "config": config, "applied": applied})
    if html is not None:
        from cfgfix.output.page import page

        write_whole(html, page({"search": data}, title="cfgfix tune"))
    print_answer(data, render, as_json=as_json)
    if refused is not None:
        raise refused
    if found.gain and not applied and not exit_zero:
        raise SystemExit(int(ExitCode.FINDINGS))


def search_plan(config: str | None, options: dict[str, Any]) -> Any:
    """Return the plan of a search from the options of the command.

    Raises:
        CfgfixError: They contradict each other, or name nothing to search.
    """
    from cfgfix.diagnose.search_space import OLDER_GRID, Plan, default_space
    from cfgfix.hardware.detect import detect

    require_data_source(options)
    if options["dataset"] and config is None:
        raise CfgfixError(
            "without a config there are no settings to search", hint="cfgfix tune CONFIG --dataset ..."
        )
    if config is not None and not options["dataset"]:
        raise CfgfixError(
            "the settings of a config reach only your own pipeline",
            hint="name it with --dataset package.module:function",
        )
    built_in = not options["dataset"]
    step = options["step"]
    if step and built_in:
        raise CfgfixError("--step needs batches", hint="name --dataset package.module:function too")
    if options["xla"] or options["mixed_precision"]:
        if not step and not built_in:
            raise CfgfixError(
                "--xla and --mixed-precision change the step, and none is named",
                hint="name it with --step package.module:function",
            )
        step = step or "built-in"
    named = {
        "batch_size": _numbers_of_option("--batch-sizes", options["batch_sizes"], least=1),
        "workers": _numbers_of_option("--workers", options["workers"]),
        "prefetch": _numbers_of_option("--prefetch", options["prefetch"]),
        "private_threads": _numbers_of_option("--private-threads", options["private_threads"], least=0),
        "xla": (False, True) if options["xla"] else None,
        "mixed_precision": (False, True) if options["mixed_precision"] else None,
    }
    space = {name: values for name, values in named.items() if values}
    if options["preset"] == "older-grid":
        space = {**OLDER_GRID, **space}
    elif not {"batch_size", "workers", "prefetch", "private_threads"} & set(space):
        space = {**default_space(detect(ask_driver=False).cpu.workers() or 1), **space}
    wanted = {name for name, values in named.items() if values}
    return Plan(
        config=config,
        options={
            **code_of(options, options["source_roots"]),
            "step": step,
        },
        space=space,
        wanted=frozenset(wanted | set(OLDER_GRID if options["preset"] else ())),
        seconds=options["seconds"],
        pairs=options["pairs"],
        cold=options["cold"],
        trial_limit=options["time_limit"],
        total_seconds=options["total_seconds"],
        resume=options["resume"],
        state=options["state"],
    )


def _numbers_of_option(option: str, text: str | None, *, least: int = -1) -> tuple[int, ...] | None:
    if text is None:
        return None
    try:
        found = tuple(dict.fromkeys(int(part) for part in text.split(",")))
    except ValueError:
        raise CfgfixError(f"{option} {text}: expected whole numbers with commas between") from None
    if any(value < least or value > 1_000_000 for value in found):
        raise CfgfixError(f"{option} {text}: the numbers must be from {least} to 1000000")
    return found
