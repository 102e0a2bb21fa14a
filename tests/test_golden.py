"""Golden cases: every folder below tests/golden is a project, a command, what it prints and what it leaves behind.

`case.toml` holds `arguments` (of one run, or a list of runs) and `exit` (one code a run); `input/` is the project; `output.txt`
what is printed; `after/` the files that are other than in `input/` afterwards. `CFGFIX_UPDATE_GOLDEN=1` writes the last two
anew, to be read before they are committed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cache_folders import after_a_first_run

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
CASES = sorted(path.parent for path in (ROOT / "tests" / "golden").glob("*/case.toml"))
UPDATE = os.environ.get("CFGFIX_UPDATE_GOLDEN") == "1"


def tree(folder):
    if not folder.is_dir():
        return {}
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def runs(arguments, codes):
    several = arguments if isinstance(arguments[0], list) else [arguments]
    expected = codes if isinstance(codes, list) else [codes]
    assert len(several) == len(expected)
    return list(zip(several, expected, strict=True))


def test_there_are_cases():
    assert len(CASES) >= 12


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_golden(case, tmp_path):
    told = tomllib.loads((case / "case.toml").read_text(encoding="utf-8"))
    assert set(told) <= {"about", "arguments", "exit", "stdin"}
    assert told["about"]
    project = tmp_path / "project"
    shutil.copytree(case / "input", project)
    (project / ".git").mkdir()
    environment = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("CFGFIX_", "NO_COLOR", "FORCE_COLOR"))
    }
    environment |= {
        "PYTHONPATH": str(ROOT),
        "PYTHONUTF8": "1",
        "CFGFIX_CACHE_DIR": after_a_first_run(tmp_path / "cache"),
    }
    printed = ""
    for arguments, code in runs(told["arguments"], told["exit"]):
        done = subprocess.run(
            [sys.executable, "-m", "cfgfix", *arguments],
            cwd=project,
            input=told.get("stdin", "").encode(),
            capture_output=True,
            env=environment,
            timeout=120,
            check=False,
        )
        printed += f"$ cfgfix {' '.join(arguments)}\n{done.stdout.decode()}"
        if done.stderr:
            printed += f"[stderr]\n{done.stderr.decode()}"
        assert done.returncode == code, printed
        assert str(tmp_path) not in printed, "what is printed must not name the place of the test"
    before, after = tree(case / "input"), tree(project)
    changed = {name: data for name, data in after.items() if before.get(name) != data}
    assert before.keys() <= after.keys(), "nothing is deleted"
    if UPDATE:
        (case / "output.txt").write_text(printed, encoding="utf-8")
        shutil.rmtree(case / "after", ignore_errors=True)
        for name, data in changed.items():
            path = case / "after" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return
    assert printed == (case / "output.txt").read_text(encoding="utf-8")
    assert changed == tree(case / "after")
