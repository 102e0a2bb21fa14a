"""Settings that stand in the code itself: dictionaries, namespaces and classes of constants, noted like the keys of a config."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cfgfix.code.inference.interpreter import classes
from cfgfix.code.inference.interpreter.command_line import WRITTEN
from cfgfix.code.inference.interpreter.objects import (
    ClassObject,
    ConfigKey,
    FunctionObject,
    Instance,
    Mapping,
    ModuleObject,
    Scalar,
    Sequence,
    Spot,
    Value,
)
from cfgfix.code.inference.interpreter.values import alternatives, key_of
from cfgfix.code.model.expressions import dotted, place_of, walk
from cfgfix.code.model.nodes import Dictionary, Name, Place
from cfgfix.code.model.python_files import SETTINGS_MODULE

MAX_SECTIONS = 2_000
"""Most dictionaries, namespaces and classes of one run that are looked at."""
_OF_SETTINGS = re.compile(
    r"(?:^|_|(?<=[a-z]))(?:[Cc]onfig(?:s|uration)?|CONFIG|[Ss]ettings?|SETTINGS|[Oo]pt(?:ion)?s|OPT(?:ION)?S|[Hh]?[Pp]arams?|PARAMS|[Hh]yper\w*"
    r"|[Cc]fg|CFG|[Ff]lags|[Aa]rgs|HP|hp|[Dd]efaults?|DEFAULTS?)(?![a-z])"
)
"""Names of classes and functions that hold or make settings."""
_CONSTANTS = (str, int, float, bool, type(None))
_OPEN_MODULE = frozenset({"__all__", "__getattr__"})
"""What says in a module that others may take all its names, or any."""
_FIELD_BASES = ("pydantic.", "pydantic_settings.", "typing.NamedTuple", "typing.Protocol")
_FIELDS = frozenset({"field", "Field", "attrib", "ib"})
_PLAIN_METHODS = frozenset(
    {
        "builtins.property",
        "builtins.classmethod",
        "builtins.staticmethod",
        "functools.cached_property",
        "pydantic.field_validator",
        "pydantic.validator",
        "pydantic.model_validator",
        "pydantic.root_validator",
    }
)


class WrittenSettings:
    """The settings written in the code that a run meets.

    Attributes:
        spots: Where each of their keys stands.
        values: What each of them is.
        holders: Their sections, each with its place and its name.
        loose: Sections that may be results rather than settings: their unread keys are not reported.
        chosen: Modules that the program imports by a computed name.
    """

    def __init__(self) -> None:
        self.spots: dict[ConfigKey, Spot] = {}
        self.values: dict[ConfigKey, Value] = {}
        self.holders: dict[ConfigKey, tuple[Spot, str]] = {}
        self.loose: set[ConfigKey] = set()
        self.chosen: set[ConfigKey] = set()
        self._keys: dict[ConfigKey, dict[ConfigKey, None]] = {}
        self._classes: dict[int, tuple[ClassObject, ConfigKey]] = {}
        self._modules: dict[int, tuple[ModuleObject, ConfigKey]] = {}

    def keys_of(self, section: ConfigKey) -> Iterable[ConfigKey]:
        """Return the keys of a section."""
        return self._keys.get(section, {})

    # What is written out as a dictionary or by named arguments

    def dictionary(self, expr: Dictionary, made: Mapping, spot: Spot) -> None:
        """Note a dictionary literal as a section of settings."""
        places: dict[object, Place] = {}
        for name, _ in expr.entries:
            place = place_of(name, spot.scope) if name is not None else None
            value = getattr(name, "value", None)
            if place is not None and isinstance(value, str):
                places[value] = place
        self._add_mapping(made, places, spot)

    def arguments(self, made: Mapping, spot: Spot) -> None:
        """Note a mapping made of keyword arguments, such as `dict(a=1)`, as a section."""
        call = next((item for item in spot.scope.calls if item.place == spot.place), None)
        places: dict[object, Place] = {}
        for name, value in call.keywords if call is not None else ():
            place = place_of(value, spot.scope)
            if name is not None and place is not None:
                places[name] = place
        self._add_mapping(made, places, spot)

    def container(self, made: Mapping, spot: Spot) -> None:
        """Note a container whose attributes the code sets one by one, as a section."""
        if made.key is None and not made.sections:
            self._add_section(made, "", spot)

    def _add_mapping(self, made: Mapping, places: dict[object, Place], spot: Spot) -> None:
        own = [
            name for name in made.entries if name in places and isinstance(name, str) and name.isidentifier()
        ]
        if made.key is not None or len(own) < len(made.entries) // 2 or not own:
            return
        constants = sum(1 for name in own if _is_constant(made.entries[name]))
        if constants * 2 < len(own):
            return
        section = self._add_section(made, "", spot)
        if section is None:
            return
        if spot.scope.kind == "function" and not _OF_SETTINGS.search(spot.scope.name):
            self.loose.add(section)
        for name in own:
            made.entries[name] = self._value_of_setting(
                section, name, made.entries[name], _spot_at(spot, places[name])
            )

    def _add_section(self, made: Mapping, shown: str, spot: Spot) -> ConfigKey | None:
        if len(self.holders) >= MAX_SECTIONS:
            return None
        section = ConfigKey(WRITTEN, (), None)
        made.key = section
        made.sections = (section, *made.sections)
        self.holders[section] = spot, shown
        return section

    def entry(self, holder: Mapping, name: object, value: Value, spot: Spot) -> Value:
        """Return a value written into a section, as the value of a setting.

        The value itself where the mapping is no section in the code.
        """
        section = holder.key
        if section is None or section not in self.holders or not isinstance(name, str):
            return value
        return self._value_of_setting(section, name, value, spot)

    # Classes

    def of_class(self, cls: ClassObject) -> None:
        """Note a class of constants as a section of settings."""
        if len(self.holders) >= MAX_SECTIONS or not _holds_settings(cls):
            return
        section = ConfigKey(WRITTEN, (), None)
        scope = cls.scope
        spot = Spot(scope, scope.place, 0)
        self.holders[section] = spot, scope.name
        self._classes[id(cls)] = cls, section
        read = {
            part.name
            for event in scope.body
            if event.value is not None
            for part in walk(event.value)
            if isinstance(part, Name)
        }
        for event in scope.body:
            if event.kind not in ("assign", "annotate") or event.value is None:
                continue
            for target in event.targets:
                if isinstance(target, Name) and not target.name.startswith("_") and target.name not in read:
                    value = cls.names.names.get(target.name)
                    if value is not None and not isinstance(value, FunctionObject):
                        where = Spot(scope, event.place, event.block)
                        cls.names.names[target.name] = self._value_of_setting(
                            section, target.name, value, where
                        )

    def sections_of(self, cls: ClassObject) -> tuple[ConfigKey, ...]:
        """Return the sections of a class and its bases.

        Empty where one of these classes holds no settings.
        """
        found = [self._classes.get(id(item)) for item in classes.lineage(cls)]
        return tuple(item[1] for item in found if item is not None) if all(found) else ()

    def attribute(self, owner: Instance, name: str, value: Value, spot: Spot) -> Value:
        """Return a value assigned to an attribute in `__init__`, as that of a setting.

        The value itself where the class holds no settings.
        """
        known = self._classes.get(id(owner.cls))
        if known is None or spot.scope.name != "__init__" or name.startswith("_"):
            return value
        return self._value_of_setting(known[1], name, value, spot)

    def field(self, cls: ClassObject, name: str, value: Value) -> Value:
        """Return the value of a class's field, as the value of a setting."""
        for item in classes.lineage(cls):
            known = self._classes.get(id(item))
            if known is None:
                continue
            for event in item.scope.body:
                target = event.targets[0] if event.kind == "annotate" else None
                if isinstance(target, Name) and target.name == name:
                    return self._value_of_setting(
                        known[1], name, value, Spot(item.scope, event.place, event.block)
                    )
        return value

    # Modules

    def of_module(self, module: ModuleObject, *, chosen: bool = False) -> None:
        """Note a module as a section of settings, after its body has run.

        Args:
            module: The module.
            chosen: Whether the program imports it by a computed name; it then holds settings whatever its name is.
        """
        scope, names = module.names.scope, module.names.names
        named = SETTINGS_MODULE.fullmatch(module.module.name.rpartition(".")[2])
        if (
            id(module) in self._modules
            or not (chosen or named is not None)
            or len(self.holders) >= MAX_SECTIONS
            or not names.keys().isdisjoint(_OPEN_MODULE)
        ):
            return
        section = ConfigKey(WRITTEN, (), None)
        self.holders[section] = Spot(scope, scope.place, 0), module.module.name
        self._modules[id(module)] = module, section
        if chosen:
            self.chosen.add(section)
        elif named is not None and named["const"]:
            # Constants of nature and tables of names are no settings.
            self.loose.add(section)
        for event in scope.body:
            if event.kind not in ("assign", "annotate") or event.value is None:
                continue
            for target in event.targets:
                value = names.get(target.name) if isinstance(target, Name) else None
                if value is not None and isinstance(target, Name) and not target.name.startswith("_"):
                    names[target.name] = self._value_of_setting(
                        section, target.name, value, Spot(scope, event.place, event.block)
                    )

    def section_of(self, module: ModuleObject) -> ConfigKey | None:
        """Return the section of a module whose variables are settings; None for others."""
        known = self._modules.get(id(module))
        return known[1] if known is not None else None

    def is_module(self, section: ConfigKey | None) -> bool:
        """Tell whether a section is a module, with its variables as the settings."""
        return any(section is found for _, found in self._modules.values())

    def replaced(self, value: Value) -> None:
        """Note that another value replaces the value of a setting under its name."""
        key = key_of(value)
        if key is not None and key in self.spots:
            key.accepted = True

    def escaped(self, value: Value, spot: Spot) -> None:
        """Note that an object or class goes as a whole to code that is not known."""
        for item in alternatives(value):
            if isinstance(item, ModuleObject):
                section = self.section_of(item)
                if section is not None:
                    section.escapes.append(spot)
                continue
            cls = item.cls if isinstance(item, Instance) else item
            if isinstance(cls, ClassObject) and not (cls is item and _is_factory(spot)):
                for here in classes.lineage(cls):
                    known = self._classes.get(id(here))
                    if known is not None:
                        known[1].escapes.append(spot)

    def _value_of_setting(self, section: ConfigKey, name: str, value: Value, spot: Spot) -> Value:
        """Return a value as that of a new setting in a section.

        Only constants, lists of them and inner sections become settings; other values are returned as they are.
        """
        key = ConfigKey(WRITTEN, (*section.path, name), section)
        made = value
        if type(value) is Scalar and value.key is None and not value.origins:
            made = Scalar(value.value, frozenset({key}), key, optional=value.optional)
        elif type(value) is Sequence and value.key is None and _is_constant(value):
            value.key = key
            value.items = [
                Scalar(item.value, frozenset({key}), key, optional=item.optional)
                if type(item) is Scalar
                else item
                for item in value.items
            ]
        elif isinstance(value, Mapping) and value.key is not None and value.key in self.holders:
            inner = value.key
            if inner.parent is not None:
                return value
            inner.parent, inner.path = section, key.path
            key = inner
        else:
            return value
        self.spots[key] = spot
        self.values[key] = made
        self._keys.setdefault(section, {})[key] = None
        section.size += 1
        return made


