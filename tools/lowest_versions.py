"""Print the lowest versions that pyproject.toml allows, as constraints for pip.

    python tools/lowest_versions.py [--python PATH]

For each dependency that a check needs, and those of the `lsp` extra: the lowest version that fits and of which there is a wheel
for the interpreter. Needs pip and `packaging`, which the `dev` extra brings.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = ("lsp",)


class NoVersionError(Exception):
    """No version of a dependency fits."""


def requirements(project: Path = ROOT / "pyproject.toml") -> list[Requirement]:
    """Return what pyproject.toml asks for."""
    table = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    extras = table.get("optional-dependencies", {})
    lines = [*table["dependencies"], *(line for extra in EXTRAS for line in extras.get(extra, ()))]
    return [Requirement(line) for line in lines]


def lowest(requirement: Requirement, python: str) -> str:
    """Return the lowest version that fits a requirement and that pip installs from a wheel.

    Raises:
        NoVersionError: None does.
    """
    versions = available(requirement.name, python)
    for version in sorted(filter(requirement.specifier.contains, versions), key=Version):
        command = [python, "-m", "pip", "install", "-q", "--dry-run", "--no-deps", "--ignore-installed"]
        command += ["--only-binary", ":all:", f"{requirement.name}=={version}"]
        if subprocess.run(command, check=False, capture_output=True).returncode == 0:
            return version
    raise NoVersionError(f"no version with a wheel fits {requirement}")


def available(name: str, python: str) -> list[str]:
    """Return the versions of a package that pip finds for an interpreter.

    Raises:
        NoVersionError: pip finds none.
    """
    command = [python, "-m", "pip", "index", "versions", name]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    for line in done.stdout.splitlines():
        title, _, rest = line.partition(":")
        if title.strip() == "Available versions":
            return [version.strip() for version in rest.split(",")]
    raise NoVersionError(f"{' '.join(command)} ended with {done.returncode}\n{done.stderr}")


def constraints(python: str, version: str) -> Iterator[str]:
    """Yield a line for each dependency that holds under a Python version, such as 3.12."""
    for requirement in requirements():
        if requirement.marker is None or requirement.marker.evaluate({"python_version": version}):
            yield f"{requirement.name}=={lowest(requirement, python)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--python", default=sys.executable, help="the interpreter to install for")
    python = parser.parse_args().python
    asked = "import sys; print('%d.%d' % sys.version_info[:2])"
    version = subprocess.run([python, "-c", asked], check=True, capture_output=True, text=True).stdout.strip()
    try:
        for line in constraints(python, version):
            print(line)
    except NoVersionError as error:
        sys.exit(f"lowest_versions: {error}")


if __name__ == "__main__":
    main()
