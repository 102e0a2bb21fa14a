"""`predict` for one sample or one batch at a time: in a loop, or in a function that a loop calls."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from cfgfix.code.checks.common import few_turns, in_tests, only_value
from cfgfix.code.checks.models import keras_model_method
from cfgfix.code.checks.pipelines import upstream
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.guards import statement_of
from cfgfix.code.inference.hot_paths import inside
from cfgfix.code.inference.releases import is_tf_keras
from cfgfix.code.model.expressions import assignment_pairs, constant, dotted, is_name, text, walk
from cfgfix.code.model.hit import at, hit_at
from cfgfix.code.model.nodes import Attribute, Binary, Call, Collection, Expr, Literal, Name, Slice, Subscript
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Event, Point, Scope, bind
from cfgfix.code.model.values import ClassValue, Element, Function, Site, Value, alternatives
from cfgfix.rules.hit import Hit

_SHOWS = frozenset(
    {"imshow", "waitKey", "plot", "show", "savefig", "subplot", "subplots", "figure", "scatter", "putText"}
)
_DEPTH = 3
_LOOPS = ("for", "while", "comprehension")


def in_loop(program: Program) -> Iterator[Hit]:
    """Find calls of `predict` for one sample or one batch that a loop makes.

    It makes them itself or through a function.
    """
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).sites:
        if site.call.method != "predict" or keras_model_method(site.name) != "predict":
            continue
        scope = site.scope
        if (
            (id(scope), site.call.number) in seen
            or written_for_one(program, scope)
            or not is_tf_keras(program, scope)
        ):
            # Keras without TensorFlow 2 feeds arrays to a function that it keeps.
            continue
        seen.add((id(scope), site.call.number))
        arg = site.call.argument(0, "x")
        if arg is None:
            continue
        single = one_sample(arg, scope, site.call.block) or is_read_as_one_prediction(program, site)
        found = loop_around(program, site)
        if found is None or not (single or _goes_over_batches(site, arg, *found)):
            continue
        where, loop, caller = found
        yield hit_at(
            site,
            flow=() if caller is None else (at(caller, label="called in this loop"),),
            severity="info"
            if (
                (
                    (where.blocks[loop].kind in _LOOPS and _shows_pictures(where, loop))
                    or _shows_pictures(scope, 0 if where is not scope else loop)
                )
                and not _reads_frames(where, loop)
            )
            or _has_few_turns(program, where, loop, 100)
            or runs_in_some_turns(where, site.call.block if caller is None else caller.call.block, loop)
            else None,
            values={
                "loop_line": caller.call.line
                if caller is not None and where.blocks[loop].kind not in _LOOPS
                else where.blocks[loop].line,
                "arg": text(arg),
                "each": "a single sample" if single else "one batch",
            },
        )


def loop_around(program: Program, site: Site) -> tuple[Scope, int, Site | None] | None:
    """Return the scope and the loop that run a call many times, or None.

    With them comes the call that leads from the loop to it; None where the loop is in the same scope.
    """
    loop = _innermost_loop(site.scope, site.call.block)
    if loop is not None:
        return None if _has_few_turns(program, site.scope, loop, 10) else (site.scope, loop, None)
    pending, seen = [site.scope], {id(site.scope)}
    for _ in range(_DEPTH):
        above: list[Scope] = []
        for scope in pending:
            for caller in (*flow_of(program).callers(scope), *_calls_by_attribute(program, scope)):
                if in_tests(caller.scope) or id(caller.scope) in seen:
                    continue
                loop = _innermost_loop(caller.scope, caller.call.block)
                if loop is not None and not _has_few_turns(program, caller.scope, loop, 10):
                    return caller.scope, loop, caller
                seen.add(id(caller.scope))
                above.append(caller.scope)
            for caller in _calls_by_rows(program, scope):
                if not in_tests(caller.scope):
                    return caller.scope, caller.call.block, caller
        pending = above
    return None


_EACH_ROW = frozenset({"apply", "map", "progress_apply", "applymap"})


@once
def _calls_by_rows(program: Program, function: Scope) -> list[Site]:
    """Return the calls that run a function for each row of a table, or by `map`."""
    if function.kind != "function" or function.generator:
        return []
    found: list[Site] = []
    for scope in function.module.summary.scopes:
        for call in scope.calls:
            of_table = (
                call.method in _EACH_ROW
                and isinstance(call.receiver, (Subscript, Attribute))
                and _is_column_of_table(scope, call.receiver)
            )
            given = next(iter(call.args), None)
            if not (of_table or (is_name(call.func, "map") and "map" not in scope.names)) or given is None:
                continue
            target = program.static_value(given, scope) if isinstance(given, Name) else None
            if isinstance(target, Function) and target.scope is function:
                found.append(Site(scope, call, ()))
    return found


def _is_column_of_table(scope: Scope, column: Expr) -> bool:
    """Tell whether an expression is a column of a table that pandas reads."""
    while isinstance(column, (Subscript, Attribute)):
        column = column.base
    made = only_value(scope, column) if isinstance(column, Name) else None
    return isinstance(made, Call) and (dotted(made.func) or "").rpartition(".")[2] in (
        "read_csv", "read_parquet", "read_excel", "read_json", "read_table", "read_pickle", "DataFrame",
    )  # fmt: skip


_MOST_FILES = 200


@once
def _calls_by_attribute(program: Program, method: Scope) -> list[Site]:
    """Return the calls of a method on an attribute of another object.

    Example: `self.net.value(x)`, where the constructor keeps `net`. The files of these calls need not know
    TensorFlow.
    """
    owner = program.owner(method)
    if owner is None or method.name.startswith("__"):
        return []
    found: list[Site] = []
    word = f".{method.name}(".encode()
    for module in itertools.islice(program.all_modules(words=(word,)), _MOST_FILES):
        for scope in module.summary.scopes:
            for call in scope.calls_of(method.name):
                kept = call.receiver
                keeper = program.owner(scope)
                if keeper is owner and scope.params and is_name(kept, scope.params[0].name):
                    found.append(Site(scope, call, ()))
                if (
                    keeper is not None
                    and scope.params
                    and isinstance(kept, Attribute)
                    and is_name(kept.base, scope.params[0].name)
                    and _is_made_with(program, keeper, kept.attribute, owner)
                ):
                    found.append(Site(scope, call, ()))
    return found


@once
def _is_made_with(program: Program, keeper: Scope, attribute: str, owner: Scope) -> bool:
    """Tell whether an attribute keeps an object that its constructor is given.

    The object must be made by another given class.
    """
    stored = [
        (where, value)
        for where in keeper.module.summary.scopes
        if program.owner(where) is keeper
        for event in where.events_of("assign")
        for target in event.targets
        for kept, value in assignment_pairs(target, event.value)
        if isinstance(kept, Attribute) and kept.attribute == attribute and isinstance(kept.base, Name)
    ]
    if len(stored) != 1 or not isinstance(stored[0][1], Name) or stored[0][0].name != "__init__":
        return False
    where, name = stored[0][0], stored[0][1].name
    position = next((number for number, item in enumerate(where.params) if item.name == name), 0)
    if position == 0 or where.binding(name):
        return False
    word = f"{keeper.name}(".encode()
    for module in itertools.islice(program.all_modules(words=(word,)), _MOST_FILES):
        for scope in module.summary.scopes:
            for call in scope.calls:
                if (dotted(call.func) or "").rpartition(".")[2] != keeper.name:
                    continue
                given = only_value(scope, call.argument(position - 1, name))
                if isinstance(given, Name):
                    given = only_value(module.summary.scopes[0], given)
                if (
                    isinstance(given, Call)
                    and _is_class(program.static_value(given.func, scope), owner)
                    and _is_class(program.static_value(call.func, scope), keeper)
                ):
                    return True
    return False


def _is_class(value: Value | None, owner: Scope) -> bool:
    return isinstance(value, ClassValue) and value.scope is owner


def _goes_over_batches(site: Site, arg: Expr, where: Scope, loop: int, caller: Site | None) -> bool:
    """Tell whether a loop over a dataset passes each batch to `predict`.

    It may do so through the function that it calls.
    """
    bound = _name_without_casts(arg)
    given = site.argument(0, "x")
    if caller is not None and bound is not None:
        names = [item.name for item in site.scope.params]
        entered = next((item for item in caller.targets if item.scope is site.scope), None)
        if entered is None or bound not in names or site.scope.binding(bound):
            return False
        position = names.index(bound) - int(entered.receiver is not None) - entered.partial
        passed = caller.call.argument(position, bound) if position >= 0 else None
        if passed is None:
            return False
        given = caller.argument(position, bound)
        bound = _name_without_casts(passed)
    if bound is None:
        return False
    event = next(
        (item for item in where.events() if item.kind == "for" and item.bodies and item.bodies[0][0] == loop),
        None,
    )
    if event is None or event.value is None:
        return False
    names_of_loop: dict[str, None] = {}
    for target in event.targets:
        bind(target, names_of_loop)
    if bound not in names_of_loop or not _names_of(where, bound, event):
        return False
    datasets = [item.dataset for item in alternatives(given) if isinstance(item, Element)]
    shown = text(event.value)
    if datasets:
        return not any(step.op == "take" for item in datasets for step in (item, *upstream(item)))
    return OVER_BATCHES.search(shown) is not None and ".take(" not in shown


OVER_BATCHES = re.compile(
    r"(?:^|[._(\s])(?:\w+_)?(?:dataset|ds|loader|dataloader|batches)(?:\)|$)", re.IGNORECASE
)
"""What goes over batches is called so where nothing else says it."""


def _name_without_casts(expr: Expr) -> str | None:
    """Return the name in an expression that only casts or copies the value, or None."""
    for _ in range(4):
        if isinstance(expr, Name):
            return expr.name
        if not isinstance(expr, Call):
            return None
        if (dotted(expr.func) or expr.method or "").rpartition(".")[2] not in _KEEPS_SHAPE:
            return None
        inner = (
            expr.receiver
            if expr.method and not _is_library_function(expr.func)
            else next(iter(expr.args), None)
        )
        if inner is None:
            return None
        expr = inner
    return None


def _names_of(scope: Scope, name: str, loop: Event) -> bool:
    """Tell whether only the loop statement assigns a name in the loop."""
    return all(
        event is loop or not loop.place.start <= event.place.start < loop.place.end
        for event in scope.binding(name)
    )


def _innermost_loop(scope: Scope, block: int) -> int | None:
    for number in scope.block_numbers(block):
        if scope.blocks[number].kind in _LOOPS:
            return number
    return None


def _has_few_turns(program: Program, scope: Scope, loop: int, most: int) -> bool:
    """Tell whether a loop and all loops around it have few turns."""
    while True:
        test = scope.blocks[loop].test
        written = test is not None and isinstance(test, Collection) and len(test.items) <= most
        if not written and not few_turns(program, scope, loop, most):
            return False
        above = _innermost_loop(scope, scope.blocks[loop].parent)
        if above is None:
            return True
        loop = above


def _shows_pictures(scope: Scope, loop: int) -> bool:
    """Tell whether a loop displays what it predicts."""
    return any(call.method in _SHOWS and inside(scope, call.block, loop) for call in scope.calls)


def _reads_frames(scope: Scope, loop: int) -> bool:
    """Tell whether a loop reads frames of a video or a camera."""
    return any(
        call.method == "read"
        and not call.args
        and inside(scope, call.block, loop)
        and any(
            (dotted(event.value.func) or "").endswith("VideoCapture")
            for event in scope.binding(call.func.base.name)
            if event.kind == "assign" and event.value is not None and isinstance(event.value, Call)
        )
        for call in scope.calls
        if isinstance(call.func, Attribute) and isinstance(call.func.base, Name)
    )


def runs_in_some_turns(scope: Scope, block: int, loop: int) -> bool:
    """Tell whether a place in a loop runs only in some of its turns."""
    for number in scope.block_numbers(block):
        if number == loop:
            return False
        item = scope.blocks[number]
        if item.kind == "except" or (item.kind == "if" and item.test is not None and "%" in text(item.test)):
            return True
    return False


_KEEPS_SHAPE = frozenset(
    {"astype", "copy", "cast", "numpy", "clip", "abs", "array", "asarray", "float32", "preprocess_input"}
)
_FILLED = frozenset({"zeros", "ones", "empty", "full"})
_OF_TEXTS = frozenset({"pad_sequences", "texts_to_sequences", "texts_to_matrix"})
"""What makes a row of numbers of each text it is given."""


def one_sample(expr: Expr, scope: Scope, block: int, depth: int = 5, before: Point | None = None) -> bool:
    """Tell whether an expression is one element made into a batch of one."""
    if depth < 0:
        return False
    if isinstance(expr, Binary):
        return any(one_sample(side, scope, block, depth - 1, before) for side in (expr.left, expr.right))
    if isinstance(expr, Collection):
        return expr.kind == "list" and len(expr.items) == 1 and not isinstance(expr.items[0], Literal)
    if isinstance(expr, Subscript):
        return _takes_one(expr.index)
    if isinstance(expr, Call):
        call = expr
        name = (dotted(call.func) or call.method or "").rpartition(".")[2]
        if name == "expand_dims":
            return constant(call.argument(1, "axis")) in (0, (0,), [0])
        if name == "atleast_2d":
            return True
        if name == "reshape":
            given = call.args[1:] if _is_library_function(call.func) else call.args
            shape = given[0] if given else call.keyword("shape") or call.keyword("newshape")
            first = (
                shape.items[0]
                if shape is not None and isinstance(shape, Collection) and shape.items
                else shape
            )
            return bool(constant(first) == 1)
        if name in _FILLED and _is_library_function(call.func):
            shape = call.argument(0, "shape")
            return (
                isinstance(shape, Collection)
                and len(shape.items) > 1
                and type(constant(shape.items[0])) is int
                and constant(shape.items[0]) == 1
            )
        if name in _OF_TEXTS:
            inner = call.args[0] if call.args else None
            return inner is not None and one_sample(inner, scope, block, depth - 1, before)
        if name in ("array", "asarray", "stack", "convert_to_tensor", "constant", "vstack"):
            inner = call.args[0] if call.args else None
            if inner is not None and isinstance(inner, Collection) and inner.kind == "list":
                return len(inner.items) == 1 and not isinstance(inner.items[0], Literal)
            return inner is not None and one_sample(inner, scope, block, depth - 1, before)
        if name in _KEEPS_SHAPE:
            inner = (
                call.receiver
                if call.method and not _is_library_function(call.func) and name != "preprocess_input"
                else (call.args or (None,))[0]
            )
            return inner is not None and one_sample(inner, scope, block, depth - 1, before)
        return False
    if isinstance(expr, Name):
        event = _last_assignment(scope, expr.name, block, before)
        return (
            event is not None
            and event.value is not None
            and not is_name(event.value, expr.name)
            and one_sample(event.value, scope, block, depth - 1, event.place.start)
        )
    return False


def _is_library_function(func: Expr) -> bool:
    """Tell whether a call is a module's function, such as `np.reshape`, not a method."""
    return (
        isinstance(func, Attribute)
        and isinstance(func.base, Name)
        and func.base.name in ("np", "numpy", "tf", "tensorflow", "K")
    )


