"""The expression language of rule files.

An expression is parsed by Python's own parser, checked against a short list of allowed forms, and written
again as Python source in which every operand is a call on a scope. Nothing else of the language is reachable:
no attributes, no calls but the listed functions, no powers, no text arithmetic, no names of Python. So a rule
file is data, wherever it comes from.

A missing operand raises `Missing`, values of different types raise `TypeError`; both make a rule not
applicable.
"""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol, TypeAlias
else:
    Protocol = object

MAX_LENGTH = 2_000
"""Longest accepted expression, in characters: the longest in the catalogue is under 300."""
MAX_DEPTH = 40
"""Deepest accepted nesting."""
MAX_INTEGER = 10**18
"""Largest accepted literal: an exbibyte, far above any byte count in a training run."""


class Missing(Exception):  # noqa: N818 - it is a signal that an operand is unknown, not an error
    """An operand has no known value."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class ExpressionError(ValueError):
    """The text is not an expression of the rule language."""


class Scope(Protocol):
    """Where operands get their values; a protocol for type checkers."""

    def value(self, name: str) -> Any:
        """Return the operand's value or raise `Missing`."""

    def has(self, name: str) -> bool:
        """Tell whether the operand has a known value."""

    def given(self, name: str) -> bool:
        """Tell whether the checked file itself gives the operand's value."""

    def tier(self, table: str, column: str, gib: float) -> Any:
        """Return a column of the highest row of a table that `gib` reaches.

        Raises:
            Missing: The table has no such column, or `gib` reaches no row.
        """

    def gpu(self, index: int, field: str) -> Any:
        """Return a fact of one GPU by its index, or raise `Missing`."""


if TYPE_CHECKING:
    Code: TypeAlias = Callable[[Scope], Any]
else:
    Code = object


def _require_number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError("a number is needed")
    return value


def _require_ordered(value: Any) -> Any:
    if isinstance(value, bool) or value is None:
        raise TypeError("an ordered value is needed")
    return value


def _are_equal(left: Any, right: Any) -> bool:
    """Tell whether two values are equal, keeping `true` and `1` apart."""
    if isinstance(left, bool) is not isinstance(right, bool):
        return False
    return bool(left == right)


def _is_in(item: Any, group: Any) -> bool:
    if not isinstance(group, (list, tuple)):
        raise TypeError("`in` needs a list")
    return any(_are_equal(item, other) for other in group)


def _to_int(value: Any) -> int:
    return int(_require_number(value))


def _to_float(value: Any) -> float:
    return float(_require_number(value))


def _rounded_number(value: Any, digits: Any = 0) -> Any:
    if isinstance(digits, bool) or not isinstance(digits, int) or not 0 <= digits <= 15:
        raise TypeError("round needs 0 to 15 digits")
    return round(_require_number(value), digits) if digits else round(_require_number(value))


