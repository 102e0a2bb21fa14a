from __future__ import annotations

import json
import time
from dataclasses import replace

import numpy as np
import pytest

from cfgfix.core.errors import CfgfixError
from cfgfix.measure import step as step_module
from cfgfix.measure.operations import Operation, StepOperations
from cfgfix.measure.pace import Load
from cfgfix.measure.sampling import UserCodeError
from cfgfix.measure.statistics import Interval, summarise
from cfgfix.measure.step import measure, split_parts, time_in_turn
from cfgfix.measure.step_profile import Comparison, StepPlan, StepProfile
from cfgfix.measure.step_subject import PARTS, Trainer
from cfgfix.measure.step_verdicts import judge, judge_retraces
from cfgfix.measure.verdicts import Outcome
from cfgfix.measure.watch import Fetches, Sync, Trace, Tracings, describe, difference, signature_of

PLAN = StepPlan(rounds=4, steps=10, seconds=20, compare=False)


def pairs(tf):
    return tf.data.Dataset.from_tensors((tf.ones([4, 3]), tf.zeros([4, 2]))).repeat()


def parts_of(tf):
    keras = tf.keras

    def make():
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
        return model, "mse", "adam"

    return make


# --- the user's step


def test_model_loss_and_optimizer_are_cut_into_parts(tf):
    found = measure(parts_of(tf), lambda: pairs(tf), PLAN)
    assert tuple(found.parts) == PARTS
    assert found.compiled
    assert found.traces == ()
    assert found.syncs == ()
    assert found.batches >= 6
    assert found.compile_seconds > 0
    assert found.peak_bytes["host"] > 0
    verdicts = {verdict.name: verdict for verdict in found.verdicts}
    assert verdicts["retracing"].outcome is Outcome.GOOD
    json.dumps(found.as_dict(), allow_nan=False)


def test_training_trains(tf):
    model, loss, optimizer = parts_of(tf)()
    trainer = Trainer(model, loss, optimizer)
    batch = (tf.ones([4, 3]), tf.zeros([4, 2]))
    trainer.build(batch)
    before = float(trainer.functions["loss"](batch))
    for _ in range(50):
        trainer.functions["optimizer"](batch)
    assert float(trainer.functions["loss"](batch)) < before


def test_a_plain_module_is_called_without_training(tf):
    class Plain(tf.Module):
        def __init__(self):
            super().__init__()
            self.weight = tf.Variable(tf.ones([3, 2]))

        def __call__(self, value):
            return value @ self.weight

    def make():
        return Plain(), lambda target, output: tf.square(output - target), "sgd"

    found = measure(make, lambda: pairs(tf), PLAN)
    assert tuple(found.parts) == PARTS


@pytest.mark.parametrize(
    "wrap",
    [lambda sound: sound, lambda sound: {"sound": sound}, lambda sound: [sound]],
    ids=["one", "dict", "list"],
)
def test_dictionaries_reach_the_inputs_by_name(tf, wrap):
    keras = tf.keras

    def make():
        sound = keras.Input((3,), name="sound")
        model = keras.Model(wrap(sound), keras.layers.Dense(2)(sound))
        return model, lambda batch, output: tf.reduce_mean(output - batch["target"]), "sgd"

    def dataset():
        return tf.data.Dataset.from_tensors({"sound": tf.ones([4, 3]), "target": tf.zeros([4, 2])}).repeat()

    assert tuple(measure(make, dataset, PLAN).parts) == PARTS


def test_xla_and_mixed_precision_are_compared(tf):
    found = measure(parts_of(tf), lambda: pairs(tf), StepPlan(rounds=3, steps=10, seconds=20, compare=True))
    assert [entry.name for entry in found.comparisons] == ["XLA", "mixed_bfloat16"]
    for entry in found.comparisons:
        assert entry.failed is None
        assert entry.ratio.low <= entry.ratio.value <= entry.ratio.high
    assert tf.keras.mixed_precision.global_policy().name == "float32"


