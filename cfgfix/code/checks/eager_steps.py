"""Training steps that run eagerly."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from cfgfix.code.checks.common import (
    few_turns,
    in_tests,
    inside_function,
    never_entered,
    short,
    stops,
    tensorflow_alias,
)
from cfgfix.code.checks.models import kept_eager, keras_model_method
from cfgfix.code.checks.modes import trained_names
from cfgfix.code.checks.step_loops import (
    APPLY_GRADIENTS,
    applies_gradients,
    assigns_gradients,
    outermost_name,
)
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import (
    ELEMENT,
    GRAPH,
    PYTHON,
    hot_paths,
    innermost_loop,
    inside,
    run_on_replicas,
)
from cfgfix.code.model import comments as remarks
from cfgfix.code.model.expressions import constant, dotted, is_name, text, walk
from cfgfix.code.model.hit import Repair, Rewrite, at, hit_at
from cfgfix.code.model.nodes import Attribute, Call, Collection, Name, Subscript
from cfgfix.code.model.program import Program, is_keras_model, once
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Function, Instance, Made, Site, alternatives
from cfgfix.rules.hit import Hit

DEBUG_WORDS = ("debug", "eager", "profile")


def guarded_by_words(site: Site, *words: str) -> bool:
    """Tell whether a call's `if` tests or function name contain one of some words."""
    for block in site.scope.block_chain(site.call.block):
        if block.kind == "if" and block.test is not None:
            shown = text(block.test).lower()
            if any(word in shown for word in words):
                return True
    return any(word in site.scope.qualname.lower() for word in words)


def eager_step(program: Program) -> Iterator[Hit]:
    """Find steps with a gradient tape that a loop calls without `tf.function`."""
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
        head = outermost_name(site.call.func)
        if any(item.name == head for item in scope.params) and head != (
            scope.params[0].name if program.owner(scope) else ""
        ):
            # What is called comes from a caller, who may have compiled it.
            continue
        for target in plain:
            tape = _tape_call(program, target.scope, set())
            if (
                tape is None
                or hot.reach(tape.scope, GRAPH) is not None
                or (id(tape.scope), tape.call.number) in seen
            ):
                continue
            if not applies_gradients(program, target.scope, set()):
                continue
            if (
                _calls_compiled(program, tape.scope)
                or stops(tape.scope)
                or _is_wrapped(program, target.scope)
                or _uses_numpy(tape)
                or any(_is_decorated(way) for way in _way_to(program, target.scope, tape.scope))
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
                    if any(call.method in APPLY_GRADIENTS for call in tape.scope.calls)
                    else "computes gradients",
                    "loop_line": _loop_line(tape, scope, block),
                },
                **_fix_by_compiling(program, tape.scope, target, alone=alone),
            )
    yield from _tapes_in_loops(program, seen)


