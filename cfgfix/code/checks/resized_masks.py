"""Masks of classes that are resized by mixing the classes of neighbouring pixels."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.handed_on import callers_of
from cfgfix.code.checks.models import model_calls
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import constant, dotted, is_name, text, walk
from cfgfix.code.model.hit import at, hit_at
from cfgfix.code.model.nodes import Attribute, Call, Expr, Name, Subscript
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Made, Site, alternatives
from cfgfix.rules.hit import Hit

_HOLDS_CLASSES = re.compile(
    r"(?:^|_)(?:mask|msk|seg|segmentation|segmap|annotation|annot|trimap|labelmap|label|lbl|gt|groundtruth)s?(?:$|_|\d)",
    re.IGNORECASE,
)
_MIXES = frozenset({"bilinear", "bicubic", "area", "gaussian", "lanczos3", "lanczos5", "mitchellcubic"})
_RESIZES = {"tensorflow.image.resize": (2, "method"), "cv2.resize": (5, "interpolation")}
_LAYER = "keras.layers.Resizing.__call__"
_WHOLE = re.compile(r"u?int(?:8|16|32|64)$")
_COUNTS_CLASSES = frozenset({"one_hot", "to_categorical", "bincount"})


def mixed_classes(program: Program) -> Iterator[Hit]:
    """Find class masks that are resized by another method than nearest."""
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).named(*_RESIZES, _LAYER):
        key = (id(site.scope), site.call.number)
        if key in seen or not _mixes_pixels(site):
            continue
        seen.add(key)
        for user, given, call in _used_by(program, site):
            target = _target_of(user, call)
            if not _names_mask(given) and (target is None or not _names_mask(target)):
                continue
            whole = _made_whole(user, call)
            if whole is None and not _learns_classes(program):
                continue
            yield hit_at(
                site,
                values={
                    "name": text(given),
                    "then": "the edges get the numbers of other classes"
                    if whole is None
                    else f"{text(whole.func)} then makes other classes of the edges (line {whole.line})",
                },
                related=() if user is site.scope else (at(Site(user, call, ()), label="resizes a mask"),),
            )
            break


def _mixes_pixels(site: Site) -> bool:
    """Tell whether a call resizes by mixing neighbouring pixels, as is the default."""
    call = site.call
    place = _RESIZES.get(site.name)
    if place is None:
        made = alternatives(site.callee)
        first = made[0] if len(made) == 1 else None
        if not isinstance(first, Made) or first.site is None:
            return False
        call, place = first.site.call, (2, "interpolation")
    if call.opaque:
        return False
    given = call.argument(*place)
    if given is None:
        return True
    known = constant(given)
    named = known if isinstance(known, str) else (dotted(given) or "").rpartition(".")[2]
    return named.lower() in _MIXES or named in ("INTER_LINEAR", "INTER_CUBIC", "INTER_AREA", "INTER_LANCZOS4")


def _used_by(program: Program, site: Site) -> Iterator[tuple[Scope, Expr, Call]]:
    """Yield the scope, the picture and the call of each resizing.

    Where the picture is a parameter, the calls of the function come as well.
    """
    given = site.call.args[0] if site.call.args else None
    if given is None:
        return
    yield site.scope, given, site.call
    names = [item.name for item in site.scope.params if item.kind == "plain"]
    if isinstance(given, Name) and given.name in names and not _names_mask(given):
        for caller in callers_of(program, site.scope):
            target = (
                next((item for item in caller.targets if item.scope is site.scope), None) if caller else None
            )
            if caller is None or target is None or target.partial:
                continue
            handed = caller.call.argument(
                names.index(given.name) - int(target.receiver is not None), given.name
            )
            if handed is not None:
                yield caller.scope, handed, caller.call


def _names_mask(expr: Expr) -> bool:
    """Tell whether an expression is named for a mask of classes."""
    while isinstance(expr, (Subscript, Call)):
        if isinstance(expr, Subscript) and isinstance(constant(expr.index), str):
            return _HOLDS_CLASSES.search(str(constant(expr.index))) is not None
        inner = expr.base if isinstance(expr, Subscript) else next(iter(expr.args), expr.receiver)
        if inner is None:
            return False
        expr = inner
    name = expr.name if isinstance(expr, Name) else expr.attribute if isinstance(expr, Attribute) else ""
    return _HOLDS_CLASSES.search(name) is not None


def _target_of(scope: Scope, call: Call) -> Expr | None:
    """Return the target that the result of a call is assigned to, or None."""
    return next(
        (
            event.targets[0]
            for event in scope.events_of("assign")
            if event.value is call and len(event.targets) == 1
        ),
        None,
    )


def _made_whole(scope: Scope, resized: Call) -> Call | None:
    """Return the call that makes integers or classes of a resized mask.

    Return None where there is none, or the mask is rounded before.
    """
    names: set[str] = set()
    for event in scope.events():
        if event.value is not None and any(part is resized for part in walk(event.value)):
            names |= {target.name for target in event.targets if isinstance(target, Name)}
    for call in scope.calls:
        if call.place.start < resized.place.start and resized not in walk(call):
            continue
        last = (dotted(call.func) or call.method or "").rpartition(".")[2]
        given = call.receiver if call.method == "astype" else next(iter(call.args), None)
        if given is None or not (given is resized or any(is_name(given, name) for name in names)):
            continue
        if last in _COUNTS_CLASSES:
            return call
        kind = call.args[0] if call.method == "astype" and call.args else call.argument(1, "dtype")
        shown = constant(kind) if kind is not None else None
        shown = shown if isinstance(shown, str) else text(kind)
        if last in ("cast", "astype") and _WHOLE.search(shown):
            return call
        if last in ("round", "rint", "argmax"):
            return None
    return None


@once
def _learns_classes(program: Program) -> bool:
    """Tell whether the program trains with a sparse cross-entropy loss."""
    sparse = ("keras.losses.SparseCategoricalCrossentropy", "keras.losses.sparse_categorical_crossentropy")
    return any(True for _ in flow_of(program).named(*sparse)) or any(
        constant(site.call.argument(1, "loss")) == "sparse_categorical_crossentropy"
        for site in model_calls(program, "compile")
    )
