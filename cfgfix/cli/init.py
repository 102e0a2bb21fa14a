"""`cfgfix init`: set a project up."""

from __future__ import annotations

import sys
from collections.abc import Sized

import click

from cfgfix.core.errors import CfgfixError


@click.command("init")
@click.option("--yes", "-y", is_flag=True, help="Write without asking.")
@click.option("--dry-run", is_flag=True, help="Show what would be written and write nothing.")
@click.option(
    "--hook-repository",
    metavar="URL",
    help="Where pre-commit gets cfgfix from; without it, the hook runs the installed cfgfix.",
)
@click.option("--no-hook", is_flag=True, help="Write no pre-commit hook.")
@click.option("--no-editor", is_flag=True, help="Write no schema comments for editors.")
@click.option(
    "--dialect", metavar="NAME", help="Instead: make the first draft of a dialect for the project's configs."
)
@click.option(
    "--example", metavar="CONFIG", help="With --dialect: a config of the project to take key names from."
)
@click.option(
    "--folder", default="dialects", show_default=True, help="With --dialect: the folder that it is put in."
)
def init(
    *,
    yes: bool,
    dry_run: bool,
    hook_repository: str | None,
    no_hook: bool,
    no_editor: bool,
    dialect: str | None,
    example: str | None,
    folder: str,
) -> None:
    """Set this project up: settings, pre-commit hook and schemas for editors.

    The configs, their dialect, the config class and the source root are found by looking. What would be written is shown
    first. A second run changes nothing.
    """
    if dialect is not None:
        from cfgfix.cli.new_dialect import new_dialect

        click.echo(new_dialect(dialect, folder=folder, example=example))
        return
    if example is not None:
        raise click.UsageError("--example says what a new dialect is drafted from: give --dialect NAME too")
    from cfgfix.cli import project_setup
    from cfgfix.output.text import diff

    plan = project_setup.plan(hook_repository=hook_repository, hook=not no_hook, editor=not no_editor)
    for fact in plan.facts:
        click.echo(fact)
    if not plan.files:
        click.echo("nothing to write: the project is set up")
        return
    for planned in plan.files:
        click.echo()
        for line in project_setup.preview_lines(planned, diff):
            click.echo(line)
    click.echo()
    if dry_run:
        click.echo(f"{_file_list(plan.files)} would be written")
        return
    if not yes:
        if not sys.stdin.isatty():
            raise CfgfixError(
                "there is no terminal to ask on", hint="--yes writes what is shown, --dry-run only shows it"
            )
        if not click.confirm(f"Write {_file_list(plan.files)}?", default=True):
            click.echo("nothing was written")
            return
    project_setup.write(plan)
    click.echo(f"{_file_list(plan.files)} written; next: cfgfix check")


def _file_list(planned: Sized) -> str:
    return f"{len(planned)} {'file' if len(planned) == 1 else 'files'}"
