"""Faults in a TF_CONFIG, the data that tells each process of a cluster its role."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cfgfix.core.records import dataclass

ROLES = ("chief", "worker", "evaluator", "ps")
"""Task types that `validate_cluster_spec` takes (`tensorflow/python/distribute/multi_worker_util.py`, 2.21)."""
_LOCAL = ("localhost", "127.0.0.1", "[::1]", "0.0.0.0")  # noqa: S104 - names to compare with, nothing is bound


class Unknown:
    """A part of a cluster that only the running program knows."""

    __slots__ = ()


UNKNOWN = Unknown()


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong.

    Attributes:
        check: The name of its check.
        steps: Where it is in the data, as keys.
        values: Operands of the message.
    """

    check: str
    steps: tuple[str, ...]
    values: Mapping[str, object]


def _fault_at(check: str, steps: tuple[str, ...], problem: str) -> Fault:
    return Fault(check, steps, {"problem": problem})


def cluster_faults(content: Any, *, whole: bool = True) -> Iterator[Fault]:
    """Yield the faults in the data of a cluster.

    `whole` tells that the data is all of TF_CONFIG.
    """
    if not isinstance(content, dict):
        yield _fault_at(
            "tf_config_json", (), f"it is {_kind_text(content)}, no object with `cluster` and `task`"
        )
        return
    cluster = content.get("cluster")
    if not isinstance(cluster, dict) or not cluster:
        return
    jobs = {str(job): _address_list(value) for job, value in cluster.items()}
    yield from _role_faults(jobs)
    yield from _duplicate_faults(jobs)
    task = content.get("task")
    if isinstance(task, Unknown):
        return
    task = task if isinstance(task, dict) else {}
    missing = [name for name in ("type", "index") if task.get(name) is None]
    if missing:
        if whole:
            names = " and ".join(f"task.{name}" for name in missing)
            yield Fault("tf_config_no_task", ("task",), {"missing": names})
        return
    yield from _task_faults(jobs, task["type"], task["index"])


def _task_faults(jobs: dict[str, list[str] | None], role: object, index: object) -> Iterator[Fault]:
    if isinstance(role, Unknown):
        return
    role = str(role)
    if role not in ROLES:
        yield _fault_at("tf_config_roles", ("task", "type"), f"task.type is {role!r}")
        return
    if role not in jobs:
        if role != "evaluator":
            yield _fault_at(
                "tf_config_index", ("task", "type"), f"this task is a {role}, and the cluster has no {role}"
            )
        return
    addresses = jobs[role]
    if isinstance(index, Unknown) or addresses is None:
        return
    try:
        number = None if isinstance(index, (bool, float)) else int(str(index))
    except ValueError:
        number = None
    if number is None:
        yield _fault_at("tf_config_index", ("task", "index"), f"task.index is {index!r}, no whole number")
    elif not 0 <= number < len(addresses):
        size = len(addresses)
        many = f"{size} task{'s' if size != 1 else ''}, from 0 to {size - 1}" if size else "no task"
        yield _fault_at(
            "tf_config_index", ("task", "index"), f"task.index is {number}, and cluster.{role} has {many}"
        )


def _role_faults(jobs: dict[str, list[str] | None]) -> Iterator[Fault]:
    for job in jobs:
        if job not in ROLES:
            yield _fault_at("tf_config_roles", ("cluster", job), f"the cluster has a job {job!r}")
    for job in ("chief", "evaluator"):
        addresses = jobs.get(job) or ()
        if len(addresses) > 1:
            yield _fault_at(
                "tf_config_roles", ("cluster", job), f"the cluster has {len(addresses)} tasks of type {job}"
            )


def _duplicate_faults(jobs: dict[str, list[str] | None]) -> Iterator[Fault]:
    first: dict[str, str] = {}
    twice: set[str] = set()
    for job, addresses in jobs.items():
        for position, address in enumerate(addresses or ()):
            if not address:
                continue
            here = f"{job} {position}"
            if address in first and address not in twice:
                twice.add(address)
                problem = f"{address} is the address of {first[address]} and of {here}"
                yield _fault_at("tf_config_duplicate_address", ("cluster", job), problem)
            first.setdefault(address, here)
    local = [address for address in first if address.startswith(_LOCAL)]
    if local and len(local) < len(first):
        job = next(job for job, addresses in jobs.items() if local[0] in (addresses or ()))
        problem = f"{local[0]} means another machine to each of the others, which do have names"
        yield _fault_at("tf_config_duplicate_address", ("cluster", job), problem)


def _address_list(value: object) -> list[str] | None:
    """Return the addresses of a job from a list, or a mapping from task numbers.

    Unknown addresses are empty. None where the value itself is not known.
    """
    if isinstance(value, Unknown):
        return None
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return ["" if isinstance(item, Unknown) else str(item) for item in items]


def _kind_text(value: object) -> str:
    return {list: "a list", str: "a text", bool: "a bool", type(None): "null"}.get(type(value), "a number")
