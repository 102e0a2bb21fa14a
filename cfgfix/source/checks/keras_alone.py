"""Modules of standalone Keras that the release beside the project's TensorFlow does not have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cfgfix.source.guards import expects_absence
from cfgfix.source.hit import Hit
from cfgfix.source.program import Program
from cfgfix.source.releases import api, asked_for, where_known, with_other_releases, written_for_one

NEEDLES = (b"from keras.", b"import keras.")

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


def passed_over(program: Program, check: object) -> frozenset[int]:
    """Return the modules, by identity, of which a check of this room says nothing."""
    del check
    return with_other_releases(program)


def gone_module(program: Program) -> Iterator[Hit]:
    """An import of a module that Keras does not have any more."""
    table = api(program)
    if table.silent:
        return
    for module in program.modules:
        told: set[str] = set()
        for scope in module.summary.scopes:
            if not any(source.startswith("keras.") for source in scope.imports.values()):
                continue
            for event in scope.events() if not written_for_one(program, scope) else ():
                for _, source in event.extra if event.kind == "import" else ():
                    found = table.keras_module(source)
                    if found is None or found[0] in told or program.path_of("keras", module) is not None:
                        continue
                    name, mask = found
                    if mask & table.newest or expects_absence(scope, event.block, event.place):
                        continue
                    told.add(name)
                    instead = _INSTEAD.get(name, "")
                    last = source.rpartition(".")[2]
                    if name.startswith("keras.layers.") and table.has_now(f"tensorflow.keras.layers.{last}"):
                        instead = f"{last} is in keras.layers"
                    yield Hit(
                        scope,
                        event.place,
                        event.block,
                        {
                            "name": name,
                            "gone": table.since(mask),
                            "seen": table.last(mask),
                            "instead": f"; {instead}" if instead else "",
                            "asked": asked_for(table),
                        },
                        severity=where_known(table, "warning") if mask & table.admitted else None,
                    )


def check(program: Program) -> Iterable[Hit]:
    """The group's first rule."""
    return gone_module(program)
