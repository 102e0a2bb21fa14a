"""The expressions of a summary: one class for each kind.

The standard library's parser makes the tree; the summary's builder makes these of it. `isinstance(expr, Attribute)` tells the kind, and
the fields have names. Two nodes are equal only where they are the same one; nothing changes a node once it is made. `expressions.py` reads them.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, final
from typing import Literal as OneOf

from cfgfix.core.records import dataclass

if TYPE_CHECKING:

    @final
    @dataclass(frozen=True, slots=True, order=True)
    class Place:
        """Where something stands: lines from 1, columns in UTF-8 bytes from 0, as the parser counts them."""

        line: int
        column: int
        end_line: int
        end_column: int

        @property
        def start(self) -> tuple[int, int]:
            """The line and column at which it begins."""

        @property
        def end(self) -> tuple[int, int]:
            """The line and column behind its end."""

        @property
        def plain(self) -> tuple[int, int, int, int]:
            """The same as a tuple that `marshal` can write."""

else:

    class Place(NamedTuple("Place", [(name, int) for name in ("line", "column", "end_line", "end_column")])):
        """Where something stands; a tuple, since nothing else is made as fast and nothing is made as often."""

        __slots__ = ()
        start = property(itemgetter(slice(0, 2)))
        end = property(itemgetter(slice(2, 4)))
        plain = property(tuple)


new_place: Callable[[type[Place], tuple[int, int, int, int]], Place] = tuple.__new__  # type: ignore[assignment]
"""Makes a place of a tuple, in a third of the time of a call of its class."""
FILE_START = Place(1, 0, 1, 0)
NOWHERE = Place(0, 0, 0, 0)
Constants: TypeAlias = "str | bytes | bool | int | float | None"
"""What a literal may hold."""


class Expr:
    """One expression; its class tells its kind."""

    __slots__ = ()


@final
class Name(Expr):
    """`name`."""

    __slots__ = ("name", "place")

    def __init__(self, name: str, place: Place) -> None:
        self.name: Final = name
        self.place: Final = place


@final
class Attribute(Expr):
    """`base.attribute`."""

    __slots__ = ("attribute", "base", "place")

    def __init__(self, base: Expr, attribute: str, place: Place) -> None:
        self.base: Final = base
        self.attribute: Final = attribute
        self.place: Final = place


@final
class Literal(Expr):
    """A constant: a text, a number, `True`, `False` or `None`; also a number with a minus in front."""

    __slots__ = ("place", "value")

    def __init__(self, value: Constants, place: Place) -> None:
        self.value: Final = value
        self.place: Final = place


@final
class Subscript(Expr):
    """`base[index]`."""

    __slots__ = ("base", "index", "place")

    def __init__(self, base: Expr, index: Expr, place: Place) -> None:
        self.base: Final = base
        self.index: Final = index
        self.place: Final = place


@final
class Call(Expr):
    """One call, with its arguments.

    Attributes:
        func: The callee as an expression.
        args: Positional arguments.
        keywords: Pairs of name and value; a `**x` has the name None.
        block: Number of the block it stands in.
        place: Its span.
        number: Its number in the `calls` of its scope; inner calls come first.
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
                if isinstance(item, Starred):
                    return self.keyword(name)
            return self.args[position]
        return self.keyword(name)

    @property
    def opaque(self) -> bool:
        """Whether `*x` or `**x` hides some of its arguments."""
        return (bool(self.args) and any(isinstance(item, Starred) for item in self.args)) or (
            bool(self.keywords) and any(key is None for key, _ in self.keywords)
        )

    @property
    def method(self) -> str | None:
        """The name of the method that is called: `map` for `ds.map(f)`.

        None for a plain name.
        """
        func = self.func
        return func.attribute if isinstance(func, Attribute) else None

    @property
    def receiver(self) -> Expr | None:
        """The expression whose method is called: `ds` for `ds.map(f)`.

        None for a plain name.
        """
        func = self.func
        return func.base if isinstance(func, Attribute) else None

    @property
    def line(self) -> int:
        """The line it begins in."""
        return self.place.line

    @property
    def end_line(self) -> int:
        """The line it ends in."""
        return self.place.end_line

    @property
    def name_line(self) -> int:
        """The line of the callee's last name."""
        func = self.func
        return func.place.end_line if isinstance(func, Attribute) else self.place.line

    @property
    def name_place(self) -> Place:
        """The span of the callee's last name.

        The part of a fluent chain that is this call's own.
        """
        func = self.func
        if isinstance(func, Attribute):
            line, column = func.place.end
            return Place(line, max(0, column - len(func.attribute.encode())), line, column)
        return func.place if isinstance(func, Name) else self.place


@final
class Binary(Expr):
    """`left operator right` of arithmetic and bits."""

    __slots__ = ("left", "operator", "place", "right")

    def __init__(self, operator: str, left: Expr, right: Expr, place: Place) -> None:
        self.operator: Final = operator
        self.left: Final = left
        self.right: Final = right
        self.place: Final = place


@final
class Unary(Expr):
    """`operator operand`: `not`, `-`, `+` or `~`."""

    __slots__ = ("operand", "operator", "place")

    def __init__(self, operator: str, operand: Expr, place: Place) -> None:
        self.operator: Final = operator
        self.operand: Final = operand
        self.place: Final = place


