"""Training steps and loops: eager steps, retracing, host work in every step, Keras switches left on."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

from cfgfix.code.checks.common import (
    COMPILED,
    few_turns,
    flag,
    in_tests,
    inside_function,
    kept_eager,
    never_entered,
    short,
    statement,
    stops,
    tensorflow_alias,
    trains,
    upstream,
)
from cfgfix.code.checks.moves import free_name
from cfgfix.code.inference.conditions import Conditions
from cfgfix.code.inference.environment import other_backend
from cfgfix.code.inference.guards import expects_absence
from cfgfix.code.inference.hot_paths import ELEMENT, GRAPH, PYTHON, hot_paths, innermost_loop, inside
from cfgfix.code.inference.releases import api, keras_three, where_known, written_for_one
from cfgfix.code.model import comments as remarks
from cfgfix.code.model.expressions import constant, dotted, is_true, text
from cfgfix.code.model.hit import Hit, Rewrite, Step, at, hit_at
from cfgfix.code.model.program import Program, is_keras_model
from cfgfix.code.model.summary import (
    ATTRIBUTE,
    BINARY,
    BOOLEAN,
    CALL,
    COMPARE,
    CONSTANT,
    ITEMS,
    NAME,
    SUBSCRIPT,
    UNARY,
    Call,
    Expr,
    Scope,
)
from cfgfix.code.model.values import (
    Constant,
    Dataset,
    Element,
    Function,
    Items,
    Made,
    Site,
    Value,
    alternatives,
)

NEEDLES = (
    *COMPILED,
    b"run_eagerly",
    b"executing_eagerly",
    b"set_global_policy",
    b"LossScale",
    b".compile(",
    b"run_functions_eagerly",
)

_DEBUG = ("debug", "eager", "profile")


def _guarded(site: Site, *words: str) -> bool:
    """Tell whether a place is under an `if` that says one of some words."""
    for block in site.scope.block_chain(site.call.block):
        if block.kind == "if" and block.test is not None:
            shown = text(block.test, site.scope).lower()
            if any(word in shown for word in words):
                return True
    return any(word in site.scope.qualname.lower() for word in words)


def eager_step(program: Program) -> Iterator[Hit]:
    """A step with a gradient tape that a loop calls without `tf.function`."""
    hot = hot_paths(program)
    seen: set[tuple[int, int]] = set()
    for scope, block, site in hot.step_loops():
        if (
            in_tests(scope)
            or kept_eager(program, scope.module, always=True)
            or written_for_one(program, scope)
        ):
            continue
        if _now_and_then(scope, site.call.block, block) or _entered_by_name(program, scope):
            continue
        plain = [target for target in site.targets if target.compiled is None]
        if not plain or len(plain) != len(site.targets) or site.open:
            continue
        head = _head(site.call.func)
        if any(item[0] == head for item in scope.params) and head != (
            scope.params[0][0] if program.owner(scope) else ""
        ):
            # What is called comes from a caller, who may have compiled it.
            continue
        for target in plain:
            tape = _tape(program, target.scope, set())
            if (
                tape is None
                or hot.reach(tape.scope, GRAPH) is not None
                or (id(tape.scope), tape.call.number) in seen
            ):
                continue
            if not _applies(program, target.scope, set()):
                continue
            if (
                _calls_compiled(program, tape.scope)
                or stops(tape.scope)
                or _wrapped(program, target.scope)
                or _uses_numpy(tape)
                or any(_decorated(way) for way in _way_to(program, target.scope, tape.scope))
            ):
                continue
            seen.add((id(tape.scope), tape.call.number))
            alone = innermost_loop(tape.scope, tape.call.block) is None
            if alone and scope.blocks[block].kind == "for" and few_turns(program, scope, block):
                continue
            yield hit_at(
                tape,
                flow=(at(site, label="called in every step of this loop"),),
                severity="info"
                if _on_purpose(tape.scope)
                or _may_call_compiled(program, tape.scope)
                or (alone and _once_a_rollout(program, scope, block))
                or _explains_eager(target.scope)
                or _fit_compiles(program, target.scope)
                # What a step watches is its input: an image is optimised, nothing is trained.
                or any(call.method == "watch" for call in tape.scope.calls)
                or (
                    # What makes a model in every step cannot be compiled as it is.
                    alone
                    and any(
                        _MAKES_MODEL.fullmatch(made.name)
                        for made, _ in inside_function(program, target.scope)
                    )
                )
                or _explains_eager(tape.scope)
                or (
                    alone
                    and few_turns(program, scope, block, 100)
                    and innermost_loop(scope, scope.blocks[block].parent) is None
                )
                or scope.module.path.endswith(".ipynb")
                else None,
                values={
                    "function": tape.scope.qualname,
                    "what": "computes and applies gradients"
                    if any(call.method in _APPLIES for call in tape.scope.calls)
                    else "computes gradients",
                    "loop_line": _loop_line(tape, scope, block),
                },
                **_compiled(program, tape.scope, target, alone=alone),
            )
    yield from _tapes_in_loops(program, seen)


def _tapes_in_loops(program: Program, seen: set[tuple[int, int]]) -> Iterator[Hit]:
    """Yield the tapes that a loop opens itself in each turn, and whose gradients it applies there."""
    hot = hot_paths(program)
    for tape in program.flow.named("tensorflow.GradientTape"):
        scope = tape.scope
        loop = innermost_loop(scope, tape.call.block)
        while loop is not None and (
            _once(scope, loop) or few_turns(program, scope, loop) or _over_models(scope, loop)
        ):
            loop = innermost_loop(scope, scope.blocks[loop].parent)
        if loop is None or (id(scope), tape.call.number) in seen or in_tests(scope):
            continue
        if any(
            other.name == tape.name and (id(scope), other.call.number) in seen
            for other in program.flow.within(scope)
            if other.call.place[0] == tape.call.place[0]
        ):
            # Of several tapes that one `with` opens, the first is told.
            continue
        seen.add((id(scope), tape.call.number))
        if not any(call.method in _APPLIES and inside(scope, call.block, loop) for call in scope.calls):
            continue
        if (
            hot.reach(scope, GRAPH, ELEMENT, PYTHON) is not None
            or kept_eager(program, scope.module, always=True)
            or written_for_one(program, scope)
            or never_entered(program, scope)
            or _now_and_then(scope, tape.call.block, loop)
            or _calls_compiled(program, scope)
            or stops(scope)
            or _uses_numpy(tape)
            or _decorated(scope)
            or _entered_by_name(program, scope)
        ):
            continue
        yield hit_at(
            tape,
            flow=(),
            severity="info"
            if _on_purpose(scope)
            or _guarded(tape, *_DEBUG)
            or _may_call_compiled(program, scope)
            or any(call.method == "watch" for call in scope.calls)
            or _once_a_rollout(program, scope, loop)
            or (
                few_turns(program, scope, loop, 100)
                and innermost_loop(scope, scope.blocks[loop].parent) is None
            )
            else None,
            values={
                "function": scope.qualname or "the module",
                "what": "computes and applies gradients",
                "loop_line": scope.blocks[loop].line,
            },
            no_fix="the step stands in the loop itself: make it a function first",
        )


def _over_models(scope: Scope, loop: int) -> bool:
    """Tell whether a loop goes over a literal list: the few things that one step is about."""
    test = scope.blocks[loop].test
    return scope.blocks[loop].kind == "for" and test is not None and test[0] == ITEMS


_SIDE_EFFECTS = (
    "print",
    "input",
    "open",
    "float",
    "int",
    "bool",
    "isinstance",
    "next",
    "iter",
    "getattr",
    "setattr",
)


def _compiled(program: Program, scope: Scope, target: Function, *, alone: bool) -> dict[str, Any]:
    """Return the fix that compiles a step, where nothing in it is Python that has to run in every step."""
    alias = tensorflow_alias(scope)
    if not alone:
        return {"no_fix": "the step stands in the loop itself: make it a function first"}
    if (
        alias is None
        or scope.kind != "function"
        or scope.generator
        or scope.is_async
        or target.scope is not scope
    ):
        return {"no_fix": "which function is the step is for you to say"}
    if _on_purpose(scope) or _switched_off(scope):
        return {"no_fix": "it looks as if it were meant to run without"}
    if any(_MAKES_MODEL.fullmatch(made.name) for made in program.flow.within(scope)):
        return {
            "no_fix": "it makes a model each time, which a compiled function may do in its first call only"
        }
    kept = _python_in(program, scope)
    if kept is not None:
        return {"no_fix": f"{kept} would run once, while the step is traced, or not at all"}
    return {"rewrites": (Rewrite("decorate", scope, scope.place, f"@{alias}.function"),)}


def _python_in(program: Program, step: Scope) -> str | None:
    """Return what a step does that is Python and no part of the graph, as text; None for nothing."""
    scopes = {id(step): step}
    for site, _ in inside_function(program, step):
        scopes.setdefault(id(site.scope), site.scope)
        if site.name.startswith(("numpy.", "time.", "random.", "logging.", "wandb.", "builtins.open")):
            return short(site)
    for scope in scopes.values():
        for call in scope.calls:
            if call.method in ("numpy", "append", "item", "update", "set_description", "info", "write"):
                return text(call.func, scope)
            if call.func[0] == NAME and call.func[1] in _SIDE_EFFECTS:
                return text(call.func, scope)
        for event in scope.events():
            if event.kind in ("assign", "augment") and any(
                target[0] in (ATTRIBUTE, SUBSCRIPT) for target in event.targets
            ):
                return text(event.targets[0], scope)
            if event.kind in ("raise", "yield", "delete") or (event.kind == "try"):
                return event.kind
        if scope.outer:
            return "what it sets outside"
    return None


def _on_purpose(scope: Scope) -> bool:
    """Tell whether a function or its file is named for debugging or for eager execution."""
    words = f"{os.path.basename(scope.module.path)} {scope.qualname}".lower()
    return "debug" in words or "eager" in words


def _once_a_rollout(program: Program, scope: Scope, loop: int) -> bool:
    """Tell whether a loop plays an environment for many steps between its updates: these take the time."""
    own = [call for call in scope.calls if inside(scope, call.block, loop)]
    if any(_plays(call, scope) and innermost_loop(scope, call.block) != loop for call in own):
        return True
    pending = [(site, 0) for site in program.flow.within(scope) if inside(scope, site.call.block, loop)]
    while pending:
        site, depth = pending.pop()
        for target in site.targets:
            if any(
                _plays(call, target.scope) and innermost_loop(target.scope, call.block) is not None
                for call in target.scope.calls
            ):
                return True
            if depth < 1:
                pending += [(inner, depth + 1) for inner in program.flow.within(target.scope)]
    return False


def _plays(call: Call, scope: Scope) -> bool:
    """Tell whether a call makes a step of an environment, as in `env.step(action)`."""
    return call.method == "step" and "env" in text(call.func[1], scope).lower()


def _loop_line(tape: Site, scope: Scope, block: int) -> int:
    """Return the line of the loop around a tape: in its own function where there is one, or else where that is called."""
    inner = innermost_loop(tape.scope, tape.call.block)
    while inner is not None and _once(tape.scope, inner):
        inner = innermost_loop(tape.scope, tape.scope.blocks[inner].parent)
    return scope.blocks[block].line if inner is None else tape.scope.blocks[inner].line


def _once(scope: Scope, loop: int) -> bool:
    """Tell whether a loop is written with one turn: `for _ in range(1)`."""
    test = scope.blocks[loop].test
    if test is None or test[0] != CALL:
        return False
    call = scope.calls[test[1]]
    return call.func[:2] == (NAME, "range") and [constant(item) for item in call.args] == [1]


def _fit_compiles(program: Program, scope: Scope) -> bool:
    """Tell whether a function is the `train_step` of a model of Keras with a `compile` of its own: `fit` compiles it, a loop tries it."""
    owner = program.owner(scope)
    return (
        owner is not None
        and scope.name == "train_step"
        and "compile" in owner.children
        and is_keras_model(program, owner)
    )


def _now_and_then(scope: Scope, block: int, loop: int) -> bool:
    """Tell whether a place in a loop runs only in some of its turns, as under `if i % 5 == 0`."""
    while block >= 0 and block != loop:
        item = scope.blocks[block]
        if item.kind == "if" and item.test is not None and "%" in text(item.test, scope):
            return True
        block = item.parent
    return False


def _calls_compiled(program: Program, scope: Scope) -> bool:
    """Tell whether a step calls what is compiled itself, such as a model whose `call` is: the costly part runs as a graph."""
    compiled: set[int] | None = program.facts.get("compiled scopes")
    if compiled is None:
        compiled = program.facts["compiled scopes"] = {
            id(root.scope) for root in hot_paths(program).roots if root.kind == GRAPH
        }
    return any(id(target.scope) in compiled for site in program.flow.within(scope) for target in site.targets)


def _may_call_compiled(program: Program, scope: Scope) -> bool:
    """Tell whether a step calls a method of something unknown, `model.forward(x)`, that a class of the project compiles."""
    names: set[str] | None = program.facts.get("compiled methods")
    if names is None:
        names = program.facts["compiled methods"] = {
            root.scope.name
            for root in hot_paths(program).roots
            if root.kind == GRAPH and program.owner(root.scope) is not None
        }
    known = {id(site.call) for site in program.flow.within(scope)}
    return any(call.method in names and id(call) not in known for call in scope.calls)


def _wrapped(program: Program, scope: Scope) -> bool:
    """Tell whether something puts a compiled function in a method's place: `agent.train = common.function(agent.train)`."""
    found: set[str] | None = program.facts.get("wrapped methods")
    if found is None:
        found = program.facts["wrapped methods"] = {
            target[2]
            for module in program.modules
            for where, event, target in module.stores()
            if event.value is not None
            and event.value[0] == CALL
            and (dotted(where.calls[event.value[1]].func) or "").rpartition(".")[2] == "function"
        }
    return scope.name in found


