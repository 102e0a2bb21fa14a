"""Objects of classes whose fields are annotated: how they are made of arguments and of mappings."""

from __future__ import annotations

import operator
from collections.abc import Callable

from cfgfix.code.inference.interpreter import classes
from cfgfix.code.inference.interpreter.command_line import ENVIRONMENT
from cfgfix.code.inference.interpreter.events import DEFAULT, Asked
from cfgfix.code.inference.interpreter.models.field_declarations import (
    Field,
    fields_of,
    kind_of,
    model_option,
    takes_names_too,
    unknown_keys,
)
from cfgfix.code.inference.interpreter.objects import (
    UNKNOWN,
    ClassObject,
    ConfigKey,
    FunctionObject,
    Instance,
    Mapping,
    Scalar,
    Sequence,
    Spot,
    Unnamed,
    Value,
)
from cfgfix.code.inference.interpreter.run import Call
from cfgfix.code.inference.interpreter.values import choice, constant_text, key_of
from cfgfix.code.model.nodes import Name


def construct_from_mapping(call: Call, cls: ClassObject, kind: str, data: Value) -> Value:
    """Return an object whose fields come from a mapping, nested ones too."""
    if not isinstance(data, Mapping):
        return Instance(cls)
    keywords: dict[str, Value] = {}
    for name, value in data.entries.items():
        if isinstance(name, Unnamed):
            call.use(value, deep=True)
        else:
            keywords[str(name)] = value
    given = Call(call.frame, cls, (), keywords, call.spot, data, opaque=data.open)
    return construct_with_fields(given, cls, kind)


def construct_unknown(call: Call, cls: ClassObject) -> Value:
    """Return an object of a class with declared fields, with unknown values."""
    return construct_with_fields(
        Call(call.frame, cls, (), {}, call.spot, opaque=True), cls, kind_of(call.run, cls)
    )


def construct_with_fields(call: Call, cls: ClassObject, kind: str) -> Value:
    """Return an object of a class with declared fields.

    Keys of a config section that the class does not take are noted.
    """
    init = cls.names.names.get("__init__")
    if isinstance(init, FunctionObject):
        instance = Instance(cls)
        instance.open = True
        call.run.call(call.on(init.bound(instance)))
        return instance
    fields = fields_of(call.run, cls, "pydantic" if kind == "pydantic" else kind)
    if not fields and kind != "pydantic":
        instance = Instance(cls)
        instance.open = True
        return instance
    if kind == "pydantic" and any(item.endswith("BaseSettings") for item in classes.outside_bases(cls)):
        _note_variables(call, cls, fields)
    instance = Instance(cls)
    by_name = {
        name: field
        for field in fields
        for name in (field.names if kind == "pydantic" else ()) or (field.name,)
    }
    if kind == "pydantic" and takes_names_too(cls):
        by_name |= {field.name: field for field in fields}
    given = dict(zip(by_name, call.args, strict=False)) | call.keywords
    extra = (
        unknown_keys(cls) if kind == "pydantic" else "swallow" if kind in ("dacite", "cattrs") else "forbid"
    )
    by = f"the class {cls.scope.name}"
    where = Spot(cls.scope, cls.scope.place, 0, call.spot.calls)
    sections = call.spread.sections if call.spread is not None else ()
    instance.sections = sections
    for name, value in given.items():
        key = key_of(value)
        field = by_name.get(name)
        perhaps = call.spread is not None and name in call.spread.unsure
        if field is None:
            if perhaps:
                continue
            if key is not None and extra != "allow":
                swallowed = extra != "forbid"
                call.run.refuse(
                    "swallowed" if swallowed else "unknown-key",
                    key,
                    by,
                    call.spot,
                    "" if swallowed else "ValidationError" if kind == "pydantic" else "TypeError",
                    tuple(by_name),
                )
            elif extra == "allow":
                instance.attributes[name] = value
            continue
        if key is not None:
            key.kept_as.add(field.name)
            key.accepted = key.accepted or key.name == name
        instance.attributes[field.name] = _field_value(call, field, kind, value)
        if field.converter is not None:
            instance.attributes[field.name] = call.run.call(
                Call(call.frame, field.converter, (value,), {}, call.spot)
            )
        if perhaps and not field.required:
            instance.attributes[field.name] = choice((instance.attributes[field.name], field.default))
    for field in fields:
        if any(by_name.get(name) is field for name in given):
            continue
        wanted = next(name for name, other in by_name.items() if other is field)
        if call.spread is not None and call.spread.open:
            for section in sections:
                section.asked.add(wanted)
        if field.required and not call.opaque:
            if sections:
                call.run.refuse(
                    "missing-key",
                    sections[-1],
                    by,
                    call.spot,
                    {"pydantic": "ValidationError", "dacite": "MissingValueError"}.get(kind, "TypeError"),
                    name=wanted,
                )
            instance.attributes[field.name] = UNKNOWN
            continue
        if sections and not call.opaque:
            call.run.asked.append(
                Asked(
                    sections,
                    wanted,
                    DEFAULT,
                    where,
                    default=field.default,
                    conditions=call.run.conditions,
                )
            )
        instance.attributes[field.name] = field.default
    if call.run.code_settings is not None:
        _note_written(call, cls, instance, fields, kind)
    post = classes.member(cls, "__post_init__") or classes.member(cls, "__attrs_post_init__")
    if isinstance(post, FunctionObject):
        call.then(post.bound(instance))
    return instance