def _is_factory(spot: Spot) -> bool:
    """Tell whether a call declares a field, as `field(default_factory=...)` does."""
    call = next((item for item in spot.scope.calls if item.place == spot.place), None)
    return call is not None and (dotted(call.func) or "").rpartition(".")[2] in _FIELDS


def _spot_at(spot: Spot, place: Place) -> Spot:
    """Return another place in the same statement."""
    return Spot(spot.scope, place, spot.block, spot.calls, spot.conditions, spot.turns)


def _is_constant(value: Value) -> bool:
    """Tell whether a value is a constant, or a list or settings of them."""
    if type(value) is Scalar:
        return isinstance(value.value, _CONSTANTS) and not value.origins
    if type(value) is Sequence:
        return not value.open and all(map(_is_constant, value.items))
    return isinstance(value, Mapping) and value.key is not None and value.key.source == WRITTEN


def _holds_settings(cls: ClassObject) -> bool:
    """Tell whether a class serves to hold settings.

    It has no bases outside the project but those for fields, and either a name for settings or no methods but properties,
    static ones and the like.
    """
    outside = classes.outside_bases(cls)
    if any(not name.startswith(_FIELD_BASES) for name in outside):
        return False
    name = cls.scope.name
    if any(found.end() == len(name) for found in _OF_SETTINGS.finditer(name)):
        return True
    return not any(
        isinstance(member, FunctionObject)
        and not name.startswith("__")
        and not any(item in _PLAIN_METHODS or item.endswith(".setter") for item in member.decorated)
        for name, member in cls.names.names.items()
    )
