"""The fields that classes declare: dataclasses, attrs, pydantic, named tuples."""

from __future__ import annotations

from typing import Any

from cfgfix.code.inference.interpreter import classes
from cfgfix.code.inference.interpreter.objects import (
    NONE,
    UNKNOWN,
    ClassObject,
    External,
    Made,
    Mapping,
    Method,
    Scalar,
    Value,
)
from cfgfix.code.inference.interpreter.run import Run
from cfgfix.code.inference.interpreter.values import alternatives
from cfgfix.code.model import nodes
from cfgfix.code.model.expressions import dotted, walk
from cfgfix.code.model.nodes import Expr
from cfgfix.code.model.summary import Scope
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
    """One declared field of a class.

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
        factory: What makes its value where none is given, or None.
        converter: What attrs makes its value with, or None.
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
    factory: Value | None = None
    converter: Value | None = None


def kind_of(run: Run, cls: ClassObject) -> str:
    """Return the library that makes a class's constructor from its fields.

    It is `dataclass`, `attrs`, `pydantic` or `tuple`, and empty for any other class.
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


_SLOTTED = frozenset(
    {"attr.define", "attr.frozen", "attr.mutable", "attrs.define", "attrs.frozen", "attrs.mutable"}
)
"""Decorators that make a class with slots unless they are told otherwise."""


def has_slots(run: Run, cls: ClassObject) -> bool:
    """Tell whether objects of a class have its fields only and no `__dict__`."""
    lineage = list(classes.lineage(cls))
    if classes.outside_bases(cls):
        return False
    for here in lineage:
        scope = here.scope
        if any(classes.member(here, name) is not None for name in ("__setattr__", "__dict__", "__getattr__")):
            return False
        if not any(
            _makes_slots(run, item, scope.module.summary.scopes[scope.parent]) for item in scope.decorators
        ):
            return False
    return bool(lineage)


def _makes_slots(run: Run, decorator: Expr, scope: Scope) -> bool:
    """Tell whether a decorator gives a class slots for its fields."""
    call = decorator if isinstance(decorator, nodes.Call) else None
    name = run.program.static_name(call.func if call is not None else decorator, scope)
    said = call.keyword("slots") if call is not None else None
    if said is not None:
        return (
            isinstance(said, nodes.Literal)
            and said.value is True
            and name in _SLOTTED | _DATACLASSES | _ATTRS
        )
    return name in _SLOTTED


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
            types, inner, optional = _types_of_annotation(run, event.annotation, here)
            if "ClassVar" in types:
                continue
            default: Value = UNKNOWN
            required = event.value is None
            limits = _limits_of(event.annotation)
            names: tuple[str, ...] = ()
            factory: Value | None = None
            converter: Value | None = None
            if event.value is not None:
                default = here.names.names.get(name, UNKNOWN)
                if isinstance(default, Made) and default.name.rpartition(".")[2] in (
                    "field",
                    "Field",
                    "ib",
                    "attrib",
                ):
                    names = _aliases_of_field(default)
                    factory = default.keywords.get("default_factory", default.keywords.get("factory"))
                    limits = (*limits, *_limits_given(default))
                    converter = default.keywords.get("converter") if kind == "attrs" else None
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
                factory,
                converter,
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
    """Return the fields whose values a validator may change before types are checked."""
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
    """Return the limits that a type such as `PositiveInt` sets for a number."""
    name = (dotted(expr) or "").rpartition(".")[2] if expr is not None else ""
    return _NUMBERS[name][1] if name in _NUMBERS else ()


def _limits_given(made: Made) -> tuple[tuple[str, float], ...]:
    return tuple(
        (sign, float(bound.value))
        for name, sign in _LIMITS.items()
        if type(bound := made.keywords.get(name)) is Scalar and isinstance(bound.value, (int, float))
    )


def _aliases_of_field(made: Made) -> tuple[str, ...]:
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
    """Return the values of a `Literal`, in `Optional` too; None for other annotations."""
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
    """Return a field for each item of an annotated list: `list[PositiveInt]`; or None."""
    if not isinstance(expr, nodes.Subscript):
        return None
    name = (dotted(expr.base) or "").rpartition(".")[2]
    if name not in ("List", "list", "Sequence") or isinstance(expr.index, nodes.Collection):
        return None
    types, inner, optional = _types_of_annotation(run, expr.index, cls)
    return Field(
        "item", types, inner, True, UNKNOWN, optional, _limits_of(expr.index), _choices_of(expr.index)
    )


def _classes_of(expr: Expr | None, cls: ClassObject) -> tuple[ClassObject, ...]:
    """Return the classes of the project in an annotation, also in an aliased union."""
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


def _types_of_annotation(
    run: Run, expr: Expr | None, cls: ClassObject
) -> tuple[frozenset[str], ClassObject | None, bool]:
    """Return an annotation's types, its class of the project, and if it takes None."""
    if expr is None:
        return frozenset(), None, False
    if isinstance(expr, nodes.Literal):
        if expr.value is None:
            return frozenset({"None"}), None, True
        return frozenset(), None, True
    if isinstance(expr, nodes.Subscript):
        name = (dotted(expr.base) or "").rpartition(".")[2]
        if name == "Optional":
            types, inner, _ = _types_of_annotation(run, expr.index, cls)
            return (types | {"None"} if types else types), inner, True
        if name == "ClassVar":
            return frozenset({"ClassVar"}), None, False
        if name == "Union" and isinstance(expr.index, nodes.Collection):
            return _types_of_union(run, expr.index.items, cls)
        if name in ("Annotated", "Final"):
            inner_expr = (
                expr.index.items[0]
                if isinstance(expr.index, nodes.Collection) and expr.index.items
                else expr.index
            )
            return _types_of_annotation(run, inner_expr, cls)
        if name in ("List", "list", "Sequence", "Tuple", "tuple", "Set", "set"):
            return frozenset({"list"}), None, False
        if name == "Literal":
            return frozenset(type(item).__name__ for item in _choices_of(expr) or ()), None, False
        if name in ("Dict", "dict", "Mapping"):
            return frozenset({"dict"}), None, False
        return frozenset(), None, True
    if isinstance(expr, nodes.Binary) and expr.operator == "|":
        return _types_of_union(run, (expr.left, expr.right), cls)
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


def _types_of_union(
    run: Run, parts: tuple[Expr, ...], cls: ClassObject
) -> tuple[frozenset[str], ClassObject | None, bool]:
    types: frozenset[str] = frozenset()
    inner: ClassObject | None = None
    optional = any_open = False
    for part in parts:
        found, its, none = _types_of_annotation(run, part, cls)
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


def takes_names_too(cls: ClassObject) -> bool:
    """Tell whether a pydantic model takes fields with aliases by their own names too."""
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


def model_option(cls: ClassObject, name: str) -> Value:
    """Return the value of an option in a pydantic model's own configuration."""
    config = cls.names.names.get("model_config")
    value: Value | None = None
    if isinstance(config, Made):
        value = config.keywords.get(name)
    elif isinstance(config, Mapping):
        value = config.entries.get(name)
    inner = cls.names.names.get("Config")
    if isinstance(inner, ClassObject):
        value = inner.names.names.get(name, value)
    return value if value is not None else UNKNOWN


def unknown_keys(cls: ClassObject) -> str:
    """Return how a pydantic model treats unknown keys: `ignore`, `forbid` or `allow`."""
    value = model_option(cls, "extra")
    if type(value) is Scalar and isinstance(value.value, str):
        return value.value
    if isinstance(value, (External, Method)):
        return value.name.rpartition(".")[2]
    return "ignore"
