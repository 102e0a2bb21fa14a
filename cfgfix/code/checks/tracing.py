"""What does not do what it looks like inside a compiled function."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from cfgfix.code.checks.common import (
    COMPILED,
    bound_in_loop,
    few_turns,
    fits_eagerly,
    flag,
    in_tests,
    inside_function,
    kept_eager,
    may_fit_eagerly,
    never_entered,
    short,
    tensorflow_alias,
)
from cfgfix.code.checks.moves import out_of_loop
from cfgfix.code.inference.conditions import Conditions, asks_mode
from cfgfix.code.inference.guards import before_in_expression, ready_inline, statement_of, unnegated
from cfgfix.code.inference.hot_paths import (
    GRAPH,
    PY_FUNCTIONS,
    PYTHON,
    Reach,
    Root,
    hot_paths,
    innermost_loop,
    inside,
)
from cfgfix.code.inference.releases import IMPORTS
from cfgfix.code.model.expressions import children, dotted, text, walk
from cfgfix.code.model.hit import Hit, Rewrite, Step, hit_at
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import (
    ATTRIBUTE,
    BINARY,
    CALL,
    CONSTANT,
    FORMAT,
    ITEMS,
    NAME,
    SUBSCRIPT,
    Call,
    Event,
    Expr,
    Place,
    Scope,
)
from cfgfix.code.model.values import Instance, Items, Site, alternatives, functions_of

NEEDLES = (*COMPILED, *IMPORTS)
"""What runs begin with decides, too: it may turn compiling off."""


def _graph(program: Program, scope: Scope, site: Site | None = None) -> Reach | None:
    """Return how a scope, or a call in it, is compiled, where it is never run by the interpreter as well."""
    hot = hot_paths(program)
    if in_tests(scope) or hot.reach(scope, PYTHON) is not None:
        return None
    reach = hot.reach(scope, GRAPH) if site is None else hot.reach_of(site, GRAPH)
    return None if reach is None or _kept_eager(program, reach) else reach


def _kept_eager(program: Program, reach: Reach) -> bool:
    """Tell whether the program runs eagerly what would be compiled: by a switch, or for Keras's fit anywhere."""
    return kept_eager(program, reach.root.scope.module) or (
        fits_eagerly(program) and not _compiled_for_sure(reach)
    )


def _compiled_for_sure(reach: Reach) -> bool:
    """Whether a decorator or a call of tf.function compiles it, not only Keras, which can be told not to."""
    return not reach.root.what.startswith("Keras")


def _scopes(program: Program) -> Iterator[tuple[Scope, Reach]]:
    for reach in hot_paths(program).reached(GRAPH):
        if _graph(program, reach.scope) is not None:
            yield reach.scope, reach


def _eager_guard(scope: Scope, block: int, *, tries: bool = True) -> bool:
    """Tell whether a block may only run outside a graph, by a test that is not decided while a function is traced.

    Args:
        scope: The scope.
        block: The block.
        tries: Whether a `try` counts as one.
    """
    for item in scope.block_chain(block):
        if item.kind == "if" and item.test is not None:
            shown = text(item.test, scope)
            if (
                (_ASKS_MODE.search(shown) and not _decided(item.test, scope))
                or "is_eager" in shown
                or "hasattr" in shown
                or "isinstance" in shown
                or "is_tensor" in shown
                or "is_symbolic" in shown
            ):
                return True
        if item.kind in ("try", "except") and tries:
            return True
        if item.kind == "with" and item.test is not None and "init_scope" in text(item.test, scope):
            return True
    return False


_ASKS_MODE = re.compile("executing_eagerly|inside_function|functions_run_eagerly|run_eagerly")


def _decided(test: Expr, scope: Scope) -> bool:
    """Tell whether a test is nothing but the question whether functions run eagerly, which a traced function answers with no."""
    test, _ = unnegated(test, True)
    return test[0] == CALL and asks_mode(scope.calls[test[1]].func) is not None


