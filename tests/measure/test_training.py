"""What the time of a training program goes to: from steps and looks made up, and from real programs."""

from __future__ import annotations

import gc
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cfgfix.core.errors import CfgfixError
from cfgfix.measure.attribution import attribute, find_stalls, period_of, warm_up
from cfgfix.measure.observe import Look, Loop, Observation, Step, StopObservation
from cfgfix.measure.observe import observed as watched
from cfgfix.measure.pace import Load
from cfgfix.measure.run_profile import Evaluation, RunPlan, memory_growth
from cfgfix.measure.run_verdicts import _evaluation_verdicts, judge
from cfgfix.measure.sampling import UserCodeError, run_child
from cfgfix.measure.stacks import describe_stack, frame_of, is_users
from cfgfix.measure.training import analyse, main_loop
from cfgfix.measure.verdicts import Outcome, Verdict
from cfgfix.measure.watch import Trace

PLACE = "/home/me/train.py:10"
FREE = Load(cpus=4, busy=0.5, elsewhere=0.0)
TAKEN = Load(cpus=4, busy=0.5, elsewhere=3.4)


class Programme:
    """A loop made up: steps of 10 ms, with what is planted in some of them."""

    def __init__(self, kind="loop", steps=120, wait=0.0002, call=0.008):
        self.loop = Loop(kind, PLACE)
        self.observation = Observation()
        self.observation.loops[(kind, PLACE)] = self.loop
        now = 0.0
        for _ in range(steps):
            step = Step(now, now + wait + call + 0.0008, wait, call, calls=1, samples=8, shape=1, trains=True)
            self.loop.steps.append(step)
            now = step.end

    def planted(self, places, seconds, who="save", place="/home/me/train.py:30", what="", state="python"):
        """Let what is at work take so long in these steps."""
        for index in places:
            step = self.loop.steps[index]
            begin = step.end
            for later in self.loop.steps[index:]:
                later.end += seconds
                if later is not step:
                    later.begin += seconds
            looks = self.observation.looks
            looks[:] = [
                replace(look, moment=look.moment + seconds) if look.moment >= begin else look
                for look in looks
            ]
            count = max(2, round(seconds / 0.004))
            looks += [
                Look(begin + seconds * (part + 0.5) / count, state, who, place, what, self.loop.kind)
                for part in range(count)
            ]
        return self

    def judged(self, load=FREE):
        self.observation.looks.sort(key=lambda look: look.moment)
        found = analyse(self.observation, RunPlan(data_seconds=0), load, source="train.py")
        json.dumps(found.as_dict(), allow_nan=False)
        return found, [verdict for verdict in found.verdicts if verdict.outcome is Outcome.PROBLEM]


def test_a_healthy_loop_has_no_problem():
    for kind in ("fit", "loop"):
        found, problems = Programme(kind).judged()
        assert problems == []
        assert sum(found.shares.values()) == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize(
    ("alone", "wait_share", "outcome"),
    [
        (Outcome.GOOD, 0.1, Outcome.GOOD),
        (Outcome.GOOD, 0.5, Outcome.PROBLEM),
        (Outcome.INCONCLUSIVE, 0.1, Outcome.INCONCLUSIVE),
        (Outcome.PROBLEM, 0.1, Outcome.PROBLEM),
    ],
)
def test_a_dataset_that_keeps_up_by_itself_is_not_blamed(alone, wait_share, outcome):
    made = Programme()
    found, _ = made.judged()
    data = {"verdicts": [Verdict("input", alone, "as the dataset by itself").as_dict()]}
    verdicts = judge(
        replace(found, data=data),
        made.loop.steps,
        made.loop,
        {},
        wait_share=wait_share,
        floor=0.0,
        busy=0.009,
    )
    (verdict,) = (verdict for verdict in verdicts if verdict.name == "input")
    assert verdict.outcome is outcome
    assert alone is not Outcome.GOOD or "by itself keeps up" in verdict.summary


@pytest.mark.parametrize(
    ("load", "wait", "outcome"),
    [
        (TAKEN, 0.0012, Outcome.INCONCLUSIVE),
        (TAKEN, 0.008, Outcome.PROBLEM),
        (FREE, 0.0012, Outcome.PROBLEM),
    ],
)
def test_short_waits_on_a_taken_machine_are_not_judged_alone(load, wait, outcome):
    found, _ = Programme(wait=wait).judged(load)
    assert [verdict.outcome for verdict in found.verdicts if verdict.name == "input"] == [outcome]


def test_a_stall_is_told_with_function_period_size_and_share():
    made = Programme().planted(range(25, 120, 20), 0.2, "save", what="keras.saving.save_weights")
    found, problems = made.judged()
    assert [verdict.name for verdict in problems] == ["stall"]
    (stall,) = found.stalls
    assert stall.who == "save"
    assert stall.period == pytest.approx(20)
    assert stall.seconds == pytest.approx(0.2, rel=0.1)
    assert stall.share == pytest.approx(1.0 / (1.0 + 117 * 0.009), rel=0.1)
    assert "keras.saving.save_weights" in problems[0].summary
    assert problems[0].worth == pytest.approx(1 / (1 - stall.share))


