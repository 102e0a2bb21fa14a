"""Numbers that are none, and numbers that are others than they look."""

from __future__ import annotations

from cfgfix.config.document.compose import Kind as NodeKind
from cfgfix.config.loaders.scalars import LOADERS, resolve
from cfgfix.config.values import setting_names as names
from cfgfix.config.values.place import Place
from cfgfix.config.values.readings import Kind, Reading, number, parse_human, readings
from cfgfix.core.edits import SetValue
from cfgfix.rules.hit import Hit, Span

MAX_WHOLE = 2**53
"""Largest whole number that every float up to it can hold exactly."""

_COUNTS = names.TF_DATA_COUNTS | {"epochs", "steps_per_epoch", "train_steps"}
_NEVER_BOOL = names.REQUIRED_NUMBERS | {
    "eval_batch_size", "epochs", "steps_per_epoch", "train_steps", "optimizer_lr", "shuffle_multiplier",
}  # fmt: skip
"""Concepts for which no program is known to read a bool; `prefetch: true` or `shuffle: true` may mean "choose"."""


def respell(text: str) -> str | None:
    """Return a float spelled so that every loader reads it as that float.

    As little as possible changes: sign and digits stay. `5E-04` becomes `5.0e-04`, `1e4` becomes `1.0e+4`, `-.5` becomes
    `-0.5`. None where the text is no finite number.
    """
    value = number(text)
    if value is None:
        return None
    sign = text[0] if text[0] in "+-" else ""
    mantissa, mark, exponent = text[len(sign) :].lower().partition("e")
    if mark:
        exponent = "e" + (exponent if exponent[:1] in ("+", "-") else "+" + exponent)
    whole, dot, rest = mantissa.partition(".")
    whole = whole or "0"
    spellings = [f"{sign}{whole}.{rest}{exponent}"] if dot else []
    spellings.append(f"{sign}{whole}.{rest or '0'}{exponent}")
    from cfgfix.config.document.spelling import spell

    spellings.append(spell(value))
    for spelling in spellings:
        if all(_is_float(spelling, value, name) for name in LOADERS):
            return spelling
    return None


def _is_float(text: str, value: float, loader: str) -> bool:
    resolved = resolve(text, LOADERS[loader])
    return resolved.tag == "float" and resolved.value == value


def whole_number_text(text: str) -> str | None:
    """Return a whole number such as `1e3` in digits.

    None where the text is no whole number or a float cannot hold it exactly.
    """
    value = number(text)
    if value is None or not value.is_integer() or abs(value) > MAX_WHOLE:
        return None
    return str(int(value))


def number_text(place: Place, _reading: Reading) -> tuple[str, Hit] | None:
    """Return the hit of a text that is spelled like a float, or None."""
    need = place.need
    text = place.node.text
    signed = "." in text or "-" in text[1:] or "+" in text[1:]
    safety: str | None = None
    if need.source == "schema":
        if not need.number or text in place.context.enum(place.path):
            return None
        severity, confidence = ("warning", "medium") if need.text else ("error", "high")
    elif need.number:
        severity, confidence = ("error", "high") if need.source == "concept" else ("error", "medium")
    else:
        # A sign in the exponent or a dot says that it is a number; `12e4` may as well be an id.
        among_texts = _among_texts(place)
        if need.types or (among_texts and not signed):
            return None
        severity, confidence = "warning", "medium" if signed and not among_texts else "low"
        safety = None if signed and not among_texts else "unsafe"
    notes: tuple[str, ...] = ()
    if place.coerced:
        severity = "info"
        notes = (
            "The program converts this value itself, or does not use it, so the text does no harm there.",
        )
    new = whole_number_text(text) if need.integer else None
    if new is None and not (need.integer and need.source == "schema"):
        new = respell(text)
    values: dict[str, object] = {
        "loader": place.loader,
        "number": repr(number(text)),
        "new": new or "",
        "takes": place.takes(),
    }
    if new is None:
        return "float_without_dot_is_str", Hit(Span(place.start, place.end, place.path), values, severity=severity, confidence=confidence, notes=notes, no_fix="a whole number is taken here, and this is none")  # fmt: skip
    value: object = int(new) if new.lstrip("-").isdigit() else float(new)
    return "float_without_dot_is_str", Hit(
        Span(place.start, place.end, place.path),
        values,
        (SetValue(place.path, value, new, place.document),),
        severity=severity,
        confidence=confidence,
        safety=safety,
        notes=notes,
    )


