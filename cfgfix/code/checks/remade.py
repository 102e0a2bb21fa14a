"""Models made or loaded again and again in loops, requests and callbacks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from cfgfix.code.checks.common import (
    goes_through_experiments,
    inside_function,
    short,
    works_off_queue,
)
from cfgfix.code.checks.models import keras_model_method
from cfgfix.code.inference.conditions import Conditions
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.guards import statement_of
from cfgfix.code.inference.hot_paths import inside
from cfgfix.code.inference.releases import is_tf_keras
from cfgfix.code.model.expressions import constant, dotted, is_name, is_same_expression, text, walk
from cfgfix.code.model.hit import at, hit_at
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import (
    NOT_KEPT,
    Attribute,
    Call,
    Collection,
    Comprehension,
    Expr,
    Name,
    Subscript,
)
from cfgfix.code.model.program import Program, is_keras_model, once
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Instance, Made, Site, Value, alternatives
from cfgfix.rules.hit import Hit

_MAKES = re.compile(
    r"keras\.(?:Model|Sequential|applications\.(?:\w+\.)?[A-Z]\w*"
    r"|(?:models|saving)\.(?:load_model|clone_model|model_from_json|model_from_config|model_from_yaml))"
    r"|tensorflow\.saved_model\.load|tensorflow_hub\.(?:load|KerasLayer)"
)
_LOADS = re.compile(
    r"keras\.(?:models|saving)\.load_model|tensorflow\.saved_model\.load|tensorflow_hub\.load"
)
_RUNS = frozenset(
    {
        "fit",
        "fit_generator",
        "evaluate",
        "evaluate_generator",
        "predict",
        "predict_generator",
        "predict_on_batch",
        "train_on_batch",
        "test_on_batch",
    }
)
_CLEARS = (
    "keras.backend.clear_session",
    "keras.utils.clear_session",
    "tensorflow.compat.v1.reset_default_graph",
)
_CLEARS_BY_NAME = frozenset({"clear_session", "reset_default_graph", "reset_states_and_session"})
_KEEPS = frozenset({"append", "extend", "add", "insert", "put", "setdefault", "update"})
FEW = 10
"""So many models together are a matter of some megabytes: folds and small comparisons."""
_FOLDS = 5
"""Folds of a splitter that does not say how many (scikit-learn 1.5, `KFold(n_splits=5)`)."""


def model_in_loop(program: Program) -> Iterator[Hit]:
    """Find models that are made and run in every turn of a loop.

    The loop never clears the session.
    """
    seen: set[tuple[int, int]] = set()
    for module in program.linked:
        for scope in module.summary.scopes:
            if written_for_one(program, scope):
                continue
            for site in flow_of(program).within(scope):
                loop = _innermost_loop(scope, site.call.block)
                if loop is None or (id(scope), loop) in seen or not _may_make(program, site):
                    continue
                made = _call_making_model(program, site)
                if made is None:
                    continue
                outermost, turns = _outermost_loop(program, scope, loop)
                if turns is not None and turns <= FEW:
                    continue
                if (
                    _is_kept(program, scope, site, loop)
                    or _ends_the_loop(scope, site.call.block, loop)
                    or not _runs_in(program, scope, loop, site)
                    or _clears_session(program, scope, outermost)
                ):
                    continue
                seen.add((id(scope), loop))
                yield hit_at(
                    site,
                    severity="info"
                    if (
                        goes_through_experiments(program, scope, scope.blocks[loop].test)
                        and not _is_in_search(scope, loop)
                    )
                    or works_off_queue(scope, loop)
                    else None,
                    flow=() if made is site else (at(made, label="makes the model"),),
                    values={
                        "what": "loads" if _LOADS.fullmatch(made.name) else "makes",
                        "loop_line": scope.blocks[loop].line,
                    },
                )


_GRIDS = frozenset({"product", "ParameterGrid", "ParameterSampler"})


def _is_in_search(scope: Scope, loop: int) -> bool:
    """Tell whether a loop, or one around it, goes over a grid of settings."""
    for block in scope.block_chain(loop):
        test = _gone_through(block.test) if block.kind == "for" else None
        if isinstance(test, Name):
            bound = scope.binding(test.name)
            test = _gone_through(bound[0].value) if len(bound) == 1 else None
        if isinstance(test, Call) and (dotted(test.func) or "").rpartition(".")[2] in _GRIDS:
            return True
    return False


def _gone_through(expr: Expr | None) -> Expr | None:
    """Return the iterable of a loop without `enumerate`, `list` or `tqdm` around it."""
    while (
        isinstance(expr, Call)
        and expr.args
        and (dotted(expr.func) or "").rpartition(".")[2] in ("enumerate", "list", "tqdm")
    ):
        expr = expr.args[0]
    return expr


def _may_make(program: Program, site: Site) -> bool:
    return bool(site.targets) or _MAKES.fullmatch(site.name) is not None or _is_model(program, site.result)


def _is_model(program: Program, value: Value) -> bool:
    return any(
        (isinstance(item, Made) and _MAKES.fullmatch(item.name) is not None)
        or (isinstance(item, Instance) and is_keras_model(program, item.scope))
        for item in alternatives(value)
    )


def _call_making_model(program: Program, site: Site) -> Site | None:
    """Return the call that makes a model when a call site runs, or None.

    It is the call itself, or one in the functions that it enters.
    """
    if _MAKES.fullmatch(site.name) is not None and not site.targets:
        return None if _is_part(site) or not is_tf_keras(program, site.scope) else site
    if isinstance(site.result, Instance) and is_keras_model(program, site.result.scope):
        return site
    for target in site.targets:
        for inner, path in inside_function(program, target):
            if _MAKES.fullmatch(inner.name) is None or _is_part(inner):
                continue
            if any(_runs_once(step.scope, step.call.block) for step in (*path, inner)):
                continue
            if any(_returned_elsewhere(step) for step in path):
                continue
            return inner if is_tf_keras(program, inner.scope) else None
    return None


def _returned_elsewhere(site: Site) -> bool:
    """Tell whether a call enters a function whose decorator caches its result."""
    return any(_is_cached(target.scope) for target in site.targets)


def _is_cached(scope: Scope) -> bool:
    if not scope.decorators or scope.parent < 0:
        return False
    return any(
        "cache" in (dotted(item if not isinstance(item, Call) else item.func) or "").lower()
        for item in scope.decorators
    )


def _is_part(site: Site) -> bool:
    """Tell whether a model is made from the inputs and outputs of another model.

    Such a model has no weights of its own.
    """
    return any(
        isinstance(part, Attribute) and part.attribute in ("input", "inputs", "output", "outputs")
        for given in (*site.call.args, *(value for _, value in site.call.keywords))
        for part in walk(given)
    )


def _runs_once(scope: Scope, block: int) -> bool:
    """Tell whether a place runs only while an object is missing.

    Examples: `if model is None`, `if name not in cache`, an `except`.
    """
    for item in scope.block_chain(block):
        if item.kind == "except":
            return True
        if item.kind == "if" and item.test is not None:
            shown = text(item.test)
            if re.search(
                r"\bNone\b|\bnot\b|\bhasattr\b|\bglobals\b|_loaded|initiali[sz]ed|\bfirst\b|exists", shown
            ):
                return True
    return False


def _innermost_loop(scope: Scope, block: int) -> int | None:
    for number in scope.block_numbers(block):
        if scope.blocks[number].kind in ("for", "while", "comprehension"):
            return number
    return None


def _outermost_loop(program: Program, scope: Scope, loop: int) -> tuple[int, int | None]:
    """Return the outermost loop around a loop, and the turns of all of them together.

    The number of turns is None where it is not known.
    """
    product: int | None = 1
    while True:
        count = _turn_count(program, scope, loop)
        product = None if count is None or product is None else product * count
        above = _innermost_loop(scope, scope.blocks[loop].parent)
        if above is None:
            return loop, product
        loop = above


def _turn_count(program: Program, scope: Scope, loop: int) -> int | None:
    block = scope.blocks[loop]
    if block.kind == "while" or block.test is None:
        return None
    return _item_count(program, scope, block.test, block.line, 4)


def _item_count(program: Program, scope: Scope, expr: Expr | None, line: int, depth: int) -> int | None:
    """Return the number of items of an iterable, or None where it is not known."""
    if depth < 0 or expr is None:
        return None
    if isinstance(expr, Collection):
        return len(expr.items)
    conditions = Conditions(program, None)
    if isinstance(expr, Name):
        value = conditions.value(expr, scope, before=line)
        if isinstance(value, (list, tuple, dict, set)):
            return len(value)
        bound = scope.binding(expr.name)
        given = bound[0].value if len(bound) == 1 and bound[0].kind == "assign" else None
        return _item_count(program, scope, given, line, depth - 1) if given is not None else None
    if not isinstance(expr, Call):
        return None
    call = expr
    name = (dotted(call.func) or call.method or "").rpartition(".")[2]
    if name in ("enumerate", "tqdm", "list", "reversed", "sorted", "zip", "track") and call.args:
        known = [_item_count(program, scope, item, line, depth - 1) for item in call.args]
        return min((item for item in known if item is not None), default=None)
    if name in ("range", "trange"):
        bounds = [conditions.value(item, scope, before=line) for item in call.args]
        if bounds and all(type(item) is int for item in bounds) and bounds[2:] != [0]:
            return len(range(*bounds))
        return None
    if name in ("items", "keys", "values") and call.method:
        return _item_count(program, scope, call.receiver, line, depth - 1)
    if name in ("linspace", "logspace", "geomspace"):
        count: Any = conditions.value(call.argument(2, "num") or NOT_KEPT, scope, before=line)
        return count if type(count) is int else None if call.argument(2, "num") else 50
    if name == "split" and call.method:
        return _fold_count(program, scope, call.receiver, line)
    return None


def _fold_count(program: Program, scope: Scope, splitter: Expr | None, line: int) -> int | None:
    made = splitter
    if isinstance(splitter, Name):
        bound = scope.binding(splitter.name)
        made = bound[-1].value if bound else None
    if made is None or not isinstance(made, Call):
        return _FOLDS
    call = made
    given = call.argument(0, "n_splits")
    if given is None:
        return _FOLDS
    count = Conditions(program, None).value(given, scope, before=line)
    return count if type(count) is int else _FOLDS


def _is_kept(program: Program, scope: Scope, site: Site, loop: int) -> bool:
    """Tell whether a model made in a loop is kept after its turn.

    It is collected, stored by a key, or returned.
    """
    if scope.blocks[loop].kind == "comprehension":
        return _is_model(program, site.result) and not _only_used(scope, site)
    wanted: list[Expr] = [site.call]
    event = statement_of(scope, site.call.place)
    if (
        event is not None
        and event.kind in ("assign", "annotate")
        and event.value is not None
        and event.value is site.call
    ):
        for target in event.targets:
            if isinstance(target, (Subscript, Attribute)):
                return bool(isinstance(target, Subscript))
            wanted += [
                item
                for item in (target.items if isinstance(target, Collection) else (target,))
                if isinstance(item, Name)
            ]
    for call in scope.calls:
        if call.method in _KEEPS and inside(scope, call.block, loop):
            for given in (*call.args, *(value for _, value in call.keywords)):
                for part in given.items if isinstance(given, Collection) else (given,):
                    if _is_among(part, wanted):
                        return True
    for item in scope.events():
        if not inside(scope, item.block, loop):
            continue
        if item.kind == "yield" and _is_among(item.value, wanted):
            return True
        if (
            item.kind == "assign"
            and _is_among(item.value, wanted)
            and any(isinstance(target, Subscript) for target in item.targets)
        ):
            return True
    return False


def _only_used(scope: Scope, site: Site) -> bool:
    """Tell whether a comprehension returns results of a model, not the model itself."""
    for event in scope.events():
        for part in walk(event.value) if event.value is not None else ():
            if isinstance(part, Comprehension) and any(
                inner is site.call for item in part.parts for inner in walk(item)
            ):
                return not any(item is site.call for item in part.parts)
    return False


def _ends_the_loop(scope: Scope, block: int, loop: int) -> bool:
    """Tell whether a loop ends after a block, or only a missing object leads there."""
    for event in scope.events():
        if event.kind in ("return", "break") and event.block == block:
            return True
    number = block
    while number >= 0 and number != loop:
        item = scope.blocks[number]
        if item.kind == "except" or (
            item.kind == "if" and item.test is not None and re.search(r"\bNone\b|\bnot in\b", text(item.test))
        ):
            return True
        number = item.parent
    return False


def _runs_in(program: Program, scope: Scope, loop: int, made: Site) -> bool:
    """Tell whether a loop, or a function that it calls, runs a Keras model."""
    names = _names_of(scope, made)
    for call in scope.calls:
        # What a call gave is a model, whether or not the function that made it is known to give one.
        if call.method in _RUNS and inside(scope, call.block, loop) and _is_among(call.receiver, names):
            return True
    for site in flow_of(program).within(scope):
        if not inside(scope, site.call.block, loop):
            continue
        if keras_model_method(site.name) in _RUNS:
            return True
        for target in site.targets:
            for inner, _ in inside_function(program, target):
                if keras_model_method(inner.name) in _RUNS:
                    return True
    return False


def _is_among(expr: Expr | None, several: list[Expr]) -> bool:
    return expr is not None and any(is_same_expression(expr, item) for item in several)


def _names_of(scope: Scope, made: Site) -> list[Expr]:
    found: list[Expr] = [made.call]
    for event in scope.events():
        if event.kind == "assign" and event.value is not None and event.value is made.call:
            found += [target for target in event.targets if isinstance(target, Name)]
    return found


def _clears_session(program: Program, scope: Scope, loop: int) -> bool:
    """Tell whether a loop, or a function that it calls, clears the session."""
    for call in scope.calls:
        if inside(scope, call.block, loop) and _by_name(dotted(call.func) or call.method or ""):
            return True
    for site in flow_of(program).within(scope):
        if inside(scope, site.call.block, loop):
            for target in site.targets:
                if any(
                    _by_name(dotted(call.func) or call.method or "")
                    for inner in _entered_scopes(program, target.scope, 3)
                    for call in inner.calls
                ):
                    return True
    return False


def _by_name(name: str) -> bool:
    last = name.rpartition(".")[2]
    return last in _CLEARS_BY_NAME or last in ("Process", "Pool", "ProcessPoolExecutor", "fork", "spawn")


def _entered_scopes(program: Program, scope: Scope, depth: int) -> Iterator[Scope]:
    seen = {id(scope)}
    pending = [(scope, depth)]
    while pending and len(seen) < 200:
        here, left = pending.pop()
        yield here
        for site in flow_of(program).within(here) if left else ():
            for target in site.targets:
                if id(target.scope) not in seen:
                    seen.add(id(target.scope))
                    pending.append((target.scope, left - 1))


_ROUTES = frozenset(
    {"route", "get", "post", "put", "patch", "websocket", "api_route", "before_request", "errorhandler"}
)
_TASKS = frozenset({"task", "shared_task", "message_handler", "event", "on_event_message"})
_VERBS = frozenset({"get", "post", "put", "patch"})
_SERVERS = frozenset(
    {"django", "rest_framework", "fastapi", "starlette", "sanic", "aiohttp", "bottle", "grpc"}
)
_VIEW = re.compile(r"(?:\w*View|\w*ViewSet|Resource|RequestHandler|HTTPEndpoint)")
_HANDLERS = frozenset({"do_GET", "do_POST", "do_PUT", "lambda_handler", "on_message", "on_request"})
_CALLBACKS = re.compile(r"on_(?:epoch|(?:train_|test_|predict_)?batch)_(?:begin|end)")


def model_per_request(program: Program) -> Iterator[Hit]:
    """Find models that are made or loaded in every request, trial or callback."""
    seen: set[tuple[int, int]] = set()
    for module in program.linked:
        for scope in module.summary.scopes:
            what = _called_often(program, scope)
            if what is None or written_for_one(program, scope) or _is_cached(scope):
                continue
            if any(
                _by_name(dotted(call.func) or call.method or "")
                for inner in _entered_scopes(program, scope, 3)
                for call in inner.calls
            ):
                continue
            for site, path in inside_function(program, scope):
                if _MAKES.fullmatch(site.name) is None or site.targets or _is_part(site):
                    continue
                if any(_runs_once(step.scope, step.call.block) for step in (*path, site)) or any(
                    _returned_elsewhere(step) for step in path
                ):
                    continue
                first = path[0] if path else site
                if (id(scope), first.call.number) in seen or not is_tf_keras(program, site.scope):
                    continue
                seen.add((id(scope), first.call.number))
                yield hit_at(
                    first,
                    flow=() if first is site else (at(site, label="makes the model"),),
                    values={
                        "what": "loads" if _LOADS.fullmatch(site.name) else "makes",
                        "call": short(first),
                        "when": what,
                    },
                )
                break


def _called_often(program: Program, scope: Scope) -> str | None:
    """Return the event for which a function is called many times, in words.

    It is an epoch, a batch, a request or a trial. Return None for any other function.
    """
    if scope.kind != "function":
        return None
    owner = program.owner(scope)
    if (
        owner is not None
        and _CALLBACKS.fullmatch(scope.name)
        and any(name.startswith("keras.callbacks.") for name in program.bases(owner).outside)
    ):
        return "epoch" if "epoch" in scope.name else "batch"
    if scope.name in _HANDLERS:
        return "request"
    if _is_called_in_trials(program, scope):
        return "trial"
    names = [item.name for item in scope.params if item.name not in ("self", "cls")]
    if names[:1] == ["request"] and any(
        source.partition(".")[0] in _SERVERS
        for item in scope.module.summary.scopes
        for source in item.imports.values()
    ):
        return "request"
    if owner is not None and scope.name in _VERBS and _is_view(owner):
        return "request"
    if scope.parent < 0:
        return None
    for decorator in scope.decorators:
        func = decorator.func if isinstance(decorator, Call) else None
        named = (dotted(func if func is not None else decorator) or "").rpartition(".")[2]
        if named in _TASKS:
            return "task"
        if func is not None and isinstance(func, Attribute) and func.attribute in _ROUTES:
            given = decorator.args if isinstance(decorator, Call) else ()
            if func.attribute == "before_request" or (given and isinstance(constant(given[0]), str)):
                return "request"
    return None


def _is_view(owner: Scope) -> bool:
    """Tell whether the name of a class's base says that it answers requests."""
    return any(_VIEW.fullmatch((dotted(base) or "").rpartition(".")[2]) for base in owner.bases)


