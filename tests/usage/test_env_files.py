"""Variables of `.env` files under another name than programs read."""

from __future__ import annotations

from pathlib import Path

import pytest

from cfgfix.usage.project_code import ProjectCode

HEAD = "import os\nimport sys\n\nimport tensorflow as tf\nfrom dotenv import load_dotenv\nfrom pydantic_settings import BaseSettings\n\nload_dotenv()\n"
READS = {
    "an entry": ("KILN_SHELF=4\n", "shelves = int(os.environ['KILN_SHELVES'])", None),
    "a default": (
        "# the kiln\nexport KILN_SHELVS = 4\n",
        "shelves = int(os.getenv('KILN_SHELVES', '3'))",
        "warning",
    ),
    "a method": ("KILN_SHELFS=4\n", "shelves = int(os.environ.get('KILN_SHELVES') or 3)", "warning"),
    "a field": (
        "kiln_shelfs=4\n",
        "class Kiln(BaseSettings):\n    kiln_shelves: int\n\n\nshelves = Kiln().kiln_shelves",
        None,
    ),
    "a field of the first release": (
        "KILN_SHELF=4\n",
        "class Kiln(BaseSettings):\n    shelves: int = 3\n\n    class Config:\n        env_prefix = 'kiln_'\n\n\nshelves = Kiln().shelves",
        "warning",
    ),
    "an option of a command": (
        "KILN_SHELF=4\n",
        (
            "import click\n\n\n@click.command(context_settings={'auto_envvar_prefix': 'KILN'})\n@click.option('--shelves', default=3)\n"
            "def bake(shelves):\n    tf.keras.layers.Dense(shelves)\n\n\nbake()\nshelves = 3"
        ),
        "warning",
    ),
}
SILENT = {
    "as it is read": ("KILN_SHELVES=4\nKILN_SHELF=2\n", "shelves = int(os.environ['KILN_SHELVES'])"),
    "in small letters for a field": (
        "kiln_shelves=4\n",
        "class Kiln(BaseSettings):\n    kiln_shelves: int\n\n\nshelves = Kiln().kiln_shelves",
    ),
    "two names that are both read": (
        "KILN_SHELF=4\n",
        "shelves = int(os.environ['KILN_SHELF']) + int(os.getenv('KILN_SHELVES', '3'))",
    ),
    "for another program": (
        "POSTGRES_USER=a\nAWS_REGION=b\n",
        "shelves = int(os.getenv('KILN_SHELVES', '3'))",
    ),
    "a name that the code makes": (
        "KILN_SHELF=4\n",
        "word = 'KILN_SHELF' if sys.argv else 'KILN_SHELVES'\nshelves = int(os.environ[word]) + int(os.getenv('KILN_SHELVES', '3'))",
    ),
}


def told(folder: Path, variables: str, code: str) -> list[tuple[str, str | None]]:
    """What is told of the variables: the check with the name, and the severity."""
    (folder / ".env").write_text(variables, encoding="utf-8")
    (folder / "bake.py").write_text(f"{HEAD}\n\n{code}\ntf.keras.layers.Dense(shelves)\n", encoding="utf-8")
    found = ProjectCode(str(folder), lambda _path: False, keep=False).options()
    return [(f"{check} {hit.values['name']}", hit.severity) for _, check, hit in found]


@pytest.mark.parametrize(("variables", "code", "severity"), READS.values(), ids=READS)
def test_a_variable_under_another_name(
    tmp_path: Path, variables: str, code: str, severity: str | None
) -> None:
    assert told(tmp_path, variables, code) == [("misspelt-variable KILN_SHELVES", severity)]


@pytest.mark.parametrize(("variables", "code"), SILENT.values(), ids=SILENT)
def test_variables_that_are_right(tmp_path: Path, variables: str, code: str) -> None:
    assert told(tmp_path, variables, code) == []


def test_a_file_that_is_mended_is_looked_at_again(tmp_path: Path) -> None:
    """What is kept of the runs depends on the files of variables as well."""
    assert told(tmp_path, "KILN_SHELF=4\n", READS["an entry"][1]) != []
    code = ProjectCode(str(tmp_path), lambda _path: False)
    assert len(code.options()) == 1
    (tmp_path / ".env").write_text("KILN_SHELVES=4\n", encoding="utf-8")
    assert list(ProjectCode(str(tmp_path), lambda _path: False).options()) == []
