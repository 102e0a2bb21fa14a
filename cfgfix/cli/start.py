"""From arguments to a command, and the one handler for what goes wrong.

`check` and `fix` with plain options are parsed here, without importing click; everything else - help, other commands,
mistakes - goes through click. Both read the same option table.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

from cfgfix.cli.options import parse
from cfgfix.errors import CfgfixError, ExitCode


def run(arguments: Sequence[str]) -> int:
    """Run the command line with these arguments and return its exit code."""
    try:
        return _dispatch(_normal(list(arguments)))
    except CfgfixError as error:
        _tell(f"cfgfix: error: {_near(error)}")
        return int(error.code)
    except KeyboardInterrupt:
        _tell("cfgfix: interrupted")
        return 130
    except BrokenPipeError:
        # The reader of our output has gone; Python would complain again while it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except RecursionError as error:
        return _internal(error)
    except Exception as error:  # noqa: BLE001 - the one handler: what arrives here is a fault of cfgfix
        return _internal(error)


def _normal(arguments: list[str]) -> list[str]:
    """Return the arguments with the command written out: `cfgfix --fix PATHS` is `cfgfix fix PATHS`."""
    if arguments and arguments[0].startswith("-") and "--fix" in arguments:
        arguments.remove("--fix")
        return ["fix", *arguments]
    return arguments


def _dispatch(arguments: list[str]) -> int:
    if arguments in (["--version"], ["-V"]):
        from cfgfix import __version__

        sys.stdout.write(f"cfgfix {__version__}\n")
        return ExitCode.CLEAN
    if arguments and arguments[0] in ("check", "fix"):
        options = parse(arguments[1:])
        if options is not None:
            from cfgfix.cli.check import command

            return command(options, fixing=arguments[0] == "fix", arguments=arguments)
    from cfgfix.cli.app import call

    gc.enable()
    return call(arguments)


def _near(error: CfgfixError) -> CfgfixError:
    """Return the error with its file as seen from the working folder, where it lies below it."""
    if error.path is not None and os.path.isabs(error.path):
        relative = os.path.relpath(error.path)
        if not relative.startswith(os.pardir):
            error.path = relative
    return error


def _tell(text: str) -> None:
    try:
        sys.stderr.write(text + "\n")
    except UnicodeEncodeError:
        sys.stderr.write(text.encode("ascii", "backslashreplace").decode("ascii") + "\n")


def _internal(error: BaseException) -> int:
    import platform
    import traceback

    from cfgfix import __version__

    frames = traceback.format_exception(type(error), error, error.__traceback__)
    _tell(
        "cfgfix: internal error - this is a fault in cfgfix, not in your files; nothing was written.\n"
        "Please report it with the following lines:\n"
        f"  cfgfix {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
        + "".join("  " + line for part in frames for line in part.splitlines(keepends=True))
    )
    return int(ExitCode.INTERNAL)