def _among_texts(place: Place) -> bool:
    """Tell whether a scalar stands in a list beside text.

    Then it is a name or an id.
    """
    if not place.in_list or place.parent is None:
        return False
    loader_readings = readings(place.context.loader)
    for item in place.parent.items:
        if item.kind != NodeKind.SCALAR or item is place.node:
            continue
        if item.style or loader_readings[item.text] is None:
            return True
    return False


def base_60(place: Place, reading: Reading) -> tuple[str, Hit] | None:
    """Return the hit of a time or ratio that loads as a number in base 60."""
    need = place.need
    values: dict[str, object] = {
        "loader": place.loader,
        "loaded": repr(reading.own.value),
        "takes": place.takes(),
    }
    text = place.node.text
    if need.sure and need.types and not need.text:
        return "sexagesimal_int", Hit(Span(place.start, place.end, place.path), values, no_fix=f"a number is taken here; write {reading.own.value!r} if that is meant")  # fmt: skip
    return "sexagesimal_int", Hit(
        Span(place.start, place.end, place.path),
        values,
        (SetValue(place.path, text, f"'{text}'", place.document),),
        severity="info" if place.key.lower() == "walltime" and text.count(":") == 2 else None,
        confidence="high" if need.sure else "medium",
        safety="safe" if need.sure and need.types == {names.TEXT} else "unsafe",
    )


def octal(place: Place, reading: Reading) -> tuple[str, Hit] | None:
    """Return the hit of leading zeros that loaders disagree about, or None."""
    need = place.need
    text = place.node.text
    own = reading.own
    old = resolve(text, LOADERS["pyyaml"])
    mode = names.is_file_mode(place.key)
    if own == reading.portable:
        if not mode or old.tag != "int":
            return None
        new = "0o" + text.lstrip("+-0")
        problem, other = f"decimal {own.value}, not octal", old.value
    elif own.tag == "str":
        if not need.number or (need.sure and need.text):
            return None
        new = str(reading.portable.value)
        problem, other = f"the text '{text}' and no number", reading.portable.value
    else:
        if mode:
            return None
        new = f"'{text}'" if need.sure and need.types == {names.TEXT} else str(reading.portable.value)
        problem, other = f"octal, the number {own.value}", reading.portable.value
    values: dict[str, object] = {
        "loader": place.loader,
        "problem": problem,
        "other": repr(other),
        "new": new,
    }
    value: object = text if new.startswith("'") else reading.portable.value
    changes = (SetValue(place.path, value, new, place.document),) if not mode else ()
    return "octal_looking_int", Hit(
        Span(place.start, place.end, place.path),
        values,
        changes,
        confidence="high" if need.sure else "medium",
        no_fix=None if changes else f"write {new} if the octal number is meant, and check what reads it",
    )


def boolean(place: Place, reading: Reading) -> tuple[str, Hit] | None:
    """Return the hit of true or false where a number is taken, or None."""
    types = place.types
    if types is not None:
        if names.BOOLEAN in types or names.TEXT in types or not place.need.number:
            return None
        if reading.own.value in place.context.enum(place.path):
            return None
    elif place.concept not in _NEVER_BOOL:
        return None
    effect = (
        "Keras refuses it as a learning rate"
        if place.concept in names.KERAS_RATES
        else f"TensorFlow takes it silently as {1 if reading.own.value else 0}"
    )
    values: dict[str, object] = {"loader": place.loader, "effect": effect, "takes": place.takes()}
    return "bool_for_number", Hit(Span(place.start, place.end, place.path), values)


