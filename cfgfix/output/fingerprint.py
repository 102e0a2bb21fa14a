"""What identifies a finding when lines move: rule, file, and the key path or the text it stands in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cfgfix.core.findings import Finding, format_key_path
from cfgfix.output.sentences import service_path


def anchor(finding: Finding) -> str:
    """Return the text that identifies a finding within its file, whatever its line."""
    place = format_key_path(finding.key_path) if finding.key_path is not None else ""
    return f"{place}|{finding.context}" if place != finding.context else place


def fingerprints(findings: Iterable[Finding]) -> Iterator[tuple[Finding, str]]:
    """Yield every finding with its fingerprint, a hexadecimal text.

    Findings that are equal but for their lines differ by their order.
    """
    from hashlib import blake2b

    seen: dict[str, int] = {}
    for finding in findings:
        text = "\0".join(
            (finding.rule, service_path(finding.location.path), anchor(finding), finding.profile or "")
        )
        count = seen.get(text, 0)
        seen[text] = count + 1
        yield (
            finding,
            blake2b(f"{text}\0{count}".encode("utf-8", "backslashreplace"), digest_size=16).hexdigest(),
        )