_SEARCHES = frozenset(
    {"optimize", "fmin", "gp_minimize", "forest_minimize", "gbrt_minimize", "dummy_minimize"}
)


@once
def _search_calls(program: Program, module: Module) -> list[tuple[Scope, Call]]:
    """Return the calls of a module that search with Optuna, Hyperopt or scikit-optimize."""
    del program
    scopes = module.summary.scopes
    if not any(
        source.partition(".")[0] in ("optuna", "hyperopt", "skopt")
        for item in scopes
        for source in item.imports.values()
    ):
        return []
    return [
        (where, call)
        for where in scopes
        for call in where.calls
        if call.args and (dotted(call.func) or call.method or "").rpartition(".")[2] in _SEARCHES
    ]


def _is_called_in_trials(program: Program, scope: Scope) -> bool:
    """Tell whether a search calls a function for each of many trials."""
    for where, call in _search_calls(program, scope.module):
        name = (dotted(call.func) or call.method or "").rpartition(".")[2]
        given = call.argument(0, "fn" if name == "fmin" else "func")
        if given is None or not is_name(given, scope.name):
            continue
        most = next(
            (call.keyword(word) for word in ("n_trials", "max_evals", "n_calls") if call.keyword(word)),
            None,
        )
        count = Conditions(program, None).value(most, where, before=call.line) if most else None
        return not (type(count) is int and count <= FEW)
    return False
