"""Helpers of several checks: values of names, and what functions do and when."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from cfgfix.code.checks.models import TRAINING
from cfgfix.code.inference.entry_points import is_test
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import dotted, is_name, is_true, text, walk
from cfgfix.code.model.nodes import (
    Attribute,
    Call,
    Expr,
    Literal,
    Name,
    Subscript,
)
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import (
    External,
    Function,
    Items,
    Made,
    Site,
    Value,
    alternatives,
    item_of,
)


def in_tests(scope: Scope) -> bool:
    """Tell whether a scope is part of a test.

    How a test uses something shows nothing of how a program does. Whether a hit in a test is told is no question of a check: the runner decides that by the rule's policy.
    """
    return is_test(scope.module)


def line_beside(reader: Scope, scope: Scope, line: int) -> str:
    """Return a line as it is said beside a hit, with its file if that is another."""
    file = (
        ""
        if scope.module is reader.module
        else f" of {scope.module.path.replace(chr(92), '/').rpartition('/')[2]}"
    )
    return f"{line}{file}"


def line_of_site(reader: Site, other: Site) -> str:
    """Return the line of another call, with its file where that differs."""
    return line_beside(reader.scope, other.scope, other.call.name_line)


MAX_NAMES = 6
"""Most names for one another that are followed to a value."""


def only_value(scope: Scope, expr: Expr | None) -> Expr | None:
    """Return the value of the only assignment to a name, or None.

    Any other expression is returned as it is.
    """
    for _ in range(MAX_NAMES):
        if expr is None or not isinstance(expr, Name):
            return expr
        bound = scope.binding(expr.name)
        if len(bound) != 1 or bound[0].kind != "assign" or bound[0].value is None:
            return None
        if not any(is_name(target, expr.name) for target in bound[0].targets):
            return None
        expr = bound[0].value
    return None


def value_named(program: Program, scope: Scope, name: str) -> Value | None:
    """Return the value of a name in a scope or the scopes around it, or None."""
    here: Scope | None = scope
    while here is not None:
        env = flow_of(program).env_of(here)
        if env is not None and name in env.names:
            found: Value = env.names[name]
            return found
        here = program.outer(here)
    return None


_SHOWS = frozenset({"imshow", "waitKey", "namedWindow"})
_TRAINS = frozenset({"fit", "fit_generator", "train_on_batch", "apply_gradients", "minimize", "compile"})


def shows_pictures(scope: Scope) -> bool:
    """Tell whether a function shows pictures one by one and trains nothing.

    Somebody looks at the data, and nothing waits for it.
    """
    methods = {call.method for call in scope.calls}
    return scope.kind == "function" and not methods.isdisjoint(_SHOWS) and methods.isdisjoint(_TRAINS)


_EVALUATES = re.compile(r"(?:^|_)(?:test|eval|evaluate|evaluation|predict|infer|inference)(?:_|$)")


def evaluates(scope: Scope) -> bool:
    """Tell whether a function is named for a test or a prediction.

    Its data is read once after the training. A validation does not count.
    """
    name = scope.name.lower()
    return scope.kind == "function" and "train" not in name and _EVALUATES.search(name) is not None


def is_autotune(value: Value | None) -> bool:
    """Tell whether a value is `tf.data.AUTOTUNE` and nothing else."""
    found = list(alternatives(value))
    return bool(found) and all(
        isinstance(item, External) and item.name.endswith(("data.AUTOTUNE", "data.experimental.AUTOTUNE"))
        for item in found
    )


def tensorflow_alias(scope: Scope) -> str | None:
    """Return the name under which a module has TensorFlow, such as `tf`, or None."""
    here: Scope | None = scope
    while here is not None:
        for name, source in here.imports.items():
            if source in ("tensorflow", "tensorflow.compat.v2") and name not in here.children:
                return name
        here = here.module.summary.scopes[here.parent] if here.parent >= 0 else None
    return None


def inside_function(
    program: Program, function: Function | Scope, depth: int = 3
) -> Iterator[tuple[Site, tuple[Site, ...]]]:
    """Yield the calls of a function and its callees, each with its call path.

    What a guard rules out for the arguments on the way is left out: `random_flip` under `if training` is no call of
    `prepare(x, training=False)`.
    """
    from cfgfix.code.inference.call_ways import flags, ways_of

    scope = function.scope if isinstance(function, Function) else function
    made = function if isinstance(function, Function) else None
    ways_in = ways_of(program)
    seen: dict[int, list[set[object]]] = {}
    told: set[int] = set()
    pending: list[tuple[Scope, tuple[Site, ...], tuple[Any, ...]]] = [(scope, (), flags(function))]
    while pending:
        here, path, given = pending.pop(0)
        known = seen.setdefault(id(here), [])
        if len(known) >= MAX_VARIANTS:
            given = ()
        if any(other <= set(given) for other in known):
            continue
        known.append(set(given))
        flow_of(program).default(here)
        for site in ways_in.sites(here, path, given, made):
            if id(site) not in told:
                told.add(id(site))
                yield site, path
            if len(path) < depth:
                pending += [
                    (target.scope, (*path, site), ways_in.given(site, target, given))
                    for target in site.targets
                ]


MAX_VARIANTS = 4
"""Most ways to one function that are told apart by the arguments given on them."""


RANDOM_OPS = (
    "tensorflow.random.",
    "tensorflow.image.random_",
    "keras.layers.Random",
    "keras.random.",
    "tensorflow.raw_ops.Random",
)
NOT_RANDOM_OPS = (
    "tensorflow.random.stateless_",
    "tensorflow.random.set_seed",
    "tensorflow.random.set_random_seed",
    "tensorflow.random.experimental.stateless",
    "tensorflow.random.Generator.from_",
    "tensorflow.random.get_global_generator",
    "tensorflow.random.create_rng_state",
)


def is_random(site: Site) -> bool:
    """Tell whether a call draws a random number that differs from call to call."""
    return site.name.startswith(RANDOM_OPS) and not site.name.startswith(NOT_RANDOM_OPS)


def is_augmentation(program: Program, site: Site) -> bool:
    """Tell whether a call draws a random number of any kind, stateless ones included."""
    return (
        is_random(site)
        or site.name.startswith(("tensorflow.random.stateless_", "tensorflow.image.stateless_random_"))
        or _of_random_layers(program, site)
    )


def _of_random_layers(program: Program, site: Site) -> bool:
    """Tell whether a call runs a `Sequential` of random layers in training mode."""
    if not is_true(site.call.keyword("training")):
        return False
    models = alternatives(site.callee)
    return bool(models) and all(
        isinstance(model, Made)
        and model.name == "keras.Sequential"
        and any(
            isinstance(layer, Made) and layer.name.startswith("keras.layers.Random")
            for layer in _layers_of(program, model)
        )
        for model in models
    )


def _layers_of(program: Program, model: Made) -> list[Value]:
    """Return the layers that a `Sequential` is made with, and those that are added to it."""
    if model.site is None:
        return []
    found = [
        layer
        for layers in alternatives(model.site.argument(0, "layers"))
        for layer in (layers.items if isinstance(layers, Items) else (item_of(layers),))
    ]
    found += [
        site.args[0]
        for site in flow_of(program).named("keras.Sequential.add")
        if site.args
        and any(isinstance(item, Made) and item.site is model.site for item in alternatives(site.receiver))
    ]
    return found


@once
def never_entered(program: Program, scope: Scope) -> bool:
    """Tell whether a script's function is named nowhere but in its definition.

    Comments do not count. A script is a file that does something when it is run; what a module only offers is for others to
    call.
    """
    top = scope.module.summary.scopes[0]
    if scope.kind != "function" or scope.parent != 0 or not any(event.kind == "expr" for event in top.body):
        return False
    if any((dotted(item) or "").rpartition(".")[2] in _CALLS_IT for item in scope.decorators):
        return False
    name = re.compile(rf"\b{re.escape(scope.name)}\b")
    lines = [line.partition("#")[0] for line in scope.module.source_lines()]
    return sum(len(name.findall(line)) for line in lines) <= 1 and not any(
        source.rpartition(".")[2] == scope.name
        for module in program.modules
        for inner in module.summary.scopes
        for source in inner.imports.values()
    )


_CALLS_IT = frozenset({"automain", "main", "command", "entrypoint"})
"""Decorators that run a function, or hand it to what does."""


def few_turns(program: Program, scope: Scope, block: int, most: int = 10) -> bool:
    """Tell whether a loop over `range` makes at most `most` turns, by constants."""
    test = scope.blocks[block].test
    if test is None or not isinstance(test, Call):
        return False
    call = test
    if (
        not isinstance(call.func, Name)
        or call.func.name != "range"
        or not 1 <= len(call.args) <= 3
        or call.keywords
    ):
        return False
    from cfgfix.code.inference.conditions import Conditions

    conditions = Conditions(program, None)
    bounds = [conditions.value(arg, scope, before=scope.blocks[block].line) for arg in call.args]
    if not all(type(bound) is int for bound in bounds) or bounds[2:] == [0]:
        return False
    return not range(*bounds)[most : most + 1]


_PASSES_ON = frozenset({"enumerate", "tqdm", "list", "reversed", "sorted", "zip", "items", "values"})
_LISTS_FILES = frozenset({"glob", "iglob", "rglob"})
_CONFIG_ENDINGS = (".yaml", ".yml", ".json", ".toml", ".ini", ".cfg")
_TAKES_ITEM = frozenset({"get", "get_nowait"})
"""Methods that without arguments are those of queues: a mapping's `get` has one."""


