"""Checks for the traps of YAML itself: values that load as something else than they look like.

`scan` walks a document once and returns what every check found. The rule files under `rules/yaml/` hold
severity, message, evidence and cases; the checks here yield places, values and changes.
"""

from __future__ import annotations

from cfgfix.config.values.context import Context
from cfgfix.config.values.scan import CHECKS, scan
from cfgfix.rules.hit import Hit

__all__ = ["CHECKS", "Context", "Hit", "scan"]
