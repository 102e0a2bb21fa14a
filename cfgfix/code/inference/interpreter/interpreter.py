"""Run a program from an entry point: statements in order, calls entered, loops over known items unrolled.

What is known is computed, what is not stays unknown, and where a condition is not known both ways are taken. Nothing of
the program is executed: only the operations that are modelled here and in the modules beside it are carried out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from cfgfix.code.inference.interpreter import library, python
from cfgfix.code.inference.interpreter.events import (
    DEFAULT,
    GUARD,
    REQUIRED,
    Asked,
    Host,
    LibraryCall,
    Loading,
    Refusal,
)
from cfgfix.code.inference.interpreter.objects import (
    ATTRIBUTES,
    EITHER,
    NONE,
    NOTHING,
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
    PartialText,
    Scalar,
    Sequence,
    Spot,
    Unknown,
    Value,
    alternatives,
    choice,
    held,
    origins_of,
    truth,
)
from cfgfix.code.inference.interpreter.run import Frame, Option
from cfgfix.code.model import summary as model
from cfgfix.code.model.expressions import dotted, text
from cfgfix.code.model.program import Module, Program, absolute, fold
from cfgfix.code.model.summary import Event, Expr, Scope

MAX_STEPS = 100_000
"""Most expressions read in one run, so that a program made to be slow ends."""
MAX_DEPTH = 40
"""Most calls entered inside one another."""
MAX_TURNS = 64
"""Most turns of a loop over known items that are run one by one."""
SAYS_NO = frozenset({"no", "n", "off", "false", "none", "null", "0"})
"""Texts that say no, and are true."""
MAX_ENTERED = 40
"""Most times that a function is entered in one run."""
MAX_NUMBERS = 8
"""Most turns of a loop over plain numbers."""
MAX_SAME = 6
"""Most times that a function is inside itself."""

NORMAL, RETURN, BREAK, CONTINUE, RAISE = range(5)

CALLS_BACK = (
    "__call__",
    "call",
    "build",
    "train_step",
    "test_step",
    "predict_step",
    "compute_loss",
    "get_config",
)


class Exhausted(Exception):  # noqa: N818 - no error: the run is long enough
    """The run has taken all the steps it may take."""


class Interpreter:
    """One run of a program.

    Args:
        program: The linked program.
        host: What the run asks of the world outside the code.
        every_way: Whether both ways are taken at conditions on values of a config, too.

    Attributes:
        asked: Keys that were asked for and are not there.
        refusals: Keys and values that something does not take.
        calls: Calls of what is outside the project.
        loadings: Files that were turned into values.
        options: Options of the command line, by their attribute.
        entered: Scopes that were run, by identity.
        steps: Statements and expressions that were read.
    """

    def __init__(self, program: Program, host: Host, *, every_way: bool = False) -> None:
        self.every_way = every_way
        self.program = program
        self.host = host
        self.asked: list[Asked] = []
        self.refusals: list[Refusal] = []
        self.calls: list[LibraryCall] = []
        self.loadings: list[Loading] = []
        self.options: dict[str, Option] = {}
        self.entered: dict[int, Scope] = {}
        self._decided: dict[int, Value] = {}
        self._loops = 0
        self.config_conditions: set[str] = set()
        """Conditions that the values of a config decide, as they are written."""
        self.of_unknown: set[str] = set()
        """Names that were asked of values of which nothing is known."""
        self.exhausted = False
        self.failure: Exception | None = None
        """The fault of cfgfix that cut the run off, if one did."""
        self.main: Module | None = None
        self.callables: list[FunctionObject] = []
        self._modules: dict[int, ModuleObject] = {}
        self.steps = 0
        self._running: dict[int, int] = {}
        self._times_entered: dict[int, int] = {}
        self._conditions: list[str] = []
        self._called_back: set[tuple[int, int]] = set()
        self._waiting: list[tuple[Value, Frame]] = []
        self._memo: dict[tuple[object, ...], Value] = {}
        self.parsers: dict[int, list[Option]] = {}
        self.kept: list[Value] = []
        """Objects whose identity something is kept by."""
        self.added: dict[ClassObject | str, list[str]] = {}
        """Resolvers that the program adds to loaders from outside, by the loader's name."""
        self.pydantic = 0
        """The major release of pydantic that the project means; 0 where that is not known."""

    # Runs

    def run(self, module: Module) -> None:
        """Run a module as the program's main one, and what it hands to libraries to be called."""
        self.main = module
        try:
            self.module(module)
            self._finish()
        except (Exhausted, RecursionError):
            self.exhausted = True
        except Exception as error:  # noqa: BLE001 - a fault here costs the rest of one run, not the check
            self.exhausted, self.failure = True, error

    def run_function(self, module: Module, name: str) -> None:
        """Run a module's body and then one of its functions, as a console script does."""
        try:
            found = self.module(module)
            value = found.names.names.get(name)
            if value is not None and module.scope is not None:
                frame = Frame(module.scope, found.names, (), 0)
                self.call(frame, value, (), {}, Spot(module.scope, module.scope.place, 0))
            self._finish()
        except (Exhausted, RecursionError):
            self.exhausted = True
        except Exception as error:  # noqa: BLE001 - a fault here costs the rest of one run, not the check
            self.exhausted, self.failure = True, error

    def _finish(self) -> None:
        """Run what was handed to libraries: they may call it."""
        while self._waiting:
            value, frame = self._waiting.pop(0)
            self._call_back(value, frame)

    def module(self, module: Module) -> ModuleObject:
        """Return a module of the project after its body has run."""
        known = self._modules.get(id(module))
        if known is not None:
            return known
        scope = module.scope
        assert scope is not None
        names = Namespace(scope, None)
        found = self._modules[id(module)] = ModuleObject(module, names)
        names.names["__name__"] = Scalar("__main__" if module is self.main else module.name)
        names.names["__file__"] = Scalar(os.path.normpath(module.path))
        conditions, self._conditions = self._conditions, []
        self.entered[id(scope)] = scope
        try:
            self._suite(Frame(scope, names, (), 0), scope.body)
        finally:
            self._conditions = conditions
        return found

    # Places

    def spot(self, frame: Frame, place: model.Place, block: int = 0) -> Spot:
        """Return a place of a run."""
        return Spot(frame.scope, place, block, frame.way, tuple(self._conditions))

    @property
    def conditions(self) -> tuple[str, ...]:
        """What must hold for the run to be where it is, where that is not known."""
        return tuple(self._conditions)

    def holds(self, test: Value, spot: Spot) -> bool | None:
        """Tell whether a condition holds, or None where both ways are taken."""
        if (
            type(test) is Scalar
            and test.key is not None
            and isinstance(test.value, str)
            and test.value.lower() in SAYS_NO
        ):
            self.refuse("text-truth", test.key, "the condition", spot, value=test.value)
        if id(test) in self._decided:
            return truth(test)
        if self.every_way and (spot.scope.kind != "module" or test.origins or key_of(test) is not None):
            return None
        return truth(test)

    def decide(self, test: Value) -> None:
        """Note a test of which only one way can be taken, such as one of a value's type."""
        self._decided[id(test)] = test

    def condition(self, shown: str, test: Value) -> str:
        """Return a condition as it is written, noting whether a config decides it."""
        if test.origins or key_of(test) is not None:
            self.config_conditions.update((shown, f"not {shown}"))
        return shown

    @property
    def sure(self) -> bool:
        """Whether the run is certainly where it is."""
        return not self._conditions

    # Statements

    def _suite(self, frame: Frame, events: list[Event]) -> int:
        for event in events:
            signal = self._statement(frame, event)
            if signal != NORMAL:
                return signal
        return NORMAL

    def _statement(self, frame: Frame, event: Event) -> int:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise Exhausted
        kind = event.kind
        handler = _STATEMENTS.get(kind)
        if handler is not None:
            return handler(self, frame, event)
        return NORMAL

    def _expression(self, frame: Frame, event: Event) -> int:
        if event.value is None:
            return NORMAL
        value = self.eval(frame, event.value)
        if type(value) is Made and value.name in library.ENDS:
            return RAISE if self.sure else NORMAL
        return NORMAL

    def _assign_event(self, frame: Frame, event: Event) -> int:
        assert event.value is not None
        value = self.eval(frame, event.value)
        for target in event.targets:
            self.assign(frame, target, value, event)
        return NORMAL

    def _annotate(self, frame: Frame, event: Event) -> int:
        if event.value is not None:
            self.assign(frame, event.targets[0], self.eval(frame, event.value), event)
        return NORMAL

    def _augment(self, frame: Frame, event: Event) -> int:
        assert event.value is not None
        target = event.targets[0]
        before = (
            self.eval(frame, target)
            if target[0] in (model.NAME, model.ATTRIBUTE, model.SUBSCRIPT)
            else UNKNOWN
        )
        right = self.eval(frame, event.value)
        if event.extra == "+" and isinstance(before, Sequence) and isinstance(right, Sequence):
            before.items.extend(right.items)
            before.open = before.open or right.open
            return NORMAL
        if event.extra == "|" and isinstance(before, Mapping):
            self.update(frame, before, right, self.spot(frame, event.place, event.block))
            return NORMAL
        self.assign(
            frame, target, self.binary(frame, event.extra, before, right, event.place, event.block), event
        )
        return NORMAL

    def _return(self, frame: Frame, event: Event) -> int:
        frame.returned.append(self.eval(frame, event.value) if event.value is not None else NONE)
        return RETURN

    def _raise(self, frame: Frame, event: Event) -> int:
        if event.value is not None:
            self.eval(frame, event.value)
        return RAISE

    def _assert(self, frame: Frame, event: Event) -> int:
        if event.value is not None:
            self.use(self.eval(frame, event.value), self.spot(frame, event.place, event.block))
        return NORMAL

    def _delete(self, frame: Frame, event: Event) -> int:
        for target in event.targets:
            if target[0] == model.NAME:
                if self.sure:
                    frame.names.names.pop(target[1], None)
            elif target[0] == model.SUBSCRIPT:
                owner, index = self.eval(frame, target[1]), self.eval(frame, target[2])
                name = constant_of(index)
                for item in alternatives(owner):
                    if isinstance(item, Mapping) and name is not None:
                        gone = item.entries.get(name)
                        if gone is not None and self.sure:
                            del item.entries[name]
        return NORMAL

    def _break(self, frame: Frame, event: Event) -> int:
        del frame
        return BREAK if event.kind == "break" else CONTINUE

    def _if(self, frame: Frame, event: Event) -> int:
        assert event.value is not None
        test = self.eval(frame, event.value)
        spot = self.spot(frame, event.place, event.block)
        self.use(test, spot)
        holds = self.holds(test, spot)
        if holds is True:
            return self._suite(frame, event.bodies[0][1])
        if holds is False:
            return self._suite(frame, event.bodies[1][1]) if len(event.bodies) > 1 else NORMAL
        shown = self.condition(text(event.value, frame.scope), test)
        bodies = [(shown, event.bodies[0][1])]
        bodies.append((f"not {shown}", event.bodies[1][1] if len(event.bodies) > 1 else []))
        return self._ways(frame, bodies)

    def _match(self, frame: Frame, event: Event) -> int:
        assert event.value is not None
        value = self.eval(frame, event.value)
        self.use(value, self.spot(frame, event.place, event.block))
        shown = self.condition(f"match {text(event.value, frame.scope)}", value)
        return self._ways(frame, [*((shown, body) for _, body in event.bodies), (shown, [])])

    def _ways(self, frame: Frame, bodies: list[tuple[str, list[Event]]]) -> int:
        """Take every way where a condition is not known, and go on with what they have in common."""
        before = frame.names.names
        ends: list[dict[str, Value]] = []
        signals: list[int] = []
        for shown, body in bodies:
            frame.names.names = dict(before)
            self._conditions.append(shown)
            try:
                signal = self._suite(frame, body) if body else NORMAL
            finally:
                self._conditions.pop()
            signals.append(signal)
            if signal == NORMAL:
                ends.append(frame.names.names)
        if not ends:
            frame.names.names = before
            return RETURN if RETURN in signals else signals[0]
        frame.names.names = merged(ends)
        return NORMAL

    def _for(self, frame: Frame, event: Event) -> int:
        assert event.value is not None
        iterable = self.eval(frame, event.value)
        body = event.bodies[0][1]
        items = self.items_of(frame, iterable, self.spot(frame, event.place, event.block))
        signal = NORMAL
        if items is not None and len(items) <= MAX_TURNS:
            if isinstance(iterable, Made):
                items = items[:MAX_NUMBERS]
            for item in items:
                self.assign(frame, event.targets[0], item, event)
                signal = self._suite(frame, body)
                if signal == BREAK:
                    break
                if signal in (RETURN, RAISE):
                    return signal
        else:
            item = self.item_of(iterable)
            self.assign(frame, event.targets[0], item, event)
            signal = self._maybe(frame, body)
            if signal == RETURN and items is None:
                signal = NORMAL
        for _, other in event.bodies[1:]:
            if signal != BREAK:
                after = self._suite(frame, other)
                if after != NORMAL:
                    return after
        return NORMAL

    def _maybe(self, frame: Frame, body: list[Event]) -> int:
        """Run the body of a loop; what it does to names may or may not be done.

        The outermost one is run twice: what one turn leaves, the next one uses.
        """
        before = dict(frame.names.names)
        signal = NORMAL
        turns = 2 if not self._loops else 1
        self._loops += 1
        try:
            for _ in range(turns):
                signal = self._suite(frame, body)
                frame.names.names = merged([frame.names.names, before])
                if signal in (BREAK, RETURN, RAISE):
                    break
        finally:
            self._loops -= 1
        return signal

    def _while(self, frame: Frame, event: Event) -> int:
        assert event.value is not None
        for _ in range(MAX_TURNS):
            test = self.eval(frame, event.value)
            spot = self.spot(frame, event.place, event.block)
            self.use(test, spot)
            holds = self.holds(test, spot)
            if holds is False:
                return NORMAL
            if holds is None:
                self._maybe(frame, event.bodies[0][1])
                return NORMAL
            signal = self._suite(frame, event.bodies[0][1])
            if signal == BREAK:
                return NORMAL
            if signal in (RETURN, RAISE):
                return signal
            if type(test) is Scalar and event.value[0] == model.CONSTANT:
                # `while True` ends by what is not known as a rule: once is enough.
                return NORMAL
        return NORMAL

    def _with(self, frame: Frame, event: Event) -> int:
        for manager, target in zip(event.extra, event.targets, strict=True):
            value = self.eval(frame, manager)
            if target[0] != model.UNKNOWN:
                self.assign(frame, target, self._entered_value(frame, value, event), event)
        return self._suite(frame, event.bodies[0][1])

    def _entered_value(self, frame: Frame, value: Value, event: Event) -> Value:
        if isinstance(value, Instance):
            enter = self.class_member(value.cls, "__enter__")
            if isinstance(enter, FunctionObject):
                return self.call(
                    frame, enter.bound(value), (), {}, self.spot(frame, event.place, event.block)
                )
        return value

    def _try(self, frame: Frame, event: Event) -> int:
        blocks = frame.scope.blocks
        handlers = [(block, suite) for block, suite in event.bodies[1:] if blocks[block].kind == "except"]
        names = frozenset(name for block, _ in handlers for name in caught_by(blocks[block].test))
        frame.caught.append(names)
        before = dict(frame.names.names)
        count = len(self.asked)
        signal = self._suite(frame, event.bodies[0][1])
        frame.caught.pop()
        failed = any(item.caught for item in self.asked[count:]) or signal == RAISE
        after = frame.names.names
        ends = [after] if not failed or signal == NORMAL else []
        signals = [signal]
        for block, suite in handlers:
            frame.names.names = merged([dict(before), dict(after)])
            bound = blocks[block].test
            self._conditions.append(
                f"{text(bound, frame.scope) if bound is not None else 'an exception'} is raised"
            )
            try:
                inner = self._suite(frame, suite)
            finally:
                self._conditions.pop()
            signals.append(inner)
            if inner == NORMAL:
                ends.append(frame.names.names)
        frame.names.names = merged(ends) if ends else after
        result = signal
        if signal == RAISE and handlers:
            result = NORMAL if ends else signals[-1]
        if result == NORMAL:
            for block, suite in event.bodies[1:]:
                if blocks[block].kind == "try-else":
                    result = self._suite(frame, suite)
        for block, suite in event.bodies[1:]:
            if blocks[block].kind == "finally":
                last = self._suite(frame, suite)
                result = last if last != NORMAL else result
        return result

    def _define(self, frame: Frame, event: Event) -> int:
        scope = frame.scope.module.summary.scopes[event.extra]
        value = self._defined(frame, scope)
        frame.names.names[scope.name] = value
        return NORMAL

    def _defined(self, frame: Frame, scope: Scope) -> Value:
        value: Value
        if scope.kind == "class":
            bases = tuple(self.eval(frame, base) for base in scope.bases)
            names = Namespace(scope, frame.names)
            value = ClassObject(scope, names, bases)
            self.entered[id(scope)] = scope
            self._suite(Frame(scope, names, frame.way, frame.depth), scope.body)
        else:
            value = self._function(frame, scope)
        decorated: list[str] = []
        for decorator in reversed(scope.decorators):
            made = self.eval(frame, decorator)
            name = name_of(made)
            if isinstance(made, (FunctionObject, Instance)):
                result = self.call(frame, made, (value,), {}, self.spot(frame, scope.place, scope.block))
                if isinstance(result, (FunctionObject, ClassObject, Instance)):
                    value = result
            elif name:
                decorated.append(name)
                if isinstance(value, FunctionObject):
                    value.decorated = (*value.decorated, name)
                    value = library.decorated(self, frame, made, name, value)
            if (
                isinstance(value, ClassObject)
                and isinstance(made, Method)
                and isinstance(made.owner, (Made, External))
            ):
                decorated.append(made.name)
        return value

    def _function(self, frame: Frame, scope: Scope) -> FunctionObject:
        defaults = {
            name: self.eval(frame, default) for name, _, default, _ in scope.params if default is not None
        }
        return FunctionObject(scope, frame.names, defaults=defaults)

    def _import(self, frame: Frame, event: Event) -> int:
        for name, source in event.extra:
            module = frame.scope.module
            value = self.imported(source, module)
            if name:
                frame.names.names[name] = value
        for star in frame.scope.stars:
            found = self.program.module(star, frame.scope.module)
            if found is not None and found.scope is not None and found is not frame.scope.module:
                for name, value in self.module(found).names.names.items():
                    if not name.startswith("_"):
                        frame.names.names.setdefault(name, value)
        return NORMAL

    def imported(self, source: str, importer: Module) -> Value:
        """Return what a dotted import source stands for."""
        whole = absolute(source, importer)
        found = self.program.module(source, importer)
        if found is not None and found.scope is not None:
            return self.module(found)
        head, _, last = whole.rpartition(".")
        if head:
            above = self.program.module(head, importer)
            if above is not None and above.scope is not None:
                value = self.module(above).names.names.get(last)
                if value is not None:
                    return value
                return self._star(above, last)
        return External(fold_name(whole))

    def _star(self, module: Module, name: str) -> Value:
        inner = self.program.module(f"{module.name}.{name}")
        if inner is not None and inner.scope is not None:
            return self.module(inner)
        return UNKNOWN

    # Assignment

    def assign(self, frame: Frame, target: Expr, value: Value, event: Event) -> None:
        """Bind a target."""
        kind = target[0]
        if kind == model.NAME:
            self._bind_name(frame, target[1], value)
        elif kind == model.ITEMS:
            count = len(target[2])
            items = self.items_of(frame, value, None)
            if isinstance(value, Choice):
                rows = [self.items_of(frame, item, None) for item in value.values]
                if all(row is not None and len(row) == count for row in rows):
                    items = [choice(row[place] for row in rows if row is not None) for place in range(count)]
            starred = any(item[0] == model.STARRED for item in target[2])
            for position, inner in enumerate(target[2]):
                if items is not None and not starred and len(items) == count:
                    self.assign(frame, inner, items[position], event)
                else:
                    self.assign(frame, inner, Unknown(value.origins), event)
        elif kind == model.STARRED:
            self.assign(frame, target[1], Unknown(value.origins), event)
        elif kind == model.ATTRIBUTE:
            owner = self.eval(frame, target[1])
            spot = self.spot(frame, event.place, event.block)
            for item in alternatives(owner):
                self.set_attribute(frame, item, target[2], value, spot)
        elif kind == model.SUBSCRIPT:
            owner = self.eval(frame, target[1])
            index = self.eval(frame, target[2])
            spot = self.spot(frame, event.place, event.block)
            for item in alternatives(owner):
                self.set_item(frame, item, index, value, spot)

    def _bind_name(self, frame: Frame, name: str, value: Value) -> None:
        names = frame.names
        if name in frame.scope.outer:
            above = names.parent
            while above is not None and name not in above.names:
                above = above.parent
            if above is not None:
                names = above
            elif frame.scope.kind != "module":
                names = self.module(frame.scope.module).names
        names.names[name] = value

    def set_item(self, frame: Frame, owner: Value, index: Value, value: Value, spot: Spot) -> None:
        """Put a value under a key."""
        holder = owner.entries if isinstance(owner, Instance) else owner
        if not isinstance(holder, Mapping):
            if isinstance(owner, Sequence):
                owner.open = owner.open or constant_of(index) is None
            if isinstance(owner, Instance):
                method = self.class_member(owner.cls, "__setitem__")
                if isinstance(method, FunctionObject):
                    self.call(frame, method.bound(owner), (index, value), {}, spot)
            else:
                self.use(value, spot)
            return
        self.use(index, spot)
        name = constant_of(index)
        if name is None:
            holder.open = True
            for item in held(value):
                item_keys(item, lambda key: key.escapes.append(spot))
            return
        self.put(holder, name, value, spot)

    def put(self, holder: Mapping, name: Any, value: Value, spot: Spot) -> None:
        """Write an entry of a mapping, noting what becomes of the config's value that stood there."""
        before = holder.entries.get(name)
        if before is not None:
            key = key_of(before)
            derived = key is not None and key in all_origins(value)
            if key is not None and not derived and key_of(value) is not key:
                if _from_another_file(value, key):
                    # One file laid over another: that is what the first is for.
                    key.uses.append(spot)
                else:
                    (key.writes if self.sure else key.may_write).append(spot)
        if self.sure or before is None:
            holder.entries[name] = value
        else:
            holder.entries[name] = choice((before, value))

    def set_attribute(self, frame: Frame, owner: Value, name: str, value: Value, spot: Spot) -> None:
        """Give an object an attribute."""
        if isinstance(owner, Mapping):
            self.put(owner, name, value, spot)
        elif isinstance(owner, Instance):
            setter = self.class_member(owner.cls, "__setattr__")
            if isinstance(setter, FunctionObject) and id(setter.scope) not in self._running:
                self.call(frame, setter.bound(owner), (Scalar(name), value), {}, spot)
                return
            self.set_own(owner, name, value, spot)
        elif isinstance(owner, (ClassObject, ModuleObject)):
            before = owner.names.names.get(name)
            owner.names.names[name] = value if self.sure or before is None else choice((before, value))
        elif isinstance(owner, Made):
            owner.attributes[name] = value
            self.library_call(frame, f"{owner.name}.{name}=", (value,), {}, spot)
        else:
            self.use(value, spot)

    def set_own(self, owner: Instance, name: str, value: Value, spot: Spot) -> None:
        """Set an attribute of an object of the project."""
        before = owner.attributes.get(name)
        if before is not None and self.sure:
            key = key_of(before)
            if (
                key is not None
                and key not in all_origins(value)
                and not key.uses
                and key_of(value) is not key
            ):
                key.writes.append(spot)
        key = key_of(value)
        if (
            key is not None
            and key.parent is not None
            and key.name == name
            and key.parent not in owner.sections
        ):
            owner.sections = (*owner.sections, key.parent)
        owner.attributes[name] = value if self.sure or before is None else choice((before, value))

    def update(self, frame: Frame, holder: Mapping, other: Value, spot: Spot) -> None:
        """Lay a mapping over another."""
        for item in alternatives(other):
            inner = item.entries if isinstance(item, Instance) and item.entries is not None else item
            if isinstance(inner, Mapping):
                for name, value in inner.entries.items():
                    if holder.locked and name not in holder.entries:
                        key = key_of(value)
                        if key is not None:
                            self.refuse(
                                "unknown-key",
                                key,
                                holder.flavour,
                                spot,
                                "KeyError",
                                tuple(map(str, holder.entries)),
                            )
                        continue
                    self.put(holder, name, value, spot)
                holder.open = holder.open or inner.open
                holder.sections = (*holder.sections, *(s for s in inner.sections if s not in holder.sections))
            elif isinstance(item, Sequence):
                for pair in item.items:
                    if isinstance(pair, Sequence) and len(pair.items) == 2:
                        self.set_item(frame, holder, pair.items[0], pair.items[1], spot)
                holder.open = holder.open or item.open
            elif not (isinstance(item, Scalar) and item.value is None):
                holder.open = True

    # Expressions

    def eval(self, frame: Frame, expr: Expr) -> Value:
        """Return what an expression stands for, doing what it does."""
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise Exhausted
        handler = _EXPRESSIONS.get(expr[0])
        return handler(self, frame, expr) if handler is not None else UNKNOWN

    def _name(self, frame: Frame, expr: Expr) -> Value:
        name = expr[1]
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
        if name in python.BUILTINS:
            return External(f"builtins.{name}")
        return UNKNOWN

    def _constant(self, frame: Frame, expr: Expr) -> Value:
        del frame
        return Scalar(expr[1])

    def _attribute(self, frame: Frame, expr: Expr) -> Value:
        owner = self.eval(frame, expr[1])
        spot = self.spot(frame, expr[3])
        return choice(self.attribute(frame, item, expr[2], spot) for item in alternatives(owner))

    def attribute(
        self, frame: Frame, owner: Value, name: str, spot: Spot, default: Value | None = None
    ) -> Value:
        """Return an attribute of a value, noting what it asks of a config."""
        if isinstance(owner, External):
            if owner.name in library.FLAGS:
                return library.flag(self, name, spot)
            return External(fold_name(f"{owner.name}.{name}"))
        if isinstance(owner, ModuleObject):
            found = owner.names.names.get(name)
            if found is not None:
                return found
            return self._star(owner.module, name)
        if isinstance(owner, ClassObject):
            found = self.class_member(owner, name)
            if isinstance(found, FunctionObject):
                return found.bound(owner) if "builtins.classmethod" in found.decorated else found
            if found is not None:
                return found
            if name == "__name__":
                return Scalar(owner.scope.name)
            if name == "__annotations__":
                return UNKNOWN
            return Method(owner, name)
        if isinstance(owner, Instance):
            return self._instance_attribute(frame, owner, name, spot, default)
        if isinstance(owner, Mapping):
            if owner.access in (ATTRIBUTES, EITHER):
                found = owner.entries.get(name)
                if found is not None:
                    return self.taken(found, spot)
                if name in library.METHODS_OF.get(owner.flavour, python.DICT_METHODS):
                    return Method(owner, name)
                if name.startswith("__"):
                    return UNKNOWN
                absent = owner.absent
                if absent == "KeyError":
                    absent = "AttributeError"
                return self.absent(frame, owner, name, spot, absent, default)
            return Method(owner, name)
        if isinstance(owner, Made):
            found = owner.attributes.get(name)
            return found if found is not None else Method(owner, name)
        if isinstance(owner, FilePath):
            return python.path_attribute(owner, name)
        self.asked_of_unknown(owner, name)
        return Method(owner, name)

    def asked_of_unknown(self, owner: Value, name: Any) -> None:
        """Note a name that is asked of a value of which nothing is known: it may be a config's."""
        while isinstance(owner, Method):
            owner = owner.owner
        if isinstance(owner, (Unknown, Instance)) and isinstance(name, str):
            self.of_unknown.add(name)

    def _instance_attribute(
        self, frame: Frame, owner: Instance, name: str, spot: Spot, default: Value | None
    ) -> Value:
        found = owner.attributes.get(name)
        if found is not None:
            if key_of(found) is None and not owner.sections:
                # An object that this run makes in another way may be made of a config in another one.
                self.of_unknown.add(name)
            return self.taken(found, spot)
        member = self.class_member(owner.cls, name)
        if isinstance(member, FunctionObject):
            if "builtins.staticmethod" in member.decorated:
                return member
            bound = member.bound(owner.cls if "builtins.classmethod" in member.decorated else owner)
            if any(item in PROPERTIES for item in member.decorated):
                return self.call(frame, bound, (), {}, spot)
            return bound
        if member is not None:
            if name == "__getattr__":
                return member
            return self.taken(member, spot)
        if name == "__dict__":
            return self.attributes_of(owner)
        if name == "__class__":
            return owner.cls
        getter = self.class_member(owner.cls, "__getattr__")
        if isinstance(getter, FunctionObject) and self._running.get(id(getter.scope), 0) < 2:
            return self.call(frame, getter.bound(owner), (Scalar(name),), {}, spot)
        if owner.entries is not None:
            if isinstance(getter, (Method, External)):
                # `__getattr__ = dict.get` or `dict.__getitem__`
                soft = name_of(getter).endswith("get") or (
                    isinstance(getter, Method) and getter.name == "get"
                )
                return self.item(
                    frame, owner.entries, Scalar(name), spot, "None" if soft else "AttributeError", default
                )
            if name in python.DICT_METHODS:
                return Method(owner.entries, name)
        outside = self.outside_bases(owner.cls)
        if outside or owner.open:
            self.of_unknown.add(name)
            return Method(owner, name)
        if getter is None and not name.startswith("__") and holds_sections(owner):
            return self.absent(frame, owner, name, spot, "AttributeError", default)
        self.of_unknown.add(name)
        if default is not None:
            return default
        return UNKNOWN

    def attributes_of(self, owner: Instance) -> Mapping:
        """Return the attributes of an object as a mapping: writing to it sets them."""
        return Mapping(owner.attributes, open=owner.open, sections=owner.sections)

    def _subscript(self, frame: Frame, expr: Expr) -> Value:
        owner = self.eval(frame, expr[1])
        index = self.eval(frame, expr[2])
        spot = self.spot(frame, expr[3])
        return choice(self.item(frame, item, index, spot) for item in alternatives(owner))

    def item(
        self,
        frame: Frame,
        owner: Value,
        index: Value,
        spot: Spot,
        absent: str | None = "",
        default: Value | None = None,
    ) -> Value:
        """Return what stands under a key, noting what it asks of a config.

        Args:
            frame: The run.
            owner: What is asked.
            index: The key.
            spot: Where.
            absent: What raises where there is none; empty for what the mapping says itself.
            default: What is taken where there is none.
        """
        if isinstance(owner, Instance):
            method = self.class_member(owner.cls, "__getitem__")
            if isinstance(method, FunctionObject):
                return self.call(frame, method.bound(owner), (index,), {}, spot)
            if owner.entries is not None:
                return self.item(frame, owner.entries, index, spot, absent, default)
            return UNKNOWN
        if isinstance(owner, Mapping):
            if isinstance(index, Choice):
                return choice(self.item(frame, owner, item, spot, absent, default) for item in index.values)
            self.use(index, spot)
            name = constant_of(index)
            if name is None:
                self.walk(owner, spot)
                if isinstance(index, PartialText):
                    shape = partial_pattern(index)
                    matching = [v for k, v in owner.entries.items() if isinstance(k, str) and shape(k)]
                    if matching:
                        return choice(self.taken(item, spot) for item in matching)
                if not owner.entries:
                    return UNKNOWN
                return choice(self.taken(item, spot) for item in owner.entries.values())
            found = owner.entries.get(name)
            if (
                self.every_way
                and index.origins
                and owner.key is None
                and not owner.sections
                and owner.entries
            ):
                return choice(owner.entries.values())
            if found is not None:
                return self.taken(found, spot)
            return self.absent(frame, owner, name, spot, owner.absent if absent == "" else absent, default)
        if isinstance(owner, Sequence):
            number = constant_of(index)
            self.use(index, spot)
            if isinstance(number, int) and not isinstance(number, bool) and not owner.open:
                if -len(owner.items) <= number < len(owner.items):
                    return self.taken(owner.items[number], spot)
                return UNKNOWN
            return choice(self.taken(item, spot) for item in owner.items) if owner.items else UNKNOWN
        if isinstance(owner, Made) and owner.name == "os.environ":
            return python.environment(self, index, spot, default)
        if isinstance(owner, External) and owner.name == "os.environ":
            return python.environment(self, index, spot, default)
        if isinstance(owner, External) and owner.name == "sys.argv":
            return library.argument(self, index)
        if isinstance(owner, Scalar) and isinstance(owner.value, str):
            number = constant_of(index)
            if isinstance(number, int) and -len(owner.value) <= number < len(owner.value):
                return Scalar(owner.value[number], owner.origins)
        self.use(owner, spot)
        self.use(index, spot)
        self.asked_of_unknown(owner, constant_of(index))
        return Unknown(owner.origins)

    def taken(self, value: Value, spot: Spot) -> Value:
        """Note that a value was taken out of a config, and return it."""
        key = key_of(value)
        if key is not None:
            key.reads.append(spot)
        return value

    def walk(self, owner: Value, spot: Spot) -> None:
        """Note that names of a section are looked up that are not known: each of its keys may be read."""
        for item in held(owner):
            item_keys(item, lambda key: key.walks.append(spot))

    def absent(
        self,
        frame: Frame,
        owner: Mapping | Instance,
        name: Any,
        spot: Spot,
        error: str | None,
        default: Value | None,
    ) -> Value:
        """Note that a key is not there, and return what the program goes on with."""
        is_open = owner.open
        sections = owner.sections
        if is_open:
            for section in sections:
                section.asked.add(str(name))
            return choice((UNKNOWN, default)) if default is not None else UNKNOWN
        soft = error in (None, "None") or default is not None
        value = default if default is not None else NONE if error in (None, "None") else UNKNOWN
        if sections:
            caught = not soft and self.is_caught(frame, error or "KeyError")
            self.asked.append(
                Asked(
                    sections,
                    str(name),
                    DEFAULT if soft else REQUIRED,
                    spot,
                    "" if soft else error or "KeyError",
                    value if soft else None,
                    self.conditions,
                    caught,
                )
            )
        return value

    def is_caught(self, frame: Frame, error: str) -> bool:
        """Tell whether the code around is ready for an exception."""
        wanted = {error, "Exception", "BaseException", "*", *python.BASES.get(error, ())}
        return any(not wanted.isdisjoint(names) for names in frame.caught)

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
    ) -> None:
        """Note that something does not take a key or its value."""
        self.refusals.append(Refusal(kind, key, by, spot, name, says, takes, self.conditions, value))

    def _items(self, frame: Frame, expr: Expr) -> Value:
        items: list[Value] = []
        is_open = False
        for part in expr[2]:
            if part[0] == model.STARRED:
                inner = self.eval(frame, part[1])
                found = self.items_of(frame, inner, None)
                if found is None:
                    is_open = True
                    items.append(Unknown(inner.origins))
                else:
                    items.extend(found)
            else:
                items.append(self.eval(frame, part))
        return Sequence(items, open=is_open, kind=expr[1])

    def _mapping(self, frame: Frame, expr: Expr) -> Value:
        result = Mapping()
        place = expr[2]
        for key, value in expr[1]:
            inner = self.eval(frame, value)
            if key is None:
                self.update(frame, result, inner, self.spot(frame, place))
                continue
            name = constant_of(self.eval(frame, key))
            if name is None:
                result.open = True
            else:
                self.put(result, name, inner, self.spot(frame, place))
        return result

    def _binary(self, frame: Frame, expr: Expr) -> Value:
        left, right = self.eval(frame, expr[2]), self.eval(frame, expr[3])
        return self.binary(frame, expr[1], left, right, expr[4], 0)

    def binary(
        self, frame: Frame, operator: str, left: Value, right: Value, place: model.Place, block: int
    ) -> Value:
        """Return what an operator makes of two values."""
        spot = self.spot(frame, place, block)
        if operator == "|" and isinstance(left, Mapping) and isinstance(right, (Mapping, Instance)):
            result: Mapping = python.copied(left)
            self.update(frame, result, right, spot)
            return result
        return python.binary(self, operator, left, right, spot)

    def _unary(self, frame: Frame, expr: Expr) -> Value:
        value = self.eval(frame, expr[2])
        if expr[1] == "not":
            spot = self.spot(frame, expr[3])
            self.use(value, spot)
            holds = self.holds(value, spot)
            return Unknown(value.origins) if holds is None else Scalar(not holds, value.origins)
        if type(value) is Scalar and isinstance(value.value, (int, float)) and expr[1] in "-+":
            return Scalar(-value.value if expr[1] == "-" else value.value, value.origins)
        return Unknown(value.origins)

    def _boolean(self, frame: Frame, expr: Expr) -> Value:
        found: list[Value] = []
        spot_place = expr[3]
        pushed = 0
        try:
            for number, part in enumerate(expr[2]):
                value = self.eval(frame, part)
                last = number == len(expr[2]) - 1
                holds = self.holds(value, self.spot(frame, spot_place)) if not last else None
                if not last:
                    self.use(value, self.spot(frame, spot_place))
                    if holds is None:
                        found.append(value)
                        self._conditions.append(self.condition(text(part, frame.scope), value))
                        pushed += 1
                        continue
                    if holds is (expr[1] == "or"):
                        found.append(value)
                        break
                    continue
                found.append(value)
        finally:
            for _ in range(pushed):
                self._conditions.pop()
        if len(found) == 1:
            return found[0]
        if expr[1] == "and" and any(truth(item) is False for item in found):
            return Scalar(False, origins_of(found))
        return choice(found)

    def _compare(self, frame: Frame, expr: Expr) -> Value:
        left = self.eval(frame, expr[1])
        results: list[bool | None] = []
        values = [left]
        for operator, right_expr in expr[2]:
            right = self.eval(frame, right_expr)
            values.append(right)
            results.append(self._compared(frame, operator, left, right, expr))
            left = right
        spot = self.spot(frame, expr[3])
        for value in values:
            if not isinstance(value, (Mapping, Instance, Sequence)):
                self.use(value, spot)
        origins = origins_of(values)
        if False in results:
            return Scalar(False, origins)
        if None in results:
            return Unknown(origins)
        return Scalar(True, origins)

    def _compared(self, frame: Frame, operator: str, left: Value, right: Value, expr: Expr) -> bool | None:
        if operator in ("in", "not in"):
            found = self._contains(frame, right, left, expr)
            return found if found is None or operator == "in" else not found
        if operator in ("is", "is not"):
            if type(left) is Scalar and type(right) is Scalar and not left.optional:
                same_object = left.value is right.value or (
                    type(left.value) is type(right.value) and left.value == right.value
                )
                return same_object if operator == "is" else not same_object
            if (
                type(right) is Scalar
                and right.value is None
                and not isinstance(left, (Unknown, Choice, Method, Made, Scalar))
            ):
                return operator == "is not"
            return None
        found = python.compared(operator, left, right)
        if operator in ("==", "!="):
            for one, other in ((left, right), (right, left)):
                if (
                    type(one) is Scalar
                    and one.key is not None
                    and type(other) is Scalar
                    and other.key is None
                ):
                    one.key.compared.append((other.value, found is (operator == "==")))
        return found

    def _contains(self, frame: Frame, holder: Value, item: Value, expr: Expr) -> bool | None:
        inner = holder.entries if isinstance(holder, Instance) and holder.entries is not None else holder
        if isinstance(inner, Method) and isinstance(inner.owner, Mapping):
            inner = inner.owner
        name = constant_of(item)
        if isinstance(inner, Mapping):
            if name is None:
                self.walk(inner, self.spot(frame, expr[3]))
                return None
            found = inner.entries.get(name)
            if found is not None:
                return True
            if inner.open:
                return None
            if inner.sections:
                self.asked.append(
                    Asked(
                        inner.sections,
                        str(name),
                        GUARD,
                        self.spot(frame, expr[3]),
                        conditions=self.conditions,
                    )
                )
            return False
        if isinstance(inner, Sequence):
            known = [constant_of(part) for part in inner.items]
            if (
                type(item) is Scalar
                and item.key is not None
                and not inner.open
                and not any(part.origins for part in inner.items)
            ):
                item.key.compared += [(part, part == name) for part in known]
            if name is not None and name in [part for part in known if part is not None]:
                return True
            if name is None or inner.open or None in known:
                return None
            return False
        if isinstance(inner, Scalar) and isinstance(inner.value, str) and isinstance(name, str):
            return name in inner.value
        if isinstance(inner, Instance):
            method = self.class_member(inner.cls, "__contains__")
            if isinstance(method, FunctionObject):
                return truth(self.call(frame, method.bound(inner), (item,), {}, self.spot(frame, expr[3])))
        return None

    def _choice(self, frame: Frame, expr: Expr) -> Value:
        test = self.eval(frame, expr[1])
        spot = self.spot(frame, expr[4])
        self.use(test, spot)
        holds = self.holds(test, spot)
        if holds is True:
            return self.eval(frame, expr[2])
        if holds is False:
            return self.eval(frame, expr[3])
        shown = self.condition(text(expr[1], frame.scope), test)
        found = []
        for condition, part in ((shown, expr[2]), (f"not {shown}", expr[3])):
            self._conditions.append(condition)
            try:
                found.append(self.eval(frame, part))
            finally:
                self._conditions.pop()
        return choice(found)

    def _lambda(self, frame: Frame, expr: Expr) -> Value:
        return self._function(frame, frame.scope.module.summary.scopes[expr[1]])

    def _starred(self, frame: Frame, expr: Expr) -> Value:
        return self.eval(frame, expr[1])

    def _format(self, frame: Frame, expr: Expr) -> Value:
        values = [self.eval(frame, part) for part in expr[1]]
        parts: list[str | None] = []
        for piece in expr[4]:
            if isinstance(piece, str):
                parts.append(piece)
                continue
            number, written = piece
            value = values[number] if number < len(values) else UNKNOWN
            parts.append(python.formatted(value, written))
        return python.joined(parts, origins_of(values))

    def _slice(self, frame: Frame, expr: Expr) -> Value:
        origins = NOTHING
        for part in expr[1:]:
            if part is not None:
                origins = origins | self.eval(frame, part).origins
        return Unknown(origins)

    def _comprehension(self, frame: Frame, expr: Expr) -> Value:
        _, kind, parts, generators = expr
        names = Namespace(frame.scope, frame.names)
        inner = Frame(frame.scope, names, frame.way, frame.depth, frame.receiver, frame.owner)
        inner.caught = frame.caught
        results: list[tuple[Value, ...]] = []
        element = parts[-2:] if kind == "dict" else parts[-1:]
        complete = self._generate(inner, generators, 0, element, results)
        if kind == "dict":
            result = Mapping(open=not complete)
            place = frame.scope.place
            for name, value in results:
                constant = constant_of(name)
                if constant is None:
                    result.open = True
                    for item in held(value):
                        item_keys(item, lambda key: key.walks.append(self.spot(frame, place)))
                else:
                    result.entries[constant] = value
                    key = key_of(value)
                    if (
                        key is not None
                        and key.parent is not None
                        and key.name == str(constant)
                        and key.parent not in result.sections
                    ):
                        result.sections = (*result.sections, key.parent)
            return result
        return Sequence(
            [item for (item,) in results], open=not complete, kind="set" if kind == "set" else "list"
        )

    def _generate(
        self,
        frame: Frame,
        generators: tuple[tuple[Expr, Expr, tuple[Expr, ...]], ...],
        number: int,
        element: tuple[Expr, ...],
        results: list[tuple[Value, ...]],
    ) -> bool:
        """Run one `for` of a comprehension; return whether all its items are known."""
        if number == len(generators):
            results.append(tuple(self.eval(frame, part) for part in element))
            return True
        target, iterable_expr, conditions = generators[number]
        iterable = self.eval(frame, iterable_expr)
        spot = self.spot(frame, frame.scope.place)
        items = self.items_of(frame, iterable, spot)
        complete = items is not None and len(items) <= MAX_TURNS * 4
        if items is None or not complete:
            items = [self.item_of(iterable)]
        event = _NO_EVENT
        for item in items:
            self.assign(frame, target, item, event)
            holds: bool | None = True
            for condition in conditions:
                test = self.eval(frame, condition)
                self.use(test, spot)
                inner = self.holds(test, spot)
                if inner is False:
                    holds = False
                    break
                if inner is None:
                    holds = None
            if holds is False:
                continue
            if holds is None:
                complete = False
            complete = self._generate(frame, generators, number + 1, element, results) and complete
        return complete

    def _assigned(self, frame: Frame, expr: Expr) -> Value:
        value = self.eval(frame, expr[2])
        self._bind_name(frame, expr[1], value)
        return value

    def _yield(self, frame: Frame, expr: Expr) -> Value:
        frame.yielded.append(self.eval(frame, expr[1]))
        return UNKNOWN

    # Iteration

    def items_of(self, frame: Frame, value: Value, spot: Spot | None) -> list[Value] | None:
        """Return the items that iterating over a value gives, or None where they are not all known."""
        if isinstance(value, Sequence):
            if spot is not None:
                for item in value.items:
                    self.taken(item, spot)
            return None if value.open else list(value.items)
        if isinstance(value, Instance):
            if value.entries is not None:
                value = value.entries
            else:
                method = self.class_member(value.cls, "__iter__")
                if isinstance(method, FunctionObject) and spot is not None:
                    made = self.call(frame, method.bound(value), (), {}, spot)
                    return self.items_of(frame, made, spot) if made is not value else None
                return None
        if isinstance(value, Mapping):
            return None if value.open else [python.key_value(value, name) for name in value.entries]
        if isinstance(value, Scalar) and isinstance(value.value, str):
            return (
                [Scalar(letter, value.origins) for letter in value.value[:MAX_TURNS]]
                if len(value.value) <= MAX_TURNS
                else None
            )
        if isinstance(value, Made) and value.name == "builtins.range":
            return python.range_items(value)
        if spot is not None:
            self.use(value, spot)
        return None

    def item_of(self, value: Value) -> Value:
        """Return what stands for any item of what is iterated over."""
        if isinstance(value, Sequence) and value.items:
            return choice(value.items)
        return Unknown(value.origins)

    # Calls

    def _call(self, frame: Frame, expr: Expr) -> Value:
        call = frame.scope.calls[expr[1]]
        callee = self.eval(frame, call.func)
        args: list[Value] = []
        opaque = False
        for part in call.args:
            if part[0] == model.STARRED:
                inner = self.eval(frame, part[1])
                found = self.items_of(frame, inner, None)
                if found is None:
                    opaque = True
                    for item in held(inner):
                        item_keys(
                            item, lambda key: key.walks.append(self.spot(frame, call.place, call.block))
                        )
                else:
                    args.extend(found)
            else:
                args.append(self.eval(frame, part))
        keywords: dict[str, Value] = {}
        spread: Mapping | None = None
        for name, part in call.keywords:
            value = self.eval(frame, part)
            if name is not None:
                keywords[name] = value
                continue
            inner_value = (
                value.entries if isinstance(value, Instance) and value.entries is not None else value
            )
            if isinstance(inner_value, Mapping):
                spread = inner_value
                for key, item in inner_value.entries.items():
                    keywords[str(key)] = item
                opaque = opaque or inner_value.open
            else:
                opaque = True
        spot = self.spot(frame, call.place, call.block)
        callees = alternatives(callee)
        if len(callees) == 1:
            return self.call(frame, callee, tuple(args), keywords, spot, spread=spread, opaque=opaque)
        results = []
        for item in callees:
            shown = f"{text(call.func, frame.scope)} is {shown_callee(item)}"
            self.config_conditions.add(shown)
            self._conditions.append(shown)
            try:
                results.append(
                    self.call(frame, item, tuple(args), dict(keywords), spot, spread=spread, opaque=opaque)
                )
            finally:
                self._conditions.pop()
        return choice(results)

    def call(
        self,
        frame: Frame,
        callee: Value,
        args: tuple[Value, ...],
        keywords: dict[str, Value],
        spot: Spot,
        *,
        spread: Mapping | None = None,
        opaque: bool = False,
    ) -> Value:
        """Return what a call gives, doing what it does."""
        if isinstance(callee, FunctionObject):
            known = library.called(self, frame, callee, args, keywords, spot)
            if known is not None:
                return known
            return self.enter(frame, callee, args, keywords, spot, spread, opaque=opaque)
        if isinstance(callee, ClassObject):
            return self.construct(frame, callee, args, keywords, spot, spread, opaque=opaque)
        if isinstance(callee, External):
            return library.external(self, frame, callee.name, args, keywords, spot, spread, opaque=opaque)
        if isinstance(callee, Method):
            return self._method(frame, callee, args, keywords, spot, spread, opaque=opaque)
        if isinstance(callee, Instance):
            for name in ("__call__", "call"):
                method = self.class_member(callee.cls, name)
                if isinstance(method, FunctionObject):
                    return self.call(
                        frame, method.bound(callee), args, keywords, spot, spread=spread, opaque=opaque
                    )
            self.escape(frame, (*args, *keywords.values()), spot)
            return UNKNOWN
        if isinstance(callee, Made):
            if callee.name == "functools.partial" and callee.args:
                return self.call(
                    frame,
                    callee.args[0],
                    (*callee.args[1:], *args),
                    {**callee.keywords, **keywords},
                    spot,
                    spread=spread,
                    opaque=opaque,
                )
            return self.library_call(
                frame, f"{callee.name}.__call__", args, keywords, spot, spread, opaque=opaque
            )
        self.escape(frame, (*args, *keywords.values()), spot)
        return Unknown(origins_of((callee, *args, *keywords.values())))

    def _method(
        self,
        frame: Frame,
        method: Method,
        args: tuple[Value, ...],
        keywords: dict[str, Value],
        spot: Spot,
        spread: Mapping | None,
        *,
        opaque: bool,
    ) -> Value:
        owner = method.owner
        known = library.method(self, frame, owner, method.name, args, keywords, spot)
        if known is not None:
            return known
        known = python.method(self, frame, owner, method.name, args, keywords, spot)
        if known is not None:
            return known
        if isinstance(owner, Method):
            # `model.optimizer.assign(x)`, `tf.summary.writer.x.y()`
            base = owner.owner
            name = f"{owner.name}.{method.name}"
            prefix = base.name if isinstance(base, (Made, External)) else "?"
            return self.library_call(frame, f"{prefix}.{name}", args, keywords, spot, spread, opaque=opaque)
        if isinstance(owner, Made):
            return self.library_call(
                frame,
                f"{owner.name}.{method.name}",
                args,
                keywords,
                spot,
                spread,
                opaque=opaque,
                receiver=owner,
            )
        if isinstance(owner, Instance):
            outside = self.outside_bases(owner.cls)
            name = outside[0] if outside else "?"
            return self.library_call(
                frame, f"{name}.{method.name}", args, keywords, spot, spread, opaque=opaque, receiver=owner
            )
        self.use(owner, spot)
        if args:
            self.asked_of_unknown(owner, constant_of(args[0]))
        self.escape(frame, (*args, *keywords.values()), spot)
        return Unknown(origins_of((owner, *args, *keywords.values())))

    def library_call(
        self,
        frame: Frame,
        name: str,
        args: tuple[Value, ...],
        keywords: dict[str, Value],
        spot: Spot,
        spread: Mapping | None = None,
        *,
        opaque: bool = False,
        receiver: Value | None = None,
    ) -> Value:
        """Note a call of something outside the project, and return what it made."""
        if spread is not None or any(
            value.origins or key_of(value) is not None for value in (*args, *keywords.values())
        ):
            self.calls.append(LibraryCall(name, args, keywords, spot, spread, self.conditions, opaque))
        if spread is not None:
            for value in keywords.values():
                self.taken(value, spot)
        values = (*args, *keywords.values())
        if library.only_tells(name, receiver):
            for value in values:
                for item in held(value):
                    for key in keys_of(item):
                        key.logs.append(spot)
        else:
            for value in values:
                self.use(value, spot, deep=True)
            self.hand_over(frame, values)
        return Made(name, args, keywords, spot)

    def hand_over(self, frame: Frame, values: Iterable[Value]) -> None:
        """Note that a library gets functions and objects that it may call."""
        for value in values:
            for item in held(value, 3):
                if isinstance(item, (FunctionObject, Instance, ClassObject)):
                    self._waiting.append((item, frame))

    def _call_back(self, value: Value, frame: Frame) -> None:
        """Run what a library may call, with arguments that are not known."""
        if isinstance(value, FunctionObject):
            self._called_with_unknown(value, frame)
        elif isinstance(value, Instance):
            for cls in self.classes(value.cls):
                for name, member in list(cls.names.names.items()):
                    if isinstance(member, FunctionObject) and name != "__init__":
                        own = self.class_member(value.cls, name)
                        if own is member and "builtins.staticmethod" not in member.decorated:
                            of_class = "builtins.classmethod" in member.decorated
                            self._called_with_unknown(member.bound(value.cls if of_class else value), frame)

    def _called_with_unknown(self, function: FunctionObject, frame: Frame) -> None:
        key = (
            id(function.scope),
            id(function.receiver) if function.receiver is not None else id(function.names),
        )
        if key in self._called_back:
            return
        self._called_back.add(key)
        given = len(function.args) + (1 if function.receiver is not None else 0)
        plain = [name for name, _, _, kind in function.scope.params if kind == "plain"][given:]
        args = tuple(
            UNKNOWN for name in plain if name not in function.defaults and name not in function.keywords
        )
        self.enter(
            frame, function, args, {}, Spot(function.scope, function.scope.place, 0), None, opaque=True
        )

    # Entering functions

    def enter(
        self,
        frame: Frame,
        function: FunctionObject,
        args: tuple[Value, ...],
        keywords: dict[str, Value],
        spot: Spot,
        spread: Mapping | None,
        *,
        opaque: bool = False,
    ) -> Value:
        """Return what a function of the project gives."""
        scope = function.scope
        count = self._running.get(id(scope), 0)
        values = (*args, *keywords.values())
        times = self._times_entered[id(scope)] = self._times_entered.get(id(scope), 0) + 1
        if frame.depth >= MAX_DEPTH or count >= MAX_SAME or times > MAX_ENTERED:
            self.escape(frame, values, spot)
            return Unknown(origins_of(values))
        self.entered[id(scope)] = scope
        names = Namespace(scope, function.names)
        if function.receiver is not None:
            args = (function.receiver, *function.args, *args)
        else:
            args = (*function.args, *args)
        keywords = {**function.keywords, **keywords}
        if not self._bind(frame, function, names, args, keywords, spot, spread, opaque=opaque):
            return UNKNOWN
        owner = self._owner(function)
        inner = Frame(
            scope,
            names,
            (*spot.calls, (spot.scope, spot.place)) if len(spot.calls) < 12 else spot.calls,
            frame.depth + 1,
            function.receiver,
            owner,
        )
        inner.caught = list(frame.caught)
        self._running[id(scope)] = count + 1
        try:
            signal = self._suite(inner, scope.body)
        finally:
            self._running[id(scope)] = count
        if scope.generator:
            return Sequence(inner.yielded, open=True, kind="generator")
        if not inner.returned:
            return NONE if signal != RAISE else UNKNOWN
        result = choice(inner.returned)
        if signal == NORMAL and any(kind in ("if", "for", "while") for kind in (e.kind for e in scope.body)):
            return choice((result, NONE)) if len(inner.returned) and not _always_returns(scope) else result
        return result

    def _owner(self, function: FunctionObject) -> ClassObject | None:
        names = function.names
        if names is not None and names.scope.kind == "class":
            receiver = function.receiver
            cls = (
                receiver.cls
                if isinstance(receiver, Instance)
                else receiver
                if isinstance(receiver, ClassObject)
                else None
            )
            if cls is not None:
                for item in self.classes(cls):
                    if item.names is names:
                        return item
        return None

    def _bind(
        self,
        frame: Frame,
        function: FunctionObject,
        names: Namespace,
        args: tuple[Value, ...],
        keywords: dict[str, Value],
        spot: Spot,
        spread: Mapping | None,
        *,
        opaque: bool,
    ) -> bool:
        """Bind the parameters of a function; note what it does not take of a config's section."""
        del frame
        scope = function.scope
        plain = [name for name, _, _, kind in scope.params if kind == "plain"]
        only_named = [name for name, _, _, kind in scope.params if kind == "keyword"]
        star = next((name for name, _, _, kind in scope.params if kind == "*"), None)
        rest = next((name for name, _, _, kind in scope.params if kind == "**"), None)
        own = names.names
        for name, value in zip(plain, args, strict=False):
            own[name] = value
        if star is not None:
            own[star] = Sequence(list(args[len(plain) :]), open=opaque, kind="tuple")
        extra = Mapping(open=opaque and rest is not None)
        by = f"{scope.qualname}()"
        for name, value in keywords.items():
            if name in plain or name in only_named:
                own[name] = self.taken(value, spot) if spread is not None else value
                accepted = key_of(value) if spread is not None else None
                if accepted is not None:
                    accepted.accepted = True
            else:
                extra.entries[name] = value
                key = key_of(value)
                if (
                    rest is None
                    and spread is not None
                    and key is not None
                    and key.name == name
                    and not function.decorated
                ):
                    self.refuse("unknown-key", key, by, spot, "TypeError", (*plain, *only_named))
                elif key is not None and rest is not None and spread is not None and key.parent is not None:
                    extra.sections = tuple(dict.fromkeys((*extra.sections, key.parent)))
        if rest is not None:
            own[rest] = extra
        for name in (*plain, *only_named):
            if name in own:
                continue
            default = function.defaults.get(name)
            if default is not None:
                own[name] = default
                if spread is not None and spread.sections and not spread.open:
                    self.asked.append(
                        Asked(
                            spread.sections,
                            name,
                            DEFAULT,
                            Spot(scope, scope.place, 0, spot.calls),
                            default=default,
                            conditions=self.conditions,
                        )
                    )
                continue
            own[name] = UNKNOWN
            if spread is not None and spread.sections and not opaque and not function.decorated:
                self.refuse("missing-key", spread.sections[-1], by, spot, "TypeError", name=name)
        return True

    # Classes

    def classes(self, cls: ClassObject) -> Iterator[ClassObject]:
        """Yield a class and its bases of the project, nearest first."""
        seen: set[int] = set()
        pending = [cls]
        while pending:
            here = pending.pop(0)
            if id(here) in seen:
                continue
            seen.add(id(here))
            yield here
            pending = [
                *(
                    item
                    for base in here.bases
                    for item in alternatives(base)
                    if isinstance(item, ClassObject)
                ),
                *pending,
            ]

    def outside_bases(self, cls: ClassObject) -> list[str]:
        """Return the canonical names of a class's bases outside the project; `?` for one that is not known."""
        found: list[str] = []
        for here in self.classes(cls):
            for base in here.bases:
                for item in alternatives(base):
                    if isinstance(item, ClassObject):
                        continue
                    name = name_of(item)
                    if name == "builtins.object":
                        continue
                    found.append(name or "?")
        return found

    def class_member(self, cls: ClassObject, name: str) -> Value | None:
        """Return what a class or a base of the project defines under a name."""
        for here in self.classes(cls):
            found = here.names.names.get(name)
            if found is not None:
                return found
        return None

    def construct(
        self,
        frame: Frame,
        cls: ClassObject,
        args: tuple[Value, ...],
        keywords: dict[str, Value],
        spot: Spot,
        spread: Mapping | None = None,
        *,
        opaque: bool = False,
    ) -> Value:
        """Return a new object of a class of the project."""
        made = library.constructed(self, frame, cls, args, keywords, spot, spread, opaque=opaque)
        if made is not None:
            return made
        instance = Instance(cls)
        outside = self.outside_bases(cls)
        if any(name in library.DICT_CLASSES for name in outside):
            instance.entries = Mapping(access=EITHER)
            if not isinstance(self.class_member(cls, "__init__"), FunctionObject):
                for value in args:
                    self.update(frame, instance.entries, value, spot)
                for name, value in keywords.items():
                    instance.entries.entries[name] = value
                return instance
        elif outside:
            instance.open = True
        init = self.class_member(cls, "__init__")
        if isinstance(init, FunctionObject):
            self.enter(frame, init.bound(instance), args, keywords, spot, spread, opaque=opaque)
        elif outside:
            self.library_call(
                frame, outside[0], args, keywords, spot, spread, opaque=opaque, receiver=instance
            )
        if outside and instance.entries is None:
            self._waiting.append((instance, frame))
        return instance

    # What becomes of values

    def use(self, value: Value, spot: Spot, *, deep: bool = False) -> None:
        """Note that a value counts: what it was made from has an effect."""
        for key in value.origins:
            if len(key.uses) < 8:
                key.uses.append(spot)
        if deep and not isinstance(value, (Scalar, Unknown)):
            for item in held(value):
                for key in item.origins:
                    if len(key.uses) < 8:
                        key.uses.append(spot)
                if isinstance(item, (Mapping, Sequence)) and item.key is not None:
                    item.key.escapes.append(spot)

    def escape(self, frame: Frame, values: Iterable[Value], spot: Spot) -> None:
        """Note that values go to code that is not known."""
        values = tuple(values)
        for value in values:
            self.use(value, spot, deep=True)
        self.hand_over(frame, values)


