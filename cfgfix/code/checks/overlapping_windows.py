"""Overlapping windows that are parted at random into training and test."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.common import line_beside
from cfgfix.code.checks.origins import Origin, library_name, origin, origins
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.model.expressions import assignment_pairs, constant, dotted, is_name, place_of, text, walk
from cfgfix.code.model.hit import Step, hit_in
from cfgfix.code.model.nodes import Attribute, Binary, Call, Collection, Expr, Name, Place, Slice, Subscript
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Event, Scope
from cfgfix.rules.hit import Hit

_SPLIT = "sklearn.model_selection.train_test_split"
_KEEPS = frozenset({"numpy.array", "numpy.asarray", "numpy.expand_dims", "numpy.reshape", "numpy.stack", "numpy.vstack", "numpy.float32"})  # fmt: skip
_METHODS = frozenset({"astype", "reshape", "copy"})
_DEPTH = 10

_Made = tuple[Scope, Place, int]


def parted_at_random(program: Program) -> Iterator[Hit]:
    """Find random splits of windows that overlap their neighbours."""
    for module in program.all_modules(words=(b"train_test_split", b"permutation(")):
        for scope in module.summary.scopes:
            if written_for_one(program, scope):
                continue
            for call in scope.calls:
                yield from _by_call(program, scope, call)
            yield from _by_permutation(program, scope)


def _by_call(program: Program, scope: Scope, call: Call) -> Iterator[Hit]:
    if not call.args or (dotted(call.func) or "").rpartition(".")[2] != "train_test_split" or call.opaque:
        return
    shuffle = call.keyword("shuffle")
    if (shuffle is not None and constant(shuffle) is not True) or program.static_name(
        call.func, scope
    ) != _SPLIT:
        return
    made = _windows(program, Origin(call.args[0], scope), _DEPTH)
    if made is not None:
        yield _hit(scope, call.name_place, call.block, "train_test_split", made)


def _by_permutation(program: Program, scope: Scope) -> Iterator[Hit]:
    """Yield the splits by the first and the other numbers of a permutation."""
    told: set[int] = set()
    for event in scope.events_of("assign"):
        call = event.value
        if not isinstance(call, Call) or call.method != "permutation" or len(call.args) != 1:
            continue
        parts = _cuts(scope, event)
        if len(parts) < 2:
            continue
        taken: dict[str, set[str]] = {}
        read: dict[str, Subscript] = {}
        for top in scope.events():
            for expr in (top.value, *top.extra_nodes()):
                for part in walk(expr) if expr is not None else ():
                    if isinstance(part, Subscript) and isinstance(part.base, Name):
                        index = part.index
                        if isinstance(index, Name) and index.name in parts:
                            taken.setdefault(part.base.name, set()).add(index.name)
                            read.setdefault(part.base.name, part)
        for name, used in taken.items():
            made = _windows(program, Origin(read[name].base, scope), _DEPTH) if len(used) > 1 else None
            if made is not None and id(call) not in told:
                told.add(id(call))
                yield _hit(scope, call.name_place, call.block, "a random permutation", made)


def _cuts(scope: Scope, event: Event) -> set[str]:
    """Return the names that hold a part of a permutation."""
    names = [target.name for target in event.targets if isinstance(target, Name)]
    found: set[str] = set()
    for other in scope.events_of("assign"):
        for target in other.targets:
            for item, value in assignment_pairs(target, other.value):
                if (
                    isinstance(item, Name)
                    and isinstance(value, Subscript)
                    and isinstance(value.index, Slice)
                    and isinstance(value.base, Name)
                    and value.base.name in names
                ):
                    found.add(item.name)
    return found


def _hit(scope: Scope, place: Place, block: int, how: str, made: _Made) -> Hit:
    return hit_in(
        scope,
        place,
        block,
        {"how": how, "line": line_beside(scope, made[0], made[1].line)},
        related=(Step(made[0], made[1], made[2], "each window begins one step behind the one before"),),
    )


def _windows(program: Program, start: Origin, depth: int) -> _Made | None:
    """Return where overlapping windows are cut, if a value is made of such, or None."""
    found = origin(program, start) if depth > 0 else None
    if found is None:
        return None
    expr, scope = found.expr, found.scope
    if isinstance(expr, Subscript):
        cut = _by_index(program, found, expr)
        if cut is not None:
            return cut
        return _windows(program, found.at(expr.base), depth - 1) if not _is_parted(expr.index) else None
    if isinstance(expr, Call):
        name = library_name(program, found)
        if name == "numpy.lib.stride_tricks.sliding_window_view":
            return scope, expr.name_place, expr.block
        if name in _KEEPS and expr.args:
            inner = expr.args[0]
            if isinstance(inner, Name):
                filled = _filled_in_loop(scope, inner.name)
                if filled is not None:
                    return filled
            return _windows(program, found.at(inner), depth - 1)
        if expr.method in _METHODS and expr.receiver is not None:
            return _windows(program, found.at(expr.receiver), depth - 1)
        return None
    return _filled_in_loop(scope, start.expr.name) if isinstance(start.expr, Name) else None


def _is_parted(index: Expr) -> bool:
    """Tell whether an index takes only some windows of all."""
    return isinstance(index, Slice) and (index.step is not None)


def _filled_in_loop(scope: Scope, name: str) -> _Made | None:
    """Return where a loop adds windows, each a step later, to a list, or None."""
    adds = scope.calls_on(name, "append")
    if len(adds) != 1 or len(adds[0].args) != 1:
        return None
    call = adds[0]
    given = call.args[0]
    if isinstance(given, Name):
        bound = [event for event in scope.binding(given.name) if event.place.end <= call.place.start]
        if not bound or bound[-1].value is None or bound[-1].block != call.block:
            return None
        given = bound[-1].value
    while isinstance(given, Attribute) and given.attribute in ("values", "T"):
        given = given.base
    if isinstance(given, Call) and given.method in _METHODS and given.receiver is not None:
        given = given.receiver
    loops = [event for event in scope.events_of("for") if any(number == call.block for number, _ in event.bodies)]  # fmt: skip
    if len(loops) != 1 or not isinstance(given, Subscript) or not _steps_by_one(loops[0]):
        return None
    target = loops[0].targets[0]
    index = given.index
    first = index.items[0] if isinstance(index, Collection) and index.items else index
    if not isinstance(target, Name) or not isinstance(first, Slice):
        return None
    return (scope, call.name_place, call.block) if _begins_at(first, target.name) else None


def _begins_at(cut: Slice, name: str) -> bool:
    """Tell whether a slice is a window that moves with the number of a loop."""
    if cut.lower is None or cut.upper is None or cut.step is not None:
        return False
    plain = _is_shifted(cut.lower, name) and _is_shifted(cut.upper, name)
    return plain and text(cut.lower) != text(cut.upper) and not _is_next(cut, name)


def _is_shifted(expr: Expr, name: str) -> bool:
    """Tell whether an expression is a number of a loop, alone or with something added."""
    if is_name(expr, name):
        return True
    return (
        isinstance(expr, Binary)
        and expr.operator in ("+", "-")
        and _is_shifted(expr.left, name)
        and not any(is_name(part, name) for part in walk(expr.right))
    )


def _is_next(cut: Slice, name: str) -> bool:
    """Tell whether a slice holds one element alone: `[i : i + 1]`."""
    return (
        is_name(cut.lower, name)
        and isinstance(cut.upper, Binary)
        and cut.upper.operator == "+"
        and constant(cut.upper.right) == 1
    )


def _steps_by_one(event: Event) -> bool:
    over = event.value
    if not isinstance(over, Call) or not is_name(over.func, "range") or not 1 <= len(over.args) <= 3:
        return False
    return len(over.args) < 3 or constant(over.args[2]) == 1


def _by_index(program: Program, here: Origin, expr: Subscript) -> _Made | None:
    """Return where an index of two ranges cuts windows, or None."""
    index = expr.index
    if not isinstance(index, Binary) or index.operator != "+":
        return None
    sides = [_aranges(program, here.at(side)) for side in (index.left, index.right)]
    if not all(sides):
        return None
    place = place_of(expr, here.scope)
    return (here.scope, place, 0) if place is not None else None


def _aranges(program: Program, start: Origin) -> bool:
    """Tell whether a value is `np.arange(n)`, as it is or with axes added."""
    found = origins(program, start)
    if len(found) != 1:
        return False
    expr = found[0].expr
    if isinstance(expr, Subscript):
        return _aranges(program, found[0].at(expr.base))
    if not isinstance(expr, Call):
        return False
    if library_name(program, found[0]) == "numpy.arange":
        return len(expr.args) == 1 or (len(expr.args) == 2) or constant(expr.args[2]) == 1
    return expr.method == "reshape" and expr.receiver is not None and _aranges(program, found[0].at(expr.receiver))  # fmt: skip
