"""Frozen slotted dataclasses that are made ten times faster.

`dataclasses` imports `inspect` and compiles several functions for every class: with the fifty small classes of a check
that is a third of its start-up time. The decorator here gives a class the same constructor, equality, hash, order of
fields and text form, from functions that all classes share. A class of which many records are made gets a constructor
compiled for it, as `dataclasses` makes for every class. For a type checker it *is* `dataclasses.dataclass`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import FrozenInstanceError, dataclass, field, replace
else:

    class FrozenInstanceError(AttributeError):
        """A field of a frozen record was assigned to."""

    class _Field:
        """The options that `field` gives to one field."""

        __slots__ = ("compare", "default", "factory", "repr")

        def __init__(self, default, factory, *, compare, repr):  # noqa: A002 - the name dataclasses uses
            self.default = default
            self.factory = factory
            self.compare = compare
            self.repr = repr

    _ABSENT = object()

    def field(*, default=_ABSENT, default_factory=None, compare=True, repr=True):  # noqa: A002 - the name dataclasses uses
        """Return the description of a field, as `dataclasses.field` does."""
        return _Field(default, default_factory, compare=compare, repr=repr)

    def dataclass(*, frozen=False, slots=False, eq=True, repr=True):  # noqa: A002 - the name dataclasses uses
        """Make a class of annotated fields a record; see `dataclasses.dataclass`."""
        if not slots:
            raise TypeError("records have slots")
        return lambda cls: _make(cls, frozen, eq, repr)

    def _make(cls, frozen, eq, shown):
        own = cls.__dict__
        inherited = getattr(cls, "__record_fields__", {})
        fields = dict(inherited)
        namespace = {name: value for name, value in own.items() if name not in ("__dict__", "__weakref__")}
        for name, annotation in own.get("__annotations__", {}).items():
            if str(annotation).startswith(("ClassVar", "typing.ClassVar")):
                continue
            stated = namespace.pop(name, _ABSENT)
            fields[name] = (
                stated if isinstance(stated, _Field) else _Field(stated, None, compare=True, repr=True)
            )
        new = [name for name in fields if name not in inherited]
        namespace["__slots__"] = tuple(new)
        namespace["__record_fields__"] = fields
        namespace["__match_args__"] = tuple(fields)
        if shown:
            namespace.setdefault("__repr__", _repr)
        namespace["__reduce__"] = _reduce
        if eq:
            namespace.setdefault("__eq__", _eq)
            namespace.setdefault("__hash__", _hash if frozen else None)
        if frozen:
            namespace["__setattr__"] = _refuse
            namespace["__delattr__"] = _refuse
        namespace.setdefault("__qualname__", cls.__qualname__)
        made = type(cls)(cls.__name__, cls.__bases__, namespace)
        if "__init__" not in own:
            made.__init__ = _constructor(made, fields)
        return made

    def _constructor(cls, fields):
        names = tuple(fields)
        total = len(names)
        puts = tuple(getattr(cls, name).__set__ for name in names)
        after = getattr(cls, "__post_init__", None)
        left = _MANY

        def __init__(self, *values, **named):  # noqa: N807 - it becomes the constructor of the class
            nonlocal left
            left -= 1
            if not left:
                cls.__init__ = _compiled(names, fields, puts, after)
            if named or len(values) != total:
                values = _filled(cls, fields, names, values, named)
            for put, value in zip(puts, values):  # noqa: B905 - both have the same length here, and this is the hot path
                put(self, value)
            if after is not None:
                self.__post_init__()

        return __init__

    _MANY = 100
    """Records of one class after which a constructor is compiled: it takes as long as making these without it."""

    def _compiled(names, fields, puts, after):
        scope = {"_absent": _ABSENT}
        heads, lines = [], []
        for number, (name, put) in enumerate(zip(names, puts, strict=True)):
            about = fields[name]
            scope[f"_put{number}"] = put
            head = name
            if about.factory is not None:
                scope[f"_make{number}"] = about.factory
                head = f"{name}=_absent"
                lines.append(f" if {name} is _absent: {name} = _make{number}()")
            elif about.default is not _ABSENT:
                scope[f"_default{number}"] = about.default
                head = f"{name}=_default{number}"
            heads.append(head)
            lines.append(f" _put{number}(self, {name})")
        if after is not None:
            lines.append(" self.__post_init__()")
        exec("\n".join([f"def __init__(self, {', '.join(heads)}):", *lines]), scope)  # noqa: S102 - made of the names of fields
        return scope["__init__"]

    def _filled(cls, fields, names, values, named):
        if len(values) > len(names):
            raise TypeError(f"{cls.__name__}() takes {len(names)} values, not {len(values)}")
        result = list(values)
        for name in names[len(values) :]:
            if name in named:
                result.append(named.pop(name))
                continue
            about = fields[name]
            if about.factory is not None:
                result.append(about.factory())
            elif about.default is not _ABSENT:
                result.append(about.default)
            else:
                raise TypeError(f"{cls.__name__}() lacks the value {name!r}")
        if named:
            raise TypeError(f"{cls.__name__}() got the unexpected or repeated value {next(iter(named))!r}")
        return result

    def _repr(self):
        fields = type(self).__record_fields__
        inside = ", ".join(f"{name}={getattr(self, name)!r}" for name, about in fields.items() if about.repr)
        return f"{type(self).__qualname__}({inside})"

    def _compared(self):
        return tuple(
            getattr(self, name) for name, about in type(self).__record_fields__.items() if about.compare
        )

    def _eq(self, other):
        if type(other) is not type(self):
            return NotImplemented
        return _compared(self) == _compared(other)

    def _hash(self):
        return hash(_compared(self))

    def _reduce(self):
        return type(self), tuple(getattr(self, name) for name in type(self).__record_fields__)

    def _refuse(self, name, *_value):
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def replace(record, /, **changes):
        """Return a copy of a record with some fields changed."""
        names = type(record).__match_args__
        if not changes.keys() <= type(record).__record_fields__.keys():
            return type(record)(**changes)  # which tells the name that is wrong
        return type(record)(*[changes[name] if name in changes else getattr(record, name) for name in names])


__all__ = ["FrozenInstanceError", "dataclass", "field", "replace"]
