"""What TensorFlow makes of TF_CONFIG, of shards, of replicas, and of its data service. Nothing here is timed."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import tensorflow as tf
from harness import fact, outcome, section
from tensorflow.python.data.experimental.ops import distribute
from tensorflow.python.distribute import multi_worker_util

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)


def resolved(text: str) -> object:
    """The resolver's cluster, type and index for one TF_CONFIG."""
    os.environ["TF_CONFIG"] = text
    try:
        resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
        return resolver.cluster_spec().as_dict(), resolver.task_type, resolver.task_id
    finally:
        del os.environ["TF_CONFIG"]


def checked(cluster: dict[str, list[str]], role: str, index: int) -> Callable[[], object]:
    return lambda: multi_worker_util._validate_cluster_spec(cluster, role, index)


section("TF_CONFIG")
fact("single quotes", outcome(lambda: resolved("{'cluster': {}}")))
fact("empty text", outcome(lambda: resolved("")))
fact("a list", outcome(lambda: resolved("[1]")))
fact("no task: type, index", resolved(json.dumps({"cluster": {"worker": ["a:1"]}}))[1:])
one = {"worker": ["a:1"]}
fact("index 0 of 1 worker", outcome(checked(one, "worker", 0)))
fact("index 1 of 1 worker", outcome(checked(one, "worker", 1)))
fact("a type that is not in the cluster", outcome(checked(one, "ps", 0)))
fact("an evaluator outside the cluster", outcome(checked(one, "evaluator", 0)))
fact("an unknown type", outcome(checked(one, "wroker", 0)))
fact("a job named master", outcome(checked({"master": ["a:1"], **one}, "worker", 0)))
fact("two chiefs", outcome(checked({"chief": ["a:1", "b:1"]}, "chief", 0)))
fact("two evaluators", outcome(checked({"evaluator": ["a:1", "b:1"], **one}, "worker", 0)))

section("servers at one address")
with socket.socket() as probe:
    probe.bind(("localhost", 0))
    port = probe.getsockname()[1]
twice = tf.train.ClusterSpec({"worker": [f"localhost:{port}"] * 2})
first = tf.distribute.Server(twice, job_name="worker", task_index=0)
fact("the second", outcome(lambda: tf.distribute.Server(twice, job_name="worker", task_index=1)))

section("sharding 2 files among 3 workers")
with tempfile.TemporaryDirectory() as folder:
    for number in range(2):
        with tf.io.TFRecordWriter(str(Path(folder) / f"{number}.tfrecord")) as writer:
            for item in range(3):
                writer.write(str(3 * number + item).encode())
    names = sorted(str(path) for path in Path(folder).iterdir())
    for policy in ("AUTO", "FILE", "DATA"):
        answers: list[str] = []
        for worker in range(3):
            data = tf.data.Dataset.from_tensor_slices(names).interleave(tf.data.TFRecordDataset)
            options = tf.data.Options()
            options.experimental_distribute.auto_shard_policy = getattr(
                tf.data.experimental.AutoShardPolicy, policy
            )
            share = distribute._AutoShardDataset(data.with_options(options), 3, worker)
            try:
                answers.append(f"{len(list(share))} elements")
            except tf.errors.InvalidArgumentError as error:
                text = str(error)
                answers.append(
                    "InvalidArgumentError"
                    + (", FILE based sharding" if "FILE based sharding" in text else "")
                )
        fact(policy, "; ".join(answers))

section("batches of replicas, 2 replicas")
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
context = tf.distribute.InputContext(num_replicas_in_sync=2)
fact("get_per_replica_batch_size(5)", outcome(lambda: context.get_per_replica_batch_size(5)))


def shares(dataset: object) -> list[int]:
    return [int(part.shape[0]) for part in strategy.experimental_local_results(next(iter(dataset)))]


for size in (4, 5):
    data = tf.data.Dataset.range(40).batch(size)
    fact(
        f"batch of {size}, experimental_distribute_dataset",
        shares(strategy.experimental_distribute_dataset(data)),
    )
    fact(
        f"batch of {size}, distribute_datasets_from_function",
        shares(strategy.distribute_datasets_from_function(lambda _context, data=data: data)),
    )

distributed = strategy.experimental_distribute_dataset(tf.data.Dataset.range(4).batch(2))
for name in ("map", "batch", "shuffle", "prefetch"):
    fact(f"{name} of a distributed dataset", outcome(lambda name=name: getattr(distributed, name)))

section("tf.data service, 2 workers")
service = tf.data.experimental.service
dispatcher = service.DispatchServer()
address = dispatcher.target.split("://")[1]


def worker_here() -> object:
    return service.WorkerServer(service.WorkerConfig(dispatcher_address=address, heartbeat_interval_ms=100))


workers = [worker_here(), worker_here()]
for mode in ("parallel_epochs", "distributed_epoch"):
    data = tf.data.Dataset.range(5).apply(service.distribute(processing_mode=mode, service=dispatcher.target))
    fact(f"{mode}, 5 elements", f"{len(list(data))} elements")


def from_python(target: str) -> list[object]:
    source = tf.data.Dataset.from_generator(lambda: range(3), output_signature=tf.TensorSpec([], tf.int64))
    data = source.apply(service.distribute(processing_mode="distributed_epoch", service=target))
    return list(data)


fact("from_generator, workers in this process", outcome(lambda: from_python(dispatcher.target)))
WORKER = """
import os, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

service = tf.data.experimental.service
worker = service.WorkerServer(service.WorkerConfig(dispatcher_address=sys.argv[1], heartbeat_interval_ms=100))
print("ready", flush=True)
sys.stdin.read()
"""
other = service.DispatchServer()
process = subprocess.Popen(
    [sys.executable, "-c", WORKER, other.target.split("://")[1]],
    stdin=subprocess.PIPE,
    stdout=subprocess.PIPE,
    stderr=subprocess.DEVNULL,
)
assert process.stdin is not None
assert process.stdout is not None
try:
    process.stdout.readline()
    fact("from_generator, a worker process of its own", outcome(lambda: from_python(other.target)))
finally:
    process.stdin.close()
    process.wait(timeout=30)
