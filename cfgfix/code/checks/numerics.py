"""Precision, seeds and compiled steps: what computes something else than the code seems to say."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.common import few_turns, in_tests, inside_function, is_random, short
from cfgfix.code.checks.sizes import is_jit
from cfgfix.code.inference.entry_points import modules_sharing_runs, never_run
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import GRAPH, Reach, hot_paths, innermost_loop, inside
from cfgfix.code.inference.releases import keras_three
from cfgfix.code.model.expressions import MISSING, constant, dotted, is_name, text, walk
from cfgfix.code.model.hit import Rewrite, Step, at, hit_at
from cfgfix.code.model.nodes import Attribute, Call, Collection, Literal, Name
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Constant, Function, Made, Site, alternatives
from cfgfix.rules.hit import Hit

_POLICIES = (
    "keras.mixed_precision.set_global_policy",
    "keras.mixed_precision.experimental.set_policy",
    "keras.config.set_dtype_policy",
)
_SCALERS = (
    "keras.mixed_precision.LossScaleOptimizer",
    "keras.optimizers.LossScaleOptimizer",
    "keras.mixed_precision.experimental.LossScaleOptimizer",
)


def policies_named(program: Program, *names: str) -> list[Site]:
    """Return the call sites that set one of the given precision policies globally."""
    found = []
    for site in flow_of(program).named(*_POLICIES):
        given = [*alternatives(site.argument(0, "policy"))]
        for value in tuple(given):
            if isinstance(value, Made) and value.name.endswith(".Policy") and value.site is not None:
                given += alternatives(value.site.argument(0, "name"))
        if any(isinstance(value, Constant) and value.value in names for value in given):
            found.append(site)
    return [site for site in found if not in_tests(site.scope) and not never_run(program, site.scope)]


def _is_scaled(program: Program) -> bool:
    return any(flow_of(program).named(*_SCALERS)) or any(
        call.method in ("scale_loss", "get_scaled_loss", "get_unscaled_gradients")
        for module in program.modules
        for scope in module.summary.scopes
        for call in scope.calls
    )


def missing_scaling(program: Program) -> Iterator[Hit]:
    """Find own steps in float16 whose loss is not scaled."""
    policies = policies_named(program, "mixed_float16")
    if not policies or _is_scaled(program):
        return
    policy = policies[0]
    for scope in {
        id(site.scope): site.scope for site in flow_of(program).named("tensorflow.GradientTape")
    }.values():
        sites = flow_of(program).within(scope)
        tape = next(site for site in sites if site.name == "tensorflow.GradientTape")
        applies = [call for call in scope.calls if call.method == "apply_gradients"]
        if not applies or any(call.method in ("scale", "unscale") for call in scope.calls):
            continue
        if policy.scope.module is not scope.module and not _shares_program(scope, policy.scope):
            continue
        callers = {caller.scope.module.path for caller in flow_of(program).callers(scope)}
        if callers and callers.isdisjoint(modules_sharing_runs(program, policy.scope.module)):
            # What calls it is no part of the program that sets the policy.
            continue
        yield hit_at(
            tape,
            # A policy behind a switch may be off in the runs that count.
            severity="info"
            if program.owner(policy.scope) is not None
            and policy.scope is not scope
            and not flow_of(program).callers(policy.scope)
            else "warning"
            if any(item.kind == "if" for item in policy.scope.block_chain(policy.call.block))
            else None,
            values={"function": scope.qualname or "the module", "line": policy.call.line},
            needs=((policy.scope, policy.call.block),),
            related=(at(policy, label="float16 for the whole program"),),
        )


def _shares_program(scope: Scope, other: Scope) -> bool:
    """Tell whether one module imports the other, so that both run in one program."""
    for first, second in ((scope.module, other.module), (other.module, scope.module)):
        for item in first.summary.scopes:
            for source in item.imports.values():
                if second.name and (
                    source == second.name
                    or source.startswith(second.name + ".")
                    or second.name.endswith(source.lstrip("."))
                ):
                    return True
    return False


def needless_scaling(program: Program) -> Iterator[Hit]:
    """Find loss scaling with bfloat16, which has the range of float32."""
    policies = policies_named(program, "mixed_bfloat16")
    if not policies or policies_named(program, "mixed_float16"):
        return
    for site in flow_of(program).named(*_SCALERS):
        yield hit_at(
            site,
            values={"line": policies[0].call.line},
            needs=((policies[0].scope, policies[0].call.block),),
        )


_SOFT = ("softmax", "sigmoid")


def half_output(program: Program) -> Iterator[Hit]:
    """Find float16 models whose last layer gives probabilities in float16."""
    policies = policies_named(program, "mixed_float16")
    if not policies:
        return
    modules = {id(site.scope.module) for site in policies}
    policy = policies[0]
    for site in flow_of(program).under("keras.Sequential", "keras.Model"):
        if site.name not in ("keras.Sequential", "keras.Model") or id(site.scope.module) not in modules:
            continue
        last = _last_layer(program, site)
        if last is None:
            continue
        activation = last.call.keyword("activation")
        if last.name in ("keras.layers.Activation", "keras.layers.Softmax"):
            activation = activation or (last.call.args[0] if last.call.args else None)
            soft = last.name.endswith("Softmax") or constant(activation) in _SOFT
        else:
            soft = constant(activation) in _SOFT
        if not soft or last.call.opaque or last.call.keyword("dtype") is not None:
            continue
        if all(item.scope is last.scope and item.call.place > last.call.place for item in policies):
            # It was made before any policy was set, and keeps float32.
            continue
        inside_others = all(
            program.owner(item.scope) is not None and item.scope is not last.scope for item in policies
        )
        yield hit_at(
            last,
            flow=(),
            # When an object is made that sets the policy is not known.
            severity="info" if inside_others else None,
            values={"layer": short(last), "line": policy.call.line},
            needs=((policy.scope, policy.call.block),),
            rewrites=(Rewrite("keyword", last.scope, last.call.place, '"float32"', "dtype"),),
        )


def _last_layer(program: Program, model: Site) -> Site | None:
    """Return the call that makes a model's last layer, or None where it is not known."""
    scope = model.scope
    number: int | None = None
    if model.name == "keras.Sequential":
        layers = model.call.argument(0, "layers")
        if (
            layers is not None
            and isinstance(layers, Collection)
            and layers.items
            and isinstance(layers.items[-1], Call)
        ):
            number = layers.items[-1].number
    else:
        outputs = model.call.argument(1, "outputs")
        if outputs is not None and isinstance(outputs, Name):
            values = [
                event.value
                for event in scope.events()
                if event.kind == "assign"
                and any(isinstance(t, Name) and t.name == outputs.name for t in event.targets)
                and event.place < model.call.place
            ]
            outputs = values[-1] if values else None
        if outputs is not None and isinstance(outputs, Call):
            outer = outputs
            if isinstance(outer.func, Call):
                number = outer.func.number
    if number is None:
        return None
    sites: list[Site] = flow_of(program).within(scope)
    return next(
        (site for site in sites if site.call.number == number and site.name.startswith("keras.layers.")), None
    )