def test_a_stall_in_the_last_step_of_an_epoch_is_the_same_stall():
    made = Programme().planted(range(9, 120, 10), 0.08, "Backup.on_train_batch_end")
    for place in range(19, 120, 20):
        made.loop.steps[place].starts = True
    found, problems = made.judged()
    (stall,) = found.stalls
    assert [verdict.name for verdict in problems] == ["stall"]
    assert stall.period == pytest.approx(10)
    assert stall.count >= 11


def test_a_few_disturbances_side_by_side_have_no_period():
    made = Programme().planted((60, 62, 64, 66), 0.03)
    found, problems = made.judged(TAKEN)
    assert [stall.period for stall in found.stalls] == [None]
    assert problems == []


def test_stalls_of_two_causes_are_told_apart():
    made = Programme().planted(range(20, 120, 10), 0.05, "figure").planted(range(15, 120, 25), 0.1, "save")
    found, _ = made.judged()
    assert {stall.who: round(stall.period) for stall in found.stalls} == {"figure": 10, "save": 25}


def test_disturbances_of_a_busy_machine_are_no_ones_stall():
    made = Programme().planted([30, 37, 71, 90, 93, 101], 0.03, "train")
    assert made.judged(TAKEN)[1] == []
    assert [verdict.name for verdict in made.judged(FREE)[1]] == ["stall"]


def test_a_stall_stands_out_among_disturbances():
    made = Programme(steps=160)
    for place in range(15, 160, 16):
        made.loop.steps[place].call += 0.08
        made.planted([place], 0.08, state="call")
    for place in (20, 23, 41, 60, 61, 88, 91, 120, 133):
        made.loop.steps[place].call += 0.02
        made.planted([place], 0.02, state="call")
    found, problems = made.judged(TAKEN)
    assert [verdict.name for verdict in problems] == ["stall"]
    assert found.stalls[0].period == pytest.approx(16)
    assert found.stalls[0].seconds == pytest.approx(0.08, rel=0.05)


def test_what_every_step_does_between_is_told():
    made = Programme().planted(range(120), 0.004, "log", "/home/me/train.py:40")
    found, problems = made.judged()
    assert found.parts[0].who == "log"
    assert found.parts[0].seconds == pytest.approx(0.0048, rel=0.1)
    assert [verdict.name for verdict in problems] == ["between steps"]


def test_keras_own_work_is_not_the_users_fault():
    made = Programme("fit").planted(range(120), 0.004, "<module>", PLACE)
    found, problems = made.judged()
    assert problems == []
    assert any("steps_per_execution" in (verdict.change or "") for verdict in found.verdicts)


def test_an_eager_step_is_told_by_how_it_came_about():
    made = Programme("fit")
    for step in made.loop.steps:
        step.calls, step.call = 0, 0.0
    (problem,) = made.judged()[1]
    assert problem.rules == ("TFF011",)
    own = Programme("loop")
    for step in own.loop.steps:
        step.calls, step.call = 0, 0.0
    (problem,) = own.judged()[1]
    assert problem.rules == ("TFF010", "CFG010")


def test_xla_is_said_to_be_on_and_what_it_compiles():
    made = Programme("fit")
    made.observation.xla.add("step")
    found, problems = made.judged()
    assert problems == []
    assert any(verdict.summary == "the step is compiled with XLA already" for verdict in found.verdicts)
    for number, place in enumerate(range(40, 110, 10)):
        made.loop.steps[place].shape = 100 + number
        made.planted([place], 0.3, state="call")
        made.loop.steps[place].call += 0.3
    found, problems = made.judged()
    assert "XLA compiles the step anew" in next(v for v in problems if v.name == "XLA").summary


def test_few_shapes_that_xla_compiles_are_no_fault():
    made = Programme("loop")
    made.observation.xla.add("step")
    for number, place in enumerate((5, 20, 30, 45)):
        made.loop.steps[place].shape = 100 + number
        made.planted([place], 0.3, state="call")
        made.loop.steps[place].call += 0.3
    found, problems = made.judged()
    assert problems == []
    (verdict,) = (verdict for verdict in found.verdicts if verdict.name == "XLA")
    assert "anew for 4 shapes, and no more after step 42" in verdict.summary
    assert any("4 compilations of 300 ms each" in line for line in verdict.evidence)


def test_shapes_that_are_traced_and_compiled_are_told_once():
    made = Programme("loop")
    made.observation.xla.add("step")
    for number, place in enumerate(range(10, 110, 10)):
        made.loop.steps[place].shape = 100 + number
        made.planted([place], 0.3, state="call")
        made.loop.steps[place].trace = 0.3
        made.observation.tracings.traces.append(
            Trace("step", place, place, 0.3, ("x: f[8] -> f[9]",), "shape", f"loop {PLACE}", xla=True)
        )
    found, problems = made.judged()
    assert [verdict.name for verdict in problems] == ["XLA"]
    assert problems[0].rules == ("TFD035",)
    assert any("7 compilations of 300 ms each" in line for line in problems[0].evidence)
    assert not any(verdict.name == "retracing" for verdict in found.verdicts)


