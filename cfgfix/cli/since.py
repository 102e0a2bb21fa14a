"""The check of an earlier revision, in a process that starts in its tree."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping

from cfgfix.core.errors import CfgfixError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def answer(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the findings of a check here, and the code's reads of each config.

    Raises:
        CfgfixError: The settings are wrong.
    """
    from cfgfix.cli.check import settings_for
    from cfgfix.cli.options import defaults
    from cfgfix.lint import runner
    from cfgfix.lint.past import rows_of

    options = {
        **defaults(),
        **{name: tuple(value) if isinstance(value, list) else value for name, value in data.items()},
    }
    settings, adjust = settings_for(options)
    report = runner.check(
        runner.Request(
            paths=options["paths"],
            settings=settings,
            adjust=adjust,
            force_dialect=options["force_dialect"],
            excerpts=True,
            each=True,
            tell_reads=True,
        )
    )
    return {"findings": rows_of(report), "reads": report.reads}


def main() -> None:
    """Read the options from standard input and write the answer to standard output."""
    try:
        found = answer(json.load(sys.stdin))
    except CfgfixError as error:
        found = {"error": str(error)}
    json.dump(found, sys.stdout)
