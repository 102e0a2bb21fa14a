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
from cfgfix.cli.streams import discard_output, make_streams_safe, runner_reads, write_error_line
from cfgfix.core.errors import CfgfixError, ExitCode, UnreadableError
from cfgfix.core.temporary_files import remove_unfinished
from cfgfix.core.visible import no_commands, visible, visible_lines

_NEED_NOTHING = (["--version"], ["-V"], ["--help"], ["-h"])
"""Arguments that are answered wherever the command is run."""
_WRITE = ("fix", "init")
_WRITE_WITH = ("--fix", "--add-ignores", "--write-baseline", "--output-format", "--output-file")
"""Options with which a check writes files."""
SHORT = 3
"""Most names of written files that stand on one line."""


class _TerminatedBySignal(KeyboardInterrupt):
    """The process is asked to end by a signal."""


def run(arguments: Sequence[str]) -> int:
    """Run the command line with these arguments and return its exit code."""
    try:
        return _run_command(_with_fix_as_command(list(arguments)))
    except CfgfixError as error:
        _print_error(f"cfgfix: error: {_with_relative_path(error)}{_after_writing()}")
        return int(error.code)
    except KeyboardInterrupt as error:
        terminated = isinstance(error, _TerminatedBySignal)
        remove_unfinished()
        done = _after_writing() or ("; nothing was written" if _tells_what_it_writes(arguments) else "")
        _print_error(f"cfgfix: {'terminated' if terminated else 'interrupted'}{done}")
        return 143 if terminated else 130
    except BrokenPipeError:
        # The reader of our output has gone.
        discard_output(sys.stdout)
        return 141
    except OSError as error:
        if error.errno is None:
            return _tell_internal_error(error, arguments)
        return _tell_system_error(error)
    except RecursionError as error:
        return _tell_internal_error(error, arguments)
    except Exception as error:  # noqa: BLE001 - the one handler: what arrives here is a fault of cfgfix
        return _tell_internal_error(error, arguments)


def _run_command(arguments: list[str]) -> int:
    make_streams_safe()
    if arguments[:1] not in _NEED_NOTHING:
        _require_working_folder()
    if arguments[:1] in ([name] for name in _WRITE) or any(
        _is_one_of(_WRITE_WITH, text) for text in arguments
    ):
        _heed_termination()
    code = _dispatch_command(arguments)
    # What cannot be written any more is told by the handler and not by Python as it ends.
    sys.stdout.flush()
    return code


def _is_one_of(options: Sequence[str], argument: str) -> bool:
    return argument.partition("=")[0] in options


def _heed_termination() -> None:
    """Make a termination signal end the run as an interruption does.

    The run then says which files it has written.
    """
    import signal

    def stop(_number: int, _frame: object) -> None:
        raise _TerminatedBySignal

    try:
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, stop)
    except ValueError:
        # Only the main thread receives signals.
        return


def _tells_what_it_writes(arguments: Sequence[str]) -> bool:
    """Tell whether a command writes only files that it reports.

    Other commands may run a program of the user, which might write anything.
    """
    return bool(arguments) and arguments[0] in ("check", *_WRITE)


def _with_fix_as_command(arguments: list[str]) -> list[str]:
    """Return arguments with `--fix` as the command: `--fix PATHS` becomes `fix PATHS`."""
    if arguments and arguments[0].startswith("-") and "--fix" in arguments:
        arguments.remove("--fix")
        return ["fix", *arguments]
    return arguments


def _dispatch_command(arguments: list[str]) -> int:
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


def _with_relative_path(error: CfgfixError) -> CfgfixError:
    """Return an error with its path relative to the working folder.

    Paths outside of that folder stay as they are.
    """
    if error.path is not None and os.path.isabs(error.path):
        try:
            relative = os.path.relpath(error.path)
        except OSError:
            return error
        if not relative.startswith(os.pardir):
            error.path = relative
    return error


def _print_error(text: str) -> None:
    write_error_line(no_commands(visible_lines(text), runner=runner_reads()))


def _require_working_folder() -> None:
    try:
        os.getcwd()
    except OSError as error:
        raise UnreadableError(
            f"the working folder cannot be used: {error.strerror}",
            hint="change to a folder that exists and run cfgfix again",
        ) from error


def _after_writing() -> str:
    """Return a line on the files written before an error; empty where there are none."""
    from cfgfix.core.source_file import written

    names = [visible(name) for name in dict.fromkeys(written)]
    if not names:
        return ""
    return "\ncfgfix: written before that:" + (
        " " + ", ".join(names) if len(names) <= SHORT else "".join(f"\n  {name}" for name in names)
    )


def _tell_system_error(error: OSError) -> int:
    """Print an error of the system and return the exit code.

    A refusal without a file name is one of standard output.
    """
    reason = os.strerror(error.errno or 0)
    if isinstance(error.filename, (str, bytes)):
        told = UnreadableError(f"cannot be used: {reason}", path=os.fsdecode(error.filename))
    elif isinstance(error, FileNotFoundError):
        told = UnreadableError("the working folder has been removed meanwhile")
    else:
        discard_output(sys.stdout)
        told = UnreadableError(f"standard output cannot be written: {reason}")
    _print_error(f"cfgfix: error: {_with_relative_path(told)}{_after_writing()}")
    return int(told.code)


def _tell_internal_error(error: BaseException, arguments: Sequence[str]) -> int:
    import platform
    import traceback

    from cfgfix import __version__

    frames = traceback.format_exception(type(error), error, error.__traceback__)
    done = _after_writing()
    nothing = "; nothing was written" if not done and _tells_what_it_writes(arguments) else ""
    _print_error(
        f"cfgfix: internal error - this is a fault in cfgfix, not in your files{nothing}.{done}\n"
        "Please report it with the following lines:\n"
        f"  cfgfix {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
        + "".join("  " + line for part in frames for line in part.splitlines(keepends=True))
    )
    return int(ExitCode.INTERNAL)
