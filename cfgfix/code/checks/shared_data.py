"""Training data without batches, or from the cache file of other data."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.common import short
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import text
from cfgfix.code.model.hit import Step, at, hit_at, hit_in
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Constant, Dataset, Site, alternatives
from cfgfix.rules.hit import Hit

_SAME_ELEMENTS = frozenset({"cache", "prefetch", "repeat", "shuffle", "skip", "take"})
_MOST = 40


def without_batches(program: Program) -> Iterator[Hit]:
    """Find datasets of single examples that `fit` is given."""
    seen: set[tuple[int, int]] = set()
    for fit in flow_of(program).sites:
        if fit.call.method != "fit" or not fit.name.startswith("keras."):
            continue
        key = id(fit.scope), fit.call.number
        given = alternatives(fit.argument(0, "x"))
        made = _made_of_slices(given[0]) if len(given) == 1 else None
        if made is None or key in seen or written_for_one(program, fit.scope):
            continue
        seen.add(key)
        yield hit_at(
            fit,
            flow=(),
            values={"made": short(made), "line": made.call.name_line},
            related=(at(made, label="one example after another"),),
        )


def _made_of_slices(value: object) -> Site | None:
    """Return the `from_tensor_slices` of a dataset without batches, or None.

    Steps that change the elements, such as `map`, give None.
    """
    for _ in range(_MOST):
        if not isinstance(value, Dataset) or value.site is None:
            return None
        if value.op == "from_tensor_slices":
            given = value.site.call.args
            return value.site if len(given) == 1 and not value.site.call.opaque else None
        if value.op not in _SAME_ELEMENTS or len(value.parents) != 1:
            return None
        value = value.parents[0]
    return None


def one_cache_file(program: Program) -> Iterator[Hit]:
    """Find cache files that a function uses for several datasets."""
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).named("tensorflow.data.Dataset.cache"):
        scope = site.scope
        key = id(scope), site.call.number
        name = site.argument(0, "filename")
        if key in seen or not isinstance(name, Constant) or not isinstance(name.value, str) or not name.value:
            continue
        if scope.kind != "function" or not _is_straight(scope, site.call.block):
            continue
        calls = _calls_of_one_run(program, scope)
        if len(calls) < 2 or written_for_one(program, scope):
            continue
        seen.add(key)
        first, second = calls[:2]
        related: tuple[Step, ...] = (at(first, label="the first data"), at(second, label="other data"))
        yield hit_in(
            scope,
            site.call.name_place,
            site.call.block,
            {"file": name.value, "function": scope.name, "place": _line_in_words(second, scope)},
            related=related,
        )


def _line_in_words(site: Site, scope: Scope) -> str:
    """Return a call's line, with its file where that is another one."""
    module = site.scope.module
    line = site.call.name_line
    return f"line {line}" if module is scope.module else f"{module.path}:{line}"


def _is_straight(scope: Scope, block: int) -> bool:
    return all(item.kind in ("body", "with") for item in scope.block_chain(block))


def _calls_of_one_run(program: Program, scope: Scope) -> list[Site]:
    """Return the calls of a function that run one after another with other arguments.

    Return an empty list where they may not all run.
    """
    found: dict[str, Site] = {}
    callers = flow_of(program).callers(scope)
    if any(caller.scope is not callers[0].scope or caller.open for caller in callers):
        return []
    for caller in callers:
        if not _is_straight(caller.scope, caller.call.block):
            return []
        shown = ", ".join(
            [*map(text, caller.call.args), *(f"{name}={text(value)}" for name, value in caller.call.keywords)]
        )
        if shown:
            found.setdefault(shown, caller)
    return list(found.values())
