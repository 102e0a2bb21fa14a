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
    """A library call with its arguments by parameter name.

    Attributes:
        callable: The public name of what is called: `keras.Model.fit`, `tensorflow.data.Dataset.batch`, `keras.optimizers.Adam`;
            setting an attribute is a call of the object's class.
        arguments: What is given, by parameter; arguments by position of what has no known signature are `0`, `1` and so on.
        signature: The signature of the callable, or None where the table does not have it.
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
        """The place of the call."""
        return self.call.spot

    @property
    def conditions(self) -> tuple[str, ...]:
        """The unknown conditions under which the run reaches the call."""
        return self.call.conditions

    @property
    def entries(self) -> Mapping | None:
        """The mapping that gives the named arguments: a `**` mapping or a description.

        None where the arguments are written out.
        """
        return self.described if self.described is not None else self.call.spread


@dataclass(frozen=True, slots=True)
class Sink:
    """A parameter of a library call that a config value reaches.

    Attributes:
        bound: The call.
        parameter: The name of the parameter.
        value: The value that it gets.
        keys: The config keys that the value is made from, at least one.
    """

    bound: BoundCall
    parameter: str
    value: Value
    keys: tuple[ConfigKey, ...]

    @property
    def callable(self) -> str:
        """The public name of the callable."""
        return self.bound.callable

    @property
    def values(self) -> tuple[Value, ...]:
        """The values that the parameter may get; several where unknown conditions decide."""
        return alternatives(self.value)

    @property
    def spot(self) -> Spot:
        """The place of the call."""
        return self.bound.call.spot

    @property
    def conditions(self) -> tuple[str, ...]:
        """The unknown conditions under which the run reaches the call."""
        return self.bound.call.conditions

    @property
    def result(self) -> RunResult:
        """The run with the call."""
        return self.bound.result

    def unchanged(self, value: Value) -> ConfigKey | None:
        """Return the key whose value arrives unchanged as one of `values`.

        None where the value was computed.
        """
        key = value.key if isinstance(value, (Scalar, Sequence, Mapping)) else None
        return key if key in self.keys else None


class Sinks:
    """Finds the sinks in a project's runs, each once.

    Args:
        project: The runs.
    """

    def __init__(self, project: ProjectRuns) -> None:
        self.api: Api = api(project.program)
        self.objects: Objects = load()
        self._bound: dict[int, list[BoundCall]] = {}

    def calls(self, result: RunResult) -> list[BoundCall]:
        """Return the calls of TensorFlow and Keras in a run, in order.

        Objects that a mapping describes count as calls.
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
                keys = tuple(key for key in _keys_of_value(value) if key.source in sources)
                if keys:
                    yield Sink(bound, parameter, value, keys)

    def _of_call(self, call: LibraryCall, result: RunResult) -> Iterator[BoundCall]:
        name = call.name
        if name == "builtins.getattr" and len(call.args) == 2:
            for module in alternatives(call.args[0]):
                if isinstance(module, External):
                    yield BoundCall(module.name, {NAMED: call.args[1]}, None, call, result)
            return
        if name in _OF_NUMPY:
            given = zip(_OF_NUMPY[name], call.args, strict=False)
            yield BoundCall(name, {**dict(given), **call.keywords}, None, call, result)
            return
        if not name.startswith(("keras.", "tensorflow.", "tensorflow_datasets.")):
            return
        if name.endswith("="):
            owner, _, attribute = name[:-1].rpartition(".")
            cls, way = self._owner_of_attribute(owner)
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
        positional = call.args
        if (
            call.receiver is None
            and name.rpartition(".")[2] in _OF_MODELS
            and name.split(".")[-2][:1].isupper()
        ):
            # `Model.fit(model, x, y)`: the model comes first.
            positional = positional[1:]
        arguments = {
            order[number] if number < len(order) else str(number): value
            for number, value in enumerate(positional)
        }
        arguments.update(call.keywords)
        yield BoundCall(name, arguments, signature, call, result)
        for value in arguments.values():
            yield from self._objects_described(value, name, call, result, MAX_DEPTH)

    def _owner_of_attribute(self, name: str) -> tuple[str, str]:
        """Return the class of an object whose attribute is set, and the attribute path.

        The path is empty, or a prefix such as `threading.` for dataset options.
        """
        parts = name.split(".")
        for end in range(len(parts), 1, -1):
            family = self.objects.class_of(".".join(parts[:end]))
            if family is not None:
                return family, "".join(f"{part}." for part in parts[end:])
        return name, ""

    def _objects_described(
        self, value: Value, name: str, call: LibraryCall, result: RunResult, depth: int
    ) -> Iterator[BoundCall]:
        """Yield the objects that Keras makes of class names and arguments in a value."""
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
        """Return the signature of the Keras class that a word names; None for none.

        The module of the call is searched first.
        """
        module = name.rpartition(".")[0]
        modules = [module, *(known for known in MODULES if known != module)]
        found = (self.api.constructor(f"{known}.{word}") for known in modules)
        known = next((signature for signature in found if signature is not None), None)
        if known is None and module == _OPTIMIZERS:
            same = (item for item in self.api.names(module) if item.lower() == word.lower())
            return next(
                (made for item in same if (made := self.api.constructor(f"{module}.{item}")) is not None),
                None,
            )
        return known


_OPTIMIZERS = "keras.optimizers"
"""Where Keras knows the classes in letters of any size."""
_OF_NUMPY = dict.fromkeys(
    ("numpy.quantile", "numpy.nanquantile", "numpy.percentile", "numpy.nanpercentile"), ("a", "q")
)
"""Functions of NumPy that refuse some values, with their first parameters."""
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


def _keys_of_value(value: Value) -> list[ConfigKey]:
    """Return the config keys of a value and of its parts, each once."""
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
