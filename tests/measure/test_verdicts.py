from __future__ import annotations

from types import SimpleNamespace

import pytest

from cfgfix.measure.verdicts import (
    Outcome,
    Verdict,
    from_dict,
    look_up_fixes,
    old_limits,
    with_fixes,
)
from cfgfix.rules.faults import Fault

VERDICT = Verdict(
    "cpus", Outcome.PROBLEM, "too slow", ("evidence",), (Fault.CALLS_ABOVE_CPUS,), "change it", ("fix",)
)


def test_a_verdict_survives_json():
    assert from_dict(VERDICT.as_dict()) == VERDICT


def test_a_verdict_names_the_rules_about_what_is_at_fault():
    found = VERDICT.as_dict()
    assert found["faults"] == ["calls-above-cpus"]
    assert found["rules"] == [{"id": "HWR001", "name": "workers-above-cores"}]


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
    found = with_fixes([Verdict("cpus", Outcome.PROBLEM, "slow", (), (Fault.CALLS_ABOVE_CPUS,))], None)
    assert "--config" in found[0].fixes[0]


def test_the_fix_is_what_cfgfix_fix_would_write(tmp_path):
    path = tmp_path / "config.yaml"
    text = "data:\n  batch_size: 8\n  prefetch_buffer_size: 0\n  num_workers: 100000\n"
    path.write_text(text, encoding="utf-8")
    lookup = look_up_fixes(str(path))
    assert lookup.error is None
    found = with_fixes(
        [Verdict("cpus", Outcome.PROBLEM, "slow", (), (Fault.PREFETCH_OFF, Fault.CALLS_ABOVE_CPUS))], lookup
    )
    assert any(f"{path}:" in fix and fix.endswith(("safe)", "fix)")) for fix in found[0].fixes)
    assert path.read_text(encoding="utf-8") == text
    other = with_fixes([Verdict("graph", Outcome.PROBLEM, "eager", (), (Fault.EAGER_STEP,))], lookup)
    assert "changes nothing" in other[0].fixes[0]
    advised = Verdict("graph", Outcome.PROBLEM, "eager", (), (Fault.EAGER_STEP,), "decorate it")
    assert with_fixes([advised], lookup)[0].fixes == ()


def test_the_users_functions_are_looked_at_too(tmp_path):
    path = tmp_path / "pipeline.py"
    path.write_text(
        "import tensorflow as tf\n\n\n"
        "def load(name):\n    return tf.numpy_function(len, [name], tf.int64)\n\n\n"
        "def make():\n    return tf.data.Dataset.list_files('*.wav').map(load)\n",
        encoding="utf-8",
    )
    found = with_fixes(
        [Verdict("stage", Outcome.PROBLEM, "slow", (), (Fault.PYTHON_STAGE,))], look_up_fixes(str(path))
    )
    assert found[0].fixes[0].startswith(f"{path}:")


def test_a_config_that_cannot_be_checked_is_told(tmp_path):
    lookup = look_up_fixes(str(tmp_path / "none.yaml"))
    found = with_fixes([VERDICT], lookup)
    assert found[0].fixes


def test_in_an_eager_loop_only_keras_itself_is_told():
    from cfgfix.measure.run_profile import Part
    from cfgfix.measure.run_verdicts import _between_steps

    own = Part("KerasLogger.on_train_batch_end", "train.py:3", 0.1, 0.5)
    loop = Part("Keras", "", 0.1, 0.25, by_keras=True)
    verdicts = list(_between_steps(SimpleNamespace(parts=[own, loop], kind="fit"), eager=True, lone=False))
    assert [verdict.summary.split(" takes")[0] for verdict in verdicts] == ["Keras itself"]
    assert "by_keras" not in own.as_dict()


def test_what_makes_batches_in_a_loop_without_a_dataset_gets_that_advice():
    from cfgfix.measure.run_profile import Part
    from cfgfix.measure.run_verdicts import _between_steps

    found = SimpleNamespace(parts=[Part("batches", "train.py:3", 0.1, 0.5)])
    for lone, word in ((True, "tf.data pipeline"), (False, "less often")):
        (verdict,) = _between_steps(found, eager=False, lone=lone)
        assert word in (verdict.change or "")
