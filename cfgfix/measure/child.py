"""The measuring process: reads one job from standard input, runs it, writes events as JSON lines.

The user's code may print; what it prints goes to standard error, so that standard output carries events alone.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from typing import Any, TextIO


def main() -> None:
    """Run the job on standard input.

    Whoever calls this ends the process at once afterwards, with `os._exit`: threads of a dataset or a server may still run
    then, and nothing of theirs is wanted.
    """
    events = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.argv[:] = ["cfgfix"]
    job = json.loads(sys.stdin.buffer.read())
    _send_event(events, _run_job(job, events))
    events.flush()
    sys.stderr.flush()


def _user_files(options: dict[str, Any]) -> list[str]:
    """Return the files of the modules that the user's functions come from."""
    names = (str(options.get(role) or "").partition(":")[0] for role in ("dataset", "step", "pipeline"))
    files = (getattr(sys.modules.get(name), "__file__", None) for name in names if name)
    return list(dict.fromkeys(os.path.abspath(file) for file in files if file and file.endswith(".py")))


def _send_event(events: TextIO, event: dict[str, Any]) -> None:
    events.write(json.dumps(event) + "\n")
    events.flush()


def _run_job(job: dict[str, Any], events: TextIO) -> dict[str, Any]:
    from cfgfix.core.errors import CfgfixError
    from cfgfix.measure.sampling import UserCodeError

    def progress(what: str, share: float) -> None:
        _send_event(events, {"event": "progress", "what": what, "share": share})

    try:
        import importlib

        module, _, name = job["entry"].partition(":")
        assert module.startswith("cfgfix."), f"{module} is no part of cfgfix"
        options = job["options"]
        for root in reversed(["", *options.get("source_roots", ())]):
            path = os.path.abspath(root or os.getcwd())
            if path not in sys.path:
                sys.path.insert(0, path)
        result = getattr(importlib.import_module(module), name)(options, progress)
        result.setdefault("user_files", _user_files(options))
    except UserCodeError as error:
        return {"event": "user", "message": error.message, "trace": error.trace, "hint": error.hint}
    except CfgfixError as error:
        return {
            "event": "error",
            "message": error.message,
            "code": int(error.code),
            "path": error.path,
            "hint": error.hint,
        }
    except BaseException:  # noqa: BLE001 - told to the parent, which raises it
        return {"event": "fault", "trace": traceback.format_exc()}
    return {"event": "result", "result": result}
