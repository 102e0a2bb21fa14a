"""Arguments that are right one by one and not together: what TensorFlow and Keras refuse or pass over."""

from __future__ import annotations

import functools
import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from cfgfix.core.records import dataclass
from cfgfix.rules.expression import Code, Missing, compile_source, evaluate, translate, translate_template

TABLE = Path(__file__).with_name("tf_contradictions.json")


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A contradiction between arguments of one call.

    Attributes:
        at: The parameters that it is about, the one to change first.
        says: The contradiction in words.
        error: The exception that it raises; empty where nothing is raised.
        severity: `error` or `warning`.
        three: Whether only Keras 3 refuses them.
    """

    at: tuple[str, ...]
    says: str
    error: str
    severity: str
    three: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table.

    Attributes:
        of: The callables, by canonical name; one that ends in a dot is all classes of a module.
        at: The parameters that it is about.
        when: The condition, over the values of the parameters.
        operands: The parameters that the condition names.
        says: What is told.
        error: The exception; empty for none.
        severity: `error` or `warning`.
        defaults: Values of parameters that are not given.
        whole: Whether it is about what is not given, so that all arguments must be known.
        three: Whether only Keras 3 refuses them.
        named: Whether a rule of its own tells of it in code: the name of a file, or the mode for what is watched.
        refused, taken: Arguments that the table's test tries.
    """

    of: tuple[str, ...]
    at: tuple[str, ...]
    when: Code
    operands: frozenset[str]
    says: Code
    error: str
    severity: str
    defaults: Mapping[str, Any]
    whole: bool
    three: bool
    named: bool
    refused: Mapping[str, Any]
    taken: Mapping[str, Any]

    def is_of(self, name: str) -> bool:
        """Tell whether the row is about a callable."""
        return any(name.startswith(item) if item.endswith(".") else name == item for item in self.of)


class _ArgumentOperands:
    """The arguments of a call as operands of an expression."""

    def __init__(self, values: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
        self._values = {**defaults, **values}

    def value(self, name: str) -> Any:
        """Return the value that the call gives a parameter.

        Raises:
            Missing: It is not given.
        """
        found = self._values.get(name)
        if found is None:
            raise Missing(name)
        return found

    def has(self, name: str) -> bool:
        """Tell whether a parameter is given something other than None."""
        return self._values.get(name) is not None

    given = has

    def tier(self, table: str, column: str, gib: float) -> Any:
        """Raise `Missing`: there is no machine."""
        raise Missing(f"{table}.{column} {gib}")

    def gpu(self, index: int, field: str) -> Any:
        """Raise `Missing`: there is no machine."""
        raise Missing(f"gpu {index} {field}")


@functools.cache
def rows() -> tuple[Row, ...]:
    """Return the table."""
    data = json.loads(TABLE.read_text(encoding="utf-8"))
    found = []
    for row in data["rows"]:
        when, says = translate(row["when"]), translate_template(row["says"])
        found.append(
            Row(
                tuple(row["of"]),
                tuple(row["at"]),
                compile_source(when.source),
                when.names,
                compile_source(says.source),
                row["error"],
                row.get("severity", "error"),
                row.get("defaults", {}),
                row.get("whole", False),
                row.get("three", False),
                row.get("named", False),
                row["refused"],
                row["taken"],
            )
        )
    return tuple(found)


@functools.lru_cache(maxsize=4096)
def _rows_of(name: str) -> tuple[Row, ...]:
    return tuple(row for row in rows() if row.is_of(name))


def contradictions(
    name: str, known: Mapping[str, Any], unknown: Collection[str], *, opaque: bool, names: bool = True
) -> Iterator[Contradiction]:
    """Yield the contradictions between the arguments of a call.

    Args:
        name: The canonical name of what is called.
        known: The arguments whose values are known, by parameter.
        unknown: The parameters that are given something unknown.
        opaque: Whether further arguments may be given.
        names: Whether contradictions count that a rule of their own reports in code.
    """
    for row in _rows_of(name):
        if row.named and not names:
            continue
        if not row.operands.isdisjoint(unknown):
            continue
        if opaque and (row.whole or any(item not in known for item in row.defaults)):
            continue
        scope = _ArgumentOperands(known, row.defaults)
        try:
            if evaluate(row.when, scope) is not True:
                continue
            yield Contradiction(row.at, str(evaluate(row.says, scope)), row.error, row.severity, row.three)
        except Missing:
            continue
