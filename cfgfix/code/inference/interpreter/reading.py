"""Reads of attributes, entries and items, and the config keys that they ask for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cfgfix.code.inference.interpreter import classes
from cfgfix.code.inference.interpreter.command_line import ENVIRONMENT, OPTIONS
from cfgfix.code.inference.interpreter.decisions import ACCESSORS
from cfgfix.code.inference.interpreter.events import DEFAULT, REQUIRED, Asked, WrongAccess
from cfgfix.code.inference.interpreter.library_names import canonical
from cfgfix.code.inference.interpreter.models.method_names import (
    CASELESS,
    DICT_METHODS,
    DOTTED,
    GROWING,
    METHODS_OF,
)
from cfgfix.code.inference.interpreter.models.options import (
    FLAG_HOLDER,
    FLAGS,
    command_argument,
    flag,
    flag_holder,
    note_holder,
)
from cfgfix.code.inference.interpreter.models.os_functions import environment
from cfgfix.code.inference.interpreter.models.paths import path_attribute
from cfgfix.code.inference.interpreter.objects import (
    ATTRIBUTES,
    EITHER,
    NONE,
    UNKNOWN,
    Choice,
    ClassObject,
    ConfigKey,
    External,
    FilePath,
    FunctionObject,
    Instance,
    Made,
    Mapping,
    Method,
    ModuleObject,
    Namespace,
    OwnAttributes,
    PartialText,
    Scalar,
    Sequence,
    Spot,
    Unknown,
    Unnamed,
    Value,
)
from cfgfix.code.inference.interpreter.run import Call, Frame, Run
from cfgfix.code.inference.interpreter.values import (
    MAX_CHOICES,
    alternatives,
    choice,
    constant_of,
    entry_name,
    key_of,
    name_of,
)
from cfgfix.code.model import nodes

UNIONS = frozenset({"typing.Annotated", "typing.Union", "typing_extensions.Annotated"})
"""What makes a type of several others; an annotation stands for the first of them."""


def variable(frame: Frame, name: str) -> Value | None:
    """Return the value of a name in a frame, or None where it is not bound."""
    names: Namespace | None = frame.names
    first = True
    while names is not None:
        # A class body's names are not seen by its functions.
        if first or names.scope.kind != "class":
            found = names.names.get(name)
            if found is not None:
                return found
        first = False
        names = names.parent
    return None


def plain_attribute(run: Run, owner: Value, name: str) -> Value | None:
    """Return an attribute whose read asks for no config key.

    None for any other attribute: `attribute` reads it, and needs to know where.
    """
    if type(owner) is Instance:
        found: Value | None = owner.attributes.get(name)
        if found is None or (
            type(found) not in _OF_NO_KEY and (type(found) is Choice or key_of(found) is not None)
        ):
            return None
        if not owner.sections:
            # An object that this run makes in another way may be made of a config in another one.
            run.of_unknown.add(name)
        return found
    if type(owner) is Unknown:
        run.of_unknown.add(name)
        return Method(owner, name)
    if type(owner) is ModuleObject:
        found = owner.names.names.get(name)
        if run.code_settings is not None and (found is None or key_of(found) is not None):
            return None
        return found if found is not None else run.submodule(owner.module, name)
    if type(owner) is External and run.tracked is None and owner.name not in FLAGS:
        return External(canonical(f"{owner.name}.{name}"))
    return None


_OF_NO_KEY = frozenset({Unknown, External, Method, Made, Instance, FunctionObject, ClassObject})
"""What is never the value of a key itself."""


_PYDANTIC = ("pydantic.", "pydantic_settings.")
_OF_MODELS = frozenset(
    {"Config", "construct", "copy", "dict", "fields", "from_orm", "json", "parse_file", "parse_obj", "parse_raw", "schema", "schema_json",
     "update_forward_refs", "validate"}
)  # fmt: skip
"""What objects of pydantic have besides their fields and what begins with `model_`."""


def attribute(frame: Frame, owner: Value, name: str, spot: Spot, default: Value | None = None) -> Value:
    """Return an attribute of a value, noting the config keys that the read asks for."""
    run = frame.run
    if isinstance(owner, External):
        if owner.name in FLAGS:
            return flag(run, name, spot)
        if run.tracked is not None and f"{owner.name}.{name}" == "wandb.config":
            return run.tracked
        return External(canonical(f"{owner.name}.{name}"))
    if isinstance(owner, ModuleObject):
        return _of_module(frame, owner, name, spot, default)
    if isinstance(owner, ClassObject):
        found = classes.member(owner, name)
        if isinstance(found, FunctionObject):
            return found.bound(owner) if "builtins.classmethod" in found.decorated else found
        if found is not None:
            return run.taken(found, spot, default) if run.code_settings is not None else found
        of_meta = classes.of_metaclass(owner, name)
        if of_meta is not None:
            return of_meta.bound(owner) if isinstance(of_meta, FunctionObject) else of_meta
        if name == "__name__":
            return Scalar(owner.scope.name)
        if name == "__dict__" and run.code_settings is not None:
            run.code_settings.escaped(owner, spot)
        if name == "__annotations__":
            return UNKNOWN
        return Method(owner, name)
    if isinstance(owner, FunctionObject) and name in ("__name__", "__qualname__"):
        return Scalar(owner.scope.name if name == "__name__" else owner.scope.qualname)
    if isinstance(owner, Instance):
        return _instance_attribute(frame, owner, name, spot, default)
    if isinstance(owner, Mapping):
        if owner.access in (ATTRIBUTES, EITHER):
            found = owner.entries.get(name)
            if found is not None:
                methods = METHODS_OF.get(owner.flavour, frozenset())
                if owner.flavour in _METHODS_FIRST and name in methods:
                    return _method_first(frame, owner, found, name, spot)
                _note_option(run, owner, name, spot)
                return run.taken(found, spot, default)
            if name in METHODS_OF.get(owner.flavour, DICT_METHODS):
                return Method(owner, name)
            if name == "__dict__" and owner.access == ATTRIBUTES:
                return Mapping(owner.entries, key=owner.key, open=owner.open, sections=owner.sections)
            if name.startswith("__"):
                return UNKNOWN
            if owner.flavour == "package":
                # A method of a class that is not known, or a key that it may make up.
                return Method(owner, name)
            absent = owner.absent
            if absent == "KeyError":
                absent = "AttributeError"
            return lacking(frame, owner, name, spot, absent, default)
        held = owner.entries.get(name) if owner.flavour == "dict" else None
        if held is not None and default is None and name not in DICT_METHODS and not owner.open:
            note_access(frame, owner, name, f"a plain dict has no attribute `{name}`", "AttributeError", spot)
            return run.taken(held, spot)
        return Method(owner, name)
    if isinstance(owner, Made):
        if owner.name == FLAG_HOLDER:
            note_holder(run, owner, spot)
        found = owner.attributes.get(name)
        if found is None and run.tensors is not None:
            found = run.tensors.attribute(owner, name, spot)
        return found if found is not None else Method(owner, name)
    if isinstance(owner, FilePath):
        return path_attribute(owner, name)
    run.asked_of_unknown(owner, name)
    return Method(owner, name)


_METHODS_FIRST = frozenset({"Box", "ConfigBox", "Munch", "DotMap", "yacs", "ml_collections"})
"""Classes whose objects give their methods before entries of the same name."""


def _method_first(frame: Frame, owner: Mapping, found: Value, name: str, spot: Spot) -> Value:
    """Return the method that hides an entry of the same name, where it is called.

    Elsewhere the entry is meant: it is returned, and the wrong access noted.
    """
    if any(
        isinstance(call.func, nodes.Attribute) and call.func.place == spot.place for call in spot.scope.calls
    ):
        return Method(owner, name)
    note_access(frame, owner, name, f"`{name}` is a method of every {owner.flavour}", "", spot)
    return frame.run.taken(found, spot)


def note_access(frame: Frame, owner: Mapping | Instance, name: str, how: str, error: str, spot: Spot) -> None:
    """Note that a section's object does not support the way it is read.

    Args:
        frame: The run of the scope.
        owner: The object.
        name: The name that is read.
        how: The kind of the object in words.
        error: The exception that is raised; empty for none.
        spot: The place of the read.
    """
    run = frame.run
    sections = [section for section in owner.sections if section.source not in (OPTIONS, ENVIRONMENT)]
    if isinstance(owner, Mapping) and owner.key is not None:
        sections = [owner.key]
    if len(sections) != 1 or not run.sure or run.every_way or run.conditions:
        return
    if not error or not frame.catches(error):
        run.wrong_access.append(WrongAccess(sections[0], name, how, spot, error))


def _note_option(run: Run, owner: Mapping, name: Any, spot: Spot) -> None:
    """Note that a command-line option is read, even if its value is not known."""
    if run.option_section in owner.sections:
        option = run.options.get(name)
        if option is not None:
            option.key.reads.append(spot)


def _instance_attribute(frame: Frame, owner: Instance, name: str, spot: Spot, default: Value | None) -> Value:
    run = frame.run
    found = owner.attributes.get(name)
    if found is not None:
        if key_of(found) is None and not owner.sections:
            # An object that this run makes in another way may be made of a config in another one.
            run.of_unknown.add(name)
        return run.taken(found, spot, default)
    member = classes.member(owner.cls, name)
    if isinstance(member, FunctionObject):
        if "builtins.staticmethod" in member.decorated:
            return member
        bound = member.bound(owner.cls if "builtins.classmethod" in member.decorated else owner)
        if any(item in PROPERTIES for item in member.decorated):
            return run.call(Call(frame, bound, (), {}, spot))
        return bound
    if member is not None:
        if name == "__getattr__":
            return member
        return run.taken(member, spot)
    if name == "__dict__":
        return attributes_of(owner)
    if name == "__class__":
        return owner.cls
    if owner.entries is not None and name in DICT_METHODS:
        return Method(owner.entries, name)
    if name == "data" and classes.is_user_dictionary(owner):
        return owner.entries or UNKNOWN
    getter = classes.member(owner.cls, "__getattr__")
    if isinstance(getter, FunctionObject) and run.running.get(id(getter.scope), 0) < 2:
        # What a base outside the project has under the name is not known.
        ready = default is not None or (owner.entries is None and bool(classes.outside_bases(owner.cls)))
        if ready:
            frame.caught.append((frozenset({"AttributeError"}), ""))
        try:
            found = run.call(Call(frame, getter.bound(owner), (Scalar(name),), {}, spot))
        finally:
            if ready:
                frame.caught.pop()
        return found if default is None or found is not UNKNOWN else default
    if owner.entries is not None:
        if isinstance(getter, (Method, External)):
            # `__getattr__ = dict.get` or `dict.__getitem__`
            soft = name_of(getter).endswith("get") or (isinstance(getter, Method) and getter.name == "get")
            return item(
                frame, owner.entries, Scalar(name), spot, "None" if soft else "AttributeError", default
            )
        if owner.entries.flavour != "dict" and not isinstance(getter, FunctionObject):
            return attribute(frame, owner.entries, name, spot, default)
    outside = classes.outside_bases(owner.cls)
    if outside and run.tensors is not None:
        found = run.tensors.attribute(owner, name, spot)
        if found is not None:
            return found
    is_written = (
        run.code_settings is not None
        and bool(owner.sections)
        and owner.sections == run.code_settings.sections_of(owner.cls)
    )
    is_whole = is_written or holds_sections(owner)
    is_model = is_whole and all(item.startswith(_PYDANTIC) for item in outside)
    if owner.open or (outside and not (is_model and name not in _OF_MODELS and name[:6] != "model_")):
        run.of_unknown.add(name)
        return Method(owner, name)
    if getter is None and not name.startswith("__") and is_whole:
        return lacking(frame, owner, name, spot, "AttributeError", default)
    run.of_unknown.add(name)
    if default is not None:
        return default
    return UNKNOWN


def _of_module(frame: Frame, owner: ModuleObject, name: str, spot: Spot, default: Value | None) -> Value:
    """Return the value of a name in a module of the project."""
    run, written = frame.run, frame.run.code_settings
    found = owner.names.names.get(name)
    if found is not None:
        return run.taken(found, spot, default) if written is not None else found
    if written is not None and name.startswith("__"):
        written.escaped(owner, spot)
    section = written.section_of(owner) if written is not None else None
    if section is None or name.startswith("__") or may_have(run, owner, name):
        return run.submodule(owner.module, name)
    settings = Mapping()
    settings.sections = (section,)
    return lacking(frame, settings, name, spot, "AttributeError", default)


def may_have(run: Run, module: ModuleObject, name: str) -> bool:
    """Tell whether a module of the project may define a name."""
    names = module.names.names
    known = all(run.program.module(star, module.module) is not None for star in module.names.scope.stars)
    return (
        not known
        or name in names
        or "__getattr__" in names
        or run.submodule(module.module, name) is not UNKNOWN
    )


def attributes_of(owner: Instance) -> Mapping:
    """Return an object's attributes as a mapping; writing to it sets them."""
    return OwnAttributes(owner)


