"""Functions run by threads, processes and pools."""

from __future__ import annotations

from cfgfix.code.inference.interpreter import iterating
from cfgfix.code.inference.interpreter.objects import (
    NONE,
    UNKNOWN,
    FunctionObject,
    Made,
    Mapping,
    Sequence,
    Value,
)
from cfgfix.code.inference.interpreter.run import Call, Model, Run

QUEUE = "queue.Queue"
POOL_METHODS = frozenset(
    {"map", "imap", "imap_unordered", "map_async", "starmap", "submit", "apply_async", "apply"}
)


def pool_method(call: Call) -> Value:
    """Return the result of a method of a pool or executor.

    The method calls a function, once or for each item.
    """
    name = call.name
    if not call.args:
        return UNKNOWN
    target = call.args[0]
    if name == "submit":
        return Made("future", (call.then(target, call.args[1:], call.keywords),), {}, call.spot)
    if name in ("apply_async", "apply"):
        result = _call_with(call, target, call.argument(1, "args"), call.keywords.get("kwds"))
        return Made("future", (result,), {}, call.spot)
    iterable = call.args[1] if len(call.args) > 1 else UNKNOWN
    rows = iterating.items_of(call.frame, iterable, call.spot)
    results: list[Value] = []
    for item in (rows if rows is not None else [iterating.item_of(iterable)])[:8]:
        given_items = tuple(item.items) if name == "starmap" and isinstance(item, Sequence) else (item,)
        results.append(call.then(target, given_items))
    return Sequence(results, open=True)


def start_worker(call: Call, worker: Made) -> Value:
    """Call the function of a started thread or process.

    In a program with queues the call is put off, since queues are mostly filled after the start.
    """
    if call.run.queues:
        call.run.started.append((call, worker))
    else:
        _run_worker(call, worker)
    return NONE


def _run_worker(call: Call, worker: Made) -> None:
    target = worker.keywords.get("target")
    if isinstance(target, FunctionObject):
        _call_with(call, target, worker.keywords.get("args"), worker.keywords.get("kwargs"))


def run_started(run: Run) -> None:
    """Call the functions of threads and processes whose start was put off."""
    while run.started:
        _run_worker(*run.started.pop(0))


def finish(run: Run) -> None:
    """Run the started workers that were put off.

    Items of queues that nothing reads are noted as going to unknown code.
    """
    run_started(run)
    for queue, items in run.queues.items():
        for item, call in items if queue not in run.taken_from else ():
            run.escape(call.frame, (item,), call.spot)


def _make_queue(call: Call) -> Value:
    made = Made(QUEUE, call.args, call.keywords, call.spot)
    call.run.queues[id(made)] = []
    call.run.kept.append(made)
    return made


def queue_method(call: Call, queue: Made) -> Value | None:
    """Return the result of a queue's method; items come out as they were put in."""
    items = call.run.queues.get(id(queue))
    if items is None:
        return None
    if call.name in ("put", "put_nowait"):
        items += [(item, call) for item in call.args[:1]]
        return NONE
    if call.name in ("get", "get_nowait"):
        call.run.taken_from.add(id(queue))
        if not items:
            run_started(call.run)
        return items.pop(0)[0] if items else UNKNOWN
    if call.name == "join":
        run_started(call.run)
    return NONE if call.name in ("join", "task_done") else UNKNOWN


def _call_with(call: Call, target: Value, items: Value | None, named: Value | None) -> Value:
    """Call a function with arguments from a sequence and a mapping."""
    args = tuple(items.items) if isinstance(items, Sequence) else ()
    keywords = {str(k): v for k, v in named.entries.items()} if isinstance(named, Mapping) else {}
    return call.then(target, args, keywords)


FUNCTIONS: dict[str, Model] = {
    f"{module}.{name}": _make_queue
    for module, names in (
        ("queue", ("Queue", "SimpleQueue", "LifoQueue", "PriorityQueue")),
        ("multiprocessing", ("Queue", "SimpleQueue", "JoinableQueue")),
    )
    for name in names
}