def _entered_by_name(program: Program, scope: Scope) -> bool:
    """Tell whether a compiled function calls a method of this name on something that is not known: it may be this one.

    What calls the method, as far as that is known, counts as well: an object chosen by its name in a config calls nothing that
    can be followed.
    """
    names: set[str] | None = program.facts.get("called in graphs")
    if names is None:
        names = program.facts["called in graphs"] = set()
        for reach in hot_paths(program).reached(GRAPH):
            known = {id(site.call) for site in program.flow.within(reach.scope)}
            names |= {call.method for call in reach.scope.calls if call.method and id(call) not in known}
    pending, seen = [scope], {id(scope)}
    while pending and len(seen) < 20:
        here = pending.pop()
        callers = program.flow.callers(here)
        if not callers and here.name in names and program.owner(here) is not None:
            return True
        for site in callers:
            if id(site.scope) not in seen:
                seen.add(id(site.scope))
                pending.append(site.scope)
    return False


def _way_to(program: Program, first: Scope, last: Scope) -> tuple[Scope, ...]:
    """Return the functions from one to another that it calls, both ends included; the ends alone where it is long."""
    for site in program.flow.within(first):
        for target in site.targets:
            if target.scope is last:
                return first, last
            if any(
                inner.scope is last for step in program.flow.within(target.scope) for inner in step.targets
            ):
                return first, target.scope, last
    return first, last


