"""`cfgfix lsp`: the language server on standard input and output."""

from __future__ import annotations

import os
import sys

import click

from cfgfix.core.errors import CfgfixError


@click.command("lsp")
@click.option(
    "--stdio",
    is_flag=True,
    help="Talk over standard input and output, which it does anyway; some editors say it.",
)
def lsp(*, stdio: bool) -> int:  # noqa: ARG001 - accepted for editors that give it
    """Serve an editor over standard input and output.

    The editor gets diagnostics while you type, hover, quick fixes and completion.
    """
    import gc

    try:
        from cfgfix.lsp.server import make
    except ImportError as error:
        raise CfgfixError(
            f"the language server needs {error.name}", hint='install it with: pip install "cfgfix[lsp]"'
        ) from error
    # A server lives long, unlike other commands, which run without garbage collection.
    gc.enable()
    server = make()
    # The server closes what it writes to as it ends; what comes after still finds standard output open.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as stream:
        server.start_io(stdout=stream)
    return int(server.left_unasked)
