"""Words that load as something else, or only look as if they did."""

from __future__ import annotations

from cfgfix.config.document.compose import Kind as NodeKind
from cfgfix.config.document.compose import Node
from cfgfix.config.loaders.scalars import LOADERS, resolve
from cfgfix.config.values import setting_names as names
from cfgfix.config.values.context import Context
from cfgfix.config.values.numbers import boolean, unquoted_number
from cfgfix.config.values.place import Place
from cfgfix.config.values.readings import Kind, Reading, readings
from cfgfix.core.edits import RenameKey, SetValue
from cfgfix.core.findings import KeyPath
from cfgfix.rules.hit import Hit, Span

_RAISING = names.TF_DATA_COUNTS | names.KERAS_RATES
"""Concepts where TensorFlow raises on a text, so that unquoting cannot make a working run fail."""


def bool_word(place: Place, reading: Reading) -> tuple[str, Hit] | None:
    """Return the hit of a word such as `yes` or `no` that loads as a bool, or None.

    Those in a list of texts, and those where a number is taken, are told in their own way.
    """
    number_hit = boolean(place, reading)
    if number_hit is not None:
        return number_hit
    need = place.need
    text = place.node.text
    new = "true" if reading.own.value else "false"
    values: dict[str, object] = {
        "loader": place.loader,
        "loaded": repr(reading.own.value),
        "new": new,
        "takes": place.takes(),
    }
    allowed = place.context.enum(place.path)
    listed = text in allowed
    text_only = need.source == "schema" and names.BOOLEAN not in need.types and (need.text or listed)
    if text_only and allowed and not listed:
        # Neither the bool nor the text is right here; what the schema lists is the schema's to say.
        return None
    if not text_only and names.BOOLEAN not in need.types and _beside_texts(place):
        return "norway_in_string_list", _quoting_hit(place, values, "unsafe")
    if place.in_list and text_only:
        return "norway_in_string_list", _quoting_hit(place, values, "safe")
    values["problem"] = f"is the bool {new} for {place.loader}, not text"
    if text_only:
        return "yaml11_bool_word", _quoting_hit(
            place, values, "safe" if listed else "unsafe", severity="error"
        )
    if not need.types and names.is_language(place.key):
        return "yaml11_bool_word", _quoting_hit(
            place, values, "unsafe", severity="error", confidence="medium"
        )
    if need.sure and need.types and names.BOOLEAN not in need.types:
        return None
    wanted = need.sure and names.BOOLEAN in need.types
    values["problem"] = f"is {new} for {place.loader}, but text for a YAML 1.2 loader"
    return "yaml11_bool_word", Hit(
        Span(place.start, place.end, place.path),
        values,
        (SetValue(place.path, reading.own.value, new, place.document),),
        confidence=None if wanted else "medium",
    )


def _quoting_hit(place: Place, values: dict[str, object], safety: str, **more: str) -> Hit:
    text = place.node.text
    values["new"] = f"'{text}'"
    change = SetValue(place.path, text, f"'{text}'", place.document)
    title = f"Quote it, so that it stays the text '{text}'"
    return Hit(Span(place.start, place.end, place.path), values, (change,), safety=safety, title=title, severity=more.get("severity"), confidence=more.get("confidence"))  # fmt: skip


def _beside_texts(place: Place) -> bool:
    """Tell whether a scalar stands in a list beside an item that is text."""
    if not place.in_list or place.parent is None:
        return False
    known = readings(place.context.loader)
    for item in place.parent.items:
        if item is place.node or item.kind != NodeKind.SCALAR or item.tag is not None:
            continue
        if item.style or resolve(item.text, known.loader).tag == "str":
            return True
    return False


def bool_word_text(place: Place, _reading: Reading) -> tuple[str, Hit] | None:
    """Return the hit of a word that loads as text where a bool is taken, or None.

    Such a text is always true.
    """
    need = place.need
    if not need.sure or names.BOOLEAN not in need.types or need.text:
        return None
    text = place.node.text
    if text in place.context.enum(place.path):
        return None
    value = bool(resolve(text, LOADERS["pyyaml"]).value)
    new = "true" if value else "false"
    values: dict[str, object] = {
        "loader": place.loader,
        "loaded": repr(text),
        "new": new,
        "takes": place.takes(),
        "problem": f"is the text '{text}' for {place.loader}, which counts as true",
    }
    return "yaml11_bool_word", Hit(
        Span(place.start, place.end, place.path),
        values,
        (SetValue(place.path, value, new, place.document),),
        severity="info" if place.coerced else "error",
        safety="unsafe",
        title=f"Write {new}",
    )