def _decorated(scope: Scope) -> bool:
    """Tell whether a function has a decorator, which may compile it."""
    return any(
        (
            dotted(item if item[0] != CALL else scope.module.summary.scopes[scope.parent].calls[item[1]].func)
            or ""
        ).rpartition(".")[2]
        not in ("property", "staticmethod", "classmethod", "wraps", "override", "timer", "no_type_check")
        for item in scope.decorators
    )


def _switched_off(scope: Scope) -> bool:
    """Tell whether a comment above a function holds its `@tf.function`, or one behind a decorator speaks of it: it was left out on purpose."""
    return any(
        re.match(r"(?:#+\s*@?\s*[\w.]*|@[^#]*#.*\b)tf\.function\b", line)
        for line in remarks.above(scope, scope.place[0], ("#", "@"))
    )


def _explains_eager(scope: Scope) -> bool:
    """Tell whether such a comment says more than the decorator that was taken out: then there was a reason."""
    return any(
        re.match(r"(?:#+\s*@?\s*[\w.]*|@[^#]*#.*\b)tf\.function\b", line)
        and not re.fullmatch(r"#+\s*@\s*tf\.function(?:\(.*\))?", line.strip())
        for line in remarks.above(scope, scope.place[0], ("#", "@"))
    )


def _tape(program: Program, scope: Scope, seen: set[int]) -> Site | None:
    if id(scope) in seen or len(seen) > 20:
        return None
    seen.add(id(scope))
    sites: list[Site] = program.flow.within(scope)
    for site in sites:
        if site.name == "tensorflow.GradientTape":
            return site
    for site in sites:
        if innermost_loop(scope, site.call.block) is not None:
            continue
        for target in site.targets:
            if target.compiled is None:
                found = _tape(program, target.scope, seen)
                if found is not None:
                    return found
    return None