@final
class Boolean(Expr):
    """`a and b and ...`, or the same with `or`."""

    __slots__ = ("operands", "operator", "place")

    def __init__(self, operator: str, operands: tuple[Expr, ...], place: Place) -> None:
        self.operator: Final = operator
        self.operands: Final = operands
        self.place: Final = place


@final
class Comparison:
    """One `operator right` of a comparison: `==`, `<`, `in`, `is not` and their like."""

    __slots__ = ("operator", "right")

    def __init__(self, operator: str, right: Expr) -> None:
        self.operator: Final = operator
        self.right: Final = right


@final
class Compare(Expr):
    """`left < right <= ...`: what stands left, and each operator with what stands right of it."""

    __slots__ = ("left", "place", "rights")

    def __init__(self, left: Expr, rights: tuple[Comparison, ...], place: Place) -> None:
        self.left: Final = left
        self.rights: Final = rights
        self.place: Final = place


@final
class Conditional(Expr):
    """`then if test else otherwise`."""

    __slots__ = ("otherwise", "place", "test", "then")

    def __init__(self, test: Expr, then: Expr, otherwise: Expr, place: Place) -> None:
        self.test: Final = test
        self.then: Final = then
        self.otherwise: Final = otherwise
        self.place: Final = place


@final
class Collection(Expr):
    """`(a, b)`, `[a, b]` or `{a, b}`: its kind is `tuple`, `list` or `set`."""

    __slots__ = ("items", "kind", "place")

    def __init__(self, kind: OneOf["tuple", "list", "set"], items: tuple[Expr, ...], place: Place) -> None:
        self.kind: Final = kind
        self.items: Final = items
        self.place: Final = place


@final
class Dictionary(Expr):
    """`{key: value, ...}`: pairs of key and value; the key of a `**x` is None."""

    __slots__ = ("entries", "place")

    def __init__(self, entries: tuple[tuple[Expr | None, Expr], ...], place: Place) -> None:
        self.entries: Final = entries
        self.place: Final = place


@final
class Lambda(Expr):
    """`lambda ...`: the number of its scope in the summary."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number: Final = number


@final
class Starred(Expr):
    """`*value`."""

    __slots__ = ("value",)

    def __init__(self, value: Expr) -> None:
        self.value: Final = value


@final
class FString(Expr):
    """`f"..."`.

    Attributes:
        parts: What is filled in, and the format of each that has one.
        tail: The text behind the last part.
        calls: Whether a part calls something.
        pieces: Texts, and `(number of the part, how it is written)`; that is None where it is not plain text.
    """

    __slots__ = ("calls", "parts", "pieces", "tail")

    def __init__(
        self,
        parts: tuple[Expr, ...],
        tail: str,
        calls: bool,
        pieces: tuple[str | tuple[int, str | None], ...],
    ) -> None:
        self.parts: Final = parts
        self.tail: Final = tail
        self.calls: Final = calls
        self.pieces: Final = pieces


@final
class Slice(Expr):
    """`lower:upper:step` between brackets; None for what is left out."""

    __slots__ = ("lower", "step", "upper")

    def __init__(self, lower: Expr | None, upper: Expr | None, step: Expr | None) -> None:
        self.lower: Final = lower
        self.upper: Final = upper
        self.step: Final = step


@final
class Comprehension(Expr):
    """`[x for y in z if c]` and its like.

    Attributes:
        kind: `list`, `set`, `dict` or `generator`.
        parts: All that is evaluated, in order; last what each turn gives: one expression, or key and value.
        generators: For each `for` what it binds, what it goes over, and its conditions.
    """

    __slots__ = ("generators", "kind", "parts")

    def __init__(
        self,
        kind: OneOf["list", "set", "dict", "generator"],
        parts: tuple[Expr, ...],
        generators: tuple[tuple[Expr, Expr, tuple[Expr, ...]], ...],
    ) -> None:
        self.kind: Final = kind
        self.parts: Final = parts
        self.generators: Final = generators


@final
class Assigned(Expr):
    """`(name := value)`."""

    __slots__ = ("name", "value")

    def __init__(self, name: str, value: Expr) -> None:
        self.name: Final = name
        self.value: Final = value


@final
class Yield(Expr):
    """`yield value`; the value of a `yield from` is starred."""

    __slots__ = ("value",)

    def __init__(self, value: Expr) -> None:
        self.value: Final = value


@final
class Pattern(Expr):
    """A pattern of a `case`: what its parts are depends on the kind.

    Attributes:
        kind: `case` (a pattern, and its guard where it has one), `value`, `map` (keys and patterns in turn), `list`, `rest`, `any`, `or`,
            `class` (the class, then patterns) or `field` (an attribute of a class, by its name).
        parts: Its parts.
        name: The name that it binds, or that a field has; or None.
    """

    __slots__ = ("kind", "name", "parts")

    def __init__(self, kind: str, parts: tuple[Expr, ...], name: str | None) -> None:
        self.kind: Final = kind
        self.parts: Final = parts
        self.name: Final = name


@final
class NotKept(Expr):
    """An expression that the summary does not keep; `NOT_KEPT` is the only object."""

    __slots__ = ()


NOT_KEPT: Final = NotKept()
