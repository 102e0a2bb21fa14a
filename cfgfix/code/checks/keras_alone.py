"""Names imported from standalone Keras that the project's Keras lacks."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.callees import head
from cfgfix.code.inference.entry_points import is_never_called, never_run
from cfgfix.code.inference.eras import (
    is_for_other_releases,
    release_in_words,
    severity_by_keras_releases,
    written_for_one,
)
from cfgfix.code.inference.guards import expects_absence
from cfgfix.code.inference.references import api, callers_ask, is_bound_twice, rebound
from cfgfix.code.inference.releases import (
    failing_imports,
    keras_of_release,
    passed_over_for_keras_2,
    standalone,
)
from cfgfix.code.model.hit import Rewrite, hit_in
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import Place
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.tensorflow.api import Api
from cfgfix.core.records import dataclass
from cfgfix.rules.hit import Hit

_INSTEAD = {
    "keras.utils.np_utils": "to_categorical and normalize are in keras.utils",
    "keras.utils.vis_utils": "plot_model is in keras.utils",
    "keras.utils.generic_utils": "get_custom_objects and custom_object_scope are in keras.utils",
    "keras.utils.data_utils": "get_file and Sequence are in keras.utils",
    "keras.engine": "Layer and InputSpec are in keras.layers, Model is in keras",
    "keras.wrappers.scikit_learn": "the package scikeras has such wrappers",
}
"""Where the newest Keras has what people take from these modules (Keras 3.15.1, executed; the deprecation message of
`keras/wrappers/scikit_learn.py` in Keras 2.8 and 2.12 names SciKeras)."""


_IN_OPS = frozenset(
    {"abs", "all", "any", "arange", "argmax", "argmin", "cast", "clip", "concatenate", "cos", "cumprod", "cumsum", "elu", "equal", "exp"}
    | {"expand_dims", "greater", "greater_equal", "hard_sigmoid", "less", "less_equal", "log", "logsumexp", "max", "maximum", "mean"}
    | {"min", "minimum", "ndim", "not_equal", "one_hot", "ones_like", "prod", "reshape", "round", "sigmoid", "sign", "sin", "softmax"}
    | {"softplus", "softsign", "sqrt", "square", "squeeze", "stack", "std", "stop_gradient", "sum", "tanh", "tile", "transpose", "var"}
    | {"zeros_like"}
)  # fmt: skip
"""Functions of `keras.backend` that `keras.ops` has under the same name and that take the same in the same places (the wheels of Keras
2.15.0 and 3.15.1); `identity`, `repeat`, `switch` and others mean something else there."""


passed_over = passed_over_for_keras_2
"""Which modules these checks say nothing of."""


def gone_module(program: Program) -> Iterator[Hit]:
    """Find imports of modules that Keras no longer has."""
    table = api(program)
    for module in program.modules:
        told: set[str] = set()
        for item in failing_imports(program, module):
            if not item.whole or item.name in told:
                continue
            told.add(item.name)
            instead = _INSTEAD.get(item.name, "")
            last = item.source.rpartition(".")[2]
            if item.name.startswith("keras.layers.") and table.all_releases_have(
                f"tensorflow.keras.layers.{last}"
            ):
                instead = f"{last} is in keras.layers"
            yield hit_in(
                item.scope,
                item.place,
                item.block,
                {
                    "instead": f"; {instead}" if instead else "",
                    **_message_values(table, item.name, item.mask),
                },
                severity=_severity_of_mask(table, item.mask),
            )


@dataclass(frozen=True, slots=True)
class _NameUse:
    """A use of a missing Keras name, in an import or elsewhere."""

    name: str
    mask: int
    scope: Scope
    place: Place
    block: int
    imported: bool


def gone_name(program: Program) -> Iterator[Hit]:
    """Find names that Keras modules no longer have.

    Names of one module are reported once per file.
    """
    table = api(program)
    for module in program.modules:
        groups: dict[tuple[str, int], list[_NameUse]] = {}
        for use in _missing_name_uses(program, module):
            groups.setdefault((use.name.rpartition(".")[0], use.mask), []).append(use)
        for (package, mask), uses in groups.items():
            # What happens first is told: an import, then what is used where something comes to it.
            uses.sort(key=lambda use: (not use.imported, _is_idle(program, use.scope), use.place))
            first = uses[0]
            names = list(dict.fromkeys(use.name.rpartition(".")[2] for use in uses))
            last = names.pop(0)
            more = ""
            if names:
                shown = ", ".join(names[:4])
                more = f" (nor {shown}{f' and {len(names) - 4} more' if len(names) > 4 else ''}, used in this file as well)"
            yield hit_in(
                first.scope,
                first.place,
                first.block,
                {
                    "module": package,
                    "last": last,
                    "more": more,
                    "raises": "importing it raises ImportError" if first.imported else "AttributeError",
                    "instead": _has_it(table, package, last),
                    **_message_values(table, first.name, mask),
                },
                severity=_severity_of_mask(table, mask),
            )


def _missing_name_uses(program: Program, module: Module) -> Iterator[_NameUse]:
    """Yield a module's uses of Keras names that the newest Keras lacks.

    Uses guarded against the missing name are left out.
    """
    if "keras" not in standalone(program, module):
        return
    table = api(program)
    failing = failing_imports(program, module)
    for item in failing:
        if not item.whole:
            yield _NameUse(item.name, item.mask, item.scope, item.place, item.block, imported=True)
    imported = {item.name for item in failing}
    scope = module.scope
    if (
        table.silent
        or scope is None
        or not keras_of_release(program, scope)
        or is_for_other_releases(program, module)
    ):
        return
    known: dict[str, tuple[str, int] | None] = {}
    for scope in module.summary.scopes:
        for expr, block in scope.references:
            raw = program.static_name(expr, scope)
            if raw is None or not raw.startswith("keras."):
                continue
            if raw not in known:
                # What was a module once is asked for as a part of the package too.
                known[raw] = table.keras_name(raw) or table.keras_module(raw)
            found = known[raw]
            if found is None or found[1] & table.newest or found[0] in imported:
                continue
            if (
                not expects_absence(scope, block, expr.place)
                and not rebound(program, raw, expr, scope)
                and not is_bound_twice(scope, head(expr))
                and not callers_ask(program, scope)
                and not written_for_one(program, scope)
            ):
                yield _NameUse(*found, scope, expr.place, block, imported=False)


_PARTS = ("optimizers", "layers", "callbacks", "losses", "metrics", "regularizers", "initializers")


def elsewhere(program: Program) -> Iterator[Hit]:
    """Find classes read from `keras` itself that are in one of its modules."""
    table = api(program)
    if table.silent:
        return
    for module in program.modules:
        scope = module.scope
        if "keras" not in standalone(program, module) or scope is None:
            continue
        if not keras_of_release(program, scope) or is_for_other_releases(program, module):
            continue
        for scope in module.summary.scopes:
            for expr, block in scope.references:
                raw = program.static_name(expr, scope)
                if raw is None or raw.count(".") != 1 or not raw.startswith("keras."):
                    continue
                last = raw.partition(".")[2]
                if (
                    not last[:1].isupper()
                    or last in table.names("keras")
                    or table.keras_name(raw) is not None
                ):
                    continue
                part = next((item for item in _PARTS if last in table.names(f"keras.{item}")), None)
                if part is None or rebound(program, raw, expr, scope) or is_bound_twice(scope, head(expr)):
                    continue
                yield hit_in(
                    scope,
                    expr.place,
                    block,
                    {"name": raw, "right": f"keras.{part}.{last}"},
                    rewrites=(Rewrite("replace", scope, expr.place, f"{head(expr)}.{part}.{last}"),),
                )


def _is_idle(program: Program, scope: Scope) -> bool:
    return is_never_called(program, scope) or never_run(program, scope)


def _has_it(table: Api, package: str, name: str) -> str:
    """Return the words of a message that say where a removed name is now.

    Empty where it is nowhere.
    """
    places = [f"tf.{package}"] if table.all_releases_have(f"tensorflow.{package}.{name}") else []
    if (
        package == "keras.backend"
        and name in _IN_OPS
        and table.all_releases_have(f"tensorflow.keras.ops.{name}")
    ):
        places.append("keras.ops")
    return f"; {' and '.join(places)} {'have' if len(places) > 1 else 'has'} it" if places else ""


def _message_values(table: Api, name: str, mask: int) -> dict[str, object]:
    return {
        "name": name,
        "gone": table.since(mask),
        "seen": table.seen_of_keras(mask),
        "asked": release_in_words(table),
    }


def _severity_of_mask(table: Api, mask: int) -> str | None:
    return severity_by_keras_releases(table, "warning") if mask & table.admitted else None
