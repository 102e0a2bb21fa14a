"""The methods of Python's own types, and `super()`."""

from __future__ import annotations

from cfgfix.code.inference.interpreter import classes, reading, writing
from cfgfix.code.inference.interpreter.models.outside import library_call
from cfgfix.code.inference.interpreter.models.paths import environment, path_method
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
    OpenFile,
    Scalar,
    Sequence,
    Unknown,
    Value,
)
from cfgfix.code.inference.interpreter.run import Call
from cfgfix.code.inference.interpreter.values import choice, constant_text, copied, key_value, origins_of


def builtin_method(call: Call) -> Value | None:
    """Return what a method of a built-in type gives; None where the owner is none of them."""
    owner, name = call.receiver or UNKNOWN, call.name
    if isinstance(owner, Mapping):
        return mapping_method(call, owner)
    if isinstance(owner, Sequence):
        return _sequence_method(call, owner)
    if isinstance(owner, FilePath):
        return path_method(call, owner)
    if isinstance(owner, OpenFile):
        if name in ("read", "readlines", "__enter__", "decode", "splitlines", "strip"):
            return owner
        for value in call.args:
            call.use(value, deep=True)
        return UNKNOWN
    if is_text(owner):
        return text_method(call, owner)
    if isinstance(owner, Scalar):
        return Unknown(owner.origins)
    if isinstance(owner, External) and owner.name == "os.environ":
        if name in ("get", "setdefault", "pop"):
            return environment(call.run, call.first, call.args[1] if len(call.args) > 1 else NONE)
        return UNKNOWN
    if isinstance(owner, ClassObject) and name in ("__init__", "__new__"):
        return UNKNOWN
    if isinstance(owner, Instance) and name == "__setattr__" and len(call.args) == 2:
        key = constant_text(call.args[0])
        if key is not None:
            writing.set_own(call.run, owner, key, call.args[1], call.spot)
        return NONE
    return None


def mapping_method(call: Call, owner: Mapping) -> Value:
    """Return what a method of a dictionary gives."""
    name = call.name
    if name in ("get", "pop", "setdefault", "__getitem__") and call.args:
        given = call.args[1] if len(call.args) > 1 else call.keywords.get("default", call.keywords.get("d"))
        default = given if given is not None else (None if name in ("pop", "__getitem__") else NONE)
        found = reading.item(call.frame, owner, call.args[0], call.spot, default=default)
        key = call.args[0].value if type(call.args[0]) is Scalar else None
        if name == "pop" and key is not None and call.run.sure:
            owner.entries.pop(key, None)
        if name == "setdefault" and key is not None and key not in owner.entries:
            owner.entries[key] = found
        return found
    if name == "items":
        pairs: list[Value] = []
        for key, value in owner.entries.items():
            pairs.append(Sequence([key_value(key), value], kind="tuple"))
        return Sequence(pairs, open=owner.open)
    if name == "keys":
        return Sequence([key_value(key) for key in owner.entries], open=owner.open)
    if name == "values":
        for value in owner.entries.values():
            call.run.taken(value, call.spot)
        return Sequence(list(owner.entries.values()), open=owner.open)
    if name == "update":
        for value in call.args:
            writing.update(call.frame, owner, value, call.spot)
        for key, value in call.keywords.items():
            writing.put(call.run, owner, key, value, call.spot)
        return NONE
    if name in ("copy", "__copy__"):
        return copied(owner)  # type: ignore[no-any-return]
    if name == "__setitem__" and len(call.args) == 2:
        writing.set_item(call.frame, owner, call.args[0], call.args[1], call.spot)
        return NONE
    if name == "__contains__" and call.args:
        return UNKNOWN
    if name == "clear":
        if call.run.sure:
            owner.entries.clear()
        return NONE
    call.run.escape(call.frame, (owner, *call.values), call.spot)
    owner.open = True
    return UNKNOWN


def _sequence_method(call: Call, owner: Sequence) -> Value:
    name = call.name
    if name in ("append", "add") and call.args:
        if call.run.sure or not owner.open:
            owner.items.append(call.args[0])
        owner.open = owner.open or not call.run.sure
        return NONE
    if name in ("extend", "update", "union") and call.args:
        other = call.args[0]
        if isinstance(other, Sequence):
            owner.items.extend(other.items)
            owner.open = owner.open or other.open or not call.run.sure
        else:
            owner.open = True
        return owner if name == "union" else NONE
    if name == "insert" and len(call.args) == 2:
        owner.items.insert(0, call.args[1])
        owner.open = True
        return NONE
    if name == "pop":
        found = choice(owner.items) if owner.items else UNKNOWN
        owner.open = True
        return found
    if name == "copy":
        return copied(owner)  # type: ignore[no-any-return]
    if name in ("index", "count"):
        return Unknown(origins_of(owner.items))
    if name in ("sort", "reverse"):
        return NONE
    for item in owner.items:
        call.use(item)
    return Unknown(origins_of(owner.items))


def super_method(call: Call, owner: Made) -> Value:
    """Return what a method of `super()` gives."""
    name = call.name
    receiver, cls = owner.args[0], owner.args[1] if len(owner.args) > 1 else None
    start = (
        receiver.cls
        if isinstance(receiver, Instance)
        else receiver
        if isinstance(receiver, ClassObject)
        else None
    )
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
                for value in call.args:
                    writing.update(call.frame, receiver.entries, value, call.spot)
                for key, value in call.keywords.items():
                    receiver.entries.entries[key] = value
                return NONE
            return mapping_method(call, receiver.entries)
        if name in ("__setattr__", "__setitem__") and len(call.args) == 2:
            key_name = constant_text(call.args[0])
            if key_name is not None:
                writing.set_own(call.run, receiver, key_name, call.args[1], call.spot)
            else:
                receiver.open = True
            return NONE
        outside = classes.outside_bases(receiver.cls)
        if outside:
            plain = Call(call.frame, call.callee, call.args, call.keywords, call.spot)
            return library_call(plain, outside[0] if name == "__init__" else f"{outside[0]}.{name}")
    if name == "__init__":
        return NONE
    call.escape()
    return UNKNOWN
