"""Build the summary of a file in one walk over its syntax tree."""

from __future__ import annotations

import _ast
from collections.abc import Callable, Sequence
from typing import Any

from cfgfix.code.model.expression_builder import BINARY_OPERATORS, ExpressionBuilder
from cfgfix.code.model.nodes import (
    NOT_KEPT,
    Dictionary,
    Expr,
    Literal,
    Name,
    Pattern,
    Place,
    Yield,
    new_place,
)
from cfgfix.code.model.summary import Event

_EXITS = frozenset({"return", "raise", "continue", "break"})


class SummaryBuilder(ExpressionBuilder):
    """One walk over a tree.

    Args:
        tree: What the parser made.
        lines: The numbers of the lines, by themselves: places then share them, which is a sixth of a summary's memory.
    """

    __slots__ = ()

    def __init__(self, tree: Any, lines: Sequence[int]) -> None:
        super().__init__(lines)
        self.scope.body = self.statements(tree.body, 0)

    def statements(self, nodes: list[Any], block: int) -> list[Event]:
        """Return the events of one suite.

        Statements behind `if c: return` get a block of their own.
        """
        outer = self.block
        self.block = block
        events: list[Event] = []
        for node in nodes:
            handler = _STATEMENTS.get(type(node))
            if handler is None:
                continue
            event = handler(self, node)
            if event is None:
                continue
            events.append(event)
            if event.kind == "if":
                then, otherwise = event.bodies[0][1], event.bodies[1][1] if len(event.bodies) > 1 else []
                if _always_leaves(then):
                    if not _always_leaves(otherwise):
                        self.block = self.open("if", event.value, False, event.end_line + 1)
                elif otherwise and _always_leaves(otherwise):
                    self.block = self.open("if", event.value, True, event.end_line + 1)
        self.block = outer
        return events

    def _define(self, node: Any) -> Event:
        lines = self.lines
        decorators = self.many(node.decorator_list)
        params = self.parameters(node.args)
        returns = self.optional(node.returns)
        place = new_place(
            Place, (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset)
        )
        scope = self.enter("function", node.name, place)
        self.scope.names.add(node.name)
        self.scope.children[node.name] = scope.number
        scope.params = params
        scope.decorators = decorators
        scope.returns = returns
        scope.is_async = type(node) is _ast.AsyncFunctionDef
        scope.names.update(item.name for item in params)
        outer, outer_block, depth = self.scope, self.block, self._depth
        self.scope, self.block, self._depth = scope, 0, 0
        scope.body = self.statements(node.body, 0)
        self.scope, self.block, self._depth = outer, outer_block, depth
        return Event("define", self.block, place, extra=scope.number)

    def _class(self, node: Any) -> Event:
        lines = self.lines
        decorators = self.many(node.decorator_list)
        bases = self.many(node.bases)
        place = new_place(
            Place, (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset)
        )
        keywords = [
            (None if item.arg is None else Literal(item.arg, place), self.expr(item.value))
            for item in node.keywords
        ]
        # What stands in the head of a class beside its bases goes to what makes it.
        head = Dictionary(tuple(keywords), place) if keywords else None
        scope = self.enter("class", node.name, place)
        self.scope.names.add(node.name)
        self.scope.children[node.name] = scope.number
        scope.decorators = decorators
        scope.bases = bases
        outer, outer_block, depth = self.scope, self.block, self._depth
        self.scope, self.block, self._depth = scope, 0, 0
        scope.body = self.statements(node.body, 0)
        self.scope, self.block, self._depth = outer, outer_block, depth
        return Event("define", self.block, place, value=head, extra=scope.number)

    def event(
        self,
        kind: str,
        node: Any,
        targets: tuple[Expr, ...] = (),
        value: Expr | None = None,
        extra: Any = None,
    ) -> Event:
        """Return the event for a statement."""
        lines = self.lines
        return Event(
            kind,
            self.block,
            new_place(
                Place, (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset)
            ),
            targets,
            value,
            extra,
        )

    def _assign(self, node: Any) -> Event:
        value = self.expr(node.value)
        targets = self.many(node.targets)
        for target in targets:
            if isinstance(target, Name):
                self.scope.names.add(target.name)
            else:
                self.bind(target)
        lines = self.lines
        place = new_place(
            Place, (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset)
        )
        return Event("assign", self.block, place, targets, value)

    def _augment(self, node: Any) -> Event:
        value = self.expr(node.value)
        target = self.expr(node.target)
        self.bind(target)
        return self.event("augment", node, (target,), value, BINARY_OPERATORS.get(type(node.op), "?"))

    def _annotate(self, node: Any) -> Event:
        value = self.optional(node.value)
        annotation = self.expr(node.annotation)
        target = self.expr(node.target)
        self.bind(target)
        return self.event("annotate", node, (target,), value, annotation)

    def _expression(self, node: Any) -> Event:
        inner = node.value
        if type(inner) is _ast.Constant and type(inner.value) is str:
            # A docstring: nothing asks what it says.
            inner.value = ""
        value = self.expr(inner)
        lines = self.lines
        place = new_place(
            Place, (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset)
        )
        return Event("yield" if isinstance(value, Yield) else "expr", self.block, place, (), value)

    def _return(self, node: Any) -> Event:
        return self.event("return", node, value=self.optional(node.value))

    def _delete(self, node: Any) -> Event:
        return self.event("delete", node, self.many(node.targets))

    def _raise(self, node: Any) -> Event:
        return self.event("raise", node, value=self.optional(node.exc))

    def _assert(self, node: Any) -> Event:
        message = self.optional(node.msg)
        return self.event(
            "assert", node, value=self.expr(node.test), extra=(message,) if message is not None else ()
        )

    def _plain(self, node: Any) -> Event:
        return self.event(type(node).__name__.lower(), node)

    def _outer(self, node: Any) -> None:
        self.scope.outer = self.scope.outer.union(node.names)

    def _import(self, node: Any) -> Event:
        pairs = []
        for item in node.names:
            if item.asname is not None:
                pairs.append((item.asname, item.name))
            else:
                head = item.name.split(".", 1)[0]
                pairs.append((head, head))
                pairs.append(("", item.name))
        return self._imported(node, pairs)

    def _import_from(self, node: Any) -> Event:
        source = "." * node.level + (node.module or "")
        join = "" if source.endswith(".") else "."
        pairs = []
        for item in node.names:
            if item.name == "*":
                self.scope.stars = (*self.scope.stars, source)
            else:
                pairs.append((item.asname or item.name, f"{source}{join}{item.name}"))
        return self._imported(node, pairs)

    def _imported(self, node: Any, pairs: list[tuple[str, str]]) -> Event:
        imports = self.scope.imports
        for name, source in pairs:
            if name:
                # The first of several wins: later ones stand in `except ImportError` as a rule.
                imports.setdefault(name, source)
                if source.startswith(("tensorflow", "keras.")) or source == "keras":
                    self.frameworks.add(name)
                elif source == "numpy":
                    self.arrays.add(name)
        return self.event("import", node, extra=tuple(pairs))

    def _if(self, node: Any) -> Event:
        test = self.expr(node.test)
        event = self.event("if", node, value=test)
        then = self.open("if", test, True, node.lineno)
        bodies = [(then, self.statements(node.body, then))]
        if node.orelse:
            otherwise = self.open("if", test, False, node.orelse[0].lineno)
            bodies.append((otherwise, self.statements(node.orelse, otherwise)))
        event.bodies = tuple(bodies)
        return event

    def _while(self, node: Any) -> Event:
        event = self.event("while", node)
        body = self.open("while", None, True, node.lineno)
        outer, self.block = self.block, body
        test = self.expr(node.test)
        self.block = outer
        self.scope.blocks[body].test = test
        event.value = test
        bodies = [(body, self.statements(node.body, body))]
        if node.orelse:
            other = self.open("loop-else", test, False, node.orelse[0].lineno)
            bodies.append((other, self.statements(node.orelse, other)))
        event.bodies = tuple(bodies)
        return event

    def _for(self, node: Any) -> Event:
        iterable = self.expr(node.iter)
        target = self.expr(node.target)
        self.bind(target)
        event = self.event("for", node, (target,), iterable)
        body = self.open("for", iterable, True, node.lineno)
        bodies = [(body, self.statements(node.body, body))]
        if node.orelse:
            other = self.open("loop-else", iterable, False, node.orelse[0].lineno)
            bodies.append((other, self.statements(node.orelse, other)))
        event.bodies = tuple(bodies)
        return event

    def _with(self, node: Any) -> Event:
        managers, targets = [], []
        for item in node.items:
            managers.append(self.expr(item.context_expr))
            if item.optional_vars is not None:
                target = self.expr(item.optional_vars)
                self.bind(target)
                targets.append(target)
            else:
                targets.append(NOT_KEPT)
        event = self.event("with", node, tuple(targets), extra=tuple(managers))
        outer = self.block
        body = outer
        for manager in managers:
            self.block = body
            body = self.open("with", manager, True, node.lineno)
        self.block = outer
        event.bodies = ((body, self.statements(node.body, body)),)
        return event

    def _try(self, node: Any) -> Event:
        event = self.event("try", node)
        body = self.open("try", None, True, node.lineno)
        bodies = [(body, self.statements(node.body, body))]
        for handler in node.handlers:
            kind = self.optional(handler.type)
            block = self.open("except", kind, True, handler.lineno)
            if handler.name:
                self.scope.names.add(handler.name)
            bodies.append((block, self.statements(handler.body, block)))
        for name, nodes in (("try-else", node.orelse), ("finally", node.finalbody)):
            if nodes:
                block = self.open(name, None, True, nodes[0].lineno)
                bodies.append((block, self.statements(nodes, block)))
        event.bodies = tuple(bodies)
        return event

    def _match(self, node: Any) -> Event:
        event = self.event("match", node, value=self.expr(node.subject))
        bodies = []
        cases = []
        for case in node.cases:
            block = self.open("match", event.value, True, case.pattern.lineno)
            parts = (self.pattern(case.pattern), *(() if case.guard is None else (self.expr(case.guard),)))
            cases.append(Pattern("case", parts, None))
            bodies.append((block, self.statements(case.body, block)))
        event.bodies = tuple(bodies)
        event.extra = tuple(cases)
        return event