@pytest.mark.parametrize("kind", ["function", "model", "inner"])
def test_a_step_that_xla_compiles_already_says_so(tf, kind):
    keras = tf.keras

    def make():
        if kind == "model":
            model = keras.Sequential([keras.layers.Dense(2)])
            model.compile("sgd", "mse", jit_compile=True)
            return model
        compiled = tf.function(lambda x, y: tf.reduce_sum(x) * tf.reduce_sum(y), jit_compile=True)
        return tf.function(lambda x, y: compiled(x, y) + 1.0) if kind == "inner" else compiled

    plan = StepPlan(rounds=3, steps=10, seconds=20, compare=True, trace=False)
    found = measure(make, lambda: pairs(tf), plan)
    verdict = next(verdict for verdict in found.verdicts if verdict.name == "XLA")
    assert "compiled with XLA already" in verdict.summary
    names = [entry.name for entry in found.comparisons if entry.already or entry.name == "XLA"]
    assert names == ([] if kind == "inner" else ["XLA"])


def test_a_step_that_xla_refuses_says_why(tf):
    def make():
        @tf.function
        def train(batch):
            return tf.numpy_function(lambda value: value, [batch], tf.float32)

        return train

    def dataset():
        return tf.data.Dataset.from_tensors(tf.ones([4])).repeat()

    found = measure(make, dataset, StepPlan(rounds=3, steps=10, seconds=20))
    xla = next(entry for entry in found.comparisons if entry.name == "XLA")
    assert xla.ratio is None
    assert "PyFunc" in xla.failed
    verdict = next(verdict for verdict in found.verdicts if verdict.name == "XLA")
    assert verdict.rules == ("TFF013",)


def test_an_eager_step_is_told(tf):
    found = measure(lambda: lambda batch: tf.reduce_sum(batch[0]), lambda: pairs(tf), PLAN)
    assert not found.compiled
    assert {verdict.name for verdict in found.verdicts} >= {"graph"}


def test_what_the_step_raises_is_the_users_failure(tf):
    def make():
        def train(batch):
            raise ValueError("a bug of mine")

        return train

    with pytest.raises(UserCodeError, match="a bug of mine"):
        measure(make, lambda: pairs(tf), PLAN)


def test_what_is_no_step_is_refused(tf):
    with pytest.raises(CfgfixError, match="returned int"):
        measure(lambda: 3, lambda: pairs(tf), PLAN)
    with pytest.raises(CfgfixError, match="no trainable variables"):
        measure(lambda: (lambda value: value, "mse", "sgd"), lambda: pairs(tf), PLAN)


# --- retraces and host syncs


def test_shapes_that_change_are_named(tf):
    def make():
        @tf.function
        def inner(values):
            return tf.reduce_sum(values)

        return inner

    def dataset():
        return tf.data.Dataset.range(10**6).map(lambda place: tf.ones([4, 8 + place % 3]))

    found = measure(make, dataset, PLAN)
    assert len(found.traces) == 2
    assert {trace.kind for trace in found.traces} == {"shape"}
    assert found.traces[0].causes == ("values: float32[4,8] -> float32[4,9]",)
    verdict = next(verdict for verdict in found.verdicts if verdict.name == "retracing")
    assert verdict.outcome is Outcome.PROBLEM
    assert "TFF012" in verdict.rules


def test_what_a_function_calls_while_it_is_traced_is_traced_with_it(tf):
    inner = tf.function(tf.reduce_sum)
    outer = tf.function(lambda values: inner(values) + 1.0, reduce_retracing=True)
    with Tracings().on() as watch:
        for size in (8, 9, 10, 11):
            outer(tf.ones([4, size]))
    assert [trace.kind for trace in watch.traces] == ["first", "shape"]
    assert all(trace.relaxes and not trace.xla for trace in watch.traces)
    assert "1 retrace" not in str(watch.made_anew(0))


def test_a_function_of_an_iterator_is_traced_for_what_it_gives(tf):
    function = tf.function(lambda iterator: tf.reduce_sum(next(iterator)))
    with Tracings().on() as watch:
        for size in (8, 9):
            function(iter(tf.data.Dataset.from_tensors(tf.ones([size]))))
    assert watch.traces[1].causes == ("iterator: float32[8] -> float32[9]",)
    assert watch.traces[1].kind == "shape"