def bool_key(context: Context, key: Node, path: KeyPath, reading: Reading, document: int) -> tuple[str, Hit]:
    """Return the hit of a key that loads as a bool."""
    loaded = repr(reading.own.value)
    values: dict[str, object] = {"loader": context.loader.title, "loaded": loaded, "word": key.text}
    change = RenameKey(path, key.text, quote=True, document=document)
    return "bool_word_as_key", Hit(Span(key.start, key.end, path), values, (change,))


def null_word(place: Place, _reading: Reading) -> tuple[str, Hit] | None:
    """Return the hit of `None`, `nan` or `inf`, which load as text, or None."""
    need = place.need
    text = place.node.text
    if not need.sure or text in place.context.enum(place.path):
        return None
    word = text.lstrip("+-").lower()
    sign = "-" if text.startswith("-") else ""
    values: dict[str, object] = {"loader": place.loader, "takes": place.takes(), "new": ""}
    values["meaning"] = {"none": "null", "nan": "not-a-number"}.get(word, "infinity")
    confidence = None
    new: str | None
    if word == "none":
        if need.source == "schema":
            nullable = "null" in need.types
            if need.text and not (nullable and text == "None"):
                return None
            if not need.number and not nullable:
                return None
            confidence = "medium" if need.text else None
        else:
            if not need.number:
                return None
            nullable = place.concept not in names.REQUIRED_NUMBERS
            confidence = "medium"
        new = "null" if nullable else None
        value: object = None
    else:
        if not need.number or need.text:
            return None
        new = None if need.integer else (".nan" if word == "nan" else sign + ".inf")
        value = float(sign + word)
    if place.coerced and word != "none":
        return None
    if new is None:
        return "null_word_is_str", Hit(Span(place.start, place.end, place.path), values, confidence=confidence, no_fix="a number has to stand here, and only a person knows which")  # fmt: skip
    values["new"] = new
    change = SetValue(place.path, value, new, place.document)
    return "null_word_is_str", Hit(
        Span(place.start, place.end, place.path), values, (change,), confidence=confidence
    )


def empty(place: Place, key: Node) -> tuple[str, Hit] | None:
    """Return the hit of a key without a value where null is not taken, or None."""
    need = place.need
    if place.in_list:
        return None
    if need.source == "schema":
        if not need.types or "null" in need.types or None in place.context.enum(place.path):
            return None
    elif place.concept not in names.REQUIRED_NUMBERS:
        return None
    section = need.source == "schema" and need.types == {"object"}
    values: dict[str, object] = {"loader": place.loader, "takes": place.takes()}
    values["problem"] = (
        "has no entries, so it is null and not a section" if section else "has no value, so it is null"
    )
    notes = ("Remove the key, or write {} to keep an empty section.",) if section else ()
    return "empty_value_is_null", Hit(Span(key.start, key.end, place.path), values, notes=notes)


def quoted(place: Place, reading: Reading) -> tuple[str, Hit] | None:
    """Return the hit of a quoted bool or number where the bare one is taken, or None."""
    need = place.need
    if not need.sure or need.text:
        return None
    text = place.node.text
    if text in place.context.enum(place.path):
        return None
    value: object
    if reading.kind in (Kind.BOOL, Kind.BOOL_WORD, Kind.BOOL_WORD_TEXT):
        if names.BOOLEAN not in need.types:
            return None
        value = bool(resolve(text, LOADERS["pyyaml"]).value)
        new = text if reading.kind == Kind.BOOL else ("true" if value else "false")
        problem = "a text that counts as true whatever it says" if not value else "text, not true"
        raising = False
    else:
        if not need.number:
            return None
        found = unquoted_number(text, place, reading)
        if found is None:
            return None
        value, new = found
        problem = "text, not a number"
        raising = place.concept in _RAISING
    coerced = place.coerced
    values: dict[str, object] = {
        "loader": place.loader,
        "new": new,
        "problem": problem,
        "takes": place.takes(),
    }
    return "quoted_bool_or_number", Hit(
        Span(place.start, place.end, place.path),
        values,
        (SetValue(place.path, value, new, place.document),),
        severity="info" if coerced else None,
        safety="safe" if raising and not coerced else None,
        notes=("The program converts this value itself, so the quotes do no harm there.",) if coerced else (),
    )
