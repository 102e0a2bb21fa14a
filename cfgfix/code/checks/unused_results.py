"""Results that nothing uses: tapes without a gradient, tensors thrown away."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.guards import statement_of
from cfgfix.code.model.expressions import text, walk
from cfgfix.code.model.hit import hit_in
from cfgfix.code.model.nodes import Name
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Site
from cfgfix.rules.hit import Hit


def tape_never_asked(program: Program) -> Iterator[Hit]:
    """Find gradient tapes that are named and never used."""
    seen: set[tuple[int, int]] = set()
    for tape in flow_of(program).named("tensorflow.GradientTape"):
        scope = tape.scope
        key = id(scope), tape.call.number
        if key in seen or written_for_one(program, scope):
            continue
        seen.add(key)
        event = statement_of(scope, tape.call.place)
        if event is None or tape.call not in event.managers:
            continue
        target = event.targets[event.managers.index(tape.call)] if event.targets else None
        name = target.name if isinstance(target, Name) else None
        if name is None or mentions_in(program, scope)[name] > 1:
            continue
        yield hit_in(
            scope,
            tape.call.name_place,
            tape.call.block,
            {"name": name},
            severity="info" if _shows_only(scope) else None,
        )


@once
def mentions_in(program: Program, scope: Scope) -> Counter[str]:
    """Return how often each word stands in a function, or in a module's file."""
    del program
    lines = scope.module.source_lines()
    if scope.kind != "module":
        lines = lines[scope.place.line - 1 : scope.place.end_line]
    return Counter(word for line in lines for word in _WORD.findall(line.partition("#")[0]))


_WORD = re.compile(r"\w+")


def _shows_only(scope: Scope) -> bool:
    """Tell whether a scope is a guide's cell, whose next one may ask."""
    return scope.kind == "module" and scope.module.path.endswith(".ipynb")


_PURE = frozenset(
    f"tensorflow.{name}"
    for name in (
        "reshape", "cast", "transpose", "expand_dims", "squeeze", "concat", "stack", "tile", "pad", "clip_by_value", "reverse", "roll",
        "one_hot", "gather", "gather_nd", "boolean_mask", "where", "round", "stop_gradient", "tensor_scatter_nd_update",
        "tensor_scatter_nd_add", "linalg.set_diag", "linalg.band_part", "linalg.diag", "broadcast_to", "repeat", "multiply", "add", "subtract",
        "divide", "maximum", "minimum", "abs", "sqrt", "square", "math.multiply", "math.add", "math.subtract", "math.divide",
        "math.l2_normalize", "nn.relu", "nn.softmax", "nn.l2_normalize", "image.resize", "image.flip_left_right", "image.flip_up_down",
        "image.random_flip_left_right", "image.random_flip_up_down", "image.random_brightness", "image.random_contrast",
        "image.random_hue", "image.random_saturation", "image.convert_image_dtype", "image.per_image_standardization", "image.rot90",
        "image.resize_with_pad", "image.central_crop", "strings.lower", "strings.regex_replace", "strings.strip",
    )
)  # fmt: skip
"""Operations that give a changed tensor, and change nothing themselves."""
_TRIES = re.compile(r"warm|bench|time|profil|test|check|sanity|demo|main", re.IGNORECASE)


def thrown_away(program: Program) -> Iterator[Hit]:
    """Find operations on a tensor whose result is dropped while the tensor is used."""
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).under("tensorflow."):
        scope = site.scope
        key = id(scope), site.call.number
        if site.name not in _PURE or site.targets or site.open or key in seen:
            continue
        seen.add(key)
        if scope.kind != "function" or _TRIES.search(scope.name):
            continue
        if scope.module.path.endswith(".ipynb") or written_for_one(program, scope):
            continue
        event = _statement_of_call(site)
        if event is None or site.call.keyword("name") is not None:
            continue
        kept = _kept_after(scope, site, event)
        if kept is None:
            continue
        yield hit_in(
            scope,
            site.call.name_place,
            site.call.block,
            {"call": text(site.call), "kept": kept},
        )


def _statement_of_call(site: Site) -> Event | None:
    for event in site.scope.events():
        if event.kind == "expr" and event.value is site.call:
            return event
    return None


def _kept_after(scope: Scope, site: Site, event: Event) -> str | None:
    """Return the name of an operation's tensor that is read later, or None.

    Return None as well where the function measures time.
    """
    lines = scope.module.source_lines()
    whole = "\n".join(lines[scope.place.line - 1 : scope.place.end_line])
    if "time" in whole:
        return None
    behind = "\n".join(line.partition("#")[0] for line in lines[event.place.end_line : scope.place.end_line])
    given = site.call.args[:1] or tuple(value for _, value in site.call.keywords[:1])
    for part in (item for expr in given for item in walk(expr)):
        if (
            isinstance(part, Name)
            and part.name in scope.names
            and re.search(rf"\b{re.escape(part.name)}\b", behind)
        ):
            return part.name
    return None
