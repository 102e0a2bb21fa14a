"""Options of datasets and of Grappler that TensorFlow lacks or reads otherwise."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.common import value_named
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.flow.statements import only_prints
from cfgfix.code.inference.guards import statement_of
from cfgfix.code.inference.references import api
from cfgfix.code.inference.releases import passed_over_for_keras_2
from cfgfix.code.model.expressions import constant, dotted, place_of, text
from cfgfix.code.model.hit import Rewrite, hit_at, hit_in, place_in_code
from cfgfix.code.model.nodes import Attribute, Dictionary, Expr, Literal, Name
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.tensorflow.api import Api
from cfgfix.core.records import replace
from cfgfix.rules.hit import Hit

passed_over = passed_over_for_keras_2
"""Which modules these checks say nothing of."""


_OPTIONS = "tensorflow.data.Options"


_PARTS = {
    "experimental_optimization": "tensorflow.data.experimental.OptimizationOptions",
    "autotune": "tensorflow.data.experimental.AutotuneOptions",
    "threading": "tensorflow.data.ThreadingOptions",
    "experimental_threading": "tensorflow.data.ThreadingOptions",
    "experimental_distribute": "tensorflow.data.experimental.DistributeOptions",
}


_INSTEAD = {
    "experimental_optimization.autotune": "autotune.enabled",
    "experimental_optimization.autotune_cpu_budget": "autotune.cpu_budget",
    "experimental_optimization.autotune_ram_budget": "autotune.ram_budget",
    "experimental_deterministic": "deterministic",
}


@once
def _option_assignments(program: Program) -> list[tuple[Scope, Event, Attribute, str]]:
    """Return the assignments to attributes of `tf.data.Options`.

    Each comes with its scope, the statement, the target and the path of the option.
    """
    found: list[tuple[Scope, Event, Attribute, str]] = []
    for module in program.modules:
        for scope, event, target in module.stores():
            path = _option_path(program, scope, target) if len(event.targets) == 1 else None
            if path is not None:
                found.append((scope, event, target, path))
    return found


def _option_path(program: Program, scope: Scope, target: Expr) -> str | None:
    names: list[str] = []
    base: Expr = target
    while isinstance(base, Attribute):
        names.append(base.attribute)
        base = base.base
        if _is_options(program, scope, base):
            return ".".join(reversed(names))
        if names[-1] == "experimental_optimization" and len(names) > 1:
            # Nothing else in TensorFlow code has an attribute of this name.
            return ".".join(reversed(names))
    return None


def _is_options(program: Program, scope: Scope, expr: Expr) -> bool:
    from cfgfix.code.inference.hot_paths import made_of

    return isinstance(expr, Name) and made_of(value_named(program, scope, expr.name), _OPTIONS) is not None


def _option_mask(table: Api, path: str) -> int | None:
    """Return the releases in which an option can be set, as a mask.

    Return None where the table does not know.
    """
    first, _, rest = path.partition(".")
    mask = table.member(_OPTIONS, first)
    if not mask or not rest:
        return mask
    part = _PARTS.get(first)
    second = rest.partition(".")[0]
    return table.member(part, second) if part is not None else None


def _removed_options(program: Program) -> Iterator[tuple[Scope, Event, Attribute, str, int]]:
    table = api(program)
    if table.silent:
        return
    for scope, event, target, path in _option_assignments(program):
        mask = _option_mask(table, path)
        if mask is not None and not mask & table.newest:
            yield scope, event, target, path, mask


def removed_option(program: Program) -> Iterator[Hit]:
    """Find options of datasets that raise when they are set."""
    table = api(program)
    for scope, event, target, path, mask in _removed_options(program):
        if _try_hiding_error(scope, event.block) is not None:
            continue
        yield _option_hit(table, scope, event, target, path, mask)


def removed_option_in_try(program: Program) -> Iterator[Hit]:
    """Find options of datasets that raise inside a `try` that hides the error.

    What stands after such an option in the block never runs.
    """
    table = api(program)
    seen: set[tuple[int, int]] = set()
    for scope, event, target, path, mask in _removed_options(program):
        block = _try_hiding_error(scope, event.block)
        if block is None or (id(scope), block) in seen:
            continue
        # The first one ends the block; what is wrong behind it never runs.
        seen.add((id(scope), block))
        around = set(scope.block_numbers(event.block)) - set(scope.block_numbers(scope.blocks[block].parent))
        gone_too = {id(other) for where, other, *_ in _removed_options(program) if where is scope}
        later = [
            item
            for item in scope.events()
            if item.block in around
            and item.line > event.end_line
            and item.kind != "import"
            and id(item) not in gone_too
            and not only_prints(item)
        ]
        if not later:
            # Nothing is lost but what this TensorFlow does not have anyway: the guard is meant.
            continue
        hit = _option_hit(table, scope, event, target, path, mask)
        shown = f"the {len(later)} statement{'s' if len(later) > 1 else ''} after it"
        skipped = f"{shown} in the block never run{'s' if len(later) == 1 else ''}"
        yield replace(
            hit,
            values={**hit.values, "skipped": skipped},
            severity="error",
            confidence=None,
            safety="unsafe",
        )


def _option_hit(table: Api, scope: Scope, event: Event, target: Attribute, path: str, mask: int) -> Hit:
    new = _INSTEAD.get(path)
    rewrites: tuple[Rewrite, ...]
    title = f"Remove {path}"
    if new is not None and table.member(_OPTIONS, new.partition(".")[0]):
        base: Expr = target
        for _ in path.split("."):
            base = base.base if isinstance(base, Attribute) else base
        name = dotted(base)
        rewrites = (Rewrite("replace", scope, target.place, f"{name}.{new}"),) if name else ()
        title = f"Write {new}"
    else:
        rewrites = (Rewrite("drop-statement", scope, event.place),)
    return hit_in(
        scope,
        target.place,
        event.block,
        {"option": path, "gone": table.since(mask), "instead": f"; it is {new} by now" if new else ""},
        severity="error" if not mask & table.admitted else "warning",
        confidence="high" if not mask & table.admitted else "medium",
        rewrites=rewrites,
        title=title,
    )


def _try_hiding_error(scope: Scope, block: int) -> int | None:
    """Return the `try` block around a place that hides an AttributeError, or None."""
    for number in scope.block_numbers(block):
        if scope.blocks[number].kind == "try":
            for other in range(number + 1, len(scope.blocks)):
                item = scope.blocks[other]
                if item.kind == "except" and item.parent == scope.blocks[number].parent:
                    names = "" if item.test is None else text(item.test)
                    if item.test is None or any(word in names for word in ("Exception", "AttributeError")):
                        return number
                    break
    return None


def option_alias(program: Program) -> Iterator[Hit]:
    """Find `options.experimental_deterministic`, now `options.deterministic`."""
    yield from _renamed_option_hits(program, "experimental_deterministic", "deterministic")


def threading_alias(program: Program) -> Iterator[Hit]:
    """Find `options.experimental_threading`, which is `options.threading`."""
    yield from _renamed_option_hits(program, "experimental_threading", "threading")


def _renamed_option_hits(program: Program, old: str, new: str) -> Iterator[Hit]:
    table = api(program)
    mask = table.member(_OPTIONS, new) or 0
    if not table.wanted or mask & table.wanted != table.wanted:
        return
    for scope, event, target, path in _option_assignments(program):
        if path.partition(".")[0] != old or written_for_one(program, scope):
            continue
        inner = target
        while inner.attribute != old and isinstance(inner.base, Attribute):
            inner = inner.base
        yield hit_in(
            scope,
            inner.place,
            event.block,
            {"option": old, "new": new},
            rewrites=(Rewrite("rename", scope, inner.place, new),),
        )


_GRAPPLER = frozenset(
    [
        "layout_optimizer",
        "constant_folding",
        "shape_optimization",
        "remapping",
        "arithmetic_optimization",
        "dependency_optimization",
        "loop_optimization",
        "function_optimization",
        "debug_stripper",
        "disable_model_pruning",
        "scoped_allocator_optimization",
        "pin_to_host_optimization",
        "implementation_selector",
        "auto_mixed_precision",
        "auto_mixed_precision_onednn_bfloat16",
        "auto_mixed_precision_mkl",
        "auto_mixed_precision_cpu",
        "disable_meta_optimizer",
        "min_graph_nodes",
        "auto_parallel",
        "use_plugin_optimizers",
    ]
)
"""Keys that `tf.config.optimizer.set_experimental_options` reads (TensorFlow 2.21, `tensorflow/python/framework/config.py:218-257`
and `tensorflow/python/eager/context.py`, `_config` of the rewriter)."""


def _grappler_hits(program: Program) -> Iterator[tuple[Hit, str, bool]]:
    for site in flow_of(program).named("tensorflow.config.optimizer.set_experimental_options"):
        argument = site.call.argument(0, "options")
        if not isinstance(argument, Dictionary):
            continue
        for key, value in argument.entries:
            if key is not None and isinstance(key, Literal) and isinstance(key.value, str):
                on = isinstance(value, Literal) and value.value is True
                place = place_of(argument, site.scope)
                event = statement_of(site.scope, site.call.place)
                rewrites: tuple[Rewrite, ...] = ()
                if len(argument.entries) == 1 and event is not None and event.value is site.call:
                    rewrites = (Rewrite("drop-statement", site.scope, event.place),)
                elif place is not None:
                    rewrites = (Rewrite("drop-item", site.scope, place, name=key.value),)
                yield (
                    hit_in(site.scope, key.place, site.call.block, {"key": key.value}, rewrites=rewrites),
                    key.value,
                    on,
                )


def unknown_optimizer_option(program: Program) -> Iterator[Hit]:
    """Find keys that `set_experimental_options` does not know.

    It leaves them out silently.
    """
    for hit, key, _ in _grappler_hits(program):
        if key not in _GRAPPLER:
            yield hit


def risky_optimizer_option(program: Program) -> Iterator[Hit]:
    """Find keys that change what the program computes or checks."""
    for hit, key, on in _grappler_hits(program):
        if on and key == "debug_stripper":
            yield replace(hit, values={"key": key, "what": "removes the assertions and prints of the graph"})
        elif (
            on
            and key == "auto_mixed_precision"
            and not _uses_loss_scaling(program)
            and not _policy_beside(hit)
        ):
            yield replace(
                hit,
                values={
                    "key": key,
                    "what": "computes in float16 and scales no loss, so small gradients become 0",
                },
            )


def _policy_beside(hit: Hit) -> bool:
    """Tell whether the same branch sets a policy in half precision.

    Keras then scales the loss of what it compiles.
    """
    at = place_in_code(hit)
    scope = at.scope
    around = set(scope.block_numbers(at.block))
    for call in scope.calls:
        name = call.method or (call.func.name if isinstance(call.func, Name) else "")
        if (
            name in ("set_global_policy", "set_policy", "set_dtype_policy")
            and call.block in around
            and call.args
        ):
            # What is no literal is half precision here as a rule: nobody computes the name of the default.
            given = constant(call.args[0])
            if not isinstance(given, str) or given == "mixed_float16":
                return True
    return False


def _uses_loss_scaling(program: Program) -> bool:
    """Tell whether the program uses loss scaling anywhere."""
    return any(
        "LossScale" in name or name.endswith((".scale_loss", ".enable_mixed_precision_graph_rewrite"))
        for name in flow_of(program).by_name
    )


def jit_switch(program: Program) -> Iterator[Hit]:
    """Find `tf.config.optimizer.set_jit(True)`, and texts that silently mean off."""
    for site in flow_of(program).named("tensorflow.config.optimizer.set_jit"):
        value = site.call.argument(0, "enabled")
        if value is None or not isinstance(value, Literal):
            continue
        if value.value is True:
            yield hit_at(
                site,
                values={"value": "True", "what": "is an old name for 'autoclustering'"},
                rewrites=(Rewrite("replace", site.scope, value.place, '"autoclustering"'),),
                severity="info",
            )
        elif isinstance(value.value, str) and value.value != "autoclustering":
            yield hit_at(
                site,
                values={
                    "value": repr(value.value),
                    "what": "silently turns XLA off: only 'autoclustering' turns it on",
                },
            )
