"""`cfgfix diagnose`: is this machine, this config and this pipeline fit for a long run?"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import click

from cfgfix.cli.measuring import (
    HTML,
    JSON,
    QUIET,
    absolute,
    code_of,
    combine_options,
    data_source,
    finite,
    function_option,
    need_tensorflow,
    number_option,
    print_answer,
    progress_line,
    source_root_option,
)
from cfgfix.core.errors import CfgfixError, ExitCode
from cfgfix.core.writing import write_whole

VERSION = 1
"""Of the JSON form."""


subject_options = combine_options(
    data_source,
    function_option(
        "--step", "Your function that returns (model, loss, optimizer), or a function of one batch."
    ),
    function_option("--config-loader", "Your function from the config's path to your config object."),
    source_root_option(
        "Folder of the program's code: judged, and imported from. By default the source-roots of the settings."
    ),
    click.option("--hardware", help="The machine the config is meant for; by default this one."),
    click.option(
        "--step-ms",
        type=click.FloatRange(0, min_open=True),
        help="How long your device needs for a batch.",
    ),
    number_option("--batches", 100, least=10, text="How many to time."),
    click.option(
        "--no-storage",
        is_flag=True,
        help="Do not measure storage; measuring takes the files out of the page cache.",
    ),
    number_option("--time-limit", 600.0, least=1, text="Seconds for each measuring process."),
)
"""The options that name what is judged and measured, and how long."""


@click.command("diagnose", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("config", required=False, type=click.Path(exists=True, dir_okay=False))
@subject_options
@click.option(
    "--output",
    is_flag=False,
    flag_value="diagnostic_report.txt",
    type=click.Path(dir_okay=False),
    help="Also write the text to a file; diagnostic_report.txt where none is named.",
)
@HTML
@JSON
@QUIET
@click.option(
    "--partial", is_flag=True, help="Exit with 0 where no check failed, also where some were skipped."
)
def diagnose(
    *,
    config: str | None,
    output: str | None,
    html: str | None,
    as_json: bool,
    partial: bool,
    **options: Any,
) -> None:
    """Check machine, CONFIG, code and the running pipeline before a long run.

    The checks cover hardware, loader, compilation, memory and storage too. Your code is imported and run, in processes of
    their own with a time limit. Each check passes, fails or is skipped with the reason; a check that breaks has failed.
    Exit code 0: no check failed, and none was skipped that runs once you name more; 1: one failed; 2: wrong use; 3: none
    failed, but checks were skipped, and the last lines say what to name (--partial: 0); 4: a fault in cfgfix.
    """
    from cfgfix.core.terminal import Paint
    from cfgfix.diagnose.checks import State, diagnose
    from cfgfix.output.diagnosis import render

    need_tensorflow()
    subject = diagnosed_subject(config, options)
    with progress_line(quiet=options["quiet"]) as show:
        found = diagnose(subject, show)
    data = form_of(found, config, options)
    if output is not None:
        write_whole(output, render(data, Paint(on=False)))
    if html is not None:
        from cfgfix.output.page import page

        write_whole(html, page({"diagnosis": data}))
    print_answer(data, render, as_json=as_json)
    if any(outcome.state is State.FAIL for outcome in found):
        raise SystemExit(int(ExitCode.FINDINGS))
    if data["to_name"] and not partial:
        # A check that did not run has not passed.
        raise SystemExit(int(ExitCode.UNREADABLE))


def form_of(found: Sequence[Any], config: str | None, options: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON form of a diagnosis."""
    from cfgfix.diagnose.ranking import rank, to_name

    named = [config, options["dataset"] or options["data_path"], options["step"]]
    form: dict[str, Any] = finite(
        {
            "version": VERSION,
            "kind": "diagnosis",
            "subject": ", ".join(str(part) for part in named if part) or "this machine",
            "checks": [outcome.as_dict() for outcome in found],
        }
    )
    form["causes"] = rank({"diagnosis": form})
    form["skipped"] = sum(check["state"] == "skipped" for check in form["checks"])
    form["to_name"] = to_name(form["checks"])
    return form


def diagnosed_subject(config: str | None, options: dict[str, Any]) -> Any:
    """Return the subject of a diagnosis from the options."""
    from cfgfix.diagnose.checks import Subject
    from cfgfix.settings.reader import discover

    if options["step"] and not (options["dataset"] or options["data_path"]):
        raise CfgfixError("--step needs batches", hint="name --dataset package.module:function too")
    roots = list(options["source_roots"])
    if not roots:
        settings = discover(os.path.dirname(config) if config and os.path.dirname(config) else ".")
        roots = [
            os.path.relpath(os.path.join(settings.root, root))
            for root in settings.source_roots
            if os.path.isdir(os.path.join(settings.root, root))
        ]
    return Subject(
        config=config,
        sources=tuple(roots),
        hardware=options["hardware"],
        options={
            **code_of(options, roots),
            "step": options["step"],
            "config": absolute(config),
            "tensorboard": None,
        },
        seconds=options["time_limit"],
        batches=options["batches"],
        step_seconds=options["step_ms"] / 1e3 if options["step_ms"] else None,
        storage=not options["no_storage"],
    )