_APPLIES = ("apply_gradients", "apply", "minimize")
_MAKES_MODEL = re.compile(r"keras\.(?:applications\.(?:\w+\.)?[A-Z]\w*|layers\.[A-Z]\w*|Model|Sequential)")


def _applies(program: Program, scope: Scope, seen: set[int]) -> bool:
    if id(scope) in seen or len(seen) > 20:
        return False
    seen.add(id(scope))
    if any(call.method in _APPLIES for call in scope.calls):
        return True
    return any(
        _applies(program, target.scope, seen)
        for site in program.flow.within(scope)
        for target in site.targets
    )


def _uses_numpy(tape: Site) -> bool:
    """Whether a step reads values on the host between its forward pass and its gradients: it is eager on purpose."""
    scope = tape.scope
    ends = [call.place[0] for call in scope.calls if call.method == "gradient"]
    last = max(ends, default=scope.place[2])
    return any(call.method == "numpy" and tape.call.place[0] <= call.place[0] <= last for call in scope.calls)


def eager_switch(program: Program) -> Iterator[Hit]:
    """`run_eagerly=True` or `run_functions_eagerly(True)` left on."""
    for name in (
        "tensorflow.config.run_functions_eagerly",
        "tensorflow.config.experimental_run_functions_eagerly",
    ):
        for site in program.flow.named(name):
            if (
                flag(site.argument(0, "run_eagerly")) is not True
                or in_tests(site.scope)
                or _guarded(site, *_DEBUG)
            ):
                continue
            event = statement(site)
            yield hit_at(
                site,
                severity="info"
                if _exports(program, site.scope) or not trains(program, site.scope) or _says_why(site)
                else None,
                values={"what": "every tf.function runs"},
                rewrites=(Rewrite("drop-statement", site.scope, event.place),) if event is not None else (),
            )
    for site in _compiles(program):
        if (
            is_true(site.call.keyword("run_eagerly"))
            and not in_tests(site.scope)
            and not _guarded(site, *_DEBUG)
        ):
            if is_true(site.call.keyword("jit_compile")):
                continue
            needed = _needs_eager(program, site.scope)
            yield hit_at(
                site,
                severity="info" if needed is not None or _only_called(site) else None,
                values={"what": "every step of this model runs"},
                rewrites=()
                if needed is not None
                else (Rewrite("drop-keyword", site.scope, site.call.place, name="run_eagerly"),),
                no_fix=needed,
            )


_RUNS = frozenset(
    f"{name}{ending}"
    for name in ("fit", "evaluate", "predict", "train", "test")
    for ending in ("", "_on_batch", "_generator", "_step")
)


def _only_called(site: Site) -> bool:
    """Tell whether a script compiles a model and never lets Keras run it: then the switch has no effect."""
    module = site.scope.module
    return site.scope.kind == "module" and not any(
        call.method in _RUNS for scope in module.summary.scopes for call in scope.calls
    )


def _needs_eager(program: Program, scope: Scope) -> str | None:
    """Return why a model that is compiled in a scope has to run eagerly, or None."""
    if any(
        item.name in ("train_step", "call") and any(call.method == "numpy" for call in item.calls)
        for item in scope.module.summary.scopes
    ):
        return "a step of it reads values with .numpy(), which no graph has"
    if _asserts_eager(program):
        return "something in the program asserts that it runs eagerly"
    if other_backend(program, scope):
        return "Keras runs on another backend here"
    return None


def _asserts_eager(program: Program) -> bool:
    """Tell whether anything in the program asserts that it runs eagerly, such as a loss that reads a tape."""
    found: bool | None = program.facts.get("asserts eager")
    if found is None:
        found = program.facts["asserts eager"] = any(
            event.kind == "assert"
            and event.value is not None
            and "executing_eagerly()" in text(event.value, scope)
            for module in program.modules
            for scope in module.summary.scopes
            for event in scope.events()
        )
    return found


def _says_why(site: Site) -> bool:
    """Tell whether a comment on a call's line or the one above it says why it is there: words, and no code that was taken out."""
    line = site.call.place[0]
    said = [*remarks.behind(site.scope, line, line), *(item[1:] for item in remarks.above(site.scope, line))][
        :2
    ]
    return any(len(words.split()) >= 3 and "(" not in words for words in said)


def _exports(program: Program, scope: Scope) -> bool:
    """Tell whether a file converts or freezes a model: it runs no step."""
    return any(
        site.scope.module is scope.module
        and (
            site.name.startswith("tensorflow.lite.")
            or site.call.method in ("get_concrete_function", "from_keras_model")
        )
        for site in program.flow.sites
    )


def _compiles(program: Program) -> Iterator[Site]:
    for name in ("keras.Model.compile", "keras.Sequential.compile"):
        yield from program.flow.named(name)


