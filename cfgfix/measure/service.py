"""The same dataset through TensorFlow's own distributed input engine: a tf.data service with its workers on loopback."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from cfgfix.measure.dataset_graph import read_graph, walk
from cfgfix.measure.sampling import Progress, UserCodeError, iterate, silent, user_code
from cfgfix.measure.statistics import summarise
from cfgfix.rules.catalogue import builtin
from cfgfix.rules.faults import Fault

_WORKER = """
import sys
import tensorflow as tf
service = tf.data.experimental.service
server = service.WorkerServer(service.WorkerConfig(dispatcher_address=sys.argv[1], worker_address="localhost:%port%", heartbeat_interval_ms=100))
print("up", flush=True)
sys.stdin.read()
"""


def measure_service(
    make: Callable[[], Any], *, workers: int, batches: int, seconds: float, progress: Progress = silent
) -> dict[str, Any]:
    """Measure a dataset through a dispatcher and workers on this machine.

    Returns the figures. The workers end when this process does: they read from a pipe that closes then.

    Raises:
        UserCodeError: A worker did not start, or the dataset failed.
    """
    import tensorflow as tf

    engine = tf.data.experimental.service
    dataset = make()
    python = sorted({node.function or node.operation for node in walk(read_graph(dataset)) if node.python})
    if python:
        names = ", ".join(python)
        about = ", ".join(f"{rule.id} {rule.name}" for rule in builtin().explaining(Fault.PYTHON_ON_SERVICE))
        return {
            "workers": 0,
            "skipped": f"{names} runs Python, which exists only in this process ({about})",
        }
    progress("starting the tf.data service", 0.0)
    dispatcher = engine.DispatchServer()
    address = dispatcher.target.split("://")[1]
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    processes = []
    try:
        for _ in range(workers):
            processes.append(
                subprocess.Popen(  # noqa: S603 - this interpreter, with fixed code
                    [sys.executable, "-c", _WORKER, address],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env=environment,
                )
            )
        for process in processes:
            assert process.stdout is not None
            if process.stdout.readline().strip() != b"up":
                raise UserCodeError("a worker of the tf.data service did not start")
        with user_code("handing the dataset to the tf.data service"):
            remote = (
                dataset.repeat()
                .apply(
                    engine.distribute(
                        processing_mode=engine.ShardingPolicy.DYNAMIC, service=dispatcher.target
                    )
                )
                .prefetch(tf.data.AUTOTUNE)
            )
        alone = iterate(
            dataset.repeat(), batches=batches, seconds=seconds, progress=progress, what="without a service"
        )
        here = alone.after(alone.steadiness().start).periods
        line = iterate(
            remote,
            batches=batches,
            seconds=seconds,
            progress=progress,
            what=f"through a tf.data service with {workers} workers",
        )
        rest = line.after(line.steadiness().start)
        periods = rest.periods
        return {
            "workers": workers,
            "alone_batches_per_second": here.size / float(here.sum()),
            "first_element": line.first,
            "batch_seconds": summarise(periods).as_dict(),
            "batches_per_second": periods.size / float(periods.sum()),
            "samples_per_second": float(rest.samples.sum()) / float(periods.sum()),
        }
    finally:
        for process in processes:
            with contextlib.suppress(OSError):
                process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
