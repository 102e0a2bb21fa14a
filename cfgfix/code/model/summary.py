"""One Python file to a small, serialisable summary of what it does.

The standard library's parser makes the tree; one walk keeps what rules ask about: names, calls, control flow,
assignments, in order. Nothing is resolved here, since that needs other files (`program.py`), and nothing is ever
imported or executed.

Expressions are the nodes of `nodes.py`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate
from typing import Any, NamedTuple

from cfgfix.code.model.nodes import Attribute, Call, Collection, Expr, Name, Pattern, Place, Starred

WORDS = (
    "AUTOTUNE", "environ", "Lock(", "TF_USE_LEGACY_KERAS", "tf_keras", "compat", "optimizer.lr", "opt.lr", "putenv", "run_eagerly", ".variables()",
    "hf://", "zipped", "rbax", "n't work", "].value",
)  # fmt: skip
"""Words of which a summary notes whether they stand in the file."""
NO_NAMES: frozenset[str] = frozenset()


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


NODES_IN_EXTRA = frozenset({"with", "match", "assert"})
"""Statements whose `extra` is a tuple of expressions."""


class Event:
    """One statement.

    Attributes:
        kind: `assign`, `augment`, `annotate`, `expr`, `return`, `yield`, `delete`, `raise`, `assert`, `if`, `while`,
            `for`, `with`, `try`, `match`, `define` (function or class), `import`, `pass`, `break`, `continue`.
        block: Number of the block it stands in.
        place: Its span, decorators left out.
        targets: What is bound: assignment targets, the loop variable, the names after `as`.
        value: The value assigned, returned, tested or looped over; for `define` None.
        extra: What only some kinds have, as it is kept; the properties below read it.
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

    @property
    def line(self) -> int:
        """The line it begins in."""
        return self.place.line

    @property
    def end_line(self) -> int:
        """The line it ends in."""
        return self.place.end_line

    @property
    def managers(self) -> tuple[Expr, ...]:
        """The context managers of a `with`, one for each target."""
        return self.extra if self.kind == "with" else ()

    @property
    def imports(self) -> tuple[tuple[str, str], ...]:
        """What an `import` binds: pairs of the name and its dotted source."""
        return self.extra if self.kind == "import" else ()

    @property
    def cases(self) -> tuple[Pattern, ...]:
        """The pattern of each case of a `match`, with its guard."""
        return self.extra if self.kind == "match" else ()

    @property
    def annotation(self) -> Expr | None:
        """The annotation of an `annotate`."""
        return self.extra if self.kind == "annotate" else None

    @property
    def message(self) -> Expr | None:
        """The message of an `assert`."""
        return self.extra[0] if self.kind == "assert" and self.extra else None

    @property
    def operator(self) -> str:
        """The operator of an `augment`, such as `+`; empty for any other."""
        return self.extra if self.kind == "augment" else ""

    @property
    def inner(self) -> int:
        """The number of the scope that a `define` makes; -1 for any other."""
        return self.extra if self.kind == "define" else -1

    def extra_nodes(self) -> tuple[Expr, ...]:
        """Return the expressions in `extra`.

        These are the annotation, the context managers, the patterns, or the message of `assert`.
        """
        if self.kind in NODES_IN_EXTRA:
            found: tuple[Expr, ...] = self.extra
            return found
        return (self.extra,) if self.kind == "annotate" else ()


Point = tuple[int, int]
"""A line, and a column in it."""


