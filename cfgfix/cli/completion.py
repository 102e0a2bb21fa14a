"""`cfgfix completion`: what a shell needs to complete commands, options and their values."""

from __future__ import annotations

import click

_HINTS = {
    "bash": '# Add to ~/.bashrc:  eval "$(cfgfix completion bash)"\n',
    "zsh": '# Add to ~/.zshrc:  eval "$(cfgfix completion zsh)"\n',
    "fish": "# Write to ~/.config/fish/completions/cfgfix.fish:  cfgfix completion fish > ~/.config/fish/completions/cfgfix.fish\n",
}


@click.command("completion")
@click.argument("shell", type=click.Choice(tuple(_HINTS)))
def completion(*, shell: str) -> None:
    """Print the completion script for SHELL; its first line says where it belongs."""
    from click.shell_completion import get_completion_class

    from cfgfix.cli.app import cli

    kind = get_completion_class(shell)
    assert kind is not None, "click completes all three shells"
    click.echo(_HINTS[shell] + kind(cli, {}, "cfgfix", "_CFGFIX_COMPLETE").source())
