"""One walk over a syntax tree to the summary of a file."""

from __future__ import annotations

import _ast
from collections.abc import Callable, Sequence
from typing import Any
from typing import Literal as OneOf

from cfgfix.code.model.nodes import (
    NOT_KEPT,
    Assigned,
    Attribute,
    Binary,
    Boolean,
    Call,
    Collection,
    Compare,
    Comprehension,
    Conditional,
    Dictionary,
    Expr,
    FString,
    Lambda,
    Literal,
    Name,
    Pattern,
    Place,
    Slice,
    Starred,
    Subscript,
    Unary,
    Yield,
)
from cfgfix.code.model.summary import Block, Event, ModuleSummary, Parameter, Scope
from cfgfix.code.tensorflow.numpy_names import GONE

MAX_DEPTH = 150
"""Nesting of expressions that is followed; what lies deeper is unknown. A fluent chain uses two levels a call."""
MAX_ITEMS = 512
"""Entries of a literal that are kept; a table of data has no settings in it."""
MAX_TEXT = 400
"""Characters kept of a text constant."""
_BIN = {
    _ast.Add: "+", _ast.Sub: "-", _ast.Mult: "*", _ast.Div: "/", _ast.FloorDiv: "//", _ast.Mod: "%", _ast.Pow: "**",
    _ast.LShift: "<<", _ast.RShift: ">>", _ast.BitOr: "|", _ast.BitXor: "^", _ast.BitAnd: "&", _ast.MatMult: "@",
}  # fmt: skip
_UNARY = {_ast.Not: "not", _ast.USub: "-", _ast.UAdd: "+", _ast.Invert: "~"}
_COMPARE = {
    _ast.Eq: "==", _ast.NotEq: "!=", _ast.Lt: "<", _ast.LtE: "<=", _ast.Gt: ">", _ast.GtE: ">=",
    _ast.Is: "is", _ast.IsNot: "is not", _ast.In: "in", _ast.NotIn: "not in",
}  # fmt: skip
_EXITS = frozenset({"return", "raise", "continue", "break"})
_NAME_NODE, _ATTRIBUTE_NODE, _CONSTANT_NODE = _ast.Name, _ast.Attribute, _ast.Constant