def _tapes_in_loops(program: Program, seen: set[tuple[int, int]]) -> Iterator[Hit]:
    """Yield tapes that a loop opens in each turn to apply gradients there."""
    hot = hot_paths(program)
    for tape in flow_of(program).named("tensorflow.GradientTape"):
        scope = tape.scope
        loop = innermost_loop(scope, tape.call.block)
        while loop is not None and (
            _has_one_turn(scope, loop)
            or few_turns(program, scope, loop)
            or _loops_over_few_things(scope, loop)
        ):
            loop = innermost_loop(scope, scope.blocks[loop].parent)
        if loop is None or (id(scope), tape.call.number) in seen:
            continue
        if any(
            other.name == tape.name and (id(scope), other.call.number) in seen
            for other in flow_of(program).within(scope)
            if other.call.line == tape.call.line
        ):
            # Of several tapes that one `with` opens, the first is told.
            continue
        seen.add((id(scope), tape.call.number))
        if (
            not any(
                call.method in APPLY_GRADIENTS and inside(scope, call.block, loop) for call in scope.calls
            )
            and not _hands_on(program, tape, loop)
            and not assigns_gradients(scope, loop)
        ):
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
            or _compiled_by_decorator(scope)
            or _entered_by_name(program, scope)
        ):
            continue
        yield hit_at(
            tape,
            flow=(),
            severity="info"
            if _on_purpose(scope)
            or guarded_by_words(tape, *DEBUG_WORDS)
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


def _hands_on(program: Program, tape: Site, loop: int) -> bool:
    """Tell whether a loop passes its tape to a function that applies the gradients."""
    scope = tape.scope
    names = {
        target.name
        for event in scope.events()
        if event.kind == "with" and tape.call in event.managers
        for target in event.targets
        if isinstance(target, Name)
    }
    return any(
        inside(scope, site.call.block, loop)
        and any(isinstance(item, Name) and item.name in names for item in site.call.args)
        and any(call.method in APPLY_GRADIENTS for target in site.targets for call in target.scope.calls)
        for site in flow_of(program).within(scope)
    )


def _loops_over_few_things(scope: Scope, loop: int) -> bool:
    """Tell whether a loop goes over a list that is written out."""
    test = scope.blocks[loop].test
    return scope.blocks[loop].kind == "for" and test is not None and isinstance(test, Collection)


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


def _fix_by_compiling(program: Program, scope: Scope, target: Function, *, alone: bool) -> Repair:
    """Return the fix that compiles a step, or why there is none.

    A step with Python code that must run every time has no fix.
    """
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
    if any(_MAKES_MODEL.fullmatch(made.name) for made in flow_of(program).within(scope)):
        return {
            "no_fix": "it makes a model each time, which a compiled function may do in its first call only"
        }
    kept = _python_in(program, scope)
    if kept is not None:
        return {"no_fix": f"{kept} would run once, while the step is traced, or not at all"}
    return {"rewrites": (Rewrite("decorate", scope, scope.place, f"@{alias}.function"),)}


def _python_in(program: Program, step: Scope) -> str | None:
    """Return the first Python side effect of a step as text, or None."""
    scopes = {id(step): step}
    for site, _ in inside_function(program, step):
        scopes.setdefault(id(site.scope), site.scope)
        if site.name.startswith(("numpy.", "time.", "random.", "logging.", "wandb.", "builtins.open")):
            return short(site)
    for scope in scopes.values():
        for call in scope.calls:
            if call.method in ("numpy", "append", "item", "update", "set_description", "info", "write"):
                return text(call.func)
            if isinstance(call.func, Name) and call.func.name in _SIDE_EFFECTS:
                return text(call.func)
        for event in scope.events():
            if event.kind in ("assign", "augment") and any(
                isinstance(target, (Attribute, Subscript)) for target in event.targets
            ):
                return text(event.targets[0])
            if event.kind in ("raise", "yield", "delete") or (event.kind == "try"):
                return event.kind
        if scope.outer:
            return "what it sets outside"
    return None


def _on_purpose(scope: Scope) -> bool:
    """Tell whether a function or its file is named for debugging or eager execution."""
    words = f"{os.path.basename(scope.module.path)} {scope.qualname}".lower()
    return "debug" in words or "eager" in words


def _once_a_rollout(program: Program, scope: Scope, loop: int) -> bool:
    """Tell whether a loop plays many steps of an environment between its updates."""
    own = [call for call in scope.calls if inside(scope, call.block, loop)]
    if any(_steps_environment(call) and innermost_loop(scope, call.block) != loop for call in own):
        return True
    pending = [(site, 0) for site in flow_of(program).within(scope) if inside(scope, site.call.block, loop)]
    while pending:
        site, depth = pending.pop()
        for target in site.targets:
            if any(
                _steps_environment(call) and innermost_loop(target.scope, call.block) is not None
                for call in target.scope.calls
            ):
                return True
            if depth < 1:
                pending += [(inner, depth + 1) for inner in flow_of(program).within(target.scope)]
    return False


def _steps_environment(call: Call) -> bool:
    """Tell whether a call steps an environment, as `env.step(action)` does."""
    return call.method == "step" and "env" in text(call.receiver).lower()


def _loop_line(tape: Site, scope: Scope, block: int) -> int:
    """Return the line of the loop around a tape, in its function or at the caller."""
    inner = innermost_loop(tape.scope, tape.call.block)
    while inner is not None and _has_one_turn(tape.scope, inner):
        inner = innermost_loop(tape.scope, tape.scope.blocks[inner].parent)
    return scope.blocks[block].line if inner is None else tape.scope.blocks[inner].line


def _has_one_turn(scope: Scope, loop: int) -> bool:
    """Tell whether a loop is written with one turn: `for _ in range(1)`."""
    test = scope.blocks[loop].test
    if test is None or not isinstance(test, Call):
        return False
    call = test
    return is_name(call.func, "range") and [constant(item) for item in call.args] == [1]


def _fit_compiles(program: Program, scope: Scope) -> bool:
    """Tell whether a function is the `train_step` of a model with its own `compile`."""
    owner = program.owner(scope)
    return (
        owner is not None
        and scope.name == "train_step"
        and "compile" in owner.children
        and is_keras_model(program, owner)
    )


def _now_and_then(scope: Scope, block: int, loop: int) -> bool:
    """Tell whether a block runs only in some turns of a loop: under a `%` test."""
    while block >= 0 and block != loop:
        item = scope.blocks[block]
        if item.kind == "if" and item.test is not None and "%" in text(item.test):
            return True
        block = item.parent
    return False


@once
def _compiled_scopes(program: Program) -> set[int]:
    """Return the functions that are compiled, by identity."""
    return {id(root.scope) for root in hot_paths(program).roots if root.kind == GRAPH and not root.is_of_step}


@once
def _compiled_methods(program: Program) -> set[str]:
    """Return the names of the methods that are compiled."""
    return {
        root.scope.name
        for root in hot_paths(program).roots
        if root.kind == GRAPH and not root.is_of_step and program.owner(root.scope) is not None
    }


@once
def _wrapped_methods(program: Program) -> set[str]:
    """Return the attributes to which the program assigns a `tf.function` call."""
    return {
        target.attribute
        for module in program.linked
        for where, event, target in module.stores()
        if event.value is not None
        and isinstance(event.value, Call)
        and (dotted(event.value.func) or "").rpartition(".")[2] == "function"
    }


@once
def _called_in_graphs(program: Program) -> set[str]:
    """Return the names of unknown methods that compiled functions call."""
    names: set[str] = set()
    for reach in hot_paths(program).reached(GRAPH):
        known = {id(site.call) for site in flow_of(program).within(reach.scope)}
        names |= {call.method for call in reach.scope.calls if call.method and id(call) not in known}
    return names


def _calls_compiled(program: Program, scope: Scope) -> bool:
    """Tell whether a step leaves its costly part to a compiled function or model."""
    compiled = _compiled_scopes(program)
    sites = flow_of(program).within(scope)
    if not any(id(target.scope) in compiled for site in sites for target in site.targets):
        return False
    if any(_calls_model(program, site, compiled) for site in sites):
        return False
    # What is trained is called here as well: a compiled model beside it, such as a teacher, is another.
    graphs = {
        site.call.number for site in sites if any(id(target.scope) in compiled for target in site.targets)
    }
    trained = trained_names(scope)
    return not any(dotted(call.func) in trained and call.number not in graphs for call in scope.calls)


def runs_operation_by_operation(program: Program, site: Site) -> bool:
    """Tell whether a call is that of a model of Keras which nothing in it compiles."""
    return (
        not site.open
        and all(
            isinstance(value, Instance) or (isinstance(value, Made) and value.name.startswith("keras."))
            for value in alternatives(site.callee)
        )
        and _calls_model(program, site, _compiled_scopes(program))
    )


def _calls_model(program: Program, site: Site, compiled: set[int]) -> bool:
    """Tell whether a call runs a model eagerly, operation by operation."""
    if not site.targets:
        return keras_model_method(site.name) == "__call__"
    return all(
        target.scope.name == "call"
        and id(target.scope) not in compiled
        and (owner := program.owner(target.scope)) is not None
        and is_keras_model(program, owner)
        and not any(
            id(inner.scope) in compiled
            for called in flow_of(program).within(target.scope)
            for inner in called.targets
        )
        for target in site.targets
    )


def _may_call_compiled(program: Program, scope: Scope) -> bool:
    """Tell whether a step calls an unknown method with the name of a compiled one."""
    names = _compiled_methods(program)
    known = {id(site.call) for site in flow_of(program).within(scope)}
    return any(call.method in names and id(call) not in known for call in scope.calls)


def _is_wrapped(program: Program, scope: Scope) -> bool:
    """Tell whether the program assigns a compiled function over a method.

    Example: `agent.train = common.function(agent.train)`.
    """
    return scope.name in _wrapped_methods(program)


def _entered_by_name(program: Program, scope: Scope) -> bool:
    """Tell whether compiled functions may call a method on an unknown object.

    A method of the same name, or a caller of the method, may be meant: an object chosen by its name in a
    config calls nothing that can be followed.
    """
    names = _called_in_graphs(program)
    pending, seen = [scope], {id(scope)}
    while pending and len(seen) < 20:
        here = pending.pop()
        callers = flow_of(program).callers(here)
        if not callers and here.name in names and program.owner(here) is not None:
            return True
        for site in callers:
            if id(site.scope) not in seen:
                seen.add(id(site.scope))
                pending.append(site.scope)
    return False


def _way_to(program: Program, first: Scope, last: Scope) -> tuple[Scope, ...]:
    """Return the call path from one function to another, both included.

    The two alone where more than one function lies between.
    """
    for site in flow_of(program).within(first):
        for target in site.targets:
            if target.scope is last:
                return first, last
            if any(
                inner.scope is last
                for step in flow_of(program).within(target.scope)
                for inner in step.targets
            ):
                return first, target.scope, last
    return first, last


def _is_decorated(scope: Scope) -> bool:
    """Tell whether a function has a decorator, which may compile it."""
    return any(
        name not in ("property", "staticmethod", "classmethod", "wraps", "override", "timer", "no_type_check")
        for name in _decorator_names(scope)
    )


def _decorator_names(scope: Scope) -> Iterator[str]:
    """Yield the last names of the decorators of a function."""
    for item in scope.decorators:
        func = item.func if isinstance(item, Call) else item
        yield (dotted(func) or "").rpartition(".")[2]


def _compiled_by_decorator(scope: Scope) -> bool:
    """Tell whether a decorator of a function may compile the function, by its name.

    What runs a program, as `main`, `automain` and `command` do, compiles nothing.
    """
    return any(_COMPILES.search(name) is not None or not name for name in _decorator_names(scope))


_COMPILES = re.compile("function|graph|jit|compil|trace|defun|distribut", re.IGNORECASE)


def _switched_off(scope: Scope) -> bool:
    """Tell whether a comment shows that `@tf.function` was left out on purpose."""
    return any(
        re.match(r"(?:#+\s*@?\s*[\w.]*|@[^#]*#.*\b)tf\.function\b", line)
        for line in remarks.comments_above(scope, scope.line, ("#", "@"))
    )


def _explains_eager(scope: Scope) -> bool:
    """Tell whether a commented-out `tf.function` comes with further words."""
    return any(
        re.match(r"(?:#+\s*@?\s*[\w.]*|@[^#]*#.*\b)tf\.function\b", line)
        and not re.fullmatch(r"#+\s*@\s*tf\.function(?:\(.*\))?", line.strip())
        for line in remarks.comments_above(scope, scope.line, ("#", "@"))
    )


def _tape_call(program: Program, scope: Scope, seen: set[int]) -> Site | None:
    if id(scope) in seen or len(seen) > 20:
        return None
    seen.add(id(scope))
    sites: list[Site] = flow_of(program).within(scope)
    for site in sites:
        if site.name == "tensorflow.GradientTape":
            return site
    for function in run_on_replicas(program, scope):
        if function.compiled is None and (found := _tape_call(program, function.scope, seen)) is not None:
            return found
    for site in sites:
        if innermost_loop(scope, site.call.block) is not None:
            continue
        for target in site.targets:
            if target.compiled is None:
                found = _tape_call(program, target.scope, seen)
                if found is not None:
                    return found
    return None


_MAKES_MODEL = re.compile(r"keras\.(?:applications\.(?:\w+\.)?[A-Z]\w*|layers\.[A-Z]\w*|Model|Sequential)")


def _uses_numpy(tape: Site) -> bool:
    """Tell whether a step computes with `.numpy()` values before its gradients.

    Such a step is eager on purpose. Values that are only stored, returned or logged do not count.
    """
    scope = tape.scope
    ends = [call.line for call in scope.calls if call.method == "gradient"]
    last = max(ends, default=scope.end_line)
    read = {
        call.number for call in scope.calls if call.method == "numpy" and tape.call.line <= call.line <= last
    }
    kept: set[str] = set()
    for event in scope.events():
        if event.value is None or event.bodies:
            continue
        found = {part.number for part in walk(event.value) if isinstance(part, Call) and part.number in read}
        if not found:
            continue
        if event.kind == "return":
            read -= found
        elif event.kind == "assign" and all(isinstance(target, Name) for target in event.targets):
            kept.update(target.name for target in event.targets if isinstance(target, Name))
            read -= found
        elif event.kind == "expr" and isinstance(event.value, Call) and _writes_down(event.value):
            read -= found
    return bool(read) or any(
        isinstance(part, Name) and part.name in kept
        for event in scope.events()
        if event.value is not None
        and event.kind != "return"
        and tape.call.line <= event.line <= last
        and not (event.kind == "expr" and isinstance(event.value, Call) and _writes_down(event.value))
        for part in walk(event.value)
    )


def _writes_down(call: Call) -> bool:
    """Tell whether a call only stores or logs its arguments."""
    return (dotted(call.func) or call.method or "").rpartition(".")[2] in (
        "append", "print", "info", "debug", "scalar", "update_state", "set_description", "set_postfix", "log", "write",
    )  # fmt: skip
