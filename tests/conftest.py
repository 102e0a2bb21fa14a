"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def find_shared() -> Path | None:
    """The folder with the corpus and the rule evidence, where this machine has one."""
    named = os.environ.get("CFGFIX_SHARED")
    place = Path(named) if named else ROOT.parent / "shared"
    return place if (place / "corpus").is_dir() else None


@pytest.fixture(scope="session")
def shared_path() -> Path:
    place = find_shared()
    if place is None:
        pytest.skip("the shared corpus is not on this machine")
    return place


@pytest.fixture(scope="session")
def repo_root() -> Path:
    return ROOT


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What another process takes spoils one measurement; a fault spoils them all."""
    for item in items:
        if item.get_closest_marker("measured"):
            item.add_marker(pytest.mark.flaky(reruns=2, only_rerun="AssertionError"))


def _allowed() -> list[str]:
    rows = (ROOT / "tests" / "allowed_skips.txt").read_text(encoding="utf-8").splitlines()
    return [row.split("::")[0].strip() for row in rows if row.strip() and not row.startswith("#")]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Where all extras are installed, a skipped test that is not on the short list is a failure."""
    if os.environ.get("CFGFIX_STRICT_SKIPS") != "1":
        return
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    allowed = _allowed()
    for report in reporter.stats.get("skipped", []) if reporter else []:
        reason = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)
        if not any(part in reason for part in allowed):
            reporter.write_line(f"not on the list of allowed skips: {report.nodeid}: {reason}", red=True)
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
