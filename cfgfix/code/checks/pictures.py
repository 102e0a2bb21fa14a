"""Pictures of unknown rank in a pipeline."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.bindings import assignment_read
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import ELEMENT, hot_paths
from cfgfix.code.model.expressions import constant, dotted, is_name
from cfgfix.code.model.hit import Rewrite, at, hit_at
from cfgfix.code.model.nodes import Binary, Call, Expr, Name
from cfgfix.code.model.program import Program
from cfgfix.code.model.values import Site
from cfgfix.rules.hit import Hit

_DECODES = frozenset({"tensorflow.io.decode_image", "tensorflow.image.decode_image"})
_KEEPS = frozenset({"cast", "convert_image_dtype", "to_float", "divide", "multiply", "subtract"})
"""Operations behind which as little is known of the dimensions."""
_DEPTH = 8


def without_rank(program: Program) -> Iterator[Hit]:
    """Find resized pictures whose decoder may return an animation of four dimensions."""
    hot = hot_paths(program)
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).named("tensorflow.image.resize"):
        key = id(site.scope), site.call.number
        given = site.call.argument(0, "images")
        if given is None or key in seen or written_for_one(program, site.scope):
            continue
        made = _decoding_call(program, site, given)
        reach = hot.reach_of(site, ELEMENT) if made is not None else None
        if made is None or reach is None:
            continue
        seen.add(key)
        yield hit_at(
            site,
            entry=reach,
            values={"decode": dotted(made.call.func) or "decode_image", "line": made.call.name_line},
            related=(at(made, label="it may give a film of four dimensions"),),
            rewrites=(Rewrite("keyword", made.scope, made.call.place, "False", "expand_animations"),),
        )


def _decoding_call(program: Program, site: Site, expr: Expr) -> Site | None:
    """Return the call that decodes a picture of unknown rank, or None."""
    scope, block = site.scope, site.call.block
    for _ in range(_DEPTH):
        if isinstance(expr, Name):
            if any(is_name(call.receiver, expr.name) for call in scope.calls_of("set_shape", "ensure_shape")):
                return None
            event = assignment_read(scope, expr, block)
            if event is None or event.kind != "assign" or event.value is None:
                return None
            if not any(is_name(target, expr.name) for target in event.targets):
                return None
            expr, block = event.value, event.block
        elif isinstance(expr, Binary) and expr.operator in ("*", "/", "-", "+"):
            expr = expr.left
        elif isinstance(expr, Call):
            call = expr
            made = next((item for item in flow_of(program).within(scope) if item.call is call), None)
            if made is not None and made.name in _DECODES:
                written = call.argument(4, "expand_animations")
                kept = written is None or constant(written) is True
                return made if kept and not call.opaque else None
            name = (dotted(call.func) or "").rpartition(".")[2]
            if name not in _KEEPS or not call.args or made is None or not made.name.startswith("tensorflow."):
                return None
            expr = call.args[0]
        else:
            return None
    return None
