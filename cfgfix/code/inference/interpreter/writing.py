"""Writes of attributes and entries, and the config values that they replace."""

from __future__ import annotations

from typing import Any

from cfgfix.code.inference.interpreter import classes
from cfgfix.code.inference.interpreter.models.field_declarations import has_slots
from cfgfix.code.inference.interpreter.models.method_names import CONTEXT
from cfgfix.code.inference.interpreter.models.options import FLAG_HOLDER, FLAGS, set_flag
from cfgfix.code.inference.interpreter.models.outside import library_call
from cfgfix.code.inference.interpreter.objects import (
    EITHER,
    ClassObject,
    ConfigKey,
    External,
    FunctionObject,
    Instance,
    Made,
    Mapping,
    Method,
    ModuleObject,
    OwnAttributes,
    Scalar,
    Sequence,
    Spot,
    Unnamed,
    Value,
)
from cfgfix.code.inference.interpreter.reading import note_access
from cfgfix.code.inference.interpreter.run import Call, Frame, Run
from cfgfix.code.inference.interpreter.values import (
    all_origins,
    alternatives,
    choice,
    constant_of,
    constant_text,
    entry_name,
    key_of,
)

MAX_ENTRIES = 2_000
"""Most entries of a mapping of which some have no known names."""


def set_item(frame: Frame, owner: Value, index: Value, value: Value, spot: Spot) -> None:
    """Put a value under a key."""
    run = frame.run
    holder = owner.entries if isinstance(owner, Instance) else owner
    if run.is_stand_in(owner):
        return
    if not isinstance(holder, Mapping):
        run.use(index, spot, deep=True)
        if isinstance(owner, Sequence):
            owner.open = owner.open or constant_of(index) is None
        if isinstance(owner, Instance):
            method = classes.member(owner.cls, "__setitem__")
            if isinstance(method, FunctionObject):
                run.call(Call(frame, method.bound(owner), (index, value), {}, spot))
        else:
            run.escape(frame, (value,), spot)
        return
    run.use(index, spot, deep=True)
    name = entry_name(index)
    known = run.key_names.get(id(index))
    if known is not None and known[1].parent is not None and known[1].parent not in holder.sections:
        # A mapping that is filled while a section is gone through has taken that over.
        holder.sections = (*holder.sections, known[1].parent)
    if name is None:
        holder.open = True
        if len(holder.entries) < MAX_ENTRIES:
            holder.entries[Unnamed()] = value
        else:
            run.use(value, spot, deep=True)
        return
    write_entry(run, holder, name, value, spot)


def write_entry(run: Run, holder: Mapping, name: Any, value: Value, spot: Spot) -> None:
    """Write an entry of a mapping.

    What becomes of the config's value that stood there is noted.
    """
    if isinstance(holder, OwnAttributes) and isinstance(name, str):
        set_own(run, holder.owner, name, value, spot)
        return
    run.written_tables.pop(id(holder), None)
    if run.code_settings is not None:
        value = run.code_settings.entry(holder, name, value, spot)
    before = holder.entries.get(name)
    if before is not None:
        key = key_of(before)
        derived = key is not None and key in all_origins(value)
        if key is not None and not derived and key_of(value) is not key:
            if _from_another_file(value, key):
                # One file laid over another: that is what the first is for.
                key.uses.append(spot)
            else:
                (key.writes if run.sure else key.may_write).append(spot)
    if run.sure or before is None or _stands_for_the_same(before, value):
        holder.entries[name] = value
    else:
        holder.entries[name] = choice((before, value))


def _stands_for_the_same(before: Value, value: Value) -> bool:
    """Tell whether an object made from a section replaces that section.

    `self[name] = Config(self[name])` does so.
    """
    sections = _sections_of(before)
    return bool(sections) and sections == _sections_of(value) and isinstance(value, Instance)


def _sections_of(value: Value) -> frozenset[ConfigKey]:
    inner = value.entries if isinstance(value, Instance) else value
    return frozenset(inner.sections) if isinstance(inner, Mapping) and not inner.open else frozenset()


