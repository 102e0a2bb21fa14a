"""Whether a value fits the pattern of a `case`, and what the pattern binds."""

from __future__ import annotations

from cfgfix.code.inference.interpreter import classes, reading
from cfgfix.code.inference.interpreter.events import GUARD, Asked
from cfgfix.code.inference.interpreter.expressions import evaluate
from cfgfix.code.inference.interpreter.models.operators import compared
from cfgfix.code.inference.interpreter.objects import (
    UNKNOWN,
    Choice,
    ClassObject,
    External,
    Instance,
    Mapping,
    Scalar,
    Sequence,
    Spot,
    Unknown,
    Value,
)
from cfgfix.code.inference.interpreter.run import Frame
from cfgfix.code.inference.interpreter.values import constant_of
from cfgfix.code.model.nodes import Expr, Pattern


def matches(frame: Frame, pattern: Expr, value: Value, bound: dict[str, Value], spot: Spot) -> bool | None:
    """Tell whether a value fits a pattern; None where that is not known.

    The names that the pattern binds are added to `bound`.
    """
    if not isinstance(pattern, Pattern):
        return None
    kind, parts, name = pattern.kind, pattern.parts, pattern.name
    if kind == "any":
        fits = matches(frame, parts[0], value, bound, spot) if parts else True
        if name is not None:
            bound[name] = value
        return fits
    if kind == "or":
        found = [matches(frame, part, value, bound, spot) for part in parts]
        return True if True in found else None if None in found else False
    if kind == "value":
        expected = evaluate(frame, parts[0])
        frame.run.use(value, spot)
        if type(value) is Scalar and value.key is not None and type(expected) is Scalar:
            value.key.compared.append((expected.value, value.value == expected.value))
        if isinstance(value, (Mapping, Sequence)) and type(expected) is Scalar:
            return False
        return compared("==", value, expected)
    if kind == "map":
        return _fits_mapping(frame, pattern, value, bound, spot)
    if kind == "list":
        return _fits_list(frame, parts, value, bound, spot)
    return _fits_class(frame, parts, value, bound, spot)


def _fits_class(
    frame: Frame, parts: tuple[Expr, ...], value: Value, bound: dict[str, Value], spot: Spot
) -> bool | None:
    cls = evaluate(frame, parts[0])
    found: bool | None = None
    if isinstance(value, Instance) and isinstance(cls, ClassObject):
        known = cls in classes.lineage(value.cls)
        if not known and "?" not in classes.outside_bases(value.cls):
            # What a library defines is derived from no class of the project.
            return False
        found = True if known else None
    plain = isinstance(cls, External) and cls.name.startswith("builtins.")
    if plain and isinstance(value, Scalar):
        frame.run.use(value, spot)
    for part in parts[1:]:
        inner: Value = value if plain else UNKNOWN
        if isinstance(part, Pattern) and part.kind == "field" and part.name is not None:
            inner = reading.attribute(frame, value, part.name, spot)
            part = part.parts[0]  # noqa: PLW2901 - what stands for the attribute
        fits = matches(frame, part, inner, bound, spot)
        if fits is False and found is True:
            return False
        found = None if fits is None else found
    return found


def _fits_mapping(
    frame: Frame, pattern: Pattern, value: Value, bound: dict[str, Value], spot: Spot
) -> bool | None:
    parts, rest = pattern.parts, pattern.name
    is_known = isinstance(value, Mapping)
    found: bool | None = True if is_known else None if isinstance(value, (Unknown, Choice)) else False
    for key, inner in zip(parts[::2], parts[1::2], strict=True):
        name = constant_of(evaluate(frame, key))
        entry: Value | None = None
        if isinstance(value, Mapping):
            entry = value.entries.get(name)
            if entry is None:
                _ask_for_key(frame, value, str(name), spot)
                if not value.open:
                    # A pattern that does not fit reads no further key.
                    return False
            else:
                frame.run.taken(entry, spot)
        fits = matches(frame, inner, entry if entry is not None else Unknown(value.origins), bound, spot)
        if fits is False:
            return False
        found = None if fits is None else found
    if rest is not None:
        bound[rest] = value
    return found


def _ask_for_key(frame: Frame, value: Mapping, name: str, spot: Spot) -> None:
    if value.open:
        for section in value.sections:
            section.asked.add(name)
    elif value.sections:
        frame.run.asked.append(Asked(value.sections, name, GUARD, spot, conditions=frame.run.conditions))


def _fits_list(
    frame: Frame, parts: tuple[Expr, ...], value: Value, bound: dict[str, Value], spot: Spot
) -> bool | None:
    if not isinstance(value, Sequence):
        for part in parts:
            matches(frame, part, Unknown(value.origins), bound, spot)
        return False if isinstance(value, (Scalar, Mapping)) else None
    stars = [number for number, part in enumerate(parts) if isinstance(part, Pattern) and part.kind == "rest"]
    if value.open:
        for part in parts:
            matches(frame, part, Unknown(value.origins), bound, spot)
        return None
    if len(value.items) < len(parts) - len(stars) or (not stars and len(value.items) != len(parts)):
        return False
    extra = len(value.items) - len(parts)
    found: bool | None = True
    for number, part in enumerate(parts):
        if stars and number == stars[0]:
            if isinstance(part, Pattern) and part.name is not None:
                bound[part.name] = Sequence(value.items[number : number + extra + 1])
            continue
        place = number if not stars or number < stars[0] else number + extra
        frame.run.taken(value.items[place], spot)
        fits = matches(frame, part, value.items[place], bound, spot)
        if fits is False:
            return False
        found = None if fits is None else found
    return found
