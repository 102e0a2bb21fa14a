"""The values of an interpreted program, with the config keys that they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from cfgfix.code.model.nodes import Place
    from cfgfix.code.model.summary import Scope

KeyPath = tuple[str | int, ...]
NOTHING: frozenset[ConfigKey] = frozenset()


class _SpotFields(NamedTuple):
    """The fields of a `Spot`."""

    scope: Scope
    place: Place
    block: int
    calls: tuple[tuple[Scope, Place], ...] = ()
    conditions: tuple[str, ...] = ()
    turns: tuple[int, ...] = ()


class Spot(_SpotFields):
    """A place in the code, with the calls that led there; equal to no other spot.

    Nothing is made as often in a run, and nothing is made faster than a tuple.

    Attributes:
        scope: The scope it stands in.
        place: Its span.
        block: The block it stands in.
        calls: The calls on the way, outermost first, as `(scope, place)`.
        conditions: What must hold for the run to come here, where that is not known.
        turns: The turns of loops over items that are not known which the run is in, outermost first.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        """Tell whether the other spot is the same object."""
        return self is other

    def __ne__(self, other: object) -> bool:
        """Tell whether the other spot is another object."""
        return self is not other

    def __hash__(self) -> int:
        """Return the hash of the object's identity."""
        return id(self)

    @property
    def path(self) -> str:
        """The path of the file."""
        found: str = self.scope.module.path
        return found

    @property
    def line(self) -> int:
        """The 1-based line at which the place begins."""
        return self.place.line


class ConfigKey:
    """One key of a config file and what a run does with it.

    Attributes:
        source: The file, as the program's host names it.
        path: The key path in the file.
        parent: The key of the section around it; None at the top.
        reads: Where its value is taken out of the config.
        uses: Where its value counts: an operation, a condition, a call that does something with it.
        logs: Where it is only printed, logged or written down again.
        written_down: Whether one of these writes it to a file.
        writes: Where the program puts another value in its place before it is read.
        may_write: The same, on a way that is not always taken.
        escapes: Where the section as a whole goes to code that is not known.
        conversions: Names of what its value is converted with, such as `float`.
        walks: Where names of its section are looked up that are not known.
        guards: Where it is only looked whether it is there.
        offers: Where a value of the config takes another entry of its section than this one.
        size: How many entries it has, for a section.
        accepted: Whether a function or class has a parameter or field of its name.
        interpolated: Whether another value of the config names it.
        kept_as: Names of attributes and of modules' variables that have its value.
        names_section: Whether its value names a section or list that stands elsewhere.
        overlaid: Whether another file gives it another value.
        compared: Constants that its value is compared with, and whether it is the same.
        rivals: Constants that its value, or what is made of it alone, is compared with or looked up among.
        asked: Names that a section is asked for of which not all entries are known.
        fallback: What is taken where the file does not have it, as the first read with a default says; None for none.
    """

    __slots__ = (
        "accepted",
        "asked", "compared", "conversions", "escapes", "fallback", "guards", "interpolated", "kept_as", "logs", "may_write", "names_section", "offers", "overlaid", "parent", "path", "reads", "rivals", "size", "source", "uses", "walks", "writes",
        "written_down",
    )  # fmt: skip

    def __init__(self, source: str, path: KeyPath, parent: ConfigKey | None) -> None:
        self.source = source
        self.path = path
        self.parent = parent
        self.reads: list[Spot] = []
        self.uses: list[Spot] = []
        self.logs: list[Spot] = []
        self.writes: list[Spot] = []
        self.may_write: list[Spot] = []
        self.escapes: list[Spot] = []
        self.walks: list[Spot] = []
        self.offers: list[Spot] = []
        self.guards: list[Spot] = []
        self.conversions: set[str] = set()
        self.asked: set[str] = set()
        self.kept_as: set[str] = set()
        self.size = 0
        self.accepted = False
        self.interpolated = False
        self.names_section = False
        self.written_down = False
        self.overlaid = False
        self.compared: list[tuple[Any, bool]] = []
        self.rivals: dict[str, None] = {}
        self.fallback: Value | None = None

    @property
    def name(self) -> str:
        """The last step of its path as text."""
        return str(self.path[-1]) if self.path else ""