def jit_and_eager(program: Program) -> Iterator[Hit]:
    """`compile(run_eagerly=True, jit_compile=True)`."""
    for site in _compiles(program):
        if is_true(site.call.keyword("run_eagerly")) and is_true(site.call.keyword("jit_compile")):
            yield hit_at(
                site,
                rewrites=(Rewrite("drop-keyword", site.scope, site.call.place, name="run_eagerly"),),
            )


def variable_shapes(program: Program) -> Iterator[Hit]:
    """A `tf.function` without arguments that a loop calls with batches padded to their own longest element."""
    hot = hot_paths(program)
    seen: set[int] = set()
    for site in program.flow.compiled:
        if in_tests(site.scope) or hot.reach(site.scope, GRAPH, ELEMENT) is not None:
            continue
        if innermost_loop(site.scope, site.call.block) is None:
            continue
        batch = next(
            (found for value in site.args for found in [padded_element(value)] if found is not None), None
        )
        if batch is None or batch.site is None:
            continue
        for target in site.targets:
            made = target.compiled
            if made is None or made.call.opaque or made.call.args[1:] or id(made.call) in seen:
                continue
            if any(name in ("jit_compile", "experimental_compile") for name, _ in made.call.keywords):
                # General shapes do not help XLA; that is a finding about the batches.
                continue
            if any(
                name in ("input_signature", "reduce_retracing", "experimental_relax_shapes")
                for name, _ in made.call.keywords
            ):
                continue
            seen.add(id(made.call))
            if made.call.number < 0:
                rewrites: tuple[Rewrite, ...] = (
                    Rewrite(
                        "replace",
                        made.scope,
                        made.call.place,
                        f"{dotted(made.call.func)}(reduce_retracing=True)",
                    ),
                )
            else:
                rewrites = (Rewrite("keyword", made.scope, made.call.place, "True", "reduce_retracing"),)
            yield Hit(
                made.scope,
                made.call.name_place if made.call.number >= 0 else made.call.place,
                made.call.block,
                {
                    "function": target.scope.name,
                    "batch_line": batch.site.call.name_place[0],
                    "loop_line": site.call.name_place[0],
                },
                needs=((site.scope, site.call.block), (batch.site.scope, batch.site.call.block)),
                related=(
                    at(batch.site, label="each batch has a length of its own"),
                    at(site, label="called with them here"),
                ),
                rewrites=rewrites,
            )


def padded_element(value: Value) -> Dataset | None:
    """Return the padded batch with an open dimension that a value is an element of, or None."""
    for item in alternatives(value):
        inner = item.items if isinstance(item, Items) else (item,)
        for part in inner:
            if isinstance(part, Element):
                found = padded_batch(part.dataset)
                if found is not None:
                    return found
    return None


def padded_batch(dataset: Dataset) -> Dataset | None:
    """Return the padded batch with an open dimension that the elements of a dataset are, or None."""
    for step in (dataset, *upstream(dataset)):
        if step.op in ("bucket_by_sequence_length", "unbatch", "batch", "rebatch"):
            return None
        if step.op == "padded_batch" and step.site is not None:
            shapes = step.site.call.argument(1, "padded_shapes")
            return step if shapes is None or _open(shapes) else None
    return None


def _open(expr: Expr) -> bool:
    """Tell whether literal shapes have a dimension of None; anything that is not literal counts as closed."""
    if expr[0] == ITEMS:
        return any(_open(item) for item in expr[2])
    if expr[0] == "d":
        return any(_open(value) for _, value in expr[1])
    return expr[0] == CONSTANT and expr[1] is None


_STALLS = {
    "keras.backend.clear_session": "clear_session throws away all compiled functions",
    "keras.utils.clear_session": "clear_session throws away all compiled functions",
    "gc.collect": "gc.collect stops Python for a full collection",
    "matplotlib.pyplot.savefig": "a figure is drawn and written",
    "matplotlib.pyplot.figure": "a figure is made",
    "matplotlib.pyplot.subplots": "a figure is made",
}


def stalls(program: Program) -> Iterator[Hit]:
    """Work in every step of a training loop that stops it: collections, figures, clearing the session."""
    hot = hot_paths(program)
    for scope, block, step in hot.step_loops():
        if in_tests(scope) or not _over_data(program, scope, block) or _by_chunks(scope, block):
            continue
        for site in program.flow.within(scope):
            if not inside(scope, site.call.block, block) or innermost_loop(scope, site.call.block) != block:
                continue
            what = _STALLS.get(site.name)
            path: tuple[Site, ...] = ()
            if what is None:
                found = _stalling(program, site)
                if found is None:
                    continue
                what, path = found
            every = _period(program, scope, site.call.block, block)
            if every is None:
                continue
            if "figure" in what and not any(
                _applies(program, target.scope, set()) for target in step.targets
            ):
                # A loop that only predicts is there for its figures.
                continue
            yield hit_at(
                site,
                flow=(at(step, label="the step of this loop"), *(at(item) for item in path)),
                values={
                    "what": what,
                    "when": f"{_each(every)} of the loop at line {scope.blocks[block].line}",
                },
                # What is compiled anew stops training however seldom it is thrown away.
                severity=None if every <= OFTEN or "clear_session" in what else "info",
            )
    yield from _stalls_in_callbacks(program)


OFTEN = 100
"""What takes as long as a hundred small steps is felt when it comes as often (`benchmarks/evidence/on_gpu.py`)."""
_SELDOM = 1 << 30
"""Stands for a number of steps that the code does not tell."""


def _each(every: int) -> str:
    return (
        "in every step"
        if every == 1
        else "every so many steps"
        if every == _SELDOM
        else f"in every {every}th step"
    )


