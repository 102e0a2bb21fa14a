"""Expressions of a syntax tree as the nodes that a summary keeps."""

from __future__ import annotations

import _ast
from collections.abc import Callable, Sequence
from typing import Any
from typing import Literal as OneOf

from cfgfix.code.model.nodes import (
    FILE_START,
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
    Pattern,
    Place,
    Slice,
    Starred,
    Subscript,
    Unary,
    Yield,
    new_place,
)
from cfgfix.code.model.summary import Block, Event, ModuleSummary, Parameter, Scope
from cfgfix.code.tensorflow.numpy_names import GONE

MAX_DEPTH = 150
"""Nesting of expressions that is followed; what lies deeper is unknown. A fluent chain uses two levels a call."""
MAX_ITEMS = 512
"""Entries of a literal and arguments of a call that are kept; the others are one `*` or `**` of what is not known."""
MAX_TEXT = 400
"""Characters kept of a text constant."""
BINARY_OPERATORS = {
    _ast.Add: "+", _ast.Sub: "-", _ast.Mult: "*", _ast.Div: "/", _ast.FloorDiv: "//", _ast.Mod: "%", _ast.Pow: "**",
    _ast.LShift: "<<", _ast.RShift: ">>", _ast.BitOr: "|", _ast.BitXor: "^", _ast.BitAnd: "&", _ast.MatMult: "@",
}  # fmt: skip
_UNARY = {_ast.Not: "not", _ast.USub: "-", _ast.UAdd: "+", _ast.Invert: "~"}
_COMPARE = {
    _ast.Eq: "==", _ast.NotEq: "!=", _ast.Lt: "<", _ast.LtE: "<=", _ast.Gt: ">", _ast.GtE: ">=",
    _ast.Is: "is", _ast.IsNot: "is not", _ast.In: "in", _ast.NotIn: "not in",
}  # fmt: skip
_NAME_NODE, _ATTRIBUTE_NODE, _CONSTANT_NODE = _ast.Name, _ast.Attribute, _ast.Constant