class Written(Protocol):
    """A value as it is written in a config."""

    @property
    def raw(self) -> Any:
        """The value, read without marking it as looked at."""

    @property
    def data(self) -> Any:
        """The value; reading it marks it as looked at."""


class Value:
    """The value of an expression.

    Attributes:
        origins: The config keys it was made from.
    """

    __slots__ = ("origins",)

    def __init__(self, origins: frozenset[ConfigKey] = NOTHING) -> None:
        self.origins = origins


class Unknown(Value):
    """A value of which only the origin is known."""

    __slots__ = ()


class Tagged(Unknown):
    """A config value with a YAML tag, for a constructor of the program.

    Attributes:
        tag: The tag.
        text: What stands behind it; None where that is no plain value.
    """

    __slots__ = ("tag", "text")

    def __init__(self, tag: str, text: str | None, origins: frozenset[ConfigKey]) -> None:
        super().__init__(origins)
        self.tag = tag
        self.text = text


class Scalar(Value):
    """A plain constant.

    Attributes:
        value: The constant: text, number, boolean, None or bytes.
        key: The config key whose value it is, unchanged.
        optional: Whether a command line may give another one.
        entry: What stands in a config, where the constant is that; it is looked at when the value is asked for.
    """

    __slots__ = ("entry", "key", "optional", "value")
    entry: Written

    def __init__(
        self,
        value: Any,
        origins: frozenset[ConfigKey] = NOTHING,
        key: ConfigKey | None = None,
        *,
        optional: bool = False,
    ) -> None:
        self.origins = origins
        self.value = value
        self.key = key
        self.optional = optional

    @classmethod
    def of_entry(cls, entry: Written, key: ConfigKey) -> Scalar:
        """Return a config's entry as a value that is not looked at yet."""
        made = cls.__new__(cls)
        made.origins = frozenset({key})
        made.key = key
        made.optional = False
        made.entry = entry
        return made

    @property
    def is_unlooked(self) -> bool:
        """Whether the value is from a config and nothing has looked at it."""
        try:
            _UNSET(self)
        except AttributeError:
            return True
        return False

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Read the config's entry when the value is first asked for."""
            if name != "value":
                raise AttributeError(name)
            found = self.value = self.entry.data
            return found


_UNSET = Scalar.__dict__["value"].__get__


class PartialText(Value):
    """A text of which parts are known.

    Attributes:
        parts: Known texts, with None for what is not known.
    """

    __slots__ = ("parts",)

    def __init__(self, parts: tuple[str | None, ...], origins: frozenset[ConfigKey] = NOTHING) -> None:
        super().__init__(origins)
        self.parts = parts


class FilePath(Value):
    """A `pathlib.Path`.

    Attributes:
        text: What it points at: a `Scalar` text or a `PartialText`; `Unknown` where nothing is known.
    """

    __slots__ = ("text",)

    def __init__(self, text: Value) -> None:
        super().__init__(text.origins)
        self.text = text


class OpenFile(Value):
    """A file that the program has opened, or its text.

    Attributes:
        path: The path as a text value.
        writing: Whether it was opened to be written.
        filled: Whether the program puts something into its text: what stands between marks for that is not known.
    """

    __slots__ = ("filled", "path", "writing")

    def __init__(self, path: Value, *, writing: bool = False, filled: bool = False) -> None:
        super().__init__(path.origins)
        self.path = path
        self.writing = writing
        self.filled = filled


class Unnamed:
    """The name of an entry whose name is not known."""

    __slots__ = ()

    def __str__(self) -> str:
        """Return the text that a reader sees."""
        return "?"


DICT, ATTRIBUTES, EITHER = "items", "attributes", "either"
"""How entries are asked for: `d[k]`, `d.k`, or both."""


