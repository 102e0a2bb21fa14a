"""Whether the files that are read at once are of like size."""

from __future__ import annotations

import pytest

from cfgfix.measure.dataset_graph import read_graph
from cfgfix.measure.shards import find_shards, judge_shards, read_alone
from cfgfix.measure.verdicts import Outcome


@pytest.mark.parametrize(
    ("sizes", "at_once", "alone"),
    [
        ([10, 10, 10, 10], 4, 0.0),
        ([10, 10, 10, 50], 4, 0.5),
        # Two at once: 10 and 10, then 10 and 50, of which 40 are left alone.
        ([10, 10, 10, 50], 2, 0.5),
        # With the largest first the others come beside it.
        ([50, 10, 10, 10], 2, 0.25),
        ([50, 25, 25], 2, 0.0),
        ([80], 4, 0.0),
        ([10, 70], 1, 0.0),
        ([], 4, 0.0),
    ],
)
def test_what_comes_from_the_last_file_alone(sizes, at_once, alone):
    assert read_alone(sizes, at_once) == pytest.approx(alone)


def written(tf, folder, counts):
    names = []
    for place, count in enumerate(counts):
        names.append(str(folder / f"part-{place}.tfrecord"))
        with tf.io.TFRecordWriter(names[-1]) as writer:
            for _ in range(count):
                writer.write(b"x" * 100)
    return names


def test_files_of_uneven_size_are_told(tf, tmp_path):
    names = written(tf, tmp_path, [10, 10, 10, 90])
    data = tf.data.Dataset.from_tensor_slices(names).interleave(tf.data.TFRecordDataset, cycle_length=4)
    found = find_shards(read_graph(data), names, 2)
    assert (found.files, found.at_once) == (4, 4)
    assert found.largest == names[3]
    assert found.alone == pytest.approx(80 / 120, abs=0.01)
    (verdict,) = judge_shards(found, keeps_up=False)
    assert verdict.outcome is Outcome.PROBLEM
    assert "part-3.tfrecord" in verdict.summary
    (verdict,) = judge_shards(found, keeps_up=True)
    assert verdict.outcome is Outcome.INFO


def test_files_of_like_size_and_other_pipelines_are_left_alone(tf, tmp_path):
    names = written(tf, tmp_path, [10, 11, 9, 10])
    files = tf.data.Dataset.from_tensor_slices(names)
    even = find_shards(
        read_graph(files.interleave(tf.data.TFRecordDataset, cycle_length=4, num_parallel_calls=2)), names, 2
    )
    assert even.at_once == 4
    assert list(judge_shards(even, keeps_up=False)) == []
    assert find_shards(read_graph(tf.data.TFRecordDataset(names)), names, 2) is None
    assert find_shards(None, names, 2) is None
    assert list(judge_shards(None, keeps_up=False)) == []
