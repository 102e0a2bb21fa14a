"""Which TensorFlow a project asks for, read from its requirement files."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from cfgfix.files import read_regular
from cfgfix.records import dataclass

NAMES = (
    "requirements.txt",
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "environment.yml",
    "environment.yaml",
    "Pipfile",
)
"""Files that name requirements, the ones that bind first."""
MAX_BYTES = 256 * 1024
MAX_LEVELS = 6
"""Most folders above the code that are looked in."""
_NAMED = re.compile(
    r"""(?<![\w.-])tensorflow(?:[-_](?:cpu|gpu|intel|macos|rocm))?(?:\[[\w,\s-]*\])?["']?\s*(?:=\s*["'])?"""
    r"""((?:\s*,?\s*(?:===?|~=|!=|<=|>=|<|>|=)\s*\d[\w.*+!-]*)+)"""
)
_TABLE = re.compile(
    r"""^["']?tensorflow(?:[-_](?:cpu|gpu|intel|macos|rocm))?["']?\s*=\s*(?:\{[^}]*?version\s*=\s*)?["'](\^|~(?!=))?"""
    r"""\s*(\d+(?:\.\d+)*)["']"""
)
"""A line of Poetry's table of dependencies: a bare number means that release, `^2.4` and `~2.4` what is compatible with it."""
_PART = re.compile(r"(===?|~=|!=|<=|>=|<|>|=)\s*(\d[\w.*+!-]*)")

Version = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a project asks for.

    Attributes:
        path: The file that says it; empty where none does.
        text: What it says, such as `tensorflow>=2.4,<2.11`; empty where nothing does.
        looked_in: Every file that was looked for, whether it is there or not.
    """

    path: str
    text: str
    looked_in: tuple[str, ...]

    def admits(self, version: Version) -> bool:
        """Tell whether a version is one the project asks for."""
        return all(_holds(operator, version, text) for operator, text in _PART.findall(self.text))

    def admitted(self, inspected: Sequence[str]) -> tuple[int, ...]:
        """Return the positions of the inspected releases that stand for what may be installed.

        Without a requirement these are all. Where none of them is asked for exactly, the releases on both sides of
        the wanted one stand for it; a requirement below the oldest inspected release gives none.
        """
        versions = [_version(text) for text in inspected]
        if not self.text:
            return tuple(range(len(versions)))
        found = tuple(
            number
            for number, version in enumerate(versions)
            if self.admits(version) or self.admits((*version[:2], 0))
        )
        if found:
            return found
        wanted = [
            _version(text) for operator, text in _PART.findall(self.text) if operator not in ("!=", "<")
        ]
        if not wanted:
            return ()
        low = [number for number, version in enumerate(versions) if version <= max(wanted)]
        high = [number for number, version in enumerate(versions) if version >= max(wanted)]
        if not low:
            return ()
        return (low[-1], high[0]) if high else (low[-1],)


NOTHING = Requirement("", "", ())


def _version(text: str) -> Version:
    numbers = [int(part) for part in re.findall(r"\d+", text.split("+", maxsplit=1)[0])[:3]]
    numbers += [0] * (3 - len(numbers))
    return numbers[0], numbers[1], numbers[2]


def _holds(operator: str, version: Version, text: str) -> bool:
    wanted = _version(text)
    parts = len(re.findall(r"\d+", text.split("+", maxsplit=1)[0])[:3])
    if text.endswith("*"):
        same = version[:parts] == wanted[:parts]
        return same if operator in ("==", "=") else not same
    if operator in ("==", "===", "="):
        return version[:parts] == wanted[:parts]
    if operator == "!=":
        return version != wanted
    if operator == "~=":
        return version >= wanted and version[: max(1, parts - 1)] == wanted[: max(1, parts - 1)]
    if operator == "<":
        return version < wanted
    if operator == "<=":
        return version <= wanted or version[:parts] == wanted[:parts]
    if operator == ">":
        return version > wanted
    return version >= wanted


def find_requirement(paths: Sequence[str]) -> Requirement:
    """Return what the project of some files asks for: the nearest file at or above them that names TensorFlow."""
    if not paths:
        return NOTHING
    here = os.path.dirname(
        os.path.commonpath([os.path.abspath(path) for path in paths] + [os.path.abspath(paths[0])])
    )
    common = os.path.commonpath([os.path.dirname(os.path.abspath(path)) for path in paths])
    here = common or here
    looked: list[str] = []
    for _ in range(MAX_LEVELS):
        for name in NAMES:
            place = os.path.join(here, name)
            looked.append(place)
            text = _named_in(place)
            if text is not None:
                shown = os.path.relpath(place)
                return Requirement(place if shown.startswith("..") else shown, text, tuple(looked))
        above = os.path.dirname(here)
        if above == here or os.path.exists(os.path.join(here, ".git")):
            break
        here = above
    return Requirement("", "", tuple(looked))


def _named_in(path: str) -> str | None:
    try:
        data = read_regular(path, MAX_BYTES + 1)
    except OSError:
        return None
    if len(data) > MAX_BYTES:
        return None
    for line in data.decode("utf-8", "replace").splitlines():
        bare = line.strip()
        if bare.startswith("#") or len(bare) > 2000:
            continue
        table = _TABLE.match(bare)
        if table is not None:
            sign, number = table[1], table[2]
            if sign is None:
                return f"tensorflow=={number}"
            major, _, rest = number.partition(".")
            minor = rest.partition(".")[0]
            above = f"{int(major) + 1}" if sign == "^" or not minor else f"{major}.{int(minor) + 1}"
            return f"tensorflow>={number},<{above}"
        match = _NAMED.search(bare)
        if match is not None:
            parts = [
                f"{'==' if operator == '=' else operator}{text}" for operator, text in _PART.findall(match[1])
            ]
            return "tensorflow" + ",".join(parts)
    return None
