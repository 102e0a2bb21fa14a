"""Classes whose fields are annotated: dataclasses, attrs, pydantic models, named tuples."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from cfgfix.code.inference.interpreter import classes
from cfgfix.code.inference.interpreter.events import DEFAULT, Asked
from cfgfix.code.inference.interpreter.models.loading import add_constructor, add_resolver, load
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
    OpenFile,
    Scalar,
    Sequence,
    Spot,
    Unnamed,
    Value,
)
from cfgfix.code.inference.interpreter.run import Call, Model, Run
from cfgfix.code.inference.interpreter.values import (
    alternatives,
    choice,
    copied,
    held_values,
    key_of,
    wrapped,
)
from cfgfix.code.model import nodes
from cfgfix.code.model.expressions import dotted, walk
from cfgfix.code.model.nodes import Expr
from cfgfix.core.records import dataclass, replace

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
        limits: What `Field(gt=..., ge=..., lt=..., le=...)` and types such as `PositiveInt` ask of a number.
        choices: The values of a `Literal`; None where any may do.
        names: The names under which it is given instead of its own: aliases.
        items: What each item of a list must be, or None.
        classes: The classes of a union, of which one takes what is given.
    """

    name: str
    types: frozenset[str]
    cls: ClassObject | None
    required: bool
    default: Value
    optional: bool
    limits: tuple[tuple[str, float], ...] = ()
    choices: tuple[Any, ...] | None = None
    names: tuple[str, ...] = ()
    items: Field | None = None
    classes: tuple[ClassObject, ...] = ()


def kind_of(run: Run, cls: ClassObject) -> str:
    """Return how a class makes its constructor from its fields.

    The answer is `dataclass`, `attrs`, `pydantic`, `tuple`, or empty for any other class.
    """
    for here in classes.lineage(cls):
        scope = here.scope
        for decorator in scope.decorators:
            expr = decorator.func if isinstance(decorator, nodes.Call) else decorator
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
            target = event.targets[0] if event.kind == "annotate" else None
            if not isinstance(target, nodes.Name):
                continue
            name = target.name
            if name == "model_config" or name.startswith("__"):
                continue
            types, inner, optional = _annotation(run, event.annotation, here)
            if "ClassVar" in types:
                continue
            default: Value = UNKNOWN
            required = event.value is None
            limits = _limits_of(event.annotation)
            names: tuple[str, ...] = ()
            if event.value is not None:
                default = here.names.names.get(name, UNKNOWN)
                if isinstance(default, Made) and default.name.rpartition(".")[2] in (
                    "field",
                    "Field",
                    "ib",
                    "attrib",
                ):
                    names = _aliases(default)
                    limits = (*limits, *_limits_given(default))
                    required, default = _by_field(default)
            elif kind == "pydantic" and optional and run.pydantic != 2:
                required, default = False, NONE
            found[name] = Field(
                name,
                types,
                inner,
                required,
                default,
                optional,
                limits,
                _choices_of(event.annotation),
                names,
                _items_of(run, event.annotation, here),
                _classes_of(event.annotation, here) if kind == "pydantic" else (),
            )
        changed = _changed_before(run, here) if kind == "pydantic" else frozenset()
        for name in found.keys() & changed if EVERY_FIELD not in changed else list(found):
            found[name] = replace(found[name], types=frozenset(), choices=None, limits=(), items=None)
    return list(found.values())


_VALIDATORS = frozenset({"BeforeValidator", "PlainValidator", "WrapValidator"})
"""What pydantic calls in an annotation before it looks at the type."""
EVERY_FIELD = "*"
"""How a validator names all fields of its class."""


