"""Code that does not work as it looks in a compiled function."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.common import inside_function, short, tensorflow_alias
from cfgfix.code.checks.compiled_scopes import (
    compiled_for_sure,
    compiled_reach,
    compiled_scopes,
    eager_guard,
)
from cfgfix.code.checks.element_loops import turns_in_graph
from cfgfix.code.checks.guarded_calls import flag
from cfgfix.code.checks.models import may_fit_eagerly
from cfgfix.code.inference.entry_points import calls_are_known
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.guards import ready_inline, tests_before
from cfgfix.code.inference.hot_paths import ELEMENT, GRAPH, PY_FUNCTIONS, PYTHON, Reach, Root, hot_paths
from cfgfix.code.model.expressions import dotted, is_name, text, walk
from cfgfix.code.model.hit import Rewrite, Step, hit_at, hit_in
from cfgfix.code.model.nodes import (
    Attribute,
    Binary,
    Call,
    Expr,
    FString,
    Literal,
    Name,
    Place,
    Subscript,
)
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Site
from cfgfix.rules.hit import Hit


def numpy_method(program: Program) -> Iterator[Hit]:
    """Find `.numpy()` in a compiled function."""
    for scope, reach in compiled_scopes(program):
        for call in scope.calls:
            if call.method != "numpy" or call.args or call.keywords:
                continue
            handler = _handler_of(scope, call.block)
            if eager_guard(scope, call.block, tries=handler is None):
                continue
            given: frozenset[str] = frozenset()
            if handler is not None and not compiled_for_sure(reach):
                continue
            if handler is not None and reach.path:
                # Something else may call it eagerly.
                given = _tensors_given(program, scope, GRAPH)
                if not isinstance(call.receiver, Name) or call.receiver.name not in given:
                    continue
            if not reach.passes(call.block, call.place):
                continue
            if guarded_type(scope, call.block, call.place) or ready_inline(scope, call.place):
                continue
            if call.receiver is None or not (given or _tensor_like(program, scope, call.receiver, reach)):
                continue
            step = Step(scope, call.name_place, call.block, "")
            yield hit_in(
                scope,
                step.place,
                call.block,
                {
                    "expr": text(call),
                    "via": reach.via,
                    "then": f", and the handler in line {handler} runs in its place"
                    if handler is not None
                    else "",
                },
                entry=reach,
                # Code that raises at its first call is mended at once: on a long way something that is not seen keeps it from it.
                severity="warning"
                if handler is not None
                else None
                if _is_compiled_directly(reach)
                and not is_conditional(scope, call.block)
                and (compiled_for_sure(reach) or not may_fit_eagerly(program))
                else "info",
                confidence=None if compiled_for_sure(reach) else "medium",
            )


_OF_ARRAYS = frozenset(
    {"astype", "tolist", "item", "flatten", "ravel", "fill", "argsort", "argmax", "argmin", "cumsum"}
)
"""Methods of NumPy's arrays that tensors do not have."""
_PLAIN = frozenset({"astype", "flatten", "ravel", "tolist", "item"})
"""Those that a parameter is not asked for unless it is an array or a tensor."""