def _period(program: Program, scope: Scope, block: int, loop: int) -> int | None:
    """Return in which of the turns of a loop a place runs: 1 for each, n under `if step % n == 0`; None under another condition."""
    every = 1
    for number in scope.block_numbers(block):
        if number == loop:
            return every
        item = scope.blocks[number]
        if item.kind in ("except", "match", "finally", "loop-else"):
            return None
        if item.kind == "if":
            found = (
                _modulo(program, scope, item.test, item.line)
                if item.branch and item.test is not None
                else None
            )
            if found is None:
                return None
            every = max(every, found)
    return every


def _modulo(program: Program, scope: Scope, test: Expr, line: int) -> int | None:
    """Return the n of a test such as `step % n == 0` or `not step % n`, `_SELDOM` for one that is not known; None for any other test."""
    if test[0] == BOOLEAN and test[1] == "and":
        known = [_modulo(program, scope, part, line) for part in test[2]]
        return next((item for item in known if item is not None), None)
    if test[0] == UNARY and test[1] == "not":
        test = test[2]
    elif test[0] == COMPARE and len(test[2]) == 1 and test[2][0][0] == "==":
        test = test[1]
    else:
        return None
    if test[0] != BINARY or test[1] != "%":
        return None
    value = Conditions(program, None).value(test[3], scope, before=line)
    return value if type(value) is int and value > 0 else _SELDOM


_EACH_BATCH = re.compile(r"on_(?:train_)?batch_(?:begin|end)")


def _stalls_in_callbacks(program: Program) -> Iterator[Hit]:
    """Yield the same in what Keras calls for every batch."""
    for module in program.modules:
        for scope in module.summary.scopes:
            owner = program.owner(scope) if _EACH_BATCH.fullmatch(scope.name) else None
            if (
                owner is None
                or in_tests(scope)
                or not any(name.startswith("keras.callbacks.") for name in program.bases(owner)[1])
            ):
                continue
            for site in program.flow.within(scope):
                what = _STALLS.get(site.name)
                path: tuple[Site, ...] = ()
                if what is None:
                    found = _stalling(program, site)
                    if found is None:
                        continue
                    what, path = found
                every = _period(program, scope, site.call.block, 0)
                if every is None:
                    continue
                yield hit_at(
                    site,
                    flow=tuple(at(item) for item in path),
                    values={"what": what, "when": f"{_each(every)}: Keras calls {scope.name} for each"},
                    severity=None if every <= OFTEN or "clear_session" in what else "info",
                )


def _by_chunks(scope: Scope, block: int) -> bool:
    """Tell whether a turn of a loop is many steps: `while step < total: ...; step += steps_per_loop`."""
    test = scope.blocks[block].test
    return (
        scope.blocks[block].kind == "while"
        and test is not None
        and any(
            event.kind == "augment"
            and inside(scope, event.block, block)
            and event.value is not None
            and event.value[0] in (NAME, ATTRIBUTE)
            and any(
                re.search(rf"\b{re.escape(target[1])}\b", text(test, scope))
                for target in event.targets
                if target[0] == NAME
            )
            for event in scope.events()
        )
    )


def _stalling(program: Program, site: Site) -> tuple[str, tuple[Site, ...]] | None:
    for target in site.targets:
        for inner in program.flow.within(target.scope):
            what = _STALLS.get(inner.name)
            if what is not None and _period(program, inner.scope, inner.call.block, 0) == 1:
                return what, (inner,)
    return None


def _rare(scope: Scope, block: int, loop: int) -> bool:
    """Tell whether a place inside a loop is under a condition or a handler of its own."""
    while block >= 0 and block != loop:
        if scope.blocks[block].kind in ("if", "except", "match"):
            return True
        block = scope.blocks[block].parent
    return False


def _over_data(program: Program, scope: Scope, block: int) -> bool:
    """Tell whether a loop goes over a dataset or over steps, rather than over epochs."""
    test = scope.blocks[block].test
    for kind, _, where, number in program.flow.consumed:
        if kind == "loop" and where is scope and number == block:
            return True
    if test is None:
        return False
    shown = text(test, scope).lower()
    return (
        "step" in shown or "batch" in shown or "dataset" in shown or "loader" in shown
    ) and "epoch" not in shown.replace("per_epoch", "")


def host_reads(program: Program) -> Iterator[Hit]:
    """Several values of a step read on the host in every step: `float(loss)`, `loss.numpy()`."""
    hot = hot_paths(program)
    done: set[tuple[int, int]] = set()
    for scope, block, step in hot.step_loops():
        if in_tests(scope) or (id(scope), block) in done or not _over_data(program, scope, block):
            continue
        done.add((id(scope), block))
        results = _results(scope, step)
        reads = []
        for call in scope.calls:
            if innermost_loop(scope, call.block) != block or _rare(scope, call.block, block):
                continue
            by_method = call.method == "numpy" and not call.args and _head(call.func[1]) in results
            by_float = call.func[0] == NAME and call.func[1] == "float" and len(call.args) == 1
            if by_method or (by_float and _head(call.args[0]) in results):
                reads.append(call)
        if len(reads) >= 2:
            first = reads[0]
            yield Hit(
                scope,
                first.name_place,
                first.block,
                {"count": len(reads), "loop_line": scope.blocks[block].line},
                related=tuple(Step(scope, call.name_place, call.block, "and here") for call in reads[1:6]),
            )
    yield from _reads_beside_tape(program, done)