def test_the_end_of_an_epoch_is_told_by_function():
    made = Programme("fit")
    for place in (39, 79):
        made.planted([place], 0.5, "ModelCheckpoint.on_epoch_end", "", "keras.src.saving.save_model")
        made.loop.steps[place].starts = True
    found, problems = made.judged()
    (stall,) = found.stalls
    assert stall.when == "at the end of an epoch"
    assert stall.seconds == pytest.approx(0.5, rel=0.1)
    assert "ModelCheckpoint.on_epoch_end" in problems[0].summary


@pytest.mark.parametrize("kind", ["fit", "loop"])
def test_what_the_line_of_the_loop_takes_between_epochs_is_their_start(kind):
    made = Programme(kind)
    for place in (39, 79):
        made.planted([place], 0.5, "train", PLACE)
        made.loop.steps[place].starts = True
    found, problems = made.judged()
    assert (found.stalls, problems) == ((), [])
    assert found.shares["epochs"] == pytest.approx(0.5, abs=0.05)
    assert any("starts of epochs take" in verdict.summary for verdict in found.verdicts)


def test_tracing_in_the_last_step_of_an_epoch_is_no_start_of_the_next():
    made = Programme()
    step = made.loop.steps[59]
    step.starts, step.trace = True, 1.0
    for later in made.loop.steps[59:]:
        later.end += 1.0
        later.begin += 1.0 if later is not step else 0
    found, _ = made.judged()
    assert found.shares["trace"] > 0.4
    assert found.shares["epochs"] < 0.02


def test_what_keras_does_for_the_data_between_epochs_is_not_the_users():
    made = Programme("fit")
    what = "keras.src.trainers.data_adapters.py_dataset_adapter.PyDatasetEnqueuer.stop"
    for place in (39, 79):
        made.planted([place], 0.2, "PyDatasetAdapter.on_epoch_end", "", what)
        made.loop.steps[place].starts = True
    found, problems = made.judged()
    assert problems == []
    (verdict,) = (one for one in found.verdicts if one.name == "stall")
    assert "longer epochs" in verdict.change


def test_growing_memory_is_told_where_it_goes_on():
    steps = Programme().loop.steps
    end = steps[-1].end
    line = [(end * part / 40, 1e9 + part * 4e6) for part in range(40)]
    assert memory_growth(line, steps) == pytest.approx(40 * 4e6 / 120, rel=0.15)
    filled = [(end * part / 40, 1e9 + min(part, 8) * 4e6) for part in range(40)]
    assert memory_growth(filled, steps) is None
    assert memory_growth(line[:5], steps) is None
    # Some megabytes in all are what allocators and the looks at the program take.
    assert memory_growth([(end * part / 40, 1e9 + part * 4e5) for part in range(40)], steps) is None
    # The second half of the steps takes three times as long, as on a machine that others use.
    for place, step in enumerate(steps):
        slow = max(0, place - 60)
        step.begin, step.end = (
            0.009 * (place + 2 * slow),
            0.009 * (place + 1 + 2 * max(0, place + 1 - 60)),
        )
    end = steps[-1].end
    moments = [end * part / 80 for part in range(80)]
    done = [sum(step.end <= moment for step in steps) for moment in moments]
    line = [(moment, 1e9 + count * 2e6) for moment, count in zip(moments, done, strict=True)]
    assert memory_growth(line, steps) == pytest.approx(2e6, rel=0.1)


@pytest.mark.parametrize(
    ("filling", "outcome"), [(True, Outcome.INFO), (False, Outcome.PROBLEM)], ids=["filling", "kept"]
)
def test_a_cache_that_fills_is_no_list_that_grows(filling, outcome):
    made = Programme()
    found, _ = made.judged()
    grown = replace(found, memory_growth=2e6, filling=filling)
    verdicts = judge(grown, made.loop.steps, made.loop, {}, wait_share=0.0, floor=0.0, busy=0.009)
    (verdict,) = (verdict for verdict in verdicts if verdict.name == "memory")
    assert verdict.outcome is outcome
    assert ("cache()" in " ".join(verdict.evidence)) is filling
    assert (verdict.change is None) is filling


@pytest.mark.parametrize(
    ("compiled", "period", "outcome"),
    [(True, None, Outcome.INFO), (True, 20.0, Outcome.PROBLEM), (False, None, Outcome.PROBLEM)],
)
def test_a_compiled_step_that_is_slow_now_and_then_is_no_problem(compiled, period, outcome):
    made = Programme().planted((25, 31, 64, 70, 99), 0.2, "save")
    found, _ = made.judged()
    stall = replace(found.stalls[0], compiled=compiled, period=period)
    verdicts = judge(
        replace(found, stalls=(stall,)), made.loop.steps, made.loop, {}, wait_share=0.0, floor=0.0, busy=0.009
    )
    assert [verdict.outcome for verdict in verdicts if verdict.name == "stall"] == [outcome]


def test_a_program_without_steps_is_refused():
    with pytest.raises(CfgfixError, match="training step"):
        analyse(Observation(), RunPlan(), FREE, source="train.py")


def test_the_loop_that_trains_is_the_one_judged():
    train, scan = Programme().loop, Programme(steps=400).loop
    for step in scan.steps:
        step.trains = False
    evaluation = Loop("evaluate", PLACE, list(scan.steps))
    assert main_loop([scan, evaluation, train]) is train
    assert main_loop([scan]) is scan
    assert main_loop([evaluation]) is None


