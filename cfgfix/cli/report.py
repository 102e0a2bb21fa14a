"""`cfgfix report DIR`: the diagnosis, the profiles and, where asked for, the search, together in one folder."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from typing import Any

import click

from cfgfix.cli.diagnose import subject_options
from cfgfix.cli.measuring import QUIET, finite, need_tensorflow, progress_line, terminal_paint
from cfgfix.core.errors import CfgfixError, ExitCode, UnreadableError
from cfgfix.core.writing import write_whole

PAGE = "report.html"
SUMMARY = "summary.txt"
FILES = {"diagnosis": "diagnosis.json", "data": "data.json", "step": "step.json", "devices": "devices.json", "search": "search.json"}  # fmt: skip
"""The JSON form of each part."""
WATCH_SECONDS = 10.0
"""How long the devices are watched: what `profile devices` takes by default."""
PART_SECONDS = {"data": 30.0, "step": 60.0}
"""The most that each run of a profile may take: what the profile commands take by default."""


@click.command("report", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False))
@click.argument("config", required=False, type=click.Path(exists=True, dir_okay=False))
@subject_options
@click.option(
    "--tune",
    is_flag=True,
    help="Also search for better settings with `cfgfix tune`; nothing is written into CONFIG.",
)
@QUIET
def report(*, folder: str, config: str | None, tune: bool, **options: Any) -> None:
    """Diagnose and profile a training and keep the results in DIR.

    DIR gets report.html (one page that opens offline), the JSON form of each part, summary.txt, and summaries for
    TensorBoard below tensorboard/. What cannot run is told with its reason, and the rest runs. Exit code: the worst of the
    parts, as `diagnose` and `profile` give it. 0: no problem; 1: a check failed or a verdict names a problem; 2: wrong use;
    3: your code failed in a profile; 4: a fault in cfgfix.
    """
    from cfgfix.cli.diagnose import diagnosed_subject

    need_tensorflow()
    subject = diagnosed_subject(config, options)
    with progress_line(quiet=options["quiet"]) as show:
        work = _ReportParts(folder, config, subject, options, show)
        for name, run in (
            ("diagnosis", work.diagnosis),
            # The data is judged against the step, so that is timed first.
            ("step", work.step),
            ("data", work.data),
            ("devices", work.devices),
            ("search", work.search if tune else None),
        ):
            if run is not None:
                work.attempt(name, run)
    work.finish()
    click.echo(work.text(), nl=False)
    click.echo(f"{os.path.join(folder, PAGE)}  {', '.join(work.written)}")
    raise SystemExit(work.code)


class NotRunError(Exception):
    """A part that has nothing to run on; the message is the reason."""


class _ReportParts:
    """Runs the parts of a report one by one and writes each at once.

    So an interrupted run loses only the rest.
    """

    def __init__(
        self,
        folder: str,
        config: str | None,
        subject: Any,
        options: Mapping[str, Any],
        show: Callable[[str, float], None],
    ) -> None:
        self._folder, self._config, self._subject, self._options, self._show = (
            folder,
            config,
            subject,
            options,
            show,
        )
        # A folder of its own for each run, as TensorBoard compares runs.
        self._logs = os.path.join(folder, "tensorboard", time.strftime("%Y%m%d-%H%M%S"))
        self._forms: dict[str, dict[str, Any]] = {}
        self._texts: dict[str, dict[str, Any]] = {}
        self._missing: list[str] = []
        self.written: list[str] = []
        self.code = 0
        try:
            os.makedirs(folder, exist_ok=True)
            for name in (PAGE, SUMMARY, *FILES.values()):
                # What an earlier run left would otherwise pass for this one's.
                if os.path.lexists(place := os.path.join(folder, name)):
                    os.unlink(place)
        except OSError as error:
            raise UnreadableError(f"cannot be used: {error.strerror}", path=folder) from error

    def attempt(self, name: str, run: Callable[[], dict[str, Any]]) -> None:
        """Run a part and keep its form, or the reason why it could not run.

        No failure of a part stops another.
        """
        try:
            form = run()
        except NotRunError as reason:
            self._missing.append(f"{name}: {reason}")
            return
        except CfgfixError as error:
            self._raise_exit_code(int(error.code))
            # The last line of what the user's code raised says what it was; the whole is in the error.
            trace = str(getattr(error, "trace", "") or "").strip().splitlines()
            self._missing.append(f"{name}: {error}" + (f": {trace[-1].strip()}" if trace else ""))
            return
        except Exception as error:  # noqa: BLE001 - a fault in one part leaves the others alone
            self._raise_exit_code(int(ExitCode.INTERNAL))
            lines = str(error).strip().splitlines() or [""]
            self._missing.append(f"{name}: a fault in cfgfix: {type(error).__name__}: {lines[-1]}")
            return
        self._forms[name] = form
        self._write_part(FILES[name], json.dumps(form, indent=2) + "\n")
        if name in ("devices", "search"):  # the others wrote theirs while they ran
            self._write_summaries(name, form)

    def finish(self) -> None:
        """Write the HTML page and the summary text."""
        from cfgfix.output.page import page

        title = "cfgfix report" + (f": {os.path.basename(self._config)}" if self._config else "")
        self._write_part(
            PAGE, page({**self._forms, "causes": self._ranked_causes()}, title=title, missing=self._missing)
        )
        self._write_part(SUMMARY, self.text(colour=False))

    def _ranked_causes(self) -> list[dict[str, Any]]:
        from cfgfix.diagnose.ranking import rank

        return rank({name: form for name, form in self._forms.items() if name != "search"})

    def text(self, *, colour: bool | None = None) -> str:
        """Return all parts as text; coloured where the terminal shows it, unless told."""
        from cfgfix.core.terminal import Paint
        from cfgfix.output import diagnosis, profile, search

        paint = terminal_paint() if colour is None else Paint(on=colour)
        blocks = []
        ranked = "\n".join(diagnosis.causes(self._ranked_causes(), paint))
        if ranked:
            blocks.append(ranked)
        for name, form in self._forms.items():
            if name == "diagnosis":
                # Each cause stands once, in the list of all parts.
                blocks.append(diagnosis.render({**form, "causes": ()}, paint))
            elif name == "search":
                blocks.append(search.render(form, paint))
            else:
                blocks.append(profile.render(self._texts[name], paint))
        if self._missing:
            blocks.append("What could not run:\n" + "".join(f"  {line}\n" for line in self._missing))
        return "\n".join(blocks) + "\n"

    # The parts

    def diagnosis(self) -> dict[str, Any]:
        from cfgfix.cli.diagnose import form_of
        from cfgfix.diagnose.checks import State, diagnose

        found = diagnose(self._subject, self._show)
        if any(outcome.state is State.FAIL for outcome in found):
            self._raise_exit_code(int(ExitCode.FINDINGS))
        return form_of(found, self._config, dict(self._options))

    def data(self) -> dict[str, Any]:
        from cfgfix.diagnose.checks import NO_PIPELINE

        if not self._subject.has_pipeline:
            raise NotRunError(NO_PIPELINE)
        plan = {
            "batches": self._subject.batches,
            "seconds": PART_SECONDS["data"],
            "step_seconds": self._subject.step_seconds
            or self._forms.get("step", {}).get("step_seconds", {}).get("median"),
            "logdir": self._summary_folder("data"),
        }
        return self._profile_part(
            "data",
            self._run_child("cfgfix.measure.data:job", plan=plan, tensorboard=self._summary_folder("data")),
        )

    def step(self) -> dict[str, Any]:
        from cfgfix.diagnose.checks import NO_PIPELINE

        if not self._subject.has_pipeline:
            raise NotRunError(NO_PIPELINE)
        if not self._subject.has_step:
            raise NotRunError("no step was named: --step package.module:function")
        plan = {"rounds": 20, "steps": 50, "seconds": PART_SECONDS["step"], "compare": True}
        return self._profile_part(
            "step",
            self._run_child("cfgfix.measure.step:job", plan=plan, tensorboard=self._summary_folder("step")),
        )

    def devices(self) -> dict[str, Any]:
        from cfgfix.cli.profile import Watcher
        from cfgfix.measure import devices as measuring

        working = self._subject.has_step and "step" in self._forms
        if working:
            watcher = Watcher(0.1)
            plan = {"rounds": 3, "steps": 1_000_000, "seconds": WATCH_SECONDS, "compare": False}
            try:
                self._run_child("cfgfix.measure.step:job", on_start=watcher.start, plan=plan)
            finally:
                found, topology, gpu = watcher.stop()
        else:
            found, topology, gpu = measuring.watch(seconds=WATCH_SECONDS, progress=self._show)
        made = measuring.make_profile(found, topology, gpu, pid=None, overlap=None, working=working).as_dict()
        return self._profile_part("devices", made)

    def search(self) -> dict[str, Any]:
        from cfgfix.cli.tune import VERSION, search_plan
        from cfgfix.cli.tune import tune as command
        from cfgfix.diagnose.search import search

        own = self._options["dataset"]
        # The settings of a config do not reach the built-in pipeline.
        config = self._config if own else None
        arguments = [config] if config else []
        for flag, value in (
            ("--dataset", own),
            ("--data-path", self._options["data_path"]),
            ("--batch-size", str(self._options["batch_size"])),
            ("--step", self._options["step"]),
            ("--config-loader", self._options["config_loader"]),
        ):
            arguments += [flag, value] if value else []
        for root in self._subject.options["source_roots"]:
            arguments += ["--source-root", root]
        given = command.make_context("tune", arguments).params
        try:
            plan = search_plan(config, given)
        except CfgfixError as error:
            raise NotRunError(str(error)) from error
        found = search(plan, self._show)
        form: dict[str, Any] = finite(
            {"version": VERSION, **found.as_dict(), "config": config, "applied": False}
        )
        self._texts["search"] = form
        if found.gain:
            self._raise_exit_code(int(ExitCode.FINDINGS))
        return form

    # What they share

    def _run_child(self, entry: str, *, on_start: Callable[[int], None] | None = None, **extra: Any) -> dict[str, Any]:  # fmt: skip
        from cfgfix.measure.sampling import run_child

        options = {**self._subject.options, "tensorboard": None, **extra}
        return run_child(
            entry, options, seconds=self._subject.seconds, progress=self._show, on_start=on_start
        )

    def _profile_part(self, name: str, found: dict[str, Any]) -> dict[str, Any]:
        from cfgfix.cli.profile import form_of, has_problem

        form = form_of(found, self._config)
        self._texts[name] = {**found, "verdicts": form["verdicts"]}
        if has_problem(form):
            self._raise_exit_code(int(ExitCode.FINDINGS))
        return form

    def _write_summaries(self, name: str, form: dict[str, Any]) -> None:
        """Write a part's summaries for TensorBoard, or keep the reason why not."""
        try:
            self._run_child(
                "cfgfix.measure.summaries:job", profile=form, tensorboard=self._summary_folder(name)
            )
        except (NotRunError, CfgfixError, RuntimeError) as error:
            self._missing.append(f"TensorBoard summaries of {name}: {error}")

    def _summary_folder(self, name: str) -> str:
        return os.path.abspath(os.path.join(self._logs, name))

    def _raise_exit_code(self, code: int) -> None:
        self.code = max(self.code, code)

    def _write_part(self, name: str, text: str) -> None:
        write_whole(os.path.join(self._folder, name), text)
        self.written.append(name)


__all__ = ["report"]
