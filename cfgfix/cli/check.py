"""`cfgfix check` and `cfgfix fix`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence

from cfgfix.cli.streams import input_is_closed, runner_reads, write_error_line
from cfgfix.core.errors import CfgfixError, ExitCode, UnreadableError, did_you_mean
from cfgfix.core.records import replace
from cfgfix.core.terminal import Paint, wants_colour
from cfgfix.core.visible import no_commands, visible
from cfgfix.core.writing import write_whole
from cfgfix.lint import runner as engine
from cfgfix.output.formats import FORMATS, Style
from cfgfix.settings.reader import Finder, Settings, read, require_release, with_command_line
from cfgfix.settings.table import LISTS, MACHINE, SETTINGS, TEXTS, WORDS, Setting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def command(options: Mapping[str, Any], *, fixing: bool, arguments: Sequence[str] = ()) -> int:
    """Run `check` or `fix` with parsed options and return the exit code.

    Args:
        options: The values of the option table.
        fixing: Whether the command is `fix`.
        arguments: The command line, where its answer may be kept for the next run.

    Raises:
        CfgfixError: The arguments or the settings are wrong.
    """
    if options["force_dialect"] and not options["dialect"]:
        raise CfgfixError(
            "--force-dialect needs --dialect", hint="name the dialect that the file is judged by"
        )
    for name in ("baseline", "write_baseline", "output_file", "config", "schema"):
        if options[name] == "":
            raise CfgfixError(f"--{name.replace('_', '-')} names no file")
    settings, adjust = settings_for(options)
    if options["show_settings"]:
        return _show_settings(options, Finder(settings, adjust))
    stdin = None
    if "-" in options["paths"]:
        if len(options["paths"]) > 1:
            raise CfgfixError("`-` (standard input) stands alone", hint="name it with --stdin-filename")
        if input_is_closed():
            raise UnreadableError("standard input is closed, so there is nothing to check")
        stdin = sys.stdin.buffer.read()
    outputs = _output_files(options)
    fix = fixing or options["fix"]
    if options["add_ignores"] and (fix or stdin is not None):
        raise CfgfixError(
            "--add-ignores writes comments; it stands without fixing and without standard input"
        )
    earlier = None
    if options["since"] is not None:
        _require_alone(options, fix=fix or stdin is not None)
        from cfgfix.lint.past import check_revision

        earlier = check_revision(options["since"], _deciding_options(options), "cfgfix.cli.since")
    request = engine.Request(
        paths=tuple(options["paths"]),
        settings=settings,
        adjust=adjust,
        fix=(fix or options["diff"]) and not options["add_ignores"],
        unsafe_fixes=options["unsafe_fixes"],
        diff=options["diff"],
        overrides=tuple(_override_of_text(text) for text in options["overrides"]),
        stdin=stdin,
        stdin_name=options["stdin_name"] or "stdin.yaml",
        edits=any(FORMATS[form].needs_edits for form, _ in outputs),
        # A fix is made from the whole text, and SARIF says where in it each edit is.
        excerpts=not (fix or options["diff"] or options["add_ignores"])
        and not any(FORMATS[form].needs_edits for form, _ in outputs),
        baseline=None if options["write_baseline"] else options["baseline"],
        past=earlier,
        each=bool(options["write_baseline"]),
        add_ignores=(options["reason"] or "") if options["add_ignores"] else None,
        force_dialect=options["force_dialect"],
    )
    if options["watch"]:
        if stdin is not None or options["write_baseline"]:
            raise CfgfixError(
                "--watch looks at files again and again; it stands without standard input and --write-baseline"
            )
        from cfgfix.cli.watch import watch

        return watch(request, lambda report: _show_report(report, options, outputs))
    request = replace(request, progress=progress_for(options))
    report = engine.fix(request) if request.fix else engine.check(request)
    if options["write_baseline"]:
        return _write_baseline(report, options["write_baseline"])
    printed = _show_report(report, options, outputs)
    code = report.exit_code()
    if options["exit_zero"] and code is ExitCode.FINDINGS:
        code = ExitCode.CLEAN
    # What a revision names may be another commit tomorrow.
    repeatable = not (report.fixed or report.errors or report.live or report.since)
    if arguments and printed is not None and repeatable and len(outputs) == 1:
        from cfgfix.cli import replay

        asked = [options["config"]] if options["config"] else []
        replay.keep(arguments, (*asked, *report.inputs), printed, int(code))
    return code


def _require_alone(options: Mapping[str, Any], *, fix: bool) -> None:
    """Refuse options that cannot be combined with --since.

    Raises:
        CfgfixError: Such an option is given.
    """
    if fix or options["diff"] or options["add_ignores"] or options["watch"]:
        raise CfgfixError(
            "--since shows what a change made true; it stands without fixing and standard input"
        )
    if options["baseline"] or options["write_baseline"]:
        raise CfgfixError("--since takes the place of a baseline", hint="leave one of the two away")
    if options["overrides"]:
        raise CfgfixError("--since compares files, and --set changes none", hint="leave one of the two away")


_DECISIVE = (
    "paths", "hardware", "tensorflow", "select", "ignore", "extend_select", "dialect", "force_dialect", "loader",
    "schema", "preview", "config", "isolated", "force_exclude",
)  # fmt: skip
"""Options that decide what a check finds."""


def _deciding_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that decide the findings of a check, as plain data."""
    found = {name: options[name] for name in _DECISIVE}
    if found["config"]:
        found["config"] = os.path.abspath(found["config"])
    return found


