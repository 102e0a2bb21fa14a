"""The configs of yacs and ml_collections, which know their keys and the types of their values."""

from __future__ import annotations

import ast

from cfgfix.code.inference.interpreter import writing
from cfgfix.code.inference.interpreter.models.containers import to_plain, write_down
from cfgfix.code.inference.interpreter.models.loading import load
from cfgfix.code.inference.interpreter.models.texts import text_of
from cfgfix.code.inference.interpreter.objects import NONE, Mapping, Scalar, Sequence, Unknown, Value
from cfgfix.code.inference.interpreter.run import Call, Model
from cfgfix.code.inference.interpreter.values import copied, held_values, key_of, wrapped


def _call_clone(call: Call) -> Value:
    return copied(call.mapping, 12)


def _merge_from_file(call: Call) -> Value:
    facts = {"call": "yacs.config.CfgNode.merge_from_file", "class": "yacs"}
    found = load(call, "yacs", text_of(call.first), facts)
    if isinstance(found, Mapping):
        _merge_strict(call, call.mapping, found, "yacs")
    return NONE


def _merge_from_other(call: Call) -> Value:
    if isinstance(call.first, Mapping):
        _merge_strict(call, call.mapping, call.first, "yacs")
    return NONE


def _merge_strict(call: Call, owner: Mapping, other: Mapping, kind: str) -> None:
    """Merge a mapping into defaults, noting unknown keys and wrong types."""
    for name, value in other.entries.items():
        before = owner.entries.get(name)
        key = key_of(value)
        if before is None:
            if owner.open:
                owner.entries[name] = value
            elif key is not None:
                call.run.refuse(
                    "unknown-key", key, "the defaults", call.spot, "KeyError", tuple(map(str, owner.entries))
                )
            continue
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            before.sections = (*before.sections, *value.sections)
            before.key = value.key
            _merge_strict(call, before, value, kind)
            continue
        if kind == "yacs":
            value = _decoded_text(value)  # noqa: PLW2901 - what yacs reads stands for what the file says
        if key is not None and not _fits_default(before, value, kind):
            call.run.refuse(
                "wrong-type",
                key,
                "the defaults",
                call.spot,
                "ValueError" if kind == "yacs" else "TypeError",
                value=getattr(value, "value", None),
            )
        if key is not None:
            key.reads.append(call.spot)
        owner.entries[name] = value


def _decoded_text(value: Value) -> Value:
    """Return a text as yacs reads it: a Python literal becomes its value.

    yacs 0.1.8 does so in `_decode_cfg_value`.
    """
    if type(value) is not Scalar or not isinstance(value.value, str) or len(value.value) > 200:
        return value
    try:
        found = ast.literal_eval(value.value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value
    if value.key is not None:
        value.key.conversions.add(type(found).__name__)
    plain = isinstance(found, (int, float, str, bool, type(None)))
    return Scalar(found, value.origins, value.key) if plain else Unknown(value.origins)


def _fits_default(before: Value, value: Value, kind: str) -> bool:
    """Tell whether yacs or ml_collections lets a value replace a default.

    yacs 0.1.8 decides in `_check_and_coerce_cfg_value_type`.
    """
    if type(before) is not Scalar or type(value) is not Scalar:
        if isinstance(before, Sequence) and isinstance(value, Sequence):
            return True
        return not (
            isinstance(before, (Scalar, Sequence))
            and isinstance(value, (Scalar, Sequence))
            and type(before) is not type(value)
        ) or (isinstance(before, Scalar) and before.value is None)
    if before.value is None or value.value is None:
        return True
    if kind == "ml_collections" and isinstance(before.value, float) and type(value.value) is int:
        return True
    return type(before.value) is type(value.value)


def _call_update(call: Call) -> Value:
    owner = call.mapping
    for value in call.args:
        if isinstance(value, Mapping):
            _merge_config_dict(call, owner, value)
        else:
            owner.open = True
    for name, value in call.keywords.items():
        writing.write_entry(call.run, owner, name, value, call.spot)
    return NONE


def _merge_config_dict(call: Call, owner: Mapping, other: Mapping) -> None:
    if owner.locked:
        _merge_strict(call, owner, other, "ml_collections")
        return
    for name, value in other.entries.items():
        before = owner.entries.get(name)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            before.sections = (*before.sections, *value.sections)
            _merge_config_dict(call, before, value)
        else:
            owner.entries[name] = wrapped(value, owner.flavour, owner.access, owner.absent)


def _call_lock(call: Call) -> Value:
    for item in held_values(call.mapping):
        if isinstance(item, Mapping):
            item.locked = True
    return call.mapping


def _call_unlock(call: Call) -> Value:
    for item in held_values(call.mapping):
        if isinstance(item, Mapping):
            item.locked = False
    return call.mapping


def _change_nothing(_: Call) -> Value:
    return NONE


def _take_unknown_values(call: Call) -> Value:
    """Note that a merge of unknown values uses its arguments."""
    for value in call.args:
        for item in held_values(value, 2):
            call.use(item)
    return NONE


METHODS: dict[tuple[str, str], Model] = {
    ("yacs", "clone"): _call_clone,
    ("yacs", "merge_from_file"): _merge_from_file,
    ("yacs", "merge_from_list"): _take_unknown_values,
    ("yacs", "merge_from_other_cfg"): _merge_from_other,
    ("yacs", "freeze"): _change_nothing,
    ("yacs", "defrost"): _change_nothing,
    ("yacs", "dump"): write_down,
    ("ml_collections", "update"): _call_update,
    ("ml_collections", "lock"): _call_lock,
    ("ml_collections", "unlock"): _call_unlock,
    ("ml_collections", "unlocked"): _call_unlock,
    ("ml_collections", "to_dict"): to_plain,
    ("ml_collections", "to_yaml"): write_down,
    ("ml_collections", "to_json"): write_down,
}
"""By the flavour of the mapping and the name."""
