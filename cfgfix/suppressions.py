"""Suppression comments: `# cfgfix: ignore[HWR001] reason` on the line or the line above, `# cfgfix: ignore-file[...]`.

The same words serve YAML and Python; where comments stand is told by the one who reads the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from cfgfix.records import dataclass

NEEDLE = "cfgfix:"
_COMMENT = r"#[ \t]*cfgfix:[ \t]*(?P<kind>ignore-file|ignore)(?![-\w])[ \t]*(?:\[(?P<rules>[^\]\r\n]*)\])?(?P<reason>[^\r\n#]*)"


@dataclass(frozen=True, slots=True)
class Suppression:
    """One suppression comment.

    `start` and `end` span the comment from its `#`; `own_line` tells that nothing but it stands on its line, so that
    it speaks for the line below. No rules means all rules.
    """

    whole_file: bool
    rules: tuple[str, ...]
    reason: str
    start: int
    end: int
    line: int
    own_line: bool

    def names(self, rule: str, name: str) -> bool:
        """Tell whether it speaks about a rule."""
        return not self.rules or any(
            entry in (rule, name)
            or (entry.isalpha() and rule.startswith(entry.upper()))
            or entry.upper() == rule
            for entry in self.rules
        )


def find(
    text: str, position: Callable[[int], tuple[int, int]], is_comment: Callable[[int], bool]
) -> list[Suppression]:
    """Return the suppression comments of a text.

    Args:
        text: The decoded text.
        position: Line and column of an offset.
        is_comment: Whether a `#` at an offset starts or continues a comment, rather than standing inside a value.
    """
    if NEEDLE not in text:
        return []
    found: list[Suppression] = []
    for match in re.finditer(_COMMENT, text):
        start = match.start()
        if not is_comment(start):
            continue
        line_start = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
        listed = match["rules"]
        rules = (
            tuple(part.strip() for part in listed.split(",") if part.strip()) if listed is not None else ()
        )
        end = start + len(text[start : match.end()].rstrip())
        found.append(
            Suppression(
                whole_file=match["kind"] == "ignore-file",
                rules=rules,
                reason=match["reason"].strip(),
                start=start,
                end=end,
                line=position(start)[0],
                own_line=not text[line_start:start].strip(),
            )
        )
    return found


def silenced(suppressions: Sequence[Suppression], rule: str, name: str, lines: Iterable[int]) -> list[int]:
    """Return the indexes of the suppressions that silence a finding of a rule on one of these lines."""
    wanted = set(lines)
    own = {suppression.line for suppression in suppressions if suppression.own_line}
    found: list[int] = []
    for index, suppression in enumerate(suppressions):
        if not suppression.names(rule, name):
            continue
        if suppression.whole_file or suppression.line in wanted:
            found.append(index)
        elif suppression.own_line:
            below = suppression.line + 1
            while below in own:
                below += 1
            if below in wanted:
                found.append(index)
    return found
