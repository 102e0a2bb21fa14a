"""The baseline: findings a team has decided to live with, keyed by rule and key path or code context, never by line."""

from __future__ import annotations

import os
from collections.abc import Iterable

from cfgfix.core.errors import CfgfixError, UnreadableError
from cfgfix.core.findings import Finding, format_key_path
from cfgfix.core.records import dataclass
from cfgfix.core.source_file import read_regular
from cfgfix.core.visible import json_text

VERSION = 1
MAX_BYTES = 64 * 1024 * 1024
"""Largest accepted baseline file: about 400,000 entries."""

Key = tuple[str, str, str]
"""Path (relative to the baseline file, forward slashes), rule, and place."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """Known findings with how often each occurs."""

    path: str
    counts: dict[Key, int]


def key_of(finding: Finding, root: str) -> Key:
    """Return the baseline key of a finding: relative path, rule id, and place.

    The place is the key path, or the context of a finding in code; never a line.
    """
    relative = os.path.relpath(finding.location.path, root).replace(os.sep, "/")
    place = format_key_path(finding.key_path) if finding.key_path is not None else finding.context
    return relative, finding.rule, place


def read(path: str) -> Baseline:
    """Return a baseline file's content.

    Raises:
        CfgfixError: It cannot be read, or is no baseline.
    """
    import json

    try:
        data = read_regular(path, MAX_BYTES + 1)
    except OSError as error:
        raise UnreadableError(
            f"cannot be read: {error.strerror}", path=path, hint="--write-baseline FILE makes one"
        ) from error
    if len(data) > MAX_BYTES:
        raise CfgfixError("is too large for a baseline", path=path)
    try:
        table = json.loads(data)
        if table["version"] != VERSION:
            raise CfgfixError(f"is a baseline of version {table['version']}, not {VERSION}", path=path)
        counts = {
            (str(row["path"]), str(row["rule"]), str(row["place"])): int(row.get("count", 1))
            for row in table["findings"]
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CfgfixError("is no baseline file", path=path, hint="--write-baseline FILE makes one") from error
    return Baseline(path, counts)


def split(
    findings: Iterable[Finding], baseline: Baseline, left: dict[Key, int]
) -> tuple[list[Finding], list[Finding]]:
    """Split the findings of a file into new ones and those that the baseline knows.

    Args:
        findings: Findings of one file.
        baseline: The known ones.
        left: How many of each key are still unused; counted down here, so that the rest tells what is stale.
    """
    root = os.path.dirname(os.path.abspath(baseline.path))
    new: list[Finding] = []
    known: list[Finding] = []
    for finding in findings:
        key = key_of(finding, root)
        if left.get(key, 0) > 0:
            left[key] -= 1
            known.append(finding)
        else:
            new.append(finding)
    return new, known


def render(findings: Iterable[Finding], path: str) -> str:
    """Return the text of a baseline file: findings sorted, one a line."""
    root = os.path.dirname(os.path.abspath(path))
    counts: dict[Key, int] = {}
    for finding in findings:
        key = key_of(finding, root)
        counts[key] = counts.get(key, 0) + 1
    rows = [
        json_text({"path": key[0], "rule": key[1], "place": key[2], "count": count}, exact=True)
        for key, count in sorted(counts.items())
    ]
    body = ",\n    ".join(rows)
    return (
        f'{{\n  "version": {VERSION},\n  "findings": [\n    {body}\n  ]\n}}\n'
        if rows
        else f'{{\n  "version": {VERSION},\n  "findings": []\n}}\n'
    )