class Mapping(Value):
    """A mapping: a dictionary, a namespace, or an object of a config library.

    Attributes:
        entries: What it holds, in order; what stands under names that are not known has `Unnamed` ones.
        open: Whether it may hold more than is known.
        key: The config key whose section it is, unchanged as a whole.
        access: How entries are asked for.
        absent: What asking for an entry that is not there gives: the name of an exception, or `None`.
        flavour: The class it is of, such as `dict`, `EasyDict`, `yacs`, `omegaconf`, `argparse`.
        locked: Whether new keys are refused.
        fields: The fields of the class that says which keys and types it takes, by name; None for a mapping that takes any.
        sections: Config sections whose entries it has taken over, by merges, copies and conversions.
        unsure: Names of entries that the program may have taken away again.
    """

    __slots__ = (
        "absent",
        "access",
        "entries",
        "fields",
        "flavour",
        "key",
        "locked",
        "open",
        "sections",
        "unsure",
    )

    def __init__(
        self,
        entries: dict[Any, Value] | None = None,
        *,
        key: ConfigKey | None = None,
        open: bool = False,  # noqa: A002 - what mappings that may have more are called
        access: str = DICT,
        absent: str | None = "KeyError",
        flavour: str = "dict",
        sections: tuple[ConfigKey, ...] = (),
    ) -> None:
        super().__init__(NOTHING)
        self.entries: dict[Any, Value] = {} if entries is None else entries
        self.open = open
        self.key = key
        self.access = access
        self.absent = absent
        self.flavour = flavour
        self.locked = False
        self.fields: dict[str, Any] | None = None
        self.unsure: frozenset[Any] = frozenset()
        self.sections = (key,) if key is not None and not sections else sections


MAX_ITEMS = 10_000
"""Most items that a list grows to: one that is added to itself again and again doubles each time."""


class Sequence(Value):
    """A list, tuple or set.

    Attributes:
        items: What it holds, in order.
        open: Whether it may hold more than is known.
        kind: `list`, `tuple` or `set`.
        key: The config key whose list it is.
        names_of: The mapping all of whose names it holds; None for any other.
        uncounted: Whether it got items in a loop of which it is not known how often it turns: what it may hold is known, not how much.
    """

    __slots__ = ("items", "key", "kind", "names_of", "open", "uncounted")

    def __init__(
        self,
        items: list[Value],
        *,
        open: bool = False,  # noqa: A002 - as of mappings
        kind: str = "list",
        key: ConfigKey | None = None,
    ) -> None:
        super().__init__(NOTHING)
        self.items = items
        self.open = open
        self.kind = kind
        self.key = key
        self.names_of: Mapping | None = None
        self.uncounted = False

    def extend(self, items: list[Value]) -> None:
        """Add items at the end.

        A list that grows beyond `MAX_ITEMS` keeps no more items, and is marked as open.
        """
        room = max(0, MAX_ITEMS - len(self.items))
        self.open = self.open or len(items) > room
        self.items += items[:room]


class Namespace:
    """The names of one run of a scope."""

    __slots__ = ("names", "parent", "scope")

    def __init__(self, scope: Scope, parent: Namespace | None) -> None:
        self.scope = scope
        self.parent = parent
        self.names: dict[str, Value] = {}


class ModuleObject(Value):
    """A module of the project, run or being run."""

    __slots__ = ("module", "names")

    def __init__(self, module: Any, names: Namespace) -> None:
        super().__init__()
        self.module = module
        self.names = names


class ClassObject(Value):
    """A class of the project.

    Attributes:
        scope: Its code.
        names: The names of its body, which are its attributes.
        bases: What it derives from.
        metaclass: What its head names as the class that it is an object of; None for nothing.
    """

    __slots__ = ("bases", "metaclass", "names", "scope")

    def __init__(self, scope: Scope, names: Namespace, bases: tuple[Value, ...]) -> None:
        super().__init__()
        self.scope = scope
        self.names = names
        self.bases = bases
        self.metaclass: Value | None = None


