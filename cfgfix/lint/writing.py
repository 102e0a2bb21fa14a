"""Write what was fixed: all files or none, each only if it is still as it was read."""

from __future__ import annotations

import os

from cfgfix.core.errors import CfgfixError, UnreadableError
from cfgfix.core.source_file import read_source, replace_atomically
from cfgfix.core.temporary_files import remove_leftovers
from cfgfix.core.writing import require_inside
from cfgfix.lint.request import FileReport


def write_reports(reports: list[FileReport], errors: list[CfgfixError]) -> bool:
    """Write the fixed texts of reports, and tell whether any file was written.

    A file that changed since it was read is left alone: `errors` gets the error.
    """
    for folder in sorted({os.path.dirname(report.path) for report in reports}):
        _clean_folder(folder)
    written = False
    for position, report in enumerate(reports):
        if report.after is None or report.encoded is None or report.before is None:
            continue
        try:
            current = read_source(report.path)
            if current.text != report.before:
                raise _changed_meanwhile(report.path)
            assert current.stamp is not None
            replace_atomically(report.path, report.encoded, current.stamp)
            written = True
        except UnreadableError as error:
            errors.append(error)
            # What was found in the text that could not be written says nothing of the one that stays.
            reports[position] = FileReport(report.path, passed_over=error.message)
    return written


def _clean_folder(folder: str) -> None:
    """Remove files that a killed run has left in a folder.

    Nothing is removed where a link leads out of the project.
    """
    try:
        inside = os.path.dirname(require_inside(os.path.join(folder, "x")))
    except (OSError, UnreadableError):
        return
    remove_leftovers(inside)


def _changed_meanwhile(path: str) -> UnreadableError:
    return UnreadableError(
        "changed while it was being fixed; it was left as it is", path=path, hint="run cfgfix again"
    )
