"""`cfgfix hardware`: what this process may really use, or what a profile says."""

from __future__ import annotations

import click

from cfgfix.cli.completing import machines
from cfgfix.cli.streams import write_error_line
from cfgfix.core.errors import CfgfixError
from cfgfix.core.visible import visible
from cfgfix.core.writing import write_whole


@click.command("hardware")
@click.option(
    "--hardware",
    "request",
    default="auto",
    shell_complete=machines,
    help="auto (this machine), a profile such as rtx4090x2,cpus=16, or a file.",
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.option(
    "--save",
    type=click.Path(dir_okay=False),
    help="Write it to a .json or .yaml file that --hardware takes, for use on other machines.",
)
@click.option("--list", "list_profiles", is_flag=True, help="List the profiles --hardware knows.")
@click.option(
    "--measure-storage",
    "measure",
    type=click.Path(exists=True),
    help="Measure cold read speed on the files below PATH (evicts them from the page cache).",
)
def hardware(
    *, request: str, as_json: bool, save: str | None, list_profiles: bool, measure: str | None
) -> None:
    """Show the GPUs, CPUs, memory and storage that this process may really use.

    Each number comes with its source.
    """
    from cfgfix.hardware import presets, saved

    if list_profiles:
        for name, title in presets.profile_names():
            click.echo(f"{name:32} {title}")
        return
    if measure is not None:
        from cfgfix.hardware import storage

        for line in storage.describe_measurement(storage.measure(measure)):
            click.echo(line)
        return
    found, line = presets.resolve_hardware(request)
    if found is None:
        raise CfgfixError("there is no machine to show", hint="use auto, a profile or a file")
    if save is not None:
        text = saved.to_yaml(found) if save.endswith((".yaml", ".yml")) else saved.to_json(found)
        write_whole(save, text)
        shown = visible(save)
        write_error_line(f"saved to {shown}; use it with --hardware {shown}")
    if as_json:
        click.echo(saved.to_json(found).rstrip("\n"))
        return
    section = None
    for row in saved.describe(found):
        if row[0] != section:
            section = row[0]
            click.echo(section)
        click.echo(f"  {row[1]:24} {row[2]:28} {row[4]:9} {row[3]}".rstrip())
    for note in found.notes:
        click.echo(f"note: {note}")
    click.echo(line)
