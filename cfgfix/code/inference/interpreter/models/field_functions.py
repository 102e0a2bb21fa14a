"""Functions and methods of dataclasses, attrs, pydantic, dacite and cattrs."""

from __future__ import annotations

from cfgfix.code.inference.interpreter.models.field_declarations import Field, fields_of, kind_of
from cfgfix.code.inference.interpreter.models.field_objects import construct_from_mapping
from cfgfix.code.inference.interpreter.models.loading import add_constructor, add_resolver, load
from cfgfix.code.inference.interpreter.objects import (
    DICT,
    NONE,
    UNKNOWN,
    ClassObject,
    External,
    Instance,
    Made,
    Mapping,
    OpenFile,
    Scalar,
    Sequence,
    Value,
)
from cfgfix.code.inference.interpreter.run import Call, Model
from cfgfix.code.inference.interpreter.values import alternatives, choice, copied, held_values, wrapped


def class_method(call: Call, cls: ClassObject) -> Value | None:
    """Return the result of a class method from a library, or None if not modelled."""
    name = call.name
    if name == "add_implicit_resolver":
        return add_resolver(call, cls)
    if name == "add_constructor":
        return add_constructor(call)
    if name == "add_multi_constructor":
        return NONE
    if name in ("parse_obj", "model_validate", "from_dict", "validate") and call.args:
        kind = kind_of(call.run, cls)
        if kind:
            return construct_from_mapping(call, cls, kind, call.args[0])
    if name in ("parse_raw", "parse_file", "model_validate_json") and (kind := kind_of(call.run, cls)):
        source = call.first if name != "parse_file" else OpenFile(call.first)
        found = load(call, "json", source, {"call": f"pydantic.{name}", "class": "json"})
        return choice(construct_from_mapping(call, cls, kind, item) for item in alternatives(found))
    if name == "__new__":
        return Instance(cls)
    if name == "__subclasses__":
        derived = (item for item in call.run.classes if any(cls in alternatives(base) for base in item.bases))
        return Sequence(list(dict.fromkeys(derived)))
    return None


def instance_method(call: Call, owner: Instance) -> Value | None:
    """Return the result of an object's method from a library, or None if not modelled."""
    name = call.name
    if name in ("dict", "model_dump", "to_dict", "asdict", "_asdict") and kind_of(call.run, owner.cls):
        return Mapping({**owner.attributes}, open=owner.open, sections=owner.sections)
    if name == "_replace" and kind_of(call.run, owner.cls) == "tuple":
        return _replace_fields(call, owner)
    if name in ("copy", "model_copy") and kind_of(call.run, owner.cls):
        return copied(owner, 1)
    if name in ("json", "model_dump_json", "__repr__", "__str__") and kind_of(call.run, owner.cls):
        for item in held_values(owner):
            for key in item.origins:
                key.logs.append(call.spot)
        return UNKNOWN
    return None


def _replace_fields(call: Call, owner: Instance) -> Instance:
    """Return a named tuple with other values of some fields."""
    _note_replaced(call, owner)
    made = Instance(owner.cls)
    made.attributes = {**owner.attributes, **call.keywords}
    made.open = owner.open or call.opaque
    made.sections = owner.sections
    return made


def _note_replaced(call: Call, owner: Instance) -> None:
    written = call.run.code_settings
    for name in call.keywords if written is not None else ():
        before = owner.attributes.get(name)
        if written is not None and before is not None:
            written.replaced(before)


def _call_asdict(call: Call) -> Value:
    value = call.first
    if isinstance(value, Instance):
        return Mapping(
            {name: _as_plain(item) for name, item in value.attributes.items()},
            open=value.open,
            sections=value.sections,
        )
    return wrapped(value, "dict", DICT, "KeyError")


def _as_plain(value: Value) -> Value:
    if isinstance(value, Instance) and value.sections:
        return Mapping(
            {name: _as_plain(item) for name, item in value.attributes.items()},
            open=value.open,
            sections=value.sections,
        )
    return value


