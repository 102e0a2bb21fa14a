"""What TensorFlow's releases offer: names, members, parameters, from the table that `tools/make_api_table.py` makes."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from cfgfix.code.tensorflow.calls import Calls
from cfgfix.code.tensorflow.calls import load as load_calls
from cfgfix.code.tensorflow.requirement import Requirement
from cfgfix.core.records import dataclass

_FOLDER = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(_FOLDER, "tf_api.json")
WORDS = os.path.join(_FOLDER, "keras_words.json")
OPEN = frozenset(
    {
        "summary",
        "lite",
        "tpu",
        "raw_ops",
        "python",
        "core",
        "compiler",
        "tools",
        "security",
        "dtensor",
        "tsl",
        "distribute.experimental.coordinator",
        "distribute.experimental.rpc",
    }
)
"""Parts of `tensorflow` whose content the table does not have: nothing is said about names in them."""
WHOLE = "tensorflow.estimator"
"""What a release dropped with all that it holds."""
_KERAS_ALIASES = ("keras", "losses", "metrics", "optimizers", "initializers")
"""Names of `tensorflow` that are Keras's own modules."""


@dataclass(frozen=True, slots=True)
class Presence:
    """The releases that have a name.

    Attributes:
        name: The part of the asked name that was found, or the first part that was not.
        mask: One bit for each inspected release that has it.
        old: The same for `tf.compat.v1`.
        rest: The part of the asked name behind it.
    """

    name: str
    mask: int
    old: int
    rest: str


@dataclass(frozen=True, slots=True)
class LayerCall:
    """How a layer that Keras brings is called.

    Attributes:
        params: The parameters of its `call` in the order of the last release before Keras 3, up to the first that a release of
            Keras 3 has not; None where it has no more than its inputs, or an order of its own.
        own_before: Whether its `__call__` was one of its own before Keras 3, with another order.
        own: Whether it is one of its own in Keras 3, which takes the inputs alone by position.
        takes_any: Whether some release of Keras 3 takes anything by position.
    """

    params: tuple[str, ...] | None
    own_before: bool
    own: bool
    takes_any: bool


@dataclass(frozen=True, slots=True)
class Signature:
    """What the constructor of a class, or a function, takes: release by release.

    A mask has one bit for each inspected release, the oldest first, as in `Api.versions`; `Api.newest`, `Api.admitted` and `Api.wanted` are
    masks of the releases the project may install. What a base class takes through `**kwargs` (`name` of a layer, `clipnorm` of an
    optimizer) counts as taken.

    Attributes:
        name: The name it is looked up by: `keras.optimizers.Adam`.
        known: The releases in which the table has it.
        open: Those in which it takes any other keyword as well, or may do so.
        parameters: All parameters by name, with the releases that take them; what goes by position in the newest release first, in
            that order.
        ignored: Those that are taken, warned of at most, and forgotten: `decay` in Keras 3.
        orders: Pairs of releases and the parameters that go by position in them.
    """

    name: str
    known: int
    open: int
    parameters: Mapping[str, int]
    ignored: Mapping[str, int]
    orders: tuple[tuple[int, tuple[str, ...]], ...]

    def takes(self, parameter: str, releases: int) -> bool | None:
        """Tell whether all of some releases take a parameter by name.

        None where only some do, or the table cannot tell.

        False means that a call with it raises in each of the releases.
        """
        inspected = releases & self.known
        named = self.parameters.get(parameter, 0)
        if not inspected:
            return None
        if inspected == releases and not releases & ~named:
            return True
        return None if (named | self.open) & releases or inspected != releases else False

    def ignores(self, parameter: str, releases: int) -> bool:
        """Tell whether any of some releases takes a parameter and ignores it."""
        return bool(self.ignored.get(parameter, 0) & releases)

    def positions(self, release: int) -> tuple[str, ...]:
        """Return the positional parameters in a release, given by its bit.

        Nothing where the table cannot tell.
        """
        return next((order for mask, order in self.orders if mask & release), ())