def _reads_beside_tape(program: Program, done: set[tuple[int, int]]) -> Iterator[Hit]:
    """Reads in an eager loop that holds the gradient tape itself, such as the micro steps of gradient accumulation."""
    hot = hot_paths(program)
    for tape in program.flow.named("tensorflow.GradientTape"):
        scope = tape.scope
        block = innermost_loop(scope, tape.call.block)
        if (
            block is None
            or in_tests(scope)
            or (id(scope), block) in done
            or hot.reach(scope, GRAPH, ELEMENT, PYTHON) is not None
            or few_turns(program, scope, block)
        ):
            continue
        done.add((id(scope), block))
        computed = _computed(scope, tape, block)
        reads = [
            call
            for call in scope.calls
            if inside(scope, call.block, block)
            and not _rare(scope, call.block, block)
            and (
                (call.method == "numpy" and not call.args and _head(call.func[1]) in computed)
                or (
                    call.func[:2] == (NAME, "float")
                    and len(call.args) == 1
                    and _head(call.args[0]) in computed
                )
            )
        ]
        if len(reads) >= 2:
            yield Hit(
                scope,
                reads[0].name_place,
                reads[0].block,
                {"count": len(reads), "loop_line": scope.blocks[block].line},
                related=tuple(Step(scope, call.name_place, call.block, "and here") for call in reads[1:6]),
            )


def _computed(scope: Scope, tape: Site, block: int) -> set[str]:
    """Return the names that are tensors in a loop: assigned under its tape, or bound by a loop over a dict of the step."""
    found: set[str] = set()
    made: set[str] = set()
    for event in scope.events():
        if not inside(scope, event.block, block):
            continue
        names = {
            part[1]
            for target in event.targets
            for part in (target[2] if target[0] == ITEMS else (target,))
            if part[0] == NAME
        }
        number = event.block
        under = False
        while number >= 0 and number != block:
            item = scope.blocks[number]
            under = under or (item.kind == "with" and item.test == (CALL, tape.call.number))
            number = scope.blocks[number].parent
        if event.kind in ("assign", "augment") and event.value is not None:
            if under:
                found |= names
            elif event.value[0] == CALL:
                made |= names
        elif event.kind == "for" and event.value is not None and event.value[0] == CALL:
            call = scope.calls[event.value[1]]
            if call.method in ("items", "values") and _head(call.func[1]) in made | found:
                last = event.targets[0]
                last = last[2][-1] if last[0] == ITEMS else last
                if last[0] == NAME:
                    found.add(last[1])
    return found


def _results(scope: Scope, step: Site) -> set[str]:
    for event in scope.events():
        if event.kind == "assign" and event.value == (CALL, step.call.number):
            return {
                part[1]
                for target in event.targets
                for part in (target[2] if target[0] == ITEMS else (target,))
                if part[0] == NAME
            }
    return set()


def _head(expr: Expr) -> str:
    while expr[0] in (ATTRIBUTE, "s"):
        expr = expr[1]
    return str(expr[1]) if expr[0] == NAME else ""


def _kept_policy(site: Site) -> bool:
    """Tell whether a policy is put back: `old = global_policy()`, and later `set_global_policy(old)`."""
    given = site.call.argument(0, "policy")
    return (
        given is not None
        and given[0] == NAME
        and any(
            event.value is not None
            and any(target[:2] == given[:2] for target in event.targets)
            and re.search(r"global_policy\(|dtype_policy\(", text(event.value, site.scope)) is not None
            for event in site.scope.events()
        )
    )


def policy_late(program: Program) -> Iterator[Hit]:
    """The precision policy set after layers of the same scope were made."""
    for name in (
        "keras.mixed_precision.set_global_policy",
        "keras.mixed_precision.experimental.set_policy",
        "keras.config.set_dtype_policy",
    ):
        for site in program.flow.named(name):
            if in_tests(site.scope):
                continue
            policy = site.argument(0, "policy")
            if isinstance(policy, Constant) and policy.value in ("float32", None):
                continue
            if _kept_policy(site):
                continue
            earlier = None
            later = False
            for other in program.flow.within(site.scope):
                if (
                    other.name.startswith(("keras.layers.", "keras.applications."))
                    and other.name.count(".") == 2
                    # Functions such as `enable_v2_dtype_behavior` make no layer.
                    and other.name.rpartition(".")[2][:1].isupper()
                    # What goes in computes nothing.
                    and other.name not in ("keras.layers.Input", "keras.layers.InputLayer")
                ):
                    if other.call.number < site.call.number and other.call.block == site.call.block:
                        earlier = earlier or other
                    elif other.call.number > site.call.number:
                        later = True
            if earlier is not None and not later:
                yield hit_at(
                    site,
                    values={"layer": short(earlier), "line_of": earlier.call.name_place[0]},
                    related=(at(earlier, label="made with the old policy"),),
                )