def _note_written(call: Call, cls: ClassObject, instance: Instance, fields: list[Field], kind: str) -> None:
    """Note the fields of an object made in the code as settings in the code."""
    written = call.run.code_settings
    assert written is not None
    for field in fields:
        name = field.name
        value = instance.attributes.get(name, UNKNOWN)
        if value is UNKNOWN and isinstance(field.factory, (ClassObject, FunctionObject)):
            value = call.run.call(Call(call.frame, field.factory, (), {}, call.spot))
        instance.attributes[name] = written.field(cls, name, value)
    if not instance.sections and not call.opaque and (kind != "pydantic" or unknown_keys(cls) != "allow"):
        instance.sections = written.sections_of(cls)


def _note_variables(call: Call, cls: ClassObject, fields: list[Field]) -> None:
    """Note the environment variables that pydantic reads for the fields of settings."""
    prefix = constant_text(model_option(cls, "env_prefix")) or ""
    for field in fields:
        for name in field.names or (f"{prefix}{field.name}",):
            key = call.run.variables.setdefault(name.upper(), ConfigKey(ENVIRONMENT, (name.upper(),), None))
            where = next(
                (
                    Spot(here.scope, event.place, event.block)
                    for here in classes.lineage(cls)
                    for event in here.scope.body
                    if event.kind == "annotate"
                    and isinstance(event.targets[0], Name)
                    and event.targets[0].name == field.name
                ),
                call.spot,
            )
            key.reads.append(where)
            key.fallback = None if field.required else field.default


_BUILDING = frozenset({"pydantic", "dacite", "cattrs"})
"""What makes objects of the mappings inside by itself."""


def _one_of(call: Call, found: tuple[ClassObject, ...], value: Mapping) -> Value:
    """Return the object made of a mapping by the one class of a union that fits.

    A class fits by its fields with literal values. Unknown where not exactly one fits.
    """
    fitting = []
    for cls in found:
        kind = kind_of(call.run, cls)
        fields = fields_of(call.run, cls, kind) if kind else []
        told = [(field, value.entries.get(field.name)) for field in fields if field.choices is not None]
        if kind and all(type(item) is Scalar and item.value in (field.choices or ()) for field, item in told):
            fitting.append((cls, kind))
    if len(fitting) != 1:
        call.run.walk(value, call.spot)
        return UNKNOWN
    cls, kind = fitting[0]
    for field in fields_of(call.run, cls, kind):
        if field.choices is not None:
            call.use(value.entries.get(field.name, UNKNOWN))
    return construct_from_mapping(call, cls, kind, value)


