"""Functions run by threads, processes and pools."""

from __future__ import annotations

from cfgfix.code.inference.interpreter import reading
from cfgfix.code.inference.interpreter.objects import (
    NONE,
    UNKNOWN,
    FunctionObject,
    Made,
    Mapping,
    Sequence,
    Value,
)
from cfgfix.code.inference.interpreter.run import Call

POOL_METHODS = frozenset(
    {"map", "imap", "imap_unordered", "map_async", "starmap", "submit", "apply_async", "apply"}
)


def pool_method(call: Call) -> Value:
    """Return what a method of a pool or executor gives.

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
    rows = reading.items_of(call.frame, iterable, call.spot)
    results: list[Value] = []
    for item in (rows if rows is not None else [reading.item_of(iterable)])[:8]:
        given_items = tuple(item.items) if name == "starmap" and isinstance(item, Sequence) else (item,)
        results.append(call.then(target, given_items))
    return Sequence(results, open=True)


def start_worker(call: Call, worker: Made) -> Value:
    """Call the function of a thread or process."""
    target = worker.keywords.get("target")
    if isinstance(target, FunctionObject):
        _call_with(call, target, worker.keywords.get("args"), worker.keywords.get("kwargs"))
    return NONE


def _call_with(call: Call, target: Value, items: Value | None, named: Value | None) -> Value:
    """Call a function with arguments that stand in a sequence and a mapping."""
    args = tuple(items.items) if isinstance(items, Sequence) else ()
    keywords = {str(k): v for k, v in named.entries.items()} if isinstance(named, Mapping) else {}
    return call.then(target, args, keywords)
