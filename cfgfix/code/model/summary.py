"""One Python file to a small, serialisable summary of what it does.

The standard library's parser makes the tree; one walk keeps what rules ask about: names, calls, control flow,
assignments, in order. Nothing is resolved here, since that needs other files (`program.py`), and nothing is ever
imported or executed.

Expressions are nested tuples; the first item says what they are (see the constants below), the last item of most
of them is their place: `(line, column, end_line, end_column)`, lines from 1, columns in UTF-8 bytes from 0, as the
parser counts them. `source/expr.py` reads them.

    (NAME, name, place)                 (ATTRIBUTE, base, attribute, place)
    (CONSTANT, value, place)            (SUBSCRIPT, base, index, place)
    (CALL, number)                      the call with this number in `Scope.calls` of the same scope
    (BINARY, operator, left, right, place)
    (UNARY, operator, operand, place)   (BOOLEAN, "and" or "or", operands, place)
    (COMPARE, left, ((operator, right), ...), place)
    (CHOICE, test, then, otherwise, place)
    (ITEMS, "tuple" or "list" or "set", items, place)
    (MAPPING, ((key, value), ...), place)   a `**x` entry has the key None
    (LAMBDA, scope number)              (STARRED, value)
    (FORMAT, parts, text behind the last part, whether a part calls something, pieces)
        pieces: texts, and `(number of the part, how it is written)`; that is None where it is not plain text
    (SLICE, lower, upper, step)         (COMPREHENSION, kind, parts, ((target, iterable, conditions), ...))
    (ASSIGNED, name, value)             (YIELD, value)            (UNKNOWN,)
"""

from __future__ import annotations

import _ast
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from cfgfix.code.tensorflow.numpy_names import GONE

Expr = tuple[Any, ...]
Place = tuple[int, int, int, int]

NAME, ATTRIBUTE, CONSTANT, SUBSCRIPT, CALL = "n", "a", "k", "s", "c"
BINARY, UNARY, BOOLEAN, COMPARE, CHOICE = "b", "u", "o", "m", "i"
ITEMS, MAPPING, LAMBDA, STARRED, FORMAT = "t", "d", "l", "*", "f"
SLICE, COMPREHENSION, ASSIGNED, YIELD, UNKNOWN = "x", "g", "w", "y", "?"

WORDS = (
    "AUTOTUNE", "environ", "Lock(", "TF_USE_LEGACY_KERAS", "tf_keras", "compat", "optimizer.lr", "opt.lr", "putenv", "run_eagerly", ".variables()",
    "hf://", "zipped", "rbax", "n't work",
)  # fmt: skip
"""Words of which a summary notes whether they stand in the file."""
MAX_BYTES = 2 * 1024 * 1024
"""Largest Python file that is parsed, in bytes: the parser needs about 100 bytes of memory for each byte of dense
literals, so this keeps one file below a quarter of a gigabyte and a few seconds. The largest hand-written file of
TensorFlow's own tree has about 0.3 MB."""
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


_NONE: frozenset[str] = frozenset()


class Block:
    """One stretch of code under one guard; `Scope.blocks[0]` is the whole body of the scope.

    Attributes:
        parent: Number of the enclosing block, -1 for the body.
        kind: `body`, `if`, `while`, `for`, `loop-else`, `with`, `try`, `except`, `try-else`, `finally`, `match` or
            `comprehension`.
        test: The guard: the condition of `if` and `while`, what a loop goes over, the exception type of `except`,
            the context manager of `with`; None where there is none.
        branch: For `if`: whether the condition holds here. Code after `if c: return` stands in a block of kind `if`
            with the branch False.
        line: 1-based line at which it begins.
        sides: What an `if` says of its parts, each as text, where something asked for it; never stored.
    """

    __slots__ = ("branch", "kind", "line", "parent", "sides", "test")

    def __init__(self, parent: int, kind: str, test: Expr | None, branch: bool, line: int) -> None:
        self.parent = parent
        self.kind = kind
        self.test = test
        self.branch = branch
        self.line = line
        self.sides: tuple[tuple[str, bool], ...] | None = None


