"""Modules of the project that Python does not find: TFF194 over the ways in which people lay them out."""

from __future__ import annotations

from pathlib import Path

import pytest

from cfgfix.lint.runner import Request, check
from cfgfix.settings.reader import Settings

NETWORK = "import tensorflow as tf\n\n\ndef build():\n    return tf.keras.Sequential()\n"
USES = "import tensorflow as tf\n{}\n\ntf.function(print)\n"
PACKAGE = {
    "run.py": USES.format("from net.model import build\nfrom net.losses import dice"),
    "net/__init__.py": "",
    "net/model.py": NETWORK,
}


def found_in(folder: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str]) -> list[str]:
    """Return where TFF194 is told in a project."""
    (folder / ".git").mkdir()
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("CFGFIX_CACHE_DIR", "")
    settings = Settings(root=str(folder), hardware="none", tensorflow="2.21")
    report = check(Request(paths=(".",), settings=settings))
    return sorted(
        f"{Path(item.location.path).name}:{item.location.line}"
        for item in report.findings()
        if item.rule == "TFF194" and item.severity.name != "INFO"
    )


FLAT = {
    "main.py": USES.format("import parts.data as data"),
    "parts/data.py": "import tensorflow as tf\nimport clean\n\n\ndef rows():\n    return clean.rows(tf)\n",
    "parts/clean.py": "def rows(tf):\n    return tf.zeros([1])\n",
}


@pytest.mark.parametrize(
    ("files", "places"),
    [
        (PACKAGE, ["run.py:3"]),
        ({**PACKAGE, "net/model.py": "from ..top import a\nfrom .one.two import b\n" + NETWORK}, ["model.py:1", "model.py:2", "run.py:3"]),
        ({**PACKAGE, "net/losses.pyx": ""}, []),
        ({**PACKAGE, "old/losses.py": ""}, []),
        ({**PACKAGE, ".gitignore": "*.pyc\nlosses.py\n"}, []),
        ({**PACKAGE, "setup.py": "Extension('net.losses', ['losses.c'])\n"}, []),
        ({**PACKAGE, "run.py": "import sys\nsys.path.append('..')\n" + PACKAGE["run.py"]}, []),
        ({"run.py": USES.format("from tensorflow_addons.losses import dice\nfrom yaml.nothing import a")}, []),
        (FLAT, ["data.py:2"]),
        ({**FLAT, "README.md": "PYTHONPATH=parts python main.py\n"}, []),
        ({**FLAT, "parts/train.py": USES.format("import data")}, []),
        ({**FLAT, "clean.py": ""}, []),
    ],
)  # fmt: skip
def test_modules_that_are_not_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], places: list[str]
) -> None:
    """Tell imports that must fail, and leave alone what may be there elsewhere or later."""
    assert found_in(tmp_path, monkeypatch, files) == places
