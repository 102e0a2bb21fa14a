"""Pipelines whose cause is planted and known, and healthy ones. Each function returns a `tf.data.Dataset`."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import tensorflow as tf

MANY = 10**6
Made = Any


def waiting(milliseconds: float) -> Any:
    """Return a function of one element that waits in Python, as reading from a slow store does."""

    def wait(value: Any) -> Any:
        time.sleep(milliseconds / 1e3)
        return value

    def fetch(value: Any) -> Any:
        return tf.ensure_shape(tf.numpy_function(wait, [value], tf.int64), [])

    return fetch


def computing(milliseconds: float) -> Any:
    """Return a function of one element that computes in Python, with the interpreter lock held."""

    def spin(value: Any) -> Any:
        end = time.thread_time() + milliseconds / 1e3
        while time.thread_time() < end:
            pass
        return value

    def transform(value: Any) -> Any:
        return tf.ensure_shape(tf.numpy_function(spin, [value], tf.int64), [])

    return transform


def multiplying(rounds: int) -> Any:
    """Return a function of one element that computes in TensorFlow operations."""

    def multiply(value: Any) -> Any:
        start = tf.fill([64, 64], tf.cast(value % 7, tf.float32) * 1e-3)
        return tf.while_loop(
            lambda turn, _: turn < rounds, lambda turn, made: (turn + 1, tf.matmul(made, made)), (0, start)
        )[1]

    return multiply


def features(size: int = 64) -> Any:
    """Return a function of one element that gives a small tensor."""

    def make(value: Any) -> Any:
        return tf.cast(value, tf.float32) + tf.zeros([size])

    return make


def count() -> Made:
    return tf.data.Dataset.range(MANY)


def records(*counts: int) -> Made:
    """Return the records of files with so many each, read four at once, each after a wait."""
    import os
    import tempfile

    folder = tempfile.mkdtemp()
    names = []
    for place, number in enumerate(counts):
        names.append(os.path.join(folder, f"part-{place}.tfrecord"))
        with tf.io.TFRecordWriter(names[-1]) as writer:
            for row in range(number):
                writer.write(str(row).encode() + b" " * 200)
    files = tf.data.Dataset.from_tensor_slices(names)
    return files.interleave(tf.data.TFRecordDataset, cycle_length=4, num_parallel_calls=4)


def numbered(record: Any) -> Any:
    return tf.strings.to_number(tf.strings.strip(record), tf.int64)


# --- healthy


def even_shards() -> Made:
    return records(300, 310, 290, 300).map(numbered).map(features()).batch(8).prefetch(4)


def in_memory() -> Made:
    return tf.data.Dataset.from_tensor_slices(np.zeros([512, 32], np.float32)).batch(32).repeat().prefetch(2)


def cached() -> Made:
    return (
        tf.data.Dataset.range(128)
        .map(waiting(4))
        .cache()
        .shuffle(128)
        .batch(8)
        .repeat()
        .prefetch(tf.data.AUTOTUNE)
    )


def cached_finite() -> Made:
    return tf.data.Dataset.range(160).map(waiting(2)).map(features()).cache().batch(8).prefetch(2)


def parallel_wait() -> Made:
    return (
        count()
        .map(waiting(8), num_parallel_calls=16, use_unbounded_threadpool=True)
        .batch(4)
        .prefetch(tf.data.AUTOTUNE)
    )


def light_map() -> Made:
    return count().map(features(), num_parallel_calls=tf.data.AUTOTUNE).batch(32).prefetch(tf.data.AUTOTUNE)


def light_map_sequential() -> Made:
    return count().map(features()).batch(16).prefetch(2)


def small_shuffle() -> Made:
    return count().shuffle(1000).map(features()).batch(16).prefetch(2)


def without_prefetch() -> Made:
    return count().map(features()).batch(4)


def one_wait_per_batch() -> Made:
    return count().batch(8).map(lambda batch: (batch, waiting(5)(batch[0]))).prefetch(2)


def interleaved() -> Made:
    return (
        tf.data.Dataset.range(64)
        .interleave(
            lambda place: tf.data.Dataset.range(100).map(lambda value: value + place),
            cycle_length=4,
            num_parallel_calls=4,
        )
        .repeat()
        .batch(16)
        .prefetch(2)
    )


def uneven_but_bridged() -> Made:
    """A batch in ten takes 25 ms, and ten are kept ready."""

    def stall(value: Any) -> Any:
        time.sleep(0.025 if value % 10 == 0 else 0.001)
        return value

    return (
        count()
        .map(lambda value: tf.ensure_shape(tf.numpy_function(stall, [value], tf.int64), []))
        .prefetch(10)
    )


def computing_enough() -> Made:
    return count().map(multiplying(20), num_parallel_calls=2).batch(4).prefetch(4)


# --- faults: the cause and its time per batch are in run.py


def uneven_shards() -> Made:
    return records(100, 90, 110, 900).map(numbered).map(waiting(4)).map(features()).batch(4).prefetch(4)


def sequential_wait() -> Made:
    return count().map(waiting(5)).batch(4).prefetch(2)


def before_full_shuffle() -> Made:
    return tf.data.Dataset.range(200).map(waiting(4)).shuffle(200).batch(4).prefetch(2)


def before_full_shuffle_repeated() -> Made:
    return tf.data.Dataset.range(80).map(waiting(4)).shuffle(80).repeat().batch(4).prefetch(2)


def pool_too_small() -> Made:
    options = tf.data.Options()
    options.threading.private_threadpool_size = 2
    return count().map(waiting(10), num_parallel_calls=16).batch(4).prefetch(2).with_options(options)


def default_pool() -> Made:
    return count().map(waiting(10), num_parallel_calls=32).batch(8).prefetch(2)


def two_maps_share_a_pool() -> Made:
    options = tf.data.Options()
    options.threading.private_threadpool_size = 2
    return (
        count()
        .map(waiting(6), num_parallel_calls=8)
        .map(waiting(4), num_parallel_calls=8)
        .batch(4)
        .prefetch(2)
        .with_options(options)
    )


def python_holds_the_lock() -> Made:
    return count().map(computing(4), num_parallel_calls=4).batch(4).prefetch(2)


def generator_by_rows() -> Made:
    def rows() -> Any:
        for value in range(MANY):
            time.sleep(0.003)
            yield value

    return (
        tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec([], tf.int64))
        .batch(8)
        .prefetch(2)
    )


def sequential_compute() -> Made:
    return count().map(multiplying(1500)).batch(4).prefetch(2)


def sequential_interleave() -> Made:
    return (
        tf.data.Dataset.range(64)
        .interleave(lambda _: tf.data.Dataset.range(100).map(waiting(4)), cycle_length=4)
        .repeat()
        .batch(4)
        .prefetch(2)
    )


def map_after_cache() -> Made:
    return (
        tf.data.Dataset.range(64)
        .map(features())
        .cache()
        .map(lambda row: (row, waiting(5)(tf.cast(row[0], tf.int64))))
        .batch(4)
        .repeat()
        .prefetch(2)
    )


def nothing_ahead() -> Made:
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    return count().map(waiting(3)).batch(4).with_options(options)


def three_in_a_row() -> Made:
    return count().map(waiting(2)).map(waiting(3)).map(waiting(2)).batch(2).prefetch(2)


def stall_every_20() -> Made:
    def stall(value: Any) -> Any:
        time.sleep(0.2 if value % 20 == 19 else 0.002)
        return value

    return (
        count()
        .map(lambda value: tf.ensure_shape(tf.numpy_function(stall, [value], tf.int64), []))
        .prefetch(1)
    )


def epochs_refill() -> Made:
    return tf.data.Dataset.range(120).map(waiting(3)).shuffle(120).batch(4).prefetch(1)


def sorted_classes() -> Made:
    """Ten classes, one after the other, behind a shuffle that is much smaller than a class."""
    return (
        tf.data.Dataset.range(20_000)
        .map(lambda value: (tf.zeros([8]), value // 2000))
        .shuffle(100)
        .repeat()
        .batch(16)
        .shuffle(600)
        .prefetch(2)
    )


def augmented_before_cache() -> Made:
    def augment(value: Any) -> Any:
        return tf.cast(value, tf.float32) + tf.random.uniform([16])

    return tf.data.Dataset.range(256).map(augment).cache().shuffle(256).batch(8).repeat().prefetch(2)


def noisy_labels() -> Made:
    """Healthy: ten classes in a random order."""
    labels = np.random.default_rng(0).integers(0, 10, 4096)
    return (
        tf.data.Dataset.from_tensor_slices((np.zeros([4096, 8], np.float32), labels))
        .batch(16)
        .repeat()
        .prefetch(2)
    )