def item(
    frame: Frame,
    owner: Value,
    index: Value,
    spot: Spot,
    absent: str | None = "",
    default: Value | None = None,
) -> Value:
    """Return the value under a key, noting the config keys that the read asks for.

    Args:
        frame: The run.
        owner: What is asked.
        index: The key.
        spot: Where.
        absent: The exception that a missing key raises; empty for the one of the mapping itself.
        default: The value that is taken for a missing key.
    """
    run = frame.run
    if isinstance(owner, Instance):
        method = classes.member(owner.cls, "__getitem__")
        if isinstance(method, FunctionObject):
            return run.call(Call(frame, method.bound(owner), (index,), {}, spot))
        if owner.entries is not None:
            return item(frame, owner.entries, index, spot, absent, default)
        name = constant_of(index)
        held = owner.attributes.get(name) if isinstance(name, str) else None
        if held is None or owner.open or method is not None or classes.outside_bases(owner.cls):
            return UNKNOWN
        note_access(
            frame,
            owner,
            str(name),
            f"an object of {owner.cls.scope.name} takes no `[...]`",
            "TypeError",
            spot,
        )
        return run.taken(held, spot)
    if isinstance(owner, Mapping):
        if isinstance(index, Choice):
            return choice(item(frame, owner, each, spot, absent, default) for each in index.values)
        run.use(index, spot, deep=True)
        name = entry_name(index)
        if type(index) is Scalar and index.value is None and None not in owner.entries and not index.origins:
            return default if default is not None else UNKNOWN
        if name is None:
            run.note_chosen(owner, None, index)
            _walk_entries(run, owner, spot)
            if isinstance(index, PartialText):
                shape = partial_pattern(index)
                matching = [v for k, v in owner.entries.items() if isinstance(k, str) and shape(k)]
                if matching:
                    return choice(run.taken(item, spot) for item in matching)
            if not owner.entries:
                return UNKNOWN
            return choice(run.taken(item, spot) for item in owner.entries.values())
        if owner.flavour in DOTTED and isinstance(name, str) and "." in name and name not in owner.entries:
            first, _, rest = name.partition(".")
            inner = item(frame, owner, Scalar(first), spot, absent, default)
            return choice(
                item(frame, one, Scalar(rest), spot, absent, default) for one in alternatives(inner)
            )
        if owner.flavour in CASELESS and isinstance(name, str) and name not in owner.entries:
            name = name.lower()
        found = owner.entries.get(name)
        if index.origins and not owner.open:
            run.note_rivals(index, owner.entries)
        if (
            run.every_way
            and index.origins
            and owner.key is None
            and not owner.sections
            and owner.entries
            and not run.is_settled(index)
        ):
            return choice(owner.entries.values())
        if found is not None:
            if index.origins and (owner.key is not None or owner.sections):
                # The config itself says which of a section's entries is meant: each is there to be chosen.
                run.offer(owner, name, index, spot)
            _note_option(run, owner, name, spot)
            known = run.key_names.get(id(index))
            if known is not None and known[1] is key_of(found):
                # Who goes through all names of a section asks for none of them.
                return found
            taken = run.taken(found, spot, default)
            return choice((taken, default)) if default is not None and name in owner.unsure else taken
        if not run.refused.isdisjoint(index.origins):
            return UNKNOWN
        error = owner.absent if absent == "" else absent
        if (
            not owner.sections
            and not owner.open
            and owner.entries
            and default is None
            and error not in (None, "None")
        ):
            run.refuse_choice(
                frame,
                index,
                error or "KeyError",
                WRITTEN_TABLE if id(owner) in run.written_tables else TABLE,
                spot,
            )
        return lacking(frame, owner, name, spot, error, default)
    if isinstance(owner, Sequence):
        run.use(index, spot, deep=True)
        if isinstance(index, Sequence) and index.kind == "slice":
            return _slice_of(owner, index)
        number = constant_of(index)
        if isinstance(number, int) and not isinstance(number, bool) and not owner.open:
            if -len(owner.items) <= number < len(owner.items):
                return run.taken(owner.items[number], spot)
            return UNKNOWN
        return choice(run.taken(item, spot) for item in owner.items) if owner.items else UNKNOWN
    if run.tensors is not None:
        found = run.tensors.item(owner, index, spot)
        if found is not None:
            return found
    if isinstance(owner, (Made, External)) and owner.name == "os.environ":
        return environment(run, index, default, spot)
    if isinstance(owner, External) and owner.name == "sys.argv":
        return command_argument(run, index)
    if isinstance(owner, External) and owner.name in FLAGS:
        return flag_holder(run, index, spot)
    if isinstance(owner, External) and owner.name in UNIONS and isinstance(index, Sequence):
        return choice(index.items[:1] if owner.name == "typing.Annotated" else index.items)
    if isinstance(owner, Scalar) and isinstance(owner.value, str):
        number = constant_of(index)
        if isinstance(number, int) and -len(owner.value) <= number < len(owner.value):
            return Scalar(owner.value[number], owner.origins)
    run.use(owner, spot)
    # Rows and columns of a table are asked for by slices, tuples and lists.
    run.use(index, spot, deep=True)
    run.asked_of_unknown(owner, constant_of(index))
    return run.stand_in(owner.origins) if run.is_stand_in(owner) else Unknown(owner.origins)


