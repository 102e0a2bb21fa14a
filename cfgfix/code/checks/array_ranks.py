"""How many axes arrays and tensors have, as far as the expressions that make them say."""

from __future__ import annotations

from cfgfix.code.checks.pipelines import given_for, stored_once
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import constant, is_name
from cfgfix.code.model.nodes import (
    Attribute,
    Binary,
    Call,
    Collection,
    Compare,
    Expr,
    Literal,
    Name,
    Slice,
    Starred,
    Subscript,
    Unary,
)
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Dataset, Site

_DEPTH = 16
"""Most names, calls and tuples that are followed to where an array is made."""
_SAME = frozenset(
    {"astype", "copy", "clip", "round", "abs", "cast", "exp", "log", "log1p", "sqrt", "square", "sin", "cos", "tanh",
     "asarray", "ascontiguousarray", "convert_to_tensor", "constant", "zeros_like", "ones_like", "sigmoid", "nan_to_num",
     "float32", "float64", "to_numpy", "minimum", "maximum", "permutation", "sign", "abs_", "squared_difference"}
)  # fmt: skip
"""Functions and methods that give as many axes as they get."""
_REDUCES = frozenset(
    {"sum", "mean", "max", "min", "std", "prod", "any", "all", "argmax", "argmin", "reduce_sum", "reduce_mean",
     "reduce_max", "reduce_min", "norm"}
)  # fmt: skip
_FLAT = frozenset({"ravel", "flatten"})
_DRAWS = {
    "uniform": 2,
    "normal": 2,
    "integers": 2,
    "randint": 2,
    "random": 0,
    "gamma": 2,
    "choice": 1,
    "poisson": 1,
}
"""Methods of NumPy's generators, and the position of their size."""
_LIBRARIES = ("numpy.", "tensorflow.", "keras.ops.")


@once
def rank_of(program: Program, scope: Scope, expr: Expr | None, depth: int = _DEPTH) -> int | None:
    """Return how many axes the value of an expression has, or None."""
    if expr is None or depth <= 0:
        return None

    def inner(part: Expr | None) -> int | None:
        # A part of an expression is no step further.
        return rank_of(program, scope, part, depth)

    if isinstance(expr, Literal):
        return 0 if isinstance(expr.value, (int, float)) else None
    if isinstance(expr, Unary):
        return inner(expr.operand)
    if isinstance(expr, Binary):
        left, right = inner(expr.left), inner(expr.right)
        if left is None or right is None:
            return None
        if expr.operator == "@":
            return left + right - 2 if left and right and min(left, right) <= 2 else None
        return max(left, right)
    if isinstance(expr, Compare) and len(expr.rights) == 1:
        left, right = inner(expr.left), inner(expr.rights[0].right)
        return max(left, right) if left is not None and right is not None else None
    if isinstance(expr, Subscript):
        base = inner(expr.base)
        return None if base is None else _rank_of_part(base, expr.index)
    if isinstance(expr, Attribute):
        if expr.attribute == "values":
            return inner(expr.base)
        stored = stored_once(program, scope, expr)
        return rank_of(program, stored[1], stored[0], depth - 1) if stored is not None else None
    if isinstance(expr, Call):
        return _rank_of_call(program, scope, expr, depth)
    return _rank_of_name(program, scope, expr, depth) if isinstance(expr, Name) else None


def _rank_of_part(rank: int, index: Expr) -> int | None:
    """Return the axes of a part of an array."""
    for part in index.items if isinstance(index, Collection) and index.kind == "tuple" else (index,):
        if isinstance(part, Slice):
            continue
        if (isinstance(part, Literal) and part.value is None) or (
            isinstance(part, Attribute) and part.attribute == "newaxis"
        ):
            rank += 1
        elif type(constant(part)) is int:
            rank -= 1
        else:
            return None
    return rank if rank >= 0 else None


