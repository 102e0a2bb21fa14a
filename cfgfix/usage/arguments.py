"""What TensorFlow refuses of the arguments that a config gives: names, texts, types and ranges, each with its proof."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from cfgfix.code.inference.custom_objects import refusals
from cfgfix.code.inference.eras import (
    is_for_other_releases,
    severity_by_keras_releases,
    severity_by_releases,
    written_for_one,
)
from cfgfix.code.inference.guards import expects_absence
from cfgfix.code.inference.interpreter.command_line import OPTIONS
from cfgfix.code.inference.interpreter.decisions import SAYS_NO
from cfgfix.code.inference.interpreter.objects import ConfigKey, Mapping, Scalar, Sequence, Value
from cfgfix.code.inference.references import is_keras_2
from cfgfix.code.inference.releases import keras_of_release, refused_by_three
from cfgfix.code.model.nodes import Binary
from cfgfix.code.tensorflow.contradictions import contradictions
from cfgfix.code.tensorflow.parameter_facts import FactTable
from cfgfix.code.tensorflow.refusals import Refusals, nearest_word
from cfgfix.code.tensorflow.values import Parameter
from cfgfix.core.records import dataclass, replace
from cfgfix.usage.config_files import KeyPath
from cfgfix.usage.program_runs import ProjectRuns
from cfgfix.usage.run_results import RunResult
from cfgfix.usage.sinks import DESCRIBED, NAMED, BoundCall, Sinks

MISSPELT, UNKNOWN, IGNORED, WORD, VALUE, TOGETHER, CLASSES, TRUTH, LACKING = (
    "misspelt",
    "unknown",
    "ignored",
    "word",
    "value",
    "together",
    "classes",
    "truth",
    "lacking",
)
"""What is wrong with an argument: its name is near to a parameter, or none; it is forgotten; its text is not known; its value is refused; it contradicts
another one; it names classes by texts; its text says no and counts as true; it must be given and is not, the key is the section then."""
TARGET = "_target_"
"""The key by which Hydra's `instantiate` finds what it calls."""
_ERROR, _WARNING = "error", "warning"


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault in an argument that a config gives to a TensorFlow call.

    Attributes:
        kind: What is wrong.
        key: The config key that holds the cause.
        bound: The call.
        parameter: The parameter.
        value: The value that the call gets.
        computed: Whether the code computed the value from the key's.
        meant: The name or text that is most likely meant; empty where none is near.
        error: The effect: the name of the exception, or in words what a release does.
        takes: What the parameter takes, in words.
        severity: `error` or less.
        number: Which numbers the parameter takes: `integer`, `float`, `number` or none.
    """

    kind: str
    key: ConfigKey
    bound: BoundCall
    parameter: str
    value: Value
    computed: bool
    meant: str
    error: str
    takes: str
    severity: str
    number: str = ""

    @property
    def by(self) -> str:
        """The call in words: `Dense(units=...)`."""
        if self.parameter == self.bound.callable or not self.bound.arguments.keys() - {NAMED}:
            return f"{self.parameter}"
        name = self.bound.callable.rpartition(".")[2]
        return f"{name}({self.parameter}=...)"


class Arguments:
    """What is wrong with the arguments of a project's runs.

    Args:
        project: The runs.
        sinks: The sinks of these runs.
    """

    def __init__(self, project: ProjectRuns, sinks: Sinks) -> None:
        self.program = project.program
        self.sinks = sinks
        self.api = sinks.api
        self.refusals: Refusals = refusals(project.program)
        self._facts = FactTable()

    def faults_in(self, result: RunResult, path: str, floats: frozenset[KeyPath]) -> Iterator[Fault]:
        """Yield the faults of the arguments that a config gives in a run.

        Args:
            result: The run.
            path: The config, or `OPTIONS` for the defaults of the command line.
            floats: The key paths of floats in the config: other floats are computed by the code.
        """
        if self.api.silent:
            return
        for bound in self.sinks.calls(result):
            found = (
                [*self._attribute_faults(bound, path)]
                if bound.sets
                else [
                    *self._name_faults(bound, path),
                    *self._lacking_faults(bound, path),
                    *self._value_faults(bound, path, floats),
                    *self._looked_up(bound, result, path),
                    *self._keys_wrong_together(bound, path),
                    *_class_weight_faults(bound, path),
                ]
            )
            if found and self._do_faults_count(bound):
                yield from found

    def _do_faults_count(self, bound: BoundCall) -> bool:
        """Tell whether faults of a call count in the releases that the project admits.

        They do not where the code expects the call to raise.
        """
        spot, scope = bound.spot, bound.spot.scope
        if bound.callable.startswith("keras.") and (
            is_keras_2(self.program) or not keras_of_release(self.program, scope)
        ):
            return False
        return not (
            expects_absence(scope, spot.block, spot.place)
            or written_for_one(self.program, scope)
            or is_for_other_releases(self.program, scope.module)
        )

    def _grade_by_releases(self, name: str) -> str | None:
        """Return the severity of a fault that only some releases have.

        None where the project does not say which release is meant.
        """
        return (severity_by_keras_releases if name.startswith("keras.") else severity_by_releases)(
            self.api, _WARNING
        )

    # Names

    def _name_faults(self, bound: BoundCall, path: str) -> Iterator[Fault]:
        """Yield faults of named arguments that a callable refuses or ignores."""
        given = bound.entries
        if bound.signature is None or given is None:
            return
        written = {
            name: key
            for name in bound.arguments
            if (entry := given.entries.get(name)) is not None
            and (key := _key_of(entry)) is not None
            and key.source == path
            and key.name == name
            and key.parent in given.sections
        }
        if not written:
            return
        table, name = self.api, bound.callable
        for item in table.unknown_arguments(name, bound.arguments):
            key = written.get(item.argument)
            if key is None:
                continue
            mask = item.mask | table.takes_any_keyword_in(name)
            known = table.requirement.known and not mask & table.admitted
            slip = not mask
            yield Fault(
                MISSPELT if item.meant else UNKNOWN,
                key,
                bound,
                item.argument,
                bound.arguments[item.argument],
                False,
                item.meant or "",
                "the call raises" if not mask else f"TensorFlow {table.without(mask)} refuses it",
                "",
                _ERROR if slip or known else self._grade_by_releases(name) or _ERROR,
            )
        for argument, key in written.items():
            if bound.signature.ignores(argument, table.newest):
                yield Fault(
                    IGNORED,
                    key,
                    bound,
                    argument,
                    bound.arguments[argument],
                    False,
                    "",
                    f"TensorFlow {table.versions[table.newest.bit_length() - 1]} passes over it",
                    "",
                    _WARNING,
                )

    def _lacking_faults(self, bound: BoundCall, path: str) -> Iterator[Fault]:
        """Yield faults of required arguments that the config section lacks."""
        given = bound.entries
        if bound.signature is None or given is None or given.open or given.unsure or bound.conditions:
            return
        if bound.call.opaque and bound.described is None:
            return
        section = next((key for key in reversed(given.sections) if key.source == path), None)
        if section is None:
            return
        table, name = self.api, bound.callable
        names = [key for key in bound.arguments if not key.isdecimal()]
        if len(names) != len(bound.arguments) or table.unknown_arguments(name, names):
            # A misspelt name may be meant for the one that is lacking.
            return
        every = table.lacking(name, table.admitted, 0, names)
        for argument in table.lacking(name, table.newest, 0, names):
            yield Fault(
                LACKING,
                section,
                bound,
                argument,
                given,
                False,
                "",
                "TypeError",
                "",
                _ERROR if argument in every else self._grade_by_releases(name) or _ERROR,
            )

    def _attribute_faults(self, bound: BoundCall, path: str) -> Iterator[Fault]:
        """Yield faults of attributes that the options of a dataset do not have, and of a rate that is no number."""
        table = self.api
        if bound.callable.startswith("keras.optimizers."):
            yield from self._rate(bound, path)
        for whole, value in bound.arguments.items():
            way, _, name = whole.rpartition(".")
            owner = _PARTS.get(way) if bound.callable == _PARTS[""] else None
            key = _key_of(value)
            if owner is None or key is None or key.source != path or key.name != name:
                continue
            mask = table.member(owner, name)
            if mask is None or mask & table.newest:
                continue
            meant = "" if mask else nearest_word(name, sorted(table.members(owner)))
            known = table.requirement.known and not mask & table.admitted
            yield Fault(
                MISSPELT if meant else UNKNOWN,
                key,
                bound,
                name,
                value,
                False,
                meant,
                "AttributeError" if not mask else f"TensorFlow {table.without(mask)} does not have it",
                "",
                _ERROR if not mask or known else self._grade_by_releases(bound.callable) or _ERROR,
            )

    def _rate(self, bound: BoundCall, path: str) -> Iterator[Fault]:
        """Yield the fault of a text that the learning rate of an optimizer is set to."""
        value = bound.arguments.get("learning_rate")
        if not isinstance(value, Scalar) or not isinstance(value.value, str) or value.optional:
            return
        if value.key is not None and value.key.source == path:
            setting = replace(bound, callable="keras.optimizers.Optimizer")
            yield Fault(
                VALUE,
                value.key,
                setting,
                "learning_rate",
                value,
                False,
                "",
                "TypeError",
                "a number",
                _ERROR,
                "float",
            )

    # Classes

    def _looked_up(self, bound: BoundCall, result: RunResult, path: str) -> Iterator[Fault]:
        """Yield the fault of a class or function name that TensorFlow does not have."""
        named = bound.arguments.get(NAMED)
        if isinstance(named, Scalar) and isinstance(named.value, str):
            package, word, key = bound.callable, named.value, named.key
        elif bound.signature is None and bound.entries is not None and bound.entries.key is not None:
            package, _, word = bound.callable.rpartition(".")
            opened = result.opened.get(path)
            key = opened.keys.get((*bound.entries.key.path, TARGET)) if opened is not None else None
            if bound.entries.key.source != path:
                return
        else:
            return
        if key is None or key.source != path or bound.conditions:
            return
        whole = f"{package}.{word}" if package.startswith("tensorflow") else f"tensorflow.{package}.{word}"
        there = self.api.presence(whole)
        if there is None or there.rest or there.mask & self.api.newest or not there.name.endswith(f".{word}"):
            return
        mask = there.mask | there.old
        meant = "" if mask else nearest_word(word, sorted(self.api.names(package)))
        if key.name == TARGET and meant:
            meant = f"{package}.{meant}"
        yield Fault(
            WORD,
            key,
            bound,
            package,
            named or Scalar(word),
            False,
            meant,
            f"TensorFlow {self.api.without(mask)} does not have it" if mask else "AttributeError",
            "",
            _ERROR if not mask else self._grade_by_releases(f"{package}.") or _ERROR,
        )

    # Values

    def _value_faults(self, bound: BoundCall, path: str, floats: frozenset[KeyPath]) -> Iterator[Fault]:
        """Yield faults of values from the config that a parameter does not take."""
        for name, value in bound.arguments.items():
            parameter = self.refusals.parameter(bound.callable, name)
            yield from self._class_name(bound, name, value, parameter, path)
            if parameter is None:
                fault = self._truth_fault(bound, name, value, _key_of(value))
                if fault is not None and fault.key.source == path:
                    yield fault
                continue
            if parameter.beside and not any(other in bound.arguments for other in parameter.beside):
                continue
            for item in _plain_values(value, nested=bool(parameter.kind)):
                fault = self._value_fault(bound, parameter, item, path, floats)
                if fault is not None:
                    yield fault

    def _value_fault(
        self, bound: BoundCall, parameter: Parameter, item: Scalar, path: str, floats: frozenset[KeyPath]
    ) -> Fault | None:
        key = item.key if item.key is not None and item.key.source == path else None
        origins = [origin for origin in item.origins if origin.source == path]
        if (item.optional and path != OPTIONS) or (key is None and not origins):
            return None
        refusal = self.refusals.refusal_of(parameter, item.value)
        if refusal is None:
            return self._truth_fault(bound, parameter.name, item, key)
        computed = key is None
        if computed:
            origins.sort(key=lambda origin: (origin.path not in floats, [str(step) for step in origin.path]))
            if (
                refusal.kind.startswith("float")
                and origins[0].path not in floats
                and self._divides_argument(bound, parameter.name)
            ):
                # A division in the call itself is told in the code, whatever the config says.
                return None
        return Fault(
            WORD if refusal.is_word else VALUE,
            key or origins[0],
            bound,
            parameter.name,
            item,
            computed,
            refusal.meant,
            refusal.error,
            refusal.takes,
            _ERROR if refusal.always else self._grade_by_releases(bound.callable) or _ERROR,
            refusal.number,
        )

    def _truth_fault(self, bound: BoundCall, name: str, value: Value, key: ConfigKey | None) -> Fault | None:
        """Return the fault of a text such as `no` for a bool: any text is true.

        None for any other value.
        """
        if (
            key is None
            or not isinstance(value, Scalar)
            or value.optional
            or not isinstance(value.value, str)
            or value.value.lower() not in SAYS_NO
            or type(self._facts.default(bound.callable, name, self.api.newest)) is not bool
        ):
            return None
        return Fault(TRUTH, key, bound, name, value, False, "", "", "", _ERROR)

    def _keys_wrong_together(self, bound: BoundCall, path: str) -> Iterator[Fault]:
        """Yield faults of arguments that contradict other arguments of the call."""
        known = {
            name: plain
            for name, value in bound.arguments.items()
            if (plain := _plain_value(value)) is not _UNKNOWN
        }
        opaque = (bound.call.opaque and bound.described is None) or bool(
            # A misspelt name may be meant for the one that is lacking.
            self.api.unknown_arguments(bound.callable, bound.arguments)
        )
        unknown = bound.arguments.keys() - known.keys()
        for found in contradictions(bound.callable, known, unknown, opaque=opaque):
            for name in found.at:
                value = bound.arguments.get(name)
                key = _key_of(value) if value is not None else None
                if key is None and type(value) is Scalar and len(value.origins) == 1:
                    # A text of an INI file as the number that it is made.
                    (key,) = value.origins
                if value is None or key is None or key.source != path:
                    continue
                raises = f": {found.error}" if found.error else ""
                severity = found.severity
                if found.three:
                    refused = refused_by_three(self.program, bound.spot.scope)
                    if refused is None:
                        continue
                    severity = refused[0] or severity
                yield Fault(
                    TOGETHER, key, bound, name, value, False, "", f"{found.says}{raises}", "", severity
                )
                break

    def _class_name(
        self, bound: BoundCall, name: str, value: Value, parameter: Parameter | None, path: str
    ) -> Iterator[Fault]:
        """Yield the fault of a described object whose class Keras does not have."""
        word = value.entries.get(DESCRIBED[0]) if isinstance(value, Mapping) else None
        key = word.key if isinstance(word, Scalar) and isinstance(word.value, str) else None
        if key is None or key.source != path or not isinstance(word, Scalar):
            return
        _, kind, last = f"{bound.callable}..".split(".")[:3]
        if last not in ("get", "deserialize"):
            kind = parameter.kind if parameter is not None else ""
        refusal = self.refusals.class_name(kind, word.value)
        if refusal is not None:
            yield Fault(WORD, key, bound, name, word, False, refusal.meant, refusal.error, "", _ERROR)

    def _divides_argument(self, bound: BoundCall, name: str) -> bool:
        """Tell whether a call of Keras writes an argument as a division."""
        if not bound.callable.startswith("keras."):
            return False
        call = next((item for item in bound.spot.scope.calls if item.place == bound.spot.place), None)
        if call is None:
            return False
        written = call.keyword(name)
        if written is None:
            number = list(bound.arguments).index(name)
            written = call.args[number] if number < len(call.args) else None
        return written is not None and isinstance(written, Binary) and written.operator == "/"


_PARTS = {
    "": "tensorflow.data.Options",
    "autotune": "tensorflow.data.experimental.AutotuneOptions",
    "experimental_distribute": "tensorflow.data.experimental.DistributeOptions",
    "experimental_optimization": "tensorflow.data.experimental.OptimizationOptions",
    "experimental_threading": "tensorflow.data.experimental.ThreadingOptions",
    "threading": "tensorflow.data.ThreadingOptions",
}
"""The options of a dataset and their parts, by the attribute that they stand in."""


def _class_weight_faults(bound: BoundCall, path: str) -> Iterator[Fault]:
    """Yield the fault of class weights whose keys are texts instead of numbers."""
    value = bound.arguments.get("class_weight")
    if not bound.callable.startswith("keras.") or not isinstance(value, Mapping) or value.open:
        return
    key = value.key
    if key is None or key.source != path or not value.entries:
        return
    # Under the name of an output there is a mapping of its own.
    if all(isinstance(name, str) and isinstance(weight, Scalar) for name, weight in value.entries.items()):
        yield Fault(CLASSES, key, bound, "class_weight", value, False, "", "", "", _WARNING)


_UNKNOWN: Any = object()


_MOST_PARTS = 10_000
"""Most values inside an argument that are looked at: a list that holds itself twice has more at each level."""


def _plain_value(value: Value) -> Any:
    """Return an argument as plain data, `_UNKNOWN` where a part is not known."""
    return _plain_part(value, itertools.count())


def _plain_part(value: Value, parts: Iterator[int]) -> Any:
    if next(parts) > _MOST_PARTS:
        return _UNKNOWN
    if isinstance(value, Scalar):
        return _UNKNOWN if value.optional else value.value
    if not isinstance(value, Sequence) or value.open:
        return _UNKNOWN
    items: list[Any] = []
    for item in value.items:
        part = _plain_part(item, parts)
        if part is _UNKNOWN:
            return _UNKNOWN
        items.append(part)
    return items


def _plain_values(value: Value, *, nested: bool) -> Iterator[Scalar]:
    """Yield the scalars in an argument; those in lists and mappings only if nested."""
    pending = [value]
    for _ in range(_MOST_PARTS):
        if not pending:
            break
        here = pending.pop()
        if isinstance(here, Scalar):
            yield here
        elif nested and isinstance(here, Sequence):
            pending += reversed(here.items)
        elif nested and isinstance(here, Mapping) and not all(key in here.entries for key in DESCRIBED):
            pending += reversed(list(here.entries.values()))


def _key_of(value: Value) -> ConfigKey | None:
    return value.key if isinstance(value, (Scalar, Sequence, Mapping)) else None