def _slice_of(owner: Sequence, index: Sequence) -> Value:
    """Return a part of a list."""
    bounds = [constant_of(part) for part in index.items]
    if owner.open or not all(bound is None or type(bound) is int for bound in bounds) or bounds[2:] == [0]:
        return Sequence(list(owner.items), open=True, kind=owner.kind)
    return Sequence(owner.items[slice(*bounds)], kind=owner.kind)


def _walk_entries(run: Run, owner: Mapping, spot: Spot) -> None:
    """Note that a mapping is looked up by a name that is not known.

    For a table in the code, objects, functions and inner tables are left out: their contents are read where they are used.
    """
    if _is_of_sections(owner):
        # Each may be the one that is taken, and what is read of it is followed in each of the same kind.
        for value in owner.entries.values():
            if not _is_of_kind(value, owner):
                run.walk(value, spot)
        return
    if not is_own_table(owner) or len(owner.entries) > MAX_CHOICES:
        run.walk(owner, spot)
        return
    for value in owner.entries.values():
        if not isinstance(value, (Instance, FunctionObject, ClassObject)) and not is_own_table(value):
            run.walk(value, spot)


def _is_of_sections(owner: Mapping) -> bool:
    """Tell whether a config section has some sections in it and nothing else."""
    return (
        owner.key is not None
        and 1 < len(owner.entries) <= MAX_CHOICES
        and all(isinstance(value, Mapping) and value.key is not None for value in owner.entries.values())
    )


