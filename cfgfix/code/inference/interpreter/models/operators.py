"""The results of Python's operators on values."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from cfgfix.code.inference.interpreter.events import GUARD, Asked
from cfgfix.code.inference.interpreter.models.method_names import CLASSES_OF_ARRAYS, CLASSES_TOLD_APART, MARKS
from cfgfix.code.inference.interpreter.models.paths import join_paths
from cfgfix.code.inference.interpreter.models.texts import (
    MAX_RANGE,
    MAX_TEXT,
    is_text,
    joined,
    parts_of,
    percent,
    text_of,
)
from cfgfix.code.inference.interpreter.objects import (
    ClassObject,
    External,
    FilePath,
    FunctionObject,
    Instance,
    Mapping,
    Scalar,
    Sequence,
    Spot,
    Unknown,
    Value,
)
from cfgfix.code.inference.interpreter.run import Run
from cfgfix.code.inference.interpreter.values import (
    all_origins,
    alternatives,
    constant_of,
    held_values,
    key_of,
)

NUMBERS = (int, float)
MAX_EXPONENT = 64
"""Largest exponent of a power that is worked out."""


def _power_of(base: Any, exponent: Any) -> Any:
    """Return a number raised to a power.

    Raises:
        OverflowError: It may be too large to work out.
        TypeError: It is no number.
    """
    if not isinstance(base, NUMBERS) or not isinstance(exponent, NUMBERS):
        raise TypeError
    if abs(exponent) > MAX_EXPONENT or (isinstance(base, int) and base.bit_length() > MAX_EXPONENT):
        raise OverflowError
    found = base**exponent
    if isinstance(found, complex):
        raise TypeError
    return found


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": _power_of,
}

_COMPARES: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def binary(run: Run, sign: str, left: Value, right: Value, spot: Spot) -> Value:
    """Return the result of a binary operator."""
    origins = left.origins | right.origins
    if type(left) is Scalar and type(right) is Scalar:
        result = _computed_scalar(run, sign, left, right, spot)
        if result is not None:
            return Scalar(result.value, origins, optional=left.optional or right.optional)
        return Unknown(origins)
    if run.tensors is not None:
        of_tensors = run.tensors.operation(sign, left, right, spot)
        if of_tensors is not None:
            return of_tensors
    if sign == "/" and isinstance(left, FilePath):
        return FilePath(join_paths((left.text, text_of(right))))
    if sign == "/" and isinstance(right, FilePath):
        return FilePath(join_paths((text_of(left), right.text)))
    texts = is_text(left) + is_text(right)
    if sign == "+" and (texts == 2 or (texts == 1 and Unknown in (type(left), type(right)))):
        # What is added to a text is one.
        return joined([*parts_of(left), *parts_of(right)], origins)
    if sign == "%" and type(left) is Scalar and isinstance(left.value, str):
        return percent(left, right)
    if sign == "+" and isinstance(left, Sequence) and isinstance(right, Sequence):
        both = Sequence(list(left.items), open=left.open or right.open, kind=left.kind)
        both.extend(right.items)
        return both
    if sign == "-" and isinstance(left, Sequence):
        return names_left(run, left, right, spot) or Unknown(origins)
    if sign == "*" and isinstance(left, Sequence):
        times = right.value if type(right) is Scalar else None
        if isinstance(times, int) and len(left.items) * max(0, times) <= MAX_RANGE:
            return Sequence(left.items * times, open=left.open, kind=left.kind)
    for value in (left, right):
        if (
            isinstance(value, Scalar)
            and isinstance(value.value, str)
            and value.key is not None
            and sign in "-/"
        ):
            refuse_text(run, value, spot, f"`{sign}`")
    for value in (left, right):
        for item in alternatives(value):
            if not isinstance(item, (Scalar, Unknown, Mapping, Sequence)):
                for inner in held_values(item, 2):
                    run.use(inner, spot)
            elif isinstance(item, Sequence):
                # `shape[:-1] + (channels,)`
                origins = origins | all_origins(item)
    return Unknown(origins)


def names_left(run: Run, wanted: Sequence, given: Value, spot: Spot) -> Sequence | None:
    """Return the names of one set that another does not have.

    None where they are not known. Names that a config section does not have are noted as looked for.
    """
    mapping = given if isinstance(given, Mapping) else given.names_of if isinstance(given, Sequence) else None
    names = [constant_of(item) for item in wanted.items]
    if wanted.open or None in names:
        return None
    held_names: set[Any]
    if isinstance(given, Mapping):
        held_names = set(given.entries)
    elif isinstance(given, Sequence):
        held_names = {constant_of(item) for item in given.items}
    else:
        return None
    if given.open or None in held_names:
        return None
    left = [item for item, name in zip(wanted.items, names, strict=True) if name not in held_names]
    if mapping is not None and mapping.sections:
        for item in left:
            run.asked.append(
                Asked(mapping.sections, str(constant_of(item)), GUARD, spot, conditions=run.conditions)
            )
    return Sequence(left, kind="set")


def _computed_scalar(run: Run, sign: str, left: Scalar, right: Scalar, spot: Spot) -> Scalar | None:
    one, other = left.value, right.value
    if sign == "%" and isinstance(one, str):
        found = percent(left, right)
        return found if type(found) is Scalar else None
    if isinstance(one, str) != isinstance(other, str) and sign in _OPERATORS:
        if not (sign == "*" and isinstance(one if isinstance(other, str) else other, int)):
            for value, beside in ((left, right), (right, left)):
                if isinstance(value.value, str) and isinstance(beside.value, NUMBERS):
                    refuse_text(run, value, spot, f"`{sign}`")
            return None
        number = one if isinstance(other, str) else other
        if key_of(left) is not None or key_of(right) is not None:
            return None
        if len(str(one if isinstance(one, str) else other)) * max(0, int(number)) > MAX_TEXT:
            return None
    function = _OPERATORS.get(sign)
    if function is None or one is None or other is None:
        for value in (left, right):
            if value.value is None and value.key is not None:
                run.refuse("wrong-type", value.key, f"`{sign}`", spot, "TypeError", value=None)
        return None
    try:
        result = function(one, other)
    except ZeroDivisionError:
        if right.key is not None and not right.optional and not run.every_way:
            run.refuse("wrong-type", right.key, f"`{sign}`", spot, "ZeroDivisionError", value=other)
        return None
    except (TypeError, ValueError, OverflowError):
        return None
    if isinstance(result, str) and len(result) > MAX_TEXT:
        return None
    if isinstance(result, int) and result.bit_length() > 256:
        return None
    return Scalar(result)


def refuse_text(run: Run, value: Scalar, spot: Spot, by: str) -> None:
    """Note a text in a config where the code needs a number."""
    if value.key is not None:
        run.refuse("no-number", value.key, by, spot, "TypeError", value=value.value)


def same_class(left: Value, right: Value) -> bool | None:
    """Tell whether two classes are the same; None where one is not known."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one, External) and one.name in MARKS:
            if isinstance(other, (ClassObject, FunctionObject, Scalar, Mapping, Sequence, Instance)):
                return False
            if isinstance(other, External):
                return one.name == other.name
        if not isinstance(one, External) or one.name not in CLASSES_TOLD_APART:
            continue
        if isinstance(other, ClassObject) or (
            isinstance(other, External) and other.name in CLASSES_OF_ARRAYS
        ):
            return False
        if isinstance(other, External) and other.name in CLASSES_TOLD_APART:
            return one.name == other.name
    return None


def compared(sign: str, left: Value, right: Value) -> bool | None:
    """Return the result of a comparison, or None where it is not known."""
    if type(left) is Scalar and type(right) is Scalar:
        if left.optional or right.optional:
            return None
        function = _COMPARES.get(sign)
        if function is None:
            return None
        try:
            return bool(function(left.value, right.value))
        except TypeError:
            return None
    if sign in ("==", "!="):
        same = same_class(left, right)
        if same is not None:
            return same is (sign == "==")
        kinds = (FunctionObject, ClassObject, Mapping, Sequence, Instance)
        for one, other in ((left, right), (right, left)):
            if isinstance(one, kinds) and type(other) is Scalar:
                return sign == "!="
    return None