class Call:
    """One call: what is called, with what, where, and under which guard.

    Attributes:
        func: The callee as an expression.
        args: Positional arguments.
        keywords: Pairs of name and value; a `**x` has the name None.
        block: Number of the block it stands in.
        place: Its span.
        number: Its number in the scope; inner calls come first.
    """

    __slots__ = ("args", "block", "func", "keywords", "number", "place")

    def __init__(
        self,
        func: Expr,
        args: tuple[Expr, ...],
        keywords: tuple[tuple[str | None, Expr], ...],
        block: int,
        place: Place,
        number: int,
    ) -> None:
        self.func = func
        self.args = args
        self.keywords = keywords
        self.block = block
        self.place = place
        self.number = number

    def keyword(self, name: str) -> Expr | None:
        """Return the value of a keyword argument, or None."""
        for key, value in self.keywords:
            if key == name:
                return value
        return None

    def argument(self, position: int, name: str) -> Expr | None:
        """Return an argument given by position or by name, or None."""
        if 0 <= position < len(self.args):
            for item in self.args[: position + 1]:
                if item[0] == STARRED:
                    return self.keyword(name)
            return self.args[position]
        return self.keyword(name)

    @property
    def opaque(self) -> bool:
        """Whether `*x` or `**x` hides some of its arguments."""
        return (bool(self.args) and any(item[0] == STARRED for item in self.args)) or (
            bool(self.keywords) and any(key is None for key, _ in self.keywords)
        )

    @property
    def method(self) -> str | None:
        """The attribute that is called, such as `map` of `ds.map(f)`.

        None for a plain name.
        """
        return self.func[2] if self.func[0] == ATTRIBUTE else None

    @property
    def name_place(self) -> Place:
        """The span of the callee's last name.

        The part of a fluent chain that is this call's own.
        """
        func = self.func
        if func[0] == ATTRIBUTE:
            _, _, end_line, end_column = func[3]
            return end_line, max(0, end_column - len(func[2].encode())), end_line, end_column
        if func[0] == NAME:
            place: Place = func[2]
            return place
        return self.place


class Event:
    """One statement.

    Attributes:
        kind: `assign`, `augment`, `annotate`, `expr`, `return`, `yield`, `delete`, `raise`, `assert`, `if`, `while`,
            `for`, `with`, `try`, `match`, `define` (function or class), `import`, `pass`, `break`, `continue`.
        block: Number of the block it stands in.
        place: Its span, decorators left out.
        targets: What is bound: assignment targets, the loop variable, the names after `as`.
        value: The value assigned, returned, tested or looped over; for `define` None.
        extra: For `augment` the operator; for `annotate` the annotation; for `with` the context managers; for
            `define` the scope's number; for `import` pairs of bound name and dotted source; for `match` the guards of
            its cases; for `assert` its message, as a tuple.
        bodies: For compound statements pairs of block number and statements, in order.
    """

    __slots__ = ("block", "bodies", "extra", "kind", "place", "targets", "value")

    def __init__(
        self,
        kind: str,
        block: int,
        place: Place,
        targets: tuple[Expr, ...] = (),
        value: Expr | None = None,
        extra: Any = None,
        bodies: tuple[tuple[int, list[Event]], ...] = (),
    ) -> None:
        self.kind = kind
        self.block = block
        self.place = place
        self.targets = targets
        self.value = value
        self.extra = extra
        self.bodies = bodies


