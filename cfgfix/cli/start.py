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
from cfgfix.cli.streams import runner_reads, settle, silence, tell
from cfgfix.errors import CfgfixError, ExitCode, UnreadableError
from cfgfix.visible import no_commands, visible_lines

_NEED_NOTHING = (["--version"], ["-V"], ["--help"], ["-h"])
"""Arguments that are answered wherever the command is run."""


def run(arguments: Sequence[str]) -> int:
    """Run the command line with these arguments and return its exit code."""
    try:
        return _answer(_normal(list(arguments)))
    except CfgfixError as error:
        _tell(f"cfgfix: error: {_near(error)}{_after_writing()}")
        return int(error.code)
    except KeyboardInterrupt:
        _tell("cfgfix: interrupted")
        return 130
    except BrokenPipeError:
        # The reader of our output has gone.
        silence(sys.stdout)
        return 141
    except OSError as error:
        if error.errno is None:
            return _internal(error)
        return _system(error)
    except RecursionError as error:
        return _internal(error)
    except Exception as error:  # noqa: BLE001 - the one handler: what arrives here is a fault of cfgfix
        return _internal(error)


def _answer(arguments: list[str]) -> int:
    settle()
    if arguments[:1] not in _NEED_NOTHING:
        _require_working_folder()
    code = _dispatch(arguments)
    # What cannot be written any more is told by the handler and not by Python as it ends.
    sys.stdout.flush()
    return code


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
        try:
            relative = os.path.relpath(error.path)
        except OSError:
            return error
        if not relative.startswith(os.pardir):
            error.path = relative
    return error


def _tell(text: str) -> None:
    tell(no_commands(visible_lines(text), runner=runner_reads()))


def _require_working_folder() -> None:
    try:
        os.getcwd()
    except OSError as error:
        raise UnreadableError(
            f"the working folder cannot be used: {error.strerror}",
            hint="change to a folder that exists and run cfgfix again",
        ) from error


def _after_writing() -> str:
    """Return a sentence that says what was written before an error, or nothing where nothing was."""
    from cfgfix.files import written

    if not written:
        return ""
    shown = ", ".join(written[:3])
    more = f" and {len(written) - 3} more" if len(written) > 3 else ""
    return f"\ncfgfix: written before that: {shown}{more}"


def _system(error: OSError) -> int:
    """Tell what the system refused; a refusal without a name is one of standard output."""
    reason = os.strerror(error.errno or 0)
    if isinstance(error.filename, (str, bytes)):
        told = UnreadableError(f"cannot be used: {reason}", path=os.fsdecode(error.filename))
    elif isinstance(error, FileNotFoundError):
        told = UnreadableError("the working folder has been removed meanwhile")
    else:
        silence(sys.stdout)
        told = UnreadableError(f"standard output cannot be written: {reason}")
    _tell(f"cfgfix: error: {_near(told)}{_after_writing()}")
    return int(told.code)


def _internal(error: BaseException) -> int:
    import platform
    import traceback

    from cfgfix import __version__

    frames = traceback.format_exception(type(error), error, error.__traceback__)
    done = _after_writing()
    _tell(
        f"cfgfix: internal error - this is a fault in cfgfix, not in your files{'' if done else '; nothing was written'}.{done}\n"
        "Please report it with the following lines:\n"
        f"  cfgfix {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
        + "".join("  " + line for part in frames for line in part.splitlines(keepends=True))
    )
    return int(ExitCode.INTERNAL)
