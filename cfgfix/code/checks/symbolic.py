"""TensorFlow operations on KerasTensors, which Keras 3 refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.inference.eras import release_in_words
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.flow.symbolic import holds_symbolic
from cfgfix.code.inference.guards import expects_absence
from cfgfix.code.inference.references import api
from cfgfix.code.inference.releases import keras_three, passed_over_for_keras_2, refused_by_three
from cfgfix.code.model.hit import at, hit_at
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Many, Site
from cfgfix.rules.hit import Hit

_OPERATION = re.compile(
    r"tensorflow\.(?:(?:math|nn|image|linalg|signal|strings|bitwise|random|sparse|ragged)\.)?[a-z]\w*"
)
"""Names that operations have; what is called so and is none stands in `_NONE`."""
_NONE = frozenset(
    {
        "tensorflow.function",
        "tensorflow.print",
        "tensorflow.is_tensor",
        "tensorflow.no_op",
        "tensorflow.group",
        "tensorflow.get_static_value",
        "tensorflow.name_scope",
        "tensorflow.device",
        "tensorflow.py_function",
        "tensorflow.numpy_function",
        "tensorflow.custom_gradient",
        "tensorflow.recompute_grad",
        "tensorflow.init_scope",
        "tensorflow.control_dependencies",
        "tensorflow.type_spec_from_value",
        "tensorflow.make_ndarray",
        "tensorflow.executing_eagerly",
        "tensorflow.is_symbolic_tensor",
    }
)


passed_over = passed_over_for_keras_2
"""Which modules these checks say nothing of."""


def operation_on_symbolic(program: Program) -> Iterator[Hit]:
    """Find TensorFlow operations on a KerasTensor, which Keras 3 refuses."""
    if not keras_three(program):
        return
    table = api(program)
    told: dict[int, list[tuple[Site, str]]] = {}
    for site in flow_of(program).under("tensorflow."):
        name = site.name
        if not any(
            type(value) is not Many and holds_symbolic(value)
            for value in (*site.args, *site.keywords.values())
        ):
            continue
        if name in _NONE or not _OPERATION.fullmatch(name):
            continue
        if site.raw.startswith(("tensorflow.python.", "tensorflow.compat.v1.", "tensorflow.keras.")):
            continue
        if _with_the_copy(site.scope) or expects_absence(site.scope, site.call.block, site.call.place):
            continue
        places = told.setdefault(id(site.scope), [])
        if all(other.call is not site.call for other, _ in places):
            places.append((site, name))
    for places in told.values():
        places.sort(key=lambda item: item[0].call.place)
        first, name = places[0]
        refused = refused_by_three(program, first.scope)
        if refused is None:
            continue
        yield hit_at(
            first,
            values={
                "operation": name.replace("tensorflow.", "tf.", 1),
                "more": f" (and {len(places) - 1} more here)" if len(places) > 1 else "",
                "asked": release_in_words(table),
            },
            severity=refused[0],
            related=tuple(at(site, label="and here") for site, _ in places[1:9]),
        )


def _with_the_copy(scope: Scope) -> bool:
    """Tell whether a file imports `Input` from the Keras 2 inside TensorFlow.

    Every operation takes the tensors of that.
    """
    return any(
        source.startswith("tensorflow.python.keras.") and source.endswith(".Input")
        for item in scope.module.summary.scopes
        for source in item.imports.values()
    )
