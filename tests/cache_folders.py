"""Cache folders for tests, each with what a user's first run compiles once."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@functools.cache
def _compiled() -> tuple[tuple[str, bytes], ...]:
    """Return the compiled rules, dialects and schemas by their names in the cache folder."""
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory() as project:
        # Beside the whole repository the check would follow all of its code.
        shutil.copy(ROOT / "configs" / "speech.yaml", project)
        Path(project, "train.py").write_text("import keras\n\nkeras.layers.Dense(1)\n", encoding="utf-8")
        subprocess.run(
            [sys.executable, "-m", "cfgfix", "check", ".", "--exit-zero", "--quiet"],
            cwd=project,
            env={**os.environ, "PYTHONPATH": str(ROOT), "CFGFIX_CACHE_DIR": place},
            check=True,
            capture_output=True,
        )
        return tuple((path.name, path.read_bytes()) for path in sorted(Path(place).glob("compiled-*")))


def after_a_first_run(place: Path) -> str:
    """Make the folder, unless it is there, as a first run leaves it, but with no answer; return its path."""
    if not place.exists():
        place.mkdir(mode=0o700, parents=True)
        for name, content in _compiled():
            (place / name).write_bytes(content)
    return str(place)