def floating(place: Place, reading: Reading) -> tuple[str, Hit] | None:
    """Return the hit of a whole float where an integer is taken, or None.

    A version such as `1.10` has a hit of its own.
    """
    text = place.node.text
    value = reading.own.value
    assert isinstance(value, float)
    if names.is_version(place.key):
        return _version_hit(place, value)
    if not value.is_integer():
        return None
    types = place.types
    if types is not None:
        if (
            names.INTEGER not in types
            or names.NUMBER in types
            or names.TEXT in types
            or any(type(item) is float for item in place.context.enum(place.path))
        ):
            return None
    elif place.concept not in _COUNTS:
        return None
    new = whole_number_text(text)
    if new is None or place.coerced:
        return None
    values: dict[str, object] = {"loader": place.loader, "new": new, "takes": place.takes()}
    return "float_for_int", Hit(
        Span(place.start, place.end, place.path),
        values,
        (SetValue(place.path, int(new), new, place.document),),
    )


def _version_hit(place: Place, value: float) -> tuple[str, Hit] | None:
    text = place.node.text
    loaded = repr(value)
    if loaded == text or not text.endswith("0") or "e" in loaded or float(text.replace("_", "")) != value:
        return None
    need = place.need
    if need.sure and need.types and not need.text:
        return None
    values: dict[str, object] = {"loader": place.loader, "loaded": loaded}
    return "version_float_truncation", Hit(
        Span(place.start, place.end, place.path),
        values,
        (SetValue(place.path, text, f"'{text}'", place.document),),
        safety="safe" if need.sure and need.types == {names.TEXT} else "unsafe",
        confidence="high" if need.sure else "medium",
    )


def integer(place: Place, reading: Reading) -> tuple[str, Hit] | None:
    """Return the hit of an integer as learning rate, or None."""
    types = place.types
    if place.in_list or (types is not None and (names.NUMBER not in types or names.TEXT in types)):
        return None
    by_concept = place.concept in names.KERAS_RATES
    if (
        not (by_concept or (place.concept is None and types is None and names.is_learning_rate(place.key)))
        or place.coerced
    ):
        return None
    value = reading.own.value
    assert isinstance(value, int)
    if abs(value) > MAX_WHOLE:
        return None
    new = f"{value}.0"
    values: dict[str, object] = {"loader": place.loader, "new": new}
    return "int_learning_rate", Hit(
        Span(place.start, place.end, place.path),
        values,
        (SetValue(place.path, float(value), new, place.document),),
        severity=None if by_concept else "warning",
        confidence=None if by_concept else "medium",
    )


def human(place: Place, _reading: Reading) -> tuple[str, Hit] | None:
    """Return the hit of a number such as `8 GB` where a plain one is taken, or None."""
    need = place.need
    if not need.sure or not need.number or need.text or not need.types.isdisjoint({"array", "object"}):
        return None
    text = place.node.text
    meant = parse_human(text)
    if meant is None or text in place.context.enum(place.path):
        return None
    value = meant.value
    if need.integer and value is not None:
        value = int(value) if float(value).is_integer() else None
    values: dict[str, object] = {
        "loader": place.loader,
        "problem": meant.problem,
        "takes": place.takes(),
        "new": "",
    }
    if value is None:
        return "human_number", Hit(Span(place.start, place.end, place.path), values, no_fix="what is meant has to be said by a person: write the number alone")  # fmt: skip
    from cfgfix.config.document.spelling import spell

    new = spell(value)
    values["new"] = new
    return "human_number", Hit(
        Span(place.start, place.end, place.path), values, (SetValue(place.path, value, new, place.document),)
    )


def unquoted_number(text: str, place: Place, reading: Reading) -> tuple[object, str] | None:
    """Return value and spelling of a quoted number where a number is taken.

    None where the text is no number of the kind that is taken.
    """
    need = place.need
    if reading.kind == Kind.INT:
        value = reading.own.value
        if isinstance(value, int) and resolve(text, LOADERS["ruamel"]).value == value:
            return (value, text)
        return None
    if reading.kind in (Kind.FLOAT, Kind.FRACTION, Kind.NUMBER_TEXT):
        new = whole_number_text(text) if need.integer else respell(text)
        if new is None:
            return None
        return (int(new) if need.integer else float(new.replace("_", "")), new)
    return None