def _rank_of_call(program: Program, scope: Scope, call: Call, depth: int) -> int | None:
    site = next((item for item in flow_of(program).of_calls(scope, (call.number,))), None)
    name = site.name if site is not None else ""
    if site is not None and site.targets:
        return _rank_returned(program, site, (), depth)
    last = name.rpartition(".")[2] or call.method or ""
    of_library = (program.static_name(call.func, scope) or "").startswith(_LIBRARIES)
    given = (call.args[0] if call.args else None) if of_library else call.receiver

    def inner(part: Expr | None) -> int | None:
        return rank_of(program, scope, part, depth - 1)

    if name == "numpy.random.default_rng" or name.endswith(".load_data"):
        return None
    if last in _DRAWS and (name.startswith("numpy.random.") or not of_library):
        size = call.argument(_DRAWS[last], "size")
        return _rank_of_size(program, scope, size, depth) if size is not None else None
    if name in ("numpy.random.rand", "numpy.random.randn"):
        return len(call.args)
    if name in ("numpy.zeros", "numpy.ones", "numpy.full", "tensorflow.zeros", "tensorflow.ones", "tensorflow.random.normal", "tensorflow.random.uniform"):  # fmt: skip
        return _rank_of_size(program, scope, call.argument(0, "shape"), depth)
    if name in ("numpy.linspace", "numpy.arange", "tensorflow.range", "tensorflow.linspace"):
        return 1
    if name in ("numpy.array", "numpy.asarray", "tensorflow.constant", "tensorflow.convert_to_tensor"):
        return _nested(program, scope, call.args[0], depth) if call.args else None
    if name in ("numpy.stack", "tensorflow.stack") and call.args and isinstance(call.args[0], Collection):
        first = inner(call.args[0].items[0]) if call.args[0].items else None
        return first + 1 if first is not None else None
    if name == "numpy.column_stack":
        return 2
    if name == "numpy.where" and len(call.args) == 3:
        ranks = [inner(item) for item in call.args]
        return (
            None if any(rank is None for rank in ranks) else max(rank for rank in ranks if rank is not None)
        )
    if last in _FLAT:
        return 1
    if last in _REDUCES:
        position = 1 if of_library else 0
        axis = constant(call.argument(position, "axis"))
        rank = inner(given)
        keeps = call.keyword("keepdims") is not None
        if not keeps and call.argument(position, "axis") is None:
            return 0
        return rank - 1 if type(axis) is int and rank and not keeps else None
    if last in _SAME:
        return inner(given)
    return None


def _rank_of_size(program: Program, scope: Scope, size: Expr | None, depth: int) -> int | None:
    """Return the axes that a size or shape asks for."""
    if isinstance(size, Collection):
        return len(size.items)
    return 1 if size is not None and _is_number(program, scope, size, depth) else None


def _is_number(program: Program, scope: Scope, expr: Expr, depth: int) -> bool:
    """Tell whether an expression is a whole number for sure."""
    if depth <= 0:
        return False
    if type(constant(expr)) is int:
        return True
    if isinstance(expr, Call):
        return is_name(expr.func, "len") or is_name(expr.func, "int")
    if isinstance(expr, Binary):
        return all(_is_number(program, scope, side, depth - 1) for side in (expr.left, expr.right))
    if not isinstance(expr, Name):
        return False
    where, event = _bound(program, scope, expr.name)
    if where is None:
        return False
    if event is not None:
        return (
            event.kind == "assign"
            and is_name(event.targets[0], expr.name)
            and event.value is not None
            and _is_number(program, where, event.value, depth - 1)
        )
    given = given_for(program, where, expr.name)
    return bool(given) and all(_is_number(program, item[1], item[0], depth - 1) for item in given)


def _nested(program: Program, scope: Scope, expr: Expr, depth: int) -> int | None:
    """Return the axes of an array of lists that are written out, or of another array."""
    if not isinstance(expr, Collection):
        return rank_of(program, scope, expr, depth - 1)
    if not expr.items:
        return 1
    first = _nested(program, scope, expr.items[0], depth - 1)
    return first + 1 if first is not None else None


def _bound(program: Program, scope: Scope, name: str) -> tuple[Scope | None, Event | None]:
    """Return the scope that binds a name and its only statement there.

    The statement is None for a parameter that nothing binds again, the scope None where it is not certain.
    """
    here: Scope | None = scope
    while here is not None and (name not in here.names or (here.kind == "class" and here is not scope)):
        here = program.outer(here)
    if here is None or name in here.imports or name in here.children:
        return None, None
    bound = here.binding(name)
    if any(item.name == name for item in here.params):
        return (None, None) if bound else (here, None)
    return (here, bound[0]) if len(bound) == 1 else (None, None)


def _last_of_several(scope: Scope, name: Name) -> Event | None:
    """Return the assignment that a name has its value of where several stand in one line of statements."""
    bound = scope.binding(name.name)
    if len(bound) < 2 or any(
        event.kind != "assign" or event.block != bound[0].block or not is_name(event.targets[0], name.name)
        for event in bound
    ):
        return None
    if any(item.kind in ("for", "while") for item in scope.block_chain(bound[0].block)):
        return None
    before = [event for event in bound if event.place.end <= name.place.start]
    return before[-1] if before else None


