"""The commands as click sees them: help, completion, messages about wrong use; each command is imported when it is used."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator, Sequence
from typing import Any

import click

from cfgfix.cli.completing import BY_OPTION
from cfgfix.cli.options import FLAG, MANY, TABLE, defaults
from cfgfix.core.errors import nearest

_COMMANDS = {
    "check": ("cfgfix.cli.app", "check", "Find what will crash, corrupt or starve a training run."),
    "fix": ("cfgfix.cli.app", "fix", "Repair what can be repaired safely; the same as check --fix."),
    "explain": (
        "cfgfix.cli.explain",
        "explain",
        "Explain a rule, or what is known about a key on this machine.",
    ),
    "rules": ("cfgfix.cli.rules", "rules", "List the rules, or run the cases of a rule folder."),
    "schema": (
        "cfgfix.cli.schema",
        "schema",
        "Print the JSON Schema of a config, from a dialect or the class that loads it.",
    ),
    "recommend": (
        "cfgfix.cli.recommend",
        "command",
        "Print settings for a machine, every value with its reason.",
    ),
    "hardware": (
        "cfgfix.cli.hardware",
        "hardware",
        "Show what this process may really use, and where each number came from.",
    ),
    "init": (
        "cfgfix.cli.init",
        "init",
        "Set a project up (settings, hook, editor schema), or draft a dialect.",
    ),
    "lsp": ("cfgfix.cli.lsp", "lsp", "Diagnostics, hover, quick fixes and completion for editors."),
    "completion": ("cfgfix.cli.completion", "completion", "Print the completion script for a shell."),
    "tf-env": (
        "cfgfix.cli.tf_env",
        "tf_env",
        "Print the environment variables that TensorFlow reads only at its start.",
    ),
    "diagnose": (
        "cfgfix.cli.diagnose",
        "diagnose",
        "Say before a long run whether machine, config, code and pipeline are fit.",
    ),
    "report": (
        "cfgfix.cli.report",
        "report",
        "Diagnosis, profiles and search in one folder, with one page that opens offline.",
    ),
    "tune": (
        "cfgfix.cli.tune",
        "tune",
        "Search settings by measuring your pipeline; write what is proven faster.",
    ),
    "profile": (
        "cfgfix.cli.profile",
        "profile",
        "Measure the data pipeline, the step or the devices, with verdicts.",
    ),
}


class ReaderGoneError(Exception):
    """The reader of standard output is gone."""


@contextlib.contextmanager
def _pipe_kept() -> Iterator[None]:
    """Raise `ReaderGoneError` for a pipe without a reader, before click handles it.

    Click would end with the exit code that stands for findings here.
    """
    try:
        yield
    except BrokenPipeError as error:
        raise ReaderGoneError from error


class _LazyCommands(click.Group):
    """A group of commands, each imported when it is called.

    Only the list with short helps is always there.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        entry = _COMMANDS.get(cmd_name)
        if entry is None:
            return None
        module, name, _ = entry
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _COMMANDS:
            near = nearest(args[0], _COMMANDS)
            hint = f"Did you mean {near!r}?" if near else f"To check a file: cfgfix check {args[0]}"
            raise click.UsageError(f"No command {args[0]!r}. {hint}", ctx)
        return super().resolve_command(ctx, args)

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        with _pipe_kept():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with _pipe_kept():
            return super().invoke(ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry[2]) for name, entry in _COMMANDS.items()])


@click.group(
    cls=_LazyCommands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.option("--version", "-V", is_flag=True, help="Show the version and exit.")
@click.option("--fix", "fix_flag", is_flag=True, help="The same as the command fix.")
@click.pass_context
def cli(ctx: click.Context, *, version: bool, fix_flag: bool) -> None:
    """Check and repair TensorFlow training configs.

    Each config is held against the code that reads it and the machine it runs on.
    """
    if version:
        from cfgfix import __version__

        click.echo(f"cfgfix {__version__}")
    elif ctx.invoked_subcommand is None and not fix_flag:
        click.echo(ctx.get_help())


def _with_options(function: Any) -> Any:
    for name, flags, kind, choices, text in reversed(TABLE):
        settings: dict[str, Any] = {"help": text}
        if kind == FLAG:
            settings["is_flag"] = True
        elif choices:
            settings["type"] = click.Choice(choices)
        elif name in BY_OPTION:
            settings["shell_complete"] = BY_OPTION[name]
        elif name in ("baseline", "write_baseline", "output_file", "config", "schema"):
            settings["type"] = click.Path()
        if kind == MANY:
            settings["multiple"] = True
        function = click.option(*flags, name, **settings)(function)
    return click.argument("paths", nargs=-1, type=click.Path(allow_dash=True))(function)


def _run_command(values: dict[str, Any], *, fixing: bool) -> None:
    from cfgfix.cli.check import command

    raise SystemExit(int(command({**defaults(), **values}, fixing=fixing)))


@click.command("check")
@_with_options
def check(**values: Any) -> None:
    """Find what will crash, corrupt or starve a training run.

    PATHS are files or folders; without any, the configs of this folder are found. Exit code 0: nothing found; 1: findings;
    2: wrong use; 3: a file could not be read or a fix was refused; 4: a fault in cfgfix.
    """
    _run_command(values, fixing=False)


@click.command("fix")
@_with_options
def fix(**values: Any) -> None:
    """Repair what can be repaired safely, each fix proven before it is written.

    The same as `cfgfix check --fix` and `cfgfix --fix`.
    """
    _run_command(values, fixing=True)


def call(arguments: Sequence[str]) -> int:
    """Run click with these arguments and return the exit code."""
    try:
        result = cli.main(list(arguments), prog_name="cfgfix", standalone_mode=False)
    except click.ClickException as error:
        import io

        from cfgfix.cli.streams import write_error_line
        from cfgfix.core.visible import visible_lines

        shown = io.StringIO()
        error.show(file=shown)
        write_error_line(visible_lines(shown.getvalue().rstrip("\n")))
        return 2
    except click.exceptions.Abort as abort:
        if isinstance(abort.__cause__, KeyboardInterrupt):
            raise abort.__cause__ from None
        return 130
    except ReaderGoneError as error:
        raise BrokenPipeError from error
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except SystemExit as leave:
        return leave.code if isinstance(leave.code, int) else 0
    return result if isinstance(result, int) else 0