def _changed_before(run: Run, cls: ClassObject) -> frozenset[str]:
    """Return the fields whose value a validator of the class may change before its type is asked for."""
    scope = cls.scope
    found = {
        event.targets[0].name
        for event in scope.body
        if event.kind == "annotate"
        and isinstance(event.targets[0], nodes.Name)
        and event.annotation is not None
        and any(
            (dotted(item.func) or "").rpartition(".")[2] in _VALIDATORS
            for item in walk(event.annotation)
            if isinstance(item, nodes.Call)
        )
    }
    for number in scope.children.values():
        for decorator in scope.module.summary.scopes[number].decorators:
            if not isinstance(decorator, nodes.Call):
                continue
            name = (run.program.static_name(decorator.func, scope) or "").rpartition(".")[2]
            mode, early = decorator.keyword("mode"), decorator.keyword("pre")
            before = (isinstance(mode, nodes.Literal) and mode.value in ("before", "plain", "wrap")) or (
                isinstance(early, nodes.Literal) and early.value is True
            )
            if before and name in ("model_validator", "root_validator"):
                found.add(EVERY_FIELD)
            elif before and name in ("field_validator", "validator"):
                found.update(str(item.value) for item in decorator.args if isinstance(item, nodes.Literal))
    return frozenset(found)


_LIMITS = {"gt": ">", "ge": ">=", "lt": "<", "le": "<="}
_NUMBERS: dict[str, tuple[str, tuple[tuple[str, float], ...]]] = {
    "PositiveInt": ("int", ((">", 0),)),
    "NonNegativeInt": ("int", ((">=", 0),)),
    "NegativeInt": ("int", (("<", 0),)),
    "PositiveFloat": ("float", ((">", 0),)),
    "NonNegativeFloat": ("float", ((">=", 0),)),
    "StrictInt": ("int", ()),
    "StrictFloat": ("float", ()),
    "StrictStr": ("str", ()),
    "StrictBool": ("bool", ()),
}
"""Types of pydantic for numbers in a range."""


def _limits_of(expr: Expr | None) -> tuple[tuple[str, float], ...]:
    """Return what a type such as `PositiveInt` asks of a number."""
    name = (dotted(expr) or "").rpartition(".")[2] if expr is not None else ""
    return _NUMBERS[name][1] if name in _NUMBERS else ()


def _limits_given(made: Made) -> tuple[tuple[str, float], ...]:
    return tuple(
        (sign, float(bound.value))
        for name, sign in _LIMITS.items()
        if type(bound := made.keywords.get(name)) is Scalar and isinstance(bound.value, (int, float))
    )


def _aliases(made: Made) -> tuple[str, ...]:
    """Return the names under which pydantic takes a field instead of its own."""
    given = made.keywords.get("validation_alias", made.keywords.get("alias"))
    if type(given) is Scalar and isinstance(given.value, str):
        return (given.value,)
    if isinstance(given, Made) and given.name.endswith("AliasChoices"):
        return tuple(
            item.value for item in given.args if type(item) is Scalar and isinstance(item.value, str)
        )
    return ()


def _choices_of(expr: Expr | None) -> tuple[Any, ...] | None:
    """Return the values of a `Literal`, in `Optional` too; None for any other annotation."""
    if not isinstance(expr, nodes.Subscript):
        return None
    name = (dotted(expr.base) or "").rpartition(".")[2]
    if name == "Optional":
        inner = _choices_of(expr.index)
        return None if inner is None else (*inner, None)
    if name != "Literal":
        return None
    parts = expr.index.items if isinstance(expr.index, nodes.Collection) else (expr.index,)
    values = tuple(part.value for part in parts if isinstance(part, nodes.Literal))
    return values if len(values) == len(parts) else None


def _items_of(run: Run, expr: Expr | None, cls: ClassObject) -> Field | None:
    """Return what each item of a list must be: `list[PositiveInt]`."""
    if not isinstance(expr, nodes.Subscript):
        return None
    name = (dotted(expr.base) or "").rpartition(".")[2]
    if name not in ("List", "list", "Sequence") or isinstance(expr.index, nodes.Collection):
        return None
    types, inner, optional = _annotation(run, expr.index, cls)
    return Field(
        "item", types, inner, True, UNKNOWN, optional, _limits_of(expr.index), _choices_of(expr.index)
    )


