"""Classes whose fields are annotated: dataclasses, attrs, pydantic models, named tuples."""

from __future__ import annotations

from cfgfix.code.inference.interpreter import classes
from cfgfix.code.inference.interpreter.events import DEFAULT, Asked
from cfgfix.code.inference.interpreter.models.loading import add_resolver
from cfgfix.code.inference.interpreter.objects import (
    DICT,
    NONE,
    UNKNOWN,
    ClassObject,
    External,
    FunctionObject,
    Instance,
    Made,
    Mapping,
    Method,
    Scalar,
    Sequence,
    Spot,
    Unnamed,
    Value,
)
from cfgfix.code.inference.interpreter.run import Call, Model, Run
from cfgfix.code.inference.interpreter.values import copied, held, key_of, wrapped
from cfgfix.code.model import summary as model
from cfgfix.code.model.expressions import dotted
from cfgfix.code.model.summary import Expr
from cfgfix.core.records import dataclass

_DATACLASSES = frozenset(
    {"dataclasses.dataclass", "flax.struct.dataclass", "chex.dataclass", "pydantic.dataclasses.dataclass"}
)

_ATTRS = frozenset(
    {
        "attr.s",
        "attr.attrs",
        "attr.define",
        "attr.frozen",
        "attr.dataclass",
        "attrs.define",
        "attrs.frozen",
        "attrs.mutable",
        "attr.mutable",
    }
)

_PYDANTIC = frozenset(
    {
        "pydantic.BaseModel",
        "pydantic.BaseSettings",
        "pydantic_settings.BaseSettings",
        "pydantic.v1.BaseModel",
        "pydantic.v1.BaseSettings",
    }
)

_TUPLES = frozenset({"typing.NamedTuple"})


@dataclass(frozen=True, slots=True)
class Field:
    """One field of such a class.

    Attributes:
        name: Its name.
        types: Names of the Python types that its annotation takes: `int`, `float`, `str`, `bool`, `None`, `list`, `dict`; empty for any.
        cls: The class of the project that it is an object of, or None.
        required: Whether it must be given.
        default: Its value without one.
        optional: Whether the annotation takes None.
        above: The number it must be greater than, from `Field(gt=...)`.
    """

    name: str
    types: frozenset[str]
    cls: ClassObject | None
    required: bool
    default: Value
    optional: bool
    above: float | None = None


def kind_of(run: Run, cls: ClassObject) -> str:
    """Return how a class makes its constructor from its fields.

    The answer is `dataclass`, `attrs`, `pydantic`, `tuple`, or empty for any other class.
    """
    for here in classes.lineage(cls):
        scope = here.scope
        for decorator in scope.decorators:
            expr = (
                scope.module.summary.scopes[scope.parent].calls[decorator[1]].func
                if decorator[0] == model.CALL
                else decorator
            )
            name = run.program.static_name(expr, scope.module.summary.scopes[scope.parent])
            if name in _DATACLASSES:
                return "dataclass"
            if name in _ATTRS:
                return "attrs"
    for name in classes.outside_bases(cls):
        if name in _PYDANTIC:
            return "pydantic"
        if name in _TUPLES:
            return "tuple"
    return ""


def fields_of(run: Run, cls: ClassObject, kind: str) -> list[Field]:
    """Return the fields of a class, those of its bases first."""
    found: dict[str, Field] = {}
    for here in reversed(list(classes.lineage(cls))):
        for event in here.scope.body:
            if event.kind != "annotate" or event.targets[0][0] != model.NAME:
                continue
            name = event.targets[0][1]
            if name == "model_config" or name.startswith("__"):
                continue
            types, inner, optional = _annotation(run, event.extra, here)
            if "ClassVar" in types:
                continue
            default: Value = UNKNOWN
            required = event.value is None
            above = None
            if event.value is not None:
                default = here.names.names.get(name, UNKNOWN)
                if isinstance(default, Made) and default.name.rpartition(".")[2] in (
                    "field",
                    "Field",
                    "ib",
                    "attrib",
                ):
                    required, default, above = _by_field(default)
            elif kind == "pydantic" and optional and run.pydantic != 2:
                required, default = False, NONE
            found[name] = Field(name, types, inner, required, default, optional, above)
    return list(found.values())