def _field_value(call: Call, field: Field, kind: str, value: Value) -> Value:
    if (
        field.cls is not None
        and isinstance(value, Mapping)
        and kind in _BUILDING
        and not (len(field.classes) > 1 and kind == "pydantic")
    ):
        inner = kind_of(call.run, field.cls) or kind
        return construct_from_mapping(call, field.cls, kind if kind != "pydantic" else inner, value)
    if len(field.classes) > 1 and isinstance(value, Mapping) and kind == "pydantic":
        return _one_of(call, field.classes, value)
    key = key_of(value)
    if key is None or kind not in _BUILDING:
        return value
    key.reads.append(call.spot)
    if kind == "cattrs":
        # It calls the type of a field on whatever stands there.
        key.conversions.update(field.types & {"int", "float", "str", "bool"})
        if type(value) is Scalar and len(field.types) == 1:
            found, _ = _coerced_value(value.value, field, 1)
            return value if found is value.value else Scalar(found, value.origins | {key})
        return value
    if kind == "dacite":
        if type(value) is Scalar and field.types and not _is_of(value.value, field.types):
            call.run.refuse(
                "wrong-type",
                key,
                f"the field {field.name}",
                call.spot,
                "WrongTypeError",
                tuple(sorted(field.types)),
                value=value.value,
            )
        return value
    if isinstance(value, Sequence) and field.items is not None and not value.open:
        for item in value.items:
            _field_value(call, field.items, kind, item)
    if type(value) is Scalar and field.choices is not None and value.value not in field.choices:
        takes = tuple(map(str, field.choices))
        call.run.refuse(
            "wrong-type",
            key,
            f"the field {field.name}",
            call.spot,
            "ValidationError",
            takes,
            value=value.value,
        )
        return value
    if type(value) is Scalar and field.types:
        found, problem = _coerced_value(value.value, field, call.run.pydantic)
        if problem:
            call.run.refuse(
                problem,
                key,
                f"the field {field.name}",
                call.spot,
                "ValidationError" if problem == "wrong-type" else "",
                tuple(sorted(field.types)),
                value=value.value,
            )
        key.conversions.update(field.types & {"int", "float"})
        return Scalar(found, value.origins, None if found is not value.value else value.key)
    if (
        isinstance(value, (Mapping, Sequence))
        and field.types
        and not field.types & {"dict" if isinstance(value, Mapping) else "list"}
    ):
        call.run.refuse(
            "wrong-type",
            key,
            f"the field {field.name}",
            call.spot,
            "ValidationError",
            tuple(sorted(field.types)),
        )
    return value


def _is_of(value: object, types: frozenset[str]) -> bool:
    name = "None" if value is None else type(value).__name__
    return name in types or (name == "int" and "float" in types)


_HOLDS: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le,
}  # fmt: skip


def _coerced_value(value: object, field: Field, version: int) -> tuple[object, str]:
    """Return a value as pydantic converts it, and the fault.

    The fault is `wrong-type`, `cut` where pydantic 1 drops a fraction, or empty.
    """
    types = field.types
    name = "None" if value is None else type(value).__name__
    if isinstance(value, (int, float)) and not all(
        _HOLDS[sign](value, bound) for sign, bound in field.limits
    ):
        return value, "wrong-type"
    if name in types:
        return value, ""
    if value is None:
        return value, "" if field.optional else "wrong-type"
    if "float" in types:
        try:
            return float(value), ""  # type: ignore[arg-type]
        except (TypeError, ValueError):
            if types == frozenset({"float"}):
                return value, "wrong-type"
    if "int" in types:
        if isinstance(value, bool):
            return int(value), ""
        if isinstance(value, float):
            if value.is_integer():
                return int(value), ""
            return (int(value), "cut") if version == 1 else (value, "wrong-type" if version == 2 else "")
        if isinstance(value, str):
            try:
                return int(value), ""
            except ValueError:
                return value, "wrong-type" if types <= {"int", "None"} else ""
    if "str" in types:
        if version == 1 or isinstance(value, str):
            return str(value), ""
        return value, "wrong-type" if version == 2 and types <= {"str", "None"} else ""
    return value, ""
