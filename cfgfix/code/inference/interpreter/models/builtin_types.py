"""The methods of Python's own types, and `super()`."""

from __future__ import annotations

from cfgfix.code.inference.interpreter import classes, reading, writing
from cfgfix.code.inference.interpreter.models.operators import names_left
from cfgfix.code.inference.interpreter.models.os_functions import read_environment
from cfgfix.code.inference.interpreter.models.outside import library_call
from cfgfix.code.inference.interpreter.models.paths import file_method, path_method
from cfgfix.code.inference.interpreter.models.texts import is_text, text_method
from cfgfix.code.inference.interpreter.objects import (
    NONE,
    UNKNOWN,
    ClassObject,
    External,
    FilePath,
    FunctionObject,
    Instance,
    Made,
    Mapping,
    Method,
    OpenFile,
    Scalar,
    Sequence,
    Unknown,
    Value,
)
from cfgfix.code.inference.interpreter.run import Call, Model
from cfgfix.code.inference.interpreter.values import (
    choice,
    constant_of,
    constant_text,
    copied,
    origins_of,
    wrapped,
)


def builtin_method(call: Call) -> Value | None:
    """Return the result of a method of a built-in type; None for other owners."""
    owner, name = call.receiver or UNKNOWN, call.name
    if isinstance(owner, Mapping):
        return mapping_method(call)
    if isinstance(owner, Sequence):
        return _sequence_method(call)
    if isinstance(owner, FilePath):
        return path_method(call, owner)
    if isinstance(owner, OpenFile):
        return file_method(call, owner)
    if is_text(owner):
        return text_method(call, owner)
    if isinstance(owner, Scalar):
        return Unknown(owner.origins)
    if isinstance(owner, External) and owner.name == "os.environ":
        return read_environment(call) if name in ("get", "setdefault", "pop") else UNKNOWN
    if isinstance(owner, ClassObject) and name in ("__init__", "__new__"):
        return UNKNOWN
    if isinstance(owner, Instance) and name == "__setattr__" and len(call.args) == 2:
        key = constant_text(call.args[0])
        if key is not None:
            writing.set_own(call.run, owner, key, call.args[1], call.spot)
        return NONE
    return None


# Dictionaries


def mapping_method(call: Call) -> Value:
    """Return the result of a method of a dictionary."""
    model = _MAPPING_METHODS.get(call.name)
    found = model(call) if model is not None else None
    if found is not None:
        return found
    call.run.escape(call.frame, (call.mapping, *call.values), call.spot)
    call.mapping.open = True
    return UNKNOWN


def _entry_of_mapping(call: Call) -> Value | None:
    if not call.args:
        return None
    owner, name = call.mapping, call.name
    default = call.argument(1, "default") or call.keywords.get("d")
    if default is None and name in ("get", "setdefault"):
        default = NONE
    found = reading.item(call.frame, owner, call.args[0], call.spot, default=default)
    key = call.args[0].value if type(call.args[0]) is Scalar else None
    if name == "pop" and key in owner.entries:
        if call.run.sure:
            del owner.entries[key]
        else:
            owner.unsure = owner.unsure | {key}
    if name == "setdefault" and key is not None and key not in owner.entries:
        owner.entries[key] = found
    return found


def _call_dict_items(call: Call) -> Value:
    entries = call.mapping.entries
    pairs: list[Value] = [
        Sequence([call.run.name_of(key, value), value], kind="tuple") for key, value in entries.items()
    ]
    return Sequence(pairs, open=call.mapping.open)


def _call_keys(call: Call) -> Value:
    found = Sequence(
        [call.run.name_of(key, value) for key, value in call.mapping.entries.items()], open=call.mapping.open
    )
    found.names_of = call.mapping
    return found


def _call_values(call: Call) -> Value:
    # As with pairs, who goes through all of them asks for none.
    return Sequence(list(call.mapping.entries.values()), open=call.mapping.open)