def array_method(program: Program) -> Iterator[Hit]:
    """Find methods of arrays that are called on tensors while a function is traced."""
    if any(
        "numpy_behavior" in (dotted(call.func) or "")
        for module in program.linked
        for scope in module.summary.scopes
        for call in scope.calls
    ):
        return
    given = _given_attributes(program)
    reached = [
        *compiled_scopes(program),
        *((reach.scope, reach) for reach in hot_paths(program).reached(ELEMENT)),
    ]
    seen: set[tuple[int, int]] = set()
    for scope, reach in reached:
        element = reach.root.kind == ELEMENT
        given_here = _tensors_given(program, scope, ELEMENT) if element and reach.path else frozenset()
        if element and reach.path and not given_here:
            continue
        for call in scope.calls:
            key = id(scope), call.number
            known = call.method in _OF_ARRAYS or (element and call.method == "numpy")
            if not known or call.method in given or key in seen or not isinstance(call.func, Attribute):
                continue
            if call.method == "numpy" and (call.args or call.keywords):
                continue
            asked = call.func.base
            parameter = isinstance(asked, Name) and any(item.name == asked.name for item in scope.params)
            if (
                isinstance(asked, Name)
                and parameter
                and (
                    call.method not in (*_PLAIN, "numpy")
                    or (reach.path and asked.name not in given_here)
                    or scope.binding(asked.name)
                    or _is_own(program, scope, asked)
                )
            ):
                continue
            if not parameter and (given_here or not _is_result(program, scope, asked)):
                continue
            handler = _handler_of(scope, call.block) if element and call.method == "numpy" else None
            if eager_guard(scope, call.block, tries=handler is None) or not reach.passes(
                call.block, call.place
            ):
                continue
            if guarded_type(scope, call.block, call.place) or ready_inline(scope, call.place):
                continue
            seen.add(key)
            yield hit_in(
                scope,
                call.name_place,
                call.block,
                {
                    "expr": text(call),
                    "method": call.method,
                    "via": reach.via
                    if handler is None
                    else f"{reach.via}; the handler in line {handler} runs in its place",
                },
                entry=reach,
                severity=None if handler is None and not is_conditional(scope, call.block) else "warning",
            )


@once
def _tensors_given(program: Program, scope: Scope, kind: str) -> frozenset[str]:
    """Return the parameters that every call of a function gives a tensor without a value.

    All that calls it is compiled, or run for the elements of a dataset, as `kind` says; empty where that is not known.
    """
    hot = hot_paths(program)
    callers = flow_of(program).callers(scope)
    if not callers or hot.reach(scope, PYTHON) is not None or not calls_are_known(program, scope.module):
        return frozenset()
    found = {item.name for item in scope.params if not scope.binding(item.name)}
    for caller in callers:
        reach = hot.reach(caller.scope, kind)
        target = next((item for item in caller.targets if item.scope is scope), None)
        if (
            reach is None
            or reach.path
            or target is None
            or target.partial
            or target.fixed
            or caller.call.opaque
            or (
                kind == GRAPH
                and (compiled_reach(program, caller.scope) is None or not compiled_for_sure(reach))
            )
        ):
            return frozenset()
        offset = int(target.receiver is not None)
        for position, item in enumerate(scope.params):
            argument = caller.call.argument(position - offset, item.name) if position >= offset else None
            if argument is None or not _is_tensor_of(program, caller.scope, argument, reach):
                found.discard(item.name)
    return frozenset(found)


def _is_tensor_of(program: Program, scope: Scope, expr: Expr, reach: Reach) -> bool:
    if reach.root.kind != ELEMENT:
        return _tensor_like(program, scope, expr, reach)
    return _is_result(program, scope, expr) or (
        isinstance(expr, Name)
        and any(item.name == expr.name for item in scope.params)
        and not scope.binding(expr.name)
        and not _is_own(program, scope, expr)
    )


def _is_own(program: Program, scope: Scope, name: Name) -> bool:
    """Tell whether a name is `self`, the object of a method."""
    return program.owner(scope) is not None and bool(scope.params) and name.name == scope.params[0].name


def _is_result(program: Program, scope: Scope, expr: Expr) -> bool:
    """Tell whether an expression is the result of a TensorFlow operation.

    A name that is bound once counts as its value.
    """
    if isinstance(expr, Name):
        bound = scope.binding(expr.name)
        if len(bound) != 1 or bound[0].kind != "assign" or bound[0].value is None:
            return False
        if not any(is_name(target, expr.name) for target in bound[0].targets):
            return False
        expr = bound[0].value
    if isinstance(expr, Binary) and expr.operator in _ARITHMETIC:
        return _is_result(program, scope, expr.left) or _is_result(program, scope, expr.right)
    if not isinstance(expr, Call):
        return False
    names = {site.name for site in flow_of(program).within(scope) if site.call is expr}
    return bool(names) and all(name.startswith(_GIVES_TENSORS) for name in names)