def set_attribute(frame: Frame, owner: Value, name: str, value: Value, spot: Spot) -> None:
    """Give an object an attribute."""
    run = frame.run
    if isinstance(owner, Mapping):
        if owner.locked and name not in owner.entries and not owner.open:
            note_access(
                frame, owner, name, f"the config is locked and has no `{name}`", "AttributeError", spot
            )
        write_entry(run, owner, name, value, spot)
    elif isinstance(owner, Instance):
        setter = classes.member(owner.cls, "__setattr__")
        if isinstance(setter, FunctionObject) and not run.running.get(id(setter.scope)):
            run.call(Call(frame, setter.bound(owner), (Scalar(name), value), {}, spot))
            return
        if owner.entries is not None and name in owner.entries.entries and owner.entries.flavour != "dict":
            write_entry(run, owner.entries, name, value, spot)
            return
        if name == "data" and classes.is_user_dictionary(owner) and isinstance(value, Mapping) and run.sure:
            owner.entries = value
            return
        if name == "__dict__":
            _replace_attributes(frame, owner, value, spot)
            return
        if name not in owner.attributes and not owner.open and setter is None and has_slots(run, owner.cls):
            how = f"{owner.cls.scope.name} has slots for its fields, and none for `{name}`"
            note_access(frame, owner, name, how, "AttributeError", spot)
        set_own(run, owner, name, value, spot)
    elif isinstance(owner, (ClassObject, ModuleObject)):
        before, key = owner.names.names.get(name), key_of(value)
        if key is not None:
            key.kept_as.add(name)
        if run.code_settings is not None and before is not None:
            run.code_settings.replaced(before)
        owner.names.names[name] = value if run.sure or before is None else choice((before, value))
    elif isinstance(owner, External) and owner.name in FLAGS:
        set_flag(run, name, value)
    elif isinstance(owner, Made) and owner.name == FLAG_HOLDER and name == "value" and owner.args:
        owner.attributes[name] = value
        set_flag(run, constant_text(owner.args[0]), value)
    elif isinstance(owner, Made):
        owner.attributes[name] = value
        if owner.name == CONTEXT:
            return
        library_call(Call(frame, Method(owner, name), (value,), {}, spot), f"{owner.name}.{name}=")
    elif isinstance(owner, Method) and isinstance(owner.owner, (Made, External)):
        # `options.threading.private_threadpool_size = n`, `model.optimizer.learning_rate = x`
        inner = f"{owner.owner.name}.{owner.name}.{name}="
        library_call(Call(frame, Method(owner.owner, name), (value,), {}, spot), inner)
    else:
        run.escape(frame, (value,), spot)


def _replace_attributes(frame: Frame, owner: Instance, value: Value, spot: Spot) -> None:
    """Carry out `obj.__dict__ = mapping`; `d.__dict__ = d` makes entries attributes."""
    if value is owner and owner.entries is not None:
        owner.entries.flavour, owner.entries.access = "AttrDict", EITHER
    else:
        update(frame, OwnAttributes(owner), value, spot)


def set_own(run: Run, owner: Instance, name: str, value: Value, spot: Spot) -> None:
    """Set an attribute of an object of the project."""
    if run.code_settings is not None:
        value = run.code_settings.attribute(owner, name, value, spot)
    before = owner.attributes.get(name)
    if before is not None and run.sure:
        key = key_of(before)
        if key is not None and key not in all_origins(value) and not key.uses and key_of(value) is not key:
            key.writes.append(spot)
    key = key_of(value)
    if key is not None:
        key.kept_as.add(name)
        if key.parent is not None and key.name == name and key.parent not in owner.sections:
            owner.sections = (*owner.sections, key.parent)
    owner.attributes[name] = value if run.sure or before is None else choice((before, value))


def update(frame: Frame, holder: Mapping, other: Value, spot: Spot) -> None:
    """Update a mapping with the entries of another."""
    several = alternatives(other)
    if len(several) > 1:
        frame.run.assumed.append("it is the one that is taken")
    for item in several:
        _update_from(frame, holder, item, spot)
    if len(several) > 1:
        frame.run.assumed.pop()


def _update_from(frame: Frame, holder: Mapping, item: Value, spot: Spot) -> None:
    """Update a mapping with the entries of one that is known to be it."""
    run = frame.run
    inner = item.entries if isinstance(item, Instance) and item.entries is not None else item
    if isinstance(inner, Mapping):
        for name, value in inner.entries.items():
            if holder.locked and name not in holder.entries:
                key = key_of(value)
                if key is not None:
                    run.refuse(
                        "unknown-key",
                        key,
                        holder.flavour,
                        spot,
                        "KeyError",
                        tuple(map(str, holder.entries)),
                    )
                continue
            if name not in inner.unsure:
                write_entry(run, holder, name, value, spot)
                continue
            run.assumed.append(f"{name} is there")
            write_entry(run, holder, name, value, spot)
            run.assumed.pop()
        holder.open = holder.open or inner.open
        holder.sections = (*holder.sections, *(s for s in inner.sections if s not in holder.sections))
    elif isinstance(item, Sequence):
        for pair in item.items:
            if isinstance(pair, Sequence) and len(pair.items) == 2:
                set_item(frame, holder, pair.items[0], pair.items[1], spot)
        holder.open = holder.open or item.open
    elif not (isinstance(item, Scalar) and item.value is None):
        holder.open = True


def _from_another_file(value: Value, key: ConfigKey) -> bool:
    return any(
        other.source != key.source and not other.source.startswith("<") for other in all_origins(value)
    )