class Parameter(NamedTuple):
    """A parameter of a function.

    Attributes:
        name: Its name.
        annotation: Its annotation, or None; an expression of the enclosing scope.
        default: Its default, or None; an expression of the enclosing scope.
        kind: `plain`, `*`, `keyword` or `**`.
    """

    name: str
    annotation: Expr | None
    default: Expr | None
    kind: str


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
        params: For functions what they take.
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
        asked: What tests in it were found to ask for, by the test's identity and how it was asked, each with the test; never stored.
    """

    __slots__ = (
        "_bound", "_by_kind", "_by_method", "_by_receiver", "_defined", "_ends", "_events", "_in_text", "asked", "bases", "block", "blocks", "body", "calls",
        "children", "decorators", "generator", "imports", "is_async", "kind", "module", "name", "names", "number", "outer", "params", "parent", "place", "qualname", "references",
        "returns", "stars",
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
        self.params: tuple[Parameter, ...] = ()
        self.decorators: tuple[Expr, ...] = ()
        self.returns: Expr | None = None
        self.bases: tuple[Expr, ...] = ()
        self.is_async = False
        self.generator = False
        self.names: set[str] = set()
        self.outer: frozenset[str] = NO_NAMES
        self.imports: dict[str, str] = {}
        self.stars: tuple[str, ...] = ()
        self.children: dict[str, int] = {}
        self.blocks: list[Block] = [Block(-1, "body", None, True, place.line)]
        self.calls: list[Call] = []
        self.body: list[Event] = []
        self.references: list[tuple[Attribute, int]] = []
        self.module: Any = None
        self.asked: dict[tuple[int, bool, bool, bool, bool], tuple[Expr, bool]] | None = None
        self._events: list[Event] | None = None
        self._bound: dict[str, list[Event]] | None = None
        self._by_kind: dict[str, list[Event]] | None = None
        self._defined: dict[str, list[int]] | None = None
        self._by_method: dict[str | None, list[Call]] | None = None
        self._by_receiver: dict[tuple[str, str], list[Call]] | None = None
        self._in_text: list[Call] | None = None
        self._ends: list[Point] | None = None

    @property
    def line(self) -> int:
        """The line it begins in."""
        return self.place.line

    @property
    def end_line(self) -> int:
        """The line it ends in."""
        return self.place.end_line

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

    def events_of(self, *kinds: str) -> list[Event]:
        """Return the statements of some kinds, in order by kind."""
        if self._by_kind is None:
            self._by_kind = {}
            for event in self.events():
                self._by_kind.setdefault(event.kind, []).append(event)
        return [event for kind in kinds for event in self._by_kind.get(kind, ())]

    def defined(self, name: str) -> list[int]:
        """Return the numbers of the functions and classes of a name in the scope."""
        found = self._defined
        if found is None:
            found = self._defined = {}
            for event in self.events_of("define"):
                inner: Scope = self.module.summary.scopes[event.inner]
                found.setdefault(inner.name, []).append(event.inner)
        return found.get(name, [])

    def calls_of(self, *methods: str) -> list[Call]:
        """Return the calls of some methods, in order by method."""
        if self._by_method is None:
            self._by_method = {}
            for call in self.calls:
                self._by_method.setdefault(call.method, []).append(call)
        return [call for method in methods for call in self._by_method.get(method, ())]

    def calls_on(self, name: str, *methods: str) -> list[Call]:
        """Return the calls of some methods on a name, in order by method."""
        found = self._by_receiver
        if found is None:
            found = self._by_receiver = {}
            for call in self.calls:
                func = call.func
                if isinstance(func, Attribute) and isinstance(func.base, Name):
                    found.setdefault((func.base.name, func.attribute), []).append(call)
        return [call for method in methods for call in found.get((name, method), ())]

    def calls_between(self, start: Point, end: Point) -> list[Call]:
        """Return the calls that begin between two points, in the order of the text."""
        calls = self._in_text
        if calls is None:
            calls = self._in_text = sorted(self.calls, key=_start_of)
        return calls[bisect_left(calls, start, key=_start_of) : bisect_left(calls, end, key=_start_of)]

    def call_around(self, place: Place) -> Call | None:
        """Return the innermost call that holds a place, or None."""
        end = place.end
        before = self.calls_between((0, 0), (place.line, place.column + 1))
        ends = self._ends
        if ends is None:
            ends = self._ends = list(accumulate((call.place.end for call in self._in_text or ()), max))
        for number in range(len(before) - 1, -1, -1):
            if ends[number] < end:
                break
            if end <= before[number].place.end:
                return before[number]
        return None

    def binding(self, name: str) -> list[Event]:
        """Return the statements that bind a name, in order.

        They bind it by assignment, as a loop's variable, or by import.
        """
        bound = self._bound
        if bound is None:
            bound = self._bound = {}
            for event in self.events():
                names: dict[str, None] = {}
                if event.kind == "import":
                    names = dict.fromkeys(name for name, _ in event.imports)
                else:
                    for target in event.targets:
                        bind(target, names)
                for item in names:
                    bound.setdefault(item, []).append(event)
        return bound.get(name, [])

    def bound_before(self, name: str, place: Place) -> Event | None:
        """Return the last statement that binds a name and begins before a place."""
        bound = self.binding(name)
        count = bisect_left(bound, place.start, key=_start_of)
        return bound[count - 1] if count else None

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


def _start_of(event: Event | Call) -> Point:
    return event.place.start


def bind(target: Expr, names: dict[str, None]) -> None:
    """Add the names that an assignment target binds."""
    if isinstance(target, Name):
        names[target.name] = None
    elif isinstance(target, Collection):
        for item in target.items:
            bind(item, names)
    elif isinstance(target, Starred):
        bind(target.value, names)


class ModuleSummary:
    """The summary of one file.

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


MAX_BYTES = 2 * 1024 * 1024
"""Largest Python file that is parsed, in bytes: the parser needs about 100 bytes of memory for each byte of dense
literals, so this keeps one file below a quarter of a gigabyte and a few seconds. The largest hand-written file of
TensorFlow's own tree has about 0.3 MB."""
NOT_PARSED = "is not Python that this interpreter reads"
"""How the reason of a file begins that has a syntax error."""


def broken_summary(message: str, line: int = 1) -> ModuleSummary:
    """Return the summary of a file that could not be read, with the reason."""
    summary = ModuleSummary()
    summary.problem = (message, line)
    return summary
