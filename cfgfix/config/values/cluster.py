"""Checks of TF_CONFIG, the JSON that tells each process of a TensorFlow cluster who it is.

A cluster is found wherever a YAML file carries one: under a key `TF_CONFIG` (as text or as a mapping), in a list of
environment variables (`name: TF_CONFIG` beside `value:`, or an item `TF_CONFIG={...}`), as the Model Garden's
`worker_hosts` beside `task_index`, and in a file that is itself such a mapping (`cluster` and `task`).
What is filled in later (`${...}`, `$(...)`, `{{...}}`) is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cfgfix.code.tensorflow.cluster import cluster_faults
from cfgfix.config.document.compose import DataError, Node, deref, value_of
from cfgfix.config.document.compose import Kind as NodeKind
from cfgfix.config.values.context import Context
from cfgfix.core.findings import KeyPath
from cfgfix.core.records import dataclass
from cfgfix.rules.hit import Hit, Span

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

MAX_TEXT = 1 << 20
"""Longest TF_CONFIG that is read, in characters; ten thousand addresses take half of it."""
MAX_SPECS = 1_000
"""Most clusters of one file that are looked at."""
_TEMPLATES = ("${", "$(", "{{", "{%")


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
    """Return the hits of the wanted cluster checks, by the name of the check.

    Nothing is raised for bad input.
    """
    found: dict[str, list[Hit]] = {name: [] for name in sorted(wanted & CHECKS)}
    document = context.document
    if not found or document.problem is not None:
        return found
    count = 0
    for root in document.roots:
        for spec in _cluster_specs(context, root):
            count += 1
            if count > MAX_SPECS:
                return found
            for name, hit in _cluster_hits(spec):
                if name in found:
                    found[name].append(hit)
    return found


def _cluster_specs(context: Context, root: Node) -> Iterator[Spec]:
    if root.kind == NodeKind.MAPPING:
        keys = {key.text: value for key, value in root.items if key.kind == NodeKind.SCALAR}
        cluster, task = keys.get("cluster"), keys.get("task")
        if cluster is not None and deref(cluster).kind == NodeKind.MAPPING and _is_task(task):
            yield from _tf_config_specs(context, root, ())
    yield from _specs_below(context, root, ())


def _is_task(task: Node | None) -> bool:
    if task is None or deref(task).kind != NodeKind.MAPPING:
        return False
    return any(
        key.kind == NodeKind.SCALAR and key.text in ("type", "index") for key, _value in deref(task).items
    )


def _specs_below(context: Context, node: Node, path: KeyPath) -> Iterator[Spec]:
    if node.kind == NodeKind.MAPPING:
        keys = {key.text: value for key, value in node.items if key.kind == NodeKind.SCALAR}
        name, value = keys.get("name"), keys.get("value")
        if name is not None and name.text == "TF_CONFIG" and value is not None:
            yield from _tf_config_specs(context, value, (*path, "value"))
        if "worker_hosts" in keys:
            yield from _specs_of_hosts(context, keys, path)
        for text, child in keys.items():
            if text == "TF_CONFIG":
                yield from _tf_config_specs(context, child, (*path, text))
            elif child.kind in (NodeKind.MAPPING, NodeKind.SEQUENCE):
                yield from _specs_below(context, child, (*path, text))
    elif node.kind == NodeKind.SEQUENCE:
        for position, child in enumerate(node.items):
            if child.kind in (NodeKind.MAPPING, NodeKind.SEQUENCE):
                yield from _specs_below(context, child, (*path, position))
            elif child.kind == NodeKind.SCALAR and child.text.startswith("TF_CONFIG="):
                yield from _specs_in_text(child, child.text[len("TF_CONFIG=") :], (*path, position))


def _tf_config_specs(context: Context, node: Node, path: KeyPath) -> Iterator[Spec]:
    node = deref(node)
    if node.kind == NodeKind.SCALAR:
        if node.style or node.text.strip():
            yield from _specs_in_text(node, node.text, path)
        return
    try:
        content = value_of(node, context.loader, context.document)
    except DataError:
        return
    yield Spec(node, path, content, None, whole=True)


def _specs_in_text(node: Node, text: str, path: KeyPath) -> Iterator[Spec]:
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


def _specs_of_hosts(context: Context, keys: dict[str, Node], path: KeyPath) -> Iterator[Spec]:
    """Yield the cluster written as `worker_hosts: a:1,b:1` and `task_index: 0`.

    That is the Model Garden's form.
    """
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


def _cluster_hits(spec: Spec) -> Iterator[tuple[str, Hit]]:
    def hit(steps: tuple[str, ...], values: Mapping[str, object]) -> Hit:
        node, path = _node_below(spec, steps)
        return Hit(Span(node.value_start, node.end, path), dict(values))

    if spec.fault is not None:
        yield "tf_config_json", hit((), {"problem": spec.fault})
        return
    for fault in cluster_faults(spec.content, whole=spec.whole):
        yield fault.check, hit(fault.steps, fault.values)


def _node_below(spec: Spec, steps: tuple[str | int, ...]) -> tuple[Node, KeyPath]:
    """Return node and key path at some steps below a cluster that is written as YAML.

    A cluster in one text has no nodes below: its own node is returned.
    """
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
