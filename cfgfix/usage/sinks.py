"""Where config values end: the parameters of library calls that they reach in a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Mapping as Table

from cfgfix.code.inference.interpreter.events import LibraryCall
from cfgfix.code.inference.interpreter.objects import (
    Choice,
    ConfigKey,
    External,
    Mapping,
    Scalar,
    Sequence,
    Spot,
    Value,
)
from cfgfix.code.inference.interpreter.values import alternatives
from cfgfix.code.inference.references import api
from cfgfix.code.tensorflow.api import Api, Signature
from cfgfix.code.tensorflow.objects import Objects, load
from cfgfix.core.records import dataclass
from cfgfix.usage.program_runs import ProjectRuns
from cfgfix.usage.run_results import RunResult

NAMED = "<name>"
"""The parameter of a module that a text looks up a class or function in: `getattr(tf.keras.optimizers, name)`."""
MAX_DEPTH = 4
"""How deep objects that are described by a class name with its arguments are followed into each other."""
MADE_FROM = "from_config"
"""The method by which Keras makes an object of a class from its arguments."""
DESCRIBED = ("class_name", "config")
"""The keys by which Keras describes an object."""


@dataclass(frozen=True, slots=True)
class BoundCall:
    """A call of a library whose arguments have the names of their parameters.

    Attributes:
        callable: The public name of what is called: `keras.Model.fit`, `tensorflow.data.Dataset.batch`, `keras.optimizers.Adam`;
            setting an attribute is a call of the object's class.
        arguments: What is given, by parameter; arguments by position of what has no known signature are `0`, `1` and so on.
        signature: What it takes, or None where the table does not have it.
        call: The call as the run has it.
        result: The run.
        described: The mapping that describes the object, where it is made from a class name with its arguments.
        sets: Whether it is an attribute that is set.
    """

    callable: str
    arguments: Table[str, Value]
    signature: Signature | None
    call: LibraryCall
    result: RunResult
    described: Mapping | None = None
    sets: bool = False

    @property
    def spot(self) -> Spot:
        """Where the call stands."""
        return self.call.spot

    @property
    def conditions(self) -> tuple[str, ...]:
        """What must hold for the run to come to the call, where that is not known."""
        return self.call.conditions

    @property
    def entries(self) -> Mapping | None:
        """The mapping whose entries are the named arguments of the call.

        It is that of `**mapping`, or of a description; None for written arguments.
        """
        return self.described if self.described is not None else self.call.spread


@dataclass(frozen=True, slots=True)
class Sink:
    """A parameter of a library call that a config value reaches.

    Attributes:
        bound: The call.
        parameter: The name of the parameter.
        value: What it is given.
        keys: The config keys that the value is made from, at least one.
    """

    bound: BoundCall
    parameter: str
    value: Value
    keys: tuple[ConfigKey, ...]

    @property
    def callable(self) -> str:
        """The public name of what is called."""
        return self.bound.callable

    @property
    def values(self) -> tuple[Value, ...]:
        """What it may be given: several where the way through the code decides."""
        return alternatives(self.value)

    @property
    def spot(self) -> Spot:
        """Where the call stands."""
        return self.bound.call.spot

    @property
    def conditions(self) -> tuple[str, ...]:
        """What must hold for the run to come to the call, where that is not known."""
        return self.bound.call.conditions

    @property
    def result(self) -> RunResult:
        """The run."""
        return self.bound.result

    def unchanged(self, value: Value) -> ConfigKey | None:
        """Return the key whose value one of `values` is, as the file has it.

        None where the value was computed.
        """
        key = value.key if isinstance(value, (Scalar, Sequence, Mapping)) else None
        return key if key in self.keys else None


class Sinks:
    """The sinks of a project's runs, each found once.

    Args:
        project: The runs.
    """

    def __init__(self, project: ProjectRuns) -> None:
        self.api: Api = api(project.program)
        self.objects: Objects = load()
        self._bound: dict[int, list[BoundCall]] = {}

    def calls(self, result: RunResult) -> list[BoundCall]:
        """Return the calls of TensorFlow and Keras that a run makes, in its order.

        The objects that they describe count as calls.
        """
        found = self._bound.get(id(result))
        if found is None:
            found = self._bound[id(result)] = [
                bound for call in result.run.calls for bound in self._of_call(call, result)
            ]
        return found

    def sinks_of(self, result: RunResult, path: str | None = None) -> Iterator[Sink]:
        """Yield the sinks of a run.

        Args:
            result: The run.
            path: The config whose values are asked for; None for all.
        """
        sources = result.opened.keys() if path is None else {path}
        for bound in self.calls(result):
            for parameter, value in bound.arguments.items():
                keys = tuple(key for key in _keys(value) if key.source in sources)
                if keys:
                    yield Sink(bound, parameter, value, keys)

    def _of_call(self, call: LibraryCall, result: RunResult) -> Iterator[BoundCall]:
        name = call.name
        if name == "builtins.getattr" and len(call.args) == 2:
            for module in alternatives(call.args[0]):
                if isinstance(module, External):
                    yield BoundCall(module.name, {NAMED: call.args[1]}, None, call, result)
            return
        if not name.startswith(("keras.", "tensorflow.", "tensorflow_datasets.")):
            return
        if name.endswith("="):
            owner, _, attribute = name[:-1].rpartition(".")
            cls, way = self._owner(owner)
            yield BoundCall(cls, {way + attribute: call.args[0]}, None, call, result, sets=True)
            return
        owner, _, method = name.rpartition(".")
        described = call.args[0] if len(call.args) == 1 else None
        if method == MADE_FROM and isinstance(described, Mapping):
            arguments = {str(key): entry for key, entry in described.entries.items()}
            yield BoundCall(owner, arguments, self.api.constructor(owner), call, result, described)
            return
        name = self.objects.canonical(name)
        signature = self.api.constructor(name)
        order = self.api.order(name) if call.args else ()
        given = call.args
        if (
            call.receiver is None
            and name.rpartition(".")[2] in _OF_MODELS
            and name.split(".")[-2][:1].isupper()
        ):
            # `Model.fit(model, x, y)`: the model comes first.
            given = given[1:]
        arguments = {
            order[number] if number < len(order) else str(number): value for number, value in enumerate(given)
        }
        arguments.update(call.keywords)
        yield BoundCall(name, arguments, signature, call, result)
        for value in arguments.values():
            yield from self._objects_described(value, name, call, result, MAX_DEPTH)

    def _owner(self, name: str) -> tuple[str, str]:
        """Return the class of an object whose attribute is set, and the way to the attribute: `threading.` of options."""
        parts = name.split(".")
        for end in range(len(parts), 1, -1):
            family = self.objects.class_of(".".join(parts[:end]))
            if family is not None:
                return family, "".join(f"{part}." for part in parts[end:])
        return name, ""

    def _objects_described(
        self, value: Value, name: str, call: LibraryCall, result: RunResult, depth: int
    ) -> Iterator[BoundCall]:
        """Yield the objects that Keras makes from a class name with its arguments in what a call is given."""
        for item in alternatives(value):
            if isinstance(item, Sequence) and depth:
                for inner in item.items:
                    yield from self._objects_described(inner, name, call, result, depth - 1)
            if not isinstance(item, Mapping) or not depth:
                continue
            wanted, given = (item.entries.get(key) for key in DESCRIBED)
            word = wanted.value if isinstance(wanted, Scalar) else None
            arguments = (
                {str(key): entry for key, entry in given.entries.items()}
                if isinstance(given, Mapping)
                else {}
            )
            if isinstance(word, str) and (given is None or isinstance(given, Mapping)):
                signature = self._class_named(word, name)
                if signature is not None:
                    yield BoundCall(signature.name, arguments, signature, call, result, given)
            for entry in (arguments or item.entries).values():
                yield from self._objects_described(entry, name, call, result, depth - 1)

    def _class_named(self, word: str, name: str) -> Signature | None:
        """Return the class of Keras that a text names where a function of a module, or the parameter of another, takes it."""
        module = name.rpartition(".")[0]
        modules = [module, *(known for known in MODULES if known != module)]
        found = (self.api.constructor(f"{known}.{word}") for known in modules)
        return next((signature for signature in found if signature is not None), None)


_OF_MODELS = frozenset({"compile", "evaluate", "fit", "predict"})
"""Methods of models that a program may call by their class."""
MODULES = (
    "keras.optimizers",
    "keras.optimizers.schedules",
    "keras.layers",
    "keras.initializers",
    "keras.regularizers",
    "keras.constraints",
    "keras.losses",
    "keras.metrics",
)
"""Where the classes are that a description may name."""


def _keys(value: Value) -> list[ConfigKey]:
    """Return the config keys that a value, or what lies in it, is made from, in order and each once."""
    found: dict[ConfigKey, None] = {}
    pending = [(value, MAX_DEPTH)]
    while pending:
        item, left = pending.pop()
        own = item.key if isinstance(item, (Scalar, Sequence, Mapping)) else None
        if own is not None:
            found.setdefault(own)
        for key in sorted(item.origins, key=lambda key: (key.source, [str(step) for step in key.path])):
            found.setdefault(key)
        inner: Iterable[Value] = ()
        if isinstance(item, Mapping):
            inner = item.entries.values()
        elif isinstance(item, Sequence):
            inner = item.items
        elif isinstance(item, Choice):
            inner = item.values
        if left:
            pending += [(value, left - 1) for value in inner]
    return list(found)