_ARITHMETIC = frozenset({"+", "-", "*", "/", "//", "**"})
_GIVES_TENSORS = (
    "tensorflow.math.", "tensorflow.reduce_", "tensorflow.cast", "tensorflow.image.", "tensorflow.reshape", "tensorflow.concat", "tensorflow.stack",
    "tensorflow.where", "tensorflow.expand_dims", "tensorflow.squeeze", "tensorflow.transpose", "tensorflow.equal", "tensorflow.greater",
    "tensorflow.less", "tensorflow.nn.", "tensorflow.abs", "tensorflow.square", "tensorflow.io.decode", "tensorflow.io.read_file",
    "tensorflow.strings.", "tensorflow.shape", "tensorflow.random.", "tensorflow.argmax", "tensorflow.one_hot", "tensorflow.zeros", "tensorflow.ones",
)  # fmt: skip


@once
def _given_attributes(program: Program) -> frozenset[str]:
    """Return the names of all attributes that the project sets.

    Example: `tf.Tensor.astype = tf.cast`.
    """
    return frozenset(
        target.attribute
        for module in program.linked
        for scope in module.summary.scopes
        for event in scope.events()
        for target in event.targets
        if isinstance(target, Attribute)
    )


def _handler_of(scope: Scope, block: int) -> int | None:
    """Return the line of the handler that catches an AttributeError of a block.

    Only the innermost `try` counts. Return None where it has none.
    """
    number = block
    while number >= 0 and scope.blocks[number].kind not in ("try", "except"):
        number = scope.blocks[number].parent
    if number < 0 or scope.blocks[number].kind != "try":
        return None
    for event in scope.events():
        if event.kind == "try" and any(item == number for item, _ in event.bodies):
            for item, _ in event.bodies:
                handler = scope.blocks[item]
                if handler.kind == "except":
                    shown = text(handler.test) if handler.test is not None else ""
                    if not shown or re.search(r"\b(?:AttributeError|Exception|BaseException)\b", shown):
                        return handler.line
    return None


def is_conditional(scope: Scope, block: int) -> bool:
    """Tell whether a place runs only under a condition."""
    return any(item.kind in ("if", "while") for item in scope.block_chain(block))


def _is_compiled_directly(reach: Reach) -> bool:
    """Tell whether a function is compiled itself, or called by one that is."""
    root = reach.root.site
    return len(reach.path) <= 1 and (root is None or not root.through)


_NO_TENSORS = ("ndarray", "EagerTensor", "np.generic", "numpy.generic")


def guarded_type(scope: Scope, block: int, place: Place) -> bool:
    """Tell whether a type test lets only arrays or eager tensors reach a place.

    A compiled function never gets these.
    """
    tests = [(item.test, item.branch) for item in scope.block_chain(block) if item.kind == "if" and item.test]
    for test, wanted in (*tests, *tests_before(scope, place)):
        shown = text(test)
        if (
            wanted
            and ("isinstance(" in shown or "type(" in shown)
            and any(name in shown for name in _NO_TENSORS)
        ):
            return True
    return False


def _tensor_like(program: Program, scope: Scope, expr: Expr, reach: Reach) -> bool:
    """Tell whether an expression is computed from parameters or by TensorFlow."""
    names = {item.name for item in scope.params} if not reach.path else set()
    if scope.params and program.owner(scope) is not None:
        names.discard(scope.params[0].name)
    for _ in range(4):
        for event in scope.events():
            if event.kind in ("assign", "augment") and event.value is not None:
                if _static_shape(event.value):
                    continue
                computed = any(
                    (isinstance(part, Name) and part.name in names)
                    or (isinstance(part, Call) and _is_tensor_call(program, scope, part.number))
                    for part in walk(event.value)
                )
                if computed:
                    for target in event.targets:
                        for part in walk(target):
                            if isinstance(part, Name):
                                names.add(part.name)
    head = expr
    while isinstance(head, (Attribute, Subscript)):
        head = head.base
    if isinstance(head, Name):
        return head.name in names and not (isinstance(expr, Attribute) and head.name == "self")
    if isinstance(head, Call):
        return _is_tensor_call(program, scope, head.number)
    if isinstance(head, Binary) and head.operator in _ARITHMETIC:
        return any(_tensor_like(program, scope, side, reach) for side in (head.left, head.right))
    return False