def _is_of_kind(value: Value, owner: Mapping) -> bool:
    """Tell whether a section has a key that another one beside it has, too."""
    names = value.entries.keys() if isinstance(value, Mapping) else set[str]()
    return any(
        not names.isdisjoint(other.entries)
        for other in owner.entries.values()
        if other is not value and isinstance(other, Mapping)
    )


def is_own_table(value: Value) -> bool:
    """Tell whether a value is a mapping made by the code, and no config section."""
    return isinstance(value, Mapping) and value.key is None and not value.sections


def lacking(
    frame: Frame,
    owner: Mapping | Instance,
    name: Any,
    spot: Spot,
    error: str | None,
    default: Value | None,
) -> Value:
    """Note that a key is missing, and return the value the program goes on with."""
    run = frame.run
    is_open = owner.open
    sections = owner.sections
    if isinstance(owner, Mapping) and owner.flavour == "package":
        return choice((UNKNOWN, default)) if default is not None else UNKNOWN
    if is_open:
        if run.code_settings is not None and isinstance(name, str):
            run.of_unknown.add(name)
        for section in sections:
            section.asked.add(str(name))
        for other, value in owner.entries.items() if isinstance(owner, Mapping) else ():
            if isinstance(other, Unnamed):
                # It may be the one that is asked for.
                run.walk(value, spot)
        return choice((UNKNOWN, default)) if default is not None else UNKNOWN
    soft = error in (None, "None") or default is not None
    if isinstance(owner, Mapping) and owner.flavour in GROWING and default is None:
        default = _new_inner_mapping(owner, name)
    value = default if default is not None else NONE if error in (None, "None") else UNKNOWN
    if sections:
        if frame.scope.name in ACCESSORS and spot.calls:
            # Where an object is asked tells more than where it looks the name up.
            scope, place = spot.calls[-1]
            spot = Spot(scope, place, 0, spot.calls[:-1], spot.conditions)
        leaving = None if soft else frame.leaving(error or "KeyError")
        run.asked.append(
            Asked(
                sections,
                str(name),
                DEFAULT if soft else REQUIRED,
                spot,
                "" if soft else leaving or error or "KeyError",
                value if soft else None,
                run.conditions,
                not soft and leaving is None,
            )
        )
    return value