def _by_field(made: Made) -> tuple[bool, Value, float | None]:
    names = made.keywords
    bound = names.get("gt")
    above = float(bound.value) if type(bound) is Scalar and isinstance(bound.value, (int, float)) else None
    default = names.get("default")
    if default is None and made.name.startswith("pydantic") and made.args:
        first = made.args[0]
        if not (type(first) is Scalar and first.value is Ellipsis):
            default = first
    if default is not None:
        return False, default, above
    if "default_factory" in names or "factory" in names:
        return False, UNKNOWN, above
    init = names.get("init")
    if type(init) is Scalar and init.value is False:
        return False, UNKNOWN, above
    return True, UNKNOWN, above


def _annotation(
    run: Run, expr: Expr | None, cls: ClassObject
) -> tuple[frozenset[str], ClassObject | None, bool]:
    """Return the types that an annotation takes, the project's class in it, and whether it takes None."""
    if expr is None:
        return frozenset(), None, False
    if expr[0] == model.CONSTANT:
        if expr[1] is None:
            return frozenset({"None"}), None, True
        return frozenset(), None, True
    if expr[0] == model.SUBSCRIPT:
        name = (dotted(expr[1]) or "").rpartition(".")[2]
        if name == "Optional":
            types, inner, _ = _annotation(run, expr[2], cls)
            return (types | {"None"} if types else types), inner, True
        if name == "ClassVar":
            return frozenset({"ClassVar"}), None, False
        if name == "Union" and expr[2][0] == model.ITEMS:
            return _union(run, expr[2][2], cls)
        if name in ("Annotated", "Final"):
            inner_expr = expr[2][2][0] if expr[2][0] == model.ITEMS and expr[2][2] else expr[2]
            return _annotation(run, inner_expr, cls)
        if name in ("List", "list", "Sequence", "Tuple", "tuple", "Set", "set"):
            return frozenset({"list"}), None, False
        if name in ("Dict", "dict", "Mapping"):
            return frozenset({"dict"}), None, False
        return frozenset(), None, True
    if expr[0] == model.BINARY and expr[1] == "|":
        return _union(run, (expr[2], expr[3]), cls)
    name = dotted(expr) or ""
    if name in ("int", "float", "str", "bool", "list", "dict"):
        return frozenset({name}), None, False
    if name in ("tuple", "set"):
        return frozenset({"list"}), None, False
    value = _look_up(name, cls)
    if isinstance(value, ClassObject):
        return frozenset(), value, False
    return frozenset(), None, True


def _union(
    run: Run, parts: tuple[Expr, ...], cls: ClassObject
) -> tuple[frozenset[str], ClassObject | None, bool]:
    types: frozenset[str] = frozenset()
    inner: ClassObject | None = None
    optional = any_open = False
    for part in parts:
        found, its, none = _annotation(run, part, cls)
        any_open = any_open or (not found and its is None)
        types = types | found
        inner = inner or its
        optional = optional or none
    return (frozenset() if any_open else types), inner, optional


def _look_up(name: str, cls: ClassObject) -> Value | None:
    head, _, rest = name.partition(".")
    names = cls.names.parent
    while names is not None:
        value = names.names.get(head)
        if value is not None:
            for step in rest.split(".") if rest else ():
                value = value.names.names.get(step) if hasattr(value, "names") else None  # type: ignore[union-attr]
            return value
        names = names.parent
    return None


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
    """Return an object of a class of fields whose values are not known."""
    return construct_with_fields(
        Call(call.frame, cls, (), {}, call.spot, opaque=True), cls, kind_of(call.run, cls)
    )