PROPERTIES = frozenset({"builtins.property", "functools.cached_property", "werkzeug.utils.cached_property"})


def holds_sections(owner: Instance) -> bool:
    """Tell whether an object has all entries of a section of a config as its attributes, so that it stands for it."""
    taken: dict[ConfigKey, int] = {}
    for value in owner.attributes.values():
        key = key_of(value)
        if key is not None and key.parent is not None:
            taken[key.parent] = taken.get(key.parent, 0) + 1
    return any(0 < section.size <= taken.get(section, 0) for section in owner.sections)


def _from_another_file(value: Value, key: ConfigKey) -> bool:
    return any(
        other.source != key.source and not other.source.startswith("<") for other in all_origins(value)
    )


def _always_returns(scope: Scope) -> bool:
    return bool(scope.body) and scope.body[-1].kind in ("return", "raise")


def merged(ends: list[dict[str, Value]]) -> dict[str, Value]:
    """Return the names where several ways meet."""
    result = dict(ends[0])
    for other in ends[1:]:
        for name, value in other.items():
            mine = result.get(name)
            if mine is None:
                result[name] = value
            elif mine is not value:
                result[name] = choice((mine, value))
    return result


def constant_of(value: Value) -> Any:
    """Return the plain constant that a value is, or None; None itself gives None too."""
    if type(value) is Scalar and not isinstance(value.value, bytes):
        return value.value
    if isinstance(value, Sequence) and value.kind == "tuple" and not value.open:
        items = tuple(constant_of(item) for item in value.items)
        return None if None in items else items
    if isinstance(value, FilePath):
        return constant_of(value.text)
    return None


