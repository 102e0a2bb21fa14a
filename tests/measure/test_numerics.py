"""Where a training first computes what is no number."""

from __future__ import annotations

import numpy as np
import pytest

from cfgfix.measure.batches import scalars_of
from cfgfix.measure.numerics import (
    MARK,
    Kept,
    NotFinite,
    broken_weights,
    find_not_finite,
    guarded,
    judge_numbers,
    place_in,
    read_scalars,
    with_origin,
)
from cfgfix.measure.verdicts import Outcome

NAN = float("nan")


def kept(*values, name="loss"):
    return [Kept(place + 1, name, value, "loss" in name) for place, value in enumerate(values)]


@pytest.mark.parametrize(
    ("returned", "weights", "found"),
    [
        (kept(1.0, 0.5, NAN, NAN), (), NotFinite("`loss`", "nan", 3)),
        (kept(1.0, -np.inf, NAN), (), NotFinite("`loss`", "-inf", 2)),
        (kept(1.0, NAN, 0.5), (), None),
        (kept(1.0, 0.5), (), None),
        (kept(NAN, NAN, name="share"), (), None),
        (kept(1.0, NAN, NAN, name="norm"), ("dense/kernel",), NotFinite("`norm`", "nan", 2)),
        ([], ("dense/kernel",), NotFinite("the weight dense/kernel", "nan", None)),
        ([], (), None),
    ],
)
def test_a_loss_that_stays_no_number_is_told(returned, weights, found):
    assert find_not_finite(returned, weights) == found


def test_scalars_are_read_by_name(tf):
    outputs = {"loss": tf.constant(2.0), "logits": tf.zeros([3]), "count": tf.constant(1)}
    wrapped = tf.experimental.Optional.from_value({"loss": tf.constant(NAN)})
    nothing = tf.experimental.Optional.empty({"loss": tf.TensorSpec([], tf.float32)})
    found = read_scalars([(1, scalars_of(outputs)), (2, wrapped), (3, nothing)])
    assert [(one.step, one.name) for one in found] == [(1, "loss"), (2, "loss")]
    assert np.isnan(found[1].value)
    assert list(scalars_of((tf.constant(1.0), tf.constant(2.0)))) == ["loss", "output 1"]
    assert scalars_of(None) == {}


def test_weights_that_are_none_are_named(tf):
    good, bad = tf.Variable([1.0]), tf.Variable([1.0, NAN], name="bad")
    assert broken_weights([good, bad, tf.Variable(3)]) == ["bad"]


def failing(tf, compute, x):
    """Return the place that a check names when a step runs on `x`."""

    @tf.function(jit_compile=True)
    def step(x):
        with tf.GradientTape() as tape:
            loss = compute(x, variable)
        return tape.gradient(loss, [other, variable])

    variable, other = tf.Variable(1.0, name="scale"), tf.Variable(1.0, name="other")
    with guarded():
        try:
            step(x)
        except tf.errors.InvalidArgumentError as error:
            return place_in(str(error))
    return None


def test_the_first_layer_that_gives_none_is_named(tf):
    class Log(tf.keras.layers.Layer):
        def call(self, x):
            return tf.math.log(x)

    first, second = Log(name="first"), Log(name="second")

    def compute(x, weight):
        return tf.reduce_sum(second(first(x) * weight))

    place = failing(tf, compute, tf.constant([0.5]))
    assert place == {"kind": "layer", "name": "second", "class": "Log"}
    assert failing(tf, compute, tf.constant([-1.0]))["name"] == "first"
    assert failing(tf, compute, tf.constant([5.0])) is None


def test_the_loss_and_the_gradient_are_told_apart(tf):
    place = failing(tf, lambda x, weight: tf.math.log(x * weight), tf.constant(0.0))
    assert place["kind"] == "loss"
    place = failing(tf, lambda x, weight: tf.math.sqrt(x * weight), tf.constant(0.0))
    assert place == {"kind": "gradient", "name": "scale"}


def test_what_was_replaced_is_put_back(tf):
    before = (tf.keras.layers.Layer.__call__, tf.GradientTape.gradient, tf.keras.Model.compile)
    with guarded():
        assert tf.keras.layers.Layer.__call__ is not before[0]
    assert (tf.keras.layers.Layer.__call__, tf.GradientTape.gradient, tf.keras.Model.compile) == before


def test_another_error_names_no_place():
    assert place_in("Incompatible shapes") is None
    assert place_in(f"assertion failed: [{MARK}%7B%22kind%22%3A%20%22loss%22%7D]") == {"kind": "loss"}


def test_the_second_run_is_told_beside_the_first():
    found = NotFinite("`loss`", "nan", 7)
    (verdict,) = judge_numbers(found)
    assert verdict.outcome is Outcome.PROBLEM
    assert "step 7" in verdict.summary
    assert "cfgfix profile run" in (verdict.change or "")
    origin = {"place": {"kind": "layer", "name": "dense_3", "class": "Dense"}, "why": None, "step": 6}
    data = {"not_finite": found.as_dict(), "verdicts": [verdict.as_dict(), {"name": "input"}]}
    told = with_origin(data, origin)
    assert [entry["name"] for entry in told["verdicts"]] == ["numbers", "input"]
    assert "dense_3 (Dense)" in told["verdicts"][0]["evidence"][0]
    none = with_origin(data, {"place": None, "why": "all were numbers", "step": 9})
    assert none["verdicts"][0]["evidence"] == ["all were numbers"]
    assert list(judge_numbers(None)) == []
