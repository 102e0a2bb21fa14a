"""The figures in the documentation are those that were recorded."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest


@pytest.fixture
def benchmark(repo_root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(repo_root / "benchmarks"))
    import runtime

    yield runtime
    for name in ("runtime", "runtime_functions"):
        sys.modules.pop(name, None)


def test_the_page_shows_what_was_recorded(benchmark) -> None:
    recorded = json.loads(benchmark.RESULTS.read_text(encoding="utf-8"))
    page = benchmark.PAGE.read_text(encoding="utf-8")
    assert benchmark.replaced(page, benchmark.render(recorded)) == page


def test_what_is_promised_was_measured(benchmark) -> None:
    recorded = json.loads(benchmark.RESULTS.read_text(encoding="utf-8"))
    tokens = recorded["cache"]["byte-pair tokens in plain Python"]
    assert tokens["sentences"] == 13_100
    assert tokens["rows"]["second run"]["times_as_fast_as_first"] > 10
    shares = recorded["callbacks"]["rows"].values()
    assert max(row["share_percent"] for row in shares) < 1
    waiting = recorded["devices"]["work that waits, as a host does for a GPU"]
    assert waiting["wall_over_longer"] < 1.25 < 2 * waiting["wall_over_sum"] * 1.25


def test_the_benchmarks_functions(benchmark) -> None:
    import runtime_functions as work

    (text,) = work.sentences(1)
    assert work.sentences(1) == [text]
    assert work.normalize("Mr. Oswald, 1963") == "mister oswald, one thousand nine hundred sixty three"
    assert work.language("der Hund und die Katze") == "de"
    assert work.tokenize(text) == work.tokenize(text)