class SummaryBuilder:
    """One walk over a tree.

    It makes most of the objects of a cold scan, so it is written for speed: no keyword arguments, no helper for places.

    Args:
        tree: What the parser made.
        lines: The numbers of the lines, by themselves: places then share them, which is a sixth of a summary's memory.
    """

    __slots__ = ("_depth", "arrays", "block", "frameworks", "lines", "scope", "summary")

    def __init__(self, tree: Any, lines: Sequence[int]) -> None:
        self.summary = ModuleSummary()
        self.lines = lines
        self._depth = 0
        self.frameworks: set[str] = set()
        self.arrays: set[str] = set()
        module = Scope(0, "module", "", "", -1, -1, (1, 0, 1, 0))
        self.summary.scopes.append(module)
        self.scope = module
        self.block = 0
        module.body = self.statements(tree.body, 0)

    # Expressions

    def expr(self, node: Any) -> Expr:
        """Return an expression as the node that stands for it."""
        kind = type(node)
        if kind is _NAME_NODE:
            # Half of all expressions are names.
            lines = self.lines
            return Name(
                node.id,
                (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset),
            )
        if kind is _CONSTANT_NODE:
            return self._constant(node)
        handler = _EXPRESSIONS.get(kind)
        if handler is None or self._depth > MAX_DEPTH:
            return NOT_KEPT
        self._depth += 1
        found = handler(self, node)
        self._depth -= 1
        return found

    def optional(self, node: Any) -> Expr | None:
        """Return an expression that may be missing."""
        return None if node is None else self.expr(node)

    def many(self, nodes: list[Any]) -> tuple[Expr, ...]:
        """Return several expressions."""
        if len(nodes) == 1:
            return (self.expr(nodes[0]),)
        if len(nodes) > MAX_ITEMS:
            nodes = nodes[:MAX_ITEMS]
        found = []
        for node in nodes:
            # A comprehension would be a call more.
            found.append(self.expr(node))
        return tuple(found)

    def _attribute(self, node: Any) -> Expr:
        lines = self.lines
        head = node.value
        kind = type(head)
        if kind is _NAME_NODE:
            name = head.id
            expr = Attribute(
                Name(
                    name,
                    (lines[head.lineno], head.col_offset, lines[head.end_lineno], head.end_col_offset),
                ),
                node.attr,
                (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset),
            )
            if name in self.frameworks or (node.attr in GONE and name in self.arrays):
                self.scope.references.append((expr, self.block))
            return expr
        if kind is _ATTRIBUTE_NODE:
            chain = [node]
            while type(head) is _ATTRIBUTE_NODE:
                chain.append(head)
                head = head.value
            if len(chain) > MAX_DEPTH:
                return NOT_KEPT
            base = self.expr(head)
            for item in reversed(chain):
                base = expr = Attribute(
                    base,
                    item.attr,
                    (lines[item.lineno], item.col_offset, lines[item.end_lineno], item.end_col_offset),
                )
        else:
            expr = Attribute(
                self.expr(head),
                node.attr,
                (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset),
            )
        if type(head) is _NAME_NODE and head.id in self.frameworks:
            self.scope.references.append((expr, self.block))
        return expr

    def _constant(self, node: Any) -> Expr:
        lines = self.lines
        value = node.value
        kind = type(value)
        if kind is str:
            if len(value) > MAX_TEXT:
                value = value[:MAX_TEXT]
        elif kind is bool or value is None or kind is float:
            pass
        elif kind is bytes:
            value = value[:MAX_TEXT]
        elif kind is int:
            if value.bit_length() > 256:
                return NOT_KEPT
        else:
            return NOT_KEPT
        return Literal(
            value,
            (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset),
        )

    def _subscript(self, node: Any) -> Expr:
        lines = self.lines
        return Subscript(
            self.expr(node.value),
            self.expr(node.slice),
            (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset),
        )

    def _call(self, node: Any) -> Expr:
        lines = self.lines
        func = self.expr(node.func)
        args = self.many(node.args) if node.args else ()
        keywords = (
            tuple([(item.arg, self.expr(item.value)) for item in node.keywords[:MAX_ITEMS]])
            if node.keywords
            else ()
        )
        calls = self.scope.calls
        call = Call(
            func,
            args,
            keywords,
            self.block,
            (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset),
            len(calls),
        )
        calls.append(call)
        return call

    def _binary(self, node: Any) -> Expr:
        lines = self.lines
        return Binary(
            _BIN.get(type(node.op), "?"),
            self.expr(node.left),
            self.expr(node.right),
            (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset),
        )

    def _unary(self, node: Any) -> Expr:
        lines = self.lines
        operand = node.operand
        if (
            type(node.op) is _ast.USub
            and type(operand) is _ast.Constant
            and type(operand.value) in (int, float)
        ):
            inner = self._constant(operand)
            if isinstance(inner, Literal):
                return Literal(
                    -inner.value,  # type: ignore[operator] # a number, as was just seen
                    (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset),
                )
        return Unary(
            _UNARY.get(type(node.op), "?"),
            self.expr(operand),
            (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset),
        )

    def _boolean(self, node: Any) -> Expr:
        lines = self.lines
        return Boolean(
            "and" if type(node.op) is _ast.And else "or",
            self.many(node.values),
            (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset),
        )

    def _compare(self, node: Any) -> Expr:
        lines = self.lines
        left = self.expr(node.left)
        rest = tuple(
            [
                (_COMPARE.get(type(operator), "?"), self.expr(right))
                for operator, right in zip(node.ops, node.comparators, strict=True)
            ]
        )
        return Compare(
            left,
            rest,
            (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset),
        )

    def _choice(self, node: Any) -> Expr:
        lines = self.lines
        test = self.expr(node.test)
        outer = self.block
        self.block = self.open("if", test, True, node.lineno)
        then = self.expr(node.body)
        self.block = outer
        self.block = self.open("if", test, False, node.lineno)
        otherwise = self.expr(node.orelse)
        self.block = outer
        return Conditional(
            test,
            then,
            otherwise,
            (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset),
        )

    def _items(self, node: Any) -> Expr:
        lines = self.lines
        kind = type(node)
        return Collection(
            "tuple" if kind is _ast.Tuple else "list" if kind is _ast.List else "set",
            self.many(node.elts),
            (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset),
        )

    def _mapping(self, node: Any) -> Expr:
        lines = self.lines
        pairs = []
        for key, value in zip(node.keys[:MAX_ITEMS], node.values[:MAX_ITEMS], strict=True):
            pairs.append((self.optional(key), self.expr(value)))
        return Dictionary(
            tuple(pairs),
            (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset),
        )

    def _lambda(self, node: Any) -> Expr:
        lines = self.lines
        params = self.parameters(node.args)
        place = (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset)
        scope = self.enter("lambda", "<lambda>", place)
        outer, outer_block, depth = self.scope, self.block, self._depth
        self.scope, self.block, self._depth = scope, 0, 0
        scope.params = params
        scope.names.update(item.name for item in params)
        if depth > MAX_DEPTH // 2:
            value: Expr = NOT_KEPT
        else:
            self._depth = depth
            value = self.expr(node.body)
        body = node.body
        scope.body = [
            Event(
                "return",
                0,
                (lines[body.lineno], body.col_offset, lines[body.end_lineno], body.end_col_offset),
                value=value,
            )
        ]
        self.scope, self.block, self._depth = outer, outer_block, depth
        return Lambda(scope.number)

    def _starred(self, node: Any) -> Expr:
        return Starred(self.expr(node.value))

    def _format(self, node: Any) -> Expr:
        parts: list[Expr] = []
        pieces: list[str | tuple[int, str | None]] = []
        calls = len(self.scope.calls)
        for value in node.values:
            if type(value) is _ast.FormattedValue:
                number, written = len(parts), "" if value.conversion in (-1, 115) else None
                parts.append(self.expr(value.value))
                if value.format_spec is not None:
                    inner: list[Any] = value.format_spec.values  # type: ignore[attr-defined]
                    plain = len(inner) == 1 and type(inner[0]) is _ast.Constant
                    written = str(inner[0].value) if plain and written is not None else None
                    parts.append(self.expr(value.format_spec))
                pieces.append((number, written))
            elif type(value) is _ast.Constant:
                pieces.append(str(value.value)[:MAX_TEXT])
        last = node.values[-1] if node.values else None
        tail = str(last.value)[-MAX_TEXT:] if type(last) is _ast.Constant else ""
        return FString(tuple(parts), tail, len(self.scope.calls) > calls, tuple(pieces))

    def _slice(self, node: Any) -> Expr:
        return Slice(self.optional(node.lower), self.optional(node.upper), self.optional(node.step))

    def _comprehension(self, node: Any) -> Expr:
        outer = self.block
        parts: list[Expr] = []
        generators: list[tuple[Expr, Expr, tuple[Expr, ...]]] = []
        for generator in node.generators:
            iterable = self.expr(generator.iter)
            parts.append(iterable)
            conditions: list[Expr] = []
            self.block = self.open("comprehension", iterable, True, node.lineno)
            target = self.expr(generator.target)
            self.bind(target)
            for test in generator.ifs:
                condition = self.expr(test)
                parts.append(condition)
                conditions.append(condition)
                self.block = self.open("if", condition, True, node.lineno)
            generators.append((target, iterable, tuple(conditions)))
        kind = type(node)
        if kind is _ast.DictComp:
            parts.append(self.expr(node.key))
            parts.append(self.expr(node.value))
            name: OneOf["list", "set", "dict", "generator"] = "dict"
        else:
            parts.append(self.expr(node.elt))
            name = "list" if kind is _ast.ListComp else "set" if kind is _ast.SetComp else "generator"
        self.block = outer
        return Comprehension(name, tuple(parts), tuple(generators))

    def _assigned(self, node: Any) -> Expr:
        value = self.expr(node.value)
        self.scope.names.add(node.target.id)
        return Assigned(node.target.id, value)

    def _yield(self, node: Any) -> Expr:
        self.scope.generator = True
        return Yield(NOT_KEPT if node.value is None else self.expr(node.value))

    def _yield_from(self, node: Any) -> Expr:
        self.scope.generator = True
        return Yield(Starred(self.expr(node.value)))

    def _await(self, node: Any) -> Expr:
        return self.expr(node.value)

    # Scopes

    def enter(self, kind: str, name: str, place: Place) -> Scope:
        """Begin a scope."""
        scopes = self.summary.scopes
        above = self.scope
        scope = Scope(
            len(scopes),
            kind,
            name,
            f"{above.qualname}.{name}" if above.qualname else name,
            above.number,
            self.block,
            place,
        )
        scopes.append(scope)
        return scope

    def open(self, kind: str, test: Expr | None, branch: bool, line: int) -> int:
        """Begin a block and return its number."""
        blocks = self.scope.blocks
        blocks.append(Block(self.block, kind, test, branch, line))
        return len(blocks) - 1

    def parameters(self, args: Any) -> tuple[Parameter, ...]:
        """Return the parameters of a function or lambda."""
        found: list[Parameter] = []
        plain = [*args.posonlyargs, *args.args]
        defaults = [None] * (len(plain) - len(args.defaults)) + list(args.defaults)
        for item, default in zip(plain, defaults, strict=True):
            found.append(Parameter(item.arg, self.optional(item.annotation), self.optional(default), "plain"))
        if args.vararg is not None:
            found.append(Parameter(args.vararg.arg, self.optional(args.vararg.annotation), None, "*"))
        for item, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            found.append(
                Parameter(item.arg, self.optional(item.annotation), self.optional(default), "keyword")
            )
        if args.kwarg is not None:
            found.append(Parameter(args.kwarg.arg, self.optional(args.kwarg.annotation), None, "**"))
        return tuple(found)

    def bind(self, target: Expr) -> None:
        """Note the names that an assignment target binds."""
        if isinstance(target, Name):
            self.scope.names.add(target.name)
        elif isinstance(target, Collection):
            for item in target.items:
                self.bind(item)
        elif isinstance(target, Starred):
            self.bind(target.value)

    # Statements

    def statements(self, nodes: list[Any], block: int) -> list[Event]:
        """Return the statements of one suite.

        What follows `if c: return` gets a block of its own.
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
        place = (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset)
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
        place = (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset)
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
        """Return what a statement does, with its place."""
        lines = self.lines
        return Event(
            kind,
            self.block,
            (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset),
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
        place = (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset)
        return Event("assign", self.block, place, targets, value)

    def _augment(self, node: Any) -> Event:
        value = self.expr(node.value)
        target = self.expr(node.target)
        self.bind(target)
        return self.event("augment", node, (target,), value, _BIN.get(type(node.op), "?"))

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
        place = (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset)
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

    def pattern(self, node: Any) -> Expr:
        """Return the pattern of a `case`: its kind, its parts, and the name that it binds."""
        if isinstance(node, _ast.MatchValue):
            return Pattern("value", (self.expr(node.value),), None)
        if isinstance(node, _ast.MatchSingleton):
            return Pattern(
                "value",
                (Literal(node.value, (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)),),
                None,
            )
        if isinstance(node, _ast.MatchMapping):
            pairs = zip(node.keys, node.patterns, strict=True)
            parts = tuple(part for key, inner in pairs for part in (self.expr(key), self.pattern(inner)))
            return Pattern("map", parts, self._bound_by(node.rest))
        if isinstance(node, _ast.MatchSequence):
            return Pattern("list", tuple(map(self.pattern, node.patterns)), None)
        if isinstance(node, _ast.MatchStar):
            return Pattern("rest", (), self._bound_by(node.name))
        if isinstance(node, _ast.MatchAs):
            inner = () if node.pattern is None else (self.pattern(node.pattern),)
            return Pattern("any", inner, self._bound_by(node.name))
        if isinstance(node, _ast.MatchOr):
            return Pattern("or", tuple(map(self.pattern, node.patterns)), None)
        named = zip(getattr(node, "kwd_attrs", ()), getattr(node, "kwd_patterns", ()), strict=True)
        fields = (Pattern("field", (self.pattern(inner),), name) for name, inner in named)
        return Pattern("class", (self.expr(node.cls), *map(self.pattern, node.patterns), *fields), None)

    def _bound_by(self, name: str | None) -> str | None:
        if name is not None:
            self.scope.names.add(name)
        return name


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


# The two tables are part of the builder: they name its methods by the node each one reads.
# ruff: noqa: SLF001
_EXPRESSIONS: dict[type, Callable[[SummaryBuilder, Any], Expr]] = {
    _ast.Attribute: SummaryBuilder._attribute,
    _ast.Constant: SummaryBuilder._constant,
    _ast.Call: SummaryBuilder._call,
    _ast.Subscript: SummaryBuilder._subscript,
    _ast.BinOp: SummaryBuilder._binary,
    _ast.UnaryOp: SummaryBuilder._unary,
    _ast.BoolOp: SummaryBuilder._boolean,
    _ast.Compare: SummaryBuilder._compare,
    _ast.IfExp: SummaryBuilder._choice,
    _ast.Tuple: SummaryBuilder._items,
    _ast.List: SummaryBuilder._items,
    _ast.Set: SummaryBuilder._items,
    _ast.Dict: SummaryBuilder._mapping,
    _ast.Lambda: SummaryBuilder._lambda,
    _ast.Starred: SummaryBuilder._starred,
    _ast.JoinedStr: SummaryBuilder._format,
    _ast.Slice: SummaryBuilder._slice,
    _ast.ListComp: SummaryBuilder._comprehension,
    _ast.SetComp: SummaryBuilder._comprehension,
    _ast.DictComp: SummaryBuilder._comprehension,
    _ast.GeneratorExp: SummaryBuilder._comprehension,
    _ast.NamedExpr: SummaryBuilder._assigned,
    _ast.Yield: SummaryBuilder._yield,
    _ast.YieldFrom: SummaryBuilder._yield_from,
    _ast.Await: SummaryBuilder._await,
}
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