class Scope:
    """A module, a class, a function or a lambda.

    Attributes:
        number: Its number in `ModuleSummary.scopes`; the module itself is 0.
        kind: `module`, `class`, `function` or `lambda`.
        name: Its name; `<lambda>` for a lambda, empty for the module.
        qualname: Dotted name inside the module, such as `Trainer.fit.step`.
        parent: Number of the enclosing scope, -1 for the module.
        block: Number of the enclosing scope's block in which it is defined.
        place: Its span, from `def` or `class` on (decorators left out).
        params: For functions tuples `(name, annotation, default, kind)`; kind is `plain`, `*`, `keyword` or `**`.
            Annotation and default are expressions of the enclosing scope.
        decorators: Expressions of the enclosing scope.
        returns: The annotation of the result, or None.
        bases: For classes: base expressions of the enclosing scope.
        is_async: Whether it is an `async def`.
        generator: Whether it yields.
        names: Names it binds itself (parameters included), which hide outer ones.
        outer: Names it declares `global` or `nonlocal`.
        imports: Bound name to dotted source; relative imports begin with dots.
        stars: Modules imported with `*`.
        children: Names of functions and classes defined directly in it, to scope numbers (the last one wins).
        blocks, calls, body: Its guards, its calls, its statements.
        references: `(expression, block)` of each longest `tf.a.b.c` whose head an import of TensorFlow or Keras binds, and of what NumPy has
            no more.
        module: The linked module it belongs to (`program.Module`); None before linking, and never stored.
    """

    __slots__ = (
        "_bound", "_events", "bases", "block", "blocks", "body", "calls", "children", "decorators", "generator", "imports", "is_async",
        "kind", "module", "name", "names", "number", "outer", "params", "parent", "place", "qualname", "references", "returns",
        "stars",
    )  # fmt: skip

    def __init__(
        self, number: int, kind: str, name: str, qualname: str, parent: int, block: int, place: Place
    ) -> None:
        self.number = number
        self.kind = kind
        self.name = name
        self.qualname = qualname
        self.parent = parent
        self.block = block
        self.place = place
        self.params: tuple[tuple[str, Expr | None, Expr | None, str], ...] = ()
        self.decorators: tuple[Expr, ...] = ()
        self.returns: Expr | None = None
        self.bases: tuple[Expr, ...] = ()
        self.is_async = False
        self.generator = False
        self.names: set[str] = set()
        self.outer: frozenset[str] = _NONE
        self.imports: dict[str, str] = {}
        self.stars: tuple[str, ...] = ()
        self.children: dict[str, int] = {}
        self.blocks: list[Block] = [Block(-1, "body", None, True, place[0])]
        self.calls: list[Call] = []
        self.body: list[Event] = []
        self.references: list[tuple[Expr, int]] = []
        self.module: Any = None
        self._events: list[Event] | None = None
        self._bound: dict[str, list[Event]] | None = None

    def events(self) -> list[Event]:
        """Return all statements of the scope in order, those of inner blocks included.

        The list is made once.
        """
        found = self._events
        if found is None:
            found = []
            pending: list[Iterator[Event]] = [iter(self.body)]
            while pending:
                for event in pending[-1]:
                    found.append(event)
                    if event.bodies:
                        pending.append(iter([inner for _, body in event.bodies for inner in body]))
                        break
                else:
                    pending.pop()
            self._events = found
        return found

    def binding(self, name: str) -> list[Event]:
        """Return the statements that bind a name, in order.

        By assignment, as a loop's variable, or by import.
        """
        bound = self._bound
        if bound is None:
            bound = self._bound = {}
            for event in self.events():
                names: dict[str, None] = {}
                if event.kind == "import":
                    names = dict.fromkeys(name for name, _ in event.extra)
                else:
                    for target in event.targets:
                        bind(target, names)
                for item in names:
                    bound.setdefault(item, []).append(event)
        return bound.get(name, [])

    def block_chain(self, block: int) -> Iterator[Block]:
        """Yield a block and the blocks around it, innermost first, up to the scope's body."""
        while block >= 0:
            found = self.blocks[block]
            yield found
            block = found.parent

    def block_numbers(self, block: int) -> Iterator[int]:
        """Yield the numbers of a block and of the blocks around it, innermost first."""
        while block >= 0:
            yield block
            block = self.blocks[block].parent

    def loops(self, block: int) -> list[Block]:
        """Return the loops around a block, innermost first."""
        return [found for found in self.block_chain(block) if found.kind in ("for", "while", "comprehension")]


def bind(target: Expr, names: dict[str, None]) -> None:
    """Add the names that an assignment target binds."""
    if target[0] == NAME:
        names[target[1]] = None
    elif target[0] == ITEMS:
        for item in target[2]:
            bind(item, names)
    elif target[0] == STARRED:
        bind(target[1], names)


class ModuleSummary:
    """What one file does.

    Attributes:
        scopes: All scopes, the module first; a scope comes before those inside it.
        suppressions: `(line, rule ids, whole file)` of each suppression comment.
        problem: Why there is nothing else in it: `(message, line)`; None for a file that was read.
        cells: For a notebook the first line of each code cell in the joined text, with the cell's number.
        lines: How many lines the file has.
        words: Which of `WORDS` stand in it, so that a check about one need not walk every file.
    """

    __slots__ = ("cells", "lines", "problem", "scopes", "suppressions", "words")

    def __init__(self) -> None:
        self.scopes: list[Scope] = []
        self.suppressions: tuple[tuple[int, tuple[str, ...], bool], ...] = ()
        self.problem: tuple[str, int] | None = None
        self.cells: tuple[tuple[int, int], ...] = ()
        self.lines = 0
        self.words: tuple[str, ...] = ()