class ExpressionBuilder:
    """The part of a walk over a tree that meets expressions.

    It makes most of the objects of a cold scan, so it is written for speed: no keyword arguments, no helper for places.

    Args:
        lines: The numbers of the lines, by themselves: places then share them, which is a sixth of a summary's memory.
    """

    __slots__ = ("_depth", "arrays", "block", "frameworks", "lines", "scope", "summary")

    def __init__(self, lines: Sequence[int]) -> None:
        self.summary = ModuleSummary()
        self.lines = lines
        self._depth = 0
        self.frameworks: set[str] = set()
        self.arrays: set[str] = set()
        module = Scope(0, "module", "", "", -1, -1, FILE_START)
        self.summary.scopes.append(module)
        self.scope = module
        self.block = 0

    # Expressions

    def expr(self, node: Any) -> Expr:
        """Return an expression as the node that stands for it."""
        kind = type(node)
        if kind is _NAME_NODE:
            # Half of all expressions are names.
            lines = self.lines
            return Name(
                node.id,
                new_place(
                    Place, (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset)
                ),
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
        """Return the node for an expression, or None where the expression is missing."""
        return None if node is None else self.expr(node)

    def many(self, nodes: list[Any]) -> tuple[Expr, ...]:
        """Return the nodes for several expressions."""
        if len(nodes) == 1:
            return (self.expr(nodes[0]),)
        if len(nodes) > MAX_ITEMS:
            nodes = nodes[:MAX_ITEMS]
        found = []
        for node in nodes:
            # A comprehension would be a call more.
            found.append(self.expr(node))
        return tuple(found)

    def _elements(self, nodes: list[Any]) -> tuple[Expr, ...]:
        """Return the elements of a literal or a call.

        The last element is a `*` where some are not kept.
        """
        found = self.many(nodes)
        return found if len(nodes) <= MAX_ITEMS else (*found, Starred(NOT_KEPT))

    def _attribute(self, node: Any) -> Expr:
        lines = self.lines
        head = node.value
        kind = type(head)
        if kind is _NAME_NODE:
            name = head.id
            expr = Attribute(
                Name(
                    name,
                    new_place(
                        Place,
                        (lines[head.lineno], head.col_offset, lines[head.end_lineno], head.end_col_offset),
                    ),
                ),
                node.attr,
                new_place(
                    Place, (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset)
                ),
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
                    new_place(
                        Place,
                        (lines[item.lineno], item.col_offset, lines[item.end_lineno], item.end_col_offset),
                    ),
                )
        else:
            expr = Attribute(
                self.expr(head),
                node.attr,
                new_place(
                    Place, (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset)
                ),
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
            new_place(
                Place, (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset)
            ),
        )

    def _subscript(self, node: Any) -> Expr:
        lines = self.lines
        return Subscript(
            self.expr(node.value),
            self.expr(node.slice),
            new_place(
                Place, (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset)
            ),
        )

    def _call(self, node: Any) -> Expr:
        lines = self.lines
        func = self.expr(node.func)
        args = self._elements(node.args) if node.args else ()
        keywords: tuple[tuple[str | None, Expr], ...] = ()
        if node.keywords:
            keywords = tuple([(item.arg, self.expr(item.value)) for item in node.keywords[:MAX_ITEMS]])
            if len(node.keywords) > MAX_ITEMS:
                keywords = (*keywords, (None, NOT_KEPT))
        calls = self.scope.calls
        call = Call(
            func,
            args,
            keywords,
            self.block,
            new_place(
                Place, (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset)
            ),
            len(calls),
        )
        calls.append(call)
        return call

    def _binary(self, node: Any) -> Expr:
        lines = self.lines
        return Binary(
            BINARY_OPERATORS.get(type(node.op), "?"),
            self.expr(node.left),
            self.expr(node.right),
            new_place(
                Place, (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset)
            ),
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
                    new_place(
                        Place,
                        (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset),
                    ),
                )
        return Unary(
            _UNARY.get(type(node.op), "?"),
            self.expr(operand),
            new_place(
                Place, (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset)
            ),
        )

    def _boolean(self, node: Any) -> Expr:
        lines = self.lines
        return Boolean(
            "and" if type(node.op) is _ast.And else "or",
            self.many(node.values),
            new_place(
                Place, (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset)
            ),
        )

    def _compare(self, node: Any) -> Expr:
        lines = self.lines
        left = self.expr(node.left)
        rest = tuple(
            [
                Comparison(_COMPARE.get(type(operator), "?"), self.expr(right))
                for operator, right in zip(node.ops, node.comparators, strict=True)
            ]
        )
        return Compare(
            left,
            rest,
            new_place(
                Place, (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset)
            ),
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
            new_place(
                Place, (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset)
            ),
        )

    def _items(self, node: Any) -> Expr:
        lines = self.lines
        kind = type(node)
        return Collection(
            "tuple" if kind is _ast.Tuple else "list" if kind is _ast.List else "set",
            self._elements(node.elts),
            new_place(
                Place, (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset)
            ),
        )

    def _mapping(self, node: Any) -> Expr:
        lines = self.lines
        pairs = []
        for key, value in zip(node.keys[:MAX_ITEMS], node.values[:MAX_ITEMS], strict=True):
            pairs.append((self.optional(key), self.expr(value)))
        if len(node.keys) > MAX_ITEMS:
            pairs.append((None, NOT_KEPT))
        return Dictionary(
            tuple(pairs),
            new_place(
                Place, (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset)
            ),
        )

    def _lambda(self, node: Any) -> Expr:
        lines = self.lines
        params = self.parameters(node.args)
        place = new_place(
            Place, (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset)
        )
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
                new_place(
                    Place, (lines[body.lineno], body.col_offset, lines[body.end_lineno], body.end_col_offset)
                ),
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

    def pattern(self, node: Any) -> Expr:
        """Return the pattern of a `case`: its kind, its parts, and the name that it binds."""
        if isinstance(node, _ast.MatchValue):
            return Pattern("value", (self.expr(node.value),), None)
        if isinstance(node, _ast.MatchSingleton):
            return Pattern(
                "value",
                (
                    Literal(
                        node.value, Place(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
                    ),
                ),
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


# The table is part of the builder: it names its methods by the node each one reads.
# ruff: noqa: SLF001
_EXPRESSIONS: dict[type, Callable[[ExpressionBuilder, Any], Expr]] = {
    _ast.Attribute: ExpressionBuilder._attribute,
    _ast.Constant: ExpressionBuilder._constant,
    _ast.Call: ExpressionBuilder._call,
    _ast.Subscript: ExpressionBuilder._subscript,
    _ast.BinOp: ExpressionBuilder._binary,
    _ast.UnaryOp: ExpressionBuilder._unary,
    _ast.BoolOp: ExpressionBuilder._boolean,
    _ast.Compare: ExpressionBuilder._compare,
    _ast.IfExp: ExpressionBuilder._choice,
    _ast.Tuple: ExpressionBuilder._items,
    _ast.List: ExpressionBuilder._items,
    _ast.Set: ExpressionBuilder._items,
    _ast.Dict: ExpressionBuilder._mapping,
    _ast.Lambda: ExpressionBuilder._lambda,
    _ast.Starred: ExpressionBuilder._starred,
    _ast.JoinedStr: ExpressionBuilder._format,
    _ast.Slice: ExpressionBuilder._slice,
    _ast.ListComp: ExpressionBuilder._comprehension,
    _ast.SetComp: ExpressionBuilder._comprehension,
    _ast.DictComp: ExpressionBuilder._comprehension,
    _ast.GeneratorExp: ExpressionBuilder._comprehension,
    _ast.NamedExpr: ExpressionBuilder._assigned,
    _ast.Yield: ExpressionBuilder._yield,
    _ast.YieldFrom: ExpressionBuilder._yield_from,
    _ast.Await: ExpressionBuilder._await,
}