def _takes_one(index: Expr) -> bool:
    """Tell whether an index takes one sample and keeps its axis.

    Examples: `[i:i+1]`, `[None]`, `[np.newaxis, ...]`, `[[i]]`.
    """
    first = (
        index.items[0] if isinstance(index, Collection) and index.kind == "tuple" and index.items else index
    )
    if isinstance(first, Slice):
        lower, upper, step = first.lower, first.upper, first.step
        if upper is None or step is not None:
            return False
        if lower is None:
            return bool(constant(upper) == 1)
        shown, end = text(lower), text(upper)
        return end in (f"{shown} + 1", f"1 + {shown}") or (
            type(constant(lower)) is int and constant(upper) == constant(lower) + 1
        )
    if isinstance(first, Collection) and first.kind == "list":
        return len(first.items) == 1
    return re.fullmatch(r"None|(?:\w+\.)?newaxis", text(first)) is not None


def _last_assignment(scope: Scope, name: str, block: int, before: Point | None = None) -> Event | None:
    """Return the last assignment of a name on the way to a block, or None.

    With a point in the text, only assignments before it count.
    """
    around = set(scope.block_numbers(block))
    found = None
    for event in scope.binding(name):
        if before is not None and event.place.start >= before:
            continue
        if event.kind in ("assign", "annotate") and event.block in around:
            if not any(is_name(target, name) for target in event.targets):
                return None
            found = event
        elif event.kind == "for" and event.bodies and event.bodies[0][0] in around:
            found = None
    return found


