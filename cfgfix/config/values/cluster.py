"""Checks of TF_CONFIG, the JSON that tells each process of a TensorFlow cluster who it is: CLU001 to CLU005.

A cluster is found wherever a YAML file carries one: under a key `TF_CONFIG` (as text or as a mapping), in a list of
environment variables (`name: TF_CONFIG` beside `value:`, or an item `TF_CONFIG={...}`), as the Model Garden's
`worker_hosts` beside `task_index`, and in a file that is itself such a mapping (`cluster` and `task`).
What is filled in later (`${...}`, `$(...)`, `{{...}}`) is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.config.document.compose import DataError, Node, deref, value_of
from cfgfix.config.document.compose import Kind as NodeKind
from cfgfix.config.values.hit import Context, Hit
from cfgfix.core.findings import KeyPath
from cfgfix.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CHECKS = frozenset(
    {
        "tf_config_json",
        "tf_config_no_task",
        "tf_config_index",
        "tf_config_roles",
        "tf_config_duplicate_address",
    }
)
"""Names that `scan` knows."""

ROLES = ("chief", "worker", "evaluator", "ps")
"""Task types that `validate_cluster_spec` takes (`tensorflow/python/distribute/multi_worker_util.py`, 2.21)."""

MAX_TEXT = 1 << 20
"""Longest TF_CONFIG that is read, in characters; ten thousand addresses take half of it."""
MAX_SPECS = 1_000
"""Most clusters of one file that are looked at."""
_TEMPLATES = ("${", "$(", "{{", "{%")
_LOCAL = ("localhost", "127.0.0.1", "[::1]", "0.0.0.0")  # noqa: S104 - names to compare with, nothing is bound


@dataclass(frozen=True, slots=True)
class Spec:
    """One cluster as a file states it.

    `content` is the data, or None where the text is no JSON (`fault` then says why). `whole` tells that the content
    is TF_CONFIG itself, and not the Model Garden's two keys.
    """

    node: Node
    path: KeyPath
    content: Any
    fault: str | None
    whole: bool


def scan(context: Context, wanted: frozenset[str]) -> dict[str, list[Hit]]:
    """Return the hits of the wanted checks by name. Nothing is raised for bad input."""
    found: dict[str, list[Hit]] = {name: [] for name in sorted(wanted & CHECKS)}
    document = context.document
    if not found or document.problem is not None:
        return found
    count = 0
    for root in document.roots:
        for spec in _specs(context, root):
            count += 1
            if count > MAX_SPECS:
                return found
            for name, hit in _judge(spec):
                if name in found:
                    found[name].append(hit)
    return found


def _specs(context: Context, root: Node) -> Iterator[Spec]:
    if root.kind == NodeKind.MAPPING:
        keys = {key.text: value for key, value in root.items if key.kind == NodeKind.SCALAR}
        cluster, task = keys.get("cluster"), keys.get("task")
        if cluster is not None and deref(cluster).kind == NodeKind.MAPPING and _is_task(task):
            yield from _whole(context, root, ())
    yield from _below(context, root, ())


def _is_task(task: Node | None) -> bool:
    if task is None or deref(task).kind != NodeKind.MAPPING:
        return False
    return any(
        key.kind == NodeKind.SCALAR and key.text in ("type", "index") for key, _value in deref(task).items
    )


def _below(context: Context, node: Node, path: KeyPath) -> Iterator[Spec]:
    if node.kind == NodeKind.MAPPING:
        keys = {key.text: value for key, value in node.items if key.kind == NodeKind.SCALAR}
        name, value = keys.get("name"), keys.get("value")
        if name is not None and name.text == "TF_CONFIG" and value is not None:
            yield from _whole(context, value, (*path, "value"))
        if "worker_hosts" in keys:
            yield from _hosts(context, keys, path)
        for text, child in keys.items():
            if text == "TF_CONFIG":
                yield from _whole(context, child, (*path, text))
            elif child.kind in (NodeKind.MAPPING, NodeKind.SEQUENCE):
                yield from _below(context, child, (*path, text))
    elif node.kind == NodeKind.SEQUENCE:
        for position, child in enumerate(node.items):
            if child.kind in (NodeKind.MAPPING, NodeKind.SEQUENCE):
                yield from _below(context, child, (*path, position))
            elif child.kind == NodeKind.SCALAR and child.text.startswith("TF_CONFIG="):
                yield from _text(child, child.text[len("TF_CONFIG=") :], (*path, position))


def _whole(context: Context, node: Node, path: KeyPath) -> Iterator[Spec]:
    node = deref(node)
    if node.kind == NodeKind.SCALAR:
        if node.style or node.text.strip():
            yield from _text(node, node.text, path)
        return
    try:
        content = value_of(node, context.loader, context.document)
    except DataError:
        return
    yield Spec(node, path, content, None, whole=True)


def _text(node: Node, text: str, path: KeyPath) -> Iterator[Spec]:
    import json

    if len(text) > MAX_TEXT or any(mark in text for mark in _TEMPLATES):
        return
    try:
        content = json.loads(text)
    except ValueError as error:
        yield Spec(node, path, None, str(error), whole=True)
        return
    except RecursionError:
        yield Spec(node, path, None, "it is nested too deeply", whole=True)
        return
    yield Spec(node, path, content, None, whole=True)


def _hosts(context: Context, keys: dict[str, Node], path: KeyPath) -> Iterator[Spec]:
    """The Model Garden's form: `worker_hosts: a:1,b:1` and `task_index: 0`."""
    hosts = deref(keys["worker_hosts"])
    if hosts.kind != NodeKind.SCALAR or any(mark in hosts.text for mark in _TEMPLATES):
        return
    addresses = [address.strip() for address in hosts.text.split(",") if address.strip()]
    if not addresses or not any(":" in address for address in addresses):
        return
    task: dict[str, Any] = {"type": "worker"}
    if "task_index" in keys:
        try:
            index = value_of(keys["task_index"], context.loader, context.document)
        except DataError:
            index = None
        if isinstance(index, int) and not isinstance(index, bool) and index >= 0:
            task["index"] = index
    yield Spec(
        hosts,
        (*path, "worker_hosts"),
        {"cluster": {"worker": addresses}, "task": task},
        None,
        whole=False,
    )