def _call_update(call: Call) -> Value:
    for value in call.args:
        writing.update(call.frame, call.mapping, value, call.spot)
    for key, value in call.keywords.items():
        writing.write_entry(call.run, call.mapping, key, value, call.spot)
    return NONE


def _copy_mapping(call: Call) -> Value:
    return copied(call.mapping)


def _set_item(call: Call) -> Value | None:
    if len(call.args) != 2:
        return None
    writing.set_item(call.frame, call.mapping, call.args[0], call.args[1], call.spot)
    return NONE


def _has_item(call: Call) -> Value | None:
    return UNKNOWN if call.args else None


def _call_clear(call: Call) -> Value:
    if call.run.sure:
        call.mapping.entries.clear()
    return NONE


_MAPPING_METHODS: dict[str, Model] = {
    "get": _entry_of_mapping,
    "pop": _entry_of_mapping,
    "setdefault": _entry_of_mapping,
    "__getitem__": _entry_of_mapping,
    "items": _call_dict_items,
    "keys": _call_keys,
    "values": _call_values,
    "update": _call_update,
    "copy": _copy_mapping,
    "__copy__": _copy_mapping,
    "__setitem__": _set_item,
    "__contains__": _has_item,
    "clear": _call_clear,
}

# Lists, tuples and sets


def _sequence_method(call: Call) -> Value:
    model = _SEQUENCE_METHODS.get(call.name)
    found = model(call) if model is not None else None
    if found is not None:
        return found
    for item in call.sequence.items:
        call.use(item)
    return Unknown(origins_of(call.sequence.items))


def _in_open_loop(call: Call) -> bool:
    """Tell whether a call stands in a loop with an unknown number of turns.

    The answer is True only where models are followed; elsewhere the length of a list does not matter.
    """
    return call.run.tensors is not None and bool(call.run.turns)


def _call_append(call: Call) -> Value | None:
    if not call.args:
        return None
    owner = call.sequence
    if call.run.sure or not owner.open:
        owner.items.append(call.args[0])
    owner.open = owner.open or not call.run.sure or _in_open_loop(call)
    owner.uncounted = owner.uncounted or bool(call.run.turns)
    return NONE


def _call_extend(call: Call) -> Value | None:
    if not call.args:
        return None
    owner, other = call.sequence, call.args[0]
    if isinstance(other, Sequence):
        owner.extend(other.items)
        owner.open = owner.open or other.open or not call.run.sure or _in_open_loop(call)
        owner.uncounted = owner.uncounted or other.uncounted or bool(call.run.turns)
    else:
        owner.open = True
    return owner if call.name == "union" else NONE


def _call_insert(call: Call) -> Value | None:
    if len(call.args) != 2:
        return None
    owner, index = call.sequence, constant_of(call.args[0])
    known = _is_settled(call) and isinstance(index, int)
    owner.items.insert(index if known else 0, call.args[1])
    owner.open = owner.open or not known
    return NONE


def _call_pop(call: Call) -> Value:
    owner = call.sequence
    index = constant_of(call.args[0]) if call.args else -1
    if _is_settled(call) and isinstance(index, int) and -len(owner.items) <= index < len(owner.items):
        return call.run.taken(owner.items.pop(index), call.spot)
    owner.open = True
    return choice(owner.items)


def _is_settled(call: Call) -> bool:
    """Tell whether a list's items are known and the call is certainly made."""
    owner = call.sequence
    return owner.kind == "list" and not owner.open and call.run.sure and not _in_open_loop(call)


def _set_difference(call: Call) -> Value | None:
    return names_left(call.run, call.sequence, call.first, call.spot) if len(call.args) == 1 else None


def _is_subset(call: Call) -> Value | None:
    left = _set_difference(call)
    return None if left is None else Scalar(not left.items) if isinstance(left, Sequence) else UNKNOWN


def _copy_sequence(call: Call) -> Value:
    return copied(call.sequence)


