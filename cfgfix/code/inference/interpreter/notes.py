"""A run's notes on config values: which are read, used, handed on and refused."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from cfgfix.code.inference.interpreter.command_line import ENVIRONMENT, OPTIONS
from cfgfix.code.inference.interpreter.events import Refusal, WrongAccess
from cfgfix.code.inference.interpreter.objects import (
    ConfigKey,
    Instance,
    KeyPath,
    Mapping,
    Method,
    PartialText,
    Scalar,
    Sequence,
    Spot,
    Unknown,
    Value,
)
from cfgfix.code.inference.interpreter.values import (
    PLAIN,
    alternatives,
    held_values,
    key_of,
    key_value,
    keys_of,
)

if TYPE_CHECKING:
    from cfgfix.code.inference.interpreter.events import Asked
    from cfgfix.code.inference.interpreter.written_settings import WrittenSettings

MAX_USES = 8
"""Most uses of one key that are noted."""
MAX_RIVALS = 32
"""Most texts that a key's value is compared with which are noted."""


class Chosen(NamedTuple):
    """A config section, with the entry that a command-line option selects.

    Attributes:
        section: The section.
        name: The entry; None where it is not known which.
        offers: Where the others are offered, each with its key.
    """

    section: ConfigKey
    name: Any
    offers: tuple[tuple[ConfigKey, Spot], ...]


class NameTest(NamedTuple):
    """A failed test whether a config key's name is one of some names.

    Attributes:
        outcome: The value of the test.
        key: The key.
        names: The names.
    """

    outcome: Value
    key: ConfigKey
    names: tuple[str, ...]