def _judge(spec: Spec) -> Iterator[tuple[str, Hit]]:
    def hit(steps: tuple[str | int, ...] = (), **values: object) -> Hit:
        node, path = _inner(spec, steps)
        return Hit(node.value_start, node.end, path, values)

    if spec.fault is not None:
        yield "tf_config_json", hit(problem=spec.fault)
        return
    content = spec.content
    if not isinstance(content, dict):
        yield "tf_config_json", hit(problem=f"it is {_kind(content)}, no object with `cluster` and `task`")
        return
    cluster = content.get("cluster")
    if not isinstance(cluster, dict) or not cluster:
        return
    jobs = {str(job): _addresses(value) for job, value in cluster.items()}
    yield from _roles(jobs, hit)
    yield from _duplicates(jobs, hit)
    task = content.get("task")
    task = task if isinstance(task, dict) else {}
    missing = [name for name in ("type", "index") if task.get(name) is None]
    if missing:
        if spec.whole:
            yield (
                "tf_config_no_task",
                hit(("task",), missing=" and ".join(f"task.{name}" for name in missing)),
            )
        return
    yield from _task(jobs, task["type"], task["index"], hit)


def _task(jobs: dict[str, list[str]], role: object, index: object, hit: Any) -> Iterator[tuple[str, Hit]]:
    role = str(role)
    if role not in ROLES:
        yield "tf_config_roles", hit(("task", "type"), problem=f"task.type is {role!r}")
        return
    if role not in jobs:
        if role != "evaluator":
            yield (
                "tf_config_index",
                hit(("task", "type"), problem=f"this task is a {role}, and the cluster has no {role}"),
            )
        return
    try:
        number = None if isinstance(index, (bool, float)) else int(str(index))
    except ValueError:
        number = None
    if number is None:
        yield "tf_config_index", hit(("task", "index"), problem=f"task.index is {index!r}, no whole number")
    elif not 0 <= number < len(jobs[role]):
        size = len(jobs[role])
        many = f"{size} task{'s' if size != 1 else ''}, from 0 to {size - 1}" if size else "no task"
        yield (
            "tf_config_index",
            hit(("task", "index"), problem=f"task.index is {number}, and cluster.{role} has {many}"),
        )


def _roles(jobs: dict[str, list[str]], hit: Any) -> Iterator[tuple[str, Hit]]:
    for job in jobs:
        if job not in ROLES:
            yield "tf_config_roles", hit(("cluster", job), problem=f"the cluster has a job {job!r}")
    for job in ("chief", "evaluator"):
        if len(jobs.get(job, ())) > 1:
            yield (
                "tf_config_roles",
                hit(("cluster", job), problem=f"the cluster has {len(jobs[job])} tasks of type {job}"),
            )


def _duplicates(jobs: dict[str, list[str]], hit: Any) -> Iterator[tuple[str, Hit]]:
    first: dict[str, str] = {}
    twice: set[str] = set()
    for job, addresses in jobs.items():
        for position, address in enumerate(addresses):
            here = f"{job} {position}"
            if address in first and address not in twice:
                twice.add(address)
                problem = f"{address} is the address of {first[address]} and of {here}"
                yield "tf_config_duplicate_address", hit(("cluster", job), problem=problem)
            first.setdefault(address, here)
    local = [address for address in first if address.startswith(_LOCAL)]
    if local and len(local) < len(first):
        job = next(job for job, addresses in jobs.items() if local[0] in addresses)
        problem = f"{local[0]} means another machine to each of the others, which do have names"
        yield "tf_config_duplicate_address", hit(("cluster", job), problem=problem)


def _addresses(value: object) -> list[str]:
    """The addresses of one job: a list, or a mapping from task numbers (both are taken by ClusterSpec)."""
    if isinstance(value, dict):
        return [str(item) for item in value.values()]
    return [str(item) for item in value] if isinstance(value, list) else []


def _inner(spec: Spec, steps: tuple[str | int, ...]) -> tuple[Node, KeyPath]:
    """The node at some steps below a cluster that is written as YAML; a cluster in one text is that text."""
    node, path = spec.node, spec.path
    for step in steps:
        if node.kind != NodeKind.MAPPING:
            break
        child = next((value for key, value in node.items if key.text == step), None)
        if child is None:
            break
        node, path = deref(child), (*path, step)
    if node.kind != NodeKind.SCALAR and node.kind == NodeKind.MAPPING and node is spec.node and node.items:
        return node.items[0][0], path
    return node, path


def _kind(value: object) -> str:
    return {list: "a list", str: "a text", bool: "a bool", type(None): "null"}.get(type(value), "a number")