def _new_inner_mapping(owner: Mapping, name: Any) -> Mapping:
    """Return the empty mapping that a class such as DotMap adds for a missing name."""
    section = owner.key
    key = ConfigKey(section.source, (*section.path, str(name)), section) if section is not None else None
    made = Mapping(key=key, access=owner.access, absent=owner.absent, flavour=owner.flavour)
    owner.entries[name] = made
    return made


TABLE, WRITTEN_TABLE = (
    "looks it up in a table that has no such entry",
    "looks it up in a table, which has no such entry",
)
"""Why a value of a config ends the run, where the code takes something by it."""
PROPERTIES = frozenset({"builtins.property", "functools.cached_property", "werkzeug.utils.cached_property"})


def holds_sections(owner: Instance) -> bool:
    """Tell whether an object has all entries of a config's section as attributes.

    Such an object stands for the section.
    """
    taken: dict[ConfigKey, int] = {}
    for value in owner.attributes.values():
        key = key_of(value)
        if key is not None and key.parent is not None:
            taken[key.parent] = taken.get(key.parent, 0) + 1
    return any(0 < section.size <= taken.get(section, 0) for section in owner.sections)


def partial_pattern(value: PartialText) -> Callable[[str], bool]:
    """Return a predicate: may a text be this partly known one?"""
    import re

    pattern = re.compile(
        "".join(".*" if part is None else re.escape(part) for part in value.parts), re.DOTALL
    )
    return lambda item: pattern.fullmatch(item) is not None
