from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfgfix.core import records


@records.dataclass(frozen=True, slots=True)
class Ours:
    first: int
    second: str = "two"
    third: list[int] = records.field(default_factory=list)
    silent: int = records.field(default=0, compare=False)

    @property
    def double(self) -> int:
        return 2 * self.first


@dataclasses.dataclass(frozen=True, slots=True)
class Theirs:
    first: int
    second: str = "two"
    third: list[int] = dataclasses.field(default_factory=list)
    silent: int = dataclasses.field(default=0, compare=False)


@records.dataclass(slots=True)
class Mutable:
    value: int = 1


VALUES = st.fixed_dictionaries(
    {"first": st.integers()},
    optional={
        "second": st.text(max_size=3),
        "third": st.lists(st.integers(), max_size=2),
        "silent": st.integers(),
    },
)


@given(VALUES, VALUES)
def test_it_behaves_like_a_dataclass(one, two):
    ours, theirs = Ours(**one), Theirs(**one)
    assert repr(ours) == repr(theirs).replace("Theirs", "Ours")
    assert (Ours(**one) == Ours(**two)) == (Theirs(**one) == Theirs(**two))
    assert Ours.__match_args__ == Theirs.__match_args__
    changed = records.replace(ours, second="x")
    assert changed.second == "x"
    assert changed.first == ours.first


def test_hash_follows_equality():
    @records.dataclass(frozen=True, slots=True)
    class Point:
        x: int
        y: int = records.field(default=0, compare=False)

    assert hash(Point(1, 2)) == hash(Point(1, 3))
    assert len({Point(1, 2), Point(1, 3), Point(2, 2)}) == 2
    with pytest.raises(TypeError, match="unhashable"):
        hash(Mutable())


def test_frozen_and_slotted():
    ours = Ours(1)
    with pytest.raises(AttributeError):
        ours.first = 2
    with pytest.raises(AttributeError):
        del ours.first
    with pytest.raises(AttributeError):
        ours.other = 1
    assert not hasattr(ours, "__dict__")
    assert ours.double == 2
    mutable = Mutable()
    mutable.value = 5
    assert mutable == Mutable(5)


@pytest.mark.parametrize(
    ("values", "named"), [((), {}), ((1, 2, 3, 4, 5), {}), ((1,), {"first": 1}), ((1,), {"nope": 1})]
)
def test_wrong_calls_are_refused(values, named):
    with pytest.raises(TypeError):
        Ours(*values, **named)
    with pytest.raises(TypeError):
        Theirs(*values, **named)


def test_copies():
    ours = Ours(1, "x", [1])
    assert copy.deepcopy(ours) == ours
    assert pickle.loads(pickle.dumps(ours)) == ours


def test_inheritance_and_unequal_classes():
    @records.dataclass(frozen=True, slots=True)
    class Base:
        a: int

    @records.dataclass(frozen=True, slots=True)
    class Derived(Base):
        b: int = 2

    assert Derived(1) == Derived(1, 2)
    assert Derived(1) != Base(1)
    assert repr(Derived(1)).endswith("Derived(a=1, b=2)")


def test_matching():
    match Ours(1, "b"):
        case Ours(first, second):
            assert (first, second) == (1, "b")


def test_a_class_of_which_many_are_made_stays_the_same_record():
    @records.dataclass(frozen=True, slots=True)
    class Often:
        first: int
        second: str = "two"
        third: list[int] = records.field(default_factory=list)

        def __post_init__(self) -> None:
            made.append(self.first)

    made: list[int] = []
    before = Often(1, third=[3])
    slow = Often.__init__
    for number in range(300):
        assert Often(number).third is not Often(number).third
    assert Often.__init__ is not slow
    assert made[-1] == 299
    assert Often(1, third=[3]) == before
    assert Often(first=1, second="two", third=[3]) == before
    assert records.replace(before, first=2) == Often(2, "two", [3])
    for values, named in (((), {}), ((1, "x", [], 4), {}), ((1,), {"first": 1}), ((1,), {"other": 1})):
        with pytest.raises(TypeError):
            Often(*values, **named)
    with pytest.raises(records.FrozenInstanceError):
        before.first = 3