@dataclass(frozen=True, slots=True)
class Unknown:
    """An argument that a callable refuses.

    Attributes:
        argument: Its name.
        mask: The releases that take it.
        renamed: The parameter that has its place today, or None.
        near: The parameter that it is spelt like, or None.
    """

    argument: str
    mask: int
    renamed: str | None
    near: str | None

    @property
    def meant(self) -> str | None:
        """The parameter that is most likely meant by the argument, or None."""
        return self.renamed or self.near


_GET = ("identifier",)
"""What `get` of each module of Keras takes."""
_SET_FLOATX = ("value",)
"""What the functions of that name in Keras's modules take."""
_TOP = {"keras.Layer": "keras.layers.Layer"}
"""Classes that stand at the top of Keras as well."""
_RENAMED = {"lr": "learning_rate", "experimental_steps_per_execution": "steps_per_execution"}
"""Parameters that have another name today."""


class Api:
    """The table, and which of its releases the project may install."""

    def __init__(self, data: Mapping[str, Any], requirement: Requirement) -> None:
        self._names: Mapping[str, Mapping[str, int]] = data["names"]
        self._old: Mapping[str, Mapping[str, int]] = data["compat_v1"]
        self._second: Mapping[str, int] = data["compat_v2"]
        self._members: Mapping[str, Mapping[str, int]] = data["members"]
        self._layers: Mapping[str, Mapping[str, Any]] = data["layers"]
        self._file_names: Mapping[str, Mapping[str, int]] = data["file_names"]
        self._values: Mapping[str, Mapping[str, int]] = data["values"]
        self._modules: Mapping[str, Mapping[str, int]] = data["modules"]
        self._alone: Mapping[str, Mapping[str, int]] = data["alone"]
        self._gone: Mapping[str, Mapping[str, int]] = data["gone"]
        self._parameters: Mapping[str, Mapping[str, Any]] = data["parameters"]
        self._bases: Sequence[Mapping[str, int]] = data["bases"]
        self._signatures: dict[str, Signature | None] = {}
        self._calls: Calls | None = None
        self._words: Mapping[str, Any] | None = None
        self._deprecated: Mapping[str, tuple[int, str]] = data["deprecated"]
        self._arguments: Mapping[str, Mapping[str, int]] = data["deprecated_arguments"]
        self._raises: Mapping[str, int] = data["raises"]
        self.releases: Sequence[str] = data["tensorflow"]
        self.versions = [".".join(text.split(".")[:2]) for text in data["tensorflow"]]
        self.requirement = requirement
        self.computed = requirement.computed
        # Of releases that only running a file tells, what no release has is all that can be said.
        every = tuple(range(len(self.versions)))
        admitted = every if requirement.computed else requirement.admitted(data["tensorflow"])
        self.admitted = sum(1 << number for number in admitted)
        self.newest = 1 << admitted[-1] if admitted else 0
        self.wanted = 0 if self.computed else self.admitted if requirement.text else self.newest
        self._looked_at = self.newest or (1 if self.early else 0)

    @property
    def early(self) -> bool:
        """Whether only TensorFlow 2.0 to 2.3 are asked for.

        They came before the inspected releases.
        """
        return not self.admitted and not self.computed and bool(self.requirement.of_two(range(4)))

    @property
    def silent(self) -> bool:
        """Whether no finding can be made of names that only some releases have.

        No inspected release is asked for, or only running a file tells which one is.
        """
        return self.computed or not self.admitted

    def presence(self, raw: str) -> Presence | None:
        """Return the releases that have a dotted name.

        None where the table cannot tell.
        """
        parts = raw.split(".")
        if parts[0] != "tensorflow" or len(parts) < 2:
            return None
        old = second = False
        if parts[1:3] == ["compat", "v2"]:
            parts, second = ["tensorflow", *parts[3:]], True
        elif parts[1:3] == ["compat", "v1"]:
            parts, old = ["tensorflow", *parts[3:]], True
        if parts[1:2] == ["estimator"]:
            # What it holds comes from another package; TensorFlow 2.16 dropped it as a whole, with `tf.compat.v1.estimator`.
            there = self._names["tensorflow"].get("estimator", 0)
            rest = ".".join(parts[2:])
            return None if there & self.newest else Presence(WHOLE, there, there, rest)
        if len(parts) < 2 or parts[1] in OPEN or ".".join(parts[1:4]) in OPEN:
            return None
        if parts[1] in _KERAS_ALIASES:
            if old:
                return None
            first = self._old.get(f"tensorflow.compat.v1.{parts[1]}", {}) if len(parts) > 2 else {}
            now = self._names.get(f"keras.{parts[1]}", {})
            if parts[1] != "keras" and parts[2:] and parts[2] in first and not now.get(parts[2]):
                # `tf.metrics.accuracy` is TensorFlow 1's, where `tf.metrics` was no part of Keras.
                return Presence(".".join(parts[:3]), 0, first[parts[2]], ".".join(parts[3:]))
            parts = parts[1:] if parts[1] == "keras" else ["keras", *parts[1:]]
        name = parts[0]
        everywhere = (1 << len(self.versions)) - 1
        before = 0
        for position, part in enumerate(parts[1:], 1):
            if part.startswith("_"):
                return None
            rest = ".".join(parts[position:])
            entries = self._names.get(name)
            if entries is not None:
                here = entries.get(part, 0)
                before = self._old.get(name.replace("tensorflow", "tensorflow.compat.v1", 1), {}).get(part, 0)
                here |= before if old else 0
                if second and position == 1:
                    here |= self._second.get(part, 0)
            elif name in self._members and old:
                # The classes of `tf.compat.v1` have members of their own: `Dataset.make_one_shot_iterator`.
                return None
            elif name in self._members:
                here = self._members[name].get(part, 0)
            else:
                # What a class or function has inside is not in the table.
                return (
                    Presence(name, everywhere, before, rest)
                    if everywhere & self.admitted != self.admitted
                    else None
                )
            name = f"{name}.{part}"
            everywhere &= here
            if not everywhere & self._looked_at:
                return Presence(name, everywhere, before, ".".join(parts[position + 1 :]))
        return Presence(name, everywhere, before, "")

    def all_releases_have(self, name: str) -> bool:
        """Tell whether all releases that the project asks for have a name.

        Without a requirement only the newest release counts.
        """
        found = self.presence(name)
        return bool(
            self.wanted and found is not None and not found.rest and found.mask & self.wanted == self.wanted
        )

    def begins(self, name: str) -> bool:
        """Tell whether a dotted name is the beginning of a longer name in its package.

        The answer is True while a name is being typed.
        """
        package, _, last = name.rpartition(".")
        return any(item != last and item.startswith(last) for item in self._names.get(package, ()))

    def names(self, package: str) -> frozenset[str]:
        """Return the names of a package in the newest release the project asks for."""
        return frozenset(name for name, mask in self._names.get(package, {}).items() if mask & self.newest)

    def member(self, owner: str, name: str) -> int | None:
        """Return the releases in which a class has a member.

        None where the table does not have the class.
        """
        known = self._members.get(owner)
        return None if known is None else known.get(name, 0)

    def members(self, owner: str) -> frozenset[str]:
        """Return the names that a class has in some inspected release."""
        return frozenset(self._members.get(owner, ())) | frozenset(self._gone.get(owner, ()))

    def gone(self, owner: str, name: str) -> int:
        """Return the releases where a Keras class had a member that Keras 3 removed.

        They are a mask, which is 0 for all other members.
        """
        return self._gone.get(owner, {}).get(name, 0)

    def was_called(self, owner: str, name: str) -> int:
        """Return the releases where a property of Keras 3 was a method.

        They are a mask, which is 0 for all other members of the class.
        """
        return self._values.get(owner, {}).get(name, 0)

    def keras_module(self, source: str) -> tuple[str, int] | None:
        """Return the first module of an import that the newest Keras lacks.

        It comes with the mask of the releases that have it. None where the newest Keras has all modules.

        Args:
            source: The dotted import from standalone Keras. Releases of TensorFlow before 2.6 count as having it: they run with
                any release of Keras.
        """
        parts = source.split(".")
        if parts[0] != "keras":
            return None
        before = (1 << self.versions.index("2.8")) - 1
        for position in range(1, len(parts)):
            package, last = ".".join(parts[:position]), parts[position]
            mask = self._modules.get(package, {}).get(last)
            if mask is not None:
                return f"{package}.{last}", mask | before | self._names.get(package, {}).get(last, 0)
        return None

    def keras_name(self, source: str) -> tuple[str, int] | None:
        """Return the beginning of a dotted name that the newest Keras lacks.

        It ends with the missing name, and comes with the mask of releases as in `keras_module`. None where the newest Keras has
        the name, or lacks a whole module.

        Args:
            source: The dotted name from standalone Keras.
        """
        if self.keras_module(source) is not None:
            return None
        parts = source.split(".")
        before = (1 << self.versions.index("2.8")) - 1
        for position in range(1, len(parts)):
            package, last = ".".join(parts[:position]), parts[position]
            mask = self._alone.get(package, {}).get(last)
            if mask is not None:
                return f"{package}.{last}", mask | before
        return None

    def seen_of_keras(self, mask: int) -> str:
        """Return in words the newest release in a mask of `keras_module`."""
        return (
            self.last(mask) if mask >> self.versions.index("2.8") else "Keras 2.3, before it was TensorFlow's"
        )

    def layer_call(self, name: str) -> LayerCall:
        """Return how a layer of Keras is called, by its last name (`Dropout`)."""
        entry = self._layers.get(name, {})
        order = tuple(entry.get("order", ()))
        return LayerCall(
            order if len(order) > 1 and not entry.get("own_before") else None,
            own_before="own_before" in entry,
            own="own" in entry,
            takes_any="any" in entry,
        )

    def file_endings(self, name: str) -> tuple[str, ...]:
        """Return the file name endings that a function takes in any release of Keras 3."""
        return tuple(self._file_names[name])

    def accepts(self, name: str, parameter: str) -> int | None:
        """Return the releases in which a callable takes a parameter.

        None where the table cannot tell for the newest release.
        """
        entry = self._parameters.get(name)
        if entry is None or not entry["known"] & self.newest or entry["open"] & self.newest:
            return None
        # A callable that takes any keyword (`**kwargs`) is not known to refuse one, nor is what the table does not have: an attribute
        # that holds a callable, as `compiled_loss` does in Keras 2.
        known: int = entry["known"]
        return (
            int(entry["names"].get(parameter, 0))
            | int(self._bases[entry["base"]].get(parameter, 0) if "base" in entry else 0)
            | int(entry["open"])
            | ((1 << len(self.versions)) - 1) & ~known
        )

    def takes_any_keyword_in(self, name: str) -> int:
        """Return the releases where a callable takes any keyword, as a mask.

        Releases where the table does not have the callable are in it.
        """
        found = self.constructor(name)
        every = (1 << len(self.versions)) - 1
        return every if found is None else found.open | every & ~found.known

    def constructor(self, name: str) -> Signature | None:
        """Return the signature of a class's constructor, a function or a method.

        None where the table does not have it.

        Args:
            name: A public name as the program's values have it, `keras.optimizers.Adam` or `tensorflow.data.Dataset.batch`; with
                `tensorflow.keras` before it is the same.
        """
        if name.startswith("tensorflow.keras."):
            name = name[len("tensorflow.") :]
        if name not in self._signatures:
            entry = self._parameters.get(_TOP.get(name, name))
            self._signatures[name] = (
                None if entry is None or not entry["known"] else self._signature_of(name, entry)
            )
        return self._signatures[name]

    def order(self, name: str) -> tuple[str, ...]:
        """Return the positional parameters of a callable in the newest release asked for.

        Empty where no table can tell.
        """
        signature = self.constructor(name)
        if signature is not None:
            return signature.positions(self.newest)
        if name.startswith("keras.") and name.endswith(".get"):
            # The tables of signatures leave out the modules of Keras that hold functions.
            return _GET
        if name.startswith("keras.") and name.endswith(".set_floatx"):
            return _SET_FLOATX
        found = self.calls.parameters(name)
        return found.positional if found is not None else ()

    @property
    def calls(self) -> Calls:
        """The table of calls, read when it is first asked for."""
        if self._calls is None:
            self._calls = load_calls()
        return self._calls

    def lacking(
        self, name: str, releases: int, by_position: int, by_name: Collection[str]
    ) -> tuple[str, ...]:
        """Return the required arguments that a call lacks in all of some releases.

        Args:
            name: The name of the callable, as for `constructor`.
            releases: A mask of releases.
            by_position: How many arguments are given by position.
            by_name: The names of those that are given by name.
        """
        found = self.constructor(name)
        if found is None or releases & ~found.known or not releases:
            return ()
        lacking: list[set[str]] = []
        names: dict[str, None] = {}
        three = self.words_known
        for bit in self._release_bits(releases):
            order = found.positions(bit)
            if by_position and not order:
                return ()
            given = {*by_name, *order[:by_position]}
            wanted = self.calls.required(found.name, keras_2=not bit & three)
            missed = [key for key in wanted if key not in given and found.parameters.get(key, 0) & bit]
            names.update(dict.fromkeys(missed))
            lacking.append(set(missed))
        common = set.intersection(*lacking)
        return tuple(key for key in names if key in common)

    def most_by_position(self, name: str, releases: int) -> int | None:
        """Return how many arguments a callable takes by position in some releases.

        None where it takes any number, or the table cannot tell.
        """
        found = self.constructor(name)
        if found is None or not releases or self.calls.takes_any_number(found.name):
            return None
        counts = [len(found.positions(bit)) for bit in self._release_bits(releases)]
        return max(counts) if all(counts) else None

    def _release_bits(self, releases: int) -> list[int]:
        return [1 << number for number in range(len(self.versions)) if releases >> number & 1]

    def _signature_of(self, name: str, entry: Mapping[str, Any]) -> Signature:
        own: Mapping[str, int] = entry["names"]
        base = self._bases[entry["base"]] if "base" in entry else {}
        every = tuple(own)
        return Signature(
            name,
            entry["known"],
            entry["open"],
            {
                **{key: mask | base.get(key, 0) for key, mask in own.items()},
                **{key: mask for key, mask in base.items() if key not in own},
            },
            entry.get("ignored", {}),
            tuple(
                (mask, every[:order] if isinstance(order, int) else tuple(order))
                for mask, order in entry["position"]
            ),
        )

    def unknown_arguments(self, name: str, keywords: Iterable[str]) -> tuple[Unknown, ...]:
        """Return the keyword arguments that the project's newest release refuses.

        Each comes with the parameter that is likely meant. Empty where the table does not have the callable, or the callable
        takes any keyword.

        Args:
            name: The name of the callable, as for `constructor`.
            keywords: All keywords of the call, so that none of them is proposed as the one meant.
        """
        found = self.constructor(name)
        given = tuple(keywords)
        if found is None or not self.newest:
            return ()
        left = tuple(key for key, mask in found.parameters.items() if mask & self.newest and key not in given)
        return tuple(
            _unknown_argument(key, found.parameters.get(key, 0), left)
            for key in given
            if found.takes(key, self.newest) is False
        )

    def accepted_words(self, kind: str, releases: int | None = None) -> frozenset[str]:
        """Return the texts that Keras 3 takes in place of an object of a kind.

        Texts of any of the given releases count; without these, texts of any release of Keras 3.

        Args:
            kind: `activations`, `constraints`, `dtype_policies`, `initializers`, `losses`, `metrics`, `optimizers` or `regularizers`.
                Optimizers are looked up in small letters. `compile` takes `accuracy`, `acc`, `crossentropy` and `ce` beside the metrics.
            releases: A mask; the words of releases before Keras 3 are not in the table (`word_releases`).
        """
        asked = self.words_known if releases is None else releases
        return frozenset(
            word for word, mask in self._all_words()["words"].get(kind, {}).items() if mask & asked
        )

    def words_of_keras_2(self, kind: str) -> frozenset[str]:
        """Return the texts that only Keras 2 takes in place of a kind of object."""
        return frozenset(self._all_words()["keras_2"].get(kind, ()))

    def word_releases(self, kind: str, word: str) -> int:
        """Return the releases where Keras takes a text in place of a kind of object.

        They are a mask, with releases of `words_known` only.
        """
        return int(self._all_words()["words"].get(kind, {}).get(word, 0))

    @property
    def words_known(self) -> int:
        """The releases whose words are in the table: those with Keras 3."""
        return int(self._all_words()["known"])

    def _all_words(self) -> Mapping[str, Any]:
        if self._words is None:
            with open(WORDS, encoding="utf-8") as stream:
                self._words = json.load(stream)
        return self._words

    def deprecated(self, name: str) -> tuple[int, str] | None:
        """Return the mask of releases that mark a name as deprecated, and its successor.

        None where the name is not marked.
        """
        parts = name.split(".")
        if parts[1:2] == ["keras"]:
            name = ".".join(parts[1:])
        found = self._deprecated.get(name)
        return (found[0], found[1]) if found is not None else None

    def deprecated_argument(self, name: str, argument: str) -> int:
        """Return the releases that mark a parameter as deprecated."""
        return self._arguments.get(name, {}).get(argument, 0)

    def raises(self, name: str) -> int:
        """Return the releases in which a call of a name only raises an exception."""
        return self._raises.get(name, 0)

    def since(self, mask: int) -> str:
        """Return in words the inspected releases where a name is missing, for messages.

        They are those from its end on, or those before its beginning where the newest one has it.
        """
        if not mask:
            return f"{self.versions[0]} to {self.versions[-1]}"
        last = mask.bit_length() - 1
        gone = self.versions[last + 1 :]
        if not gone:
            first = (mask & -mask).bit_length() - 1
            return f"{self.versions[max(0, first - 1)]} and earlier"
        return gone[0] if len(gone) == 1 else f"{gone[0]} and later"

    def without(self, mask: int) -> str:
        """Return in words the releases around the project's newest one that lack a name.

        Args:
            mask: The inspected releases that have the name.
        """
        last = len(self.versions) - 1
        low = high = self.newest.bit_length() - 1
        while low and not mask >> (low - 1) & 1:
            low -= 1
        while high < last and not mask >> (high + 1) & 1:
            high += 1
        first, end = self.versions[low], self.versions[high]
        if high == last:
            return first if low == high else f"{first} and later"
        if low == 0:
            return f"{end} and earlier"
        return first if low == high else f"{first} to {end}"

    def last(self, mask: int) -> str:
        """Return the newest inspected release that has a name."""
        return self.versions[mask.bit_length() - 1] if mask else ""

    def end(self, mask: int) -> tuple[str, str]:
        """Return `last` or `first`, and the last or first inspected release with a name.

        It is `first` where the newest inspected release has the name.
        """
        if mask >> (len(self.versions) - 1) & 1:
            return "first", self.versions[(mask & -mask).bit_length() - 1]
        return "last", self.last(mask)


def _unknown_argument(argument: str, mask: int, left: tuple[str, ...]) -> Unknown:
    """Return a refused argument with the parameter that is likely meant by it.

    Only parameters that the call does not give are proposed.
    """
    new = _RENAMED.get(argument)
    if new is not None:
        return Unknown(argument, mask, new if new in left else None, None)
    if mask:
        # A right name of another release is no slip.
        return Unknown(argument, mask, None, None)
    from cfgfix.core.suggest import closest

    return Unknown(argument, mask, None, next(iter(closest(argument, left, limit=1)), None))


def load(requirement: Requirement) -> Api:
    """Read the table."""
    with open(TABLE, encoding="utf-8") as stream:
        return Api(json.load(stream), requirement)