def goes_through_experiments(program: Program, scope: Scope, expr: Expr | None, depth: int = 4) -> bool:
    """Tell whether a loop goes over experiment runs that the project lists.

    A config, a folder of configs or a function of the project gives them: they are few, and each is a run of its own.
    """
    if expr is None or depth == 0:
        return False
    if isinstance(expr, (Attribute, Subscript)):
        return True
    if isinstance(expr, Name):
        bound = scope.binding(expr.name)
        return len(bound) == 1 and goes_through_experiments(program, scope, bound[0].value, depth - 1)
    if not isinstance(expr, Call):
        return False
    call = expr
    last = call.method or (dotted(call.func) or "").rpartition(".")[2]
    if last in _LISTS_FILES:
        return any(
            isinstance(part, Literal) and str(part.value).endswith(_CONFIG_ENDINGS)
            for given in call.args
            for part in walk(given)
        )
    if last in _PASSES_ON:
        given = call.receiver if last in ("items", "values") and call.method else next(iter(call.args), None)
        return goes_through_experiments(program, scope, given, depth - 1)
    return isinstance(program.static_value(call.func, scope), Function)


def works_off_queue(scope: Scope, loop: int) -> bool:
    """Tell whether each turn of a loop takes an item out of a queue."""
    test = scope.blocks[loop].test
    asked = [call for call in scope.calls if call.block == loop]
    asked += [part for part in walk(test) if isinstance(part, Call)] if test is not None else []
    return any(
        (call.method in _TAKES_ITEM and not call.args)
        or (
            is_name(call.func, "iter")
            and len(call.args) == 2
            and isinstance(call.args[0], Attribute)
            and call.args[0].attribute in _TAKES_ITEM
        )
        for call in asked
    )