def test_python_numbers_that_change_are_named(tf):
    def make():
        @tf.function
        def inner(values, rate):
            return tf.reduce_sum(values) * rate

        state = {"step": 0}

        def train(batch):
            state["step"] += 1
            return inner(batch[0], state["step"] * 0.5)

        return train

    found = measure(make, lambda: pairs(tf), PLAN)
    assert len(found.traces) == found.watched_steps - 1
    assert found.traces[0].causes == ("rate: 0.5 -> 1.0",)
    verdict = next(verdict for verdict in found.verdicts if verdict.name == "retracing")
    assert verdict.rules == ("TFF001",)


def test_functions_made_in_each_step_are_named(tf):
    def make():
        def train(batch):
            return tf.function(tf.reduce_sum)(batch[0])

        return train

    found = measure(make, lambda: pairs(tf), PLAN)
    assert sum(found.made_anew.values()) == found.watched_steps - 1
    verdict = next(verdict for verdict in found.verdicts if verdict.name == "retracing")
    assert verdict.rules == ("TFF002",)


def test_fetches_are_counted_where_the_user_wrote_them(tf):
    def make():
        @tf.function
        def inner(values):
            return tf.reduce_sum(values)

        def train(batch):
            total = inner(batch[0])
            float(total)
            return total.numpy()

        return train

    found = measure(make, lambda: pairs(tf), PLAN)
    steps = found.watched_steps - 1
    assert sorted((sync.how, sync.count) for sync in found.syncs) == [("float()", steps), ("numpy()", steps)]
    assert all("test_step.py:" in sync.place for sync in found.syncs)


def test_watching_leaves_no_trace(tf):
    function_type, tensor_type = type(tf.function(lambda: None)), type(tf.constant(0))
    before = function_type.__call__, tensor_type.numpy, tensor_type.__dict__.get("__float__")
    with Tracings().on(), Fetches().on():
        pass
    assert (function_type.__call__, tensor_type.numpy, tensor_type.__dict__.get("__float__")) == before


@pytest.mark.parametrize(
    ("value", "text"),
    [(1, "1"), ("a", "'a'"), (None, "None"), (np.zeros([2, 3], np.float32), "float32[2,3]")],
)
def test_what_tracing_distinguishes(value, text):
    assert describe(value) == text


def test_a_signature_names_the_arguments():
    def function(batch, rate=1):
        return batch, rate

    found = signature_of(function, ({"x": [1, 2]},), {"rate": 3})
    assert found == (("batch['x'][0]", "1"), ("batch['x'][1]", "2"), ("rate", "3"))


def test_the_nearest_earlier_call_is_compared():
    now = (("a", "float32[2]"), ("b", "1"))
    earlier = [(("a", "int32[7]"), ("b", "2")), (("a", "float32[2]"), ("b", "2"))]
    assert difference(now, earlier) == (("b: 2 -> 1",), "python value")
    assert difference(now, [now]) == ((), "unknown")
    assert difference(now, [(("a", "float32[2]"),)])[1] == "structure"
    assert difference((("a", "float32[2]"),), [(("a", "int32[2]"),)])[1] == "dtype"


# --- figures and verdicts


def test_parts_are_differences_within_rounds():
    base = np.random.default_rng(0).exponential(1, 30)
    times = {name: base + place for place, name in enumerate(PARTS)}
    found = split_parts(times)
    for name in PARTS[1:]:
        assert found[name].value == pytest.approx(1)
        assert found[name].high - found[name].low < 1e-9


def test_all_run_once_in_each_round():
    calls = []

    def run(name):
        calls.append(name)
        return 1.0

    found = time_in_turn({name: (lambda name=name: run(name)) for name in "abc"}, rounds=5, seconds=100)
    assert {name: len(values) for name, values in found.items()} == {"a": 5, "b": 5, "c": 5}
    assert all(set(calls[start : start + 3]) == set("abc") for start in range(0, 15, 3))
    short = time_in_turn({"a": lambda: time.sleep(0.001) or 1.0}, rounds=50, seconds=1e-6)
    assert len(short["a"]) == 3


def made(**changes):
    figures = {
        "source": "made",
        "devices": ("CPU:0",),
        "parts": {},
        "step": summarise([0.01] * 10),
        "compile_seconds": 1.0,
        "data": summarise([0.0] * 10),
        "loop": summarise([0.01] * 10),
        "data_share": Interval(0.0, 0.0, 0.01),
        "batches": 10,
        "samples_per_second": 100.0,
        "traces": (),
        "made_anew": {},
        "compiled": True,
        "syncs": (),
        "watched_steps": 11,
        "comparisons": (),
        "peak_bytes": {},
    }
    return StepProfile(**{**figures, **changes})


