"""The entry point: `cfgfix ...` and `python -m cfgfix ...`."""

from __future__ import annotations

import gc
import os
import sys

# Start-up makes many objects and drops none: looking for garbage meanwhile is a tenth of its time.
gc.disable()


def main() -> None:
    """Run the command line and exit with its code."""
    from cfgfix.cli import replay

    code = None
    if sys.stdout is not None:
        try:
            code = replay.print_kept_answer(sys.argv[1:])
        except (OSError, ValueError):
            code = None
    if code is None:
        from cfgfix.cli.start import run

        code = run(sys.argv[1:])
    # Python looks at every object once more as it ends; what is left goes with the process.
    gc.freeze()
    sys.exit(code)


def _leave_working_folder() -> None:
    """Take the working folder off the import path, where `python -m` put it: a checkout's own `yaml.py` is not ours."""
    try:
        here = os.getcwd()
    except OSError:
        here = ""
    if sys.path and sys.path[0] in ("", here) and os.path.dirname(os.path.dirname(__file__)) != here:
        del sys.path[0]


if __name__ == "__main__":
    _leave_working_folder()
    main()