class FunctionObject(Value):
    """A function, method or lambda of the project.

    Attributes:
        scope: Its code.
        names: The names around it.
        receiver: What it is bound to, or None.
        args: Positional arguments that are given already.
        keywords: Named ones.
        decorated: Canonical names of its decorators from outside the project.
        defaults: Values of its parameters' defaults.
        spread: The mapping that the named ones were given from, or None.
    """

    __slots__ = ("args", "decorated", "defaults", "keywords", "names", "receiver", "scope", "spread")

    def __init__(
        self,
        scope: Scope,
        names: Namespace | None,
        receiver: Value | None = None,
        args: tuple[Value, ...] = (),
        keywords: dict[str, Value] | None = None,
        decorated: tuple[str, ...] = (),
        defaults: dict[str, Value] | None = None,
        spread: Mapping | None = None,
    ) -> None:
        super().__init__()
        self.spread = spread
        self.scope = scope
        self.names = names
        self.receiver = receiver
        self.args = args
        self.keywords = keywords or {}
        self.decorated = decorated
        self.defaults = defaults or {}

    def bound(self, receiver: Value) -> FunctionObject:
        """Return the function as a method of an object."""
        return FunctionObject(
            self.scope,
            self.names,
            receiver,
            self.args,
            self.keywords,
            self.decorated,
            self.defaults,
            self.spread,
        )

    def given(
        self, args: tuple[Value, ...], keywords: dict[str, Value], spread: Mapping | None = None
    ) -> FunctionObject:
        """Return the function with some arguments already bound."""
        return FunctionObject(
            self.scope,
            self.names,
            self.receiver,
            (*self.args, *args),
            {**self.keywords, **keywords},
            self.decorated,
            self.defaults,
            spread or self.spread,
        )


class Instance(Value):
    """An object of a class of the project.

    Attributes:
        cls: Its class.
        attributes: Its own attributes.
        open: Whether it may have more than is known.
        sections: Config sections whose entries became its attributes.
        entries: For a class that is a dictionary: what it holds.
    """

    __slots__ = ("attributes", "cls", "entries", "open", "sections")

    def __init__(self, cls: ClassObject) -> None:
        super().__init__()
        self.cls = cls
        self.attributes: dict[str, Value] = {}
        self.open = False
        self.sections: tuple[ConfigKey, ...] = ()
        self.entries: Mapping | None = None


class OwnAttributes(Mapping):
    """The attributes of an object as a mapping, such as its `__dict__`.

    A write to the mapping sets the attribute, and the other way round.

    Attributes:
        owner: The object.
    """

    __slots__ = ("owner",)

    def __init__(self, owner: Instance) -> None:
        self.owner = owner
        super().__init__(owner.attributes, open=owner.open, sections=owner.sections)

    @property
    def open(self) -> bool:
        """Whether the object may have more attributes than are known."""
        return self.owner.open

    @open.setter  # noqa: A003 - as of mappings
    def open(self, value: bool) -> None:
        self.owner.open = value

    @property
    def sections(self) -> tuple[ConfigKey, ...]:
        """Config sections whose entries became attributes."""
        return self.owner.sections

    @sections.setter
    def sections(self, value: tuple[ConfigKey, ...]) -> None:
        self.owner.sections = value


class External(Value):
    """A thing outside the project, by its full dotted name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.origins = NOTHING
        self.name = name


class Made(Value):
    """The result of a library call.

    Attributes:
        name: Full dotted name of what was called.
        args, keywords: What it was called with.
        spot: Where.
        receiver: What it was called on, where it is a method.
        attributes: Attributes that the program has set on it.
        spread: The mapping that `**mapping` gave its named arguments from, where that is kept.
    """

    __slots__ = ("args", "attributes", "keywords", "name", "receiver", "spot", "spread")

    def __init__(
        self,
        name: str,
        args: tuple[Value, ...],
        keywords: dict[str, Value],
        spot: Spot | None,
        receiver: Value | None = None,
    ) -> None:
        self.origins = NOTHING
        self.name = name
        self.args = args
        self.keywords = keywords
        self.spot = spot
        self.receiver = receiver
        self.spread: Mapping | None = None
        self.attributes: dict[str, Value] = {}


class Method(Value):
    """A method of a value whose class is not of the project: `text.split`, `config.get`, `model.fit`."""

    __slots__ = ("name", "owner")

    def __init__(self, owner: Value, name: str) -> None:
        self.origins = owner.origins
        self.owner = owner
        self.name = name


class Choice(Value):
    """One of several values, depending on the way taken."""

    __slots__ = ("values",)

    def __init__(self, values: tuple[Value, ...]) -> None:
        self.origins = NOTHING.union(*[value.origins for value in values if value.origins])
        self.values = values


UNKNOWN = Unknown()
NONE = Scalar(None)