def key_of(value: Value) -> ConfigKey | None:
    """Return the config key whose value something is, unchanged."""
    if isinstance(value, (Scalar, Mapping, Sequence)):
        return value.key
    return None


def keys_of(value: Value) -> Iterator[ConfigKey]:
    """Yield the config keys that a value is or comes from."""
    key = key_of(value)
    if key is not None:
        yield key
    for item in value.origins:
        if item is not key:
            yield item


def item_keys(value: Value, note: Callable[[ConfigKey], None]) -> None:
    """Call a function with each config key that a value is or comes from."""
    for key in keys_of(value):
        note(key)


def all_origins(value: Value) -> set[ConfigKey]:
    """Return the config keys that a value and what it holds are or come from."""
    return {key for item in held(value, 4) for key in keys_of(item)}


def shown_callee(value: Value) -> str:
    """Return what is called, as a reader knows it."""
    if isinstance(value, (FunctionObject, ClassObject)):
        return value.scope.name
    return name_of(value) or "another one"


def name_of(value: Value) -> str:
    """Return the dotted name of something outside the project; empty for anything else."""
    if isinstance(value, (External, Made)):
        return value.name
    if isinstance(value, Method) and isinstance(value.owner, (External, Made)):
        return f"{value.owner.name}.{value.name}"
    return ""


