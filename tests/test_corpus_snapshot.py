"""What the rules find in real configs is kept as data; it changes only on purpose."""

from __future__ import annotations

import json
from types import ModuleType

import pytest
from scripts import load_script

pytestmark = [pytest.mark.acceptance, pytest.mark.slow]


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    return load_script("tools/corpus.py", "tool_corpus")


@pytest.fixture(scope="module")
def seen(tool):
    shared = tool.shared_folder(None)
    if shared is None:
        pytest.skip("the shared corpus is not on this machine")
    return shared, tool.run(shared)


def test_the_findings_are_those_of_the_snapshot(tool, seen):
    changed = tool.differences(tool.stored(tool.SNAPSHOT), tool.snapshot(seen[1]))
    assert changed == [], "look at each line; where it is right, run: python tools/corpus.py update"


def test_the_sheet_of_the_second_reader_is_that_of_the_findings(tool, seen):
    def plain(line: str) -> dict[str, object]:
        row = json.loads(line)
        return {key: value for key, value in row.items() if key not in ("verdict", "why")}

    _, found = seen
    assert list(map(plain, tool.stored(tool.SHEET))) == list(map(plain, tool.sheet(found)))


def test_a_rule_on_more_than_a_third_of_a_family_is_explained(tool, seen):
    assert set(tool.frequent(seen[1])) == set(tool.epidemics())


def test_no_file_of_the_corpus_is_unreadable_but_those_known(tool, seen):
    families, dialects, _ = seen[1]
    assert set(dialects) == set(families)


def test_errors_that_were_judged_are_right_in_nineteen_of_twenty(tool):
    rows = [json.loads(line) for line in tool.stored(tool.SHEET)]
    judged = [row["verdict"] for row in rows if row["severity"] == "error" and row["verdict"]]
    assert set(judged) <= {"accept", "reject"}
    assert judged.count("reject") * 20 <= len(judged)


def test_every_training_config_is_named_right_and_nothing_else_is_claimed(shared_path):
    benchmark = load_script("benchmarks/detection.py", "tool_detection")
    _, errors = benchmark.confusion(shared_path)
    assert errors == []
    assert benchmark.claimed([benchmark.ROOT / "tests" / "data" / "foreign"])[1] == []
