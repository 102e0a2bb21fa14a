"""Names that the project's TensorFlow has under another name, or marks as deprecated."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.common import tensorflow_alias
from cfgfix.code.inference.eras import (
    may_be_older_than_table,
    release_in_words,
    severity_by_releases,
)
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.references import (
    Reference,
    api,
    is_doubtful,
    public_name,
    references,
)
from cfgfix.code.inference.releases import passed_over_for_keras_2
from cfgfix.code.model.hit import Rewrite, hit_at, hit_in
from cfgfix.code.model.nodes import Attribute
from cfgfix.code.model.program import Program
from cfgfix.rules.hit import Hit

passed_over = passed_over_for_keras_2
"""Which modules these checks say nothing of."""


def fix_by_other_name(reference: Reference, new: str) -> tuple[Rewrite, ...]:
    """Return the rewrite that replaces a dotted name by another TensorFlow name.

    Empty where the scope has no name for TensorFlow.
    """
    if reference.expr is None:
        return ()
    alias = tensorflow_alias(reference.scope)
    if alias is None or reference.presence.rest:
        return ()
    return (Rewrite("replace", reference.scope, reference.place, alias + new[len("tensorflow") :]),)


_SIMPLE = frozenset(
    "tensorflow.data.experimental." + name
    for name in ("choose_from_datasets", "sample_from_datasets", "RandomDataset", "Counter", "load")
)
"""Functions of `tf.data.experimental` whose replacement takes the same arguments."""


def deprecated_names(program: Program) -> Iterator[Hit]:
    """Find names that the inspected releases mark as deprecated."""
    table = api(program)
    for reference in references(program):
        if reference.expr is None or reference.presence.rest:
            continue
        if table.silent or reference.presence.mask & table.admitted != table.admitted:
            continue
        found = table.deprecated(reference.presence.name)
        if (
            found is None
            or not found[0] & table.newest
            or reference.presence.name.startswith("tensorflow.feature_column")
            or is_doubtful(program, reference)
        ):
            continue
        new = found[1]
        same = reference.presence.name in _SIMPLE and table.all_releases_have(new)
        yield hit_in(
            reference.scope,
            reference.place,
            reference.block,
            {
                "name": public_name(reference.presence.name),
                "instead": f"; it names {public_name(new)}" if new else "",
            },
            rewrites=fix_by_other_name(reference, new) if same else (),
        )


_MOVED = {
    "tensorflow.data.experimental.AUTOTUNE": "tensorflow.data.AUTOTUNE",
    "tensorflow.data.experimental.INFINITE_CARDINALITY": "tensorflow.data.INFINITE_CARDINALITY",
    "tensorflow.data.experimental.UNKNOWN_CARDINALITY": "tensorflow.data.UNKNOWN_CARDINALITY",
}


def autotune_moved(program: Program) -> Iterator[Hit]:
    """Find `tf.data.experimental.AUTOTUNE`, which is `tf.data.AUTOTUNE`."""
    table = api(program)
    for reference in references(program):
        new = _MOVED.get(reference.presence.name)
        if (
            new is None
            or reference.expr is None
            or not table.all_releases_have(new)
            or is_doubtful(program, reference)
        ):
            continue
        yield hit_in(
            reference.scope,
            reference.place,
            reference.block,
            {"name": public_name(reference.presence.name), "new": public_name(new)},
            rewrites=fix_by_other_name(reference, new),
        )


def distribute_moved(program: Program) -> Iterator[Hit]:
    """Find strategies that left `tf.distribute.experimental`.

    Methods of strategies that are gone are found too.
    """
    table = api(program)
    for reference in references(program):
        name = reference.presence.name
        if (
            not name.startswith("tensorflow.distribute.experimental.")
            or reference.presence.rest
            or reference.expr is None
        ):
            continue
        new = name.replace(".experimental.", ".", 1)
        if not table.all_releases_have(new) or not name.endswith("Strategy"):
            continue
        call = next((call for call in reference.scope.calls if call.func == reference.expr), None)
        plain = call is None or not (call.args or call.keywords)
        yield hit_in(
            reference.scope,
            reference.place,
            reference.block,
            {"what": f"{public_name(name)} is called {public_name(new)} by now"},
            severity="info",
            rewrites=fix_by_other_name(reference, new) if plain else (),
            no_fix=None if plain else "its arguments have other names there",
        )
    for site in flow_of(program).under("tensorflow.distribute."):
        owner, _, method = site.name.rpartition(".")
        if not owner.startswith("tensorflow.distribute.") or not owner.endswith("Strategy"):
            continue
        if method in ("experimental_run_v2", "experimental_make_numpy_dataset", "make_dataset_iterator"):
            mask = table.member("tensorflow.distribute.Strategy", method)
            if mask is None or table.silent or mask & table.newest:
                continue
            renamed = method == "experimental_run_v2"
            yield hit_at(
                site,
                values={
                    "what": f"strategies have no {method} any more"
                    + (": it is called run" if renamed else "")
                },
                severity=severity_by_releases(table, "warning") if may_be_older_than_table(table) else None,
                notes=(f"TensorFlow 2.0 to 2.3 had it: {release_in_words(table)}",)
                if may_be_older_than_table(table)
                else (),
                rewrites=(Rewrite("rename", site.scope, site.call.func.place, "run"),)
                if renamed and isinstance(site.call.func, Attribute)
                else (),
            )
