"""Summaries as data that `marshal` reads and writes at memory speed, and back.

The nodes of a file become one list, parts before what holds them, and everything else tells of a node by its number there. So a node
that several hold stays one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from cfgfix.code.model.expressions import children
from cfgfix.code.model.nodes import (
    NOT_KEPT,
    Assigned,
    Attribute,
    Binary,
    Boolean,
    Call,
    Collection,
    Compare,
    Comparison,
    Comprehension,
    Conditional,
    Dictionary,
    Expr,
    FString,
    Lambda,
    Literal,
    Name,
    NotKept,
    Pattern,
    Place,
    Slice,
    Starred,
    Subscript,
    Unary,
    Yield,
    new_place,
)
from cfgfix.code.model.summary import NO_NAMES, NODES_IN_EXTRA, Block, Event, ModuleSummary, Parameter, Scope

Number = Callable[[Expr], int]
Node = Callable[[int], Expr]


def pack(summary: ModuleSummary) -> tuple[Any, ...]:
    """Return a summary as data that `marshal` can write."""
    names, literals, others = _collect_nodes(summary)
    calls = [call for scope in summary.scopes for call in scope.calls]
    numbers: dict[int, int] = {
        id(node): number for number, node in enumerate(chain(calls, (NOT_KEPT,), names, literals, others))
    }

    def number(node: Expr) -> int:
        return numbers[id(node)]

    # A place is written number by number, which takes less time and room than a tuple of its own.
    flat_names: list[Any] = names
    flat_literals: list[Any] = literals
    return (
        (
            len(calls),
            [(node.name, *node.place) for node in flat_names],
            [(node.value, *node.place) for node in flat_literals],
            [_WRITERS[type(node)](number, node) for node in others],
        ),
        [_pack_scope(number, scope) for scope in summary.scopes],
        summary.suppressions,
        summary.problem,
        summary.cells,
        summary.lines,
        summary.words,
    )


def unpack(data: tuple[Any, ...]) -> ModuleSummary:
    """Return the summary from the data that `pack` made."""
    (calls, names, literals, others), scopes, suppressions, problem, cells, lines, words = data
    summary = ModuleSummary()
    summary.suppressions = suppressions
    summary.problem = problem
    summary.cells = cells
    summary.lines = lines
    summary.words = words
    # A call is filled when its scope is read: until then others hold it as it is.
    empty = [Call.__new__(Call) for _ in range(calls)]
    nodes: list[Expr] = [*empty, NOT_KEPT]
    nodes += [Name(name, new_place(Place, (a, b, c, d))) for name, a, b, c, d in names]
    nodes += [Literal(value, new_place(Place, (a, b, c, d))) for value, a, b, c, d in literals]
    node = nodes.__getitem__
    for reader, *fields in others:
        nodes.append(_READERS[reader](node, *fields))
    unfilled = iter(empty)
    for number, item in enumerate(scopes):
        summary.scopes.append(_unpack_scope(node, unfilled, number, item))
    return summary


# Nodes


def _collect_nodes(summary: ModuleSummary) -> tuple[list[Name], list[Literal], list[Expr]]:
    """Return each node once: names, then literals, then others after their parts."""
    names: list[Name] = []
    literals: list[Literal] = []
    others: list[Expr] = []
    seen: set[int] = set()

    def visit(node: Expr) -> None:
        if id(node) in seen:
            return
        seen.add(id(node))
        if isinstance(node, Name):
            names.append(node)
        elif isinstance(node, Literal):
            literals.append(node)
        elif not isinstance(node, (Call, NotKept)):
            for part in children(node):
                visit(part)
            if isinstance(node, Comprehension):
                for target, _, _ in node.generators:
                    visit(target)
            others.append(node)

    for scope in summary.scopes:
        for node in _nodes_of(scope):
            visit(node)
    return names, literals, others


def _nodes_of(scope: Scope) -> Iterator[Expr]:
    for _, annotation, default, _ in scope.params:
        if annotation is not None:
            yield annotation
        if default is not None:
            yield default
    yield from scope.decorators
    if scope.returns is not None:
        yield scope.returns
    yield from scope.bases
    for block in scope.blocks:
        if block.test is not None:
            yield block.test
    for call in scope.calls:
        yield from children(call)
    for event in scope.events():
        yield from event.targets
        if event.value is not None:
            yield event.value
        yield from event.extra_nodes()
    for node, _ in scope.references:
        yield node


_WRITERS: dict[type[Expr], Callable[[Number, Any], tuple[Any, ...]]] = {
    Attribute: lambda number, expr: ("a", number(expr.base), expr.attribute, *expr.place),
    Subscript: lambda number, expr: ("s", number(expr.base), number(expr.index), *expr.place),
    Binary: lambda number, expr: (
        "b",
        expr.operator,
        number(expr.left),
        number(expr.right),
        *expr.place,
    ),
    Unary: lambda number, expr: ("u", expr.operator, number(expr.operand), *expr.place),
    Boolean: lambda number, expr: ("o", expr.operator, tuple(map(number, expr.operands)), *expr.place),
    Compare: lambda number, expr: (
        "m",
        number(expr.left),
        tuple([(item.operator, number(item.right)) for item in expr.rights]),
        *expr.place,
    ),
    Conditional: lambda number, expr: (
        "i",
        number(expr.test),
        number(expr.then),
        number(expr.otherwise),
        *expr.place,
    ),
    Collection: lambda number, expr: ("t", expr.kind, tuple(map(number, expr.items)), *expr.place),
    Dictionary: lambda number, expr: (
        "d",
        tuple([(_write_node(number, key), number(value)) for key, value in expr.entries]),
        *expr.place,
    ),
    Lambda: lambda _, expr: ("l", expr.number),
    Starred: lambda number, expr: ("*", number(expr.value)),
    FString: lambda number, expr: ("f", tuple(map(number, expr.parts)), expr.tail, expr.calls, expr.pieces),
    Slice: lambda number, expr: (
        "x",
        _write_node(number, expr.lower),
        _write_node(number, expr.upper),
        _write_node(number, expr.step),
    ),
    Comprehension: lambda number, expr: (
        "g",
        expr.kind,
        tuple(map(number, expr.parts)),
        tuple([(number(a), number(b), tuple(map(number, tests))) for a, b, tests in expr.generators]),
    ),
    Assigned: lambda number, expr: ("w", expr.name, number(expr.value)),
    Yield: lambda number, expr: ("y", number(expr.value)),
    Pattern: lambda number, expr: ("p", expr.kind, tuple(map(number, expr.parts)), expr.name),
}
"""What stands for a node of each kind: the letter of its reader, then what that is given."""
_READERS: dict[str, Callable[..., Expr]] = {
    "a": lambda node, base, attribute, *place: Attribute(node(base), attribute, new_place(Place, place)),
    "s": lambda node, base, index, *place: Subscript(node(base), node(index), new_place(Place, place)),
    "b": lambda node, sign, left, right, *place: Binary(
        sign, node(left), node(right), new_place(Place, place)
    ),
    "u": lambda node, sign, operand, *place: Unary(sign, node(operand), new_place(Place, place)),
    "o": lambda node, sign, operands, *place: Boolean(
        sign, tuple(map(node, operands)), new_place(Place, place)
    ),
    "m": lambda node, left, rights, *place: Compare(
        node(left), tuple([Comparison(sign, node(right)) for sign, right in rights]), new_place(Place, place)
    ),
    "i": lambda node, test, then, otherwise, *place: Conditional(
        node(test), node(then), node(otherwise), new_place(Place, place)
    ),
    "t": lambda node, kind, items, *place: Collection(kind, tuple(map(node, items)), new_place(Place, place)),
    "d": lambda node, entries, *place: Dictionary(
        tuple([(_read_node(node, key), node(value)) for key, value in entries]), new_place(Place, place)
    ),
    "l": lambda _, number: Lambda(number),
    "*": lambda node, value: Starred(node(value)),
    "f": lambda node, parts, tail, calls, pieces: FString(tuple(map(node, parts)), tail, calls, pieces),
    "x": lambda node, lower, upper, step: Slice(
        _read_node(node, lower), _read_node(node, upper), _read_node(node, step)
    ),
    "g": lambda node, kind, parts, generators: Comprehension(
        kind,
        tuple(map(node, parts)),
        tuple([(node(a), node(b), tuple(map(node, tests))) for a, b, tests in generators]),
    ),
    "w": lambda node, name, value: Assigned(name, node(value)),
    "y": lambda node, value: Yield(node(value)),
    "p": lambda node, kind, parts, name: Pattern(kind, tuple(map(node, parts)), name),
}
"""What makes a node of what stands for it."""


def _write_node(number: Number, node: Expr | None) -> int | None:
    return None if node is None else number(node)


def _read_node(node: Node, number: int | None) -> Expr | None:
    return None if number is None else node(number)


# Scopes


def _pack_scope(number: Number, scope: Scope) -> tuple[Any, ...]:
    return (
        scope.kind, scope.name, scope.qualname, scope.parent, scope.block, scope.place.plain,
        [
            (name, _write_node(number, annotation), _write_node(number, default), kind)
            for name, annotation, default, kind in scope.params
        ],
        list(map(number, scope.decorators)), _write_node(number, scope.returns), list(map(number, scope.bases)),
        scope.is_async, scope.generator, list(scope.names), list(scope.outer), scope.imports, scope.stars,
        scope.children,
        [(block.parent, block.kind, _write_node(number, block.test), block.branch, block.line) for block in scope.blocks],
        [
            (
                number(call.func), tuple(map(number, call.args)),
                tuple([(name, number(value)) for name, value in call.keywords]), call.block, call.place.plain,
            )
            for call in scope.calls
        ],
        _pack_events(number, scope.body),
        [(number(node), block) for node, block in scope.references],
    )  # fmt: skip


def _unpack_scope(node: Node, unfilled: Iterator[Call], number: int, data: tuple[Any, ...]) -> Scope:
    (
        kind, name, qualname, parent, block, place, params, decorators, returns, bases, is_async, generator, names,
        outer, imports, stars, inner, blocks, calls, body, references,
    ) = data  # fmt: skip
    scope = Scope(number, kind, name, qualname, parent, block, new_place(Place, place))
    scope.params = tuple(
        [Parameter(param, _read_node(node, annotation), _read_node(node, default), kind) for param, annotation, default, kind in params]
    )  # fmt: skip
    scope.decorators = tuple(map(node, decorators))
    scope.returns = _read_node(node, returns)
    scope.bases = tuple(map(node, bases))
    scope.is_async = is_async
    scope.generator = generator
    scope.names = set(names)
    scope.outer = frozenset(outer) if outer else NO_NAMES
    scope.imports = imports
    scope.stars = stars
    scope.children = inner
    scope.blocks = [
        Block(above, kind, _read_node(node, test), branch, line) for above, kind, test, branch, line in blocks
    ]
    for index, ((func, args, keywords, block, place), call) in enumerate(zip(calls, unfilled, strict=False)):
        call.__init__(  # the node is there already, since others hold it
            node(func),
            tuple(map(node, args)) if args else (),
            tuple([(name, node(value)) for name, value in keywords]) if keywords else (),
            block,
            new_place(Place, place),
            index,
        )
        scope.calls.append(call)
    scope.body = _unpack_events(node, body)
    for expr, index in references:
        found = node(expr)
        if isinstance(found, Attribute):
            scope.references.append((found, index))
    return scope


def _pack_events(number: Number, events: Iterable[Event]) -> list[tuple[Any, ...]]:
    # Most statements have no suites, and nothing beside what they bind and what they compute.
    return [
        (e.kind, e.block, e.place.plain, tuple(map(number, e.targets)), _write_node(number, e.value))
        if e.extra is None and not e.bodies
        else (
            e.kind, e.block, e.place.plain, tuple(map(number, e.targets)), _write_node(number, e.value), _pack_extra(number, e),
            [(block, _pack_events(number, body)) for block, body in e.bodies],
        )
        for e in events
    ]  # fmt: skip


def _pack_extra(number: Number, event: Event) -> Any:
    nodes = event.extra_nodes()
    return tuple(map(number, nodes)) if nodes else event.extra


def _unpack_events(node: Node, data: list[tuple[Any, ...]]) -> list[Event]:
    events = []
    for kind, block, place, targets, value, *rest in data:
        event = Event(
            kind,
            block,
            new_place(Place, place),
            tuple(map(node, targets)) if targets else (),
            None if value is None else node(value),
        )
        if rest:
            extra, bodies = rest
            event.extra = _unpack_extra(node, kind, extra)
            event.bodies = tuple([(number, _unpack_events(node, body)) for number, body in bodies])
        events.append(event)
    return events


def _unpack_extra(node: Node, kind: str, extra: Any) -> Any:
    if kind == "annotate":
        return node(extra[0])
    return tuple(map(node, extra)) if kind in NODES_IN_EXTRA else extra
