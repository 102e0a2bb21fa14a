"""The one ranked list of a diagnosis and of profiles, and what to name so that skipped checks run."""

from __future__ import annotations

from cfgfix.core.terminal import Paint
from cfgfix.diagnose.ranking import rank, to_name
from cfgfix.output.diagnosis import causes
from cfgfix.output.page import page


def verdict(name, summary, worth=None, change=None, outcome="problem", fixes=(), explained_by=()):
    return {
        "name": name, "outcome": outcome, "summary": summary, "evidence": ["seen"], "rules": [{"id": "TFD001", "name": ""}],
        "change": change, "fixes": list(fixes), "worth": worth, "explained_by": list(explained_by),
    }  # fmt: skip


def check(name, state, summary="told", verdicts=(), fixes=()):
    return {
        "name": name, "title": name, "state": state, "summary": summary, "evidence": ["why"], "rules": [], "fixes": list(fixes),
        "data": {"verdicts": list(verdicts)} if verdicts else {},
    }  # fmt: skip


def test_what_stops_a_run_comes_first_then_what_is_worth_most():
    forms = {
        "diagnosis": {
            "checks": [
                check("code", "fail", "two warnings"),
                check("compilation", "fail", "does not compile"),
                check("hardware", "pass"),
                check("pipeline", "fail", verdicts=[verdict("stage", "slow map", 1.4)]),
            ]
        },
        "step": {
            "verdicts": [verdict("retracing", "traced again", 2.1), verdict("XLA", "on", outcome="info")]
        },
    }
    assert [cause["cause"] for cause in rank(forms)] == [
        "does not compile", "traced again", "slow map", "two warnings",
    ]  # fmt: skip


def test_each_cause_stands_once_with_its_best_worth():
    forms = {
        "diagnosis": {"checks": [check("pipeline", "fail", verdicts=[verdict("stage", "slow map", 1.4)])]},
        "data": {"verdicts": [verdict("stage", "slow map", 1.6)]},
    }
    (cause,) = rank(forms)
    assert cause["worth"] == 1.6


def test_a_verdict_that_only_points_to_others_is_no_cause():
    verdicts = [
        verdict("input", "input-bound", change="see stage below", explained_by=["stage"]),
        verdict("stage", "slow map", change="num_parallel_calls"),
        verdict("data", "input-bound", change="measure the dataset", explained_by=["stage", "prefetch"]),
    ]
    assert [cause["name"] for cause in rank({"data": {"verdicts": verdicts}})] == ["stage"]
    assert [cause["name"] for cause in rank({"data": {"verdicts": verdicts[:1]}})] == ["input"]


def test_a_fix_that_can_be_run_is_the_change():
    entry = verdict("stage", "slow", change="do it", fixes=["cfgfix fix --unsafe-fixes train.py"])
    assert rank({"data": {"verdicts": [entry]}})[0]["change"] == "cfgfix fix --unsafe-fixes train.py"


def test_skipped_checks_say_what_to_name():
    checks = [check(name, "skipped") for name in ("loader", "pipeline", "compilation", "configuration")]
    assert [line.split()[0] for line in to_name(checks)] == ["--dataset", "--step", "a"]
    assert to_name([check("loader", "pass"), check("storage", "skipped")]) == []


def test_text_and_page_open_with_the_list():
    ranked = rank({"data": {"verdicts": [verdict("stage", "<slow> map", 2.14, "num_parallel_calls")]}})
    text = "\n".join(causes(ranked, Paint(on=False)))
    assert "1. stage: <slow> map (x 2.1)" in text
    assert "change: num_parallel_calls" in text
    assert list(causes((), Paint(on=False))) == []
    made = page({"causes": ranked})
    assert "&lt;slow&gt; map" in made
    assert "<b>x 2.1</b>" in made
    assert "What to change" not in page({})
