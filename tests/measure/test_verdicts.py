from __future__ import annotations

import pytest

from cfgfix.measure.verdicts import (
    RULES,
    Outcome,
    Verdict,
    from_dict,
    look_up_fixes,
    old_limits,
    with_fixes,
)

VERDICT = Verdict("cpus", Outcome.PROBLEM, "too slow", ("evidence",), ("HWR001",), "change it", ("fix",))


def test_a_verdict_survives_json():
    assert from_dict(VERDICT.as_dict()) == VERDICT


def test_rule_names_are_those_of_the_rule_files(repo_root):
    names = {}
    for path in (repo_root / "rules").rglob("*.yaml"):
        identity, _, name = path.stem.partition("-")
        names[identity] = name
    wrong = {rule: name for rule, name in RULES.items() if rule in names and names[rule] != name}
    assert not wrong


def test_rule_names_are_those_of_the_rule_list(shared_path):
    import yaml

    with open(shared_path / "rules" / "catalogue.yaml", encoding="utf-8") as stream:
        listed = {entry["code"]: entry["name"] for entry in yaml.safe_load(stream)["rules"]}
    wrong = {rule: name for rule, name in RULES.items() if rule in listed and listed[rule] != name}
    assert not wrong


@pytest.mark.parametrize(
    ("figures", "readings"),
    [
        ({"variation": 0.1, "data_share": 0.1}, ["good", "good"]),
        ({"variation": 0.3, "data_share": 0.4}, ["acceptable", "improvable"]),
        ({"variation": 1.09, "data_share": 0.6}, ["oscillating", "bottleneck"]),
        ({"batch_seconds": 0.15, "steps_per_second": 7}, ["acceptable", "acceptable"]),
        ({"steps_per_second": 11, "utilisation": 0.8}, ["good", "good"]),
        ({"utilisation": 0.2}, ["low"]),
        ({"variation": float("nan")}, []),
    ],
)
def test_the_older_limits_are_shown_with_their_source(figures, readings):
    found = old_limits(**figures)
    assert [limit.reading for limit in found] == readings
    assert all(limit.source and limit.caution for limit in found)


def test_a_verdict_without_a_rule_has_no_fix():
    plain = Verdict("input", Outcome.GOOD, "fine")
    assert with_fixes([plain], None) == (plain,)


def test_without_a_config_the_way_to_the_fix_is_told():
    found = with_fixes([Verdict("cpus", Outcome.PROBLEM, "slow", (), ("HWR001",))], None)
    assert "--config" in found[0].fixes[0]


def test_the_fix_is_what_cfgfix_fix_would_write(tmp_path):
    path = tmp_path / "config.yaml"
    text = "data:\n  batch_size: 8\n  prefetch_buffer_size: 0\n  num_workers: 100000\n"
    path.write_text(text, encoding="utf-8")
    lookup = look_up_fixes(str(path))
    assert lookup.error is None
    found = with_fixes([Verdict("cpus", Outcome.PROBLEM, "slow", (), tuple(sorted(lookup.found)))], lookup)
    assert any(f"{path}:" in fix and fix.endswith(("safe)", "fix)")) for fix in found[0].fixes)
    assert path.read_text(encoding="utf-8") == text
    other = with_fixes([Verdict("graph", Outcome.PROBLEM, "eager", (), ("TFF010",))], lookup)
    assert "changes nothing" in other[0].fixes[0]


def test_the_users_functions_are_looked_at_too(tmp_path):
    path = tmp_path / "pipeline.py"
    path.write_text(
        "import tensorflow as tf\n\n\n"
        "def load(name):\n    return tf.numpy_function(len, [name], tf.int64)\n\n\n"
        "def make():\n    return tf.data.Dataset.list_files('*.wav').map(load)\n",
        encoding="utf-8",
    )
    found = with_fixes([Verdict("stage", Outcome.PROBLEM, "slow", (), ("TFD001",))], look_up_fixes(str(path)))
    assert found[0].fixes[0].startswith(f"{path}:")


def test_a_config_that_cannot_be_checked_is_told(tmp_path):
    lookup = look_up_fixes(str(tmp_path / "none.yaml"))
    found = with_fixes([VERDICT], lookup)
    assert found[0].fixes