NOT_PARSED = "is not Python that this interpreter reads"
"""How the reason of a file begins that has a syntax error."""


def broken(message: str, line: int = 1) -> ModuleSummary:
    """Return the summary of a file that could not be read, with the reason."""
    summary = ModuleSummary()
    summary.problem = (message, line)
    return summary


def summarise(text: str, path: str = "<text>") -> ModuleSummary:
    """Return the summary of Python source text.

    A text that does not parse, nests too deep or is too large gives a summary with `problem` set; nothing is raised.
    The caller turns the cyclic garbage collector off where many files are read.
    """
    if len(text) > MAX_BYTES:
        return broken(f"is larger than {MAX_BYTES // (1024 * 1024)} MiB")
    if "\0" in text:
        return broken("holds a NUL character", text.count("\n", 0, text.find("\0")) + 1)
    if _too_deep(text):
        return broken("nests too deep to be read safely")
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = compile(text, path, "exec", _ast.PyCF_ONLY_AST, True)
    except SyntaxError as error:
        return broken(f"{NOT_PARSED}: {error.msg}", error.lineno or 1)
    except (ValueError, OverflowError) as error:
        return broken(f"is not Python: {error}")
    except (RecursionError, MemoryError):
        return broken("nests too deep to be read safely")
    count = text.count("\n") + 1
    try:
        summary = _Builder(tree, _line_numbers(count + text.count("\r"))).summary
    except RecursionError:
        return broken("nests too deep to be read safely")
    summary.lines = count
    summary.words = tuple(word for word in WORDS if word in text)
    if "cfgfix:" in text:
        summary.suppressions = _suppressions(text)
    return summary


_LINES = [0]


def _line_numbers(last: int) -> Sequence[int]:
    """Return the line numbers up to one, the same objects for every file but a huge one."""
    if last >= _MANY_LINES:
        return range(last + 1)
    if last >= len(_LINES):
        _LINES.extend(range(len(_LINES), last + 1))
    return _LINES


_MANY_LINES = 50_000
_RUN = 3000


def _too_deep(text: str) -> bool:
    """Tell whether a text has a run that only nests: such a text can exhaust the parser's own stack.

    Python limits brackets (200) and indentation (100) itself, but not prefix operators and long operator chains.
    """
    start = 0
    while (end := text.rfind("\n", start, start + _RUN)) >= 0:
        start = end + 1
    if len(text) - start < _RUN:
        # No line is that long.
        return False
    for line in text.split("\n"):
        if len(line) >= _RUN and '"' not in line and "'" not in line:
            signs = (
                sum(map(line.count, "-+~*/%&|^."))
                + line.count("not ")
                + line.count("lambda")
                + line.count(" if ")
            )
            if signs >= _RUN and signs > line.count(","):
                return True
    return False


def _suppressions(text: str) -> tuple[tuple[int, tuple[str, ...], bool], ...]:
    import re

    pattern = re.compile(r"#\s*cfgfix:\s*ignore(-file)?\s*(?:\[([^\]\n]*)\])?")
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if "cfgfix:" in line:
            match = pattern.search(line)
            if match is not None:
                rules = tuple(part.strip() for part in (match[2] or "").split(",") if part.strip())
                found.append((number, rules, match[1] is not None))
    return tuple(found)


_NAME_NODE, _ATTRIBUTE_NODE, _CONSTANT_NODE = _ast.Name, _ast.Attribute, _ast.Constant


