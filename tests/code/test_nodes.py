"""Expressions are nodes with named fields: nothing reads them by position, and the store gives back what was kept."""

from __future__ import annotations

import marshal
import sys
from typing import Any

import pytest

from cfgfix.code.model import nodes
from cfgfix.code.model.expressions import children, walk_own
from cfgfix.code.model.summarise import summarise
from cfgfix.code.model.summary import Block, Event, ModuleSummary, Scope
from cfgfix.code.model.summary_codec import pack, unpack

KINDS = [kind for kind in vars(nodes).values() if isinstance(kind, type) and issubclass(kind, nodes.Expr)]
EVERY_KIND = """
import tensorflow as tf

@tf.function(jit_compile=True)
def step(x: tf.Tensor, *rest: int, scale=-1.5, **more) -> tf.Tensor:
    y: int = x[0] if scale > 0 is not None else ~x
    with tf.GradientTape() as tape, open(f"{x!r}-{scale:.2f}.txt") as out:
        y += {"a": 1, **more}["a"] + sum([a * b for a, b in zip(x, rest) if a and b])
    assert y, "a message"
    while (n := len(rest)) < 3:
        yield n
    match y:
        case {"kind": "a", **others} if others:
            yield from [*rest, {1, 2}, (), lambda z: z[1:n, ::2]]
        case [first, *_] | first:
            return
    return 1j

class Net(tf.keras.Model):
    rate = 1e-3
"""


def plain(value: Any, seen: dict[int, int]) -> Any:
    """Return what a summary holds as plain data; a node that was met before is told by its number."""
    if isinstance(value, (nodes.Expr, nodes.Comparison, Block, Event, Scope, ModuleSummary)):
        if id(value) in seen:
            return seen[id(value)]
        seen[id(value)] = len(seen)
        slots = [name for name in type(value).__slots__ if name != "module" and not name.startswith("_")]
        return type(value).__name__, [plain(getattr(value, name), seen) for name in slots]
    if isinstance(value, (list, tuple)):
        return [plain(item, seen) for item in value]
    return sorted(value.items()) if isinstance(value, dict) else value


def test_the_store_gives_back_every_kind_as_it_was():
    kept = summarise(EVERY_KIND)
    data = marshal.loads(marshal.dumps(pack(kept)))
    assert plain(unpack(data), {}) == plain(kept, {})


def test_the_example_has_every_kind():
    summary = summarise(EVERY_KIND)
    tops = [call for scope in summary.scopes for call in scope.calls]
    found = {type(part) for call in tops for item in children(call) for part in walk_own([item])}
    for event in (event for scope in summary.scopes for event in scope.events()):
        values = (*event.targets, *event.extra_nodes(), *([] if event.value is None else [event.value]))
        found |= {type(part) for part in walk_own(values)}
    assert found == set(KINDS) - {nodes.Expr}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_node_has_fields_and_no_positions(kind):
    assert not {"__getitem__", "__iter__", "__len__", "__dict__"} & set(dir(kind))
    assert kind is nodes.Expr or getattr(kind, "__final__", sys.version_info < (3, 11))


def test_a_place_is_as_fast_as_a_tuple_and_has_names():
    place = nodes.new_place(nodes.Place, (3, 4, 5, 6))
    assert (place.line, place.column, place.end_line, place.end_column) == (3, 4, 5, 6)
    assert (place.start, place.end) == ((3, 4), (5, 6))
    assert place == nodes.Place(3, 4, 5, 6) < nodes.Place(3, 5, 0, 0)
    assert type(place.plain) is tuple
    with pytest.raises(AttributeError):
        place.line = 1