def _output_files(options: Mapping[str, Any]) -> list[tuple[str, str | None]]:
    """Return the formats asked for, each with its file; None for standard output."""
    outputs: list[tuple[str, str | None]] = []
    for text in options["output_format"] or ("text",):
        form, _, target = text.partition("=")
        if form not in FORMATS:
            raise CfgfixError(
                f"no output format is called {form!r}",
                hint=did_you_mean(form, FORMATS, f"known: {', '.join(FORMATS)}"),
            )
        outputs.append((form, target or None))
    if options["output_file"]:
        if outputs[-1][1] is not None:
            raise CfgfixError("--output-file and FORMAT=FILE both name a file")
        outputs[-1] = (outputs[-1][0], options["output_file"])
    if sum(target is None for _, target in outputs) > 1:
        raise CfgfixError(
            "only one format can go to standard output",
            hint="name a file for the others: --output-format sarif=cfgfix.sarif",
        )
    return outputs


def _write_baseline(report: engine.Report, path: str) -> int:
    from cfgfix.core import baseline

    if report.errors:
        for error in report.errors:
            write_error_line(f"cfgfix: error: {error}")
        return ExitCode.UNREADABLE
    findings = report.findings()
    write_whole(path, baseline.render(findings, path))
    shown = visible(path)
    write_error_line(
        f"{len(findings)} finding{'' if len(findings) == 1 else 's'} written to {shown}; use it with --baseline {shown}"
    )
    return ExitCode.CLEAN


def settings_for(
    options: Mapping[str, Any],
) -> tuple[Settings | None, Callable[[Settings], Settings]]:
    """Return the settings that options name, and a function that applies the options.

    The settings are None where every file has its nearest ones.

    Raises:
        CfgfixError: A settings file is wrong.
    """

    def adjust(settings: Settings) -> Settings:
        if options["tensorflow"]:
            require_release(options["tensorflow"])
        changes: dict[str, Any] = {"command_hardware": True if options["hardware"] else None}
        for setting in SETTINGS:
            value = None if setting.flag is None else options[setting.attribute]
            if value is not None and value is not False and value != ():
                changes[setting.attribute] = _command_line_value(setting, value, settings)
        return with_command_line(settings, **changes)

    if options["isolated"]:
        return adjust(Settings(root=os.getcwd())), adjust
    if options["config"]:
        found = read(options["config"])
        if found is None:
            raise CfgfixError("has no [tool.cfgfix]", path=options["config"])
        return adjust(found), adjust
    return None, adjust


def _command_line_value(setting: Setting, value: Any, settings: Settings) -> Any:
    """Return the value of a setting from its option on the command line."""
    if setting.kind == TEXTS:
        named = _rule_selectors(value)
        return (*getattr(settings, setting.attribute), *named) if setting.adds else named or None
    if setting.is_place and ":" not in os.path.basename(value):
        return os.path.abspath(value)
    return value


def progress_for(options: Mapping[str, Any]) -> Callable[[int, int], None] | None:
    """Return a function that shows the progress of a run, or None.

    Progress is shown on standard error, where that is a terminal.
    """
    if options["quiet"] or not sys.stderr.isatty():
        return None
    from cfgfix.cli.progress import Progress

    return Progress(sys.stderr)


