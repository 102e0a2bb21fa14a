"""One run of a program: its state, its frames, and the calls that its models answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

from cfgfix.code.inference.interpreter.command_line import OPTIONS, WRITTEN, Option
from cfgfix.code.inference.interpreter.decisions import Decisions
from cfgfix.code.inference.interpreter.library_names import canonical
from cfgfix.code.inference.interpreter.notes import NameTest
from cfgfix.code.inference.interpreter.objects import (
    UNKNOWN,
    ClassObject,
    ConfigKey,
    External,
    FunctionObject,
    Instance,
    Made,
    Mapping,
    Method,
    ModuleObject,
    Namespace,
    Sequence,
    Spot,
    Unknown,
    Value,
)
from cfgfix.code.inference.interpreter.values import PLAIN, held_values, keys_of
from cfgfix.code.model.module import Module, absolute
from cfgfix.code.model.program import Program
from cfgfix.core.records import dataclass

if TYPE_CHECKING:
    from cfgfix.code.inference.interpreter.events import Asked, Host, LibraryCall, Loading
    from cfgfix.code.model.nodes import Place
    from cfgfix.code.model.summary import Event, Scope

NORMAL, RETURN, BREAK, CONTINUE, RAISE = range(5)
"""How a statement ends."""
MAX_STEPS = 200_000
"""Most statements and expressions read in one run, so that a program made to be slow ends."""
MAX_TOGETHER = 4
"""Most config keys of which it is said that they end the run together."""
MAX_TURNS = 64
"""Most turns of a loop over known items that are run one by one."""
_BASES = {
    "KeyError": ("LookupError",),
    "IndexError": ("LookupError",),
    "FileNotFoundError": ("OSError", "IOError", "EnvironmentError"),
}
"""Exceptions that a handler may name instead."""


class Exhausted(Exception):  # noqa: N818 - no error: the run is long enough
    """The run has taken all the steps it may take."""


_new = tuple.__new__


class Frame:
    """One run of a scope.

    Attributes:
        run: The run of the program.
        scope: Its code.
        names: Its names.
        way: The calls on the way to it, outermost first.
        depth: How many calls it is inside.
        receiver: The object whose method it is, or None.
        owner: The class that defines this method, or None.
        returned, yielded: What it gives.
        caught: Names of the exceptions that each `try` around the run catches, each with what its handler raises instead.
        passed: Tests that did not hold and whose block would have left the scope.
        left_out: Parameters that the call leaves to their defaults, each with its default.
        went_on: Whether it went on past a place where what the config says ends it.
    """

    __slots__ = (
        "caught", "depth", "left_out", "names", "owner", "passed", "receiver", "returned", "run", "scope", "way", "went_on", "yielded",
    )  # fmt: skip

    def __init__(
        self,
        run: Run,
        scope: Scope,
        names: Namespace,
        way: tuple[tuple[Scope, Place], ...] = (),
        depth: int = 0,
        receiver: Value | None = None,
        owner: ClassObject | None = None,
    ) -> None:
        self.run = run
        self.scope = scope
        self.names = names
        self.way = way
        self.depth = depth
        self.receiver = receiver
        self.owner = owner
        self.returned: list[Value] = []
        self.yielded: list[Value] = []
        self.caught: list[tuple[frozenset[str], str]] = []
        self.passed: list[Decided] = []
        self.left_out: dict[str, Value] = {}
        self.went_on = False

    def spot(self, place: Place, block: int = 0) -> Spot:
        """Return a place of the run."""
        run = self.run
        assumed = run.assumed
        return _new(Spot, (self.scope, place, block, self.way, tuple(assumed) if assumed else (), run.turns))

    def catches(self, error: str) -> bool:
        """Tell whether a `try` around the run catches an exception and goes on."""
        return self.leaving(error) is None

    def leaving(self, error: str) -> str | None:
        """Return the exception that leaves the frame when one is raised in it.

        A handler may raise another one instead. None where a handler catches it and goes on.
        """
        for names, instead in reversed(self.caught):
            wanted = {error, "Exception", "BaseException", "*", *_BASES.get(error, ())}
            if not wanted.isdisjoint(names):
                if not instead:
                    return None
                error = instead if instead != "*" else error
        return error


@dataclass(frozen=True, slots=True)
class Decided:
    """A test whose outcome is known, with the block that runs for it.

    Attributes:
        scope: The code that it stands in.
        block: The block that is run for it.
        test: Its value.
        lacking: The keys of configs that it looks for and that are not there, where each of them alone decides it.
    """

    scope: Scope
    block: int
    test: Value
    lacking: tuple[Asked, ...] = ()


class Call:
    """One call that a program makes; never changed once it is made.

    Attributes:
        frame: The run of the scope that makes it.
        run: The run of the program.
        callee: What is called.
        name: The name of the method or, dotted, of what is called outside the project; empty for any other call.
        receiver: The object whose method is called; None for a function.
        args: Positional arguments.
        keywords: Named arguments.
        spot: Where.
        spread: The mapping that `**mapping` gave its named arguments from, or None.
        opaque: Whether further arguments may be given that are not known.
    """

    __slots__ = ("args", "callee", "frame", "keywords", "name", "opaque", "receiver", "run", "spot", "spread")

    def __init__(
        self,
        frame: Frame,
        callee: Value,
        args: tuple[Value, ...],
        keywords: dict[str, Value],
        spot: Spot,
        spread: Mapping | None = None,
        *,
        opaque: bool = False,
    ) -> None:
        self.frame = frame
        self.run = frame.run
        self.callee = callee
        self.args = args
        self.keywords = keywords
        self.spot = spot
        self.spread = spread
        self.opaque = opaque
        self.name = ""
        self.receiver: Value | None = None
        if isinstance(callee, (External, Made)):
            self.name = callee.name
        elif isinstance(callee, Method):
            self.name = callee.name
            self.receiver = callee.owner

    @property
    def mapping(self) -> Mapping:
        """The mapping whose method is called."""
        assert isinstance(self.receiver, Mapping)
        return self.receiver

    @property
    def sequence(self) -> Sequence:
        """The list, tuple or set whose method is called."""
        assert isinstance(self.receiver, Sequence)
        return self.receiver

    @property
    def values(self) -> tuple[Value, ...]:
        """All arguments."""
        return (*self.args, *self.keywords.values()) if self.keywords else self.args

    @property
    def first(self) -> Value:
        """The first positional argument; nothing is known of one that is not there."""
        return self.args[0] if self.args else UNKNOWN

    def argument(self, place: int, name: str) -> Value | None:
        """Return the argument of a parameter, or None where it is not given."""
        return self.args[place] if len(self.args) > place else self.keywords.get(name)

    def on(self, callee: Value) -> Call:
        """Return the same call with another callee."""
        return self.handing(callee, self.args, self.keywords)

    def handing(
        self,
        callee: Value,
        args: tuple[Value, ...],
        keywords: dict[str, Value],
        spread: Mapping | None = None,
    ) -> Call:
        """Return the same call with another callee and other arguments.

        Args:
            callee: The callee.
            args: Positional arguments.
            keywords: Named ones.
            spread: The mapping that some of these were given from before, where the call itself has none.
        """
        return Call(self.frame, callee, args, keywords, self.spot, self.spread or spread, opaque=self.opaque)

    def then(
        self,
        callee: Value,
        args: tuple[Value, ...] = (),
        keywords: dict[str, Value] | None = None,
        *,
        spread: Mapping | None = None,
        opaque: bool = False,
    ) -> Value:
        """Make another call from the same place, and return its result."""
        return self.run.call(Call(self.frame, callee, args, keywords or {}, self.spot, spread, opaque=opaque))

    def use(self, value: Value, *, deep: bool = False) -> None:
        """Note that the call does something with a value."""
        self.run.use(value, self.spot, deep=deep)

    def escape(self) -> None:
        """Note that the arguments of the call go to code that is not known."""
        self.run.escape(self.frame, self.values, self.spot)


Model = Callable[[Call], "Value | None"]
"""What a function or method outside the project does: what its call gives, or None where that is not modelled."""


ImportSite = tuple[str, int, int]
"""A call that imports a module by a text: file, line and column."""
WithUnknown = tuple[int, int, tuple[frozenset[ConfigKey], ...]]
"""A function and what it is bound to, by identity, and where its arguments come from, of which nothing else is known."""


class Tensors(Protocol):
    """The questions of a run about the tensors that models are built from."""

    def attribute(self, owner: Value, name: str, spot: Spot) -> Value | None:
        """Return an attribute of a tensor, layer or model; None if it is not followed."""

    def items(self, owner: Made) -> list[Value] | None:
        """Return the items of a library's result; None where they are not known."""

    def each(self, owner: Value) -> Value | None:
        """Return what a loop over a result gets in each turn; None if not followed."""

    def item(self, owner: Value, index: Value, spot: Spot) -> Value | None:
        """Return the item of a library's result at an index; None if it is not followed."""

    def operation(self, sign: str, left: Value, right: Value, spot: Spot) -> Value | None:
        """Return the result of an operator on tensors; None if no operand is one."""

    def call_own(self, call: Call, instance: Instance) -> Value | None:
        """Return the result of calling an object of a project class.

        None where the object is no layer or model.
        """

    def after_call(self, call: Call, name: str, made: Made) -> Value:
        """Note a library call that concerns models, and return its result."""


