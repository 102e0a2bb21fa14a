"""What all formats say of a finding in the same words."""

from __future__ import annotations

from cfgfix.findings import Finding


def message(finding: Finding) -> str:
    """Return the message, with the machine it holds for where several are checked."""
    return f"[{finding.profile}] {finding.message}" if finding.profile else finding.message