def _rule_selectors(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name.strip() for text in texts for name in text.split(",") if name.strip())


def _override_of_text(text: str) -> tuple[str, str]:
    key, sign, value = text.partition("=")
    if not sign or not key:
        raise CfgfixError(f"--set {text}: expected KEY=VALUE", hint="for example --set data.num_workers=8")
    return key, value


def _show_settings(options: Mapping[str, Any], finder: Finder) -> int:
    """Print the settings of the named files, or of this folder.

    Settings that several files share are printed once.
    """
    groups: dict[str, list[str]] = {}
    for path in options["paths"] or (".",):
        place = path if os.path.isdir(path) else os.path.dirname(path) or "."
        groups.setdefault(show(finder.settings_in(place)), []).append(path)
    for text, paths in groups.items():
        if options["paths"]:
            sys.stdout.write(f"# settings for {visible(', '.join(paths))}\n")
        sys.stdout.write(text)
    return ExitCode.CLEAN


def show(settings: Settings) -> str:
    """Return settings as the text of a cfgfix.toml.

    Comments say which file they come from and which values are defaults.
    """
    import json

    rows = [
        f"# from {visible(settings.origin)}"
        if settings.origin
        else "# no settings file: defaults and the command line"
    ]
    rows.append(f"# paths start at {visible(settings.root)}")
    tables: list[str] = []
    for setting in SETTINGS:
        name, value = setting.name, getattr(settings, setting.attribute)
        if setting.kind == MACHINE and settings.profiles:
            tables += ["", "[hardware]"]
            tables += [f"default = {json.dumps(value)}"] if value is not None else []
            tables += [
                "[hardware.profiles]",
                *(f"{json.dumps(key)} = {json.dumps(item)}" for key, item in settings.profiles.items()),
            ]
        elif setting.kind in (LISTS, WORDS):
            if value:
                tables += ["", f"[{name}]"]
                tables += [f"{json.dumps(key)} = {_toml_value(item)}" for key, item in value.items()]
            else:
                rows.append(f"# {name}: none")
        elif value is None:
            rows.append(f"# {name}: not set")
        else:
            note = "  # default" if value == setting.default else ""
            rows.append(f"{name} = {_toml_value(value)}{note}")
    return "\n".join([*rows, *tables]) + "\n"


def _toml_value(value: object) -> str:
    import json

    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)


def _show_report(
    report: engine.Report, options: Mapping[str, Any], outputs: Sequence[tuple[str, str | None]]
) -> str | None:
    """Write a report in its formats; return the text printed on standard output.

    None where that is no text that could be kept.
    """
    printed: str | None = None
    for form, target in outputs:
        if target is not None:
            write_whole(target, _rendered_report(report, form, Paint(on=False), options))
        else:
            printed = _print_report(report, form, options)
    return printed


def _print_report(report: engine.Report, form: str, options: Mapping[str, Any]) -> str | None:
    out = sys.stdout
    fixed_stdin = next((file for file in report.files if file.encoded is not None and report.fixed), None)
    if fixed_stdin is not None and not options["diff"] and FORMATS[form].for_people:
        # Standard input, fixed, goes to standard output as bytes; what there is to say goes to standard error.
        out.buffer.write(fixed_stdin.encoded or b"")
        out.flush()
        emit(sys.stderr, _rendered_report(replace(report, written=True), form, Paint(on=False), options))
        return None
    paint = Paint(on=wants_colour(options["color"] or "auto", os.environ, terminal=out.isatty()))
    return emit(out, _rendered_report(report, form, paint, options))


def _rendered_report(report: engine.Report, form: str, paint: Paint, options: Mapping[str, Any]) -> str:
    """Return a report in a format."""
    entry = FORMATS[form]
    if entry.for_people and options["statistics"]:
        from cfgfix.output.text import statistics

        return statistics(report)
    style = Style(paint, report.settings.show_skipped, options["quiet"])
    text = entry.formatter()(report, style)
    return no_commands(text, runner=runner_reads()) if entry.for_people else text


def emit(stream: Any, text: str) -> str:
    """Write text, with letters that the encoding lacks escaped.

    Returns the text as it was written.
    """
    encoding = stream.encoding or "utf-8"
    shown = text.encode(encoding, "backslashreplace").decode(encoding)
    stream.write(shown)
    stream.flush()
    return shown
