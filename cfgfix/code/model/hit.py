"""The hits that checks of Python source yield."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Protocol, TypedDict

from cfgfix.code.model.nodes import Attribute, Name, Place
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Site, ways_to
from cfgfix.core.records import dataclass
from cfgfix.rules.hit import Hit, HitChange, HitPlace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass(frozen=True, slots=True)
class Step(HitPlace):
    """One place on the way to a hit, or beside it.

    Attributes:
        scope: The scope it stands in.
        place: Its span.
        block: The block it stands in, whose guards count for the state of the finding; -1 for none.
        label: What happens there, in a few words.
    """

    scope: Scope
    place: Place
    block: int
    label: str


@dataclass(frozen=True, slots=True)
class Rewrite(HitChange):
    """One change of Python source, by what it does to a node; `code/fixes/rewrite.py` carries it out.

    Kinds, each about the node at `place`:
        `replace`: the expression becomes `text`;
        `wrap`: the expression becomes the argument of `text`, such as `int`;
        `rename`: the last name of the dotted expression becomes `text`;
        `unchain`: the method call at `place` is dropped from its chain, `a.b().c()` without `.b()`;
        `keyword`: the call gets the keyword `name=text`, or an existing one of that name the value `text`;
        `drop-keyword`: the call loses the keyword `name`;
        `rename-keyword`: the keyword `name` of the call is called `text`;
        `name-argument`: the positional argument number `text` of the call, from 0, is given by its name `name`;
        `signature`: the call's `output_types` and `output_shapes` become `output_signature=text`;
        `drop-statement`: the statement goes, with what stands on its line; `pass` where it was the only one;
        `drop-item`: the dictionary loses the key `name`;
        `append`: the link `text`, such as `.prefetch(2)`, is put behind the call, laid out like the chain;
        `move-link`: the method call goes before or `behind` the one at `target`; `statement` is the statement that goes
            with it, where there is nothing else in it;
        `move-statement`: the statement and `others` go before or `behind` the one at `target`, unless they use names of
            `without`;
        `insert`: the lines of `text` are put before or `behind` the statement;
        `decorate`: the line `text` is put right above the definition;
        `lines`: the statement, or what begins it, becomes the lines of `text`.
    """

    kind: str
    scope: Scope
    place: Place
    text: str = ""
    name: str = ""
    target: Place | None = None
    behind: bool = False
    statement: Place | None = None
    others: tuple[Place, ...] = ()
    without: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Way:
    """One way to a hit.

    Attributes:
        steps: The places on it, in order.
        via: The operand `via` of the message for this way; empty where it is the same for all.
    """

    steps: tuple[Step, ...]
    via: str = ""


class Entry(Protocol):
    """Knows every way to a hit: any of them may decide whether it takes effect."""

    def flow(self) -> tuple[Step, ...]:
        """Return the steps of the first way that was met."""

    def ways(self, block: int, place: Place) -> Iterator[Way]:
        """Yield all ways to a place, the first that was met before the others."""


class Calls:
    """The ways to a call site, by the calls that entered its scope."""

    __slots__ = ("_site",)

    def __init__(self, site: Site) -> None:
        self._site = site

    def flow(self) -> tuple[Step, ...]:
        """Return the calls of the first way that was met, as steps."""
        return steps_to(self._site.scope, self._site.through)

    def ways(self, block: int, place: Place) -> Iterator[Way]:
        """Yield each way as steps.

        These are the ways on which the function was run with the same values.
        """
        del block, place
        for path in ways_to(self._site):
            yield Way(steps_to(self._site.scope, path))


@dataclass(frozen=True, slots=True)
class CodePlace(HitPlace):
    """Where a hit stands in a program, and how a run comes to it.

    Attributes:
        scope: The scope it stands in.
        place: The span to show: narrow, such as the method's name in a chain.
        block: The block it stands in, for the guards around it.
        flow: The way to it from the hot root, in order, without the place itself.
        entry: What knows the way, the others there are, and how the root itself is come to; None where `flow` is all.
        needs: What must run for it to be true, as `(scope, block)`: the guards there must hold, and a test shows nothing of a program.
        seen: Whether there is nothing to confirm at its place: the hit is about the file as a whole.
    """

    scope: Scope
    place: Place
    block: int
    flow: tuple[Step, ...] = ()
    entry: Entry | None = None
    needs: tuple[tuple[Scope, int], ...] = ()
    seen: bool = False


class HitFields(TypedDict, total=False):
    """The fields of a hit that a check may set beside place and operands; see `Hit`."""

    related: tuple[Step, ...]
    severity: str | None
    confidence: str | None
    safety: str | None
    title: str | None
    no_fix: str | None
    notes: tuple[str, ...]


class Repair(TypedDict, total=False):
    """How a check repairs a hit, or why it does not: arguments of `hit_at` and `hit_in`."""

    rewrites: tuple[Rewrite, ...]
    safety: str | None
    title: str | None
    no_fix: str | None
    notes: tuple[str, ...]


class Check(Protocol):
    """A function of a module in `cfgfix/code/checks/`: the program in, hits out.

    The rule file names it: `check: source.<module>` means the function `check` of that module, and
    `check: source.<module>.<function>` another one.
    """

    def __call__(self, program: Program) -> Iterable[Hit]:
        """Yield the hits of the check in a program."""


def at(site: Site, *, label: str = "", whole: bool = False) -> Step:
    """Return the place of a call: its last name, or the whole call."""
    return Step(site.scope, site.call.place if whole else site.call.name_place, site.call.block, label)


def hit_in(
    scope: Scope,
    place: Place,
    block: int,
    values: Mapping[str, object] = MappingProxyType({}),
    *,
    flow: tuple[Step, ...] = (),
    entry: Entry | None = None,
    needs: tuple[tuple[Scope, int], ...] = (),
    seen: bool = False,
    rewrites: tuple[Rewrite, ...] = (),
    **about: Unpack[HitFields],
) -> Hit:
    """Return a hit at a place of a scope."""
    return Hit(CodePlace(scope, place, block, flow, entry, needs, seen), values, rewrites, **about)


def hit_at(
    site: Site,
    *,
    whole: bool = False,
    values: Mapping[str, object] = MappingProxyType({}),
    flow: tuple[Step, ...] | None = None,
    entry: Entry | None = None,
    needs: tuple[tuple[Scope, int], ...] = (),
    rewrites: tuple[Rewrite, ...] = (),
    **about: Unpack[HitFields],
) -> Hit:
    """Return a hit at a call site.

    Without `flow` or `entry`, its ways are the calls that entered the site's scope.
    """
    step = at(site, whole=whole)
    if flow is None and entry is None:
        entry = Calls(site)
    return hit_in(
        step.scope,
        step.place,
        step.block,
        values,
        flow=flow or (),
        entry=entry,
        needs=needs,
        rewrites=rewrites,
        **about,
    )


def place_in_code(hit: Hit) -> CodePlace:
    """Return the place of a hit in a program's code."""
    assert isinstance(hit.at, CodePlace)
    return hit.at


def steps_to(scope: Scope, path: tuple[Site, ...]) -> tuple[Step, ...]:
    """Return the calls on the way to a scope as steps.

    Each step names the function that the call enters on this way: of several, the one that the next call stands in.
    """
    entered = [*(site.scope for site in path[1:]), scope]
    return tuple(
        at(
            site,
            label=f"calls {inner.qualname}"
            if any(target.scope is inner for target in site.targets) and inner.kind != "lambda"
            else f"calls {site_name(site)}",
        )
        for site, inner in zip(path, entered, strict=False)
    )


def site_name(site: Site) -> str:
    """Return a short name for the callee of a call site."""
    if site.targets:
        return site.targets[0].scope.qualname
    func = site.call.func
    if isinstance(func, Attribute):
        return str(func.attribute)
    if isinstance(func, Name):
        return str(func.name)
    return site.name.rsplit(".", 1)[-1] or "it"