class _Builder:
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
        kind = type(node)
        if kind is _NAME_NODE:
            # Half of all expressions are names.
            lines = self.lines
            return (
                NAME,
                node.id,
                (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset),
            )
        if kind is _CONSTANT_NODE:
            return self._constant(node)
        handler = _EXPRESSIONS.get(kind)
        if handler is None or self._depth > MAX_DEPTH:
            return (UNKNOWN,)
        self._depth += 1
        found = handler(self, node)
        self._depth -= 1
        return found

    def optional(self, node: Any) -> Expr | None:
        return None if node is None else self.expr(node)

    def many(self, nodes: list[Any]) -> tuple[Expr, ...]:
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
            expr: Expr = (
                ATTRIBUTE,
                (
                    NAME,
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
                return (UNKNOWN,)
            expr = self.expr(head)
            for item in reversed(chain):
                expr = (
                    ATTRIBUTE,
                    expr,
                    item.attr,
                    (lines[item.lineno], item.col_offset, lines[item.end_lineno], item.end_col_offset),
                )
        else:
            expr = (
                ATTRIBUTE,
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
                return (UNKNOWN,)
        else:
            return (UNKNOWN,)
        return (
            CONSTANT,
            value,
            (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset),
        )

    def _subscript(self, node: Any) -> Expr:
        lines = self.lines
        return (
            SUBSCRIPT,
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
        number = len(calls)
        calls.append(
            Call(
                func,
                args,
                keywords,
                self.block,
                (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset),
                number,
            )
        )
        return (CALL, number)

    def _binary(self, node: Any) -> Expr:
        lines = self.lines
        return (
            BINARY,
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
            if inner[0] == CONSTANT:
                return (
                    CONSTANT,
                    -inner[1],
                    (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset),
                )
        return (
            UNARY,
            _UNARY.get(type(node.op), "?"),
            self.expr(operand),
            (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset),
        )

    def _boolean(self, node: Any) -> Expr:
        lines = self.lines
        return (
            BOOLEAN,
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
        return (
            COMPARE,
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
        return (
            CHOICE,
            test,
            then,
            otherwise,
            (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset),
        )

    def _items(self, node: Any) -> Expr:
        lines = self.lines
        kind = type(node)
        return (
            ITEMS,
            "tuple" if kind is _ast.Tuple else "list" if kind is _ast.List else "set",
            self.many(node.elts),
            (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset),
        )

    def _mapping(self, node: Any) -> Expr:
        lines = self.lines
        pairs = []
        for key, value in zip(node.keys[:MAX_ITEMS], node.values[:MAX_ITEMS], strict=True):
            pairs.append((self.optional(key), self.expr(value)))
        return (
            MAPPING,
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
        scope.names.update(item[0] for item in params)
        if depth > MAX_DEPTH // 2:
            value: Expr = (UNKNOWN,)
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
        return (LAMBDA, scope.number)

    def _starred(self, node: Any) -> Expr:
        return (STARRED, self.expr(node.value))

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
        return (FORMAT, tuple(parts), tail, len(self.scope.calls) > calls, tuple(pieces))

    def _slice(self, node: Any) -> Expr:
        return (SLICE, self.optional(node.lower), self.optional(node.upper), self.optional(node.step))

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
            name = "dict"
        else:
            parts.append(self.expr(node.elt))
            name = "list" if kind is _ast.ListComp else "set" if kind is _ast.SetComp else "generator"
        self.block = outer
        return (COMPREHENSION, name, tuple(parts), tuple(generators))

    def _assigned(self, node: Any) -> Expr:
        value = self.expr(node.value)
        self.scope.names.add(node.target.id)
        return (ASSIGNED, node.target.id, value)

    def _yield(self, node: Any) -> Expr:
        self.scope.generator = True
        return (YIELD, (UNKNOWN,) if node.value is None else self.expr(node.value))

    def _await(self, node: Any) -> Expr:
        return self.expr(node.value)

    # Scopes

    def enter(self, kind: str, name: str, place: Place) -> Scope:
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
        blocks = self.scope.blocks
        blocks.append(Block(self.block, kind, test, branch, line))
        return len(blocks) - 1

    def parameters(self, args: Any) -> tuple[tuple[str, Expr | None, Expr | None, str], ...]:
        found: list[tuple[str, Expr | None, Expr | None, str]] = []
        plain = [*args.posonlyargs, *args.args]
        defaults = [None] * (len(plain) - len(args.defaults)) + list(args.defaults)
        for item, default in zip(plain, defaults, strict=True):
            found.append((item.arg, self.optional(item.annotation), self.optional(default), "plain"))
        if args.vararg is not None:
            found.append((args.vararg.arg, self.optional(args.vararg.annotation), None, "*"))
        for item, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            found.append((item.arg, self.optional(item.annotation), self.optional(default), "keyword"))
        if args.kwarg is not None:
            found.append((args.kwarg.arg, self.optional(args.kwarg.annotation), None, "**"))
        return tuple(found)

    def bind(self, target: Expr) -> None:
        """Note the names that an assignment target binds."""
        if target[0] == NAME:
            self.scope.names.add(target[1])
        elif target[0] == ITEMS:
            for item in target[2]:
                self.bind(item)
        elif target[0] == STARRED:
            self.bind(target[1])

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
                if _leaves(then):
                    if not _leaves(otherwise):
                        self.block = self.open("if", event.value, False, event.place[2] + 1)
                elif otherwise and _leaves(otherwise):
                    self.block = self.open("if", event.value, True, event.place[2] + 1)
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
        scope.names.update(item[0] for item in params)
        outer, outer_block, depth = self.scope, self.block, self._depth
        self.scope, self.block, self._depth = scope, 0, 0
        scope.body = self.statements(node.body, 0)
        self.scope, self.block, self._depth = outer, outer_block, depth
        return Event("define", self.block, place, extra=scope.number)

    def _class(self, node: Any) -> Event:
        lines = self.lines
        decorators = self.many(node.decorator_list)
        bases = self.many(node.bases)
        for item in node.keywords:
            self.expr(item.value)
        place = (lines[node.lineno], node.col_offset, lines[node.end_lineno], node.end_col_offset)
        scope = self.enter("class", node.name, place)
        self.scope.names.add(node.name)
        self.scope.children[node.name] = scope.number
        scope.decorators = decorators
        scope.bases = bases
        outer, outer_block, depth = self.scope, self.block, self._depth
        self.scope, self.block, self._depth = scope, 0, 0
        scope.body = self.statements(node.body, 0)
        self.scope, self.block, self._depth = outer, outer_block, depth
        return Event("define", self.block, place, extra=scope.number)

    def event(
        self,
        kind: str,
        node: Any,
        targets: tuple[Expr, ...] = (),
        value: Expr | None = None,
        extra: Any = None,
    ) -> Event:
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
            if target[0] == NAME:
                self.scope.names.add(target[1])
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
        return Event("yield" if value[0] == YIELD else "expr", self.block, place, (), value)

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
                targets.append((UNKNOWN,))
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
        guards = []
        for case in node.cases:
            block = self.open("match", event.value, True, case.pattern.lineno)
            if case.guard is not None:
                guards.append(self.expr(case.guard))
            bodies.append((block, self.statements(case.body, block)))
        event.bodies = tuple(bodies)
        event.extra = tuple(guards)
        return event


def _leaves(events: list[Event]) -> bool:
    """Tell whether a suite always leaves the one around it."""
    if not events:
        return False
    last = events[-1]
    if last.kind in _EXITS:
        return True
    if last.kind == "if" and len(last.bodies) == 2:
        return all(_leaves(body) for _, body in last.bodies)
    return False


# The two tables are part of the builder: they name its methods by the node each one reads.
# ruff: noqa: SLF001
_EXPRESSIONS: dict[type, Callable[[_Builder, Any], Expr]] = {
    _ast.Attribute: _Builder._attribute,
    _ast.Constant: _Builder._constant,
    _ast.Call: _Builder._call,
    _ast.Subscript: _Builder._subscript,
    _ast.BinOp: _Builder._binary,
    _ast.UnaryOp: _Builder._unary,
    _ast.BoolOp: _Builder._boolean,
    _ast.Compare: _Builder._compare,
    _ast.IfExp: _Builder._choice,
    _ast.Tuple: _Builder._items,
    _ast.List: _Builder._items,
    _ast.Set: _Builder._items,
    _ast.Dict: _Builder._mapping,
    _ast.Lambda: _Builder._lambda,
    _ast.Starred: _Builder._starred,
    _ast.JoinedStr: _Builder._format,
    _ast.Slice: _Builder._slice,
    _ast.ListComp: _Builder._comprehension,
    _ast.SetComp: _Builder._comprehension,
    _ast.DictComp: _Builder._comprehension,
    _ast.GeneratorExp: _Builder._comprehension,
    _ast.NamedExpr: _Builder._assigned,
    _ast.Yield: _Builder._yield,
    _ast.YieldFrom: _Builder._yield,
    _ast.Await: _Builder._await,
}
_STATEMENTS: dict[type, Callable[[_Builder, Any], Event | None]] = {
    _ast.FunctionDef: _Builder._define,
    _ast.AsyncFunctionDef: _Builder._define,
    _ast.ClassDef: _Builder._class,
    _ast.Assign: _Builder._assign,
    _ast.AugAssign: _Builder._augment,
    _ast.AnnAssign: _Builder._annotate,
    _ast.Expr: _Builder._expression,
    _ast.Return: _Builder._return,
    _ast.Delete: _Builder._delete,
    _ast.Raise: _Builder._raise,
    _ast.Assert: _Builder._assert,
    _ast.Pass: _Builder._plain,
    _ast.Break: _Builder._plain,
    _ast.Continue: _Builder._plain,
    _ast.Global: _Builder._outer,
    _ast.Nonlocal: _Builder._outer,
    _ast.Import: _Builder._import,
    _ast.ImportFrom: _Builder._import_from,
    _ast.If: _Builder._if,
    _ast.While: _Builder._while,
    _ast.For: _Builder._for,
    _ast.AsyncFor: _Builder._for,
    _ast.With: _Builder._with,
    _ast.AsyncWith: _Builder._with,
    _ast.Try: _Builder._try,
    _ast.Match: _Builder._match,
}
if hasattr(_ast, "TryStar"):
    _STATEMENTS[_ast.TryStar] = _Builder._try


# Serialisation: plain tuples, lists and dictionaries, which `marshal` writes at memory speed.


_BLOCK = operator.attrgetter("parent", "kind", "test", "branch", "line")
_CALL = operator.attrgetter("func", "args", "keywords", "block", "place")


def pack(summary: ModuleSummary) -> tuple[Any, ...]:
    """Return a summary as data that `marshal` can write."""
    return (
        [
            (
                scope.kind, scope.name, scope.qualname, scope.parent, scope.block, scope.place, scope.params,
                scope.decorators, scope.returns, scope.bases, scope.is_async, scope.generator, list(scope.names),
                list(scope.outer), scope.imports, scope.stars, scope.children,
                list(map(_BLOCK, scope.blocks)), list(map(_CALL, scope.calls)),
                _pack_events(scope.body), scope.references,
            )
            for scope in summary.scopes
        ],
        summary.suppressions,
        summary.problem,
        summary.cells,
        summary.lines,
        summary.words,
    )  # fmt: skip


def unpack(data: tuple[Any, ...]) -> ModuleSummary:
    """Return the summary that `pack` made data of."""
    scopes, suppressions, problem, cells, lines, words = data
    summary = ModuleSummary()
    summary.suppressions = suppressions
    summary.problem = problem
    summary.cells = cells
    summary.lines = lines
    summary.words = words
    for number, item in enumerate(scopes):
        (
            kind, name, qualname, parent, block, place, params, decorators, returns, bases, is_async, generator, names,
            outer, imports, stars, children, blocks, calls, body, references,
        ) = item  # fmt: skip
        scope = Scope(number, kind, name, qualname, parent, block, place)
        scope.params = params
        scope.decorators = decorators
        scope.returns = returns
        scope.bases = bases
        scope.is_async = is_async
        scope.generator = generator
        scope.names = set(names)
        scope.outer = frozenset(outer) if outer else _NONE
        scope.imports = imports
        scope.stars = stars
        scope.children = children
        scope.blocks = [Block(*fields) for fields in blocks]
        scope.calls = [
            Call(func, args, keywords, number, span, index)
            for index, (func, args, keywords, number, span) in enumerate(calls)
        ]
        scope.body = _unpack_events(body)
        scope.references = references
        summary.scopes.append(scope)
    return summary


def _pack_events(events: Iterable[Event]) -> list[tuple[Any, ...]]:
    # Most statements have no suites, and nothing beside what they bind and what they compute.
    return [
        (e.kind, e.block, e.place, e.targets, e.value)
        if e.extra is None and not e.bodies
        else (
            e.kind, e.block, e.place, e.targets, e.value, e.extra,
            [(block, _pack_events(body)) for block, body in e.bodies],
        )
        for e in events
    ]  # fmt: skip


def _unpack_events(data: list[tuple[Any, ...]]) -> list[Event]:
    return [Event(*item) if len(item) == 5 else _unpack_event(*item) for item in data]


def _unpack_event(
    kind: str,
    block: int,
    place: Place,
    targets: tuple[Expr, ...],
    value: Expr | None,
    extra: Any,
    bodies: Any,
) -> Event:
    inner = tuple([(number, _unpack_events(body)) for number, body in bodies])
    return Event(kind, block, place, targets, value, extra, inner)
