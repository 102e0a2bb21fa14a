"""Two profiles of one kind held against each other."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from cfgfix.cli.profile import profile
from cfgfix.core.errors import CfgfixError
from cfgfix.measure.compare import compare, render


def run(step, *problems, wait=0.1, spread=0.0001):
    return {
        "kind": "run",
        "step_seconds": {
            "median": step,
            "mean": step,
            "mean_interval": {"low": step - spread, "high": step + spread},
        },
        "samples_per_second": 8 / step,
        "shares": {"wait": wait, "call": 0.8, "trace": 0.0, "python": 0.1},
        "verdicts": [{"name": name, "summary": text, "outcome": "problem"} for name, text in problems],
    }


def test_figures_stand_side_by_side_with_the_gain():
    found = compare(run(0.02), run(0.01))
    rows = {row["name"]: row for row in found["figures"]}
    assert rows["step, mean"]["ratio"] == pytest.approx(0.5)
    assert rows["step, mean"]["speed"] == pytest.approx(2)
    assert rows["samples per second"]["speed"] == pytest.approx(2)
    assert "tracing, compiling" not in rows
    assert "2.00 times as fast" in render(found)


def test_a_difference_within_the_intervals_is_none():
    found = compare(run(0.0200, spread=0.001), run(0.0205, spread=0.001))
    assert not next(row for row in found["figures"] if row["name"] == "step, mean")["certain"]
    assert "no change that shows" in render(found)


def beside(form, elsewhere, fastest):
    form["cpus"] = {"usable": 2, "busy": 0.5, "elsewhere": elsewhere}
    form["step_seconds"]["min"] = fastest
    return form


@pytest.mark.parametrize(
    ("elsewhere", "fastest", "certain"),
    [(0.1, 0.0077, True), (1.7, 0.0073, False), (1.7, 0.0090, False), (1.7, 0.0038, True)],
)
def test_what_other_processes_can_explain_is_no_change(elsewhere, fastest, certain):
    found = compare(beside(run(0.0236), elsewhere, 0.0077), beside(run(0.0118), elsewhere, fastest))
    rows = {row["name"]: row for row in found["figures"]}
    assert {rows[name]["certain"] for name in ("step, mean", "samples per second")} == {certain}
    assert ("other processes" in render(found)) == (elsewhere > 1)


def test_a_share_changes_by_its_size_and_not_by_its_own_share():
    rows = {row["name"]: row for row in compare(run(0.02, wait=0.02), run(0.02, wait=0.03))["figures"]}
    assert not rows["waiting for data"]["certain"]
    rows = {row["name"]: row for row in compare(run(0.02, wait=0.4), run(0.02, wait=0.1))["figures"]}
    assert rows["waiting for data"]["certain"]


def test_problems_are_known_again_whatever_their_figures():
    before = run(
        0.02, ("input", "highly input-bound"), ("stall", "save (train.py:30) takes 100 ms every 20 steps")
    )
    after = run(
        0.02, ("stall", "save (train.py:31) takes 97 ms every 20 steps"), ("retracing", "traced again")
    )
    found = compare(before, after)
    assert [entry["name"] for entry in found["gone"]] == ["input"]
    assert [entry["name"] for entry in found["came"]] == ["retracing"]
    assert [entry["name"] for entry in found["stayed"]] == ["stall"]


@pytest.mark.parametrize("other", [{"kind": "data"}, {}, {"kind": "devices"}])
def test_profiles_of_different_kinds_are_refused(other):
    with pytest.raises(CfgfixError, match="cannot be held against"):
        compare(run(0.02), other)


def test_the_command(tmp_path):
    first, second, broken = tmp_path / "a.json", tmp_path / "b.json", tmp_path / "c.json"
    first.write_text(json.dumps(run(0.02)))
    second.write_text(json.dumps(run(0.01, ("retracing", "traced again"))))
    broken.write_text("{")
    done = CliRunner().invoke(profile, ["compare", str(first), str(second)])
    assert done.exit_code == 1
    assert "new: retracing" in done.output
    assert CliRunner().invoke(profile, ["compare", str(second), str(first)]).exit_code == 0
    form = json.loads(CliRunner().invoke(profile, ["compare", str(first), str(second), "--json"]).output)
    assert form["kind"] == "comparison"
    failed = CliRunner().invoke(profile, ["compare", str(first), str(broken)])
    assert isinstance(failed.exception, CfgfixError)