class Run(Decisions):
    """The state and the notes of one run of a program.

    Args:
        program: The linked program.
        host: What the run asks of the world outside the code.
        every_way: Whether both ways are taken at conditions on values of a config, too.

    Attributes:
        calls: Calls of what is outside the project.
        loadings: Files that were turned into values.
        options: Options of the command line, by their attribute.
        parsers: Options by the identity of the parser that declares them; those of `absl` under FLAG_PARSER.
        open_parsers: Parsers that may declare more than is known, by identity.
        parsed: Calls that parse the command line: the parser's identity, the method, and where.
        option_section: What notes what becomes of the options as a whole.
        kept: Objects whose identity something is kept by.
        added_options: Options of the command line that are laid over a section which has no such key.
        tracked: The settings that a tracker of experiments keeps; None before it has any.
        classes: The classes that were made, in order.
        constructors: What the program makes of values with a tag, by the tag.
        resolvers: Tags of the resolvers that the program adds to loaders, by the class or its name.
        pydantic: The major release of pydantic that the project means; 0 where that is not known.
        entered: Scopes that were run, by identity.
        left_early: Those of them of which a part may not have run, since something raised or ended the program.
        running: How many times a scope is inside itself, by its identity.
        making: Classes whose metaclass is making an object of them, by identity.
        times_entered: How many times a scope was entered, by its identity.
        given: What a scope was entered with that may hold a section of a config, by the identities of both.
        recursive: Scopes that were inside themselves, by identity.
        with_unknown: The calls that the run is inside which hand over nothing that is known.
        short: Whether a scope that was entered often is short and has no loops or is recursive, by its identity and that.
        turns: The turns of loops over items that are not known which the run is in, each with a number of its own.
        tensors: What follows the tensors of models in this run; None where nothing does.
        filtering: How many conditions of comprehensions the run is inside.
        written_tables: Tables that the code writes out and adds nothing to, by identity.
        deciding: The tests whose outcome is known, innermost last.
        waiting: Functions and objects that libraries may call, with the frame that handed them over.
        called_back: Functions that were run as a library may call them, by identity.
        steps: Statements and expressions that were read.
        exhausted: Whether the run was cut off.
        failure: The fault of cfgfix that cut the run off, if one did.
    """

    def __init__(self, program: Program, host: Host, *, every_way: bool = False) -> None:
        super().__init__(program, every_way=every_way)
        self.program = program
        self.host = host
        self.calls: list[LibraryCall] = []
        self.loadings: list[Loading] = []
        self.loaded: dict[str, None] = {}
        """The files that were found, as sources of keys, in order."""
        self.options: dict[str, Option] = {}
        self.parsers: dict[int, list[Option]] = {}
        self.open_parsers: set[int] = set()
        self.parsed: list[tuple[int, str, Spot]] = []
        self.option_section = ConfigKey(OPTIONS, (), None)
        self.kept: list[Value] = []
        self.added_options: list[tuple[ConfigKey, Mapping]] = []
        self.refused_options: list[tuple[ConfigKey, Mapping]] = []
        """The same where a schema has no such key."""
        self.queues: dict[int, list[tuple[Value, Call]]] = {}
        """What stands in the queues that the program makes, each with the call that put it there, by their identity."""
        self.taken_from: set[int] = set()
        """Those of them that the program takes from."""
        self.started: list[tuple[Call, Made]] = []
        """Threads and processes that were started and have not run, each with the call."""
        self.config_flags: dict[str, Value] = {}
        """Configs that flags of `ml_collections` name, by the name of the flag."""
        self.tracked: Mapping | None = None
        self.variables: dict[str, ConfigKey] = {}
        """Variables of the environment that the program reads, by name."""
        self.tested_paths: set[str] = set()
        """Paths of which the program asks whether there is such a file."""
        self.read_paths: list[tuple[Value, Spot, tuple[str, ...]]] = []
        """The files that the program opens to read, each with what must hold for that."""
        self.written_paths: set[str] = set()
        self.commands: dict[int, list[tuple[frozenset[str], Value]]] = {}
        """The commands of groups of click and apps of typer with their names, by identity of what they were added to."""
        self.context: Made | None = None
        """The context of click that its commands share; None before one runs."""
        self.behind: list[str] | None = None
        """The arguments behind the name of the command of a group that runs; None outside of one that is named."""
        self.open_imports: dict[ImportSite, tuple[str, ...]] = {}
        """Modules of the project that calls may import which get a name of which parts are known."""
        self.given_imports: dict[ImportSite, str] = {}
        """The modules that such calls import in this run."""
        self.stored_configs: dict[tuple[str, str], Value] = {}
        """Classes and mappings that `ConfigStore.store` of Hydra was given, by group and name."""
        self.hydra_folder: Value | None = None
        """The folder of configs that `hydra.initialize` was given last."""
        self.resolvers: dict[ClassObject | str, list[str]] = {}
        self.constructors: dict[str, Value] = {}
        self.classes: list[ClassObject] = []
        self.pydantic = 0
        self.entered: dict[int, Scope] = {}
        self.left_early: set[int] = set()
        self.running: dict[int, int] = {}
        self.making: set[int] = set()
        self.stand_ins: dict[int, Value] = {}
        """Unknown values that stand for what may be given in the place of a section, by identity."""
        self.times_entered: dict[int, int] = {}
        self.recursive: set[int] = set()
        self.with_unknown: list[WithUnknown] = []
        self.short: dict[tuple[int, bool], bool] = {}
        self.given: dict[int, dict[int, Value]] = {}
        self.filtering = 0
        self.written_tables: dict[int, Mapping] = {}
        self.deciding: list[Decided] = []
        self.turns: tuple[int, ...] = ()
        self.tensors: Tensors | None = None
        self.waiting: list[tuple[Value, Frame]] = []
        self.steps = 0
        self.exhausted = False
        self.failure: Exception | None = None
        self.called_back: set[tuple[int, int]] = set()

    # What the parts above this one do

    def call(self, call: Call) -> Value:
        """Carry out a call and return its result."""
        raise NotImplementedError

    def suite(self, frame: Frame, events: list[Event]) -> int:
        """Run statements in order, and return the signal with which they end."""
        raise NotImplementedError

    def arguments(self) -> list[str] | None:
        """Return the arguments that the code gets from the command line.

        None where they are not known.
        """
        return self.behind if self.behind is not None else self.host.arguments()

    def module(self, module: Module) -> ModuleObject:
        """Return a module of the project after its body has run."""
        raise NotImplementedError

    def runs_as_main(self, module: Module) -> bool:
        """Tell whether a module is the one that was started."""
        raise NotImplementedError

    def started_at(self) -> str:
        """Return the path of the module that was started; empty where none was."""
        raise NotImplementedError

    # Modules

    def imported(self, source: str, importer: Module) -> Value:
        """Return the value of a dotted import source."""
        whole = absolute(source, importer)
        found = self.program.module(source, importer)
        head, _, last = whole.rpartition(".")
        if found is not None and found.scope is not None:
            own = self._bound_by_package(head, last, importer) if head else None
            return self.module(found) if own is None else own
        if head:
            above = self.program.module(head, importer)
            if above is not None and above.scope is not None:
                value = self.module(above).names.names.get(last)
                if value is not None:
                    return value
                return self.submodule(above, last)
        return External(canonical(whole))

    def _bound_by_package(self, package: str, name: str, importer: Module) -> Value | None:
        """Return the value that a package binds to the name of one of its own modules.

        None where the name is the module.

        `from .build import build` in its `__init__.py` puts the function in the module's place.
        """
        above = self.program.module(package, importer)
        if above is None or above.scope is None or above is importer:
            return None
        if not any(
            event.kind == "import" and any(bound == name for bound, _ in event.imports)
            for event in above.scope.body
        ):
            return None
        found = self.module(above).names.names.get(name)
        return None if isinstance(found, ModuleObject) else found

    def submodule(self, module: Module, name: str) -> Value:
        """Return a module of a package by its name."""
        inner = self.program.module(f"{module.name}.{name}")
        if inner is not None and inner.scope is not None:
            return self.module(inner)
        return UNKNOWN

    # Conditions

    # What becomes of values

    def escape(self, frame: Frame, values: Iterable[Value], spot: Spot) -> None:
        """Note that values go to code that is not known."""
        values = tuple(values)
        for value in values:
            self.use(value, spot, deep=True)
        self.hand_over(frame, values)

    def hand_over(self, frame: Frame, values: Iterable[Value]) -> None:
        """Note that a library gets functions and objects, which it may call."""
        for value in values:
            if type(value) in PLAIN:
                continue
            for item in held_values(value, 3):
                if isinstance(item, Made) and id(item) in self.parsers:
                    self.open_parsers.add(id(item))
                if isinstance(item, (FunctionObject, Instance, ClassObject)):
                    self.waiting.append((item, frame))

    def stand_in(self, origins: frozenset[ConfigKey]) -> Unknown:
        """Return an unknown value for what may be there in the place of a section.

        What is put into it is followed where the section gets it.
        """
        made = Unknown(origins)
        self.stand_ins[id(made)] = made
        return made

    def is_stand_in(self, value: Value) -> bool:
        """Tell whether a value stands for what may be given in a section's place."""
        return type(value) is Unknown and id(value) in self.stand_ins

    def refuse_choice(self, frame: Frame, chosen: Value, error: str, why: str, spot: Spot) -> bool:
        """Note that a config value ends the run, and tell whether it does.

        The value must come from config keys alone, and nothing may catch the exception. Of several keys the first of the
        file that was loaded last is told.
        """
        keys = {key for key in keys_of(chosen) if key.path}
        if not self.sure or self.every_way or frame.catches(error):
            return False
        if not 1 <= len(keys) <= MAX_TOGETHER or any(
            key.source.startswith("<") and key.source != WRITTEN for key in keys
        ):
            return False
        order = {source: number for number, source in enumerate(self.loaded, 1)}
        first, *others = sorted(keys, key=lambda key: (-order.get(key.source, 0), str(key.path)))
        self.refuse("choice", first, why, spot, error, beside=tuple(others))
        self.refused |= keys
        return True

    def refuse_name(self, frame: Frame, test: NameTest, error: str, by: str, spot: Spot) -> bool:
        """Note that the name of a config key ends the run, and tell whether it does."""
        if not self.sure or self.every_way or frame.catches(error) or test.key.source.startswith("<"):
            return False
        self.refuse("unknown-key", test.key, by, spot, error, test.names)
        return True