def test_the_warm_up_ends_after_the_first_traces():
    steps = Programme(steps=60).loop.steps
    assert warm_up(steps) == 3
    steps[7].trace = 1.0
    assert warm_up(steps) == 9
    steps[50].trace = 1.0
    assert warm_up(steps) == 9


@pytest.mark.parametrize(
    ("places", "period"),
    [
        ([10, 30, 50, 70], 20),
        ([10, 30, 51, 70, 90], 20),
        ([3, 5, 7, 8, 12, 13], None),
        ([10, 30], None),
        ([4, 40, 44, 90, 200], None),
    ],
)
def test_a_period_needs_gaps_that_are_alike(places, period):
    found = period_of(places)
    assert found == (pytest.approx(period, rel=0.03) if period else None)


def test_a_stall_without_a_look_is_still_one():
    made = Programme()
    made.planted(range(20, 120, 20), 0.1)
    made.observation.looks.clear()
    found, _ = find_stalls(made.loop.steps, attribute(made.loop.steps, [], made.loop), made.loop)
    assert found[0].who == "Python"


@pytest.mark.parametrize(("of_one_shape", "stalls"), [(True, 0), (False, 1)])
def test_a_longer_batch_is_no_stall(of_one_shape, stalls):
    made = Programme()
    for index in (7, 19, 22, 40, 41, 63, 71, 80, 97, 101, 102, 115):
        step = made.loop.steps[index]
        step.call += 0.011
        step.shape = 2 if of_one_shape else 1
        for later in made.loop.steps[index:]:
            later.end += 0.011
            later.begin += 0.011 if later is not step else 0.0
    found, stalled = find_stalls(made.loop.steps, attribute(made.loop.steps, [], made.loop), made.loop)
    assert len(found) == stalls
    assert int(stalled.sum()) == 12 * stalls


def test_the_users_code_is_known_from_others():
    assert is_users(__file__)
    assert not is_users(json.__file__)
    assert not is_users(pytest.__file__)
    assert not is_users("<string>")
    assert not is_users("/tmp/__autograph_generated_filehpnvkmew.py")
    who, place, _ = describe_stack(sys._getframe())
    assert who == "test_the_users_code_is_known_from_others"
    assert place.startswith(__file__)


def test_no_garbage_is_collected_while_the_stacks_are_read(monkeypatch):
    plain, seen = sys._current_frames, []
    monkeypatch.setattr(sys, "_current_frames", lambda: (seen.append(gc.isenabled()), plain())[1])
    assert frame_of(threading.get_ident()) is not None
    assert gc.isenabled()
    gc.disable()
    try:
        frame_of(threading.get_ident())
        assert not gc.isenabled()
    finally:
        gc.enable()
    assert seen == [False, False]


# --- real programs


FIT = """
import sys, time
import tensorflow as tf

class Saver(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch % 10 == 9:
            time.sleep(0.1)

data = tf.data.Dataset.range(10**6).map(lambda v: (tf.zeros([4]) + tf.cast(v % 3, tf.float32), tf.zeros([1]))).batch(4).prefetch(2)
model = tf.keras.Sequential([tf.keras.layers.Dense(4), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
assert sys.argv[1:] == ["--epochs", "2"], sys.argv
model.fit(data, steps_per_epoch=1000, epochs=int(sys.argv[2]), callbacks=[Saver()], verbose=0)
open("ended", "w").close()
"""

LOOP = """
import time
import tensorflow as tf

weight = tf.Variable(1.0)

@tf.function
def step(x, number):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((weight * x) ** 2)
    weight.assign_sub(1e-6 * tape.gradient(loss, weight))
    return loss

def main():
    data = tf.data.Dataset.range(10**6).map(lambda v: tf.cast(v % 3, tf.float32)).batch(8).prefetch(2)
    for number, batch in enumerate(data):
        step(batch, number // 20)

try:
    main()
finally:
    open("cleaned", "w").close()
open("ended", "w").close()
"""


def observed(folder: Path, text: str, *arguments: str, **plan):
    script = folder / "train.py"
    script.write_text(text)
    options = {
        "script": str(script),
        "arguments": list(arguments),
        "plan": {"steps": 80, "seconds": 60, "data_seconds": 0, **plan},
    }
    return run_child("cfgfix.measure.training:job", options, seconds=300)