# Functions that XLA compiles


def _jit_roots(program: Program) -> Iterator[tuple[Site | None, Function | Scope, Reach]]:
    for root in hot_paths(program).roots:
        if root.kind != GRAPH:
            continue
        made = root.site
        jit = made is not None and made.name == "tensorflow.function" and is_jit(made)
        outer = program.outer(root.scope)
        if not jit and outer is not None:
            for decorator in root.scope.decorators:
                if isinstance(decorator, Call) and any(
                    name in ("jit_compile", "experimental_compile") and constant(value) is True
                    for name, value in decorator.keywords
                ):
                    jit = True
        if jit:
            yield made, root.scope, Reach(root, root.scope, ())


def seed_ignored(program: Program) -> Iterator[Hit]:
    """Find random numbers in XLA-compiled functions that ignore the program's seed."""
    seed = next(flow_of(program).named("tensorflow.random.set_seed", "keras.utils.set_random_seed"), None)
    if seed is None:
        return
    for _, function, reach in _jit_roots(program):
        for site, path in inside_function(program, function):
            if is_random(site) and site.name.startswith("tensorflow."):
                way = Reach(reach.root, site.scope, path)
                yield hit_at(
                    site,
                    entry=way,
                    values={"call": short(site), "line": seed.call.line, "via": way.via},
                )


def growing_array(program: Program) -> Iterator[Hit]:
    """Find a `TensorArray` of open size in a function that XLA compiles."""
    for _, function, reach in _jit_roots(program):
        for site, path in inside_function(program, function):
            if site.name == "tensorflow.TensorArray" and constant(site.call.keyword("dynamic_size")) is True:
                way = Reach(reach.root, site.scope, path)
                yield hit_at(
                    site,
                    entry=way,
                    values={"via": way.via},
                    # Where a size is given it may be enough, and nothing is lost.
                    severity=None if constant(site.call.argument(1, "size")) in (0, MISSING) else "warning",
                )


# How compiled functions are used


