"""`cfgfix tf-env`: the environment variables that must be set before a training program starts."""

from __future__ import annotations

import click

from cfgfix.tf.variables import FORMATS, environment, render, why_none


@click.command("tf-env")
@click.argument("config", type=click.Path(dir_okay=False), required=False)
@click.option(
    "--hardware", default="auto", help="auto (this machine), a profile such as rtx4090x2,cpus=16, or a file."
)
@click.option(
    "--format",
    "style",
    type=click.Choice(FORMATS),
    default="sh",
    help="Shell exports, NAME=value lines, or JSON.",
)
def tf_env(*, config: str | None, hardware: str, style: str) -> None:
    """Print the environment variables that TensorFlow reads only at its start.

    They are those for CONFIG and this machine. Use it as `eval "$(cfgfix tf-env config.yaml)"` before the training command.
    What can be set from inside the program is left to cfgfix.tf.configure.
    """
    variables = environment(config, hardware)
    click.echo(render(variables, style), nl=False)
    if not variables:
        click.echo("cfgfix: no variable needs to be set for this config on this machine", err=True)
        for line in why_none(config, hardware):
            click.echo(f"  {line}", err=True)
