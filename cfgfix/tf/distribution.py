"""A dataset whose elements other processes prepare: tf.data service."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from cfgfix.core.errors import CfgfixError
from cfgfix.rules.catalogue import named
from cfgfix.rules.faults import Fault
from cfgfix.tf.dataset_graph import PYTHON_OPS, graph_of, stages_of

_OLD_MODES = {"distributed_epoch": "dynamic", "parallel_epochs": "off"}


def distribute(
    dataset: Any,
    service: str,
    *,
    sharding: str = "dynamic",
    job_name: str | None = None,
    compression: bool = True,
) -> Any:
    """Return a dataset whose elements the workers of a tf.data service compute.

    Args:
        dataset: What the workers run; it must hold no Python, for that cannot travel. Where it makes batches with
            `drop_remainder`, each worker leaves out its own last, smaller one.
        service: Address of the dispatcher, such as `grpc://host:5050`.
        sharding: `dynamic`: every element comes once (at most once when a worker dies); `off`: every worker sends all of
            them, so with n workers each element comes n times; `file`, `data`, `file_or_data`, `hint` as in
            tf.data.experimental.service.ShardingPolicy. The older names `distributed_epoch` and `parallel_epochs` are
            `dynamic` and `off`.
        job_name: Consumers that give the same name share one stream.
        compression: Compress between workers and consumer.

    Raises:
        CfgfixError: The pipeline runs Python, or there is no such policy.
    """
    policies = {policy.name.lower(): policy for policy in tf.data.experimental.service.ShardingPolicy}
    wanted = sharding.lower().removeprefix("shardingpolicy.")
    policy = policies.get(_OLD_MODES.get(wanted, wanted))
    if policy is None:
        raise CfgfixError(
            f"there is no sharding policy {sharding!r}", hint=f"known: {', '.join(sorted(policies))}"
        )
    if "://" not in service:
        raise CfgfixError(f"{service!r} is no address of a dispatcher", hint="write it as grpc://host:port")
    graph = graph_of(dataset)
    python = [
        stage.name for stage in stages_of(graph) if stage.remarks == "Python" or stage.name == "Generator"
    ]
    python += [
        name
        for name, function in graph.functions.items()
        if any(node.op in PYTHON_OPS for node in function.node_def)
    ]
    if python:
        raise CfgfixError(
            f"{python[0]} runs Python, which the workers of a tf.data service cannot ({named(Fault.PYTHON_ON_SERVICE)})",
            hint="write it in TensorFlow operations, or move it after distribute",
        )
    return dataset.apply(
        tf.data.experimental.service.distribute(
            processing_mode=policy,
            service=service,
            job_name=job_name,
            compression="AUTO" if compression else None,
        )
    )
