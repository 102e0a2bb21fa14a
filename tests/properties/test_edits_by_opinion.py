"""Random edits, held against what PyYAML, ruamel.yaml and, where it is there, npm's `yaml` say they must give.

A few hundred edits in a usual run; `make fuzz` makes more than a hundred thousand (`CFGFIX_DEEP=1` and
`benchmarks/edits.py`).
"""

from __future__ import annotations

import itertools
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tools.opinions import judge, trials

DEEP = os.environ.get("CFGFIX_DEEP") == "1"


@pytest.fixture(scope="module")
def readers():
    found = judge.readers()
    yield found
    for reader in found:
        if isinstance(reader, judge.Npm):
            reader.close()


@given(st.integers(min_value=0, max_value=2**40))
@settings(
    max_examples=20_000 if DEEP else 150,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_edits_of_made_up_documents(readers, seed):
    tally = trials.run(iter([trials.made_up(seed)]), 3, 3, seed, readers)
    assert not tally.wrong, tally.wrong[0]


@pytest.mark.acceptance
def test_edits_of_the_yaml_test_suite(readers, shared_path):
    tally = trials.run(itertools.cycle(trials.suite(shared_path)), 40_000 if DEEP else 800, 2, 11, readers)
    assert not tally.wrong, tally.wrong[0]
    assert sum(tally.applied.values()) > tally.edits // 3, tally.data()


@pytest.mark.acceptance
def test_edits_of_real_configurations(readers, shared_path):
    paths = [path for path in trials.real(shared_path) if path.stat().st_size <= 12_000]
    tally = trials.run(itertools.cycle(paths[:: 1 if DEEP else 5]), 40_000 if DEEP else 200, 2, 12, readers)
    assert not tally.wrong, tally.wrong[0]
    assert sum(tally.applied.values()) > tally.edits // 2, tally.data()


# --- The judge itself ---

SET = {"kind": "set", "path": ["a"], "document": 0, "value": 2}
DELETE = {"kind": "delete", "path": ["b"], "document": 0, "occurrence": None}
INSERT = {"kind": "insert", "path": [], "document": 0, "key": "n", "value": 1e-4, "after": "a"}
RENAME = {"kind": "rename", "path": ["a"], "document": 0, "new": "z"}
TEXT = "# top\na: &x 1  # one\nb: [*x, 'q']  # two\nc: {d: no}\n"


@pytest.mark.parametrize(
    ("change", "after"),
    [
        (SET, "# top\na: &x 2  # one\nb: [*x, 'q']  # two\nc: {d: no}\n"),
        (DELETE, "# top\na: &x 1  # one\nc: {d: no}\n"),
        (INSERT, "# top\na: &x 1  # one\nn: 1.0e-4\nb: [*x, 'q']  # two\nc: {d: no}\n"),
        (RENAME, "# top\nz: &x 1  # one\nb: [*x, 'q']  # two\nc: {d: no}\n"),
    ],
)
def test_the_judge_finds_no_fault_with_what_is_right(readers, change, after):
    assert judge.judge(judge.Before(TEXT, readers), after, [change]) == ([], len(readers))


@pytest.mark.parametrize(
    ("change", "after", "kind"),
    [
        (SET, "# top\na: &x '2'  # one\nb: [*x, 'q']  # two\nc: {d: no}\n", "meaning"),
        (SET, "# top\na: 2  # one\nb: [1, 'q']  # two\nc: {d: no}\n", "meaning"),
        (SET, "# top\na: &x 2  # one\nb: [*x, 'q']  # two\nc: {d: 'no'}\n", "meaning"),
        (SET, "# top\na: &x 2\nb: [*x, 'q']  # two\nc: {d: no}\n", "comments"),
        (SET, '# top\na: &x 2  # one\nb: [*x, "q"]  # two\nc: {d:   no}\n', "elsewhere"),
        (SET, "# top\na: &x [2  # one\nb: [*x, 'q']  # two\nc: {d: no}\n", "unreadable"),
        (DELETE, "a: &x 1  # one\nc: {d: no}\n", "comments"),
        (DELETE, "# top\na: &x 1  # one\nb: null\nc: {d: no}\n", "meaning"),
        (INSERT, "# top\na: &x 1  # one\nn: 1e-4\nb: [*x, 'q']  # two\nc: {d: no}\n", "meaning"),
        (INSERT, "# top\na: &x 1  # one\nb: [*x, 'q']  # two\nc: {d: no}\nn: 1.0e-4\n", "meaning"),
        (RENAME, "# top\nz: 1  # one\nb: [*x, 'q']  # two\nc: {d: no}\n", "meaning"),
    ],
)
def test_the_judge_tells_what_is_wrong(readers, change, after, kind):
    complaints, _ = judge.judge(judge.Before(TEXT, readers), after, [change])
    assert complaints
    assert complaints[0].startswith(kind), complaints