@pytest.fixture
def folder(tf, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.acceptance
def test_fit_is_observed_as_it_is_and_stopped(folder):
    found = observed(folder, FIT, "--epochs", "2")
    assert found["loop"]["kind"] == "fit"
    assert found["stopped"]
    assert not (folder / "ended").exists()
    assert (
        found["loop"]["place"]
        == f"{folder / 'train.py'}:{1 + FIT.splitlines().index(next(line for line in FIT.splitlines() if 'model.fit' in line))}"
    )
    stall = max(found["stalls"], key=lambda one: one["share"])
    assert stall["who"] == "Saver.on_train_batch_end"
    assert stall["period"] == pytest.approx(10)
    assert stall["seconds"] >= 0.09
    assert found["shares"]["call"] > 0
    assert found["shares"]["wait"] > 0
    assert str(folder / "train.py") in found["user_files"]


@pytest.mark.acceptance
def test_a_loop_of_ones_own_is_observed_and_cleaned_up(folder):
    found = observed(folder, LOOP)
    assert found["loop"]["kind"] == "loop"
    assert (folder / "cleaned").exists()
    assert not (folder / "ended").exists()
    verdict = next(entry for entry in found["verdicts"] if entry["name"] == "retracing")
    assert verdict["outcome"] == "problem"
    assert [rule["id"] for rule in verdict["rules"]] == ["TFF001"]
    assert any("number: 0 -> 1" in line for line in verdict["evidence"])


SHAPES = """
import tensorflow as tf

weight = tf.Variable(1.0)

@tf.function(OPTIONS)
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((weight * x) ** 2)
    weight.assign_sub(1e-6 * tape.gradient(loss, weight))
    return loss

data = tf.data.Dataset.range(90).map(lambda v: tf.ones([4 + SIZE]))
for batch in data.prefetch(2):
    step(batch)
"""


@pytest.mark.acceptance
@pytest.mark.parametrize(
    ("options", "size", "name", "outcome"),
    [
        ("reduce_retracing=True", "v % 7", "retracing", "info"),
        ("", "v % 97", "retracing", "problem"),
        ("jit_compile=True", "v % 97", "XLA", "problem"),
        ("jit_compile=True, reduce_retracing=True", "v % 97", "XLA", "problem"),
        ("jit_compile=True", "0", "XLA", "info"),
        ("jit_compile=True", "v % 3", "XLA", "info"),
    ],
)
def test_shapes_are_judged_by_how_the_step_takes_them(folder, options, size, name, outcome):
    found = observed(folder, SHAPES.replace("OPTIONS", options).replace("SIZE", size))
    told = {entry["name"]: entry for entry in found["verdicts"] if entry["name"] in ("retracing", "XLA")}
    assert told[name]["outcome"] == outcome
    assert [entry["name"] for entry in told.values() if entry["outcome"] == "problem"] == (
        [name] if outcome == "problem" else []
    )
    assert bool(found["xla_functions"]) == ("jit" in options)
    if options == "reduce_retracing=True":
        assert told[name]["change"] is None


@pytest.mark.acceptance
def test_an_interrupted_run_tidies_up_and_tells_what_was_seen(folder):
    script = folder / "train.py"
    script.write_text(
        LOOP.replace("step(batch, number // 20)", "step(batch, 0); open(str(number), 'w').close()")
    )
    # Inherited from a shell that runs tests in the background, Ctrl-C would be ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    command = [sys.executable, "-m", "cfgfix", "profile", "run", "--json", "--steps", "100000", "train.py"]
    with open(folder / "out", "w+b") as out:
        process = subprocess.Popen(command, stdout=out)
        signal.signal(signal.SIGINT, before)
        while not (folder / "60").exists():
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(300) in (0, 1)
        out.seek(0)
        found = json.load(out)
    assert found["steps"] >= 50
    assert (folder / "cleaned").exists()
    assert not (folder / "ended").exists()


@pytest.mark.acceptance
def test_a_short_program_ends_by_itself(folder):
    text = LOOP.replace("10**6", "30 * 8").replace("number // 20", "0")
    found = observed(folder, text)
    assert not found["stopped"]
    assert (folder / "ended").exists()


@pytest.mark.acceptance
def test_a_program_that_fails_is_the_users_failure(folder):
    with pytest.raises(UserCodeError, match="a bug of mine") as caught:
        observed(folder, "def main():\n    raise ValueError('a bug of mine')\nmain()\n")
    assert "train.py" in caught.value.trace


def trained(tf, weight, value):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(weight * tf.cast(value, tf.float32))
    weight.assign_sub(1e-6 * tape.gradient(loss, weight))


def test_what_follows_a_training_is_no_part_of_it(tf):
    with Observation() as seen:
        for value in tf.data.Dataset.range(3):
            trained(tf, weight := tf.Variable(1.0), value)
        ended = time.perf_counter()
        tf.function(lambda: weight * 2.0)()
    (loop,) = seen.loops.values()
    assert len(loop.steps) == 3
    assert loop.steps[-1].end <= ended


def test_a_look_at_the_data_before_the_training_is_not_the_loop(tf):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    batches = tf.data.Dataset.from_tensors((tf.zeros([4, 2]), tf.zeros([4, 1]))).repeat(3)
    weight = tf.Variable(1.0)
    with Observation() as seen:
        assert len(list(batches)) == 3
        model.evaluate(batches, verbose=0)
        for x, _ in batches:
            trained(tf, weight, x)
            assert len(list(batches)) == 3
    loop = main_loop(list(seen.loops.values()))
    assert loop is not None
    assert [step.trains for step in loop.steps] == [True] * 3


def test_trainings_one_after_the_other_are_loops_of_their_own(tf):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x, y = np.zeros([12, 2], "f"), np.zeros([12, 1], "f")
    weight = tf.Variable(1.0)

    @tf.function
    def lone(value):
        trained(tf, weight, value)

    with Observation() as seen:
        model.fit(x, y, batch_size=4, epochs=2, verbose=0)
        model.fit(x, y, batch_size=2, epochs=2, verbose=0)
        for value in tf.data.Dataset.range(5):
            trained(tf, weight, value)
        for value in tf.data.Dataset.range(7):
            trained(tf, weight, value)
        for _ in range(9):
            lone(tf.constant(1.0))
    steps = [[step.trains for step in loop.steps] for loop in seen.loops.values()]
    # Where no `fit` ends, the first step shows that the second loop trains, too; a function is known once it is traced.
    assert steps == [[True] * 6, [True] * 12, [True] * 5, [True] * 6, [True] * 7]
    ends = [(loop.steps[0].begin, loop.steps[-1].end) for loop in seen.loops.values()]
    assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(ends))


