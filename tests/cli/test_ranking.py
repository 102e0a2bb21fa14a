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


def found(rule, place, change=None, severity="warning"):
    return {
        "rule": rule, "severity": severity, "message": f"{rule} says so", "place": place, "change": change,
    }  # fmt: skip


def test_an_error_of_the_config_comes_before_what_is_measured_and_a_warning_after():
    config = check("configuration", "fail", "1 error and 1 warning")
    config["data"] = {"serious": [found("YML001", "a.yaml:2", severity="error"), found("REF005", "a.yaml:9")]}
    slow = check("pipeline", "fail", verdicts=[verdict("stage", "slow map", 2.0)])
    ranked = rank({"diagnosis": {"checks": [config, slow]}})
    assert [cause["cause"] for cause in ranked] == ["YML001 says so", "slow map", "REF005 says so"]
    assert all("stops" not in cause for cause in ranked)


def test_findings_of_one_place_are_one_cause_with_the_change_that_is_known():
    config = check("configuration", "fail", "2 warnings")
    config["data"] = {
        "serious": [found("REF005", "a.yaml:9"), found("CFG015", "a.yaml:9", "Delete pin_memory")]
    }
    (cause,) = rank({"diagnosis": {"checks": [config]}})
    assert (cause["cause"], cause["change"]) == ("CFG015 says so", "Delete pin_memory")
    assert cause["rules"] == ["REF005", "CFG015"]


def test_what_another_part_explains_is_no_cause_of_its_own():
    forms = {
        "step": {"verdicts": [verdict("data", "highly input-bound", explained_by=["stage", "prefetch"])]},
        "data": {"verdicts": [verdict("stage", "slow map", 2.0)]},
    }
    assert [cause["name"] for cause in rank(forms)] == ["stage"]
    assert [cause["name"] for cause in rank({"step": forms["step"]})] == ["data"]


def test_findings_stand_one_by_one_and_beside_what_they_explain():
    code = check("code", "fail", "0 errors and 2 warnings")
    code["data"] = {"serious": [found("TFD001", "a.py:3"), found("TFF012", "b.py:9", "reduce_retracing")]}
    (slow, other) = rank(
        {
            "diagnosis": {
                "checks": [code, check("pipeline", "fail", verdicts=[verdict("stage", "slow map", 2.0)])]
            }
        }
    )
    assert (slow["cause"], slow["evidence"]) == ("slow map", "seen; a.py:3")
    assert (other["cause"], other["evidence"], other["change"]) == (
        "TFF012 says so", "b.py:9", "reduce_retracing",
    )  # fmt: skip
    (alone, _) = rank({"diagnosis": {"checks": [code]}})
    assert (alone["cause"], alone["evidence"]) == ("TFD001 says so", "a.py:3")


def test_many_findings_end_in_how_many_more_there_are():
    code = check("code", "fail")
    code["data"] = {"serious": [found("TFF012", f"a.py:{line}", str(line)) for line in range(12)]}
    code["data"]["serious"][3]["message"] = "another"
    ranked = rank({"diagnosis": {"checks": [code]}})
    assert [cause["cause"] for cause in ranked] == [
        "TFF012 says so",
        "another",
        "4 findings more: see cfgfix check",
    ]
    # The same at other places is one cause.
    assert ranked[0]["evidence"].startswith("a.py:0; a.py:1; a.py:2; a.py:4")


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
    fix = "a.py:7: Pass num_parallel_calls=tf.data.AUTOTUNE (TFD005, unsafe)"
    entry = verdict(
        "stage", "slow", change="do it", fixes=["a.py:6: it is slow (TFD001: no automatic fix)", fix]
    )
    assert rank({"data": {"verdicts": [entry]}})[0]["change"] == fix


def test_that_there_is_no_fix_is_no_change():
    told = [
        "cfgfix fix changes nothing in train.yaml for TFD001",
        "name the config (`cfgfix profile` takes it as --config FILE) to see what cfgfix fix would change (TFD001)",
    ]
    entry = verdict("stage", "slow", change="do it", fixes=told)
    assert rank({"data": {"verdicts": [entry]}})[0]["change"] == "do it"


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