def _always_leaves(events: list[Event]) -> bool:
    """Tell whether a suite always leaves the one around it."""
    if not events:
        return False
    last = events[-1]
    if last.kind in _EXITS:
        return True
    if last.kind == "if" and len(last.bodies) == 2:
        return all(_always_leaves(body) for _, body in last.bodies)
    return False


# The table is part of the builder: it names its methods by the node each one reads.
# ruff: noqa: SLF001
_STATEMENTS: dict[type, Callable[[SummaryBuilder, Any], Event | None]] = {
    _ast.FunctionDef: SummaryBuilder._define,
    _ast.AsyncFunctionDef: SummaryBuilder._define,
    _ast.ClassDef: SummaryBuilder._class,
    _ast.Assign: SummaryBuilder._assign,
    _ast.AugAssign: SummaryBuilder._augment,
    _ast.AnnAssign: SummaryBuilder._annotate,
    _ast.Expr: SummaryBuilder._expression,
    _ast.Return: SummaryBuilder._return,
    _ast.Delete: SummaryBuilder._delete,
    _ast.Raise: SummaryBuilder._raise,
    _ast.Assert: SummaryBuilder._assert,
    _ast.Pass: SummaryBuilder._plain,
    _ast.Break: SummaryBuilder._plain,
    _ast.Continue: SummaryBuilder._plain,
    _ast.Global: SummaryBuilder._outer,
    _ast.Nonlocal: SummaryBuilder._outer,
    _ast.Import: SummaryBuilder._import,
    _ast.ImportFrom: SummaryBuilder._import_from,
    _ast.If: SummaryBuilder._if,
    _ast.While: SummaryBuilder._while,
    _ast.For: SummaryBuilder._for,
    _ast.AsyncFor: SummaryBuilder._for,
    _ast.With: SummaryBuilder._with,
    _ast.AsyncWith: SummaryBuilder._with,
    _ast.Try: SummaryBuilder._try,
    _ast.Match: SummaryBuilder._match,
}


if hasattr(_ast, "TryStar"):
    _STATEMENTS[_ast.TryStar] = SummaryBuilder._try
