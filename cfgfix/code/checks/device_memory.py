"""GPU memory: growth, limits, and GPUs used without a check that one exists."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.bindings import bound_once
from cfgfix.code.checks.common import value_named
from cfgfix.code.checks.guarded_calls import flag
from cfgfix.code.checks.moves import free_name
from cfgfix.code.checks.runtime_start import (
    LIST_DEVICES,
    SET_GROWTH,
    SET_LIMIT,
    SET_VISIBLE,
    growth_by_environment,
    in_try,
    never_together,
)
from cfgfix.code.fixes.layout import siblings
from cfgfix.code.inference.environment import environment_of
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.guards import statement_of
from cfgfix.code.inference.hot_paths import innermost_loop
from cfgfix.code.model.expressions import constant, dotted, is_name, text, walk
from cfgfix.code.model.hit import Repair, Rewrite, at, hit_at, hit_in
from cfgfix.code.model.nodes import (
    Attribute,
    Boolean,
    Call,
    Comprehension,
    Conditional,
    Expr,
    Name,
    Place,
    Subscript,
)
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Made, Site, alternatives
from cfgfix.rules.hit import Hit


def growth_and_limit(program: Program) -> Iterator[Hit]:
    """Find memory growth and a memory limit that are set for the same device."""
    limits = list(flow_of(program).named(*SET_LIMIT))
    seen: set[tuple[int, int]] = set()
    for growth in flow_of(program).named(*SET_GROWTH):
        if flag(growth.argument(1, "enable")) is not True or (id(growth.scope), growth.call.number) in seen:
            continue
        for limit in limits:
            if limit.scope is not growth.scope or not growth.call.args or not limit.call.args:
                continue
            if text(growth.call.args[0]) != text(limit.call.args[0]) and not _same_list(growth, limit):
                continue
            if never_together(growth.scope, growth.call.block, limit.call.block) or _limits_nothing(limit):
                continue
            if growth_by_environment(program, growth):
                continue
            seen.add((id(growth.scope), growth.call.number))
            first = growth.call.place < limit.call.place
            yield hit_at(
                growth,
                flow=(),
                values={
                    "what": "is then ignored" if first else "raises ValueError",
                    "limit_line": limit.call.line,
                },
                # An error that is caught leaves the limit as it is, and the run goes on.
                severity=("info" if _only_sometimes(growth, limit) else None)
                if first
                else "warning"
                if in_try(growth.scope, growth.call.block)
                or _only_sometimes(growth, limit)
                or _only_sometimes(limit, growth)
                else "error",
                related=(at(limit, label="the memory limit"),),
                **_without_growth(growth, limit, first=first),
            )
            break


def _without_growth(growth: Site, limit: Site, *, first: bool) -> Repair:
    """Return the fix that removes memory growth where the GPUs have a limit.

    A loop that sets only the growth goes with it.
    """
    scope = growth.scope
    argument, other = growth.call.args[0], limit.call.args[0]
    if _only_sometimes(growth, limit) or (isinstance(argument, Name)) is not (isinstance(other, Name)):
        return {"no_fix": "growth holds for runs or GPUs that have no limit"}
    event = statement_of(scope, growth.call.place)
    if event is None or event.kind != "expr" or event.value is not growth.call:
        return {"no_fix": "it is no statement of its own"}
    if scope.blocks[event.block].kind == "try" and siblings(scope, event.place) == 1:
        return {"no_fix": "nothing else stands in its try"}
    loop = next(
        (
            item
            for item in scope.events()
            if item.kind == "for" and [body for _, body in item.bodies] == [[event]]
        ),
        event,
    )
    return {
        "rewrites": (Rewrite("drop-statement", scope, loop.place),),
        # Set first, growth is left out as it is; set second, it raises, and the two may be wanted the other way round.
        "safety": "safe" if first else "unsafe",
    }


def _only_sometimes(growth: Site, limit: Site) -> bool:
    """Tell whether a limit is under an `if` that growth is not under."""
    inner = {
        number
        for number in limit.scope.block_numbers(limit.call.block)
        if limit.scope.blocks[number].kind == "if"
    }
    return bool(inner - set(growth.scope.block_numbers(growth.call.block)))


def _same_list(first: Site, second: Site) -> bool:
    """Tell whether two calls get items of the same list of devices."""

    def source(site: Site) -> str | None:
        argument = site.call.args[0]
        if isinstance(argument, Subscript):
            return dotted(argument.base)
        if isinstance(argument, Name):
            for item in site.scope.events():
                if (
                    item.kind == "for"
                    and item.targets
                    and isinstance(item.targets[0], Name)
                    and item.targets[0].name == argument.name
                ):
                    return dotted(item.value) if item.value is not None else None
        return None

    one, other = source(first), source(second)
    return one is not None and one == other


def _limits_nothing(site: Site) -> bool:
    return not any(
        call.keyword("memory_limit") is not None and constant(call.keyword("memory_limit")) is not None
        for call in site.scope.calls
        if call.place.start >= site.call.place.start and call.line <= site.call.end_line
    )


def growth_for_one(program: Program) -> Iterator[Hit]:
    """Find memory growth that is set for the first GPU only."""
    if any(flow_of(program).named(*SET_VISIBLE)) or _environment_value(program, "CUDA_VISIBLE_DEVICES"):
        return
    several = {
        id(site.scope.module)
        for site in flow_of(program).under("tensorflow.distribute.")
        if site.name.endswith(("MirroredStrategy", "CentralStorageStrategy"))
    }
    for site in flow_of(program).named(*SET_GROWTH):
        if not site.call.args or flag(site.argument(1, "enable")) is not True:
            continue
        device = site.call.args[0]
        if not isinstance(device, Subscript) or constant(device.index) != 0:
            continue
        if not _is_device_list(program, site.scope, device.base):
            continue
        shown = text(device.base)
        if _one_only(site, shown):
            continue
        yield hit_at(
            site,
            flow=(),
            values={"list": shown},
            severity="error" if id(site.scope.module) in several else "info",
            **_growth_for_all(site, device.base),
        )


def _growth_for_all(site: Site, devices: Expr) -> Repair:
    """Return the fix that sets memory growth in a loop over all GPUs of a list."""
    scope = site.scope
    event = statement_of(scope, site.call.place)
    name = free_name(scope, "gpu", "device", "physical_device")
    listed, call = dotted(devices), dotted(site.call.func)
    if (
        event is None
        or event.value is not site.call
        or event.kind != "expr"
        or name is None
        or listed is None
        or call is None
    ):
        return {"no_fix": "the list of GPUs has no name of its own"}
    lines = f"for {name} in {listed}:\n    {call}({name}, True)"
    return {"rewrites": (Rewrite("lines", scope, event.place, lines),)}


def _one_only(site: Site, shown: str) -> bool:
    """Tell whether a call is under a test that there is one GPU."""
    return any(
        block.kind == "if" and block.test is not None and f"len({shown}) == 1" in text(block.test)
        for block in site.scope.block_chain(site.call.block)
    )


def _is_device_list(program: Program, scope: Scope, expr: Expr) -> bool:
    if isinstance(expr, Call):
        call = expr
        return any(site.call is call and site.name in LIST_DEVICES for site in flow_of(program).within(scope))
    return isinstance(expr, Name) and any(
        isinstance(item, Made) and item.name in LIST_DEVICES
        for item in alternatives(value_named(program, scope, expr.name))
    )


def untested_first(program: Program) -> Iterator[Hit]:
    """Find GPUs taken from the list by index where nothing tests that they exist."""
    for module in program.modules:
        for scope in module.summary.scopes:
            seen: set[str] = set()
            for event in scope.events():
                found = _first_gpu(program, scope, event)
                if found is None:
                    continue
                part, shown = found
                if shown in seen or _under_condition(program, scope, event.block):
                    continue
                if _asked_before(scope, event.place, part.base):
                    continue
                seen.add(shown)
                yield hit_in(
                    scope,
                    part.place,
                    event.block,
                    {"list": text(part.base), "number": constant(part.index)},
                )


def _first_gpu(program: Program, scope: Scope, event: Event) -> tuple[Subscript, str] | None:
    """Return the subscript of a GPU list in a statement, and a key for the list.

    None where there is no such subscript, or where the statement has a condition of its own.
    """
    if event.value is None or event.kind in ("if", "while", "assert"):
        return None
    parts = list(walk(event.value))
    if any(isinstance(part, (Conditional, Boolean, Comprehension)) for part in parts):
        return None
    for part in parts:
        if (
            isinstance(part, Subscript)
            and type(constant(part.index)) is int
            and _lists_gpus(program, scope, event.block, part.base)
        ):
            name = dotted(part.base)
            return part, name if name is not None else f"line {event.line}"
    return None


def _under_condition(program: Program, scope: Scope, block: int) -> bool:
    """Tell whether a block or a call of its function is under more than a `with`."""
    plain = ("body", "with")
    if any(item.kind not in plain for item in scope.block_chain(block)):
        return True
    return any(
        item.kind not in plain
        and not (item.kind == "if" and item.test is not None and "__name__" in text(item.test))
        for caller in flow_of(program).callers(scope)
        for item in caller.scope.block_chain(caller.call.block)
    )


def _lists_gpus(program: Program, scope: Scope, block: int, expr: Expr) -> bool:
    """Tell whether an expression is TensorFlow's list of the GPUs."""
    if isinstance(expr, Name):
        bound = bound_once(scope, expr.name, block)
        if bound is None:
            return False
        expr, scope, _ = bound
    elif isinstance(expr, Attribute):
        stores = [
            (where, event)
            for where, event, target in scope.module.stores()
            if target.attribute == expr.attribute
        ]
        if len(stores) != 1 or stores[0][1].value is None:
            return False
        scope, expr = stores[0][0], stores[0][1].value
    if not isinstance(expr, Call) or not _is_device_list(program, scope, expr):
        return False
    return bool(constant(expr.argument(0, "device_type")) == "GPU")


