"""Fixtures shared by all tests."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

try:
    import fcntl
except ImportError:  # not on Windows, where tests are run one after the other
    fcntl = None

ROOT = Path(__file__).resolve().parent.parent

# A busy machine draws slowly, which says nothing of the code.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


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


# Several workers at once

_common = pytest.StashKey[Path]()
MOST_WORKERS = 4
"""A worker takes up to 2 GB: TensorFlow in itself, and in what it starts."""


def usable_cpus() -> int:
    """What the scheduler and the container leave to this process."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        return min(count, max(1, round(int(quota) / int(period))))
    except (OSError, ValueError):
        return count


def _only_files_named(config: pytest.Config) -> bool:
    return all(".py" in argument for argument in config.args)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One worker for each CPU; none for files that are named, which one process has done sooner."""
    if fcntl is None or _only_files_named(config):
        return 0
    workers = min(usable_cpus(), MOST_WORKERS)
    return workers if workers > 1 else 0


def _measured(item: pytest.Item | None) -> bool:
    return item is not None and item.get_closest_marker("measured") is not None


def pytest_configure(config: pytest.Config) -> None:
    """Give this process a cache folder of its own, and all workers a common one; run all of a named file."""
    if config.option.markexpr == "not acceptance" and _only_files_named(config):
        config.option.markexpr = ""
    place = tempfile.TemporaryDirectory(prefix="cfgfix-tests-")
    config.add_cleanup(place.cleanup)
    own = Path(place.name)
    (own / "cache").mkdir(mode=0o700)
    os.environ["CFGFIX_CACHE_DIR"] = str(own / "cache")
    config.stash[_common] = Path(getattr(config, "workerinput", {}).get("cfgfix_common", own))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node) -> None:
    node.workerinput["cfgfix_common"] = str(node.config.stash[_common])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests first, so that no worker is left with one; measured ones last.

    What another process takes spoils one measurement; a fault spoils them all.
    """
    for item in items:
        if _measured(item):
            item.add_marker(pytest.mark.flaky(reruns=2, only_rerun="AssertionError"))
    items.sort(key=lambda item: 2 if _measured(item) else not item.get_closest_marker("slow"))


class _Turns:
    """Whose turn it is: any number of tests at once, or one measured test alone."""

    def __init__(self, common: Path) -> None:
        self.gate = (common / "gate").open("w")
        self.room = (common / "room").open("w")
        self.alone = False

    def enter(self, *, alone: bool) -> None:
        if self.alone:
            return
        # Who wants to be alone waits in the gate: nobody enters behind, so that the room becomes empty.
        fcntl.flock(self.gate, fcntl.LOCK_EX)
        fcntl.flock(self.room, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(self.gate, fcntl.LOCK_UN)
        self.alone = alone

    def leave(self, *, stay: bool) -> None:
        if not (self.alone and stay):
            fcntl.flock(self.room, fcntl.LOCK_UN)
            self.alone = False

    def close(self) -> None:
        self.gate.close()
        self.room.close()


_turns = pytest.StashKey[_Turns]()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    """Let nothing run beside a test that measures, its fixtures and its repetitions included."""
    config = item.config
    if not hasattr(config, "workerinput"):
        return (yield)
    if _turns not in config.stash:
        config.stash[_turns] = _Turns(config.stash[_common])
        config.add_cleanup(config.stash[_turns].close)
    config.stash[_turns].enter(alone=_measured(item))
    try:
        return (yield)
    finally:
        config.stash[_turns].leave(stay=_measured(nextitem))


@pytest.fixture(scope="session")
def made_once(request: pytest.FixtureRequest) -> Callable[[str, Callable[[Path], None]], Path]:
    """Fill a folder in whichever worker needs it first, for all of them."""
    common = request.config.stash[_common]

    def make(name: str, fill: Callable[[Path], None]) -> Path:
        place, done = common / name, common / f"{name}.done"
        with (common / f"{name}.lock").open("w") as lock:
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                shutil.rmtree(place, ignore_errors=True)
                place.mkdir()
                fill(place)
                done.touch()
        return place

    return make


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
