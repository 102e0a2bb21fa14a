"""What several workers and replicas need: the cluster told in time, and a loss that is divided by the whole batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cfgfix.source.checks.common import in_tests
from cfgfix.source.environment import environment_of
from cfgfix.source.expr import constant
from cfgfix.source.hit import Hit, at
from cfgfix.source.hotpath import inside
from cfgfix.source.program import Module, Program
from cfgfix.source.summary import CONSTANT, Event
from cfgfix.source.values import Site

NEEDLES = (b"TF_CONFIG", b"Strategy")

_READS_CLUSTER = (
    "tensorflow.distribute.MultiWorkerMirroredStrategy",
    "tensorflow.distribute.experimental.MultiWorkerMirroredStrategy",
    "tensorflow.distribute.cluster_resolver.TFConfigClusterResolver",
)
_CLUSTER = "TF_CONFIG"
_STARTS_PROCESSES = ("subprocess.", "multiprocessing.", "os.system", "os.exec", "os.spawn", "os.fork")


def cluster_told_late(program: Program) -> Iterator[Hit]:
    """`TF_CONFIG` set behind the strategy that has read it when it was made."""
    seen: set[int] = set()
    for made in program.flow.named(*_READS_CLUSTER):
        scope = made.scope
        module = scope.module
        if in_tests(scope) or id(scope) in seen or made.call.args or made.call.keywords:
            continue
        told = [item for item in environment_of(program, module) if item[1] == _CLUSTER]
        here = [item for item in told if item[0] is scope]
        if len(here) != len(told) or not here or _asked(module) or _starts_processes(program, module):
            continue
        _, _, value, event, place = here[0]
        if event.place[:2] < made.call.place[:2] or not inside(scope, event.block, made.call.block):
            continue
        if value is None or (value[0] == CONSTANT and not value[1]) or _made_again(program, made, event):
            continue
        if any(
            other is not module and any(name == _CLUSTER for _, name, *_ in environment_of(program, other))
            for other in program.modules
        ):
            continue
        seen.add(id(scope))
        yield Hit(
            scope,
            place,
            event.block,
            {"maker": made.name.rpartition(".")[2], "line": made.call.name_place[0]},
            needs=((scope, made.call.block),),
            related=(at(made, label="TF_CONFIG is read here"),),
        )


def _asked(module: Module) -> bool:
    """Tell whether a file looks whether `TF_CONFIG` is there already: it may come from outside."""
    return any(
        call.args and constant(call.args[0]) == _CLUSTER and call.method in ("get", "getenv", "pop")
        for scope in module.summary.scopes
        for call in scope.calls
    )


def _starts_processes(program: Program, module: Module) -> bool:
    """Tell whether a file starts processes, which take over its variables."""
    return any(
        site.name.startswith(_STARTS_PROCESSES)
        for scope in module.summary.scopes
        for site in program.flow.within(scope)
    )


def _made_again(program: Program, made: Site, event: Event) -> bool:
    """Tell whether a strategy is made behind the statement, or in another scope of the file: that one may read it in time."""
    return any(
        other.scope.module is made.scope.module
        and (other.scope is not made.scope or other.call.place[:2] > event.place[:2])
        for other in program.flow.named(*_READS_CLUSTER)
    )


def check(program: Program) -> Iterable[Hit]:
    """The group's first rule."""
    return cluster_told_late(program)