def _from_dict(call: Call) -> Value | None:
    cls, data = call.argument(0, "data_class"), call.argument(1, "data")
    if isinstance(cls, ClassObject) and data is not None:
        return construct_from_mapping(call, cls, "dacite", data)
    return None


def _structured_object(call: Call) -> Value | None:
    """Return the object that cattrs makes of a mapping, with its values converted."""
    cls, data = call.argument(1, "cl"), call.argument(0, "obj")
    if isinstance(cls, ClassObject) and data is not None and kind_of(call.run, cls):
        return choice(construct_from_mapping(call, cls, "cattrs", item) for item in alternatives(data))
    return None


def _class_of(value: Value) -> ClassObject | None:
    if isinstance(value, Instance):
        return value.cls
    return value if isinstance(value, ClassObject) else None


def _field_objects(call: Call) -> Value | None:
    """Return the fields of a dataclass or attrs class, with name, type and default.

    None for other classes.
    """
    cls = _class_of(call.first)
    kind = kind_of(call.run, cls) if cls is not None else ""
    if cls is None or kind not in ("dataclass", "attrs"):
        return None
    found: list[Value] = []
    for field in fields_of(call.run, cls, kind):
        made = Made("dataclasses.Field", (), {}, call.spot)
        made.attributes = {"name": Scalar(field.name), "type": _type_of(field)}
        absent = External("dataclasses.MISSING" if kind == "dataclass" else "attr.NOTHING")
        given = absent if field.required or field.factory is not None else field.default
        if given is not UNKNOWN:
            made.attributes["default"] = given
        if kind == "dataclass":
            made.attributes["default_factory"] = field.factory or absent
        found.append(made)
    return Sequence(found, kind="tuple")


def _type_of(field: Field) -> Value:
    """Return the type of a field as a value: a class of the project, or a built-in one."""
    if field.cls is not None:
        return field.cls
    if len(field.types) == 1:
        return External(f"builtins.{next(iter(field.types))}")
    return UNKNOWN


def _type_hints(call: Call) -> Value | None:
    """Return the annotations of a class by their names."""
    cls = _class_of(call.first)
    kind = kind_of(call.run, cls) if cls is not None else ""
    if cls is None or not kind:
        return None
    return Mapping({field.name: _type_of(field) for field in fields_of(call.run, cls, kind)})


def _is_dataclass(call: Call) -> Value:
    cls = _class_of(call.first)
    if cls is None:
        known = isinstance(call.first, (External, Scalar, Mapping, Sequence))
        found = Scalar(False) if known else UNKNOWN
    else:
        found = Scalar(kind_of(call.run, cls) == "dataclass")
    call.run.decide(found)
    return found


def _changed_copy(call: Call) -> Value | None:
    """Return a copy of an object with some fields changed."""
    if not isinstance(call.first, Instance):
        return None
    _note_replaced(call, call.first)
    made: Value = copied(call.first, 1)
    assert isinstance(made, Instance)
    for name, value in call.keywords.items():
        made.attributes[name] = value
    made.open = made.open or call.opaque
    return made


FUNCTIONS: dict[str, Model] = {
    "cattrs.structure": _structured_object,
    "cattr.structure": _structured_object,
    "dataclasses.fields": _field_objects,
    "attr.fields": _field_objects,
    "attrs.fields": _field_objects,
    "dataclasses.is_dataclass": _is_dataclass,
    "dataclasses.replace": _changed_copy,
    "attr.evolve": _changed_copy,
    "attrs.evolve": _changed_copy,
    "typing.get_type_hints": _type_hints,
    "dataclasses.asdict": _call_asdict,
    "attr.asdict": _call_asdict,
    "attrs.asdict": _call_asdict,
    "dacite.from_dict": _from_dict,
}
