"""NumPy names that the release installed beside the project's TensorFlow lacks."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.callees import head
from cfgfix.code.inference.entry_points import is_never_called, never_run
from cfgfix.code.inference.eras import release_in_words, severity_by_releases, written_for_one
from cfgfix.code.inference.guards import expects_absence
from cfgfix.code.inference.references import api, is_bound_twice, rebound
from cfgfix.code.inference.releases import passed_over_for_keras_2
from cfgfix.code.model.hit import Rewrite, Step, hit_in
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import Attribute, Name
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.tensorflow.api import Api
from cfgfix.code.tensorflow.numpy_names import BACK, BUILTINS, CALLS, GONE, LATER
from cfgfix.code.tensorflow.requirement import Requirement, Version
from cfgfix.core.records import dataclass
from cfgfix.rules.hit import Hit

_BESIDE: tuple[tuple[Version, Version, Version], ...] = (
    ((2, 4, 0), (1, 19, 2), (1, 20, 0)),
    ((2, 7, 0), (1, 14, 5), (2, 0, 0)),
    ((2, 8, 0), (1, 20, 0), (2, 0, 0)),
    ((2, 12, 0), (1, 22, 0), (1, 24, 0)),
    ((2, 12, 1), (1, 22, 0), (1, 24, 4)),
    ((2, 14, 0), (1, 23, 5), (2, 0, 0)),
    ((2, 18, 0), (1, 26, 0), (2, 1, 0)),
    ((2, 19, 0), (1, 26, 0), (2, 2, 0)),
    ((2, 20, 0), (1, 26, 0), (99, 0, 0)),
)
"""The NumPy that TensorFlow takes, from each release on: from, and up to but not with (METADATA of 2.4.4, 2.5.3, 2.6.5, 2.7.4, 2.8.4, 2.9.3,
2.10.1, 2.11.1, 2.12.0, 2.12.1, 2.13.1, 2.14.1, 2.15.1, 2.16.2, 2.17.1, 2.18.1, 2.19.1, 2.20.0 and 2.21.0). Those of 2.7 to 2.11 name no end;
they were built before NumPy 2 and cannot be imported with it."""
_NEWEST = 21
"""The last minor release of TensorFlow 2 that was looked at."""
_RELEASES: tuple[Version, ...] = (
    *((1, minor, patch) for minor in range(16, 27) for patch in range(6)),
    *((2, minor, patch) for minor in range(10) for patch in range(6)),
)
"""Releases of NumPy that are asked about."""


passed_over = passed_over_for_keras_2
"""Which modules these checks say nothing of."""


@dataclass(frozen=True, slots=True)
class _NumpyFate:
    """Since which NumPy release a name is gone, and whether all possible ones lack it."""

    since: str
    always: bool


def gone_name(program: Program) -> Iterator[Hit]:
    """Find NumPy names that were removed, each once per file."""
    table = api(program)
    if table.silent:
        return
    known: dict[str, _NumpyFate | None] = {}
    for module in program.modules:
        uses: dict[str, list[tuple[Attribute, Scope, int]]] = {}
        for scope in module.summary.scopes:
            for expr, block in scope.references:
                if (
                    expr.attribute in GONE
                    and isinstance(expr.base, Name)
                    and program.static_name(expr, scope) == f"numpy.{expr.attribute}"
                ):
                    uses.setdefault(expr.attribute, []).append((expr, scope, block))
        for last, places in uses.items():
            if last not in known:
                known[last] = _fate_of_name(table, last)
            fate = known[last]
            if fate is not None:
                yield from _gone_name(program, module, last, places, fate)


def _gone_name(
    program: Program, module: Module, last: str, places: list[tuple[Attribute, Scope, int]], fate: _NumpyFate
) -> Iterator[Hit]:
    places = [
        (expr, scope, block)
        for expr, scope, block in places
        if not expects_absence(scope, block, expr.place)
        and not is_bound_twice(scope, head(expr))
        and not rebound(program, f"numpy.{last}", expr, scope)
        and not written_for_one(program, scope)
    ]
    if not places:
        return
    table = api(program)
    places.sort(
        key=lambda item: (is_never_called(program, item[1]) or never_run(program, item[1]), item[0].place)
    )
    expr, scope, block = places[0]
    new = BUILTINS.get(last) or LATER.get(last, "")
    plain = last in BUILTINS
    shown = f"{head(expr)}.{last}"
    instead = (new if plain else f"{head(expr)}.{new}") if new else ""
    # A name of the file's own may stand where Python's type is meant.
    hidden = plain and any(
        new in item.names or new in item.imports or new in item.children for item in module.summary.scopes
    )
    rewrites = tuple(
        Rewrite("replace", where, item.place, new if plain else f"{head(item)}.{new}")
        for item, where, _ in places
        if new and not hidden and (last not in CALLS)
    )
    yield hit_in(
        scope,
        expr.place,
        block,
        {
            "name": shown,
            "since": fate.since,
            "instead": f"; it was {instead}" if plain else f"; {instead} is the same" if instead else "",
            "beside": _numpy_text(table),
            "asked": release_in_words(table),
        },
        severity=None if fate.always else severity_by_releases(table, "warning"),
        rewrites=rewrites,
        title=f"Write {instead}" if instead else None,
        related=tuple(Step(where, item.place, at, "and here") for item, where, at in places[1:9]),
        no_fix=None
        if rewrites
        else f"the file has a name {new} of its own"
        if hidden
        else f"{instead} warns no more, and takes the same"
        if instead
        else "what stands for it is for you to say",
    )


def _fate_of_name(table: Api, last: str) -> _NumpyFate | None:
    """Return since when a NumPy name is gone, or None where it is not.

    Only releases count that the project's TensorFlow accepts.
    """
    beside = _numpy_ranges(table)
    if not beside:
        return None
    there = _admitted_releases(table.requirement, *beside[-1][1:])
    if not any(_lacks_name(version, last) for version in there):
        return None
    if last in BACK and not _lacks_name(there[-1], last):
        # pip takes the newest, which has it again.
        return None
    whole = [
        version for _, low, high in beside for version in _admitted_releases(table.requirement, low, high)
    ]
    return _NumpyFate(
        "1.24" if last in BUILTINS else "2.0", all(_lacks_name(version, last) for version in whole)
    )


def _numpy_ranges(table: Api) -> list[tuple[Version, Version, Version]]:
    """Return each possible TensorFlow 2 release with the NumPy range that it accepts.

    The newest comes last.
    """
    return [
        (release, *next((low, high) for begin, low, high in reversed(_BESIDE) if begin <= release))
        for release in table.requirement.of_two(range(4, _NEWEST + 1))
    ]


def _lacks_name(version: Version, last: str) -> bool:
    if last in BACK:
        return (1, 24, 0) <= version < (2, 0, 0)
    return version >= ((1, 24, 0) if last in BUILTINS else (2, 0, 0))


def _admitted_releases(requirement: Requirement, low: Version, high: Version) -> list[Version]:
    """Return the NumPy releases of a range that the project's requirements allow."""
    asked = Requirement("", requirement.numpy, ())
    return [version for version in _RELEASES if low <= version < high and asked.admits(version)]


def _numpy_text(table: Api) -> str:
    """Return the words of a message that say which NumPy releases are possible."""
    if table.requirement.numpy:
        return f"{table.requirement.numpy} is asked for"
    release, low, high = _numpy_ranges(table)[-1]
    begin = ".".join(str(part) for part in low).removesuffix(".0")
    end = {(2, 0, 0): " to 1.26", (1, 20, 0): "", (1, 24, 0): " to 1.23", (1, 24, 4): " to 1.24.3"}.get(high)
    if end is None:
        end = " and later" if high[0] > 2 else f" to 2.{high[1] - 1}"
    return f"TensorFlow {release[0]}.{release[1]} takes NumPy {begin}{end}"
