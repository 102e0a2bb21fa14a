"""What all formats say of a finding in the same words."""

from __future__ import annotations

import os

from cfgfix.findings import Finding


def message(finding: Finding) -> str:
    """Return the message, with the machine it holds for where several are checked."""
    return f"[{finding.profile}] {finding.message}" if finding.profile else finding.message


def shown_path(path: str) -> str:
    """Return a path as services want it: from the working folder where it lies below it, with forward slashes."""
    if os.path.isabs(path):
        inside = os.path.relpath(path)
        if not inside.startswith(os.pardir):
            path = inside
    return path.replace(os.sep, "/")