def test_models_that_are_trained_one_after_the_other_are_traced_once_each(tf):
    x, y = np.zeros([40, 2], "f"), np.zeros([40, 1], "f")

    def fitted(build_each, compile_each):
        made = None
        for _ in range(5):
            if made is None or build_each:
                made = tf.keras.Sequential([tf.keras.layers.Dense(1)])
                made.compile("sgd", "mse")
            if compile_each:
                made.compile("sgd", "mse")
            made.fit(x, y, batch_size=4, epochs=1, verbose=0)

    outcomes = []
    for build_each, compile_each in ((True, False), (False, True)):
        with Observation() as seen:
            fitted(build_each, compile_each)
        found = analyse(seen, RunPlan(data_seconds=0), FREE, source="train.py")
        outcomes.append({one.outcome for one in found.verdicts if one.name == "retracing"})
    assert outcomes == [{Outcome.GOOD}, {Outcome.PROBLEM}]


def test_a_training_in_a_thread_is_observed_and_stopped(tf, capsys):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    ended = []

    def train():
        model.fit(np.zeros([4000, 2], "f"), np.zeros([4000, 1], "f"), batch_size=4, verbose=0)
        ended.append("the training")

    with watched(steps=20) as seen:
        worker = threading.Thread(target=train)
        worker.start()
        worker.join()
        for _ in range(1000):
            pass
        ended.append("what follows")
    assert seen.stopped
    assert seen.done == 20
    assert ended == []
    assert "StopObservation" not in capsys.readouterr().err


def test_a_second_dataset_of_a_step_and_a_held_out_one_are_no_training(tf):
    weight = tf.Variable(1.0)
    with Observation() as seen:
        others = iter(tf.data.Dataset.range(100))
        for _ in range(2):
            for value in tf.data.Dataset.range(4):
                trained(tf, weight, value)
                for _ in range(3):
                    trained(tf, weight, next(others))
            for value in tf.data.Dataset.range(30):
                float(weight * tf.cast(value, tf.float32))
    taken = [loop for loop in seen.loops.values() if loop.steps]
    assert [len(loop.steps) for loop in taken] == [8]
    # The held-out one is told as an evaluation, where the epoch it follows has a next one.
    (loop,) = taken
    assert [step.aside > 0 for step in loop.steps] == [False, False, False, True] + [False] * 4
    assert all(step.aside <= step.seconds for step in loop.steps)


def test_an_evaluation_of_ones_own_is_told_as_one():
    made = Programme()
    for place, seconds in ((29, 1.0), (59, 1.0), (80, 0.2)):
        step = made.loop.steps[place]
        step.starts, step.aside = seconds > 0.5, seconds
        for later in made.loop.steps[place:]:
            later.end += seconds
            later.begin += seconds if later is not step else 0
    found, problems = made.judged()
    assert problems == []
    assert found.stalls == ()
    assert found.shares["evaluation"] == pytest.approx(2.2 / 3.28, abs=0.03)
    assert any(verdict.name == "evaluation" for verdict in found.verdicts)


def evaluated(waited):
    """Return a run with two evaluations of a second, whose data took this share of them, and its problems."""
    made = Programme("fit")
    for place in (29, 59):
        made.planted([place], 1.0, "fit", PLACE)
        made.loop.steps[place].starts = True
        end = made.loop.steps[place].end
        made.observation.looks[:] = [
            replace(look, kind="evaluate") if end - 1.0 <= look.moment < end else look
            for look in made.observation.looks
        ]
    loop = Loop("evaluate", PLACE, waited=2 * waited, ran=0.2, turns=20, spent=2.0)
    made.observation.loops["evaluate", PLACE] = loop
    return made.judged()


def test_what_an_evaluation_waits_for_is_told():
    found, problems = evaluated(0.8)
    assert problems == []
    (verdict,) = (one for one in found.verdicts if one.name == "evaluation")
    assert verdict.evidence == ("80% of it waits for data",)
    cause = Verdict("stage", Outcome.PROBLEM, "the slowest stage is Map(read)", change="num_parallel_calls")
    seen = replace(found, evaluation=Evaluation(0.8, data={"verdicts": [cause.as_dict()]}))
    (verdict,) = _evaluation_verdicts(seen)
    assert verdict.outcome is Outcome.PROBLEM
    assert "most of it waiting for its data: the slowest stage is Map(read)" in verdict.summary
    assert verdict.change == "num_parallel_calls"
    share = found.shares["evaluation"]
    assert verdict.worth == pytest.approx(1 / (1 - 0.8 * share))
    (verdict,) = _evaluation_verdicts(replace(seen, evaluation=Evaluation(0.1, data=seen.evaluation.data)))
    assert verdict.outcome is Outcome.INFO


