"""Switches left on that make compiled code run eagerly."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.bindings import statement
from cfgfix.code.checks.eager_steps import DEBUG_WORDS, guarded_by_words
from cfgfix.code.checks.guarded_calls import flag
from cfgfix.code.checks.models import trains
from cfgfix.code.checks.origins import Origin, origins
from cfgfix.code.inference.entry_points import importers_of
from cfgfix.code.inference.environment import other_backend
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model import comments as remarks
from cfgfix.code.model.expressions import is_true, place_of, text
from cfgfix.code.model.hit import Rewrite, Step, hit_at
from cfgfix.code.model.nodes import Literal
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Site
from cfgfix.rules.hit import Hit


def eager_switch(program: Program) -> Iterator[Hit]:
    """Find `run_eagerly=True` or `run_functions_eagerly(True)` left on."""
    for name in (
        "tensorflow.config.run_functions_eagerly",
        "tensorflow.config.experimental_run_functions_eagerly",
    ):
        for site in flow_of(program).named(name):
            if flag(site.argument(0, "run_eagerly")) is not True or guarded_by_words(site, *DEBUG_WORDS):
                continue
            event = statement(site)
            yield hit_at(
                site,
                severity="info"
                if _exports_model(program, site.scope)
                or not _is_trained_under(program, site.scope)
                or _says_why(site)
                else None,
                values={"what": "every tf.function runs"},
                rewrites=(Rewrite("drop-statement", site.scope, event.place),) if event is not None else (),
            )
    for site in _compile_calls(program):
        if is_true(site.call.keyword("run_eagerly")) and not guarded_by_words(site, *DEBUG_WORDS):
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
            continue
        found = _switched_on_elsewhere(program, site)
        if found is not None and _needs_eager(program, site.scope) is None:
            yield hit_at(
                site,
                severity="info" if _only_called(site) else None,
                values={"what": "every step of this model runs"},
                related=(found,),
                no_fix="the switch is set in another place, which may be read for other things too",
            )


def _switched_on_elsewhere(program: Program, site: Site) -> Step | None:
    """Return where the True stands that `run_eagerly` gets by a name, or None."""
    given = site.call.keyword("run_eagerly")
    if given is None or isinstance(given, Literal):
        return None
    found = origins(program, Origin(given, site.scope))
    if not found or not all(is_true(item.expr) for item in found):
        return None
    place = place_of(found[0].expr, found[0].scope)
    return Step(found[0].scope, place, -1, "the switch is on here") if place is not None else None


def _is_trained_under(program: Program, scope: Scope) -> bool:
    """Tell whether a scope with an eager switch trains, or a caller or importer of it."""
    pending, seen = [scope], {id(scope)}
    while pending and len(seen) < _MOST_CALLERS:
        here = pending.pop()
        if trains(program, here):
            return True
        for caller in flow_of(program).callers(here):
            if id(caller.scope) not in seen:
                seen.add(id(caller.scope))
                pending.append(caller.scope)
    if scope.kind != "module":
        return False
    importers = importers_of(program, scope.module)
    return any(
        trains(program, module.scope)
        for module in program.modules
        if module.scope is not None and module.path in importers
    )


_MOST_CALLERS = 32
_RUNS = frozenset(
    f"{name}{ending}"
    for name in ("fit", "evaluate", "predict", "train", "test")
    for ending in ("", "_on_batch", "_generator", "_step")
)


def _only_called(site: Site) -> bool:
    """Tell whether a script compiles a model and never runs it through Keras."""
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


@once
def _asserts_eager(program: Program) -> bool:
    """Tell whether the program asserts that it runs eagerly."""
    return any(
        event.kind == "assert" and event.value is not None and "executing_eagerly()" in text(event.value)
        for module in program.modules
        for scope in module.summary.scopes
        for event in scope.events()
    )


def _says_why(site: Site) -> bool:
    """Tell whether a comment beside a call explains the call in words."""
    line = site.call.line
    said = [
        *remarks.comments_behind(site.scope, line, line),
        *(item[1:] for item in remarks.comments_above(site.scope, line)),
    ][:2]
    return any(len(words.split()) >= 3 and "(" not in words for words in said)


def _exports_model(program: Program, scope: Scope) -> bool:
    """Tell whether a file converts or exports a model."""
    return any(
        site.scope.module is scope.module
        and (
            site.name.startswith("tensorflow.lite.")
            or site.call.method in ("get_concrete_function", "from_keras_model")
        )
        for site in flow_of(program).sites
    )


def _compile_calls(program: Program) -> Iterator[Site]:
    for name in ("keras.Model.compile", "keras.Sequential.compile"):
        yield from flow_of(program).named(name)


def jit_and_eager(program: Program) -> Iterator[Hit]:
    """Find `compile(run_eagerly=True, jit_compile=True)`."""
    for site in _compile_calls(program):
        if is_true(site.call.keyword("run_eagerly")) and is_true(site.call.keyword("jit_compile")):
            yield hit_at(
                site,
                rewrites=(Rewrite("drop-keyword", site.scope, site.call.place, name="run_eagerly"),),
            )
