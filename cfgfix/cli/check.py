"""`cfgfix check` and `cfgfix fix`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from cfgfix import engine
from cfgfix.errors import CfgfixError, ExitCode
from cfgfix.report.style import Paint, wants_colour
from cfgfix.settings import Settings, candidates, discover, overruled, read


def command(options: Mapping[str, Any], *, fixing: bool, arguments: Sequence[str] = ()) -> int:
    """Run `check` or `fix` with parsed options and return the exit code.

    Args:
        options: The values of the option table.
        fixing: Whether the command is `fix`.
        arguments: The command line, where its answer may be kept for the next run.

    Raises:
        CfgfixError: The arguments or the settings are wrong.
    """
    settings = settings_for(options)
    if options["show_settings"]:
        sys.stdout.write(show(settings))
        return ExitCode.CLEAN
    stdin = None
    if "-" in options["paths"]:
        if len(options["paths"]) > 1:
            raise CfgfixError("`-` (standard input) stands alone", hint="name it with --stdin-filename")
        stdin = sys.stdin.buffer.read()
    fix = fixing or options["fix"]
    request = engine.Request(
        paths=tuple(options["paths"]),
        settings=settings,
        fix=fix or options["diff"],
        unsafe_fixes=options["unsafe_fixes"],
        diff=options["diff"],
        overrides=tuple(_override(text) for text in options["overrides"]),
        stdin=stdin,
        stdin_name=options["stdin_name"] or "stdin.yaml",
    )
    report = engine.fix(request) if request.fix else engine.check(request)
    printed = _show(report, options)
    code = report.exit_code()
    if options["exit_zero"] and code is ExitCode.FINDINGS:
        code = ExitCode.CLEAN
    if arguments and printed is not None and not report.fixed and not report.errors:
        from cfgfix.cli import replay

        replay.keep(
            arguments,
            (*candidates("."), *([options["config"]] if options["config"] else []), *report.inputs),
            printed,
            int(code),
        )
    return code


def settings_for(options: Mapping[str, Any]) -> Settings:
    """Return the settings in force for a command line.

    Raises:
        CfgfixError: A settings file is wrong.
    """
    if options["isolated"]:
        settings = Settings(root=os.getcwd())
    elif options["config"]:
        found = read(options["config"])
        if found is None:
            raise CfgfixError("has no [tool.cfgfix]", path=options["config"])
        settings = found
    else:
        settings = discover(".")
    schema = options["schema"]
    return overruled(
        settings,
        hardware=options["hardware"],
        select=_rules(options["select"]) or None,
        ignore=(*settings.ignore, *_rules(options["ignore"])) if options["ignore"] else None,
        extend_select=(*settings.extend_select, *_rules(options["extend_select"]))
        if options["extend_select"]
        else None,
        fail_on=options["fail_on"],
        dialect=options["dialect"],
        loader=options["loader"],
        schema=os.path.abspath(schema) if schema and ":" not in os.path.basename(schema) else schema,
        preview=True if options["preview"] else None,
        show_skipped=True if options["show_skipped"] else None,
    )


def _rules(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name.strip() for text in texts for name in text.split(",") if name.strip())


def _override(text: str) -> tuple[str, str]:
    key, sign, value = text.partition("=")
    if not sign or not key:
        raise CfgfixError(f"--set {text}: expected KEY=VALUE", hint="for example --set data.num_workers=8")
    return key, value


def show(settings: Settings) -> str:
    """Return settings as text, one a line, with the file they come from."""
    rows = [f"# from {settings.origin}" if settings.origin else "# defaults: no settings file"]
    for name in settings.__slots__:
        if name != "origin":
            value = getattr(settings, name)
            rows.append(f"{name.replace('_', '-')} = {list(value) if isinstance(value, tuple) else value!r}")
    return "\n".join(rows) + "\n"


def _show(report: engine.Report, options: Mapping[str, Any]) -> str | None:
    """Print a report; return what went to standard output, or None where it is not text that could be kept."""
    form = options["output_format"] or "text"
    out, err = sys.stdout, sys.stderr
    if form == "json":
        from cfgfix.report import json

        return emit(out, json.render(report))
    paint = Paint(on=wants_colour(options["color"] or "auto", os.environ, terminal=out.isatty()))
    from cfgfix.report import text

    fixed_stdin = next((file for file in report.files if file.encoded is not None and report.fixed), None)
    if fixed_stdin is not None and not options["diff"]:
        # Standard input, fixed, goes to standard output as bytes; what there is to say goes to standard error.
        out.buffer.write(fixed_stdin.encoded or b"")
        out.flush()
        out = err
        paint = Paint(on=False)
    render = text.concise if form == "concise" else text.render
    printed = emit(
        out, render(report, paint, show_skipped=report.settings.show_skipped, quiet=options["quiet"])
    )
    return printed if out is sys.stdout else None


def emit(stream: Any, text: str) -> str:
    """Write text whatever the terminal's encoding can show; return what was written."""
    encoding = stream.encoding or "utf-8"
    shown = text.encode(encoding, "backslashreplace").decode(encoding)
    stream.write(shown)
    stream.flush()
    return shown