def _lower_case(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("text is needed")
    return value.lower()


def _matches_pattern(value: Any, *prefixes: Any) -> bool:
    return isinstance(value, str) and value.startswith(tuple(str(prefix) for prefix in prefixes))


def _mentions_word(value: Any, *words: Any) -> bool:
    return isinstance(value, str) and any(str(word).lower() in value.lower() for word in words)


def _length_of(value: Any) -> int:
    if not isinstance(value, (str, list, tuple, dict)):
        raise TypeError("len needs text or a list")
    return len(value)


def _product_of(value: Any) -> Any:
    """Return the product of a list of numbers.

    Raises:
        TypeError: It is no list, it is empty, or something in it is no number.
    """
    if not isinstance(value, (list, tuple)) or not value or len(value) > _MOST_FACTORS:
        raise TypeError("a list of numbers is needed")
    return math.prod(_require_number(item) for item in value)


_MOST_FACTORS = 64
"""Longest list that is multiplied: a config's text cannot make a number without end."""


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _minimum_of(*values: Any) -> Any:
    return min(_flat_values(values))


def _maximum_of(*values: Any) -> Any:
    return max(_flat_values(values))


def _flat_values(values: tuple[Any, ...]) -> list[Any]:
    items = list(values[0]) if len(values) == 1 and isinstance(values[0], (list, tuple)) else list(values)
    if not items:
        raise TypeError("min and max need a value")
    return [_require_number(item) for item in items]


_SLOT_BYTES = {
    "sgd": 0,
    "momentum": 4,
    "rmsprop": 4,
    "lion": 4,
    "adagrad": 4,
    "adam": 8,
    "adamw": 8,
    "nadam": 8,
    "adamax": 8,
    "lamb": 8,
    "adadelta": 8,
    "ftrl": 8,
}
"""Bytes of optimizer state per float32 parameter, read off built Keras 3.15 optimizers."""


def optimizer_slots(name: Any) -> int:
    """Return the bytes of optimizer state that one float32 parameter needs.

    Raises:
        Missing: The optimizer is not known.
    """
    if not isinstance(name, str) or name.lower() not in _SLOT_BYTES:
        raise Missing("optimizer")
    return _SLOT_BYTES[name.lower()]


_FUNCTIONS: dict[str, tuple[Callable[..., Any], int, int]] = {
    "min": (_minimum_of, 1, 8),
    "max": (_maximum_of, 1, 8),
    "abs": (lambda value: abs(_require_number(value)), 1, 1),
    "floor": (lambda value: math.floor(_require_number(value)), 1, 1),
    "ceil": (lambda value: math.ceil(_require_number(value)), 1, 1),
    "round": (_rounded_number, 1, 2),
    "int": (_to_int, 1, 1),
    "float": (_to_float, 1, 1),
    "len": (_length_of, 1, 1),
    "product": (_product_of, 1, 1),
    "lower": (_lower_case, 1, 1),
    "is_int": (_is_int, 1, 1),
    "is_float": (lambda value: isinstance(value, float), 1, 1),
    "is_number": (_is_number, 1, 1),
    "is_str": (lambda value: isinstance(value, str), 1, 1),
    "is_bool": (lambda value: isinstance(value, bool), 1, 1),
    "is_null": (lambda value: value is None, 1, 1),
    "is_list": (lambda value: isinstance(value, (list, tuple)), 1, 1),
    "matches": (_matches_pattern, 2, 8),
    "mentions": (_mentions_word, 2, 8),
    "optimizer_slots": (optimizer_slots, 1, 1),
}

GLOBALS: dict[str, Any] = {
    "__builtins__": {},
    "_num": _require_number,
    "_ord": _require_ordered,
    "_eq": _are_equal,
    "_in": _is_in,
    **{f"_f_{name}": function for name, (function, _, _) in _FUNCTIONS.items()},
}
"""The names that generated source may use."""

_OPERAND_FUNCTIONS = {"has", "given"}
_CONSTANTS = {"true": "True", "false": "False", "null": "None"}
_ARITHMETIC = {"Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "//", "Mod": "%"}
_ORDER = {"Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">="}


class Translated:
    """An expression as Python source, with the operands and other names it uses."""

    __slots__ = ("names", "operands", "source")

    def __init__(self, source: str, operands: frozenset[str], names: frozenset[str]) -> None:
        self.names = names
        self.source = source
        self.operands = operands


def translate(text: str) -> Translated:
    """Return an expression as Python source over a scope named `s`.

    Raises:
        ExpressionError: The text is not an expression of the rule language.
    """
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"longer than {MAX_LENGTH} characters")
    import ast
    import warnings

    try:
        with warnings.catch_warnings():
            # The parser warns of odd literals such as `1if`; a rule file must not write to the terminal.
            warnings.simplefilter("ignore")
            tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ExpressionError(f"not an expression: {text!r}") from error
    operands: set[str] = set()
    asked: set[str] = set()

    def operand(node: ast.expr) -> str | None:
        steps: list[str] = []
        while isinstance(node, ast.Attribute):
            steps.append(node.attr)
            node = node.value
        if isinstance(node, ast.Name) and (not steps or node.id == "hardware"):
            return ".".join([node.id, *reversed(steps)])
        return None

    def emit(node: ast.expr, depth: int) -> str:
        if depth > MAX_DEPTH:
            raise ExpressionError(f"nested deeper than {MAX_DEPTH}")
        kind = type(node).__name__
        if isinstance(node, ast.Constant):
            return literal(node.value)
        if isinstance(node, (ast.Name, ast.Attribute)):
            name = operand(node)
            if name is None:
                raise ExpressionError("attributes are allowed on `hardware` only")
            if name in _CONSTANTS:
                return _CONSTANTS[name]
            operands.add(name)
            return f"s.value({name!r})"
        if isinstance(node, ast.BoolOp):
            word = " and " if isinstance(node.op, ast.And) else " or "
            return "(" + word.join(emit(value, depth + 1) for value in node.values) + ")"
        if isinstance(node, ast.UnaryOp):
            inner = emit(node.operand, depth + 1)
            if isinstance(node.op, ast.Not):
                return f"(not {inner})"
            if isinstance(node.op, ast.USub):
                return f"(-_num({inner}))"
            if isinstance(node.op, ast.UAdd):
                return f"(+_num({inner}))"
        if isinstance(node, ast.BinOp):
            sign = _ARITHMETIC.get(type(node.op).__name__)
            if sign is None:
                raise ExpressionError(f"operator {type(node.op).__name__} is not allowed")
            return f"(_num({emit(node.left, depth + 1)}) {sign} _num({emit(node.right, depth + 1)}))"
        if isinstance(node, ast.IfExp):
            test, body, other = (emit(part, depth + 1) for part in (node.test, node.body, node.orelse))
            return f"({body} if {test} else {other})"
        if isinstance(node, (ast.List, ast.Tuple)):
            return "[" + ", ".join(emit(item, depth + 1) for item in node.elts) + "]"
        if isinstance(node, ast.Compare):
            return compare(node, depth)
        if isinstance(node, ast.Call):
            return call(node, depth)
        raise ExpressionError(f"{kind} is not allowed")

    def literal(value: object) -> str:
        if isinstance(value, str):
            return repr(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= MAX_INTEGER:
            return repr(value)
        raise ExpressionError(f"literal {value!r} is not allowed")

    def compare(node: ast.Compare, depth: int) -> str:
        items = [emit(item, depth + 1) for item in (node.left, *node.comparators)]
        names = [type(op).__name__ for op in node.ops]
        if all(name in _ORDER for name in names):
            text = f"_ord({items[0]})"
            for name, item in zip(names, items[1:], strict=True):
                text += f" {_ORDER[name]} _ord({item})"
            return f"({text})"
        if len(names) != 1:
            raise ExpressionError("only <, <=, > and >= can be chained")
        forms = {
            "Eq": "_eq({}, {})",
            "NotEq": "(not _eq({}, {}))",
            "In": "_in({}, {})",
            "NotIn": "(not _in({}, {}))",
        }
        if names[0] not in forms:
            raise ExpressionError(f"comparison {names[0]} is not allowed")
        return forms[names[0]].format(*items)

    def call(node: ast.Call, depth: int) -> str:
        if not isinstance(node.func, ast.Name) or node.keywords:
            raise ExpressionError("only plain calls of the listed functions are allowed")
        name = node.func.id
        count = len(node.args)
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            raise ExpressionError("a starred argument is not allowed")
        if name in _OPERAND_FUNCTIONS:
            target = operand(node.args[0]) if count == 1 else None
            if target is None:
                raise ExpressionError(f"{name} takes one operand name")
            asked.add(target)
            return f"s.{name}({target!r})"
        if name == "default":
            target = operand(node.args[0]) if count == 2 else None
            if target is None:
                raise ExpressionError("default takes an operand name and an expression")
            asked.add(target)
            return f"(s.value({target!r}) if s.has({target!r}) else {emit(node.args[1], depth + 1)})"
        if name == "tier":
            if count != 3:
                raise ExpressionError("tier takes a table, a column and a size in GiB")
            table, column = (argument_name(argument) for argument in node.args[:2])
            return f"s.tier({table!r}, {column!r}, {emit(node.args[2], depth + 1)})"
        if name == "gpu":
            if count != 2:
                raise ExpressionError("gpu takes an index and a field")
            return f"s.gpu({emit(node.args[0], depth + 1)}, {argument_name(node.args[1])!r})"
        if name not in _FUNCTIONS:
            raise ExpressionError(f"function {name!r} is not known")
        _, least, most = _FUNCTIONS[name]
        if not least <= count <= most:
            raise ExpressionError(f"{name} takes {least} to {most} arguments, not {count}")
        return f"_f_{name}(" + ", ".join(emit(argument, depth + 1) for argument in node.args) + ")"

    def argument_name(node: ast.expr) -> str:
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        raise ExpressionError("a table, column or field is a plain name")

    source = emit(tree.body, 0)
    return Translated(source, frozenset(operands), frozenset(operands | asked))


def translate_template(text: str) -> Translated:
    """Return a message template as Python source that yields the finished text.

    `{expression}` or `{expression|format}` is filled in; `{{` and `}}` are braces.

    Raises:
        ExpressionError: A brace is not closed, or an expression is not of the rule language.
    """
    parts: list[str] = []
    operands: set[str] = set()
    names: set[str] = set()
    plain: list[str] = []
    position = 0
    while position < len(text):
        char = text[position]
        if text[position : position + 2] in ("{{", "}}"):
            plain.append(char)
            position += 2
        elif char == "{":
            close = text.find("}", position)
            if close < 0:
                raise ExpressionError(f"unclosed brace in {text!r}")
            inner, _, form = text[position + 1 : close].partition("|")
            form = form.strip()
            if form and form not in FORMATS:
                raise ExpressionError(f"unknown format {form!r} in {text!r}")
            translated = translate(inner)
            operands |= translated.operands
            names |= translated.names
            if plain:
                parts.append(repr("".join(plain)))
                plain = []
            name = next(iter(translated.operands), "")
            if translated.source == f"s.value({name!r})":
                # The usual case has no function of its own: they are half of what a built catalogue consists of.
                parts.append(f"_put(s, {name!r}, {form!r})")
            else:
                parts.append(f"_fmt(lambda: {translated.source}, {form!r})")
            position = close + 1
        elif char == "}":
            raise ExpressionError(f"single closing brace in {text!r}")
        else:
            plain.append(char)
            position += 1
    if plain or not parts:
        parts.append(repr("".join(plain)))
    return Translated("_cat(" + ", ".join(parts) + ")", frozenset(operands), frozenset(names))


def format_bytes(count: float) -> str:
    """Return a byte count in decimal units, such as `3.28 GB`.

    The tables of storage and memory write byte counts so.
    """
    value = float(count)
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if abs(value) < 1000 or unit == "TB":
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.3g} {unit}"
        value /= 1000
    raise AssertionError("unreachable")


def _format_mib(value: float) -> str:
    return f"{value / 1024:.3g} GiB" if value >= 1024 else f"{value:.4g} MiB"


def _format_raw(value: Any) -> str:
    if value is True or value is False:
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, float):
        return f"{value:g}" if value != int(value) or abs(value) >= 1e15 else f"{value:.1f}"
    return str(value)


def _format_plain(value: Any) -> str:
    if isinstance(value, float) and math.isfinite(value) and value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return _format_raw(value)


FORMATS: dict[str, Callable[[Any], str]] = {
    "": _format_plain,
    "bytes": format_bytes,
    "mib": _format_mib,
    "pct": lambda value: f"{100 * value:.3g} %",
    "int": lambda value: f"{round(value):,}",
    "g": lambda value: f"{value:.3g}",
    "raw": _format_raw,
}
"""How a value in a template is written."""


UNKNOWN = "(unknown)"
"""What a template shows for an operand without a value."""


def _filled_form(thunk: Callable[[], Any], form: str) -> str:
    try:
        return FORMATS[form](thunk())
    except (Missing, TypeError, ValueError, ZeroDivisionError, OverflowError):
        return UNKNOWN


def _fill_with(scope: Scope, name: str, form: str) -> str:
    """Return the value of an operand, formatted for a message.

    A value that is not known or does not fit the format is shown as unknown.
    """
    try:
        return FORMATS[form](scope.value(name))
    except (Missing, TypeError, ValueError, ZeroDivisionError, OverflowError):
        return UNKNOWN


def _joined_texts(*parts: str) -> str:
    return "".join(parts)


GLOBALS["_fmt"] = _filled_form
GLOBALS["_put"] = _fill_with
GLOBALS["_cat"] = _joined_texts


def compile_source(source: str) -> Code:
    """Return translated source as a function that takes a scope."""
    function: Code = eval(f"lambda s: {source}", GLOBALS)  # noqa: S307 - source comes from `translate` only
    return function


def evaluate(code: Code, scope: Scope) -> Any:
    """Return the value of a compiled expression in a scope.

    Different types, a division by zero and a number out of range mean that the rule does not apply.

    Raises:
        Missing: An operand is unknown, or the operands do not fit the operation.
    """
    try:
        return code(scope)
    except (TypeError, ZeroDivisionError, OverflowError, ValueError, RecursionError) as error:
        raise Missing("") from error