def _static_shape(expr: Expr) -> bool:
    """Tell whether an expression is a static shape or a part of one.

    Examples: `x.shape[0]` and `x.get_shape().as_list()`.
    """
    while True:
        if isinstance(expr, Subscript):
            expr = expr.base
        elif isinstance(expr, Call):
            expr = expr.func
            if not isinstance(expr, Attribute) or expr.attribute not in ("as_list", "get_shape"):
                return False
            if expr.attribute == "get_shape":
                return True
            expr = expr.base
        else:
            return bool(isinstance(expr, Attribute) and expr.attribute == "shape")


def _is_tensor_call(program: Program, scope: Scope, number: int) -> bool:
    return any(
        site.call.number == number
        and site.name.startswith("tensorflow.")
        and not site.name.startswith(("tensorflow.io.gfile", "tensorflow.config", "tensorflow.get_logger"))
        for site in flow_of(program).within(scope)
    )


def print_while_tracing(program: Program) -> Iterator[Hit]:
    """Find `print` of a value in a compiled function, which prints only in tracing."""
    for site in flow_of(program).named("builtins.print"):
        reach = compiled_reach(program, site.scope, site)
        if (
            reach is None
            or reach.path
            or not compiled_for_sure(reach)
            or eager_guard(site.scope, site.call.block)
        ):
            continue
        # The static shape is the same in every call of one trace, and known while tracing.
        values = [
            arg
            for arg in site.call.args
            if not _is_text(arg) and not _static_shape(arg) and not _is_type(arg)
        ]
        if not values or _says_traced(site):
            continue
        if not any(
            _tensor_like(program, site.scope, part, reach) and not _only_handed_on(program, site.scope, part)
            for arg in values
            for part in walk(arg)
        ):
            continue
        plain = not site.call.keywords and not any(isinstance(arg, FString) for arg in site.call.args)
        alias = tensorflow_alias(site.scope)
        yield hit_at(
            site,
            entry=reach,
            values={"via": reach.via},
            rewrites=(Rewrite("replace", site.scope, site.call.func.place, f"{alias}.print"),)
            if plain and alias and isinstance(site.call.func, Name)
            else (),
            no_fix=None
            if plain
            else "a formatted text is made while tracing; give tf.print the values themselves",
        )


def _says_traced(site: Site) -> bool:
    """Tell whether a printed text mentions tracing."""
    place = site.call.place
    return any("rac" in line for line in site.scope.module.source_lines()[place.line - 1 : place.end_line])


def _only_handed_on(program: Program, scope: Scope, expr: Expr) -> bool:
    """Tell whether an expression is a parameter that nothing computes with.

    It may be a flag or a number of Python.
    """
    if not isinstance(expr, Name) or all(item.name != expr.name for item in scope.params):
        return False

    def holds(other: Expr) -> bool:
        return any(is_name(part, expr.name) for part in walk(other))

    for site in flow_of(program).within(scope):
        if site.name.startswith(("tensorflow.", "keras.")) or isinstance(site.call.func, Name):
            arguments = (*site.call.args, *(value for _, value in site.call.keywords))
            if site.name != "builtins.print" and any(holds(item) for item in arguments):
                return False
    return not any(
        isinstance(part, (Binary, Subscript)) and holds(part)
        for event in scope.events()
        if event.value is not None
        for part in walk(event.value)
    )


def _is_type(expr: Expr) -> bool:
    """Tell whether an expression is `type(...)`, which tracing knows."""
    return isinstance(expr, Call) and is_name(expr.func, "type")


def _is_text(expr: Expr) -> bool:
    return isinstance(expr, Literal) and isinstance(expr.value, str)


def unrolled_loop(program: Program) -> Iterator[Hit]:
    """Find long Python `range` loops in a compiled function."""
    for scope, reach in compiled_scopes(program):
        if not compiled_for_sure(reach):
            continue
        for event in scope.events():
            if event.kind != "for" or event.value is None or not isinstance(event.value, Call):
                continue
            if not reach.passes(event.block, None):
                continue
            call = event.value
            if (
                not isinstance(call.func, Name)
                or call.func.name != "range"
                or "range" in scope.names
                or not call.args
            ):
                continue
            bound = call.args[1] if len(call.args) > 1 else call.args[0]
            if (
                isinstance(bound, Literal)
                and type(bound.value) is int
                and bound.value > 50
                and event.bodies[0][1]
            ):
                if turns_in_graph(program, scope, event) is not None:
                    # One operation does it: what to do there is another matter.
                    continue
                around = _turns_around(scope, event.block)
                total = bound.value * around
                yield hit_in(
                    scope,
                    call.place,
                    event.block,
                    {
                        "n": bound.value,
                        "via": reach.via,
                        "total": f", {total:,} with the loops around it" if around > 1 else "",
                        "cost": "tracing it takes minutes, and the graph is kept in memory"
                        if total >= _MINUTES
                        else "slow to trace, fast to run",
                    },
                    entry=reach,
                    severity="warning" if total >= _MINUTES else None,
                )


