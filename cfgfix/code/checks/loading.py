"""Models loaded without the custom objects they were saved with."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.models import compiles_of
from cfgfix.code.checks.origins import Origin, path_of
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import KERAS_COMPILES
from cfgfix.code.inference.releases import keras_three, passed_over_for_keras_2, refused_by_three
from cfgfix.code.model.expressions import MISSING, constant, is_none
from cfgfix.code.model.hit import Step, at, hit_at
from cfgfix.code.model.nodes import Call, Expr
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Constant, Function, Instance, Items, Made, Site, Value, alternatives
from cfgfix.rules.hit import Hit

passed_over = passed_over_for_keras_2
"""Which modules these checks say nothing of."""

_LOADS = ("keras.models.load_model", "keras.saving.load_model")
_TEACHES = re.compile(r"custom_object|CustomObjectScope|register_keras_serializable")
_SAVED = (".keras", ".h5", ".hdf5")


def without_objects(program: Program) -> Iterator[Hit]:
    """Find `load_model` calls that lack the custom objects of the saved model.

    They are losses and metrics of the project.
    """
    if not keras_three(program):
        return
    saved = _files_with_own_objects(program)
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).named(*_LOADS) if saved else ():
        scope, call = site.scope, site.call
        key = id(scope), call.number
        if key in seen or call.opaque or written_for_one(program, scope):
            continue
        seen.add(key)
        objects = call.argument(1, "custom_objects")
        compiled = call.argument(2, "compile")
        if (objects is not None and not is_none(objects)) or (
            compiled is not None and constant(compiled) is not True
        ):
            continue
        path = _constant_file_name(program, site, call.argument(0, "filepath"), 0, "filepath")
        found = saved.get(path) if path is not None else None
        if found is None or _is_taught(scope, call):
            continue
        refused = refused_by_three(program, scope)
        if refused is None:
            continue
        save, compiles, what, made = found
        yield hit_at(
            site,
            flow=(),
            values={"path": path, "what": what, "line": compiles.call.name_line},
            severity=refused[0],
            related=(
                at(save, label="the model is saved here"),
                at(compiles, label=f"compiled with {what}"),
                Step(made, made.place, -1, "Keras is not told of it"),
            ),
            no_fix=f"load_model(..., custom_objects={{'{made.name}': ...}}), or @keras.saving.register_keras_serializable() above {made.name}",
        )


Saved = tuple[Site, Site, str, Scope]


@once
def _files_with_own_objects(program: Program) -> dict[str, Saved]:
    """Return the saved models compiled with custom objects, by file name."""
    found: dict[str, Saved | None] = {}
    for site in flow_of(program).sites:
        if site.call.method == "save" and site.name.startswith("keras."):
            path = _constant_file_name(program, site, site.call.argument(0, "filepath"), 0, "filepath")
            models = alternatives(site.receiver)
            if path is None or not models or any(map(_is_loaded, models)):
                continue
            made = _own_object(program, models[0]) if len(models) == 1 else None
            entry = (site, *made) if made is not None else None
            # A file that several models are saved in says nothing of one.
            found[path] = entry if path not in found or found[path] is not None else None
    return {path: entry for path, entry in found.items() if entry is not None and path.endswith(_SAVED)}


def _is_loaded(model: Value) -> bool:
    """Tell whether a model was loaded itself."""
    return isinstance(model, Made) and model.site is not None and model.site.name in _LOADS


def _constant_file_name(
    program: Program, site: Site, written: Expr | None, position: int, name: str
) -> str | None:
    """Return the constant text of a file name, or None."""
    if written is None:
        return None
    value = constant(written)
    if value is MISSING:
        values = alternatives(site.argument(position, name))
        value = values[0].value if len(values) == 1 and isinstance(values[0], Constant) else MISSING
    return value if isinstance(value, str) else path_of(program, Origin(written, site.scope))


def _own_object(program: Program, model: Value) -> tuple[Site, str, Scope] | None:
    """Return the `compile` call that gets a custom loss or metric, or None.

    With it come words for the object, and its scope.
    """
    if not isinstance(model, (Made, Instance)):
        return None
    compiles = [site for site in compiles_of(program, model) if site.name in KERAS_COMPILES]
    if len({(id(site.scope), site.call.number) for site in compiles}) != 1 or compiles[0].call.opaque:
        return None
    site = compiles[0]
    for position, parameter in ((1, "loss"), (3, "metrics")):
        for value in _inner_values(site.argument(position, parameter)):
            scope = value.scope if isinstance(value, (Function, Instance)) else None
            if scope is None or scope.kind == "lambda" or scope.decorators:
                continue
            if isinstance(value, Function) and (value.partial or value.receiver is not None):
                continue
            if isinstance(value, Instance) and not any(
                name.startswith(("keras.losses.", "keras.metrics.", "keras.Loss", "keras.Metric"))
                for name in program.bases(scope).outside
            ):
                continue
            kind = "loss" if parameter == "loss" else "metric"
            return site, f"the {kind} {scope.name}", scope
    return None


def _inner_values(value: Value | None) -> Iterator[Value]:
    for item in alternatives(value):
        for part in item.items if isinstance(item, Items) else (item,):
            yield from alternatives(part)


def _is_taught(scope: Scope, call: Call) -> bool:
    """Tell whether a file may register custom objects with Keras."""
    del call
    return _TEACHES.search(scope.module.source_file().text) is not None
