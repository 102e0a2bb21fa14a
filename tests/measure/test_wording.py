"""Counts, ratios, names and causes read as sentences."""

from __future__ import annotations

import pytest

from cfgfix.core.wording import callable_name, cause_line, cause_of, counted, times_as_fast


def test_one_is_singular():
    assert counted(1, "retrace") == "1 retrace"
    assert counted(0, "retrace") == "0 retraces"
    assert counted(1, "batch", "batches") == "1 batch"
    assert counted(3, "batch", "batches") == "3 batches"


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (1.0, "as fast"),
        (1.001, "as fast"),
        (0.999, "as fast"),
        (1.4, "1.40 times as fast"),
        (0.02, "50 times as slow"),
        (0.5, "2.00 times as slow"),
        (31.2, "31.2 times as fast"),
        (0.0, "at no speed at all"),
    ],
)
def test_a_ratio_below_one_is_told_as_slower(ratio, words):
    assert times_as_fast(ratio) == words


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("classabc.ABCMeta", None),
        ("classfunctools.partial", None),
        ("class__main__.Parser", "Parser"),
        ("classproject.data.Parser", "Parser"),
        ("Parser.read", "Parser.read"),
        ("classify", "classify"),
        ("lambda", "lambda"),
    ],
)
def test_a_class_is_named_by_its_name(name, shown):
    assert callable_name(name) == shown


USER_CODE = """in user code:

    File "/home/me/train.py", line 12, in step  *
        raise ValueError("no rate")

    ValueError: no rate
"""
NESTED = """Exception encountered when calling Scale.call().

\x1b[1min user code:

    File "/home/me/train.py", line 12, in call  *
        return x.scale()

    AttributeError: 'SymbolicTensor' object has no attribute 'scale'
\x1b[0m

Arguments received by Scale.call():
  • x=tf.Tensor(shape=(1,), dtype=float32)
"""


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (USER_CODE, "ValueError: no rate"),
        (NESTED, "AttributeError: 'SymbolicTensor' object has no attribute 'scale'"),
        ("{{function_node __wrapped__X}} bad shape [Op:X]\nmore", "bad shape [Op:X]"),
        ("plain\nsecond", "plain"),
        ("in user code:", "in user code:"),
        ("", ""),
    ],
)
def test_the_cause_is_the_innermost_line(text, cause):
    assert cause_of(text) == cause


def test_the_kind_of_an_error_is_told_once():
    assert cause_line(ValueError(USER_CODE)) == "ValueError: no rate"
    assert cause_line(ValueError("no rate")) == "ValueError: no rate"
    assert cause_line(KeyError()) == "KeyError"


def test_what_tensorflow_raises_is_told_by_its_last_line():
    tf = pytest.importorskip("tensorflow")

    @tf.function
    def step(x):
        if x.shape[0] == 2:
            raise RuntimeError("batches of two are not for this step")
        return x

    with pytest.raises(RuntimeError) as raised:
        step(tf.zeros((2,)))
    assert cause_line(raised.value) == "RuntimeError: batches of two are not for this step"


def test_a_class_that_reads_files_is_no_name_of_a_function(tmp_path):
    tf = pytest.importorskip("tensorflow")
    from cfgfix.measure.dataset_graph import read_graph

    (tmp_path / "a").write_text("x\n")
    files = tf.data.Dataset.from_tensor_slices([str(tmp_path / "a")])
    node = read_graph(files.interleave(tf.data.TextLineDataset, num_parallel_calls=2))
    assert node is not None
    assert (node.operation, node.function) == ("ParallelInterleave", None)
