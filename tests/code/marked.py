"""Programs whose lines say what a rule finds in them: `# found` where it does, `# not found` where it must not."""

from __future__ import annotations

from pathlib import Path

import pytest

from cfgfix.lint.runner import Request, check
from cfgfix.settings.reader import Settings


def check_marked(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    rule: str,
    *texts: str,
    severity: str = "warning",
    tensorflow: str = "2.21",
) -> None:
    """Check texts as the files `a.py`, `b.py` and so on of one project, and hold what is found to their comments."""
    (folder / ".git").mkdir(exist_ok=True)
    for number, text in enumerate(texts):
        (folder / f"{chr(97 + number)}.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("CFGFIX_CACHE_DIR", "")
    settings = Settings(root=str(folder), hardware="none", tensorflow=tensorflow)
    report = check(Request(paths=(".",), settings=settings))
    least = ("info", "warning", "error").index(severity)
    found = {
        (Path(item.location.path).name, item.location.line)
        for item in report.findings()
        if item.rule == rule and ("info", "warning", "error").index(item.severity.name.lower()) >= least
    }
    lines = {
        (f"{chr(97 + number)}.py", line): shown
        for number, text in enumerate(texts)
        for line, shown in enumerate(text.splitlines(), 1)
    }
    wanted = {place for place, shown in lines.items() if "# found" in shown}
    differing = sorted(found ^ wanted)
    assert not differing, [
        ("not found" if place in wanted else "found", *place, lines[place]) for place in differing
    ]