def _rank_of_name(program: Program, scope: Scope, name: Name, depth: int) -> int | None:
    where, event = _bound(program, scope, name.name)
    if where is None:
        loops = [
            item
            for item in scope.binding(name.name)
            if item.place.start <= name.place.start < item.place.end or item.kind != "for"
        ]
        if len(loops) == 1 and loops[0].kind == "for":
            return _rank_of_element(program, scope, loops[0], name.name, depth)
        event = _last_of_several(scope, name)
        return rank_of(program, scope, event.value, depth - 1) if event is not None else None
    if event is None:
        return _rank_given(program, where, name.name, depth)
    if event.kind == "for":
        return _rank_of_element(program, where, event, name.name, depth)
    if event.kind not in ("assign", "annotate") or event.value is None or len(event.targets) != 1:
        return None
    path = _path_to(event.targets[0], name.name)
    if path is None:
        return None
    return _rank_at(program, where, event.value, path, depth - 1)


def _rank_given(program: Program, scope: Scope, name: str, depth: int) -> int | None:
    """Return the axes of what all calls of a function give for a parameter."""
    given = given_for(program, scope, name)
    ranks = {rank_of(program, item[1], item[0], depth - 1) for item in given}
    if not given:
        position = next((number for number, item in enumerate(scope.params) if item.name == name), 0)
        for caller in flow_of(program).callers(scope):
            first = caller.call.args[0] if caller.call.args else None
            target = next((item for item in caller.targets if item.scope is scope), None)
            if not isinstance(first, Starred) or target is None or target.partial or target.fixed:
                return None
            at = position - int(target.receiver is not None)
            ranks.add(_rank_at(program, caller.scope, first.value, (at,), depth - 1))
    return ranks.pop() if len(ranks) == 1 else None


def _path_to(target: Expr, name: str) -> tuple[int, ...] | None:
    """Return where a name stands in a target, position by position."""
    if is_name(target, name):
        return ()
    if isinstance(target, Collection):
        for position, item in enumerate(target.items):
            inner = _path_to(item, name)
            if inner is not None:
                return (position, *inner)
    return None


def _rank_at(program: Program, scope: Scope, value: Expr, path: tuple[int, ...], depth: int) -> int | None:
    """Return the axes of a part of a tuple that an expression makes."""
    if depth <= 0:
        return None
    if not path:
        return rank_of(program, scope, value, depth)
    if isinstance(value, Collection) and path[0] < len(value.items):
        return _rank_at(program, scope, value.items[path[0]], path[1:], depth)
    if not isinstance(value, Call):
        return None
    site = next((item for item in flow_of(program).of_calls(scope, (value.number,))), None)
    if site is None:
        return None
    if site.targets:
        return _rank_returned(program, site, path, depth)
    if site.name == "sklearn.model_selection.train_test_split" and len(path) == 1:
        source = path[0] // 2
        return rank_of(program, scope, value.args[source], depth) if source < len(value.args) else None
    return None


def _rank_returned(program: Program, site: Site, path: tuple[int, ...], depth: int) -> int | None:
    """Return the axes of what a function of the project returns, or of a part of it."""
    ranks: set[int | None] = set()
    for target in site.targets:
        returned = target.scope.events_of("return")
        if target.scope.generator or target.scope.name == "__init__" or not returned:
            return None
        for event in returned:
            ranks.add(
                _rank_at(program, target.scope, event.value, path, depth - 1)
                if event.value is not None
                else None
            )
    return ranks.pop() if len(ranks) == 1 else None


_KEEPS = frozenset({"shuffle", "prefetch", "repeat", "cache", "take", "skip", "with_options"})


def _rank_of_element(program: Program, scope: Scope, loop: Event, name: str, depth: int) -> int | None:
    """Return the axes of a part of the elements that a loop over a dataset goes through."""
    path = _path_to(loop.targets[0], name) if len(loop.targets) == 1 else None
    if path is None or not loop.bodies:
        return None
    if isinstance(loop.value, Call) and is_name(loop.value.func, "enumerate"):
        path = path[1:]
    block = loop.bodies[0][0]
    ranks = {
        rank_in_dataset(program, dataset, path, depth)
        for how, dataset, where, number in flow_of(program).consumed
        if how == "loop" and where is scope and number == block
    }
    return ranks.pop() if len(ranks) == 1 else None


def rank_in_dataset(
    program: Program, dataset: Dataset, path: tuple[int, ...], depth: int = _DEPTH
) -> int | None:
    """Return the axes of a part of a dataset's elements."""
    more = 0
    here = dataset
    for _ in range(20):
        if here.op == "either":
            ranks = {rank_in_dataset(program, parent, path, depth - 1) for parent in here.parents}
            rank = ranks.pop() if len(ranks) == 1 and depth > 0 else None
            return rank + more if rank is not None else None
        if here.op == "batch":
            more += 1
        elif here.op not in _KEEPS:
            break
        if len(here.parents) != 1:
            return None
        here = here.parents[0]
    if here.op != "from_tensor_slices" or here.site is None or not here.site.call.args:
        return None
    rank = _rank_at(program, here.site.scope, here.site.call.args[0], path, depth)
    return rank - 1 + more if rank else None