def is_read_as_one_prediction(program: Program, site: Site) -> bool:
    """Tell whether the result of a prediction is read as that for one sample.

    Code reads it so by `argmax` of all of it, or of its first row.
    """
    scope = site.scope
    whole: Expr = site.call
    event = statement_of(scope, site.call.place)
    if (
        event is not None
        and event.kind == "assign"
        and event.value is whole
        and len(event.targets) == 1
        and isinstance(event.targets[0], Name)
        and len(scope.binding(event.targets[0].name)) == 1
    ):
        whole = event.targets[0]
    return (whole.name if isinstance(whole, Name) else id(whole)) in _read_as_one(program, scope)


@once
def _read_as_one(program: Program, scope: Scope) -> set[str | int]:
    """Return the names and other expressions that a scope reads as one sample.

    The other expressions are given by identity.
    """
    del program
    found: list[Expr] = []
    for item in scope.events():
        # `target_f[0][action] = target` writes into the first row.
        found += [
            target.base.base
            for target in item.targets
            if isinstance(target, Subscript)
            and isinstance(target.base, Subscript)
            and constant(target.base.index) == 0
        ]
        found += [
            part.base.base
            for part in (walk(item.value) if item.value is not None else ())
            if isinstance(part, Subscript)
            and isinstance(part.base, Subscript)
            and constant(part.base.index) == 0
            and constant(part.index) == 0
        ]
    for call in scope.calls:
        name = (dotted(call.func) or "").rpartition(".")[2]
        if name in ("argmax", "amax", "max", "nanargmax", "choice", "argsort") and call.args:
            inner = call.args[0]
            if isinstance(inner, Subscript) and constant(inner.index) == 0:
                found.append(inner.base)
            if (
                name == "argmax"
                and len(call.args) == 1
                and not any(key in ("axis", "out") for key, _ in call.keywords)
            ):
                found.append(inner)
        if call.method in ("argmax", "max", "item") and not call.args and not call.keywords:
            owner = call.receiver
            if isinstance(owner, Subscript) and constant(owner.index) == 0:
                owner = owner.base
            if owner is not None:
                found.append(owner)
    return {expr.name if isinstance(expr, Name) else id(expr) for expr in found}