def _number_of_items(call: Call) -> Value:
    return Unknown(origins_of(call.sequence.items))


def _call_reverse(call: Call) -> Value:
    if call.run.sure:
        call.sequence.items.reverse()
    return NONE


def _call_sort(_: Call) -> Value:
    return NONE


_SEQUENCE_METHODS: dict[str, Model] = {
    "append": _call_append,
    "add": _call_append,
    "extend": _call_extend,
    "update": _call_extend,
    "union": _call_extend,
    "difference": _set_difference,
    "issubset": _is_subset,
    "insert": _call_insert,
    "pop": _call_pop,
    "copy": _copy_sequence,
    "index": _number_of_items,
    "count": _number_of_items,
    "sort": _call_sort,
    "reverse": _call_reverse,
}

# Methods of the next class in line


def fill(call: Call, entries: Mapping, args: tuple[Value, ...]) -> None:
    """Fill the mapping of a new object with the arguments of its constructor."""
    plain = entries.flavour == "dict"
    for value in args:
        inner = value.entries if isinstance(value, Instance) and value.entries is not None else value
        made = inner if plain else wrapped(inner, entries.flavour, entries.access, entries.absent)
        writing.update(call.frame, entries, made, call.spot)
    for name, value in call.keywords.items():
        entries.entries[name] = (
            value if plain else wrapped(value, entries.flavour, entries.access, entries.absent)
        )
    if call.spread is not None:
        entries.sections = (
            *entries.sections,
            *(section for section in call.spread.sections if section not in entries.sections),
        )
    entries.open = entries.open or call.opaque


def init_by_name(call: Call) -> Value | None:
    """Return the result of a named base's `__init__`, as `dict.__init__(self, ...)`.

    None for other calls of an `__init__`.
    """
    receiver = call.first
    if not isinstance(receiver, Instance) or receiver.entries is None:
        return None
    fill(call, receiver.entries, call.args[1:])
    return NONE


def new_object(call: Call) -> Value | None:
    """Return the new object of `object.__new__(cls)`.

    None where the class is not of the project.
    """
    return Instance(call.first) if isinstance(call.first, ClassObject) else None


def super_method(call: Call, owner: Made) -> Value:
    """Return the result of a method of `super()`."""
    name = call.name
    receiver, cls = owner.args[0], owner.args[1] if len(owner.args) > 1 else None
    start = (
        receiver.cls
        if isinstance(receiver, Instance)
        else receiver
        if isinstance(receiver, ClassObject)
        else None
    )
    if isinstance(receiver, ClassObject) and name == "__call__":
        # What a metaclass adds to is how a class makes its objects.
        return call.then(receiver, call.args, call.keywords, spread=call.spread, opaque=call.opaque)
    if name == "__new__":
        return new_object(call) or UNKNOWN
    if start is not None and isinstance(cls, ClassObject):
        later = False
        for item in classes.lineage(start):
            if later:
                member = item.names.names.get(name)
                if isinstance(member, FunctionObject):
                    return call.then(member.bound(receiver), call.args, call.keywords)
            later = later or item is cls
    if isinstance(receiver, Instance):
        if receiver.entries is not None:
            if name == "__init__":
                fill(call, receiver.entries, call.args)
                return NONE
            return mapping_method(call.on(Method(receiver.entries, name)))
        if name in ("__setattr__", "__setitem__") and len(call.args) == 2:
            key_name = constant_text(call.args[0])
            if key_name is not None:
                writing.set_own(call.run, receiver, key_name, call.args[1], call.spot)
            else:
                receiver.open = True
            return NONE
        outside = classes.outside_bases(receiver.cls)
        if outside:
            plain = Call(
                call.frame,
                call.callee,
                call.args,
                call.keywords,
                call.spot,
                call.spread,
                opaque=call.opaque,
            )
            return library_call(plain, outside[0] if name == "__init__" else f"{outside[0]}.{name}")
    if name == "__init__":
        return NONE
    call.escape()
    return UNKNOWN