def two_optimizers(program: Program) -> Iterator[Hit]:
    """Find compiled functions that are called with two optimizers.

    The variables of a compiled function can be made only once.
    """
    # Calls of one file: two scripts that call the same function are two runs.
    calls: dict[tuple[int, int, str], dict[int, tuple[Site, str, Site]]] = {}
    for site in flow_of(program).compiled:
        for target in site.targets:
            if target.compiled is None or _error_wanted(site):
                continue
            offset = 1 if target.receiver is not None else 0
            plain = [name for name, _, _, kind in target.scope.params if kind == "plain"][offset:]
            for position, name in enumerate(plain):
                value = site.argument(position, name)
                for item in alternatives(value):
                    if (
                        isinstance(item, Made)
                        and item.name.startswith("keras.optimizers.")
                        and item.site is not None
                    ):
                        calls.setdefault((id(target.scope), id(site.scope.module), name), {}).setdefault(
                            id(item.site.call), (site, target.scope.name, item.site)
                        )
    for found in calls.values():
        (first, name, made), *others = found.values()
        if keras_three(program):
            others = [other for other in others if _has_state(other[2])]
        if not others or first.call is others[0][0].call:
            # One place, entered twice: what it calls may be made anew each time.
            again = _made_again(program, first, made)
            if again is not None and (_has_state(made) or not keras_three(program)):
                yield hit_at(
                    first,
                    flow=(),
                    values={"function": name, "line": again[1].line},
                    related=(
                        at(made, label="made anew each time"),
                        Step(again[0], again[1].name_place, again[1].block, "comes here more than once"),
                    ),
                )
            continue
        yield hit_at(
            others[0][0],
            flow=(),
            values={"function": name, "line": first.call.line},
            related=(at(first, label="called with another optimizer"),),
        )


def _made_again(program: Program, site: Site, made: Site) -> tuple[Scope, Call] | None:
    """Return the call in a loop that makes a new optimizer for one compiled function.

    Return None where no loop does. The optimizer is made and used in one function, or in one turn of the
    loop.
    """
    scope = made.scope
    function = next(target.scope for target in site.targets if target.compiled is not None)
    if any(call.method == "build" for call in scope.calls):
        return None
    if site.scope is not scope or not any(
        call.method in ("apply_gradients", "minimize", "apply") for call in function.calls
    ):
        return None
    if program.owner(function) is not None and not (
        scope.params
        and is_name(site.call.receiver, scope.params[0].name)
        and program.owner(scope) is not None
    ):
        return None
    loop = innermost_loop(scope, made.call.block)
    if loop is not None:
        turns = inside(scope, site.call.block, loop) and not few_turns(program, scope, loop, 1)
        return (scope, made.call) if turns and not _defined_in(function, scope, program) else None
    if scope.kind != "function" or _defined_in(function, scope, program):
        return None
    for caller in flow_of(program).callers(scope):
        where = caller.scope
        around = _turns_around(where, caller.call.block)
        if around is None or _error_wanted(caller):
            continue
        if _defined_in(function, where, program) and inside(where, function.block, around):
            continue
        if few_turns(program, where, around, 1) or any(
            call.method in ("clear_session", "Process", "subprocess") for call in where.calls
        ):
            continue
        if program.owner(function) is not None and _is_new_there(caller, around):
            # A method is compiled anew for each object.
            continue
        return where, caller.call
    return None


def _turns_around(scope: Scope, block: int) -> int | None:
    """Return the innermost loop or comprehension around a block."""
    return next(
        (
            number
            for number in scope.block_numbers(block)
            if scope.blocks[number].kind in ("for", "while", "comprehension")
        ),
        None,
    )


def _defined_in(function: Scope, scope: Scope, program: Program) -> bool:
    """Tell whether a function is defined, and so compiled, inside a function scope.

    Functions in between count as well; a definition at the top of the module does not.
    """
    here: Scope | None = program.outer(function)
    while here is not None:
        if here is scope:
            return scope.kind != "module"
        here = program.outer(here)
    return False


def _is_new_there(caller: Site, loop: int) -> bool:
    """Tell whether a method's object is made in the same turn of the loop as its call."""
    receiver = caller.call.receiver
    if not isinstance(receiver, Name):
        return not isinstance(receiver, Attribute)
    return any(inside(caller.scope, event.block, loop) for event in caller.scope.binding(receiver.name))


def _has_state(made: Site) -> bool:
    """Tell whether an optimizer makes variables when it is first used.

    SGD of Keras 3 makes none without momentum, averages of the weights or accumulated gradients.
    """
    if not made.name.endswith(".SGD") or made.call.opaque:
        return True
    kept = (
        made.call.argument(1, "momentum"),
        made.call.keyword("use_ema"),
        made.call.keyword("gradient_accumulation_steps"),
    )
    return any(value is not None and (not isinstance(value, Literal) or bool(value.value)) for value in kept)