def construct_with_fields(call: Call, cls: ClassObject, kind: str) -> Value:
    """Return an object of a class of fields.

    What the class does not take of a config's section is noted.
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
    instance = Instance(cls)
    by_name = {field.name: field for field in fields}
    given = dict(zip(by_name, call.args, strict=False)) | call.keywords
    extra = _extra(cls) if kind == "pydantic" else "swallow" if kind == "dacite" else "forbid"
    by = f"the class {cls.scope.name}"
    where = Spot(cls.scope, cls.scope.place, 0, call.spot.calls)
    sections = call.spread.sections if call.spread is not None else ()
    instance.sections = sections
    for name, value in given.items():
        key = key_of(value)
        field = by_name.get(name)
        if field is None:
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
        if key is not None and key.name == name:
            key.accepted = True
        instance.attributes[name] = _field_value(call, field, kind, value)
    for field in fields:
        if field.name in given:
            continue
        if call.spread is not None and call.spread.open:
            for section in sections:
                section.asked.add(field.name)
        if field.required and not call.opaque:
            if sections:
                call.run.refuse(
                    "missing-key",
                    sections[-1],
                    by,
                    call.spot,
                    {"pydantic": "ValidationError", "dacite": "MissingValueError"}.get(kind, "TypeError"),
                    name=field.name,
                )
            instance.attributes[field.name] = UNKNOWN
            continue
        if sections and not call.opaque:
            call.run.asked.append(
                Asked(
                    sections,
                    field.name,
                    DEFAULT,
                    where,
                    default=field.default,
                    conditions=call.run.conditions,
                )
            )
        instance.attributes[field.name] = field.default
    post = classes.member(cls, "__post_init__") or classes.member(cls, "__attrs_post_init__")
    if isinstance(post, FunctionObject):
        call.then(post.bound(instance))
    return instance


def _extra(cls: ClassObject) -> str:
    """Return what a pydantic model does with keys that it does not know: `ignore`, `forbid` or `allow`."""
    config = cls.names.names.get("model_config")
    value: Value | None = None
    if isinstance(config, Made):
        value = config.keywords.get("extra")
    elif isinstance(config, Mapping):
        value = config.entries.get("extra")
    inner = cls.names.names.get("Config")
    if isinstance(inner, ClassObject):
        value = inner.names.names.get("extra", value)
    if type(value) is Scalar and isinstance(value.value, str):
        return value.value
    if isinstance(value, (External, Method)):
        return value.name.rpartition(".")[2]
    return "ignore"


def _field_value(call: Call, field: Field, kind: str, value: Value) -> Value:
    if field.cls is not None and isinstance(value, Mapping) and kind in ("pydantic", "dacite"):
        inner = kind_of(call.run, field.cls) or kind
        return construct_from_mapping(call, field.cls, "dacite" if kind == "dacite" else inner, value)
    key = key_of(value)
    if key is None or kind not in ("pydantic", "dacite"):
        return value
    key.reads.append(call.spot)
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
    if type(value) is Scalar and field.types:
        found, problem = _coerced(value.value, field, call.run.pydantic)
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


def _coerced(value: object, field: Field, version: int) -> tuple[object, str]:
    """Return a value as pydantic makes it, and what is wrong: `wrong-type`, `cut` (pydantic 1 drops a fraction), or empty."""
    types = field.types
    name = "None" if value is None else type(value).__name__
    if name in types:
        if field.above is not None and isinstance(value, (int, float)) and not value > field.above:
            return value, "wrong-type"
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


def class_method(call: Call, cls: ClassObject) -> Value | None:
    """Return what a method that a class has from outside gives, or None.

    None means that it is not modelled.
    """
    name = call.name
    if name == "add_implicit_resolver":
        return add_resolver(call, cls)
    if name in ("add_constructor", "add_multi_constructor"):
        return NONE
    if name in ("parse_obj", "model_validate", "from_dict", "validate") and call.args:
        kind = kind_of(call.run, cls)
        if kind:
            return construct_from_mapping(call, cls, kind, call.args[0])
    if name in ("parse_raw", "parse_file", "model_validate_json") and kind_of(call.run, cls):
        return UNKNOWN
    if name == "__new__":
        return Instance(cls)
    return None


def instance_method(call: Call, owner: Instance) -> Value | None:
    """Return what a method that an object has from outside gives, or None.

    None means that it is not modelled.
    """
    name = call.name
    if name in ("dict", "model_dump", "to_dict", "asdict") and kind_of(call.run, owner.cls):
        return Mapping({**owner.attributes}, open=owner.open, sections=owner.sections)
    if name in ("copy", "model_copy") and kind_of(call.run, owner.cls):
        return copied(owner, 1)
    if name in ("json", "model_dump_json", "__repr__", "__str__") and kind_of(call.run, owner.cls):
        for item in held(owner):
            for key in item.origins:
                key.logs.append(call.spot)
        return UNKNOWN
    return None


def _asdict(call: Call) -> Value:
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


FUNCTIONS: dict[str, Model] = {
    "dataclasses.asdict": _asdict,
    "attr.asdict": _asdict,
    "attrs.asdict": _asdict,
    "dacite.from_dict": _from_dict,
}
