"""Whether a prefetch after the tf.data service gains anything."""

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf
from harness import compare, drain

service = tf.data.experimental.service
dispatcher = service.DispatchServer()
worker = service.WorkerServer(
    service.WorkerConfig(dispatcher_address=dispatcher.target.split("://")[1], heartbeat_interval_ms=100)
)


def work(number: np.ndarray) -> np.ndarray:
    time.sleep(0.004)
    return number


def run(buffer: int | None, *, injected: bool = True) -> float:
    dataset = tf.data.Dataset.range(200).map(lambda x: tf.numpy_function(work, [x], tf.int64))
    dataset = dataset.apply(
        service.distribute(processing_mode="distributed_epoch", service=dispatcher.target)
    )
    if buffer is not None:
        dataset = dataset.prefetch(buffer)
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = injected
    return drain(dataset.with_options(options), 0.005)


compare(
    "after service.distribute: producer 4 ms, step of 5 ms, 200 steps",
    {
        "no prefetch at all": lambda: run(None, injected=False),
        "none written": lambda: run(None),
        "prefetch(2)": lambda: run(2),
        "prefetch(AUTOTUNE)": lambda: run(tf.data.AUTOTUNE),
    },
    rounds=3,
    waits=True,
)