def fold_name(name: str) -> str:
    """Return the canonical form of a dotted name."""
    if name in ("tensorflow.keras", "tf_keras"):
        return "keras"
    return fold(name)


def caught_by(test: Expr | None) -> Iterator[str]:
    """Yield the names of the exceptions that a handler is for; `*` for all."""
    if test is None:
        yield "*"
        return
    parts = test[2] if test[0] == model.ITEMS else (test,)
    for part in parts:
        found = dotted(part)
        if found is not None:
            yield found.rpartition(".")[2]


def partial_pattern(value: PartialText) -> Callable[[str], bool]:
    """Return what tells whether a text may be one of which parts are known."""
    import re

    pattern = re.compile(
        "".join(".*" if part is None else re.escape(part) for part in value.parts), re.DOTALL
    )
    return lambda item: pattern.fullmatch(item) is not None


_NO_EVENT = Event("assign", 0, (1, 0, 1, 0))

# The tables are part of the class: they name its methods by what each one runs.
# ruff: noqa: SLF001
_STATEMENTS: dict[str, Callable[[Interpreter, Frame, Event], int]] = {
    "expr": Interpreter._expression,
    "yield": Interpreter._expression,
    "assign": Interpreter._assign_event,
    "annotate": Interpreter._annotate,
    "augment": Interpreter._augment,
    "return": Interpreter._return,
    "raise": Interpreter._raise,
    "assert": Interpreter._assert,
    "delete": Interpreter._delete,
    "break": Interpreter._break,
    "continue": Interpreter._break,
    "if": Interpreter._if,
    "match": Interpreter._match,
    "for": Interpreter._for,
    "while": Interpreter._while,
    "with": Interpreter._with,
    "try": Interpreter._try,
    "define": Interpreter._define,
    "import": Interpreter._import,
}
_EXPRESSIONS: dict[str, Callable[[Interpreter, Frame, Expr], Value]] = {
    model.NAME: Interpreter._name,
    model.CONSTANT: Interpreter._constant,
    model.ATTRIBUTE: Interpreter._attribute,
    model.SUBSCRIPT: Interpreter._subscript,
    model.CALL: Interpreter._call,
    model.BINARY: Interpreter._binary,
    model.UNARY: Interpreter._unary,
    model.BOOLEAN: Interpreter._boolean,
    model.COMPARE: Interpreter._compare,
    model.CHOICE: Interpreter._choice,
    model.ITEMS: Interpreter._items,
    model.MAPPING: Interpreter._mapping,
    model.LAMBDA: Interpreter._lambda,
    model.STARRED: Interpreter._starred,
    model.FORMAT: Interpreter._format,
    model.SLICE: Interpreter._slice,
    model.COMPREHENSION: Interpreter._comprehension,
    model.ASSIGNED: Interpreter._assigned,
    model.YIELD: Interpreter._yield,
}
