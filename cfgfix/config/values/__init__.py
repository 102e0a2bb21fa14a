"""Checks for the traps of YAML itself: values that load as something else than they look like.

`scan` walks a document once and returns what every check found. The rule files under `rules/yaml/` hold
severity, message, evidence and cases; the checks here yield places, values and changes.
"""

from __future__ import annotations

from cfgfix.config.values.hit import Context, Hit
from cfgfix.config.values.scan import CHECKS, scan

__all__ = ["CHECKS", "Context", "Hit", "scan"]