_MINUTES = 2000
"""Turns whose tracing takes a minute and more."""


def _turns_around(scope: Scope, block: int) -> int:
    """Return the product of the turns of all constant `range` loops around a block."""
    total = 1
    numbers = set(scope.block_numbers(block))
    for event in scope.events():
        if event.kind != "for" or event.value is None or not isinstance(event.value, Call):
            continue
        if not any(item in numbers for item, _ in event.bodies[:1]):
            continue
        call = event.value
        if not is_name(call.func, "range") or len(call.args) != 1 or not isinstance(call.args[0], Literal):
            continue
        if type(call.args[0].value) is int:
            total *= max(1, call.args[0].value)
    return total


_NOT_COMPILED = {
    **dict.fromkeys(PY_FUNCTIONS, "runs Python code"),
    "tensorflow.print": "formats text",
    "tensorflow.strings.": "works on text",
    "tensorflow.io.": "reads or decodes files",
}


def not_for_xla(program: Program) -> Iterator[Hit]:
    """Find operations without an XLA kernel in a function with `jit_compile=True`."""
    for root in hot_paths(program).roots:
        if root.kind != GRAPH or not _is_jit(program, root):
            continue
        for site, path in inside_function(program, root.scope, depth=4):
            what = next(
                (
                    text_
                    for name, text_ in _NOT_COMPILED.items()
                    if site.name == name or (name.endswith(".") and site.name.startswith(name))
                ),
                None,
            )
            if what is None or site.name.startswith("tensorflow.io.gfile"):
                continue
            if eager_guard(site.scope, site.call.block):
                continue
            reach = Reach(root, site.scope, path)
            needs = tuple((outer.scope, outer.call.block) for outer in path)
            if root.step is not None:
                needs = (*needs, (root.step.scope, root.step.block))
            yield hit_at(
                site,
                entry=reach,
                needs=needs,
                # Under a condition it raises where that holds, and nothing here says that it does.
                severity="warning"
                if any(
                    item.kind == "if"
                    for scope, block in (
                        (site.scope, site.call.block),
                        *((p.scope, p.call.block) for p in path),
                    )
                    for item in scope.block_chain(block)
                )
                else None,
                values={"call": short(site), "what": what, "via": reach.via},
            )


def _is_jit(program: Program, root: Root) -> bool:
    if root.site is not None and root.site.name == "tensorflow.function":
        return (
            flag(root.site.argument(3, "jit_compile")) is True
            or flag(root.site.keywords.get("experimental_compile")) is True
        )
    outer = program.outer(root.scope)
    if outer is None:
        return False
    for decorator in root.scope.decorators:
        if isinstance(decorator, Call):
            for name in ("jit_compile", "experimental_compile"):
                value = decorator.keyword(name)
                if value is not None and isinstance(value, Literal) and value.value is True:
                    return True
    return False


OF_SHAPES = frozenset(
    f"numpy.{name}"
    for name in (
        "prod", "shape", "ndim", "size", "isscalar", "iterable", "issubdtype", "result_type", "can_cast", "dtype", "finfo", "iinfo",
        "random.seed", "broadcast_shapes", "set_printoptions",
    )
)  # fmt: skip
"""Functions of NumPy that ask for no values."""
ARRAYS = re.compile(r"(?:numpy|scipy\.[\w.]+|sklearn\.metrics|skimage\.metrics)\.\w+(?:\.\w+)?")
LOSS_CLASSES = frozenset({"keras.losses.Loss", "keras.metrics.Metric"})
LOSS_METHODS = frozenset({"call", "update_state"})
OF_ELEMENTS = frozenset({"map", "filter", "flat_map", "interleave"})