def _error_wanted(site: Site) -> bool:
    """Tell whether a call stands in `with raises(...)` or `try`.

    It then shows the error, or is ready for it.
    """
    return any(
        block.kind == "try"
        or (block.kind == "with" and block.test is not None and "raises" in text(block.test).lower())
        for block in site.scope.block_chain(site.call.block)
    )


def never_called(program: Program) -> Iterator[Hit]:
    """Find compiled functions that are never called: the loop calls the plain one."""
    used = {
        id(target.compiled.call)
        for site in flow_of(program).compiled
        for target in site.targets
        if target.compiled is not None
    }
    loops = hot_paths(program).step_loops()
    for site in flow_of(program).named("tensorflow.function"):
        call: Call = site.call
        if call.number < 0 or id(call) in used or _is_decorated(site) or _handed_on(site):
            continue
        for function in (
            item for item in alternatives(site.argument(0, "func")) if isinstance(item, Function)
        ):
            plain = next(
                (
                    step
                    for _, _, step in loops
                    for target in step.targets
                    if target.scope is function.scope
                    and target.compiled is None
                    and not step.open
                    and not any(
                        other.compiled is not None and other.scope is function.scope for other in step.targets
                    )
                    and not _same_name(site, step)
                ),
                None,
            )
            if plain is not None:
                yield hit_at(
                    site,
                    flow=(),
                    values={"function": function.scope.name, "line": plain.call.name_line},
                    needs=((plain.scope, plain.call.block),),
                    related=(at(plain, label="the plain function is called here"),),
                )
                break


def _same_name(made: Site, called: Site) -> bool:
    """Tell whether a call uses a name that the compiled function is assigned to.

    On another path the same call may enter the plain function.
    """
    return any(
        event.value is made.call and called.call.func in event.targets for event in made.scope.events()
    )


def _is_decorated(site: Site) -> bool:
    return any(
        item is site.call
        for scope in site.scope.module.summary.scopes
        if scope.parent == site.scope.number
        for item in scope.decorators
    )


def _handed_on(site: Site) -> bool:
    """Tell whether a compiled function is returned, stored or passed as an argument.

    Its calls may then stand where this program does not show them. A name or an attribute that it is
    assigned to is followed in the scopes that see the name.
    """
    value = site.call
    for event in site.scope.events():
        if event.value == value:
            if event.kind not in ("assign", "annotate"):
                return True
            names = {dotted(target) for target in event.targets}
            return None in names or any(
                _passes_name_on(scope, names) for scope in _scopes_of_meaning(site.scope, names)
            )
    return True


def _scopes_of_meaning(scope: Scope, names: set[str | None]) -> Iterator[Scope]:
    """Yield the scopes in which a scope's names mean the same objects.

    These are the scope and those inside it; for an attribute, every scope of the module.
    """
    scopes = scope.module.summary.scopes
    if any("." in name for name in names if name):
        yield from scopes
        return
    inner = {scope.number}
    yield scope
    for other in scopes:
        if other.parent in inner:
            inner.add(other.number)
            yield other


def _passes_name_on(scope: Scope, names: set[str | None]) -> bool:
    """Tell whether one of some names is passed to a call, assigned on, or returned."""
    given = [part for call in scope.calls for part in (*call.args, *(value for _, value in call.keywords))]
    given += [
        event.value
        for event in scope.events()
        if event.value is not None and event.kind in ("assign", "annotate", "return", "yield")
    ]
    return any(
        not isinstance(part, Call)
        and any(dotted(item) in names for item in walk(part) if isinstance(item, (Name, Attribute)))
        for part in given
    )


def steps_per_execution(program: Program) -> Iterator[Hit]:
    """Find small models compiled without `steps_per_execution`."""
    for site in flow_of(program).named("keras.Sequential.compile"):
        if site.call.opaque or site.call.keyword("steps_per_execution") is not None:
            continue
        for value in alternatives(site.receiver):
            made = value.site if isinstance(value, Made) else None
            layers = made.call.argument(0, "layers") if made is not None else None
            if layers is not None and isinstance(layers, Collection) and 0 < len(layers.items) <= 4:
                yield hit_at(site, flow=(), values={"count": len(layers.items)})


def loop_in_python(program: Program) -> Iterator[Hit]:
    """Find Python loops that only call a compiled step."""
    for scope, block, site in hot_paths(program).step_loops():
        if not any(target.compiled is not None for target in site.targets):
            continue
        inner = [call for call in scope.calls if inside(scope, call.block, block)]
        if len(inner) == 1:
            yield hit_at(site, flow=(), values={"line": scope.blocks[block].line})