def _asked_before(scope: Scope, place: Place, expr: Expr) -> bool:
    """Tell whether an earlier statement tests for devices, as `assert gpus` does."""
    name = dotted(expr)
    return any(
        event.kind in ("if", "assert", "while", "try")
        and event.place.start < place.start
        and (
            event.kind == "try"
            or any(name is not None and dotted(part) == name for part in walk(event.value))
            or re.search("list_physical_devices|gpu_available", text(event.value)) is not None
        )
        for where in {scope, scope.module.summary.scopes[0]}
        for event in where.events()
        if event.value is not None or event.kind == "try"
    )


def _environment_value(program: Program, name: str) -> bool:
    return any(
        found == name
        for module in program.modules
        if "environ" in module.summary.words
        for _, found, *_ in environment_of(program, module)
    )


def whole_memory(program: Program) -> Iterator[Hit]:
    """Find several TensorFlow processes that each reserve all GPU memory."""
    if any(flow_of(program).named(*SET_GROWTH, *SET_LIMIT, *SET_VISIBLE)):
        return
    if any(
        _environment_value(program, name)
        for name in ("CUDA_VISIBLE_DEVICES", "TF_FORCE_GPU_ALLOW_GROWTH", "TF_GPU_ALLOCATOR")
    ):
        return
    for site in flow_of(program).named("multiprocessing.Process", "torch.multiprocessing.Process"):
        loop = innermost_loop(site.scope, site.call.block)
        if loop is None:
            continue
        for target in alternatives(site.argument(1, "target")):
            scope = getattr(target, "scope", None)
            if isinstance(scope, Scope) and any(
                inner.name.startswith(("tensorflow.", "keras."))
                and not inner.name.startswith("tensorflow.config")
                for inner in flow_of(program).within(scope)
            ):
                yield hit_at(site, flow=(), values={"function": scope.qualname})
                break


