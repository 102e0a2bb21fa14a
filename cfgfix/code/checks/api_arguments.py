"""Arguments that the project's TensorFlow does not take or has renamed."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.callees import base_constructor, head, may_be_of_another_library, may_be_overridden
from cfgfix.code.inference.eras import (
    release_in_words,
    severity_by_keras_releases,
    severity_by_releases,
    written_for_one,
)
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.guards import expects_absence
from cfgfix.code.inference.references import (
    api,
    is_bound_twice,
    is_keras_2,
    public_name,
)
from cfgfix.code.inference.releases import as_written, keras_of_release, passed_over_for_keras_2
from cfgfix.code.model.expressions import place_of
from cfgfix.code.model.hit import Calls, Rewrite, hit_at, hit_in
from cfgfix.code.model.nodes import Place
from cfgfix.code.model.program import Program
from cfgfix.code.model.values import Site
from cfgfix.code.tensorflow.api import Api
from cfgfix.code.tensorflow.requirement import LATER_MINORS
from cfgfix.rules.hit import Hit

passed_over = passed_over_for_keras_2
"""Which modules these checks say nothing of."""

_ARGUMENTS = {
    ("tensorflow.function", "experimental_compile"): "jit_compile",
    ("tensorflow.function", "experimental_relax_shapes"): "reduce_retracing",
}


def _is_pinned(table: Api) -> bool:
    """Tell whether one minor release of TensorFlow 2 alone is asked for."""
    requirement = table.requirement
    return bool(requirement.text) and len({item[:2] for item in requirement.of_two(range(LATER_MINORS))}) == 1


def old_arguments(program: Program) -> Iterator[Hit]:
    """Find parameters of `tf.function` that are deprecated."""
    table = api(program)
    seen: set[tuple[int, Place]] = set()
    for site in flow_of(program).named("tensorflow.function"):
        if expects_absence(site.scope, site.call.block, site.call.place, eager=False):
            continue
        for name, _ in site.call.keywords:
            if name is None or not table.deprecated_argument("tensorflow.function", name) & table.newest:
                continue
            new = _ARGUMENTS.get(("tensorflow.function", name))
            if new is not None:
                took = table.accepts("tensorflow.function", new)
                if took is not None and took & table.wanted != table.wanted:
                    continue
            key = (id(site.scope), site.call.place)
            if key in seen:
                continue
            seen.add(key)
            rewrites: tuple[Rewrite, ...] = ()
            if site.call.number >= 0 and site.call.keyword(new or "") is None:
                rewrites = (
                    (Rewrite("rename-keyword", site.scope, site.call.place, new, name),)
                    if new
                    else (Rewrite("drop-keyword", site.scope, site.call.place, name=name),)
                )
            yield hit_at(
                site,
                # What has no new name told how to trace what is given; without it nothing fails. Beside the new name the old one says nothing more.
                # A program for one release alone gets no newer one: there it works as it always did.
                severity=severity_by_releases(table, "warning")
                if new and site.call.keyword(new) is None and not _is_pinned(table)
                else "info",
                values={
                    "argument": name,
                    "instead": f"it is called {new} by now" if new else "it does nothing any more",
                },
                rewrites=rewrites,
                title=f"Write {new}" if new else f"Remove {name}",
            )


_TOLD_ALONE = frozenset({"lr", "decay"})
"""Parameters of optimizers that other checks tell of, with what each release makes of them."""


def unknown_argument(program: Program) -> Iterator[Hit]:
    """Find keywords that a callable of the project's TensorFlow does not take.

    Example: `fit(workers=...)` in Keras 3.
    """
    table = api(program)
    if table.silent:
        return
    legacy = is_keras_2(program)
    for site in flow_of(program).sites:
        name = site.name
        if not site.call.keywords or site.targets or not name.startswith(("tensorflow.", "keras.")):
            continue
        base = base_constructor(program, site)
        if name.startswith("keras."):
            if legacy or not keras_of_release(program, site.scope):
                continue
            if base is not None:
                yield from _refused_arguments(program, site, base)
                continue
            owner, _, method = name.rpartition(".")
            if owner == "keras.Sequential":
                name = f"keras.Model.{method}"
            if (
                name == "keras.Model.loss"
                or may_be_overridden(program, site)
                or may_be_of_another_library(site)
            ):
                # `compile` puts the loss that it was given in the place of the method.
                continue
        yield from _refused_arguments(program, site, name)


def _refused_arguments(program: Program, site: Site, name: str) -> Iterator[Hit]:
    """Yield a hit for each keyword argument of a call that its callee refuses."""
    table = api(program)
    optimizer = name.startswith("keras.optimizers.")
    refused = [
        item
        for item in table.unknown_arguments(name, [key for key, _ in site.call.keywords if key is not None])
        if not (optimizer and item.argument in _TOLD_ALONE)
    ]
    if not refused:
        return
    if written_for_one(program, site.scope) or is_bound_twice(site.scope, head(site.call.func)):
        return
    for item in refused:
        mask = item.mask | table.takes_any_keyword_in(name)
        # A name that no release ever had, beside one that it looks like, is a slip whichever release is meant.
        slip = not mask and item.meant is not None
        value = site.call.keyword(item.argument)
        yield hit_in(
            site.scope,
            (place_of(value, site.scope) if value is not None else None) or site.call.place,
            site.call.block,
            entry=Calls(site),
            values={
                "name": as_written(program, site.scope, name)
                if name.startswith("keras.")
                else public_name(name),
                "argument": item.argument,
                "gone": table.without(mask),
                "meant": f" (did you mean `{item.meant}`?)" if item.meant else "",
                "asked": release_in_words(table),
            },
            severity="error"
            if slip or (table.requirement.known and not mask & table.admitted)
            else (severity_by_keras_releases if name.startswith("keras.") else severity_by_releases)(
                table, "warning"
            ),
            confidence="high" if slip or (mask and not mask & table.admitted) else "medium",
            rewrites=(Rewrite("rename-keyword", site.scope, site.call.place, item.renamed, item.argument),)
            if item.renamed
            else (),
        )
