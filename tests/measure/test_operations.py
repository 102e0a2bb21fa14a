"""What the operations and the layers of a step take."""

from __future__ import annotations

import pytest

from cfgfix.measure.operations import Operation, by_layer, layer_names, read_rows, trace_operations

LABELS = ["Host/device", "Operation Type", "Operation Name", "Total self-time (us)"]


def table(*rows):
    return [
        {
            "cols": [{"label": label} for label in LABELS],
            "rows": [{"c": [{"v": v} for v in row]} for row in rows],
        }
    ]


def test_times_are_those_of_a_step_and_shares_those_of_the_operations():
    rows = read_rows(
        table(
            ("Host", "IDLE", "IDLE", 1e6),
            ("Host", "_MklMatMul", "dense/MatMul", 30000.0),
            ("Host", "Relu", "dense/Relu", 10000.0),
            ("Host", "NoOp", "NoOp", 0.0),
        ),
        10,
    )
    assert [row.kind for row in rows] == ["MatMul", "Relu"]
    assert rows[0].seconds == pytest.approx(0.003)
    assert rows[0].share == pytest.approx(0.75)


def test_what_a_device_ran_counts_instead_of_the_host():
    rows = read_rows(table(("Host", "MatMul", "a/MatMul", 5.0), ("Device", "MatMul", "b/MatMul", 1.0)), 1)
    assert [row.name for row in rows] == ["b/MatMul"]


def operations(**times):
    return [Operation("Op", name.replace("__", "/"), seconds, 0.0) for name, seconds in times.items()]


def test_operations_belong_to_the_deepest_layer_of_their_name():
    found = by_layer(
        operations(
            net__dense_1__MatMul=1.0,
            gradient_tape__net__dense_1__MatMul__MatMul_1=2.0,
            StatefulPartitionedCall__net__dense_1_2__MatMul=0.5,
            net__Reshape=0.25,
            adam__mul_1=0.25,
            Cast=0.0625,
        ),
        {"net", "dense_1"},
    )
    by_name = {entry.name: entry for entry in found}
    assert (by_name["net/dense_1"].forward, by_name["net/dense_1"].backward) == (1.0, 2.0)
    assert by_name["net/dense_1_2"].forward == 0.5
    assert by_name["net"].layer
    assert not by_name["adam"].layer
    assert by_name["outside of all layers"].forward == 0.0625
    assert found[0].share == pytest.approx(3 / 4.0625)
    assert sum(entry.share for entry in found) == pytest.approx(1)


def test_the_heavy_layer_of_a_real_step_stands_first(tf):
    pytest.importorskip("xprof", reason="needs the xprof package")
    heavy = tf.keras.layers.Dense(1500, name="heavy_one")
    light = tf.keras.layers.Dense(4, name="light_one")
    x = tf.ones([400, 1500])

    @tf.function
    def step():
        return tf.reduce_sum(light(heavy(x)))

    step()
    found = trace_operations(step, steps=3)
    assert found.missing is None
    assert found.layers[0].name in ("heavy_one", "heavy_one_1")
    assert found.layers[0].share > 0.5
    assert found.operations[0].kind.endswith("MatMul")
    assert {"heavy_one", "light_one"} <= layer_names()
