"""The values that classes of configs state: defaults and members of enumerations, as far as the text tells."""

from __future__ import annotations

import ast
from typing import Any

from cfgfix.config.schema.class_files import ClassFiles, ClassSource, ConfigClass, dotted

MAX_DEPTH = 30
"""Nesting of sections and of types."""
MAX_LITERAL = 20_000
"""Characters of source that a default may have."""
NO_VALUE: Any = object()
"""What stands for an expression without a known value."""


class ClassValues:
    """Reads the values of expressions in a set of files."""

    def __init__(self, files: ClassFiles) -> None:
        self.files = files

    def default_of(self, default: ast.expr | None, options: dict[str, ast.expr], source: ClassSource) -> Any:
        """Return the default of a field as JSON data."""
        factory = options.get("default_factory", options.get("factory"))
        if factory is not None:
            if isinstance(factory, ast.Lambda):
                return self.value_of(factory.body, source)
            name = self.files.canonical(factory, source)
            return {"list": [], "dict": {}, "set": [], "tuple": []}.get(name or "", NO_VALUE)
        return self.value_of(default, source) if default is not None else NO_VALUE

    def value_of(self, expression: ast.expr, source: ClassSource, depth: int = 0) -> Any:
        """Return the value of an expression as JSON data, following names of constants.

        `NO_VALUE` where the text does not tell the value.
        """
        found = literal_value(expression)
        if found is not NO_VALUE or depth > 10:
            return found
        if isinstance(expression, ast.Call) and not expression.args and not expression.keywords:
            return {"list": [], "dict": {}}.get(dotted(expression.func) or "", NO_VALUE)
        if isinstance(expression, ast.BinOp):
            left = self.value_of(expression.left, source, depth + 1)
            return _combined_number(expression.op, left, self.value_of(expression.right, source, depth + 1))
        if isinstance(expression, (ast.List, ast.Tuple)):
            items = [self.value_of(item, source, depth + 1) for item in expression.elts]
            return NO_VALUE if any(item is NO_VALUE for item in items) else items
        text = dotted(expression)
        if text is None:
            return NO_VALUE
        target = self.files.definition(source, text)
        if (
            isinstance(target, tuple)
            and isinstance(target[1], (ast.Assign, ast.AnnAssign))
            and target[1].value is not None
        ):
            return self.value_of(target[1].value, target[0], depth + 1)
        owner, _, member = text.rpartition(".")
        above = self.files.definition(source, owner) if owner else None
        if isinstance(above, ConfigClass):
            for statement in above.node.body:
                if isinstance(statement, ast.Assign) and any(
                    isinstance(t, ast.Name) and t.id == member for t in statement.targets
                ):
                    return self.value_of(statement.value, above.source, depth + 1)
        return NO_VALUE

    def enumeration(self, found: ConfigClass, *, model: bool) -> dict[str, Any]:
        """Return the schema of an enumeration: the values that a config may give.

        Names are allowed too, except in a pydantic model. Empty where a value is not known.
        """
        values: list[Any] = []
        for statement in found.node.body:
            if isinstance(statement, ast.Assign):
                for target in statement.targets:
                    if isinstance(target, ast.Name) and not target.id.startswith("_"):
                        value = self.value_of(statement.value, found.source)
                        automatic = isinstance(statement.value, ast.Call)
                        if value is NO_VALUE and (model or not automatic):
                            return {}
                        names = [] if model else [target.id]
                        for each in ([] if value is NO_VALUE else [value]) + names:
                            if isinstance(each, (str, int, float)) and each not in values:
                                values.append(each)
        return {"enum": values} if values else {}


def literal_value(expression: ast.expr | None) -> Any:
    """Return the value of a literal as JSON data.

    `NO_VALUE` stands for anything else, also for numbers that JSON has not.
    """
    if expression is None:
        return NO_VALUE
    try:
        value = ast.literal_eval(expression)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return NO_VALUE
    return _as_json(value)


def _as_json(value: Any, depth: int = 0) -> Any:
    if depth > MAX_DEPTH:
        return NO_VALUE
    if value is None or isinstance(value, (bool, int, str)):
        return value if not isinstance(value, str) or len(value) <= MAX_LITERAL else NO_VALUE
    if isinstance(value, float):
        return value if abs(value) < float("inf") else NO_VALUE
    if isinstance(value, (list, tuple)):
        items = [_as_json(item, depth + 1) for item in value]
        return NO_VALUE if any(item is NO_VALUE for item in items) else items
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            return NO_VALUE
        entries = {key: _as_json(item, depth + 1) for key, item in value.items()}
        return NO_VALUE if any(item is NO_VALUE for item in entries.values()) else entries
    return NO_VALUE


def _combined_number(operator: ast.operator, left: Any, right: Any) -> Any:
    """Return the result of an operation on two numbers, as in `10 * 1024 ** 2`.

    Products, sums, differences and small powers are known.
    """
    if any(isinstance(value, bool) or not isinstance(value, (int, float)) for value in (left, right)):
        return NO_VALUE
    try:
        if isinstance(operator, ast.Mult):
            result = left * right
        elif isinstance(operator, ast.Add):
            result = left + right
        elif isinstance(operator, ast.Sub):
            result = left - right
        elif isinstance(operator, ast.Div):
            result = left / right
        elif isinstance(operator, ast.FloorDiv):
            result = left // right
        elif isinstance(operator, ast.Pow) and abs(left) <= 1024 and abs(right) <= 64:
            result = left**right
        else:
            return NO_VALUE
    except (ArithmeticError, ValueError):
        return NO_VALUE
    return NO_VALUE if isinstance(result, complex) or abs(result) > 1e300 else result