def _classes_of(expr: Expr | None, cls: ClassObject) -> tuple[ClassObject, ...]:
    """Return the classes of the project in an annotation, those of a union that has a name too."""
    if isinstance(expr, nodes.Binary) and expr.operator == "|":
        return (*_classes_of(expr.left, cls), *_classes_of(expr.right, cls))
    if isinstance(expr, nodes.Subscript):
        name = (dotted(expr.base) or "").rpartition(".")[2]
        parts = expr.index.items if isinstance(expr.index, nodes.Collection) else (expr.index,)
        if name in ("Union", "Optional", "Annotated"):
            return tuple(found for part in parts for found in _classes_of(part, cls))
        return ()
    value = _look_up(dotted(expr) or "", cls) if isinstance(expr, (nodes.Name, nodes.Attribute)) else None
    held = alternatives(value) if value is not None else ()
    return tuple(item for item in held if isinstance(item, ClassObject))


def _by_field(made: Made) -> tuple[bool, Value]:
    names = made.keywords
    default = names.get("default")
    if default is None and made.name.startswith("pydantic") and made.args:
        first = made.args[0]
        if not (type(first) is Scalar and first.value is Ellipsis):
            default = first
    if default is not None:
        return False, default
    if "default_factory" in names or "factory" in names:
        return False, UNKNOWN
    init = names.get("init")
    if type(init) is Scalar and init.value is False:
        return False, UNKNOWN
    return True, UNKNOWN


def _annotation(
    run: Run, expr: Expr | None, cls: ClassObject
) -> tuple[frozenset[str], ClassObject | None, bool]:
    """Return the types that an annotation takes, the project's class in it, and whether it takes None."""
    if expr is None:
        return frozenset(), None, False
    if isinstance(expr, nodes.Literal):
        if expr.value is None:
            return frozenset({"None"}), None, True
        return frozenset(), None, True
    if isinstance(expr, nodes.Subscript):
        name = (dotted(expr.base) or "").rpartition(".")[2]
        if name == "Optional":
            types, inner, _ = _annotation(run, expr.index, cls)
            return (types | {"None"} if types else types), inner, True
        if name == "ClassVar":
            return frozenset({"ClassVar"}), None, False
        if name == "Union" and isinstance(expr.index, nodes.Collection):
            return _union(run, expr.index.items, cls)
        if name in ("Annotated", "Final"):
            inner_expr = (
                expr.index.items[0]
                if isinstance(expr.index, nodes.Collection) and expr.index.items
                else expr.index
            )
            return _annotation(run, inner_expr, cls)
        if name in ("List", "list", "Sequence", "Tuple", "tuple", "Set", "set"):
            return frozenset({"list"}), None, False
        if name == "Literal":
            return frozenset(type(item).__name__ for item in _choices_of(expr) or ()), None, False
        if name in ("Dict", "dict", "Mapping"):
            return frozenset({"dict"}), None, False
        return frozenset(), None, True
    if isinstance(expr, nodes.Binary) and expr.operator == "|":
        return _union(run, (expr.left, expr.right), cls)
    name = dotted(expr) or ""
    if name.rpartition(".")[2] in _NUMBERS:
        return frozenset({_NUMBERS[name.rpartition(".")[2]][0]}), None, False
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
    by_name = {
        name: field
        for field in fields
        for name in (field.names if kind == "pydantic" else ()) or (field.name,)
    }
    if kind == "pydantic" and _takes_names_too(cls):
        by_name |= {field.name: field for field in fields}
    given = dict(zip(by_name, call.args, strict=False)) | call.keywords
    extra = _extra(cls) if kind == "pydantic" else "swallow" if kind in ("dacite", "cattrs") else "forbid"
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
        if key is not None:
            key.kept_as.add(field.name)
            key.accepted = key.accepted or key.name == name
        instance.attributes[field.name] = _field_value(call, field, kind, value)
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
    post = classes.member(cls, "__post_init__") or classes.member(cls, "__attrs_post_init__")
    if isinstance(post, FunctionObject):
        call.then(post.bound(instance))
    return instance


def _takes_names_too(cls: ClassObject) -> bool:
    """Tell whether a pydantic model takes fields by their own names, too, where they have aliases."""
    config = cls.names.names.get("model_config")
    given = (
        config.keywords if isinstance(config, Made) else config.entries if isinstance(config, Mapping) else {}
    )
    inner = cls.names.names.get("Config")
    own = inner.names.names if isinstance(inner, ClassObject) else {}
    return any(
        name in settings
        for settings in (given, own)
        for name in ("populate_by_name", "validate_by_name", "allow_population_by_field_name")
    )


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


