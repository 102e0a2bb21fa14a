"""Whole files that are read again for every batch or element."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import inside
from cfgfix.code.model.expressions import children, constant, dotted, is_name, text
from cfgfix.code.model.hit import hit_at
from cfgfix.code.model.nodes import Attribute, Binary, Call, Expr, FString, Literal, Name
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Site, functions_of
from cfgfix.rules.hit import Hit

_BATCHES = frozenset({"keras.utils.Sequence", "keras.utils.PyDataset"})
_READS = frozenset(
    {
        "numpy.load", "numpy.loadtxt", "numpy.genfromtxt", "pandas.read_csv", "pandas.read_parquet", "pandas.read_pickle", "pandas.read_hdf",
        "pandas.read_json", "pandas.read_excel", "pandas.read_feather", "pandas.read_table", "pickle.load", "joblib.load", "json.load", "scipy.io.loadmat",
    }
)  # fmt: skip
_FROM_PYTHON = ("tensorflow.py_function", "tensorflow.numpy_function")
_JOINS = frozenset({"join", "Path", "str", "open", "format", "joinpath", "fspath"})


def read_per_batch(program: Program) -> Iterator[Hit]:
    """Find code that reads the same whole file for every batch or element."""
    told: set[tuple[int, int]] = set()
    for scope, what, loop in _asked_each_time(program):
        for site in flow_of(program).within(scope):
            key = (id(scope), site.call.number)
            if site.name not in _READS or key in told or not _is_whole(site):
                continue
            if loop is not None and not _is_next_to(scope, site.call, loop):
                continue
            if loop is None and any(
                block.kind in ("if", "try", "except", "for", "while")
                for block in scope.block_chain(site.call.block)
            ):
                continue
            given = next(iter(site.call.args), None)
            if given is None or not _is_one_file(program, scope, given, loop):
                continue
            told.add(key)
            yield hit_at(site, values={"read": text(site.call.func), "file": text(given), "what": what})


def _asked_each_time(program: Program) -> Iterator[tuple[Scope, str, int | None]]:
    """Yield the functions that run for every batch or element, with words for it.

    For a generator the loop that yields comes with it.
    """
    for module in program.modules:
        scopes = module.summary.scopes
        for scope in scopes:
            owner = program.owner(scope)
            if (
                scope.name == "__getitem__"
                and owner is not None
                and _BATCHES & set(program.bases(owner).outside)
            ):
                yield scope, f"every batch that {owner.name} gives", None
                for site in flow_of(program).within(scope):
                    for target in site.targets:
                        if program.owner(target.scope) is owner and not scope.loops(site.call.block):
                            yield target.scope, f"every batch that {owner.name} gives", None
            elif scope.generator and scope.kind == "function":
                for event in scope.events_of("yield"):
                    loops = [
                        n
                        for n in scope.block_numbers(event.block)
                        if scope.blocks[n].kind in ("for", "while")
                    ]
                    if loops:
                        yield scope, "every turn of the loop that yields", loops[0]
    for site in flow_of(program).named(*_FROM_PYTHON):
        for function in functions_of(site.argument(0, "func")):
            yield function.scope, "every element", None


def _is_whole(site: Site) -> bool:
    """Tell whether a call reads a file to its end."""
    call = site.call
    mapped = call.argument(1, "mmap_mode") if site.name == "numpy.load" else None
    if mapped is not None and constant(mapped) is not None:
        return False
    skipped = call.keyword("skiprows")
    if skipped is not None and not (
        type(constant(skipped)) is int and constant(skipped) <= _MOST_LINES_OF_HEADER
    ):
        return False
    return not call.opaque and all(
        call.keyword(name) is None for name in ("nrows", "max_rows", "chunksize", "columns")
    )


_MOST_LINES_OF_HEADER = 20
"""Most lines before the data that a call may skip and still reads the whole file."""


def _is_next_to(scope: Scope, call: Call, loop: int) -> bool:
    """Tell whether a call stands directly in a loop, under no condition."""
    for number in scope.block_numbers(call.block):
        if number == loop:
            return True
        if scope.blocks[number].kind != "with":
            return False
    return False


def _is_one_file(program: Program, scope: Scope, expr: Expr, loop: int | None, depth: int = 5) -> bool:
    """Tell whether an expression names the same file in every call or turn."""
    if depth <= 0:
        return False
    if isinstance(expr, Literal):
        return True
    if isinstance(expr, Attribute):
        own = scope.params[0].name if scope.params and program.owner(scope) is not None else None
        if own is not None and is_name(expr.base, own):
            return _is_set_once(program, scope, expr.attribute)
        return _is_one_file(program, scope, expr.base, loop, depth - 1)
    if isinstance(expr, Call):
        last = (dotted(expr.func) or expr.method or "").rpartition(".")[2]
        parts = [*expr.args, *(value for _, value in expr.keywords)]
        parts += [expr.receiver] if last == "joinpath" and expr.receiver is not None else []
        return (
            last in _JOINS
            and bool(parts)
            and all(_is_one_file(program, scope, part, loop, depth - 1) for part in parts)
        )
    if isinstance(expr, (FString, Binary)):
        return all(_is_one_file(program, scope, part, loop, depth - 1) for part in children(expr))
    if not isinstance(expr, Name):
        return False
    bound = scope.binding(expr.name)
    if loop is not None and not any(
        _changes_in(scope, event.block, loop, [number for number, _ in event.bodies]) for event in bound
    ):
        return True
    if not bound:
        return not any(item.name == expr.name for item in scope.params)
    if len(bound) != 1:
        return False
    event = bound[0]
    if event.kind == "with":
        opened = [
            item
            for item, target in zip(event.managers, event.targets, strict=False)
            if is_name(target, expr.name)
        ]
        return (
            len(opened) == 1
            and isinstance(opened[0], Call)
            and bool(opened[0].args)
            and _is_one_file(program, scope, opened[0].args[0], loop, depth - 1)
        )
    return (
        event.kind == "assign"
        and event.value is not None
        and _is_one_file(program, scope, event.value, loop, depth - 1)
    )


def _changes_in(scope: Scope, block: int, loop: int, bodies: list[int]) -> bool:
    return loop in bodies or inside(scope, block, loop)


def _is_set_once(program: Program, scope: Scope, attribute: str) -> bool:
    """Tell whether only the constructor sets an attribute."""
    stores = [
        where.name
        for module in program.modules
        for where, _, target in module.stores()
        if target.attribute == attribute
        and (where.module is scope.module or not is_name(target.base, "self"))
    ]
    return bool(stores) and all(name == "__init__" for name in stores)