REPLAY = """
import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(4), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
for _ in range(1000):
    rows = np.zeros([8, 4], "float32")
    seen = model.predict(rows, verbose=0)
    model.fit(rows, seen, verbose=0)
"""


@pytest.mark.acceptance
def test_fit_and_predict_in_every_step_are_told(folder):
    found = observed(folder, REPLAY, steps=30, data_seconds=2)
    problems = {one["name"]: one for one in found["verdicts"] if one["outcome"] == "problem"}
    assert set(problems) == {"predict", "fit"}
    assert [rule["id"] for rule in problems["predict"]["rules"]] == ["TFF022"]
    assert "calls a step" in problems["predict"]["summary"]
    assert "train_on_batch" in problems["fit"]["change"]
    assert found["data"] is None
    assert not any(one["name"] in ("input", "evaluation", "epoch start") for one in found["verdicts"])


def test_an_iterator_lives_no_longer_than_the_program_keeps_it(tf):
    with Observation() as seen:
        for _ in range(3):
            for _ in tf.data.Dataset.range(3):
                pass
        gc.collect()
        assert len(seen._iterators) <= 1
        assert len(seen._homes) == len(seen._iterators)
    assert next(iter(seen.loops.values())).epochs == 3


def test_starts_of_epochs_that_nothing_explains_are_told():
    made = Programme("loop")
    for place in range(9, 120, 10):
        step = made.loop.steps[place]
        step.starts = True
        step.wait += 0.05
        for later in made.loop.steps[place:]:
            later.end += 0.05
            later.begin += 0.05 if later is not step else 0
    found, problems = made.judged()
    assert problems == []
    (verdict,) = (one for one in found.verdicts if one.name == "epoch start")
    assert f"starts of epochs take {found.shares['epochs']:.1%} of the run" in verdict.summary


def test_keras_work_for_a_single_batch_is_not_the_users_line():
    made = Programme().planted(
        range(120), 0.003, "main", PLACE, what="keras.src.trainer.Trainer.train_on_batch"
    )
    found, problems = made.judged()
    assert problems == []
    assert found.parts[0].by_keras


def test_what_is_wrong_with_batches_is_told_where_nothing_waits_for_them(tf):
    weight = tf.Variable(1.0)

    def noisy(value, label):
        return tf.cast(value, tf.float32) + tf.random.uniform([]), label

    data = tf.data.Dataset.from_tensor_slices((np.arange(400), np.repeat(np.arange(10), 40)))
    with Observation() as seen:
        for value, _ in data.map(noisy).cache().batch(8).prefetch(2):
            trained(tf, weight, value)
    found = analyse(seen, RunPlan(), FREE, source="train.py")
    told = {verdict.name: verdict.outcome for verdict in found.verdicts}
    assert told["order"] is told["repeats"] is Outcome.PROBLEM


def test_a_loop_of_single_batches_is_seen(tf):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    with watched(steps=6) as seen:
        for _ in range(10):
            model.train_on_batch(np.zeros([4, 2], "f"), np.zeros([4, 1], "f"))
    (loop,) = seen.loops.values()
    assert [(step.trains, step.samples, step.calls) for step in loop.steps] == [(True, 4, 1)] * 6
    assert loop.lone
    with Observation() as seen:
        for x, y in tf.data.Dataset.from_tensors((tf.zeros([4, 2]), tf.zeros([4, 1]))).repeat(3):
            model.train_on_batch(x, y)
    (loop,) = seen.loops.values()
    assert len(loop.steps) == 3
    assert not loop.lone


def test_a_strategy_that_traces_in_other_threads_takes_gradients(tf):
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    with strategy.scope():
        weight = tf.Variable(1.0)

    @tf.function
    def step(value):
        strategy.run(lambda given: trained(tf, weight, given), args=(value,))

    with watched(steps=3) as seen:
        for value in tf.data.Dataset.range(20):
            step(value)
    assert seen.done == 3


@pytest.mark.parametrize("compiled", [False, True])
def test_batches_of_a_distributed_dataset_are_steps(tf, compiled):
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    data = tf.data.Dataset.range(24).batch(4)
    with strategy.scope():
        weight = tf.Variable(1.0)

    @tf.function
    def step(given):
        value = next(given) if compiled else given
        strategy.run(lambda part: trained(tf, weight, part), args=(value,))

    shared = strategy.experimental_distribute_dataset(data)
    with Observation() as seen:
        for _ in range(2):
            batches = iter(shared)
            for _ in range(6) if compiled else batches:
                step(batches if compiled else _)
    (loop,) = seen.loops.values()
    assert loop.dataset is data
    assert loop.epochs == 2
    assert [(step.trains, step.samples) for step in loop.steps] == [(True, 4)] * 12
    assert all(step.wait > 0 for step in loop.steps)