def unscaled_loss(program: Program) -> Iterator[Hit]:
    """Gradients of a loss that was not scaled, applied by a loss-scaling optimizer."""
    makers = ("keras.mixed_precision.LossScaleOptimizer", "keras.optimizers.LossScaleOptimizer")
    for scope in {id(s.scope): s.scope for s in program.flow.named("tensorflow.GradientTape")}.values():
        if in_tests(scope):
            continue
        applies = [
            site
            for site in program.flow.within(scope)
            if site.call.method == "apply_gradients"
            and any(isinstance(item, Made) and item.name in makers for item in alternatives(site.receiver))
        ]
        if not applies:
            continue
        if any(call.method in ("scale_loss", "get_scaled_loss", "scale") for call in scope.calls):
            continue
        if any(
            target.scope.calls
            for site in program.flow.within(scope)
            for target in site.targets
            if any(call.method in ("scale_loss", "get_scaled_loss") for call in target.scope.calls)
        ):
            continue
        three = keras_three(program)
        # On another way the optimizer is a plain one, and this step may be meant for it, as on a TPU.
        either = any(
            not (isinstance(item, Made) and item.name in makers) for item in alternatives(applies[0].receiver)
        )
        yield hit_at(
            applies[0],
            values={
                "what": "this optimizer divides gradients by the loss scale, and the loss was not scaled: the update is next"
                " to nothing"
                if three
                else "the loss was not scaled, so nothing keeps small gradients from becoming 0"
            },
            severity=None if three else "info" if either else "warning",
            **(
                _scaled_loss(applies[0])
                if three
                else {"no_fix": "with Keras 2 the gradients have to be unscaled as well"}
            ),
        )


def _scaled_loss(apply: Site) -> dict[str, Any]:
    """Return the fix that takes the gradient of the scaled loss: it is scaled on the tape, behind the statement that makes it."""
    scope = apply.scope
    optimizer = dotted(apply.call.func[1])
    name = free_name(scope, "scaled_loss")
    gradients = [call for call in scope.calls if call.method == "gradient" and call.args]
    if optimizer is None or name is None or len(gradients) != 1 or gradients[0].args[0][0] != NAME:
        return {"no_fix": "which loss is meant is for you to say"}
    loss = gradients[0].args[0]
    made = [event for event in scope.binding(loss[1]) if event.kind in ("assign", "augment")]
    if not made or any(scope.blocks[event.block].kind != "with" for event in made[-1:]):
        return {"no_fix": "the loss is not made in the block of the tape itself"}
    return {
        "rewrites": (
            Rewrite(
                "insert", scope, made[-1].place, f"{name} = {optimizer}.scale_loss({loss[1]})", behind=True
            ),
            Rewrite("replace", scope, loss[-1], name),
        )
    }


def old_scaling(program: Program) -> Iterator[Hit]:
    """`get_scaled_loss` and `get_unscaled_gradients` of a Keras 3 optimizer."""
    makers = ("keras.mixed_precision.LossScaleOptimizer", "keras.optimizers.LossScaleOptimizer")
    three = keras_three(program)
    for maker in makers:
        for method in ("get_scaled_loss", "get_unscaled_gradients"):
            for site in program.flow.named(f"{maker}.{method}"):
                if (
                    site.raw.startswith("tf_keras")
                    or expects_absence(site.scope, site.call.block, site.call.place)
                    or not three
                ):
                    continue
                rewrites: tuple[Rewrite, ...] = ()
                if method == "get_scaled_loss":
                    rewrites = (Rewrite("rename", site.scope, site.call.func[3], "scale_loss"),)
                elif len(site.call.args) == 1 and dotted(site.call.args[0]) is not None:
                    rewrites = (
                        Rewrite("replace", site.scope, site.call.place, dotted(site.call.args[0]) or ""),
                    )
                yield hit_at(
                    site,
                    values={"method": method},
                    severity=None
                    if three == "all" and api(program).requirement.known
                    else where_known(api(program), "warning"),
                    rewrites=rewrites,
                )


def remainder_signature(program: Program) -> Iterator[Hit]:
    """A function with a fixed batch size in its `input_signature`, fed by a dataset that keeps its remainder."""
    hot = hot_paths(program)
    seen: set[int] = set()
    for site in program.flow.compiled:
        if in_tests(site.scope) or hot.reach(site.scope, GRAPH, ELEMENT, PYTHON) is not None:
            continue
        for target in site.targets:
            made = target.compiled
            if made is None or id(made.call) in seen:
                continue
            size = _fixed_batch(made)
            if size is None:
                continue
            for value in site.args:
                batch = _with_remainder(value)
                if batch is None or batch.site is None:
                    continue
                seen.add(id(made.call))
                yield hit_at(
                    batch.site,
                    values={"size": size, "function": target.scope.name, "line_of": made.call.place[0]},
                    needs=((site.scope, site.call.block), (made.scope, made.call.block)),
                    related=(
                        Step(
                            made.scope,
                            made.call.name_place if made.call.number >= 0 else made.call.place,
                            made.call.block,
                            "fixes the batch size",
                        ),
                    ),
                    rewrites=(
                        Rewrite("keyword", batch.site.scope, batch.site.call.place, "True", "drop_remainder"),
                    ),
                )
                break


def _fixed_batch(made: Site) -> int | None:
    signature = made.call.keyword("input_signature")
    if signature is None or signature[0] != ITEMS or not signature[2]:
        return None
    first = signature[2][0]
    if first[0] != CALL:
        return None
    shape = made.scope.calls[first[1]].argument(0, "shape")
    value = constant(shape)
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], int) and value[0] > 1:
        return value[0]
    return None


def _with_remainder(value: Value) -> Dataset | None:
    for item in alternatives(value):
        if isinstance(item, Element):
            for step in (item.dataset, *upstream(item.dataset)):
                if step.op in ("batch", "padded_batch") and step.site is not None:
                    position = 1 if step.op == "batch" else 3
                    given = step.site.call.argument(position, "drop_remainder")
                    if step.site.call.opaque:
                        return None
                    return step if given is None or constant(given) is False else None
                if step.op in ("repeat", "unbatch", "rebatch"):
                    return None
    return None


def check(program: Program) -> Iterable[Hit]:
    """The group's first rule."""
    return eager_step(program)