class Notes:
    """The notes of a run on config keys and their values.

    Attributes:
        asked: Keys that were asked for and are not there.
        refusals: Keys and values that something does not take.
        choosers: Keys, as file and path, whose values take one of a section's entries.
        of_unknown: Names that were asked of values of which nothing is known.
        assumed: What must hold for the run to be where it is, where that is not known.
    """

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.refusals: list[Refusal] = []
        self.wrong_access: list[WrongAccess] = []
        self.choosers: set[tuple[str, KeyPath]] = set()
        self.key_names: dict[int, tuple[Value, ConfigKey]] = {}
        """Names of keys that the program goes through, with the keys, by identity."""
        self.name_tests: dict[int, NameTest] = {}
        """Tests of such names, by identity of their values."""
        self.value_classes: dict[int, tuple[Value, Value]] = {}
        """Classes that the program asks values for, with the values, by identity."""
        self.class_tests: dict[int, tuple[Value, Value]] = {}
        """Tests of such classes, by identity of their outcomes, each with the value: it is not used by that."""
        self.chosen: dict[str, list[Chosen]] = {}
        """Sections of configs of which an option or variable of the environment takes an entry, by its name."""
        self.of_unknown: set[str] = set()
        self.assumed: list[str] = []
        self.code_settings: WrittenSettings | None = None
        """What follows the settings that stand in the code; None where nothing asks for them."""
        self.refused: set[ConfigKey] = set()
        """Keys at whose values the run stops: what is made of them further on says nothing."""

    @property
    def conditions(self) -> tuple[str, ...]:
        """Conditions of unknown outcome that must hold for the run to be where it is."""
        return tuple(self.assumed)

    @property
    def sure(self) -> bool:
        """Whether the run is certainly where it is."""
        return not self.assumed

    def note_rivals(self, value: Value, others: Iterable[Any]) -> None:
        """Note the texts that a value is compared with.

        Only a value that comes from a single config key counts.
        """
        if len(value.origins) != 1 or not isinstance(value, (Scalar, PartialText, Unknown)):
            return
        (key,) = value.origins
        for other in others:
            if isinstance(other, str) and len(key.rivals) < MAX_RIVALS:
                key.rivals.setdefault(other)

    def taken(self, value: Value, spot: Spot, default: Value | None = None) -> Value:
        """Note that a value was read from a config, and return the value.

        Args:
            value: The value.
            spot: Where.
            default: What would be taken where there were none.
        """
        for item in alternatives(value):
            key = key_of(item)
            if key is not None:
                key.reads.append(spot)
                key.fallback = key.fallback or default
                if key.names_section:
                    # What is taken out of it has keys where the section stands.
                    key.uses.append(spot)
        return value

    def walk(self, owner: Value, spot: Spot) -> None:
        """Note that a section is looked up by names that are not known.

        Each of its keys may be read.
        """
        for item in held_values(owner):
            for key in keys_of(item):
                key.walks.append(spot)
            if self.code_settings is not None:
                self.code_settings.escaped(item, spot)

    def offer(self, owner: Mapping, chosen: Any, by: Value, spot: Spot) -> None:
        """Note that a config value selects an entry of a section.

        The other entries are noted as offered: another value would select them.
        """
        self.choosers.update((key.source, key.path) for key in by.origins)
        offers: list[tuple[ConfigKey, Spot]] = []
        for name, value in owner.entries.items():
            key = key_of(value)
            if name != chosen and key is not None:
                key.offers.append(spot)
                offers.append((key, spot))
        self.note_chosen(owner, chosen, by, tuple(offers))

    def note_chosen(
        self, owner: Mapping, name: object, by: Value, offers: tuple[tuple[ConfigKey, Spot], ...] = ()
    ) -> None:
        """Note that a single option or environment variable selects an entry of a section."""
        if len(by.origins) == 1 and owner.key is not None and not owner.key.source.startswith("<"):
            (key,) = by.origins
            if key.source in (OPTIONS, ENVIRONMENT):
                shown = key.name if key.source == OPTIONS else f"${key.name}"
                self.chosen.setdefault(shown, []).append(Chosen(owner.key, name, offers))

    def log(self, value: Value, spot: Spot, *, to_file: bool = False) -> None:
        """Note that a value and its contents are only printed or written down."""
        if type(value) in PLAIN and not value.origins and key_of(value) is None:
            return
        for item in held_values(value):
            for key in keys_of(item):
                key.logs.append(spot)
                key.written_down = key.written_down or to_file

    def use(self, value: Value, spot: Spot, *, deep: bool = False, into_objects: bool = True) -> None:
        """Note that a value, and so each config key that it comes from, has an effect.

        Args:
            value: The value.
            spot: Where.
            deep: Whether its contents count, too.
            into_objects: Whether attributes of objects are contents: a library does not know those of the project's classes.
        """
        if deep and type(value) is Method and isinstance(value.owner, (Mapping, Sequence)):
            # Who gets `weights.get` looks its entries up.
            value = value.owner
        if not value.origins and type(value) in PLAIN:
            # Most values are of no config and hold nothing.
            return
        for key in value.origins:
            if len(key.uses) < MAX_USES:
                key.uses.append(spot)
        if deep and not isinstance(value, (Scalar, Unknown)):
            for item in held_values(value, into_objects=into_objects):
                for key in item.origins:
                    if len(key.uses) < MAX_USES:
                        key.uses.append(spot)
                if isinstance(item, (Mapping, Sequence)) and item.key is not None:
                    item.key.escapes.append(spot)
                if self.code_settings is not None:
                    self.code_settings.escaped(item, spot)

    def asked_of_unknown(self, owner: Value, name: Any) -> None:
        """Note a name that the program looks up on an unknown value.

        The value may be a config.
        """
        while isinstance(owner, Method):
            owner = owner.owner
        if isinstance(owner, (Unknown, Instance)) and isinstance(name, str):
            self.of_unknown.add(name)

    def name_of(self, name: Any, value: Value) -> Value:
        """Return the name of an entry as a value, noting which config key it names."""
        made = key_value(name)
        key = key_of(value)
        if key is not None and key.path and key.path[-1] == name:
            self.key_names[id(made)] = made, key
        return made

    def class_of(self, value: Value, made: Value) -> Value:
        """Return the class of a value, noting that it is this value's."""
        if value.origins or key_of(value) is not None:
            self.value_classes[id(made)] = made, value
        return made

    def test_classes(self, values: Iterable[Value], outcome: Value) -> None:
        """Note a test of the classes of values, with its outcome."""
        for item in values:
            if id(item) in self.value_classes:
                self.class_tests[id(outcome)] = outcome, self.value_classes[id(item)][1]

    def test_name(self, name: Value, names: Iterable[Any], outcome: Value) -> None:
        """Note a test whether a key's name is one of some names, where it is not."""
        known = self.key_names.get(id(name))
        if known is not None:
            among = tuple(str(item) for item in names)
            if known[1].name not in among:
                self.name_tests[id(outcome)] = NameTest(outcome, known[1], among)

    def refuse(
        self,
        kind: str,
        key: ConfigKey,
        by: str,
        spot: Spot,
        says: str = "",
        takes: tuple[str, ...] = (),
        *,
        name: str = "",
        value: Any = None,
        beside: tuple[ConfigKey, ...] = (),
    ) -> None:
        """Note that a function, class or library refuses a config key or its value."""
        self.refusals.append(Refusal(kind, key, by, spot, name, says, takes, self.conditions, value, beside))