def config_unused(program: Program) -> Iterator[Hit]:
    """Find session configs that are set up and passed to no session."""
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).named("tensorflow.ConfigProto"):
        scope = site.scope
        key = id(scope), site.call.number
        if key in seen:
            continue
        seen.add(key)
        made = next(
            (
                event
                for event in scope.events()
                if event.kind == "assign" and event.value is site.call and len(event.targets) == 1
            ),
            None,
        )
        named = made.targets[0] if made is not None else None
        if made is None or not isinstance(named, Name):
            continue
        name = named.name
        stores = [
            event
            for event in scope.events()
            for target in event.targets
            if isinstance(target, Attribute) and _begins_with(target, name)
        ]
        if not stores or _is_used(program, scope, name):
            continue
        what = next(
            (target for event in stores for target in event.targets if isinstance(target, Attribute)), None
        )
        yield hit_at(
            site,
            flow=(),
            values={"name": name, "what": dotted(what) if what is not None else name},
        )


def _begins_with(expr: Expr, name: str) -> bool:
    while isinstance(expr, Attribute):
        expr = expr.base
    return is_name(expr, name)


def _is_used(program: Program, scope: Scope, name: str) -> bool:
    """Tell whether a name is read, other than to set its attributes."""
    if scope.kind == "module" and any(
        name in item.imports or any(source.endswith(f".{name}") for source in item.imports.values())
        for module in program.all_modules(words=(name.encode(),))
        if module.path != scope.module.path
        for item in module.summary.scopes
    ):
        return True
    inner = scope.module.summary.scopes
    around = (
        inner
        if scope.kind == "module"
        else [item for item in inner if item is scope or _is_in(inner, item, scope)]
    )
    for item in around:
        for event in item.events():
            for value in (event.value, *event.managers):
                if isinstance(value, Expr) and any(is_name(part, name) for part in walk(value)):
                    return True
        for call in item.calls:
            for given in (*call.args, *(value for _, value in call.keywords)):
                if any(is_name(part, name) for part in walk(given)):
                    return True
            if _begins_with(call.func, name):
                return True
    return False


def _is_in(scopes: list[Scope], item: Scope, outer: Scope) -> bool:
    while item.parent >= 0:
        item = scopes[item.parent]
        if item is outer:
            return True
    return False
