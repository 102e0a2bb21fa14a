"""Layers whose flag for training is not called `training`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import dotted, text
from cfgfix.code.model.hit import Step, hit_in
from cfgfix.code.model.nodes import Literal
from cfgfix.code.model.program import Program, is_keras_part
from cfgfix.code.model.summary import Parameter, Scope
from cfgfix.rules.hit import Hit

_OTHER_NAMES = re.compile(
    r"is_?train(?:ing)?|train|(?:is_)?trainable|train(?:ing)?_(?:mode|phase|flag)|phase_train", re.IGNORECASE
)


def flag_dropped(program: Program) -> Iterator[Hit]:
    """Find layers called with `training=` whose flag has another name.

    Keras 3 leaves out what `call` does not name.
    """
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).sites:
        given = site.call.keyword("training")
        if given is None or not site.targets or site.open or site.call.method == "call":
            continue
        if (id(site.scope), site.call.number) in seen:
            continue
        seen.add((id(site.scope), site.call.number))
        flags = [_flag_of(program, target.scope) for target in site.targets]
        flag = flags[0]
        if flag is None or any(other is None or other.name != flag.name for other in flags):
            continue
        default = flag.default
        if not isinstance(default, Literal) or (
            isinstance(given, Literal) and bool(given.value) == bool(default.value)
        ):
            continue
        called = site.targets[0].scope
        owner = program.owner(called)
        yield hit_in(
            site.scope,
            site.call.name_place,
            site.call.block,
            {
                "called": dotted(site.call.func) or "the layer",
                "owner": owner.name if owner is not None else "it",
                "flag": flag.name,
                "default": text(default),
            },
            related=(Step(called, called.place, 0, "the call that knows it by another name"),),
        )


def _flag_of(program: Program, method: Scope) -> Parameter | None:
    """Return a layer's flag for training that is not called `training`, or None."""
    owner = program.owner(method)
    if (
        method.name != "call"
        or owner is None
        or not is_keras_part(program, owner)
        or program.method(owner, "__call__") is not None
        or any(item.name == "training" or item.kind in ("*", "**") for item in method.params)
    ):
        return None
    found = [item for item in method.params[1:] if _OTHER_NAMES.fullmatch(item.name)]
    if len(found) != 1 or not isinstance(found[0].default, Literal):
        return None
    return found[0] if found[0].default.value in (True, False, None) else None