_BUILDING = frozenset({"pydantic", "dacite", "cattrs"})
"""What makes objects of the mappings inside by itself."""


def _one_of(call: Call, found: tuple[ClassObject, ...], value: Mapping) -> Value:
    """Return what the class of a union makes of a mapping that its literals tell from the others."""
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
            found, _ = _coerced(value.value, field, 1)
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


_HOLDS: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le,
}  # fmt: skip


def _coerced(value: object, field: Field, version: int) -> tuple[object, str]:
    """Return a value as pydantic makes it, and what is wrong: `wrong-type`, `cut` (pydantic 1 drops a fraction), or empty."""
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


def class_method(call: Call, cls: ClassObject) -> Value | None:
    """Return what a method that a class has from outside gives, or None.

    None means that it is not modelled.
    """
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
    """Return what a method that an object has from outside gives, or None.

    None means that it is not modelled.
    """
    name = call.name
    if name in ("dict", "model_dump", "to_dict", "asdict", "_asdict") and kind_of(call.run, owner.cls):
        return Mapping({**owner.attributes}, open=owner.open, sections=owner.sections)
    if name == "_replace" and kind_of(call.run, owner.cls) == "tuple":
        return _replaced(call, owner)
    if name in ("copy", "model_copy") and kind_of(call.run, owner.cls):
        return copied(owner, 1)
    if name in ("json", "model_dump_json", "__repr__", "__str__") and kind_of(call.run, owner.cls):
        for item in held_values(owner):
            for key in item.origins:
                key.logs.append(call.spot)
        return UNKNOWN
    return None


def _replaced(call: Call, owner: Instance) -> Instance:
    """Return a named tuple with other values of some fields."""
    made = Instance(owner.cls)
    made.attributes = {**owner.attributes, **call.keywords}
    made.open = owner.open or call.opaque
    made.sections = owner.sections
    return made


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


def _structure(call: Call) -> Value | None:
    """Return what cattrs makes of a mapping: an object of a class, with its values converted."""
    cls, data = call.argument(1, "cl"), call.argument(0, "obj")
    if isinstance(cls, ClassObject) and data is not None and kind_of(call.run, cls):
        return choice(construct_from_mapping(call, cls, "cattrs", item) for item in alternatives(data))
    return None


def _class_of(value: Value) -> ClassObject | None:
    if isinstance(value, Instance):
        return value.cls
    return value if isinstance(value, ClassObject) else None


def _fields(call: Call) -> Value | None:
    """Return the fields of a dataclass or attrs class, as objects with name, type and default."""
    cls = _class_of(call.first)
    kind = kind_of(call.run, cls) if cls is not None else ""
    if cls is None or kind not in ("dataclass", "attrs"):
        return None
    found: list[Value] = []
    for field in fields_of(call.run, cls, kind):
        made = Made("dataclasses.Field", (), {}, call.spot)
        made.attributes = {"name": Scalar(field.name), "type": _type_of(field)}
        if not field.required and field.default is not UNKNOWN:
            made.attributes["default"] = field.default
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


def _replace(call: Call) -> Value | None:
    """Return a copy of an object with some fields changed."""
    if not isinstance(call.first, Instance):
        return None
    made: Value = copied(call.first, 1)
    assert isinstance(made, Instance)
    for name, value in call.keywords.items():
        made.attributes[name] = value
    made.open = made.open or call.opaque
    return made


FUNCTIONS: dict[str, Model] = {
    "cattrs.structure": _structure,
    "cattr.structure": _structure,
    "dataclasses.fields": _fields,
    "attr.fields": _fields,
    "attrs.fields": _fields,
    "dataclasses.is_dataclass": _is_dataclass,
    "dataclasses.replace": _replace,
    "attr.evolve": _replace,
    "attrs.evolve": _replace,
    "typing.get_type_hints": _type_hints,
    "dataclasses.asdict": _asdict,
    "attr.asdict": _asdict,
    "attrs.asdict": _asdict,
    "dacite.from_dict": _from_dict,
}
