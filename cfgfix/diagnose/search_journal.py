"""The journal of a search: what was tried before with the same code, data and machine."""

from __future__ import annotations

import hashlib
import json
import os
from typing import Any

from cfgfix.core.errors import CfgfixError, UnreadableError
from cfgfix.diagnose.search_space import Bound, Plan


def fingerprint(plan: Plan, bound: Bound | None) -> str:
    """Return a hash of everything that the results of a search depend on.

    These are config, space, options, code, versions, CPUs and the way of measuring.
    """
    from importlib import metadata

    from cfgfix import __version__
    from cfgfix.hardware.detect import detect

    parts: list[Any] = [
        __version__,
        _version_of(metadata, "tensorflow"),
        bound.document.source.text if bound else None,
        os.path.abspath(plan.config) if plan.config else None,
        {name: list(values) for name, values in plan.space.items()},
        {name: plan.options.get(name) for name in sorted(plan.options)},
        [_code_of(plan, role) for role in ("dataset", "step", "config_loader")],
        plan.seconds,
        plan.cold,
        str(detect(ask_driver=False).cpu.usable.value),
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:24]


def _version_of(metadata: Any, name: str) -> str | None:
    try:
        return str(metadata.version(name))
    except metadata.PackageNotFoundError:
        return None


def _code_of(plan: Plan, role: str) -> str | None:
    """Return a digest of the file with a user's function, or None if not found.

    Results of other code do not count. The file is read and not imported.
    """
    spec = plan.options.get(role)
    if not isinstance(spec, str):
        return None
    relative = os.path.join(*spec.partition(":")[0].split("."))
    for root in (os.getcwd(), *plan.options.get("source_roots", ())):
        for ending in (".py", os.sep + "__init__.py"):
            path = os.path.join(root, relative + ending)
            if os.path.isfile(path):
                with open(path, "rb") as stream:
                    return hashlib.sha256(stream.read()).hexdigest()
    return None


def open_journal(plan: Plan, mark: str) -> str:
    """Return the path of the journal of a search.

    On resuming, the journal stays as it is; else it is begun anew.

    Raises:
        CfgfixError: There is nowhere to put it, or the one to resume belongs to another search.
    """
    from cfgfix.core.cache import cache_folder
    from cfgfix.measure.search import append, read

    path = plan.state
    if path is None:
        folder = cache_folder()
        if folder is None:
            raise CfgfixError(
                "there is no cache folder for the search's state", hint="name a file with --state"
            )
        path = os.path.join(folder, f"tune-{mark}.jsonl")
    try:
        entries = read(path)
        if plan.resume and entries:
            if entries[0].get("fingerprint") != mark:
                raise CfgfixError(
                    f"{path} holds another search: config, space, code or versions differ",
                    hint="search anew without --resume",
                )
            return path
        used = os.path.isfile(path) and os.path.getsize(path) > 0
        if used and not (entries and entries[0].get("event") == "search"):
            raise CfgfixError(f"{path} is no state of a search; it is left as it is")
        with open(path, "w", encoding="utf-8"):
            pass
        append(path, {"event": "search", "version": 1, "fingerprint": mark})
    except OSError as error:
        raise UnreadableError(f"cannot be used: {error.strerror}", path=path) from error
    return path