@pytest.mark.parametrize(
    ("share", "outcome"),
    [
        (Interval(0.01, 0.0, 0.02), Outcome.GOOD),
        (Interval(0.1, 0.08, 0.12), Outcome.PROBLEM),
        (Interval(0.05, 0.0, 0.2), Outcome.INCONCLUSIVE),
    ],
)
def test_waiting_for_data_is_judged_with_its_interval(share, outcome):
    assert judge(made(data_share=share), on_gpu=False)[0].outcome is outcome


@pytest.mark.parametrize(
    ("name", "ratio", "outcome", "rules"),
    [
        ("XLA", Interval(0.5, 0.4, 0.6), Outcome.INFO, ()),
        ("XLA", Interval(1.5, 1.4, 1.6), Outcome.INFO, ("HWR020",)),
        ("mixed_bfloat16", Interval(1.5, 1.4, 1.6), Outcome.INFO, ("HWR009",)),
        ("XLA", Interval(1.0, 0.9, 1.1), Outcome.INCONCLUSIVE, ()),
    ],
)
def test_a_comparison_needs_an_interval_on_one_side(name, ratio, outcome, rules):
    found = judge(made(comparisons=(Comparison(name, ratio, 1.0),)), on_gpu=False)[-1]
    assert found.outcome is outcome
    assert found.rules == rules


@pytest.mark.parametrize(
    ("ratio", "said", "rules"),
    [
        (Interval(0.5, 0.4, 0.6), "compiled with XLA already, which makes it 2.00 times as fast", ()),
        (Interval(1.5, 1.4, 1.6), "compiled with XLA already, which makes it", ("HWR020",)),
        (Interval(1.0, 0.9, 1.1), "compiled with XLA already; it makes no difference", ()),
    ],
)
def test_what_is_on_already_is_not_advised(ratio, said, rules):
    found = judge(made(comparisons=(Comparison("XLA", ratio, 1.0, already=True),)), on_gpu=False)[-1]
    assert said in found.summary
    assert found.outcome is Outcome.INFO
    assert found.rules == rules
    assert "turn" not in (found.change or "")


@pytest.mark.parametrize(("waited", "outcome"), [(0.0001, Outcome.INFO), (0.1, Outcome.PROBLEM)])
def test_syncs_are_judged_by_what_they_cost(waited, outcome):
    found = judge(made(syncs=(Sync("train.py:3", "numpy()", 10, waited),)), on_gpu=True)
    verdict = next(verdict for verdict in found if verdict.name == "host sync")
    assert verdict.outcome is outcome
    assert verdict.rules == ("TFF024",)
    assert "train.py:3" in verdict.evidence[0]


@pytest.mark.parametrize(
    ("kind", "seconds", "told"), [("PyFunc", 0.008, True), ("PyFunc", 1e-5, False), ("MatMul", 0.008, False)]
)
def test_python_in_a_compiled_step_is_told_with_its_share(kind, seconds, told):
    operations = StepOperations((Operation(kind, "wrap/PyFunc", seconds, 0.9),))
    found = [
        verdict for verdict in judge(made(operations=operations), on_gpu=False) if verdict.name == "python"
    ]
    assert bool(found) is told
    for verdict in found:
        assert verdict.outcome is Outcome.PROBLEM
        assert "8 ms of its 10 ms" in verdict.summary
        assert verdict.worth == pytest.approx(5)


def test_a_batch_in_memory_is_not_waited_for(tf):
    data = tf.data.Dataset.from_tensors(tf.ones([4, 3])).repeat()
    found = measure(
        lambda: tf.function(tf.reduce_sum),
        lambda: data,
        StepPlan(rounds=3, steps=20, trace=False, compare=False),
    )
    assert found.floor > 0
    assert found.data_share.value <= max(0.0, found.data.mean / found.loop.mean)
    assert "a batch in memory" in found.verdicts[0].evidence[0]