TWO_REPLICAS = """
import time
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])

def slowly(x):
    time.sleep(0.04)
    return x

def read(x):
    return tf.ensure_shape(tf.numpy_function(slowly, [x], tf.float32), [12, 3]), tf.zeros([12, 1])

with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
data = tf.data.Dataset.from_tensors(tf.ones([12, 3])).repeat().map(read).prefetch(2)
model.fit(data, steps_per_epoch=80, verbose=0)
"""


SLOW_VALIDATION = """
import time
import tensorflow as tf

def read(value):
    time.sleep(0.01)
    return value

data = tf.data.Dataset.from_tensor_slices((tf.ones([640, 4]), tf.ones([640, 1]))).batch(16).prefetch(2)
held = tf.data.Dataset.range(64).map(lambda v: tf.ensure_shape(tf.numpy_function(read, [v], tf.int64), []))
held = held.map(lambda v: (tf.zeros([4]), tf.zeros([1]))).batch(16)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(data, validation_data=held, epochs=9, verbose=0)
"""


@pytest.mark.acceptance
def test_the_cause_of_a_slow_validation_is_told(folder):
    found = observed(folder, SLOW_VALIDATION, steps=160, data_seconds=2)
    (verdict,) = (entry for entry in found["verdicts"] if entry["name"] == "evaluation")
    assert verdict["outcome"] == "problem"
    assert "Map(" in verdict["summary"]
    assert found["evaluation"]["wait_share"] > 0.5
    assert found["shares"]["evaluation"] > 0.5


@pytest.mark.acceptance
def test_a_strategy_of_two_replicas_waits_for_its_dataset(folder):
    found = observed(folder, TWO_REPLICAS, data_seconds=2)
    (verdict,) = (entry for entry in found["verdicts"] if entry["name"] == "input")
    assert verdict["outcome"] == "problem"
    assert "Map(read)" in verdict["summary"]
    assert found["shares"]["wait"] > 0.5
    assert found["samples_per_second"] < 12 / 0.04


def test_nothing_is_left_replaced(tf):
    kind, model = type(tf.function(lambda: None)), tf.keras.Model
    iterator = type(iter(tf.data.Dataset.range(1)))
    before = kind.__call__, model.fit, iterator._next_internal, tf.GradientTape.gradient
    seen = Observation(steps=1)

    def train():
        for _ in tf.data.Dataset.range(10):
            with tf.GradientTape() as tape:
                value = tf.Variable(1.0) * 2.0
            tape.gradient(value, [])

    with pytest.raises(StopObservation), seen:
        train()
    assert seen.stopped
    assert before == (kind.__call__, model.fit, iterator._next_internal, tf.GradientTape.gradient)


@pytest.mark.acceptance
def test_the_command_takes_a_script_with_its_arguments(folder):
    (folder / "train.py").write_text(FIT)
    command = [sys.executable, "-m", "cfgfix", "profile", "run", "--json", "-q", "--steps", "60", "--no-data"]
    done = subprocess.run(
        [*command, "train.py", "--epochs", "2"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    form = json.loads(done.stdout)
    assert form["source"] == "train.py --epochs 2"
    assert form["verdicts"][0]["name"] == "stall"
    missing = subprocess.run([*command, "nothing.py"], capture_output=True, text=True, check=False)
    assert missing.returncode == 2
    assert "there is no file nothing.py" in missing.stderr


WITHIN = """
import time
import tensorflow as tf
import cfgfix

weight = tf.Variable(1.0)

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((weight * x) ** 2)
    weight.assign_sub(1e-6 * tape.gradient(loss, weight))

def report():
    time.sleep(0.05)

with cfgfix.profile(path="found.json") as session:
    for number, batch in enumerate(tf.data.Dataset.range(60).map(lambda v: tf.cast(v, tf.float32)).prefetch(2)):
        step(batch)
        if number % 10 == 9:
            report()
assert session.found["kind"] == "run"
print("went on")
"""


@pytest.mark.acceptance
def test_a_part_of_a_program_is_profiled_from_within(folder):
    (folder / "train.py").write_text(WITHIN)
    done = subprocess.run([sys.executable, "train.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "went on" in done.stdout
    assert "report (train.py:" in done.stderr
    found = json.loads((folder / "found.json").read_text())
    assert found["stalls"][0]["who"] == "report"
    assert found["stopped"] is False


def test_a_part_without_a_training_says_so_and_does_not_fail(folder, capsys):
    import cfgfix

    with cfgfix.profile() as session:
        pass
    assert session.found is None
    assert "0 training steps ran" in capsys.readouterr().err


def test_what_is_installed_is_not_looked_up_for_repairs(tmp_path):
    from cfgfix.measure.verdicts import look_up_fixes

    package = tmp_path / "lib" / "site-packages" / "trainer"
    package.mkdir(parents=True)
    (package / "fit.py").write_text("import tensorflow as tf\ntf.Session()\n")
    made = tmp_path / "__autograph_generated_fileab12.py"
    made.write_text("import tensorflow as tf\ntf.Session()\n")
    lookup = look_up_fixes(str(package / "fit.py"), str(made), os.__file__)
    assert lookup.paths == ()
    assert not lookup.found
