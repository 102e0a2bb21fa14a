"""Which major release of pydantic a model is written for: 1 and 2 differ in which fields must be given."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from cfgfix.core.source_file import read_regular

MAX_BYTES = 200_000
"""Most bytes of a requirement file that are read."""
MAX_LEVELS = 6
"""Most folders above the class that are looked in."""
NAMES = (
    "requirements.txt", "pyproject.toml", "setup.py", "setup.cfg", "Pipfile", "environment.yml", "environment.yaml",
    "conda.yml", "conda.yaml",
)  # fmt: skip
_ONLY_TWO = frozenset(
    {
        "AliasChoices", "AliasPath", "BeforeValidator", "AfterValidator", "ConfigDict", "RootModel", "TypeAdapter",
        "computed_field", "field_serializer", "field_validator", "model_serializer", "model_validator",
    }
)  # fmt: skip
_EXTRAS = re.compile(r"(?<=pydantic)\[[^\]]{0,80}\]")
_LAST_OF_ONE, _LATER_MINORS, _PATCHES = 10, 60, 30
"""The last minor release of pydantic 1; so many of pydantic 2, and so many patches of each, are asked about."""


def pydantic_major_of_imports(imports: Iterable[tuple[str, str | None]], *, configured: bool) -> int | None:
    """Return the major release of pydantic that imports show, 1 or 2, or None.

    Args:
        imports: Modules and the names that are imported from them.
        configured: Whether a model states `model_config`.
    """
    found = list(imports)
    if any(module == "pydantic.v1" or module.startswith("pydantic.v1.") for module, _ in found):
        return 1
    if any(module == "pydantic" and name in ("v1", "BaseSettings") for module, name in found):
        return 1
    if configured or any(
        module.split(".")[0] == "pydantic_settings" or (module.startswith("pydantic") and name in _ONLY_TWO)
        for module, name in found
    ):
        return 2
    return None


def pydantic_major(folder: str, looked: list[str]) -> int | None:
    """Return the major release of pydantic that a project's requirements ask for.

    None where they allow both or do not name it.

    Args:
        folder: Where the class stands; the folders above are looked in up to the repository's.
        looked: Gets every file that was looked for.
    """
    from cfgfix.code.tensorflow.requirement import admits
    from cfgfix.code.tensorflow.requirement_files import requirement_in

    here = os.path.abspath(folder)
    for _ in range(MAX_LEVELS):
        majors: set[int] = set()
        named = False
        for path in _files_with_requirements(here):
            looked.append(path)
            for line in _lines_of_file(path):
                asked = requirement_in(_EXTRAS.sub("", line), "pydantic")
                if not asked:
                    continue
                named = True
                for major, minors in ((1, _LAST_OF_ONE + 1), (2, _LATER_MINORS)):
                    if any(
                        admits(asked, (major, minor, patch))
                        for minor in range(minors)
                        for patch in range(_PATCHES)
                    ):
                        majors.add(major)
        above = os.path.dirname(here)
        if named:
            return majors.pop() if len(majors) == 1 else None
        if above == here or os.path.exists(os.path.join(here, ".git")):
            break
        here = above
    return None


def _files_with_requirements(folder: str) -> list[str]:
    names = list(NAMES)
    for place in ("", "requirements"):
        try:
            names += sorted(
                os.path.join(place, name)
                for name in os.listdir(os.path.join(folder, place))
                if name.endswith((".txt", ".in")) and (place or "require" in name) and name not in names
            )[:50]
        except OSError:
            continue
    return [os.path.join(folder, name) for name in names]


def _lines_of_file(path: str) -> list[str]:
    try:
        data = read_regular(path, MAX_BYTES + 1)
    except OSError:
        return []
    if len(data) > MAX_BYTES:
        return []
    lines = (line.strip().lower() for line in data.decode("utf-8", "replace").splitlines())
    return [line for line in lines if not line.startswith("#") and len(line) <= 2000]