@pytest.mark.parametrize(
    ("load", "outcome"),
    [
        (None, Outcome.PROBLEM),
        (Load(2, 0.5, 0.2, 0.6), Outcome.PROBLEM),
        (Load(2, 0.3, 1.7, 0.6), Outcome.INCONCLUSIVE),
        (Load(2, 0.3, 1.7, 0.05), Outcome.PROBLEM),
    ],
)
def test_waiting_beside_other_work_is_no_fault_of_the_data(load, outcome):
    share = Interval(0.3, 0.25, 0.35)
    assert judge(made(data_share=share, load=load), on_gpu=False)[0].outcome is outcome


def test_a_retrace_without_a_cause_says_so():
    trace = Trace("train", 3, 2, 0.5, (), "unknown")
    verdict = next(v for v in judge(made(traces=(trace,)), on_gpu=True) if v.name == "retracing")
    assert "no argument differs" in verdict.evidence[1]
    assert verdict.rules == ("TFF006",)


def test_parts_come_with_rounds_enough_or_not_at_all(tf, monkeypatch):
    def few(functions, **_):
        return {name: np.array([run() for _ in range(3)]) for name, run in functions.items()}

    monkeypatch.setattr(step_module, "time_in_turn", few)
    plan = replace(PLAN, rounds=20)
    found = measure(parts_of(tf), lambda: pairs(tf), plan)
    assert found.parts == {}
    assert any("too few for an interval" in note for note in found.notes)
    assert measure(parts_of(tf), lambda: pairs(tf), replace(PLAN, rounds=3)).parts


def test_few_shapes_are_traced_once_each_and_are_no_fault():
    def traced(*steps):
        same = [Trace("train", 2, step, 0.5, ("x: 8 became 9",), "shape") for step in steps]
        (verdict,) = judge_retraces(same, {}, 100, compiled=True)
        return verdict

    settled = traced(3, 5, 9, 30)
    assert settled.outcome is Outcome.INFO
    assert "no more after step 30" in settled.summary
    assert settled.rules == ()
    assert traced(3, 5, 9, 80).outcome is Outcome.PROBLEM
    assert traced(*range(20)).outcome is Outcome.PROBLEM


def test_what_reduce_retracing_takes_as_unknown_is_no_fault():
    causes = [("x: float32[8,44] -> float32[8,64]",), ("x: float32[8,44] -> float32[7,40]",)]
    same = [Trace("train", 2, 1 + 90 * place, 0.5, cause, "shape") for place, cause in enumerate(causes)]
    (plain,) = judge_retraces(same, {}, 100, compiled=True)
    assert plain.outcome is Outcome.PROBLEM
    assert plain.rules == ("TFF012",)
    (verdict,) = judge_retraces([replace(trace, relaxes=True) for trace in same], {}, 100, compiled=True)
    assert verdict.outcome is Outcome.INFO
    assert "2 times: reduce_retracing takes what changed as unknown" in verdict.summary
    assert (verdict.rules, verdict.change) == ((), None)


def test_xla_compiles_each_shape_whatever_is_said_of_retracing():
    cause = ("x: float32[8,44] -> float32[8,64]",)
    same = [Trace("train", 2, step, 0.5, cause, "shape", relaxes=True, xla=True) for step in (3, 30, 90)]
    (verdict,) = judge_retraces(same, {}, 100, compiled=True)
    assert verdict.outcome is Outcome.PROBLEM
    assert verdict.rules == ("TFD035",)
    assert "reduce_retracing" not in (verdict.change or "")


def test_a_last_batch_of_each_length_is_no_change_of_shape():
    causes = [
        ("x: float32[8,44,64] -> float32[8,64,64]",),
        ("x: float32[8,44,64] -> float32[7,44,64]", "n: int32[8] -> int32[7]"),
        ("x: float32[8,64,64] -> float32[2,64,64]", "n: int32[8] -> int32[2]"),
    ]
    same = [Trace("train", 2, 90 + place, 0.5, cause, "shape") for place, cause in enumerate(causes)]
    (verdict,) = judge_retraces(same, {}, 100, compiled=True)
    assert verdict.outcome is Outcome.INFO
    assert "3 times" in verdict.summary
    growing = [replace(trace, causes=("x: float32[7] -> float32[8]",)) for trace in same]
    (verdict,) = judge_retraces(growing, {}, 100, compiled=True)
    assert verdict.outcome is Outcome.PROBLEM