def is_library_demo(scope: Scope, block: int) -> bool:
    """Tell whether a place runs only when a library file shows itself.

    It stands under `if __name__ == "__main__"` in a file that trains nothing.
    """
    from cfgfix.code.model.expressions import text

    tried = any(item.test is not None and "__name__" in text(item.test) for item in scope.block_chain(block))
    return tried and not any(
        call.method in TRAINING for item in scope.module.summary.scopes for call in item.calls
    )


def short(site: Site) -> str:
    """Return the text of a call's callee, without arguments."""
    return text(site.call.func)


def stops(scope: Scope) -> bool:
    """Tell whether a function stops in a debugger."""
    return any((call.method == "set_trace") or is_name(call.func, "breakpoint") for call in scope.calls)


def reads_symbols(function: Function) -> bool:
    """Tell whether a function calls `.numpy()` on one of its own parameters.

    In a graph that raises while the function is traced.
    """
    own = {item.name for item in function.scope.params}
    return any(
        call.method == "numpy" and isinstance(call.receiver, Name) and call.receiver.name in own
        for call in function.scope.calls
    )


def names_set_by_text(scope: Scope) -> set[str]:
    """Return the names that calls in a scope may set by a text: `setattr(x, "a", 1)`."""
    return {
        str(item.value).rpartition(".")[2]
        for call in scope.calls
        if (dotted(call.func) or "").rpartition(".")[2] in _SETTERS
        for item in call.args
        if isinstance(item, Literal) and isinstance(item.value, str)
    }


_SETTERS = ("setattr", "setattribute", "patch", "object")
"""What sets an attribute by its name; the last two are of mocks: `patch.object(x, "a")`."""