def numpy_method(program: Program) -> Iterator[Hit]:
    """`.numpy()` in a compiled function."""
    for scope, reach in _scopes(program):
        for call in scope.calls:
            if call.method != "numpy" or call.args or call.keywords:
                continue
            handler = _handler_of(scope, call.block)
            if _eager_guard(scope, call.block, tries=handler is None):
                continue
            if handler is not None and (reach.path or not _compiled_for_sure(reach)):
                # Something else may call it eagerly.
                continue
            if not reach.passes(call.block, call.place):
                continue
            if _guarded_type(scope, call.block, call.place) or ready_inline(scope, call.block, call.place):
                continue
            if not _tensor_like(program, scope, call.func[1], reach):
                continue
            step = Step(scope, call.name_place, call.block, "")
            yield Hit(
                scope,
                step.place,
                call.block,
                {
                    "expr": text((CALL, call.number), scope),
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
                if _direct(reach)
                and not _conditional(scope, call.block)
                and (_compiled_for_sure(reach) or not may_fit_eagerly(program))
                else "info",
                confidence=None if _compiled_for_sure(reach) else "medium",
            )


def _handler_of(scope: Scope, block: int) -> int | None:
    """Return the line of the handler that takes an AttributeError raised in a block, where the innermost `try` has one."""
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
                    shown = text(handler.test, scope) if handler.test is not None else ""
                    if not shown or re.search(r"\b(?:AttributeError|Exception|BaseException)\b", shown):
                        return handler.line
    return None


def _conditional(scope: Scope, block: int) -> bool:
    """Tell whether a place runs under a condition only."""
    return any(item.kind in ("if", "while") for item in scope.block_chain(block))


def _direct(reach: Reach) -> bool:
    """Tell whether a function is compiled where it stands, or called by one that is: no more than a call lies between."""
    root = reach.root.site
    return len(reach.path) <= 1 and (root is None or not root.through)


_NO_TENSORS = ("ndarray", "EagerTensor", "np.generic", "numpy.generic")


def _guarded_type(scope: Scope, block: int, place: Place) -> bool:
    """Tell whether a place is only reached for an array or an eager tensor, which a compiled function never gets."""
    tests = [(item.test, item.branch) for item in scope.block_chain(block) if item.kind == "if" and item.test]
    for test, wanted in (*tests, *before_in_expression(scope, block, place)):
        shown = text(test, scope)
        if (
            wanted
            and ("isinstance(" in shown or "type(" in shown)
            and any(name in shown for name in _NO_TENSORS)
        ):
            return True
    return False


def _tensor_like(program: Program, scope: Scope, expr: Expr, reach: Reach) -> bool:
    """Tell whether an expression is computed in the function: from its parameters or by TensorFlow."""
    names = {item[0] for item in scope.params} if not reach.path else set()
    if scope.params and program.owner(scope) is not None:
        names.discard(scope.params[0][0])
    for _ in range(4):
        for event in scope.events():
            if event.kind in ("assign", "augment") and event.value is not None:
                if _static_shape(event.value, scope):
                    continue
                computed = any(
                    (part[0] == NAME and part[1] in names)
                    or (part[0] == CALL and _is_tensor_call(program, scope, part[1]))
                    for part in walk(event.value, scope)
                )
                if computed:
                    for target in event.targets:
                        for part in walk(target, scope):
                            if part[0] == NAME:
                                names.add(part[1])
    head = expr
    while head[0] in (ATTRIBUTE, "s"):
        head = head[1]
    if head[0] == NAME:
        return head[1] in names and not (expr[0] == ATTRIBUTE and head[1] == "self")
    if head[0] == CALL:
        return _is_tensor_call(program, scope, head[1])
    return False


def _static_shape(expr: Expr, scope: Scope) -> bool:
    """Tell whether an expression is a static shape or a part of it, such as `x.shape[0]` or `x.get_shape().as_list()`."""
    while True:
        if expr[0] == SUBSCRIPT:
            expr = expr[1]
        elif expr[0] == CALL:
            expr = scope.calls[expr[1]].func
            if expr[0] != ATTRIBUTE or expr[2] not in ("as_list", "get_shape"):
                return False
            if expr[2] == "get_shape":
                return True
            expr = expr[1]
        else:
            return bool(expr[0] == ATTRIBUTE and expr[2] == "shape")


def _is_tensor_call(program: Program, scope: Scope, number: int) -> bool:
    return any(
        site.call.number == number
        and site.name.startswith("tensorflow.")
        and not site.name.startswith(("tensorflow.io.gfile", "tensorflow.config", "tensorflow.get_logger"))
        for site in program.flow.within(scope)
    )


def printed(program: Program) -> Iterator[Hit]:
    """`print` of a value in a compiled function: it runs while tracing only."""
    for site in program.flow.named("builtins.print"):
        reach = _graph(program, site.scope, site)
        if (
            reach is None
            or reach.path
            or not _compiled_for_sure(reach)
            or _eager_guard(site.scope, site.call.block)
        ):
            continue
        # The static shape is the same in every call of one trace, and known while tracing.
        values = [
            arg
            for arg in site.call.args
            if not _is_text(arg) and not _static_shape(arg, site.scope) and not _is_type(arg, site.scope)
        ]
        if not values or _says_traced(site):
            continue
        if not any(
            _tensor_like(program, site.scope, part, reach) and not _only_handed_on(program, site.scope, part)
            for arg in values
            for part in walk(arg, site.scope)
        ):
            continue
        plain = not site.call.keywords and not any(arg[0] == FORMAT for arg in site.call.args)
        alias = tensorflow_alias(site.scope)
        yield hit_at(
            site,
            entry=reach,
            values={"via": reach.via},
            rewrites=(Rewrite("replace", site.scope, site.call.func[2], f"{alias}.print"),)
            if plain and alias and site.call.func[0] == NAME
            else (),
            no_fix=None
            if plain
            else "a formatted text is made while tracing; give tf.print the values themselves",
        )


def _says_traced(site: Site) -> bool:
    """Tell whether what is printed speaks of tracing: then it is meant to come once for each trace."""
    first, _, last, _ = site.call.place
    return any("rac" in line for line in site.scope.module.source_file().text.splitlines()[first - 1 : last])


def _only_handed_on(program: Program, scope: Scope, expr: Expr) -> bool:
    """Tell whether an expression is a parameter that is not calculated with: it may be a flag or a number of Python."""
    if expr[0] != NAME or all(item[0] != expr[1] for item in scope.params):
        return False

    def holds(other: Expr) -> bool:
        return any(part[:2] == (NAME, expr[1]) for part in walk(other, scope))

    for site in program.flow.within(scope):
        if site.name.startswith(("tensorflow.", "keras.")) or site.call.func[0] == NAME:
            arguments = (*site.call.args, *(value for _, value in site.call.keywords))
            if site.name != "builtins.print" and any(holds(item) for item in arguments):
                return False
    return not any(
        part[0] in (BINARY, SUBSCRIPT) and holds(part)
        for event in scope.events()
        if event.value is not None
        for part in walk(event.value, scope)
    )


def _is_type(expr: Expr, scope: Scope) -> bool:
    """Tell whether an expression is `type(...)`, which tracing knows."""
    return expr[0] == CALL and scope.calls[expr[1]].func[:2] == (NAME, "type")


def _is_text(expr: Expr) -> bool:
    return expr[0] == CONSTANT and isinstance(expr[1], str)


def mutated(program: Program) -> Iterator[Hit]:
    """A list that is appended to, or a counter that is raised, outside a compiled function from inside it."""
    for scope, reach in _scopes(program):
        if reach.path or not _compiled_for_sure(reach):
            continue
        own = scope.params[0][0] if scope.params and program.owner(scope) is not None else None
        for call in scope.calls:
            if call.method not in ("append", "extend", "add") or len(call.args) != 1:
                continue
            target = call.func[1]
            outside = (
                target[0] == ATTRIBUTE and target[1][0] == NAME and target[1][1] == own and own is not None
            )
            outside = outside or (target[0] == NAME and target[1] in scope.outer)
            if _tells_of_tracing(scope, call.block, target):
                continue
            if outside and not _eager_guard(scope, call.block) and _is_list(program, scope, target):
                yield Hit(
                    scope,
                    call.name_place,
                    call.block,
                    {"what": f"{text(target, scope)}.{call.method}", "via": reach.via},
                    entry=reach,
                )
        for event in scope.events():
            if event.kind != "augment" or _eager_guard(scope, event.block):
                continue
            target = event.targets[0]
            if _tells_of_tracing(scope, event.block, target):
                continue
            outside = (
                target[0] == ATTRIBUTE and target[1][0] == NAME and target[1][1] == own and own is not None
            )
            outside = outside or (target[0] == NAME and target[1] in scope.outer)
            if (
                outside
                and event.value is not None
                and event.value[0] == CONSTANT
                and _is_number(program, scope, target)
            ):
                yield Hit(
                    scope,
                    event.place,
                    event.block,
                    {"what": f"{text(target, scope)} {event.extra}= {event.value[1]}", "via": reach.via},
                    entry=reach,
                    severity=None if _read(program, target) else "info",
                )


def _read(program: Program, target: Expr) -> bool:
    """Tell whether something reads an attribute; a counter that nothing reads makes no result wrong. Of a plain name it is taken as read."""
    if target[0] != ATTRIBUTE:
        return True
    for module in program.all_modules():
        for scope in module.summary.scopes:
            values = [event.value for event in scope.events() if event.value is not None]
            values += [item.test for item in scope.blocks if item.test is not None]
            for call in scope.calls:
                values += [call.func, *call.args, *(value for _, value in call.keywords)]
            if any(
                part[0] == ATTRIBUTE and part[2] == target[2]
                for value in values
                for part in walk(value, scope)
            ):
                return True
    return False


def _tells_of_tracing(scope: Scope, block: int, target: Expr) -> bool:
    """Tell whether a change is meant to happen while tracing: its name says so, or a test of the same value guards it."""
    shown = text(target, scope)
    return bool(re.search("trac(?!k)|compil", shown.rpartition(".")[2], re.IGNORECASE)) or any(
        item.kind == "if" and item.test is not None and shown in text(item.test, scope)
        for item in scope.block_chain(block)
    )


def _initial(program: Program, scope: Scope, target: Expr) -> list[tuple[Expr | None, Scope]]:
    """Return what is assigned to an attribute in `__init__`, or to a global at module level."""
    found: list[tuple[Expr | None, Scope]] = []
    if target[0] == ATTRIBUTE:
        owner = program.owner(scope)
        init = program.method(owner, "__init__") if owner is not None else None
        if init is None or not init.params:
            return []
        for event in init.events():
            for item in event.targets:
                if (
                    item[0] == ATTRIBUTE
                    and item[2] == target[2]
                    and item[1][0] == NAME
                    and item[1][1] == init.params[0][0]
                ):
                    found.append((event.value, init))
    else:
        top = scope.module.scope
        for event in top.body:
            for item in event.targets:
                if item[0] == NAME and item[1] == target[1]:
                    found.append((event.value, top))
    return found


def _is_list(program: Program, scope: Scope, target: Expr) -> bool:
    initial = _initial(program, scope, target)
    return bool(initial) and all(
        value is not None
        and (
            (value[0] == "t" and value[1] in ("list", "set"))
            or (value[0] == CALL and dotted(where.calls[value[1]].func) in ("list", "set"))
        )
        for value, where in initial
    )


def _is_number(program: Program, scope: Scope, target: Expr) -> bool:
    initial = _initial(program, scope, target)
    return bool(initial) and all(
        value is not None and value[0] == CONSTANT and type(value[1]) in (int, float) for value, _ in initial
    )


def captured(program: Program) -> Iterator[Hit]:
    """A plain number of the object that a compiled method reads and that is changed after the method was called."""
    seen: set[tuple[int, str]] = set()
    for scope, reach in _scopes(program):
        owner = program.owner(scope)
        if owner is None or not scope.params or not _compiled_for_sure(reach):
            continue
        own = scope.params[0][0]
        for event in scope.events():
            for expr in (event.value, scope.blocks[event.block].test):
                if expr is None or expr[0] in (NAME, CONSTANT):
                    continue
                for part in walk(expr, scope):
                    if part[0] != ATTRIBUTE or part[1][0] != NAME or part[1][1] != own:
                        continue
                    if (id(owner), part[2]) in seen or not reach.passes(event.block, None):
                        continue
                    if not _is_number(program, scope, part):
                        continue
                    where = _changed(program, owner, part[2], reach.root.scope)
                    if where is None:
                        continue
                    seen.add((id(owner), part[2]))
                    yield Hit(
                        scope,
                        part[3],
                        event.block,
                        {"what": f"{own}.{part[2]}", "via": reach.via, "line_of": where.place[0]},
                        entry=reach,
                        related=(where,),
                    )


def _changed(program: Program, owner: Scope, name: str, traced: Scope) -> Step | None:
    """Return where an attribute changes for sure after a compiled function was called on the same object, or None.

    The change is an assignment or a call of a method that assigns it; it stands behind the call in the same function, or
    in the same loop. What sets an object up before its first call is no change.
    """
    setters: dict[int, Step] = {}
    for number in range(owner.number + 1, len(owner.module.summary.scopes)):
        method = owner.module.summary.scopes[number]
        if method.place[0] > owner.place[2]:
            break
        if method.parent != owner.number or method.kind != "function" or not method.params:
            continue
        if method.name in ("__init__", "build") or _graph(program, method) is not None:
            continue
        own = (NAME, method.params[0][0])
        for event in method.events():
            if any(_is_attribute(target, name) and target[1][:2] == own for target in event.targets):
                setters.setdefault(id(method), Step(method, event.place, event.block, "changed here"))
    for called in program.flow.callers(traced):
        scope = called.scope
        if in_tests(scope):
            continue
        receiver = _receiver(called.call.func)
        shown = text(receiver, scope)
        for event in scope.events():
            if any(
                _is_attribute(target, name) and text(target[1], scope) == shown for target in event.targets
            ) and _behind(scope, called.call, event.block, event.place, receiver):
                return Step(scope, event.place, event.block, "changed here, after the call")
        for site in program.flow.within(scope):
            for target in site.targets:
                step = setters.get(id(target.scope))
                if (
                    step is not None
                    and site.call.func[0] == ATTRIBUTE
                    and text(site.call.func[1], scope) == shown
                    and _behind(scope, called.call, site.call.block, site.call.place, receiver)
                ):
                    return step
    return None


def _is_attribute(target: Expr, name: str) -> bool:
    return bool(target[0] == ATTRIBUTE and target[2] == name)


def _receiver(func: Expr) -> Expr:
    """Return the object that a call is made on: `model` of `model.infer(x)` and of `model(x)`."""
    receiver: Expr = func[1] if func[0] == ATTRIBUTE else func
    return receiver


def _behind(scope: Scope, first: Call, block: int, place: Place, receiver: Expr) -> bool:
    """Tell whether a place is run after a call for sure: further down under the same guards, or in the same loop."""
    if first.place[2:] < place[:2] and inside(scope, block, first.block):
        return True
    loop = innermost_loop(scope, first.block)
    if loop is None or not inside(scope, block, loop):
        return False
    head = receiver
    while head[0] == ATTRIBUTE:
        head = head[1]
    # A new object in every turn is traced anew.
    return head[0] == NAME and head[1] not in bound_in_loop(scope, loop)


def variable(program: Program) -> Iterator[Hit]:
    """A variable made in a compiled function without a guard that makes it once."""
    for site in program.flow.named("tensorflow.Variable"):
        reach = _graph(program, site.scope, site)
        if reach is None or not _compiled_for_sure(reach) or reach.path:
            continue
        if _raises_wanted(site.scope):
            continue
        if site.scope.name in ("build", "__init__") or any(
            block.kind in ("if", "try", "except", "with") for block in site.scope.block_chain(site.call.block)
        ):
            continue
        yield hit_at(
            site,
            entry=reach,
            severity="info" if never_entered(program, reach.root.scope) else None,
            values={"via": reach.via},
        )


def _raises_wanted(function: Scope) -> bool:
    """Tell whether a function is only called where an error is what is shown: `with assert_raises(ValueError): f(1.0)`."""
    called = [
        (scope, call)
        for scope in function.module.summary.scopes
        for call in scope.calls
        if call.func[:2] == (NAME, function.name)
    ]
    return bool(called) and all(
        any(
            block.kind == "with" and block.test is not None and "raises" in text(block.test, scope).lower()
            for block in scope.block_chain(call.block)
        )
        for scope, call in called
    )


def unrolled(program: Program) -> Iterator[Hit]:
    """A long Python `range` loop in a compiled function."""
    for scope, reach in _scopes(program):
        if not _compiled_for_sure(reach):
            continue
        for event in scope.events():
            if event.kind != "for" or event.value is None or event.value[0] != CALL:
                continue
            if not reach.passes(event.block, None):
                continue
            call = scope.calls[event.value[1]]
            if call.func[0] != NAME or call.func[1] != "range" or "range" in scope.names or not call.args:
                continue
            bound = call.args[1] if len(call.args) > 1 else call.args[0]
            if bound[0] == CONSTANT and type(bound[1]) is int and bound[1] > 50 and event.bodies[0][1]:
                yield Hit(scope, call.place, event.block, {"n": bound[1], "via": reach.via}, entry=reach)


_NOT_COMPILED = {
    **dict.fromkeys(PY_FUNCTIONS, "runs Python code"),
    "tensorflow.print": "formats text",
    "tensorflow.strings.": "works on text",
    "tensorflow.io.": "reads or decodes files",
}


def not_for_xla(program: Program) -> Iterator[Hit]:
    """An operation without an XLA kernel in a function with `jit_compile=True`."""
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
            if what is None or site.name.startswith("tensorflow.io.gfile") or in_tests(site.scope):
                continue
            if _eager_guard(site.scope, site.call.block):
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
        if decorator[0] == CALL:
            for name in ("jit_compile", "experimental_compile"):
                value = outer.calls[decorator[1]].keyword(name)
                if value is not None and value[0] == CONSTANT and value[1] is True:
                    return True
    return False


def made_in_loop(program: Program) -> Iterator[Hit]:
    """A `tf.function` made anew in every turn of a loop over steps or data."""
    for site in program.flow.named("tensorflow.function"):
        if in_tests(site.scope) or site.call.number < 0:
            continue
        event = statement_of(site.scope, site.call.block, site.call.place)
        named = (
            event
            if event is not None
            and event.kind == "assign"
            and event.value == (CALL, site.call.number)
            and len(event.targets) == 1
            and event.targets[0][0] == NAME
            else None
        )
        name = named.targets[0][1] if named is not None else ""
        given = site.call.argument(0, "func")
        used = (
            {part[1] for part in walk(given, site.scope) if part[0] == NAME} if given is not None else set()
        )
        if innermost_loop(site.scope, site.call.block) is None:
            yield from _in_called(program, site.scope, site.call, site.call.name_place, event, name)
        else:
            yield from _in_loop(program, site.scope, site.call.block, site.call.name_place, named, name, used)
    for module in program.modules:
        for scope in module.summary.scopes:
            outer = program.outer(scope)
            if scope.kind != "function" or outer is None or not scope.decorators or in_tests(scope):
                continue
            for decorator in scope.decorators:
                if decorator[0] != CALL and program.static_name(decorator, outer) == "tensorflow.function":
                    place = decorator[-1]
                    event = next(
                        (
                            item
                            for item in outer.events()
                            if item.kind == "define" and item.extra == scope.number
                        ),
                        None,
                    )
                    if innermost_loop(outer, scope.block) is None:
                        yield from _in_called(program, outer, None, place, event, scope.name)
                    else:
                        yield from _in_loop(
                            program, outer, scope.block, place, event, scope.name, _free_names(scope)
                        )


def _free_names(scope: Scope) -> set[str]:
    """Return the names that a function takes from around it."""
    found: set[str] = set()
    for event in scope.events():
        for expr in (*event.targets, event.value):
            found |= {part[1] for part in walk(expr, scope) if part[0] == NAME} if expr is not None else set()
    for call in scope.calls:
        found |= {part[1] for part in walk((CALL, call.number), scope) if part[0] == NAME}
    for block in scope.blocks:
        if block.test is not None:
            found |= {part[1] for part in walk(block.test, scope) if part[0] == NAME}
    return found - scope.names


def _in_called(
    program: Program, scope: Scope, made: Call | None, place: Place, event: Event | None, name: str
) -> Iterator[Hit]:
    """Yield the compiled function that a function makes for itself, where a loop calls that function."""
    if scope.kind != "function" or not _only_called(scope, made, event, name):
        return
    pending: list[tuple[Scope, tuple[Site, ...]]] = [(scope, ())]
    seen = {id(scope)}
    while pending:
        here, way = pending.pop(0)
        for caller in program.flow.callers(here):
            if in_tests(caller.scope) or id(caller.scope) in seen:
                continue
            path = (caller, *way)
            loop = innermost_loop(caller.scope, caller.call.block)
            if loop is not None and not few_turns(program, caller.scope, loop, 3):
                if _traced_for_its_graph(scope, 0):
                    return
                yield Hit(
                    scope,
                    place,
                    event.block if event is not None else 0,
                    {"loop_line": caller.scope.blocks[loop].line},
                    flow=tuple(
                        Step(item.scope, item.call.name_place, item.call.block, "calls it") for item in path
                    ),
                    no_fix="where it can be made once, beside the function or when its object is made, is for you to say",
                )
                return
            seen.add(id(caller.scope))
            if len(path) < 3:
                pending.append((caller.scope, path))


def _only_called(scope: Scope, made: Call | None, event: Event | None, name: str) -> bool:
    """Tell whether a function that is made in another one is called there, and neither kept nor given back."""
    if any(
        block.kind in ("if", "except") for block in scope.block_chain(event.block if event is not None else 0)
    ):
        # Made once, where it is not there yet.
        return False
    if made is not None and event is not None and event.kind != "assign":
        return any(call.func == (CALL, made.number) for call in scope.calls)
    if made is not None and (event is None or event.value != (CALL, made.number)):
        return any(call.func == (CALL, made.number) for call in scope.calls)
    if not name or scope.outer & {name}:
        return False
    called = [call for call in scope.calls if call.func[:2] == (NAME, name)]
    if not called:
        return False
    places = {call.func[-1] for call in called}
    for other in scope.module.summary.scopes:
        if other is not scope and other.parent == scope.number and name in _free_names(other):
            return False
    for item in scope.events():
        for expr in (*item.targets, item.value, *(item.extra if item.kind == "with" else ())):
            for part in walk(expr, scope) if expr is not None else ():
                if part[:2] == (NAME, name) and part[-1] not in places and item is not event:
                    return False
    return True


def _traced_for_its_graph(scope: Scope, block: int) -> bool:
    return any(
        call.method in ("trace_export", "get_concrete_function", "from_concrete_functions")
        and inside(scope, call.block, block)
        for call in scope.calls
    )


def _written_out(program: Program, scope: Scope, test: Expr, line: int) -> bool:
    """Tell whether a loop goes over a short list that the code writes out."""
    if test[0] == ITEMS:
        return True
    value = Conditions(program, None).value(test, scope, before=line)
    return isinstance(value, (list, tuple)) and len(value) <= 10


def _in_loop(
    program: Program, scope: Scope, block: int, place: Place, event: Event | None, name: str, used: set[str]
) -> Iterator[Hit]:
    loop = innermost_loop(scope, block)
    if loop is None:
        return
    item = scope.blocks[loop]
    if item.kind == "for":
        func = scope.calls[item.test[1]].func if item.test is not None and item.test[0] == CALL else None
        counted = func is not None and func[0] == NAME and func[1] in ("range", "tqdm", "trange")
        if not counted and (
            # Another function or model in each turn is another graph.
            used & bound_in_loop(scope, loop)
            or item.test is None
            or _written_out(program, scope, item.test, item.line)
        ):
            return
    if _traced_for_its_graph(scope, loop):
        # Each is made to be traced once, for its graph.
        return
    yield Hit(
        scope,
        place,
        block,
        {"loop_line": item.line},
        rewrites=out_of_loop(scope, event, loop, name) if event is not None else (),
        no_fix="it is not made by a statement of its own in the loop",
    )


def of_new_object(program: Program) -> Iterator[Hit]:
    """An object that a loop makes in every turn, whose compiled method it calls: each object traces it anew."""
    seen: set[tuple[int, int]] = set()
    for site in program.flow.compiled:
        scope = site.scope
        func = site.call.func
        if in_tests(scope) or func[0] != ATTRIBUTE or func[1][0] not in (NAME, CALL):
            continue
        target = next((item for item in site.targets if item.compiled is not None), None)
        if target is None or program.owner(target.scope) is None or site.open:
            continue
        made = _object_in_loop(scope, site.call, func[1])
        if made is None:
            continue
        loop = innermost_loop(scope, made.block)
        if loop is None or (id(scope), made.number) in seen or few_turns(program, scope, loop, 10):
            continue
        test = scope.blocks[loop].test
        if test is not None and test[0] == ITEMS:
            continue
        owner = program.owner(target.scope)
        assert owner is not None
        if not any(
            isinstance(value, Instance) and owner in program.bases(value.scope)[0]
            for item in program.flow.within(scope)
            if item.call is made
            for value in alternatives(item.result)
        ):
            continue
        seen.add((id(scope), made.number))
        yield Hit(
            scope,
            made.name_place,
            made.block,
            {
                "loop_line": scope.blocks[loop].line,
                "name": owner.name,
                "method": target.scope.name,
                "line": target.scope.place[0],
            },
            needs=((scope, site.call.block),),
            related=(
                Step(target.scope, target.scope.place, 0, "compiled for each object by itself"),
                Step(scope, site.call.name_place, site.call.block, "called here"),
            ),
        )


def _object_in_loop(scope: Scope, call: Call, receiver: Expr) -> Call | None:
    """Return the call in a loop around another one that makes the object which that is called on, where the object is not kept."""
    if receiver[0] == CALL:
        found: Call = scope.calls[receiver[1]]
        return found
    bound = [event for event in scope.binding(receiver[1]) if event.place[:2] < call.place[:2]]
    last = bound[-1] if bound else None
    if last is None or last.kind != "assign" or last.value is None or last.value[0] != CALL:
        return None
    loop = innermost_loop(scope, last.block)
    if loop is None or not inside(scope, call.block, loop):
        return None
    for item in scope.block_chain(last.block):
        if item.kind in ("if", "except"):
            return None
    if any(
        other.method in ("append", "add", "put", "extend", "setdefault")
        and inside(scope, other.block, loop)
        and any(part[:2] == receiver[:2] for given in other.args for part in walk(given, scope))
        for other in scope.calls
    ):
        return None
    for event in scope.events():
        if (
            event.kind == "assign"
            and event.value is not None
            and event.value[:2] == receiver[:2]
            and inside(scope, event.block, loop)
        ):
            return None
    return scope.calls[last.value[1]]


_OF_SHAPES = frozenset({"numpy.prod", "numpy.shape", "numpy.ndim", "numpy.size"})
_ARRAYS = re.compile(r"(?:numpy|scipy\.[\w.]+|sklearn\.metrics|skimage\.metrics)\.\w+(?:\.\w+)?")
_LOSS_CLASSES = frozenset({"keras.losses.Loss", "keras.metrics.Metric"})
_LOSS_METHODS = frozenset({"call", "update_state"})


def array_call(program: Program) -> Iterator[Hit]:
    """A function of NumPy for a tensor, in a loss or metric that Keras compiles or in a compiled function."""
    if fits_eagerly(program) or may_fit_eagerly(program):
        return
    seen: set[tuple[int, int]] = set()
    for scope, tensors, what, kept in _where_symbolic(program):
        if in_tests(scope) or kept_eager(program, scope.module) or id(scope) in kept:
            continue
        for here, call, name, path in _arrays_of(program, scope, tensors, 2):
            key = id(here), call.number
            if key in seen or _eager_guard(here, call.block) or _guarded_type(here, call.block, call.place):
                continue
            if any(
                item.kind == "if" and item.test is not None and _ASKS_MODE.search(text(item.test, here))
                for item in here.block_chain(call.block)
            ):
                continue
            seen.add(key)
            yield Hit(
                here,
                call.name_place,
                call.block,
                {"call": text(call.func, here), "name": name, "what": what},
                flow=tuple(
                    Step(item.scope, item.call.name_place, item.call.block, "calls it") for item in path
                ),
                severity="info" if _conditional(here, call.block) else None,
            )


def _where_symbolic(program: Program) -> Iterator[tuple[Scope, set[str], str, set[int]]]:
    """Yield functions that are certainly traced, the parameters that are tensors, who traces them, and what is run eagerly."""
    eager = {
        id(function.scope)
        for site in program.flow.named(*PY_FUNCTIONS)
        for function in functions_of(site.argument(0, "func"))
    }
    for site in program.flow.named("keras.Model.compile", "keras.Sequential.compile"):
        for position, name in ((1, "loss"), (3, "metrics"), (2, "metrics")):
            value = site.argument(position, name)
            for item in alternatives(value):
                for given in item.items if isinstance(item, Items) else (item,):
                    for function in functions_of(given):
                        names = {item[0] for item in function.scope.params[function.partial :]}
                        if function.receiver is not None and function.scope.params:
                            names.discard(function.scope.params[0][0])
                        yield function.scope, names, f"compile in line {site.call.name_place[0]}", eager
    for module in program.modules:
        for owner in module.summary.scopes:
            if owner.kind != "class" or not program.is_subclass(owner, _LOSS_CLASSES):
                continue
            for method in _LOSS_METHODS & owner.children.keys():
                scope = module.summary.scopes[owner.children[method]]
                names = {item[0] for item in scope.params[1:3]}
                yield scope, names, f"Keras's {owner.name}", eager
    for scope, reach in _scopes(program):
        if _compiled_for_sure(reach) and not reach.path:
            yield scope, set(), reach.via, eager


def _arrays_of(
    program: Program, scope: Scope, tensors: set[str], depth: int
) -> Iterator[tuple[Scope, Call, str, tuple[Site, ...]]]:
    """Yield the calls of NumPy that a function makes for tensors, itself or in the functions that it hands them to."""
    sites = {site.call.number: site for site in program.flow.within(scope)}
    computed = set(tensors)

    def holds(expr: Expr) -> bool:
        pending = [expr]
        while pending:
            part = pending.pop()
            if _static_shape(part, scope) or _is_type(part, scope):
                continue
            if part[0] == NAME and part[1] in computed:
                return True
            if part[0] == ATTRIBUTE and part[2] in ("shape", "dtype", "name", "ndim", "rank"):
                continue
            if part[0] == CALL:
                site = sites.get(part[1])
                if site is not None and site.name.startswith(_COMPUTES):
                    return True
                if scope.calls[part[1]].method in ("numpy", "get_shape", "as_list"):
                    continue
            pending.extend(children(part, scope))
        return False

    for _ in range(3):
        for event in scope.events():
            if event.kind in ("assign", "augment") and event.value is not None and holds(event.value):
                if event.value[0] == CALL and (
                    (found := sites.get(event.value[1])) is not None and _ARRAYS.fullmatch(found.name)
                ):
                    continue
                for target in event.targets:
                    for part in target[2] if target[0] == ITEMS else (target,):
                        if part[0] == NAME:
                            computed.add(part[1])
    for site in program.flow.within(scope):
        call = site.call
        if _ARRAYS.fullmatch(site.name) and site.name not in _OF_SHAPES and not site.targets:
            if any(holds(item) for item in (*call.args, *(value for _, value in call.keywords))):
                yield scope, call, site.name, ()
        elif site.targets and depth and not site.name.startswith("tensorflow."):
            for target in site.targets:
                if target.compiled is not None or target.scope is scope or call.opaque:
                    continue
                offset = int(target.receiver is not None) + target.partial
                names = [item[0] for item in target.scope.params[offset:]]
                given = {name for name, item in zip(names, call.args, strict=False) if holds(item)}
                given |= {name for name, item in call.keywords if name in names and holds(item)}
                if given:
                    for here, inner, name, path in _arrays_of(program, target.scope, given, depth - 1):
                        yield here, inner, name, (site, *path)


_COMPUTES = (
    "tensorflow.reduce_",
    "tensorflow.math.",
    "tensorflow.nn.",
    "tensorflow.matmul",
    "tensorflow.cast",
    "tensorflow.square",
    "tensorflow.abs",
    "tensorflow.sqrt",
    "tensorflow.exp",
    "tensorflow.reshape",
    "tensorflow.concat",
    "tensorflow.random.normal",
    "tensorflow.random.uniform",
    "keras.losses.",
    "keras.backend.mean",
    "keras.backend.sum",
    "keras.ops.",
)
"""Operations whose result is a tensor of the graph."""


def check(program: Program) -> Iterable[Hit]:
    """The group's first rule."""
    return numpy_method(program)
